//! KTX2: one texture, level after level, the smallest first; in each level layers, faces, slices.
//!
//! Formats are Vulkan's. Key-value data says the NVN format, target and name where Vulkan has fewer, so that what was
//! written is read back. Reads files without supercompression, by zlib and by Zstandard; universal textures (BasisLZ,
//! UASTC) are named and refused.

use std::io::Read as _;

use super::bytes::{File, Out};
use super::ktx2_dfd::descriptor;
use super::{FileError, Source, Texture, WriteError};
use crate::format::{Class, Emulation, Format, FormatInfo};
use crate::layout::{LevelLayout, Target};

/// What files begin with.
pub(super) const MAGIC: [u8; 12] = *b"\xABKTX 20\xBB\r\n\x1A\n";
const INDEX: u64 = 80;
const FORMAT_KEY: &str = "NavinFormat";
const TARGET_KEY: &str = "NavinTarget";
const NAME_KEY: &str = "NavinName";
const SWIZZLE_KEY: &str = "KTXswizzle";
/// Deflate makes at most this many bytes of one; Zstandard could make more of nothing but one value, which no texture
/// worth a file is.
const MOST_INFLATION: u64 = 1032;

/// The largest window that Zstandard's encoders take without being told how much there is.
const MOST_WINDOW: u64 = 8 << 20;

/// The Vulkan format that a file states: none where NVN's bytes are not Vulkan's.
fn vk_format(info: &FormatInfo) -> i32 {
    match info.emulation() {
        Emulation::DepthShift | Emulation::SplitAspects => 0,
        _ => info.vk_format,
    }
}

/// The format that a Vulkan number is read as. Formats that read alpha as one share their number with those that have
/// alpha, and the file means the latter.
fn from_vulkan(number: u32) -> Option<&'static FormatInfo> {
    let mut same = Format::all().filter(|info| number != 0 && vk_format(info) as u32 == number);
    let first = same.next()?;
    if first.alpha_one() { same.find(|info| !info.alpha_one()).or(Some(first)) } else { Some(first) }
}

/// What KTX2 prohibits: whole numbers read as floats of the same value.
fn check_class(info: &FormatInfo) -> Result<(), String> {
    match info.class {
        Class::Uscaled | Class::Sscaled => {
            Err(format!("KTX2 prohibits scaled formats such as {}; its integer format has the same bytes", info.name))
        }
        _ => Ok(()),
    }
}

