//! DXGI formats with the same bytes as NVN formats, and the pixel formats that DDS had before them.

use crate::format::{Class, Format, FormatInfo};

/// DXGI numbers; the first row of a number is the format it is read as.
#[rustfmt::skip]
const FORMATS: &[(u32, Format)] = &[
    (2, Format::RGBA32F), (3, Format::RGBA32UI), (4, Format::RGBA32I),
    (6, Format::RGB32F), (7, Format::RGB32UI), (8, Format::RGB32I),
    (10, Format::RGBA16F), (11, Format::RGBA16), (12, Format::RGBA16UI), (13, Format::RGBA16SN), (14, Format::RGBA16I),
    (16, Format::RG32F), (17, Format::RG32UI), (18, Format::RG32I), (20, Format::DEPTH32F_STENCIL8),
    (24, Format::RGB10A2), (25, Format::RGB10A2UI), (26, Format::R11G11B10F),
    (28, Format::RGBA8), (29, Format::RGBA8_SRGB), (30, Format::RGBA8UI), (31, Format::RGBA8SN), (32, Format::RGBA8I),
    (34, Format::RG16F), (35, Format::RG16), (36, Format::RG16UI), (37, Format::RG16SN), (38, Format::RG16I),
    (41, Format::R32F), (40, Format::DEPTH32F), (42, Format::R32UI), (43, Format::R32I),
    (49, Format::RG8), (50, Format::RG8UI), (51, Format::RG8SN), (52, Format::RG8I),
    (54, Format::R16F), (55, Format::DEPTH16), (56, Format::R16), (57, Format::R16UI), (58, Format::R16SN),
    (59, Format::R16I), (61, Format::R8), (62, Format::R8UI), (62, Format::STENCIL8), (63, Format::R8SN),
    (64, Format::R8I), (67, Format::RGB9E5F),
    (71, Format::RGBA_DXT1), (71, Format::RGB_DXT1), (72, Format::RGBA_DXT1_SRGB), (72, Format::RGB_DXT1_SRGB),
    (74, Format::RGBA_DXT3), (75, Format::RGBA_DXT3_SRGB), (77, Format::RGBA_DXT5), (78, Format::RGBA_DXT5_SRGB),
    (80, Format::RGTC1_UNORM), (81, Format::RGTC1_SNORM), (83, Format::RGTC2_UNORM), (84, Format::RGTC2_SNORM),
    (85, Format::BGR565), (86, Format::BGR5A1), (86, Format::BGR5),
    (87, Format::BGRA8), (88, Format::BGRX8), (91, Format::BGRA8_SRGB), (93, Format::BGRX8_SRGB),
    (95, Format::BPTC_UFLOAT), (96, Format::BPTC_SFLOAT), (98, Format::BPTC_UNORM), (99, Format::BPTC_UNORM_SRGB),
    (28, Format::RGBX8), (29, Format::RGBX8_SRGB), (31, Format::RGBX8SN), (30, Format::RGBX8UI), (32, Format::RGBX8I),
    (10, Format::RGBX16F), (11, Format::RGBX16), (13, Format::RGBX16SN), (12, Format::RGBX16UI),
    (14, Format::RGBX16I), (2, Format::RGBX32F), (3, Format::RGBX32UI), (4, Format::RGBX32I),
];

/// The first ASTC number (4x4); each footprint has four, of which the first is UNORM and the second sRGB. These are
/// reserved numbers that tools use all the same.
const ASTC: u32 = 134;

/// The format of a DXGI number.
pub(super) fn from_dxgi(number: u32) -> Option<&'static FormatInfo> {
    if let Some(i) = number.checked_sub(ASTC).filter(|i| *i < 14 * 4 && i % 4 < 2) {
        let first = if i % 4 == 0 { Format::RGBA_ASTC_4X4 } else { Format::RGBA_ASTC_4X4_SRGB };
        return Format::from_nvn(first.nvn() + (i / 4) as i32);
    }
    FORMATS.iter().find(|(n, _)| *n == number).map(|(_, format)| format.info())
}

