//! The scheduler under real threads.

mod common;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use common::{Gpu, Sched, Work, wait_event, wait_ticket, work};
use navin_sync::{Executed, Executor, QueueId, Step, SyncState, Ticket, WaitMode, WaitResult};

/// An executor that counts who is inside it, with a GPU that another thread moves.
struct Counting {
    inside: Arc<AtomicU32>,
    ticket: Arc<AtomicU64>,
    runs: Arc<Mutex<Vec<(QueueId, u32)>>>,
}

impl Executor for Counting {
    type Work = Work;
    type Present = u32;

    fn execute(&mut self, queue: QueueId, work: Work, _: Ticket, _: u64) -> Executed {
        assert_eq!(self.inside.fetch_add(1, Ordering::AcqRel), 0, "two threads replay at once");
        self.runs.lock().unwrap().push((queue, work.name));
        // Gives another thread the time to come in where it must not.
        std::thread::yield_now();
        self.inside.fetch_sub(1, Ordering::AcqRel);
        (self.ticket.fetch_add(1, Ordering::AcqRel) + 1).into()
    }

    fn present(&mut self, _: QueueId, _: u32, _: Ticket) {}

    fn completed(&self) -> Ticket {
        0
    }

    fn read_event(&self, _: u64) -> Option<u32> {
        Some(0)
    }
}

#[test]
fn b233_submits_from_several_threads_replay_one_at_a_time_and_in_order() {
    const EACH: u32 = 10_000;
    let scheduler = Sched::new();
    let queues = [scheduler.create_queue(), scheduler.create_queue()];
    let (inside, ticket, runs) = (Arc::default(), Arc::default(), Arc::<Mutex<Vec<_>>>::default());
    let executor = || Counting { inside: Arc::clone(&inside), ticket: Arc::clone(&ticket), runs: Arc::clone(&runs) };
    std::thread::scope(|scope| {
        for queue in queues {
            // Each guest thread also replays, with an executor of its own over the same device.
            let (mut executor, scheduler) = (executor(), &scheduler);
            scope.spawn(move || {
                for name in 0..EACH {
                    scheduler.submit(queue, [work(name)]).unwrap();
                    scheduler.run_ready(&mut executor);
                }
            });
        }
    });
    let runs = runs.lock().unwrap();
    assert_eq!(runs.len(), 2 * EACH as usize, "whoever was inside took up what others submitted");
    for queue in queues {
        let names = runs.iter().filter(|(at, _)| *at == queue).map(|(_, name)| *name);
        assert!(names.eq(0..EACH));
    }
}

/// Runs a submit thread and a completion thread around `guest`.
fn with_device(guest: impl FnOnce(&Sched)) {
    let scheduler = Sched::new();
    let stop = AtomicBool::new(false);
    let ticket = Arc::new(AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut executor = Counting { inside: Arc::default(), ticket: Arc::clone(&ticket), runs: Arc::default() };
            while !stop.load(Ordering::Acquire) {
                let seen = scheduler.activity();
                scheduler.run_ready(&mut executor);
                scheduler.wait_for_work(seen, Some(Duration::from_secs(5)));
            }
        });
        scope.spawn(|| {
            while !stop.load(Ordering::Acquire) {
                // The GPU is two submissions behind, and catches up when it is left alone.
                let now = ticket.load(Ordering::Acquire);
                scheduler.complete(now.saturating_sub(2));
                std::thread::sleep(Duration::from_micros(20));
                if ticket.load(Ordering::Acquire) == now {
                    scheduler.complete(now);
                }
            }
        });
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| guest(&scheduler)));
        stop.store(true, Ordering::Release);
        scheduler.poke();
        if let Err(panic) = result {
            std::panic::resume_unwind(panic);
        }
    });
}

#[test]
fn frames_with_two_syncs_from_two_threads_never_hang() {
    with_device(|scheduler| {
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let queue = scheduler.create_queue();
                    let syncs = [scheduler.create_sync(), scheduler.create_sync()];
                    for frame in 0..500u32 {
                        let sync = syncs[frame as usize % 2];
                        let result = scheduler.wait(sync, None);
                        assert!(matches!(result, WaitResult::AlreadySignaled | WaitResult::ConditionSatisfied));
                        scheduler.submit(queue, [work(frame), Step::FenceSync(sync), Step::Present(frame)]).unwrap();
                        if frame % 50 == 0 {
                            assert_ne!(scheduler.finish(queue), WaitResult::Failed);
                            assert_eq!(scheduler.sync_state(sync), Some(SyncState::Signaled));
                        }
                    }
                    assert_ne!(scheduler.finish(queue), WaitResult::Failed);
                    assert_eq!(scheduler.destroy_queue(queue).map(|dropped| dropped.work.len()), Some(0));
                });
            }
        });
    });
}

