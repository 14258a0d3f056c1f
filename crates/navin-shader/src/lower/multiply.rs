//! Integer products: IMUL, IMAD, and XMAD, of which compilers make 32-bit products in three steps.
//!
//! What each XMAD result is made of is remembered, so that the last step becomes one multiplication.

use super::{Lower, Result};
use crate::ir::{Op as Ir, Value};
use crate::isa::{Field, Instr, Op};

/// What an XMAD result is made of, so that three of them are seen as one product.
#[derive(Clone, Copy, Debug)]
pub struct Multiply {
    a: Value,
    b: Value,
    /// Added word, for the low product.
    addend: Value,
    /// The middle product with the low half of b on top, rather than the low product.
    middle: bool,
}

impl Lower<'_, '_> {
    /// IMUL, IMAD, XMAD.
    pub(super) fn multiply(&mut self, i: &Instr) -> Result<()> {
        let a = self.a(i);
        let b = self.b_word(i)?;
        let (sa, sb) = (i.flag(Field::Sa), i.flag(Field::Sb));
        let result = match i.op {
            Op::Imul | Op::Imul32i => {
                let r = self.product(i, a, b);
                self.result_flags(i, r);
                r
            }
            Op::Imad | Op::Imad32i => {
                let c = if i.op == Op::Imad { self.c_word(i)? } else { self.reg(i.get(Field::Dst)) };
                // A negated product is a complement plus one; that of the high word is the high word of the negated
                // 64-bit product.
                let p = if i.flag(Field::Nab) {
                    let whole = self.wide_product(a, sa, b, sb);
                    let whole = self.wide_negate(whole);
                    if i.flag(Field::Hi) { whole.high } else { whole.low }
                } else {
                    self.product(i, a, b)
                };
                if i.flag(Field::Sat) {
                    self.saturated_mad(i, p, c)?
                } else if i.flag(Field::Nc) && (i.flag(Field::X) || self.wants_flags(i)) {
                    let c = self.b.op1(Ir::Not, c);
                    self.add_words(i, p, c, true, i.flag(Field::X))
                } else {
                    let c = if i.flag(Field::Nc) { self.b.op1(Ir::INeg, c) } else { c };
                    self.add_words(i, p, c, false, i.flag(Field::X))
                }
            }
            Op::Xmad => {
                let c = self.c_word(i)?;
                self.xmad(i, a, b, c)?
            }
            _ => self.dot_product(i, a, b)?,
        };
        self.set_dst(i, result);
        Ok(())
    }

    /// The low word of a product, or its high one.
    fn product(&mut self, i: &Instr, a: Value, b: Value) -> Value {
        if i.flag(Field::Hi) {
            self.high_product(a, i.flag(Field::Sa), b, i.flag(Field::Sb))
        } else {
            self.b.op2(Ir::IMul, a, b)
        }
    }

    /// The high word of a product of two words, each signed or not.
    pub(super) fn high_product(&mut self, a: Value, sa: bool, b: Value, sb: bool) -> Value {
        match (sa, sb) {
            (true, true) => self.b.op2(Ir::SMulHi, a, b),
            (false, false) => self.b.op2(Ir::UMulHi, a, b),
            // Signed times unsigned: the unsigned high word, less the other operand when the sign is set.
            (sa, _) => {
                let high = self.b.op2(Ir::UMulHi, a, b);
                let (signed, other) = if sa { (a, b) } else { (b, a) };
                let thirty_one = self.b.word(31);
                let sign = self.b.op2(Ir::Sar, signed, thirty_one);
                let less = self.b.op2(Ir::And, sign, other);
                self.b.op2(Ir::ISub, high, less)
            }
        }
    }

    /// p ± c clamped to a signed word.
    fn saturated_mad(&mut self, i: &Instr, p: Value, c: Value) -> Result<Value> {
        if i.flag(Field::X) || self.wants_flags(i) {
            return self.unsupported(i, "carries of saturated products are not known");
        }
        let (p, c) = (self.widened(p, true), self.widened(c, true));
        let sum = if i.flag(Field::Nc) { self.wide_sub(p, c) } else { self.wide_add(p, c) };
        Ok(self.wide_clamp(sum, 32, true))
    }

    /// IDP: four products of bytes, or two of a's halves with two bytes of b, and c.
    fn dot_product(&mut self, i: &Instr, a: Value, b: Value) -> Result<Value> {
        let mut sum = self.c_word(i)?;
        let (sa, sb) = (i.flag(Field::Sa), i.flag(Field::Sb));
        let two = i.flag(Field::Is2a);
        let (count, bits, base) = match (two, i.flag(Field::Hi)) {
            (false, _) => (4, 8, 0),
            (true, high) => (2, 16, if high { 16 } else { 0 }),
        };
        for k in 0..count {
            let (at, n) = (self.b.word(bits * k), self.b.word(bits));
            let x = self.b.op3(if sa { Ir::BfeS } else { Ir::BfeU }, a, at, n);
            let (at, n) = (self.b.word(base + 8 * k), self.b.word(8));
            let y = self.b.op3(if sb { Ir::BfeS } else { Ir::BfeU }, b, at, n);
            let p = self.b.op2(Ir::IMul, x, y);
            sum = self.b.op2(Ir::IAdd, sum, p);
        }
        Ok(sum)
    }

