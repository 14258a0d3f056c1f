//! The 4 KB page table of a virtual pool (B118): written by guest threads under the pool's lock, read without one.
//!
//! Four levels, made where something is mapped, so that 64 GB reserved cost a root of 4 KB:
//!
//! | level | covers | holds |
//! |---|---|---|
//! | root | the pool | a pointer for each 128 MB |
//! | [`Directory`] | 128 MB | a pointer for each 2 MB |
//! | [`Leaf`] | 2 MB | a *block* for each 64 KB: a word and a generation |
//! | [`Split`] | 64 KB | a word and a generation for each 4 KB page |
//!
//! A block whose 16 pages show consecutive pages of one physical pool, put there by one request, is one word; only
//! other blocks have a split. So 64 KB tiles scattered over the pool cost less than 1 % of themselves, and large
//! mappings next to nothing.
//!
//! A word is one atomic, so a reader sees a page's mapping before a request or after it, never a gap between (B112).
//! Nothing is freed or moved while the table lives: what has been made stays with its addresses, so a reader needs
//! no protection from reclamation.

use std::ptr;

// The standard library's, or loom's (tests/loom.rs).
use super::atomic::{AtomicPtr, AtomicU64, Ordering};
use crate::PoolId;

/// Pages of a block: 64 KB.
const BLOCK: u32 = 16;
/// Blocks of a leaf.
const LEAF_BLOCKS: u32 = 32;
/// Pages of a leaf: 2 MB.
const LEAF: u32 = BLOCK * LEAF_BLOCKS;
/// Leaves of a directory.
const DIRECTORY_LEAVES: u32 = 64;
/// Pages of a directory: 128 MB.
const DIRECTORY: u32 = LEAF * DIRECTORY_LEAVES;

const _: () = assert!(usize::BITS == 64, "a block's word is as large as a pointer");

/// What is behind a page, as stored.
///
/// 0: nothing. Else bit 0 is set, bit 2 says that the page is visible in the pool's CPU range, bits 4-31 are the
/// page's number in the physical pool (1 TB of 4 KB pages), bits 32-63 the physical pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(u64);

const MAPPED: u64 = 1;
/// In a block's word only: the rest is a pointer to a [`Split`].
const SPLIT: u64 = 2;
const HOST: u64 = 4;
const PAGE_SHIFT: u32 = 4;
const PAGE_MASK: u64 = (1 << 28) - 1;

impl Word {
    pub(super) const NONE: Self = Self(0);

    /// Page `page` of pool `pool`; `None` for a pool or page whose number does not fit.
    pub(super) fn new(pool: PoolId, page: u64) -> Option<Self> {
        let pool = u32::try_from(pool.0).ok()?;
        (page <= PAGE_MASK).then_some(Self(u64::from(pool) << 32 | page << PAGE_SHIFT | MAPPED))
    }

    pub(super) fn is_mapped(self) -> bool {
        self.0 & MAPPED != 0
    }

    pub(super) fn pool(self) -> PoolId {
        PoolId(self.0 >> 32)
    }

    pub(super) fn page(self) -> u64 {
        self.0 >> PAGE_SHIFT & PAGE_MASK
    }

    /// Whether the page is visible in the pool's CPU range.
    pub(super) fn host(self) -> bool {
        self.0 & HOST != 0
    }

    pub(super) fn with_host(self, host: bool) -> Self {
        if host && self.is_mapped() { Self(self.0 | HOST) } else { Self(self.0 & !HOST) }
    }

    /// The word of the page `by` further on, in the same mapping.
    pub(super) fn advance(self, by: u32) -> Self {
        if self.is_mapped() { Self(self.0 + (u64::from(by) << PAGE_SHIFT)) } else { self }
    }
}

/// A piece of the table: `count` pages from `first` on, the first of which is `word`, the next ones
/// [`advance`](Word::advance) it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) word: Word,
}

impl Cell {
    pub(super) fn end(self) -> u32 {
        self.first + self.count
    }

    fn without_host(self) -> Self {
        Self { word: Word(self.word.0 & !HOST), ..self }
    }

    /// The cell joined with the one behind it, if that continues it.
    fn join(self, next: Self) -> Option<Self> {
        let continues = self.end() == next.first && self.word.advance(self.count) == next.word;
        continues.then_some(Self { count: self.count + next.count, ..self })
    }
}

struct Split {
    words: [AtomicU64; BLOCK as usize],
    generations: [AtomicU64; BLOCK as usize],
}

struct Block {
    /// A [`Word`] without provenance, or a pointer to a [`Split`] with [`SPLIT`] in its low bits.
    word: AtomicPtr<Split>,
    /// Of the request that wrote the word; not used any more once the block is split.
    generation: AtomicU64,
}

