//! Any bytes as a texture file.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| navin_texture::container::fuzz::file(bytes));
