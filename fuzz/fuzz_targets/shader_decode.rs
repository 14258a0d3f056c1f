//! Any bytes as instruction words: decoding and listings. The body is in
//! `crates/navin-shader/tests/bytes/mod.rs`.
#![no_main]

#[path = "../../crates/navin-shader/tests/bytes/mod.rs"]
mod bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bytes::decode(data));
