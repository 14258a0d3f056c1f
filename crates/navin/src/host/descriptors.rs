//! Texture and sampler pools: what is registered under which id.
//!
//! Registration (guest threads) copies the texture's serial and view, or the sampler's state, into a
//! [`DescriptorSpace`]; the submit thread turns the ids that draws name into descriptor slots
//! ([`residency`](crate::replay)). Ids of all pools of a kind share one space (B116): the base of the pool that a
//! command buffer sets is added to its handles.

use std::collections::HashMap;

use navin_abi::fault;
use navin_abi::records::{SamplerDesc, ViewDesc};
use navin_resources::{DescriptorKind, DescriptorPoolId, DescriptorSpace, Lookup, Serials, TextureRegistration};
use parking_lot::RwLock;

use crate::driver;

/// A texture under an id.
pub(crate) type Texture = TextureRegistration<ViewDesc>;

/// What an id leads to, copied out of the lock.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry<R> {
    /// This, since this generation.
    Registered(R, u64),
    /// An id of a pool under which nothing was registered.
    Unregistered,
    /// An id past the last pool: an empty slot (B116).
    PastEnd,
}

impl<R: Clone> From<Lookup<'_, R>> for Entry<R> {
    fn from(lookup: Lookup<'_, R>) -> Self {
        match lookup {
            Lookup::Registered(registered) => Self::Registered(registered.what.clone(), registered.generation),
            Lookup::Unregistered => Self::Unregistered,
            Lookup::PastEnd { .. } => Self::PastEnd,
        }
    }
}

/// The pools of one kind, and the memory pool that each lives in.
struct Kind<R> {
    space: DescriptorSpace<R>,
    memory: HashMap<DescriptorPoolId, u32>,
}

impl<R> Kind<R> {
    fn new(kind: DescriptorKind) -> Self {
        Self { space: DescriptorSpace::new(kind), memory: HashMap::new() }
    }

    fn add(&mut self, pool: DescriptorPoolId, memory_pool: u32, count: u32) -> u64 {
        match self.space.add_pool(pool, count) {
            Ok(pool) => {
                self.memory.insert(pool.id, memory_pool);
                pool.id.raw()
            }
            Err(e) => {
                fault!(key = count, "B116", "{e}: the pool is refused");
                0
            }
        }
    }

    fn remove(&mut self, pool: u64) {
        if let Some(pool) = DescriptorPoolId::from_raw(pool) {
            self.memory.remove(&pool);
            self.space.remove_pool(pool);
        }
    }

    fn base(&self, pool: u64) -> u32 {
        DescriptorPoolId::from_raw(pool).and_then(|pool| self.space.pool(pool)).map_or(0, |pool| pool.base)
    }

    fn memory_pool_gone(&mut self, memory_pool: u32) {
        let gone: Vec<u64> = self.memory.iter().filter(|(_, m)| **m == memory_pool).map(|(id, _)| id.raw()).collect();
        gone.into_iter().for_each(|pool| self.remove(pool));
    }
}

/// Every texture and sampler pool of the process.
pub(crate) struct Descriptors {
    serials: Serials,
    textures: RwLock<Kind<Texture>>,
    samplers: RwLock<Kind<SamplerDesc>>,
}

impl Default for Descriptors {
    fn default() -> Self {
        Self {
            serials: Serials::new(),
            textures: RwLock::new(Kind::new(DescriptorKind::Texture)),
            samplers: RwLock::new(Kind::new(DescriptorKind::Sampler)),
        }
    }
}

impl Descriptors {
    /// A texture pool of `count` ids; 0 when it is refused.
    pub(crate) fn create_texture_pool(&self, memory_pool: u32, count: u32) -> u64 {
        self.textures.write().add(self.serials.next(), memory_pool, count)
    }

    /// A sampler pool of `count` ids; 0 when it is refused.
    pub(crate) fn create_sampler_pool(&self, memory_pool: u32, count: u32) -> u64 {
        self.samplers.write().add(self.serials.next(), memory_pool, count)
    }

    pub(crate) fn destroy_texture_pool(&self, pool: u64) {
        self.textures.write().remove(pool);
    }

    pub(crate) fn destroy_sampler_pool(&self, pool: u64) {
        self.samplers.write().remove(pool);
    }

    /// Puts a texture under `id` of a pool.
    pub(crate) fn register_texture(&self, pool: u64, id: u32, texture: Texture) {
        let Some(pool) = DescriptorPoolId::from_raw(pool) else { return };
        if let Err(e) = self.textures.write().space.register(pool, id, texture) {
            fault!(key = id, "B116", "texture id {id}: {e}; not registered");
        }
    }

    /// Puts a sampler under `id` of a pool. The same state again changes nothing that a draw could see.
    pub(crate) fn register_sampler(&self, pool: u64, id: u32, sampler: &SamplerDesc) {
        let Some(pool) = DescriptorPoolId::from_raw(pool) else { return };
        let mut samplers = self.samplers.write();
        if matches!(samplers.space.lookup_in(pool, id), Lookup::Registered(old) if old.what == *sampler) {
            return;
        }
        if let Err(e) = samplers.space.register(pool, id, *sampler) {
            fault!(key = id, "B116", "sampler id {id}: {e}; not registered");
        }
    }

