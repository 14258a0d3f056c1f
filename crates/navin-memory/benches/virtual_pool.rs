//! Maps one more page into a 64 GB virtual pool of 10,000 runs, reads its table, and prints what the table costs.

// The functions that criterion's macros make have no docs.
#![allow(missing_docs)]

use std::hint::black_box;
use std::io;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use navin_memory::virtual_pool::{HostMemory, MapRequest, Physical};
use navin_memory::{PoolId, SMALL_PAGE, VirtualPool};

const SIZE: u64 = 64 << 30;
const RUNS: u64 = 10_000;

/// Takes every call: what is measured is ours, not the kernel's.
struct Free;

impl HostMemory for Free {
    fn map(&mut self, _: u64, _: u64, _: PoolId, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn unmap(&mut self, _: u64, _: u64) -> io::Result<()> {
        Ok(())
    }
}

fn map(pool: &VirtualPool, offset: u64, size: u64, physical: Option<(u64, u64)>) {
    let request = MapRequest { physical: physical.map(|(id, at)| (PoolId(id), at)), virtual_offset: offset, size };
    let plan = pool.plan(&[request], |_| Some(Physical { size: 8 << 30, file_offset: Some(0) }));
    assert!(plan.refused().is_empty());
    pool.commit(plan, 0, &mut Free).expect("nobody else changes the pool");
    pool.release(0, &mut Free);
}

/// 10,000 runs of `run` bytes, one every `every` bytes.
fn pool(run: u64, every: u64) -> VirtualPool {
    let pool = VirtualPool::new(PoolId(1), SIZE, SMALL_PAGE, SIZE);
    for n in 0..RUNS {
        map(&pool, n * every, run, Some((2 + n % 45, n % 64 * run)));
    }
    assert_eq!(pool.runs(), RUNS);
    pool
}

const SHAPES: [(&str, u64, u64); 5] = [
    ("4 MB every 6 MB", 4 << 20, 6 << 20),
    ("64 KB every 128 KB", 64 << 10, 128 << 10),
    ("64 KB every 6.4 MB", 64 << 10, 100 * (64 << 10)),
    ("4 KB every 8 KB", 4 << 10, 8 << 10),
    ("4 KB every 6.4 MB", 4 << 10, 100 * (64 << 10)),
];

fn memory(_: &mut Criterion) {
    let empty = VirtualPool::new(PoolId(1), SIZE, SMALL_PAGE, SIZE);
    println!("64 GB reserved, nothing mapped: {} bytes of tables", empty.table_bytes());
    for (name, run, every) in SHAPES {
        let pool = pool(run, every);
        let percent = pool.table_bytes() as f64 * 100.0 / pool.mapped_bytes() as f64;
        println!(
            "10,000 runs of {name}: {} KB of tables for {} MB mapped, {percent:.3} %",
            pool.table_bytes() >> 10,
            pool.mapped_bytes() >> 20
        );
    }
}

fn mapping(c: &mut Criterion) {
    let mut group = c.benchmark_group("virtual_pool_map");
    for (name, run, every) in [SHAPES[1], SHAPES[2], SHAPES[3]] {
        let pool = pool(run, every);
        let mut n = 0;
        group.bench_function(BenchmarkId::new("one more page and away again", name), |b| {
            b.iter(|| {
                n = (n + 7919) % RUNS;
                let hole = n * every + run;
                map(&pool, hole, SMALL_PAGE, Some((2, 0)));
                map(&pool, hole, SMALL_PAGE, None);
            });
        });
    }
    let small = VirtualPool::new(PoolId(1), SIZE, SMALL_PAGE, SIZE);
    map(&small, 0, 64 << 10, Some((2, 0)));
    group.bench_function("the same with one run", |b| {
        b.iter(|| {
            map(&small, 64 << 10, SMALL_PAGE, Some((2, 0)));
            map(&small, 64 << 10, SMALL_PAGE, None);
        });
    });
    group.bench_function("4 MB", |b| b.iter(|| map(&small, 8 << 20, 4 << 20, Some((3, 0)))));
    group.finish();
}

fn reading(c: &mut Criterion) {
    let mut group = c.benchmark_group("virtual_pool_read");
    for (name, run, every) in [SHAPES[0], SHAPES[2], SHAPES[3]] {
        let pool = pool(run, every);
        let mut n = 0;
        group.bench_function(BenchmarkId::new("resolve 256 bytes", name), |b| {
            b.iter(|| {
                n = (n + 7919) % RUNS;
                black_box(pool.resolve(n * every + 16, 256))
            });
        });
    }
    let pool = pool(4 << 20, 4 << 20 | 64 << 10);
    group.bench_function("resolve 4 MB", |b| b.iter(|| black_box(pool.resolve(0, 4 << 20))));
    group.bench_function("spans of a 16 MB texture", |b| {
        b.iter(|| pool.spans(0, 16 << 20).map(|span| span.size).sum::<u64>());
    });
    let generation = pool.generation();
    group.bench_function("changed_since, nothing newer", |b| {
        b.iter(|| black_box(pool.changed_since(0, 16 << 20, generation)));
    });
    group.bench_function("changed_since, something newer elsewhere", |b| {
        b.iter(|| black_box(pool.changed_since(0, 16 << 20, generation - 1)));
    });
    group.finish();
}

criterion_group!(benches, memory, mapping, reading);
criterion_main!(benches);
