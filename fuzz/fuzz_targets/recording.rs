//! A recording whose command and control memory is overwritten at random before it is submitted. The body, and what
//! the bytes mean, is in `crates/navin-command/tests/guest/overwritten.rs`.
#![no_main]

#[path = "../../crates/navin-command/tests/guest/mod.rs"]
mod guest;

libfuzzer_sys::fuzz_target!(|data: &[u8]| guest::overwritten::run(data));
