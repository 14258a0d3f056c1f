//! Writes of the CPU into textures' storage: noticed without a call, and nothing uploaded that was not written.
//!
//! Every test runs under each tracking mechanism that the system has. Needs a Vulkan device.

mod memory_guest;
mod this_program;

use memory_guest::*;
use navin_abi::enums::{NVNcopyFlags, NVNformat};
use navin_abi::types::*;
use nvn::trampolines::*;

/// Set for a child that runs the tests under another mechanism.
const MECHANISM: &str = "NAVIN_TRACKING";

/// The tests above run with the mechanism that is chosen; here all of them with the other one, and without.
#[test]
fn b411_every_mechanism_passes_the_same_tests() {
    if std::env::var_os(MECHANISM).is_some() {
        return;
    }
    for mechanism in ["userfaultfd", "mprotect"] {
        let output = this_program::command().env(MECHANISM, mechanism).output().unwrap();
        let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if errors.contains("is not available") {
            eprintln!("{mechanism} is not to be had here");
            continue;
        }
        assert!(output.status.success(), "{mechanism}:\n{text}\n{errors}");
    }
}

/// Whether anything tracks: a system without either mechanism is no failure of these tests.
fn tracks(guest: &Guest) -> bool {
    let _ = guest;
    navin::counters().unwrap()["memory"]["tracking"]["mechanism"] != "off"
}

#[test]
fn b118_plain_stores_between_two_uses_are_seen_and_nothing_else_is_uploaded() {
    let _alone = alone();
    let guest = Guest::new();
    if !tracks(&guest) {
        return;
    }
    for memory in Memory::ALL {
        let pool = guest.pool(memory, 1 << 20, CACHED);
        let texture = guest.linear(&pool, 0, 64);
        pool.write(0, &[1, 2, 3, 4]);
        assert_eq!(guest.texel(texture), [1, 2, 3, 4], "{memory:?}");
        let uploads = counter("texture_uploads");
        for _ in 0..10 {
            assert_eq!(guest.texel(texture), [1, 2, 3, 4]);
        }
        assert_eq!(counter("texture_uploads"), uploads, "{memory:?}: ten uses without a write");
        pool.write(0, &[5, 6, 7, 8]);
        assert_eq!(guest.texel(texture), [5, 6, 7, 8], "{memory:?}: no call said so");
        assert_eq!(counter("texture_uploads"), uploads + 1);
        // Far from the texture: not its business.
        pool.write(1 << 19, &[9; 4096]);
        assert_eq!(guest.texel(texture), [5, 6, 7, 8]);
        assert_eq!(counter("texture_uploads"), uploads + 1, "{memory:?}");
    }
}

#[test]
fn b407_neighbours_on_a_textures_edge_pages_do_not_upload_it() {
    let _alone = alone();
    let guest = Guest::new();
    if !tracks(&guest) {
        return;
    }
    let pool = guest.pool(Memory::Private, 1 << 20, CACHED);
    // 64 by 64 texels of four bytes from 512 bytes into a page: both ends share their pages.
    let texture = guest.linear(&pool, 4096 + 512, 64);
    pool.write(4096 + 512, &[1; 16384]);
    assert_eq!(guest.texel(texture), [1; 4]);
    let uploads = counter("texture_uploads");
    for n in 0..10 {
        pool.write(4096, &[n; 512]);
        pool.write(4096 + 512 + 16384, &[n; 64]);
        assert_eq!(guest.texel(texture), [1; 4]);
    }
    assert_eq!(counter("texture_uploads"), uploads, "only its neighbours were written");
    // Its own bytes on the same pages.
    pool.write(4096 + 512, &[2; 4]);
    assert_eq!(guest.texel(texture), [2; 4]);
    pool.write(4096 + 512 + 16384 - 4, &[3; 4]);
    assert_eq!(guest.texels(texture, 0, [64, 64], 4)[16384 - 4..], [3; 4]);
    assert_eq!(counter("texture_uploads"), uploads + 2);
}

