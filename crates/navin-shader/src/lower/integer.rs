//! Integer sums, shifts, bits, compares, predicates. Everything wraps at 32 bits.

use super::wide::Wide;
use super::{Lower, Result};
use crate::ir::{Op as Ir, Value};
use crate::isa::{Field, Instr, Op};

impl Lower<'_, '_> {
    /// `a + b`, plus 1 when `one`, plus the carry with `x`; sets the flags when asked.
    pub(super) fn add_words(&mut self, i: &Instr, a: Value, b: Value, one: bool, x: bool) -> Value {
        let carry_in = if x { Some(self.flag(2)) } else { one.then(|| self.b.truth(true)) };
        let sum = self.b.op2(Ir::IAdd, a, b);
        let result = match carry_in {
            Some(c) => {
                let (k1, k0) = (self.b.word(1), self.b.word(0));
                let c = self.b.select(c, k1, k0);
                self.b.op2(Ir::IAdd, sum, c)
            }
            None => sum,
        };
        if self.wants_flags(i) {
            let zero = self.b.word(0);
            let mut z = self.b.op2(Ir::IEq, result, zero);
            if x {
                let old = self.flag(0);
                z = self.b.op2(Ir::BAnd, z, old);
            }
            let n = self.b.op2(Ir::SLt, result, zero);
            let mut c = self.b.op2(Ir::ULt, sum, a);
            if carry_in.is_some() {
                let second = self.b.op2(Ir::ULt, result, sum);
                c = self.b.op2(Ir::BOr, c, second);
            }
            // Overflow: both operands differ in sign from the result.
            let t = self.b.op2(Ir::Xor, a, result);
            let u = self.b.op2(Ir::Xor, b, result);
            let t = self.b.op2(Ir::And, t, u);
            let v = self.b.op2(Ir::SLt, t, zero);
            self.set_flags([z, n, c, v]);
        }
        result
    }

    /// `±a ± b` with the carry rules of the machine: a negation is a complement plus one, which `x` replaces.
    fn add_signed(&mut self, i: &Instr, a: Value, b: Value, na: bool, nb: bool, x: bool) -> Value {
        if na && nb {
            // Both bits together mean a + b + 1.
            return self.add_words(i, a, b, true, x);
        }
        if !(na || nb) {
            return self.add_words(i, a, b, false, x);
        }
        let (plus, minus) = if nb { (a, b) } else { (b, a) };
        if !x && !self.wants_flags(i) {
            return self.b.op2(Ir::ISub, plus, minus);
        }
        let inverted = self.b.op1(Ir::Not, minus);
        if x {
            return self.add_words(i, plus, inverted, false, true);
        }
        let result = self.b.op2(Ir::ISub, plus, minus);
        let zero = self.b.word(0);
        let z = self.b.op2(Ir::IEq, result, zero);
        let n = self.b.op2(Ir::SLt, result, zero);
        let c = self.b.op2(Ir::UGe, plus, minus);
        let t = self.b.op2(Ir::Xor, plus, minus);
        let u = self.b.op2(Ir::Xor, plus, result);
        let t = self.b.op2(Ir::And, t, u);
        let v = self.b.op2(Ir::SLt, t, zero);
        self.set_flags([z, n, c, v]);
        result
    }

