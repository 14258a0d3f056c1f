//! Layouts beside those of the open homebrew graphics library, deko3d, whose rules are written here a second time from
//! its description of them: sizes of levels and layers, blocks, sparse widths.
//!
//! The two differ on purpose in these, which are left out below or asserted to differ:
//! - the automatic height of 2D blocks where 1.5 times the rows are not whole GOBs: that library rounds up, NVN down;
//! - an array of one layer, which that library rounds to whole blocks as if another followed;
//! - depth and stencil, whose storage that library always takes by 64 KB pages; here flag COMPRESSIBLE does;
//! - buffers, which are as long as their texels there and end with a whole 32 bytes here, as rows of textures do;
//! - linear storage: alignment of the whole, and rows of blocks where NVN takes rows of texels (B306).

use navin_texture::{Format, FormatInfo, Layout, LayoutInput, PackagedLayout, Storage, Target, TextureFlags};

/// Blocks of `2^log2` units that shrink while half of one still holds `have`.
fn shrunk(log2: u32, unit: u64, have: u64) -> u32 {
    (0..=log2).find(|l| have <= unit << l).unwrap_or(log2)
}

/// The largest of 1, 2, 4, 8, 16 that is not above `n`, as a power.
fn step(n: u64) -> u32 {
    n.clamp(1, 16).ilog2()
}

struct Theirs {
    offsets: Vec<u64>,
    layer: u64,
    size: u64,
    height_log2: u32,
}

/// That library's answer. `tile`: the logarithms of a stated block's width, height and depth.
fn theirs(i: &LayoutInput, tile: Option<[u32; 3]>) -> Theirs {
    let f = i.format;
    let samples = match (i.target.is_multisample(), i.samples) {
        (true, 2) => (2, 1),
        (true, 4) => (2, 2),
        (true, 8) => (4, 2),
        _ => (1u64, 1u64),
    };
    let is_1d = matches!(i.target, Target::D1 | Target::D1Array);
    let is_3d = i.target == Target::D3;
    let [w, h, d] = [i.width, if is_1d { 1 } else { i.height }, if is_3d { i.depth } else { 1 }].map(u64::from);
    let rows = (h * samples.1).div_ceil(f.block_height.into());
    let [tile_w, tile_h, tile_d] = tile.unwrap_or_else(|| match () {
        () if is_3d => [0, 0, step(d + d / 2)],
        () if is_1d => [0, 0, 0],
        () => [0, step((rows + rows / 2).div_ceil(8)), 0],
    });
    let mut out = Theirs { offsets: vec![], layer: 0, size: 0, height_log2: tile_h };
    for level in 0..i.levels {
        let at = |n: u64| (n >> level).max(1);
        let columns = at(w * samples.0).div_ceil(f.block_width.into());
        let rows = at(h * samples.1).div_ceil(f.block_height.into());
        let slices = at(d);
        let mut across = (columns * u64::from(f.bytes_per_block)).div_ceil(64);
        let whole = columns >= 64 / u64::from(f.bytes_per_block) && rows >= 8 << tile_h && slices >= 1 << tile_d;
        if whole {
            across = across.next_multiple_of(1 << tile_w);
        }
        let (high, deep) = (shrunk(tile_h, 8, rows), shrunk(tile_d, 1, slices));
        out.offsets.push(out.layer);
        out.layer += across * rows.div_ceil(8 << high) * slices.div_ceil(1 << deep) * (512 << (high + deep));
    }
    if i.target.is_layered() {
        // (By the rows of texels, without samples.)
        let block = 512 << shrunk(tile_h, 8, h.div_ceil(f.block_height.into()));
        out.layer = out.layer.next_multiple_of(block);
    }
    out.size = out.layer * u64::from(if i.target.is_layered() { i.layers } else { 1 });
    out
}

fn same(i: &LayoutInput, tile: Option<[u32; 3]>) {
    let (ours, theirs) = (Layout::new(i).unwrap(), theirs(i, tile));
    let offsets: Vec<u64> = ours.levels.iter().map(|l| l.offset).collect();
    assert_eq!((ours.layer_size, ours.size, offsets), (theirs.layer, theirs.size, theirs.offsets), "{i:?}");
    assert_eq!(ours.alignment, if i.flags.contains(TextureFlags::SPARSE) { 0x1_0000 } else { 512 });
}

/// Formats that both have: texels of a power of two of bytes, no depth.
fn formats() -> impl Iterator<Item = &'static FormatInfo> {
    Format::all().filter(|f| f.bytes_per_block.is_power_of_two() && !f.class.has_depth() && !f.class.has_stencil())
}

const TARGETS: [Target; 10] = [
    Target::D1,
    Target::D2,
    Target::D3,
    Target::D1Array,
    Target::D2Array,
    Target::D2Multisample,
    Target::D2MultisampleArray,
    Target::Rectangle,
    Target::Cube,
    Target::CubeArray,
];

