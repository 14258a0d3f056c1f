//! Texels that the CPU writes and reads: in place in block-linear storage, by rows in linear storage, and what lies
//! beside them left alone. Needs a Vulkan device.

mod memory_guest;

use std::ptr::null;
use std::time::{Duration, Instant};

use memory_guest::*;
use navin_abi::enums::{NVNclearColorMask, NVNcopyFlags, NVNformat, NVNtextureFlags, NVNtextureTarget};
use navin_abi::types::*;
use navin_texture::swizzle::Pitch;
use navin_texture::{Format, GobOrder, Layout, LayoutInput, Region, Target, tile, untile};
use nvn::trampolines::*;

const ORDER: GobOrder = GobOrder::TegraX1;

fn pattern(count: usize, seed: u32) -> Vec<u8> {
    (0..count as u32).map(|n| ((n ^ seed << 20).wrapping_mul(0x9E37_79B1) >> 13) as u8).collect()
}

fn with_flags(guest: &Guest, format: NVNformat, size: [i32; 2], flags: i32, stride: isize) -> *mut NVNtextureBuilder {
    let builder = guest.builder(format, size[0], size[1], 1);
    // SAFETY: a live builder.
    unsafe {
        nvnTextureBuilderSetFlags(builder, NVNtextureFlags(flags));
        nvnTextureBuilderSetStride(builder, stride);
    }
    builder
}

fn write(texture: *mut NVNtexture, part: &NVNcopyRegion, rows: &[u8], strides: [isize; 2]) {
    // SAFETY: a live texture; the rows are those of the region.
    unsafe {
        match strides {
            [0, 0] => nvnTextureWriteTexels(texture, null(), part, rows.as_ptr().cast()),
            [row, image] => nvnTextureWriteTexelsStrided(texture, null(), part, rows.as_ptr().cast(), row, image),
        }
    }
}

fn read(texture: *const NVNtexture, part: &NVNcopyRegion, bytes: usize) -> Vec<u8> {
    let mut rows = vec![0xEE; bytes];
    // SAFETY: a live texture and room for the region.
    unsafe { nvnTextureReadTexels(texture, null(), part, rows.as_mut_ptr().cast()) };
    rows
}

#[test]
fn b307_minimal_textures_lie_back_to_back_and_leave_each_other_alone() {
    let _alone = alone();
    let guest = Guest::new();
    let pool = guest.pool(Memory::Navin, 1 << 20, CACHED);
    pool.write(0, &vec![0xAB; 1 << 20]);
    let builder = with_flags(&guest, NVNformat::RGB565, [320, 320], 0x200, 0);
    // SAFETY: a live builder.
    let size = unsafe { nvnTextureBuilderGetStorageSize(builder) };
    assert_eq!(size, 204_800);
    let textures = [guest.make(builder, &pool, 0), guest.make(builder, &pool, size)];
    let whole = region([0; 3], [320, 320, 1]);
    let rows = [pattern(204_800, 1), pattern(204_800, 2)];
    for (texture, rows) in textures.into_iter().zip(&rows) {
        write(texture, &whole, rows, [0, 0]);
    }
    for (texture, rows) in textures.into_iter().zip(&rows) {
        assert!(read(texture, &whole, 204_800) == *rows);
        assert!(guest.texels(texture, 0, [320, 320], 2) == *rows, "as the GPU sees it");
    }
    assert!(pool.read(2 * size, 4096) == [0xAB; 4096], "behind them");
}

/// Plain stores into linear storage, without a flush: the GPU sees the newest at each use.
#[test]
fn b308_linear_textures_follow_plain_stores() {
    let _alone = alone();
    let guest = Guest::new();
    if navin::counters().unwrap()["memory"]["tracking"]["mechanism"] == "off" {
        return;
    }
    let (width, height) = (2048usize, 8192usize);
    let pool = guest.pool(Memory::Navin, 20 << 20, CACHED);
    let glyphs = guest.make(with_flags(&guest, NVNformat::R8, [2048, 8192], 0x14, 2048), &pool, 0);
    let ramps: Vec<_> = (0..4)
        .map(|n| guest.make(with_flags(&guest, NVNformat::RGBA16F, [64, 1], 0x14, 512), &pool, (17 << 20) + 512 * n))
        .collect();
    let seen = |texture, at: [i32; 2], size: [i32; 2], bytes: usize| {
        let to = guest.own.address() + SCRATCH as u64;
        let part = region([at[0], at[1], 0], [size[0], size[1], 1]);
        // SAFETY: live objects.
        guest.run(|c| unsafe { nvnCommandBufferCopyTextureToBuffer(c, texture, null(), &part, to, NVNcopyFlags(0)) });
        guest.own.read(SCRATCH, bytes)
    };
    for round in 1..=2u32 {
        let row = pattern(2048, round);
        for y in [0, height / 2, height - 1] {
            pool.write(y * width, &row);
        }
        for (n, ramp) in ramps.iter().enumerate() {
            let texels = pattern(512, 16 * round + n as u32);
            pool.write((17 << 20) + 512 * n, &texels);
            assert!(seen(*ramp, [0, 0], [64, 1], 512) == texels, "ramp {n}, round {round}");
        }
        for y in [0, height / 2, height - 1] {
            assert!(seen(glyphs, [0, y as i32], [2048, 1], 2048) == row, "row {y}, round {round}");
        }
    }
}

