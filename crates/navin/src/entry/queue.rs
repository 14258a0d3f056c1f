//! `nvnQueue*`: thin calls into the host, which schedules and replays.

use navin_abi::fault;
use navin_abi::records::{QueueBuilderRecord, QueueRecord, SyncRecord, WindowRecord};
use navin_abi::types::*;

use super::object::{accessors, array, boolean, clear_magic, get, live, output, store};
use super::table::entries;
use crate::host;

pub(crate) extern "C" fn nvnQueueInitialize(queue: *mut NVNqueue, builder: *const NVNqueueBuilder) -> NVNboolean {
    let Some(b) = live::<QueueBuilderRecord, _>(builder, "nvnQueueInitialize") else { return NVN_FALSE };
    if queue.is_null() {
        fault!("", "nvnQueueInitialize: null NVNqueue; answered false");
        return NVN_FALSE;
    }
    let serial = host::queues::create(b.flags);
    if serial != 0 {
        store(queue, QueueRecord::new(serial, b.flags));
    }
    boolean(serial != 0)
}

pub(crate) extern "C" fn nvnQueueFinalize(queue: *mut NVNqueue) {
    if let Some(record) = live::<QueueRecord, _>(queue, "nvnQueueFinalize") {
        clear_magic(queue);
        host::queues::destroy(record.serial);
    }
}

pub(crate) extern "C" fn nvnQueueSubmitCommands(queue: *mut NVNqueue, count: i32, handles: *const NVNcommandHandle) {
    let Some(record) = live::<QueueRecord, _>(queue, "nvnQueueSubmitCommands") else { return };
    match array(handles, count) {
        Some(handles) => host::queues::submit(record.serial, &handles),
        None => {
            fault!("", "nvnQueueSubmitCommands: {count} handles at {handles:?}; nothing is submitted");
        }
    }
}

pub(crate) extern "C" fn nvnQueueFlush(queue: *mut NVNqueue) {
    if let Some(record) = live::<QueueRecord, _>(queue, "nvnQueueFlush") {
        host::queues::flush(record.serial);
    }
}

pub(crate) extern "C" fn nvnQueueFinish(queue: *mut NVNqueue) {
    if let Some(record) = live::<QueueRecord, _>(queue, "nvnQueueFinish") {
        host::queues::finish(record.serial);
    }
}

pub(crate) extern "C" fn nvnQueueFenceSync(
    queue: *mut NVNqueue,
    sync: *mut NVNsync,
    condition: NVNsyncCondition,
    flags: NVNsyncFlagBits,
) {
    const CALL: &str = "nvnQueueFenceSync";
    let (Some(queue), Some(sync)) = (live::<QueueRecord, _>(queue, CALL), live::<SyncRecord, _>(sync, CALL)) else {
        return;
    };
    host::queues::fence(queue.serial, sync.serial, condition.raw(), flags.raw());
}

pub(crate) extern "C" fn nvnQueueWaitSync(queue: *mut NVNqueue, sync: *const NVNsync) -> NVNboolean {
    const CALL: &str = "nvnQueueWaitSync";
    let (Some(queue), Some(sync)) = (live::<QueueRecord, _>(queue, CALL), live::<SyncRecord, _>(sync, CALL)) else {
        return NVN_FALSE;
    };
    boolean(host::queues::wait_sync(queue.serial, sync.serial))
}

pub(crate) extern "C" fn nvnQueuePresentTexture(queue: *mut NVNqueue, window: *mut NVNwindow, index: i32) {
    const CALL: &str = "nvnQueuePresentTexture";
    let (Some(queue), Some(window)) = (live::<QueueRecord, _>(queue, CALL), live::<WindowRecord, _>(window, CALL))
    else {
        return;
    };
    host::queues::present(queue.serial, window.serial, index);
}

/// The acquire of NVN 53: the queue, not a sync, waits for the texture (B417).
pub(crate) extern "C" fn nvnQueueAcquireTexture(
    queue: *mut NVNqueue,
    window: *mut NVNwindow,
    index: *mut i32,
) -> NVNqueueAcquireTextureResult {
    const CALL: &str = "nvnQueueAcquireTexture";
    let (Some(queue), Some(window)) = (live::<QueueRecord, _>(queue, CALL), live::<WindowRecord, _>(window, CALL))
    else {
        return NVNqueueAcquireTextureResult::NATIVE_ERROR;
    };
    let (result, texture) = host::queues::acquire(queue.serial, window.serial);
    output(index, texture);
    NVNqueueAcquireTextureResult::from_raw(result)
}

// Navin's queues use no memory of the guest's, so there is nothing to count and nothing to reset.
accessors! {
    NVNqueue as QueueRecord;
    mut get nvnQueueGetError(_info: *mut NVNqueueErrorInfo) -> NVNqueueGetErrorResult: |q| error(q);
    mut get nvnQueueGetTotalCommandMemoryUsed() -> usize: |_q| 0;
    mut get nvnQueueGetTotalComputeMemoryUsed() -> usize: |_q| 0;
    mut get nvnQueueGetTotalControlMemoryUsed() -> usize: |_q| 0;
    set nvnQueueResetMemoryUsageCounts(): |_q| true;
}

/// Whether the GPU failed. What NVN writes beside the result is not known, so the info is left alone.
fn error(queue: &QueueRecord) -> NVNqueueGetErrorResult {
    if host::queues::is_lost(queue.serial) {
        NVNqueueGetErrorResult::GPU_ERROR_UNKNOWN
    } else {
        NVNqueueGetErrorResult::GPU_NO_ERROR
    }
}

pub(crate) extern "C" fn nvnQueueSetDebugLabel(queue: *mut NVNqueue, label: *const core::ffi::c_char) {
    let serial = get(queue, "nvnQueueSetDebugLabel", |q: &QueueRecord| q.serial);
    super::label::note("NVNqueue", serial, label);
}

entries! {
    nvnQueueAcquireTexture,
    nvnQueueFenceSync,
    nvnQueueFinalize,
    nvnQueueFinish,
    nvnQueueFlush,
    nvnQueueGetError,
    nvnQueueGetTotalCommandMemoryUsed,
    nvnQueueGetTotalComputeMemoryUsed,
    nvnQueueGetTotalControlMemoryUsed,
    nvnQueueInitialize,
    nvnQueuePresentTexture,
    nvnQueueResetMemoryUsageCounts,
    nvnQueueSetDebugLabel,
    nvnQueueSubmitCommands,
    nvnQueueWaitSync,
}
