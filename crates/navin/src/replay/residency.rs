//! Which descriptor slot each texture and sampler id has: makes what a draw's handles name resident.
//!
//! Owned by the submit thread. A handle is looked at when it is bound and when registrations moved since; ids get
//! a slot at their first use, a new one when something else is registered under them (the old slot is freed once
//! no submitted work reads it). Programs that compute their handles make every registered id resident.

use std::sync::Arc;

use navin_abi::enums::{NVNcompareMode, NVNmagFilter, NVNminFilter, NVNsamplerReduction, NVNwrapMode};
use navin_abi::fault;
use navin_abi::records::{BorderColor, SamplerDesc as NvnSampler};
use navin_resources::{DeferredRelease, SlotAllocator};
use navin_vulkan::{Encoder, Sampler, SamplerDesc, View, ViewKind, vk};
use rustc_hash::FxHashMap;

use super::Seen;
use super::content::{self, Use};
use super::images;
use super::sampler_ids::{self, SamplerIds};
use crate::driver::Driver;
use crate::host::descriptors::{Entry, Texture as Registration};
use crate::host::textures::Texture;

/// An id that has a slot.
struct Resident {
    /// Of the registration.
    generation: u64,
    /// All registrations when this one was last looked up: until they move it cannot have changed.
    seen: u64,
    slot: u32,
    texture: Arc<Texture>,
    storage: bool,
}

/// A sampler id that has a slot.
struct ResidentSampler {
    /// Of the registration.
    generation: u64,
    /// All registrations when this one was last looked up.
    seen: u64,
    /// Its word of the table.
    word: u32,
}

/// The submit thread's view of the tables of set 0.
pub(crate) struct Residency {
    textures: FxHashMap<u32, Resident>,
    slots: SlotAllocator,
    /// Slots that submitted work may still read.
    retired: DeferredRelease<u32>,
    samplers: FxHashMap<u32, ResidentSampler>,
    sampler_ids: SamplerIds,
    sampler_slots: FxHashMap<SamplerKey, u32>,
    next_sampler_slot: u32,
    /// What had changed when everything was last made resident for a program with computed handles.
    everything_at: Seen,
}

/// A sampler's bytes as a key: equal states share a slot.
type SamplerKey = [u32; 16];

impl Residency {
    pub(crate) fn new() -> Self {
        Self {
            textures: FxHashMap::default(),
            slots: SlotAllocator::new(navin_vulkan::tables::TEXTURE_SLOTS, navin_vulkan::tables::IMAGE_SLOTS),
            retired: DeferredRelease::new(),
            samplers: FxHashMap::default(),
            sampler_ids: SamplerIds::default(),
            sampler_slots: FxHashMap::default(),
            next_sampler_slot: 1,
            everything_at: Seen::default(),
        }
    }

    /// Frees slots that no work reads any more.
    pub(crate) fn collect(&mut self, driver: &Driver, completed: u64) {
        let tables = driver.context.tables();
        for slot in self.retired.drain(completed) {
            // The tables keep nothing alive: until here a slot may name a view that is gone, which no work reads.
            tables.clear_texture(slot);
            tables.clear_image(slot);
            self.slots.free(slot, 0);
        }
        self.slots.reclaim(completed);
    }

