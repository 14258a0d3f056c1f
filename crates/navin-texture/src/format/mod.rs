//! NVN formats: block sizes, component class, Vulkan format, uses.
//!
//! The table is generated from `facts/nvn_formats.tsv`; what needs emulation on Vulkan is derived here from the same
//! columns. Vulkan formats are raw `VkFormat` numbers, because this crate knows no Vulkan binding.

mod number;
mod packing;
mod table;

pub use number::{f16_to_f32, f32_to_f16, linear_to_srgb, srgb_to_linear};
pub(crate) use packing::component_to_u8;
pub use packing::{Field, Number, Packing};

/// An NVN format value that is in the table: `NVNformat`, 0 (`NVN_FORMAT_NONE`) to 156.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Format(u8);

impl Format {
    /// The description of an `NVNformat` as the guest passes it; none for `NVN_FORMAT_NONE` and unknown values.
    pub fn from_nvn(value: i32) -> Option<&'static FormatInfo> {
        let index = usize::try_from(value).ok()?;
        TABLE.get(index).filter(|f| f.class != Class::None)
    }

    /// The `NVNformat` value.
    pub const fn nvn(self) -> i32 {
        self.0 as i32
    }

    /// The description of this format.
    pub fn info(self) -> &'static FormatInfo {
        // A `Format` is only made by the generated constants, whose values index the table.
        &TABLE[self.0 as usize]
    }

    /// The format with the given name, with or without `NVN_FORMAT_`, in either case (`rgba8`, `BPTC_UNORM`), or by
    /// the names that files and Vulkan use for compressed ones (`BC7`, `BC7_SRGB`, `BC5_SNORM`, `ASTC_6x6`).
    pub fn from_name(name: &str) -> Option<&'static FormatInfo> {
        let name = name.trim().to_ascii_uppercase().replace('-', "_");
        let name = name.strip_prefix("NVN_FORMAT_").unwrap_or(&name);
        let bare = |info: &FormatInfo| info.name.trim_start_matches("NVN_FORMAT_").to_ascii_uppercase();
        if let Some(info) = Self::all().find(|info| bare(info) == name) {
            return Some(info);
        }
        let (base, suffix) = match name.split_once('_') {
            Some(("ASTC", rest)) => {
                let rest = rest.trim_end_matches("_UNORM");
                return Self::all().find(|info| bare(info) == format!("RGBA_ASTC_{rest}"));
            }
            Some((base, suffix)) => (base, suffix),
            None => (name, "UNORM"),
        };
        let format = match (base, suffix) {
            ("BC1", "UNORM") => Self::RGBA_DXT1,
            ("BC1", "SRGB") => Self::RGBA_DXT1_SRGB,
            ("BC2", "UNORM") => Self::RGBA_DXT3,
            ("BC2", "SRGB") => Self::RGBA_DXT3_SRGB,
            ("BC3", "UNORM") => Self::RGBA_DXT5,
            ("BC3", "SRGB") => Self::RGBA_DXT5_SRGB,
            ("BC4", "UNORM") => Self::RGTC1_UNORM,
            ("BC4", "SNORM") => Self::RGTC1_SNORM,
            ("BC5", "UNORM") => Self::RGTC2_UNORM,
            ("BC5", "SNORM") => Self::RGTC2_SNORM,
            ("BC6H" | "BC6", "UNORM" | "UFLOAT") => Self::BPTC_UFLOAT,
            ("BC6H" | "BC6", "SFLOAT" | "FLOAT") => Self::BPTC_SFLOAT,
            ("BC7", "UNORM") => Self::BPTC_UNORM,
            ("BC7", "SRGB") => Self::BPTC_UNORM_SRGB,
            _ => return None,
        };
        Some(format.info())
    }

    /// All formats but `NVN_FORMAT_NONE`, by value.
    pub fn all() -> impl Iterator<Item = &'static FormatInfo> {
        TABLE.iter().filter(|f| f.class != Class::None)
    }
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.info().name)
    }
}

/// How a component's bits are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// `NVN_FORMAT_NONE`.
    None,
    /// Signed floating point.
    Float,
    /// Floating point without a sign.
    Ufloat,
    /// Whole number read as 0..1.
    Unorm,
    /// Whole number read as -1..1.
    Snorm,
    /// Unsigned whole number.
    Uint,
    /// Signed whole number.
    Sint,
    /// Unorm with the sRGB curve on R, G and B.
    Srgb,
    /// Unsigned whole number read as a float of the same value (vertex attributes).
    Uscaled,
    /// Signed whole number read as a float of the same value (vertex attributes).
    Sscaled,
    /// Depth.
    Depth,
    /// Stencil.
    Stencil,
    /// Depth and stencil.
    DepthStencil,
}

