//! Draws as a guest does, through the entry points: records, submits and replays frames of 1,000 draws, each with
//! another uniform buffer range and another texture. `./x bench callgrind` runs it under valgrind and splits the
//! instructions of a draw into ours and the Vulkan driver's (budgets: DESIGN 13).
//!
//! Usage: `callgrind_replay [DRAWS]` (1,000).

mod frame;

use frame::{Frame, MAX_DRAWS};

fn main() {
    let draws: u32 = std::env::args().nth(1).map_or(1000, |text| text.parse().expect("a number of draws"));
    let frame = Frame::new();
    let mut left = draws;
    while left > 0 {
        let now = left.min(MAX_DRAWS);
        frame.run(frame.record(now));
        left -= now;
    }
    println!("{draws} draws");
}
