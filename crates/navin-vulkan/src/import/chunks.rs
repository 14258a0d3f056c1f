//! Pools of 512 MB and more: imported piece by piece, where a lookup needs it (B122).
//!
//! Which pieces there are is [`navin_memory::chunks`]'s; here they are imported and given up. Replaced chunks go by
//! deferred release. Nothing but [`ChunkedImport::range`] makes chunks: statistics and lookups for the log ask
//! [`ChunkedImport::find`].

use std::ops::Range;
use std::sync::Arc;

pub use navin_memory::chunks::{CHUNKED as CHUNKED_FROM, STRIDE, UNKNOWN_LENGTH};
use navin_memory::chunks::{Chunk, ChunkId, ChunkPlan, ChunkUse, Need};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::{ImportError, PoolBuffer, PoolStorage, Refusals};
use crate::context::Context;
use crate::encoder::BufferRange;

/// A chunk on its way through the caller's bracket.
pub struct Imported(Result<PoolBuffer, ImportError>);

/// A large pool's imports.
pub struct ChunkedImport {
    context: Arc<Context>,
    storage: PoolStorage,
    name: String,
    chunks: Mutex<Chunks>,
}

struct Chunks {
    plan: ChunkPlan,
    imports: FxHashMap<ChunkId, PoolBuffer>,
    /// The driver refused some of these pages for good: it is not asked twelve times again at each use.
    refused: bool,
}

impl Chunks {
    /// The buffer range of `size` bytes at an offset that is in a chunk.
    fn range(&self, chunk: Chunk, offset: u64, size: u64) -> Option<BufferRange> {
        Some(self.imports.get(&chunk.id)?.range(offset - chunk.start, size))
    }

    fn find(&self, offset: u64, size: u64) -> Option<BufferRange> {
        self.range(self.plan.covering(offset, offset + size)?, offset, size)
    }
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
        // Whoever asks for chunks gets them, however small the pool is: that is the caller's choice.
        let plan = ChunkPlan::chunked(storage.len);
        let chunks = Mutex::new(Chunks { plan, imports: FxHashMap::default(), refused: false });
        Self { context: context.clone(), storage: *storage, name: name.to_owned(), chunks }
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
        let piece = match chunks.plan.lookup(offset, Need::Bytes(size)).ok_or(ImportError::Empty)? {
            ChunkUse::There(chunk) => return chunks.range(chunk, offset, size).ok_or(ImportError::Empty),
            ChunkUse::Make(piece) => piece,
        };
        let start = piece.start;
        let storage = self.storage.slice(start, piece.end - start);
        let name = format!("{} +{start:#x}", self.name);
        let refusals = if chunks.refused { Refusals::Believed } else { Refusals::Outlived };
        let import = bracket(piece.clone(), &mut || {
            // SAFETY: a piece of the storage, which the promise of `new` covers.
            Imported(unsafe { PoolBuffer::import(&self.context, &storage, refusals, &name) })
        });
        chunks.refused = import.0.is_err();
        let import = import.0?;
        let range = import.range(offset - start, size);
        let (id, superfluous) = chunks.plan.made(piece);
        for old in superfluous {
            chunks.imports.remove(&old);
        }
        chunks.imports.insert(id, import);
        Ok(range)
    }

    /// The buffer range of `size` bytes at an offset, cut to the pool's end, if a chunk holds it. Makes nothing.
    pub fn find(&self, offset: u64, size: u64) -> Option<BufferRange> {
        self.chunks.lock().find(offset, self.clip(offset, size)?)
    }

    /// As [`ChunkedImport::find`], where the chunk is the storage's own memory and no copy of it.
    pub fn find_shared(&self, offset: u64, size: u64) -> Option<BufferRange> {
        let chunks = self.chunks.lock();
        let chunk = chunks.plan.covering(offset, offset.checked_add(size)?)?;
        let shared = chunks.imports.get(&chunk.id).is_some_and(PoolBuffer::shares_storage);
        shared.then(|| chunks.range(chunk, offset, size))?
    }

    /// Number of chunks and their bytes. Makes nothing (B652).
    pub fn totals(&self) -> (usize, u64) {
        let chunks = self.chunks.lock();
        (chunks.imports.len(), chunks.imports.values().map(PoolBuffer::len).sum())
    }

    /// Gives all chunks up, by deferred release.
    pub fn clear(&self) {
        drop(self.take());
    }

    /// Destroys all chunks at once. Those that were replaced go by deferred release.
    ///
    /// # Safety
    /// As for [`PoolBuffer::end`], for each.
    pub unsafe fn end(&self) {
        for import in self.take().into_values() {
            // SAFETY: the caller's promise.
            unsafe { import.end() };
        }
    }

    fn take(&self) -> FxHashMap<ChunkId, PoolBuffer> {
        let mut chunks = self.chunks.lock();
        chunks.plan.clear();
        std::mem::take(&mut chunks.imports)
    }

    fn clip(&self, offset: u64, size: u64) -> Option<u64> {
        let left = self.storage.len.checked_sub(offset)?;
        Some(size.min(left)).filter(|&size| size > 0)
    }
}
