//! `nvnProgram*`: shaders go to the host, which translates them; the object holds their serial.

use navin_abi::records::ProgramRecord;
use navin_abi::types::*;
use navin_abi::{GuestPtr, fault};

use super::object::{array, boolean, clear_magic, get, live, set, store};
use super::table::entries;
use crate::host;

/// More stages than a program has.
const MAX_STAGES: i32 = 6;

pub(crate) extern "C" fn nvnProgramInitialize(program: *mut NVNprogram, _device: *mut NVNdevice) -> NVNboolean {
    if program.is_null() {
        fault!("", "nvnProgramInitialize: null NVNprogram; answered false");
        return NVN_FALSE;
    }
    let serial = host::programs::create();
    if serial != 0 {
        store(program, ProgramRecord::new(serial));
    }
    boolean(serial != 0)
}

pub(crate) extern "C" fn nvnProgramFinalize(program: *mut NVNprogram) {
    if let Some(record) = live::<ProgramRecord, _>(program, "nvnProgramFinalize") {
        clear_magic(program);
        host::programs::destroy(record.serial);
    }
}

/// Gives the host a program's stages: GPU address of the code, guest address of the control section.
fn set_shaders(program: *mut NVNprogram, call: &'static str, stages: Option<Vec<(u64, GuestPtr<u8>)>>) -> NVNboolean {
    let Some(record) = live::<ProgramRecord, _>(program, call) else { return NVN_FALSE };
    match stages {
        Some(stages) => boolean(host::programs::set_shaders(record.serial, &stages)),
        None => {
            fault!("", "{call}: a null array of shaders, or more than {MAX_STAGES}; answered false");
            NVN_FALSE
        }
    }
}

fn stages(data: impl IntoIterator<Item = (u64, u64)>) -> Vec<(u64, GuestPtr<u8>)> {
    data.into_iter().map(|(code, control)| (code, GuestPtr::new(control))).collect()
}

pub(crate) extern "C" fn nvnProgramSetShaders(
    program: *mut NVNprogram,
    count: i32,
    stage_data: *const NVNshaderData,
) -> NVNboolean {
    let data = if count <= MAX_STAGES { array(stage_data, count) } else { None };
    let stages = data.map(|data: Vec<NVNshaderData>| stages(data.iter().map(|s| (s.data, s.control.address()))));
    set_shaders(program, "nvnProgramSetShaders", stages)
}

pub(crate) extern "C" fn nvnProgramSetShadersExt(
    program: *mut NVNprogram,
    count: i32,
    stage_data: *const NVNshaderDataExt,
) -> NVNboolean {
    let data = if count <= MAX_STAGES { array(stage_data, count) } else { None };
    let stages = data.map(|data: Vec<NVNshaderDataExt>| stages(data.iter().map(|s| (s.data, s.control.address()))));
    set_shaders(program, "nvnProgramSetShadersExt", stages)
}

pub(crate) extern "C" fn nvnProgramSetSampleShading(program: *mut NVNprogram, mode: NVNsampleShadingMode) {
    set(program, "nvnProgramSetSampleShading", |p: &mut ProgramRecord| {
        p.sample_shading = mode.raw();
        true
    });
    if mode != NVNsampleShadingMode::DEFAULT_FRAGMENT {
        fault!(key = mode.raw(), "", "nvnProgramSetSampleShading({mode:?}): the shader's own rate is kept");
    }
}

pub(crate) extern "C" fn nvnProgramSetSubroutineLinkage(
    program: *mut NVNprogram,
    count: i32,
    _linkage_maps: *const NVNsubroutineLinkageMapPtr,
) -> NVNboolean {
    if live::<ProgramRecord, _>(program, "nvnProgramSetSubroutineLinkage").is_none() {
        return NVN_FALSE;
    }
    if count != 0 {
        fault!("", "nvnProgramSetSubroutineLinkage: {count} linkage maps, whose form is not known; answered false");
    }
    boolean(count == 0)
}

pub(crate) extern "C" fn nvnProgramSetDebugLabel(program: *mut NVNprogram, label: *const core::ffi::c_char) {
    let serial = get(program, "nvnProgramSetDebugLabel", |p: &ProgramRecord| p.serial);
    super::label::note("NVNprogram", serial, label);
}

entries! {
    nvnProgramFinalize,
    nvnProgramInitialize,
    nvnProgramSetDebugLabel,
    nvnProgramSetSampleShading,
    nvnProgramSetShaders,
    nvnProgramSetShadersExt,
    nvnProgramSetSubroutineLinkage,
}
