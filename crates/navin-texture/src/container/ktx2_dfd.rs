//! The data format descriptor of KTX2: what a texel's bits mean, for readers that do not know the Vulkan format.

use super::bytes::Out;
use crate::format::{Class, Format, FormatInfo, Number};

const LINEAR: u8 = 0x10;
const SIGNED: u8 = 0x40;
const FLOAT: u8 = 0x80;
const ALPHA: u8 = 15;
const DEPTH: u8 = 14;
const STENCIL: u8 = 13;

/// A sample: first bit, bits, channel with qualifiers, the values of 0 (or -1) and 1.
type Sample = (u16, u8, u8, u32, u32);

/// The descriptor of a format.
pub(super) fn descriptor(info: &FormatInfo) -> Vec<u8> {
    let (model, samples) = samples(info);
    let srgb = info.class == Class::Srgb;
    let mut out = Out::default();
    let block = 24 + 16 * samples.len();
    out.u32(4 + block as u32).u32(0).u16(2).u16(block as u16);
    // Colour model, BT.709 primaries, transfer function, flags (alpha straight).
    out.u8(model).u8(1).u8(if srgb { 2 } else { 1 }).u8(0);
    out.u8(info.block_width as u8 - 1).u8(info.block_height as u8 - 1).u16(0);
    out.u8(info.bytes_per_block as u8).zeros(7);
    for (bit, bits, channel, lower, upper) in samples {
        out.u16(bit).u8(bits - 1).u8(channel).u32(0).u32(lower).u32(upper);
    }
    out.0
}

fn samples(info: &FormatInfo) -> (u8, Vec<Sample>) {
    // sRGB alpha is linear.
    let alpha = if info.class == Class::Srgb { ALPHA | LINEAR } else { ALPHA };
    let whole = |bit: u16, bits: u8, channel: u8| (bit, bits, channel, 0, u32::MAX);
    let signed = info.class == Class::Snorm;
    let block = |bit: u16, channel: u8| match signed {
        true => (bit, 64, channel | SIGNED, 0x8000_0000, 0x7FFF_FFFF),
        false => whole(bit, 64, channel),
    };
    match info.format {
        Format::RGB_DXT1 | Format::RGB_DXT1_SRGB => (128, vec![block(0, 0)]),
        Format::RGBA_DXT1 | Format::RGBA_DXT1_SRGB => (128, vec![block(0, 1)]),
        Format::RGBA_DXT3 | Format::RGBA_DXT3_SRGB => (129, vec![block(0, alpha), block(64, 0)]),
        Format::RGBA_DXT5 | Format::RGBA_DXT5_SRGB => (130, vec![block(0, alpha), block(64, 0)]),
        Format::RGTC1_UNORM | Format::RGTC1_SNORM => (131, vec![block(0, 0)]),
        Format::RGTC2_UNORM | Format::RGTC2_SNORM => (132, vec![block(0, 0), block(64, 1)]),
        Format::BPTC_UFLOAT => (133, vec![(0, 128, FLOAT, 0, 1f32.to_bits())]),
        Format::BPTC_SFLOAT => (133, vec![(0, 128, FLOAT | SIGNED, (-1f32).to_bits(), 1f32.to_bits())]),
        Format::BPTC_UNORM | Format::BPTC_UNORM_SRGB => (134, vec![whole(0, 128, 0)]),
        _ if info.is_astc() => (162, vec![whole(0, 128, 0)]),
        _ => (1, texel_samples(info)),
    }
}

fn texel_samples(info: &FormatInfo) -> Vec<Sample> {
    let Some(packing) = info.packing() else { return Vec::new() };
    let mut samples = Vec::new();
    if packing.shared_exponent {
        for channel in 0..3u8 {
            let bit = u16::from(channel) * 9;
            samples.push((bit, 9, channel, 0, 8448));
            samples.push((27, 5, channel | 0x20, 15, 31));
        }
        return samples;
    }
    for (channel, field) in packing.fields.into_iter().enumerate() {
        let Some(field) = field else { continue };
        let name = match (channel, info.class.has_depth(), info.class.has_stencil()) {
            (0, true, _) => DEPTH,
            (1, _, true) => STENCIL,
            (3, ..) => ALPHA,
            (n, ..) => n as u8,
        };
        let mask = ((1u64 << field.bits) - 1) as u32;
        let linear = if channel == 3 && info.class == Class::Srgb { LINEAR } else { 0 };
        let (qualifiers, lower, upper) = match field.number {
            Number::Unorm | Number::Srgb => (0, 0, mask),
            Number::Snorm => (SIGNED, (mask >> 1).wrapping_neg(), mask >> 1),
            Number::Uint => (0, 0, 1),
            Number::Sint => (SIGNED, u32::MAX, 1),
            Number::Float if field.bits >= 16 => (FLOAT | SIGNED, (-1f32).to_bits(), 1f32.to_bits()),
            Number::Float => (FLOAT, 0, 1f32.to_bits()),
        };
        samples.push((field.shift.into(), field.bits, name | linear | qualifiers, lower, upper));
    }
    samples.sort_by_key(|sample| sample.0);
    samples
}
