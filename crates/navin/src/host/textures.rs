//! Textures: what a serial leads to.
//!
//! `nvnTextureInitialize` makes an entry (guest thread); records and descriptors name it by serial, and go on
//! naming it after `nvnTextureFinalize` (B207). The Vulkan image is made by the submit thread at the first use;
//! [`content`](crate::replay::content) alone decides what is in it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use navin_abi::records::{TextureDesc, ViewDesc};
use navin_abi::types::NVNcopyRegion;
use navin_abi::{GuestPtr, fault};
use navin_memory::tracking::Stamp;
use navin_texture::swizzle::{Pitch, Region as SwizzleRegion, touched};
use navin_texture::{
    Format, FormatInfo, GobOrder, Layout, LayoutInput, PackagedLayout, Target, TextureFlags, tile, untile,
};
use navin_vulkan::Image;
use parking_lot::{Mutex, RwLock};

use crate::driver::{self, Driver};
use crate::host::pools::bytes::{Bytes, Moment};
use crate::replay::images;

/// One texture.
pub(crate) struct Texture {
    pub(crate) serial: u64,
    pub(crate) desc: TextureDesc,
    pub(crate) target: Target,
    pub(crate) format: &'static FormatInfo,
    pub(crate) layout: Layout,
    /// The console's order of GOBs (B305).
    pub(crate) order: GobOrder,
    /// GPU address of the storage.
    pub(crate) address: u64,
    /// The guest's storage was written by the CPU after the image was filled from it.
    pub(crate) storage_written: AtomicBool,
    /// The API object was finalized.
    pub(crate) finalized: AtomicBool,
    /// Owned by the submit thread; the lock is never contended.
    pub(crate) content: Mutex<Content>,
    /// Storage order: the blocks of a texture that the device has decoded, in storage that the CPU does not write, once
    /// a command copied some into it.
    pub(crate) kept: Mutex<Option<Box<[u8]>>>,
}

/// Where the texture's content is.
#[derive(Default)]
pub(crate) enum Content {
    /// In the guest's storage only: no image was needed so far.
    #[default]
    Storage,
    /// In the image; the storage holds the same or older bytes.
    Image {
        image: Arc<Image>,
        /// The GPU wrote the image after it was filled: its content wins over the storage's.
        gpu_written: bool,
        /// What the image was filled from.
        filled: Filled,
    },
    /// The device cannot make such an image; named once, reads as empty.
    Impossible,
}

/// What an image was filled from, so that writes since then can be told.
pub(crate) enum Filled {
    /// The storage is not looked at again: it means nothing, or is not there.
    Unwatched,
    /// The CPU may write it, or the GPU as a buffer.
    Watched(Box<Watched>),
    /// What it was filled with never ran: it is to be filled again.
    Again,
}

/// Storage that may be written, and what is known of it.
pub(crate) struct Watched {
    /// When it was last looked at.
    pub(crate) looked: Moment,
    /// Nothing tells of writes into it: it is looked at each time (B205).
    pub(crate) always: bool,
    /// Of what is mapped there, in a virtual pool.
    pub(crate) generation: u64,
    /// Since when writes count, of the whole.
    pub(crate) stamp: Stamp,
    /// The same of each level of each layer, once they differ.
    pub(crate) parts: Option<Box<[Stamp]>>,
    /// The same of the storage's first and last bytes, which share their pages with others', with hashes of them.
    pub(crate) ends: [(Stamp, u64); 2],
}

impl Texture {
    /// Whether the image holds what the GPU wrote and the storage does not.
    pub(crate) fn gpu_written(&self) -> bool {
        matches!(&*self.content.lock(), Content::Image { gpu_written: true, .. })
    }

