//! One exported C function for each function of the API.
//!
//! Each jumps to its entry in the driver's table with its arguments untouched.

#![allow(non_snake_case)]

use navin::entry::table::entry_point;
use navin_abi::types::*;
use navin_abi::{FunctionId, for_each_nvn_function, pfn};

macro_rules! trampolines {
    ($(($id:literal, $name:ident, ($($arg:ident: $ty:ty),*), $ret:ty))*) => {
        $(
            #[doc = concat!("The C symbol `", stringify!($name), "`.")]
            ///
            /// # Safety
            /// As NVN asks of a caller: pointers lead to what their types say, or are null where that is allowed.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
                // SAFETY: the driver's table holds at this id a function of exactly this type, checked where the
                // table is built; the arguments are the caller's own.
                unsafe {
                    let entry = core::mem::transmute::<*const (), pfn::$name>(entry_point(FunctionId::$name));
                    entry($($arg),*)
                }
            }
        )*
    };
}
for_each_nvn_function!(trampolines);
