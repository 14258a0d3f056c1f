//! What takes a process of its own: a lost device, and a display with a clock. Each test starts this program again
//! with what it needs. Needs a Vulkan device, as `./x test` arranges.

mod guest;
mod this_program;

use std::process::Output;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, Instant};

use guest::*;
use navin_abi::enums::{
    NVNcopyFlags, NVNeventSignalFlags, NVNeventSignalLocation, NVNeventSignalMode, NVNeventWaitMode,
    NVNqueueGetErrorResult, NVNshaderStage, NVNsyncCondition, NVNsyncFlagBits, NVNsyncWaitResult,
    NVNwindowAcquireTextureResult,
};
use navin_abi::types::*;
use nvn::trampolines::*;

/// Set in the child.
const CHILD: &str = "TEST_NVN_LIFECYCLE";

/// Runs `test` of this program in a child with settings; `None` in the child itself.
fn child(test: &str, settings: &[(&str, &str)]) -> Option<Output> {
    if std::env::var_os(CHILD).is_some() {
        return None;
    }
    let mut command = this_program::command();
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, "1");
    Some(command.envs(settings.iter().copied()).output().unwrap())
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn fence(guest: &Guest, sync: *mut NVNsync) {
    // SAFETY: live objects.
    unsafe {
        nvnQueueFenceSync(guest.queue, sync, NVNsyncCondition::ALL_GPU_COMMANDS_COMPLETE, NVNsyncFlagBits(0));
    }
}

/// An event that nobody signals, waited for by the guest's queue.
fn park(guest: &mut Guest) {
    let at = guest.take(4);
    let (builder, event) = (object(), object());
    // SAFETY: zeroed storage that stays.
    unsafe {
        nvnEventBuilderSetDefaults(builder);
        nvnEventBuilderSetStorage(builder, guest.pool, at as i64);
        assert_eq!(nvnEventInitialize(event, builder), NVN_TRUE);
    }
    // SAFETY: live objects.
    guest.submit(guest.queue, |c| unsafe { nvnCommandBufferWaitEvent(c, event, NVNeventWaitMode::EQUAL, 1) });
}

/// Waits behind a queue that is parked when the device is lost.
fn lose_the_device() {
    let mut guest = Guest::new();
    let sync = guest.sync();
    let error = || {
        // SAFETY: live objects.
        unsafe { nvnQueueGetError(guest.queue, null_mut()) }
    };
    assert_eq!(error(), NVNqueueGetErrorResult::GPU_NO_ERROR);
    let (queue, waited) = (guest.queue as usize, sync as usize);
    park(&mut guest);
    fence(&guest, sync);
    let waits = [
        std::thread::spawn(move || {
            // SAFETY: live objects.
            unsafe { nvnSyncWait(waited as *const NVNsync, u64::MAX) }
        }),
        std::thread::spawn(move || {
            // SAFETY: live objects.
            unsafe { nvnQueueFinish(queue as *mut NVNqueue) };
            NVNsyncWaitResult::FAILED
        }),
    ];
    std::thread::sleep(Duration::from_millis(50));
    assert!(navin::lifecycle::lose_device());
    for wait in waits {
        assert_eq!(wait.join().unwrap(), NVNsyncWaitResult::FAILED);
    }
    // SAFETY: live objects.
    unsafe {
        assert_eq!(nvnQueueGetError(guest.queue, null_mut()), NVNqueueGetErrorResult::GPU_ERROR_UNKNOWN);
        assert_eq!(nvnSyncWait(sync, 0), NVNsyncWaitResult::FAILED);
        nvnQueueFinish(guest.queue);
        guest.submit(guest.queue, |c| nvnCommandBufferSetLineWidth(c, 2.0));
    }
    assert!(navin::lifecycle::lose_device(), "again");
    println!("every wait has failed");
}

