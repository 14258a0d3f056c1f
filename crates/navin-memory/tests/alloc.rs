//! Guest memory: two mappings of the same bytes, blocks against a naive model, reservations, real virtual pools.
#![cfg(target_os = "linux")]

mod common;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{MB, request};
use navin_memory::alloc::{AllocError, Backing, GuestMemory, HostReservation, RegisterError, host_page_size};
use navin_memory::virtual_pool::{HostMemory, Physical, Resolved};
use navin_memory::{PoolId, VirtualPool};
use proptest::prelude::*;

/// Reads a byte that the test knows to be mapped.
fn get(at: NonNull<u8>, offset: usize) -> u8 {
    // SAFETY: the callers stay inside mapped memory of theirs.
    unsafe { at.add(offset).read_volatile() }
}

fn set(at: NonNull<u8>, offset: usize, value: u8) {
    // SAFETY: as in `get`.
    unsafe { at.add(offset).write_volatile(value) }
}

fn free(memory: &GuestMemory, at: NonNull<u8>) -> bool {
    // SAFETY: the tests free their own blocks, once, and use them no more.
    unsafe { memory.free(at) }
}

#[test]
fn both_mappings_are_the_same_bytes() {
    let memory = GuestMemory::new();
    let size = 3 * MB as usize;
    let block = memory.alloc(size, 1 << 16).unwrap();
    assert!((block.as_ptr() as usize).is_multiple_of(1 << 16));
    let backing = memory.backing(block, size).unwrap();
    assert_ne!(backing.second(), block);
    for offset in [0, 4095, 4096, size - 1] {
        set(block, offset, 17);
        assert_eq!(get(backing.second(), offset), 17);
        set(backing.second(), offset, 18);
        assert_eq!(get(block, offset), 18);
    }
    // A part of it, and its place in the file.
    // SAFETY: inside the block.
    let part = memory.backing(unsafe { block.add(0x5000) }, 0x1000).unwrap();
    assert_eq!(part.file_offset(), backing.file_offset() + 0x5000);
    assert_eq!(part.second().as_ptr() as usize, backing.second().as_ptr() as usize + 0x5000);
    // What is not the allocator's has none.
    let other = vec![0u8; 8192];
    assert!(memory.backing(NonNull::from(&other[..]).cast(), 1).is_none());
    assert!(memory.backing(block, usize::MAX).is_none());
    drop((part, backing));
    assert!(free(&memory, block));
}

#[test]
fn the_second_mapping_is_writable_whatever_protects_the_first() {
    let memory = GuestMemory::new();
    let page = host_page_size() as usize;
    let block = memory.alloc(page, page).unwrap();
    // SAFETY: a page of the test's own; writes to it come through the second mapping only.
    assert_eq!(unsafe { libc::mprotect(block.as_ptr().cast(), page, libc::PROT_READ) }, 0);
    let backing = memory.backing(block, page).unwrap();
    set(backing.second(), 3, 9);
    assert_eq!(get(block, 3), 9);
    drop(backing);
    // A small block is zeroed when freed: through the second mapping, so the protection does not matter.
    assert!(free(&memory, block));
    assert_eq!(get(block, 3), 0);
}

#[test]
fn memory_is_zero_again_after_it_was_used() {
    let memory = GuestMemory::new();
    for size in [1usize, 100, 4096, 60 << 10, 64 << 10, 3 << 20] {
        for _ in 0..3 {
            let block = memory.alloc(size, 1).unwrap();
            for offset in (0..size).step_by(61).chain([size - 1]) {
                assert_eq!(get(block, offset), 0, "{size:#x} at {offset:#x}");
            }
            // SAFETY: the block is the test's.
            unsafe { block.write_bytes(0xA5, size) };
            assert!(free(&memory, block));
        }
    }
    assert_eq!(memory.totals().1, 0);
}

