//! The GPU address space: which addresses are reserved, and what each address is.
//!
//! Two levels. A *reservation* is a pool's range: it begins at a big page, is followed by an unused big page (so
//! that an access past a pool's end meets nothing), and stays until it is freed. A *mapping* says that a part of a
//! reservation shows some pool's memory: an ordinary pool is one mapping over its whole reservation, a virtual
//! pool has as many as the guest made, in 4 KB steps, and addresses between them read 0 (B113).
//!
//! Guest threads change the space under its lock. The submit thread looks addresses up through an
//! [`AddressReader`]: it holds the newest snapshot of all mappings, sorted, and asks one atomic whether there is a
//! newer one; so a lookup takes no lock. A snapshot is made when somebody looks, not when something changes:
//! making 5,000 pools costs one. Each change is one step: a lookup sees the mappings before it or after it and
//! never the gap between (B112).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{ADDRESS_END, BIG_PAGE, GpuRange, PoolId, SMALL_PAGE, round_up};

/// Where reservations begin: 4 GB, so that no small number that a guest takes for an address is one.
pub const FIRST_ADDRESS: u64 = 1 << 32;
/// The unused bytes behind every reservation.
pub const GUARD: u64 = BIG_PAGE;

/// What an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Whose memory is there.
    pub pool: PoolId,
    /// Offset of the address in that pool.
    pub offset: u64,
    /// Bytes from the address to the end of the mapping, at least 1.
    pub remaining: u64,
}

/// A pool's range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Whose range.
    pub owner: PoolId,
    /// The addresses, without the guard behind them.
    pub range: GpuRange,
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
    /// A mapping that does not lie in one reservation.
    #[error("{size:#x} bytes of GPU addresses at {start:#x} are not in one pool's range")]
    Outside {
        /// First address asked for.
        start: u64,
        /// Bytes asked for.
        size: u64,
    },
    /// A mapping that is not in whole 4 KB pages.
    #[error("{size:#x} bytes of GPU addresses at {start:#x} are not whole pages")]
    Unaligned {
        /// First address asked for.
        start: u64,
        /// Bytes asked for.
        size: u64,
    },
}

/// One mapping, as stored: `size` bytes show `pool` from `offset` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    size: u64,
    pool: PoolId,
    offset: u64,
}

/// All mappings of one generation, in ascending order; the starts apart, as the search reads only those.
#[derive(Debug, Default)]
struct Snapshot {
    generation: u64,
    starts: Vec<u64>,
    intervals: Vec<Interval>,
    /// The used addresses are cut into granules of `1 << shift` bytes; entry g is how many mappings begin before
    /// granule g, so that a search looks only at those that begin in one granule, mostly one or none.
    granules: Vec<u32>,
    shift: u32,
}

impl Snapshot {
    fn new(generation: u64, mappings: &BTreeMap<u64, Interval>) -> Self {
        let starts: Vec<u64> = mappings.keys().copied().collect();
        let (first, last) = match (starts.first(), starts.last()) {
            (Some(&first), Some(&last)) => (first, last),
            _ => return Self { generation, ..Self::default() },
        };
        // About two granules a mapping.
        let span = last - first + 1;
        let shift = (span / (2 * starts.len() as u64)).max(1).ilog2() + 1;
        let mut granules = vec![0; (span >> shift) as usize + 2];
        for start in &starts {
            granules[((start - first) >> shift) as usize + 1] += 1;
        }
        let mut before = 0;
        for count in &mut granules {
            before += *count;
            *count = before;
        }
        Self { generation, starts, intervals: mappings.values().copied().collect(), granules, shift }
    }

    /// Index of the mapping that holds the address.
    fn find(&self, address: u64) -> Option<usize> {
        let into = address.checked_sub(*self.starts.first()?)?;
        // Past the last granule the candidate is the last mapping.
        let granule = ((into >> self.shift) as usize).min(self.granules.len().checked_sub(2)?);
        let (from, to) = (self.granules[granule] as usize, self.granules[granule + 1] as usize);
        let began = from + self.starts[from..to].partition_point(|&start| start <= address);
        let index = began.checked_sub(1)?;
        (address - self.starts[index] < self.intervals[index].size).then_some(index)
    }

