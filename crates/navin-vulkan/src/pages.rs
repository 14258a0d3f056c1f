//! The page table: GPU address to device address, for shaders with raw pointers.
//!
//! A root entry for every 256 MB leads to a leaf of 4,096 entries, one for each 64 KB page. An entry is the device
//! address of the page, or, with bit 0 set, that of a *split table*: 16 addresses of 4 KB pages. Unmapped space leads
//! to the zero page, unmapped leaves to one shared leaf full of it, so that no access can fault; the word behind the
//! root's entries is the zero page's address, by which shaders tell stores to unmapped pages, and leave them out
//! (B113).
//!
//! A 4 KB page's address is stored less its offset in the big page, so that shaders add the low 16 bits of the
//! address in either case; unmapped ones hold the zero page's address itself.
//!
//! The memory of root, leaves and split tables is mapped, and every change is one aligned store of 8 bytes: work in
//! flight reads the old or the new entry. Split tables are cut from blocks and used again once no work in flight can
//! be walking them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use ash::vk;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::gpu::Gpu;
use crate::memory::{Buffer, MemoryError, MemoryKind};
use crate::retire::Garbage;

/// Entries of the page-table root: one leaf each, 256 MB of GPU address space.
pub const PAGE_TABLE_LEAVES: u32 = 4_096;
/// Entries of a leaf: one 64 KB page each.
pub const PAGE_TABLE_LEAF_ENTRIES: u32 = 4_096;
/// Bytes of a page of the page table.
pub const PAGE_BYTES: u64 = 64 << 10;
/// Bytes of a small page.
pub const SMALL_PAGE_BYTES: u64 = 4 << 10;
/// Small pages of a page.
pub const SMALL_PAGES: u32 = (PAGE_BYTES / SMALL_PAGE_BYTES) as u32;

const LEAF_BYTES: u64 = PAGE_TABLE_LEAF_ENTRIES as u64 * 8;
/// The root's entries, and the zero page's address.
const ROOT_BYTES: u64 = PAGE_TABLE_LEAVES as u64 * 8 + 8;
/// Marks an entry as the address of a split table.
const SPLIT: u64 = 1;
/// Addresses of pages are multiples of this: shaders read words, and bit 0 is taken.
const ADDRESS_ALIGNMENT: u64 = 4;

const SPLIT_BYTES: u64 = SMALL_PAGES as u64 * 8;
/// Split tables of a block.
const SPLITS: u32 = (PAGE_BYTES / SPLIT_BYTES) as u32;

/// The page table's parts.
pub(crate) struct Pages {
    gpu: Arc<Gpu>,
    pub(crate) root: Buffer,
    /// By leaf number, made at the first page.
    leaves: Vec<Option<Buffer>>,
    /// 64 KB of zeroes: what unmapped addresses read.
    zero: Buffer,
    /// The leaf of unmapped space. Kept for its memory.
    _empty: Buffer,
    splits: Arc<SplitPool>,
    /// The split tables in use, by page number (GPU address >> 16).
    split: FxHashMap<u32, SplitTable>,
}

impl Pages {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Result<Self, MemoryError> {
        let upload = |size, name| Buffer::with_gpu(gpu, size, MemoryKind::Upload, name);
        let zero = upload(PAGE_BYTES, "zero page")?;
        let empty = upload(LEAF_BYTES, "empty page table leaf")?;
        let root = upload(ROOT_BYTES, "page table root")?;
        for entry in 0..PAGE_TABLE_LEAF_ENTRIES {
            store(&empty, entry, zero.address());
        }
        for leaf in 0..PAGE_TABLE_LEAVES {
            store(&root, leaf, empty.address());
        }
        store(&root, PAGE_TABLE_LEAVES, zero.address());
        Ok(Self {
            gpu: gpu.clone(),
            root,
            leaves: (0..PAGE_TABLE_LEAVES).map(|_| None).collect(),
            zero,
            _empty: empty,
            splits: Arc::default(),
            split: FxHashMap::default(),
        })
    }

