//! Warp operations: SHFL, FSWZADD, VOTE.
//!
//! On 32-lane devices they are subgroup operations. Fragment programs use them inside quads mostly (derivatives), and
//! those forms work on any subgroup size. Compute programs on other devices exchange through shared memory.

use super::{Lower, Result};
use crate::Stage;
use crate::ir::{Builtin, Op as Ir, Value};
use crate::isa::{Field, Instr, Op};

/// c operand of SHFL for exchanges inside a quad: segments of four lanes.
const QUAD: u32 = 0x1C03;

impl Lower<'_, '_> {
    /// The lane's number in its warp.
    pub(super) fn lane(&mut self) -> Value {
        if self.options.emulates_warps(self.program.stage) {
            // A warp is 32 threads in a row.
            let index = self.builtin(Builtin::LocalIndex);
            let mask = self.b.word(31);
            return self.b.op2(Ir::And, index, mask);
        }
        self.builtin(Builtin::LaneId)
    }

    /// A number that no other instruction has: what reads other lanes is never shared across places.
    fn new_place(&mut self) -> u32 {
        self.place += 1;
        self.place
    }

    /// SHFL, FSWZADD, VOTE.
    pub(super) fn warp(&mut self, i: &Instr) -> Result<()> {
        match i.op {
            Op::Shfl => self.shuffle(i),
            Op::Fswzadd => self.quad_add(i),
            _ => self.vote(i),
        }
    }

    fn needs_warps(&self, i: &Instr) -> Result<()> {
        let stage = self.program.stage;
        if !self.options.emulates_warps(stage) {
            // To a graphics program a smaller subgroup is a warp of which some lanes are not there.
            return match self.options.subgroup_size {
                ..=32 => Ok(()),
                _ => self.unsupported(i, "subgroups of more than 32 lanes are no warps"),
            };
        }
        // Shared memory takes barriers, which all threads of the workgroup have to meet.
        if self.m.levels[self.current as usize] > 0 {
            return self.unsupported(i, "in divergent code, warp operations need subgroups of 32 lanes");
        }
        Ok(())
    }

    fn shuffle(&mut self, i: &Instr) -> Result<()> {
        let a = self.a(i);
        let b = if i.has(Field::Lane5) { self.b.word(i.get(Field::Lane5)) } else { self.reg(i.get(Field::B)) };
        let c = if i.has(Field::Cimm13) { self.b.word(i.get(Field::Cimm13)) } else { self.reg(i.get(Field::C)) };
        let mode = i.get(Field::Mode);
        let (lane, limit) = (self.b.f.constant(b), self.b.f.constant(c));
        if self.program.stage == Stage::Fragment && limit == Some(QUAD) {
            let v = match (mode, lane) {
                (3, Some(n @ 1..=3)) => Some(self.b.pure(Ir::QuadSwap, &[a.0, n - 1])),
                (3, Some(0)) => Some(a),
                (0, Some(n)) => Some(self.b.pure(Ir::QuadBroadcast, &[a.0, n & 3])),
                (0, None) => {
                    // Each lane may name another source: a choice among the four.
                    let three = self.b.word(3);
                    let n = self.b.op2(Ir::And, b, three);
                    let mut v = self.b.pure(Ir::QuadBroadcast, &[a.0, 0]);
                    for k in 1..4 {
                        let other = self.b.pure(Ir::QuadBroadcast, &[a.0, k]);
                        let at = self.b.word(k);
                        let here = self.b.op2(Ir::IEq, n, at);
                        v = self.b.select(here, other, v);
                    }
                    Some(v)
                }
                _ => None,
            };
            if let Some(v) = v {
                self.set_dst(i, v);
                let yes = self.b.truth(true);
                self.set_predicate(i.get(Field::Pd), yes);
                return Ok(());
            }
        }
        self.needs_warps(i)?;
        let me = self.lane();
        let (zero, thirty_one, eight) = (self.b.word(0), self.b.word(31), self.b.word(8));
        let clamp = self.b.op2(Ir::And, c, thirty_one);
        let segment = self.b.op2(Ir::Shr, c, eight);
        let segment = self.b.op2(Ir::And, segment, thirty_one);
        let inverse = self.b.op2(Ir::Xor, segment, thirty_one);
        let low = self.b.op2(Ir::And, me, segment);
        let high = self.b.op2(Ir::And, clamp, inverse);
        let high = self.b.op2(Ir::Or, low, high);
        let b = self.b.op2(Ir::And, b, thirty_one);
        let (source, valid) = match mode {
            0 => {
                let n = self.b.op2(Ir::And, b, inverse);
                let n = self.b.op2(Ir::Or, low, n);
                (n, self.b.op2(Ir::SLe, n, high))
            }
            1 => {
                let n = self.b.op2(Ir::ISub, me, b);
                (n, self.b.op2(Ir::SGe, n, high))
            }
            2 => {
                let n = self.b.op2(Ir::IAdd, me, b);
                (n, self.b.op2(Ir::SLe, n, high))
            }
            _ => {
                let n = self.b.op2(Ir::Xor, me, b);
                (n, self.b.op2(Ir::SLe, n, high))
            }
        };
        let _ = zero;
        let lane = self.b.op2(Ir::And, source, thirty_one);
        let place = self.new_place();
        let other = self.b.pure(Ir::Shuffle, &[a.0, lane.0, place]);
        let v = self.b.select(valid, other, a);
        self.set_dst(i, v);
        self.set_predicate(i.get(Field::Pd), valid);
        Ok(())
    }

