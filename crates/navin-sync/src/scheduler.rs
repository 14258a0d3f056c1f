//! The state machine behind its one lock, and everything that blocks.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use navin_abi::fault;

use crate::core::{Core, Next, Reached};
use crate::executor::Executor;
use crate::ids::{QueueId, SyncId};
use crate::receipt::{Receipt, Target};
use crate::step::{Step, StepKind};
use crate::{Executed, Ticket};

/// A wait that expires after this long is named: programs' own GPU watchdogs act on such an answer (B236).
const NOTABLE_WAIT: Duration = Duration::from_secs(1);

/// The answer of a CPU wait: `NVNsyncWaitResult`, same values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum WaitResult {
    /// The fence had been reached when the call came, or there never was one (B236).
    AlreadySignaled = 0,
    /// The fence was reached during the call.
    ConditionSatisfied = 1,
    /// It was not reached in the time given.
    TimeoutExpired = 2,
    /// It will never be reached: no such object, its queue is gone, or the device is lost.
    Failed = 3,
}

/// Why a submission was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubmitError {
    /// There is no such queue (any more).
    UnknownQueue,
    /// The device is lost; nothing runs any more.
    DeviceLost,
}

impl std::fmt::Display for SubmitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::UnknownQueue => "no such queue",
            Self::DeviceLost => "the device is lost",
        })
    }
}

impl std::error::Error for SubmitError {}

/// Where a sync stands; for getters and diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncState {
    /// No fence since its creation.
    NeverFenced,
    /// Its queue has not reached the newest fence: something before it is parked or waits for its turn.
    Pending,
    /// The work before the fence is with the GPU and ends at this ticket.
    InFlight(Ticket),
    /// Reached.
    Signaled,
    /// Will never be reached: queue gone or device lost.
    Abandoned,
}

/// What was left in a queue (or all queues) when it went.
#[derive(Debug, PartialEq, Eq)]
pub struct Dropped<W, P> {
    /// Work that never ran, oldest first within a queue.
    pub work: Vec<W>,
    /// Presents that were never shown.
    pub presents: Vec<P>,
}

/// One queue's state, for the watchdog and `navin doctor --live` (B235).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueStatus {
    /// Which queue.
    pub queue: QueueId,
    /// Steps not yet taken.
    pub pending: usize,
    /// What the queue stands at; `None` when it is empty.
    pub at: Option<StepKind>,
    /// Newest ticket of its work, 0 when it has run nothing.
    pub last_ticket: Ticket,
}

/// The scheduler of all queues of a device. All methods may be called from any thread.
///
/// One lock inside. It is held for the state changes only: never while an executor encodes or presents, never
/// while somebody waits. [`Executor::completed`] and [`Executor::read_event`] alone are called with it held.
/// It is a leaf in the lock order: nothing is locked under it but what those two lock.
pub struct Scheduler<W, P> {
    core: Mutex<Core<W, P>>,
    /// For CPU waiters: a receipt was resolved, the timeline moved, or the device was lost.
    reached: Condvar,
    /// For the submit thread: a step may have become ready.
    work: Condvar,
}

