//! Virtual pools: `nvnMemoryPoolMapVirtual` as guests use it, over memory of every kind. Needs a Vulkan device.

mod memory_guest;

use std::sync::atomic::{AtomicBool, Ordering};

use memory_guest::*;
use navin::hooks;
use navin_abi::enums::{NVNcopyFlags, NVNformat, NVNtextureFlags};
use navin_abi::types::*;
use nvn::trampolines::*;

const MB: usize = 1 << 20;
const PAGE: usize = 4096;
/// Big pages, in which virtual pools are mostly mapped.
const BIG: usize = 1 << 16;

fn filled(guest: &Guest, memory: Memory, bytes: usize, value: u8) -> Pool {
    let pool = guest.pool(memory, bytes, PHYSICAL);
    pool.write(0, &vec![value; bytes]);
    pool
}

#[test]
fn b108_a_pool_mapped_whole_by_one_request_is_an_alias() {
    let _alone = alone();
    let guest = Guest::new();
    for memory in Memory::ALL {
        let physical = filled(&guest, memory, 8 * MB, 0x11);
        // With CPU access, to look at both addresses.
        let pool = guest.pool_at(std::ptr::null_mut(), 4 * MB, 0x224).unwrap();
        assert!(guest.map(&pool, &[map_from(&physical, 2 * MB, 0, 4 * MB)]));
        // SAFETY: a live pool.
        let map = unsafe { nvnMemoryPoolMap(pool.pool) };
        assert_eq!(map as usize, physical.memory as usize + 2 * MB, "{memory:?}: its storage is the physical pool's");
        physical.write(2 * MB, &[1, 2, 3, 4]);
        assert_eq!(guest.gpu_bytes(pool.address(), 4), [1, 2, 3, 4], "{memory:?}");
        guest.gpu_write(pool.address() + 64, &[9; 64]);
        assert_eq!(physical.read(2 * MB + 64, 64), [9; 64]);
        // A buffer in it has a pool and an address.
        // SAFETY: zeroed objects of sufficient size that stay.
        unsafe {
            let (builder, buffer) = (object(), object());
            nvnBufferBuilderSetDefaults(builder);
            nvnBufferBuilderSetDevice(builder, guest.device);
            nvnBufferBuilderSetStorage(builder, pool.pool, 0, 256);
            assert_eq!(nvnBufferInitialize(buffer, builder), NVN_TRUE);
            assert_eq!(nvnBufferGetMemoryPool(buffer), pool.pool);
            assert_eq!(nvnBufferGetAddress(buffer), pool.address());
        }
        pool.end();
        physical.end();
    }
}

#[test]
fn b109_pools_scattered_over_64_gb_are_seen_at_both_addresses() {
    let _alone = alone();
    let guest = Guest::new();
    for memory in Memory::ALL {
        let pool = guest.virtual_pool(64 << 30);
        let physical: Vec<Pool> = (0..45).map(|n| filled(&guest, memory, MB, n + 1)).collect();
        // Every second place, over the first 90 MB; then the places between join them to one run.
        for (n, from) in physical.iter().enumerate().filter(|(n, _)| n % 2 == 0) {
            assert!(guest.map(&pool, &[map_from(from, 0, n * MB, MB)]), "{memory:?} {n}");
        }
        assert_eq!(counter("memory.virtual.runs"), 23);
        for (n, from) in physical.iter().enumerate().filter(|(n, _)| n % 2 == 1) {
            assert!(guest.map(&pool, &[map_from(from, 0, n * MB, MB)]));
        }
        assert_eq!(counter("memory.virtual.runs"), 1);
        for (n, from) in physical.iter().enumerate() {
            let at = pool.address() + (n * MB) as u64 + 0x1234;
            assert_eq!(guest.gpu_bytes(at, 16), [n as u8 + 1; 16], "{memory:?} {n}");
            guest.gpu_write(at, &[0xF0 | n as u8; 8]);
            assert_eq!(from.read(0x1234, 8), [0xF0 | n as u8; 8]);
        }
        // A copy over the border of two physical pools, which is nothing to name.
        let faults = navin_abi::fault::count();
        let border = guest.gpu_bytes(pool.address() + 5 * MB as u64 - 8, 16);
        assert_eq!(border, [[5u8; 8], [6u8; 8]].concat(), "{memory:?}");
        assert_eq!(navin_abi::fault::count(), faults, "{memory:?}");
        // A hole in the middle of a run makes two.
        assert!(guest.map(&pool, &[unmap(20 * MB, MB)]));
        assert_eq!(counter("memory.virtual.runs"), 2);
        assert_eq!(guest.gpu_bytes(pool.address() + 20 * MB as u64, 64), [0; 64], "{memory:?}: nothing is there");
        assert_eq!(guest.gpu_bytes(pool.address() + 21 * MB as u64, 8), [22; 8]);
        pool.end();
        physical.into_iter().for_each(Pool::end);
    }
}

