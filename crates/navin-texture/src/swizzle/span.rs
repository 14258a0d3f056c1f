//! A checked region of a level, and how its GOBs are walked.

use super::kernel::{self, Kernel, Run};
use super::{Pitch, Region, SwizzleError};
use crate::layout::{GOB_BYTES, GOB_HEIGHT, GOB_WIDTH, LevelLayout, Storage};

const GOB: usize = GOB_BYTES as usize;
const WIDE: usize = GOB_WIDTH as usize;
const HIGH: usize = GOB_HEIGHT as usize;

/// Where the GOBs of a level lie, in shifts and products computed once.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    height_log2: u8,
    depth_log2: u8,
    /// Bytes of a block.
    pub block: usize,
    /// Bytes of a row of blocks.
    block_row: usize,
    /// Bytes of a slice of blocks.
    block_slice: usize,
}

impl Blocks {
    /// None for linear storage.
    pub fn new(level: &LevelLayout) -> Option<Self> {
        let Storage::BlockLinear { block_height_log2, block_depth_log2, gob_columns } = level.storage else {
            return None;
        };
        let block = GOB << (block_height_log2 + block_depth_log2);
        let block_row = gob_columns as usize * block;
        let block_rows = (level.rows as usize).div_ceil(HIGH << block_height_log2);
        Some(Self {
            height_log2: block_height_log2,
            depth_log2: block_depth_log2,
            block,
            block_row,
            block_slice: block_rows * block_row,
        })
    }

    /// Offset of the first GOB of a row of GOBs in slice `z`.
    #[inline]
    pub fn gob_row(&self, gob_row: usize, z: usize) -> usize {
        let height = 1 << self.height_log2;
        let depth = 1 << self.depth_log2;
        (z >> self.depth_log2) * self.block_slice
            + (z & (depth - 1)) * height * GOB
            + (gob_row >> self.height_log2) * self.block_row
            + (gob_row & (height - 1)) * GOB
    }
}

/// Bytes that a level's description leads to, at most; none where the description contradicts itself, so that copies
/// would leave it.
pub(super) fn level_bytes(level: &LevelLayout) -> Option<u64> {
    let row = u128::from(level.columns) * u128::from(level.bytes_per_block);
    let bytes = match level.storage {
        Storage::Linear { row_stride } => {
            let rows = u128::from(level.rows) * u128::from(level.slices);
            if rows == 0 { 0 } else { (rows - 1) * u128::from(row_stride) + row }
        }
        Storage::BlockLinear { block_height_log2, block_depth_log2, gob_columns } => {
            if block_height_log2 > 16 || block_depth_log2 > 16 || u128::from(gob_columns) * 64 < row {
                return None;
            }
            let gob_rows = u128::from(level.rows.div_ceil(HIGH as u32)).next_multiple_of(1 << block_height_log2);
            let slices = u128::from(level.slices).next_multiple_of(1 << block_depth_log2);
            u128::from(gob_columns) * gob_rows * slices * GOB as u128
        }
    };
    u64::try_from(bytes).ok()
}

/// A checked region: bytes across, rows down, slices deep, and where its rows lie on the other side.
pub(super) struct Span {
    /// First byte of a row of the level, and the one after the last.
    pub x: (usize, usize),
    pub y: (usize, usize),
    pub z: (usize, usize),
    pub pitch: Pitch,
}

impl Span {
    /// Checks everything once, so that no copy inside the span can leave the level's `level_bytes` or the other
    /// side's `row_bytes`; none for an empty region.
    pub fn new(
        level: &LevelLayout,
        region: Region,
        pitch: Pitch,
        have_level: usize,
        have_rows: usize,
    ) -> Result<Option<Self>, SwizzleError> {
        let range = |from: u32, count: u32, limit: u32| {
            let end = from.checked_add(count).filter(|end| *end <= limit).ok_or(SwizzleError::Region(region))?;
            Ok((from as usize, end as usize))
        };
        let (x, y, z) = (
            range(region.x, region.width, level.columns)?,
            range(region.y, region.height, level.rows)?,
            range(region.z, region.depth, level.slices)?,
        );
        if region.width == 0 || region.height == 0 || region.depth == 0 {
            return Ok(None);
        }
        let want = level_bytes(level).unwrap_or(u64::MAX);
        if (have_level as u64) < want {
            return Err(SwizzleError::Level { have: have_level as u64, want });
        }
        // 128 bits: pitches are the guest's, and products of three numbers must not wrap.
        let block = level.bytes_per_block as usize;
        let row = u128::from(region.width) * block as u128;
        let rows = u128::from(region.height - 1) * pitch.row as u128 + row;
        let slices = u128::from(region.depth - 1) * pitch.slice as u128 + rows;
        let clip = |n: u128| u64::try_from(n).unwrap_or(u64::MAX);
        if region.height > 1 && (pitch.row as u128) < row {
            return Err(SwizzleError::Pitch { have: pitch.row as u64, want: clip(row) });
        }
        if region.depth > 1 && (pitch.slice as u128) < rows {
            return Err(SwizzleError::Pitch { have: pitch.slice as u64, want: clip(rows) });
        }
        if (have_rows as u128) < slices {
            return Err(SwizzleError::Rows { have: have_rows as u64, want: clip(slices) });
        }
        Ok(Some(Self { x: (x.0 * block, x.1 * block), y, z, pitch }))
    }

