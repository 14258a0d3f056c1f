//! Textures for C: where the bytes of a texture lie, into and out of the GPU's order, as colours. Declared in
//! `include/navin.h`; no device is opened. `file` is texture files, `part` regions, picking and sparse tiles,
//! `format` formats. A function that answers 0 leaves its reason for [`navin_texture_error`].

mod file;
mod format;
mod part;

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int, c_void};

pub use file::*;
pub use format::*;
pub use part::*;

use navin_texture::layout::PackagedLayout;
use navin_texture::{Format, FormatInfo, GobOrder, Layout, LayoutInput, LevelLayout, Storage, Target, TextureFlags};

/// What a texture is: NVN's own numbers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NavinTextureShape {
    /// `NVNformat`.
    pub format: c_int,
    /// `NVNtextureTarget`.
    pub target: c_int,
    /// Texels of level 0.
    pub width: u32,
    /// Texels of level 0.
    pub height: u32,
    /// Slices of a 3D texture.
    pub depth: u32,
    /// Layers, six for each cube.
    pub layers: u32,
    /// Levels.
    pub levels: u32,
    /// Samples.
    pub samples: u32,
    /// `NVNtextureFlags`.
    pub flags: u32,
    /// Not 0: `layout` counts.
    pub has_layout: u32,
    /// Row stride of linear storage, or 0.
    pub stride: u64,
    /// `NVNpackagedTextureLayout`.
    pub layout: [u8; 8],
}

/// Where a level of each layer is.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct NavinTextureLevel {
    /// Bytes from the start of the layer.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// Bytes from row to row of linear storage; 0 for blocks.
    pub row_stride: u64,
    /// Texels.
    pub width: u32,
    /// Texels.
    pub height: u32,
    /// Texels.
    pub depth: u32,
    /// Blocks of the format across.
    pub columns: u32,
    /// Blocks of the format down.
    pub rows: u32,
    /// Bytes of a block of the format.
    pub bytes_per_block: u32,
    /// GOBs that a block of the GPU's order is high; 0 for linear storage.
    pub block_height: u32,
    /// Slices that it is deep; 0 for linear storage.
    pub block_depth: u32,
}

/// A texture as a whole.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct NavinTextureLayout {
    /// Bytes of storage.
    pub size: u64,
    /// Alignment of storage in bytes.
    pub alignment: u64,
    /// Bytes from layer to layer.
    pub layer_size: u64,
    /// Layers.
    pub layers: u32,
    /// Levels.
    pub levels: u32,
    /// Each level; those past `levels` are zeros.
    pub level: [NavinTextureLevel; 16],
}

thread_local! {
    /// Why the last function of this file's answered 0 on this thread.
    static ERROR: RefCell<CString> = RefCell::default();
}

/// Leaves a reason and answers 0.
fn refuse(why: impl std::fmt::Display) -> c_int {
    let text = CString::new(why.to_string().replace('\0', "?")).unwrap_or_default();
    ERROR.with_borrow_mut(|place| *place = text);
    0
}

/// 1, or 0 with the reason left.
fn answer(result: Result<(), String>) -> c_int {
    match result {
        Ok(()) => 1,
        Err(why) => refuse(why),
    }
}

/// Why the last `navin_texture_` function that answered 0 (or null) on this thread did; empty if none has. The string
/// stays until the next such answer on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn navin_texture_error() -> *const c_char {
    ERROR.with_borrow(|text| text.as_ptr())
}

impl NavinTextureShape {
    fn layout(&self) -> Result<Layout, String> {
        let target = Target::from_nvn(self.target).ok_or_else(|| format!("target {} is none of NVN's", self.target))?;
        let layers = match (target, self.layers) {
            (Target::Cube, 0 | 1 | 6) => 6,
            (Target::Cube, n) => return Err(format!("{n} layers of a cube, which has six")),
            (Target::CubeArray, n) if !n.is_multiple_of(6) => {
                return Err(format!("{n} layers of a cube array: six for each cube"));
            }
            (_, n) => n,
        };
        let input = LayoutInput {
            target,
            format: format_of(self.format)?,
            width: self.width,
            height: self.height,
            depth: self.depth,
            layers,
            levels: self.levels,
            samples: self.samples,
            flags: TextureFlags::from_bits_retain(self.flags),
            stride: self.stride,
            packaged: (self.has_layout != 0).then(|| PackagedLayout::from_bytes(self.layout)),
        };
        Layout::new(&input).map_err(|e| e.to_string())
    }

