//! Untiling and tiling on the GPU: between block-linear storage, where guests keep textures, and images.
//!
//! The driver names storage by the buffer range in which a pool came ([`Storage`]) and the parts of it that an image
//! is to be filled from, or that are to hold what is in the image ([`Part`]). Each goes through rows in scratch
//! memory: one dispatch of `shaders/untile.comp` for all levels and layers, then Vulkan's own copy into the image;
//! backwards with `shaders/tile.comp`. Rows, and not stores into the image from the shader, because Vulkan's copies
//! know every format, block-compressed and depth ones too, and the order that the device keeps images in; what the
//! detour costs is device memory read and written once, where the storage itself is mostly reached over a bus.
//!
//! Both orders of GOBs, regions, levels, layers, slices in deep blocks, samples (which are a larger image in storage),
//! and blocks of 1 to 16 bytes go the same way: the shaders copy pieces of 16 bytes, and `job` says where those are.
//! Rows in storage (linear textures) need no shader and no scratch memory.
//!
//! Scratch memory is one buffer for the whole queue: between a dispatch and a copy the encoder has a full barrier
//! anyway, and so it has between submissions. What is larger goes through it in bands.

mod job;
mod rows;

use std::sync::Arc;

use ash::vk;
use navin_texture::{GobOrder, Layout, Region, layout::LevelLayout};

use crate::encoder::{BufferRange, Encoder};
use crate::format::copy_block;
use crate::gpu::Gpu;
use crate::image::Image;
use crate::layout::Layouts;
use crate::memory::{Buffer, MemoryError, MemoryKind};
use crate::shader::{Shader, ShaderError};

pub use rows::RowsLayout;

use job::Job;

/// Most bytes of scratch memory.
pub const SCRATCH: u64 = 32 << 20;
/// Fewest.
const SCRATCH_MIN: u64 = 4 << 20;

/// Why nothing was copied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TilingError {
    /// No such level, layer or region.
    #[error("level {level}, layers {first_layer} to {end_layer}, {region:?}: not in the texture", end_layer = first_layer + layers)]
    Part {
        /// Level.
        level: u32,
        /// First layer.
        first_layer: u32,
        /// Layers.
        layers: u32,
        /// Region.
        region: Region,
    },
    /// The storage's range is shorter than the texture.
    #[error("{have:#x} bytes of storage where the texture has {want:#x}")]
    Short {
        /// Bytes of the range.
        have: u64,
        /// Bytes needed.
        want: u64,
    },
    /// Storage or rows lie where the GPU's copies do not reach them: not at a multiple of 16 bytes, or, for linear
    /// storage, not of the texel size.
    #[error("bytes at {0:#x}, which is no multiple of the size that the GPU copies by")]
    Misaligned(u64),
    /// The image's texels have another size than the storage's, or there is no such aspect.
    #[error("texels of {image} bytes in the image and of {storage} in storage")]
    Texels {
        /// Bytes of a block of the image's format; 0 for an unknown one.
        image: u32,
        /// Bytes of a block in storage.
        storage: u32,
    },
    /// The shaders could not be made.
    #[error(transparent)]
    Shader(#[from] ShaderError),
    /// No scratch memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The dispatch could not be recorded; the submission fails.
    #[error("the dispatch was not recorded")]
    Dispatch,
}

/// A texture's bytes as the GPU sees them.
#[derive(Clone, Copy, Debug)]
pub struct Storage<'a> {
    /// From the texture's first byte on, as long as the layout or longer.
    pub range: BufferRange,
    /// Where what lies.
    pub layout: &'a Layout,
    /// The console's order.
    pub order: GobOrder,
}

/// A region of a level, in some layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Level.
    pub level: u32,
    /// First layer.
    pub first_layer: u32,
    /// Layers.
    pub layers: u32,
    /// In format blocks; samples of multisampled textures count as texels.
    pub region: Region,
}

impl Part {
    /// A level in all layers.
    pub fn level(layout: &Layout, level: u32) -> Option<Self> {
        let region = Region::whole(layout.levels.get(level as usize)?);
        Some(Self { level, first_layer: 0, layers: layout.layers, region })
    }