struct Leaf {
    /// The newest generation in the leaf.
    newest: AtomicU64,
    blocks: [Block; LEAF_BLOCKS as usize],
}

struct Directory {
    leaves: [AtomicPtr<Leaf>; DIRECTORY_LEAVES as usize],
}

impl Directory {
    /// The leaf of a page of the pool that is under this directory.
    fn leaf(&self, page: u32) -> Option<&Leaf> {
        let leaf = self.leaves[(page % DIRECTORY / LEAF) as usize].load(Ordering::Acquire);
        // SAFETY: null, or from `Box::into_raw` and freed only with the table, which `self` is a part of.
        unsafe { leaf.as_ref() }
    }
}

/// What a block's word says.
enum Content<'a> {
    Uniform(Word),
    Split(&'a Split),
}

impl Block {
    fn content(&self) -> Content<'_> {
        let word = self.word.load(Ordering::Acquire);
        if word.addr() as u64 & SPLIT == 0 {
            return Content::Uniform(Word(word.addr() as u64));
        }
        // SAFETY: only `split` stores words with this bit: a pointer from `Box::into_raw`, freed when the table is
        // dropped, which takes the table by value.
        Content::Split(unsafe { &*word.map_addr(|at| at & !(SPLIT as usize)) })
    }

    fn set(&self, word: Word) {
        self.word.store(ptr::without_provenance_mut(word.0 as usize), Ordering::Release);
    }

    /// The split of this block, made of its word where there is none. Only the thread that holds the pool's lock.
    fn split(&self, made: &AtomicU64) -> &Split {
        let word = match self.content() {
            Content::Split(split) => return split,
            Content::Uniform(word) => word,
        };
        let generation = self.generation.load(Ordering::Relaxed);
        let split = Box::into_raw(Box::new(Split {
            words: std::array::from_fn(|page| AtomicU64::new(word.advance(page as u32).0)),
            generations: std::array::from_fn(|_| AtomicU64::new(generation)),
        }));
        made.fetch_add(size_of::<Split>() as u64, Ordering::Relaxed);
        self.word.store(split.map_addr(|at| at | SPLIT as usize), Ordering::Release);
        // SAFETY: just made; freed only with the table.
        unsafe { &*split }
    }
}

/// The table of one virtual pool.
pub(super) struct Table {
    pages: u32,
    root: Box<[AtomicPtr<Directory>]>,
    /// Bytes of all levels.
    bytes: AtomicU64,
}

// SAFETY: the pointers own what they lead to, all of which is atomics; they are set once and freed at the drop.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

impl Table {
    /// A table of `pages` pages with nothing mapped.
    pub(super) fn new(pages: u32) -> Self {
        let root: Box<[_]> = (0..pages.div_ceil(DIRECTORY)).map(|_| AtomicPtr::default()).collect();
        let bytes = AtomicU64::new(size_of_val(&*root) as u64);
        Self { pages, root, bytes }
    }

    pub(super) fn pages(&self) -> u32 {
        self.pages
    }

