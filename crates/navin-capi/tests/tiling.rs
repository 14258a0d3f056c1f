//! Textures in the GPU's order, from the guest's memory to the GPU and back: by the CPU and by the GPU, for both console
//! generations. Every test runs under each combination. Needs a Vulkan device.

mod memory_guest;
mod this_program;

use memory_guest::*;
use navin_abi::enums::{NVNcopyFlags, NVNformat, NVNtextureTarget};
use navin_texture::swizzle::Pitch;
use navin_texture::{Format, GobOrder, Layout, LayoutInput, Region, Target, tile, untile};
use nvn::trampolines::*;

const TILING: &str = "NAVIN_TILING";
const GENERATION: &str = "NAVIN_GENERATION";
/// Set for a child in which the embedder says the generation, 2.
const EMBEDDER: &str = "TILING_EMBEDDER";

#[test]
fn b305_every_combination_passes_the_same_tests() {
    if std::env::var_os(GENERATION).or(std::env::var_os(EMBEDDER)).is_some() {
        return;
    }
    for tiling in ["cpu", "gpu"] {
        for (variable, generation) in [(GENERATION, "1"), (GENERATION, "2"), (EMBEDDER, "2")] {
            let output =
                this_program::command().env(TILING, tiling).env(variable, generation).output().expect("started");
            let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(output.status.success(), "tiling {tiling}, {variable} {generation}:\n{text}\n{errors}");
        }
    }
}

/// What this process was told to be: the order of its generation, and whether the GPU copies.
fn setting() -> Option<(GobOrder, bool)> {
    if std::env::var_os(EMBEDDER).is_some() {
        assert_eq!((nvn::embed::navin_set_generation(3), nvn::embed::navin_set_generation(2)), (0, 1));
    }
    let generation = std::env::var(GENERATION).or(std::env::var(EMBEDDER)).ok()?.parse().ok()?;
    Some((GobOrder::from_generation(generation)?, std::env::var(TILING).is_ok_and(|tiling| tiling == "gpu")))
}

fn pattern(count: usize) -> Vec<u8> {
    (0..count as u32).map(|n| (n.wrapping_mul(0x9E37_79B1) >> 13) as u8).collect()
}

/// Bytes of level 0 of each layer in storage order, from rows.
fn stored(layout: &Layout, order: GobOrder, rows: &[u8], storage: &mut [u8]) {
    let level = &layout.levels[0];
    let region = Region::whole(level);
    for (layer, rows) in rows.chunks_exact(level.packed_bytes() as usize).enumerate() {
        let at = layout.offset(0, layer as u32).expect("a layer") as usize;
        tile(&mut storage[at..], level, order, region, rows, Pitch::packed(level, &region)).expect("inside");
    }
}

fn layout(format: NVNformat, width: u32, height: u32) -> Layout {
    let format = Format::from_nvn(format.raw()).expect("a format");
    Layout::new(&LayoutInput::new_2d(format, width, height)).expect("a texture")
}

