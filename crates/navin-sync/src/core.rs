//! The state machine itself: queues, syncs and encoded event values, single-threaded, without locks or time.
//!
//! [`Core::next`] looks at the first step of each queue, passes over the waits and fences that are ready, and
//! stops at the first work or present for its caller to execute outside the lock. Among ready queues the one
//! whose step was submitted first goes first, so that without waits the order is the order of arrival (B233),
//! and presents of different queues keep theirs.

use std::collections::{BTreeMap, HashMap, VecDeque};

use navin_abi::fault;

use crate::executor::{EventSignal, Executed, SignalMode};
use crate::ids::{Ids, QueueId, SyncId};
use crate::receipt::{Receipt, Target};
use crate::step::{Step, StepKind, WaitMode};
use crate::{Executor, Ticket};

/// A step with its names resolved: syncs have become the receipts they stood for at submit.
enum Pending<W, P> {
    Work(W),
    Present(P),
    Wait(Receipt),
    Fence(Receipt),
    /// `passed`: a signal has let it go, whatever came after that signal.
    WaitEvent {
        address: u64,
        mode: WaitMode,
        value: u32,
        passed: Option<Ticket>,
    },
}

struct Entry<W, P> {
    /// Number of the submission that brought it, counted over all queues.
    arrival: u64,
    pending: Pending<W, P>,
}

struct Queue<W, P> {
    entries: VecDeque<Entry<W, P>>,
    /// Newest ticket of the queue's own work.
    last: Ticket,
    /// Newest ticket that the waits passed since the queue's last work depend on.
    after: Ticket,
    /// The arrival of the step that is with the executor at this moment.
    executing: Option<u64>,
}

/// What to do next.
pub(crate) enum Next<W, P> {
    Work { queue: QueueId, work: W, after: Ticket, arrival: u64 },
    Present { queue: QueueId, present: P, after: Ticket },
    Idle,
}

/// What a receipt says to somebody on the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    Yes,
    NotYet,
    Never,
}

/// The newest signal of an event among the work that has not ended.
#[derive(Clone, Copy)]
struct InFlight {
    mode: SignalMode,
    value: u32,
    ticket: Ticket,
}

pub(crate) struct Core<W, P> {
    ids: Ids,
    queues: BTreeMap<QueueId, Queue<W, P>>,
    /// Each sync's newest fence; `None` before the first (B236).
    syncs: HashMap<SyncId, Option<Receipt>>,
    /// By event address.
    in_flight: HashMap<u64, InFlight>,
    arrivals: u64,
    completed: Ticket,
    lost: bool,
    /// A thread is inside `Scheduler::run_ready`.
    pub(crate) replaying: bool,
    /// Nothing may be given to the GPU (B234).
    pub(crate) suspended: bool,
    /// How many give something to the GPU at this moment: the executor, and what `Scheduler::enter` let in.
    pub(crate) inside: u32,
    /// Counts what may have made a step ready.
    pub(crate) activity: u64,
    /// `activity` has moved since the submit thread was last woken.
    pub(crate) news: bool,
    /// A receipt was resolved or the timeline moved: CPU waiters should look again.
    pub(crate) wake: bool,
    /// Threads asleep for `wake`, so that nobody is woken by a system call when nobody sleeps.
    pub(crate) waiters: u32,
    /// Threads asleep for `news`.
    pub(crate) idlers: u32,
}

impl<W, P> Core<W, P> {
    pub(crate) fn new() -> Self {
        Self {
            ids: Ids::default(),
            queues: BTreeMap::new(),
            syncs: HashMap::new(),
            in_flight: HashMap::new(),
            arrivals: 0,
            completed: 0,
            lost: false,
            replaying: false,
            suspended: false,
            inside: 0,
            activity: 0,
            news: false,
            wake: false,
            waiters: 0,
            idlers: 0,
        }
    }

    /// Something may have become ready.
    pub(crate) fn stir(&mut self) {
        self.activity += 1;
        self.news = true;
    }

