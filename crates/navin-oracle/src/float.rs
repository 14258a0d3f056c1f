//! Float arithmetic of 32 and 64 bits with every rounding (`maxwell_encodings.md`, sections 4 and 5).
//!
//! Results come from exact numbers ([`crate::exact`]) that are rounded once.

use crate::exact::{self, Exact, Format};

/// Rounding modes by their code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To nearest, ties to even.
    Nearest,
    /// Towards minus infinity.
    Down,
    /// Towards plus infinity.
    Up,
    /// Towards zero.
    Zero,
}

impl Rounding {
    /// Of the two-bit field.
    pub fn from_code(code: u32) -> Self {
        [Self::Nearest, Self::Down, Self::Up, Self::Zero][(code & 3) as usize]
    }
}

/// Denormals become zeros of their sign.
pub fn flush(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}

/// What FMUL's, FFMA's flush field says: flush, and zero times anything is zero.
pub fn flush_mode(mode: u32) -> (bool, bool) {
    (mode == 1 || mode == 2, mode == 2)
}

/// a + b, exact or with the last bit set when something was cut off.
pub(crate) fn add_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    let bb = sum - a;
    let error = (a - (sum - bb)) + (b - bb);
    odd(sum, error)
}

/// `rounded` plus a smaller `error`, rounded to odd.
fn odd(rounded: f64, error: f64) -> f64 {
    if error == 0.0 || rounded == 0.0 || !error.is_finite() {
        return rounded;
    }
    let bits = rounded.to_bits();
    let away = (error > 0.0) == (rounded > 0.0);
    f64::from_bits(if away { bits | 1 } else { (bits - 1) | 1 })
}

/// A double rounded once to 32 bits.
pub fn to_f32(wide: f64, rounding: Rounding) -> f32 {
    narrowed(wide, Format::SINGLE, rounding) as f32
}

/// A double rounded once to a narrower format.
pub fn narrowed(wide: f64, format: Format, rounding: Rounding) -> f64 {
    if wide.is_nan() || wide.is_infinite() || wide == 0.0 {
        return wide;
    }
    let value = Exact::of(wide).rounded(format, rounding);
    if value == 0.0 { value.copysign(wide) } else { value }
}

/// A whole number rounded once.
pub fn whole(x: i128, format: Format, rounding: Rounding) -> f64 {
    Exact::whole(x).rounded(format, rounding)
}

/// a + b in one rounding.
pub fn add(a: f32, b: f32, rounding: Rounding) -> f32 {
    exact::add(a.into(), b.into(), Format::SINGLE, rounding) as f32
}

/// a * b * 2^scale in one rounding.
pub fn mul(a: f32, b: f32, scale: i32, rounding: Rounding) -> f32 {
    exact::mul(a.into(), b.into(), scale, Format::SINGLE, rounding) as f32
}

/// a * b + c in one rounding.
pub fn fma(a: f32, b: f32, c: f32, rounding: Rounding) -> f32 {
    exact::fma(a.into(), b.into(), 0, c.into(), Format::SINGLE, rounding) as f32
}

/// FMUL's scale as a power of two.
pub fn scale(code: u32) -> Option<i32> {
    Some(match code {
        0 => 0,
        1 => -1,
        2 => -2,
        3 => -3,
        4 => 3,
        5 => 2,
        6 => 1,
        _ => return None,
    })
}

/// Clamped to 0..1; NaN becomes 0.
pub fn saturate(x: f32) -> f32 {
    if x > 0.0 { x.min(1.0) } else { 0.0 }
}

/// The 16 float compares.
pub fn compare(op: u32, a: f64, b: f64) -> bool {
    let unordered = a.is_nan() || b.is_nan();
    match op {
        0 => false,
        7 => !unordered,
        8 => unordered,
        15 => true,
        9..=14 => unordered || ordered(op - 8, a, b),
        _ => !unordered && ordered(op, a, b),
    }
}

fn ordered(op: u32, a: f64, b: f64) -> bool {
    crate::integer::holds(op, a < b, a == b)
}

/// Minimum or maximum: a NaN gives the other operand, -0 is below +0.
pub fn min_max(a: f32, b: f32, min: bool) -> f32 {
    if a.is_nan() {
        return b;
    }
    if b.is_nan() {
        return a;
    }
    let a_first = a < b || (a == b && a.is_sign_negative());
    if a_first == min { a } else { b }
}

/// The same in 64 bits.
pub fn min_max64(a: f64, b: f64, min: bool) -> f64 {
    if a.is_nan() {
        return b;
    }
    if b.is_nan() {
        return a;
    }
    let a_first = a < b || (a == b && a.is_sign_negative());
    if a_first == min { a } else { b }
}

/// a + b in 64 bits.
pub fn add64(a: f64, b: f64, rounding: Rounding) -> f64 {
    exact::add(a, b, Format::DOUBLE, rounding)
}

/// a * b in 64 bits.
pub fn mul64(a: f64, b: f64, rounding: Rounding) -> f64 {
    exact::mul(a, b, 0, Format::DOUBLE, rounding)
}

/// a * b + c in 64 bits.
pub fn fma64(a: f64, b: f64, c: f64, rounding: Rounding) -> f64 {
    exact::fma(a, b, 0, c, Format::DOUBLE, rounding)
}

/// Special functions, as exact as the host makes them; the hardware's are approximations.
pub fn mufu(op: u32, a: f32) -> Option<f32> {
    let x = f64::from(a);
    Some(match op {
        0 => x.cos() as f32,
        1 => x.sin() as f32,
        2 => x.exp2() as f32,
        3 => x.log2() as f32,
        4 => (1.0 / x) as f32,
        5 => (1.0 / x.sqrt()) as f32,
        8 => x.sqrt() as f32,
        _ => return None,
    })
}