#[test]
fn b110_runs_without_limit() {
    let _alone = alone();
    let guest = Guest::new();
    let pool = guest.virtual_pool(1 << 30);
    let physical = guest.pool(Memory::Private, 2500 * PAGE, PHYSICAL);
    for n in 0..2500usize {
        physical.write(n * PAGE, &(n as u32).to_le_bytes());
        assert!(guest.map(&pool, &[map_from(&physical, n * PAGE, 2 * n * PAGE, PAGE)]));
        assert_eq!(counter("memory.virtual.runs"), n as u64 + 1);
    }
    let value = |n: usize| {
        let bytes = guest.gpu_bytes(pool.address() + (2 * n * PAGE) as u64, 4);
        u32::from_le_bytes(bytes.try_into().unwrap())
    };
    for n in [0, 1, 1023, 1024, 1025, 2048, 2499] {
        assert_eq!(value(n), n as u32);
    }
    // Other pages under some, nothing under others.
    assert!(guest.map(&pool, &[map_from(&physical, 5 * PAGE, 2 * 1025 * PAGE, PAGE), unmap(2 * 1026 * PAGE, PAGE)]));
    assert_eq!((value(1025), value(1026), value(1027)), (5, 0, 1027));
    pool.end();
    physical.end();
}

/// Sampled through the table: unmapped pages are 0, and a mapping that is taken away is gone at the next use, while what
/// was submitted before saw what was there.
#[test]
fn b111_an_unmapping_is_seen_at_once_and_by_nothing_submitted_before() {
    let _alone = alone();
    let guest = Guest::new();
    for memory in Memory::ALL {
        let physical = filled(&guest, memory, MB, 0x42);
        let pool = guest.virtual_pool(4 * MB);
        let texture = guest.make(guest.builder(NVNformat::RGBA8, 64, 64, 1), &pool, 0);
        assert!(guest.map(&pool, &[map_from(&physical, 0, 0, BIG), map_from(&physical, 0, MB, BIG)]));
        let from = pool.address() + MB as u64;
        let to = guest.own.address() + SCRATCH as u64 + 2 * MB as u64;
        // Much work, the last of which reads the run.
        // SAFETY: live objects.
        guest.submit(|c| unsafe {
            for _ in 0..200 {
                nvnCommandBufferCopyBufferToBuffer(c, to + MB as u64, to + 2 * MB as u64, MB, NVNcopyFlags(0));
            }
            nvnCommandBufferCopyBufferToBuffer(c, from, to, PAGE, NVNcopyFlags(0));
        });
        // Queued, being replayed, or with the GPU: submitted before it.
        assert!(guest.map(&pool, &[unmap(0, BIG), unmap(MB, BIG)]));
        assert_eq!(guest.texel(texture), [0; 4], "{memory:?}: reads 0 at once");
        assert_eq!(guest.own.read(SCRATCH + 2 * MB, PAGE), [0x42; PAGE], "{memory:?}");
        // Mapped again to other pages, over what is mapped: the new pages count.
        physical.write(BIG, &[0x43; BIG]);
        assert!(guest.map(&pool, &[map_from(&physical, 0, 0, BIG)]));
        assert!(guest.map(&pool, &[map_from(&physical, BIG, 0, BIG)]));
        assert_eq!(guest.texel(texture), [0x43; 4]);
        pool.end();
        physical.end();
    }
}

