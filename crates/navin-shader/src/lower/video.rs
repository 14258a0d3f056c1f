//! Video instructions: arithmetic on bytes, halves or words of registers, merged into or combined with a third one.
//!
//! Sums of whole words have 33 bits, so values are pairs of words ([`Wide`]) where saturation can see them.

use super::wide::Wide;
use super::{Lower, Result};
use crate::ir::{Op as Ir, Value};
use crate::isa::{Field, Instr, Op};

impl Lower<'_, '_> {
    /// The selected part of a word, extended by its sign.
    fn video_part(&mut self, i: &Instr, word: Value, selector: u32, signed: bool) -> Result<Value> {
        let (at, bits) = match selector {
            0..=3 => (8 * selector, 8),
            4 | 5 => (16 * (selector - 4), 16),
            6 => return Ok(word),
            _ => return self.unsupported(i, "part 7 of a word is not known"),
        };
        let (at, bits) = (self.b.word(at), self.b.word(bits));
        Ok(self.b.op3(if signed { Ir::BfeS } else { Ir::BfeU }, word, at, bits))
    }

    /// Operand b: a part of a register, or an immediate of 16 bits.
    fn video_b(&mut self, i: &Instr, signed: bool) -> Result<Value> {
        if i.has(Field::Imm16) {
            let n = i.get(Field::Imm16);
            return Ok(self.b.word(if signed { n as u16 as i16 as u32 } else { n }));
        }
        let word = self.reg(i.get(Field::B));
        self.video_part(i, word, i.get(Field::Bsel), signed)
    }

    /// The value clamped to a signed or unsigned number of `bits` bits; `negative` where it is below 0.
    fn clamp_signed(&mut self, v: Wide, negative: Value, bits: u32, signed: bool) -> Value {
        let zero = self.b.word(0);
        let word = if signed {
            let n = self.b.word(31);
            let sign = self.b.op2(Ir::Sar, v.low, n);
            let fits = self.b.op2(Ir::IEq, sign, v.high);
            let (least, most) = (self.b.word(0x8000_0000), self.b.word(0x7FFF_FFFF));
            let end = self.b.select(negative, least, most);
            self.b.select(fits, v.low, end)
        } else {
            let fits = self.b.op2(Ir::IEq, v.high, zero);
            let most = self.b.word(u32::MAX);
            let end = self.b.select(fits, v.low, most);
            self.b.select(negative, zero, end)
        };
        if bits == 32 {
            return word;
        }
        if signed {
            let least = self.b.word((-1i32 << (bits - 1)) as u32);
            let most = self.b.word((1 << (bits - 1)) - 1);
            let word = self.b.op2(Ir::SMax, word, least);
            self.b.op2(Ir::SMin, word, most)
        } else {
            let most = self.b.word((1 << bits) - 1);
            self.b.op2(Ir::UMin, word, most)
        }
    }

    /// The same for a value whose high word has the sign.
    pub(super) fn wide_clamp(&mut self, v: Wide, bits: u32, signed: bool) -> Value {
        let zero = self.b.word(0);
        let negative = self.b.op2(Ir::SLt, v.high, zero);
        self.clamp_signed(v, negative, bits, signed)
    }

    /// Saturates if asked, and does with c what the instruction says.
    fn video_result(&mut self, i: &Instr, v: Wide) -> Result<()> {
        let (vop, signed) = (i.get(Field::Vop), i.flag(Field::Dsign));
        let bits = match vop {
            0 | 1 => 16,
            2 | 3 => 8,
            _ => 32,
        };
        let word = if i.flag(Field::Sat) { self.wide_clamp(v, bits, signed) } else { v.low };
        self.video_combine(i, word, signed)
    }

