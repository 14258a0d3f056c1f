//! A texture out of a file: what it is, and its bytes without any order of a GPU's.

use std::ops::Range;

use thiserror::Error;

use crate::codec::{CodecError, decode_rgba8, decode_rgba32f, encode_rgba8, encode_rgba32f};
use crate::format::{Class, FormatInfo};
use crate::layout::{Layout, LayoutError, LayoutInput, LevelLayout, PackagedLayout, Target, TextureFlags};
use crate::swizzle::{GobOrder, Pitch, Region, SwizzleError, tile, untile};

/// Where a component that a shader reads comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Source {
    /// 0.
    Zero,
    /// 1.
    One,
    /// The format's red.
    R,
    /// The format's green.
    G,
    /// The format's blue.
    B,
    /// The format's alpha.
    A,
}

impl Source {
    /// R, G, B, A as they are.
    pub const IDENTITY: [Self; 4] = [Self::R, Self::G, Self::B, Self::A];

    /// The source with the given number, in the order of the variants.
    pub const fn from_index(index: u8) -> Option<Self> {
        Some(match index {
            0 => Self::Zero,
            1 => Self::One,
            2 => Self::R,
            3 => Self::G,
            4 => Self::B,
            5 => Self::A,
            _ => return None,
        })
    }

    /// One letter: `0 1 r g b a`.
    pub const fn letter(self) -> char {
        match self {
            Self::Zero => '0',
            Self::One => '1',
            Self::R => 'r',
            Self::G => 'g',
            Self::B => 'b',
            Self::A => 'a',
        }
    }

    /// The source of a letter.
    pub fn from_letter(letter: char) -> Option<Self> {
        [Self::Zero, Self::One, Self::R, Self::G, Self::B, Self::A].into_iter().find(|s| s.letter() == letter)
    }
}

/// A texture with packed data.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// Name; empty where the file has none.
    pub name: String,
    /// Format.
    pub format: &'static FormatInfo,
    /// Target.
    pub target: Target,
    /// Width of level 0 in texels.
    pub width: u32,
    /// Height of level 0 in texels; 1 for 1D targets.
    pub height: u32,
    /// Depth of level 0 in texels; 1 but for 3D.
    pub depth: u32,
    /// Layers, six for each cube; 1 for targets without.
    pub layers: u32,
    /// Levels.
    pub levels: u32,
    /// Samples a texel.
    pub samples: u32,
    /// What a shader reads as R, G, B and A.
    pub swizzle: [Source; 4],
    /// The block shape that a block-linear file states, kept so that it is written again.
    pub packaged: Option<PackagedLayout>,
    /// Layer after layer, in each level after level, in each slices of rows of blocks without padding.
    pub data: Vec<u8>,
}

/// One level of one layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surface {
    /// Its bytes in the texture's data.
    pub range: Range<usize>,
    /// The level: extents in texels and blocks.
    pub level: LevelLayout,
}

/// What [`Texture::to_format_with`] does where only one of two formats of numbers from 0 to 1 is on the sRGB curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Curve {
    /// The stored numbers are kept: the same bytes under another name. What pictures are made for.
    #[default]
    Keep,
    /// The numbers are put on the curve or taken off it: what a shader reads stays the same.
    Convert,
}

/// What is wrong with a texture, or why an operation cannot be done.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum TextureError {
    /// Its sizes.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Its data is too short or too long.
    #[error("{have} bytes of data where the levels and layers take {want}")]
    Data {
        /// Bytes given.
        have: u64,
        /// Bytes expected.
        want: u64,
    },
    /// A copy out of or into block-linear order failed.
    #[error(transparent)]
    Swizzle(#[from] SwizzleError),
    /// A format cannot be decoded or encoded so.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// More levels than the extents allow.
    #[error("{levels} levels where {most} lead to a single texel")]
    Levels {
        /// Levels given.
        levels: u32,
        /// Most that make sense.
        most: u32,
    },
    /// A layer or level that there is not.
    #[error("there is no {what} {index}: the texture has {have}")]
    Part {
        /// `layer` or `level`.
        what: &'static str,
        /// The one asked for.
        index: u32,
        /// How many there are.
        have: u32,
    },
    /// An operation that needs single-sampled texels.
    #[error("not for multisampled textures")]
    Multisampled,
}

