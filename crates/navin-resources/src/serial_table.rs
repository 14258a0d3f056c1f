//! From serials to what stands behind them on the host, for live and for finalized objects.
//!
//! Two tables (B207). The *live* one has an entry for every object that the guest has initialized and not
//! finalized, whether or not there is a host value for it yet. The *finalized* one holds values whose object is
//! gone and that recorded commands or registered ids can still resolve. It is ordered by use and drains to a
//! limit, but only entries that have idled for a while go (B201): a working set larger than the limit stays whole
//! while it is in use.

use rustc_hash::FxHashMap;

use crate::Serial;

/// Which table a serial is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// The guest's object exists.
    Live,
    /// It has been finalized.
    Finalized,
}

/// Now, by the two clocks that idleness is measured in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Presents so far.
    pub frame: u64,
    /// Submissions so far.
    pub submission: u64,
}

/// When finalized entries go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries that stay however long they idle: the size the table drains to.
    pub keep: usize,
    /// An entry idles when it was not used for this many frames ...
    pub idle_frames: u64,
    /// ... or for this many submissions, which serves a stretch without presents.
    pub idle_submissions: u64,
    /// Most entries that one insertion removes.
    pub per_insertion: usize,
    /// Most entries that one commit removes; below the 64 notes that a cache takes at once.
    pub per_commit: usize,
}

impl Default for Limits {
    /// The figures of B201.
    fn default() -> Self {
        Self { keep: 512, idle_frames: 16, idle_submissions: 1024, per_insertion: 2, per_commit: 32 }
    }
}

impl Limits {
    /// Nothing goes before [`SerialTable::remove`]: for values that cannot be made again from a record.
    pub const UNBOUNDED: Self =
        Self { keep: usize::MAX, idle_frames: u64::MAX, idle_submissions: u64::MAX, per_insertion: 0, per_commit: 0 };
}

/// Index of no node.
const NIL: u32 = u32::MAX;

/// One finalized entry, linked into the list of use.
#[derive(Debug)]
struct Node<T> {
    serial: Serial,
    /// `None` in a free node.
    value: Option<T>,
    used: Moment,
    /// Towards the least recently used.
    older: u32,
    /// Towards the most recently used.
    newer: u32,
}

/// The two tables for one kind of object.
#[derive(Debug)]
pub struct SerialTable<T> {
    limits: Limits,
    live: FxHashMap<Serial, Option<T>>,
    finalized: FxHashMap<Serial, u32>,
    nodes: Vec<Node<T>>,
    free: Vec<u32>,
    oldest: u32,
    newest: u32,
    insertions: u64,
}

