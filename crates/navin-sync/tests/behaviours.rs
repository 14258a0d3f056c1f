//! The behaviours of queues, syncs and events, one by one, with a GPU that is moved by hand.

mod common;

use std::time::{Duration, Instant};

use common::{Gpu, Sched, Seen, Work, signal, wait_event, wait_ticket, work};
use navin_sync::{QueueId, SignalMode, Step, StepKind, SubmitError, SyncId, SyncState, WaitMode, WaitResult};

const NOW: Option<Duration> = Some(Duration::ZERO);
const EVENT: u64 = 0x1_0000_1000;

fn setup() -> (Sched, Gpu, QueueId, QueueId) {
    let scheduler = Sched::new();
    let (a, b) = (scheduler.create_queue(), scheduler.create_queue());
    (scheduler, Gpu::new(), a, b)
}

#[test]
fn work_runs_in_order_of_arrival_over_all_queues() {
    let (s, mut gpu, a, b) = setup();
    s.submit(a, [work(1), work(2)]).unwrap();
    s.submit(b, [work(3)]).unwrap();
    s.submit(a, [work(4)]).unwrap();
    assert!(s.run_ready(&mut gpu));
    assert_eq!(gpu.names(), [1, 2, 3, 4]);
    assert_eq!(gpu.seen.last(), Some(&Seen::Flush));
    assert!(!s.run_ready(&mut gpu));
    assert_eq!(gpu.seen.len(), 5, "nothing ran, so nothing is flushed");
}

#[test]
fn b229_a_consumer_submitted_before_its_producer_waits_for_it() {
    let (s, mut gpu, a, b) = setup();
    gpu.memory.insert(EVENT, 0);
    s.submit(b, [wait_event(EVENT, WaitMode::Equal, 1), work(2)]).unwrap();
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), []);
    assert!(s.waits_for_event());
    s.submit(a, [signal(1, EVENT, SignalMode::Write, 1)]).unwrap();
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1, 2]);
    assert!(!s.waits_for_event());
}

#[test]
fn b229_only_the_waiting_queue_is_parked() {
    let (s, mut gpu, a, b) = setup();
    gpu.memory.insert(EVENT, 0);
    s.submit(a, [work(1), wait_event(EVENT, WaitMode::Equal, 1), work(2)]).unwrap();
    s.submit(b, [work(3), work(4)]).unwrap();
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1, 3, 4]);
    let at = StepKind::WaitEvent { address: EVENT, mode: WaitMode::Equal, value: 1 };
    let status = s.status();
    assert_eq!((status[0].queue, status[0].at, status[0].pending), (a, Some(at), 2));
    assert_eq!((status[1].queue, status[1].at, status[1].last_ticket), (b, None, 3));
}

#[test]
fn b229_a_cpu_signal_releases_a_wait() {
    let (s, mut gpu, a, _) = setup();
    gpu.memory.insert(EVENT, 0xFFFF_FFFF);
    s.submit(a, [wait_event(EVENT, WaitMode::GequalWrap, 2), work(1)]).unwrap();
    let mut seen = s.activity();
    s.run_ready(&mut gpu);
    assert!(!s.wait_for_work(seen, NOW));
    for (value, names) in [(0, vec![]), (1, vec![]), (2, vec![1])] {
        gpu.memory.insert(EVENT, value);
        s.poke();
        assert!(s.wait_for_work(seen, NOW));
        seen = s.activity();
        s.run_ready(&mut gpu);
        assert_eq!(gpu.names(), names);
    }
}

#[test]
fn b229_a_wait_on_a_write_in_flight_passes_behind_the_writer() {
    let (s, mut gpu, a, b) = setup();
    gpu.memory.insert(EVENT, 0);
    s.submit(a, [signal(1, EVENT, SignalMode::Write, 7)]).unwrap();
    s.submit(b, [wait_event(EVENT, WaitMode::Equal, 7), work(2), work(3)]).unwrap();
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1, 2, 3]);
    assert_eq!(gpu.memory[&EVENT], 0, "the write has not landed");
    assert_eq!(gpu.after(2), Some(1), "the continuation comes behind the writer");
    assert_eq!(gpu.after(3), Some(0), "what follows the continuation depends on nothing further");
}