    /// IADD, IADD3, ISCADD, LEA.
    pub(super) fn add(&mut self, i: &Instr) -> Result<()> {
        let (na, nb) = (i.flag(Field::Na), i.flag(Field::Nb));
        let result = match i.op {
            Op::Iadd | Op::Iadd32i => {
                let (a, b) = (self.a(i), self.b_word(i)?);
                let x = i.flag(Field::X);
                let sum = self.add_signed(i, a, b, na, nb, x);
                if i.flag(Field::Sat) { self.saturated_sum(a, b, sum, [na, nb, x]) } else { sum }
            }
            Op::Iscadd | Op::Iscadd32i => {
                let shift = self.b.word(i.get(Field::Shift));
                let (a, b) = (self.a(i), self.b_word(i)?);
                let a = self.b.op2(Ir::Shl, a, shift);
                self.add_signed(i, a, b, na, nb, false)
            }
            Op::Iadd3 => {
                let a = self.a(i);
                let b = self.b_word(i)?;
                let c = self.c_word(i)?;
                let a = self.half_of(a, i.get(Field::Pa));
                let b = self.half_of(b, i.get(Field::Pb));
                let c = self.half_of(c, i.get(Field::Pc));
                let mut parts = [(a, na), (b, nb), (c, i.flag(Field::Nc))].map(|(v, n)| (v, n));
                for (v, n) in &mut parts {
                    if *n {
                        *v = self.b.op1(Ir::INeg, *v);
                    }
                }
                if (i.flag(Field::X) || self.wants_flags(i))
                    && (i.get(Field::Lrs) != 0 || na || nb || i.flag(Field::Nc))
                {
                    return self.unsupported(i, "carries of shifted or negated three-operand sums are not certain");
                }
                let sum = self.b.op2(Ir::IAdd, parts[0].0, parts[1].0);
                let sum = match i.get(Field::Lrs) {
                    1 => {
                        // 33 bits shifted right by 16: the carry becomes bit 16.
                        let carry = self.b.op2(Ir::ULt, sum, parts[0].0);
                        let (k, zero, sixteen) = (self.b.word(1 << 16), self.b.word(0), self.b.word(16));
                        let low = self.b.op2(Ir::Shr, sum, sixteen);
                        let high = self.b.select(carry, k, zero);
                        self.b.op2(Ir::Or, low, high)
                    }
                    2 => {
                        let sixteen = self.b.word(16);
                        self.b.op2(Ir::Shl, sum, sixteen)
                    }
                    _ => sum,
                };
                let first = self.b.op2(Ir::ULt, sum, parts[0].0);
                let r = self.add_words(i, sum, parts[2].0, false, i.flag(Field::X));
                if self.wants_flags(i) {
                    // Either sum may carry.
                    let slot = self.slots.flag(2);
                    let either = self.b.op2(Ir::BOr, first, self.m.slots[slot as usize]);
                    self.set_truth(slot, either);
                }
                r
            }
            Op::Lea => {
                let (a, b) = (self.a(i), self.b_word(i)?);
                let shift = self.b.word(i.get(Field::Shift));
                let a = self.b.op2(Ir::Shl, a, shift);
                self.add_address(i, a, b, na)
            }
            _ => {
                let (a, b, c) = (self.a(i), self.b_word(i)?, self.c_word(i)?);
                // A negated address is that of 64 bits, unless a carry brings the one that a complement lacks.
                let x = i.flag(Field::X);
                let (low, high) = match na {
                    false => (a, c),
                    true if x => (self.b.op1(Ir::Not, a), self.b.op1(Ir::Not, c)),
                    true => {
                        let minus = self.wide_negate(Wide { low: a, high: c });
                        (minus.low, minus.high)
                    }
                };
                let high = self.funnel_left(low, high, i.get(Field::Shift));
                self.add_address(i, high, b, false)
            }
        };
        self.set_dst(i, result);
        Ok(())
    }

    /// The sum of LEA; its predicate is the carry out of it.
    fn add_address(&mut self, i: &Instr, a: Value, b: Value, na: bool) -> Value {
        let x = i.flag(Field::X);
        let sum = self.add_signed(i, a, b, na, false, x);
        if i.get(Field::Pd) != 7 {
            // a + b + carry does not fit where the sum is less than a part, or equals it with a carry in.
            let first = if na { self.b.op1(Ir::Not, a) } else { a };
            let less = self.b.op2(Ir::ULt, sum, first);
            let carry_in = if x { self.flag(2) } else { self.b.truth(na) };
            let same = self.b.op2(Ir::IEq, sum, first);
            let ones = self.b.word(u32::MAX);
            // Equal with a carry in: the other part was all ones (or, without the carry, it was 0).
            let full = self.b.op2(Ir::IEq, b, ones);
            let full = self.b.op2(Ir::BAnd, full, carry_in);
            let wrapped = self.b.op2(Ir::BAnd, same, full);
            let carry = self.b.op2(Ir::BOr, less, wrapped);
            self.set_predicate(i.get(Field::Pd), carry);
        }
        sum
    }

    /// High word of `{high, low} << shift`.
    fn funnel_left(&mut self, low: Value, high: Value, shift: u32) -> Value {
        if shift == 0 {
            return high;
        }
        let (up, down) = (self.b.word(shift), self.b.word(32 - shift));
        let h = self.b.op2(Ir::Shl, high, up);
        let l = self.b.op2(Ir::Shr, low, down);
        self.b.op2(Ir::Or, h, l)
    }