#[test]
fn b645_a_lost_device_fails_the_waits_and_ends_the_process_within_two_seconds() {
    const TEST: &str = "b645_a_lost_device_fails_the_waits_and_ends_the_process_within_two_seconds";
    let Some(output) = child(TEST, &[("NAVIN_ON_DEVICE_LOSS", "end")]) else {
        lose_the_device();
        // The guest takes no notice; the driver ends the process.
        std::thread::sleep(Duration::from_secs(2));
        panic!("still there two seconds after the loss");
    };
    let text = text(&output);
    assert_eq!(output.status.code(), Some(navin::status::EXIT_DEVICE_LOST), "{text}");
    assert!(text.contains("every wait has failed"), "{text}");
    assert_eq!(text.matches("the Vulkan device is lost").count(), 1, "said once: {text}");
}

#[test]
fn a_process_that_wants_to_go_on_without_a_device_does() {
    let settings = [("NAVIN_ON_DEVICE_LOSS", "go_on")];
    let Some(output) = child("a_process_that_wants_to_go_on_without_a_device_does", &settings) else {
        lose_the_device();
        std::thread::sleep(Duration::from_millis(1500));
        return;
    };
    assert!(output.status.success(), "{}", text(&output));
}

/// A mistake of Navin's own ends like a lost device: waits fail, and what happened is said.
#[test]
fn b645_a_thread_that_panics_fails_the_waits_instead_of_hanging_them() {
    const TEST: &str = "b645_a_thread_that_panics_fails_the_waits_instead_of_hanging_them";
    let Some(output) = child(TEST, &[("NAVIN_ON_DEVICE_LOSS", "go_on")]) else {
        let mut guest = Guest::new();
        let sync = guest.sync();
        park(&mut guest);
        fence(&guest, sync);
        assert!(navin::lifecycle::break_submit_thread());
        // SAFETY: live objects.
        unsafe {
            assert_eq!(nvnSyncWait(sync, u64::MAX), NVNsyncWaitResult::FAILED);
            nvnQueueFinish(guest.queue);
            guest.submit(guest.queue, |c| nvnCommandBufferSetLineWidth(c, 2.0));
        }
        // What only that thread could do is not waited for.
        guest.pixels();
        println!("nobody hangs");
        return;
    };
    let text = text(&output);
    assert!(output.status.success() && text.contains("nobody hangs"), "{text}");
    assert!(text.contains("the thread navin-submit panicked"), "{text}");
}

/// The guest's last objects go as the process ends. Then the Vulkan driver takes itself down, and no thread of ours may be
/// in it: NVIDIA's crashed.
#[test]
fn a_process_ends_with_no_thread_in_vulkan_and_later_waits_fail() {
    const TEST: &str = "a_process_ends_with_no_thread_in_vulkan_and_later_waits_fail";
    let Some(output) = child(TEST, &[]) else { return leave_the_process() };
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("the wait has failed, and nobody completes"), "{text}");
}

/// What the guest's own handler waits for, which runs after the driver's.
static NEVER: AtomicPtr<NVNsync> = AtomicPtr::new(null_mut());
/// What it reads.
static LAST: AtomicPtr<NVNtexture> = AtomicPtr::new(null_mut());

