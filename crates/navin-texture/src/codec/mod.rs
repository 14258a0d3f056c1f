//! Texels as colours: every format to RGBA8, RGBA16F and RGBA32F, and uncompressed ones back.
//!
//! Input is rows of blocks without padding, one slice at a time, as [`crate::swizzle::untile`] leaves them; output is
//! rows of texels, left to right, the first row first. Callers are pictures (the command line's `view` and `convert`),
//! the driver where a device lacks ASTC, and tests.
//!
//! - **RGBA8**: for pictures. Formats of 8-bit components (BC1, 2, 3, 7 and sRGB ASTC among them) as they are stored,
//!   sRGB values still on their curve; linear ASTC's 16 bits rounded; everything else clamped to 0..1 first. Whole numbers count as 0..255.
//! - **RGBA32F** and **RGBA16F**: the values that a shader reads; sRGB made linear. 32-bit whole numbers are rounded to
//!   the nearest float. Depth is R, stencil is G.
//! - What a format has not is 0; alpha is 1.

mod astc;
mod block;

use thiserror::Error;

use crate::format::{Format, FormatInfo, Number, Packing, f32_to_f16, srgb_to_linear};
use block::{BlockDecoder, MOST_TEXELS};

/// Why nothing was decoded or encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CodecError {
    /// The data is not `rows x columns` of blocks, or of texels.
    #[error("{have} bytes for {width} x {height} texels, which take {want}")]
    Size {
        /// Width in texels.
        width: u32,
        /// Height in texels.
        height: u32,
        /// Bytes given.
        have: u64,
        /// Bytes expected.
        want: u64,
    },
    /// There is no encoder for the format.
    #[error("no encoder for {0}: compressed formats can only be kept or decoded")]
    Encoder(&'static str),
}

/// Whether a compressed format's blocks decode to 8 bits a component, so that [`decode_rgba8`] loses nothing.
pub(crate) fn blocks_are_8_bit(info: &FormatInfo) -> bool {
    BlockDecoder::new(info).is_some_and(BlockDecoder::is_rgba8)
}

/// Checks that `have` bytes are `width x height` texels of a format; the columns and rows of its blocks.
fn blocks(info: &FormatInfo, width: u32, height: u32, have: usize) -> Result<(usize, usize), CodecError> {
    let columns = width.div_ceil(info.block_width.max(1));
    let rows = height.div_ceil(info.block_height.max(1));
    let want = u128::from(columns) * u128::from(rows) * u128::from(info.bytes_per_block);
    if have as u128 != want {
        let want = u64::try_from(want).unwrap_or(u64::MAX);
        return Err(CodecError::Size { width, height, have: have as u64, want });
    }
    Ok((columns as usize, rows as usize))
}

/// The little-endian number of a texel.
fn texel(bytes: &[u8]) -> u128 {
    let mut all = [0; 16];
    let n = bytes.len().min(16);
    all[..n].copy_from_slice(&bytes[..n]);
    u128::from_le_bytes(all)
}

/// Calls `put(index of the texel, R G B A)` for each texel of an uncompressed slice.
fn each_texel(info: &FormatInfo, packing: &Packing, data: &[u8], mut put: impl FnMut(usize, [f32; 4])) {
    for (i, bytes) in data.chunks_exact(info.bytes_per_block.max(1) as usize).enumerate() {
        put(i, packing.read(texel(bytes)));
    }
}

/// Calls `decode(block)` for each block of a compressed slice and `put(index in the slice, index in the block)` for
/// each texel of it that is inside the slice.
fn each_block<T>(
    info: &FormatInfo,
    data: &[u8],
    (width, height): (u32, u32),
    state: &mut T,
    mut decode: impl FnMut(&mut T, &[u8]),
    mut put: impl FnMut(&T, usize, usize),
) {
    let (w, h) = (info.block_width as usize, info.block_height as usize);
    let (width, height) = (width as usize, height as usize);
    let columns = width.div_ceil(w).max(1);
    for (i, bytes) in data.chunks_exact(info.bytes_per_block as usize).enumerate() {
        decode(state, bytes);
        let (x0, y0) = (i % columns * w, i / columns * h);
        for y in 0..h.min(height.saturating_sub(y0)) {
            for x in 0..w.min(width.saturating_sub(x0)) {
                put(state, (y0 + y) * width + x0 + x, y * w + x);
            }
        }
    }
}