    /// Bytes that the table takes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn directory(&self, page: u32) -> Option<&Directory> {
        let directory = self.root.get((page / DIRECTORY) as usize)?.load(Ordering::Acquire);
        // SAFETY: null, or from `Box::into_raw` and freed only with the table.
        unsafe { directory.as_ref() }
    }

    fn leaf(&self, page: u32) -> Option<&Leaf> {
        self.directory(page)?.leaf(page)
    }

    /// What is behind a page.
    pub(super) fn get(&self, page: u32) -> Word {
        let Some(leaf) = self.leaf(page) else { return Word::NONE };
        match leaf.blocks[(page % LEAF / BLOCK) as usize].content() {
            Content::Uniform(word) => word.advance(page % BLOCK),
            Content::Split(split) => Word(split.words[(page % BLOCK) as usize].load(Ordering::Acquire)),
        }
    }

    /// The pages `first .. end` in pieces as they are stored; every page is in exactly one.
    pub(super) fn cells(&self, first: u32, end: u32) -> Cells<'_> {
        Cells { table: self, at: first, end: end.min(self.pages), leaf: None, leaf_end: first }
    }

    /// The pages `first .. end` in the fewest pieces: each is unmapped, or consecutive pages of one physical pool
    /// that are all visible to the CPU or all not.
    pub(super) fn segments(&self, first: u32, end: u32) -> Segments<'_> {
        Segments { cells: self.cells(first, end), next: None, keep: !0 }
    }

    /// The same, whatever the CPU sees.
    pub(super) fn mappings(&self, first: u32, end: u32) -> Segments<'_> {
        Segments { cells: self.cells(first, end), next: None, keep: !HOST }
    }

    /// The first of [`mappings`](Self::mappings).
    #[inline]
    pub(super) fn mapping(&self, first: u32, end: u32) -> Option<Cell> {
        let mut cells = self.cells(first, end).map(Cell::without_host);
        let mut cell = cells.next()?;
        while let Some(joined) = cells.next().and_then(|next| cell.join(next)) {
            cell = joined;
        }
        Some(cell)
    }

    /// Whether a request newer than `generation` has changed any page of `first .. end`.
    pub(super) fn changed_since(&self, first: u32, end: u32, generation: u64) -> bool {
        let end = end.min(self.pages);
        let mut at = first;
        while at < end {
            let Some(directory) = self.directory(at) else {
                at = (at / DIRECTORY + 1).saturating_mul(DIRECTORY);
                continue;
            };
            let next = (at / LEAF + 1).saturating_mul(LEAF);
            if let Some(leaf) = directory.leaf(at)
                && leaf.newest.load(Ordering::Acquire) > generation
                && leaf.changed_since(at % LEAF, next.min(end) - at, generation)
            {
                return true;
            }
            at = next;
        }
        false
    }

    /// The leaf of a page, made where there is none. Only the thread that holds the pool's lock.
    fn make_leaf(&self, page: u32) -> &Leaf {
        let directory = made_or(&self.root[(page / DIRECTORY) as usize], &self.bytes, || Directory {
            leaves: std::array::from_fn(|_| AtomicPtr::default()),
        });
        made_or(&directory.leaves[(page % DIRECTORY / LEAF) as usize], &self.bytes, || Leaf {
            newest: AtomicU64::new(0),
            blocks: std::array::from_fn(|_| Block {
                word: AtomicPtr::new(ptr::without_provenance_mut(0)),
                generation: AtomicU64::new(0),
            }),
        })
    }

    /// Makes `count` pages from `first` on show `word` and what follows it, as the request `generation` says.
    ///
    /// Only the thread that holds the pool's lock; the pages are in the pool. Pages that were unmapped and stay so
    /// keep their generation: nothing has changed there.
    pub(super) fn set(&self, first: u32, count: u32, word: Word, generation: u64) {
        let end = first + count;
        let mut at = first;
        while at < end {
            if !word.is_mapped() {
                // Nothing is made for pages that are unmapped anyway.
                if self.directory(at).is_none() {
                    at = (at / DIRECTORY + 1).saturating_mul(DIRECTORY);
                    continue;
                }
                if self.leaf(at).is_none() {
                    at = (at / LEAF + 1).saturating_mul(LEAF);
                    continue;
                }
            }
            let leaf = self.make_leaf(at);
            leaf.newest.fetch_max(generation, Ordering::AcqRel);
            let leaf_end = ((at / LEAF + 1).saturating_mul(LEAF)).min(end);
            while at < leaf_end {
                let next = (at / BLOCK + 1) * BLOCK;
                let stop = next.min(leaf_end);
                leaf.blocks[(at % LEAF / BLOCK) as usize].write(
                    at % BLOCK..stop - (next - BLOCK),
                    word.advance(at - first),
                    generation,
                    &self.bytes,
                );
                at = stop;
            }
        }
    }

    /// Says of mapped pages whether they are visible in the CPU range. Not a change of what they show.
    pub(super) fn set_host(&self, first: u32, count: u32, host: bool) {
        let end = first + count;
        let mut at = first;
        while at < end {
            let next = ((at / BLOCK + 1) * BLOCK).min(end);
            if let Some(leaf) = self.leaf(at) {
                let block = &leaf.blocks[(at % LEAF / BLOCK) as usize];
                let whole = at.is_multiple_of(BLOCK) && next - at == BLOCK;
                match block.content() {
                    Content::Uniform(word) if word.with_host(host) == word => {}
                    Content::Uniform(word) if whole => block.set(word.with_host(host)),
                    _ => {
                        let split = block.split(&self.bytes);
                        for page in at..next {
                            let slot = &split.words[(page % BLOCK) as usize];
                            let word = Word(slot.load(Ordering::Relaxed));
                            slot.store(word.with_host(host).0, Ordering::Release);
                        }
                    }
                }
            }
            at = next;
        }
    }
}

impl Block {
    /// Pages `pages` of the block become `word` and what follows it.
    fn write(&self, pages: std::ops::Range<u32>, word: Word, generation: u64, made: &AtomicU64) {
        if let Content::Uniform(old) = self.content() {
            if !old.is_mapped() && !word.is_mapped() {
                return;
            }
            if pages == (0..BLOCK) {
                self.generation.store(generation, Ordering::Release);
                self.set(word);
                return;
            }
        }
        let split = self.split(made);
        for page in pages.clone() {
            let word = word.advance(page - pages.start);
            let slot = &split.words[page as usize];
            if word.is_mapped() || Word(slot.load(Ordering::Relaxed)).is_mapped() {
                split.generations[page as usize].store(generation, Ordering::Release);
                slot.store(word.0, Ordering::Release);
            }
        }
    }
}

