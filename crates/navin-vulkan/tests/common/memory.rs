//! Host memory of the tests' own: private pages, memfds with two mappings.

use std::ptr::NonNull;

use navin_vulkan::{Backing, PoolStorage};

/// A mapping, unmapped at its end. Make it before the pools over it, so that it outlives them.
pub struct Mapping {
    pub ptr: *mut u8,
    pub len: usize,
}

// SAFETY: the mapping belongs to no thread.
unsafe impl Send for Mapping {}
// SAFETY: as above; the tests keep their accesses apart.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn map(len: usize, flags: i32, fd: i32) -> Self {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping where the system likes.
        let ptr = unsafe { libc::mmap(std::ptr::null_mut(), len, access, flags | libc::MAP_NORESERVE, fd, 0) };
        assert_ne!(ptr, libc::MAP_FAILED, "{len:#x} bytes: {}", std::io::Error::last_os_error());
        Self { ptr: ptr.cast(), len }
    }

    /// Private zeroed pages; memory is taken when they are touched.
    pub fn anonymous(len: usize) -> Self {
        Self::map(len, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1)
    }

    pub fn storage(&self) -> PoolStorage {
        PoolStorage::new(self.ptr, self.len as u64)
    }

    pub fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset <= self.len);
        // SAFETY: inside the mapping.
        unsafe { self.ptr.add(offset) }
    }

    pub fn write(&self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.len);
        // SAFETY: inside the mapping; nothing of the GPU's uses these bytes now.
        unsafe { self.at(offset).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }

    pub fn read(&self, offset: usize, len: usize) -> Vec<u8> {
        assert!(offset + len <= self.len);
        // SAFETY: inside the mapping; the GPU is done with these bytes.
        unsafe { std::slice::from_raw_parts(self.at(offset), len) }.to_vec()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: our own mapping.
        unsafe { libc::munmap(self.ptr.cast(), self.len) };
    }
}

/// A memfd and two mappings of it.
pub struct Memfd {
    pub fd: i32,
    pub first: Mapping,
    pub second: Mapping,
}

impl Memfd {
    pub fn new(len: usize) -> Self {
        // SAFETY: a new descriptor.
        let fd = unsafe { libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
        assert!(fd >= 0);
        // SAFETY: our own descriptor.
        assert_eq!(unsafe { libc::ftruncate(fd, len as libc::off_t) }, 0);
        let map = || Mapping::map(len, libc::MAP_SHARED, fd);
        Self { fd, first: map(), second: map() }
    }

    /// The storage from an offset on, as the first mapping, to be imported at the second if asked.
    pub fn storage(&self, offset: usize, with_second: bool) -> PoolStorage {
        let second = if with_second { NonNull::new(self.second.at(offset)) } else { None };
        PoolStorage {
            ptr: self.first.at(offset),
            len: (self.first.len - offset) as u64,
            backing: Backing::Memfd { fd: self.fd, offset: offset as u64, second },
        }
    }
}

impl Drop for Memfd {
    fn drop(&mut self) {
        // SAFETY: our own descriptor.
        unsafe { libc::close(self.fd) };
    }
}