/// Decodes one slice to RGBA8: `width * height * 4` bytes.
///
/// # Errors
/// If `data` is not exactly the slice.
pub fn decode_rgba8(info: &FormatInfo, data: &[u8], width: u32, height: u32) -> Result<Vec<u8>, CodecError> {
    let (columns, rows) = blocks(info, width, height, data.len())?;
    if columns == 0 || rows == 0 {
        return Ok(Vec::new());
    }
    let mut out = vec![0u8; width as usize * height as usize * 4];
    let pixels = out.as_chunks_mut::<4>().0;
    if let Some(decoder) = BlockDecoder::new(info) {
        if decoder.has_rgba8() {
            rgba8_blocks(decoder, info, data, (width, height), &mut out);
        } else {
            let mut texels = [[0.0; 4]; MOST_TEXELS];
            let decode = |texels: &mut _, bytes: &[u8]| decoder.float(bytes, texels);
            each_block(
                info,
                data,
                (width, height),
                &mut texels,
                decode,
                |texels: &[[f32; 4]; MOST_TEXELS], to, from| {
                    pixels[to] = texels[from].map(crate::format::component_to_u8);
                },
            );
        }
        return Ok(out);
    }
    match info.format {
        Format::RGBA8 | Format::RGBA8_SRGB | Format::RGBA8UI | Format::RGBA8_UI2F => out.copy_from_slice(data),
        Format::RGBX8 | Format::RGBX8_SRGB | Format::RGBX8UI => {
            for (to, from) in pixels.iter_mut().zip(data.chunks_exact(4)) {
                *to = [from[0], from[1], from[2], 255];
            }
        }
        Format::BGRA8 | Format::BGRA8_SRGB | Format::BGRX8 | Format::BGRX8_SRGB => {
            let opaque = info.components == 3;
            for (to, from) in pixels.iter_mut().zip(data.chunks_exact(4)) {
                *to = [from[2], from[1], from[0], if opaque { 255 } else { from[3] }];
            }
        }
        Format::R8 | Format::R8UI | Format::R8_UI2F => {
            for (to, from) in pixels.iter_mut().zip(data) {
                *to = [*from, 0, 0, 255];
            }
        }
        _ => {
            let Some(packing) = info.packing() else { return Ok(out) };
            let whole = packing.fields.map(|f| f.is_some_and(|f| matches!(f.number, Number::Uint | Number::Sint)));
            each_texel(info, &packing, data, |i, values| {
                for ((to, value), whole) in pixels[i].iter_mut().zip(values).zip(whole) {
                    // `as` saturates.
                    *to = if whole { value as u8 } else { crate::format::component_to_u8(value) };
                }
            });
        }
    }
    Ok(out)
}

/// Blocks of 8-bit components: BC blocks inside the slice straight into its rows, the others by way of an array.
fn rgba8_blocks(decoder: BlockDecoder, info: &FormatInfo, data: &[u8], (width, height): (u32, u32), out: &mut [u8]) {
    let (w, h) = (info.block_width as usize, info.block_height as usize);
    let (width, height) = (width as usize, height as usize);
    let columns = width.div_ceil(w);
    let mut texels = [[0; 4]; MOST_TEXELS];
    for (i, block) in data.chunks_exact(info.bytes_per_block as usize).enumerate() {
        let (x, y) = (i % columns * w, i / columns * h);
        let whole = x + w <= width && y + h <= height;
        let at = (y * width + x) * 4;
        if whole && decoder.bc_rows(block, &mut out[at..], width * 4) {
            continue;
        }
        decoder.rgba8(block, &mut texels);
        let count = w.min(width - x);
        for row in 0..h.min(height - y) {
            let to = at + row * width * 4;
            out[to..to + count * 4].copy_from_slice(texels[row * w..row * w + count].as_flattened());
        }
    }
}

