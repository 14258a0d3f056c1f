//! The bracket around imports. The import itself is played: it writes nothing, or it writes through a mapping of its own,
//! or through the CPU's mapping as a CPU driver does.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use navin_memory::tracking::{Span, Writer};

use crate::support::{Memory, Setup, memfd, written, written_parts};

/// Control: recording all opened pages makes the texture due for upload.
pub fn b123_an_untouched_page_is_protected_again_and_not_recorded(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let memory = Memory::new(8 * g);
    tracker.register(memory.start, memory.len).unwrap();
    let texture = Span::new(memory.start + g, 4 * g);
    let stamp = tracker.protect(texture);
    for _ in 0..3 {
        let opened = tracker.open(&[memory.span()]);
        // An import may pin the pages for writing, as the kernel does here: without a change.
        for page in 0..8 {
            let same = memory.read(page * g);
            memory.write(page * g, same);
        }
        let closed = opened.close();
        assert_eq!((closed.opened, closed.changed, closed.written), (4, 0, 0));
        assert!(!written(&tracker, texture, stamp));
    }
    memory.write(2 * g, 1);
    assert_eq!(written_parts(&tracker, texture, stamp), [(g, g)]);
}

pub fn b123_a_store_to_an_open_page_is_recorded_and_protected(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let memory = Memory::new(4 * g);
    tracker.register(memory.start, memory.len).unwrap();
    let stamp = tracker.protect(memory.span());
    let opened = tracker.open(&[memory.span()]);
    let faults = tracker.counters().faults;
    memory.write(g + g / 2, 1);
    assert_eq!(tracker.counters().faults, faults, "the page was open");
    assert_eq!(opened.close().changed, 1);
    assert_eq!(written_parts(&tracker, memory.span(), stamp), [(g, g)]);
    // Protected: the next write is noticed by a stamp from after.
    let stamp = tracker.protect(memory.span());
    assert!(!written(&tracker, memory.span(), stamp));
    memory.write(g, 1);
    assert!(written(&tracker, memory.span(), stamp));
}

pub fn b123_a_host_write_to_an_open_page_stays_writable(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let memory = Memory::new(4 * g);
    tracker.register(memory.start, memory.len).unwrap();
    let stamp = tracker.protect(memory.span());
    let opened = tracker.open(&[memory.span()]);
    // Another thread reads a file into an open page; the system call is under way when the bracket closes.
    std::thread::scope(|scope| {
        scope.spawn(|| tracker.host_write(Span::new(memory.start + g, g), Writer(1)));
    });
    let closed = opened.close();
    assert_eq!((closed.opened, closed.changed, closed.written), (4, 0, 1));
    assert_eq!(memory.system_write(g, g), Ok(g));
    assert_eq!(written_parts(&tracker, memory.span(), stamp), [(g, g)]);
}

pub fn b123_nobody_protects_or_retires_while_open(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let memory = Memory::new(4 * g);
    let other = Memory::new(g);
    tracker.register(memory.start, memory.len).unwrap();
    tracker.protect(memory.span());
    let opened = tracker.open(&[memory.span()]);
    let is_open = AtomicBool::new(true);
    std::thread::scope(|scope| {
        for act in 0..3 {
            let (tracker, memory, other, is_open) = (&tracker, &memory, &other, &is_open);
            scope.spawn(move || {
                match act {
                    0 => drop(tracker.protect(memory.span())),
                    1 => drop(tracker.retire(memory.start + 1)),
                    _ => drop(tracker.register(other.start, other.len)),
                }
                assert!(!is_open.load(Ordering::SeqCst), "action {act} did not wait");
            });
        }
        std::thread::sleep(Duration::from_millis(20));
        is_open.store(false, Ordering::SeqCst);
        opened.close();
    });
    // The bracket's own thread is told instead of waiting for itself.
    let opened = tracker.open(&[memory.span()]);
    let faults = navin_abi::fault::count();
    assert!(written(&tracker, memory.span(), tracker.protect(memory.span())));
    assert!(!tracker.retire(memory.start));
    assert!(navin_abi::fault::count() > faults);
    drop(opened);
    assert!(tracker.retire(memory.start));
}

/// Control: without the comparison all opened pages count.
pub fn b665_written_pages_are_exactly_those_the_gpu_wrote(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let file = memfd(8 * g);
    let memory = Memory::of(&file, 8 * g, libc::MAP_SHARED);
    tracker.register(memory.start, memory.len).unwrap();
    let (low, high) = (Span::new(memory.start, 4 * g), Span::new(memory.start + 4 * g, 4 * g));
    let stamp = tracker.protect(memory.span());
    // A device that writes physical pages, between open and close: found by the bytes.
    let import = Memory::of(&file, 8 * g, libc::MAP_SHARED);
    let opened = tracker.open(&[memory.span()]);
    for page in 0..4 {
        import.write(page * g + 5, 1);
    }
    let closed = opened.close();
    assert_eq!((closed.opened, closed.changed), (8, 4));
    assert_eq!(written_parts(&tracker, memory.span(), stamp), [(0, 4 * g)]);
    assert!(!written(&tracker, high, stamp));
    // A driver that writes by the CPU, after the import.
    let stamp = tracker.protect(memory.span());
    tracker.open(&[memory.span()]).close();
    for page in 0..4 {
        memory.write(page * g + 6, 1);
    }
    assert_eq!(written_parts(&tracker, memory.span(), stamp), [(0, 4 * g)]);
    assert!(written(&tracker, low, stamp) && !written(&tracker, high, stamp));
}

/// A question of another thread waits until the bracket knows the answer; of its own thread it does not.
pub fn questions_wait_for_an_open_bracket(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let memory = Memory::new(4 * g);
    tracker.register(memory.start, memory.len).unwrap();
    let stamp = tracker.protect(memory.span());
    let opened = tracker.open(&[memory.span()]);
    assert!(!tracker.written_since(memory.span(), stamp));
    memory.write(2 * g, 1);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| tracker.written_since(memory.span(), stamp));
        let until = Instant::now() + Duration::from_millis(20);
        while Instant::now() < until {
            assert!(!asked.is_finished());
            std::thread::yield_now();
        }
        opened.close();
        assert!(asked.join().unwrap());
    });
}
