//! Texture pools and sampler pools: what each id is.
//!
//! In NVN a pool has its own ids from 0 on, a handle names them, and the command buffer says which pool is in
//! force. Navin puts the pools of one kind side by side into one space of *global* ids, so that the renderer has
//! one table: a pool begins at a multiple of 256, and a global id is the pool's base plus the id in the handle.
//! [`DescriptorSpace`] is that space, one for textures and one for samplers. Handles are cut to 32 bits before
//! they come here (B415).
//!
//! What an id can be (B116): registered; never registered, or in the stretch between two pools, which is a fault
//! of the guest's; or past the last pool of the kind, which is how guests fill slots that they do not use and
//! reads as the empty texture.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Change, ChangeLog, Serial};

/// Pools begin at multiples of this.
const BASE_STEP: u32 = 256;
/// Entries are kept in chunks of this many, made when the first id in one is registered: a pool of a million ids
/// with a few in use costs little.
const CHUNK: usize = 256;
/// Notes that the change log holds; twice what one patch of a table takes (8,192, B201).
const LOG: usize = 16_384;

/// Which pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DescriptorKind {
    /// Texture pools: 20-bit ids.
    Texture,
    /// Sampler pools: 12-bit ids.
    Sampler,
}

impl DescriptorKind {
    /// Most ids of a pool: `MAX_TEXTURE_POOL_SIZE`, `MAX_SAMPLER_POOL_SIZE`.
    pub const fn max_pool_size(self) -> u32 {
        match self {
            Self::Texture => 1 << 20,
            Self::Sampler => 1 << 12,
        }
    }

    /// The id that guests bind to slots which they do not use: all ones (B116).
    pub const fn unused_id(self) -> u32 {
        self.max_pool_size() - 1
    }

    /// The id of this kind in a 32-bit handle (B415).
    pub const fn id_of_handle(self, handle: u32) -> u32 {
        match self {
            Self::Texture => handle & 0xF_FFFF,
            Self::Sampler => handle >> 20,
        }
    }
}

/// The serial of one initialization of a pool.
pub type DescriptorPoolId = Serial;

/// Where a pool lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptorPool {
    /// Its serial.
    pub id: DescriptorPoolId,
    /// Its first global id.
    pub base: u32,
    /// How many ids it has.
    pub count: u32,
}

/// A texture's registration: `nvnTexturePoolRegisterTexture` or, with `image`, `...RegisterImage`. `V` is the view
/// the guest gave, copied: a descriptor stays usable when the objects are finalized (B126).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextureRegistration<V> {
    /// The texture.
    pub serial: Serial,
    /// The view, copied from the guest's object.
    pub view: V,
    /// Registered for image loads and stores.
    pub image: bool,
}

/// A sampler's registration. `S` is the sampler's state, copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplerRegistration<S> {
    /// The sampler.
    pub serial: Serial,
    /// Its state.
    pub state: S,
}

/// What is registered under an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered<R> {
    /// The registration.
    pub what: R,
    /// The change log's generation when it was made.
    pub generation: u64,
}

/// What an id is (B116).
#[derive(Debug, PartialEq, Eq)]
pub enum Lookup<'a, R> {
    /// Something was registered under it.
    Registered(&'a Registered<R>),
    /// In a pool and never registered, or between two pools: the empty slot, and a fault line.
    Unregistered,
    /// Past the true end of the last pool: the empty slot, and one note of normal severity that names `end`.
    PastEnd {
        /// One past the last id of the kind.
        end: u32,
    },
}

/// Why a pool cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpaceError {
    /// The count is 0, or more than the kind allows.
    #[error("a descriptor pool of {count} ids; 1 to {most} are possible")]
    BadCount {
        /// Asked for.
        count: u32,
        /// Most of this kind.
        most: u32,
    },
    /// The pools of this kind together would pass 2^31 ids.
    #[error("no room for {count} more descriptor ids")]
    Full {
        /// Asked for.
        count: u32,
    },
    /// The serial is already a pool's.
    #[error("descriptor pool {0} exists")]
    Exists(DescriptorPoolId),
}

