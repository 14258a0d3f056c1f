//! The SIGSEGV handler: one for the process, for all trackers, in front of whatever handler there was.
//!
//! It takes no lock and allocates nothing: it reads words, changes them by compare-and-exchange, and calls `mprotect`,
//! `madvise` and `sched_yield`. A fault that no tracker knows goes to the handler that was there before, under the
//! signal mask which that one asked for, or to the system's default.
//!
//! - `SA_ONSTACK`: guests may run on small stacks of their own; a thread with an alternate stack uses it.
//! - `SA_NODEFER` with a full mask otherwise: while the handler runs no other signal is delivered (one that suspends the
//!   thread, as garbage collectors send, would stop it with a granule BUSY, and the collector could then wait for that
//!   granule, B411); the mask is put back before a foreign fault is handed on, also for handlers that never return.

use std::cell::UnsafeCell;
use std::io;
use std::mem::{MaybeUninit, zeroed};
use std::ptr::{null, null_mut};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use libc::{c_int, c_void, siginfo_t, sigset_t};

/// What a tracker's fault routine answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The page is writable now: try the write again.
    Retry,
    /// Not a page that this tracker protects.
    Unknown,
}

/// A tracker, as the handler sees it.
pub trait FaultTarget: Sync {
    /// A write fault at an address. Async-signal-safe.
    fn fault(&self, address: usize) -> Answer;
}

/// How many trackers a process has at most that use the handler.
const MOST: usize = 64;

struct Entry {
    /// A `Box<&dyn FaultTarget>`, made by [`Registration::new`].
    target: AtomicPtr<&'static dyn FaultTarget>,
    /// Handlers that are looking at it.
    readers: AtomicUsize,
}

static ENTRIES: [Entry; MOST] =
    [const { Entry { target: AtomicPtr::new(null_mut()), readers: AtomicUsize::new(0) } }; MOST];

/// A tracker's place in the handler's list; it leaves the list when this is dropped.
pub struct Registration {
    entry: &'static Entry,
    target: *mut &'static dyn FaultTarget,
}

// SAFETY: the pointer is only freed by `drop`, and what it points to is `Sync`.
unsafe impl Send for Registration {}
// SAFETY: as above; nothing is done through a shared reference.
unsafe impl Sync for Registration {}