    /// Whether slots wait for the end of work that may read them.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.retired.is_empty()
    }

    /// Makes the texture of a global id resident, with storage views if `storage`. `None` for an empty slot.
    /// `now` is the generation of all registrations.
    pub(crate) fn texture(
        &mut self,
        driver: &Driver,
        encoder: &mut Encoder,
        id: u32,
        storage: bool,
        now: u64,
    ) -> Option<&Arc<Texture>> {
        let known = self.textures.get(&id).is_some_and(|r| r.seen == now && (r.storage || !storage));
        if !known && !self.look_up(driver, encoder, id, storage, now) {
            return None;
        }
        self.textures.get(&id).map(|resident| &resident.texture)
    }

    /// Whether the id leads to a texture, which is resident then.
    fn look_up(&mut self, driver: &Driver, encoder: &mut Encoder, id: u32, storage: bool, now: u64) -> bool {
        let (registration, generation) = match driver.descriptors.texture(id) {
            Entry::Registered(registration, generation) => (registration, generation),
            Entry::PastEnd => return false,
            Entry::Unregistered => {
                fault!(
                    key = id,
                    "B116",
                    "texture id {id} is used by a draw, but nothing is registered under it: reads 0"
                );
                return false;
            }
        };
        let storage = storage || registration.image;
        if let Some(resident) = self.textures.get_mut(&id)
            && resident.generation == generation
            && (resident.storage || !storage)
        {
            resident.seen = now;
            return true;
        }
        self.place(driver, encoder, id, &registration, [generation, now], storage).is_some()
    }

    fn place(
        &mut self,
        driver: &Driver,
        encoder: &mut Encoder,
        id: u32,
        registration: &Registration,
        [generation, seen]: [u64; 2],
        storage: bool,
    ) -> Option<()> {
        let tables = driver.context.tables();
        if let Some(old) = self.textures.remove(&id) {
            tables.set_texture_id(id, 0);
            self.retired.push(driver.context.queue().submitted() + 1, old.slot);
        }
        let Some(texture) = driver.textures.get(registration.serial.raw()) else {
            fault!(
                key = id,
                "B212",
                "texture id {id}: its texture {} and its memory are gone: reads 0",
                registration.serial
            );
            return None;
        };
        // Views need the image; what is in it is asked at each use.
        let image = content::image_for(driver, encoder, &texture, Use::Read)?;
        let Some(slot) = self.slots.allocate(storage) else {
            fault!("B128", "no descriptor slot is left for texture id {id}: it reads 0");
            return None;
        };
        let selection = images::select(&texture, &registration.view);
        let mut sampled: Vec<(ViewKind, View)> = Vec::new();
        let mut typed: Vec<(ViewKind, View)> = Vec::new();
        let mut raw: Vec<(ViewKind, View)> = Vec::new();
        for (kind, view_type) in images::kinds(&image, &selection) {
            let add = |list: &mut Vec<(ViewKind, View)>, desc: Option<navin_vulkan::ViewDesc>| {
                let Some(desc) = desc else { return };
                match image.view(&desc) {
                    Ok(view) => list.push((kind, view)),
                    Err(e) => {
                        fault!(key = registration.serial.raw(), "", "texture id {id} as {kind:?}: {e}: reads 0 so");
                    }
                }
            };
            add(&mut sampled, images::sampled_view(&driver.context, &image, &selection, view_type));
            if storage {
                add(&mut typed, images::storage_view(&driver.context, &image, &selection, view_type, false));
                add(&mut raw, images::storage_view(&driver.context, &image, &selection, view_type, true));
            }
        }
        fn borrow(list: &[(ViewKind, View)]) -> Vec<(ViewKind, &View)> {
            list.iter().map(|(kind, view)| (*kind, view)).collect()
        }
        tables.set_texture(slot, &borrow(&sampled));
        if storage && !tables.set_image(slot, &borrow(&typed), &borrow(&raw)) {
            fault!(key = id, "B432", "texture id {id} has no place among the images: it cannot be stored to");
        }
        if !tables.set_texture_id(id, slot) {
            fault!(key = id, "B415", "texture id {id} of a later pool does not fit into a handle: it reads 0");
        }
        self.textures.insert(id, Resident { generation, seen, slot, texture, storage });
        Some(())
    }

    /// Frees the slots of a finalized texture: ids that are still registered resolve again when they are used, so
    /// that no view outlives its texture under a descriptor that nobody samples (B126). Not called while a piece is
    /// recorded: what was submitted so far is all that may read them (B651).
    pub(crate) fn release(&mut self, driver: &Driver, serial: u64) {
        let ids: Vec<u32> =
            self.textures.iter().filter(|(_, r)| r.texture.serial == serial).map(|(id, _)| *id).collect();
        for id in ids {
            if let Some(old) = self.textures.remove(&id) {
                driver.context.tables().set_texture_id(id, 0);
                self.retired.push(driver.context.queue().submitted(), old.slot);
            }
        }
    }

    /// Makes the sampler of a global id resident.
    pub(crate) fn sampler(&mut self, driver: &Driver, id: u32, now: u64) {
        if self.samplers.get(&id).is_some_and(|resident| resident.seen == now) {
            return;
        }
        let (desc, generation) = match driver.descriptors.sampler(id) {
            Entry::Registered(desc, generation) => (desc, generation),
            Entry::PastEnd => return,
            Entry::Unregistered => {
                fault!(
                    key = id,
                    "B116",
                    "sampler id {id} is used by a draw, but nothing is registered under it: reads 0"
                );
                return;
            }
        };
        if let Some(resident) = self.samplers.get_mut(&id)
            && resident.generation == generation
        {
            resident.seen = now;
            return;
        }
        if let Some(word) = self.sampler_slot(driver, id, &desc).and_then(|slot| self.sampler_word(driver, id, slot)) {
            self.samplers.insert(id, ResidentSampler { generation, seen: now, word });
        }
    }

    /// The slot of a sampler's state, which is made at its first use.
    fn sampler_slot(&mut self, driver: &Driver, id: u32, desc: &NvnSampler) -> Option<u32> {
        if let Some(slot) = self.sampler_slots.get(&key(desc)) {
            return Some(*slot);
        }
        let slot = self.next_sampler_slot;
        if slot >= navin_vulkan::tables::SAMPLER_SLOTS {
            fault!(
                "B128",
                "more than {} different samplers: sampler id {id} reads 0",
                navin_vulkan::tables::SAMPLER_SLOTS
            );
            return None;
        }
        match Sampler::new(&driver.context, &sampler_desc(desc)) {
            Ok(sampler) => driver.context.tables().set_sampler(slot, &sampler),
            Err(e) => {
                fault!(key = id, "", "sampler id {id}: {e}");
                return None;
            }
        };
        self.next_sampler_slot += 1;
        self.sampler_slots.insert(key(desc), slot);
        Some(slot)
    }

    /// The word of the table by which handles name a global id, leading to `slot`.
    fn sampler_word(&mut self, driver: &Driver, id: u32, slot: u32) -> Option<u32> {
        let tables = driver.context.tables();
        if self.sampler_ids.is_own(id) {
            tables.set_sampler_id(id, slot);
            return Some(id);
        }
        let used = |word| self.samplers.get(&word).is_some_and(|resident| resident.word == word);
        let wanted = |word| matches!(driver.descriptors.sampler(word), Entry::Registered(..));
        let Some((word, new)) = self.sampler_ids.lend(slot, used, wanted) else {
            fault!(
                key = id,
                "B415",
                "sampler id {id} does not fit into a handle, and all {} that do are in use: it reads 0",
                navin_vulkan::tables::SAMPLER_IDS
            );
            return None;
        };
        if new {
            tables.set_sampler_id(word, slot);
        }
        Some(word)
    }

    /// What stands for a global sampler id in a handle: 12 bits (B415).
    #[inline]
    pub(crate) fn sampler_bits(&self, id: u32) -> u32 {
        if self.sampler_ids.is_own(id) {
            return id;
        }
        self.samplers.get(&id).map_or(sampler_ids::UNUSED, |resident| resident.word)
    }

    /// Makes everything registered resident, and what is resident current, for programs that compute their handles.
    pub(crate) fn everything(&mut self, driver: &Driver, encoder: &mut Encoder, now: Seen) {
        if self.everything_at == now {
            return;
        }
        if self.everything_at.registrations != now.registrations {
            for id in driver.descriptors.registered_textures() {
                self.texture(driver, encoder, id, false, now.registrations);
            }
            // Handles that a program computes name what fits into them.
            let samplers = driver.descriptors.registered_samplers().into_iter();
            for id in samplers.filter(|id| *id < navin_vulkan::tables::SAMPLER_IDS) {
                self.sampler(driver, id, now.registrations);
            }
        }
        for resident in self.textures.values() {
            content::image_for(driver, encoder, &resident.texture, Use::Read);
        }
        self.everything_at = now;
    }
}

