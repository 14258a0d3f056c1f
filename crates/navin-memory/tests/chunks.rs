//! Chunks of large pools: which there are after which look-ups.

use navin_memory::chunks::{CHUNKED, Chunk, ChunkId, ChunkPlan, ChunkUse, Need, STRIDE, UNKNOWN_LENGTH};
use proptest::prelude::*;

const MB: u64 = 1 << 20;
const POOL: u64 = 2432 * MB;

fn made(plan: &mut ChunkPlan, offset: u64, need: Need) -> (u64, u64, Vec<ChunkId>) {
    match plan.lookup(offset, need) {
        Some(ChunkUse::Make(range)) => (range.start, range.end - range.start, plan.made(range).1),
        other => panic!("{other:?}"),
    }
}

/// The chunk of a look-up, made if it was not there.
fn chunk(plan: &mut ChunkPlan, offset: u64, need: Need) -> Chunk {
    match plan.lookup(offset, need).unwrap() {
        ChunkUse::There(chunk) => chunk,
        ChunkUse::Make(range) => {
            let (id, _) = plan.made(range.clone());
            Chunk { id, start: range.start, size: range.end - range.start }
        }
    }
}

#[test]
fn b122_below_512_mb_there_is_one_import_from_512_mb_on_none() {
    let mut small = ChunkPlan::new(CHUNKED - 4096, false);
    assert!(small.is_single());
    assert_eq!(made(&mut small, 5, Need::Bytes(4)), (0, CHUNKED - 4096, vec![]));
    assert!(matches!(small.lookup(CHUNKED - 4097, Need::Unknown), Some(ChunkUse::There(_))));
    let mut large = ChunkPlan::new(CHUNKED, false);
    assert!(!large.is_single());
    assert_eq!(made(&mut large, 5, Need::Bytes(4)), (0, STRIDE, vec![]));
    // The diagnostic switch.
    let mut switched = ChunkPlan::new(POOL, true);
    assert_eq!(made(&mut switched, 20 * MB, Need::Unknown), (0, POOL, vec![]));
}

#[test]
fn b122_a_chunk_begins_at_the_stride_and_reaches_its_end_or_as_far_as_is_needed() {
    let fresh = |offset, need| {
        let (start, size, _) = made(&mut ChunkPlan::new(POOL, false), offset, need);
        (start, size)
    };
    assert_eq!(fresh(3 * STRIDE, Need::Bytes(1)), (3 * STRIDE, STRIDE));
    assert_eq!(fresh(4 * STRIDE - 1, Need::Bytes(1)), (3 * STRIDE, STRIDE));
    assert_eq!(fresh(4 * STRIDE - 1, Need::Bytes(2)), (3 * STRIDE, 2 * STRIDE), "over the border");
    assert_eq!(fresh(4 * STRIDE - 1, Need::Bytes(0)), (3 * STRIDE, STRIDE));
    assert_eq!(fresh(5, Need::Unknown), (0, UNKNOWN_LENGTH + STRIDE), "64 MB past the address");
    assert_eq!(fresh(POOL - 5, Need::Unknown), (POOL - STRIDE, STRIDE), "or up to the pool's end");
    assert_eq!(fresh(POOL - 5, Need::Bytes(u64::MAX)), (POOL - STRIDE, STRIDE));
    // A pool that ends inside a stride.
    let (start, size, _) = made(&mut ChunkPlan::new(POOL + 0x5000, false), POOL + 0x4FFF, Need::Bytes(1));
    assert_eq!((start, size), (POOL, 0x5000));
    assert_eq!(ChunkPlan::new(POOL, false).lookup(POOL, Need::Bytes(1)), None);
}

#[test]
fn b122_a_lookup_that_wants_more_makes_the_chunk_longer() {
    let mut plan = ChunkPlan::new(POOL, false);
    let first = chunk(&mut plan, STRIDE + 100, Need::Bytes(1000));
    assert_eq!(plan.lookup(STRIDE, Need::Bytes(STRIDE)), Some(ChunkUse::There(first)));
    let (start, size, replaces) = made(&mut plan, STRIDE + 100, Need::Bytes(STRIDE));
    assert_eq!((start, size, replaces), (STRIDE, 2 * STRIDE, vec![first.id]));
    assert_eq!(plan.chunks().count(), 1);
    assert_eq!((plan.imported(), plan.overlap()), (2 * STRIDE, 0));
}

#[test]
fn b122_removing_a_pool_leaves_nothing() {
    let mut plan = ChunkPlan::new(POOL, false);
    let ids: Vec<ChunkId> = (0..10).map(|n| chunk(&mut plan, n * 10 * STRIDE, Need::Bytes(1)).id).collect();
    assert_eq!(plan.clear(), ids);
    assert_eq!((plan.chunks().count(), plan.imported()), (0, 0));
}

