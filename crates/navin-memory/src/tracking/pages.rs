//! The words of all granules: a two-level table over the 48 bits of user addresses, read without a lock.
//!
//! Leaves are made when memory is registered and live as long as the tracker; untouched parts of a leaf and of the
//! root cost address space only. One word a granule, whatever the number of ranges over it: what B407 asks for
//! (a fault releases every range over the page, a slot is used again) needs no list of ranges, and a query's cost does
//! not depend on how many there are.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Address bits of user programs (x86-64 with 4-level tables has 47, AArch64 48).
pub const ADDRESS_BITS: u32 = 48;
const LEAF_BITS: u32 = 15;
/// Granules of a leaf.
pub const LEAF: usize = 1 << LEAF_BITS;
/// Granules of a block: what a leaf's bit sets have a bit for.
pub const BLOCK: usize = LEAF / 64;

/// The words of [`LEAF`] granules. All zero is a valid leaf: nothing known.
#[repr(C)]
pub struct Leaf {
    /// By granule.
    pub words: [AtomicU64; LEAF],
    /// Blocks in which a fetch may find something. Written under the slot lock.
    pub armed: AtomicU64,
    /// Armed blocks that fetches leave out, since nobody asked about them lately; who asks looks there first.
    pub cold: AtomicU64,
    /// Blocks that somebody asked about since the bits were last taken.
    pub asked: AtomicU64,
}

/// The table.
pub struct PageTable {
    root: Box<[AtomicPtr<Leaf>]>,
    /// The leaves there are, for whoever visits them all.
    made: Mutex<Vec<usize>>,
    /// Bits of a granule's size.
    shift: u32,
}

impl PageTable {
    /// An empty table for granules of `1 << shift` bytes.
    pub fn new(shift: u32) -> Self {
        let len = 1usize << (ADDRESS_BITS - shift - LEAF_BITS);
        let pointer = NonNull::slice_from_raw_parts(zeroed::<AtomicPtr<Leaf>>(len), len);
        // SAFETY: `len` zeroed elements from the global allocator with the layout of the slice; a null pointer is a
        // valid `AtomicPtr`.
        let root = unsafe { Box::from_raw(pointer.as_ptr()) };
        Self { root, made: Mutex::default(), shift }
    }

    /// Bits of a granule's size.
    pub fn shift(&self) -> u32 {
        self.shift
    }

    /// The granules over `len` bytes from `start`, none of them for no bytes; `None` when they end past the table.
    pub fn granules(&self, start: usize, len: usize) -> Option<Range<usize>> {
        let end = start.checked_add(len).filter(|&end| end as u64 <= 1 << ADDRESS_BITS)?;
        if len == 0 {
            return Some(0..0);
        }
        Some(start >> self.shift..((end - 1) >> self.shift) + 1)
    }

    /// The bytes of a run.
    pub fn bytes(&self, granules: Range<usize>) -> Range<usize> {
        granules.start << self.shift..granules.end << self.shift
    }

    /// The leaf with this number.
    #[inline]
    pub fn leaf(&self, index: usize) -> Option<&Leaf> {
        let leaf = self.root.get(index)?.load(Ordering::Acquire);
        // SAFETY: null, or a leaf that `make` published and nobody frees before the table is dropped.
        unsafe { leaf.as_ref() }
    }

    /// The granule's word.
    #[inline]
    pub fn word(&self, granule: usize) -> Option<&AtomicU64> {
        self.leaf(granule >> LEAF_BITS).map(|leaf| &leaf.words[granule & (LEAF - 1)])
    }

    /// Makes sure that a run has leaves.
    pub fn make(&self, granules: Range<usize>) {
        let mut made = self.leaves();
        for (index, _) in pieces(granules) {
            let Some(root) = self.root.get(index) else { continue };
            if root.load(Ordering::Acquire).is_null() {
                root.store(zeroed::<Leaf>(1).as_ptr(), Ordering::Release);
                made.push(index);
            }
        }
    }

    /// The numbers of the leaves there are.
    pub fn leaves(&self) -> MutexGuard<'_, Vec<usize>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PageTable {
    fn drop(&mut self) {
        let made = std::mem::take(self.made.get_mut().unwrap_or_else(PoisonError::into_inner));
        for index in made {
            // SAFETY: `make` allocated this leaf with this layout; `&mut self` says that nobody reads it.
            unsafe { dealloc(self.root[index].get_mut().cast(), Layout::new::<Leaf>()) };
        }
    }
}

/// A run cut at leaves: (number of the leaf, granules within it).
pub fn pieces(granules: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut at = granules.start;
    std::iter::from_fn(move || {
        if at >= granules.end {
            return None;
        }
        let index = at >> LEAF_BITS;
        let end = granules.end.min((index + 1) << LEAF_BITS);
        let piece = at - (index << LEAF_BITS)..end - (index << LEAF_BITS);
        at = end;
        Some((index, piece))
    })
}

/// The bits of the blocks that a run within a leaf touches.
#[inline]
pub fn blocks(piece: &Range<usize>) -> u64 {
    let (first, last) = (piece.start / BLOCK, (piece.end - 1) / BLOCK);
    (u64::MAX << first) & (u64::MAX >> (63 - last))
}

/// Zeroed memory for `len` of `T`, which must be valid when zero. Large blocks come from the system untouched, so that
/// they cost no memory before they are used.
fn zeroed<T>(len: usize) -> NonNull<T> {
    let Ok(layout) = Layout::array::<T>(len) else { unreachable!("a few megabytes") };
    // SAFETY: the layout is not empty: both users ask for at least one element of a sized type.
    let pointer = unsafe { alloc_zeroed(layout) };
    NonNull::new(pointer.cast()).unwrap_or_else(|| handle_alloc_error(layout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_cut_at_leaves() {
        let cut: Vec<_> = pieces(LEAF - 2..2 * LEAF + 1).collect();
        assert_eq!(cut, [(0, LEAF - 2..LEAF), (1, 0..LEAF), (2, 0..1)]);
        assert_eq!(pieces(5..5).count(), 0);
        assert_eq!(blocks(&(0..1)), 1);
        assert_eq!(blocks(&(BLOCK - 1..BLOCK + 1)), 3);
        assert_eq!(blocks(&(0..LEAF)), u64::MAX);
        assert_eq!(blocks(&(LEAF - 1..LEAF)), 1 << 63);
    }

    #[test]
    fn granules_round_out_and_end_with_the_addresses() {
        let table = PageTable::new(14);
        assert_eq!(table.granules(0x4000, 1), Some(1..2));
        assert_eq!(table.granules(0x3fff, 2), Some(0..2));
        assert_eq!(table.granules(123, 0), Some(0..0));
        assert_eq!(table.granules(usize::MAX, 2), None);
        assert_eq!(table.granules(1 << 48, 1), None);
        assert!(table.word(1).is_none());
        table.make(0..2);
        table.make(0..2);
        assert_eq!(*table.leaves(), [0]);
        assert!(table.word(1).is_some());
    }
}
