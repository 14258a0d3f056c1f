//! Memory pools: the guest's storage, its place in the GPU address space, and its import into Vulkan.
//!
//! `nvnMemoryPoolInitialize` makes an entry here (guest threads); the replay resolves GPU addresses to buffer ranges
//! (submit thread) for every bind, and [`content`](crate::replay) reads textures' bytes through it.
//!
//! - [`physical`]: a pool over memory of the guest's, and its import, whole or in pieces.
//! - [`virtual_`]: a pool without storage, which `nvnMemoryPoolMapVirtual` fills with pages of others.
//! - [`resolve`]: from a GPU address to buffer ranges, host bytes and words.
//! - [`bytes`]: the bytes of a texture, and whether they have changed.
//! - [`exposed`]: the page table for shaders with raw pointers, and which pools are in it.
//! - [`tracking`]: what the CPU has written since.
//! - [`guest_view`]: what the guest writes through a virtual pool's own CPU range.
//! - [`gpu_writes`]: what commands write into pools as buffers.
//! - [`replays`]: when nothing uses any more what lookups gave out.
//! - [`mirror`]: bytes carried to the GPU and back, for pools that no import takes.

pub(crate) mod bytes;
pub(crate) mod exposed;
pub(crate) mod gpu_writes;
mod guest_view;
pub(crate) mod mirror;
pub(crate) mod physical;
mod replays;
pub(crate) mod resolve;
pub(crate) mod tracking;
pub(crate) mod virtual_;

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use navin_abi::{GuestPtr, fault};
use navin_memory::{AddressSpace, GpuRange, Pool, PoolDesc, PoolId, PoolIds, alloc};
use navin_vulkan::{Context, ImportChoice};
use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashMap;

use self::exposed::Exposed;
use self::gpu_writes::GpuWrites;
use self::mirror::Mirrors;
use self::physical::Physical;
use self::replays::Replays;
use self::tracking::Tracking;
use self::virtual_::Virtual;
use crate::config::Config;
use crate::driver::{self, Driver};

/// What `nvnMemoryPoolInitialize` gets to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PoolInfo {
    pub(crate) id: u32,
    pub(crate) gpu_address: u64,
}

/// A pool.
pub(crate) struct Entry {
    pub(crate) pool: Pool,
    pub(crate) kind: Kind,
    /// An address of the pool left Navin, so that shaders may reach it (B642).
    given_out: AtomicBool,
    /// Finalized, and kept because virtual pools show pages of it.
    finalized: AtomicBool,
}

/// Where a pool's bytes are.
#[expect(clippy::large_enum_variant, reason = "each is in an Arc of its own, and most are physical")]
pub(crate) enum Kind {
    /// In memory of the guest's.
    Physical(Physical),
    /// Wherever the guest maps them from.
    Virtual(Virtual),
}

impl Entry {
    /// The guest's memory, for a pool that has some.
    pub(crate) fn physical(&self) -> Option<&Physical> {
        match &self.kind {
            Kind::Physical(physical) => Some(physical),
            Kind::Virtual(_) => None,
        }
    }

    /// The page table, for a pool that has one.
    pub(crate) fn virtual_pool(&self) -> Option<&Virtual> {
        match &self.kind {
            Kind::Virtual(pool) => Some(pool),
            Kind::Physical(_) => None,
        }
    }
}

/// Every pool of the process.
pub(crate) struct Pools {
    ids: PoolIds,
    space: Arc<AddressSpace>,
    entries: RwLock<FxHashMap<PoolId, Arc<Entry>>>,
    /// The host memory of pools, to tell of those that overlap.
    storages: Mutex<Storages>,
    pub(crate) exposed: Exposed,
    pub(crate) tracking: Tracking,
    pub(crate) mirrors: Mirrors,
    written: GpuWrites,
    /// From how many bytes on a pool is imported where it is used, and in pieces (B122).
    chunked_from: u64,
    /// False where pools are mirrors: these are whole, since pieces would not know of each other.
    in_pieces: bool,
    log_mappings: bool,
    waits: navin_memory::virtual_pool::MapWaits,
    /// What the submit thread replays: it may have looked up host memory that it reads.
    replays: Replays,
    /// Virtual pools may have something that waits for a moment.
    waiting: AtomicBool,
    /// The newest submission that had another number than its lookups were told.
    late: AtomicU64,
    /// Mappings of virtual pools that changed pages, of all of them.
    mappings: AtomicU64,
    /// Of the entries the live virtual pools.
    virtual_pools: RwLock<Vec<Arc<Entry>>>,
    /// Of these, the ones whose CPU range the guest has.
    guest_views: AtomicU64,
    /// Finalized physical pools of which virtual pools show pages.
    kept: Mutex<Vec<PoolId>>,
}

