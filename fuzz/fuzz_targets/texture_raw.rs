//! Descriptions of raw data, and the data. The body, and what the bytes mean, is in `crates/navin-texture/src/fuzz.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| navin_texture::fuzz::description(bytes));