    /// The bytes of the storage; `None` when its pool is gone.
    pub(crate) fn bytes<'a>(&self, driver: &'a Driver) -> Option<Bytes<'a>> {
        driver.pools.bytes(self.desc.pool, self.desc.offset, self.layout.size)
    }

    /// Where a level of a layer lies in the storage.
    pub(crate) fn part(&self, level: u32, layer: u32) -> Option<std::ops::Range<u64>> {
        let offset = self.layout.offset(level, layer)?;
        let size = self.layout.levels.get(level as usize)?.size;
        Some(offset..(offset + size).min(self.layout.size))
    }

    /// Layers of the image: array layers, six for each cube.
    pub(crate) fn layers(&self) -> u32 {
        self.layout.layers
    }
}

/// Every texture of the process.
#[derive(Default)]
pub(crate) struct Textures {
    next: AtomicU64,
    /// Moves whenever the guest has written some texture's storage.
    writes: AtomicU64,
    live: RwLock<HashMap<u64, Arc<Texture>>>,
    /// Whether the guest was built for the successor, whose GOBs have an order of their own (B305).
    successor: AtomicBool,
    /// Finalized ones that recorded commands or descriptors may still name (B207); without images.
    finalized: Mutex<HashMap<u64, Arc<Texture>>>,
    /// Whose content the command buffer that is being recorded changes, and whether it fills the image.
    recorded: Mutex<Vec<(Arc<Texture>, bool)>>,
}

/// The layout input of a description; `None` for a target or format that NVN has not.
pub(crate) fn layout_input(desc: &TextureDesc) -> Option<LayoutInput> {
    let mut input = LayoutInput::new_2d(Format::from_nvn(desc.format.raw())?, 1, 1);
    input.target = Target::from_nvn(desc.target.raw())?;
    input.set_builder_size(desc.width, desc.height, desc.depth);
    input.levels = desc.levels;
    input.samples = desc.samples;
    input.flags = TextureFlags::from_bits_retain(desc.flags.raw() as u32);
    input.stride = desc.stride;
    input.packaged = desc.packaged_layout.map(PackagedLayout::from_bytes);
    Some(input)
}

impl Textures {
    /// The order of GOBs of textures made from now on: decided once, when the guest opens its device (B305).
    pub(crate) fn set_order(&self, order: GobOrder) {
        self.successor.store(order == GobOrder::Successor, Ordering::Release);
    }

    /// The command buffer that is being recorded fills the texture's image (`filled`), or is the first to write it since
    /// it was filled.
    pub(crate) fn recorded(&self, texture: &Arc<Texture>, filled: bool) {
        self.recorded.lock().push((Arc::clone(texture), filled));
    }

    /// What was recorded runs, or never will: then the storages have the contents, and images that it was to fill are
    /// to be filled again (B644).
    pub(crate) fn submitted(&self, runs: bool) {
        for (texture, was_filled) in self.recorded.lock().drain(..).filter(|_| !runs) {
            if let Content::Image { gpu_written, filled, .. } = &mut *texture.content.lock() {
                *gpu_written = false;
                if was_filled {
                    *filled = Filled::Again;
                }
            }
        }
    }

    fn order(&self) -> GobOrder {
        if self.successor.load(Ordering::Acquire) { GobOrder::Successor } else { GobOrder::TegraX1 }
    }

    /// A texture over its storage; 0 when there is no such texture.
    pub(crate) fn create(&self, desc: &TextureDesc, pool_address: u64) -> u64 {
        let Some(input) = layout_input(desc) else {
            fault!(
                key = (desc.format.raw() as u64) << 32 | desc.target.raw() as u32 as u64,
                "",
                "texture of {:?} and {:?}: NVN has no such texture; refused",
                desc.format,
                desc.target
            );
            return 0;
        };
        let layout = match Layout::new(&input) {
            Ok(layout) => layout,
            Err(e) => {
                fault!(
                    "",
                    "texture {}x{}x{} of {}: {e}; refused",
                    desc.width,
                    desc.height,
                    desc.depth,
                    input.format.name
                );
                return 0;
            }
        };
        let serial = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let texture = Arc::new(Texture {
            serial,
            desc: *desc,
            target: input.target,
            format: input.format,
            layout,
            order: self.order(),
            address: pool_address.wrapping_add(desc.offset),
            storage_written: AtomicBool::new(false),
            finalized: AtomicBool::new(false),
            content: Mutex::default(),
            kept: Mutex::default(),
        });
        self.live.write().insert(serial, texture);
        serial
    }