    /// The layout's level.
    fn level(&self, level: u32) -> Result<LevelLayout, String> {
        let layout = self.layout()?;
        let found = layout.levels.get(level as usize).copied();
        found.ok_or_else(|| format!("no level {level}: the texture has {}", layout.levels.len()))
    }
}

fn format_of(format: c_int) -> Result<&'static FormatInfo, String> {
    Format::from_nvn(format).ok_or_else(|| format!("format {format} is none of NVN's"))
}

fn order_of(generation: u32) -> Result<GobOrder, String> {
    GobOrder::from_generation(generation).ok_or_else(|| format!("generation {generation}, not 1 or 2"))
}

/// A pointer's target or an error.
fn given<T>(pointer: Option<T>, what: &str) -> Result<T, String> {
    pointer.ok_or_else(|| format!("{what} is null"))
}

fn level(l: &LevelLayout) -> NavinTextureLevel {
    let (row_stride, block_height, block_depth) = match l.storage {
        Storage::Linear { row_stride } => (row_stride, 0, 0),
        Storage::BlockLinear { block_height_log2, block_depth_log2, .. } => {
            (0, 1 << block_height_log2, 1 << block_depth_log2)
        }
    };
    NavinTextureLevel {
        offset: l.offset,
        size: l.size,
        row_stride,
        width: l.width,
        height: l.height,
        depth: l.depth,
        columns: l.columns,
        rows: l.rows,
        bytes_per_block: l.bytes_per_block,
        block_height,
        block_depth,
    }
}

/// Where the bytes of a texture lie. 1, or 0 (and nothing written) for what is no texture.
///
/// # Safety
/// `shape` must be readable and `layout` writable, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn navin_texture_layout(
    shape: *const NavinTextureShape,
    layout: *mut NavinTextureLayout,
) -> c_int {
    // SAFETY: the caller's promise.
    let (Some(shape), Some(place)) = (unsafe { shape.as_ref() }, unsafe { layout.as_mut() }) else {
        return refuse("shape or layout is null");
    };
    let found = match shape.layout() {
        Ok(found) => found,
        Err(why) => return refuse(why),
    };
    *place = NavinTextureLayout {
        size: found.size,
        alignment: found.alignment,
        layer_size: found.layer_size,
        layers: found.layers,
        levels: found.levels.len() as u32,
        level: Default::default(),
    };
    for (to, from) in place.level.iter_mut().zip(&found.levels) {
        *to = level(from);
    }
    1
}

/// A slice of the caller's; none for null.
///
/// # Safety
/// `bytes` readable bytes at `data`, or null.
unsafe fn readable<'a>(data: *const c_void, bytes: usize) -> Option<&'a [u8]> {
    // SAFETY: the caller's promise; a length past the address space is none of a slice.
    (!data.is_null() && isize::try_from(bytes).is_ok())
        .then(|| unsafe { std::slice::from_raw_parts(data.cast(), bytes) })
}

/// A slice of the caller's to write; none for null.
///
/// # Safety
/// `bytes` writable bytes at `data` that nothing else uses, or null.
unsafe fn writable<'a>(data: *mut c_void, bytes: usize) -> Option<&'a mut [u8]> {
    let fits = !data.is_null() && isize::try_from(bytes).is_ok();
    // SAFETY: the caller's promise; a length past the address space is none of a slice.
    fits.then(|| unsafe { std::slice::from_raw_parts_mut(data.cast(), bytes) })
}

/// A level of one layer out of the GPU's order (of console generation 1 or 2) into rows, `row_pitch` and `slice_pitch`
/// bytes apart (0: without padding). `tiled` is the level's first byte. 1, or 0 (and nothing written) for what is no
/// texture or level and for memory too small.
///
/// # Safety
/// `shape` readable; `tiled_bytes` readable bytes at `tiled`; `rows_bytes` writable ones at `rows`, elsewhere.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no slices")]
pub unsafe extern "C" fn navin_texture_untile(
    shape: *const NavinTextureShape,
    generation: u32,
    level: u32,
    tiled: *const c_void,
    tiled_bytes: usize,
    rows: *mut c_void,
    rows_bytes: usize,
    row_pitch: usize,
    slice_pitch: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        navin_texture_untile_region(
            shape,
            generation,
            level,
            std::ptr::null(),
            tiled,
            tiled_bytes,
            rows,
            rows_bytes,
            row_pitch,
            slice_pitch,
        )
    }
}

