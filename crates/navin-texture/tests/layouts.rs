//! Layouts against a second writing of the rules, against another crate, and tile by tile.
//!
//! [`model`] is written from the text of the facts alone, in the most literal way: it walks the levels and counts.

use navin_texture::layout::BIG_PAGE;
use navin_texture::{
    Format, FormatInfo, GobOrder, Layout, LayoutInput, PackagedLayout, Pitch, Region, Storage, Target, TextureFlags,
    untile,
};
use proptest::prelude::*;
use tegra_swizzle::surface::{BlockDim, swizzled_surface_size};
use tegra_swizzle::swizzle::deswizzle_block_linear;

/// Level offsets, bytes of a layer, bytes in all.
#[derive(Debug, PartialEq)]
struct Model {
    offsets: Vec<u64>,
    heights: Vec<u64>,
    layer: u64,
    total: u64,
}

/// Counts a block-linear texture with blocks of `height` x `depth` GOBs.
fn count(i: &LayoutInput, height: u64, depth: u64, tile_gobs: u64) -> Model {
    let f = i.format;
    let is_3d = i.target == Target::D3;
    let layers = if i.target.is_layered() { u64::from(i.layers) } else { 1 };
    let (sx, sy) = match (i.target.is_multisample(), i.samples) {
        (true, 2) => (2, 1),
        (true, 4) => (2, 2),
        (true, 8) => (4, 2),
        _ => (1, 1),
    };
    let half = |mut n: u64, have: u64| {
        // While half the block would still hold the level.
        while n > 1 && n / 2 >= have {
            n /= 2;
        }
        n
    };
    let (mut w, mut h, mut d) = (u64::from(i.width), u64::from(i.height), u64::from(i.depth));
    if matches!(i.target, Target::D1 | Target::D1Array) {
        h = 1;
    }
    if !is_3d {
        d = 1;
    }
    let mut m = Model { offsets: vec![], heights: vec![], layer: 0, total: 0 };
    let mut block0 = 0;
    for level in 0..i.levels {
        let row_bytes = (w * sx).div_ceil(f.block_width.into()) * u64::from(f.bytes_per_block);
        let rows = (h * sy).div_ceil(f.block_height.into());
        let mut across = row_bytes.div_ceil(64);
        let gobs = rows.div_ceil(8);
        // "While the level is at least one block in each direction": a block is 64 bytes wide.
        if row_bytes >= 64 && rows >= 8 * height && d >= depth {
            across = across.div_ceil(tile_gobs) * tile_gobs;
        }
        let (bh, bd) = (half(height, gobs), half(depth, d));
        m.offsets.push(m.layer);
        m.heights.push(bh * bd);
        m.layer += across * (gobs.div_ceil(bh) * bh) * (d.div_ceil(bd) * bd) * 512;
        if level == 0 {
            block0 = bh * bd * 512;
        }
        (w, h, d) = ((w / 2).max(1), (h / 2).max(1), (d / 2).max(1));
    }
    if layers > 1 {
        m.layer = m.layer.div_ceil(block0) * block0;
    }
    m.total = m.layer * layers;
    m
}

fn model(i: &LayoutInput) -> Model {
    let f = i.format;
    let step = |n: u64| [16, 8, 4, 2].into_iter().find(|s| n >= *s).unwrap_or(1);
    let sy = if i.target.is_multisample() && i.samples >= 4 { 2 } else { 1 };
    let h = if matches!(i.target, Target::D1 | Target::D1Array) { 1 } else { u64::from(i.height) * sy };
    let rows = h.div_ceil(f.block_height.into());
    if let Some(p) = i.packaged {
        let depth = if i.target == Target::D3 { 1 << p.block_depth_log2 } else { 1 };
        return count(i, 1 << p.block_height_log2, depth, 1);
    }
    if i.flags.contains(TextureFlags::SPARSE) {
        // 128x128 texels of 4 bytes and 256x256 of 16-byte blocks have rows of 8 and 16 GOBs.
        let (height, depth, tile) = match (i.target == Target::D3, f.bytes_per_block) {
            (false, 1) => (32, 1, 4),
            (false, 2..=4) => (16, 1, 8),
            (false, _) => (8, 1, 16),
            // Vulkan's standard blocks of 3D images: 64x32x32, 32x32x32, 32x32x16, 32x16x16, 16x16x16 texels.
            (true, 1) => (4, 32, 1),
            (true, 2) => (4, 32, 1),
            (true, 3 | 4) => (4, 16, 2),
            (true, 6 | 8) => (2, 16, 4),
            (true, _) => (2, 16, 4),
        };
        return count(i, height, depth, tile);
    }
    let automatic = if i.target == Target::D3 {
        let d = u64::from(i.depth);
        count(i, 1, step(d + d / 2), 1)
    } else {
        count(i, step((rows + rows / 2) / 8), 1, 1)
    };
    let minimal = count(i, 1, 1, 1);
    if i.flags.contains(TextureFlags::MINIMAL_LAYOUT) && minimal.layer < automatic.layer { minimal } else { automatic }
}

