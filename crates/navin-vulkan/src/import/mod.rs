//! A pool's storage as a Vulkan buffer, so that nothing is copied where the device allows it (DESIGN 2).
//!
//! The driver hands over where the guest's bytes lie ([`PoolStorage`]) and gets a [`PoolBuffer`]: one type with
//! [`PoolBuffer::range`] for binds and [`PoolBuffer::address`] for the page table, whichever way it came:
//!
//! - [`StorageKind::HostPointer`] (`host_pointer`): `VK_EXT_external_memory_host` over the guest's pages, or over a
//!   second mapping of them that is never write-protected;
//! - [`StorageKind::DmaBuf`] (`dma_buf`): the memfd behind the pages as a dma-buf, for drivers that import only
//!   private anonymous memory by pointer;
//! - [`StorageKind::Mirror`] (`mirror`): no import at all. A buffer of the same size, to which the driver uploads what
//!   the guest wrote before a submission, and from which what the GPU wrote is copied back after it;
//! - [`StorageKind::DeviceLocal`] (`device_local`): device memory that begins with the storage's bytes, for pools
//!   that the CPU never looks into.
//!
//! Which ways work is found out by [`probe`] when the device is opened, and can be forced ([`ImportChoice`]).
//! Pools of 512 MB and more are imported piece by piece, on demand ([`ChunkedImport`]).

mod chunks;
mod device_local;
mod dma_buf;
mod external;
mod host_pointer;
mod mirror;
pub mod probe;
mod refusal;

use std::ptr::NonNull;
use std::sync::Arc;

use ash::vk;

pub use chunks::{CHUNKED_FROM, ChunkedImport, Imported, STRIDE as CHUNK_STRIDE, UNKNOWN_LENGTH};
pub use mirror::WriteBack;
#[doc(hidden)]
pub use refusal::refuse_imports;

use crate::context::Context;
use crate::encoder::BufferRange;
use crate::gpu::Gpu;
use crate::memory::{MemoryError, buffer_address};
use crate::retire::Garbage;
use crate::tables::PAGE_BYTES;

/// How a pool's bytes came to the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub enum StorageKind {
    /// The guest's pages, imported by pointer.
    HostPointer,
    /// The guest's pages, imported as a dma-buf.
    DmaBuf,
    /// A copy that uploads and write-backs keep up to date.
    Mirror,
    /// Device memory that the CPU does not see.
    DeviceLocal,
}

/// Which way pools that the CPU sees are imported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum ImportChoice {
    /// The first that the probe found working: host pointer, dma-buf, mirror.
    #[default]
    Auto,
    /// By pointer, or not at all.
    HostPointer,
    /// As a dma-buf, or not at all.
    DmaBuf,
    /// By mirror.
    Mirror,
}

/// Whether pools without CPU access live in device-local memory (B315).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum DeviceLocalChoice {
    /// On discrete devices. Where host and device share one memory, an import is as fast and costs no memory.
    #[default]
    Auto,
    /// Never.
    Never,
    /// On every device.
    Always,
}

/// Who looks into a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolAccess {
    /// CPU and GPU.
    Shared,
    /// The GPU alone (`CPU_NO_ACCESS`): the bytes of the storage count at creation only.
    GpuOnly,
}

/// What backs the pages of a pool's storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backing {
    /// Nothing is known of them.
    Unknown,
    /// A memfd.
    Memfd {
        /// Its descriptor; stays open while the pool is made. Never closed by this crate.
        fd: i32,
        /// Where in it the storage begins.
        offset: u64,
        /// The same bytes at a second mapping that is always writable, if there is one: what is imported by
        /// pointer. Must stay mapped as long as the storage.
        second: Option<NonNull<u8>>,
    },
    /// Pages of memfds, mapped side by side for the import alone: a second mapping of each.
    Scattered,
    /// A dma-buf that the embedder made.
    DmaBuf {
        /// Its descriptor; stays open while the pool is made. Never closed by this crate.
        fd: i32,
        /// Where in it the storage begins.
        offset: u64,
    },
}

/// The guest's memory behind a pool.
#[derive(Clone, Copy, Debug)]
pub struct PoolStorage {
    /// First byte, as a host pointer.
    pub ptr: *mut u8,
    /// Length in bytes.
    pub len: u64,
    /// What the pages are.
    pub backing: Backing,
}

impl PoolStorage {
    /// Memory of which nothing more is known.
    pub fn new(ptr: *mut u8, len: u64) -> Self {
        Self { ptr, len, backing: Backing::Unknown }
    }

