//! Interleavings that must not go wrong, each made to happen: a hook acts between two steps of the protocol.
//!
//! Hooks may run inside the fault handler; they use atomics only there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::support::{Memory, Setup, written};
use crate::tracking::protocol::Point;
use crate::tracking::{MechanismChoice, Span, Tracker, Writer};

/// Both mechanisms under both granules, as far as the system has them.
fn each(test: impl Fn(&Setup)) {
    for mechanism in [MechanismChoice::Userfaultfd, MechanismChoice::Mprotect] {
        for granule in [0, 16 << 10] {
            if let Some(setup) = Setup::new(mechanism, granule) {
                test(&setup);
            }
        }
    }
}

/// The ways by which a protected page becomes writable: a host write, and where the MMU protects a store.
fn ways(setup: &Setup) -> Vec<fn(&Tracker, &Memory, usize)> {
    let host: fn(&Tracker, &Memory, usize) = |tracker, memory, offset| {
        tracker.host_write(Span::new(memory.start + offset, 1), Writer(1));
        memory.write(offset, 1);
    };
    let store: fn(&Tracker, &Memory, usize) = |_, memory, offset| memory.write(offset, 1);
    if setup.is_mprotect() { vec![host, store] } else { vec![host] }
}

fn tracked(setup: &Setup, granules: usize) -> (Arc<Tracker>, Memory) {
    let tracker = setup.tracker();
    let memory = Memory::new(granules * setup.granule);
    tracker.register(memory.start, memory.len).unwrap();
    (tracker, memory)
}

/// Waits for a flag; a test that would hang fails.
fn until(flag: &AtomicBool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !flag.load(Ordering::SeqCst) {
        assert!(Instant::now() < end, "the other thread did not get there");
        std::thread::yield_now();
    }
}

/// (1) Control: with BUSY pages skipped, the page stays writable.
#[test]
fn b412_protect_waits_for_a_busy_page() {
    each(|setup| {
        for way in ways(setup) {
            let (tracker, memory) = tracked(setup, 4);
            tracker.protect(memory.span());
            let (busy, met) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
            let flags = (busy.clone(), met.clone());
            tracker.shared.hook.set(move |point| match point {
                Point::ReleaseNumbered => {
                    flags.0.store(true, Ordering::SeqCst);
                    until(&flags.1);
                }
                Point::MetBusy => flags.1.store(true, Ordering::SeqCst),
                _ => {}
            });
            let stamp = std::thread::scope(|scope| {
                scope.spawn(|| way(&tracker, &memory, 2 * setup.granule));
                until(&busy);
                tracker.protect(memory.span())
            });
            assert!(met.load(Ordering::SeqCst));
            tracker.shared.hook.clear();
            // The writer's store came before or after the protection; a second protect settles which bytes are read.
            let stamp = stamp.max(tracker.protect(memory.span()));
            assert!(!written(&tracker, memory.span(), stamp), "protected in the end");
            memory.write(2 * setup.granule, 3);
            assert!(written(&tracker, memory.span(), stamp), "a later write is seen");
        }
    });
}

/// (3), (4), and the same for a fetch and for what a protect finds: a question asked between number and publication. Its
/// remembered answer must be over after the publication. Control: with a single advance of the clock, the fetch's case
/// and the protect's answer clean for good.
#[test]
fn b412_an_answer_between_number_and_publication_is_over_after_it() {
    each(|setup| {
        for way in ways(setup) {
            let (tracker, memory) = tracked(setup, 4);
            let watch = Arc::new(tracker.watch(memory.span()));
            assert!(!watch.written());
            let asked = Arc::new(AtomicU32::new(0));
            let inside = (watch.clone(), asked.clone());
            tracker.shared.hook.set(move |point| {
                if point == Point::ReleaseNumbered {
                    inside.0.written();
                    inside.1.fetch_add(1, Ordering::SeqCst);
                }
            });
            way(&tracker, &memory, setup.granule);
            tracker.shared.hook.clear();
            assert_eq!(asked.load(Ordering::SeqCst), 1);
            assert!(watch.written());
        }
    });
    let Some(setup) = Setup::new(MechanismChoice::Userfaultfd, 0) else { return };
    let finds: [fn(&Tracker, &Memory); 3] = [
        |tracker, _| {
            tracker.fetch();
        },
        |tracker, memory| tracker.fetch_span(memory.span()),
        |tracker, memory| {
            tracker.protect(memory.span());
        },
    ];
    for find in finds {
        let (tracker, memory) = tracked(&setup, 4);
        let watch = Arc::new(tracker.watch(memory.span()));
        assert!(!watch.written());
        let asked = Arc::new(AtomicU32::new(0));
        let inside = (watch.clone(), asked.clone());
        tracker.shared.hook.set(move |point| {
            if point == Point::FetchNumbered {
                assert!(!inside.0.written());
                inside.1.fetch_add(1, Ordering::SeqCst);
            }
        });
        memory.write(setup.granule, 1);
        find(&tracker, &memory);
        tracker.shared.hook.clear();
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        assert!(watch.written());
    }
}

