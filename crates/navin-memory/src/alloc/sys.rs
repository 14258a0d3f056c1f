//! The host's calls for memory that can be mapped twice: memfd, mmap, fallocate. Only Linux has them all; elsewhere
//! each answers "unsupported", and who asks says by name what is missing.

use std::io;
use std::ptr::NonNull;

use fd::{BorrowedFd, OwnedFd};

/// Descriptors of files; where the system has none, there are no values of these types.
pub(super) mod fd {
    #[cfg(unix)]
    pub use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

    #[cfg(not(unix))]
    mod none {
        use std::convert::Infallible;
        use std::io;
        use std::marker::PhantomData;

        /// An open file of our own.
        #[derive(Debug)]
        pub enum OwnedFd {}

        /// An open file of somebody's.
        #[derive(Clone, Copy, Debug)]
        pub struct BorrowedFd<'a>(Infallible, PhantomData<&'a ()>);

        /// Lends a descriptor.
        pub trait AsFd {
            /// The descriptor.
            fn as_fd(&self) -> BorrowedFd<'_>;
        }

        impl AsFd for OwnedFd {
            fn as_fd(&self) -> BorrowedFd<'_> {
                match *self {}
            }
        }

        impl BorrowedFd<'_> {
            /// Another descriptor of the same file.
            pub fn try_clone_to_owned(&self) -> io::Result<OwnedFd> {
                match self.0 {}
            }
        }
    }

    #[cfg(not(unix))]
    pub use none::{AsFd, BorrowedFd, OwnedFd};
}

