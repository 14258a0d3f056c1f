//! Conversions: F2F, F2I, I2F, I2I.
//!
//! The device converts where it rounds as asked. Directions, 64-bit integers and halves of what has more digits are
//! put together from integers ([`super::soft`]).

use super::denormals::Handling;
use super::soft::{Format, NEAREST};
use super::wide::Wide;
use super::{Lower, Result};
use crate::ir::{Op as Ir, Value};
use crate::isa::{Field, Instr, Op};

/// Float formats of fields dfmt and sfmt.
const F16: u32 = 1;
const F32: u32 = 2;
const F64: u32 = 3;
/// Size code of 64-bit integers.
const WIDE: u32 = 3;

/// Where the exponent of a float lies in its high word.
#[derive(Clone, Copy)]
struct Digits {
    at: u32,
    bits: u32,
    bias: u32,
}

const DIGITS32: Digits = Digits { at: 23, bits: 8, bias: 127 };
const DIGITS64: Digits = Digits { at: 20, bits: 11, bias: 1023 };

impl Lower<'_, '_> {
    /// F2F, F2I, I2F, I2I.
    pub(super) fn conversion(&mut self, i: &Instr) -> Result<()> {
        match i.op {
            Op::F2f => self.float_to_float(i),
            Op::F2i => self.float_to_integer(i),
            Op::I2f => self.integer_to_float(i),
            _ => self.integer_to_integer(i),
        }
    }

    /// A binary16 or binary32 source as binary32, with its modifiers.
    fn float_source(&mut self, i: &Instr) -> Result<Value> {
        let v = if i.get(Field::Sfmt) == F16 {
            let word = self.b_word(i)?;
            self.b.op1(if i.flag(Field::Hsel) { Ir::HalfHigh } else { Ir::HalfLow }, word)
        } else {
            self.b_float(i)?
        };
        let how = self.handling(i);
        let v = self.handled(how, v);
        let v = self.modified_as(how, v, i.flag(Field::Ab), i.flag(Field::Nb));
        let rounds = i.op == Op::F2i || i.flag(Field::Rint);
        Ok(if how == Handling::Keep && rounds { self.lifted(v) } else { v })
    }

    fn double_source(&mut self, i: &Instr) -> Result<Value> {
        self.needs_doubles(i)?;
        let v = self.b_double(i)?;
        Ok(self.modified_double(v, i.flag(Field::Ab), i.flag(Field::Nb)))
    }

    fn round(&mut self, mode: u32, v: Value, double: bool) -> Value {
        let op = match (mode, double) {
            (0, false) => Ir::FRound,
            (1, false) => Ir::FFloor,
            (2, false) => Ir::FCeil,
            (_, false) => Ir::FTrunc,
            (0, true) => Ir::DRound,
            (1, true) => Ir::DFloor,
            (2, true) => Ir::DCeil,
            (_, true) => Ir::DTrunc,
        };
        self.b.op1(op, v)
    }

    /// A double rounded to an integral one, ties to even: 2^52 has no digits behind the point. (Mesa's CPU device
    /// truncates some arguments of its own rounding when an integer is made of the result.)
    fn round_double(&mut self, v: Value) -> Value {
        let (low, high) = (self.b.op1(Ir::DLow, v), self.b.op1(Ir::DHigh, v));
        let (sign, limit) = (self.b.word(0x8000_0000), self.b.word(0x4330_0000));
        let sign = self.b.op2(Ir::And, high, sign);
        let place = self.b.op2(Ir::Or, sign, limit);
        let zero = self.b.word(0);
        let place = self.b.op2(Ir::DPack, zero, place);
        let sum = self.b.op2(Ir::DAdd, v, place);
        let back = self.b.op1(Ir::DNeg, place);
        let r = self.b.op2(Ir::DAdd, sum, back);
        // A zero keeps the sign of what was rounded, large numbers and NaN stay as they are.
        let magnitude = self.b.word(0x7FFF_FFFF);
        let size = self.b.op2(Ir::And, high, magnitude);
        let small = self.b.op2(Ir::ULt, size, limit);
        let (rl, rh) = (self.b.op1(Ir::DLow, r), self.b.op1(Ir::DHigh, r));
        let rh = self.b.op2(Ir::Or, rh, sign);
        let (low, high) = (self.b.select(small, rl, low), self.b.select(small, rh, high));
        self.b.op2(Ir::DPack, low, high)
    }

