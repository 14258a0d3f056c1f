//! What the CPU has to write when submissions end: one record a submission, run exactly once and in order of the
//! timeline, by whoever comes first (B301).
//!
//! The submit thread asks for room ([`Completions::reserve`]), submits, and pushes the submission's record with its
//! ticket. The completion thread sleeps in [`Completions::oldest`], waits for that ticket on the timeline, and
//! calls [`Completions::run`]; a guest thread whose own wait on the timeline ended calls it too, for the fence it
//! waited for, and so does not depend on when the completion thread is given a processor.
//!
//! Why it is right, in two sentences. `owner` is held from taking a record to the end of its writes and one routine
//! takes them, oldest first, so nobody sees a record taken and not written, and none is written twice. `published`
//! is raised under `owner`, after the writes, and never past `pushed`, the newest ticket whose record has arrived,
//! so a ticket that the GPU reaches before its record is there is not published early.
//!
//! Records own what they need and move out of the list when they are taken, so there is no slot to recycle, and a
//! question about an old ticket is answered by `published` alone.

use std::collections::VecDeque;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use navin_abi::fault;

use crate::Ticket;
use crate::scheduler::wait_until;
use crate::shim::{AtomicU64, Condvar, Mutex, MutexGuard, Ordering};

/// Submissions that may be on their way at once: the submit thread waits when so many have not been published.
///
/// The one bound there is: command pools, transient memory and these records all belong to a submission in flight
/// (B302).
pub const IN_FLIGHT: usize = 512;

struct List<R> {
    /// Oldest first; tickets do not descend.
    records: VecDeque<(Ticket, R)>,
    /// Given to nobody any more: the device is gone.
    closed: bool,
    /// Threads asleep for any change.
    sleepers: u32,
}

/// The records of all submissions in flight.
pub struct Completions<R> {
    capacity: usize,
    list: Mutex<List<R>>,
    /// Held from taking a record to the end of its writes. Taken before `list`.
    owner: Mutex<()>,
    /// Newest ticket whose record was pushed. Changed under `list`.
    pushed: AtomicU64,
    /// Everything up to this ticket is written. Raised under `owner`.
    published: AtomicU64,
    /// A record came, records were run, or the device went.
    changed: Condvar,
}

/// What there is of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oldest {
    /// The ticket of the oldest.
    Record(Ticket),
    /// None, when the time was up.
    Late,
    /// None, and none will come: the device is gone.
    Closed,
}

impl<R> Default for Completions<R> {
    fn default() -> Self {
        Self::with_capacity(IN_FLIGHT)
    }
}

impl<R> Completions<R> {
    /// For `capacity` submissions in flight, at least 1.
    pub fn with_capacity(capacity: usize) -> Self {
        let list = List { records: VecDeque::with_capacity(capacity), closed: false, sleepers: 0 };
        Self {
            capacity: capacity.max(1),
            list: Mutex::new(list),
            owner: Mutex::new(()),
            pushed: AtomicU64::new(0),
            published: AtomicU64::new(0),
            changed: Condvar::new(),
        }
    }

