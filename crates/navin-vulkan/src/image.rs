//! Images and views.
//!
//! Every image is in layout GENERAL from the first submission after its making to its end. Textures are reached
//! through the tables by whatever shader the guest runs, so nobody could say in which layout a draw needs them;
//! with one layout there is nothing to track, NVN's barriers map to plain memory barriers, and a render target may
//! be sampled in the draw that writes it as far as the hardware lets it. Desktop drivers pay nothing or little for
//! it (`VK_KHR_unified_image_layouts` exists to say so). The transition from UNDEFINED is recorded at the head of
//! the next submission ([`crate::queue`]), so callers never see it.
//!
//! Views belong to their image: made once per description, destroyed with the image, and so gone with a finalized
//! texture (B126). A [`View`] is a counted reference to the image beside the handle.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationScheme};
use parking_lot::Mutex;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::context::Context;
use crate::format::format_aspects;
use crate::gpu::Gpu;
use crate::retire::Garbage;

/// Images at least this large get memory of their own, which drivers like for render targets.
const DEDICATED_BYTES: u64 = 16 << 20;

/// Why an image or view could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The device cannot do this combination; says which.
    #[error("unsupported image: {0}")]
    Unsupported(String),
    /// Out of memory or refused by the driver.
    #[error("{0}")]
    Refused(String),
}

/// What an image is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageDesc {
    /// 1D, 2D or 3D.
    pub kind: vk::ImageType,
    /// Format.
    pub format: vk::Format,
    /// Size of level 0 in texels.
    pub extent: vk::Extent3D,
    /// Mip levels.
    pub levels: u32,
    /// Array layers (6 per cube).
    pub layers: u32,
    /// Samples of a texel.
    pub samples: vk::SampleCountFlags,
    /// What it is used for. Transfer source and destination are always added.
    pub usage: vk::ImageUsageFlags,
    /// Formats that views have besides `format`; not empty makes the image mutable.
    pub view_formats: SmallVec<[vk::Format; 4]>,
    /// Whether views may have any compatible format (slower on some devices than naming them).
    pub mutable: bool,
    /// Whether cube views are made (layers >= 6, square).
    pub cube: bool,
}

impl ImageDesc {
    /// A 2D image with one level and layer.
    pub fn new_2d(format: vk::Format, width: u32, height: u32, usage: vk::ImageUsageFlags) -> Self {
        Self {
            kind: vk::ImageType::TYPE_2D,
            format,
            extent: vk::Extent3D { width, height, depth: 1 },
            levels: 1,
            layers: 1,
            samples: vk::SampleCountFlags::TYPE_1,
            usage,
            view_formats: SmallVec::new(),
            mutable: false,
            cube: false,
        }
    }
}

/// What a view shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ViewDesc {
    /// Kind.
    pub kind: vk::ImageViewType,
    /// Format.
    pub format: vk::Format,
    /// Aspects; exactly one for sampled views of depth-stencil images.
    pub aspects: vk::ImageAspectFlags,
    /// First level.
    pub base_level: u32,
    /// Levels.
    pub levels: u32,
    /// First layer (slice of a 3D image, for 2D views of it).
    pub base_layer: u32,
    /// Layers.
    pub layers: u32,
    /// Swizzle (r, g, b, a); identity for attachments and storage.
    pub swizzle: [vk::ComponentSwizzle; 4],
    /// What the view is used for: a subset of the image's usage that its format can do.
    pub usage: vk::ImageUsageFlags,
}

/// An image, in layout GENERAL. Dropping it at any time is safe.
pub struct Image {
    gpu: Arc<Gpu>,
    raw: vk::Image,
    desc: ImageDesc,
    memory_size: u64,
    allocation: Mutex<Option<Allocation>>,
    views: Mutex<HashMap<ViewDesc, vk::ImageView, FxBuildHasher>>,
    /// Whether the image still waits in [`Gpu::fresh`] for all its maker knows; only a hint for the drop.
    maybe_fresh: AtomicBool,
}

