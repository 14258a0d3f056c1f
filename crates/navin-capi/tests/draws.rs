//! Draws that Vulkan has no form for: alpha test, point size, quads and loops by indirect arguments, textures drawn
//! directly, advanced blending, and numbers that cannot be meant. Needs a Vulkan device, as `./x test` arranges.

mod guest;

use std::ptr::null;

use guest::*;
use navin_abi::enums::{
    NVNalphaFunc, NVNblendAdvancedMode, NVNblendFunc, NVNcounterType, NVNformat, NVNindexType, NVNmagFilter,
    NVNminFilter,
};
use navin_abi::types::*;
use nvn::trampolines::*;

const TRIANGLES: NVNdrawPrimitive = NVNdrawPrimitive::TRIANGLES;

fn at(pixels: &[[u8; 4]], x: i32, y: i32) -> [u8; 4] {
    pixels[(y * SIDE + x) as usize]
}

/// Binds a colour state; `f` changes it from the defaults.
fn color_state(c: *mut NVNcommandBuffer, f: impl FnOnce(*mut NVNcolorState)) {
    let state = object();
    // SAFETY: zeroed storage of sufficient size.
    unsafe {
        nvnColorStateSetDefaults(state);
        f(state);
        nvnCommandBufferBindColorState(c, state);
    }
}

#[test]
fn alpha_test_keeps_what_passes_by_every_function() {
    let mut guest = Guest::new();
    let program = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
    // A column for each alpha.
    let columns: Vec<Vertex> =
        (0..SIDE).flat_map(|x| rectangle(x, 0, 1, SIDE, 0.0, [1.0, 1.0, 1.0, x as f32 / 64.0])).collect();
    let vertices = guest.vertices(&columns);
    let report = guest.bytes(&[0; 16]);
    use NVNalphaFunc as F;
    let functions = [F::NEVER, F::LESS, F::EQUAL, F::LEQUAL, F::GREATER, F::NOTEQUAL, F::GEQUAL, F::ALWAYS];
    for (function, reference) in functions.into_iter().flat_map(|f| [(f, 0.25f32), (f, 0.5)]) {
        guest.run(|c| {
            guest.begin(c, program);
            // SAFETY: live objects.
            unsafe {
                color_state(c, |state| nvnColorStateSetAlphaTest(state, function));
                nvnCommandBufferSetAlphaRef(c, reference);
                nvnCommandBufferBindVertexBuffer(c, 0, vertices, columns.len() * STRIDE as usize);
                nvnCommandBufferResetCounter(c, NVNcounterType::SAMPLES_PASSED);
                nvnCommandBufferDrawArrays(c, TRIANGLES, 0, columns.len() as i32);
                nvnCommandBufferReportCounter(c, NVNcounterType::SAMPLES_PASSED, report);
            }
        });
        let pixels = guest.pixels();
        let passes = |alpha: f32| match function {
            F::NEVER => false,
            F::LESS => alpha < reference,
            F::EQUAL => alpha == reference,
            F::LEQUAL => alpha <= reference,
            F::GREATER => alpha > reference,
            F::NOTEQUAL => alpha != reference,
            F::GEQUAL => alpha >= reference,
            _ => true,
        };
        let mut passed = 0;
        for x in 0..SIDE {
            let expected = passes(x as f32 / 64.0);
            passed += u64::from(expected);
            assert_eq!(at(&pixels, x, 7)[0] != 0, expected, "{function:?} {reference}, column {x}");
        }
        assert_eq!(guest.report(report).counter, passed * SIDE as u64, "{function:?} {reference}");
    }
}

