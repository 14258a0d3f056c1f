//! Memory pools of every kind: what Map answers, what their textures begin with, what stays when they go. Needs a
//! Vulkan device.

mod memory_guest;
mod this_program;

use memory_guest::*;
use navin_abi::enums::{NVNformat, NVNtextureFlags, NVNtextureTarget};
use navin_abi::types::*;
use nvn::trampolines::*;

fn buffer(guest: &Guest, pool: &Pool, offset: usize, bytes: usize) -> *mut NVNbuffer {
    // SAFETY: zeroed objects of sufficient size that stay.
    unsafe {
        let (builder, buffer) = (object(), object());
        nvnBufferBuilderSetDefaults(builder);
        nvnBufferBuilderSetDevice(builder, guest.device);
        nvnBufferBuilderSetStorage(builder, pool.pool, offset as isize, bytes);
        assert_eq!(nvnBufferInitialize(buffer, builder), NVN_TRUE);
        buffer
    }
}

#[test]
fn b427_only_pools_with_cpu_access_are_mapped() {
    let _alone = alone();
    let guest = Guest::new();
    // CPU access, GPU access, code, compressible, physical: Map depends on the first alone.
    for cpu in [0x1, 0x2, 0x4] {
        for rest in [0x20, 0x10, 0x08, 0x60, 0xa0, 0x120, 0x1a0] {
            let flags = cpu | rest;
            let pool = guest.pool(Memory::Private, 1 << 16, flags);
            let made = buffer(&guest, &pool, 0x1000, 0x1000);
            // SAFETY: live objects.
            let (map, mapped, address) =
                unsafe { (nvnMemoryPoolMap(pool.pool), nvnBufferMap(made), nvnBufferGetAddress(made)) };
            assert_eq!(map.is_null(), cpu == 0x1, "{flags:#x}");
            assert_eq!(mapped.is_null(), cpu == 0x1, "{flags:#x}");
            if cpu != 0x1 {
                assert_eq!((map as usize, mapped as usize), (pool.memory as usize, pool.memory as usize + 0x1000));
            }
            assert_eq!(address, pool.address() + 0x1000, "{flags:#x}");
            // What a guest computes with a null data pointer.
            assert_ne!(address.wrapping_add(0u64.wrapping_sub(mapped as u64)), 0);
            pool.end();
        }
    }
    let pool = guest.pool(Memory::Private, 1 << 20, GPU_ONLY);
    let made = buffer(&guest, &pool, 0x10000, 0x30000);
    // SAFETY: a live buffer.
    let to = unsafe { nvnBufferGetAddress(made) };
    guest.gpu_write(to, &[0x5A; 0x29a00]);
    assert_eq!(guest.gpu_bytes(to, 0x29a00), [0x5A; 0x29a00]);
}

#[test]
fn flags_that_contradict_each_other_make_no_pool() {
    let _alone = alone();
    let guest = Guest::new();
    let memory = storage(1 << 16);
    for flags in [0x23, 0x26, 0x27, 0x1c, 0x34, 0x321] {
        assert!(guest.pool_at(memory, 1 << 16, flags).is_none(), "{flags:#x}");
    }
    assert!(guest.pool_at(memory, 0, CACHED).is_none());
    assert!(guest.pool_at(memory, 4095, CACHED).is_none());
    assert!(guest.pool_at(memory.wrapping_add(64), 4096, CACHED).is_none());
    assert!(guest.pool_at(std::ptr::null_mut(), 4096, CACHED).is_none());
}