    /// `sum`, or the nearest end of the signed numbers: ±a ±b as [`Self::add_signed`] has them.
    fn saturated_sum(&mut self, a: Value, b: Value, sum: Value, [na, nb, x]: [bool; 3]) -> Value {
        let zero = self.b.word(0);
        let one = |s: &mut Self, v: Value, n: bool| if n && na != nb { s.b.op1(Ir::Not, v) } else { v };
        let (p, q) = (one(self, a, na), one(self, b, nb));
        if x || na || nb {
            // With a carry in, the words alone do not show the sum's sign: it is added up in 64 bits.
            let carry = if x { self.flag(2) } else { self.b.truth(true) };
            let (k1, k0) = (self.b.word(1), self.b.word(0));
            let carry = self.b.select(carry, k1, k0);
            let (p, q, carry) = (self.widened(p, true), self.widened(q, true), self.widened(carry, false));
            let whole = self.wide_add(p, q);
            let whole = self.wide_add(whole, carry);
            return self.wide_clamp(whole, 32, true);
        }
        let t = self.b.op2(Ir::Xor, a, sum);
        let u = self.b.op2(Ir::Xor, b, sum);
        let t = self.b.op2(Ir::And, t, u);
        let over = self.b.op2(Ir::SLt, t, zero);
        let (thirty_one, least) = (self.b.word(31), self.b.word(0x8000_0000));
        let sign = self.b.op2(Ir::Sar, sum, thirty_one);
        let limit = self.b.op2(Ir::Xor, sign, least);
        self.b.select(over, limit, sum)
    }

    /// Whole word, low half (1) or high half (2).
    fn half_of(&mut self, v: Value, part: u32) -> Value {
        let sixteen = self.b.word(16);
        match part {
            1 => {
                let mask = self.b.word(0xFFFF);
                self.b.op2(Ir::And, v, mask)
            }
            2 => self.b.op2(Ir::Shr, v, sixteen),
            _ => v,
        }
    }

    /// SHL, SHR, SHF, BFE, BFI.
    pub(super) fn shift(&mut self, i: &Instr) -> Result<()> {
        let mut a = self.a(i);
        let wrap = i.flag(Field::Wrap);
        let result = match i.op {
            Op::Shl | Op::Shr => {
                let b = self.b_word(i)?;
                if i.flag(Field::X) || i.get(Field::Xmode) != 0 {
                    return self.unsupported(i, "wide shifts are not translated");
                }
                if i.flag(Field::Brev) {
                    a = self.b.op1(Ir::BitReverse, a);
                }
                let op = match (i.op, i.flag(Field::Signed)) {
                    (Op::Shl, _) => Ir::Shl,
                    (_, true) => Ir::Sar,
                    _ => Ir::Shr,
                };
                self.shift_word(op, a, b, wrap)
            }
            Op::ShfL | Op::ShfR => self.funnel(i, a, wrap)?,
            Op::Bfe => {
                let b = self.b_word(i)?;
                if i.flag(Field::Brev) {
                    a = self.b.op1(Ir::BitReverse, a);
                }
                self.extract_field(a, b, i.flag(Field::Signed))
            }
            _ => {
                let b = self.b_word(i)?;
                let c = self.c_word(i)?;
                let (start, count) = self.start_and_count(b);
                self.insert_field(a, c, start, count)
            }
        };
        self.result_flags(i, result);
        self.set_dst(i, result);
        Ok(())
    }

    /// Shift by an amount that wraps at 32, or gives 0 or the sign from 32 on.
    pub(super) fn shift_word(&mut self, op: Ir, a: Value, amount: Value, wrap: bool) -> Value {
        if let Some(k) = self.b.f.constant(amount) {
            let k = if wrap { k & 31 } else { k };
            if k >= 32 && op != Ir::Sar {
                return self.b.word(0);
            }
            let k = self.b.word(k.min(31));
            return self.b.op2(op, a, k);
        }
        let thirty_one = self.b.word(31);
        if wrap {
            let k = self.b.op2(Ir::And, amount, thirty_one);
            return self.b.op2(op, a, k);
        }
        if op == Ir::Sar {
            let k = self.b.op2(Ir::UMin, amount, thirty_one);
            return self.b.op2(op, a, k);
        }
        // SPIR-V leaves shifts of 32 and more open: the amount is masked, then such results are dropped.
        let k = self.b.op2(Ir::And, amount, thirty_one);
        let shifted = self.b.op2(op, a, k);
        let inside = self.b.op2(Ir::ULe, amount, thirty_one);
        let zero = self.b.word(0);
        self.b.select(inside, shifted, zero)
    }

