//! Binary32 arithmetic, compares and functions.
//!
//! Rounding is to nearest even; the other directions are computed in doubles and rounded by hand ([`super::soft`]).
//! Denormals are as the module has them where that is what the instruction says ([`super::denormals`]).

use super::denormals::Handling;
use super::soft::{Format, NEAREST};
use super::{Lower, Result};
use crate::DeviceFeatures;
use crate::ir::{Op as Ir, Value};
use crate::isa::{Field, Instr, Op};

/// Factors of FMUL's first operand by their code.
const SCALES: [f32; 8] = [1.0, 0.5, 0.25, 0.125, 8.0, 4.0, 2.0, 1.0];
/// Divisions whose operands have exponents in this range need no slow path: neither operand, reciprocal, remainder nor
/// quotient comes near a denormal or infinity.
const DIVISIBLE: [u32; 2] = [127 - 60, 127 + 60];

impl Lower<'_, '_> {
    /// Absolute value, then negation.
    pub(super) fn modified(&mut self, v: Value, absolute: bool, negated: bool) -> Value {
        let v = if absolute { self.b.op1(Ir::FAbs, v) } else { v };
        if negated { self.b.op1(Ir::FNeg, v) } else { v }
    }

    /// Condition flags of a float result: zero and sign, both when it is NaN.
    pub(super) fn float_flags(&mut self, i: &Instr, r: Value) {
        if !self.wants_flags(i) {
            return;
        }
        let zero = self.b.word(0);
        let nan = self.b.op1(Ir::FIsNan, r);
        let z = self.b.op2(Ir::FEq, r, zero);
        let n = self.b.op2(Ir::FLt, r, zero);
        let (z, n) = (self.b.op2(Ir::BOr, z, nan), self.b.op2(Ir::BOr, n, nan));
        let no = self.b.truth(false);
        self.set_flags([z, n, no, no]);
    }

    /// FADD, FMUL, FFMA.
    pub(super) fn float_arithmetic(&mut self, i: &Instr) -> Result<()> {
        let how = self.handling(i);
        self.notes.floats = true;
        let (a, b) = (self.a(i), self.b_float(i)?);
        let (a, b) = (self.handled(how, a), self.handled(how, b));
        let c = match i.op {
            Op::Ffma => self.c_word(i)?,
            Op::Ffma32i => self.reg(i.get(Field::Dst)),
            _ => self.b.word(0),
        };
        let c = self.handled(how, c);
        let rnd = i.get(Field::Rnd);
        let fmz = i.get(Field::Fmz);
        let mut r = match i.op {
            _ if rnd != NEAREST || how == Handling::Keep => self.directed_arithmetic(i, how, [a, b, c], rnd)?,
            Op::Fadd | Op::Fadd32i => {
                let a = self.modified(a, i.flag(Field::Aa), i.flag(Field::Na));
                let b = self.modified(b, i.flag(Field::Ab), i.flag(Field::Nb));
                self.b.op2(Ir::FAdd, a, b)
            }
            Op::Fmul | Op::Fmul32i => {
                let b = self.modified(b, false, i.flag(Field::Nab));
                let (a, b) = self.scaled(i.get(Field::Scale), a, b);
                self.b.op2(Ir::FMul, a, b)
            }
            _ => {
                let b = self.modified(b, false, i.flag(Field::Nab));
                let c = self.modified(c, false, i.flag(Field::Nc));
                self.b.op3(Ir::FFma, a, b, c)
            }
        };
        if fmz == 2 {
            // Zero times anything is zero: the result is the addend, or 0.
            let zero = self.b.word(0);
            let rest = self.modified(c, false, i.flag(Field::Nc));
            let x = self.b.op2(Ir::FEq, a, zero);
            let y = self.b.op2(Ir::FEq, b, zero);
            let either = self.b.op2(Ir::BOr, x, y);
            r = self.b.select(either, rest, r);
        }
        r = self.handled(how, r);
        if i.flag(Field::Sat) {
            r = self.saturated_as(how, r);
        }
        match how {
            Handling::Keep => self.flags_kept(i, r),
            _ => self.float_flags(i, r),
        }
        self.set_dst(i, r);
        Ok(())
    }

