//! How recording scales: 16 threads, each with its own command buffer, against one thread that records all of it.
//! Prints the ratio; the goal is 1.9 on two cores (`taskset -c 0,1`), as recording shares nothing but the host.

// A main function has no docs.
#![allow(missing_docs)]

use std::sync::Barrier;
use std::time::{Duration, Instant};

#[path = "../examples/frame/mod.rs"]
mod frame;

const THREADS: u64 = 16;
const FRAMES: u64 = 1000;
const ROUNDS: usize = 15;

fn frames(frame: &frame::Frame, count: u64) {
    for _ in 0..count {
        std::hint::black_box(frame.record(frame::DRAWS));
    }
}

/// From the first thread's start to the last one's end. The threads tell: on few cores the one that waits for them
/// wakes late.
fn together() -> Duration {
    let ready = Barrier::new(THREADS as usize);
    let spans: Vec<(Instant, Instant)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| {
                    let frame = frame::Frame::new();
                    frames(&frame, 1);
                    ready.wait();
                    let start = Instant::now();
                    frames(&frame, FRAMES);
                    (start, Instant::now())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread that records")).collect()
    });
    let (start, end) = (spans.iter().map(|span| span.0).min(), spans.iter().map(|span| span.1).max());
    end.zip(start).map_or(Duration::ZERO, |(end, start)| end - start)
}

fn alone() -> Duration {
    let frame = frame::Frame::new();
    frames(&frame, 1);
    let start = Instant::now();
    frames(&frame, THREADS * FRAMES);
    start.elapsed()
}

fn main() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // The fastest run of each: whatever else the machine does only slows them down.
    let rounds: Vec<(Duration, Duration)> = (0..ROUNDS).map(|_| (alone(), together())).collect();
    let alone = rounds.iter().map(|round| round.0).min().unwrap_or_default();
    let together = rounds.iter().map(|round| round.1).min().unwrap_or_default();
    println!(
        "{THREADS} threads on {cores} cores record {:.2} times as fast as one ({together:?} and {alone:?})",
        alone.as_secs_f64() / together.as_secs_f64()
    );
}