    fn float_to_float(&mut self, i: &Instr) -> Result<()> {
        let (from, to) = (i.get(Field::Sfmt), i.get(Field::Dfmt));
        if !(F16..=F64).contains(&from) || !(F16..=F64).contains(&to) {
            return self.unsupported(i, "float format 0 is not known");
        }
        let how = self.handling(i);
        let (mode, rint) = (i.get(Field::Rnd), i.flag(Field::Rint));
        // Rounding to an integral value takes the field; the rest is to nearest then.
        let rounding = if rint { NEAREST } else { mode };
        if from == F64 {
            let mut v = self.double_source(i)?;
            if rint {
                v = self.round(mode, v, true);
            }
            if i.flag(Field::Sat) {
                // The maximum takes the other operand for NaN.
                let (zero, one) = (self.double_constant(0.0), self.double_constant(1.0));
                v = self.b.op2(Ir::DMax, v, zero);
                v = self.b.op2(Ir::DMin, v, one);
            }
            let r = match to {
                F64 => {
                    self.double_flags(i, v);
                    self.set_pair(i.get(Field::Dst), v);
                    return Ok(());
                }
                F32 if rounding == NEAREST && how != Handling::Keep => self.b.op1(Ir::DToF, v),
                F32 => self.narrow_double(v, Format::SINGLE, rounding),
                // Halves directly from the double: over binary32 they would be rounded twice.
                _ => self.narrow_double(v, Format::HALF, rounding),
            };
            let r = if to == F32 { self.handled(how, r) } else { r };
            return self.write_bits(i, to, r);
        }
        let mut v = self.float_source(i)?;
        if rint {
            v = self.round(mode, v, false);
        }
        if i.flag(Field::Sat) {
            v = self.saturated_as(how, v);
        }
        match to {
            F64 => {
                self.needs_doubles(i)?;
                let d = match how {
                    Handling::Keep => self.widened_float(v),
                    _ => self.b.op1(Ir::FToD, v),
                };
                self.double_flags(i, d);
                self.set_pair(i.get(Field::Dst), d);
                Ok(())
            }
            F16 if from == F32 && rounding != NEAREST => {
                let r = self.narrow_float(v, rounding);
                self.write_bits(i, to, r)
            }
            _ => self.write_float(i, to, v),
        }
    }

    fn write_float(&mut self, i: &Instr, to: u32, v: Value) -> Result<()> {
        let v = if to == F16 {
            let zero = self.b.word(0);
            self.b.op2(Ir::PackHalf, v, zero)
        } else {
            v
        };
        self.write_bits(i, to, v)
    }

    /// Writes the bits of a half or float, and their flags.
    fn write_bits(&mut self, i: &Instr, to: u32, bits: Value) -> Result<()> {
        if self.wants_flags(i) {
            let v = if to == F16 { self.b.op1(Ir::HalfLow, bits) } else { bits };
            match self.handling(i) {
                Handling::Keep => self.flags_kept(i, v),
                _ => self.float_flags(i, v),
            }
        }
        self.set_dst(i, bits);
        Ok(())
    }

