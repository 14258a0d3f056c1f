//! Where a texture's content is: one question, asked in one place.
//!
//! The hardware has one memory; Navin has the guest's storage and a Vulkan image. The rules of this stage: an
//! image is filled from the storage at its first use; storage that the guest says it wrote (texel writes, flushed
//! ranges) is fetched again at the next use, unless the GPU has written the image since; what the GPU wrote stays
//! in the image until somebody reads it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ash::vk;
use navin_abi::fault;
use navin_texture::swizzle::Pitch;
use navin_texture::{GobOrder, LevelLayout, Region, tile, untile};
use navin_vulkan::{Access, Encoder, Image, Readback};

use super::images;
use crate::driver::Driver;
use crate::host::textures::{Content, Texture};

/// What the texture is about to be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// The GPU reads it.
    Read,
    /// The GPU writes it: from then on the image's content counts.
    Write,
}

/// The image that holds the texture's content now, made and filled if need be; `None` for a texture that the
/// device cannot have (named once).
///
/// Filling ends an open rendering scope.
pub(crate) fn image_for(
    driver: &Driver,
    encoder: &mut Encoder,
    texture: &Arc<Texture>,
    usage: Use,
) -> Option<Arc<Image>> {
    let mut content = texture.content.lock();
    let stale =
        texture.storage_written.load(Ordering::Relaxed) && texture.storage_written.swap(false, Ordering::Acquire);
    match &mut *content {
        Content::Image { image, gpu_written } => {
            let image = Arc::clone(image);
            if stale && !*gpu_written {
                fill(driver, encoder, texture, &image);
            }
            *gpu_written |= usage == Use::Write;
            Some(image)
        }
        Content::Impossible => None,
        Content::Storage => {
            let Some(image) = make(driver, texture) else {
                *content = Content::Impossible;
                return None;
            };
            fill(driver, encoder, texture, &image);
            *content = Content::Image { image: Arc::clone(&image), gpu_written: usage == Use::Write };
            Some(image)
        }
    }
}

/// Forgets the image: a texture that is used again begins with what its storage holds.
pub(crate) fn release(_driver: &Driver, texture: &Texture) {
    let mut content = texture.content.lock();
    // What the GPU wrote is nowhere else; a descriptor or a recorded command may still read it (B126).
    if matches!(&*content, Content::Image { gpu_written: false, .. }) {
        *content = Content::Storage;
    }
}

/// Copies what the GPU wrote back into the guest's storage: afterwards both hold the same.
pub(crate) fn store(driver: &Driver, texture: &Arc<Texture>) {
    let mut content = texture.content.lock();
    let Content::Image { image, gpu_written } = &mut *content else { return };
    let same_bytes = images::device_format(&driver.context, texture.format).is_some_and(|d| d.same_bytes);
    if !*gpu_written || !same_bytes || texture.desc.samples > 1 {
        if *gpu_written {
            fault!(
                key = texture.serial,
                "B403",
                "texture {} of format {} cannot be stored to guest memory: its texels have another form there",
                texture.serial,
                texture.format.name
            );
        }
        return;
    }
    let Some(storage) = driver.pools.cpu_range(texture.address, texture.layout.size) else { return };
    // SAFETY: inside a live pool's storage; the guest has called for these texels and does not touch them.
    let storage = unsafe { std::slice::from_raw_parts_mut(storage.as_ptr(), texture.layout.size as usize) };
    match read_back(driver, texture, image) {
        Ok(levels) => {
            for (index, level) in texture.layout.levels.iter().enumerate() {
                let layer_bytes = level.packed_bytes() as usize;
                let Some(bytes) = levels.get(index) else { continue };
                for (layer, rows) in (0..texture.layers()).zip(bytes.chunks_exact(layer_bytes)) {
                    let Some(offset) = texture.layout.offset(index as u32, layer) else { continue };
                    let region = Region::whole(level);
                    let pitch = Pitch::packed(level, &region);
                    if let Err(e) = tile(&mut storage[offset as usize..], level, GobOrder::TegraX1, region, rows, pitch)
                    {
                        fault!(
                            key = texture.serial,
                            "B403",
                            "texture {}: level {index} cannot be stored ({e})",
                            texture.serial
                        );
                    }
                }
            }
            *gpu_written = false;
        }
        Err(e) => {
            fault!(
                key = texture.serial,
                "B403",
                "texture {} cannot be read back ({e}): guest memory keeps its bytes",
                texture.serial
            );
        }
    }
}

/// All levels of an image, rows tight, layers one after the other.
fn read_back(driver: &Driver, texture: &Texture, image: &Arc<Image>) -> Result<Vec<Vec<u8>>, String> {
    let queue = driver.context.queue();
    let mut encoder = queue.begin().map_err(|e| e.to_string())?;
    encoder.barrier(Access::All, Access::Transfer);
    let mut readbacks = Vec::new();
    for level in 0..texture.layout.levels.len() as u32 {
        let readback = Readback::record(&mut encoder, image, image.aspects(), level, 0, texture.layers());
        readbacks.push(readback.map_err(|e| e.to_string())?);
    }
    encoder.barrier(Access::Transfer, Access::Host);
    let ticket = queue.submit(encoder).map_err(|e| e.to_string())?;
    while !queue.wait(ticket, Duration::from_secs(1)).map_err(|e| e.to_string())? {}
    Ok(readbacks.iter().map(Readback::bytes).collect())
}

