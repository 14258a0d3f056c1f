//! Records 1,000 draws with what an engine sets for each, and reads them back.
//!
//! `record_draws`: recording alone. `records_read`: bytes of records a second, to be held against `memcpy` of the
//! same bytes: `flatten`, the submit's copy and check; `decode`, what a replay pays to walk the records.

// The functions that criterion's macros make have no docs.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use navin_command::flatten;

#[path = "../examples/frame/mod.rs"]
mod frame;

fn record(c: &mut Criterion) {
    let frame = frame::Frame::new();
    let mut group = c.benchmark_group("record_draws");
    group.throughput(Throughput::Elements(frame::DRAWS));
    group.bench_function("record", |b| b.iter(|| black_box(frame.record(frame::DRAWS))));
    group.finish();
}

fn read(c: &mut Criterion) {
    let frame = frame::Frame::new();
    let handle = frame.record(frame::DRAWS);
    let stream = flatten(&frame::HOST, &frame, [handle]);
    let mut group = c.benchmark_group("records_read");
    group.throughput(Throughput::Bytes(stream.words().len() as u64 * 4));
    group.bench_function("memcpy", |b| b.iter(|| black_box(black_box(stream.words()).to_vec())));
    group.bench_function("flatten", |b| b.iter(|| black_box(flatten(&frame::HOST, &frame, [handle]))));
    group.bench_function("decode", |b| {
        b.iter(|| {
            for record in stream.records() {
                black_box(&record);
            }
        });
    });
    group.finish();
}

criterion_group!(benches, record, read);
criterion_main!(benches);
