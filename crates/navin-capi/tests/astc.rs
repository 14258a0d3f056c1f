//! ASTC textures, drawn: decoded by the CPU where the device has no ASTC. Needs a Vulkan device, as `./x test` arranges.

mod guest;

use std::ptr::null;

use guest::*;
use navin_abi::enums::{NVNcopyFlags, NVNformat, NVNmagFilter, NVNminFilter};
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