#[test]
fn levels_that_were_not_written_are_not_uploaded_again() {
    let _alone = alone();
    let guest = Guest::new();
    if !tracks(&guest) {
        return;
    }
    let pool = guest.pool(Memory::Private, 4 << 20, CACHED);
    let texture = guest.make(guest.builder(NVNformat::RGBA8, 512, 512, 4), &pool, 0);
    assert_eq!(guest.texel(texture), [0; 4]);
    // Level 1 begins behind the megabyte of level 0.
    let level = 512 * 512 * 4;
    let bytes = counter("texture_upload_bytes");
    pool.write(level, &[7; 256 * 256 * 4]);
    assert_eq!(guest.texels(texture, 1, [1, 1], 4), [7; 4]);
    let uploaded = counter("texture_upload_bytes") - bytes;
    assert!((256 * 256 * 4..level as u64).contains(&uploaded), "{uploaded} bytes: level 1, not level 0");
}

#[test]
fn what_the_gpu_wrote_stays_whatever_the_cpu_writes() {
    let _alone = alone();
    let guest = Guest::new();
    let pool = guest.pool(Memory::Private, 1 << 20, CACHED);
    let texture = guest.make(guest.builder(NVNformat::RGBA8, 64, 64, 1), &pool, 0);
    let color = [1.0f32, 0.0, 0.0, 1.0];
    // SAFETY: live objects.
    guest.run(|c| unsafe {
        let all = region([0; 3], [64, 64, 1]);
        nvnCommandBufferClearTexture(c, texture, std::ptr::null(), &all, color.as_ptr(), NVNclearColorMask::RGBA);
    });
    pool.write(0, &[9; 16384]);
    assert_eq!(guest.texel(texture), [255, 0, 0, 255]);
    // Texels that are asked for come to storage; from then on the CPU's writes count again.
    assert_eq!(read_texel(texture, 0, 0), 0xff00_00ff);
    if tracks(&guest) {
        pool.write(0, &[9; 16384]);
        assert_eq!(guest.texel(texture), [9; 4]);
    }
}

/// B665: an import over pages that are protected for a texture: the GPU's writes arrive, the texture stays as it was.
#[test]
fn b665_imports_over_protected_pages_lose_no_gpu_write_and_upload_nothing() {
    let _alone = alone();
    let guest = Guest::new();
    if !tracks(&guest) {
        return;
    }
    // A neighbour in the same memory: its pool is made when the first one's texture has protected pages.
    let memory = storage::<u8>(1 << 20);
    let first = guest.pool_at(memory, 1 << 19, CACHED).unwrap();
    let texture = guest.linear(&first, 0, 64);
    first.write(0, &[1; 16384]);
    assert_eq!(guest.texel(texture), [1; 4]);
    // Over the very same pages.
    let again = guest.pool_at(memory, 1 << 20, CACHED).unwrap();
    let uploads = counter("texture_uploads");
    assert_eq!(guest.texel(texture), [1; 4]);
    assert_eq!(counter("texture_uploads"), uploads, "pages that were only opened are not written");
    guest.gpu_write(again.address() + (1 << 18), &[0xAB; 8192]);
    assert_eq!(first.read(1 << 18, 8192), [0xAB; 8192], "the GPU's writes arrive");
    guest.gpu_write(again.address() + 32768, &[0xCD; 4096]);
    assert_eq!(again.read(32768, 4096), [0xCD; 4096]);
    assert_eq!(guest.texel(texture), [1; 4]);
    assert_eq!(counter("texture_uploads"), uploads, "no texture was written");
    again.end();
    first.end();
}

