//! The GPU address space: which addresses are reserved, and what each address is.
//!
//! A pool's range begins at a big page, is followed by an unused big page (so that an access past a pool's end meets
//! nothing), and stays until it is freed. An address in an ordinary pool is an offset in its storage. An address in a
//! virtual pool is whatever the pool's own page table says ([`VirtualPool`]), so that mapping pages changes nothing
//! here, and reads 0 where that is nothing (B113).
//!
//! Guest threads change the space under its lock. The submit thread looks addresses up through an [`AddressReader`]:
//! it holds the newest version of the map (`tree`) and asks one atomic whether there is a newer one; so a lookup
//! takes no lock. Each change is one step: a lookup sees the pools before it or after it.

mod tree;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tree::{Found, Place, Tree};

use crate::free_ranges::FreeRanges;
use crate::virtual_pool::{Kind, Resolved};
use crate::{ADDRESS_END, BIG_PAGE, GpuRange, PoolId, VirtualPool, round_up};

/// Where reservations begin: 4 GB, so that no small number that a guest takes for an address is one.
pub const FIRST_ADDRESS: u64 = 1 << 32;
/// The unused bytes behind every reservation.
pub const GUARD: u64 = BIG_PAGE;

/// Memory at an address: bytes side by side in one pool that has storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Whose memory is there: an ordinary pool, or the physical pool behind a virtual one.
    pub pool: PoolId,
    /// Offset of the address in that pool.
    pub offset: u64,
    /// Bytes from the address on that lie side by side, at least 1; in a virtual pool at most as many as asked for.
    pub remaining: u64,
}

/// What an address is.
#[derive(Clone, Debug)]
pub enum Lookup<'a> {
    /// In a pool with storage of its own.
    Pool(Mapping),
    /// In a virtual pool, mapped.
    Virtual {
        /// The virtual pool.
        pool: &'a Arc<VirtualPool>,
        /// Offset of the address in it.
        offset: u64,
        /// The physical memory.
        memory: Mapping,
    },
    /// In a virtual pool where nothing is mapped: reads 0 (B113).
    Unmapped {
        /// The virtual pool.
        pool: &'a Arc<VirtualPool>,
        /// Offset of the address in it.
        offset: u64,
        /// Bytes with nothing from the address on, at least 1, at most as many as asked for.
        remaining: u64,
    },
    /// In no pool; see [`AddressSpace::nearest_virtual`].
    Nowhere,
}

impl Lookup<'_> {
    /// The memory, if there is any.
    #[inline]
    pub fn memory(&self) -> Option<Mapping> {
        match self {
            Self::Pool(memory) | Self::Virtual { memory, .. } => Some(*memory),
            Self::Unmapped { .. } | Self::Nowhere => None,
        }
    }
}

/// A pool's range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Whose range.
    pub owner: PoolId,
    /// The addresses, without the guard behind them.
    pub range: GpuRange,
}

/// The virtual pool nearest to an address, for the message about an address in no pool (B113); prints as such.
#[derive(Clone, Debug)]
pub struct NearestVirtual {
    /// The pool.
    pub pool: Arc<VirtualPool>,
    /// Its addresses.
    pub range: GpuRange,
    /// The address, counted from the pool's begin: negative before it.
    pub offset: i64,
    /// Whether something is mapped there; such a page is always in a run.
    pub mapped: bool,
}

impl fmt::Display for NearestVirtual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pool, range, offset, mapped } = self;
        let sign = if *offset < 0 { "-" } else { "" };
        let kind = match pool.kind() {
            Kind::Reserved => "with nothing mapped yet",
            Kind::Alias { .. } => "an alias",
            Kind::Sparse => "sparse",
        };
        write!(
            f,
            "nearest virtual pool {} ({kind}) at {:#x}, offset {sign}{:#x}, {:#x} bytes reserved, {} runs, page {}",
            pool.id().0,
            range.start,
            offset.unsigned_abs(),
            range.size,
            pool.runs(),
            if *mapped { "mapped and in a run" } else { "not mapped, in no run" }
        )
    }
}

/// Why the space refuses a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpaceError {
    /// A range of 0 bytes.
    #[error("an empty range of GPU addresses")]
    Empty,
    /// No free range is large enough.
    #[error("no {size:#x} bytes of GPU addresses are free")]
    Full {
        /// Bytes asked for.
        size: u64,
    },
}

#[derive(Debug)]
struct State {
    /// By first address.
    places: BTreeMap<u64, Arc<Place>>,
    /// Those of virtual pools.
    virtuals: BTreeMap<u64, Arc<Place>>,
    free: FreeRanges,
    tree: Tree,
}

