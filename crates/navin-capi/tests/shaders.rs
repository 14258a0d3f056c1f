//! What programs find and leave: bounds of uniform blocks, atomics on colour textures, depth as programs see it.
//! Needs a Vulkan device, as `./x test` arranges.

mod guest;

#[path = "../../navin-shader/tests/common/assemble.rs"]
mod assemble;

use std::ptr::null;

use assemble::{compute, word};
use guest::*;
use navin_abi::enums::{NVNclearColorMask, NVNcopyFlags, NVNdepthFunc, NVNformat, NVNshaderStage};
use navin_abi::enums::{NVNdrawPrimitive, NVNshaderStageBits};
use navin_abi::types::*;
use navin_shader::isa::table::{Field, Form, Op};
use nvn::trampolines::*;

const COMPUTE: NVNshaderStage = NVNshaderStage::COMPUTE;
const TRIANGLES: NVNdrawPrimitive = NVNdrawPrimitive::TRIANGLES;

/// Copies a whole texture of `width` x `height` into memory: words.
fn words_of(guest: &mut Guest, texture: *mut NVNtexture, width: i32, height: i32, words: usize) -> Vec<u32> {
    let count = words * (width * height) as usize;
    let to = guest.take(4 * count);
    let to = guest.address(to);
    let all = NVNcopyRegion { xoffset: 0, yoffset: 0, zoffset: 0, width, height, depth: 1 };
    guest.run(|c| {
        // SAFETY: live objects; the texels fit.
        unsafe { nvnCommandBufferCopyTextureToBuffer(c, texture, null(), &all, to, NVNcopyFlags(0)) };
    });
    (0..count as u64).map(|n| guest.at(to + 4 * n)).collect()
}

/// A program that reads a word of uniform block 0 at the offset, and stores it at the address, that block 1 begins with.
fn reader() -> (Vec<u8>, Vec<u8>) {
    let constant =
        |register: u32, at: u32| word(Op::Mov, Form::C, &[(Field::Dst, register), (Field::Cbo4, at), (Field::Cbi, 4)]);
    let words = [
        constant(4, 0),
        constant(6, 2),
        constant(7, 3),
        word(Op::Ldc, Form::M, &[(Field::Dst, 5), (Field::A, 4), (Field::Cbi, 3), (Field::Size, 4)]),
        word(Op::Stg, Form::M, &[(Field::A, 6), (Field::E, 1), (Field::Data, 5), (Field::Size, 4)]),
        word(Op::Exit, Form::J, &[(Field::Cond, 15)]),
    ];
    let (control, code) = compute(&words);
    (code, control)
}

#[test]
fn b536_uniform_blocks_end_where_the_driver_rounds_them_up_to() {
    let mut guest = Guest::new();
    let program = guest.program_of(&[reader()]);
    let bytes: Vec<u8> = (0..512u32 / 4).flat_map(|n| (0xC0DE_0000 | n).to_le_bytes()).collect();
    let block = guest.bytes(&bytes);
    let parameters = guest.bytes(&[0; 256]);
    let result = guest.bytes(&[0xEE; 256]);
    let read = |size: usize, at: u32| {
        guest.put(parameters, at);
        guest.put(parameters + 8, result);
        guest.run(|c| {
            // SAFETY: live objects.
            unsafe {
                nvnCommandBufferBindProgram(c, program, NVNshaderStageBits::COMPUTE_BIT);
                nvnCommandBufferBindUniformBuffer(c, COMPUTE, 0, block, size);
                nvnCommandBufferBindUniformBuffer(c, COMPUTE, 1, parameters, 256);
                nvnCommandBufferDispatchCompute(c, 1, 1, 1);
            }
        });
        guest.at::<u32>(result)
    };
    for size in [200, 256] {
        assert_eq!(read(size, 0), 0xC0DE_0000, "{size} bytes");
        assert_eq!(read(size, 252), 0xC0DE_003F, "{size} bytes");
        assert_eq!(read(size, 256), 0, "{size} bytes");
    }
    assert_eq!(read(260, 256), 0xC0DE_0040);
    assert_eq!(read(260, 508), 0xC0DE_007F);
}

