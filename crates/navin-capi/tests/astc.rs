//! ASTC textures, drawn: decoded by the CPU where the device has no ASTC. Needs a Vulkan device, as `./x test` arranges.

mod guest;

use std::ptr::null;

use guest::*;
use navin_abi::enums::{NVNcopyFlags, NVNformat, NVNmagFilter, NVNmemoryPoolFlags, NVNminFilter};
use navin_abi::types::*;
use nvn::trampolines::*;

/// A block of one colour (a "void extent" block of the ASTC specification).
fn block(color: [u8; 4]) -> [u8; 16] {
    let wide = color.map(|byte| u16::from(byte) * 0x101);
    let mut bytes = [0xFF; 16];
    bytes[..2].copy_from_slice(&[0xFC, 0xFD]);
    for (to, component) in bytes[8..].chunks_exact_mut(2).zip(wide) {
        to.copy_from_slice(&component.to_le_bytes());
    }
    bytes
}

fn region(x: i32, y: i32, width: i32, height: i32) -> NVNcopyRegion {
    NVNcopyRegion { xoffset: x, yoffset: y, zoffset: 0, width, height, depth: 1 }
}

#[test]
fn astc_textures_show_their_blocks_and_what_is_written_into_them() {
    let mut guest = Guest::new();
    let program = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
    for (id, format) in [(300, NVNformat::RGBA_ASTC_6x6), (302, NVNformat::RGBA_ASTC_6x6_SRGB)] {
        // Values that an sRGB curve leaves alone.
        let colors = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 0, 255]];
        let texture = guest.texture(format, 12, 12);
        let blocks: Vec<u8> = colors.into_iter().flat_map(block).collect();
        // SAFETY: live objects; the blocks are those of the region.
        let handle = unsafe {
            nvnTextureWriteTexels(texture, null(), &region(0, 0, 12, 12), blocks.as_ptr().cast());
            let (builder, sampler) = (object(), object());
            nvnSamplerBuilderSetDefaults(builder);
            nvnSamplerBuilderSetDevice(builder, guest.device);
            nvnSamplerBuilderSetMinMagFilter(builder, NVNminFilter::NEAREST, NVNmagFilter::NEAREST);
            assert_eq!(nvnSamplerInitialize(sampler, builder), NVN_TRUE);
            nvnTexturePoolRegisterTexture(guest.texture_pool, id, texture, null());
            nvnSamplerPoolRegisterSampler(guest.sampler_pool, id + 1, sampler);
            nvnDeviceGetTextureHandle(guest.device, id, id + 1)
        };
        let (to, from) = ([3.0f32, 5.0, 12.0, 12.0], [0.0f32, 0.0, 12.0, 12.0]);
        let draw = |guest: &Guest| {
            guest.run(|c| {
                guest.begin(c, program);
                let (to, from): (*const [f32; 4], *const [f32; 4]) = (&raw const to, &raw const from);
                // SAFETY: live objects.
                unsafe { nvnCommandBufferDrawTexture(c, handle, to.cast(), from.cast()) };
            });
            let pixels = guest.pixels();
            [(3, 5), (14, 5), (3, 16), (14, 16), (8, 10), (9, 11)].map(|(x, y)| pixels[(y * SIDE + x) as usize])
        };
        let [a, b, c, d] = colors;
        assert_eq!(draw(&guest), [a, b, c, d, a, d], "{format:?}");
        let white = block([255; 4]);
        // SAFETY: a live texture and one block.
        unsafe { nvnTextureWriteTexels(texture, null(), &region(6, 0, 6, 6), white.as_ptr().cast()) };
        assert_eq!(draw(&guest), [a, [255; 4], c, d, a, d], "{format:?}, one block written");
        let mut read = [0u8; 16];
        // SAFETY: a live texture and room for a block.
        unsafe { nvnTextureReadTexels(texture, null(), &region(0, 6, 6, 6), read.as_mut_ptr().cast()) };
        assert_eq!(read, block(c), "{format:?}: blocks are read as they were written");
        // A block that a command copies out of a buffer.
        let buffer = guest.bytes(&block([0, 255, 255, 255]));
        // SAFETY: live objects.
        guest.run(|c| unsafe {
            let part = region(0, 6, 6, 6);
            nvnCommandBufferCopyBufferToTexture(c, buffer, texture, null(), &part, NVNcopyFlags(0));
        });
        assert_eq!(draw(&guest)[2], [0, 255, 255, 255], "{format:?}, a block copied");
    }
}