#[test]
fn b309_a_cleared_linear_target_leaves_the_padding_of_its_rows() {
    let _alone = alone();
    let guest = Guest::new();
    for memory in Memory::ALL {
        let pool = guest.pool(memory, 1 << 16, CACHED);
        pool.write(0, &vec![0xAB; 1 << 16]);
        let builder = with_flags(&guest, NVNformat::RGBA8, [16, 16], 0x44, 128);
        // SAFETY: a live builder.
        assert_eq!(unsafe { nvnTextureBuilderGetStorageSize(builder) }, 2048);
        let target = guest.make(builder, &pool, 4096);
        let color = [1.0f32, 0.0, 1.0, 0.0];
        let whole = region([0; 3], [16, 16, 1]);
        // SAFETY: live objects.
        guest.run(|c| unsafe {
            nvnCommandBufferClearTexture(c, target, null(), &whole, color.as_ptr(), NVNclearColorMask::RGBA);
        });
        // What the GPU drew comes to storage when texels are asked for.
        assert_eq!(read_texel(target, 15, 15).to_ne_bytes(), [255, 0, 255, 0]);
        let mut expected = vec![0xAB; 1 << 16];
        for y in 0..16 {
            expected[4096 + 128 * y..][..64].copy_from_slice(&[255, 0, 255, 0].repeat(16));
        }
        assert!(pool.read(0, 1 << 16) == expected, "{memory:?}");
    }
}

#[test]
fn b312_regions_written_in_place_equal_the_whole_level_method() {
    let _alone = alone();
    let guest = Guest::new();
    let pool = guest.pool(Memory::Navin, 1 << 19, CACHED);
    for (format, size, layers) in
        [(NVNformat::RGBA8, [100, 60], 1), (NVNformat::RGBA_DXT1, [64, 64], 1), (NVNformat::RGBA16F, [40, 24], 2)]
    {
        let info = Format::from_nvn(format.raw()).expect("a format").format.info();
        let mut input = LayoutInput::new_2d(info, size[0] as u32, size[1] as u32);
        if layers > 1 {
            (input.target, input.layers) = (Target::D2Array, layers);
        }
        let layout = Layout::new(&input).expect("a texture");
        let level = &layout.levels[0];
        let builder = guest.builder(format, size[0], size[1], 1);
        if layers > 1 {
            // SAFETY: a live builder.
            unsafe {
                nvnTextureBuilderSetTarget(builder, NVNtextureTarget::TARGET_2D_ARRAY);
                nvnTextureBuilderSetDepth(builder, layers as i32);
            }
        }
        let texture = guest.make(builder, &pool, 0x1000);
        let mut expected = pattern(1 << 19, 7);
        pool.write(0, &expected);
        let (bw, bh) = (info.block_width as i32, info.block_height as i32);
        let (columns, rows) = (level.columns as i32, level.rows as i32);
        let mut regions = vec![[0, 0, columns, rows, 0, layers as i32], [0, 0, 1, 1, 0, 1]];
        for n in 0..13i32 {
            let (x, y) = ((n * 7) % columns, (n * 5) % rows);
            let layer = n % layers as i32;
            regions.push([x, y, 1 + (n * 11) % (columns - x), 1 + (n * 3) % (rows - y), layer, layers as i32 - layer]);
        }
        assert_eq!(regions.len(), 15);
        for (n, [x, y, width, height, layer, count]) in regions.into_iter().enumerate() {
            // Texels of blocks at the edge end with the level.
            let (w, h) = ((width * bw).min(size[0] - x * bw), (height * bh).min(size[1] - y * bh));
            let bytes = (width * height * count) as usize * info.bytes_per_block as usize;
            let source = pattern(bytes, 100 + n as u32);
            write(texture, &region([x * bw, y * bh, layer], [w, h, count]), &source, [0, 0]);
            for (source, layer) in source.chunks_exact(bytes / count as usize).zip(layer as u32..) {
                let at = 0x1000 + layout.offset(0, layer).expect("a layer") as usize;
                // The whole level out, patched, and in again.
                let whole = Region::whole(level);
                let pitch = Pitch::packed(level, &whole);
                let mut all = vec![0; level.packed_bytes() as usize];
                untile(&mut all, pitch, &expected[at..], level, ORDER, whole).expect("inside");
                let row = width as usize * info.bytes_per_block as usize;
                for (i, from) in source.chunks_exact(row).enumerate() {
                    let to = (y as usize + i) * pitch.row + x as usize * info.bytes_per_block as usize;
                    all[to..to + row].copy_from_slice(from);
                }
                tile(&mut expected[at..], level, ORDER, whole, &all, pitch).expect("inside");
            }
            assert!(pool.read(0, 1 << 19) == expected, "{format:?}, region {n}");
        }
    }
}

