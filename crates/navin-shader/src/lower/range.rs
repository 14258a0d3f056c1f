//! What is seen of a word at translation: how large it can be, and its low bits.
//!
//! Asked by those who choose among places by a computed number: memory, attributes. Answers are bounds, never guesses.

use super::Lower;
use crate::ir::{Builtin, Op as Ir, Value};

/// How deep an expression is searched.
const SEARCH: u32 = 8;
impl Lower<'_, '_> {
    /// The largest that a word can be; `u32::MAX` where nothing is known.
    pub(super) fn most(&self, v: Value) -> u32 {
        self.most_at(v, SEARCH)
    }

    fn most_at(&self, v: Value, depth: u32) -> u32 {
        let inst = self.b.f.inst(v);
        let (x, y) = (Value(inst.args[0]), Value(inst.args[1]));
        if inst.op == Ir::Const {
            return inst.args[0];
        }
        let Some(depth) = depth.checked_sub(1) else { return u32::MAX };
        match inst.op {
            Ir::And => self.most_at(x, depth).min(self.most_at(y, depth)),
            Ir::UMin => self.most_at(x, depth).min(self.most_at(y, depth)),
            Ir::Shr => {
                let k = self.b.f.constant(y);
                k.map_or(u32::MAX, |k| self.most_at(x, depth).checked_shr(k).unwrap_or(u32::MAX))
            }
            Ir::BfeU => match self.b.f.constant(Value(inst.args[2])) {
                Some(count @ 0..=31) => (1 << count) - 1,
                _ => u32::MAX,
            },
            Ir::Shl => {
                let most = self
                    .b
                    .f
                    .constant(y)
                    .and_then(|k| 1u32.checked_shl(k))
                    .and_then(|k| self.most_at(x, depth).checked_mul(k));
                most.unwrap_or(u32::MAX)
            }
            Ir::IMul => self.most_at(x, depth).saturating_mul(self.most_at(y, depth)),
            Ir::IAdd => self.most_at(x, depth).saturating_add(self.most_at(y, depth)),
            // A multiple less the number itself.
            Ir::ISub if self.b.f.inst(x).args[0] == y.0 && matches!(self.b.f.inst(x).op, Ir::Shl | Ir::IMul) => {
                let k = self.b.f.constant(Value(self.b.f.inst(x).args[1]));
                if k.is_some_and(|k| k != 0) { self.most_at(x, depth) } else { u32::MAX }
            }
            Ir::Select => self.most_at(y, depth).max(self.most_at(Value(inst.args[2]), depth)),
            Ir::Builtin => {
                let [x, y, z] = self.program.local_size;
                let groups = self.options.max_groups.map(|n| n.max(1));
                let sizes = [
                    (Builtin::LocalIdX, x),
                    (Builtin::LocalIdY, y),
                    (Builtin::LocalIdZ, z),
                    (Builtin::LocalIndex, x * y * z),
                    (Builtin::GroupIdX, groups[0]),
                    (Builtin::GroupIdY, groups[1]),
                    (Builtin::GroupIdZ, groups[2]),
                ];
                sizes.iter().find(|(which, _)| *which as u32 == inst.args[0]).map_or(u32::MAX, |(_, size)| size - 1)
            }
            _ => u32::MAX,
        }
    }

    /// The least that a word can be: a sum with a constant is no less than that where it does not wrap.
    pub(super) fn least(&self, v: Value) -> u32 {
        let inst = self.b.f.inst(v);
        match inst.op {
            Ir::Const => inst.args[0],
            Ir::IAdd if self.most(v) != u32::MAX => {
                [inst.args[0], inst.args[1]].iter().filter_map(|&x| self.b.f.constant(Value(x))).max().unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// How many low bits of a word are known, and what they are.
    pub(super) fn low_bits(&self, v: Value) -> (u32, u32) {
        self.low_bits_at(v, SEARCH)
    }

    fn low_bits_at(&self, v: Value, depth: u32) -> (u32, u32) {
        let inst = self.b.f.inst(v);
        let (x, y) = (Value(inst.args[0]), Value(inst.args[1]));
        if inst.op == Ir::Const {
            return (32, inst.args[0]);
        }
        let Some(depth) = depth.checked_sub(1) else { return (0, 0) };
        let low = |bits: u32, value: u32| (bits, if bits >= 32 { value } else { value & ((1 << bits) - 1) });
        match inst.op {
            Ir::Shl => match self.b.f.constant(y) {
                Some(k @ 0..=31) => {
                    let (bits, value) = self.low_bits_at(x, depth);
                    low((bits + k).min(32), value << k)
                }
                _ => (0, 0),
            },
            Ir::IMul => self.b.f.constant(y).map_or((0, 0), |k| (k.trailing_zeros(), 0)),
            Ir::And => self.b.f.constant(y).map_or((0, 0), |k| (k.trailing_zeros(), 0)),
            Ir::IAdd | Ir::ISub => {
                let (a, b) = (self.low_bits_at(x, depth), self.low_bits_at(y, depth));
                let sum = if inst.op == Ir::IAdd { a.1.wrapping_add(b.1) } else { a.1.wrapping_sub(b.1) };
                low(a.0.min(b.0), sum)
            }
            _ => (0, 0),
        }
    }
}
