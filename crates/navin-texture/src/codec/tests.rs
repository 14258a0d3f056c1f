//! Blocks made by hand from the rules of the Khronos data format specification, and every format once.

use super::*;
use crate::format::{Class, f16_to_f32};

fn rgba8(format: Format, data: &[u8], width: u32, height: u32) -> Vec<[u8; 4]> {
    decode_rgba8(format.info(), data, width, height).unwrap().as_chunks::<4>().0.to_vec()
}

#[test]
fn every_format_decodes_to_all_three() {
    for info in Format::all() {
        // A size that no block divides.
        let (width, height) = (13, 11);
        let bytes = 13u32.div_ceil(info.block_width) * 11u32.div_ceil(info.block_height) * info.bytes_per_block;
        let data: Vec<u8> = (0..bytes).map(|i| (i * 37 + i / 7) as u8).collect();
        let [w, h] = [width, height];
        let eight = decode_rgba8(info, &data, w, h).unwrap();
        let float = decode_rgba32f(info, &data, w, h).unwrap();
        let half = decode_rgba16f(info, &data, w, h).unwrap();
        assert_eq!((eight.len(), float.len(), half.len()), (143 * 4, 143, 143), "{}", info.name);
        // The three agree, as far as each can.
        let whole =
            info.class.is_integer() || matches!(info.class, Class::Uscaled | Class::Sscaled | Class::DepthStencil);
        for (i, texel) in float.iter().enumerate() {
            for c in 0..4 {
                let (v, h) = (texel[c], f16_to_f32(half[i][c]));
                let near = (v - h).abs() <= v.abs() / 1000.0 + 1e-7 || v.abs() > 65000.0 || v.is_nan();
                assert!(near, "{}: {v} {h}", info.name);
                if !whole && info.class != Class::Srgb {
                    assert_eq!(eight[i * 4 + c], crate::format::component_to_u8(v), "{} texel {i}", info.name);
                }
            }
        }
        assert!(decode_rgba8(info, &data[1..], w, h).is_err());
        assert!(decode_rgba32f(info, &data, w + 12, h).is_err());
        assert_eq!(decode_rgba8(info, &[], 0, 0), Ok(vec![]));
    }
}

#[test]
fn uncompressed_formats_are_encoded_from_both() {
    for info in Format::all() {
        let texels = [[0.0, 0.25, 0.5, 1.0], [1.0, 0.0, 1.0, 0.0]];
        if info.is_compressed() {
            assert_eq!(encode_rgba32f(info, &texels, 2, 1), Err(CodecError::Encoder(info.name)));
            continue;
        }
        let data = encode_rgba32f(info, &texels, 2, 1).unwrap();
        let back = decode_rgba32f(info, &data, 2, 1).unwrap();
        assert_eq!(encode_rgba32f(info, &back, 2, 1).unwrap(), data, "{}", info.name);
        assert!(encode_rgba32f(info, &texels, 2, 2).is_err());

        let pixels: Vec<u8> = (0..=255).flat_map(|v| [v, 255 - v, v / 2, 255]).collect();
        let data = encode_rgba8(info, &pixels, 16, 16).unwrap();
        if info.bytes_per_block == 4
            && matches!(info.class, Class::Unorm | Class::Srgb)
            && info.format != Format::RGB10A2
        {
            let back = decode_rgba8(info, &data, 16, 16).unwrap();
            if info.components >= 3 {
                assert_eq!(back, pixels, "{}", info.name);
            }
        }
    }
}

/// BC1: colours of two 565 end points; c0 > c1 gives two more at thirds, otherwise one at the half and a transparent
/// black (opaque black in the RGB format).
#[test]
fn bc1_by_its_rules() {
    let block = |c0: u16, c1: u16, indices: u32| {
        let mut bytes = [0; 8];
        bytes[..2].copy_from_slice(&c0.to_le_bytes());
        bytes[2..4].copy_from_slice(&c1.to_le_bytes());
        bytes[4..].copy_from_slice(&indices.to_le_bytes());
        bytes
    };
    // Texels 0..3 of the first row take indices 0, 1, 2, 3.
    let four = rgba8(Format::RGBA_DXT1, &block(0xF800, 0x001F, 0b11_10_01_00), 4, 4);
    assert_eq!(four[..4], [[255, 0, 0, 255], [0, 0, 255, 255], [170, 0, 85, 255], [85, 0, 170, 255]]);
    let three = block(0x001F, 0xF800, 0b11_10_01_00);
    let half = rgba8(Format::RGBA_DXT1, &three, 4, 4);
    assert_eq!(half[3], [0, 0, 0, 0]);
    assert!(half[2][0].abs_diff(127) <= 1 && half[2][2].abs_diff(127) <= 1, "{:?}", half[2]);
    assert_eq!(rgba8(Format::RGB_DXT1, &three, 4, 4)[3], [0, 0, 0, 255]);
}

