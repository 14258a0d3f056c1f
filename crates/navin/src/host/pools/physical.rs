//! A pool with storage of its own: the guest's memory and its import.
//!
//! Most pools are imported when they are made, so that `nvnMemoryPoolInitialize` can answer false (B107). Two kinds
//! are imported at their first use by the GPU: pools of shader code, which programs are read from by the CPU alone
//! (B653), and large ones, piece by piece (B122).

use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use navin_abi::fault;
use navin_memory::page_table::LEAF_SPAN;
use navin_memory::tracking::Stamp;
use navin_memory::{BIG_PAGE, PoolDesc, PoolId, alloc};
use navin_vulkan::{
    Backing, BufferRange, ChunkedImport, Context, ImportError, PoolAccess, PoolBuffer, PoolStorage, Refusals,
    StorageKind, UNKNOWN_LENGTH,
};

use super::gpu_writes::{Recent, Watched};
use super::tracking::Tracked;

/// The guest's memory behind a pool, and how the GPU gets at it.
pub(crate) struct Physical {
    storage: PoolStorage,
    access: PoolAccess,
    name: String,
    /// Over the whole pool; `None` inside when the driver refused it. For a large pool only where shaders walk it.
    whole: OnceLock<Option<PoolBuffer>>,
    /// Instead of `whole`, for a large pool.
    chunks: Option<ChunkedImport>,
    /// Side by side over the whole of a large pool of which no import takes all; only where shaders walk it.
    pieces: OnceLock<Vec<PoolBuffer>>,
    /// Addresses of the imports are or were in the page table of raw pointers.
    in_table: AtomicBool,
    /// Number of the newest submission that looked the pool up; 0 before the first.
    last_use: AtomicU64,
    /// The tracked range over the storage.
    tracked: Tracked,
    /// Where textures watch it.
    watched: OnceLock<Watched>,
    /// What commands have written lately.
    recent: Recent,
    /// The file behind the storage and its second mapping, which stay as long as this (after the imports).
    backing: Option<alloc::Backing>,
}

// SAFETY: the storage's pointers belong to no thread. What lies there is the guest's and shared with the GPU; it is
// copied from and to, never borrowed.
unsafe impl Send for Physical {}
// SAFETY: as above.
unsafe impl Sync for Physical {}

impl Physical {
    /// A pool over the memory at `start`, not imported yet.
    ///
    /// # Safety
    /// The storage stays mapped until [`super::Pools::destroy`] has returned.
    pub(crate) unsafe fn new(
        context: &Arc<Context>,
        start: *mut u8,
        backing: Option<alloc::Backing>,
        desc: &PoolDesc,
        id: PoolId,
        chunked_from: u64,
        tracked: Tracked,
    ) -> Self {
        let known = match &backing {
            Some(backing) => Backing::Memfd {
                fd: backing.file().as_raw_fd(),
                offset: backing.file_offset(),
                second: Some(backing.second()),
            },
            None => Backing::Unknown,
        };
        let storage = PoolStorage { backing: known, ..PoolStorage::new(start, desc.size) };
        let name = format!("pool {}", id.0);
        let pieces = storage.len >= chunked_from && context.imports(&storage);
        // Chunks are the guest's memory, and so is whatever takes their place: a copy in device memory would lack what
        // the GPU wrote through them.
        let shared = desc.flags.cpu_visible() || pieces;
        let access = if shared { PoolAccess::Shared } else { PoolAccess::GpuOnly };
        // SAFETY: the caller's promise.
        let chunks = pieces.then(|| unsafe { ChunkedImport::new(context, &storage, &name) });
        Self {
            storage,
            access,
            name,
            whole: OnceLock::new(),
            chunks,
            pieces: OnceLock::new(),
            in_table: AtomicBool::new(false),
            last_use: AtomicU64::new(0),
            tracked,
            watched: OnceLock::new(),
            recent: Recent::default(),
            backing,
        }
    }

