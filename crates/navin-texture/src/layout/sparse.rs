//! Sparse textures piece by piece: a tile of a level, and the tail behind the tiled levels (B117, B120).
//!
//! A tile is 64 KB of one row of blocks, so that it can be copied alone, by the same copies as a level: a mapped tile
//! is uploaded from its own page, wherever that page is.

use super::{BIG_PAGE, GOB_HEIGHT, GOB_WIDTH, Layout, LevelLayout, Storage};

/// One tile of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileLayout {
    /// Bytes from the start of the level: (row x tiles across + column) x 64 KB.
    pub offset: u64,
    /// First column, row and slice in the level, in format blocks.
    pub first: [u32; 3],
    /// The tile's 64 KB as a level of its own; its extent is cut at the level's edges.
    pub level: LevelLayout,
}

/// Levels that have no tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// The first such level.
    pub first_level: u32,
    /// Bytes from the start of a layer.
    pub offset: u64,
    /// Bytes in each layer.
    pub size: u64,
}

impl LevelLayout {
    /// Tiles across, down and deep; none for levels without tiles: those in the tail, and those of a packaged layout
    /// whose width is not padded to whole tiles.
    pub fn tiles(&self) -> Option<[u32; 3]> {
        let Storage::BlockLinear { block_height_log2, block_depth_log2, gob_columns } = self.storage else {
            return None;
        };
        let across = gob_columns.checked_shr((7u32).checked_sub(u32::from(block_height_log2 + block_depth_log2))?)?;
        let whole = across << (7 - block_height_log2 - block_depth_log2) == gob_columns;
        let down = self.rows.div_ceil((GOB_HEIGHT as u32) << block_height_log2);
        let deep = self.slices.div_ceil(1 << block_depth_log2);
        (self.tiled && whole).then_some([u32::try_from(across).ok()?, down, deep])
    }

    /// The tile in the given column, row and slice of tiles; none where there is no such tile.
    pub fn tile(&self, column: u32, row: u32, slice: u32) -> Option<TileLayout> {
        let [across, down, deep] = self.tiles()?;
        let Storage::BlockLinear { block_height_log2, block_depth_log2, .. } = self.storage else { return None };
        if column >= across || row >= down || slice >= deep {
            return None;
        }
        let gob_columns = 128u64 >> (block_height_log2 + block_depth_log2);
        let columns = (gob_columns * GOB_WIDTH) as u32 / self.bytes_per_block;
        let rows = (GOB_HEIGHT as u32) << block_height_log2;
        let slices = 1u32 << block_depth_log2;
        let first = [column * columns, row * rows, slice * slices];
        let rest = |have: u32, from: u32, size: u32| have.saturating_sub(from).min(size);
        let [columns, rows, slices] = [
            rest(self.columns, first[0], columns),
            rest(self.rows, first[1], rows),
            rest(self.slices, first[2], slices),
        ];
        // Blocks of several texels, or texels of several samples.
        let texels = |blocks: u32, of: u32, texels: u32| match of > texels {
            true => blocks.div_ceil(of / texels.max(1)),
            false => (blocks * texels.div_ceil(of.max(1))).min(texels),
        };
        Some(TileLayout {
            offset: (u64::from(slice) * u64::from(down) * u64::from(across)
                + u64::from(row) * u64::from(across)
                + u64::from(column))
                * BIG_PAGE,
            first,
            level: LevelLayout {
                offset: 0,
                size: BIG_PAGE,
                width: texels(columns, self.columns, self.width),
                height: texels(rows, self.rows, self.height),
                depth: slices,
                columns,
                rows,
                slices,
                bytes_per_block: self.bytes_per_block,
                storage: Storage::BlockLinear { block_height_log2, block_depth_log2, gob_columns },
                tiled: true,
            },
        })
    }
}

impl Layout {
    /// The tail of a sparse texture's layers; none for other textures, and where every level has tiles.
    pub fn tail(&self) -> Option<Tail> {
        let first_level = self.sparse?.tiled_levels;
        let offset = self.levels.get(first_level as usize)?.offset;
        Some(Tail { first_level, offset, size: self.layer_size - offset })
    }
}
