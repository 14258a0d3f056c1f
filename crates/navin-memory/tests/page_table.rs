//! The page table: what a shader finds by walking what the writes have built equals what the pools say, and nobody
//! is in it of whom no address was taken.

use std::collections::HashMap;
use std::sync::Arc;

use navin_memory::page_table::{LEAF_SPAN, PageError, PageSize};
use navin_memory::virtual_pool::{MapRequest, NoHostMemory, Physical};
use navin_memory::{
    ADDRESS_END, AddressSpace, BIG_PAGE, GpuRange, PageTable, PageWrite, PoolId, SMALL_PAGE, VirtualPool,
};
use proptest::prelude::*;

/// What the renderer has after carrying the writes out, as `navin-vulkan`'s tables do.
#[derive(Default)]
struct Image {
    /// By big page: its device address, or 16 of them.
    pages: HashMap<u64, Entry>,
}

#[derive(Clone)]
enum Entry {
    Big(u64),
    Split([u64; 16]),
}

impl Image {
    fn carry_out(&mut self, writes: &mut Vec<PageWrite>) {
        for write in writes.drain(..) {
            assert!(write.count > 0);
            let page = write.address() / BIG_PAGE;
            assert_eq!(page / 4096, u64::from(write.leaf));
            match write.size {
                PageSize::Big => {
                    assert!(write.first + write.count <= 4096);
                    for (page, device) in (page..).zip(write.addresses()) {
                        self.pages.insert(page, Entry::Big(device));
                    }
                }
                PageSize::Small { entry } => {
                    assert!(write.first + write.count <= 16);
                    assert_eq!(page % 4096, u64::from(entry));
                    let slot = self.pages.entry(page).or_insert(Entry::Big(0));
                    if let Entry::Big(device) = *slot {
                        let small = |n| if device == 0 { 0 } else { device + n as u64 * SMALL_PAGE };
                        *slot = Entry::Split(std::array::from_fn(small));
                    }
                    let Entry::Split(table) = slot else { unreachable!() };
                    for (slot, device) in table[write.first as usize..].iter_mut().zip(write.addresses()) {
                        *slot = device;
                    }
                }
            }
        }
    }

    /// Where a raw access goes; `None`: to the zero page.
    fn walk(&self, address: u64) -> Option<u64> {
        let (page, within) = match self.pages.get(&(address / BIG_PAGE))? {
            Entry::Big(device) => (*device, address % BIG_PAGE),
            Entry::Split(table) => (table[(address % BIG_PAGE / SMALL_PAGE) as usize], address % SMALL_PAGE),
        };
        (page != 0).then(|| page + within)
    }

    fn splits(&self) -> usize {
        self.pages.values().filter(|entry| matches!(entry, Entry::Split(_))).count()
    }

    fn mapped(&self) -> usize {
        self.pages.values().filter(|entry| !matches!(entry, Entry::Big(0))).count()
    }
}

fn device(pool: PoolId) -> u64 {
    (1 << 48) + pool.0 * (1 << 40)
}

#[test]
fn a_pool_over_several_leaves_is_consecutive() {
    let (mut table, mut image, mut writes) = (PageTable::new(), Image::default(), Vec::new());
    let start = 20 * LEAF_SPAN - 2 * BIG_PAGE;
    let range = GpuRange { start, size: LEAF_SPAN + 4 * BIG_PAGE };
    assert_eq!(table.publish(PoolId(1), range, device(PoolId(1)), &mut writes), Ok(true));
    assert_eq!(writes.len(), 3, "one for each leaf");
    image.carry_out(&mut writes);
    for offset in [0, 1, BIG_PAGE, 2 * BIG_PAGE, LEAF_SPAN, range.size - 1] {
        assert_eq!(image.walk(start + offset), Some(device(PoolId(1)) + offset));
    }
    assert_eq!((image.walk(start - 1), image.walk(range.end())), (None, None));
    assert!(table.withdraw(PoolId(1), &mut writes));
    image.carry_out(&mut writes);
    assert_eq!(image.mapped(), 0);
    assert!(!table.withdraw(PoolId(1), &mut writes));
    assert_eq!((writes.len(), table.len()), (0, 0));
}

#[test]
fn b113_a_raw_access_behind_a_pools_end_reads_zero() {
    for size in [0x1000, 0xF000, 0x1_1000, 0x2_0000] {
        let (mut table, mut image, mut writes) = (PageTable::new(), Image::default(), Vec::new());
        let range = GpuRange { start: 1 << 32, size };
        table.publish(PoolId(1), range, device(PoolId(1)), &mut writes).unwrap();
        image.carry_out(&mut writes);
        for offset in (0..size + 2 * BIG_PAGE).step_by(0x800) {
            let want = (offset < size).then(|| device(PoolId(1)) + offset);
            assert_eq!(image.walk(range.start + offset), want, "{offset:#x} of {size:#x}");
        }
        assert_eq!(image.splits(), usize::from(!size.is_multiple_of(BIG_PAGE)));
    }
}

