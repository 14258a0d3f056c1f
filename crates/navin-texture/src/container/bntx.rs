//! BNTX: the platform's archive of textures.
//!
//! ```text
//! 0x000  header: magic, version, byte order, alignment, name, first block (_STR), relocations (_RLT), file size
//! 0x020  container "NX  ": texture count, pointers to the texture array, the data (BRTD), the dictionary (_DIC)
//! 0x058  memory pool object, filled at run time
//! 0x198  texture array: pointers to texture blocks (BRTI)
//!        _STR strings, _DIC names as a radix tree, BRTI blocks, BRTD data, _RLT where the pointers are
//! ```
//!
//! All pointers are offsets from the start of the file. The structure is the one that open documentation and tools
//! describe (the EPD modding wiki, the `bntx` crate).

use super::bntx_format::{from_bntx, to_bntx, with_alpha};
use super::bytes::{File, Out};
use super::{FileError, Source, Texture, WriteError};
use crate::layout::{Layout, PackagedLayout, Target, TextureFlags};
use crate::swizzle::GobOrder;

const CONTAINER: u64 = 0x20;
const MEMORY_POOL: usize = 0x58;
const TEXTURES: usize = 0x198;
/// Bytes of a texture block before its level pointers: fields and room for two objects made at run time.
const BLOCK: usize = 0x2A0;
/// Bytes of a texture block's fields alone.
const FIELDS: u64 = 0xA0;
/// Data begins at a multiple of this (shift 12 in the header).
const DATA_ALIGNMENT: usize = 0x1000;
/// So many pointers fit between the header and the strings.
const MOST_TEXTURES: usize = (u16::MAX as usize + 1 - 8 - TEXTURES) / 8;
/// Version 4.0.0: patch, minor, major.
const VERSION: [u8; 4] = [0, 0, 4, 0];

/// Targets by `nn::gfx` image dimension.
const DIMENSIONS: [Target; 9] = [
    Target::D1,
    Target::D2,
    Target::D3,
    Target::Cube,
    Target::D1Array,
    Target::D2Array,
    Target::D2Multisample,
    Target::D2MultisampleArray,
    Target::CubeArray,
];

/// Reads all textures of a file.
pub(super) fn read(bytes: &[u8], order: GobOrder) -> Result<Vec<Texture>, FileError> {
    let file = File(bytes);
    file.magic(0, b"BNTX")?;
    let byte_order = file.array::<2>(0x0C, "byte order")?;
    if byte_order != [0xFF, 0xFE] {
        let what = format!("byte order {byte_order:02x?}; only little-endian files (ff fe) are known");
        return Err(FileError::at(0x0C, what));
    }
    let platform = file.array::<4>(CONTAINER, "container")?;
    if &platform != b"NX  " {
        let what =
            format!("expected the container of platform \"NX  \", found {:?}", String::from_utf8_lossy(&platform));
        return Err(FileError::at(CONTAINER, what));
    }
    let count = file.u32(CONTAINER + 4, "texture count")?;
    let array = file.u64(CONTAINER + 8, "pointer to the texture array")?;
    file.slice(array, u64::from(count) * 8, "the texture array")?;
    let mut textures = Vec::new();
    // Pointers to one block again and again, and blocks that share their data or name, could ask for more memory than
    // the file holds.
    let mut budget = file.len();
    for i in 0..u64::from(count) {
        let at = file.u64(array + 8 * i, "pointer to a texture")?;
        let texture = read_texture(&file, at, order, &mut budget)?;
        textures.push(texture);
    }
    Ok(textures)
}