/// Pages go when the GPU is through with them, and not before: what was submitted reads what was mapped then.
#[test]
fn b111_work_in_flight_reads_the_old_pages_which_go_when_it_has_ended() {
    let _alone = alone();
    let guest = Guest::new();
    let mut observed = 0;
    for memory in Memory::ALL {
        let physical = filled(&guest, memory, MB, 0x42);
        physical.write(BIG, &[0x43; BIG]);
        // With CPU access, so that the pages can be looked for.
        let pool = guest.pool_at(std::ptr::null_mut(), 4 * MB, 0x224).unwrap();
        let texture = guest.linear(&pool, MB, 64);
        let (from, to) = (pool.address() + MB as u64, guest.own.address() + SCRATCH as u64);
        // SAFETY: a live pool.
        let base = unsafe { nvnMemoryPoolMap(pool.pool) } as usize;
        // SAFETY: live objects.
        let read = |c| unsafe { nvnCommandBufferCopyBufferToBuffer(c, from, to, BIG, NVNcopyFlags(0)) };

        // Unmapped under work that reads it.
        assert!(guest.map(&pool, &[map_from(&physical, 0, MB, BIG)]));
        guest.own.write(SCRATCH, &[0xEE; BIG]);
        guest.submit_slowly(read);
        assert!(guest.map(&pool, &[unmap(MB, BIG)]));
        if memory == Memory::Navin {
            let there = is_readable(base + MB);
            // Only if it is still under way: otherwise the pages may be gone, and rightly.
            if counter("in_flight") > 0 {
                observed += 1;
                assert!(there, "the pages went before the work that reads them");
            }
        }
        guest.finish();
        assert_eq!(guest.own.read(SCRATCH, BIG), [0x42; BIG], "{memory:?}: what was mapped when it was submitted");
        assert_eq!(guest.texel(texture), [0; 4], "{memory:?}: nothing, for what comes after");
        assert!(eventually(|| !is_readable(base + MB)), "{memory:?}: inaccessible when the work has ended");

        // Mapped over before it has ended: the mapping waits, and stays when the rest goes.
        assert!(guest.map(&pool, &[map_from(&physical, 0, MB, BIG)]));
        let waits = counter("memory.virtual.waits");
        guest.own.write(SCRATCH, &[0xEE; BIG]);
        guest.submit_slowly(read);
        assert!(guest.map(&pool, &[map_from(&physical, BIG, MB, PAGE), unmap(MB + PAGE, BIG - PAGE)]));
        assert_eq!(counter("memory.virtual.waits"), waits + 1, "{memory:?}: other pages under work in flight");
        guest.finish();
        assert_eq!(guest.own.read(SCRATCH, BIG), [0x42; BIG], "{memory:?}");
        assert_eq!(guest.gpu_bytes(from, PAGE), [0x43; PAGE], "{memory:?}");
        assert_eq!(guest.gpu_bytes(from + PAGE as u64, PAGE), [0; PAGE], "{memory:?}");
        if memory == Memory::Navin {
            assert!(eventually(|| !is_readable(base + MB + PAGE)));
            assert!(is_readable(base + MB), "mapped again, so it stays");
        }

        // Finalized under it.
        assert!(guest.map(&pool, &[map_from(&physical, 0, MB, BIG)]));
        guest.own.write(SCRATCH, &[0xEE; BIG]);
        guest.submit_slowly(read);
        pool.end();
        assert!(eventually(|| counter("in_flight") == 0), "{memory:?}: Finalize waited");
        assert_eq!(guest.own.read(SCRATCH, BIG), [0x42; BIG], "{memory:?}");
        assert!(!is_readable(base + MB));
        physical.end();
    }
    assert!(observed > 0, "the work ended before anything could be seen");
}

/// As below, on the CPU: through the address that Map gave, and through an event there.
#[test]
fn b112_the_cpu_never_misses_an_address_that_stays_mapped() {
    let _alone = alone();
    let guest = Guest::new();
    let physical = filled(&guest, Memory::Navin, 8 * MB, 0x21);
    let pool = guest.pool_at(std::ptr::null_mut(), 1 << 30, 0x224).unwrap();
    // SAFETY: a live pool; zeroed objects of sufficient size that stay.
    let (base, event) = unsafe {
        let (builder, event) = (object(), object());
        nvnEventBuilderSetDefaults(builder);
        nvnEventBuilderSetStorage(builder, pool.pool, 256);
        assert_eq!(nvnEventInitialize(event, builder), NVN_TRUE);
        (nvnMemoryPoolMap(pool.pool) as usize, event)
    };
    assert!(guest.map(&pool, &[map_from(&physical, 0, 0, 2 * MB), map_from(&physical, 0, 0x3000000, MB)]));
    let ended = AtomicBool::new(false);
    let faults = navin_abi::fault::count();
    struct Shared<'a>(&'a Guest, &'a Pool, &'a Pool);
    // SAFETY: the objects are used by one thread, and their addresses by both.
    unsafe impl Sync for Shared<'_> {}
    let shared = Shared(&guest, &physical, &pool);
    std::thread::scope(|scope| {
        let (shared, ended) = (&shared, &ended);
        scope.spawn(move || {
            let Shared(guest, physical, pool) = shared;
            for n in 0..1000 {
                let at = 2 * MB + n % 7 * BIG;
                assert!(guest.map(pool, &[map_from(physical, 3 * MB, at, BIG)]));
                assert!(guest.map(pool, &[map_from(physical, 4 * MB, 0x3000000 + MB, BIG)]));
                assert!(guest.map(pool, &[unmap(at, BIG), unmap(0x3000000 + MB, BIG)]));
                assert!(guest.map(pool, &[unmap(MB, BIG), map_from(physical, MB, MB, BIG)]));
            }
            ended.store(true, Ordering::Release);
        });
        while !ended.load(Ordering::Acquire) {
            for at in [256, 0x3000000] {
                // SAFETY: mapped all along.
                assert_eq!(unsafe { ((base + at) as *const u32).read_volatile() }, 0x21212121);
            }
            // SAFETY: a live event.
            assert_eq!(unsafe { nvnEventGetValue(event) }, 0x21212121);
        }
    });
    assert_eq!(navin_abi::fault::count(), faults);
    pool.end();
    physical.end();
}