#[test]
fn b642_only_pools_of_which_an_address_was_taken_are_in_the_table() {
    let space = AddressSpace::new();
    let (mut table, mut image, mut writes) = (PageTable::new(), Image::default(), Vec::new());
    let ranges: Vec<GpuRange> = (0..1000).map(|id| space.allocate(PoolId(id), 0x2_3000).unwrap()).collect();
    let mut take = |id: u64, table: &mut PageTable| {
        let new = table.publish(PoolId(id), ranges[id as usize], device(PoolId(id)), &mut writes).unwrap();
        assert_eq!(new, !writes.is_empty(), "what is there costs no write");
        image.carry_out(&mut writes);
        (new, image.mapped())
    };
    for id in (0..1000).step_by(100) {
        assert!(take(id, &mut table).0);
        // Every address that the guest takes asks.
        assert!(!take(id, &mut table).0);
    }
    assert_eq!(table.len(), 10);
    assert_eq!(take(0, &mut table), (false, 10 * 3), "nothing of the other 990");
    assert!(!table.contains(PoolId(77)));
    assert_eq!(take(77, &mut table), (true, 11 * 3), "an eleventh comes at once");
    assert_eq!((table.len(), table.contains(PoolId(77))), (11, true));
}

#[test]
fn ranges_that_no_table_can_hold_are_refused() {
    let mut table = PageTable::new();
    let mut writes = Vec::new();
    let mut publish = |start, size, device| table.publish(PoolId(1), GpuRange { start, size }, device, &mut writes);
    assert_eq!(publish(0x1000, 0x10000, 64), Err(PageError::Unaligned { start: 0x1000, size: 0x10000 }));
    assert_eq!(publish(0x10000, 0, 64), Err(PageError::Unaligned { start: 0x10000, size: 0 }));
    assert_eq!(publish(0x10000, 0x1001, 64), Err(PageError::Unaligned { start: 0x10000, size: 0x1001 }));
    let end = ADDRESS_END - BIG_PAGE;
    assert_eq!(publish(end, BIG_PAGE + SMALL_PAGE, 64), Err(PageError::Outside { start: end, size: 0x11000 }));
    assert_eq!(publish(!0xFFFF, BIG_PAGE, 64), Err(PageError::Outside { start: !0xFFFF, size: BIG_PAGE }));
    assert_eq!(publish(end, BIG_PAGE, 66), Err(PageError::Device { device: 66 }));
    assert_eq!(publish(end, BIG_PAGE, 0), Err(PageError::Device { device: 0 }));
    assert_eq!(publish(end, BIG_PAGE, 64), Ok(true));
    assert_eq!(writes.len(), 1);
}

fn map(pool: &VirtualPool, first: u64, count: u64, physical: Option<(PoolId, u64)>) -> Vec<std::ops::Range<u64>> {
    let request = MapRequest {
        physical: physical.map(|(pool, page)| (pool, page * SMALL_PAGE)),
        virtual_offset: first * SMALL_PAGE,
        size: count * SMALL_PAGE,
    };
    let plan = pool.plan(&[request], |_| Some(Physical { size: 1 << 30, file_offset: None }));
    assert!(plan.refused().is_empty());
    pool.commit(plan, 0, &mut NoHostMemory).unwrap().changed
}

#[test]
fn b109_a_big_page_whose_small_pages_are_side_by_side_is_one_entry() {
    let (mut table, mut image, mut writes) = (PageTable::new(), Image::default(), Vec::new());
    let space = AddressSpace::new();
    let pool = Arc::new(VirtualPool::new(PoolId(1), 64 << 30, SMALL_PAGE, 0));
    let range = space.allocate_virtual(&pool).unwrap();
    let devices = |id, offset| Some((device(id) + offset, u64::MAX));
    assert_eq!(table.publish_virtual(&pool, range, devices, &mut writes), Ok(true));
    assert_eq!(writes.len(), 0, "64 GB with nothing mapped need no leaf");
    let mut change = |first, count, physical, image: &mut Image| {
        for changed in map(&pool, first, count, physical) {
            table.update(&pool, changed, devices, &mut writes);
        }
        image.carry_out(&mut writes);
    };
    let page = |n: u64| range.start + n * SMALL_PAGE;
    change(32, 40, Some((PoolId(2), 3)), &mut image);
    assert_eq!(image.splits(), 1, "two whole big pages and half a one");
    assert_eq!(image.walk(page(71) + 5), Some(device(PoolId(2)) + 42 * SMALL_PAGE + 5));
    assert_eq!((image.walk(page(72)), image.walk(page(31))), (None, None));
    change(72, 8, Some((PoolId(2), 43)), &mut image);
    assert_eq!(image.splits(), 0, "made whole by the second half");
    change(33, 1, None, &mut image);
    assert_eq!((image.splits(), image.walk(page(33))), (1, None));
    change(32, 16, None, &mut image);
    assert_eq!((image.splits(), image.mapped()), (0, 2));
    // A physical pool that the GPU does not reach reads 0.
    for changed in map(&pool, 0, 16, Some((PoolId(3), 0))) {
        table.update(&pool, changed, |_, _| None, &mut writes);
    }
    image.carry_out(&mut writes);
    assert_eq!(image.walk(page(0)), None);
}