#[test]
fn a_completed_ticket_wakes_every_waiter_soon() {
    let scheduler = Sched::new();
    let queue = scheduler.create_queue();
    let sync = scheduler.create_sync();
    let mut gpu = Gpu::new();
    scheduler.submit(queue, [work(1), Step::FenceSync(sync)]).unwrap();
    std::thread::scope(|scope| {
        let waiters: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let result = scheduler.wait(sync, Some(Duration::from_secs(20)));
                    (result, Instant::now())
                })
            })
            .collect();
        let ticket = scope.spawn(|| wait_ticket(&scheduler, sync, None));
        std::thread::sleep(Duration::from_millis(20));
        scheduler.run_ready(&mut gpu);
        assert_eq!(ticket.join().unwrap(), Ok(1));
        let done = Instant::now();
        gpu.complete(&scheduler, 1);
        for waiter in waiters {
            let (result, at) = waiter.join().unwrap();
            assert_eq!(result, WaitResult::ConditionSatisfied);
            assert!(at.duration_since(done) < Duration::from_secs(5));
        }
    });
}

#[test]
fn finalizing_while_somebody_waits_ends_the_wait() {
    let scheduler = Sched::new();
    let (queue, other) = (scheduler.create_queue(), scheduler.create_queue());
    let sync = scheduler.create_sync();
    scheduler.submit(queue, [wait_event(8, WaitMode::Equal, 1), work(1), Step::FenceSync(sync)]).unwrap();
    std::thread::scope(|scope| {
        let cpu = scope.spawn(|| scheduler.wait(sync, None));
        let finish = scope.spawn(|| scheduler.finish(queue));
        std::thread::sleep(Duration::from_millis(20));
        // The sync goes: whoever waits holds the fence, not the sync.
        assert!(scheduler.destroy_sync(sync));
        std::thread::sleep(Duration::from_millis(10));
        assert!(!cpu.is_finished());
        scheduler.destroy_queue(queue).unwrap();
        assert_eq!(cpu.join().unwrap(), WaitResult::Failed);
        assert_eq!(finish.join().unwrap(), WaitResult::Failed);
    });
    assert_eq!(scheduler.finish(other), WaitResult::AlreadySignaled);
}

#[test]
fn b234_a_suspend_waits_for_the_piece_inside_and_holds_back_the_rest() {
    /// Stops in the middle of a piece until it is let go.
    struct Held {
        gpu: Gpu,
        entered: mpsc::Sender<u32>,
        go: mpsc::Receiver<()>,
    }
    impl Executor for Held {
        type Work = Work;
        type Present = u32;
        fn execute(&mut self, queue: QueueId, item: Work, after: Ticket, _: u64) -> Executed {
            self.entered.send(item.name).unwrap();
            self.go.recv().unwrap();
            self.gpu.execute(queue, item, after, 0)
        }
        fn present(&mut self, _: QueueId, _: u32, _: Ticket) {}
        fn completed(&self) -> Ticket {
            0
        }
        fn read_event(&self, _: u64) -> Option<u32> {
            None
        }
    }
    let scheduler = Sched::new();
    let (a, b) = (scheduler.create_queue(), scheduler.create_queue());
    let ((entered, inside), (release, go)) = (mpsc::channel(), mpsc::channel());
    let mut held = Held { gpu: Gpu::new(), entered, go };
    scheduler.submit(a, [work(1), work(2)]).unwrap();
    std::thread::scope(|scope| {
        let replay = scope.spawn(|| {
            scheduler.run_ready(&mut held);
            held
        });
        assert_eq!(inside.recv(), Ok(1));
        let suspend = scope.spawn(|| scheduler.suspend(None));
        while !scheduler.suspended() {
            std::thread::yield_now();
        }
        // Two guest threads submit meanwhile; neither is held up, and neither counts as inside.
        std::thread::scope(|guests| {
            guests.spawn(|| scheduler.submit(a, [work(3)]).unwrap());
            guests.spawn(|| scheduler.submit(b, [work(4)]).unwrap());
        });
        assert!(!suspend.is_finished(), "a piece is inside");
        release.send(()).unwrap();
        assert!(suspend.join().unwrap());
        let mut held = replay.join().unwrap();
        assert_eq!(held.gpu.names(), [1], "the piece that was inside, and no further one");
        assert!(inside.try_recv().is_err());
        scheduler.resume();
        (0..3).for_each(|_| release.send(()).unwrap());
        assert!(scheduler.run_ready(&mut held));
        let names = held.gpu.names();
        assert_eq!(names[..2], [1, 2]);
        assert!(names.contains(&3) && names.contains(&4) && names.len() == 4);
    });
}

#[test]
fn losing_the_device_ends_every_wait() {
    let scheduler = Sched::new();
    let queue = scheduler.create_queue();
    let sync = scheduler.create_sync();
    let mut gpu = Gpu::new();
    scheduler.submit(queue, [work(1), Step::FenceSync(sync)]).unwrap();
    scheduler.run_ready(&mut gpu);
    std::thread::scope(|scope| {
        let waits = [scope.spawn(|| scheduler.wait(sync, None)), scope.spawn(|| scheduler.finish(queue))];
        std::thread::sleep(Duration::from_millis(20));
        scheduler.lose_device();
        for wait in waits {
            assert_eq!(wait.join().unwrap(), WaitResult::Failed);
        }
    });
}