/// Storage that is not there, or not all of it: NVN's answer, and nothing is touched.
#[test]
fn b107_storage_that_is_no_memory_makes_no_pool() {
    let _alone = alone();
    let guest = Guest::new();
    let bytes = 64 << 12;
    let refused = |memory: *mut u8| {
        let faults = navin_abi::fault::count();
        [CACHED, GPU_ONLY, 0x64].into_iter().all(|flags| guest.pool_at(memory, bytes, flags).is_none())
            && navin_abi::fault::count() > faults
    };
    let at = |memory: *mut u8, page: usize| memory.wrapping_add(page << 12).cast::<core::ffi::c_void>();
    for (first, count) in [(0, 64), (63, 1), (32, 1), (7, 1)] {
        let memory = map_anonymous(bytes);
        // SAFETY: pages of our own, which nobody uses.
        unsafe { assert_eq!(libc::munmap(at(memory, first), count << 12), 0) };
        assert!(refused(memory), "{count} pages from {first} on are not mapped");
    }
    for (first, count) in [(0, 64), (63, 1)] {
        let memory = map_anonymous(bytes);
        // SAFETY: as above.
        unsafe { assert_eq!(libc::mprotect(at(memory, first), count << 12, libc::PROT_NONE), 0) };
        assert!(refused(memory), "{count} pages from {first} on are not to be read");
    }
    let pool = guest.pool_at(map_anonymous(bytes), bytes, CACHED).expect("memory never touched is memory");
    pool.end();
}

/// Memory that may only be read makes no pool but of shader code, which the CPU reads: the GPU's stores would end the
/// process.
#[test]
fn b107_storage_that_may_only_be_read_makes_no_pool() {
    let _alone = alone();
    let guest = Guest::new();
    let bytes = 64 << 12;
    for (first, count) in [(0, 64), (63, 1), (0, 1)] {
        let memory = map_anonymous(bytes);
        let at = memory.wrapping_add(first << 12).cast::<core::ffi::c_void>();
        // SAFETY: pages of our own, which nobody uses.
        unsafe { assert_eq!(libc::mprotect(at, count << 12, libc::PROT_READ), 0) };
        let faults = navin_abi::fault::count();
        assert!(guest.pool_at(memory, bytes, CACHED).is_none(), "{count} pages from {first} on");
        assert!(guest.pool_at(memory, bytes, GPU_ONLY).is_none());
        assert_eq!(navin_abi::fault::count(), faults + 2);
        guest.pool_at(memory, bytes, 0x64).expect("shader code").end();
    }
}

/// B122: a large pool of which the driver takes no piece goes as a small one would, as a mirror.
#[test]
fn b122_a_large_pool_that_is_refused_in_pieces_is_a_mirror() {
    if mirrored() {
        return;
    }
    let _alone = alone();
    let guest = Guest::new();
    const BYTES: usize = 512 << 20;
    let memory = map_anonymous(BYTES);
    let pool = guest.pool_at(memory, BYTES, CACHED).unwrap();
    let (mirrors, own) = (counter("memory.mirrors.pools"), pool.address());
    navin::hooks::refuse_imports(memory as u64..memory as u64 + BYTES as u64, u32::MAX);
    pool.write(64 << 20, &[7; 64]);
    let seen = guest.gpu_bytes(own + (64 << 20), 64);
    navin::hooks::refuse_imports(0..0, 0);
    assert_eq!(seen, [7; 64], "what the CPU wrote is bound");
    guest.gpu_write(own + 4096, &[9; 64]);
    assert_eq!(pool.read(4096, 64), [9; 64], "what the GPU writes comes back");
    assert_eq!((counter("memory.chunks"), counter("memory.mirrors.pools")), (0, mirrors + 1));
    pool.end();
    assert_eq!(counter("memory.mirrors.pools"), mirrors);
}