    /// Bytes of a row.
    pub fn bytes(&self) -> usize {
        self.x.1 - self.x.0
    }

    /// Calls `copy(slice, row, offset of that row on the other side)` for each row.
    pub fn rows(&self, mut copy: impl FnMut(usize, usize, usize)) {
        for z in self.z.0..self.z.1 {
            for y in self.y.0..self.y.1 {
                copy(z, y, (z - self.z.0) * self.pitch.slice + (y - self.y.0) * self.pitch.row);
            }
        }
    }

    /// Calls `runs` for each row of whole GOBs and `edge` for what is left of one GOB at a side, in the order of the
    /// rows on the other side.
    #[inline(always)]
    fn gob_rows(&self, blocks: &Blocks, mut run: impl FnMut(usize, usize, Run), mut edge: impl FnMut(Edge)) {
        // Bytes before the first whole GOB, and the columns of whole ones.
        let bytes = self.bytes() * (self.y.1 - self.y.0) * (self.z.1 - self.z.0);
        let stream = bytes >= kernel::STREAM_BYTES;
        let ahead = blocks.block * kernel::columns_ahead(bytes);
        let first = self.x.0.next_multiple_of(WIDE);
        let last = self.x.1 / WIDE * WIDE;
        for z in self.z.0..self.z.1 {
            let to_slice = (z - self.z.0) * self.pitch.slice;
            for gob_row in self.y.0 / HIGH..self.y.1.div_ceil(HIGH) {
                let at = blocks.gob_row(gob_row, z);
                let top = gob_row * HIGH;
                let (y0, y1) = (self.y.0.max(top), self.y.1.min(top + HIGH));
                let other = to_slice + (y0 - self.y.0) * self.pitch.row;
                let y = (y0 - top, y1 - top);
                let gob = |x: usize| at + x / WIDE * blocks.block;
                if first > last {
                    // Within one GOB.
                    let x = (self.x.0 % WIDE, self.x.1 - (first - WIDE));
                    edge(Edge { gob: gob(self.x.0), other, x, y });
                    continue;
                }
                if self.x.0 < first {
                    edge(Edge { gob: gob(self.x.0), other, x: (self.x.0 % WIDE, WIDE), y });
                }
                if first < last {
                    let columns = (last - first) / WIDE;
                    let run_of = Run { columns, stride: blocks.block, pitch: self.pitch.row, y, stream, ahead };
                    run(gob(first), other + (first - self.x.0), run_of);
                }
                if last < self.x.1 {
                    edge(Edge { gob: gob(last), other: other + (last - self.x.0), x: (0, self.x.1 - last), y });
                }
            }
        }
    }

    /// Copies the span out of GOBs.
    pub fn untile<const SUCCESSOR: bool>(&self, kernel: Kernel, dst: &mut [u8], src: &[u8], blocks: &Blocks) {
        let (rows, gobs) = (dst.as_mut_ptr(), src.as_ptr());
        // SAFETY: `Span::new` checked that all GOBs of the region are in `src` and all its rows in `dst`; the machine
        // has AVX2 where the caller says so (`Kernel::is_supported`).
        unsafe {
            match kernel {
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx2 => self.untile_avx2::<SUCCESSOR>(rows, gobs, blocks),
                #[cfg(target_arch = "aarch64")]
                Kernel::Neon => self.untile_by::<SUCCESSOR>(rows, gobs, blocks, |rows, gobs, run| {
                    kernel::neon::untile::<SUCCESSOR>(rows, gobs, run);
                }),
                _ => self.untile_by::<SUCCESSOR>(rows, gobs, blocks, |rows, gobs, run| {
                    kernel::portable::untile::<SUCCESSOR>(rows, gobs, run);
                }),
            }
        }
    }

