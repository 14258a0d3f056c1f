//! `nvnDepthStencilState*`.

use navin_abi::records::state::{DepthStencilState, StencilFace};
use navin_abi::types::*;

use crate::entry::object::{accessors, boolean, get, live, output, store};
use crate::entry::table::entries;

pub(crate) extern "C" fn nvnDepthStencilStateSetDefaults(depth_stencil: *mut NVNdepthStencilState) {
    store(depth_stencil, DepthStencilState::DEFAULT);
}

/// The face that a getter reads when the guest names both or none: the front one.
fn face(state: &DepthStencilState, faces: NVNface) -> StencilFace {
    state.face(faces == NVNface::BACK)
}

/// Whether the setter's faces are FRONT, BACK or both.
fn are_faces(faces: NVNface) -> bool {
    matches!(faces, NVNface::FRONT | NVNface::BACK | NVNface::FRONT_AND_BACK)
}

fn set_func(s: &mut DepthStencilState, faces: NVNface, func: NVNstencilFunc) -> bool {
    are_faces(faces)
        && (faces == NVNface::BACK || s.set_front_func(func))
        && (faces == NVNface::FRONT || s.set_back_func(func))
}

fn set_op(s: &mut DepthStencilState, faces: NVNface, ops: [NVNstencilOp; 3]) -> bool {
    let [fail, depth_fail, depth_pass] = ops;
    let front = faces != NVNface::BACK;
    let back = faces != NVNface::FRONT;
    are_faces(faces)
        && (!front
            || s.set_front_fail(fail) && s.set_front_depth_fail(depth_fail) && s.set_front_depth_pass(depth_pass))
        && (!back || s.set_back_fail(fail) && s.set_back_depth_fail(depth_fail) && s.set_back_depth_pass(depth_pass))
}

accessors! {
    NVNdepthStencilState as DepthStencilState;
    get nvnDepthStencilStateGetDepthTestEnable -> NVNboolean: |s| boolean(s.depth_test());
    set nvnDepthStencilStateSetDepthTestEnable(on: NVNboolean): |s| s.set_depth_test(on != 0);
    get nvnDepthStencilStateGetDepthWriteEnable -> NVNboolean: |s| boolean(s.depth_write());
    set nvnDepthStencilStateSetDepthWriteEnable(on: NVNboolean): |s| s.set_depth_write(on != 0);
    get nvnDepthStencilStateGetDepthFunc -> NVNdepthFunc: |s| s.depth_func();
    set nvnDepthStencilStateSetDepthFunc(func: NVNdepthFunc): |s| s.set_depth_func(func);
    get nvnDepthStencilStateGetStencilTestEnable -> NVNboolean: |s| boolean(s.stencil_test());
    set nvnDepthStencilStateSetStencilTestEnable(on: NVNboolean): |s| s.set_stencil_test(on != 0);
    set nvnDepthStencilStateSetStencilFunc(faces: NVNface, func: NVNstencilFunc): |s| set_func(s, faces, func);
    set nvnDepthStencilStateSetStencilOp(
        faces: NVNface, fail: NVNstencilOp, depth_fail: NVNstencilOp, depth_pass: NVNstencilOp
    ): |s| set_op(s, faces, [fail, depth_fail, depth_pass]);
}

pub(crate) extern "C" fn nvnDepthStencilStateGetStencilFunc(
    depth_stencil: *const NVNdepthStencilState,
    faces: NVNface,
) -> NVNstencilFunc {
    get(depth_stencil, "nvnDepthStencilStateGetStencilFunc", |s| face(s, faces).func)
}

pub(crate) extern "C" fn nvnDepthStencilStateGetStencilOp(
    depth_stencil: *const NVNdepthStencilState,
    faces: NVNface,
    fail: *mut NVNstencilOp,
    depth_fail: *mut NVNstencilOp,
    depth_pass: *mut NVNstencilOp,
) {
    let Some(s) = live::<DepthStencilState, _>(depth_stencil, "nvnDepthStencilStateGetStencilOp") else { return };
    let face = face(&s, faces);
    output(fail, face.fail);
    output(depth_fail, face.depth_fail);
    output(depth_pass, face.depth_pass);
}

entries! {
    nvnDepthStencilStateGetDepthFunc,
    nvnDepthStencilStateGetDepthTestEnable,
    nvnDepthStencilStateGetDepthWriteEnable,
    nvnDepthStencilStateGetStencilFunc,
    nvnDepthStencilStateGetStencilOp,
    nvnDepthStencilStateGetStencilTestEnable,
    nvnDepthStencilStateSetDefaults,
    nvnDepthStencilStateSetDepthFunc,
    nvnDepthStencilStateSetDepthTestEnable,
    nvnDepthStencilStateSetDepthWriteEnable,
    nvnDepthStencilStateSetStencilFunc,
    nvnDepthStencilStateSetStencilOp,
    nvnDepthStencilStateSetStencilTestEnable,
}
