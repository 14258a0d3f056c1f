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

use crate::{ADDRESS_BITS, BIG_PAGE, GpuRange, PoolId, VirtualPool};

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

#[derive(Clone, Debug, Default)]
enum Entry {
    #[default]
    Empty,
    Pool(Arc<Place>),
    Node(Arc<Node>),
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
        set(&mut self.0, ROOT_LEVEL, pages(place.range), &Entry::Pool(Arc::clone(place)));
    }

    /// Empties the big pages of a pool's range.
    pub(super) fn remove(&mut self, range: GpuRange) {
        set(&mut self.0, ROOT_LEVEL, pages(range), &Entry::Empty);
    }

    /// The pool in whose range the address is.
    #[inline]
    pub(super) fn find(&self, address: u64) -> Option<&Arc<Place>> {
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
                Entry::Pool(place) => return place.range.contains(address).then_some(place),
                Entry::Node(next) => node = next,
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
