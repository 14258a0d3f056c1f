//! A virtual pool's CPU range: which host pages show which file, which imports lie over them, and which pages go
//! once the GPU is done (B109, B111, B118).
//!
//! What a host page shows follows from the page table: it is visible when all mapped 4 KB pages in it agree on one
//! page of one memfd. On a host with 4 KB pages that is every page backed by a memfd; on one with 16 KB pages only
//! those whose virtual and file offsets are equal modulo 16 KB. Everything else is in the table alone.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use super::plan::{After, HostMap, HostPlan, Pages, push_pages};
use super::table::{Cell, Table, Word};
use crate::PoolId;

/// The CPU range of a virtual pool, as the driver has it: carries out what a commit decides. Offsets and sizes are in
/// bytes and whole host pages.
pub trait HostMemory {
    /// `size` bytes of the range from `offset` on show the memfd behind `pool`, from `file_offset` of that file on,
    /// in place of what they showed.
    ///
    /// # Errors
    /// The host refuses; the pages are then in the page table alone.
    fn map(&mut self, offset: u64, size: u64, pool: PoolId, file_offset: u64) -> io::Result<()>;

    /// `size` bytes of the range from `offset` on become inaccessible.
    ///
    /// # Errors
    /// The host refuses; it is tried again.
    fn unmap(&mut self, offset: u64, size: u64) -> io::Result<()>;
}

/// A CPU range that shows nothing: for hosts, and pools, without one.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHostMemory;

impl HostMemory for NoHostMemory {
    fn map(&mut self, _: u64, _: u64, _: PoolId, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn unmap(&mut self, _: u64, _: u64) -> io::Result<()> {
        Ok(())
    }
}

/// Names one import of a part of a virtual pool's CPU range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ImportId(pub u64);

/// Counts the waits of B111 and logs whenever the count passes a power of two; one for the driver.
#[derive(Debug, Default)]
pub struct MapWaits(AtomicU64);

impl MapWaits {
    /// Waits so far.
    pub fn so_far(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// One more wait of a mapping for the GPU; the number so far, with a log line at 1, 2, 4, 8 ...
    pub fn count(&self) -> u64 {
        let count = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_power_of_two() {
            tracing::info!("mappings of virtual pools have waited {count} times for the GPU to end [B111]");
        }
        count
    }
}

/// Pages that become inaccessible later.
#[derive(Clone, Copy, Debug)]
struct Pending {
    count: u32,
    /// The moment that has to be reached.
    after: u64,
}

/// The host side of one virtual pool; under its lock.
#[derive(Debug)]
pub(super) struct Host {
    /// 4 KB pages of a host page: a power of two.
    pub(super) granule: u32,
    /// 4 KB pages of the CPU range; whole host pages. 0: there is none.
    pub(super) span: u32,
    /// First file page of each physical pool that is mapped somewhere in the pool, and how many pages show it.
    pub(super) physical: HashMap<PoolId, Shown>,
    /// By first page; disjoint, whole host pages.
    pending: BTreeMap<u32, Pending>,
    imports: Vec<(ImportId, Pages)>,
    made: u64,
}

/// What is known of a physical pool that is mapped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    pub(super) file_page: Option<u64>,
    pub(super) pages: u64,
}

impl Host {
    pub(super) fn new(granule: u32, span: u32) -> Self {
        Self {
            granule,
            span: span - span % granule,
            physical: HashMap::new(),
            pending: BTreeMap::new(),
            imports: Vec::new(),
            made: 0,
        }
    }

    fn file_page(&self, files: &[(PoolId, Option<u64>)], pool: PoolId) -> Option<u64> {
        let named = files.iter().find(|(known, _)| *known == pool);
        named.map_or_else(|| self.physical.get(&pool).and_then(|shown| shown.file_page), |(_, page)| *page)
    }

    /// What the pieces mean for the CPU range; marks those pieces whose pages all become visible.
    pub(super) fn plan(&self, table: &Table, pieces: &mut [Cell], files: &[(PoolId, Option<u64>)]) -> HostPlan {
        if self.granule == 1 {
            self.plan_by_page(table, pieces, files)
        } else {
            self.plan_by_host_page(table, pieces, files)
        }
    }

    /// Host pages are the table's pages: whole pieces at once.
    fn plan_by_page(&self, table: &Table, pieces: &mut [Cell], files: &[(PoolId, Option<u64>)]) -> HostPlan {
        let mut plan = HostPlan::default();
        for piece in pieces {
            // Pieces are cut at the range's end.
            if piece.first >= self.span {
                continue;
            }
            let file = piece.word.is_mapped().then(|| self.file_page(files, piece.word.pool())).flatten();
            piece.word = piece.word.with_host(file.is_some());
            for old in table.segments(piece.first, piece.end()) {
                let new = piece.word.advance(old.first - piece.first);
                match file {
                    Some(_) if old.word == new => {}
                    Some(file) => {
                        let file_page = file + new.page();
                        HostMap { first: old.first, count: old.count, pool: new.pool(), file_page }
                            .push(&mut plan.maps);
                    }
                    None if old.word.host() => push_pages(&mut plan.unmaps, old.first, old.count),
                    None => {}
                }
            }
        }
        plan
    }