impl Class {
    /// Whether shaders read and write this class as unsigned or signed integers.
    pub const fn is_integer(self) -> bool {
        matches!(self, Class::Uint | Class::Sint | Class::Stencil)
    }

    /// Whether the format has a depth aspect.
    pub const fn has_depth(self) -> bool {
        matches!(self, Class::Depth | Class::DepthStencil)
    }

    /// Whether the format has a stencil aspect.
    pub const fn has_stencil(self) -> bool {
        matches!(self, Class::Stencil | Class::DepthStencil)
    }
}

bitflags::bitflags! {
    /// What the hardware can use a format for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Uses: u8 {
        /// Vertex attribute.
        const VERTEX = 1;
        /// Colour target.
        const RENDER = 2;
        /// Depth or stencil target.
        const DEPTH = 4;
        /// Sampled texture of any target.
        const SAMPLED = 8;
        /// Storage image.
        const STORAGE = 16;
        /// Sampled as a buffer texture only.
        const SAMPLED_BUFFER = 32;
    }
}

/// What Vulkan needs beside `vk_format` to behave as the hardware does with a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Emulation {
    /// Nothing.
    None,
    /// The fourth component is X: views need alpha ONE, and alpha is not written.
    AlphaOne,
    /// Three components: optional in Vulkan, for vertex buffers as for buffer textures; where the device lacks the
    /// format, fetch by component or expand to four.
    ThreeComponents,
    /// No Vulkan format at all (`vk_format` is 0): fetch as an integer of the same layout
    /// ([`FormatInfo::integer_vk_format`]) and convert in the shader.
    FetchAsInteger,
    /// `vk_format` is optional on Vulkan 1.3; where missing, use [`FormatInfo::fallback`].
    Fallback,
    /// [`Emulation::Fallback`] and [`Emulation::AlphaOne`] both.
    FallbackAlphaOne,
    /// NVN keeps depth in bits 8-31 of a word, Vulkan copies have it in bits 0-23: copies shift.
    DepthShift,
    /// Depth and stencil share a texel in NVN; Vulkan copies each aspect apart.
    SplitAspects,
    /// ASTC: needs `textureCompressionASTC_LDR`, otherwise decode to RGBA8.
    Astc,
}

/// A component of a Vulkan format, as a source of a view's swizzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Component {
    /// Red.
    R,
    /// Green.
    G,
    /// Blue.
    B,
    /// Alpha.
    A,
}

/// Another Vulkan format for the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fallback {
    /// Raw `VkFormat`.
    pub vk_format: i32,
    /// Where a view of that format finds NVN's R, G, B and A. Identity for depth formats.
    pub swizzle: [Component; 4],
    /// Whether the bytes are the same; false for depth formats, whose copies must convert, and for ASTC, which is
    /// decoded.
    pub same_bytes: bool,
}

/// One row of the format table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatInfo {
    /// The format itself.
    pub format: Format,
    /// The name in NVN, for example `NVN_FORMAT_RGBA8`.
    pub name: &'static str,
    /// Bytes of one block; of one texel where the block is one texel.
    pub bytes_per_block: u32,
    /// Block width in texels.
    pub block_width: u32,
    /// Block height in texels.
    pub block_height: u32,
    /// Block depth in texels; 1 for every format of NVN.
    pub block_depth: u32,
    /// How components are read.
    pub class: Class,
    /// Components that a shader can see, X not counted.
    pub components: u8,
    /// Raw `VkFormat`; 0 (`VK_FORMAT_UNDEFINED`) where Vulkan has none.
    pub vk_format: i32,
    /// What the hardware can use the format for.
    pub uses: Uses,
}

impl FormatInfo {
    /// Whether texels come in blocks (BC, ASTC).
    pub const fn is_compressed(&self) -> bool {
        self.block_width > 1 || self.block_height > 1
    }