impl Pools {
    /// No pools yet.
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            ids: PoolIds::default(),
            space: Arc::new(AddressSpace::new()),
            entries: RwLock::default(),
            storages: Mutex::default(),
            exposed: Exposed::default(),
            tracking: Tracking::new(config),
            mirrors: Mirrors::default(),
            written: GpuWrites::default(),
            chunked_from: config.chunked_from,
            in_pieces: config.import != ImportChoice::Mirror,
            log_mappings: config.log_mappings,
            waits: navin_memory::virtual_pool::MapWaits::default(),
            replays: Replays::default(),
            waiting: AtomicBool::new(false),
            late: AtomicU64::new(0),
            mappings: AtomicU64::new(0),
            virtual_pools: RwLock::default(),
            guest_views: AtomicU64::new(0),
            kept: Mutex::default(),
        }
    }

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
        let id = self.ids.next();
        let Ok(number) = u32::try_from(id.0) else { return None };
        let kind = match desc.storage {
            None => Kind::Virtual(Virtual::new(id, &desc)),
            Some(_) => Kind::Physical(self.physical(context, storage, &desc, id)?),
        };
        let range = match &kind {
            Kind::Virtual(pool) => self.space.allocate_virtual(&pool.table),
            Kind::Physical(_) => self.space.allocate(id, size),
        };
        let range = match range {
            Ok(range) => range,
            Err(e) => {
                fault!(
                    "",
                    "a memory pool of {size:#x} bytes finds no place in the GPU address space ({e}); nvnMemoryPoolInitialize answers false"
                );
                self.storages.lock().remove(storage.host() as u64, desc.size, id);
                return None;
            }
        };
        let pool = Pool::new(id, desc, range, self.space.generation());
        let entry =
            Arc::new(Entry { pool, kind, given_out: AtomicBool::new(false), finalized: AtomicBool::new(false) });
        if entry.virtual_pool().is_some() {
            self.virtual_pools.write().push(Arc::clone(&entry));
        }
        self.entries.write().insert(id, entry);
        Some(PoolInfo { id: number, gpu_address: range.start })
    }

    /// The guest's memory as a pool, imported unless that can wait; `None` when the driver does not take it (B107).
    fn physical(&self, context: &Arc<Context>, storage: GuestPtr<u8>, desc: &PoolDesc, id: PoolId) -> Option<Physical> {
        if !alloc::is_mapped(storage.host(), desc.size) {
            fault!(
                key = storage.address(),
                "B107",
                "a memory pool over {:#x} bytes at {storage:?}, of which not all are mapped memory; nvnMemoryPoolInitialize answers false",
                desc.size
            );
            return None;
        }
        let start = storage.host() as u64;
        let bytes = start..start.saturating_add(desc.size);
        if self.virtual_entries().iter().filter_map(|entry| entry.virtual_pool()).any(|pool| pool.shows_at(&bytes)) {
            fault!(
                key = start,
                "B108",
                "a memory pool over {:#x} bytes at {storage:?}, which is where a virtual pool shows its pages: they change with each mapping; nvnMemoryPoolInitialize answers false",
                desc.size
            );
            return None;
        }
        let overlapped = self.note_overlap(start, desc.size, id);
        let writable = || alloc::is_writable(storage.host(), desc.size);
        // Into memory that may only be read the GPU's stores would end the process. Shader code is read by the CPU alone;
        // where pools overlap the look would count as a write for the other one; and a page at an end may be protected for a
        // neighbour (B407).
        let written = overlapped || desc.flags.shader_code || writable() || {
            self.tracking.release(storage.host(), desc.size);
            writable()
        };
        if !written {
            fault!(
                key = start,
                "B107",
                "a memory pool over {:#x} bytes at {storage:?}, which may only be read; nvnMemoryPoolInitialize answers false",
                desc.size
            );
            self.storages.lock().remove(start, desc.size, id);
            return None;
        }
        // Memory of Navin's allocator, or that the embedder told of, has a file behind it and a second mapping.
        let backing = NonNull::new(storage.host()).and_then(|start| alloc::backing(start, desc.size as usize));
        // The CPU does not write pools without access, and the GPU's writes are no news (B315).
        let tracked = self.tracking.track(storage.host(), desc.size, desc.flags.cpu_visible());
        let pieces_from = if self.in_pieces { self.chunked_from } else { u64::MAX };
        // SAFETY: the guest's call promises `size` bytes of storage that stay mapped until Finalize, whose
        // `destroy` waits for the GPU.
        let physical = unsafe { Physical::new(context, storage.host(), backing, desc, id, pieces_from, tracked) };
        if desc.flags.shader_code || desc.size >= self.chunked_from {
            return Some(physical);
        }
        match physical.import_now(context) {
            Ok(()) => Some(physical),
            Err(e) => {
                fault!(
                    key = storage.address(),
                    "B107",
                    "the storage of a memory pool, {:#x} bytes at {storage:?}, cannot be imported: {e}; nvnMemoryPoolInitialize answers false",
                    desc.size
                );
                self.storages.lock().remove(storage.host() as u64, desc.size, id);
                None
            }
        }
    }

    /// Names a pool whose memory is another's too: what one writes, the other's textures do not hear of. Whether it is.
    fn note_overlap(&self, start: u64, size: u64, id: PoolId) -> bool {
        let end = start + size;
        let other = self.storages.lock().add(start, end, id);
        if let Some((other, from, to)) = other {
            fault!(
                key = start ^ from,
                "",
                "memory pool {} at {start:#x}-{end:#x} overlaps pool {} at {from:#x}-{to:#x}: both are made, and each knows of its own GPU writes only",
                id.0,
                other.0
            );
        }
        other.is_some()
    }

    /// The pool of a guest's record.
    pub(crate) fn get(&self, id: u32) -> Option<Arc<Entry>> {
        self.entry(PoolId(u64::from(id))).filter(|entry| !entry.finalized.load(Ordering::Acquire))
    }

    /// A pool, or what is left of one of which virtual pools show pages.
    pub(crate) fn entry(&self, id: PoolId) -> Option<Arc<Entry>> {
        self.entries.read().get(&id).cloned()
    }

    /// Bytes of a pool and where they begin in the GPU address space.
    pub(crate) fn range(&self, id: u32) -> Option<GpuRange> {
        Some(self.get(id)?.pool.range)
    }

    /// Takes a pool away. Returns when no submission that may use it is under way (B111, B651).
    pub(crate) fn destroy(&self, driver: &Driver, id: u32) {
        let Some(entry) = self.get(id) else { return };
        entry.finalized.store(true, Ordering::Release);
        match &entry.kind {
            Kind::Virtual(pool) => {
                let used = pool.is_used();
                if used {
                    driver::wait_for_all(driver);
                    self.waits.count();
                }
                self.virtual_pools.write().retain(|known| known.pool.id != entry.pool.id);
                self.entries.write().remove(&entry.pool.id);
                // Nothing finds it from here on. What has found it in between ends first.
                if used && self.reached(driver) < self.replays.now() {
                    driver::wait_for(driver, u64::MAX);
                }
                self.exposed.withdraw(&driver.context, entry.pool.id);
                pool.end(self);
                self.drop_unmapped(driver);
                self.space.free(entry.pool.range.start);
            }
            Kind::Physical(physical) => {
                driver.settle();
                let kept = self.pages_go(driver, entry.pool.id, physical);
                if !kept {
                    self.entries.write().remove(&entry.pool.id);
                }
                self.storages.lock().remove(physical.tracked().start(), entry.pool.size(), entry.pool.id);
                // What is being replayed now may still read the storage, and has a number when that has ended.
                if self.replays.under_way() {
                    driver.ask(|_| ());
                }
                let last = self.last_use(&entry, physical);
                if last > driver.context.queue().completed() {
                    fault!(
                        key = id,
                        "B111",
                        "memory pool {id} is finalized while submission {last}, which may read it, is under way: Finalize waits for it"
                    );
                    driver::wait_for(driver, last);
                }
                self.written.forget(&entry);
                self.mirror_ends(driver, entry.pool.id, last);
                self.space.free(entry.pool.range.start);
                if kept {
                    physical.tracked().let_go();
                    self.exposed.withdraw(&driver.context, entry.pool.id);
                } else {
                    self.unreach(driver, &entry);
                    self.end_import(entry);
                }
            }
        }
    }

    /// The newest submission that may use the pool: as a buffer, or through the page table.
    fn last_use(&self, entry: &Entry, physical: &Physical) -> u64 {
        let walked = physical.was_in_table() || self.exposed.contains(entry.pool.id);
        let walk = if walked { self.exposed.last_walk() } else { 0 };
        match physical.last_use().max(walk) {
            0 => 0,
            last => last.max(self.late.load(Ordering::Acquire)),
        }
    }

    /// Before the imports of a physical pool go: sees to it that no raw pointer leads there (B113).
    fn unreach(&self, driver: &Driver, entry: &Entry) {
        if !entry.physical().is_some_and(Physical::was_in_table) {
            if entry.given_out.load(Ordering::Acquire) {
                self.exposed.forget(entry.pool.id);
            }
            return;
        }
        let virtual_pools = self.virtual_entries();
        if virtual_pools.iter().any(|entry| entry.virtual_pool().is_some_and(Virtual::is_leaving_anything)) {
            // Entries that lead to pages unmapped before stay until what was submitted before has ended.
            driver::wait_for(driver, u64::MAX);
            virtual_pools.iter().filter_map(|entry| entry.virtual_pool()).for_each(|pool| pool.let_go(driver, self));
        }
        self.exposed.withdraw(&driver.context, entry.pool.id);
        // Walks that found the entries.
        if self.replays.under_way() {
            driver.ask(|_| ());
        }
        let last = self.exposed.last_walk().max(self.late.load(Ordering::Acquire));
        if last > driver.context.queue().completed() {
            driver::wait_for(driver, last);
        }
    }

    /// Destroys the imports of a pool that is in no table any more, and that nothing uses.
    fn end_import(&self, entry: Arc<Entry>) {
        let id = entry.pool.id;
        let Some(Entry { kind: Kind::Physical(mut physical), .. }) = Arc::into_inner(entry) else {
            // Whoever looks at it at this moment destroys them when that is over.
            tracing::debug!("memory pool {} is finalized; held by: {:?} [B125]", id.0, self.holders(id));
            return;
        };
        // SAFETY: submissions that looked the pool up have ended (`last_use`), as have those that could reach it by raw
        // pointers (`unreach`), and nothing finds it any more.
        unsafe { physical.end() };
    }

    /// Tables in which something of a pool is found: a finalized one should be in none (B125).
    fn holders(&self, id: PoolId) -> Vec<&'static str> {
        let tables = [
            ("pools", self.entries.read().contains_key(&id)),
            ("mapped pools", self.kept.lock().contains(&id)),
            ("page table", self.exposed.contains(id)),
            ("mirrors", self.mirrors.holds(id)),
            ("GPU writes", self.written.holds(id)),
        ];
        let found: Vec<_> = tables.iter().filter(|(_, holds)| *holds).map(|(name, _)| *name).collect();
        if found.is_empty() { vec!["a lookup"] } else { found }
    }

    /// The newest moment of [`replays`] that is reached.
    fn reached(&self, driver: &Driver) -> u64 {
        self.replays.reached(driver.context.queue().completed())
    }

    /// A piece that was to be submission `expected` became submission `ticket`: another one came between.
    pub(crate) fn submitted_as(&self, expected: u64, ticket: u64) {
        if ticket > expected {
            self.late.fetch_max(ticket, Ordering::AcqRel);
        }
    }

    /// The submit thread replays, or reads pools' memory otherwise, until the guard is dropped.
    pub(crate) fn replaying(&'static self, driver: &'static Driver) -> impl Drop + 'static {
        struct Replaying(&'static Pools, &'static Driver);
        impl Drop for Replaying {
            fn drop(&mut self) {
                let Self(pools, driver) = self;
                let queue = driver.context.queue();
                pools.replays.end(queue.submitted(), queue.completed());
                pools.collect(driver);
            }
        }
        self.replays.begin();
        Replaying(self, driver)
    }

    /// Does what waited for replays and submissions that have ended.
    pub(crate) fn collect(&self, driver: &Driver) {
        if !self.waiting.load(Ordering::Acquire) || !self.waiting.swap(false, Ordering::AcqRel) {
            return;
        }
        let reached = self.reached(driver);
        let mut waits = false;
        for pool in self.virtual_entries().iter().filter_map(|entry| entry.virtual_pool()) {
            waits |= pool.collect(driver, self, reached);
        }
        if waits {
            self.waiting.store(true, Ordering::Release);
        }
    }

    /// The virtual pools. Taken out of the lock first: their own locks come before it.
    fn virtual_entries(&self) -> Vec<Arc<Entry>> {
        self.virtual_pools.read().clone()
    }

    /// Everything countable about memory; makes nothing (B652).
    pub(crate) fn report(&self, context: &Context) -> serde_json::Value {
        let counts = context.pool_counts();
        let tracking = self.tracking.counters();
        let chunks: usize = self.entries.read().values().filter_map(|e| Some(e.physical()?.chunks())).sum();
        let (mut runs, mut mapped, mut parts) = (0, 0, 0);
        for pool in self.virtual_entries().iter().filter_map(|entry| entry.virtual_pool()) {
            runs += pool.table.runs();
            mapped += pool.table.mapped_bytes();
            parts += pool.imports();
        }
        serde_json::json!({
            "buffers": counts.live,
            "buffer_bytes": counts.live_bytes,
            "imports": counts.imports,
            "finalized_but_alive": counts.retired,
            "waiting_for_release": context.waiting_for_release(),
            "chunks": chunks,
            "in_page_table": self.exposed.count(),
            "mirrors": self.mirrors.report(),
            "virtual": {
                "pools": self.virtual_pools.read().len(),
                "mapped_bytes": mapped,
                "runs": runs,
                "imports": parts,
                "waits": self.waits.so_far(),
            },
            "tracking": {
                "mechanism": self.tracking.selection().mechanism.name(),
                "ranges": tracking.ranges,
                "protected": tracking.protected,
                "faults": tracking.faults,
                "fetched": tracking.fetched,
                "opened": tracking.opened,
                "opened_changed": tracking.opened_changed,
            },
        })
    }

    /// Live pools and their bytes.
    pub(crate) fn totals(&self) -> (usize, u64) {
        let entries = self.entries.read();
        (entries.len(), entries.values().map(|e| e.pool.size()).sum())
    }
}

