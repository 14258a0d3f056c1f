//! The completion ring and the wait on the timeline, without a device. `tests/loom.rs` has the same rules in every
//! interleaving; here are the cases by name, with real threads, and the times by a clock in hand.

mod common;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use common::{Gpu, Sched, signal, wait_event, work};
use navin_sync::{
    Completions, DeviceLost, IN_FLIGHT, SignalMode, Step, Ticket, Timeline, WaitMode, WaitResult, publish,
};

#[test]
fn b301_a_record_taken_is_not_a_record_written() {
    let ring = Completions::default();
    ring.push(1, "events");
    let ((claimed, is_claimed), (go, may_go)) = (mpsc::channel(), mpsc::channel::<()>());
    let ring = &ring;
    // The senders are this closure's, so that the owner goes on when an assertion fails.
    std::thread::scope(move |scope| {
        let owner = scope.spawn(move || {
            ring.run(1, |_, _| {
                claimed.send(()).unwrap();
                may_go.recv().unwrap();
            })
        });
        is_claimed.recv().unwrap();
        let waiter = scope.spawn(|| ring.run(1, |_, _| panic!("it is the owner's")));
        std::thread::sleep(Duration::from_millis(20));
        assert!(!waiter.is_finished(), "the writes do not exist yet");
        assert_eq!(ring.published(), 0);
        // One that does not help but sleeps until the completion thread is through sees the same.
        assert!(!waiter.is_finished());
        go.send(()).unwrap();
        assert_eq!((owner.join().unwrap(), waiter.join().unwrap()), (1, 1));
    });
}

#[test]
fn b301_waiters_and_completion_thread_make_one_set_of_writes_in_order() {
    const COUNT: u64 = 5_000;
    let ring = Completions::with_capacity(64);
    let (timeline, written) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let run = |reached| {
        ring.run(reached, |ticket, record: u64| {
            assert_eq!(ticket, record);
            written.lock().unwrap().push(ticket);
        })
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while let Some(ticket) = ring.oldest() {
                if ticket <= timeline.load(Ordering::Acquire) {
                    run(ticket);
                } else {
                    std::thread::yield_now();
                }
            }
        });
        let waiter = || {
            // A guest with a fence now and then.
            let mut fence = 0;
            while fence < COUNT {
                fence = (fence + 7).min(COUNT);
                while timeline.load(Ordering::Acquire) < fence {
                    std::thread::yield_now();
                }
                assert!(run(fence) >= fence, "what a fence stands for is written when its wait ends");
            }
        };
        let waiters = [scope.spawn(waiter), scope.spawn(waiter)];
        for ticket in 1..=COUNT {
            assert!(ring.reserve());
            ring.push(ticket, ticket);
            timeline.store(ticket, Ordering::Release);
        }
        for waiter in waiters {
            waiter.join().unwrap();
        }
        // The completion thread may be asleep for a record that nobody is going to push.
        assert_eq!(ring.close(), []);
    });
    assert!(written.lock().unwrap().iter().copied().eq(1..=COUNT));
}

#[test]
fn b301_asking_for_an_old_fence_does_not_touch_newer_records() {
    let ring = Completions::with_capacity(2);
    for ticket in 1..=6 {
        ring.push(ticket, ticket);
        assert_eq!(ring.run(ticket, |_, _| {}), ticket);
    }
    ring.push(7, 7);
    assert_eq!(ring.run(1, |_, _| panic!("7 has not ended")), 6);
    assert_eq!(ring.oldest(), Some(7));
}

#[test]
fn b301_the_gpu_may_be_faster_than_the_record() {
    let ring = Completions::default();
    ring.push(1, ());
    assert_eq!(ring.run(2, |_, ()| {}), 1, "the record of 2 is yet to come");
    ring.push(2, ());
    assert_eq!(ring.run(2, |_, ()| {}), 2);
}

#[test]
fn a_record_of_refused_work_comes_after_what_was_submitted_before() {
    let ring = Completions::default();
    ring.push(1, "submitted");
    ring.push(1, "refused");
    let mut seen = Vec::new();
    ring.run(1, |_, record| seen.push(record));
    assert_eq!(seen, ["submitted", "refused"]);
    ring.push(1, "refused later");
    ring.run(1, |_, record| seen.push(record));
    assert_eq!((seen.len(), ring.published()), (3, 1));
}