    /// Rounds, saturates, gives 0 for NaN (the top bit alone when source or result has 64 bits).
    fn float_to_integer(&mut self, i: &Instr) -> Result<()> {
        let (from, size, signed) = (i.get(Field::Sfmt), i.get(Field::Dfmt), i.flag(Field::Dsigned));
        if !(F16..=F64).contains(&from) {
            return self.unsupported(i, "float format 0 is not known");
        }
        let bits = 8 << size;
        let r = if from == F64 {
            let v = self.double_source(i)?;
            let v = match i.get(Field::Rnd) {
                NEAREST => self.round_double(v),
                mode => self.round(mode, v, true),
            };
            if size == WIDE {
                let (low, high) = (self.b.op1(Ir::DLow, v), self.b.op1(Ir::DHigh, v));
                let nan = self.b.op1(Ir::DIsNan, v);
                return self.write_wide_integer(i, DIGITS64, Wide { low, high }, nan, signed);
            }
            self.double_to_word(v, bits, signed)
        } else {
            let v = self.float_source(i)?;
            let v = if i.get(Field::Rnd) == 3 && size != WIDE { v } else { self.round(i.get(Field::Rnd), v, false) };
            if size == WIDE {
                let nan = self.b.op1(Ir::FIsNan, v);
                let zero = self.b.word(0);
                return self.write_wide_integer(i, DIGITS32, Wide { low: zero, high: v }, nan, signed);
            }
            self.float_to_word(v, bits, signed)
        };
        self.result_flags(i, r);
        self.set_dst(i, r);
        Ok(())
    }

    /// The integral float whose bits end at bit 63 of `v` as an integer of 64 bits.
    fn write_wide_integer(&mut self, i: &Instr, digits: Digits, v: Wide, nan: Value, signed: bool) -> Result<()> {
        let (zero, ones, leading) = (self.b.word(0), self.b.word(u32::MAX), self.b.word(0x8000_0000));
        let (at, bits, bias) = (self.b.word(digits.at), self.b.word(digits.bits), self.b.word(digits.bias));
        let biased = self.b.op3(Ir::BfeU, v.high, at, bits);
        let exponent = self.b.op2(Ir::ISub, biased, bias);
        // The leading one at bit 63.
        let up = self.b.word(digits.bits);
        let shifted = self.shift_wide_left(v, up);
        let high = self.b.op2(Ir::Or, shifted.high, leading);
        // Behind the point nothing is left: the value is integral. Below one it is zero.
        let sixty_three = self.b.word(63);
        let down = self.b.op2(Ir::ISub, sixty_three, exponent);
        let sixty_four = self.b.word(64);
        let down = self.b.op2(Ir::UMin, down, sixty_four);
        let size = self.shift_wide_right(Wide { low: shifted.low, high }, down);
        let negative = self.b.op2(Ir::SLt, v.high, zero);
        let limit = self.b.word(if signed { 63 } else { 64 });
        let over = self.b.op2(Ir::SGe, exponent, limit);
        let mut r = if signed {
            let minus = self.wide_negate(size);
            let r = self.select_wide(negative, minus, size);
            let most = self.b.word(0x7FFF_FFFF);
            let end = Wide { low: self.b.select(negative, zero, ones), high: self.b.select(negative, leading, most) };
            self.select_wide(over, end, r)
        } else {
            let end = Wide { low: ones, high: ones };
            let r = self.select_wide(over, end, size);
            self.select_wide(negative, Wide { low: zero, high: zero }, r)
        };
        r = self.select_wide(nan, Wide { low: zero, high: leading }, r);
        self.wide_flags(i, r);
        self.set_wide(i.get(Field::Dst), r);
        Ok(())
    }

    /// Zero and sign of a 64-bit result.
    fn wide_flags(&mut self, i: &Instr, r: Wide) {
        if !self.wants_flags(i) {
            return;
        }
        let zero = self.b.word(0);
        let any = self.b.op2(Ir::Or, r.low, r.high);
        let z = self.b.op2(Ir::IEq, any, zero);
        let n = self.b.op2(Ir::SLt, r.high, zero);
        let no = self.b.truth(false);
        self.set_flags([z, n, no, no]);
    }

