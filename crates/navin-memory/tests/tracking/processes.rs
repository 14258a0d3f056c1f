//! What a process as a whole shows: handlers of others, a system that refuses. Each case runs in a child, which is this
//! test program started again with the case's name.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};

use navin_memory::tracking::{Mechanism, MechanismChoice, Span, Tracker, TrackingError, TrackingOptions};

use crate::support::{Memory, Setup, written};

const CASE: &str = "NAVIN_TRACKING_CASE";

/// Runs `test` again with the case set; none inside the child, which is to play it.
fn child(test: &str, adjust: impl FnOnce(&mut Command)) -> Option<ExitStatus> {
    if std::env::var(CASE).is_ok() {
        return None;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("processes::{test}"), "--nocapture", "--test-threads=1"]).env(CASE, test);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    adjust(&mut command);
    Some(command.status().unwrap())
}

fn mprotect_in_use() -> Option<(std::sync::Arc<Tracker>, Memory)> {
    let setup = Setup::new(MechanismChoice::Mprotect, 0)?;
    let tracker = setup.tracker();
    let memory = Memory::new(4 * setup.granule);
    tracker.register(memory.start, memory.len).unwrap();
    let stamp = tracker.protect(memory.span());
    memory.write(1, 1);
    assert!(written(&tracker, memory.span(), stamp));
    tracker.protect(memory.span());
    Some((tracker, memory))
}

fn write_nowhere() {
    // SAFETY: none: the child is to die of it, or its handler to end it.
    unsafe { std::ptr::without_provenance_mut::<u8>(16).write_volatile(1) };
}

#[test]
fn a_foreign_fault_ends_the_process_as_ever() {
    let Some(status) = child("a_foreign_fault_ends_the_process_as_ever", |_| {}) else {
        // The standard library's own handler, then the default.
        let _used = mprotect_in_use();
        return write_nowhere();
    };
    assert_eq!(status.signal(), Some(libc::SIGSEGV), "{status}");
}

#[test]
fn a_foreign_write_to_read_only_memory_ends_the_process_as_ever() {
    let test = "a_foreign_write_to_read_only_memory_ends_the_process_as_ever";
    let Some(status) = child(test, |_| {}) else {
        let Some((tracker, memory)) = mprotect_in_use() else { return };
        // Near tracked memory, protected by the guest itself.
        tracker.retire(memory.start);
        // SAFETY: our own memory.
        unsafe { libc::mprotect(memory.start as _, memory.len, libc::PROT_READ) };
        memory.write(0, 1);
        return;
    };
    if Setup::new(MechanismChoice::Mprotect, 0).is_some() {
        assert_eq!(status.signal(), Some(libc::SIGSEGV), "{status}");
    }
}

extern "C" fn end_with_42(_: i32) {
    // SAFETY: ends the process.
    unsafe { libc::_exit(42) };
}

#[test]
fn a_foreign_fault_reaches_the_handler_that_was_there() {
    let Some(status) = child("a_foreign_fault_reaches_the_handler_that_was_there", |_| {}) else {
        // SAFETY: a handler that only ends the process.
        unsafe { libc::signal(libc::SIGSEGV, end_with_42 as *const () as usize) };
        let used = mprotect_in_use();
        if used.is_none() {
            // SAFETY: ends the child.
            unsafe { libc::_exit(42) };
        }
        return write_nowhere();
    };
    assert_eq!(status.code(), Some(42), "{status}");
}

#[test]
fn a_signal_that_somebody_sent_is_not_swallowed() {
    let Some(status) = child("a_signal_that_somebody_sent_is_not_swallowed", |_| {}) else {
        // SAFETY: back to the system's default before the tracker's handler comes, then a signal to ourselves.
        unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
        let _used = mprotect_in_use();
        // SAFETY: as above.
        unsafe { libc::raise(libc::SIGSEGV) };
        return;
    };
    assert_eq!(status.signal(), Some(libc::SIGSEGV), "{status}");
}

/// Lets the child's system calls of userfaultfd fail with EPERM, as container runtimes do.
fn forbid_userfaultfd() -> std::io::Result<()> {
    let step = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut filter = [
        // The system call's number.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, libc::SYS_userfaultfd as u32, 0, 1),
        step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32, 0, 0),
        step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: both take plain arguments; the filter lives through the call.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) == 0
    };
    if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[test]
