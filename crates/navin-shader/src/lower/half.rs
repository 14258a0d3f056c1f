//! Packed halves: HADD2, HMUL2, HFMA2, their 32-bit immediate forms, HSET2, HSETP2.
//!
//! Lanes are computed as binary32 and rounded once. That is exact: a binary32 holds a half's sum or product with the
//! two spare bits that make a second rounding harmless, and for fused products the sum is rounded to odd before.

use super::{Lower, Result};
use crate::ir::{Op as Ir, Value};
use crate::isa::{Field, Instr, Op};

/// Result formats (field ofmt).
const BOTH: u32 = 0;
const FLOAT: u32 = 1;
const LOW: u32 = 2;

impl Lower<'_, '_> {
    /// The two lanes that a swizzle reads of a word.
    fn half_lanes(&mut self, word: Value, swizzle: u32) -> [Value; 2] {
        match swizzle {
            0 => [self.b.op1(Ir::HalfLow, word), self.b.op1(Ir::HalfHigh, word)],
            1 => [word; 2],
            2 => [self.b.op1(Ir::HalfLow, word); 2],
            _ => [self.b.op1(Ir::HalfHigh, word); 2],
        }
    }

    /// Operand b: a packed immediate, a constant that is a float for both lanes, or a swizzled register.
    fn half_b(&mut self, i: &Instr) -> Result<[Value; 2]> {
        if i.has(Field::Imm9lo) {
            let low = (i.get(Field::Imm9lo) | i.get(Field::Immlosign) << 9) << 6;
            let high = (i.get(Field::Imm9hi) | i.get(Field::Immhisign) << 9) << 6;
            let word = self.b.word(low | high << 16);
            return Ok(self.half_lanes(word, 0));
        }
        let word = self.b_word(i)?;
        let swizzle = if i.has(Field::Imm32) {
            0
        } else if i.has(Field::Cbo4) {
            1
        } else {
            i.get(Field::Bsel)
        };
        Ok(self.half_lanes(word, swizzle))
    }

    /// Half denormals, which are ordinary numbers in binary32, as zeros of their sign.
    fn half_flushed(&mut self, on: bool, v: Value) -> Value {
        if !on {
            return v;
        }
        let least = self.b.float(1.0 / 16384.0);
        let size = self.b.op1(Ir::FAbs, v);
        let small = self.b.op2(Ir::FLt, size, least);
        let sign = self.b.word(0x8000_0000);
        let zero = self.b.op2(Ir::And, v, sign);
        self.b.select(small, zero, v)
    }

    /// p + c, with the last bit set where the sum was not exact (rounding to odd), so that it may be rounded again.
    fn sum_to_odd(&mut self, p: Value, c: Value) -> Value {
        let sum = self.b.op2(Ir::FAdd, p, c);
        // What the rounding left out, exactly.
        let back = self.b.op2(Ir::FSub, sum, p);
        let rest = self.b.op2(Ir::FSub, sum, back);
        let left = self.b.op2(Ir::FSub, p, rest);
        let right = self.b.op2(Ir::FSub, c, back);
        let error = self.b.op2(Ir::FAdd, left, right);
        let zero = self.b.word(0);
        // Infinities and NaN have no error: the compare with one is false.
        let above = self.b.op2(Ir::FGt, error, zero);
        let below = self.b.op2(Ir::FLt, error, zero);
        let inexact = self.b.op2(Ir::BOr, above, below);
        // Towards zero first: one less where the error points there.
        let negative = self.b.op2(Ir::SLt, sum, zero);
        let towards_zero = self.b.op2(Ir::BXor, negative, below);
        let (one, none) = (self.b.word(1), self.b.word(0));
        let less = self.b.select(towards_zero, one, none);
        let cut = self.b.op2(Ir::ISub, sum, less);
        let odd = self.b.op2(Ir::Or, cut, one);
        self.b.select(inexact, odd, sum)
    }

