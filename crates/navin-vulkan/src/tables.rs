//! The descriptor tables, set 0: textures, samplers and images by slot, id -> slot tables, and the page table.
//!
//! NVN's texture and sampler pools become arrays in one update-after-bind set that is bound once a command buffer
//! and never rebound. A registration writes the slot's descriptors and one word of the id table, which lies in
//! mapped memory. A texture has a slot number that is the same in the array of every view kind; kinds that it has
//! no view of hold null descriptors (`VK_EXT_robustness2`), which read 0, as does slot 0.
//!
//! The page table turns a GPU address into a device address for shaders with raw pointers (`pages`).
//!
//! Everything here takes effect at once, also for work in flight; callers free slots only when the work that used
//! them has completed. The tables hold no references to views, so that a finalized texture dies in time (B126).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk;
use parking_lot::Mutex;

use crate::context::OpenError;
use crate::gpu::Gpu;
use crate::image::View;
use crate::layout::{Layouts, binding, table_layout};
use crate::memory::{Buffer, MemoryKind, TexelView};
use crate::pages::Pages;
pub use crate::pages::{PAGE_BYTES, PAGE_TABLE_LEAF_ENTRIES, PAGE_TABLE_LEAVES, SMALL_PAGE_BYTES, SMALL_PAGES};
use crate::sampler::{Sampler, SamplerDesc};

/// Texture slots of each kind.
pub const TEXTURE_SLOTS: u32 = 16_384;
/// Sampler slots.
pub const SAMPLER_SLOTS: u32 = 4_096;
/// Storage image slots of each kind, typed and raw.
pub const IMAGE_SLOTS: u32 = 4_096;
/// Texture ids of the id -> slot table.
pub const TEXTURE_IDS: u32 = 1 << 20;
/// Sampler ids of the id -> slot table.
pub const SAMPLER_IDS: u32 = 1 << 12;
const KINDS: usize = 10;

/// View kinds of the shader interface, in its order; `Buffer` goes through the texel calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[repr(u8)]
pub enum ViewKind {
    /// 1D.
    D1 = 0,
    /// 1D array.
    D1Array = 1,
    /// 2D.
    D2 = 2,
    /// 2D array.
    D2Array = 3,
    /// 3D.
    D3 = 4,
    /// Cube.
    Cube = 5,
    /// Cube array.
    CubeArray = 6,
    /// 2D multisampled.
    D2Ms = 7,
    /// 2D multisampled array.
    D2MsArray = 8,
    /// Texel buffer.
    Buffer = 9,
}

impl ViewKind {
    /// The kind of a view of an image.
    pub fn of(view: &View) -> ViewKind {
        let multisampled = view.image().desc().samples != vk::SampleCountFlags::TYPE_1;
        match (view.desc().kind, multisampled) {
            (vk::ImageViewType::TYPE_1D, _) => Self::D1,
            (vk::ImageViewType::TYPE_1D_ARRAY, _) => Self::D1Array,
            (vk::ImageViewType::TYPE_2D, true) => Self::D2Ms,
            (vk::ImageViewType::TYPE_2D_ARRAY, true) => Self::D2MsArray,
            (vk::ImageViewType::TYPE_2D_ARRAY, false) => Self::D2Array,
            (vk::ImageViewType::TYPE_3D, _) => Self::D3,
            (vk::ImageViewType::CUBE, _) => Self::Cube,
            (vk::ImageViewType::CUBE_ARRAY, _) => Self::CubeArray,
            _ => Self::D2,
        }
    }
}

/// Which kinds of each slot hold something, so that emptying writes only those.
struct Held {
    textures: Box<[u16]>,
    images_typed: Box<[u16]>,
    images_raw: Box<[u16]>,
}

/// The tables of set 0.
pub struct Tables {
    gpu: Arc<Gpu>,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
    texture_ids: Buffer,
    sampler_ids: Buffer,
    pages: Mutex<Pages>,
    /// Locked around every write of the set.
    held: Mutex<Held>,
    default_sampler: Sampler,
}