#[test]
fn b560_atomics_on_a_colour_texture_are_on_its_texels_words() {
    let mut guest = Guest::new();
    // AND, OR and XOR on 8 x 8 texels each: what the source in the corpus says.
    let program = guest.program(&["img_atomic_logic"]);
    let texture = guest.texture(NVNformat::RGBA8, 32, 32);
    let start = 0x8040_20FFu32;
    let hash = |x: u32, y: u32| x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(0x85EB_CA77);
    let all = NVNcopyRegion { xoffset: 0, yoffset: 0, zoffset: 0, width: 32, height: 32, depth: 1 };
    guest.run(|c| {
        // SAFETY: live objects.
        unsafe {
            let color = start.to_le_bytes().map(|b| f32::from(b) / 255.0);
            nvnCommandBufferClearTexture(c, texture, null(), &all, color.as_ptr(), NVNclearColorMask::RGBA);
            nvnTexturePoolRegisterImage(guest.texture_pool, 300, texture, null());
            nvnCommandBufferSetTexturePool(c, guest.texture_pool);
            nvnCommandBufferSetSamplerPool(c, guest.sampler_pool);
            nvnCommandBufferBindProgram(c, program, NVNshaderStageBits::COMPUTE_BIT);
            nvnCommandBufferBindImage(c, COMPUTE, 2, nvnDeviceGetImageHandle(guest.device, 300));
            nvnCommandBufferDispatchCompute(c, 8, 8, 1);
        }
    });
    let found = words_of(&mut guest, texture, 32, 32, 1);
    let mut expected = [[start; 32]; 32];
    for (x, y) in (0..64u32).flat_map(|x| (0..64u32).map(move |y| (x, y))) {
        let (column, row) = ((x & 7) as usize, (y & 7) as usize);
        expected[row][column] &= hash(x, y) | 0xFF00_00FF;
        expected[row + 8][column + 8] |= hash(x, y) & 0x00FF_FF00;
        expected[row + 16][column + 16] ^= hash(x, y);
    }
    let expected: Vec<u32> = expected.concat();
    assert_eq!(found, expected);
    // As colours they are the same bytes.
    let mut texel = [0u8; 4];
    let one = NVNcopyRegion { xoffset: 9, yoffset: 11, zoffset: 0, width: 1, height: 1, depth: 1 };
    // SAFETY: a live texture; the texel fits.
    unsafe { nvnTextureReadTexels(texture, null(), &one, texel.as_mut_ptr().cast()) };
    assert_eq!(u32::from_le_bytes(texel), expected[11 * 32 + 9]);
}

/// A program's own depth is the depth that the test stored, bit for bit, on a thousand planes.
#[test]
fn b554_fragments_see_the_depth_that_is_stored() {
    let mut guest = Guest::new();
    let program = guest.program(&["aux_vs_v0", "fs_frag_coord"]);
    let target = guest.texture(NVNformat::RGBA32F, SIDE, SIDE);
    let mut seed = 1u64;
    let mut random = || {
        seed = seed.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (seed >> 40) as f32 / (1 << 24) as f32
    };
    for round in 0..16 {
        // 64 planes, 8 x 8 pixels each, whose corners lie at any depth.
        let planes: Vec<Vertex> = (0..64)
            .flat_map(|n| {
                let mut corners = rectangle(8 * (n % 8), 8 * (n / 8), 8, 8, 0.0, WHITE);
                let (left, right, up) = (random(), random(), random());
                for (vertex, (x, y)) in corners.iter_mut().zip([(0, 0), (1, 0), (1, 1), (0, 0), (1, 1), (0, 1)]) {
                    // NVN's default is a depth of -1 to 1.
                    let z = left + (right - left) * x as f32 / 2.0 + (up - left) * y as f32 / 2.0;
                    vertex[0][2] = 2.0 * z - 1.0;
                }
                corners
            })
            .collect();
        let vertices = guest.vertices(&planes);
        guest.run(|c| {
            guest.begin(c, program);
            guest.depth_test(c, NVNdepthFunc::ALWAYS);
            // SAFETY: live objects.
            unsafe {
                nvnCommandBufferSetRenderTargets(c, 1, &target.cast_const(), null(), guest.depth, null());
                nvnCommandBufferBindVertexBuffer(c, 0, vertices, planes.len() * STRIDE as usize);
                nvnCommandBufferDrawArrays(c, TRIANGLES, 0, planes.len() as i32);
            }
        });
        let (depth, seen) = (guest.depth, target);
        let stored = words_of(&mut guest, depth, SIDE, SIDE, 1);
        let seen = words_of(&mut guest, seen, SIDE, SIDE, 4);
        for (n, stored) in stored.iter().enumerate() {
            let own = seen[4 * n + 2];
            assert_eq!(own, *stored, "round {round}, pixel {n}: {} {}", f32::from_bits(own), f32::from_bits(*stored));
        }
        assert!(stored.iter().any(|d| *d != 1.0f32.to_bits()));
    }
}

