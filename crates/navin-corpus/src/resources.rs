//! The standard resources of the README: what a program's buffers, textures and images are and hold.
//!
//! A set of them is made for each run, so that both forms start from the same bytes and what one writes is not seen
//! by the other.

use anyhow::{Context, Result};
use ash::vk;
use navin_shader::ViewKind;

use crate::compare::{Content, Plane};
use crate::fill::{hash, unit};
use crate::gpu::{Arena, Buffer, Image, ImageInfo};
use crate::index::{self, Program, Sampled};
use crate::texel::Texel;

/// Bytes of every storage buffer.
pub const STORAGE_BYTES: u64 = 64 << 10;
/// Texels of every buffer texture and buffer image.
const BUFFER_TEXELS: u32 = 1024;

/// A buffer with its id.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// First binding of its array: the reference's binding.
    pub binding: u32,
    /// Place in the array; the NVN id is their sum.
    pub element: u32,
    /// The buffer.
    pub buffer: Buffer,
    /// Bytes to bind.
    pub range: u64,
}

/// Where a texture's or image's texels are.
#[derive(Clone, Copy, Debug)]
pub enum Texels {
    /// In an image.
    Image(Image),
    /// In a buffer.
    Buffer(Buffer),
}

/// A texture with its sampler.
#[derive(Clone, Copy, Debug)]
pub struct Texture {
    /// First binding of its array.
    pub binding: u32,
    /// Place in the array.
    pub element: u32,
    /// Shape as declared.
    pub kind: ViewKind,
    /// Texels.
    pub texels: Texels,
    /// Format of the texels.
    pub format: vk::Format,
    /// Sampler.
    pub sampler: vk::Sampler,
}

/// A storage image.
#[derive(Clone, Copy, Debug)]
pub struct StorageImage {
    /// First binding of its array.
    pub binding: u32,
    /// Place in the array.
    pub element: u32,
    /// Shape as declared.
    pub kind: ViewKind,
    /// Texels.
    pub texels: Texels,
    /// Format.
    pub texel: Texel,
}

/// Which contents the inputs have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Those of the README.
    Standard,
    /// Others of the same kinds: a run on them must differ, or the comparison sees nothing.
    Other,
}

impl Contents {
    /// Where the words of the hash begin.
    fn shift(self) -> u32 {
        match self {
            Self::Standard => 0,
            Self::Other => 7777,
        }
    }

    fn words(self, kind: crate::fill::Kind, count: u32) -> Vec<u32> {
        let mut words = kind.words(count);
        if self == Self::Other && !words.is_empty() {
            words.rotate_left(1);
        }
        words
    }
}

/// Everything that a program has bound.
#[derive(Debug, Default)]
pub struct Resources {
    /// Uniform blocks.
    pub uniforms: Vec<Bound>,
    /// Storage buffers.
    pub storage: Vec<Bound>,
    /// Textures.
    pub textures: Vec<Texture>,
    /// Images.
    pub images: Vec<StorageImage>,
}

/// Shape of the image behind a view kind.
struct Shape {
    ty: vk::ImageType,
    extent: [u32; 3],
    levels: u32,
    layers: u32,
    samples: u32,
}

fn shape(kind: ViewKind) -> Shape {
    let make = |ty, extent: [u32; 3], layers, samples| {
        let largest = extent.into_iter().max().unwrap_or(1);
        let levels = if samples > 1 { 1 } else { largest.ilog2() + 1 };
        Shape { ty, extent, levels, layers, samples }
    };
    match kind {
        ViewKind::D1 => make(vk::ImageType::TYPE_1D, [64, 1, 1], 1, 1),
        ViewKind::D1Array => make(vk::ImageType::TYPE_1D, [64, 1, 1], 4, 1),
        ViewKind::D2 => make(vk::ImageType::TYPE_2D, [64, 64, 1], 1, 1),
        ViewKind::D2Array => make(vk::ImageType::TYPE_2D, [64, 64, 1], 4, 1),
        ViewKind::D3 => make(vk::ImageType::TYPE_3D, [16, 16, 16], 1, 1),
        ViewKind::Cube => make(vk::ImageType::TYPE_2D, [32, 32, 1], 6, 1),
        ViewKind::CubeArray => make(vk::ImageType::TYPE_2D, [32, 32, 1], 12, 1),
        ViewKind::D2Multisampled => make(vk::ImageType::TYPE_2D, [32, 32, 1], 1, 4),
        ViewKind::D2MultisampledArray => make(vk::ImageType::TYPE_2D, [32, 32, 1], 4, 4),
        ViewKind::Buffer => make(vk::ImageType::TYPE_1D, [BUFFER_TEXELS, 1, 1], 1, 1),
    }
}