    fn funnel(&mut self, i: &Instr, a: Value, wrap: bool) -> Result<Value> {
        let c = self.c_word(i)?;
        let amount = if i.has(Field::Imm6) { self.b.word(i.get(Field::Imm6)) } else { self.b_word(i)? };
        if i.flag(Field::X) {
            return self.unsupported(i, "funnel shifts with carry are not translated");
        }
        let wide = i.get(Field::Type) != 0;
        let width = if wide { 64 } else { 32 };
        let limit = self.b.word(width - u32::from(wrap));
        let amount = if wrap { self.b.op2(Ir::And, amount, limit) } else { self.b.op2(Ir::UMin, amount, limit) };
        let signed = i.get(Field::Type) == 3;
        let hi = i.flag(Field::Hi);
        if i.op == Op::ShfL {
            // High word of {c, a} << amount.
            return Ok(self.wide_left(a, c, amount));
        }
        if hi {
            let op = if signed { Ir::Sar } else { Ir::Shr };
            return Ok(self.shift_word(op, c, amount, false));
        }
        Ok(self.wide_right(a, c, amount, signed))
    }

    /// High word of `{high, low} << n`, n up to 64.
    pub(super) fn wide_left(&mut self, low: Value, high: Value, n: Value) -> Value {
        let h = self.shift_word(Ir::Shl, high, n, false);
        let thirty_two = self.b.word(32);
        let rest = self.b.op2(Ir::ISub, thirty_two, n);
        let l = self.shift_word(Ir::Shr, low, rest, false);
        let over = self.b.op2(Ir::ISub, n, thirty_two);
        let far = self.shift_word(Ir::Shl, low, over, false);
        let near = self.b.op2(Ir::Or, h, l);
        let small = self.b.op2(Ir::ULe, n, thirty_two);
        self.b.select(small, near, far)
    }

    /// Low word of `{high, low} >> n`, n up to 64.
    pub(super) fn wide_right(&mut self, low: Value, high: Value, n: Value, signed: bool) -> Value {
        let l = self.shift_word(Ir::Shr, low, n, false);
        let thirty_two = self.b.word(32);
        let rest = self.b.op2(Ir::ISub, thirty_two, n);
        let h = self.shift_word(Ir::Shl, high, rest, false);
        let over = self.b.op2(Ir::ISub, n, thirty_two);
        let far = self.shift_word(if signed { Ir::Sar } else { Ir::Shr }, high, over, false);
        let near = self.b.op2(Ir::Or, l, h);
        let small = self.b.op2(Ir::ULe, n, thirty_two);
        self.b.select(small, near, far)
    }

    /// Bits start..start + count of `a`; past bit 31 it reads zeros, or the sign when signed.
    pub(super) fn extract_field(&mut self, a: Value, b: Value, signed: bool) -> Value {
        if let Some(k) = self.b.f.constant(b) {
            let (start, count) = (k & 0xFF, k >> 8 & 0xFF);
            if count == 0 || (start >= 32 && !signed) {
                return self.b.word(0);
            }
            let start = start.min(31);
            let (s, n) = (self.b.word(start), self.b.word(count.min(32 - start)));
            return self.b.op3(if signed { Ir::BfeS } else { Ir::BfeU }, a, s, n);
        }
        let (start, count) = self.start_and_count(b);
        let (zero, thirty_two) = (self.b.word(0), self.b.word(32));
        // Shift the field down, then cut it: no case of SPIR-V's own extract is left open.
        let down = self.shift_word(if signed { Ir::Sar } else { Ir::Shr }, a, start, false);
        let count = self.b.op2(Ir::UMin, count, thirty_two);
        if signed {
            let up = self.b.op2(Ir::ISub, thirty_two, count);
            let t = self.shift_word(Ir::Shl, down, up, false);
            let r = self.shift_word(Ir::Sar, t, up, false);
            let none = self.b.op2(Ir::IEq, count, zero);
            return self.b.select(none, zero, r);
        }
        self.b.pure(Ir::BfeU, &[down.0, zero.0, count.0])
    }

    /// `base` with the low `count` bits of `value` at `start`; as it is when start is past 31.
    fn insert_field(&mut self, value: Value, base: Value, start: Value, count: Value) -> Value {
        let thirty_two = self.b.word(32);
        if let (Some(s), Some(n)) = (self.b.f.constant(start), self.b.f.constant(count)) {
            if s > 31 || n == 0 {
                return base;
            }
            let n = self.b.word(n.min(32 - s));
            return self.b.pure(Ir::Bfi, &[base.0, value.0, start.0, n.0]);
        }
        let s = self.b.op2(Ir::UMin, start, thirty_two);
        let room = self.b.op2(Ir::ISub, thirty_two, s);
        let n = self.b.op2(Ir::UMin, count, room);
        self.b.pure(Ir::Bfi, &[base.0, value.0, s.0, n.0])
    }