    /// Every level in all layers.
    pub fn all(layout: &Layout) -> Vec<Self> {
        (0..layout.levels.len() as u32).filter_map(|level| Self::level(layout, level)).collect()
    }
}

impl Storage<'_> {
    /// The level of a part, if the part is in the texture and in the range.
    fn check(&self, part: &Part) -> Result<&LevelLayout, TilingError> {
        let &Part { level, first_layer, layers, region } = part;
        let outside = TilingError::Part { level, first_layer, layers, region };
        let fits = |from: u32, count: u32, all: u32| count > 0 && from.checked_add(count).is_some_and(|end| end <= all);
        let Some(found) = self.layout.levels.get(level as usize) else { return Err(outside) };
        let inside = fits(first_layer, layers, self.layout.layers)
            && fits(region.x, region.width, found.columns)
            && fits(region.y, region.height, found.rows)
            && fits(region.z, region.depth, found.slices);
        if !inside {
            return Err(outside);
        }
        if self.range.size < self.layout.size {
            return Err(TilingError::Short { have: self.range.size, want: self.layout.size });
        }
        Ok(found)
    }

    /// Bytes from the range's begin to a level in a layer.
    fn offset(&self, level: &LevelLayout, layer: u32) -> u64 {
        self.layout.layer_size * u64::from(layer) + level.offset
    }
}

/// The shaders, and the scratch memory of what is recorded next.
pub(crate) struct TilingKit {
    untile: Arc<Shader>,
    tile: Arc<Shader>,
    scratch: Option<Arc<Buffer>>,
}