#[test]
fn b302_as_many_submissions_as_may_be_in_flight_are_begun_without_a_wait() {
    let ring = Completions::default();
    std::thread::scope(|scope| {
        let (begun, count) = mpsc::channel();
        let ring = &ring;
        scope.spawn(move || {
            for ticket in 1..=IN_FLIGHT as u64 + 1 {
                assert!(ring.reserve());
                ring.push(ticket, ());
                begun.send(ticket).unwrap();
            }
        });
        for expected in 1..=IN_FLIGHT as u64 {
            assert_eq!(count.recv(), Ok(expected));
        }
        assert!(count.recv_timeout(Duration::from_millis(20)).is_err(), "the next one waits for the first to end");
        assert_eq!(ring.run(1, |ticket, ()| assert_eq!(ticket, 1)), 1);
        assert_eq!(count.recv(), Ok(IN_FLIGHT as u64 + 1));
        let mut next = 2;
        ring.run(u64::MAX, |ticket, ()| {
            assert_eq!(ticket, next);
            next += 1;
        });
        assert_eq!(next, IN_FLIGHT as u64 + 2, "every record once, in order");
    });
}

/// Negative control: a ring sized apart from what bounds the submissions.
#[test]
#[should_panic(expected = "the writes of submission 1 never ran")]
fn b302_negative_control_a_ring_of_128_without_a_wait_is_noticed() {
    let ring = Completions::with_capacity(128);
    for ticket in 1..=129 {
        ring.push(ticket, ());
    }
}

#[test]
fn a_ring_empties_or_says_that_it_did_not() {
    let ring = Completions::default();
    assert!(ring.wait_empty(Duration::ZERO));
    ring.push(1, ());
    assert!(!ring.wait_empty(Duration::from_millis(2)));
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| ring.wait_empty(Duration::from_secs(20)));
        ring.run(1, |_, ()| {});
        assert!(waiter.join().unwrap());
    });
    ring.push(2, ());
    assert_eq!(ring.close(), [(2, ())]);
    assert!(!ring.reserve());
    ring.push(3, ());
    assert_eq!((ring.oldest(), ring.published()), (None, 1));
}

/// A device whose clock moves by `step` at each look, and whose timeline stands at `at`.
struct Clocked {
    at: Ticket,
    clock: Mutex<Duration>,
    step: Duration,
    /// The limits that the timeline was waited with.
    asked: Mutex<Vec<Option<Duration>>>,
    written: Mutex<Vec<Ticket>>,
}

impl Clocked {
    fn new(at: Ticket, step: Duration) -> Self {
        Self { at, clock: Mutex::default(), step, asked: Mutex::default(), written: Mutex::default() }
    }
}

impl Timeline for Clocked {
    type Record = ();

    fn now(&self) -> Duration {
        let mut clock = self.clock.lock().unwrap();
        let now = *clock;
        *clock += self.step;
        now
    }

    fn wait(&self, ticket: Ticket, timeout: Option<Duration>) -> Result<bool, DeviceLost> {
        self.asked.lock().unwrap().push(timeout);
        match timeout {
            None if ticket > self.at => Err(DeviceLost),
            _ => Ok(ticket <= self.at),
        }
    }

    fn write(&self, ticket: Ticket, (): ()) {
        self.written.lock().unwrap().push(ticket);
    }
}

/// A sync whose fence is at ticket 1, already with the GPU.
fn fenced() -> (Sched, Completions<()>, navin_sync::SyncId) {
    let (scheduler, ring, mut gpu) = (Sched::new(), Completions::default(), Gpu::new());
    let (queue, sync) = (scheduler.create_queue(), scheduler.create_sync());
    scheduler.submit(queue, [work(1), Step::FenceSync(sync)]).unwrap();
    ring.push(1, ());
    scheduler.run_ready(&mut gpu);
    (scheduler, ring, sync)
}

#[test]
fn b301_what_the_first_stage_took_is_not_there_for_the_second() {
    const MS: fn(u64) -> Duration = Duration::from_millis;
    let poll = Some(Duration::ZERO);
    for (timeout, step, asked) in [
        // 20 ms went by before the timeline could be waited for.
        (Some(MS(20)), MS(20), vec![poll]),
        (Some(MS(50)), MS(20), vec![poll, Some(MS(30))]),
        (Some(MS(20)), MS(500), vec![poll]),
        // Polls of zero stay polls; times below a millisecond are not rounded.
        (Some(MS(0)), MS(0), vec![poll]),
        (Some(Duration::from_micros(300)), MS(0), vec![poll, Some(Duration::from_micros(300))]),
        // Without a limit an hour is left for each stage.
        (None, MS(20), vec![poll, Some(Duration::from_secs(3600))]),
    ] {
        let (scheduler, ring, sync) = fenced();
        let device = Clocked::new(0, step);
        let result = scheduler.wait_on(&ring, &device, sync, timeout);
        assert_eq!(result, WaitResult::TimeoutExpired, "{timeout:?}");
        assert_eq!(*device.asked.lock().unwrap(), asked, "{timeout:?} with a clock of {step:?}");
        assert_eq!(*device.written.lock().unwrap(), []);
    }
}

