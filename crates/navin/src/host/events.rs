//! Events: words in guest memory that queues wait for.

use std::sync::atomic::AtomicU32;

use crate::driver;

/// Calls `f` with the word of an event at a GPU address; `None` where no memory is.
pub(crate) fn with_word<T>(address: u64, f: impl Fn(&AtomicU32) -> T) -> Option<T> {
    let pools = &driver::get()?.pools;
    let word = pools.word(address)?;
    // It may be changed.
    pools.announce(address, 4);
    Some(f(word))
}

/// The CPU has signalled the event at a GPU address: queues that wait for it look again (B229).
pub(crate) fn signalled(_address: u64) {
    if let Some(driver) = driver::get() {
        driver.scheduler.poke();
    }
}
