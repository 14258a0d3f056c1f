//! The CPU copies against an address formula written independently of them: one byte at a time, straight from the
//! description of GOBs and blocks (B304), for both generations' orders (B305).

use navin_texture::swizzle::{
    Kernel, pick, picked_bytes, picked_extent, picking_step, tile_with, touched, untile_with,
};
use navin_texture::{
    Format, GobOrder, Layout, LayoutInput, LevelLayout, PackagedLayout, Pitch, Region, Storage, SwizzleError, Target,
    TextureFlags, tile, untile,
};
use proptest::prelude::*;

/// Address of byte `x` of row `y` of slice `z` in a level of blocks, by division and remainder.
fn address(level: &LevelLayout, successor: bool, x: u64, y: u64, z: u64) -> u64 {
    let Storage::BlockLinear { block_height_log2, block_depth_log2, gob_columns } = level.storage else {
        panic!("not blocks")
    };
    let (bh, bd) = (1u64 << block_height_log2, 1u64 << block_depth_log2);
    let blocks_across = gob_columns;
    let blocks_down = u64::from(level.rows).div_ceil(8 * bh);
    let block = (z / bd) * blocks_down * blocks_across + (y / (8 * bh)) * blocks_across + x / 64;
    let gob = block * bh * bd + (z % bd) * bh + (y / 8) % bh;
    let (x4, y1) = if successor { (64, 32) } else { (32, 64) };
    gob * 512 + (x / 32) % 2 * 256 + (y / 4) % 2 * 128 + (x / 16) % 2 * x4 + (y / 2) % 2 * y1 + y % 2 * 16 + x % 16
}

fn noise(n: usize, seed: u32) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as u8
    };
    (0..n).map(|_| next()).collect()
}

/// Copies a region both ways and compares every byte, those around the region as well.
fn check(level: &LevelLayout, order: GobOrder, region: Region, padding: usize) {
    let successor = order == GobOrder::Successor;
    let bpb = level.bytes_per_block as usize;
    let stored = noise(level.size as usize, 7);
    let row = region.width as usize * bpb + padding;
    let pitch = Pitch { row, slice: row * region.height as usize + padding };
    let bytes = pitch.slice * region.depth as usize;

    let mut expected = noise(bytes, 9);
    let mut got = expected.clone();
    let mut expected_level = stored.clone();
    let rows = noise(bytes, 11);
    for z in 0..region.depth as usize {
        for y in 0..region.height as usize {
            for x in 0..region.width as usize * bpb {
                let at = z * pitch.slice + y * pitch.row + x;
                let in_level = address(
                    level,
                    successor,
                    (region.x as usize * bpb + x) as u64,
                    u64::from(region.y) + y as u64,
                    u64::from(region.z) + z as u64,
                ) as usize;
                expected[at] = stored[in_level];
                expected_level[in_level] = rows[at];
            }
        }
    }
    let untouched = got.clone();
    for kernel in [Kernel::Portable, Kernel::best()] {
        got.copy_from_slice(&untouched);
        untile_with(kernel, &mut got, pitch, &stored, level, order, region).unwrap();
        assert!(got == expected, "untile {kernel:?} {order:?} {level:?} {region:?}");
        let mut got_level = stored.clone();
        tile_with(kernel, &mut got_level, level, order, region, &rows, pitch).unwrap();
        assert!(got_level == expected_level, "tile {kernel:?} {order:?} {level:?} {region:?}");
    }
}

#[test]
fn b305_orders_worked_out_by_hand() {
    let (x1, successor) = (GobOrder::TegraX1, GobOrder::Successor);
    assert_eq!((x1.offset(16, 0), successor.offset(16, 0)), (32, 64));
    assert_eq!((x1.offset(0, 2), successor.offset(0, 2)), (64, 32));
    for order in [x1, successor] {
        assert_eq!((order.offset(0, 1), order.offset(0, 4), order.offset(32, 0)), (16, 128, 256));
        let mut all: Vec<usize> = (0..512).map(|i| order.offset(i % 64, i / 64)).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..512), "a permutation of the GOB");
    }
}