    pub(crate) fn create_queue(&mut self) -> QueueId {
        let id = self.ids.queue();
        self.queues.insert(id, Queue { entries: VecDeque::new(), last: 0, after: 0, executing: None });
        id
    }

    /// Removes the queue. Its fences will never be reached; whoever waits for one is told so.
    pub(crate) fn destroy_queue(&mut self, id: QueueId) -> Option<(Vec<W>, Vec<P>)> {
        let queue = self.queues.remove(&id)?;
        self.stir();
        Some(self.abandon(queue.entries))
    }

    fn abandon(&mut self, entries: VecDeque<Entry<W, P>>) -> (Vec<W>, Vec<P>) {
        let (mut works, mut presents) = (Vec::new(), Vec::new());
        for entry in entries {
            match entry.pending {
                Pending::Work(work) => works.push(work),
                Pending::Present(present) => presents.push(present),
                Pending::Fence(receipt) => {
                    receipt.abandon();
                    self.wake = true;
                }
                Pending::Wait(_) | Pending::WaitEvent { .. } => {}
            }
        }
        (works, presents)
    }

    pub(crate) fn create_sync(&mut self) -> SyncId {
        let id = self.ids.sync();
        self.syncs.insert(id, None);
        id
    }

    pub(crate) fn destroy_sync(&mut self, id: SyncId) -> bool {
        self.syncs.remove(&id).is_some()
    }

    /// The sync's newest fence, if it has one; outer `None` when there is no such sync.
    pub(crate) fn sync(&self, id: SyncId) -> Option<Option<&Receipt>> {
        self.syncs.get(&id).map(Option::as_ref)
    }

    pub(crate) fn set_sync(&mut self, id: SyncId, ticket: Ticket) -> bool {
        match self.syncs.get_mut(&id) {
            Some(latest) => {
                *latest = Some(Receipt::encoded(ticket));
                true
            }
            None => false,
        }
    }

    /// Whether there is such a queue.
    pub(crate) fn knows(&self, id: QueueId) -> bool {
        self.queues.contains_key(&id)
    }

    /// Appends the steps of one submission to a queue that is known.
    pub(crate) fn submit(&mut self, id: QueueId, steps: impl IntoIterator<Item = Step<W, P>>) {
        self.arrivals += 1;
        self.stir();
        let Some(queue) = self.queues.get_mut(&id) else { return };
        for step in steps {
            let pending = match step {
                Step::Work(work) => Pending::Work(work),
                Step::Present(present) => Pending::Present(present),
                Step::WaitEvent { address, mode, value } => Pending::WaitEvent { address, mode, value, passed: None },
                Step::WaitSync(sync) => match self.syncs.get(&sync) {
                    // The target is the newest fence now; a later fence does not move it (B229).
                    Some(Some(receipt)) => Pending::Wait(receipt.clone()),
                    // Nothing to wait for (B229).
                    Some(None) => continue,
                    None => {
                        fault!(
                            key = sync.raw(),
                            "B229",
                            "queue {id} waits for sync {sync}, which does not exist: passed"
                        );
                        continue;
                    }
                },
                Step::FenceSync(sync) => match self.syncs.get_mut(&sync) {
                    Some(latest) => {
                        let receipt = Receipt::pending();
                        *latest = Some(receipt.clone());
                        Pending::Fence(receipt)
                    }
                    None => {
                        fault!(
                            key = sync.raw(),
                            "B232",
                            "queue {id} fences sync {sync}, which does not exist: left out"
                        );
                        continue;
                    }
                },
            };
            queue.entries.push_back(Entry { arrival: self.arrivals, pending });
        }
    }

    /// How many submissions there were, of all queues: the number of the newest.
    pub(crate) fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// The newest submission for which it and all before have been executed to their last step.
    pub(crate) fn replayed(&self) -> u64 {
        let oldest = |queue: &Queue<W, P>| queue.executing.or(queue.entries.front().map(|entry| entry.arrival));
        self.queues.values().filter_map(oldest).min().map_or(self.arrivals, |oldest| oldest - 1)
    }

