//! Formats: what NVN's numbers mean, and texels as colours.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::OnceLock;

use navin_texture::{Class, Format, codec};

use super::{answer, format_of, given, readable, refuse, writable};

/// What a format is.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NavinTextureFormat {
    /// NVN's name, such as `NVN_FORMAT_RGBA8`; stays as long as the library.
    pub name: *const c_char,
    /// Bytes of a block; of a texel where the block is one.
    pub bytes_per_block: u32,
    /// Texels of a block across.
    pub block_width: u32,
    /// Texels of a block down.
    pub block_height: u32,
    /// Components that a shader can see.
    pub components: u32,
    /// `VkFormat`, or 0 where Vulkan has none.
    pub vk_format: c_int,
    /// 1 for formats on the sRGB curve.
    pub srgb: c_int,
}

/// Names with a zero behind them.
fn names() -> &'static [CString] {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    NAMES.get_or_init(|| Format::all().map(|info| CString::new(info.name).unwrap_or_default()).collect())
}

/// What an `NVNformat` is. 1, or 0 (and nothing written) for what is none.
///
/// # Safety
/// `info` writable or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn navin_texture_format(format: c_int, info: *mut NavinTextureFormat) -> c_int {
    // SAFETY: the caller's promise.
    let place = unsafe { info.as_mut() };
    let work = || {
        let found = format_of(format)?;
        let index = Format::all().position(|other| other == found).unwrap_or(0);
        *given(place, "info")? = NavinTextureFormat {
            name: names().get(index).map_or(std::ptr::null(), |name| name.as_ptr()),
            bytes_per_block: found.bytes_per_block,
            block_width: found.block_width,
            block_height: found.block_height,
            components: found.components.into(),
            vk_format: found.vk_format,
            srgb: (found.class == Class::Srgb).into(),
        };
        Ok(())
    };
    answer(work())
}

/// The `NVNformat` of a name: NVN's, with or without `NVN_FORMAT_`, in either case, or `BC7_SRGB`, `ASTC_6x6` and so on.
/// 0 for what is none.
///
/// # Safety
/// `name` a string with a zero behind it, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn navin_texture_format_named(name: *const c_char) -> c_int {
    if name.is_null() {
        return refuse("name is null");
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    match Format::from_name(&name) {
        Some(info) => info.format.nvn(),
        None => refuse(format!("no format is called {name:?}")),
    }
}

/// Rows of an `NVNformat` (one slice, without padding) as RGBA of so many `bits`: 8 for pictures (sRGB numbers as they
/// are), 16 or 32 for half and single floats (the values that a shader reads). 1, or 0 (and nothing written) for what is
/// no format and for sizes that do not fit.
///
/// # Safety
/// `rows_bytes` readable bytes at `rows`; `rgba_bytes` writable ones at `rgba`, elsewhere.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no slices")]
pub unsafe extern "C" fn navin_texture_decode_as(
    format: c_int,
    width: u32,
    height: u32,
    rows: *const c_void,
    rows_bytes: usize,
    bits: u32,
    rgba: *mut c_void,
    rgba_bytes: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    let (from, to) = unsafe { (readable(rows, rows_bytes), writable(rgba, rgba_bytes)) };
    let work = || {
        let (info, from, to) = (format_of(format)?, given(from, "rows")?, given(to, "rgba")?);
        let pixels: Result<Vec<u8>, _> = match bits {
            8 => codec::decode_rgba8(info, from, width, height),
            16 => codec::decode_rgba16f(info, from, width, height)
                .map(|all| all.into_iter().flatten().flat_map(u16::to_ne_bytes).collect()),
            32 => codec::decode_rgba32f(info, from, width, height)
                .map(|all| all.into_iter().flatten().flat_map(f32::to_ne_bytes).collect()),
            n => return Err(format!("{n} bits a component, not 8, 16 or 32")),
        };
        let pixels = pixels.map_err(|e| e.to_string())?;
        let have = to.len();
        let place = to.get_mut(..pixels.len());
        place.ok_or_else(|| format!("{have} bytes for {} of colours", pixels.len()))?.copy_from_slice(&pixels);
        Ok(())
    };
    answer(work())
}
