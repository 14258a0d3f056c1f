//! Tracking by Linux 6.7 and later: userfaultfd in asynchronous write-protect mode, and the PAGEMAP_SCAN ioctl.
//!
//! A write to a protected page is resolved within the kernel: no signal, no message, and system calls into the page work
//! too. PAGEMAP_SCAN tells which pages have lost their protection and gives it back in the same step. Sources: the
//! kernel's `Documentation/admin-guide/mm/{userfaultfd,pagemap}.rst` and `include/uapi/linux/{userfaultfd,fs}.h`.
//!
//! - The file descriptor is opened for user-mode faults only. That needs no privilege, whatever
//!   `vm.unprivileged_userfaultfd` says, no `CAP_SYS_PTRACE` and no `/dev/userfaultfd`; and in asynchronous mode writes by
//!   the kernel are resolved all the same (the probe writes by `read` to make sure). A sandbox may still refuse the system
//!   call; then the probe says what it answered.
//! - Private, shared (memfd) and file mappings may be protected in this mode.
//! - Huge pages stay: the kernel splits one at the first write after it was protected (some 20 us, once for 2 MB), and
//!   does not collapse pages into one while they are protected.
//! - Memory stays registered when its pools are retired, until it is unmapped or the tracker goes: a write to a page that is
//!   still protected costs its microsecond once more and nothing else, and a pool made there again is registered already.
//! - GPU imports that write by pinned pages do not count as writes; those that write through the CPU's mapping do.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::null_mut;

use super::Protection;

const USER_MODE_ONLY: i32 = 1;
const API: u64 = 0xaa;
const REGISTER_WRITE_PROTECT: u64 = 1 << 1;
const FEATURE_PAGEFAULT_FLAG_WP: u64 = 1 << 0;
/// Shared memory and huge pages too.
const FEATURE_WP_HUGETLBFS_SHMEM: u64 = 1 << 12;
/// Pages that do not exist yet too.
const FEATURE_WP_UNPOPULATED: u64 = 1 << 13;
const FEATURE_WP_ASYNC: u64 = 1 << 15;

const SCAN_WP_MATCHING: u64 = 1 << 0;
/// Pages whose write protection is gone.
const PAGE_IS_WRITTEN: u64 = 1 << 1;

#[repr(C)]
struct Api {
    api: u64,
    features: u64,
    ioctls: u64,
}

#[repr(C)]
struct KernelRange {
    start: u64,
    len: u64,
}

#[repr(C)]
struct Register {
    range: KernelRange,
    mode: u64,
    ioctls: u64,
}

#[repr(C)]
struct WriteProtect {
    range: KernelRange,
    mode: u64,
}

#[repr(C)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

/// An ioctl's number, as the architectures write it that this is for.
const fn ioctl_number(direction: u64, group: u64, number: u64, size: usize) -> u64 {
    direction << 30 | (size as u64) << 16 | group << 8 | number
}
const READ_WRITE: u64 = 3;
const UFFDIO_API: u64 = ioctl_number(READ_WRITE, 0xaa, 0x3f, size_of::<Api>());
const UFFDIO_REGISTER: u64 = ioctl_number(READ_WRITE, 0xaa, 0, size_of::<Register>());
const UFFDIO_WRITEPROTECT: u64 = ioctl_number(READ_WRITE, 0xaa, 6, size_of::<WriteProtect>());
const PAGEMAP_SCAN: u64 = ioctl_number(READ_WRITE, b'f' as u64, 16, size_of::<Scan>());

/// The file descriptors.
pub struct Userfaultfd {
    uffd: OwnedFd,
    pagemap: File,
}