    /// A piece of it; cut to the length.
    #[must_use]
    pub fn slice(&self, offset: u64, len: u64) -> Self {
        let start = offset.min(self.len);
        let backing = match self.backing {
            Backing::Unknown => Backing::Unknown,
            Backing::Scattered => Backing::Scattered,
            Backing::Memfd { fd, offset: first, second } => Backing::Memfd {
                fd,
                offset: first + start,
                // Inside the mapping, or one past its end.
                second: second.and_then(|p| NonNull::new(p.as_ptr().wrapping_add(start as usize))),
            },
            Backing::DmaBuf { fd, offset: first } => Backing::DmaBuf { fd, offset: first + start },
        };
        Self { ptr: self.ptr.wrapping_add(start as usize), len: len.min(self.len - start), backing }
    }

    /// The pointer that is imported.
    fn import_pointer(&self) -> *mut u8 {
        match self.backing {
            Backing::Memfd { second: Some(second), .. } => second.as_ptr(),
            _ => self.ptr,
        }
    }
}

/// Why a pool's storage could not be brought to the GPU.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The device or the system lacks what this way needs.
    #[error("{0}")]
    Unsupported(String),
    /// Nothing to import.
    #[error("an import must hold at least one byte at a non-null address")]
    Empty,
    /// Larger than one allocation may be.
    #[error("{size:#x} bytes are more than one import may hold ({limit:#x})")]
    TooLarge {
        /// Asked for, rounded out.
        size: u64,
        /// The device's limit.
        limit: u64,
    },
    /// Refused by the driver, all retries included (B107).
    #[error("the driver refused the import: {0}")]
    Refused(vk::Result),
    /// The device has no memory type for these pages.
    #[error("no memory type takes these pages")]
    NoMemoryType,
    /// A mirror or device memory could not be had.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Copying a pool's content back failed.
    #[error("copying a pool's content: {0}")]
    Content(#[from] crate::queue::QueueError),
}

/// What a pool buffer's memory is.
pub(crate) enum PoolMemory {
    /// Memory of the guest's, imported.
    Imported(vk::DeviceMemory),
    /// Memory of Navin's own.
    Own(Option<gpu_allocator::vulkan::Allocation>),
}

/// A pool's bytes as a Vulkan buffer, usable for everything.
///
/// Dropping it destroys the import as soon as no submitted work can use it: at once when the GPU is through with
/// everything, else when [`Queue::collect`](crate::Queue::collect) is called after that. The storage's pages must
/// stay mapped until then (B111): wait for the queue ([`Queue::wait_idle`](crate::Queue::wait_idle)) between the drop
/// and the unmapping.
pub struct PoolBuffer {
    gpu: Arc<Gpu>,
    kind: StorageKind,
    raw: vk::Buffer,
    memory: Option<PoolMemory>,
    /// Bytes of the memory.
    size: u64,
    bias: u64,
    len: u64,
    address: vk::DeviceAddress,
    /// The guest's bytes.
    storage: *mut u8,
}

// SAFETY: the storage pointer is the one member that is not Send and Sync by itself. It belongs to no thread, and
// what lies there is shared with guest and GPU anyway: it is copied to and from, never borrowed.
unsafe impl Send for PoolBuffer {}
// SAFETY: as above.
unsafe impl Sync for PoolBuffer {}

impl PoolBuffer {
    /// Brings a pool's storage to the GPU, by the way that the context chose.
    ///
    /// # Safety
    /// All pages that the storage touches (and those of its second mapping) must be mapped readable and writable,
    /// and stay so until the buffer is destroyed (see the type). A memfd must be at least as long as the storage.
    ///
    /// # Errors
    /// No way takes these pages; refusals were tried again (B107).
    pub unsafe fn new(
        context: &Arc<Context>,
        storage: &PoolStorage,
        access: PoolAccess,
        name: &str,
    ) -> Result<PoolBuffer, ImportError> {
        if storage.ptr.is_null() || storage.len == 0 {
            return Err(ImportError::Empty);
        }
        if access == PoolAccess::GpuOnly && context.device_local_pools() {
            // SAFETY: the caller's promise.
            match unsafe { device_local::new(context, storage, name) } {
                // The pool does without when device memory is full.
                Err(ImportError::Memory(error)) => tracing::warn!("{error}; the pool is imported in its place"),
                outcome => return outcome,
            }
        }
        // SAFETY: the caller's promise.
        unsafe { Self::by_first_way(context, storage, name, ways(context, storage), Refusals::Outlived) }
    }