    /// The import over the whole pool, made now if there is none.
    pub(crate) fn whole(&self, context: &Arc<Context>) -> Option<&PoolBuffer> {
        let made = self.whole.get_or_init(|| match self.import(context) {
            Ok(buffer) => {
                if let Some(chunks) = &self.chunks {
                    // The pages are pinned once from here on; what was bound keeps its chunk until it has ended.
                    chunks.clear();
                }
                Some(buffer)
            }
            // Imported piece by piece, for binds and for the table.
            Err(_) if self.chunks.is_some() => None,
            Err(e) => {
                fault!(
                    key = self.storage.ptr as usize,
                    "B107",
                    "the storage of {}, {:#x} bytes at {:p}, cannot be imported: {e}; the GPU does not see it",
                    self.name,
                    self.storage.len,
                    self.storage.ptr
                );
                None
            }
        });
        made.as_ref()
    }

    /// Makes the import of a pool that is imported at once.
    ///
    /// # Errors
    /// The driver does not take these pages (B107).
    pub(crate) fn import_now(&self, context: &Arc<Context>) -> Result<(), ImportError> {
        let buffer = self.import(context)?;
        // Nobody else has the pool yet.
        let _ = self.whole.set(Some(buffer));
        Ok(())
    }

    fn import(&self, context: &Arc<Context>) -> Result<PoolBuffer, ImportError> {
        // Protected pages under an import may swallow the GPU's writes (B123).
        self.tracked.opened(0, self.storage.len, || {
            // SAFETY: the promise of `new`.
            unsafe { PoolBuffer::new(context, &self.storage, self.access, &self.name) }
        })
    }

    /// Device address of the byte at `offset`, for the page table of raw pointers, and how many bytes lie side by side
    /// from there on; `None` where the GPU does not see it. The whole pool is imported for it.
    pub(super) fn device(&self, context: &Arc<Context>, offset: u64) -> Option<(u64, u64)> {
        let left = self.storage.len.checked_sub(offset).filter(|left| *left > 0)?;
        self.in_table.store(true, Ordering::Release);
        if let Some(whole) = self.whole(context) {
            return Some((whole.address() + offset, left));
        }
        self.chunks.as_ref()?;
        let size = Self::piece_size(context);
        let piece = self.pieces.get_or_init(|| self.import_pieces(context, size)).get((offset / size) as usize)?;
        let into = offset % size;
        Some((piece.address() + into, piece.len() - into))
    }

    /// Bytes of an import, of which more than one take a pool: whole leaves of the page table, if as much is allowed.
    fn piece_size(context: &Context) -> u64 {
        let most = context.most_of_an_import();
        [LEAF_SPAN, BIG_PAGE].iter().map(|unit| most - most % unit).find(|size| *size > 0).unwrap_or(BIG_PAGE)
    }

    /// Imports all of the pool, side by side; nothing where the driver refuses any.
    fn import_pieces(&self, context: &Arc<Context>, size: u64) -> Vec<PoolBuffer> {
        let import = |start: u64| {
            let storage = self.storage.slice(start, size);
            let name = format!("{} +{start:#x}", self.name);
            self.tracked.opened(start, storage.len, || {
                // SAFETY: the promise of `new`.
                unsafe { PoolBuffer::import(context, &storage, Refusals::Outlived, &name) }
            })
        };
        let made = (0..self.storage.len.div_ceil(size)).map(|n| import(n * size)).collect::<Result<Vec<_>, _>>();
        made.unwrap_or_else(|e| {
            fault!(
                key = self.storage.ptr as usize,
                "B107",
                "the storage of {}, {:#x} bytes at {:p}, cannot be imported in pieces of {size:#x}: {e}; raw pointers do not reach it",
                self.name,
                self.storage.len,
                self.storage.ptr
            );
            Vec::new()
        })
    }