fn compare(i: &LayoutInput) {
    let layout = Layout::new(i).unwrap();
    let m = model(i);
    let offsets: Vec<u64> = layout.levels.iter().map(|l| l.offset).collect();
    let heights: Vec<u64> = layout
        .levels
        .iter()
        .map(|l| match l.storage {
            Storage::BlockLinear { block_height_log2, block_depth_log2, .. } => {
                1 << (block_height_log2 + block_depth_log2)
            }
            Storage::Linear { .. } => 0,
        })
        .collect();
    let got = Model { offsets, heights, layer: layout.layer_size, total: layout.size };
    assert_eq!(got, m, "{i:?}");
}

fn input(format: Format, width: u32, height: u32) -> LayoutInput {
    LayoutInput::new_2d(format.info(), width, height)
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_200, ..ProptestConfig::default() })]

    #[test]
    fn b306_b307_random_layouts_against_a_second_writing_of_the_rules(
        target in prop::sample::select(&TARGETS[..]),
        value in 1i32..=156,
        (width, height, depth) in (1u32..3000, 1u32..3000, 1u32..200),
        layers in 1u32..13,
        levels in 1u32..=13,
        samples in prop::sample::select(&[1u32, 2, 4, 8][..]),
        minimal: bool,
        packaged in prop::option::of((0u8..=5, 0u8..=5)),
    ) {
        let layers = match target {
            Target::Cube => 6,
            Target::CubeArray => 6 * layers,
            t if t.is_layered() => layers,
            _ => 1,
        };
        let multisample = target.is_multisample();
        compare(&LayoutInput {
            target,
            format: Format::from_nvn(value).unwrap(),
            width, height, depth, layers,
            levels: if multisample { 1 } else { levels },
            samples: if multisample { samples } else { 1 },
            flags: if minimal { TextureFlags::MINIMAL_LAYOUT } else { TextureFlags::empty() },
            stride: 0,
            packaged: packaged.map(|(h, d)| PackagedLayout::from_bytes([h | d << 4, 0, 0, 0, 0, 0, 0, 0])),
        });
    }

    #[test]
    fn b117_random_sparse_layouts_against_a_second_writing_of_the_rules(
        value in prop::sample::select(&[1i32, 13, 37, 43, 47, 76, 80, 121, 128][..]),
        (width, height) in (1u32..6000, 1u32..6000),
        layers in 1u32..5,
        levels in 1u32..=13,
    ) {
        let sparse = LayoutInput {
            target: Target::D2Array,
            layers,
            levels,
            flags: TextureFlags::SPARSE,
            ..LayoutInput::new_2d(Format::from_nvn(value).unwrap(), width, height)
        };
        compare(&sparse);
        let (width, height) = (1 + width / 16, 1 + height / 16);
        compare(&LayoutInput { target: Target::D3, width, height, depth: 40 * layers - 30, layers: 1, ..sparse });
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn sizes_agree_with_another_crate(
        value in 1i32..=156,
        (width, height) in (1u32..2500, 1u32..2500),
        layers in 1u32..8,
        levels in 1u32..=12,
    ) {
        let info = Format::from_nvn(value).unwrap();
        // That crate stops halving at one block where a level of several texels remains, which is the same; both
        // shrink blocks in the same way.
        let levels = levels.min(32 - width.max(height).leading_zeros());
        let target = if layers > 1 { Target::D2Array } else { Target::D2 };
        let ours = Layout::new(&LayoutInput { target, layers, levels, ..LayoutInput::new_2d(info, width, height) }).unwrap();
        let theirs = swizzled_surface_size(width, height, 1, block_dim(info), None, info.bytes_per_block, levels, layers);
        prop_assert_eq!(ours.size, theirs as u64);
    }

    #[test]
    fn sizes_of_3d_agree_with_another_crate(
        value in 1i32..=156,
        (width, height, depth) in (1u32..500, 1u32..300, 2u32..90),
        levels in 1u32..=9,
    ) {
        let info = Format::from_nvn(value).unwrap();
        let levels = levels.min(32 - width.max(height).max(depth).leading_zeros());
        let volume = LayoutInput { target: Target::D3, depth, levels, ..LayoutInput::new_2d(info, width, height) };
        let theirs =
            swizzled_surface_size(width, height, depth, block_dim(info), None, info.bytes_per_block, levels, 1);
        prop_assert_eq!(Layout::new(&volume).unwrap().size, theirs as u64);
    }

    #[test]
    fn bytes_agree_with_another_crate(
        value in 1i32..=156,
        (width, height) in (1u32..300, 1u32..300),
        depth in prop::option::of(2u32..40),
        seed: u8,
    ) {
        let info = Format::from_nvn(value).unwrap();
        let mut input = LayoutInput::new_2d(info, width, height);
        if let Some(depth) = depth {
            (input.target, input.depth) = (Target::D3, depth);
            (input.width, input.height) = (width.div_ceil(4), height.div_ceil(4));
        }
        let layout = Layout::new(&input).unwrap();
        let level = &layout.levels[0];
        let Storage::BlockLinear { block_height_log2, .. } = level.storage else { panic!("linear") };
        let stored: Vec<u8> = (0..level.size).map(|i| (i * 31 + i / 251) as u8 ^ seed).collect();
        let height = tegra_swizzle::BlockHeight::new(1 << block_height_log2).unwrap();
        let (columns, rows) = (level.columns, level.rows);
        let theirs =
            deswizzle_block_linear(columns, rows, level.slices, &stored, height, level.bytes_per_block).unwrap();
        let mut ours = vec![0; level.packed_bytes() as usize];
        let whole = Region::whole(level);
        untile(&mut ours, Pitch::packed(level, &whole), &stored, level, GobOrder::TegraX1, whole).unwrap();
        prop_assert!(ours == theirs);
    }
}

