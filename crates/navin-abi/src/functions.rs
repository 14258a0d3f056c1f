//! The table of every NVN function: name, id, C prototype.
//!
//! Generated from `facts/nvn_functions.tsv`. The driver indexes its entry points by [`FunctionId`];
//! `nvnBootstrapLoader` and `nvnDeviceGetProcAddress` find an id by name with [`lookup`]. Function pointer types
//! are in [`pfn`](crate::pfn); [`for_each_nvn_function!`](crate::for_each_nvn_function) expands over all of them.

/// A function of the API: its index in [`FUNCTIONS`].
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u16);

impl FunctionId {
    /// The function's row; the first one's for an id past the table, which no constant has.
    pub const fn info(self) -> &'static FunctionInfo {
        let index = self.0 as usize;
        &FUNCTIONS[if index < FUNCTION_COUNT { index } else { 0 }]
    }

    /// The function's name, `nvnDeviceInitialize`.
    pub const fn name(self) -> &'static str {
        self.info().name
    }
}

impl core::fmt::Debug for FunctionId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

/// One row of [`FUNCTIONS`].
#[derive(Clone, Copy, Debug)]
pub struct FunctionInfo {
    /// The C name, `nvnDeviceInitialize`.
    pub name: &'static str,
    /// The row's own index.
    pub id: FunctionId,
    /// The C prototype on one line.
    pub signature: &'static str,
}

macro_rules! functions {
    ($($id:literal $name:ident $signature:literal;)*) => {
        #[allow(non_upper_case_globals)]
        impl super::FunctionId {
            $(#[doc = concat!("`", $signature, "`")] pub const $name: Self = Self($id);)*
        }

        /// Every function, sorted by name.
        pub static FUNCTIONS: [super::FunctionInfo; FUNCTION_COUNT] = [$(
            super::FunctionInfo { name: stringify!($name), id: super::FunctionId($id), signature: $signature },
        )*];

        /// How many functions there are.
        pub const FUNCTION_COUNT: usize = [$($id as u16),*].len();
    };
}

#[path = "generated/functions.rs"]
mod generated;

pub use generated::{FUNCTION_COUNT, FUNCTIONS};

/// The function of that name, `None` when the API has none (B421).
pub fn lookup(name: &str) -> Option<FunctionId> {
    lookup_bytes(name.as_bytes())
}

/// As [`lookup`], by the bytes of a C string without its terminating zero.
pub fn lookup_bytes(name: &[u8]) -> Option<FunctionId> {
    FUNCTIONS.binary_search_by(|f| f.name.as_bytes().cmp(name)).ok().map(|index| FunctionId(index as u16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b421_every_name_is_found_and_no_other() {
        for (index, f) in FUNCTIONS.iter().enumerate() {
            assert_eq!(f.id.0 as usize, index);
            assert_eq!(lookup(f.name), Some(f.id), "{}", f.name);
            assert!(f.signature.contains(f.name));
        }
        assert_eq!(lookup("nvnSetExternalDebuggerEnabledNVX"), Some(FunctionId::nvnSetExternalDebuggerEnabledNVX));
        assert_eq!(lookup("nvnDeviceInitialise"), None);
        assert_eq!(lookup(""), None);
    }

    #[test]
    fn the_list_macro_has_every_function_in_order() {
        macro_rules! names {
            ($(($id:literal, $name:ident, ($($arg:ident: $ty:ty),*), $ret:ty))*) => { [$(($id, stringify!($name))),*] };
        }
        let names = crate::for_each_nvn_function!(names);
        assert_eq!(names.len(), FUNCTION_COUNT);
        assert!(names.iter().all(|(id, name)| FunctionId(*id).name() == *name));
    }
}
