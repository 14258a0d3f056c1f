//! Conversions between numbers (`maxwell_encodings.md`, section 9).

use crate::float::Rounding;

/// An integral value by the rounding of F2I and rint.
pub fn integral(x: f64, code: u32) -> f64 {
    match Rounding::from_code(code) {
        Rounding::Nearest => x.round_ties_even(),
        Rounding::Down => x.floor(),
        Rounding::Up => x.ceil(),
        Rounding::Zero => x.trunc(),
    }
}

/// Float to integer of 8 << size bits, saturating. The word or pair; narrow results are extended by their sign.
pub fn float_to_integer(x: f64, size: u32, signed: bool, round: u32, wide_source: bool) -> u64 {
    if x.is_nan() {
        // NaN is 0, but the top bit alone when source or result is wide.
        return match (size, wide_source) {
            (3, _) => 1 << 63,
            (_, true) => 1 << 31,
            _ => 0,
        };
    }
    let x = integral(x, round);
    match (size, signed) {
        (0, false) => (x.clamp(0.0, 255.0)) as u64,
        (0, true) => u64::from((x.clamp(-128.0, 127.0)) as i32 as u32),
        (1, false) => (x.clamp(0.0, 65535.0)) as u64,
        (1, true) => u64::from((x.clamp(-32768.0, 32767.0)) as i32 as u32),
        (2, false) => u64::from(x as u32),
        (2, true) => u64::from(x as i32 as u32),
        (_, false) => x as u64,
        (_, true) => x as i64 as u64,
    }
}

/// The selected part of a word as a number: 8 << size bits from byte `byte` on.
pub fn part(word: u64, size: u32, byte: u32, signed: bool) -> i128 {
    let shifted = word >> (8 * byte);
    match (size, signed) {
        (0, false) => i128::from(shifted as u8),
        (0, true) => i128::from(shifted as i8),
        (1, false) => i128::from(shifted as u16),
        (1, true) => i128::from(shifted as i16),
        (2, false) => i128::from(word as u32),
        (2, true) => i128::from(word as i32),
        (_, false) => i128::from(word),
        (_, true) => i128::from(word as i64),
    }
}

/// A number as an integer of 8 << size bits: clamped, or cut to its low bits.
pub fn fit(value: i128, size: u32, signed: bool, clamp: bool) -> u64 {
    let bits = 8u32 << size;
    let (low, high) =
        if signed { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) };
    if clamp {
        return extend(value.clamp(low, high) as u64, size, signed);
    }
    extend(value as u64, size, signed)
}

/// The low 8 << size bits, extended to a word by their sign or zeros.
fn extend(value: u64, size: u32, signed: bool) -> u64 {
    match (size, signed) {
        (0, false) => u64::from(value as u8),
        (0, true) => u64::from(value as i8 as u32),
        (1, false) => u64::from(value as u16),
        (1, true) => u64::from(value as i16 as u32),
        (2, _) => u64::from(value as u32),
        _ => value,
    }
}
