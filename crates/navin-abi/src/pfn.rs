//! A function pointer type for each NVN function, named as the function.
//!
//! The driver's entry points are checked against these types; `libnvn`'s trampolines call through them. Object
//! parameters are pointers to the opaque markers of [`types`](crate::types), guest addresses all of them: only
//! [`GuestPtr`](crate::GuestPtr) may dereference one. Masks that C declares as `int` have their mask type here.
//!
//! No source gives the prototypes of five functions. Navin assumes, and reads no argument that is not listed:
//!
//! | function | assumed |
//! |---|---|
//! | `nvnCommandBufferBindShadingRateImage` | `void (NVNcommandBuffer*)`, further arguments not read (B513) |
//! | `nvnCommandBufferSetFloatBlendClamp` | `void (NVNcommandBuffer*, int mode)` (B218) |
//! | `nvnCommandBufferSetRepresentativeFragmentTest` | `void (NVNcommandBuffer*, NVNboolean)` (B219) |
//! | `nvnQueueBuilderSetRayTracingMemorySize` | `void (NVNqueueBuilder*, size_t)`, as the other sizes (B217) |
//! | `nvnSetExternalDebuggerEnabledNVX` | `void (NVNboolean)` (B421) |
#![allow(non_camel_case_types)]

#[path = "generated/pfn.rs"]
mod generated;

pub use generated::*;
