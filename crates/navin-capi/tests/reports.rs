//! Counters, timestamps and render conditions as a guest sees them. Needs a Vulkan device, as `./x test` arranges.

mod guest;
mod this_program;

use guest::*;
use navin_abi::enums::{
    NVNclearColorMask, NVNconditionalRenderMode, NVNcounterType, NVNdepthFunc, NVNeventSignalFlags,
    NVNeventSignalLocation, NVNeventSignalMode, NVNeventWaitMode, NVNsyncCondition,
};
use navin_abi::types::*;
use nvn::trampolines::*;

const TRIANGLES: NVNdrawPrimitive = NVNdrawPrimitive::TRIANGLES;
const IF_EQUAL: NVNconditionalRenderMode = NVNconditionalRenderMode::RENDER_IF_EQUAL;
const IF_NOT_EQUAL: NVNconditionalRenderMode = NVNconditionalRenderMode::RENDER_IF_NOT_EQUAL;

/// A guest with a pass-through program and a rectangle of 10 x 8 pixels.
struct Scene {
    guest: Guest,
    program: *mut NVNprogram,
    small: u64,
    reports: u64,
    sync: *mut NVNsync,
}

impl Scene {
    fn new() -> Self {
        let mut guest = Guest::new();
        let program = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
        let small = guest.vertices(&rectangle(4, 4, 10, 8, 0.0, WHITE));
        let reports = guest.bytes(&[0xEE; 4096]);
        let sync = guest.sync();
        Self { guest, program, small, reports, sync }
    }

    /// An event, which is 0.
    fn event(&mut self) -> *mut NVNevent {
        let place = self.guest.take(4);
        let (builder, event) = (object(), object());
        // SAFETY: zeroed storage that stays.
        unsafe {
            nvnEventBuilderSetDefaults(builder);
            nvnEventBuilderSetStorage(builder, self.guest.pool, place as i64);
            assert_eq!(nvnEventInitialize(event, builder), NVN_TRUE);
        }
        event
    }

    /// Where report `n` goes.
    fn place(&self, n: u64) -> u64 {
        self.reports + 16 * n
    }

    fn value(&self, n: u64) -> u64 {
        self.guest.report(self.place(n)).counter
    }

    fn draw(&self, c: *mut NVNcommandBuffer) {
        // SAFETY: live objects.
        unsafe {
            nvnCommandBufferBindVertexBuffer(c, 0, self.small, 6 * STRIDE as usize);
            nvnCommandBufferDrawArrays(c, TRIANGLES, 0, 6);
        }
    }

    /// A recording of its own, in memory that is given to it for good.
    fn record(&self, record: impl FnOnce(*mut NVNcommandBuffer)) -> NVNcommandHandle {
        let commands = object();
        // SAFETY: zeroed storage that stays. Without memory of the guest's the driver lends some.
        unsafe {
            assert_eq!(nvnCommandBufferInitialize(commands, self.guest.device), NVN_TRUE);
            nvnCommandBufferBeginRecording(commands);
            record(commands);
            nvnCommandBufferEndRecording(commands)
        }
    }

    fn report(&self, c: *mut NVNcommandBuffer, counter: NVNcounterType, n: u64) {
        // SAFETY: live objects.
        unsafe { nvnCommandBufferReportCounter(c, counter, self.place(n)) };
    }
}

#[test]
fn samples_count_from_reset_to_report_and_go_on() {
    let scene = Scene::new();
    let samples = NVNcounterType::SAMPLES_PASSED;
    scene.guest.run(|c| {
        scene.guest.begin(c, scene.program);
        scene.draw(c);
        scene.report(c, samples, 0);
        scene.draw(c);
        scene.report(c, samples, 1);
        // SAFETY: a live command buffer.
        unsafe { nvnCommandBufferResetCounter(c, samples) };
        scene.report(c, samples, 2);
        scene.draw(c);
        scene.draw(c);
        scene.draw(c);
        scene.report(c, samples, 3);
        scene.report(c, samples, 4);
    });
    assert_eq!([0, 1, 2, 3, 4].map(|n| scene.value(n)), [80, 160, 0, 240, 240]);
    let times = [0, 1, 2, 3, 4].map(|n| scene.guest.nanoseconds(&scene.guest.report(scene.place(n))));
    assert!(times.is_sorted() && times[0] > 0, "{times:?}");
}