/// One thread changes what is around two addresses that stay mapped, another has the GPU read them.
#[test]
fn b112_an_address_that_stays_mapped_is_always_in_some_pool() {
    let _alone = alone();
    let guest = Guest::new();
    for memory in Memory::ALL {
        let physical = filled(&guest, memory, 8 * MB, 0x21);
        let pool = guest.virtual_pool(1 << 30);
        assert!(guest.map(&pool, &[map_from(&physical, 0, 0, 2 * MB), map_from(&physical, 0, 0x3000000, MB)]));
        let ended = AtomicBool::new(false);
        let faults = navin_abi::fault::count();
        // The guest's pointers are its own business; both threads call NVN, which is allowed.
        struct Shared<'a>(&'a Guest);
        // SAFETY: as said; the objects are not recorded into by both.
        unsafe impl Sync for Shared<'_> {}
        let shared = Shared(&guest);
        std::thread::scope(|scope| {
            let shared = &shared;
            let pools = (physical.pool as usize, pool.pool as usize);
            let ended = &ended;
            scope.spawn(move || {
                let physical = Pool { pool: pools.0 as *mut _, memory: std::ptr::null_mut(), bytes: 8 * MB };
                let pool = Pool { pool: pools.1 as *mut _, memory: std::ptr::null_mut(), bytes: 1 << 30 };
                for n in 0..300 {
                    let at = 2 * MB + n % 7 * BIG;
                    assert!(shared.0.map(&pool, &[map_from(&physical, 3 * MB, at, BIG)]));
                    assert!(shared.0.map(&pool, &[map_from(&physical, 4 * MB, 0x3000000 + MB, BIG)]));
                    assert!(shared.0.map(&pool, &[unmap(at, BIG), unmap(0x3000000 + MB, BIG)]));
                    assert!(shared.0.map(&pool, &[unmap(MB, BIG), map_from(&physical, MB, MB, BIG)]));
                }
                ended.store(true, Ordering::Release);
            });
            let mut rounds = 0;
            while !ended.load(Ordering::Acquire) || rounds < 10 {
                assert_eq!(shared.0.gpu_bytes(pool.address() + 256, 8), [0x21; 8], "{memory:?}");
                assert_eq!(shared.0.gpu_bytes(pool.address() + 0x3000000, 8), [0x21; 8], "{memory:?}");
                rounds += 1;
            }
        });
        assert_eq!(navin_abi::fault::count(), faults, "{memory:?}: no lookup failed");
        pool.end();
        physical.end();
    }
}

#[test]
fn b113_an_unmapped_page_reads_0_and_is_no_fault() {
    let _alone = alone();
    let guest = Guest::new();
    let pool = guest.virtual_pool(1 << 30);
    let faults = navin_abi::fault::count();
    let at = pool.address() + 0x4400000;
    assert_eq!(guest.gpu_bytes(at, 4096), [0; 4096]);
    guest.gpu_write(at, &[1; 64]);
    assert_eq!(guest.gpu_bytes(at, 64), [0; 64], "stores go nowhere");
    assert_eq!(navin_abi::fault::count(), faults, "this is what guests may do");
    // In no pool at all: named, and nothing is copied.
    let nowhere = pool.address() + (1 << 35);
    assert_eq!(guest.gpu_bytes(nowhere, 64), [0xEE; 64]);
    assert!(navin_abi::fault::count() > faults);
    let physical = filled(&guest, Memory::Private, BIG, 0x31);
    assert!(guest.map(&pool, &[map_from(&physical, 0, 0x4400000, BIG)]));
    assert_eq!(guest.gpu_bytes(at, 64), [0x31; 64]);
    pool.end();
    physical.end();
}

