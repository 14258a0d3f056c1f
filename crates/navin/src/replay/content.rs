//! Where a texture's content is: one question, asked in one place.
//!
//! The hardware has one memory; Navin has the guest's storage and a Vulkan image. The rules:
//!
//! - An image is filled from the storage at its first use. What a pool held when it was made is its textures' content
//!   too (B315); storage that means nothing is left out ([`is_seeded`]).
//! - What the GPU wrote stays in the image until somebody reads texels; until then no CPU write is looked at.
//! - Storage that the CPU writes is watched from the fill on ([`Filled`]): when anything was written anywhere since
//!   the last look, the texture's pages are asked, and the levels and layers on written pages are filled again.
//!   Tracking knows whole pages only, so at the storage's two ends, where others' bytes share the page, the texture's
//!   own bytes are compared. In a virtual pool pages that were mapped anew count as written (B118).
//! - Where nothing is tracked, storage is fetched again when the guest says that it wrote it (texel writes, flushed
//!   ranges).

use std::borrow::Cow;
use std::hash::Hasher;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ash::vk;
use navin_abi::fault;
use navin_memory::tracking::Stamp;
use navin_texture::swizzle::Pitch;
use navin_texture::{LevelLayout, Region, TextureFlags, tile, untile};
use navin_vulkan::{Access, Encoder, Image, Readback, tiling};