fn leave_the_process() {
    extern "C" fn after_the_end() {
        let mut texels = vec![0u32; (SIDE * SIDE) as usize];
        let all = NVNcopyRegion { xoffset: 0, yoffset: 0, zoffset: 0, width: SIDE, height: SIDE, depth: 1 };
        // SAFETY: a live sync and a live texture, with room for what is read. The texture has to be brought from the GPU,
        // which nobody does any more.
        let result = unsafe {
            nvnTextureReadTexels(LAST.load(Ordering::Relaxed), null(), &all, texels.as_mut_ptr().cast());
            nvnSyncWait(NEVER.load(Ordering::Relaxed), u64::MAX)
        };
        let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let names = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok());
        if result == NVNsyncWaitResult::FAILED && !names.into_iter().any(|name| name.trim() == "navin-complete") {
            println!("the wait has failed, and nobody completes");
        }
    }
    // SAFETY: a function that lives as long as the process and does not unwind.
    unsafe { libc::atexit(after_the_end) };
    let mut guest = Guest::new();
    let never = guest.sync();
    NEVER.store(never, Ordering::Relaxed);
    let textures: Vec<_> = (0..4).map(|_| guest.texture(navin_abi::enums::NVNformat::RGBA8, SIDE, SIDE)).collect();
    let place = guest.take(4096);
    let place = guest.address(place);
    guest.run(|c| {
        for texture in &textures {
            let all = NVNcopyRegion { xoffset: 0, yoffset: 0, zoffset: 0, width: SIDE, height: SIDE, depth: 1 };
            // SAFETY: live objects.
            unsafe { nvnCommandBufferCopyTextureToBuffer(c, *texture, null(), &all, place, NVNcopyFlags(0)) };
        }
    });
    // SAFETY: live textures.
    textures.iter().for_each(|texture| unsafe { nvnTextureFinalize(*texture) });
    // One that the GPU wrote is read at the end.
    guest.run(|c| guest.begin(c, null()));
    LAST.store(guest.target, Ordering::Relaxed);
    assert!(navin::lifecycle::suspend());
    fence(&guest, never);
    // SAFETY: live objects.
    assert_eq!(unsafe { nvnSyncWait(never, 0) }, NVNsyncWaitResult::TIMEOUT_EXPIRED);
}

#[test]
fn b303_finish_takes_no_display_period_and_acquire_takes_the_presents() {
    const TEST: &str = "b303_finish_takes_no_display_period_and_acquire_takes_the_presents";
    /// Of the display in the child: two frames a second.
    const PERIOD: Duration = Duration::from_millis(500);
    let Some(output) = child(TEST, &[("NAVIN_DISPLAY_HZ", "2")]) else {
        return behind_a_display(PERIOD);
    };
    assert!(output.status.success(), "{}", text(&output));
}

/// A window of two textures, the guest's target and another.
fn window(guest: &mut Guest) -> *mut NVNwindow {
    let textures = [guest.target, guest.texture(navin_abi::enums::NVNformat::RGBA8, SIDE, SIDE)];
    let (builder, window) = (object(), object());
    // SAFETY: zeroed storage that stays.
    unsafe {
        nvnWindowBuilderSetDefaults(builder);
        nvnWindowBuilderSetDevice(builder, guest.device);
        nvnWindowBuilderSetTextures(builder, 2, textures.as_ptr());
        assert_eq!(nvnWindowInitialize(window, builder), NVN_TRUE);
    }
    window
}

fn behind_a_display(period: Duration) {
    let mut guest = Guest::new();
    let (window, acquired) = (window(&mut guest), guest.sync());
    let acquire = || {
        let mut index = -1;
        // SAFETY: live objects.
        let result = unsafe { nvnWindowAcquireTexture(window, acquired, &mut index) };
        assert_eq!(result, NVNwindowAcquireTextureResult::SUCCESS);
        index
    };
    let shown = Instant::now();
    for _ in 0..2 {
        let index = acquire();
        // SAFETY: live objects.
        unsafe { nvnQueuePresentTexture(guest.queue, window, index) };
    }
    // A loader's copies, each with a Finish, the first of them while two frames wait for the display.
    let place = guest.take(4096);
    let place = guest.address(place);
    let copy = |round: u32| {
        // SAFETY: a live command buffer.
        guest.run(|c| unsafe { nvnCommandBufferClearBuffer(c, place, 64, round) });
        assert_eq!(guest.at::<u32>(place), round);
    };
    let first = Instant::now();
    copy(1);
    assert!(first.elapsed() < period / 2, "a Finish behind two presents took {:?}", first.elapsed());
    // The frame that was given first is on the display until the second takes its place.
    acquire();
    assert!(shown.elapsed() >= period * 9 / 10, "acquired after {:?}", shown.elapsed());
    let copies = Instant::now();
    (2..302).for_each(copy);
    let copies = copies.elapsed();
    assert!(copies < period * 40, "300 copies took {copies:?}: with a period each it would be {:?}", period * 300);
}

