//! Facts of Vulkan formats that this crate needs: aspects, texel sizes, numeric class.

use ash::vk;

/// Aspects that a format has.
pub fn format_aspects(format: vk::Format) -> vk::ImageAspectFlags {
    match format {
        vk::Format::D16_UNORM | vk::Format::X8_D24_UNORM_PACK32 | vk::Format::D32_SFLOAT => vk::ImageAspectFlags::DEPTH,
        vk::Format::S8_UINT => vk::ImageAspectFlags::STENCIL,
        vk::Format::D16_UNORM_S8_UINT | vk::Format::D24_UNORM_S8_UINT | vk::Format::D32_SFLOAT_S8_UINT => {
            vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL
        }
        _ => vk::ImageAspectFlags::COLOR,
    }
}

/// Bytes of a texel of an uncompressed colour format; 0 for all others.
pub(crate) fn texel_bytes(format: vk::Format) -> u32 {
    // The numbers are those of the VkFormat enumeration, where formats of a size stand together.
    match format.as_raw() {
        1 => 1,
        2..=8 => 2,
        9..=15 => 1,
        16..=22 => 2,
        23..=36 => 3,
        37..=69 => 4,
        70..=76 => 2,
        77..=83 => 4,
        84..=90 => 6,
        91..=97 => 8,
        98..=100 => 4,
        101..=103 => 8,
        104..=106 => 12,
        107..=109 => 16,
        110..=112 => 8,
        113..=115 => 16,
        122 | 123 => 4,
        _ => match format {
            vk::Format::A4R4G4B4_UNORM_PACK16 | vk::Format::A4B4G4R4_UNORM_PACK16 => 2,
            _ => 0,
        },
    }
}

/// Bytes that a buffer holds for a texel (or a block) of one aspect of a format in a copy; 0 when unknown.
pub(crate) fn copy_block(format: vk::Format, aspect: vk::ImageAspectFlags) -> (u32, u32, u32) {
    if aspect == vk::ImageAspectFlags::STENCIL {
        return (1, 1, 1);
    }
    match format {
        vk::Format::D16_UNORM | vk::Format::D16_UNORM_S8_UINT => (1, 1, 2),
        vk::Format::X8_D24_UNORM_PACK32
        | vk::Format::D24_UNORM_S8_UINT
        | vk::Format::D32_SFLOAT
        | vk::Format::D32_SFLOAT_S8_UINT => (1, 1, 4),
        vk::Format::BC1_RGB_UNORM_BLOCK
        | vk::Format::BC1_RGB_SRGB_BLOCK
        | vk::Format::BC1_RGBA_UNORM_BLOCK
        | vk::Format::BC1_RGBA_SRGB_BLOCK
        | vk::Format::BC4_UNORM_BLOCK
        | vk::Format::BC4_SNORM_BLOCK => (4, 4, 8),
        _ => match format.as_raw() {
            // BC2, BC3, BC5, BC6H, BC7.
            135..=138 | 141..=146 => (4, 4, 16),
            // ETC2 RGB and RGB with one bit of alpha, EAC R11; ETC2 RGBA, EAC RG11.
            147..=150 | 153..=154 => (4, 4, 8),
            151..=152 | 155..=156 => (4, 4, 16),
            raw @ 157..=184 => {
                const SIZES: [(u32, u32); 14] = [
                    (4, 4),
                    (5, 4),
                    (5, 5),
                    (6, 5),
                    (6, 6),
                    (8, 5),
                    (8, 6),
                    (8, 8),
                    (10, 5),
                    (10, 6),
                    (10, 8),
                    (10, 10),
                    (12, 10),
                    (12, 12),
                ];
                let (w, h) = SIZES[((raw - 157) / 2) as usize];
                (w, h, 16)
            }
            _ => (1, 1, texel_bytes(format)),
        },
    }
}

/// What a shader output or input of a format is, to SPIR-V.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumericClass {
    Float,
    Sint,
    Uint,
}

