//! Numbers as texels hold them: small floats, normalised integers, the sRGB curve.

/// A float of `exponent` = 5 bits with `mantissa` bits and, for 16 bits, a sign: half floats and the 11- and 10-bit
/// floats of `NVN_FORMAT_R11G11B10F`.
pub(super) fn small_to_f32(bits: u32, mantissa: u32, signed: bool) -> f32 {
    let fraction = bits & ((1 << mantissa) - 1);
    let exponent = bits >> mantissa & 31;
    let sign = if signed { (bits >> (mantissa + 5) & 1) << 31 } else { 0 };
    let magnitude = match exponent {
        0 => (fraction as f32 * (-14f32 - mantissa as f32).exp2()).to_bits(),
        31 => 0x7F80_0000 | fraction << (23 - mantissa),
        _ => (exponent + 127 - 15) << 23 | fraction << (23 - mantissa),
    };
    f32::from_bits(sign | magnitude)
}

/// The nearest small float (ties to even). Unsigned kinds clamp negative numbers to 0; what is too large becomes
/// infinity for half floats and, as the hardware's conversion rules for unsigned floats say, the largest number for
/// finite values of the others.
pub(super) fn f32_to_small(value: f32, mantissa: u32, signed: bool) -> u32 {
    let sign = if signed { (value.to_bits() >> 31) << (mantissa + 5) } else { 0 };
    let infinity = 31 << mantissa;
    if value.is_nan() {
        return sign | infinity | 1 << (mantissa - 1);
    }
    if !signed && value <= 0.0 {
        return 0;
    }
    let magnitude = value.abs();
    if magnitude.is_infinite() {
        return sign | infinity;
    }
    let rounded = if magnitude < (-14f32).exp2() {
        // Multiples of the smallest subnormal; the product with a power of two is exact.
        let n = magnitude * (14f32 + mantissa as f32).exp2();
        n.round_ties_even() as u32
    } else {
        let bits = magnitude.to_bits() - ((127 - 15) << 23);
        let drop = 23 - mantissa;
        let half = (1 << (drop - 1)) - 1 + (bits >> drop & 1);
        (bits + half) >> drop
    };
    if rounded >= infinity { sign | if signed { infinity } else { infinity - 1 } } else { sign | rounded }
}

/// Half float to single.
pub fn f16_to_f32(bits: u16) -> f32 {
    small_to_f32(bits.into(), 10, true)
}

/// Single to the nearest half float.
pub fn f32_to_f16(value: f32) -> u16 {
    f32_to_small(value, 10, true) as u16
}

/// An 8-bit sRGB value as a linear one.
pub fn srgb_to_linear(value: u8) -> f32 {
    let v = f32::from(value) / 255.0;
    if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
}

/// A linear value as the nearest 8-bit sRGB one.
pub fn linear_to_srgb(value: f32) -> u8 {
    let v = value.clamp(0.0, 1.0);
    let curve = if v <= 0.003_130_8 { v * 12.92 } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
    unit_to_u8(curve)
}

/// 0 to 1 as 0 to 255, rounded to the nearest; NaN is 0.
pub fn unit_to_u8(value: f32) -> u8 {
    // `as` saturates and makes NaN 0.
    (value * 255.0 + 0.5) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_floats_come_back() {
        for (mantissa, signed) in [(10, true), (6, false), (5, false)] {
            let count = 1u32 << (mantissa + 5 + u32::from(signed));
            for bits in 0..count {
                let value = small_to_f32(bits, mantissa, signed);
                let back = f32_to_small(value, mantissa, signed);
                if value.is_nan() {
                    assert!(small_to_f32(back, mantissa, signed).is_nan());
                } else {
                    assert_eq!(back, bits, "{value} with {mantissa} bits");
                }
            }
        }
        // Known values.
        assert_eq!(f16_to_f32(0x3C00), 1.0);
        assert_eq!(f16_to_f32(0xC000), -2.0);
        assert_eq!(f16_to_f32(0x7BFF), 65504.0);
        assert_eq!(f16_to_f32(0x0001), 5.960_464_5e-8);
        assert_eq!(small_to_f32(0x3C0, 6, false), 1.0);
        assert_eq!(small_to_f32(0x1E0, 5, false), 1.0);
    }

    #[test]
    fn small_floats_round_to_the_nearest_even() {
        assert_eq!(f32_to_f16(1.0 + 0.5 / 1024.0), 0x3C00, "a tie goes to the even mantissa");
        assert_eq!(f32_to_f16(1.0 + 1.5 / 1024.0), 0x3C02);
        assert_eq!(f32_to_f16(65519.0), 0x7BFF);
        assert_eq!(f32_to_f16(65520.0), 0x7C00);
        assert_eq!(f32_to_f16(-1e9), 0xFC00);
        assert_eq!(f32_to_f16(2.98e-8), 0, "half of the smallest subnormal, a tie at most");
        assert_eq!(f32_to_small(-1.0, 6, false), 0);
        assert_eq!(f32_to_small(1e9, 6, false), (31 << 6) - 1);
        assert_eq!(f32_to_small(f32::INFINITY, 6, false), 31 << 6);
    }

    #[test]
    fn srgb_comes_back() {
        for value in 0..=255u8 {
            assert_eq!(linear_to_srgb(srgb_to_linear(value)), value);
        }
        assert!((srgb_to_linear(188) - 0.5).abs() < 0.01);
    }
}