/// Shapes of every target and format with sizes from a fixed sequence.
fn shapes(mut each: impl FnMut(LayoutInput, u32)) {
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        1 + (state % below) as u32
    };
    for format in formats() {
        for target in TARGETS {
            let (width, height) = (next(2100), next(1100));
            let flat = target.is_multisample() || target == Target::Rectangle;
            let longest = width.max(if matches!(target, Target::D1 | Target::D1Array) { 1 } else { height });
            let levels = if flat { 1 } else { next(u64::from(32 - longest.leading_zeros())) };
            let layers = match target {
                Target::Cube => 6,
                Target::CubeArray => 6 * (1 + next(3)),
                t if t.is_layered() => 1 + next(7),
                _ => 1,
            };
            let samples = if target.is_multisample() { 1 << next(3) } else { 1 };
            let depth = if target == Target::D3 { next(70) } else { 1 };
            let random = next(6);
            let i =
                LayoutInput { target, depth, layers, levels, samples, ..LayoutInput::new_2d(format, width, height) };
            each(i, random - 1);
        }
    }
}

#[test]
fn automatic_layouts_agree_where_the_heights_do() {
    let (mut agreed, mut differed) = (0, 0);
    shapes(|i, _| {
        let ours = Layout::new(&i).unwrap();
        let rows = u64::from(ours.levels[0].rows);
        let rounded_down = step((rows + rows / 2) / 8);
        let their = theirs(&i, None);
        // (Up to 8 rows both shrink to one GOB.)
        if i.target != Target::D3 && rounded_down != their.height_log2 && rows > 8 {
            assert_eq!(rounded_down + 1, their.height_log2);
            assert!(matches!(rows, 9 | 10 | 17..=21 | 38..=42 | 81..=85), "{rows}");
            if i.levels == 1 && i.layers == 1 {
                assert_eq!(ours.size, their.size, "single surfaces take the same either way: {i:?}");
            }
            differed += 1;
            return;
        }
        same(&i, None);
        agreed += 1;
    });
    assert!(agreed > 900 && differed > 5, "{agreed} {differed}");
}

#[test]
fn stated_blocks_agree() {
    shapes(|i, log2| {
        let three = i.target == Target::D3;
        let (tile, byte) = if three { ([0, 0, log2], log2 << 4) } else { ([0, log2, 0], log2) };
        let packaged = Some(PackagedLayout::from_bytes([byte as u8, 0, 0, 0, 0, 0, 0, 0]));
        same(&LayoutInput { packaged, ..i }, Some(tile));
    });
}

/// Sparse widths: a level is padded to tiles while it is at least one block each way, by its own rows, not by those of
/// whole GOBs, and by a block's width, not a tile's.
#[test]
fn b117_sparse_widths_agree() {
    let mut padded = 0;
    shapes(|i, _| {
        if !matches!(i.target, Target::D2 | Target::D2Array) {
            return;
        }
        let i = LayoutInput { flags: TextureFlags::SPARSE, ..i };
        let [height, width] = match i.format.bytes_per_block {
            1 => [5, 2],
            2 | 4 => [4, 3],
            8 | 16 => [3, 4],
            n => panic!("{n} bytes"),
        };
        same(&i, Some([width, height, 0]));
        let first = Layout::new(&i).unwrap().levels[0];
        let Storage::BlockLinear { gob_columns, .. } = first.storage else { panic!("linear") };
        padded += u32::from(gob_columns != first.row_bytes().div_ceil(64));
    });
    assert!(padded > 50, "{padded}");
    // Level 1 has 121 rows, 16 GOBs but not the 128 rows of a block: its 19 columns stay 19.
    let levels =
        LayoutInput { flags: TextureFlags::SPARSE, levels: 4, ..LayoutInput::new_2d(Format::RGBA8.info(), 600, 242) };
    let layout = Layout::new(&levels).unwrap();
    assert_eq!((layout.size, layout.levels[2].offset), (862_208, 811_008));
    // 7 columns, narrower than a tile, in a level of more rows than a block: 8.
    let narrow = LayoutInput { levels: 1, width: 100, height: 200, ..levels };
    assert_eq!(Layout::new(&narrow).unwrap().size, 8 * 32 * 512);
}

/// What differs on purpose, so that nobody mends it by accident.
#[test]
fn deliberate_differences() {
    let flat = |format: Format, width, height| LayoutInput::new_2d(format.info(), width, height);
    let array = LayoutInput { target: Target::D2Array, levels: 6, ..flat(Format::RGBA8, 32, 32) };
    assert_eq!((Layout::new(&array).unwrap().size, theirs(&array, None).size), (7_168, 8_192));
    let depth = Layout::new(&flat(Format::DEPTH24_STENCIL8, 64, 64)).unwrap();
    assert_eq!((depth.size, depth.alignment), (16_384, 512));
    let buffer = Layout::new(&LayoutInput { target: Target::Buffer, ..flat(Format::R8, 100, 1) }).unwrap();
    assert_eq!(buffer.size, 128);
    let linear = LayoutInput { flags: TextureFlags::LINEAR, ..flat(Format::BPTC_UNORM, 64, 64) };
    let layout = Layout::new(&linear).unwrap();
    assert_eq!((layout.size, layout.alignment), (64 * 256, 512), "rows of texels");
}
