//! Compressed blocks, one at a time: BC by `bcdec_rs`, ASTC by [`super::astc`].
//!
//! The crate is handed exactly the bytes of one block and an array for its texels; it can neither read past the one nor
//! write past the other.
//!
//! ASTC to 8 bits: of sRGB formats the stored byte, of linear ones the texel's 16 bits rounded to the nearest. Their
//! floats are the 16 bits.

use super::astc;
use crate::format::{Class, Format, FormatInfo};

/// Most texels of a block: 12 x 12.
pub const MOST_TEXELS: usize = 144;

/// BC7. Mode 6 (one subset, end points of 7 bits and one, 4-bit indices), the one that encoders choose most, is a
/// palette of 16 colours made at once; the others go to the crate, which reads all modes bit by bit.
fn bc7(block: &[u8], rows: &mut [u8], pitch: usize) {
    /// How far from the first end point to the second, in 64ths.
    const WEIGHTS: [u32; 16] = [0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64];
    let Some(bytes) = block.first_chunk::<16>().filter(|b| b[0] & 0x7F == 0x40) else {
        return bcdec_rs::bc7(block, rows, pitch);
    };
    let bits = u128::from_le_bytes(*bytes);
    let end = |channel: u32, which: u32| {
        let seven = (bits >> (7 + 14 * channel + 7 * which)) as u32 & 127;
        seven << 1 | (bits >> (63 + which)) as u32 & 1
    };
    let ends: [[u32; 2]; 4] = std::array::from_fn(|c| [end(c as u32, 0), end(c as u32, 1)]);
    let palette = WEIGHTS.map(|w| ends.map(|[a, b]| ((a * (64 - w) + b * w + 32) >> 6) as u8));
    // The first index lacks its highest bit, which is 0: with it, sixteen of four bits.
    let indices = (bits >> 65) as u64;
    let indices = indices & 7 | (indices >> 3) << 4;
    for y in 0..4 {
        for x in 0..4 {
            let texel = palette[(indices >> (16 * y + 4 * x)) as usize & 15];
            rows[y * pitch + 4 * x..][..4].copy_from_slice(&texel);
        }
    }
}

/// Decodes a block into rows of RGBA8 at a pitch.
type Decode = fn(&[u8], &mut [u8], usize);

/// Which decoder a format takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// BC1; whether the fourth colour can be transparent.
    Bc1(bool),
    Bc2,
    Bc3,
    /// BC4; whether signed.
    Bc4(bool),
    Bc5(bool),
    Bc6h(bool),
    Bc7,
    /// ASTC; whether sRGB.
    Astc(bool),
}

fn kind(info: &FormatInfo) -> Option<Kind> {
    let signed = info.class == Class::Snorm || info.class == Class::Float;
    Some(match info.format {
        Format::RGB_DXT1 | Format::RGB_DXT1_SRGB => Kind::Bc1(false),
        Format::RGBA_DXT1 | Format::RGBA_DXT1_SRGB => Kind::Bc1(true),
        Format::RGBA_DXT3 | Format::RGBA_DXT3_SRGB => Kind::Bc2,
        Format::RGBA_DXT5 | Format::RGBA_DXT5_SRGB => Kind::Bc3,
        Format::RGTC1_UNORM | Format::RGTC1_SNORM => Kind::Bc4(signed),
        Format::RGTC2_UNORM | Format::RGTC2_SNORM => Kind::Bc5(signed),
        Format::BPTC_SFLOAT | Format::BPTC_UFLOAT => Kind::Bc6h(signed),
        Format::BPTC_UNORM | Format::BPTC_UNORM_SRGB => Kind::Bc7,
        _ if info.is_astc() => Kind::Astc(info.class == Class::Srgb),
        _ => return None,
    })
}

/// Decoder of a compressed format's blocks.
#[derive(Clone, Copy)]
pub struct BlockDecoder {
    kind: Kind,
    width: u32,
    height: u32,
}

impl BlockDecoder {
    /// None for formats that are not compressed.
    pub fn new(info: &FormatInfo) -> Option<Self> {
        Some(Self { kind: kind(info)?, width: info.block_width, height: info.block_height })
    }

    /// Whether blocks hold 8 bits a component, so that [`BlockDecoder::rgba8`] is all there is to know.
    pub const fn is_rgba8(self) -> bool {
        matches!(self.kind, Kind::Bc1(_) | Kind::Bc2 | Kind::Bc3 | Kind::Bc7 | Kind::Astc(true))
    }

