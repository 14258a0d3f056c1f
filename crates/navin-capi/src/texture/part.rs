//! Parts of a level: regions, every n-th block, tiles and tails of sparse textures.

use std::ffi::{c_int, c_void};

use navin_texture::layout::BIG_PAGE;
use navin_texture::swizzle::picked_bytes;
use navin_texture::{LevelLayout, Pitch, Region, pick, tile, untile};

use super::{NavinTextureShape, answer, given, order_of, readable, refuse, writable};

/// A box of a level in blocks of the format (texels of uncompressed ones, samples of multisampled ones).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NavinTextureRegion {
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

/// What a sparse texture's levels are made of.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct NavinTextureSparse {
    /// Texels of a tile of 64 KB.
    pub tile_width: u32,
    /// Texels.
    pub tile_height: u32,
    /// Texels.
    pub tile_depth: u32,
    /// Levels that are tiled; those behind are the tail.
    pub tiled_levels: u32,
    /// Bytes from a layer's start to the tail.
    pub tail_offset: u64,
    /// Bytes of each layer's tail; 0 where every level is tiled.
    pub tail_size: u64,
}

/// The region given, or the whole level, and the pitches of its rows.
///
/// # Safety
/// `region` readable or null.
unsafe fn extent(
    level: &LevelLayout,
    region: *const NavinTextureRegion,
    (row_pitch, slice_pitch): (usize, usize),
) -> (Region, Pitch) {
    // SAFETY: the caller's promise.
    let region = unsafe { region.as_ref() }.map_or(Region::whole(level), |r| {
        let NavinTextureRegion { x, y, z, width, height, depth } = *r;
        Region { x, y, z, width, height, depth }
    });
    let row = if row_pitch == 0 { Pitch::packed(level, &region).row } else { row_pitch };
    let slice = if slice_pitch == 0 { row.saturating_mul(region.height as usize) } else { slice_pitch };
    (region, Pitch { row, slice })
}

/// A region of a level (null: all of it) out of the GPU's order of console generation 1 or 2 into rows, `row_pitch` and
/// `slice_pitch` bytes apart (0: without padding). `tiled` is the level's first byte. 1, or 0 (and nothing written).
///
/// # Safety
/// `shape` and `region` readable or null; `tiled_bytes` readable bytes at `tiled`; `rows_bytes` writable ones at `rows`,
/// elsewhere.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no slices")]
pub unsafe extern "C" fn navin_texture_untile_region(
    shape: *const NavinTextureShape,
    generation: u32,
    level: u32,
    region: *const NavinTextureRegion,
    tiled: *const c_void,
    tiled_bytes: usize,
    rows: *mut c_void,
    rows_bytes: usize,
    row_pitch: usize,
    slice_pitch: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    let (shape, from, to) = unsafe { (shape.as_ref(), readable(tiled, tiled_bytes), writable(rows, rows_bytes)) };
    let work = || {
        let level = given(shape, "shape")?.level(level)?;
        let (from, to, order) = (given(from, "tiled")?, given(to, "rows")?, order_of(generation)?);
        // SAFETY: the caller's promise.
        let (region, pitch) = unsafe { extent(&level, region, (row_pitch, slice_pitch)) };
        untile(to, pitch, from, &level, order, region).map_err(|e| e.to_string())
    };
    answer(work())
}

/// The way back of [`navin_texture_untile_region`]: what is not in the region keeps its bytes.
///
/// # Safety
/// `shape` and `region` readable or null; `tiled_bytes` writable bytes at `tiled`; `rows_bytes` readable ones at `rows`,
/// elsewhere.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no slices")]
pub unsafe extern "C" fn navin_texture_tile_region(
    shape: *const NavinTextureShape,
    generation: u32,
    level: u32,
    region: *const NavinTextureRegion,
    tiled: *mut c_void,
    tiled_bytes: usize,
    rows: *const c_void,
    rows_bytes: usize,
    row_pitch: usize,
    slice_pitch: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    let (shape, to, from) = unsafe { (shape.as_ref(), writable(tiled, tiled_bytes), readable(rows, rows_bytes)) };
    let work = || {
        let level = given(shape, "shape")?.level(level)?;
        let (from, to, order) = (given(from, "rows")?, given(to, "tiled")?, order_of(generation)?);
        // SAFETY: the caller's promise.
        let (region, pitch) = unsafe { extent(&level, region, (row_pitch, slice_pitch)) };
        tile(to, &level, order, region, from, pitch).map_err(|e| e.to_string())
    };
    answer(work())
}