/// Host memory of pools.
struct Storages {
    /// By size, those of one power of two together, so that a large pool far below does not have all small ones in
    /// between looked at; then by first address and pool: the end.
    by_size: [BTreeMap<(u64, PoolId), u64>; 64],
}

impl Default for Storages {
    fn default() -> Self {
        Self { by_size: std::array::from_fn(|_| BTreeMap::new()) }
    }
}

impl Storages {
    fn class(bytes: u64) -> usize {
        bytes.max(1).ilog2() as usize
    }

    /// Adds a pool's; a pool that has some of it already, with its first address and end: of several the one that
    /// begins last.
    fn add(&mut self, start: u64, end: u64, id: PoolId) -> Option<(PoolId, u64, u64)> {
        let mut over: Option<(PoolId, u64, u64)> = None;
        for (class, pools) in self.by_size.iter().enumerate().filter(|(_, pools)| !pools.is_empty()) {
            // None of them is longer than twice its class.
            let longest = 2u64.saturating_mul(1 << class);
            let found = pools
                .range((start.saturating_sub(longest), PoolId(0))..(end, PoolId(0)))
                .rev()
                .find(|(_, to)| **to > start)
                .map(|((from, pool), to)| (*pool, *from, *to));
            over = over.into_iter().chain(found).max_by_key(|(_, from, _)| *from);
        }
        self.by_size[Self::class(end - start)].insert((start, id), end);
        over
    }