impl Tables {
    pub(crate) fn new(gpu: &Arc<Gpu>, layouts: &Layouts) -> Result<Self, OpenError> {
        let failed = |what: &'static str| move |result| OpenError::Vulkan { what, result };
        let mut sizes = std::collections::BTreeMap::<i32, u32>::new();
        for (_, kind, count) in table_layout() {
            *sizes.entry(kind.as_raw()).or_default() += count;
        }
        let sizes: Vec<_> = sizes
            .into_iter()
            .map(|(kind, count)| {
                vk::DescriptorPoolSize::default().ty(vk::DescriptorType::from_raw(kind)).descriptor_count(count)
            })
            .collect();
        let info = vk::DescriptorPoolCreateInfo::default()
            .flags(vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND)
            .max_sets(1)
            .pool_sizes(&sizes);
        // SAFETY: a valid description.
        let pool =
            unsafe { gpu.device.create_descriptor_pool(&info, None) }.map_err(failed("making the tables' pool"))?;
        let guard = PoolGuard { gpu: gpu.clone(), pool };
        let set_layouts = [layouts.sets[0]];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&set_layouts);
        // SAFETY: the pool was made with room for exactly this set.
        let sets =
            unsafe { gpu.device.allocate_descriptor_sets(&info) }.map_err(failed("allocating the tables' set"))?;
        let set = sets.first().copied().unwrap_or_default();

