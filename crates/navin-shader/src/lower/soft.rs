//! Floats put together from integers: roundings that Vulkan has no operation for.
//!
//! Vulkan rounds to nearest where it says anything, so the directed roundings of the machine are made here. Binary32
//! results are computed as doubles that are exact but for an error that is known exactly, and cut to 24 bits by integer
//! arithmetic ([`Lower::compose`]), which also serves conversions. Binary64 results are rounded to nearest by the
//! device and moved by one unit where the error points the other way.

use super::Lower;
use super::wide::Wide;
use crate::ir::{Op as Ir, Value};

/// A float format that fits a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    /// Bits of the significand, the leading one included.
    digits: u32,
    /// Largest exponent, which is the bias.
    bias: u32,
}

impl Format {
    pub(super) const HALF: Format = Format { digits: 11, bias: 15 };
    pub(super) const SINGLE: Format = Format { digits: 24, bias: 127 };
}

/// The roundings by their codes.
pub(super) const NEAREST: u32 = 0;
const DOWN: u32 = 1;
const UP: u32 = 2;

/// A number to be rounded: `top / 2^31 * 2^exponent` plus something smaller than the last bit of `top`.
#[derive(Clone, Copy)]
pub(super) struct Number {
    /// Bit 31 is the sign.
    pub sign: Value,
    /// Leading one at bit 31, unless the number is smaller than every format's smallest.
    pub top: Value,
    /// Signed.
    pub exponent: Value,
    /// Truth: there is more below `top`.
    pub more: Value,
}

/// A product of doubles: rounded to nearest, and exactly as `(digits + error) * 2^exponent`.
struct Product {
    near: Value,
    digits: Value,
    error: Value,
    exponent: Value,
}

impl Lower<'_, '_> {
    /// Whether the rounding goes away from zero for a number of that sign; `None` for nearest and towards zero.
    fn away(&mut self, rounding: u32, sign: Value) -> Option<Value> {
        let zero = self.b.word(0);
        match rounding {
            DOWN => Some(self.b.op2(Ir::SLt, sign, zero)),
            UP => Some(self.b.op2(Ir::SGe, sign, zero)),
            _ => None,
        }
    }

    /// Bits of the number in a format.
    pub(super) fn compose(&mut self, n: Number, format: Format, rounding: u32) -> Value {
        let Format { digits, bias } = format;
        let word = |s: &mut Self, k: u32| s.b.word(k);
        let (zero, one) = (word(self, 0), word(self, 1));
        // Below the smallest normal number the place of the last bit is fixed.
        let least = word(self, 1u32.wrapping_sub(bias));
        let none = self.b.op2(Ir::IEq, n.top, zero);
        let exponent = self.b.select(none, least, n.exponent);
        let below = self.b.op2(Ir::ISub, least, exponent);
        let below = self.b.op2(Ir::SMax, below, zero);
        let thirty_one = word(self, 31);
        let below = self.b.op2(Ir::SMin, below, thirty_one);
        let top = self.b.op2(Ir::Shr, n.top, below);
        let back = self.b.op2(Ir::Shl, top, below);
        let lost = self.b.op2(Ir::INe, back, n.top);
        let more = self.b.op2(Ir::BOr, n.more, lost);
        let (cut, mask, half) = (32 - digits, (1u32 << (32 - digits)) - 1, 1u32 << (31 - digits));
        let (cut, mask, half) = (word(self, cut), word(self, mask), word(self, half));
        let kept = self.b.op2(Ir::Shr, top, cut);
        let rest = self.b.op2(Ir::And, top, mask);
        let some = self.b.op2(Ir::INe, rest, zero);
        let inexact = self.b.op2(Ir::BOr, some, more);
        let up = match self.away(rounding, n.sign) {
            Some(away) => Some(self.b.op2(Ir::BAnd, inexact, away)),
            None if rounding == NEAREST => {
                let above = self.b.op2(Ir::UGt, rest, half);
                let tie = self.b.op2(Ir::IEq, rest, half);
                let odd = self.b.op2(Ir::And, kept, one);
                let odd = self.b.op2(Ir::INe, odd, zero);
                let upwards = self.b.op2(Ir::BOr, odd, more);
                let tie = self.b.op2(Ir::BAnd, tie, upwards);
                Some(self.b.op2(Ir::BOr, above, tie))
            }
            None => None,
        };
        let kept = match up {
            Some(up) => {
                let unit = self.b.select(up, one, zero);
                self.b.op2(Ir::IAdd, kept, unit)
            }
            None => kept,
        };
        // The leading one adds itself to the exponent, and so does a carry out of the digits.
        let exponent = self.b.op2(Ir::SMax, exponent, least);
        let beyond = word(self, bias + 1);
        let exponent = self.b.op2(Ir::SMin, exponent, beyond);
        let (offset, place) = (word(self, bias - 1), word(self, digits - 1));
        let biased = self.b.op2(Ir::IAdd, exponent, offset);
        let biased = self.b.op2(Ir::Shl, biased, place);
        let bits = self.b.op2(Ir::IAdd, biased, kept);
        let infinity = (2 * bias + 1) << (digits - 1);
        let (infinite, largest) = (word(self, infinity), word(self, infinity - 1));
        let over = self.b.op2(Ir::UGe, bits, infinite);
        let end = match self.away(rounding, n.sign) {
            Some(away) => self.b.select(away, infinite, largest),
            None if rounding == NEAREST => infinite,
            None => largest,
        };
        let bits = self.b.select(over, end, bits);
        let sign = if digits == 11 {
            let sixteen = word(self, 16);
            self.b.op2(Ir::Shr, n.sign, sixteen)
        } else {
            n.sign
        };
        self.b.op2(Ir::Or, bits, sign)
    }

