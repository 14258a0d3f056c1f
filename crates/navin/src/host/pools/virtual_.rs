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
    CommitError, HostMemory, ImportId, Kind, MapRequest, Physical, Plan, Resolved, VirtualPool,
};
use navin_memory::{BIG_PAGE, Mapping as Mapped, PoolDesc, PoolId};
use navin_vulkan::{Backing, BufferRange, Context, PoolBuffer, PoolStorage, Refusals};
use parking_lot::Mutex;
use smallvec::SmallVec;

use super::guest_view::GuestView;
use super::physical::Physical as Storage;
use super::{Mapping, Pools};
use crate::driver::{self, Driver};
use crate::hooks::{self, Place};

/// A pool without storage of its own.
pub(crate) struct Virtual {
    pub(crate) table: Arc<VirtualPool>,
    /// Whether the CPU is to see the pages.
    guest: bool,
    state: Mutex<State>,
}

struct State {
    ranges: Ranges,
    /// Imports of parts of the GPU's range.
    imports: Vec<Import>,
    /// Imports that nothing new uses, each until a [moment](super::replays) is reached.
    stale: Vec<(u64, Import)>,
    /// Parts of the pool whose page-table entries go once a moment is reached (B111).
    leaving: Vec<(u64, Range<u64>)>,
    /// What the guest writes through its range.
    view: GuestView,
    /// Whether the driver has refused a part for good.
    refusals: Refusals,
}

struct Import {
    id: ImportId,
    /// Bytes of the pool.
    range: Range<u64>,
    buffer: PoolBuffer,
    /// The physical pools whose pages they are.
    pools: SmallVec<[PoolId; 4]>,
}

impl Import {
    /// Destroys it. Its moment has been reached: no work that found it is replayed or under way.
    fn end(self, table: &VirtualPool) {
        // SAFETY: as said; nothing finds an import that is in no list.
        unsafe { self.buffer.end() };
        table.end_import(self.id);
    }
}

/// Imports are joined up to this size, so that making one anew stays cheap.
const JOINED: u64 = 256 << 20;

impl Virtual {
    /// A pool with nothing mapped (B114: every one has its range from the beginning).
    pub(super) fn new(id: PoolId, desc: &PoolDesc) -> Self {
        let guest = desc.flags.cpu_visible();
        let ranges = Ranges::reserve(desc.size, guest);
        let table = Arc::new(VirtualPool::new(id, desc.size, hooks::host_page(alloc::host_page_size()), ranges.span()));
        let view = GuestView::default();
        let state = State {
            ranges,
            imports: Vec::new(),
            stale: Vec::new(),
            leaving: Vec::new(),
            view,
            refusals: Refusals::Outlived,
        };
        Self { table, guest, state: Mutex::new(state) }
    }

