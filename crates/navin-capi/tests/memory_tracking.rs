//! Writes of the CPU into textures' storage: noticed without a call, and nothing uploaded that was not written.
//!
//! Every test runs under each tracking mechanism that the system has. Needs a Vulkan device.

mod memory_guest;
mod this_program;

use memory_guest::*;
use navin_abi::enums::NVNformat;
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
