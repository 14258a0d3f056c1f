//! Recordings as guests make them, from the calls to what the GPU did: what stands in command memory at a submit, what
//! comes of memory callbacks that are wrong, and what is said about it. Needs a Vulkan device, as `./x test` arranges.

mod guest;
mod recorder;
mod this_program;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

use guest::*;
use navin_abi::enums::{
    NVNcommandBufferMemoryEvent as MemoryEvent, NVNcopyFlags, NVNcounterType, NVNeventSignalMode, NVNeventWaitMode,
    NVNformat, NVNmagFilter, NVNmemoryPoolFlags, NVNminFilter, NVNshaderStage, NVNsyncCondition, NVNsyncFlagBits,
    NVNsyncWaitResult, NVNwrapMode,
};
use navin_abi::types::*;
use nvn::trampolines::*;
use recorder::{Recorder, complete};

const TRIANGLES: NVNdrawPrimitive = NVNdrawPrimitive::TRIANGLES;
const FRAGMENT: NVNshaderStage = NVNshaderStage::FRAGMENT;
const COMPUTE: NVNshaderStage = NVNshaderStage::COMPUTE;

/// What `test` of this program says in a process of its own, where lines that are said once are not said yet; `None` in
/// that process.
fn said_alone(test: &str) -> Option<String> {
    (!this_program::is_child()).then(|| this_program::said_alone(test, &[("NAVIN_LOG", "info")]))
}

/// Lines that hold all of these.
fn lines(text: &str, holding: &[&str]) -> usize {
    text.lines().filter(|line| holding.iter().all(|part| line.contains(part))).count()
}

fn draw(c: *mut NVNcommandBuffer, vertices: u64) {
    // SAFETY: a live command buffer.
    unsafe {
        nvnCommandBufferBindVertexBuffer(c, 0, vertices, 6 * STRIDE as usize);
        nvnCommandBufferDrawArrays(c, TRIANGLES, 0, 6);
    }
}

// --- calls that are named once --------------------------------------------------------------------------------------

/// Two half floats of 60,000 blended by an addition, with this mode: the sum as the target holds it.
fn blended_sum(guest: &mut Guest, mode: i32) -> Vec<u16> {
    let program = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
    let target = guest.texture(NVNformat::RGBA16F, SIDE, SIDE);
    let vertices = guest.vertices(&rectangle(0, 0, SIDE, SIDE, 0.0, [60_000.0, 1.0, 0.0, 60_000.0]));
    let bytes = 8 * (SIDE * SIDE) as usize;
    let to = guest.take(bytes);
    let to = guest.address(to);
    guest.run(|c| {
        guest.begin(c, program);
        let (color, blend) = (object(), object());
        let all = NVNcopyRegion { xoffset: 0, yoffset: 0, zoffset: 0, width: SIDE, height: SIDE, depth: 1 };
        // SAFETY: zeroed storage of sufficient size, and live objects.
        unsafe {
            nvnColorStateSetDefaults(color);
            nvnColorStateSetBlendEnable(color, 0, NVN_TRUE);
            nvnCommandBufferBindColorState(c, color);
            nvnBlendStateSetDefaults(blend);
            let one = navin_abi::enums::NVNblendFunc::ONE;
            nvnBlendStateSetBlendFunc(blend, one, one, one, one);
            nvnCommandBufferBindBlendState(c, blend);
            nvnCommandBufferSetRenderTargets(c, 1, &target.cast_const(), null(), null(), null());
            let mask = navin_abi::enums::NVNclearColorMask::RGBA;
            nvnCommandBufferClearColor(c, 0, [0.0f32; 4].as_ptr(), mask);
            nvnCommandBufferSetFloatBlendClamp(c, mode);
            draw(c, vertices);
            draw(c, vertices);
            nvnCommandBufferCopyTextureToBuffer(c, target, null(), &all, to, NVNcopyFlags(0));
        }
    });
    (0..4 * (SIDE * SIDE) as u64).map(|half| guest.at(to + 2 * half)).collect()
}

#[test]
fn b218_a_blend_that_overflows_is_infinity_and_mode_1_is_named_once() {
    const TEST: &str = "b218_a_blend_that_overflows_is_infinity_and_mode_1_is_named_once";
    const LINE: &[&str] = &["nvnCommandBufferSetFloatBlendClamp"];
    let Some(text) = said_alone(TEST) else { return blend_beyond_half_floats() };
    let (silent, named) = text.split_once("mode 0 is done").expect("both parts");
    assert_eq!(lines(silent, LINE), 0, "{text}");
    assert_eq!(lines(named, LINE), 1, "{text}");
    assert_eq!(lines(named, &[LINE[0], "ERROR", "mode 1", "B218"]), 1, "what differs: {text}");
    assert_eq!(lines(&text, &["not implemented"]), 0, "{text}");
    // Mesa's CPU device rounds towards zero where it makes half floats, and NVIDIA's driver has its ROPs clamp: neither
    // gives an infinity.
    let finite = lines(&text, &["opened", "llvmpipe"]) + lines(&text, &["opened", "NVIDIA"]) > 0;
    let sum = if finite { "the sum is 7bff" } else { "the sum is 7c00" };
    assert_eq!(lines(&text, &[sum]), 1, "{text}");
    if finite {
        eprintln!("SKIPPED: infinity from a blend, which this device does not make");
    }
}

