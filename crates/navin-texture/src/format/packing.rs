//! Where the components of an uncompressed format's texel lie, and how texels are read and written.
//!
//! A texel is a little-endian number of up to 128 bits; a component is a run of its bits. So byte-order formats and
//! packed ones are one thing. The tests compare with the `channel_layout` column of `facts/nvn_formats.tsv`.

use super::number::{f32_to_small, linear_to_srgb, small_to_f32, srgb_to_linear, unit_to_u8};
use super::{Class, Format, FormatInfo};

/// How a component's bits are a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Whole number read as 0..1.
    Unorm,
    /// Whole number read as -1..1.
    Snorm,
    /// Unsigned whole number.
    Uint,
    /// Signed whole number.
    Sint,
    /// Float of 16 or 32 bits, or unsigned float of 11 or 10.
    Float,
    /// 8-bit unorm on the sRGB curve.
    Srgb,
}

/// A component's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Lowest bit.
    pub shift: u8,
    /// Bits.
    pub bits: u8,
    /// How they are a number.
    pub number: Number,
}

impl Field {
    fn read(self, texel: u128) -> f32 {
        let mask = (1u128 << self.bits) - 1;
        let raw = (texel >> self.shift & mask) as u32;
        let signed = || ((raw << (32 - self.bits)) as i32) >> (32 - self.bits);
        match self.number {
            Number::Unorm => (f64::from(raw) / f64::from(mask as u32)) as f32,
            Number::Snorm => ((f64::from(signed()) / f64::from(mask as u32 >> 1)) as f32).max(-1.0),
            Number::Uint => raw as f32,
            Number::Sint => signed() as f32,
            Number::Srgb => srgb_to_linear(raw as u8),
            Number::Float => match self.bits {
                32 => f32::from_bits(raw),
                16 => small_to_f32(raw, 10, true),
                bits => small_to_f32(raw, u32::from(bits) - 5, false),
            },
        }
    }

    fn write(self, value: f32) -> u128 {
        let mask = ((1u128 << self.bits) - 1) as u32;
        let raw = match self.number {
            Number::Unorm => (f64::from(value).clamp(0.0, 1.0) * f64::from(mask)).round() as u32,
            Number::Snorm => (f64::from(value).clamp(-1.0, 1.0) * f64::from(mask >> 1)).round() as i32 as u32,
            // `as` saturates.
            Number::Uint => (value.round() as u32).min(mask),
            Number::Sint => {
                let most = (mask >> 1) as i32;
                (value.round() as i32).clamp(-most - 1, most) as u32
            }
            Number::Srgb => linear_to_srgb(value).into(),
            Number::Float => match self.bits {
                32 => value.to_bits(),
                16 => f32_to_small(value, 10, true),
                bits => f32_to_small(value, u32::from(bits) - 5, false),
            },
        };
        u128::from(raw & mask) << self.shift
    }
}

/// An uncompressed texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// R, G, B and A where the format has them. Depth is R, stencil is G.
    pub fields: [Option<Field>; 4],
    /// `NVN_FORMAT_RGB9E5F`: three mantissas of nine bits share the exponent in the highest five.
    pub shared_exponent: bool,
}

impl Packing {
    /// R, G, B and A of a texel; what the format has not is 0, and 1 for alpha.
    pub fn read(&self, texel: u128) -> [f32; 4] {
        if self.shared_exponent {
            // Exponent bias 15, nine bits of mantissa without a hidden one.
            let scale = ((texel >> 27 & 31) as f32 - 24.0).exp2();
            return [0, 9, 18].map(|shift| (texel >> shift & 511) as f32 * scale).into_rgba();
        }
        let mut values = [0.0, 0.0, 0.0, 1.0];
        for (value, field) in values.iter_mut().zip(self.fields) {
            if let Some(field) = field {
                *value = field.read(texel);
            }
        }
        values
    }

    /// The texel nearest to R, G, B and A; bits that no component has are 0.
    pub fn write(&self, values: [f32; 4]) -> u128 {
        if self.shared_exponent {
            return share_exponent([values[0], values[1], values[2]]).into();
        }
        self.fields.iter().zip(values).filter_map(|(field, value)| Some(field.as_ref()?.write(value))).sum()
    }
}

trait IntoRgba {
    fn into_rgba(self) -> [f32; 4];
}

impl IntoRgba for [f32; 3] {
    fn into_rgba(self) -> [f32; 4] {
        [self[0], self[1], self[2], 1.0]
    }
}

/// The encoding that `EXT_texture_shared_exponent` and Vulkan prescribe.
fn share_exponent(rgb: [f32; 3]) -> u32 {
    const MOST: f32 = 511.0 / 512.0 * 65536.0;
    let clamped = rgb.map(|v| if v > 0.0 { v.min(MOST) } else { 0.0 });
    let largest = clamped.into_iter().fold(0.0, f32::max);
    let floor_log2 = if largest == 0.0 { -127 } else { (largest.to_bits() >> 23) as i32 - 127 };
    let mut exponent = floor_log2.max(-16) + 16;
    let scaled = |v: f32, exponent: i32| (v / ((exponent - 24) as f32).exp2() + 0.5).floor() as u32;
    if scaled(largest, exponent) == 512 {
        exponent += 1;
    }
    let [r, g, b] = clamped.map(|v| scaled(v, exponent));
    r | g << 9 | b << 18 | (exponent as u32) << 27
}