#[test]
fn b304_every_kind_of_level_against_the_address_formula() {
    // Blocks of 1, 2, 3, 4, 6, 8, 12 and 16 bytes; compressed ones of both sizes.
    let formats = [
        Format::R8,
        Format::RG8,
        Format::RGB8,
        Format::RGBA8,
        Format::RGB16F,
        Format::RGBA16F,
        Format::RGB32F,
        Format::RGBA32F,
        Format::RGB_DXT1,
        Format::BPTC_UNORM,
        Format::RGBA_ASTC_6X5,
    ];
    let packaged = |byte0| Some(PackagedLayout::from_bytes([byte0, 0, 0, 0, 0, 0, 0, 0]));
    let mut levels = 0;
    for format in formats {
        for (target, depth, layers, samples) in [
            (Target::D1, 1, 1, 1),
            (Target::D2, 1, 1, 1),
            (Target::D3, 5, 1, 1),
            (Target::Cube, 1, 6, 1),
            (Target::D2MultisampleArray, 1, 2, 4),
        ] {
            for (width, height) in [(1, 1), (37, 5), (70, 67), (21, 130)] {
                for (flags, packaged) in [
                    (TextureFlags::empty(), None),
                    (TextureFlags::MINIMAL_LAYOUT, None),
                    (TextureFlags::empty(), packaged(0x12)),
                    (TextureFlags::SPARSE, None),
                    (TextureFlags::SPARSE, packaged(0x01)),
                ] {
                    let input = LayoutInput {
                        target,
                        depth,
                        layers,
                        samples,
                        levels: if target.is_multisample() { 1 } else { 3 },
                        flags,
                        packaged,
                        ..LayoutInput::new_2d(format.info(), width, height)
                    };
                    let layout = Layout::new(&input).unwrap();
                    for level in layout.levels.iter().filter(|l| l.size < 1 << 17) {
                        levels += 1;
                        // Rows at an offset that is aligned to nothing, every third time.
                        let order = [GobOrder::TegraX1, GobOrder::Successor][levels % 2];
                        check(level, order, Region::whole(level), levels % 3 * 5);
                    }
                }
            }
        }
    }
    assert!(levels >= 1_029, "{levels}");
}

/// Levels whose rows are many GOBs, so that every way through the inner loops is taken: runs of whole GOBs with all
/// and with some rows, with an edge at both sides.
#[test]
fn b304_long_rows_and_their_edges() {
    for format in [Format::RGBA8, Format::RGBA_ASTC_6X6, Format::R8, Format::RGB16F] {
        let layout = Layout::new(&LayoutInput::new_2d(format.info(), 430, 45)).unwrap();
        let level = &layout.levels[0];
        for (x, w) in [(0, level.columns), (1, level.columns - 2), (level.columns / 3, level.columns / 2)] {
            for (y, h) in [(0, level.rows), (1, level.rows - 1), (3, 2), (7, 1), (2, 4)] {
                for order in [GobOrder::TegraX1, GobOrder::Successor] {
                    let Some(h) = Some(h).filter(|h| y + h <= level.rows) else { continue };
                    check(level, order, Region { x, y, z: 0, width: w, height: h, depth: 1 }, 3);
                }
            }
        }
    }
}