impl Registration {
    /// Enters a tracker; none when the list is full.
    ///
    /// # Safety
    /// `target` must stay where it is, and alive, until the registration is dropped.
    pub unsafe fn new(target: &dyn FaultTarget) -> Option<Self> {
        // SAFETY: only the lifetime changes; the caller keeps the target alive until the drop, which waits for readers.
        let target = unsafe { std::mem::transmute::<&dyn FaultTarget, &'static dyn FaultTarget>(target) };
        let target = Box::into_raw(Box::new(target));
        for entry in &ENTRIES {
            if entry.target.compare_exchange(null_mut(), target, Ordering::SeqCst, Ordering::Relaxed).is_ok() {
                return Some(Self { entry, target });
            }
        }
        // SAFETY: made above, shown to nobody.
        drop(unsafe { Box::from_raw(target) });
        None
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // Sequentially consistent with the handler's two accesses: either it sees null, or this sees it reading.
        self.entry.target.store(null_mut(), Ordering::SeqCst);
        while self.entry.readers.load(Ordering::SeqCst) != 0 {
            std::thread::yield_now();
        }
        // SAFETY: made by `new`; out of the list, and nobody reads it any more.
        drop(unsafe { Box::from_raw(self.target) });
    }
}

/// Asks the trackers.
fn ask(address: usize) -> Answer {
    for entry in &ENTRIES {
        if entry.target.load(Ordering::Relaxed).is_null() {
            continue;
        }
        entry.readers.fetch_add(1, Ordering::SeqCst);
        let target = entry.target.load(Ordering::SeqCst);
        // SAFETY: null, or alive: whoever takes it out of the list waits for `readers` before it is freed.
        let found = unsafe { target.as_ref() }.map_or(Answer::Unknown, |target| target.fault(address));
        entry.readers.fetch_sub(1, Ordering::SeqCst);
        if found == Answer::Retry {
            return found;
        }
    }
    Answer::Unknown
}

/// Whether a page may be written; a page that may is made present. Async-signal-safe. False where the kernel does not
/// know the question.
pub fn is_writable(page: usize, len: usize) -> bool {
    // SAFETY: changes nothing but which pages are present.
    unsafe { libc::madvise(page as *mut c_void, len, libc::MADV_POPULATE_WRITE) == 0 }
}

/// The handler that was there before. Written once, before ours is in place.
struct Previous(UnsafeCell<MaybeUninit<libc::sigaction>>);
// SAFETY: written under the lock of `install` before `READY`, read after.
unsafe impl Sync for Previous {}

static PREVIOUS: Previous = Previous(UnsafeCell::new(MaybeUninit::uninit()));
static READY: AtomicBool = AtomicBool::new(false);
static INSTALL: Mutex<()> = Mutex::new(());

/// Puts the handler in place, once for the process. Whoever installs a handler later must hand on to it what is not
/// theirs.
pub fn install() -> io::Result<()> {
    let _installing = INSTALL.lock().unwrap_or_else(PoisonError::into_inner);
    if READY.load(Ordering::Acquire) {
        return Ok(());
    }
    // SAFETY: all zero is a valid `sigaction`; it is filled in below.
    let mut action: libc::sigaction = unsafe { zeroed() };
    action.sa_sigaction = handle as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER | libc::SA_RESTART;
    // SAFETY: all arguments are ours; the old handler is kept before ours can run, and ours is async-signal-safe.
    unsafe {
        libc::sigfillset(&mut action.sa_mask);
        let mut previous = MaybeUninit::uninit();
        if libc::sigaction(libc::SIGSEGV, null(), previous.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        *PREVIOUS.0.get() = previous;
        READY.store(true, Ordering::Release);
        if libc::sigaction(libc::SIGSEGV, &action, null_mut()) != 0 {
            READY.store(false, Ordering::Release);
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Whether the process's handler is still ours; true before it is installed.
pub fn is_installed() -> bool {
    if !READY.load(Ordering::Acquire) {
        return true;
    }
    let mut current = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: writes where we say; initialised when it succeeds.
    unsafe {
        libc::sigaction(libc::SIGSEGV, null(), current.as_mut_ptr()) != 0
            || current.assume_init().sa_sigaction == handle as *const () as usize
    }
}

extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the thread's own errno.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let kept = unsafe { *errno };
    // SAFETY: the kernel gives both for a handler with SA_SIGINFO, valid while it runs.
    let (code, address, write) =
        unsafe { ((*info).si_code, (*info).si_addr() as usize, is_write(&*info, context.cast())) };
    let handled = code == SEGV_ACCERR && write && ask(address) == Answer::Retry;
    if !handled {
        // SAFETY: the arguments are the kernel's, passed on.
        unsafe { hand_on(signal, info, context) };
    }
    // SAFETY: as above.
    unsafe { *errno = kept };
}

/// The page is there and the access is not allowed.
const SEGV_ACCERR: c_int = 2;

/// Whether a fault was a write, as far as the architecture tells.
///
/// # Safety
/// `context` is what the kernel gave the handler.
unsafe fn is_write(info: &siginfo_t, context: *const libc::ucontext_t) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let _ = info;
        // SAFETY: the caller's promise. Bit 1 of the page fault's error code says write.
        unsafe { (*context).uc_mcontext.gregs[libc::REG_ERR as usize] & 2 != 0 }
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: the caller's promise. Not an instruction fetch; reads of protected pages do not fault.
        unsafe { (*context).uc_mcontext.pc != info.si_addr() as u64 }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let _ = (info, context);
        true
    }
}

/// Gives a foreign fault to the handler that was there before, or to the system.
///
/// # Safety
/// The arguments are those of our handler.
unsafe fn hand_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: initialised before our handler was installed, never changed since.
    let previous = unsafe { (*PREVIOUS.0.get()).assume_init_ref() };
    let handler = previous.sa_sigaction;
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // The faulting instruction runs again and meets the default; a signal that somebody sent has to be sent again.
        // SAFETY: plain calls with arguments of ours.
        unsafe {
            let mut default: libc::sigaction = zeroed();
            default.sa_sigaction = libc::SIG_DFL;
            libc::sigaction(signal, &default, null_mut());
            if (*info).si_code <= 0 {
                libc::raise(signal);
            }
        }
        return;
    }
    // SAFETY: the mask that the earlier handler would have run under; then its call, with the arguments its flags ask
    // for. The kernel puts the thread's mask back when we return.
    unsafe {
        let mut mask: sigset_t = (*context.cast::<libc::ucontext_t>()).uc_sigmask;
        for other in 1..=64 {
            if libc::sigismember(&previous.sa_mask, other) == 1 {
                libc::sigaddset(&mut mask, other);
            }
        }
        if previous.sa_flags & libc::SA_NODEFER == 0 {
            libc::sigaddset(&mut mask, signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &mask, null_mut());
        if previous.sa_flags & libc::SA_SIGINFO != 0 {
            let call: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = std::mem::transmute(handler);
            call(signal, info, context);
        } else {
            let call: extern "C" fn(c_int) = std::mem::transmute(handler);
            call(signal);
        }
    }
}

/// Holds back signals while granules are BUSY: a thread that a signal suspends must not hold one (B411). SIGSEGV is held
/// back too; nothing touches tracked memory meanwhile.
pub struct SignalGuard(sigset_t);

impl SignalGuard {
    /// Holds back all signals on this thread.
    pub fn new() -> Self {
        let mut before = MaybeUninit::<sigset_t>::zeroed();
        // SAFETY: both sets are ours; zeroed is a valid set.
        unsafe {
            let mut all = MaybeUninit::<sigset_t>::zeroed().assume_init();
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, before.as_mut_ptr());
            Self(before.assume_init())
        }
    }
}

impl Drop for SignalGuard {
    fn drop(&mut self) {
        // SAFETY: the mask that was there before.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, null_mut()) };
    }
}
