//! Files of a title's as memory: mapped, never read into it (B576).
//!
//! An embedder that serves a guest's file reads opens each archive here and copies from [`Archive::base`], or hands out
//! ranges of it. The pages are the file's own, clean, so that the system takes them back when memory is short; nothing
//! is added to what the process owns, however large the file, and wherever it lies.

use std::fs::File;
use std::io;
use std::path::Path;
use std::ptr::NonNull;

use super::sys;

/// A file's content, mapped to be read. Dropping it ends the mapping.
///
/// As with every mapped file, its pages are gone for whoever reads them when somebody makes the file shorter.
#[derive(Debug)]
pub struct Archive {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: a range of addresses belongs to no thread, and nobody writes there.
unsafe impl Send for Archive {}
// SAFETY: as above.
unsafe impl Sync for Archive {}

impl Archive {
    /// Maps a file as it is now; what is appended later is not in it.
    ///
    /// # Errors
    /// The file cannot be opened or mapped, or is empty.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let len = usize::try_from(file.metadata()?.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        if len == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Self { base: sys::map_to_read(&file, len)?, len })
    }

    /// First byte.
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Bytes of the file.
    pub fn len(&self) -> u64 {
        self.len as u64
    }

    /// Never: an empty file is not mapped.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies bytes from an offset on; how many there were.
    pub fn read(&self, offset: u64, to: &mut [u8]) -> usize {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(self.len);
        let count = to.len().min(self.len - offset);
        // SAFETY: inside the mapping, which is readable and lives as long as this; `to` is the caller's own.
        unsafe { self.base.as_ptr().add(offset).copy_to_nonoverlapping(to.as_mut_ptr(), count) };
        count
    }
}

impl Drop for Archive {
    fn drop(&mut self) {
        // SAFETY: the mapping is this object's, which ends.
        unsafe { sys::unmap(self.base, self.len) };
    }
}
