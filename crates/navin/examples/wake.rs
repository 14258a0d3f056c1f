//! From the GPU's end of a submission to the return of the guest's wait for it: a timestamp is the submission's last
//! command, and the guest reads the same clock when `nvnSyncWait` has returned. Prints the distribution; with
//! `NAVIN_FAST_WAKE=false` the same by way of the completion thread, to compare with (B301).
//!
//! Usage: `wake [ROUNDS]` (1,000).

mod frame;

use frame::Frame;

fn main() {
    let rounds: usize = std::env::args().nth(1).map_or(1000, |text| text.parse().expect("a number of rounds"));
    let frame = Frame::new();
    let (recording, sync) = (frame.record_timestamp(), frame.sync());
    // The first ones make what later ones use again.
    for _ in 0..20 {
        frame.wake(recording, sync);
    }
    let mut times: Vec<u64> = (0..rounds).map(|_| frame.wake(recording, sync)).collect();
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize] as f64 / 1000.0;
    println!(
        "{rounds} waits, microseconds after the GPU's timestamp: median {:.1}, p90 {:.1}, p99 {:.1}, most {:.1}",
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0)
    );
}