    /// Factors of which one has the power of two of FMUL's scale. One below 1 is multiplied, or else the other one, which
    /// leaves the range only where the product does; one that stays a normal number is divided, or else the other one,
    /// which becomes none only where the product is far below all numbers.
    fn scaled(&mut self, code: u32, a: Value, b: Value) -> (Value, Value) {
        if code == 0 {
            return (a, b);
        }
        let factor = SCALES[code as usize & 7];
        let size = self.b.op1(Ir::FAbs, a);
        let first = if factor < 1.0 {
            let small = self.b.word((127 - 64) << 23);
            self.b.op2(Ir::FGe, size, small)
        } else {
            let one = self.b.float(1.0);
            self.b.op2(Ir::FLt, size, one)
        };
        let (one, other) = (self.b.select(first, a, b), self.b.select(first, b, a));
        let k = self.b.float(factor);
        (self.b.op2(Ir::FMul, one, k), other)
    }

    /// FADD, FMUL, FFMA rounded in a direction, or by doubles for the sake of denormals.
    fn directed_arithmetic(&mut self, i: &Instr, how: Handling, [a, b, c]: [Value; 3], rnd: u32) -> Result<Value> {
        let flush = i.flag(Field::Ftz) || i.get(Field::Fmz) != 0;
        let a = self.modified_as(how, a, i.flag(Field::Aa), i.flag(Field::Na));
        let b = self.modified_as(how, b, i.flag(Field::Ab), i.flag(Field::Nb) || i.flag(Field::Nab));
        let (x, y) = (self.exact_operand(i, a, flush)?, self.exact_operand(i, b, flush)?);
        let r = match i.op {
            Op::Fadd | Op::Fadd32i => self.directed_sum(x, y, rnd),
            Op::Fmul | Op::Fmul32i => {
                let mut p = self.b.op2(Ir::DMul, x, y);
                if i.get(Field::Scale) != 0 {
                    let scale = self.double_constant(SCALES[i.get(Field::Scale) as usize & 7].into());
                    p = self.b.op2(Ir::DMul, p, scale);
                }
                self.narrow_double(p, Format::SINGLE, rnd)
            }
            _ => {
                let p = self.b.op2(Ir::DMul, x, y);
                let c = self.modified_as(how, c, false, i.flag(Field::Nc));
                let c = self.exact_operand(i, c, flush)?;
                self.directed_sum(p, c, rnd)
            }
        };
        Ok(if flush { self.flushed(r) } else { r })
    }

    /// Float compare by code.
    pub(super) fn compare_floats(&mut self, cmp: u32, a: Value, b: Value) -> Value {
        let op = match cmp {
            0 => return self.b.truth(false),
            1 => Ir::FLt,
            2 => Ir::FEq,
            3 => Ir::FLe,
            4 => Ir::FGt,
            5 => Ir::FNe,
            6 => Ir::FGe,
            7 | 8 => {
                let x = self.b.op1(Ir::FIsNan, a);
                let y = self.b.op1(Ir::FIsNan, b);
                let any = self.b.op2(Ir::BOr, x, y);
                return if cmp == 7 { self.b.op1(Ir::BNot, any) } else { any };
            }
            9 => Ir::FLtU,
            10 => Ir::FEqU,
            11 => Ir::FLeU,
            12 => Ir::FGtU,
            13 => Ir::FNeU,
            14 => Ir::FGeU,
            _ => return self.b.truth(true),
        };
        self.b.op2(op, a, b)
    }

    /// The same, with denormals handled so.
    fn compare_as(&mut self, how: Handling, cmp: u32, a: Value, b: Value) -> Value {
        match how {
            Handling::Keep => self.compare_kept(cmp, a, b),
            _ => self.compare_floats(cmp, a, b),
        }
    }

    /// The smaller where `p` holds, else the larger; -0 is below +0.
    fn smaller_or_larger(&mut self, p: Value, a: Value, b: Value) -> Value {
        let one = |s: &mut Self, min: bool| {
            let r = s.b.op2(if min { Ir::FMin } else { Ir::FMax }, a, b);
            let constants = [a, b].map(|v| s.b.f.constant(v));
            let other = |k: &Option<u32>| k.is_some_and(|k| k & 0x7FFF_FFFF != 0);
            if s.options.features.contains(DeviceFeatures::ORDERED_ZEROS) || constants.iter().any(other) {
                return r;
            }
            if !min && constants.contains(&Some(0)) {
                return s.b.op1(Ir::FAbs, r);
            }
            // Only zeros are equal and differ: the smaller has any sign, the larger the sign of both.
            let equal = s.b.op2(Ir::FEq, a, b);
            let signs = s.b.op2(if min { Ir::Or } else { Ir::And }, a, b);
            let sign = s.b.word(0x8000_0000);
            let signs = s.b.op2(Ir::And, signs, sign);
            let magnitude = s.b.word(0x7FFF_FFFF);
            let size = s.b.op2(Ir::And, r, magnitude);
            let signed = s.b.op2(Ir::Or, size, signs);
            s.b.select(equal, signed, r)
        };
        match self.b.f.truth(p) {
            Some(min) => one(self, min),
            None => {
                let (x, y) = (one(self, true), one(self, false));
                self.b.select(p, x, y)
            }
        }
    }

