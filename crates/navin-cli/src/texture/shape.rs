//! What raw data is: given by options, or by a JSON description beside the file (`data.bin` and `data.json`).

use std::path::{Path, PathBuf};

use navin_texture::layout::PackagedLayout;
use navin_texture::{
    Format, FormatInfo, GobOrder, Layout, LayoutInput, Pitch, Region, Target, Texture, TextureFlags, untile,
};
use serde::{Deserialize, Serialize};

/// The description. Fields that are left out have their usual values.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// A format's name.
    pub format: String,
    /// A target's name.
    #[serde(default = "two_dimensional")]
    pub target: String,
    /// Texels of level 0.
    pub width: u32,
    /// Texels of level 0.
    #[serde(default = "one")]
    pub height: u32,
    /// Slices of a 3D texture.
    #[serde(default = "one")]
    pub depth: u32,
    /// Layers, six for each cube.
    #[serde(default = "one")]
    pub layers: u32,
    /// Levels.
    #[serde(default = "one")]
    pub levels: u32,
    /// Samples.
    #[serde(default = "one")]
    pub samples: u32,
    /// GOBs a block is high, if not the automatic number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_height: Option<u32>,
    /// Slices a block is deep, if not the automatic number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_depth: Option<u32>,
    /// Flags of NVN: `linear`, `linear_render_target`, `sparse`, `minimal_layout`, `compressible`, `video_decode`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Row stride of linear storage.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stride: u64,
    /// Console generation, 1 or 2.
    #[serde(default = "one")]
    pub generation: u32,
}

fn one() -> u32 {
    1
}

fn two_dimensional() -> String {
    "2d".into()
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Names of targets as they are written on the command line.
const TARGETS: [(&str, Target); 10] = [
    ("1d", Target::D1),
    ("2d", Target::D2),
    ("3d", Target::D3),
    ("1d-array", Target::D1Array),
    ("2d-array", Target::D2Array),
    ("2d-multisample", Target::D2Multisample),
    ("2d-multisample-array", Target::D2MultisampleArray),
    ("rectangle", Target::Rectangle),
    ("cube", Target::Cube),
    ("cube-array", Target::CubeArray),
];

/// A target's name.
pub fn target_name(target: Target) -> &'static str {
    TARGETS.iter().find(|(_, t)| *t == target).map_or("buffer", |(name, _)| name)
}

fn flag(name: &str) -> Option<TextureFlags> {
    Some(match name.to_ascii_lowercase().as_str() {
        "linear" => TextureFlags::LINEAR,
        "linear_render_target" => TextureFlags::LINEAR_RENDER_TARGET,
        "sparse" => TextureFlags::SPARSE,
        "minimal_layout" => TextureFlags::MINIMAL_LAYOUT,
        "compressible" => TextureFlags::COMPRESSIBLE,
        "video_decode" => TextureFlags::VIDEO_DECODE,
        _ => return None,
    })
}

/// A format by name, or what to do about it.
pub fn format(name: &str) -> Result<&'static FormatInfo, String> {
    Format::from_name(name).ok_or_else(|| {
        format!("no format is called {name:?}; NVN's names go (RGBA8, BPTC_UNORM, RGBA_ASTC_6x6), and BC7, ASTC_6x6")
    })
}

/// log2 of a number of GOBs.
fn log2(what: &str, n: u32) -> Result<u8, String> {
    if n.is_power_of_two() && n <= 32 {
        Ok(n.trailing_zeros() as u8)
    } else {
        Err(format!("{what} of {n}: give 1, 2, 4, 8, 16 or 32"))
    }
}

impl Shape {
    /// The description's path for a raw file.
    pub fn path_beside(path: &Path) -> PathBuf {
        path.with_extension("json")
    }

    /// Reads the description beside a raw file.
    pub fn read_beside(path: &Path) -> Result<Self, String> {
        Self::read(&Self::path_beside(path))
    }

