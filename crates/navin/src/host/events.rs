//! Events: words in guest memory that queues wait for.

use crate::driver;

/// The CPU has signalled the event at a GPU address: queues that wait for it look again (B229).
pub(crate) fn signalled(_address: u64) {
    if let Some(driver) = driver::get() {
        driver.scheduler.poke();
    }
}