    /// Carries out the requests of one call; whether NVN took all of them.
    pub(super) fn map(&self, driver: &Driver, pools: &Pools, requests: &[MapRequest]) -> bool {
        let (mut waited, mut settled) = (false, false);
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
            if self.leaves_alias(pools, plan.kind()) {
                continue;
            }
            // Pages that submitted work may reach are replaced only when it has ended (B111).
            let replaces = !plan.waits_for().is_empty()
                || requests.iter().any(|request| self.replaces(request) || self.is_leaving(request, requests));
            if replaces && !waited {
                driver::wait_for_all(driver);
                pools.waits.count();
                (waited, settled) = (true, true);
            } else if !settled && requests.iter().any(|request| self.has_pages(request)) {
                // What was submitted before finds what is mapped now.
                driver.settle();
                settled = true;
            }
            hooks::reach(Place::Mapping);
            match self.commit(driver, pools, plan) {
                Ok(()) => {
                    self.name_unseen(pools, requests);
                    return all;
                }
                Err(CommitError::Overtaken) => {}
                // An import that was made since, or that submitted work still uses.
                Err(CommitError::Imported) => waited = false,
            }
        }
    }

    /// Carries out a plan.
    fn commit(&self, driver: &Driver, pools: &Pools, plan: Plan) -> Result<(), CommitError> {
        let mut state = self.state.lock();
        // From here on no bind finds an import that is not in the list: whatever does not, did before this moment.
        let (moment, reached) = (pools.replays.now(), pools.reached(driver));
        let stale = plan.stale_imports().to_vec();
        state.retire(moment, |import| stale.contains(&import.id));
        state.end_stale(&self.table, reached);
        let committed = state.commit(&self.table, pools, |host| self.table.commit(plan, moment, host));
        let committed = committed.inspect_err(|_| pools.waiting.store(true, Ordering::Release))?;
        // Those that were made after the plan was.
        let over = |import: &Import| {
            let changed = &committed.changed;
            changed.iter().any(|range| range.start < import.range.end && import.range.start < range.end)
        };
        state.retire(moment, over);
        if committed.became_alias {
            state.view.end(pools);
            state.ranges.give_back();
        }
        self.changed(driver, pools, &mut state, committed.changed, moment);
        if state.release(&self.table, driver, pools, reached) {
            pools.waiting.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// An alias that is to be something else gets its range again (B114); whether it did, and plans are to be made anew.
    fn leaves_alias(&self, pools: &Pools, kind: Kind) -> bool {
        let is_alias = |kind| matches!(kind, Kind::Alias { .. });
        if !is_alias(self.table.kind()) || is_alias(kind) {
            return false;
        }
        let mut state = self.state.lock();
        if state.ranges.span() > 0 {
            return false;
        }
        state.ranges = Ranges::reserve(self.table.size(), self.guest);
        let span = state.ranges.span();
        state.commit(&self.table, pools, |host| self.table.attach(span, host));
        span > 0
    }

    /// Whether anything is mapped where a request goes.
    fn has_pages(&self, request: &MapRequest) -> bool {
        self.table.spans(request.virtual_offset, request.size).any(|span| span.source.is_some())
    }

    /// Whether a request puts pages where there are some.
    fn replaces(&self, request: &MapRequest) -> bool {
        request.physical.is_some() && self.has_pages(request)
    }

    /// Brings what a mapping changed into the page table: at once, but unmapped pages when the GPU is done (B111).
    fn changed(&self, driver: &Driver, pools: &Pools, state: &mut State, changed: Vec<Range<u64>>, moment: u64) {
        pools.mappings.fetch_add(1, Ordering::AcqRel);
        for range in changed {
            let unmapped = self.table.spans(range.start, range.end - range.start).any(|span| span.source.is_none());
            if unmapped && moment > pools.reached(driver) {
                state.leaving.push((moment, range.clone()));
            } else {
                pools.republish(&driver.context, &self.table, range);
            }
        }
    }

    /// Whether bytes on the same big pages wait to be taken out of the page table, or are to by this very call of
    /// `requests`: a big page is written whole.
    fn is_leaving(&self, request: &MapRequest, requests: &[MapRequest]) -> bool {
        let bytes = |request: &MapRequest| {
            request.virtual_offset..request.virtual_offset.saturating_add(request.size).min(self.table.size())
        };
        let own = bytes(request);
        let shares = |range: &Range<u64>| {
            range.start - range.start % BIG_PAGE < own.end && own.start < range.end.next_multiple_of(BIG_PAGE)
        };
        let goes = |other: &MapRequest| other.physical.is_none() && shares(&bytes(other)) && self.has_pages(other);
        request.physical.is_some() && requests.iter().any(goes)
            || self.state.lock().leaving.iter().any(|(_, range)| shares(range))
    }

    /// Whether host addresses that the pool shows its pages at lie in a range.
    pub(super) fn shows_at(&self, range: &Range<u64>) -> bool {
        self.state.lock().ranges.both().any(|own| {
            let start = own.base().as_ptr() as u64;
            start < range.end && range.start < start.saturating_add(own.len())
        })
    }

    /// Does what waited for moments up to `reached`; whether anything still waits.
    pub(super) fn collect(&self, driver: &Driver, pools: &Pools, reached: u64) -> bool {
        self.state.lock().release(&self.table, driver, pools, reached)
    }

    /// Takes every page of a physical pool out, because its memory goes.
    pub(super) fn lose(&self, driver: &Driver, pools: &Pools, physical: PoolId) {
        while let Some(plan) = self.table.plan_without(physical) {
            if self.leaves_alias(pools, plan.kind()) {
                continue;
            }
            driver::wait_for_all(driver);
            // Overtaken: once more.
            let _ = self.commit(driver, pools, plan);
        }
    }

    /// Whether work that is replayed or under way may use the pool's pages.
    pub(super) fn is_used(&self) -> bool {
        let table = &self.table;
        table.mapped_bytes() > 0
            || table.imports() > 0
            || table.unreleased() > 0
            || !self.state.lock().leaving.is_empty()
    }

    /// Whether entries of the page table wait to be taken out.
    pub(super) fn is_leaving_anything(&self) -> bool {
        !self.state.lock().leaving.is_empty()
    }

    /// The pool is finalized, and nothing uses its pages any more: its ranges go.
    pub(super) fn end(&self, pools: &Pools) {
        let mut state = self.state.lock();
        state.retire(0, |_| true);
        state.end_stale(&self.table, u64::MAX);
        state.leaving.clear();
        state.view.end(pools);
        state.ranges.give_back();
    }

    /// Takes out of the page table what waits to be: the work that it waited for has ended.
    pub(super) fn let_go(&self, driver: &Driver, pools: &Pools) {
        let mut state = self.state.lock();
        for (_, range) in std::mem::take(&mut state.leaving) {
            pools.republish(&driver.context, &self.table, range);
        }
    }

    /// The buffer range of `size` bytes at `offset`, of which only a first part lies side by side in `memory`, a
    /// physical pool, for submission `submission`: from the GPU's range, imported. `None` when that has no more of them.
    pub(super) fn side_by_side(
        &self,
        pools: &Pools,
        context: &Arc<Context>,
        (offset, size): (u64, u64),
        memory: Mapped,
        submission: u64,
    ) -> Option<BufferRange> {
        let size = size.min(self.table.size().checked_sub(offset)?);
        let visible = self.table.visible(offset, size);
        if visible > memory.remaining
            && let Some(range) = self.import_part(pools, context, offset, visible, submission)
        {
            hooks::reach(Place::Scattered);
            return Some(range);
        }
        if matches!(self.table.resolve(offset.checked_add(memory.remaining)?, 1), Some(Resolved::Mapped { .. })) {
            fault!(
                key = self.table.id().0,
                "B109",
                "{size:#x} bytes at {offset:#x} of virtual pool {} are scattered over physical pools whose memory is no memfd, or of which the GPU has copies: only {:#x} are bound",
                self.table.id().0,
                memory.remaining
            );
        }
        None
    }

    fn import_part(
        &self,
        pools: &Pools,
        context: &Arc<Context>,
        offset: u64,
        size: u64,
        submission: u64,
    ) -> Option<BufferRange> {
        let mut state = self.state.lock();
        let holds = |import: &&Import| import.range.start <= offset && offset + size <= import.range.end;
        if let Some(import) = state.imports.iter().find(holds) {
            pools.used_by(&import.pools, submission);
            return Some(import.buffer.range(offset - import.range.start, size));
        }
        // At least a stride of what is mapped around, so that neighbouring binds share it.
        const STRIDE: u64 = 1 << 20;
        let start = offset - offset % STRIDE;
        let mut start = if self.table.visible(start, offset - start) == offset - start { start } else { offset };
        let mut end = (offset + size).next_multiple_of(STRIDE);
        end = start + self.table.visible(start, end - start);
        if end < offset + size {
            return None;
        }
        // Those that it overlaps are taken in: all their bytes are visible.
        let joined = |import: &Import, start: u64, end: u64| (import.range.start.min(start), import.range.end.max(end));
        while let Some(wider) = state
            .imports
            .iter()
            .filter(|import| import.range.start < end && start < import.range.end)
            .map(|import| joined(import, start, end))
            .find(|&(from, to)| (from, to) != (start, end) && to - from <= JOINED)
        {
            (start, end) = wider;
        }
        let mut owners = SmallVec::<[PoolId; 4]>::new();
        for (pool, _) in self.table.spans(start, end - start).filter_map(|span| span.source) {
            if !owners.contains(&pool) {
                owners.push(pool);
            }
        }
        // An import of the storage would not know of a copy that the GPU has of it.
        if owners.iter().any(|owner| pools.has_copy(context, *owner)) {
            return None;
        }
        let id = self.table.begin_import(start, end - start)?;
        let backing = Backing::Scattered;
        let storage = PoolStorage { backing, ..PoolStorage::new(state.ranges.gpu(start)?, end - start) };
        let name = format!("virtual pool {} +{start:#x}", self.table.id().0);
        // SAFETY: the bytes are mapped and visible in the range, and `begin_import` keeps them so until the import has
        // ended, which waits for the GPU.
        match unsafe { PoolBuffer::import(context, &storage, state.refusals, &name) } {
            Ok(buffer) => {
                let range = buffer.range(offset - start, size);
                pools.used_by(&owners, submission);
                state.retire(pools.replays.now(), |import| start <= import.range.start && import.range.end <= end);
                if !state.stale.is_empty() {
                    pools.waiting.store(true, Ordering::Release);
                }
                state.refusals = Refusals::Outlived;
                state.imports.push(Import { id, range: start..end, buffer, pools: owners });
                Some(range)
            }
            Err(e) => {
                self.table.end_import(id);
                state.refusals = Refusals::Believed;
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
                // Where all that is mapped lies in no memfd there is nothing to be seen.
                let seen = state.view.is_handed_out() || self.table.mapped_bytes() == 0 || self.shows_anything();
                if !seen {
                    return None;
                }
                state.view.hand_out(pools, &self.table, base);
                Some(base)
            }
        }
    }

    /// Whether the CPU sees any mapped page.
    fn shows_anything(&self) -> bool {
        self.table.run_list().any(|run| {
            let spans = self.table.spans(run.start, run.end - run.start);
            spans.into_iter().any(|span| self.table.visible(span.offset, 1) > 0)
        })
    }

    /// Names pages that the guest, which has the pool's CPU address, does not see there.
    fn name_unseen(&self, pools: &Pools, requests: &[MapRequest]) {
        if !self.guest || !self.state.lock().view.is_handed_out() {
            return;
        }
        let unseen = requests.iter().filter(|request| self.table.visible(request.virtual_offset, 1) == 0);
        let owner = unseen.filter_map(|request| request.physical).map(|(owner, _)| owner);
        let no_file = |owner: &PoolId| {
            pools.entry(*owner).is_some_and(|entry| entry.physical().is_some_and(|p| p.backing().is_none()))
        };
        if let Some(owner) = owner.into_iter().find(no_file) {
            fault!(
                key = self.table.id().0,
                "B109",
                "pages of memory pool {}, which lies in no memfd, are mapped into virtual pool {}: the GPU sees them, the CPU does not at the address that nvnMemoryPoolMap gave",
                owner.0,
                self.table.id().0
            );
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
        self.table.shows(physical)
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

    /// Nothing new uses these imports; what has found them may, until `moment` is reached.
    fn retire(&mut self, moment: u64, stale: impl Fn(&Import) -> bool) {
        self.stale.extend(self.imports.extract_if(.., |import| stale(import)).map(|import| (moment, import)));
    }

    fn end_stale(&mut self, table: &VirtualPool, reached: u64) {
        for (_, import) in self.stale.extract_if(.., |(moment, _)| *moment <= reached) {
            import.end(table);
        }
    }

    /// Does what waited for moments up to `reached`; whether anything still waits.
    fn release(&mut self, table: &VirtualPool, driver: &Driver, pools: &Pools, reached: u64) -> bool {
        self.end_stale(table, reached);
        for (_, range) in self.leaving.extract_if(.., |(moment, _)| *moment <= reached) {
            // What has been mapped there since stays.
            pools.republish(&driver.context, table, range);
        }
        if table.unreleased() > 0 {
            self.commit(table, pools, |host| table.release(reached, host));
        }
        !self.stale.is_empty() || !self.leaving.is_empty() || table.unreleased() > 0
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
    pub(super) fn drop_unmapped(&self, driver: &Driver) {
        if self.kept.lock().is_empty() {
            return;
        }
        let users = self.virtual_entries();
        let shown = |id| users.iter().any(|entry| entry.virtual_pool().is_some_and(|pool| pool.shows(id)));
        let gone: Vec<PoolId> = self.kept.lock().extract_if(.., |id| !shown(*id)).collect();
        if gone.is_empty() {
            return;
        }
        driver::wait_for_all(driver);
        for id in gone {
            let removed = self.entries.write().remove(&id);
            if let Some(entry) = removed {
                self.unreach(driver, &entry);
                self.mirror_ends(driver, id, u64::MAX);
                self.end_import(entry);
            }
        }
    }
}

/// Bytes that are tried where a pool's whole range cannot be had, most first.
const SHORTENED: [u64; 3] = [8 << 30, 1 << 30, 128 << 20];

/// Reserved host addresses of a virtual pool.
struct Ranges {
    /// Where the GPU's imports of scattered pages are made; never write-protected.
    gpu: Option<HostReservation>,
    /// What the guest sees.
    guest: Option<HostReservation>,
}

impl Ranges {
    /// Reserves inaccessible ranges of the pool's size, or of what a host with few addresses has: what lies behind them is
    /// in the page table alone (B118).
    fn reserve(size: u64, guest: bool) -> Self {
        let reserve = |bytes: u64| {
            let new = || HostReservation::new(bytes).ok().filter(|_| hooks::reserves(bytes));
            let gpu = new()?;
            Some(Self { gpu: Some(gpu), guest: if guest { Some(new()?) } else { None } })
        };
        let shortened = SHORTENED.into_iter().filter(|bytes| *bytes < size);
        let made = std::iter::once(size).chain(shortened).find_map(|bytes| Some((reserve(bytes)?, bytes)));
        match made {
            Some((ranges, bytes)) if bytes == size => ranges,
            Some((ranges, bytes)) => {
                tracing::warn!(
                    "a virtual pool of {size:#x} bytes gets {bytes:#x} of addresses: the host has no more [B109]"
                );
                ranges
            }
            None => {
                tracing::warn!("no {size:#x} bytes of addresses for a virtual pool, and no fewer [B109]");
                Self { gpu: None, guest: None }
            }
        }
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