    /// Whether blocks have an [`BlockDecoder::rgba8`]; linear ASTC has one beside its [`BlockDecoder::float`].
    pub const fn has_rgba8(self) -> bool {
        self.is_rgba8() || matches!(self.kind, Kind::Astc(_))
    }

    /// Decodes one block into 8 bits a component; only where [`BlockDecoder::has_rgba8`]. `block` shorter than the
    /// format's block leaves `out` as it is.
    pub fn rgba8(self, block: &[u8], out: &mut [[u8; 4]; MOST_TEXELS]) {
        let Kind::Astc(srgb) = self.kind else {
            self.bc_rows(block, out[..16].as_flattened_mut(), 16);
            return;
        };
        let Some(block) = block.first_chunk::<16>() else { return };
        let texels = (self.width * self.height) as usize;
        let mut wide = [[0; 4]; MOST_TEXELS];
        // An illegal block is the error colour, which is written like any other.
        let _legal = astc::decode(*block, self.width, self.height, srgb, &mut wide);
        for (to, from) in out.iter_mut().zip(wide).take(texels) {
            *to = match srgb {
                true => from.map(|c| (c >> 8) as u8),
                false => from.map(|c| ((u32::from(c) * 255 + 32767) / 65535) as u8),
            };
        }
    }

    /// Decodes one BC block straight into rows of RGBA8, `pitch` bytes apart; false, with nothing written, for other
    /// formats and where the block or the rows are too short.
    pub fn bc_rows(self, block: &[u8], rows: &mut [u8], pitch: usize) -> bool {
        let (decode, bytes): (Decode, usize) = match self.kind {
            Kind::Bc1(_) => (bcdec_rs::bc1, 8),
            Kind::Bc2 => (bcdec_rs::bc2, 16),
            Kind::Bc3 => (bcdec_rs::bc3, 16),
            Kind::Bc7 => (bc7, 16),
            _ => return false,
        };
        if block.len() < bytes || pitch < 16 || rows.len() < 3 * pitch + 16 {
            return false;
        }
        decode(block, rows, pitch);
        if self.kind == Kind::Bc1(false) {
            for row in rows.chunks_mut(pitch).take(4) {
                row[..16].as_chunks_mut::<4>().0.iter_mut().for_each(|texel| texel[3] = 255);
            }
        }
        true
    }

    /// Decodes one block into linear floats; only where not [`BlockDecoder::is_rgba8`].
    pub fn float(self, block: &[u8], out: &mut [[f32; 4]; MOST_TEXELS]) {
        match self.kind {
            Kind::Bc4(signed) if block.len() >= 8 => {
                let mut red = [0.0; 16];
                bcdec_rs::bc4_float(block, &mut red, 4, signed);
                for (texel, r) in out.iter_mut().zip(red) {
                    *texel = [r, 0.0, 0.0, 1.0];
                }
            }
            Kind::Bc5(signed) if block.len() >= 16 => {
                let mut both = [0.0; 32];
                bcdec_rs::bc5_float(block, &mut both, 8, signed);
                for (texel, rg) in out.iter_mut().zip(both.chunks_exact(2)) {
                    *texel = [rg[0], rg[1], 0.0, 1.0];
                }
            }
            Kind::Astc(_) => {
                let Some(block) = block.first_chunk::<16>() else { return };
                let mut wide = [[0; 4]; MOST_TEXELS];
                // As above.
                let _legal = astc::decode(*block, self.width, self.height, false, &mut wide);
                for (to, from) in out.iter_mut().zip(wide).take((self.width * self.height) as usize) {
                    *to = from.map(|c| f32::from(c) / 65535.0);
                }
            }
            Kind::Bc6h(signed) if block.len() >= 16 => {
                let mut halves = [0u16; 48];
                bcdec_rs::bc6h_half(block, &mut halves, 12, signed);
                for (texel, rgb) in out.iter_mut().zip(halves.chunks_exact(3)) {
                    let [r, g, b] = [rgb[0], rgb[1], rgb[2]].map(crate::format::f16_to_f32);
                    *texel = [r, g, b, 1.0];
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bc7_mode_6_is_what_the_crate_makes_of_it() {
        let mut state = 7u128;
        for _ in 0..5_000 {
            state = state.wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645).wrapping_add(11);
            let block = ((state ^ state >> 64) & !0x7F | 0x40).to_le_bytes();
            let (mut ours, mut theirs) = ([0; 80], [0; 80]);
            bc7(&block, &mut ours, 20);
            bcdec_rs::bc7(&block, &mut theirs, 20);
            assert_eq!(ours, theirs, "{block:02x?}");
        }
    }
}