    /// The texture of a serial, finalized or not.
    pub(crate) fn get(&self, serial: u64) -> Option<Arc<Texture>> {
        if serial == 0 {
            return None;
        }
        self.live.read().get(&serial).cloned().or_else(|| self.finalized.lock().get(&serial).cloned())
    }

    /// Ends the API object. The image goes when nothing uses it any more; the description stays, for commands
    /// recorded earlier.
    pub(crate) fn destroy(&self, serial: u64) -> Option<Arc<Texture>> {
        let texture = self.live.write().remove(&serial)?;
        texture.finalized.store(true, Ordering::Release);
        self.finalized.lock().insert(serial, Arc::clone(&texture));
        Some(texture)
    }

    /// The guest has written `size` bytes at `address`: textures with storage there are fetched again at their
    /// next use.
    pub(crate) fn storage_written(&self, address: u64, size: u64) {
        let end = address.saturating_add(size);
        let mut any = false;
        for texture in self.live.read().values() {
            if texture.address < end && texture.address.saturating_add(texture.layout.size) > address {
                texture.storage_written.store(true, Ordering::Release);
                any = true;
            }
        }
        if any {
            self.writes.fetch_add(1, Ordering::Release);
        }
    }

    /// Moves whenever the guest has written some texture's storage: until then no draw need look.
    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(Ordering::Acquire)
    }

    /// Forgets the descriptions of finalized textures with storage in a pool that goes away: what names them
    /// from then on is an empty texture (B212).
    pub(crate) fn pool_gone(&self, pool: u32) {
        self.finalized.lock().retain(|_, texture| texture.desc.pool != pool);
    }

    /// Live textures.
    pub(crate) fn len(&self) -> usize {
        self.live.read().len()
    }
}

/// A texture over its pool's storage; 0 when there can be none.
pub(crate) fn create(desc: &TextureDesc) -> u64 {
    let Some(driver) = driver::get() else { return 0 };
    match driver.pools.range(desc.pool) {
        Some(range) => {
            let serial = driver.textures.create(desc, range.start);
            // B308's diagnostic: whose texels the CPU may write in the GPU's order, or is to write by rows.
            if tracing::enabled!(target: "navin::textures", tracing::Level::DEBUG)
                && desc.packaged_layout.is_none()
                && let Some(texture) = driver.textures.get(serial)
                && texture.bytes(driver).is_some_and(|bytes| bytes.cpu_writes())
            {
                let (name, d) = (texture.format.name, &texture.desc);
                tracing::debug!(
                    target: "navin::textures",
                    "texture {serial}: {:?} {name} {}x{}x{}, flags {:#x}, at {:#x}: no packaged layout, in a pool that the CPU sees",
                    texture.target,
                    d.width,
                    d.height,
                    d.depth,
                    d.flags.raw(),
                    texture.address
                );
            }
            serial
        }
        None => {
            fault!(key = desc.pool, "B212", "a texture in memory pool {}, which does not exist: refused", desc.pool);
            0
        }
    }
}

pub(crate) fn destroy(serial: u64) {
    if let Some(driver) = driver::get()
        && driver.textures.destroy(serial).is_some()
    {
        // The image goes with the last work that uses it; only the submit thread knows what is bound.
        driver.post_later(Box::new(move |replayer| replayer.release_texture(serial)));
    }
}

