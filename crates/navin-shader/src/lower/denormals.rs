//! Denormals of binary32: each instruction of the machine flushes or keeps them, a SPIR-V module does one of the two.
//!
//! Most programs do the same everywhere, and the module does that for free. In the others the module does what costs
//! less ([`Denormals::choose`]), and the rest is made here: flushing by the bits of operands and results
//! ([`Lower::flushed`]); keeping, in a module that flushes, by integers ([`Lower::compare_kept`]) and doubles
//! ([`Lower::exact_operand`]). On a device that promises neither, denormals are as it treats them.

use super::{Lower, Result};
use crate::cfg::Graph;
use crate::ir::{Op as Ir, Value};
use crate::isa::{Field, Instr, Op};
use crate::{DeviceFeatures, Options};

/// IR that keeping denormals costs in a module that flushes: of a sum or product, and of a compare.
const KEEP: [u32; 2] = [90, 12];
/// IR that flushing them costs in a module that keeps: of a sum or product, and of a compare.
const FLUSH: [u32; 2] = [10, 6];
const SIGN: u32 = 0x8000_0000;
const MAGNITUDE: u32 = 0x7FFF_FFFF;
const INFINITY: u32 = 0x7F80_0000;

/// What the module does with denormals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Denormals {
    /// As the device likes.
    #[default]
    Any,
    /// They are zeros.
    Flushed,
    /// They are kept.
    Kept,
}

/// What is left to do for an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handling {
    /// The module does what the instruction says.
    Free,
    /// Operands and results are flushed.
    Flush,
    /// The module would flush what the instruction keeps.
    Keep,
}

/// Whether `i` flushes denormals, and whether it is arithmetic; `None` for what has no such choice.
fn says(i: &Instr) -> Option<(bool, bool)> {
    let flush = i.flag(Field::Ftz) || i.get(Field::Fmz) != 0;
    match i.op {
        Op::Fadd | Op::Fadd32i | Op::Fmul | Op::Fmul32i | Op::Ffma | Op::Ffma32i => Some((flush, true)),
        Op::Fmnmx | Op::Fset | Op::Fsetp | Op::Fcmp => Some((flush, false)),
        // Of a half none is denormal as binary32.
        Op::F2f if i.get(Field::Sfmt) == 2 || i.get(Field::Sfmt) == 3 && i.get(Field::Dfmt) == 2 => {
            Some((flush, false))
        }
        // Only rounding upwards and downwards tells a denormal from zero.
        Op::F2i if i.get(Field::Sfmt) == 2 && matches!(i.get(Field::Rnd), 1 | 2) => Some((flush, false)),
        _ => None,
    }
}

impl Denormals {
    /// What the module of a program does on a device.
    pub(super) fn choose(graph: &Graph, options: &Options) -> Denormals {
        let (mut flushing, mut keeping) = (0u32, 0u32);
        let mut keeps_sums = false;
        for (flush, arithmetic) in graph.instrs.iter().filter_map(says) {
            let cost = |costs: [u32; 2]| costs[usize::from(!arithmetic)];
            if flush {
                flushing = flushing.saturating_add(cost(FLUSH));
            } else {
                keeping = keeping.saturating_add(cost(KEEP));
                keeps_sums |= arithmetic;
            }
        }
        let has = |feature| options.features.contains(feature);
        let (flush, keep) = (has(DeviceFeatures::FLUSH_DENORMS), has(DeviceFeatures::PRESERVE_DENORMS));
        if flushing == 0 && keeping == 0 {
            return Denormals::Any;
        }
        // Sums that are kept take doubles.
        let can_keep = !keeps_sums || has(DeviceFeatures::FLOAT64);
        match (flush, keep) {
            (false, false) => Denormals::Any,
            (true, false) => Denormals::Flushed,
            (false, true) => Denormals::Kept,
            (true, true) if flushing > 0 && can_keep && keeping <= flushing => Denormals::Flushed,
            (true, true) => Denormals::Kept,
        }
    }
}

impl Lower<'_, '_> {
    /// What is left to do for `i`.
    pub(super) fn handling(&self, i: &Instr) -> Handling {
        match (self.notes.denormals, says(i)) {
            (Denormals::Kept, Some((true, _))) => Handling::Flush,
            (Denormals::Flushed, Some((false, false))) => Handling::Keep,
            (Denormals::Flushed, Some((false, true))) if self.options.features.contains(DeviceFeatures::FLOAT64) => {
                Handling::Keep
            }
            _ => Handling::Free,
        }
    }

