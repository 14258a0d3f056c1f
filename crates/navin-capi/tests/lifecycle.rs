//! What takes a process of its own: a lost device, and a display with a clock. Each test starts this program again
//! with what it needs. Needs a Vulkan device, as `./x test` arranges.

mod guest;
mod this_program;

use std::process::Output;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

use guest::*;
use navin_abi::enums::{
    NVNeventWaitMode, NVNqueueGetErrorResult, NVNsyncCondition, NVNsyncFlagBits, NVNsyncWaitResult,
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
        let start = Instant::now();
        std::thread::sleep(Duration::from_secs(30));
        panic!("still there after {:?}", start.elapsed());
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

fn behind_a_display(period: Duration) {
    let mut guest = Guest::new();
    let other = guest.texture(navin_abi::enums::NVNformat::RGBA8, SIDE, SIDE);
    let textures = [guest.target, other];
    let (builder, window, acquired) = (object(), object(), guest.sync());
    // SAFETY: zeroed storage that stays.
    unsafe {
        nvnWindowBuilderSetDefaults(builder);
        nvnWindowBuilderSetDevice(builder, guest.device);
        nvnWindowBuilderSetTextures(builder, 2, textures.as_ptr());
        assert_eq!(nvnWindowInitialize(window, builder), NVN_TRUE);
    }
    let acquire = || {
        let mut index = -1;
        // SAFETY: live objects.
        let result = unsafe { nvnWindowAcquireTexture(window, acquired, &mut index) };
        assert_eq!(result, NVNwindowAcquireTextureResult::SUCCESS);
        index
    };
    let start = Instant::now();
    for _ in 0..2 {
        let index = acquire();
        // SAFETY: live objects.
        unsafe { nvnQueuePresentTexture(guest.queue, window, index) };
    }
    // A loader's copies, each with a Finish, while two frames wait for the display.
    let place = guest.take(4096);
    let place = guest.address(place);
    let copies = Instant::now();
    for round in 0..300u32 {
        // SAFETY: a live command buffer.
        guest.run(|c| unsafe { nvnCommandBufferClearBuffer(c, place, 64, round) });
        assert_eq!(guest.at::<u32>(place), round);
    }
    let copies = copies.elapsed();
    assert!(copies < period * 40, "300 copies took {copies:?}: with a period each it would be {:?}", period * 300);
    acquire();
    assert!(start.elapsed() >= period, "the first frame's time on the display is not over");
}