impl TilingKit {
    fn new(gpu: &Arc<Gpu>, layouts: &Layouts) -> Result<Self, ShaderError> {
        Ok(Self {
            untile: crate::encoder::own_shader(
                gpu,
                layouts,
                include_bytes!("../../shaders/untile.comp.spv"),
                "untile",
            )?,
            tile: crate::encoder::own_shader(gpu, layouts, include_bytes!("../../shaders/tile.comp.spv"), "tile")?,
            scratch: None,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Untile,
    Tile,
}

/// Regions of rows in scratch memory that go through it at once.
#[derive(Default)]
struct Batch {
    jobs: Vec<Job>,
    copies: Vec<vk::BufferImageCopy2<'static>>,
    /// Bytes of scratch memory so far.
    bytes: u64,
}

impl Encoder {
    /// Records the filling of parts of an image from storage. The caller orders it with the work before and after
    /// ([`Encoder::barrier`]); the image has the storage's levels and layers, and texels of the storage's bytes.
    ///
    /// # Errors
    /// Parts that are not there, texels of other sizes, no memory: parts before the failure may have been copied.
    pub fn untile_to_image(
        &mut self,
        storage: &Storage<'_>,
        parts: &[Part],
        image: &Arc<Image>,
        aspect: vk::ImageAspectFlags,
    ) -> Result<(), TilingError> {
        self.through_scratch(Direction::Untile, storage, parts, image, aspect)
    }

    /// Records the way back of [`Encoder::untile_to_image`]: bytes of the storage outside the parts, padding among
    /// them, stay as they are.
    ///
    /// # Errors
    /// As [`Encoder::untile_to_image`].
    pub fn tile_from_image(
        &mut self,
        storage: &Storage<'_>,
        parts: &[Part],
        image: &Arc<Image>,
        aspect: vk::ImageAspectFlags,
    ) -> Result<(), TilingError> {
        self.through_scratch(Direction::Tile, storage, parts, image, aspect)
    }

    /// Records the copy of a part of block-linear storage to rows in a buffer, laid out as [`RowsLayout::new`] says
    /// from `rows` on, which lies at a multiple of 16 bytes. The bytes between the rows are written too.
    ///
    /// # Errors
    /// A part that is not there, linear storage, or misaligned rows.
    pub fn untile_to_rows(&mut self, storage: &Storage<'_>, part: &Part, rows: BufferRange) -> Result<(), TilingError> {
        let job = self.rows_job(storage, part, rows)?;
        self.run_jobs(Direction::Untile, &[job])
    }

    /// Records the copy of rows, laid out as [`RowsLayout::new`] says, into a part of block-linear storage. Other
    /// bytes of the storage stay.
    ///
    /// # Errors
    /// As [`Encoder::untile_to_rows`].
    pub fn tile_from_rows(&mut self, storage: &Storage<'_>, part: &Part, rows: BufferRange) -> Result<(), TilingError> {
        let job = self.rows_job(storage, part, rows)?;
        self.run_jobs(Direction::Tile, &[job])
    }

    fn rows_job(&self, storage: &Storage<'_>, part: &Part, rows: BufferRange) -> Result<Job, TilingError> {
        let level = storage.check(part)?;
        let layout = RowsLayout::new(level, &part.region, part.layers);
        if rows.size < layout.size {
            return Err(TilingError::Short { have: rows.size, want: layout.size });
        }
        Job::new(storage, self.device_address(storage.range), part, &layout, self.device_address(rows))
    }

    fn through_scratch(
        &mut self,
        direction: Direction,
        storage: &Storage<'_>,
        parts: &[Part],
        image: &Arc<Image>,
        aspect: vk::ImageAspectFlags,
    ) -> Result<(), TilingError> {
        // Vulkan copies no samples.
        let single = image.desc().samples == vk::SampleCountFlags::TYPE_1;
        let (block_width, block_height, bytes) =
            if single { copy_block(image.desc().format, aspect) } else { (1, 1, 0) };
        let block = (block_width, block_height);
        let mut total = 0;
        for part in parts {
            let level = storage.check(part)?;
            if bytes != level.bytes_per_block {
                return Err(TilingError::Texels { image: bytes, storage: level.bytes_per_block });
            }
            total += RowsLayout::new(level, &part.region, part.layers).size;
        }
        let linear = storage.layout.row_stride != 0;
        if linear {
            return self.linear(direction, storage, parts, image, aspect, block);
        }
        let address = self.device_address(storage.range);
        let scratch = self.scratch(total)?;
        let mut batch = Batch::default();
        for part in parts {
            let level = storage.check(part)?;
            for band in rows::bands(level, part, scratch.size()) {
                let layout = RowsLayout::new(level, &band.region, band.layers);
                let at = batch.bytes.next_multiple_of(rows::unit(level));
                if at + layout.size > scratch.size() {
                    self.run_batch(direction, &mut batch, &scratch, image)?;
                }
                let at = batch.bytes.next_multiple_of(rows::unit(level));
                if at + layout.size > scratch.size() {
                    // A single row longer than all scratch memory.
                    return Err(TilingError::Short { have: scratch.size(), want: at + layout.size });
                }
                batch.jobs.push(Job::new(storage, address, &band, &layout, scratch.address() + at)?);
                batch.copies.push(image_copy(image, level, &band, aspect, block, at, &layout));
                batch.bytes = at + layout.size;
            }
        }
        self.run_batch(direction, &mut batch, &scratch, image)
    }

    fn run_batch(
        &mut self,
        direction: Direction,
        batch: &mut Batch,
        scratch: &Buffer,
        image: &Arc<Image>,
    ) -> Result<(), TilingError> {
        if direction == Direction::Untile {
            self.run_jobs(direction, &batch.jobs)?;
            self.copy_buffer_to_image(scratch.raw(), image, &batch.copies);
        } else {
            self.copy_image_to_buffer(image, scratch.raw(), &batch.copies);
            self.run_jobs(direction, &batch.jobs)?;
        }
        *batch = Batch::default();
        Ok(())
    }

    /// Linear storage is rows already: Vulkan copies them.
    fn linear(
        &mut self,
        direction: Direction,
        storage: &Storage<'_>,
        parts: &[Part],
        image: &Arc<Image>,
        aspect: vk::ImageAspectFlags,
        block: (u32, u32),
    ) -> Result<(), TilingError> {
        let mut copies = Vec::new();
        for part in parts {
            let level = storage.check(part)?;
            let stride = storage.layout.row_stride;
            let bytes = u64::from(level.bytes_per_block);
            for layer in part.first_layer..part.first_layer + part.layers {
                let region = &part.region;
                let at = storage.range.offset
                    + storage.offset(level, layer)
                    + (u64::from(region.z) * u64::from(level.rows) + u64::from(region.y)) * stride
                    + u64::from(region.x) * bytes;
                if !at.is_multiple_of(bytes) || !stride.is_multiple_of(bytes) {
                    return Err(TilingError::Misaligned(at | stride));
                }
                let layout = RowsLayout {
                    skip: 0,
                    row: stride,
                    slice: stride * u64::from(level.rows),
                    layer: storage.layout.layer_size,
                    size: 0,
                };
                let one = Part { first_layer: layer, layers: 1, ..*part };
                copies.push(image_copy(image, level, &one, aspect, block, at, &layout));
            }
        }
        if direction == Direction::Untile {
            self.copy_buffer_to_image(storage.range.buffer, image, &copies);
        } else {
            self.copy_image_to_buffer(image, storage.range.buffer, &copies);
        }
        Ok(())
    }

    /// Scratch memory for `wanted` bytes, or as many as there may be.
    fn scratch(&mut self, wanted: u64) -> Result<Arc<Buffer>, TilingError> {
        let shared = self.shared().clone();
        let mut kit = shared.tiling_kit.lock();
        let kit = made(&mut kit, &shared.gpu, &shared.layouts)?;
        if let Some(scratch) = kit.scratch.as_ref().filter(|scratch| scratch.size() >= wanted.min(SCRATCH)) {
            return Ok(scratch.clone());
        }
        let size = wanted.next_power_of_two().clamp(SCRATCH_MIN, SCRATCH);
        let scratch = Arc::new(Buffer::with_gpu(&shared.gpu, size, MemoryKind::Device, "tiling scratch")?);
        kit.scratch = Some(scratch.clone());
        Ok(scratch)
    }

    /// One dispatch for all jobs.
    fn run_jobs(&mut self, direction: Direction, jobs: &[Job]) -> Result<(), TilingError> {
        if jobs.is_empty() {
            return Ok(());
        }
        let shared = self.shared().clone();
        let shader = {
            let mut kit = shared.tiling_kit.lock();
            let kit = made(&mut kit, &shared.gpu, &shared.layouts)?;
            if direction == Direction::Untile { kit.untile.clone() } else { kit.tile.clone() }
        };
        let (words, groups) = job::table(jobs).ok_or(TilingError::Dispatch)?;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let table = self.upload(&bytes, 16)?;
        let constants = [table.address as u32, (table.address >> 32) as u32, jobs.len() as u32, groups];
        // The fewest groups along each side that every device takes.
        let across = groups.min(1 << 15);
        if self.own_dispatch(&shader, &constants, (across, groups.div_ceil(across))) {
            Ok(())
        } else {
            Err(TilingError::Dispatch)
        }
    }
}

/// The kit, made at its first use.
fn made<'a>(
    kit: &'a mut Option<TilingKit>,
    gpu: &Arc<Gpu>,
    layouts: &Layouts,
) -> Result<&'a mut TilingKit, ShaderError> {
    if kit.is_none() {
        *kit = Some(TilingKit::new(gpu, layouts)?);
    }
    kit.as_mut().ok_or(ShaderError::NotSpirv("no shaders"))
}

/// Vulkan's copy between rows at `at` of a buffer and a part of an image.
fn image_copy(
    image: &Image,
    level: &LevelLayout,
    part: &Part,
    aspect: vk::ImageAspectFlags,
    (block_width, block_height): (u32, u32),
    at: u64,
    rows: &RowsLayout,
) -> vk::BufferImageCopy2<'static> {
    let region = &part.region;
    let extent = image.level_extent(part.level);
    let (x, y) = (region.x * block_width, region.y * block_height);
    vk::BufferImageCopy2::default()
        .buffer_offset(at + rows.skip)
        .buffer_row_length((rows.row / u64::from(level.bytes_per_block)) as u32 * block_width)
        .buffer_image_height((rows.slice / rows.row) as u32 * block_height)
        .image_subresource(vk::ImageSubresourceLayers {
            aspect_mask: aspect,
            mip_level: part.level,
            base_array_layer: part.first_layer,
            layer_count: part.layers,
        })
        .image_offset(vk::Offset3D { x: x as i32, y: y as i32, z: region.z as i32 })
        .image_extent(vk::Extent3D {
            width: (region.width * block_width).min(extent.width.saturating_sub(x)),
            height: (region.height * block_height).min(extent.height.saturating_sub(y)),
            depth: region.depth,
        })
}
