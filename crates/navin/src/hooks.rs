//! Places at which tests stop a thread of the driver, to have something else happen in between that would take luck
//! otherwise. Nobody else sets any; without one a place costs a load.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

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