/// Streamed textures: a small virtual pool each, the texture made before anything is mapped, its tail mapped first,
/// finer levels later from other pages.
#[test]
fn b114_a_small_pool_that_is_filled_piece_by_piece_is_sparse() {
    let _alone = alone();
    let guest = Guest::new();
    let physical = guest.pool(Memory::Private, 4 * MB, PHYSICAL);
    let mut pools = Vec::new();
    for n in 0..221u32 {
        let pool = guest.virtual_pool(if n % 2 == 0 { 0x20000 } else { 0x560000 });
        let texture = guest.make(guest.builder(NVNformat::RGBA8, 128, 128, 2), &pool, 0);
        // Level 1 lies behind the 64 KB of level 0.
        let page = (n as usize % 16) * BIG;
        physical.write(page, &[n as u8; 64 * 64 * 4]);
        assert!(guest.map(&pool, &[map_from(&physical, page, BIG, BIG)]));
        assert_eq!(guest.texels(texture, 1, [1, 1], 4), [n as u8; 4], "the tail of pool {n}");
        assert_eq!(guest.texels(texture, 0, [1, 1], 4), [0; 4], "nothing is mapped there");
        // Another base: an alias would be stuck with the first.
        let page = (16 + n as usize % 32) * BIG;
        physical.write(page, &[!(n as u8); BIG]);
        assert!(guest.map(&pool, &[map_from(&physical, page, 0, BIG)]));
        assert_eq!(guest.texels(texture, 0, [1, 1], 4), [!(n as u8); 4], "level 0 of pool {n}");
        pools.push(pool);
    }
    assert_eq!(counter("memory.virtual.pools"), 221);
    pools.into_iter().for_each(Pool::end);
    physical.end();
}

/// Each entry point through which an address leaves keeps the pool where it is; the first mapping covers it whole.
#[test]
fn b115_a_pool_that_gave_out_an_address_is_no_alias() {
    let _alone = alone();
    let guest = Guest::new();
    type GiveOut = fn(&Guest, &Pool);
    let cases: [(&str, bool, GiveOut); 8] = [
        ("nothing", true, |_, _| {}),
        ("nvnMemoryPoolMap", false, |_, pool| {
            // SAFETY: a live pool.
            let map = unsafe { nvnMemoryPoolMap(pool.pool) };
            assert!(!map.is_null());
        }),
        ("nvnMemoryPoolGetBufferAddress", false, |_, pool| {
            pool.address();
        }),
        ("nvnBufferInitialize", false, |guest, pool| {
            // SAFETY: zeroed objects of sufficient size that stay.
            unsafe {
                let (builder, buffer) = (object(), object());
                nvnBufferBuilderSetDefaults(builder);
                nvnBufferBuilderSetDevice(builder, guest.device);
                nvnBufferBuilderSetStorage(builder, pool.pool, 0, 256);
                assert_eq!(nvnBufferInitialize(buffer, builder), NVN_TRUE);
                nvnBufferMap(buffer);
                nvnBufferGetAddress(buffer);
            }
        }),
        ("nvnTextureInitialize", false, |guest, pool| {
            guest.make(guest.builder(NVNformat::RGBA8, 16, 16, 1), pool, 0);
        }),
        ("nvnTextureGetTextureAddress", false, |guest, pool| {
            let texture = guest.make(guest.builder(NVNformat::RGBA8, 16, 16, 1), pool, 0);
            // SAFETY: a live texture.
            unsafe { nvnTextureGetTextureAddress(texture) };
        }),
        ("nvnCommandBufferAddCommandMemory", false, |guest, pool| {
            // SAFETY: zeroed objects of sufficient size that stay.
            unsafe {
                let commands = object();
                nvnCommandBufferInitialize(commands, guest.device);
                nvnCommandBufferAddCommandMemory(commands, pool.pool, 0, 4096);
            }
        }),
        ("nvnEventInitialize", false, |_, pool| {
            // SAFETY: zeroed objects of sufficient size that stay.
            unsafe {
                let (builder, event) = (object(), object());
                nvnEventBuilderSetDefaults(builder);
                nvnEventBuilderSetStorage(builder, pool.pool, 64);
                assert_eq!(nvnEventInitialize(event, builder), NVN_TRUE);
            }
        }),
    ];
    for (name, alias, give_out) in cases {
        let physical = filled(&guest, Memory::Navin, MB, 0x51);
        let pool = guest.pool_at(std::ptr::null_mut(), MB, 0x224).unwrap();
        give_out(&guest, &pool);
        assert!(guest.map(&pool, &[map_from(&physical, 0, 0, MB)]), "{name}");
        // SAFETY: a live pool.
        let map = unsafe { nvnMemoryPoolMap(pool.pool) }.cast::<u8>();
        assert_eq!(map == physical.memory, alias, "{name}");
        // Wherever it is: the physical pages, both ways, by CPU and GPU.
        // SAFETY: mapped to a megabyte.
        unsafe {
            assert_eq!(map.add(512).read(), 0x51, "{name}");
            map.add(512).write(0x52);
        }
        assert_eq!(physical.read(512, 1), [0x52], "{name}");
        assert_eq!(guest.gpu_bytes(pool.address() + 512, 2), [0x52, 0x51], "{name}");
        pool.end();
        physical.end();
    }
}

#[test]
fn b118_textures_of_a_sparse_pool_are_fetched_through_the_page_table() {
    let _alone = alone();
    textures_through_the_page_table(&Guest::new());
}

