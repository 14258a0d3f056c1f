//! `nvnSamplerBuilder*` and `nvnSampler*`: state that stays in the guest's object (B104); the host learns of a
//! sampler when it is registered in a sampler pool.

use bytemuck::bytes_of;
use navin_abi::records::{BorderColor, SamplerBuilderRecord, SamplerRecord, SamplerState};
use navin_abi::types::*;

use super::object::{
    accessors, address, array, boolean, clear_magic, live, live_or_none, output, pointer, raw, set, store,
};
use super::table::entries;

pub(crate) extern "C" fn nvnSamplerBuilderSetDevice(builder: *mut NVNsamplerBuilder, device: *mut NVNdevice) {
    store(builder, address(device));
}

pub(crate) extern "C" fn nvnSamplerBuilderSetDefaults(builder: *mut NVNsamplerBuilder) {
    let device = raw::<u64, _>(builder).unwrap_or(0);
    store(builder, SamplerBuilderRecord { device, state: SamplerState::DEFAULT });
}

accessors! {
    NVNsamplerBuilder as SamplerBuilderRecord;
    get nvnSamplerBuilderGetDevice -> *const NVNdevice: |b| pointer(b.device);
    set nvnSamplerBuilderSetMinMagFilter(min: NVNminFilter, mag: NVNmagFilter):
        |b| b.state.modes.set_min_filter(min) && b.state.modes.set_mag_filter(mag);
    set nvnSamplerBuilderSetWrapMode(s: NVNwrapMode, t: NVNwrapMode, r: NVNwrapMode):
        |b| b.state.modes.set_wrap_s(s) && b.state.modes.set_wrap_t(t) && b.state.modes.set_wrap_r(r);
    set nvnSamplerBuilderSetLodClamp(min: f32, max: f32): |b| {
        b.state.set_lod_clamp([min, max]);
        true
    };
    get nvnSamplerBuilderGetLodBias -> f32: |b| b.state.lod_bias();
    set nvnSamplerBuilderSetLodBias(bias: f32): |b| {
        b.state.set_lod_bias(bias);
        true
    };
    get nvnSamplerBuilderGetLodSnap -> f32: |b| b.state.lod_snap();
    set nvnSamplerBuilderSetLodSnap(snap: f32): |b| {
        b.state.set_lod_snap(snap);
        true
    };
    get nvnSamplerBuilderGetMaxAnisotropy -> f32: |b| b.state.max_anisotropy();
    set nvnSamplerBuilderSetMaxAnisotropy(max: f32): |b| {
        b.state.set_max_anisotropy(max);
        true
    };
    set nvnSamplerBuilderSetCompare(mode: NVNcompareMode, func: NVNcompareFunc):
        |b| b.state.modes.set_compare_mode(mode) && b.state.modes.set_compare_func(func);
    get nvnSamplerBuilderGetReductionFilter -> NVNsamplerReduction: |b| b.state.modes.reduction();
    set nvnSamplerBuilderSetReductionFilter(filter: NVNsamplerReduction): |b| b.state.modes.set_reduction(filter);
}

/// The border colour setters: four numbers of the setter's kind, kept as they are and read numerically (B414).
fn set_border<T: bytemuck::Pod>(
    builder: *mut NVNsamplerBuilder,
    color: *const T,
    call: &'static str,
    kind: fn([T; 4]) -> BorderColor,
) {
    set(builder, call, |b: &mut SamplerBuilderRecord| {
        let Some(color) = array(color, 4).and_then(|c| <[T; 4]>::try_from(c).ok()) else { return false };
        b.state.set_border(kind(color));
        true
    });
}

pub(crate) extern "C" fn nvnSamplerBuilderSetBorderColor(builder: *mut NVNsamplerBuilder, color: *const f32) {
    set_border(builder, color, "nvnSamplerBuilderSetBorderColor", BorderColor::Float);
}

