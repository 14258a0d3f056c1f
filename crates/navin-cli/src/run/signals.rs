//! Ctrl-C and SIGTERM to this program, counted, so that the guest can be asked to end first.

use std::sync::atomic::{AtomicUsize, Ordering};

static COUNT: AtomicUsize = AtomicUsize::new(0);

extern "C" fn on_signal(_signal: libc::c_int) {
    COUNT.fetch_add(1, Ordering::Relaxed);
}

/// From now on SIGINT and SIGTERM are counted instead of ending the program. A `poll` that one of them meets
/// returns at once, so whoever waits looks at [`count`] soon.
pub fn catch() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: sigaction is plain data, for which zero is a valid value.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
        // SAFETY: the handler only touches an atomic.
        unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) };
    }
}

/// How many came since [`catch`].
pub fn count() -> usize {
    COUNT.load(Ordering::Relaxed)
}