    /// First global id of a texture pool; 0 for one that does not exist.
    pub(crate) fn texture_base(&self, pool: u32) -> u32 {
        self.textures.read().base(u64::from(pool))
    }

    /// First global id of a sampler pool; 0 for one that does not exist.
    pub(crate) fn sampler_base(&self, pool: u32) -> u32 {
        self.samplers.read().base(u64::from(pool))
    }

    /// What a global texture id leads to.
    pub(crate) fn texture(&self, id: u32) -> Entry<Texture> {
        self.textures.read().space.lookup(id).into()
    }

    /// What a global sampler id leads to.
    pub(crate) fn sampler(&self, id: u32) -> Entry<SamplerDesc> {
        self.samplers.read().space.lookup(id).into()
    }

    /// Every registered global texture id, for programs that compute their handles.
    pub(crate) fn registered_textures(&self) -> Vec<u32> {
        self.textures.read().space.registered().map(|(id, _)| id).collect()
    }

    /// Every registered global sampler id.
    pub(crate) fn registered_samplers(&self) -> Vec<u32> {
        self.samplers.read().space.registered().map(|(id, _)| id).collect()
    }

    /// Moves whenever anything under an id may have changed.
    pub(crate) fn generation(&self) -> u64 {
        self.textures.read().space.generation() + self.samplers.read().space.generation()
    }

    /// Drops the pools that lived in a memory pool which goes away.
    pub(crate) fn memory_pool_gone(&self, memory_pool: u32) {
        self.textures.write().memory_pool_gone(memory_pool);
        self.samplers.write().memory_pool_gone(memory_pool);
    }
}

/// A pool's serial as the 32 bits that records in guest memory hold.
fn number(pool: u64) -> u32 {
    u32::try_from(pool).unwrap_or(0)
}

/// A texture pool of `count` ids; 0 when there can be none.
pub(crate) fn create_texture_pool(memory_pool: u32, _offset: u64, count: u32) -> u32 {
    driver::get().map_or(0, |driver| number(driver.descriptors.create_texture_pool(memory_pool, count)))
}

pub(crate) fn destroy_texture_pool(pool: u32) {
    if let Some(driver) = driver::get() {
        driver.descriptors.destroy_texture_pool(u64::from(pool));
    }
}

/// Registers a texture, or an image (B431), under an id of a pool.
pub(crate) fn register_texture(pool: u32, id: u32, serial: u64, view: Option<ViewDesc>, image: bool) {
    if let (Some(driver), Some(serial)) = (driver::get(), navin_resources::Serial::from_raw(serial)) {
        let texture = TextureRegistration { serial, view: view.unwrap_or(ViewDesc::NONE), image };
        driver.descriptors.register_texture(u64::from(pool), id, texture);
    }
}

/// A sampler pool of `count` ids; 0 when there can be none.
pub(crate) fn create_sampler_pool(memory_pool: u32, _offset: u64, count: u32) -> u32 {
    driver::get().map_or(0, |driver| number(driver.descriptors.create_sampler_pool(memory_pool, count)))
}

pub(crate) fn destroy_sampler_pool(pool: u32) {
    if let Some(driver) = driver::get() {
        driver.descriptors.destroy_sampler_pool(u64::from(pool));
    }
}

/// Registers a sampler under an id of a pool.
pub(crate) fn register_sampler(pool: u32, id: u32, sampler: &SamplerDesc) {
    if let Some(driver) = driver::get() {
        driver.descriptors.register_sampler(u64::from(pool), id, sampler);
    }
}

#[cfg(test)]
mod tests {
    use navin_resources::Serial;

    use super::*;

    fn texture(serial: u64, image: bool) -> Texture {
        TextureRegistration { serial: Serial::from_raw(serial).unwrap(), view: ViewDesc::NONE, image }
    }

    #[test]
    fn b431_one_table_for_textures_and_images() {
        let descriptors = Descriptors::default();
        let pool = descriptors.create_texture_pool(1, 512);
        descriptors.register_texture(pool, 300, texture(5, true));
        assert!(matches!(descriptors.texture(300), Entry::Registered(t, _) if t == texture(5, true)));
        descriptors.register_texture(pool, 300, texture(6, false));
        assert!(matches!(descriptors.texture(300), Entry::Registered(t, _) if t == texture(6, false)));
    }

    #[test]
    fn pools_go_with_their_memory() {
        let descriptors = Descriptors::default();
        let first = descriptors.create_texture_pool(1, 300);
        let _second = descriptors.create_texture_pool(2, 300);
        descriptors.register_texture(first, 7, texture(1, false));
        descriptors.memory_pool_gone(1);
        assert_eq!(descriptors.texture(7), Entry::Unregistered);
    }

    #[test]
    fn b104_registering_a_sampler_again_changes_nothing() {
        let sampler = navin_abi::records::SamplerState::DEFAULT.decode();
        let descriptors = Descriptors::default();
        let pool = descriptors.create_sampler_pool(1, 256);
        descriptors.register_sampler(pool, 3, &sampler);
        let generation = descriptors.generation();
        descriptors.register_sampler(pool, 3, &sampler);
        assert_eq!(descriptors.generation(), generation);
        descriptors.register_sampler(pool, 3, &SamplerDesc { lod_bias: 1.0, ..sampler });
        assert_ne!(descriptors.generation(), generation);
    }
}