    /// A 64-bit magnitude with a sign, rounded to a format.
    pub(super) fn compose_integer(&mut self, sign: Value, m: Wide, format: Format, rounding: u32) -> Value {
        // The leading one goes to bit 63.
        let (zero, thirty_two) = (self.b.word(0), self.b.word(32));
        let small = self.b.op2(Ir::IEq, m.high, zero);
        let high = self.b.select(small, m.low, m.high);
        let low = self.b.select(small, zero, m.low);
        let msb = self.b.op1(Ir::FindMsbU, high);
        let thirty_one = self.b.word(31);
        let up = self.b.op2(Ir::ISub, thirty_one, msb);
        // Of a zero, whose msb is -1, nothing is left to shift.
        let up = self.b.op2(Ir::And, up, thirty_one);
        let left = self.shift_wide_left(Wide { low, high }, up);
        let more = self.b.op2(Ir::INe, left.low, zero);
        let extra = self.b.select(small, zero, thirty_two);
        let exponent = self.b.op2(Ir::IAdd, msb, extra);
        self.compose(Number { sign, top: left.high, exponent, more }, format, rounding)
    }

    /// The bits of a double as a number, and whether it is infinite or NaN with what that is in the format.
    fn take_apart(&mut self, low: Value, high: Value) -> (Number, Value) {
        let (zero, eleven, twenty_one) = (self.b.word(0), self.b.word(11), self.b.word(21));
        let (twenty, bits11) = (self.b.word(20), self.b.word(11));
        let biased = self.b.op3(Ir::BfeU, high, twenty, bits11);
        let fraction = self.b.op2(Ir::Shl, high, eleven);
        let rest = self.b.op2(Ir::Shr, low, twenty_one);
        let top = self.b.op2(Ir::Or, fraction, rest);
        let leading = self.b.word(0x8000_0000);
        let normal = self.b.op2(Ir::INe, biased, zero);
        let with = self.b.op2(Ir::Or, top, leading);
        let without = self.b.word(0x7FFF_FFFF);
        let without = self.b.op2(Ir::And, top, without);
        let top = self.b.select(normal, with, without);
        let below = self.b.op2(Ir::Shl, low, eleven);
        let more = self.b.op2(Ir::INe, below, zero);
        let bias = self.b.word(1023);
        let exponent = self.b.op2(Ir::ISub, biased, bias);
        let sign = self.b.op2(Ir::And, high, leading);
        let special = self.b.word(0x7FF);
        let special = self.b.op2(Ir::IEq, biased, special);
        (Number { sign, top, exponent, more }, special)
    }

