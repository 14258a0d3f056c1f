//! Memory to track, and the setups. The unit tests of the crate use it too.

#![allow(dead_code)]

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::null_mut;
use std::sync::Arc;

use navin_memory::tracking::{Granule, MechanismChoice, Span, Stamp, Tracker, TrackingError, TrackingOptions};

/// A mechanism and a granule.
pub struct Setup {
    pub mechanism: MechanismChoice,
    /// Bytes of a granule.
    pub granule: usize,
}

impl Setup {
    /// The setup, if the system has the mechanism; 0 for the host's page.
    pub fn new(mechanism: MechanismChoice, granule: usize) -> Option<Self> {
        let this = Self { mechanism, granule: if granule == 0 { host_page() } else { granule } };
        match Tracker::new(this.options()) {
            Ok(_) => Some(this),
            Err(e @ TrackingError::Unavailable { .. }) => {
                println!("skipped: {e}");
                None
            }
            Err(e) => panic!("{e}"),
        }
    }

    pub fn options(&self) -> TrackingOptions {
        TrackingOptions { mechanism: self.mechanism, granule: Granule::Bytes(self.granule) }
    }

    pub fn tracker(&self) -> Arc<Tracker> {
        Tracker::new(self.options()).expect("a tracker was made before")
    }

    pub fn is_mprotect(&self) -> bool {
        self.mechanism == MechanismChoice::Mprotect
    }
}

pub fn host_page() -> usize {
    // SAFETY: asks for a number.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// A mapping, not yet tracked, at a multiple of 1 MB.
pub struct Memory {
    pub start: usize,
    pub len: usize,
}

impl Memory {
    /// Private anonymous memory.
    pub fn new(len: usize) -> Self {
        Self::map(len, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE, -1)
    }

    /// A mapping of a file.
    pub fn of(file: &File, len: usize, flags: i32) -> Self {
        Self::map(len, flags, file.as_raw_fd())
    }

    fn map(len: usize, flags: i32, fd: i32) -> Self {
        let align = 1 << 20;
        // SAFETY: reserves a range, and maps into that reservation only.
        unsafe {
            let whole = libc::mmap(
                null_mut(),
                len + align,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            );
            assert_ne!(whole, libc::MAP_FAILED);
            let start = (whole as usize).next_multiple_of(align);
            let at = libc::mmap(start as _, len, libc::PROT_READ | libc::PROT_WRITE, flags | libc::MAP_FIXED, fd, 0);
            assert_eq!(at as usize, start, "{}", std::io::Error::last_os_error());
            Self { start, len }
        }
    }

    pub fn span(&self) -> Span {
        Span::new(self.start, self.len)
    }

    /// The same memory, for a hook; it must not be used once the memory is gone.
    pub fn alias(&self) -> std::mem::ManuallyDrop<Self> {
        std::mem::ManuallyDrop::new(Self { start: self.start, len: self.len })
    }

    /// Writes a byte, as the guest does.
    pub fn write(&self, offset: usize, value: u8) {
        assert!(offset < self.len);
        // SAFETY: inside the mapping; only this process's tests know it, and they use single bytes.
        unsafe { atomic(self.start + offset).store(value, std::sync::atomic::Ordering::Relaxed) };
    }

    pub fn read(&self, offset: usize) -> u8 {
        assert!(offset < self.len);
        // SAFETY: as above.
        unsafe { atomic(self.start + offset).load(std::sync::atomic::Ordering::Relaxed) }
    }

    /// Lets the kernel write `len` bytes here, as reading a file does; what `read` answers.
    pub fn system_write(&self, offset: usize, len: usize) -> Result<usize, i32> {
        assert!(offset + len <= self.len);
        let file = File::open("/dev/zero").expect("/dev/zero");
        // SAFETY: inside the mapping.
        let count = unsafe { libc::read(file.as_raw_fd(), (self.start + offset) as _, len) };
        usize::try_from(count).map_err(|_| std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: our own mapping (what was reserved around it is left).
        unsafe { libc::munmap(self.start as _, self.len) };
    }
}

/// # Safety
/// The address is mapped and used as atomic bytes only.
unsafe fn atomic<'a>(address: usize) -> &'a std::sync::atomic::AtomicU8 {
    // SAFETY: the caller's promise.
    unsafe { &*(address as *const std::sync::atomic::AtomicU8) }
}

/// An anonymous file of this size.
pub fn memfd(len: usize) -> File {
    // SAFETY: a new file descriptor.
    let file = unsafe { File::from_raw_fd(libc::memfd_create(c"tracked".as_ptr(), libc::MFD_CLOEXEC)) };
    file.set_len(len as u64).expect("memfd size");
    file
}

/// What a submission sees: fetch, then ask.
pub fn written(tracker: &Tracker, span: Span, stamp: Stamp) -> bool {
    tracker.fetch();
    tracker.written_since(span, stamp)
}

/// The written parts, as offsets from the span's start.
pub fn written_parts(tracker: &Tracker, span: Span, stamp: Stamp) -> Vec<(usize, usize)> {
    tracker.fetch();
    let mut out = Vec::new();
    tracker.written_spans(span, stamp, &mut out);
    out.iter().map(|part| (part.start - span.start, part.len)).collect()
}