#[test]
fn every_counter_of_the_pipeline_reports_what_was_drawn() {
    let scene = Scene::new();
    use NVNcounterType as T;
    let counters = [
        (T::INPUT_VERTICES, 12),
        (T::INPUT_PRIMITIVES, 4),
        (T::VERTEX_SHADER_INVOCATIONS, 12),
        (T::TESS_CONTROL_SHADER_INVOCATIONS, 0),
        (T::TESS_EVALUATION_SHADER_INVOCATIONS, 0),
        (T::GEOMETRY_SHADER_INVOCATIONS, 0),
        (T::FRAGMENT_SHADER_INVOCATIONS, 160),
        (T::TESS_EVALUATION_SHADER_PRIMITIVES, 0),
        (T::GEOMETRY_SHADER_PRIMITIVES, 0),
        (T::CLIPPER_INPUT_PRIMITIVES, 4),
        (T::CLIPPER_OUTPUT_PRIMITIVES, 4),
        (T::PRIMITIVES_GENERATED, 4),
        (T::TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, 0),
        (T::SAMPLES_PASSED, 160),
    ];
    scene.guest.run(|c| {
        scene.guest.begin(c, scene.program);
        // SAFETY: a live command buffer.
        counters.iter().for_each(|(counter, _)| unsafe { nvnCommandBufferResetCounter(c, *counter) });
        scene.draw(c);
        scene.draw(c);
        for (n, (counter, _)) in counters.iter().enumerate() {
            scene.report(c, *counter, n as u64);
        }
        scene.report(c, T::ZCULL_STATS, 20);
        // SAFETY: a live command buffer; the report is misaligned, or no counter's.
        unsafe {
            nvnCommandBufferReportCounter(c, T::SAMPLES_PASSED, scene.place(30) + 8);
            nvnCommandBufferReportCounter(c, NVNcounterType(17), scene.place(32));
        }
    });
    for (n, (counter, expected)) in counters.iter().enumerate() {
        let value = scene.value(n as u64);
        // Runs in whole quads may count the pixels beside the edges too, and vertices may be run once or more.
        let loose = [T::FRAGMENT_SHADER_INVOCATIONS, T::VERTEX_SHADER_INVOCATIONS].contains(counter);
        assert!(
            value == *expected || loose && (*expected / 2..=*expected * 2).contains(&value),
            "{counter:?}: {value}"
        );
    }
    assert_eq!(scene.guest.at::<[u64; 2]>(scene.place(20)), [0, 0], "nothing was culled coarsely");
    let untouched = [0xEEEE_EEEE_EEEE_EEEE; 2];
    assert_eq!(scene.guest.at::<[u64; 2]>(scene.place(30) + 8), untouched);
    assert_eq!(scene.guest.at::<[u64; 2]>(scene.place(32)), untouched);
}

#[test]
fn geometry_and_tessellation_count_their_primitives() {
    let mut guest = Guest::new();
    // A triangle in, two points out of each vertex is not needed: pass-through keeps one triangle.
    let program = guest.program(&["aux_vs_std", "gs_triangles_to_lines", "aux_fs_f1"]);
    let plain = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
    let vertices = guest.vertices(&rectangle(4, 4, 10, 8, 0.0, WHITE));
    let reports = guest.bytes(&[0; 256]);
    use NVNcounterType as T;
    let counters =
        [T::GEOMETRY_SHADER_INVOCATIONS, T::GEOMETRY_SHADER_PRIMITIVES, T::PRIMITIVES_GENERATED, T::INPUT_PRIMITIVES];
    guest.run(|c| {
        guest.begin(c, plain);
        // SAFETY: live objects.
        unsafe {
            counters.iter().for_each(|counter| nvnCommandBufferResetCounter(c, *counter));
            nvnCommandBufferBindVertexBuffer(c, 0, vertices, 6 * STRIDE as usize);
            nvnCommandBufferDrawArrays(c, TRIANGLES, 0, 6);
            nvnCommandBufferBindProgram(c, program, NVNshaderStageBits(0x1f));
            nvnCommandBufferDrawArrays(c, TRIANGLES, 0, 6);
            nvnCommandBufferBindProgram(c, plain, NVNshaderStageBits(0x1f));
            nvnCommandBufferDrawArrays(c, TRIANGLES, 0, 3);
            for (n, counter) in counters.iter().enumerate() {
                nvnCommandBufferReportCounter(c, *counter, reports + 16 * n as u64);
            }
        }
    });
    let values: Vec<u64> = (0..4).map(|n| guest.report(reports + 16 * n).counter).collect();
    assert_eq!(values[0], 2, "one run a triangle");
    assert!(values[1] >= 2, "{values:?}");
    assert_eq!(values[2], 2 + values[1] + 1, "the plain draws' triangles and what the geometry program put out");
    assert_eq!(values[3], 5);
}

