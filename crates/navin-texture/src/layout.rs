//! Where a texture's bytes lie: storage size, alignment, and for each level its offset, size and block shape.
//!
//! One function, [`Layout::new`], answers for everybody: the texture builder's size and alignment queries, the CPU
//! copies of [`crate::swizzle`], the GPU's untiling kernels, sparse binds. The rules are those of
//! `facts/maxwell_descriptors.md` section 4 and of behaviours B306, B307 and B309.
//!
//! ```text
//! texture = layers x layer_size          layer = level 0, level 1, ... (then rounding, with several layers)
//! level   = blocks, rows of them, slices of those
//! block   = 1 x 2^h x 2^d GOBs           GOB   = 64 bytes x 8 rows = 512 bytes
//! ```

use thiserror::Error;

use crate::format::FormatInfo;

mod sparse;

pub use sparse::{Tail, TileLayout};

/// Bytes of one GOB.
pub const GOB_BYTES: u64 = 512;
/// Bytes of one row of a GOB.
pub const GOB_WIDTH: u64 = 64;
/// Rows of a GOB.
pub const GOB_HEIGHT: u64 = 8;
/// Bytes of a sparse tile, and of the GPU's big page (device item 0x3A).
pub const BIG_PAGE: u64 = 0x1_0000;

/// More levels than any size of this hardware can have (16 for 32,768 texels).
const MAX_LEVELS: u32 = 16;
/// Largest extent accepted: above every limit of the device tables, small enough that products stay far from 2^64.
const MAX_EXTENT: u32 = 1 << 24;

/// `NVNtextureTarget`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Target {
    /// One-dimensional.
    D1 = 0,
    /// Two-dimensional.
    D2 = 1,
    /// Three-dimensional.
    D3 = 2,
    /// Array of one-dimensional textures.
    D1Array = 3,
    /// Array of two-dimensional textures.
    D2Array = 4,
    /// Two-dimensional, multisampled.
    D2Multisample = 5,
    /// Array of two-dimensional multisampled textures.
    D2MultisampleArray = 6,
    /// Two-dimensional, coordinates not normalised.
    Rectangle = 7,
    /// Cube: six layers.
    Cube = 8,
    /// Array of cubes: a multiple of six layers.
    CubeArray = 9,
    /// Texels of a buffer.
    Buffer = 10,
}

impl Target {
    /// The target with the given `NVNtextureTarget` value.
    pub const fn from_nvn(value: i32) -> Option<Self> {
        Some(match value {
            0 => Self::D1,
            1 => Self::D2,
            2 => Self::D3,
            3 => Self::D1Array,
            4 => Self::D2Array,
            5 => Self::D2Multisample,
            6 => Self::D2MultisampleArray,
            7 => Self::Rectangle,
            8 => Self::Cube,
            9 => Self::CubeArray,
            10 => Self::Buffer,
            _ => return None,
        })
    }

    /// Whether the texture is made of layers.
    pub const fn is_layered(self) -> bool {
        matches!(self, Self::D1Array | Self::D2Array | Self::D2MultisampleArray | Self::Cube | Self::CubeArray)
    }

    /// Whether texels hold several samples.
    pub const fn is_multisample(self) -> bool {
        matches!(self, Self::D2Multisample | Self::D2MultisampleArray)
    }
}

bitflags::bitflags! {
    /// `NVNtextureFlags`; unknown bits are kept and mean nothing.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct TextureFlags: u32 {
        /// Can be shown by the display.
        const DISPLAY = 0x1;
        /// Written by the video decoder.
        const VIDEO_DECODE = 0x2;
        /// Can be a storage image.
        const IMAGE = 0x4;
        /// May be kept compressed by the GPU.
        const COMPRESSIBLE = 0x8;
        /// Rows, not blocks.
        const LINEAR = 0x10;
        /// Sparse: 64 KB tiles.
        const SPARSE = 0x20;
        /// Rows, as a render target.
        const LINEAR_RENDER_TARGET = 0x40;
        /// ZCull adapts.
        const ADAPTIVE_ZCULL = 0x80;
        /// 16-bit depth without compression that slows clears.
        const DEPTH16_PREFER_FAST_CLEAR = 0x100;
        /// Small blocks where they save memory (B307).
        const MINIMAL_LAYOUT = 0x200;
        /// ZCull supports stencil.
        const ZCULL_SUPPORT_STENCIL = 0x400;
        const _ = !0;
    }
}