    /// The answer for an address that lies in mapping `index`.
    fn answer(&self, index: usize, address: u64) -> Mapping {
        let into = address - self.starts[index];
        let interval = &self.intervals[index];
        Mapping { pool: interval.pool, offset: interval.offset + into, remaining: interval.size - into }
    }
}

#[derive(Debug)]
struct State {
    /// By first address.
    reservations: BTreeMap<u64, Reservation>,
    mappings: BTreeMap<u64, Interval>,
    /// Free ranges by first address, with their sizes; never two that touch.
    free: BTreeMap<u64, u64>,
    /// The same as (size, first address), for the best fit.
    by_size: BTreeSet<(u64, u64)>,
    /// The newest snapshot that somebody asked for; may be older than the generation.
    snapshot: Arc<Snapshot>,
}

/// The 40-bit address space. All methods may be called from any thread; its lock is a leaf in the lock order.
#[derive(Debug)]
pub struct AddressSpace {
    state: Mutex<State>,
    /// Number of changes of the mappings so far. Written under the lock, read without.
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
        let size = ADDRESS_END - FIRST_ADDRESS;
        Self {
            state: Mutex::new(State {
                reservations: BTreeMap::new(),
                mappings: BTreeMap::new(),
                free: BTreeMap::from([(FIRST_ADDRESS, size)]),
                by_size: BTreeSet::from([(size, FIRST_ADDRESS)]),
                snapshot: Arc::default(),
            }),
            generation: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No step between the first and the last change of the state can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes a change of the mappings; the lock is held.
    fn changed(&self, _state: &State) -> u64 {
        self.generation.fetch_add(1, Ordering::Release) + 1
    }

    /// Reserves `size` bytes at a big-page boundary (B106 asks it of pools) and maps them to `pool` from offset 0.
    ///
    /// # Errors
    /// [`SpaceError::Empty`], [`SpaceError::Full`].
    pub fn allocate(&self, pool: PoolId, size: u64) -> Result<GpuRange, SpaceError> {
        let mut state = self.lock();
        let range = state.reserve(pool, size)?;
        state.mappings.insert(range.start, Interval { size, pool, offset: 0 });
        self.changed(&state);
        Ok(range)
    }

    /// Reserves `size` bytes at a big-page boundary with nothing mapped there, for a virtual pool (B109).
    ///
    /// # Errors
    /// [`SpaceError::Empty`], [`SpaceError::Full`].
    pub fn reserve(&self, owner: PoolId, size: u64) -> Result<GpuRange, SpaceError> {
        self.lock().reserve(owner, size)
    }

    /// Gives back the reservation that begins at `start`, with every mapping in it; the reservation, or `None`
    /// when none begins there. The addresses may be given out again at once: the caller waits until submitted
    /// work that may hold them has ended.
    pub fn free(&self, start: u64) -> Option<Reservation> {
        let mut state = self.lock();
        let reservation = state.reservations.remove(&start)?;
        state.carve(reservation.range);
        state.give_back(reservation.range);
        self.changed(&state);
        Some(reservation)
    }

    /// Maps `range` to `pool` from `offset` on, in place of whatever was mapped there, in one step (B112).
    ///
    /// # Errors
    /// [`SpaceError::Empty`], [`SpaceError::Unaligned`] (start, size and offset are in 4 KB pages) and
    /// [`SpaceError::Outside`] (the range must lie in one reservation).
    pub fn map(&self, range: GpuRange, pool: PoolId, offset: u64) -> Result<(), SpaceError> {
        let GpuRange { start, size } = range;
        let mut state = self.lock();
        state.check(range)?;
        if !offset.is_multiple_of(SMALL_PAGE) || offset.checked_add(size).is_none() {
            return Err(SpaceError::Unaligned { start, size });
        }
        state.carve(range);
        state.insert_merged(start, Interval { size, pool, offset });
        self.changed(&state);
        Ok(())
    }

    /// Unmaps `range`; what is not mapped is passed over.
    ///
    /// # Errors
    /// As for [`map`](Self::map).
    pub fn unmap(&self, range: GpuRange) -> Result<(), SpaceError> {
        let mut state = self.lock();
        state.check(range)?;
        state.carve(range);
        self.changed(&state);
        Ok(())
    }

    /// What the address is, by the lock; for threads that look seldom. The submit thread has a
    /// [`reader`](Self::reader).
    pub fn lookup(&self, address: u64) -> Option<Mapping> {
        let state = self.lock();
        let (&start, interval) = state.mappings.range(..=address).next_back()?;
        let into = address - start;
        (into < interval.size).then(|| Mapping {
            pool: interval.pool,
            offset: interval.offset + into,
            remaining: interval.size - into,
        })
    }

    /// The reservation that holds the address, mapped or not: tells an unmapped page of a virtual pool, which
    /// reads 0, from an address in no pool (B113).
    pub fn reservation(&self, address: u64) -> Option<Reservation> {
        let state = self.lock();
        let (_, reservation) = state.reservations.range(..=address).next_back()?;
        reservation.range.contains(address).then_some(*reservation)
    }

    /// The nearest reservation that begins at or below the address, for messages about an address in none (B113).
    pub fn nearest_below(&self, address: u64) -> Option<Reservation> {
        self.lock().reservations.range(..=address).next_back().map(|(_, reservation)| *reservation)
    }

    /// How often the mappings have changed; whoever remembers an answer remembers this with it.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Numbers of reservations and mappings.
    pub fn counts(&self) -> (usize, usize) {
        let state = self.lock();
        (state.reservations.len(), state.mappings.len())
    }

    /// A reader for one thread.
    pub fn reader(self: &Arc<Self>) -> AddressReader {
        AddressReader { snapshot: self.snapshot(), last: 0, space: Arc::clone(self) }
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        let mut state = self.lock();
        let generation = self.generation.load(Ordering::Relaxed);
        if state.snapshot.generation != generation {
            state.snapshot = Arc::new(Snapshot::new(generation, &state.mappings));
        }
        Arc::clone(&state.snapshot)
    }
}

impl State {
    fn reserve(&mut self, owner: PoolId, size: u64) -> Result<GpuRange, SpaceError> {
        if size == 0 {
            return Err(SpaceError::Empty);
        }
        let full = SpaceError::Full { size };
        let taken = taken(size).ok_or(full)?;
        // Best fit, lowest address among equals: the space stays compact, and with it the page table.
        let (found, start) = *self.by_size.range((taken, 0)..).next().ok_or(full)?;
        self.remove_free(start, found);
        if found > taken {
            self.insert_free(start + taken, found - taken);
        }
        let range = GpuRange { start, size };
        self.reservations.insert(start, Reservation { owner, range });
        Ok(range)
    }