/// BC2 has four bits of alpha a texel; BC3 and BC4 interpolate eight values, or six and the two ends of the range.
#[test]
fn bc2_bc3_and_alpha_blocks() {
    let mut bc2 = [0u8; 16];
    bc2[0] = 0xF0;
    bc2[8..12].copy_from_slice(&[0xFF, 0xFF, 0, 0]);
    let texels = rgba8(Format::RGBA_DXT3, &bc2, 4, 4);
    assert_eq!((texels[0], texels[1], texels[2]), ([255, 255, 255, 0], [255; 4], [255, 255, 255, 0]));

    // Eight values: 255 and 0 and sixths... sevenths between; index 2 is (6 a + b) / 7.
    let mut bc3 = [0u8; 16];
    bc3[..3].copy_from_slice(&[255, 0, 0b10_001_000]);
    let alpha: Vec<u8> = rgba8(Format::RGBA_DXT5, &bc3, 4, 4).iter().map(|t| t[3]).collect();
    assert_eq!((alpha[0], alpha[1]), (255, 0));
    assert!(alpha[2].abs_diff(219) <= 1, "{}", alpha[2]);

    // BC4 with end points in rising order: index 6 is 0, index 7 is 1.
    let bc4 = [100, 200, 0b10_111_110, 0, 0, 0, 0, 0];
    let red = decode_rgba32f(Format::RGTC1_UNORM.info(), &bc4, 4, 4).unwrap();
    assert_eq!((red[0][0], red[1][0]), (0.0, 1.0));
    assert!((red[2][0] - (4.0 * 100.0 + 200.0) / 5.0 / 255.0).abs() < 0.003, "{}", red[2][0]);
    // Signed: -127 and 127 are the ends; -128 counts as -127.
    let signed = [0x80, 0x7F, 0b00_001_000, 0, 0, 0, 0, 0];
    let red = decode_rgba32f(Format::RGTC1_SNORM.info(), &signed, 4, 4).unwrap();
    assert_eq!((red[0][0], red[1][0]), (-1.0, 1.0));

    let mut bc5 = [0u8; 16];
    bc5[0] = 255;
    bc5[8] = 51;
    let rg = decode_rgba32f(Format::RGTC2_UNORM.info(), &bc5, 4, 4).unwrap();
    assert!((rg[0][0] - 1.0).abs() < 1e-6 && (rg[0][1] - 0.2).abs() < 1e-6 && rg[0][2] == 0.0, "{:?}", rg[0]);
}

/// BC7 mode 6: one subset, 7-bit end points with a p-bit each, 4-bit indices.
#[test]
fn bc7_mode_6_by_its_rules() {
    let mut bits = 1u128 << 6;
    // R0 R1 G0 G1 B0 B1 A0 A1 of seven bits from bit 7: the first end point all ones, the second all zeros.
    for i in [0, 2, 4, 6] {
        bits |= 127 << (7 + 7 * i);
    }
    bits |= 1 << 63; // p-bit of the first end point; the second's is 0.
    // Texel 0 has an index of 3 bits, all others 4: texel 0 takes index 0, texel 1 index 15.
    bits |= 15 << 68;
    let texels = rgba8(Format::BPTC_UNORM, &bits.to_le_bytes(), 4, 4);
    assert_eq!((texels[0], texels[1]), ([255; 4], [0; 4]));
    // A block of zeros has no mode: transparent black.
    assert_eq!(rgba8(Format::BPTC_UNORM, &[0; 16], 4, 4)[5], [0; 4]);
}

/// BC6H mode 11 (two end points of 10 bits without deltas, 4-bit indices).
#[test]
fn bc6h_without_deltas_by_its_rules() {
    // Mode bits 00011; r0 g0 b0 r1 g1 b1 of ten bits each from bit 5. All ones unquantise to 0xFFFF; times 31 / 64.
    let mut bits = 0b00011u128;
    for i in 0..3 {
        bits |= 1023 << (5 + 10 * i);
    }
    let texels = decode_rgba32f(Format::BPTC_UFLOAT.info(), &bits.to_le_bytes(), 4, 4).unwrap();
    assert_eq!(texels[0], [f16_to_f32(0x7BFF), f16_to_f32(0x7BFF), f16_to_f32(0x7BFF), 1.0]);
    // A reserved mode is opaque black.
    let reserved = decode_rgba32f(Format::BPTC_UFLOAT.info(), &0b10011u128.to_le_bytes(), 4, 4).unwrap();
    assert_eq!(reserved[0], [0.0, 0.0, 0.0, 1.0]);
}

