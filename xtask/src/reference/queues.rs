//! `clients/queues.c`: 8 by 4 cells that show texels of the newest frame whose result the guest has checked, the one
//! three before. A texel is a hash of the frame's numbers, made by a compute program, with a colour added to it.

use anyhow::{Result, ensure};

use super::{apart, hash, rgb};
use crate::pictures::Picture;

const COLUMNS: usize = 8;
const ROWS: usize = 4;
/// Frames from a frame's submission to the picture of its result.
const BEHIND: u64 = 3;
/// A picture's channel is a byte of the result, but for rounding on the way through a clear.
const TOLERANCE: f64 = 1.0;

/// The first word that the compute program makes of an item whose first word is `h`.
fn first_word(mut h: u32) -> u32 {
    h ^= h >> 15;
    h = h.wrapping_mul(0x2C1B_3C6D);
    h ^= h >> 12;
    h = h.wrapping_mul(0x297A_2D39);
    h ^ h >> 15
}

/// The colour of a cell.
fn cell(frame: u32, index: u32) -> [f64; 3] {
    // A cell shows every sixteenth texel, which is the first word of every second item; an item has four words.
    let bytes = first_word(hash(frame, index * 2 * 4)).to_le_bytes();
    [0, 1, 2].map(|c| {
        let added = hash(frame, 77 + c as u32) % 200;
        f64::from((u32::from(bytes[c]) + added).min(255))
    })
}

pub fn check(frame: u64, picture: &Picture) -> Result<String> {
    ensure!(frame >= BEHIND, "the first frames show nothing");
    let checked = (frame - BEHIND) as u32;
    let (width, height) = (picture.width as usize / COLUMNS, picture.height as usize / ROWS);
    for index in 0..COLUMNS * ROWS {
        let (column, row) = (index % COLUMNS, index / COLUMNS);
        // The window's origin is its lower left corner.
        let (x, y) = (column * width + width / 2, picture.height as usize - 1 - (row * height + height / 2));
        let (got, expected) = (rgb(picture, x, y), cell(checked, index as u32));
        ensure!(apart(got, expected) <= TOLERANCE, "cell {index}: {got:?} instead of {expected:?}");
    }
    Ok(format!("{} cells", COLUMNS * ROWS))
}
