//! What raw data is: given by options, or by a JSON description beside the file (`data.bin` and `data.json`).

use std::path::{Path, PathBuf};

use navin_texture::layout::PackagedLayout;
use navin_texture::{
    Format, FormatInfo, GobOrder, Layout, LayoutInput, Pitch, Region, Storage, Target, Texture, TextureFlags, untile,
};
use serde::{Deserialize, Serialize};

/// The description. Fields that are left out have their usual values.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// A format's name.
    pub format: String,
    /// A target's name; if not given, what the numbers say: 3d with slices, an array with layers, and so on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
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
    /// GOBs to whole numbers of which a sparse texture's rows are padded, if not the tile's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tile_width: Option<u32>,
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

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Names of targets as they are written on the command line.
const TARGETS: [(&str, Target); 11] = [
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
    ("buffer", Target::Buffer),
];

/// A target's name.
pub fn target_name(target: Target) -> &'static str {
    TARGETS.iter().find(|(_, t)| *t == target).map_or("2d", |(name, _)| name)
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

/// Flags by their names, as descriptions have them.
pub fn flag_names(flags: TextureFlags) -> Vec<String> {
    ["linear", "linear_render_target", "sparse", "minimal_layout", "compressible", "video_decode"]
        .into_iter()
        .filter(|name| flag(name).is_some_and(|one| flags.contains(one)))
        .map(String::from)
        .collect()
}

impl Default for Shape {
    /// Nothing but the usual values: the format is empty and there are no texels.
    fn default() -> Self {
        Self {
            format: String::new(),
            target: None,
            width: 0,
            height: 1,
            depth: 1,
            layers: 1,
            levels: 1,
            samples: 1,
            block_height: None,
            block_depth: None,
            tile_width: None,
            flags: Vec::new(),
            stride: 0,
            generation: 1,
        }
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
            target: Some(target_name(texture.target).into()),
            width: texture.width,
            height: texture.height,
            depth: texture.depth,
            layers: texture.layers,
            levels: texture.levels,
            samples: texture.samples,
            block_height: texture.packaged.map(|p| 1 << p.block_height_log2),
            block_depth: texture.packaged.filter(|_| texture.target == Target::D3).map(|p| 1 << p.block_depth_log2),
            generation: order.generation(),
            ..Self::default()
        }
    }

    /// The GOB order.
    pub fn order(&self) -> Result<GobOrder, String> {
        GobOrder::from_generation(self.generation).ok_or_else(|| format!("generation {}: give 1 or 2", self.generation))
    }

    /// The target: what is given, else what the numbers say.
    fn target(&self) -> Result<Target, String> {
        let Some(name) = &self.target else {
            return Ok(match (self.depth > 1, self.samples > 1, self.layers > 1) {
                (true, ..) => Target::D3,
                (_, true, false) => Target::D2Multisample,
                (_, true, true) => Target::D2MultisampleArray,
                (_, false, true) => Target::D2Array,
                (_, false, false) => Target::D2,
            });
        };
        TARGETS.iter().find(|(known, _)| known == name).map(|(_, t)| *t).ok_or_else(|| {
            let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
            format!("target {name:?}: give one of {}", names.join(", "))
        })
    }

    /// Refuses numbers that the target or the flags make nothing of.
    fn check(&self, target: Target, flags: TextureFlags) -> Result<(), String> {
        let name = target_name(target);
        let one_dimensional = matches!(target, Target::D1 | Target::D1Array | Target::Buffer);
        let wrong = match target {
            _ if self.depth > 1 && target != Target::D3 => format!("{} slices", self.depth),
            _ if self.height > 1 && one_dimensional => format!("{} rows", self.height),
            _ if self.samples > 1 && !target.is_multisample() => format!("{} samples", self.samples),
            Target::Cube if ![1, 6].contains(&self.layers) => format!("{} layers", self.layers),
            Target::CubeArray if !self.layers.is_multiple_of(6) => {
                return Err(format!("{} layers, which are no whole cubes: six for each", self.layers));
            }
            Target::Cube | Target::CubeArray => String::new(),
            _ if self.layers > 1 && !target.is_layered() => format!("{} layers", self.layers),
            Target::Rectangle | Target::Buffer | Target::D2Multisample | Target::D2MultisampleArray
                if self.levels > 1 =>
            {
                format!("{} levels", self.levels)
            }
            _ => String::new(),
        };
        if !wrong.is_empty() {
            return Err(format!("{wrong} are nothing that target {name} has; give another target, or none"));
        }
        let rows = flags.is_linear() || target == Target::Buffer;
        let blocks = [self.block_height, self.block_depth, self.tile_width];
        match () {
            () if rows && self.levels > 1 => Err(format!("{} levels: linear textures have one", self.levels)),
            () if rows && blocks.iter().any(Option::is_some) => Err("linear textures have no blocks".into()),
            () if !flags.is_linear() && self.stride > 0 => {
                Err(format!("a stride of {} bytes counts for flag linear or linear_render_target", self.stride))
            }
            () if self.block_depth.is_some_and(|d| d > 1) && target != Target::D3 => {
                Err(format!("blocks of {} slices in target {name}, which has one", self.block_depth.unwrap_or(1)))
            }
            () => Ok(()),
        }
    }

    /// What the layout follows from.
    pub fn input(&self) -> Result<LayoutInput, String> {
        let target = self.target()?;
        let mut flags = TextureFlags::empty();
        for name in &self.flags {
            flags |= flag(name).ok_or_else(|| format!("no flag is called {name:?}"))?;
        }
        self.check(target, flags)?;
        let mut input = LayoutInput {
            target,
            format: format(&self.format)?,
            width: self.width,
            height: self.height,
            depth: self.depth,
            layers: if target == Target::Cube { 6 } else { self.layers },
            levels: self.levels,
            samples: self.samples,
            flags,
            stride: self.stride,
            packaged: None,
        };
        if self.block_height.is_some() || self.block_depth.is_some() || self.tile_width.is_some() {
            // What is not given is as NVN chooses.
            let automatic = LayoutInput { flags: flags - TextureFlags::MINIMAL_LAYOUT, ..input };
            let automatic = Layout::new(&automatic).map_err(|e| e.to_string())?;
            let (height, depth) = match automatic.levels.first().map(|l| l.storage) {
                Some(Storage::BlockLinear { block_height_log2, block_depth_log2, .. }) => {
                    (block_height_log2, block_depth_log2)
                }
                _ => (0, 0),
            };
            let tile = automatic.sparse.map_or(0, |_| 7 - height - depth);
            let given = |what, n: Option<u32>, else_| n.map_or(Ok(else_), |n| log2(what, n));
            input.packaged = Some(PackagedLayout {
                block_height_log2: given("block height", self.block_height, height)?,
                block_depth_log2: given("block depth", self.block_depth, depth)?,
                tile_width_log2: given("tile width", self.tile_width, tile)?,
            });
        }
        Ok(input)
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