impl Image {
    /// Makes an image with undefined content.
    ///
    /// # Errors
    /// A format, size or usage that the device cannot do, or no memory.
    pub fn new(context: &Arc<Context>, desc: &ImageDesc, name: &str) -> Result<Arc<Image>, ImageError> {
        let gpu = &context.gpu;
        let mut desc = desc.clone();
        desc.usage |= vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
        let flags = create_flags(gpu, &desc);
        let limits = check(gpu, &desc, flags)?;
        let within = desc.extent.width <= limits.max_extent.width
            && desc.extent.height <= limits.max_extent.height
            && desc.extent.depth <= limits.max_extent.depth
            && desc.levels <= limits.max_mip_levels
            && desc.layers <= limits.max_array_layers
            && limits.sample_counts.contains(desc.samples);
        if !within {
            return Err(ImageError::Unsupported(format!("{name}: {desc:?} is beyond the device's limits")));
        }

        let mut formats = desc.view_formats.clone();
        formats.push(desc.format);
        let mut list = vk::ImageFormatListCreateInfo::default().view_formats(&formats);
        let mut info = vk::ImageCreateInfo::default()
            .flags(flags)
            .image_type(desc.kind)
            .format(desc.format)
            .extent(desc.extent)
            .mip_levels(desc.levels)
            .array_layers(desc.layers)
            .samples(desc.samples)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(desc.usage)
            .initial_layout(vk::ImageLayout::UNDEFINED);
        if !desc.mutable && formats.len() > 1 {
            info = info.push_next(&mut list);
        }
        let refused = |what: &str, error: vk::Result| ImageError::Refused(format!("{name}: {what}: {error}"));
        // SAFETY: the description was checked against the device.
        let raw = unsafe { gpu.device.create_image(&info, None) }.map_err(|error| refused("no image", error))?;
        // SAFETY: the image was just made.
        let requirements = unsafe { gpu.device.get_image_memory_requirements(raw) };
        gpu.images.fetch_add(1, Ordering::Relaxed);
        // From here on dropping `image` destroys what was made.
        let image = Self {
            gpu: gpu.clone(),
            raw,
            desc,
            memory_size: requirements.size,
            allocation: Mutex::default(),
            views: Mutex::default(),
            maybe_fresh: AtomicBool::new(false),
        };
        let scheme = if requirements.size >= DEDICATED_BYTES {
            AllocationScheme::DedicatedImage(raw)
        } else {
            AllocationScheme::GpuAllocatorManaged
        };
        let allocation = gpu
            .allocate(name, requirements, MemoryLocation::GpuOnly, false, scheme)
            .map_err(|error| ImageError::Refused(error.to_string()))?;
        // SAFETY: the allocation fits the requirements and is bound once.
        let bound = unsafe { gpu.device.bind_image_memory(raw, allocation.memory(), allocation.offset()) };
        *image.allocation.lock() = Some(allocation);
        bound.map_err(|error| refused("binding memory", error))?;
        gpu.name(raw, name);
        gpu.fresh.lock().images.push((raw, format_aspects(image.desc.format)));
        image.maybe_fresh.store(true, Ordering::Relaxed);
        Ok(Arc::new(image))
    }

    /// The handle.
    pub fn raw(&self) -> vk::Image {
        self.raw
    }

    /// What it is.
    pub fn desc(&self) -> &ImageDesc {
        &self.desc
    }

    /// Aspects of its format.
    pub fn aspects(&self) -> vk::ImageAspectFlags {
        format_aspects(self.desc.format)
    }

    /// Size of a level in texels, at least 1 each way.
    pub fn level_extent(&self, level: u32) -> vk::Extent3D {
        let shrink = |size: u32| size.checked_shr(level).unwrap_or(0).max(1);
        let extent = self.desc.extent;
        vk::Extent3D { width: shrink(extent.width), height: shrink(extent.height), depth: shrink(extent.depth) }
    }

    /// The view that `desc` describes, made at the first call, cached with the image.
    ///
    /// # Errors
    /// A range outside the image, a kind that does not fit it, or a refusal of the driver.
    pub fn view(self: &Arc<Self>, desc: &ViewDesc) -> Result<View, ImageError> {
        let mut views = self.views.lock();
        let raw = match views.get(desc) {
            Some(raw) => *raw,
            None => {
                let raw = self.create_view(desc)?;
                views.insert(*desc, raw);
                raw
            }
        };
        Ok(View { image: self.clone(), raw, desc: *desc })
    }

