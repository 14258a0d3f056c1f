//! Generates the format table of `navin-texture` from `facts/nvn_formats.tsv`.
//!
//! Input: one row a format. Output: `crates/navin-texture/src/format/table.rs`, a constant table indexed by the NVN
//! format value, and a constant of type `Format` for each name. `navin-texture` itself has a test that compares the
//! table with the facts, so that a forgotten run is noticed.

use std::fmt::Write as _;

use anyhow::{Context, Result, bail, ensure};

/// Names of the core Vulkan formats in the order of their values, from 0.
const VK_CORE: &str = "\
    UNDEFINED R4G4_UNORM_PACK8 R4G4B4A4_UNORM_PACK16 B4G4R4A4_UNORM_PACK16 R5G6B5_UNORM_PACK16 B5G6R5_UNORM_PACK16 \
    R5G5B5A1_UNORM_PACK16 B5G5R5A1_UNORM_PACK16 A1R5G5B5_UNORM_PACK16 R8_UNORM R8_SNORM R8_USCALED R8_SSCALED \
    R8_UINT R8_SINT R8_SRGB R8G8_UNORM R8G8_SNORM R8G8_USCALED R8G8_SSCALED R8G8_UINT R8G8_SINT R8G8_SRGB \
    R8G8B8_UNORM R8G8B8_SNORM R8G8B8_USCALED R8G8B8_SSCALED R8G8B8_UINT R8G8B8_SINT R8G8B8_SRGB B8G8R8_UNORM \
    B8G8R8_SNORM B8G8R8_USCALED B8G8R8_SSCALED B8G8R8_UINT B8G8R8_SINT B8G8R8_SRGB R8G8B8A8_UNORM R8G8B8A8_SNORM \
    R8G8B8A8_USCALED R8G8B8A8_SSCALED R8G8B8A8_UINT R8G8B8A8_SINT R8G8B8A8_SRGB B8G8R8A8_UNORM B8G8R8A8_SNORM \
    B8G8R8A8_USCALED B8G8R8A8_SSCALED B8G8R8A8_UINT B8G8R8A8_SINT B8G8R8A8_SRGB A8B8G8R8_UNORM_PACK32 \
    A8B8G8R8_SNORM_PACK32 A8B8G8R8_USCALED_PACK32 A8B8G8R8_SSCALED_PACK32 A8B8G8R8_UINT_PACK32 A8B8G8R8_SINT_PACK32 \
    A8B8G8R8_SRGB_PACK32 A2R10G10B10_UNORM_PACK32 A2R10G10B10_SNORM_PACK32 A2R10G10B10_USCALED_PACK32 \
    A2R10G10B10_SSCALED_PACK32 A2R10G10B10_UINT_PACK32 A2R10G10B10_SINT_PACK32 A2B10G10R10_UNORM_PACK32 \
    A2B10G10R10_SNORM_PACK32 A2B10G10R10_USCALED_PACK32 A2B10G10R10_SSCALED_PACK32 A2B10G10R10_UINT_PACK32 \
    A2B10G10R10_SINT_PACK32 R16_UNORM R16_SNORM R16_USCALED R16_SSCALED R16_UINT R16_SINT R16_SFLOAT R16G16_UNORM \
    R16G16_SNORM R16G16_USCALED R16G16_SSCALED R16G16_UINT R16G16_SINT R16G16_SFLOAT R16G16B16_UNORM R16G16B16_SNORM \
    R16G16B16_USCALED R16G16B16_SSCALED R16G16B16_UINT R16G16B16_SINT R16G16B16_SFLOAT R16G16B16A16_UNORM \
    R16G16B16A16_SNORM R16G16B16A16_USCALED R16G16B16A16_SSCALED R16G16B16A16_UINT R16G16B16A16_SINT \
    R16G16B16A16_SFLOAT R32_UINT R32_SINT R32_SFLOAT R32G32_UINT R32G32_SINT R32G32_SFLOAT R32G32B32_UINT \
    R32G32B32_SINT R32G32B32_SFLOAT R32G32B32A32_UINT R32G32B32A32_SINT R32G32B32A32_SFLOAT R64_UINT R64_SINT \
    R64_SFLOAT R64G64_UINT R64G64_SINT R64G64_SFLOAT R64G64B64_UINT R64G64B64_SINT R64G64B64_SFLOAT \
    R64G64B64A64_UINT R64G64B64A64_SINT R64G64B64A64_SFLOAT B10G11R11_UFLOAT_PACK32 E5B9G9R9_UFLOAT_PACK32 D16_UNORM \
    X8_D24_UNORM_PACK32 D32_SFLOAT S8_UINT D16_UNORM_S8_UINT D24_UNORM_S8_UINT D32_SFLOAT_S8_UINT \
    BC1_RGB_UNORM_BLOCK BC1_RGB_SRGB_BLOCK BC1_RGBA_UNORM_BLOCK BC1_RGBA_SRGB_BLOCK BC2_UNORM_BLOCK BC2_SRGB_BLOCK \
    BC3_UNORM_BLOCK BC3_SRGB_BLOCK BC4_UNORM_BLOCK BC4_SNORM_BLOCK BC5_UNORM_BLOCK BC5_SNORM_BLOCK BC6H_UFLOAT_BLOCK \
    BC6H_SFLOAT_BLOCK BC7_UNORM_BLOCK BC7_SRGB_BLOCK ETC2_R8G8B8_UNORM_BLOCK ETC2_R8G8B8_SRGB_BLOCK \
    ETC2_R8G8B8A1_UNORM_BLOCK ETC2_R8G8B8A1_SRGB_BLOCK ETC2_R8G8B8A8_UNORM_BLOCK ETC2_R8G8B8A8_SRGB_BLOCK \
    EAC_R11_UNORM_BLOCK EAC_R11_SNORM_BLOCK EAC_R11G11_UNORM_BLOCK EAC_R11G11_SNORM_BLOCK ASTC_4X4_UNORM_BLOCK \
    ASTC_4X4_SRGB_BLOCK ASTC_5X4_UNORM_BLOCK ASTC_5X4_SRGB_BLOCK ASTC_5X5_UNORM_BLOCK ASTC_5X5_SRGB_BLOCK \
    ASTC_6X5_UNORM_BLOCK ASTC_6X5_SRGB_BLOCK ASTC_6X6_UNORM_BLOCK ASTC_6X6_SRGB_BLOCK ASTC_8X5_UNORM_BLOCK \
    ASTC_8X5_SRGB_BLOCK ASTC_8X6_UNORM_BLOCK ASTC_8X6_SRGB_BLOCK ASTC_8X8_UNORM_BLOCK ASTC_8X8_SRGB_BLOCK \
    ASTC_10X5_UNORM_BLOCK ASTC_10X5_SRGB_BLOCK ASTC_10X6_UNORM_BLOCK ASTC_10X6_SRGB_BLOCK ASTC_10X8_UNORM_BLOCK \
    ASTC_10X8_SRGB_BLOCK ASTC_10X10_UNORM_BLOCK ASTC_10X10_SRGB_BLOCK ASTC_12X10_UNORM_BLOCK ASTC_12X10_SRGB_BLOCK \
    ASTC_12X12_UNORM_BLOCK ASTC_12X12_SRGB_BLOCK";

