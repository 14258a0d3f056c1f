//! `nvnDeviceBuilder*`, `nvnDevice*` but for the loader.
//!
//! Integers come from the device-info tables, never from the host's limits (B420); handles are arithmetic; the
//! modes go to the host, which replays by them.

use std::ffi::c_char;
use std::sync::Once;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use navin_abi::device_info::{self, Generation};
use navin_abi::fault;
use navin_abi::records::{DeviceBuilderRecord, DeviceRecord};
use navin_abi::types::*;

use super::debug_callback;
use super::object::{accessors, address, clear_magic, get, live, output, set, store};
use super::table::entries;
use crate::{driver, host};

/// What the guest was built for, packed: bit 0 NVN2, bit 1 a version is given, then major and minor, 31 bits each.
static GUEST: AtomicU64 = AtomicU64::new(0);

/// Says what the guest was built for: its console, and the API version to report in place of the table's (B417:
/// [`device_info::API_VERSION_SDK_10`] for SDK 10 and older, or the per-title `device_api_version`). Call it
/// before the guest's first NVN call; without it the guest is a first-generation one of SDK 11 or later.
pub fn identify_guest(generation: Generation, api_version: Option<(u16, u16)>) {
    let nvn2 = u64::from(generation == Generation::Nvn2);
    let version = api_version.map_or(0, |(major, minor)| 2 | u64::from(major) << 16 | u64::from(minor) << 32);
    GUEST.store(nvn2 | version, Ordering::Release);
}

/// Says which console the guest was built for, and leaves the version as it is.
pub fn set_generation(generation: Generation) {
    let nvn2 = u64::from(generation == Generation::Nvn2);
    // The closure never gives `None`.
    let _ = GUEST.fetch_update(Ordering::AcqRel, Ordering::Acquire, |packed| Some(packed & !1 | nvn2));
}

fn guest() -> (Generation, Option<(i32, i32)>) {
    let packed = GUEST.load(Ordering::Acquire);
    let generation = if packed & 1 != 0 { Generation::Nvn2 } else { Generation::X1 };
    (generation, (packed & 2 != 0).then_some(((packed >> 16 & 0xffff) as i32, (packed >> 32 & 0xffff) as i32)))
}

pub(crate) extern "C" fn nvnDeviceBuilderSetDefaults(builder: *mut NVNdeviceBuilder) {
    store(builder, DeviceBuilderRecord::new());
}

accessors! {
    NVNdeviceBuilder as DeviceBuilderRecord;
    get nvnDeviceBuilderGetFlags -> i32: |b| b.flags;
    set nvnDeviceBuilderSetFlags(flags: NVNdeviceFlagBits): |b| {
        b.flags = flags.raw();
        true
    };
}

pub(crate) extern "C" fn nvnDeviceInitialize(device: *mut NVNdevice, builder: *const NVNdeviceBuilder) -> NVNboolean {
    // Old guests pass no builder.
    let flags = if builder.is_null() {
        0
    } else {
        match live::<DeviceBuilderRecord, _>(builder, "nvnDeviceInitialize") {
            Some(b) => b.flags,
            None => return NVN_FALSE,
        }
    };
    if device.is_null() {
        fault!("", "nvnDeviceInitialize: null NVNdevice; answered false");
        return NVN_FALSE;
    }
    if !host::device::open() {
        return NVN_FALSE;
    }
    // Decided here, once, for whatever differs between the generations (B305); the settings win over the embedder.
    if let Some(generation) = host::device::configured_generation() {
        set_generation(generation);
    }
    host::device::set_generation(guest().0);
    let record = DeviceRecord::new(flags);
    host::device::set_window_origin(record.window_origin);
    host::device::set_depth_mode(record.depth_mode);
    store(device, record);
    NVN_TRUE
}

/// The driver stays open for the next device; what the guest made goes when the guest finalizes it.
pub(crate) extern "C" fn nvnDeviceFinalize(device: *mut NVNdevice) {
    if live::<DeviceRecord, _>(device, "nvnDeviceFinalize").is_some() {
        debug_callback::remove(device as usize);
        clear_magic(device);
        static LAST: Once = Once::new();
        LAST.call_once(driver::leave_first);
    }
}