/// Imports that come when pages are protected already: a chunk, a longer chunk, a neighbour that shares pages.
#[test]
fn b123_imports_over_protected_pages_keep_writes_and_textures() {
    let _alone = alone();
    let guest = Guest::new();
    if !tracks(&guest) || mirrored() {
        // Nothing is imported.
        return;
    }
    const MB: usize = 1 << 20;
    let pool = guest.pool_at(map_anonymous(600 * MB), 600 * MB, CACHED).unwrap();
    let at = |offset: usize| pool.address() + offset as u64;
    let [here, further] = [0, 28 * MB].map(|offset| guest.linear(&pool, offset, 64));
    let drawn = guest.make(guest.builder(NVNformat::RGBA8, 64, 64, 1), &pool, 12 * MB);
    pool.write(0, &[1; 16384]);
    pool.write(28 * MB, &[2; 16384]);
    let color = [1.0f32, 0.0, 0.0, 1.0];
    // SAFETY: live objects.
    guest.run(|c| unsafe {
        let all = region([0; 3], [64, 64, 1]);
        nvnCommandBufferClearTexture(c, drawn, std::ptr::null(), &all, color.as_ptr(), NVNclearColorMask::RGBA);
    });
    let same = |what: &str| {
        let uploads = counter("texture_uploads");
        assert_eq!((guest.texel(here), guest.texel(further)), ([1; 4], [2; 4]), "{what}");
        assert_eq!(guest.texel(drawn), [255, 0, 0, 255], "{what}: the GPU's content stays");
        counter("texture_uploads") - uploads
    };
    same("before");
    let (opened, changed) = (counter("memory.tracking.opened"), counter("memory.tracking.opened_changed"));
    // A chunk of the stride in which protected pages lie.
    guest.gpu_write(at(8 * MB), &[0xA1; 65536]);
    assert_eq!(pool.read(8 * MB, 65536), [0xA1; 65536], "the writes arrive");
    assert_eq!(same("a chunk"), 0, "pages that were only opened are not due");
    // A longer one instead of it, over the other texture's pages too.
    // SAFETY: live objects.
    guest.run(|c| unsafe { nvnCommandBufferClearBuffer(c, at(13 * MB), 12 * MB, 0xB2B2_B2B2) });
    for offset in [13 * MB, 16 * MB - 4, 16 * MB, 25 * MB - 4] {
        assert_eq!(pool.read(offset, 4), [0xB2; 4], "{offset:#x}");
    }
    assert_eq!(same("a longer chunk"), 0);
    assert!(counter("memory.tracking.opened") > opened, "nothing was opened");
    assert_eq!(counter("memory.tracking.opened_changed"), changed);
    // A pool over pages that it shares with the first texture's.
    let neighbour = guest.pool_at(pool.memory.wrapping_add(4096), 8192, CACHED).unwrap();
    assert_eq!(same("a neighbour"), 0);
    guest.gpu_write(neighbour.address() + 4096, &[0xC3; 64]);
    assert_eq!(neighbour.read(4096, 64), [0xC3; 64]);
    neighbour.end();
    // And what the CPU writes after all this counts.
    pool.write(0, &[9; 16384]);
    assert_eq!(guest.texel(here), [9; 4]);
    pool.end();
}

/// Stores through the address that Map gave for a virtual pool, whatever shows the pages.
#[test]
fn b118_stores_through_a_virtual_pools_own_range_are_seen() {
    let _alone = alone();
    let guest = Guest::new();
    if !tracks(&guest) {
        return;
    }
    const BIG: usize = 1 << 16;
    let physical = guest.pool(Memory::Navin, 1 << 20, PHYSICAL);
    let pool = guest.pool_at(std::ptr::null_mut(), 1 << 20, 0x224).unwrap();
    let texture = guest.linear(&pool, 2 * BIG, 64);
    // A texture over the same pages in the physical pool.
    let below = guest.linear(&physical, 3 * BIG, 64);
    assert!(guest.map(&pool, &[map_from(&physical, 3 * BIG, 2 * BIG, BIG)]));
    // SAFETY: a live pool.
    let base = unsafe { nvnMemoryPoolMap(pool.pool) }.cast::<u8>();
    // SAFETY: mapped there; nothing else is.
    let store = |value: u8| unsafe { base.add(2 * BIG).write_bytes(value, 16384) };
    assert_eq!((guest.texel(texture), guest.texel(below)), ([0; 4], [0; 4]));
    for value in 1..4 {
        store(value);
        assert_eq!((guest.texel(texture), guest.texel(below)), ([value; 4], [value; 4]));
        let uploads = counter("texture_uploads");
        assert_eq!((guest.texel(texture), guest.texel(below)), ([value; 4], [value; 4]));
        assert_eq!(counter("texture_uploads"), uploads);
    }
    // Other pages there, and the same again: watched as they come.
    physical.write(8 * BIG, &[7; 16384]);
    assert!(guest.map(&pool, &[map_from(&physical, 8 * BIG, 2 * BIG, BIG)]));
    assert_eq!((guest.texel(texture), guest.texel(below)), ([7; 4], [3; 4]));
    store(8);
    assert_eq!((guest.texel(texture), guest.texel(below)), ([8; 4], [3; 4]));
    assert_eq!(physical.read(8 * BIG, 4), [8; 4]);
    assert!(guest.map(&pool, &[unmap(2 * BIG + 4096, 4096)]));
    assert_eq!(guest.texel(texture), [8; 4]);
    store_first(base.wrapping_add(2 * BIG), 9);
    assert_eq!(guest.texel(texture), [9; 4], "the rest of a run that was cut is watched still");
    pool.end();
    physical.end();
}

