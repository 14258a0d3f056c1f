//! Any bytes as a GPU program: decoding, control flow, translation. The body, and what the bytes mean, is in
//! `crates/navin-shader/tests/bytes/mod.rs`.
#![no_main]

#[path = "../../crates/navin-shader/tests/bytes/mod.rs"]
mod bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bytes::run(data));
