//! Binary32 arithmetic, compares and functions.
//!
//! Rounding is to nearest even; the other directions are computed in doubles and rounded by hand ([`super::soft`]).
//! Flushing of denormals is a property of the SPIR-V module, so it is counted here and decided at the end: programs
//! of this platform flush everywhere or nowhere.

use super::soft::{Format, NEAREST};
use super::{Lower, Result};
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

    fn count_flush(&mut self, flush: bool) {
        self.notes.floats = true;
        if flush {
            self.notes.flushing += 1;
        } else {
            self.notes.keeping += 1;
        }
    }

    fn saturated(&mut self, i: &Instr, v: Value) -> Value {
        if i.flag(Field::Sat) { self.b.op1(Ir::FSat, v) } else { v }
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
        let a = self.a(i);
        let b = self.b_float(i)?;
        let rnd = i.get(Field::Rnd);
        let fmz = i.get(Field::Fmz);
        self.count_flush(i.flag(Field::Ftz) || fmz != 0);
        let mut r = match i.op {
            _ if rnd != NEAREST => self.directed_arithmetic(i, a, b, rnd)?,
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
                let c = if i.op == Op::Ffma { self.c_word(i)? } else { self.reg(i.get(Field::Dst)) };
                let b = self.modified(b, false, i.flag(Field::Nab));
                let c = self.modified(c, false, i.flag(Field::Nc));
                self.b.op3(Ir::FFma, a, b, c)
            }
        };
        if fmz == 2 {
            // Zero times anything is zero: the result is the addend, or 0.
            let zero = self.b.word(0);
            let rest = match i.op {
                Op::Ffma => {
                    let c = self.c_word(i)?;
                    self.modified(c, false, i.flag(Field::Nc))
                }
                Op::Ffma32i => {
                    let c = self.reg(i.get(Field::Dst));
                    self.modified(c, false, i.flag(Field::Nc))
                }
                _ => zero,
            };
            let x = self.b.op2(Ir::FEq, a, zero);
            let y = self.b.op2(Ir::FEq, b, zero);
            let either = self.b.op2(Ir::BOr, x, y);
            r = self.b.select(either, rest, r);
        }
        r = self.saturated(i, r);
        self.float_flags(i, r);
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

    /// FADD, FMUL, FFMA rounded in a direction.
    fn directed_arithmetic(&mut self, i: &Instr, a: Value, b: Value, rnd: u32) -> Result<Value> {
        let flush = i.flag(Field::Ftz) || i.get(Field::Fmz) != 0;
        let a = self.modified(a, i.flag(Field::Aa), i.flag(Field::Na));
        let b = self.modified(b, i.flag(Field::Ab), i.flag(Field::Nb) || i.flag(Field::Nab));
        let (x, y) = (self.exact_operand(i, a, flush)?, self.exact_operand(i, b, flush)?);
        let r = match i.op {
            Op::Fadd => self.directed_sum(x, y, rnd),
            Op::Fmul => {
                let mut p = self.b.op2(Ir::DMul, x, y);
                if i.get(Field::Scale) != 0 {
                    let scale = self.double_constant(SCALES[i.get(Field::Scale) as usize & 7].into());
                    p = self.b.op2(Ir::DMul, p, scale);
                }
                self.narrow_double(p, Format::SINGLE, rnd)
            }
            _ => {
                let p = self.b.op2(Ir::DMul, x, y);
                let c = self.c_word(i)?;
                let c = self.modified(c, false, i.flag(Field::Nc));
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

    /// FMNMX, FSET, FSETP, FCMP.
    pub(super) fn float_compare(&mut self, i: &Instr) -> Result<()> {
        let a = self.a(i);
        let b = self.b_float(i)?;
        self.count_flush(i.flag(Field::Ftz));
        match i.op {
            Op::Fcmp => {
                let c = self.c_word(i)?;
                let zero = self.b.word(0);
                let truth = self.compare_floats(i.get(Field::Cmp), c, zero);
                let r = self.b.select(truth, a, b);
                self.set_dst(i, r);
            }
            Op::Fmnmx => {
                let a = self.modified(a, i.flag(Field::Aa), i.flag(Field::Na));
                let b = self.modified(b, i.flag(Field::Ab), i.flag(Field::Nb));
                let p = self.source_predicate(i);
                let r = self.choose(p, Ir::FMin, Ir::FMax, a, b);
                self.float_flags(i, r);
                self.set_dst(i, r);
            }
            Op::Fset | Op::Fsetp => {
                let a = self.modified(a, i.flag(Field::Aa), i.flag(Field::Na));
                let b = self.modified(b, i.flag(Field::Ab), i.flag(Field::Nb));
                let truth = self.compare_floats(i.get(Field::Cmp), a, b);
                self.set_compare(i, truth, Field::Bop);
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
        let r = self.saturated(i, r);
        self.set_dst(i, r);
        Ok(())
    }
}
