//! Registration: growth, re-use, shared granules.

use std::collections::BTreeSet;

use navin_memory::tracking::{
    MOST_RANGES, Mechanism, MechanismChoice, RegisterError, Span, Tracker, TrackingOptions, Writer,
};

use crate::support::{Memory, Setup, written};

/// Control: a table of 4,096 slots refuses the pools past it, and their textures count as written at each use.
pub fn b205_the_table_grows_by_blocks(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    const POOLS: usize = 4096 + 1030;
    let memory = Memory::new(POOLS * g);
    let pool = |index: usize| Span::new(memory.start + index * g, g);
    let mut kept = Vec::new();
    for index in 0..POOLS {
        tracker.register(pool(index).start, g).unwrap();
        if index % 1000 == 999 {
            kept.push((index, tracker.protect(pool(index)), tracker.handle(pool(index)).unwrap()));
        }
    }
    assert_eq!(tracker.counters().ranges, POOLS as u64);
    let last = pool(POOLS - 1);
    let stamp = tracker.protect(last);
    assert!(!written(&tracker, last, stamp));
    assert!(!written(&tracker, last, stamp));
    memory.write((POOLS - 1) * g, 1);
    assert!(written(&tracker, last, stamp));
    for (index, stamp, handle) in &kept {
        assert!(handle.is_live() && !handle.written_since(pool(*index), *stamp));
        memory.write(index * g, 1);
        tracker.fetch();
        assert!(handle.written_since(pool(*index), *stamp));
    }
}

#[test]
fn b205_the_ceiling_is_reported() {
    let tracker = Tracker::new(TrackingOptions { mechanism: MechanismChoice::Off, ..Default::default() }).unwrap();
    let mut ids = BTreeSet::new();
    for index in 0..MOST_RANGES {
        let id = tracker.register((index + 1) << 12, 1 << 12).unwrap();
        assert!(ids.insert(format!("{id:?}")));
    }
    let faults = navin_abi::fault::count();
    assert_eq!(tracker.register(1 << 40, 1), Err(RegisterError::Full(MOST_RANGES)));
    assert!(navin_abi::fault::count() > faults);
    assert!(tracker.retire(1 << 12));
    let id = tracker.register(1 << 40, 1).unwrap();
    assert!(ids.insert(format!("{id:?}")), "a slot that is used again gives another id");
}

/// Control: with the words left as they were when the range is retired, all three answer clean.
pub fn b206_stamps_older_than_the_registration_are_written(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let memory = Memory::new(4 * g);
    tracker.register(memory.start, memory.len).unwrap();
    let span = memory.span();
    let watch = tracker.watch(span);
    let handle = tracker.handle(span).unwrap();
    assert!(!watch.written() && !handle.written_since(span, watch.stamp()));
    tracker.retire(memory.start);
    memory.write(g, 7);
    let between = tracker.protect(span);
    tracker.register(memory.start, memory.len).unwrap();
    tracker.fetch();
    for stamp in [watch.stamp(), between] {
        assert!(tracker.written_since(span, stamp));
        assert!(handle.written_since(span, stamp));
        assert!(tracker.written_since_except(span, stamp, Writer(1)));
    }
    assert!(watch.written());
    // Once something of the new pool is protected, too.
    let stamp = tracker.protect(span);
    tracker.fetch();
    for old in [watch.stamp(), between] {
        assert!(tracker.written_since(span, old));
        assert!(tracker.handle(span).unwrap().written_since(span, old));
        assert!(tracker.written_since_except(span, old, Writer(1)));
    }
    assert!(handle.written_since(span, stamp), "a handle of the old range");
    assert!(!tracker.written_since(span, stamp));
    assert!(!tracker.handle(span).unwrap().written_since(span, stamp));
    assert!(!tracker.written_since_except(span, stamp, Writer(1)));
}

/// A neighbour keeps the page that both share protected, so that no write there is missed; the stamp is too old for the
/// new range all the same, as its holder may have asked about the old one.
pub fn b206_a_handle_answers_written_for_stamps_from_before_its_range(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let memory = Memory::new(4 * g);
    let (edge, half) = (Span::new(memory.start + g, 64), g + g / 2);
    tracker.register(memory.start, half).unwrap();
    tracker.register(memory.start + half, 4 * g - half).unwrap();
    let old = tracker.protect(edge);
    assert!(!tracker.handle(edge).unwrap().written_since(edge, old));
    tracker.retire(memory.start);
    tracker.register(memory.start, half).unwrap();
    let handle = tracker.handle(edge).unwrap();
    assert!(handle.written_since(edge, old));
    let new = tracker.protect(edge);
    assert!(!handle.written_since(edge, new));
}

/// Two pools that share a granule, as 4 KB aligned pools do on hosts with larger pages.
pub fn b407_neighbours_share_a_granule(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let memory = Memory::new(4 * g);
    let edge = memory.start + 2 * g + g / 4;
    let (first, second) = (Span::new(memory.start, edge - memory.start), Span::new(edge, g));
    for round in 0..3u8 {
        tracker.register(first.start, first.len).unwrap();
        tracker.register(second.start, second.len).unwrap();
        assert_eq!(tracker.handle(Span::new(edge, 16)).unwrap().span(), second);
        assert_eq!(tracker.handle(Span::new(edge - 16, 16)).unwrap().span(), first);
        assert!(tracker.handle(Span::new(edge - 16, 32)).is_none(), "no range holds it whole");
        // (1) A texture in the second pool, wholly in the shared granule, written nowhere.
        let texture = Span::new(edge + 16, 64);
        let own = Span::new(memory.start, g);
        let (a, b) = (tracker.protect(first), tracker.protect(texture));
        for _ in 0..3 {
            assert!(!written(&tracker, texture, b));
        }
        // (2) A write to the shared granule counts for both.
        memory.write(2 * g + round as usize, round);
        assert!(written(&tracker, texture, b));
        assert!(written(&tracker, first, a));
        assert!(!written(&tracker, own, a));
        // (3) One pool goes, the other stays tracked.
        let (a, b) = (tracker.protect(first), tracker.protect(texture));
        assert!(tracker.retire(if round % 2 == 0 { first.start } else { second.start }));
        let (rest, stamp) = if round % 2 == 0 { (texture, b) } else { (first, a) };
        assert!(!written(&tracker, rest, stamp));
        memory.write(2 * g + g / 2, round);
        assert!(written(&tracker, rest, stamp));
        let stamp = tracker.protect(rest);
        assert!(!written(&tracker, rest, stamp));
        // (4) The slot is used again in the next round.
        assert!(tracker.retire(if round % 2 == 0 { second.start } else { first.start }));
        assert!(written(&tracker, rest, stamp));
    }
}