impl FormatInfo {
    /// Where the components lie; none for compressed formats.
    pub fn packing(&self) -> Option<Packing> {
        use Number::{Float, Srgb, Uint, Unorm};
        if self.is_compressed() || self.class == Class::None {
            return None;
        }
        let number = match self.class {
            Class::Unorm | Class::None => Unorm,
            Class::Snorm => Number::Snorm,
            Class::Uint | Class::Uscaled | Class::Stencil => Uint,
            Class::Sint | Class::Sscaled => Number::Sint,
            Class::Float | Class::Ufloat => Float,
            Class::Srgb => Srgb,
            Class::Depth | Class::DepthStencil => Unorm,
        };
        let field = |shift: u8, bits: u8, number: Number| Some(Field { shift, bits, number });
        let bits = |r: (u8, u8), g: (u8, u8), b: (u8, u8), a: Option<(u8, u8)>| {
            let of = |(shift, bits)| field(shift, bits, number);
            [of(r), of(g), of(b), a.and_then(of)]
        };
        let fields = match self.format {
            Format::RGBA4 => bits((0, 4), (4, 4), (8, 4), Some((12, 4))),
            Format::RGB5 => bits((0, 5), (5, 5), (10, 5), None),
            Format::RGB5A1 => bits((0, 5), (5, 5), (10, 5), Some((15, 1))),
            Format::RGB565 => bits((0, 5), (5, 6), (11, 5), None),
            Format::BGR565 => bits((11, 5), (5, 6), (0, 5), None),
            Format::BGR5 => bits((10, 5), (5, 5), (0, 5), None),
            Format::BGR5A1 => bits((10, 5), (5, 5), (0, 5), Some((15, 1))),
            Format::A1BGR5 => bits((11, 5), (6, 5), (1, 5), Some((0, 1))),
            Format::RGB10A2
            | Format::RGB10A2UI
            | Format::RGB10A2SN
            | Format::RGB10A2I
            | Format::RGB10A2_UI2F
            | Format::RGB10A2_I2F => bits((0, 10), (10, 10), (20, 10), Some((30, 2))),
            Format::R11G11B10F => bits((0, 11), (11, 11), (22, 10), None),
            Format::RGB9E5F => bits((0, 9), (9, 9), (18, 9), None),
            Format::BGRX8 | Format::BGRX8_SRGB => bits((16, 8), (8, 8), (0, 8), None),
            Format::BGRA8 | Format::BGRA8_SRGB => {
                let mut fields = bits((16, 8), (8, 8), (0, 8), None);
                fields[3] = field(24, 8, Unorm);
                fields
            }
            Format::STENCIL8 => [None, field(0, 8, Uint), None, None],
            Format::DEPTH16 => [field(0, 16, Unorm), None, None, None],
            Format::DEPTH24 => [field(8, 24, Unorm), None, None, None],
            Format::DEPTH32F => [field(0, 32, Float), None, None, None],
            Format::DEPTH24_STENCIL8 => [field(8, 24, Unorm), field(0, 8, Uint), None, None],
            Format::DEPTH32F_STENCIL8 => [field(0, 32, Float), field(32, 8, Uint), None, None],
            _ => {
                // Byte order: components of equal size, one after the other; the X of the X formats is the fourth.
                let slots = if self.alpha_one() { 4 } else { self.components };
                let size = (self.bytes_per_block * 8) as u8 / slots.max(1);
                let mut fields = [None; 4];
                for (i, place) in fields.iter_mut().enumerate().take(self.components.into()) {
                    // Alpha of sRGB formats is linear.
                    let number = if number == Srgb && i == 3 { Unorm } else { number };
                    *place = field(i as u8 * size, size, number);
                }
                fields
            }
        };
        Some(Packing { fields, shared_exponent: self.format == Format::RGB9E5F })
    }
}

