//! The second oracle of the translator's tests: Maxwell programs made by hand, and what they leave behind.
//!
//! The corpus's compiler never emits a third of the instruction set, so programs for it are made here:
//! [`asm`] packs fields of the generated instruction table into words and wraps them as an NVN program; [`machine`]
//! runs such code one thread at a time, as slowly and plainly as `facts/maxwell_encodings.md` is written; the files
//! beside it hold one arithmetic each. The tests run the same words through `navin-shader` on a Vulkan device and
//! compare every register, predicate and flag that was stored.
//!
//! Nothing here shares code with the translator's lowering: only the table that says which bits a field has.

pub mod alu;
pub mod asm;
pub mod convert;
pub mod exact;
pub mod float;
pub mod half;
pub mod integer;
pub mod machine;
pub mod video;

pub use asm::{Assembler, word};
pub use machine::{Floats, Machine, Memory, Stop, Thread};
