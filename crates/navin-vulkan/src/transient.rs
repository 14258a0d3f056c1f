//! Transient memory: bytes written by the CPU while a submission is recorded and read by that submission.
//!
//! Slices are cut one after the other from mapped blocks. The blocks belong to the submission's frame and go back
//! to a common list when the timeline passes it; memory beyond what is usual is given up then.

use std::sync::Arc;

use ash::vk;
use parking_lot::Mutex;

use crate::encoder::BufferRange;
use crate::gpu::Gpu;
use crate::memory::{Buffer, MemoryError, MemoryKind};

/// Bytes of a block.
const BLOCK: u64 = 1 << 20;
/// Blocks kept for later submissions.
const KEPT: usize = 64;

/// A piece of transient memory. Written by the CPU before the encoder that it came from is submitted.
#[derive(Clone, Copy, Debug)]
pub struct TransientSlice {
    /// Where the device sees it.
    pub range: BufferRange,
    /// Its device address.
    pub address: vk::DeviceAddress,
    /// Where the CPU writes it, `range.size` bytes.
    pub ptr: *mut u8,
}

impl TransientSlice {
    /// Copies bytes to the slice's begin; false when they do not fit.
    pub fn write(&self, bytes: &[u8]) -> bool {
        if bytes.len() as u64 > self.range.size {
            return false;
        }
        // SAFETY: the slice holds `range.size` mapped bytes that nobody else writes.
        unsafe { self.ptr.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        true
    }
}

/// Blocks that no submission holds.
#[derive(Default)]
pub(crate) struct FreeBlocks(Mutex<Vec<Buffer>>);

/// The blocks of one submission.
#[derive(Default)]
pub(crate) struct Transient {
    blocks: Vec<Buffer>,
    /// Bytes taken from the last block.
    used: u64,
    /// Bytes of all blocks.
    bytes: u64,
}

impl Transient {
    /// Cuts a slice. `alignment` is a power of two; at least 16 is given.
    pub(crate) fn take(
        &mut self,
        gpu: &Arc<Gpu>,
        free: &FreeBlocks,
        size: u64,
        alignment: u64,
    ) -> Result<TransientSlice, MemoryError> {
        let alignment = alignment.max(16).next_power_of_two();
        let size = size.max(1);
        let fits = |block: &Buffer, used: u64| {
            let start = used.checked_next_multiple_of(alignment)?;
            (start.checked_add(size)? <= block.size()).then_some(start)
        };
        let start = match self.blocks.last().and_then(|block| fits(block, self.used)) {
            Some(start) => start,
            None => {
                // Memory comes at least 256 bytes aligned; larger alignments are cut out of a larger block.
                let wanted = size.saturating_add(if alignment > 256 { alignment } else { 0 });
                let block = match if wanted <= BLOCK { free.0.lock().pop() } else { None } {
                    Some(block) => block,
                    None => Buffer::with_gpu(gpu, wanted.max(BLOCK), MemoryKind::Upload, "transient")?,
                };
                self.bytes += block.size();
                self.blocks.push(block);
                0
            }
        };
        let Some(block) = self.blocks.last() else {
            return Err(MemoryError::Refused("no transient block".to_owned()));
        };
        self.used = start + size;
        Ok(TransientSlice {
            range: block.range(start, size),
            address: block.address() + start,
            // SAFETY: `start` lies inside the block's mapping.
            ptr: unsafe { block.mapped().add(start as usize) },
        })
    }

    /// Bytes of all blocks.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Gives the blocks back when the submission is complete.
    pub(crate) fn recycle(&mut self, free: &FreeBlocks) {
        (self.used, self.bytes) = (0, 0);
        if self.blocks.is_empty() {
            return;
        }
        let mut list = free.0.lock();
        for block in self.blocks.drain(..) {
            if block.size() == BLOCK && list.len() < KEPT {
                list.push(block);
            }
        }
    }
}
