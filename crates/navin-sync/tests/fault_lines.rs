//! Which wrong things are named, and how often. One test: the count of fault lines is the process's.

mod common;

use std::time::{Duration, Instant};

use common::{Gpu, Sched, wait_event, work};
use navin_abi::fault;
use navin_sync::{Step, WaitMode, WaitResult};

#[test]
fn b236_b229_b232_fault_lines_are_for_what_is_wrong_and_for_nothing_else() {
    let (s, mut gpu) = (Sched::new(), Gpu::new());
    let (a, b) = (s.create_queue(), s.create_queue());
    gpu.memory.insert(8, 0);
    let sync = s.create_sync();
    let gone = s.create_sync();
    s.destroy_sync(gone);

    // Right use: no line.
    assert_eq!(s.wait(sync, Some(Duration::from_secs(2))), WaitResult::AlreadySignaled);
    s.submit(a, [Step::WaitSync(sync), wait_event(8, WaitMode::Equal, 1), Step::FenceSync(sync)]).unwrap();
    s.run_ready(&mut gpu);
    let start = Instant::now();
    assert_eq!(s.wait(sync, Some(Duration::from_millis(10))), WaitResult::TimeoutExpired);
    assert!(start.elapsed() >= Duration::from_millis(10));
    assert_eq!(fault::count(), 0, "a short wait may expire");

    // A wait of a second and more that expires.
    assert_eq!(s.wait(sync, Some(Duration::from_millis(1100))), WaitResult::TimeoutExpired);
    assert_eq!(fault::count(), 1);

    // An event in no memory: its queue goes on.
    s.submit(b, [wait_event(0xDEAD_0000, WaitMode::Equal, 1), work(1)]).unwrap();
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1]);
    assert_eq!(fault::count(), 2);

    // Syncs that do not exist.
    s.submit(b, [Step::WaitSync(gone), Step::FenceSync(gone), work(2)]).unwrap();
    assert_eq!(fault::count(), 4);
    assert_eq!(s.wait(gone, None), WaitResult::Failed);
    assert_eq!(fault::count(), 5);
    s.run_ready(&mut gpu);
    assert_eq!(gpu.names(), [1, 2]);
}
