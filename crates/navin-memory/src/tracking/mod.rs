//! Write tracking: which guest memory the CPU has written since Navin read it.
//!
//! Whoever keeps something made from guest memory (a texture's texels, converted indices, vertex bytes) asks here
//! whether it is still good:
//!
//! 1. A guest thread that makes a memory pool registers its storage ([`Tracker::register`]), and retires it when the
//!    pool goes ([`Tracker::retire`]).
//! 2. The submit thread, about to read bytes, takes a stamp ([`Tracker::protect`]) *first*, then reads.
//! 3. At each submission it calls [`Tracker::fetch`] once, then asks [`Tracker::written_since`] with the stamp. A
//!    [`Watch`] does 2 and 3 and remembers the clock of the last clean answer, so that asking again while nothing was
//!    written anywhere is two loads.
//! 4. Navin's own writes for the guest (texels read back, files read) are announced: [`Tracker::host_write`].
//! 5. An import that the GPU writes through is bracketed: [`Tracker::open`], import, [`Opened::close`] (B123).
//!
//! A write that happened before a submission is seen by questions after that submission's fetch. A page shows as
//! written whenever that cannot be excluded: untracked memory, memory registered since the stamp (B206), memory
//! that was never protected.
//!
//! ```
//! # use navin_memory::tracking::{Span, Tracker, TrackingOptions};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut memory = vec![0u8; 1 << 20];
//! let tracker = Tracker::new(TrackingOptions::default())?;
//! let start = memory.as_mut_ptr() as usize;
//! tracker.register(start, memory.len())?;
//! let texture = Span::new(start + 0x10000, 0x8000);
//! let stamp = tracker.protect(texture);
//! // ... read the texels ...
//! memory[0x12345] = 7;
//! tracker.fetch();
//! assert!(tracker.written_since(texture, stamp));
//! tracker.retire(start);
//! # Ok(())
//! # }
//! ```
//!
//! - [`word`] and [`protocol`]: the states of a granule and who may change them; checked with loom.
//! - [`pages`]: the table of words. [`coverage`]: what is tracked. [`ranges`]: slots, ids, handles.
//! - [`mechanism`]: userfaultfd, mprotect with its fault handler, and the choice.
//! - [`tracker`]: registration, protection, fetching. [`scan`]: large fetches, by several threads. [`query`]: the questions. [`bracket`]: imports.
//!
//! Locks: the slot lock (B413) is the tracker's only one that is held while pages change. A fault handler takes none.
//! Nothing of the tracker's is called back under it. The helpers of large fetches work while the fetching thread holds it
//! for them, and take no lock.

mod bracket;
mod coverage;
mod hash;
mod mechanism;
mod pages;
mod protocol;
mod query;
mod ranges;
mod scan;
mod tracker;
mod types;
mod word;

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicUsize, Ordering};

pub use bracket::Opened;
pub use query::{RangeHandle, Watch};
pub use ranges::MOST_RANGES;
pub use tracker::Tracker;
pub use types::{
    Closed, Fetched, Granule, Mechanism, MechanismChoice, RangeId, RegisterError, Selection, Span, Stamp,
    TrackingCounters, TrackingError, TrackingOptions, Writer,
};

/// The host's page size. Async-signal-safe.
fn host_page() -> usize {
    static PAGE: AtomicUsize = AtomicUsize::new(0);
    let page = PAGE.load(Ordering::Relaxed);
    if page != 0 {
        return page;
    }
    #[cfg(unix)]
    // SAFETY: asks for a number.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    #[cfg(not(unix))]
    let page = 4096;
    PAGE.store(page, Ordering::Relaxed);
    page
}
