//! Stamps, writes, questions.

use navin_memory::tracking::{Mechanism, MechanismChoice, Span, Stamp, Tracker, TrackingOptions, Writer};

use crate::support::{Memory, Setup, memfd, written, written_parts};

pub fn a_write_is_seen_once_and_only_where_it_was(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let memory = Memory::new(16 * g);
    tracker.register(memory.start, memory.len).unwrap();
    let texture = Span::new(memory.start + 4 * g, 8 * g);
    let stamp = tracker.protect(texture);
    assert!(!written(&tracker, texture, stamp));
    assert!(written_parts(&tracker, texture, stamp).is_empty());
    // Beside it: nothing.
    memory.write(0, 1);
    memory.write(12 * g, 1);
    assert!(!written(&tracker, texture, stamp));
    memory.write(6 * g + 123, 1);
    memory.write(7 * g, 1);
    memory.write(10 * g - 1, 1);
    assert!(written(&tracker, texture, stamp));
    assert_eq!(written_parts(&tracker, texture, stamp), [(2 * g, 2 * g), (5 * g, g)]);
    // A part of it that was not written.
    assert!(!tracker.written_since(Span::new(texture.start, 2 * g), stamp));
    // Parts are cut at the span, not at granules.
    let inside = Span::new(memory.start + 6 * g + 1, g);
    assert_eq!(written_parts(&tracker, inside, stamp), [(0, g)]);
    // Read again: clean for the new stamp, written for the old one, whoever asks.
    let again = tracker.protect(texture);
    assert!(!written(&tracker, texture, again));
    assert!(written(&tracker, texture, stamp));
    memory.write(6 * g, 2);
    assert!(written(&tracker, texture, again));
    assert_eq!(memory.read(6 * g), 2);
}

/// More than one thread's share of memory (256 MB), in two pools with a gap, none of it touched but for the writes.
pub fn a_large_fetch_finds_what_was_written_everywhere(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    const POOL: usize = 448 << 20;
    let memory = Memory::new(2 * POOL + (64 << 20));
    let pools = [0, POOL + (64 << 20)].map(|at| Span::new(memory.start + at, POOL));
    for pool in pools {
        tracker.register(pool.start, pool.len).unwrap();
    }
    let stamps = pools.map(|pool| tracker.protect(pool));
    for round in 1..4u8 {
        // The ends, the middle, and places all over; in an order that is not theirs.
        let mut places: Vec<usize> = (0..61).map(|n| n * 37 % 61 * (POOL / 61) / g * g).collect();
        places.extend([POOL - g, POOL / 2 - g, POOL / 2, (256 << 20) - g, 256 << 20]);
        for pool in pools {
            for &place in &places {
                memory.write(pool.start - memory.start + place, round);
            }
        }
        places.sort_unstable();
        places.dedup();
        let fetched = tracker.fetch();
        for (pool, stamp) in pools.into_iter().zip(stamps) {
            let mut parts = Vec::new();
            tracker.written_spans(pool, stamp, &mut parts);
            let found: Vec<usize> =
                parts.iter().flat_map(|part| (part.start - pool.start..part.end() - pool.start).step_by(g)).collect();
            assert_eq!(found, places, "round {round}");
        }
        if !setup.is_mprotect() {
            assert_eq!((fetched.scanned, fetched.written), (2 * POOL, 2 * places.len()));
        }
    }
}

pub fn nothing_protected_counts_as_written(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let memory = Memory::new(8 * g);
    // Not tracked.
    let stamp = tracker.protect(memory.span());
    assert!(written(&tracker, memory.span(), stamp));
    tracker.register(memory.start, 4 * g).unwrap();
    // Tracked, and not protected since.
    assert!(written(&tracker, memory.span(), stamp));
    assert!(written(&tracker, memory.span(), tracker.clock()));
    // Half of it tracked.
    let stamp = tracker.protect(memory.span());
    assert!(!written(&tracker, Span::new(memory.start, 4 * g), stamp));
    assert_eq!(written_parts(&tracker, memory.span(), stamp), [(4 * g, 4 * g)]);
    assert!(written(&tracker, Span::new(memory.start, 4 * g), Stamp::NEVER));
    // A stamp of one span says nothing of another that is protected later.
    let (first, second) = (Span::new(memory.start, g), Span::new(memory.start + 2 * g, g));
    tracker.retire(memory.start);
    tracker.register(memory.start, 4 * g).unwrap();
    let early = tracker.protect(first);
    memory.write(2 * g, 1);
    tracker.protect(second);
    assert!(written(&tracker, second, early));
}

