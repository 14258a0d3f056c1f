//! Guest memory that is mapped twice, for embedders and native guests.
//!
//! Memory from [`alloc`] lies in a memfd with two mappings. The guest has the first; write tracking may protect its
//! pages. The GPU's import is made over the second, which is always writable, so that what the GPU writes never meets
//! a write protection, and a CPU driver's writes are not taken for the guest's. And as the memory is a file, pages of
//! it can appear in a virtual pool's CPU range (B109).
//!
//! Who owns guest memory as a memfd already says so with [`register_memfd`]. What flows out: the driver asks
//! [`backing`] for every pool's storage, and keeps the [`Backing`] as long as the pool lives; memory that is freed
//! under a pool is named, and stays until the pool has gone.
//!
//! A title's archives are memory too, of another kind: [`Archive`] maps them.
//!
//! Memory reads 0 when it is given out. Only Linux has memfds: elsewhere [`alloc`] answers
//! [`AllocError::Host`] with "unsupported", and guests use memory of their own.

mod archive;
mod blocks;
mod region;
mod reservation;
mod sys;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::ptr::NonNull;
use std::sync::{Arc, LazyLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub use archive::Archive;
use blocks::{Blocks, Freed};
use region::Region;
pub use reservation::HostReservation;
pub use sys::fd::{BorrowedFd, OwnedFd};

/// Bytes of addresses that an arena reserves; its memory comes when it is touched.
const ARENA: usize = 1 << 30;
/// Smaller arenas are tried when addresses are short.
const SMALLEST_ARENA: usize = 16 << 20;

/// Why there is no memory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AllocError {
    /// 0 bytes.
    #[error("0 bytes of guest memory")]
    Empty,
    /// The alignment is no power of two.
    #[error("{0:#x} is no alignment")]
    Alignment(usize),
    /// More than addresses can count.
    #[error("{0:#x} bytes of guest memory are more than there can be")]
    TooLarge(usize),
    /// The host refuses.
    #[error("the host gives no guest memory: {0}")]
    Host(#[from] io::Error),
}

/// Why memory of the embedder's cannot be used as a memfd.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// No bytes, or not in whole host pages.
    #[error("{len:#x} bytes at {address:#x}, offset {offset:#x} of the file, are not whole host pages")]
    Unaligned {
        /// Where the memory is.
        address: usize,
        /// Bytes.
        len: usize,
        /// Offset in the file.
        offset: u64,
    },
    /// Some of it is registered, or the allocator's.
    #[error("{len:#x} bytes at {address:#x} overlap guest memory that is known already")]
    Overlaps {
        /// Where the memory is.
        address: usize,
        /// Bytes.
        len: usize,
    },
    /// The file is too short.
    #[error("the file has {size:#x} bytes, not {end:#x}")]
    Short {
        /// Bytes of the file.
        size: u64,
        /// Bytes that it would need.
        end: u64,
    },
    /// The memory is not a shared mapping of that part of that file.
    #[error("{len:#x} bytes at {address:#x} are no shared mapping of the file at {offset:#x}")]
    NotMapped {
        /// Where the memory is.
        address: usize,
        /// Bytes.
        len: usize,
        /// Offset in the file.
        offset: u64,
    },
    /// The host refuses.
    #[error("the host does not map the file a second time: {0}")]
    Host(#[from] io::Error),
}

/// Guest memory, its arenas and the embedder's. There is one for the process, behind the functions of this module.
#[derive(Debug, Default)]
pub struct GuestMemory {
    /// By first address; none overlap.
    regions: RwLock<BTreeMap<usize, Arc<Region>>>,
}

impl GuestMemory {
    /// Without any memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// The process's.
    pub fn global() -> &'static Self {
        static MEMORY: LazyLock<GuestMemory> = LazyLock::new(GuestMemory::new);
        &MEMORY
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<usize, Arc<Region>>> {
        self.regions.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<usize, Arc<Region>>> {
        self.regions.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives out `size` bytes at a multiple of `align`, all 0. Blocks of a page or more share no page with others.
    ///
    /// # Errors
    /// [`AllocError`].
    pub fn alloc(&self, size: usize, align: usize) -> Result<NonNull<u8>, AllocError> {
        if size == 0 {
            return Err(AllocError::Empty);
        }
        if !align.is_power_of_two() {
            return Err(AllocError::Alignment(align));
        }
        let take = |regions: &BTreeMap<usize, Arc<Region>>| {
            regions.values().find_map(|region| region.blocks()?.take(size as u64, align as u64))
        };
        let found = take(&self.read());
        let start = match found {
            Some(start) => start,
            None => {
                // Room for the block wherever the arena comes to lie.
                let page = sys::page_size();
                let (block, align) =
                    Blocks::shape(size as u64, align as u64, page as u64).ok_or(AllocError::TooLarge(size))?;
                let slack = align.saturating_sub(page as u64);
                let least = block.checked_add(slack).and_then(|least| usize::try_from(least).ok());
                let least = least
                    .and_then(|least| least.checked_next_multiple_of(page))
                    .filter(|&least| least < isize::MAX as usize);
                let arena = Arc::new(new_arena(least.ok_or(AllocError::TooLarge(size))?)?);
                let mut regions = self.write();
                regions.insert(arena.start(), arena);
                take(&regions).ok_or(AllocError::TooLarge(size))?
            }
        };
        NonNull::new(start as *mut u8).ok_or(AllocError::TooLarge(size))
    }

    /// Takes a block back; false, with a fault line, for memory that is no block. Memory in which a pool lies (for
    /// which there is a [`Backing`]) is named, and goes when the pool has gone.
    ///
    /// # Safety
    /// `memory` came from [`alloc`](Self::alloc) of the same object and has not been freed since; nobody uses it any
    /// more, but for who holds a [`Backing`].
    pub unsafe fn free(&self, memory: NonNull<u8>) -> bool {
        let address = memory.as_ptr() as usize;
        let region = self.region(address, 1);
        match region.as_ref().map_or(Freed::Unknown, |region| region.free(address)) {
            Freed::Unknown => {
                navin_abi::fault!(
                    key = address,
                    "",
                    "guest memory at {memory:p} is freed, where no block begins; nothing is freed"
                );
                return false;
            }
            Freed::Held => {
                navin_abi::fault!(
                    key = address,
                    "",
                    "guest memory at {memory:p} is freed while a memory pool lies in it; it stays until the pool is finalized"
                );
            }
            Freed::Now(..) => {}
        }
        drop(region);
        self.drop_empty_arena(address);
        true
    }

    /// Ends an arena in which nothing is given out any more, if it is not the last one.
    fn drop_empty_arena(&self, address: usize) {
        let empty = |region: &Arc<Region>| region.blocks().is_some_and(|blocks| blocks.is_empty());
        if !self.region(address, 1).is_some_and(|region| empty(&region)) {
            return;
        }
        let mut regions = self.write();
        let arenas = regions.values().filter(|region| region.is_arena()).count();
        let start =
            find(&regions, address, 1).filter(|region| arenas > 1 && empty(region)).map(|region| region.start());
        let gone = start.and_then(|start| regions.remove(&start));
        drop(regions);
        // Unmapped outside the lock.
        drop(gone);
    }

    fn region(&self, address: usize, len: usize) -> Option<Arc<Region>> {
        find(&self.read(), address, len).map(Arc::clone)
    }

    /// What is behind `len` bytes at `memory`: `None` unless all of them are in one memfd's mapping.
    pub fn backing(&self, memory: NonNull<u8>, len: usize) -> Option<Backing> {
        let address = memory.as_ptr() as usize;
        let region = self.region(address, len)?;
        let held = region.blocks().map(|mut blocks| blocks.hold(address as u64, len as u64)).unwrap_or_default();
        Some(Backing { region, address, len, held })
    }

    /// Makes memory known that the embedder has mapped, shared, from `file` at `offset`, and maps it a second time.
    /// The descriptor is duplicated.
    ///
    /// # Safety
    /// The mapping and the file's size stay as they are until [`unregister_memfd`](Self::unregister_memfd), and until
    /// every [`Backing`] in it has gone.
    ///
    /// # Errors
    /// [`RegisterError`]; nothing is changed then.
    pub unsafe fn register_memfd(
        &self,
        memory: NonNull<u8>,
        len: usize,
        file: BorrowedFd<'_>,
        offset: u64,
    ) -> Result<(), RegisterError> {
        let address = memory.as_ptr() as usize;
        let page = sys::page_size();
        let whole = address.is_multiple_of(page) && len.is_multiple_of(page) && offset.is_multiple_of(page as u64);
        let end = offset.checked_add(len as u64).filter(|_| whole && len > 0 && address.checked_add(len).is_some());
        let end = end.ok_or(RegisterError::Unaligned { address, len, offset })?;
        let (_, _, size) = sys::identity(file)?;
        if size < end {
            return Err(RegisterError::Short { size, end });
        }
        if !sys::shows(address, len, file, offset)? {
            return Err(RegisterError::NotMapped { address, len, offset });
        }
        let region = Region::registered(memory, len, file.try_clone_to_owned()?, offset)?;
        let mut regions = self.write();
        let below = regions.range(..address + len).next_back();
        if below.is_some_and(|(&start, region)| start + region.len() > address) {
            return Err(RegisterError::Overlaps { address, len });
        }
        regions.insert(address, Arc::new(region));
        Ok(())
    }

    /// Forgets memory of the embedder's; false when none that begins there was registered. The second mapping stays
    /// as long as there is a [`Backing`] in it.
    pub fn unregister_memfd(&self, memory: NonNull<u8>) -> bool {
        let address = memory.as_ptr() as usize;
        let mut regions = self.write();
        let known = regions.get(&address).is_some_and(|region| !region.is_arena());
        let gone = known.then(|| regions.remove(&address)).flatten();
        drop(regions);
        gone.is_some()
    }

    /// Arenas and registered ranges, blocks given out, and the blocks' bytes.
    pub fn totals(&self) -> (usize, usize, u64) {
        let regions = self.read();
        let blocks = regions.values().filter_map(|region| Some(region.blocks()?.totals()));
        let (count, bytes) = blocks.fold((0, 0), |(count, bytes), (n, size)| (count + n, bytes + size));
        (regions.len(), count, bytes)
    }
}

/// The region that holds all of a range.
fn find(regions: &BTreeMap<usize, Arc<Region>>, address: usize, len: usize) -> Option<&Arc<Region>> {
    let (_, region) = regions.range(..=address).next_back()?;
    region.contains(address, len).then_some(region)
}

/// An arena with room for `least` bytes, larger if there are addresses.
fn new_arena(least: usize) -> io::Result<Region> {
    let mut len = ARENA;
    while len > least.max(SMALLEST_ARENA) {
        if let Ok(arena) = Region::arena(len) {
            return Ok(arena);
        }
        len /= 4;
    }
    Region::arena(least)
}

/// What is behind guest memory. Holds it: blocks that are freed meanwhile stay until this is dropped, and so do the
/// second mapping and the file.
pub struct Backing {
    region: Arc<Region>,
    address: usize,
    len: usize,
    /// The blocks that the memory lies in.
    held: Vec<u64>,
}

impl Backing {
    /// The memfd.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.region.file()
    }

    /// Where the memory begins in it, in bytes.
    pub fn file_offset(&self) -> u64 {
        self.region.file_offset(self.address)
    }

    /// The same bytes in the second mapping, always writable.
    pub fn second(&self) -> NonNull<u8> {
        self.region.second(self.address)
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it is of no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        self.region.end_hold(&self.held);
    }
}

impl fmt::Debug for Backing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backing")
            .field("address", &(self.address as *const u8))
            .field("len", &self.len)
            .field("second", &self.second())
            .field("file_offset", &self.file_offset())
            .finish_non_exhaustive()
    }
}

