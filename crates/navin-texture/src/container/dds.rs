//! DDS: one texture, layer after layer with all levels each, which is the order of [`Texture`]'s data.
//!
//! Always written with the DX10 header. Reserved words of the header, which readers ignore, say the NVN format and
//! target where DXGI has fewer (RGBX8, rectangles, arrays of one layer), the channel sources and a name of up to 28
//! bytes, so that what was written is read back. Luminance and alpha-only files of other programs are formats of R and
//! RG with channel sources.

use super::bytes::{File, Out};
use super::dxgi::{from_dxgi, from_four_cc, from_masks, to_dxgi};
use super::{FileError, Source, Texture, WriteError};
use crate::format::{Format, FormatInfo};
use crate::layout::Target;

const HEADER: u64 = 128;
const DX10: u64 = 20;
/// In the first of the reserved words: NVN format, target, channel sources (a byte each, one more than the number; 0
/// for those that are not stated) and seven words of name follow.
const TAG: u32 = u32::from_le_bytes(*b"NAVN");
const TAG_AT: u64 = 32;
const MOST_NAME: usize = 28;

const CAPS2_CUBE: u32 = 0x200;
const CAPS2_FACES: u32 = 0xFC00;
const CAPS2_VOLUME: u32 = 0x20_0000;
const PF_ALPHA: u32 = 0x1;
const PF_ALPHA_ONLY: u32 = 0x2;
const PF_FOUR_CC: u32 = 0x4;
const PF_RGB: u32 = 0x40;
const PF_LUMINANCE: u32 = 0x2_0000;

/// Reads the texture of a file.
pub(super) fn read(bytes: &[u8]) -> Result<Texture, FileError> {
    let file = File(bytes);
    file.magic(0, b"DDS ")?;
    let size = file.u32(4, "header size")?;
    if size != 124 {
        return Err(FileError::at(4, format!("header size {size}, expected 124")));
    }
    let height = file.u32(12, "height")?;
    let width = file.u32(16, "width")?;
    let depth = file.u32(24, "depth")?.max(1);
    let levels = file.u32(28, "level count")?.max(1);
    let caps2 = file.u32(112, "caps")?;
    let pixel_flags = file.u32(80, "pixel format flags")?;
    let four_cc = file.array::<4>(84, "FourCC")?;
    let dx10 = pixel_flags & PF_FOUR_CC != 0 && &four_cc == b"DX10";
    let (name, stated) = tagged_name(&file)?;
    let (format, mut target, layers, data, swizzle) = if dx10 {
        let number = file.u32(HEADER, "DXGI format")?;
        let format = from_dxgi(number).ok_or_else(|| {
            FileError::at(HEADER, format!("DXGI format {number} has no NVN format with the same bytes"))
        })?;
        let dimension = file.u32(HEADER + 4, "dimension")?;
        let cube = file.u32(HEADER + 8, "flags")? & 4 != 0;
        let count = file.u32(HEADER + 12, "array size")?.max(1);
        let (target, layers) = match (dimension, cube, count) {
            (2, _, 1) => (Target::D1, 1),
            (2, _, n) => (Target::D1Array, n),
            (3, true, 1) => (Target::Cube, 6),
            (3, true, n) => (Target::CubeArray, n.saturating_mul(6)),
            (3, false, 1) => (Target::D2, 1),
            (3, false, n) => (Target::D2Array, n),
            (4, ..) => (Target::D3, 1),
            _ => return Err(FileError::at(HEADER + 4, format!("dimension {dimension}, expected 2, 3 or 4"))),
        };
        (format, target, layers, HEADER + DX10, Source::IDENTITY)
    } else {
        let (format, swizzle) = old_format(&file, pixel_flags, four_cc)?;
        let (target, layers) = match () {
            () if caps2 & CAPS2_CUBE != 0 && caps2 & CAPS2_FACES == CAPS2_FACES => (Target::Cube, 6),
            () if caps2 & CAPS2_CUBE != 0 => {
                return Err(FileError::at(112, format!("caps {caps2:#x}: a cube without all six faces")));
            }
            () if caps2 & CAPS2_VOLUME != 0 => (Target::D3, 1),
            () => (Target::D2, 1),
        };
        (format, target, layers, HEADER, swizzle)
    };
    let format = tagged(&file, format, &mut target, layers)?;
    let mut texture = Texture {
        name,
        format,
        target,
        width,
        height: if matches!(target, Target::D1 | Target::D1Array) { 1 } else { height },
        depth: if target == Target::D3 { depth } else { 1 },
        layers,
        levels,
        samples: 1,
        swizzle: stated.unwrap_or(swizzle),
        packaged: None,
        data: Vec::new(),
    };
    let need = texture.packed_size().map_err(|e| FileError::at(12, e.to_string()))?;
    texture.data = file.slice(data, need, "texels")?.to_vec();
    Ok(texture)
}

/// The name and the channel sources that the reserved words say.
fn tagged_name(file: &File) -> Result<(String, Option<[Source; 4]>), FileError> {
    if file.u32(TAG_AT, "reserved words")? != TAG {
        return Ok((String::new(), None));
    }
    let numbers = file.array::<4>(TAG_AT + 12, "channel sources")?;
    let mut swizzle = Some(Source::IDENTITY);
    for (i, number) in numbers.into_iter().enumerate() {
        let source = number.checked_sub(1).and_then(Source::from_index);
        swizzle = swizzle.zip(source).map(|(mut all, one)| {
            all[i] = one;
            all
        });
    }
    let name = file.array::<MOST_NAME>(TAG_AT + 16, "name")?;
    let end = name.iter().position(|b| *b == 0).unwrap_or(MOST_NAME);
    Ok((std::str::from_utf8(&name[..end]).unwrap_or_default().to_owned(), swizzle))
}