/// Where a pool of the size is imported in pieces, and where the setting says never (B122).
#[test]
fn b122_pieces_begin_at_512_mb_unless_the_setting_says_never() {
    if mirrored() {
        return;
    }
    let _alone = alone();
    if this_program::is_child() {
        return;
    }
    pieces_child();
    let output = this_program::command()
        .args(["--exact", "pieces_child", "--include-ignored"])
        .env("NAVIN_CHUNK_MB", "never")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
#[ignore = "run by the test above, with the setting and without"]
fn pieces_child() {
    let guest = Guest::new();
    let never = std::env::var("NAVIN_CHUNK_MB").as_deref() == Ok("never");
    for (bytes, in_pieces) in [(512 << 20, !never), ((512 << 20) - 4096, false)] {
        let (buffers, memory) = (counter("memory.buffers"), map_anonymous(bytes));
        let pool = guest.pool_at(memory, bytes, CACHED).unwrap();
        pool.write(bytes - 4096, &[3; 64]);
        assert_eq!(guest.gpu_bytes(pool.address() + bytes as u64 - 4096, 64), [3; 64]);
        assert_eq!(counter("memory.chunks"), u64::from(in_pieces), "{bytes:#x}");
        assert_eq!(counter("memory.buffers"), buffers + 1);
        pool.end();
        assert_eq!(counter("memory.buffers"), buffers);
    }
}

/// One texture of each kind in a pool that only the GPU sees, over memory that was loaded before.
#[test]
fn b315_what_a_pool_held_at_creation_is_its_textures_content() {
    let _alone = alone();
    let guest = Guest::new();
    for memory in Memory::ALL {
        let loaded = |flags: i32, value: u8| {
            let at = memory.take(1 << 20);
            // SAFETY: a megabyte of ours.
            unsafe { at.write_bytes(value, 1 << 20) };
            guest.pool_at(at, 1 << 20, flags).unwrap()
        };
        // Linear, and tiled, uncompressed and compressed.
        let linear = guest.linear(&loaded(GPU_ONLY, 0x11), 0, 64);
        assert_eq!(guest.texel(linear), [0x11; 4], "{memory:?}");
        let pool = loaded(GPU_ONLY, 0x22);
        let tiled = guest.make(guest.builder(NVNformat::RGBA8, 64, 64, 1), &pool, 0);
        assert_eq!(guest.texel(tiled), [0x22; 4], "{memory:?}");
        let blocks = guest.make(guest.builder(NVNformat::BPTC_UNORM, 64, 64, 1), &loaded(GPU_ONLY, 0x33), 0);
        assert_eq!(guest.texels(blocks, 0, [4, 4], 1), [0x33; 16], "{memory:?}");

        // Rendering into one stays, whatever happens to its pages.
        let color = [1.0f32, 0.0, 0.0, 1.0];
        // SAFETY: live objects.
        guest.run(|c| unsafe {
            let all = region([0; 3], [64, 64, 1]);
            nvnCommandBufferClearTexture(c, tiled, std::ptr::null(), &all, color.as_ptr(), NVNclearColorMask::RGBA);
        });
        pool.write(0, &[0x44; 4096]);
        assert_eq!(guest.texel(tiled), [255, 0, 0, 255], "{memory:?}");

        // Pages written later are no content either.
        let pool = loaded(GPU_ONLY, 0x55);
        let other = guest.make(guest.builder(NVNformat::RGBA8, 64, 64, 1), &pool, 0);
        assert_eq!(guest.texel(other), [0x55; 4]);
        pool.write(0, &[0x66; 4096]);
        assert_eq!(guest.texel(other), [0x55; 4], "{memory:?}: seeded once");
    }
}

/// The kinds whose bytes mean nothing without the hardware's own tables.
#[test]
fn b315_compressible_and_sparse_textures_are_not_seeded_where_the_cpu_never_writes() {
    let _alone = alone();
    let guest = Guest::new();
    let loaded = |flags: i32| {
        let pool = guest.pool(Memory::Private, 1 << 20, CACHED);
        pool.write(0, &[0x77; 1 << 20]);
        let memory = pool.memory;
        pool.end();
        guest.pool_at(memory, 1 << 20, flags).unwrap()
    };
    for (flags, texture_flags, seeded) in [
        (GPU_ONLY | 0x80, NVNtextureFlags::COMPRESSIBLE, false),
        (GPU_ONLY, NVNtextureFlags::SPARSE, false),
        (GPU_ONLY, NVNtextureFlags(0), true),
        // B316: a hint and no more in pools that the CPU writes.
        (CACHED | 0x80, NVNtextureFlags::COMPRESSIBLE, true),
    ] {
        let pool = loaded(flags);
        let builder = guest.builder(NVNformat::RGBA8, 64, 64, 1);
        // SAFETY: a live builder.
        unsafe { nvnTextureBuilderSetFlags(builder, texture_flags) };
        let texture = guest.make(builder, &pool, 0);
        let expected = if seeded { [0x77; 4] } else { [0; 4] };
        assert_eq!(guest.texel(texture), expected, "pool {flags:#x}, texture {texture_flags:?}");
    }
    let depth = guest.make(guest.builder(NVNformat::DEPTH32F, 64, 64, 1), &loaded(GPU_ONLY), 0);
    assert_eq!(guest.texels(depth, 0, [1, 1], 4), [0; 4], "depth");
}

/// B122: a large pool has no import of its own; what is looked up has. B652: looking at counters makes none.
#[test]
fn b122_b652_a_large_pool_is_imported_in_pieces_where_it_is_used() {
    let _alone = alone();
    let guest = Guest::new();
    const MB: usize = 1 << 20;
    let bytes = 600 * MB;
    // Address space that takes memory only where it is touched.
    let memory = map_anonymous(bytes);
    let buffers = counter("memory.buffers");
    let pool = guest.pool_at(memory, bytes, CACHED).unwrap();
    for _ in 0..100 {
        navin::counters().unwrap();
    }
    assert_eq!((counter("memory.buffers"), counter("memory.chunks")), (buffers, 0));
    // At a stride's first and last bytes, and over a border of strides.
    for at in [0, 16 * MB - 64, 16 * MB, 64 * MB - 32, bytes - 64] {
        let expected: Vec<u8> = (0..64).map(|n| (n + at / MB) as u8).collect();
        pool.write(at, &expected);
        assert_eq!(guest.gpu_bytes(pool.address() + at as u64, 64), expected, "{at:#x}");
        guest.gpu_write(pool.address() + at as u64, &[at as u8 ^ 0x5A; 64]);
        assert_eq!(pool.read(at, 64), [at as u8 ^ 0x5A; 64]);
    }
    if !mirrored() {
        assert!((1..=6).contains(&counter("memory.chunks")), "{}", counter("memory.chunks"));
    }
    // Uploads of textures pin nothing.
    let chunks = counter("memory.chunks");
    let texture = guest.linear(&pool, 300 * MB, 64);
    pool.write(300 * MB, &[3; 4]);
    assert_eq!(guest.texel(texture), [3; 4]);
    assert_eq!(counter("memory.chunks"), chunks);
    pool.end();
    assert!(eventually(|| counter("memory.buffers") == buffers && counter("memory.finalized_but_alive") == 0));

    // One page less than 512 MB is a single import.
    let pool = guest.pool_at(memory, 512 * MB - 4096, CACHED).unwrap();
    assert_eq!((counter("memory.buffers"), counter("memory.chunks")), (buffers + 1, 0));
    pool.end();
}

#[test]
fn b124_nothing_of_a_finalized_pool_stays() {
    let _alone = alone();
    let guest = Guest::new();
    let memory = storage::<u8>(1 << 20);
    let counts = || {
        ["memory.buffers", "memory.imports", "live.textures", "live.images", "live.pools", "memory.in_page_table"]
            .map(counter)
    };
    let round = || {
        let pool = guest.pool_at(memory, 1 << 20, CACHED).unwrap();
        let target = guest.make(guest.builder(NVNformat::RGBA8, 64, 64, 1), &pool, 0);
        let linear = guest.linear(&pool, 1 << 18, 64);
        let made = buffer(&guest, &pool, 1 << 19, 4096);
        let color = [0.0f32, 1.0, 0.0, 1.0];
        // SAFETY: live objects.
        guest.run(|c| unsafe {
            let all = region([0; 3], [64, 64, 1]);
            nvnCommandBufferClearTexture(c, target, std::ptr::null(), &all, color.as_ptr(), NVNclearColorMask::RGBA);
            nvnCommandBufferCopyTextureToTexture(
                c,
                target,
                std::ptr::null(),
                &all,
                linear,
                std::ptr::null(),
                &all,
                navin_abi::enums::NVNcopyFlags(0),
            );
            let address = nvnBufferGetAddress(made);
            nvnCommandBufferClearBuffer(c, address, 4096, 7);
        });
        assert_eq!(guest.texel(linear), [0, 255, 0, 255], "a new pool does not find the old one's textures");
        // All of them go under work that uses them.
        // SAFETY: live objects.
        guest.submit(|c| unsafe {
            let all = region([0; 3], [64, 64, 1]);
            nvnCommandBufferClearTexture(c, target, std::ptr::null(), &all, color.as_ptr(), NVNclearColorMask::RGBA);
            nvnCommandBufferClearBuffer(c, nvnBufferGetAddress(made), 4096, 0x0808_0808);
        });
        // SAFETY: live objects.
        unsafe {
            nvnTextureFinalize(target);
            nvnTextureFinalize(linear);
            nvnBufferFinalize(made);
        }
        pool.end();
        // SAFETY: the memory of the pool, where the buffer was.
        assert_eq!(unsafe { memory.add(1 << 19).read() }, 8, "Finalize waited for what used the pool");
        guest.finish();
    };
    round();
    assert!(eventually(|| counter("memory.finalized_but_alive") == 0));
    let first = counts();
    for _ in 0..100 {
        round();
    }
    assert!(eventually(|| counter("memory.finalized_but_alive") == 0 && counter("memory.waiting_for_release") == 0));
    assert!(eventually(|| counts() == first), "{:?}, at first {first:?}", counts());
}

#[test]
fn b125_threads_that_never_come_back_keep_nothing() {
    let _alone = alone();
    let _opened = Guest::new();
    let before = counter("memory.buffers");
    let done = std::sync::Barrier::new(5);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let guest = Guest::new();
                for n in 0..20u8 {
                    let pool = guest.pool_at(storage::<u8>(1 << 16), 1 << 16, CACHED).unwrap();
                    guest.gpu_write(pool.address() + 64, &[n; 64]);
                    assert_eq!(pool.read(64, 1), [n]);
                    pool.end();
                }
                // Alive, without ever calling Navin again, while the counts are looked at.
                done.wait();
                done.wait();
            });
        }
        done.wait();
        // Each thread's own command memory.
        let buffers = before + 4;
        assert!(eventually(|| counter("memory.finalized_but_alive") == 0));
        for _ in 0..1000 {
            assert_eq!(counter("memory.finalized_but_alive"), 0);
        }
        assert_eq!(counter("memory.buffers"), buffers);
        done.wait();
    });
}