    /// Level 0 of the whole image, in its own format and natural kind, for `usage`. Sampled and storage views show
    /// all levels; sampled views of depth-stencil images show depth.
    pub fn whole(&self, usage: vk::ImageUsageFlags) -> ViewDesc {
        let array = self.desc.layers > 1;
        let kind = match (self.desc.kind, array) {
            (vk::ImageType::TYPE_1D, false) => vk::ImageViewType::TYPE_1D,
            (vk::ImageType::TYPE_1D, true) => vk::ImageViewType::TYPE_1D_ARRAY,
            (vk::ImageType::TYPE_3D, _) => vk::ImageViewType::TYPE_3D,
            (_, false) => vk::ImageViewType::TYPE_2D,
            (_, true) => vk::ImageViewType::TYPE_2D_ARRAY,
        };
        let mut aspects = self.aspects();
        let sampled = usage.contains(vk::ImageUsageFlags::SAMPLED);
        if sampled && aspects.contains(vk::ImageAspectFlags::DEPTH) {
            aspects = vk::ImageAspectFlags::DEPTH;
        }
        ViewDesc {
            kind,
            format: self.desc.format,
            aspects,
            base_level: 0,
            levels: if sampled { self.desc.levels } else { 1 },
            base_layer: 0,
            layers: self.desc.layers,
            swizzle: [vk::ComponentSwizzle::IDENTITY; 4],
            usage,
        }
    }

    /// Bytes of device memory it takes.
    pub fn memory_size(&self) -> u64 {
        self.memory_size
    }

    fn create_view(&self, desc: &ViewDesc) -> Result<vk::ImageView, ImageError> {
        self.check_view(desc)?;
        let mut usage = vk::ImageViewUsageCreateInfo::default().usage(desc.usage);
        let [r, g, b, a] = desc.swizzle;
        let info = vk::ImageViewCreateInfo::default()
            .image(self.raw)
            .view_type(desc.kind)
            .format(desc.format)
            .components(vk::ComponentMapping { r, g, b, a })
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: desc.aspects,
                base_mip_level: desc.base_level,
                level_count: desc.levels,
                base_array_layer: desc.base_layer,
                layer_count: desc.layers,
            })
            .push_next(&mut usage);
        // SAFETY: the image is alive and the range was checked to lie inside it.
        unsafe { self.gpu.device.create_image_view(&info, None) }
            .map_err(|error| ImageError::Refused(format!("no view {desc:?}: {error}")))
    }

    fn check_view(&self, desc: &ViewDesc) -> Result<(), ImageError> {
        let unsupported = |why: &str| Err(ImageError::Unsupported(format!("view {desc:?}: {why}")));
        // Views of single slices of a 3D image count its slices as layers.
        let sliced = self.desc.kind == vk::ImageType::TYPE_3D && desc.kind != vk::ImageViewType::TYPE_3D;
        let all_layers = if sliced { self.level_extent(desc.base_level).depth } else { self.desc.layers };
        let inside = |base: u32, count: u32, all: u32| count > 0 && base.checked_add(count).is_some_and(|e| e <= all);
        if !inside(desc.base_level, desc.levels, self.desc.levels) {
            return unsupported("levels outside the image");
        }
        if !inside(desc.base_layer, desc.layers, all_layers) {
            return unsupported("layers outside the image");
        }
        if desc.usage.is_empty() || !self.desc.usage.contains(desc.usage) {
            return unsupported("a usage that the image has not");
        }
        if desc.aspects.is_empty() || !format_aspects(self.desc.format).contains(desc.aspects) {
            return unsupported("aspects that the image has not");
        }
        let declared =
            self.desc.mutable || desc.format == self.desc.format || self.desc.view_formats.contains(&desc.format);
        if !declared {
            return unsupported("a format that the image was not made for");
        }
        use vk::{ImageType as I, ImageViewType as V};
        let fits = match (desc.kind, self.desc.kind) {
            (V::TYPE_1D, I::TYPE_1D) | (V::TYPE_2D, I::TYPE_2D) => desc.layers == 1,
            (V::TYPE_1D_ARRAY, I::TYPE_1D) | (V::TYPE_2D_ARRAY, I::TYPE_2D) => true,
            (V::TYPE_3D, I::TYPE_3D) => desc.layers == 1,
            (V::CUBE, I::TYPE_2D) => self.desc.cube && desc.layers == 6,
            (V::CUBE_ARRAY, I::TYPE_2D) => self.desc.cube && desc.layers.is_multiple_of(6),
            (V::TYPE_2D, I::TYPE_3D) => desc.levels == 1 && desc.layers == 1,
            (V::TYPE_2D_ARRAY, I::TYPE_3D) => desc.levels == 1,
            _ => false,
        };
        if !fits {
            return unsupported("a kind that does not fit the image");
        }
        if desc.kind == V::CUBE_ARRAY && !self.gpu.features.cube_array {
            return unsupported("the device has no cube arrays");
        }
        let shader = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::STORAGE;
        let seen = desc.kind == V::TYPE_2D && self.gpu.features.view_2d_of_3d;
        if sliced && desc.usage.intersects(shader) && !seen {
            return unsupported("shaders cannot see slices of 3D images here");
        }
        Ok(())
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        if self.maybe_fresh.load(Ordering::Relaxed) {
            let fresh = &mut self.gpu.fresh.lock().images;
            if let Some(index) = fresh.iter().position(|(raw, _)| *raw == self.raw) {
                fresh.swap_remove(index);
            }
        }
        self.gpu.images.fetch_sub(1, Ordering::Relaxed);
        let views = self.views.get_mut().drain().map(|(_, view)| view).collect();
        self.gpu.retire.push(Garbage::Image(self.raw, views, self.allocation.get_mut().take()));
    }
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Image").field("raw", &self.raw).field("desc", &self.desc).finish_non_exhaustive()
    }
}