#[test]
fn points_have_the_size_that_is_set_unless_the_program_writes_one() {
    let mut guest = Guest::new();
    let plain = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
    let own = guest.program(&["vs_point_size", "aux_fs_f1"]);
    let clip = |pixel: f32| 2.0 * pixel / SIDE as f32 - 1.0;
    // On a pixel's centre; the program that writes a size takes 1 + 7 x.
    let point: Vertex = [[clip(20.5), clip(30.5), 0.0, 1.0], [0.3, 1.0, 1.0, 1.0]];
    let vertices = guest.vertices(&[point]);
    for (program, set, expected) in [(plain, 1.0, 1), (plain, 5.0, 5), (plain, 9.0, 9), (own, 9.0, 3), (plain, 1.0, 1)]
    {
        guest.run(|c| {
            guest.begin(c, program);
            // SAFETY: live objects.
            unsafe {
                nvnCommandBufferSetPointSize(c, set);
                nvnCommandBufferBindVertexBuffer(c, 0, vertices, STRIDE as usize);
                nvnCommandBufferDrawArrays(c, NVNdrawPrimitive::POINTS, 0, 1);
                nvnCommandBufferSetPointSize(c, 1.0);
            }
        });
        let pixels = guest.pixels();
        let reach = expected / 2;
        for (x, y) in (0..SIDE).flat_map(|x| (0..SIDE).map(move |y| (x, y))) {
            let inside = (x - 20).abs() <= reach && (y - 30).abs() <= reach;
            assert_eq!(at(&pixels, x, y)[3] != 0, inside, "({x}, {y}) of a point of {expected}");
        }
    }
}