/// B650, B651: pools come and go while nothing is submitted, the last use long complete.
#[test]
fn b650_b651_pools_go_without_another_submission() {
    let _alone = alone();
    let guest = Guest::new();
    const BYTES: usize = 10 << 20;
    let memory = map_anonymous(BYTES);
    let used = guest.pool_at(memory, BYTES, CACHED).unwrap();
    guest.gpu_write(used.address(), &[1; 64]);
    let buffers = counter("memory.buffers");
    used.end();
    assert!(eventually(|| counter("memory.buffers") == buffers - 1 && counter("memory.finalized_but_alive") == 0));
    let submissions = counter("submissions");
    for _ in 0..1000 {
        let pool = guest.pool_at(memory, BYTES, CACHED).unwrap();
        pool.end();
        assert!(counter("memory.buffers") + counter("memory.finalized_but_alive") <= buffers + 2);
    }
    assert!(eventually(|| counter("memory.finalized_but_alive") == 0));
    assert_eq!(counter("submissions"), submissions);
}

/// B650: what lies in descriptor slots goes with its textures too, once the GPU is through with it.
#[test]
fn b650_images_that_were_drawn_with_go_without_another_submission() {
    let _alone = alone();
    let guest = Guest::new();
    const TEXTURES: usize = 40;
    let ids = guest.pool(Memory::Private, 1 << 16, CACHED);
    let pool = guest.pool(Memory::Private, (TEXTURES + 1) << 16, CACHED);
    let target = guest.linear(&pool, 0, 64);
    let textures: Vec<_> = (1..=TEXTURES).map(|n| guest.linear(&pool, n << 16, 64)).collect();
    let (texture_pool, sampler_pool) = (object(), object());
    // SAFETY: zeroed objects of sufficient size that stay.
    unsafe {
        assert_eq!(nvnTexturePoolInitialize(texture_pool, ids.pool, 0, 512), NVN_TRUE);
        assert_eq!(nvnSamplerPoolInitialize(sampler_pool, ids.pool, 1 << 15, 512), NVN_TRUE);
        let (builder, sampler) = (object(), object());
        nvnSamplerBuilderSetDefaults(builder);
        nvnSamplerBuilderSetDevice(builder, guest.device);
        assert_eq!(nvnSamplerInitialize(sampler, builder), NVN_TRUE);
        nvnSamplerPoolRegisterSampler(sampler_pool, 300, sampler);
        for (n, texture) in textures.iter().enumerate() {
            nvnTexturePoolRegisterTexture(texture_pool, 256 + n as i32, *texture, std::ptr::null());
        }
    }
    let images = counter("live.images");
    // SAFETY: live objects.
    let draw = |c| unsafe {
        nvnCommandBufferSetTexturePool(c, texture_pool);
        nvnCommandBufferSetSamplerPool(c, sampler_pool);
        nvnCommandBufferSetRenderTargets(
            c,
            1,
            [target.cast_const()].as_ptr(),
            std::ptr::null(),
            std::ptr::null(),
            std::ptr::null(),
        );
        nvnCommandBufferSetViewport(c, 0, 0, 64, 64);
        nvnCommandBufferSetScissor(c, 0, 0, 64, 64);
        let all = [0.0f32, 0.0, 64.0, 64.0];
        for n in 0..TEXTURES {
            let handle = nvnDeviceGetTextureHandle(guest.device, 256 + n as i32, 300);
            nvnCommandBufferDrawTexture(c, handle, (&raw const all).cast(), (&raw const all).cast());
        }
    };
    guest.run(draw);
    assert_eq!(counter("live.images"), images + 1 + TEXTURES as u64, "the target and all that was drawn with");
    guest.submit(draw);
    // The GPU may still be about it: what has to wait goes with the end of that, what has not at once.
    // SAFETY: live textures.
    textures.iter().for_each(|texture| unsafe { nvnTextureFinalize(*texture) });
    guest.finish();
    assert!(
        eventually(|| counter("live.images") == images + 1 && counter("memory.waiting_for_release") == 0),
        "{} images above {images}, {} wait",
        counter("live.images"),
        counter("memory.waiting_for_release")
    );
    // The same with the GPU through long before.
    let texture = guest.linear(&pool, 1 << 16, 64);
    assert_eq!(guest.texel(texture), [0; 4]);
    assert_eq!(counter("live.images"), images + 2);
    let submissions = counter("submissions");
    // SAFETY: a live texture.
    unsafe { nvnTextureFinalize(texture) };
    assert!(eventually(|| counter("live.images") == images + 1 && counter("memory.waiting_for_release") == 0));
    assert_eq!(counter("submissions"), submissions);
    pool.end();
    ids.end();
}