        let upload = |size, name| Buffer::with_gpu(gpu, size, MemoryKind::Upload, name);
        let pages = Pages::new(gpu)?;
        let tables = Self {
            gpu: gpu.clone(),
            pool,
            set,
            texture_ids: upload(u64::from(TEXTURE_IDS) * 4, "texture ids")?,
            sampler_ids: upload(u64::from(SAMPLER_IDS) * 4, "sampler ids")?,
            pages: Mutex::new(pages),
            held: Mutex::new(Held {
                textures: vec![0; TEXTURE_SLOTS as usize].into(),
                images_typed: vec![0; IMAGE_SLOTS as usize].into(),
                images_raw: vec![0; IMAGE_SLOTS as usize].into(),
            }),
            default_sampler: Sampler::with_gpu(gpu, &SamplerDesc::default())?,
        };
        // From here on dropping `tables` destroys the pool.
        std::mem::forget(guard);
        tables.write_all();
        Ok(tables)
    }

    pub(crate) fn set(&self) -> vk::DescriptorSet {
        self.set
    }

    /// Fills every array with empty descriptors and binds the buffers.
    fn write_all(&self) {
        let _held = self.held.lock();
        let most = TEXTURE_SLOTS.max(SAMPLER_SLOTS).max(IMAGE_SLOTS) as usize;
        let no_image = vec![vk::DescriptorImageInfo::default(); most];
        let sampler = vec![vk::DescriptorImageInfo::default().sampler(self.default_sampler.raw()); most];
        let no_view = vec![vk::BufferView::null(); most];
        let root = self.pages.lock().root.raw();
        let buffer = |raw| [vk::DescriptorBufferInfo { buffer: raw, offset: 0, range: vk::WHOLE_SIZE }];
        let (ids, sampler_ids, root) = (buffer(self.texture_ids.raw()), buffer(self.sampler_ids.raw()), buffer(root));
        let writes: Vec<_> = table_layout()
            .into_iter()
            .map(|(binding, kind, count)| {
                let count = count as usize;
                let write =
                    vk::WriteDescriptorSet::default().dst_set(self.set).dst_binding(binding).descriptor_type(kind);
                match kind {
                    vk::DescriptorType::SAMPLER => write.image_info(&sampler[..count]),
                    vk::DescriptorType::STORAGE_BUFFER => write.buffer_info(match binding {
                        binding::TEXTURE_IDS => &ids,
                        binding::SAMPLER_IDS => &sampler_ids,
                        _ => &root,
                    }),
                    vk::DescriptorType::UNIFORM_TEXEL_BUFFER | vk::DescriptorType::STORAGE_TEXEL_BUFFER => {
                        write.texel_buffer_view(&no_view[..count])
                    }
                    _ => write.image_info(&no_image[..count]),
                }
            })
            .collect();
        // SAFETY: the arrays hold as many elements as written; null images and views are allowed (nullDescriptor);
        // the lock keeps other writers away.
        unsafe { self.gpu.device.update_descriptor_sets(&writes, &[]) };
    }

    /// Puts views into a texture slot: kinds without one become empty. False for slot 0 or one out of range.
    pub fn set_texture(&self, slot: u32, views: &[(ViewKind, &View)]) -> bool {
        if slot == 0 || slot >= TEXTURE_SLOTS {
            return false;
        }
        let mut held = self.held.lock();
        let held = &mut held.textures[slot as usize];
        self.write_slot(binding::TEXTURES, slot, held, &Content::images(views), false);
        true
    }

    /// Puts a texel buffer into a texture slot, its other kinds empty.
    pub fn set_texture_buffer(&self, slot: u32, view: &TexelView) -> bool {
        if slot == 0 || slot >= TEXTURE_SLOTS {
            return false;
        }
        let mut held = self.held.lock();
        let held = &mut held.textures[slot as usize];
        self.write_slot(binding::TEXTURES, slot, held, &Content::texels(Some(view.raw())), false);
        true
    }

    /// Empties a texture slot.
    pub fn clear_texture(&self, slot: u32) -> bool {
        self.set_texture(slot, &[])
    }

    /// Puts a sampler into a slot. False for slot 0 or one out of range.
    pub fn set_sampler(&self, slot: u32, sampler: &Arc<Sampler>) -> bool {
        self.write_sampler(slot, sampler.raw())
    }

    /// Puts the default sampler (nearest, repeating) back into a slot, so that the sampler in it can go.
    pub fn clear_sampler(&self, slot: u32) -> bool {
        self.write_sampler(slot, self.default_sampler.raw())
    }

    fn write_sampler(&self, slot: u32, sampler: vk::Sampler) -> bool {
        if slot == 0 || slot >= SAMPLER_SLOTS {
            return false;
        }
        let info = [vk::DescriptorImageInfo::default().sampler(sampler)];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(self.set)
            .dst_binding(binding::SAMPLERS)
            .dst_array_element(slot)
            .descriptor_type(vk::DescriptorType::SAMPLER)
            .image_info(&info);
        let _held = self.held.lock();
        // SAFETY: the slot is inside the array, the sampler alive, the lock held.
        unsafe { self.gpu.device.update_descriptor_sets(&[write], &[]) };
        true
    }

    /// Puts storage views into an image slot: `typed` in the texture's format, `raw` in the uint format of the
    /// same texel size. Kinds without a view become empty. False for slot 0 or one out of range.
    pub fn set_image(&self, slot: u32, typed: &[(ViewKind, &View)], raw: &[(ViewKind, &View)]) -> bool {
        self.write_image_slot(slot, &Content::images(typed), &Content::images(raw))
    }

    /// Puts storage texel buffers into an image slot. Views that are no storage views count as absent.
    pub fn set_image_buffer(&self, slot: u32, typed: Option<&TexelView>, raw: Option<&TexelView>) -> bool {
        let content = |view: Option<&TexelView>| Content::texels(view.filter(|v| v.is_storage()).map(TexelView::raw));
        self.write_image_slot(slot, &content(typed), &content(raw))
    }

    /// Empties an image slot.
    pub fn clear_image(&self, slot: u32) -> bool {
        self.set_image(slot, &[], &[])
    }

    fn write_image_slot(&self, slot: u32, typed: &Content, raw: &Content) -> bool {
        if slot == 0 || slot >= IMAGE_SLOTS {
            return false;
        }
        let mut held = self.held.lock();
        let held = &mut *held;
        self.write_slot(binding::IMAGES_TYPED, slot, &mut held.images_typed[slot as usize], typed, true);
        self.write_slot(binding::IMAGES_RAW, slot, &mut held.images_raw[slot as usize], raw, true);
        true
    }

    /// Writes the kinds of a slot that hold something now or held something before.
    fn write_slot(&self, first_binding: u32, slot: u32, held: &mut u16, content: &Content, storage: bool) {
        let mut writes = [vk::WriteDescriptorSet::default(); KINDS];
        let mut count = 0;
        let touched = *held | content.mask;
        for kind in (0..KINDS).filter(|kind| touched & (1 << kind) != 0) {
            let write = vk::WriteDescriptorSet::default()
                .dst_set(self.set)
                .dst_binding(first_binding + kind as u32)
                .dst_array_element(slot);
            writes[count] = match (kind == ViewKind::Buffer as usize, storage) {
                (true, false) => write
                    .descriptor_type(vk::DescriptorType::UNIFORM_TEXEL_BUFFER)
                    .texel_buffer_view(std::slice::from_ref(&content.texels)),
                (true, true) => write
                    .descriptor_type(vk::DescriptorType::STORAGE_TEXEL_BUFFER)
                    .texel_buffer_view(std::slice::from_ref(&content.texels)),
                (false, storage) => {
                    let ty =
                        if storage { vk::DescriptorType::STORAGE_IMAGE } else { vk::DescriptorType::SAMPLED_IMAGE };
                    write.descriptor_type(ty).image_info(std::slice::from_ref(&content.images[kind]))
                }
            };
            count += 1;
        }
        *held = content.mask;
        if count > 0 {
            // SAFETY: slots are inside their arrays (checked by the callers, who hold the lock); views are alive
            // or null.
            unsafe { self.gpu.device.update_descriptor_sets(&writes[..count], &[]) };
        }
    }

    /// Sets the slot that a texture id leads to (0: empty). False for an id or slot out of range.
    pub fn set_texture_id(&self, id: u32, slot: u32) -> bool {
        id < TEXTURE_IDS && slot < TEXTURE_SLOTS && store_word(&self.texture_ids, id, slot)
    }

    /// Sets the slot that a sampler id leads to. False for an id or slot out of range.
    pub fn set_sampler_id(&self, id: u32, slot: u32) -> bool {
        id < SAMPLER_IDS && slot < SAMPLER_SLOTS && store_word(&self.sampler_ids, id, slot)
    }

    /// Writes device addresses of 64 KB pages into leaf `leaf` (GPU address >> 28) from entry `first`
    /// ((GPU address >> 16) & 4095) on; 0 unmaps. Small pages that were there are gone. False when the range leaves
    /// the leaf, an address is no multiple of 4, or a leaf cannot be made.
    pub fn write_pages(&self, leaf: u32, first: u32, addresses: &[u64]) -> bool {
        addresses.is_empty() || self.pages.lock().write(leaf, first, addresses)
    }

    /// Writes device addresses of 4 KB pages of one 64 KB page, from small page `first` (GPU address >> 12 & 15) on;
    /// 0 unmaps. The other small pages of the page stay what they were. False when the range leaves the page, an
    /// address is no multiple of 4, or a table cannot be made.
    pub fn write_small_pages(&self, leaf: u32, entry: u32, first: u32, addresses: &[u64]) -> bool {
        addresses.is_empty() || self.pages.lock().write_small(leaf, entry, first, addresses)
    }

    /// Device address of the zero page (64 KB of zeroes).
    pub fn zero_page(&self) -> vk::DeviceAddress {
        self.pages.lock().zero_page()
    }

    /// Bytes that the page table takes, and how many of its 64 KB pages are split.
    pub fn page_table_size(&self) -> (u64, usize) {
        let pages = self.pages.lock();
        (pages.bytes(), pages.split_pages())
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        // SAFETY: the context drops the queue, which waits for all work, before the tables.
        unsafe { self.gpu.device.destroy_descriptor_pool(self.pool, None) };
    }
}