impl<W, P> Default for Scheduler<W, P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W, P> Scheduler<W, P> {
    /// A scheduler without queues and syncs, at ticket 0.
    pub fn new() -> Self {
        Self { core: Mutex::new(Core::new()), reached: Condvar::new(), work: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Core<W, P>> {
        // Core's methods leave it consistent at every call that could panic, so a poisoned lock is as good.
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends a lock hold that may have changed something: wakes who should look again.
    fn release(&self, mut core: MutexGuard<'_, Core<W, P>>) {
        let wake = std::mem::take(&mut core.wake);
        let work = core.activity != core.seen;
        drop(core);
        if wake {
            self.reached.notify_all();
        }
        if work {
            self.work.notify_all();
        }
    }

    /// A new queue. Its id is never given out again (B230).
    pub fn create_queue(&self) -> QueueId {
        self.lock().create_queue()
    }

    /// Removes a queue with everything that has not run; fences among it fail their waiters. Work already with
    /// the GPU goes on. `None` when there is no such queue.
    ///
    /// The driver calls [`finish_within`](Self::finish_within) first, so that only a parked queue loses work.
    pub fn destroy_queue(&self, queue: QueueId) -> Option<Dropped<W, P>> {
        let mut core = self.lock();
        let dropped = core.destroy_queue(queue);
        self.release(core);
        dropped.map(|(work, presents)| Dropped { work, presents })
    }

    /// A new sync, never fenced. Its id is never given out again, so a sync initialized anew in the same storage
    /// has no fence (B236).
    pub fn create_sync(&self) -> SyncId {
        self.lock().create_sync()
    }

    /// Removes a sync. Waits and fences already submitted or blocking keep what they stand for. False when there
    /// is no such sync.
    pub fn destroy_sync(&self, sync: SyncId) -> bool {
        self.lock().destroy_sync(sync)
    }

    /// Gives a sync a fence at a known ticket, outside any queue: for a window texture that becomes available at
    /// the end of that ticket (0: at once). False when there is no such sync.
    pub fn set_sync(&self, sync: SyncId, ticket: Ticket) -> bool {
        self.lock().set_sync(sync, ticket)
    }

    /// Appends one submission to a queue. Fences in it take effect now: a wait on their syncs, from the CPU or
    /// submitted later, is for them (B232). Nothing is executed here; wakes [`wait_for_work`](Self::wait_for_work).
    ///
    /// A sync that does not exist is named in a fault line and its step left out.
    pub fn submit(&self, queue: QueueId, steps: impl IntoIterator<Item = Step<W, P>>) -> Result<(), SubmitError> {
        // The caller's iterator is foreign code: run it before the lock.
        let steps: Vec<_> = steps.into_iter().collect();
        let mut core = self.lock();
        if core.lost() {
            return Err(SubmitError::DeviceLost);
        }
        let known = core.submit(queue, steps);
        self.release(core);
        if known { Ok(()) } else { Err(SubmitError::UnknownQueue) }
    }

    /// Executes every step that is ready, until none is; whether anything was executed.
    ///
    /// Steps run one at a time in order of arrival (B233), on the calling thread. When another thread is inside,
    /// returns false at once: that thread takes up whatever is ready before it leaves.
    pub fn run_ready<E>(&self, executor: &mut E) -> bool
    where
        E: Executor<Work = W, Present = P>,
    {
        // Declared before the guard, so that unwinding unlocks before the turn takes the lock.
        let mut turn = Turn { scheduler: self, mine: false, queue: None };
        let mut core = self.lock();
        if std::mem::replace(&mut core.replaying, true) {
            return false;
        }
        turn.mine = true;
        let mut progressed = false;
        // Whether the executor may hold back work that it was not yet told to flush.
        let mut unflushed = false;
        loop {
            match core.next(executor) {
                Next::Work { queue, work, after } => {
                    turn.queue = Some(queue);
                    self.release(core);
                    let executed: Executed = executor.execute(queue, work, after);
                    unflushed = true;
                    core = self.lock();
                    core.executed(queue, executed);
                }
                Next::Present { queue, present, after } => {
                    turn.queue = Some(queue);
                    self.release(core);
                    executor.present(queue, present, after);
                    unflushed = true;
                    core = self.lock();
                    core.presented(queue);
                }
                Next::Idle if unflushed => {
                    self.release(core);
                    executor.flush();
                    unflushed = false;
                    // Something may have been submitted during the flush; nobody else would run it.
                    core = self.lock();
                    continue;
                }
                Next::Idle => {
                    core.replaying = false;
                    turn.mine = false;
                    self.release(core);
                    return progressed;
                }
            }
            turn.queue = None;
            progressed = true;
        }
    }

    /// Blocks the submit thread until something happened that may have made a step ready (a submission, a
    /// completion, a [`poke`](Self::poke)) since [`run_ready`](Self::run_ready) last found nothing; false when
    /// the time was up first. `None` waits without limit.
    ///
    /// Guest memory that changes without a call is not noticed: while
    /// [`waits_for_event`](Self::waits_for_event), use a short time and look again.
    pub fn wait_for_work(&self, timeout: Option<Duration>) -> bool {
        let deadline = deadline(timeout);
        let mut core = self.lock();
        while core.activity == core.seen {
            match wait_until(&self.work, core, deadline) {
                Ok(woken) => core = woken,
                Err(late) => return late.activity != late.seen,
            }
        }
        true
    }

    /// Says that an event may have changed (a CPU signal), or that the submit thread should look up.
    pub fn poke(&self) {
        let mut core = self.lock();
        core.activity += 1;
        self.release(core);
    }

    /// The timeline has reached `ticket`, and everything the CPU had to write for it (events, reports) is
    /// written: wakes waiters. Tickets at or below the newest known change nothing.
    pub fn complete(&self, ticket: Ticket) {
        let mut core = self.lock();
        core.complete(ticket);
        self.release(core);
    }

    /// The newest ticket known to have ended.
    pub fn completed(&self) -> Ticket {
        self.lock().completed()
    }

    /// Blocks until the sync's newest fence (as of this call) has been reached and its work has ended; `None`
    /// waits without limit. Answers at once for a sync never fenced (B236).
    pub fn wait(&self, sync: SyncId, timeout: Option<Duration>) -> WaitResult {
        let core = self.lock();
        let receipt = match core.sync(sync) {
            Some(Some(receipt)) => receipt.clone(),
            Some(None) => return WaitResult::AlreadySignaled,
            None => {
                drop(core);
                fault!(key = sync.raw(), "B236", "wait for sync {sync}, which does not exist: failed");
                return WaitResult::Failed;
            }
        };
        let result = self.wait_for(core, &receipt, timeout);
        if result == WaitResult::TimeoutExpired && timeout.is_some_and(|time| time >= NOTABLE_WAIT) {
            let (state, completed) = (receipt.target(), self.completed());
            let parked = self.status();
            fault!(
                key = sync.raw(),
                "B236",
                "a wait for sync {sync} expired after {timeout:?}: fence {state:?}, completed {completed}, queues {parked:?}"
            );
        }
        result
    }

    /// Blocks until the queue has reached the sync's newest fence, so that its ticket is known, and gives the
    /// ticket for the caller to wait on the timeline itself (B301). An error is a wait that is over.
    pub fn wait_ticket(&self, sync: SyncId, timeout: Option<Duration>) -> Result<Ticket, WaitResult> {
        let deadline = deadline(timeout);
        let mut core = self.lock();
        let receipt = match core.sync(sync) {
            Some(Some(receipt)) => receipt.clone(),
            Some(None) => return Err(WaitResult::AlreadySignaled),
            None => return Err(WaitResult::Failed),
        };
        if core.reached(&receipt) == Reached::Yes {
            return Err(WaitResult::AlreadySignaled);
        }
        loop {
            match (core.reached(&receipt), receipt.target()) {
                (Reached::Yes, _) => return Err(WaitResult::ConditionSatisfied),
                (Reached::Never, _) => return Err(WaitResult::Failed),
                (Reached::NotYet, Target::Encoded(ticket)) => return Ok(ticket),
                (Reached::NotYet, _) => {}
            }
            match wait_until(&self.reached, core, deadline) {
                Ok(woken) => core = woken,
                Err(_) => return Err(WaitResult::TimeoutExpired),
            }
        }
    }

    /// Blocks until everything submitted to the queue before this call has ended on the GPU. The display is not
    /// waited for (B303). Fails when there is no such queue, when it is destroyed meanwhile or the device lost.
    ///
    /// Another thread must run the queue: see [`run_ready`](Self::run_ready).
    pub fn finish(&self, queue: QueueId) -> WaitResult {
        self.finish_within(queue, None)
    }

    /// [`finish`](Self::finish) with a limit of time.
    pub fn finish_within(&self, queue: QueueId, timeout: Option<Duration>) -> WaitResult {
        let mut core = self.lock();
        if core.lost() {
            return WaitResult::Failed;
        }
        let Some(receipt) = core.fence_all(queue) else { return WaitResult::Failed };
        self.release(core);
        self.wait_for(self.lock(), &receipt, timeout)
    }

    fn wait_for(
        &self,
        mut core: MutexGuard<'_, Core<W, P>>,
        receipt: &Receipt,
        timeout: Option<Duration>,
    ) -> WaitResult {
        match core.reached(receipt) {
            Reached::Yes => return WaitResult::AlreadySignaled,
            Reached::Never => return WaitResult::Failed,
            Reached::NotYet if timeout == Some(Duration::ZERO) => return WaitResult::TimeoutExpired,
            Reached::NotYet => {}
        }
        let deadline = deadline(timeout);
        loop {
            let (woken, late) = match wait_until(&self.reached, core, deadline) {
                Ok(woken) => (woken, false),
                Err(woken) => (woken, true),
            };
            core = woken;
            match core.reached(receipt) {
                Reached::Yes => return WaitResult::ConditionSatisfied,
                Reached::Never => return WaitResult::Failed,
                Reached::NotYet if late => return WaitResult::TimeoutExpired,
                Reached::NotYet => {}
            }
        }
    }

    /// Where the sync stands; `None` when there is no such sync.
    pub fn sync_state(&self, sync: SyncId) -> Option<SyncState> {
        let core = self.lock();
        let Some(receipt) = core.sync(sync)? else { return Some(SyncState::NeverFenced) };
        Some(match (core.reached(receipt), receipt.target()) {
            (Reached::Yes, _) => SyncState::Signaled,
            (Reached::Never, _) => SyncState::Abandoned,
            (Reached::NotYet, Target::Encoded(ticket)) => SyncState::InFlight(ticket),
            (Reached::NotYet, _) => SyncState::Pending,
        })
    }

    /// Whether some queue stands at an event wait.
    pub fn waits_for_event(&self) -> bool {
        self.lock().queues().any(|(.., at, _)| matches!(at, Some(StepKind::WaitEvent { .. })))
    }

    /// Every queue's state, by age.
    pub fn status(&self) -> Vec<QueueStatus> {
        let core = self.lock();
        core.queues().map(|(queue, pending, at, last_ticket)| QueueStatus { queue, pending, at, last_ticket }).collect()
    }

    /// The device is lost: drops every step, and every wait on what had not ended fails from now on, instead of
    /// hanging. Later submissions are refused.
    pub fn lose_device(&self) -> Dropped<W, P> {
        let mut core = self.lock();
        let (work, presents) = core.lose();
        self.release(core);
        Dropped { work, presents }
    }
}

/// Gives the turn back when an executor panics, so that other queues and waiters go on.
struct Turn<'a, W, P> {
    scheduler: &'a Scheduler<W, P>,
    /// The turn is this thread's and not given back yet.
    mine: bool,
    /// Whose step the executor has.
    queue: Option<QueueId>,
}

impl<W, P> Drop for Turn<'_, W, P> {
    fn drop(&mut self) {
        if !self.mine {
            return;
        }
        let mut core = self.scheduler.lock();
        core.replaying = false;
        if let Some(queue) = self.queue {
            core.presented(queue);
        }
        core.activity += 1;
        self.scheduler.release(core);
    }
}

/// The moment a time is up; `None` for never, also when it lies beyond what the clock can name.
fn deadline(timeout: Option<Duration>) -> Option<Instant> {
    timeout.and_then(|time| Instant::now().checked_add(time))
}

/// Sleeps until woken (`Ok`, perhaps for nothing) or until the deadline (`Err`).
fn wait_until<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    deadline: Option<Instant>,
) -> Result<MutexGuard<'a, T>, MutexGuard<'a, T>> {
    let Some(deadline) = deadline else {
        return Ok(condvar.wait(guard).unwrap_or_else(PoisonError::into_inner));
    };
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(guard);
    }
    Ok(condvar.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0)
}
