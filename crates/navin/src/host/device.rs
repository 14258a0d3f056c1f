//! `NVNdevice`: every device object shares the process's one driver.

use navin_vulkan::clock;

use crate::driver;

/// Opens the driver; false when this machine has no usable Vulkan device.
pub(crate) fn open() -> bool {
    driver::open().is_some()
}

/// `NVNwindowOriginMode` from now on.
pub(crate) fn set_window_origin(mode: i32) {
    if let Some(driver) = driver::get() {
        driver.modes.set_window_origin(mode);
    }
}

/// `NVNdepthMode` from now on.
pub(crate) fn set_depth_mode(mode: i32) {
    if let Some(driver) = driver::get() {
        driver.modes.set_depth(mode);
    }
}

/// The GPU's time in nanoseconds, as `nvnDeviceGetCurrentTimestampInNanoseconds` answers it: the clock that reports
/// of counters show.
pub(crate) fn timestamp_ns() -> u64 {
    driver::get().map_or(0, |driver| clock::nanoseconds(driver.context.guest_time()))
}

/// What a report's time, in ticks of the hardware's clock, is in nanoseconds.
pub(crate) fn report_ns(ticks: u64) -> u64 {
    clock::nanoseconds(ticks)
}
