//! The guest's debug callback (`nvnDeviceInstallDebugCallback`): it is told what the log is told, each fault line once.
//!
//! Faults are found on any thread and with locks held, and no guest code runs then. So a line waits here for the next
//! entry point that a guest thread comes back from: that thread delivers it, on its own stack and without a lock
//! ([`stack::run`](super::stack::run)).

use std::collections::VecDeque;
use std::ffi::{CString, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use navin_abi::enums::{NVNdebugCallbackSeverity, NVNdebugCallbackSource, NVNdebugCallbackType};
use navin_abi::types::PFNNVNDEBUGCALLBACKPROC;
use parking_lot::Mutex;

/// Lines that wait; what comes after more than these is in the log only.
const WAITING: usize = 256;

/// Whether there is something to deliver.
static PENDING: AtomicBool = AtomicBool::new(false);
static STATE: Mutex<State> = Mutex::new(State { callback: None, lines: VecDeque::new() });

struct State {
    callback: Option<Callback>,
    lines: VecDeque<(i32, CString)>,
}

/// What the guest installed.
#[derive(Clone, Copy)]
struct Callback {
    /// Of which device, by its address: finalizing that one ends it.
    device: usize,
    function: unsafe extern "C" fn(
        NVNdebugCallbackSource,
        NVNdebugCallbackType,
        i32,
        NVNdebugCallbackSeverity,
        *const u8,
        *mut c_void,
    ),
    /// The guest's own pointer, an address to us.
    data: usize,
}

/// Installs the callback of a device, or (`enable` false, or no function) takes it away.
pub(super) fn install(device: usize, callback: PFNNVNDEBUGCALLBACKPROC, data: usize, enable: bool) {
    navin_abi::fault::listen(note);
    let mut state = STATE.lock();
    state.callback = callback.filter(|_| enable).map(|function| Callback { device, function, data });
    state.lines.clear();
}

/// The device is finalized.
pub(super) fn remove(device: usize) {
    let mut state = STATE.lock();
    if state.callback.is_some_and(|callback| callback.device == device) {
        state.callback = None;
        state.lines.clear();
    }
}

/// Keeps a fault line for the guest. The message's id is the number of the behaviour, 0 for none.
fn note(behaviour: &str, what: &str) {
    let mut state = STATE.lock();
    if state.callback.is_none() || state.lines.len() >= WAITING {
        return;
    }
    let id = behaviour.strip_prefix('B').and_then(|number| number.parse().ok()).unwrap_or(0);
    // No line holds a zero but by what it quotes of the guest's.
    let text = CString::new(what.replace('\0', " ")).unwrap_or_default();
    state.lines.push_back((id, text));
    PENDING.store(true, Ordering::Release);
}

/// Gives the guest what waits. On a guest's thread, outside every entry point.
#[inline]
pub(super) fn deliver() {
    if PENDING.load(Ordering::Relaxed) {
        deliver_all();
    }
}

#[cold]
fn deliver_all() {
    while let Some((callback, (id, text))) = {
        let mut state = STATE.lock();
        let line = state.lines.pop_front();
        if line.is_none() {
            PENDING.store(false, Ordering::Relaxed);
        }
        state.callback.zip(line)
    } {
        let (source, kind) = (NVNdebugCallbackSource::API, NVNdebugCallbackType::API_ERROR);
        let severity = NVNdebugCallbackSeverity::HIGH;
        // SAFETY: the guest's function, which it keeps callable while installed; the text lives through the call.
        unsafe {
            (callback.function)(source, kind, id, severity, text.as_ptr().cast(), callback.data as *mut c_void);
        }
    }
}