    /// LOP, LOP3, PRMT, POPC, FLO, IMNMX.
    pub(super) fn bits(&mut self, i: &Instr) -> Result<()> {
        let result = match i.op {
            Op::Lop | Op::Lop32i => {
                let (mut a, mut b) = (self.a(i), self.b_word(i)?);
                if i.flag(Field::X) {
                    return self.unsupported(i, "logic with carry is not translated");
                }
                if i.flag(Field::Inva) {
                    a = self.b.op1(Ir::Not, a);
                }
                if i.flag(Field::Invb) {
                    b = self.b.op1(Ir::Not, b);
                }
                let r = match i.get(Field::Op) {
                    0 => self.b.op2(Ir::And, a, b),
                    1 => self.b.op2(Ir::Or, a, b),
                    2 => self.b.op2(Ir::Xor, a, b),
                    _ => b,
                };
                self.logic_predicate(i, r);
                r
            }
            Op::Lop3 => {
                let (a, b, c) = (self.a(i), self.b_word(i)?, self.c_word(i)?);
                if i.flag(Field::X) {
                    return self.unsupported(i, "logic with carry is not translated");
                }
                let r = self.lut(a, b, c, i.get(Field::Lut));
                self.logic_predicate(i, r);
                r
            }
            Op::Prmt => {
                let (a, b, c) = (self.a(i), self.b_word(i)?, self.c_word(i)?);
                self.permute(i, a, b, c)?
            }
            Op::Popc | Op::Flo => {
                let mut b = self.b_word(i)?;
                if i.flag(Field::Inv) {
                    b = self.b.op1(Ir::Not, b);
                }
                if i.op == Op::Popc {
                    self.b.op1(Ir::BitCount, b)
                } else {
                    let op = if i.flag(Field::Signed) { Ir::FindMsbS } else { Ir::FindMsbU };
                    let r = self.b.op1(op, b);
                    if i.flag(Field::Sh) {
                        let (thirty_one, ones) = (self.b.word(31), self.b.word(u32::MAX));
                        let from_top = self.b.op2(Ir::ISub, thirty_one, r);
                        let none = self.b.op2(Ir::IEq, r, ones);
                        self.b.select(none, ones, from_top)
                    } else {
                        r
                    }
                }
            }
            _ => {
                let (a, b) = (self.a(i), self.b_word(i)?);
                if i.get(Field::Xmode) != 0 {
                    return self.wide_choice(i, a, b);
                }
                let (min, max) = if i.flag(Field::Signed) { (Ir::SMin, Ir::SMax) } else { (Ir::UMin, Ir::UMax) };
                let p = self.source_predicate(i);
                self.choose(p, min, max, a, b)
            }
        };
        self.result_flags(i, result);
        self.set_dst(i, result);
        Ok(())
    }

    /// IMNMX on one word of a wide number: XHI chooses and says by C (a < b) and Z (a == b) what it saw, XMED and XLO
    /// take the winner's word, or choose on a tie.
    fn wide_choice(&mut self, i: &Instr, a: Value, b: Value) -> Result<()> {
        let high = i.get(Field::Xmode) == 3;
        let p = self.source_predicate(i);
        let less = self.b.op2(if high && i.flag(Field::Signed) { Ir::SLt } else { Ir::ULt }, a, b);
        let same = self.b.op2(Ir::IEq, a, b);
        let (less, same) = if high {
            (less, same)
        } else {
            let (won, tie) = (self.flag(2), self.flag(0));
            (self.b.op3(Ir::SelectB, tie, less, won), self.b.op2(Ir::BAnd, tie, same))
        };
        let not = self.b.op1(Ir::BNot, p);
        let first = self.b.op2(Ir::BXor, less, not);
        let r = self.b.select(first, a, b);
        if i.get(Field::Xmode) != 1 {
            let no = self.b.truth(false);
            self.set_flags([same, no, less, no]);
        }
        self.set_dst(i, r);
        Ok(())
    }

    /// `p ? first(a, b) : second(a, b)`.
    pub(super) fn choose(&mut self, p: Value, first: Ir, second: Ir, a: Value, b: Value) -> Value {
        match self.b.f.truth(p) {
            Some(true) => self.b.op2(first, a, b),
            Some(false) => self.b.op2(second, a, b),
            None => {
                let x = self.b.op2(first, a, b);
                let y = self.b.op2(second, a, b);
                self.b.select(p, x, y)
            }
        }
    }

