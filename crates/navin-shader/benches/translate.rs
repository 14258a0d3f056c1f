//! Translation of every corpus program: programs a second on one core, the spread of single programs, words.

#![allow(missing_docs)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use navin_shader::{GuestProgram, Translator};

fn translate(c: &mut Criterion) {
    let programs = common::programs();
    let guests: Vec<_> =
        programs.iter().filter_map(|p| Some((GuestProgram::parse(&p.control, &p.code).ok()?, &p.options))).collect();
    let mut translator = Translator::new();
    let mut words = Vec::new();
    let mut times = Vec::new();
    let translated: Vec<_> = guests
        .iter()
        .filter(|(guest, options)| {
            let Ok(t) = translator.translate(guest, options) else { return false };
            words.push(t.spirv.len());
            // The best of a few runs of each.
            let best = (0..20)
                .map(|_| {
                    let start = Instant::now();
                    black_box(translator.translate(guest, options).is_ok());
                    start.elapsed()
                })
                .min()
                .unwrap_or(Duration::ZERO);
            times.push(best);
            true
        })
        .collect();
    words.sort_unstable();
    times.sort_unstable();
    let sum: Duration = times.iter().sum();
    println!(
        "{} programs: median {} words, median {:.1} us, 90th percentile {:.1} us, {:.0} programs a second on one core",
        translated.len(),
        words[words.len() / 2],
        times[times.len() / 2].as_secs_f64() * 1e6,
        times[times.len() * 9 / 10].as_secs_f64() * 1e6,
        times.len() as f64 / sum.as_secs_f64()
    );
    let mut group = c.benchmark_group("translate");
    group.throughput(Throughput::Elements(translated.len() as u64));
    group.sample_size(20);
    group.bench_function("corpus", |b| {
        b.iter(|| {
            for (guest, options) in &translated {
                black_box(translator.translate(guest, options).is_ok());
            }
        });
    });
    group.finish();
}

criterion_group!(benches, translate);
criterion_main!(benches);
