//! What an NVN guest sees: enums, the function table, object records, device-info tables; and the two things
//! that every crate above needs, [`GuestPtr`] and the fault line.
//!
//! The tables are generated from `facts/` by `cargo xtask gen`. Nothing here opens a device.

pub mod fault;
pub mod guest;

pub use guest::GuestPtr;
