//! The SPIR-V writer: a module in sections, and the walk over the IR that fills it.

mod arithmetic;
mod buffers;
mod emit;
mod endless;
mod global;
mod images;
mod modes;
mod module;
mod op;
mod stage;

pub use emit::Emitter;
pub(crate) use emit::emit;
pub use endless::endless_blocks;