    fn logic_predicate(&mut self, i: &Instr, r: Value) {
        if !i.has(Field::Pd) || i.get(Field::Pd) == 7 {
            return;
        }
        let zero = self.b.word(0);
        let p = match i.get(Field::Pop) {
            0 => self.b.truth(false),
            1 => self.b.truth(true),
            2 => self.b.op2(Ir::IEq, r, zero),
            _ => self.b.op2(Ir::INe, r, zero),
        };
        self.set_predicate(i.get(Field::Pd), p);
    }

    /// Any bitwise function of three words.
    fn lut(&mut self, a: Value, b: Value, c: Value, lut: u32) -> Value {
        // By c: f = (c & f1) | (~c & f0), each of them a function of a and b by its four bits.
        let pair = |s: &mut Self, bits: u32| -> Value {
            let (na, nb) = (s.b.op1(Ir::Not, a), s.b.op1(Ir::Not, b));
            match bits & 15 {
                0 => s.b.word(0),
                1 => s.b.op2(Ir::And, na, nb),
                2 => s.b.op2(Ir::And, na, b),
                3 => na,
                4 => s.b.op2(Ir::And, a, nb),
                5 => nb,
                6 => s.b.op2(Ir::Xor, a, b),
                7 => s.b.op2(Ir::Or, na, nb),
                8 => s.b.op2(Ir::And, a, b),
                9 => {
                    let x = s.b.op2(Ir::Xor, a, b);
                    s.b.op1(Ir::Not, x)
                }
                10 => b,
                11 => s.b.op2(Ir::Or, na, b),
                12 => a,
                13 => s.b.op2(Ir::Or, a, nb),
                14 => s.b.op2(Ir::Or, a, b),
                _ => s.b.word(u32::MAX),
            }
        };
        let bit = |n: u32| lut >> n & 1;
        let f0 = bit(0) | bit(2) << 1 | bit(4) << 2 | bit(6) << 3;
        let f1 = bit(1) | bit(3) << 1 | bit(5) << 2 | bit(7) << 3;
        if f0 == f1 {
            return pair(self, f0);
        }
        let x = pair(self, f0);
        if f1 == !f0 & 15 {
            return self.b.op2(Ir::Xor, x, c);
        }
        let y = pair(self, f1);
        let nc = self.b.op1(Ir::Not, c);
        let x = self.b.op2(Ir::And, x, nc);
        let y = self.b.op2(Ir::And, y, c);
        self.b.op2(Ir::Or, x, y)
    }

    /// PRMT: four bytes of the eight in {c, a}, each by an index and whether only its sign counts.
    fn permute(&mut self, i: &Instr, a: Value, selector: Value, c: Value) -> Result<Value> {
        let mode = i.get(Field::Mode);
        if mode > 6 {
            return self.unsupported(i, "this mode of PRMT is not known");
        }
        let mut result = self.b.word(0);
        for k in 0..4 {
            let byte = match self.b.f.constant(selector) {
                Some(sel) => {
                    let s = sel & 3;
                    let nibble = match mode {
                        0 => sel >> (4 * k) & 15,
                        1 => s + k,
                        2 => (s + 8 - k) & 7,
                        3 => s,
                        4 => s.max(k),
                        5 => s.min(k),
                        _ => 2 * (s & 1) + (k & 1),
                    };
                    let source = if nibble & 4 == 0 { a } else { c };
                    let at = self.b.word(8 * (nibble & 3));
                    let (byte, sign) = (self.byte_at(source, at), nibble & 8 != 0);
                    if sign { self.sign_byte(source, at) } else { byte }
                }
                None => self.permuted_byte(mode, k, a, selector, c),
            };
            let up = self.b.word(8 * k);
            let placed = self.b.op2(Ir::Shl, byte, up);
            result = self.b.op2(Ir::Or, result, placed);
        }
        Ok(result)
    }

