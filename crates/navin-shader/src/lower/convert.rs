//! Conversions: F2F, F2I, I2F, I2I.

use super::{Lower, Result};
use crate::ir::{Op as Ir, Value};
use crate::isa::{Field, Instr, Op};

/// Float formats of fields dfmt and sfmt.
const F16: u32 = 1;
const F32: u32 = 2;
const F64: u32 = 3;

impl Lower<'_, '_> {
    /// F2F, F2I, I2F, I2I.
    pub(super) fn conversion(&mut self, i: &Instr) -> Result<()> {
        self.notes.floats |= i.op != Op::I2i;
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
        Ok(self.modified(v, i.flag(Field::Ab), i.flag(Field::Nb)))
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

    fn float_to_float(&mut self, i: &Instr) -> Result<()> {
        let (from, to) = (i.get(Field::Sfmt), i.get(Field::Dfmt));
        if !(F16..=F64).contains(&from) || !(F16..=F64).contains(&to) {
            return self.unsupported(i, "float format 0 is not known");
        }
        let (mode, rint) = (i.get(Field::Rnd), i.flag(Field::Rint));
        if mode != 0 && !rint && to < from {
            return self.unsupported(i, "only rounding to nearest even is translated");
        }
        if self.wants_flags(i) {
            return self.unsupported(i, "condition codes of conversions are not translated");
        }
        if from == F64 {
            let mut v = self.double_source(i)?;
            if rint {
                v = self.round(mode, v, true);
            }
            if to == F64 {
                if i.flag(Field::Sat) {
                    return self.unsupported(i, "saturated doubles are not translated");
                }
                self.set_pair(i.get(Field::Dst), v);
                return Ok(());
            }
            let v = self.b.op1(Ir::DToF, v);
            return self.write_float(i, to, v);
        }
        let mut v = self.float_source(i)?;
        if rint {
            v = self.round(mode, v, false);
        }
        if i.flag(Field::Sat) {
            v = self.b.op1(Ir::FSat, v);
        }
        if to == F64 {
            self.needs_doubles(i)?;
            let d = self.b.op1(Ir::FToD, v);
            self.set_pair(i.get(Field::Dst), d);
            return Ok(());
        }
        self.write_float(i, to, v)
    }

    fn write_float(&mut self, i: &Instr, to: u32, v: Value) -> Result<()> {
        let v = if to == F16 {
            let zero = self.b.word(0);
            self.b.op2(Ir::PackHalf, v, zero)
        } else {
            v
        };
        self.set_dst(i, v);
        Ok(())
    }

    /// Rounds, saturates, gives 0 for NaN (the top bit alone when the source is a double).
    fn float_to_integer(&mut self, i: &Instr) -> Result<()> {
        let (from, size, signed) = (i.get(Field::Sfmt), i.get(Field::Dfmt), i.flag(Field::Dsigned));
        if size == 3 {
            return self.unsupported(i, "conversions to 64-bit integers are not translated");
        }
        if self.wants_flags(i) {
            return self.unsupported(i, "condition codes of conversions are not translated");
        }
        let bits = 8 << size;
        let r = if from == F64 {
            let v = self.double_source(i)?;
            let v = self.round(i.get(Field::Rnd), v, true);
            self.double_to_word(v, bits, signed)
        } else {
            let v = self.float_source(i)?;
            let v = if i.get(Field::Rnd) == 3 { v } else { self.round(i.get(Field::Rnd), v, false) };
            self.float_to_word(v, bits, signed)
        };
        self.set_dst(i, r);
        Ok(())
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

    fn double_constant(&mut self, x: f64) -> Value {
        let bits = x.to_bits();
        let (low, high) = (self.b.word(bits as u32), self.b.word((bits >> 32) as u32));
        self.b.op2(Ir::DPack, low, high)
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

    /// The integer source: the selected sub-word, absolute, negated.
    fn integer_source(&mut self, i: &Instr) -> Result<Value> {
        let signed = i.flag(Field::Ssigned);
        let word = self.b_word(i)?;
        let (at, bits) = match i.get(Field::Sfmt) {
            0 => (8 * i.get(Field::Bytesel), 8),
            1 => (8 * (i.get(Field::Bytesel) & 2), 16),
            2 => (0, 32),
            _ => return self.unsupported(i, "conversions from 64-bit integers are not translated"),
        };
        let (at, bits) = (self.b.word(at), self.b.word(bits));
        let mut v = self.b.op3(if signed { Ir::BfeS } else { Ir::BfeU }, word, at, bits);
        if i.flag(Field::Ab) && signed {
            let negative = self.b.op1(Ir::INeg, v);
            v = self.b.op2(Ir::SMax, v, negative);
        }
        if i.flag(Field::Nb) {
            v = self.b.op1(Ir::INeg, v);
        }
        Ok(v)
    }

    fn integer_to_float(&mut self, i: &Instr) -> Result<()> {
        if i.get(Field::Rnd) != 0 || self.wants_flags(i) {
            return self.unsupported(i, "only rounding to nearest even, without condition codes, is translated");
        }
        let v = self.integer_source(i)?;
        // A negated value is signed whatever the source was.
        let signed = i.flag(Field::Ssigned) || i.flag(Field::Nb);
        if !i.flag(Field::Ssigned) && i.flag(Field::Nb) {
            return self.unsupported(i, "negated unsigned sources are not translated");
        }
        if i.get(Field::Dfmt) == F64 {
            self.needs_doubles(i)?;
            let d = self.b.op1(if signed { Ir::SToD } else { Ir::UToD }, v);
            self.set_pair(i.get(Field::Dst), d);
            return Ok(());
        }
        let f = self.b.op1(if signed { Ir::SToF } else { Ir::UToF }, v);
        self.write_float(i, if i.get(Field::Dfmt) == F16 { F16 } else { F32 }, f)
    }

    fn integer_to_integer(&mut self, i: &Instr) -> Result<()> {
        let mut v = self.integer_source(i)?;
        let from_signed = i.flag(Field::Ssigned) || i.flag(Field::Nb);
        let to_signed = i.flag(Field::Dsigned);
        let size = i.get(Field::Dfmt);
        if size == 3 {
            return self.unsupported(i, "conversions to 64-bit integers are not translated");
        }
        let bits = 8u32 << size;
        let (least, most) = if to_signed {
            ((-1i64 << (bits - 1)) as u32, ((1u64 << (bits - 1)) - 1) as u32)
        } else {
            (0, ((1u64 << bits) - 1) as u32)
        };
        if i.flag(Field::Sat) {
            let (least, top) = (self.b.word(least), self.b.word(most));
            if from_signed {
                v = self.b.op2(Ir::SMax, v, least);
                if most < 0x8000_0000 && bits < 32 {
                    v = self.b.op2(Ir::SMin, v, top);
                }
            } else if most != u32::MAX {
                v = self.b.op2(Ir::UMin, v, top);
            }
        } else if bits < 32 {
            let (zero, n) = (self.b.word(0), self.b.word(bits));
            v = self.b.op3(if to_signed { Ir::BfeS } else { Ir::BfeU }, v, zero, n);
        }
        self.result_flags(i, v);
        self.set_dst(i, v);
        Ok(())
    }
}