    /// Operand or result of an instruction that is handled so: flushed where it has to be.
    pub(super) fn handled(&mut self, how: Handling, v: Value) -> Value {
        if how == Handling::Flush { self.flushed(v) } else { v }
    }

    /// Denormals as zeros of their sign.
    pub(super) fn flushed(&mut self, v: Value) -> Value {
        if self.is_normal(v) {
            return v;
        }
        let exponent = self.b.word(INFINITY);
        let zero = self.b.word(0);
        let e = self.b.op2(Ir::And, v, exponent);
        let small = self.b.op2(Ir::IEq, e, zero);
        let sign = self.b.word(SIGN);
        let signed_zero = self.b.op2(Ir::And, v, sign);
        self.b.select(small, signed_zero, v)
    }

    /// Is `v` never denormal: flushed already, or made of an integer or a half?
    fn is_normal(&self, v: Value) -> bool {
        let inst = self.b.f.inst(v);
        let args = inst.args;
        match inst.op {
            Ir::SToF | Ir::UToF | Ir::HalfLow | Ir::HalfHigh | Ir::FSqrt | Ir::FRound | Ir::FFloor | Ir::FCeil => true,
            Ir::FTrunc => true,
            Ir::FNeg | Ir::FAbs | Ir::FSat => self.is_normal(Value(args[0])),
            Ir::FMin | Ir::FMax => self.is_normal(Value(args[0])) && self.is_normal(Value(args[1])),
            Ir::Select => {
                let test = self.b.f.inst(Value(args[0]));
                let exponent = (test.op == Ir::IEq).then(|| self.b.f.inst(Value(test.args[0])));
                exponent.is_some_and(|e| {
                    e.op == Ir::And
                        && e.args[0] == args[2]
                        && self.b.f.constant(Value(e.args[1])) == Some(INFINITY)
                        && self.b.f.constant(Value(test.args[1])) == Some(0)
                })
            }
            _ => false,
        }
    }

    /// Absolute value, then negation; by the bits where denormals have to be kept.
    pub(super) fn modified_as(&mut self, how: Handling, v: Value, absolute: bool, negated: bool) -> Value {
        if how != Handling::Keep {
            return self.modified(v, absolute, negated);
        }
        let (magnitude, sign) = (self.b.word(MAGNITUDE), self.b.word(SIGN));
        let v = if absolute { self.b.op2(Ir::And, v, magnitude) } else { v };
        if negated { self.b.op2(Ir::Xor, v, sign) } else { v }
    }

    /// Clamped to 0..1, NaN to 0; by the bits where denormals have to be kept.
    pub(super) fn saturated_as(&mut self, how: Handling, v: Value) -> Value {
        if how != Handling::Keep {
            return self.b.op1(Ir::FSat, v);
        }
        let (zero, one) = (self.b.word(0), self.b.float(1.0));
        let nan = self.is_nan(v);
        let r = self.b.op2(Ir::SMax, v, zero);
        let r = self.b.op2(Ir::SMin, r, one);
        self.b.select(nan, zero, r)
    }

    fn is_nan(&mut self, v: Value) -> Value {
        let (magnitude, infinity) = (self.b.word(MAGNITUDE), self.b.word(INFINITY));
        let size = self.b.op2(Ir::And, v, magnitude);
        self.b.op2(Ir::UGt, size, infinity)
    }

    /// A compare by code of floats whose denormals are kept.
    pub(super) fn compare_kept(&mut self, cmp: u32, a: Value, b: Value) -> Value {
        let (x, y) = (self.is_nan(a), self.is_nan(b));
        let unordered = self.b.op2(Ir::BOr, x, y);
        let ordered = self.b.op1(Ir::BNot, unordered);
        let op = match cmp & 7 {
            0 => return if cmp == 0 { self.b.truth(false) } else { unordered },
            1 => Ir::SLt,
            2 => Ir::IEq,
            3 => Ir::SLe,
            4 => Ir::SGt,
            5 => Ir::INe,
            6 => Ir::SGe,
            _ => return if cmp == 7 { ordered } else { self.b.truth(true) },
        };
        // Signed integers in the order of the floats, both zeros the same.
        let (zero, sign) = (self.b.word(0), self.b.word(SIGN));
        let [a, b] = [a, b].map(|v| {
            let negative = self.b.op2(Ir::SLt, v, zero);
            let below = self.b.op2(Ir::ISub, sign, v);
            self.b.select(negative, below, v)
        });
        let holds = self.b.op2(op, a, b);
        if cmp > 8 { self.b.op2(Ir::BOr, holds, unordered) } else { self.b.op2(Ir::BAnd, holds, ordered) }
    }

