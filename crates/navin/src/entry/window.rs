//! `nvnWindowBuilder*` and `nvnWindow*`: a ring of textures that presents show.

use navin_abi::fault;
use navin_abi::records::{MAX_WINDOW_TEXTURES, SyncRecord, TextureRecord, WindowBuilderRecord, WindowRecord};
use navin_abi::types::*;

use super::object::{accessors, address, array, clear_magic, get, live, output, pointer, raw, set, store};
use super::table::entries;
use crate::host;

/// Device item 0x59.
const MIN_TEXTURES: usize = 2;
/// Device item 0x46.
const MAX_INTERVAL: i32 = 5;

pub(crate) extern "C" fn nvnWindowBuilderSetDevice(builder: *mut NVNwindowBuilder, device: *mut NVNdevice) {
    store(builder, address(device));
}

pub(crate) extern "C" fn nvnWindowBuilderSetDefaults(builder: *mut NVNwindowBuilder) {
    store(builder, WindowBuilderRecord::new(raw::<u64, _>(builder).unwrap_or(0)));
}

fn set_textures(b: &mut WindowBuilderRecord, count: i32, textures: *const *mut NVNtexture) -> bool {
    // An array of pointers is read as the addresses that it holds.
    let Some(addresses) = array(textures.cast::<u64>(), count.min(MAX_WINDOW_TEXTURES as i32 + 1)) else {
        return false;
    };
    if addresses.len() > MAX_WINDOW_TEXTURES {
        return false;
    }
    b.textures = [0; MAX_WINDOW_TEXTURES];
    b.texture_count = addresses.len() as u16;
    b.textures.iter_mut().zip(addresses).for_each(|(place, texture)| *place = texture);
    true
}

fn is_interval(interval: i32) -> bool {
    (0..=MAX_INTERVAL).contains(&interval)
}

accessors! {
    NVNwindowBuilder as WindowBuilderRecord;
    get nvnWindowBuilderGetDevice -> *const NVNdevice: |b| pointer(b.device);
    get nvnWindowBuilderGetNativeWindow -> NVNnativeWindow: |b| pointer(b.native_window);
    set nvnWindowBuilderSetNativeWindow(native_window: NVNnativeWindow): |b| {
        b.native_window = address(native_window);
        true
    };
    get nvnWindowBuilderGetPresentInterval -> i32: |b| b.interval.into();
    set nvnWindowBuilderSetPresentInterval(interval: i32): |b| {
        b.interval = interval as i16;
        is_interval(interval)
    };
    get nvnWindowBuilderGetNumTextures -> i32: |b| b.texture_count.into();
    set nvnWindowBuilderSetTextures(count: i32, textures: *const *mut NVNtexture): |b| set_textures(b, count, textures);
}

pub(crate) extern "C" fn nvnWindowBuilderGetTexture(builder: *const NVNwindowBuilder, index: i32) -> *const NVNtexture {
    let builder = live::<WindowBuilderRecord, _>(builder, "nvnWindowBuilderGetTexture");
    let texture = builder.and_then(|b| b.textures.get(usize::try_from(index).ok()?).copied());
    texture.map_or(std::ptr::null(), |texture| pointer::<NVNtexture>(texture).cast_const())
}

pub(crate) extern "C" fn nvnWindowInitialize(window: *mut NVNwindow, builder: *const NVNwindowBuilder) -> NVNboolean {
    const CALL: &str = "nvnWindowInitialize";
    let Some(b) = live::<WindowBuilderRecord, _>(builder, CALL) else { return NVN_FALSE };
    let count = usize::from(b.texture_count);
    if window.is_null() || !(MIN_TEXTURES..=MAX_WINDOW_TEXTURES).contains(&count) {
        fault!(
            key = count,
            "",
            "{CALL}: {count} textures (of {MIN_TEXTURES} to {MAX_WINDOW_TEXTURES}), or null; answered false"
        );
        return NVN_FALSE;
    }
    let textures = b.textures.iter().take(count);
    let textures: Option<Vec<TextureRecord>> =
        textures.map(|at| live::<TextureRecord, NVNtexture>(pointer(*at), CALL)).collect();
    let Some(textures) = textures else { return NVN_FALSE };
    let serials: Vec<u64> = textures.iter().map(|t| t.serial).collect();
    let interval = i32::from(b.interval);
    let serial = host::windows::create(&serials, b.native_window, interval);
    if serial == 0 {
        return NVN_FALSE;
    }
    let size = textures.first().map_or([0; 2], |t| [t.fields.width, t.fields.height]);
    store(window, WindowRecord::new(serial, b.native_window, interval, size));
    NVN_TRUE
}

