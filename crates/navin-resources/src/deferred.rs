//! Deferred release: what submitted work may still use, kept until that work has ended.

use std::collections::VecDeque;

/// Values that wait for a submission value (a ticket of the timeline) to be reached.
#[derive(Debug)]
pub struct DeferredRelease<T> {
    /// Ascending by value; among equals in the order of their coming.
    waiting: VecDeque<(u64, T)>,
}

impl<T> Default for DeferredRelease<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> DeferredRelease<T> {
    /// An empty queue.
    pub const fn new() -> Self {
        Self { waiting: VecDeque::new() }
    }

    /// Keeps `value` until `after`, the newest submission that may use it, has ended (0: until the next drain).
    pub fn push(&mut self, after: u64, value: T) {
        // Values come almost always in order, so the place is at or near the end.
        let behind = self.waiting.iter().rev().take_while(|(at, _)| *at > after).count();
        self.waiting.insert(self.waiting.len() - behind, (after, value));
    }

    /// Takes out everything whose submission is at or before `completed`, oldest first. What the caller does not
    /// take from the iterator is dropped with it.
    pub fn drain(&mut self, completed: u64) -> impl Iterator<Item = T> + '_ {
        let ready = self.waiting.partition_point(|(after, _)| *after <= completed);
        self.waiting.drain(..ready).map(|(_, value)| value)
    }

    /// The submission value that the next value waits for.
    pub fn next_at(&self) -> Option<u64> {
        self.waiting.front().map(|(after, _)| *after)
    }

    /// How many values wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn b651_a_release_waits_for_its_own_submission_and_no_further_one() {
        let mut queue = DeferredRelease::new();
        queue.push(5, "a");
        queue.push(7, "c");
        queue.push(5, "b");
        assert_eq!(queue.drain(4).count(), 0);
        assert_eq!(queue.next_at(), Some(5));
        assert_eq!(queue.drain(5).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(queue.drain(6).count(), 0);
        assert_eq!(queue.drain(7).collect::<Vec<_>>(), ["c"]);
        assert!(queue.is_empty());
    }

    proptest! {
        #[test]
        fn drains_exactly_what_has_ended(pushes in prop::collection::vec((0u64..20, prop::option::of(0u64..25)), 0..60)) {
            let mut queue = DeferredRelease::new();
            let mut model: Vec<(u64, usize)> = Vec::new();
            for (name, (after, drain)) in pushes.into_iter().enumerate() {
                queue.push(after, name);
                model.push((after, name));
                if let Some(completed) = drain {
                    model.sort();
                    let (out, rest): (Vec<_>, Vec<_>) = model.into_iter().partition(|(after, _)| *after <= completed);
                    model = rest;
                    let got: Vec<usize> = queue.drain(completed).collect();
                    prop_assert_eq!(got, out.into_iter().map(|(_, name)| name).collect::<Vec<_>>());
                }
                prop_assert_eq!(queue.len(), model.len());
            }
        }
    }
}
