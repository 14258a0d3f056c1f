//! Virtual pools: what is mapped where, alias or sparse, runs, what waits for the GPU, what textures are fetched from.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};

use common::{FakeHost, MB, at, count, logged, map, physical, request, try_map};
use navin_memory::virtual_pool::{
    CommitError, Kind, MapError, MapRequest, MapWaits, NoHostMemory, Physical, Resolved, Span,
};
use navin_memory::{PoolId, SMALL_PAGE, VirtualPool};
use proptest::prelude::*;

const PAGE: u64 = SMALL_PAGE;

fn sparse(size: u64) -> (VirtualPool, FakeHost) {
    (VirtualPool::new(PoolId(1), size, PAGE, size), FakeHost::new(PAGE))
}

#[test]
fn b108_a_whole_mapping_onto_one_pool_is_an_alias() {
    let (pool, mut host) = sparse(128 * MB);
    assert_eq!(pool.kind(), Kind::Reserved);
    let committed = map(&pool, &[request(0, 128 * MB, Some((2, 3 * MB)))], 0, &mut host);
    assert_eq!(committed.kind, Kind::Alias { physical: PoolId(2), offset: 3 * MB });
    assert!(committed.became_alias);
    assert_eq!(pool.kind(), committed.kind);
    assert_eq!(host.pages.len(), 0, "its CPU addresses are the physical pool's");
    // The GPU's side is the same as ever: every byte is the physical pool's.
    let whole = Resolved::Mapped { pool: PoolId(2), offset: 3 * MB + 5, size: 128 * MB - 5 };
    assert_eq!(pool.resolve(5, u64::MAX), Some(whole));
    // The same again changes nothing of that.
    let again = map(&pool, &[request(0, 128 * MB, Some((2, 3 * MB)))], 0, &mut host);
    assert_eq!((again.kind, again.became_alias), (committed.kind, false));
}

#[test]
fn b109_45_pools_of_4_mb_fill_180_mb_of_a_64_gb_pool() {
    let (pool, mut host) = sparse(64 << 30);
    let empty = pool.table_bytes();
    assert!(empty <= 8192, "64 GB reserved cost {empty} bytes");
    // Each at its own call, in an order that joins later.
    for n in (0..45).step_by(2).chain((1..45).step_by(2)) {
        map(&pool, &[request(n * 4 * MB, 4 * MB, Some((100 + n, 0)))], 0, &mut host);
    }
    assert_eq!((pool.runs(), pool.mapped_bytes()), (1, 180 * MB));
    assert_eq!(pool.run_list().next(), Some(0..180 * MB));
    for n in 0..45 {
        for offset in [0, 12345, 4 * MB - 1] {
            assert_eq!(at(&pool, n * 4 * MB + offset), Some((100 + n, offset)));
        }
        let page = n * 4 * MB / PAGE + 7;
        assert_eq!(host.pages.get(&page), Some(&(PoolId(100 + n), 7)), "and the CPU sees the same");
    }
    assert_eq!(pool.visible(1, u64::MAX), 180 * MB - 1, "scattered memory lies side by side in the CPU range");
    assert!(pool.table_bytes() - empty < 180 * MB / 100);
}

#[test]
fn b109_a_run_between_two_joins_them_and_a_hole_cuts_one() {
    let (pool, mut host) = sparse(1 << 30);
    map(&pool, &[request(0, 4 * MB, Some((2, 0)))], 0, &mut host);
    map(&pool, &[request(8 * MB, 4 * MB, Some((3, 0)))], 0, &mut host);
    assert_eq!(pool.runs(), 2);
    map(&pool, &[request(4 * MB, 4 * MB, Some((4, 0)))], 0, &mut host);
    assert_eq!(pool.runs(), 1);
    map(&pool, &[request(5 * MB, PAGE, None)], 0, &mut host);
    assert_eq!(pool.run_list().collect::<Vec<_>>(), [0..5 * MB, 5 * MB + PAGE..12 * MB]);
    assert_eq!(pool.resolve(5 * MB, 64 * MB), Some(Resolved::Unmapped { size: PAGE }));
    assert_eq!(at(&pool, 5 * MB - 1), Some((4, MB - 1)));
    assert_eq!(at(&pool, 5 * MB + PAGE), Some((4, MB + PAGE)));
}