fn block_dim(info: &FormatInfo) -> BlockDim {
    let some = |n: u32| n.try_into().unwrap();
    BlockDim { width: some(info.block_width), height: some(info.block_height), depth: some(1) }
}

/// What a guest does: storage of all levels minus storage of the tiled ones is what it allocates as the tail.
#[test]
fn b117_the_tail_is_what_guests_compute() {
    for format in [Format::RGBA8, Format::BPTC_UFLOAT, Format::RGBA_ASTC_8X8, Format::R8, Format::RG8, Format::RGBA16F]
    {
        for (target, layers, depth, width, height, levels) in [
            (Target::D2, 1, 1, 2048, 2048, 12),
            (Target::D2Array, 5, 1, 4096, 1024, 13),
            (Target::D2Array, 3, 1, 1500, 700, 11),
            (Target::D3, 1, 128, 512, 512, 10),
        ] {
            let i = LayoutInput {
                target,
                layers,
                depth,
                levels,
                flags: TextureFlags::SPARSE,
                ..input(format, width, height)
            };
            let layout = Layout::new(&i).unwrap();
            let tile = layout.sparse.unwrap();
            let Some(tail) = layout.tail() else { panic!("{i:?}: every level tiled") };
            assert_eq!(tail.first_level, tile.tiled_levels);
            if tile.tiled_levels == 0 {
                continue;
            }
            let tiled = Layout::new(&LayoutInput { levels: tile.tiled_levels, ..i }).unwrap();
            assert_eq!(layout.size - tiled.size, tail.size * u64::from(layers), "{i:?}");
            assert_eq!(tail.offset, tiled.layer_size);
            assert_eq!(tail.offset % BIG_PAGE, 0);
        }
    }
}