#[test]
fn freed_memory_goes_back_to_the_system() {
    let memory = GuestMemory::new();
    let size = 64 * MB as usize;
    let block = memory.alloc(size, 4096).unwrap();
    let backing = memory.backing(block, size).unwrap();
    let file = std::fs::File::from(backing.file().try_clone_to_owned().unwrap());
    drop(backing);
    let used = || std::os::unix::fs::MetadataExt::blocks(&file.metadata().unwrap()) * 512;
    assert_eq!(used(), 0, "nothing is taken before it is touched");
    // SAFETY: the block is the test's.
    unsafe { block.write_bytes(1, size) };
    assert!(used() >= size as u64);
    assert!(free(&memory, block));
    assert_eq!(used(), 0);
}

#[test]
fn bad_requests_are_refused() {
    let memory = GuestMemory::new();
    assert!(matches!(memory.alloc(0, 1), Err(AllocError::Empty)));
    assert!(matches!(memory.alloc(1, 3), Err(AllocError::Alignment(3))));
    assert!(matches!(memory.alloc(usize::MAX, 1), Err(AllocError::TooLarge(_))));
    assert!(matches!(memory.alloc(usize::MAX / 2 - 4096, 4096), Err(AllocError::Host(_) | AllocError::TooLarge(_))));
    assert!(matches!(memory.alloc(1, 1 << 63), Err(AllocError::TooLarge(_))));
    let block = memory.alloc(8192, 4096).unwrap();
    // SAFETY: inside the block, which is not freed by this.
    assert!(!free(&memory, unsafe { block.add(4096) }));
    let mut local = 0u8;
    assert!(!free(&memory, NonNull::from(&mut local)));
    assert!(free(&memory, block));
    assert!(!free(&memory, block), "twice");
}

#[test]
fn a_block_larger_than_an_arena_has_one_of_its_own() {
    let memory = GuestMemory::new();
    let small = memory.alloc(4096, 4096).unwrap();
    let size = 5usize << 30;
    let large = memory.alloc(size, 2 << 20).unwrap();
    assert!((large.as_ptr() as usize).is_multiple_of(2 << 20));
    set(large, size - 1, 3);
    assert_eq!(get(memory.backing(large, size).unwrap().second(), size - 1), 3);
    assert_eq!(memory.totals().0, 2);
    assert!(free(&memory, large));
    assert_eq!(memory.totals().0, 1, "an empty arena goes when there is another");
    assert!(free(&memory, small));
    assert_eq!(memory.totals(), (1, 0, 0));
}

#[test]
fn memory_freed_under_a_pool_is_named_and_stays_until_the_pool_has_gone() {
    let memory = GuestMemory::new();
    let size = MB as usize;
    let block = memory.alloc(size, 4096).unwrap();
    let (one, two) = (memory.backing(block, size).unwrap(), memory.backing(block, 4096).unwrap());
    set(block, 0, 7);
    let faults = navin_abi::fault::count();
    assert!(free(&memory, block));
    assert!(navin_abi::fault::count() > faults);
    assert!(!free(&memory, block), "freed once");
    drop(one);
    assert_eq!((get(block, 0), memory.totals().1), (7, 1), "its bytes are what they were");
    drop(two);
    assert_eq!((get(block, 0), memory.totals().1), (0, 0));
}

fn memfd(size: u64) -> OwnedFd {
    // SAFETY: a valid name; the descriptor is fresh.
    let fd = unsafe { OwnedFd::from_raw_fd(libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC)) };
    std::fs::File::from(fd.try_clone().unwrap()).set_len(size).unwrap();
    fd
}

/// Maps a file shared or private; leaked at the test's end.
fn mmap(file: &OwnedFd, offset: u64, len: usize, flags: libc::c_int) -> NonNull<u8> {
    use std::os::fd::AsRawFd;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at a place of the kernel's choice.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), len, access, flags, file.as_raw_fd(), offset as libc::off_t) };
    assert_ne!(at, libc::MAP_FAILED);
    NonNull::new(at.cast()).unwrap()
}

