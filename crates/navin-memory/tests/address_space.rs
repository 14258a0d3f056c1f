//! The address space against a naive map of pages, and under threads.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use navin_memory::address_space::{FIRST_ADDRESS, GUARD};
use navin_memory::{
    ADDRESS_END, AddressSpace, BIG_PAGE, GpuRange, Mapping, PoolId, PoolIds, Reservation, SMALL_PAGE, SpaceError,
};
use proptest::prelude::*;

#[test]
fn b106_every_range_begins_at_a_big_page_and_none_at_0() {
    let space = AddressSpace::new();
    let mut last = GpuRange { start: 0, size: FIRST_ADDRESS };
    for (id, size) in [0x1000, 0x11000, 0x10000, 0x1000, 300 << 20].into_iter().enumerate() {
        let range = space.allocate(PoolId(id as u64 + 1), size).unwrap();
        assert!(range.start.is_multiple_of(BIG_PAGE) && range.start >= FIRST_ADDRESS);
        assert_eq!(range.size, size);
        assert!(id == 0 || range.start >= last.end() + GUARD, "an unused big page lies between pools");
        last = range;
    }
    assert_eq!(space.lookup(0), None);
    assert_eq!(space.lookup(u64::MAX), None);
}

#[test]
fn addresses_past_a_pool_are_in_no_pool() {
    let space = Arc::new(AddressSpace::new());
    let range = space.allocate(PoolId(1), 0x3000).unwrap();
    space.allocate(PoolId(2), 0x1000).unwrap();
    let mut reader = space.reader();
    assert_eq!(reader.lookup(range.start + 0x2FFF), Some(Mapping { pool: PoolId(1), offset: 0x2FFF, remaining: 1 }));
    for past in [0x3000, 0xFFFF, 0x10000, 0x1FFFF] {
        assert_eq!(reader.lookup(range.start + past), None);
        assert_eq!(space.reservation(range.start + past), None);
    }
    assert_eq!(space.nearest_below(range.start + 0x3000).map(|r| r.owner), Some(PoolId(1)));
}

#[test]
fn a_full_space_says_so_and_recovers() {
    let space = AddressSpace::new();
    assert_eq!(space.allocate(PoolId(1), 0), Err(SpaceError::Empty));
    for size in [ADDRESS_END, u64::MAX, u64::MAX - BIG_PAGE] {
        assert_eq!(space.allocate(PoolId(1), size), Err(SpaceError::Full { size }));
    }
    let all = ADDRESS_END - FIRST_ADDRESS - GUARD;
    let range = space.allocate(PoolId(1), all).unwrap();
    assert_eq!(space.lookup(range.end() - 1).map(|m| m.remaining), Some(1));
    assert_eq!(space.allocate(PoolId(2), 1), Err(SpaceError::Full { size: 1 }));
    assert_eq!(space.free(range.start), Some(Reservation { owner: PoolId(1), range }));
    assert_eq!(space.free(range.start), None);
    assert_eq!(space.lookup(range.start), None);
    assert_eq!(space.allocate(PoolId(3), all).unwrap(), range);
}

#[test]
fn b109_runs_join_and_split() {
    let space = AddressSpace::new();
    let at = space.reserve(PoolId(1), 64 << 30).unwrap().start;
    let mb = 1u64 << 20;
    let part = |start, size| GpuRange { start: at + start * mb, size: size * mb };
    // One physical pool in two pieces with a gap, then the gap.
    space.map(part(0, 4), PoolId(2), 0).unwrap();
    space.map(part(8, 4), PoolId(2), 8 * mb).unwrap();
    assert_eq!(space.counts(), (1, 2));
    space.map(part(4, 4), PoolId(2), 4 * mb).unwrap();
    assert_eq!(space.counts(), (1, 1));
    assert_eq!(space.lookup(at), Some(Mapping { pool: PoolId(2), offset: 0, remaining: 12 * mb }));
    space.unmap(part(5, 1)).unwrap();
    assert_eq!(space.counts(), (1, 2));
    assert_eq!(space.lookup(at + 4 * mb).map(|m| m.remaining), Some(mb));
    // B113: reserved, not mapped; not the same as an address in no pool.
    assert_eq!(space.lookup(at + 5 * mb), None);
    assert_eq!(space.reservation(at + 5 * mb).map(|r| r.owner), Some(PoolId(1)));
    assert_eq!(space.lookup(at + 6 * mb), Some(Mapping { pool: PoolId(2), offset: 6 * mb, remaining: 6 * mb }));
}

