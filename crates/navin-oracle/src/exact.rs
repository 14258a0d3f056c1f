//! Numbers without rounding: a fixed point far below the smallest double, so that sums and products are exact and are
//! rounded once, whatever the format and direction.
//!
//! Slow and plain: every number is some four thousand bits.

use crate::float::Rounding;

/// Words of a number.
const WORDS: usize = 72;
/// Bit 0 is worth 2 to this power: below the product of the two smallest doubles.
const UNIT: i32 = -2200;

/// An exact number: sign and magnitude.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exact {
    negative: bool,
    magnitude: [u64; WORDS],
}

/// A float format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the significand, the leading one included.
    pub digits: u32,
    /// Largest exponent.
    pub top: i32,
}

impl Format {
    /// Binary16.
    pub const HALF: Self = Self { digits: 11, top: 15 };
    /// Binary32.
    pub const SINGLE: Self = Self { digits: 24, top: 127 };
    /// Binary64.
    pub const DOUBLE: Self = Self { digits: 53, top: 1023 };
}

impl Exact {
    /// Zero.
    pub fn zero() -> Self {
        Self { negative: false, magnitude: [0; WORDS] }
    }

    /// `digits` times 2 to the power `exponent`.
    fn scaled(negative: bool, digits: u128, exponent: i32) -> Self {
        let mut n = Self { negative, magnitude: [0; WORDS] };
        let at = (exponent - UNIT) as usize;
        for bit in (0..128).filter(|b| digits >> b & 1 != 0) {
            n.magnitude[(at + bit) / 64] |= 1 << ((at + bit) % 64);
        }
        n
    }

    /// Sign, significand and exponent of a finite double.
    fn parts(x: f64) -> (bool, u64, i32) {
        let bits = x.to_bits();
        let (exponent, fraction) = ((bits >> 52 & 0x7FF) as i32, bits & ((1 << 52) - 1));
        match exponent {
            0 => (bits >> 63 != 0, fraction, -1074),
            _ => (bits >> 63 != 0, fraction | 1 << 52, exponent - 1075),
        }
    }

    /// A finite double.
    pub fn of(x: f64) -> Self {
        let (negative, digits, exponent) = Self::parts(x);
        Self::scaled(negative, digits.into(), exponent)
    }

    /// A whole number.
    pub fn whole(x: i128) -> Self {
        Self::scaled(x < 0, x.unsigned_abs(), 0)
    }

    /// The product of two finite doubles and a power of two.
    pub fn product(a: f64, b: f64, scale: i32) -> Self {
        let (x, y) = (Self::parts(a), Self::parts(b));
        Self::scaled(x.0 != y.0, u128::from(x.1) * u128::from(y.1), x.2 + y.2 + scale)
    }

    fn is_less(&self, other: &Self) -> bool {
        self.magnitude.iter().rev().lt(other.magnitude.iter().rev())
    }

    /// The sum.
    pub fn plus(&self, other: &Self) -> Self {
        let mut out = Self::zero();
        if self.negative == other.negative {
            out.negative = self.negative;
            let mut carry = false;
            for (o, (&a, &b)) in out.magnitude.iter_mut().zip(self.magnitude.iter().zip(&other.magnitude)) {
                let (sum, first) = a.overflowing_add(b);
                let (sum, second) = sum.overflowing_add(carry.into());
                (*o, carry) = (sum, first || second);
            }
            return out;
        }
        let (large, small) = if self.is_less(other) { (other, self) } else { (self, other) };
        out.negative = large.negative;
        let mut borrow = false;
        for (o, (&a, &b)) in out.magnitude.iter_mut().zip(large.magnitude.iter().zip(&small.magnitude)) {
            let (rest, first) = a.overflowing_sub(b);
            let (rest, second) = rest.overflowing_sub(borrow.into());
            (*o, borrow) = (rest, first || second);
        }
        out
    }

    /// Whether this is zero.
    pub fn is_zero(&self) -> bool {
        self.magnitude.iter().all(|w| *w == 0)
    }

    fn bit(&self, n: i32) -> bool {
        n >= 0 && self.magnitude[n as usize / 64] >> (n % 64) & 1 != 0
    }