impl TextureFlags {
    /// Whether the storage is rows: either linear flag (B309).
    pub const fn is_linear(self) -> bool {
        self.intersects(Self::LINEAR.union(Self::LINEAR_RENDER_TARGET))
    }
}

/// Block shape that a packaged texture brings along (`NVNpackagedTextureLayout`).
///
/// Present means it replaces the automatic shape, also when all is zero (B306).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PackagedLayout {
    /// log2 of the block height in GOBs; byte 0, bits 0-3.
    pub block_height_log2: u8,
    /// log2 of the block depth in GOBs, used by 3D textures only; byte 0, bits 4-7.
    pub block_depth_log2: u8,
    /// log2 of the sparse tile width in GOBs; byte 1, bits 0-3.
    pub tile_width_log2: u8,
}

impl PackagedLayout {
    /// Reads the guest's eight bytes; bytes 2 to 7 are not known to mean anything.
    pub const fn from_bytes(bytes: [u8; 8]) -> Self {
        Self { block_height_log2: bytes[0] & 0xF, block_depth_log2: bytes[0] >> 4, tile_width_log2: bytes[1] & 0xF }
    }
}

/// What a layout follows from: the texture builder's fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayoutInput {
    /// Target.
    pub target: Target,
    /// Format.
    pub format: &'static FormatInfo,
    /// Width of level 0 in texels.
    pub width: u32,
    /// Height of level 0 in texels; ignored by 1D targets.
    pub height: u32,
    /// Depth of level 0 in texels; used by 3D textures only.
    pub depth: u32,
    /// Layers, six for each cube; 1 for targets without layers.
    pub layers: u32,
    /// Levels, at least 1.
    pub levels: u32,
    /// Samples a texel: 0 and 1 mean one; 2, 4, 8.
    pub samples: u32,
    /// Flags.
    pub flags: TextureFlags,
    /// Explicit row stride of linear storage in bytes; 0 for none.
    pub stride: u64,
    /// The packaged layout, where the guest gave one.
    pub packaged: Option<PackagedLayout>,
}

impl LayoutInput {
    /// A two-dimensional texture of one level without flags.
    pub const fn new_2d(format: &'static FormatInfo, width: u32, height: u32) -> Self {
        Self {
            target: Target::D2,
            format,
            width,
            height,
            depth: 1,
            layers: 1,
            levels: 1,
            samples: 1,
            flags: TextureFlags::empty(),
            stride: 0,
            packaged: None,
        }
    }

    /// Reads the sizes as `nvnTextureBuilderSetSize3D` and its relatives give them: layers in the height of 1D
    /// arrays and in the depth of the other arrays; a cube has six layers whatever the depth says.
    pub fn set_builder_size(&mut self, width: u32, height: u32, depth: u32) {
        let some = |n: u32| n.max(1);
        self.width = width;
        (self.height, self.depth, self.layers) = match self.target {
            Target::D1 | Target::Buffer => (1, 1, 1),
            Target::D2 | Target::Rectangle | Target::D2Multisample => (height, 1, 1),
            Target::D3 => (height, depth, 1),
            Target::D1Array => (1, 1, some(height)),
            Target::D2Array | Target::D2MultisampleArray => (height, 1, some(depth)),
            Target::Cube => (height, 1, 6),
            Target::CubeArray => (height, 1, some(depth)),
        };
    }
}