#[test]
fn embedders_memory_gets_a_second_mapping() {
    let memory = GuestMemory::new();
    let file = memfd(8 * MB);
    let len = 4 * MB as usize;
    let at = mmap(&file, MB, len, libc::MAP_SHARED);
    // The embedder may protect parts of it as it likes: several lines of the memory map.
    // SAFETY: pages of the test's own.
    assert_eq!(unsafe { libc::mprotect(at.as_ptr().add(0x10000).cast(), 0x10000, libc::PROT_READ) }, 0);
    // SAFETY: the mapping stays.
    unsafe { memory.register_memfd(at, len, file.as_fd(), MB) }.unwrap();
    // SAFETY: inside the mapping.
    let inside = unsafe { at.add(0x12345) };
    let backing = memory.backing(inside, 100).unwrap();
    assert_eq!(backing.file_offset(), MB + 0x12345);
    set(backing.second(), 0, 77);
    assert_eq!(get(inside, 0), 77);
    assert!(memory.backing(at, len + 1).is_none());
    // It is no block of ours.
    assert!(!free(&memory, at));

    // SAFETY: refused, so nothing is promised.
    let register = |at, len, file: &OwnedFd, offset| unsafe { memory.register_memfd(at, len, file.as_fd(), offset) };
    assert!(matches!(register(at, len, &file, MB), Err(RegisterError::Overlaps { .. })));
    assert!(memory.unregister_memfd(at));
    assert!(!memory.unregister_memfd(at));
    assert_eq!(get(backing.second(), 0), 77, "who holds it keeps it");
    assert!(memory.backing(at, 1).is_none());
}

#[test]
fn memory_that_is_not_what_the_embedder_says_is_refused() {
    let memory = GuestMemory::new();
    let (file, other) = (memfd(8 * MB), memfd(8 * MB));
    let len = MB as usize;
    let at = mmap(&file, 0, len, libc::MAP_SHARED);
    // SAFETY: all refused, so nothing is promised.
    let register = |at, len, file: &OwnedFd, offset| unsafe { memory.register_memfd(at, len, file.as_fd(), offset) };
    assert!(matches!(register(at, len, &other, 0), Err(RegisterError::NotMapped { .. })));
    assert!(matches!(register(at, len, &file, 0x1000), Err(RegisterError::NotMapped { .. })));
    assert!(matches!(register(at, 2 * len, &file, 0), Err(RegisterError::NotMapped { .. })));
    assert!(matches!(register(at, len, &file, 8 * MB), Err(RegisterError::Short { .. })));
    assert!(matches!(register(at, 0, &file, 0), Err(RegisterError::Unaligned { .. })));
    assert!(matches!(register(at, 100, &file, 0), Err(RegisterError::Unaligned { .. })));
    assert!(matches!(register(at, len, &file, 5), Err(RegisterError::Unaligned { .. })));
    assert!(matches!(register(at, len, &file, !0xFFF), Err(RegisterError::Unaligned { .. })));
    let private = mmap(&file, 0, len, libc::MAP_PRIVATE);
    assert!(matches!(register(private, len, &file, 0), Err(RegisterError::NotMapped { .. })));
    assert_eq!(memory.totals(), (0, 0, 0));
    register(at, len, &file, 0).unwrap();
    let low = mmap(&file, 0, len, libc::MAP_SHARED);
    register(low, len, &file, 0).unwrap();
    assert_eq!(memory.totals().0, 2, "the same file twice is the embedder's business");
}

#[test]
fn b109_a_reservation_shows_files_and_nothing_outside_it() {
    let reservation = HostReservation::new(64 << 30).unwrap();
    let page = reservation.page_size();
    assert_eq!(reservation.len(), 64 << 30);
    let file = memfd(MB);
    let shared = mmap(&file, 0, MB as usize, libc::MAP_SHARED);
    reservation.map(32 << 30, 2 * page, file.as_fd(), 4 * page).unwrap();
    // SAFETY: inside the reservation.
    let there = unsafe { reservation.base().add(32 << 30) };
    set(shared, 4 * page as usize + 5, 55);
    assert_eq!(get(there, 5), 55);
    set(there, 5, 56);
    assert_eq!(get(shared, 4 * page as usize + 5), 56);
    let (len, fd) = (reservation.len(), file.as_fd());
    for (at, size, offset) in [
        (len, page, 0),
        (len - page, 2 * page, 0),
        (0, 0, 0),
        (1, page, 0),
        (0, page + 1, 0),
        (0, page, 7),
        (!(page - 1), 2 * page, 0),
    ] {
        assert_eq!(reservation.map(at, size, fd, offset).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
    assert!(reservation.unmap(len, page).is_err());
    reservation.unmap(32 << 30, page).unwrap();
    assert_eq!(get(there, page as usize), 0, "the second page is still there");
    assert!(HostReservation::new(0).is_err() && HostReservation::new(u64::MAX).is_err());
}

/// What the driver makes of a reservation and the pools' backings.
struct Host<'a> {
    reservation: &'a HostReservation,
    backings: &'a BTreeMap<u64, Backing>,
}

impl HostMemory for Host<'_> {
    fn map(&mut self, offset: u64, size: u64, pool: PoolId, file_offset: u64) -> io::Result<()> {
        self.reservation.map(offset, size, self.backings[&pool.0].file(), file_offset)
    }

    fn unmap(&mut self, offset: u64, size: u64) -> io::Result<()> {
        self.reservation.unmap(offset, size)
    }
}