fn read_texture(file: &File, at: u64, order: GobOrder, budget: &mut u64) -> Result<Texture, FileError> {
    if at.checked_add(BLOCK as u64).is_none() {
        return Err(FileError::at(at, "a pointer to a texture far outside the file"));
    }
    file.magic(at, b"BRTI")?;
    let name = read_string(file, file.u64(at + 0x60, "pointer to the name")?, budget)?;
    charge(budget, FIELDS, at, || "a texture".into())?;
    let flags = file.u8(at + 0x10, "flags")?;
    let tile_mode = file.u16(at + 0x12, "tile mode")?;
    let levels = file.u16(at + 0x16, "level count")?;
    let samples = file.u32(at + 0x18, "sample count")?;
    let number = file.u32(at + 0x1C, "format")?;
    let format = from_bntx(number)
        .ok_or_else(|| FileError::at(at + 0x1C, format!("texture {name:?}: format {number:#06x} has no NVN format")))?;
    let [width, height, depth, layers] = [0x24, 0x28, 0x2C, 0x30].map(|field| file.u32(at + field, "extents"));
    let dimension = file.u8(at + 0x5C, "dimension")?;
    let target = *DIMENSIONS
        .get(dimension as usize)
        .ok_or_else(|| FileError::at(at + 0x5C, format!("texture {name:?}: dimension {dimension}, expected 0 to 8")))?;
    let selectors = file.array::<4>(at + 0x58, "channels")?;
    let mut swizzle = Source::IDENTITY;
    for (to, selector) in swizzle.iter_mut().zip(selectors) {
        *to = Source::from_index(selector).ok_or_else(|| {
            FileError::at(at + 0x58, format!("texture {name:?}: channel source {selector}, expected 0 to 5"))
        })?;
    }
    let packaged = PackagedLayout::from_bytes(file.array(at + 0x34, "layout")?);
    let mut texture = Texture {
        name,
        format,
        target,
        width: width?,
        height: if matches!(target, Target::D1 | Target::D1Array) { 1 } else { height? },
        depth: if target == Target::D3 { depth? } else { 1 },
        layers: if target.is_layered() { layers? } else { 1 },
        levels: levels.into(),
        samples: samples.max(1),
        swizzle,
        packaged: (flags & 1 != 0).then_some(packaged),
        data: Vec::new(),
    };
    let name = &texture.name;
    let wrong = |e: super::TextureError| FileError::at(at + 0x16, format!("texture {name:?}: {e}"));
    texture.check_sizes().map_err(wrong)?;
    let linear = match tile_mode {
        0 => TextureFlags::empty(),
        1 => TextureFlags::LINEAR,
        other => return Err(FileError::at(at + 0x12, format!("texture {name:?}: tile mode {other}, expected 0 or 1"))),
    };
    let layout = Layout::new(&crate::LayoutInput { flags: linear, ..texture.input() }).map_err(|e| wrong(e.into()))?;
    if layout.levels.len() != texture.levels as usize {
        return Err(FileError::at(at + 0x16, format!("texture {name:?}: a linear texture of several levels")));
    }
    let need: u64 = layout.levels.iter().map(|l| l.packed_bytes()).sum::<u64>() * u64::from(layout.layers);
    charge(budget, need, at + 0x24, || format!("texture {name:?}: texels"))?;
    let size = u64::from(file.u32(at + 0x50, "image size")?);
    let pointers = file.u64(at + 0x70, "pointer to the level pointers")?;
    file.slice(pointers, 8 * u64::from(levels), "level pointers")?;
    // Layers lie at equal distances; the file states the size of all.
    let layer_size = if layout.layers > 1 { size / u64::from(layout.layers) } else { size };
    let name = name.clone();
    let what = format!("texels of texture {name:?}");
    texture
        .fill_tiled(&layout, order, |layer, level, l| {
            let start = file.u64(pointers + 8 * u64::from(level), "level pointer")?;
            let start = start.saturating_add(layer_size * u64::from(layer));
            // Linear levels are stored without the rows that compressed formats are given by GetStorageSize.
            let bytes = if tile_mode == 1 { layout.row_stride * u64::from(l.rows) } else { l.size };
            Ok(file.slice(start, bytes, &what)?)
        })
        .map_err(|e: ReadError| match e {
            ReadError::File(e) => e,
            ReadError::Texture(e) => FileError::at(at, format!("texture {name:?}: {e}")),
        })?;
    Ok(texture)
}

/// What can go wrong while levels are copied out.
pub(super) enum ReadError {
    File(FileError),
    Texture(super::TextureError),
}

impl From<FileError> for ReadError {
    fn from(e: FileError) -> Self {
        Self::File(e)
    }
}

impl From<super::TextureError> for ReadError {
    fn from(e: super::TextureError) -> Self {
        Self::Texture(e)
    }
}

/// Takes `bytes` from what the file can still hold.
fn charge(budget: &mut u64, bytes: u64, at: u64, what: impl FnOnce() -> String) -> Result<(), FileError> {
    match budget.checked_sub(bytes) {
        Some(left) => {
            *budget = left;
            Ok(())
        }
        None => Err(FileError::at(at, format!("{}, {bytes} bytes, are more than what is left of the file", what()))),
    }
}