/// Presents of a queue that is finalized while it is parked are never shown: the window has their textures back.
#[test]
fn b303_presents_that_are_dropped_give_their_textures_back() {
    const TEST: &str = "b303_presents_that_are_dropped_give_their_textures_back";
    let Some(output) = child(TEST, &[]) else {
        let mut guest = Guest::new();
        let (window, acquired) = (window(&mut guest), guest.sync());
        let acquire = || {
            let mut index = -1;
            // SAFETY: live objects.
            unsafe { nvnWindowAcquireTexture(window, acquired, &mut index) };
            index
        };
        park(&mut guest);
        for _ in 0..2 {
            let index = acquire();
            // SAFETY: live objects.
            unsafe { nvnQueuePresentTexture(guest.queue, window, index) };
        }
        // SAFETY: a live queue, of which this is the last call.
        unsafe { nvnQueueFinalize(guest.queue) };
        let begun = Instant::now();
        assert_eq!([acquire(), acquire()], [0, 1]);
        assert!(begun.elapsed() < Duration::from_millis(900), "{:?}", begun.elapsed());
        return;
    };
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert!(!text.contains("given out again"), "{text}");
}

/// Queues wait for events that submissions signal which fail for memory: 31 go on, the 32nd is the end.
fn run_out_of_memory() {
    let mut guest = Guest::new();
    let (other, waited) = (queue(guest.device), guest.sync());
    let at = guest.take(4);
    let (builder, event) = (object(), object());
    // SAFETY: zeroed storage that stays.
    unsafe {
        nvnEventBuilderSetDefaults(builder);
        nvnEventBuilderSetStorage(builder, guest.pool, at as i64);
        assert_eq!(nvnEventInitialize(event, builder), NVN_TRUE);
    }
    let place = guest.take(4096);
    let place = guest.address(place);
    for round in 1..=31u32 {
        guest.submit(other, |c| {
            // SAFETY: live objects.
            unsafe {
                nvnCommandBufferWaitEvent(c, event, NVNeventWaitMode::EQUAL, round);
                nvnCommandBufferClearBuffer(c, place, 64, round);
            }
        });
        // SAFETY: live objects.
        unsafe {
            nvnQueueFenceSync(other, waited, NVNsyncCondition::ALL_GPU_COMMANDS_COMPLETE, NVNsyncFlagBits(0));
        }
        // The one that is woken must not be the one that fails.
        assert!(navin::lifecycle::fail_submissions(1));
        guest.submit(guest.queue, |c| {
            // SAFETY: live objects.
            unsafe {
                let (bottom, none) = (NVNeventSignalLocation::BOTTOM, NVNeventSignalFlags(0));
                nvnCommandBufferClearBuffer(c, place + 2048, 64, round);
                nvnCommandBufferSignalEvent(c, event, NVNeventSignalMode::WRITE, bottom, none, round);
            }
        });
        // SAFETY: live objects.
        let result = unsafe { nvnSyncWait(waited, 20_000_000_000) };
        let ended = [NVNsyncWaitResult::CONDITION_SATISFIED, NVNsyncWaitResult::ALREADY_SIGNALED];
        assert!(ended.contains(&result), "failure {round}: {result:?}");
        assert_eq!(guest.at::<u32>(place), round, "who waited for the signal ran");
        assert_eq!(guest.at::<u32>(place + 2048), 0, "the commands of the failed one did not");
    }
    println!("31 failures went by");
    assert!(navin::lifecycle::fail_submissions(1));
    // SAFETY: a live command buffer.
    guest.submit(guest.queue, |c| unsafe { nvnCommandBufferClearBuffer(c, place, 64, 32) });
    std::thread::sleep(Duration::from_secs(3));
    panic!("still there after 32 failures");
}

