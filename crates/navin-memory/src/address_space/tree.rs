//! The map from big pages to pools: a tree of four levels of 64, whose versions share what has not changed.
//!
//! | level | an entry covers | a node |
//! |---|---|---|
//! | 3 (root) | 16 GB | 1 TB |
//! | 2 | 256 MB | 16 GB |
//! | 1 | 4 MB | 256 MB |
//! | 0 | 64 KB | 4 MB |
//!
//! Any entry may be a pool, so a pool of 64 GB takes a few hundred entries, not a million. Who holds a version keeps
//! it as it is: a change copies the nodes on its way (a kilobyte each) if somebody does, and nothing otherwise.

use std::sync::Arc;

use crate::{ADDRESS_BITS, BIG_PAGE, GpuRange, PoolId, SMALL_PAGE, VirtualPool};

const BITS: u32 = 6;
const ENTRIES: usize = 1 << BITS;
const ROOT_LEVEL: u32 = 3;

const _: () = assert!(BIG_PAGE << (BITS * (ROOT_LEVEL + 1)) == 1 << ADDRESS_BITS);

/// A pool's place.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) range: GpuRange,
    pub(super) owner: PoolId,
    /// The pool, when it is virtual: it knows what its pages are.
    pub(super) pages: Option<Arc<VirtualPool>>,
}

/// What is at the pages of an entry: 16 bytes, so that a look-up in an ordinary pool ends in the node that it reaches.
#[derive(Clone, Debug, Default)]
enum Entry {
    #[default]
    Empty,
    /// An ordinary pool whose numbers fit.
    Pool(Compact),
    /// Any pool.
    Place(Arc<Place>),
    Node(Arc<Node>),
}

const _: () = assert!(size_of::<Entry>() == 16);

/// A pool's place in 12 bytes.
#[derive(Clone, Copy, Debug)]
struct Compact {
    owner: u32,
    /// First big page.
    start: u32,
    /// 4 KB pages; the size is whole ones.
    pages: u32,
}

/// What is found at an address.
pub(super) enum Found<'a> {
    /// An ordinary pool's range, and the pool.
    Pool(GpuRange, PoolId),
    /// A virtual pool's.
    Virtual(GpuRange, &'a Arc<VirtualPool>),
}

impl Entry {
    fn new(place: &Arc<Place>) -> Self {
        let GpuRange { start, size } = place.range;
        match (&place.pages, u32::try_from(place.owner.0)) {
            // The space is of 2^28 small pages.
            (None, Ok(owner)) if size.is_multiple_of(SMALL_PAGE) => {
                Self::Pool(Compact { owner, start: (start / BIG_PAGE) as u32, pages: (size / SMALL_PAGE) as u32 })
            }
            _ => Self::Place(Arc::clone(place)),
        }
    }
}

#[derive(Clone, Debug)]
struct Node([Entry; ENTRIES]);

/// One version of the map.
#[derive(Clone, Debug)]
pub(super) struct Tree(Arc<Node>);

impl Default for Tree {
    fn default() -> Self {
        Self(Node::filled(&Entry::Empty))
    }
}

impl Node {
    fn filled(entry: &Entry) -> Arc<Self> {
        Arc::new(Self(std::array::from_fn(|_| entry.clone())))
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|entry| matches!(entry, Entry::Empty))
    }
}

impl Tree {
    /// Puts a pool at the big pages of its range, which are empty.
    pub(super) fn insert(&mut self, place: &Arc<Place>) {
        set(&mut self.0, ROOT_LEVEL, pages(place.range), &Entry::new(place));
    }

    /// Empties the big pages of a pool's range.
    pub(super) fn remove(&mut self, range: GpuRange) {
        set(&mut self.0, ROOT_LEVEL, pages(range), &Entry::Empty);
    }

    /// The pool in whose range the address is.
    #[inline]
    pub(super) fn find(&self, address: u64) -> Option<Found<'_>> {
        let mut page = address / BIG_PAGE;
        if page >> (BITS * (ROOT_LEVEL + 1)) != 0 {
            return None;
        }
        // The highest digit first.
        page <<= u64::BITS - BITS * (ROOT_LEVEL + 1);
        let mut node = &self.0;
        loop {
            match &node.0[(page >> (u64::BITS - BITS)) as usize] {
                Entry::Empty => return None,
                Entry::Node(next) => node = next,
                Entry::Pool(pool) => {
                    let start = u64::from(pool.start) * BIG_PAGE;
                    let range = GpuRange { start, size: u64::from(pool.pages) * SMALL_PAGE };
                    return range.contains(address).then_some(Found::Pool(range, PoolId(pool.owner.into())));
                }
                Entry::Place(place) => {
                    let range = place.range;
                    return range.contains(address).then(|| match &place.pages {
                        Some(pages) => Found::Virtual(range, pages),
                        None => Found::Pool(range, place.owner),
                    });
                }
            }
            page <<= BITS;
        }
    }
}

/// Numbers of the big pages of a range, past its end.
fn pages(range: GpuRange) -> std::ops::Range<u64> {
    range.start / BIG_PAGE..range.end().div_ceil(BIG_PAGE)
}

/// Makes the pages, counted from the node's first, lead to `entry`.
fn set(node: &mut Arc<Node>, level: u32, pages: std::ops::Range<u64>, entry: &Entry) {
    let node = Arc::make_mut(node);
    let covers = 1u64 << (BITS * level);
    let mut at = pages.start;
    while at < pages.end {
        let start = at - at % covers;
        let end = (start + covers).min(pages.end);
        let slot = &mut node.0[(at >> (BITS * level)) as usize];
        if at == start && end - start == covers {
            *slot = entry.clone();
        } else {
            if !matches!(slot, Entry::Node(_)) {
                *slot = Entry::Node(Node::filled(slot));
            }
            if let Entry::Node(below) = slot {
                set(below, level - 1, at - start..end - start, entry);
                if matches!(entry, Entry::Empty) && below.is_empty() {
                    *slot = Entry::Empty;
                }
            }
        }
        at = end;
    }
}