    fn float_to_word(&mut self, v: Value, bits: u32, signed: bool) -> Value {
        let zero = self.b.word(0);
        if !signed {
            // The maximum takes the other operand for NaN.
            let low = self.b.op2(Ir::FMax, v, zero);
            if bits < 32 {
                let limit = self.b.float(((1u32 << bits) - 1) as f32);
                let v = self.b.op2(Ir::FMin, low, limit);
                return self.b.op1(Ir::FToU, v);
            }
            let r = self.b.op1(Ir::FToU, low);
            let limit = self.b.float(4294967296.0);
            let over = self.b.op2(Ir::FGe, v, limit);
            let ones = self.b.word(u32::MAX);
            return self.b.select(over, ones, r);
        }
        let least = self.b.float(-((1u64 << (bits - 1)) as f32));
        let low = self.b.op2(Ir::FMax, v, least);
        let nan = self.b.op1(Ir::FIsNan, v);
        let r = if bits < 32 {
            let limit = self.b.float(((1u32 << (bits - 1)) - 1) as f32);
            let v = self.b.op2(Ir::FMin, low, limit);
            self.b.op1(Ir::FToS, v)
        } else {
            let r = self.b.op1(Ir::FToS, low);
            let limit = self.b.float(2147483648.0);
            let over = self.b.op2(Ir::FGe, v, limit);
            let most = self.b.word(0x7FFF_FFFF);
            self.b.select(over, most, r)
        };
        self.b.select(nan, zero, r)
    }

    fn double_to_word(&mut self, v: Value, bits: u32, signed: bool) -> Value {
        let (least, most) = if signed {
            (-((1u64 << (bits - 1)) as f64), ((1u64 << (bits - 1)) - 1) as f64)
        } else {
            (0.0, ((1u64 << bits) - 1) as f64)
        };
        let (least, most) = (self.double_constant(least), self.double_constant(most));
        let low = self.b.op2(Ir::DMax, v, least);
        let inside = self.b.op2(Ir::DMin, low, most);
        let r = self.b.op1(if signed { Ir::DToS } else { Ir::DToU }, inside);
        let nan = self.b.op1(Ir::DIsNan, v);
        let top = self.b.word(0x8000_0000);
        self.b.select(nan, top, r)
    }

    /// The selected part of the integer source, extended to 64 bits.
    fn integer_part(&mut self, i: &Instr) -> Result<Wide> {
        let signed = i.flag(Field::Ssigned);
        if i.get(Field::Sfmt) == WIDE {
            return self.b_wide(i);
        }
        let word = self.b_word(i)?;
        let (at, bits) = match i.get(Field::Sfmt) {
            0 => (8 * i.get(Field::Bytesel), 8),
            1 => (8 * (i.get(Field::Bytesel) & 2), 16),
            _ => (0, 32),
        };
        let (at, bits) = (self.b.word(at), self.b.word(bits));
        let v = self.b.op3(if signed { Ir::BfeS } else { Ir::BfeU }, word, at, bits);
        Ok(self.widened(v, signed))
    }

    /// Operand b as a number of 64 bits: a register pair, two words of a bank, or a sign-extended immediate.
    fn b_wide(&mut self, i: &Instr) -> Result<Wide> {
        if i.has(Field::B) {
            return Ok(self.wide_register(i.get(Field::B)));
        }
        if i.has(Field::Cbo4) {
            let (bank, offset) = (i.get(Field::Cbi), i.get(Field::Cbo4) * 4);
            return Ok(Wide { low: self.constant(i, bank, offset)?, high: self.constant(i, bank, offset + 4)? });
        }
        let low = self.b_word(i)?;
        Ok(self.widened(low, true))
    }

