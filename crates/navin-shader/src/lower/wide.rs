//! Numbers of 64 bits as two words.

use super::Lower;
use crate::ir::{Op as Ir, Value};

/// A number of 64 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wide {
    pub low: Value,
    pub high: Value,
}

impl Lower<'_, '_> {
    /// A word extended by its sign or zeros.
    pub(super) fn widened(&mut self, low: Value, signed: bool) -> Wide {
        let high = if signed {
            let n = self.b.word(31);
            self.b.op2(Ir::Sar, low, n)
        } else {
            self.b.word(0)
        };
        Wide { low, high }
    }

    /// The pair of registers from `n` on.
    pub(super) fn wide_register(&mut self, n: u32) -> Wide {
        let low = self.reg(n);
        let high = if n == 255 { low } else { self.reg(n + 1) };
        Wide { low, high }
    }

    /// Writes the pair of registers from `n` on.
    pub(super) fn set_wide(&mut self, n: u32, v: Wide) {
        if n != 255 {
            self.set_reg(n, v.low);
            self.set_reg(n + 1, v.high);
        }
    }

    pub(super) fn wide_add(&mut self, a: Wide, b: Wide) -> Wide {
        let low = self.b.op2(Ir::IAdd, a.low, b.low);
        let carried = self.b.op2(Ir::ULt, low, a.low);
        let (one, zero) = (self.b.word(1), self.b.word(0));
        let carry = self.b.select(carried, one, zero);
        let high = self.b.op2(Ir::IAdd, a.high, b.high);
        Wide { low, high: self.b.op2(Ir::IAdd, high, carry) }
    }

    pub(super) fn wide_negate(&mut self, a: Wide) -> Wide {
        let low = self.b.op1(Ir::INeg, a.low);
        let zero = self.b.word(0);
        let borrowed = self.b.op2(Ir::INe, a.low, zero);
        let one = self.b.word(1);
        let borrow = self.b.select(borrowed, one, zero);
        let high = self.b.op1(Ir::INeg, a.high);
        Wide { low, high: self.b.op2(Ir::ISub, high, borrow) }
    }

    pub(super) fn wide_sub(&mut self, a: Wide, b: Wide) -> Wide {
        let low = self.b.op2(Ir::ISub, a.low, b.low);
        let borrowed = self.b.op2(Ir::ULt, a.low, b.low);
        let (one, zero) = (self.b.word(1), self.b.word(0));
        let borrow = self.b.select(borrowed, one, zero);
        let high = self.b.op2(Ir::ISub, a.high, b.high);
        Wide { low, high: self.b.op2(Ir::ISub, high, borrow) }
    }

    /// `c ? a : b`.
    pub(super) fn select_wide(&mut self, c: Value, a: Wide, b: Wide) -> Wide {
        Wide { low: self.b.select(c, a.low, b.low), high: self.b.select(c, a.high, b.high) }
    }

    /// Unsigned a < b.
    pub(super) fn wide_less(&mut self, a: Wide, b: Wide, signed: bool) -> Value {
        let high = self.b.op2(if signed { Ir::SLt } else { Ir::ULt }, a.high, b.high);
        let same = self.b.op2(Ir::IEq, a.high, b.high);
        let low = self.b.op2(Ir::ULt, a.low, b.low);
        let low = self.b.op2(Ir::BAnd, same, low);
        self.b.op2(Ir::BOr, high, low)
    }

    /// `v << n`, n up to 63.
    pub(super) fn shift_wide_left(&mut self, v: Wide, n: Value) -> Wide {
        let low = self.shift_word(Ir::Shl, v.low, n, false);
        Wide { low, high: self.wide_left(v.low, v.high, n) }
    }

    /// `v >> n` with zeros, n up to 64.
    pub(super) fn shift_wide_right(&mut self, v: Wide, n: Value) -> Wide {
        let high = self.shift_word(Ir::Shr, v.high, n, false);
        Wide { low: self.wide_right(v.low, v.high, n, false), high }
    }

    /// The product of two words, each signed or not.
    pub(super) fn wide_product(&mut self, a: Value, sa: bool, b: Value, sb: bool) -> Wide {
        let low = self.b.op2(Ir::IMul, a, b);
        Wide { low, high: self.high_product(a, sa, b, sb) }
    }
}