/// ASTC: void-extent blocks hold one colour of 16 bits a component; illegal and HDR blocks are the error colour.
#[test]
fn astc_by_its_rules() {
    let void = |hdr: bool, colour: [u16; 4]| {
        // Bits 0-8 are 111111100, bit 9 says HDR, 10-11 are ones; coordinates of all ones mean none.
        let mut bits = 0x1FCu128 | (u128::from(hdr) << 9) | 0b11 << 10 | (((1u128 << 52) - 1) << 12);
        for (i, c) in colour.into_iter().enumerate() {
            bits |= u128::from(c) << (64 + 16 * i);
        }
        bits.to_le_bytes()
    };
    let error = [255, 0, 255, 255];
    for info in Format::all().filter(|info| info.is_astc()) {
        let (w, h) = (info.block_width, info.block_height);
        let texels = rgba8(info.format, &void(false, [0xFFFF, 0x8080, 0, 0x4040]), w, h);
        assert_eq!(texels.len(), (w * h) as usize);
        assert!(texels.iter().all(|t| *t == [255, 128, 0, 64]), "{}: {:?}", info.name, texels[0]);
        assert!(rgba8(info.format, &void(true, [0x3C00; 4]), w, h).iter().all(|t| *t == error), "{}", info.name);
        assert!(rgba8(info.format, &[0; 16], w, h).iter().all(|t| *t == error), "{}", info.name);
    }
}

/// A 4x4 ASTC block with a weight of two bits for each texel and luminance end points 0 and 255.
#[test]
fn astc_weights_run_between_the_end_points() {
    // Block mode: bits 1-0 = 10 and bit 4 = 0 give R = 100 (weights 0..3), bits 3-2 = 0 a grid of B + 4 by A + 2 with
    // A = 2 in bits 6-5 and B = 0 in bits 8-7.
    let mut bits = 0x42u128;
    // One partition (bits 11-12 = 0), end point mode 0 (luminance, direct) at 13-16, then two values of 8 bits.
    bits |= 0xFF << 25;
    // Weights come from the top, mirrored: texel i has bits 127 - 2 i (its low one) and 126 - 2 i.
    bits |= 0b11 << 126 | 0b11 << 116 | 1 << 125;
    let texels = rgba8(Format::RGBA_ASTC_4X4, &bits.to_le_bytes(), 4, 4);
    for (i, texel) in texels.iter().enumerate() {
        // Weight 1 of 3 is 21 of 64.
        let expected = [(0, 255), (5, 255), (1, 84)].iter().find(|(at, _)| *at == i).map_or(0, |(_, v)| *v);
        assert_eq!(*texel, [expected, expected, expected, 255], "texel {i}");
    }
    // 16 weights of one bit are fewer than 24 bits, which is illegal.
    let illegal = bits & !0x3 | 0x1;
    assert_eq!(rgba8(Format::RGBA_ASTC_4X4, &illegal.to_le_bytes(), 4, 4)[0], [255, 0, 255, 255]);
}

/// Decoders are given whatever files hold.
#[test]
fn noise_never_panics() {
    let mut state = 1u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for info in Format::all().filter(|info| info.is_compressed()) {
        for round in 0..600u64 {
            let mut block = [0u8; 16];
            block[..8].copy_from_slice(&next().to_le_bytes());
            block[8..].copy_from_slice(&next().to_le_bytes());
            // Every block mode of ASTC with every partition count.
            block[0] = round as u8;
            block[1] = (block[1] & 0xE0) | (round >> 3 & 0x1F) as u8;
            let bytes = info.bytes_per_block as usize;
            decode_rgba32f(info, &block[..bytes], info.block_width, info.block_height).unwrap();
        }
    }
}

#[test]
fn names_and_pairs() {
    for info in Format::all() {
        assert_eq!(Format::from_name(info.name), Some(info));
        assert_eq!(Format::from_name(&info.short_name().to_lowercase()), Some(info));
        if let Some(pair) = info.srgb_pair() {
            assert_eq!(pair.srgb_pair(), Some(info));
            assert_eq!(pair.bytes_per_block, info.bytes_per_block);
        }
        assert_eq!(info.class == Class::Srgb, info.name.ends_with("_SRGB"), "{}", info.name);
    }
    let name = |n: &str| Format::from_name(n).map(|info| info.format);
    assert_eq!(name("bc7"), Some(Format::BPTC_UNORM));
    assert_eq!(name("BC7_SRGB"), Some(Format::BPTC_UNORM_SRGB));
    assert_eq!(name("bc5-snorm"), Some(Format::RGTC2_SNORM));
    assert_eq!(name("ASTC_6x6"), Some(Format::RGBA_ASTC_6X6));
    assert_eq!(name("ASTC_6x6_SRGB"), Some(Format::RGBA_ASTC_6X6_SRGB));
    assert_eq!((name("bc9"), name("")), (None, None));
}