impl<T> Default for SerialTable<T> {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl<T> SerialTable<T> {
    /// Empty tables.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            live: FxHashMap::default(),
            finalized: FxHashMap::default(),
            nodes: Vec::new(),
            free: Vec::new(),
            oldest: NIL,
            newest: NIL,
            insertions: 0,
        }
    }

    /// An object has been initialized: its serial is live, without a value until one is [`put`](Self::put).
    pub fn create(&mut self, serial: Serial) {
        self.live.entry(serial).or_insert(None);
    }

    /// An object has been initialized and its value is known at once.
    pub fn insert(&mut self, serial: Serial, value: T) {
        self.live.insert(serial, Some(value));
    }

    /// Puts a value under a serial: into the live table for a live object, else into the finalized one (B207), so
    /// that replay of an old recording never brings a dead serial back to life. A value that it replaces, and
    /// idle ones that go to make room, are appended to `gone` for deferred release.
    pub fn put(&mut self, serial: Serial, value: T, now: Moment, gone: &mut Vec<(Serial, T)>) -> State {
        if let Some(entry) = self.live.get_mut(&serial) {
            gone.extend(entry.replace(value).map(|old| (serial, old)));
            return State::Live;
        }
        self.put_finalized(serial, value, now, gone);
        State::Finalized
    }

    /// The guest has finalized the object: its value, if there is one, moves to the finalized table. False when
    /// the serial is not live.
    pub fn finalize(&mut self, serial: Serial, now: Moment, gone: &mut Vec<(Serial, T)>) -> bool {
        match self.live.remove(&serial) {
            Some(Some(value)) => {
                self.put_finalized(serial, value, now, gone);
                true
            }
            Some(None) => true,
            None => false,
        }
    }

    /// Takes a serial out of whichever table it is in, with its value.
    pub fn remove(&mut self, serial: Serial) -> Option<T> {
        match self.live.remove(&serial) {
            Some(value) => value,
            None => self.finalized.remove(&serial).and_then(|index| self.release(index)),
        }
    }

    /// Which table the serial is in; `None` for neither.
    pub fn state(&self, serial: Serial) -> Option<State> {
        if self.live.contains_key(&serial) {
            Some(State::Live)
        } else {
            self.finalized.contains_key(&serial).then_some(State::Finalized)
        }
    }

    /// The value, live or finalized, without marking it as used.
    pub fn peek(&self, serial: Serial) -> Option<&T> {
        match self.live.get(&serial) {
            Some(value) => value.as_ref(),
            None => self.finalized.get(&serial).and_then(|&index| self.nodes.get(index as usize)?.value.as_ref()),
        }
    }

    /// The value, live or finalized, for use by a submission: a finalized one counts as used now.
    pub fn resolve(&mut self, serial: Serial, now: Moment) -> Option<&mut T> {
        if self.live.contains_key(&serial) {
            return self.live.get_mut(&serial)?.as_mut();
        }
        let index = *self.finalized.get(&serial)?;
        if self.newest != index {
            self.unlink(index);
            self.link_newest(index);
        }
        let node = self.nodes.get_mut(index as usize)?;
        node.used = now;
        node.value.as_mut()
    }

    /// The end of a submission: removes idle entries above the limit, a bounded number, into `gone`.
    pub fn commit(&mut self, now: Moment, gone: &mut Vec<(Serial, T)>) {
        self.evict(self.limits.per_commit, now, gone);
    }

    /// Every live serial with its value.
    pub fn live(&self) -> impl Iterator<Item = (Serial, Option<&T>)> {
        self.live.iter().map(|(&serial, value)| (serial, value.as_ref()))
    }

    /// Numbers of live and of finalized entries.
    pub fn counts(&self) -> (usize, usize) {
        (self.live.len(), self.finalized.len())
    }

    /// How many values were ever put into the finalized table; a count that leaps while the table's size stands
    /// still is thrash (B201).
    pub fn insertions(&self) -> u64 {
        self.insertions
    }

    fn put_finalized(&mut self, serial: Serial, value: T, now: Moment, gone: &mut Vec<(Serial, T)>) {
        self.insertions += 1;
        if let Some(old) = self.finalized.remove(&serial).and_then(|index| self.release(index)) {
            gone.push((serial, old));
        }
        let node = Node { serial, value: Some(value), used: now, older: NIL, newer: NIL };
        let index = match self.free.pop() {
            Some(index) => {
                self.nodes[index as usize] = node;
                index
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        };
        self.link_newest(index);
        self.finalized.insert(serial, index);
        self.evict(self.limits.per_insertion, now, gone);
    }

    fn evict(&mut self, most: usize, now: Moment, gone: &mut Vec<(Serial, T)>) {
        for _ in 0..most {
            if self.finalized.len() <= self.limits.keep {
                return;
            }
            // In order of use, so the first that does not idle ends the search.
            let index = self.oldest;
            let Some(node) = self.nodes.get(index as usize) else { return };
            let idle = now.frame.saturating_sub(node.used.frame) >= self.limits.idle_frames
                || now.submission.saturating_sub(node.used.submission) >= self.limits.idle_submissions;
            if !idle {
                return;
            }
            let serial = node.serial;
            self.finalized.remove(&serial);
            gone.extend(self.release(index).map(|value| (serial, value)));
        }
    }

    /// Takes a node out of the list and makes it free.
    fn release(&mut self, index: u32) -> Option<T> {
        self.unlink(index);
        self.free.push(index);
        self.nodes.get_mut(index as usize)?.value.take()
    }

    fn unlink(&mut self, index: u32) {
        let Node { older, newer, .. } = self.nodes[index as usize];
        match self.nodes.get_mut(older as usize) {
            Some(node) => node.newer = newer,
            None => self.oldest = newer,
        }
        match self.nodes.get_mut(newer as usize) {
            Some(node) => node.older = older,
            None => self.newest = older,
        }
    }

    fn link_newest(&mut self, index: u32) {
        let before = self.newest;
        let node = &mut self.nodes[index as usize];
        node.older = before;
        node.newer = NIL;
        match self.nodes.get_mut(before as usize) {
            Some(node) => node.newer = index,
            None => self.oldest = index,
        }
        self.newest = index;
    }

    /// Serials of the finalized table, least recently used first.
    pub fn by_use(&self) -> impl Iterator<Item = Serial> {
        let mut index = self.oldest;
        std::iter::from_fn(move || {
            let node = self.nodes.get(index as usize)?;
            index = node.newer;
            Some(node.serial)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Serials;

    fn at(frame: u64, submission: u64) -> Moment {
        Moment { frame, submission }
    }

    /// Each finalized serial has one place in the list, and the list is in order of use.
    fn check<T>(table: &SerialTable<T>) {
        let order: Vec<_> = table.by_use().collect();
        assert_eq!(order.len(), table.finalized.len());
        let mut last = Moment::default();
        for serial in order {
            let node = &table.nodes[table.finalized[&serial] as usize];
            assert_eq!(node.serial, serial);
            assert!(node.used.submission >= last.submission);
            last = node.used;
        }
    }

    #[test]
    fn b207_a_put_goes_where_the_object_is() {
        let serials = Serials::new();
        let mut table = SerialTable::default();
        let mut gone = Vec::new();
        let live = serials.next();
        table.create(live);
        assert_eq!(table.peek(live), None);
        assert_eq!(table.put(live, "a", at(0, 0), &mut gone), State::Live);
        assert_eq!(table.put(live, "b", at(0, 0), &mut gone), State::Live);
        assert_eq!(gone, [(live, "a")]);
        assert!(table.finalize(live, at(0, 0), &mut gone));
        assert!(!table.finalize(live, at(0, 0), &mut gone));
        assert_eq!(table.state(live), Some(State::Finalized));
        assert_eq!(table.resolve(live, at(0, 1)), Some(&mut "b"));
        // Replay makes the dead serial's value anew: never into the live table.
        assert_eq!(table.put(live, "c", at(0, 2), &mut gone), State::Finalized);
        assert_eq!(table.counts(), (0, 1));
        assert_eq!(table.remove(live), Some("c"));
        assert_eq!(table.state(live), None);
        check(&table);
    }

    #[test]
    fn b207_finalized_render_targets_do_not_grow_the_live_table() {
        let serials = Serials::new();
        let mut table = SerialTable::default();
        let mut gone = Vec::new();
        for frame in 0..1000 {
            let recorded: Vec<_> = (0..10).map(|_| serials.next()).collect();
            for &serial in &recorded {
                table.create(serial);
                table.finalize(serial, at(frame, frame), &mut gone);
            }
            for &serial in &recorded {
                assert_eq!(table.put(serial, frame, at(frame, frame), &mut gone), State::Finalized);
            }
            table.commit(at(frame, frame), &mut gone);
            assert_eq!(table.counts().0, 0);
        }
        assert!(table.counts().1 <= 512, "{:?}", table.counts());
        check(&table);
    }

    fn filled(count: usize, now: Moment) -> (SerialTable<usize>, Vec<Serial>) {
        let serials = Serials::new();
        let mut table = SerialTable::default();
        let mut gone = Vec::new();
        let all: Vec<_> = (0..count).map(|_| serials.next()).collect();
        for (value, &serial) in all.iter().enumerate() {
            table.put(serial, value, now, &mut gone);
        }
        assert!(gone.is_empty());
        (table, all)
    }

    #[test]
    fn b201_a_working_set_above_the_limit_stays_whole_and_drains_once_idle() {
        let (mut table, all) = filled(2048, at(0, 0));
        let mut gone = Vec::new();
        let mut submission = 0;
        for frame in 0..32 {
            for _ in 0..25 {
                submission += 1;
                for &serial in &all {
                    assert!(table.resolve(serial, at(frame, submission)).is_some());
                }
                table.commit(at(frame, submission), &mut gone);
            }
        }
        assert!(gone.is_empty());
        assert_eq!(table.insertions(), 2048);
        table.commit(at(31 + 15, submission + 1), &mut gone);
        assert!(gone.is_empty(), "15 frames are not idle");
        table.commit(at(31 + 16, submission + 1), &mut gone);
        assert_eq!(gone.len(), 32);
        for _ in 0..100 {
            table.commit(at(31 + 16, submission + 1), &mut gone);
        }
        assert_eq!(table.counts().1, 512);
        let order: Vec<_> = gone.iter().map(|(serial, _)| *serial).collect();
        assert_eq!(order, all[..2048 - 512], "least recently used first");
        check(&table);
    }

    #[test]
    fn b201_without_presents_entries_go_after_1024_submissions_and_not_one_earlier() {
        let (mut table, all) = filled(513, at(0, 0));
        let mut gone = Vec::new();
        table.commit(at(0, 1023), &mut gone);
        assert!(gone.is_empty());
        table.commit(at(0, 1024), &mut gone);
        assert_eq!(gone, [(all[0], 0)]);
    }

    #[test]
    fn b201_an_insertion_removes_at_most_two_and_passes_over_what_was_used() {
        let (mut table, all) = filled(520, at(0, 0));
        let mut gone = Vec::new();
        table.resolve(all[0], at(16, 16));
        let new = Serial::from_raw(1000).unwrap();
        table.put(new, 0, at(16, 16), &mut gone);
        assert_eq!(gone.iter().map(|(serial, _)| *serial).collect::<Vec<_>>(), all[1..3]);
        check(&table);
    }

    #[test]
    fn unbounded_tables_keep_everything() {
        let mut table = SerialTable::new(Limits::UNBOUNDED);
        let mut gone = Vec::new();
        for raw in 1..5000 {
            table.put(Serial::from_raw(raw).unwrap(), raw, at(0, 0), &mut gone);
        }
        table.commit(at(u64::MAX - 1, u64::MAX - 1), &mut gone);
        assert!(gone.is_empty());
        assert_eq!(table.counts(), (0, 4999));
    }

    proptest! {
        /// Against a plain list: same lookups, same evictions in the same order.
        #[test]
        fn b201_agrees_with_a_plain_list(ops in prop::collection::vec((0u8..6, 1u64..40, 0u64..4), 0..400)) {
            let limits = Limits { keep: 8, idle_frames: 3, idle_submissions: 50, per_insertion: 2, per_commit: 4 };
            let mut table = SerialTable::new(limits);
            let mut model: Vec<(Serial, u64, Moment)> = Vec::new();
            let mut live: Vec<(Serial, Option<u64>)> = Vec::new();
            let (mut gone, mut expected) = (Vec::new(), Vec::new());
            let mut now = at(0, 0);
            fn evict(model: &mut Vec<(Serial, u64, Moment)>, most: usize, now: Moment, out: &mut Vec<(Serial, u64)>) {
                for _ in 0..most {
                    let idle = |m: &Moment| now.frame - m.frame >= 3 || now.submission - m.submission >= 50;
                    if model.len() > 8 && idle(&model[0].2) {
                        let (serial, value, _) = model.remove(0);
                        out.push((serial, value));
                    }
                }
            }
            for (n, (op, raw, step)) in ops.into_iter().enumerate() {
                let serial = Serial::from_raw(raw).unwrap();
                let value = n as u64;
                let place = live.iter().position(|&(s, _)| s == serial);
                match op {
                    0 if place.is_none() && !model.iter().any(|m| m.0 == serial) => {
                        table.create(serial);
                        live.push((serial, None));
                    }
                    1 | 2 => {
                        let state = table.put(serial, value, now, &mut gone);
                        if let Some(place) = place {
                            prop_assert_eq!(state, State::Live);
                            expected.extend(live[place].1.replace(value).map(|old| (serial, old)));
                        } else {
                            prop_assert_eq!(state, State::Finalized);
                            if let Some(old) = model.iter().position(|m| m.0 == serial) {
                                let (_, value, _) = model.remove(old);
                                expected.push((serial, value));
                            }
                            model.push((serial, value, now));
                            evict(&mut model, 2, now, &mut expected);
                        }
                    }
                    3 => {
                        prop_assert_eq!(table.finalize(serial, now, &mut gone), place.is_some());
                        if let Some(place) = place
                            && let (_, Some(value)) = live.remove(place)
                        {
                            model.push((serial, value, now));
                            evict(&mut model, 2, now, &mut expected);
                        }
                    }
                    4 => {
                        let got = table.resolve(serial, now).copied();
                        let want = if let Some(place) = place {
                            live[place].1
                        } else if let Some(at) = model.iter().position(|m| m.0 == serial) {
                            let (_, value, _) = model.remove(at);
                            model.push((serial, value, now));
                            Some(value)
                        } else {
                            None
                        };
                        prop_assert_eq!(got, want);
                    }
                    _ => {
                        now.submission += step;
                        now.frame += step / 2;
                        table.commit(now, &mut gone);
                        evict(&mut model, 4, now, &mut expected);
                    }
                }
                prop_assert_eq!(&gone, &expected);
                prop_assert_eq!(table.by_use().collect::<Vec<_>>(), model.iter().map(|m| m.0).collect::<Vec<_>>());
                prop_assert_eq!(table.counts(), (live.len(), model.len()));
            }
        }
    }
}