#[test]
fn b229_a_wait_on_an_add_is_parked_until_it_lands() {
    let (s, mut gpu, a, b) = setup();
    gpu.memory.insert(EVENT, 3);
    s.submit(a, [signal(1, EVENT, SignalMode::Add, 4)]).unwrap();
    // The number added would do, but the sum is what is waited for, and it is known when it lands.
    s.submit(b, [wait_event(EVENT, WaitMode::GequalWrap, 4), work(2)]).unwrap();
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1]);
    gpu.complete(&s, 1);
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1, 2]);
    assert_eq!(gpu.after(2), Some(0));
}

/// On the console the waiting queue looks all the time, and sees the first value while the second is not there yet.
#[test]
fn b229_a_queue_that_stands_at_a_wait_sees_each_write_of_a_piece() {
    let write = |value| navin_sync::EventSignal { address: EVENT, mode: SignalMode::Write, value };
    for completed_at_once in [false, true] {
        let (s, mut gpu, a, b) = setup();
        gpu.memory.insert(EVENT, 0);
        s.submit(b, [wait_event(EVENT, WaitMode::Equal, 1), work(2)]).unwrap();
        s.run_ready(&mut gpu);
        let piece = Work { name: 1, signals: vec![write(1), write(2)] };
        s.submit(a, [Step::Work(piece)]).unwrap();
        if completed_at_once {
            // Before anybody looks at the parked queue again.
            s.complete(1);
        }
        s.run_ready(&mut gpu);
        assert_eq!(gpu.names(), [1, 2]);
        assert_eq!(gpu.after(2), Some(1), "behind the piece");
        // Who comes later finds the last value.
        s.submit(b, [wait_event(EVENT, WaitMode::Equal, 1), work(3)]).unwrap();
        s.run_ready(&mut gpu);
        assert_eq!(gpu.names(), [1, 2]);
    }
}

/// Only the step at which a queue stands looks: a wait behind another one finds what is there when it is reached.
#[test]
fn b229_a_wait_that_its_queue_has_not_reached_sees_the_last_write_alone() {
    const OTHER: u64 = EVENT + 64;
    let write = |value| navin_sync::EventSignal { address: EVENT, mode: SignalMode::Write, value };
    let (s, mut gpu, a, b) = setup();
    gpu.memory.extend([(EVENT, 0), (OTHER, 0)]);
    let waits = [wait_event(OTHER, WaitMode::Equal, 1), wait_event(EVENT, WaitMode::Equal, 1), work(2)];
    s.submit(b, waits).unwrap();
    s.submit(a, [Step::Work(Work { name: 1, signals: vec![write(1), write(2)] })]).unwrap();
    s.run_ready(&mut gpu);
    gpu.memory.insert(OTHER, 1);
    s.poke();
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1], "the event holds 2");
}

#[test]
fn b229_two_signals_of_one_piece_are_both_in_flight_with_it() {
    const SECOND: u64 = EVENT + 64;
    let (s, mut gpu, a, b) = setup();
    gpu.memory.extend([(EVENT, 0), (SECOND, 0)]);
    let write = |address, value| navin_sync::EventSignal { address, mode: SignalMode::Write, value };
    let piece = Work { name: 1, signals: vec![write(EVENT, 1), write(SECOND, 2)] };
    s.submit(b, [wait_event(EVENT, WaitMode::Equal, 1), work(2)]).unwrap();
    s.submit(a, [Step::Work(piece), work(3)]).unwrap();
    s.run_ready(&mut gpu);
    // One submission for both signals and the commands around them: a cut at each would make three.
    assert_eq!((gpu.names(), gpu.ticket), (vec![1, 2, 3], 3));
    assert_eq!(gpu.after(2), Some(1), "behind the rest of the signalling piece, not behind the signal's prefix");
    gpu.complete(&s, 1);
    assert_eq!((gpu.memory[&EVENT], gpu.memory[&SECOND]), (1, 2));
}

#[test]
fn b229_the_last_signal_in_flight_decides() {
    let (s, mut gpu, a, b) = setup();
    gpu.memory.insert(EVENT, 1);
    // The event still holds 1 from before; the reset is encoded, so a wait for 1 behind it must not pass by that.
    s.submit(a, [signal(1, EVENT, SignalMode::Write, 0), wait_event(EVENT, WaitMode::Equal, 1), work(2)]).unwrap();
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1]);
    // A write that satisfies it, followed by an add: the sum is known when they have landed. Queue `a` stood at its wait
    // and sees the write; who comes later finds the sum.
    let both = Work {
        name: 3,
        signals: vec![
            navin_sync::EventSignal { address: EVENT, mode: SignalMode::Write, value: 1 },
            navin_sync::EventSignal { address: EVENT, mode: SignalMode::Add, value: 0 },
        ],
    };
    s.submit(b, [Step::Work(both), wait_event(EVENT, WaitMode::Equal, 1), work(4)]).unwrap();
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1, 3, 2]);
    gpu.complete(&s, 1);
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1, 3, 2], "the reset has landed, the add has not");
    gpu.complete(&s, 2);
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1, 3, 2, 4]);
}

