//! Passes over the IR, a file each.
//!
//! | pass | when | what |
//! |---|---|---|
//! | [`fold`] | while instructions are made | constants, identities, choices by one condition |
//! | [`share`] | while instructions are made | common subexpressions |
//! | [`phis`] | then, over the whole program | phis of one value |
//! | [`storage`] | | storage buffers by vectors |
//! | [`constants`] | | constant banks by vectors, at computed offsets |
//! | [`dce`] | | dead code, the loads of inputs, textures and constants with it |
//! | [`guards`] | | choices inside of what is looked at under a predicate only |
//! | [`types`] | | a SPIR-V type for each word |
//!
//! What needs the machine's instructions is seen in the lowering, where they are: XMADs that are one product
//! (`lower::multiply`), global addresses that are a storage buffer's or a uniform block's (`lower::memory`), handles that
//! come from a table (`lower::texture`). Copies are none in SSA.
//!
//! Looked at and left out, since over the corpus they win nothing or next to it: recovery of integer divisions (the
//! sequences of compilers are exact as they are, and 4 programs of 367 have one), and dead outputs (stages are bound
//! apart, so that any output may be read by the next one).

pub mod constants;
pub mod dce;
pub mod fold;
pub mod guards;
pub mod phis;
pub mod places;
pub mod share;
pub mod storage;
pub mod types;