/// Formats of later versions and extensions.
const VK_MORE: &[(&str, i32)] = &[
    ("A4R4G4B4_UNORM_PACK16", 1_000_340_000),
    ("A4B4G4R4_UNORM_PACK16", 1_000_340_001),
    ("A1B5G5R5_UNORM_PACK16", 1_000_470_000),
];

/// Where the generated file lies, relative to the repository's root.
pub const OUTPUT: &str = "crates/navin-texture/src/format/table.rs";

/// The generated file's text, from the text of `nvn_formats.tsv`.
pub fn table(facts: &str) -> Result<String> {
    let mut lines = facts.lines();
    let header: Vec<&str> = lines.next().context("no header line")?.split('\t').collect();
    let column = |name: &str| header.iter().position(|h| *h == name).with_context(|| format!("no column {name}"));
    let (name_c, value_c, bytes_c, w_c, h_c) =
        (column("name")?, column("value_dec")?, column("bytes_per_block")?, column("block_w")?, column("block_h")?);
    let (channels_c, type_c, vk_c) = (column("channel_layout")?, column("type")?, column("vk_format")?);
    let uses_c = [column("vertex")?, column("render")?, column("depth")?, column("sampled")?, column("storage")?];

    let mut consts = String::new();
    let mut rows = String::new();
    let mut next = 0;
    for line in lines.filter(|l| !l.is_empty()) {
        let cell: Vec<&str> = line.split('\t').collect();
        ensure!(cell.len() == header.len(), "a row of {} cells: {line}", cell.len());
        let name = cell[name_c].strip_prefix("NVN_FORMAT_").context("a name without NVN_FORMAT_")?;
        let value: i32 = cell[value_c].parse()?;
        ensure!(value == next, "value {value} where {next} is due: the table is indexed by value");
        next += 1;
        let vk = match cell[vk_c] {
            "-" => 0,
            vk => vk_value(vk)?,
        };
        let class = match cell[type_c] {
            "-" => "None",
            "float" => "Float",
            "ufloat" => "Ufloat",
            "unorm" => "Unorm",
            "snorm" => "Snorm",
            "uint" => "Uint",
            "sint" => "Sint",
            "srgb" => "Srgb",
            "uscaled" => "Uscaled",
            "sscaled" => "Sscaled",
            "depth" => "Depth",
            "stencil" => "Stencil",
            "depth+stencil" => "DepthStencil",
            other => bail!("unknown type {other} of {name}"),
        };
        let components = components(cell[channels_c], class);
        let uses: Vec<String> = uses_c
            .iter()
            .filter_map(|c| match (cell[*c], header[*c]) {
                ("yes", use_) => Some(format!("Uses::{}", use_.to_uppercase())),
                ("buffer-only", _) => Some("Uses::SAMPLED_BUFFER".to_string()),
                _ => None,
            })
            .collect();
        let uses = match uses.as_slice() {
            [] => "Uses::empty()".to_string(),
            [one] => one.clone(),
            [first, rest @ ..] => rest.iter().fold(first.clone(), |all, u| format!("{all}.union({u})")),
        };
        let ident = name.to_uppercase();
        writeln!(consts, "    /// `NVN_FORMAT_{name}`.\n    pub const {ident}: Format = Format({value});")?;
        writeln!(
            rows,
            "    row(Format::{ident}, \"NVN_FORMAT_{name}\", {}, [{}, {}], Class::{class}, {components}, {vk}, {uses}),",
            cell[bytes_c], cell[w_c], cell[h_c],
        )?;
    }
    Ok(format!(
        "//! Every NVN format. Generated by `cargo xtask gen` from `facts/nvn_formats.tsv`: do not edit.\n\n\
         use super::{{Class, Format, FormatInfo, Uses, row}};\n\n\
         impl Format {{\n{consts}}}\n\n\
         /// Indexed by the NVN format value.\n\
         #[rustfmt::skip]\n\
         pub(super) const TABLE: [FormatInfo; {next}] = [\n{rows}];\n"
    ))
}