#[test]
fn b229_waits_on_a_never_fenced_sync_pass_at_once() {
    let (s, mut gpu, a, b) = setup();
    let sync = s.create_sync();
    s.submit(a, [Step::WaitSync(sync), work(1), Step::FenceSync(sync)]).unwrap();
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1]);
    s.submit(b, [Step::WaitSync(sync), work(2)]).unwrap();
    s.run_ready(&mut gpu);
    assert_eq!((gpu.names(), gpu.after(2)), (vec![1, 2], Some(1)));
}

#[test]
fn b229_a_queued_wait_keeps_its_target_through_refencing() {
    let (s, mut gpu, a, b) = setup();
    gpu.memory.insert(EVENT, 0);
    let sync = s.create_sync();
    let c = s.create_queue();
    s.submit(a, [wait_event(EVENT, WaitMode::Equal, 1), work(1), Step::FenceSync(sync)]).unwrap();
    s.submit(b, [Step::WaitSync(sync), work(2)]).unwrap();
    // Fenced again, on a queue that does not wait: b's wait is for the fence on a.
    s.submit(c, [work(3), Step::FenceSync(sync)]).unwrap();
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [3]);
    gpu.complete(&s, 1);
    assert_eq!(s.wait(sync, NOW), WaitResult::AlreadySignaled, "the CPU's wait is for the newest");
    gpu.memory.insert(EVENT, 1);
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [3, 1, 2]);
    assert_eq!(gpu.after(2), Some(2));
}

#[test]
fn b229_a_queued_wait_needs_the_fence_encoded_and_not_ended() {
    let (s, mut gpu, a, b) = setup();
    let sync = s.create_sync();
    s.submit(a, [work(1), Step::FenceSync(sync)]).unwrap();
    s.submit(b, [Step::WaitSync(sync), work(2)]).unwrap();
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1, 2]);
    assert_eq!(s.wait(sync, NOW), WaitResult::TimeoutExpired);
    assert_eq!(s.sync_state(sync), Some(SyncState::InFlight(1)));
}

#[test]
fn b229_finalizing_a_sync_leaves_its_waits_and_fences_as_they_were() {
    let (s, mut gpu, a, b) = setup();
    gpu.memory.insert(EVENT, 0);
    let sync = s.create_sync();
    s.submit(a, [wait_event(EVENT, WaitMode::Equal, 1), work(1), Step::FenceSync(sync)]).unwrap();
    s.submit(b, [Step::WaitSync(sync), work(2)]).unwrap();
    assert!(s.destroy_sync(sync));
    assert!(!s.destroy_sync(sync));
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), []);
    gpu.memory.insert(EVENT, 1);
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1, 2]);
    assert_eq!(s.wait(sync, None), WaitResult::Failed);
    assert_eq!(s.sync_state(sync), None);
    // Steps that name it now are left out, and what is behind them runs.
    s.submit(a, [Step::WaitSync(sync), Step::FenceSync(sync), work(3)]).unwrap();
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1, 2, 3]);
}

#[test]
fn b230_queue_and_sync_ids_are_never_given_out_again() {
    let (s, _, a, b) = setup();
    let sync = s.create_sync();
    s.destroy_queue(a).unwrap();
    s.destroy_sync(sync);
    let (c, again) = (s.create_queue(), s.create_sync());
    let all = [a.raw(), b.raw(), c.raw(), sync.raw(), again.raw()];
    for (n, raw) in all.iter().enumerate() {
        assert!(*raw != 0 && !all[..n].contains(raw));
    }
    assert_eq!(QueueId::from_raw(a.raw()), Some(a));
    assert_eq!(SyncId::from_raw(0), None);
    assert_eq!(s.submit(a, [work(1)]), Err(SubmitError::UnknownQueue));
    assert_eq!(s.destroy_queue(a), None);
    assert_eq!(s.finish(a), WaitResult::Failed);
}

