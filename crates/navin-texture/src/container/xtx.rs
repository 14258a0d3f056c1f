//! XTX: the file of the platform's texture converters.
//!
//! ```text
//! header    "DFvN", header size, major and minor version
//! blocks    "HBvN", header size, data size, data offset (from the block), type, two indices
//!           type 2: a texture's description; type 3: block-linear data; type 5: end
//! ```
//!
//! The first data is that of the first description, and so on, in whatever order the blocks stand. The description has NVN's own target and format numbers. The structure is the one that open tools describe.

use super::bntx::ReadError;
use super::bytes::{File, Out};
use super::{FileError, Source, Texture, WriteError};
use crate::format::Format;
use crate::layout::{PackagedLayout, Target};
use crate::swizzle::GobOrder;

/// What files begin with.
pub(super) const MAGIC: &[u8] = b"DFvN";
const BLOCK_MAGIC: &[u8] = b"HBvN";
const BLOCK: u64 = 0x24;
const TEXTURE: u32 = 2;
const DATA: u32 = 3;
const END: u32 = 5;
/// Level offsets that a description has room for.
const LEVELS: usize = 17;
/// Where a description has the packaged layout: behind a 64-bit size, eight words and the level offsets.
const LAYOUT: u64 = 8 + 8 * 4 + 4 * LEVELS as u64;
/// Bytes of a description: the packaged layout and a flag are its last.
const DESCRIPTION: u64 = LAYOUT + 8 + 4;

/// Reads all textures of a file.
pub(super) fn read(bytes: &[u8], order: GobOrder) -> Result<Vec<Texture>, FileError> {
    let file = File(bytes);
    file.magic(0, MAGIC)?;
    let mut at = u64::from(file.u32(4, "header size")?);
    file.slice(0, at.max(16), "header")?;
    // Descriptions, and data with where it is: which belong together, only their order says.
    let (mut textures, mut data) = (Vec::new(), Vec::new());
    while at < file.len() {
        file.magic(at, BLOCK_MAGIC)?;
        let header = u64::from(file.u32(at + 4, "block header size")?);
        let size = file.u64(at + 8, "block size")?;
        let offset = file.u64(at + 16, "block offset")?;
        let kind = file.u32(at + 24, "block type")?;
        let start = at.saturating_add(offset);
        let block = file.slice(start, size, "a block")?;
        match kind {
            TEXTURE => textures.push(description(&file, start, size, textures.len())?),
            DATA => data.push((block, start)),
            END => break,
            _ => {}
        }
        // The next block lies behind this one, so that the walk ends.
        at = (start + size).max(at + header.max(BLOCK));
    }
    if let Some((_, start)) = data.get(textures.len()) {
        return Err(FileError::at(*start, "a data block without a description"));
    }
    if textures.is_empty() {
        return Err(FileError::at(16, "no texture in the file"));
    }
    let mut budget = file.len();
    let mut filled = Vec::with_capacity(textures.len());
    for (i, described) in textures.into_iter().enumerate() {
        let Some((block, start)) = data.get(i) else {
            let what = format!("texture {:?} has no data block", described.texture.name);
            return Err(FileError::at(described.at, what));
        };
        filled.push(fill(described, block, *start, order, &mut budget)?);
    }
    if let [only] = &mut filled[..] {
        // As in other files without names, which a reader calls by the file's.
        only.name.clear();
    }
    Ok(filled)
}

/// A description.
struct Described {
    texture: Texture,
    /// Where it stands.
    at: u64,
    /// Bytes from one layer to the next as stated; none where the description is too short to say.
    layer_size: Option<u64>,
    /// Bytes from a layer's start to its levels, as stated.
    offsets: Vec<u64>,
}

fn description(file: &File, at: u64, size: u64, index: usize) -> Result<Described, FileError> {
    if size < 40 {
        return Err(FileError::at(at, format!("a description of {size} bytes, expected {DESCRIPTION}")));
    }
    let field = |offset: u64, what| file.u32(at + offset, what);
    let target_number = field(24, "target")?;
    let target = i32::try_from(target_number)
        .ok()
        .and_then(Target::from_nvn)
        .ok_or_else(|| FileError::at(at + 24, format!("target {target_number}, expected an NVN target, 0 to 10")))?;
    let number = field(28, "format")?;
    let format = i32::try_from(number)
        .ok()
        .and_then(Format::from_nvn)
        .ok_or_else(|| FileError::at(at + 28, format!("format {number:#x}, expected an NVN format, 1 to 156")))?;
    let layers_or_depth = field(20, "depth")?.max(1);
    let (depth, layers) = match target {
        Target::D3 => (layers_or_depth, 1),
        Target::Cube => (1, 6),
        t if t.is_layered() => (1, layers_or_depth),
        _ => (1, 1),
    };
    let layout = if size >= LAYOUT + 8 { Some(file.array(at + LAYOUT, "layout")?) } else { None };
    let mut texture = Texture {
        name: format!("texture{index}"),
        format,
        target,
        width: field(12, "width")?,
        height: if matches!(target, Target::D1 | Target::D1Array) { 1 } else { field(16, "height")? },
        depth,
        layers,
        levels: field(32, "level count")?,
        samples: 1,
        swizzle: Source::IDENTITY,
        packaged: None,
        data: Vec::new(),
    };
    // The file always states a block shape; only one that is not the automatic one is kept.
    if let Some(stated) = layout.map(PackagedLayout::from_bytes)
        && texture.check_sizes().is_ok_and(|layout| super::bntx::automatic_block(&layout) != stated)
    {
        texture.packaged = Some(stated);
    }
    let mut stated = Described { texture, at, layer_size: None, offsets: Vec::new() };
    // A size of 0, and offsets of 0 behind the first, are places not filled in.
    if size >= LAYOUT {
        stated.layer_size = Some(u64::from(field(36, "slice size")?)).filter(|n| *n > 0);
        for level in 0..stated.texture.levels.min(LEVELS as u32) {
            stated.offsets.push(field(40 + 4 * u64::from(level), "level offset")?.into());
        }
    }
    Ok(stated)
}