/// The answer to one item. Every query is logged at level DEBUG, target `navin::device_info`; an item without a
/// known value is named loudly and answers 0 (B416).
fn integer(item: NVNdeviceInfo) -> i32 {
    let (generation, version) = guest();
    let known = match (item, version) {
        (NVNdeviceInfo::API_MAJOR_VERSION, Some((major, _))) => Some(major),
        (NVNdeviceInfo::API_MINOR_VERSION, Some((_, minor))) => Some(minor),
        _ => device_info::lookup(item, generation),
    };
    if known.is_none() {
        fault!(key = item.raw(), "B416", "nvnDeviceGetInteger({:#x}): no value is known; answered 0", item.raw());
    }
    let answer = known.unwrap_or(0);
    let name = device_info::item(item).and_then(|row| row.name).unwrap_or("-");
    tracing::debug!(target: "navin::device_info", item = item.raw(), name, answer, known = known.is_some());
    answer
}

pub(crate) extern "C" fn nvnDeviceGetInteger(_device: *const NVNdevice, item: NVNdeviceInfo, value: *mut i32) {
    output(value, integer(item));
}

accessors! {
    NVNdevice as DeviceRecord;
    get nvnDeviceGetWindowOriginMode -> NVNwindowOriginMode: |d| NVNwindowOriginMode(d.window_origin);
    get nvnDeviceGetDepthMode -> NVNdepthMode: |d| NVNdepthMode(d.depth_mode);
}

pub(crate) extern "C" fn nvnDeviceSetWindowOriginMode(device: *mut NVNdevice, mode: NVNwindowOriginMode) {
    set(device, "nvnDeviceSetWindowOriginMode", |d: &mut DeviceRecord| {
        let valid = mode.name().is_some();
        if valid {
            d.window_origin = mode.raw();
            host::device::set_window_origin(mode.raw());
        }
        valid
    });
}

pub(crate) extern "C" fn nvnDeviceSetDepthMode(device: *mut NVNdevice, mode: NVNdepthMode) {
    set(device, "nvnDeviceSetDepthMode", |d: &mut DeviceRecord| {
        let valid = mode.name().is_some();
        if valid {
            d.depth_mode = mode.raw();
            host::device::set_depth_mode(mode.raw());
        }
        valid
    });
}

// Handles: texture id in bits 0-19, sampler id in bits 20-31 (B415).

fn texture_bits(id: i32) -> u64 {
    u64::from(id as u32 & 0xf_ffff)
}

fn sampler_bits(id: i32) -> u64 {
    u64::from(id as u32 & 0xfff) << 20
}

pub(crate) extern "C" fn nvnDeviceGetTextureHandle(
    _device: *const NVNdevice,
    texture_id: i32,
    sampler_id: i32,
) -> NVNtextureHandle {
    texture_bits(texture_id) | sampler_bits(sampler_id)
}

/// The texture with sampler 0 (B424).
pub(crate) extern "C" fn nvnDeviceGetTexelFetchHandle(_device: *const NVNdevice, texture_id: i32) -> NVNtextureHandle {
    texture_bits(texture_id)
}

pub(crate) extern "C" fn nvnDeviceGetImageHandle(_device: *const NVNdevice, texture_id: i32) -> NVNimageHandle {
    texture_bits(texture_id)
}

pub(crate) extern "C" fn nvnDeviceGetSeparateTextureHandle(
    _device: *const NVNdevice,
    texture_id: i32,
) -> NVNseparateTextureHandle {
    NVNseparateTextureHandle { value: texture_bits(texture_id) }
}

pub(crate) extern "C" fn nvnDeviceGetSeparateSamplerHandle(
    _device: *const NVNdevice,
    sampler_id: i32,
) -> NVNseparateSamplerHandle {
    NVNseparateSamplerHandle { value: sampler_bits(sampler_id) }
}

pub(crate) extern "C" fn nvnDeviceGetCurrentTimestampInNanoseconds(_device: *const NVNdevice) -> u64 {
    host::device::timestamp_ns()
}

/// Reports hold ticks of the hardware's clock.
pub(crate) extern "C" fn nvnDeviceGetTimestampInNanoseconds(
    _device: *const NVNdevice,
    counter_data: *const NVNcounterData,
) -> u64 {
    super::object::raw::<NVNcounterData, _>(counter_data).map_or(0, |data| host::device::report_ns(data.timestamp))
}

/// Fast clear colours are hints to the hardware: accepted (B429).
fn accept_hint(device: *const NVNdevice, call: &'static str) -> NVNboolean {
    get(device, call, |_: &DeviceRecord| NVN_TRUE)
}

pub(crate) extern "C" fn nvnDeviceRegisterFastClearColor(
    device: *mut NVNdevice,
    _color: *const f32,
    _format: NVNformat,
) -> NVNboolean {
    accept_hint(device, "nvnDeviceRegisterFastClearColor")
}

