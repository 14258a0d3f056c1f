//! Memory pools: the guest's storage, its place in the GPU address space, and its import into Vulkan.
//!
//! `nvnMemoryPoolInitialize` makes an entry here (guest threads); the replay resolves GPU addresses to buffer
//! ranges (submit thread) for every bind.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use navin_abi::{GuestPtr, fault};
use navin_memory::{AddressSpace, BIG_PAGE, GpuRange, Pool, PoolDesc, PoolId, PoolIds};
use navin_vulkan::{BufferRange, Context, PoolAccess, PoolBuffer, PoolStorage};
use parking_lot::RwLock;
use rustc_hash::FxHashMap;

use crate::driver::{self, Driver};

/// What `nvnMemoryPoolInitialize` gets to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PoolInfo {
    pub(crate) id: u32,
    pub(crate) gpu_address: u64,
}

struct Entry {
    pool: Pool,
    /// `None` for a pool that the GPU does not see.
    import: Option<Arc<PoolBuffer>>,
}

/// Every pool of the process.
pub(crate) struct Pools {
    ids: PoolIds,
    space: Arc<AddressSpace>,
    entries: RwLock<FxHashMap<PoolId, Entry>>,
}

impl Default for Pools {
    fn default() -> Self {
        Self { ids: PoolIds::default(), space: Arc::new(AddressSpace::new()), entries: RwLock::default() }
    }
}

impl Pools {
    /// Makes a pool over the guest's storage; `None`, with a fault line, for what NVN refuses too.
    pub(crate) fn create(
        &self,
        context: &Arc<Context>,
        storage: GuestPtr<u8>,
        size: u64,
        flags: i32,
    ) -> Option<PoolInfo> {
        let desc = match PoolDesc::validate(flags as u32, storage.host() as u64, size) {
            Ok(desc) => desc,
            Err(e) => {
                fault!(
                    key = storage.address(),
                    "",
                    "nvnMemoryPoolInitialize with {size:#x} bytes at {storage:?}, flags {flags:#x}: {e}; answers false"
                );
                return None;
            }
        };
        if desc.storage.is_none() {
            fault!(
                "B108",
                "a virtual memory pool of {size:#x} bytes: virtual pools are not there yet; nvnMemoryPoolInitialize answers false"
            );
            return None;
        }
        let id = self.ids.next();
        let Ok(number) = u32::try_from(id.0) else { return None };
        let range = match self.space.allocate(id, size) {
            Ok(range) => range,
            Err(e) => {
                fault!(
                    "",
                    "a memory pool of {size:#x} bytes finds no place in the GPU address space ({e}); nvnMemoryPoolInitialize answers false"
                );
                return None;
            }
        };
        let pool = Pool::new(id, desc, range, self.space.generation());
        let name = format!("pool {number}");
        // SAFETY: the guest's call promises `size` bytes of storage that stay mapped until Finalize, whose
        // `destroy` waits for the GPU.
        let import =
            unsafe { PoolBuffer::new(context, &PoolStorage::new(storage.host(), size), PoolAccess::Shared, &name) };
        let import = match import {
            Ok(import) => Arc::new(import),
            Err(e) => {
                fault!(
                    key = storage.address(),
                    "B107",
                    "the storage of a memory pool, {size:#x} bytes at {storage:?}, cannot be imported: {e}; nvnMemoryPoolInitialize answers false"
                );
                self.space.free(range.start);
                return None;
            }
        };
        map_pages(context, range, Some(import.address()));
        self.entries.write().insert(id, Entry { pool, import: Some(import) });
        Some(PoolInfo { id: number, gpu_address: range.start })
    }

    /// Takes a pool away. The caller has waited for work that may use it (B111).
    pub(crate) fn destroy(&self, context: &Arc<Context>, id: u32) {
        let Some(entry) = self.entries.write().remove(&PoolId(u64::from(id))) else { return };
        map_pages(context, entry.pool.range, None);
        self.space.free(entry.pool.range.start);
    }

    /// The buffer range at a GPU address: `size` bytes or as many as there are to the pool's end. `None` when the
    /// address is in no pool.
    pub(crate) fn resolve(&self, address: u64, size: u64) -> Option<BufferRange> {
        let mapping = self.space.lookup(address)?;
        let entries = self.entries.read();
        let entry = entries.get(&mapping.pool)?;
        let left = entry.pool.size().checked_sub(mapping.offset)?;
        Some(entry.import.as_ref()?.range(mapping.offset, size.min(left)))
    }

    /// The host address of `size` bytes at a GPU address; `None` unless all of them are in one pool's storage.
    pub(crate) fn cpu_range(&self, address: u64, size: u64) -> Option<NonNull<u8>> {
        let mapping = self.space.lookup(address)?;
        let entries = self.entries.read();
        NonNull::new(entries.get(&mapping.pool)?.pool.host(mapping.offset, size)? as *mut u8)
    }

