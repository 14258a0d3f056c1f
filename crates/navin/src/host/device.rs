//! `NVNdevice`: every device object shares the process's one driver.

use std::sync::LazyLock;
use std::time::Instant;

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

/// The GPU's time in nanoseconds, as `nvnDeviceGetCurrentTimestampInNanoseconds` answers it: a clock that never goes back.
pub(crate) fn timestamp_ns() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(START.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