impl Leaf {
    fn changed_since(&self, first: u32, count: u32, generation: u64) -> bool {
        let end = first + count;
        (first / BLOCK..end.div_ceil(BLOCK)).any(|index| {
            let block = &self.blocks[index as usize];
            match block.content() {
                Content::Uniform(_) => block.generation.load(Ordering::Acquire) > generation,
                Content::Split(split) => {
                    let start = index * BLOCK;
                    let (from, to) = (first.max(start) - start, end.min(start + BLOCK) - start);
                    split.generations[from as usize..to as usize]
                        .iter()
                        .any(|newer| newer.load(Ordering::Acquire) > generation)
                }
            }
        })
    }
}

/// What the slot leads to, made where it leads nowhere. Only one thread makes things in one table at a time.
fn made_or<'a, T>(slot: &'a AtomicPtr<T>, bytes: &AtomicU64, make: impl FnOnce() -> T) -> &'a T {
    let mut at = slot.load(Ordering::Acquire);
    if at.is_null() {
        at = Box::into_raw(Box::new(make()));
        bytes.fetch_add(size_of::<T>() as u64, Ordering::Relaxed);
        slot.store(at, Ordering::Release);
    }
    // SAFETY: from `Box::into_raw`, freed only when the table is dropped, which `slot` is a part of.
    unsafe { &*at }
}

impl Drop for Table {
    fn drop(&mut self) {
        for directory in &self.root {
            let directory = directory.load(Ordering::Relaxed);
            if directory.is_null() {
                continue;
            }
            // SAFETY: from `Box::into_raw` in `made_or`, and this is the only place that frees it; nobody reads
            // any more, as the table is being dropped. The same for the leaves and splits below.
            let directory = unsafe { Box::from_raw(directory) };
            for leaf in &directory.leaves {
                let leaf = leaf.load(Ordering::Relaxed);
                if leaf.is_null() {
                    continue;
                }
                // SAFETY: as above.
                let leaf = unsafe { Box::from_raw(leaf) };
                for block in &leaf.blocks {
                    let word = block.word.load(Ordering::Relaxed);
                    if word.addr() as u64 & SPLIT != 0 {
                        // SAFETY: as above, from `Block::split`.
                        drop(unsafe { Box::from_raw(word.map_addr(|at| at & !(SPLIT as usize))) });
                    }
                }
            }
        }
    }
}

/// See [`Table::cells`].
pub(super) struct Cells<'a> {
    table: &'a Table,
    at: u32,
    end: u32,
    /// What is behind the pages up to `leaf_end`.
    leaf: Option<&'a Leaf>,
    leaf_end: u32,
}

impl Iterator for Cells<'_> {
    type Item = Cell;

    #[inline]
    fn next(&mut self) -> Option<Cell> {
        let first = self.at;
        if first >= self.end {
            return None;
        }
        if first >= self.leaf_end {
            // One look at the directory: it may come into being between two.
            let directory = self.table.directory(first);
            let covers = if directory.is_some() { LEAF } else { DIRECTORY };
            self.leaf = directory.and_then(|directory| directory.leaf(first));
            self.leaf_end = (first / covers + 1).saturating_mul(covers);
        }
        let (next, word) = match self.leaf {
            None => (self.leaf_end, Word::NONE),
            Some(leaf) => match leaf.blocks[(first % LEAF / BLOCK) as usize].content() {
                Content::Uniform(word) => ((first / BLOCK + 1).saturating_mul(BLOCK), word.advance(first % BLOCK)),
                Content::Split(split) => {
                    (first + 1, Word(split.words[(first % BLOCK) as usize].load(Ordering::Acquire)))
                }
            },
        };
        self.at = next.min(self.end);
        Some(Cell { first, count: self.at - first, word })
    }
}

/// See [`Table::segments`].
pub(super) struct Segments<'a> {
    cells: Cells<'a>,
    next: Option<Cell>,
    /// Bits of the words that count.
    keep: u64,
}

impl Iterator for Segments<'_> {
    type Item = Cell;

    fn next(&mut self) -> Option<Cell> {
        let keep = self.keep;
        let mut cells = self.cells.by_ref().map(|cell| Cell { word: Word(cell.word.0 & keep), ..cell });
        let mut cell = self.next.take().or_else(|| cells.next())?;
        for next in cells {
            match cell.join(next) {
                Some(joined) => cell = joined,
                None => {
                    self.next = Some(next);
                    break;
                }
            }
        }
        Some(cell)
    }
}