fn blend_beyond_half_floats() {
    let mut guest = Guest::new();
    let faults = navin_abi::fault::count();
    let silent = blended_sum(&mut guest, 0);
    assert_eq!(navin_abi::fault::count(), faults, "mode 0 is what Vulkan does");
    let [sum, two, zero, alpha] = silent[..4] else { panic!("no texel") };
    eprintln!("the sum is {sum:x}");
    assert_eq!([two, zero, alpha], [0x4000, 0, sum]);
    assert!(silent.chunks(4).all(|texel| texel == &silent[..4]));
    eprintln!("mode 0 is done");
    for mode in [1, 1, 1] {
        assert!(blended_sum(&mut guest, mode) == silent, "the draws are what they were");
    }
}

#[test]
fn b219_the_representative_test_is_logged_once_and_samples_pass_in_both_settings() {
    const TEST: &str = "b219_the_representative_test_is_logged_once_and_samples_pass_in_both_settings";
    let Some(text) = said_alone(TEST) else {
        let mut guest = Guest::new();
        let program = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
        let vertices = guest.vertices(&rectangle(4, 4, 10, 8, 0.0, WHITE));
        let reports = guest.bytes(&[0; 64]);
        let samples = NVNcounterType::SAMPLES_PASSED;
        for _ in 0..2 {
            guest.run(|c| {
                guest.begin(c, program);
                let mask = object();
                // SAFETY: zeroed storage of sufficient size, and live objects.
                unsafe {
                    // For visibility only: no colour, no depth.
                    nvnChannelMaskStateSetDefaults(mask);
                    nvnChannelMaskStateSetChannelMask(mask, 0, NVN_FALSE, NVN_FALSE, NVN_FALSE, NVN_FALSE);
                    nvnCommandBufferBindChannelMaskState(c, mask);
                    for (n, enable) in [NVN_TRUE, NVN_FALSE].into_iter().enumerate() {
                        nvnCommandBufferResetCounter(c, samples);
                        nvnCommandBufferSetRepresentativeFragmentTest(c, enable);
                        draw(c, vertices);
                        nvnCommandBufferReportCounter(c, samples, reports + 16 * n as u64);
                    }
                }
            });
            for n in [0, 1] {
                let passed = guest.report(reports + 16 * n).counter;
                assert!((1..=80).contains(&passed), "setting {n}: {passed}");
                guest.put(reports + 16 * n, 0u64);
            }
            assert_eq!(guest.pixels(), vec![[0; 4]; (SIDE * SIDE) as usize], "nothing is drawn");
        }
        return;
    };
    assert_eq!(lines(&text, &["representative fragment test"]), 1, "{text}");
    assert_eq!(lines(&text, &["RepresentativeFragmentTest"]), 0, "no line about a call that is missing: {text}");
    assert_eq!(lines(&text, &["navin::fault"]), 0, "{text}");
}

#[test]
fn b220_lending_is_said_at_a_submit_and_the_bound_is_named() {
    const TEST: &str = "b220_lending_is_said_at_a_submit_and_the_bound_is_named";
    const LENT: &[&str] = &["INFO", "command memory ran short", "were lent"];
    let Some(text) = said_alone(TEST) else {
        let mut guest = Guest::new();
        let recorder = Recorder::new(&mut guest);
        let words = guest.bytes(&[0; 4096]);
        let report = |c, n: u32| {
            // SAFETY: a live command buffer.
            unsafe { nvnCommandBufferReportValue(c, n + 1, words + 4 * u64::from(n)) };
        };
        // 512 bytes, no callback: the rest is lent.
        let short = recorder.record(|c| {
            // SAFETY: live objects.
            unsafe { nvnCommandBufferAddCommandMemory(c, guest.pool, 0, 512) };
            (0..500).for_each(|n| report(c, n));
        });
        eprintln!("recorded");
        complete(&guest, guest.queue, short);
        assert!((0..500u32).all(|n| guest.at::<u32>(words + 4 * u64::from(n)) == n + 1));
        eprintln!("submitted");
        // A gigabyte of segments that nobody writes to, to the last: one of the first four is beyond it.
        let other = Recorder::new(&mut guest);
        for bytes in [256 << 20; 3].into_iter().chain((18..=28).rev().map(|bits| 1 << bits)) {
            // SAFETY: live objects.
            unsafe { nvnCommandBufferAddCommandMemory(other.commands, null(), 0, bytes) };
        }
        guest.put(words, [0u32; 4]);
        let beyond = recorder.record(|c| {
            report(c, 0);
            // SAFETY: live objects.
            unsafe { nvnCommandBufferAddCommandMemory(c, guest.pool, 0, 512) };
            (1..500).for_each(|n| report(c, n));
        });
        // The process lives, and what had room was recorded.
        complete(&guest, guest.queue, beyond);
        assert_eq!(guest.at::<[u32; 4]>(words), [1, 2, 3, 4]);
        return;
    };
    let (recorded, rest) = text.split_once("recorded\n").expect("the first part");
    let (submitted, bound) = rest.split_once("submitted\n").expect("the second part");
    assert_eq!(lines(recorded, LENT), 0, "recording may be on a stack without room for a line (B422): {text}");
    assert_eq!(lines(submitted, LENT), 1, "{text}");
    assert_eq!(lines(bound, &["navin::fault", "AddCommandMemory without a pool", "1 GB", "B220"]), 1, "{text}");
    let dropped = &["navin::fault", "out of command memory", "1 GB", "commands are dropped", "B220"];
    assert_eq!(lines(bound, dropped), 1, "{text}");
}

// --- handles in command memory --------------------------------------------------------------------------------------