fn key(desc: &NvnSampler) -> SamplerKey {
    let border = match desc.border {
        BorderColor::Float(c) => c.map(f32::to_bits),
        BorderColor::Signed(c) => c.map(|v| v as u32),
        BorderColor::Unsigned(c) => c,
    };
    let kind = desc.border.kind() as u32;
    [
        desc.min_filter.raw() as u32,
        desc.mag_filter.raw() as u32,
        desc.wrap[0].raw() as u32,
        desc.wrap[1].raw() as u32 | (desc.wrap[2].raw() as u32) << 16,
        desc.lod_clamp[0].to_bits(),
        desc.lod_clamp[1].to_bits(),
        desc.lod_bias.to_bits(),
        desc.max_anisotropy.to_bits(),
        desc.compare_mode.raw() as u32,
        desc.compare_func.raw() as u32,
        border[0],
        border[1],
        border[2],
        border[3],
        desc.reduction.raw() as u32,
        kind,
    ]
}

/// NVN's sampler in Vulkan's terms. Wrap modes that Vulkan lacks: CLAMP filters half of the border colour in at
/// the edge, which clamping to the border comes nearest to; MIRROR_CLAMP likewise to its edge form.
fn sampler_desc(desc: &NvnSampler) -> SamplerDesc {
    let wrap = |mode: NVNwrapMode| match mode {
        NVNwrapMode::REPEAT => vk::SamplerAddressMode::REPEAT,
        NVNwrapMode::MIRROR_CLAMP | NVNwrapMode::MIRROR_CLAMP_TO_EDGE => vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE,
        NVNwrapMode::MIRROR_CLAMP_TO_BORDER => {
            fault!("", "wrap mode MIRROR_CLAMP_TO_BORDER has no Vulkan form; MIRROR_CLAMP_TO_EDGE is taken");
            vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE
        }
        NVNwrapMode::CLAMP | NVNwrapMode::CLAMP_TO_BORDER => vk::SamplerAddressMode::CLAMP_TO_BORDER,
        NVNwrapMode::MIRRORED_REPEAT => vk::SamplerAddressMode::MIRRORED_REPEAT,
        _ => vk::SamplerAddressMode::CLAMP_TO_EDGE,
    };
    let linear = |on: bool| if on { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
    use NVNminFilter as Min;
    let mipmapped = !matches!(desc.min_filter, Min::NEAREST | Min::LINEAR);
    let between_levels = matches!(desc.min_filter, Min::NEAREST_MIPMAP_LINEAR | Min::LINEAR_MIPMAP_LINEAR);
    let min_linear = matches!(desc.min_filter, Min::LINEAR | Min::LINEAR_MIPMAP_NEAREST | Min::LINEAR_MIPMAP_LINEAR);
    let (border, border_is_integer) = match desc.border {
        BorderColor::Float(c) => (c.map(f32::to_bits), false),
        // Float views sample the numeric value (B414); an integer border is only for integer views, which a
        // sampler does not know. Values that both kinds share go as floats.
        other => (other.to_float().map(f32::to_bits), false),
    };
    SamplerDesc {
        mag: linear(desc.mag_filter == NVNmagFilter::LINEAR),
        min: linear(min_linear),
        mip: if between_levels { vk::SamplerMipmapMode::LINEAR } else { vk::SamplerMipmapMode::NEAREST },
        wrap: desc.wrap.map(wrap),
        lod_bias: desc.lod_bias,
        min_lod: desc.lod_clamp[0].max(0.0),
        // Without a mip filter level 0 alone is read: 0.25 keeps the choice of magnification and minification.
        max_lod: if mipmapped { desc.lod_clamp[1] } else { 0.25f32.min(desc.lod_clamp[1].max(0.0)) },
        anisotropy: desc.max_anisotropy,
        compare: (desc.compare_mode == NVNcompareMode::COMPARE_R_TO_TEXTURE)
            .then(|| super::convert::compare_op(desc.compare_func.raw())),
        border,
        border_is_integer,
        reduction: match desc.reduction {
            NVNsamplerReduction::MIN => vk::SamplerReductionMode::MIN,
            NVNsamplerReduction::MAX => vk::SamplerReductionMode::MAX,
            _ => vk::SamplerReductionMode::WEIGHTED_AVERAGE,
        },
        non_seamless_cube: false,
        unnormalized: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampler() -> NvnSampler {
        navin_abi::records::SamplerState::DEFAULT.decode()
    }

    #[test]
    fn the_six_min_filters_are_pairs() {
        let of = |filter| {
            let d = sampler_desc(&NvnSampler { min_filter: NVNminFilter(filter), ..sampler() });
            (d.min, d.mip, d.max_lod > 1.0)
        };
        use vk::{Filter as F, SamplerMipmapMode as M};
        assert_eq!(of(0), (F::NEAREST, M::NEAREST, false));
        assert_eq!(of(1), (F::LINEAR, M::NEAREST, false));
        assert_eq!(of(2), (F::NEAREST, M::NEAREST, true));
        assert_eq!(of(3), (F::LINEAR, M::NEAREST, true));
        assert_eq!(of(4), (F::NEAREST, M::LINEAR, true));
        assert_eq!(of(5), (F::LINEAR, M::LINEAR, true));
    }

    #[test]
    fn b414_integer_border_colours_are_numbers() {
        let d = sampler_desc(&NvnSampler { border: BorderColor::Unsigned([0, 0, 0, 1]), ..sampler() });
        assert_eq!(d.border, [0, 0, 0, 1.0f32.to_bits()]);
    }
}