/// Vulkan view type of a view kind.
pub fn view_type(kind: ViewKind) -> vk::ImageViewType {
    match kind {
        ViewKind::D1 | ViewKind::Buffer => vk::ImageViewType::TYPE_1D,
        ViewKind::D1Array => vk::ImageViewType::TYPE_1D_ARRAY,
        ViewKind::D2 | ViewKind::D2Multisampled => vk::ImageViewType::TYPE_2D,
        ViewKind::D2Array | ViewKind::D2MultisampledArray => vk::ImageViewType::TYPE_2D_ARRAY,
        ViewKind::D3 => vk::ImageViewType::TYPE_3D,
        ViewKind::Cube => vk::ImageViewType::CUBE,
        ViewKind::CubeArray => vk::ImageViewType::CUBE_ARRAY,
    }
}

impl Resources {
    /// Makes and fills what `program` declares.
    ///
    /// # Errors
    /// If the device refuses something.
    pub fn new(arena: &Arena<'_>, program: &Program, contents: Contents) -> Result<Self> {
        let mut resources = Self::default();
        for block in &program.uniforms {
            for element in 0..block.count {
                let kind = program.fill.uniform(block.binding);
                let range = u64::from(block.size.next_multiple_of(16));
                let words = contents.words(kind, range as u32 / 4);
                // As long as a page of the guest's address space, for programs that read blocks through a pointer.
                let buffer = arena.buffer(STORAGE_BYTES, bytemuck::cast_slice(&words))?;
                resources.uniforms.push(Bound { binding: block.binding, element, buffer, range });
            }
        }
        for storage in &program.storage {
            for element in 0..storage.count {
                let kind = program.fill.storage(storage.binding);
                let words = contents.words(kind, STORAGE_BYTES as u32 / 4);
                let buffer = arena.buffer(STORAGE_BYTES, bytemuck::cast_slice(&words))?;
                resources.storage.push(Bound { binding: storage.binding, element, buffer, range: STORAGE_BYTES });
            }
        }
        for texture in &program.textures {
            for element in 0..texture.count {
                resources.textures.push(make_texture(arena, texture, element, contents)?);
            }
        }
        for image in &program.images {
            for element in 0..image.count {
                resources.images.push(make_image(arena, image, element, contents)?);
            }
        }
        Ok(resources)
    }

    /// What the run left in storage buffers and images.
    ///
    /// # Errors
    /// If a copy fails.
    pub fn read_back(&self, arena: &Arena<'_>) -> Result<Vec<Plane>> {
        let mut planes = Vec::new();
        for bound in &self.storage {
            planes.push(Plane {
                name: format!("storage {}", bound.binding + bound.element),
                content: Content::Buffer,
                width: 0,
                words: bound.buffer.words(),
                untouched: false,
            });
        }
        for image in &self.images {
            let (words, width) = match image.texels {
                Texels::Buffer(buffer) => (buffer.words(), BUFFER_TEXELS),
                // Samples are no part of the comparison.
                Texels::Image(_) if is_multisampled(image.kind) => continue,
                Texels::Image(texels) => (download(arena, &texels, image.texel.bytes)?, texels.extent.width),
            };
            let name = format!("image {}", image.binding + image.element);
            planes.push(Plane { name, content: Content::Image(image.texel), width, words, untouched: false });
        }
        Ok(planes)
    }
}

fn is_multisampled(kind: ViewKind) -> bool {
    matches!(kind, ViewKind::D2Multisampled | ViewKind::D2MultisampledArray)
}

