//! Any bytes behind the first ones of XTX files. The body is in `crates/navin-texture/src/fuzz.rs`.
#![no_main]

use navin_texture::{Kind, fuzz};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::file_of(Kind::Xtx, bytes));