#[test]
fn b230_a_finalized_queue_drops_what_it_held_and_fails_its_fences() {
    let (s, mut gpu, a, b) = setup();
    gpu.memory.insert(EVENT, 0);
    let sync = s.create_sync();
    s.submit(a, [wait_event(EVENT, WaitMode::Equal, 1), work(1), Step::FenceSync(sync), Step::Present(9)]).unwrap();
    s.submit(b, [Step::WaitSync(sync), work(2)]).unwrap();
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), []);
    let dropped = s.destroy_queue(a).unwrap();
    assert_eq!(dropped.work, [Work { name: 1, signals: vec![] }]);
    assert_eq!(dropped.presents, [9]);
    assert_eq!(s.wait(sync, None), WaitResult::Failed);
    assert_eq!(s.sync_state(sync), Some(SyncState::Abandoned));
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [2], "what waited for the fence on another queue is not lost with it");
}

#[test]
fn b231_what_was_submitted_before_an_object_went_is_known_until_it_has_run() {
    let (s, mut gpu, a, b) = setup();
    gpu.memory.insert(EVENT, 0);
    assert_eq!((s.arrivals(), s.replayed()), (0, 0));
    s.submit(a, [wait_event(EVENT, WaitMode::Equal, 1), work(1)]).unwrap();
    s.submit(b, [work(2)]).unwrap();
    s.run_ready(&mut gpu);
    // The second has run; the first is parked and may still name what goes now.
    assert_eq!((s.arrivals(), s.replayed()), (2, 0));
    let went = s.arrivals();
    s.submit(b, [work(3)]).unwrap();
    gpu.memory.insert(EVENT, 1);
    s.run_ready(&mut gpu);
    assert!(s.replayed() >= went);
    // A finalized queue names nothing any more.
    gpu.memory.insert(EVENT, 0);
    s.submit(a, [wait_event(EVENT, WaitMode::Equal, 1), work(4)]).unwrap();
    assert_eq!((s.arrivals(), s.replayed()), (4, 3));
    s.destroy_queue(a);
    assert_eq!(s.replayed(), 4);
}

#[test]
fn b232_a_fence_stands_for_what_is_before_it_on_its_own_queue() {
    let (s, mut gpu, a, b) = setup();
    gpu.memory.insert(EVENT, 0);
    let sync = s.create_sync();
    s.submit(a, [work(1), wait_event(EVENT, WaitMode::Equal, 1), work(2), Step::FenceSync(sync)]).unwrap();
    s.submit(b, [work(3)]).unwrap();
    s.submit(b, [work(4)]).unwrap();
    s.run_ready(&mut gpu);
    gpu.complete(&s, 3);
    // Another queue's later work has ended; the fence is still behind the event.
    assert_eq!(s.sync_state(sync), Some(SyncState::Pending));
    assert_eq!(s.wait(sync, Some(Duration::from_millis(5))), WaitResult::TimeoutExpired);
    gpu.memory.insert(EVENT, 1);
    s.run_ready(&mut gpu);
    assert_eq!(s.wait(sync, NOW), WaitResult::TimeoutExpired, "encoded, not ended");
    gpu.complete(&s, 4);
    assert_eq!(s.wait(sync, NOW), WaitResult::AlreadySignaled);
}

#[test]
fn b232_a_fence_that_was_not_submitted_does_not_fence() {
    let (s, _, _, _) = setup();
    let sync = s.create_sync();
    let _recorded: Step<Work, u32> = Step::FenceSync(sync);
    assert_eq!(s.sync_state(sync), Some(SyncState::NeverFenced));
}

#[test]
fn b232_a_fence_behind_a_passed_wait_has_not_ended_before_what_was_waited_for() {
    let (s, mut gpu, a, b) = setup();
    let (first, second) = (s.create_sync(), s.create_sync());
    s.submit(a, [work(1), Step::FenceSync(first)]).unwrap();
    s.submit(b, [Step::WaitSync(first), Step::FenceSync(second)]).unwrap();
    s.run_ready(&mut gpu);
    assert_eq!(s.wait(second, NOW), WaitResult::TimeoutExpired);
    assert_eq!(s.finish_within(b, NOW), WaitResult::TimeoutExpired);
    gpu.complete(&s, 1);
    assert_eq!(s.wait(second, NOW), WaitResult::AlreadySignaled);
    assert_eq!(s.finish_within(b, NOW), WaitResult::AlreadySignaled);
}