/// Rows that begin anywhere, and pitches that keep or break their alignment, give the same bytes, and nothing beside the
/// rows is written: the fast way pairs pieces otherwise where all rows lie 16 bytes behind a multiple of 32.
#[test]
fn b304_rows_at_any_alignment() {
    for width in [16, 32, 176] {
        let layout = Layout::new(&LayoutInput::new_2d(Format::RGBA8.info(), width, 24)).unwrap();
        let level = &layout.levels[0];
        let whole = Region::whole(level);
        let stored = noise(level.size as usize, 3);
        for order in [GobOrder::TegraX1, GobOrder::Successor] {
            for (skip, padding) in [0, 1, 16, 32, 48, 56].into_iter().flat_map(|s| [0, 16, 32, 7].map(|p| (s, p))) {
                let row = width as usize * 4 + padding;
                let pitch = Pitch { row, slice: row * 24 };
                let mut room = vec![0u8; row * 24 + 256];
                let start = room.as_ptr().align_offset(64) + skip;
                let end = start + row * 24;
                let mut plain = room.clone();
                let rows = start..end;
                untile_with(Kernel::best(), &mut room[rows.clone()], pitch, &stored, level, order, whole).unwrap();
                untile_with(Kernel::Portable, &mut plain[rows.clone()], pitch, &stored, level, order, whole).unwrap();
                assert!(room == plain, "untile {width} {order:?} {skip} {padding}");
                let [mut fast, mut plain] = [stored.clone(), stored.clone()];
                tile_with(Kernel::best(), &mut fast, level, order, whole, &room[rows], pitch).unwrap();
                assert!(fast == stored, "tile {width} {order:?} {skip} {padding}");
                room[start..end].copy_from_slice(&noise(row * 24, 21));
                tile_with(Kernel::best(), &mut fast, level, order, whole, &room[start..end], pitch).unwrap();
                tile_with(Kernel::Portable, &mut plain, level, order, whole, &room[start..end], pitch).unwrap();
                assert!(fast == plain, "tile {width} {order:?} {skip} {padding}");
            }
        }
    }
}

/// Large copies are written past the caches; they give the same bytes, wherever rows and GOBs begin.
#[test]
fn b304_large_levels_are_the_same_bytes() {
    let layout = Layout::new(&LayoutInput::new_2d(Format::RGBA8.info(), 1920, 1080)).unwrap();
    let level = &layout.levels[0];
    let (size, bytes) = (level.size as usize, level.packed_bytes() as usize);
    let whole = Region::whole(level);
    let pitch = Pitch::packed(level, &whole);
    let rows = noise(bytes + 128, 17);
    let (mut fast, mut plain, mut back) = (vec![7; size + 128], vec![7; size], vec![0; bytes + 128]);
    for (order, skip) in [(GobOrder::TegraX1, 0), (GobOrder::Successor, 0), (GobOrder::TegraX1, 16)] {
        let place = |room: &[u8]| room.as_ptr().align_offset(64) + skip;
        let (r, b) = (place(&rows), place(&back));
        let g = fast.as_ptr().align_offset(64);
        let rows = &rows[r..r + bytes];
        tile(&mut fast[g..g + size], level, order, whole, rows, pitch).unwrap();
        tile_with(Kernel::Portable, &mut plain, level, order, whole, rows, pitch).unwrap();
        assert!(fast[g..g + size] == plain, "{order:?} {skip}");
        untile(&mut back[b..b + bytes], pitch, &fast[g..g + size], level, order, whole).unwrap();
        assert!(&back[b..b + bytes] == rows, "{order:?} {skip}");
    }
}