#[test]
fn tessellation_counts_its_patches_runs_and_primitives() {
    const TEST: &str = "tessellation_counts_its_patches_runs_and_primitives";
    // Without the validation layer, which reads a null pointer at the first draw with tessellation shader objects
    // (seen with the layer that `./x setup` brings).
    if !this_program::is_child() {
        return this_program::alone(TEST, &[("NAVIN_VALIDATION", "off")]);
    }
    let mut guest = Guest::new();
    let program = guest.program(&["aux_vs_v0", "aux_tc_tri", "aux_te_tri", "aux_fs_f1"]);
    let vertices = guest.vertices(&rectangle(4, 4, 10, 8, 0.0, WHITE));
    let reports = guest.bytes(&[0; 256]);
    use NVNcounterType as T;
    let counters = [
        T::TESS_CONTROL_SHADER_INVOCATIONS,
        T::TESS_EVALUATION_SHADER_INVOCATIONS,
        T::TESS_EVALUATION_SHADER_PRIMITIVES,
        T::PRIMITIVES_GENERATED,
        T::CLIPPER_INPUT_PRIMITIVES,
    ];
    let tessellated = |reset: Option<usize>| {
        guest.run(|c| {
            guest.begin(c, program);
            // SAFETY: live objects.
            unsafe {
                match reset {
                    None => counters.iter().for_each(|counter| nvnCommandBufferResetCounter(c, *counter)),
                    Some(one) => nvnCommandBufferResetCounter(c, counters[one]),
                }
                nvnCommandBufferSetPatchSize(c, 3);
                nvnCommandBufferBindVertexBuffer(c, 0, vertices, 6 * STRIDE as usize);
                nvnCommandBufferDrawArrays(c, NVNdrawPrimitive::PATCHES, 0, 6);
                for (n, counter) in counters.iter().enumerate() {
                    nvnCommandBufferReportCounter(c, *counter, reports + 16 * n as u64);
                }
            }
        });
        [0, 1, 2, 3, 4].map(|n| guest.report(reports + 16 * n).counter)
    };
    // Levels 3, 4, 5 outside and 4 inside: 18 triangles in the outer ring and 6 around the middle, 19 vertices.
    let [control, runs, primitives, generated, clipped] = tessellated(None);
    assert_eq!([control, primitives, generated, clipped], [2, 48, 48, 48]);
    assert!((2 * 19..=48 * 3).contains(&runs), "{runs}");
    // Each is reset alone.
    let mut sums = [control, runs, primitives, generated, clipped];
    for (one, counter) in counters.iter().enumerate() {
        let now = tessellated(Some(one));
        for (n, sum) in sums.iter_mut().enumerate() {
            let each = [2, runs, 48, 48, 48][n];
            *sum = if n == one { each } else { *sum + each };
        }
        assert_eq!(now, sums, "{counter:?} reset");
    }
}

#[test]
fn times_are_the_guests_clock_and_clears_are_not_counted() {
    let scene = Scene::new();
    let device = scene.guest.device;
    // SAFETY: a live device.
    let now = || unsafe { nvnDeviceGetCurrentTimestampInNanoseconds(device) };
    let before = now();
    scene.guest.run(|c| {
        scene.report(c, NVNcounterType::TIMESTAMP_TOP, 0);
        scene.guest.begin(c, scene.program);
        // SAFETY: live objects. A clear with a mask is a draw here.
        unsafe {
            nvnCommandBufferResetCounter(c, NVNcounterType::SAMPLES_PASSED);
            nvnCommandBufferClearColor(c, 0, [1.0f32; 4].as_ptr(), NVNclearColorMask(1));
        }
        scene.report(c, NVNcounterType::SAMPLES_PASSED, 2);
        scene.draw(c);
        scene.report(c, NVNcounterType::TIMESTAMP, 1);
    });
    let after = now();
    let times = [0, 1].map(|n| scene.guest.nanoseconds(&scene.guest.report(scene.place(n))));
    // A device that the CPU reads no clock of may be off by the time of a submission.
    let slack = 5_000_000;
    assert!(
        before <= times[0] + slack && times[0] <= times[1] && times[1] <= after + slack,
        "{before} {times:?} {after}"
    );
    assert!(times[1] - times[0] < 5_000_000_000);
    assert_eq!(scene.value(0), 0, "a time has no value");
    assert_eq!(scene.value(2), 0, "clears draw nothing");
    assert_eq!(scene.guest.pixels()[0], [255, 0, 0, 0]);
    // Raw ticks are the hardware's: 384 in 625 ns.
    let report = scene.guest.report(scene.place(1));
    assert_eq!(times[1], report.timestamp / 384 * 625 + report.timestamp % 384 * 625 / 384);
}

