//! Submissions that give the GPU nothing to do, through the entry points: what a submission costs by itself, on the
//! guest's thread and on Navin's. `./x bench callgrind` splits the instructions into ours and the Vulkan driver's
//! (budget: 3 microseconds of ours).
//!
//! Usage: `callgrind_submits [SUBMISSIONS]` (1,000).

mod frame;

use frame::Frame;

fn main() {
    let submissions: u32 = std::env::args().nth(1).map_or(1000, |text| text.parse().expect("a number of submissions"));
    let frame = Frame::new();
    let recording = frame.record_nothing();
    for n in 0..submissions {
        frame.submit(recording);
        if n % 50 == 49 {
            frame.finish();
        }
    }
    frame.finish();
    println!("{submissions} submissions");
}
