//! Constant folding and identities, while instructions are made: operands are folded already when an operation asks.
//!
//! Integers wrap. Floats are folded only where rounding cannot matter: signs, conversions from integers, and what is one
//! of the operands bit for bit. Choices by one condition, or by it and its opposite, become one: compilers write pairs
//! of predicated instructions that overwrite one register.

use crate::ir::builder::Builder;
use crate::ir::{Op, Value};

impl Builder {
    /// One operand.
    pub fn op1(&mut self, op: Op, a: Value) -> Value {
        if let Some(c) = self.constant(a) {
            match op {
                Op::FNeg => return self.word(c ^ 0x8000_0000),
                Op::FAbs => return self.word(c & 0x7FFF_FFFF),
                Op::INeg => return self.word(c.wrapping_neg()),
                Op::Not => return self.word(!c),
                Op::BitCount => return self.word(c.count_ones()),
                Op::BitReverse => return self.word(c.reverse_bits()),
                Op::FIsNan => return self.truth(f32::from_bits(c).is_nan()),
                Op::UToF => return self.float(c as f32),
                Op::SToF => return self.float(c as i32 as f32),
                _ => {}
            }
        }
        let inner = *self.f.inst(a);
        match (op, inner.op) {
            (Op::FNeg, Op::FNeg) | (Op::Not, Op::Not) | (Op::INeg, Op::INeg) | (Op::BNot, Op::BNot) => {
                return Value(inner.args[0]);
            }
            (Op::FAbs, Op::FAbs) => return a,
            (Op::FAbs, Op::FNeg) => return self.op1(Op::FAbs, Value(inner.args[0])),
            (Op::DNeg, Op::DNeg) => return Value(inner.args[0]),
            (Op::DLow, Op::DPack) => return Value(inner.args[0]),
            (Op::DHigh, Op::DPack) => return Value(inner.args[1]),
            (Op::BNot, Op::Truth) => return self.truth(inner.args[0] == 0),
            (Op::BNot, other) => {
                if let Some(inverse) = inverse(other) {
                    return self.pure(inverse, &inner.args[..2]);
                }
            }
            _ => {}
        }
        self.pure(op, &[a.0])
    }

    /// Two operands.
    pub fn op2(&mut self, op: Op, mut a: Value, mut b: Value) -> Value {
        if let (Some(x), Some(y)) = (self.constant(a), self.constant(b))
            && let Some(r) = fold_words(op, x, y)
        {
            return self.word(r);
        }
        if let (Some(x), Some(y)) = (self.constant(a), self.constant(b))
            && let Some(r) = fold_compare(op, x, y)
        {
            return self.truth(r);
        }
        if commutes(op) && (self.constant(a).is_some() && self.constant(b).is_none() || self.f.truth(a).is_some()) {
            std::mem::swap(&mut a, &mut b);
        }
        let c = self.constant(b);
        match op {
            Op::IAdd => {
                if c == Some(0) {
                    return a;
                }
                if let (Some(k), Some([x, y, ..])) = (c, self.args(a, Op::IAdd))
                    && let Some(k2) = self.constant(Value(y))
                {
                    let sum = self.word(k.wrapping_add(k2));
                    return self.op2(Op::IAdd, Value(x), sum);
                }
                if let Some([x, ..]) = self.args(b, Op::INeg) {
                    return self.op2(Op::ISub, a, Value(x));
                }
            }
            Op::ISub => {
                if let Some(k) = c {
                    let k = self.word(k.wrapping_neg());
                    return self.op2(Op::IAdd, a, k);
                }
                if self.constant(a) == Some(0) {
                    return self.op1(Op::INeg, b);
                }
                if a == b {
                    return self.word(0);
                }
            }
            Op::IMul => match c {
                Some(0) => return b,
                Some(1) => return a,
                _ => {}
            },
            Op::And | Op::Or | Op::Xor => {
                if let Some(v) = self.logic(op, a, b) {
                    return v;
                }
            }
            Op::Shl | Op::Shr | Op::Sar => {
                if c == Some(0) {
                    return a;
                }
                if let (Op::Shr, Some(k), Some([x, s, ..])) = (op, c, self.args(a, Op::Shl))
                    && self.constant(Value(s)) == Some(k)
                    && k < 32
                {
                    let mask = self.word(u32::MAX >> k);
                    return self.op2(Op::And, Value(x), mask);
                }
            }
            Op::UMax if c == Some(0) => return a,
            Op::IEq | Op::INe => {
                if let Some(v) = self.equal(op, a, b) {
                    return v;
                }
            }
            Op::ULt if c == Some(0) => return self.truth(false),
            Op::UGe if c == Some(0) => return self.truth(true),
            Op::UGt if c == Some(0) => return self.op2(Op::INe, a, b),
            Op::BAnd | Op::BOr | Op::BXor => {
                if let Some(t) = self.f.truth(b) {
                    return match (op, t) {
                        (Op::BAnd, true) | (Op::BOr, false) | (Op::BXor, false) => a,
                        (Op::BXor, true) => self.op1(Op::BNot, a),
                        _ => b,
                    };
                }
                if a == b {
                    return if op == Op::BXor { self.truth(false) } else { a };
                }
            }
            Op::FAdd => {
                if let Some([x, ..]) = self.args(b, Op::FNeg) {
                    return self.op2(Op::FSub, a, Value(x));
                }
                if let Some([x, ..]) = self.args(a, Op::FNeg) {
                    return self.op2(Op::FSub, b, Value(x));
                }
                // |x| + 0 is |x|.
                if c == Some(0) && self.f.inst(a).op == Op::FAbs {
                    return a;
                }
            }
            _ => {}
        }
        if commutes(op) && self.constant(b).is_none() && a.0 > b.0 {
            std::mem::swap(&mut a, &mut b);
        }
        self.pure(op, &[a.0, b.0])
    }