/// Counters are the queue's, and go on over submissions and the cuts in them.
#[test]
fn b587_counters_and_conditions_go_on_over_every_cut() {
    let scene = Scene::new();
    let other = queue(scene.guest.device);
    let samples = NVNcounterType::SAMPLES_PASSED;
    let (sync, zeros) = (scene.guest.sync(), scene.place(100));
    scene.guest.put(zeros, [0u64; 4]);
    // SAFETY: live objects.
    let cut = |c| unsafe {
        nvnCommandBufferFenceSync(c, sync, NVNsyncCondition::ALL_GPU_COMMANDS_COMPLETE, NVNsyncFlagBits(0));
        nvnCommandBufferWaitSync(c, sync);
    };
    scene.guest.run(|c| {
        scene.guest.begin(c, scene.program);
        // SAFETY: live objects.
        unsafe { nvnCommandBufferResetCounter(c, samples) };
        scene.draw(c);
        cut(c);
        scene.draw(c);
    });
    // Another queue counts for itself.
    scene.guest.submit(other, |c| {
        scene.guest.begin(c, scene.program);
        scene.draw(c);
        scene.report(c, samples, 0);
    });
    // SAFETY: a live queue.
    unsafe { nvnQueueFinish(other) };
    scene.guest.run(|c| {
        scene.draw(c);
        cut(c);
        scene.report(c, samples, 1);
        // SAFETY: live objects. 0 equals 0, so nothing is drawn from here on, on either side of the cut.
        unsafe { nvnCommandBufferSetRenderEnableConditional(c, IF_NOT_EQUAL, zeros) };
        scene.draw(c);
        cut(c);
        scene.draw(c);
        // SAFETY: as above.
        unsafe { nvnCommandBufferClearColor(c, 0, [1.0f32; 4].as_ptr(), NVNclearColorMask::RGBA) };
        scene.report(c, samples, 2);
    });
    assert_eq!(scene.value(0), 80);
    assert_eq!(scene.value(1), 240);
    assert_eq!(scene.value(2), 240, "the condition holds behind the cut");
    assert_eq!(scene.guest.pixels()[0], [0; 4], "and for clears");
    scene.guest.run(|c| {
        scene.draw(c);
        scene.report(c, samples, 3);
        // SAFETY: live objects.
        unsafe { nvnCommandBufferSetRenderEnable(c, NVN_TRUE) };
        scene.draw(c);
        scene.report(c, samples, 4);
    });
    assert_eq!([scene.value(3), scene.value(4)], [240, 320], "until it is lifted, in a later submission");
}

/// The same where an event wait is the cut, with a report of the time pending on each side (B587).
#[test]
fn b587_an_event_wait_cuts_neither_condition_nor_counters() {
    let mut scene = Scene::new();
    let (samples, at) = (NVNcounterType::SAMPLES_PASSED, scene.place(100));
    let event = scene.event();
    let guest = &scene.guest;
    guest.put(at, [0u64; 4]);
    guest.submit(guest.queue, |c| {
        guest.begin(c, scene.program);
        // SAFETY: live objects.
        unsafe {
            nvnCommandBufferResetCounter(c, samples);
            scene.draw(c);
            scene.report(c, NVNcounterType::TIMESTAMP, 0);
            nvnCommandBufferWaitEvent(c, event, NVNeventWaitMode::GEQUAL_WRAP, 1);
            scene.draw(c);
            scene.report(c, samples, 1);
            scene.report(c, NVNcounterType::TIMESTAMP, 2);
            nvnCommandBufferSetRenderEnableConditional(c, IF_NOT_EQUAL, at);
            scene.draw(c);
            nvnCommandBufferWaitEvent(c, event, NVNeventWaitMode::GEQUAL_WRAP, 2);
            scene.draw(c);
            nvnCommandBufferClearColor(c, 0, [1.0f32; 4].as_ptr(), NVNclearColorMask::RGBA);
            scene.report(c, samples, 3);
            nvnCommandBufferSetRenderEnable(c, NVN_TRUE);
        }
    });
    // The first part has ended when its time is there: then the wait lasts for as long as the CPU takes.
    let start = std::time::Instant::now();
    while guest.report(scene.place(0)).timestamp == 0xEEEE_EEEE_EEEE_EEEE {
        assert!(start.elapsed() < std::time::Duration::from_secs(20), "the part before the wait has not run");
        std::thread::yield_now();
    }
    for value in 1..=2 {
        std::thread::sleep(std::time::Duration::from_millis(10));
        // SAFETY: a live event.
        unsafe { nvnEventSignal(event, NVNeventSignalMode::WRITE, value) };
    }
    // SAFETY: a live queue.
    unsafe { nvnQueueFinish(guest.queue) };
    assert_eq!([1, 3].map(|n| scene.value(n)), [160; 2], "both sides are counted, and nothing under the condition");
    assert_eq!(guest.pixels()[0], [0; 4], "nor cleared");
    let times = [0, 2].map(|n| guest.nanoseconds(&guest.report(scene.place(n))));
    // Clocks are laid beside each other with less than this between them.
    assert!(times[1] >= times[0] + 8_000_000, "the wait lies between: {times:?}");
}

