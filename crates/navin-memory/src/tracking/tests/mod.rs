//! What only the inside can bring about: interleavings, by hooks and by loom. The rules that need neither are in the
//! crate's `tests/tracking`.

pub mod hooks;
#[cfg(target_os = "linux")]
mod interleavings;
mod models;
#[cfg(target_os = "linux")]
#[path = "../../../tests/tracking/support.rs"]
mod support;
