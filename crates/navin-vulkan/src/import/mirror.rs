//! Mirrors: pools that no import takes. A buffer of Navin's own beside the guest's storage.
//!
//! Before a submission the driver uploads what the guest wrote since the last one ([`PoolBuffer::upload`],
//! [`PoolBuffer::upload_parts`]; the ranges are the write tracker's). Around commands that may write to a pool it takes
//! the bytes before and after ([`PoolBuffer::track_writes`], [`WriteBack::record`]), and when the submission is complete
//! the bytes that differ go into the storage ([`PoolBuffer::write_back`]): what the guest wrote beside them meanwhile
//! stays. Uploads and the copies before are recorded into an encoder that goes in front of the commands
//! ([`Queue::submit_behind`](crate::Queue::submit_behind)), when it is known what they use.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ash::vk;

use super::device_local::{is_zero, own_buffer};
use super::{ImportError, PoolBuffer, PoolStorage, StorageKind};
use crate::context::Context;
use crate::encoder::Encoder;
use crate::memory::{Buffer, MemoryError, MemoryKind};

/// Bytes of one staging slice.
const PIECE: u64 = 4 << 20;
/// Bytes that are compared as one: a multiple of a word's.
const BLOCK: usize = 256;

/// Makes a mirror. Its content comes with the first upload: the whole pool, in the driver's eyes, was just written.
pub(super) fn new(context: &Arc<Context>, storage: &PoolStorage, name: &str) -> Result<PoolBuffer, ImportError> {
    own_buffer(context, storage, StorageKind::Mirror, name)
}

/// Ranges of a mirror as they were before some commands, and after them.
pub struct WriteBack {
    pool: vk::Buffer,
    ranges: Vec<Range<u64>>,
    /// Before, then after, the ranges one after the other.
    staging: Buffer,
    bytes: u64,
    recorded: bool,
}

impl PoolBuffer {
    /// Records the upload of ranges of the storage (offsets in bytes) into a mirror, ordered with everything before
    /// and after; nothing for other kinds. The bytes are read now. Gives how many were uploaded.
    ///
    /// # Errors
    /// No staging memory; ranges before the failure are uploaded.
    pub fn upload(&self, encoder: &mut Encoder, ranges: &[Range<u64>]) -> Result<u64, MemoryError> {
        if self.kind != StorageKind::Mirror || ranges.is_empty() {
            return Ok(0);
        }
        encoder.barrier_all();
        let mut bytes = 0;
        let mut upload = |range: &Range<u64>| -> Result<(), MemoryError> {
            let mut at = range.start;
            let end = range.end.min(self.len);
            while at < end {
                let size = PIECE.min(end - at);
                // Most of a fresh pool was never written.
                // SAFETY: inside the storage, as below.
                if (at | size).is_multiple_of(4) && unsafe { is_zero(self.storage.add(at as usize), size as usize) } {
                    encoder.fill_buffer(self.range(at, size), 0);
                    (at, bytes) = (at + size, bytes + size);
                    continue;
                }
                let slice = encoder.transient(size, 16)?;
                // SAFETY: inside the storage, which stays mapped while the buffer lives (the promise of
                // `PoolBuffer::new`); the slice is ours alone and holds `size` bytes.
                unsafe { slice.ptr.copy_from_nonoverlapping(self.storage.add(at as usize), size as usize) };
                let copy = vk::BufferCopy2::default()
                    .src_offset(slice.range.offset)
                    .dst_offset(self.range(at, size).offset)
                    .size(size);
                encoder.copy_buffer(slice.range.buffer, self.raw, &[copy]);
                at += size;
                bytes += size;
            }
            Ok(())
        };
        let outcome = ranges.iter().try_for_each(&mut upload);
        encoder.barrier_all();
        outcome.map(|()| bytes)
    }

    /// Records the upload of parts of `bytes`, which stand for the storage's from an offset on, ordered with everything
    /// before and after; nothing for other kinds.
    ///
    /// # Errors
    /// No staging memory: nothing is uploaded.
    pub fn upload_parts(
        &self,
        encoder: &mut Encoder,
        offset: u64,
        bytes: &[u8],
        parts: &[Range<usize>],
    ) -> Result<(), MemoryError> {
        let inside = |part: &&Range<usize>| part.start < part.end && offset + part.end as u64 <= self.len;
        if self.kind != StorageKind::Mirror || !parts.iter().any(|part| inside(&part)) {
            return Ok(());
        }
        let slice = encoder.upload(bytes, 16)?;
        let copies: Vec<_> = parts
            .iter()
            .filter(inside)
            .map(|part| {
                vk::BufferCopy2::default()
                    .src_offset(slice.range.offset + part.start as u64)
                    .dst_offset(self.range(offset + part.start as u64, 0).offset)
                    .size((part.end - part.start) as u64)
            })
            .collect();
        encoder.barrier_all();
        encoder.copy_buffer(slice.range.buffer, self.raw, &copies);
        encoder.barrier_all();
        Ok(())
    }