/// Why a registration cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// No such pool (any more).
    #[error("descriptor pool {0} does not exist")]
    NoPool(DescriptorPoolId),
    /// The id is past the pool's end.
    #[error("descriptor id {id} is past the pool's {count}")]
    PastEnd {
        /// The id.
        id: u32,
        /// How many the pool has.
        count: u32,
    },
}

type Chunk<R> = Box<[Option<Registered<R>>]>;

#[derive(Debug)]
struct Entries<R> {
    pool: DescriptorPool,
    chunks: Vec<Option<Chunk<R>>>,
}

impl<R> Entries<R> {
    fn get(&self, id: u32) -> Option<&Registered<R>> {
        self.chunks.get(id as usize / CHUNK)?.as_ref()?.get(id as usize % CHUNK)?.as_ref()
    }

    fn slot(&mut self, id: u32) -> Option<&mut Option<Registered<R>>> {
        let chunk = self.chunks.get_mut(id as usize / CHUNK)?;
        chunk.get_or_insert_with(|| (0..CHUNK).map(|_| None).collect()).get_mut(id as usize % CHUNK)
    }

    fn registered(&self) -> impl Iterator<Item = (u32, &Registered<R>)> {
        let base = self.pool.base;
        self.chunks.iter().enumerate().filter_map(|(at, chunk)| Some((at, chunk.as_ref()?))).flat_map(
            move |(at, chunk)| {
                let first = base + (at * CHUNK) as u32;
                chunk.iter().zip(first..).filter_map(|(entry, id)| Some((id, entry.as_ref()?)))
            },
        )
    }
}

/// All pools of one kind, and the log of their changes.
///
/// The driver holds it behind a lock. The [`log`](Self::log) may be read and added to without.
#[derive(Debug)]
pub struct DescriptorSpace<R> {
    kind: DescriptorKind,
    /// By base.
    pools: BTreeMap<u32, Entries<R>>,
    bases: BTreeMap<DescriptorPoolId, u32>,
    log: Arc<ChangeLog>,
}

impl<R> DescriptorSpace<R> {
    /// No pools.
    pub fn new(kind: DescriptorKind) -> Self {
        Self { kind, pools: BTreeMap::new(), bases: BTreeMap::new(), log: Arc::new(ChangeLog::new(LOG)) }
    }

    /// Textures or samplers.
    pub fn kind(&self) -> DescriptorKind {
        self.kind
    }

    /// Adds a pool of `count` ids at the lowest base where it fits.
    ///
    /// # Errors
    /// [`SpaceError`].
    pub fn add_pool(&mut self, id: DescriptorPoolId, count: u32) -> Result<DescriptorPool, SpaceError> {
        let most = self.kind.max_pool_size();
        if count == 0 || count > most {
            return Err(SpaceError::BadCount { count, most });
        }
        if self.bases.contains_key(&id) {
            return Err(SpaceError::Exists(id));
        }
        let mut base = 0;
        for entries in self.pools.values() {
            if entries.pool.base - base >= count {
                break;
            }
            base = next_base(entries.pool);
        }
        if base > (1 << 31) - most {
            return Err(SpaceError::Full { count });
        }
        let pool = DescriptorPool { id, base, count };
        let chunks = (0..(count as usize).div_ceil(CHUNK)).map(|_| None).collect();
        self.pools.insert(base, Entries { pool, chunks });
        self.bases.insert(id, base);
        Ok(pool)
    }

    /// Removes a pool. Its registered ids are noted as changed; the registrations, with their global ids.
    pub fn remove_pool(&mut self, id: DescriptorPoolId) -> Option<Vec<(u32, R)>> {
        let entries = self.pools.remove(&self.bases.remove(&id)?)?;
        let mut gone = Vec::new();
        for (first, chunk) in (entries.pool.base..).step_by(CHUNK).zip(entries.chunks) {
            for (id, entry) in (first..).zip(chunk.into_iter().flatten()) {
                gone.extend(entry.map(|registered| (id, registered.what)));
            }
        }
        for &(id, _) in &gone {
            self.log.note(Change::Id(id));
        }
        Some(gone)
    }