pub(crate) extern "C" fn nvnWindowFinalize(window: *mut NVNwindow) {
    if let Some(record) = live::<WindowRecord, _>(window, "nvnWindowFinalize") {
        clear_magic(window);
        host::windows::destroy(record.serial);
    }
}

/// Gives the index of the next texture; `sync` signals when it may be drawn into.
pub(crate) extern "C" fn nvnWindowAcquireTexture(
    window: *mut NVNwindow,
    sync: *mut NVNsync,
    index: *mut i32,
) -> NVNwindowAcquireTextureResult {
    const CALL: &str = "nvnWindowAcquireTexture";
    let Some(window) = live::<WindowRecord, _>(window, CALL) else {
        return NVNwindowAcquireTextureResult::NATIVE_ERROR;
    };
    let Some(sync) = live::<SyncRecord, _>(sync, CALL) else { return NVNwindowAcquireTextureResult::NATIVE_ERROR };
    let (result, texture) = host::windows::acquire(window.serial, sync.serial);
    output(index, texture);
    NVNwindowAcquireTextureResult::from_raw(result)
}

accessors! {
    NVNwindow as WindowRecord;
    get nvnWindowGetNativeWindow -> NVNnativeWindow: |w| pointer(w.native_window);
    get nvnWindowGetPresentInterval -> i32: |w| w.interval;
}

pub(crate) extern "C" fn nvnWindowSetPresentInterval(window: *mut NVNwindow, interval: i32) {
    set(window, "nvnWindowSetPresentInterval", |w: &mut WindowRecord| {
        if is_interval(interval) {
            w.interval = interval;
            host::windows::set_interval(w.serial, interval);
        }
        is_interval(interval)
    });
}

/// The crop rectangle; the whole first texture before any SetCrop (B428).
pub(crate) extern "C" fn nvnWindowGetCrop(window: *const NVNwindow, rectangle: *mut NVNrectangle) {
    if let Some(w) = live::<WindowRecord, _>(window, "nvnWindowGetCrop") {
        let [x, y, width, height] = w.crop;
        output(rectangle, NVNrectangle { x, y, width, height });
    }
}

pub(crate) extern "C" fn nvnWindowSetCrop(window: *mut NVNwindow, x: i32, y: i32, w: i32, h: i32) {
    set(window, "nvnWindowSetCrop", |record: &mut WindowRecord| {
        let valid = x >= 0 && y >= 0 && w >= 0 && h >= 0;
        if valid {
            record.crop = [x, y, w, h];
            host::windows::set_crop(record.serial, x, y, w, h);
        }
        valid
    });
}

pub(crate) extern "C" fn nvnWindowSetDebugLabel(window: *mut NVNwindow, label: *const core::ffi::c_char) {
    let serial = get(window, "nvnWindowSetDebugLabel", |w: &WindowRecord| w.serial);
    super::label::note("NVNwindow", serial, label);
}

entries! {
    nvnWindowAcquireTexture,
    nvnWindowBuilderGetDevice,
    nvnWindowBuilderGetNativeWindow,
    nvnWindowBuilderGetNumTextures,
    nvnWindowBuilderGetPresentInterval,
    nvnWindowBuilderGetTexture,
    nvnWindowBuilderSetDefaults,
    nvnWindowBuilderSetDevice,
    nvnWindowBuilderSetNativeWindow,
    nvnWindowBuilderSetPresentInterval,
    nvnWindowBuilderSetTextures,
    nvnWindowFinalize,
    nvnWindowGetCrop,
    nvnWindowGetNativeWindow,
    nvnWindowGetPresentInterval,
    nvnWindowInitialize,
    nvnWindowSetCrop,
    nvnWindowSetDebugLabel,
    nvnWindowSetPresentInterval,
}
