//! The kernel's mechanisms alone, as little as can be around them: what the tracker is measured against.

use std::cell::Cell;
use std::fs::File;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::Memory;

/// userfaultfd over one mapping.
pub struct Uffd {
    _uffd: OwnedFd,
    pagemap: File,
    regions: Cell<[[u64; 3]; 256]>,
}

impl Uffd {
    pub fn new(memory: &Memory) -> Self {
        // SAFETY: a new file descriptor, then ioctls with arrays of the sizes that their numbers say.
        unsafe {
            let fd = libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC | libc::O_NONBLOCK | 1);
            let uffd = OwnedFd::from_raw_fd(i32::try_from(fd).expect("userfaultfd"));
            let mut api = [0xaau64, 1 | 1 << 12 | 1 << 13 | 1 << 15, 0];
            assert_eq!(libc::ioctl(uffd.as_raw_fd(), 0xc018_aa3f, &mut api), 0);
            let mut register = [memory.start as u64, memory.len as u64, 2, 0];
            assert_eq!(libc::ioctl(uffd.as_raw_fd(), 0xc020_aa00, &mut register), 0);
            let pagemap = File::open("/proc/self/pagemap").expect("pagemap");
            Self { _uffd: uffd, pagemap, regions: Cell::new([[0; 3]; 256]) }
        }
    }

    /// Finds what was written and protects it again.
    pub fn protect(&self, memory: &Memory) {
        let (mut at, end) = (memory.start as u64, (memory.start + memory.len) as u64);
        while at < end {
            let mut scan = [96, 1, at, end, 0, self.regions.as_ptr() as u64, 256, 0, 0, 2, 0, 2u64];
            // SAFETY: the structure of PAGEMAP_SCAN, 96 bytes; the regions are as many as it says.
            assert!(unsafe { libc::ioctl(self.pagemap.as_raw_fd(), 0xc060_6610, &mut scan) } >= 0);
            at = scan[4];
        }
    }
}

static START: AtomicUsize = AtomicUsize::new(0);
static LEN: AtomicUsize = AtomicUsize::new(0);

extern "C" fn make_writable(_: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel's argument; then a page of the memory under test, or the end.
    unsafe {
        let page = (*info).si_addr() as usize & !4095;
        if page.wrapping_sub(START.load(Ordering::Relaxed)) >= LEN.load(Ordering::Relaxed) {
            libc::_exit(1);
        }
        libc::mprotect(page as _, 4096, libc::PROT_READ | libc::PROT_WRITE);
    }
}

/// Runs `work` with the memory read-only, and a handler that makes each page writable at its first write.
pub fn with_handler(memory: &Memory, work: impl FnOnce() -> f64) -> f64 {
    START.store(memory.start, Ordering::Relaxed);
    LEN.store(memory.len, Ordering::Relaxed);
    // SAFETY: installs a handler that does only what it must, and the former one again after.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = make_writable as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        let mut former: libc::sigaction = zeroed();
        libc::sigaction(libc::SIGSEGV, &action, &mut former);
        libc::mprotect(memory.start as _, memory.len, libc::PROT_READ);
        let out = work();
        libc::mprotect(memory.start as _, memory.len, libc::PROT_READ | libc::PROT_WRITE);
        libc::sigaction(libc::SIGSEGV, &former, null_mut());
        out
    }
}