    fn insert_free(&mut self, start: u64, size: u64) {
        self.free.insert(start, size);
        self.by_size.insert((size, start));
    }

    fn remove_free(&mut self, start: u64, size: u64) {
        self.free.remove(&start);
        self.by_size.remove(&(size, start));
    }

    /// Makes a reservation's addresses free again, joined with free neighbours.
    fn give_back(&mut self, range: GpuRange) {
        let mut start = range.start;
        // It was reserved, so the sum is in the space.
        let mut end = start + taken(range.size).unwrap_or(range.size);
        if let Some((&before, &size)) = self.free.range(..start).next_back()
            && before + size == start
        {
            self.remove_free(before, size);
            start = before;
        }
        if let Some(&size) = self.free.get(&end) {
            self.remove_free(end, size);
            end += size;
        }
        self.insert_free(start, end - start);
    }

    /// Whether a mapping may lie at `range`.
    fn check(&self, range: GpuRange) -> Result<(), SpaceError> {
        let GpuRange { start, size } = range;
        if size == 0 {
            return Err(SpaceError::Empty);
        }
        if !start.is_multiple_of(SMALL_PAGE) || !size.is_multiple_of(SMALL_PAGE) {
            return Err(SpaceError::Unaligned { start, size });
        }
        let inside = self.reservations.range(..=start).next_back().is_some_and(|(_, reservation)| {
            reservation.range.contains(start) && size <= reservation.range.end() - start
        });
        if inside { Ok(()) } else { Err(SpaceError::Outside { start, size }) }
    }