    /// Imports a part of a pool, or pages of several: as [`PoolBuffer::new`], but never as a copy, since nobody would
    /// keep copies of parts up to date. `refusals`: whether the driver is asked again.
    ///
    /// # Safety
    /// As for [`PoolBuffer::new`].
    ///
    /// # Errors
    /// No import takes these pages.
    pub unsafe fn import(
        context: &Arc<Context>,
        storage: &PoolStorage,
        refusals: Refusals,
        name: &str,
    ) -> Result<PoolBuffer, ImportError> {
        if storage.ptr.is_null() || storage.len == 0 {
            return Err(ImportError::Empty);
        }
        // SAFETY: the caller's promise.
        unsafe { Self::by_first_way(context, storage, name, imports(ways(context, storage)), refusals) }
    }

    /// # Safety
    /// As for [`PoolBuffer::new`].
    unsafe fn by_first_way(
        context: &Arc<Context>,
        storage: &PoolStorage,
        name: &str,
        ways: &[StorageKind],
        refusals: Refusals,
    ) -> Result<PoolBuffer, ImportError> {
        let gpu = &context.gpu;
        let mut refused = None;
        for &kind in ways {
            let attempt = || match kind {
                // SAFETY: the caller's promise.
                StorageKind::HostPointer => unsafe { host_pointer::new(gpu, storage, name) },
                StorageKind::DmaBuf => dma_buf::new(gpu, storage, name),
                _ => mirror::new(context, storage, name),
            };
            let outcome = match (kind, refusals) {
                (StorageKind::HostPointer | StorageKind::DmaBuf, Refusals::Outlived) => {
                    refusal::outlive(gpu, storage, name, attempt)
                }
                _ => attempt(),
            };
            match outcome {
                Ok(buffer) => {
                    if let Some(error) = refused {
                        navin_abi::fault!(
                            key = storage.ptr as usize,
                            "B109",
                            "{:#x} bytes at {:p} ({name}) go by {kind:?}: {error}",
                            storage.len,
                            storage.ptr
                        );
                    }
                    gpu.check_allocation_count();
                    return Ok(buffer);
                }
                Err(ImportError::Empty) => return Err(ImportError::Empty),
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.unwrap_or(ImportError::NoMemoryType))
    }

    /// Destroys it at once, whatever else is under way.
    ///
    /// # Safety
    /// No work that was recorded or submitted and has not ended uses it, by its handle or by its address.
    pub unsafe fn end(mut self) {
        if let Some(garbage) = self.take() {
            self.gpu.destroy(garbage);
        }
        // As a drop does: what else waited and has ended goes too (B650).
        self.gpu.release();
    }

    /// What is to be destroyed, out of the books; `None` when that has happened.
    fn take(&mut self) -> Option<Garbage> {
        let memory = self.memory.take()?;
        if self.kind == StorageKind::DeviceLocal {
            let unused = self.gpu.fresh.lock().forget_pool(self.raw);
            drop(unused);
        }
        self.gpu.pools.dropped(self.size);
        Some(Garbage::Pool(self.raw, memory, self.size))
    }

    /// Takes over what was made, and counts it.
    fn from_parts(
        gpu: &Arc<Gpu>,
        kind: StorageKind,
        (raw, memory, size): (vk::Buffer, PoolMemory, u64),
        bias: u64,
        storage: &PoolStorage,
        name: &str,
    ) -> PoolBuffer {
        gpu.pools.made(size, matches!(memory, PoolMemory::Imported(_)));
        gpu.name(raw, name);
        let address = buffer_address(gpu, raw);
        let (len, storage) = (storage.len, storage.ptr);
        PoolBuffer { gpu: gpu.clone(), kind, raw, memory: Some(memory), size, bias, len, address, storage }
    }

    /// The way it came.
    pub fn kind(&self) -> StorageKind {
        self.kind
    }

    /// Whether what CPU and GPU write is one memory. If not, [`PoolBuffer::upload`] and [`PoolBuffer::track_writes`]
    /// carry a mirror's bytes; device-local memory and the storage have nothing to do with each other any more.
    pub fn shares_storage(&self) -> bool {
        matches!(self.kind, StorageKind::HostPointer | StorageKind::DmaBuf)
    }

    /// The handle. The storage's first byte is [`PoolBuffer::bias`] bytes into it.
    pub fn raw(&self) -> vk::Buffer {
        self.raw
    }

    /// Bytes from the buffer's begin to the storage's first byte: imports begin and end at page borders.
    pub fn bias(&self) -> u64 {
        self.bias
    }

    /// The storage's length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Never: a pool holds at least a byte.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Device address of the storage's first byte.
    pub fn address(&self) -> vk::DeviceAddress {
        self.address + self.bias
    }

    /// A piece, offsets counted from the storage's first byte. Not checked against the length.
    #[inline]
    pub fn range(&self, offset: u64, size: u64) -> BufferRange {
        BufferRange { buffer: self.raw, offset: self.bias + offset, size }
    }
}

impl Drop for PoolBuffer {
    fn drop(&mut self) {
        if let Some(garbage) = self.take() {
            self.gpu.retire.push(garbage);
            // With nothing in flight it goes at once, whether or not anything is ever submitted again (B650, B651).
            self.gpu.release();
        }
    }
}

impl std::fmt::Debug for PoolBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PoolBuffer").field("kind", &self.kind).field("len", &self.len).finish_non_exhaustive()
    }
}

