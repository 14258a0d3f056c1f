//! What a mirror holds of a pool that no import takes: which of the CPU's bytes have to go up, without taking back
//! what the GPU wrote meanwhile.
//!
//! A mirror is the GPU's copy of a pool. The driver's submit thread brings pages up that the CPU wrote, before the
//! submission that reads them; what the GPU wrote comes down when its submission has ended. In between a page may have
//! both: bytes of the CPU's that the mirror lacks, and bytes of the GPU's that the guest's memory lacks. Such a page is
//! *pending*, and of a pending page only those bytes go up that the CPU changed since it last went up. To know them
//! there is a *shadow* of pending pages: what the CPU had there when they last went up, with what came down since.
//!
//! A submission, in this order:
//! 1. [`MirrorPages::begin`] numbers it;
//! 2. each page that the CPU wrote: [`MirrorPages::carry`] says what of it goes up;
//! 3. each page that the submission's commands may write: [`MirrorPages::gpu_writes`].
//!
//! When it has ended: [`MirrorPages::came_down`] for each block that differs, then [`MirrorPages::ended`]. Submissions
//! end in the order in which they began.
//!
//! Pure book-keeping: who copies what is the caller's business.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::SMALL_PAGE;

/// Bytes of a page.
pub const PAGE: usize = SMALL_PAGE as usize;

/// What of a page goes up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carry {
    /// All of it.
    Whole,
    /// These bytes, counted from the page's first one. May be none.
    Parts(Vec<Range<usize>>),
}

/// The pages of one mirrored pool.
#[derive(Debug)]
pub struct MirrorPages {
    /// Bytes of the pool, rounded up to pages.
    len: usize,
    /// As long as the pool once the GPU wrote anything, else empty. Comes from the system as zeroes, so it takes memory
    /// only where a page was ever pending.
    shadow: Vec<u8>,
    /// By page, as long as `shadow` lasts: the newest submission that may write it.
    until: Vec<u64>,
    begun: u64,
    ended: u64,
}

impl MirrorPages {
    /// The pages of a pool of `len` bytes, none pending.
    pub fn new(len: u64) -> Self {
        let len = usize::try_from(len).unwrap_or(usize::MAX).div_ceil(PAGE) * PAGE;
        Self { len, shadow: Vec::new(), until: Vec::new(), begun: 0, ended: 0 }
    }

    /// Pages that hold a range of bytes.
    pub fn pages(range: &Range<u64>) -> Range<usize> {
        let end = range.end.div_ceil(SMALL_PAGE) as usize;
        (range.start / SMALL_PAGE) as usize..end
    }

    /// Begins a submission, and numbers it.
    pub fn begin(&mut self) -> u64 {
        self.begun += 1;
        self.begun
    }

    /// Whether a submission that has not ended may write the page.
    pub fn is_pending(&self, page: usize) -> bool {
        self.until.get(page).is_some_and(|until| *until > self.ended)
    }

    /// The CPU has written the page, whose bytes are `now` (a copy that stands still): what goes up.
    pub fn carry(&mut self, page: usize, now: &[u8]) -> Carry {
        if !self.is_pending(page) {
            return Carry::Whole;
        }
        let known = &mut self.shadow[page * PAGE..][..now.len()];
        let mut parts: Vec<Range<usize>> = Vec::new();
        for at in (0..now.len()).filter(|&at| known[at] != now[at]) {
            match parts.last_mut() {
                Some(last) if last.end == at => last.end += 1,
                _ => parts.push(at..at + 1),
            }
        }
        known.copy_from_slice(now);
        Carry::Parts(parts)
    }

    /// The page is one that a submission may write. The first time, `read` fills in the CPU's bytes: those that the
    /// mirror has when the submission's commands begin; when it cannot be excluded that they are newer than what went
    /// up, they have to go up. Gives them, and whether they were read now.
    pub fn gpu_writes(&mut self, submission: u64, page: usize, read: impl FnOnce(&mut [u8])) -> Option<&[u8]> {
        if self.shadow.is_empty() {
            self.shadow = vec![0; self.len];
            self.until = vec![0; self.len / PAGE];
        }
        let pending = self.is_pending(page);
        let until = self.until.get_mut(page)?;
        *until = submission;
        let known = &mut self.shadow[page * PAGE..][..PAGE];
        if pending {
            return None;
        }
        read(known);
        Some(known)
    }

