//! Which word of the sampler table a sampler's global id has.
//!
//! The global id of a sampler of a second pool may need more than the 12 bits that a handle has for it (B415), while
//! the table that shaders look ids up in has as many words as those bits can name. An id that fits is its own word. One
//! that does not fit is lent a word that no pool uses, from the top of the table down; equal samplers share it, so that
//! the words lent are as many as there are different samplers behind such ids. What a word that was lent leads to never
//! changes: work in flight may still read it.
//!
//! [`Residency`](super::residency::Residency) owns it; handles are moved by it when a draw's constants are written.

use navin_vulkan::tables::SAMPLER_IDS;
use rustc_hash::FxHashMap;

/// The word of ids that lead to nothing: guests bind all ones to slots that they do not use (B116).
pub(super) const UNUSED: u32 = SAMPLER_IDS - 1;

/// The words that are lent.
pub(super) struct SamplerIds {
    /// By the slot that the word leads to.
    lent: FxHashMap<u32, u32>,
    /// One bit for each word.
    taken: [u64; SAMPLER_IDS as usize / 64],
}

impl Default for SamplerIds {
    fn default() -> Self {
        Self { lent: FxHashMap::default(), taken: [0; SAMPLER_IDS as usize / 64] }
    }
}

impl SamplerIds {
    /// Whether a global id is its own word.
    #[inline]
    pub(super) fn is_own(&self, global: u32) -> bool {
        global < SAMPLER_IDS && self.taken[global as usize / 64] >> (global % 64) & 1 == 0
    }

    /// The word lent to a slot, and whether it is new: then it has to be written. `used` tells words that are some
    /// sampler's own, and `wanted` those that may become so, which are lent last. `None` when none is left.
    pub(super) fn lend(
        &mut self,
        slot: u32,
        used: impl Fn(u32) -> bool,
        wanted: impl Fn(u32) -> bool,
    ) -> Option<(u32, bool)> {
        if let Some(&word) = self.lent.get(&slot) {
            return Some((word, false));
        }
        let free = |word: &u32| self.is_own(*word) && !used(*word);
        let word =
            (0..UNUSED).rev().filter(free).find(|word| !wanted(*word)).or_else(|| (0..UNUSED).rev().find(free))?;
        self.taken[word as usize / 64] |= 1 << (word % 64);
        self.lent.insert(slot, word);
        Some((word, true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b415_words_are_lent_from_the_top_and_shared_by_equal_samplers() {
        let mut ids = SamplerIds::default();
        assert!(ids.is_own(0) && ids.is_own(UNUSED) && !ids.is_own(SAMPLER_IDS));
        let none = |_| false;
        assert_eq!(ids.lend(7, none, none), Some((UNUSED - 1, true)));
        assert_eq!(ids.lend(7, none, none), Some((UNUSED - 1, false)));
        // The next is some sampler's own, the one after is registered.
        let lent = ids.lend(8, |word| word == UNUSED - 2, |word| word == UNUSED - 3);
        assert_eq!(lent, Some((UNUSED - 4, true)));
        assert!(!ids.is_own(UNUSED - 1) && !ids.is_own(UNUSED - 4) && ids.is_own(UNUSED - 2));
    }

    #[test]
    fn b415_words_that_are_only_registered_are_lent_when_nothing_else_is_left() {
        let mut ids = SamplerIds::default();
        let (used, wanted) = (|word| word >= 10, |_| true);
        assert_eq!(ids.lend(1, used, wanted), Some((9, true)));
        for slot in 2..11 {
            assert_eq!(ids.lend(slot, used, wanted), Some((10 - slot, true)));
        }
        assert_eq!(ids.lend(11, used, wanted), None);
        assert_eq!(ids.lend(3, used, wanted), Some((7, false)), "what is lent stays lent");
    }
}