#[test]
fn b109_beyond_a_shortened_range_there_is_the_table() {
    let pool = VirtualPool::new(PoolId(1), 64 << 30, PAGE, 1 << 30);
    let mut host = FakeHost::new(PAGE);
    map(&pool, &[request((1 << 30) - 2 * PAGE, 4 * PAGE, Some((2, 0)))], 0, &mut host);
    assert_eq!(host.pages.len(), 2);
    assert_eq!((pool.host_span(), pool.visible((1 << 30) - 2 * PAGE, 4 * PAGE)), (1 << 30, 2 * PAGE));
    let there = Resolved::Mapped { pool: PoolId(2), offset: 0, size: 4 * PAGE };
    assert_eq!(pool.resolve((1 << 30) - 2 * PAGE, u64::MAX), Some(there), "the table does not care");
}

#[test]
fn b110_runs_have_no_limit_and_a_request_adds_at_most_two() {
    let (pool, mut host) = sparse(64 << 30);
    for n in 0..2500u64 {
        map(&pool, &[request(n * 3 * PAGE, PAGE, Some((2, n * PAGE)))], 0, &mut host);
        assert_eq!(pool.runs(), n + 1);
    }
    for n in 0..2500 {
        assert_eq!(at(&pool, n * 3 * PAGE + 9), Some((2, n * PAGE + 9)));
        assert_eq!(at(&pool, n * 3 * PAGE + PAGE), None);
        assert_eq!(host.pages.get(&(n * 3)), Some(&(PoolId(2), n)));
    }
    assert_eq!(pool.run_list().count(), 2500);
    map(&pool, &[request(3 * PAGE, 300 * PAGE, Some((3, 0)))], 0, &mut host);
    assert_eq!(pool.runs(), 2500 - 100, "one takes the place of a hundred, and joins the next");
    let runs = pool.runs();
    map(&pool, &[request(100 * PAGE, PAGE, None)], 0, &mut host);
    assert_eq!(pool.runs(), runs + 1);
    assert_eq!(at(&pool, 99 * PAGE), Some((3, 96 * PAGE)));
}

#[test]
fn b111_unmapping_reads_zero_at_once_and_takes_the_pages_when_the_gpu_has_ended() {
    let (pool, mut host) = sparse(64 * MB);
    map(&pool, &[request(0, MB, Some((2, 0)))], 0, &mut host);
    let import = pool.begin_import(0, MB).unwrap();
    // Submission 7 may be reading.
    let plan = pool.plan(&[request(0, MB, None)], physical);
    assert_eq!(plan.waits_for(), [], "unmapping does not wait");
    assert_eq!(plan.stale_imports(), [import]);
    pool.commit(plan, 7, &mut host).unwrap();
    assert_eq!(at(&pool, 0), None);
    assert_eq!((pool.unreleased(), host.pages.len()), (MB, 256), "the held work still reads the old content");
    assert_eq!(pool.release(6, &mut host), 0);
    assert_eq!(pool.release(7, &mut host), 0, "an import lives on");
    pool.end_import(import);
    assert_eq!(pool.release(7, &mut host), MB);
    assert_eq!((pool.unreleased(), host.pages.len()), (0, 0));

    // Without an import of the range too: the guest's addresses stay until the submission has ended.
    map(&pool, &[request(0, MB, Some((2, 0)))], 7, &mut host);
    map(&pool, &[request(0, MB, None)], 8, &mut host);
    assert_eq!((pool.release(7, &mut host), host.pages.len()), (0, 256));
    assert_eq!((pool.release(8, &mut host), host.pages.len()), (MB, 0));
}

#[test]
fn b111_a_mapping_over_pages_under_an_import_waits_and_what_it_shows_stays() {
    let (pool, mut host) = sparse(64 * MB);
    map(&pool, &[request(0, MB, Some((2, 0)))], 0, &mut host);
    let import = pool.begin_import(0, MB).unwrap();
    map(&pool, &[request(0, MB, None)], 7, &mut host);

    let again = [request(16 * PAGE, 16 * PAGE, Some((3, 0)))];
    let plan = pool.plan(&again, physical);
    assert_eq!(plan.waits_for(), [import]);
    // Without the wait the pages do not change.
    assert_eq!(pool.commit(plan, 8, &mut host), Err(CommitError::Imported));
    assert_eq!(host.pages.get(&16), Some(&(PoolId(2), 16)));
    pool.end_import(import);
    map(&pool, &again, 8, &mut host);
    assert_eq!(host.pages.get(&16), Some(&(PoolId(3), 0)));
    assert_eq!(pool.release(8, &mut host), MB - 16 * PAGE, "all but what was mapped again");
    assert_eq!(host.pages.len(), 16);
    // Elsewhere nothing waits.
    let other = pool.begin_import(16 * PAGE, 16 * PAGE).unwrap();
    assert_eq!(pool.plan(&[request(32 * PAGE, PAGE, Some((3, 0)))], physical).waits_for(), []);
    // Nor does the same once more: no page changes.
    let same = pool.plan(&again, physical);
    assert_eq!(same.waits_for(), []);
    assert!(pool.commit(same, 8, &mut host).is_ok());
    pool.end_import(other);
    assert_eq!(pool.imports(), 0);
}

