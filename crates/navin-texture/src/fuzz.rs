//! What must hold for any bytes; the bodies of the fuzz targets in `fuzz/` and of the tests that stand in for them.

use crate::container::{Kind, read, write};
use crate::layout::{Layout, LayoutInput, PackagedLayout, Target, TextureFlags};
use crate::swizzle::{GobOrder, Pitch, Region, pick, picked_bytes, tile, untile};
use crate::{Format, codec};

/// Most bytes of a texture whose texels are copied too.
const COPIED: u64 = 1 << 16;

/// Whatever is read holds together, is no more than the file can hold, and what is written of it is read again.
///
/// # Panics
/// If that does not hold.
pub fn file(bytes: &[u8]) {
    for order in [GobOrder::TegraX1, GobOrder::Successor] {
        let (Ok(textures), Some(kind)) = (read(bytes, order), Kind::detect(bytes)) else { continue };
        let total: usize = textures.iter().map(|t| t.data.len()).sum();
        let inflates = matches!(kind, Kind::Png | Kind::Exr | Kind::Ktx2);
        assert!(inflates || total <= bytes.len(), "{total} bytes out of {}", bytes.len());
        // A byte that is no UTF-8 becomes a character of three.
        let names: usize = textures.iter().map(|t| t.name.len()).sum();
        assert!(names <= 3 * bytes.len(), "{names} bytes of names out of {}", bytes.len());
        for texture in &textures {
            assert!(texture.check().is_ok(), "{}", texture.name);
        }
        // Two textures of one name, for example, are read but not written.
        if let Ok(file) = write(kind, &textures, "again", order) {
            let again = read(&file, order);
            assert!(again.is_ok_and(|again| again.len() == textures.len()), "what was written is not read");
        }
    }
}

/// As [`file`], of one kind: the bytes behind that kind's first ones.
///
/// # Panics
/// As [`file`].
pub fn file_of(kind: Kind, bytes: &[u8]) {
    let mut all = kind.magic().to_vec();
    all.extend_from_slice(bytes);
    file(&all);
}

/// A description of raw data: 40 bytes are a layout's input, taken as they are; what follows is the data, over and
/// over. A texture that has a layout keeps its levels apart and inside, its texels go out and in again unchanged, in
/// both orders, and come out as colours.
///
/// # Panics
/// If that does not hold.
pub fn description(bytes: &[u8]) {
    let Some((head, data)) = bytes.split_first_chunk::<40>() else { return };
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let Some(format) = Format::from_nvn(i32::from(head[0])) else { return };
    let Some(target) = Target::from_nvn(i32::from(head[1] % 12)) else { return };
    let mut input = LayoutInput::new_2d(format, word(4), word(8));
    (input.target, input.depth, input.layers, input.levels) = (target, word(12), word(16), u32::from(head[2]));
    input.samples = u32::from(head[3]);
    input.flags = TextureFlags::from_bits_retain(word(20));
    input.stride = u64::from(word(24));
    if head[28] & 1 != 0 {
        input.packaged = Some(PackagedLayout::from_bytes([head[29], head[30], 0, 0, 0, 0, 0, 0]));
    }
    let Ok(layout) = Layout::new(&input) else { return };
    let mut end = 0;
    for level in &layout.levels {
        assert!(level.offset >= end && level.packed_bytes() <= level.size, "{level:?}");
        end = level.offset + level.size;
    }
    assert!(end <= layout.layer_size && layout.layer_size * u64::from(layout.layers) <= layout.size);
    if layout.size > COPIED || data.is_empty() {
        return;
    }
    let storage: Vec<u8> = data.iter().copied().cycle().take(layout.size as usize).collect();
    for order in [GobOrder::TegraX1, GobOrder::Successor] {
        for level in &layout.levels {
            let part = |from: u32, count: u32, all: u32| {
                let from = from % all;
                (from, 1 + count % (all - from))
            };
            let (x, width) = part(word(32), word(36), level.columns);
            let (y, height) = part(word(33), word(35), level.rows);
            let (z, depth) = part(word(34), word(31), level.slices);
            for region in [Region::whole(level), Region { x, y, z, width, height, depth }] {
                let pitch = Pitch::packed(level, &region);
                let mut rows = vec![0; pitch.slice * region.depth as usize];
                let stored = &storage[level.offset as usize..];
                untile(&mut rows, pitch, stored, level, order, region).expect("the region is in the level");
                let mut again = stored.to_vec();
                tile(&mut again, level, order, region, &rows, pitch).expect("the region is in the level");
                assert!(again == stored, "{order:?} {region:?} of {level:?}: tiling what was untiled changes bytes");
                let slice = pitch.slice.min(rows.len());
                if region == Region::whole(level) && input.samples <= 1 {
                    let _ = codec::decode_rgba8(format, &rows[..slice], level.width, level.height);
                }
            }
            let step = 1 + u32::from(head[31]);
            let mut picked = vec![0; picked_bytes(level, step) as usize];
            pick(&mut picked, &storage[level.offset as usize..], level, order, step).expect("the level is there");
        }
    }
}