    /// Where a pool lies.
    pub fn pool(&self, id: DescriptorPoolId) -> Option<DescriptorPool> {
        Some(self.pools.get(self.bases.get(&id)?)?.pool)
    }

    /// All pools, by base.
    pub fn pools(&self) -> impl Iterator<Item = DescriptorPool> {
        self.pools.values().map(|entries| entries.pool)
    }

    /// One past the last id of the last pool, exactly: not rounded to where a next pool would begin (B116).
    pub fn end(&self) -> u32 {
        self.pools.values().next_back().map_or(0, |entries| entries.pool.base + entries.pool.count)
    }

    /// Registers under an id of a pool, in place of what was there; that, if there was something.
    ///
    /// # Errors
    /// [`RegisterError`]; nothing is changed then.
    pub fn register(&mut self, pool: DescriptorPoolId, id: u32, what: R) -> Result<Option<R>, RegisterError> {
        let entries = self.bases.get(&pool).and_then(|base| self.pools.get_mut(base));
        let entries = entries.ok_or(RegisterError::NoPool(pool))?;
        let DescriptorPool { base, count, .. } = entries.pool;
        let past_end = RegisterError::PastEnd { id, count };
        if id >= count {
            return Err(past_end);
        }
        let slot = entries.slot(id).ok_or(past_end)?;
        let old = slot.replace(Registered { what, generation: 0 });
        // After the change: whoever finds the note finds the registration (it also needs the owner's lock).
        let generation = self.log.note(Change::Id(base + id));
        if let Some(registered) = slot {
            registered.generation = generation;
        }
        Ok(old.map(|old| old.what))
    }

    /// What a global id is.
    pub fn lookup(&self, global: u32) -> Lookup<'_, R> {
        let end = self.end();
        if global >= end {
            return Lookup::PastEnd { end };
        }
        let below = self.pools.range(..=global).next_back();
        match below.and_then(|(base, entries)| entries.get(global - base)) {
            Some(registered) => Lookup::Registered(registered),
            None => Lookup::Unregistered,
        }
    }

    /// What the id of a handle is while `pool` is in force. Ids beyond the pool are never another pool's: they
    /// are unregistered, except past the last pool and for the id that says "unused", all ones.
    pub fn lookup_in(&self, pool: DescriptorPoolId, id: u32) -> Lookup<'_, R> {
        let end = self.end();
        let Some(entries) = self.bases.get(&pool).and_then(|base| self.pools.get(base)) else {
            return if id == self.kind.unused_id() { Lookup::PastEnd { end } } else { Lookup::Unregistered };
        };
        if id >= entries.pool.count {
            let past = id == self.kind.unused_id() || entries.pool.base.saturating_add(id) >= end;
            return if past { Lookup::PastEnd { end } } else { Lookup::Unregistered };
        }
        match entries.get(id) {
            Some(registered) => Lookup::Registered(registered),
            None => Lookup::Unregistered,
        }
    }

    /// Every registered global id, ascending; for building a table whole.
    pub fn registered(&self) -> impl Iterator<Item = (u32, &Registered<R>)> {
        self.pools.values().flat_map(Entries::registered)
    }

    /// The newest change; a table built now has everything up to it.
    pub fn generation(&self) -> u64 {
        self.log.generation()
    }

    /// The log of changed global ids. Storage changes may be noted there by any thread.
    pub fn log(&self) -> &Arc<ChangeLog> {
        &self.log
    }
}

