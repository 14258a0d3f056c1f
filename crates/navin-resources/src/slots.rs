//! Descriptor slots: places in the descriptor arrays of set 0 (docs/ARCHITECTURE.md), the same number in each.

use crate::DeferredRelease;

/// A slot's number.
pub type Slot = u32;

/// Slot 0 of every array holds the empty texture (or sampler) and is never given out.
pub const EMPTY_SLOT: Slot = 0;

/// Gives out slots, lowest first, and takes them back once the work that may read them has ended.
///
/// The storage-image arrays are shorter than the sampled-image ones: a registration that may be used as an image
/// needs a slot in the shorter range, any other is put above it while there is room.
#[derive(Debug)]
pub struct SlotAllocator {
    capacity: u32,
    image_capacity: u32,
    /// A set bit is a free slot.
    free: Vec<u64>,
    free_count: u32,
    /// Words below this index have no free slot; one for each range.
    hints: [usize; 2],
    deferred: DeferredRelease<Slot>,
    /// A set bit is a slot that waits in `deferred`.
    leaving: Vec<u64>,
}

impl SlotAllocator {
    /// Slots `1 .. capacity`, of which those below `image_capacity` also serve images. For samplers the two are
    /// equal. Both are rounded down to whole words of 64.
    pub fn new(capacity: u32, image_capacity: u32) -> Self {
        let words = (capacity / 64) as usize;
        let capacity = words as u32 * 64;
        let image_capacity = (image_capacity / 64 * 64).min(capacity);
        let mut free = vec![u64::MAX; words];
        if let Some(first) = free.first_mut() {
            *first &= !1;
        }
        Self {
            capacity,
            image_capacity,
            free,
            free_count: capacity.saturating_sub(1),
            hints: [0, (image_capacity / 64) as usize],
            deferred: DeferredRelease::new(),
            leaving: vec![0; words],
        }
    }

    /// A slot for a registration; `image`: it may be bound as a storage image. `None` when all that would do are
    /// taken: the caller lets the id lead to [`EMPTY_SLOT`] and names that in a fault line.
    pub fn allocate(&mut self, image: bool) -> Option<Slot> {
        let border = (self.image_capacity / 64) as usize;
        let slot = if image {
            self.take(0, border)?
        } else {
            self.take(1, self.free.len()).or_else(|| self.take(0, border))?
        };
        self.free_count -= 1;
        Some(slot)
    }

    fn take(&mut self, range: usize, end: usize) -> Option<Slot> {
        let from = self.hints[range];
        let found = self.free.get(from..end)?.iter().position(|&word| word != 0);
        let index = found.map_or(end, |at| from + at);
        self.hints[range] = index;
        let word = self.free.get_mut(index).filter(|_| found.is_some())?;
        let bit = word.trailing_zeros();
        *word &= *word - 1;
        Some(index as u32 * 64 + bit)
    }

    /// Takes a slot back once submission `after` has ended. False for a slot that is not given out (a mistake of
    /// the caller's; nothing happens).
    pub fn free(&mut self, slot: Slot, after: u64) -> bool {
        let (index, bit) = ((slot / 64) as usize, 1u64 << (slot % 64));
        let Some(&free) = self.free.get(index) else { return false };
        if slot == EMPTY_SLOT || free & bit != 0 || self.leaving[index] & bit != 0 {
            return false;
        }
        self.leaving[index] |= bit;
        self.deferred.push(after, slot);
        true
    }

    /// Makes the slots of ended submissions free; how many.
    pub fn reclaim(&mut self, completed: u64) -> usize {
        let border = (self.image_capacity / 64) as usize;
        let mut count = 0;
        for slot in self.deferred.drain(completed) {
            let (index, bit) = ((slot / 64) as usize, 1u64 << (slot % 64));
            self.leaving[index] &= !bit;
            self.free[index] |= bit;
            let hint = &mut self.hints[usize::from(index >= border)];
            *hint = (*hint).min(index);
            count += 1;
        }
        self.free_count += count as u32;
        count
    }

    /// Slots free at this moment.
    pub fn free_count(&self) -> u32 {
        self.free_count
    }

    /// All slots, the empty one and those in use included.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn slot_0_is_never_given_out() {
        let mut slots = SlotAllocator::new(128, 64);
        let mut got: Vec<_> = std::iter::from_fn(|| slots.allocate(false)).collect();
        got.sort();
        assert_eq!(got, (1..128).collect::<Vec<_>>());
        assert_eq!(slots.allocate(true), None);
        assert!(!slots.free(EMPTY_SLOT, 0));
        assert_eq!(slots.free_count(), 0);
    }

    #[test]
    fn images_stay_in_the_short_range_and_textures_above_it() {
        let mut slots = SlotAllocator::new(256, 64);
        assert_eq!(slots.allocate(false), Some(64));
        assert_eq!(slots.allocate(true), Some(1));
        for _ in 0..62 {
            assert!(slots.allocate(true).is_some_and(|slot| slot < 64));
        }
        assert_eq!(slots.allocate(true), None, "only slots past the storage arrays are left");
        assert_eq!(slots.allocate(false), Some(65));
    }

    #[test]
    fn a_slot_comes_back_after_its_submission() {
        let mut slots = SlotAllocator::new(64, 64);
        let slot = slots.allocate(true).unwrap();
        while slots.allocate(true).is_some() {}
        assert!(slots.free(slot, 10));
        assert!(!slots.free(slot, 10), "freed twice");
        assert_eq!(slots.reclaim(9), 0);
        assert_eq!(slots.allocate(false), None);
        assert_eq!(slots.reclaim(10), 1);
        assert_eq!(slots.allocate(false), Some(slot));
        assert!(!slots.free(1000, 0));
    }

    proptest! {
        #[test]
        fn never_two_owners_of_a_slot(ops in prop::collection::vec((any::<bool>(), any::<bool>(), 0usize..64, 0u64..8), 0..400)) {
            let mut slots = SlotAllocator::new(192, 64);
            let (mut owned, mut leaving) = (Vec::new(), Vec::new());
            let mut completed = 0;
            for (allocate, image, pick, after) in ops {
                if allocate {
                    match slots.allocate(image) {
                        Some(slot) => {
                            let reach = if image { 64 } else { 192 };
                            prop_assert!(slot != 0 && slot < reach);
                            prop_assert!(!owned.contains(&slot));
                            prop_assert!(!leaving.iter().any(|&(_, l)| l == slot));
                            owned.push(slot);
                        }
                        None => {
                            let used: BTreeSet<_> = owned.iter().copied().chain(leaving.iter().map(|&(_, l)| l)).collect();
                            let reach = if image { 64 } else { 192 };
                            prop_assert!((1..reach).all(|slot| used.contains(&slot)));
                        }
                    }
                } else if !owned.is_empty() {
                    let slot = owned.swap_remove(pick % owned.len());
                    prop_assert!(slots.free(slot, completed + after));
                    leaving.push((completed + after, slot));
                } else {
                    completed += 1;
                    let before = leaving.len();
                    leaving.retain(|&(after, _)| after > completed);
                    prop_assert_eq!(slots.reclaim(completed), before - leaving.len());
                }
                if pick == 0 {
                    completed += 1;
                    leaving.retain(|&(after, _)| after > completed);
                    slots.reclaim(completed);
                }
                prop_assert_eq!(slots.free_count() as usize, 191 - owned.len() - leaving.len());
            }
        }
    }
}
