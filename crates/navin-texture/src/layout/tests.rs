//! The sizes that the facts give, the rules that lead to them, and sizes that must be refused.

use super::*;
use crate::format::Format;

fn input(format: Format, width: u32, height: u32) -> LayoutInput {
    LayoutInput::new_2d(format.info(), width, height)
}

fn size(input: &LayoutInput) -> u64 {
    Layout::new(input).unwrap().size
}

/// The figures in MiB are rounded to the nearest.
fn mib(size: u64) -> u64 {
    (size + (1 << 19)) >> 20
}

#[test]
fn sizes_of_the_facts() {
    use Format as F;
    let minimal = |i: LayoutInput| LayoutInput { flags: TextureFlags::MINIMAL_LAYOUT, ..i };
    assert_eq!(size(&minimal(LayoutInput { levels: 9, ..input(F::RG8, 260, 260) })), 214_528);
    let layers = LayoutInput { target: Target::D2Array, layers: 2, ..input(F::RGBA8, 260, 260) };
    let layout = Layout::new(&layers).unwrap();
    assert_eq!((layout.layer_size, layout.size), (417_792, 835_584));
    for format in [F::RGB5A1, F::RGB565] {
        assert_eq!(size(&input(format, 320, 320)), 245_760);
        assert_eq!(size(&minimal(input(format, 320, 320))), 204_800);
    }
    assert_eq!(size(&input(F::RGB_DXT1, 256, 256)), 32_768);
    assert_eq!(size(&input(F::BPTC_UNORM, 1024, 256)), 262_144);
    assert_eq!(size(&input(F::RGBA_ASTC_5X5, 912, 512)), 376_832);
    assert_eq!(size(&LayoutInput { levels: 10, ..input(F::RGBA_ASTC_6X6, 512, 512) }), 244_224);
    let volume = LayoutInput { target: Target::D3, depth: 16, ..input(F::RGBA16F, 256, 32) };
    assert_eq!(size(&volume), 1_048_576);
    let volume = LayoutInput { target: Target::D3, depth: 33, ..input(F::RGBA8, 33, 33) };
    assert_eq!(size(&volume), 368_640);
    assert_eq!(size(&input(F::RGBA8, 16, 16)), 1_024);
    let terrain = |format| LayoutInput { target: Target::D2Array, layers: 68, levels: 12, ..input(format, 8192, 8192) };
    assert_eq!(mib(size(&terrain(F::BPTC_UFLOAT))), 5_803);
    assert_eq!(mib(size(&terrain(F::RGBA_ASTC_8X8))), 1_451);
    // The same as sparse textures, which is what the program makes.
    let sparse = |i: LayoutInput| LayoutInput { flags: TextureFlags::SPARSE, ..i };
    assert_eq!(mib(size(&sparse(terrain(F::BPTC_UFLOAT)))), 5_803);
    assert_eq!(mib(size(&sparse(terrain(F::RGBA_ASTC_8X8)))), 1_451);
}

#[test]
fn b309_either_flag_gives_rows() {
    let target = |flags: u32, stride| LayoutInput {
        flags: TextureFlags::from_bits_retain(flags),
        stride,
        ..input(Format::RGBA8, 16, 16)
    };
    // Explicit stride.
    for flags in [0x44, 0x40, 0x10, 0x14, 0x50] {
        let layout = Layout::new(&target(flags, 128)).unwrap();
        assert_eq!((layout.size, layout.row_stride), (2_048, 128), "{flags:#x}");
    }
    // Implicit: 64 bytes of texels, 128 for render targets.
    assert_eq!(Layout::new(&target(0x10, 0)).unwrap().row_stride, 64);
    assert_eq!(Layout::new(&target(0x40, 0)).unwrap().row_stride, 128);
    // 32-byte rows of a plain linear texture; an explicit stride is never altered.
    let narrow = LayoutInput { width: 6, ..target(0x10, 0) };
    assert_eq!(Layout::new(&narrow).unwrap().row_stride, 32);
    assert_eq!(Layout::new(&LayoutInput { stride: 24, ..narrow }).unwrap().row_stride, 24);
    assert_eq!(Layout::new(&LayoutInput { stride: 20, ..narrow }), Err(LayoutError::Stride { stride: 20, row: 24 }));
    assert_eq!(size(&target(0, 128)), 1_024, "blocks ignore the stride");
}

#[test]
fn b306_linear_compressed_textures_have_pixel_rows() {
    let linear = LayoutInput { flags: TextureFlags::LINEAR, stride: 128, ..input(Format::RGB_DXT1, 64, 64) };
    assert_eq!(size(&linear), 8_192);
}

