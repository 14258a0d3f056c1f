//! A range of host addresses that is reserved whole and filled page by page from memfds: a virtual pool's CPU range
//! (B109).

use std::io;
use std::ptr::NonNull;

use super::sys;
use super::sys::fd::BorrowedFd;

/// Reserved host addresses; inaccessible but for what [`map`](Self::map) puts there. Dropping it ends all of it.
///
/// Nothing here leads to references: whoever reads or writes through [`base`](Self::base) sees to it that the pages
/// are mapped then.
#[derive(Debug)]
pub struct HostReservation {
    base: NonNull<u8>,
    len: usize,
    page: usize,
}

// SAFETY: a range of addresses belongs to no thread; the calls that change it are the kernel's, which orders them.
unsafe impl Send for HostReservation {}
// SAFETY: as above.
unsafe impl Sync for HostReservation {}

impl HostReservation {
    /// Reserves `len` bytes, rounded up to whole host pages. 64 GB cost address space and nothing else.
    ///
    /// # Errors
    /// The host has no such addresses left, or cannot reserve any.
    pub fn new(len: u64) -> io::Result<Self> {
        let page = sys::page_size();
        let len = usize::try_from(len).ok().filter(|&len| len > 0).and_then(|len| len.checked_next_multiple_of(page));
        let len = len.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Self { base: sys::reserve(len)?, len, page })
    }

    /// First address.
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Bytes, whole host pages.
    pub fn len(&self) -> u64 {
        self.len as u64
    }

    /// Never: a reservation holds a page at least.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of a host page.
    pub fn page_size(&self) -> u64 {
        self.page as u64
    }

    /// Shows `len` bytes of `file`, from `file_offset` on, at `at`, in place of whatever was there. Everything is in
    /// whole host pages.
    ///
    /// # Errors
    /// The range is not inside, not in whole pages, or the host refuses; nothing is changed then.
    pub fn map(&self, at: u64, len: u64, file: BorrowedFd<'_>, file_offset: u64) -> io::Result<()> {
        let (at, len) = self.range(at, len)?;
        if !file_offset.is_multiple_of(self.page_size()) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: inside the reservation, which is this object's, and no reference is made into it.
        unsafe { sys::map_over(at, file, file_offset, len) }
    }

    /// Makes `len` bytes at `at` inaccessible again.
    ///
    /// # Errors
    /// As for [`map`](Self::map).
    pub fn unmap(&self, at: u64, len: u64) -> io::Result<()> {
        let (at, len) = self.range(at, len)?;
        // SAFETY: as in `map`.
        unsafe { sys::reserve_over(at, len) }
    }

    fn range(&self, at: u64, len: u64) -> io::Result<(NonNull<u8>, usize)> {
        let whole = [at, len].iter().all(|value| value.is_multiple_of(self.page_size()));
        let inside = at.checked_add(len).is_some_and(|end| end <= self.len());
        if !whole || !inside || len == 0 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: inside the reservation.
        Ok((unsafe { self.base.add(at as usize) }, len as usize))
    }
}

impl Drop for HostReservation {
    fn drop(&mut self) {
        // SAFETY: the addresses are this object's, which ends.
        unsafe { sys::unmap(self.base, self.len) };
    }
}
