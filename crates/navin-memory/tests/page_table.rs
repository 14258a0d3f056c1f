//! The page table: what a shader finds by walking it equals what the interval map says, and the writes alone
//! build the same table.

use std::sync::Arc;

use navin_memory::page_table::{LEAF_ENTRIES, LEAF_SPAN, PageError, ROOT_ENTRIES, ZERO_LEAF, partial_tail};
use navin_memory::{ADDRESS_END, AddressSpace, BIG_PAGE, GpuRange, PageTable, PageWrite, PoolId};
use proptest::prelude::*;

const ZERO: u64 = 0xFFFF_0000_0000;

/// The GPU's memory: what the renderer has after carrying the writes out. Entries that were never written are
/// poison.
struct Image {
    root: Vec<Option<u32>>,
    leaves: Vec<Vec<Option<u64>>>,
}

impl Image {
    fn new() -> Self {
        Self { root: vec![None; ROOT_ENTRIES as usize], leaves: Vec::new() }
    }

    fn carry_out(&mut self, writes: &[PageWrite]) {
        for &write in writes {
            match write {
                PageWrite::Leaf { leaf, first, count, .. } => {
                    let leaf = leaf as usize;
                    if self.leaves.len() <= leaf {
                        self.leaves.resize(leaf + 1, vec![None; LEAF_ENTRIES as usize]);
                    }
                    let mut values = write.values();
                    for entry in &mut self.leaves[leaf][first as usize..(first + count) as usize] {
                        *entry = values.next();
                    }
                    assert_eq!(values.next(), None);
                }
                PageWrite::Root { entry, leaf } => {
                    assert!(
                        self.leaves[leaf as usize].iter().all(Option::is_some),
                        "a leaf is written before it is found"
                    );
                    self.root[entry as usize] = Some(leaf);
                }
            }
        }
    }

    /// What the shader computes.
    fn walk(&self, address: u64) -> u64 {
        let leaf = self.root[(address >> 28) as usize & 4095].expect("every root entry leads to a leaf");
        let page = self.leaves[leaf as usize][(address >> 16) as usize & 4095].expect("every entry is written");
        page + (address & 0xFFFF)
    }
}

#[test]
fn an_empty_table_leads_everything_to_the_zero_page() {
    let (table, writes) = PageTable::new(ZERO);
    let mut image = Image::new();
    image.carry_out(&writes);
    for address in [0, 0x1234, 1 << 32, ADDRESS_END - 1] {
        assert_eq!(image.walk(address), ZERO + (address & 0xFFFF));
        assert_eq!(table.walk(address), ZERO + (address & 0xFFFF));
    }
    assert_eq!(table.leaves(), 1);
    assert!(table.root().iter().all(|&leaf| leaf == ZERO_LEAF));
}

#[test]
fn a_mapping_over_several_leaves_is_consecutive() {
    let (mut table, mut writes) = PageTable::new(ZERO);
    let start = 20 * LEAF_SPAN - 2 * BIG_PAGE;
    let range = GpuRange { start, size: LEAF_SPAN + 4 * BIG_PAGE };
    table.map(range, 0x5000_0000_0000, &mut writes).unwrap();
    let mut image = Image::new();
    image.carry_out(&writes);
    for offset in [0, 1, BIG_PAGE, 2 * BIG_PAGE, LEAF_SPAN, range.size - 1] {
        assert_eq!(image.walk(start + offset), 0x5000_0000_0000 + offset);
    }
    assert_eq!(image.walk(start - 1), ZERO + 0xFFFF);
    assert_eq!(image.walk(range.end()), ZERO);
    assert_eq!(table.leaves(), 4, "leaf 0 and the three that the range touches");
    writes.clear();
    table.unmap(range, &mut writes).unwrap();
    image.carry_out(&writes);
    for offset in [0, LEAF_SPAN, range.size - 1] {
        assert_eq!(image.walk(start + offset), ZERO + (start + offset) % BIG_PAGE);
    }
    assert_eq!(table.leaves(), 4);
}

#[test]
fn b113_unmapping_what_was_never_mapped_writes_nothing() {
    let (mut table, _) = PageTable::new(ZERO);
    let mut writes = Vec::new();
    table.unmap(GpuRange { start: 1 << 32, size: 64 << 30 }, &mut writes).unwrap();
    assert_eq!(writes, []);
    assert_eq!(table.leaves(), 1);
}

#[test]
fn ranges_that_no_table_can_hold_are_refused() {
    let (mut table, _) = PageTable::new(ZERO);
    let mut writes = Vec::new();
    let mut map = |start, size| table.map(GpuRange { start, size }, 0, &mut writes);
    assert_eq!(map(0x1000, 0x10000), Err(PageError::Unaligned { start: 0x1000, size: 0x10000 }));
    assert_eq!(map(0x10000, 0), Err(PageError::Unaligned { start: 0x10000, size: 0 }));
    let end = ADDRESS_END - BIG_PAGE;
    assert_eq!(map(end, BIG_PAGE + 1), Err(PageError::Outside { start: end, size: BIG_PAGE + 1 }));
    assert_eq!(map(!0xFFFF, BIG_PAGE), Err(PageError::Outside { start: !0xFFFF, size: BIG_PAGE }));
    assert_eq!(map(end, BIG_PAGE), Ok(()));
    assert_eq!(writes.len(), 3, "a leaf, its entry, its root entry");
}

#[test]
fn the_part_of_a_last_page_is_told() {
    assert_eq!(partial_tail(0x30000), 0);
    assert_eq!(partial_tail(0x31000), 0x1000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Pools come and go; each is put into the table as the renderer does. Then for every address near any pool
    /// that ever was, the walk gives the pool's device address plus the offset, or the zero page.
    #[test]
    fn the_walk_equals_the_interval_map(ops in prop::collection::vec((any::<bool>(), 1u64..9000, 0usize..8), 1..24)) {
        let space = Arc::new(AddressSpace::new());
        let mut reader = space.reader();
        let (mut table, mut writes) = PageTable::new(ZERO);
        let mut image = Image::new();
        let device = |pool: PoolId| 0x1_0000_0000_0000 + pool.0 * 0x100_0000_0000;
        let mut alive: Vec<GpuRange> = Vec::new();
        let mut ever: Vec<GpuRange> = Vec::new();
        for (id, (make, pages, which)) in (1..).zip(ops) {
            if make || alive.is_empty() {
                let pool = PoolId(id);
                let range = space.allocate(pool, pages * BIG_PAGE).unwrap();
                table.map(range, device(pool), &mut writes).unwrap();
                alive.push(range);
                ever.push(range);
            } else {
                let range = alive.swap_remove(which % alive.len());
                table.unmap(range, &mut writes).unwrap();
                space.free(range.start);
            }
            image.carry_out(&writes);
            writes.clear();
            for range in &ever {
                for page in [0, 1, range.size / BIG_PAGE / 2, range.size / BIG_PAGE - 1, range.size / BIG_PAGE] {
                    for within in [0, 0xFFFF] {
                        let address = range.start + page * BIG_PAGE + within;
                        let want = match reader.lookup(address, 1) {
                            Some(mapping) => device(mapping.pool) + mapping.offset,
                            None => ZERO + within,
                        };
                        prop_assert_eq!(image.walk(address), want);
                        prop_assert_eq!(table.walk(address), want);
                    }
                }
            }
        }
        for leaf in 0..table.leaves() {
            let image: Vec<u64> = image.leaves[leaf as usize].iter().map(|entry| entry.unwrap()).collect();
            prop_assert_eq!(table.leaf(leaf), &image[..]);
        }
    }
}