#[test]
fn quads_and_loops_by_indirect_arguments() {
    let mut guest = Guest::new();
    let program = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
    let clip = |pixel: f32| 2.0 * pixel / SIDE as f32 - 1.0;
    let vertex = |x: f32, y: f32| -> Vertex { [[clip(x), clip(y), 0.0, 1.0], WHITE] };
    let corners = |x: f32, y: f32| [vertex(x, y), vertex(x + 8.0, y), vertex(x + 8.0, y + 8.0), vertex(x, y + 8.0)];
    let quads: Vec<Vertex> = [corners(0.0, 0.0), corners(16.0, 0.0), corners(32.0, 0.0)].concat();
    // A loop through pixel centres.
    let line = [vertex(4.5, 40.5), vertex(20.5, 40.5), vertex(20.5, 56.5), vertex(4.5, 56.5)];
    let vertices = guest.vertices(&[quads, line.to_vec()].concat());
    let size = 16 * STRIDE as usize;
    let arguments = guest.bytes(&[0; 256]);
    let indices: Vec<u8> = (0..16u16).flat_map(u16::to_le_bytes).collect();
    let index_buffer = guest.bytes(&indices);
    let pixels_of = |record: &dyn Fn(*mut NVNcommandBuffer)| {
        guest.run(|c| {
            guest.begin(c, program);
            // SAFETY: live objects.
            unsafe { nvnCommandBufferBindVertexBuffer(c, 0, vertices, size) };
            record(c);
        });
        guest.pixels()
    };
    let lit = |pixels: &[[u8; 4]]| [4, 20, 36].map(|x| at(pixels, x, 4) == [255; 4]);

    // Arguments that the GPU writes, in the same submission: two quads, from vertex 4 on.
    let pixels = pixels_of(&|c| {
        // SAFETY: live objects.
        unsafe {
            for (n, word) in [8u32, 1, 4, 0].into_iter().enumerate() {
                nvnCommandBufferReportValue(c, word, arguments + 4 * n as u64);
            }
            nvnCommandBufferDrawArraysIndirect(c, NVNdrawPrimitive::QUADS, arguments);
        }
    });
    assert_eq!(lit(&pixels), [false, true, true]);
    assert_eq!(at(&pixels, 12, 4), [0; 4], "between the quads");

    // Indexed: the first quad, by first index 4 and base vertex -4.
    guest.put(arguments, [4u32, 1, 4, -4i32 as u32, 0]);
    let pixels = pixels_of(&|c| {
        // SAFETY: live objects.
        unsafe {
            let kind = NVNindexType::UNSIGNED_SHORT;
            nvnCommandBufferDrawElementsIndirect(c, NVNdrawPrimitive::QUADS, kind, index_buffer, arguments);
        }
    });
    assert_eq!(lit(&pixels), [true, false, false]);

    // As many draws as a word says: two of three.
    for (n, first) in [8u32, 0, 4].into_iter().enumerate() {
        guest.put(arguments + 32 + 16 * n as u64, [4u32, 1, first, 0]);
    }
    guest.put(arguments, 2u32);
    let pixels = pixels_of(&|c| {
        // SAFETY: live objects.
        unsafe {
            let (mode, from) = (NVNdrawPrimitive::QUADS, arguments + 32);
            nvnCommandBufferMultiDrawArraysIndirectCount(c, mode, from, arguments, 3, 16);
        }
    });
    assert_eq!(lit(&pixels), [true, false, true]);

    // A loop: its last line leads back.
    guest.put(arguments, [4u32, 1, 12, 0]);
    let pixels = pixels_of(&|c| {
        // SAFETY: live objects.
        unsafe { nvnCommandBufferDrawArraysIndirect(c, NVNdrawPrimitive::LINE_LOOP, arguments) };
    });
    for (x, y) in [(12, 40), (20, 48), (12, 56), (4, 48)] {
        assert_eq!(at(&pixels, x, y), [255; 4], "({x}, {y})");
    }
    assert_eq!(at(&pixels, 12, 48), [0; 4], "inside");

    // A strip restarted at index 5 and not at all ones: two triangles apart, indirectly.
    let strip: Vec<u8> = [0u16, 1, 2, 5, 8, 9, 10].into_iter().flat_map(u16::to_le_bytes).collect();
    // SAFETY: inside the pool.
    strip.iter().enumerate().for_each(|(n, byte)| guest.put(index_buffer + n as u64, *byte));
    guest.put(arguments, [7u32, 1, 0, 0, 0]);
    let pixels = pixels_of(&|c| {
        // SAFETY: live objects.
        unsafe {
            nvnCommandBufferSetPrimitiveRestart(c, NVN_TRUE, 5);
            let (mode, kind) = (NVNdrawPrimitive::TRIANGLE_STRIP, NVNindexType::UNSIGNED_SHORT);
            nvnCommandBufferDrawElementsIndirect(c, mode, kind, index_buffer, arguments);
            nvnCommandBufferSetPrimitiveRestart(c, NVN_FALSE, 0);
        }
    });
    // The lower right halves of the first and the third square.
    assert_eq!([at(&pixels, 6, 1)[0], at(&pixels, 38, 1)[0], at(&pixels, 20, 4)[0]], [255, 255, 0]);
}