/// A part of a texture's level as `NVNcopyRegion` names it, in format blocks, with its layers.
struct Texels {
    level: usize,
    region: SwizzleRegion,
    layers: std::ops::Range<u32>,
}

impl Texture {
    fn texels(&self, view: Option<ViewDesc>, region: &NVNcopyRegion) -> Option<Texels> {
        let selection = images::select(self, &view.unwrap_or(ViewDesc::NONE));
        let level = self.layout.levels.get(selection.base_level as usize)?;
        // B313: linear storage is one 2D level in rows of texels.
        let linear = TextureFlags::from_bits_retain(self.desc.flags.raw() as u32).is_linear();
        let rows = matches!(self.target, Target::D2 | Target::Rectangle) && !self.format.is_compressed();
        if linear && !(rows && selection.base_level == 0) {
            return None;
        }
        let number = |v: i32| u32::try_from(v).ok();
        let (x, y, z) = (number(region.xoffset)?, number(region.yoffset)?, number(region.zoffset)?);
        let (width, height, depth) = (number(region.width)?, number(region.height)?, number(region.depth)?.max(1));
        let (block_width, block_height) = (self.format.block_width, self.format.block_height);
        if x % block_width != 0 || y % block_height != 0 || width == 0 || height == 0 {
            return None;
        }
        let three_d = self.target == Target::D3;
        let one_d_array = self.target == Target::D1Array;
        let (first, count) = if one_d_array { (y, height) } else { (z, depth) };
        let layers = if three_d {
            0..1
        } else {
            let first = selection.base_layer.checked_add(first)?;
            first..first.checked_add(count)?
        };
        let region = SwizzleRegion {
            x: x / block_width,
            y: if one_d_array { 0 } else { y / block_height },
            z: if three_d { z } else { 0 },
            width: width.div_ceil(block_width),
            height: if one_d_array { 1 } else { height.div_ceil(block_height) },
            depth: if three_d { depth } else { 1 },
        };
        let fits = |from: u32, count: u32, size: u32| from.checked_add(count).is_some_and(|end| end <= size);
        let inside = fits(region.x, region.width, level.columns)
            && fits(region.y, region.height, level.rows)
            && fits(region.z, region.depth, level.slices)
            && layers.end <= self.layers();
        inside.then_some(Texels { level: selection.base_level as usize, region, layers })
    }
}

/// Rows of the CPU's side of a texel copy: pitch, and bytes of one layer and of all.
fn rows(texture: &Texture, texels: &Texels, row_stride: u64, image_stride: u64) -> Option<(Pitch, usize, usize)> {
    let level = &texture.layout.levels[texels.level];
    let tight = Pitch::packed(level, &texels.region);
    let row = usize::try_from(row_stride).ok().filter(|stride| *stride != 0).unwrap_or(tight.row);
    let tight_image = row.checked_mul(texels.region.height as usize)?;
    let image = usize::try_from(image_stride).ok().filter(|stride| *stride != 0).unwrap_or(tight_image);
    if row < tight.row || image < tight_image {
        return None;
    }
    let last_image = row * (texels.region.height as usize - 1) + tight.row;
    let images = texels.region.depth as usize;
    let layer = image.checked_mul(images - 1)?.checked_add(last_image)?;
    let total = image.checked_mul(texels.layers.len() * images - 1)?.checked_add(last_image)?;
    Some((Pitch { row, slice: image }, layer, total))
}