    /// HADD2, HMUL2, HFMA2.
    pub(super) fn halves(&mut self, i: &Instr) -> Result<()> {
        // Halves are never denormal as binary32: they say nothing about flushing.
        self.notes.floats = true;
        let flag = |f: Field| i.flag(f);
        let add = matches!(i.op, Op::Hadd2 | Op::Hadd2x32i);
        let fused = matches!(i.op, Op::Hfma2 | Op::Hfma2x32i);
        let mode = i.get(Field::Fmz);
        let flush = flag(Field::Ftz) || mode == 1 || mode == 2;
        let a_word = self.a(i);
        let a = self.half_lanes(a_word, i.get(Field::Asel));
        let b = self.half_b(i)?;
        let old = self.reg(i.get(Field::Dst));
        let c = match i.op {
            Op::Hfma2 => {
                let word = self.c_word(i)?;
                let swizzle = if i.has(Field::Ccbo4) { 1 } else { i.get(Field::Csel) };
                self.half_lanes(word, swizzle)
            }
            Op::Hfma2x32i => self.half_lanes(old, 0),
            _ => a,
        };
        let format = i.get(Field::Ofmt);
        let mut lanes = [a[0]; 2];
        let needed = match format {
            BOTH => 0..2,
            FLOAT | LOW => 0..1,
            _ => 1..2,
        };
        for k in needed {
            let x = self.half_flushed(flush, a[k]);
            let x = self.modified(x, flag(Field::Aa), flag(Field::Na));
            let y = self.half_flushed(flush, b[k]);
            let y = self.modified(y, flag(Field::Ab), flag(Field::Nb) || flag(Field::Nab));
            let mut v = if add { self.b.op2(Ir::FAdd, x, y) } else { self.b.op2(Ir::FMul, x, y) };
            if mode == 2 {
                let zero = self.b.word(0);
                let (p, q) = (self.b.op2(Ir::FEq, x, zero), self.b.op2(Ir::FEq, y, zero));
                let either = self.b.op2(Ir::BOr, p, q);
                v = self.b.select(either, zero, v);
            }
            if fused {
                let z = self.half_flushed(flush, c[k]);
                let z = self.modified(z, false, flag(Field::Nc));
                v = if format == FLOAT { self.b.op2(Ir::FAdd, v, z) } else { self.sum_to_odd(v, z) };
            }
            if flush && format != FLOAT {
                // What is small after it was rounded to a half.
                let zero = self.b.word(0);
                let packed = self.b.op2(Ir::PackHalf, v, zero);
                v = self.b.op1(Ir::HalfLow, packed);
                v = self.half_flushed(true, v);
            }
            lanes[k] = if flag(Field::Sat) { self.b.op1(Ir::FSat, v) } else { v };
        }
        let zero = self.b.word(0);
        let r = match format {
            BOTH => self.b.op2(Ir::PackHalf, lanes[0], lanes[1]),
            FLOAT => lanes[0],
            LOW => {
                let low = self.b.op2(Ir::PackHalf, lanes[0], zero);
                let (at, count) = (self.b.word(0), self.b.word(16));
                self.b.pure(Ir::Bfi, &[old.0, low.0, at.0, count.0])
            }
            _ => {
                let high = self.b.op2(Ir::PackHalf, lanes[1], zero);
                let count = self.b.word(16);
                self.b.pure(Ir::Bfi, &[old.0, high.0, count.0, count.0])
            }
        };
        self.set_dst(i, r);
        Ok(())
    }

    /// HSET2, HSETP2.
    pub(super) fn half_compare(&mut self, i: &Instr) -> Result<()> {
        if self.wants_flags(i) {
            return self.unsupported(i, "condition codes of half compares are not translated");
        }
        let flag = |f: Field| i.flag(f);
        let flush = flag(Field::Ftz);
        let a_word = self.a(i);
        let a = self.half_lanes(a_word, i.get(Field::Asel));
        let b = self.half_b(i)?;
        let p = self.source_predicate(i);
        let bop = i.get(Field::Bop);
        let holds = [0, 1].map(|k| {
            let x = self.half_flushed(flush, a[k]);
            let x = self.modified(x, flag(Field::Aa), flag(Field::Na));
            let y = self.half_flushed(flush, b[k]);
            let y = self.modified(y, flag(Field::Ab), flag(Field::Nb));
            self.compare_floats(i.get(Field::Cmp), x, y)
        });
        if i.op == Op::Hsetp2 {
            let (yes, no) = if flag(Field::Hand) {
                let both = self.b.op2(Ir::BAnd, holds[0], holds[1]);
                let not = self.b.op1(Ir::BNot, both);
                (both, not)
            } else {
                (holds[0], holds[1])
            };
            let (yes, no) = (self.join(bop, yes, p), self.join(bop, no, p));
            self.set_predicate(i.get(Field::Pd), yes);
            self.set_predicate(i.get(Field::Pdn), no);
            return Ok(());
        }
        let one = if flag(Field::Bf) { 0x3C00 } else { 0xFFFF };
        let zero = self.b.word(0);
        let mut r = zero;
        for (k, truth) in holds.into_iter().enumerate() {
            let joined = self.join(bop, truth, p);
            let lane = self.b.word(one << (16 * k));
            let lane = self.b.select(joined, lane, zero);
            r = self.b.op2(Ir::Or, r, lane);
        }
        self.set_dst(i, r);
        Ok(())
    }
}