/// A texture of one colour.
fn plain(guest: &mut Guest, color: [u8; 4]) -> *mut NVNtexture {
    let texture = guest.texture(NVNformat::RGBA8, 16, 16);
    let all = NVNcopyRegion { xoffset: 0, yoffset: 0, zoffset: 0, width: 16, height: 16, depth: 1 };
    // SAFETY: a live texture; the region's texels are there.
    unsafe { nvnTextureWriteTexels(texture, null(), &all, [color; 256].as_ptr().cast()) };
    texture
}

/// A sampler that is this colour outside of its texture.
fn bordered(guest: &Guest, border: [u8; 4]) -> *mut NVNsampler {
    let (builder, sampler) = (object(), object());
    let border = border.map(|byte| f32::from(byte) / 255.0);
    let mode = NVNwrapMode::CLAMP_TO_BORDER;
    // SAFETY: zeroed storage of sufficient size.
    unsafe {
        nvnSamplerBuilderSetDefaults(builder);
        nvnSamplerBuilderSetDevice(builder, guest.device);
        nvnSamplerBuilderSetMinMagFilter(builder, NVNminFilter::NEAREST, NVNmagFilter::NEAREST);
        nvnSamplerBuilderSetWrapMode(builder, mode, mode, mode);
        nvnSamplerBuilderSetBorderColor(builder, border.as_ptr());
        assert_eq!(nvnSamplerInitialize(sampler, builder), NVN_TRUE);
    }
    sampler
}

/// What `tex_2d` makes of one colour: itself and its half.
fn seen(color: [u8; 4]) -> [u8; 4] {
    color.map(|byte| (f32::from(byte) * 1.5).round() as u8)
}

fn near(found: [u8; 4], expected: [u8; 4]) -> bool {
    found.iter().zip(expected).all(|(found, expected)| found.abs_diff(expected) <= 1)
}

#[test]
fn b228_a_handle_patched_into_a_recording_is_what_the_draw_samples() {
    let mut guest = Guest::new();
    let program = guest.program(&["aux_vs_v0", "tex_2d"]);
    let inside = guest.vertices(&rectangle(0, 0, SIDE, SIDE, 0.0, [0.25, 0.25, 0.0, 0.0]));
    let colors = [[100, 0, 20, 60], [0, 100, 40, 80], [60, 60, 0, 100]];
    let sampler = bordered(&guest, [0; 4]);
    let handles: [u64; 3] = std::array::from_fn(|n| {
        let texture = plain(&mut guest, colors[n]);
        let (id, sampler_id) = (300 + 7 * n as i32, 290 + n as i32);
        // SAFETY: live objects.
        unsafe {
            nvnTexturePoolRegisterTexture(guest.texture_pool, id, texture, null());
            nvnSamplerPoolRegisterSampler(guest.sampler_pool, sampler_id, sampler);
            nvnDeviceGetTextureHandle(guest.device, id, sampler_id)
        }
    });
    let recorder = Recorder::new(&mut guest);
    let mut noted = 0;
    let handle = recorder.record(|c| {
        guest.begin(c, program);
        noted = recorder.used();
        // SAFETY: a live command buffer.
        unsafe { nvnCommandBufferBindTexture(c, FRAGMENT, 0, handles[0]) };
        draw(c, inside);
    });
    let drawn = |guest: &Guest| {
        complete(guest, guest.queue, handle);
        let pixels = guest.pixels();
        assert!(pixels.iter().all(|pixel| *pixel == pixels[0]));
        pixels[0]
    };
    assert!(near(drawn(&guest), seen(colors[0])), "as recorded");
    // By the guest's main thread, by a worker, and the first again: the same recording each time.
    recorder.patch(noted + 0x10, handles[1] as u32);
    assert!(near(drawn(&guest), seen(colors[1])), "{:?}", guest.pixels()[0]);
    let shared = &SharedRecorder(&recorder);
    let third = handles[2] as u32;
    std::thread::scope(|scope| {
        scope.spawn(move || shared.patch(noted + 0x10, third));
    });
    assert!(near(drawn(&guest), seen(colors[2])), "{:?}", guest.pixels()[0]);
    assert!(near(drawn(&guest), seen(colors[2])), "and stays so");
    recorder.patch(noted + 0x10, handles[0] as u32);
    assert!(near(drawn(&guest), seen(colors[0])));
}

struct SharedRecorder<'a>(&'a Recorder);
// SAFETY: the test orders its accesses by joining threads.
unsafe impl Sync for SharedRecorder<'_> {}
impl std::ops::Deref for SharedRecorder<'_> {
    type Target = Recorder;
    fn deref(&self) -> &Recorder {
        self.0
    }
}

/// Pools of a guest's that are not its first: ids begin behind those of all pools before.
struct Pools {
    textures: *mut NVNtexturePool,
    samplers: *mut NVNsamplerPool,
}

fn pools(guest: &mut Guest, textures: i32, samplers: i32) -> Pools {
    let pools = Pools { textures: object(), samplers: object() };
    let at = [32 * textures as usize, 32 * samplers as usize].map(|bytes| guest.take(bytes) as isize);
    // SAFETY: zeroed storage that stays.
    unsafe {
        assert_eq!(nvnTexturePoolInitialize(pools.textures, guest.pool, at[0], textures), NVN_TRUE);
        assert_eq!(nvnSamplerPoolInitialize(pools.samplers, guest.pool, at[1], samplers), NVN_TRUE);
    }
    pools
}

