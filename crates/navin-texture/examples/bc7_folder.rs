//! Fills a folder with BNTX files of one BC7 texture of 1024x1024 with all levels each, for measuring
//! `navin texture convert` over many files:
//!
//! ```text
//! cargo run --release -p navin-texture --example bc7_folder -- 1000 folder
//! navin texture convert folder pictures --to png
//! ```

use std::path::PathBuf;

use navin_texture::container::{self, Source};
use navin_texture::{Format, GobOrder, Kind, Target, Texture};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let count: u64 = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(1000);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "bc7".into()));
    std::fs::create_dir_all(&folder)?;
    for number in 0..count {
        let mut texture = Texture {
            name: format!("texture {number}"),
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
        let blocks = texture.packed_size().unwrap_or(0) as u64 / 16;
        texture.data = (0..blocks).flat_map(|block| self::block(block, number).to_le_bytes()).collect();
        let file = container::write(Kind::Bntx, &[texture], "bc7", GobOrder::TegraX1).map_err(std::io::Error::other)?;
        std::fs::write(folder.join(format!("{number:04}.bntx")), file)?;
    }
    Ok(())
}

/// A block of mode 6 (one of four: of mode 1): smooth end points and some noise between them, as pictures have.
fn block(block: u64, seed: u64) -> u128 {
    let (x, y) = (block % 256, block / 256);
    let noise = (block ^ seed << 20).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mode = if block.is_multiple_of(4) { 0x02 } else { 0x40 };
    let ends = ((x / 4 + seed) % 128) | (((y / 4) % 128) << 7) | ((((x + y) / 8) % 128) << 14);
    // End points from bit 7 on; the last 63 bits say where each texel is between them: low bits only.
    mode | u128::from(ends) << 7 | 0x7Fu128 << 49 | u128::from(noise >> 3 & 0x1111_1111_1111_1111) << 66
}