    /// The name without `NVN_FORMAT_`.
    pub fn short_name(&self) -> &'static str {
        self.name.strip_prefix("NVN_FORMAT_").unwrap_or(self.name)
    }

    /// The format with the same bytes on the other side of the sRGB curve: linear for an sRGB one and the reverse.
    pub fn srgb_pair(&self) -> Option<&'static FormatInfo> {
        let other = match self.class {
            Class::Srgb => self.short_name().strip_suffix("_SRGB")?.to_owned(),
            Class::Unorm => format!("{}_SRGB", self.short_name()),
            _ => return None,
        };
        Format::all().find(|info| info.short_name() == other)
    }

    /// Whether the format is one of ASTC's.
    pub const fn is_astc(&self) -> bool {
        // Blocks of ASTC are 16 bytes; of the 4x4 ones only BC share the size, and they come before.
        let v = self.format.nvn();
        v >= Format::RGBA_ASTC_4X4.nvn() && v <= Format::RGBA_ASTC_12X12_SRGB.nvn()
    }

    /// Raw `VkFormat` of unsigned integers with the same texel size, for raw views and copies; 0 for texels of 3, 6
    /// and 12 bytes, which have no such image format.
    pub const fn raw_vk_format(&self) -> i32 {
        match self.bytes_per_block {
            1 => 13,   // R8_UINT
            2 => 74,   // R16_UINT
            4 => 98,   // R32_UINT
            8 => 101,  // R32G32_UINT
            16 => 107, // R32G32B32A32_UINT
            _ => 0,
        }
    }

    /// For scaled formats that Vulkan lacks: raw `VkFormat` of 32-bit integers with the same component count.
    pub const fn integer_vk_format(&self) -> i32 {
        match (self.class, self.bytes_per_block) {
            (Class::Uscaled, 4) => 98,
            (Class::Uscaled, 8) => 101,
            (Class::Uscaled, 12) => 104,
            (Class::Uscaled, 16) => 107,
            (Class::Sscaled, 4) => 99,
            (Class::Sscaled, 8) => 102,
            (Class::Sscaled, 12) => 105,
            (Class::Sscaled, 16) => 108,
            _ => 0,
        }
    }

    /// What Vulkan needs beside [`FormatInfo::vk_format`].
    pub const fn emulation(&self) -> Emulation {
        if self.vk_format == 0 {
            return Emulation::FetchAsInteger;
        }
        match self.format {
            Format::RGBX8
            | Format::RGBX8SN
            | Format::RGBX8UI
            | Format::RGBX8I
            | Format::RGBX8_SRGB
            | Format::RGBX16F
            | Format::RGBX16
            | Format::RGBX16SN
            | Format::RGBX16UI
            | Format::RGBX16I
            | Format::RGBX32F
            | Format::RGBX32UI
            | Format::RGBX32I
            | Format::BGR5
            | Format::BGRX8
            | Format::BGRX8_SRGB => Emulation::AlphaOne,
            Format::RGB5 => Emulation::FallbackAlphaOne,
            Format::RGB5A1 | Format::RGBA4 => Emulation::Fallback,
            Format::DEPTH24 => Emulation::DepthShift,
            Format::DEPTH24_STENCIL8 | Format::DEPTH32F_STENCIL8 => Emulation::SplitAspects,
            _ if self.is_astc() => Emulation::Astc,
            _ => match self.bytes_per_block {
                3 | 6 | 12 => Emulation::ThreeComponents,
                _ => Emulation::None,
            },
        }
    }

    /// Whether views must read alpha as one (the X formats).
    pub const fn alpha_one(&self) -> bool {
        matches!(self.emulation(), Emulation::AlphaOne | Emulation::FallbackAlphaOne)
    }

    /// The Vulkan format to take where the device lacks [`FormatInfo::vk_format`].
    pub const fn fallback(&self) -> Option<Fallback> {
        use Component::{A, B, G, R};
        let (vk_format, swizzle, same_bytes) = match self.format {
            // A1R5G5B5_UNORM_PACK16 with R and B exchanged.
            Format::RGB5 | Format::RGB5A1 => (8, [B, G, R, A], true),
            // R4G4B4A4_UNORM_PACK16 has R in the highest bits, where NVN has A.
            Format::RGBA4 => (2, [A, B, G, R], true),
            // D32_SFLOAT and D32_SFLOAT_S8_UINT.
            Format::DEPTH24 => (126, [R, G, B, A], false),
            Format::DEPTH24_STENCIL8 => (130, [R, G, B, A], false),
            // Decoded: R8G8B8A8_SRGB and R8G8B8A8_UNORM.
            _ if self.is_astc() => (if matches!(self.class, Class::Srgb) { 43 } else { 37 }, [R, G, B, A], false),
            _ => return None,
        };
        Some(Fallback { vk_format, swizzle, same_bytes })
    }
}

