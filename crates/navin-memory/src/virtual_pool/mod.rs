//! Virtual pools: reserved GPU addresses that the guest fills with pages of physical pools (B108-B115, B118).
//!
//! What flows through: `nvnMemoryPoolMapVirtual` (guest thread) gives [`MapRequest`]s to [`VirtualPool::plan`], waits
//! for the GPU if the plan says so (B111), and [`commit`](VirtualPool::commit)s; the pool tells a [`HostMemory`] which
//! host pages show which memfd, and writes its 4 KB page table. The submit thread and the content rules read the
//! table without a lock: [`resolve`](VirtualPool::resolve) for binds, [`spans`](VirtualPool::spans) and
//! [`changed_since`](VirtualPool::changed_since) for textures.
//!
//! A mapped address is resolved to the physical pool's own memory, so a bind needs no import of the virtual pool
//! unless its bytes are scattered: then the driver imports that part of the CPU range, where the pages lie side by
//! side, and tells the pool ([`begin_import`](VirtualPool::begin_import)). So the number of runs is without limit
//! (B110): a run is no object, only a stretch of the table.
//!
//! - `table`: the page table.
//! - `plan`: requests, their checks, alias or sparse.
//! - `host`: the CPU range.

mod host;
mod plan;
mod table;

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{self, AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use host::{Host, Shown};
pub use host::{HostMemory, ImportId, MapWaits, NoHostMemory};
use plan::{HostPlan, Layers};
pub use plan::{MapError, MapRequest, Physical, Plan, Refusal};
use table::{Cell, Segments, Table, Word};

use crate::{PoolId, SMALL_PAGE};

/// What a virtual pool is (B114).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing has been mapped yet.
    Reserved,
    /// The whole pool is a part of one physical pool: the CPU address of its bytes is that pool's (B108).
    Alias {
        /// The physical pool.
        physical: PoolId,
        /// Where the virtual pool begins in it.
        offset: u64,
    },
    /// Mapped page by page, at its own range, for good.
    Sparse,
}

/// What lies at an offset of a virtual pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// `size` bytes, side by side in a physical pool.
    Mapped {
        /// The physical pool.
        pool: PoolId,
        /// Offset in it.
        offset: u64,
        /// Bytes from there on, at least 1, at most as many as asked for.
        size: u64,
    },
    /// Nothing: reads 0 (B113).
    Unmapped {
        /// Bytes with nothing from there on, at least 1, at most as many as asked for.
        size: u64,
    },
}

/// A stretch of a virtual pool and what is behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Offset in the virtual pool.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// Physical pool and offset in it; `None`: the bytes are 0.
    pub source: Option<(PoolId, u64)>,
}

/// Why a plan was not carried out; nothing has been changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// The pool has changed since the plan was made: make a new one.
    #[error("the virtual pool has changed since the plan was made")]
    Overtaken,
    /// An import still lies over host pages that would change (B111): make a new plan, which names it.
    #[error("an import still lies over pages that would change")]
    Imported,
}

/// What a commit has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The generation of the changed entries.
    pub generation: u64,
    /// The ranges of the virtual pool that changed, in bytes, ascending.
    pub changed: Vec<Range<u64>>,
    /// What the pool is now.
    pub kind: Kind,
    /// The commit made the pool an alias: its CPU range may be given back (B114).
    pub became_alias: bool,
    /// Bytes that could not be made visible in the CPU range though they lie in it and in a memfd.
    pub refused_by_host: u64,
}

struct State {
    kind: Kind,
    host: Host,
    /// Highest multiple of 128 MB that the log has told of.
    high_water: u64,
    /// Number of runs that the log has told of: a power of two.
    runs_told: u64,
}

/// One virtual pool. Changes from any thread, under its lock, which is a leaf of the lock order and is never held
/// across a wait; reading takes no lock.
pub struct VirtualPool {
    id: PoolId,
    size: u64,
    table: Table,
    state: Mutex<State>,
    /// Number of commits that changed pages. Written under the lock, after the pages.
    generation: AtomicU64,
    mapped_pages: AtomicU64,
    runs: AtomicU64,
    given_out: AtomicBool,
    /// A [`Kind`] without its fields, so that the common question takes no lock.
    decided: AtomicU8,
    noted: AtomicBool,
}