/// The base that the pool after this one may have.
fn next_base(pool: DescriptorPool) -> u32 {
    (pool.base + pool.count).next_multiple_of(BASE_STEP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Serials, Since};

    fn pool(raw: u64) -> DescriptorPoolId {
        Serial::from_raw(raw).unwrap()
    }

    #[test]
    fn b116_samplers_are_bounded_by_the_true_end_of_their_pool() {
        let mut space = DescriptorSpace::new(DescriptorKind::Sampler);
        space.add_pool(pool(1), 4000).unwrap();
        space.register(pool(1), 5, "linear").unwrap();
        assert_eq!(space.end(), 4000);
        assert_eq!(space.lookup(4095), Lookup::PastEnd { end: 4000 });
        assert_eq!(space.lookup(4000), Lookup::PastEnd { end: 4000 });
        assert_eq!(space.lookup(3999), Lookup::Unregistered);
        assert_eq!(space.lookup(300), Lookup::Unregistered);
        assert!(matches!(space.lookup(5), Lookup::Registered(r) if r.what == "linear"));

        let second = space.add_pool(pool(2), 100).unwrap();
        assert_eq!(second.base, 4096);
        assert_eq!(space.lookup(4000), Lookup::Unregistered);
        assert_eq!(space.lookup(4095), Lookup::Unregistered);
        assert_eq!(space.lookup(4196), Lookup::PastEnd { end: 4196 });
    }

    #[test]
    fn b116_textures_are_bounded_by_the_true_end_of_their_pool() {
        let mut space = DescriptorSpace::new(DescriptorKind::Texture);
        space.add_pool(pool(1), 300).unwrap();
        space.register(pool(1), 256, "stone").unwrap();
        assert_eq!(space.lookup(0xF_FFFF), Lookup::PastEnd { end: 300 });
        assert_eq!(space.lookup(301), Lookup::PastEnd { end: 300 });
        assert_eq!(space.lookup(299), Lookup::Unregistered);
        assert_eq!(space.add_pool(pool(2), 300).unwrap().base, 512);
        assert_eq!(space.lookup(301), Lookup::Unregistered);
        assert_eq!(space.lookup_in(pool(1), 256), space.lookup(256));
    }

    #[test]
    fn b116_the_unused_handle_is_past_the_end_whatever_pools_there_are() {
        let (texture, sampler) = (DescriptorKind::Texture, DescriptorKind::Sampler);
        assert_eq!(texture.id_of_handle(u32::MAX), 0xF_FFFF);
        assert_eq!(sampler.id_of_handle(u32::MAX), 4095);
        let mut space = DescriptorSpace::<()>::new(sampler);
        assert_eq!(space.lookup(4095), Lookup::PastEnd { end: 0 });
        assert_eq!(space.lookup_in(pool(9), 4095), Lookup::PastEnd { end: 0 });
        space.add_pool(pool(1), 1000).unwrap();
        space.add_pool(pool(2), 4096).unwrap();
        assert_eq!(space.lookup_in(pool(1), 4095), Lookup::PastEnd { end: 5120 });
        // It is a real id of a full-sized pool.
        assert_eq!(space.lookup_in(pool(2), 4095), Lookup::Unregistered);
        space.register(pool(2), 4095, ()).unwrap();
        assert!(matches!(space.lookup_in(pool(2), 4095), Lookup::Registered(_)));
    }

    #[test]
    fn an_id_past_its_pool_is_never_another_pools() {
        let mut space = DescriptorSpace::new(DescriptorKind::Texture);
        space.add_pool(pool(1), 256).unwrap();
        space.add_pool(pool(2), 256).unwrap();
        space.register(pool(2), 0, "other").unwrap();
        assert!(matches!(space.lookup(256), Lookup::Registered(_)));
        assert_eq!(space.lookup_in(pool(1), 256), Lookup::Unregistered);
        assert_eq!(space.lookup_in(pool(2), 256), Lookup::PastEnd { end: 512 });
    }

    #[test]
    fn b415_ids_come_from_the_low_32_bits() {
        let handle = 0x1_0000_01D1u64 as u32;
        assert_eq!(DescriptorKind::Texture.id_of_handle(handle), 0x1D1);
        assert_eq!(DescriptorKind::Sampler.id_of_handle(handle), 0);
    }

    #[test]
    fn bad_pools_and_ids_are_refused() {
        let mut space = DescriptorSpace::new(DescriptorKind::Sampler);
        assert_eq!(space.add_pool(pool(1), 0), Err(SpaceError::BadCount { count: 0, most: 4096 }));
        assert_eq!(space.add_pool(pool(1), 4097), Err(SpaceError::BadCount { count: 4097, most: 4096 }));
        assert_eq!(space.register(pool(1), 0, ()), Err(RegisterError::NoPool(pool(1))));
        space.add_pool(pool(1), 10).unwrap();
        assert_eq!(space.add_pool(pool(1), 10), Err(SpaceError::Exists(pool(1))));
        assert_eq!(space.register(pool(1), 10, ()), Err(RegisterError::PastEnd { id: 10, count: 10 }));
        assert_eq!(space.register(pool(1), u32::MAX, ()), Err(RegisterError::PastEnd { id: u32::MAX, count: 10 }));
        assert_eq!(space.remove_pool(pool(2)), None);
        assert_eq!(space.generation(), 0);
    }

    #[test]
    fn the_space_refuses_pools_past_2_to_the_31_ids() {
        let serials = Serials::new();
        let mut space = DescriptorSpace::<()>::new(DescriptorKind::Texture);
        for _ in 0..2048 {
            space.add_pool(serials.next(), 1 << 20).unwrap();
        }
        assert_eq!(space.add_pool(serials.next(), 1), Err(SpaceError::Full { count: 1 }));
    }

    #[test]
    fn a_removed_pool_leaves_room_and_notes() {
        let mut space = DescriptorSpace::new(DescriptorKind::Texture);
        space.add_pool(pool(1), 1000).unwrap();
        assert_eq!(space.add_pool(pool(2), 256).unwrap().base, 1024);
        for id in [3, 255, 256, 999] {
            space.register(pool(1), id, id).unwrap();
        }
        let from = space.generation();
        assert_eq!(space.remove_pool(pool(1)), Some(vec![(3, 3), (255, 255), (256, 256), (999, 999)]));
        let mut changes = Vec::new();
        assert_eq!(space.log().since(from, &mut changes), Since::Changes(from + 4));
        assert_eq!(changes, [3, 255, 256, 999].map(Change::Id));
        assert_eq!(space.lookup(3), Lookup::Unregistered);
        assert_eq!(space.add_pool(pool(3), 1025).unwrap().base, 1280);
        assert_eq!(space.add_pool(pool(4), 1024).unwrap().base, 0);
        assert_eq!(space.lookup(3), Lookup::Unregistered, "a new pool inherits nothing");
        assert_eq!(space.pools().map(|pool| pool.base).collect::<Vec<_>>(), [0, 1024, 1280]);
    }

    #[test]
    fn b128_patching_from_the_log_equals_a_fresh_build() {
        let mut space = DescriptorSpace::new(DescriptorKind::Texture);
        let serials = Serials::new();
        let mut pools: Vec<DescriptorPool> = Vec::new();
        let mut table: BTreeMap<u32, u32> = BTreeMap::new();
        let mut from = 0;
        let (mut patches, mut builds) = (0, 0);
        let mut random = 12345u32;
        let mut next = move || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            random >> 8
        };
        for round in 0..500u32 {
            match next() % 8 {
                0 if pools.len() < 5 => pools.push(space.add_pool(serials.next(), 1 + next() % 2000).unwrap()),
                1 if !pools.is_empty() => {
                    let pool = pools.swap_remove(next() as usize % pools.len());
                    space.remove_pool(pool.id).unwrap();
                }
                _ if !pools.is_empty() => {
                    let burst = if next() % 50 == 0 { 20_000 } else { next() % 100 };
                    for n in 0..burst {
                        let pool = pools[next() as usize % pools.len()];
                        space.register(pool.id, next() % pool.count, round << 16 | n).unwrap();
                    }
                }
                _ => {}
            }
            let mut changes = Vec::new();
            match space.log().since(from, &mut changes) {
                Since::Changes(to) => {
                    patches += 1;
                    for change in changes {
                        let Change::Id(id) = change else { panic!("no storage change was noted") };
                        match space.lookup(id) {
                            Lookup::Registered(registered) => table.insert(id, registered.what),
                            _ => table.remove(&id),
                        };
                    }
                    from = to;
                }
                Since::Overflow(to) => {
                    builds += 1;
                    table = space.registered().map(|(id, registered)| (id, registered.what)).collect();
                    from = to;
                }
            }
            let fresh: BTreeMap<_, _> = space.registered().map(|(id, registered)| (id, registered.what)).collect();
            assert_eq!(table, fresh);
        }
        assert!(patches > 400 && builds > 0, "{patches} patches, {builds} builds");
    }
}
