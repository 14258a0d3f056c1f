//! The CPU copies against an address formula written independently of them: one byte at a time, straight from the
//! description of GOBs and blocks (B304), for both generations' orders (B305).

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
    let (bh, bd) = (2u64.pow(block_height_log2.into()), 2u64.pow(block_depth_log2.into()));
    let gob_rows = u64::from(level.rows).div_ceil(8).div_ceil(bh) * bh;
    let blocks_across = gob_columns;
    let blocks_down = gob_rows / bh;
    let block = (z / bd) * blocks_down * blocks_across + (y / (8 * bh)) * blocks_across + x / 64;
    let gob = block * bh * bd + (z % bd) * bh + (y / 8) % bh;
    let weight = if successor { [256, 128, 64, 32, 16] } else { [256, 128, 32, 64, 16] };
    let bits = [(x / 32) % 2, (y / 4) % 2, (x / 16) % 2, (y / 2) % 2, y % 2];
    gob * 512 + bits.iter().zip(weight).map(|(bit, weight)| bit * weight).sum::<u64>() + x % 16
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
    untile(&mut got, pitch, &stored, level, order, region).unwrap();
    assert!(got == expected, "untile {level:?} {region:?}");
    let mut got_level = stored;
    tile(&mut got_level, level, order, region, &rows, pitch).unwrap();
    assert!(got_level == expected_level, "tile {level:?} {region:?}");
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
    let mut levels = 0;
    for format in formats {
        for (target, depth, layers) in [(Target::D2, 1, 1), (Target::D3, 9, 1), (Target::Cube, 1, 6)] {
            for (width, height) in [(1, 1), (37, 5), (70, 67), (64, 140)] {
                for (flags, packaged) in [
                    (TextureFlags::empty(), None),
                    (TextureFlags::MINIMAL_LAYOUT, None),
                    (TextureFlags::empty(), Some(PackagedLayout::from_bytes([0x12, 0, 0, 0, 0, 0, 0, 0]))),
                    (TextureFlags::SPARSE, None),
                ] {
                    let input = LayoutInput {
                        target,
                        depth,
                        layers,
                        levels: 4,
                        flags,
                        packaged,
                        ..LayoutInput::new_2d(format.info(), width, height)
                    };
                    let layout = Layout::new(&input).unwrap();
                    for level in &layout.levels {
                        levels += 1;
                        for order in [GobOrder::TegraX1, GobOrder::Successor] {
                            check(level, order, Region::whole(level), levels % 3 * 4);
                        }
                    }
                }
            }
        }
    }
    assert!(levels > 1_000, "{levels}");
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
        check(level, order, Region { x, y, z, width: w, height: h, depth: d }, padding);
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