/// B412 (2). Control: with the stamp taken after the protection and the read, the write below is covered by it.
pub fn b412_a_write_between_stamp_and_read_is_one_since_the_stamp(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let memory = Memory::new(4 * g);
    tracker.register(memory.start, memory.len).unwrap();
    for round in 0..4 {
        let stamp = tracker.protect(memory.span());
        memory.write(g + round, 1);
        let _read = memory.read(g + round);
        let late = tracker.clock();
        assert!(written(&tracker, memory.span(), stamp), "round {round}");
        if setup.is_mprotect() {
            assert!(!tracker.written_since(Span::new(memory.start, g), late));
        }
    }
}

pub fn b412_a_watch_remembers_clean_answers_only(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let memory = Memory::new(4 * g);
    // Not tracked: written, however often it is asked at one clock.
    let watch = tracker.watch(memory.span());
    assert!(watch.written() && watch.written());
    tracker.register(memory.start, memory.len).unwrap();
    let mut watch = tracker.watch(memory.span());
    let other = tracker.watch(Span::new(memory.start, g));
    for round in 0..3 {
        tracker.fetch();
        assert!(!watch.written());
        let clock = tracker.clock();
        assert!(!watch.written());
        assert_eq!(tracker.clock(), clock, "asking changes nothing");
        memory.write(2 * g + round, 1);
        tracker.fetch();
        assert!(watch.written() && watch.written());
        assert_ne!(tracker.clock(), clock);
        assert!(!other.written());
        let mut parts = Vec::new();
        watch.written_spans(&mut parts);
        assert_eq!(parts, [Span::new(memory.start + 2 * g, g)]);
        watch.restamp();
    }
    tracker.retire(memory.start);
    assert!(watch.written() && other.written());
}

pub fn host_writes_are_recorded_and_system_calls_get_through(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let memory = Memory::new(8 * g);
    tracker.register(memory.start, memory.len).unwrap();
    let stamp = tracker.protect(memory.span());
    let file = Span::new(memory.start + g + 7, 3 * g);
    tracker.host_write(file, Writer(1));
    assert_eq!(memory.system_write(g + 7, 3 * g), Ok(3 * g));
    assert_eq!(written_parts(&tracker, memory.span(), stamp), [(g, 4 * g)]);
    // Once recorded it is not done again.
    let counted = tracker.counters().host_written;
    tracker.host_write(file, Writer(1));
    assert_eq!(tracker.counters().host_written, counted);
    assert_eq!(counted, 4);
    let stamp = tracker.protect(memory.span());
    assert!(!written(&tracker, memory.span(), stamp));
    memory.write(2 * g, 1);
    assert_eq!(written_parts(&tracker, memory.span(), stamp), [(2 * g, g)]);
}

/// What the record before a host write is for: without it the kernel cannot write a page that the MMU protects.
pub fn system_calls_into_protected_memory(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let memory = Memory::new(2 * g);
    tracker.register(memory.start, memory.len).unwrap();
    let stamp = tracker.protect(memory.span());
    if setup.is_mprotect() {
        assert_eq!(memory.system_write(g, 16), Err(libc::EFAULT));
        assert!(!written(&tracker, memory.span(), stamp));
    } else {
        assert_eq!(memory.system_write(g, 16), Ok(16));
        assert_eq!(written_parts(&tracker, memory.span(), stamp), [(g, g)]);
    }
}

pub fn one_writer_can_be_left_out(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let memory = Memory::new(4 * g);
    tracker.register(memory.start, memory.len).unwrap();
    let (one, two) = (Writer(1), Writer(2));
    let span = memory.span();
    let except = |stamp, writer| {
        tracker.fetch();
        tracker.written_since_except(span, stamp, writer)
    };
    let stamp = tracker.protect(span);
    tracker.host_write(Span::new(memory.start + g, g), one);
    memory.write(g, 1);
    assert!(written(&tracker, span, stamp));
    assert!(!except(stamp, one));
    assert!(except(stamp, two));
    // The guest's write to another page counts.
    memory.write(2 * g, 1);
    assert!(except(stamp, one));
    // The guest's write, then the host's to the same page.
    let stamp = tracker.protect(span);
    memory.write(3 * g, 1);
    tracker.fetch();
    tracker.host_write(Span::new(memory.start + 3 * g, 1), one);
    assert!(except(stamp, one));
    // The same, with nobody having looked in between.
    let stamp = tracker.protect(span);
    memory.write(3 * g, 2);
    tracker.host_write(Span::new(memory.start + 3 * g, 1), one);
    assert!(except(stamp, one));
    // Nobody's writes are left out by nobody.
    let stamp = tracker.protect(span);
    tracker.host_write(Span::new(memory.start + 2 * g, 1), Writer::NOBODY);
    assert!(except(stamp, one) && except(stamp, Writer::NOBODY));
    // The other way round: the host's, protected, then the guest's.
    let stamp = tracker.protect(span);
    tracker.host_write(Span::new(memory.start, 1), one);
    assert!(!except(stamp, one));
    tracker.protect(span);
    memory.write(0, 9);
    assert!(except(stamp, one));
    // Two writers, one page.
    let stamp = tracker.protect(span);
    tracker.host_write(Span::new(memory.start, 1), two);
    tracker.protect(span);
    tracker.host_write(Span::new(memory.start, 1), one);
    assert!(except(stamp, one) && except(stamp, two));
}

