//! What a conversion of a BC7 texture of 1024x1024 with all levels to PNG is made of: reading and untiling the BNTX,
//! decoding, encoding the PNG. Shares are printed; absolute times depend on the machine and mean nothing alone.

use std::hint::black_box;
use std::time::{Duration, Instant};

use navin_texture::container::{self, Source};
use navin_texture::{Format, GobOrder, Kind, Target, Texture};

fn main() {
    let mut texture = Texture {
        name: "texture".into(),
        format: Format::BPTC_UNORM.info(),
        target: Target::D2,
        width: 1024,
        height: 1024,
        depth: 1,
        layers: 1,
        levels: 11,
        samples: 1,
        swizzle: Source::IDENTITY,
        packaged: None,
        data: Vec::new(),
    };
    let size = texture.packed_size().expect("a plain texture");
    // Blocks of modes 6 and 1 with smooth end points, so that the PNG has something to compress.
    let block = |i: u64| if i.is_multiple_of(4) { 0x02 } else { 0x40 } | u128::from(i / 64) << 20 | 0xFF << 100;
    texture.data = (0..size / 16).flat_map(|i| block(i).to_le_bytes()).collect();
    let order = GobOrder::TegraX1;
    let file = container::write(Kind::Bntx, &[texture], "file", order).expect("BNTX holds it");
    let read = fastest(|| drop(black_box(container::read(black_box(&file), order))));
    let texture = container::read(&file, order).expect("just written").remove(0);
    let largest = texture.part(Some(0), Some(0)).expect("there is one");
    let decode = fastest(|| drop(black_box(largest.rgba8(0, 0, 0, true))));
    let png =
        fastest(|| drop(black_box(container::write(Kind::Png, std::slice::from_ref(&largest), "", order)))) - decode;
    let whole = read + decode + png;
    let share = |part: f64| 100.0 * part / whole;
    println!(
        "BC7 1024x1024 with levels to PNG: {:.0} a second and core; untiling {:.1} %, decoding {:.1} %, PNG {:.1} %",
        1.0 / whole,
        share(read),
        share(decode),
        share(png),
    );
}

/// Seconds of the fastest run in a second.
fn fastest(mut run: impl FnMut()) -> f64 {
    let end = Instant::now() + Duration::from_secs(1);
    let mut best = f64::INFINITY;
    while Instant::now() < end {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}
