//! `nvnPolygonState*`.

use navin_abi::records::state::PolygonState;
use navin_abi::types::*;

use crate::entry::object::{accessors, store};
use crate::entry::table::entries;

pub(crate) extern "C" fn nvnPolygonStateSetDefaults(polygon: *mut NVNpolygonState) {
    store(polygon, PolygonState::DEFAULT);
}

accessors! {
    NVNpolygonState as PolygonState;
    get nvnPolygonStateGetCullFace -> NVNface: |s| s.cull_face();
    set nvnPolygonStateSetCullFace(face: NVNface): |s| s.set_cull_face(face);
    get nvnPolygonStateGetFrontFace -> NVNfrontFace: |s| s.front_face();
    set nvnPolygonStateSetFrontFace(face: NVNfrontFace): |s| s.set_front_face(face);
    get nvnPolygonStateGetPolygonMode -> NVNpolygonMode: |s| s.mode();
    set nvnPolygonStateSetPolygonMode(mode: NVNpolygonMode): |s| s.set_mode(mode);
    get nvnPolygonStateGetPolygonOffsetEnables -> NVNpolygonOffsetEnable: |s| s.offset_enables();
    set nvnPolygonStateSetPolygonOffsetEnables(enables: NVNpolygonOffsetEnable): |s| s.set_offset_enables(enables);
}

entries! {
    nvnPolygonStateGetCullFace,
    nvnPolygonStateGetFrontFace,
    nvnPolygonStateGetPolygonMode,
    nvnPolygonStateGetPolygonOffsetEnables,
    nvnPolygonStateSetCullFace,
    nvnPolygonStateSetDefaults,
    nvnPolygonStateSetFrontFace,
    nvnPolygonStateSetPolygonMode,
    nvnPolygonStateSetPolygonOffsetEnables,
}
