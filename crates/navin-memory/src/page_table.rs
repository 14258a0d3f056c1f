//! The table that shaders walk to dereference a raw GPU address: which pools are in it, and what to write for them.
//!
//! Two levels (docs/ARCHITECTURE.md, set 0 binding 33): a root of 4,096 leaves, each for 256 MB, and leaves of 4,096
//! entries, each for 64 KB. An entry is the device address of a page, or leads to a *split table* of 16 addresses of
//! 4 KB pages. What is not mapped leads to the zero page, so no raw access can fault the device (B113).
//!
//! This is the pure half. A pool is in the table once the guest, or a descriptor, has taken an address in it, and
//! only then (B642): [`publish`](PageTable::publish). The last big page of a pool that does not fill it is split, so
//! that a raw access behind the pool's end reads 0; so is every big page of a virtual pool whose 4 KB pages are not
//! side by side in one physical pool. What comes out are [`PageWrite`]s; `navin-vulkan`'s tables carry them out, in
//! order, before the submission that may need them. They own the leaves and split tables, and keep a split table that
//! a write makes superfluous until no submitted work can be walking it.

use std::collections::HashMap;
use std::ops::Range;

use crate::{ADDRESS_END, BIG_PAGE, GpuRange, PoolId, SMALL_PAGE, VirtualPool};

/// Entries of the root.
pub const ROOT_ENTRIES: u32 = 4096;
/// Entries of a leaf.
pub const LEAF_ENTRIES: u32 = 4096;
/// Entries of a split table.
pub const SPLIT_ENTRIES: u32 = (BIG_PAGE / SMALL_PAGE) as u32;
/// Bytes of GPU addresses under one leaf: 256 MB.
pub const LEAF_SPAN: u64 = LEAF_ENTRIES as u64 * BIG_PAGE;
/// Device addresses are multiples of this: shaders read words, and an entry's bit 0 tells a split table.
pub const DEVICE_ALIGNMENT: u64 = 4;

const _: () = assert!(ROOT_ENTRIES as u64 * LEAF_SPAN == ADDRESS_END);

/// Where a write goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageSize {
    /// Entries of a leaf, 64 KB each. Split tables that were under them are not walked any more.
    Big,
    /// 4 KB pages of entry `entry` of the leaf. Its other 4 KB pages stay what they were.
    Small {
        /// Which entry: `address >> 16 & 4095`.
        entry: u32,
    },
}

/// One change of the table: `count` pages from page `first` on show consecutive device memory, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageWrite {
    /// Which leaf: `address >> 28`.
    pub leaf: u32,
    /// Big or small pages.
    pub size: PageSize,
    /// The first page: of the leaf, or of the entry.
    pub first: u32,
    /// Number of pages, at least 1; they are all in the leaf, or in the entry.
    pub count: u32,
    /// Device address of the first page; 0: the pages are unmapped.
    pub device: u64,
}

impl PageWrite {
    /// Bytes of a page.
    pub fn page_bytes(&self) -> u64 {
        match self.size {
            PageSize::Big => BIG_PAGE,
            PageSize::Small { .. } => SMALL_PAGE,
        }
    }

    /// The device address of each page, 0 for unmapped ones.
    pub fn addresses(&self) -> impl Iterator<Item = u64> + use<> {
        let (device, step) = (self.device, if self.device == 0 { 0 } else { self.page_bytes() });
        (0..u64::from(self.count)).map(move |page| device + page * step)
    }

    /// GPU address of the first page.
    pub fn address(&self) -> u64 {
        let leaf = u64::from(self.leaf) * LEAF_SPAN;
        match self.size {
            PageSize::Big => leaf + u64::from(self.first) * BIG_PAGE,
            PageSize::Small { entry } => leaf + u64::from(entry) * BIG_PAGE + u64::from(self.first) * SMALL_PAGE,
        }
    }
}

/// Why a pool cannot be put into the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The range does not begin at a big page, is no multiple of 4 KB, or is empty.
    #[error("{size:#x} bytes at {start:#x} are no pool's range")]
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
    /// A device address of 0, or one that shaders cannot read words at.
    #[error("{device:#x} is no device address of a page")]
    Device {
        /// The address.
        device: u64,
    },
}

/// Which pools are in the table.
#[derive(Debug, Default)]
pub struct PageTable {
    pools: HashMap<PoolId, GpuRange>,
}