/// Bits that the GPU never sees (B415).
const HIGH: u64 = 0xDEAD_BEE1 << 32;

/// The second pool bound, behind a sampler pool of all 4,096 ids: its samplers' moved ids need 13 bits.
#[test]
fn b415_handles_move_to_the_bound_pools_by_every_function_that_binds_one() {
    let mut guest = Guest::new();
    let program = guest.program(&["aux_vs_v0", "tex_2d"]);
    // Outside of the texture, where the sampler's border is; and inside.
    let outside = guest.vertices(&rectangle(0, 0, SIDE, SIDE, 0.0, [2.5, 2.5, 0.0, 0.0]));
    let inside = guest.vertices(&rectangle(0, 0, SIDE, SIDE, 0.0, [0.25, 0.25, 0.0, 0.0]));
    let first = pools(&mut guest, 512, 4096);
    let second = pools(&mut guest, 512, 300);
    // The same ids in both: of two textures and two samplers each.
    let colors = [[[10, 20, 30, 40], [50, 60, 70, 80]], [[90, 100, 110, 120], [130, 140, 150, 160]]];
    let borders = [[[5, 0, 0, 100], [0, 5, 0, 100]], [[0, 0, 5, 100], [0, 70, 70, 100]]];
    let (texture_ids, sampler_ids) = ([300, 511], [256, 299]);
    for (pool, (colors, borders)) in [&first, &second].into_iter().zip(colors.into_iter().zip(borders)) {
        for n in [0, 1] {
            let (texture, sampler) = (plain(&mut guest, colors[n]), bordered(&guest, borders[n]));
            // SAFETY: live objects.
            unsafe {
                nvnTexturePoolRegisterTexture(pool.textures, texture_ids[n], texture, null());
                nvnSamplerPoolRegisterSampler(pool.samplers, sampler_ids[n], sampler);
            }
        }
    }
    let handle = |n: usize| {
        // SAFETY: a live device.
        HIGH | unsafe { nvnDeviceGetTextureHandle(guest.device, texture_ids[n], sampler_ids[n]) }
    };
    let handles = [handle(0), handle(1)];
    type Bind = fn(*mut NVNcommandBuffer, u64);
    let binds: [(&str, Bind); 3] = [
        // SAFETY: live objects.
        ("BindTexture", |c, handle| unsafe { nvnCommandBufferBindTexture(c, FRAGMENT, 0, handle) }),
        // SAFETY: live objects.
        ("BindTextures", |c, handle| unsafe {
            nvnCommandBufferBindTextures(c, FRAGMENT, 0, 3, [handle, u64::MAX, u64::MAX].as_ptr());
        }),
        ("DrawTexture", |_, _| ()),
    ];
    for (pool, (colors, borders)) in
        [&first, &second, &first].into_iter().zip([0, 1, 0].map(|n| (colors[n], borders[n])))
    {
        for (name, bind) in binds {
            for n in [0, 1] {
                for (vertices, expected) in [(inside, seen(colors[n])), (outside, seen(borders[n]))] {
                    guest.run(|c| {
                        guest.begin(c, program);
                        // SAFETY: live objects.
                        unsafe {
                            nvnCommandBufferSetTexturePool(c, pool.textures);
                            nvnCommandBufferSetSamplerPool(c, pool.samplers);
                            if name == "DrawTexture" {
                                let all = [0.0f32, 0.0, SIDE as f32, SIDE as f32];
                                // Inside or outside of the 16 texels.
                                let from = if vertices == inside { 1.0f32 } else { 40.0 };
                                let from = [from, from, 1.0, 1.0];
                                let (to, from): (*const [f32; 4], *const [f32; 4]) = (&raw const all, &raw const from);
                                nvnCommandBufferDrawTexture(c, handles[n], to.cast(), from.cast());
                            } else {
                                bind(c, handles[n]);
                                draw(c, vertices);
                            }
                        }
                    });
                    let expected = match name {
                        "DrawTexture" if vertices == inside => colors[n],
                        "DrawTexture" => borders[n],
                        _ => expected,
                    };
                    let pixel = guest.pixels()[0];
                    assert!(near(pixel, expected), "{name} of texture {n}: {pixel:?}, not {expected:?}");
                }
            }
        }
    }
}

