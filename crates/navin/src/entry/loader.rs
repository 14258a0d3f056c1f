//! The two loaders: a guest hands over a function's name and gets its entry point's address.
//!
//! `nvnBootstrapLoader` is the one symbol that a guest links; everything else it fetches, once, through
//! `nvnDeviceGetProcAddress` or here. Both know every name of the table (B421).

use std::ffi::c_char;

use navin_abi::types::*;
use navin_abi::{GuestPtr, fault};

use super::table::{entries, proc_address};

/// Longer than any name of the API; what is longer is no name.
const LONGEST_NAME: usize = 128;

/// Finds the function whose name the guest points at; `None`, the null pointer, for a name that NVN lacks.
fn find(name: *const c_char, call: &str) -> PFNNVNGENERICFUNCPTRPROC {
    let name = GuestPtr::<u8>::new(name as u64);
    if name.is_null() {
        fault!("B421", "{call}: the name is null: answered null");
        return None;
    }
    let mut bytes = [0; LONGEST_NAME];
    let mut length = 0;
    while length < LONGEST_NAME {
        // SAFETY: the guest passes a C string; nothing past its zero is read.
        match unsafe { name.add(length).read() } {
            None | Some(0) => break,
            Some(byte) => bytes[length] = byte,
        }
        length += 1;
    }
    let address = proc_address(&bytes[..length])?;
    // SAFETY: the address of a function; the guest calls it as its own type.
    Some(unsafe { std::mem::transmute::<*const (), unsafe extern "C" fn()>(address) })
}

extern "C" fn bootstrap_loader(name: *const c_char) -> PFNNVNGENERICFUNCPTRPROC {
    find(name, "nvnBootstrapLoader")
}

extern "C" fn device_get_proc_address(_device: *const NVNdevice, name: *const c_char) -> PFNNVNGENERICFUNCPTRPROC {
    // The device is not looked at: programs fetch their functions before they initialize it.
    find(name, "nvnDeviceGetProcAddress")
}

/// A no-op that must exist: a title calls what it gets for this name unchecked (B421).
extern "C" fn set_external_debugger_enabled(_enable: NVNboolean) {}

entries! {
    nvnBootstrapLoader => bootstrap_loader,
    nvnDeviceGetProcAddress => device_get_proc_address,
    nvnSetExternalDebuggerEnabledNVX => set_external_debugger_enabled,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b421_names_resolve_and_unknown_ones_do_not() {
        let address = |pointer: PFNNVNGENERICFUNCPTRPROC| pointer.map(|p| p as usize);
        let loaded = address(bootstrap_loader(c"nvnDeviceInitialize".as_ptr()));
        assert!(loaded.is_some());
        assert_eq!(address(device_get_proc_address(std::ptr::null(), c"nvnDeviceInitialize".as_ptr())), loaded);
        assert!(bootstrap_loader(c"nvnDeviceInitializ".as_ptr()).is_none());
        assert!(bootstrap_loader(c"".as_ptr()).is_none());
        assert!(bootstrap_loader(std::ptr::null()).is_none());
        let long = [b'n' as c_char; 4096];
        assert!(bootstrap_loader(long.as_ptr()).is_none());
        assert!(bootstrap_loader(c"nvnSetExternalDebuggerEnabledNVX".as_ptr()).is_some());
    }
}