    /// Infinity of a sign, or NaN, in a format.
    fn infinity_or_nan(&mut self, sign: Value, nan: Value, format: Format) -> Value {
        let infinity = (2 * format.bias + 1) << (format.digits - 1);
        let quiet = infinity | 1 << (format.digits - 2);
        let (infinity, quiet) = (self.b.word(infinity), self.b.word(quiet));
        let shift = self.b.word(if format.digits == 11 { 16 } else { 0 });
        let sign = self.b.op2(Ir::Shr, sign, shift);
        let infinity = self.b.op2(Ir::Or, infinity, sign);
        self.b.select(nan, quiet, infinity)
    }

    /// A double rounded once to a format.
    pub(super) fn narrow_double(&mut self, d: Value, format: Format, rounding: u32) -> Value {
        let (low, high) = (self.b.op1(Ir::DLow, d), self.b.op1(Ir::DHigh, d));
        let (n, special) = self.take_apart(low, high);
        let composed = self.compose(n, format, rounding);
        let nan = self.b.op1(Ir::DIsNan, d);
        let other = self.infinity_or_nan(n.sign, nan, format);
        self.b.select(special, other, composed)
    }

    /// A float rounded once to a half.
    pub(super) fn narrow_float(&mut self, v: Value, rounding: u32) -> Value {
        let (eight, leading) = (self.b.word(8), self.b.word(0x8000_0000));
        let (twenty_three, bits) = (self.b.word(23), self.b.word(8));
        let biased = self.b.op3(Ir::BfeU, v, twenty_three, bits);
        let top = self.b.op2(Ir::Shl, v, eight);
        let top = self.b.op2(Ir::Or, top, leading);
        let zero = self.b.word(0);
        let magnitude = self.b.word(0x7FFF_FFFF);
        let magnitude = self.b.op2(Ir::And, v, magnitude);
        let none = self.b.op2(Ir::IEq, magnitude, zero);
        let top = self.b.select(none, zero, top);
        let bias = self.b.word(127);
        let exponent = self.b.op2(Ir::ISub, biased, bias);
        let sign = self.b.op2(Ir::And, v, leading);
        let more = self.b.truth(false);
        let composed = self.compose(Number { sign, top, exponent, more }, Format::HALF, rounding);
        let special = self.b.word(0xFF);
        let special = self.b.op2(Ir::IEq, biased, special);
        let nan = self.b.op1(Ir::FIsNan, v);
        let other = self.infinity_or_nan(sign, nan, Format::HALF);
        self.b.select(special, other, composed)
    }

    fn double_sub(&mut self, a: Value, b: Value) -> Value {
        let b = self.b.op1(Ir::DNeg, b);
        self.b.op2(Ir::DAdd, a, b)
    }

    /// a + b rounded to nearest, and exactly what that left out (Knuth).
    fn two_sum(&mut self, a: Value, b: Value) -> (Value, Value) {
        self.notes.zeros64 = true;
        let sum = self.b.op2(Ir::DAdd, a, b);
        let back = self.double_sub(sum, a);
        let rest = self.double_sub(sum, back);
        let left = self.double_sub(a, rest);
        let right = self.double_sub(b, back);
        (sum, self.b.op2(Ir::DAdd, left, right))
    }

    /// The upper and lower half of a double's digits (Veltkamp).
    fn halves_of(&mut self, a: Value) -> (Value, Value) {
        let k = self.double_constant(134_217_729.0);
        let c = self.b.op2(Ir::DMul, k, a);
        let over = self.double_sub(c, a);
        let high = self.double_sub(c, over);
        (high, self.double_sub(a, high))
    }

