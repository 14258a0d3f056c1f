//! Virtual pools: `nvnMemoryPoolMapVirtual`, and what the GPU and the CPU see of the mapped pages (B108-B115, B118).
//!
//! [`navin_memory::VirtualPool`] has the rules and the 4 KB table; here is what it takes to carry them out. The GPU
//! reaches mapped pages where they lie, in their physical pool's import, so most mappings need no import at all. Two
//! address ranges exist beside that, where the physical pools' memory is a memfd:
//!
//! - the *GPU's range*, where the pages lie side by side, always writable: a bind of bytes that are scattered over
//!   physical pools imports that part of it, until a mapping changes it;
//! - the *guest's range*, for pools with CPU access: what `nvnMemoryPoolMap` answers.
//!
//! Other memory cannot appear twice: binds then end where a physical pool's bytes end, and the guest's range is
//! empty; both are named once.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use navin_abi::fault;
use navin_memory::alloc::{self, HostReservation};
use navin_memory::virtual_pool::{
    CommitError, HostMemory, ImportId, Kind, MapRequest, Physical, Resolved, VirtualPool,
};
use navin_memory::{BIG_PAGE, Mapping as Mapped, PoolDesc, PoolId};
use navin_vulkan::{BufferRange, Context, PoolAccess, PoolBuffer, PoolStorage};
use parking_lot::Mutex;

use super::guest_view::GuestView;
use super::physical::Physical as Storage;
use super::{Mapping, Pools};
use crate::driver::{self, Driver};

/// A pool without storage of its own.
pub(crate) struct Virtual {
    pub(crate) table: Arc<VirtualPool>,
    state: Mutex<State>,
}

struct State {
    ranges: Ranges,
    /// Imports of parts of the GPU's range.
    imports: Vec<Import>,
    /// Imports that nothing new uses, each until a submission has ended.
    stale: Vec<(u64, ImportId)>,
    /// Parts of the pool whose page-table entries go once a submission has ended (B111).
    leaving: Vec<(u64, Range<u64>)>,
    /// What the guest writes through its range.
    view: GuestView,
}

struct Import {
    id: ImportId,
    /// Bytes of the pool.
    range: Range<u64>,
    buffer: PoolBuffer,
}

impl Virtual {
    /// A pool with nothing mapped (B114: every one has its range from the beginning).
    pub(super) fn new(id: PoolId, desc: &PoolDesc) -> Self {
        let ranges = Ranges::reserve(desc.size, desc.flags.cpu_visible());
        let table = Arc::new(VirtualPool::new(id, desc.size, alloc::host_page_size(), ranges.span()));
        let view = GuestView::default();
        let state = State { ranges, imports: Vec::new(), stale: Vec::new(), leaving: Vec::new(), view };
        Self { table, state: Mutex::new(state) }
    }

    /// Carries out the requests of one call; whether NVN took all of them.
    pub(super) fn map(&self, driver: &Driver, pools: &Pools, requests: &[MapRequest]) -> bool {
        let queue = driver.context.queue();
        let mut waited = false;
        loop {
            let plan = self.table.plan(requests, |id| pools.mappable(id));
            for refusal in plan.refused() {
                fault!(
                    key = self.table.id().0 << 32 ^ refusal.request.virtual_offset,
                    "B108",
                    "nvnMemoryPoolMapVirtual of pool {}: {refusal}; left out, answers false",
                    self.table.id().0
                );
            }
            let all = plan.refused().is_empty();
            if plan.is_empty() {
                return all;
            }
            // Pages that submitted work may reach are replaced only when it has ended (B111).
            let replaces = !plan.waits_for().is_empty()
                || requests.iter().any(|request| self.replaces(request) || self.is_leaving(request));
            if replaces && !waited {
                driver::wait_for(driver, u64::MAX);
                pools.waits.count();
                waited = true;
            }
            let after = queue.submitted();
            let mut state = self.state.lock();
            let stale = plan.stale_imports().to_vec();
            state.retire(&stale, after);
            state.end_stale(&self.table, queue.completed());
            let committed = state.commit(&self.table, pools, |host| self.table.commit(plan, after, host));
            match committed {
                Ok(committed) => {
                    if committed.became_alias {
                        state.view.end(pools);
                        state.ranges.give_back();
                    }
                    self.changed(driver, pools, &mut state, committed.changed, after);
                    state.release(&self.table, driver, pools, queue.completed());
                    return all;
                }
                Err(CommitError::Overtaken) => {}
                // An import that was made since, or that submitted work still uses.
                Err(CommitError::Imported) => waited = false,
            }
        }
    }

