//! The queue scheduler: which step of which NVN queue runs next, as a state machine without a device or a clock.
//!
//! What flows through: the driver flattens a submission and cuts it at waits and fences into [`Step`]s, and gives
//! them to [`Scheduler::submit`] (guest threads). The submit thread calls [`Scheduler::run_ready`], which hands
//! each ready [`Step::Work`] and [`Step::Present`] to the driver's [`Executor`] in the order of arrival; the
//! executor encodes it, submits it and answers with a *ticket*, the timeline value that its end will signal. The
//! completion thread reports values that were reached to [`Scheduler::complete`], after the CPU-visible writes
//! behind them exist. Guest threads wait in [`Scheduler::wait`] and [`Scheduler::finish`].
//!
//! Four words:
//! - a *step* is the smallest thing that is scheduled; a queue is a first-in first-out list of them, and only a
//!   queue's first step can be ready (B229: an unresolved wait parks its own queue and no other);
//! - a *ticket* is physical: a value of the one timeline of all submissions, 0 before the first;
//! - a *receipt* is logical: one fence of one queue, made when the fence is submitted, so before its ticket can
//!   be known. It gets its ticket when the queue reaches the fence (B232), and a wait holds the receipt that was
//!   the sync's newest when the wait was submitted, whatever the sync is fenced with later;
//! - an event's *encoded value* is what memory will hold once everything encoded so far has run. A wait that the
//!   encoded value satisfies need not wait for the GPU: its queue goes on behind the writer, in submission order.
//!
//! Beside the scheduler stand the [`Completions`]: what the CPU must write when a submission ends (events,
//! reports), written exactly once and in order by whoever comes first, the completion thread or a guest that was
//! waiting ([`Scheduler::wait_on`], B301); and the [`Watchdog`], which notices a submission that does not end.
//!
//! Layers: `core` is the state machine, single-threaded and without locks; [`Scheduler`] puts it behind one lock
//! and adds what blocks. Locks, clocks and atomics come from `shim`, so that loom can run the same sources.

mod completions;
mod core;
mod executor;
mod ids;
mod receipt;
mod scheduler;
mod shim;
mod step;
mod wait;
mod watchdog;

pub use completions::{Completions, IN_FLIGHT, Oldest};
pub use executor::{EventSignal, Executed, Executor, SignalMode};
pub use ids::{QueueId, SyncId};
pub use receipt::{Receipt, Target};
pub use scheduler::{Dropped, Inside, QueueStatus, Scheduler, SubmitError, SyncState, WaitResult};
pub use step::{Step, StepKind, WaitMode};
pub use wait::{DeviceLost, Timeline, publish};
pub use watchdog::Watchdog;

/// A value of the device's timeline of submissions: work with this ticket has ended once the timeline has
/// reached it. 0 is before all work, so always reached.
pub type Ticket = u64;