    /// FMNMX, FSET, FSETP, FCMP.
    pub(super) fn float_compare(&mut self, i: &Instr) -> Result<()> {
        let how = self.handling(i);
        self.notes.floats = true;
        let (a, b) = (self.a(i), self.b_float(i)?);
        match i.op {
            Op::Fcmp => {
                let c = self.c_word(i)?;
                let c = self.handled(how, c);
                let zero = self.b.word(0);
                let truth = self.compare_as(how, i.get(Field::Cmp), c, zero);
                let r = self.b.select(truth, a, b);
                self.set_dst(i, r);
            }
            Op::Fmnmx | Op::Fset | Op::Fsetp => {
                let (a, b) = (self.handled(how, a), self.handled(how, b));
                let a = self.modified_as(how, a, i.flag(Field::Aa), i.flag(Field::Na));
                let b = self.modified_as(how, b, i.flag(Field::Ab), i.flag(Field::Nb));
                if i.op != Op::Fmnmx {
                    let truth = self.compare_as(how, i.get(Field::Cmp), a, b);
                    self.set_compare(i, truth, Field::Bop);
                    return Ok(());
                }
                let p = self.source_predicate(i);
                if how == Handling::Keep {
                    let r = self.choose_kept(p, a, b);
                    self.flags_kept(i, r);
                    self.set_dst(i, r);
                } else {
                    let r = self.smaller_or_larger(p, a, b);
                    self.float_flags(i, r);
                    self.set_dst(i, r);
                }
            }
            _ => {
                // FCHK asks whether a quotient needs the slow path, which is right for every operand: saying so too
                // often changes no result.
                if i.get(Field::Mode) != 0 {
                    return self.unsupported(i, "this check is not known");
                }
                let mut slow = self.b.truth(false);
                for v in [a, b] {
                    let (at, bits) = (self.b.word(23), self.b.word(8));
                    let exponent = self.b.op3(Ir::BfeU, v, at, bits);
                    let (least, span) = (self.b.word(DIVISIBLE[0]), self.b.word(DIVISIBLE[1] - DIVISIBLE[0]));
                    let above = self.b.op2(Ir::ISub, exponent, least);
                    let out = self.b.op2(Ir::UGt, above, span);
                    slow = self.b.op2(Ir::BOr, slow, out);
                }
                self.set_predicate(i.get(Field::Pd), slow);
            }
        }
        Ok(())
    }

    /// MUFU, and RRO, which only prepares its operand.
    pub(super) fn float_function(&mut self, i: &Instr) -> Result<()> {
        if i.op == Op::Rro {
            let b = self.b_float(i)?;
            let r = self.modified(b, i.flag(Field::Ab), i.flag(Field::Nb));
            self.set_dst(i, r);
            return Ok(());
        }
        let a = self.a(i);
        let op = match i.get(Field::Op) {
            0 => Ir::FCos,
            1 => Ir::FSin,
            2 => Ir::FExp2,
            3 => Ir::FLog2,
            4 => Ir::FRcp,
            5 => Ir::FRsq,
            8 => Ir::FSqrt,
            n @ (6 | 7) => {
                // High word of a double in, high word of the result out; the sign bit takes the modifiers.
                let a = self.modified(a, i.flag(Field::Aa), i.flag(Field::Na));
                self.needs_doubles(i)?;
                let zero = self.b.word(0);
                let d = self.b.op2(Ir::DPack, zero, a);
                let d = self.b.op1(if n == 6 { Ir::DRcp } else { Ir::DRsq }, d);
                let r = self.b.op1(Ir::DHigh, d);
                self.set_dst(i, r);
                return Ok(());
            }
            _ => return self.unsupported(i, "this function is not known"),
        };
        let a = self.modified(a, i.flag(Field::Aa), i.flag(Field::Na));
        // The reciprocal of the interpolated 1/w is w, which the host's interpolation has applied already.
        let r = self.b.op1(op, a);
        let r = if i.flag(Field::Sat) { self.b.op1(Ir::FSat, r) } else { r };
        self.set_dst(i, r);
        Ok(())
    }
}
