//! The write tracker under real threads, under both mechanisms and two granules. `./x tsan` runs these under
//! ThreadSanitizer.

#![cfg(target_os = "linux")]

#[path = "tracking/support.rs"]
mod support;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use navin_memory::tracking::{MechanismChoice, Span, Writer};
use support::{Memory, Setup, written};

/// What ThreadSanitizer is to leave alone. The guest may write a page while its fingerprint is taken; whatever comes out,
/// the page's word tells that it was written.
#[unsafe(no_mangle)]
extern "C" fn __tsan_default_suppressions() -> *const std::ffi::c_char {
    c"race:navin_memory::tracking::hash::fingerprint".as_ptr()
}

/// Waits for another thread, which may be running or not.
fn wait(done: impl Fn() -> bool) {
    let mut spins = 0u32;
    while !done() {
        spins += 1;
        if spins.is_multiple_of(1024) {
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}

fn each(test: impl Fn(&Setup)) {
    // One at a time: threads that wait for a processor meet nobody.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    for mechanism in [MechanismChoice::Userfaultfd, MechanismChoice::Mprotect] {
        for granule in [0, 16 << 10] {
            if let Some(setup) = Setup::new(mechanism, granule) {
                test(&setup);
            }
        }
    }
}

#[test]
fn b411_the_writer_always_makes_progress() {
    each(writer_makes_progress);
}

#[test]
fn b666_no_write_to_a_shared_page_is_missed() {
    each(no_write_is_missed);
}

#[test]
fn threads_of_all_kinds() {
    each(all_kinds);
}

/// One thread protects a page set again and again, one writes every page of it. Control: with the protection lifted after
/// the word says writable, a protect in between leaves pages read-only that say writable, and the writer spins.
fn writer_makes_progress(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    const PAGES: usize = 64;
    let memory = Memory::new(PAGES * g);
    tracker.register(memory.start, memory.len).unwrap();
    let (done, rounds) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                tracker.protect(memory.span());
            }
        });
        scope.spawn(|| {
            let until = Instant::now() + Duration::from_millis(300);
            while Instant::now() < until {
                for page in 0..PAGES {
                    memory.write(page * g, rounds.load(Ordering::Relaxed) as u8);
                }
                rounds.fetch_add(1, Ordering::Relaxed);
            }
            done.store(true, Ordering::Relaxed);
        });
    });
    assert!(rounds.load(Ordering::Relaxed) > 2);
    // What says writable is: no fault, and system calls get through. What says protected notices.
    let stamp = tracker.protect(memory.span());
    for page in (0..PAGES).step_by(2) {
        memory.write(page * g, 1);
    }
    let faults = tracker.counters().faults;
    for page in (0..PAGES).step_by(2) {
        memory.write(page * g, 2);
        assert!(memory.system_write(page * g, g).is_ok());
    }
    assert_eq!(tracker.counters().faults, faults);
    tracker.fetch();
    for page in 0..PAGES {
        assert_eq!(tracker.written_since(Span::new(memory.start + page * g, g), stamp), page % 2 == 0, "page {page}");
    }
}