    fn list(&self) -> MutexGuard<'_, List<R>> {
        // The list is changed by whole pushes and pops only.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps until something changes; true when the deadline is past.
    fn sleep<'a>(
        &'a self,
        mut list: MutexGuard<'a, List<R>>,
        deadline: Option<Instant>,
    ) -> (MutexGuard<'a, List<R>>, bool) {
        list.sleepers += 1;
        let (mut list, late) = wait_until(&self.changed, list, deadline);
        list.sleepers -= 1;
        (list, late)
    }

    fn wake(&self, list: MutexGuard<'_, List<R>>) {
        let asleep = list.sleepers > 0;
        drop(list);
        if asleep {
            self.changed.notify_all();
        }
    }

    /// Blocks until the next submission's record has a place (B302); false when the device is gone.
    ///
    /// For the one thread that submits: the place stays free until that thread pushes.
    pub fn reserve(&self) -> bool {
        let mut list = self.list();
        while list.records.len() >= self.capacity && !list.closed {
            list = self.sleep(list, None).0;
        }
        !list.closed
    }

    /// Adds the record of the work that ends at `ticket`, before anybody can be told to wait for that ticket.
    ///
    /// Tickets do not descend. A record with its predecessor's ticket (of work that the device refused) may be run
    /// after that ticket was published. After [`close`](Self::close) the record is dropped.
    pub fn push(&self, ticket: Ticket, record: R) {
        let mut list = self.list();
        if list.closed {
            return;
        }
        if list.records.len() >= self.capacity {
            let oldest = list.records.front().map_or(0, |(ticket, _)| *ticket);
            fault!(
                "B302",
                "submission {ticket} was not waited for a place: the CPU's writes of submission {oldest} never ran"
            );
            debug_assert!(false, "the writes of submission {oldest} never ran");
        }
        let newest = self.pushed.load(Ordering::Relaxed);
        debug_assert!(ticket >= newest, "submission {ticket} comes after {newest}");
        // A ticket out of order would be written too late rather than too early.
        let ticket = ticket.max(newest);
        list.records.push_back((ticket, record));
        self.pushed.store(ticket, Ordering::Release);
        self.wake(list);
    }

    /// The timeline has reached `reached`: gives every record up to there to `write`, oldest first, and publishes
    /// the tickets. Returns the newest ticket published, which is below `reached` when its record is yet to come.
    ///
    /// Blocks while another thread is about it: when this returns, the writes exist, whoever made them. `write` is
    /// called with a lock held and must not call back.
    pub fn run(&self, reached: Ticket, mut write: impl FnMut(Ticket, R)) -> Ticket {
        let owner = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list = self.list();
        while list.records.front().is_some_and(|(ticket, _)| *ticket <= reached) {
            let Some((ticket, record)) = list.records.pop_front() else { break };
            drop(list);
            write(ticket, record);
            list = self.list();
        }
        let published = reached.min(self.pushed.load(Ordering::Acquire)).max(self.published.load(Ordering::Relaxed));
        self.published.store(published, Ordering::Release);
        self.wake(list);
        drop(owner);
        published
    }

    /// The newest ticket whose writes, and all before, exist.
    pub fn published(&self) -> Ticket {
        self.published.load(Ordering::Acquire)
    }

    /// The newest ticket that was pushed.
    pub fn pushed(&self) -> Ticket {
        self.pushed.load(Ordering::Acquire)
    }

    /// Blocks until there is a record and answers the oldest one's ticket; `None` when the device is gone.
    pub fn oldest(&self) -> Option<Ticket> {
        match self.oldest_until(None) {
            Oldest::Record(ticket) => Some(ticket),
            Oldest::Late | Oldest::Closed => None,
        }
    }

    /// As [`Self::oldest`], for no longer than until `deadline`.
    pub fn oldest_until(&self, deadline: Option<Instant>) -> Oldest {
        let mut list = self.list();
        let mut late = false;
        loop {
            match list.records.front() {
                Some((ticket, _)) => return Oldest::Record(*ticket),
                None if list.closed => return Oldest::Closed,
                None if late => return Oldest::Late,
                None => (list, late) = self.sleep(list, deadline),
            }
        }
    }

    /// Asks `look` about the oldest record, if there is one.
    pub fn peek<T>(&self, look: impl FnOnce(Ticket, &R) -> T) -> Option<T> {
        self.list().records.front().map(|(ticket, record)| look(*ticket, record))
    }

    /// Blocks until every record pushed so far was run or dropped; false when `timeout` was up first.
    pub fn wait_empty(&self, timeout: Duration) -> bool {
        let deadline = Instant::now().checked_add(timeout);
        let mut list = self.list();
        while !list.records.is_empty() {
            let (woken, late) = self.sleep(list, deadline);
            list = woken;
            if late {
                return list.records.is_empty();
            }
        }
        drop(list);
        // The last record may have been taken and not be written yet.
        drop(self.owner.lock().unwrap_or_else(PoisonError::into_inner));
        true
    }

    /// The device is gone: drops all records, and ends every wait here. What was not published never will be.
    pub fn close(&self) -> Vec<(Ticket, R)> {
        let mut list = self.list();
        list.closed = true;
        let dropped = std::mem::take(&mut list.records);
        self.wake(list);
        dropped.into()
    }
}