#[test]
fn b234_an_event_signalled_while_suspended_lets_its_queue_go_on_after_the_resume() {
    let (s, mut gpu, a, b) = setup();
    gpu.memory.insert(EVENT, 0);
    s.submit(a, [wait_event(EVENT, WaitMode::Equal, 1), work(1)]).unwrap();
    s.submit(b, [work(2)]).unwrap();
    assert!(s.suspend(NOW), "nobody is inside");
    assert!(s.suspended());
    gpu.memory.insert(EVENT, 1);
    s.poke();
    s.submit(b, [work(3), Step::Present(4)]).unwrap();
    assert!(!s.run_ready(&mut gpu));
    assert_eq!(gpu.names(), []);
    assert!(s.suspend(NOW), "again is the same");
    let seen = s.activity();
    s.resume();
    assert!(s.wait_for_work(seen, NOW), "the submit thread looks again");
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1, 2, 3, 4], "in order of arrival");
}

#[test]
fn b234_what_is_inside_keeps_the_gate_from_closing_and_is_let_out() {
    let (s, mut gpu, a, _) = setup();
    let inside = s.enter().unwrap();
    assert!(!s.suspend(Some(Duration::from_millis(5))), "somebody is inside");
    assert!(s.enter().is_none(), "and nobody else comes in");
    s.submit(a, [work(1)]).unwrap();
    assert!(!s.run_ready(&mut gpu));
    drop(inside);
    assert!(s.suspend(NOW));
    s.resume();
    assert!(s.enter().is_some());
    assert!(s.run_ready(&mut gpu));
}

#[test]
fn b236_a_sync_never_fenced_answers_already_signaled_at_once() {
    let (s, mut gpu, a, _) = setup();
    let sync = s.create_sync();
    let start = Instant::now();
    for timeout in [NOW, Some(Duration::from_secs(15)), None] {
        assert_eq!(s.wait(sync, timeout), WaitResult::AlreadySignaled);
        assert_eq!(wait_ticket(&s, sync, timeout), Err(WaitResult::AlreadySignaled));
    }
    s.submit(a, [work(1), Step::FenceSync(sync)]).unwrap();
    s.run_ready(&mut gpu);
    assert_eq!(s.wait(sync, NOW), WaitResult::TimeoutExpired);
    // Initialized again in the same storage: a new sync.
    s.destroy_sync(sync);
    let sync = s.create_sync();
    assert_eq!(s.wait(sync, Some(Duration::from_secs(15))), WaitResult::AlreadySignaled);
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn b301_a_waiter_learns_the_ticket_and_how_its_wait_ended() {
    let (s, mut gpu, a, _) = setup();
    let sync = s.create_sync();
    s.submit(a, [work(1), Step::FenceSync(sync)]).unwrap();
    assert_eq!(wait_ticket(&s, sync, NOW), Err(WaitResult::TimeoutExpired), "the queue has not reached the fence");
    s.run_ready(&mut gpu);
    assert_eq!(wait_ticket(&s, sync, NOW), Ok(1));
    gpu.complete(&s, 1);
    assert_eq!(wait_ticket(&s, sync, NOW), Err(WaitResult::AlreadySignaled));
    assert_eq!(s.completed(), 1);
}

#[test]
fn b303_finish_does_not_wait_for_presents() {
    let (s, mut gpu, a, _) = setup();
    s.submit(a, [work(1), Step::Present(100), work(2), Step::Present(101)]).unwrap();
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1, 100, 2, 101]);
    assert_eq!((gpu.after(100), gpu.after(101)), (Some(1), Some(2)), "each is told what completes its picture");
    assert_eq!(s.finish_within(a, NOW), WaitResult::TimeoutExpired);
    gpu.complete(&s, 2);
    assert_eq!(s.finish_within(a, NOW), WaitResult::AlreadySignaled);
}

#[test]
fn finish_of_an_empty_queue_is_immediate() {
    let (s, _, a, _) = setup();
    assert_eq!(s.finish(a), WaitResult::AlreadySignaled);
}

#[test]
fn presents_keep_the_order_of_arrival_behind_parked_queues() {
    let (s, mut gpu, a, b) = setup();
    gpu.memory.insert(EVENT, 0);
    s.submit(a, [wait_event(EVENT, WaitMode::Equal, 1), work(1), Step::Present(100)]).unwrap();
    s.submit(a, [work(2), Step::Present(101)]).unwrap();
    s.submit(b, [work(3), Step::Present(102)]).unwrap();
    s.run_ready(&mut gpu);
    gpu.memory.insert(EVENT, 1);
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [3, 102, 1, 100, 2, 101]);
}