#[test]
fn b109_physical_pages_appear_a_second_time_and_stores_go_both_ways() {
    let memory = GuestMemory::new();
    let reservation = HostReservation::new(64 << 30).unwrap();
    let pool = VirtualPool::new(PoolId(1), 64 << 30, host_page_size(), reservation.len());
    let size = 4 * MB as usize;
    let blocks: Vec<NonNull<u8>> = (0..45).map(|_| memory.alloc(size, 0x1000).unwrap()).collect();
    let backings = (100..).zip(&blocks).map(|(id, block)| (id, memory.backing(*block, size).unwrap())).collect();
    let mut host = Host { reservation: &reservation, backings: &backings };
    let physical = |id: PoolId| {
        let backing = backings.get(&id.0)?;
        Some(Physical { size: 4 * MB, file_offset: Some(backing.file_offset()) })
    };
    let mut commit = |requests: &[_]| {
        let plan = pool.plan(requests, physical);
        assert_eq!(plan.refused(), []);
        pool.commit(plan, 0, &mut host).unwrap()
    };
    for n in 0..45 {
        set(blocks[n as usize], 77, n as u8 + 1);
        assert_eq!(commit(&[request(n * 4 * MB, 4 * MB, Some((100 + n, 0)))]).refused_by_host, 0);
    }
    // SAFETY: inside the reservation.
    let virtual_byte = |offset: u64| unsafe { reservation.base().add(offset as usize) };
    for n in 0..45 {
        let offset = n * 4 * MB;
        assert_eq!(get(virtual_byte(offset), 77), n as u8 + 1);
        set(virtual_byte(offset), 4096, 200 - n as u8);
        assert_eq!(get(blocks[n as usize], 4096), 200 - n as u8);
        let there = Resolved::Mapped { pool: PoolId(100 + n), offset: 77, size: 1 };
        assert_eq!(pool.resolve(offset + 77, 1), Some(there));
    }
    // Mapped over, and the pages of the first pool elsewhere too.
    commit(&[request(4 * MB, 4 * MB, Some((100, 0))), request(40 << 30, MB, Some((101, 3 * MB)))]);
    assert_eq!(get(virtual_byte(4 * MB), 77), 1);
    set(virtual_byte(40 << 30), 0, 99);
    assert_eq!(get(blocks[1], 3 * MB as usize), 99);
    commit(&[request(0, 45 * 4 * MB, None)]);
    let mut host = Host { reservation: &reservation, backings: &backings };
    assert_eq!(pool.release(0, &mut host), 45 * 4 * MB);
    assert_eq!(get(virtual_byte(40 << 30), 0), 99);
}