impl Texture {
    /// What the layout follows from: packed or tiled, the levels are the same.
    pub fn input(&self) -> LayoutInput {
        LayoutInput {
            target: self.target,
            format: self.format,
            width: self.width,
            height: self.height,
            depth: self.depth,
            layers: self.layers,
            levels: self.levels,
            samples: self.samples,
            flags: TextureFlags::empty(),
            stride: 0,
            packaged: self.packaged,
        }
    }

    /// Checks sizes and data.
    ///
    /// # Errors
    /// If the texture contradicts itself.
    pub fn check(&self) -> Result<Layout, TextureError> {
        let layout = self.check_sizes()?;
        let want = packed_layer(&layout) * u64::from(layout.layers);
        if self.data.len() as u64 != want {
            return Err(TextureError::Data { have: self.data.len() as u64, want });
        }
        Ok(layout)
    }

    /// Checks all but the data.
    pub(super) fn check_sizes(&self) -> Result<Layout, TextureError> {
        let most = full_chain(self);
        if self.levels > most {
            return Err(TextureError::Levels { levels: self.levels, most });
        }
        let layout = Layout::new(&self.input())?;
        // A target without layers has one; a depth counts for 3D alone.
        if self.layers != layout.layers {
            return Err(TextureError::Part {
                what: "layer",
                index: self.layers.saturating_sub(1),
                have: layout.layers,
            });
        }
        let cubes = matches!(self.target, Target::Cube | Target::CubeArray);
        if cubes && (!self.layers.is_multiple_of(6) || (self.target == Target::Cube && self.layers != 6)) {
            return Err(TextureError::Part { what: "whole cube at layer", index: self.layers, have: self.layers });
        }
        Ok(layout)
    }

    /// Bytes that the data takes.
    ///
    /// # Errors
    /// If the sizes are none of a texture.
    pub fn packed_size(&self) -> Result<u64, TextureError> {
        let layout = self.check_sizes()?;
        Ok(packed_layer(&layout) * u64::from(layout.layers))
    }

    /// Where one level of one layer is.
    ///
    /// # Errors
    /// If there is no such layer or level, or the texture contradicts itself.
    pub fn surface(&self, layer: u32, level: u32) -> Result<Surface, TextureError> {
        let layout = self.check()?;
        if layer >= layout.layers {
            return Err(TextureError::Part { what: "layer", index: layer, have: layout.layers });
        }
        let Some(found) = layout.levels.get(level as usize) else {
            return Err(TextureError::Part { what: "level", index: level, have: self.levels });
        };
        let before: u64 = layout.levels[..level as usize].iter().map(LevelLayout::packed_bytes).sum();
        let start = (packed_layer(&layout) * u64::from(layer) + before) as usize;
        Ok(Surface { range: start..start + found.packed_bytes() as usize, level: *found })
    }

    /// The data in block-linear order, as `layout` says (one of [`Texture::check`] or with other flags and blocks).
    ///
    /// # Errors
    /// If the texture contradicts itself or the layout is another's.
    pub fn to_tiled(&self, layout: &Layout, order: GobOrder) -> Result<Vec<u8>, TextureError> {
        self.check()?;
        let mut out = vec![0; layout.size as usize];
        let mut from = 0;
        for layer in 0..layout.layers {
            for level in &layout.levels {
                let at = (layout.layer_size * u64::from(layer) + level.offset) as usize;
                let region = Region::whole(level);
                let size = level.packed_bytes() as usize;
                let rows = self.data.get(from..from + size).unwrap_or_default();
                tile(&mut out[at..], level, order, region, rows, Pitch::packed(level, &region))?;
                from += size;
            }
        }
        Ok(out)
    }