fn create_flags(gpu: &Gpu, desc: &ImageDesc) -> vk::ImageCreateFlags {
    let mut flags = vk::ImageCreateFlags::empty();
    if desc.mutable || !desc.view_formats.is_empty() {
        // Extended usage: the image's usage need not hold for its own format, only for the views' formats.
        flags |= vk::ImageCreateFlags::MUTABLE_FORMAT | vk::ImageCreateFlags::EXTENDED_USAGE;
    }
    if desc.cube && desc.layers >= 6 && desc.extent.width == desc.extent.height {
        flags |= vk::ImageCreateFlags::CUBE_COMPATIBLE;
    }
    if desc.kind == vk::ImageType::TYPE_3D && desc.samples == vk::SampleCountFlags::TYPE_1 {
        if desc.usage.contains(vk::ImageUsageFlags::COLOR_ATTACHMENT) {
            flags |= vk::ImageCreateFlags::TYPE_2D_ARRAY_COMPATIBLE;
        }
        let shader = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::STORAGE;
        if gpu.features.view_2d_of_3d && desc.usage.intersects(shader) {
            flags |= vk::ImageCreateFlags::TYPE_2D_VIEW_COMPATIBLE_EXT;
        }
    }
    flags
}

fn check(gpu: &Gpu, desc: &ImageDesc, flags: vk::ImageCreateFlags) -> Result<vk::ImageFormatProperties, ImageError> {
    if desc.extent.width == 0 || desc.extent.height == 0 || desc.extent.depth == 0 {
        return Err(ImageError::Unsupported(format!("an empty image: {desc:?}")));
    }
    let largest = desc.extent.width.max(desc.extent.height).max(desc.extent.depth);
    if desc.levels == 0 || desc.layers == 0 || desc.levels > 32 - largest.leading_zeros() {
        return Err(ImageError::Unsupported(format!("levels or layers that cannot be: {desc:?}")));
    }
    // SAFETY: a plain query.
    unsafe {
        gpu.instance.raw.get_physical_device_image_format_properties(
            gpu.physical,
            desc.format,
            desc.kind,
            vk::ImageTiling::OPTIMAL,
            desc.usage,
            flags,
        )
    }
    .map_err(|error| match error {
        vk::Result::ERROR_FORMAT_NOT_SUPPORTED => ImageError::Unsupported(format!("the device cannot do {desc:?}")),
        other => ImageError::Refused(other.to_string()),
    })
}

/// A view, cheap to clone; keeps its image alive.
#[derive(Clone)]
pub struct View {
    image: Arc<Image>,
    raw: vk::ImageView,
    desc: ViewDesc,
}

impl View {
    /// The handle.
    pub fn raw(&self) -> vk::ImageView {
        self.raw
    }

    /// The image.
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }

    /// What it shows.
    pub fn desc(&self) -> &ViewDesc {
        &self.desc
    }

    /// Size of its first level in texels.
    pub fn extent(&self) -> vk::Extent3D {
        self.image.level_extent(self.desc.base_level)
    }
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("raw", &self.raw).field("desc", &self.desc).finish_non_exhaustive()
    }
}
