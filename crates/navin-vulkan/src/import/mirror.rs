//! Mirrors: pools that no import takes. A buffer of Navin's own beside the guest's storage.
//!
//! Before a submission the driver uploads what the guest wrote since the last one ([`PoolBuffer::upload`]; the
//! ranges are the write tracker's). Around commands that may write to a pool it takes the bytes before and after
//! ([`PoolBuffer::track_writes`], [`WriteBack::record`]), and when the submission is complete the bytes that differ
//! go into the storage ([`PoolBuffer::write_back`]): what the guest wrote beside them meanwhile stays.

use std::ops::Range;
use std::sync::Arc;

use ash::vk;

use super::device_local::own_buffer;
use super::{ImportError, PoolBuffer, PoolStorage, StorageKind};
use crate::context::Context;
use crate::encoder::Encoder;
use crate::memory::{Buffer, MemoryError, MemoryKind};

/// Bytes of one staging slice.
const PIECE: u64 = 4 << 20;

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

    /// Records a copy of ranges that the commands recorded next may write; `None` for kinds that need no write-back
    /// and for no ranges.
    ///
    /// # Errors
    /// No staging memory: what the commands write stays on the GPU.
    pub fn track_writes(&self, encoder: &mut Encoder, ranges: &[Range<u64>]) -> Result<Option<WriteBack>, MemoryError> {
        if self.kind != StorageKind::Mirror {
            return Ok(None);
        }
        let mut sorted: Vec<_> =
            ranges.iter().map(|r| r.start..r.end.min(self.len)).filter(|range| range.start < range.end).collect();
        sorted.sort_unstable_by_key(|range| range.start);
        let mut merged: Vec<Range<u64>> = Vec::with_capacity(sorted.len());
        for range in sorted {
            match merged.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
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
    /// gives how many bytes differed. Call it when the submission is complete.
    pub fn write_back(&self, back: &WriteBack) -> u64 {
        if back.pool != self.raw || !back.recorded || back.staging.mapped().is_null() {
            return 0;
        }
        let mut changed = 0;
        let mut at = 0;
        for range in &back.ranges {
            let len = (range.end - range.start) as usize;
            // SAFETY: the staging buffer holds `bytes` bytes before and as many after, and its copies are complete;
            // the range lies inside the storage, which stays mapped while the buffer lives (the promise of
            // `PoolBuffer::new`).
            let (before, after, storage) = unsafe {
                let staging = back.staging.mapped().add(at);
                (
                    std::slice::from_raw_parts(staging, len),
                    std::slice::from_raw_parts(staging.add(back.bytes as usize), len),
                    self.storage.add(range.start as usize),
                )
            };
            // Most bytes are as they were: whole blocks are compared first.
            for (block, (old, new)) in before.chunks(256).zip(after.chunks(256)).enumerate() {
                if old == new {
                    continue;
                }
                for (byte, (old, new)) in old.iter().zip(new).enumerate() {
                    if old != new {
                        // SAFETY: as above.
                        unsafe { storage.add(block * 256 + byte).write(*new) };
                        changed += 1;
                    }
                }
            }
            at += len;
        }
        changed
    }
}

impl WriteBack {
    /// Records the second copy, after the commands that may write.
    pub fn record(&mut self, encoder: &mut Encoder) {
        encoder.barrier_all();
        self.copy(encoder, self.bytes);
        encoder.barrier_all();
        self.recorded = true;
    }

    /// The ranges, sorted and joined: what a tracker must not take for the guest's writes when they are written.
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