    /// Fills the data from block-linear order: for each layer and level, `bytes_of(layer, level)` gives its bytes.
    ///
    /// # Errors
    /// If bytes are missing or the sizes are none of a texture.
    pub fn fill_tiled<'a, E: From<TextureError>>(
        &mut self,
        layout: &Layout,
        order: GobOrder,
        mut bytes_of: impl FnMut(u32, u32, &LevelLayout) -> Result<&'a [u8], E>,
    ) -> Result<(), E> {
        let size = packed_layer(layout) * u64::from(layout.layers);
        let mut data = vec![0; size as usize];
        let mut to = 0;
        for layer in 0..layout.layers {
            for (index, level) in layout.levels.iter().enumerate() {
                let bytes = bytes_of(layer, index as u32, level)?;
                let region = Region::whole(level);
                let size = level.packed_bytes() as usize;
                let rows = &mut data[to..to + size];
                untile(rows, Pitch::packed(level, &region), bytes, level, order, region).map_err(TextureError::from)?;
                to += size;
            }
        }
        self.data = data;
        Ok(())
    }

    /// Slice `slice` of a surface as RGBA8, with the texture's swizzle if `swizzled`.
    ///
    /// # Errors
    /// If there is no such part.
    pub fn rgba8(&self, layer: u32, level: u32, slice: u32, swizzled: bool) -> Result<Vec<u8>, TextureError> {
        let (bytes, width, height) = self.slice(layer, level, slice)?;
        let mut pixels = decode_rgba8(self.format, bytes, width, height)?;
        if swizzled && self.swizzle != Source::IDENTITY {
            for pixel in pixels.as_chunks_mut::<4>().0 {
                *pixel = self.sourced(*pixel, 0, 255);
            }
        }
        Ok(pixels)
    }

    /// A texel as a shader reads it: each component from where the swizzle says.
    pub(super) fn sourced<T: Copy>(&self, [r, g, b, a]: [T; 4], zero: T, one: T) -> [T; 4] {
        self.swizzle.map(|source| match source {
            Source::Zero => zero,
            Source::One => one,
            Source::R => r,
            Source::G => g,
            Source::B => b,
            Source::A => a,
        })
    }

    /// The only surface as a picture in another format's bytes, which `texels` makes of those of the slice.
    pub(super) fn picture(
        &self,
        format: &'static FormatInfo,
        texels: impl FnOnce(&[u8], u32, u32) -> Result<Vec<u8>, CodecError>,
    ) -> Result<Self, TextureError> {
        let (bytes, width, height) = self.slice(0, 0, 0)?;
        let data = texels(bytes, width, height)?;
        Ok(Self { name: self.name.clone(), ..Self::new_2d(format, (width, height), data) })
    }

    /// A nameless two-dimensional texture of one level, `width` and `height` in texels. Not checked.
    pub(super) fn new_2d(format: &'static FormatInfo, (width, height): (u32, u32), data: Vec<u8>) -> Self {
        Self {
            name: String::new(),
            format,
            target: Target::D2,
            width,
            height,
            depth: 1,
            layers: 1,
            levels: 1,
            samples: 1,
            swizzle: Source::IDENTITY,
            packaged: None,
            data,
        }
    }

    /// Bytes of one slice, its width and height in texels (samples beside each other).
    pub(super) fn slice(&self, layer: u32, level: u32, slice: u32) -> Result<(&[u8], u32, u32), TextureError> {
        let surface = self.surface(layer, level)?;
        let l = &surface.level;
        if slice >= l.slices {
            return Err(TextureError::Part { what: "slice", index: slice, have: l.slices });
        }
        let size = (l.row_bytes() * u64::from(l.rows)) as usize;
        let bytes = &self.data[surface.range][slice as usize * size..][..size];
        match self.format.is_compressed() {
            true => Ok((bytes, l.width, l.height)),
            false => Ok((bytes, l.columns, l.rows)),
        }
    }

    /// Only the given layer and level, as a texture of its own (a 2D one, or the 3D level).
    ///
    /// # Errors
    /// If there is no such layer or level.
    pub fn part(&self, layer: Option<u32>, level: Option<u32>) -> Result<Self, TextureError> {
        self.check()?;
        let layers = layer.map_or(0..self.layers, |l| l..l.saturating_add(1));
        let levels = level.map_or(0..self.levels, |l| l..l.saturating_add(1));
        let mut data = Vec::new();
        let mut first = None;
        for layer in layers.clone() {
            for level in levels.clone() {
                let surface = self.surface(layer, level)?;
                data.extend_from_slice(&self.data[surface.range]);
                first.get_or_insert(surface.level);
            }
        }
        let (width, height, depth) = first.map_or((1, 1, 1), |l| (l.width, l.height, l.depth));
        let target = match (layer, self.target) {
            (Some(_), Target::D1Array) => Target::D1,
            (Some(_), Target::D2Array | Target::Cube | Target::CubeArray) => Target::D2,
            (Some(_), Target::D2MultisampleArray) => Target::D2Multisample,
            (_, target) => target,
        };
        let packaged = if level.is_some_and(|l| l > 0) { None } else { self.packaged };
        Ok(Self {
            name: self.name.clone(),
            target,
            width,
            height,
            depth,
            layers: layers.len() as u32,
            levels: levels.len() as u32,
            packaged,
            data,
            ..*self
        })
    }

    /// Slice `slice` of the only layer and level, as a 2D texture.
    ///
    /// # Errors
    /// If there is no such slice.
    pub fn only_slice(&self, slice: u32) -> Result<Self, TextureError> {
        let single = self.part(Some(0), Some(0))?;
        let (bytes, ..) = single.slice(0, 0, slice)?;
        let data = bytes.to_vec();
        let target = if self.target == Target::D3 { Target::D2 } else { single.target };
        Ok(Self { target, depth: 1, packaged: None, data, ..single })
    }

    /// The same texels in another format. Between formats of numbers from 0 to 1, sRGB ones among them, the numbers go
    /// over as they are stored, so that a picture stays byte for byte what it is whichever name it gets
    /// ([`Curve::Keep`]). To and from all others go the values that a shader reads.
    ///
    /// # Errors
    /// If the format is compressed and other bytes than this texture's.
    pub fn to_format(&self, format: &'static FormatInfo) -> Result<Self, TextureError> {
        self.to_format_with(format, Curve::Keep)
    }

    /// [`Texture::to_format`] with a choice of what becomes of numbers on the sRGB curve.
    ///
    /// # Errors
    /// As [`Texture::to_format`].
    pub fn to_format_with(&self, format: &'static FormatInfo, curve: Curve) -> Result<Self, TextureError> {
        if format == self.format {
            return Ok(self.clone());
        }
        if curve == Curve::Keep && self.format.srgb_pair() == Some(format) {
            return Ok(Self { format, name: self.name.clone(), data: self.data.clone(), ..*self });
        }
        if self.samples > 1 {
            return Err(TextureError::Multisampled);
        }
        let mut out = Self { format, packaged: None, name: self.name.clone(), data: Vec::new(), ..*self };
        let normalised = |info: &FormatInfo| matches!(info.class, Class::Unorm | Class::Srgb);
        // Whether numbers go over as they are stored: then the curve is none of this function's.
        let stored = normalised(self.format)
            && normalised(format)
            && (curve == Curve::Keep || self.format.class == format.class);
        let to = match format.class {
            Class::Srgb if stored => format.srgb_pair().unwrap_or(format),
            _ => format,
        };
        // Numbers of 8 bits go over without a detour through floats. Only of exactly 8: others would be rounded twice.
        // (Every sRGB format is of 8 bits.)
        let bytes = stored && stores_8_bits(self.format);
        for layer in 0..self.layers {
            for level in 0..self.levels {
                for slice in 0..self.surface(layer, level)?.level.slices {
                    let (from, width, height) = self.slice(layer, level, slice)?;
                    let texels = if bytes {
                        encode_rgba8(to, &decode_rgba8(self.format, from, width, height)?, width, height)?
                    } else {
                        encode_rgba32f(to, &decode_rgba32f(self.format, from, width, height)?, width, height)?
                    };
                    out.data.extend_from_slice(&texels);
                }
            }
        }
        Ok(out)
    }

    /// A full chain of levels, each the average of the one before, averaged as linear values.
    ///
    /// # Errors
    /// For compressed formats: convert to an uncompressed one first.
    pub fn with_mips(&self, levels: Option<u32>) -> Result<Self, TextureError> {
        if self.samples > 1 {
            return Err(TextureError::Multisampled);
        }
        let most = full_chain(self);
        let levels = levels.unwrap_or(most);
        if levels > most || levels == 0 {
            return Err(TextureError::Levels { levels, most });
        }
        let mut out = Self { levels, packaged: None, name: self.name.clone(), data: Vec::new(), ..*self };
        let shape = Layout::new(&out.input())?;
        for layer in 0..self.layers {
            let mut above: Vec<Vec<[f32; 4]>> = Vec::new();
            for (index, level) in shape.levels.iter().enumerate() {
                if index == 0 {
                    let surface = self.surface(layer, 0)?;
                    out.data.extend_from_slice(&self.data[surface.range]);
                    if levels > 1 {
                        for slice in 0..level.slices {
                            let (bytes, w, h) = self.slice(layer, 0, slice)?;
                            above.push(decode_rgba32f(self.format, bytes, w, h)?);
                        }
                    }
                    continue;
                }
                let from = &shape.levels[index - 1];
                above = (0..level.slices).map(|z| average(&above, from, level, z)).collect();
                for slice in &above {
                    out.data.extend_from_slice(&encode_rgba32f(self.format, slice, level.width, level.height)?);
                }
            }
        }
        Ok(out)
    }
}