    pub(crate) fn zero_page(&self) -> vk::DeviceAddress {
        self.zero.address()
    }

    /// See [`crate::Tables::write_pages`].
    pub(crate) fn write(&mut self, leaf: u32, first: u32, addresses: &[u64]) -> bool {
        let fits = u64::from(first) + addresses.len() as u64 <= PAGE_TABLE_LEAF_ENTRIES.into();
        if leaf >= PAGE_TABLE_LEAVES || !fits || !aligned(addresses) {
            return false;
        }
        let nothing = addresses.iter().all(|&address| address == 0);
        if nothing && self.leaves[leaf as usize].is_none() {
            return true;
        }
        if !self.make_leaf(leaf) {
            return false;
        }
        let zero = self.zero.address();
        let Some(buffer) = &self.leaves[leaf as usize] else { return false };
        for (entry, &address) in (first..).zip(addresses) {
            store(buffer, entry, if address == 0 { zero } else { address });
        }
        if !self.split.is_empty() {
            for entry in (first..).take(addresses.len()) {
                if let Some(table) = self.split.remove(&page_number(leaf, entry)) {
                    self.gpu.retire.push(Garbage::Split(table.slot));
                }
            }
        }
        self.publish(leaf);
        true
    }

    /// See [`crate::Tables::write_small_pages`].
    pub(crate) fn write_small(&mut self, leaf: u32, entry: u32, first: u32, addresses: &[u64]) -> bool {
        let fits = u64::from(first) + addresses.len() as u64 <= SMALL_PAGES.into();
        if leaf >= PAGE_TABLE_LEAVES || entry >= PAGE_TABLE_LEAF_ENTRIES || !fits || !aligned(addresses) {
            return false;
        }
        let nothing = addresses.iter().all(|&address| address == 0);
        if nothing && self.leaves[leaf as usize].is_none() {
            return true;
        }
        if !self.make_leaf(leaf) {
            return false;
        }
        let zero = self.zero.address();
        let number = page_number(leaf, entry);
        let fresh = !self.split.contains_key(&number);
        if fresh {
            let Some(table) = self.splits.take(&self.gpu) else { return false };
            let whole = self.leaves[leaf as usize].as_ref().map_or(zero, |buffer| load(buffer, entry));
            // A mapped big page's address is right for each of its small ones too: offsets are taken off.
            for small in 0..SMALL_PAGES {
                table.store(small, whole);
            }
            self.split.insert(number, table);
        }
        let Some(table) = self.split.get(&number) else { return false };
        for (small, &address) in (first..).zip(addresses) {
            let offset = u64::from(small) * SMALL_PAGE_BYTES;
            table.store(small, if address == 0 { zero } else { address.wrapping_sub(offset) });
        }
        if fresh && let Some(buffer) = &self.leaves[leaf as usize] {
            // After the table's entries, so that a shader that sees the table sees its pages.
            std::sync::atomic::fence(Ordering::Release);
            store(buffer, entry, table.address | SPLIT);
        }
        self.publish(leaf);
        true
    }

    /// Bytes of leaves and split tables, root and zero page.
    pub(crate) fn bytes(&self) -> u64 {
        let leaves = self.leaves.iter().flatten().count() as u64 + 1;
        leaves * LEAF_BYTES + self.splits.0.lock().blocks.len() as u64 * PAGE_BYTES + ROOT_BYTES + PAGE_BYTES
    }

    /// Split tables in use.
    pub(crate) fn split_pages(&self) -> usize {
        self.split.len()
    }

    fn make_leaf(&mut self, leaf: u32) -> bool {
        let place = &mut self.leaves[leaf as usize];
        if place.is_none() {
            let Ok(buffer) = Buffer::with_gpu(&self.gpu, LEAF_BYTES, MemoryKind::Upload, "page table leaf") else {
                return false;
            };
            for entry in 0..PAGE_TABLE_LEAF_ENTRIES {
                store(&buffer, entry, self.zero.address());
            }
            *place = Some(buffer);
        }
        true
    }

