//! The table that shaders walk to dereference a raw GPU address.
//!
//! Two levels (docs/ARCHITECTURE.md, set 0 binding 33): the root has 4,096 entries of 256 MB each, every one the
//! device address of a leaf; a leaf has 4,096 entries of 64 KB each, every one the device address of the page's
//! first byte. A shader computes `leaf[(address >> 16) & 4095] + (address & 0xFFFF)`. No entry is ever invalid:
//! what is not mapped leads to the zero page, and a root entry with nothing in it to leaf 0, which is all zero
//! page, so that no raw access can fault the device.
//!
//! This is the pure half: it keeps what the table holds and says what to write where. `navin-vulkan` carries the
//! writes out, in order, before the submission that may need them; each value is 8 aligned bytes, so a shader in
//! flight reads the old or the new one. A leaf, once made, stays with its root entry: work in flight may still be
//! walking it, and the address space gives out low addresses first.

use crate::{ADDRESS_BITS, BIG_PAGE, GpuRange};

/// Entries of the root.
pub const ROOT_ENTRIES: u32 = 4096;
/// Entries of a leaf.
pub const LEAF_ENTRIES: u32 = 4096;
/// Bytes of GPU addresses under one leaf: 256 MB.
pub const LEAF_SPAN: u64 = LEAF_ENTRIES as u64 * BIG_PAGE;
/// Bytes of a leaf in the GPU buffer.
pub const LEAF_BYTES: u64 = LEAF_ENTRIES as u64 * 8;
/// The leaf of addresses with nothing mapped.
pub const ZERO_LEAF: u32 = 0;

const _: () = assert!(ROOT_ENTRIES as u64 * LEAF_SPAN == 1 << ADDRESS_BITS);

/// One change of the table's GPU image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageWrite {
    /// Entries `first .. first + count` of a leaf become `value`, `value + step`, `value + 2 step` ...
    Leaf {
        /// Which leaf: its buffer offset is `leaf *` [`LEAF_BYTES`].
        leaf: u32,
        /// First entry.
        first: u32,
        /// Number of entries, at least 1; `first + count <= 4096`.
        count: u32,
        /// Device address of the first.
        value: u64,
        /// 64 KB for a mapping, 0 for the zero page.
        step: u64,
    },
    /// A root entry becomes the device address of a leaf, all of whose entries have been written before.
    Root {
        /// Which entry: `address >> 28`.
        entry: u32,
        /// Which leaf.
        leaf: u32,
    },
}

impl PageWrite {
    /// The values of a leaf write, in order; none for a root write.
    pub fn values(self) -> impl Iterator<Item = u64> {
        let (count, value, step) = match self {
            Self::Leaf { count, value, step, .. } => (count, value, step),
            Self::Root { .. } => (0, 0, 0),
        };
        (0..u64::from(count)).map(move |i| value.wrapping_add(i * step))
    }
}

/// Why a mapping cannot be put into the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The range does not begin at a big page, or is empty.
    #[error("{size:#x} bytes at {start:#x} are no range of big pages")]
    Unaligned {
        /// First address.
        start: u64,
        /// Bytes.
        size: u64,
    },
    /// The range passes the end of the address space.
    #[error("{size:#x} bytes at {start:#x} pass the end of the GPU address space")]
    Outside {
        /// First address.
        start: u64,
        /// Bytes.
        size: u64,
    },
}

/// The table's content.
#[derive(Debug)]
pub struct PageTable {
    zero_page: u64,
    /// Leaf of each root entry.
    root: Vec<u32>,
    /// Entries of each leaf; leaf 0 is never written after its making.
    leaves: Vec<Box<[u64]>>,
}

impl PageTable {
    /// An empty table over the 64 KB zero page at this device address, and the writes that make it.
    pub fn new(zero_page: u64) -> (Self, Vec<PageWrite>) {
        let table = Self {
            zero_page,
            root: vec![ZERO_LEAF; ROOT_ENTRIES as usize],
            leaves: vec![vec![zero_page; LEAF_ENTRIES as usize].into()],
        };
        let mut writes = vec![table.empty_leaf(ZERO_LEAF)];
        writes.extend((0..ROOT_ENTRIES).map(|entry| PageWrite::Root { entry, leaf: ZERO_LEAF }));
        (table, writes)
    }