/// The value of the Vulkan format with the full name `name`.
fn vk_value(name: &str) -> Result<i32> {
    let short = name.strip_prefix("VK_FORMAT_").with_context(|| format!("no Vulkan format: {name}"))?;
    if let Some((_, value)) = VK_MORE.iter().find(|(n, _)| *n == short) {
        return Ok(*value);
    }
    // The list writes the footprints of ASTC with a large X.
    let at = VK_CORE
        .split_whitespace()
        .position(|n| n.eq_ignore_ascii_case(short))
        .with_context(|| format!("unknown: {name}"))?;
    Ok(i32::try_from(at)?)
}

/// How many components a texel has that a shader can see, without X; from the notation of the facts, for example
/// `R8 G8 B8 X8 (byte order)`, `R bits 0-4, G 5-9, ...` or `block RGBA`.
fn components(layout: &str, class: &str) -> usize {
    match class {
        "None" => 0,
        "Depth" | "Stencil" => 1,
        "DepthStencil" => 2,
        _ if layout.starts_with("block ") => layout.len() - "block ".len(),
        _ => {
            let layout = layout.split('(').next().unwrap_or(layout);
            "RGBA".chars().filter(|c| layout.split([' ', ',']).any(|w| w.starts_with(*c))).count()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vulkan_values_are_those_of_the_specification() {
        for (name, value) in [("R8_UNORM", 9), ("R8G8B8A8_UNORM", 37), ("BC7_SRGB_BLOCK", 146), ("S8_UINT", 127)] {
            assert_eq!(vk_value(&format!("VK_FORMAT_{name}")).ok(), Some(value), "{name}");
        }
        assert_eq!(VK_CORE.split_whitespace().count(), 185);
    }

    #[test]
    fn components_are_counted() {
        assert_eq!(components("R8 G8 B8 X8 (byte order)", "Unorm"), 3);
        assert_eq!(components("A bit 0, B 1-5, G 6-10, R 11-15", "Unorm"), 4);
        assert_eq!(components("block RG", "Unorm"), 2);
    }
}