/// The way back of [`navin_texture_untile`].
///
/// # Safety
/// `shape` readable; `tiled_bytes` writable bytes at `tiled`; `rows_bytes` readable ones at `rows`, elsewhere.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no slices")]
pub unsafe extern "C" fn navin_texture_tile(
    shape: *const NavinTextureShape,
    generation: u32,
    level: u32,
    tiled: *mut c_void,
    tiled_bytes: usize,
    rows: *const c_void,
    rows_bytes: usize,
    row_pitch: usize,
    slice_pitch: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        navin_texture_tile_region(
            shape,
            generation,
            level,
            std::ptr::null(),
            tiled,
            tiled_bytes,
            rows,
            rows_bytes,
            row_pitch,
            slice_pitch,
        )
    }
}

/// Rows of an `NVNformat` (one slice, without padding) as RGBA8, `width * height * 4` bytes. 1, or 0 (and nothing
/// written) for what is no format and for sizes that do not fit.
///
/// # Safety
/// `rows_bytes` readable bytes at `rows`; `rgba8_bytes` writable ones at `rgba8`, elsewhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn navin_texture_decode(
    format: c_int,
    width: u32,
    height: u32,
    rows: *const c_void,
    rows_bytes: usize,
    rgba8: *mut c_void,
    rgba8_bytes: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { navin_texture_decode_as(format, width, height, rows, rows_bytes, 8, rgba8, rgba8_bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: NavinTextureShape = NavinTextureShape {
        format: 37,
        target: 2,
        width: 33,
        height: 33,
        depth: 33,
        layers: 1,
        levels: 1,
        samples: 1,
        flags: 0,
        has_layout: 0,
        stride: 0,
        layout: [0; 8],
    };

    #[test]
    fn layouts_and_copies_through_c() {
        let mut layout = NavinTextureLayout::default();
        // SAFETY: both are alive.
        assert_eq!(unsafe { navin_texture_layout(&SHAPE, &mut layout) }, 1);
        assert_eq!((layout.size, layout.level[0].block_depth, layout.level[0].block_height), (368_640, 16, 1));
        let rows: Vec<u8> = (0..33 * 33 * 33 * 4).map(|i| (i % 253) as u8).collect();
        let mut tiled = vec![0u8; layout.size as usize];
        let mut back = vec![0u8; rows.len()];
        for generation in [1, 2] {
            // SAFETY: slices with their lengths.
            let done = unsafe {
                navin_texture_tile(
                    &SHAPE,
                    generation,
                    0,
                    tiled.as_mut_ptr().cast(),
                    tiled.len(),
                    rows.as_ptr().cast(),
                    rows.len(),
                    0,
                    0,
                ) + navin_texture_untile(
                    &SHAPE,
                    generation,
                    0,
                    tiled.as_ptr().cast(),
                    tiled.len(),
                    back.as_mut_ptr().cast(),
                    back.len(),
                    0,
                    0,
                )
            };
            assert_eq!(done, 2);
            assert!(back == rows);
        }
        let mut pixel = [0u8; 4];
        // SAFETY: arrays with their lengths.
        let decoded =
            unsafe { navin_texture_decode(37, 1, 1, [1u8, 2, 3, 4].as_ptr().cast(), 4, pixel.as_mut_ptr().cast(), 4) };
        assert_eq!((decoded, pixel), (1, [1, 2, 3, 4]));
    }

    #[test]
    fn what_is_no_texture_is_zero() {
        let mut layout = NavinTextureLayout::default();
        let null = std::ptr::null_mut::<c_void>();
        // SAFETY: alive, or null, which is allowed; lengths are those of nothing.
        unsafe {
            assert_eq!(navin_texture_layout(std::ptr::null(), &mut layout), 0);
            assert_eq!(navin_texture_layout(&SHAPE, std::ptr::null_mut()), 0);
            for wrong in [
                NavinTextureShape { format: 0, ..SHAPE },
                NavinTextureShape { target: -1, ..SHAPE },
                NavinTextureShape { width: u32::MAX, ..SHAPE },
                NavinTextureShape { levels: 0, ..SHAPE },
            ] {
                assert_eq!(navin_texture_layout(&wrong, &mut layout), 0);
            }
            assert_eq!(navin_texture_untile(&SHAPE, 1, 0, null, 0, null, 0, 0, 0), 0);
            let mut byte = [0u8];
            let place = byte.as_mut_ptr().cast();
            assert_eq!(navin_texture_tile(&SHAPE, 1, 0, place, 1, [0u8].as_ptr().cast(), 1, 0, 0), 0);
            assert_eq!(navin_texture_tile(&SHAPE, 3, 0, place, 1, [0u8].as_ptr().cast(), 1, 0, 0), 0);
            assert_eq!(navin_texture_decode(37, 2, 1, [0u8].as_ptr().cast(), 1, place, 1), 0);
        }
    }
}
