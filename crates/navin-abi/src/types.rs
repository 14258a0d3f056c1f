//! The types of NVN's function parameters: opaque objects, transparent structs, scalars, callbacks, and the
//! [enums](crate::enums).
//!
//! An opaque marker (`NVNtexture`) has no size and stands only behind a pointer; what Navin keeps in the guest's
//! object is its record. Transparent structs are laid out as C lays them out, asserted against
//! `facts/nvn_structs.tsv`; pointers in them are [`GuestPtr`](crate::GuestPtr).
//!
//! Layouts that no source gives are Navin's own, as `nvn.h` says: [`NVNmappingRequest`], [`NVNdrawTextureRegion`],
//! [`NVNqueueErrorInfo`], [`NVNshaderDataExt`], and the width of the fields of [`NVNtextureSparseTileLayout`].

/// A type that is only pointed at.
macro_rules! opaque {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Debug)]
        pub struct $type {
            _opaque: [u8; 0],
            _marker: core::marker::PhantomData<*mut u8>,
        }
    };
}

#[allow(non_camel_case_types)]
#[path = "generated/structs.rs"]
mod generated;

pub use crate::enums::*;
pub use generated::*;

/// The value of [`NVNboolean`] for true.
pub const NVN_TRUE: NVNboolean = 1;
/// The value of [`NVNboolean`] for false.
pub const NVN_FALSE: NVNboolean = 0;
