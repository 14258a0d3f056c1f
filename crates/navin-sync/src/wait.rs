//! A guest's wait for a fence, woken by the GPU's own signal (B301).
//!
//! Three stages under one limit of time: until the fence's queue has reached it, so that its ticket is known (only
//! behind a parked queue does that take time); until the timeline has that ticket; then the waiter runs the CPU's
//! writes up to its fence itself, unless the completion thread has done so. The third has no limit of its own: it
//! is work, not a wait. A guest's wait without limit (`UINT64_MAX`) may take an hour in each of the first two; finishing
//! a queue has no limit.
//!
//! The device's side is the trait [`Timeline`], its clock included, so that tests can hold the clock in hand.

use std::time::Duration;

use crate::receipt::Receipt;
use crate::{Completions, QueueId, Scheduler, SyncId, Ticket, WaitResult};

/// How long a stage of a guest's wait without limit takes at most (B301).
pub(crate) const STAGE_LIMIT: Duration = Duration::from_secs(3600);

/// The device is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceLost;

/// What waits need of the device. Called without any lock of this crate, but for [`write`](Self::write).
pub trait Timeline {
    /// What the CPU writes for one submission.
    type Record;

    /// A monotonic clock.
    fn now(&self) -> Duration;

    /// Blocks until the timeline has reached `ticket`; false when `timeout` (`None`: no limit) was up first.
    ///
    /// # Errors
    /// The device is gone: the ticket will never be reached.
    fn wait(&self, ticket: Ticket, timeout: Option<Duration>) -> Result<bool, DeviceLost>;

    /// Makes the CPU's writes of one submission. Called once for each record, in order of tickets.
    fn write(&self, ticket: Ticket, record: Self::Record);
}

/// Runs every record up to `reached` that is still to be run, then tells the scheduler. The one completion routine,
/// of waiters and the completion thread alike.
pub fn publish<W, P, T: Timeline>(
    scheduler: &Scheduler<W, P>,
    completions: &Completions<T::Record>,
    timeline: &T,
    reached: Ticket,
) {
    let published = completions.run(reached, |ticket, record| timeline.write(ticket, record));
    scheduler.complete(published);
}

impl<W, P> Scheduler<W, P> {
    /// [`wait`](Self::wait), but on the timeline: does not depend on the completion thread.
    pub fn wait_on<T: Timeline>(
        &self,
        completions: &Completions<T::Record>,
        timeline: &T,
        sync: SyncId,
        timeout: Option<Duration>,
    ) -> WaitResult {
        let receipt = match self.newest_fence(sync) {
            Ok(receipt) => receipt,
            Err(result) => return result,
        };
        let result = self.wait_fence_on(completions, timeline, &receipt, timeout, Some(STAGE_LIMIT));
        self.note_expired(sync, &receipt, timeout, result);
        result
    }

    /// [`finish`](Self::finish), but on the timeline.
    pub fn finish_on<T: Timeline>(
        &self,
        completions: &Completions<T::Record>,
        timeline: &T,
        queue: QueueId,
        timeout: Option<Duration>,
    ) -> WaitResult {
        match self.everything(queue) {
            Ok(receipt) => self.wait_fence_on(completions, timeline, &receipt, timeout, None),
            Err(result) => result,
        }
    }

    /// All stages; without `timeout`, each but the last takes no longer than `stage`.
    fn wait_fence_on<T: Timeline>(
        &self,
        completions: &Completions<T::Record>,
        timeline: &T,
        receipt: &Receipt,
        timeout: Option<Duration>,
        stage: Option<Duration>,
    ) -> WaitResult {
        let begun = timeline.now();
        // A poll first, so that the answer tells whether there was anything to wait for.
        let mut waited = false;
        let known = match self.wait_ticket(receipt, Some(Duration::ZERO)) {
            Err(WaitResult::TimeoutExpired) if timeout != Some(Duration::ZERO) => {
                waited = true;
                self.wait_ticket(receipt, timeout.or(stage))
            }
            answer => answer,
        };
        let ticket = match known {
            Ok(ticket) => ticket,
            Err(result) => return result,
        };
        // When it is published already, the scheduler is just about to be told.
        if completions.published() < ticket {
            let mut ended = timeline.wait(ticket, Some(Duration::ZERO));
            if ended == Ok(false) && timeout != Some(Duration::ZERO) {
                waited = true;
                // What the queue's parking took is not there for the timeline any more.
                let left = timeout.map(|time| time.saturating_sub(timeline.now().saturating_sub(begun))).or(stage);
                if left != Some(Duration::ZERO) {
                    ended = timeline.wait(ticket, left);
                }
            }
            match ended {
                Ok(true) => publish(self, completions, timeline, ticket),
                Ok(false) => return WaitResult::TimeoutExpired,
                Err(DeviceLost) => return WaitResult::Failed,
            }
        }
        if waited { WaitResult::ConditionSatisfied } else { WaitResult::AlreadySignaled }
    }
}