/// Copies texels from the guest's rows into the texture (`nvnTextureWriteTexels`); strides of 0 are tight.
pub(crate) fn write_texels(
    serial: u64,
    view: Option<ViewDesc>,
    region: &NVNcopyRegion,
    row_stride: u64,
    image_stride: u64,
    source: GuestPtr<u8>,
) -> bool {
    let Some(copy) = TexelCopy::new(serial, view, region, row_stride, image_stride, source) else { return false };
    let TexelCopy { driver, texture, texels, pitch, layer_bytes, rows } = copy;
    if texture.gpu_written() {
        // What the GPU drew elsewhere in the texture has to be in storage first: storage is then the newest.
        driver.store(&texture);
    }
    let Some(bytes) = texture.bytes(driver) else { return false };
    for (n, layer) in texels.layers.clone().enumerate() {
        let Some(range) = texture.part(texels.level as u32, layer) else { return false };
        let from = &rows[n * pitch.slice..n * pitch.slice + layer_bytes];
        let level = &texture.layout.levels[texels.level];
        let mut written = false;
        let inside = touched(level, &texels.region);
        let touched = range.start + inside.start..(range.start + inside.end).min(range.end);
        bytes.update_within(range, touched, |storage| {
            written = tile(storage, level, texture.order, texels.region, from, pitch).is_ok();
        });
        if !written {
            return false;
        }
    }
    texture.storage_written.store(true, Ordering::Release);
    driver.textures.writes.fetch_add(1, Ordering::Release);
    true
}

/// Copies texels out of the texture into the guest's rows (`nvnTextureReadTexels`); strides of 0 are tight.
pub(crate) fn read_texels(
    serial: u64,
    view: Option<ViewDesc>,
    region: &NVNcopyRegion,
    row_stride: u64,
    image_stride: u64,
    destination: GuestPtr<u8>,
) -> bool {
    let Some(copy) = TexelCopy::new(serial, view, region, row_stride, image_stride, destination) else {
        return false;
    };
    let TexelCopy { driver, texture, texels, pitch, layer_bytes, rows } = copy;
    if texture.gpu_written() {
        driver.store(&texture);
    }
    let Some(bytes) = texture.bytes(driver) else { return false };
    for (n, layer) in texels.layers.clone().enumerate() {
        let Some(range) = texture.part(texels.level as u32, layer) else { return false };
        let to = &mut rows[n * pitch.slice..n * pitch.slice + layer_bytes];
        let level = &texture.layout.levels[texels.level];
        if untile(to, pitch, &bytes.read(range), level, texture.order, texels.region).is_err() {
            return false;
        }
    }
    true
}

/// A copy between a texture and the guest's rows, checked.
struct TexelCopy<'a> {
    driver: &'static Driver,
    texture: Arc<Texture>,
    texels: Texels,
    pitch: Pitch,
    /// Bytes of the rows of one layer.
    layer_bytes: usize,
    rows: &'a mut [u8],
}

impl TexelCopy<'_> {
    fn new(
        serial: u64,
        view: Option<ViewDesc>,
        region: &NVNcopyRegion,
        row_stride: u64,
        image_stride: u64,
        guest: GuestPtr<u8>,
    ) -> Option<Self> {
        let driver = driver::get()?;
        let texture = driver.textures.get(serial)?;
        let prepared = texture.texels(view, region).and_then(|texels| {
            let (pitch, layer_bytes, total) = rows(&texture, &texels, row_stride, image_stride)?;
            texture.bytes(driver)?;
            Some((texels, pitch, layer_bytes, total))
        });
        let (Some((texels, pitch, layer_bytes, total)), false) = (prepared, guest.is_null()) else {
            fault!(
                key = serial,
                "B433",
                "texels of texture {serial}: region {}x{}x{} at ({}, {}, {}), strides {row_stride} and {image_stride}, or null rows: not copied",
                region.width,
                region.height,
                region.depth,
                region.xoffset,
                region.yoffset,
                region.zoffset
            );
            return None;
        };
        // SAFETY: the guest's call promises rows of the region's size at its strides.
        let rows = unsafe { std::slice::from_raw_parts_mut(guest.host(), total) };
        Some(Self { driver, texture, texels, pitch, layer_bytes, rows })
    }
}

#[cfg(test)]
mod tests {
    use navin_abi::enums::{NVNformat, NVNtextureTarget};

    use super::*;