pub(crate) extern "C" fn nvnSamplerBuilderSetBorderColori(builder: *mut NVNsamplerBuilder, color: *const i32) {
    set_border(builder, color, "nvnSamplerBuilderSetBorderColori", BorderColor::Signed);
}

pub(crate) extern "C" fn nvnSamplerBuilderSetBorderColorui(builder: *mut NVNsamplerBuilder, color: *const u32) {
    set_border(builder, color, "nvnSamplerBuilderSetBorderColorui", BorderColor::Unsigned);
}

/// Writes the four numbers of an out-array; null is left alone.
fn output4<T: bytemuck::Pod>(place: *mut T, values: [T; 4]) {
    for (i, value) in values.into_iter().enumerate() {
        if !place.is_null() {
            output(place.wrapping_add(i), value);
        }
    }
}

/// Getters that write through pointers, alike for builder and sampler.
macro_rules! state_getters {
    ($object:ident as $record:ident: $filter:ident, $wrap:ident, $lod:ident, $compare:ident, $float:ident, $signed:ident, $unsigned:ident) => {
        pub(crate) extern "C" fn $filter(object: *const $object, min: *mut NVNminFilter, mag: *mut NVNmagFilter) {
            let Some(r) = live::<$record, _>(object, stringify!($filter)) else { return };
            output(min, r.state.modes.min_filter());
            output(mag, r.state.modes.mag_filter());
        }

        pub(crate) extern "C" fn $wrap(
            object: *const $object,
            s: *mut NVNwrapMode,
            t: *mut NVNwrapMode,
            r: *mut NVNwrapMode,
        ) {
            let Some(record) = live::<$record, _>(object, stringify!($wrap)) else { return };
            [s, t, r].into_iter().zip(record.state.decode().wrap).for_each(|(place, value)| output(place, value));
        }

        pub(crate) extern "C" fn $lod(object: *const $object, min: *mut f32, max: *mut f32) {
            let Some(r) = live::<$record, _>(object, stringify!($lod)) else { return };
            let [lod_min, lod_max] = r.state.lod_clamp();
            output(min, lod_min);
            output(max, lod_max);
        }

        pub(crate) extern "C" fn $compare(
            object: *const $object,
            mode: *mut NVNcompareMode,
            func: *mut NVNcompareFunc,
        ) {
            let Some(r) = live::<$record, _>(object, stringify!($compare)) else { return };
            output(mode, r.state.modes.compare_mode());
            output(func, r.state.modes.compare_func());
        }

        pub(crate) extern "C" fn $float(object: *const $object, color: *mut f32) {
            let Some(r) = live::<$record, _>(object, stringify!($float)) else { return };
            output4(color, r.state.border().to_float());
        }

        pub(crate) extern "C" fn $signed(object: *const $object, color: *mut i32) {
            let Some(r) = live::<$record, _>(object, stringify!($signed)) else { return };
            output4(color, r.state.border().to_signed());
        }

        pub(crate) extern "C" fn $unsigned(object: *const $object, color: *mut u32) {
            let Some(r) = live::<$record, _>(object, stringify!($unsigned)) else { return };
            output4(color, r.state.border().to_unsigned());
        }
    };
}

state_getters! {
    NVNsamplerBuilder as SamplerBuilderRecord:
    nvnSamplerBuilderGetMinMagFilter, nvnSamplerBuilderGetWrapMode, nvnSamplerBuilderGetLodClamp,
    nvnSamplerBuilderGetCompare, nvnSamplerBuilderGetBorderColor, nvnSamplerBuilderGetBorderColori,
    nvnSamplerBuilderGetBorderColorui
}
state_getters! {
    NVNsampler as SamplerRecord:
    nvnSamplerGetMinMagFilter, nvnSamplerGetWrapMode, nvnSamplerGetLodClamp, nvnSamplerGetCompare,
    nvnSamplerGetBorderColor, nvnSamplerGetBorderColori, nvnSamplerGetBorderColorui
}