    /// The digits of a double with exponent 0 and its sign, and its exponent, a signed word. Of zeros, infinities and
    /// NaN neither means anything.
    fn digits_and_exponent(&mut self, a: Value) -> (Value, Value) {
        let zero = self.b.word(0);
        let (at, bits) = (self.b.word(20), self.b.word(11));
        // Denormals are made normal first.
        let scale = self.double_constant(18_014_398_509_481_984.0);
        let scaled = self.b.op2(Ir::DMul, a, scale);
        let biased = self.b.op1(Ir::DHigh, a);
        let biased = self.b.op3(Ir::BfeU, biased, at, bits);
        let small = self.b.op2(Ir::IEq, biased, zero);
        let words = [Ir::DLow, Ir::DHigh].map(|part| {
            let (x, y) = (self.b.op1(part, scaled), self.b.op1(part, a));
            self.b.select(small, x, y)
        });
        let biased = self.b.op3(Ir::BfeU, words[1], at, bits);
        let (normal, denormal) = (self.b.word(1023), self.b.word(1023 + 54));
        let bias = self.b.select(small, denormal, normal);
        let exponent = self.b.op2(Ir::ISub, biased, bias);
        let (mask, one) = (self.b.word(0x800F_FFFF), self.b.word(0x3FF0_0000));
        let high = self.b.op2(Ir::And, words[1], mask);
        let high = self.b.op2(Ir::Or, high, one);
        (self.b.op2(Ir::DPack, words[0], high), exponent)
    }

    /// 2 to the power of a signed word between -1022 and 1023.
    fn power(&mut self, exponent: Value) -> Value {
        let (zero, bias, at) = (self.b.word(0), self.b.word(1023), self.b.word(20));
        let biased = self.b.op2(Ir::IAdd, exponent, bias);
        let high = self.b.op2(Ir::Shl, biased, at);
        self.b.op2(Ir::DPack, zero, high)
    }

    /// a * b rounded to nearest, and what that left out (Dekker: no device has to fuse). The digits are multiplied
    /// apart from the exponents, so nothing overflows on the way.
    fn two_product(&mut self, a: Value, b: Value) -> Product {
        let near = self.b.op2(Ir::DMul, a, b);
        let ((x, ea), (y, eb)) = (self.digits_and_exponent(a), self.digits_and_exponent(b));
        let digits = self.b.op2(Ir::DMul, x, y);
        let ((ah, al), (bh, bl)) = (self.halves_of(x), self.halves_of(y));
        let t = self.b.op2(Ir::DMul, ah, bh);
        let t = self.double_sub(t, digits);
        let u = self.b.op2(Ir::DMul, ah, bl);
        let t = self.b.op2(Ir::DAdd, t, u);
        let u = self.b.op2(Ir::DMul, al, bh);
        let t = self.b.op2(Ir::DAdd, t, u);
        let u = self.b.op2(Ir::DMul, al, bl);
        let error = self.b.op2(Ir::DAdd, t, u);
        let exponent = self.b.op2(Ir::IAdd, ea, eb);
        Product { near, digits, error, exponent }
    }

    /// `c ? a : b` of doubles.
    fn select_double(&mut self, c: Value, a: Value, b: Value) -> Value {
        let words = [Ir::DLow, Ir::DHigh].map(|part| {
            let (x, y) = (self.b.op1(part, a), self.b.op1(part, b));
            self.b.select(c, x, y)
        });
        self.b.op2(Ir::DPack, words[0], words[1])
    }

    /// 2 to the power of `exponent + offset`, which is kept in the range of normal numbers.
    fn power_within(&mut self, exponent: Value, offset: u32) -> Value {
        let offset = self.b.word(offset);
        let exponent = self.b.op2(Ir::IAdd, exponent, offset);
        let (least, most) = (self.b.word(1022u32.wrapping_neg()), self.b.word(1023));
        let exponent = self.b.op2(Ir::SMax, exponent, least);
        let exponent = self.b.op2(Ir::SMin, exponent, most);
        self.power(exponent)
    }

    /// A number of the sign of what `p.near` left out of the exact product.
    fn product_error(&mut self, p: &Product) -> Value {
        // Where the product was rounded to fewer digits than it has, its error is seen 600 places further up.
        let scale = self.power_within(p.exponent, 600);
        let exact = self.b.op2(Ir::DMul, p.digits, scale);
        let up = self.double_constant(2f64.powi(600));
        let near = self.b.op2(Ir::DMul, p.near, up);
        let difference = self.double_sub(exact, near);
        let zero = self.double_constant(0.0);
        let same = self.b.op2(Ir::DEq, difference, zero);
        let low = self.select_double(same, p.error, difference);
        let limit = self.b.word(1022u32.wrapping_neg());
        let small = self.b.op2(Ir::SLt, p.exponent, limit);
        self.select_double(small, low, p.error)
    }