#[test]
fn b306_packaged_blocks_replace_automatic_ones() {
    let packaged = |byte0: u8| Some(PackagedLayout::from_bytes([byte0, 0, 0, 0, 0, 0, 0, 0]));
    let blocks = |i: &LayoutInput| match Layout::new(i).unwrap().levels[0].storage {
        Storage::BlockLinear { block_height_log2, block_depth_log2, .. } => (block_height_log2, block_depth_log2),
        Storage::Linear { .. } => panic!("linear"),
    };
    let flat = input(Format::RGBA8, 256, 256);
    assert_eq!(blocks(&flat), (4, 0));
    assert_eq!(blocks(&LayoutInput { packaged: packaged(0), ..flat }), (0, 0), "a zero byte overrides too");
    assert_eq!(blocks(&LayoutInput { packaged: packaged(0x23), ..flat }), (3, 0), "2D ignores the depth nibble");
    let volume = LayoutInput { target: Target::D3, depth: 32, ..flat };
    assert_eq!(blocks(&volume), (0, 4));
    assert_eq!(blocks(&LayoutInput { packaged: packaged(0x23), ..volume }), (3, 2));
    // Small levels shrink packaged blocks as well.
    let tall = LayoutInput { packaged: packaged(4), ..input(Format::RGBA8, 64, 20) };
    assert_eq!(blocks(&tall), (2, 0));
    assert_eq!(Layout::new(&LayoutInput { packaged: packaged(0xF), ..flat }), Err(LayoutError::Block(15)));
}

#[test]
fn b307_minimal_layout_keeps_automatic_blocks_where_they_cost_nothing() {
    let minimal = |i: LayoutInput| LayoutInput { flags: TextureFlags::MINIMAL_LAYOUT, ..i };
    let height = |i: &LayoutInput| match Layout::new(i).unwrap().levels[0].storage {
        Storage::BlockLinear { block_height_log2, block_depth_log2, .. } => block_height_log2 + block_depth_log2,
        Storage::Linear { .. } => panic!("linear"),
    };
    assert_eq!(height(&minimal(input(Format::RGBA8, 64, 128))), 4, "the automatic block survives");
    assert_eq!(height(&minimal(input(Format::RGB565, 320, 320))), 0);
    let volume = |depth| LayoutInput { target: Target::D3, depth, ..input(Format::RGBA8, 64, 64) };
    assert_eq!(height(&minimal(volume(8))), 3);
    assert_eq!(height(&minimal(volume(9))), 0, "9 slices in blocks of 8 cost 16");
    // A packaged layout ignores the flag.
    let packaged = Some(PackagedLayout { block_height_log2: 4, block_depth_log2: 0, tile_width_log2: 0 });
    assert_eq!(height(&LayoutInput { packaged, ..minimal(input(Format::RGB565, 320, 320)) }), 4);
}

#[test]
fn automatic_block_heights() {
    // BC7 504x156: 39 block rows take blocks of 4 GOBs.
    let layout = Layout::new(&input(Format::BPTC_UNORM, 504, 156)).unwrap();
    assert!(matches!(layout.levels[0].storage, Storage::BlockLinear { block_height_log2: 2, .. }));
    for (rows, log2) in [(1, 0), (10, 0), (11, 1), (21, 1), (22, 2), (42, 2), (43, 3), (85, 3), (86, 4), (5000, 4)] {
        let layout = Layout::new(&input(Format::R8, 64, rows)).unwrap();
        let Storage::BlockLinear { block_height_log2, .. } = layout.levels[0].storage else { panic!("linear") };
        assert_eq!(block_height_log2, log2, "{rows} rows");
    }
}

#[test]
fn levels_follow_each_other_and_layers_are_rounded() {
    let cube = LayoutInput { target: Target::Cube, layers: 6, levels: 6, ..input(Format::RGBA8, 32, 32) };
    let layout = Layout::new(&cube).unwrap();
    let sizes: Vec<u64> = layout.levels.iter().map(|l| l.size).collect();
    assert_eq!(sizes, [4096, 1024, 512, 512, 512, 512]);
    assert_eq!(layout.levels[3].offset, 4096 + 1024 + 512);
    // 7,168 bytes, rounded to blocks of 4 GOBs.
    assert_eq!(layout.layer_size, 8_192);
    assert_eq!(layout.offset(1, 2), Some(2 * 8_192 + 4_096));
    assert_eq!((layout.offset(6, 0), layout.offset(0, 6)), (None, None));
    // The same without layers is not rounded.
    assert_eq!(size(&LayoutInput { levels: 6, ..input(Format::RGBA8, 32, 32) }), 7_168);
}

#[test]
fn samples_enlarge_the_image() {
    let samples = |n| LayoutInput { target: Target::D2Multisample, samples: n, ..input(Format::RGBA8, 64, 64) };
    assert_eq!(size(&samples(1)), 64 * 64 * 4);
    assert_eq!(size(&samples(2)), 2 * 64 * 64 * 4);
    assert_eq!(size(&samples(4)), 4 * 64 * 64 * 4);
    assert_eq!(size(&samples(8)), 8 * 64 * 64 * 4);
    assert_eq!(Layout::new(&samples(3)), Err(LayoutError::Samples(3)));
}