#[test]
fn b312_regions_in_place_equal_the_whole_level_method() {
    for (format, size, layers) in [(Format::RGBA8, 64, 1), (Format::RGB_DXT1, 256, 1), (Format::RGBA16F, 64, 2)] {
        let input = LayoutInput {
            target: if layers > 1 { Target::D2Array } else { Target::D2 },
            layers,
            ..LayoutInput::new_2d(format.info(), size, size)
        };
        let layout = Layout::new(&input).unwrap();
        let level = &layout.levels[0];
        let whole = Region::whole(level);
        let packed = Pitch::packed(level, &whole);
        let order = GobOrder::TegraX1;
        let stored = noise(layout.size as usize, 5);
        for i in 0..15u32 {
            // From one block to the whole level.
            let (x, y) = if i == 14 { (0, 0) } else { (i * 7 % 40, i * 11 % 40) };
            let (w, h) = match i {
                0 => (1, 1),
                14 => (level.columns, level.rows),
                _ => (1 + i * 13 % (level.columns - x), 1 + i * 5 % (level.rows - y)),
            };
            let region = Region { x, y, z: 0, width: w, height: h, depth: 1 };
            let pitch = Pitch::packed(level, &region);
            let data = noise(pitch.slice, 100 + i);
            for layer in 0..layers {
                let at = layout.offset(0, layer).unwrap() as usize;
                let mut in_place = stored.clone();
                tile(&mut in_place[at..], level, order, region, &data, pitch).unwrap();

                let mut rows = vec![0; level.packed_bytes() as usize];
                untile(&mut rows, packed, &stored[at..], level, order, whole).unwrap();
                for r in 0..h as usize {
                    let to = (y as usize + r) * packed.row + x as usize * level.bytes_per_block as usize;
                    rows[to..to + pitch.row].copy_from_slice(&data[r * pitch.row..][..pitch.row]);
                }
                let mut retiled = stored.clone();
                tile(&mut retiled[at..], level, order, whole, &rows, packed).unwrap();
                assert!(in_place == retiled, "{format:?} {region:?} layer {layer}");
            }
        }
    }
}

#[test]
fn b719_picks_are_the_levels_blocks() {
    let bc7 = Layout::new(&LayoutInput::new_2d(Format::BPTC_UNORM.info(), 1024, 1024)).unwrap();
    let level = &bc7.levels[0];
    // 256 x 256 blocks of 16 bytes: 4 KB is every 16th.
    assert_eq!((picking_step(level, 4096), picked_extent(level, 16)), (16, [16, 16, 1]));
    for (format, width, height) in [(Format::BPTC_UFLOAT, 1024, 1024), (Format::RGB16F, 133, 70)] {
        let layout = Layout::new(&LayoutInput::new_2d(format.info(), width, height)).unwrap();
        let level = &layout.levels[0];
        let stored = noise(level.size as usize, 21);
        let whole = Region::whole(level);
        let packed = Pitch::packed(level, &whole);
        let mut picks = Vec::new();
        for order in [GobOrder::TegraX1, GobOrder::Successor] {
            let step = picking_step(level, 4096);
            assert!(picked_bytes(level, step) <= 4096 && picked_bytes(level, step - 1) > 4096);
            let mut rows = vec![0; level.packed_bytes() as usize];
            untile(&mut rows, packed, &stored, level, order, whole).unwrap();
            let block = level.bytes_per_block as usize;
            let expected: Vec<u8> = (0..level.rows as usize)
                .step_by(step as usize)
                .flat_map(|y| (0..level.columns as usize).step_by(step as usize).map(move |x| (x, y)))
                .flat_map(|(x, y)| rows[y * packed.row + x * block..][..block].to_vec())
                .collect();
            let mut got = vec![0; picked_bytes(level, step) as usize];
            pick(&mut got, &stored, level, order, step).unwrap();
            assert!(got == expected, "{format:?} {order:?}");
            assert!(pick(&mut got[1..], &stored, level, order, step).is_err());
            assert!(pick(&mut got, &stored[1..], level, order, step).is_err());
            picks.push(got);
        }
        assert!(picks[0] != picks[1] || format == Format::BPTC_UFLOAT, "the orders differ");
    }
    // A limit below one block leaves one block; linear levels are picked too.
    assert_eq!(picked_bytes(level, picking_step(level, 1)), 16);
    let linear = LayoutInput { flags: TextureFlags::LINEAR, ..LayoutInput::new_2d(Format::RGBA8.info(), 9, 5) };
    let level = Layout::new(&linear).unwrap().levels[0];
    let stored = noise(level.size as usize, 2);
    let mut got = vec![0; picked_bytes(&level, 4) as usize];
    pick(&mut got, &stored, &level, GobOrder::TegraX1, 4).unwrap();
    let at = |x: usize, y: usize| &stored[y * 64 + 4 * x..][..4];
    assert_eq!(got, [at(0, 0), at(4, 0), at(8, 0), at(0, 4), at(4, 4), at(8, 4)].concat());
}

