//! The inner loops: a row of GOBs to rows of bytes and back.
//!
//! [`super::span`] cuts a region into [`Run`]s of GOBs that are copied over their whole width, and edges. Both sides
//! are raw pointers here, because a bounds check for each 16-byte piece costs more than the copy: the span checked the
//! whole region against both slices before the first run.
//!
//! In both orders, 32 bytes at an even row's place are a 16-byte piece of that row and the same piece of the next
//! row. So two 32-byte loads, two lane exchanges and two 32-byte stores make 32 bytes of two rows, and the same
//! backwards: that is `avx2`. Registers of 16 bytes need no exchange, only the order of loads and stores in which the
//! machine takes them in pairs: that is `neon`. Elsewhere pieces of 16 bytes are copied row by row.

use super::order::Offsets;

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "aarch64")]
pub(super) mod neon;

/// Which inner loop copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Pieces of 16 bytes; every machine.
    Portable,
    /// 32 bytes of two rows at a time, with AVX2.
    Avx2,
    /// 64 bytes of two rows at a time, with NEON, which every aarch64 has.
    Neon,
}

impl Kernel {
    /// The fastest one of this machine.
    #[inline]
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            return Self::Avx2;
        }
        if cfg!(target_arch = "aarch64") { Self::Neon } else { Self::Portable }
    }

    /// Whether this machine can run it.
    pub fn is_supported(self) -> bool {
        self == Self::Portable || Self::best() == self
    }
}

/// GOBs beside each other, of which whole rows are copied.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "hints that only the AVX2 loop takes"))]
pub(super) struct Run {
    /// GOBs across.
    pub columns: usize,
    /// Bytes from a GOB to the one beside it: a block.
    pub stride: usize,
    /// Bytes between rows on the other side.
    pub pitch: usize,
    /// First row within the GOBs, and the one after the last: 0 <= y.0 < y.1 <= 8.
    pub y: (usize, usize),
    /// Whether GOBs are written past the caches: the copy is larger than what stays in them.
    pub stream: bool,
    /// Bytes from a GOB to the one that is fetched while it is copied; 0 for none.
    pub ahead: usize,
}

/// Copies of this many bytes and more write GOBs past the caches. A plain store first reads the line that it
/// overwrites; what no cache will keep is written faster without. Measured with 8 MB on a busy machine: 1.5 to 2
/// times as fast, and slower below 5 MB, where the last-level cache keeps it. Rows are never written so: eight of them
/// at a time with powers of two between them are more than the write buffers hold apart.
pub(super) const STREAM_BYTES: usize = 6 << 20;

/// How many columns ahead GOBs are fetched in a copy of so many bytes. GOBs beside each other lie a block apart, mostly
/// 8 KB: to the machine's own prefetcher each is a new place, and they share their sets of the first-level cache. A
/// fetch so pays where it waits for memory, and costs where the last-level cache answers. Measured on Zen 3, of memcpy's
/// speed: untiling 4 MB 0.85 without, 0.79 and 0.77 two and four columns ahead; 8 MB, with the memory busy, 0.79 to 1.23
/// two columns ahead, 0.94 to 1.34 four.
pub(super) const fn columns_ahead(bytes: usize) -> usize {
    if bytes >= STREAM_BYTES { 4 } else { 0 }
}

/// Copies part of one GOB's row, bytes `x.0` to `x.1` of row `y`, piece by piece: `copy(offset in the GOB, offset from
/// the part's first byte, bytes)`. Whole pieces have a constant size after inlining.
#[inline(always)]
pub(super) fn part<const SUCCESSOR: bool>(x: (usize, usize), y: usize, mut copy: impl FnMut(usize, usize, usize)) {
    let row = Offsets::<SUCCESSOR>::Y[y & 7];
    let mut at = x.0;
    while at < x.1 {
        let end = ((at & !15) + 16).min(x.1);
        let offset = row + Offsets::<SUCCESSOR>::X[at >> 4 & 3] + (at & 15);
        if end - at == 16 {
            copy(offset, at - x.0, 16);
        } else {
            copy(offset, at - x.0, end - at);
        }
        at = end;
    }
}

/// The way that every machine can go.
pub(super) mod portable {
    use super::{Offsets, Run};

    /// Copies a run out of GOBs. `rows` is the first copied byte of row `y.0`.
    ///
    /// # Safety
    /// `gobs` must have `(columns - 1) * stride + 512` readable bytes; `rows` must have, for each copied row `i` from
    /// 0, `columns * 64` writable bytes at `i * pitch`. The two must not overlap.
    #[inline]
    pub unsafe fn untile<const SUCCESSOR: bool>(rows: *mut u8, gobs: *const u8, run: Run) {
        for column in 0..run.columns {
            for y in run.y.0..run.y.1 {
                // SAFETY: inside the run, see the caller's promise; each piece is 16 bytes of both sides.
                unsafe {
                    let from = gobs.add(column * run.stride + Offsets::<SUCCESSOR>::Y[y & 7]);
                    let to = rows.add((y - run.y.0) * run.pitch + column * 64);
                    for (piece, offset) in Offsets::<SUCCESSOR>::X.into_iter().enumerate() {
                        to.add(16 * piece).copy_from_nonoverlapping(from.add(offset), 16);
                    }
                }
            }
        }
    }

    /// Copies a run into GOBs. `rows` is the first copied byte of row `y.0`.
    ///
    /// # Safety
    /// As [`untile`], with reading and writing exchanged.
    #[inline]
    pub unsafe fn tile<const SUCCESSOR: bool>(gobs: *mut u8, rows: *const u8, run: Run) {
        for column in 0..run.columns {
            for y in run.y.0..run.y.1 {
                // SAFETY: inside the run, see the caller's promise; each piece is 16 bytes of both sides.
                unsafe {
                    let to = gobs.add(column * run.stride + Offsets::<SUCCESSOR>::Y[y & 7]);
                    let from = rows.add((y - run.y.0) * run.pitch + column * 64);
                    for (piece, offset) in Offsets::<SUCCESSOR>::X.into_iter().enumerate() {
                        to.add(offset).copy_from_nonoverlapping(from.add(16 * piece), 16);
                    }
                }
            }
        }
    }
}