pub fn b407_ranges_are_removed_by_their_exact_start(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let memory = Memory::new(8 * g);
    // One over all of it, one inside, as when a guest lays a pool over another.
    tracker.register(memory.start, memory.len).unwrap();
    tracker.register(memory.start + 2 * g, 2 * g).unwrap();
    let stamp = tracker.protect(memory.span());
    assert!(!tracker.retire(memory.start + 3 * g));
    assert!(tracker.retire(memory.start + 2 * g));
    assert!(!tracker.retire(memory.start + 2 * g));
    assert!(!written(&tracker, memory.span(), stamp));
    memory.write(3 * g, 1);
    assert!(written(&tracker, memory.span(), stamp));
    // The same start twice: as many retirements.
    tracker.register(memory.start, g).unwrap();
    assert!(tracker.retire(memory.start));
    let stamp = tracker.protect(memory.span());
    assert!(!written(&tracker, memory.span(), stamp));
    assert!(tracker.retire(memory.start));
    assert!(!tracker.retire(memory.start));
    assert!(written(&tracker, memory.span(), stamp));
}

pub fn several_trackers_coexist(setup: &Setup) {
    let g = setup.granule;
    let trackers: Vec<_> = (0..4).map(|_| (setup.tracker(), Memory::new(4 * g))).collect();
    let stamps: Vec<_> = trackers
        .iter()
        .map(|(tracker, memory)| {
            tracker.register(memory.start, memory.len).unwrap();
            tracker.protect(memory.span())
        })
        .collect();
    for (index, (_, memory)) in trackers.iter().enumerate().step_by(2) {
        memory.write(index * g, 1);
    }
    for (index, ((tracker, memory), stamp)) in trackers.iter().zip(stamps).enumerate() {
        assert_eq!(written(tracker, memory.span(), stamp), index % 2 == 0);
    }
}

/// userfaultfd refuses memory that another user of it has; the fault handler takes it.
pub fn memory_of_another_userfaultfd_falls_back(setup: &Setup) {
    if setup.is_mprotect() {
        return;
    }
    let g = setup.granule;
    let memory = Memory::new(8 * g);
    let (owner, tracker) = (setup.tracker(), setup.tracker());
    let (first, second) = (Span::new(memory.start, 4 * g), Span::new(memory.start + 5 * g, 3 * g));
    owner.register(first.start, first.len).unwrap();
    owner.protect(first);
    for pool in [first, second] {
        tracker.register(pool.start, pool.len).unwrap();
    }
    assert_eq!(tracker.mechanism().mechanism, Mechanism::Userfaultfd);
    let stamps = [first, second].map(|pool| tracker.protect(pool));
    let parts = || {
        tracker.fetch();
        let mut parts = Vec::new();
        tracker.written_spans(first, stamps[0], &mut parts);
        tracker.written_spans(second, stamps[1], &mut parts);
        parts
    };
    assert!(parts().is_empty());
    memory.write(g, 1);
    memory.write(5 * g, 1);
    assert_eq!(parts(), [Span::new(memory.start + g, g), Span::new(memory.start + 5 * g, g)]);
    assert_eq!(tracker.counters().faults, 1);
    // The bracket and host writes cover both kinds at once.
    tracker.protect(memory.span());
    let opened = tracker.open(&[memory.span()]);
    memory.write(3 * g, 1);
    memory.write(6 * g, 1);
    let closed = opened.close();
    assert_eq!((closed.opened, closed.changed), (7, 2));
    tracker.host_write(Span::new(memory.start + 2 * g, 4 * g), Writer(0));
    assert_eq!(memory.system_write(2 * g, 4 * g), Ok(4 * g));
    let all = [Span::new(memory.start + g, 3 * g), Span::new(memory.start + 5 * g, 2 * g)];
    assert_eq!(parts(), all);
}

pub fn retired_memory_is_writable(setup: &Setup) {
    let g = setup.granule;
    let memory = Memory::new(8 * g);
    {
        let tracker = setup.tracker();
        tracker.register(memory.start, memory.len).unwrap();
        tracker.protect(memory.span());
        tracker.retire(memory.start);
        assert_eq!(memory.system_write(0, 8 * g), Ok(8 * g));
        tracker.register(memory.start, memory.len).unwrap();
        tracker.protect(memory.span());
        // Unmapped by the guest before it is retired.
        let gone = Memory::new(4 * g);
        let (start, len) = (gone.start, gone.len);
        tracker.register(start, len).unwrap();
        tracker.protect(gone.span());
        drop(gone);
        assert!(tracker.retire(start));
        tracker.fetch();
    }
    // The tracker is gone, too.
    assert_eq!(memory.system_write(0, 8 * g), Ok(8 * g));
    memory.write(g, 1);
}