#[test]
fn linear_levels_keep_their_stride() {
    let input =
        LayoutInput { flags: TextureFlags::LINEAR, stride: 96, ..LayoutInput::new_2d(Format::RGBA8.info(), 20, 6) };
    let layout = Layout::new(&input).unwrap();
    let level = &layout.levels[0];
    let stored = noise(level.size as usize, 3);
    let region = Region { x: 3, y: 2, z: 0, width: 5, height: 3, depth: 1 };
    let pitch = Pitch::packed(level, &region);
    let mut rows = vec![0; 60];
    untile(&mut rows, pitch, &stored, level, GobOrder::TegraX1, region).unwrap();
    for y in 0..3 {
        assert_eq!(rows[y * 20..][..20], stored[(y + 2) * 96 + 12..][..20]);
    }
    let mut back = stored.clone();
    back[2 * 96 + 12] ^= 1;
    tile(&mut back, level, GobOrder::TegraX1, region, &rows, pitch).unwrap();
    assert!(back == stored);
}

/// B313's textures and regions: all memory is compared, padding and guard bytes too.
#[test]
fn b313_linear_rows_and_nothing_else_are_written() {
    for (flags, width, height, stride) in [(0x12, 37, 5, 256), (0x40, 16, 16, 128), (0x10, 37, 5, 0), (0x40, 9, 3, 0)] {
        let input = LayoutInput {
            flags: TextureFlags::from_bits_retain(flags),
            stride,
            ..LayoutInput::new_2d(Format::RGBA8.info(), width, height)
        };
        let layout = Layout::new(&input).unwrap();
        let level = &layout.levels[0];
        let whole = Region::whole(level);
        let regions = [
            whole,
            Region { x: 3, y: 1, width: width - 4, height: 2, ..whole },
            Region { x: width - 1, y: height - 1, width: 1, height: 1, ..whole },
            Region { x: 0, y: 1, width, height: 1, ..whole },
            Region { x: 2, y: 0, width: 1, height, ..whole },
        ];
        for (i, region) in regions.into_iter().enumerate() {
            // Guard bytes behind the storage; some sources are padded.
            let before = noise(layout.size as usize + 64, 40);
            let row = region.width as usize * 4 + i % 2 * 12;
            let pitch = Pitch { row, slice: row * region.height as usize };
            let rows = noise(pitch.slice, 41);
            let mut expected = before.clone();
            for y in 0..region.height as usize {
                let to = (region.y as usize + y) * layout.row_stride as usize + region.x as usize * 4;
                expected[to..to + region.width as usize * 4]
                    .copy_from_slice(&rows[y * row..][..region.width as usize * 4]);
            }
            let mut after = before.clone();
            tile(&mut after, level, GobOrder::TegraX1, region, &rows, pitch).unwrap();
            assert!(after == expected, "{flags:#x} {region:?}");
            let mut back = vec![0; rows.len()];
            untile(&mut back, pitch, &after, level, GobOrder::TegraX1, region).unwrap();
            for y in 0..region.height as usize {
                assert_eq!(back[y * row..][..region.width as usize * 4], rows[y * row..][..region.width as usize * 4]);
            }
        }
        let mut memory = noise(layout.size as usize, 42);
        let same = memory.clone();
        let beyond = Region { y: 1, ..whole };
        let rows = vec![0; level.packed_bytes() as usize];
        let pitch = Pitch::packed(level, &whole);
        assert!(tile(&mut memory, level, GobOrder::TegraX1, beyond, &rows, pitch).is_err());
        assert!(memory == same, "a region beyond the last row leaves memory untouched");
    }
}

