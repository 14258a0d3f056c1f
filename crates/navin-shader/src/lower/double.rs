//! Binary64 arithmetic on register pairs, low word first.

use super::soft::NEAREST;
use super::{Lower, Result};
use crate::DeviceFeatures;
use crate::ir::{Op as Ir, Value};
use crate::isa::{Field, Instr, Op};

impl Lower<'_, '_> {
    /// Refuses doubles on devices that have none.
    pub(super) fn needs_doubles(&self, i: &Instr) -> Result<()> {
        if self.options.features.contains(DeviceFeatures::FLOAT64) {
            return Ok(());
        }
        self.unsupported(i, "the device has no 64-bit floats")
    }

    /// The double in registers `n` and `n + 1`.
    pub(super) fn pair(&mut self, n: u32) -> Value {
        let low = self.reg(n);
        let high = if n == 255 { low } else { self.reg(n + 1) };
        self.b.op2(Ir::DPack, low, high)
    }

    /// Writes a double to registers `n` and `n + 1`.
    pub(super) fn set_pair(&mut self, n: u32, d: Value) {
        if n == 255 {
            return;
        }
        let low = self.b.op1(Ir::DLow, d);
        let high = self.b.op1(Ir::DHigh, d);
        self.set_reg(n, low);
        self.set_reg(n + 1, high);
    }

    /// Operand b as a double; immediates are its top.
    pub(super) fn b_double(&mut self, i: &Instr) -> Result<Value> {
        if i.has(Field::B) {
            return Ok(self.pair(i.get(Field::B)));
        }
        if i.has(Field::Cbo4) {
            return self.constant_double(i, i.get(Field::Cbi), i.get(Field::Cbo4) * 4);
        }
        let low = self.b.word(0);
        let high = self.b.word((i.imm20() as u32) << 12);
        Ok(self.b.op2(Ir::DPack, low, high))
    }

    fn constant_double(&mut self, i: &Instr, bank: u32, offset: u32) -> Result<Value> {
        let low = self.constant(i, bank, offset)?;
        let high = self.constant(i, bank, offset + 4)?;
        Ok(self.b.op2(Ir::DPack, low, high))
    }

    fn c_double(&mut self, i: &Instr) -> Result<Value> {
        if i.has(Field::C) {
            return Ok(self.pair(i.get(Field::C)));
        }
        self.constant_double(i, i.get(Field::Ccbi), i.get(Field::Ccbo4) * 4)
    }

    /// Absolute value, then negation.
    pub(super) fn modified_double(&mut self, v: Value, absolute: bool, negated: bool) -> Value {
        let v = if absolute { self.b.op1(Ir::DAbs, v) } else { v };
        if negated { self.b.op1(Ir::DNeg, v) } else { v }
    }

    /// Double compare by code.
    fn compare_doubles(&mut self, cmp: u32, a: Value, b: Value) -> Value {
        let (op, unordered) = match cmp {
            0 => return self.b.truth(false),
            15 => return self.b.truth(true),
            1 | 9 => (Ir::DLt, cmp == 9),
            2 | 10 => (Ir::DEq, cmp == 10),
            3 | 11 => (Ir::DLe, cmp == 11),
            4 | 12 => (Ir::DGt, cmp == 12),
            5 | 13 => (Ir::DNe, cmp == 13),
            6 | 14 => (Ir::DGe, cmp == 14),
            _ => (Ir::DEq, true),
        };
        let x = self.b.op1(Ir::DIsNan, a);
        let y = self.b.op1(Ir::DIsNan, b);
        let nan = self.b.op2(Ir::BOr, x, y);
        match cmp {
            7 => self.b.op1(Ir::BNot, nan),
            8 => nan,
            _ => {
                let t = self.b.op2(op, a, b);
                if unordered { self.b.op2(Ir::BOr, t, nan) } else { t }
            }
        }
    }

    /// The smaller of two doubles if `p`, else the larger. A choice among doubles is a choice among their words.
    fn choose_double(&mut self, p: Value, a: Value, b: Value) -> Value {
        if let Some(min) = self.b.f.truth(p) {
            return self.b.op2(if min { Ir::DMin } else { Ir::DMax }, a, b);
        }
        let (min, max) = (self.b.op2(Ir::DMin, a, b), self.b.op2(Ir::DMax, a, b));
        let words = [Ir::DLow, Ir::DHigh].map(|part| {
            let (x, y) = (self.b.op1(part, min), self.b.op1(part, max));
            self.b.select(p, x, y)
        });
        self.b.op2(Ir::DPack, words[0], words[1])
    }

