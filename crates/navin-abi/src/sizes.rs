//! Sizes of the opaque objects, in bytes: `MIN_` the smallest that any SDK declares, which a record in place must
//! fit (B101); `MAX_` the largest, which `nvn.h` reserves.

#[path = "generated/sizes.rs"]
mod generated;

pub use generated::*;
