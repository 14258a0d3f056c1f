//! What a dispatch is told of each region: `Copy` in `shaders/tiling.glsl`, in pieces of 16 bytes.

use ash::vk;
use navin_texture::GobOrder;
use navin_texture::layout::{GOB_BYTES, GOB_HEIGHT, GOB_WIDTH, Storage as Order};

use super::{Part, RowsLayout, Storage, TilingError};

/// Bytes of a piece.
const PIECE: u64 = 16;
/// Rows of threads in a work group, as log2: each takes a GOB at a time.
const ROWS_LOG2: u32 = 3;
/// GOBs below each other that a row of threads takes.
const STEPS: u64 = 4;
/// Words of a `Copy`.
const WORDS: usize = 24;

/// A region on its way through the shaders.
#[derive(Clone, Debug)]
pub(super) struct Job {
    storage: vk::DeviceAddress,
    linear: vk::DeviceAddress,
    groups: [u64; 2],
    /// Slices and layers.
    deep: u64,
    /// From `shape` on.
    words: [u32; WORDS - 7],
}

impl Job {
    /// `address` is that of the storage's range, `rows_at` that of the part's rows.
    pub(super) fn new(
        storage: &Storage<'_>,
        address: vk::DeviceAddress,
        part: &Part,
        rows: &RowsLayout,
        rows_at: vk::DeviceAddress,
    ) -> Result<Self, TilingError> {
        let level = storage.check(part)?;
        let Order::BlockLinear { block_height_log2, block_depth_log2, gob_columns } = level.storage else {
            return Err(TilingError::Misaligned(address));
        };
        let region = &part.region;
        let bytes = u64::from(level.bytes_per_block);
        let (x0, x1) = (u64::from(region.x) * bytes, u64::from(region.x + region.width) * bytes);
        let (y0, y1) = (u64::from(region.y), u64::from(region.y + region.height));
        // Of the piece that the region begins in: rows may begin pieces before it, at a whole texel.
        let linear = rows_at + rows.skip / PIECE * PIECE;
        let first = address + storage.offset(level, part.first_layer);
        for at in [first, linear, storage.layout.layer_size, rows.row] {
            if !at.is_multiple_of(PIECE) {
                return Err(TilingError::Misaligned(at));
            }
        }
        let block = GOB_BYTES << (block_height_log2 + block_depth_log2);
        let block_row = gob_columns * block;
        let block_rows = u64::from(level.rows).div_ceil(GOB_HEIGHT << block_height_log2);
        let columns = x1.div_ceil(GOB_WIDTH) - x0 / GOB_WIDTH;
        let gob_rows = y1.div_ceil(GOB_HEIGHT) - y0 / GOB_HEIGHT / STEPS * STEPS;
        let wide = columns.next_power_of_two().ilog2().min(ROWS_LOG2);
        let down = STEPS << (ROWS_LOG2 - wide);
        let mut words = [0; WORDS - 7];
        let pieces = [
            u64::from(wide) | if storage.order == GobOrder::Successor { 0x100 } else { 0 },
            x0,
            x1,
            y0,
            y1,
            u64::from(region.z),
            u64::from(region.depth),
            u64::from(block_height_log2),
            u64::from(block_depth_log2),
            block_row / PIECE,
            block_rows * block_row / PIECE,
            storage.layout.layer_size / PIECE,
            rows.row / PIECE,
            rows.slice / PIECE,
            rows.layer / PIECE,
        ];
        // The shader's indices have 32 bits, and some compilers take them as signed.
        let reach = (storage.layout.size / PIECE).max(rows.size / PIECE);
        if reach > i32::MAX as u64 {
            return Err(TilingError::Misaligned(reach));
        }
        for (word, value) in words.iter_mut().zip(pieces) {
            *word = value as u32;
        }
        let groups = [columns.div_ceil(1 << wide), gob_rows.div_ceil(down)];
        let deep = u64::from(region.depth) * u64::from(part.layers);
        Ok(Self { storage: first, linear, groups, deep, words })
    }
}

/// The jobs as the shader reads them, and the number of work groups; `None` for more than a dispatch has.
pub(super) fn table(jobs: &[Job]) -> Option<(Vec<u32>, u32)> {
    let mut words = Vec::with_capacity(jobs.len() * WORDS);
    let mut groups = 0u32;
    for job in jobs {
        let split = |value: u64| [value as u32, (value >> 32) as u32];
        words.extend(split(job.storage));
        words.extend(split(job.linear));
        words.extend([groups, job.groups[0] as u32, job.groups[1] as u32]);
        words.extend(job.words);
        groups = groups.checked_add(u32::try_from(job.groups[0] * job.groups[1] * job.deep).ok()?)?;
    }
    (groups < 1 << 30).then_some((words, groups))
}