    /// Destroys the imports at once. Copies go by deferred release: Navin's own work, too, carries bytes into them.
    ///
    /// # Safety
    /// As for [`PoolBuffer::end`], for each.
    pub(super) unsafe fn end(&mut self) {
        let whole = self.whole.take().flatten().filter(PoolBuffer::shares_storage);
        for buffer in whole.into_iter().chain(self.pieces.take().into_iter().flatten()) {
            // SAFETY: the caller's promise.
            unsafe { buffer.end() };
        }
        if let Some(chunks) = &self.chunks {
            // SAFETY: as above.
            unsafe { chunks.end() };
        }
    }

    /// Whether addresses of the imports are or were in the page table of raw pointers.
    pub(super) fn was_in_table(&self) -> bool {
        self.in_table.load(Ordering::Acquire)
    }

    /// The copy of a pool that no import takes; `None` for every other pool, and before the pool is used.
    pub(super) fn mirror(&self) -> Option<&PoolBuffer> {
        self.whole.get()?.as_ref().filter(|buffer| buffer.kind() == StorageKind::Mirror)
    }

    /// Who looks into the pool.
    pub(super) fn access(&self) -> PoolAccess {
        self.access
    }

    /// Whether the GPU has other bytes than the storage: the pool lives in device memory.
    pub(crate) fn in_device_memory(&self) -> bool {
        self.whole.get().and_then(Option::as_ref).is_some_and(|buffer| {
            let own = buffer.kind() == StorageKind::Mirror && self.access == PoolAccess::GpuOnly;
            own || buffer.kind() == StorageKind::DeviceLocal
        })
    }

    /// Whether the GPU has the storage itself, not a copy that is kept up to date. A pool that was not looked at yet is
    /// taken for one: who asks reaches it first.
    pub(crate) fn is_shared(&self) -> bool {
        self.whole
            .get()
            .and_then(Option::as_ref)
            .is_some_and(|buffer| !matches!(buffer.kind(), StorageKind::Mirror | StorageKind::DeviceLocal))
    }

    /// Brings what the GPU wrote into a pool in device memory to the storage, for the CPU's part of Navin to read.
    /// `mirrored`: the pool is a mirror that only the GPU looks into, and that has its content.
    pub(super) fn bring(&self, context: &Arc<Context>, offset: u64, size: u64, mirrored: bool) {
        let Some(Some(buffer)) = self.whole.get() else { return };
        if !(mirrored || buffer.kind() == StorageKind::DeviceLocal) || self.last_use() == 0 {
            return;
        }
        if let Err(e) = buffer.read_back(context, offset, size) {
            fault!(
                key = self.storage.ptr as usize,
                "B315",
                "{size:#x} bytes at {offset:#x} of {} cannot be read back from device memory: {e}; textures there begin with what the memory held when the pool was made",
                self.name
            );
        }
    }

    /// Whether pieces are imported where they are needed (B122).
    pub(crate) fn is_chunked(&self) -> bool {
        self.chunks.is_some() && self.whole.get().and_then(Option::as_ref).is_none()
    }

    /// As [`Self::range`], where that is imported as a whole already, and no mirror.
    #[inline]
    pub(crate) fn imported(&self, offset: u64, size: u64) -> Option<BufferRange> {
        let whole = self.whole.get()?.as_ref().filter(|buffer| buffer.kind() != StorageKind::Mirror)?;
        let left = self.storage.len.checked_sub(offset)?;
        Some(whole.range(offset, size.min(left)))
    }