/// Numeric class of a colour or vertex format.
pub(crate) fn numeric_class(format: vk::Format) -> NumericClass {
    use vk::Format as F;
    match format {
        F::R8_UINT
        | F::R8G8_UINT
        | F::R8G8B8_UINT
        | F::B8G8R8_UINT
        | F::R8G8B8A8_UINT
        | F::B8G8R8A8_UINT
        | F::A8B8G8R8_UINT_PACK32
        | F::A2R10G10B10_UINT_PACK32
        | F::A2B10G10R10_UINT_PACK32
        | F::R16_UINT
        | F::R16G16_UINT
        | F::R16G16B16_UINT
        | F::R16G16B16A16_UINT
        | F::R32_UINT
        | F::R32G32_UINT
        | F::R32G32B32_UINT
        | F::R32G32B32A32_UINT
        | F::R64_UINT
        | F::S8_UINT => NumericClass::Uint,
        F::R8_SINT
        | F::R8G8_SINT
        | F::R8G8B8_SINT
        | F::B8G8R8_SINT
        | F::R8G8B8A8_SINT
        | F::B8G8R8A8_SINT
        | F::A8B8G8R8_SINT_PACK32
        | F::A2R10G10B10_SINT_PACK32
        | F::A2B10G10R10_SINT_PACK32
        | F::R16_SINT
        | F::R16G16_SINT
        | F::R16G16B16_SINT
        | F::R16G16B16A16_SINT
        | F::R32_SINT
        | F::R32G32_SINT
        | F::R32G32B32_SINT
        | F::R32G32B32A32_SINT
        | F::R64_SINT => NumericClass::Sint,
        _ => NumericClass::Float,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texel_sizes_of_the_enumeration_s_corners() {
        for (format, bytes) in [
            (vk::Format::R4G4_UNORM_PACK8, 1),
            (vk::Format::R5G6B5_UNORM_PACK16, 2),
            (vk::Format::R8_UNORM, 1),
            (vk::Format::R8_SRGB, 1),
            (vk::Format::R8G8_SRGB, 2),
            (vk::Format::B8G8R8_SRGB, 3),
            (vk::Format::R8G8B8A8_UNORM, 4),
            (vk::Format::A2B10G10R10_SINT_PACK32, 4),
            (vk::Format::R16_SFLOAT, 2),
            (vk::Format::R16G16_SFLOAT, 4),
            (vk::Format::R16G16B16_SFLOAT, 6),
            (vk::Format::R16G16B16A16_SFLOAT, 8),
            (vk::Format::R32_SFLOAT, 4),
            (vk::Format::R32G32_SFLOAT, 8),
            (vk::Format::R32G32B32_SFLOAT, 12),
            (vk::Format::R32G32B32A32_SFLOAT, 16),
            (vk::Format::B10G11R11_UFLOAT_PACK32, 4),
            (vk::Format::E5B9G9R9_UFLOAT_PACK32, 4),
            (vk::Format::BC1_RGB_UNORM_BLOCK, 0),
        ] {
            assert_eq!(texel_bytes(format), bytes, "{format:?}");
        }
    }

    #[test]
    fn copy_blocks_of_compressed_formats() {
        let color = vk::ImageAspectFlags::COLOR;
        assert_eq!(copy_block(vk::Format::BC2_UNORM_BLOCK, color), (4, 4, 16));
        assert_eq!(copy_block(vk::Format::BC4_SNORM_BLOCK, color), (4, 4, 8));
        assert_eq!(copy_block(vk::Format::BC5_UNORM_BLOCK, color), (4, 4, 16));
        assert_eq!(copy_block(vk::Format::BC7_SRGB_BLOCK, color), (4, 4, 16));
        assert_eq!(copy_block(vk::Format::ASTC_4X4_UNORM_BLOCK, color), (4, 4, 16));
        assert_eq!(copy_block(vk::Format::ASTC_12X12_SRGB_BLOCK, color), (12, 12, 16));
        assert_eq!(copy_block(vk::Format::ASTC_8X6_SRGB_BLOCK, color), (8, 6, 16));
        assert_eq!(copy_block(vk::Format::EAC_R11_UNORM_BLOCK, color), (4, 4, 8));
        assert_eq!(copy_block(vk::Format::D32_SFLOAT_S8_UINT, vk::ImageAspectFlags::STENCIL), (1, 1, 1));
    }
}
