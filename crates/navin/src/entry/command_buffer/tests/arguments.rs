//! Every function of NVN, called with arguments made from its signature: for the tests beside this file, and for
//! the example `callgrind_calls`, which counts the instructions of each.

use std::ptr::{NonNull, null_mut};

use bytemuck::Pod;
use navin_abi::records::state::PolygonState;
use navin_abi::records::*;
use navin_abi::types::*;
use navin_abi::{FunctionId, for_each_nvn_function, pfn};

use super::entry_point;

pub(crate) const COMMANDS: usize = 256 << 10;
pub(crate) const GPU: u64 = 0x12_0000_0000;

/// Calls the function that the table has for a name.
macro_rules! nvn {
    ($name:ident($($arg:expr),* $(,)?)) => {{
        let entry = entry_point(FunctionId::$name);
        // SAFETY: the table holds a function of this very type under this id.
        let function = unsafe { std::mem::transmute::<*const (), pfn::$name>(entry) };
        // SAFETY: every pointer given in these tests is null or leads to memory that its function may use.
        unsafe { function($($arg),*) }
    }};
}

/// Leaked memory of zeros.
pub(crate) fn memory(bytes: usize) -> NonNull<u64> {
    let words: &'static mut [u64] = Box::leak(vec![0u64; bytes.div_ceil(8)].into_boxed_slice());
    NonNull::from(words).cast()
}

/// An object that holds `record`, with zeros behind it.
pub(crate) fn object<R: Pod, N>(record: &R) -> *mut N {
    let at = memory(8192).cast::<R>();
    // SAFETY: no record is that large.
    unsafe { at.write_unaligned(*record) };
    at.as_ptr().cast()
}

pub(crate) fn texture(serial: u64) -> *mut NVNtexture {
    object(&TextureRecord::new(serial, 0, 1, GPU, 0, 4096, TextureFields::DEFAULT))
}

/// What [`every_command`] gives to the functions.
#[derive(Clone, Copy)]
pub(crate) struct Arguments {
    pub(crate) guest: *mut NVNcommandBuffer,
    /// Pointers: null, to zeros, to garbage, or to live objects.
    pub(crate) pointers: Pointers,
    pub(crate) number: i64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Pointers {
    Null,
    Zeros,
    Garbage,
    Live,
}

/// An argument of any type, by the type's name.
pub(crate) fn argument<T>(from: &Arguments) -> T {
    let name = std::any::type_name::<T>();
    let value = if let Some(pointee) = name.strip_prefix("*const ").or(name.strip_prefix("*mut ")) {
        // Arrays of pointers hold nulls: a wild pointer in one is the guest's own crash.
        let zeros = Arguments { pointers: Pointers::Zeros, ..*from };
        let of_pointers = pointee.starts_with('*') && from.pointers != Pointers::Null;
        pointer(pointee.rsplit("::").next().unwrap_or(""), if of_pointers { &zeros } else { from }) as u64
    } else if name == "f32" {
        (from.number as f32).to_bits().into()
    } else if name.starts_with("core::option::Option") {
        // No callback.
        0
    } else {
        from.number as u64
    };
    const { assert!(size_of::<T>() <= 8) };
    // SAFETY: numbers, transparent enums, handles, pointers and optional functions, of at most 8 bytes: each takes
    // the low bytes of what was made for it.
    unsafe { std::mem::transmute_copy(&value) }
}

pub(crate) fn pointer(name: &str, from: &Arguments) -> *mut u8 {
    match (name, from.pointers) {
        ("NVNcommandBuffer", _) => from.guest.cast(),
        (_, Pointers::Null) => null_mut(),
        (_, Pointers::Zeros) => memory(8192).as_ptr().cast(),
        (_, Pointers::Garbage) => object(&[0xccu8; 4096]),
        ("NVNtexture", _) => texture(1).cast(),
        ("NVNprogram", _) => object(&ProgramRecord::new(1)),
        ("NVNsync", _) => object(&SyncRecord::new(1)),
        ("NVNevent", _) => object(&EventRecord::new(0, 1, 0, 0x10, 0)),
        ("NVNdevice", _) => object(&DeviceRecord::new(0)),
        ("NVNmemoryPool", _) => {
            let storage = memory(COMMANDS).as_ptr() as u64;
            object(&MemoryPoolRecord::new(1, 0x55_0000_0000, storage, COMMANDS as u64, 0x22))
        }
        ("NVNtexturePool", _) => object(&TexturePoolRecord::new(1, 0, 1, 0, 512)),
        ("NVNsamplerPool", _) => object(&SamplerPoolRecord::new(1, 0, 1, 0, 512)),
        ("NVNpolygonState", _) => object(&PolygonState::DEFAULT),
        _ => memory(8192).as_ptr().cast(),
    }
}

/// A function, called with arguments made from the description.
pub(crate) type Call = fn(&Arguments);

macro_rules! callers {
    ($(($id:literal, $name:ident, ($($arg:ident: $type:ty),*), $ret:ty))*) => {
        pub(crate) const CALLS: &[(&str, Call)] = &[$((stringify!($name), |_from| {
            nvn!($name($(argument::<$type>(_from)),*));
        })),*];
    };
}
for_each_nvn_function!(callers);

/// The recording functions, and those that serve recording.
pub(crate) fn commands() -> impl Iterator<Item = (&'static str, Call)> {
    CALLS.iter().copied().filter(|(name, _)| name.starts_with("nvnCommandBuffer"))
}
