//! Models of what must hold in every interleaving of threads: the completion ring (B301, B302), the wake-ups, the
//! gate (B234) and the turn of who replays (B233).
//!
//! The sources of the crate are compiled here a second time, beside a `shim` with loom's primitives, so that the
//! models run the driver's own code without a build of their own. loom tries every order of steps (up to a number of
//! preemptions) and every value that the memory model lets a load see; a lost wake-up is a deadlock, which it
//! reports.

#![allow(dead_code, unused_imports, missing_docs, reason = "the crate's sources, seen from one test")]

#[path = "../src/completions.rs"]
mod completions;
#[path = "../src/core.rs"]
mod core;
#[path = "../src/executor.rs"]
mod executor;
#[path = "../src/ids.rs"]
mod ids;
#[path = "../src/receipt.rs"]
mod receipt;
#[path = "../src/scheduler.rs"]
mod scheduler;
#[path = "../src/step.rs"]
mod step;
#[path = "../src/wait.rs"]
mod wait;

mod shim {
    pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};
    pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
}

pub use completions::{Completions, IN_FLIGHT};
pub use executor::{EventSignal, Executed, Executor, SignalMode};
pub use ids::{QueueId, SyncId};
pub use receipt::{Receipt, Target};
pub use scheduler::{Dropped, Inside, QueueStatus, Scheduler, SubmitError, SyncState, WaitResult};
pub use step::{Step, StepKind, WaitMode};
pub use wait::{DeviceLost, Timeline, publish};

pub type Ticket = u64;

use std::collections::VecDeque;
use std::time::Duration;

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

/// Runs a model with so many preemptions; what goes wrong goes wrong with two or three.
fn model(preemptions: usize, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(body);
}

/// Guest memory that the CPU writes at completions: loom reports a read that is not ordered behind the write.
struct Memory([UnsafeCell<u64>; 3]);

// SAFETY: the cells are loom's, which checks every access.
unsafe impl Sync for Memory {}

impl Memory {
    fn new() -> Self {
        Self([UnsafeCell::new(0), UnsafeCell::new(0), UnsafeCell::new(0)])
    }

    /// One record's write: exactly once, after the one before.
    fn write(&self, ticket: Ticket) {
        let ticket = ticket as usize;
        assert!(ticket <= 1 || self.read(ticket as u64 - 1) == 1, "ticket {ticket} is written out of order");
        // SAFETY: loom checks that nobody else accesses the cell meanwhile.
        self.0[ticket].with_mut(|cell| unsafe { *cell += 1 });
    }

    fn read(&self, ticket: Ticket) -> u64 {
        // SAFETY: as above.
        self.0[ticket as usize].with(|cell| unsafe { *cell })
    }
}

#[test]
fn b301_a_record_is_written_once_and_in_order_and_seen_by_whoever_asked_for_it() {
    model(3, || {
        let (ring, memory) = (Arc::new(Completions::with_capacity(4)), Arc::new(Memory::new()));
        ring.push(1, ());
        ring.push(2, ());
        // The completion thread goes one by one, a waiter wants the second.
        let completion = {
            let (ring, memory) = (Arc::clone(&ring), Arc::clone(&memory));
            thread::spawn(move || {
                ring.run(1, |ticket, ()| memory.write(ticket));
                assert_eq!(memory.read(1), 1);
                ring.run(2, |ticket, ()| memory.write(ticket));
            })
        };
        let waiter = {
            let (ring, memory) = (Arc::clone(&ring), Arc::clone(&memory));
            thread::spawn(move || {
                assert!(ring.run(2, |ticket, ()| memory.write(ticket)) >= 2);
                // Whoever claimed them: the writes exist when the call returns.
                assert_eq!((memory.read(1), memory.read(2)), (1, 1));
            })
        };
        completion.join().unwrap();
        waiter.join().unwrap();
        assert_eq!((memory.read(1), memory.read(2)), (1, 1));
    });
}