#[test]
fn b653_pools_of_shader_code_have_no_buffer() {
    let _alone = alone();
    let guest = Guest::new();
    let buffers = counter("memory.buffers");
    let memory = storage::<u8>(222 << 16);
    let pools: Vec<Pool> =
        (0..222).map(|n| guest.pool_at(memory.wrapping_add(n << 16), 1 << 16, 0x64).unwrap()).collect();
    assert_eq!(counter("memory.buffers"), buffers);
    // The GPU can still use one as memory.
    pools[7].write(0, &[7; 64]);
    assert_eq!(guest.gpu_bytes(pools[7].address(), 64), [7; 64]);
    assert_eq!(counter("memory.buffers"), buffers + 1);
    pools.into_iter().for_each(Pool::end);
}

/// The allocator of an engine, whose free list is keyed by offset, over the sizes that Navin answers.
#[test]
fn b105_no_zcull_size_swallows_a_guests_blocks() {
    let _alone = alone();
    let guest = Guest::new();
    let mut blocks = std::collections::BTreeMap::new();
    let mut next = 0usize;
    for (side, target, samples, depth) in [
        (16, NVNtextureTarget::TARGET_2D, 0, 1),
        (64, NVNtextureTarget::TARGET_2D_ARRAY, 0, 6),
        (256, NVNtextureTarget::TARGET_2D_MULTISAMPLE, 4, 1),
        (4096, NVNtextureTarget::TARGET_2D, 0, 1),
    ] {
        for format in
            [NVNformat::DEPTH16, NVNformat::DEPTH24_STENCIL8, NVNformat::DEPTH32F, NVNformat::DEPTH32F_STENCIL8]
        {
            let builder = guest.builder(format, side, side, 1);
            // SAFETY: live objects.
            let (asked, answered) = unsafe {
                nvnTextureBuilderSetTarget(builder, target);
                nvnTextureBuilderSetSize3D(builder, side, side, depth);
                nvnTextureBuilderSetSamples(builder, samples);
                let asked = nvnTextureBuilderGetZCullStorageSize(builder);
                let bytes = nvnTextureBuilderGetStorageSize(builder).next_multiple_of(1 << 16);
                let pool = guest.pool_at(map_anonymous(bytes), bytes, GPU_ONLY).unwrap();
                let texture = guest.make(builder, &pool, 0);
                (asked, nvnTextureGetZCullStorageSize(texture))
            };
            assert!(asked > 0);
            assert_eq!(asked, answered);
            assert!(blocks.insert(next, asked).is_none(), "a live block vanished from the map");
            next += asked;
        }
    }
    assert_eq!(blocks.len(), 16);
}