fn store_first(at: *mut u8, value: u8) {
    // SAFETY: a page that the caller has mapped.
    unsafe { at.write_bytes(value, 4096) };
}

/// A buffer write that is under way when a texture there is used for the first time: it is filled from what is there, and
/// again from what comes.
#[test]
fn b206_what_the_gpu_writes_while_a_texture_is_filled_comes_into_it() {
    let _alone = alone();
    let guest = Guest::new();
    if !tracks(&guest) {
        return;
    }
    for (memory, flags) in Memory::ALL.into_iter().flat_map(|memory| [(memory, CACHED), (memory, GPU_ONLY)]) {
        for same_piece in [false, true] {
            let pool = guest.pool(memory, 1 << 20, flags);
            let texture = guest.linear(&pool, 1 << 18, 64);
            let from = guest.own.address() + SCRATCH as u64;
            let to = from + (1 << 20);
            guest.own.write(SCRATCH, &[0x5A; 16384]);
            // SAFETY: live objects.
            let write = |c| unsafe {
                nvnCommandBufferCopyBufferToBuffer(c, from, pool.address() + (1 << 18), 16384, NVNcopyFlags(0));
            };
            // SAFETY: as above.
            let first_use = |c| unsafe {
                let part = region([0; 3], [1, 1, 1]);
                nvnCommandBufferCopyTextureToBuffer(c, texture, std::ptr::null(), &part, to, NVNcopyFlags(0));
            };
            guest.submit_slowly(|c| {
                write(c);
                if same_piece {
                    first_use(c);
                }
            });
            if !same_piece {
                guest.submit(first_use);
            }
            guest.finish();
            assert_eq!(guest.texel(texture), [0x5A; 4], "{memory:?}, in one piece: {same_piece}");
            let uploads = counter("texture_uploads");
            assert_eq!(guest.texel(texture), [0x5A; 4]);
            assert_eq!(counter("texture_uploads"), uploads);
            pool.end();
        }
    }
}

/// A linear texture in a pool, and its GPU address: the GPU has written its storage as a buffer, and it holds what came
/// last, fours.
fn written_by_the_gpu(guest: &Guest, pool: &Pool) -> (*mut NVNtexture, u64) {
    let texture = guest.linear(pool, 1 << 18, 64);
    let storage = pool.address() + (1 << 18);
    assert_eq!(guest.texel(texture), [0; 4]);
    for value in 1..5u8 {
        guest.gpu_write(storage, &[value; 16384]);
        assert_eq!(guest.texel(texture), [value; 4]);
    }
    (texture, storage)
}

