//! A crash's one line, and the lock of the error stream (B411).
//!
//! The log writes to standard error under a lock of Navin's own ([`Stderr`]). A guest's crash is told in one line
//! written with `write()`: by a signal handler that lets a log line on its way end first, but gives up on the lock
//! after a second, so that a stall which holds it still shows. Then the process dies of the signal, as it would
//! have without the handler. Installed for guests that `navin run` starts; an embedder has handlers of its own.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

/// Held while a log line goes to standard error.
static STDERR: Mutex<()> = Mutex::new(());

/// Standard error, one writer at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _held = STDERR.lock();
        io::stderr().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        let _held = STDERR.lock();
        io::stderr().flush()
    }
}

/// The signals that end a program by its own fault, with their names.
#[cfg(unix)]
const SIGNALS: [(i32, &str); 4] =
    [(libc::SIGSEGV, "SIGSEGV"), (libc::SIGBUS, "SIGBUS"), (libc::SIGILL, "SIGILL"), (libc::SIGFPE, "SIGFPE")];

/// Has crashes told in one line. For signals that nobody handles yet; before write tracking is set up, whose own
/// handler passes on what is not its.
#[cfg(unix)]
pub(crate) fn install() {
    for (signal, _) in SIGNALS {
        // SAFETY: `sigaction` with valid arguments; the handler calls async-signal-safe functions only.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &mut old) != 0 || old.sa_sigaction != libc::SIG_DFL {
                continue;
            }
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

#[cfg(not(unix))]
pub(crate) fn install() {}

/// How long a crash waits for the lock of standard error, and how often it looks.
#[cfg(unix)]
const PATIENCE_MS: u32 = 1000;
#[cfg(unix)]
const LOOK_MS: u32 = 10;

#[cfg(unix)]
extern "C" fn handler(signal: i32, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if !TOLD.swap(true, Ordering::AcqRel) {
        let mut line = Line::default();
        line.text("navin: ");
        line.text(SIGNALS.iter().find(|(number, _)| *number == signal).map_or("a signal", |(_, name)| name));
        line.text(" at address 0x");
        // SAFETY: the kernel passes a valid `siginfo_t`.
        line.number(unsafe { (*info).si_addr() } as u64, 16);
        line.text(": the guest has crashed");
        for (place, at) in [("; replay is at opcode ", 0), (", behind opcode ", 1)] {
            if let Some(at) = crate::replay::position::now()[at] {
                line.text(place);
                line.number(at.opcode.into(), 10);
                line.text(" (byte ");
                line.number(at.offset as u64, 10);
                line.text(" of its piece, payload at 0x");
                line.number(at.payload as u64, 16);
                line.text(")");
            }
        }
        line.text("\n");
        // An attempt is one compare-and-swap; dropping the guard lets nobody in who could still matter.
        let mut held = STDERR.try_lock();
        for _ in 0..PATIENCE_MS / LOOK_MS {
            if held.is_some() {
                break;
            }
            // SAFETY: `poll` without descriptors sleeps, and is async-signal-safe.
            unsafe { libc::poll(std::ptr::null_mut(), 0, LOOK_MS as i32) };
            held = STDERR.try_lock();
        }
        let bytes = line.bytes();
        // SAFETY: `write` of a buffer of ours, async-signal-safe.
        unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
        // The process ends: no other line shall come after this one.
        std::mem::forget(held);
    }
    // SAFETY: async-signal-safe calls. The default action ends the process as soon as the handler returns: a fault
    // happens again, a signal that was sent is sent again.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = libc::SIG_DFL;
        libc::sigaction(signal, &action, std::ptr::null_mut());
        libc::raise(signal);
    }
}

/// The longest line.
#[cfg(unix)]
const LINE_BYTES: usize = 320;

/// A line put together without memory from anywhere.
#[cfg(unix)]
struct Line {
    bytes: [u8; LINE_BYTES],
    length: usize,
}

#[cfg(unix)]
impl Default for Line {
    fn default() -> Self {
        Self { bytes: [0; LINE_BYTES], length: 0 }
    }
}

#[cfg(unix)]
impl Line {
    fn text(&mut self, text: &str) {
        for (place, byte) in self.bytes[self.length..].iter_mut().zip(text.bytes()) {
            *place = byte;
            self.length += 1;
        }
    }

    fn number(&mut self, number: u64, base: u64) {
        let mut divisor = 1;
        while number / divisor >= base {
            divisor *= base;
        }
        while divisor > 0 {
            let digit = b"0123456789abcdef"[(number / divisor % base) as usize];
            self.text(std::str::from_utf8(&[digit]).unwrap_or("?"));
            divisor /= base;
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn lines_hold_numbers_and_are_cut() {
        let mut line = Line::default();
        line.number(0, 16);
        line.text(" ");
        line.number(0xdead_beef, 16);
        assert_eq!(line.bytes(), b"0 deadbeef");
        line.text(&"x".repeat(2 * LINE_BYTES));
        assert_eq!(line.bytes().len(), LINE_BYTES);
    }

    /// Not a test: what the next one starts as a process of its own.
    #[test]
    fn crashing_child() {
        if std::env::var_os("NAVIN_TEST_CRASH").is_none() {
            return;
        }
        // Rust's own handler, which programs in other languages do not have.
        // SAFETY: the default action is always valid.
        unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
        install();
        let locked = std::sync::Arc::new(std::sync::Barrier::new(2));
        let there = std::sync::Arc::clone(&locked);
        std::thread::spawn(move || {
            let _held = STDERR.lock();
            let _too = io::stderr().lock();
            there.wait();
            std::thread::sleep(Duration::from_secs(60));
        });
        locked.wait();
        // SAFETY: there is no such access; that is what is tested.
        unsafe { std::ptr::null_mut::<u8>().wrapping_add(0x123).write_volatile(1) };
    }

    #[test]
    fn b411_a_crash_is_told_although_the_error_streams_lock_is_held_and_the_process_ends() {
        let started = Instant::now();
        let output = Command::new(std::env::args_os().next().unwrap())
            .args(["--exact", "crash::tests::crashing_child", "--nocapture"])
            .env("NAVIN_TEST_CRASH", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        use std::os::unix::process::ExitStatusExt;
        assert_eq!(output.status.signal(), Some(libc::SIGSEGV));
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(text.matches("navin: SIGSEGV at address 0x123: the guest has crashed\n").count(), 1, "{text}");
        let took = started.elapsed();
        assert!(took < Duration::from_secs(20), "far from the minute that the lock is held: {took:?}");
    }
}