/// Pools come and go in a region that another thread maps and unmaps: none is refused, and the GPU reaches each.
#[test]
fn b107_pools_are_made_beside_a_region_that_is_mapped_and_unmapped() {
    let _alone = alone();
    let guest = Guest::new();
    const REGION: usize = 4 << 30;
    const PIECE: usize = 4 << 20;
    let region = map_anonymous(REGION) as usize;
    let faults = navin_abi::fault::count();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
            for turn in 0usize.. {
                if done.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
                let at = region + REGION / 2 + turn * 7 % (REGION / 2 / PIECE) * PIECE;
                for access in [libc::PROT_READ | libc::PROT_WRITE, libc::PROT_NONE] {
                    // SAFETY: the upper half of the region is this thread's alone.
                    let mapped = unsafe { libc::mmap(at as *mut _, PIECE, access, flags, -1, 0) };
                    assert_eq!(mapped as usize, at);
                }
            }
        });
        for turn in 0..200usize {
            let at = region + turn * 3 % (REGION / 2 / PIECE) * PIECE;
            let pool = guest.pool_at(at as *mut u8, PIECE, CACHED).expect("a pool");
            if turn % 20 == 0 {
                guest.gpu_write(pool.address() + 4096, &[turn as u8 + 1; 64]);
                assert_eq!(pool.read(4096, 64), [turn as u8 + 1; 64]);
            }
            pool.end();
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(navin_abi::fault::count(), faults, "no refusal, no line");
}