#[test]
fn b415_image_handles_move_to_the_bound_pool() {
    const TEXELS: usize = 64 * 64;
    let mut guest = Guest::new();
    let program = guest.program(&["img_load_store_rgba32f"]);
    let pools = [pools(&mut guest, 512, 16), pools(&mut guest, 700, 16)];
    // Under the same ids in both pools: where to read, and where to store.
    let ids = [257, 511];
    let image = |guest: &mut Guest, value: f32| {
        let texture = guest.texture(NVNformat::RGBA32F, 64, 64);
        let all = NVNcopyRegion { xoffset: 0, yoffset: 0, zoffset: 0, width: 64, height: 64, depth: 1 };
        // SAFETY: a live texture; the region's texels are there.
        unsafe { nvnTextureWriteTexels(texture, null(), &all, vec![[value; 4]; TEXELS].as_ptr().cast()) };
        texture
    };
    let images = [0, 1].map(|n| [image(&mut guest, 1.0 + n as f32), image(&mut guest, 0.0)]);
    for (pool, images) in pools.iter().zip(images) {
        for (id, texture) in ids.into_iter().zip(images) {
            // SAFETY: live objects.
            unsafe { nvnTexturePoolRegisterImage(pool.textures, id, texture, null()) };
        }
    }
    // SAFETY: a live device.
    let handles = ids.map(|id| HIGH | unsafe { nvnDeviceGetImageHandle(guest.device, id) });
    for (n, plural) in [(0, false), (1, false), (1, true), (0, true)] {
        // A texel of the image that was stored to, after it was emptied.
        guest.run(|c| {
            // SAFETY: live objects.
            unsafe {
                for images in images {
                    let all = NVNcopyRegion { xoffset: 0, yoffset: 0, zoffset: 0, width: 64, height: 64, depth: 1 };
                    let mask = navin_abi::enums::NVNclearColorMask::RGBA;
                    nvnCommandBufferClearTexture(c, images[1], null(), &all, [0.0f32; 4].as_ptr(), mask);
                }
                nvnCommandBufferSetTexturePool(c, pools[n].textures);
                nvnCommandBufferSetSamplerPool(c, pools[n].samplers);
                nvnCommandBufferBindProgram(c, program, NVNshaderStageBits(0x20));
                if plural {
                    nvnCommandBufferBindImages(c, COMPUTE, 2, 2, handles.as_ptr());
                } else {
                    nvnCommandBufferBindImage(c, COMPUTE, 2, handles[0]);
                    nvnCommandBufferBindImage(c, COMPUTE, 3, handles[1]);
                }
                nvnCommandBufferDispatchCompute(c, 8, 8, 1);
            }
        });
        let stored = images.map(|images| {
            let mut texel = [0.0f32; 4];
            let one = NVNcopyRegion { xoffset: 5, yoffset: 9, zoffset: 0, width: 1, height: 1, depth: 1 };
            // SAFETY: a live texture; the texel fits.
            unsafe { nvnTextureReadTexels(images[1], null(), &one, (&raw mut texel).cast()) };
            texel[0]
        });
        let mut expected = [0.0; 2];
        expected[n] = 2.0 * (1.0 + n as f32);
        assert_eq!(stored, expected, "pool {n}, plural: {plural}");
    }
}

// --- recorded fences ------------------------------------------------------------------------------------------------

#[test]
fn b425_a_recorded_fence_signals_behind_the_first_dispatch_and_before_the_second() {
    const SECONDS: u64 = 20_000_000_000;
    let mut guest = Guest::new();
    let program = guest.program(&["cs_local_1"]);
    let recorder = Recorder::new(&mut guest);
    let (first, second) = (guest.bytes(&[0xEE; 4096]), guest.bytes(&[0xEE; 4096]));
    let word = guest.take(4096);
    let (sync, after) = (guest.sync(), guest.sync());
    let event: *mut NVNevent = object();
    // SAFETY: zeroed storage that stays.
    unsafe {
        let builder = object();
        nvnEventBuilderSetDefaults(builder);
        nvnEventBuilderSetStorage(builder, guest.pool, word as i64);
        assert_eq!(nvnEventInitialize(event, builder), NVN_TRUE);
    }
    let (condition, none) = (NVNsyncCondition::ALL_GPU_COMMANDS_COMPLETE, NVNsyncFlagBits(0));
    // SAFETY: live objects.
    let handle = recorder.record(|c| unsafe {
        nvnCommandBufferBindProgram(c, program, NVNshaderStageBits(0x20));
        nvnCommandBufferWaitEvent(c, event, NVNeventWaitMode::EQUAL, 1);
        nvnCommandBufferBindStorageBuffer(c, COMPUTE, 1, first, 4096);
        nvnCommandBufferDispatchCompute(c, 16, 4, 2);
        nvnCommandBufferFenceSync(c, sync, condition, none);
        nvnCommandBufferWaitEvent(c, event, NVNeventWaitMode::EQUAL, 2);
        nvnCommandBufferBindStorageBuffer(c, COMPUTE, 1, second, 4096);
        nvnCommandBufferDispatchCompute(c, 16, 4, 2);
        nvnCommandBufferFenceSync(c, after, condition, none);
    });
    // SAFETY: live objects.
    let wait = |sync, timeout| unsafe { nvnSyncWait(sync, timeout) };
    // SAFETY: live objects.
    let signal = |value| unsafe { nvnEventSignal(event, NVNeventSignalMode::WRITE, value) };
    let ended =
        |result| result == NVNsyncWaitResult::CONDITION_SATISFIED || result == NVNsyncWaitResult::ALREADY_SIGNALED;
    // The last group's result: its place in the grid, and 16 + 4 + 2.
    let last = |buffer: u64| guest.at::<[u32; 4]>(buffer + 16 * 127);
    let (written, untouched) = ([15, 3, 1, 22], [0xEEEE_EEEE; 4]);
    for round in 0..20 {
        for buffer in [first, second] {
            guest.put(buffer + 16 * 127, untouched);
        }
        signal(0);
        // SAFETY: live objects.
        unsafe { nvnQueueSubmitCommands(guest.queue, 1, &handle) };
        assert_eq!(wait(sync, 2_000_000), NVNsyncWaitResult::TIMEOUT_EXPIRED, "round {round}: before the first");
        assert_eq!(last(first), untouched);
        signal(1);
        assert!(ended(wait(sync, SECONDS)), "round {round}: the first is not held back by the second");
        assert_eq!((last(first), last(second)), (written, untouched), "round {round}");
        assert_eq!(wait(after, 1_000_000), NVNsyncWaitResult::TIMEOUT_EXPIRED, "round {round}: in order");
        signal(2);
        assert!(ended(wait(after, SECONDS)), "round {round}");
        assert_eq!(last(second), written, "round {round}");
    }
}