/// Reads the texture of a file.
pub(super) fn read(bytes: &[u8]) -> Result<Texture, FileError> {
    let file = File(bytes);
    if file.array::<12>(0, "identifier")? != MAGIC {
        return Err(FileError::at(0, "expected the identifier of KTX 2.0"));
    }
    let number = file.u32(12, "Vulkan format")?;
    let [width, height, depth, layer_count, face_count, level_count, scheme] =
        [20, 24, 28, 32, 36, 40, 44].map(|at| file.u32(at, "header"));
    let (width, height, depth, layer_count) = (width?, height?, depth?, layer_count?);
    let (face_count, level_count, scheme) = (face_count?, level_count?, scheme?);
    let keys = key_values(&file)?;
    let key = |name: &str| keys.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let vulkan = from_vulkan(number);
    let named = key(FORMAT_KEY).and_then(Format::from_name);
    let same = |a: &FormatInfo, b: &FormatInfo| {
        (a.bytes_per_block, a.block_width, a.block_height) == (b.bytes_per_block, b.block_width, b.block_height)
    };
    let format = match (vulkan, named) {
        (Some(vulkan), Some(named)) if same(vulkan, named) => named,
        (Some(vulkan), _) => vulkan,
        (None, Some(named)) if number == 0 => named,
        _ => {
            let what = match universal(&file).filter(|_| number == 0) {
                Some(model) => format!("{model}, which are to be transcoded, are not read"),
                None => format!("Vulkan format {number} has no NVN format with the same bytes"),
            };
            return Err(FileError::at(12, what));
        }
    };
    check_class(format).map_err(|what| FileError::at(12, what))?;
    let arrayed = layer_count > 0;
    let mut target = match (depth, face_count, height, arrayed) {
        (0, 6, _, false) => Target::Cube,
        (0, 6, _, true) => Target::CubeArray,
        (0, 1, 0, false) => Target::D1,
        (0, 1, 0, true) => Target::D1Array,
        (0, 1, _, false) => Target::D2,
        (0, 1, _, true) => Target::D2Array,
        (_, 1, _, false) => Target::D3,
        _ => {
            let what = format!("depth {depth}, {layer_count} layers, {face_count} faces: no kind of texture");
            return Err(FileError::at(28, what));
        }
    };
    if let Some(named) = key(TARGET_KEY).and_then(|t| t.parse().ok()).and_then(Target::from_nvn)
        && matches!((target, named), (Target::D2, Target::Rectangle))
    {
        target = named;
    }
    let swizzle = key(SWIZZLE_KEY).and_then(|text| {
        let sources: Option<Vec<Source>> = text.chars().map(Source::from_letter).collect();
        <[Source; 4]>::try_from(sources?).ok()
    });
    let mut texture = Texture {
        name: key(NAME_KEY).unwrap_or_default().to_owned(),
        format,
        target,
        width,
        height: height.max(1),
        depth: depth.max(1),
        layers: layer_count.max(1).checked_mul(face_count).ok_or_else(|| FileError::at(32, "too many layers"))?,
        levels: level_count.max(1),
        samples: 1,
        swizzle: swizzle.unwrap_or(Source::IDENTITY),
        packaged: None,
        data: Vec::new(),
    };
    let layout = texture.check_sizes().map_err(|e| FileError::at(20, e.to_string()))?;
    let need = texture.packed_size().map_err(|e| FileError::at(20, e.to_string()))?;
    let most = if matches!(scheme, 2 | 3) { file.len().saturating_mul(MOST_INFLATION) } else { file.len() };
    if need > most {
        return Err(FileError::at(20, format!("{need} bytes of texels, more than the file can hold")));
    }
    let mut levels = Vec::new();
    for (i, level) in layout.levels.iter().enumerate() {
        let at = INDEX + 24 * i as u64;
        let (start, size) = (file.u64(at, "level index")?, file.u64(at + 8, "level index")?);
        let stored = file.slice(start, size, "a level")?;
        let want = level.packed_bytes() * u64::from(layout.layers);
        let bytes = match scheme {
            0 => stored.into(),
            3 => inflate(stored, want).map_err(|what| FileError::at(start, what))?.into(),
            1 => return Err(FileError::at(44, "supercompressed by BasisLZ, which is not read")),
            2 => zstandard(stored, want).map_err(|what| FileError::at(start, what))?.into(),
            n => return Err(FileError::at(44, format!("supercompression scheme {n} is not known"))),
        };
        let bytes: std::borrow::Cow<[u8]> = bytes;
        if bytes.len() as u64 != want {
            return Err(FileError::at(at + 8, format!("level {i} has {} bytes, expected {want}", bytes.len())));
        }
        levels.push(bytes);
    }
    // From level after level to layer after layer.
    let mut data = Vec::with_capacity(need as usize);
    for layer in 0..layout.layers as usize {
        for (level, bytes) in layout.levels.iter().zip(&levels) {
            let size = level.packed_bytes() as usize;
            data.extend_from_slice(&bytes[layer * size..][..size]);
        }
    }
    texture.data = data;
    Ok(texture)
}

fn inflate(bytes: &[u8], want: u64) -> Result<Vec<u8>, String> {
    miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(bytes, want as usize)
        .map_err(|e| format!("zlib data: {e}, expected {want} bytes"))
}

fn zstandard(bytes: &[u8], want: u64) -> Result<Vec<u8>, String> {
    let wrong = |e: &dyn std::fmt::Display| format!("Zstandard data: {e}, expected {want} bytes");
    // The decoder keeps a window of output before it gives any away: none larger than encoders have need of.
    if zstandard_window(bytes).is_some_and(|window| window > MOST_WINDOW.max(want.saturating_mul(2))) {
        return Err(wrong(&"a window that is far larger than the level"));
    }
    let decoder = ruzstd::decoding::StreamingDecoder::new(bytes).map_err(|e| wrong(&e))?;
    let mut out = Vec::new();
    // One byte more shows data that is too long.
    decoder.take(want.saturating_add(1)).read_to_end(&mut out).map_err(|e| wrong(&e))?;
    Ok(out)
}

/// The window that a Zstandard frame's header states; none where there is no header (which the decoder says better).
fn zstandard_window(bytes: &[u8]) -> Option<u64> {
    let descriptor = *bytes.get(4)?;
    // Without a window there is one segment, whose size the decoder takes; it stands behind the dictionary's number.
    if descriptor & 0x20 == 0 {
        let window = *bytes.get(5)?;
        let base = 1u64 << (10 + (window >> 3));
        return Some(base + base / 8 * u64::from(window & 7));
    }
    let at = 5 + [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size = [1, 2, 4, 8][usize::from(descriptor >> 6)];
    let mut number = [0; 8];
    number[..size].copy_from_slice(bytes.get(at..at + size)?);
    Some(u64::from_le_bytes(number))
}

/// The colour models of universal textures, which become another format only when they are used.
fn universal(file: &File) -> Option<&'static str> {
    let at = u64::from(file.u32(48, "descriptor offset").ok()?);
    match file.u8(at.checked_add(12)?, "colour model").ok()? {
        163 => Some("ETC1S texels (BasisLZ)"),
        166 => Some("UASTC texels"),
        _ => None,
    }
}