/// What no way of import takes is NVN's false, and one line.
#[test]
fn b107_a_pool_that_cannot_be_imported_is_refused() {
    let output = this_program::command()
        .args(["--exact", "unimportable_child", "--include-ignored", "--nocapture"])
        .env("NAVIN_IMPORT", "dma_buf")
        .output()
        .unwrap();
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}\n{errors}");
    let all = format!("{text}{errors}");
    let line = all.lines().find(|line| line.contains("[B107]")).unwrap_or_else(|| panic!("no line in {all}"));
    assert!(line.contains("cannot be imported") && line.contains("answers false"), "{line}");
}

#[test]
#[ignore = "started by the test above with imports by dma-buf alone"]
fn unimportable_child() {
    if std::env::var("NAVIN_IMPORT").as_deref() != Ok("dma_buf") {
        return;
    }
    // SAFETY: zeroed objects of sufficient size that stay.
    unsafe {
        let (builder, device) = (object(), object());
        nvnDeviceBuilderSetDefaults(builder);
        assert_eq!(nvnDeviceInitialize(device, builder), NVN_TRUE);
        let (builder, pool) = (object(), object());
        nvnMemoryPoolBuilderSetDefaults(builder);
        nvnMemoryPoolBuilderSetDevice(builder, device);
        // Private memory is behind no descriptor.
        nvnMemoryPoolBuilderSetStorage(builder, storage::<u8>(1 << 16).cast(), 1 << 16);
        assert_eq!(nvnMemoryPoolInitialize(pool, builder), NVN_FALSE);
    }
    assert_eq!((counter("live.pools"), counter("memory.buffers")), (0, 0));
}