    /// Byte k of PRMT where the selector is computed.
    fn permuted_byte(&mut self, mode: u32, k: u32, a: Value, selector: Value, c: Value) -> Value {
        let (three, seven) = (self.b.word(3), self.b.word(7));
        let index = if mode == 0 {
            let (at, four) = (self.b.word(4 * k), self.b.word(4));
            self.b.op3(Ir::BfeU, selector, at, four)
        } else {
            let s = self.b.op2(Ir::And, selector, three);
            let n = self.b.word(k);
            match mode {
                1 => self.b.op2(Ir::IAdd, s, n),
                2 => {
                    let n = self.b.op2(Ir::ISub, s, n);
                    self.b.op2(Ir::And, n, seven)
                }
                3 => s,
                4 => self.b.op2(Ir::UMax, s, n),
                5 => self.b.op2(Ir::UMin, s, n),
                _ => {
                    let (one, low) = (self.b.word(1), self.b.word(k & 1));
                    let half = self.b.op2(Ir::And, s, one);
                    let half = self.b.op2(Ir::Shl, half, one);
                    self.b.op2(Ir::Or, half, low)
                }
            }
        };
        let (four, zero) = (self.b.word(4), self.b.word(0));
        let upper = self.b.op2(Ir::And, index, four);
        let upper = self.b.op2(Ir::INe, upper, zero);
        let source = self.b.select(upper, c, a);
        let at = self.b.op2(Ir::And, index, three);
        let at = self.b.op2(Ir::Shl, at, three);
        let byte = self.byte_at(source, at);
        if mode != 0 {
            return byte;
        }
        let eight = self.b.word(8);
        let signs = self.b.op2(Ir::And, index, eight);
        let signs = self.b.op2(Ir::INe, signs, zero);
        let sign = self.sign_byte(source, at);
        self.b.select(signs, sign, byte)
    }

    fn byte_at(&mut self, word: Value, at: Value) -> Value {
        let eight = self.b.word(8);
        self.b.op3(Ir::BfeU, word, at, eight)
    }

    /// 0xFF where the byte is negative, else 0.
    fn sign_byte(&mut self, word: Value, at: Value) -> Value {
        let (eight, seven) = (self.b.word(8), self.b.word(7));
        let signed = self.b.op3(Ir::BfeS, word, at, eight);
        let sign = self.b.op2(Ir::Sar, signed, seven);
        let mask = self.b.word(0xFF);
        self.b.op2(Ir::And, sign, mask)
    }

    /// `truth bop p`.
    pub(super) fn join(&mut self, bop: u32, truth: Value, p: Value) -> Value {
        let op = match bop {
            0 => Ir::BAnd,
            1 => Ir::BOr,
            _ => Ir::BXor,
        };
        self.b.op2(op, truth, p)
    }

    /// Writes a compare's results: the predicates of a SETP, or the word of a SET.
    pub(super) fn set_compare(&mut self, i: &Instr, truth: Value, bop: Field) {
        let p = self.source_predicate(i);
        let joined = self.join(i.get(bop), truth, p);
        if i.has(Field::Pdn) {
            if i.get(Field::Pdn) != 7 {
                let not = self.b.op1(Ir::BNot, truth);
                let other = self.join(i.get(bop), not, p);
                self.set_predicate(i.get(Field::Pd), joined);
                self.set_predicate(i.get(Field::Pdn), other);
            } else {
                self.set_predicate(i.get(Field::Pd), joined);
            }
            return;
        }
        let one = if i.flag(Field::Bf) { self.b.float(1.0) } else { self.b.word(u32::MAX) };
        let zero = self.b.word(0);
        let r = self.b.select(joined, one, zero);
        self.result_flags(i, r);
        self.set_dst(i, r);
    }

    /// Integer compare by code.
    pub(super) fn compare_words(&mut self, cmp: u32, signed: bool, a: Value, b: Value) -> Value {
        let op = match (cmp, signed) {
            (0, _) => return self.b.truth(false),
            (1, true) => Ir::SLt,
            (1, false) => Ir::ULt,
            (2, _) => Ir::IEq,
            (3, true) => Ir::SLe,
            (3, false) => Ir::ULe,
            (4, true) => Ir::SGt,
            (4, false) => Ir::UGt,
            (5, _) => Ir::INe,
            (6, true) => Ir::SGe,
            (6, false) => Ir::UGe,
            _ => return self.b.truth(true),
        };
        self.b.op2(op, a, b)
    }

