//! What a call of `nvnMemoryPoolMapVirtual` asks, checked, and what has to be done for it.
//!
//! A [`Plan`] is made under the pool's lock, but carried out later: between the two the driver may have to wait for
//! the GPU (B111), which no lock is held across. [`commit`](super::VirtualPool::commit) refuses a plan that has been
//! overtaken.

use std::collections::BTreeMap;
use std::fmt;

use super::table::{Cell, Table, Word};
use super::{ImportId, Kind};
use crate::{PoolId, SMALL_PAGE};

/// One request of `nvnMemoryPoolMapVirtual`; everything in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapRequest {
    /// The physical pool and the offset in it; `None` unmaps.
    pub physical: Option<(PoolId, u64)>,
    /// Where in the virtual pool.
    pub virtual_offset: u64,
    /// Bytes.
    pub size: u64,
}

/// What a plan has to know of a physical pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Physical {
    /// Bytes of the pool.
    pub size: u64,
    /// Where the pool's first byte lies in the memfd behind it. `None`: its memory is in no memfd, so its pages
    /// cannot appear a second time; they are in the page table alone.
    pub file_offset: Option<u64>,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// No bytes.
    #[error("no bytes are asked for")]
    Empty,
    /// Not in whole 4 KB pages.
    #[error("offsets and size are not in whole 4 KB pages")]
    Unaligned,
    /// Past the end of the virtual pool.
    #[error("the range passes the end of the virtual pool, which has {size:#x} bytes")]
    PastVirtual {
        /// Bytes of the virtual pool.
        size: u64,
    },
    /// Past the end of the physical pool.
    #[error("the range passes the end of the physical pool, which has {size:#x} bytes")]
    PastPhysical {
        /// Bytes of the physical pool.
        size: u64,
    },
    /// The physical pool is none, or one that cannot be mapped.
    #[error("there is no such physical pool")]
    NoPhysical,
}

/// A refused request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its place in the call.
    pub index: usize,
    /// The request.
    pub request: MapRequest,
    /// Why.
    pub reason: MapError,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, request: MapRequest { physical, virtual_offset, size }, reason } = self;
        write!(f, "request {index} ({size:#x} bytes at {virtual_offset:#x}")?;
        match physical {
            Some((pool, offset)) => write!(f, " from pool {} at {offset:#x}): {reason}", pool.0),
            None => write!(f, ", unmap): {reason}"),
        }
    }
}

/// Host pages to make visible: `count` host-visible 4 KB pages of the virtual pool from `first` on show the file of
/// `pool` from page `file_page` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HostMap {
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) pool: PoolId,
    pub(super) file_page: u64,
}

impl HostMap {
    pub(super) fn push(self, maps: &mut Vec<Self>) {
        if let Some(last) = maps.last_mut()
            && last.first + last.count == self.first
            && last.pool == self.pool
            && last.file_page + u64::from(last.count) == self.file_page
        {
            last.count += self.count;
        } else {
            maps.push(self);
        }
    }
}

/// A range of pages: first, count.
pub(super) type Pages = (u32, u32);

/// Appends pages, joined with the range that ends there.
pub(super) fn push_pages(ranges: &mut Vec<Pages>, first: u32, count: u32) {
    match ranges.last_mut() {
        Some((last, n)) if *last + *n == first => *n += count,
        _ if count > 0 => ranges.push((first, count)),
        _ => {}
    }
}

/// What a call asks, checked and put in order; made by [`VirtualPool::plan`](super::VirtualPool::plan).
#[derive(Debug)]
#[must_use = "a plan changes nothing until it is committed"]
pub struct Plan {
    /// The pool's generation that the plan was made at.
    pub(super) base: u64,
    /// What the pages become: disjoint, ascending, neighbours joined.
    pub(super) pieces: Vec<Cell>,
    /// File page of each physical pool that the pieces name.
    pub(super) files: Vec<(PoolId, Option<u64>)>,
    pub(super) kind: Kind,
    /// The first mapping covered the pool, but an address had been given out (B115).
    pub(super) kept_sparse: bool,
    pub(super) host: HostPlan,
    pub(super) waits_for: Vec<ImportId>,
    pub(super) stale: Vec<ImportId>,
    pub(super) refused: Vec<Refusal>,
}

/// What has to happen in the pool's CPU range.
#[derive(Debug, Default)]
pub(super) struct HostPlan {
    pub(super) maps: Vec<HostMap>,
    /// Whole host pages that are visible and shall not be, later (B111).
    pub(super) unmaps: Vec<Pages>,
    /// Pages whose mapped ones are visible afterwards, where the pieces' words do not say it.
    pub(super) visible: Vec<Pages>,
    /// Pages that are not.
    pub(super) hidden: Vec<Pages>,
}

impl Plan {
    /// Imports over host pages that will show something else: no page may change while submitted work can use them
    /// (B111). Take them out of use, wait for the GPU, end them, then commit. Empty: nothing to wait for.
    pub fn waits_for(&self) -> &[ImportId] {
        &self.waits_for
    }

    /// All imports that the plan makes stale, those of [`waits_for`](Self::waits_for) among them: they may be used by
    /// what is submitted already, but by nothing new.
    pub fn stale_imports(&self) -> &[ImportId] {
        &self.stale
    }

    /// Requests that were refused, each with its reason. The others are in the plan.
    pub fn refused(&self) -> &[Refusal] {
        &self.refused
    }

    /// What the pool will be.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether the plan changes any page.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }
}