#[test]
fn b644_31_failures_for_memory_go_on_and_the_32nd_ends_the_process() {
    const TEST: &str = "b644_31_failures_for_memory_go_on_and_the_32nd_ends_the_process";
    let Some(output) = child(TEST, &[("NAVIN_ON_DEVICE_LOSS", "end")]) else { return run_out_of_memory() };
    let text = text(&output);
    assert_eq!(output.status.code(), Some(navin::status::EXIT_DEVICE_LOST), "{text}");
    assert!(text.contains("31 failures went by"), "{text}");
    assert!(text.contains("32 submissions failed because the device's memory has run out"), "{text}");
}

/// A command buffer that is refused leaves everything as it was before: counters, the textures that it was to fill, and
/// events, which are signalled all the same.
#[test]
fn b644_what_a_refused_submission_was_to_do_is_not_taken_for_done() {
    const TEST: &str = "b644_what_a_refused_submission_was_to_do_is_not_taken_for_done";
    let Some(output) = child(TEST, &[]) else {
        let mut guest = Guest::new();
        let program = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
        let vertices = guest.vertices(&rectangle(4, 4, 10, 8, 0.0, WHITE));
        let report = guest.take(4096);
        let report = guest.address(report);
        let samples = navin_abi::enums::NVNcounterType::SAMPLES_PASSED;
        let draw = |c| {
            // SAFETY: live objects.
            unsafe {
                nvnCommandBufferBindVertexBuffer(c, 0, vertices, 6 * STRIDE as usize);
                nvnCommandBufferDrawArrays(c, navin_abi::enums::NVNdrawPrimitive::TRIANGLES, 0, 6);
            }
        };
        guest.run(|c| {
            guest.begin(c, program);
            // SAFETY: a live command buffer.
            unsafe { nvnCommandBufferResetCounter(c, samples) };
            draw(c);
        });
        // A texture whose storage has content, copied to a buffer; an event.
        let texture = guest.texture(navin_abi::enums::NVNformat::RGBA8, SIDE, SIDE);
        let all = NVNcopyRegion { xoffset: 0, yoffset: 0, zoffset: 0, width: SIDE, height: SIDE, depth: 1 };
        let texels = vec![0xA5u8; (SIDE * SIDE * 4) as usize];
        let to = guest.take(texels.len());
        let to = guest.address(to);
        let at = guest.take(4);
        let (builder, event) = (object(), object());
        // SAFETY: zeroed storage that stays; the texels are as many as are read.
        unsafe {
            nvnTextureWriteTexels(texture, null(), &all, texels.as_ptr().cast());
            nvnEventBuilderSetDefaults(builder);
            nvnEventBuilderSetStorage(builder, guest.pool, at as i64);
            assert_eq!(nvnEventInitialize(event, builder), NVN_TRUE);
        }
        let event_at = guest.address(at);
        for round in 1..=3u32 {
            assert!(navin::lifecycle::refuse_submissions(1));
            guest.run(|c| {
                draw(c);
                // SAFETY: live objects.
                unsafe {
                    // The sums go on from here.
                    nvnCommandBufferReportCounter(c, samples, report);
                    nvnCommandBufferCopyTextureToBuffer(c, texture, null(), &all, to, NVNcopyFlags(0));
                    let (bottom, none) = (NVNeventSignalLocation::BOTTOM, NVNeventSignalFlags(0));
                    nvnCommandBufferSignalEvent(c, event, NVNeventSignalMode::WRITE, bottom, none, round);
                }
            });
            assert_eq!(guest.at::<u32>(to), 0, "refused");
            assert_eq!(guest.at::<u32>(event_at), round, "whoever waits for it was promised it (B229)");
        }
        guest.run(|c| {
            draw(c);
            // SAFETY: live objects.
            unsafe {
                nvnCommandBufferReportCounter(c, samples, report);
                nvnCommandBufferCopyTextureToBuffer(c, texture, null(), &all, to, NVNcopyFlags(0));
            }
        });
        assert_eq!(guest.report(report).counter, 160, "one draw before the refused ones, one after them");
        let copied: Vec<u32> = (0..texels.len() as u64 / 4).map(|n| guest.at(to + 4 * n)).collect();
        assert!(copied.iter().all(|texel| *texel == 0xA5A5_A5A5), "filled again: {:x?}", &copied[..4]);
        return;
    };
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("a submission was refused"), "{text}");
}