/// As on a host with pages of 16 KB, in which most of these mappings cannot be shown, and which gives 1 GB of addresses:
/// the texture lies 31 GB behind them.
#[test]
fn b109_b118_a_host_with_large_pages_and_few_addresses_has_the_page_table() {
    let _alone = alone();
    let guest = Guest::new();
    struct Simulated;
    impl Drop for Simulated {
        fn drop(&mut self) {
            hooks::HOST_PAGE.store(0, Ordering::Relaxed);
            hooks::MOST_RESERVED.store(0, Ordering::Relaxed);
        }
    }
    let _simulated = Simulated;
    hooks::HOST_PAGE.store(16 << 10, Ordering::Relaxed);
    hooks::MOST_RESERVED.store(1 << 30, Ordering::Relaxed);
    textures_through_the_page_table(&guest);
    // Within the range: what is equal modulo 16 KB is seen by the CPU, and the rest by the GPU alone.
    let physical = filled(&guest, Memory::Navin, MB, 0x55);
    let pool = guest.pool_at(std::ptr::null_mut(), 4 << 30, 0x224).unwrap();
    // SAFETY: a live pool.
    let base = unsafe { nvnMemoryPoolMap(pool.pool) } as usize;
    assert_ne!(base, 0, "a shortened range is one");
    assert!(guest.map(&pool, &[map_from(&physical, BIG, 4 * PAGE, 4 * PAGE)]));
    assert!(guest.map(&pool, &[map_from(&physical, BIG + PAGE, 8 * PAGE, 4 * PAGE)]));
    assert!(guest.map(&pool, &[map_from(&physical, BIG, 2 << 30, 4 * PAGE)]));
    assert!(is_readable(base + 4 * PAGE) && !is_readable(base + 8 * PAGE));
    for at in [4 * PAGE, 8 * PAGE, 2 << 30] {
        assert_eq!(guest.gpu_bytes(pool.address() + at as u64, PAGE), [0x55; PAGE], "{at:#x}");
    }
    pool.end();
    physical.end();
}

fn textures_through_the_page_table(guest: &Guest) {
    for memory in Memory::ALL {
        let pool = guest.virtual_pool(64 << 30);
        // 32 GB into the pool, as one engine places its streamed textures.
        let far = 32usize << 30;
        let builder = guest.builder(NVNformat::RGBA8, 256, 256, 1);
        // SAFETY: a live builder.
        unsafe { nvnTextureBuilderSetFlags(builder, NVNtextureFlags::SPARSE) };
        let sparse = guest.make(builder, &pool, far);
        let plain = guest.make(guest.builder(NVNformat::RGBA8, 128, 128, 1), &pool, 16 * MB);
        let physical: Vec<Pool> = (0..4).map(|n| filled(guest, memory, 4 * MB, 0x10 + n)).collect();
        // 256 KB of the one in 4 KB pages, in an order of its own, at offsets that 64 KB pages could not have.
        for page in 0..64usize {
            let from = &physical[page % 4];
            let offset = ((page * 7) % 64) * PAGE + PAGE;
            from.write(offset, &[page as u8 + 1; PAGE]);
            assert!(guest.map(&pool, &[map_from(from, offset, far + page * PAGE, PAGE)]));
        }
        assert!(guest.map(&pool, &[map_from(&physical[0], 2 * MB, 16 * MB, BIG)]));
        // Every 4 KB page is 64 bytes by 8 rows, 8 times: 16 texels by 64 rows of the texture's block.
        let texels = guest.texels(sparse, 0, [256, 256], 4);
        let mut seen: Vec<u8> = texels.clone();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, (1..=64).collect::<Vec<u8>>(), "{memory:?}");
        assert_eq!(guest.texel(plain), [0x10; 4], "{memory:?}: without the sparse flag too");

        astc_through_the_page_table(guest, memory, &pool, far + (1 << 30));

        let uploads = counter("texture_uploads");
        for _ in 0..10 {
            guest.texel(sparse);
            guest.texel(plain);
        }
        assert_eq!(counter("texture_uploads"), uploads, "{memory:?}: nothing changed");
        if navin::counters().unwrap()["memory"]["tracking"]["mechanism"] != "off" {
            // A write to one physical page: that texture, once.
            physical[0].write(2 * MB, &[0x77; 4]);
            guest.texel(sparse);
            assert_eq!(guest.texel(plain), [0x77; 4], "{memory:?}");
            assert_eq!(counter("texture_uploads"), uploads + 1, "{memory:?}");
        }
        let uploads = counter("texture_uploads");
        // A page mapped elsewhere in the pool concerns neither.
        assert!(guest.map(&pool, &[map_from(&physical[1], MB, 100 * MB, PAGE)]));
        guest.texel(sparse);
        guest.texel(plain);
        assert_eq!(counter("texture_uploads"), uploads, "{memory:?}");
        // One under it does; the rest of it is not fetched.
        assert!(guest.map(&pool, &[unmap(far, PAGE)]));
        let texels = guest.texels(sparse, 0, [256, 256], 4);
        assert_eq!(counter("texture_uploads"), uploads + 1);
        assert_eq!(texels.iter().filter(|byte| **byte == 0).count(), PAGE, "{memory:?}: an unmapped page reads 0");
        pool.end();
        physical.into_iter().for_each(Pool::end);
    }
}