#[test]
fn b111_the_waits_are_logged_at_powers_of_two() {
    let waits = MapWaits::default();
    let lines = logged(|| assert_eq!((1..=9).map(|_| waits.count()).last(), Some(9)));
    assert_eq!(lines.len(), 4);
    for (line, n) in lines.iter().zip([1, 2, 4, 8]) {
        assert!(line.contains(&format!("waited {n} times")), "{line}");
    }
}

#[test]
fn b109_the_log_tells_of_mapped_bytes_once_per_128_mb() {
    let (pool, mut host) = sparse(64 << 30);
    let lines = logged(|| {
        for round in 0..3 {
            for n in 0..100 {
                map(&pool, &[request(n * 4 * MB, 4 * MB, Some((2, 0)))], 0, &mut host);
            }
            map(&pool, &[request(0, 400 * MB, (round == 0).then_some((3, 0)))], 0, &mut host);
        }
    });
    assert_eq!(count(&lines, "MB are mapped [B109]"), 3, "128, 256, 384; not again below the mark: {lines:?}");
}

#[test]
fn b110_the_log_tells_of_runs_at_powers_of_two_from_1024_on() {
    let (pool, mut host) = sparse(1 << 30);
    let lines = logged(|| {
        for n in 0..2500 {
            map(&pool, &[request(n * 2 * PAGE, PAGE, Some((2, 0)))], 0, &mut host);
        }
    });
    assert_eq!(count(&lines, "runs [B110]"), 2);
    assert_eq!((count(&lines, " 1024 runs"), count(&lines, " 2048 runs")), (1, 1));
}

#[test]
fn b113_the_note_of_an_unmapped_page_comes_once_and_is_no_fault() {
    let (pool, _) = sparse(1 << 30);
    let lines = logged(|| {
        assert!(pool.note_unmapped(0x440_0000));
        assert!(!pool.note_unmapped(0x440_0000));
    });
    assert_eq!((lines.len(), count(&lines, "0x4400000")), (1, 1), "{lines:?}");
}

#[test]
fn b111_an_import_needs_pages_that_are_there() {
    let (pool, mut host) = sparse(64 * MB);
    map(&pool, &[request(0, 4 * PAGE, Some((2, 0))), request(5 * PAGE, PAGE, Some((2, 0)))], 0, &mut host);
    assert_eq!(pool.begin_import(0, 5 * PAGE), None);
    assert_eq!(pool.begin_import(4 * PAGE, 1), None);
    assert_eq!(pool.begin_import(64 * MB, 1), None);
    assert_eq!(pool.begin_import(0, 0), None);
    assert_eq!(pool.begin_import(u64::MAX, 2), None);
    assert!(pool.begin_import(10, 4 * PAGE - 10).is_some());
}

#[test]
fn b111_an_overtaken_plan_changes_nothing() {
    let (pool, mut host) = sparse(64 * MB);
    let first = pool.plan(&[request(0, PAGE, Some((2, 0)))], physical);
    let second = pool.plan(&[request(0, PAGE, Some((3, 0)))], physical);
    pool.commit(first, 0, &mut host).unwrap();
    assert_eq!(pool.commit(second, 0, &mut host), Err(CommitError::Overtaken));
    assert_eq!(at(&pool, 0), Some((2, 0)));
}

#[test]
fn b112_an_address_that_is_mapped_all_along_is_always_found() {
    let pool = VirtualPool::new(PoolId(1), 256 * MB, PAGE, 0);
    let mut none = NoHostMemory;
    let mut change = |offset: u64, size: u64, physical_offset: Option<u64>| {
        let plan = pool.plan(&[request(offset, size, physical_offset.map(|at| (2, at)))], physical);
        pool.commit(plan, 0, &mut none).unwrap();
    };
    change(0, 64 * MB, Some(0));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..2000u64 {
                // The run grows, splits, joins again; and is mapped over by the same memory in other pieces.
                change((64 + round % 64) * MB, MB, Some((64 + round % 64) * MB));
                let hole = 32 * MB + (round % 50 + 1) * PAGE;
                change(hole, 3 * PAGE, None);
                change(hole, 3 * PAGE, Some(hole));
                change(round % 5 * PAGE, (round % 70 + 1) * PAGE, Some(round % 5 * PAGE));
                change(0x300_0000 - PAGE, 2 * PAGE, Some(0x300_0000 - PAGE));
            }
            stop.store(true, Ordering::Release);
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let mut looks = 0u64;
                while !stop.load(Ordering::Acquire) || looks == 0 {
                    for offset in [0, 8, 3 * PAGE + 1, 15 * PAGE, 16 * PAGE, 0x300_0000, 32 * MB] {
                        assert_eq!(at(&pool, offset), Some((2, offset)));
                    }
                    looks += 1;
                }
            });
        }
    });
}

