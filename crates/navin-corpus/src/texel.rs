//! Image formats of the corpus's declarations: Vulkan format, channels, benign contents.

use ash::vk;

use crate::fill::{hash, unit};

/// How a channel's bits are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Unsigned whole number.
    Uint,
    /// Signed whole number.
    Sint,
    /// Unsigned, 0..1.
    Unorm,
    /// Signed, -1..1.
    Snorm,
    /// Float: 32, 16, or 11 and 10 bits without sign.
    Float,
}

/// One format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texel {
    /// Vulkan format of the typed view.
    pub format: vk::Format,
    /// Unsigned integer format of the same texel size.
    pub raw: vk::Format,
    /// Bytes.
    pub bytes: u32,
    /// Bits of each channel from the lowest.
    pub bits: &'static [u32],
    /// Kind of the channels.
    pub channel: Channel,
}

macro_rules! formats {
    ($($name:literal $format:ident $channel:ident $bits:expr;)*) => {
        const FORMATS: &[(&str, vk::Format, Channel, &[u32])] =
            &[$(($name, vk::Format::$format, Channel::$channel, &$bits)),*];
    };
}

formats! {
    "r8" R8_UNORM Unorm [8];
    "rg8" R8G8_UNORM Unorm [8; 2];
    "rgba8" R8G8B8A8_UNORM Unorm [8; 4];
    "r8_snorm" R8_SNORM Snorm [8];
    "rg8_snorm" R8G8_SNORM Snorm [8; 2];
    "rgba8_snorm" R8G8B8A8_SNORM Snorm [8; 4];
    "r16" R16_UNORM Unorm [16];
    "rg16" R16G16_UNORM Unorm [16; 2];
    "rgba16" R16G16B16A16_UNORM Unorm [16; 4];
    "r16_snorm" R16_SNORM Snorm [16];
    "rgba16_snorm" R16G16B16A16_SNORM Snorm [16; 4];
    "r16f" R16_SFLOAT Float [16];
    "rg16f" R16G16_SFLOAT Float [16; 2];
    "rgba16f" R16G16B16A16_SFLOAT Float [16; 4];
    "r32f" R32_SFLOAT Float [32];
    "rg32f" R32G32_SFLOAT Float [32; 2];
    "rgba32f" R32G32B32A32_SFLOAT Float [32; 4];
    "r11f_g11f_b10f" B10G11R11_UFLOAT_PACK32 Float [11, 11, 10];
    "rgb10_a2" A2B10G10R10_UNORM_PACK32 Unorm [10, 10, 10, 2];
    "rgb10_a2ui" A2B10G10R10_UINT_PACK32 Uint [10, 10, 10, 2];
    "r8i" R8_SINT Sint [8];
    "rgba8i" R8G8B8A8_SINT Sint [8; 4];
    "rgba16i" R16G16B16A16_SINT Sint [16; 4];
    "r32i" R32_SINT Sint [32];
    "rgba8ui" R8G8B8A8_UINT Uint [8; 4];
    "rg16ui" R16G16_UINT Uint [16; 2];
    "r32ui" R32_UINT Uint [32];
    "rgba32ui" R32G32B32A32_UINT Uint [32; 4];
}

impl Texel {
    /// The format that GLSL calls `name`.
    pub fn named(name: &str) -> Option<Self> {
        let (_, format, channel, bits) = *FORMATS.iter().find(|f| f.0 == name)?;
        let bytes = bits.iter().sum::<u32>() / 8;
        let raw = match bytes {
            1 => vk::Format::R8_UINT,
            2 => vk::Format::R16_UINT,
            4 => vk::Format::R32_UINT,
            8 => vk::Format::R32G32_UINT,
            _ => vk::Format::R32G32B32A32_UINT,
        };
        Some(Self { format, raw, bytes, bits, channel })
    }