    /// FSWZADD: differences inside a quad. With the neighbour of the same value they are derivatives.
    fn quad_add(&mut self, i: &Instr) -> Result<()> {
        if self.program.stage != Stage::Fragment {
            return self.unsupported(i, "quads are known in fragment programs only");
        }
        if i.get(Field::Rnd) != 0 {
            return self.unsupported(i, "sums in a quad are rounded to nearest even only");
        }
        let a = self.a(i);
        let b = self.reg(i.get(Field::B));
        let ops = i.get(Field::Ops);
        let neighbour = *self.b.f.inst(a);
        let derivative = match (neighbour.op, neighbour.args[1], ops) {
            (Ir::QuadSwap, 0, 0x99) if neighbour.args[0] == b.0 => Some(Ir::DPdx),
            (Ir::QuadSwap, 1, 0xA5) if neighbour.args[0] == b.0 => Some(Ir::DPdy),
            _ => None,
        };
        let r = if let Some(op) = derivative { self.b.op1(op, b) } else { self.quad_sum(a, b, ops) };
        self.set_dst(i, r);
        Ok(())
    }

    /// The general form: each lane of the quad has its own signs.
    fn quad_sum(&mut self, a: Value, b: Value, ops: u32) -> Value {
        let lane = self.lane();
        // Lane 0 has the top pair of bits.
        let code = |n: u32| ops >> (6 - 2 * n) & 3;
        let sum = |s: &mut Self, code: u32| match code {
            0 => s.b.op2(Ir::FAdd, a, b),
            1 => s.b.op2(Ir::FSub, b, a),
            2 => s.b.op2(Ir::FSub, a, b),
            _ => b,
        };
        let mut r = sum(self, code(0));
        let three = self.b.word(3);
        let n = self.b.op2(Ir::And, lane, three);
        // Codes that are alike are tested together by the bit that tells them apart.
        if code(0) == code(2) && code(1) == code(3) {
            let one = self.b.word(1);
            let odd = self.b.op2(Ir::And, lane, one);
            let zero = self.b.word(0);
            let odd = self.b.op2(Ir::INe, odd, zero);
            let other = sum(self, code(1));
            return self.b.select(odd, other, r);
        }
        if code(0) == code(1) && code(2) == code(3) {
            let two = self.b.word(2);
            let low = self.b.op2(Ir::And, lane, two);
            let zero = self.b.word(0);
            let low = self.b.op2(Ir::INe, low, zero);
            let other = sum(self, code(2));
            return self.b.select(low, other, r);
        }
        for k in 1..4 {
            let at = self.b.word(k);
            let here = self.b.op2(Ir::IEq, n, at);
            let other = sum(self, code(k));
            r = self.b.select(here, other, r);
        }
        r
    }

    fn vote(&mut self, i: &Instr) -> Result<()> {
        self.needs_warps(i)?;
        let p = self.source_predicate(i);
        let place = self.new_place();
        // Threads that have ended do not vote.
        let alive = self.m.slots[self.slots.alive() as usize];
        let not = self.b.op1(Ir::BNot, alive);
        let for_all = self.b.op2(Ir::BOr, p, not);
        let p = self.b.op2(Ir::BAnd, p, alive);
        if i.get(Field::Dst) != 255 {
            let mask = self.b.pure(Ir::Ballot, &[p.0, place]);
            self.set_dst(i, mask);
        }
        if i.get(Field::Pd) != 7 {
            let r = match i.get(Field::Mode) {
                0 => self.b.pure(Ir::VoteAll, &[for_all.0, place]),
                1 => self.b.pure(Ir::VoteAny, &[p.0, place]),
                2 => {
                    let all = self.b.pure(Ir::VoteAll, &[for_all.0, place]);
                    let any = self.b.pure(Ir::VoteAny, &[p.0, place]);
                    let none = self.b.op1(Ir::BNot, any);
                    self.b.op2(Ir::BOr, all, none)
                }
                _ => return self.unsupported(i, "this mode is not known"),
            };
            self.set_predicate(i.get(Field::Pd), r);
        }
        Ok(())
    }
}