/// A string with its 16-bit length before it.
fn read_string(file: &File, at: u64, budget: &mut u64) -> Result<String, FileError> {
    let size = file.u16(at, "a name's length")?;
    charge(budget, size.into(), at, || "a name".into())?;
    let bytes = file.slice(at + 2, size.into(), "a name")?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

/// Makes a file of all textures.
pub(super) fn write(textures: &[Texture], name: &str, order: GobOrder) -> Result<Vec<u8>, WriteError> {
    let mut images = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for texture in textures {
        let wrong = |why: String| WriteError(format!("texture {:?}: {why}", texture.name));
        let image = Image::new(texture, order).map_err(wrong)?;
        if !seen.insert(texture.name.as_str()) {
            return Err(wrong("two textures of this name: BNTX finds textures by name".into()));
        }
        images.push(image);
    }
    for text in textures.iter().map(|t| t.name.as_str()).chain([name]) {
        if text.len() > usize::from(u16::MAX) {
            return Err(WriteError(format!("a name of {} bytes; 65535 is the most", text.len())));
        }
        // Loaders find textures by names that end with a zero.
        if text.contains('\0') {
            return Err(WriteError(format!("the name {text:?} has a zero in it")));
        }
    }
    if textures.iter().any(|t| t.name.is_empty()) {
        return Err(WriteError("a texture without a name: BNTX finds textures by name".into()));
    }
    // The header has 16 bits for where the strings begin, which is behind the array of pointers.
    if textures.len() > MOST_TEXTURES {
        return Err(WriteError(format!("{} textures; a BNTX holds {MOST_TEXTURES}", textures.len())));
    }
    let mut out = Out::default();
    let mut relocations = Relocations::default();
    header(&mut out, textures.len());
    relocations.near(CONTAINER as usize + 0x08, 1, 1, 0);
    relocations.near(CONTAINER as usize + 0x18, 2, 1, 0);
    let names = strings(&mut out, textures, name);
    dictionary(&mut out, textures, &names, &mut relocations);
    let first_block = blocks(&mut out, &images, &names, &mut relocations);
    let near_end = out.at();

    // Data.
    let brtd = (out.at() + 16).next_multiple_of(DATA_ALIGNMENT) - 16;
    out.zeros(brtd - out.at());
    out.put(b"BRTD").u32(0).u64(0);
    out.set_u64(CONTAINER as usize + 0x10, brtd as u64);
    relocations.data(CONTAINER as usize + 0x10, 1);
    let mut block = first_block;
    for (i, image) in images.iter().enumerate() {
        out.align(image.layout.alignment as usize);
        let start = out.at() as u64;
        out.put(&image.data);
        for (level, l) in image.layout.levels.iter().enumerate() {
            out.set_u64(block + BLOCK + 8 * level, start + l.offset);
        }
        relocations.data(block + BLOCK, image.layout.levels.len());
        let end = block + BLOCK + 8 * image.layout.levels.len();
        let next = if i + 1 == images.len() { brtd } else { end };
        out.set_u32(block + 4, (next - block) as u32);
        out.set_u64(block + 8, (next - block) as u64);
        block = end;
    }
    let data_size = out.at() - brtd;
    out.set_u64(brtd + 8, data_size as u64);
    out.align(8);
    let table = out.at();
    out.set_u32(brtd + 4, (table - brtd) as u32);
    relocations.write(&mut out, near_end, (brtd, data_size));
    if u32::try_from(out.at()).is_err() {
        return Err(WriteError(format!("{} bytes: BNTX files end at 4 GB", out.at())));
    }
    out.set_u32(0x18, table as u32);
    let size = out.at() as u32;
    out.set_u32(0x1C, size);
    Ok(out.0)
}

/// A texture ready to be written.
struct Image<'a> {
    texture: &'a Texture,
    number: u32,
    dimension: u8,
    layout: Layout,
    data: Vec<u8>,
    swizzle: [Source; 4],
}

impl<'a> Image<'a> {
    fn new(texture: &'a Texture, order: GobOrder) -> Result<Self, String> {
        let (number, alpha_one) = match to_bntx(texture.format) {
            Some(number) => (number, false),
            // Formats that read alpha as one are those with alpha and a channel source of one.
            None => match with_alpha(texture.format).and_then(to_bntx) {
                Some(number) => (number, true),
                None => return Err(format!("BNTX has no number for {}", texture.format.name)),
            },
        };
        let dimension = DIMENSIONS
            .iter()
            .position(|t| *t == texture.target)
            .ok_or_else(|| format!("BNTX has no {:?} textures", texture.target))?;
        let layout = texture.check().map_err(|e| e.to_string())?;
        if u32::try_from(layout.size).is_err() {
            return Err(format!("{} bytes: BNTX textures end at 4 GB", layout.size));
        }
        let data = texture.to_tiled(&layout, order).map_err(|e| e.to_string())?;
        let mut swizzle = texture.swizzle;
        if alpha_one {
            swizzle.iter_mut().filter(|s| **s == Source::A).for_each(|s| *s = Source::One);
        }
        Ok(Self { texture, number, dimension: dimension as u8, layout, data, swizzle })
    }
}