/// A queue that is finalized while everything is suspended waits for the resume, and so does its work.
#[test]
fn b234_a_queue_finalized_while_suspended_loses_nothing() {
    const TEST: &str = "b234_a_queue_finalized_while_suspended_loses_nothing";
    let Some(output) = child(TEST, &[]) else {
        let mut guest = Guest::new();
        let other = queue(guest.device);
        let place = guest.take(4096);
        let place = guest.address(place);
        assert!(navin::lifecycle::suspend());
        // SAFETY: a live command buffer.
        guest.submit(other, |c| unsafe { nvnCommandBufferClearBuffer(c, place, 64, 7) });
        let finalized = other as usize;
        // SAFETY: a live queue, of which this is the last call.
        let finalize = std::thread::spawn(move || unsafe { nvnQueueFinalize(finalized as *mut NVNqueue) });
        // Longer than Finalize gives a queue that waits for something else.
        std::thread::sleep(Duration::from_millis(5500));
        assert!(!finalize.is_finished());
        assert_eq!(guest.at::<u32>(place), 0);
        navin::lifecycle::resume();
        finalize.join().unwrap();
        assert_eq!(guest.at::<u32>(place), 7);
        return;
    };
    assert!(output.status.success(), "{}", text(&output));
}

/// A compute program of one thread that adds 0 to the first word of storage buffer 1 until that is not 0.
fn spinning() -> (Vec<u8>, Vec<u8>) {
    use navin_shader::isa::table::{Field, Form, Op};
    /// Word of bank 0 that the address of storage buffer 1 is at.
    const POINTER: u32 = (0x150 + 16) / 4;
    /// ISETP's EQ.
    const EQUAL: u32 = 2;
    let mut code = navin_oracle::Assembler::new();
    code.op(Op::Mov, Form::C, &[(Field::Dst, 2), (Field::Cbo4, POINTER)]);
    code.op(Op::Mov, Form::C, &[(Field::Dst, 3), (Field::Cbo4, POINTER + 1)]);
    let again = code.here();
    code.op(Op::Atom, Form::M, &[(Field::Dst, 0), (Field::A, 2), (Field::B, 255), (Field::E, 1)]);
    code.op(Op::Isetp, Form::R, &[(Field::Pd, 0), (Field::A, 0), (Field::B, 255), (Field::Cmp, EQUAL)]);
    code.branch(Op::Bra, again, &[(Field::Pg, 0)]);
    code.op(Op::Exit, Form::J, &[]);
    code.compute([1, 1, 1], 0, 0)
}

/// A dispatch that ends when the CPU says so.
struct Spinner {
    program: *mut NVNprogram,
    flag: u64,
}

impl Spinner {
    /// Wants the `corpus` layout of constants.
    fn new(guest: &mut Guest) -> Self {
        let flag = guest.take(4096);
        let (control, code) = spinning();
        Self { program: guest.program_of(&[(code, control)]), flag: guest.address(flag) }
    }

    fn spin(&self, c: *mut NVNcommandBuffer) {
        // SAFETY: live objects.
        unsafe {
            nvnCommandBufferBindProgram(c, self.program, NVNshaderStageBits(0x20));
            nvnCommandBufferBindStorageBuffer(c, NVNshaderStage::COMPUTE, 1, self.flag, 4096);
            nvnCommandBufferDispatchCompute(c, 1, 1, 1);
        }
    }