/// The linear textures of B308's check have the pitch that a view of their memory needs.
#[test]
fn b308_pitches_of_linear_views() {
    let pitch = |format: Format, width, height, flags| {
        let input = LayoutInput { flags, ..LayoutInput::new_2d(format.info(), width, height) };
        let layout = Layout::new(&input).unwrap();
        (layout.row_stride, layout.size)
    };
    let image = TextureFlags::IMAGE | TextureFlags::LINEAR;
    assert_eq!(pitch(Format::R8, 2048, 8192, image), (2048, 2048 * 8192));
    assert_eq!(pitch(Format::RGBA16F, 64, 1, image), (512, 512));
}

/// Padded row and image strides: exactly the region of each layer is written, from exactly its rows.
#[test]
fn b433_strided_writes_touch_the_region_alone() {
    let input =
        LayoutInput { target: Target::D2Array, layers: 3, ..LayoutInput::new_2d(Format::RGBA16F.info(), 50, 41) };
    let layout = Layout::new(&input).unwrap();
    let level = &layout.levels[0];
    let region = Region { x: 7, y: 9, z: 0, width: 31, height: 20, depth: 1 };
    let (row_stride, image_stride) = (31 * 8 + 24, (31 * 8 + 24) * 23 + 8);
    let rows = noise(image_stride * 3, 50);
    let before = noise(layout.size as usize, 51);
    let mut after = before.clone();
    let mut expected = before;
    for layer in 0..3usize {
        let at = layout.offset(0, layer as u32).unwrap() as usize;
        let from = &rows[layer * image_stride..];
        let pitch = Pitch { row: row_stride, slice: image_stride };
        tile(&mut after[at..], level, GobOrder::TegraX1, region, from, pitch).unwrap();
        for y in 0..20usize {
            for x in 0..31 * 8usize {
                let to = address(level, false, (7 * 8 + x) as u64, 9 + y as u64, 0) as usize;
                expected[at + to] = from[y * row_stride + x];
            }
        }
    }
    assert!(after == expected);
}

