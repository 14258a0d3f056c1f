//! `nvnTextureView*`: a view is its 16 bytes and nothing else.

use navin_abi::records::ViewDesc;
use navin_abi::types::*;

use super::object::{accessors, address, boolean, live, live_or_none, output, store};
use super::table::entries;

/// The view that the guest passed beside a texture: nothing set for null. Bytes that SetDefaults never made are
/// named and count as nothing set.
pub(crate) fn view_argument(view: *const NVNtextureView, call: &'static str) -> ViewDesc {
    if address(view) == 0 { ViewDesc::NONE } else { live::<ViewDesc, _>(view, call).unwrap_or(ViewDesc::NONE) }
}

pub(crate) extern "C" fn nvnTextureViewSetDefaults(view: *mut NVNtextureView) {
    store(view, ViewDesc::NONE);
}

accessors! {
    NVNtextureView as ViewDesc;
    set nvnTextureViewSetLevels(base_level: i32, num_levels: i32): |v| v.set_levels(base_level, num_levels);
    set nvnTextureViewSetLayers(min_layer: i32, num_layers: i32): |v| v.set_layers(min_layer, num_layers);
    set nvnTextureViewSetFormat(format: NVNformat): |v| v.set_format(format);
    set nvnTextureViewSetSwizzle(r: NVNtextureSwizzle, g: NVNtextureSwizzle, b: NVNtextureSwizzle, a: NVNtextureSwizzle):
        |v| v.set_swizzle([r, g, b, a]);
    set nvnTextureViewSetDepthStencilMode(mode: NVNtextureDepthStencilMode): |v| v.set_depth_stencil_mode(mode);
    set nvnTextureViewSetTarget(target: NVNtextureTarget): |v| v.set_target(target);
}

/// A getter's answer: false, with nothing written, when the field was not set.
fn optional<T>(
    view: *const NVNtextureView,
    call: &'static str,
    field: impl FnOnce(&ViewDesc) -> Option<T>,
    write: impl FnOnce(T),
) -> NVNboolean {
    let value = live::<ViewDesc, _>(view, call).as_ref().and_then(field);
    let set = value.is_some();
    value.map(write);
    boolean(set)
}

pub(crate) extern "C" fn nvnTextureViewGetLevels(
    view: *const NVNtextureView,
    base_level: *mut i32,
    num_levels: *mut i32,
) -> NVNboolean {
    optional(view, "nvnTextureViewGetLevels", ViewDesc::levels, |(base, count)| {
        output(base_level, base as i32);
        output(num_levels, count as i32);
    })
}

pub(crate) extern "C" fn nvnTextureViewGetLayers(
    view: *const NVNtextureView,
    min_layer: *mut i32,
    num_layers: *mut i32,
) -> NVNboolean {
    optional(view, "nvnTextureViewGetLayers", ViewDesc::layers, |(base, count)| {
        output(min_layer, base as i32);
        output(num_layers, count as i32);
    })
}

pub(crate) extern "C" fn nvnTextureViewGetFormat(view: *const NVNtextureView, format: *mut NVNformat) -> NVNboolean {
    optional(view, "nvnTextureViewGetFormat", ViewDesc::format, |value| output(format, value))
}

pub(crate) extern "C" fn nvnTextureViewGetSwizzle(
    view: *const NVNtextureView,
    r: *mut NVNtextureSwizzle,
    g: *mut NVNtextureSwizzle,
    b: *mut NVNtextureSwizzle,
    a: *mut NVNtextureSwizzle,
) -> NVNboolean {
    optional(view, "nvnTextureViewGetSwizzle", ViewDesc::swizzle, |swizzle| {
        [r, g, b, a].into_iter().zip(swizzle).for_each(|(place, value)| output(place, value));
    })
}

pub(crate) extern "C" fn nvnTextureViewGetDepthStencilMode(
    view: *const NVNtextureView,
    mode: *mut NVNtextureDepthStencilMode,
) -> NVNboolean {
    optional(view, "nvnTextureViewGetDepthStencilMode", ViewDesc::depth_stencil_mode, |value| output(mode, value))
}

pub(crate) extern "C" fn nvnTextureViewGetTarget(
    view: *const NVNtextureView,
    target: *mut NVNtextureTarget,
) -> NVNboolean {
    optional(view, "nvnTextureViewGetTarget", ViewDesc::target, |value| output(target, value))
}

/// True when both set the same fields to the same values (B435).
pub(crate) extern "C" fn nvnTextureViewCompare(
    view1: *const NVNtextureView,
    view2: *const NVNtextureView,
) -> NVNboolean {
    // A field that was never set is zero in every view, so equal views are equal bytes.
    match (live_or_none::<ViewDesc, _>(view1), live_or_none::<ViewDesc, _>(view2)) {
        (Some(a), Some(b)) => boolean(a == b),
        _ => boolean(false),
    }
}

entries! {
    nvnTextureViewCompare,
    nvnTextureViewGetDepthStencilMode,
    nvnTextureViewGetFormat,
    nvnTextureViewGetLayers,
    nvnTextureViewGetLevels,
    nvnTextureViewGetSwizzle,
    nvnTextureViewGetTarget,
    nvnTextureViewSetDefaults,
    nvnTextureViewSetDepthStencilMode,
    nvnTextureViewSetFormat,
    nvnTextureViewSetLayers,
    nvnTextureViewSetLevels,
    nvnTextureViewSetSwizzle,
    nvnTextureViewSetTarget,
}