    /// The smaller or the larger of two floats whose denormals are kept: -0 is below +0, a NaN gives the other.
    pub(super) fn choose_kept(&mut self, p: Value, a: Value, b: Value) -> Value {
        let (thirty_one, magnitude) = (self.b.word(31), self.b.word(MAGNITUDE));
        // Its own inverse.
        let key = |s: &mut Self, v: Value| {
            let signs = s.b.op2(Ir::Sar, v, thirty_one);
            let flip = s.b.op2(Ir::And, signs, magnitude);
            s.b.op2(Ir::Xor, v, flip)
        };
        let (x, y) = (key(self, a), key(self, b));
        let r = self.choose(p, Ir::SMin, Ir::SMax, x, y);
        let r = key(self, r);
        let (x, y) = (self.is_nan(a), self.is_nan(b));
        let r = self.b.select(y, a, r);
        self.b.select(x, b, r)
    }

    /// Condition flags of a float result whose denormals are kept.
    pub(super) fn flags_kept(&mut self, i: &Instr, r: Value) {
        if !self.wants_flags(i) {
            return;
        }
        let (zero, magnitude) = (self.b.word(0), self.b.word(MAGNITUDE));
        let nan = self.is_nan(r);
        let size = self.b.op2(Ir::And, r, magnitude);
        let z = self.b.op2(Ir::IEq, size, zero);
        let minus = self.b.op2(Ir::SLt, r, zero);
        let some = self.b.op2(Ir::INe, size, zero);
        let n = self.b.op2(Ir::BAnd, minus, some);
        let (z, n) = (self.b.op2(Ir::BOr, z, nan), self.b.op2(Ir::BOr, n, nan));
        let no = self.b.truth(false);
        self.set_flags([z, n, no, no]);
    }

    /// A denormal as the smallest normal number of its sign, which rounds to the same integers.
    pub(super) fn lifted(&mut self, v: Value) -> Value {
        let (magnitude, sign, least) = (self.b.word(MAGNITUDE), self.b.word(SIGN), self.b.word(0x0080_0000));
        let one = self.b.word(1);
        let size = self.b.op2(Ir::And, v, magnitude);
        // Of zero, one less is large.
        let below = self.b.op2(Ir::ISub, size, one);
        let limit = self.b.word(0x007F_FFFF);
        let denormal = self.b.op2(Ir::ULt, below, limit);
        let s = self.b.op2(Ir::And, v, sign);
        let normal = self.b.op2(Ir::Or, s, least);
        self.b.select(denormal, normal, v)
    }

    /// A binary32 word as a double, all its bits kept whatever the module does.
    pub(super) fn widened_float(&mut self, v: Value) -> Value {
        let d = self.b.op1(Ir::FToD, v);
        if self.notes.denormals != Denormals::Flushed || self.is_normal(v) {
            return d;
        }
        // A denormal is its digits times 2^-149.
        let (exponent, zero) = (self.b.word(INFINITY), self.b.word(0));
        let e = self.b.op2(Ir::And, v, exponent);
        let small = self.b.op2(Ir::IEq, e, zero);
        let (digits, sign) = (self.b.word(0x007F_FFFF), self.b.word(SIGN));
        let digits = self.b.op2(Ir::And, v, digits);
        let digits = self.b.op1(Ir::UToD, digits);
        let scale = self.double_constant(2f64.powi(-149));
        let tiny = self.b.op2(Ir::DMul, digits, scale);
        let (low, high) = (self.b.op1(Ir::DLow, tiny), self.b.op1(Ir::DHigh, tiny));
        let s = self.b.op2(Ir::And, v, sign);
        let high = self.b.op2(Ir::Or, high, s);
        let (l, h) = (self.b.op1(Ir::DLow, d), self.b.op1(Ir::DHigh, d));
        let (low, high) = (self.b.select(small, low, l), self.b.select(small, high, h));
        self.b.op2(Ir::DPack, low, high)
    }

    /// A binary32 operand as a double, denormals as zeros when flushed.
    pub(super) fn exact_operand(&mut self, i: &Instr, v: Value, flush: bool) -> Result<Value> {
        self.needs_doubles(i)?;
        if flush {
            let v = self.flushed(v);
            return Ok(self.b.op1(Ir::FToD, v));
        }
        Ok(self.widened_float(v))
    }
}