/// Bytes of every `step`-th block each way of a level; 0 for what is no texture or level.
///
/// # Safety
/// `shape` readable or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn navin_texture_pick_bytes(shape: *const NavinTextureShape, level: u32, step: u32) -> u64 {
    // SAFETY: the caller's promise.
    match given(unsafe { shape.as_ref() }, "shape").and_then(|shape| shape.level(level)) {
        Ok(level) => picked_bytes(&level, step),
        Err(why) => {
            refuse(why);
            0
        }
    }
}

/// Every `step`-th block each way of a level, as rows without padding: a small stand-in for a large texture. 1, or 0
/// (and nothing written).
///
/// # Safety
/// As [`navin_texture_untile_region`].
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no slices")]
pub unsafe extern "C" fn navin_texture_pick(
    shape: *const NavinTextureShape,
    generation: u32,
    level: u32,
    step: u32,
    tiled: *const c_void,
    tiled_bytes: usize,
    rows: *mut c_void,
    rows_bytes: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    let (shape, from, to) = unsafe { (shape.as_ref(), readable(tiled, tiled_bytes), writable(rows, rows_bytes)) };
    let work = || {
        let level = given(shape, "shape")?.level(level)?;
        let (from, to, order) = (given(from, "tiled")?, given(to, "rows")?, order_of(generation)?);
        pick(to, from, &level, order, step).map_err(|e| e.to_string())
    };
    answer(work())
}

/// Tiles and tail of a sparse texture. 1, or 0 (and nothing written) for what is none.
///
/// # Safety
/// `shape` readable and `sparse` writable, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn navin_texture_sparse(
    shape: *const NavinTextureShape,
    sparse: *mut NavinTextureSparse,
) -> c_int {
    // SAFETY: the caller's promise.
    let (shape, place) = unsafe { (shape.as_ref(), sparse.as_mut()) };
    let work = || {
        let layout = given(shape, "shape")?.layout()?;
        let tile = layout.sparse.ok_or("the texture has no flag SPARSE (0x20)")?;
        let (offset, size) = layout.tail().map_or((layout.layer_size, 0), |tail| (tail.offset, tail.size));
        *given(place, "sparse")? = NavinTextureSparse {
            tile_width: tile.width,
            tile_height: tile.height,
            tile_depth: tile.depth,
            tiled_levels: tile.tiled_levels,
            tail_offset: offset,
            tail_size: size,
        };
        Ok(())
    };
    answer(work())
}

/// One tile of a sparse level out of the GPU's order. `tile` is its 64 KB, wherever they are; `rows` is where the
/// tile's first row goes, of a whole level for example, `row_pitch` and `slice_pitch` bytes apart (0: without padding);
/// `covers`, if not null, is told the part of the level. 1, or 0 (and nothing written).
///
/// # Safety
/// `shape` readable or null; 65,536 readable bytes at `tile`; `rows_bytes` writable ones at `rows`, elsewhere; `covers`
/// writable or null.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no slices")]
pub unsafe extern "C" fn navin_texture_untile_sparse_tile(
    shape: *const NavinTextureShape,
    generation: u32,
    level: u32,
    column: u32,
    row: u32,
    slice: u32,
    tile: *const c_void,
    rows: *mut c_void,
    rows_bytes: usize,
    row_pitch: usize,
    slice_pitch: usize,
    covers: *mut NavinTextureRegion,
) -> c_int {
    // SAFETY: the caller's promise.
    let (shape, from, to) = unsafe { (shape.as_ref(), readable(tile, BIG_PAGE as usize), writable(rows, rows_bytes)) };
    // SAFETY: the caller's promise.
    let covers = unsafe { covers.as_mut() };
    let work = || {
        let level = given(shape, "shape")?.level(level)?;
        let tile = level.tile(column, row, slice).ok_or_else(|| match level.tiles() {
            Some([across, down, deep]) => format!("no such tile: the level has {across} x {down} x {deep}"),
            None => "the level has no tiles".into(),
        })?;
        let (from, to, order) = (given(from, "tile")?, given(to, "rows")?, order_of(generation)?);
        // SAFETY: null is allowed.
        let (region, pitch) = unsafe { extent(&tile.level, std::ptr::null(), (row_pitch, slice_pitch)) };
        untile(to, pitch, from, &tile.level, order, region).map_err(|e| e.to_string())?;
        if let Some(covers) = covers {
            let [x, y, z] = tile.first;
            *covers = NavinTextureRegion { x, y, z, width: region.width, height: region.height, depth: region.depth };
        }
        Ok(())
    };
    answer(work())
}