#[test]
fn the_submit_thread_is_woken_by_a_submission_and_not_twice() {
    let scheduler = Sched::new();
    let queue = scheduler.create_queue();
    let mut gpu = Gpu::new();
    let seen = scheduler.activity();
    scheduler.run_ready(&mut gpu);
    assert!(!scheduler.wait_for_work(seen, Some(Duration::from_millis(1))));
    std::thread::scope(|scope| {
        let woken = scope.spawn(|| scheduler.wait_for_work(seen, None));
        std::thread::sleep(Duration::from_millis(10));
        scheduler.submit(queue, [work(1)]).unwrap();
        assert!(woken.join().unwrap());
    });
    assert!(scheduler.wait_for_work(seen, None), "what happened since the look is not slept through");
    let seen = scheduler.activity();
    scheduler.run_ready(&mut gpu);
    assert!(!scheduler.wait_for_work(seen, Some(Duration::from_millis(1))), "what ran is no news");
}

#[test]
fn work_submitted_while_the_executor_is_busy_is_taken_up() {
    /// Submits from inside execute and flush, as a guest thread might at that moment.
    struct Busy<'a> {
        scheduler: &'a Sched,
        queue: QueueId,
        gpu: Gpu,
        flushed: bool,
    }
    impl Executor for Busy<'_> {
        type Work = Work;
        type Present = u32;
        fn execute(&mut self, queue: QueueId, item: Work, after: Ticket, _: u64) -> Executed {
            if item.name == 1 {
                // The lock is not held here, or this would hang.
                std::thread::scope(|scope| {
                    scope.spawn(|| self.scheduler.submit(self.queue, [work(2)]).unwrap());
                });
            }
            self.gpu.execute(queue, item, after, 0)
        }
        fn present(&mut self, _: QueueId, _: u32, _: Ticket) {}
        fn flush(&mut self) {
            if !std::mem::replace(&mut self.flushed, true) {
                self.scheduler.submit(self.queue, [work(3)]).unwrap();
                assert!(!self.scheduler.run_ready(&mut Gpu::new()), "one thread replays at a time");
            }
        }
        fn completed(&self) -> Ticket {
            0
        }
        fn read_event(&self, _: u64) -> Option<u32> {
            None
        }
    }
    let scheduler = Sched::new();
    let (a, b) = (scheduler.create_queue(), scheduler.create_queue());
    scheduler.submit(a, [work(1)]).unwrap();
    let mut busy = Busy { scheduler: &scheduler, queue: b, gpu: Gpu::new(), flushed: false };
    assert!(scheduler.run_ready(&mut busy));
    assert_eq!(busy.gpu.names(), [1, 2, 3]);
}

#[test]
fn b234_host_work_of_a_piece_is_outside_and_what_follows_it_waits_for_the_resume() {
    /// Does host work before each piece, as making a shader is.
    struct Preparing<'a> {
        gpu: Gpu,
        scheduler: &'a Sched,
        preparing: mpsc::Sender<u32>,
        go: mpsc::Receiver<()>,
        given: mpsc::Sender<u32>,
    }
    impl Executor for Preparing<'_> {
        type Work = Work;
        type Present = u32;
        fn execute(&mut self, queue: QueueId, item: Work, after: Ticket, _: u64) -> Executed {
            self.scheduler.outside(|| {
                self.preparing.send(item.name).unwrap();
                self.go.recv().unwrap();
            });
            self.given.send(item.name).unwrap();
            self.gpu.execute(queue, item, after, 0)
        }
        fn present(&mut self, _: QueueId, _: u32, _: Ticket) {}
        fn completed(&self) -> Ticket {
            0
        }
        fn read_event(&self, _: u64) -> Option<u32> {
            None
        }
    }
    let scheduler = Sched::new();
    let (a, b) = (scheduler.create_queue(), scheduler.create_queue());
    let ((preparing, prepares), (release, go), (given, gives)) = (mpsc::channel(), mpsc::channel(), mpsc::channel());
    scheduler.submit(a, [work(1)]).unwrap();
    std::thread::scope(|scope| {
        let executor = Preparing { gpu: Gpu::new(), scheduler: &scheduler, preparing, go, given };
        let replay = scope.spawn(|| {
            let mut executor = executor;
            scheduler.run_ready(&mut executor)
        });
        assert_eq!(prepares.recv(), Ok(1));
        // The second submission is queued behind the one that prepares; neither is in flight.
        scheduler.submit(b, [work(2)]).unwrap();
        assert!(scheduler.suspend(Some(Duration::from_secs(60))), "a suspend does not wait for host work");
        assert!(scheduler.enter().is_none());
        release.send(()).unwrap();
        // Prepared, the piece stays where it is: nothing is given to the GPU.
        assert_eq!(gives.recv_timeout(Duration::from_millis(50)), Err(mpsc::RecvTimeoutError::Timeout));
        scheduler.resume();
        assert_eq!(gives.recv(), Ok(1));
        assert_eq!(prepares.recv(), Ok(2));
        release.send(()).unwrap();
        assert_eq!(gives.recv(), Ok(2), "both run after the resume");
        assert!(replay.join().unwrap());
    });
    assert!(scheduler.suspend(Some(Duration::ZERO)), "as many came back inside as went out");
}