#[test]
fn b110_there_is_no_limit_on_runs() {
    let space = Arc::new(AddressSpace::new());
    let at = space.reserve(PoolId(1), 64 << 30).unwrap().start;
    let mut reader = space.reader();
    for run in 0..2500u64 {
        space
            .map(GpuRange { start: at + run * 2 * SMALL_PAGE, size: SMALL_PAGE }, PoolId(2), run * SMALL_PAGE)
            .unwrap();
    }
    assert_eq!(space.counts(), (1, 2500));
    for run in 0..2500u64 {
        assert_eq!(reader.lookup(at + run * 2 * SMALL_PAGE).map(|m| m.offset), Some(run * SMALL_PAGE));
        assert_eq!(reader.lookup(at + (run * 2 + 1) * SMALL_PAGE), None);
    }
}

#[test]
fn mappings_outside_a_reservation_are_refused_and_change_nothing() {
    let space = AddressSpace::new();
    let range = space.reserve(PoolId(1), 0x20000).unwrap();
    let at = range.start;
    let cases = [
        (GpuRange { start: at, size: 0 }, 0, SpaceError::Empty),
        (GpuRange { start: at + 1, size: 0x1000 }, 0, SpaceError::Unaligned { start: at + 1, size: 0x1000 }),
        (GpuRange { start: at, size: 0x1001 }, 0, SpaceError::Unaligned { start: at, size: 0x1001 }),
        (GpuRange { start: at, size: 0x1000 }, 1, SpaceError::Unaligned { start: at, size: 0x1000 }),
        (GpuRange { start: at, size: 0x1000 }, !0xFFF, SpaceError::Unaligned { start: at, size: 0x1000 }),
        (GpuRange { start: at, size: 0x21000 }, 0, SpaceError::Outside { start: at, size: 0x21000 }),
        (GpuRange { start: at - 0x1000, size: 0x1000 }, 0, SpaceError::Outside { start: at - 0x1000, size: 0x1000 }),
        (GpuRange { start: 0, size: 0x1000 }, 0, SpaceError::Outside { start: 0, size: 0x1000 }),
        (GpuRange { start: !0xFFF, size: !0xFFF }, 0, SpaceError::Outside { start: !0xFFF, size: !0xFFF }),
    ];
    let before = space.generation();
    for (range, offset, error) in cases {
        assert_eq!(space.map(range, PoolId(2), offset), Err(error));
    }
    assert_eq!(space.unmap(GpuRange { start: 0, size: 0x1000 }), Err(SpaceError::Outside { start: 0, size: 0x1000 }));
    assert_eq!((space.counts(), space.generation()), ((1, 0), before));
}

/// One thing that a guest does; numbers pick among what there is.
#[derive(Debug, Clone)]
enum Op {
    Allocate { pages: u64 },
    Reserve { pages: u64 },
    Free { which: usize },
    Map { which: usize, first: u64, pages: u64, offset: u64, pool: u64 },
    Unmap { which: usize, first: u64, pages: u64 },
}