    /// Bytes of a pool and where they begin in the GPU address space.
    pub(crate) fn range(&self, id: u32) -> Option<GpuRange> {
        Some(self.entries.read().get(&PoolId(u64::from(id)))?.pool.range)
    }

    /// The 32-bit word at a GPU address, as an event holds it.
    pub(crate) fn read_word(&self, address: u64) -> Option<u32> {
        Some(self.word(address)?.load(Ordering::Acquire))
    }

    /// Changes the word at a GPU address; everything written before is visible to who sees the new value.
    pub(crate) fn update_word(&self, address: u64, change: impl Fn(u32) -> u32) -> bool {
        let Some(word) = self.word(address) else { return false };
        word.fetch_update(Ordering::Release, Ordering::Relaxed, |value| Some(change(value))).is_ok()
    }

    fn word(&self, address: u64) -> Option<&AtomicU32> {
        let pointer = self.cpu_range(address, 4)?.cast::<u32>();
        // SAFETY: inside a live pool's storage; guests and GPU access the word as a whole too. The pool can be
        // finalized by the guest meanwhile only against NVN's rules, as for every access of the GPU.
        pointer.is_aligned().then(|| unsafe { AtomicU32::from_ptr(pointer.as_ptr()) })
    }

    /// Live pools and their bytes.
    pub(crate) fn totals(&self) -> (usize, u64) {
        let entries = self.entries.read();
        (entries.len(), entries.values().map(|e| e.pool.size()).sum())
    }
}

/// One request of `nvnMemoryPoolMapVirtual`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    /// The physical pool; `None` unmaps.
    pub(crate) physical: Option<u32>,
    pub(crate) physical_offset: u64,
    pub(crate) virtual_offset: u64,
    pub(crate) size: u64,
}

/// Makes a pool; `None` for what NVN refuses, and without a device.
pub(crate) fn create(storage: GuestPtr<u8>, size: u64, flags: i32) -> Option<PoolInfo> {
    let driver = driver::get()?;
    driver.pools.create(&driver.context, storage, size, flags)
}

/// Ends a pool. Returns when no work submitted so far uses its memory any more (B111), which the guest may free.
pub(crate) fn destroy(id: u32) {
    let Some(driver) = driver::get() else { return };
    idle(driver);
    driver.descriptors.memory_pool_gone(id);
    driver.textures.pool_gone(id);
    driver.pools.destroy(&driver.context, id);
    driver.context.queue().collect();
}

/// Waits for everything that was replayed so far.
fn idle(driver: &Driver) {
    driver.ask(|_| ());
    if let Err(e) = driver.context.queue().wait_idle() {
        driver.lost(&e);
    }
}

/// Physical pages for a virtual pool: there are no virtual pools yet, so no such pool exists.
pub(crate) fn map_virtual(id: u32, mappings: &[Mapping]) -> bool {
    fault!(
        key = id,
        "B108",
        "nvnMemoryPoolMapVirtual with {} requests for pool {id}, which is not virtual; answers false",
        mappings.len()
    );
    false
}

/// The guest has written a range of a pool and says so: textures there are fetched again at their next use.
pub(crate) fn flush(id: u32, offset: u64, size: u64) {
    let Some(driver) = driver::get() else { return };
    if let Some(range) = driver.pools.range(id) {
        driver.textures.storage_written(range.start + offset, size);
    }
}

/// The guest will read a range. Buffers are the guest's own memory, coherent with the GPU; textures that the GPU
/// wrote are read through texel reads.
pub(crate) fn invalidate(_id: u32, _offset: u64, _size: u64) {
    std::sync::atomic::fence(Ordering::Acquire);
}

impl navin_command::PieceMemory for Pools {
    fn host_memory(&self, address: u64, bytes: u32) -> Option<NonNull<u8>> {
        self.cpu_range(address, u64::from(bytes))
    }
}

/// Puts a range into the page table that shaders with raw pointers walk, or takes it out.
///
/// Every pool begins at a big page; its last one may be partly past its end.
fn map_pages(context: &Arc<Context>, range: GpuRange, device: Option<u64>) {
    const LEAF_PAGES: u64 = navin_vulkan::tables::PAGE_TABLE_LEAF_ENTRIES as u64;
    let (mut page, end) = (range.start / BIG_PAGE, range.end().div_ceil(BIG_PAGE));
    let mut device = device;
    while page < end {
        let count = (LEAF_PAGES - page % LEAF_PAGES).min(end - page);
        let addresses: Vec<u64> = (0..count).map(|n| device.map_or(0, |base| base + n * BIG_PAGE)).collect();
        context.tables().write_pages((page / LEAF_PAGES) as u32, (page % LEAF_PAGES) as u32, &addresses);
        page += count;
        device = device.map(|base| base + count * BIG_PAGE);
    }
}