#[test]
fn nothing_is_copied_out_of_bounds() {
    let layout = Layout::new(&LayoutInput::new_2d(Format::RGBA8.info(), 100, 50)).unwrap();
    let level = &layout.levels[0];
    let stored = vec![0u8; level.size as usize];
    let whole = Region::whole(level);
    let packed = Pitch::packed(level, &whole);
    let mut rows = vec![0u8; level.packed_bytes() as usize];
    let order = GobOrder::TegraX1;
    assert_eq!(untile(&mut rows, packed, &stored, level, order, whole), Ok(()));
    for region in [
        Region { x: 1, ..whole },
        Region { height: 51, ..whole },
        Region { z: 1, ..whole },
        Region { x: u32::MAX, width: 2, ..whole },
    ] {
        assert_eq!(untile(&mut rows, packed, &stored, level, order, region), Err(SwizzleError::Region(region)));
    }
    assert!(matches!(untile(&mut rows, packed, &stored[1..], level, order, whole), Err(SwizzleError::Level { .. })));
    assert!(matches!(untile(&mut rows[1..], packed, &stored, level, order, whole), Err(SwizzleError::Rows { .. })));
    let small = Pitch { row: 399, ..packed };
    assert!(matches!(untile(&mut rows, small, &stored, level, order, whole), Err(SwizzleError::Pitch { .. })));
    let huge = Pitch { row: usize::MAX, slice: usize::MAX };
    assert!(matches!(untile(&mut rows, huge, &stored, level, order, whole), Err(SwizzleError::Rows { .. })));
    // A description that contradicts itself is refused, whatever lengths are given.
    let wrong = |columns| LevelLayout {
        storage: Storage::BlockLinear { block_height_log2: 4, block_depth_log2: 0, gob_columns: columns },
        ..*level
    };
    for level in [wrong(1), wrong(u64::MAX)] {
        assert!(matches!(untile(&mut rows, packed, &stored, &level, order, whole), Err(SwizzleError::Level { .. })));
    }
    // An empty region is no error and copies nothing.
    let mut none = [];
    assert_eq!(untile(&mut none, packed, &[], level, order, Region { width: 0, ..whole }), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn b304_regions_against_the_address_formula(
        value in 1i32..=156,
        (width, height, depth) in (1u32..200, 1u32..150, 1u32..9),
        is_3d: bool,
        packaged in proptest::option::of(0u8..0x60),
        flags in prop_oneof![Just(0u32), Just(0x200), Just(0x20)],
        level in 0usize..3,
        corner in (0.0f64..1.0, 0.0f64..1.0, 0.0f64..1.0),
        size in (0.0f64..1.0, 0.0f64..1.0, 0.0f64..1.0),
        padding in 0usize..20,
        successor: bool,
    ) {
        let input = LayoutInput {
            target: if is_3d { Target::D3 } else { Target::D2 },
            depth: if is_3d { depth } else { 1 },
            levels: 3,
            flags: TextureFlags::from_bits_retain(flags),
            packaged: packaged
                .filter(|p| p & 0xF <= 5)
                .map(|p| PackagedLayout::from_bytes([p, 0, 0, 0, 0, 0, 0, 0])),
            ..LayoutInput::new_2d(Format::from_nvn(value).unwrap(), width, height)
        };
        let layout = Layout::new(&input).unwrap();
        let level = &layout.levels[level];
        let part = |limit: u32, at: f64, part: f64| {
            let from = ((f64::from(limit) * at) as u32).min(limit - 1);
            (from, 1 + (f64::from(limit - from - 1) * part) as u32)
        };
        let (x, w) = part(level.columns, corner.0, size.0);
        let (y, h) = part(level.rows, corner.1, size.1);
        let (z, d) = part(level.slices, corner.2, size.2);
        let order = if successor { GobOrder::Successor } else { GobOrder::TegraX1 };
        let region = Region { x, y, z, width: w, height: h, depth: d };
        check(level, order, region, padding);
        // B312: what a write of the region may touch, no more and no less than the GOBs that hold it.
        let bytes = u64::from(x * level.bytes_per_block)..u64::from((x + w) * level.bytes_per_block);
        let places = (z..z + d).flat_map(|z| {
            let bytes = bytes.clone();
            (y..y + h).flat_map(move |y| bytes.clone().map(move |x| address(level, successor, x, y.into(), z.into())))
        });
        let (first, last) = places.fold((u64::MAX, 0), |(first, last), at| (first.min(at), last.max(at)));
        prop_assert_eq!(touched(level, &region), first / 512 * 512..last / 512 * 512 + 512);
    }

    #[test]
    fn layouts_never_panic_and_levels_never_overlap(
        value in 0i32..=157,
        target in -1i32..=11,
        extents in (any::<u32>(), any::<u32>(), any::<u32>()),
        small: bool,
        layers: u32,
        levels in 0u32..20,
        samples in 0u32..10,
        flags: u32,
        stride: u64,
        bytes: Option<[u8; 8]>,
    ) {
        let (Some(format), Some(target)) = (Format::from_nvn(value), Target::from_nvn(target)) else { return Ok(()) };
        let mask = if small { 0xFFF } else { u32::MAX };
        let input = LayoutInput {
            target, format,
            width: extents.0 & mask, height: extents.1 & mask, depth: extents.2 & mask,
            layers: layers & mask, levels, samples,
            flags: TextureFlags::from_bits_retain(flags),
            stride,
            packaged: bytes.map(PackagedLayout::from_bytes),
        };
        let Ok(layout) = Layout::new(&input) else { return Ok(()) };
        let mut end = 0;
        for level in &layout.levels {
            prop_assert!(level.offset >= end);
            prop_assert!(level.size >= 1);
            end = level.offset + level.size;
        }
        prop_assert!(layout.layer_size >= end);
        prop_assert!(layout.size >= layout.layer_size * u64::from(layout.layers));
        prop_assert!(layout.size <= (1 << 40) + 0x1_0000);
    }
}
