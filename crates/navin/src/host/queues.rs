//! Queues: submissions are flattened on the guest's thread, cut where the queue may have to wait, and given to the
//! scheduler; the submit thread replays them.

use std::sync::Arc;
use std::time::Duration;

use navin_abi::fault;
use navin_command::{Boundary, Stream};
use navin_sync::{QueueId, Step, SubmitError, SyncId, WaitMode, WaitResult};

use crate::driver::{self, Driver};
use crate::host::windows::OnItsWay;
use crate::replay::Work;
use crate::replay::present::Present;

/// How long Finalize waits for a queue's work before it drops what is parked.
const FINALIZE_WAIT: Duration = Duration::from_secs(5);

/// What recording keeps on the host side, of all command buffers.
pub(crate) static COMMANDS: navin_command::Host = navin_command::Host::new();

type QueueStep = Step<Work, Present>;

/// A queue with fresh bindings (B230); 0 without a device.
pub(crate) fn create(_flags: i32) -> u64 {
    driver::get().map_or(0, |driver| driver.scheduler.create_queue().raw())
}

/// Ends a queue once its work has run; what still waits then is dropped. What a suspend holds back is not lost: it
/// runs after the resume (B234).
pub(crate) fn destroy(queue: u64) {
    if let Some((driver, queue)) = known(queue) {
        loop {
            let suspended = driver.scheduler.suspended();
            if driver.finish(queue, Some(FINALIZE_WAIT)) != WaitResult::TimeoutExpired || !suspended {
                break;
            }
        }
        driver::destroy_queue(driver, queue);
    }
}

/// Runs recordings, by their handles.
pub(crate) fn submit(queue: u64, handles: &[u64]) {
    let Some((driver, queue)) = known(queue) else { return };
    navin_command::flatten_parts(&COMMANDS, &driver.pools, handles.iter().copied(), |part| {
        give(driver, queue, cut(&Arc::new(part)));
    });
}

/// A stream's sections and what separates them, as steps (B229).
fn cut(stream: &Arc<Stream>) -> Vec<QueueStep> {
    let mut steps = Vec::new();
    for section in stream.sections() {
        if !section.words.is_empty() {
            steps.push(Step::Work(Work { stream: Arc::clone(stream), words: section.words.clone() }));
        }
        let step = match section.boundary {
            None => None,
            Some(Boundary::Fence { sync, .. }) => SyncId::from_raw(sync).map(Step::FenceSync),
            Some(Boundary::WaitSync { sync }) => SyncId::from_raw(sync).map(Step::WaitSync),
            Some(Boundary::WaitEvent { event, mode, value }) => match WaitMode::from_raw(u32::from(mode)) {
                Some(mode) => Some(Step::WaitEvent { address: event, mode, value }),
                None => {
                    fault!(key = mode, "B229", "event wait mode {mode} is not one of NVN's: not waited for");
                    None
                }
            },
        };
        steps.extend(step);
    }
    steps
}

/// Fences a sync behind everything submitted so far.
pub(crate) fn fence(queue: u64, sync: u64, _condition: i32, _flags: i32) {
    if let (Some((driver, queue)), Some(sync)) = (known(queue), SyncId::from_raw(sync)) {
        give(driver, queue, [Step::FenceSync(sync)]);
    }
}

/// Makes what is submitted later wait for a sync.
pub(crate) fn wait_sync(queue: u64, sync: u64) -> bool {
    let (Some((driver, queue)), Some(sync)) = (known(queue), SyncId::from_raw(sync)) else { return false };
    give(driver, queue, [Step::WaitSync(sync)])
}

/// Submissions reach the submit thread at once; there is nothing to flush.
pub(crate) fn flush(queue: u64) {
    let _ = known(queue);
}

/// Waits until everything submitted has ended on the GPU; never for the display (B303).
pub(crate) fn finish(queue: u64) {
    if let Some((driver, queue)) = known(queue) {
        driver.finish(queue, None);
    }
}

/// Shows a texture of a window, in order with the queue's work.
pub(crate) fn present(queue: u64, window: u64, index: i32) {
    let Some((driver, queue)) = known(queue) else { return };
    let Some(window) = driver.windows.get(window) else {
        fault!(key = window, "", "nvnQueuePresentTexture of a window that does not exist: nothing is shown");
        return;
    };
    let Some(texture) = window.texture(index) else {
        fault!(
            key = index,
            "",
            "nvnQueuePresentTexture of texture {index}, which the window does not have: nothing is shown"
        );
        return;
    };
    let crop = window.crop();
    give(driver, queue, [Step::Present(Present { window: OnItsWay(window), texture, crop })]);
}

/// The window's next texture; the display has given it back when the call returns, so the queue need not wait
/// (B417). Answers `NVNqueueAcquireTextureResult` and the index.
pub(crate) fn acquire(queue: u64, window: u64) -> (i32, i32) {
    match known(queue) {
        Some((driver, _)) => super::windows::next_texture(driver, window),
        None => (1, 0),
    }
}

/// Whether the device behind the queue is gone.
pub(crate) fn is_lost(_queue: u64) -> bool {
    driver::get().is_some_and(|driver| driver.health.is_lost())
}

fn give(driver: &Driver, queue: QueueId, steps: impl IntoIterator<Item = QueueStep>) -> bool {
    match driver.scheduler.submit(queue, steps) {
        Ok(()) => true,
        Err(e @ SubmitError::DeviceLost) => {
            fault!("B235", "a submission after {e}: nothing is run");
            false
        }
        Err(e) => {
            fault!(key = queue.raw(), "B230", "a submission to queue {queue}: {e}; nothing is run");
            false
        }
    }
}

fn known(queue: u64) -> Option<(&'static Driver, QueueId)> {
    Some((driver::get()?, QueueId::from_raw(queue)?))
}
