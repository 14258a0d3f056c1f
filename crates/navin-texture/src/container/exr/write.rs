//! One picture as uncompressed scan lines.

use super::super::bytes::Out;
use super::super::{Texture, WriteError};
use super::{MAGIC, VERSION};
use crate::codec::{decode_rgba16f, decode_rgba32f};
use crate::format::{Class, Format};

/// Checks that a texture is a single picture.
pub(in super::super) fn check_single(texture: &Texture, kind: &str) -> Result<(), WriteError> {
    if texture.layers * texture.levels * texture.depth == 1 {
        return Ok(());
    }
    Err(WriteError(format!(
        "{kind} holds one picture; the texture has {} layers, {} levels and {} slices: choose one",
        texture.layers, texture.levels, texture.depth
    )))
}

/// The texture's only surface as the picture that a file holds, with the texture's swizzle: half floats where they hold
/// the format's values, else single ones.
pub(in super::super) fn picture(texture: &Texture) -> Result<Texture, WriteError> {
    check_single(texture, "EXR")?;
    let info = texture.format;
    let fits_half = match info.packing() {
        None => !info.is_astc() || info.class == Class::Srgb,
        Some(packing) => {
            let bits = packing.fields.iter().flatten().map(|f| f.bits).max().unwrap_or(0);
            let number = matches!(info.class, Class::Float | Class::Ufloat);
            !packing.shared_exponent && (bits <= 10 || (number && bits <= 16))
        }
    };
    let made = if fits_half {
        texture.picture(Format::RGBA16F.info(), |bytes, width, height| {
            let texels = decode_rgba16f(info, bytes, width, height)?;
            let texels = texels.into_iter().flat_map(|t| texture.sourced(t, 0, 0x3C00));
            Ok(texels.flat_map(u16::to_le_bytes).collect())
        })
    } else {
        texture.picture(Format::RGBA32F.info(), |bytes, width, height| {
            let texels = decode_rgba32f(info, bytes, width, height)?;
            let texels = texels.into_iter().flat_map(|t| texture.sourced(t, 0.0, 1.0));
            Ok(texels.flat_map(f32::to_le_bytes).collect())
        })
    };
    made.map_err(|e| WriteError(e.to_string()))
}

/// Makes a file of [`picture`].
pub(in super::super) fn write(texture: &Texture) -> Result<Vec<u8>, WriteError> {
    let picture = picture(texture)?;
    let half = picture.format.format == Format::RGBA16F;
    let (width, height) = (picture.width, picture.height);
    let mut out = Out::default();
    out.put(&MAGIC).u32(VERSION);
    let mut attribute = |name: &str, kind: &str, value: &[u8]| {
        out.put(name.as_bytes()).u8(0).put(kind.as_bytes()).u8(0).u32(value.len() as u32).put(value);
    };
    let mut list = Out::default();
    for name in [b"A\0", b"B\0", b"G\0", b"R\0"] {
        list.put(name).u32(if half { 1 } else { 2 }).u32(0).u32(1).u32(1);
    }
    list.u8(0);
    let mut window = Out::default();
    window.u32(0).u32(0).u32(width - 1).u32(height - 1);
    attribute("channels", "chlist", &list.0);
    attribute("compression", "compression", &[0]);
    attribute("dataWindow", "box2i", &window.0);
    attribute("displayWindow", "box2i", &window.0);
    attribute("lineOrder", "lineOrder", &[0]);
    attribute("pixelAspectRatio", "float", &1f32.to_le_bytes());
    attribute("screenWindowCenter", "v2f", &[0; 8]);
    attribute("screenWindowWidth", "float", &1f32.to_le_bytes());
    out.u8(0);
    let component = if half { 2 } else { 4 };
    let row = width as usize * 4 * component;
    let mut at = out.at() + 8 * height as usize;
    for _ in 0..height {
        out.u64(at as u64);
        at += 8 + row;
    }
    for (y, line) in picture.data.chunks_exact(row.max(1)).enumerate() {
        out.u32(y as u32).u32(row as u32);
        for c in [3, 2, 1, 0] {
            for texel in line.chunks_exact(4 * component) {
                out.put(&texel[c * component..][..component]);
            }
        }
    }
    Ok(out.0)
}
