//! `NVNdevice`: every device object shares the process's one driver.

use navin_abi::device_info::Generation;
use navin_texture::GobOrder;
use navin_vulkan::clock;

use crate::driver;

/// Opens the driver; false when this machine has no usable Vulkan device.
pub(crate) fn open() -> bool {
    driver::open().is_some()
}

/// The generation that the settings name, whatever the embedder says.
pub(crate) fn configured_generation() -> Option<Generation> {
    Some(match driver::get()?.config.generation? {
        2 => Generation::Nvn2,
        _ => Generation::X1,
    })
}

/// The guest's generation, for everything that differs in textures (B305).
pub(crate) fn set_generation(generation: Generation) {
    if let Some(driver) = driver::get() {
        let order = match generation {
            Generation::X1 => GobOrder::TegraX1,
            Generation::Nvn2 => GobOrder::Successor,
        };
        driver.textures.set_order(order);
    }
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
