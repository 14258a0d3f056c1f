//! Records 1,000 draws with what an engine sets for each, and reads them back.
//!
//! `record_draws`: recording alone; `flatten`: the submit's copy; `read`: what a replay pays to walk the records.

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
    let handle = frame.record(frame::DRAWS);
    group.bench_function("flatten", |b| b.iter(|| black_box(flatten(&frame::HOST, &frame, [handle]))));
    let stream = flatten(&frame::HOST, &frame, [handle]);
    group.bench_function("read", |b| {
        b.iter(|| {
            for record in stream.records() {
                black_box(&record);
            }
        });
    });
    group.finish();
}

criterion_group!(benches, record);
criterion_main!(benches);