    /// Whether a request puts pages where there are some.
    fn replaces(&self, request: &MapRequest) -> bool {
        request.physical.is_some()
            && self.table.spans(request.virtual_offset, request.size).any(|span| span.source.is_some())
    }

    /// Brings what a mapping changed into the page table: at once, but unmapped pages when the GPU is done (B111).
    fn changed(&self, driver: &Driver, pools: &Pools, state: &mut State, changed: Vec<Range<u64>>, after: u64) {
        pools.mappings.fetch_add(1, Ordering::AcqRel);
        for range in changed {
            let unmapped = self.table.spans(range.start, range.end - range.start).any(|span| span.source.is_none());
            if unmapped && after > driver.context.queue().completed() {
                state.leaving.push((after, range.clone()));
            } else {
                pools.republish(&driver.context, &self.table, range);
            }
        }
    }

    /// Whether bytes on the same big pages wait to be taken out of the page table.
    fn is_leaving(&self, request: &MapRequest) -> bool {
        let end = request.virtual_offset.saturating_add(request.size);
        let big = |range: &Range<u64>| range.start - range.start % BIG_PAGE..range.end.next_multiple_of(BIG_PAGE);
        self.state
            .lock()
            .leaving
            .iter()
            .map(|(_, range)| big(range))
            .any(|range| range.start < end && request.virtual_offset < range.end)
    }

    /// Does what waited for submissions up to `completed`.
    pub(super) fn collect(&self, driver: &Driver, pools: &Pools, completed: u64) {
        // Whoever holds it looks again when it is through.
        let Some(mut state) = self.state.try_lock() else { return };
        state.release(&self.table, driver, pools, completed);
    }

    /// Takes every page of a physical pool out, because its memory goes.
    pub(super) fn lose(&self, driver: &Driver, pools: &Pools, physical: PoolId) {
        while let Some(plan) = self.table.plan_without(physical) {
            driver::wait_for(driver, u64::MAX);
            let after = driver.context.queue().submitted();
            let mut state = self.state.lock();
            let stale = plan.stale_imports().to_vec();
            state.retire(&stale, after);
            state.end_stale(&self.table, driver.context.queue().completed());
            let committed = state.commit(&self.table, pools, |host| self.table.commit(plan, after, host));
            if let Ok(committed) = committed {
                self.changed(driver, pools, &mut state, committed.changed, after);
                state.release(&self.table, driver, pools, driver.context.queue().completed());
            }
        }
    }

    /// The pool is finalized: waits for submitted work if anything is mapped (B111), and gives the ranges back.
    pub(super) fn end(&self, driver: &Driver, pools: &Pools) {
        if self.table.mapped_bytes() > 0 {
            driver::wait_for(driver, u64::MAX);
            pools.waits.count();
        }
        let mut state = self.state.lock();
        state.imports.clear();
        driver.context.queue().collect();
        state.view.end(pools);
        state.ranges.give_back();
    }

    /// The buffer range of `size` bytes at `offset`, of which only a first part lies side by side in `memory`, a
    /// physical pool: from the GPU's range, imported. `None` when that has no more of them.
    pub(super) fn side_by_side(
        &self,
        context: &Arc<Context>,
        offset: u64,
        size: u64,
        memory: Mapped,
        mirrored: bool,
    ) -> Option<BufferRange> {
        let size = size.min(self.table.size().checked_sub(offset)?);
        let visible = self.table.visible(offset, size);
        // Mirrors are of physical pools: one of scattered pages would not know of theirs.
        if visible > memory.remaining && !mirrored {
            return self.import_part(context, offset, visible);
        }
        if matches!(self.table.resolve(offset.checked_add(memory.remaining)?, 1), Some(Resolved::Mapped { .. })) {
            fault!(
                key = self.table.id().0,
                "B109",
                "{size:#x} bytes at {offset:#x} of virtual pool {} are scattered over physical pools whose memory is no memfd, or that are mirrored: only {:#x} are bound",
                self.table.id().0,
                memory.remaining
            );
        }
        None
    }