fn fill(
    described: Described,
    data: &[u8],
    data_at: u64,
    order: GobOrder,
    budget: &mut u64,
) -> Result<Texture, FileError> {
    let Described { mut texture, at, layer_size, offsets } = described;
    let wrong = |e: super::TextureError| FileError::at(at, e.to_string());
    let layout = texture.check_sizes().map_err(wrong)?;
    let need: u64 = layout.levels.iter().map(|l| l.packed_bytes()).sum::<u64>() * u64::from(layout.layers);
    *budget = budget
        .checked_sub(need)
        .ok_or_else(|| FileError::at(at, format!("{need} bytes of texels, more than what is left of the file")))?;
    let layer_size = layer_size.unwrap_or(layout.layer_size);
    let block = File(data);
    texture
        .fill_tiled(&layout, order, |layer, level, l| {
            let stated = offsets.get(level as usize).copied().filter(|n| level == 0 || *n > 0);
            let start = layer_size * u64::from(layer) + stated.unwrap_or(l.offset);
            block
                .slice(start, l.size, "texels")
                .map_err(|e| FileError { offset: e.offset.map(|at| at + data_at), ..e })
                .map_err(ReadError::from)
        })
        .map_err(|e| match e {
            ReadError::File(e) => e,
            ReadError::Texture(e) => wrong(e),
        })?;
    Ok(texture)
}

/// Makes a file of all textures. Names are not kept: several textures read back are called `texture0`,
/// `texture1`, ..., one has no name
pub(super) fn write(textures: &[Texture], order: GobOrder) -> Result<Vec<u8>, WriteError> {
    let mut out = Out::default();
    out.put(MAGIC).u32(16).u32(1).u32(1);
    let mut index = 0;
    for (i, texture) in textures.iter().enumerate() {
        let wrong = |why: String| WriteError(format!("texture {:?}: {why}", texture.name));
        if texture.samples > 1 {
            return Err(wrong("XTX has no sample count".into()));
        }
        let layout = texture.check().map_err(|e| wrong(e.to_string()))?;
        let data = texture.to_tiled(&layout, order).map_err(|e| wrong(e.to_string()))?;
        block(&mut out, TEXTURE, DESCRIPTION, 0, &mut index, i);
        let small = |n: u64| u32::try_from(n).map_err(|_| wrong("XTX holds textures of up to 4 GB".into()));
        out.u64(data.len() as u64).u32(layout.alignment as u32).u32(texture.width).u32(texture.height);
        let depth = match texture.target {
            Target::D3 => texture.depth,
            t if t.is_layered() => texture.layers,
            _ => 1,
        };
        out.u32(depth).u32(texture.target as u32).u32(texture.format.format.nvn() as u32).u32(texture.levels);
        out.u32(small(layout.layer_size)?);
        for level in 0..LEVELS {
            out.u32(small(layout.levels.get(level).map_or(0, |l| l.offset))?);
        }
        let blocks = texture.packaged.unwrap_or_else(|| super::bntx::automatic_block(&layout));
        out.u8(blocks.block_height_log2 | blocks.block_depth_log2 << 4).u8(blocks.tile_width_log2).u16(0).u32(0);
        out.u32(0);
        // The data begins at its alignment.
        let start = (out.at() + BLOCK as usize).next_multiple_of(layout.alignment as usize);
        let gap = start - out.at() - BLOCK as usize;
        block(&mut out, DATA, data.len() as u64, gap as u64, &mut index, i);
        out.zeros(gap).put(&data);
    }
    block(&mut out, END, 0, 0, &mut index, 0);
    Ok(out.0)
}

fn block(out: &mut Out, kind: u32, size: u64, gap: u64, index: &mut u32, of_kind: usize) {
    out.put(BLOCK_MAGIC).u32(BLOCK as u32).u64(size).u64(BLOCK + gap).u32(kind).u32(*index).u32(of_kind as u32);
    *index += 1;
}
