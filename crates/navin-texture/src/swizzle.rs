//! CPU copies between rows and the order in which the GPU keeps a level.
//!
//! A level's bytes (found by [`crate::layout`]) are either rows or GOBs in blocks; the other side of a copy is always
//! rows at a pitch the caller gives. Callers are the guest's texel reads and writes, uploads of packaged textures and
//! captures. Slices are checked once a copy; within a GOB, pieces of 16 bytes are copied (B304).
//!
//! The two console generations differ in the order of the 16-byte pieces within a GOB and in nothing else (B305).

use thiserror::Error;

use crate::layout::{GOB_BYTES, GOB_HEIGHT, GOB_WIDTH, LevelLayout, Storage};

/// Order of the 16-byte pieces within a GOB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GobOrder {
    /// Tegra X1: address bits from high to low x5 y2 y1 x4 y0 x3..x0.
    #[default]
    TegraX1,
    /// The successor (NVN2): x5 y2 x4 y1 y0 x3..x0.
    Successor,
}

impl GobOrder {
    /// Byte offset within a GOB of byte `x` (0 to 63) of row `y` (0 to 7).
    pub const fn offset(self, x: usize, y: usize) -> usize {
        let (x4, y1) = match self {
            Self::TegraX1 => (5, 6),
            Self::Successor => (6, 5),
        };
        ((x >> 5 & 1) << 8)
            | ((y >> 2 & 1) << 7)
            | ((x >> 4 & 1) << x4)
            | ((y >> 1 & 1) << y1)
            | ((y & 1) << 4)
            | (x & 15)
    }
}

/// A box of a level, in format blocks (texels of uncompressed formats).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// First column.
    pub x: u32,
    /// First row.
    pub y: u32,
    /// First slice.
    pub z: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Slices.
    pub depth: u32,
}

impl Region {
    /// The whole level.
    pub const fn whole(level: &LevelLayout) -> Self {
        Self { x: 0, y: 0, z: 0, width: level.columns, height: level.rows, depth: level.slices }
    }
}

/// Why nothing was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SwizzleError {
    /// The region leaves the level.
    #[error("{0:?} is not inside the level")]
    Region(Region),
    /// The slice with the level's bytes is shorter than the level.
    #[error("{have} bytes where the level has {want}")]
    Level {
        /// Bytes given.
        have: u64,
        /// Bytes of the level.
        want: u64,
    },
    /// The slice with rows is shorter than the region at the given pitches.
    #[error("{have} bytes of rows where the region takes {want}")]
    Rows {
        /// Bytes given.
        have: u64,
        /// Bytes needed.
        want: u64,
    },
    /// A pitch smaller than what it is to hold, so that rows or slices would overlap.
    #[error("pitch of {have} bytes for {want}")]
    Pitch {
        /// Pitch given.
        have: u64,
        /// Bytes of a row or slice.
        want: u64,
    },
}

/// Where rows lie on the side of a copy that is not the texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pitch {
    /// Bytes from one row of blocks to the next.
    pub row: usize,
    /// Bytes from one slice to the next.
    pub slice: usize,
}

impl Pitch {
    /// Rows and slices of `region` without padding.
    pub const fn packed(level: &LevelLayout, region: &Region) -> Self {
        let row = region.width as usize * level.bytes_per_block as usize;
        Self { row, slice: row.saturating_mul(region.height as usize) }
    }
}

/// Copies `region` of a level out of the texture: `src` (the level's bytes, from its first) to rows in `dst`.
///
/// # Errors
/// If the region leaves the level or a slice is too short; then nothing is written.
pub fn untile(
    dst: &mut [u8],
    pitch: Pitch,
    src: &[u8],
    level: &LevelLayout,
    order: GobOrder,
    region: Region,
) -> Result<(), SwizzleError> {
    let Some(span) = Span::new(level, region, pitch, src.len(), dst.len())? else { return Ok(()) };
    match (level.storage, order) {
        (Storage::Linear { row_stride }, _) => {
            let slice_stride = row_stride as usize * level.rows as usize;
            span.rows(|z, y, at| {
                let from = (z * slice_stride) + y * row_stride as usize + span.x.0;
                dst[at..at + span.bytes()].copy_from_slice(&src[from..from + span.bytes()]);
            });
        }
        (Storage::BlockLinear { .. }, GobOrder::TegraX1) => untile_blocks::<false>(dst, src, level, &span),
        (Storage::BlockLinear { .. }, GobOrder::Successor) => untile_blocks::<true>(dst, src, level, &span),
    }
    Ok(())
}

