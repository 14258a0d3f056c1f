//! Descriptor tables (set 0).
use crate::image::View;
use crate::memory::TexelView;
use crate::sampler::Sampler;
use std::sync::Arc;

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
/// Entries of the page-table root: one leaf each, 256 MB of GPU address space.
pub const PAGE_TABLE_LEAVES: u32 = 4_096;
/// Entries of a leaf: one 64 KB page each.
pub const PAGE_TABLE_LEAF_ENTRIES: u32 = 4_096;

/// View kinds of the shader interface, in its order; `Buffer` (k = 9) goes through the texel calls.
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

/// The tables of set 0. Every call takes effect at once, also for work in flight: write only slots that no
/// submitted work uses (free them deferred).
pub struct Tables {}

impl Tables {
    /// Puts views into a texture slot: kinds without one become empty. False for a slot out of range or slot 0.
    pub fn set_texture(&self, slot: u32, views: &[(ViewKind, &View)]) -> bool {
        let _ = (slot, views);
        unimplemented!()
    }
    /// Puts a texel buffer into a texture slot, its other kinds empty.
    pub fn set_texture_buffer(&self, slot: u32, view: &TexelView) -> bool {
        let _ = (slot, view);
        unimplemented!()
    }
    /// Empties a texture slot.
    pub fn clear_texture(&self, slot: u32) -> bool {
        let _ = slot;
        unimplemented!()
    }
    /// Puts a sampler into a slot.
    pub fn set_sampler(&self, slot: u32, sampler: &Arc<Sampler>) -> bool {
        let _ = (slot, sampler);
        unimplemented!()
    }
    /// Puts storage views into an image slot: `typed` in the texture's format, `raw` in the uint format of the
    /// same texel size.
    pub fn set_image(&self, slot: u32, typed: &[(ViewKind, &View)], raw: &[(ViewKind, &View)]) -> bool {
        let _ = (slot, typed, raw);
        unimplemented!()
    }
    /// Puts storage texel buffers into an image slot.
    pub fn set_image_buffer(&self, slot: u32, typed: Option<&TexelView>, raw: Option<&TexelView>) -> bool {
        let _ = (slot, typed, raw);
        unimplemented!()
    }
    /// Empties an image slot.
    pub fn clear_image(&self, slot: u32) -> bool {
        let _ = slot;
        unimplemented!()
    }
    /// Sets the slot that a texture id leads to (0: empty).
    pub fn set_texture_id(&self, id: u32, slot: u32) -> bool {
        let _ = (id, slot);
        unimplemented!()
    }
    /// Sets the slot that a sampler id leads to.
    pub fn set_sampler_id(&self, id: u32, slot: u32) -> bool {
        let _ = (id, slot);
        unimplemented!()
    }
    /// Writes device addresses of 64 KB pages into leaf `leaf` (GPU address >> 28) from entry `first`
    /// ((GPU address >> 16) & 4095) on; 0 unmaps (the zero page).
    pub fn write_pages(&self, leaf: u32, first: u32, addresses: &[u64]) -> bool {
        let _ = (leaf, first, addresses);
        unimplemented!()
    }
}