/// What a host page is, in bytes: a power of two.
pub(super) fn page_size() -> usize {
    #[cfg(unix)]
    {
        // SAFETY: reads a constant of the system.
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(size).ok().filter(|size| size.is_power_of_two()).unwrap_or(4096)
    }
    #[cfg(not(unix))]
    {
        4096
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
mod linux {
    use std::os::fd::{AsRawFd, FromRawFd};

    use super::*;

    /// An empty sparse file of `size` bytes that only its descriptor names.
    pub(in super::super) fn memfd(size: u64) -> io::Result<OwnedFd> {
        let size = libc::off_t::try_from(size).map_err(|_| io::ErrorKind::InvalidInput)?;
        // A dma-buf is made of a memfd only when that can be sealed against shrinking (B109).
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // SAFETY: a valid name.
        let fd = unsafe { libc::memfd_create(c"navin guest memory".as_ptr(), flags) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: fresh and nobody else's.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: an open descriptor.
        if unsafe { libc::ftruncate(fd.as_raw_fd(), size) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(fd)
    }

    /// Device, inode and size of a file.
    pub(in super::super) fn identity(fd: BorrowedFd<'_>) -> io::Result<(u64, u64, u64)> {
        use std::os::linux::fs::MetadataExt;
        let metadata = std::fs::File::from(fd.try_clone_to_owned()?).metadata()?;
        Ok((metadata.st_dev(), metadata.st_ino(), metadata.st_size()))
    }

    fn mapped(at: *mut libc::c_void) -> io::Result<NonNull<u8>> {
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(at.cast()).ok_or_else(|| io::ErrorKind::Other.into())
    }

    fn file_offset(offset: u64) -> io::Result<libc::off_t> {
        libc::off_t::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput.into())
    }

    /// A new shared mapping of a part of a file, readable and writable.
    pub(in super::super) fn map(fd: BorrowedFd<'_>, offset: u64, len: usize) -> io::Result<NonNull<u8>> {
        let offset = file_offset(offset)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the kernel picks the place, so nothing that is mapped changes.
        mapped(unsafe { libc::mmap(std::ptr::null_mut(), len, access, libc::MAP_SHARED, fd.as_raw_fd(), offset) })
    }

    /// A new mapping of a whole file of `len` bytes, to be read.
    pub(in super::super) fn map_to_read(file: &std::fs::File, len: usize) -> io::Result<NonNull<u8>> {
        let fd = file.as_raw_fd();
        // SAFETY: the kernel picks the place, so nothing that is mapped changes.
        mapped(unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ, libc::MAP_SHARED, fd, 0) })
    }

    const RESERVED: libc::c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;

    /// Addresses that nothing else gets, inaccessible.
    pub(in super::super) fn reserve(len: usize) -> io::Result<NonNull<u8>> {
        // SAFETY: the kernel picks the place, so nothing that is mapped changes.
        mapped(unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_NONE, RESERVED, -1, 0) })
    }

    /// Puts a shared mapping of a part of a file over pages.
    ///
    /// # Safety
    /// The pages belong to the caller, and no reference leads into them.
    pub(in super::super) unsafe fn map_over(
        at: NonNull<u8>,
        fd: BorrowedFd<'_>,
        offset: u64,
        len: usize,
    ) -> io::Result<()> {
        let offset = file_offset(offset)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: as promised to this function.
        let result = unsafe {
            libc::mmap(at.as_ptr().cast(), len, access, libc::MAP_SHARED | libc::MAP_FIXED, fd.as_raw_fd(), offset)
        };
        mapped(result).map(|_| ())
    }

    /// Makes pages inaccessible; the addresses stay reserved.
    ///
    /// # Safety
    /// As for [`map_over`].
    pub(in super::super) unsafe fn reserve_over(at: NonNull<u8>, len: usize) -> io::Result<()> {
        // SAFETY: as promised to this function.
        let result = unsafe { libc::mmap(at.as_ptr().cast(), len, libc::PROT_NONE, RESERVED | libc::MAP_FIXED, -1, 0) };
        mapped(result).map(|_| ())
    }

    /// Ends a mapping.
    ///
    /// # Safety
    /// As for [`map_over`]; the addresses may be anybody's afterwards.
    pub(in super::super) unsafe fn unmap(at: NonNull<u8>, len: usize) {
        // SAFETY: as promised to this function. It fails only for ranges that are none.
        unsafe { libc::munmap(at.as_ptr().cast(), len) };
    }

    /// Makes a part of a file read 0 and gives its memory back.
    pub(in super::super) fn punch(fd: BorrowedFd<'_>, offset: u64, len: u64) -> io::Result<()> {
        let (offset, len) = (file_offset(offset)?, file_offset(len)?);
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: an open descriptor.
        let result = unsafe { libc::fallocate(fd.as_raw_fd(), mode, offset, len) };
        if result != 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Whether `len` bytes at `at` are a shared mapping of this file from `offset` on.
    pub(in super::super) fn shows(at: usize, len: usize, fd: BorrowedFd<'_>, offset: u64) -> io::Result<bool> {
        let (device, inode, _) = identity(fd)?;
        let maps = std::fs::read_to_string("/proc/self/maps")?;
        let mut next = at as u64;
        let end = next.checked_add(len as u64).ok_or(io::ErrorKind::InvalidInput)?;
        for map in maps.lines().filter_map(Map::parse) {
            if map.end <= next || next >= end {
                continue;
            }
            let same = map.shared && map.device == device && map.inode == inode;
            if map.start > next || !same || map.offset + (next - map.start) != offset + (next - at as u64) {
                return Ok(false);
            }
            next = map.end;
        }
        Ok(next >= end)
    }

    /// A line of `/proc/self/maps`.
    struct Map {
        start: u64,
        end: u64,
        shared: bool,
        offset: u64,
        device: u64,
        inode: u64,
    }

    impl Map {
        fn parse(line: &str) -> Option<Self> {
            let hex = |text: &str| u64::from_str_radix(text, 16).ok();
            let mut words = line.split_ascii_whitespace();
            let (start, end) = words.next()?.split_once('-')?;
            let shared = words.next()?.as_bytes().get(3) == Some(&b's');
            let offset = hex(words.next()?)?;
            let (major, minor) = words.next()?.split_once(':')?;
            let device = libc::makedev(u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?);
            Some(Self {
                start: hex(start)?,
                end: hex(end)?,
                shared,
                offset,
                device,
                inode: words.next()?.parse().ok()?,
            })
        }
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
pub(super) use linux::*;

/// Whether all pages of a range, which begins at a page, are mapped, and those at its ends and in its middle can be read.
/// Costs a few microseconds, whatever the size: no page is touched but these.
#[cfg(all(target_os = "linux", not(miri)))]
pub(super) fn is_mapped(start: usize, len: usize) -> bool {
    let Some(last) = len.checked_sub(1).and_then(|last| start.checked_add(last)) else { return false };
    // SAFETY: starts no writing and changes nothing: the kernel looks whether there is a gap.
    if unsafe { libc::msync(start as *mut libc::c_void, len, libc::MS_ASYNC) } != 0 {
        return false;
    }
    let mut bytes = [0u8; 3];
    let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let remote = [start, start + len / 2, last].map(|at| libc::iovec { iov_base: at as *mut libc::c_void, iov_len: 1 });
    // SAFETY: copies bytes into ours where they can be read.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, remote.as_ptr(), 3, 0) };
    // Where the kernel forbids the look itself nothing is known.
    read == 3 || read < 0 && io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT)
}

/// Whether a range, which begins at a page, may be written, by its mappings' permissions. Asks the kernel to make the first
/// and the last page writable, and only where that fails reads what it tells of all mappings.
#[cfg(all(target_os = "linux", not(miri)))]
pub(super) fn is_writable(start: usize, len: usize) -> bool {
    const MADV_POPULATE_WRITE: i32 = 23;
    let page = page_size();
    let Some(last) = len.checked_sub(1).and_then(|last| start.checked_add(last)) else { return false };
    // SAFETY: has pages there that a write would make too, and changes no byte.
    let populated = [start, last & !(page - 1)]
        .into_iter()
        .all(|at| unsafe { libc::madvise(at as *mut libc::c_void, page, MADV_POPULATE_WRITE) } == 0);
    // Older kernels know no such advice.
    populated || std::fs::read_to_string("/proc/self/maps").map_or(true, |maps| !read_only_in(&maps, start..last + 1))
}

/// Whether a line of `/proc/self/maps` over a range says that it may be read and not written.
#[cfg(all(target_os = "linux", not(miri)))]
fn read_only_in(maps: &str, range: std::ops::Range<usize>) -> bool {
    let over = |line: &str| {
        let (bounds, rest) = line.split_once(' ')?;
        let (start, end) = bounds.split_once('-')?;
        let hex = |text| usize::from_str_radix(text, 16).ok();
        Some(hex(start)? < range.end && range.start < hex(end)? && rest.starts_with("r-"))
    };
    maps.lines().any(|line| over(line).unwrap_or(false))
}

/// Nothing is known here.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) fn is_writable(_: usize, _: usize) -> bool {
    true
}