pub fn shared_file_and_second_mappings(setup: &Setup) {
    let g = setup.granule;
    let file = memfd(4 * g);
    let private = memfd(4 * g);
    for (file, flags) in [(&file, libc::MAP_SHARED), (&private, libc::MAP_PRIVATE)] {
        let tracker = setup.tracker();
        let memory = Memory::of(file, 4 * g, flags);
        tracker.register(memory.start, memory.len).unwrap();
        // Pages that nobody has touched are protected too.
        let stamp = tracker.protect(memory.span());
        assert!(!written(&tracker, memory.span(), stamp));
        memory.write(g, 1);
        assert_eq!(written_parts(&tracker, memory.span(), stamp), [(g, g)]);
        if flags == libc::MAP_SHARED {
            // What the GPU writes through a mapping of its own is not the guest's.
            let second = Memory::of(file, 4 * g, flags);
            second.write(2 * g, 5);
            assert_eq!(memory.read(2 * g), 5);
            assert_eq!(written_parts(&tracker, memory.span(), stamp), [(g, g)]);
        }
    }
}

/// Blocks that nobody asks about are left out of fetches after a while; the answer is the same.
pub fn what_nobody_asks_about_is_still_noticed(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    // Two blocks of 512 granules, and some.
    let memory = Memory::new(1200 * g);
    tracker.register(memory.start, memory.len).unwrap();
    let (asked, left) = (Span::new(memory.start, g), Span::new(memory.start + 600 * g, 2 * g));
    let watch = tracker.watch(left);
    let stamp = tracker.protect(asked);
    tracker.fetch();
    assert!(!watch.written());
    let clock = tracker.clock();
    tracker.fetch();
    assert_eq!(tracker.clock(), clock, "nothing was written");
    for _ in 0..40 {
        assert!(!written(&tracker, asked, stamp));
    }
    if !setup.is_mprotect() {
        let scanned = tracker.fetch().scanned;
        assert!((g..=512 * g).contains(&scanned), "only the block asked about is fetched: {scanned}");
    }
    memory.write(601 * g, 1);
    tracker.fetch();
    assert!(watch.written(), "a remembered clean answer is over when its block goes cold");
    assert!(tracker.written_since(left, watch.stamp()));
    assert_eq!(written_parts(&tracker, left, watch.stamp()), [(g, g)]);
    // Warm again.
    let stamp = tracker.protect(left);
    assert!(!written(&tracker, left, stamp));
    memory.write(600 * g, 1);
    assert!(written(&tracker, left, stamp));
}

pub fn odd_spans_are_answered(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let memory = Memory::new(4 * g);
    tracker.register(memory.start, memory.len).unwrap();
    let empty = Span::new(memory.start, 0);
    let stamp = tracker.protect(empty);
    assert!(!written(&tracker, empty, stamp));
    let beyond = Span::new(usize::MAX - 5, 100);
    let stamp = tracker.protect(beyond);
    assert!(written(&tracker, beyond, stamp));
    let mut parts = Vec::new();
    tracker.written_spans(beyond, stamp, &mut parts);
    assert_eq!(parts, [beyond]);
    tracker.host_write(beyond, Writer(0));
    tracker.open(&[beyond, empty]).close();
    tracker.fetch_span(beyond);
    assert!(tracker.register(usize::MAX - 5, 100).is_err());
    assert!(tracker.register(memory.start, 0).is_err());
    assert!(!tracker.retire(memory.start + 1));
    assert!(tracker.handle(beyond).is_none());
}

#[test]
fn off_answers_written() {
    let tracker = Tracker::new(TrackingOptions { mechanism: MechanismChoice::Off, ..Default::default() }).unwrap();
    assert_eq!(tracker.mechanism().mechanism, Mechanism::Off);
    let memory = Memory::new(1 << 16);
    tracker.register(memory.start, memory.len).unwrap();
    let watch = tracker.watch(memory.span());
    assert!(watch.written() && watch.written());
    tracker.host_write(memory.span(), Writer(1));
    assert_eq!(tracker.open(&[memory.span()]).close(), Default::default());
    assert_eq!(tracker.fetch(), Default::default());
    assert!(tracker.retire(memory.start));
}