/// Why a texture has no layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LayoutError {
    /// `NVN_FORMAT_NONE`, which has no texels.
    #[error("no format")]
    Format,
    /// An extent, the layers or the levels are zero.
    #[error("an extent, the layer count or the level count is 0")]
    Zero,
    /// An extent is beyond anything the hardware has.
    #[error("an extent of {0} is beyond the hardware's limits")]
    Extent(u32),
    /// More levels than any texture has.
    #[error("{0} levels, more than any texture has")]
    Levels(u32),
    /// Sample count that the hardware has not.
    #[error("{0} samples, not 1, 2, 4 or 8")]
    Samples(u32),
    /// The packaged layout asks for blocks that the hardware has not (more than 32 GOBs a side).
    #[error("packaged layout with blocks of 2^{0} GOBs")]
    Block(u8),
    /// An explicit stride smaller than a row.
    #[error("stride of {stride} bytes for rows of {row}")]
    Stride {
        /// The stride given.
        stride: u64,
        /// Bytes of a row.
        row: u64,
    },
    /// The sizes multiply to more than the GPU's 40-bit address space.
    #[error("a size beyond the GPU's address space")]
    TooLarge,
}

/// Order of a level's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// Rows `row_stride` bytes apart.
    Linear {
        /// Bytes from one row of blocks to the next.
        row_stride: u64,
    },
    /// Blocks of GOBs.
    BlockLinear {
        /// log2 of the block height in GOBs.
        block_height_log2: u8,
        /// log2 of the block depth in slices.
        block_depth_log2: u8,
        /// GOBs across the level, padding included.
        gob_columns: u64,
    },
}

/// One level of one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LevelLayout {
    /// Bytes from the start of the layer.
    pub offset: u64,
    /// Bytes, padding included.
    pub size: u64,
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Depth in texels.
    pub depth: u32,
    /// Width in format blocks (texels and samples for uncompressed formats).
    pub columns: u32,
    /// Height in format blocks.
    pub rows: u32,
    /// Depth in slices.
    pub slices: u32,
    /// Bytes of a format block.
    pub bytes_per_block: u32,
    /// Order of the bytes.
    pub storage: Storage,
    /// Whether a sparse texture has this level in 64 KB tiles; false in the tail and for other textures.
    pub tiled: bool,
}

impl LevelLayout {
    /// Bytes of one row of format blocks without padding.
    pub const fn row_bytes(&self) -> u64 {
        self.columns as u64 * self.bytes_per_block as u64
    }

    /// Bytes of the whole level packed without padding: rows x row bytes x slices.
    pub const fn packed_bytes(&self) -> u64 {
        self.row_bytes() * self.rows as u64 * self.slices as u64
    }
}

/// Shape of a sparse texture's tiles in texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SparseTile {
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Depth in texels.
    pub depth: u32,
    /// Levels that are tiled; the tail begins with the next (B117).
    pub tiled_levels: u32,
}

/// The whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// One entry a level.
    pub levels: Vec<LevelLayout>,
    /// Layers.
    pub layers: u32,
    /// Bytes from one layer to the next.
    pub layer_size: u64,
    /// Bytes of the whole texture: `nvnTextureBuilderGetStorageSize`.
    pub size: u64,
    /// Alignment in bytes: `nvnTextureBuilderGetStorageAlignment`.
    pub alignment: u64,
    /// Row stride of linear storage in bytes; 0 for blocks.
    pub row_stride: u64,
    /// Tiles of a sparse texture.
    pub sparse: Option<SparseTile>,
}

/// Block shape of a texture before it shrinks for small levels.
#[derive(Clone, Copy)]
struct BlockShape {
    height_log2: u8,
    depth_log2: u8,
    /// log2 of GOBs to which a sparse level's width is padded.
    pad_log2: u8,
}

impl Layout {
    /// Lays out a texture.
    ///
    /// # Errors
    /// For sizes, levels, samples or strides that no texture has; never panics or overflows.
    pub fn new(input: &LayoutInput) -> Result<Self, LayoutError> {
        let geometry = Geometry::new(input)?;
        // The texels of a buffer are one row, as the header of a buffer texture has them.
        let rows = input.flags.is_linear() || input.target == Target::Buffer;
        if rows { geometry.linear(input) } else { geometry.block_linear(input) }
    }

    /// Bytes from the texture's start to `level` of `layer`; none where there is no such subresource.
    pub fn offset(&self, level: u32, layer: u32) -> Option<u64> {
        let level = self.levels.get(level as usize)?;
        (layer < self.layers).then(|| self.layer_size * u64::from(layer) + level.offset)
    }
}