#[test]
fn draw_texture_puts_texels_where_they_belong() {
    let mut guest = Guest::new();
    let program = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
    let texture = guest.texture(NVNformat::RGBA8, 16, 16);
    let texel = |x: usize, y: usize| [16 * x as u8, 16 * y as u8, 100, 128];
    let mut texels = Vec::new();
    (0..16).for_each(|y| (0..16).for_each(|x| texels.push(texel(x, y))));
    let small = guest.vertices(&rectangle(0, 40, 10, 8, 0.0, WHITE));
    // SAFETY: live objects; the region's texels are there.
    let handle = unsafe {
        let all = NVNcopyRegion { xoffset: 0, yoffset: 0, zoffset: 0, width: 16, height: 16, depth: 1 };
        nvnTextureWriteTexels(texture, null(), &all, texels.as_ptr().cast());
        let (builder, sampler) = (object(), object());
        nvnSamplerBuilderSetDefaults(builder);
        nvnSamplerBuilderSetDevice(builder, guest.device);
        nvnSamplerBuilderSetMinMagFilter(builder, NVNminFilter::NEAREST, NVNmagFilter::NEAREST);
        assert_eq!(nvnSamplerInitialize(sampler, builder), NVN_TRUE);
        nvnTexturePoolRegisterTexture(guest.texture_pool, 300, texture, null());
        nvnSamplerPoolRegisterSampler(guest.sampler_pool, 301, sampler);
        nvnDeviceGetTextureHandle(guest.device, 300, 301)
    };
    let regions: [[f32; 4]; 6] = [
        // As it is, at (3, 5).
        [3.0, 5.0, 16.0, 16.0],
        [0.0, 0.0, 16.0, 16.0],
        // Four texels twice as large.
        [40.0, 10.0, 4.0, 4.0],
        [6.0, 8.0, 2.0, 2.0],
        // Cut by the scissor.
        [60.0, 60.0, 16.0, 16.0],
        [0.0, 0.0, 16.0, 16.0],
    ];
    guest.run(|c| {
        guest.begin(c, program);
        // SAFETY: live objects.
        unsafe {
            for pair in regions.chunks(2) {
                let (to, from): (*const [f32; 4], *const [f32; 4]) = (&raw const pair[0], &raw const pair[1]);
                nvnCommandBufferDrawTexture(c, handle, to.cast(), from.cast());
            }
            // The bound program is as it was.
            nvnCommandBufferBindVertexBuffer(c, 0, small, 6 * STRIDE as usize);
            nvnCommandBufferDrawArrays(c, TRIANGLES, 0, 6);
        }
    });
    let pixels = guest.pixels();
    for (x, y) in (0..16).flat_map(|x| (0..16).map(move |y| (x, y))) {
        assert_eq!(at(&pixels, 3 + x, 5 + y), texel(x as usize, y as usize), "({x}, {y})");
    }
    for (x, y) in (0..4).flat_map(|x| (0..4).map(move |y| (x, y))) {
        assert_eq!(at(&pixels, 40 + x, 10 + y), texel(6 + x as usize / 2, 8 + y as usize / 2), "({x}, {y})");
    }
    assert_eq!(at(&pixels, 63, 63), texel(3, 3));
    assert_eq!(at(&pixels, 2, 5), [0; 4]);
    assert_eq!(at(&pixels, 5, 44), [255; 4], "a draw after it");
}