/// Two pools share a granule; one thread writes there while another opens both. Every write shows.
fn no_write_is_missed(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let memory = Memory::new(3 * g);
    let edge = memory.start + g + g / 2;
    let pools = [Span::new(memory.start, edge - memory.start), Span::new(edge, g)];
    let textures = [Span::new(edge - 64, 64), Span::new(edge, 64)];
    for pool in pools {
        tracker.register(pool.start, pool.len).unwrap();
    }
    // As many as go into the time; all that the rule's check asks for where TEST_STRESS is set.
    const ROUNDS: usize = 100_000;
    let stress = std::env::var_os("TEST_STRESS").is_some();
    let until = Instant::now() + if stress { Duration::from_secs(600) } else { Duration::from_millis(500) };
    let go = AtomicUsize::new(0);
    let mut missed = false;
    let wrote = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 1..=ROUNDS {
                wait(|| go.load(Ordering::Acquire) >= round);
                if go.load(Ordering::Acquire) == usize::MAX {
                    break;
                }
                for _ in 0..round % 37 * 8 {
                    std::hint::spin_loop();
                }
                memory.write(edge - memory.start + 5, round as u8);
                wrote.store(round, Ordering::Release);
            }
        });
        for round in 1..=ROUNDS {
            let stamps = textures.map(|texture| tracker.protect(texture));
            // The write begins before the bracket, or within it, where it may end before the close or after.
            if round % 3 == 0 {
                go.store(round, Ordering::Release);
            }
            let opened = tracker.open(&pools);
            go.store(round, Ordering::Release);
            let patience = round % 5 * 100;
            let _ = (0..patience).any(|_| {
                std::hint::spin_loop();
                wrote.load(Ordering::Acquire) >= round
            });
            if round % 16 == 0 {
                wait(|| wrote.load(Ordering::Acquire) >= round);
            }
            opened.close();
            wait(|| wrote.load(Ordering::Acquire) >= round);
            tracker.fetch();
            missed = !textures.iter().zip(stamps).all(|(texture, stamp)| tracker.written_since(*texture, stamp));
            if missed || Instant::now() > until {
                println!("{round} rounds");
                break;
            }
        }
        go.store(usize::MAX, Ordering::Release);
        writer.join().unwrap();
        assert!(!missed, "a write was missed");
    });
}

/// Guest threads write, the submit thread protects and checks what it read, other threads make and end pools, open
/// imports, and announce host writes. What the submit thread believes clean has the bytes that it read.
fn all_kinds(setup: &Setup) {
    let (tracker, g) = (setup.tracker(), setup.granule);
    const PAGES: usize = 48;
    let memory = Memory::new(PAGES * g);
    let half = PAGES / 2 * g + g / 2;
    tracker.register(memory.start, half).unwrap();
    tracker.register(memory.start + half, memory.len - half).unwrap();
    let elsewhere = Memory::new(8 * g);
    let done = AtomicBool::new(false);
    let checked = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for seed in [1usize, 2] {
            let (memory, done) = (&memory, &done);
            scope.spawn(move || {
                let mut at = seed;
                while !done.load(Ordering::Relaxed) {
                    at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let offset = (at >> 33) % memory.len;
                    memory.write(offset & !63 | seed, (at >> 20) as u8);
                    if at >> 60 == 0 {
                        std::thread::yield_now();
                    }
                }
            });
        }
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                tracker.open(&[memory.span()]).close();
                tracker.register(elsewhere.start, elsewhere.len).unwrap();
                tracker.protect(elsewhere.span());
                elsewhere.write(3 * g, 1);
                assert!(tracker.retire(elsewhere.start));
                assert!(elsewhere.system_write(0, 8 * g).is_ok());
            }
        });
        scope.spawn(|| {
            let mut page = 0;
            while !done.load(Ordering::Relaxed) {
                page = (page + 5) % PAGES;
                let span = Span::new(memory.start + page * g, 2.min(PAGES - page) * g);
                tracker.host_write(span, Writer(page as u64));
                memory.write(page * g + 40, page as u8);
            }
        });
        let until = Instant::now() + Duration::from_millis(400);
        let mut page = 0;
        while Instant::now() < until {
            page = (page + 1) % (PAGES - 2);
            let texture = Span::new(memory.start + page * g + 100, g);
            let bytes = || [1, 2, 40, 65, 66, 129].map(|at| memory.read(page * g + 128 + at));
            let stamp = tracker.protect(texture);
            let before = bytes();
            for _ in 0..3 {
                let after = bytes();
                if !written(&tracker, texture, stamp) {
                    assert_eq!(before, after, "page {page} is said to be clean");
                    checked.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    println!("{} clean answers held against the bytes", checked.load(Ordering::Relaxed));
}