#[test]
fn b122_a_chunk_that_could_not_be_made_leaves_all_as_it_was() {
    let mut plan = ChunkPlan::new(POOL, false);
    let first = chunk(&mut plan, 0, Need::Bytes(1));
    // Asked for, and the import refused: the plan is not told.
    assert_eq!(plan.lookup(5, Need::Bytes(STRIDE)), Some(ChunkUse::Make(0..2 * STRIDE)));
    assert_eq!(plan.lookup(5, Need::Bytes(1)), Some(ChunkUse::There(first)));
}

#[test]
fn b652_statistics_make_no_chunks() {
    let mut plan = ChunkPlan::new(POOL, false);
    for offset in (0..POOL).step_by(MB as usize) {
        assert_eq!(plan.covering(offset, offset + 1), None);
    }
    assert_eq!((plan.chunks().count(), plan.imported(), plan.overlap()), (0, 0, 0));
    chunk(&mut plan, 0, Need::Bytes(1));
    assert_eq!(plan.covering(5, STRIDE), Some(Chunk { id: ChunkId(1), start: 0, size: STRIDE }));
    assert_eq!(plan.covering(5, STRIDE + 1), None);
    assert_eq!(plan.chunks().count(), 1);
}

#[test]
fn b652_lookups_of_unknown_length_all_over_a_pool_import_it_little_more_than_once() {
    let mut plan = ChunkPlan::new(POOL, false);
    let mut imports = 0;
    let mut bytes = 0;
    for offset in (0..POOL).step_by(STRIDE as usize) {
        if let Some(ChunkUse::Make(range)) = plan.lookup(offset + 5, Need::Unknown) {
            imports += 1;
            bytes += range.end - range.start;
            plan.made(range);
        }
    }
    // Without joining: one of 80 MB at each stride, 12 GB.
    assert_eq!(plan.imported(), POOL);
    assert!(plan.overlap() * 3 < POOL, "{} MB of {} MB twice", plan.overlap() / MB, POOL / MB);
    assert!(plan.chunks().count() <= 16, "{}", plan.chunks().count());
    assert!(imports <= 152 && bytes / MB <= 152 * 256, "{imports} imports of {} MB", bytes / MB);
}

proptest! {
    /// Whatever is looked up in whatever order: the answer has the bytes, what a chunk replaces was there and is
    /// inside it, and nothing that was usable before stops being so.
    #[test]
    fn every_lookup_gets_all_its_bytes(
        size in (CHUNKED / 4096..3000 * MB / 4096).prop_map(|pages| pages * 4096),
        lookups in prop::collection::vec((0u64..3000 * MB, prop_oneof![Just(None), (0u64..200 * MB).prop_map(Some)]), 1..60),
    ) {
        let mut plan = ChunkPlan::new(size, false);
        let mut alive: Vec<Chunk> = Vec::new();
        let mut asked: Vec<(u64, u64)> = Vec::new();
        for (offset, need) in lookups {
            let bytes = need.unwrap_or(UNKNOWN_LENGTH).max(1);
            let Some(answer) = plan.lookup(offset, need.map_or(Need::Unknown, Need::Bytes)) else {
                prop_assert!(offset >= size);
                continue;
            };
            let end = (offset + bytes).min(size);
            let (start, stop) = match answer {
                ChunkUse::There(chunk) => {
                    prop_assert!(alive.contains(&chunk));
                    (chunk.start, chunk.end())
                }
                ChunkUse::Make(range) => {
                    let (id, replaces) = plan.made(range.clone());
                    for old in replaces {
                        let at = alive.iter().position(|chunk| chunk.id == old);
                        prop_assert!(at.is_some());
                        let old = alive.swap_remove(at.unwrap());
                        prop_assert!(range.start <= old.start && old.end() <= range.end);
                    }
                    alive.push(Chunk { id, start: range.start, size: range.end - range.start });
                    (range.start, range.end)
                }
            };
            prop_assert!(start <= offset && end <= stop && stop <= size);
            prop_assert!(start.is_multiple_of(STRIDE));
            prop_assert!(stop.is_multiple_of(STRIDE) || stop == size);
            asked.push((offset, end));
            for &(from, to) in &asked {
                prop_assert!(plan.covering(from, to).is_some());
            }
            alive.sort_by_key(|chunk| chunk.start);
            prop_assert_eq!(plan.chunks().collect::<Vec<_>>(), alive.clone());
        }
    }
}