    /// Rounded to a format, as a double (which holds all three). Zeros keep no sign: the caller gives it.
    pub fn rounded(&self, format: Format, rounding: Rounding) -> f64 {
        let Some(word) = self.magnitude.iter().rposition(|w| *w != 0) else { return 0.0 };
        let top = word as i32 * 64 + 63 - self.magnitude[word].leading_zeros() as i32;
        // The last place: `digits` below the top, but not below the smallest denormal's.
        let smallest = 2 - format.top - format.digits as i32;
        let last = (top - format.digits as i32 + 1).max(smallest - UNIT);
        let mut digits = (last..=top.max(last)).rev().fold(0u64, |d, n| d << 1 | u64::from(self.bit(n)));
        let half = self.bit(last - 1);
        let rest = (0..last - 1).any(|n| self.bit(n));
        let up = match rounding {
            Rounding::Nearest => half && (rest || digits & 1 != 0),
            Rounding::Down => (half || rest) && self.negative,
            Rounding::Up => (half || rest) && !self.negative,
            Rounding::Zero => false,
        };
        digits += u64::from(up);
        // Built from the digits in two exact steps, so that a denormal double is not rounded again.
        let exponent = last + UNIT;
        let unit = |n: i32| 2f64.powi(n);
        let value = if exponent < -1000 {
            digits as f64 * unit(exponent + 200) * unit(-200)
        } else {
            digits as f64 * unit(exponent)
        };
        let limit = unit(format.top) * (2.0 - unit(1 - format.digits as i32));
        let value = if value > limit {
            match rounding {
                Rounding::Zero => limit,
                Rounding::Down if !self.negative => limit,
                Rounding::Up if self.negative => limit,
                _ => f64::INFINITY,
            }
        } else {
            value
        };
        if self.negative { -value } else { value }
    }
}

/// a * b * 2^scale + c in one rounding, with the signs of zeros, infinities and NaN as IEEE 754 has them.
pub fn fma(a: f64, b: f64, scale: i32, c: f64, format: Format, rounding: Rounding) -> f64 {
    let product = a * b;
    if !(a.is_finite() && b.is_finite() && c.is_finite()) {
        // An infinity takes part (a product of finite numbers that overflows here is none).
        return if a.is_finite() && b.is_finite() { c } else { product + c };
    }
    let sum = Exact::product(a, b, scale).plus(&Exact::of(c));
    if !sum.is_zero() {
        return sum.rounded(format, rounding);
    }
    let product_negative = a.is_sign_negative() != b.is_sign_negative();
    let same = product_negative == c.is_sign_negative();
    let negative = if same && (a == 0.0 || b == 0.0) { product_negative } else { rounding == Rounding::Down };
    if negative { -0.0 } else { 0.0 }
}

/// a * b * 2^scale in one rounding.
pub fn mul(a: f64, b: f64, scale: i32, format: Format, rounding: Rounding) -> f64 {
    if !(a.is_finite() && b.is_finite()) {
        return a * b;
    }
    let product = Exact::product(a, b, scale);
    let value = if product.is_zero() { 0.0 } else { product.rounded(format, rounding).abs() };
    if a.is_sign_negative() != b.is_sign_negative() { -value } else { value }
}

/// a + b in one rounding.
pub fn add(a: f64, b: f64, format: Format, rounding: Rounding) -> f64 {
    fma(a, 1.0, 0, b, format, rounding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_is_the_host_s() {
        let values = [1.0, -1.5, 1e-300, 4.9e-324, 1e300, 0.1, 3.0, f64::MAX, -2.5e-310, 7.0 / 3.0];
        for a in values {
            for b in values {
                assert_eq!(add(a, b, Format::DOUBLE, Rounding::Nearest).to_bits(), (a + b).to_bits(), "{a} + {b}");
                let product = mul(a, b, 0, Format::DOUBLE, Rounding::Nearest);
                assert_eq!(product.to_bits(), (a * b).to_bits(), "{a} * {b}");
                for c in values {
                    let fused = fma(a, b, 0, c, Format::DOUBLE, Rounding::Nearest);
                    assert_eq!(fused.to_bits(), a.mul_add(b, c).to_bits(), "{a} * {b} + {c}");
                }
            }
        }
    }

    #[test]
    fn directions() {
        let third = |r| mul(1.0, 1.0 / 3.0, 0, Format::SINGLE, r) as f32;
        assert_eq!(third(Rounding::Up).to_bits(), third(Rounding::Down).to_bits() + 1);
        assert_eq!(third(Rounding::Zero), third(Rounding::Down));
        let max = f64::from(f32::MAX);
        assert_eq!(mul(max, 2.0, 0, Format::SINGLE, Rounding::Zero), max);
        assert_eq!(mul(max, 2.0, 0, Format::SINGLE, Rounding::Up), f64::INFINITY);
        assert_eq!(mul(max, -2.0, 0, Format::SINGLE, Rounding::Up), -max);
        assert!(add(1.0, -1.0, Format::SINGLE, Rounding::Down).is_sign_negative());
        assert!(add(1.0, -1.0, Format::SINGLE, Rounding::Zero).is_sign_positive());
        // A half below the smallest denormal.
        assert_eq!(mul(1.0, 2f64.powi(-30), 0, Format::HALF, Rounding::Up), 2f64.powi(-24));
    }
}