    fn is_above(&mut self, d: Value, zero: Value) -> [Value; 2] {
        [self.b.op2(Ir::DGt, d, zero), self.b.op2(Ir::DLt, d, zero)]
    }

    /// p + c in one rounding to 32 bits; p and c are doubles with far fewer digits or smaller exponents than theirs.
    pub(super) fn directed_sum(&mut self, p: Value, c: Value, rounding: u32) -> Value {
        let (sum, error) = self.two_sum(p, c);
        let zero = self.double_constant(0.0);
        let [above, below] = self.is_above(error, zero);
        let inexact = self.b.op2(Ir::BOr, above, below);
        // Cut towards zero: one less where the error points there.
        let (low, high) = (self.b.op1(Ir::DLow, sum), self.b.op1(Ir::DHigh, sum));
        let none = self.b.word(0);
        let negative = self.b.op2(Ir::SLt, high, none);
        let inwards = self.b.op3(Ir::SelectB, negative, above, below);
        let cut = self.step(low, high, inwards, false);
        let (mut n, special) = self.take_apart(cut.low, cut.high);
        n.more = self.b.op2(Ir::BOr, n.more, inexact);
        if rounding == DOWN {
            // An exact zero of unlike signs is the negative one.
            let is_zero = self.b.op2(Ir::DEq, sum, zero);
            let (x, y) = (self.b.op1(Ir::DHigh, p), self.b.op1(Ir::DHigh, c));
            let either = self.b.op2(Ir::Or, x, y);
            let sign = self.b.word(0x8000_0000);
            let either = self.b.op2(Ir::And, either, sign);
            n.sign = self.b.select(is_zero, either, n.sign);
        }
        let composed = self.compose(n, Format::SINGLE, rounding);
        let nan = self.b.op1(Ir::DIsNan, sum);
        let other = self.infinity_or_nan(n.sign, nan, Format::SINGLE);
        self.b.select(special, other, composed)
    }

    /// The bits of a double one unit further from zero (`outwards`) or nearer to it, where `when` holds.
    fn step(&mut self, low: Value, high: Value, when: Value, outwards: bool) -> Wide {
        let (zero, one) = (self.b.word(0), self.b.word(1));
        let unit = self.b.select(when, one, zero);
        let by = Wide { low: unit, high: zero };
        let bits = Wide { low, high };
        if outwards { self.wide_add(bits, by) } else { self.wide_sub(bits, by) }
    }

    /// `near`, rounded to nearest, moved to another rounding by the sign of what it left out. `finite`: operands are.
    fn directed(&mut self, near: Value, error: Value, finite: Value, rounding: u32) -> Value {
        self.notes.zeros64 = true;
        let zero = self.double_constant(0.0);
        let [above, below] = self.is_above(error, zero);
        let (low, high) = (self.b.op1(Ir::DLow, near), self.b.op1(Ir::DHigh, near));
        let none = self.b.word(0);
        let negative = self.b.op2(Ir::SLt, high, none);
        let grows = self.b.op3(Ir::SelectB, negative, below, above);
        let shrinks = self.b.op3(Ir::SelectB, negative, above, below);
        // What is infinite only by its rounding is the largest number in the other directions.
        let size = self.b.op1(Ir::DAbs, near);
        let infinity = self.double_constant(f64::INFINITY);
        let over = self.b.op2(Ir::DEq, size, infinity);
        let over = self.b.op2(Ir::BAnd, over, finite);
        let shrinks = self.b.op2(Ir::BOr, shrinks, over);
        let bits = match self.away(rounding, high) {
            Some(away) => {
                let out = self.b.op2(Ir::BAnd, grows, away);
                let towards = self.b.op1(Ir::BNot, away);
                let inwards = self.b.op2(Ir::BAnd, shrinks, towards);
                let bits = self.step(low, high, out, true);
                self.step(bits.low, bits.high, inwards, false)
            }
            None => self.step(low, high, shrinks, false),
        };
        self.b.op2(Ir::DPack, bits.low, bits.high)
    }