impl PageTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a pool into the table whose memory lies at `device`, and appends the writes. False, and no writes, when it
    /// is there already: asking at every address that is taken costs one look-up.
    ///
    /// # Errors
    /// [`PageError`]; nothing is changed then.
    pub fn publish(
        &mut self,
        pool: PoolId,
        range: GpuRange,
        device: u64,
        writes: &mut Vec<PageWrite>,
    ) -> Result<bool, PageError> {
        self.publish_pieces(pool, range, &[(range.size, device)], writes)
    }

    /// As [`publish`](Self::publish), for a pool that is more than one import may hold: bytes (whole big pages, but for
    /// the last piece's) and device address of each piece, one behind the other.
    ///
    /// # Errors
    /// As for [`publish`](Self::publish).
    pub fn publish_pieces(
        &mut self,
        pool: PoolId,
        range: GpuRange,
        pieces: &[(u64, u64)],
        writes: &mut Vec<PageWrite>,
    ) -> Result<bool, PageError> {
        if self.pools.contains_key(&pool) {
            return Ok(false);
        }
        check(range)?;
        let bad = |device: &u64| *device == 0 || !device.is_multiple_of(DEVICE_ALIGNMENT);
        if let Some(device) = pieces.iter().map(|(_, device)| *device).find(bad) {
            return Err(PageError::Device { device });
        }
        write(range.start, padded(range.size), pieces.iter().copied(), writes);
        self.pools.insert(pool, range);
        Ok(true)
    }

    /// Puts a virtual pool into the table; `device` gives the device address of a byte of a physical pool and how many
    /// bytes lie side by side from there on (whole 4 KB pages), `None` where the GPU does not reach it. As
    /// [`publish`](Self::publish) otherwise.
    ///
    /// # Errors
    /// As for [`publish`](Self::publish).
    pub fn publish_virtual(
        &mut self,
        pool: &VirtualPool,
        range: GpuRange,
        device: impl Fn(PoolId, u64) -> Option<(u64, u64)>,
        writes: &mut Vec<PageWrite>,
    ) -> Result<bool, PageError> {
        if self.pools.contains_key(&pool.id()) {
            return Ok(false);
        }
        check(range)?;
        self.pools.insert(pool.id(), range);
        // Runs that share a big page are written once.
        let mut next: Option<Range<u64>> = None;
        for run in pool.run_list() {
            let run = run.start - run.start % BIG_PAGE..run.end.next_multiple_of(BIG_PAGE);
            match &mut next {
                Some(last) if run.start <= last.end => last.end = run.end,
                _ => {
                    if let Some(last) = next.replace(run) {
                        self.update(pool, last, &device, writes);
                    }
                }
            }
        }
        if let Some(last) = next {
            self.update(pool, last, &device, writes);
        }
        Ok(true)
    }

    /// Appends the writes for bytes of a virtual pool that have changed (see
    /// [`Committed::changed`](crate::virtual_pool::Committed::changed)); none when the pool is not in the table.
    pub fn update(
        &self,
        pool: &VirtualPool,
        changed: Range<u64>,
        device: impl Fn(PoolId, u64) -> Option<(u64, u64)>,
        writes: &mut Vec<PageWrite>,
    ) {
        let Some(range) = self.pools.get(&pool.id()) else { return };
        let start = changed.start - changed.start % BIG_PAGE;
        let size = padded(changed.end.min(range.size).saturating_sub(start));
        let device = &device;
        let spans = pool.spans(start, size).flat_map(|span| {
            let mut done = 0;
            std::iter::from_fn(move || {
                let left = span.size.checked_sub(done).filter(|left| *left > 0)?;
                let memory = span.source.and_then(|(physical, offset)| device(physical, offset + done));
                let memory = memory.filter(|(at, bytes)| at.is_multiple_of(DEVICE_ALIGNMENT) && *bytes >= SMALL_PAGE);
                let (at, bytes) = memory.unwrap_or((0, left));
                let bytes = (bytes - bytes % SMALL_PAGE).min(left);
                done += bytes;
                Some((bytes, at))
            })
        });
        write(range.start + start, size, spans, writes);
    }

    /// Takes a pool out of the table and appends the writes; false when it was not there.
    pub fn withdraw(&mut self, pool: PoolId, writes: &mut Vec<PageWrite>) -> bool {
        let Some(range) = self.pools.remove(&pool) else { return false };
        write(range.start, padded(range.size), [], writes);
        true
    }

    /// Whether a pool is in the table.
    pub fn contains(&self, pool: PoolId) -> bool {
        self.pools.contains_key(&pool)
    }

    /// How many pools are in the table (B642).
    pub fn len(&self) -> usize {
        self.pools.len()
    }

    /// Whether no pool is in the table.
    pub fn is_empty(&self) -> bool {
        self.pools.is_empty()
    }
}

/// Bytes up to the end of the last big page.
fn padded(size: u64) -> u64 {
    size.next_multiple_of(BIG_PAGE)
}

fn check(range: GpuRange) -> Result<(), PageError> {
    let GpuRange { start, size } = range;
    if size == 0 || !start.is_multiple_of(BIG_PAGE) || !size.is_multiple_of(SMALL_PAGE) {
        return Err(PageError::Unaligned { start, size });
    }
    if start.checked_add(size).is_none_or(|end| end > ADDRESS_END) {
        return Err(PageError::Outside { start, size });
    }
    Ok(())
}

/// Appends the writes for `size` bytes (whole big pages) at `start`. `spans` are sizes, in whole 4 KB pages, and
/// device addresses (0: nothing), one behind the other; what they leave is unmapped.
fn write(start: u64, size: u64, spans: impl IntoIterator<Item = (u64, u64)>, writes: &mut Vec<PageWrite>) {
    let end = start + size;
    let mut at = start;
    for (bytes, device) in spans.into_iter().chain([(size, 0)]) {
        let from = at;
        let stop = (at + bytes).min(end);
        while at < stop {
            let leaf = (at / LEAF_SPAN) as u32;
            let entry = (at % LEAF_SPAN / BIG_PAGE) as u32;
            let big = if at.is_multiple_of(BIG_PAGE) { (stop - at) / BIG_PAGE } else { 0 };
            let device = if device == 0 { 0 } else { device + (at - from) };
            let write = if big > 0 {
                let count = (big as u32).min(LEAF_ENTRIES - entry);
                PageWrite { leaf, size: PageSize::Big, first: entry, count, device }
            } else {
                let first = (at % BIG_PAGE / SMALL_PAGE) as u32;
                let count = ((stop - at) / SMALL_PAGE).min(u64::from(SPLIT_ENTRIES - first)) as u32;
                PageWrite { leaf, size: PageSize::Small { entry }, first, count, device }
            };
            at += u64::from(write.count) * write.page_bytes();
            writes.push(write);
        }
    }
}
