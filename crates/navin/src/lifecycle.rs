//! For whoever embeds Navin: holding back all GPU work, as a system asks of a program that goes to the background.

use crate::driver;

/// Stops all GPU work: returns when nothing runs on the GPU and nothing will until [`resume`] (B234).
///
/// The guest goes on. What it submits is kept and runs after [`resume`], in order; its waits for such work wait.
/// False when work that was already with the GPU had not ended after a few seconds; nothing new begins even then.
/// May be called before the guest has opened a device, from any thread, and again while suspended.
pub fn suspend() -> bool {
    driver::suspend()
}

/// Ends what [`suspend`] began, however often that was called.
pub fn resume() {
    driver::resume();
}

/// Has the next `count` submissions fail for memory, for tests of that: false without a device.
#[doc(hidden)]
pub fn fail_submissions(count: u32) -> bool {
    let driver = driver::get();
    if let Some(driver) = driver {
        driver.health.fail_next(count);
    }
    driver.is_some()
}

/// Has the next `count` command buffers refused for memory when they are submitted, for tests of that: false without a
/// device.
#[doc(hidden)]
pub fn refuse_submissions(count: u32) -> bool {
    let driver = driver::get();
    if let Some(driver) = driver {
        driver.health.refuse_next(count);
    }
    driver.is_some()
}

/// Has the thread that replays panic, for tests of what comes of a mistake of Navin's: false without a device.
#[doc(hidden)]
pub fn break_submit_thread() -> bool {
    let driver = driver::get();
    if let Some(driver) = driver {
        driver.post(Box::new(|_| panic!("asked to, by a test")));
    }
    driver.is_some()
}

/// What happens when the Vulkan driver says that the device is lost, for tests of it: false without a device.
#[doc(hidden)]
pub fn lose_device() -> bool {
    let driver = driver::get();
    if let Some(driver) = driver {
        driver.lost(&navin_vulkan::QueueError::Vulkan(navin_vulkan::vk::Result::ERROR_DEVICE_LOST));
    }
    driver.is_some()
}