/// A buffer write of the GPU's into a texture's storage is what the texture holds when it was waited for.
#[test]
fn b206_what_the_gpu_writes_into_storage_as_a_buffer_is_the_textures() {
    let _alone = alone();
    let guest = Guest::new();
    if !tracks(&guest) {
        return;
    }
    for memory in Memory::ALL {
        let pool = guest.pool(memory, 1 << 20, CACHED);
        let (texture, storage) = written_by_the_gpu(&guest, &pool);
        // Beside it, on no page of it: nothing is filled again.
        let uploads = counter("texture_uploads");
        guest.gpu_write(storage + 32768, &[9; 4096]);
        assert_eq!(guest.texel(texture), [4; 4]);
        assert_eq!(counter("texture_uploads"), uploads, "{memory:?}");
        // Through a virtual pool that shows the same pages.
        let physical = guest.pool(memory, 1 << 20, PHYSICAL);
        let sparse = guest.virtual_pool(4 << 20);
        assert!(guest.map(&sparse, &[map_from(&physical, 1 << 16, 1 << 20, 1 << 16)]));
        let texture = guest.linear(&sparse, 1 << 20, 64);
        assert_eq!(guest.texel(texture), [0; 4]);
        guest.gpu_write(sparse.address() + (1 << 20), &[7; 64]);
        assert_eq!(guest.texel(texture), [7; 4], "{memory:?}");
        guest.gpu_write(physical.address() + (1 << 16), &[8; 64]);
        assert_eq!(guest.texel(texture), [8; 4], "{memory:?}");
        sparse.end();
        physical.end();
        pool.end();
    }
}

/// The same in a pool that the CPU does not reach: what the GPU writes there as a buffer is news, and nothing else (B315).
#[test]
fn b206_b315_what_the_gpu_writes_as_a_buffer_into_a_pool_of_its_own_is_the_textures() {
    let _alone = alone();
    let guest = Guest::new();
    for memory in Memory::ALL {
        let pool = guest.pool(memory, 1 << 20, GPU_ONLY);
        let (texture, storage) = written_by_the_gpu(&guest, &pool);
        let uploads = counter("texture_uploads");
        // Right beside it, and by the CPU.
        guest.gpu_write(storage + 16384, &[9; 4096]);
        guest.gpu_write(storage - 512, &[9; 512]);
        pool.write((1 << 18) + 8192, &[7; 64]);
        assert_eq!(guest.texel(texture), [4; 4]);
        assert_eq!(counter("texture_uploads"), uploads, "{memory:?}");
        // Rendered into, it keeps that.
        // SAFETY: live objects.
        guest.run(|c| unsafe {
            let all = region([0; 3], [64, 64, 1]);
            let color = [1.0f32, 0.0, 0.0, 1.0];
            let mask = navin_abi::enums::NVNclearColorMask::RGBA;
            nvnCommandBufferClearTexture(c, texture, std::ptr::null(), &all, color.as_ptr(), mask);
        });
        guest.gpu_write(storage, &[8; 4096]);
        assert_eq!(guest.texel(texture), [255, 0, 0, 255], "{memory:?}");
        pool.end();
    }
}

/// Two pools begin at the same address: the end of the short one leaves the other's storage watched.
#[test]
fn b407_of_pools_that_begin_together_each_has_its_own_tracking() {
    let _alone = alone();
    let guest = Guest::new();
    if !tracks(&guest) {
        return;
    }
    let memory = storage::<u8>(1 << 20);
    let short = guest.pool_at(memory, 1 << 16, CACHED).unwrap();
    // Its pages are protected when the other is made.
    assert_eq!(guest.texel(guest.linear(&short, 0, 64)), [0; 4]);
    let long = guest.pool_at(memory, 1 << 20, CACHED).unwrap();
    let texture = guest.linear(&long, 1 << 18, 64);
    long.write(1 << 18, &[1; 4]);
    assert_eq!(guest.texel(texture), [1; 4]);
    short.end();
    let uploads = counter("texture_uploads");
    for _ in 0..3 {
        assert_eq!(guest.texel(texture), [1; 4]);
    }
    assert_eq!(counter("texture_uploads"), uploads, "its storage is watched still");
    long.write(1 << 18, &[2; 4]);
    assert_eq!(guest.texel(texture), [2; 4]);
    assert_eq!(counter("texture_uploads"), uploads + 1);
    long.end();
}