    /// Takes every mapping out of `range`, cutting those that reach beyond it.
    fn carve(&mut self, range: GpuRange) {
        let (start, end) = (range.start, range.end());
        if let Some((&first, &interval)) = self.mappings.range(..start).next_back()
            && first + interval.size > start
        {
            self.mappings.insert(first, Interval { size: start - first, ..interval });
            if first + interval.size > end {
                self.mappings.insert(end, cut(first, interval, end));
            }
        }
        while let Some((&first, &interval)) = self.mappings.range(start..end).next() {
            self.mappings.remove(&first);
            if first + interval.size > end {
                self.mappings.insert(end, cut(first, interval, end));
            }
        }
    }

    /// Inserts a mapping into empty addresses, joined with neighbours that continue it. Neighbours belong to the
    /// same reservation: between two there is always the guard.
    fn insert_merged(&mut self, mut start: u64, mut new: Interval) {
        if let Some((&first, &before)) = self.mappings.range(..start).next_back()
            && first + before.size == start
            && before.pool == new.pool
            && before.offset + before.size == new.offset
        {
            self.mappings.remove(&first);
            start = first;
            new = Interval { size: before.size + new.size, ..before };
        }
        let end = start + new.size;
        if let Some(&after) = self.mappings.get(&end)
            && after.pool == new.pool
            && new.offset + new.size == after.offset
        {
            self.mappings.remove(&end);
            new.size += after.size;
        }
        self.mappings.insert(start, new);
    }
}

/// The part of a mapping from `at` on.
fn cut(first: u64, interval: Interval, at: u64) -> Interval {
    let into = at - first;
    Interval { size: interval.size - into, pool: interval.pool, offset: interval.offset + into }
}

/// Bytes of addresses that a reservation takes, its guard included.
fn taken(size: u64) -> Option<u64> {
    round_up(size, BIG_PAGE)?.checked_add(GUARD)
}

/// Looks addresses up without a lock; one for each thread that looks often.
#[derive(Debug)]
pub struct AddressReader {
    space: Arc<AddressSpace>,
    snapshot: Arc<Snapshot>,
    /// The mapping of the last answer: the next address is most often in the same pool.
    last: usize,
}

impl AddressReader {
    /// What the address is now. Every change that ended before the call is seen.
    #[inline]
    pub fn lookup(&mut self, address: u64) -> Option<Mapping> {
        if self.space.generation.load(Ordering::Acquire) != self.snapshot.generation {
            self.refresh();
        }
        if let Some(&start) = self.snapshot.starts.get(self.last)
            && address >= start
            && address - start < self.snapshot.intervals[self.last].size
        {
            return Some(self.snapshot.answer(self.last, address));
        }
        self.last = self.snapshot.find(address)?;
        Some(self.snapshot.answer(self.last, address))
    }

    /// The generation that the last answer was of.
    pub fn generation(&self) -> u64 {
        self.snapshot.generation
    }

    /// The space that is read.
    pub fn space(&self) -> &Arc<AddressSpace> {
        &self.space
    }

    #[cold]
    fn refresh(&mut self) {
        self.snapshot = self.space.snapshot();
        self.last = 0;
    }
}