// --- guests that go wrong -------------------------------------------------------------------------------------------

/// What a memory callback gives: a block of this size, this many bytes off a boundary.
#[derive(Clone, Copy, Debug)]
enum Gives {
    Nothing,
    Blocks {
        command: usize,
        control: usize,
        skew: usize,
    },
    /// Command memory past its pool's end, and control memory at null.
    Elsewhere,
    /// The end of the recording that asks.
    AnEnd,
}

struct Supply {
    pool: *mut NVNmemoryPool,
    next: usize,
    end: usize,
    gives: Gives,
    calls: usize,
}

extern "C" fn supply(c: *mut NVNcommandBuffer, event: MemoryEvent, _: usize, data: *mut c_void) {
    // SAFETY: as `record_short_of_memory` set it; the blocks are inside the guest's pool.
    unsafe {
        let supply = &mut *data.cast::<Supply>();
        supply.calls += 1;
        let command = event == MemoryEvent::OUT_OF_COMMAND_MEMORY;
        match supply.gives {
            Gives::Nothing => {}
            Gives::Blocks { command: bytes, skew, .. } if command => {
                let at = supply.next + skew;
                supply.next += (bytes + 16).next_multiple_of(16);
                assert!(supply.next <= supply.end);
                nvnCommandBufferAddCommandMemory(c, supply.pool, at as isize, bytes);
            }
            Gives::Blocks { control, skew, .. } => {
                let memory = storage::<u8>(4096).wrapping_add(skew);
                nvnCommandBufferAddControlMemory(c, memory.cast(), control);
            }
            Gives::Elsewhere if command => {
                nvnCommandBufferAddCommandMemory(c, supply.pool, isize::MAX, 4096);
                nvnCommandBufferAddCommandMemory(c, supply.pool, -4096, 4096);
            }
            Gives::Elsewhere => nvnCommandBufferAddControlMemory(c, null_mut(), 4096),
            Gives::AnEnd => {
                nvnCommandBufferEndRecording(c);
            }
        }
    }
}

/// What those recordings share.
struct Short {
    words: u64,
    called: NVNcommandHandle,
    /// Where in the pool blocks come from.
    memory: usize,
}

impl Short {
    fn new(guest: &mut Guest) -> Self {
        let called = Recorder::new(guest).record(|c| {
            // SAFETY: a live command buffer.
            unsafe { nvnCommandBufferSetLineWidth(c, 1.0) };
        });
        Self { words: guest.bytes(&[0; 4096]), called, memory: guest.take(1 << 18) }
    }

    fn clear(&self, guest: &Guest) {
        (0..200).for_each(|n| guest.put(self.words + 4 * n, 0u32));
    }

    fn assert_all_ran(&self, guest: &Guest, what: Gives) {
        for n in 0..200u32 {
            assert_eq!(guest.at::<u32>(self.words + 4 * u64::from(n)), n + 1, "{what:?}");
        }
    }
}

/// Records 200 words to be written, with a call in between each, out of memory that only a callback gives.
fn record_short_of_memory(guest: &Guest, scene: &Short, gives: Gives) -> (NVNcommandHandle, usize) {
    let (words, called) = (scene.words, scene.called);
    let mut supply = Supply { pool: guest.pool, next: scene.memory, end: scene.memory + (1 << 18), gives, calls: 0 };
    let c = object();
    // SAFETY: zeroed storage that stays; the callback's data lives as long as the recording.
    unsafe {
        assert_eq!(nvnCommandBufferInitialize(c, guest.device), NVN_TRUE);
        nvnCommandBufferSetMemoryCallback(c, Some(self::supply));
        nvnCommandBufferSetMemoryCallbackData(c, (&raw mut supply).cast());
        nvnCommandBufferBeginRecording(c);
        for n in 0..200u32 {
            nvnCommandBufferReportValue(c, n + 1, words + 4 * u64::from(n));
            nvnCommandBufferCallCommands(c, 1, &called);
        }
        let handle = nvnCommandBufferEndRecording(c);
        nvnCommandBufferFinalize(c);
        (handle, supply.calls)
    }
}

#[test]
fn b220_b224_whatever_a_memory_callback_gives_every_command_runs() {
    let mut guest = Guest::new();
    let scene = Short::new(&mut guest);
    let mut cases = vec![Gives::Nothing, Gives::Elsewhere];
    cases.extend([0usize, 1, 3, 4, 8, 11].map(|bytes| Gives::Blocks { command: bytes, control: bytes, skew: 0 }));
    cases.extend((1..8).map(|skew| Gives::Blocks { command: 509, control: 50, skew }));
    for gives in cases {
        scene.clear(&guest);
        let (handle, calls) = record_short_of_memory(&guest, &scene, gives);
        assert_ne!(handle, 0, "{gives:?}");
        assert!(calls >= 2, "{gives:?}: both memories are asked for");
        complete(&guest, guest.queue, handle);
        scene.assert_all_ran(&guest, gives);
    }
    // A callback that ends what asks: nothing can be recorded; the process lives, and the next recording is whole.
    record_short_of_memory(&guest, &scene, Gives::AnEnd);
    scene.clear(&guest);
    let (handle, _) = record_short_of_memory(&guest, &scene, Gives::Nothing);
    complete(&guest, guest.queue, handle);
    scene.assert_all_ran(&guest, Gives::Nothing);
}