/// B120's layout test: a sparse level decoded tile by tile is the level decoded at once, in both orders.
#[test]
fn b120_tiles_one_by_one_are_the_level() {
    for (format, target, width, height, depth) in [
        (Format::BPTC_UFLOAT, Target::D2, 1000, 700, 1),
        (Format::RGBA8, Target::D2, 300, 260, 1),
        (Format::R8, Target::D2Array, 600, 300, 1),
        (Format::RGBA8, Target::D3, 70, 66, 20),
    ] {
        let i = LayoutInput { target, depth, levels: 3, flags: TextureFlags::SPARSE, ..input(format, width, height) };
        let layout = Layout::new(&i).unwrap();
        let stored: Vec<u8> = (0..layout.layer_size).map(|i| (i * 7 + (i >> 9) * 13 + (i >> 16)) as u8).collect();
        for order in [GobOrder::TegraX1, GobOrder::Successor] {
            let mut tiles_seen = 0;
            for level in &layout.levels {
                let bytes = &stored[level.offset as usize..][..level.size as usize];
                let whole = Region::whole(level);
                let pitch = Pitch::packed(level, &whole);
                let mut at_once = vec![0; level.packed_bytes() as usize];
                untile(&mut at_once, pitch, bytes, level, order, whole).unwrap();
                let Some([across, down, deep]) = level.tiles() else {
                    assert_eq!(level.tile(0, 0, 0), None);
                    continue;
                };
                let mut by_tiles = vec![0; at_once.len()];
                for (x, y, z) in
                    (0..deep).flat_map(|z| (0..down).flat_map(move |y| (0..across).map(move |x| (x, y, z))))
                {
                    let tile = level.tile(x, y, z).unwrap();
                    let page = &bytes[tile.offset as usize..][..BIG_PAGE as usize];
                    let [x, y, z] = tile.first.map(|n| n as usize);
                    let to = z * pitch.slice + y * pitch.row + x * level.bytes_per_block as usize;
                    let all = Region::whole(&tile.level);
                    untile(&mut by_tiles[to..], pitch, page, &tile.level, order, all).unwrap();
                    tiles_seen += 1;
                }
                assert!(by_tiles == at_once, "{format:?} {order:?}");
                assert_eq!(level.tile(across, 0, 0), None);
            }
            assert!(tiles_seen > 1, "{format:?}");
        }
    }
}

/// A packaged sparse texture whose width is not whole tiles has no tiles that could be copied alone.
#[test]
fn b118_unpadded_levels_have_no_tiles() {
    let packaged = Some(PackagedLayout::from_bytes([3, 0, 0, 0, 0, 0, 0, 0]));
    let i =
        LayoutInput { packaged, flags: TextureFlags::SPARSE, levels: 11, ..input(Format::RGBA_ASTC_6X6, 1024, 1024) };
    assert_eq!(Layout::new(&i).unwrap().levels[0].tiles(), None);
}

/// Samples lie beside each other: a tile of them holds fewer texels.
#[test]
fn b117_tiles_of_samples() {
    for (samples, tile) in [(1, (128, 128)), (2, (64, 128)), (4, (64, 64)), (8, (32, 64))] {
        let i = LayoutInput {
            target: Target::D2Multisample,
            samples,
            flags: TextureFlags::SPARSE,
            ..input(Format::RGBA8, 100, 300)
        };
        let layout = Layout::new(&i).unwrap();
        let sparse = layout.sparse.unwrap();
        assert_eq!((sparse.width, sparse.height), tile, "{samples} samples");
        assert_eq!(sparse.tiled_levels, u32::from(samples > 1), "100 texels are fewer than 128");
        if let Some([across, down, 1]) = layout.levels[0].tiles() {
            assert_eq!((across, down), (100u32.div_ceil(tile.0), 300u32.div_ceil(tile.1)));
            assert_eq!(layout.size, u64::from(across * down) * BIG_PAGE);
            let last = layout.levels[0].tile(across - 1, down - 1, 0).unwrap().level;
            assert_eq!((last.width, last.height), (100 - (across - 1) * tile.0, 300 - (down - 1) * tile.1));
        }
    }
}