accessors! {
    NVNsampler as SamplerRecord;
    get nvnSamplerGetLodBias -> f32: |r| r.state.lod_bias();
    get nvnSamplerGetMaxAnisotropy -> f32: |r| r.state.max_anisotropy();
    get nvnSamplerGetReductionFilter -> NVNsamplerReduction: |r| r.state.modes.reduction();
}

pub(crate) extern "C" fn nvnSamplerInitialize(
    sampler: *mut NVNsampler,
    builder: *const NVNsamplerBuilder,
) -> NVNboolean {
    let Some(builder) = live::<SamplerBuilderRecord, _>(builder, "nvnSamplerInitialize") else { return NVN_FALSE };
    store(sampler, SamplerRecord::new(builder.state));
    boolean(!sampler.is_null())
}

pub(crate) extern "C" fn nvnSamplerFinalize(sampler: *mut NVNsampler) {
    if live::<SamplerRecord, _>(sampler, "nvnSamplerFinalize").is_some() {
        clear_magic(sampler);
    }
}

/// Whether both samplers are the same state.
pub(crate) extern "C" fn nvnSamplerCompare(sampler1: *const NVNsampler, sampler2: *const NVNsampler) -> NVNboolean {
    match (live_or_none::<SamplerRecord, _>(sampler1), live_or_none::<SamplerRecord, _>(sampler2)) {
        (Some(a), Some(b)) => boolean(bytes_of(&a.state) == bytes_of(&b.state)),
        _ => NVN_FALSE,
    }
}

/// A sampler has no room for a number of its own (B104): its address tells samplers apart.
pub(crate) extern "C" fn nvnSamplerGetDebugID(sampler: *const NVNsampler) -> u64 {
    live::<SamplerRecord, _>(sampler, "nvnSamplerGetDebugID").map_or(0, |_| address(sampler))
}

pub(crate) extern "C" fn nvnSamplerSetDebugLabel(sampler: *mut NVNsampler, label: *const core::ffi::c_char) {
    super::label::note("NVNsampler", address(sampler), label);
}

entries! {
    nvnSamplerBuilderGetBorderColor,
    nvnSamplerBuilderGetBorderColori,
    nvnSamplerBuilderGetBorderColorui,
    nvnSamplerBuilderGetCompare,
    nvnSamplerBuilderGetDevice,
    nvnSamplerBuilderGetLodBias,
    nvnSamplerBuilderGetLodClamp,
    nvnSamplerBuilderGetLodSnap,
    nvnSamplerBuilderGetMaxAnisotropy,
    nvnSamplerBuilderGetMinMagFilter,
    nvnSamplerBuilderGetReductionFilter,
    nvnSamplerBuilderGetWrapMode,
    nvnSamplerBuilderSetBorderColor,
    nvnSamplerBuilderSetBorderColori,
    nvnSamplerBuilderSetBorderColorui,
    nvnSamplerBuilderSetCompare,
    nvnSamplerBuilderSetDefaults,
    nvnSamplerBuilderSetDevice,
    nvnSamplerBuilderSetLodBias,
    nvnSamplerBuilderSetLodClamp,
    nvnSamplerBuilderSetLodSnap,
    nvnSamplerBuilderSetMaxAnisotropy,
    nvnSamplerBuilderSetMinMagFilter,
    nvnSamplerBuilderSetReductionFilter,
    nvnSamplerBuilderSetWrapMode,
    nvnSamplerCompare,
    nvnSamplerFinalize,
    nvnSamplerGetBorderColor,
    nvnSamplerGetBorderColori,
    nvnSamplerGetBorderColorui,
    nvnSamplerGetCompare,
    nvnSamplerGetDebugID,
    nvnSamplerGetLodBias,
    nvnSamplerGetLodClamp,
    nvnSamplerGetMaxAnisotropy,
    nvnSamplerGetMinMagFilter,
    nvnSamplerGetReductionFilter,
    nvnSamplerGetWrapMode,
    nvnSamplerInitialize,
    nvnSamplerSetDebugLabel,
}