    /// ISET, ISETP, ICMP, PSET, PSETP, CSET, CSETP.
    pub(super) fn compare(&mut self, i: &Instr) -> Result<()> {
        match i.op {
            Op::Iset | Op::Isetp => {
                let (a, b) = (self.a(i), self.b_word(i)?);
                let (cmp, signed) = (i.get(Field::Cmp), i.flag(Field::Signed));
                let truth = if i.flag(Field::X) {
                    self.wide_compare(cmp, signed, a, b)
                } else {
                    self.compare_words(cmp, signed, a, b)
                };
                self.set_compare(i, truth, Field::Bop);
            }
            Op::Icmp => {
                let (a, b, c) = (self.a(i), self.b_word(i)?, self.c_word(i)?);
                let zero = self.b.word(0);
                let truth = self.compare_words(i.get(Field::Cmp), i.flag(Field::Signed), c, zero);
                let r = self.b.select(truth, a, b);
                self.set_dst(i, r);
            }
            Op::Pset | Op::Psetp => {
                let x = self.predicate(i.get(Field::Pa), i.flag(Field::Pan));
                let y = self.predicate(i.get(Field::Pb), i.flag(Field::Pbn));
                let truth = self.join(i.get(Field::Bop0), x, y);
                self.set_compare(i, truth, Field::Bop1);
            }
            _ => {
                let Some(truth) = self.flag_test(i.get(Field::Cond)) else {
                    return self.unsupported(i, "condition codes 24 to 29 have no known meaning");
                };
                self.set_compare(i, truth, Field::Bop);
            }
        }
        Ok(())
    }

    /// Compare of the high words after a low subtraction set the flags: t = a + ~b + carry.
    fn wide_compare(&mut self, cmp: u32, signed: bool, a: Value, b: Value) -> Value {
        let carry = self.flag(2);
        let low_zero = self.flag(0);
        let (one, zero) = (self.b.word(1), self.b.word(0));
        let nb = self.b.op1(Ir::Not, b);
        let sum = self.b.op2(Ir::IAdd, a, nb);
        let c = self.b.select(carry, one, zero);
        let t = self.b.op2(Ir::IAdd, sum, c);
        let less = if signed {
            let x = self.b.op2(Ir::Xor, a, b);
            let y = self.b.op2(Ir::Xor, a, t);
            let v = self.b.op2(Ir::And, x, y);
            let s = self.b.op2(Ir::Xor, t, v);
            self.b.op2(Ir::SLt, s, zero)
        } else {
            let first = self.b.op2(Ir::ULt, sum, a);
            let second = self.b.op2(Ir::ULt, t, sum);
            let c = self.b.op2(Ir::BOr, first, second);
            self.b.op1(Ir::BNot, c)
        };
        let equal_high = self.b.op2(Ir::IEq, t, zero);
        let equal = self.b.op2(Ir::BAnd, equal_high, low_zero);
        self.compare_by_order(cmp, less, equal)
    }

    /// P2R and R2P.
    pub(super) fn predicate_moves(&mut self, i: &Instr) -> Result<()> {
        let (a, mask) = (self.a(i), self.b_word(i)?);
        let known = self.b.f.constant(mask);
        let shift = 8 * i.get(Field::Bytesel);
        let flags = i.flag(Field::Ccpr);
        let count = if flags { 4 } else { 7 };
        let slot = |s: &Self, n: u32| if flags { s.slots.flag(n) } else { s.slots.predicate(n) };
        let zero = self.b.word(0);
        let bit_of = |s: &mut Self, word: Value, n: u32| {
            let bit = s.b.word(1 << n);
            let t = s.b.op2(Ir::And, word, bit);
            s.b.op2(Ir::INe, t, zero)
        };
        if i.op == Op::R2p {
            for n in (0..count).filter(|n| known.is_none_or(|mask| mask >> n & 1 != 0)) {
                let mut t = bit_of(self, a, n + shift);
                let to = slot(self, n);
                if known.is_none() {
                    let old = self.m.slots[to as usize];
                    let taken = bit_of(self, mask, n);
                    t = self.b.op3(Ir::SelectB, taken, t, old);
                }
                self.set_truth(to, t);
            }
            return Ok(());
        }
        let mut bits = zero;
        for n in (0..count).filter(|n| known.is_none_or(|mask| mask >> n & 1 != 0)) {
            let p = self.m.slots[slot(self, n) as usize];
            let bit = self.b.word(1 << (n + shift));
            let bit = self.b.select(p, bit, zero);
            bits = self.b.op2(Ir::Or, bits, bit);
        }
        // The rest of the byte under the mask becomes 0, everything else is a's.
        let (byte, up) = (self.b.word(0xFF), self.b.word(shift));
        let under = self.b.op2(Ir::And, mask, byte);
        let under = self.b.op2(Ir::Shl, under, up);
        if known.is_none() {
            bits = self.b.op2(Ir::And, bits, under);
        }
        let keep = self.b.op1(Ir::Not, under);
        let rest = self.b.op2(Ir::And, a, keep);
        let r = self.b.op2(Ir::Or, rest, bits);
        self.set_dst(i, r);
        Ok(())
    }
}