/// A pool is freed under a submission that reads it: Finalize waits for that, and says so.
#[test]
fn b111_a_pool_freed_under_a_submission_is_named_and_waited_for() {
    let _alone = alone();
    let guest = Guest::new();
    let pool = guest.pool(Memory::Private, 1 << 20, CACHED);
    pool.write(0, &[0x5C; 4096]);
    let (from, to) = (pool.address(), guest.own.address() + SCRATCH as u64);
    guest.own.write(SCRATCH, &[0xEE; 4096]);
    let faults = navin_abi::fault::count();
    // SAFETY: live objects.
    guest.submit_slowly(|c| unsafe {
        nvnCommandBufferCopyBufferToBuffer(c, from, to, 4096, navin_abi::enums::NVNcopyFlags(0));
    });
    pool.end();
    assert!(navin_abi::fault::count() > faults, "named");
    // The memory is the guest's own again.
    // SAFETY: the storage, which stays.
    unsafe { pool.memory.write_bytes(0x11, 4096) };
    guest.finish();
    assert_eq!(guest.own.read(SCRATCH, 4096), [0x5C; 4096], "what it held when the work was submitted");
}

#[test]
fn pools_over_the_same_memory_are_named_and_made() {
    let _alone = alone();
    let guest = Guest::new();
    let memory = storage::<u8>(1 << 20);
    let first = guest.pool_at(memory, 1 << 19, CACHED).unwrap();
    let beside = guest.pool_at(memory.wrapping_add(1 << 19), 1 << 18, CACHED).unwrap();
    let faults = navin_abi::fault::count();
    for (at, bytes, named) in [(0, 1 << 19, true), (4096, 4096, true), (1 << 18, 1 << 19, true), (3 << 18, 4096, false)]
    {
        let before = navin_abi::fault::count();
        let over = guest.pool_at(memory.wrapping_add(at), bytes, CACHED).unwrap();
        assert_eq!(navin_abi::fault::count() > before, named, "{bytes:#x} bytes at {at:#x}");
        guest.gpu_write(over.address(), &[at as u8 | 1; 16]);
        assert_eq!(over.read(0, 16), [at as u8 | 1; 16], "it is as good as any");
        over.end();
    }
    assert_eq!(navin_abi::fault::count(), faults + 3);
    first.end();
    beside.end();
}