#[test]
fn b301_a_waiter_whose_fence_has_ended_makes_the_writes_itself() {
    let (scheduler, ring, sync) = fenced();
    let device = Clocked::new(1, Duration::ZERO);
    assert_eq!(scheduler.wait_on(&ring, &device, sync, Some(Duration::ZERO)), WaitResult::AlreadySignaled);
    assert_eq!(*device.written.lock().unwrap(), [1]);
    assert_eq!(scheduler.completed(), 1, "others learn of it");
    // The completion thread comes late: nothing is left for it.
    publish(&scheduler, &ring, &device, 1);
    assert_eq!(*device.written.lock().unwrap(), [1]);
    assert_eq!(scheduler.wait_on(&ring, &device, sync, None), WaitResult::AlreadySignaled);
}

#[test]
fn b303_finish_on_the_timeline_is_for_the_queues_own_work() {
    let (scheduler, ring, mut gpu) = (Sched::new(), Completions::default(), Gpu::new());
    let (a, b) = (scheduler.create_queue(), scheduler.create_queue());
    let device = Clocked::new(1, Duration::ZERO);
    scheduler.submit(a, [work(1), Step::Present(9)]).unwrap();
    ring.push(1, ());
    scheduler.submit(b, [work(2)]).unwrap();
    ring.push(2, ());
    scheduler.run_ready(&mut gpu);
    assert_eq!(scheduler.finish_on(&ring, &device, a, None), WaitResult::AlreadySignaled);
    assert_eq!(scheduler.finish_on(&ring, &device, b, Some(Duration::ZERO)), WaitResult::TimeoutExpired);
    scheduler.lose_device();
    assert_eq!(scheduler.finish_on(&ring, &device, b, None), WaitResult::Failed);
}

#[test]
fn b232_a_wait_behind_a_parked_queue_is_for_that_queues_fence() {
    let (scheduler, ring, mut gpu) = (Sched::new(), Completions::default(), Gpu::new());
    let (a, sync) = (scheduler.create_queue(), scheduler.create_sync());
    gpu.memory.insert(8, 0);
    scheduler.submit(a, [wait_event(8, WaitMode::Equal, 1), work(1), Step::FenceSync(sync)]).unwrap();
    scheduler.run_ready(&mut gpu);
    // Everything that was ever submitted has ended; the fence has not been reached.
    let device = Clocked::new(100, Duration::ZERO);
    let limit = Some(Duration::from_millis(5));
    assert_eq!(scheduler.wait_on(&ring, &device, sync, limit), WaitResult::TimeoutExpired);
    assert_eq!(*device.asked.lock().unwrap(), [], "there is no ticket to ask for yet");
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| scheduler.wait_on(&ring, &device, sync, None));
        gpu.memory.insert(8, 1);
        ring.push(1, ());
        scheduler.poke();
        scheduler.run_ready(&mut gpu);
        assert!(matches!(waiter.join().unwrap(), WaitResult::ConditionSatisfied | WaitResult::AlreadySignaled));
    });
    assert_eq!(*device.written.lock().unwrap(), [1]);
}

#[test]
fn b588_events_are_written_before_the_scheduler_lets_anybody_pass() {
    // An ADD parks its waiter until it lands; when the waiter runs, the word is there.
    let (scheduler, ring, mut gpu) = (Sched::new(), Completions::default(), Gpu::new());
    let (a, b) = (scheduler.create_queue(), scheduler.create_queue());
    gpu.memory.insert(8, 0);
    scheduler.submit(a, [signal(1, 8, SignalMode::Add, 3)]).unwrap();
    scheduler.submit(b, [wait_event(8, WaitMode::Equal, 3), work(2)]).unwrap();
    scheduler.run_ready(&mut gpu);
    ring.push(1, ());
    ring.run(1, |ticket, ()| gpu.land(ticket));
    scheduler.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1], "written, and not yet told");
    scheduler.complete(ring.published());
    scheduler.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1, 2]);
}
