//! Every name of the API resolves, through the loaders and as a symbol of the shared library.

mod this_program;

use std::ffi::CString;

use navin_abi::functions::FUNCTIONS;
use nvn::trampolines::{nvnBootstrapLoader, nvnDeviceGetProcAddress};

fn bootstrap(name: &str) -> Option<usize> {
    let name = CString::new(name).unwrap();
    // SAFETY: a C string.
    unsafe { nvnBootstrapLoader(name.as_ptr()) }.map(|address| address as usize)
}

#[test]
fn b421_the_loaders_know_every_name() {
    for function in &FUNCTIONS {
        let address = bootstrap(function.name);
        assert!(address.is_some(), "{}", function.name);
        let name = CString::new(function.name).unwrap();
        // SAFETY: a C string; the device may be null.
        let same = unsafe { nvnDeviceGetProcAddress(std::ptr::null(), name.as_ptr()) };
        assert_eq!(same.map(|a| a as usize), address, "{}", function.name);
    }
}

#[test]
fn b421_an_unknown_name_is_null_with_one_fault() {
    let before = navin_abi::fault::count();
    assert_eq!(bootstrap("nvnDeviceMakeCoffee"), None);
    assert!(navin_abi::fault::count() > before);
    assert_eq!(bootstrap("main"), None);
    // SAFETY: null is allowed.
    assert!(unsafe { nvnBootstrapLoader(std::ptr::null()) }.is_none());
}

#[test]
fn b434_the_private_flag_is_zero() {
    // SAFETY: nothing else writes it.
    assert_eq!(unsafe { *nvn::nvnPrivate0.address() }, 0);
}

#[test]
fn the_version_is_a_c_string() {
    // SAFETY: navin_version gives a C string.
    let version = unsafe { std::ffi::CStr::from_ptr(nvn::embed::navin_version()) };
    assert_eq!(version.to_str(), Ok(env!("CARGO_PKG_VERSION")));
}

/// The shared library that cargo builds beside the tests exports every function and the data symbol.
#[cfg(target_os = "linux")]
#[test]
fn the_shared_library_exports_every_name() {
    let folder = this_program::path().parent().unwrap().to_owned();
    let library = CString::new(folder.join("libnvn.so").to_str().unwrap()).unwrap();
    // SAFETY: loads a library of ours, whose initializers are Rust's own.
    let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!handle.is_null(), "{library:?} does not load");
    let others = ["nvnPrivate0", "navin_version", "navin_set_base"];
    for name in FUNCTIONS.iter().map(|f| f.name).chain(others) {
        let symbol = CString::new(name).unwrap();
        // SAFETY: a live handle and a C string.
        assert!(!unsafe { libc::dlsym(handle, symbol.as_ptr()) }.is_null(), "{name}");
    }
}

/// `navin.h` is C99 and C++.
#[test]
fn the_embedders_header_compiles() {
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/include/navin.h");
    for (compiler, language, standard) in [("gcc", "c", "-std=c99"), ("g++", "c++", "-std=c++11")] {
        let flags = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", standard, "-x", language, header];
        match std::process::Command::new(compiler).args(flags).output() {
            Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
            Err(error) => eprintln!("{compiler} did not run ({error}): the header was not checked with it"),
        }
    }
}
