//! Block-compressed textures on devices that lack their format (ASTC on desktops): the image has RGBA8 texels, made of
//! the guest's blocks by the CPU whenever blocks go into the image.
//!
//! Nothing makes blocks of texels again, so the texture's storage keeps the blocks: a command that copies blocks into the
//! image puts them there too ([`keep`]), and one that copies out of the texture takes them from there ([`blocks`]).
//! Storage that the CPU does not write has a copy of its own for that in the texture, made when the first command copies
//! into it. Blocks that a command copies out of a buffer are read when the command is replayed, so what the GPU writes
//! into that buffer before, in the same piece of work, is not among them.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use ash::vk;
use navin_abi::fault;
use navin_texture::swizzle::touched;
use navin_texture::{LevelLayout, Pitch, Region, SwizzleError, codec, tile, untile};
use navin_vulkan::{Encoder, Image};

use crate::driver::Driver;
use crate::host::textures::Texture;

/// Blocks of a texture: of one level, the same region of some layers.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub level: u32,
    pub layers: Range<u32>,
    pub region: Region,
}

impl Part {
    fn level<'a>(&self, texture: &'a Texture) -> Option<&'a LevelLayout> {
        texture.layout.levels.get(self.level as usize)
    }

    /// How the blocks of a layer lie without padding, and the bytes of a layer.
    fn packed(&self, level: &LevelLayout) -> (Pitch, usize) {
        let pitch = Pitch::packed(level, &self.region);
        (pitch, pitch.slice * self.region.depth as usize)
    }
}

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

/// The blocks of a part as the texture's storage has them, without padding, layer after layer; none, named, where the
/// storage is gone.
pub(crate) fn blocks(driver: &Driver, texture: &Texture, part: &Part) -> Option<Vec<u8>> {
    let took = || -> Option<Result<Vec<u8>, SwizzleError>> {
        let level = part.level(texture)?;
        let (pitch, layer_bytes) = part.packed(level);
        let bytes = texture.bytes(driver)?;
        let kept = texture.kept.lock();
        let mut out = vec![0; layer_bytes * part.layers.len()];
        for (layer, rows) in part.layers.clone().zip(out.chunks_exact_mut(layer_bytes.max(1))) {
            let range = texture.part(part.level, layer)?;
            let storage = match &*kept {
                Some(kept) => Cow::Borrowed(kept.get(range.start as usize..range.end as usize)?),
                None => {
                    bytes.bring(&driver.context, range.clone());
                    bytes.read(range)
                }
            };
            if let Err(e) = untile(rows, pitch, &storage, level, texture.order, part.region) {
                return Some(Err(e));
            }
        }
        Some(Ok(out))
    };
    let why = match took() {
        Some(Ok(blocks)) => return Some(blocks),
        Some(Err(e)) => e.to_string(),
        None => "its storage is gone".to_owned(),
    };
    fault!(key = texture.serial, "", "blocks of texture {} cannot be taken ({why}): not copied", texture.serial);
    None
}

/// Puts blocks without padding, layer after layer, where [`blocks`] finds them.
pub(crate) fn keep(driver: &Driver, texture: &Texture, part: &Part, blocks: &[u8]) {
    let kept = || -> Option<Result<(), SwizzleError>> {
        let level = part.level(texture)?;
        let (pitch, layer_bytes) = part.packed(level);
        let bytes = texture.bytes(driver)?;
        let inside = touched(level, &part.region);
        for (layer, rows) in part.layers.clone().zip(blocks.chunks_exact(layer_bytes.max(1))) {
            let range = texture.part(part.level, layer)?;
            let mut done = Ok(());
            if bytes.cpu_writes() {
                let touched = range.start + inside.start..(range.start + inside.end).min(range.end);
                bytes.update_within(range, touched, |storage| {
                    done = tile(storage, level, texture.order, part.region, rows, pitch);
                });
            } else {
                let mut kept = texture.kept.lock();
                let all = kept.get_or_insert_with(|| {
                    let all = 0..texture.layout.size;
                    bytes.bring(&driver.context, all.clone());
                    bytes.read(all).into()
                });
                let storage = all.get_mut(range.start as usize..range.end as usize)?;
                done = tile(storage, level, texture.order, part.region, rows, pitch);
            }
            if done.is_err() {
                return Some(done);
            }
        }
        Some(Ok(()))
    };
    let why = match kept() {
        Some(Ok(())) => return,
        Some(Err(e)) => e.to_string(),
        None => "its storage is gone".to_owned(),
    };
    fault!(
        key = texture.serial,
        "",
        "blocks of texture {} cannot be kept ({why}): copies out of it give what was there before",
        texture.serial
    );
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