/// The texture's checked extents.
struct Geometry {
    /// Texels of level 0.
    extent: [u32; 3],
    layers: u32,
    levels: u32,
    /// Factors by which samples enlarge width and height.
    samples: [u32; 2],
    is_3d: bool,
}

impl Geometry {
    fn new(input: &LayoutInput) -> Result<Self, LayoutError> {
        if input.format.bytes_per_block == 0 || input.format.block_width == 0 || input.format.block_height == 0 {
            return Err(LayoutError::Format);
        }
        let (height, depth) = match input.target {
            Target::D1 | Target::D1Array | Target::Buffer => (1, 1),
            Target::D3 => (input.height, input.depth),
            _ => (input.height, 1),
        };
        let layers = if input.target.is_layered() { input.layers } else { 1 };
        let extent = [input.width, height, depth];
        for n in [input.width, height, depth, layers, input.levels] {
            if n == 0 {
                return Err(LayoutError::Zero);
            }
        }
        // The texels of a buffer are one row, which may be far longer than a texture is wide.
        let limit = if input.target == Target::Buffer { 1 << 31 } else { MAX_EXTENT };
        if let Some(n) = extent.into_iter().chain([layers]).find(|n| *n > limit) {
            return Err(LayoutError::Extent(n));
        }
        if input.levels > MAX_LEVELS {
            return Err(LayoutError::Levels(input.levels));
        }
        // Samples lie beside each other as a larger image (facts, table 1e).
        let samples = match (input.target.is_multisample(), input.samples) {
            (false, _) | (true, 0 | 1) => [1, 1],
            (true, 2) => [2, 1],
            (true, 4) => [2, 2],
            (true, 8) => [4, 2],
            (true, n) => return Err(LayoutError::Samples(n)),
        };
        Ok(Self { extent, layers, levels: input.levels, samples, is_3d: input.target == Target::D3 })
    }

    /// Texels of `level`, and the same in format blocks.
    fn level_extent(&self, format: &FormatInfo, level: u32) -> ([u32; 3], [u32; 3]) {
        let texels = self.extent.map(|n| (n >> level).max(1));
        let blocks = [
            (texels[0] * self.samples[0]).div_ceil(format.block_width),
            (texels[1] * self.samples[1]).div_ceil(format.block_height),
            texels[2],
        ];
        (texels, blocks)
    }

    /// Linear storage: one level of rows, in pixel rows also for compressed formats (B306, B309).
    fn linear(&self, input: &LayoutInput) -> Result<Layout, LayoutError> {
        let format = input.format;
        let ([width, height, depth], [columns, rows, slices]) = self.level_extent(format, 0);
        let row = u64::from(columns) * u64::from(format.bytes_per_block);
        let row_stride = if input.stride != 0 {
            if input.stride < row {
                return Err(LayoutError::Stride { stride: input.stride, row });
            }
            input.stride
        } else {
            row.next_multiple_of(if input.flags.contains(TextureFlags::LINEAR_RENDER_TARGET) { 128 } else { 32 })
        };
        let pixel_rows = u64::from(height) * u64::from(self.samples[1]) * u64::from(slices);
        let size = row_stride.checked_mul(pixel_rows).ok_or(LayoutError::TooLarge)?;
        let level = LevelLayout {
            offset: 0,
            size,
            width,
            height,
            depth,
            columns,
            rows,
            slices,
            bytes_per_block: format.bytes_per_block,
            storage: Storage::Linear { row_stride },
            tiled: false,
        };
        let total = total(size, self.layers)?;
        Ok(Layout {
            levels: vec![level],
            layers: self.layers,
            layer_size: size,
            size: total,
            alignment: GOB_BYTES,
            row_stride,
            sparse: None,
        })
    }