    fn video_combine(&mut self, i: &Instr, word: Value, signed: bool) -> Result<()> {
        if self.wants_flags(i) {
            return self.unsupported(i, "condition codes of video instructions are not translated");
        }
        let c = self.c_word(i)?;
        let mut insert = |at: u32, bits: u32| {
            let (at, bits) = (self.b.word(at), self.b.word(bits));
            self.b.pure(Ir::Bfi, &[c.0, word.0, at.0, bits.0])
        };
        let r = match i.get(Field::Vop) {
            0 => insert(16, 16),
            1 => insert(0, 16),
            2 => insert(0, 8),
            3 => insert(16, 8),
            4 => self.b.op2(Ir::IAdd, word, c),
            5 => self.b.op2(if signed { Ir::SMin } else { Ir::UMin }, word, c),
            6 => self.b.op2(if signed { Ir::SMax } else { Ir::UMax }, word, c),
            _ => word,
        };
        self.set_dst(i, r);
        Ok(())
    }

    /// Whether a < b and a == b for parts of either sign.
    fn video_order(&mut self, a: Value, sa: bool, b: Value, sb: bool) -> (Value, Value) {
        let same = self.b.op2(Ir::IEq, a, b);
        if sa == sb {
            return (self.b.op2(if sa { Ir::SLt } else { Ir::ULt }, a, b), same);
        }
        // One side is below zero or the order is that of unsigned numbers.
        let zero = self.b.word(0);
        let less = self.b.op2(Ir::ULt, a, b);
        if sa {
            let negative = self.b.op2(Ir::SLt, a, zero);
            let not = self.b.op1(Ir::BNot, negative);
            (self.b.op2(Ir::BOr, negative, less), self.b.op2(Ir::BAnd, same, not))
        } else {
            let negative = self.b.op2(Ir::SLt, b, zero);
            let not = self.b.op1(Ir::BNot, negative);
            (self.b.op2(Ir::BAnd, not, less), self.b.op2(Ir::BAnd, same, not))
        }
    }

    /// A compare by code, of operands that are known to be less or equal.
    pub(super) fn compare_by_order(&mut self, cmp: u32, less: Value, equal: Value) -> Value {
        match cmp {
            0 => self.b.truth(false),
            1 => less,
            2 => equal,
            3 => self.b.op2(Ir::BOr, less, equal),
            4 => {
                let either = self.b.op2(Ir::BOr, less, equal);
                self.b.op1(Ir::BNot, either)
            }
            5 => self.b.op1(Ir::BNot, equal),
            6 => self.b.op1(Ir::BNot, less),
            _ => self.b.truth(true),
        }
    }

    /// VADD, VABSDIFF, VMNMX, VSET, VSETP, VSHL, VSHR, VMAD.
    pub(super) fn video(&mut self, i: &Instr) -> Result<()> {
        let (sa, sb) = (i.flag(Field::Asign), i.flag(Field::Bsign));
        let a_word = self.a(i);
        let a = self.video_part(i, a_word, i.get(Field::Asel), sa)?;
        if matches!(i.op, Op::Vshl | Op::Vshr) {
            return self.video_shift(i, a, sa);
        }
        let b = self.video_b(i, sb)?;
        match i.op {
            Op::Vadd => {
                let (x, y) = (self.widened(a, sa), self.widened(b, sb));
                let v = match i.get(Field::Avg) {
                    0 => self.wide_add(x, y),
                    1 => self.wide_sub(x, y),
                    2 => self.wide_sub(y, x),
                    _ => {
                        let sum = self.wide_add(x, y);
                        let one = self.b.word(1);
                        let one = self.widened(one, false);
                        self.wide_add(sum, one)
                    }
                };
                self.video_result(i, v)
            }
            Op::Vabsdiff => {
                let (less, _) = self.video_order(a, sa, b, sb);
                let (x, y) = (self.widened(a, sa), self.widened(b, sb));
                let (up, down) = (self.wide_sub(x, y), self.wide_sub(y, x));
                let low = self.b.select(less, down.low, up.low);
                let high = self.b.select(less, down.high, up.high);
                self.video_result(i, Wide { low, high })
            }
            Op::Vmnmx => {
                let (less, _) = self.video_order(a, sa, b, sb);
                let (x, y) = (self.widened(a, sa), self.widened(b, sb));
                let (first, second) = if i.flag(Field::Mx) { (y, x) } else { (x, y) };
                let low = self.b.select(less, first.low, second.low);
                let high = self.b.select(less, first.high, second.high);
                self.video_result(i, Wide { low, high })
            }
            Op::Vset => {
                let (less, equal) = self.video_order(a, sa, b, sb);
                let truth = self.compare_by_order(i.get(Field::Cmp), less, equal);
                let (one, zero) = (self.b.word(1), self.b.word(0));
                let word = self.b.select(truth, one, zero);
                self.video_combine(i, word, sa || sb)
            }
            Op::Vsetp => {
                let (less, equal) = self.video_order(a, sa, b, sb);
                let cmp = i.get(Field::Cmphi) << 2 | i.get(Field::Cmplo);
                let truth = self.compare_by_order(cmp, less, equal);
                self.set_compare(i, truth, Field::Bop);
                Ok(())
            }
            _ => self.video_multiply(i, a, b),
        }
    }