    fn remove(&mut self, start: u64, size: u64, id: PoolId) {
        self.by_size[Self::class(size)].remove(&(start, id));
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
    driver.descriptors.memory_pool_gone(id);
    driver.textures.pool_gone(id);
    driver.pools.destroy(driver, id);
}

/// An address of a pool leaves Navin (B115, B642).
pub(crate) fn give_out(id: u32) {
    if let Some(driver) = driver::get() {
        driver.pools.give_out(id);
    }
}

/// A texture is made in a pool, or its CPU address given out: a virtual pool keeps its range from then on (B115).
pub(crate) fn keep_range(id: u32) {
    if let Some(driver) = driver::get()
        && let Some(entry) = driver.pools.get(id)
        && let Some(pool) = entry.virtual_pool()
    {
        pool.table.give_out();
    }
}

/// Where the CPU sees a virtual pool; 0 where it does not.
pub(crate) fn virtual_cpu_address(id: u32) -> u64 {
    let Some(driver) = driver::get() else { return 0 };
    let address = driver.pools.get(id).and_then(|entry| entry.virtual_pool()?.cpu_address(&driver.pools));
    if address.is_none() {
        fault!(
            key = id,
            "B109",
            "the CPU address of virtual pool {id}: there is none, as no range could be reserved; answers null"
        );
    }
    address.map_or(0, |host| GuestPtr::from_host(host as *const u8).address())
}

/// The memory behind `size` bytes of a virtual pool, for Navin's own accesses; `None` unless it lies side by side. The
/// pool keeps its range from then on (B115).
pub(crate) fn virtual_memory(id: u32, address: u64, size: u64) -> Option<NonNull<u8>> {
    keep_range(id);
    driver::get()?.pools.cpu_range(address, size)
}

/// Writes packaged data of a texture into its storage.
pub(crate) fn write(id: u32, offset: u64, data: &[u8]) {
    let Some(bytes) = driver::get().and_then(|driver| driver.pools.bytes(id, offset, data.len() as u64)) else {
        return;
    };
    bytes.update(0..data.len() as u64, |storage| storage.copy_from_slice(data));
}

/// Pages of physical pools for a virtual pool; false for what NVN refuses.
pub(crate) fn map_virtual(id: u32, mappings: &[Mapping]) -> bool {
    driver::get().is_some_and(|driver| driver.pools.map_virtual(driver, id, mappings))
}

/// The guest has written a range of a pool and says so: textures there are fetched again at their next use.
pub(crate) fn flush(id: u32, offset: u64, size: u64) {
    let Some(driver) = driver::get() else { return };
    if let Some(range) = driver.pools.range(id) {
        // A buffer moved past the pool's end says nothing of the pool (B103).
        let offset = offset.min(range.size);
        driver.textures.storage_written(range.start + offset, size.min(range.size - offset));
    }
}

/// The guest will read a range. Buffers are the guest's own memory, coherent with the GPU; textures that the GPU
/// wrote are read through texel reads.
pub(crate) fn invalidate(_id: u32, _offset: u64, _size: u64) {
    std::sync::atomic::fence(Ordering::Acquire);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_several_pools_have_is_found() {
        let mut storages = Storages::default();
        assert_eq!(storages.add(0x10000, 0x50000, PoolId(1)), None);
        assert_eq!(storages.add(0x50000, 0x51000, PoolId(2)), None, "side by side");
        assert_eq!(storages.add(0xf000, 0x10000, PoolId(3)), None);
        assert_eq!(storages.add(0x20000, 0x21000, PoolId(4)), Some((PoolId(1), 0x10000, 0x50000)), "within");
        assert_eq!(storages.add(0x10000, 0x11000, PoolId(5)), Some((PoolId(1), 0x10000, 0x50000)), "the same begin");
        storages.remove(0x10000, 0x1000, PoolId(5));
        // Behind a short one that begins later.
        assert_eq!(storages.add(0x30000, 0x31000, PoolId(6)), Some((PoolId(1), 0x10000, 0x50000)));
        storages.remove(0x10000, 0x40000, PoolId(1));
        assert_eq!(storages.add(0x40000, 0x50000, PoolId(7)), None);
        assert_eq!(storages.add(0x3ffff, 0x50001, PoolId(8)), Some((PoolId(2), 0x50000, 0x51000)));
    }
}
