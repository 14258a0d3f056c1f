//! `nvnVertexAttribState*` and `nvnVertexStreamState*`.

use navin_abi::records::state::{VertexAttribState, VertexStreamState};
use navin_abi::types::*;

use crate::entry::object::{accessors, live, output, store};
use crate::entry::table::entries;

pub(crate) extern "C" fn nvnVertexAttribStateSetDefaults(attrib: *mut NVNvertexAttribState) {
    store(attrib, VertexAttribState::DEFAULT);
}

accessors! {
    NVNvertexAttribState as VertexAttribState;
    get nvnVertexAttribStateGetStreamIndex -> i32: |s| s.stream();
    set nvnVertexAttribStateSetStreamIndex(stream: i32): |s| s.set_stream(stream);
    set nvnVertexAttribStateSetFormat(format: NVNformat, relative_offset: isize):
        |s| i32::try_from(relative_offset).is_ok_and(|offset| s.set_format(format) && s.set_offset(offset));
}

pub(crate) extern "C" fn nvnVertexAttribStateGetFormat(
    attrib: *const NVNvertexAttribState,
    format: *mut NVNformat,
    relative_offset: *mut isize,
) {
    let Some(s) = live::<VertexAttribState, _>(attrib, "nvnVertexAttribStateGetFormat") else { return };
    output(format, s.format());
    output(relative_offset, s.offset() as isize);
}

pub(crate) extern "C" fn nvnVertexStreamStateSetDefaults(stream: *mut NVNvertexStreamState) {
    store(stream, VertexStreamState::DEFAULT);
}

accessors! {
    NVNvertexStreamState as VertexStreamState;
    get nvnVertexStreamStateGetStride -> isize: |s| s.stride as isize;
    set nvnVertexStreamStateSetStride(stride: isize):
        |s| u32::try_from(stride).map(|stride| s.stride = stride).is_ok();
    get nvnVertexStreamStateGetDivisor -> i32: |s| s.divisor;
    set nvnVertexStreamStateSetDivisor(divisor: i32): |s| {
        s.divisor = divisor;
        divisor >= 0
    };
}

entries! {
    nvnVertexAttribStateGetFormat,
    nvnVertexAttribStateGetStreamIndex,
    nvnVertexAttribStateSetDefaults,
    nvnVertexAttribStateSetFormat,
    nvnVertexAttribStateSetStreamIndex,
    nvnVertexStreamStateGetDivisor,
    nvnVertexStreamStateGetStride,
    nvnVertexStreamStateSetDefaults,
    nvnVertexStreamStateSetDivisor,
    nvnVertexStreamStateSetStride,
}
