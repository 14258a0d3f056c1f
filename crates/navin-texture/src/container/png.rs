//! PNG: one picture of 8 or 16 bits a component.

use super::{FileError, Texture, WriteError};
use crate::codec::{decode_rgba32f, encode_rgba32f};
use crate::format::{Class, Format};
use crate::image::write_png;

/// Deflate makes at most this many bytes of one.
const MOST_INFLATION: u64 = 1032;

/// Reads a picture as an RGBA8 texture, or RGBA16 where it has 16 bits; grey and palette pictures are expanded.
pub(super) fn read(bytes: &[u8]) -> Result<Texture, FileError> {
    let wrong = |e: ::png::DecodingError| FileError::at(blame(bytes), format!("PNG: {e}"));
    let most = (bytes.len() as u64).saturating_mul(MOST_INFLATION).saturating_add(1 << 16);
    let limits = ::png::Limits { bytes: usize::try_from(most).unwrap_or(usize::MAX) };
    let mut decoder = ::png::Decoder::new_with_limits(bytes, limits);
    decoder.set_transformations(::png::Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(wrong)?;
    let (width, height) = (reader.info().width, reader.info().height);
    let wide = reader.output_color_type().1 == ::png::BitDepth::Sixteen;
    let size = (u64::from(width) * u64::from(height)).saturating_mul(if wide { 8 } else { 4 });
    // Four bytes a pixel are made of as little as one bit.
    if size > most.saturating_mul(32) || reader.output_buffer_size() as u64 > most.saturating_mul(8) {
        return Err(FileError::at(16, format!("{width} x {height} pixels, more than the file can hold")));
    }
    let mut pixels = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut pixels).map_err(wrong)?;
    pixels.truncate(info.buffer_size());
    let channels = match info.color_type {
        ::png::ColorType::Rgba => 4,
        ::png::ColorType::Rgb => 3,
        ::png::ColorType::GrayscaleAlpha => 2,
        ::png::ColorType::Grayscale => 1,
        other @ ::png::ColorType::Indexed => return Err(FileError::new(format!("PNG of {other:?} pixels"))),
    };
    let data = match (wide, channels) {
        (false, 4) => pixels,
        (false, n) => rgba(&pixels, n, 255).into_flattened(),
        // PNG has the high byte first.
        (true, n) => {
            let words: Vec<u16> = pixels.as_chunks::<2>().0.iter().map(|w| u16::from_be_bytes(*w)).collect();
            rgba(&words, n, u16::MAX).into_flattened().into_iter().flat_map(u16::to_le_bytes).collect()
        }
    };
    let format = if wide { Format::RGBA16 } else { Format::RGBA8 };
    let texture = Texture::new_2d(format.info(), (info.width, info.height), data);
    texture.check().map_err(|e| FileError::at(16, e.to_string()))?;
    Ok(texture)
}

/// Pixels of so many channels (grey, grey and alpha, RGB, RGBA) as four.
fn rgba<T: Copy>(pixels: &[T], channels: usize, opaque: T) -> Vec<[T; 4]> {
    let four = |pixel: &[T]| match *pixel {
        [v] => [v, v, v, opaque],
        [v, a] => [v, v, v, a],
        [r, g, b] => [r, g, b, opaque],
        [r, g, b, a, ..] => [r, g, b, a],
        [] => [opaque; 4],
    };
    pixels.chunks_exact(channels).map(four).collect()
}

/// Where the decoder's trouble begins: the first chunk that does not fit the file or its own checksum; else the first
/// with pixels.
fn blame(bytes: &[u8]) -> u64 {
    let (mut at, mut pixels) = (8usize, None);
    while let Some(head) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let kind = &head[4..];
        let Some(body) = at.checked_add(8).and_then(|from| bytes.get(from - 4..from.checked_add(length)?)) else {
            return at as u64;
        };
        if bytes.get(at + 8 + length..).and_then(<[u8]>::first_chunk) != Some(&crc32(body).to_be_bytes()) {
            return at as u64;
        }
        match kind {
            b"IDAT" => pixels = pixels.or(Some(at as u64)),
            b"IEND" => return pixels.unwrap_or(at as u64),
            _ => {}
        }
        at += 12 + length;
    }
    at.min(bytes.len()) as u64
}

/// The checksum of PNG's chunks, bit by bit: only bad files are looked at.
fn crc32(bytes: &[u8]) -> u32 {
    let byte = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ if crc & 1 != 0 { 0xEDB8_8320 } else { 0 })
    };
    !bytes.iter().fold(u32::MAX, byte)
}

/// The texture's only surface as the picture that a file holds: RGBA8 or, for uncompressed formats of more than 8 bits
/// from 0 to 1, RGBA16; with the texture's swizzle.
pub(super) fn picture(texture: &Texture) -> Result<Texture, WriteError> {
    super::exr::check_single(texture, "PNG")?;
    let info = texture.format;
    let wide = matches!(info.class, Class::Unorm | Class::Depth)
        && info.packing().is_some_and(|p| p.fields.iter().flatten().any(|f| f.bits > 8));
    let made = if wide {
        let format = Format::RGBA16.info();
        texture.picture(format, |bytes, width, height| {
            let texels = decode_rgba32f(info, bytes, width, height)?;
            let texels: Vec<_> = texels.into_iter().map(|t| texture.sourced(t, 0.0, 1.0)).collect();
            encode_rgba32f(format, &texels, width, height)
        })
    } else {
        let pixels = texture.rgba8(0, 0, 0, true);
        pixels.and_then(|pixels| texture.picture(Format::RGBA8.info(), |_, _, _| Ok(pixels)))
    };
    made.map_err(|e| WriteError(e.to_string()))
}

/// Makes a file of [`picture`].
pub(super) fn write(texture: &Texture) -> Result<Vec<u8>, WriteError> {
    let error = |e: &dyn std::fmt::Display| WriteError(e.to_string());
    let picture = picture(texture)?;
    let mut out = Vec::new();
    if picture.format.format == Format::RGBA8 {
        write_png(&mut out, picture.width, picture.height, &picture.data).map_err(|e| error(&e))?;
        return Ok(out);
    }
    let pixels: Vec<u8> = picture.data.as_chunks::<2>().0.iter().flat_map(|[low, high]| [*high, *low]).collect();
    let mut encoder = ::png::Encoder::new(&mut out, picture.width, picture.height);
    encoder.set_color(::png::ColorType::Rgba);
    encoder.set_depth(::png::BitDepth::Sixteen);
    encoder.set_compression(::png::Compression::Fast);
    let mut writer = encoder.write_header().map_err(|e| error(&e))?;
    writer.write_image_data(&pixels).map_err(|e| error(&e))?;
    writer.finish().map_err(|e| error(&e))?;
    Ok(out)
}