/// A report is written before the fence that follows it, and after what comes before it in memory.
#[test]
fn b301_b588_reports_are_there_at_the_fence_and_behind_the_bytes_before_them() {
    let scene = Scene::new();
    let (guest, sync) = (&scene.guest, scene.guest.sync());
    let bytes = scene.place(200);
    let rounds = std::env::var("NAVIN_TEST_ROUNDS").map_or(200, |text| text.parse().expect("a number of rounds"));
    for round in 0..rounds {
        guest.put(scene.place(0), [u64::MAX; 2]);
        guest.submit(guest.queue, |c| {
            guest.begin(c, scene.program);
            // SAFETY: live objects.
            unsafe {
                nvnCommandBufferResetCounter(c, NVNcounterType::SAMPLES_PASSED);
                scene.draw(c);
                nvnCommandBufferReportValue(c, round, bytes);
                scene.report(c, NVNcounterType::SAMPLES_PASSED, 0);
                nvnCommandBufferFenceSync(c, sync, NVNsyncCondition::ALL_GPU_COMMANDS_COMPLETE, NVNsyncFlagBits(0));
            }
        });
        // A watcher that never waits sees the bytes as soon as it sees the report.
        while guest.at::<u64>(scene.place(0)) == u64::MAX {
            std::hint::spin_loop();
        }
        assert_eq!(guest.at::<u32>(bytes), round);
        // SAFETY: live objects.
        unsafe { nvnSyncWait(sync, u64::MAX) };
        let report = guest.report(scene.place(0));
        assert_eq!(report.counter, 80);
        assert_ne!(report.timestamp, u64::MAX);
    }
}

/// Pre-pass depth, a conditional clear, an EQUAL pass: all pixels pass if the condition is false, none if it is true.
#[test]
fn b585_clears_draws_and_dispatches_wait_for_the_condition() {
    let mut scene = Scene::new();
    let all = scene.guest.vertices(&rectangle(0, 0, SIDE, SIDE, 0.25, [0.0, 1.0, 0.0, 1.0]));
    let compute = scene.guest.program(&["cs_local_1"]);
    let output = scene.guest.take(1 << 16);
    let output = scene.guest.address(output);
    let guest = &scene.guest;
    // The value that the condition looks at is written by the GPU in the same submission: no CPU can know it.
    for (value, clears) in [(0u32, false), (1, true)] {
        let (at, runs) = (scene.place(0), scene.place(8));
        guest.put(at, [7u64, 7, 0, 0]);
        guest.put(output, [0xAAu32; 4]);
        guest.put(runs, 0u64);
        guest.run(|c| {
            guest.begin(c, scene.program);
            guest.depth_test(c, NVNdepthFunc::LESS);
            // SAFETY: live objects.
            unsafe {
                nvnCommandBufferBindVertexBuffer(c, 0, all, 6 * STRIDE as usize);
                nvnCommandBufferDrawArrays(c, TRIANGLES, 0, 6);
                nvnCommandBufferReportValue(c, value, at);
                nvnCommandBufferReportValue(c, 0, at + 4);
                nvnCommandBufferSetRenderEnableConditional(c, IF_NOT_EQUAL, at);
                nvnCommandBufferClearDepthStencil(c, 1.0, NVN_TRUE, 0, 0);
                nvnCommandBufferBindProgram(c, compute, NVNshaderStageBits(0x20));
                nvnCommandBufferBindStorageBuffer(c, NVNshaderStage::COMPUTE, 1, output, 1 << 16);
                nvnCommandBufferDispatchCompute(c, 1, 1, 1);
                nvnCommandBufferSetRenderEnable(c, NVN_TRUE);
                guest.depth_test(c, NVNdepthFunc::EQUAL);
                nvnCommandBufferResetCounter(c, NVNcounterType::SAMPLES_PASSED);
                nvnCommandBufferDrawArrays(c, TRIANGLES, 0, 6);
                scene.report(c, NVNcounterType::SAMPLES_PASSED, 4);
                nvnCommandBufferSetRenderEnableConditional(c, IF_EQUAL, at);
                guest.depth_test(c, NVNdepthFunc::ALWAYS);
                nvnCommandBufferDrawArrays(c, TRIANGLES, 0, 6);
                scene.report(c, NVNcounterType::SAMPLES_PASSED, 5);
                nvnCommandBufferSetRenderEnable(c, NVN_TRUE);
            }
        });
        let pixels = (SIDE * SIDE) as u64;
        assert_eq!(scene.value(4), if clears { 0 } else { pixels }, "value {value}");
        assert_eq!(scene.value(5) - scene.value(4), if clears { 0 } else { pixels }, "value {value}, a draw");
        assert_eq!(guest.at::<[u32; 4]>(output)[0] == 0xAA, !clears, "value {value}, a dispatch");
    }
}