use super::decoded;
use super::images::{self, DeviceFormat};
use super::tiling as on_gpu;
use crate::driver::Driver;
use crate::host::pools::bytes::Bytes;
use crate::host::textures::{Content, Filled, Texture, Watched};

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
    let said =
        texture.storage_written.load(Ordering::Relaxed) && texture.storage_written.swap(false, Ordering::Acquire);
    match &mut *content {
        Content::Image { image, gpu_written, filled } => {
            let image = Arc::clone(image);
            if !*gpu_written {
                let again = matches!(filled, Filled::Again);
                if again {
                    *filled = fill(driver, encoder, texture, &image);
                }
                let news = again || refresh(driver, encoder, texture, &image, filled, said);
                // Nothing but copies writes into decoded blocks, and those put them into storage as well.
                *gpu_written = usage == Use::Write && !decoded::is_decoded(texture, &image);
                if news || *gpu_written {
                    driver.textures.recorded(texture, news);
                }
            }
            Some(image)
        }
        Content::Impossible => None,
        Content::Storage => {
            let Some(image) = make(driver, texture) else {
                *content = Content::Impossible;
                return None;
            };
            let filled = fill(driver, encoder, texture, &image);
            driver.textures.recorded(texture, true);
            let gpu_written = usage == Use::Write && !decoded::is_decoded(texture, &image);
            *content = Content::Image { image: Arc::clone(&image), gpu_written, filled };
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
    let Content::Image { image, gpu_written, filled } = &mut *content else { return };
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
    let Some(bytes) = texture.bytes(driver) else { return };
    if on_gpu::store(driver, texture, image, &bytes) {
        *filled = watched(driver, &bytes, texture.layout.size);
        *gpu_written = false;
        return;
    }
    match read_back(driver, texture, image) {
        Ok(levels) => {
            bytes.update(0..texture.layout.size, |storage| store_levels(texture, &levels, storage));
            // The image holds the same: what is written from here on is news.
            *filled = watched(driver, &bytes, texture.layout.size);
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

/// Puts the rows of all levels into storage order.
fn store_levels(texture: &Texture, levels: &[Vec<u8>], storage: &mut [u8]) {
    for (index, level) in texture.layout.levels.iter().enumerate() {
        let layer_bytes = level.packed_bytes() as usize;
        let Some(bytes) = levels.get(index) else { continue };
        for (layer, rows) in (0..texture.layers()).zip(bytes.chunks_exact(layer_bytes)) {
            let Some(offset) = texture.layout.offset(index as u32, layer) else { continue };
            let region = Region::whole(level);
            let pitch = Pitch::packed(level, &region);
            if let Err(e) = tile(&mut storage[offset as usize..], level, texture.order, region, rows, pitch) {
                fault!(
                    key = texture.serial,
                    "B403",
                    "texture {}: level {index} cannot be stored ({e})",
                    texture.serial
                );
            }
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

/// Whether a texture begins with what its storage holds. Not where the storage has another form than Vulkan's
/// (samples, packed depth and stencil; blocks that are decoded on the way are fine); and in pools that the CPU never reaches not where the bytes mean nothing
/// without the hardware's own tables (B315): depth and stencil, sparse textures, compressible ones (B316: the flag
/// is a hint in every other pool).
fn is_seeded(texture: &Texture, bytes: &Bytes<'_>, device: &DeviceFormat) -> bool {
    if !(device.same_bytes || device.decoded) || texture.desc.samples > 1 {
        return false;
    }
    let flags = TextureFlags::from_bits_retain(texture.desc.flags.raw() as u32);
    bytes.cpu_writes()
        || !(images::is_depth(texture.format) || flags.intersects(TextureFlags::SPARSE | TextureFlags::COMPRESSIBLE))
}

/// Copies the whole storage into the image, or begins it with zeroes.
fn fill(driver: &Driver, encoder: &mut Encoder, texture: &Texture, image: &Arc<Image>) -> Filled {
    let Some(device) = images::device_format(&driver.context, texture.format) else { return Filled::Unwatched };
    let size = texture.layout.size;
    // Storage that is not (or no longer) there reads 0 (B212).
    let bytes = texture.bytes(driver).filter(|bytes| is_seeded(texture, bytes, &device));
    let Some(bytes) = bytes else {
        clear(driver, encoder, texture, image);
        return Filled::Unwatched;
    };
    let filled = watched(driver, &bytes, size);
    if device.same_bytes && on_gpu::fill(driver, encoder, texture, image, &bytes, &tiling::Part::all(&texture.layout)) {
        driver.counters.texture_uploads.fetch_add(1, Ordering::Relaxed);
        driver.counters.texture_upload_bytes.fetch_add(size, Ordering::Relaxed);
        return filled;
    }
    // Written on the GPU and not there yet: to be filled again then.
    bytes.note_gpu_writes(0..size, driver.context.queue().completed());
    let kept = texture.kept.lock();
    let storage = match &*kept {
        Some(kept) => Cow::Borrowed(&**kept),
        None => {
            bytes.bring(&driver.context, 0..size);
            bytes.read(0..size)
        }
    };
    if !bytes.cpu_writes() && storage.iter().all(|byte| *byte == 0) {
        clear(driver, encoder, texture, image);
        return filled;
    }
    encoder.barrier(Access::All, Access::Transfer);
    for_each_part(texture, |_, part| {
        upload(driver, encoder, texture, image, &part, &storage[part.range.start as usize..part.range.end as usize]);
    });
    encoder.barrier(Access::Transfer, Access::All);
    driver.counters.texture_uploads.fetch_add(1, Ordering::Relaxed);
    filled
}

/// Watches the storage from here on; the image is to be filled from what is read after this (B412).
fn watched(driver: &Driver, bytes: &Bytes<'_>, size: u64) -> Filled {
    let (looked, generation) = (driver.pools.moment(), bytes.generation());
    let stamp = bytes.watch(0..size);
    let (head, tail) = bytes.ends(size);
    let ends = [head, tail].map(|end| (stamp, hash(&bytes.read(end))));
    let always = bytes.is_refused(0..size);
    Filled::Watched(Box::new(Watched { looked, always, generation, stamp, parts: None, ends }))
}

/// Fills again what was written since the last time; `said`: the guest says that it wrote some of it. Whether anything
/// was.
fn refresh(
    driver: &Driver,
    encoder: &mut Encoder,
    texture: &Texture,
    image: &Arc<Image>,
    filled: &mut Filled,
    said: bool,
) -> bool {
    let Filled::Watched(watched) = filled else { return false };
    let now = driver.pools.moment();
    if !said && !watched.always && watched.looked == now {
        return false;
    }
    let size = texture.layout.size;
    let Some(bytes) = texture.bytes(driver) else { return false };
    watched.looked = now;
    watched.always = bytes.is_refused(0..size);
    let generation = std::mem::replace(&mut watched.generation, bytes.generation());
    // Where nothing is tracked the guest's word counts, for the whole texture; but not in a pool that the CPU does not
    // reach (B315): there only what the GPU wrote as a buffer is news.
    let everything = said && !bytes.is_tracked() && bytes.cpu_writes();
    let changed = |range: Range<u64>, stamp| {
        !range.is_empty() && (bytes.remapped_since(range.clone(), generation) || bytes.written_since(range, stamp))
    };
    let oldest =
        watched.parts.as_ref().map_or(watched.stamp, |parts| parts.iter().copied().fold(watched.stamp, Stamp::min));
    if !everything && !changed(0..size, oldest.min(watched.ends[0].0).min(watched.ends[1].0)) {
        return false;
    }
    // Pages that lie in the storage whole are believed; of the two at its ends only the texture's own bytes count.
    let (head, tail) = bytes.ends(size);
    let own = head.end..tail.start;
    let mut at_end = [false; 2];
    for ((end, known), written) in [head, tail].into_iter().zip(&mut watched.ends).zip(&mut at_end) {
        if changed(end.clone(), known.0) {
            let stamp = bytes.watch(end.clone());
            let hash = hash(&bytes.read(end));
            *written = hash != known.1;
            *known = (stamp, hash);
        }
    }
    let mut news = Vec::new();
    for_each_part(texture, |number, part| {
        let inside = part.range.start.max(own.start)..part.range.end.min(own.end);
        let stamp = watched.parts.as_ref().map_or(watched.stamp, |parts| parts[number]);
        let written = everything
            || at_end[0] && part.range.start < own.start
            || at_end[1] && part.range.end > own.end
            || changed(inside.clone(), stamp);
        if !written {
            return;
        }
        if !inside.is_empty() {
            let stamp = bytes.watch(inside);
            let all = texture.layout.levels.len() * texture.layers() as usize;
            watched.parts.get_or_insert_with(|| vec![watched.stamp; all].into())[number] = stamp;
        }
        news.push(part);
    });
    if news.is_empty() {
        return false;
    }
    let parts: Vec<_> = news.iter().filter_map(|part| part.for_gpu(texture)).collect();
    let same_bytes = !decoded::is_decoded(texture, image);
    if same_bytes && on_gpu::fill(driver, encoder, texture, image, &bytes, &parts) {
        let bytes: u64 = news.iter().map(|part| part.level.size).sum();
        driver.counters.texture_upload_bytes.fetch_add(bytes, Ordering::Relaxed);
    } else {
        encoder.barrier(Access::All, Access::Transfer);
        for part in &news {
            bytes.bring(&driver.context, part.range.clone());
            upload(driver, encoder, texture, image, part, &bytes.read(part.range.clone()));
        }
        encoder.barrier(Access::Transfer, Access::All);
    }
    driver.counters.texture_uploads.fetch_add(1, Ordering::Relaxed);
    driver.counters.texture_refills.fetch_add(1, Ordering::Relaxed);
    true
}

/// A hash of a few kilobytes at a texture's end.
fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// A level of a layer in storage.
struct Part<'a> {
    level: &'a LevelLayout,
    index: u32,
    layer: u32,
    /// Bytes of the storage.
    range: Range<u64>,
}

impl Part<'_> {
    /// The same in the terms of [`tiling`].
    fn for_gpu(&self, texture: &Texture) -> Option<tiling::Part> {
        Some(tiling::Part { first_layer: self.layer, layers: 1, ..tiling::Part::level(&texture.layout, self.index)? })
    }
}

/// Calls `each` for every level of every layer that has a place in storage, with its number.
fn for_each_part<'a>(texture: &'a Texture, mut each: impl FnMut(usize, Part<'a>)) {
    let mut number = 0;
    for (index, level) in (0..).zip(&texture.layout.levels) {
        for layer in 0..texture.layers() {
            if let Some(range) = texture.part(index, layer) {
                each(number, Part { level, index, layer, range });
            }
            number += 1;
        }
    }
}

/// Begins an image with zeroes, as fresh memory has them.
fn clear(driver: &Driver, encoder: &mut Encoder, texture: &Texture, image: &Arc<Image>) {
    let range = vk::ImageSubresourceRange {
        aspect_mask: image.aspects(),
        base_mip_level: 0,
        level_count: vk::REMAINING_MIP_LEVELS,
        base_array_layer: 0,
        layer_count: vk::REMAINING_ARRAY_LAYERS,
    };
    encoder.barrier(Access::All, Access::Transfer);
    if texture.format.is_compressed() && !decoded::is_decoded(texture, image) {
        // Vulkan clears no blocks.
        for_each_part(texture, |_, part| {
            let zeroes = vec![0; (part.range.end - part.range.start) as usize];
            upload(driver, encoder, texture, image, &part, &zeroes);
        });
    } else if image.aspects().contains(vk::ImageAspectFlags::COLOR) {
        encoder.clear_image(image, vk::ClearColorValue::default(), range);
    } else {
        encoder.clear_depth_stencil_image(image, 0.0, 0, range);
    }
    encoder.barrier(Access::Transfer, Access::All);
}

/// Untiles one level of one layer into transient memory, decoded if the device lacks the format, and copies it from
/// there.
fn upload(
    driver: &Driver,
    encoder: &mut Encoder,
    texture: &Texture,
    image: &Arc<Image>,
    part: &Part<'_>,
    storage: &[u8],
) {
    let Part { level, index, layer, .. } = *part;
    driver.counters.texture_upload_bytes.fetch_add(level.size, Ordering::Relaxed);
    let is_decoded = decoded::is_decoded(texture, image);
    let row = level.row_bytes();
    let texels = decoded::bytes(level.width, level.height, level.slices);
    let size = if is_decoded { texels } else { level.packed_bytes() };
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
    let mut blocks = Vec::new();
    let rows = if is_decoded {
        blocks.resize(level.packed_bytes() as usize, 0);
        &mut blocks
    } else {
        &mut *linear
    };
    if let Err(e) = untile(rows, pitch, storage, level, texture.order, Region::whole(level)) {
        fault!(key = texture.serial, "", "texture {}: level {index} cannot be read ({e})", texture.serial);
        return;
    }
    if is_decoded && !decoded::decode(texture, &blocks, [level.width, level.height], linear) {
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
