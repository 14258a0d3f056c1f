//! Queues, events and syncs as a guest sees them, through NVN's calls. Needs a Vulkan device, as `./x test` arranges.
//! The scheduler's own rules are tested one by one in `navin-sync`; here is what takes a driver.

mod guest;
mod this_program;

use std::time::{Duration, Instant};

use guest::*;
use navin_abi::enums::{
    NVNclearColorMask, NVNcopyFlags, NVNeventSignalFlags, NVNeventSignalLocation, NVNeventSignalMode, NVNeventWaitMode,
    NVNface, NVNformat, NVNshaderStage, NVNsyncCondition, NVNsyncFlagBits, NVNsyncWaitResult,
};
use navin_abi::types::*;
use nvn::trampolines::*;

const EQUAL: NVNeventWaitMode = NVNeventWaitMode::EQUAL;
const GEQUAL: NVNeventWaitMode = NVNeventWaitMode::GEQUAL_WRAP;
const WRITE: NVNeventSignalMode = NVNeventSignalMode::WRITE;
const ADD: NVNeventSignalMode = NVNeventSignalMode::ADD;
const SIGNALED: NVNsyncWaitResult = NVNsyncWaitResult::ALREADY_SIGNALED;
const EXPIRED: NVNsyncWaitResult = NVNsyncWaitResult::TIMEOUT_EXPIRED;
const SECOND: u64 = 1_000_000_000;

/// A command buffer with memory for recordings that stay valid, one after the other.
struct Recorder {
    commands: *mut NVNcommandBuffer,
}

// SAFETY: a guest's objects may go from one thread to another.
unsafe impl Send for Recorder {}

impl Recorder {
    fn new(guest: &mut Guest) -> Self {
        const BYTES: usize = 1 << 18;
        let (at, commands) = (guest.take(BYTES), object());
        // SAFETY: zeroed storage that stays; the lent memory is the command buffer's alone.
        unsafe {
            assert_eq!(nvnCommandBufferInitialize(commands, guest.device), NVN_TRUE);
            nvnCommandBufferAddCommandMemory(commands, guest.pool, at as isize, BYTES);
            nvnCommandBufferAddControlMemory(commands, storage(1 << 16), 1 << 16);
        }
        Self { commands }
    }

    fn record(&self, record: impl FnOnce(*mut NVNcommandBuffer)) -> NVNcommandHandle {
        // SAFETY: a live command buffer.
        unsafe {
            nvnCommandBufferBeginRecording(self.commands);
            record(self.commands);
            let handle = nvnCommandBufferEndRecording(self.commands);
            assert_ne!(handle, 0);
            handle
        }
    }
}

/// Submits one recording.
fn submit(queue: *mut NVNqueue, handle: NVNcommandHandle) {
    // SAFETY: a live queue.
    unsafe { nvnQueueSubmitCommands(queue, 1, &handle) };
}

struct Event {
    object: *mut NVNevent,
    address: u64,
}

fn event(guest: &mut Guest, value: u32) -> Event {
    let at = guest.take(4);
    let (builder, object) = (object(), object());
    guest.put(guest.address(at), value);
    // SAFETY: zeroed storage that stays.
    unsafe {
        nvnEventBuilderSetDefaults(builder);
        nvnEventBuilderSetStorage(builder, guest.pool, at as i64);
        assert_eq!(nvnEventInitialize(object, builder), NVN_TRUE);
    }
    Event { object, address: guest.address(at) }
}

impl Event {
    fn value(&self) -> u32 {
        // SAFETY: a live event.
        unsafe { nvnEventGetValue(self.object) }
    }

    fn signal(&self, mode: NVNeventSignalMode, value: u32) {
        // SAFETY: a live event.
        unsafe { nvnEventSignal(self.object, mode, value) };
    }

    fn record_signal(&self, c: *mut NVNcommandBuffer, mode: NVNeventSignalMode, value: u32) {
        // SAFETY: live objects.
        unsafe {
            nvnCommandBufferSignalEvent(
                c,
                self.object,
                mode,
                NVNeventSignalLocation::BOTTOM,
                NVNeventSignalFlags(0),
                value,
            )
        };
    }

    fn record_wait(&self, c: *mut NVNcommandBuffer, mode: NVNeventWaitMode, value: u32) {
        // SAFETY: live objects.
        unsafe { nvnCommandBufferWaitEvent(c, self.object, mode, value) };
    }
}

fn copy(c: *mut NVNcommandBuffer, from: u64, to: u64, bytes: usize) {
    // SAFETY: a live command buffer.
    unsafe { nvnCommandBufferCopyBufferToBuffer(c, from, to, bytes, NVNcopyFlags(0)) };
}

