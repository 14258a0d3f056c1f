//! Block-compressed textures on devices that lack their format (ASTC on desktops): the image has RGBA8 texels, made of
//! the guest's blocks by the CPU whenever blocks go into the image.
//!
//! Nothing makes blocks of texels again: what the GPU changes in such an image stays there. Blocks that a command copies
//! out of a buffer are read when the command is replayed, so what the GPU writes into that buffer before, in the same
//! piece of work, is not among them.

use std::sync::Arc;

use ash::vk;
use navin_abi::fault;
use navin_texture::codec;
use navin_vulkan::{Encoder, Image};

use crate::host::textures::Texture;

/// Whether the image holds texels where the texture has blocks.
pub(crate) fn is_decoded(texture: &Texture, image: &Image) -> bool {
    texture.format.is_astc() && image.desc().format != vk::Format::from_raw(texture.format.vk_format)
}

/// Bytes of so many texels in the image.
pub(crate) const fn bytes(width: u32, height: u32, slices: u32) -> u64 {
    width as u64 * height as u64 * slices as u64 * 4
}

/// Decodes slices of blocks without padding to rows of texels; false, named, where that fails.
pub(crate) fn decode(texture: &Texture, blocks: &[u8], [width, height]: [u32; 2], texels: &mut [u8]) -> bool {
    let columns = u64::from(width.div_ceil(texture.format.block_width));
    let rows = u64::from(height.div_ceil(texture.format.block_height));
    let slice = (columns * rows * u64::from(texture.format.bytes_per_block)).max(1) as usize;
    let pixels = bytes(width, height, 1).max(1) as usize;
    for (from, to) in blocks.chunks_exact(slice).zip(texels.chunks_exact_mut(pixels)) {
        match codec::decode_rgba8(texture.format, from, width, height) {
            Ok(decoded) => to.copy_from_slice(&decoded),
            Err(e) => {
                fault!(
                    key = texture.serial,
                    "",
                    "blocks of texture {} are not decoded ({e}): its texels stay",
                    texture.serial
                );
                return false;
            }
        }
    }
    true
}

/// Records slices of blocks without padding as texels of a part of the image.
pub(crate) fn put(
    encoder: &mut Encoder,
    texture: &Texture,
    image: &Arc<Image>,
    part: vk::BufferImageCopy2<'_>,
    blocks: &[u8],
) {
    let extent = part.image_extent;
    let slices = extent.depth.max(part.image_subresource.layer_count);
    let size = bytes(extent.width, extent.height, slices);
    let slice = match encoder.transient(size, 16) {
        Ok(slice) => slice,
        Err(e) => {
            fault!(key = texture.serial, "", "no memory to decode blocks of texture {} ({e})", texture.serial);
            return;
        }
    };
    // SAFETY: the slice is `size` bytes of mapped memory, valid until the submission.
    let texels = unsafe { std::slice::from_raw_parts_mut(slice.ptr, size as usize) };
    if decode(texture, blocks, [extent.width, extent.height], texels) {
        encoder.copy_buffer_to_image(slice.range.buffer, image, &[part.buffer_offset(slice.range.offset)]);
    }
}