/// The format of a header without DX10, and where its components come from: grey of all three colours, alpha alone.
fn old_format(file: &File, flags: u32, four_cc: [u8; 4]) -> Result<(&'static FormatInfo, [Source; 4]), FileError> {
    use Source::{G, One, R, Zero};
    if flags & PF_FOUR_CC != 0 {
        let name = String::from_utf8_lossy(&four_cc).into_owned();
        return from_four_cc(four_cc)
            .map(|format| (format, Source::IDENTITY))
            .ok_or_else(|| FileError::at(84, format!("FourCC {name:?} has no NVN format with the same bytes")));
    }
    let bits = file.u32(88, "bits a texel")?;
    let mut masks = [0; 4];
    for (i, mask) in masks.iter_mut().enumerate() {
        *mask = file.u32(92 + 4 * i as u64, "component masks")?;
    }
    if flags & PF_LUMINANCE != 0 {
        (masks[1], masks[2]) = (0, 0);
    }
    if flags & PF_ALPHA_ONLY != 0 {
        masks = [0, 0, 0, masks[3]];
    } else if flags & PF_ALPHA == 0 {
        masks[3] = 0;
    }
    let known = (flags & (PF_RGB | PF_LUMINANCE | PF_ALPHA_ONLY) != 0).then(|| from_masks(bits, masks)).flatten();
    let swizzle = match flags {
        _ if flags & PF_ALPHA_ONLY != 0 => [Zero, Zero, Zero, R],
        _ if flags & PF_LUMINANCE != 0 && masks[3] != 0 => [R, R, R, G],
        _ if flags & PF_LUMINANCE != 0 => [R, R, R, One],
        _ => Source::IDENTITY,
    };
    known.map(|format| (format, swizzle)).ok_or_else(|| {
        FileError::at(80, format!("{bits} bits a texel with masks {masks:08x?} have no NVN format with the same bytes"))
    })
}

/// The NVN format and target that the reserved words say, if they are of the same kind as what the header says.
fn tagged(
    file: &File,
    format: &'static FormatInfo,
    target: &mut Target,
    layers: u32,
) -> Result<&'static FormatInfo, FileError> {
    if file.u32(TAG_AT, "reserved words")? != TAG {
        return Ok(format);
    }
    let number = file.u32(TAG_AT + 4, "NVN format")? as i32;
    let wanted = file.u32(TAG_AT + 8, "NVN target")? as i32;
    if let Some(named) = Target::from_nvn(wanted)
        && !named.is_multisample()
        && (named == Target::D3) == (*target == Target::D3)
        && (named.is_layered() || layers == 1)
    {
        *target = named;
    }
    let shape = |info: &FormatInfo| (info.bytes_per_block, info.block_width, info.block_height);
    Ok(Format::from_nvn(number).filter(|named| shape(named) == shape(format)).unwrap_or(format))
}

/// Makes a file of a texture.
pub(super) fn write(texture: &Texture) -> Result<Vec<u8>, WriteError> {
    let number = to_dxgi(texture.format).ok_or_else(|| {
        WriteError(format!("DDS has no format with the bytes of {}; KTX2 holds it", texture.format.name))
    })?;
    if texture.samples > 1 || texture.target == Target::Buffer {
        return Err(WriteError(format!("DDS has no {:?} textures", texture.target)));
    }
    let cube = matches!(texture.target, Target::Cube | Target::CubeArray);
    let volume = texture.target == Target::D3;
    let mut out = Out::default();
    out.put(b"DDS ").u32(124);
    // Caps, height, width, pixel format; pitch or linear size; depth; level count.
    let row = texture.width.div_ceil(texture.format.block_width) * texture.format.bytes_per_block;
    let rows = texture.height.div_ceil(texture.format.block_height);
    let (pitch_flag, pitch) =
        if texture.format.is_compressed() { (0x8_0000, row.saturating_mul(rows)) } else { (0x8, row) };
    let flags =
        0x1007 | pitch_flag | if texture.levels > 1 { 0x2_0000 } else { 0 } | if volume { 0x80_0000 } else { 0 };
    out.u32(flags).u32(texture.height).u32(texture.width).u32(pitch).u32(texture.depth).u32(texture.levels);
    out.u32(TAG).u32(texture.format.format.nvn() as u32).u32(texture.target as u32);
    for source in texture.swizzle {
        out.u8(source as u8 + 1);
    }
    let mut name = [0; MOST_NAME];
    if let Some(place) = name.get_mut(..texture.name.len()) {
        place.copy_from_slice(texture.name.as_bytes());
    }
    out.put(&name);
    out.u32(32).u32(PF_FOUR_CC).put(b"DX10").zeros(4 * 5);
    let complex = cube || volume || texture.levels > 1;
    out.u32(0x1000 | if texture.levels > 1 { 0x40_0000 } else { 0 } | if complex { 8 } else { 0 });
    out.u32(if cube { CAPS2_CUBE | CAPS2_FACES } else { 0 } | if volume { CAPS2_VOLUME } else { 0 }).zeros(12);
    let dimension = match texture.target {
        Target::D1 | Target::D1Array => 2,
        Target::D3 => 4,
        _ => 3,
    };
    let count = if cube { texture.layers / 6 } else { texture.layers };
    out.u32(number).u32(dimension).u32(if cube { 4 } else { 0 }).u32(count).u32(0);
    out.put(&texture.data);
    Ok(out.0)
}
