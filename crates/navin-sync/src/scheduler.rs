//! The state machine behind its one lock, and everything that blocks.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use navin_abi::fault;

use crate::core::{Core, Next, Reached};
use crate::executor::Executor;
use crate::ids::{QueueId, SyncId};
use crate::receipt::{Receipt, Target};
use crate::shim::{Condvar, Mutex, MutexGuard};
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
    /// For who suspends: the last one inside has left.
    left: Condvar,
}

impl<W, P> Default for Scheduler<W, P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W, P> Scheduler<W, P> {
    /// A scheduler without queues and syncs, at ticket 0.
    pub fn new() -> Self {
        Self { core: Mutex::new(Core::new()), reached: Condvar::new(), work: Condvar::new(), left: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Core<W, P>> {
        // Core's methods leave it consistent at every call that could panic, so a poisoned lock is as good.
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends a lock hold that may have changed something: wakes who should look again.
    fn release(&self, mut core: MutexGuard<'_, Core<W, P>>) {
        let wake = std::mem::take(&mut core.wake) && core.waiters > 0;
        let work = std::mem::take(&mut core.news) && core.idlers > 0;
        let left = core.suspended && core.inside == 0;
        drop(core);
        if wake {
            self.reached.notify_all();
        }
        if work {
            self.work.notify_all();
        }
        if left {
            self.left.notify_all();
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
        // Steps that are refused are dropped without the lock: what a caller drops with them is its own affair.
        if !core.knows(queue) {
            return Err(SubmitError::UnknownQueue);
        }
        core.submit(queue, steps);
        self.release(core);
        Ok(())
    }

    /// Executes every step that is ready, until none is; whether anything was executed.
    ///
    /// Steps run one at a time in order of arrival (B233), on the calling thread. When another thread is inside,
    /// returns false at once: that thread takes up whatever is ready before it leaves. While the scheduler is
    /// suspended every step stays where it is (B234).
    pub fn run_ready<E>(&self, executor: &mut E) -> bool
    where
        E: Executor<Work = W, Present = P>,
    {
        // Declared before the guard, so that unwinding unlocks before the turn takes the lock.
        let mut turn = Turn { scheduler: self, mine: false, queue: None };
        let mut core = self.lock();
        if core.suspended || std::mem::replace(&mut core.replaying, true) {
            return false;
        }
        core.inside += 1;
        turn.mine = true;
        let mut progressed = false;
        // Whether the executor may hold back work that it was not yet told to flush.
        let mut unflushed = false;
        loop {
            // A suspend waits for the piece that is being encoded, not for the queue to run dry.
            let next = if core.suspended { Next::Idle } else { core.next(executor) };
            match next {
                Next::Work { queue, work, after, arrival } => {
                    turn.queue = Some(queue);
                    self.release(core);
                    let executed: Executed = executor.execute(queue, work, after, arrival);
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
                    core.inside -= 1;
                    turn.mine = false;
                    self.release(core);
                    return progressed;
                }
            }
            turn.queue = None;
            progressed = true;
        }
    }

    /// How often something happened so far that may have made a step ready: to be read *before* looking for
    /// something to do, and given to [`wait_for_work`](Self::wait_for_work) after, so that nothing which happens
    /// in between is slept through.
    pub fn activity(&self) -> u64 {
        self.lock().activity
    }

    /// Blocks until something happened (a submission, a completion, a [`poke`](Self::poke), a
    /// [`resume`](Self::resume)) since [`activity`](Self::activity) gave `since`; false when the time was up
    /// first. `None` waits without limit.
    ///
    /// Guest memory that changes without a call is not noticed: while
    /// [`waits_for_event`](Self::waits_for_event), use a short time and look again.
    pub fn wait_for_work(&self, since: u64, timeout: Option<Duration>) -> bool {
        let deadline = deadline(timeout);
        let mut core = self.lock();
        while core.activity == since {
            core.idlers += 1;
            let (woken, late) = wait_until(&self.work, core, deadline);
            core = woken;
            core.idlers -= 1;
            if late {
                return core.activity != since;
            }
        }
        true
    }

    /// Keeps every step from being executed, from the return of this call until [`resume`](Self::resume): waits
    /// for whatever is giving work to the GPU at this moment (B234). False when that took longer than `timeout`
    /// (`None`: no limit); nothing new begins even then. Work already with the GPU goes on.
    ///
    /// Submitting, signalling and waiting stay possible; nothing is lost or changes its order.
    pub fn suspend(&self, timeout: Option<Duration>) -> bool {
        let deadline = deadline(timeout);
        let mut core = self.lock();
        core.suspended = true;
        while core.suspended && core.inside > 0 {
            let (woken, late) = wait_until(&self.left, core, deadline);
            core = woken;
            if late {
                return core.inside == 0;
            }
        }
        true
    }

    /// Ends what [`suspend`](Self::suspend) began, however often it was called.
    pub fn resume(&self) {
        let mut core = self.lock();
        core.suspended = false;
        core.stir();
        // A suspend that still waits is overtaken.
        self.release(core);
        self.left.notify_all();
    }

    /// Whether [`suspend`](Self::suspend) holds everything back.
    pub fn suspended(&self) -> bool {
        self.lock().suspended
    }

    /// Leave to give something to the GPU outside any queue, until the guard is dropped; `None` while suspended.
    pub fn enter(&self) -> Option<Inside<'_, W, P>> {
        let mut core = self.lock();
        if core.suspended {
            return None;
        }
        core.inside += 1;
        Some(Inside(self))
    }

    /// Does host work of an executor, or of who holds [`enter`](Self::enter)'s guard, as if outside: a suspend does not
    /// wait for it, and while suspended what comes after it waits for the resume (B234). `work` gives the GPU nothing.
    pub fn outside<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut core = self.lock();
        core.inside -= 1;
        self.release(core);
        let _back = Outside(self);
        work()
    }

    /// Says that an event may have changed (a CPU signal), or that the submit thread should look up.
    pub fn poke(&self) {
        let mut core = self.lock();
        core.stir();
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

    /// What a wait for the sync waits for: its newest fence as of this call. An error is a wait that is over:
    /// [`AlreadySignaled`](WaitResult::AlreadySignaled) for a sync never fenced (B236).
    pub fn newest_fence(&self, sync: SyncId) -> Result<Receipt, WaitResult> {
        let core = self.lock();
        match core.sync(sync) {
            Some(Some(receipt)) => Ok(receipt.clone()),
            Some(None) => Err(WaitResult::AlreadySignaled),
            None => {
                drop(core);
                fault!(key = sync.raw(), "B236", "wait for sync {sync}, which does not exist: failed");
                Err(WaitResult::Failed)
            }
        }
    }

    /// What [`finish`](Self::finish) waits for: everything submitted to the queue before this call.
    pub fn everything(&self, queue: QueueId) -> Result<Receipt, WaitResult> {
        let mut core = self.lock();
        if core.lost() {
            return Err(WaitResult::Failed);
        }
        let receipt = core.fence_all(queue);
        self.release(core);
        receipt.ok_or(WaitResult::Failed)
    }

    /// Blocks until the sync's newest fence (as of this call) has been reached and [`complete`](Self::complete)
    /// was told so; `None` waits for an hour (B301). Answers at once for a sync never fenced (B236).
    pub fn wait(&self, sync: SyncId, timeout: Option<Duration>) -> WaitResult {
        match self.newest_fence(sync) {
            Ok(receipt) => {
                let result = self.wait_for(&receipt, timeout.or(Some(crate::wait::STAGE_LIMIT)));
                self.note_expired(sync, &receipt, timeout, result);
                result
            }
            Err(result) => result,
        }
    }

    /// Names a wait of [`NOTABLE_WAIT`] and more that expired (B236).
    pub(crate) fn note_expired(&self, sync: SyncId, receipt: &Receipt, timeout: Option<Duration>, result: WaitResult) {
        if result == WaitResult::TimeoutExpired && timeout.is_none_or(|time| time >= NOTABLE_WAIT) {
            let (state, completed) = (receipt.target(), self.completed());
            let parked = self.status();
            fault!(
                // They are seconds apart, and a program's own watchdog acts on whichever it meets.
                each,
                "B236",
                "a wait for sync {sync} expired after {timeout:?}: fence {state:?}, completed {completed}, queues {parked:?}"
            );
        }
    }

    /// Blocks until the fence's queue has reached it, so that its ticket is known, and gives the ticket for the
    /// caller to wait on the timeline itself (B301). An error is a wait that is over.
    pub fn wait_ticket(&self, receipt: &Receipt, timeout: Option<Duration>) -> Result<Ticket, WaitResult> {
        let mut waited = false;
        self.wait_until_known(timeout, |core| match (core.reached(receipt), receipt.target()) {
            (Reached::Yes, _) if waited => Some(Err(WaitResult::ConditionSatisfied)),
            (Reached::Yes, _) => Some(Err(WaitResult::AlreadySignaled)),
            (Reached::Never, _) => Some(Err(WaitResult::Failed)),
            (Reached::NotYet, Target::Encoded(ticket)) => Some(Ok(ticket)),
            (Reached::NotYet, _) => {
                waited = true;
                None
            }
        })
        .unwrap_or(Err(WaitResult::TimeoutExpired))
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
        match self.everything(queue) {
            Ok(receipt) => self.wait_for(&receipt, timeout),
            Err(result) => result,
        }
    }

    /// Blocks until [`complete`](Self::complete) was told that the fence is reached.
    pub fn wait_for(&self, receipt: &Receipt, timeout: Option<Duration>) -> WaitResult {
        let mut waited = false;
        self.wait_until_known(timeout, |core| match core.reached(receipt) {
            Reached::Yes if waited => Some(WaitResult::ConditionSatisfied),
            Reached::Yes => Some(WaitResult::AlreadySignaled),
            Reached::Never => Some(WaitResult::Failed),
            Reached::NotYet => {
                waited = true;
                None
            }
        })
        .unwrap_or(WaitResult::TimeoutExpired)
    }

    /// Asks again whenever a receipt was resolved or the timeline moved; `None` when the time was up.
    fn wait_until_known<T>(
        &self,
        timeout: Option<Duration>,
        mut ask: impl FnMut(&Core<W, P>) -> Option<T>,
    ) -> Option<T> {
        let mut core = self.lock();
        if let Some(answer) = ask(&core) {
            return Some(answer);
        }
        let deadline = deadline(timeout);
        loop {
            core.waiters += 1;
            let (woken, late) = wait_until(&self.reached, core, deadline);
            core = woken;
            core.waiters -= 1;
            match ask(&core) {
                None if late => return None,
                None => {}
                answer => return answer,
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

    /// How many submissions there were, of all queues together: the number of the newest, counted from 1.
    pub fn arrivals(&self) -> u64 {
        self.lock().arrivals()
    }

    /// The newest submission for which it and every one before, of whichever queue, has been executed or dropped
    /// to its last step: nothing that came before can name an object any more.
    pub fn replayed(&self) -> u64 {
        self.lock().replayed()
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

    /// Whether [`lose_device`](Self::lose_device) was called.
    pub fn lost(&self) -> bool {
        self.lock().lost()
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

/// Comes back inside when dropped.
struct Outside<'a, W, P>(&'a Scheduler<W, P>);

impl<W, P> Drop for Outside<'_, W, P> {
    fn drop(&mut self) {
        let mut core = self.0.lock();
        while core.suspended && !core.lost() {
            core.idlers += 1;
            core = self.0.work.wait(core).unwrap_or_else(PoisonError::into_inner);
            core.idlers -= 1;
        }
        core.inside += 1;
    }
}

/// Leave to give something to the GPU: see [`Scheduler::enter`].
pub struct Inside<'a, W, P>(&'a Scheduler<W, P>);

impl<W, P> Drop for Inside<'_, W, P> {
    fn drop(&mut self) {
        let mut core = self.0.lock();
        core.inside -= 1;
        self.0.release(core);
    }
}

/// Gives the turn back when an executor panics, so that other queues and waiters go on.
struct Turn<'a, W, P> {
    scheduler: &'a Scheduler<W, P>,
    /// The turn is this thread's and not given back yet; it counts among those inside.
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
        core.inside -= 1;
        if let Some(queue) = self.queue {
            core.presented(queue);
        }
        core.stir();
        self.scheduler.release(core);
    }
}

/// The moment a time is up; `None` for never, also when it lies beyond what the clock can name.
fn deadline(timeout: Option<Duration>) -> Option<Instant> {
    timeout.and_then(|time| Instant::now().checked_add(time))
}

/// Sleeps until woken (perhaps for nothing) or until the deadline; true when that is past.
pub(crate) fn wait_until<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    deadline: Option<Instant>,
) -> (MutexGuard<'a, T>, bool) {
    let Some(deadline) = deadline else {
        return (condvar.wait(guard).unwrap_or_else(PoisonError::into_inner), false);
    };
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return (guard, true);
    }
    (condvar.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0, false)
}