/// A row of the generated table.
#[allow(clippy::too_many_arguments, reason = "one argument a column of the facts")]
const fn row(
    format: Format,
    name: &'static str,
    bytes_per_block: u32,
    block: [u32; 2],
    class: Class,
    components: u8,
    vk_format: i32,
    uses: Uses,
) -> FormatInfo {
    let [block_width, block_height] = block;
    FormatInfo {
        format,
        name,
        bytes_per_block,
        block_width,
        block_height,
        block_depth: 1,
        class,
        components,
        vk_format,
        uses,
    }
}

/// The generated table with a place that lives as long as the program.
static TABLE: [FormatInfo; table::TABLE.len()] = table::TABLE;

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: &str = include_str!("../../../../facts/nvn_formats.tsv");

    #[test]
    fn the_table_agrees_with_the_facts() {
        let mut rows = 0;
        for line in FACTS.lines().skip(1) {
            let cell: Vec<&str> = line.split('\t').collect();
            let value: i32 = cell[1].parse().unwrap();
            rows += 1;
            let Some(info) = Format::from_nvn(value) else {
                assert_eq!(cell[0], "NVN_FORMAT_NONE");
                continue;
            };
            assert_eq!(info.name, cell[0]);
            assert_eq!(info.format.nvn(), value);
            assert_eq!(info.bytes_per_block.to_string(), cell[3], "{}", cell[0]);
            assert_eq!(info.block_width.to_string(), cell[4], "{}", cell[0]);
            assert_eq!(info.block_height.to_string(), cell[5], "{}", cell[0]);
            assert_eq!(info.block_depth.to_string(), cell[6], "{}", cell[0]);
            assert_eq!(info.vk_format == 0, cell[9] == "-", "{}", cell[0]);
            assert_eq!(info.alpha_one(), cell[10].contains("alpha ONE"), "{}", cell[0]);
            for (column, use_) in
                [(12, Uses::VERTEX), (14, Uses::RENDER), (15, Uses::DEPTH), (16, Uses::SAMPLED), (17, Uses::STORAGE)]
            {
                assert_eq!(info.uses.contains(use_), cell[column] == "yes", "{} {use_:?}", cell[0]);
            }
        }
        assert_eq!(rows, TABLE.len());
    }

    #[test]
    fn unknown_values_have_no_description() {
        for value in [-1, 0, 157, i32::MAX, i32::MIN] {
            assert_eq!(Format::from_nvn(value), None);
        }
    }

    #[test]
    fn vulkan_formats_of_well_known_rows() {
        for (format, vk) in [
            (Format::R8, 9),
            (Format::RGBA8, 37),
            (Format::RGBA8_SRGB, 43),
            (Format::BGRA8, 44),
            (Format::R16F, 76),
            (Format::RGBA32F, 109),
            (Format::DEPTH32F, 126),
            (Format::RGB_DXT1, 131),
            (Format::BPTC_UNORM, 145),
            (Format::RGBA_ASTC_4X4, 157),
            (Format::RGBA_ASTC_12X12_SRGB, 184),
            (Format::RGB5A1, 1_000_470_000),
        ] {
            assert_eq!(format.info().vk_format, vk, "{format:?}");
        }
    }

    #[test]
    fn what_vulkan_lacks_is_marked() {
        assert_eq!(Format::R32_UI2F.info().emulation(), Emulation::FetchAsInteger);
        assert_eq!(Format::R32_UI2F.info().integer_vk_format(), 98);
        assert_eq!(Format::RGBA32_I2F.info().integer_vk_format(), 108);
        assert_eq!(Format::RGB8.info().emulation(), Emulation::ThreeComponents);
        assert_eq!(Format::RGB32F.info().emulation(), Emulation::ThreeComponents);
        assert_eq!(Format::RGB32F.info().raw_vk_format(), 0);
        assert_eq!(Format::RGBA_ASTC_8X8.info().emulation(), Emulation::Astc);
        assert_eq!(Format::RGB5.info().emulation(), Emulation::FallbackAlphaOne);
        for info in Format::all() {
            assert_eq!(
                info.emulation() == Emulation::FetchAsInteger,
                info.vk_format == 0,
                "{}: no Vulkan format without a way to read it",
                info.name
            );
            if info.emulation() == Emulation::FetchAsInteger {
                assert_ne!(info.integer_vk_format(), 0, "{}", info.name);
            }
        }
    }
}
