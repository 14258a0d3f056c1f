//! PNG pictures read, compared and written.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::clients::Tolerance;

/// RGBA8 rows, top row first.
pub struct Picture {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Four bytes a pixel.
    pub rgba: Vec<u8>,
}

/// How two pictures of one size differ.
#[derive(Debug, PartialEq)]
pub struct Difference {
    /// Pixels with a channel further apart than the tolerance's.
    pub pixels: usize,
    /// The largest difference of a channel.
    pub largest: u8,
    /// Where it is.
    pub at: (u32, u32),
    /// Pixels in all.
    pub of: usize,
}

impl Difference {
    /// Whether the tolerance allows it.
    pub fn allowed(&self, tolerance: Tolerance) -> bool {
        self.pixels as f64 <= tolerance.share * self.of as f64
    }
}

/// Reads a PNG of 8 bits a channel.
///
/// # Errors
/// No such file, or no such picture.
pub fn read(path: &Path) -> Result<Picture> {
    let context = || format!("reading {}", path.display());
    let mut decoder = png::Decoder::new(BufReader::new(File::open(path).with_context(context)?));
    decoder.set_transformations(png::Transformations::ALPHA | png::Transformations::EXPAND);
    let mut reader = decoder.read_info().with_context(context)?;
    let mut rgba = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut rgba).with_context(context)?;
    if (info.color_type, info.bit_depth) != (png::ColorType::Rgba, png::BitDepth::Eight) {
        bail!("{} is no picture of 8 bits a colour", path.display());
    }
    Ok(Picture { width: info.width, height: info.height, rgba })
}

/// Writes a PNG.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, picture: &Picture) -> Result<()> {
    let file = BufWriter::new(File::create(path).with_context(|| format!("writing {}", path.display()))?);
    let mut encoder = png::Encoder::new(file, picture.width, picture.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Best);
    encoder.write_header()?.write_image_data(&picture.rgba)?;
    Ok(())
}

/// Compares two pictures; `None` when their sizes differ.
pub fn compare(a: &Picture, b: &Picture, tolerance: Tolerance) -> Option<Difference> {
    if (a.width, a.height) != (b.width, b.height) {
        return None;
    }
    let mut difference = Difference { pixels: 0, largest: 0, at: (0, 0), of: a.rgba.len() / 4 };
    for (place, (x, y)) in a.rgba.chunks_exact(4).zip(b.rgba.chunks_exact(4)).enumerate() {
        let apart = x.iter().zip(y).map(|(x, y)| x.abs_diff(*y)).max().unwrap_or(0);
        difference.pixels += usize::from(apart > tolerance.channel);
        if apart > difference.largest {
            difference.largest = apart;
            difference.at = (place as u32 % a.width, place as u32 / a.width);
        }
    }
    Some(difference)
}

/// A picture of where two differ: black where equal, brighter the further apart.
pub fn difference(a: &Picture, b: &Picture) -> Picture {
    let pixel = |(x, y): (&[u8], &[u8])| {
        let apart = |i: usize| x[i].abs_diff(y[i]).saturating_mul(8);
        [apart(0).max(apart(3)), apart(1), apart(2), 255]
    };
    let rgba = a.rgba.chunks_exact(4).zip(b.rgba.chunks_exact(4)).flat_map(pixel).collect();
    Picture { width: a.width, height: a.height, rgba }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: u32, rgba: &[u8]) -> Picture {
        Picture { width, height: rgba.len() as u32 / 4 / width, rgba: rgba.to_vec() }
    }

    #[test]
    fn differences_are_counted_by_pixel_and_bounded_by_share() {
        let a = picture(2, &[10; 16]);
        let mut bytes = [10; 16];
        bytes[5] = 13;
        bytes[12] = 12;
        let b = picture(2, &bytes);
        let strict = Tolerance { channel: 2, share: 0.0 };
        let found = compare(&a, &b, strict).unwrap();
        assert_eq!(found, Difference { pixels: 1, largest: 3, at: (1, 0), of: 4 });
        assert!(!found.allowed(strict));
        assert!(found.allowed(Tolerance { channel: 2, share: 0.25 }));
        assert!(!found.allowed(Tolerance { channel: 2, share: 0.24 }));
        assert_eq!(compare(&a, &b, Tolerance { channel: 3, share: 0.0 }).unwrap().pixels, 0);
        assert_eq!(compare(&a, &picture(4, &[10; 16]), strict), None);
    }
}