#[test]
fn b305_storage_is_read_in_the_order_of_the_guests_generation() {
    let Some((order, gpu)) = setting() else { return };
    let _alone = alone();
    let guest = Guest::new();
    for memory in Memory::ALL {
        for flags in [CACHED, GPU_ONLY] {
            for (format, side, texel) in
                [(NVNformat::RGBA8, 100, 4), (NVNformat::R8, 77, 1), (NVNformat::RGBA16F, 64, 8)]
            {
                let layout = layout(format, side, side);
                let rows: Vec<u8> = pattern((side * side) as usize * texel);
                let mut bytes = vec![0; layout.size as usize];
                stored(&layout, order, &rows, &mut bytes);
                let start = memory.take(1 << 17);
                // SAFETY: fresh memory of that size; B315: what lies there when the pool is made is its content.
                unsafe { start.add(0x1200).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
                let pool = guest.pool_at(start, 1 << 17, flags).expect("a pool");
                let texture = guest.make(guest.builder(format, side as i32, side as i32, 1), &pool, 0x1200);
                let before = counter("texture_gpu_fills");
                let is = guest.texels(texture, 0, [side as i32; 2], texel);
                assert!(is == rows, "{memory:?} {flags:#x} {format:?}");
                assert_eq!(counter("texture_gpu_fills") - before, u64::from(gpu), "{memory:?} {flags:#x} {format:?}");
            }
        }
    }
}

#[test]
fn b305_what_the_gpu_wrote_is_stored_in_that_order_and_nothing_beside_it() {
    let Some((order, gpu)) = setting() else { return };
    let _alone = alone();
    let guest = Guest::new();
    for memory in Memory::ALL {
        let (width, height) = (70, 50);
        let layout = layout(NVNformat::RGBA8, width, height);
        let pool = guest.pool(memory, 1 << 17, CACHED);
        // The padding is not the texture's: what lies there stays.
        pool.write(0, &vec![0xAB; 1 << 17]);
        let texture = guest.make(guest.builder(NVNformat::RGBA8, width as i32, height as i32, 1), &pool, 0x2000);
        let rows = pattern((width * height * 4) as usize);
        guest.own.write(SCRATCH, &rows);
        let from = guest.own.address() + SCRATCH as u64;
        let whole = region([0; 3], [width as i32, height as i32, 1]);
        // SAFETY: live objects.
        guest.run(|c| unsafe {
            nvnCommandBufferCopyBufferToTexture(c, from, texture, std::ptr::null(), &whole, NVNcopyFlags(0));
        });
        let before = counter("texture_gpu_stores");
        assert_eq!(read_texel(texture, 69, 49).to_ne_bytes(), rows[rows.len() - 4..], "{memory:?}");
        assert_eq!(counter("texture_gpu_stores") - before, u64::from(gpu));
        let mut expected = vec![0xAB; 1 << 17];
        stored(&layout, order, &rows, &mut expected[0x2000..0x2000 + layout.size as usize]);
        assert!(pool.read(0, 1 << 17) == expected, "{memory:?}: storage");
        // A write of the guest into the same storage is seen afterwards.
        let mut texels = vec![0; rows.len()];
        let level = &layout.levels[0];
        let at = order.offset(60, 0) + 0x2000;
        pool.write(at, &[1, 2, 3, 4]);
        assert_eq!(read_texel(texture, 15, 0).to_ne_bytes(), [1, 2, 3, 4]);
        let whole = Region::whole(level);
        untile(
            &mut texels,
            Pitch::packed(level, &whole),
            &pool.read(0x2000, layout.size as usize),
            level,
            order,
            whole,
        )
        .expect("inside");
        assert!(guest.texels(texture, 0, [width as i32, height as i32], 4) == texels, "{memory:?}");
    }
}

#[test]
fn b305_texel_writes_follow_the_generation() {
    let Some((order, _)) = setting() else { return };
    let _alone = alone();
    let guest = Guest::new();
    let pool = guest.pool(Memory::Navin, 1 << 17, CACHED);
    let texture = guest.make(guest.builder(NVNformat::RGBA8, 64, 64, 1), &pool, 0);
    let texel = [9u8, 8, 7, 6];
    // Column 4, row 2: byte 16 of row 2.
    // SAFETY: live objects; one texel is read.
    unsafe { nvnTextureWriteTexels(texture, std::ptr::null(), &region([4, 2, 0], [1, 1, 1]), texel.as_ptr().cast()) };
    let at = 96;
    assert_eq!(order.offset(16, 2), at, "both orders have 32 + 64 there");
    assert_eq!(pool.read(at, 4), texel);
    // SAFETY: as above.
    unsafe { nvnTextureWriteTexels(texture, std::ptr::null(), &region([4, 0, 0], [1, 1, 1]), texel.as_ptr().cast()) };
    let at = if order == GobOrder::TegraX1 { 32 } else { 64 };
    assert_eq!(pool.read(at, 4), texel, "byte 16 of row 0");
    assert_eq!(guest.texels(texture, 0, [64, 64], 4)[(2 * 64 + 4) * 4..][..4], texel);
}

#[test]
fn b305_levels_layers_and_slices_come_through() {
    let Some((order, _)) = setting() else { return };
    let _alone = alone();
    let guest = Guest::new();
    let mut input = LayoutInput::new_2d(Format::RGBA8.info(), 40, 24);
    (input.target, input.depth, input.levels) = (Target::D3, 12, 3);
    let layout = Layout::new(&input).expect("a texture");
    let pool = guest.pool(Memory::Navin, 1 << 18, CACHED);
    let mut all = Vec::new();
    let mut storage = vec![0; layout.size as usize];
    for level in &layout.levels {
        let rows = pattern(level.packed_bytes() as usize + all.len())[all.len()..].to_vec();
        let whole = Region::whole(level);
        let pitch = Pitch::packed(level, &whole);
        tile(&mut storage[level.offset as usize..], level, order, whole, &rows, pitch).expect("inside");
        all.push(rows);
    }
    pool.write(0, &storage);
    let builder = guest.builder(NVNformat::RGBA8, 40, 24, 3);
    // SAFETY: a live builder.
    unsafe {
        nvnTextureBuilderSetTarget(builder, NVNtextureTarget::TARGET_3D);
        nvnTextureBuilderSetSize3D(builder, 40, 24, 12);
    }
    let texture = guest.make(builder, &pool, 0);
    for (n, (level, rows)) in layout.levels.iter().zip(&all).enumerate() {
        let to = guest.own.address() + SCRATCH as u64;
        let view = object();
        // SAFETY: live objects.
        guest.run(|c| unsafe {
            nvnTextureViewSetDefaults(view);
            nvnTextureViewSetLevels(view, n as i32, 1);
            let size = [level.width as i32, level.height as i32, level.depth as i32];
            nvnCommandBufferCopyTextureToBuffer(c, texture, view, &region([0; 3], size), to, NVNcopyFlags(0));
        });
        assert!(guest.own.read(SCRATCH, rows.len()) == *rows, "level {n}");
    }
}
