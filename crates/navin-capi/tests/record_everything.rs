//! Every recording call, into a live command buffer with zeros for all other arguments, and the recording
//! submitted: each bad call is a fault line or nothing, the process lives, the queue drains.
//!
//! Runs in a child process that writes each name before it calls, so that a crash names its function. Needs a
//! Vulkan device, as `./x test` arranges.

mod this_program;

use std::alloc::{Layout, alloc_zeroed};
use std::ffi::CString;
use std::io::Write as _;

use navin_abi::functions::FUNCTIONS;
use navin_abi::types::*;
use nvn::trampolines::*;

/// Set in the child.
const CHILD: &str = "TEST_NVN_RECORD_EVERYTHING";
const TEST: &str = "every_recording_call_survives_zeros_and_so_does_the_submission";

/// What a guest lends: command memory in a pool, control memory anywhere.
const POOL_BYTES: usize = 1 << 20;
const CONTROL_BYTES: usize = 1 << 16;

/// Calls that begin, end or starve the recording that this test keeps open.
const NOT_CALLED: [&str; 6] = [
    "nvnCommandBufferInitialize",
    "nvnCommandBufferFinalize",
    "nvnCommandBufferBeginRecording",
    "nvnCommandBufferEndRecording",
    "nvnCommandBufferAddCommandMemory",
    "nvnCommandBufferAddControlMemory",
];

type Call = unsafe extern "C" fn(*mut NVNcommandBuffer, u64, u64, u64, u64, u64, u64, u64) -> u64;

/// Zeroed storage that is never freed, aligned to a page.
fn storage<T>(bytes: usize) -> *mut T {
    let layout = Layout::from_size_align(bytes.max(1), 4096).unwrap();
    // SAFETY: the layout's size is not zero.
    let memory = unsafe { alloc_zeroed(layout) };
    assert!(!memory.is_null());
    memory.cast()
}

/// An object as large as `nvn.h` declares any.
fn object<T>() -> *mut T {
    storage(16384)
}

fn record_everything() {
    let mut out = std::io::stdout();
    // SAFETY: all objects are zeroed storage of sufficient size that stays; the rest is what a guest may pass.
    unsafe {
        let (builder, device) = (object(), object());
        nvnDeviceBuilderSetDefaults(builder);
        assert_eq!(nvnDeviceInitialize(device, builder), NVN_TRUE, "a Vulkan device is needed");

        let (builder, queue) = (object(), object());
        nvnQueueBuilderSetDefaults(builder);
        nvnQueueBuilderSetDevice(builder, device);
        assert_eq!(nvnQueueInitialize(queue, builder), NVN_TRUE);

        let (builder, pool) = (object(), object());
        nvnMemoryPoolBuilderSetDefaults(builder);
        nvnMemoryPoolBuilderSetDevice(builder, device);
        nvnMemoryPoolBuilderSetFlags(builder, NVNmemoryPoolFlags::CPU_UNCACHED | NVNmemoryPoolFlags::GPU_CACHED);
        nvnMemoryPoolBuilderSetStorage(builder, storage(POOL_BYTES), POOL_BYTES);
        assert_eq!(nvnMemoryPoolInitialize(pool, builder), NVN_TRUE);

        let buffer = object();
        assert_eq!(nvnCommandBufferInitialize(buffer, device), NVN_TRUE);
        nvnCommandBufferAddCommandMemory(buffer, pool, 0, POOL_BYTES);
        nvnCommandBufferAddControlMemory(buffer, storage(CONTROL_BYTES), CONTROL_BYTES);
        nvnCommandBufferBeginRecording(buffer);
        let recording = |name: &str| name.starts_with("nvnCommandBuffer") && !NOT_CALLED.contains(&name);
        for function in FUNCTIONS.iter().filter(|f| recording(f.name)) {
            writeln!(out, "call {}", function.name).unwrap();
            out.flush().unwrap();
            let name = CString::new(function.name).unwrap();
            let address = nvnBootstrapLoader(name.as_ptr()).unwrap();
            std::mem::transmute::<unsafe extern "C" fn(), Call>(address)(buffer, 0, 0, 0, 0, 0, 0, 0);
        }
        let handle = nvnCommandBufferEndRecording(buffer);
        assert_ne!(handle, 0, "the recording did not survive");
        writeln!(out, "call nvnQueueSubmitCommands").unwrap();
        out.flush().unwrap();
        nvnQueueSubmitCommands(queue, 1, &handle);
        nvnQueueFinish(queue);
        nvnCommandBufferFinalize(buffer);
        nvnQueueFinalize(queue);
        nvnMemoryPoolFinalize(pool);
        nvnDeviceFinalize(device);
    }
    writeln!(out, "recorded and finished").unwrap();
}

#[test]
fn every_recording_call_survives_zeros_and_so_does_the_submission() {
    if std::env::var_os(CHILD).is_some() {
        record_everything();
        return;
    }
    let output = this_program::command()
        .args([TEST, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().rfind(|line| line.contains("call")).unwrap_or("nothing was called");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {last}\n{errors}", output.status);
    assert!(text.contains("recorded and finished"), "ended early: {last}\n{errors}");
}