    fn desc() -> TextureDesc {
        let mut fields = navin_abi::records::TextureFields::DEFAULT;
        (fields.format, fields.width, fields.height) = (Format::RGBA8.nvn() as u8, 64, 64);
        fields.desc(3, 0x1000)
    }

    #[test]
    fn b207_a_finalized_serial_still_resolves_and_is_never_given_again() {
        let textures = Textures::default();
        let first = textures.create(&desc(), 0x10_0000);
        assert_ne!(first, 0);
        assert_eq!(textures.get(first).unwrap().address, 0x10_1000);
        assert!(textures.destroy(first).is_some());
        assert!(textures.destroy(first).is_none(), "finalized twice");
        assert!(textures.get(first).unwrap().finalized.load(Ordering::Relaxed));
        assert_ne!(textures.create(&desc(), 0x10_0000), first);
        assert_eq!(textures.len(), 1);
    }

    #[test]
    fn b212_a_pool_that_goes_takes_its_finalized_textures_along() {
        let textures = Textures::default();
        let serial = textures.create(&desc(), 0x10_0000);
        textures.destroy(serial);
        textures.pool_gone(4);
        assert!(textures.get(serial).is_some());
        textures.pool_gone(3);
        assert!(textures.get(serial).is_none());
    }

    #[test]
    fn b313_linear_texels_are_one_level_of_rows() {
        let textures = Textures::default();
        let linear = |flags: i32, format: Format, target: Target, stride: u64| {
            let flags = navin_abi::enums::NVNtextureFlags(flags);
            let (format, target) = (NVNformat(format.nvn()), NVNtextureTarget(target as i32));
            let desc = TextureDesc { flags, format, target, stride, width: 37, height: 5, ..desc() };
            textures.get(textures.create(&desc, 0)).unwrap()
        };
        let texels = |texture: &Texture, [x, y, width, height]: [i32; 4]| {
            let region = NVNcopyRegion { xoffset: x, yoffset: y, zoffset: 0, width, height, depth: 1 };
            texture.texels(None, &region).is_some()
        };
        for flags in [0x12, 0x40, 0x50] {
            let rows = linear(flags, Format::RGBA8, Target::D2, 256);
            for inside in [[0, 0, 37, 5], [3, 1, 20, 3], [36, 4, 1, 1], [0, 2, 37, 1], [5, 0, 1, 5]] {
                assert!(texels(&rows, inside), "{flags:#x} {inside:?}");
            }
            for outside in [[0, 1, 37, 5], [1, 0, 37, 1], [0, 5, 1, 1], [-1, 0, 1, 1]] {
                assert!(!texels(&rows, outside), "{flags:#x} {outside:?}");
            }
            assert!(!texels(&linear(flags, Format::RGB_DXT1, Target::D2, 256), [0, 0, 4, 4]), "compressed");
            assert!(!texels(&linear(flags, Format::RGBA8, Target::D2Array, 256), [0, 0, 4, 4]), "another target");
        }
        // Block-linear textures of the same kinds are none of this rule's.
        assert!(texels(&linear(0, Format::RGB_DXT1, Target::D2, 0), [0, 0, 4, 4]));
        assert!(texels(&linear(0, Format::RGBA8, Target::D2Array, 0), [0, 0, 4, 4]));
    }

    #[test]
    fn a_texture_that_nvn_has_not_is_refused() {
        let textures = Textures::default();
        assert_eq!(textures.create(&TextureDesc { format: NVNformat(0x7fff), ..desc() }, 0), 0);
        assert_eq!(textures.create(&TextureDesc { target: NVNtextureTarget(99), ..desc() }, 0), 0);
        assert_eq!(textures.create(&TextureDesc { width: u32::MAX, ..desc() }, 0), 0);
        assert_eq!(textures.create(&TextureDesc { levels: 0, ..desc() }, 0), 0);
        assert!(textures.get(0).is_none());
    }
}
