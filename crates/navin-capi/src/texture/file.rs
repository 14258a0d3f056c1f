//! Texture files: read, looked into, written as another kind.

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use navin_texture::layout::PackagedLayout;
use navin_texture::{Kind, Texture, container};

use super::{NavinTextureShape, answer, given, order_of, readable, refuse, writable};

/// Textures of a file, packed: rows without padding, layer after layer, in each level after level.
pub struct NavinTextureFile {
    textures: Vec<Texture>,
    names: Vec<CString>,
}

/// One texture of a file; pointers stay until the file is freed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NavinTextureEntry {
    /// The name; empty where the file has none.
    pub name: *const c_char,
    /// What it is.
    pub shape: NavinTextureShape,
    /// Packed texels.
    pub data: *const c_void,
    /// Bytes of them.
    pub data_bytes: usize,
    /// What a shader reads as R, G, B and A: characters `0 1 r g b a`.
    pub channels: [c_char; 4],
}

/// Reads a texture file (BNTX, XTX, DDS, KTX2, PNG, EXR) that is in memory; `generation` is the order of block-linear
/// ones. Null, with the reason left, for what is none. Free it with [`navin_texture_file_free`].
///
/// # Safety
/// `size` readable bytes at `bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn navin_texture_file_read(
    bytes: *const c_void,
    size: usize,
    generation: u32,
) -> *mut NavinTextureFile {
    // SAFETY: the caller's promise.
    let bytes = unsafe { readable(bytes, size) };
    let work = || {
        let order = order_of(generation)?;
        container::read(given(bytes, "bytes")?, order).map_err(|e| e.to_string())
    };
    match work() {
        Ok(textures) => {
            let name = |t: &Texture| CString::new(t.name.replace('\0', "?")).unwrap_or_default();
            let names = textures.iter().map(name).collect();
            Box::into_raw(Box::new(NavinTextureFile { textures, names }))
        }
        Err(why) => {
            refuse(why);
            std::ptr::null_mut()
        }
    }
}

/// Textures in a file; 0 for null.
///
/// # Safety
/// `file` of [`navin_texture_file_read`] or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn navin_texture_file_count(file: *const NavinTextureFile) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { file.as_ref() }.map_or(0, |file| file.textures.len() as u32)
}

/// A texture of a file, by number. 1, or 0 (and nothing written).
///
/// # Safety
/// `file` of [`navin_texture_file_read`] and `entry` writable, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn navin_texture_file_entry(
    file: *const NavinTextureFile,
    index: u32,
    entry: *mut NavinTextureEntry,
) -> c_int {
    // SAFETY: the caller's promise.
    let (file, place) = unsafe { (file.as_ref(), entry.as_mut()) };
    let work = || {
        let file = given(file, "file")?;
        let both = file.textures.get(index as usize).zip(file.names.get(index as usize));
        let (t, name) = both.ok_or_else(|| format!("no texture {index}: the file has {}", file.textures.len()))?;
        *given(place, "entry")? = NavinTextureEntry {
            name: name.as_ptr(),
            shape: NavinTextureShape {
                format: t.format.format.nvn(),
                target: t.target as c_int,
                width: t.width,
                height: t.height,
                depth: t.depth,
                layers: t.layers,
                levels: t.levels,
                samples: t.samples,
                flags: 0,
                has_layout: t.packaged.is_some().into(),
                stride: 0,
                layout: t.packaged.map_or([0; 8], packaged_bytes),
            },
            data: t.data.as_ptr().cast(),
            data_bytes: t.data.len(),
            channels: t.swizzle.map(|s| s.letter() as c_char),
        };
        Ok(())
    };
    answer(work())
}

fn packaged_bytes(p: PackagedLayout) -> [u8; 8] {
    [p.block_height_log2 | p.block_depth_log2 << 4, p.tile_width_log2, 0, 0, 0, 0, 0, 0]
}

/// The file's textures as a file of another kind (its extension: `bntx`, `dds`, ...). The bytes it takes, written only
/// if `bytes` (which may be null) has room for them; 0 with the reason left.
///
/// # Safety
/// `file` of [`navin_texture_file_read`] or null; `kind` a string with a zero behind it or null; `size` writable bytes
/// at `bytes`, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn navin_texture_file_write(
    file: *const NavinTextureFile,
    kind: *const c_char,
    generation: u32,
    bytes: *mut c_void,
    size: usize,
) -> usize {
    // SAFETY: the caller's promise.
    let (file, place) = unsafe { (file.as_ref(), writable(bytes, size)) };
    // SAFETY: the caller's promise.
    let kind = (!kind.is_null()).then(|| unsafe { CStr::from_ptr(kind) }.to_string_lossy());
    let work = || {
        let (file, kind) = (given(file, "file")?, given(kind, "kind")?);
        let kind = Kind::from_extension(&kind).ok_or_else(|| format!("no kind of file is called {kind:?}"))?;
        container::write(kind, &file.textures, "textures", order_of(generation)?).map_err(|e| e.to_string())
    };
    match work() {
        Ok(made) => {
            if let Some(place) = place.and_then(|place| place.get_mut(..made.len())) {
                place.copy_from_slice(&made);
            }
            made.len()
        }
        Err(why) => {
            refuse(why);
            0
        }
    }
}

/// Takes a file's textures back; null is nothing.
///
/// # Safety
/// `file` of [`navin_texture_file_read`], not freed before, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn navin_texture_file_free(file: *mut NavinTextureFile) {
    if !file.is_null() {
        // SAFETY: the caller's promise: it came from `Box::into_raw` and is given back once.
        drop(unsafe { Box::from_raw(file) });
    }
}