#[test]
fn recording_on_a_finalized_buffer_is_named_and_does_nothing() {
    const TEST: &str = "recording_on_a_finalized_buffer_is_named_and_does_nothing";
    let Some(text) = said_alone(TEST) else { return record_on_a_finalized_buffer() };
    for call in ["BeginRecording", "a command for", "CallCommands", "EndRecording"] {
        assert_eq!(lines(&text, &["navin::fault", call]), 1, "{call}: {text}");
    }
    assert_eq!(lines(&text, &["navin::fault", "SubmitCommands of handle 0x0"]), 1, "{text}");
}

fn record_on_a_finalized_buffer() {
    let mut guest = Guest::new();
    let words = guest.bytes(&[0; 4096]);
    let recorder = Recorder::new(&mut guest);
    let c = recorder.commands;
    let report = |value| {
        // SAFETY: the storage of a command buffer, live or not.
        unsafe { nvnCommandBufferReportValue(c, value, words) };
    };
    let before = recorder.record(|_| report(1));
    // SAFETY: as above; handles of any value are the guest's to give.
    unsafe {
        nvnCommandBufferBeginRecording(c);
        report(2);
        // In the middle of a recording.
        nvnCommandBufferFinalize(c);
        report(3);
        nvnCommandBufferCallCommands(c, 1, &before);
        nvnCommandBufferCopyCommands(c, 1, &before);
        let open = nvnCommandBufferEndRecording(c);
        nvnCommandBufferBeginRecording(c);
        report(4);
        let again = nvnCommandBufferEndRecording(c);
        assert_eq!([open, again], [0, 0]);
        assert_eq!(nvnCommandBufferIsRecording(c), NVN_FALSE);
        assert_eq!([nvnCommandBufferGetCommandMemoryUsed(c), nvnCommandBufferGetCommandMemorySize(c)], [0, 0]);
        nvnQueueSubmitCommands(guest.queue, 2, [open, again].as_ptr());
        nvnQueueFinish(guest.queue);
    }
    assert_eq!(guest.at::<u32>(words), 0, "nothing of it ran");
    // What was recorded before it was finalized is still there, for who has its handle.
    complete(&guest, guest.queue, before);
    assert_eq!(guest.at::<u32>(words), 1);
}

const MILLION: i32 = 1_000_000;

/// By a submit of a million handles, by a list that calls a million, and by one that calls them one by one.
#[test]
fn a_million_recordings_in_one_submit_and_in_one_list_run_in_order() {
    const TEST: &str = "a_million_recordings_in_one_submit_and_in_one_list_run_in_order";
    let Some(text) = said_alone(TEST) else { return run_a_million() };
    let (right, wrong) = text.split_once("all ran\n").expect("both parts");
    assert_eq!(lines(right, &["navin::fault"]), 0, "nothing is wrong with them: {text}");
    assert_eq!(lines(wrong, &["navin::fault"]), 1, "{text}");
    assert_eq!(lines(wrong, &["navin::fault", "nvnQueueSubmitCommands: 2000000 handles"]), 1, "{text}");
}

/// Every thousandth recording writes a word.
fn run_a_million() {
    let mut guest = Guest::new();
    let words = guest.bytes(&[0; 4096]);
    let (pool, bytes) = (object(), 16 << 20);
    let (control, lists) = (MILLION as usize * 8, object());
    // SAFETY: zeroed storage that stays.
    let handles: Vec<NVNcommandHandle> = unsafe {
        let builder = object();
        nvnMemoryPoolBuilderSetDefaults(builder);
        nvnMemoryPoolBuilderSetDevice(builder, guest.device);
        nvnMemoryPoolBuilderSetFlags(builder, NVNmemoryPoolFlags::CPU_CACHED | NVNmemoryPoolFlags::GPU_CACHED);
        nvnMemoryPoolBuilderSetStorage(builder, storage(bytes), bytes);
        assert_eq!(nvnMemoryPoolInitialize(pool, builder), NVN_TRUE);
        assert_eq!(nvnCommandBufferInitialize(lists, guest.device), NVN_TRUE);
        nvnCommandBufferAddCommandMemory(lists, pool, 0, bytes);
        nvnCommandBufferAddControlMemory(lists, storage(control), control);
        (0..MILLION)
            .map(|n| {
                nvnCommandBufferBeginRecording(lists);
                nvnCommandBufferSetLineWidth(lists, n as f32);
                if n % 1000 == 999 {
                    // A hundred words, each written ten times: the last that writes one is the last recording of it.
                    nvnCommandBufferReportValue(lists, n as u32, words + 4 * (n as u64 / 1000 % 100));
                }
                nvnCommandBufferEndRecording(lists)
            })
            .collect()
    };
    let clear = || (0..100).for_each(|n| guest.put(words + 4 * n, 0u32));
    let submit = |handles: &[NVNcommandHandle]| {
        // SAFETY: live objects.
        unsafe {
            nvnQueueSubmitCommands(guest.queue, handles.len() as i32, handles.as_ptr());
            nvnQueueFinish(guest.queue);
        }
    };
    let run = |what: &str, handles: &[NVNcommandHandle]| {
        clear();
        let start = Instant::now();
        submit(handles);
        assert!(start.elapsed() < Duration::from_secs(60), "{what} took {:?}", start.elapsed());
        for n in 0..100u32 {
            assert_eq!(guest.at::<u32>(words + 4 * u64::from(n)), 900_999 + 1000 * n, "{what}");
        }
    };
    run("a submit", &handles);
    let caller = object();
    let list = |call: &dyn Fn(*mut NVNcommandBuffer)| {
        // SAFETY: zeroed storage that stays.
        unsafe {
            nvnCommandBufferInitialize(caller, guest.device);
            nvnCommandBufferAddControlMemory(caller, storage(control + 4096), control + 4096);
            nvnCommandBufferBeginRecording(caller);
            call(caller);
            nvnCommandBufferEndRecording(caller)
        }
    };
    // SAFETY: live objects.
    run("a call", &[list(&|c| unsafe { nvnCommandBufferCallCommands(c, MILLION, handles.as_ptr()) })]);
    // SAFETY: live objects.
    let call = |c, handle| unsafe { nvnCommandBufferCallCommands(c, 1, handle) };
    run("calls", &[list(&|c| handles.iter().for_each(|handle| call(c, handle)))]);
    eprintln!("all ran");
    // More handles than a call may have: nothing runs.
    clear();
    submit(&[handles.as_slice(), &handles].concat());
    assert!((0..100).all(|n| guest.at::<u32>(words + 4 * n) == 0));
}

