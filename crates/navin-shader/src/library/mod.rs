//! Programs by the thousand, for tools: found in files that hold them ([`mod@scan`]), kept by key in one file ([`store`]).
//!
//! A title brings tens of thousands of programs (B507). What is kept of one is kept under a key that is made of its
//! content ([`crate::program_key`]), never of its place (B515), so that what was made of it once serves every other
//! build of the same content by the same translator ([`crate::VERSION`], B516).

pub mod colour;
pub mod scan;
pub mod store;

pub use colour::ColourHandling;
pub use scan::{Entry, scan};
pub use store::{Key, Store, StoreError};
