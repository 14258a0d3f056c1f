//! A frame of 1,000 draws, each with another uniform range and another texture: recorded, and submitted, replayed,
//! encoded and run with rasterisation off. Rates are draws a second.

#![allow(missing_docs, reason = "the functions that criterion's macros make")]

#[path = "../examples/frame/mod.rs"]
mod frame;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use frame::{Frame, MAX_DRAWS};

fn draws(criterion: &mut Criterion) {
    let frame = Frame::new();
    let mut group = criterion.benchmark_group("frame_of_1000_draws");
    group.throughput(Throughput::Elements(u64::from(MAX_DRAWS)));
    group.bench_function("record", |bencher| bencher.iter(|| frame.record(MAX_DRAWS)));
    let recording = frame.record(MAX_DRAWS);
    group.bench_function("submit_replay_run", |bencher| bencher.iter(|| frame.run(recording)));
    group.finish();
}

criterion_group!(benches, draws);
criterion_main!(benches);