#[test]
fn b114_the_first_mapping_decides_and_sparse_stays() {
    for size in [0x2_0000, 0x56_0000] {
        let (pool, mut host) = sparse(size);
        // The tail first, then finer levels from other parts of the physical pool.
        map(&pool, &[request(size - 0x1_0000, 0x1_0000, Some((2, 0x30_0000)))], 0, &mut host);
        assert_eq!(pool.kind(), Kind::Sparse);
        map(&pool, &[request(0, 0x1_0000, Some((2, 0)))], 0, &mut host);
        assert_eq!(at(&pool, size - 1), Some((2, 0x30_FFFF)));
        assert_eq!(at(&pool, 0x123), Some((2, 0x123)));
        // Even a whole mapping makes no alias of it now.
        map(&pool, &[request(0, size, Some((3, 0)))], 0, &mut host);
        assert_eq!(pool.kind(), Kind::Sparse);
        assert_eq!(host.pages.len() as u64 * PAGE, size);
    }
}

#[test]
fn b114_221_pools_are_sparse_at_one_time() {
    let pools: Vec<VirtualPool> =
        (0..221).map(|id| VirtualPool::new(PoolId(1000 + id), 0x2_0000 + id * 0x1_0000, PAGE, 1 << 30)).collect();
    let mut hosts: Vec<FakeHost> = (0..221).map(|_| FakeHost::new(PAGE)).collect();
    for (n, (pool, host)) in pools.iter().zip(&mut hosts).enumerate() {
        map(pool, &[request(0x1_0000, 0x1_0000, Some((2, n as u64 * 0x1_0000)))], 0, host);
    }
    for (n, pool) in pools.iter().enumerate() {
        assert_eq!((pool.kind(), at(pool, 0x1_0000)), (Kind::Sparse, Some((2, n as u64 * 0x1_0000))));
    }
}

#[test]
fn b114_unmapping_first_decides_nothing() {
    let (pool, mut host) = sparse(MB);
    map(&pool, &[request(0, MB, None)], 0, &mut host);
    assert_eq!((pool.kind(), pool.generation()), (Kind::Reserved, pool.generation()));
    map(&pool, &[request(0, MB, Some((2, 0)))], 0, &mut host);
    assert!(matches!(pool.kind(), Kind::Alias { .. }));
}

#[test]
fn b114_an_alias_that_is_mapped_otherwise_becomes_sparse_and_gets_a_range() {
    let (pool, mut host) = sparse(MB);
    map(&pool, &[request(0, MB, Some((2, 0)))], 0, &mut host);
    let committed = map(&pool, &[request(0, PAGE, Some((3, 0))), request(MB - PAGE, PAGE, None)], 0, &mut host);
    assert_eq!((committed.kind, pool.host_span()), (Kind::Sparse, 0));
    assert_eq!((at(&pool, 0), at(&pool, PAGE), at(&pool, MB - PAGE)), (Some((3, 0)), Some((2, PAGE)), None));
    assert_eq!(pool.begin_import(0, 2 * PAGE), None, "no CPU range yet");
    assert_eq!(pool.attach(MB, &mut host), MB - PAGE);
    assert_eq!((host.pages.get(&0), host.pages.get(&1)), (Some(&(PoolId(3), 0)), Some(&(PoolId(2), 1))));
    assert!(pool.begin_import(0, 2 * PAGE).is_some());
}

#[test]
fn b115_a_pool_whose_address_was_given_out_stays_sparse() {
    let (pool, mut host) = sparse(MB);
    assert_eq!(pool.give_out(), Kind::Reserved);
    assert_eq!(pool.give_out(), Kind::Reserved, "and again");
    let lines = logged(|| {
        let committed = map(&pool, &[request(0, MB, Some((2, 0)))], 0, &mut host);
        assert_eq!((committed.kind, committed.became_alias), (Kind::Sparse, false));
    });
    assert_eq!(count(&lines, "gave out addresses before its first mapping"), 1);
    assert_eq!(host.pages.len() as u64 * PAGE, MB, "its own addresses show the physical pages");
    assert!(pool.is_given_out());

    // Not after the alias was made: then the alias's addresses are what is given out.
    let (pool, mut host) = sparse(MB);
    map(&pool, &[request(0, MB, Some((2, 0)))], 0, &mut host);
    assert_eq!(pool.give_out(), Kind::Alias { physical: PoolId(2), offset: 0 });

    // Given out between the plan and its commit: the plan does not hold.
    let (pool, mut host) = sparse(MB);
    let plan = pool.plan(&[request(0, MB, Some((2, 0)))], physical);
    pool.give_out();
    assert_eq!(pool.commit(plan, 0, &mut host), Err(CommitError::Overtaken));
    assert_eq!(pool.kind(), Kind::Reserved);
    assert_eq!(map(&pool, &[request(0, MB, Some((2, 0)))], 0, &mut host).kind, Kind::Sparse);
}