fn make(driver: &Driver, texture: &Texture) -> Option<Arc<Image>> {
    let d = &texture.desc;
    let Some(desc) = images::image_desc(&driver.context, texture) else {
        fault!(
            key = texture.format.format.nvn(),
            "",
            "the device has no image format for {}; textures of it read 0 and are not drawn to",
            texture.format.name
        );
        return None;
    };
    let name = format!("texture {} {}x{}x{} {}", texture.serial, d.width, d.height, d.depth, texture.format.name);
    match Image::new(&driver.context, &desc, &name) {
        Ok(image) => {
            driver.counters.images_made.fetch_add(1, Ordering::Relaxed);
            Some(image)
        }
        Err(e) => {
            fault!(key = texture.serial, "", "{name}: {e}; reads 0 and is not drawn to");
            None
        }
    }
}

/// Copies the whole storage into the image.
fn fill(driver: &Driver, encoder: &mut Encoder, texture: &Texture, image: &Arc<Image>) {
    let Some(device) = images::device_format(&driver.context, texture.format) else { return };
    let range = vk::ImageSubresourceRange {
        aspect_mask: image.aspects(),
        base_mip_level: 0,
        level_count: vk::REMAINING_MIP_LEVELS,
        base_array_layer: 0,
        layer_count: vk::REMAINING_ARRAY_LAYERS,
    };
    encoder.barrier(Access::All, Access::Transfer);
    let readable = device.same_bytes && texture.desc.samples <= 1;
    let storage = readable.then(|| driver.pools.cpu_range(texture.address, texture.layout.size)).flatten();
    let Some(storage) = storage else {
        // Samples and packed depth-stencil have another form in storage, which only the hardware writes: begin
        // with zeros, as fresh memory has them. The same for storage that is not (or no longer) there (B212).
        if image.aspects().contains(vk::ImageAspectFlags::COLOR) {
            if !texture.format.is_compressed() {
                encoder.clear_image(image, vk::ClearColorValue::default(), range);
            }
        } else {
            encoder.clear_depth_stencil_image(image, 0.0, 0, range);
        }
        encoder.barrier(Access::Transfer, Access::All);
        return;
    };
    // SAFETY: `cpu_range` gives a range inside a live pool's storage. The guest may write it meanwhile, as it may
    // while a GPU reads it; the bytes are only copied, never interpreted.
    let bytes = unsafe { std::slice::from_raw_parts(storage.as_ptr(), texture.layout.size as usize) };
    for (index, level) in texture.layout.levels.iter().enumerate() {
        for layer in 0..texture.layers() {
            let Some(offset) = texture.layout.offset(index as u32, layer) else { continue };
            upload_level(encoder, texture, image, level, index as u32, layer, &bytes[offset as usize..]);
        }
    }
    encoder.barrier(Access::Transfer, Access::All);
    driver.counters.texture_uploads.fetch_add(1, Ordering::Relaxed);
    driver.counters.texture_upload_bytes.fetch_add(texture.layout.size, Ordering::Relaxed);
}

/// Untiles one level of one layer into transient memory and copies it from there.
fn upload_level(
    encoder: &mut Encoder,
    texture: &Texture,
    image: &Arc<Image>,
    level: &LevelLayout,
    index: u32,
    layer: u32,
    storage: &[u8],
) {
    let row = level.row_bytes();
    let size = level.packed_bytes();
    // Copies want offsets that are multiples of the texel size and of 4.
    let slice = match encoder.transient(size, 16) {
        Ok(slice) => slice,
        Err(e) => {
            fault!(
                key = texture.serial,
                "",
                "no memory to upload texture {} ({e}): its level {index} reads as before",
                texture.serial
            );
            return;
        }
    };
    // SAFETY: the slice is `size` bytes of mapped memory, valid until the submission.
    let linear = unsafe { std::slice::from_raw_parts_mut(slice.ptr, size as usize) };
    let pitch = Pitch { row: row as usize, slice: (row * u64::from(level.rows)) as usize };
    if let Err(e) = untile(linear, pitch, storage, level, GobOrder::TegraX1, Region::whole(level)) {
        fault!(key = texture.serial, "", "texture {}: level {index} cannot be read ({e})", texture.serial);
        return;
    }
    let region = vk::BufferImageCopy2::default()
        .buffer_offset(slice.range.offset)
        .image_subresource(vk::ImageSubresourceLayers {
            aspect_mask: image.aspects(),
            mip_level: index,
            base_array_layer: layer,
            layer_count: 1,
        })
        .image_extent(vk::Extent3D { width: level.width, height: level.height, depth: level.depth });
    encoder.copy_buffer_to_image(slice.range.buffer, image, &[region]);
}