/// Conditions on counters: landed ones and those of the same submission give the same picture; the CPU reads the
/// landed ones.
#[test]
fn b586_conditions_on_landed_counters_draw_as_those_in_flight() {
    const TEST: &str = "b586_conditions_on_landed_counters_draw_as_those_in_flight";
    // In a process of its own: the counters are the driver's.
    if !this_program::is_child() {
        return this_program::alone(TEST, &[]);
    }
    let conditions = || {
        let counters = navin::counters().unwrap();
        ["conditions_on_cpu", "conditions_on_gpu"].map(|name| counters[name].as_u64().unwrap())
    };
    let scene = Scene::new();
    let guest = &scene.guest;
    let samples = NVNcounterType::SAMPLES_PASSED;
    for visible in [false, true] {
        let draws = |c| {
            // SAFETY: live objects.
            unsafe {
                nvnCommandBufferResetCounter(c, samples);
                guest.depth_test(c, if visible { NVNdepthFunc::ALWAYS } else { NVNdepthFunc::NEVER });
                scene.draw(c);
                scene.report(c, samples, 0);
            }
        };
        let conditional = |c| {
            // SAFETY: live objects.
            unsafe {
                guest.depth_test(c, NVNdepthFunc::ALWAYS);
                nvnCommandBufferSetRenderEnableConditional(c, IF_NOT_EQUAL, scene.place(0));
                nvnCommandBufferResetCounter(c, samples);
                scene.draw(c);
                scene.report(c, samples, 4);
                nvnCommandBufferSetRenderEnable(c, NVN_TRUE);
            }
        };
        guest.put(scene.place(0), [0u64; 4]);
        let (expected, before) = (if visible { 80 } else { 0 }, conditions());
        // In flight: the same submission.
        guest.run(|c| {
            guest.begin(c, scene.program);
            draws(c);
            conditional(c);
        });
        assert_eq!([scene.value(0), scene.value(4)], [expected; 2], "in flight");
        assert_eq!(conditions(), [before[0], before[1] + 1], "in flight: the GPU's");
        // Landed: a later one.
        guest.run(|c| {
            guest.begin(c, scene.program);
            draws(c);
        });
        guest.run(conditional);
        assert_eq!([scene.value(0), scene.value(4)], [expected; 2], "landed");
        assert_eq!(conditions(), [before[0] + 1, before[1] + 1], "landed: the CPU's");
    }
}

