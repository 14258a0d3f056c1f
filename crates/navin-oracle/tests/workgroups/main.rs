//! Compute programs made by hand, on the device: warps, barriers, atomics, memory of all kinds, control flow.
//!
//! Where the interpreter can run them, it says what must come out; where threads race, the test says what must hold.

mod arithmetic;
mod code;
mod control;
mod denormals;
#[path = "../device/mod.rs"]
mod device;
mod memory;
mod warps;