/// The switch `guest_alloc_align_64k` of a title's profile (B106): how an embedder answers a request of the guest's
/// heap that names no alignment.
///
/// Pools' GPU addresses are aligned to 64 KB whatever their storage is, so this is only for a configuration in which
/// GPU addresses are CPU addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapRequests {
    /// The switch; off by default.
    pub align_64k: bool,
}

impl HeapRequests {
    /// The alignment that a request of `size` bytes gets, `None` for the heap's own.
    pub fn alignment(self, size: usize) -> Option<usize> {
        const BIG: usize = crate::BIG_PAGE as usize;
        (self.align_64k && size >= BIG).then_some(BIG)
    }
}

/// Bytes of a host page.
pub fn host_page_size() -> u64 {
    sys::page_size() as u64
}

/// Whether a pool's storage, which begins at a host page, is there: all its pages are mapped, and those at its ends and in
/// its middle can be read. A few microseconds, whatever the size. True where the system tells nothing.
pub fn is_mapped(start: *const u8, len: u64) -> bool {
    usize::try_from(len).is_ok_and(|len| sys::is_mapped(start as usize, len))
}

/// Whether a pool's storage, which begins at a host page, may be written: by its first and last page, and where these may
/// not, by all of it. False too for pages that write tracking protects at this moment. True where the system tells
/// nothing.
pub fn is_writable(start: *const u8, len: u64) -> bool {
    usize::try_from(len).is_ok_and(|len| sys::is_writable(start as usize, len))
}