/// The requests of a call, in order, laid over each other: a later one wins (B114 decides on the way).
pub(super) struct Layers {
    pieces: BTreeMap<u32, Cell>,
    pub(super) files: Vec<(PoolId, Option<u64>)>,
    pub(super) kind: Kind,
    pub(super) kept_sparse: bool,
    pub(super) refused: Vec<Refusal>,
}

impl Layers {
    pub(super) fn new(kind: Kind) -> Self {
        Self { pieces: BTreeMap::new(), files: Vec::new(), kind, kept_sparse: false, refused: Vec::new() }
    }

    /// Lays the next request over the earlier ones, or refuses it.
    pub(super) fn add(
        &mut self,
        index: usize,
        request: MapRequest,
        size: u64,
        given_out: bool,
        physical: impl Fn(PoolId) -> Option<Physical>,
    ) {
        match self.check(request, size, physical) {
            Ok(cell) => {
                self.decide(request, size, given_out);
                self.lay(cell);
            }
            Err(reason) => self.refused.push(Refusal { index, request, reason }),
        }
    }

    fn check(
        &mut self,
        request: MapRequest,
        size: u64,
        physical: impl Fn(PoolId) -> Option<Physical>,
    ) -> Result<Cell, MapError> {
        let aligned = |value: u64| value.is_multiple_of(SMALL_PAGE);
        if request.size == 0 {
            return Err(MapError::Empty);
        }
        if !aligned(request.virtual_offset) || !aligned(request.size) {
            return Err(MapError::Unaligned);
        }
        if request.virtual_offset.checked_add(request.size).is_none_or(|end| end > size) {
            return Err(MapError::PastVirtual { size });
        }
        let word = match request.physical {
            None => Word::NONE,
            Some((pool, offset)) => {
                if !aligned(offset) {
                    return Err(MapError::Unaligned);
                }
                let file = self.file(pool, physical)?;
                if offset.checked_add(request.size).is_none_or(|end| end > file.size) {
                    return Err(MapError::PastPhysical { size: file.size });
                }
                let page = file.file_offset.filter(|&at| aligned(at)).map(|at| at / SMALL_PAGE);
                match self.files.iter_mut().find(|(known, _)| *known == pool) {
                    Some(known) => known.1 = page,
                    None => self.files.push((pool, page)),
                }
                Word::new(pool, offset / SMALL_PAGE).ok_or(MapError::NoPhysical)?
            }
        };
        // Both fit: the pool's pages do.
        let (first, count) = ((request.virtual_offset / SMALL_PAGE) as u32, (request.size / SMALL_PAGE) as u32);
        Ok(Cell { first, count, word })
    }

    fn file(&self, pool: PoolId, physical: impl Fn(PoolId) -> Option<Physical>) -> Result<Physical, MapError> {
        physical(pool).ok_or(MapError::NoPhysical)
    }

    /// B114: the first mapping decides; B115: not against an address that has been given out.
    fn decide(&mut self, request: MapRequest, size: u64, given_out: bool) {
        let covers = request.virtual_offset == 0 && request.size == size;
        self.kind = match (self.kind, request.physical) {
            (Kind::Reserved, None) => Kind::Reserved,
            (Kind::Reserved, Some((physical, offset))) if covers && !given_out => Kind::Alias { physical, offset },
            (Kind::Reserved, Some(_)) => {
                self.kept_sparse |= covers;
                Kind::Sparse
            }
            (alias @ Kind::Alias { physical, offset }, again) if covers && again == Some((physical, offset)) => alias,
            _ => Kind::Sparse,
        };
    }

    /// Puts a piece over those that are there.
    pub(super) fn lay(&mut self, piece: Cell) {
        let (first, end) = (piece.first, piece.end());
        if let Some((_, &before)) = self.pieces.range(..first).next_back()
            && before.end() > first
        {
            self.pieces.insert(before.first, Cell { count: first - before.first, ..before });
            if before.end() > end {
                self.pieces.insert(end, tail(before, end));
            }
        }
        while let Some((&at, &under)) = self.pieces.range(first..end).next() {
            self.pieces.remove(&at);
            if under.end() > end {
                self.pieces.insert(end, tail(under, end));
            }
        }
        self.pieces.insert(first, piece);
    }

    /// The pieces, neighbours joined, cut at page `cut` (the end of the CPU range).
    pub(super) fn pieces(self, cut: u32) -> Vec<Cell> {
        let mut pieces: Vec<Cell> = Vec::with_capacity(self.pieces.len());
        for piece in self.pieces.into_values() {
            let parts = if piece.first < cut && cut < piece.end() {
                [Some(Cell { count: cut - piece.first, ..piece }), Some(tail(piece, cut))]
            } else {
                [Some(piece), None]
            };
            for part in parts.into_iter().flatten() {
                match pieces.last_mut() {
                    Some(last)
                        if last.end() == part.first
                            && part.first != cut
                            && last.word.advance(last.count) == part.word =>
                    {
                        last.count += part.count;
                    }
                    _ => pieces.push(part),
                }
            }
        }
        pieces
    }
}

/// The part of a cell from page `at` on.
fn tail(cell: Cell, at: u32) -> Cell {
    let into = at - cell.first;
    Cell { first: at, count: cell.count - into, word: cell.word.advance(into) }
}

/// What the pages will be: the pieces over the table.
pub(super) struct After<'a> {
    pub(super) table: &'a Table,
    pub(super) pieces: &'a [Cell],
}

impl After<'_> {
    pub(super) fn get(&self, page: u32) -> Word {
        let behind = self.pieces.partition_point(|piece| piece.first <= page);
        match behind.checked_sub(1).map(|at| self.pieces[at]) {
            Some(piece) if page < piece.end() => piece.word.advance(page - piece.first),
            _ => self.table.get(page),
        }
    }
}
