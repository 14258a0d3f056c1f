//! Memory that is mapped twice: once for the guest, once for the GPU.

use std::io;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::blocks::{Blocks, Freed};
use super::sys;
use super::sys::fd::{AsFd, BorrowedFd, OwnedFd};

/// Blocks of this size and more are given back to the system when freed; smaller ones are overwritten.
const PUNCH: u64 = 64 << 10;

/// A part of a memfd with its two mappings.
#[derive(Debug)]
pub(super) struct Region {
    first: NonNull<u8>,
    second: NonNull<u8>,
    len: usize,
    file: OwnedFd,
    file_offset: u64,
    /// What is given out of it; `None` for memory of the embedder's, whose first mapping is not ours either.
    blocks: Option<Mutex<Blocks>>,
}

// SAFETY: the mappings belong to no thread; what is in them is the guest's, who is reached through raw pointers only.
unsafe impl Send for Region {}
// SAFETY: as above; the books are under a lock.
unsafe impl Sync for Region {}

impl Region {
    /// Fresh memory of `len` bytes, whole host pages, all 0 and taking no memory yet.
    pub(super) fn arena(len: usize) -> io::Result<Self> {
        let file = sys::memfd(len as u64)?;
        let first = sys::map(file.as_fd(), 0, len)?;
        let second = match sys::map(file.as_fd(), 0, len) {
            Ok(second) => second,
            Err(e) => {
                // SAFETY: just mapped, and known to nobody.
                unsafe { sys::unmap(first, len) };
                return Err(e);
            }
        };
        let blocks = Blocks::new(first.as_ptr() as u64, len as u64, sys::page_size() as u64);
        Ok(Self { first, second, len, file, file_offset: 0, blocks: Some(Mutex::new(blocks)) })
    }

    /// A second mapping of memory that the embedder has mapped from `file`.
    pub(super) fn registered(first: NonNull<u8>, len: usize, file: OwnedFd, file_offset: u64) -> io::Result<Self> {
        let second = sys::map(file.as_fd(), file_offset, len)?;
        Ok(Self { first, second, len, file, file_offset, blocks: None })
    }

    pub(super) fn start(&self) -> usize {
        self.first.as_ptr() as usize
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_arena(&self) -> bool {
        self.blocks.is_some()
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Offset in the file of a guest address in the region.
    pub(super) fn file_offset(&self, address: usize) -> u64 {
        self.file_offset + (address - self.start()) as u64
    }

    /// The same byte in the second mapping.
    pub(super) fn second(&self, address: usize) -> NonNull<u8> {
        debug_assert!(address - self.start() <= self.len);
        // SAFETY: the address is in the region (or its end), so the sum is in the second mapping (or its end).
        unsafe { self.second.add(address - self.start()) }
    }

    /// Whether all of `len` bytes at `address` are in the region.
    pub(super) fn contains(&self, address: usize, len: usize) -> bool {
        address.checked_sub(self.start()).and_then(|into| into.checked_add(len)).is_some_and(|end| end <= self.len)
    }

    pub(super) fn blocks(&self) -> Option<MutexGuard<'_, Blocks>> {
        // The books are changed in steps that cannot panic.
        self.blocks.as_ref().map(|blocks| blocks.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Frees the block that begins at `address`.
    pub(super) fn free(&self, address: usize) -> Freed {
        let Some(mut blocks) = self.blocks() else { return Freed::Unknown };
        let freed = blocks.free(address as u64);
        drop(blocks);
        if let Freed::Now(start, size) = freed {
            self.give_back(start, size);
        }
        freed
    }

    /// Ends a hold; blocks that were freed meanwhile go.
    pub(super) fn end_hold(&self, held: &[u64]) {
        let Some(mut blocks) = self.blocks() else { return };
        let gone = blocks.end_hold(held);
        drop(blocks);
        for (start, size) in gone {
            self.give_back(start, size);
        }
    }

    /// Zeroes bytes that belong to nobody now, and makes them free.
    fn give_back(&self, start: u64, size: u64) {
        let address = start as usize;
        let punched = size >= PUNCH && sys::punch(self.file(), self.file_offset(address), size).is_ok();
        if !punched {
            // Through the second mapping: the first may be write-protected.
            // SAFETY: inside the region, given out to nobody, and no reference leads there.
            unsafe { self.second(address).write_bytes(0, size as usize) };
        }
        if let Some(mut blocks) = self.blocks() {
            blocks.give_back(start, size);
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mappings are this object's, which ends; that nobody uses them is what `free` and `unregister`
        // promise, and every `Backing` keeps the region.
        unsafe {
            sys::unmap(self.second, self.len);
            if self.is_arena() {
                sys::unmap(self.first, self.len);
            }
        }
    }
}