/// Bytes of an import of a pool that is more than one may hold (B122).
const PIECE: u64 = 3 * BIG_PAGE;

/// Device address of a byte of such a pool, whose imports lie apart.
fn in_pieces(pool: PoolId, offset: u64) -> u64 {
    device(pool) + offset + offset / PIECE * SMALL_PAGE
}

#[derive(Clone, Debug)]
enum Op {
    Pool { pages: u64, publish: bool },
    Virtual { pages: u64, publish: bool },
    Publish { which: usize },
    Map { which: usize, first: u64, count: u64, physical: Option<(u64, u64)> },
    Free { which: usize },
}

fn op() -> impl Strategy<Value = Op> {
    let pages = || prop_oneof![4 => 1u64..100, 1 => 4000u64..140_000];
    prop_oneof![
        2 => (pages(), any::<bool>()).prop_map(|(pages, publish)| Op::Pool { pages, publish }),
        2 => (pages(), any::<bool>()).prop_map(|(pages, publish)| Op::Virtual { pages, publish }),
        2 => (0usize..8).prop_map(|which| Op::Publish { which }),
        8 => (0usize..8, 0u64..90, 1u64..60, prop::option::weighted(0.7, (1000u64..1003, 0u64..200)))
            .prop_map(|(which, first, count, physical)| Op::Map { which, first, count, physical }),
        1 => (0usize..8).prop_map(|which| Op::Free { which }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// Pools, imported in pieces (B122), come and go and are mapped. For addresses near every pool that ever was, the walk gives what the
    /// address space says when the pool is published, and the zero page otherwise.
    #[test]
    fn the_walk_equals_the_address_space(ops in prop::collection::vec(op(), 1..40)) {
        let space = Arc::new(AddressSpace::new());
        let mut reader = space.reader();
        let (mut table, mut image, mut writes) = (PageTable::new(), Image::default(), Vec::new());
        let mut alive: Vec<(PoolId, GpuRange, Option<Arc<VirtualPool>>)> = Vec::new();
        let mut ever: Vec<GpuRange> = Vec::new();
        let devices = |id: PoolId, offset| Some((in_pieces(id, offset), PIECE - offset % PIECE));
        for (id, op) in (1..).map(PoolId).zip(ops) {
            let mut publish = None;
            match op {
                Op::Pool { pages, publish: at_once } => {
                    let range = space.allocate(id, pages * SMALL_PAGE).unwrap();
                    ever.push(range);
                    alive.push((id, range, None));
                    publish = at_once.then_some(alive.len() - 1);
                }
                Op::Virtual { pages, publish: at_once } => {
                    let pool = Arc::new(VirtualPool::new(id, pages * SMALL_PAGE, SMALL_PAGE, 0));
                    let range = space.allocate_virtual(&pool).unwrap();
                    ever.push(range);
                    alive.push((id, range, Some(pool)));
                    publish = at_once.then_some(alive.len() - 1);
                }
                Op::Publish { which } => publish = (!alive.is_empty()).then(|| which % alive.len()),
                Op::Map { which, first, count, physical } => {
                    if alive.is_empty() { continue }
                    let (_, range, Some(pool)) = &alive[which % alive.len()] else { continue };
                    if (first + count) * SMALL_PAGE > range.size { continue }
                    let physical = physical.map(|(pool, page)| (PoolId(pool), page));
                    for changed in map(pool, first, count, physical) {
                        table.update(pool, changed, devices, &mut writes);
                    }
                }
                Op::Free { which } => {
                    if alive.is_empty() { continue }
                    let (id, range, _) = alive.swap_remove(which % alive.len());
                    let published = table.contains(id);
                    prop_assert_eq!(table.withdraw(id, &mut writes), published);
                    space.free(range.start);
                }
            }
            if let Some(which) = publish {
                let (id, range, pool) = &alive[which];
                match pool {
                    None => {
                        let pieces = (0..range.size.div_ceil(PIECE)).map(|n| n * PIECE);
                        let pieces: Vec<_> =
                            pieces.map(|at| (PIECE.min(range.size - at), in_pieces(*id, at))).collect();
                        table.publish_pieces(*id, *range, &pieces, &mut writes).unwrap()
                    }
                    Some(pool) => table.publish_virtual(pool, *range, devices, &mut writes).unwrap(),
                };
            }
            image.carry_out(&mut writes);
            for range in &ever {
                let pages = (0..160).chain([range.size / SMALL_PAGE - 1, range.size / SMALL_PAGE]);
                for page in pages {
                    let address = range.start + page * SMALL_PAGE + 0xFFF;
                    let published = alive.iter().any(|(id, range, _)| range.contains(address) && table.contains(*id));
                    let memory = reader.lookup(address, 1).filter(|_| published);
                    prop_assert_eq!(image.walk(address), memory.map(|m| in_pieces(m.pool, m.offset)));
                }
            }
        }
    }
}
