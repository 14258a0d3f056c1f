//! Untiling and tiling against memcpy of the same bytes (budget: at least 0.8 of its speed, per core) and against the
//! `tegra_swizzle` crate (budget: at least twice its speed).
//!
//! The ratios are printed at the end; absolute times depend on the machine and mean nothing alone. All sides take
//! turns, round after round, and each side's fastest run counts: what else runs on the machine then disturbs all of
//! them alike.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use navin_texture::swizzle::{Kernel, tile_with, untile_with};
use navin_texture::{Format, GobOrder, Layout, LayoutInput, Pitch, Region, Storage, tile, untile};
use tegra_swizzle::BlockHeight;
use tegra_swizzle::swizzle::{deswizzle_block_linear, swizzle_block_linear};

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20)
        .configure_from_args();
    let mut ratios = Vec::new();
    for (name, format, width, height) in [
        ("BC7 2048x2048", Format::BPTC_UNORM, 2048, 2048),
        ("RGBA8 1920x1080", Format::RGBA8, 1920, 1080),
        ("RGBA16F 1280x720", Format::RGBA16F, 1280, 720),
        ("ASTC 6x6 1024x1024", Format::RGBA_ASTC_6X6, 1024, 1024),
        ("BC1 256x256", Format::RGB_DXT1, 256, 256),
    ] {
        let layout = Layout::new(&LayoutInput::new_2d(format.info(), width, height)).expect("a plain texture");
        let level = layout.levels[0];
        let region = Region::whole(&level);
        let pitch = Pitch::packed(&level, &region);
        let (mut stored, mut to_level) = (Pages::new(level.size as usize), Pages::new(level.size as usize));
        let (stored, to_level) = (stored.bytes(), to_level.bytes());
        let rows = vec![2u8; level.packed_bytes() as usize];
        let mut to_rows = vec![3u8; rows.len()];
        let order = GobOrder::TegraX1;
        let Storage::BlockLinear { block_height_log2, .. } = level.storage else { continue };
        let peer = BlockHeight::new(1 << block_height_log2).expect("a height of the automatic rule");
        let (w, h, bpb) = (level.columns, level.rows, level.bytes_per_block);

        let mut best = [f64::INFINITY; 7];
        for _ in 0..24 {
            let mut side = 0;
            let mut take = |run: &mut dyn FnMut()| {
                best[side] = fastest(best[side], run);
                side += 1;
            };
            take(&mut || to_rows.copy_from_slice(black_box(&rows)));
            take(&mut || untile(&mut to_rows, pitch, black_box(&*stored), &level, order, region).expect("in bounds"));
            take(&mut || tile(to_level, &level, order, region, black_box(&rows), pitch).expect("in bounds"));
            take(&mut || drop(black_box(deswizzle_block_linear(w, h, 1, black_box(&*stored), peer, bpb))));
            take(&mut || drop(black_box(swizzle_block_linear(w, h, 1, black_box(&rows), peer, bpb))));
            let kernel = Kernel::Portable;
            take(&mut || {
                untile_with(kernel, &mut to_rows, pitch, black_box(&*stored), &level, order, region)
                    .expect("in bounds");
            });
            take(&mut || {
                tile_with(kernel, to_level, &level, order, region, black_box(&rows), pitch).expect("in bounds");
            });
        }
        let [copy, out, back, peer_out, peer_back, portable_out, portable_back] = best;
        let speed = rows.len() as f64 / copy / 1e9;
        ratios.push(format!(
            "{name}: of memcpy's speed ({speed:.0} GB/s) untile {:.2}, tile {:.2} (portable {:.2}, {:.2}); \
             of tegra_swizzle's untile {:.1}, tile {:.1}",
            copy / out,
            copy / back,
            copy / portable_out,
            copy / portable_back,
            peer_out / out,
            peer_back / back,
        ));

        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(rows.len() as u64));
        group.bench_function("memcpy", |b| b.iter(|| to_rows.copy_from_slice(black_box(&rows))));
        group.bench_function("untile", |b| {
            b.iter(|| untile(&mut to_rows, pitch, black_box(&*stored), &level, order, region));
        });
        group.bench_function("tile", |b| {
            b.iter(|| tile(to_level, &level, order, region, black_box(&rows), pitch));
        });
        group.finish();
    }

    // B312: a write of one texel costs the same whatever the size of the level around it.
    let texel = |size: u32| {
        let layout = Layout::new(&LayoutInput::new_2d(Format::RGBA8.info(), size, size)).expect("a plain texture");
        let level = layout.levels[0];
        let mut stored = vec![0u8; level.size as usize];
        let region = Region { x: size / 3, y: size / 2, z: 0, width: 1, height: 1, depth: 1 };
        let pitch = Pitch::packed(&level, &region);
        fastest(f64::INFINITY, &mut || {
            for _ in 0..1000 {
                tile(&mut stored, &level, GobOrder::TegraX1, region, black_box(&[1, 2, 3, 4]), pitch).expect("inside");
            }
        })
    };
    ratios.push(format!("one texel into 2048x2048 takes {:.2} of one into 64x64", texel(2048) / texel(64)));
    for line in ratios {
        println!("{line}");
    }
    criterion.final_summary();
}

/// Bytes from the begin of a page on, as memory pools have textures: at multiples of 512.
struct Pages(Vec<u8>, usize);

impl Pages {
    fn new(len: usize) -> Self {
        Self(vec![1; len + 4096], len)
    }

    fn bytes(&mut self) -> &mut [u8] {
        let start = self.0.as_ptr().align_offset(4096);
        &mut self.0[start..start + self.1]
    }
}

/// Seconds of the fastest of many runs in a short time, or `best` if that is less.
fn fastest(mut best: f64, run: &mut dyn FnMut()) -> f64 {
    run();
    let end = Instant::now() + Duration::from_millis(30);
    while Instant::now() < end {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}