/// Decodes one slice to RGBA32F: `width * height` times four floats.
///
/// # Errors
/// If `data` is not exactly the slice.
pub fn decode_rgba32f(info: &FormatInfo, data: &[u8], width: u32, height: u32) -> Result<Vec<[f32; 4]>, CodecError> {
    let (columns, rows) = blocks(info, width, height, data.len())?;
    if columns == 0 || rows == 0 {
        return Ok(Vec::new());
    }
    let mut out = vec![[0.0f32; 4]; width as usize * height as usize];
    match BlockDecoder::new(info) {
        Some(decoder) if decoder.is_rgba8() => {
            let srgb = info.class == crate::format::Class::Srgb;
            let linear: [f32; 256] =
                std::array::from_fn(|v| if srgb { srgb_to_linear(v as u8) } else { v as f32 / 255.0 });
            let mut texels = [[0; 4]; MOST_TEXELS];
            let decode = |texels: &mut _, bytes: &[u8]| decoder.rgba8(bytes, texels);
            each_block(info, data, (width, height), &mut texels, decode, |texels, to, from| {
                let [r, g, b, a] = texels[from];
                out[to] = [linear[r as usize], linear[g as usize], linear[b as usize], f32::from(a) / 255.0];
            });
        }
        Some(decoder) => {
            let mut texels = [[0.0; 4]; MOST_TEXELS];
            let decode = |texels: &mut _, bytes: &[u8]| decoder.float(bytes, texels);
            each_block(info, data, (width, height), &mut texels, decode, |texels, to, from| out[to] = texels[from]);
        }
        None => {
            if let Some(packing) = info.packing() {
                each_texel(info, &packing, data, |i, values| out[i] = values);
            }
        }
    }
    Ok(out)
}

/// Decodes one slice to RGBA16F: `width * height` times the bits of four half floats.
///
/// # Errors
/// If `data` is not exactly the slice.
pub fn decode_rgba16f(info: &FormatInfo, data: &[u8], width: u32, height: u32) -> Result<Vec<[u16; 4]>, CodecError> {
    Ok(decode_rgba32f(info, data, width, height)?.into_iter().map(|texel| texel.map(f32_to_f16)).collect())
}

/// Encodes `width * height` texels to an uncompressed format, each to the nearest value it can hold. Bits that no
/// component has are 0.
///
/// # Errors
/// If there are not so many texels, or the format is compressed.
pub fn encode_rgba32f(info: &FormatInfo, texels: &[[f32; 4]], width: u32, height: u32) -> Result<Vec<u8>, CodecError> {
    let packing = info.packing().ok_or(CodecError::Encoder(info.name))?;
    check_texels(texels.len(), width, height, 16)?;
    let bytes = info.bytes_per_block as usize;
    let mut out = vec![0; texels.len() * bytes];
    for (to, values) in out.chunks_exact_mut(bytes).zip(texels) {
        to.copy_from_slice(&packing.write(*values).to_le_bytes()[..bytes]);
    }
    Ok(out)
}

/// Encodes RGBA8 to an uncompressed format. The bytes are 0..1, on the sRGB curve if the format is; for formats of
/// whole numbers they are 0..255.
///
/// # Errors
/// If the bytes are not `width * height * 4`, or the format is compressed.
pub fn encode_rgba8(info: &FormatInfo, pixels: &[u8], width: u32, height: u32) -> Result<Vec<u8>, CodecError> {
    let packing = info.packing().ok_or(CodecError::Encoder(info.name))?;
    check_texels(pixels.len() / 4, width, height, 4)?;
    if matches!(info.format, Format::RGBA8 | Format::RGBA8_SRGB | Format::RGBA8UI) {
        return Ok(pixels.to_vec());
    }
    let bytes = info.bytes_per_block as usize;
    let mut out = vec![0; pixels.len() / 4 * bytes];
    // What each byte is worth in each component.
    let values: [[f32; 256]; 4] = packing.fields.map(|field| {
        std::array::from_fn(|v| match field.map(|f| f.number) {
            Some(Number::Uint | Number::Sint) => v as f32,
            Some(Number::Srgb) => srgb_to_linear(v as u8),
            _ => v as f32 / 255.0,
        })
    });
    for (to, from) in out.chunks_exact_mut(bytes).zip(pixels.chunks_exact(4)) {
        let texel = std::array::from_fn(|c| values[c][from[c] as usize]);
        to.copy_from_slice(&packing.write(texel).to_le_bytes()[..bytes]);
    }
    Ok(out)
}

fn check_texels(have: usize, width: u32, height: u32, bytes: u64) -> Result<(), CodecError> {
    let want = u64::from(width) * u64::from(height);
    if have as u64 == want {
        Ok(())
    } else {
        Err(CodecError::Size {
            width,
            height,
            have: (have as u64).saturating_mul(bytes),
            want: want.saturating_mul(bytes),
        })
    }
}

#[cfg(test)]
mod tests;