    /// VSHL, VSHR: the amount is unsigned, reduced or clamped.
    fn video_shift(&mut self, i: &Instr, a: Value, signed: bool) -> Result<()> {
        let b = if i.has(Field::Imm16) { self.b.word(i.get(Field::Imm16)) } else { self.video_b(i, false)? };
        let left = i.op == Op::Vshl;
        if left && i.flag(Field::Sat) {
            return self.unsupported(i, "what a saturated shift loses is not known");
        }
        let op = match (left, signed) {
            (true, _) => Ir::Shl,
            (false, true) => Ir::Sar,
            (false, false) => Ir::Shr,
        };
        let low = self.shift_word(op, a, b, i.flag(Field::Wrap));
        // A right shift keeps the sign.
        let v = self.widened(low, signed);
        self.video_result(i, v)
    }

    /// VMAD: (a * b, joined with c) >> scale.
    fn video_multiply(&mut self, i: &Instr, a: Value, b: Value) -> Result<()> {
        if self.wants_flags(i) {
            return self.unsupported(i, "condition codes of video instructions are not translated");
        }
        let (sa, sb) = (i.flag(Field::Asign), i.flag(Field::Bsign));
        let signed = sa || sb;
        // The sum fits 64 bits: signed ones whatever the parts are, and unsigned ones but for what is below 0.
        let product = self.wide_product(a, sa, b, sb);
        let c = self.c_word(i)?;
        let c = self.widened(c, signed);
        let (sum, below) = match i.get(Field::Avg) {
            0 => (self.wide_add(product, c), None),
            1 => (self.wide_sub(product, c), Some((product, c))),
            2 => (self.wide_sub(c, product), Some((c, product))),
            _ => {
                let sum = self.wide_add(product, c);
                let one = self.b.word(1);
                let one = self.widened(one, false);
                (self.wide_add(sum, one), None)
            }
        };
        let zero = self.b.word(0);
        let negative = match below {
            _ if signed => self.b.op2(Ir::SLt, sum.high, zero),
            Some((from, less)) => self.wide_less(from, less, false),
            None => self.b.truth(false),
        };
        let v = match i.get(Field::Vscale) {
            0 => sum,
            n @ (1 | 2) => {
                let n = if n == 1 { 7 } else { 15 };
                let (down, up) = (self.b.word(n), self.b.word(32 - n));
                let low = self.b.op2(Ir::Shr, sum.low, down);
                let top = self.b.op2(Ir::Shl, sum.high, up);
                let low = self.b.op2(Ir::Or, low, top);
                Wide { low, high: self.b.op2(if signed { Ir::Sar } else { Ir::Shr }, sum.high, down) }
            }
            _ => return self.unsupported(i, "this scale is not known"),
        };
        let r = if i.flag(Field::Sat) { self.clamp_signed(v, negative, 32, signed) } else { v.low };
        self.set_dst(i, r);
        Ok(())
    }
}