/// Keys and text values; values that are no text are left out.
fn key_values(file: &File) -> Result<Vec<(String, String)>, FileError> {
    let start = u64::from(file.u32(56, "key-value offset")?);
    let size = u64::from(file.u32(60, "key-value size")?);
    file.slice(start, size, "key-value data")?;
    let mut at = start;
    let mut out = Vec::new();
    while at + 4 <= start + size {
        let length = u64::from(file.u32(at, "key-value length")?);
        if at + 4 + length > start + size {
            return Err(FileError::at(at, format!("a key and value of {length} bytes leave the key-value data")));
        }
        let pair = file.slice(at + 4, length, "key and value")?;
        if let Some(split) = pair.iter().position(|b| *b == 0) {
            let text = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(str::to_owned);
            let value = pair[split + 1..].strip_suffix(b"\0").unwrap_or(&pair[split + 1..]);
            if let (Some(key), Some(value)) = (text(&pair[..split]), text(value)) {
                out.push((key, value));
            }
        }
        at = (at + 4 + length).next_multiple_of(4);
    }
    Ok(out)
}

/// Makes a file of a texture.
pub(super) fn write(texture: &Texture) -> Result<Vec<u8>, WriteError> {
    let layout = texture.check().map_err(|e| WriteError(e.to_string()))?;
    if texture.samples > 1 || texture.target == Target::Buffer {
        return Err(WriteError(format!("KTX2 has no {:?} textures", texture.target)));
    }
    let info = texture.format;
    check_class(info).map_err(WriteError)?;
    let cube = matches!(texture.target, Target::Cube | Target::CubeArray);
    let faces = if cube { 6 } else { 1 };
    let arrayed = texture.target.is_layered() && texture.target != Target::Cube;
    let height = if matches!(texture.target, Target::D1 | Target::D1Array) { 0 } else { texture.height };
    let depth = if texture.target == Target::D3 { texture.depth } else { 0 };
    let mut out = Out::default();
    out.put(&MAGIC).u32(vk_format(info) as u32).u32(type_size(info));
    out.u32(texture.width).u32(height).u32(depth);
    out.u32(if arrayed { texture.layers / faces } else { 0 }).u32(faces).u32(texture.levels).u32(0);
    out.zeros(32 + 24 * texture.levels as usize);

    let dfd = descriptor(info);
    out.set_u32(48, out.at() as u32);
    out.set_u32(52, dfd.len() as u32);
    out.put(&dfd);
    let start = out.at();
    // Keys in the order of their bytes.
    let swizzle: String = texture.swizzle.iter().map(|s| s.letter()).collect();
    if texture.swizzle != Source::IDENTITY {
        key(&mut out, SWIZZLE_KEY, &swizzle);
    }
    key(&mut out, "KTXwriter", concat!("navin ", env!("CARGO_PKG_VERSION")));
    key(&mut out, FORMAT_KEY, info.name);
    if !texture.name.is_empty() {
        key(&mut out, NAME_KEY, &texture.name);
    }
    key(&mut out, TARGET_KEY, &(texture.target as u8).to_string());
    out.set_u32(56, start as u32);
    out.set_u32(60, (out.at() - start) as u32);

    // Levels, the smallest first, each at a multiple of the block size and of 4: the least that is both.
    let alignment = match info.bytes_per_block {
        n if n.is_multiple_of(4) => n,
        n if n.is_multiple_of(2) => 2 * n,
        n => 4 * n,
    };
    let layer_size: usize = layout.levels.iter().map(|l| l.packed_bytes() as usize).sum();
    for (i, level) in layout.levels.iter().enumerate().rev() {
        out.align(alignment as usize);
        let at = out.at();
        let before: u64 = layout.levels[..i].iter().map(LevelLayout::packed_bytes).sum();
        for layer in 0..layout.layers as usize {
            let from = layer * layer_size + before as usize;
            out.put(&texture.data[from..from + level.packed_bytes() as usize]);
        }
        let size = (out.at() - at) as u64;
        let index = INDEX as usize + 24 * i;
        out.set_u64(index, at as u64);
        out.set_u64(index + 8, size);
        out.set_u64(index + 16, size);
    }
    Ok(out.0)
}

fn key(out: &mut Out, key: &str, value: &str) {
    out.u32((key.len() + value.len() + 2) as u32);
    out.put(key.as_bytes()).u8(0).put(value.as_bytes()).u8(0).align(4);
}

/// Bytes of the unit that a reader of the other byte order would swap.
fn type_size(info: &FormatInfo) -> u32 {
    match info.packing() {
        None => 1,
        Some(_) if vk_format(info) == 0 => 1,
        Some(packing) => {
            let bits = packing.fields.iter().flatten().map(|f| u32::from(f.bits)).max().unwrap_or(8);
            let equal = packing.fields.iter().flatten().all(|f| u32::from(f.bits) == bits);
            if equal && bits.is_multiple_of(8) { bits / 8 } else { info.bytes_per_block }
        }
    }
}