fn clear(c: *mut NVNcommandBuffer, at: u64, bytes: usize, value: u32) {
    // SAFETY: a live command buffer.
    unsafe { nvnCommandBufferClearBuffer(c, at, bytes, value) };
}

fn fence(queue: *mut NVNqueue, sync: *mut NVNsync) {
    // SAFETY: live objects.
    unsafe {
        nvnQueueFenceSync(queue, sync, NVNsyncCondition::ALL_GPU_COMMANDS_COMPLETE, NVNsyncFlagBits(0));
    }
}

fn wait(sync: *mut NVNsync, timeout: u64) -> NVNsyncWaitResult {
    // SAFETY: a live sync.
    unsafe { nvnSyncWait(sync, timeout) }
}

/// How often a race is run: `NAVIN_TEST_ROUNDS`, for a long run on a device (B588 asks for 1,000,000), else `usual`.
fn rounds(usual: u32) -> u32 {
    std::env::var("NAVIN_TEST_ROUNDS").map_or(usual, |text| text.parse().expect("a number of rounds"))
}

fn done(result: NVNsyncWaitResult) -> bool {
    result == SIGNALED || result == NVNsyncWaitResult::CONDITION_SATISFIED
}

fn finish(queue: *mut NVNqueue) {
    // SAFETY: a live queue.
    unsafe { nvnQueueFinish(queue) };
}

/// The lighting producer and the ambient-cache consumer, with the consumer always submitted first.
#[test]
fn b590_a_consumer_submitted_before_its_producer_holds_the_producers_values_in_300_frames() {
    const BYTES: usize = 256;
    let mut guest = Guest::new();
    let (one, five) = (guest.queue, queue(guest.device));
    let (producer, consumer) = (Recorder::new(&mut guest), Recorder::new(&mut guest));
    let (source, shared, cache) = (guest.take(BYTES), guest.take(BYTES), guest.take(BYTES));
    let [source, shared, cache] = [source, shared, cache].map(|at| guest.address(at));
    let (ready, released) = (event(&mut guest, 0), event(&mut guest, 0));
    let sync = guest.sync();
    for frame in 1..=300u32 {
        let acquire = consumer.record(|c| {
            released.record_wait(c, GEQUAL, frame);
            copy(c, shared, cache, BYTES);
        });
        submit(five, acquire);
        fence(five, sync);
        assert_eq!(wait(sync, 0), EXPIRED, "its producer is not even submitted");
        let produce = producer.record(|c| {
            ready.record_wait(c, EQUAL, frame);
            clear(c, shared, BYTES, 0);
            copy(c, source, shared, BYTES);
            released.record_signal(c, WRITE, frame);
        });
        submit(one, produce);
        for word in 0..BYTES as u64 / 4 {
            guest.put(source + 4 * word, frame ^ word as u32);
            guest.put(shared + 4 * word, 0u32);
        }
        ready.signal(WRITE, frame);
        assert!(done(wait(sync, 10 * SECOND)));
        assert_eq!(released.value(), frame);
        for word in 0..BYTES as u64 / 4 {
            assert_eq!(guest.at::<u32>(cache + 4 * word), frame ^ word as u32, "frame {frame}");
        }
    }
    // SAFETY: a live queue.
    unsafe { nvnQueueFinalize(five) };
}

#[test]
fn b229_both_predicates_and_both_signals_from_cpu_and_gpu_with_values_that_wrap() {
    let mut guest = Guest::new();
    let (producers, consumers) = (guest.queue, queue(guest.device));
    let (producer, consumer) = (Recorder::new(&mut guest), Recorder::new(&mut guest));
    let place = guest.take(64);
    let place = guest.address(place);
    let sync = guest.sync();
    for by_gpu in [false, true] {
        for (mode, begin, signal, value, target) in [
            (EQUAL, 0, WRITE, 7, 7),
            (EQUAL, 3, ADD, 4, 7),
            (GEQUAL, 0, WRITE, 9, 7),
            // Over 2^32: 4 is 6 steps past 0xFFFF_FFFE.
            (GEQUAL, 0xFFFF_FFF0, WRITE, 4, 0xFFFF_FFFE),
            (GEQUAL, 0xFFFF_FFF0, ADD, 0x14, 0xFFFF_FFFE),
        ] {
            let event = event(&mut guest, begin);
            guest.put(place, 0u32);
            submit(
                consumers,
                consumer.record(|c| {
                    event.record_wait(c, mode, target);
                    clear(c, place, 4, 1);
                }),
            );
            fence(consumers, sync);
            assert_eq!(wait(sync, 2_000_000), EXPIRED, "{begin:#x} does not satisfy {mode:?} {target:#x}");
            assert_eq!(guest.at::<u32>(place), 0);
            if by_gpu {
                submit(producers, producer.record(|c| event.record_signal(c, signal, value)));
            } else {
                event.signal(signal, value);
            }
            assert!(done(wait(sync, 10 * SECOND)), "{mode:?} {signal:?} by the GPU: {by_gpu}");
            assert_eq!(guest.at::<u32>(place), 1);
            assert_eq!(guest.at::<u32>(event.address), if signal == ADD { begin.wrapping_add(value) } else { value });
        }
    }
}

