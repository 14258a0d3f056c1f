//! Readback: a level of an image on its way to the CPU, for presents to a sink and for texture reads.

use std::sync::Arc;

use ash::vk;

use crate::encoder::Encoder;
use crate::format::copy_block;
use crate::image::Image;
use crate::memory::{Buffer, MemoryError, MemoryKind};

/// A copy of an image level on its way to the CPU.
pub struct Readback {
    buffer: Buffer,
    extent: vk::Extent3D,
    row_bytes: u64,
    size: u64,
}

impl Readback {
    /// Records the copy of one aspect of a level's layers: rows tight, slices and layers one after the other.
    ///
    /// # Errors
    /// A level, layer or aspect that the image has not, a format of unknown size, multisampling, no memory.
    pub fn record(
        encoder: &mut Encoder,
        image: &Arc<Image>,
        aspect: vk::ImageAspectFlags,
        level: u32,
        base_layer: u32,
        layers: u32,
    ) -> Result<Readback, MemoryError> {
        let desc = image.desc();
        let refused = |why: &str| Err(MemoryError::Refused(format!("readback of {desc:?}: {why}")));
        if level >= desc.levels || layers == 0 || base_layer.checked_add(layers).is_none_or(|end| end > desc.layers) {
            return refused("no such level or layers");
        }
        if aspect.is_empty() || !image.aspects().contains(aspect) || aspect.as_raw().count_ones() != 1 {
            return refused("no such aspect");
        }
        if desc.samples != vk::SampleCountFlags::TYPE_1 {
            return refused("resolve it first");
        }
        let (block_width, block_height, block_bytes) = copy_block(desc.format, aspect);
        if block_bytes == 0 {
            return refused("the size of its texels is unknown");
        }
        let extent = image.level_extent(level);
        let row_bytes = u64::from(extent.width.div_ceil(block_width)) * u64::from(block_bytes);
        let rows = u64::from(extent.height.div_ceil(block_height)) * u64::from(extent.depth) * u64::from(layers);
        let size = row_bytes * rows;
        let buffer = Buffer::with_gpu(encoder.gpu(), size, MemoryKind::Readback, "readback")?;
        let region = vk::BufferImageCopy2::default()
            .image_subresource(vk::ImageSubresourceLayers {
                aspect_mask: aspect,
                mip_level: level,
                base_array_layer: base_layer,
                layer_count: layers,
            })
            .image_extent(extent);
        encoder.copy_image_to_buffer(image, buffer.raw(), &[region]);
        Ok(Self { buffer, extent, row_bytes, size })
    }

    /// The bytes; right once the submission is complete.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.size as usize];
        self.buffer.read(0, &mut bytes);
        bytes
    }

    /// Runs `f` on the bytes without a copy; right once the submission is complete.
    pub fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
        // SAFETY: the mapping holds `size` bytes, and the copy into it, its only writer, is complete.
        f(unsafe { std::slice::from_raw_parts(self.buffer.mapped(), self.size as usize) })
    }

    /// Bytes of a row of texels (or blocks).
    pub fn row_bytes(&self) -> u64 {
        self.row_bytes
    }

    /// Size of the level in texels.
    pub fn extent(&self) -> vk::Extent3D {
        self.extent
    }
}