#[test]
fn b118_on_a_host_with_16_kb_pages_what_does_not_fit_is_in_the_table_alone() {
    const HOST: u64 = 16 << 10;
    let base = 32 << 30;
    let pool = VirtualPool::new(PoolId(1), 64 << 30, HOST, 64 << 30);
    let mut host = FakeHost::new(HOST);
    // A tail at 0x81000 from the begin of a physical pool: unequal modulo 16 KB.
    map(&pool, &[request(base + 0x8_1000, 0x1_0000, Some((2, 0)))], 0, &mut host);
    assert_eq!(host.pages.len(), 0);
    assert_eq!(at(&pool, base + 0x8_1123), Some((2, 0x123)));
    assert_eq!(pool.begin_import(base + 0x8_1000, 0x1000), None);
    // Equal: the host pages show it, its neighbours in the file with it.
    map(&pool, &[request(base + 0x10_1000, 0x2000, Some((3, 0x5000)))], 0, &mut host);
    assert_eq!(host.pages.len(), 4);
    assert_eq!(host.pages.get(&((base + 0x10_1000) / PAGE)), Some(&(PoolId(3), 5)));
    assert_eq!(pool.visible(base + 0x10_1000, 0x8000), 0x2000);
    // Another physical page in the same host page: they cannot both be shown, both are in the table.
    map(&pool, &[request(base + 0x10_3000, 0x1000, Some((4, 0)))], 3, &mut host);
    assert_eq!((at(&pool, base + 0x10_1000), at(&pool, base + 0x10_3000)), (Some((3, 0x5000)), Some((4, 0))));
    assert_eq!(pool.visible(base + 0x10_1000, 0x1000), 0);
    assert_eq!((pool.unreleased(), pool.release(3, &mut host)), (HOST, HOST));
    // Gone again: the first one comes back.
    map(&pool, &[request(base + 0x10_3000, 0x1000, None)], 4, &mut host);
    assert_eq!(pool.visible(base + 0x10_1000, 0x2000), 0x2000);
    assert_eq!(host.pages.get(&((base + 0x10_2000) / PAGE)), Some(&(PoolId(3), 6)));
}

#[test]
fn b118_memory_in_no_memfd_is_in_the_table_alone() {
    let (pool, mut host) = sparse(MB);
    let plan = pool.plan(&[request(PAGE, PAGE, Some((2, 0)))], |_| Some(Physical { size: MB, file_offset: None }));
    pool.commit(plan, 0, &mut host).unwrap();
    assert_eq!((at(&pool, PAGE), host.pages.len()), (Some((2, 0)), 0));
}