    /// The buffer range of `size` bytes at `offset` (as many as there are to the pool's end), imported if need be;
    /// `u64::MAX` for a length that nobody knows.
    pub(crate) fn range(&self, context: &Arc<Context>, offset: u64, size: u64) -> Option<BufferRange> {
        let left = self.storage.len.checked_sub(offset)?;
        if let (Some(chunks), None) = (&self.chunks, self.whole.get().and_then(Option::as_ref)) {
            let size = if size == u64::MAX { UNKNOWN_LENGTH } else { size };
            if let Some(found) = chunks.find(offset, size) {
                return Some(found);
            }
            // All that is imported is opened, which is more than was asked for.
            let made = chunks.range_within(offset, size, |covered, import| {
                self.tracked.opened(covered.start, covered.end - covered.start, import)
            });
            return match made {
                Ok(range) => Some(range),
                // The driver takes nothing of it: as a smaller pool, it may still be a mirror.
                Err(_) if chunks.totals().0 == 0 && self.whole(context).is_some() => {
                    Some(self.whole(context)?.range(offset, size.min(left)))
                }
                Err(e) => {
                    fault!(
                        key = self.storage.ptr as usize,
                        "B122",
                        "{size:#x} bytes at {offset:#x} of {} cannot be imported: {e}; the GPU does not see them",
                        self.name
                    );
                    None
                }
            };
        }
        Some(self.whole(context)?.range(offset, size.min(left)))
    }

    /// The range of exactly `size` bytes at `offset`, for the submission of that number, where the GPU's bytes are the
    /// pool's and no copy of them. Of a large pool only what is imported already: reading a texture once pins nothing
    /// (B122).
    pub(super) fn on_gpu(
        &self,
        context: &Arc<Context>,
        offset: u64,
        size: u64,
        submission: u64,
    ) -> Option<BufferRange> {
        if offset.checked_add(size)? > self.storage.len {
            return None;
        }
        let range = match (&self.chunks, self.whole.get().and_then(Option::as_ref)) {
            (Some(chunks), None) => chunks.find_shared(offset, size)?,
            _ => {
                let buffer = self.whole(context)?;
                (buffer.kind() != StorageKind::Mirror).then(|| buffer.range(offset, size))?
            }
        };
        self.used_by(submission);
        (range.size >= size).then_some(range)
    }

    /// The memfd that the storage lies in, if it does.
    pub(super) fn backing(&self) -> Option<&alloc::Backing> {
        self.backing.as_ref()
    }

    /// Host address of `size` bytes at `offset`, if they are in the pool: in the second mapping where there is one,
    /// which is always there and always writable.
    pub(crate) fn host(&self, offset: u64, size: u64) -> Option<NonNull<u8>> {
        let first = self.backing.as_ref().map_or(self.storage.ptr, |backing| backing.second().as_ptr());
        (offset.checked_add(size)? <= self.storage.len).then(|| NonNull::new(first.wrapping_add(offset as usize)))?
    }

    /// The tracked range over the storage.
    pub(crate) fn tracked(&self) -> &Tracked {
        &self.tracked
    }

    /// From here on CPU writes into these bytes are noticed, as writes since the stamp (B412), and so are the GPU's into
    /// them as a buffer.
    pub(super) fn watch(&self, offset: u64, size: u64) -> Stamp {
        self.watched.get_or_init(|| Watched::new(self.storage.len)).add(offset..offset + size);
        self.tracked.protect(offset, size)
    }

    /// What commands have written lately.
    pub(super) fn recent(&self) -> &Recent {
        &self.recent
    }

    /// Where textures watch it, if they ever did.
    pub(super) fn watched(&self) -> Option<&Watched> {
        self.watched.get()
    }

    /// Notes that the submission of this number may use the pool.
    pub(crate) fn used_by(&self, submission: u64) {
        self.last_use.fetch_max(submission, Ordering::Relaxed);
    }

    /// The newest submission that may use the pool.
    pub(crate) fn last_use(&self) -> u64 {
        self.last_use.load(Ordering::Relaxed)
    }

    /// Pieces of the pool that are imported. Makes none (B652).
    pub(crate) fn chunks(&self) -> usize {
        self.chunks.as_ref().map_or(0, |chunks| chunks.totals().0)
    }
}
