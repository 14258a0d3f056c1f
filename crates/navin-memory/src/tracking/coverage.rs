//! Which granules are tracked, by how many ranges and by what: disjoint segments in address order.
//!
//! Ranges are rounded out to granules, so neighbours may share one (B407), and the guest may even lay pools over each
//! other. A granule is watched once, whatever the number of ranges; it is let go with the last of them.

use std::collections::BTreeMap;
use std::ops::Range;

/// What watches a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watcher {
    /// Nobody yet: nothing in it was ever protected. Most pools stay so, and cost nothing.
    Nobody,
    /// userfaultfd; writes are found by a fetch.
    Fetch,
    /// The MMU and the fault handler.
    Fault,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    end: usize,
    ranges: u32,
    watcher: Watcher,
}

/// The segments, by their first granule.
#[derive(Default)]
pub struct Coverage {
    segments: BTreeMap<usize, Segment>,
}

impl Coverage {
    /// Adds a range. Nobody watches the parts that no range covered before.
    pub fn add(&mut self, granules: Range<usize>) {
        self.split(granules.start);
        self.split(granules.end);
        let mut at = granules.start;
        let mut gaps = Vec::new();
        for (&first, segment) in self.segments.range_mut(granules.clone()) {
            segment.ranges += 1;
            if at < first {
                gaps.push(at..first);
            }
            at = segment.end;
        }
        if at < granules.end {
            gaps.push(at..granules.end);
        }
        for gap in gaps {
            self.segments.insert(gap.start, Segment { end: gap.end, ranges: 1, watcher: Watcher::Nobody });
        }
        self.merge(granules);
    }

    /// Takes a range away that was added; the parts that no range covers any more.
    pub fn remove(&mut self, granules: Range<usize>) -> Vec<(Range<usize>, Watcher)> {
        self.split(granules.start);
        self.split(granules.end);
        let mut free = Vec::new();
        for (&first, segment) in self.segments.range_mut(granules.clone()) {
            segment.ranges -= 1;
            if segment.ranges == 0 {
                free.push((first..segment.end, segment.watcher));
            }
        }
        for (part, _) in &free {
            self.segments.remove(&part.start);
        }
        self.merge(granules);
        free
    }

    /// Gives each segment over the run that nobody watches a watcher. `attach` is asked about whole segments, which may
    /// go past the run: to watch texture by texture would cut the memory in as many mappings.
    pub fn attach(&mut self, granules: Range<usize>, mut attach: impl FnMut(Range<usize>) -> Watcher) {
        let over = self.parts(granules).filter(|(_, watcher)| *watcher == Watcher::Nobody);
        let firsts: Vec<usize> = over.filter_map(|(part, _)| self.first(part.start)).collect();
        for first in firsts {
            let Some(segment) = self.segments.get_mut(&first) else { continue };
            let whole = first..segment.end;
            segment.watcher = attach(whole.clone());
            self.merge(whole);
        }
    }

    /// The first granule of the segment over a granule.
    fn first(&self, granule: usize) -> Option<usize> {
        self.segments.range(..=granule).next_back().map(|(&first, _)| first)
    }

    /// The tracked parts of a run, with who watches them, in address order; neighbours that are watched alike come
    /// as one or as several.
    pub fn parts(&self, granules: Range<usize>) -> impl Iterator<Item = (Range<usize>, Watcher)> {
        let before = self.segments.range(..granules.start).next_back().filter(|(_, s)| s.end > granules.start);
        before
            .into_iter()
            .chain(self.segments.range(granules.clone()))
            .map(move |(&first, segment)| (first.max(granules.start)..segment.end.min(granules.end), segment.watcher))
    }

    /// Makes `at` a boundary, if a segment lies over it.
    fn split(&mut self, at: usize) {
        let Some((_, segment)) = self.segments.range_mut(..at).next_back() else { return };
        if segment.end > at {
            let behind = *segment;
            segment.end = at;
            self.segments.insert(at, behind);
        }
    }

    /// Joins neighbours that are alike, from the segment before the run to the one behind it.
    fn merge(&mut self, granules: Range<usize>) {
        let from = self.segments.range(..granules.start).next_back().map_or(granules.start, |(&first, _)| first);
        let mut at = from;
        while at <= granules.end
            && let Some((&first, &segment)) = self.segments.range(at..=granules.end).next()
        {
            if let Some(next) = self.segments.get(&segment.end).copied()
                && next.ranges == segment.ranges
                && next.watcher == segment.watcher
                && segment.end <= granules.end
            {
                self.segments.remove(&segment.end);
                self.segments.insert(first, Segment { end: next.end, ..segment });
                at = first;
            } else {
                at = segment.end;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a count and a watcher for each granule.
        #[test]
        fn b407_coverage_counts_ranges_of_each_granule(
            steps in prop::collection::vec((0u8..4, 0usize..40, 1usize..12, any::<bool>()), 1..60),
        ) {
            let mut coverage = Coverage::default();
            let mut naive: Vec<(u32, Watcher)> = vec![(0, Watcher::Nobody); 64];
            let mut live: Vec<Range<usize>> = Vec::new();
            for (step, start, len, fault) in steps {
                let run = start..start + len;
                if step == 3 {
                    let watcher = if fault { Watcher::Fault } else { Watcher::Fetch };
                    let mut attached = Vec::new();
                    coverage.attach(run.clone(), |whole| {
                        attached.extend(whole);
                        watcher
                    });
                    for &g in &attached {
                        prop_assert!(naive[g].0 > 0 && naive[g].1 == Watcher::Nobody);
                        naive[g].1 = watcher;
                    }
                    for g in run {
                        prop_assert!(naive[g].0 == 0 || naive[g].1 != Watcher::Nobody);
                    }
                } else if step > 0 || live.is_empty() {
                    coverage.add(run.clone());
                    run.clone().for_each(|g| naive[g].0 += 1);
                    live.push(run);
                } else {
                    let run = live.swap_remove(start % live.len());
                    let parts = coverage.remove(run.clone()).into_iter();
                    let free: Vec<_> = parts.flat_map(|(part, w)| part.map(move |g| (g, w))).collect();
                    let mut expected = Vec::new();
                    for g in run {
                        naive[g].0 -= 1;
                        if naive[g].0 == 0 {
                            expected.push((g, std::mem::replace(&mut naive[g].1, Watcher::Nobody)));
                        }
                    }
                    prop_assert_eq!(free, expected);
                }
                let parts: Vec<_> = coverage.parts(3..50).flat_map(|(part, w)| part.map(move |g| (g, w))).collect();
                let expected: Vec<_> = (3..50).filter(|&g| naive[g].0 > 0).map(|g| (g, naive[g].1)).collect();
                prop_assert_eq!(parts, expected);
                // Neighbours that are alike are one segment.
                for (first, segment) in &coverage.segments {
                    let next = coverage.segments.get(&segment.end);
                    prop_assert!(first < &segment.end);
                    prop_assert!(!next.is_some_and(|n| n.ranges == segment.ranges && n.watcher == segment.watcher));
                }
            }
        }
    }
}