    fn import_part(&self, context: &Arc<Context>, offset: u64, size: u64) -> Option<BufferRange> {
        let mut state = self.state.lock();
        let holds = |import: &&Import| import.range.start <= offset && offset + size <= import.range.end;
        if let Some(import) = state.imports.iter().find(holds) {
            return Some(import.buffer.range(offset - import.range.start, size));
        }
        // At least a stride of what is mapped around, so that neighbouring binds share it.
        const STRIDE: u64 = 1 << 20;
        let start = offset - offset % STRIDE;
        let start = if self.table.visible(start, offset - start) == offset - start { start } else { offset };
        let end = (offset + size).next_multiple_of(STRIDE);
        let len = self.table.visible(start, end - start);
        if start + len < offset + size {
            return None;
        }
        let id = self.table.begin_import(start, len)?;
        let storage = PoolStorage::new(state.ranges.gpu(start)?, len);
        let name = format!("virtual pool {} +{start:#x}", self.table.id().0);
        // SAFETY: the bytes are mapped and visible in the range, and `begin_import` keeps them so until the import has
        // ended, which waits for the GPU.
        match unsafe { PoolBuffer::new(context, &storage, PoolAccess::Shared, &name) } {
            Ok(buffer) => {
                let range = buffer.range(offset - start, size);
                state.imports.push(Import { id, range: start..start + len, buffer });
                Some(range)
            }
            Err(e) => {
                self.table.end_import(id);
                fault!(key = self.table.id().0, "B109", "a part of {name} cannot be imported: {e}");
                None
            }
        }
    }

    /// Where the guest sees the pool, if it can.
    pub(super) fn cpu_address(&self, pools: &Pools) -> Option<u64> {
        match self.table.give_out() {
            Kind::Alias { physical, offset } => pools.entry(physical)?.pool.host(offset, self.table.size()),
            _ => {
                let mut state = self.state.lock();
                let base = state.ranges.guest()?;
                state.view.hand_out(pools, &self.table, base);
                Some(base)
            }
        }
    }

    /// Looks at what the guest writes through its range.
    pub(super) fn with_guest_view(&self, look: impl FnOnce(&mut GuestView)) {
        look(&mut self.state.lock().view);
    }

    /// The host address of `size` bytes at `offset` that are scattered over physical pools, for the driver's own
    /// accesses.
    pub(super) fn host_side_by_side(&self, offset: u64, size: u64) -> Option<u64> {
        if self.table.visible(offset, size) < size {
            return None;
        }
        self.state.lock().ranges.gpu(offset).map(|pointer| pointer as u64)
    }

    /// Whether pages of a physical pool are mapped.
    fn shows(&self, physical: PoolId) -> bool {
        self.table.plan_without(physical).is_some()
    }

    /// Imports of the GPU's range.
    pub(super) fn imports(&self) -> usize {
        self.state.lock().imports.len()
    }
}

impl State {
    /// Has a commit change the ranges' pages.
    fn commit<T>(&mut self, table: &VirtualPool, pools: &Pools, commit: impl FnOnce(&mut Host<'_>) -> T) -> T {
        let committed = commit(&mut Host { ranges: &self.ranges, pools, view: &mut self.view });
        self.view.watch(pools, table);
        committed
    }

    /// Nothing new uses these imports; what was submitted may until `after` has ended.
    fn retire(&mut self, ids: &[ImportId], after: u64) {
        self.imports.retain(|import| {
            let stale = ids.contains(&import.id);
            if stale {
                self.stale.push((after, import.id));
            }
            !stale
        });
    }

    fn end_stale(&mut self, table: &VirtualPool, completed: u64) {
        self.stale.retain(|(after, id)| {
            let ended = *after <= completed;
            if ended {
                table.end_import(*id);
            }
            !ended
        });
    }

    fn release(&mut self, table: &VirtualPool, driver: &Driver, pools: &Pools, completed: u64) {
        self.end_stale(table, completed);
        for (_, range) in self.leaving.extract_if(.., |(after, _)| *after <= completed) {
            // What has been mapped there since stays.
            pools.republish(&driver.context, table, range);
        }
        if table.unreleased() > 0 {
            self.commit(table, pools, |host| table.release(completed, host));
        }
    }
}

impl Pools {
    /// What a mapping has to know of a physical pool; `None` for one that cannot be mapped.
    fn mappable(&self, id: PoolId) -> Option<Physical> {
        let entry = self.entry(id).filter(|entry| !entry.finalized.load(Ordering::Acquire))?;
        let physical = entry.physical()?;
        let size = entry.pool.size();
        Some(Physical { size, file_offset: physical.backing().map(alloc::Backing::file_offset) })
    }