/// A device that lacks ASTC has texels in the image; what commands copy out is the guest's blocks all the same: those
/// that were there, those that the CPU wrote, those that other copies brought, in pools of both kinds.
#[test]
fn copies_out_of_decoded_textures_give_their_blocks() {
    let mut guest = Guest::new();
    let colors = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 0, 255]];
    let [red, green, blue, yellow] = colors.map(block);
    let no_flags = NVNcopyFlags(0);
    // SAFETY: live storage of the size that the texture says.
    let gpu_only = unsafe {
        let pool_flags = NVNmemoryPoolFlags::CPU_NO_ACCESS | NVNmemoryPoolFlags::GPU_CACHED;
        let (pool, _) = memory_pool(guest.device, 1 << 20, pool_flags);
        let (builder, texture) = (object(), object());
        nvnTextureBuilderSetDefaults(builder);
        nvnTextureBuilderSetDevice(builder, guest.device);
        nvnTextureBuilderSetFormat(builder, NVNformat::RGBA_ASTC_6x6);
        nvnTextureBuilderSetSize2D(builder, 12, 12);
        nvnTextureBuilderSetStorage(builder, pool, 0);
        assert_eq!(nvnTextureInitialize(texture, builder), NVN_TRUE);
        texture
    };
    let cpu = guest.texture(NVNformat::RGBA_ASTC_6x6, 12, 12);
    let other = guest.texture(NVNformat::RGBA_ASTC_6x6, 12, 12);
    let squares = guest.texture(NVNformat::RGBA_ASTC_4x4, 8, 8);
    let words = guest.texture(NVNformat::RGBA32UI, 2, 2);
    let blocks = [red, green, blue, yellow].concat();
    let (all, in_squares, in_words) = (region(0, 0, 12, 12), region(0, 0, 8, 8), region(0, 0, 2, 2));
    let out = guest.take(4096);
    let read = |guest: &Guest, texture: *mut NVNtexture, part: &NVNcopyRegion, bytes: usize| {
        // SAFETY: live objects, room for the blocks.
        unsafe {
            guest.memory.add(out).write_bytes(0xEE, 256);
            guest.run(|c| {
                nvnCommandBufferCopyTextureToBuffer(c, texture, null(), part, guest.address(out), no_flags);
            });
            std::slice::from_raw_parts(guest.memory.add(out), bytes).to_vec()
        }
    };
    // SAFETY: live objects.
    unsafe { nvnTextureWriteTexels(cpu, null(), &all, blocks.as_ptr().cast()) };
    assert_eq!(read(&guest, cpu, &all, 64), blocks, "what the CPU wrote");
    assert_eq!(read(&guest, cpu, &region(6, 6, 6, 6), 17), [&yellow[..], &[0xEE]].concat(), "one block and no more");
    let buffer = guest.bytes(&[yellow, blue, green, red].concat());
    for texture in [cpu, gpu_only] {
        // SAFETY: live objects.
        guest.run(|c| unsafe { nvnCommandBufferCopyBufferToTexture(c, buffer, texture, null(), &all, no_flags) });
        assert_eq!(read(&guest, texture, &all, 64), [yellow, blue, green, red].concat(), "what a buffer brought");
        // SAFETY: live objects.
        guest.run(|c| unsafe {
            let (from, to) = (region(0, 0, 12, 6), region(0, 6, 12, 6));
            nvnCommandBufferCopyTextureToTexture(c, texture, null(), &from, texture, null(), &to, no_flags);
            nvnCommandBufferCopyTextureToTexture(c, texture, null(), &all, other, null(), &all, no_flags);
            nvnCommandBufferCopyTextureToTexture(c, texture, null(), &all, squares, null(), &in_squares, no_flags);
            nvnCommandBufferCopyTextureToTexture(c, texture, null(), &all, words, null(), &in_words, no_flags);
        });
        let twice = [yellow, blue, yellow, blue].concat();
        assert_eq!(read(&guest, other, &all, 64), twice, "from a texture of the format");
        assert_eq!(read(&guest, squares, &in_squares, 64), twice, "from one of another block size");
        assert_eq!(read(&guest, words, &in_words, 64), twice, "blocks are the texels of a format as wide");
    }
    // Back again, from texels that the CPU wrote.
    let numbers = guest.texture(NVNformat::RGBA32UI, 2, 2);
    // SAFETY: live objects.
    unsafe {
        nvnTextureWriteTexels(numbers, null(), &in_words, blocks.as_ptr().cast());
        guest.run(|c| {
            nvnCommandBufferCopyTextureToTexture(c, numbers, null(), &in_words, gpu_only, null(), &all, no_flags);
        });
    }
    assert_eq!(read(&guest, gpu_only, &all, 64), blocks, "texels as wide become blocks");
    // Rows apart.
    // SAFETY: live objects.
    let apart = unsafe {
        guest.memory.add(out).write_bytes(0xEE, 256);
        guest.run(|c| {
            nvnCommandBufferSetCopyRowStride(c, 40);
            nvnCommandBufferCopyTextureToBuffer(c, cpu, null(), &all, guest.address(out), no_flags);
            nvnCommandBufferSetCopyRowStride(c, 0);
        });
        std::slice::from_raw_parts(guest.memory.add(out), 80).to_vec()
    };
    assert_eq!(apart, [&yellow[..], &blue, &[0xEE; 8], &yellow, &blue, &[0xEE; 8]].concat(), "rows apart");
    let mut texels = [0u8; 64];
    // SAFETY: a live texture and room for its blocks.
    unsafe { nvnTextureReadTexels(cpu, null(), &all, texels.as_mut_ptr().cast()) };
    assert_eq!(texels[..], [yellow, blue, yellow, blue].concat(), "the CPU reads what copies brought");
}
