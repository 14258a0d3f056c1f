//! PNG: one picture of 8 bits a component.

use super::{FileError, Source, Texture, WriteError};
use crate::format::Format;
use crate::image::write_png;
use crate::layout::Target;

/// Deflate makes at most this many bytes of one.
const MOST_INFLATION: u64 = 1032;

/// Reads a picture as an RGBA8 texture; grey and palette pictures are expanded, 16 bits cut to 8.
pub(super) fn read(bytes: &[u8]) -> Result<Texture, FileError> {
    let wrong = |e: ::png::DecodingError| FileError::new(format!("PNG: {e}"));
    let most = (bytes.len() as u64).saturating_mul(MOST_INFLATION).saturating_add(1 << 16);
    let limits = ::png::Limits { bytes: usize::try_from(most).unwrap_or(usize::MAX) };
    let mut decoder = ::png::Decoder::new_with_limits(bytes, limits);
    decoder.set_transformations(::png::Transformations::EXPAND | ::png::Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(wrong)?;
    let (width, height) = (reader.info().width, reader.info().height);
    let size = (u64::from(width) * u64::from(height)).saturating_mul(4);
    // Four bytes a pixel are made of as little as one bit.
    if size > most.saturating_mul(32) || reader.output_buffer_size() as u64 > most.saturating_mul(8) {
        return Err(FileError::at(16, format!("{width} x {height} pixels, more than the file can hold")));
    }
    let mut pixels = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut pixels).map_err(wrong)?;
    pixels.truncate(info.buffer_size());
    let data = match info.color_type {
        ::png::ColorType::Rgba => pixels,
        ::png::ColorType::Rgb => pixels.as_chunks::<3>().0.iter().flat_map(|[r, g, b]| [*r, *g, *b, 255]).collect(),
        ::png::ColorType::Grayscale => pixels.iter().flat_map(|v| [*v, *v, *v, 255]).collect(),
        ::png::ColorType::GrayscaleAlpha => {
            pixels.as_chunks::<2>().0.iter().flat_map(|[v, a]| [*v, *v, *v, *a]).collect()
        }
        other => return Err(FileError::new(format!("PNG of {other:?} pixels"))),
    };
    let texture = Texture {
        name: String::new(),
        format: Format::RGBA8.info(),
        target: Target::D2,
        width: info.width,
        height: info.height,
        depth: 1,
        layers: 1,
        levels: 1,
        samples: 1,
        swizzle: Source::IDENTITY,
        packaged: None,
        data,
    };
    texture.check().map_err(|e| FileError::at(16, e.to_string()))?;
    Ok(texture)
}

/// Makes a picture of a texture's only surface, as RGBA8 with the texture's swizzle.
pub(super) fn write(texture: &Texture) -> Result<Vec<u8>, WriteError> {
    super::exr::check_single(texture, "PNG")?;
    let error = |e: &dyn std::fmt::Display| WriteError(e.to_string());
    let pixels = texture.rgba8(0, 0, 0, true).map_err(|e| error(&e))?;
    let (_, width, height) = texture.slice(0, 0, 0).map_err(|e| error(&e))?;
    let mut out = Vec::new();
    write_png(&mut out, width, height, &pixels).map_err(|e| error(&e))?;
    Ok(out)
}
