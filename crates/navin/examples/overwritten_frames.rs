//! Frames whose command and control memory is overwritten at random before they are submitted, through the entry
//! points and a Vulkan device: every one ends, in fault lines and skipped pieces (B225). A frame that is whole runs
//! after each. Fault lines are not shown unless `RUST_LOG` asks for them.
//!
//! Usage: `overwritten_frames [FRAMES [FIRST]]` (200, from seed 1). The seed of a frame that crashes or hangs is the
//! last one printed with `SEEDS=1`.

mod frame;

use std::time::{Duration, Instant};

use frame::Frame;
use navin_command::record::{Header, ROWS};

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

/// Fills the recording's memory with records of every kind: whole ones, whose words are garbage, small numbers, or
/// words that the recording had (addresses, serials, handles).
fn fill(frame: &Frame, random: &mut Random) {
    let (words, count, ..) = frame.words();
    // SAFETY: the command memory that the recording used.
    let words = unsafe { std::slice::from_raw_parts_mut(words, count) };
    let before = words.to_vec();
    // The first part stays, so that targets and programs are bound.
    let mut at = [0, 48, 96][random.below(3)].min(count);
    while at < count {
        let row = ROWS[random.below(ROWS.len())];
        let most = row.max_tail.min(row.min_tail + 4);
        let run = row.min_tail + random.below(most - row.min_tail + 1);
        let length = (row.head_bytes + run * row.tail_bytes) / 4;
        let Some(record) = words.get_mut(at..at + length) else { break };
        record[0] = Header::new(row.opcode, random.next() as u8, length as u16).word();
        for word in &mut record[1..] {
            *word = match random.below(8) {
                0 => random.next() as u32,
                1 => (random.next() as f32 / u64::MAX as f32 * 128.0).to_bits(),
                2..4 => random.below(66) as u32,
                _ => before[random.below(count)],
            };
        }
        at += length;
    }
    words[at.min(count - 1)..].fill(0);
}

/// Runs so many frames from a seed on; the longest one's time and seed.
///
/// # Panics
/// One of them hangs.
pub fn run(frames: u64, first: u64) -> (Duration, u64) {
    let seeds = std::env::var_os("SEEDS").is_some();
    let frame = Frame::new();
    let mut longest = (Duration::ZERO, 0);
    for seed in first..first + frames {
        if seeds {
            println!("seed {seed}");
        }
        let recording = frame.record(DRAWS);
        let mut random = Random(seed);
        if random.below(2) == 0 {
            fill(&frame, &mut random);
        } else {
            overwrite(&frame, &mut random);
        }
        let start = Instant::now();
        frame.run(recording);
        let took = start.elapsed();
        longest = longest.max((took, seed));
        assert!(took < LIMIT, "the frame of seed {seed} took {took:?}");
        frame.run(frame.record(DRAWS));
    }
    longest
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let (frames, first) = (arguments.next().unwrap_or(200), arguments.next().unwrap_or(1));
    let (longest, seed) = run(frames, first);
    println!("{frames} overwritten frames; the longest took {longest:?} (seed {seed})");
}