#[test]
fn b306_nine_shapes() {
    let packaged = |byte0| Some(PackagedLayout::from_bytes([byte0, 0, 0, 0, 0, 0, 0, 0]));
    let size = |i: LayoutInput| Layout::new(&i).unwrap().size;
    let volume = |i: LayoutInput, depth| LayoutInput { target: Target::D3, depth, ..i };
    let linear = |i: LayoutInput, stride| LayoutInput { flags: TextureFlags::LINEAR, stride, ..i };
    assert_eq!(size(linear(input(Format::RGB_DXT1, 64, 64), 128)), 8_192);
    assert_eq!(size(linear(input(Format::BPTC_UNORM, 64, 64), 0)), 64 * 256);
    assert_eq!(size(LayoutInput { packaged: packaged(0x04), ..input(Format::RGBA8, 64, 64) }), 64 * 64 * 4);
    assert_eq!(size(LayoutInput { packaged: packaged(0x05), ..input(Format::RGBA8, 64, 300) }), 256 * 512);
    assert_eq!(size(LayoutInput { packaged: packaged(0x00), ..input(Format::RGBA8, 64, 300) }), 256 * 304);
    // The depth nibble of a 2D texture is nothing.
    assert_eq!(size(LayoutInput { packaged: packaged(0x40), ..input(Format::RGBA8, 64, 300) }), 256 * 304);
    // 3D: 33 rows are 5 GOBs, in blocks of 4 eight; 33 slices in blocks of 8 are 40.
    let cube = volume(input(Format::RGBA8, 33, 33), 33);
    assert_eq!(size(LayoutInput { packaged: packaged(0x32), ..cube }), 3 * 8 * 40 * 512);
    assert_eq!(size(LayoutInput { packaged: packaged(0x00), ..cube }), 3 * 5 * 33 * 512);
    assert_eq!(size(cube), 368_640);
}

#[test]
fn b307_every_shape_of_the_check() {
    let minimal = |i: LayoutInput| LayoutInput { flags: TextureFlags::MINIMAL_LAYOUT, ..i };
    let size = |i: LayoutInput| Layout::new(&i).unwrap().size;
    for format in [Format::RGB565, Format::RGB5A1] {
        assert_eq!(size(minimal(input(format, 320, 320))), 204_800);
    }
    assert_eq!(size(minimal(LayoutInput { levels: 9, ..input(Format::RG8, 260, 260) })), 214_528);
    let tall = LayoutInput { levels: 11, ..input(Format::R8, 8, 1920) };
    assert_eq!(size(minimal(tall)), model(&minimal(tall)).total);
    assert!(size(minimal(tall)) <= size(tall));
    let array = LayoutInput { target: Target::D2Array, layers: 3, levels: 9, ..input(Format::RGBA8, 260, 200) };
    assert!(size(minimal(array)) < size(array), "negative control: the flag changes this one");
    let packaged = Some(PackagedLayout::from_bytes([4, 0, 0, 0, 0, 0, 0, 0]));
    let with = LayoutInput { packaged, ..input(Format::RGB565, 320, 320) };
    assert_eq!(size(minimal(with)), size(with));
    let sparse = LayoutInput { flags: TextureFlags::SPARSE, ..input(Format::RGB565, 320, 320) };
    let both = LayoutInput { flags: TextureFlags::SPARSE | TextureFlags::MINIMAL_LAYOUT, ..sparse };
    assert_eq!(Layout::new(&sparse), Layout::new(&both));
}

#[test]
fn buffers_are_one_row() {
    let texels = LayoutInput { target: Target::Buffer, ..input(Format::RGBA32F, 1 << 20, 7) };
    let layout = Layout::new(&texels).unwrap();
    assert_eq!((layout.size, layout.row_stride), (16 << 20, 16 << 20));
    assert_eq!(Layout::new(&LayoutInput { format: Format::R8.info(), width: 100, ..texels }).unwrap().size, 128);
}

#[test]
fn video_images_have_blocks_of_two() {
    let video = LayoutInput { flags: TextureFlags::VIDEO_DECODE, ..input(Format::R8, 1920, 1080) };
    let level = Layout::new(&video).unwrap().levels[0];
    assert!(matches!(level.storage, Storage::BlockLinear { block_height_log2: 1, .. }));
}