    /// I2F: the magnitude is rounded, the sign put on. What fits a word is converted by the device where that rounds
    /// to nearest anyway, or has nothing to round.
    fn integer_to_float(&mut self, i: &Instr) -> Result<()> {
        let (signed, size, rnd) = (i.flag(Field::Ssigned), i.get(Field::Sfmt), i.get(Field::Rnd));
        let (absolute, negated) = (i.flag(Field::Ab), i.flag(Field::Nb));
        let to = i.get(Field::Dfmt);
        let v = self.integer_part(i)?;
        // Whether the device's own conversion rounds as asked.
        let digits = match to {
            F16 => 11,
            F64 => 53,
            _ => 24,
        };
        let exact = (8 << size) <= digits;
        if !absolute && !negated && size != WIDE && (exact || rnd == NEAREST && to != F16) {
            if to == F64 {
                self.needs_doubles(i)?;
                let d = self.b.op1(if signed { Ir::SToD } else { Ir::UToD }, v.low);
                self.double_flags(i, d);
                self.set_pair(i.get(Field::Dst), d);
                return Ok(());
            }
            let f = self.b.op1(if signed { Ir::SToF } else { Ir::UToF }, v.low);
            return self.write_float(i, if to == F16 { F16 } else { F32 }, f);
        }
        let zero = self.b.word(0);
        let (mut m, mut sign) = (v, zero);
        if signed {
            let negative = self.b.op2(Ir::SLt, v.high, zero);
            m = if size == WIDE {
                let minus = self.wide_negate(v);
                self.select_wide(negative, minus, v)
            } else {
                let minus = self.b.op1(Ir::INeg, v.low);
                Wide { low: self.b.op2(Ir::SMax, v.low, minus), high: zero }
            };
            if !absolute {
                let top = self.b.word(0x8000_0000);
                sign = self.b.op2(Ir::And, v.high, top);
            }
        }
        if negated {
            let top = self.b.word(0x8000_0000);
            let any = self.b.op2(Ir::Or, m.low, m.high);
            let some = self.b.op2(Ir::INe, any, zero);
            let other = self.b.op2(Ir::Xor, sign, top);
            sign = self.b.select(some, other, zero);
        }
        if to == F64 {
            self.needs_doubles(i)?;
            let d = self.double_of(m, sign, rnd);
            self.double_flags(i, d);
            self.set_pair(i.get(Field::Dst), d);
            return Ok(());
        }
        let bits = if size != WIDE && (exact || rnd == NEAREST && to != F16) {
            let f = self.b.op1(Ir::UToF, m.low);
            if to == F16 {
                let packed = self.b.op2(Ir::PackHalf, f, zero);
                let sixteen = self.b.word(16);
                let sign = self.b.op2(Ir::Shr, sign, sixteen);
                self.b.op2(Ir::Or, packed, sign)
            } else {
                self.b.op2(Ir::Or, f, sign)
            }
        } else {
            self.compose_integer(sign, m, if to == F16 { Format::HALF } else { Format::SINGLE }, rnd)
        };
        self.write_bits(i, if to == F16 { F16 } else { F32 }, bits)
    }

    /// A magnitude with a sign as a double: both words are exact, so only their sum is rounded.
    fn double_of(&mut self, m: Wide, sign: Value, rnd: u32) -> Value {
        let scale = self.double_constant(4_294_967_296.0);
        let [low, high] = [m.low, m.high].map(|word| {
            let d = self.b.op1(Ir::UToD, word);
            let (l, h) = (self.b.op1(Ir::DLow, d), self.b.op1(Ir::DHigh, d));
            let h = self.b.op2(Ir::Or, h, sign);
            self.b.op2(Ir::DPack, l, h)
        });
        if self.b.f.constant(m.high) == Some(0) {
            return low;
        }
        let high = self.b.op2(Ir::DMul, high, scale);
        if rnd == NEAREST { self.b.op2(Ir::DAdd, high, low) } else { self.directed_add(high, low, rnd) }
    }

