//! Device-local pools: memory that only the GPU sees, begun with what the storage held (B315).
//!
//! The content is taken when the pool is made, into staging memory that the next submission copies from before its
//! own commands; runs of zeroes are filled, not copied. From then on storage and buffer have nothing to do with each
//! other: NVN's CPU does not see the pool. After the pool's end the storage still holds what it held at the begin. The
//! console would show what the GPU wrote last; whoever wants that copies it out before the end
//! ([`PoolBuffer::read_back`]).

use std::sync::Arc;

use ash::vk;

use super::{ImportError, PoolBuffer, PoolMemory, PoolStorage, StorageKind};
use crate::context::Context;
use crate::gpu::Gpu;
use crate::memory::{Buffer, MemoryError, MemoryKind};
use crate::prologue::{FreshPiece, FreshPool};
use crate::tables::PAGE_BYTES;

/// Bytes that are looked at as one: zero or content.
const PIECE: u64 = 64 << 10;
/// Bytes of a staging buffer.
const STAGING: u64 = 32 << 20;

/// Makes device memory with a storage's content.
///
/// # Safety
/// The storage is mapped readable during the call.
pub(super) unsafe fn new(context: &Arc<Context>, storage: &PoolStorage, name: &str) -> Result<PoolBuffer, ImportError> {
    let pool = own_buffer(context, storage, StorageKind::DeviceLocal, name)?;
    // SAFETY: the caller's promise.
    let pieces = unsafe { content(&context.gpu, storage) }?;
    context.gpu.fresh.lock().pools.push(FreshPool { buffer: pool.raw, pieces });
    Ok(pool)
}

/// The pieces of a storage that are not zero, copied.
///
/// # Safety
/// The storage is mapped readable during the call.
unsafe fn content(gpu: &Arc<Gpu>, storage: &PoolStorage) -> Result<Vec<FreshPiece>, MemoryError> {
    let mut pieces = Vec::new();
    let mut batch = Vec::new();
    let mut bytes = 0;
    let mut at = 0;
    while at < storage.len {
        let size = PIECE.min(storage.len - at);
        // SAFETY: inside the storage, which the caller keeps mapped.
        if !unsafe { is_zero(storage.ptr.add(at as usize), size as usize) } {
            batch.push(vk::BufferCopy { src_offset: bytes, dst_offset: at, size });
            bytes += size;
        }
        at += size;
        if bytes >= STAGING || (at == storage.len && bytes > 0) {
            let staging = Buffer::with_gpu(gpu, bytes, MemoryKind::Upload, "pool content")?;
            for copy in &batch {
                // SAFETY: as above; the staging buffer is mapped and holds the batch's bytes one after the other.
                unsafe {
                    let to = staging.mapped().add(copy.src_offset as usize);
                    to.copy_from_nonoverlapping(storage.ptr.add(copy.dst_offset as usize), copy.size as usize);
                }
            }
            pieces.push(FreshPiece { staging, copies: std::mem::take(&mut batch) });
            bytes = 0;
        }
    }
    Ok(pieces)
}

/// A buffer of Navin's own for a pool: whole big pages, so that a raw access in the last one stays inside.
pub(super) fn own_buffer(
    context: &Arc<Context>,
    storage: &PoolStorage,
    kind: StorageKind,
    name: &str,
) -> Result<PoolBuffer, ImportError> {
    let gpu = &context.gpu;
    let limit = gpu.limits.max_allocation;
    let size = storage.len.checked_next_multiple_of(PAGE_BYTES).filter(|&size| size <= limit);
    let size = size.ok_or(ImportError::TooLarge { size: storage.len, limit })?;
    let (raw, allocation) = Buffer::with_gpu(gpu, size, MemoryKind::Device, name)?.into_parts();
    let parts = (raw, PoolMemory::Own(allocation), size);
    Ok(PoolBuffer::from_parts(gpu, kind, parts, 0, storage, name))
}

impl PoolBuffer {
    /// Copies a range of a device-local or mirrored pool into its storage, and waits for it; a range of a pool that
    /// shares its storage is there already. For bytes that the CPU's part of Navin
    /// wants, and for a pool at its end.
    ///
    /// # Errors
    /// No memory, or the device is lost.
    pub fn read_back(&self, context: &Arc<Context>, offset: u64, size: u64) -> Result<(), ImportError> {
        let end = offset.saturating_add(size).min(self.len);
        if self.shares_storage() {
            context.queue().wait_idle()?;
            return Ok(());
        }
        let mut at = offset;
        while at < end {
            let size = STAGING.min(end - at);
            let staging = Buffer::new(context, size, MemoryKind::Readback, "pool readback")?;
            let mut encoder = context.queue().begin()?;
            let copy = vk::BufferCopy2::default().src_offset(self.range(at, size).offset).size(size);
            encoder.copy_buffer(self.raw, staging.raw(), &[copy]);
            context.queue().run(encoder)?;
            if staging.mapped().is_null() {
                return Err(MemoryError::Refused("the device maps no readback memory".to_owned()).into());
            }
            // SAFETY: `at + size` lies inside the storage, which stays mapped while the buffer lives (the promise of
            // `PoolBuffer::new`); the copy is complete.
            unsafe { self.storage.add(at as usize).copy_from_nonoverlapping(staging.mapped(), size as usize) };
            at += size;
        }
        Ok(())
    }
}

/// Whether bytes are all zero.
///
/// # Safety
/// `len` readable bytes at `ptr`.
pub(super) unsafe fn is_zero(ptr: *const u8, len: usize) -> bool {
    // SAFETY: the caller's promise. The guest may be writing, against NVN's rules; whatever is read counts.
    let bytes = unsafe { std::slice::from_raw_parts(ptr, len) };
    // SAFETY: every bit pattern is a number.
    let (head, words, tail) = unsafe { bytes.align_to::<u64>() };
    let any = |block: &[u64]| block.iter().fold(0, |all, word| all | word) != 0;
    head.iter().chain(tail).all(|&byte| byte == 0) && !words.chunks(512).any(any)
}
