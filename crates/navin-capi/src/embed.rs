//! The embedder's C API, declared in `include/navin.h`.

use std::ffi::{c_char, c_int, c_void};

/// This library's version, as `navin_version` gives it.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// The library's version, `"major.minor.patch"`; the string lives as long as the library.
#[unsafe(no_mangle)]
pub extern "C" fn navin_version() -> *const c_char {
    VERSION.as_ptr().cast()
}

/// Sets the host address of guest address 0, so that every guest pointer of a later call is taken relative to it.
/// To be called before the guest's first NVN call; null, the initial value, is for a guest in the same address space.
#[unsafe(no_mangle)]
pub extern "C" fn navin_set_base(base: *mut c_void) {
    navin_abi::guest::set_base(base as usize);
}

/// Stops all GPU work: returns when nothing runs on the GPU and nothing will until [`navin_resume`]. See
/// [`navin::lifecycle::suspend`]. 1, or 0 when work already with the GPU had not ended after a few seconds.
#[unsafe(no_mangle)]
pub extern "C" fn navin_suspend() -> c_int {
    c_int::from(navin::lifecycle::suspend())
}

/// Ends what [`navin_suspend`] began.
#[unsafe(no_mangle)]
pub extern "C" fn navin_resume() {
    navin::lifecycle::resume();
}
