//! The change log: which ids changed since a generation, so that a table is patched and not built (B128).
//!
//! A ring of slots, one atomic word each: the id in the low half, the low bits of the change's generation in the
//! high half. One word cannot be torn, so a reader needs no lock and no retry: a slot that does not hold the
//! generation it looks for has not been written yet (older) or has been overwritten (newer). Writers may be on any
//! thread: each takes the next generation and owns its slot's next value.
//!
//! The content that changed is elsewhere, under its own lock, and is changed *before* the note is left.

use std::sync::atomic::{AtomicU64, Ordering};

/// One note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// This id was registered, registered anew, or is gone.
    Id(u32),
    /// Storage came or went: ids whose storage was missing at the last look should be looked at again.
    Storage,
}

/// The id of [`Change::Storage`]; beyond every real id.
const STORAGE: u32 = u32::MAX;

/// The answer of [`ChangeLog::since`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// All changes after the generation asked about, up to this one, are in the list.
    Changes(u64),
    /// The log no longer has them all: build the whole; it will hold everything up to this generation at least.
    Overflow(u64),
}

/// A bounded log of changes, many writers, any number of readers that each remember a generation.
#[derive(Debug)]
pub struct ChangeLog {
    slots: Box<[AtomicU64]>,
    /// Generations taken so far.
    generation: AtomicU64,
}

impl ChangeLog {
    /// A log of the last `capacity` changes, rounded up to a power of two, at least 2.
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.clamp(2, 1 << 24).next_power_of_two();
        Self { slots: (0..capacity).map(|_| AtomicU64::new(0)).collect(), generation: AtomicU64::new(0) }
    }

    /// The newest generation taken; 0 before the first change. A reader that builds the whole takes this first.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Leaves a note, after the change itself; its generation.
    pub fn note(&self, change: Change) -> u64 {
        let id = match change {
            Change::Id(id) => id,
            Change::Storage => STORAGE,
        };
        let generation = self.generation.fetch_add(1, Ordering::AcqRel) + 1;
        let word = (u64::from(generation as u32) << 32) | u64::from(id);
        let slot = &self.slots[generation as usize & (self.slots.len() - 1)];
        // A writer that was overtaken by the whole ring must not put its old note over the newer one.
        let _ = slot.fetch_update(Ordering::Release, Ordering::Relaxed, |held| {
            is_older(tag(held), generation as u32).then_some(word)
        });
        generation
    }

    /// Appends to `changes` every change after generation `from`, oldest first, ids possibly more than once.
    ///
    /// A change whose writer has taken its generation and not yet left its note ends the list before it; the next
    /// call finds it. On overflow what was appended is of no use.
    pub fn since(&self, from: u64, changes: &mut Vec<Change>) -> Since {
        let newest = self.generation();
        if newest.saturating_sub(from) > self.slots.len() as u64 {
            return Since::Overflow(newest);
        }
        let mut reached = from;
        while reached < newest {
            let wanted = reached + 1;
            let word = self.slots[wanted as usize & (self.slots.len() - 1)].load(Ordering::Acquire);
            if tag(word) == wanted as u32 {
                let id = word as u32;
                changes.push(if id == STORAGE { Change::Storage } else { Change::Id(id) });
                reached = wanted;
            } else if is_older(tag(word), wanted as u32) {
                break;
            } else {
                return Since::Overflow(self.generation());
            }
        }
        Since::Changes(reached)
    }
}

/// The generation bits of a slot's word.
fn tag(word: u64) -> u32 {
    (word >> 32) as u32
}

/// Whether generation `a` comes before `b`, by their low halves; the two are less than 2^31 apart.
fn is_older(a: u32, b: u32) -> bool {
    a != b && b.wrapping_sub(a) < 1 << 31
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(log: &ChangeLog, from: u64) -> (Since, Vec<Change>) {
        let mut changes = Vec::new();
        let since = log.since(from, &mut changes);
        (since, changes)
    }

    #[test]
    fn b128_the_log_names_what_changed_since_a_generation() {
        let log = ChangeLog::new(4);
        assert_eq!(ids(&log, 0), (Since::Changes(0), vec![]));
        assert_eq!(log.note(Change::Id(7)), 1);
        assert_eq!(log.note(Change::Storage), 2);
        assert_eq!(log.note(Change::Id(7)), 3);
        assert_eq!(ids(&log, 0), (Since::Changes(3), vec![Change::Id(7), Change::Storage, Change::Id(7)]));
        assert_eq!(ids(&log, 2), (Since::Changes(3), vec![Change::Id(7)]));
        assert_eq!(ids(&log, 3), (Since::Changes(3), vec![]));
    }

    #[test]
    fn b128_an_overwritten_slot_asks_for_a_complete_build() {
        let log = ChangeLog::new(4);
        for id in 0..5 {
            log.note(Change::Id(id));
        }
        assert_eq!(ids(&log, 0).0, Since::Overflow(5));
        assert_eq!(ids(&log, 1), (Since::Changes(5), (1..5).map(Change::Id).collect()));
    }

    #[test]
    fn b128_a_note_not_yet_left_ends_the_list_and_is_found_later() {
        let log = ChangeLog::new(4);
        log.note(Change::Id(1));
        // What a writer has done between taking its generation and leaving its note.
        log.generation.fetch_add(1, Ordering::AcqRel);
        log.note(Change::Id(3));
        assert_eq!(ids(&log, 0), (Since::Changes(1), vec![Change::Id(1)]));
        log.slots[2].store((2 << 32) | 2, Ordering::Release);
        assert_eq!(ids(&log, 1), (Since::Changes(3), vec![Change::Id(2), Change::Id(3)]));
    }

    #[test]
    fn tags_wrap_with_the_low_half_of_the_generation() {
        let log = ChangeLog::new(4);
        let near = (1u64 << 32) - 2;
        log.generation.store(near, Ordering::Release);
        for slot in &log.slots {
            slot.store(((near - 4) as u32 as u64) << 32, Ordering::Release);
        }
        for id in 0..4 {
            log.note(Change::Id(id));
        }
        assert_eq!(ids(&log, near), (Since::Changes(near + 4), (0..4).map(Change::Id).collect()));
    }

    #[test]
    fn b128_no_torn_slot_is_accepted_from_many_writers() {
        const EACH: u32 = 50_000;
        let log = ChangeLog::new(64);
        std::thread::scope(|scope| {
            for writer in 0..2u32 {
                let log = &log;
                scope.spawn(move || {
                    for n in 0..EACH {
                        log.note(Change::Id(writer << 24 | n));
                    }
                });
            }
            let log = &log;
            scope.spawn(move || {
                let mut from = 0;
                let mut last = [None::<u32>; 2];
                let mut changes = Vec::new();
                while from < u64::from(EACH) * 2 {
                    changes.clear();
                    match log.since(from, &mut changes) {
                        Since::Changes(to) => {
                            assert_eq!(changes.len() as u64, to - from);
                            for change in &changes {
                                let Change::Id(id) = *change else { panic!("no storage change was noted") };
                                let (writer, n) = ((id >> 24) as usize, id & 0xFF_FFFF);
                                assert!(writer < 2 && n < EACH);
                                // Each writer's notes come in order, none twice.
                                assert!(last[writer].is_none_or(|last| last < n), "{last:?} {n}");
                                last[writer] = Some(n);
                            }
                            from = to;
                        }
                        Since::Overflow(to) => {
                            assert!(to > from);
                            from = to;
                        }
                    }
                }
            });
        });
    }
}