    fn let_go(&self, guest: &Guest) {
        guest.put(self.flag, 1u32);
    }
}

/// Whether a shader may spin here, for a test that needs it; says so where not.
fn may_spin() -> bool {
    // A GPU that spins may be taken for hung, and its atomics need not see what the CPU writes.
    let device = navin::counters().unwrap()["device"].to_string();
    let may = device.contains("llvmpipe");
    if !may {
        println!("SKIPPED: {device} is not made to spin");
    }
    may
}

/// A wait behind a spinner expires, and ends when that is let go.
fn stands_until_let_go(guest: &Guest, spinner: &Spinner, sync: *mut NVNsync) {
    fence(guest, sync);
    // SAFETY: a live sync.
    let wait = |limit| unsafe { nvnSyncWait(sync, limit) };
    assert_eq!(wait(2_500_000_000), NVNsyncWaitResult::TIMEOUT_EXPIRED);
    spinner.let_go(guest);
    let ended = [NVNsyncWaitResult::CONDITION_SATISFIED, NVNsyncWaitResult::ALREADY_SIGNALED];
    assert!(ended.contains(&wait(20_000_000_000)));
    println!("the wait has ended");
}

/// A piece that is cut in its middle, since the CPU has to see what the first half did, which never ends.
#[test]
fn b235_the_first_half_of_a_cut_piece_that_does_not_end_is_named() {
    const TEST: &str = "b235_the_first_half_of_a_cut_piece_that_does_not_end_is_named";
    let Some(output) = child(TEST, &[("NAVIN_WATCHDOG_S", "1"), ("NAVIN_CONSTANT_LAYOUT", "corpus")]) else {
        let mut guest = Guest::new();
        if !may_spin() {
            return;
        }
        let spinner = Spinner::new(&mut guest);
        let drawing = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
        let vertices = guest.vertices(&rectangle(4, 4, 10, 8, 0.0, WHITE));
        // Four vertices, one instance, from the first on: as quads Vulkan does not have, so the CPU reads this.
        let arguments = guest.bytes(&[4u32, 1, 0, 0].map(u32::to_le_bytes).concat());
        let sync = guest.sync();
        guest.submit(guest.queue, |c| {
            guest.begin(c, drawing);
            spinner.spin(c);
            // SAFETY: live objects.
            unsafe {
                nvnCommandBufferBindVertexBuffer(c, 0, vertices, 6 * STRIDE as usize);
                nvnCommandBufferDrawArraysIndirect(c, navin_abi::enums::NVNdrawPrimitive::QUADS, arguments);
            }
        });
        return stands_until_let_go(&guest, &spinner, sync);
    };
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    if text.contains("SKIPPED") {
        return;
    }
    assert!(text.contains("the wait has ended"), "{text}");
    let line = text.lines().find(|line| line.contains("does not complete")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains("submitted 1, completed 0") && line.contains(" of queue 1;"), "{line}");
    assert!(!line.contains("first: none"), "{line}");
}

/// The line about memory comes while nothing is submitted, too, and counts what there is.
#[test]
fn b124_the_log_tells_of_memory_while_nothing_is_submitted() {
    const TEST: &str = "b124_the_log_tells_of_memory_while_nothing_is_submitted";
    let Some(output) = child(TEST, &[("NAVIN_MEMORY_LINE_S", "1"), ("NAVIN_LOG", "navin::memory=info")]) else {
        let _guest = Guest::new();
        std::thread::sleep(std::time::Duration::from_millis(2500));
        return;
    };
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    let lines: Vec<_> = text.lines().filter(|line| line.contains("[B124]")).collect();
    assert!((2..4).contains(&lines.len()), "{text}");
    for count in ["pools=", "images=", "imports=", "finalized_but_alive=0", "waiting_for_release="] {
        assert!(lines[0].contains(count), "{}", lines[0]);
    }
}

