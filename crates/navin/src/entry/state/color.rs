//! `nvnColorState*` and `nvnChannelMaskState*`.

use navin_abi::records::state::{ChannelMaskState, ColorState};
use navin_abi::types::*;

use crate::entry::object::{accessors, boolean, get, live, output, store};
use crate::entry::table::entries;

/// The colour target that the guest names; one that cannot exist for a negative number.
fn target(index: i32) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}

pub(crate) extern "C" fn nvnColorStateSetDefaults(color: *mut NVNcolorState) {
    store(color, ColorState::DEFAULT);
}

accessors! {
    NVNcolorState as ColorState;
    get nvnColorStateGetLogicOp -> NVNlogicOp: |s| s.logic_op();
    set nvnColorStateSetLogicOp(op: NVNlogicOp): |s| s.set_logic_op(op);
    get nvnColorStateGetAlphaTest -> NVNalphaFunc: |s| s.alpha_func();
    set nvnColorStateSetAlphaTest(func: NVNalphaFunc): |s| s.set_alpha_func(func);
    set nvnColorStateSetBlendEnable(index: i32, on: NVNboolean): |s| s.set_blend_enabled(target(index), on != 0);
}

pub(crate) extern "C" fn nvnColorStateGetBlendEnable(color: *const NVNcolorState, index: i32) -> NVNboolean {
    get(color, "nvnColorStateGetBlendEnable", |s: &ColorState| boolean(s.blend_enabled(target(index))))
}

pub(crate) extern "C" fn nvnChannelMaskStateSetDefaults(channel_mask: *mut NVNchannelMaskState) {
    store(channel_mask, ChannelMaskState::DEFAULT);
}

accessors! {
    NVNchannelMaskState as ChannelMaskState;
    set nvnChannelMaskStateSetChannelMask(index: i32, r: NVNboolean, g: NVNboolean, b: NVNboolean, a: NVNboolean):
        |s| s.set_channels(target(index), [r != 0, g != 0, b != 0, a != 0]);
}

pub(crate) extern "C" fn nvnChannelMaskStateGetChannelMask(
    channel_mask: *const NVNchannelMaskState,
    index: i32,
    r: *mut NVNboolean,
    g: *mut NVNboolean,
    b: *mut NVNboolean,
    a: *mut NVNboolean,
) {
    let Some(s) = live::<ChannelMaskState, _>(channel_mask, "nvnChannelMaskStateGetChannelMask") else { return };
    for (place, on) in [r, g, b, a].into_iter().zip(s.channels(target(index))) {
        output(place, boolean(on));
    }
}

entries! {
    nvnChannelMaskStateGetChannelMask,
    nvnChannelMaskStateSetChannelMask,
    nvnChannelMaskStateSetDefaults,
    nvnColorStateGetAlphaTest,
    nvnColorStateGetBlendEnable,
    nvnColorStateGetLogicOp,
    nvnColorStateSetAlphaTest,
    nvnColorStateSetBlendEnable,
    nvnColorStateSetDefaults,
    nvnColorStateSetLogicOp,
}