/// The event's word itself is memory like any other: who goes on behind a wait finds the value there, and a clear behind
/// a signal of the same recording is not overwritten by it.
#[test]
fn b590_the_word_of_an_event_is_written_in_order_with_what_else_the_gpu_writes_and_reads() {
    let mut guest = Guest::new();
    let (producers, consumers) = (guest.queue, queue(guest.device));
    let (producer, consumer) = (Recorder::new(&mut guest), Recorder::new(&mut guest));
    let place = guest.take(64);
    let place = guest.address(place);
    let event = event(&mut guest, 0);
    for round in 1..=20u32 {
        let (signals, waits) = (
            producer.record(|c| event.record_signal(c, WRITE, round)),
            consumer.record(|c| {
                event.record_wait(c, GEQUAL, round);
                copy(c, event.address, place, 4);
            }),
        );
        submit(producers, signals);
        submit(consumers, waits);
        finish(consumers);
        assert_eq!(guest.at::<u32>(place), round);
    }
    // Write and adds in a recording, a copy between them, a clear behind a write.
    let all = producer.record(|c| {
        event.record_signal(c, WRITE, 5);
        event.record_signal(c, ADD, 7);
        copy(c, event.address, place, 4);
        event.record_signal(c, ADD, u32::MAX);
        copy(c, event.address, place + 4, 4);
        event.record_signal(c, WRITE, 9);
        clear(c, event.address, 4, 0);
    });
    submit(producers, all);
    finish(producers);
    assert_eq!(guest.at::<[u32; 2]>(place), [12, 11]);
    assert_eq!(guest.at::<u32>(event.address), 0);
}

#[test]
fn b229_only_the_waiting_queue_is_parked_and_memory_written_without_a_call_lets_it_go() {
    let mut guest = Guest::new();
    let (parked, free) = (guest.queue, queue(guest.device));
    let (a, b) = (Recorder::new(&mut guest), Recorder::new(&mut guest));
    let event = event(&mut guest, 0);
    let (first, second) = (guest.sync(), guest.sync());
    submit(parked, a.record(|c| event.record_wait(c, EQUAL, 1)));
    fence(parked, first);
    submit(free, b.record(|c| clear(c, event.address + 64, 4, 5)));
    fence(free, second);
    assert!(done(wait(second, 10 * SECOND)), "another queue goes on");
    finish(free);
    assert_eq!(wait(first, 0), EXPIRED);
    // Some guests write an event's word themselves.
    guest.put(event.address, 1u32);
    assert!(done(wait(first, 10 * SECOND)));
}

#[test]
fn b229_a_wait_on_a_sync_never_fenced_passes_from_a_queue_and_from_a_command_buffer() {
    let mut guest = Guest::new();
    let recorder = Recorder::new(&mut guest);
    let place = guest.take(64);
    let place = guest.address(place);
    let (never, sync) = (guest.sync(), guest.sync());
    // SAFETY: live objects.
    unsafe { assert_eq!(nvnQueueWaitSync(guest.queue, never), NVN_TRUE) };
    submit(
        guest.queue,
        recorder.record(|c| {
            clear(c, place, 4, 1);
            // SAFETY: live objects.
            unsafe { nvnCommandBufferWaitSync(c, never) };
            clear(c, place + 4, 4, 2);
        }),
    );
    // The fence that the wait would wait for comes only now.
    fence(guest.queue, never);
    fence(guest.queue, sync);
    assert!(done(wait(sync, 10 * SECOND)));
    assert_eq!(guest.at::<[u32; 2]>(place), [1, 2]);
}

#[test]
fn b229_a_queued_wait_keeps_its_fence_when_the_sync_is_fenced_again() {
    let mut guest = Guest::new();
    let (parked, waiting, other) = (guest.queue, queue(guest.device), queue(guest.device));
    let recorder = Recorder::new(&mut guest);
    let event = event(&mut guest, 0);
    let (sync, after) = (guest.sync(), guest.sync());
    submit(parked, recorder.record(|c| event.record_wait(c, EQUAL, 1)));
    fence(parked, sync);
    // SAFETY: live objects.
    unsafe { assert_eq!(nvnQueueWaitSync(waiting, sync), NVN_TRUE) };
    fence(waiting, after);
    // A newer fence, on a queue that runs.
    fence(other, sync);
    assert!(done(wait(sync, 10 * SECOND)), "the newest fence");
    assert_eq!(wait(after, 5_000_000), EXPIRED, "the wait is for the older one");
    event.signal(WRITE, 1);
    assert!(done(wait(after, 10 * SECOND)));
}