    /// A receipt for everything submitted to the queue so far.
    pub(crate) fn fence_all(&mut self, id: QueueId) -> Option<Receipt> {
        let queue = self.queues.get_mut(&id)?;
        if queue.entries.is_empty() && queue.executing.is_none() {
            return Some(Receipt::encoded(queue.last.max(queue.after)));
        }
        let receipt = Receipt::pending();
        self.arrivals += 1;
        queue.entries.push_back(Entry { arrival: self.arrivals, pending: Pending::Fence(receipt.clone()) });
        self.stir();
        Some(receipt)
    }

    /// Passes over every wait and fence that is ready, oldest submission first, up to the first work or present.
    pub(crate) fn next<E>(&mut self, executor: &E) -> Next<W, P>
    where
        E: Executor<Work = W, Present = P>,
    {
        self.complete(executor.completed());
        while let Some((id, after)) = self.oldest_ready(executor) {
            let Some(queue) = self.queues.get_mut(&id) else { break };
            let Some(entry) = queue.entries.pop_front() else { break };
            match entry.pending {
                Pending::Work(work) => {
                    queue.executing = Some(entry.arrival);
                    return Next::Work { queue: id, work, after: queue.after, arrival: entry.arrival };
                }
                Pending::Present(present) => {
                    queue.executing = Some(entry.arrival);
                    return Next::Present { queue: id, present, after: queue.last.max(queue.after) };
                }
                Pending::Wait(_) | Pending::WaitEvent { .. } => queue.after = queue.after.max(after),
                Pending::Fence(receipt) => {
                    receipt.resolve(queue.last.max(queue.after));
                    self.wake = true;
                }
            }
        }
        Next::Idle
    }

    /// The queue whose first step is ready and was submitted first, with the ticket that a wait there depends on.
    fn oldest_ready<E: Executor>(&self, executor: &E) -> Option<(QueueId, Ticket)> {
        let mut oldest: Option<(u64, QueueId, Ticket)> = None;
        for (&id, queue) in &self.queues {
            let Some(entry) = queue.entries.front() else { continue };
            if oldest.is_some_and(|(arrival, ..)| arrival <= entry.arrival) || queue.executing.is_some() {
                continue;
            }
            if let Some(after) = self.ready(id, &entry.pending, executor) {
                oldest = Some((entry.arrival, id, after));
            }
        }
        oldest.map(|(_, id, after)| (id, after))
    }

    /// The ticket that the step depends on when it is ready.
    fn ready<E: Executor>(&self, id: QueueId, pending: &Pending<W, P>, executor: &E) -> Option<Ticket> {
        match *pending {
            Pending::Work(_) | Pending::Present(_) | Pending::Fence(_) => Some(0),
            Pending::Wait(ref receipt) => match receipt.target() {
                Target::Pending => None,
                // The fence is encoded; its end need not be waited for: what follows is ordered behind it.
                Target::Encoded(ticket) => Some(ticket),
                Target::Abandoned => Some(0),
            },
            Pending::WaitEvent { passed: Some(ticket), .. } => Some(ticket),
            Pending::WaitEvent { address, mode, value, passed: None } => match self.in_flight.get(&address) {
                // Everything encoded counts as having run, in the order of encoding. What memory holds now is
                // older than that, so it is asked only when no signal is on its way (B229).
                Some(last) => {
                    (last.mode == SignalMode::Write && mode.satisfied(last.value, value)).then_some(last.ticket)
                }
                None => match executor.read_event(address) {
                    Some(current) => mode.satisfied(current, value).then_some(0),
                    None => {
                        fault!(
                            key = address,
                            "B229",
                            "queue {id} waits for an event at {address:#x}, in no memory: passed"
                        );
                        Some(0)
                    }
                },
            },
        }
    }