    /// Copies the span into GOBs.
    pub fn tile<const SUCCESSOR: bool>(&self, kernel: Kernel, dst: &mut [u8], src: &[u8], blocks: &Blocks) {
        let (gobs, rows) = (dst.as_mut_ptr(), src.as_ptr());
        // SAFETY: as in `untile`, with `src` and `dst` exchanged.
        unsafe {
            match kernel {
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx2 => self.tile_avx2::<SUCCESSOR>(gobs, rows, blocks),
                #[cfg(target_arch = "aarch64")]
                Kernel::Neon => self.tile_by::<SUCCESSOR>(gobs, rows, blocks, |gobs, rows, run| {
                    kernel::neon::tile::<SUCCESSOR>(gobs, rows, run);
                }),
                _ => self.tile_by::<SUCCESSOR>(gobs, rows, blocks, |gobs, rows, run| {
                    kernel::portable::tile::<SUCCESSOR>(gobs, rows, run);
                }),
            }
        }
    }

    /// The walk and the inner loop as one function with AVX2, so that short runs cost no calls.
    ///
    /// # Safety
    /// As [`Span::untile_by`], on a machine with AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn untile_avx2<const SUCCESSOR: bool>(&self, rows: *mut u8, gobs: *const u8, blocks: &Blocks) {
        // SAFETY: the caller's promise.
        unsafe {
            self.untile_by::<SUCCESSOR>(rows, gobs, blocks, |rows, gobs, run| {
                kernel::avx2::untile::<SUCCESSOR>(rows, gobs, run);
            });
        }
    }

    /// As [`Span::untile_avx2`].
    ///
    /// # Safety
    /// As [`Span::tile_by`], on a machine with AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn tile_avx2<const SUCCESSOR: bool>(&self, gobs: *mut u8, rows: *const u8, blocks: &Blocks) {
        // SAFETY: the caller's promise.
        unsafe {
            self.tile_by::<SUCCESSOR>(gobs, rows, blocks, |gobs, rows, run| {
                kernel::avx2::tile::<SUCCESSOR>(gobs, rows, run);
            });
        }
    }

    /// Copies the span out of GOBs, runs by `copy`.
    ///
    /// # Safety
    /// All GOBs of the span must be readable from `gobs` on, and all its rows writable from `rows` on.
    #[inline(always)]
    unsafe fn untile_by<const SUCCESSOR: bool>(
        &self,
        rows: *mut u8,
        gobs: *const u8,
        blocks: &Blocks,
        copy: impl Fn(*mut u8, *const u8, Run),
    ) {
        self.gob_rows(
            blocks,
            // SAFETY: the caller's promise; the walk stays inside the span.
            |gob, other, run| unsafe { copy(rows.add(other), gobs.add(gob), run) },
            |edge| {
                for y in edge.y.0..edge.y.1 {
                    let other = edge.other + (y - edge.y.0) * self.pitch.row;
                    kernel::part::<SUCCESSOR>(edge.x, y, |a, b, n| {
                        // SAFETY: as above; `part` stays inside the GOB and inside the row's bytes.
                        unsafe { rows.add(other + b).copy_from_nonoverlapping(gobs.add(edge.gob + a), n) };
                    });
                }
            },
        );
    }

    /// Copies the span into GOBs, runs by `copy`.
    ///
    /// # Safety
    /// All GOBs of the span must be writable from `gobs` on, and all its rows readable from `rows` on.
    #[inline(always)]
    unsafe fn tile_by<const SUCCESSOR: bool>(
        &self,
        gobs: *mut u8,
        rows: *const u8,
        blocks: &Blocks,
        copy: impl Fn(*mut u8, *const u8, Run),
    ) {
        self.gob_rows(
            blocks,
            // SAFETY: the caller's promise; the walk stays inside the span.
            |gob, other, run| unsafe { copy(gobs.add(gob), rows.add(other), run) },
            |edge| {
                for y in edge.y.0..edge.y.1 {
                    let other = edge.other + (y - edge.y.0) * self.pitch.row;
                    kernel::part::<SUCCESSOR>(edge.x, y, |a, b, n| {
                        // SAFETY: as above; `part` stays inside the GOB and inside the row's bytes.
                        unsafe { gobs.add(edge.gob + a).copy_from_nonoverlapping(rows.add(other + b), n) };
                    });
                }
            },
        );
    }
}

/// The part of one GOB that a copy touches where it does not take the whole width.
struct Edge {
    /// Offset of the GOB in the level.
    gob: usize,
    /// Offset of the part's first byte on the other side.
    other: usize,
    /// Bytes across within the GOB.
    x: (usize, usize),
    /// Rows within the GOB.
    y: (usize, usize),
}