/// Slice `z` of a level as the mean of the two texels each way that it covers (one where there is only one).
fn average(above: &[Vec<[f32; 4]>], from: &LevelLayout, to: &LevelLayout, z: u32) -> Vec<[f32; 4]> {
    let pair = |i: u32, have: u32| [(2 * i).min(have - 1), (2 * i + 1).min(have - 1)];
    let mut out = Vec::with_capacity((to.width * to.height) as usize);
    for y in 0..to.height {
        for x in 0..to.width {
            let mut sum = [0.0f32; 4];
            for sz in pair(z, from.slices) {
                for sy in pair(y, from.height) {
                    for sx in pair(x, from.width) {
                        let texel = above[sz as usize][(sy * from.width + sx) as usize];
                        sum.iter_mut().zip(texel).for_each(|(s, v)| *s += v);
                    }
                }
            }
            out.push(sum.map(|s| s / 8.0));
        }
    }
    out
}

/// Whether [`decode_rgba8`] gives exactly what a format of numbers from 0 to 1 stores.
fn stores_8_bits(info: &FormatInfo) -> bool {
    match info.packing() {
        Some(packing) => packing.fields.iter().flatten().all(|field| field.bits == 8),
        None => crate::codec::blocks_are_8_bit(info),
    }
}

/// Levels down to a single texel.
fn full_chain(texture: &Texture) -> u32 {
    if texture.target.is_multisample() || matches!(texture.target, Target::Buffer | Target::Rectangle) {
        return 1;
    }
    let depth = if texture.target == Target::D3 { texture.depth } else { 1 };
    32 - (texture.width | texture.height | depth | 1).leading_zeros()
}

/// Packed bytes of a layer.
fn packed_layer(layout: &Layout) -> u64 {
    layout.levels.iter().map(LevelLayout::packed_bytes).sum()
}
