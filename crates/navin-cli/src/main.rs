//! The program `navin`.
fn main() {}
