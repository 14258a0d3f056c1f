//! The entry table: for every function of the API the address that a guest calls.
//!
//! Built at compile time from the lists of the submodules ([`super::LISTS`]), each written with [`entries!`], which
//! checks every implementation against its [`pfn`](navin_abi::pfn) type. What no list names gets an entry of its
//! own signature that reports itself once and returns 0, never an argument (B423). What the guest gets of a function
//! other than the recording calls is the same function on Navin's own stack (B422, [`stack`](super::stack)).
//! `nvnBootstrapLoader`, `nvnDeviceGetProcAddress` and `libnvn`'s trampolines read the table through
//! [`entry_point`] and [`proc_address`].

use navin_abi::functions::{FUNCTION_COUNT, FunctionId, lookup_bytes};
use navin_abi::types::*;
use navin_abi::{fault, for_each_nvn_function};

/// The address of one entry point, whose true type is the [`pfn`](navin_abi::pfn) type of its function.
#[derive(Clone, Copy)]
pub struct EntryPoint(unsafe extern "C" fn());

impl EntryPoint {
    /// Wraps a function pointer whose type was erased; [`entries!`] checks it first.
    pub(crate) const fn new(function: unsafe extern "C" fn()) -> Self {
        Self(function)
    }

    /// The address, never null.
    #[inline(always)]
    pub const fn address(self) -> *const () {
        self.0 as *const ()
    }
}

/// The entry points of a module: `entries! { nvnFoo => implementation, nvnBar, ... }` defines its `ENTRIES`.
///
/// A name alone is implemented by the function of that name in scope. An implementation whose signature differs
/// from `pfn::nvnFoo` does not compile.
macro_rules! entries {
    ($($name:ident $(=> $function:path)?),* $(,)?) => {
        /// What this module implements, for the entry table.
        pub(crate) const ENTRIES: &[(navin_abi::FunctionId, $crate::entry::table::EntryPoint)] = &[$(
            (navin_abi::FunctionId::$name, $crate::entry::table::entries!(@entry $name $($function)?)),
        )*];
    };
    (@entry $name:ident) => { $crate::entry::table::entries!(@entry $name $name) };
    (@entry $name:ident $function:path) => {{
        let function: navin_abi::pfn::$name = $function;
        // SAFETY: a function pointer of one type is a function pointer of another; it is never called as this one.
        $crate::entry::table::EntryPoint::new(unsafe {
            core::mem::transmute::<navin_abi::pfn::$name, unsafe extern "C" fn()>(function)
        })
    }};
}
pub(crate) use entries;

/// Names a function that has no behaviour yet, once (B423).
#[cold]
#[inline(never)]
fn report(id: FunctionId) {
    fault!(key = id.0, "B423", "{} is not implemented: nothing is done, the answer is 0", id.name());
}

/// Defines for every function an entry that reports itself and returns 0 in its own return register, so that a
/// float reads 0.0 and a pointer null.
macro_rules! unimplemented_entries {
    ($(($id:literal, $name:ident, ($($arg:ident: $ty:ty),*), $ret:ty))*) => {
        #[allow(non_snake_case)]
        mod unimplemented {
            use super::*;
            $(
                pub(super) unsafe extern "C" fn $name($(_: $ty),*) -> $ret {
                    report(FunctionId::$name);
                    // SAFETY: integers, floats, raw pointers and optional callbacks: zero is a value of each.
                    unsafe { core::mem::zeroed() }
                }
            )*
        }

        const UNIMPLEMENTED: [EntryPoint; FUNCTION_COUNT] = [$(entries!(@entry $name unimplemented::$name)),*];
    };
}
for_each_nvn_function!(unimplemented_entries);

/// Lays the lists over the unimplemented entries. A function in two lists does not compile.
const fn build() -> [EntryPoint; FUNCTION_COUNT] {
    let mut table = UNIMPLEMENTED;
    let mut taken = [false; FUNCTION_COUNT];
    let mut list = 0;
    while list < super::LISTS.len() {
        let entries = super::LISTS[list];
        let mut index = 0;
        while index < entries.len() {
            let (id, entry) = entries[index];
            assert!(!taken[id.0 as usize], "a function has two implementations");
            taken[id.0 as usize] = true;
            table[id.0 as usize] = entry;
            index += 1;
        }
        list += 1;
    }
    table
}

/// What implements each function.
const IMPLEMENTATIONS: [EntryPoint; FUNCTION_COUNT] = build();

