//! The table of registered ranges: slots in blocks of 1,024, grown on demand to 262,144 (B205), read without a lock.
//!
//! A slot that is used again gets another serial; a kept [`RangeId`] of the old range finds out by it. Blocks are never
//! moved or freed while the tracker lives, so ids and handles stay valid over growth.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::types::RangeId;

const BLOCK: usize = 1024;
const BLOCKS: usize = 256;
/// The most ranges there are.
pub const MOST_RANGES: usize = BLOCK * BLOCKS;

/// What readers see of a range.
#[derive(Default)]
struct Slot {
    /// The live range's serial; 0 for none. Published last, cleared first.
    serial: AtomicU64,
    start: AtomicUsize,
    end: AtomicUsize,
    born: AtomicU64,
}

/// A live range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeInfo {
    /// First byte of what the caller registered.
    pub start: usize,
    /// First byte past it.
    pub end: usize,
    /// The clock at its registration (B206).
    pub born: u64,
}

/// The slots. Reading takes no lock; the writer's half is [`RangeWriter`].
pub struct RangeTable {
    blocks: [OnceLock<Box<[Slot]>>; BLOCKS],
}

impl RangeTable {
    /// No ranges.
    pub fn new() -> Self {
        Self { blocks: [const { OnceLock::new() }; BLOCKS] }
    }

    fn slot(&self, index: usize) -> Option<&Slot> {
        self.blocks.get(index / BLOCK)?.get()?.get(index % BLOCK)
    }

    /// The range, if it is still registered.
    pub fn get(&self, id: RangeId) -> Option<RangeInfo> {
        let slot = self.slot(id.slot as usize)?;
        if slot.serial.load(Ordering::Acquire) != id.serial {
            return None;
        }
        let info = RangeInfo {
            start: slot.start.load(Ordering::Acquire),
            end: slot.end.load(Ordering::Acquire),
            born: slot.born.load(Ordering::Acquire),
        };
        // Taken over meanwhile?
        (slot.serial.load(Ordering::Acquire) == id.serial).then_some(info)
    }
}

/// What only the holder of the slot lock has: free slots, and the ranges by address.
#[derive(Default)]
pub struct RangeWriter {
    free: Vec<u32>,
    used: usize,
    serial: u64,
    by_start: BTreeMap<usize, Vec<RangeId>>,
    longest: usize,
}

impl RangeWriter {
    /// Takes a slot; none when all are taken.
    pub fn add(&mut self, table: &RangeTable, info: RangeInfo) -> Option<RangeId> {
        let index = match self.free.pop() {
            Some(index) => index,
            None if self.used < MOST_RANGES => {
                self.used += 1;
                u32::try_from(self.used - 1).ok()?
            }
            None => return None,
        };
        let block = table.blocks.get(index as usize / BLOCK)?;
        let slot = block.get_or_init(|| (0..BLOCK).map(|_| Slot::default()).collect()).get(index as usize % BLOCK)?;
        self.serial += 1;
        slot.start.store(info.start, Ordering::Release);
        slot.end.store(info.end, Ordering::Release);
        slot.born.store(info.born, Ordering::Release);
        slot.serial.store(self.serial, Ordering::Release);
        let id = RangeId { slot: index, serial: self.serial };
        self.by_start.entry(info.start).or_default().push(id);
        self.longest = self.longest.max(info.end - info.start);
        Some(id)
    }

    /// Takes away the range that begins exactly at `start` (B407); of several the one that came last.
    pub fn remove(&mut self, table: &RangeTable, start: usize) -> Option<RangeInfo> {
        let id = *self.by_start.get(&start)?.last()?;
        self.remove_range(table, id)
    }

    /// Takes away this range.
    pub fn remove_range(&mut self, table: &RangeTable, id: RangeId) -> Option<RangeInfo> {
        let info = table.get(id)?;
        let ids = self.by_start.get_mut(&info.start)?;
        ids.retain(|known| *known != id);
        if ids.is_empty() {
            self.by_start.remove(&info.start);
        }
        let info = Some(info);
        if let Some(slot) = table.slot(id.slot as usize) {
            slot.serial.store(0, Ordering::Release);
        }
        self.free.push(id.slot);
        info
    }

    /// A range that holds the whole span (B407), the one that begins last.
    pub fn holding(&self, table: &RangeTable, start: usize, end: usize) -> Option<(RangeId, RangeInfo)> {
        for (&first, ids) in self.by_start.range(..=start).rev() {
            if end - first > self.longest {
                return None;
            }
            let found = ids.iter().rev().find_map(|&id| Some((id, table.get(id)?)).filter(|(_, info)| info.end >= end));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The ranges' first bytes.
    pub fn starts(&self) -> Vec<usize> {
        self.by_start.iter().flat_map(|(&start, ids)| ids.iter().map(move |_| start)).collect()
    }
}