/// A dispatch spins until the CPU sets a flag: the watchdog says how far the GPU is, and which program it is in.
#[test]
fn b235_a_submission_that_does_not_end_is_named_with_its_program() {
    const TEST: &str = "b235_a_submission_that_does_not_end_is_named_with_its_program";
    let Some(output) = child(TEST, &[("NAVIN_WATCHDOG_S", "1"), ("NAVIN_CONSTANT_LAYOUT", "corpus")]) else {
        let mut guest = Guest::new();
        if !may_spin() {
            return;
        }
        let spinner = Spinner::new(&mut guest);
        let sync = guest.sync();
        guest.submit(guest.queue, |c| spinner.spin(c));
        return stands_until_let_go(&guest, &spinner, sync);
    };
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    if text.contains("SKIPPED") {
        return;
    }
    assert!(text.contains("the wait has ended"), "{text}");
    let line = text.lines().find(|line| line.contains("does not complete")).unwrap_or_else(|| panic!("{text}"));
    let number = |before: &str| -> u64 {
        let rest = &line[line.find(before).unwrap() + before.len()..];
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
    };
    assert_eq!(number("submitted "), number("completed ") + 1, "{line}");
    assert!(line.contains("programs bound, newest first: ") && !line.contains("first: none"), "{line}");
    assert!(text.contains("a wait for sync"), "the expired wait is told, with the sync's state (B236): {text}");
    assert_eq!(text.matches("does not complete").count(), 1, "once: {text}");
}

/// The guest's callback is told what the log is told, on a guest's thread, outside of any call.
#[test]
fn the_debug_callback_is_given_the_fault_lines() {
    use navin_abi::enums::{NVNdebugCallbackSeverity, NVNdebugCallbackSource, NVNdebugCallbackType};
    use std::sync::Mutex;
    static HEARD: Mutex<Vec<(i32, String, std::thread::ThreadId, usize)>> = Mutex::new(Vec::new());
    unsafe extern "C" fn hear(
        _: NVNdebugCallbackSource,
        _: NVNdebugCallbackType,
        id: i32,
        _: NVNdebugCallbackSeverity,
        message: *const u8,
        user: *mut core::ffi::c_void,
    ) {
        // SAFETY: a string that ends with 0.
        let text = unsafe { std::ffi::CStr::from_ptr(message.cast()) }.to_string_lossy().into_owned();
        HEARD.lock().unwrap().push((id, text, std::thread::current().id(), user as usize));
    }
    const TEST: &str = "the_debug_callback_is_given_the_fault_lines";
    let Some(output) = child(TEST, &[]) else {
        let guest = Guest::new();
        let heard = || std::mem::take(&mut *HEARD.lock().unwrap());
        // SAFETY: live objects; the callback stays.
        unsafe {
            nvnDeviceInstallDebugCallback(guest.device, Some(hear), 0x1234 as *mut _, NVN_TRUE);
            // A draw without a program, found by the submit thread: told at a call that comes back later.
            guest.run(|c| nvnCommandBufferDrawArrays(c, navin_abi::enums::NVNdrawPrimitive::TRIANGLES, 0, 3));
            nvnQueueFinish(guest.queue);
            let lines = heard();
            let here = std::thread::current().id();
            assert!(
                lines.iter().any(|(id, text, ..)| *id == 231 && text.contains("without a vertex program")),
                "{lines:?}"
            );
            assert!(lines.iter().all(|(.., thread, user)| *thread == here && *user == 0x1234));
            // Taken away: nothing more is told.
            nvnDeviceInstallDebugCallback(guest.device, Some(hear), 0x1234 as *mut _, NVN_FALSE);
            nvnSyncWait(std::ptr::null(), 0);
            nvnQueueFinish(guest.queue);
            assert_eq!(heard().len(), 0);
        }
        return;
    };
    assert!(output.status.success(), "{}", text(&output));
}