/// The 40-bit address space. All methods may be called from any thread; its lock is a leaf in the lock order.
#[derive(Debug)]
pub struct AddressSpace {
    state: Mutex<State>,
    /// Number of changes so far. Written under the lock, read without.
    generation: AtomicU64,
}

impl Default for AddressSpace {
    fn default() -> Self {
        Self::new()
    }
}

impl AddressSpace {
    /// An empty space of 1 TB less [`FIRST_ADDRESS`].
    pub fn new() -> Self {
        Self {
            state: Mutex::new(State {
                places: BTreeMap::new(),
                virtuals: BTreeMap::new(),
                free: FreeRanges::new(FIRST_ADDRESS, ADDRESS_END - FIRST_ADDRESS),
                tree: Tree::default(),
            }),
            generation: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No step between the first and the last change of the state can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves `size` bytes for a pool with storage, at a big-page boundary (B106 asks it of pools).
    ///
    /// # Errors
    /// [`SpaceError::Empty`], [`SpaceError::Full`].
    pub fn allocate(&self, pool: PoolId, size: u64) -> Result<GpuRange, SpaceError> {
        self.place(pool, size, None)
    }

    /// Reserves a virtual pool's addresses at a big-page boundary (B109). What is mapped there is the pool's affair,
    /// before and after this.
    ///
    /// # Errors
    /// [`SpaceError::Empty`], [`SpaceError::Full`].
    pub fn allocate_virtual(&self, pool: &Arc<VirtualPool>) -> Result<GpuRange, SpaceError> {
        self.place(pool.id(), pool.size(), Some(Arc::clone(pool)))
    }

    fn place(&self, owner: PoolId, size: u64, pages: Option<Arc<VirtualPool>>) -> Result<GpuRange, SpaceError> {
        if size == 0 {
            return Err(SpaceError::Empty);
        }
        let taken = taken(size).ok_or(SpaceError::Full { size })?;
        let mut state = self.lock();
        let start = state.free.take(taken, BIG_PAGE).ok_or(SpaceError::Full { size })?;
        let range = GpuRange { start, size };
        let place = Arc::new(Place { range, owner, pages });
        state.tree.insert(&place);
        if place.pages.is_some() {
            state.virtuals.insert(start, Arc::clone(&place));
        }
        state.places.insert(start, place);
        self.generation.fetch_add(1, Ordering::Release);
        Ok(range)
    }

    /// Gives back the reservation that begins at `start`; the reservation, or `None` when none begins there. The
    /// addresses may be given out again at once: the caller waits until submitted work that may hold them has ended.
    pub fn free(&self, start: u64) -> Option<Reservation> {
        let mut state = self.lock();
        let place = state.places.remove(&start)?;
        state.virtuals.remove(&start);
        state.tree.remove(place.range);
        // It was reserved, so the sum is in the space.
        state.free.give_back(start, taken(place.range.size).unwrap_or(place.range.size));
        self.generation.fetch_add(1, Ordering::Release);
        Some(Reservation { owner: place.owner, range: place.range })
    }

    /// What the address is, by the lock, for threads that look seldom; see [`AddressReader::resolve`]. The answer
    /// goes to `then`, and the lock is free while it runs.
    pub fn resolve<T>(&self, address: u64, size: u64, then: impl FnOnce(Lookup<'_>) -> T) -> T {
        // A version of its own, so that nothing is held while the answer is looked at.
        let tree = self.lock().tree.clone();
        then(lookup(&tree, address, size))
    }

    /// The memory at an address as far as it lies side by side, by the lock. In a virtual pool that walks over all
    /// of it: who knows how many bytes are wanted asks [`resolve`](Self::resolve).
    pub fn lookup(&self, address: u64) -> Option<Mapping> {
        self.resolve(address, u64::MAX, |found| found.memory())
    }

    /// The reservation that holds the address, mapped or not.
    pub fn reservation(&self, address: u64) -> Option<Reservation> {
        self.nearest_below(address).filter(|reservation| reservation.range.contains(address))
    }

    /// The nearest reservation that begins at or below the address.
    pub fn nearest_below(&self, address: u64) -> Option<Reservation> {
        let state = self.lock();
        let (_, place) = state.places.range(..=address).next_back()?;
        Some(Reservation { owner: place.owner, range: place.range })
    }

    /// The virtual pool that holds the address or comes nearest to it, for the fault line about an address in no pool
    /// (B113).
    pub fn nearest_virtual(&self, address: u64) -> Option<NearestVirtual> {
        let state = self.lock();
        let below = state.virtuals.range(..=address).next_back().map(|(_, place)| Arc::clone(place));
        let above = state.virtuals.range(address..).next().map(|(_, place)| Arc::clone(place));
        drop(state);
        let distance = |place: &Arc<Place>| {
            let range = place.range;
            if address < range.start { range.start - address } else { address.saturating_sub(range.end() - 1) }
        };
        let place = [below, above].into_iter().flatten().min_by_key(distance)?;
        let pool = Arc::clone(place.pages.as_ref()?);
        let start = place.range.start;
        let offset =
            if address < start { -((start - address) as i64) } else { (address - start).min(i64::MAX as u64) as i64 };
        let mapped = u64::try_from(offset).is_ok_and(|at| matches!(pool.resolve(at, 1), Some(Resolved::Mapped { .. })));
        Some(NearestVirtual { pool, range: place.range, offset, mapped })
    }

    /// How often pools have come or gone; whoever remembers an answer remembers this with it, and for an answer in a
    /// virtual pool that pool's generation.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Number of reservations, virtual pools among them.
    pub fn count(&self) -> usize {
        self.lock().places.len()
    }

    /// A reader for one thread.
    pub fn reader(self: &Arc<Self>) -> AddressReader {
        let (generation, tree) = self.version();
        AddressReader { generation, tree, last: Last::NONE, space: Arc::clone(self) }
    }

    fn version(&self) -> (u64, Tree) {
        let state = self.lock();
        (self.generation.load(Ordering::Relaxed), state.tree.clone())
    }
}

/// What an address is, in one version of the space.
#[inline]
fn lookup(tree: &Tree, address: u64, size: u64) -> Lookup<'_> {
    match tree.find(address) {
        Some(Found::Pool(range, owner)) => Lookup::Pool(Last { range, owner }.memory(address)),
        Some(Found::Virtual(range, pool)) => look_into(pool, address - range.start, size),
        None => Lookup::Nowhere,
    }
}

/// What lies at an offset of a virtual pool.
fn look_into(pool: &Arc<VirtualPool>, offset: u64, size: u64) -> Lookup<'_> {
    match pool.resolve(offset, size) {
        Some(Resolved::Mapped { pool: physical, offset: at, size }) => {
            Lookup::Virtual { pool, offset, memory: Mapping { pool: physical, offset: at, remaining: size } }
        }
        Some(Resolved::Unmapped { size }) => Lookup::Unmapped { pool, offset, remaining: size },
        None => Lookup::Nowhere,
    }
}

/// Bytes of addresses that a reservation takes, its guard included.
fn taken(size: u64) -> Option<u64> {
    round_up(size, BIG_PAGE)?.checked_add(GUARD)
}

/// The ordinary pool of the last answer: the next address is most often in the same.
#[derive(Clone, Copy, Debug)]
struct Last {
    range: GpuRange,
    owner: PoolId,
}

impl Last {
    const NONE: Self = Self { range: GpuRange { start: u64::MAX, size: 0 }, owner: PoolId(0) };