#[test]
fn b117_sparse_tiles() {
    let sparse = |format, w, h, levels| {
        let layout = Layout::new(&LayoutInput { flags: TextureFlags::SPARSE, levels, ..input(format, w, h) }).unwrap();
        assert_eq!(layout.alignment, BIG_PAGE);
        let tile = layout.sparse.unwrap();
        // Every tiled level is whole tiles, and the tail begins after them.
        for level in &layout.levels[..tile.tiled_levels as usize] {
            assert!(level.tiled);
            let tiles = u64::from(level.width.div_ceil(tile.width)) * u64::from(level.height.div_ceil(tile.height));
            assert_eq!(level.size, tiles * BIG_PAGE);
        }
        assert!(layout.levels[tile.tiled_levels as usize..].iter().all(|l| !l.tiled));
        (tile.width, tile.height, tile.depth, tile.tiled_levels)
    };
    assert_eq!(sparse(Format::RGBA8, 1024, 1024, 11), (128, 128, 1, 4));
    assert_eq!(sparse(Format::BPTC_UFLOAT, 8192, 8192, 12), (256, 256, 1, 6));
    assert_eq!(sparse(Format::RGBA_ASTC_8X8, 8192, 8192, 12), (512, 512, 1, 5));
    assert_eq!(sparse(Format::R8, 1000, 600, 4), (256, 256, 1, 2));
    // Smaller than a tile in one dimension only: all tail.
    assert_eq!(sparse(Format::RGBA8, 1024, 64, 2), (128, 128, 1, 0));
}

#[test]
fn b118_packaged_sparse_widths_are_padded_by_their_nibble() {
    let packaged = PackagedLayout { block_height_log2: 3, block_depth_log2: 0, tile_width_log2: 0 };
    let astc = LayoutInput {
        flags: TextureFlags::SPARSE,
        packaged: Some(packaged),
        levels: 11,
        ..input(Format::RGBA_ASTC_6X6, 1024, 1024)
    };
    assert_eq!(Layout::new(&astc).unwrap().levels[1].offset, 0x8_1000);
}

#[test]
fn compressible_storage_takes_big_pages() {
    let layout =
        Layout::new(&LayoutInput { flags: TextureFlags::COMPRESSIBLE, ..input(Format::RGBA8, 16, 16) }).unwrap();
    assert_eq!((layout.size, layout.alignment), (BIG_PAGE, BIG_PAGE));
}

#[test]
fn absurd_input_is_refused() {
    let big = input(Format::RGBA32F, u32::MAX, u32::MAX);
    assert_eq!(Layout::new(&big), Err(LayoutError::Extent(u32::MAX)));
    let edge = input(Format::RGBA32F, MAX_EXTENT, MAX_EXTENT);
    assert_eq!(Layout::new(&edge), Err(LayoutError::TooLarge));
    let volume = LayoutInput { target: Target::D3, depth: MAX_EXTENT, levels: 16, ..edge };
    assert_eq!(Layout::new(&volume), Err(LayoutError::TooLarge));
    let layers = LayoutInput { target: Target::D2Array, layers: MAX_EXTENT, ..input(Format::R8, 512, 512) };
    assert_eq!(Layout::new(&layers), Err(LayoutError::TooLarge));
    let ok = input(Format::R8, 1, 1);
    for zero in [
        LayoutInput { width: 0, ..ok },
        LayoutInput { height: 0, ..ok },
        LayoutInput { levels: 0, ..ok },
        LayoutInput { target: Target::D3, depth: 0, ..ok },
        LayoutInput { target: Target::D2Array, layers: 0, ..ok },
    ] {
        assert_eq!(Layout::new(&zero), Err(LayoutError::Zero));
    }
    assert_eq!(Layout::new(&LayoutInput { levels: u32::MAX, ..ok }), Err(LayoutError::Levels(u32::MAX)));
    let stride = LayoutInput { flags: TextureFlags::LINEAR, stride: u64::MAX, height: 2, ..ok };
    assert_eq!(Layout::new(&stride), Err(LayoutError::TooLarge));
    assert_eq!(Layout::new(&input(Format::NONE, 4, 4)), Err(LayoutError::Format));
}

#[test]
fn builder_sizes_by_target() {
    let mut i = input(Format::R8, 1, 1);
    let mut sizes = |target, w, h, d| {
        i.target = target;
        i.set_builder_size(w, h, d);
        (i.width, i.height, i.depth, i.layers)
    };
    assert_eq!(sizes(Target::D1Array, 64, 4, 9), (64, 1, 1, 4));
    assert_eq!(sizes(Target::D2Array, 64, 32, 4), (64, 32, 1, 4));
    assert_eq!(sizes(Target::D3, 64, 32, 4), (64, 32, 4, 1));
    assert_eq!(sizes(Target::Cube, 64, 64, 1), (64, 64, 1, 6));
    assert_eq!(sizes(Target::CubeArray, 64, 64, 12), (64, 64, 1, 12));
    assert_eq!(sizes(Target::D2, 64, 64, 7), (64, 64, 1, 1));
}