    /// Reads a description.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|e| {
            format!("{}: {e} (raw data needs a description: format, width, height, ...)", path.display())
        })?;
        serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// The description of a texture in block-linear order.
    pub fn of(texture: &Texture, order: GobOrder) -> Self {
        Self {
            format: texture.format.short_name().into(),
            target: target_name(texture.target).into(),
            width: texture.width,
            height: texture.height,
            depth: texture.depth,
            layers: texture.layers,
            levels: texture.levels,
            samples: texture.samples,
            block_height: texture.packaged.map(|p| 1 << p.block_height_log2),
            block_depth: texture.packaged.map(|p| 1 << p.block_depth_log2),
            flags: Vec::new(),
            stride: 0,
            generation: order.generation(),
        }
    }

    /// The GOB order.
    pub fn order(&self) -> Result<GobOrder, String> {
        GobOrder::from_generation(self.generation).ok_or_else(|| format!("generation {}: give 1 or 2", self.generation))
    }

    /// What the layout follows from.
    pub fn input(&self) -> Result<LayoutInput, String> {
        let target = TARGETS.iter().find(|(name, _)| *name == self.target).map(|(_, t)| *t).ok_or_else(|| {
            let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
            format!("target {:?}: give one of {}", self.target, names.join(", "))
        })?;
        let mut flags = TextureFlags::empty();
        for name in &self.flags {
            flags |= flag(name).ok_or_else(|| format!("no flag is called {name:?}"))?;
        }
        let packaged = match (self.block_height, self.block_depth) {
            (None, None) => None,
            (height, depth) => Some(PackagedLayout {
                block_height_log2: log2("block height", height.unwrap_or(1))?,
                block_depth_log2: log2("block depth", depth.unwrap_or(1))?,
                tile_width_log2: 0,
            }),
        };
        let layers = match target {
            Target::Cube => 6,
            t if t.is_layered() => self.layers,
            _ => 1,
        };
        Ok(LayoutInput {
            target,
            format: format(&self.format)?,
            width: self.width,
            height: self.height,
            depth: if target == Target::D3 { self.depth } else { 1 },
            layers,
            levels: self.levels,
            samples: self.samples,
            flags,
            stride: self.stride,
            packaged,
        })
    }

    /// The layout.
    pub fn layout(&self) -> Result<Layout, String> {
        Layout::new(&self.input()?).map_err(|e| e.to_string())
    }

    /// The texture that raw block-linear (or linear) data is.
    pub fn untile(&self, bytes: &[u8]) -> Result<Texture, String> {
        let input = self.input()?;
        let layout = self.layout()?;
        let rows = untile_all(&layout, self.order()?, bytes)?;
        let texture = Texture {
            name: String::new(),
            format: input.format,
            target: input.target,
            width: input.width,
            height: input.height,
            depth: input.depth,
            layers: layout.layers,
            levels: layout.levels.len() as u32,
            samples: input.samples.max(1),
            swizzle: navin_texture::container::Source::IDENTITY,
            packaged: input.packaged,
            data: rows,
        };
        texture.check().map_err(|e| e.to_string())?;
        Ok(texture)
    }
}

/// All layers and levels as rows, one after the other.
pub fn untile_all(layout: &Layout, order: GobOrder, bytes: &[u8]) -> Result<Vec<u8>, String> {
    // Data may end with its last level, before the padding of the whole.
    let last = layout.levels.last().map_or(0, |l| l.offset + l.size);
    let need = layout.layer_size * u64::from(layout.layers - 1) + last;
    if (bytes.len() as u64) < need {
        return Err(format!("{} bytes where this texture has {need}", bytes.len()));
    }
    let mut out = Vec::new();
    for layer in 0..u64::from(layout.layers) {
        for level in &layout.levels {
            let at = (layout.layer_size * layer + level.offset) as usize;
            let region = Region::whole(level);
            let start = out.len();
            out.resize(start + level.packed_bytes() as usize, 0);
            untile(&mut out[start..], Pitch::packed(level, &region), &bytes[at..], level, order, region)
                .map_err(|e| e.to_string())?;
        }
    }
    Ok(out)
}