#[test]
fn b301_a_ticket_is_published_after_its_writes_even_when_the_gpu_is_faster_than_the_push() {
    model(3, || {
        let (ring, memory) = (Arc::new(Completions::with_capacity(4)), Arc::new(Memory::new()));
        let submit = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                ring.push(1, ());
                ring.push(2, ());
            })
        };
        let completion = {
            let (ring, memory) = (Arc::clone(&ring), Arc::clone(&memory));
            // The timeline has reached 2 before the records are here.
            thread::spawn(move || ring.run(2, |ticket, ()| memory.write(ticket)))
        };
        let observer = {
            let (ring, memory) = (Arc::clone(&ring), Arc::clone(&memory));
            thread::spawn(move || {
                for ticket in 1..=ring.published() {
                    assert_eq!(memory.read(ticket), 1, "{ticket} is published and not written");
                }
            })
        };
        submit.join().unwrap();
        completion.join().unwrap();
        observer.join().unwrap();
        assert_eq!(ring.run(2, |ticket, ()| memory.write(ticket)), 2);
        assert_eq!((memory.read(1), memory.read(2)), (1, 1));
    });
}

/// Negative control: who publishes when it has taken the records, not when they are written, is caught.
#[test]
#[should_panic(expected = "Causality violation")]
fn b301_negative_control_claiming_is_not_writing() {
    model(3, || {
        let (list, memory) = (Arc::new(Mutex::new(VecDeque::from([1u64]))), Arc::new(Memory::new()));
        let run = |list: &Mutex<VecDeque<u64>>, memory: &Memory| {
            let taken = list.lock().unwrap().pop_front();
            if let Some(ticket) = taken {
                memory.write(ticket);
            }
        };
        let other = {
            let (list, memory) = (Arc::clone(&list), Arc::clone(&memory));
            thread::spawn(move || run(&list, &memory))
        };
        run(&list, &memory);
        memory.read(1);
        other.join().unwrap();
    });
}

#[test]
fn b302_a_submission_waits_for_its_place_and_gets_it() {
    model(3, || {
        let (ring, memory) = (Arc::new(Completions::with_capacity(1)), Arc::new(Memory::new()));
        let completion = {
            let (ring, memory) = (Arc::clone(&ring), Arc::clone(&memory));
            thread::spawn(move || {
                while let Some(ticket) = ring.oldest() {
                    ring.run(ticket, |ticket, ()| memory.write(ticket));
                    if ticket == 2 {
                        return;
                    }
                }
            })
        };
        for ticket in 1..=2 {
            assert!(ring.reserve());
            ring.push(ticket, ());
        }
        completion.join().unwrap();
        assert_eq!((memory.read(1), memory.read(2), ring.published()), (1, 1, 2));
    });
}

#[test]
fn a_lost_device_ends_every_wait_at_the_ring() {
    model(3, || {
        let ring = Arc::new(Completions::<()>::with_capacity(1));
        ring.push(1, ());
        let submit = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || assert!(!ring.reserve()))
        };
        assert_eq!(ring.close().len(), 1);
        submit.join().unwrap();
        assert_eq!(ring.oldest(), None);
    });
}

type Sched = Scheduler<u32, u32>;

/// What the executors of one model share.
#[derive(Default)]
struct Ran {
    names: std::sync::Mutex<Vec<u32>>,
}

impl Ran {
    fn names(&self) -> Vec<u32> {
        self.names.lock().unwrap().clone()
    }
}

/// Gives the name of a piece of work as its ticket.
struct Names {
    ran: std::sync::Arc<Ran>,
    /// Set while a piece is with the GPU's driver.
    busy: Option<Arc<AtomicBool>>,
}

impl Executor for Names {
    type Work = u32;
    type Present = u32;

    fn execute(&mut self, _: QueueId, work: u32, _: Ticket, _: u64) -> Executed {
        if let Some(busy) = &self.busy {
            assert!(!busy.swap(true, Ordering::Relaxed), "two replay at once");
        }
        self.ran.names.lock().unwrap().push(work);
        if let Some(busy) = &self.busy {
            busy.store(false, Ordering::Relaxed);
        }
        u64::from(work).into()
    }

    fn present(&mut self, _: QueueId, _: u32, _: Ticket) {}

    fn completed(&self) -> Ticket {
        0
    }