/// A sparse texture of ASTC blocks with all its levels, the small ones in one tail; its tiles were written by the CPU into
/// physical pools and are mapped page by page, at offsets that differ modulo 16 KB. The same bytes in an ordinary pool say
/// what it must hold.
fn astc_through_the_page_table(guest: &Guest, memory: Memory, pool: &Pool, at: usize) {
    const LEVELS: i32 = 10;
    let builder = guest.builder(NVNformat::RGBA_ASTC_6x6, 768, 768, LEVELS);
    // SAFETY: a live builder.
    let bytes = unsafe {
        nvnTextureBuilderSetFlags(builder, NVNtextureFlags::SPARSE);
        nvnTextureBuilderGetStorageSize(builder)
    };
    let pages = bytes.div_ceil(PAGE);
    let plain = guest.pool(memory, pages.next_multiple_of(16) * PAGE, CACHED);
    // Void-extent blocks of a colour each: valid whatever the device makes of blocks.
    let block = |n: usize| {
        let mut block = [0xfc, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
        block[9] = n as u8;
        block[11] = (n >> 8) as u8;
        block[13] = (n >> 16) as u8;
        block
    };
    let content: Vec<u8> = (0..pages * PAGE / 16).flat_map(block).collect();
    plain.write(0, &content);
    let expected = guest.make(builder, &plain, 0);
    let sparse = guest.make(builder, pool, at);
    let physical = [(); 2].map(|()| filled(guest, memory, 4 * MB, 0));
    for page in 0..pages {
        // One of the tail's is left out.
        if page + 1 == pages {
            continue;
        }
        let (from, offset) = (&physical[page % 2], (page * 37 % 509 + 3) * PAGE);
        from.write(offset, &content[page * PAGE..][..PAGE]);
        assert!(guest.map(pool, &[map_from(from, offset, at + page * PAGE, PAGE)]));
    }
    plain.write((pages - 1) * PAGE, &[0; PAGE]);
    for level in 0..LEVELS {
        let side = (768 >> level).max(1);
        let texels = |texture| blocks(guest, texture, level, side);
        assert!(texels(sparse) == texels(expected), "{memory:?}, level {level}");
    }
    // SAFETY: live textures.
    unsafe {
        nvnTextureFinalize(sparse);
        nvnTextureFinalize(expected);
    }
    plain.end();
    assert!(guest.map(pool, &[unmap(at, pages * PAGE)]));
    physical.into_iter().for_each(Pool::end);
}

/// The blocks of 6 by 6 texels of a square level.
fn blocks(guest: &Guest, texture: *const NVNtexture, level: i32, side: i32) -> Vec<u8> {
    let count = (side as usize).div_ceil(6).pow(2) * 16;
    guest.own.write(SCRATCH, &vec![0xEE; count]);
    let to = guest.own.address() + SCRATCH as u64;
    let view = object();
    // SAFETY: live objects.
    guest.run(|c| unsafe {
        nvnTextureViewSetDefaults(view);
        nvnTextureViewSetLevels(view, level, 1);
        let part = region([0; 3], [side, side, 1]);
        nvnCommandBufferCopyTextureToBuffer(c, texture, view, &part, to, NVNcopyFlags(0));
    });
    guest.own.read(SCRATCH, count)
}

/// A virtual pool has no storage: what its builder was given besides is nobody's.
#[test]
fn b108_a_virtual_pools_builder_names_no_memory() {
    let _alone = alone();
    let guest = Guest::new();
    let decoy = storage::<u8>(1 << 20);
    let pool = guest.pool_at(decoy, 1 << 20, VIRTUAL).expect("a virtual pool");
    let physical = guest.pool(Memory::Navin, BIG, PHYSICAL);
    assert!(guest.map(&pool, &[map_from(&physical, 0, BIG, BIG)]));
    // SAFETY: zeroed objects of sufficient size that stay, in live pools.
    unsafe {
        for (at, value) in [(BIG + 64, 0x11223344), (4 * BIG, 0x55667788)] {
            let (builder, event) = (object(), object());
            nvnEventBuilderSetDefaults(builder);
            nvnEventBuilderSetStorage(builder, pool.pool, at as i64);
            if nvnEventInitialize(event, builder) == NVN_TRUE {
                nvnEventSignal(event, navin_abi::enums::NVNeventSignalMode::WRITE, value);
                assert_eq!(nvnEventGetValue(event), if at < 2 * BIG { value } else { 0 });
            }
        }
        assert!(std::slice::from_raw_parts(decoy, 1 << 20).iter().all(|byte| *byte == 0));
    }
    pool.end();
    physical.end();
}

/// Where a virtual pool shows its pages no other pool can be: they change with each mapping.
#[test]
fn b108_a_pool_over_a_virtual_pools_own_range_is_refused() {
    let _alone = alone();
    let guest = Guest::new();
    let physical = guest.pool(Memory::Navin, 4 * BIG, PHYSICAL);
    let pool = guest.pool_at(std::ptr::null_mut(), 64 * MB, 0x224).unwrap();
    assert!(guest.map(&pool, &[map_from(&physical, 0, BIG, BIG), map_from(&physical, 2 * BIG, 5 * BIG, BIG)]));
    // SAFETY: a live pool.
    let shown = unsafe { nvnMemoryPoolMap(pool.pool) }.cast::<u8>();
    assert!(!shown.is_null());
    let faults = navin_abi::fault::count();
    assert!(guest.pool_at(shown.wrapping_add(BIG), BIG, CACHED).is_none());
    assert!(navin_abi::fault::count() > faults);
    pool.end();
    physical.end();
}

/// What is suspicious is named, and the process lives.
#[test]
fn bad_mappings_are_refused_with_nvns_answer() {
    let _alone = alone();
    let guest = Guest::new();
    let physical = filled(&guest, Memory::Private, MB, 1);
    let pool = guest.virtual_pool(4 * MB);
    let gone = filled(&guest, Memory::Private, BIG, 2);
    for request in [
        map_from(&physical, 0, 4 * MB, BIG),
        map_from(&physical, 0, 4 * MB - PAGE, BIG),
        map_from(&physical, MB, 0, BIG),
        map_from(&physical, MB - PAGE, 0, BIG),
        map_from(&physical, 1, 0, BIG),
        map_from(&physical, 0, 1, BIG),
        map_from(&physical, 0, 0, 100),
        map_from(&physical, 0, 0, 0),
        map_from(&physical, usize::MAX, 0, BIG),
        map_from(&physical, 0, usize::MAX, BIG),
        unmap(3 * MB, usize::MAX),
        map_from(&pool, 0, 0, BIG),
    ] {
        let faults = navin_abi::fault::count();
        assert!(!guest.map(&pool, &[request]));
        assert!(navin_abi::fault::count() > faults);
    }
    assert!(!guest.map(&physical, &[map_from(&physical, 0, 0, BIG)]), "not virtual");
    gone.end();
    assert!(!guest.map(&pool, &[map_from(&gone, 0, 0, BIG)]), "finalized");
    // Requests that overlap in one call: the later one counts.
    physical.write(BIG, &[5; BIG]);
    assert!(guest.map(&pool, &[map_from(&physical, 0, 0, 2 * BIG), map_from(&physical, BIG, 0, BIG)]));
    assert_eq!(guest.gpu_bytes(pool.address(), 4), [5; 4]);
    pool.end();
    physical.end();
}

#[test]
fn a_physical_pool_that_goes_under_a_mapping() {
    let _alone = alone();
    let guest = Guest::new();
    for memory in Memory::ALL {
        let physical = filled(&guest, memory, MB, 0x61);
        let other = filled(&guest, memory, MB, 0x62);
        let pool = guest.virtual_pool(4 * MB);
        let texture = guest.make(guest.builder(NVNformat::RGBA8, 64, 64, 1), &pool, 0);
        assert!(guest.map(&pool, &[map_from(&physical, 0, 0, BIG), map_from(&other, 0, BIG, BIG)]));
        assert_eq!(guest.texel(texture), [0x61; 4]);
        let faults = navin_abi::fault::count();
        physical.end();
        // Memory of Navin's stays as long as it is mapped; the guest's own may be gone, so nothing is there any more.
        let (expected, named) = match memory {
            Memory::Navin => ([0x61; 4], false),
            Memory::Private => ([0; 4], true),
        };
        assert_eq!(guest.texel(texture), expected, "{memory:?}");
        assert_eq!(guest.gpu_bytes(pool.address(), 4), expected, "{memory:?}");
        assert_eq!(navin_abi::fault::count() > faults, named, "{memory:?}");
        assert_eq!(guest.gpu_bytes(pool.address() + BIG as u64, 4), [0x62; 4], "{memory:?}: another pool's stay");
        let pools = counter("live.pools");
        assert!(guest.map(&pool, &[unmap(0, BIG)]));
        assert_eq!(guest.texel(texture), [0; 4]);
        assert_eq!(counter("live.pools"), pools - u64::from(!named), "{memory:?}: nothing is kept any longer");
        pool.end();
        other.end();
    }
}