    /// I2I: the part, its modifiers, then clamped or cut to the size of the result.
    fn integer_to_integer(&mut self, i: &Instr) -> Result<()> {
        let (from_signed, to_signed) = (i.flag(Field::Ssigned), i.flag(Field::Dsigned));
        let size = i.get(Field::Dfmt);
        let mut v = self.integer_part(i)?;
        let zero = self.b.word(0);
        // The sign is kept apart: 64 bits of magnitude have no room for it. `negative` is none where it cannot be.
        let mut negative = from_signed.then(|| self.b.op2(Ir::SLt, v.high, zero));
        if i.flag(Field::Ab)
            && let Some(n) = negative.take()
        {
            let minus = self.wide_negate(v);
            v = self.select_wide(n, minus, v);
        }
        if i.flag(Field::Nb) {
            let any = self.b.op2(Ir::Or, v.low, v.high);
            let some = self.b.op2(Ir::INe, any, zero);
            let plus = match negative {
                Some(n) => self.b.op1(Ir::BNot, n),
                None => self.b.truth(true),
            };
            negative = Some(self.b.op2(Ir::BAnd, some, plus));
            v = self.wide_negate(v);
        }
        let bits = 8u32 << size;
        if i.flag(Field::Sat) && size != WIDE && i.get(Field::Sfmt) != WIDE && !i.flag(Field::Ab) && !i.flag(Field::Nb)
        {
            v.low = self.fit_word(v.low, from_signed, bits, to_signed);
        } else if i.flag(Field::Sat) {
            let below = negative.unwrap_or_else(|| self.b.truth(false));
            v = self.fit(v, below, bits, to_signed);
        } else if bits < 32 {
            let n = self.b.word(bits);
            let low = self.b.op3(if to_signed { Ir::BfeS } else { Ir::BfeU }, v.low, zero, n);
            v = self.widened(low, to_signed);
        }
        if size == WIDE {
            self.wide_flags(i, v);
            self.set_wide(i.get(Field::Dst), v);
        } else {
            self.result_flags(i, v.low);
            self.set_dst(i, v.low);
        }
        Ok(())
    }

    /// A word clamped to an integer of `bits` bits, 32 at most.
    fn fit_word(&mut self, v: Value, from_signed: bool, bits: u32, signed: bool) -> Value {
        let most = if signed { (1u32 << (bits - 1)) - 1 } else { u32::MAX >> (32 - bits) };
        let least = if signed { most.wrapping_add(1).wrapping_neg() } else { 0 };
        if !from_signed {
            let most = self.b.word(most);
            return self.b.op2(Ir::UMin, v, most);
        }
        let least = self.b.word(least);
        let v = self.b.op2(Ir::SMax, v, least);
        if bits == 32 {
            return v;
        }
        let most = self.b.word(most);
        self.b.op2(Ir::SMin, v, most)
    }

    /// A number with its sign told clamped to an integer of `bits` bits.
    fn fit(&mut self, v: Wide, negative: Value, bits: u32, signed: bool) -> Wide {
        let most = if signed { (1u64 << (bits - 1)) - 1 } else { u64::MAX >> (64 - bits) };
        let least = if signed { (most + 1).wrapping_neg() } else { 0 };
        let [most, least] =
            [most, least].map(|k| Wide { low: self.b.word(k as u32), high: self.b.word((k >> 32) as u32) });
        // Above: not negative and larger without a sign. Below: negative and smaller with one.
        let larger = self.wide_less(most, v, false);
        let not = self.b.op1(Ir::BNot, negative);
        let above = self.b.op2(Ir::BAnd, not, larger);
        let below = if signed {
            // A negative number of 64 bits that reads as none is below every limit.
            let zero = self.b.word(0);
            let positive = self.b.op2(Ir::SGe, v.high, zero);
            let smaller = self.wide_less(v, least, true);
            let either = self.b.op2(Ir::BOr, positive, smaller);
            self.b.op2(Ir::BAnd, negative, either)
        } else {
            negative
        };
        let v = self.select_wide(above, most, v);
        self.select_wide(below, least, v)
    }
}