#[test]
fn advanced_blending_by_its_formulas() {
    let mut guest = Guest::new();
    let program = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
    // Premultiplied.
    let (src, dst) = ([0.4f32, 0.1, 0.3, 0.5], [0.2f32, 0.6, 0.5, 0.8]);
    let under = guest.vertices(&rectangle(0, 0, SIDE, SIDE, 0.0, dst));
    let over = guest.vertices(&rectangle(0, 0, SIDE, SIDE, 0.0, src));
    let blend = |mode: NVNblendAdvancedMode| {
        guest.run(|c| {
            guest.begin(c, program);
            // SAFETY: live objects.
            unsafe {
                nvnCommandBufferBindVertexBuffer(c, 0, under, 6 * STRIDE as usize);
                nvnCommandBufferDrawArrays(c, TRIANGLES, 0, 6);
                let state = object();
                nvnBlendStateSetDefaults(state);
                nvnBlendStateSetAdvancedMode(state, mode);
                nvnCommandBufferBindBlendState(c, state);
                color_state(c, |state| nvnColorStateSetBlendEnable(state, 0, NVN_TRUE));
                nvnCommandBufferBindVertexBuffer(c, 0, over, 6 * STRIDE as usize);
                nvnCommandBufferDrawArrays(c, TRIANGLES, 0, 6);
                color_state(c, |_| ());
            }
        });
        guest.pixels()[0].map(|byte| f32::from(byte) / 255.0)
    };
    let (sa, da) = (src[3], dst[3]);
    // What each mode makes of one premultiplied component, alpha's own included.
    let simple = |fs: f32, fd: f32| [0, 1, 2, 3].map(|n: usize| (src[n] * fs + dst[n] * fd).min(1.0));
    // X, Y, Z of the equation and f of the straight colours.
    let with = |f: fn(f32, f32) -> f32| {
        let color = |n: usize| {
            let (s, d) = (src[n] / sa, dst[n] / da);
            f(s, d) * sa * da + s * sa * (1.0 - da) + d * da * (1.0 - sa)
        };
        [color(0), color(1), color(2), sa + da - sa * da]
    };
    use NVNblendAdvancedMode as M;
    let everywhere = [
        (M::ZERO, simple(0.0, 0.0)),
        (M::SRC, simple(1.0, 0.0)),
        (M::DST, simple(0.0, 1.0)),
        (M::SRC_OVER, simple(1.0, 1.0 - sa)),
        (M::DST_OVER, simple(1.0 - da, 1.0)),
        (M::SRC_IN, simple(da, 0.0)),
        (M::DST_IN, simple(0.0, sa)),
        (M::SRC_OUT, simple(1.0 - da, 0.0)),
        (M::DST_OUT, simple(0.0, 1.0 - sa)),
        (M::SRC_ATOP, simple(da, 1.0 - sa)),
        (M::DST_ATOP, simple(1.0 - da, sa)),
        (M::XOR, simple(1.0 - da, 1.0 - sa)),
        (M::PLUS, simple(1.0, 1.0)),
        (M::SCREEN, with(|s, d| s + d - s * d)),
    ];
    let near = |a: [f32; 4], b: [f32; 4]| a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 0.012);
    for (mode, expected) in everywhere {
        let found = blend(mode);
        assert!(near(found, expected), "{mode:?}: {found:?}, not {expected:?}");
    }
    // These take an extension: a device without it is known by the plain equation that it draws with.
    type Formula = fn(f32, f32) -> f32;
    let by_extension: [(M, Formula); 7] = [
        (M::MULTIPLY, |s, d| s * d),
        (M::DARKEN, f32::min),
        (M::LIGHTEN, f32::max),
        (M::DIFFERENCE, |s, d| (s - d).abs()),
        (M::EXCLUSION, |s, d| s + d - 2.0 * s * d),
        (M::OVERLAY, |s, d| if d <= 0.5 { 2.0 * s * d } else { 1.0 - 2.0 * (1.0 - s) * (1.0 - d) }),
        (M::HARDLIGHT, |s, d| if s <= 0.5 { 2.0 * s * d } else { 1.0 - 2.0 * (1.0 - s) * (1.0 - d) }),
    ];
    if near(blend(M::MULTIPLY), simple(1.0, 0.0)) {
        eprintln!("SKIPPED: modes that need VK_EXT_blend_operation_advanced");
        return;
    }
    for (mode, f) in by_extension {
        let (found, expected) = (blend(mode), with(f));
        assert!(near(found, expected), "{mode:?}: {found:?}, not {expected:?}");
    }
}