/// Control: with the lock taken for the lookup only, retirement finishes first and `read` fails.
#[test]
fn b413_retirement_waits_for_a_whole_protect() {
    each(|setup| {
        let (tracker, memory) = tracked(setup, 2);
        let retired = Arc::new(AtomicBool::new(false));
        let (weak, flag, start) = (Arc::downgrade(&tracker), retired.clone(), memory.start);
        tracker.shared.hook.set(move |point| {
            if point != Point::ProtectLookedUp {
                return;
            }
            let tracker = weak.upgrade().unwrap();
            let flag = flag.clone();
            std::thread::spawn(move || {
                assert!(tracker.retire(start));
                flag.store(true, Ordering::SeqCst);
            });
            std::thread::sleep(Duration::from_millis(15));
        });
        tracker.protect(memory.span());
        until(&retired);
        tracker.shared.hook.clear();
        assert_eq!(memory.system_write(0, 16), Ok(16));
        assert_eq!(tracker.counters().ranges, 0);
    });
}

/// Two pools in one granule; a real store goes into the second as soon as the first is writable.
#[test]
fn b408_a_store_right_after_the_first_page_opened_is_seen() {
    each(|setup| {
        let g = setup.granule;
        let tracker = setup.tracker();
        let memory = Memory::new(2 * g);
        let edge = memory.start + g / 2;
        let pools = [Span::new(memory.start, g / 2), Span::new(edge, g / 2)];
        for pool in pools {
            tracker.register(pool.start, pool.len).unwrap();
        }
        for store in [true, false] {
            let stamps = pools.map(|pool| tracker.protect(pool));
            let inside = memory.alias();
            tracker.shared.hook.set(move |point| {
                if point == Point::OpenedFirst && store {
                    inside.write(g / 2 + 8, 77);
                }
            });
            let closed = tracker.open(&pools).close();
            tracker.shared.hook.clear();
            assert_eq!(closed.changed, usize::from(store));
            for (pool, stamp) in pools.iter().zip(stamps) {
                assert_eq!(written(&tracker, *pool, stamp), store);
            }
        }
    });
}

#[test]
fn b123_open_waits_for_a_thread_half_way_through_releasing() {
    each(|setup| {
        for way in ways(setup) {
            let (tracker, memory) = tracked(setup, 4);
            let stamp = tracker.protect(memory.span());
            let (busy, met) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
            let flags = (busy.clone(), met.clone());
            tracker.shared.hook.set(move |point| match point {
                Point::ReleaseNumbered => {
                    flags.0.store(true, Ordering::SeqCst);
                    until(&flags.1);
                }
                Point::MetBusy => flags.1.store(true, Ordering::SeqCst),
                _ => {}
            });
            let closed = std::thread::scope(|scope| {
                scope.spawn(|| way(&tracker, &memory, 2 * setup.granule));
                until(&busy);
                tracker.open(&[memory.span()]).close()
            });
            tracker.shared.hook.clear();
            assert_eq!((closed.opened, closed.changed), (3, 0));
            assert!(written(&tracker, memory.span(), stamp));
            assert!(!tracker.written_since(Span::new(memory.start, 2 * setup.granule), stamp));
        }
    });
}

/// A store after the bracket has protected again and before it has compared.
#[test]
fn b123_a_store_while_the_bracket_closes_is_recorded() {
    each(|setup| {
        let (tracker, memory) = tracked(setup, 4);
        let g = setup.granule;
        let stamp = tracker.protect(memory.span());
        let inside = memory.alias();
        tracker.shared.hook.set(move |point| {
            if point == Point::CloseProtected {
                inside.write(g, 9);
            }
        });
        let closed = tracker.open(&[memory.span()]).close();
        tracker.shared.hook.clear();
        assert_eq!(closed.changed + closed.written, 1);
        let mut parts = Vec::new();
        tracker.fetch();
        tracker.written_spans(memory.span(), stamp, &mut parts);
        assert_eq!(parts, [Span::new(memory.start + g, g)]);
    });
}