fn header(out: &mut Out, count: usize) {
    out.put(b"BNTX\0\0\0\0").put(&VERSION).put(&[0xFF, 0xFE, 12, 64]);
    // Name, flags and first block, relocations, size: filled in later.
    out.u32(0).u16(0).u16(0).u32(0).u32(0);
    out.put(b"NX  ").u32(count as u32).u64(TEXTURES as u64).u64(0).u64(0).u64(MEMORY_POOL as u64).u64(0).u64(0);
    out.zeros(TEXTURES - out.at());
    out.zeros(8 * count);
}

/// Writes the strings; where each texture's is.
fn strings(out: &mut Out, textures: &[Texture], name: &str) -> Vec<u64> {
    out.align(8);
    let start = out.at();
    out.0[0x16..0x18].copy_from_slice(&(start as u16).to_le_bytes());
    out.put(b"_STR").u32(0).u64(0).u32(textures.len() as u32 + 1);
    let put = |out: &mut Out, text: &str| {
        let at = out.at();
        out.u16(text.len() as u16).put(text.as_bytes()).u8(0).align(2);
        at as u64
    };
    put(out, "");
    let file_name = put(out, name);
    out.set_u32(0x10, file_name as u32 + 2);
    let names = textures.iter().map(|t| put(out, &t.name)).collect();
    out.align(8);
    let size = out.at() - start;
    out.set_u32(start + 4, size as u32);
    out.set_u64(start + 8, size as u64);
    names
}

/// A node of the dictionary.
struct Node {
    /// Bit that decides, counted from the lowest of the last character; -1 for the root.
    bit: i32,
    children: [u16; 2],
}

/// Bit `bit` of a name: the last character holds the lowest eight; beyond the first one they are 0.
fn name_bit(name: &[u8], bit: i32) -> usize {
    let index = (bit >> 3) as usize;
    name.len().checked_sub(index + 1).map_or(0, |i| (name[i] >> (bit & 7) & 1).into())
}

/// The radix tree over the names: a node a name, behind the root.
fn radix_tree(names: &[&[u8]]) -> Vec<Node> {
    let mut nodes = vec![Node { bit: -1, children: [0, 0] }];
    let key = |node: u16| node.checked_sub(1).map_or(&[][..], |i| names[i as usize]);
    for (i, name) in names.iter().enumerate() {
        // The name that a search for this one ends at.
        let (mut parent, mut node) = (0u16, nodes[0].children[0]);
        while nodes[node as usize].bit > nodes[parent as usize].bit {
            parent = node;
            node = nodes[node as usize].children[name_bit(name, nodes[node as usize].bit)];
        }
        let found = key(node);
        let bits = 8 * name.len().max(found.len()) as i32;
        let Some(bit) = (0..bits).find(|bit| name_bit(name, *bit) != name_bit(found, *bit)) else { continue };
        // Where that bit belongs on the way.
        let (mut parent, mut side, mut node) = (0u16, 0, nodes[0].children[0]);
        while nodes[node as usize].bit > nodes[parent as usize].bit && nodes[node as usize].bit < bit {
            parent = node;
            side = name_bit(name, nodes[node as usize].bit);
            node = nodes[node as usize].children[side];
        }
        let new = i as u16 + 1;
        let mut children = [node; 2];
        children[name_bit(name, bit)] = new;
        nodes.push(Node { bit, children });
        nodes[parent as usize].children[side] = new;
    }
    nodes
}

fn dictionary(out: &mut Out, textures: &[Texture], names: &[u64], relocations: &mut Relocations) {
    let at = out.at();
    out.set_u64(CONTAINER as usize + 0x18, at as u64);
    out.put(b"_DIC").u32(textures.len() as u32);
    let keys: Vec<&[u8]> = textures.iter().map(|t| t.name.as_bytes()).collect();
    // The empty string is the first one.
    let start = u64::from(u16::from_le_bytes([out.0[0x16], out.0[0x17]]));
    for (i, node) in radix_tree(&keys).iter().enumerate() {
        let name = i.checked_sub(1).map_or(start + 0x14, |i| names[i]);
        out.u32(node.bit as u32).u16(node.children[0]).u16(node.children[1]).u64(name);
    }
    relocations.near(at + 0x10, textures.len() + 1, 1, 1);
}