/// What to do about a refused import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusals {
    /// Ask again, which may take some 45 ms, and name what lasts (B107).
    Outlived,
    /// Answer at once: the same pages were refused for good before.
    Believed,
}

impl Context {
    /// Whether some import is to be tried for a storage; if not, all that it can be is a mirror.
    pub fn imports(&self, storage: &PoolStorage) -> bool {
        !imports(ways(self, storage)).is_empty()
    }

    /// Bytes that one import may hold, wherever in a page it begins.
    pub fn most_of_an_import(&self) -> u64 {
        let limits = &self.gpu.limits;
        limits.max_allocation.saturating_sub(2 * limits.host_import_alignment.max(PAGE_BYTES))
    }
}

/// Of ways those by which nothing is copied.
fn imports(ways: &[StorageKind]) -> &[StorageKind] {
    match ways {
        [imports @ .., StorageKind::Mirror] => imports,
        all => all,
    }
}

/// The ways that are tried for a storage, in order.
fn ways(context: &Context, storage: &PoolStorage) -> &'static [StorageKind] {
    use StorageKind::{DmaBuf, HostPointer, Mirror};
    match context.import {
        ImportChoice::HostPointer => return &[HostPointer],
        ImportChoice::DmaBuf => return &[DmaBuf],
        ImportChoice::Mirror => return &[Mirror],
        ImportChoice::Auto => {}
    }
    let probe = &context.probe;
    let (pointer, dma_buf) = match storage.backing {
        // Files and device memory are not told apart from anonymous memory: a refusal leads to the next way.
        Backing::Unknown => (probe.anonymous.works(), false),
        // One dma-buf is made of one memfd.
        Backing::Scattered => (probe.memfd_second.works(), false),
        Backing::Memfd { second, .. } => {
            let outcome = if second.is_some() { &probe.memfd_second } else { &probe.memfd };
            (outcome.works(), probe.dma_buf.works())
        }
        Backing::DmaBuf { .. } => (probe.memfd.works(), context.gpu.dma_buf.is_some()),
    };
    match (pointer, dma_buf) {
        (true, true) => &[HostPointer, DmaBuf, Mirror],
        (true, false) => &[HostPointer, Mirror],
        (false, true) => &[DmaBuf, Mirror],
        (false, false) => &[Mirror],
    }
}

/// A range of host pages, begin and size multiples of the import alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: u64,
    size: u64,
}

impl Span {
    fn around(start: u64, len: u64, alignment: u64) -> Option<Self> {
        if len == 0 {
            return None;
        }
        let begin = start - start % alignment;
        let end = start.checked_add(len)?.checked_next_multiple_of(alignment)?;
        Some(Self { start: begin, size: end - begin })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_rounded_out_to_whole_pages() {
        assert_eq!(Span::around(0x1234, 1, 0x1000), Some(Span { start: 0x1000, size: 0x1000 }));
        assert_eq!(Span::around(0x1fff, 2, 0x1000), Some(Span { start: 0x1000, size: 0x2000 }));
        assert_eq!(Span::around(0x2000, 0x1000, 0x1000), Some(Span { start: 0x2000, size: 0x1000 }));
        assert_eq!(Span::around(0x1000, 0, 0x1000), None);
        assert_eq!(Span::around(u64::MAX - 4, 16, 0x1000), None);
    }

    #[test]
    fn a_slice_of_a_storage_keeps_its_mappings_in_step() {
        let mut bytes = [0u8; 64];
        let mut other = [0u8; 64];
        let second = NonNull::new(other.as_mut_ptr());
        let backing = Backing::Memfd { fd: 7, offset: 0x3000, second };
        let storage = PoolStorage { ptr: bytes.as_mut_ptr(), len: 64, backing };
        let piece = storage.slice(16, 100);
        assert_eq!((piece.ptr as usize - bytes.as_ptr() as usize, piece.len), (16, 48));
        let Backing::Memfd { offset, second: Some(at), .. } = piece.backing else { panic!("{piece:?}") };
        assert_eq!((offset, at.as_ptr() as usize - other.as_ptr() as usize), (0x3010, 16));
        assert_eq!(storage.slice(65, 1).len, 0);
    }
}