    fn block_linear(&self, input: &LayoutInput) -> Result<Layout, LayoutError> {
        let sparse = input.flags.contains(TextureFlags::SPARSE);
        let (levels, layer_size) = match self.forced_shape(input)? {
            Some(shape) => self.lay_out(input.format, shape)?,
            None => {
                let automatic = self.lay_out(input.format, self.automatic_shape(input))?;
                let minimal = BlockShape { height_log2: 0, depth_log2: 0, pad_log2: 0 };
                match input.flags.contains(TextureFlags::MINIMAL_LAYOUT) {
                    // B307: the automatic blocks unless a whole layer is larger with them. A layer is rounded to whole
                    // blocks only where another follows; whether the driver also counts that rounding for the one
                    // layer of a texture with levels, which would choose single GOBs more often, is not known.
                    true => match self.lay_out(input.format, minimal)? {
                        small if small.1 < automatic.1 => small,
                        _ => automatic,
                    },
                    false => automatic,
                }
            }
        };
        let big_pages = sparse || input.flags.contains(TextureFlags::COMPRESSIBLE);
        let mut size = total(layer_size, self.layers)?;
        if big_pages && !sparse {
            size = size.next_multiple_of(BIG_PAGE);
        }
        let mut levels = levels;
        let sparse = sparse.then(|| {
            let [width, height, depth] = sparse_tile(input.format, self.is_3d);
            // Samples lie beside each other as a larger image: a tile holds so many texels less.
            let (width, height) = (width / self.samples[0], height / self.samples[1]);
            for level in &mut levels {
                level.tiled = level.width >= width && level.height >= height && level.depth >= depth;
            }
            let tiled_levels = levels.iter().take_while(|l| l.tiled).count() as u32;
            SparseTile { width, height, depth, tiled_levels }
        });
        Ok(Layout {
            sparse,
            levels,
            layers: self.layers,
            layer_size,
            size,
            alignment: if big_pages { BIG_PAGE } else { GOB_BYTES },
            row_stride: 0,
        })
    }

    /// The block shape that a packaged layout or sparse tiles impose.
    fn forced_shape(&self, input: &LayoutInput) -> Result<Option<BlockShape>, LayoutError> {
        let sparse = input.flags.contains(TextureFlags::SPARSE);
        if let Some(packaged) = input.packaged {
            // B306: the depth nibble counts for 3D textures only.
            let depth_log2 = if self.is_3d { packaged.block_depth_log2 } else { 0 };
            for log2 in [packaged.block_height_log2, depth_log2] {
                if log2 > 5 {
                    return Err(LayoutError::Block(log2));
                }
            }
            // Streamed ASTC 6x6 textures of 1024x1024 have their second level at 0x81000 (B118), which is a width of
            // 43 GOBs: a packaged sparse texture is padded by its own nibble, not by the tile's width.
            let pad_log2 = if sparse { packaged.tile_width_log2.min(7) } else { 0 };
            return Ok(Some(BlockShape { height_log2: packaged.block_height_log2, depth_log2, pad_log2 }));
        }
        if sparse {
            let [_, tile_height, tile_depth] = sparse_tile(input.format, self.is_3d);
            let rows = tile_height / input.format.block_height;
            let height_log2 = (rows / GOB_HEIGHT as u32).max(1).ilog2() as u8;
            let depth_log2 = tile_depth.ilog2() as u8;
            // A tile is one row of 128 GOBs' worth of blocks.
            let pad_log2 = 7 - height_log2 - depth_log2;
            return Ok(Some(BlockShape { height_log2, depth_log2, pad_log2 }));
        }
        Ok(None)
    }

    /// NVN's automatic shape: by the height for 2D, by the depth alone for 3D.
    fn automatic_shape(&self, input: &LayoutInput) -> BlockShape {
        let (_, [_, rows, slices]) = self.level_extent(input.format, 0);
        let half_more = |n: u32| u64::from(n) + u64::from(n) / 2;
        if self.is_3d {
            let depth_log2 = half_more(slices).clamp(1, 16).ilog2() as u8;
            return BlockShape { height_log2: 0, depth_log2, pad_log2: 0 };
        }
        // The video decoder writes blocks of two GOBs.
        if input.flags.contains(TextureFlags::VIDEO_DECODE) {
            return BlockShape { height_log2: 1, depth_log2: 0, pad_log2: 0 };
        }
        let height_log2 = (half_more(rows) / GOB_HEIGHT).clamp(1, 16).ilog2() as u8;
        BlockShape { height_log2, depth_log2: 0, pad_log2: 0 }
    }

