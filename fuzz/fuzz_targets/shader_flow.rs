//! Any bytes as jumps, conditions and divergence stacks: control flow to structured SPIR-V. The body is in
//! `crates/navin-shader/tests/bytes/mod.rs`.
#![no_main]

#[path = "../../crates/navin-shader/tests/bytes/mod.rs"]
mod bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bytes::flow(data));
