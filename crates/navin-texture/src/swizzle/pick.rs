//! Thinning a level out: every n-th block of every n-th row of blocks.
//!
//! A stand-in for a texture that is still being fetched shows the texture's own colours (B719). Blocks are taken as
//! they are, so block-compressed formats need no decoder, and only the picked blocks' bytes are read.

use super::span::{Blocks, level_bytes};
use super::{GobOrder, SwizzleError};
use crate::layout::{LevelLayout, Storage};

/// What [`pick`] makes of a level: columns, rows, slices.
pub const fn picked_extent(level: &LevelLayout, step: u32) -> [u32; 3] {
    let step = if step == 0 { 1 } else { step };
    [level.columns.div_ceil(step), level.rows.div_ceil(step), level.slices.div_ceil(step)]
}

/// Bytes that [`pick`] makes of a level.
pub const fn picked_bytes(level: &LevelLayout, step: u32) -> u64 {
    let [columns, rows, slices] = picked_extent(level, step);
    columns as u64 * rows as u64 * slices as u64 * level.bytes_per_block as u64
}

/// The smallest step with which a level is picked into no more than `limit` bytes; a limit below one block gives the
/// step that leaves one block.
pub fn picking_step(level: &LevelLayout, limit: u64) -> u32 {
    let most = level.columns.max(level.rows).max(level.slices).max(1);
    // Sizes fall as the step grows: bisect.
    let (mut low, mut high) = (1, most);
    while low < high {
        let middle = low + (high - low) / 2;
        if picked_bytes(level, middle) <= limit {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Copies every `step`-th block in every `step`-th row (and slice) of a level to packed rows in `dst`. A step of 0
/// counts as 1.
///
/// # Errors
/// If `src` is shorter than the level or `dst` than [`picked_bytes`]; then nothing is written.
pub fn pick(dst: &mut [u8], src: &[u8], level: &LevelLayout, order: GobOrder, step: u32) -> Result<(), SwizzleError> {
    let want = level_bytes(level).unwrap_or(u64::MAX);
    if (src.len() as u64) < want {
        return Err(SwizzleError::Level { have: src.len() as u64, want });
    }
    let want = picked_bytes(level, step);
    if (dst.len() as u64) < want {
        return Err(SwizzleError::Rows { have: dst.len() as u64, want });
    }
    let step = step.max(1) as usize;
    let bytes = level.bytes_per_block as usize;
    let mut blocks_out = dst.chunks_exact_mut(bytes.max(1));
    let blocks = Blocks::new(level);
    for z in (0..level.slices as usize).step_by(step) {
        for y in (0..level.rows as usize).step_by(step) {
            for (x, out) in (0..level.columns as usize).step_by(step).zip(&mut blocks_out) {
                let x = x * bytes;
                match (&blocks, level.storage) {
                    (Some(blocks), _) => {
                        let row = blocks.gob_row(y / 8, z);
                        let mut done = 0;
                        // Blocks of 3, 6 and 12 bytes may lie across two pieces.
                        while done < bytes {
                            let at = x + done;
                            let n = (16 - at % 16).min(bytes - done);
                            let from = row + at / 64 * blocks.block + order.offset(at % 64, y % 8);
                            out[done..done + n].copy_from_slice(&src[from..from + n]);
                            done += n;
                        }
                    }
                    (None, Storage::Linear { row_stride }) => {
                        let from = (z * level.rows as usize + y) * row_stride as usize + x;
                        out.copy_from_slice(&src[from..from + bytes]);
                    }
                    (None, Storage::BlockLinear { .. }) => {}
                }
            }
        }
    }
    Ok(())
}
