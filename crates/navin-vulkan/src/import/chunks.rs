//! Pools of 512 MB and more: imported piece by piece, where a lookup needs it (B122).
//!
//! An import pins its pages whether the GPU uses them or not, so a large pool has none over the whole. A *chunk*
//! comes into being at the first lookup that needs it, in whole strides of 16 MB. A lookup that wants more than there
//! is replaces the chunks that it meets by one over all of them: chunks never overlap (B652), adjacent ones have
//! unrelated addresses, and what is pinned is never more than the strides that were asked for. Replaced chunks go by
//! deferred release. Nothing but [`ChunkedImport::range`] makes chunks: statistics and lookups for the log ask
//! [`ChunkedImport::find`].

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;

use super::{ImportError, PoolAccess, PoolBuffer, PoolStorage};
use crate::context::Context;
use crate::encoder::BufferRange;

/// Pools of this size and larger are imported in chunks.
pub const CHUNKED_FROM: u64 = 512 << 20;
/// Chunks begin and end at multiples of this, counted from the pool's begin.
pub const STRIDE: u64 = 16 << 20;
/// What a lookup of unknown length asks for (indirect draws' index buffers, raw storage addresses).
pub const UNKNOWN_LENGTH: u64 = 64 << 20;

/// A chunk on its way through the caller's bracket.
pub struct Imported(Result<PoolBuffer, ImportError>);

/// A large pool's imports.
pub struct ChunkedImport {
    context: Arc<Context>,
    storage: PoolStorage,
    name: String,
    /// By offset into the pool.
    chunks: Mutex<BTreeMap<u64, PoolBuffer>>,
}

// SAFETY: the storage's pointers belong to no thread; see `PoolBuffer`.
unsafe impl Send for ChunkedImport {}
// SAFETY: as above.
unsafe impl Sync for ChunkedImport {}

impl ChunkedImport {
    /// A pool without any import yet.
    ///
    /// # Safety
    /// As for [`PoolBuffer::new`], for as long as this lives and until its chunks are destroyed. A memfd's descriptor
    /// stays open as long.
    pub unsafe fn new(context: &Arc<Context>, storage: &PoolStorage, name: &str) -> ChunkedImport {
        Self { context: context.clone(), storage: *storage, name: name.to_owned(), chunks: Mutex::default() }
    }

    /// The buffer range of `size` bytes at an offset, cut to the pool's end, its chunk made or lengthened where need
    /// be. State the bytes that will be used: what lies behind them may be in another chunk.
    ///
    /// # Errors
    /// An offset outside the pool; the driver refuses the import.
    pub fn range(&self, offset: u64, size: u64) -> Result<BufferRange, ImportError> {
        self.range_within(offset, size, |_, import| import())
    }

    /// The same; a chunk is imported by `bracket`, which is told the bytes of the pool that it covers and calls the
    /// function it gets once. What must be done around an import (B123) concerns all of them, not only those asked
    /// for.
    ///
    /// # Errors
    /// As for [`ChunkedImport::range`].
    pub fn range_within(
        &self,
        offset: u64,
        size: u64,
        bracket: impl FnOnce(Range<u64>, &mut dyn FnMut() -> Imported) -> Imported,
    ) -> Result<BufferRange, ImportError> {
        let size = self.clip(offset, size).ok_or(ImportError::Empty)?;
        let mut chunks = self.chunks.lock();
        if let Some(found) = lookup(&chunks, offset, size) {
            return Ok(found);
        }
        let mut start = offset - offset % STRIDE;
        let mut end = (offset + size).next_multiple_of(STRIDE).min(self.storage.len);
        // Chunks that it meets become part of it.
        let met: Vec<u64> = chunks
            .range(..end)
            .rev()
            .take_while(|(first, chunk)| **first + chunk.len() > start)
            .map(|(first, _)| *first)
            .collect();
        for first in &met {
            if let Some(chunk) = chunks.get(first) {
                start = start.min(*first);
                end = end.max(first + chunk.len());
            }
        }
        let storage = self.storage.slice(start, end - start);
        let name = format!("{} +{:#x}", self.name, start);
        let chunk = bracket(start..end, &mut || {
            // SAFETY: a piece of the storage, which the promise of `new` covers.
            Imported(unsafe { PoolBuffer::new(&self.context, &storage, PoolAccess::Shared, &name) })
        });
        let chunk = chunk.0?;
        for first in met {
            chunks.remove(&first);
        }
        let range = chunk.range(offset - start, size);
        chunks.insert(start, chunk);
        Ok(range)
    }

    /// The buffer range of `size` bytes at an offset, cut to the pool's end, if a chunk holds it. Makes nothing.
    pub fn find(&self, offset: u64, size: u64) -> Option<BufferRange> {
        lookup(&self.chunks.lock(), offset, self.clip(offset, size)?)
    }

    /// Number of chunks and their bytes. Makes nothing (B652).
    pub fn totals(&self) -> (usize, u64) {
        let chunks = self.chunks.lock();
        (chunks.len(), chunks.values().map(PoolBuffer::len).sum())
    }

    /// Gives all chunks up, by deferred release.
    pub fn clear(&self) {
        let chunks = std::mem::take(&mut *self.chunks.lock());
        drop(chunks);
    }

    fn clip(&self, offset: u64, size: u64) -> Option<u64> {
        let left = self.storage.len.checked_sub(offset)?;
        Some(size.min(left)).filter(|&size| size > 0)
    }
}

fn lookup(chunks: &BTreeMap<u64, PoolBuffer>, offset: u64, size: u64) -> Option<BufferRange> {
    let (first, chunk) = chunks.range(..=offset).next_back()?;
    let inside = offset - first;
    (inside + size <= chunk.len()).then(|| chunk.range(inside, size))
}