fn a_refused_userfaultfd_leads_to_mprotect_with_the_reason() {
    let status = child("a_refused_userfaultfd_leads_to_mprotect_with_the_reason", |command| {
        // SAFETY: between fork and exec, system calls only.
        unsafe { command.pre_exec(forbid_userfaultfd) };
    });
    let Some(status) = status else {
        let tracker = Tracker::new(TrackingOptions::default()).unwrap();
        let selection = tracker.mechanism();
        assert_ne!(selection.mechanism, Mechanism::Userfaultfd);
        assert!(selection.reason.contains("no userfaultfd: the system call: "), "{}", selection.reason);
        assert!(selection.reason.contains("Operation not permitted"), "{}", selection.reason);
        let asked = TrackingOptions { mechanism: MechanismChoice::Userfaultfd, ..Default::default() };
        assert!(matches!(Tracker::new(asked), Err(TrackingError::Unavailable { .. })));
        let memory = Memory::new(1 << 16);
        tracker.register(memory.start, memory.len).unwrap();
        let stamp = tracker.protect(memory.span());
        memory.write(0, 1);
        assert!(written(&tracker, memory.span(), stamp));
        return;
    };
    assert!(status.success(), "{status}");
}

#[test]
fn userfaultfd_needs_no_privilege() {
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } != 0 || Setup::new(MechanismChoice::Userfaultfd, 0).is_none() {
        println!("skipped: not root, whatever works here works without privilege");
        return;
    }
    // In this process: the fork's child gives up root, all capabilities with it.
    // SAFETY: the child makes a tracker and ends at once; it shares no lock of other threads but the allocator's, which
    // glibc keeps usable over fork.
    let status = unsafe {
        let pid = libc::fork();
        if pid == 0 {
            let dropped = libc::setgroups(0, std::ptr::null()) == 0 && libc::setuid(65534) == 0;
            // The process's own /proc files are the old owner's unless it may be dumped.
            libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0);
            let asked = TrackingOptions { mechanism: MechanismChoice::Userfaultfd, ..Default::default() };
            libc::_exit(if dropped && Tracker::new(asked).is_ok() { 0 } else { 1 });
        }
        let mut status = 0;
        libc::waitpid(pid, &mut status, 0);
        status
    };
    assert_eq!(status, 0);
}

/// The kernel gives a process a limited number of mappings, and a page protected on its own takes two. At the limit a
/// write in the middle of a protected run cannot release its page alone: the whole run is released. What cannot be
/// protected counts as written.
#[test]
fn b411_the_limit_on_mappings_costs_precision_and_nothing_else() {
    let Some(status) = child("b411_the_limit_on_mappings_costs_precision_and_nothing_else", |_| {}) else {
        let Some((tracker, _used)) = mprotect_in_use() else { return };
        let g = tracker.granule();
        let memory = Memory::new(64 * g);
        tracker.register(memory.start, memory.len).unwrap();
        let run = Span::new(memory.start + 8 * g, 16 * g);
        let stamp = tracker.protect(run);
        // All the mappings there are.
        let filler = Memory::new(200_000 * g);
        for page in (0..200_000).step_by(2) {
            // SAFETY: our own memory.
            if unsafe { libc::mprotect((filler.start + page * g) as _, g, libc::PROT_READ) } != 0 {
                break;
            }
            assert!(page < 199_000, "no limit on mappings");
        }
        memory.write(12 * g, 1);
        let counters = tracker.counters();
        assert_eq!(counters.widened_faults, 1);
        let mut parts = Vec::new();
        tracker.written_spans(run, stamp, &mut parts);
        assert_eq!(parts, [run]);
        // One more mapping is not to be had for this one.
        let alone = Span::new(memory.start + 40 * g, g);
        let stamp = tracker.protect(alone);
        if tracker.counters().refused == 0 {
            // The release above gave two mappings back.
            tracker.protect(Span::new(memory.start + 44 * g, g));
            tracker.protect(Span::new(memory.start + 48 * g, g));
            assert!(tracker.counters().refused > 0);
        } else {
            assert!(tracker.written_since(alone, stamp));
        }
        memory.write(44 * g, 1);
        memory.write(48 * g, 1);
        drop(filler);
        assert!(tracker.retire(memory.start));
        memory.write(40 * g, 1);
        return;
    };
    assert!(status.success(), "{status}");
}
