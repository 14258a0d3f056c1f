//! Copies, blits, resolves, fills. They end the rendering scope and are not ordered among themselves.

use std::sync::Arc;

use ash::vk;

use super::scope::Class;
use super::{BufferRange, Encoder};
use crate::image::Image;

const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

/// Issues a transfer and counts it.
macro_rules! transfer {
    ($self:ident, $call:expr) => {{
        $self.enter(Class::Transfer);
        // SAFETY: recording outside a scope; the objects are alive and images in layout GENERAL; regions are the
        // caller's and lie inside them.
        unsafe { $call };
        $self.counters.transfers += 1;
    }};
}

impl Encoder {
    /// Copies between buffers. Regions must not overlap.
    pub fn copy_buffer(&mut self, src: vk::Buffer, dst: vk::Buffer, regions: &[vk::BufferCopy2<'_>]) {
        if regions.is_empty() {
            return;
        }
        let info = vk::CopyBufferInfo2::default().src_buffer(src).dst_buffer(dst).regions(regions);
        transfer!(self, self.gpu.device.cmd_copy_buffer2(self.commands, &info));
    }

    /// Copies into an image.
    pub fn copy_buffer_to_image(&mut self, src: vk::Buffer, dst: &Arc<Image>, regions: &[vk::BufferImageCopy2<'_>]) {
        if regions.is_empty() {
            return;
        }
        let info = vk::CopyBufferToImageInfo2::default()
            .src_buffer(src)
            .dst_image(dst.raw())
            .dst_image_layout(GENERAL)
            .regions(regions);
        transfer!(self, self.gpu.device.cmd_copy_buffer_to_image2(self.commands, &info));
    }

    /// Copies out of an image.
    pub fn copy_image_to_buffer(&mut self, src: &Arc<Image>, dst: vk::Buffer, regions: &[vk::BufferImageCopy2<'_>]) {
        if regions.is_empty() {
            return;
        }
        let info = vk::CopyImageToBufferInfo2::default()
            .src_image(src.raw())
            .src_image_layout(GENERAL)
            .dst_buffer(dst)
            .regions(regions);
        transfer!(self, self.gpu.device.cmd_copy_image_to_buffer2(self.commands, &info));
    }

    /// Copies between images of compatible formats.
    pub fn copy_image(&mut self, src: &Arc<Image>, dst: &Arc<Image>, regions: &[vk::ImageCopy2<'_>]) {
        if regions.is_empty() {
            return;
        }
        let info = vk::CopyImageInfo2::default()
            .src_image(src.raw())
            .src_image_layout(GENERAL)
            .dst_image(dst.raw())
            .dst_image_layout(GENERAL)
            .regions(regions);
        transfer!(self, self.gpu.device.cmd_copy_image2(self.commands, &info));
    }

    /// Scales and converts between images.
    pub fn blit(&mut self, src: &Arc<Image>, dst: &Arc<Image>, regions: &[vk::ImageBlit2<'_>], filter: vk::Filter) {
        if regions.is_empty() {
            return;
        }
        let info = vk::BlitImageInfo2::default()
            .src_image(src.raw())
            .src_image_layout(GENERAL)
            .dst_image(dst.raw())
            .dst_image_layout(GENERAL)
            .regions(regions)
            .filter(filter);
        transfer!(self, self.gpu.device.cmd_blit_image2(self.commands, &info));
    }

    /// Resolves samples of colour images.
    pub fn resolve(&mut self, src: &Arc<Image>, dst: &Arc<Image>, regions: &[vk::ImageResolve2<'_>]) {
        if regions.is_empty() {
            return;
        }
        let info = vk::ResolveImageInfo2::default()
            .src_image(src.raw())
            .src_image_layout(GENERAL)
            .dst_image(dst.raw())
            .dst_image_layout(GENERAL)
            .regions(regions);
        transfer!(self, self.gpu.device.cmd_resolve_image2(self.commands, &info));
    }

    /// Clears a range of a colour image outside any scope.
    pub fn clear_image(&mut self, image: &Arc<Image>, value: vk::ClearColorValue, range: vk::ImageSubresourceRange) {
        if image.aspects() != vk::ImageAspectFlags::COLOR {
            return;
        }
        let ranges = [range];
        transfer!(self, self.gpu.device.cmd_clear_color_image(self.commands, image.raw(), GENERAL, &value, &ranges));
    }

    /// Clears a range of a depth-stencil image outside any scope; the range's aspects say which of the two.
    pub fn clear_depth_stencil_image(
        &mut self,
        image: &Arc<Image>,
        depth: f32,
        stencil: u32,
        range: vk::ImageSubresourceRange,
    ) {
        if image.aspects() == vk::ImageAspectFlags::COLOR {
            return;
        }
        let value = vk::ClearDepthStencilValue { depth, stencil };
        let ranges = [range];
        transfer!(
            self,
            self.gpu.device.cmd_clear_depth_stencil_image(self.commands, image.raw(), GENERAL, &value, &ranges)
        );
    }

    /// Fills with a word; offset and size are rounded down to multiples of 4.
    pub fn fill_buffer(&mut self, range: BufferRange, word: u32) {
        let offset = range.offset & !3;
        let size = if range.size == vk::WHOLE_SIZE { range.size } else { range.size & !3 };
        if range.is_null() || size == 0 {
            return;
        }
        transfer!(self, self.gpu.device.cmd_fill_buffer(self.commands, range.buffer, offset, size, word));
    }

    /// Writes bytes in stream order. Short ones travel in the command buffer, others through transient memory.
    pub fn update_buffer(&mut self, buffer: vk::Buffer, offset: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let inline = bytes.len() <= 4096 && bytes.len().is_multiple_of(4) && offset.is_multiple_of(4);
        if inline {
            transfer!(self, self.gpu.device.cmd_update_buffer(self.commands, buffer, offset, bytes));
            return;
        }
        match self.upload(bytes, 16) {
            Ok(slice) => {
                let region = vk::BufferCopy2::default()
                    .src_offset(slice.range.offset)
                    .dst_offset(offset)
                    .size(bytes.len() as u64);
                self.copy_buffer(slice.range.buffer, buffer, &[region]);
            }
            Err(error) => {
                tracing::error!("updating a buffer: {error}");
                self.fail(vk::Result::ERROR_OUT_OF_HOST_MEMORY);
            }
        }
    }
}
