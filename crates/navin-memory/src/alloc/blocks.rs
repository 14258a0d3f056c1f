//! Which parts of an arena are given out: numbers only.

use std::collections::BTreeMap;

use crate::free_ranges::FreeRanges;

/// Sizes below a page are rounded up to this; no two blocks share a cache line.
const GRAIN: u64 = 64;

/// A block that is given out.
#[derive(Clone, Copy, Debug)]
struct Block {
    size: u64,
    /// Who uses it besides the one it was given to.
    holds: u32,
    /// It was freed while it was held: it goes with the last hold.
    freed: bool,
}

/// What freeing a block means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freed {
    /// No block begins there, or it was freed before.
    Unknown,
    /// It is held: it goes later.
    Held,
    /// Its bytes (start, size) are to be zeroed and then given back with [`Blocks::give_back`].
    Now(u64, u64),
}

/// The blocks of an arena, by address.
#[derive(Debug)]
pub(super) struct Blocks {
    page: u64,
    free: FreeRanges,
    blocks: BTreeMap<u64, Block>,
    /// Bytes being zeroed.
    returning: u64,
}

impl Blocks {
    /// An arena of `size` bytes at `start`, both whole host pages.
    pub(super) fn new(start: u64, size: u64, page: u64) -> Self {
        Self { page, free: FreeRanges::new(start, size), blocks: BTreeMap::new(), returning: 0 }
    }

    /// Bytes and alignment that a block takes: blocks of a page or more have their pages to themselves.
    pub(super) fn shape(size: u64, align: u64, page: u64) -> Option<(u64, u64)> {
        let grain = if size >= page { page } else { GRAIN };
        Some((size.checked_next_multiple_of(grain)?, align.max(grain)))
    }

    /// Gives out `size` bytes (not 0) at a multiple of `align` (a power of two).
    pub(super) fn take(&mut self, size: u64, align: u64) -> Option<u64> {
        let (size, align) = Self::shape(size, align, self.page)?;
        let start = self.free.take(size, align)?;
        self.blocks.insert(start, Block { size, holds: 0, freed: false });
        Some(start)
    }

    /// Frees the block that begins at `start`.
    pub(super) fn free(&mut self, start: u64) -> Freed {
        match self.blocks.get_mut(&start) {
            Some(block) if block.freed => Freed::Unknown,
            Some(block) if block.holds > 0 => {
                block.freed = true;
                Freed::Held
            }
            Some(block) => {
                let size = block.size;
                self.blocks.remove(&start);
                self.returning += size;
                Freed::Now(start, size)
            }
            None => Freed::Unknown,
        }
    }

    /// The bytes can be given out again; they read 0.
    pub(super) fn give_back(&mut self, start: u64, size: u64) {
        self.returning -= size;
        self.free.give_back(start, size);
    }

    /// The blocks that `size` bytes at `start` touch.
    fn touched(&mut self, start: u64, size: u64) -> impl Iterator<Item = (u64, &mut Block)> {
        let first = self.blocks.range(..=start).next_back().map_or(start, |(&first, _)| first);
        self.blocks
            .range_mut(first..start.saturating_add(size))
            .map(|(&at, block)| (at, block))
            .filter(move |(at, block)| at + block.size > start)
    }

    /// Holds every block that the range touches, and names them.
    pub(super) fn hold(&mut self, start: u64, size: u64) -> Vec<u64> {
        let held = self.touched(start, size).map(|(at, block)| {
            block.holds += 1;
            at
        });
        held.collect()
    }

    /// Ends a hold; the blocks that go with it, to be zeroed and given back.
    pub(super) fn end_hold(&mut self, held: &[u64]) -> Vec<(u64, u64)> {
        let mut gone = Vec::new();
        for &at in held {
            // A held block stays, so it is there.
            let Some(block) = self.blocks.get_mut(&at) else { continue };
            block.holds -= 1;
            if block.holds == 0 && block.freed {
                gone.push((at, block.size));
                self.returning += block.size;
                self.blocks.remove(&at);
            }
        }
        gone
    }

    /// Whether nothing is given out.
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.returning == 0
    }

    /// Blocks and their bytes.
    pub(super) fn totals(&self) -> (usize, u64) {
        (self.blocks.len(), self.blocks.values().map(|block| block.size).sum())
    }
}