const RESERVED: u8 = 0;
const ALIAS: u8 = 1;
const SPARSE: u8 = 2;

/// From this many runs on the log gives their number (B110).
const MANY_RUNS: u64 = 1024;
/// The log gives the mapped bytes once for each of these (B109).
const HIGH_WATER: u64 = 128 << 20;

impl VirtualPool {
    /// A virtual pool of `size` bytes (whole 4 KB pages, less than 1 TB; see [`PoolDesc`](crate::PoolDesc)) with a
    /// CPU range of `host_span` bytes, 0 for none, on a host with pages of `host_page` bytes. What lies past the CPU
    /// range is served from the table alone (B118).
    pub fn new(id: PoolId, size: u64, host_page: u64, host_span: u64) -> Self {
        let page_count = |bytes: u64| u32::try_from(bytes / SMALL_PAGE).unwrap_or(0);
        let granule = page_count(host_page.next_power_of_two()).max(1);
        let pages = page_count(size.min(crate::ADDRESS_END));
        let span = page_count(host_span).min(pages.next_multiple_of(granule));
        Self {
            id,
            size: u64::from(pages) * SMALL_PAGE,
            table: Table::new(pages),
            state: Mutex::new(State {
                kind: Kind::Reserved,
                host: Host::new(granule, span),
                high_water: 0,
                runs_told: MANY_RUNS / 2,
            }),
            generation: AtomicU64::new(0),
            mapped_pages: AtomicU64::new(0),
            runs: AtomicU64::new(0),
            given_out: AtomicBool::new(false),
            decided: AtomicU8::new(RESERVED),
            noted: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic of a `HostMemory` leaves pages invisible to the CPU range, nothing worse.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its serial.
    pub fn id(&self) -> PoolId {
        self.id
    }

    /// Bytes reserved.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// What the pool is.
    pub fn kind(&self) -> Kind {
        match self.decided.load(Ordering::Acquire) {
            RESERVED => Kind::Reserved,
            SPARSE => Kind::Sparse,
            _ => self.lock().kind,
        }
    }

    /// Marks that an address of the pool's own range leaves Navin, which keeps it sparse (B115), and tells what the
    /// pool is: for an [`Alias`](Kind::Alias) the CPU address is the physical pool's. Each entry point of B115 calls
    /// this before it gives the address out.
    pub fn give_out(&self) -> Kind {
        if self.decided.load(Ordering::Acquire) == RESERVED && !self.given_out.load(Ordering::Acquire) {
            // Under the lock, so that no commit decides for the alias meanwhile.
            let state = self.lock();
            if state.kind == Kind::Reserved {
                self.given_out.store(true, Ordering::Release);
            }
            return state.kind;
        }
        self.kind()
    }

    /// Whether an address was given out before the first mapping.
    pub fn is_given_out(&self) -> bool {
        self.given_out.load(Ordering::Acquire)
    }

    /// Checks the requests of one call, in order (where they overlap the later one counts), and says what they mean.
    /// `physical` tells of the pools that may be mapped. Changes nothing.
    pub fn plan(&self, requests: &[MapRequest], physical: impl Fn(PoolId) -> Option<Physical>) -> Plan {
        let state = self.lock();
        let given_out = self.given_out.load(Ordering::Relaxed);
        let mut layers = Layers::new(state.kind);
        for (index, request) in requests.iter().enumerate() {
            tracing::debug!("virtual pool {}: request {index} of a call: {request:x?}", self.id.0);
            layers.add(index, *request, self.size, given_out, &physical);
        }
        self.finish_plan(&state, layers)
    }

    /// Whether pages of a physical pool are mapped here; costs one look-up.
    pub fn shows(&self, physical: PoolId) -> bool {
        self.lock().host.physical.contains_key(&physical)
    }

    /// The plan that takes every page of a physical pool out, because that pool goes; `None` when none is mapped
    /// here, which costs one look-up.
    pub fn plan_without(&self, physical: PoolId) -> Option<Plan> {
        let state = self.lock();
        if !state.host.physical.contains_key(&physical) {
            return None;
        }
        let mut layers = Layers::new(Kind::Sparse);
        for segment in self.table.segments(0, self.table.pages()) {
            if segment.word.is_mapped() && segment.word.pool() == physical {
                layers.lay(Cell { word: Word::NONE, ..segment });
            }
        }
        Some(self.finish_plan(&state, layers))
    }

    fn finish_plan(&self, state: &State, layers: Layers) -> Plan {
        let (kind, kept_sparse, refused, files) =
            (layers.kind, layers.kept_sparse, layers.refused.clone(), layers.files.clone());
        let alias = matches!(kind, Kind::Alias { .. });
        let mut pieces = layers.pieces(state.host.span);
        // An alias uses the physical pool's own addresses: nothing is to be seen in the range.
        let host = if alias { HostPlan::default() } else { state.host.plan(&self.table, &mut pieces, &files) };
        let waits_for = state.host.imports_over(host.maps.iter().map(|map| (map.first, map.count)));
        let mut stale = state.host.imports_over(pieces.iter().map(|piece| (piece.first, piece.count)));
        stale.extend(waits_for.iter().filter(|id| !stale.contains(id)).copied().collect::<Vec<_>>());
        Plan {
            base: self.generation.load(Ordering::Relaxed),
            pieces,
            files,
            kind,
            kept_sparse,
            host,
            waits_for,
            stale,
            refused,
        }
    }

    /// Carries a plan out: first the host pages, then the table, each page in one step (B112). Host pages that show
    /// nothing any more stay until moment `after` is reached (B111), a number that ascends: the driver's word for "what was
    /// looked up before the commit is used no more"; see
    /// [`release`](Self::release).
    ///
    /// # Errors
    /// [`CommitError`]; nothing is changed then.
    pub fn commit(&self, plan: Plan, after: u64, memory: &mut dyn HostMemory) -> Result<Committed, CommitError> {
        let mut state = self.lock();
        let becomes_alias = matches!(plan.kind, Kind::Alias { .. }) && state.kind == Kind::Reserved;
        if plan.base != self.generation.load(Ordering::Relaxed)
            || becomes_alias && self.given_out.load(Ordering::Relaxed)
        {
            return Err(CommitError::Overtaken);
        }
        let maps = plan.host.maps.iter().map(|map| (map.first, map.count));
        if !state.host.imports_over(maps).is_empty() {
            return Err(CommitError::Imported);
        }
        if plan.pieces.is_empty() {
            self.decide(&mut state, plan.kind);
            let generation = plan.base;
            return Ok(Committed {
                generation,
                changed: Vec::new(),
                kind: plan.kind,
                became_alias: false,
                refused_by_host: 0,
            });
        }
        if plan.kept_sparse {
            tracing::info!(
                "virtual pool {} gave out addresses before its first mapping, which covers it: it stays sparse [B115]",
                self.id.0
            );
        }

        let bytes = |pages: u32| u64::from(pages) * SMALL_PAGE;
        let mut refused = Vec::new();
        for map in &plan.host.maps {
            match memory.map(bytes(map.first), bytes(map.count), map.pool, map.file_page * SMALL_PAGE) {
                Ok(()) => state.host.keep(map.first, map.count),
                Err(e) => {
                    navin_abi::fault!(
                        key = self.id.0,
                        "B109",
                        "{:#x} bytes of virtual pool {} at {:#x} cannot be mapped into its CPU range ({e}); they are in the page table alone",
                        bytes(map.count),
                        self.id.0,
                        bytes(map.first)
                    );
                    refused.push((map.first, map.count));
                }
            }
        }

        let generation = plan.base + 1;
        for piece in &plan.pieces {
            self.write(&mut state, *piece, &plan.files, generation);
        }
        for &(first, count) in &plan.host.hidden {
            self.table.set_host(first, count, false);
        }
        for &(first, count) in &plan.host.visible {
            self.table.set_host(first, count, true);
        }
        for &(first, count) in &refused {
            self.table.set_host(first, count, false);
            // Whatever is there is not what the table says.
            state.host.unmap_after(first, count, after);
        }
        for &(first, count) in &plan.host.unmaps {
            state.host.unmap_after(first, count, after);
        }
        self.decide(&mut state, plan.kind);
        if becomes_alias {
            state.host.span = 0;
        }
        // After the pages: whoever reads this and then the pages sees them (or newer ones).
        self.generation.store(generation, Ordering::Release);
        self.tell(&mut state);
        Ok(Committed {
            generation,
            changed: plan.pieces.iter().map(|piece| bytes(piece.first)..bytes(piece.end())).collect(),
            kind: plan.kind,
            became_alias: becomes_alias,
            refused_by_host: refused.iter().map(|&(_, count)| bytes(count)).sum(),
        })
    }

    fn decide(&self, state: &mut State, kind: Kind) {
        state.kind = kind;
        let decided = match kind {
            Kind::Reserved => RESERVED,
            Kind::Alias { .. } => ALIAS,
            Kind::Sparse => SPARSE,
        };
        self.decided.store(decided, Ordering::Release);
    }

    /// Writes one piece into the table and keeps the books.
    fn write(&self, state: &mut State, piece: Cell, files: &[(PoolId, Option<u64>)], generation: u64) {
        let mut mapped = self.mapped_pages.load(Ordering::Relaxed);
        let starts = self.run_starts(piece);
        for old in self.table.segments(piece.first, piece.end()).filter(|old| old.word.is_mapped()) {
            mapped -= u64::from(old.count);
            let pool = old.word.pool();
            if let Some(shown) = state.host.physical.get_mut(&pool) {
                shown.pages -= u64::from(old.count);
                if shown.pages == 0 {
                    state.host.physical.remove(&pool);
                }
            }
        }
        self.table.set(piece.first, piece.count, piece.word, generation);
        if piece.word.is_mapped() {
            mapped += u64::from(piece.count);
            let pool = piece.word.pool();
            let file_page = files.iter().find(|(known, _)| *known == pool).and_then(|(_, page)| *page);
            let shown = state.host.physical.entry(pool).or_insert(Shown { file_page, pages: 0 });
            shown.pages += u64::from(piece.count);
            shown.file_page = file_page;
        }
        self.mapped_pages.store(mapped, Ordering::Relaxed);
        let runs = self.runs.load(Ordering::Relaxed) + self.run_starts(piece) - starts;
        self.runs.store(runs, Ordering::Relaxed);
    }

    /// How many runs begin in the pages of the piece or directly behind it.
    fn run_starts(&self, piece: Cell) -> u64 {
        let end = piece.end().saturating_add(1).min(self.table.pages());
        let mut before = piece.first > 0 && self.table.get(piece.first - 1).is_mapped();
        let mut starts = 0;
        for cell in self.table.cells(piece.first, end) {
            starts += u64::from(cell.word.is_mapped() && !before);
            before = cell.word.is_mapped();
        }
        starts
    }

    /// The log lines of B109 and B110.
    fn tell(&self, state: &mut State) {
        let (mapped, runs) = (self.mapped_bytes(), self.runs());
        if mapped / HIGH_WATER > state.high_water / HIGH_WATER {
            state.high_water = mapped;
            tracing::info!("virtual pool {}: {} MB are mapped [B109]", self.id.0, mapped >> 20);
        }
        if runs >= state.runs_told * 2 {
            state.runs_told = 1 << runs.ilog2();
            tracing::info!("virtual pool {}: {} runs [B110]", self.id.0, state.runs_told);
        }
    }

    /// Makes inaccessible what was unmapped at moments up to `reached`, unless it shows something again or an
    /// import lies over it (B111). Bytes that went.
    pub fn release(&self, reached: u64, memory: &mut dyn HostMemory) -> u64 {
        let mut state = self.lock();
        let mut bytes = 0;
        for (first, count) in state.host.due(reached) {
            let size = u64::from(count) * SMALL_PAGE;
            match memory.unmap(u64::from(first) * SMALL_PAGE, size) {
                Ok(()) => bytes += size,
                // Tried again at the next release.
                Err(_) => state.host.unmap_after(first, count, reached),
            }
        }
        bytes
    }

    /// Bytes that wait to become inaccessible.
    pub fn unreleased(&self) -> u64 {
        self.lock().host.pending_pages() * SMALL_PAGE
    }

    /// Gives the pool a CPU range of `span` bytes, in place of the one it had, and makes visible in it what is
    /// mapped: for a pool that was an alias and becomes sparse. No import may lie over the old one. Bytes that are
    /// visible afterwards.
    pub fn attach(&self, span: u64, memory: &mut dyn HostMemory) -> u64 {
        let mut state = self.lock();
        let granule = state.host.granule;
        let pages = self.table.pages();
        let span = u32::try_from(span / SMALL_PAGE).unwrap_or(u32::MAX).min(pages.next_multiple_of(granule));
        state.host.span = span - span % granule;
        // What was to go from the range that it had went with it.
        state.host.keep(0, pages.next_multiple_of(granule));
        self.table.set_host(0, pages, false);
        let mut whole = Layers::new(state.kind);
        for segment in self.table.segments(0, pages).filter(|segment| segment.word.is_mapped()) {
            whole.lay(segment);
        }
        let mut pieces = whole.pieces(state.host.span);
        let plan = state.host.plan(&self.table, &mut pieces, &[]);
        let mut bytes = 0;
        for map in &plan.maps {
            let size = u64::from(map.count) * SMALL_PAGE;
            let mapped = memory.map(u64::from(map.first) * SMALL_PAGE, size, map.pool, map.file_page * SMALL_PAGE);
            if mapped.is_ok() {
                self.table.set_host(map.first, map.count, true);
                state.host.keep(map.first, map.count);
                bytes += size;
            }
        }
        bytes
    }

    /// Registers an import of `size` bytes of the CPU range at `offset`, which keeps its host pages until
    /// [`end_import`](Self::end_import). `None` unless all the bytes are mapped and visible there.
    pub fn begin_import(&self, offset: u64, size: u64) -> Option<ImportId> {
        let mut state = self.lock();
        if size == 0 || self.visible(offset, size) < size {
            return None;
        }
        // Inside the pool, so the pages fit; out to whole host pages, as the import is.
        let granule = u64::from(state.host.granule) * SMALL_PAGE;
        let first = offset - offset % granule;
        let count = (offset + size).next_multiple_of(granule) - first;
        Some(state.host.begin_import((first / SMALL_PAGE) as u32, (count / SMALL_PAGE) as u32))
    }

    /// The import is gone, and nothing submitted uses it.
    pub fn end_import(&self, id: ImportId) {
        self.lock().host.end_import(id);
    }

    /// Imports that have begun and not ended.
    pub fn imports(&self) -> usize {
        self.lock().host.live_imports()
    }

    /// How many of the `size` bytes at `offset` are mapped and visible in the CPU range without a gap.
    pub fn visible(&self, offset: u64, size: u64) -> u64 {
        let Some((first, end)) = self.pages(offset, size) else { return 0 };
        let mut to = first;
        for cell in self.table.cells(first, end) {
            if !cell.word.host() {
                break;
            }
            to = cell.end();
        }
        (u64::from(to) * SMALL_PAGE).saturating_sub(offset).min(size)
    }

    /// Page numbers of a range of bytes, cut at the pool's end; `None` when nothing is left.
    fn pages(&self, offset: u64, size: u64) -> Option<(u32, u32)> {
        let end = offset.saturating_add(size).min(self.size);
        // Inside the pool, so the numbers fit.
        (offset < end).then(|| ((offset / SMALL_PAGE) as u32, end.div_ceil(SMALL_PAGE) as u32))
    }

    /// What lies at `offset`, looking at no more than `size` bytes; `None` past the pool's end. No lock.
    #[inline]
    pub fn resolve(&self, offset: u64, size: u64) -> Option<Resolved> {
        let (first, end) = self.pages(offset, size.max(1))?;
        let segment = self.table.mapping(first, end)?;
        let into = offset % SMALL_PAGE;
        let left = (u64::from(segment.count) * SMALL_PAGE - into).min(size.max(1));
        Some(if segment.word.is_mapped() {
            Resolved::Mapped { pool: segment.word.pool(), offset: segment.word.page() * SMALL_PAGE + into, size: left }
        } else {
            Resolved::Unmapped { size: left }
        })
    }

    /// The stretches of `size` bytes at `offset`, cut at the pool's end: what a texture there is fetched from (B118).
    /// Take [`generation`](Self::generation) before, for [`changed_since`](Self::changed_since). No lock.
    pub fn spans(&self, offset: u64, size: u64) -> Spans<'_> {
        let (first, end) = self.pages(offset, size).unwrap_or((0, 0));
        let limit = offset.saturating_add(size).min(self.size);
        Spans { segments: self.table.mappings(first, end), offset, limit }
    }

    /// Whether a request newer than `generation` has changed what lies in `size` bytes at `offset` (B118). No lock.
    pub fn changed_since(&self, offset: u64, size: u64, generation: u64) -> bool {
        self.generation() > generation
            && self.pages(offset, size).is_some_and(|(first, end)| self.table.changed_since(first, end, generation))
    }

    /// The generation of the newest commit that changed pages.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The runs: mapped stretches without a gap, ascending, in bytes. No lock.
    pub fn run_list(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        let mut cells = self.table.cells(0, self.table.pages()).peekable();
        std::iter::from_fn(move || {
            let first = cells.find(|cell| cell.word.is_mapped())?;
            let mut end = first.end();
            while let Some(next) = cells.next_if(|cell| cell.word.is_mapped()) {
                end = next.end();
            }
            Some(u64::from(first.first) * SMALL_PAGE..u64::from(end) * SMALL_PAGE)
        })
    }

    /// Number of runs.
    pub fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }

    /// Bytes mapped.
    pub fn mapped_bytes(&self) -> u64 {
        self.mapped_pages.load(Ordering::Relaxed) * SMALL_PAGE
    }

    /// Bytes that the page table takes.
    pub fn table_bytes(&self) -> u64 {
        self.table.bytes()
    }

    /// Bytes of the CPU range.
    pub fn host_span(&self) -> u64 {
        u64::from(self.lock().host.span) * SMALL_PAGE
    }

    /// Notes that a guest reads an unmapped page, which is 0 (B113): once a pool, at normal severity. Whether the
    /// line was written.
    pub fn note_unmapped(&self, offset: u64) -> bool {
        let first = !self.noted.swap(true, Ordering::Relaxed);
        if first {
            tracing::info!(
                "an address at {offset:#x} of virtual pool {} ({:#x} bytes, {} runs), where nothing is mapped, reads 0 [B113]",
                self.id.0,
                self.size,
                self.runs()
            );
        }
        first
    }
}

impl fmt::Debug for VirtualPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VirtualPool")
            .field("id", &self.id)
            .field("size", &self.size)
            .field("kind", &self.kind())
            .field("mapped", &self.mapped_bytes())
            .field("runs", &self.runs())
            .field("generation", &self.generation())
            .finish_non_exhaustive()
    }
}

/// See [`VirtualPool::spans`].
pub struct Spans<'a> {
    segments: Segments<'a>,
    offset: u64,
    limit: u64,
}

impl Iterator for Spans<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        let segment = self.segments.next()?;
        let start = u64::from(segment.first) * SMALL_PAGE;
        let offset = start.max(self.offset);
        let size = (u64::from(segment.end()) * SMALL_PAGE).min(self.limit) - offset;
        let word = segment.word;
        let source = word.is_mapped().then(|| (word.pool(), word.page() * SMALL_PAGE + (offset - start)));
        Some(Span { offset, size, source })
    }
}
