//! How the rows of a part lie in scratch memory, and how a part is cut so that it fits.

use navin_texture::layout::LevelLayout;
use navin_texture::{Region, layout::Storage as Order};

use super::Part;

/// Rows of a part as the shaders write and read them: whole pieces of 16 bytes, so that there is room for what the
/// pieces at a region's sides hold besides. Layers, slices and rows follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsLayout {
    /// Bytes from the begin to the region's first byte.
    pub skip: u64,
    /// From row to row.
    pub row: u64,
    /// From slice to slice.
    pub slice: u64,
    /// From layer to layer.
    pub layer: u64,
    /// Bytes in all.
    pub size: u64,
}

/// What rows are multiples of: whole pieces and whole blocks, for Vulkan counts a row's length in texels.
pub(super) fn unit(level: &LevelLayout) -> u64 {
    match level.bytes_per_block {
        n if n % 3 == 0 => 48,
        _ => 16,
    }
}

impl RowsLayout {
    /// The rows of a region in so many layers.
    pub fn new(level: &LevelLayout, region: &Region, layers: u32) -> Self {
        let unit = unit(level);
        let bytes = u64::from(level.bytes_per_block);
        let first = u64::from(region.x) * bytes;
        let skip = first % unit;
        let row = (skip + u64::from(region.width) * bytes).next_multiple_of(unit);
        let slice = row * u64::from(region.height);
        let layer = slice * u64::from(region.depth);
        Self { skip, row, slice, layer, size: layer * u64::from(layers) }
    }
}

/// Cuts a part into ones whose rows take `most` bytes at most: by layers, then by slices, then by bands of rows.
pub(super) fn bands(level: &LevelLayout, part: &Part, most: u64) -> Vec<Part> {
    let rows = RowsLayout::new(level, &part.region, part.layers);
    if rows.size <= most {
        return vec![*part];
    }
    let mut bands = Vec::new();
    if rows.layer <= most {
        let step = (most / rows.layer) as u32;
        let end = part.first_layer + part.layers;
        for first_layer in (part.first_layer..end).step_by(step as usize) {
            bands.push(Part { first_layer, layers: step.min(end - first_layer), ..*part });
        }
        return bands;
    }
    // Bands begin at whole blocks where they can: the shader then reads each GOB once.
    let block = match level.storage {
        Order::BlockLinear { block_height_log2, .. } => 8u32 << block_height_log2,
        Order::Linear { .. } => 1,
    };
    let fit = ((most / rows.row) as u32).max(1);
    let step = if fit > block { fit / block * block } else { fit };
    let region = part.region;
    for first_layer in part.first_layer..part.first_layer + part.layers {
        for z in region.z..region.z + region.depth {
            let mut y = region.y;
            while y < region.y + region.height {
                let end = ((y / step + 1) * step).min(region.y + region.height);
                let region = Region { y, height: end - y, z, depth: 1, ..region };
                bands.push(Part { first_layer, layers: 1, region, ..*part });
                y = end;
            }
        }
    }
    bands
}

#[cfg(test)]
mod tests {
    use navin_texture::{Format, Layout, LayoutInput};

    use super::*;

    #[test]
    fn bands_fit_and_cover_the_part_once() {
        let mut input = LayoutInput::new_2d(Format::RGBA8.info(), 700, 333);
        input.target = navin_texture::Target::D2Array;
        input.layers = 5;
        let layout = Layout::new(&input).unwrap();
        let level = &layout.levels[0];
        let region = Region { x: 3, y: 5, width: 690, height: 320, ..Region::whole(level) };
        let part = Part { level: 0, first_layer: 1, layers: 4, region };
        let whole = RowsLayout::new(level, &region, 1).size;
        for most in [1 << 30, 2 * whole, whole, whole - 1, 100_000, 3_000] {
            let mut covered = vec![0; 320 * 4];
            for band in bands(level, &part, most) {
                assert!(RowsLayout::new(level, &band.region, band.layers).size <= most, "{most} {band:?}");
                assert_eq!((band.region.x, band.region.width), (3, 690));
                for layer in band.first_layer..band.first_layer + band.layers {
                    for y in band.region.y..band.region.y + band.region.height {
                        covered[((layer - 1) * 320 + y - 5) as usize] += 1;
                    }
                }
            }
            assert!(covered.iter().all(|&times| times == 1), "{most}");
        }
    }
}