/// What one draw names, many draws can: as quads each would be rewritten, and its indices kept until the GPU has read
/// them.
#[test]
fn b225_draws_without_instances_cost_no_memory() {
    const TEST: &str = "b225_draws_without_instances_cost_no_memory";
    if !this_program::is_child() {
        return this_program::alone(TEST, &[]);
    }
    let peak = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() >> 10
    };
    let mut guest = Guest::new();
    let program = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
    let vertices = guest.vertices(&rectangle(4, 4, 10, 8, 0.0, WHITE));
    guest.run(|c| {
        guest.begin(c, program);
        draw(c, vertices);
    });
    let before = peak();
    guest.run(|c| {
        guest.begin(c, program);
        for n in 0..6 {
            // SAFETY: live objects.
            unsafe {
                nvnCommandBufferDrawArraysInstanced(c, NVNdrawPrimitive::QUADS, 0, n + 0xFF_FFF0, 0, 0);
                nvnCommandBufferDrawArraysInstanced(c, NVNdrawPrimitive::LINE_LOOP, 0, -1, 0, 0);
                nvnCommandBufferDrawElementsInstanced(
                    c,
                    NVNdrawPrimitive::QUADS,
                    navin_abi::enums::NVNindexType::UNSIGNED_BYTE,
                    0xFF_FFFF,
                    vertices,
                    0,
                    0,
                    0,
                );
            }
        }
        draw(c, vertices);
    });
    assert_eq!(guest.pixels().iter().filter(|texel| **texel == [255; 4]).count(), 80, "what is drawn after them");
    let grown = peak() - before;
    assert!(grown < 64, "{grown} MB for draws of nothing");
}

/// What goes to the GPU at once is bounded, and what a guest may ask for in one submission is more than that.
#[test]
fn b225_long_submissions_are_cut_and_run_whole() {
    const TEST: &str = "b225_long_submissions_are_cut_and_run_whole";
    if !this_program::is_child() {
        return this_program::alone(TEST, &[]);
    }
    let submissions = || navin::counters().unwrap()["submissions"].as_u64().unwrap();
    let mut guest = Guest::new();
    // More than 4 GB of clears: two shares.
    const BYTES: usize = 8 << 20;
    let place = guest.take(BYTES);
    let place = guest.address(place);
    let before = submissions();
    guest.run(|c| {
        // SAFETY: a live command buffer.
        (0..=600u32).for_each(|n| unsafe { nvnCommandBufferClearBuffer(c, place, BYTES, n) });
    });
    assert_eq!(submissions() - before, 2, "cut once");
    assert_eq!([guest.at::<u32>(place), guest.at(place + BYTES as u64 - 4)], [600; 2]);
    // More than 64 MB of records: a recording of half a megabyte, called 200 times, that counts itself.
    let at = guest.take(4);
    let (builder, event, called) = (object(), object(), object());
    let data = [7u8; 1000];
    let control = storage(4096);
    let memory = guest.take(1 << 20);
    // SAFETY: zeroed storage that stays; the lent memory is the command buffer's alone.
    let handle = unsafe {
        nvnEventBuilderSetDefaults(builder);
        nvnEventBuilderSetStorage(builder, guest.pool, at as i64);
        assert_eq!(nvnEventInitialize(event, builder), NVN_TRUE);
        assert_eq!(nvnCommandBufferInitialize(called, guest.device), NVN_TRUE);
        nvnCommandBufferAddCommandMemory(called, guest.pool, memory as isize, 1 << 20);
        nvnCommandBufferAddControlMemory(called, control, 4096);
        nvnCommandBufferBeginRecording(called);
        for _ in 0..500 {
            nvnCommandBufferUpdateUniformBuffer(called, place, 1 << 16, 256, data.len(), data.as_ptr().cast());
        }
        let (bottom, none) =
            (navin_abi::enums::NVNeventSignalLocation::BOTTOM, navin_abi::enums::NVNeventSignalFlags(0));
        nvnCommandBufferSignalEvent(called, event, NVNeventSignalMode::ADD, bottom, none, 1);
        nvnCommandBufferEndRecording(called)
    };
    let calls = [handle; 200];
    // SAFETY: a live command buffer.
    guest.run(|c| unsafe { nvnCommandBufferCallCommands(c, calls.len() as i32, calls.as_ptr()) });
    assert_eq!(guest.at::<u32>(guest.address(at)), calls.len() as u32);
    assert_eq!(guest.at::<u32>(place + 256), 0x0707_0707);
}
