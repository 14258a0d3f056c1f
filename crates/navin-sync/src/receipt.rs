//! Receipts: one fence each, made at submit, resolved when its queue reaches the fence (B232).

use crate::Ticket;
use crate::shim::{Arc, AtomicU64, Ordering};

/// No ticket yet: the queue has not reached the fence.
const PENDING: u64 = u64::MAX;
/// The fence was dropped with its queue, or the device is gone: it will never have a ticket.
const ABANDONED: u64 = u64::MAX - 1;

/// What is known about a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Its queue has not reached it.
    Pending,
    /// The work before it ends at this ticket.
    Encoded(Ticket),
    /// It will never be reached.
    Abandoned,
}

/// A fence's state, shared by the sync, the step and whoever waits; so none of the three keeps the others alive
/// in a table, and each may go first.
///
/// Changed only under the scheduler's lock and at most once; the atomic is for sharing, not for lock-free use.
#[derive(Clone, Debug)]
pub struct Receipt(Arc<AtomicU64>);

impl Receipt {
    pub(crate) fn pending() -> Self {
        Self(Arc::new(AtomicU64::new(PENDING)))
    }

    pub(crate) fn encoded(ticket: Ticket) -> Self {
        Self(Arc::new(AtomicU64::new(ticket.min(ABANDONED - 1))))
    }

    /// Where the fence stands at this moment.
    pub fn target(&self) -> Target {
        match self.0.load(Ordering::Acquire) {
            PENDING => Target::Pending,
            ABANDONED => Target::Abandoned,
            ticket => Target::Encoded(ticket),
        }
    }

    pub(crate) fn resolve(&self, ticket: Ticket) {
        self.set(ticket.min(ABANDONED - 1));
    }

    pub(crate) fn abandon(&self) {
        self.set(ABANDONED);
    }

    fn set(&self, value: u64) {
        // A fence is reached once; the first answer stands.
        let _ = self.0.compare_exchange(PENDING, value, Ordering::Release, Ordering::Relaxed);
    }
}
