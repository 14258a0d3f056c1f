//! Recorded commands: records, command and control memory, the flattened stream.

pub mod record;
mod stream;

pub use stream::{Boundary, Section, Stream};
