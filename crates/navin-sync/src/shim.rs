//! The primitives that everything here which blocks or is shared is made of.
//!
//! These are std's. `tests/loom.rs` compiles the same source files beside a module of this name with loom's
//! primitives in it, so that the models run the very code that the driver runs, in an ordinary `cargo test`.

pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
