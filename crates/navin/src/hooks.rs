//! What tests make of the driver: places at which they stop a thread, to have something else happen in between that would
//! take luck otherwise, and a host that is simulated. Nobody else sets any; without one a place costs a load.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

pub use navin_vulkan::refuse_imports;

/// Where a thread stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The submit thread, before it replays a piece.
    Replay,
    /// The submit thread, in a replay that has found a range of scattered pages.
    Scattered,
    /// A guest thread, between the waits of a mapping and the mapping.
    Mapping,
}

/// What happens there.
pub type Hook = Arc<dyn Fn(Place) + Send + Sync>;

static SET: AtomicBool = AtomicBool::new(false);
static HOOK: Mutex<Option<Hook>> = Mutex::new(None);

/// Has `hook` called at every place; `None` for nothing.
pub fn set(hook: Option<Hook>) {
    SET.store(hook.is_some(), Ordering::Release);
    *HOOK.lock() = hook;
}

/// Bytes of a simulated host page, for virtual pools that are made from here on; 0: the host's own.
pub static HOST_PAGE: AtomicU64 = AtomicU64::new(0);

/// Most bytes of addresses that the simulated host gives to one virtual pool; 0: as many as there are.
pub static MOST_RESERVED: AtomicU64 = AtomicU64::new(0);

/// The host page of virtual pools.
pub(crate) fn host_page(own: u64) -> u64 {
    own.max(HOST_PAGE.load(Ordering::Relaxed))
}

/// Whether the simulated host gives so many bytes of addresses.
pub(crate) fn reserves(bytes: u64) -> bool {
    let most = MOST_RESERVED.load(Ordering::Relaxed);
    most == 0 || bytes <= most
}

/// A thread is at a place.
#[inline]
pub(crate) fn reach(place: Place) {
    if SET.load(Ordering::Relaxed) {
        let hook = HOOK.lock().clone();
        if let Some(hook) = hook {
            hook(place);
        }
    }
}