/// Copies rows in `src` into `region` of a level: `dst` is the level's bytes, from its first. Bytes of the level
/// outside the region, its padding among them, are left alone.
///
/// # Errors
/// If the region leaves the level or a slice is too short; then nothing is written.
pub fn tile(
    dst: &mut [u8],
    level: &LevelLayout,
    order: GobOrder,
    region: Region,
    src: &[u8],
    pitch: Pitch,
) -> Result<(), SwizzleError> {
    let Some(span) = Span::new(level, region, pitch, dst.len(), src.len())? else { return Ok(()) };
    match (level.storage, order) {
        (Storage::Linear { row_stride }, _) => {
            let slice_stride = row_stride as usize * level.rows as usize;
            span.rows(|z, y, at| {
                let to = (z * slice_stride) + y * row_stride as usize + span.x.0;
                dst[to..to + span.bytes()].copy_from_slice(&src[at..at + span.bytes()]);
            });
        }
        (Storage::BlockLinear { .. }, GobOrder::TegraX1) => tile_blocks::<false>(dst, level, src, &span),
        (Storage::BlockLinear { .. }, GobOrder::Successor) => tile_blocks::<true>(dst, level, src, &span),
    }
    Ok(())
}

/// A checked region: bytes across, rows down, slices deep, and where its rows lie on the other side.
struct Span {
    /// First byte of a row of the level, and the one after the last.
    x: (usize, usize),
    y: (usize, usize),
    z: (usize, usize),
    pitch: Pitch,
}

impl Span {
    /// Checks everything once; none for an empty region.
    fn new(
        level: &LevelLayout,
        region: Region,
        pitch: Pitch,
        level_bytes: usize,
        row_bytes: usize,
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
        if (level_bytes as u64) < level.size {
            return Err(SwizzleError::Level { have: level_bytes as u64, want: level.size });
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
        if (row_bytes as u128) < slices {
            return Err(SwizzleError::Rows { have: row_bytes as u64, want: clip(slices) });
        }
        Ok(Some(Self { x: (x.0 * block, x.1 * block), y, z, pitch }))
    }

    /// Bytes of a row.
    fn bytes(&self) -> usize {
        self.x.1 - self.x.0
    }

    /// Calls `copy(slice, row, offset of that row on the other side)` for each row.
    fn rows(&self, mut copy: impl FnMut(usize, usize, usize)) {
        for z in self.z.0..self.z.1 {
            for y in self.y.0..self.y.1 {
                copy(z, y, (z - self.z.0) * self.pitch.slice + (y - self.y.0) * self.pitch.row);
            }
        }
    }

    /// Calls `copy` for each GOB that the region touches, block after block in the order of the level's bytes.
    #[inline(always)]
    fn gobs(&self, level: &LevelLayout, mut copy: impl FnMut(Gob)) {
        let Storage::BlockLinear { block_height_log2, block_depth_log2, gob_columns } = level.storage else { return };
        const GOB: usize = GOB_BYTES as usize;
        const WIDE: usize = GOB_WIDTH as usize;
        const HIGH: usize = GOB_HEIGHT as usize;
        let columns = gob_columns as usize;
        let height = 1usize << block_height_log2;
        let depth = 1usize << block_depth_log2;
        let block_bytes = GOB << (block_height_log2 + block_depth_log2);
        let block_rows = (level.rows as usize).div_ceil(HIGH).div_ceil(height);
        for z in self.z.0..self.z.1 {
            let slice = (z >> block_depth_log2) * block_rows * columns * block_bytes + (z & (depth - 1)) * height * GOB;
            let to_slice = (z - self.z.0) * self.pitch.slice;
            for gob_row in self.y.0 / HIGH..self.y.1.div_ceil(HIGH) {
                let row =
                    slice + (gob_row >> block_height_log2) * columns * block_bytes + (gob_row & (height - 1)) * GOB;
                let (y0, y1) = (self.y.0.max(gob_row * HIGH), self.y.1.min(gob_row * HIGH + HIGH));
                let to_row = to_slice + (y0 - self.y.0) * self.pitch.row;
                for column in self.x.0 / WIDE..self.x.1.div_ceil(WIDE) {
                    let (x0, x1) = (self.x.0.max(column * WIDE), self.x.1.min(column * WIDE + WIDE));
                    copy(Gob {
                        at: row + column * block_bytes,
                        other: to_row + (x0 - self.x.0),
                        x: (x0 - column * WIDE, x1 - column * WIDE),
                        y: (y0 - gob_row * HIGH, y1 - gob_row * HIGH),
                    });
                }
            }
        }
    }
}

/// The part of a GOB that a copy touches.
struct Gob {
    /// Offset of the GOB in the level.
    at: usize,
    /// Offset of the part's first byte on the other side.
    other: usize,
    /// Bytes across within the GOB.
    x: (usize, usize),
    /// Rows within the GOB.
    y: (usize, usize),
}

impl Gob {
    const fn is_whole(&self) -> bool {
        self.x.0 == 0 && self.x.1 == 64 && self.y.0 == 0 && self.y.1 == 8
    }

