//! What an NVN guest sees: enums, the function table, object records, device-info tables; and the two things
//! that every crate above needs, [`GuestPtr`] and the fault line.
//!
//! The tables are generated from `facts/` by `cargo xtask gen`. Nothing here opens a device.

pub mod device_info;
pub mod enums;
pub mod fault;
#[path = "generated/for_each.rs"]
mod for_each;
pub mod functions;
pub mod guest;
pub mod pfn;
pub mod records;
pub mod sizes;
pub mod types;

pub use functions::{FUNCTION_COUNT, FunctionId};
pub use guest::GuestPtr;