    /// Leads the root to a leaf, after the leaf's entries, so that a shader that sees the leaf sees its pages.
    fn publish(&self, leaf: u32) {
        if let Some(buffer) = &self.leaves[leaf as usize] {
            std::sync::atomic::fence(Ordering::Release);
            store(&self.root, leaf, buffer.address());
        }
    }
}

fn page_number(leaf: u32, entry: u32) -> u32 {
    leaf * PAGE_TABLE_LEAF_ENTRIES + entry
}

fn aligned(addresses: &[u64]) -> bool {
    addresses.iter().all(|address| address.is_multiple_of(ADDRESS_ALIGNMENT))
}

/// A split table in use.
struct SplitTable {
    slot: SplitSlot,
    address: vk::DeviceAddress,
    entries: *mut u64,
}

// SAFETY: the pointer leads into a mapped buffer of the split pool, which the page table keeps; it belongs to no
// thread, and is stored through atomically.
unsafe impl Send for SplitTable {}

impl SplitTable {
    fn store(&self, small: u32, address: u64) {
        debug_assert!(small < SMALL_PAGES);
        // SAFETY: inside the table, whose block is mapped; atomic, as the device may be reading.
        unsafe { AtomicU64::from_ptr(self.entries.add(small as usize)) }.store(address, Ordering::Relaxed);
    }
}

/// A split table's place in the pool.
pub(crate) struct SplitSlot {
    /// Weak: what waits for release must not keep the device that it waits in.
    pool: Weak<SplitPool>,
    number: u32,
}

impl SplitSlot {
    /// Nothing walks the table any more: it can be used again.
    pub(crate) fn free(self) {
        if let Some(pool) = self.pool.upgrade() {
            pool.0.lock().free.push(self.number);
        }
    }
}

/// Blocks of split tables.
#[derive(Default)]
struct SplitPool(Mutex<SplitBlocks>);

#[derive(Default)]
struct SplitBlocks {
    blocks: Vec<Buffer>,
    free: Vec<u32>,
}

impl SplitPool {
    fn take(self: &Arc<Self>, gpu: &Arc<Gpu>) -> Option<SplitTable> {
        if self.0.lock().free.is_empty() {
            // Tables given up before may be free by now.
            gpu.release();
        }
        let mut state = self.0.lock();
        let number = match state.free.pop() {
            Some(number) => number,
            None => {
                let block = Buffer::with_gpu(gpu, PAGE_BYTES, MemoryKind::Upload, "split page tables").ok()?;
                let first = state.blocks.len() as u32 * SPLITS;
                state.blocks.push(block);
                state.free.extend((first + 1..first + SPLITS).rev());
                first
            }
        };
        let block = &state.blocks[(number / SPLITS) as usize];
        let offset = u64::from(number % SPLITS) * SPLIT_BYTES;
        Some(SplitTable {
            slot: SplitSlot { pool: Arc::downgrade(self), number },
            address: block.address() + offset,
            // SAFETY: inside the block's mapping.
            entries: unsafe { block.mapped().add(offset as usize) }.cast(),
        })
    }
}

/// Stores an address of a mapped buffer that the device may be reading.
fn store(buffer: &Buffer, index: u32, address: u64) {
    if let Some(place) = place(buffer, index) {
        place.store(address, Ordering::Relaxed);
    }
}

fn load(buffer: &Buffer, index: u32) -> u64 {
    place(buffer, index).map_or(0, |place| place.load(Ordering::Relaxed))
}

fn place(buffer: &Buffer, index: u32) -> Option<&AtomicU64> {
    let inside = u64::from(index) * 8 + 8 <= buffer.size() && !buffer.mapped().is_null();
    // SAFETY: inside the mapping and aligned; atomic, so that the device never loads half an address.
    inside.then(|| unsafe { AtomicU64::from_ptr(buffer.mapped().cast::<u64>().add(index as usize)) })
}
