//! Any bytes as a file that has programs in it: DKSH, and the scanner. The body is in
//! `crates/navin-shader/tests/bytes/mod.rs`.
#![no_main]

#[path = "../../crates/navin-shader/tests/bytes/mod.rs"]
mod bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bytes::container(data));