#[test]
fn blocks_are_given_out_from_many_threads() {
    let memory = GuestMemory::new();
    let total = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let (memory, total) = (&memory, &total);
            scope.spawn(move || {
                let mut mine: Vec<(NonNull<u8>, usize)> = Vec::new();
                for round in 0..300usize {
                    let size = [16, 4096, 70_000, 300_000][(round + thread as usize) % 4];
                    let block = memory.alloc(size, 64).unwrap();
                    assert_eq!((get(block, 0), get(block, size - 1)), (0, 0));
                    set(block, 0, thread + 1);
                    set(block, size - 1, thread + 1);
                    mine.push((block, size));
                    let backing = memory.backing(block, size).unwrap();
                    if round % 3 == 0 {
                        let (block, size) = mine.swap_remove(round * 7 % mine.len());
                        assert_eq!((get(block, 0), get(block, size - 1)), (thread + 1, thread + 1));
                        assert!(free(memory, block));
                    }
                    drop(backing);
                }
                total.fetch_add(mine.len() as u64, Ordering::Relaxed);
                for (block, _) in mine {
                    assert!(free(memory, block));
                }
            });
        }
    });
    assert_eq!(total.load(Ordering::Relaxed), 4 * 200);
    assert_eq!(memory.totals().1, 0);
}

#[derive(Clone, Debug)]
enum Op {
    Alloc { size: usize, align: u32 },
    Free { which: usize },
    Hold { which: usize },
    EndHold { which: usize },
}

fn op() -> impl Strategy<Value = Op> {
    let size = prop_oneof![1usize..200, 1usize..20_000, 60_000usize..70_000, 1usize..2_000_000];
    prop_oneof![
        4 => (size, 0u32..18).prop_map(|(size, align)| Op::Alloc { size, align }),
        3 => (0usize..64).prop_map(|which| Op::Free { which }),
        1 => (0usize..64).prop_map(|which| Op::Hold { which }),
        1 => (0usize..64).prop_map(|which| Op::EndHold { which }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Blocks never overlap, are aligned, are zero when given out, and hold what was written until they are freed.
    #[test]
    fn blocks_agree_with_a_naive_model(ops in prop::collection::vec(op(), 1..80)) {
        let memory = GuestMemory::new();
        let page = host_page_size() as usize;
        // Start to (bytes, mark, freed).
        let mut blocks: BTreeMap<usize, (usize, u8, bool)> = BTreeMap::new();
        let mut holds: Vec<(usize, Backing)> = Vec::new();
        for (mark, op) in (1u8..).zip(ops) {
            match op {
                Op::Alloc { size, align } => {
                    let block = memory.alloc(size, 1 << align).unwrap();
                    let start = block.as_ptr() as usize;
                    prop_assert!(start.is_multiple_of(1 << align));
                    prop_assert!(size < page || start.is_multiple_of(page));
                    let whole = |start: usize, size: usize| if size < page { start..start + size } else { start..(start + size).next_multiple_of(page) };
                    let mine = whole(start, size);
                    for (&other, &(bytes, ..)) in &blocks {
                        let theirs = whole(other, bytes);
                        prop_assert!(mine.end <= theirs.start || theirs.end <= mine.start);
                    }
                    for offset in (0..size).step_by(509).chain([size - 1]) {
                        prop_assert_eq!(get(block, offset), 0);
                    }
                    // SAFETY: the block is the test's.
                    unsafe { block.write_bytes(mark, size) };
                    blocks.insert(start, (size, mark, false));
                }
                Op::Free { which } => {
                    let Some((&start, block)) = blocks.iter_mut().nth(which % 64) else { continue };
                    let held = holds.iter().any(|(at, _)| *at == start);
                    prop_assert_eq!(free(&memory, NonNull::new(start as *mut u8).unwrap()), !block.2);
                    block.2 = true;
                    if !held {
                        blocks.remove(&start);
                    }
                }
                Op::Hold { which } => {
                    let Some((&start, &(size, ..))) = blocks.iter().nth(which) else { continue };
                    holds.push((start, memory.backing(NonNull::new(start as *mut u8).unwrap(), size).unwrap()));
                }
                Op::EndHold { which } => {
                    if holds.is_empty() { continue }
                    let (start, _) = holds.swap_remove(which % holds.len());
                    if blocks[&start].2 && !holds.iter().any(|(at, _)| *at == start) {
                        blocks.remove(&start);
                    }
                }
            }
            for (&start, &(size, mark, _)) in &blocks {
                let block = NonNull::new(start as *mut u8).unwrap();
                prop_assert_eq!((get(block, 0), get(block, size - 1)), (mark, mark));
            }
            prop_assert_eq!(memory.totals().1, blocks.len());
        }
    }
}
