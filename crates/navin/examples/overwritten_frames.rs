//! Frames whose command and control memory is overwritten at random before they are submitted, through the entry
//! points and a Vulkan device: every one ends, in fault lines and skipped pieces (B225). A frame that is whole runs
//! after each. Fault lines are not shown unless `RUST_LOG` asks for them.
//!
//! Usage: `overwritten_frames [FRAMES [FIRST]]` (200, from seed 1). The seed of a frame that crashes or hangs is the
//! last one printed with `NAVIN_SEEDS=1`.

mod frame;

use std::time::{Duration, Instant};

use frame::Frame;

/// Draws of a frame.
const DRAWS: u32 = 40;
/// A frame that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// Splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

fn overwrite(frame: &Frame, random: &mut Random) {
    let (words, count, entries, entry_count) = frame.words();
    for _ in 0..1 + random.below(24) {
        let (at, value) = (random.below(count), random.next());
        // SAFETY: inside the command memory that the recording used.
        let word = unsafe { &mut *words.add(at) };
        match random.below(7) {
            0 => *word = value as u32,
            1 => *word = value as u32 & 0xff,
            2 => *word ^= 1 << (value % 32),
            // Another record's word: headers and payloads change places.
            // SAFETY: as above.
            3 => *word = unsafe { words.add(random.below(count)).read() },
            // Another opcode with the same length, another immediate.
            4 => *word = *word & !0xff | value as u32 & 0xff,
            5 => *word = *word & !0xff00 | value as u32 & 0xff00,
            _ => {
                // SAFETY: inside the control memory.
                let entry = unsafe { &mut *entries.add(random.below(4) % entry_count) };
                *entry = if value & 1 == 0 { value } else { *entry ^ 1 << (value >> 1 & 63) };
            }
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let (frames, first) = (arguments.next().unwrap_or(200), arguments.next().unwrap_or(1));
    let seeds = std::env::var_os("NAVIN_SEEDS").is_some();
    let frame = Frame::new();
    let mut longest = (Duration::ZERO, 0);
    for seed in first..first + frames {
        if seeds {
            println!("seed {seed}");
        }
        let recording = frame.record(DRAWS);
        overwrite(&frame, &mut Random(seed));
        let start = Instant::now();
        frame.run(recording);
        let took = start.elapsed();
        longest = longest.max((took, seed));
        assert!(took < LIMIT, "the frame of seed {seed} took {took:?}");
        frame.run(frame.record(DRAWS));
    }
    println!("{frames} overwritten frames; the longest took {:?} (seed {})", longest.0, longest.1);
}
