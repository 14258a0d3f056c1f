//! 64 bytes of two rows at a time, with NEON: four pairs of registers out of a GOB, in each of which the first is a piece
//! of the even row and the second the same piece of the odd one, and four registers of each row.

use std::arch::aarch64::{uint8x16x2_t, uint8x16x4_t, vld1q_u8_x2, vld1q_u8_x4, vst1q_u8_x2, vst1q_u8_x4};

use super::{Offsets, Run, portable};

/// As [`portable::untile`].
///
/// # Safety
/// As there.
#[inline]
pub unsafe fn untile<const SUCCESSOR: bool>(rows: *mut u8, gobs: *const u8, run: Run) {
    if run.y != (0, 8) {
        // SAFETY: the caller's promise.
        unsafe { portable::untile::<SUCCESSOR>(rows, gobs, run) };
        return;
    }
    let [x0, x1, x2, x3] = Offsets::<SUCCESSOR>::X;
    for column in 0..run.columns {
        for y in [0, 2, 4, 6] {
            // SAFETY: inside the run, see the caller's promise: row and piece offsets of an even row are at most 480,
            // and 32 bytes at each are inside the GOB.
            unsafe {
                let from = gobs.add(column * run.stride + Offsets::<SUCCESSOR>::Y[y]);
                let to = rows.add(y * run.pitch + column * 64);
                let uint8x16x2_t(a, odd_a) = vld1q_u8_x2(from.add(x0));
                let uint8x16x2_t(b, odd_b) = vld1q_u8_x2(from.add(x1));
                let uint8x16x2_t(c, odd_c) = vld1q_u8_x2(from.add(x2));
                let uint8x16x2_t(d, odd_d) = vld1q_u8_x2(from.add(x3));
                vst1q_u8_x4(to, uint8x16x4_t(a, b, c, d));
                vst1q_u8_x4(to.add(run.pitch), uint8x16x4_t(odd_a, odd_b, odd_c, odd_d));
            }
        }
    }
}

/// As [`portable::tile`].
///
/// # Safety
/// As there.
#[inline]
pub unsafe fn tile<const SUCCESSOR: bool>(gobs: *mut u8, rows: *const u8, run: Run) {
    if run.y != (0, 8) {
        // SAFETY: the caller's promise.
        unsafe { portable::tile::<SUCCESSOR>(gobs, rows, run) };
        return;
    }
    let [x0, x1, x2, x3] = Offsets::<SUCCESSOR>::X;
    for column in 0..run.columns {
        for y in [0, 2, 4, 6] {
            // SAFETY: as in `untile`.
            unsafe {
                let to = gobs.add(column * run.stride + Offsets::<SUCCESSOR>::Y[y]);
                let from = rows.add(y * run.pitch + column * 64);
                let uint8x16x4_t(a, b, c, d) = vld1q_u8_x4(from);
                let uint8x16x4_t(odd_a, odd_b, odd_c, odd_d) = vld1q_u8_x4(from.add(run.pitch));
                vst1q_u8_x2(to.add(x0), uint8x16x2_t(a, odd_a));
                vst1q_u8_x2(to.add(x1), uint8x16x2_t(b, odd_b));
                vst1q_u8_x2(to.add(x2), uint8x16x2_t(c, odd_c));
                vst1q_u8_x2(to.add(x3), uint8x16x2_t(d, odd_d));
            }
        }
    }
}