/// Numbers as an overwritten record has them: the draw is left out, the next one is drawn.
#[test]
fn b225_garbage_counts_do_not_hang_the_device() {
    let mut guest = Guest::new();
    let program = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
    let compute = guest.program(&["cs_local_1"]);
    let vertices = guest.vertices(&rectangle(4, 4, 10, 8, 0.0, WHITE));
    let report = guest.bytes(&[0; 16]);
    let end = guest.address(0) + (16 << 20);
    let index_buffer = end - 12;
    // SAFETY: inside the pool.
    (0..6u16).for_each(|n| guest.put(index_buffer + 2 * u64::from(n), n));
    guest.run(|c| {
        guest.begin(c, program);
        // SAFETY: live objects.
        unsafe {
            nvnCommandBufferBindVertexBuffer(c, 0, vertices, 6 * STRIDE as usize);
            for mode in [TRIANGLES, NVNdrawPrimitive::QUADS, NVNdrawPrimitive::POINTS] {
                nvnCommandBufferDrawArraysInstanced(c, mode, -1, i32::MAX, -1, i32::MAX);
                nvnCommandBufferDrawArrays(c, mode, 0, i32::MAX);
                let (short, first) = (NVNindexType::UNSIGNED_SHORT, index_buffer);
                nvnCommandBufferDrawElementsInstanced(c, mode, short, i32::MAX, first, -1, -1, i32::MAX);
            }
            nvnCommandBufferBindProgram(c, compute, NVNshaderStageBits(0x20));
            nvnCommandBufferDispatchCompute(c, i32::MAX, i32::MAX, i32::MAX);
            nvnCommandBufferResetCounter(c, NVNcounterType::SAMPLES_PASSED);
            // More indices than the pool holds: those that are there.
            nvnCommandBufferDrawElements(c, TRIANGLES, NVNindexType::UNSIGNED_SHORT, 1 << 20, index_buffer);
            nvnCommandBufferReportCounter(c, NVNcounterType::SAMPLES_PASSED, report);
        }
    });
    assert_eq!(guest.report(report).counter, 80);
    assert_eq!(at(&guest.pixels(), 5, 5), [255; 4]);
}

#[test]
fn blending_takes_the_second_colour_of_a_program() {
    let mut guest = Guest::new();
    let plain = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
    let two = guest.program(&["aux_vs_std", "fs_dual_source"]);
    let (src, dst) = ([0.1f32, 0.2, 0.3, 0.4], [0.8f32, 0.6, 0.4, 0.2]);
    let under = guest.vertices(&rectangle(0, 0, SIDE, SIDE, 0.0, dst));
    let over = guest.vertices(&rectangle(0, 0, SIDE, SIDE, 0.0, src));
    // Position, and the colour for both vectors that the fragment program reads.
    let attributes: *mut NVNvertexAttribState = storage(16);
    for (n, offset) in [0, 16, 16].into_iter().enumerate() {
        // The states are four bytes each, one after the other.
        let attribute = attributes.cast::<u32>().wrapping_add(n).cast();
        // SAFETY: zeroed storage for three.
        unsafe {
            nvnVertexAttribStateSetDefaults(attribute);
            nvnVertexAttribStateSetFormat(attribute, NVNformat::RGBA32F, offset);
        }
    }
    for dual in [true, false, true] {
        guest.run(|c| {
            guest.begin(c, plain);
            // SAFETY: live objects.
            unsafe {
                nvnCommandBufferBindVertexBuffer(c, 0, under, 6 * STRIDE as usize);
                nvnCommandBufferDrawArrays(c, TRIANGLES, 0, 6);
                let state = object();
                nvnBlendStateSetDefaults(state);
                let second = if dual { NVNblendFunc::SRC1_COLOR } else { NVNblendFunc::ONE };
                nvnBlendStateSetBlendFunc(state, NVNblendFunc::ONE, second, NVNblendFunc::ONE, second);
                nvnCommandBufferBindBlendState(c, state);
                color_state(c, |state| nvnColorStateSetBlendEnable(state, 0, NVN_TRUE));
                nvnCommandBufferBindProgram(c, two, NVNshaderStageBits(0x1f));
                nvnCommandBufferBindVertexAttribState(c, 3, attributes);
                nvnCommandBufferBindVertexBuffer(c, 0, over, 6 * STRIDE as usize);
                nvnCommandBufferDrawArrays(c, TRIANGLES, 0, 6);
                color_state(c, |_| ());
            }
        });
        let found = guest.pixels()[0].map(|byte| f32::from(byte) / 255.0);
        let expected = [0, 1, 2, 3].map(|n| {
            let factor = if dual { src[n] * 0.5 + 0.25 } else { 1.0 };
            (src[n] + dst[n] * factor).min(1.0)
        });
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.012), "{dual}: {found:?}, not {expected:?}");
    }
}