    /// IMADSP: parts of a and b multiplied, part of c added.
    pub(super) fn part_multiply(&mut self, i: &Instr) -> Result<()> {
        if self.wants_flags(i) {
            return self.unsupported(i, "condition codes of products of parts are not known");
        }
        let (a, b, c) = (self.a(i), self.b_word(i)?, self.c_word(i)?);
        let (asel, bsel, csel) = (i.get(Field::Asel), i.get(Field::Bsel), i.get(Field::Csel));
        let part = |s: &mut Self, v: Value, at: u32, bits: u32, signed: bool| {
            let (at, bits) = (s.b.word(at), s.b.word(bits));
            s.b.op3(if signed { Ir::BfeS } else { Ir::BfeU }, v, at, bits)
        };
        let signed = asel & 1 != 0;
        let a = match asel >> 1 {
            0 => a,
            1 => part(self, a, 0, 24, signed),
            2 => part(self, a, 0, 16, signed),
            _ => part(self, a, 16, 16, signed),
        };
        let b = part(self, b, 0, if bsel < 2 { 24 } else { 16 }, bsel & 1 != 0);
        let c = match csel {
            0 => c,
            1 => part(self, c, 0, 24, signed),
            2 => part(self, c, 0, 16, signed),
            _ => return self.unsupported(i, "this part of the addend is not known"),
        };
        let p = self.b.op2(Ir::IMul, a, b);
        let r = self.b.op2(Ir::IAdd, p, c);
        self.set_dst(i, r);
        Ok(())
    }

    fn xmad(&mut self, i: &Instr, a: Value, b: Value, c: Value) -> Result<Value> {
        let (ha, hb) = (i.flag(Field::Ha), i.flag(Field::Hb));
        let (sa, sb) = (i.flag(Field::Sa), i.flag(Field::Sb));
        let (psl, mrg, mode) = (i.flag(Field::Psl), i.flag(Field::Mrg), i.get(Field::Cmode));
        let plain = !(sa || sb || i.flag(Field::X) || self.wants_flags(i));
        // The last of the three steps of a 32-bit product.
        if plain
            && ha
            && hb
            && psl
            && !mrg
            && mode == 4
            && let (Some(&mid), Some(&low)) = (self.m.multiplies.get(&b), self.m.multiplies.get(&c))
            && mid.middle
            && !low.middle
            && mid.a == a
            && low.a == a
            && low.b == mid.b
        {
            let p = self.b.op2(Ir::IMul, a, mid.b);
            return Ok(self.b.op2(Ir::IAdd, p, low.addend));
        }
        // With an immediate of 16 bits the product has two steps.
        if plain
            && ha
            && !hb
            && psl
            && !mrg
            && mode == 0
            && self.b.f.constant(b).is_some_and(|k| k < 0x10000)
            && let Some(&low) = self.m.multiplies.get(&c)
            && !low.middle
            && low.a == a
            && low.b == b
        {
            let p = self.b.op2(Ir::IMul, a, b);
            return Ok(self.b.op2(Ir::IAdd, p, low.addend));
        }
        let half = |s: &mut Self, v: Value, high: bool, signed: bool| {
            let (at, sixteen) = (s.b.word(if high { 16 } else { 0 }), s.b.word(16));
            s.b.op3(if signed { Ir::BfeS } else { Ir::BfeU }, v, at, sixteen)
        };
        let x = half(self, a, ha, sa);
        let y = half(self, b, hb, sb);
        let sixteen = self.b.word(16);
        let mut p = self.b.op2(Ir::IMul, x, y);
        if psl {
            p = self.b.op2(Ir::Shl, p, sixteen);
        }
        let low_half = self.b.word(0xFFFF);
        let addend = match mode {
            0 => c,
            1 => self.b.op2(Ir::And, c, low_half),
            2 => self.b.op2(Ir::Shr, c, sixteen),
            3 => {
                let k = self.b.word(0x10000);
                let zero = self.b.word(0);
                let mut sum = c;
                for (mine, other, other_half) in [(x, b, !hb), (y, a, !ha)] {
                    let negative = self.b.op2(Ir::SLt, mine, zero);
                    let rest = half(self, other, other_half, false);
                    let some = self.b.op2(Ir::INe, rest, zero);
                    let both = self.b.op2(Ir::BAnd, negative, some);
                    let less = self.b.select(both, k, zero);
                    sum = self.b.op2(Ir::ISub, sum, less);
                }
                sum
            }
            4 => {
                let top = self.b.op2(Ir::Shl, b, sixteen);
                self.b.op2(Ir::IAdd, c, top)
            }
            _ => return self.unsupported(i, "this mode of the addend is not known"),
        };
        let mut r = self.add_words(i, p, addend, false, i.flag(Field::X));
        if mrg {
            let low = self.b.op2(Ir::And, r, low_half);
            let top = self.b.op2(Ir::Shl, b, sixteen);
            r = self.b.op2(Ir::Or, low, top);
        }
        if plain && !ha && !psl && mode == 0 {
            if hb && mrg && self.b.f.constant(c) == Some(0) {
                self.m.multiplies.insert(r, Multiply { a, b, addend: c, middle: true });
            } else if !hb && !mrg {
                self.m.multiplies.insert(r, Multiply { a, b, addend: c, middle: false });
            }
        }
        Ok(r)
    }
}