fn make_texture(arena: &Arena<'_>, texture: &index::Texture, element: u32, contents: Contents) -> Result<Texture> {
    let seed = (texture.binding + element) * 100_000 + contents.shift();
    let (format, bytes) = match (texture.shadow, texture.sampled) {
        (true, _) => (vk::Format::D32_SFLOAT, 4),
        (_, Sampled::Float) => (vk::Format::R8G8B8A8_UNORM, 4),
        (_, Sampled::Sint) => (vk::Format::R32G32B32A32_SINT, 16),
        (_, Sampled::Uint) => (vk::Format::R32G32B32A32_UINT, 16),
    };
    let word = |i: u32| if texture.shadow { unit(seed + i).to_bits() } else { hash(seed + i) };
    let words = |texels: u32| (0..texels * bytes / 4).map(word).collect::<Vec<u32>>();
    let texels = if texture.kind == ViewKind::Buffer {
        let words = words(BUFFER_TEXELS);
        Texels::Buffer(arena.buffer(u64::from(BUFFER_TEXELS * bytes), bytemuck::cast_slice(&words))?)
    } else {
        let shape = shape(texture.kind);
        let multisampled = is_multisampled(texture.kind);
        let usage = match multisampled {
            true => vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::COLOR_ATTACHMENT,
            false => vk::ImageUsageFlags::SAMPLED,
        };
        let image = arena.image(&ImageInfo {
            ty: shape.ty,
            format,
            extent: shape.extent,
            levels: shape.levels,
            layers: shape.layers,
            samples: shape.samples,
            usage,
            flags: cube_flags(texture.kind),
        })?;
        if multisampled {
            crate::samples::fill(arena, &image)?;
        } else {
            let (_, total) = image.copies(bytes);
            upload(arena, &image, bytes, bytemuck::cast_slice(&words(total as u32 / bytes)))?;
        }
        Texels::Image(image)
    };
    let mut sampler = vk::SamplerCreateInfo::default().max_lod(vk::LOD_CLAMP_NONE);
    if texture.sampled == Sampled::Float {
        sampler = sampler
            .mag_filter(vk::Filter::LINEAR)
            .min_filter(vk::Filter::LINEAR)
            .mipmap_mode(vk::SamplerMipmapMode::LINEAR);
    }
    if texture.shadow {
        sampler = sampler.compare_enable(true).compare_op(vk::CompareOp::LESS_OR_EQUAL);
    }
    let sampler = arena.sampler(&sampler)?;
    Ok(Texture { binding: texture.binding, element, kind: texture.kind, texels, format, sampler })
}

fn make_image(arena: &Arena<'_>, image: &index::Image, element: u32, contents: Contents) -> Result<StorageImage> {
    let seed = (image.binding + element) * 100_000 + contents.shift();
    let name = match (&image.format, image.sampled) {
        (Some(name), _) => name.as_str(),
        (None, Sampled::Float) => "rgba32f",
        (None, Sampled::Sint) => "r32i",
        (None, Sampled::Uint) => "rgba32ui",
    };
    let texel = Texel::named(name).with_context(|| format!("image format {name}"))?;
    let texels = if image.kind == ViewKind::Buffer {
        let bytes = texel.contents(BUFFER_TEXELS, seed);
        Texels::Buffer(arena.buffer(bytes.len() as u64, &bytes)?)
    } else {
        let shape = shape(image.kind);
        let made = arena.image(&ImageInfo {
            ty: shape.ty,
            format: texel.format,
            extent: shape.extent,
            levels: 1,
            layers: shape.layers,
            samples: shape.samples,
            usage: vk::ImageUsageFlags::STORAGE,
            // Raw views have another format.
            flags: cube_flags(image.kind) | vk::ImageCreateFlags::MUTABLE_FORMAT | vk::ImageCreateFlags::EXTENDED_USAGE,
        })?;
        if !is_multisampled(image.kind) {
            let texels: u32 = shape.extent.iter().product::<u32>() * shape.layers;
            upload(arena, &made, texel.bytes, &texel.contents(texels, seed))?;
        }
        Texels::Image(made)
    };
    Ok(StorageImage { binding: image.binding, element, kind: image.kind, texels, texel })
}

fn cube_flags(kind: ViewKind) -> vk::ImageCreateFlags {
    match kind {
        ViewKind::Cube | ViewKind::CubeArray => vk::ImageCreateFlags::CUBE_COMPATIBLE,
        _ => vk::ImageCreateFlags::empty(),
    }
}

fn upload(arena: &Arena<'_>, image: &Image, texel: u32, data: &[u8]) -> Result<()> {
    let (regions, total) = image.copies(texel);
    let staging = arena.buffer(total, &data[..data.len().min(total as usize)])?;
    arena.gpu.submit(|command| {
        // SAFETY: recording; the regions lie inside both.
        unsafe {
            arena.gpu.device.cmd_copy_buffer_to_image(
                command,
                staging.handle,
                image.handle,
                vk::ImageLayout::GENERAL,
                &regions,
            );
        }
        arena.gpu.barrier(command);
    })?;
    Ok(())
}

/// All levels and layers of an image of one sample, as words.
///
/// # Errors
/// If the copy fails.
pub fn download(arena: &Arena<'_>, image: &Image, texel: u32) -> Result<Vec<u32>> {
    let (regions, total) = image.copies(texel);
    let staging = arena.buffer(total, &[])?;
    arena.gpu.submit(|command| {
        arena.gpu.barrier(command);
        // SAFETY: recording; the regions lie inside both.
        unsafe {
            arena.gpu.device.cmd_copy_image_to_buffer(
                command,
                image.handle,
                vk::ImageLayout::GENERAL,
                staging.handle,
                &regions,
            );
        }
        arena.gpu.barrier(command);
    })?;
    Ok(staging.words())
}