    /// A virtual pool's requests; false for what NVN refuses.
    pub(super) fn map_virtual(&self, driver: &Driver, id: u32, mappings: &[Mapping]) -> bool {
        let Some(entry) = self.get(id) else { return false };
        let Some(pool) = entry.virtual_pool() else {
            fault!(
                key = id,
                "B108",
                "nvnMemoryPoolMapVirtual with {} requests for pool {id}, which is not virtual; answers false",
                mappings.len()
            );
            return false;
        };
        let requests: Vec<MapRequest> = mappings
            .iter()
            .map(|mapping| MapRequest {
                physical: mapping.physical.map(|id| (PoolId(u64::from(id)), mapping.physical_offset)),
                virtual_offset: mapping.virtual_offset,
                size: mapping.size,
            })
            .collect();
        if self.log_mappings {
            for request in &requests {
                tracing::info!("virtual pool {id}: {request:x?} [B113]");
            }
        }
        let taken = pool.map(driver, self, &requests);
        self.drop_unmapped(driver);
        taken
    }

    /// The memory of a finalized physical pool of which virtual pools show pages: kept as long as they do when it is
    /// Navin's to keep, else taken out of them. Whether it is kept.
    pub(super) fn pages_go(&self, driver: &Driver, id: PoolId, physical: &Storage) -> bool {
        let mut users = self.virtual_entries();
        users.retain(|entry| entry.virtual_pool().is_some_and(|pool| pool.shows(id)));
        if users.is_empty() {
            return false;
        }
        if physical.backing().is_some() {
            self.kept.lock().push(id);
            return true;
        }
        for pool in users.iter().filter_map(|entry| entry.virtual_pool()) {
            fault!(
                key = id.0,
                "B108",
                "memory pool {} is finalized while virtual pool {} shows pages of it: they read 0 from now on",
                id.0,
                pool.table.id().0
            );
            pool.lose(driver, self, id);
        }
        false
    }

    /// Lets finalized physical pools go that no virtual pool shows any more.
    fn drop_unmapped(&self, driver: &Driver) {
        if self.kept.lock().is_empty() {
            return;
        }
        let users = self.virtual_entries();
        let shown = |id| users.iter().any(|entry| entry.virtual_pool().is_some_and(|pool| pool.shows(id)));
        let gone: Vec<PoolId> = self.kept.lock().extract_if(.., |id| !shown(*id)).collect();
        if !gone.is_empty() {
            driver::wait_for(driver, u64::MAX);
            for id in gone {
                self.mirror_ends(driver, id, u64::MAX);
                self.entries.write().remove(&id);
            }
        }
    }
}

/// Reserved host addresses of a virtual pool.
struct Ranges {
    /// Where the GPU's imports of scattered pages are made; never write-protected.
    gpu: Option<HostReservation>,
    /// What the guest sees.
    guest: Option<HostReservation>,
}

impl Ranges {
    /// Reserves inaccessible ranges of the pool's size; a host without room for them has none.
    fn reserve(size: u64, guest: bool) -> Self {
        let reserve = || {
            HostReservation::new(size)
                .inspect_err(|e| tracing::warn!("no {size:#x} bytes of addresses for a virtual pool: {e} [B109]"))
                .ok()
        };
        Self { gpu: reserve(), guest: if guest { reserve() } else { None } }
    }

    /// Bytes in which pages can be shown.
    fn span(&self) -> u64 {
        self.gpu.as_ref().map_or(0, HostReservation::len)
    }

    fn gpu(&self, offset: u64) -> Option<*mut u8> {
        self.gpu.as_ref().map(|range| range.base().as_ptr().wrapping_add(offset as usize))
    }

    fn guest(&self) -> Option<u64> {
        self.guest.as_ref().map(|range| range.base().as_ptr() as u64)
    }

    /// Ends both; no import over them is left.
    fn give_back(&mut self) {
        *self = Self { gpu: None, guest: None };
    }

    fn both(&self) -> impl Iterator<Item = &HostReservation> {
        self.gpu.iter().chain(&self.guest)
    }
}

/// Carries out what a commit decides.
struct Host<'a> {
    ranges: &'a Ranges,
    pools: &'a Pools,
    view: &'a mut GuestView,
}

impl HostMemory for Host<'_> {
    fn map(&mut self, offset: u64, size: u64, pool: PoolId, file_offset: u64) -> io::Result<()> {
        let entry = self.pools.entry(pool);
        let backing = entry.as_ref().and_then(|entry| entry.physical()?.backing());
        let file = backing.ok_or(io::ErrorKind::NotFound)?.file();
        self.view.change(self.pools, offset..offset + size);
        self.ranges.both().try_for_each(|range| range.map(offset, size, file, file_offset))
    }

    fn unmap(&mut self, offset: u64, size: u64) -> io::Result<()> {
        self.view.change(self.pools, offset..offset + size);
        self.ranges.both().try_for_each(|range| range.unmap(offset, size))
    }
}