#[test]
fn b232_a_recorded_fence_stands_for_the_readback_before_it_and_for_nothing_when_not_submitted() {
    let mut guest = Guest::new();
    let (parked, other) = (guest.queue, queue(guest.device));
    let (a, b) = (Recorder::new(&mut guest), Recorder::new(&mut guest));
    let place = guest.take(64);
    let place = guest.address(place);
    let (sync, later) = (guest.sync(), guest.sync());
    let event = event(&mut guest, 0);
    let record_fence = |c| {
        let condition = NVNsyncCondition::ALL_GPU_COMMANDS_COMPLETE;
        // SAFETY: live objects.
        unsafe { nvnCommandBufferFenceSync(c, sync, condition, NVNsyncFlagBits(0)) };
    };
    let handle = a.record(|c| {
        event.record_wait(c, EQUAL, 1);
        clear(c, place, 4, 0xABCD);
        record_fence(c);
    });
    assert_eq!(wait(sync, 10 * SECOND), SIGNALED, "recorded is not fenced (B236)");
    submit(parked, handle);
    submit(other, b.record(|c| clear(c, place + 16, 4, 1)));
    fence(other, later);
    assert!(done(wait(later, 10 * SECOND)));
    assert_eq!(wait(sync, 5_000_000), EXPIRED, "another queue's later work is not this fence");
    event.signal(WRITE, 1);
    assert!(done(wait(sync, 10 * SECOND)));
    assert_eq!(guest.at::<u32>(place), 0xABCD, "visible when the wait returns");
}