/// A finalized pool whose pages a virtual pool still shows: the memory is the guest's again, for system calls too, and
/// what is written there is seen.
#[test]
fn b206_memory_of_a_finalized_pool_is_the_guests_though_a_virtual_pool_shows_it() {
    use std::io::Read;

    if mirrored() {
        return;
    }
    let _alone = alone();
    let guest = Guest::new();
    let physical = guest.pool(Memory::Navin, 1 << 20, PHYSICAL);
    let sparse = guest.virtual_pool(4 << 20);
    assert!(guest.map(&sparse, &[map_from(&physical, 0, 1 << 20, 1 << 20)]));
    let texture = guest.linear(&sparse, 1 << 20, 64);
    assert_eq!(guest.texel(texture), [0; 4]);
    let memory = physical.memory;
    physical.end();
    for value in 1..4u8 {
        assert_eq!(guest.texel(texture), [value - 1; 4]);
        // SAFETY: memory that was allocated and is not given back.
        let bytes = unsafe { std::slice::from_raw_parts_mut(memory, 16384) };
        std::io::repeat(value).read_exact(&mut bytes[..64]).unwrap();
        let (mut from, mut to) = std::io::pipe().unwrap();
        std::io::Write::write_all(&mut to, &[value; 16384]).unwrap();
        from.read_exact(bytes).expect("the kernel may write there");
        assert_eq!(guest.texel(texture), [value; 4]);
    }
    sparse.end();
}

#[test]
fn b205_a_texture_in_the_pool_past_4096_is_tracked() {
    let _alone = alone();
    let guest = Guest::new();
    if !tracks(&guest) {
        return;
    }
    let memory = storage::<u8>(5200 * 4096 + (1 << 16));
    let at = |n: usize| memory.wrapping_add(n * 4096);
    let pools: Vec<Pool> = (0..5200).map(|n| guest.pool_at(at(n), 4096, 0x64).unwrap()).collect();
    let last = guest.pool_at(at(5200), 1 << 16, CACHED).unwrap();
    let texture = guest.linear(&last, 0, 64);
    last.write(0, &[1; 4]);
    assert_eq!(guest.texel(texture), [1; 4]);
    let uploads = counter("texture_uploads");
    assert_eq!(guest.texel(texture), [1; 4]);
    assert_eq!(counter("texture_uploads"), uploads);
    last.write(0, &[2; 4]);
    assert_eq!(guest.texel(texture), [2; 4]);
    pools.into_iter().for_each(Pool::end);
}

#[test]
fn b206_memory_written_between_two_pools_over_it_is_read_again() {
    let _alone = alone();
    let guest = Guest::new();
    let memory = storage::<u8>(1 << 16);
    for value in 1..4u8 {
        let pool = guest.pool_at(memory, 1 << 16, CACHED).unwrap();
        let texture = guest.linear(&pool, 0, 64);
        assert_eq!(guest.texel(texture), [value - 1; 4]);
        // SAFETY: a live texture.
        unsafe { nvnTextureFinalize(texture) };
        pool.end();
        // No pool is there: nothing notices, and nothing may fault.
        // SAFETY: our own memory.
        unsafe { memory.write_bytes(value, 1 << 16) };
    }
}

/// Without tracking the guest's word counts, as before.
#[test]
fn untracked_storage_is_fetched_again_when_the_guest_flushes_it() {
    if std::env::var_os(MECHANISM).is_some() {
        return;
    }
    let output = this_program::command()
        .args(["--exact", "untracked_child", "--include-ignored"])
        .env(MECHANISM, "off")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[ignore = "started by the test above with tracking off"]
fn untracked_child() {
    let _alone = alone();
    let guest = Guest::new();
    if tracks(&guest) {
        return;
    }
    let pool = guest.pool(Memory::Private, 1 << 20, CACHED);
    let texture = guest.linear(&pool, 0, 64);
    assert_eq!(guest.texel(texture), [0; 4]);
    pool.write(0, &[5; 4]);
    assert_eq!(guest.texel(texture), [0; 4], "nobody said so");
    // SAFETY: a live pool.
    unsafe { nvnMemoryPoolFlushMappedRange(pool.pool, 0, 4096) };
    assert_eq!(guest.texel(texture), [5; 4]);
}
