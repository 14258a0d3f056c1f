//! Image formats of BNTX files: a channel layout in the high byte, how it is read in the low one.
//!
//! The numbers are those that open tools for the platform have read off shipped files.

use crate::format::{Class, Format, FormatInfo};

/// Formats whose channel layout a BNTX names. Where several NVN formats share a number, the first is read.
#[rustfmt::skip]
const FORMATS: &[(u32, Format)] = &[
    (0x0201, Format::R8), (0x0202, Format::R8SN), (0x0203, Format::R8UI), (0x0204, Format::R8I),
    (0x0301, Format::RGBA4),
    (0x0501, Format::RGB5A1), (0x0601, Format::A1BGR5), (0x3B01, Format::BGR5A1),
    (0x0701, Format::RGB565), (0x0801, Format::BGR565),
    (0x0901, Format::RG8), (0x0902, Format::RG8SN), (0x0903, Format::RG8UI), (0x0904, Format::RG8I),
    (0x0A01, Format::R16), (0x0A02, Format::R16SN), (0x0A03, Format::R16UI), (0x0A04, Format::R16I),
    (0x0A05, Format::R16F), (0x0A07, Format::DEPTH16),
    (0x0B01, Format::RGBA8), (0x0B02, Format::RGBA8SN), (0x0B03, Format::RGBA8UI), (0x0B04, Format::RGBA8I),
    (0x0B06, Format::RGBA8_SRGB),
    (0x0C01, Format::BGRA8), (0x0C06, Format::BGRA8_SRGB),
    (0x0D05, Format::RGB9E5F), (0x0E01, Format::RGB10A2), (0x0E03, Format::RGB10A2UI), (0x0F05, Format::R11G11B10F),
    (0x1201, Format::RG16), (0x1202, Format::RG16SN), (0x1203, Format::RG16UI), (0x1204, Format::RG16I),
    (0x1205, Format::RG16F),
    (0x1307, Format::DEPTH24_STENCIL8),
    (0x1403, Format::R32UI), (0x1404, Format::R32I), (0x1405, Format::R32F), (0x1407, Format::DEPTH32F),
    (0x1501, Format::RGBA16), (0x1502, Format::RGBA16SN), (0x1503, Format::RGBA16UI), (0x1504, Format::RGBA16I),
    (0x1505, Format::RGBA16F),
    (0x1607, Format::DEPTH32F_STENCIL8),
    (0x1703, Format::RG32UI), (0x1704, Format::RG32I), (0x1705, Format::RG32F),
    (0x1803, Format::RGB32UI), (0x1804, Format::RGB32I), (0x1805, Format::RGB32F),
    (0x1903, Format::RGBA32UI), (0x1904, Format::RGBA32I), (0x1905, Format::RGBA32F),
    (0x1A01, Format::RGBA_DXT1), (0x1A06, Format::RGBA_DXT1_SRGB),
    (0x1B01, Format::RGBA_DXT3), (0x1B06, Format::RGBA_DXT3_SRGB),
    (0x1C01, Format::RGBA_DXT5), (0x1C06, Format::RGBA_DXT5_SRGB),
    (0x1D01, Format::RGTC1_UNORM), (0x1D02, Format::RGTC1_SNORM),
    (0x1E01, Format::RGTC2_UNORM), (0x1E02, Format::RGTC2_SNORM),
    (0x1F05, Format::BPTC_SFLOAT), (0x1F0A, Format::BPTC_UFLOAT),
    (0x2001, Format::BPTC_UNORM), (0x2006, Format::BPTC_UNORM_SRGB),
];

/// The first channel layout of ASTC; the fourteen footprints follow in NVN's order.
const ASTC: u32 = 0x2D;

/// The format of a BNTX number.
pub(super) fn from_bntx(number: u32) -> Option<&'static FormatInfo> {
    let (channels, how) = (number >> 8, number & 0xFF);
    if (ASTC..ASTC + 14).contains(&channels) {
        let first = match how {
            1 => Format::RGBA_ASTC_4X4,
            6 => Format::RGBA_ASTC_4X4_SRGB,
            _ => return None,
        };
        return Format::from_nvn(first.nvn() + (channels - ASTC) as i32);
    }
    FORMATS.iter().find(|(n, _)| *n == number).map(|(_, format)| format.info())
}

/// The BNTX number of a format.
pub(super) fn to_bntx(info: &FormatInfo) -> Option<u32> {
    if info.is_astc() {
        let (first, how) = match info.class {
            Class::Srgb => (Format::RGBA_ASTC_4X4_SRGB, 6),
            _ => (Format::RGBA_ASTC_4X4, 1),
        };
        return Some((ASTC + (info.format.nvn() - first.nvn()) as u32) << 8 | how);
    }
    FORMATS.iter().find(|(_, format)| *format == info.format).map(|(n, _)| *n)
}

/// The format of the same bytes that does not read alpha as one: RGBA8 of RGBX8, RGB5A1 of RGB5, and of three-colour
/// BC1 the one with a transparent fourth (whose colour is black in both).
pub(super) fn with_alpha(info: &FormatInfo) -> Option<&'static FormatInfo> {
    Some(match info.format {
        Format::RGB_DXT1 => Format::RGBA_DXT1.info(),
        Format::RGB_DXT1_SRGB => Format::RGBA_DXT1_SRGB.info(),
        Format::RGB5 => Format::RGB5A1.info(),
        Format::BGR5 => Format::BGR5A1.info(),
        _ if info.alpha_one() => Format::from_name(&info.short_name().replacen('X', "A", 1))?,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_with_alpha_of_those_without() {
        let mut found = 0;
        for info in Format::all() {
            let Some(a) = with_alpha(info) else {
                assert!(!info.alpha_one(), "{}", info.name);
                continue;
            };
            assert!(!a.alpha_one() && a.bytes_per_block == info.bytes_per_block, "{}", info.name);
            assert_eq!((a.class, a.block_width), (info.class, info.block_width), "{}", info.name);
            if let (Some(a), Some(x)) = (a.packing(), info.packing()) {
                assert_eq!(a.fields[..3], x.fields[..3], "{}", info.name);
            }
            found += 1;
        }
        assert_eq!(found, 19);
    }

    #[test]
    fn numbers_come_back() {
        let mut seen = 0;
        for info in Format::all() {
            if let Some(number) = to_bntx(info) {
                assert_eq!(from_bntx(number), Some(info), "{}", info.name);
                seen += 1;
            }
        }
        assert_eq!(seen, FORMATS.len() + 28);
        assert_eq!(from_bntx(0x3A06).map(|i| i.format), Some(Format::RGBA_ASTC_12X12_SRGB));
        assert_eq!((from_bntx(0), from_bntx(0x3B06), from_bntx(u32::MAX)), (None, None, None));
    }
}