    /// Records a copy of ranges that the commands recorded next may write; `None` for kinds that need no write-back
    /// and for no ranges. No byte is in two ranges. They come down in this order: who watches a byte of a later one sees
    /// those before.
    ///
    /// # Errors
    /// No staging memory: what the commands write stays on the GPU.
    pub fn track_writes(&self, encoder: &mut Encoder, ranges: &[Range<u64>]) -> Result<Option<WriteBack>, MemoryError> {
        if self.kind != StorageKind::Mirror {
            return Ok(None);
        }
        let mut merged: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
        for range in ranges.iter().map(|range| range.start..range.end.min(self.len)) {
            match merged.last_mut() {
                _ if range.is_empty() => {}
                Some(last) if range.start == last.end => last.end = range.end,
                _ => merged.push(range),
            }
        }
        let bytes: u64 = merged.iter().map(|range| range.end - range.start).sum();
        if bytes == 0 {
            return Ok(None);
        }
        let staging = Buffer::with_gpu(&self.gpu, 2 * bytes, MemoryKind::Readback, "mirror write-back")?;
        let back = WriteBack { pool: self.raw, ranges: merged, staging, bytes, recorded: false };
        encoder.barrier_all();
        back.copy(encoder, 0);
        encoder.barrier_all();
        Ok(Some(back))
    }

    /// Puts what the GPU changed between [`PoolBuffer::track_writes`] and [`WriteBack::record`] into the storage;
    /// gives how many bytes differed. Call it when the submission is complete. `announce` is told each block that has
    /// such bytes, before they are put there: its offset, and the bytes before and after.
    ///
    /// The guest may write the storage meanwhile, and another thread of it read: words are changed as a whole, and only
    /// those of their bytes that differ.
    pub fn write_back(&self, back: &WriteBack, mut announce: impl FnMut(u64, &[u8], &[u8])) -> u64 {
        if back.pool != self.raw || !back.recorded || back.staging.mapped().is_null() {
            return 0;
        }
        let mut changed = 0;
        let mut at = 0;
        for range in &back.ranges {
            let len = (range.end - range.start) as usize;
            // SAFETY: the staging buffer holds `bytes` bytes before and as many after, and its copies are complete.
            let (before, after) = unsafe {
                let staging = back.staging.mapped().add(at);
                let after = staging.add(back.bytes as usize);
                (std::slice::from_raw_parts(staging, len), std::slice::from_raw_parts(after, len))
            };
            // Most bytes are as they were: whole blocks are compared first.
            for (block, (old, new)) in before.chunks(BLOCK).zip(after.chunks(BLOCK)).enumerate() {
                if old == new {
                    continue;
                }
                let offset = range.start + (block * BLOCK) as u64;
                announce(offset, old, new);
                // SAFETY: the range lies inside the storage, which stays mapped while the buffer lives (the promise of
                // `PoolBuffer::new`).
                changed += unsafe { merge(self.storage.add(offset as usize), old, new) };
            }
            at += len;
        }
        changed
    }
}

/// Puts the bytes in which `old` and `new` differ into memory that others write beside; how many these are.
///
/// # Safety
/// As many bytes as `new` has are mapped writable at `to`, and the whole words of eight bytes around them.
unsafe fn merge(to: *mut u8, old: &[u8], new: &[u8]) -> u64 {
    let mut changed = 0;
    let mut at = 0;
    while at < new.len() {
        let shift = (to as usize + at) % 8;
        let count = (8 - shift).min(new.len() - at);
        let (mut mask, mut value) = ([0u8; 8], [0u8; 8]);
        for byte in at..at + count {
            let place = shift + byte - at;
            value[place] = new[byte];
            mask[place] = if old[byte] == new[byte] { 0 } else { 0xFF };
        }
        let (mask, value) = (u64::from_ne_bytes(mask), u64::from_ne_bytes(value));
        if mask != 0 {
            changed += u64::from(mask.count_ones() / 8);
            // SAFETY: a word of which at least a byte is the caller's memory; aligned, so whole in its page.
            let word = unsafe { AtomicU64::from_ptr(to.add(at).sub(shift).cast()) };
            if mask == u64::MAX {
                word.store(value, Ordering::Release);
            } else {
                let change = |now| Some(now & !mask | value & mask);
                // Never refused: the function always has a value.
                let _ = word.fetch_update(Ordering::Release, Ordering::Relaxed, change);
            }
        }
        at += count;
    }
    changed
}

impl WriteBack {
    /// Records the second copy, after the commands that may write.
    pub fn record(&mut self, encoder: &mut Encoder) {
        encoder.barrier_all();
        self.copy(encoder, self.bytes);
        encoder.barrier_all();
        self.recorded = true;
    }

    /// The ranges, neighbours joined.
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }

    fn copy(&self, encoder: &mut Encoder, mut to: u64) {
        let copies: Vec<_> = self
            .ranges
            .iter()
            .map(|range| {
                let size = range.end - range.start;
                let copy = vk::BufferCopy2::default().src_offset(range.start).dst_offset(to).size(size);
                to += size;
                copy
            })
            .collect();
        encoder.copy_buffer(self.pool, self.staging.raw(), &copies);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_merged_word_by_word_and_nothing_beside_it() {
        let mut words = [0x1111_1111_1111_1111u64; 4];
        let to = words.as_mut_ptr().cast::<u8>();
        // From the last byte of the first word to the second of the third one.
        let old = [0u8; 11];
        let mut new = [7u8; 11];
        new[3] = 0;
        // SAFETY: inside the four words.
        let changed = unsafe { merge(to.add(7), &old, &new) };
        assert_eq!(changed, 10);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let mut expected = [0x11u8; 32];
        expected[7..18].fill(7);
        expected[10] = 0x11;
        assert_eq!(bytes, expected);
        // SAFETY: as above.
        assert_eq!(unsafe { merge(to, &[1; 32], &[1; 32]) }, 0);
    }
}