    /// DADD, DMUL, DFMA, DMNMX, DSET, DSETP.
    pub(super) fn double(&mut self, i: &Instr) -> Result<()> {
        self.needs_doubles(i)?;
        let rnd = i.get(Field::Rnd);
        let a = self.pair(i.get(Field::A));
        let b = self.b_double(i)?;
        let r = match i.op {
            Op::Dmul => {
                let b = self.modified_double(b, false, i.flag(Field::Nab));
                match self.product_with_zero(a, b) {
                    Some(p) => p,
                    None if rnd == NEAREST => self.b.op2(Ir::DMul, a, b),
                    None => self.directed_mul(a, b, rnd),
                }
            }
            Op::Dfma => {
                let c = self.c_double(i)?;
                let b = self.modified_double(b, false, i.flag(Field::Nab));
                let c = self.modified_double(c, false, i.flag(Field::Nc));
                match self.product_with_zero(a, b) {
                    Some(p) if rnd == NEAREST => self.b.op2(Ir::DAdd, p, c),
                    Some(p) => self.directed_add(p, c, rnd),
                    None if rnd == NEAREST => self.b.op3(Ir::DFma, a, b, c),
                    None => self.directed_fma(a, b, c, rnd),
                }
            }
            _ => {
                let a = self.modified_double(a, i.flag(Field::Aa), i.flag(Field::Na));
                let b = self.modified_double(b, i.flag(Field::Ab), i.flag(Field::Nb));
                match i.op {
                    Op::Dadd if rnd == NEAREST => self.b.op2(Ir::DAdd, a, b),
                    Op::Dadd => self.directed_add(a, b, rnd),
                    Op::Dmnmx => {
                        let p = self.source_predicate(i);
                        self.choose_double(p, a, b)
                    }
                    _ => {
                        let truth = self.compare_doubles(i.get(Field::Cmp), a, b);
                        self.set_compare(i, truth, Field::Bop);
                        return Ok(());
                    }
                }
            }
        };
        self.double_flags(i, r);
        self.set_pair(i.get(Field::Dst), r);
        Ok(())
    }

    /// a * b where one of them is a zero that is known: compilers take that for 0 whatever the other is, but of
    /// infinities and NaN it is NaN.
    fn product_with_zero(&mut self, a: Value, b: Value) -> Option<Value> {
        let is_zero = |s: &Self, v: Value| {
            let mut inst = *s.b.f.inst(v);
            while matches!(inst.op, Ir::DNeg | Ir::DAbs) {
                inst = *s.b.f.inst(Value(inst.args[0]));
            }
            let word = |n: usize| s.b.f.constant(Value(inst.args[n]));
            inst.op == Ir::DPack && word(0) == Some(0) && word(1).is_some_and(|high| high << 1 == 0)
        };
        let (zero, other) = if is_zero(self, b) {
            (b, a)
        } else if is_zero(self, a) {
            (a, b)
        } else {
            return None;
        };
        let (x, y) = (self.b.op1(Ir::DHigh, zero), self.b.op1(Ir::DHigh, other));
        let (sign, exponent) = (self.b.word(0x8000_0000), self.b.word(0x7FF0_0000));
        let e = self.b.op2(Ir::And, y, exponent);
        let wild = self.b.op2(Ir::IEq, e, exponent);
        let signs = self.b.op2(Ir::Xor, x, y);
        let nothing = self.b.op2(Ir::And, signs, sign);
        let nan = self.b.word(0x7FF8_0000);
        let high = self.b.select(wild, nan, nothing);
        let low = self.b.word(0);
        Some(self.b.op2(Ir::DPack, low, high))
    }

    /// Condition flags of a double result, as of a float one.
    pub(super) fn double_flags(&mut self, i: &Instr, r: Value) {
        if !self.wants_flags(i) {
            return;
        }
        let zero = self.double_constant(0.0);
        let nan = self.b.op1(Ir::DIsNan, r);
        let z = self.b.op2(Ir::DEq, r, zero);
        let n = self.b.op2(Ir::DLt, r, zero);
        let (z, n) = (self.b.op2(Ir::BOr, z, nan), self.b.op2(Ir::BOr, n, nan));
        let no = self.b.truth(false);
        self.set_flags([z, n, no, no]);
    }

    pub(super) fn double_constant(&mut self, x: f64) -> Value {
        let bits = x.to_bits();
        let (low, high) = (self.b.word(bits as u32), self.b.word((bits >> 32) as u32));
        self.b.op2(Ir::DPack, low, high)
    }
}
