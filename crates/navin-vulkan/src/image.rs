//! Images and views.
use crate::context::Context;
use ash::vk;
use smallvec::SmallVec;
use std::sync::Arc;

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
    /// Formats that views have besides `format`; not empty makes the image mutable. With an empty list and
    /// `mutable`, any compatible format.
    pub view_formats: SmallVec<[vk::Format; 4]>,
    /// Whether views may have any compatible format.
    pub mutable: bool,
    /// Whether cube views are made (layers >= 6, square).
    pub cube: bool,
}

impl ImageDesc {
    /// A 2D image with one level and layer, sampled, used as `usage` says.
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
    /// Aspects; for sampled depth-stencil views exactly one.
    pub aspects: vk::ImageAspectFlags,
    /// First level.
    pub base_level: u32,
    /// Levels.
    pub levels: u32,
    /// First layer (slice of a 3D image for 2D views of it).
    pub base_layer: u32,
    /// Layers.
    pub layers: u32,
    /// Swizzle (r, g, b, a); identity for attachments and storage.
    pub swizzle: [vk::ComponentSwizzle; 4],
    /// What the view is used for: a subset of the image's usage that its format can do.
    pub usage: vk::ImageUsageFlags,
}

/// An image. In layout GENERAL from its first submission to its end.
pub struct Image {}

impl Image {
    /// Makes an image with undefined content.
    pub fn new(context: &Arc<Context>, desc: &ImageDesc, name: &str) -> Result<Arc<Image>, ImageError> {
        let _ = (context, desc, name);
        unimplemented!()
    }
    /// The handle.
    pub fn raw(&self) -> vk::Image {
        unimplemented!()
    }
    /// What it is.
    pub fn desc(&self) -> &ImageDesc {
        unimplemented!()
    }
    /// Aspects of its format.
    pub fn aspects(&self) -> vk::ImageAspectFlags {
        unimplemented!()
    }
    /// Size of a level in texels.
    pub fn level_extent(&self, level: u32) -> vk::Extent3D {
        let _ = level;
        unimplemented!()
    }
    /// The view that `desc` describes, made at the first call, cached with the image.
    pub fn view(self: &Arc<Self>, desc: &ViewDesc) -> Result<View, ImageError> {
        let _ = desc;
        unimplemented!()
    }
    /// The whole image as a view of its own format and natural kind, for `usage`.
    pub fn whole(self: &Arc<Self>, usage: vk::ImageUsageFlags) -> ViewDesc {
        let _ = usage;
        unimplemented!()
    }
    /// Bytes of device memory it takes.
    pub fn memory_size(&self) -> u64 {
        unimplemented!()
    }
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
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("raw", &self.raw).field("desc", &self.desc).finish_non_exhaustive()
    }
}