pub(crate) extern "C" fn nvnDeviceRegisterFastClearColori(
    device: *mut NVNdevice,
    _color: *const i32,
    _format: NVNformat,
) -> NVNboolean {
    accept_hint(device, "nvnDeviceRegisterFastClearColori")
}

pub(crate) extern "C" fn nvnDeviceRegisterFastClearColorui(
    device: *mut NVNdevice,
    _color: *const u32,
    _format: NVNformat,
) -> NVNboolean {
    accept_hint(device, "nvnDeviceRegisterFastClearColorui")
}

pub(crate) extern "C" fn nvnDeviceRegisterFastClearDepth(device: *mut NVNdevice, _depth: f32) -> NVNboolean {
    accept_hint(device, "nvnDeviceRegisterFastClearDepth")
}

/// Accepted (B428): Navin keeps its own cache of translated shaders.
pub(crate) extern "C" fn nvnDeviceSetIntermediateShaderCache(_device: *mut NVNdevice, _size: i32) {}

/// Finalized objects are released by what last used them, never deferred to a call.
pub(crate) extern "C" fn nvnDeviceApplyDeferredFinalizes(_device: *mut NVNdevice, _argument: i32) {}

/// A handle holds nothing of its own: it is an address in control memory.
pub(crate) extern "C" fn nvnDeviceFinalizeCommandHandle(_device: *mut NVNdevice, _handle: NVNcommandHandle) {}

pub(crate) extern "C" fn nvnDeviceInstallDebugCallback(
    device: *mut NVNdevice,
    callback: PFNNVNDEBUGCALLBACKPROC,
    data: *mut core::ffi::c_void,
    enable: NVNboolean,
) {
    if live::<DeviceRecord, _>(device, "nvnDeviceInstallDebugCallback").is_some() {
        debug_callback::install(device as usize, callback, data as usize, enable != NVN_FALSE);
    }
}

/// Domain ids are 1, 2, ... for the process.
pub(crate) extern "C" fn nvnDeviceGenerateDebugDomainId(
    _device: *const NVNdevice,
    name: *const c_char,
) -> NVNdebugDomainId {
    static NEXT: AtomicI32 = AtomicI32::new(1);
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    super::label::note("debug domain", id as u64, name);
    id
}

/// Without the debug layer, which Navin has not, the database is empty.
pub(crate) extern "C" fn nvnDeviceWalkDebugDatabase(
    _device: *const NVNdevice,
    _object_type: NVNdebugObjectType,
    _callback: PFNNVNWALKDEBUGDATABASECALLBACKPROC,
    _data: *mut core::ffi::c_void,
) {
}

pub(crate) extern "C" fn nvnDeviceIsExternalDebuggerAttached(_device: *const NVNdevice) -> NVNboolean {
    NVN_FALSE
}

pub(crate) extern "C" fn nvnDeviceSetDebugLabel(device: *mut NVNdevice, label: *const c_char) {
    super::label::note("NVNdevice", address(device), label);
}

entries! {
    nvnDeviceApplyDeferredFinalizes,
    nvnDeviceBuilderGetFlags,
    nvnDeviceBuilderSetDefaults,
    nvnDeviceBuilderSetFlags,
    nvnDeviceFinalize,
    nvnDeviceFinalizeCommandHandle,
    nvnDeviceGenerateDebugDomainId,
    nvnDeviceGetCurrentTimestampInNanoseconds,
    nvnDeviceGetDepthMode,
    nvnDeviceGetImageHandle,
    nvnDeviceGetInteger,
    nvnDeviceGetSeparateSamplerHandle,
    nvnDeviceGetSeparateTextureHandle,
    nvnDeviceGetTexelFetchHandle,
    nvnDeviceGetTextureHandle,
    nvnDeviceGetTimestampInNanoseconds,
    nvnDeviceGetWindowOriginMode,
    nvnDeviceInitialize,
    nvnDeviceInstallDebugCallback,
    nvnDeviceIsExternalDebuggerAttached,
    nvnDeviceRegisterFastClearColor,
    nvnDeviceRegisterFastClearColori,
    nvnDeviceRegisterFastClearColorui,
    nvnDeviceRegisterFastClearDepth,
    nvnDeviceSetDebugLabel,
    nvnDeviceSetDepthMode,
    nvnDeviceSetIntermediateShaderCache,
    nvnDeviceSetWindowOriginMode,
    nvnDeviceWalkDebugDatabase,
}
