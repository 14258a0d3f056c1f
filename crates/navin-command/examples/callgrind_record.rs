//! Records draws with what an engine sets for each, a thousand to a frame, for `./x bench callgrind`: the number of
//! draws is the argument. Instructions a draw are of recording alone (budget: 150 for the draw itself).

mod frame;

fn main() {
    let mut draws: u64 = std::env::args().nth(1).and_then(|draws| draws.parse().ok()).unwrap_or(frame::DRAWS);
    let frame = frame::Frame::new();
    while draws > 0 {
        let now = draws.min(frame::DRAWS);
        std::hint::black_box(frame.record(now));
        draws -= now;
    }
}