/// The DXGI number of a format.
pub(super) fn to_dxgi(info: &FormatInfo) -> Option<u32> {
    if info.is_astc() {
        let (first, srgb) = match info.class {
            Class::Srgb => (Format::RGBA_ASTC_4X4_SRGB, 1),
            _ => (Format::RGBA_ASTC_4X4, 0),
        };
        return Some(ASTC + 4 * (info.format.nvn() - first.nvn()) as u32 + srgb);
    }
    FORMATS.iter().find(|(_, format)| *format == info.format).map(|(n, _)| *n)
}

/// The format of a FourCC code, D3D9's format numbers among them.
pub(super) fn from_four_cc(code: [u8; 4]) -> Option<&'static FormatInfo> {
    let format = match &code {
        b"DXT1" => Format::RGBA_DXT1,
        b"DXT2" | b"DXT3" => Format::RGBA_DXT3,
        b"DXT4" | b"DXT5" => Format::RGBA_DXT5,
        b"ATI1" | b"BC4U" => Format::RGTC1_UNORM,
        b"BC4S" => Format::RGTC1_SNORM,
        b"ATI2" | b"BC5U" => Format::RGTC2_UNORM,
        b"BC5S" => Format::RGTC2_SNORM,
        _ => match u32::from_le_bytes(code) {
            36 => Format::RGBA16,
            110 => Format::RGBA16SN,
            111 => Format::R16F,
            112 => Format::RG16F,
            113 => Format::RGBA16F,
            114 => Format::R32F,
            115 => Format::RG32F,
            116 => Format::RGBA32F,
            _ => return None,
        },
    };
    Some(format.info())
}

/// The format of bits a texel and the masks of R, G, B and A; 0 for components that are not there.
pub(super) fn from_masks(bits: u32, masks: [u32; 4]) -> Option<&'static FormatInfo> {
    let format = match (bits, masks) {
        (32, [0xFF, 0xFF00, 0xFF_0000, 0xFF00_0000]) => Format::RGBA8,
        (32, [0xFF, 0xFF00, 0xFF_0000, 0]) => Format::RGBX8,
        (32, [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000]) => Format::BGRA8,
        (32, [0xFF_0000, 0xFF00, 0xFF, 0]) => Format::BGRX8,
        (32, [0x3FF, 0xF_FC00, 0x3FF0_0000, 0xC000_0000]) => Format::RGB10A2,
        (32, [0xFFFF, 0xFFFF_0000, 0, 0]) => Format::RG16,
        (32, [u32::MAX, 0, 0, 0]) => Format::R32F,
        (24, [0xFF, 0xFF00, 0xFF_0000, 0]) => Format::RGB8,
        (16, [0xF800, 0x7E0, 0x1F, 0]) => Format::BGR565,
        (16, [0x1F, 0x7E0, 0xF800, 0]) => Format::RGB565,
        (16, [0x7C00, 0x3E0, 0x1F, 0x8000]) => Format::BGR5A1,
        (16, [0x7C00, 0x3E0, 0x1F, 0]) => Format::BGR5,
        (16, [0xF, 0xF0, 0xF00, 0xF000]) => Format::RGBA4,
        (16, [0xFF, 0xFF00, 0, 0]) => Format::RG8,
        (16, [0xFF, 0, 0, 0xFF00]) => Format::RG8,
        (16, [0xFFFF, 0, 0, 0]) => Format::R16,
        (8, [0xFF, 0, 0, 0] | [0, 0, 0, 0xFF]) => Format::R8,
        _ => return None,
    };
    Some(format.info())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_formats_bytes() {
        for info in Format::all() {
            let Some(number) = to_dxgi(info) else { continue };
            let read = from_dxgi(number).unwrap();
            assert_eq!(
                (read.bytes_per_block, read.block_width, read.block_height),
                (info.bytes_per_block, info.block_width, info.block_height),
                "{}",
                info.name
            );
        }
        assert_eq!(from_dxgi(98).map(|i| i.format), Some(Format::BPTC_UNORM));
        assert_eq!(from_dxgi(187).map(|i| i.format), Some(Format::RGBA_ASTC_12X12_SRGB));
        assert_eq!((from_dxgi(0), from_dxgi(136), from_dxgi(190)), (None, None, None));
    }
}
