//! Guest memory as the GPU sees it: the 40-bit address space, pools, and the page table that shaders walk.
//!
//! What flows through: an entry point (guest thread) checks what the guest passes with [`PoolDesc::validate`], takes a
//! range from [`AddressSpace`] and makes a [`Pool`], or a [`VirtualPool`], into which the guest then maps pages of
//! others. The submit thread turns addresses in records into (pool, offset), several times a draw; an
//! [`AddressReader`] does so without a lock. [`PageTable`] says what to write into the table that shaders with raw
//! pointers walk. Only [`alloc`] and [`tracking`] touch memory, and only its pages, never what is in them.
//!
//! - [`address_space`]: reservations, and what an address is.
//! - [`pool`]: flags, validation, and what is known of one pool.
//! - [`virtual_pool`]: the 4 KB page table of a virtual pool, mapping requests, its CPU range.
//! - [`chunks`]: which pieces of a large pool are imported.
//! - [`page_table`]: the table of raw pointers.
//! - [`mirror`]: what has to go up to the GPU's copy of a pool that no import takes.
//! - [`alloc`]: guest memory with a second mapping for the GPU.
//! - [`tracking`]: which of that memory the CPU has written.

// Unit tests share helpers with the integration tests, which call the crate by its name.
#[cfg(test)]
extern crate self as navin_memory;

pub mod address_space;
pub mod alloc;
pub mod chunks;
mod free_ranges;
pub mod mirror;
pub mod page_table;
pub mod pool;
pub mod tracking;
pub mod virtual_pool;

pub use address_space::{AddressReader, AddressSpace, Lookup, Mapping, NearestVirtual, Reservation, SpaceError};
pub use page_table::{PageSize, PageTable, PageWrite};
pub use pool::{CpuAccess, GpuAccess, Pool, PoolDesc, PoolError, PoolFlags, PoolId, PoolIds, Storage};
pub use virtual_pool::VirtualPool;

/// Bits of a GPU address.
pub const ADDRESS_BITS: u32 = 40;
/// First address past the space.
pub const ADDRESS_END: u64 = 1 << ADDRESS_BITS;
/// The big page: every pool's range begins at a multiple of it, and a page-table entry covers one.
pub const BIG_PAGE: u64 = 64 << 10;
/// The small page: pools' memory and size, and the mappings of virtual pools, are in multiples of it.
pub const SMALL_PAGE: u64 = 4 << 10;

/// A range of GPU addresses, not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GpuRange {
    /// First address.
    pub start: u64,
    /// Bytes.
    pub size: u64,
}

impl GpuRange {
    /// First address past the range.
    pub fn end(self) -> u64 {
        self.start + self.size
    }

    /// Whether the address lies in the range.
    pub fn contains(self, address: u64) -> bool {
        address >= self.start && address - self.start < self.size
    }
}

/// `value` rounded up to a multiple of `to` (a power of two); `None` past the end of `u64`.
pub(crate) fn round_up(value: u64, to: u64) -> Option<u64> {
    value.checked_add(to - 1).map(|sum| sum & !(to - 1))
}