    /// Bytes of a page that is pending, as the CPU knows them.
    pub fn known(&self, page: usize) -> &[u8] {
        self.shadow.get(page * PAGE..(page + 1) * PAGE).unwrap_or_default()
    }

    /// A submission changed bytes from `old` to `new` at an offset of the pool, and the CPU's memory is about to get
    /// those that differ.
    pub fn came_down(&mut self, offset: u64, old: &[u8], new: &[u8]) {
        let Some(known) = self.shadow.get_mut(offset as usize..offset as usize + new.len()) else { return };
        for ((known, old), new) in known.iter_mut().zip(old).zip(new) {
            if old != new {
                *known = *new;
            }
        }
    }

    /// It is not known what went up: no page is pending any more, and every page has to be carried.
    pub fn forget(&mut self) {
        (self.shadow, self.until) = (Vec::new(), Vec::new());
    }

    /// All that a submission wrote came down.
    pub fn ended(&mut self, submission: u64) {
        self.ended = self.ended.max(submission);
    }
}

/// Ranges in the order in which they were written, so that each byte is in one: where it was written last. What comes
/// down in this order shows nobody a flag before the bytes that it stands for.
pub fn in_order(written: &[Range<u64>]) -> Vec<Range<u64>> {
    // What later ranges cover: disjoint, by start.
    let mut covered: BTreeMap<u64, u64> = BTreeMap::new();
    let mut last_first: Vec<Range<u64>> = Vec::new();
    for range in written.iter().rev().filter(|range| range.start < range.end) {
        let Range { mut start, mut end } = *range;
        let mut at = range.start;
        let before = covered.range(..=start).next_back().filter(|(_, last)| **last >= start).map(|(first, _)| *first);
        let over: Vec<(u64, u64)> =
            covered.range(before.unwrap_or(start)..=end).map(|(first, last)| (*first, *last)).collect();
        for (first, last) in over {
            if at < first.min(range.end) {
                last_first.push(at..first.min(range.end));
            }
            at = at.max(last);
            (start, end) = (start.min(first), end.max(last));
            covered.remove(&first);
        }
        if at < range.end {
            last_first.push(at..range.end);
        }
        covered.insert(start, end);
    }
    last_first.reverse();
    last_first
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    const PAGES: usize = 2;

    /// A guest's memory and its mirror, the GPU running each submission at once, and what it did coming down later.
    struct Machine {
        pages: MirrorPages,
        storage: Vec<u8>,
        dirty: [bool; PAGES],
        mirror: Vec<u8>,
        /// Submissions that have not come down: number, mirror before and after.
        in_flight: VecDeque<(u64, Vec<u8>, Vec<u8>)>,
    }

    impl Machine {
        fn new() -> Self {
            let storage = vec![0; PAGES * PAGE];
            let pages = MirrorPages::new(storage.len() as u64);
            Self { pages, mirror: storage.clone(), storage, dirty: [true; PAGES], in_flight: VecDeque::new() }
        }

        fn cpu(&mut self, at: usize, value: u8) {
            self.storage[at] = value;
            self.dirty[at / PAGE] = true;
        }

        fn submit(&mut self, writes: &[(usize, u8)]) {
            let number = self.pages.begin();
            for page in 0..PAGES {
                if !std::mem::take(&mut self.dirty[page]) {
                    continue;
                }
                let bytes = page * PAGE..(page + 1) * PAGE;
                match self.pages.carry(page, &self.storage[bytes.clone()]) {
                    Carry::Whole => self.mirror[bytes.clone()].copy_from_slice(&self.storage[bytes]),
                    Carry::Parts(parts) => {
                        for part in parts {
                            let part = part.start + bytes.start..part.end + bytes.start;
                            self.mirror[part.clone()].copy_from_slice(&self.storage[part]);
                        }
                    }
                }
            }
            for &(at, _) in writes {
                let page = at / PAGE;
                let bytes = &self.storage[page * PAGE..][..PAGE];
                self.pages.gpu_writes(number, page, |known| known.copy_from_slice(bytes));
            }
            let before = self.mirror.clone();
            for &(at, value) in writes {
                self.mirror[at] = value;
            }
            self.in_flight.push_back((number, before, self.mirror.clone()));
        }

        fn come_down(&mut self) {
            let Some((number, before, after)) = self.in_flight.pop_front() else { return };
            for page in 0..PAGES {
                let bytes = page * PAGE..(page + 1) * PAGE;
                let (old, new) = (&before[bytes.clone()], &after[bytes.clone()]);
                if old == new {
                    continue;
                }
                self.pages.came_down(bytes.start as u64, old, new);
                for (at, (old, new)) in bytes.zip(old.iter().zip(new)) {
                    if old != new {
                        self.cpu(at, *new);
                    }
                }
            }
            self.pages.ended(number);
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Cpu(usize, u8),
        Submit(Vec<(usize, u8)>),
        ComeDown,
    }

    fn step() -> impl Strategy<Value = Step> {
        // Few places, on both pages, so that writes meet.
        let place = || (0..PAGES, 0usize..6).prop_map(|(page, at)| page * PAGE + at);
        prop_oneof![
            3 => (place(), any::<u8>()).prop_map(|(at, value)| Step::Cpu(at, value)),
            2 => prop::collection::vec((place(), any::<u8>()), 0..4).prop_map(Step::Submit),
            2 => Just(Step::ComeDown),
        ]
    }

    proptest! {
        /// Against one memory for both, as the hardware has: the CPU writes even bytes, the GPU odd ones.
        #[test]
        fn a_mirror_shows_both_sides_what_one_memory_would(steps in prop::collection::vec(step(), 1..60)) {
            let mut machine = Machine::new();
            let mut memory = machine.storage.clone();
            for step in steps {
                match step {
                    Step::Cpu(at, value) => {
                        let at = at & !1;
                        memory[at] = value;
                        machine.cpu(at, value);
                    }
                    Step::Submit(writes) => {
                        let writes: Vec<_> = writes.into_iter().map(|(at, value)| (at | 1, value)).collect();
                        machine.submit(&writes);
                        for (at, value) in writes {
                            memory[at] = value;
                        }
                        prop_assert_eq!(&machine.mirror, &memory, "the GPU sees all that came before the submission");
                    }
                    Step::ComeDown => machine.come_down(),
                }
            }
            while !machine.in_flight.is_empty() {
                machine.come_down();
            }
            prop_assert_eq!(&machine.storage, &memory, "the CPU sees all when everything has ended");
            machine.submit(&[]);
            prop_assert_eq!(&machine.mirror, &memory);
            prop_assert!((0..PAGES).all(|page| !machine.pages.is_pending(page)));
        }
    }

    proptest! {
        /// Against the number of the last range over each byte.
        #[test]
        fn ranges_come_in_the_order_of_their_last_writes(
            ranges in prop::collection::vec((0u64..40, 0u64..12).prop_map(|(start, len)| start..start + len), 0..12),
        ) {
            let last = |byte: u64| ranges.iter().rposition(|range| range.contains(&byte));
            let ordered = in_order(&ranges);
            let bytes: Vec<u64> = ordered.iter().cloned().flatten().collect();
            let numbers: Vec<usize> = bytes.iter().map(|byte| last(*byte).unwrap()).collect();
            prop_assert!(numbers.is_sorted(), "{:?}", ordered);
            let mut sorted = bytes;
            sorted.sort_unstable();
            let expected: Vec<u64> = (0..64).filter(|byte| last(*byte).is_some()).collect();
            prop_assert_eq!(sorted, expected, "each byte once");
        }
    }

    #[test]
    fn a_byte_of_the_gpus_is_the_cpus_again_when_it_came_down() {
        let mut machine = Machine::new();
        machine.submit(&[(5, 1)]);
        machine.come_down();
        assert_eq!(machine.storage[5], 1);
        machine.cpu(5, 2);
        machine.submit(&[(5, 3)]);
        assert_eq!(machine.mirror[5], 3);
        machine.come_down();
        assert_eq!(machine.storage[5], 3);
        // Put back by the CPU, written to the same value by the GPU: a change all the same.
        machine.cpu(5, 2);
        machine.submit(&[(5, 3)]);
        machine.come_down();
        assert_eq!(machine.storage[5], 3);
    }

    #[test]
    fn pages_that_the_gpu_never_writes_take_no_memory() {
        let mut pages = MirrorPages::new(1 << 40);
        assert_eq!(pages.carry(7, &[1; PAGE]), Carry::Whole);
        assert!(!pages.is_pending(7));
        assert!(pages.shadow.is_empty());
    }
}