/// Destroys the pool when opening fails half-way.
struct PoolGuard {
    gpu: Arc<Gpu>,
    pool: vk::DescriptorPool,
}

impl Drop for PoolGuard {
    fn drop(&mut self) {
        // SAFETY: no work was submitted with sets of this pool.
        unsafe { self.gpu.device.destroy_descriptor_pool(self.pool, None) };
    }
}

/// The views of one slot by kind.
struct Content {
    mask: u16,
    images: [vk::DescriptorImageInfo; KINDS],
    texels: vk::BufferView,
}

impl Content {
    fn images(views: &[(ViewKind, &View)]) -> Self {
        let mut content = Self::texels(None);
        for (kind, view) in views.iter().filter(|(kind, _)| *kind != ViewKind::Buffer) {
            content.mask |= 1 << *kind as u16;
            content.images[*kind as usize] =
                vk::DescriptorImageInfo::default().image_view(view.raw()).image_layout(vk::ImageLayout::GENERAL);
        }
        content
    }

    fn texels(view: Option<vk::BufferView>) -> Self {
        Self {
            mask: if view.is_some() { 1 << ViewKind::Buffer as u16 } else { 0 },
            images: [vk::DescriptorImageInfo::default(); KINDS],
            texels: view.unwrap_or_default(),
        }
    }
}

/// Stores a word of a mapped buffer that the device may be reading.
fn store_word(buffer: &Buffer, index: u32, word: u32) -> bool {
    if u64::from(index) * 4 + 4 > buffer.size() || buffer.mapped().is_null() {
        return false;
    }
    // SAFETY: inside the mapping and aligned; atomic, because other threads store and the device loads.
    unsafe { AtomicU32::from_ptr(buffer.mapped().cast::<u32>().add(index as usize)) }.store(word, Ordering::Relaxed);
    true
}