/// A program that fetches a texel of bound texture 0 at the coordinates that block 1 begins with, and stores its first
/// component at the address behind them.
fn fetcher() -> (Vec<u8>, Vec<u8>) {
    let constant =
        |register: u32, at: u32| word(Op::Mov, Form::C, &[(Field::Dst, register), (Field::Cbo4, at), (Field::Cbi, 3)]);
    let fetch = [(Field::Dst, 8), (Field::A, 4), (Field::B, 255), (Field::Dim, 2), (Field::Mask, 1), (Field::Tid13, 8)];
    let words = [
        constant(4, 0),
        constant(5, 1),
        constant(6, 2),
        constant(7, 3),
        word(Op::Tld, Form::T, &fetch),
        word(Op::Stg, Form::M, &[(Field::A, 6), (Field::E, 1), (Field::Data, 8), (Field::Size, 4)]),
        word(Op::Exit, Form::J, &[(Field::Cond, 15)]),
    ];
    let (control, code) = compute(&words);
    (code, control)
}

/// No public description says what the guest's GPU gives there: Navin clamps nothing, and robust access gives zeros.
#[test]
fn b537_fetches_past_the_edge_are_zero() {
    let mut guest = Guest::new();
    let program = guest.program_of(&[fetcher()]);
    let texture = guest.texture(NVNformat::R32F, 4, 4);
    let texels: Vec<f32> = (1..=16).map(|n| n as f32).collect();
    let all = NVNcopyRegion { xoffset: 0, yoffset: 0, zoffset: 0, width: 4, height: 4, depth: 1 };
    let sampler = object();
    // SAFETY: zeroed storage of sufficient size, and live objects.
    unsafe {
        nvnTextureWriteTexels(texture, null(), &all, texels.as_ptr().cast());
        nvnTexturePoolRegisterTexture(guest.texture_pool, 300, texture, null());
        let builder = object();
        nvnSamplerBuilderSetDefaults(builder);
        nvnSamplerBuilderSetDevice(builder, guest.device);
        assert_eq!(nvnSamplerInitialize(sampler, builder), NVN_TRUE);
        nvnSamplerPoolRegisterSampler(guest.sampler_pool, 300, sampler);
    }
    let parameters = guest.bytes(&[0; 256]);
    let result = guest.bytes(&[0xEE; 256]);
    let fetch = |x: i32, y: i32| {
        guest.put(parameters, [x, y]);
        guest.put(parameters + 8, result);
        guest.run(|c| {
            // SAFETY: live objects.
            unsafe {
                nvnCommandBufferSetTexturePool(c, guest.texture_pool);
                nvnCommandBufferSetSamplerPool(c, guest.sampler_pool);
                nvnCommandBufferBindProgram(c, program, NVNshaderStageBits::COMPUTE_BIT);
                nvnCommandBufferBindTexture(c, COMPUTE, 0, nvnDeviceGetTextureHandle(guest.device, 300, 300));
                nvnCommandBufferBindUniformBuffer(c, COMPUTE, 0, parameters, 256);
                nvnCommandBufferDispatchCompute(c, 1, 1, 1);
            }
        });
        guest.at::<f32>(result)
    };
    for (x, y) in [(0, 0), (3, 0), (0, 3), (3, 3), (2, 1)] {
        assert_eq!(fetch(x, y), (1 + x + 4 * y) as f32, "({x}, {y})");
    }
    for (x, y) in [(-1, 0), (4, 0), (0, 4), (4, 4), (0, -1)] {
        assert_eq!(fetch(x, y), 0.0, "({x}, {y})");
    }
}