    /// The executor is through with the queue's work.
    pub(crate) fn executed(&mut self, id: QueueId, executed: Executed) {
        let Executed { ticket, signals } = executed;
        if let Some(arrival) = self.queues.get_mut(&id).and_then(|queue| queue.executing.take()) {
            self.pass_parked(arrival, ticket, &signals);
        }
        if let Some(queue) = self.queues.get_mut(&id).filter(|_| ticket != 0) {
            queue.last = queue.last.max(ticket);
            // Whatever follows on this queue is behind this work, and this work was behind the waits.
            queue.after = 0;
        }
        if ticket > self.completed {
            for EventSignal { address, mode, value } in signals {
                self.in_flight.insert(address, InFlight { mode, value, ticket });
            }
        }
    }

    /// Lets the queues go on that stood at a wait for an event when work of submission `arrival` was encoded: on the
    /// console they look all the time, and see each value that the work writes, not the last alone (B229).
    fn pass_parked(&mut self, arrival: u64, ticket: Ticket, signals: &[EventSignal]) {
        if signals.is_empty() {
            return;
        }
        for queue in self.queues.values_mut() {
            let Some(first) = queue.entries.front_mut().filter(|first| first.arrival < arrival) else { continue };
            let Pending::WaitEvent { address, mode, value, passed } = &mut first.pending else { continue };
            let writes = signals.iter().filter(|s| s.mode == SignalMode::Write && s.address == *address);
            if writes.into_iter().any(|signal| mode.satisfied(signal.value, *value)) {
                *passed = Some(ticket);
            }
        }
    }

    /// The executor is through with the queue's present.
    pub(crate) fn presented(&mut self, id: QueueId) {
        if let Some(queue) = self.queues.get_mut(&id) {
            queue.executing = None;
        }
    }

    /// Everything up to `ticket` has ended and its CPU-visible writes exist.
    pub(crate) fn complete(&mut self, ticket: Ticket) {
        if ticket > self.completed {
            self.completed = ticket;
            self.in_flight.retain(|_, signal| signal.ticket > ticket);
            self.stir();
            self.wake = true;
        }
    }

    pub(crate) fn completed(&self) -> Ticket {
        self.completed
    }

    /// No work will complete any more: drops every step, and fails what waits.
    pub(crate) fn lose(&mut self) -> (Vec<W>, Vec<P>) {
        self.lost = true;
        self.wake = true;
        self.stir();
        self.in_flight.clear();
        let entries: VecDeque<_> =
            self.queues.values_mut().flat_map(|queue| std::mem::take(&mut queue.entries)).collect();
        self.abandon(entries)
    }

    pub(crate) fn lost(&self) -> bool {
        self.lost
    }

    pub(crate) fn reached(&self, receipt: &Receipt) -> Reached {
        match receipt.target() {
            Target::Encoded(ticket) if ticket <= self.completed => Reached::Yes,
            Target::Abandoned => Reached::Never,
            Target::Encoded(_) | Target::Pending => {
                if self.lost {
                    Reached::Never
                } else {
                    Reached::NotYet
                }
            }
        }
    }

    /// Each queue with its number of steps, the kind of its first one, and its newest ticket.
    pub(crate) fn queues(&self) -> impl Iterator<Item = (QueueId, usize, Option<StepKind>, Ticket)> {
        self.queues.iter().map(|(&id, queue)| {
            let at = queue.entries.front().map(|entry| match entry.pending {
                Pending::Work(_) => StepKind::Work,
                Pending::Present(_) => StepKind::Present,
                Pending::Wait(_) => StepKind::WaitSync,
                Pending::Fence(_) => StepKind::FenceSync,
                Pending::WaitEvent { address, mode, value, .. } => StepKind::WaitEvent { address, mode, value },
            });
            (id, queue.entries.len(), at, queue.last)
        })
    }
}