    fn empty_leaf(&self, leaf: u32) -> PageWrite {
        PageWrite::Leaf { leaf, first: 0, count: LEAF_ENTRIES, value: self.zero_page, step: 0 }
    }

    /// Maps the big pages of `range` to consecutive device addresses from `device` on, and appends the writes.
    ///
    /// A last page that the range fills only in part is mapped whole: a shader that reads past the pool's end in
    /// it reads device memory behind the pool. The caller either has a device buffer of whole big pages there, or
    /// leaves that page out and maps a padded copy; see [`partial_tail`].
    ///
    /// # Errors
    /// [`PageError`]; nothing is changed then.
    pub fn map(&mut self, range: GpuRange, device: u64, writes: &mut Vec<PageWrite>) -> Result<(), PageError> {
        let pages = pages(range)?;
        self.set(pages, device, BIG_PAGE, true, writes);
        Ok(())
    }

    /// Leads the big pages of `range` to the zero page, and appends the writes.
    ///
    /// # Errors
    /// [`PageError`]; nothing is changed then.
    pub fn unmap(&mut self, range: GpuRange, writes: &mut Vec<PageWrite>) -> Result<(), PageError> {
        let pages = pages(range)?;
        self.set(pages, self.zero_page, 0, false, writes);
        Ok(())
    }

    fn set(&mut self, pages: std::ops::Range<u64>, device: u64, step: u64, make: bool, writes: &mut Vec<PageWrite>) {
        let per_leaf = u64::from(LEAF_ENTRIES);
        let mut page = pages.start;
        while page < pages.end {
            let entry = (page / per_leaf) as u32;
            let first = (page % per_leaf) as u32;
            let count = (pages.end - page).min(per_leaf - u64::from(first)) as u32;
            let value = device.wrapping_add((page - pages.start) * step);
            page += u64::from(count);

            let mut leaf = self.root[entry as usize];
            let fresh = leaf == ZERO_LEAF;
            if fresh {
                if !make {
                    continue;
                }
                leaf = self.leaves.len() as u32;
                self.leaves.push(vec![self.zero_page; LEAF_ENTRIES as usize].into());
                self.root[entry as usize] = leaf;
                if count < LEAF_ENTRIES {
                    writes.push(self.empty_leaf(leaf));
                }
            }
            let write = PageWrite::Leaf { leaf, first, count, value, step };
            let entries = &mut self.leaves[leaf as usize][first as usize..][..count as usize];
            for (slot, value) in entries.iter_mut().zip(write.values()) {
                *slot = value;
            }
            writes.push(write);
            if fresh {
                // Last, so that no shader finds a leaf before its entries.
                writes.push(PageWrite::Root { entry, leaf });
            }
        }
    }

    /// The device address that a shader computes for a GPU address; the address is taken modulo 2^40.
    pub fn walk(&self, address: u64) -> u64 {
        let leaf = self.root[(address >> 28) as usize % ROOT_ENTRIES as usize];
        let page = self.leaves[leaf as usize][(address >> 16) as usize % LEAF_ENTRIES as usize];
        page.wrapping_add(address % BIG_PAGE)
    }

    /// How many leaves there are: the leaf buffer holds this many times [`LEAF_BYTES`].
    pub fn leaves(&self) -> u32 {
        self.leaves.len() as u32
    }

    /// The leaf of a root entry, for a renderer that writes the table anew.
    pub fn root(&self) -> &[u32] {
        &self.root
    }

    /// The entries of a leaf; empty when there is no such leaf.
    pub fn leaf(&self, leaf: u32) -> &[u64] {
        self.leaves.get(leaf as usize).map_or(&[], |entries| entries)
    }
}

/// Bytes of a pool of `size` bytes that lie in a last big page which they do not fill; 0 when they fill it.
pub fn partial_tail(size: u64) -> u64 {
    size % BIG_PAGE
}

/// Numbers of the first big page of a range and of the one past its last.
fn pages(range: GpuRange) -> Result<std::ops::Range<u64>, PageError> {
    let GpuRange { start, size } = range;
    if size == 0 || !start.is_multiple_of(BIG_PAGE) {
        return Err(PageError::Unaligned { start, size });
    }
    let end = start.checked_add(size).filter(|&end| end <= 1 << ADDRESS_BITS);
    let end = end.ok_or(PageError::Outside { start, size })?;
    Ok(start / BIG_PAGE..end.div_ceil(BIG_PAGE))
}