/// A landed report that something else has written over since: the condition is about what is there now (B585).
#[test]
fn b585_a_condition_on_a_landed_report_sees_what_the_gpu_wrote_over_it() {
    let scene = Scene::new();
    let guest = &scene.guest;
    let (samples, at, copied) = (NVNcounterType::SAMPLES_PASSED, scene.place(0), scene.place(64));
    guest.put(copied, [0u64; 4]);
    // Each makes the value at `at` 0, whatever the report said.
    type Writer<'a> = Box<dyn Fn(*mut NVNcommandBuffer) + 'a>;
    // SAFETY: live objects.
    let writers: [(&str, Writer<'_>); 4] = unsafe {
        [
            ("a reported value", Box::new(|c| (0..2).for_each(|n| nvnCommandBufferReportValue(c, 0, at + 4 * n)))),
            ("a cleared buffer", Box::new(|c| nvnCommandBufferClearBuffer(c, at, 8, 0))),
            (
                "a copied buffer",
                Box::new(|c| nvnCommandBufferCopyBufferToBuffer(c, copied, at, 8, navin_abi::enums::NVNcopyFlags(0))),
            ),
            (
                "an updated uniform buffer",
                Box::new(|c| {
                    nvnCommandBufferUpdateUniformBuffer(
                        c,
                        at & !255,
                        256,
                        (at & 255) as isize,
                        8,
                        [0u64].as_ptr().cast(),
                    );
                }),
            ),
        ]
    };
    let conditional = |c| {
        // SAFETY: live objects. Draws where the value is not 0.
        unsafe {
            nvnCommandBufferSetRenderEnableConditional(c, IF_NOT_EQUAL, at);
            nvnCommandBufferResetCounter(c, samples);
            scene.draw(c);
            scene.report(c, samples, 4);
            nvnCommandBufferSetRenderEnable(c, NVN_TRUE);
        }
    };
    let land = || {
        guest.put(at, [0u64; 4]);
        guest.run(|c| {
            guest.begin(c, scene.program);
            // SAFETY: a live command buffer.
            unsafe { nvnCommandBufferResetCounter(c, samples) };
            scene.draw(c);
            scene.report(c, samples, 0);
        });
        assert_eq!(scene.value(0), 80);
    };
    for (what, write) in &writers {
        // In the condition's own submission.
        land();
        guest.run(|c| {
            write(c);
            conditional(c);
        });
        assert_eq!(scene.value(4), 0, "{what}, in the same submission");
        // And in one before it that may still be running.
        land();
        let spare = scene.record(write);
        let last = scene.record(conditional);
        // SAFETY: live objects.
        unsafe {
            nvnQueueSubmitCommands(guest.queue, 1, &spare);
            nvnQueueSubmitCommands(guest.queue, 1, &last);
            nvnQueueFinish(guest.queue);
        }
        assert_eq!(scene.value(4), 0, "{what}, in flight");
    }
}

/// Devices without the extensions do the same: the CPU waits for what a condition looks at, and lays its clock beside
/// the device's.
#[test]
fn b585_without_conditional_rendering_and_calibrated_clocks() {
    if std::env::var_os("NAVIN_WITHOUT").is_some() {
        return;
    }
    let tests = [
        "b585_clears_draws_and_dispatches_wait_for_the_condition",
        "b587_counters_and_conditions_go_on_over_every_cut",
        "times_are_the_guests_clock_and_clears_are_not_counted",
    ];
    let status = this_program::command()
        .args(tests)
        .args(["--exact", "--test-threads=1"])
        .env("NAVIN_WITHOUT", "VK_EXT_conditional_rendering,VK_EXT_calibrated_timestamps")
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
}

/// The times of a frame span its own work: not what lies between frames, nor an old frame's start (B622).
#[test]
fn b622_a_frames_times_span_the_frames_own_work() {
    let scene = Scene::new();
    let stall = std::time::Duration::from_millis(300);
    let mut before = 0;
    for frame in 0..12 {
        scene.guest.run(|c| {
            scene.report(c, NVNcounterType::TIMESTAMP, 0);
            scene.guest.begin(c, scene.program);
            scene.draw(c);
            scene.report(c, NVNcounterType::TIMESTAMP, 1);
        });
        let [start, end] = [0, 1].map(|n| scene.guest.nanoseconds(&scene.guest.report(scene.place(n))));
        assert!(before <= start && start <= end, "frame {frame}: the stamps are this frame's");
        assert!(end - start < stall.as_nanos() as u64 / 2, "frame {frame}: {} ns", end - start);
        before = end;
        if frame == 5 {
            std::thread::sleep(stall);
        }
    }
}

/// Frames of five milliseconds with a wait for another queue's event in the middle, and a stall of a second once: the
/// reported times are those of the work (B622).
#[test]
fn b622_frames_of_five_milliseconds_are_reported_as_such_over_waits_and_stalls() {
    const BYTES: usize = 1 << 20;
    const FRAMES: usize = 14;
    let mut scene = Scene::new();
    let other = queue(scene.guest.device);
    let work = scene.guest.take(BYTES);
    let (work, event) = (scene.guest.address(work), scene.event());
    let fills = |c, count: u32| {
        // SAFETY: a live command buffer.
        (0..count).for_each(|n| unsafe { nvnCommandBufferClearBuffer(c, work, BYTES, n) });
    };
    let span = |frame: &dyn Fn(*mut NVNcommandBuffer)| {
        scene.guest.run(|c| {
            scene.report(c, NVNcounterType::TIMESTAMP, 0);
            frame(c);
            scene.report(c, NVNcounterType::TIMESTAMP, 1);
        });
        let [start, end] = [0, 1].map(|n| scene.guest.nanoseconds(&scene.guest.report(scene.place(n))));
        end - start
    };
    let median = |mut spans: Vec<u64>| {
        spans.sort_unstable();
        spans[spans.len() / 2]
    };
    let mut count = 2;
    while median((0..3).map(|_| span(&|c| fills(c, count))).collect()) < 5_000_000 && count < 1 << 13 {
        count *= 2;
    }
    let expected = median((0..5).map(|_| span(&|c| fills(c, count))).collect());
    assert!(expected >= 4_000_000, "{count} fills take {expected} ns");
    let frame = |n: u32| {
        scene.guest.submit(other, |c| {
            // SAFETY: live objects.
            unsafe {
                nvnCommandBufferSignalEvent(
                    c,
                    event,
                    NVNeventSignalMode::WRITE,
                    NVNeventSignalLocation::BOTTOM,
                    NVNeventSignalFlags(0),
                    n,
                );
            }
        });
        span(&|c| {
            fills(c, count / 2);
            // SAFETY: live objects.
            unsafe { nvnCommandBufferWaitEvent(c, event, NVNeventWaitMode::EQUAL, n) };
            fills(c, count / 2);
        })
    };
    let spans: Vec<u64> = (0..FRAMES)
        .map(|n| {
            if n == 4 {
                std::thread::sleep(std::time::Duration::from_secs(1));
            }
            frame(n as u32 + 1)
        })
        .collect();
    // A CPU as the device does other things meanwhile.
    let cpu = navin::counters().unwrap()["device"].as_str().is_some_and(|name| name.contains("llvmpipe"));
    let allowed = if cpu { expected } else { expected / 10 };
    let after = median(spans[5..].to_vec());
    println!("{count} fills: {expected} ns; frames {spans:?}");
    assert!(after.abs_diff(expected) <= allowed, "{after} ns instead of {expected}: {spans:?}");
    assert!(spans[4..].iter().all(|span| *span < 500_000_000), "the stall is nobody's: {spans:?}");
}

/// 30 counting submissions a frame for 300 frames: as many query pools as frames in flight need, and no more (B589).
#[test]
fn b589_counting_frames_make_no_queries_of_their_own() {
    const TEST: &str = "b589_counting_frames_make_no_queries_of_their_own";
    if !this_program::is_child() {
        return this_program::alone(TEST, &[]);
    }
    let scene = Scene::new();
    let samples = NVNcounterType::SAMPLES_PASSED;
    let pools = || navin::counters().unwrap()["query_pools"].as_u64().unwrap();
    let frame = || {
        scene.guest.run(|c| {
            scene.guest.begin(c, scene.program);
            // SAFETY: live objects.
            unsafe {
                nvnCommandBufferResetCounter(c, samples);
                for n in 0..30 {
                    scene.draw(c);
                    scene.report(c, samples, n);
                    // Cuts: each part is a submission of its own.
                    let none = NVNsyncFlagBits(0);
                    nvnCommandBufferFenceSync(c, scene.sync, NVNsyncCondition::ALL_GPU_COMMANDS_COMPLETE, none);
                    nvnCommandBufferWaitSync(c, scene.sync);
                }
            }
        });
        assert_eq!([0, 29].map(|n| scene.value(n)), [80, 30 * 80]);
    };
    (0..300).for_each(|_| frame());
    // A submission has a pool of each kind that it uses: samples and times.
    assert!(pools() <= 2 * 32, "{} query pools for at most 31 submissions in flight", pools());
}

/// Many reports without a cut of the rendering, and many submissions that count: the queries are recycled.
#[test]
fn b589_reports_in_any_number() {
    let scene = Scene::new();
    let samples = NVNcounterType::SAMPLES_PASSED;
    let reports = 3000u64;
    scene.guest.run(|c| {
        scene.guest.begin(c, scene.program);
        // SAFETY: a live command buffer.
        unsafe { nvnCommandBufferResetCounter(c, samples) };
        for n in 0..reports {
            scene.draw(c);
            scene.report(c, samples, n % 200);
        }
    });
    // Place p holds the last report n with n % 200 = p.
    for place in 0..200 {
        let last = (0..reports).rev().find(|n| n % 200 == place).unwrap();
        assert_eq!(scene.value(place), 80 * (last + 1), "place {place}");
    }
    for round in 0..100 {
        scene.guest.run(|c| {
            // SAFETY: a live command buffer.
            unsafe { nvnCommandBufferResetCounter(c, samples) };
            (0..=round % 3).for_each(|_| scene.draw(c));
            scene.report(c, samples, 0);
        });
        assert_eq!(scene.value(0), 80 * (round % 3 + 1));
    }
}