/// [`GuestMemory::alloc`] of the process.
///
/// # Errors
/// [`AllocError`].
pub fn alloc(size: usize, align: usize) -> Result<NonNull<u8>, AllocError> {
    GuestMemory::global().alloc(size, align)
}

/// [`GuestMemory::free`] of the process.
///
/// # Safety
/// As there.
pub unsafe fn free(memory: NonNull<u8>) -> bool {
    // SAFETY: as promised to this function.
    unsafe { GuestMemory::global().free(memory) }
}

/// [`GuestMemory::backing`] of the process.
pub fn backing(memory: NonNull<u8>, len: usize) -> Option<Backing> {
    GuestMemory::global().backing(memory, len)
}

/// [`GuestMemory::register_memfd`] of the process.
///
/// # Safety
/// As there.
///
/// # Errors
/// [`RegisterError`].
pub unsafe fn register_memfd(
    memory: NonNull<u8>,
    len: usize,
    file: BorrowedFd<'_>,
    offset: u64,
) -> Result<(), RegisterError> {
    // SAFETY: as promised to this function.
    unsafe { GuestMemory::global().register_memfd(memory, len, file, offset) }
}

/// [`GuestMemory::unregister_memfd`] of the process.
pub fn unregister_memfd(memory: NonNull<u8>) -> bool {
    GuestMemory::global().unregister_memfd(memory)
}