    #[inline]
    fn holds(self, address: u64) -> bool {
        address.wrapping_sub(self.range.start) < self.range.size
    }

    #[inline]
    fn memory(self, address: u64) -> Mapping {
        let offset = address - self.range.start;
        Mapping { pool: self.owner, offset, remaining: self.range.size - offset }
    }
}

/// Looks addresses up without a lock; one for each thread that looks often.
#[derive(Debug)]
pub struct AddressReader {
    space: Arc<AddressSpace>,
    generation: u64,
    tree: Tree,
    last: Last,
}

impl AddressReader {
    /// What the address is now, looking at `size` bytes from there on in a virtual pool. Every change that ended
    /// before the call is seen.
    #[inline]
    pub fn resolve(&mut self, address: u64, size: u64) -> Lookup<'_> {
        if self.space.generation.load(Ordering::Acquire) != self.generation {
            self.refresh();
        }
        match self.tree.find(address) {
            Some(Found::Pool(range, owner)) => {
                self.last = Last { range, owner };
                Lookup::Pool(self.last.memory(address))
            }
            Some(Found::Virtual(range, pool)) => look_into(pool, address - range.start, size),
            None => Lookup::Nowhere,
        }
    }

    /// The memory at an address, if any; see [`resolve`](Self::resolve).
    #[inline]
    pub fn lookup(&mut self, address: u64, size: u64) -> Option<Mapping> {
        if self.space.generation.load(Ordering::Acquire) == self.generation && self.last.holds(address) {
            return Some(self.last.memory(address));
        }
        self.resolve(address, size).memory()
    }

    /// The space's generation that the last answer was of.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The space that is read.
    pub fn space(&self) -> &Arc<AddressSpace> {
        &self.space
    }

    #[cold]
    fn refresh(&mut self) {
        (self.generation, self.tree) = self.space.version();
        self.last = Last::NONE;
    }
}