    /// Bytes of `count` texels whose values are finite and ordinary in this format: loads of them give no NaN and no
    /// most negative snorm code, about which the two forms may disagree.
    pub fn contents(&self, count: u32, seed: u32) -> Vec<u8> {
        let mut bytes = Vec::with_capacity((count * self.bytes) as usize);
        for texel in 0..count {
            let mut value = 0u128;
            let mut shift = 0;
            for (channel, bits) in self.bits.iter().enumerate() {
                let i = seed.wrapping_add(texel * 4 + channel as u32);
                let h = hash(i);
                let code = match (self.channel, bits) {
                    (Channel::Float, 32) => (16.0 * unit(i) - 8.0).to_bits(),
                    // Sign at random, exponents from 8 to 15: 2^-7 up to 1.
                    (Channel::Float, 16) => h & 0xA3FF | 0x2000 | (h >> 3 & 0x1C00),
                    // No sign: exponent in the five highest bits, likewise.
                    (Channel::Float, 11) => h & 0x1FF | 0x200,
                    (Channel::Float, _) => h & 0xFF | 0x100,
                    (Channel::Snorm, bits) if h & mask(*bits) == 1 << (bits - 1) => 1,
                    _ => h,
                };
                value |= u128::from(code & mask(*bits)) << shift;
                shift += bits;
            }
            bytes.extend_from_slice(&value.to_le_bytes()[..self.bytes as usize]);
        }
        bytes
    }

    /// Channel codes of one texel.
    pub fn codes(&self, texel: &[u8]) -> [u32; 4] {
        let mut le = [0; 16];
        le[..texel.len().min(16)].copy_from_slice(&texel[..texel.len().min(16)]);
        let value = u128::from_le_bytes(le);
        let mut codes = [0; 4];
        let mut shift = 0;
        for (code, bits) in codes.iter_mut().zip(self.bits) {
            *code = (value >> shift) as u32 & mask(*bits);
            shift += bits;
        }
        codes
    }

    /// The number that channel code `code` of channel `channel` stands for.
    pub fn value(&self, channel: usize, code: u32) -> f64 {
        let bits = self.bits.get(channel).copied().unwrap_or(32);
        let signed = f64::from((code << (32 - bits)) as i32 >> (32 - bits));
        match self.channel {
            Channel::Uint => f64::from(code),
            Channel::Sint => signed,
            Channel::Unorm => f64::from(code) / f64::from(mask(bits)),
            Channel::Snorm => (signed / f64::from(mask(bits - 1))).max(-1.0),
            Channel::Float => match bits {
                32 => f64::from(f32::from_bits(code)),
                16 => small_float(code & 0x7FFF, 10) * if code & 0x8000 == 0 { 1.0 } else { -1.0 },
                11 => small_float(code, 6),
                _ => small_float(code, 5),
            },
        }
    }
}

fn mask(bits: u32) -> u32 {
    u32::MAX >> (32 - bits)
}

/// A float of five exponent bits above `mantissa` bits.
pub fn small_float(code: u32, mantissa: u32) -> f64 {
    let exponent = code >> mantissa;
    let fraction = f64::from(code & ((1 << mantissa) - 1)) / f64::from(1 << mantissa);
    match exponent {
        0 => fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1.0 + fraction) * 2f64.powi(e as i32 - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_ordinary() {
        for (name, ..) in FORMATS {
            let texel = Texel::named(name).unwrap();
            let bytes = texel.contents(500, 3);
            assert_eq!(bytes.len() as u32, 500 * texel.bytes);
            for t in bytes.chunks_exact(texel.bytes as usize) {
                for (channel, code) in texel.codes(t).into_iter().enumerate().take(texel.bits.len()) {
                    let value = texel.value(channel, code);
                    assert!(value.is_finite(), "{name}: {code:#x}");
                    if texel.channel == Channel::Float && texel.bits[0] < 32 {
                        assert!((2f64.powi(-8)..=2.0).contains(&value.abs()), "{name}: {value}");
                    }
                }
            }
        }
    }

    #[test]
    fn values_by_hand() {
        let half = Texel::named("r16f").unwrap();
        assert_eq!((half.value(0, 0x3C00), half.value(0, 0xC000)), (1.0, -2.0));
        let packed = Texel::named("r11f_g11f_b10f").unwrap();
        assert_eq!((packed.value(0, 15 << 6), packed.value(2, 16 << 5)), (1.0, 2.0));
        let snorm = Texel::named("r8_snorm").unwrap();
        assert_eq!((snorm.value(0, 0x81), snorm.value(0, 0x80), snorm.value(0, 0x7F)), (-1.0, -1.0, 1.0));
    }
}
