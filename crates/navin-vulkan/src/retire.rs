//! Deferred destruction.
