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
        let product = |s: &mut Self, a: Value, b: Value| -> Result<Value> {
            if !i.flag(Field::Hi) {
                return Ok(s.b.op2(Ir::IMul, a, b));
            }
            Ok(match (i.flag(Field::Sa), i.flag(Field::Sb)) {
                (true, true) => s.b.op2(Ir::SMulHi, a, b),
                (false, false) => s.b.op2(Ir::UMulHi, a, b),
                // Signed times unsigned: the unsigned high word, less the other operand when the sign is set.
                (sa, _) => {
                    let high = s.b.op2(Ir::UMulHi, a, b);
                    let (signed, other) = if sa { (a, b) } else { (b, a) };
                    let thirty_one = s.b.word(31);
                    let sign = s.b.op2(Ir::Sar, signed, thirty_one);
                    let less = s.b.op2(Ir::And, sign, other);
                    s.b.op2(Ir::ISub, high, less)
                }
            })
        };
        let result = match i.op {
            Op::Imul | Op::Imul32i => {
                let r = product(self, a, b)?;
                self.result_flags(i, r);
                r
            }
            Op::Imad | Op::Imad32i => {
                let c = if i.op == Op::Imad { self.c_word(i)? } else { self.reg(i.get(Field::Dst)) };
                if i.flag(Field::Sat) || i.flag(Field::Nc) || i.flag(Field::Nab) {
                    return self.unsupported(i, "which operand the negation bits of IMAD mean is not certain");
                }
                let p = product(self, a, b)?;
                self.add_words(i, p, c, false, i.flag(Field::X))
            }
            Op::Xmad => {
                let c = self.c_word(i)?;
                self.xmad(i, a, b, c)?
            }
            _ => return self.unsupported(i, "no translation is known"),
        };
        self.set_dst(i, result);
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