/// Writes the texture blocks; where the first is.
fn blocks(out: &mut Out, images: &[Image], names: &[u64], relocations: &mut Relocations) -> usize {
    out.align(8);
    let first = out.at();
    for (i, (image, name)) in images.iter().zip(names).enumerate() {
        let at = out.at();
        let t = image.texture;
        out.set_u64(TEXTURES + 8 * i, at as u64);
        let packaged = t.packaged;
        let storage_dimension = match t.target {
            Target::D1 | Target::D1Array => 1,
            Target::D3 => 3,
            _ => 2,
        };
        out.put(b"BRTI").u32(0).u64(0);
        out.u8(packaged.is_some().into()).u8(storage_dimension).u16(0).u16(0).u16(t.levels as u16).u32(t.samples);
        // 0x20: may be read as a texture.
        out.u32(image.number).u32(0x20).u32(t.width).u32(t.height).u32(t.depth).u32(t.layers);
        let block = packaged.unwrap_or_else(|| automatic_block(&image.layout));
        out.u8(block.block_height_log2 | block.block_depth_log2 << 4).u8(block.tile_width_log2).u16(0);
        out.zeros(0x50 - 0x38);
        out.u32(image.data.len() as u32).u32(image.layout.alignment as u32);
        image.swizzle.iter().for_each(|s| {
            out.u8(*s as u8);
        });
        out.u8(image.dimension).zeros(3);
        out.u64(*name).u64(CONTAINER).u64((at + BLOCK) as u64).u64(0);
        out.u64((at + 0xA0) as u64).u64((at + 0x1A0) as u64).u64(0).u64(0);
        out.zeros(BLOCK - 0xA0).zeros(8 * t.levels as usize);
        relocations.near(at + 0x60, 3, 1, 0);
        relocations.near(at + 0x80, 2, 1, 0);
    }
    if !images.is_empty() {
        relocations.near(TEXTURES, images.len(), 1, 0);
    }
    first
}

/// The block shape of level 0, for readers that do not know the automatic rule.
pub(super) fn automatic_block(layout: &Layout) -> PackagedLayout {
    match layout.levels.first().map(|l| l.storage) {
        Some(crate::Storage::BlockLinear { block_height_log2, block_depth_log2, .. }) => {
            PackagedLayout { block_height_log2, block_depth_log2, tile_width_log2: 0 }
        }
        _ => PackagedLayout { block_height_log2: 0, block_depth_log2: 0, tile_width_log2: 0 },
    }
}

/// Where pointers are, so that a loader can add the file's address to them: those into the part before the data, and
/// those into the data.
#[derive(Default)]
struct Relocations {
    near: Vec<[u8; 8]>,
    data: Vec<[u8; 8]>,
}

impl Relocations {
    fn entry(at: usize, count: usize, pointers: u8, gap: u8) -> [u8; 8] {
        let mut entry = [0; 8];
        entry[..4].copy_from_slice(&(at as u32).to_le_bytes());
        entry[4..6].copy_from_slice(&(count as u16).to_le_bytes());
        entry[6..].copy_from_slice(&[pointers, gap]);
        entry
    }

    /// `count` pointers from `at`, `gap` pointers' room between them.
    fn near(&mut self, at: usize, count: usize, pointers: u8, gap: u8) {
        self.near.push(Self::entry(at, count, pointers, gap));
    }

    fn data(&mut self, at: usize, count: usize) {
        self.data.push(Self::entry(at, count, 1, 0));
    }

    fn write(&self, out: &mut Out, near_end: usize, (data, data_size): (usize, usize)) {
        let at = out.at();
        out.put(b"_RLT").u32(at as u32).u32(2).u32(0);
        out.u64(0).u32(0).u32(near_end as u32).u32(0).u32(self.near.len() as u32);
        out.u64(0).u32(data as u32).u32(data_size as u32).u32(self.near.len() as u32).u32(self.data.len() as u32);
        for entry in self.near.iter().chain(&self.data) {
            out.put(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_in_the_radix_tree() {
        let names: Vec<String> = ["a", "b", "ab", "ba", "tex_alb", "tex_nrm", "tex_alb2", "Z", "zz", "\u{e9}t\u{e9}"]
            .into_iter()
            .map(String::from)
            .chain((0..200).map(|i| format!("texture_{i}")))
            .collect();
        let keys: Vec<&[u8]> = names.iter().map(|n| n.as_bytes()).collect();
        let nodes = radix_tree(&keys);
        assert_eq!(nodes.len(), keys.len() + 1);
        for (i, key) in keys.iter().enumerate() {
            let (mut parent, mut node) = (0u16, nodes[0].children[0]);
            while nodes[node as usize].bit > nodes[parent as usize].bit {
                parent = node;
                node = nodes[node as usize].children[name_bit(key, nodes[node as usize].bit)];
            }
            assert_eq!(node as usize, i + 1, "{}", names[i]);
        }
    }
}
