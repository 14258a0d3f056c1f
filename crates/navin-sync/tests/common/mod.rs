//! An executor whose GPU the test moves by hand.
#![allow(dead_code)]

use std::collections::{BTreeMap, VecDeque};

use std::time::Duration;

use navin_sync::{
    EventSignal, Executed, Executor, QueueId, Scheduler, SignalMode, Step, SyncId, Ticket, WaitMode, WaitResult,
};

/// A piece of work: its name, and the events it signals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    pub name: u32,
    pub signals: Vec<EventSignal>,
}

pub type Steps = Vec<Step<Work, u32>>;
pub type Sched = Scheduler<Work, u32>;

pub fn work(name: u32) -> Step<Work, u32> {
    Step::Work(Work { name, signals: Vec::new() })
}

pub fn signal(name: u32, address: u64, mode: SignalMode, value: u32) -> Step<Work, u32> {
    Step::Work(Work { name, signals: vec![EventSignal { address, mode, value }] })
}

pub fn wait_event(address: u64, mode: WaitMode, value: u32) -> Step<Work, u32> {
    Step::WaitEvent { address, mode, value }
}

/// The ticket of the sync's newest fence, or how the wait for it ended.
pub fn wait_ticket(s: &Sched, sync: SyncId, timeout: Option<Duration>) -> Result<Ticket, WaitResult> {
    s.newest_fence(sync).and_then(|fence| s.wait_ticket(&fence, timeout))
}

/// What reached the executor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    Work { queue: QueueId, name: u32, after: Ticket },
    Present { queue: QueueId, name: u32, after: Ticket },
    Flush,
}

#[derive(Default)]
pub struct Gpu {
    pub seen: Vec<Seen>,
    /// Guest memory: events by address.
    pub memory: BTreeMap<u64, u32>,
    /// Encoded and not ended: ticket and signals.
    pub in_flight: VecDeque<(Ticket, Vec<EventSignal>)>,
    pub ticket: Ticket,
}

impl Gpu {
    pub fn new() -> Self {
        Self::default()
    }

    /// The GPU runs up to `ticket`: its writes land, then the scheduler is told.
    pub fn complete(&mut self, scheduler: &Sched, ticket: Ticket) {
        self.land(ticket);
        scheduler.complete(ticket);
    }

    /// The writes of everything up to `ticket` land.
    pub fn land(&mut self, ticket: Ticket) {
        while self.in_flight.front().is_some_and(|(at, _)| *at <= ticket) {
            for signal in self.in_flight.pop_front().into_iter().flat_map(|(_, signals)| signals) {
                let word = self.memory.entry(signal.address).or_default();
                *word = match signal.mode {
                    SignalMode::Write => signal.value,
                    SignalMode::Add => word.wrapping_add(signal.value),
                };
            }
        }
    }

    pub fn names(&self) -> Vec<u32> {
        let name = |seen: &Seen| match *seen {
            Seen::Work { name, .. } | Seen::Present { name, .. } => Some(name),
            Seen::Flush => None,
        };
        self.seen.iter().filter_map(name).collect()
    }

    /// The ticket that the named work was told to follow.
    pub fn after(&self, wanted: u32) -> Option<Ticket> {
        self.seen.iter().find_map(|seen| match *seen {
            Seen::Work { name, after, .. } | Seen::Present { name, after, .. } if name == wanted => Some(after),
            _ => None,
        })
    }
}

impl Executor for Gpu {
    type Work = Work;
    type Present = u32;

    fn execute(&mut self, queue: QueueId, work: Work, after: Ticket, _: u64) -> Executed {
        self.ticket += 1;
        self.seen.push(Seen::Work { queue, name: work.name, after });
        self.in_flight.push_back((self.ticket, work.signals.clone()));
        Executed { ticket: self.ticket, signals: work.signals }
    }

    fn present(&mut self, queue: QueueId, present: u32, after: Ticket) {
        self.seen.push(Seen::Present { queue, name: present, after });
    }

    fn flush(&mut self) {
        self.seen.push(Seen::Flush);
    }

    fn completed(&self) -> Ticket {
        0
    }

    fn read_event(&self, address: u64) -> Option<u32> {
        self.memory.get(&address).copied()
    }
}
