//! Syncs: the scheduler's, by number.

use std::time::Duration;

use navin_abi::enums::NVNsyncWaitResult;
use navin_sync::{SyncId, WaitResult};

use crate::driver;

/// A sync, never fenced; 0 without a device.
pub(crate) fn create() -> u64 {
    driver::get().map_or(0, |driver| driver.scheduler.create_sync().raw())
}

pub(crate) fn destroy(sync: u64) {
    if let (Some(driver), Some(sync)) = (driver::get(), SyncId::from_raw(sync)) {
        driver.scheduler.destroy_sync(sync);
    }
}

/// Waits for the sync's newest fence; `u64::MAX` nanoseconds is without limit.
pub(crate) fn wait(sync: u64, timeout_ns: u64) -> NVNsyncWaitResult {
    let (Some(driver), Some(sync)) = (driver::get(), SyncId::from_raw(sync)) else { return NVNsyncWaitResult::FAILED };
    let timeout = (timeout_ns != u64::MAX).then(|| Duration::from_nanos(timeout_ns));
    match driver.wait_sync(sync, timeout) {
        WaitResult::AlreadySignaled => NVNsyncWaitResult::ALREADY_SIGNALED,
        WaitResult::ConditionSatisfied => NVNsyncWaitResult::CONDITION_SATISFIED,
        WaitResult::TimeoutExpired => NVNsyncWaitResult::TIMEOUT_EXPIRED,
        WaitResult::Failed => NVNsyncWaitResult::FAILED,
    }
}