#[test]
fn b118_a_texture_is_due_when_an_entry_under_it_is_newer_than_its_upload() {
    let base = 32 << 30;
    let (pool, mut host) = sparse(64 << 30);
    let texture = (base + 0x1_0000, 0x9_1000);
    let mut change = |offset, size, physical| map(&pool, &[request(offset, size, physical)], 0, &mut host);
    change(base + 0x8_1000, 0x2_0000, Some((2, 0x3000)));
    let uploaded = pool.generation();
    let spans: Vec<Span> = pool.spans(texture.0, texture.1).collect();
    let wanted = [
        Span { offset: base + 0x1_0000, size: 0x7_1000, source: None },
        Span { offset: base + 0x8_1000, size: 0x2_0000, source: Some((PoolId(2), 0x3000)) },
    ];
    assert_eq!(spans, wanted);
    for _ in 0..10 {
        assert!(!pool.changed_since(texture.0, texture.1, uploaded));
    }
    assert!(pool.changed_since(texture.0, texture.1, uploaded - 1));
    // Elsewhere, next to it, and unmapping what was unmapped: nothing.
    change(base + 0xA_1000, 0x1000, Some((2, 0)));
    change(base, 0x1_0000, Some((2, 0)));
    change(base + 0x1_0000, 0x1_0000, None);
    change(0, MB, Some((2, 0)));
    assert!(!pool.changed_since(texture.0, texture.1, uploaded));
    // A page under it, mapped or taken away: due, once.
    change(base + 0xA_0000, 0x1000, Some((3, 0)));
    assert!(pool.changed_since(texture.0, texture.1, uploaded));
    let uploaded = pool.generation();
    assert!(!pool.changed_since(texture.0, texture.1, uploaded));
    change(base + 0x8_1000, 0x1000, None);
    assert!(pool.changed_since(texture.0, texture.1, uploaded));
    // A whole 64 KB under it too.
    let whole = pool.generation();
    change(base + 0x2_0000, 0x1_0000, Some((3, 0x1000)));
    assert!(pool.changed_since(texture.0, texture.1, whole));
    assert!(pool.changed_since(base + 0x2_FFFF, 1, whole) && !pool.changed_since(base + 0x3_0000, 1, whole));
    // Any bytes, not only pages; and past the end.
    assert!(pool.changed_since(base + 0x8_1FFF, 1, uploaded));
    assert!(!pool.changed_since(base + 0x8_2000, 1, uploaded));
    assert!(!pool.changed_since(64 << 30, MB, 0) && !pool.changed_since(u64::MAX, u64::MAX, 0));
    let end: Vec<Span> = pool.spans((64 << 30) - 5, 100).collect();
    assert_eq!(end, [Span { offset: (64 << 30) - 5, size: 5, source: None }]);
    assert_eq!(pool.spans(64 << 30, 1).count(), 0);
}

