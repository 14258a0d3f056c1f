//! What the scheduler asks of the driver: encode this, show this, read that event.

use crate::Ticket;
use crate::ids::QueueId;

/// How a GPU event signal changes the event's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignalMode {
    /// `NVN_EVENT_SIGNAL_MODE_WRITE` (0): the event holds the value.
    Write,
    /// `NVN_EVENT_SIGNAL_MODE_ADD` (1): the value is added to the event's.
    Add,
}

impl SignalMode {
    /// The mode that the guest names by `raw`, if there is one.
    pub fn from_raw(raw: u32) -> Option<Self> {
        match raw {
            0 => Some(Self::Write),
            1 => Some(Self::Add),
            _ => None,
        }
    }
}

/// One event signal among the commands of a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventSignal {
    /// GPU address of the event's word.
    pub address: u64,
    /// How the value changes the event.
    pub mode: SignalMode,
    /// The value.
    pub value: u32,
}

/// The executor's answer for one piece of work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// The timeline value that the end of the work signals; 0 when nothing was given to the GPU. Pieces that go
    /// to the GPU together may share a ticket; a later piece never has a smaller one.
    pub ticket: Ticket,
    /// The event signals in the work, in order. Their values must be in memory before
    /// [`Scheduler::complete`](crate::Scheduler::complete) is told of `ticket` (B229, publication).
    pub signals: Vec<EventSignal>,
}

impl From<Ticket> for Executed {
    /// Work without event signals.
    fn from(ticket: Ticket) -> Self {
        Self { ticket, signals: Vec::new() }
    }
}

/// The driver's side of [`Scheduler::run_ready`](crate::Scheduler::run_ready). One thread at a time is inside.
pub trait Executor {
    /// A piece of commands.
    type Work;
    /// A present.
    type Present;

    /// Encodes `work` of `queue` and gives it to the GPU, or keeps it until [`flush`](Self::flush).
    ///
    /// It must run after everything executed before it for the same queue and after `after`, the newest ticket
    /// that the queue's waits depend on (0: none), with the memory that those wrote visible. On one ordered
    /// Vulkan queue that is the barrier which consecutive submissions get anyway. `arrival` is the number of the
    /// submission that brought the work, as in [`Scheduler::arrivals`](crate::Scheduler::arrivals).
    ///
    /// Called without the scheduler's lock: other threads submit, wait and complete meanwhile.
    fn execute(&mut self, queue: QueueId, work: Self::Work, after: Ticket, arrival: u64) -> Executed;

    /// Shows a picture that is complete once `after` has been reached. The display is not waited for: nothing
    /// of a present counts for [`Scheduler::finish`](crate::Scheduler::finish) (B303).
    ///
    /// Called without the scheduler's lock.
    fn present(&mut self, queue: QueueId, present: Self::Present, after: Ticket);

    /// Called without the lock when nothing more is ready and something was executed since the last call: gives
    /// the GPU whatever `execute` kept back.
    fn flush(&mut self) {}

    /// The newest ticket whose work has ended *and* whose CPU-visible writes exist. A cheap look, or 0 when only
    /// [`Scheduler::complete`](crate::Scheduler::complete) tells.
    ///
    /// Called with the scheduler's lock held: it must not block, nor call the scheduler.
    fn completed(&self) -> Ticket;

    /// The event's word at a GPU address, read with acquire ordering; `None` when no memory is there.
    ///
    /// Called with the scheduler's lock held: it must not block, nor call the scheduler.
    fn read_event(&self, address: u64) -> Option<u32>;
}
