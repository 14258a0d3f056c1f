//! Looks GPU addresses up among 1, 100 and 5,000 pools, against a `BTreeMap` of the same ranges; makes and frees pools
//! while somebody reads.

// The functions that criterion's macros make have no docs.
#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use navin_memory::{AddressSpace, PoolId};

/// How many addresses are looked up in turn.
const ADDRESSES: usize = 8192;

/// Addresses in an order that no predictor learns; the same each run.
fn scattered(ranges: &[(u64, u64)]) -> Vec<u64> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..ADDRESSES)
        .map(|_| {
            let (start, size) = ranges[(next() % ranges.len() as u64) as usize];
            start + next() % size
        })
        .collect()
}

fn lookup(c: &mut Criterion) {
    let mut group = c.benchmark_group("address_lookup");
    for pools in [1u64, 100, 5000] {
        let space = Arc::new(AddressSpace::new());
        let mut map = BTreeMap::new();
        for id in 0..pools {
            // 4 KB to 4 MB, and one large one.
            let size = if id == 0 { 2427 << 20 } else { 4096 << (id % 11) };
            let range = space.allocate(PoolId(id + 1), size).expect("there is room");
            map.insert(range.start, (range.size, id + 1));
        }
        let ranges: Vec<(u64, u64)> = map.iter().map(|(&start, &(size, _))| (start, size)).collect();
        let addresses = scattered(&ranges);
        let mut reader = space.reader();
        let mut at = 0;
        group.bench_function(BenchmarkId::new("scattered", pools), |b| {
            b.iter(|| {
                at = (at + 1) & (ADDRESSES - 1);
                black_box(reader.lookup(addresses[at], 256))
            });
        });
        group.bench_function(BenchmarkId::new("same pool", pools), |b| {
            b.iter(|| black_box(reader.lookup(black_box(addresses[0]), 256)));
        });
        group.bench_function(BenchmarkId::new("BTreeMap", pools), |b| {
            b.iter(|| {
                at = (at + 1) & (ADDRESSES - 1);
                let address = addresses[at];
                let found = map.range(..=address).next_back();
                black_box(found.filter(|(start, (size, _))| address - **start < *size))
            });
        });
    }
    group.finish();
}

fn change(c: &mut Criterion) {
    let mut group = c.benchmark_group("address_change");
    let space = Arc::new(AddressSpace::new());
    let mut first = 0;
    for id in 0..5000 {
        first = space.allocate(PoolId(id + 1), 4096 << (id % 11)).expect("there is room").start;
    }
    let mut reader = space.reader();
    group.bench_function("allocate, look up, free, look up; 5000 pools", |b| {
        b.iter(|| {
            let range = space.allocate(PoolId(9999), 0x56_0000).expect("there is room");
            black_box(reader.lookup(range.start, 1));
            space.free(range.start);
            black_box(reader.lookup(first, 1));
        });
    });
    group.finish();
}

criterion_group!(benches, lookup, change);
criterion_main!(benches);