    fn read_event(&self, _: u64) -> Option<u32> {
        None
    }
}

/// The submit thread of a model: does jobs and steps until it has done `jobs` jobs and `steps` steps.
fn submit_thread(
    scheduler: &Sched,
    jobs: &Mutex<VecDeque<u32>>,
    wanted: (usize, usize),
    listen_first: bool,
) -> Vec<u32> {
    let ran = std::sync::Arc::<Ran>::default();
    let mut executor = Names { ran: std::sync::Arc::clone(&ran), busy: None };
    let mut done = Vec::new();
    loop {
        let mut seen = scheduler.activity();
        while let Some(job) = jobs.lock().unwrap().pop_front() {
            done.push(job);
        }
        scheduler.run_ready(&mut executor);
        if done.len() >= wanted.0 && ran.names().len() >= wanted.1 {
            done.extend(ran.names());
            return done;
        }
        if !listen_first {
            seen = scheduler.activity();
        }
        scheduler.wait_for_work(seen, None);
    }
}

fn a_job_and_a_step(listen_first: bool) {
    let (scheduler, jobs) = (Arc::new(Sched::new()), Arc::new(Mutex::new(VecDeque::new())));
    let queue = scheduler.create_queue();
    let submit = {
        let (scheduler, jobs) = (Arc::clone(&scheduler), Arc::clone(&jobs));
        thread::spawn(move || submit_thread(&scheduler, &jobs, (1, 1), listen_first))
    };
    let guest = {
        let scheduler = Arc::clone(&scheduler);
        thread::spawn(move || scheduler.submit(queue, [Step::Work(1)]).unwrap())
    };
    // As nvnTextureReadTexels does.
    jobs.lock().unwrap().push_back(100);
    scheduler.poke();
    guest.join().unwrap();
    assert_eq!(submit.join().unwrap(), [100, 1]);
}

#[test]
fn the_submit_thread_sleeps_through_no_job_and_no_step() {
    model(2, || a_job_and_a_step(true));
}

/// What comes between the look and the reading of the count is slept through. Aborts the process, as loom does on a
/// deadlock.
#[test]
#[ignore = "run by negative_control_a_look_before_listening_hangs"]
fn a_look_before_listening() {
    model(2, || a_job_and_a_step(false));
}

#[test]
fn negative_control_a_look_before_listening_hangs() {
    let program = std::env::current_exe().unwrap();
    let output = std::process::Command::new(program)
        .args(["a_look_before_listening", "--exact", "--ignored", "--nocapture"])
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("deadlock"), "{said}");
}

#[test]
fn b233_one_replays_at_a_time_and_takes_up_what_others_submit() {
    model(2, || {
        let scheduler = Arc::new(Sched::new());
        let (ran, busy) = (std::sync::Arc::<Ran>::default(), Arc::new(AtomicBool::new(false)));
        let submit = |name: u32| {
            let queue = scheduler.create_queue();
            let (scheduler, ran) = (Arc::clone(&scheduler), std::sync::Arc::clone(&ran));
            let busy = Some(Arc::clone(&busy));
            move || {
                scheduler.submit(queue, [Step::Work(name)]).unwrap();
                scheduler.run_ready(&mut Names { ran, busy });
            }
        };
        let (first, second) = (submit(1), submit(2));
        let other = thread::spawn(first);
        second();
        other.join().unwrap();
        let mut names = ran.names();
        names.sort_unstable();
        assert_eq!(names, [1, 2]);
    });
}

