//! Records, flattens and reads a frame of 1,000 draws 100 times, for callgrind:
//!
//! `valgrind --tool=callgrind --toggle-collect='*draw_elements*' target/release/examples/record_frame`
//! counts the instructions of 100,000 recorded draws (budget: 150 each).

use navin_command::flatten;

mod frame;

fn main() {
    let frame = frame::Frame::new();
    let mut records = 0;
    for _ in 0..100 {
        let handle = frame.record();
        records += flatten(&frame::HOST, &frame, [handle]).records().count();
    }
    println!("{records} records of {} draws", 100 * frame::DRAWS);
}