    fn finite(&mut self, values: &[Value]) -> Value {
        let infinity = self.double_constant(f64::INFINITY);
        let mut all = self.b.truth(true);
        for &v in values {
            let size = self.b.op1(Ir::DAbs, v);
            let one = self.b.op2(Ir::DLt, size, infinity);
            all = self.b.op2(Ir::BAnd, all, one);
        }
        all
    }

    /// An exact zero sum is -0 when rounded down, unless both parts are +0.
    fn zero_sum(&mut self, sum: Value, a: Value, b: Value, rounding: u32) -> Value {
        if rounding != DOWN {
            return sum;
        }
        let zero = self.double_constant(0.0);
        let is_zero = self.b.op2(Ir::DEq, sum, zero);
        let (low, high) = (self.b.op1(Ir::DLow, sum), self.b.op1(Ir::DHigh, sum));
        let (x, y) = (self.b.op1(Ir::DHigh, a), self.b.op1(Ir::DHigh, b));
        let either = self.b.op2(Ir::Or, x, y);
        let sign = self.b.word(0x8000_0000);
        let either = self.b.op2(Ir::And, either, sign);
        let high = self.b.select(is_zero, either, high);
        self.b.op2(Ir::DPack, low, high)
    }

    /// DADD with a direction.
    pub(super) fn directed_add(&mut self, a: Value, b: Value, rounding: u32) -> Value {
        let (sum, error) = self.two_sum(a, b);
        let finite = self.finite(&[a, b]);
        let sum = self.zero_sum(sum, a, b, rounding);
        self.directed(sum, error, finite, rounding)
    }

    /// Where a factor is 0, nothing is left out.
    fn unless_zero(&mut self, error: Value, factors: [Value; 2]) -> Value {
        let zero = self.double_constant(0.0);
        let [x, y] = factors.map(|v| self.b.op2(Ir::DEq, v, zero));
        let either = self.b.op2(Ir::BOr, x, y);
        self.select_double(either, zero, error)
    }

    /// DMUL with a direction.
    pub(super) fn directed_mul(&mut self, a: Value, b: Value, rounding: u32) -> Value {
        let p = self.two_product(a, b);
        let error = self.product_error(&p);
        let error = self.unless_zero(error, [a, b]);
        let finite = self.finite(&[a, b]);
        // The digits of infinities and NaN are none.
        let zero = self.double_constant(0.0);
        let error = self.select_double(finite, error, zero);
        self.directed(p.near, error, finite, rounding)
    }

    /// DFMA with a direction. Exact unless the result is below 2^-900 or so, where it may be a unit off, or the product
    /// overflows while the sum does not.
    pub(super) fn directed_fma(&mut self, a: Value, b: Value, c: Value, rounding: u32) -> Value {
        let p = self.two_product(a, b);
        let zero = self.double_constant(0.0);
        let scale = self.power_within(p.exponent, 0);
        let e = self.b.op2(Ir::DMul, p.error, scale);
        let limit = self.b.word(900u32.wrapping_neg());
        let small = self.b.op2(Ir::SLt, p.exponent, limit);
        let e = self.select_double(small, zero, e);
        let e = self.unless_zero(e, [a, b]);
        let (s, t) = self.two_sum(p.near, c);
        // Three parts s + (t + e) become two, of which the first is rounded to nearest.
        let (u, rest) = self.two_sum(t, e);
        let (near, error) = self.two_sum(s, u);
        let error = self.b.op2(Ir::DAdd, error, rest);
        // Of a small product only the sign is left, or that of its error.
        let trace = self.product_error(&p);
        let trace = self.unless_zero(trace, [a, b]);
        let exact = self.b.op2(Ir::DEq, error, zero);
        let traced = self.b.op2(Ir::BAnd, exact, small);
        let error = self.select_double(traced, trace, error);
        let finite = self.finite(&[a, b, c]);
        let error = self.select_double(finite, error, zero);
        let near = self.zero_sum(near, p.near, c, rounding);
        self.directed(near, error, finite, rounding)
    }
}
