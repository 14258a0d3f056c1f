//! Interleavings that real threads hit by chance only, made to happen by hooks. The rules that need none are in
//! `tests/tracking.rs` of the crate.

pub mod hooks;