#[test]
fn requests_that_cannot_be_are_named_and_the_others_done() {
    let (pool, mut host) = sparse(MB);
    let small = |id: PoolId| (id != PoolId(9)).then_some(Physical { size: 16 * PAGE, file_offset: Some(0) });
    let requests = [
        request(0, 0, Some((2, 0))),
        request(1, PAGE, Some((2, 0))),
        request(0, PAGE + 1, Some((2, 0))),
        request(0, PAGE, Some((2, 12))),
        request(MB, PAGE, Some((2, 0))),
        request(!(PAGE - 1), 2 * PAGE, None),
        request(0, 2 * PAGE, Some((2, 15 * PAGE))),
        request(0, PAGE, Some((2, !(PAGE - 1)))),
        request(0, PAGE, Some((9, 0))),
        request(0, PAGE, Some((u64::MAX, 0))),
        request(PAGE, PAGE, Some((2, 15 * PAGE))),
    ];
    let plan = pool.plan(&requests, small);
    let (virtual_end, physical_end) = (MapError::PastVirtual { size: MB }, MapError::PastPhysical { size: 16 * PAGE });
    let reasons = [
        MapError::Empty,
        MapError::Unaligned,
        MapError::Unaligned,
        MapError::Unaligned,
        virtual_end,
        virtual_end,
        physical_end,
        physical_end,
        MapError::NoPhysical,
        MapError::NoPhysical,
    ];
    assert_eq!(plan.refused().iter().map(|r| r.reason).collect::<Vec<_>>(), reasons);
    assert_eq!(plan.refused().iter().map(|r| r.index).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
    let text = plan.refused()[6].to_string();
    assert!(text.contains("request 6 (0x2000 bytes at 0x0 from pool 2 at 0xf000)"), "{text}");
    pool.commit(plan, 0, &mut host).unwrap();
    assert_eq!((at(&pool, 0), at(&pool, PAGE), pool.kind()), (None, Some((2, 15 * PAGE)), Kind::Sparse));
}

#[test]
fn requests_that_overlap_count_in_order() {
    let (pool, mut host) = sparse(MB);
    let requests = [
        request(0, 8 * PAGE, Some((2, 0))),
        request(2 * PAGE, 2 * PAGE, Some((3, 0))),
        request(3 * PAGE, 4 * PAGE, None),
        request(6 * PAGE, PAGE, Some((2, 6 * PAGE))),
    ];
    let committed = map(&pool, &requests, 0, &mut host);
    let pages: Vec<_> = (0..9).map(|page| at(&pool, page * PAGE).map(|(pool, at)| (pool, at / PAGE))).collect();
    let two = |page| Some((2, page));
    assert_eq!(pages, [two(0), two(1), Some((3, 0)), None, None, None, two(6), two(7), None]);
    assert_eq!((pool.runs(), pool.generation()), (2, 1));
    assert_eq!(committed.changed.iter().map(|range| range.end - range.start).sum::<u64>(), 8 * PAGE);
    assert_eq!(host.pages.len(), 5);
}

#[test]
fn a_physical_pool_that_goes_takes_its_pages_along() {
    let (pool, mut host) = sparse(64 * MB);
    map(
        &pool,
        &[request(0, MB, Some((2, 0))), request(MB, MB, Some((3, 0))), request(8 * MB, PAGE, Some((2, 0)))],
        0,
        &mut host,
    );
    assert!(pool.plan_without(PoolId(4)).is_none() && !pool.shows(PoolId(4)) && pool.shows(PoolId(2)));
    let plan = pool.plan_without(PoolId(2)).unwrap();
    let committed = pool.commit(plan, 5, &mut host).unwrap();
    assert_eq!(committed.changed, [0..MB, 8 * MB..8 * MB + PAGE]);
    assert_eq!((at(&pool, 0), at(&pool, MB), at(&pool, 8 * MB)), (None, Some((3, 0)), None));
    assert!(pool.plan_without(PoolId(2)).is_none() && !pool.shows(PoolId(2)));
    assert_eq!(pool.release(5, &mut host), MB + PAGE);
}

#[test]
fn a_host_that_refuses_leaves_the_pages_to_the_table() {
    let (pool, mut host) = sparse(MB);
    map(&pool, &[request(0, 2 * PAGE, Some((2, 0)))], 0, &mut host);
    host.full = true;
    let committed = map(&pool, &[request(PAGE, 2 * PAGE, Some((3, 0)))], 1, &mut host);
    assert_eq!(committed.refused_by_host, 2 * PAGE);
    assert_eq!((at(&pool, PAGE), pool.visible(0, MB)), (Some((3, 0)), PAGE));
    host.full = false;
    // What the range still shows there is not what the table says: it goes.
    pool.release(1, &mut host);
    assert_eq!(host.pages.keys().copied().collect::<Vec<_>>(), [0]);
}

/// The naive model: for each page what is behind it, and the call that put it there.
struct Model {
    pages: Vec<Option<(PoolId, u64)>>,
    changed: Vec<u64>,
}

/// First page, pages, physical pool and page.
type PageRequest = (u64, u64, Option<(u64, u64)>);

#[derive(Clone, Debug)]
struct Call {
    requests: Vec<PageRequest>,
    /// Imports to begin or end before: first page, pages.
    import: Option<(u64, u64)>,
    release: bool,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    // Around block, leaf and CPU-range borders.
    let first = prop_oneof![0u64..80, 490u64..540, 1000u64..1060];
    let count = prop_oneof![4 => 1u64..24, 1 => 1u64..300];
    let physical = prop::option::weighted(0.7, (2u64..5, 0u64..40));
    let requests = prop::collection::vec((first, count, physical), 1..4);
    let import = prop::option::weighted(0.2, (0u64..80, 1u64..20));
    prop::collection::vec(
        (requests, import, any::<bool>()).prop_map(|(requests, import, release)| Call { requests, import, release }),
        1..40,
    )
}

/// Runs calls on a pool and the model, and compares everything after each.
fn agrees_with_the_model(calls: Vec<Call>, host_page: u64) -> Result<(), TestCaseError> {
    const PAGES: u64 = 1400;
    const SPAN: u64 = 1024;
    let pool = VirtualPool::new(PoolId(1), PAGES * PAGE, host_page, SPAN * PAGE);
    let mut host = FakeHost::new(host_page);
    let mut model = Model { pages: vec![None; PAGES as usize], changed: vec![0; PAGES as usize] };
    let mut imports: Vec<(navin_memory::virtual_pool::ImportId, u64, u64)> = Vec::new();
    let per = host_page / PAGE;
    for (submission, call) in (1u64..).zip(calls) {
        if let Some((first, count)) = call.import
            && let Some(id) = pool.begin_import(first * PAGE, count * PAGE)
        {
            imports.push((id, first / per * per, (first + count).next_multiple_of(per)));
        }
        let requests: Vec<MapRequest> = call
            .requests
            .iter()
            .map(|&(first, count, physical)| {
                request(first * PAGE, count * PAGE, physical.map(|(p, at)| (p, at * PAGE)))
            })
            .collect();
        let before = host.pages.clone();
        let plan = pool.plan(&requests, physical);
        prop_assert_eq!(plan.refused(), []);
        let waits = plan.waits_for().to_vec();
        if !waits.is_empty() {
            prop_assert_eq!(pool.commit(plan, submission, &mut host), Err(CommitError::Imported));
            prop_assert_eq!(&host.pages, &before);
            for id in waits {
                let at = imports.iter().position(|(known, ..)| *known == id);
                prop_assert!(at.is_some());
                imports.swap_remove(at.unwrap());
                pool.end_import(id);
            }
            pool.commit(pool.plan(&requests, physical), submission, &mut host).unwrap();
        } else {
            pool.commit(plan, submission, &mut host).unwrap();
        }
        // A page under an import is what it was (B111).
        for &(_, from, to) in &imports {
            for page in from..to {
                prop_assert_eq!(host.pages.get(&page), before.get(&page));
            }
        }
        let generation = pool.generation();
        for (first, count, physical) in call.requests {
            for page in 0..count {
                let at = (first + page) as usize;
                model.pages[at] = physical.map(|(pool, at)| (PoolId(pool), at + page));
                if physical.is_some() {
                    model.changed[at] = generation;
                }
            }
        }
        if call.release {
            pool.release(submission, &mut host);
            for id in imports.drain(..) {
                pool.end_import(id.0);
            }
            pool.release(submission, &mut host);
            prop_assert_eq!(pool.unreleased(), 0);
        }
        compare(&pool, &host, &model, per, SPAN, call.release)?;
    }
    Ok(())
}

fn compare(
    pool: &VirtualPool,
    host: &FakeHost,
    model: &Model,
    per: u64,
    span: u64,
    released: bool,
) -> Result<(), TestCaseError> {
    let pages = model.pages.len() as u64;
    let behind = |page: u64| model.pages.get(page as usize).copied().flatten();
    let mut runs = 0;
    // From the end, so that each page knows how many follow it side by side.
    let mut side_by_side = 0u64;
    for page in (0..pages).rev() {
        let want = behind(page);
        runs += u64::from(want.is_some() && (page == 0 || behind(page - 1).is_none()));
        let joins = page + 1 < pages && behind(page + 1) == want.map(|(id, at)| (id, at + 1));
        side_by_side = if joins { side_by_side + 1 } else { 1 };
        let size = (side_by_side * PAGE - 9).min(40 * PAGE);
        let resolved = match want {
            Some((id, at)) => Resolved::Mapped { pool: id, offset: at * PAGE + 9, size },
            None => Resolved::Unmapped { size },
        };
        prop_assert_eq!(pool.resolve(page * PAGE + 9, 40 * PAGE), Some(resolved));
        if want.is_some() {
            let changed = model.changed[page as usize];
            prop_assert!(!pool.changed_since(page * PAGE, 1, changed));
            prop_assert!(pool.changed_since(page * PAGE, 1, changed - 1));
        }
        // The CPU range: a host page shows what all its mapped pages agree on, and nothing once released.
        if page.is_multiple_of(per) {
            let starts: Vec<Option<(PoolId, u64)>> =
                (0..per).filter_map(|n| behind(page + n).map(|(id, at)| Some((id, at.checked_sub(n)?)))).collect();
            let agreed = starts.first().copied().flatten().filter(|first| {
                page + per <= span && first.1.is_multiple_of(per) && starts.iter().all(|start| *start == Some(*first))
            });
            for n in 0..per {
                let shown = host.pages.get(&(page + n)).copied();
                match agreed {
                    Some((id, at)) => prop_assert_eq!(shown, Some((id, at + n))),
                    None => prop_assert!(!released || shown.is_none(), "page {} shows {:?}", page + n, shown),
                }
                let visible = agreed.is_some() && behind(page + n).is_some();
                prop_assert_eq!(pool.visible((page + n) * PAGE, 1) == 1, visible);
            }
        }
    }
    prop_assert_eq!(pool.runs(), runs);
    prop_assert_eq!(pool.run_list().count() as u64, runs);
    prop_assert_eq!(pool.mapped_bytes(), model.pages.iter().flatten().count() as u64 * PAGE);
    let spans: Vec<Span> = pool.spans(3, pages * PAGE).collect();
    prop_assert_eq!(spans.iter().map(|span| span.size).sum::<u64>(), pages * PAGE - 3);
    for pair in spans.windows(2) {
        prop_assert_eq!(pair[0].offset + pair[0].size, pair[1].offset);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_a_naive_model_on_4_kb_pages(calls in calls()) {
        agrees_with_the_model(calls, 4 << 10)?;
    }

    #[test]
    fn agrees_with_a_naive_model_on_16_kb_pages(calls in calls()) {
        agrees_with_the_model(calls, 16 << 10)?;
    }
}

#[test]
fn maps_that_are_refused_by_the_plan_leave_a_plan_that_is_empty() {
    let (pool, mut host) = sparse(MB);
    let plan = pool.plan(&[request(MB, PAGE, None)], physical);
    assert!(plan.is_empty());
    let committed = pool.commit(plan, 0, &mut host).unwrap();
    assert_eq!((committed.generation, committed.changed.len(), pool.kind()), (0, 0, Kind::Reserved));
    assert_eq!(try_map(&pool, &[], 0, &mut host).map(|c| c.generation), Ok(0));
}
