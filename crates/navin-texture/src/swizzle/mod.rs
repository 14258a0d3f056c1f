//! CPU copies between rows and the order in which the GPU keeps a level.
//!
//! A level's bytes (found by [`crate::layout`]) are either rows or GOBs in blocks; the other side of a copy is always
//! rows at a pitch the caller gives. Callers are the guest's texel reads and writes, uploads of packaged textures and
//! captures. A copy is checked once as a whole (`span`), then runs of GOBs are copied by the machine's fastest inner
//! loop (`kernel`, B304). A region's cost follows from the region, not from the level around it (B312).
//!
//! The two console generations differ in the order of the 16-byte pieces within a GOB and in nothing else (`order`,
//! B305). [`pick`](self::pick()) takes every n-th block, for stand-ins (B719).

mod kernel;
mod order;
mod pick;
mod span;

use thiserror::Error;

use crate::layout::{LevelLayout, Storage};

pub use kernel::Kernel;
pub use order::GobOrder;
pub use pick::{pick, picked_bytes, picked_extent, picking_step};

use span::{Blocks, Span};

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

/// The bytes of a level, from its first, between which a copy of `region` stays: from its first GOB (of linear storage:
/// byte) to its last. Empty for an empty region; cut to the level.
pub fn touched(level: &LevelLayout, region: &Region) -> std::ops::Range<u64> {
    if region.width == 0 || region.height == 0 || region.depth == 0 {
        return 0..0;
    }
    let blocks = Blocks::new(level);
    let place = |byte: u64, y: u64, z: u64| match (&blocks, level.storage) {
        // Columns count for more than rows of GOBs in the same row of blocks, so corners are the ends.
        (Some(blocks), _) => blocks.gob_row(y as usize / 8, z as usize) as u64 + byte / 64 * blocks.block as u64,
        (None, Storage::Linear { row_stride }) => (z * u64::from(level.rows) + y) * row_stride + byte,
        (None, Storage::BlockLinear { .. }) => 0,
    };
    let unit = if blocks.is_some() { 512 } else { 1 };
    let bytes = u64::from(level.bytes_per_block);
    let end = |from: u32, count: u32| u64::from(from) + u64::from(count);
    let last_byte = (end(region.x, region.width) * bytes).saturating_sub(1);
    let first = place(u64::from(region.x) * bytes, region.y.into(), region.z.into());
    let last = place(last_byte, end(region.y, region.height) - 1, end(region.z, region.depth) - 1);
    first.min(level.size)..(last + unit).min(level.size)
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
    untile_with(Kernel::best(), dst, pitch, src, level, order, region)
}

/// [`untile`] with a given inner loop, to test and compare them; one that the machine lacks counts as
/// [`Kernel::Portable`].
///
/// # Errors
/// As [`untile`].
pub fn untile_with(
    kernel: Kernel,
    dst: &mut [u8],
    pitch: Pitch,
    src: &[u8],
    level: &LevelLayout,
    order: GobOrder,
    region: Region,
) -> Result<(), SwizzleError> {
    let Some(span) = Span::new(level, region, pitch, src.len(), dst.len())? else { return Ok(()) };
    let kernel = if kernel.is_supported() { kernel } else { Kernel::Portable };
    match (level.storage, Blocks::new(level), order) {
        (_, Some(blocks), GobOrder::TegraX1) => span.untile::<false>(kernel, dst, src, &blocks),
        (_, Some(blocks), GobOrder::Successor) => span.untile::<true>(kernel, dst, src, &blocks),
        (Storage::Linear { row_stride }, None, _) => {
            let slice_stride = row_stride as usize * level.rows as usize;
            span.rows(|z, y, at| {
                let from = (z * slice_stride) + y * row_stride as usize + span.x.0;
                dst[at..at + span.bytes()].copy_from_slice(&src[from..from + span.bytes()]);
            });
        }
        (Storage::BlockLinear { .. }, None, _) => {}
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
    tile_with(Kernel::best(), dst, level, order, region, src, pitch)
}

/// [`tile`] with a given inner loop, to test and compare them; one that the machine lacks counts as
/// [`Kernel::Portable`].
///
/// # Errors
/// As [`tile`].
pub fn tile_with(
    kernel: Kernel,
    dst: &mut [u8],
    level: &LevelLayout,
    order: GobOrder,
    region: Region,
    src: &[u8],
    pitch: Pitch,
) -> Result<(), SwizzleError> {
    let Some(span) = Span::new(level, region, pitch, dst.len(), src.len())? else { return Ok(()) };
    let kernel = if kernel.is_supported() { kernel } else { Kernel::Portable };
    match (level.storage, Blocks::new(level), order) {
        (_, Some(blocks), GobOrder::TegraX1) => span.tile::<false>(kernel, dst, src, &blocks),
        (_, Some(blocks), GobOrder::Successor) => span.tile::<true>(kernel, dst, src, &blocks),
        (Storage::Linear { row_stride }, None, _) => {
            let slice_stride = row_stride as usize * level.rows as usize;
            span.rows(|z, y, at| {
                let to = (z * slice_stride) + y * row_stride as usize + span.x.0;
                dst[to..to + span.bytes()].copy_from_slice(&src[at..at + span.bytes()]);
            });
        }
        (Storage::BlockLinear { .. }, None, _) => {}
    }
    Ok(())
}
