//! Any bytes behind the first ones of EXR files. The body is in `crates/navin-texture/src/fuzz.rs`.
#![no_main]

use navin_texture::{Kind, fuzz};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::file_of(Kind::Exr, bytes));
