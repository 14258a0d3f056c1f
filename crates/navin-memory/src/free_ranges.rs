//! Free ranges of numbers: best fit, joined when given back. GPU addresses and arenas of guest memory are handed out
//! from these.

use std::collections::{BTreeMap, BTreeSet};

/// A set of ranges, none of which touch.
#[derive(Debug, Default)]
pub(crate) struct FreeRanges {
    /// Size by start.
    ranges: BTreeMap<u64, u64>,
    /// (size, start).
    by_size: BTreeSet<(u64, u64)>,
}

impl FreeRanges {
    /// One free range.
    pub(crate) fn new(start: u64, size: u64) -> Self {
        let mut free = Self::default();
        if size > 0 {
            free.insert(start, size);
        }
        free
    }

    fn insert(&mut self, start: u64, size: u64) {
        self.ranges.insert(start, size);
        self.by_size.insert((size, start));
    }

    fn remove(&mut self, start: u64, size: u64) {
        self.ranges.remove(&start);
        self.by_size.remove(&(size, start));
    }

    /// Takes `size` numbers (not 0) that begin at a multiple of `align` (a power of two) out of the smallest range
    /// that has them, the lowest among equals: what is taken stays close together.
    pub(crate) fn take(&mut self, size: u64, align: u64) -> Option<u64> {
        // The smallest range that holds the size may miss the alignment; one that is larger by it cannot.
        let certain = size.checked_add(align - 1)?;
        let fits = |&(found, start): &(u64, u64)| {
            let at = start.checked_next_multiple_of(align)?;
            (at - start <= found && size <= found - (at - start)).then_some((found, start, at))
        };
        let tight = self.by_size.range((size, 0)..(certain, 0)).take(64).find_map(fits);
        let (found, start, at) = tight.or_else(|| self.by_size.range((certain, 0)..).find_map(fits))?;
        self.remove(start, found);
        if at > start {
            self.insert(start, at - start);
        }
        let left = start + found - (at + size);
        if left > 0 {
            self.insert(at + size, left);
        }
        Some(at)
    }

    /// Gives back what was taken, or a part of it, and joins it with free neighbours.
    pub(crate) fn give_back(&mut self, mut start: u64, size: u64) {
        let mut end = start + size;
        if let Some((&before, &size)) = self.ranges.range(..start).next_back()
            && before + size == start
        {
            self.remove(before, size);
            start = before;
        }
        if let Some(&size) = self.ranges.get(&end) {
            self.remove(end, size);
            end += size;
        }
        self.insert(start, end - start);
    }
}