#[test]
fn a_sync_can_be_given_a_ticket_outside_any_queue() {
    let (s, mut gpu, a, _) = setup();
    let sync = s.create_sync();
    assert!(s.set_sync(sync, 0));
    assert_eq!(s.wait(sync, None), WaitResult::AlreadySignaled);
    assert!(s.set_sync(sync, 5));
    s.submit(a, [Step::WaitSync(sync), work(1)]).unwrap();
    s.run_ready(&mut gpu);
    assert_eq!(gpu.after(1), Some(5));
    assert_eq!(s.wait(sync, NOW), WaitResult::TimeoutExpired);
    s.complete(5);
    assert_eq!(s.wait(sync, NOW), WaitResult::AlreadySignaled);
    s.destroy_sync(sync);
    assert!(!s.set_sync(sync, 5));
}

#[test]
fn a_lost_device_fails_every_wait_and_refuses_work() {
    let (s, mut gpu, a, b) = setup();
    gpu.memory.insert(EVENT, 0);
    let (ended, running, parked) = (s.create_sync(), s.create_sync(), s.create_sync());
    s.submit(a, [work(1), Step::FenceSync(ended), work(2), Step::FenceSync(running)]).unwrap();
    s.submit(b, [wait_event(EVENT, WaitMode::Equal, 1), work(3), Step::FenceSync(parked)]).unwrap();
    s.run_ready(&mut gpu);
    gpu.complete(&s, 1);
    let dropped = s.lose_device();
    assert_eq!(dropped.work.len(), 1);
    assert_eq!(s.wait(ended, None), WaitResult::AlreadySignaled);
    assert_eq!(s.wait(running, None), WaitResult::Failed);
    assert_eq!(wait_ticket(&s, running, None), Err(WaitResult::Failed));
    assert_eq!(s.wait(parked, None), WaitResult::Failed);
    assert_eq!(s.finish(a), WaitResult::Failed);
    assert_eq!(s.submit(a, [work(4)]), Err(SubmitError::DeviceLost));
    assert!(!s.run_ready(&mut gpu));
}

#[test]
fn a_panicking_executor_does_not_stop_the_others() {
    struct Panics;
    impl navin_sync::Executor for Panics {
        type Work = Work;
        type Present = u32;
        fn execute(&mut self, _: QueueId, _: Work, _: u64, _: u64) -> navin_sync::Executed {
            panic!("as a test may")
        }
        fn present(&mut self, _: QueueId, _: u32, _: u64) {}
        fn completed(&self) -> u64 {
            0
        }
        fn read_event(&self, _: u64) -> Option<u32> {
            panic!("with the lock held")
        }
    }
    let (s, mut gpu, a, b) = setup();
    s.submit(a, [work(1), work(2)]).unwrap();
    let seen = s.activity();
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| s.run_ready(&mut Panics)));
    assert!(caught.is_err());
    assert!(s.wait_for_work(seen, NOW));
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [2]);
    s.submit(b, [wait_event(EVENT, WaitMode::Equal, 1), work(3)]).unwrap();
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| s.run_ready(&mut Panics)));
    assert!(caught.is_err());
    gpu.memory.insert(EVENT, 1);
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [2, 3]);
}

#[test]
fn work_without_a_ticket_leaves_the_queues_order_alone() {
    struct Skips(Gpu);
    impl navin_sync::Executor for Skips {
        type Work = Work;
        type Present = u32;
        fn execute(&mut self, queue: QueueId, work: Work, after: u64, arrival: u64) -> navin_sync::Executed {
            // Odd pieces hold nothing for the GPU.
            if work.name % 2 == 1 { 0.into() } else { self.0.execute(queue, work, after, arrival) }
        }
        fn present(&mut self, queue: QueueId, present: u32, after: u64) {
            self.0.present(queue, present, after);
        }
        fn completed(&self) -> u64 {
            self.0.completed()
        }
        fn read_event(&self, address: u64) -> Option<u32> {
            self.0.read_event(address)
        }
    }
    let (s, gpu, a, b) = setup();
    let mut skips = Skips(gpu);
    let (first, second) = (s.create_sync(), s.create_sync());
    s.submit(a, [work(2), Step::FenceSync(first)]).unwrap();
    s.submit(b, [Step::WaitSync(first), work(1), work(4), work(3), Step::FenceSync(second)]).unwrap();
    s.run_ready(&mut skips);
    assert_eq!(skips.0.after(4), Some(1), "the wait's dependency outlives a piece that ran nothing");
    assert_eq!(s.sync_state(second), Some(SyncState::InFlight(2)));
}
