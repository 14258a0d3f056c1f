//! The address space against a naive map of pages, and under threads.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use navin_memory::address_space::{FIRST_ADDRESS, GUARD};
use navin_memory::alloc::HeapRequests;
use navin_memory::virtual_pool::{MapRequest, NoHostMemory, Physical};
use navin_memory::{
    ADDRESS_END, AddressSpace, BIG_PAGE, GpuRange, Lookup, Mapping, PoolId, PoolIds, Reservation, SMALL_PAGE,
    SpaceError, VirtualPool,
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

/// An engine cuts its pool, whose size is that of three ring heaps together, at the next 64 KB boundary of the GPU
/// address each time; a heap that does not fit any more gets base 0.
fn three_ring_heaps(pool: GpuRange) -> [u64; 3] {
    let mut next = pool.start;
    [2 << 20, 8 << 20, 16 << 20].map(|size| {
        let base = next.next_multiple_of(0x1_0000);
        let fits = base + size <= pool.end();
        next = if fits { base + size } else { next };
        if fits { base } else { 0 }
    })
}

#[test]
fn b106_a_pool_cut_at_64_kb_of_its_gpu_address_loses_nothing() {
    let size = (2 << 20) + (8 << 20) + (16 << 20);
    // Storage as Allocate(size) gives it: aligned to 4 KB.
    let storage = 0x7000_0000_3000;
    // Addresses of Navin's own, after pools of odd sizes.
    let space = AddressSpace::new();
    for pages in 1..20 {
        space.allocate(PoolId(pages), pages * 0x1000).unwrap();
    }
    let pool = space.allocate(PoolId(100), size).unwrap();
    assert!(three_ring_heaps(pool).iter().all(|&base| base != 0));

    // GPU addresses that are CPU addresses: with the switch the storage is aligned too, without it a heap is lost.
    let on = HeapRequests { align_64k: true };
    let aligned = storage + 0x1_0000 - storage % on.alignment(size as usize).unwrap() as u64;
    assert!(three_ring_heaps(GpuRange { start: aligned, size }).iter().all(|&base| base != 0));
    assert_eq!(HeapRequests::default().alignment(size as usize), None);
    assert_eq!(three_ring_heaps(GpuRange { start: storage, size })[2], 0, "the negative control");
    assert_eq!((on.alignment(0xFFFF), on.alignment(0x1_0000)), (None, Some(0x1_0000)));
}

#[test]
fn addresses_past_a_pool_are_in_no_pool() {
    let space = Arc::new(AddressSpace::new());
    let range = space.allocate(PoolId(1), 0x3000).unwrap();
    space.allocate(PoolId(2), 0x1000).unwrap();
    let mut reader = space.reader();
    assert_eq!(reader.lookup(range.start + 0x2FFF, 1), Some(Mapping { pool: PoolId(1), offset: 0x2FFF, remaining: 1 }));
    for past in [0x3000, 0xFFFF, 0x10000, 0x1FFFF] {
        assert_eq!(reader.lookup(range.start + past, 1), None);
        assert!(matches!(reader.resolve(range.start + past, 1), Lookup::Nowhere));
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

fn virtual_pool(space: &AddressSpace, id: u64, pages: u64) -> (Arc<VirtualPool>, GpuRange) {
    let pool = Arc::new(VirtualPool::new(PoolId(id), pages * SMALL_PAGE, SMALL_PAGE, 0));
    let range = space.allocate_virtual(&pool).unwrap();
    (pool, range)
}

/// Maps pages of a physical pool, or unmaps; false when the request is refused.
fn map(pool: &VirtualPool, first: u64, count: u64, physical: Option<(PoolId, u64)>) -> bool {
    let request = MapRequest {
        physical: physical.map(|(pool, page)| (pool, page * SMALL_PAGE)),
        virtual_offset: first * SMALL_PAGE,
        size: count * SMALL_PAGE,
    };
    let plan = pool.plan(&[request], |_| Some(Physical { size: 1 << 30, file_offset: None }));
    let taken = plan.refused().is_empty();
    pool.commit(plan, 0, &mut NoHostMemory).unwrap();
    taken
}

#[test]
fn b113_an_address_tells_nothing_mapped_from_no_pool_at_all() {
    let space = Arc::new(AddressSpace::new());
    let (pool, range) = virtual_pool(&space, 7, 1 << 18);
    let at = range.start + 0x440_0000;
    let mut reader = space.reader();
    match reader.resolve(at, 0x1000) {
        Lookup::Unmapped { pool, offset: 0x440_0000, remaining: 0x1000 } => assert_eq!(pool.id(), PoolId(7)),
        other => panic!("{other:?}"),
    }
    // The note comes once.
    assert!(pool.note_unmapped(0x440_0000));
    assert!(!pool.note_unmapped(0x440_0000));

    assert!(matches!(reader.resolve(range.end() + 0x123, 1), Lookup::Nowhere));
    let nearest = space.nearest_virtual(range.end() + 0x123).unwrap();
    assert_eq!((nearest.offset, nearest.range, nearest.mapped), ((1 << 30) + 0x123, range, false));
    let text = nearest.to_string();
    assert!(text.contains("pool 7") && text.contains("0x40000000 bytes reserved") && text.contains("0 runs"), "{text}");
    assert!(text.contains("not mapped, in no run"), "{text}");
    let before = space.nearest_virtual(range.start - 0x10).unwrap();
    assert_eq!(before.offset, -0x10);
    assert!(before.to_string().contains("offset -0x10"), "{before}");

    assert!(map(&pool, 0x4400, 1, Some((PoolId(9), 5))));
    let mapping = Mapping { pool: PoolId(9), offset: 0x5000, remaining: 0x1000 };
    assert_eq!(reader.lookup(at, 0x10_0000), Some(mapping), "no change of the space is needed for that");
    assert_eq!(space.lookup(at), Some(mapping));
    assert!(space.nearest_virtual(at).unwrap().mapped);
}

#[test]
fn the_nearest_virtual_pool_is_the_nearest() {
    let space = AddressSpace::new();
    let (_, first) = virtual_pool(&space, 1, 16);
    space.allocate(PoolId(2), 64 << 20).unwrap();
    let (_, last) = virtual_pool(&space, 3, 16);
    let nearest = |address| space.nearest_virtual(address).map(|found| found.pool.id());
    assert_eq!(nearest(first.end() + 0x100), Some(PoolId(1)));
    assert_eq!(nearest(last.start - 0x100), Some(PoolId(3)));
    assert_eq!(nearest(0), Some(PoolId(1)));
    assert_eq!(nearest(u64::MAX), Some(PoolId(3)));
    space.free(last.start);
    assert_eq!(nearest(u64::MAX), Some(PoolId(1)));
    space.free(first.start);
    assert_eq!(nearest(first.start), None);
}

/// One thing that a guest does; numbers pick among what there is.
#[derive(Debug, Clone)]
enum Op {
    Allocate { pages: u64 },
    Virtual { pages: u64 },
    Free { which: usize },
    Map { which: usize, first: u64, pages: u64, offset: u64, pool: Option<u64> },
}

fn op() -> impl Strategy<Value = Op> {
    let which = 0usize..16;
    // Some larger than an entry of the second level.
    let pages = || prop_oneof![8 => 1u64..80, 1 => 1000u64..5000, 1 => 70_000u64..80_000];
    prop_oneof![
        3 => pages().prop_map(|pages| Op::Allocate { pages }),
        2 => pages().prop_map(|pages| Op::Virtual { pages }),
        3 => which.clone().prop_map(|which| Op::Free { which }),
        8 => (which, 0u64..80, 1u64..40, 0u64..6, prop::option::weighted(0.7, 1000u64..1003))
            .prop_map(|(which, first, pages, offset, pool)| Op::Map { which, first, pages, offset: offset * 8, pool }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Addresses near everything that was ever in use answer what a map from page to page says.
    #[test]
    fn agrees_with_a_naive_map_of_pages(ops in prop::collection::vec(op(), 1..60)) {
        let space = Arc::new(AddressSpace::new());
        let mut reader = space.reader();
        let ids = PoolIds::new();
        let mut ranges: Vec<(GpuRange, PoolId, Option<Arc<VirtualPool>>)> = Vec::new();
        let mut ever: Vec<GpuRange> = Vec::new();
        // Page number to (pool, page of the pool), for virtual pools.
        let mut pages: BTreeMap<u64, (PoolId, u64)> = BTreeMap::new();
        for op in ops {
            match op {
                Op::Allocate { pages: count } => {
                    let id = ids.next();
                    let range = space.allocate(id, count * SMALL_PAGE).unwrap();
                    ranges.push((range, id, None));
                    ever.push(range);
                }
                Op::Virtual { pages: count } => {
                    let id = ids.next();
                    let (pool, range) = virtual_pool(&space, id.0, count);
                    ranges.push((range, id, Some(pool)));
                    ever.push(range);
                }
                Op::Free { which } => {
                    if ranges.is_empty() { continue }
                    let (range, owner, _) = ranges.swap_remove(which % ranges.len());
                    prop_assert_eq!(space.free(range.start), Some(Reservation { owner, range }));
                    pages.retain(|page, _| !range.contains(page * SMALL_PAGE));
                }
                Op::Map { which, first, pages: count, offset, pool } => {
                    if ranges.is_empty() { continue }
                    let (range, _, Some(into)) = &ranges[which % ranges.len()] else { continue };
                    let physical = pool.map(|pool| (PoolId(pool), offset));
                    let fits = (first + count) * SMALL_PAGE <= range.size;
                    prop_assert_eq!(map(into, first, count, physical), fits);
                    if fits {
                        for page in 0..count {
                            let at = range.start / SMALL_PAGE + first + page;
                            match physical {
                                Some((pool, offset)) => pages.insert(at, (pool, offset + page)),
                                None => pages.remove(&at),
                            };
                        }
                    }
                }
            }
            // No two reservations overlap, guards included.
            let mut sorted: Vec<GpuRange> = ranges.iter().map(|(range, ..)| *range).collect();
            sorted.sort_by_key(|range| range.start);
            for pair in sorted.windows(2) {
                prop_assert!(pair[0].end() + GUARD <= pair[1].start);
            }
            let edges = ever.iter().flat_map(|range| {
                let page = range.start / SMALL_PAGE;
                (page - 1..page + 90).chain([range.end() / SMALL_PAGE - 1, range.end() / SMALL_PAGE, range.end() / SMALL_PAGE + 16])
            });
            for page in edges {
                let address = page * SMALL_PAGE + 0x123;
                let owner = ranges.iter().find(|(range, ..)| range.contains(address));
                let got = reader.lookup(address, 20 * SMALL_PAGE);
                let want = match owner {
                    None => None,
                    Some((range, id, None)) => {
                        let offset = address - range.start;
                        Some(Mapping { pool: *id, offset, remaining: range.size - offset })
                    }
                    Some((range, _, Some(_))) => pages.get(&page).map(|&(id, at)| {
                        let run = (1..).take_while(|n| pages.get(&(page + n)) == Some(&(id, at + n))).count() as u64 + 1;
                        let remaining = (run * SMALL_PAGE - 0x123).min(20 * SMALL_PAGE);
                        prop_assert!(remaining <= range.end() - address);
                        Ok(Mapping { pool: id, offset: at * SMALL_PAGE + 0x123, remaining })
                    }).transpose()?,
                };
                prop_assert_eq!(got, want);
                let unmapped = matches!(reader.resolve(address, 1), Lookup::Unmapped { .. });
                prop_assert_eq!(unmapped, want.is_none() && owner.is_some());
                prop_assert_eq!(space.resolve(address, 20 * SMALL_PAGE, |found| found.memory()), want);
                prop_assert_eq!(space.reservation(address).map(|r| r.owner), owner.map(|(_, id, _)| *id));
            }
        }
        for (range, ..) in ranges {
            prop_assert!(space.free(range.start).is_some());
        }
        // All given back: the whole space is one free range again.
        prop_assert!(space.allocate(PoolId(1), ADDRESS_END - FIRST_ADDRESS - GUARD).is_ok());
    }
}

#[test]
fn b112_a_pool_is_found_while_others_come_and_go() {
    let space = Arc::new(AddressSpace::new());
    let range = space.allocate(PoolId(1), 64 << 20).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..3000u64 {
                let other = space.allocate(PoolId(2 + round), (1 + round % 300) * BIG_PAGE).unwrap();
                assert_eq!(space.lookup(other.start).map(|m| m.pool), Some(PoolId(2 + round)));
                space.free(other.start);
            }
            stop.store(true, Ordering::Release);
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let mut reader = space.reader();
                while !stop.load(Ordering::Acquire) {
                    for page in [0, 1, 511, 1023] {
                        let got = reader.lookup(range.start + page * BIG_PAGE, 1);
                        assert_eq!(got.map(|m| (m.pool, m.offset)), Some((PoolId(1), page * BIG_PAGE)));
                    }
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
        assert_eq!(reader.lookup(range.start, 1).map(|m| m.pool), Some(PoolId(round)));
        assert_eq!(reader.generation(), space.generation());
        space.free(range.start);
        assert_eq!(reader.lookup(range.start, 1), None);
    }
}