impl Userfaultfd {
    /// Opens it and makes sure on a page of its own that it notices writes; else what the system answered.
    pub fn new() -> Result<Self, String> {
        if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")) {
            return Err("the numbers of its ioctls are not known for this architecture".into());
        }
        let flags = libc::O_CLOEXEC | libc::O_NONBLOCK | USER_MODE_ONLY;
        // SAFETY: takes flags, gives a new file descriptor or -1.
        let fd = unsafe { libc::syscall(libc::SYS_userfaultfd, flags) };
        let fd = RawFd::try_from(fd).ok().filter(|&fd| fd >= 0);
        let Some(fd) = fd else { return Err(format!("the system call: {}", io::Error::last_os_error())) };
        // SAFETY: a new file descriptor that nobody else owns.
        let uffd = unsafe { OwnedFd::from_raw_fd(fd) };
        let wanted = FEATURE_PAGEFAULT_FLAG_WP | FEATURE_WP_HUGETLBFS_SHMEM | FEATURE_WP_UNPOPULATED | FEATURE_WP_ASYNC;
        let mut api = Api { api: API, features: wanted, ioctls: 0 };
        ioctl(&uffd, UFFDIO_API, &mut api).map_err(|e| format!("no asynchronous write protection (Linux 6.7): {e}"))?;
        if api.features & wanted != wanted {
            return Err(format!("features {:#x} of {wanted:#x}", api.features & wanted));
        }
        let pagemap = File::open("/proc/self/pagemap").map_err(|e| format!("/proc/self/pagemap: {e}"))?;
        let this = Self { uffd, pagemap };
        this.try_out()?;
        Ok(this)
    }

    /// Protects two pages, lets the program write one and the kernel the other, and fetches.
    fn try_out(&self) -> Result<(), String> {
        let page = super::super::host_page();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new private mapping, given back below.
        let map = unsafe { libc::mmap(null_mut(), 3 * page, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if map == libc::MAP_FAILED {
            return Err(format!("no memory for a probe: {}", io::Error::last_os_error()));
        }
        let start = map as usize;
        let bytes = start..start + 3 * page;
        let attempt = || {
            self.attach(bytes.clone())?;
            self.fetch(bytes.clone(), &mut Vec::new())?;
            // SAFETY: inside the mapping, which nobody else knows.
            unsafe { map.cast::<u8>().write_volatile(1) };
            let zero = File::open("/dev/zero")?;
            // SAFETY: as above; `read` writes at most one byte there.
            let read = unsafe { libc::read(zero.as_raw_fd(), (start + page) as *mut libc::c_void, 1) };
            if read != 1 {
                return Err(io::Error::last_os_error());
            }
            let mut found = Vec::new();
            self.fetch(bytes.clone(), &mut found)?;
            Ok(found)
        };
        let found: io::Result<_> = attempt();
        // SAFETY: mapped above; unmapping also ends its registration.
        unsafe { libc::munmap(map, 3 * page) };
        match found {
            Ok(found) if found.iter().cloned().eq(std::iter::once(start..start + 2 * page)) => Ok(()),
            Ok(found) => Err(format!("tried out, it noticed {} pieces and not the two pages written", found.len())),
            Err(e) => Err(format!("tried out: {e}")),
        }
    }
}

impl Protection for Userfaultfd {
    fn attach(&self, bytes: Range<usize>) -> io::Result<()> {
        let mut register = Register { range: kernel(&bytes), mode: REGISTER_WRITE_PROTECT, ioctls: 0 };
        ioctl(&self.uffd, UFFDIO_REGISTER, &mut register)
    }

    fn protect(&self, bytes: Range<usize>) -> io::Result<()> {
        self.fetch(bytes, &mut Vec::new())
    }

    fn unprotect(&self, bytes: Range<usize>) -> io::Result<()> {
        ioctl(&self.uffd, UFFDIO_WRITEPROTECT, &mut WriteProtect { range: kernel(&bytes), mode: 0 })
    }

    fn fetch(&self, bytes: Range<usize>, found: &mut Vec<Range<usize>>) -> io::Result<()> {
        let mut regions = [Region { start: 0, end: 0, categories: 0 }; 256];
        let mut at = bytes.start as u64;
        let end = bytes.end as u64;
        while at < end {
            // Exactly this form of the question has a fast path in the kernel: written, nothing else, and nothing else
            // told. Memory in between that is not registered is passed over.
            let mut scan = Scan {
                size: size_of::<Scan>() as u64,
                flags: SCAN_WP_MATCHING,
                start: at,
                end,
                walk_end: 0,
                vec: regions.as_mut_ptr() as u64,
                vec_len: regions.len() as u64,
                max_pages: 0,
                category_inverted: 0,
                category_mask: PAGE_IS_WRITTEN,
                category_anyof_mask: 0,
                return_mask: PAGE_IS_WRITTEN,
            };
            let count = ioctl_count(&self.pagemap, PAGEMAP_SCAN, &mut scan)?;
            for region in &regions[..count.min(regions.len())] {
                let (start, end) = (region.start as usize, region.end as usize);
                match found.last_mut() {
                    Some(last) if last.end == start => last.end = end,
                    _ => found.push(start..end),
                }
            }
            if scan.walk_end <= at {
                return Err(io::Error::other("PAGEMAP_SCAN made no progress"));
            }
            at = scan.walk_end;
        }
        Ok(())
    }
}

fn kernel(bytes: &Range<usize>) -> KernelRange {
    KernelRange { start: bytes.start as u64, len: bytes.len() as u64 }
}

fn ioctl<T>(fd: &impl AsRawFd, number: u64, argument: &mut T) -> io::Result<()> {
    ioctl_count(fd, number, argument).map(drop)
}

fn ioctl_count<T>(fd: &impl AsRawFd, number: u64, argument: &mut T) -> io::Result<usize> {
    // SAFETY: each number above goes with its argument's type, whose size is part of it; what a `Scan` points to is
    // the caller's array, of the length it says.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), number as _, std::ptr::from_mut(argument)) };
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}
