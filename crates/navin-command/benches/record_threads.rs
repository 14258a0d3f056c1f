//! How recording scales: 16 threads, each with its own command buffer, against one thread that records all of it.
//! Prints the ratio; the goal is 1.9 on two cores (`taskset -c 0,1`), as recording shares nothing but the host.

// A main function has no docs.
#![allow(missing_docs)]

use std::sync::Barrier;
use std::time::{Duration, Instant};

#[path = "../examples/frame/mod.rs"]
mod frame;

const THREADS: u64 = 16;
const FRAMES: u64 = 400;
const ROUNDS: usize = 9;

fn frames(frame: &frame::Frame, count: u64) {
    for _ in 0..count {
        std::hint::black_box(frame.record(frame::DRAWS));
    }
}

fn together() -> Duration {
    let ready = Barrier::new(THREADS as usize + 1);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| {
                    let frame = frame::Frame::new();
                    ready.wait();
                    frames(&frame, FRAMES);
                })
            })
            .collect();
        ready.wait();
        let start = Instant::now();
        threads.into_iter().for_each(|thread| thread.join().expect("a thread that records"));
        start.elapsed()
    })
}

fn alone() -> Duration {
    let frame = frame::Frame::new();
    let start = Instant::now();
    frames(&frame, THREADS * FRAMES);
    start.elapsed()
}

fn main() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut ratios: Vec<f64> = (0..ROUNDS).map(|_| alone().as_secs_f64() / together().as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    let (median, best) = (ratios[ROUNDS / 2], ratios[ROUNDS - 1]);
    println!(
        "{THREADS} threads on {cores} cores record {median:.2} times as fast as one (best of {ROUNDS}: {best:.2})"
    );
}