    /// Three operands.
    pub fn op3(&mut self, op: Op, a: Value, b: Value, c: Value) -> Value {
        match op {
            Op::BfeU | Op::BfeS => {
                if let (Some(start), Some(count)) = (self.constant(b), self.constant(c)) {
                    if start == 0 && count >= 32 {
                        return a;
                    }
                    if let Some(k) = self.constant(a)
                        && start < 32
                        && (1..=32 - start).contains(&count)
                    {
                        let up = k << (32 - start - count);
                        let down = 32 - count;
                        return self.word(if op == Op::BfeU { up >> down } else { (up as i32 >> down) as u32 });
                    }
                }
            }
            Op::SelectB => {
                if let Some(t) = self.f.truth(a) {
                    return if t { b } else { c };
                }
                if b == c {
                    return b;
                }
                match (self.f.truth(b), self.f.truth(c)) {
                    (Some(true), _) => return self.op2(Op::BOr, a, c),
                    (_, Some(false)) => return self.op2(Op::BAnd, a, b),
                    (Some(false), _) => {
                        let n = self.op1(Op::BNot, a);
                        return self.op2(Op::BAnd, n, c);
                    }
                    (_, Some(true)) => {
                        let n = self.op1(Op::BNot, a);
                        return self.op2(Op::BOr, n, b);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        self.pure(op, &[a.0, b.0, c.0])
    }

    /// Is `a` true exactly when `b` is not?
    fn opposite(&self, a: Value, b: Value) -> bool {
        let (x, y) = (self.f.inst(a), self.f.inst(b));
        x.op == Op::BNot && Value(x.args[0]) == b
            || y.op == Op::BNot && Value(y.args[0]) == a
            || inverse(x.op) == Some(y.op) && x.args == y.args
    }

    /// What `v` is where the truth of `c` is `holds`: one side of a choice by the same condition.
    fn given(&self, mut v: Value, c: Value, holds: bool) -> Value {
        while let Some([inner, a, b, ..]) = self.args(v, Op::Select) {
            let inner = Value(inner);
            if inner == c {
                v = Value(if holds { a } else { b });
            } else if self.opposite(inner, c) {
                v = Value(if holds { b } else { a });
            } else {
                break;
            }
        }
        v
    }

    /// `c ? a : b` of words.
    pub fn select(&mut self, c: Value, a: Value, b: Value) -> Value {
        if let Some(t) = self.f.truth(c) {
            return if t { a } else { b };
        }
        // Instructions in pairs, one under a predicate and one under its opposite, overwrite one register.
        let (a, b) = (self.given(a, c, true), self.given(b, c, false));
        if a == b {
            return a;
        }
        if let Some([inner, ..]) = self.args(c, Op::BNot) {
            return self.select(Value(inner), b, a);
        }
        self.pure(Op::Select, &[c.0, a.0, b.0])
    }

    /// The condition of which `v` is `c ? x : y` with constants x and y.
    fn choice(&self, v: Value) -> Option<(Value, u32, u32)> {
        let [c, a, b, ..] = self.args(v, Op::Select)?;
        Some((Value(c), self.constant(Value(a))?, self.constant(Value(b))?))
    }

    /// The condition of which `v` is the mask: `c ? ~0 : 0`.
    fn mask(&self, v: Value) -> Option<Value> {
        match self.choice(v)? {
            (c, u32::MAX, 0) => Some(c),
            _ => None,
        }
    }

    fn logic(&mut self, op: Op, a: Value, b: Value) -> Option<Value> {
        if a == b {
            return Some(if op == Op::Xor { self.word(0) } else { a });
        }
        if let Some(k) = self.constant(b) {
            match (op, k) {
                (Op::And, u32::MAX) | (Op::Or | Op::Xor, 0) => return Some(a),
                (Op::And, 0) | (Op::Or, u32::MAX) => return Some(b),
                (Op::Xor, u32::MAX) if self.choice(a).is_none() => return Some(self.op1(Op::Not, a)),
                _ => {}
            }
            if let Some((c, x, y)) = self.choice(a) {
                let (x, y) = (fold_words(op, x, k)?, fold_words(op, y, k)?);
                let (x, y) = (self.word(x), self.word(y));
                return Some(self.select(c, x, y));
            }
        }
        let (x, y) = (self.mask(a)?, self.mask(b)?);
        let joined = match op {
            Op::And => self.op2(Op::BAnd, x, y),
            Op::Or => self.op2(Op::BOr, x, y),
            _ => self.op2(Op::BXor, x, y),
        };
        let (ones, zero) = (self.word(u32::MAX), self.word(0));
        Some(self.select(joined, ones, zero))
    }

    fn equal(&mut self, op: Op, a: Value, b: Value) -> Option<Value> {
        if a == b {
            return Some(self.truth(op == Op::IEq));
        }
        let k = self.constant(b)?;
        let (c, x, y) = self.choice(a)?;
        let test = |v: u32| (v == k) == (op == Op::IEq);
        Some(match (test(x), test(y)) {
            (true, true) => self.truth(true),
            (false, false) => self.truth(false),
            (true, false) => c,
            (false, true) => self.op1(Op::BNot, c),
        })
    }
}

fn commutes(op: Op) -> bool {
    matches!(
        op,
        Op::IAdd
            | Op::IMul
            | Op::And
            | Op::Or
            | Op::Xor
            | Op::UMin
            | Op::UMax
            | Op::SMin
            | Op::SMax
            | Op::UMulHi
            | Op::SMulHi
            | Op::FAdd
            | Op::FMul
            | Op::IEq
            | Op::INe
            | Op::BAnd
            | Op::BOr
            | Op::BXor
    )
}

/// The compare that is true when `op` is not.
fn inverse(op: Op) -> Option<Op> {
    Some(match op {
        Op::IEq => Op::INe,
        Op::INe => Op::IEq,
        Op::ULt => Op::UGe,
        Op::UGe => Op::ULt,
        Op::ULe => Op::UGt,
        Op::UGt => Op::ULe,
        Op::SLt => Op::SGe,
        Op::SGe => Op::SLt,
        Op::SLe => Op::SGt,
        Op::SGt => Op::SLe,
        Op::FLt => Op::FGeU,
        Op::FLe => Op::FGtU,
        Op::FGt => Op::FLeU,
        Op::FGe => Op::FLtU,
        Op::FEq => Op::FNeU,
        Op::FNe => Op::FEqU,
        Op::FLtU => Op::FGe,
        Op::FLeU => Op::FGt,
        Op::FGtU => Op::FLe,
        Op::FGeU => Op::FLt,
        Op::FEqU => Op::FNe,
        Op::FNeU => Op::FEq,
        _ => return None,
    })
}

fn fold_words(op: Op, x: u32, y: u32) -> Option<u32> {
    Some(match op {
        Op::IAdd => x.wrapping_add(y),
        Op::ISub => x.wrapping_sub(y),
        Op::IMul => x.wrapping_mul(y),
        Op::And => x & y,
        Op::Or => x | y,
        Op::Xor => x ^ y,
        Op::Shl if y < 32 => x << y,
        Op::Shr if y < 32 => x >> y,
        Op::Sar if y < 32 => (x as i32 >> y) as u32,
        Op::UMin => x.min(y),
        Op::UMax => x.max(y),
        Op::SMin => (x as i32).min(y as i32) as u32,
        Op::SMax => (x as i32).max(y as i32) as u32,
        Op::UMulHi => ((u64::from(x) * u64::from(y)) >> 32) as u32,
        Op::SMulHi => ((i64::from(x as i32) * i64::from(y as i32)) >> 32) as u32,
        _ => return None,
    })
}

fn fold_compare(op: Op, x: u32, y: u32) -> Option<bool> {
    let (s, t) = (x as i32, y as i32);
    Some(match op {
        Op::IEq => x == y,
        Op::INe => x != y,
        Op::ULt => x < y,
        Op::ULe => x <= y,
        Op::UGt => x > y,
        Op::UGe => x >= y,
        Op::SLt => s < t,
        Op::SLe => s <= t,
        Op::SGt => s > t,
        Op::SGe => s >= t,
        _ => return None,
    })
}