/// The cost of one texel does not follow from the level's size: whole levels would make it 256 times.
#[test]
fn b312_single_texels_cost_the_same_in_large_levels() {
    let _alone = alone();
    let guest = Guest::new();
    let pool = guest.pool(Memory::Navin, 8 << 20, CACHED);
    let cost = |side: i32| {
        let texture = guest.make(guest.builder(NVNformat::RGBA8, side, side, 1), &pool, 0);
        let once = || {
            let start = Instant::now();
            for n in 0..2_500 {
                write(texture, &region([n % side, n / side % side, 0], [1, 1, 1]), &[1, 2, 3, 4], [0, 0]);
            }
            start.elapsed()
        };
        (0..4).map(|_| once()).min().unwrap_or(Duration::ZERO)
    };
    let (small, large) = (cost(64), cost(1024));
    assert!(large < 16 * small, "{small:?} for 64x64, {large:?} for 1024x1024");
}

#[test]
fn b313_b433_linear_textures_are_written_by_rows_of_their_stride() {
    let _alone = alone();
    let guest = Guest::new();
    for (size, flags, stride) in [([37, 5], 0x12, 256usize), ([16, 16], 0x40, 128)] {
        let [width, height] = size;
        let pool = guest.pool(Memory::Navin, 1 << 16, CACHED);
        let mut expected = pattern(1 << 16, 3);
        pool.write(0, &expected);
        let builder = with_flags(&guest, NVNformat::RGBA8, size, flags, stride as isize);
        let texture = guest.make(builder, &pool, 0x1000);
        // Everything, a part, a single texel, a column; the second and the last with padding between the source's rows.
        let parts = [
            ([0, 0, width, height], 0),
            ([3, 1, width - 7, height - 2], 12),
            ([width - 1, height - 1, 1, 1], 0),
            ([5, 0, 1, height], 40),
        ];
        for (n, ([x, y, w, h], padding)) in parts.into_iter().enumerate() {
            let row = w as usize * 4 + padding;
            let source = pattern(row * h as usize, 50 + n as u32);
            let strides = if padding == 0 { [0, 0] } else { [row as isize, (row * h as usize) as isize] };
            let part = region([x, y, 0], [w, h, 1]);
            write(texture, &part, &source, strides);
            let mut tight = Vec::new();
            for (i, from) in source.chunks_exact(row).enumerate() {
                let to = 0x1000 + (y as usize + i) * stride + x as usize * 4;
                expected[to..to + w as usize * 4].copy_from_slice(&from[..w as usize * 4]);
                tight.extend_from_slice(&from[..w as usize * 4]);
            }
            assert!(pool.read(0, 1 << 16) == expected, "{size:?}, part {n}: memory, padding and guards");
            assert!(read(texture, &part, tight.len()) == tight, "{size:?}, part {n}: read again");
        }
        let rows: Vec<u8> = expected[0x1000..]
            .chunks(stride)
            .take(height as usize)
            .flat_map(|r| r[..width as usize * 4].to_vec())
            .collect();
        assert!(guest.texels(texture, 0, size, 4) == rows, "{size:?}: as the GPU sees it");
        // Beyond the last row: nothing is written, and said.
        let faults = navin_abi::fault::count();
        write(texture, &region([0, 1, 0], [width, height, 1]), &pattern(1 << 14, 9), [0, 0]);
        assert!(pool.read(0, 1 << 16) == expected, "{size:?}: a region outside");
        assert!(navin_abi::fault::count() > faults);
    }
}

#[test]
fn b433_image_strides_of_an_array() {
    let _alone = alone();
    let guest = Guest::new();
    let pool = guest.pool(Memory::Navin, 1 << 18, CACHED);
    let builder = guest.builder(NVNformat::R8, 48, 20, 1);
    // SAFETY: a live builder.
    unsafe {
        nvnTextureBuilderSetTarget(builder, NVNtextureTarget::TARGET_2D_ARRAY);
        nvnTextureBuilderSetDepth(builder, 3);
    }
    let texture = guest.make(builder, &pool, 0);
    let (row, image) = (64, 64 * 12);
    let source = pattern(image * 2, 4);
    let part = region([8, 4, 1], [30, 10, 2]);
    write(texture, &part, &source, [row as isize, image as isize]);
    let mut tight = Vec::new();
    for n in 0..2 {
        for y in 0..10 {
            tight.extend_from_slice(&source[n * image + y * row..][..30]);
        }
    }
    assert!(read(texture, &part, tight.len()) == tight);
    let mut strided = vec![0x55; image * 2];
    // SAFETY: a live texture and room for the region at these strides.
    unsafe {
        let to = strided.as_mut_ptr().cast();
        nvnTextureReadTexelsStrided(texture, null(), &part, to, row as isize, image as isize);
    }
    for n in 0..2 {
        for y in 0..10 {
            let at = n * image + y * row;
            assert!(strided[at..at + 30] == source[at..at + 30] && strided[at + 30..at + 64] == [0x55; 34], "{n}, {y}");
        }
    }
    assert_eq!(read(texture, &region([0; 3], [8, 4, 1]), 32), [0; 32], "beside it");
}