/// A float component as 8 bits for a picture: clamped to 0..1.
pub(crate) fn component_to_u8(value: f32) -> u8 {
    unit_to_u8(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: &str = include_str!("../../../../facts/nvn_formats.tsv");

    /// The fields as the facts say them: `R8 G8 (byte order)`, `R bits 0-4, G 5-10, B 11-15`.
    fn described(layout: &str) -> Vec<(char, u8, u8)> {
        let mut fields = Vec::new();
        if let Some(order) = layout.strip_suffix(" (byte order)") {
            let mut shift = 0;
            for part in order.split(' ') {
                let bits: u8 = part[1..].parse().unwrap();
                fields.push((part.chars().next().unwrap(), shift, bits));
                shift += bits;
            }
            return fields;
        }
        let mut bit = |name: char, range: &str| {
            let (low, high) = range.split_once('-').unwrap_or((range, range));
            let low: u8 = low.parse().unwrap();
            fields.push((name, low, high.parse::<u8>().unwrap() - low + 1));
        };
        for part in layout.split(", ").filter(|part| !part.contains("unused")) {
            let words: Vec<&str> = part.split(' ').collect();
            bit(words[0].chars().next().unwrap(), words[words.len() - 1]);
        }
        fields
    }

    #[test]
    fn components_lie_where_the_facts_say() {
        let mut compared = 0;
        for line in FACTS.lines().skip(1) {
            let cell: Vec<&str> = line.split('\t').collect();
            let Some(info) = Format::from_nvn(cell[1].parse().unwrap()) else { continue };
            let Some(packing) = info.packing() else {
                assert!(cell[7].starts_with("block"), "{}", info.name);
                continue;
            };
            if matches!(info.class, Class::Depth | Class::DepthStencil | Class::Stencil) {
                continue; // Worded by hand in the facts; see the next test.
            }
            let mut expected = described(cell[7]);
            expected.retain(|(name, ..)| "RGBA".contains(*name));
            expected.sort_by_key(|(name, ..)| "RGBA".find(*name));
            let got: Vec<_> =
                "RGBA".chars().zip(packing.fields).filter_map(|(n, f)| Some((n, f?.shift, f?.bits))).collect();
            assert_eq!(got, expected, "{}", info.name);
            compared += 1;
        }
        assert!(compared > 90, "{compared}");
    }

    #[test]
    fn depth_and_stencil() {
        let read = |format: Format, texel| format.info().packing().unwrap().read(texel);
        assert_eq!(read(Format::DEPTH24_STENCIL8, 0xFFFF_FF07), [1.0, 7.0, 0.0, 1.0]);
        assert_eq!(read(Format::DEPTH24, 0x8000_00FF)[0], 0x80_0000 as f32 / 0xFF_FFFF as f32);
        let both = u128::from(0.25f32.to_bits()) | 9 << 32;
        assert_eq!(read(Format::DEPTH32F_STENCIL8, both), [0.25, 9.0, 0.0, 1.0]);
        assert_eq!(read(Format::STENCIL8, 200), [0.0, 200.0, 0.0, 1.0]);
    }

    #[test]
    fn texels_by_hand() {
        let read = |format: Format, texel| format.info().packing().unwrap().read(texel);
        assert_eq!(read(Format::RGB565, 0x001F), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(read(Format::BGR565, 0x001F), [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(read(Format::A1BGR5, 0x0001), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(read(Format::RGBX8, 0x00FF_FFFF), [1.0; 4]);
        assert_eq!(read(Format::RGBA8SN, 0x7F81_8000), [0.0, -1.0, -1.0, 1.0]);
        assert_eq!(read(Format::BGRA8, 0x8000_00FF), [0.0, 0.0, 1.0, 128.0 / 255.0]);
        assert_eq!(read(Format::RGB9E5F, 256 | 16 << 27), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(read(Format::R8_I2F, 0xFF), [-1.0, 0.0, 0.0, 1.0]);
        assert_eq!(read(Format::RG16UI, 0x0001_FFFF), [65535.0, 1.0, 0.0, 1.0]);
        assert_eq!(read(Format::RGBA8_SRGB, 0xFF00_00FF)[0], 1.0);
        let srgb = read(Format::RGBA8_SRGB, 0x80_00_00_80);
        assert!((srgb[0] - 0.2158).abs() < 1e-3 && srgb[3] == 128.0 / 255.0, "alpha is linear: {srgb:?}");
    }

    #[test]
    fn written_texels_are_the_ones_read() {
        for info in Format::all() {
            let Some(packing) = info.packing() else { continue };
            let bits = info.bytes_per_block * 8;
            let mut state = 0x9E37_79B9_7F4A_7C15_u64 ^ info.format.nvn() as u64;
            let mut next = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                u128::from(state)
            };
            for _ in 0..400 {
                let texel = (next() << 64 | next()) & (u128::MAX >> (128 - bits));
                let values = packing.read(texel);
                if values.iter().any(|v| v.is_nan()) {
                    continue;
                }
                let again = packing.read(packing.write(values));
                // Whole numbers of 32 bits do not fit a float; the float nearest to them does come back.
                assert_eq!(again, values, "{} {texel:#x}", info.name);
                let exact = packing.fields.iter().flatten().all(|f| f.bits < 25 && f.number != Number::Snorm);
                if exact && !packing.shared_exponent {
                    let used = packing.fields.iter().flatten().fold(0, |m, f| m | ((1u128 << f.bits) - 1) << f.shift);
                    assert_eq!(packing.write(values), texel & used, "{} {texel:#x}", info.name);
                }
            }
        }
    }
}