/// Whether a function stays on the caller's stack: recording calls, which go no deeper than the record they write.
const fn stays(name: &str) -> bool {
    const RECORDING: &[u8] = b"nvnCommandBuffer";
    let name = name.as_bytes();
    let mut n = 0;
    while n < RECORDING.len() {
        if n >= name.len() || name[n] != RECORDING[n] {
            return false;
        }
        n += 1;
    }
    true
}

/// Defines for every function an entry that runs the implementation on the thread's host stack.
macro_rules! switching_entries {
    ($(($id:literal, $name:ident, ($($arg:ident: $ty:ty),*), $ret:ty))*) => {
        #[allow(non_snake_case)]
        mod switching {
            use super::*;
            $(
                pub(super) unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
                    // SAFETY: the table holds at this id a function of exactly this type, as `entries!` checked; the
                    // arguments are the caller's own.
                    unsafe {
                        let function = core::mem::transmute::<*const (), navin_abi::pfn::$name>(
                            const { IMPLEMENTATIONS[FunctionId::$name.0 as usize].address() },
                        );
                        crate::entry::stack::run(|| function($($arg),*))
                    }
                }
            )*
        }

        static TABLE: [EntryPoint; FUNCTION_COUNT] = [$(
            if stays(stringify!($name)) {
                IMPLEMENTATIONS[FunctionId::$name.0 as usize]
            } else {
                entries!(@entry $name switching::$name)
            }
        ),*];
    };
}
for_each_nvn_function!(switching_entries);

/// Every entry point, by [`FunctionId`].
pub fn table() -> &'static [EntryPoint; FUNCTION_COUNT] {
    &TABLE
}

/// The address of a function's entry point, never null; to be called as its [`pfn`](navin_abi::pfn) type.
#[inline(always)]
pub fn entry_point(id: FunctionId) -> *const () {
    TABLE[id.0 as usize].address()
}

/// The address of the function of that name, the bytes of a C string without its zero. `None`, with one fault
/// line, for a name that NVN lacks (B421).
pub fn proc_address(name: &[u8]) -> Option<*const ()> {
    let id = lookup_bytes(name);
    if id.is_none() {
        // FNV-1a, so that each unknown name is reported once.
        let key = name.iter().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3));
        fault!(key = key, "B421", "no function is named {:?}: answered null", String::from_utf8_lossy(name));
    }
    id.map(entry_point)
}

/// How many functions have a behaviour of their own.
pub fn implemented() -> usize {
    super::LISTS.iter().map(|list| list.len()).sum()
}

#[cfg(test)]
mod tests {
    use navin_abi::functions::FUNCTIONS;
    use navin_abi::pfn;

    use super::*;

    #[test]
    fn b421_every_name_has_an_address_and_an_unknown_one_has_none() {
        for function in &FUNCTIONS {
            let address = proc_address(function.name.as_bytes());
            assert_eq!(address, Some(entry_point(function.id)), "{}", function.name);
            assert!(address.is_some_and(|a| !a.is_null()));
        }
        let before = fault::count();
        assert_eq!(proc_address(b"nvnNoSuchFunction"), None);
        assert!(fault::count() > before);
    }

    #[test]
    fn b422_recording_calls_alone_stay_on_the_callers_stack() {
        for function in &FUNCTIONS {
            let direct = entry_point(function.id) == IMPLEMENTATIONS[function.id.0 as usize].address();
            assert_eq!(direct, function.name.starts_with("nvnCommandBuffer"), "{}", function.name);
        }
    }

    #[test]
    fn b423_an_unimplemented_entry_returns_zero_not_its_argument() {
        let mut object = [0u64; 32];
        // SAFETY: the entries read none of their arguments.
        unsafe {
            let width: pfn::nvnTextureGetWidth = unimplemented::nvnTextureGetWidth;
            assert_eq!(width(object.as_mut_ptr().cast()), 0);
            let bias: pfn::nvnSamplerBuilderSetLodBias = unimplemented::nvnSamplerBuilderSetLodBias;
            bias(object.as_mut_ptr().cast(), 1.5);
            let bias: pfn::nvnSamplerGetLodBias = unimplemented::nvnSamplerGetLodBias;
            assert_eq!(bias(object.as_mut_ptr().cast()).to_bits(), 0);
            let pool: pfn::nvnTextureGetMemoryPool = unimplemented::nvnTextureGetMemoryPool;
            assert!(pool(object.as_mut_ptr().cast()).is_null());
        }
    }
}