    /// Host pages hold several pages of the table: each is looked at whole, with those pages that the pieces leave.
    fn plan_by_host_page(&self, table: &Table, pieces: &[Cell], files: &[(PoolId, Option<u64>)]) -> HostPlan {
        let mut plan = HostPlan::default();
        let after = After { table, pieces };
        let mut done = 0;
        for piece in pieces {
            let mut at = (piece.first - piece.first % self.granule).max(done);
            while at < piece.end() && at < self.span {
                let wanted = self.shown(at, files, |page| after.get(page), |_| true);
                let shows = self.shown(at, &[], |page| table.get(page), Word::host);
                let pending = self.pending.range(..=at).next_back().is_some_and(|(first, p)| at < first + p.count);
                match wanted {
                    Some((pool, file_page)) => {
                        push_pages(&mut plan.visible, at, self.granule);
                        if shows != wanted || pending {
                            HostMap { first: at, count: self.granule, pool, file_page }.push(&mut plan.maps);
                        }
                    }
                    None => {
                        push_pages(&mut plan.hidden, at, self.granule);
                        if shows.is_some() {
                            push_pages(&mut plan.unmaps, at, self.granule);
                        }
                    }
                }
                at += self.granule;
            }
            done = at.max(done);
        }
        plan
    }

    /// The pool and file page that the host page at `first` shows when the pages that count agree on one.
    fn shown(
        &self,
        first: u32,
        files: &[(PoolId, Option<u64>)],
        word: impl Fn(u32) -> Word,
        counts: impl Fn(Word) -> bool,
    ) -> Option<(PoolId, u64)> {
        let mut shown = None;
        for page in first..first + self.granule {
            let word = word(page);
            if !word.is_mapped() || !counts(word) {
                continue;
            }
            let at = self.file_page(files, word.pool())? + word.page();
            let start = at.checked_sub(u64::from(page - first))?;
            let this = (word.pool(), start);
            if !start.is_multiple_of(u64::from(self.granule)) || shown.is_some_and(|shown| shown != this) {
                return None;
            }
            shown = Some(this);
        }
        shown
    }

    /// Live imports that overlap one of the ranges.
    pub(super) fn imports_over(&self, ranges: impl Iterator<Item = Pages> + Clone) -> Vec<ImportId> {
        let over = |(first, count): Pages| ranges.clone().any(|(at, n)| at < first + count && first < at + n);
        self.imports.iter().filter(|(_, pages)| over(*pages)).map(|(id, _)| *id).collect()
    }

    /// Takes pages out of those that wait to become inaccessible: they show something again.
    pub(super) fn keep(&mut self, first: u32, count: u32) {
        let end = first + count;
        if let Some((&at, &pending)) = self.pending.range(..first).next_back()
            && at + pending.count > first
        {
            self.pending.insert(at, Pending { count: first - at, ..pending });
            if at + pending.count > end {
                self.pending.insert(end, Pending { count: at + pending.count - end, ..pending });
            }
        }
        while let Some((&at, &pending)) = self.pending.range(first..end).next() {
            self.pending.remove(&at);
            if at + pending.count > end {
                self.pending.insert(end, Pending { count: at + pending.count - end, ..pending });
            }
        }
    }

    /// Pages become inaccessible once moment `after` is reached.
    pub(super) fn unmap_after(&mut self, first: u32, count: u32, after: u64) {
        self.keep(first, count);
        self.pending.insert(first, Pending { count, after });
    }

    /// Takes the ranges whose time has come: their moment is `reached`, and no import lies over them.
    pub(super) fn due(&mut self, reached: u64) -> Vec<Pages> {
        let imports = &self.imports;
        let mut due = Vec::new();
        self.pending.retain(|&first, pending| {
            let count = pending.count;
            let used = imports.iter().any(|&(_, (at, n))| at < first + count && first < at + n);
            let keep = pending.after > reached || used;
            if !keep {
                due.push((first, count));
            }
            keep
        });
        due
    }

    pub(super) fn pending_pages(&self) -> u64 {
        self.pending.values().map(|pending| u64::from(pending.count)).sum()
    }

    pub(super) fn begin_import(&mut self, first: u32, count: u32) -> ImportId {
        self.made += 1;
        let id = ImportId(self.made);
        self.imports.push((id, (first, count)));
        id
    }

    pub(super) fn end_import(&mut self, id: ImportId) -> bool {
        let at = self.imports.iter().position(|(known, _)| *known == id);
        at.map(|at| self.imports.swap_remove(at)).is_some()
    }

    pub(super) fn live_imports(&self) -> usize {
        self.imports.len()
    }
}