fn op() -> impl Strategy<Value = Op> {
    let which = 0usize..16;
    prop_oneof![
        3 => (1u64..80).prop_map(|pages| Op::Allocate { pages }),
        2 => (1u64..80).prop_map(|pages| Op::Reserve { pages }),
        3 => which.clone().prop_map(|which| Op::Free { which }),
        6 => (which.clone(), 0u64..80, 1u64..40, 0u64..6, 1000u64..1003)
            .prop_map(|(which, first, pages, offset, pool)| Op::Map { which, first, pages, offset: offset * 8, pool }),
        4 => (which, 0u64..80, 1u64..40).prop_map(|(which, first, pages)| Op::Unmap { which, first, pages }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Every page of every address that was ever in use answers what a map from page to page says.
    #[test]
    fn agrees_with_a_naive_map_of_pages(ops in prop::collection::vec(op(), 1..60)) {
        let space = Arc::new(AddressSpace::new());
        let mut reader = space.reader();
        let ids = PoolIds::new();
        let mut ranges: Vec<(GpuRange, PoolId)> = Vec::new();
        // Page number to (pool, page of the pool).
        let mut pages: BTreeMap<u64, (PoolId, u64)> = BTreeMap::new();
        let mut touched = 0u64;
        for op in ops {
            let pick = |which: usize| (!ranges.is_empty()).then(|| which % ranges.len());
            match op {
                Op::Allocate { pages: count } => {
                    let id = ids.next();
                    let range = space.allocate(id, count * SMALL_PAGE).unwrap();
                    pages.extend((0..count).map(|page| (range.start / SMALL_PAGE + page, (id, page))));
                    ranges.push((range, id));
                }
                Op::Reserve { pages: count } => {
                    let id = ids.next();
                    ranges.push((space.reserve(id, count * SMALL_PAGE).unwrap(), id));
                }
                Op::Free { which } => {
                    let Some(at) = pick(which) else { continue };
                    let (range, owner) = ranges.swap_remove(at);
                    prop_assert_eq!(space.free(range.start), Some(Reservation { owner, range }));
                    pages.retain(|page, _| !range.contains(page * SMALL_PAGE));
                }
                Op::Map { which, first, pages: count, offset, pool } => {
                    let Some(at) = pick(which) else { continue };
                    let start = ranges[at].0.start + first * SMALL_PAGE;
                    let range = GpuRange { start, size: count * SMALL_PAGE };
                    let fits = ranges.iter().any(|(r, _)| r.contains(start) && range.end() <= r.end());
                    prop_assert_eq!(space.map(range, PoolId(pool), offset * SMALL_PAGE).is_ok(), fits);
                    if fits {
                        pages.extend((0..count).map(|page| (start / SMALL_PAGE + page, (PoolId(pool), offset + page))));
                    }
                }
                Op::Unmap { which, first, pages: count } => {
                    let Some(at) = pick(which) else { continue };
                    let start = ranges[at].0.start + first * SMALL_PAGE;
                    let range = GpuRange { start, size: count * SMALL_PAGE };
                    let fits = ranges.iter().any(|(r, _)| r.contains(start) && range.end() <= r.end());
                    prop_assert_eq!(space.unmap(range).is_ok(), fits);
                    if fits {
                        pages.retain(|page, _| !range.contains(page * SMALL_PAGE));
                    }
                }
            }
            // No two reservations overlap, guards included.
            let mut sorted: Vec<GpuRange> = ranges.iter().map(|(range, _)| *range).collect();
            sorted.sort_by_key(|range| range.start);
            for pair in sorted.windows(2) {
                prop_assert!(pair[0].end() + GUARD <= pair[1].start);
            }
            touched = touched.max(sorted.last().map_or(0, |range| range.end() + 2 * BIG_PAGE));
            for page in FIRST_ADDRESS / SMALL_PAGE - 1..touched / SMALL_PAGE {
                let address = page * SMALL_PAGE + 0x123;
                let got = reader.lookup(address);
                let want = pages.get(&page);
                prop_assert_eq!(got.map(|m| (m.pool, m.offset)), want.map(|(id, p)| (*id, p * SMALL_PAGE + 0x123)));
                if let (Some(mapping), Some(&(id, at))) = (got, want) {
                    // The rest of the mapping is one pool, in order, and ends where that stops being so.
                    let run = (1..).take_while(|n| pages.get(&(page + n)) == Some(&(id, at + n))).count() as u64 + 1;
                    prop_assert_eq!(mapping.remaining, run * SMALL_PAGE - 0x123);
                }
                prop_assert_eq!(space.lookup(address), got);
            }
        }
        for (range, owner) in ranges {
            prop_assert_eq!(space.reservation(range.start).map(|r| r.owner), Some(owner));
            prop_assert!(space.free(range.start).is_some());
        }
        // All given back: the whole space is one free range again.
        prop_assert!(space.allocate(PoolId(1), ADDRESS_END - FIRST_ADDRESS - GUARD).is_ok());
    }
}

#[test]
fn b112_a_mapped_address_is_found_while_its_run_grows_and_splits() {
    let space = Arc::new(AddressSpace::new());
    let at = space.reserve(PoolId(1), 64 << 20).unwrap().start;
    let run = |first: u64, pages: u64| GpuRange { start: at + first * SMALL_PAGE, size: pages * SMALL_PAGE };
    space.map(run(0, 4096), PoolId(2), 0).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..3000u64 {
                let tail = run(1024, 64 + round % 7);
                space.unmap(tail).unwrap();
                space.map(tail, PoolId(2), 1024 * SMALL_PAGE).unwrap();
                // Over the addresses that are being looked at, by the same memory.
                space.map(run(0, 512), PoolId(2), 0).unwrap();
            }
            stop.store(true, Ordering::Release);
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let mut reader = space.reader();
                let mut looks = 0u64;
                while !stop.load(Ordering::Acquire) || looks == 0 {
                    for page in [0, 1, 511, 512, 1023, 2000] {
                        let got = reader.lookup(at + page * SMALL_PAGE);
                        assert_eq!(got.map(|m| (m.pool, m.offset)), Some((PoolId(2), page * SMALL_PAGE)));
                    }
                    looks += 1;
                }
            });
        }
    });
}

#[test]
fn a_change_that_ended_is_seen_by_the_next_lookup() {
    let space = Arc::new(AddressSpace::new());
    let mut reader = space.reader();
    for round in 1..2000u64 {
        let range = std::thread::scope(|scope| scope.spawn(|| space.allocate(PoolId(round), 0x10000)).join());
        let range = range.unwrap().unwrap();
        assert_eq!(reader.lookup(range.start).map(|m| m.pool), Some(PoolId(round)));
        assert_eq!(reader.generation(), space.generation());
        space.free(range.start);
        assert_eq!(reader.lookup(range.start), None);
    }
}