#[test]
fn b236_a_sync_not_fenced_since_its_initialize_is_signalled_whatever_the_timeout() {
    let guest = Guest::new();
    let sync = guest.sync();
    let start = Instant::now();
    for timeout in [0, 15 * SECOND, u64::MAX] {
        assert_eq!(wait(sync, timeout), SIGNALED);
    }
    fence(guest.queue, sync);
    assert!(done(wait(sync, 10 * SECOND)));
    // SAFETY: live objects.
    unsafe {
        nvnSyncFinalize(sync);
        assert_eq!(nvnSyncInitialize(sync, guest.device), NVN_TRUE);
    }
    assert_eq!(wait(sync, 15 * SECOND), SIGNALED);
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// What the guest's pixels show of one program's rectangle.
fn lit(guest: &Guest) -> usize {
    guest.pixels().iter().filter(|texel| **texel == [255; 4]).count()
}

/// Draws with whatever the queue has bound.
fn draw(guest: &Guest, c: *mut NVNcommandBuffer, vertices: u64) {
    // SAFETY: live objects.
    unsafe {
        nvnCommandBufferBindVertexBuffer(c, 0, vertices, 6 * STRIDE as usize);
        nvnCommandBufferDrawArrays(c, navin_abi::enums::NVNdrawPrimitive::TRIANGLES, 0, 6);
    }
    let _ = guest;
}

#[test]
fn b230_each_queue_has_bindings_of_its_own_and_a_new_one_in_old_storage_has_none() {
    let mut guest = Guest::new();
    let program = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
    let small = guest.vertices(&rectangle(4, 4, 10, 8, 0.0, WHITE));
    let (first, second) = (guest.queue, queue(guest.device));
    // The second queue has a target and a program of its own, and culls what the first draws.
    let (other_target, own) = (guest.texture(NVNformat::RGBA8, SIDE, SIDE), guest.program(&["aux_vs_v0", "aux_fs_f1"]));
    let culling = object();
    let result = guest.take(SIDE as usize * SIDE as usize * 4);
    let result = guest.address(result);
    let lit_there =
        |guest: &Guest| (0..(SIDE * SIDE) as u64).filter(|i| guest.at::<u32>(result + 4 * i) == u32::MAX).count();
    // SAFETY: zeroed storage that stays.
    unsafe {
        nvnPolygonStateSetDefaults(culling);
        nvnPolygonStateSetCullFace(culling, NVNface::FRONT_AND_BACK);
    }
    // Bound on the first queue, drawn by a later submission of it, with the second queue's in between.
    guest.submit(first, |c| guest.begin(c, program));
    finish(first);
    guest.submit(second, |c| draw(&guest, c, small));
    finish(second);
    assert_eq!(lit(&guest), 0, "the second queue has no program and no target");
    let read_there = |c| {
        let all = NVNcopyRegion { xoffset: 0, yoffset: 0, zoffset: 0, width: SIDE, height: SIDE, depth: 1 };
        // SAFETY: live objects.
        unsafe {
            nvnCommandBufferCopyTextureToBuffer(c, other_target, std::ptr::null(), &all, result, NVNcopyFlags(0));
        }
    };
    guest.submit(second, |c| {
        guest.begin(c, own);
        let targets = [other_target.cast_const()];
        // SAFETY: live objects.
        unsafe {
            nvnCommandBufferSetRenderTargets(
                c,
                1,
                targets.as_ptr(),
                std::ptr::null(),
                std::ptr::null(),
                std::ptr::null(),
            );
            nvnCommandBufferClearColor(c, 0, [0.0f32; 4].as_ptr(), NVNclearColorMask::RGBA);
            nvnCommandBufferBindPolygonState(c, culling);
        }
        draw(&guest, c, small);
        read_there(c);
    });
    finish(second);
    assert_eq!((lit(&guest), lit_there(&guest)), (0, 0), "everything is culled there");
    guest.submit(first, |c| draw(&guest, c, small));
    finish(first);
    assert_eq!((lit(&guest), lit_there(&guest)), (80, 0), "the first queue's bindings are as they were");
    let drawing = object();
    // SAFETY: live objects.
    unsafe { nvnPolygonStateSetDefaults(drawing) };
    guest.submit(second, |c| {
        // SAFETY: live objects.
        unsafe { nvnCommandBufferBindPolygonState(c, drawing) };
        draw(&guest, c, small);
        read_there(c);
    });
    finish(second);
    assert_eq!(lit_there(&guest), 80, "the second queue's target and program are as they were");
    // In the same storage: defaults.
    guest.submit(first, |c| guest.begin(c, program));
    // SAFETY: live objects; the program's storage is the guest's again.
    unsafe {
        nvnQueueFinalize(first);
        nvnProgramFinalize(program);
        program.cast::<u8>().write_bytes(0xA5, 64);
        let builder = object();
        nvnQueueBuilderSetDefaults(builder);
        nvnQueueBuilderSetDevice(builder, guest.device);
        assert_eq!(nvnQueueInitialize(first, builder), NVN_TRUE);
    }
    guest.submit(first, |c| draw(&guest, c, small));
    finish(first);
    assert_eq!(lit(&guest), 0);
}

#[test]
fn b231_a_finalized_program_is_dropped_from_the_bindings_of_every_queue() {
    let mut guest = Guest::new();
    let program = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
    let small = guest.vertices(&rectangle(4, 4, 10, 8, 0.0, WHITE));
    let (active, saved) = (guest.queue, queue(guest.device));
    for queue in [saved, active] {
        guest.submit(queue, |c| {
            guest.begin(c, program);
            draw(&guest, c, small);
        });
        finish(queue);
        assert_eq!(lit(&guest), 80);
    }
    // SAFETY: live objects; the storage is the guest's again after Finalize.
    unsafe {
        nvnProgramFinalize(program);
        program.cast::<u8>().write_bytes(0xA5, 64);
    }
    for queue in [active, saved] {
        guest.submit(queue, |c| {
            // SAFETY: a live command buffer.
            unsafe {
                let black = [0.0f32; 4];
                nvnCommandBufferClearColor(c, 0, black.as_ptr(), navin_abi::enums::NVNclearColorMask::RGBA);
            }
            draw(&guest, c, small);
        });
        finish(queue);
        assert_eq!(lit(&guest), 0, "nothing is drawn with it any more, and nothing faults");
    }
}

#[test]
fn b229_what_was_submitted_keeps_its_program_and_textures_though_they_are_finalized_before_it_runs() {
    let mut guest = Guest::new();
    let program = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
    let small = guest.vertices(&rectangle(4, 4, 10, 8, 0.0, WHITE));
    let event = event(&mut guest, 0);
    let texture = guest.texture(navin_abi::enums::NVNformat::RGBA8, SIDE, SIDE);
    let elsewhere = guest.take(1 << 17).next_multiple_of(1 << 16);
    let result = guest.take(SIDE as usize * SIDE as usize * 4);
    let result = guest.address(result);
    guest.submit(guest.queue, |c| {
        event.record_wait(c, EQUAL, 1);
        guest.begin(c, program);
        draw(&guest, c, small);
        let all = NVNcopyRegion { xoffset: 0, yoffset: 0, zoffset: 0, width: SIDE, height: SIDE, depth: 1 };
        let none = NVNcopyFlags(0);
        // SAFETY: live objects.
        unsafe {
            nvnCommandBufferCopyTextureToTexture(
                c,
                guest.target,
                std::ptr::null(),
                &all,
                texture,
                std::ptr::null(),
                &all,
                none,
            );
            nvnCommandBufferCopyTextureToBuffer(c, texture, std::ptr::null(), &all, result, none);
        }
    });
    // SAFETY: live objects; their storage is the guest's again.
    unsafe {
        nvnProgramFinalize(program);
        nvnTextureFinalize(texture);
        program.cast::<u8>().write_bytes(0xA5, 64);
        texture.cast::<u8>().write_bytes(0xA5, 64);
        // And other objects are made in it: a program without stages, a texture of another size.
        assert_eq!(nvnProgramInitialize(program, guest.device), NVN_TRUE);
        let builder = object();
        nvnTextureBuilderSetDefaults(builder);
        nvnTextureBuilderSetDevice(builder, guest.device);
        nvnTextureBuilderSetTarget(builder, navin_abi::enums::NVNtextureTarget::TARGET_2D);
        nvnTextureBuilderSetFormat(builder, NVNformat::R8);
        nvnTextureBuilderSetSize2D(builder, 16, 16);
        nvnTextureBuilderSetStorage(builder, guest.pool, elsewhere as isize);
        assert_eq!(nvnTextureInitialize(texture, builder), NVN_TRUE);
    }
    std::thread::sleep(Duration::from_millis(5));
    event.signal(WRITE, 1);
    finish(guest.queue);
    let texels = (0..(SIDE * SIDE) as u64).filter(|i| guest.at::<u32>(result + 4 * i) == u32::MAX);
    assert_eq!(texels.count(), 80);
}

#[test]
fn b233_two_threads_submit_on_two_queues_and_every_result_is_its_own() {
    const ROUNDS: u32 = 10_000;
    /// Recordings between two waits of a thread.
    const BATCH: u32 = 16;
    let mut guest = Guest::new();
    let threads: Vec<_> = (0..2u32)
        .map(|n| {
            let queue = if n == 0 { guest.queue } else { queue(guest.device) };
            let recorders: Vec<_> = (0..BATCH).map(|_| Recorder::new(&mut guest)).collect();
            let place = guest.take(64 * BATCH as usize);
            (n, queue as usize, recorders, guest.address(place), guest.sync() as usize)
        })
        .collect();
    let base = (guest.memory as usize, guest.address(0));
    std::thread::scope(|scope| {
        for (n, queue, recorders, place, sync) in threads {
            scope.spawn(move || {
                let (queue, sync) = (queue as *mut NVNqueue, sync as *mut NVNsync);
                // SAFETY: inside the pool's storage.
                let word = |at: u64| unsafe { ((base.0 + (at - base.1) as usize) as *const u32).read_volatile() };
                for round in 0..ROUNDS / BATCH {
                    let value = |k: u32| (round * BATCH + k) * 2 + n;
                    for (k, recorder) in recorders.iter().enumerate() {
                        let at = place + 64 * k as u64;
                        submit(queue, recorder.record(|c| clear(c, at, 64, value(k as u32))));
                    }
                    fence(queue, sync);
                    assert!(done(wait(sync, 60 * SECOND)));
                    for k in 0..BATCH {
                        assert_eq!(word(place + 64 * u64::from(k)), value(k), "thread {n}, round {round}");
                    }
                }
            });
        }
    });
}

#[test]
fn b234_nothing_runs_while_suspended_and_everything_after_the_resume_in_order() {
    let mut guest = Guest::new();
    let (a, b) = (guest.queue, queue(guest.device));
    let recorders: Vec<_> = (0..4).map(|_| Recorder::new(&mut guest)).collect();
    let place = guest.take(256);
    let place = guest.address(place);
    let event = event(&mut guest, 0);
    let (first, second) = (guest.sync(), guest.sync());
    // One queue stands at an event before the suspend.
    submit(
        a,
        recorders[0].record(|c| {
            event.record_wait(c, EQUAL, 1);
            clear(c, place, 4, 1);
        }),
    );
    fence(a, first);
    assert!(navin::lifecycle::suspend());
    assert!(navin::lifecycle::suspend(), "again is the same");
    event.signal(WRITE, 1);
    submit(a, recorders[1].record(|c| copy(c, place, place + 64, 4)));
    submit(b, recorders[2].record(|c| clear(c, place + 128, 4, 7)));
    fence(b, second);
    assert_eq!(wait(first, 20_000_000), EXPIRED);
    assert_eq!(wait(second, 20_000_000), EXPIRED);
    assert_eq!([0, 64, 128].map(|at| guest.at::<u32>(place + at)), [0, 0, 0]);
    navin::lifecycle::resume();
    assert!(done(wait(first, 10 * SECOND)) && done(wait(second, 10 * SECOND)));
    finish(a);
    assert_eq!([0, 64, 128].map(|at| guest.at::<u32>(place + at)), [1, 1, 7]);
}

/// A guest that polls an event and then reads what was written before it never reads old bytes.
#[test]
fn b588_what_the_gpu_wrote_before_a_signal_is_there_when_the_cpu_sees_the_signal() {
    let rounds = rounds(3_000);
    let mut guest = Guest::new();
    let recorders: Vec<_> = (0..2).map(|_| Recorder::new(&mut guest)).collect();
    let place = guest.take(4096);
    let place = guest.address(place);
    let event = event(&mut guest, 0);
    for round in 1..=rounds {
        submit(
            guest.queue,
            recorders[round as usize % 2].record(|c| {
                clear(c, place, 4096, round);
                event.record_signal(c, WRITE, round);
            }),
        );
        let start = Instant::now();
        while guest.at::<u32>(event.address) != round {
            assert!(start.elapsed() < Duration::from_secs(20), "round {round} is not signalled");
            std::hint::spin_loop();
        }
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
        assert_eq!([0, 2048, 4092].map(|at| guest.at::<u32>(place + at)), [round; 3]);
    }
}

#[test]
fn a_compute_queue_and_a_graphics_queue_hand_work_to_each_other() {
    let mut guest = Guest::new();
    let program = guest.program(&["ssbo_load_store"]);
    let compute = queue(guest.device);
    let (a, b) = (Recorder::new(&mut guest), Recorder::new(&mut guest));
    let (input, output) = (guest.take(1024), guest.take(4096));
    let (input, output) = (guest.address(input), guest.address(output));
    let event = event(&mut guest, 0);
    submit(
        compute,
        a.record(|c| {
            event.record_wait(c, GEQUAL, 1);
            // SAFETY: live objects.
            unsafe {
                nvnCommandBufferBindProgram(c, program, navin_abi::enums::NVNshaderStageBits(0x20));
                nvnCommandBufferBindStorageBuffer(c, NVNshaderStage::COMPUTE, 0, input, 1024);
                nvnCommandBufferBindStorageBuffer(c, NVNshaderStage::COMPUTE, 1, output, 3072);
                nvnCommandBufferDispatchCompute(c, 4, 1, 1);
            }
        }),
    );
    submit(
        guest.queue,
        b.record(|c| {
            clear(c, input, 1024, 21);
            event.record_signal(c, ADD, 1);
        }),
    );
    finish(compute);
    assert_eq!([0, 1024, 2048].map(|at| guest.at::<u32>(output + at)), [21, 42, 42]);
}

/// Signals do not cut: two of them and what is between go to the GPU as one submission (B229).
#[test]
fn b229_two_signals_of_a_recording_are_one_submission_and_a_wait_is_behind_it() {
    const TEST: &str = "b229_two_signals_of_a_recording_are_one_submission_and_a_wait_is_behind_it";
    // In a process of its own: the counter is the driver's.
    if !this_program::is_child() {
        return this_program::alone(TEST, &[]);
    }
    let submissions = || navin::counters().unwrap()["submissions"].as_u64().unwrap();
    let mut guest = Guest::new();
    let consumer = queue(guest.device);
    let place = guest.take(4096);
    let place = guest.address(place);
    let (first, second) = (event(&mut guest, 0), event(&mut guest, 0));
    let (a, b) = (Recorder::new(&mut guest), Recorder::new(&mut guest));
    let before = submissions();
    submit(
        guest.queue,
        a.record(|c| {
            clear(c, place, 64, 1);
            first.record_signal(c, WRITE, 1);
            clear(c, place + 64, 64, 2);
            second.record_signal(c, WRITE, 1);
            clear(c, place + 128, 64, 3);
        }),
    );
    finish(guest.queue);
    assert_eq!(submissions() - before, 1, "signals do not cut");
    submit(
        consumer,
        b.record(|c| {
            first.record_wait(c, GEQUAL, 1);
            copy(c, place, place + 1024, 64);
        }),
    );
    finish(consumer);
    assert_eq!(guest.at::<u32>(place + 1024), 1);
    assert_eq!(submissions() - before, 2, "a wait that has nothing before it makes no submission of its own");
}

/// Stages bound from separate programs: finalizing one takes its stage, the other's stays (B231).
#[test]
fn b231_of_a_composite_the_stages_that_remain_stay_bound() {
    let mut guest = Guest::new();
    let (whole, pixel) = (guest.program(&["aux_vs_v0", "aux_fs_f1"]), guest.program(&["aux_vs_v0", "aux_fs_f1"]));
    let small = guest.vertices(&rectangle(4, 4, 10, 8, 0.0, WHITE));
    let samples = navin_abi::enums::NVNcounterType::SAMPLES_PASSED;
    let report = guest.bytes(&[0; 64]);
    let clear_and_draw = |guest: &Guest, c: *mut NVNcommandBuffer| {
        // SAFETY: live objects.
        unsafe {
            nvnCommandBufferClearColor(c, 0, [0.0f32; 4].as_ptr(), NVNclearColorMask::RGBA);
            nvnCommandBufferResetCounter(c, samples);
            draw(guest, c, small);
            nvnCommandBufferReportCounter(c, samples, report);
        }
    };
    // The vertex stage of one, the fragment stage (bit 1) of the other.
    guest.run(|c| {
        guest.begin(c, whole);
        // SAFETY: live objects.
        unsafe { nvnCommandBufferBindProgram(c, pixel, NVNshaderStageBits(1 << 1)) };
        clear_and_draw(&guest, c);
    });
    assert_eq!((lit(&guest), guest.report(report).counter), (80, 80));
    // SAFETY: live objects; the storage is the guest's again after Finalize.
    unsafe {
        nvnProgramFinalize(pixel);
        pixel.cast::<u8>().write_bytes(0xA5, 64);
    }
    guest.run(|c| clear_and_draw(&guest, c));
    assert_eq!(lit(&guest), 0, "no fragment program, no colour");
    assert_eq!(guest.report(report).counter, 80, "the vertex stage alone still draws: its samples pass");
    // SAFETY: as above.
    unsafe {
        nvnProgramFinalize(whole);
        whole.cast::<u8>().write_bytes(0xA5, 64);
    }
    guest.run(|c| clear_and_draw(&guest, c));
    assert_eq!(guest.report(report).counter, 0, "and now nothing is drawn");
}

/// Two threads, two queues: each draws rectangles of its own into a target of its own and reads them back (B233).
#[test]
fn b233_draws_of_two_threads_read_back_right() {
    let rounds = rounds(400);
    let threads: Vec<_> = (0..2)
        .map(|n| {
            let mut guest = Guest::new();
            let program = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
            let shapes: Vec<_> =
                (1..=4).map(|k| guest.vertices(&rectangle(4 * k, 4 + n, 2 * k + n, 8, 0.0, WHITE))).collect();
            let result = guest.take((SIDE * SIDE * 4) as usize);
            (n, Sent(guest), program as usize, shapes, result)
        })
        .collect();
    std::thread::scope(|scope| {
        for (n, guest, program, shapes, result) in threads {
            scope.spawn(move || {
                let guest = guest.into_inner();
                let result = guest.address(result);
                let all = NVNcopyRegion { xoffset: 0, yoffset: 0, zoffset: 0, width: SIDE, height: SIDE, depth: 1 };
                for round in 0..rounds {
                    let k = round as usize % shapes.len();
                    guest.run(|c| {
                        guest.begin(c, program as *const NVNprogram);
                        draw(&guest, c, shapes[k]);
                        // SAFETY: live objects.
                        unsafe {
                            let none = NVNcopyFlags(0);
                            nvnCommandBufferCopyTextureToBuffer(c, guest.target, std::ptr::null(), &all, result, none);
                        }
                    });
                    let lit = (0..(SIDE * SIDE) as u64).filter(|i| guest.at::<u32>(result + 4 * i) == u32::MAX);
                    assert_eq!(lit.count(), 8 * (2 * (k + 1) + n as usize), "thread {n}, round {round}");
                }
            });
        }
    });
}

/// A guest that goes to another thread.
struct Sent(Guest);

// SAFETY: a guest's objects may go from one thread to another.
unsafe impl Send for Sent {}

impl Sent {
    fn into_inner(self) -> Guest {
        self.0
    }
}

/// Waits by way of the completion thread, and with every wait logged, give the same results (B301).
#[test]
fn b301_everything_holds_with_fast_wake_off_and_with_the_ledger() {
    if this_program::is_child() {
        return;
    }
    let tests = ["b229_", "b232_", "b233_draws", "b234_", "b236_", "b588_", "b590_", "a_compute_queue"];
    for (fast, ledger) in [("true", "true"), ("false", "false"), ("false", "true")] {
        let status = this_program::command()
            .args(tests)
            .args(["--skip", "b229_two_signals_of_a_recording"])
            .env(this_program::CHILD, "1")
            .env("NAVIN_FAST_WAKE", fast)
            .env("NAVIN_WAIT_LEDGER", ledger)
            .env("NAVIN_LOG", "error")
            .stdout(std::process::Stdio::null())
            .status()
            .unwrap();
        assert!(status.success(), "fast wake {fast}, ledger {ledger}: {status}");
    }
}
