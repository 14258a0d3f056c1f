//! Untiling and tiling against memcpy of the same bytes (budget: at least 0.8 of its speed, per core).
//!
//! The ratios are printed at the end; absolute times depend on the machine and mean nothing alone.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use navin_texture::{Format, GobOrder, Layout, LayoutInput, Pitch, Region, tile, untile};

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20)
        .configure_from_args();
    let mut ratios = Vec::new();
    for (name, format, width, height) in [
        ("RGBA8 1920x1080", Format::RGBA8, 1920, 1080),
        ("RGBA16F 1280x720", Format::RGBA16F, 1280, 720),
        ("BC7 2048x2048", Format::BPTC_UNORM, 2048, 2048),
        ("BC1 256x256", Format::RGB_DXT1, 256, 256),
    ] {
        let layout = Layout::new(&LayoutInput::new_2d(format.info(), width, height)).expect("a plain texture");
        let level = layout.levels[0];
        let region = Region::whole(&level);
        let pitch = Pitch::packed(&level, &region);
        let mut stored = vec![1u8; level.size as usize];
        let mut rows = vec![2u8; level.packed_bytes() as usize];
        let mut other = vec![3u8; rows.len()];

        let copy = best(|| other.copy_from_slice(black_box(&rows)));
        let order = GobOrder::TegraX1;
        let out = best(|| untile(&mut rows, pitch, black_box(&stored), &level, order, region).expect("in bounds"));
        let back = best(|| tile(&mut stored, &level, order, region, black_box(&rows), pitch).expect("in bounds"));
        ratios.push(format!("{name}: untile {:.2}, tile {:.2} of memcpy's speed", copy / out, copy / back));

        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(rows.len() as u64));
        group.bench_function("memcpy", |b| b.iter(|| other.copy_from_slice(black_box(&rows))));
        group.bench_function("untile", |b| {
            b.iter(|| untile(&mut rows, pitch, black_box(&stored), &level, order, region));
        });
        group.bench_function("tile", |b| {
            b.iter(|| tile(&mut stored, &level, order, region, black_box(&rows), pitch));
        });
        group.finish();
    }
    for line in ratios {
        println!("{line}");
    }
    criterion.final_summary();
}

/// Seconds of the fastest of many runs.
fn best(mut run: impl FnMut()) -> f64 {
    let end = Instant::now() + Duration::from_millis(400);
    let mut best = f64::INFINITY;
    while Instant::now() < end {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}