#[test]
fn b234_nothing_is_inside_while_suspended_and_all_of_it_runs_after() {
    model(2, || {
        let scheduler = Arc::new(Sched::new());
        let queue = scheduler.create_queue();
        scheduler.submit(queue, [Step::Work(1), Step::Work(2)]).unwrap();
        let (ran, busy) = (std::sync::Arc::<Ran>::default(), Arc::new(AtomicBool::new(false)));
        let executor = |ran: &std::sync::Arc<Ran>, busy: &Arc<AtomicBool>| Names {
            ran: std::sync::Arc::clone(ran),
            busy: Some(Arc::clone(busy)),
        };
        let replay = {
            let scheduler = Arc::clone(&scheduler);
            let mut executor = executor(&ran, &busy);
            thread::spawn(move || scheduler.run_ready(&mut executor))
        };
        assert!(scheduler.suspend(None));
        assert!(!busy.load(Ordering::Relaxed), "a piece is being encoded");
        let before = ran.names();
        assert!(scheduler.enter().is_none());
        scheduler.submit(queue, [Step::Work(3)]).unwrap();
        assert!(!scheduler.run_ready(&mut executor(&ran, &busy)));
        assert_eq!(ran.names(), before);
        scheduler.resume();
        replay.join().unwrap();
        scheduler.run_ready(&mut executor(&ran, &busy));
        assert_eq!(ran.names(), [1, 2, 3]);
    });
}

/// A timeline whose value another thread moves.
struct Moved {
    value: Mutex<Ticket>,
    moved: Condvar,
    memory: Memory,
}

impl Timeline for Moved {
    type Record = ();

    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn wait(&self, ticket: Ticket, timeout: Option<Duration>) -> Result<bool, DeviceLost> {
        let mut value = self.value.lock().unwrap();
        while *value < ticket {
            if timeout == Some(Duration::ZERO) {
                return Ok(false);
            }
            value = self.moved.wait(value).unwrap();
        }
        Ok(true)
    }

    fn write(&self, ticket: Ticket, (): ()) {
        self.memory.write(ticket);
    }
}

#[test]
fn b301_a_wait_on_the_timeline_returns_with_the_writes_made() {
    model(2, || {
        let scheduler = Arc::new(Sched::new());
        let ring = Arc::new(Completions::with_capacity(4));
        let device = Arc::new(Moved { value: Mutex::new(0), moved: Condvar::new(), memory: Memory::new() });
        let (queue, sync) = (scheduler.create_queue(), scheduler.create_sync());
        scheduler.submit(queue, [Step::Work(1), Step::FenceSync(sync)]).unwrap();
        // The record is there before anybody can learn the ticket.
        ring.push(1, ());
        scheduler.run_ready(&mut Names { ran: Default::default(), busy: None });
        let completion = {
            let (scheduler, ring, device) = (Arc::clone(&scheduler), Arc::clone(&ring), Arc::clone(&device));
            thread::spawn(move || {
                let ticket = ring.oldest();
                if let Some(ticket) = ticket
                    && device.wait(ticket, None) == Ok(true)
                {
                    publish(&scheduler, &ring, &*device, ticket);
                }
            })
        };
        let waiter = {
            let (scheduler, ring, device) = (Arc::clone(&scheduler), Arc::clone(&ring), Arc::clone(&device));
            thread::spawn(move || {
                let result = scheduler.wait_on(&ring, &*device, sync, None);
                assert!(matches!(result, WaitResult::AlreadySignaled | WaitResult::ConditionSatisfied));
                assert_eq!(device.memory.read(1), 1);
            })
        };
        *device.value.lock().unwrap() = 1;
        device.moved.notify_all();
        // oldest() finds nothing when the waiter was first.
        waiter.join().unwrap();
        ring.close();
        completion.join().unwrap();
        assert_eq!(scheduler.completed(), 1);
    });
}

#[test]
fn a_wait_for_a_sync_sleeps_through_no_completion() {
    model(2, || {
        let scheduler = Arc::new(Sched::new());
        let (queue, sync) = (scheduler.create_queue(), scheduler.create_sync());
        scheduler.submit(queue, [Step::Work(1), Step::FenceSync(sync)]).unwrap();
        let replay = {
            let scheduler = Arc::clone(&scheduler);
            thread::spawn(move || scheduler.run_ready(&mut Names { ran: Default::default(), busy: None }))
        };
        let complete = {
            let scheduler = Arc::clone(&scheduler);
            thread::spawn(move || scheduler.complete(1))
        };
        let result = scheduler.wait(sync, None);
        assert!(matches!(result, WaitResult::AlreadySignaled | WaitResult::ConditionSatisfied));
        replay.join().unwrap();
        complete.join().unwrap();
    });
}