/// Nothing is known here.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) fn is_mapped(_: usize, _: usize) -> bool {
    true
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod none {
    #![allow(clippy::missing_safety_doc, reason = "nothing is done, so nothing is asked")]

    use super::*;

    fn unsupported<T>() -> io::Result<T> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no memfd"))
    }

    pub(in super::super) fn memfd(_: u64) -> io::Result<OwnedFd> {
        unsupported()
    }

    pub(in super::super) fn identity(_: BorrowedFd<'_>) -> io::Result<(u64, u64, u64)> {
        unsupported()
    }

    pub(in super::super) fn map_to_read(_: &std::fs::File, _: usize) -> io::Result<NonNull<u8>> {
        unsupported()
    }

    pub(in super::super) fn map(_: BorrowedFd<'_>, _: u64, _: usize) -> io::Result<NonNull<u8>> {
        unsupported()
    }

    pub(in super::super) fn reserve(_: usize) -> io::Result<NonNull<u8>> {
        unsupported()
    }

    pub(in super::super) unsafe fn map_over(_: NonNull<u8>, _: BorrowedFd<'_>, _: u64, _: usize) -> io::Result<()> {
        unsupported()
    }

    pub(in super::super) unsafe fn reserve_over(_: NonNull<u8>, _: usize) -> io::Result<()> {
        unsupported()
    }

    pub(in super::super) unsafe fn unmap(_: NonNull<u8>, _: usize) {}

    pub(in super::super) fn punch(_: BorrowedFd<'_>, _: u64, _: u64) -> io::Result<()> {
        unsupported()
    }

    pub(in super::super) fn shows(_: usize, _: usize, _: BorrowedFd<'_>, _: u64) -> io::Result<bool> {
        unsupported()
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) use none::*;