    /// All levels of one layer with a block shape, and the layer's size.
    fn lay_out(&self, format: &FormatInfo, shape: BlockShape) -> Result<(Vec<LevelLayout>, u64), LayoutError> {
        let mut levels = Vec::with_capacity(self.levels as usize);
        let mut offset = 0u64;
        let mut first_block = GOB_BYTES;
        for index in 0..self.levels {
            let ([width, height, depth], [columns, rows, slices]) = self.level_extent(format, index);
            let gob_rows = u64::from(rows).div_ceil(GOB_HEIGHT);
            // A level smaller than half a block gets half a block, and so on.
            let shrink = |mut log2: u8, have: u64| {
                while log2 > 0 && have <= 1 << (log2 - 1) {
                    log2 -= 1;
                }
                log2
            };
            let block_height_log2 = shrink(shape.height_log2, gob_rows);
            let block_depth_log2 = shrink(shape.depth_log2, u64::from(slices));
            let row_bytes = u64::from(columns) * u64::from(format.bytes_per_block);
            let mut gob_columns = row_bytes.div_ceil(GOB_WIDTH);
            // Levels of at least one block each way are padded to whole sparse tiles. What counts is the level's own
            // extent, not that of its GOBs, and a block is one GOB wide: a level narrower than a tile is padded too,
            // although it lies in the tail.
            if u64::from(rows) >= GOB_HEIGHT << shape.height_log2
                && u64::from(slices) >= 1 << shape.depth_log2
                && row_bytes >= GOB_WIDTH
            {
                gob_columns = gob_columns.next_multiple_of(1 << shape.pad_log2);
            }
            let size = gob_columns
                .checked_mul(GOB_BYTES)
                .and_then(|n| n.checked_mul(gob_rows.next_multiple_of(1 << block_height_log2)))
                .and_then(|n| n.checked_mul(u64::from(slices).next_multiple_of(1 << block_depth_log2)))
                .ok_or(LayoutError::TooLarge)?;
            if index == 0 {
                first_block = GOB_BYTES << (block_height_log2 + block_depth_log2);
            }
            levels.push(LevelLayout {
                offset,
                size,
                width,
                height,
                depth,
                columns,
                rows,
                slices,
                bytes_per_block: format.bytes_per_block,
                storage: Storage::BlockLinear { block_height_log2, block_depth_log2, gob_columns },
                tiled: false,
            });
            offset = offset.checked_add(size).ok_or(LayoutError::TooLarge)?;
        }
        if self.layers > 1 {
            offset = offset.checked_next_multiple_of(first_block).ok_or(LayoutError::TooLarge)?;
        }
        Ok((levels, offset))
    }
}

/// `layers` times `layer`, within the GPU's 40-bit address space.
fn total(layer: u64, layers: u32) -> Result<u64, LayoutError> {
    layer.checked_mul(u64::from(layers)).filter(|n| *n <= 1 << 40).ok_or(LayoutError::TooLarge)
}

/// A 64 KB tile in texels. The 2D shapes are measured for 4-byte texels and 16-byte blocks (B120); the others have
/// the same area rule, which is that of Vulkan's standard block shapes.
fn sparse_tile(format: &FormatInfo, is_3d: bool) -> [u32; 3] {
    let blocks = match (is_3d, format.bytes_per_block) {
        (false, 1) => [256, 256, 1],
        (false, 2) => [256, 128, 1],
        (false, 3 | 4) => [128, 128, 1],
        (false, 6 | 8) => [128, 64, 1],
        (false, _) => [64, 64, 1],
        (true, 1) => [64, 32, 32],
        (true, 2) => [32, 32, 32],
        (true, 3 | 4) => [32, 32, 16],
        (true, 6 | 8) => [32, 16, 16],
        (true, _) => [16, 16, 16],
    };
    [blocks[0] * format.block_width, blocks[1] * format.block_height, blocks[2]]
}

#[cfg(test)]
mod tests;
