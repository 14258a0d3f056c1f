//! Pictures: PNG files for the present sink, comparison for end-to-end tests.
//!
//! Frames are RGBA8, rows from top to bottom, `width * height * 4` bytes without padding.

use std::io::{BufWriter, Read, Write};
use std::path::Path;

use thiserror::Error;

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rgba8 {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// R, G, B, A bytes of each pixel, top row first.
    pub pixels: Vec<u8>,
}

/// Why a picture could not be written, read or compared.
#[derive(Debug, Error)]
pub enum ImageError {
    /// The pixel bytes are not `width * height * 4`.
    #[error("{given} bytes of pixels for {width} x {height}")]
    Size {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// Bytes given.
        given: usize,
    },
    /// Two pictures of different size.
    #[error("pictures of {0} x {1} and {2} x {3}")]
    Different(u32, u32, u32, u32),
    /// A file could not be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The encoder refused.
    #[error("writing PNG: {0}")]
    Encode(#[from] png::EncodingError),
    /// No valid PNG.
    #[error("reading PNG: {0}")]
    Decode(#[from] png::DecodingError),
    /// A PNG with other channels than RGB or RGBA of 8 bits.
    #[error("a PNG of {0:?}, not of 8-bit RGB or RGBA")]
    Channels(png::ColorType),
}

impl Rgba8 {
    /// Takes a frame's bytes.
    ///
    /// # Errors
    /// If there are not exactly `width * height * 4` of them.
    pub fn new(width: u32, height: u32, pixels: Vec<u8>) -> Result<Self, ImageError> {
        check_size(width, height, pixels.len())?;
        Ok(Self { width, height, pixels })
    }

    /// Writes a PNG file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save_png(&self, path: &Path) -> Result<(), ImageError> {
        let file = BufWriter::new(std::fs::File::create(path)?);
        write_png(file, self.width, self.height, &self.pixels)
    }

    /// Reads a PNG file of 8-bit RGB or RGBA; RGB gets alpha 255.
    ///
    /// # Errors
    /// If the file cannot be read or is no such PNG.
    pub fn load_png(path: &Path) -> Result<Self, ImageError> {
        read_png(std::io::BufReader::new(std::fs::File::open(path)?))
    }
}

fn check_size(width: u32, height: u32, given: usize) -> Result<(), ImageError> {
    let want = u64::from(width) * u64::from(height) * 4;
    if given as u64 == want { Ok(()) } else { Err(ImageError::Size { width, height, given }) }
}

/// Writes RGBA8 pixels, top row first, as a PNG.
///
/// # Errors
/// If the bytes do not fit the size, or `out` fails.
pub fn write_png(out: impl Write, width: u32, height: u32, pixels: &[u8]) -> Result<(), ImageError> {
    check_size(width, height, pixels.len())?;
    let mut encoder = png::Encoder::new(out, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    // Frames are written while the guest runs: speed before size.
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(())
}

/// Reads a PNG of 8-bit RGB or RGBA.
///
/// # Errors
/// If `input` fails or is no such PNG.
pub fn read_png(input: impl Read) -> Result<Rgba8, ImageError> {
    let mut decoder = png::Decoder::new(input);
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
    let mut reader = decoder.read_info()?;
    let mut bytes = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut bytes)?;
    bytes.truncate(info.buffer_size());
    let pixels = match info.color_type {
        png::ColorType::Rgba => bytes,
        png::ColorType::Rgb => bytes.chunks_exact(3).flat_map(|p| [p[0], p[1], p[2], 255]).collect(),
        other => return Err(ImageError::Channels(other)),
    };
    Rgba8::new(info.width, info.height, pixels)
}

/// How two pictures differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Largest difference of any channel, 0 to 255.
    pub max: u8,
    /// Pixels with a channel that differs by more than the tolerance.
    pub past_tolerance: u64,
    /// The first such pixel, row by row from the top left.
    pub first: Option<(u32, u32)>,
    /// Peak signal-to-noise ratio over all channels in dB; infinite for equal pictures.
    pub psnr: f64,
}

/// Compares two pictures channel by channel, alpha included.
///
/// # Errors
/// If their sizes differ.
pub fn compare(a: &Rgba8, b: &Rgba8, tolerance: u8) -> Result<Difference, ImageError> {
    if (a.width, a.height) != (b.width, b.height) {
        return Err(ImageError::Different(a.width, a.height, b.width, b.height));
    }
    check_size(a.width, a.height, a.pixels.len())?;
    check_size(b.width, b.height, b.pixels.len())?;
    let mut difference = Difference { max: 0, past_tolerance: 0, first: None, psnr: f64::INFINITY };
    let mut squares = 0u64;
    for (index, (p, q)) in a.pixels.chunks_exact(4).zip(b.pixels.chunks_exact(4)).enumerate() {
        let mut pixel = 0;
        for (x, y) in p.iter().zip(q) {
            let d = x.abs_diff(*y);
            pixel = pixel.max(d);
            squares += u64::from(d) * u64::from(d);
        }
        difference.max = difference.max.max(pixel);
        if pixel > tolerance {
            difference.past_tolerance += 1;
            let index = index as u64;
            let width = u64::from(a.width);
            difference.first.get_or_insert(((index % width) as u32, (index / width) as u32));
        }
    }
    if squares > 0 {
        let mean = squares as f64 / a.pixels.len() as f64;
        difference.psnr = 10.0 * (255.0 * 255.0 / mean).log10();
    }
    Ok(difference)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gradient() -> Rgba8 {
        let pixels = (0..8u32 * 4).flat_map(|i| [i as u8, 255 - i as u8, 7, 255]).collect();
        Rgba8::new(8, 4, pixels).unwrap()
    }

    #[test]
    fn png_keeps_every_byte() {
        let picture = gradient();
        let mut file = Vec::new();
        write_png(&mut file, picture.width, picture.height, &picture.pixels).unwrap();
        assert_eq!(read_png(file.as_slice()).unwrap(), picture);
        assert!(read_png(&file[..file.len() / 2]).is_err());
        assert!(matches!(write_png(&mut file, 8, 5, &picture.pixels), Err(ImageError::Size { .. })));
    }

    #[test]
    fn differences_are_found() {
        let a = gradient();
        let mut b = a.clone();
        let same = compare(&a, &b, 0).unwrap();
        assert_eq!((same.max, same.past_tolerance, same.first), (0, 0, None));
        assert!(same.psnr.is_infinite());
        b.pixels[(3 * 8 + 5) * 4 + 1] ^= 0x10;
        b.pixels[2] += 1;
        let d = compare(&a, &b, 1).unwrap();
        assert_eq!((d.max, d.past_tolerance, d.first), (16, 1, Some((5, 3))));
        let mean: f64 = (256.0 + 1.0) / 128.0;
        assert!((d.psnr - 10.0 * (65025.0 / mean).log10()).abs() < 1e-9);
        b.height = 2;
        assert!(compare(&a, &b, 0).is_err());
    }
}