    /// Calls `copy(offset in the GOB, offset on the other side, bytes)` for each piece of at most 16 bytes.
    fn pieces(&self, order: GobOrder, row_pitch: usize, mut copy: impl FnMut(usize, usize, usize)) {
        for y in self.y.0..self.y.1 {
            let mut x = self.x.0;
            while x < self.x.1 {
                let end = ((x & !15) + 16).min(self.x.1);
                copy(order.offset(x, y), self.other + (y - self.y.0) * row_pitch + (x - self.x.0), end - x);
                x = end;
            }
        }
    }
}

/// Offsets of the four pieces of each row of a GOB.
const fn pieces(successor: bool) -> [[usize; 4]; 8] {
    let order = if successor { GobOrder::Successor } else { GobOrder::TegraX1 };
    let mut table = [[0; 4]; 8];
    let mut i = 0;
    while i < 32 {
        table[i / 4][i % 4] = order.offset(16 * (i % 4), i / 4);
        i += 1;
    }
    table
}

/// The two tables, by generation, as a type's constant so that the inner loop has no table at all.
struct Pieces<const SUCCESSOR: bool>;

impl<const SUCCESSOR: bool> Pieces<SUCCESSOR> {
    const TABLE: [[usize; 4]; 8] = pieces(SUCCESSOR);
    const ORDER: GobOrder = if SUCCESSOR { GobOrder::Successor } else { GobOrder::TegraX1 };
}

fn untile_blocks<const SUCCESSOR: bool>(dst: &mut [u8], src: &[u8], level: &LevelLayout, span: &Span) {
    let pitch = span.pitch.row;
    span.gobs(level, |gob| {
        let from = &src[gob.at..gob.at + GOB_BYTES as usize];
        if gob.is_whole() {
            let to = &mut dst[gob.other..];
            for (y, offsets) in Pieces::<SUCCESSOR>::TABLE.iter().enumerate() {
                let row = &mut to[y * pitch..][..64];
                for (piece, offset) in offsets.iter().enumerate() {
                    row[16 * piece..16 * piece + 16].copy_from_slice(&from[*offset..*offset + 16]);
                }
            }
        } else {
            gob.pieces(Pieces::<SUCCESSOR>::ORDER, pitch, |a, b, n| {
                dst[b..b + n].copy_from_slice(&from[a..a + n]);
            });
        }
    });
}

fn tile_blocks<const SUCCESSOR: bool>(dst: &mut [u8], level: &LevelLayout, src: &[u8], span: &Span) {
    let pitch = span.pitch.row;
    span.gobs(level, |gob| {
        let to = &mut dst[gob.at..gob.at + GOB_BYTES as usize];
        if gob.is_whole() {
            let from = &src[gob.other..];
            for (y, offsets) in Pieces::<SUCCESSOR>::TABLE.iter().enumerate() {
                let row = &from[y * pitch..][..64];
                for (piece, offset) in offsets.iter().enumerate() {
                    to[*offset..*offset + 16].copy_from_slice(&row[16 * piece..16 * piece + 16]);
                }
            }
        } else {
            gob.pieces(Pieces::<SUCCESSOR>::ORDER, pitch, |a, b, n| {
                to[a..a + n].copy_from_slice(&src[b..b + n]);
            });
        }
    });
}
