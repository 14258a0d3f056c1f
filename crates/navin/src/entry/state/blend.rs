//! `nvnBlendState*`.

use navin_abi::records::state::BlendState;
use navin_abi::types::*;

use crate::entry::object::{accessors, boolean, live, output, store};
use crate::entry::table::entries;

pub(crate) extern "C" fn nvnBlendStateSetDefaults(blend: *mut NVNblendState) {
    store(blend, BlendState::DEFAULT);
}

accessors! {
    NVNblendState as BlendState;
    get nvnBlendStateGetBlendTarget -> i32: |s| s.target();
    set nvnBlendStateSetBlendTarget(target: i32): |s| s.set_target(target);
    get nvnBlendStateGetAdvancedMode -> NVNblendAdvancedMode: |s| s.advanced_mode();
    set nvnBlendStateSetAdvancedMode(mode: NVNblendAdvancedMode): |s| s.set_advanced_mode(mode);
    get nvnBlendStateGetAdvancedOverlap -> NVNblendAdvancedOverlap: |s| s.advanced_overlap();
    set nvnBlendStateSetAdvancedOverlap(overlap: NVNblendAdvancedOverlap): |s| s.set_advanced_overlap(overlap);
    get nvnBlendStateGetAdvancedPremultipliedSrc -> NVNboolean: |s| boolean(s.advanced_premultiplied_source());
    set nvnBlendStateSetAdvancedPremultipliedSrc(on: NVNboolean): |s| s.set_advanced_premultiplied_source(on != 0);
    get nvnBlendStateGetAdvancedNormalizedDst -> NVNboolean: |s| boolean(s.advanced_normalized_destination());
    set nvnBlendStateSetAdvancedNormalizedDst(on: NVNboolean): |s| s.set_advanced_normalized_destination(on != 0);
    set nvnBlendStateSetBlendEquation(rgb: NVNblendEquation, alpha: NVNblendEquation):
        |s| s.set_equation_rgb(rgb) && s.set_equation_alpha(alpha);
    set nvnBlendStateSetBlendFunc(
        source: NVNblendFunc, destination: NVNblendFunc, source_alpha: NVNblendFunc, destination_alpha: NVNblendFunc
    ): |s| {
        s.set_source_rgb(source)
            && s.set_destination_rgb(destination)
            && s.set_source_alpha(source_alpha)
            && s.set_destination_alpha(destination_alpha)
    };
}

pub(crate) extern "C" fn nvnBlendStateGetBlendEquation(
    blend: *const NVNblendState,
    rgb: *mut NVNblendEquation,
    alpha: *mut NVNblendEquation,
) {
    let Some(s) = live::<BlendState, _>(blend, "nvnBlendStateGetBlendEquation") else { return };
    output(rgb, s.equation_rgb());
    output(alpha, s.equation_alpha());
}

pub(crate) extern "C" fn nvnBlendStateGetBlendFunc(
    blend: *const NVNblendState,
    source: *mut NVNblendFunc,
    destination: *mut NVNblendFunc,
    source_alpha: *mut NVNblendFunc,
    destination_alpha: *mut NVNblendFunc,
) {
    let Some(s) = live::<BlendState, _>(blend, "nvnBlendStateGetBlendFunc") else { return };
    output(source, s.source_rgb());
    output(destination, s.destination_rgb());
    output(source_alpha, s.source_alpha());
    output(destination_alpha, s.destination_alpha());
}

entries! {
    nvnBlendStateGetAdvancedMode,
    nvnBlendStateGetAdvancedNormalizedDst,
    nvnBlendStateGetAdvancedOverlap,
    nvnBlendStateGetAdvancedPremultipliedSrc,
    nvnBlendStateGetBlendEquation,
    nvnBlendStateGetBlendFunc,
    nvnBlendStateGetBlendTarget,
    nvnBlendStateSetAdvancedMode,
    nvnBlendStateSetAdvancedNormalizedDst,
    nvnBlendStateSetAdvancedOverlap,
    nvnBlendStateSetAdvancedPremultipliedSrc,
    nvnBlendStateSetBlendEquation,
    nvnBlendStateSetBlendFunc,
    nvnBlendStateSetBlendTarget,
    nvnBlendStateSetDefaults,
}
