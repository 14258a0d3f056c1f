//! Operands: registers, predicates, condition flags, constant-bank words, immediates, special registers.

use super::memory::{LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BITS};
use super::{Lower, Result};
use crate::Stage;
use crate::ir::{Builtin, Op as Ir, Value};
use crate::isa::{Field, Instr, Op};

/// Constant banks that NVN programs have.
pub(super) const BANKS: u32 = 18;

impl Lower<'_, '_> {
    /// Register `n`; 255 and registers that nothing writes are 0.
    pub(super) fn reg(&mut self, n: u32) -> Value {
        if n >= self.slots.registers {
            return self.b.word(0);
        }
        self.m.slots[n as usize]
    }

    /// Writes register `n` under the guard; 255 drops the value.
    pub(super) fn set_reg(&mut self, n: u32, value: Value) {
        if n >= self.slots.registers {
            return;
        }
        self.m.slots[n as usize] = match self.guard {
            Some(g) => {
                let old = self.m.slots[n as usize];
                self.b.select(g, value, old)
            }
            None => value,
        };
    }

    /// The destination register.
    pub(super) fn set_dst(&mut self, i: &Instr, value: Value) {
        self.set_reg(i.get(Field::Dst), value);
    }

    /// Predicate `n`, inverted if so.
    pub(super) fn predicate(&mut self, n: u32, inverted: bool) -> Value {
        let p = if n >= 7 { self.b.truth(true) } else { self.m.slots[self.slots.predicate(n) as usize] };
        if inverted { self.b.op1(Ir::BNot, p) } else { p }
    }

    /// Writes a truth slot under the guard.
    pub(super) fn set_truth(&mut self, slot: u32, value: Value) {
        let slot = slot as usize;
        self.m.slots[slot] = match self.guard {
            Some(g) => {
                let old = self.m.slots[slot];
                self.b.op3(Ir::SelectB, g, value, old)
            }
            None => value,
        };
    }

    /// Writes predicate `n`; 7 drops the value.
    pub(super) fn set_predicate(&mut self, n: u32, value: Value) {
        if n < 7 {
            self.set_truth(self.slots.predicate(n), value);
        }
    }

    /// The source predicate of the instruction (fields ps, psn).
    pub(super) fn source_predicate(&mut self, i: &Instr) -> Value {
        self.predicate(i.get(Field::Ps), i.flag(Field::Psn))
    }

    /// Condition flag: 0 zero, 1 sign, 2 carry, 3 overflow.
    pub(super) fn flag(&self, n: u32) -> Value {
        self.m.slots[self.slots.flag(n) as usize]
    }

    /// Whether flags have to be kept: nothing else in the program reads them otherwise.
    pub(super) fn wants_flags(&self, i: &Instr) -> bool {
        self.flags_used && i.flag(Field::Cc)
    }

    /// Writes all four flags.
    pub(super) fn set_flags(&mut self, flags: [Value; 4]) {
        for (n, f) in flags.into_iter().enumerate() {
            self.set_truth(self.slots.flag(n as u32), f);
        }
    }

    /// Flags of a result without carry or overflow.
    pub(super) fn result_flags(&mut self, i: &Instr, result: Value) {
        if !self.wants_flags(i) {
            return;
        }
        let zero = self.b.word(0);
        let z = self.b.op2(Ir::IEq, result, zero);
        let n = self.b.op2(Ir::SLt, result, zero);
        let no = self.b.truth(false);
        self.set_flags([z, n, no, no]);
    }

    /// Truth of condition-code test `n`; `None` for the clip codes, whose meaning is not known.
    pub(super) fn flag_test(&mut self, n: u32) -> Option<Value> {
        let (z, s, c, v) = (self.flag(0), self.flag(1), self.flag(2), self.flag(3));
        let b = &mut self.b;
        Some(match n {
            0 => b.truth(false),
            1 => {
                let nz = b.op1(Ir::BNot, z);
                let t = b.op2(Ir::BAnd, s, nz);
                b.op2(Ir::BXor, t, v)
            }
            2 => {
                let ns = b.op1(Ir::BNot, s);
                b.op2(Ir::BAnd, ns, z)
            }
            3 => {
                let t = b.op2(Ir::BOr, z, v);
                b.op2(Ir::BXor, s, t)
            }
            4 | 11 => {
                let t = b.op2(Ir::BXor, s, v);
                let t = b.op2(Ir::BOr, t, z);
                if n == 4 { b.op1(Ir::BNot, t) } else { t }
            }
            5 => b.op1(Ir::BNot, z),
            6 | 9 => {
                let t = b.op2(Ir::BXor, s, v);
                if n == 6 { b.op1(Ir::BNot, t) } else { t }
            }
            7 | 8 => {
                let t = b.op2(Ir::BAnd, s, z);
                if n == 7 { b.op1(Ir::BNot, t) } else { t }
            }
            10 => z,
            12 => {
                let ns = b.op1(Ir::BNot, s);
                let t = b.op2(Ir::BOr, v, z);
                b.op2(Ir::BXor, ns, t)
            }
            13 => {
                let nz = b.op1(Ir::BNot, z);
                b.op2(Ir::BOr, s, nz)
            }
            14 => {
                let ns = b.op1(Ir::BNot, s);
                let t = b.op2(Ir::BOr, ns, z);
                b.op2(Ir::BXor, t, v)
            }
            15 => b.truth(true),
            16 => b.op1(Ir::BNot, v),
            17 => b.op1(Ir::BNot, c),
            18 => b.op1(Ir::BNot, s),
            19 => {
                let nc = b.op1(Ir::BNot, c);
                b.op2(Ir::BOr, z, nc)
            }
            20 => {
                let nz = b.op1(Ir::BNot, z);
                b.op2(Ir::BAnd, c, nz)
            }
            21 => s,
            22 => c,
            23 => v,
            30 | 31 => {
                let t = b.op2(Ir::BOr, s, z);
                if n == 31 { b.op1(Ir::BNot, t) } else { t }
            }
            _ => return None,
        })
    }

    /// Word of constant bank `bank` at byte `offset`.
    pub(super) fn constant(&mut self, i: &Instr, bank: u32, offset: u32) -> Result<Value> {
        if bank >= BANKS {
            return self.unsupported(i, "constant banks end at 17");
        }
        if bank == 1
            && let Some(b) = self.program.constants.get(offset as usize..offset as usize + 4)
        {
            return Ok(self.b.word(u32::from_le_bytes([b[0], b[1], b[2], b[3]])));
        }
        if bank == 0
            && let Some(v) = self.driver_constant(offset)
        {
            return Ok(v);
        }
        Ok(self.b.pure(Ir::LoadConst, &[bank, offset & 0xFFFC]))
    }

    /// The words of bank 0 that are built-ins.
    fn driver_constant(&mut self, offset: u32) -> Option<Value> {
        let layout = self.options.layout;
        let builtin = match self.program.stage {
            Stage::Vertex if offset == layout.base_vertex => Builtin::BaseVertex,
            Stage::Vertex if offset == layout.base_instance => Builtin::BaseInstance,
            Stage::Vertex if offset == layout.draw_index => Builtin::DrawIndex,
            Stage::Compute => match layout.workgroup_count?.iter().position(|&o| o == offset)? {
                0 => Builtin::GroupCountX,
                1 => Builtin::GroupCountY,
                _ => Builtin::GroupCountZ,
            },
            _ => return None,
        };
        Some(self.builtin(builtin))
    }

    /// A built-in word.
    pub(super) fn builtin(&mut self, which: Builtin) -> Value {
        self.b.pure(Ir::Builtin, &[which as u32])
    }

    /// Operand a.
    pub(super) fn a(&mut self, i: &Instr) -> Value {
        self.reg(i.get(Field::A))
    }

    /// Operand b as a word: register, constant or integer immediate.
    pub(super) fn b_word(&mut self, i: &Instr) -> Result<Value> {
        Ok(if i.has(Field::B) {
            self.reg(i.get(Field::B))
        } else if i.has(Field::Cbo4) {
            self.constant(i, i.get(Field::Cbi), i.get(Field::Cbo4) * 4)?
        } else if i.has(Field::Imm32) {
            self.b.word(i.get(Field::Imm32))
        } else if i.has(Field::Imm19) {
            self.b.word(i.imm20() as u32)
        } else {
            self.b.word(i.get(Field::Imm16))
        })
    }

    /// Operand b as a float: immediates are the top of a float.
    pub(super) fn b_float(&mut self, i: &Instr) -> Result<Value> {
        if i.has(Field::Imm19) {
            return Ok(self.b.word((i.imm20() as u32) << 12));
        }
        self.b_word(i)
    }

    /// Operand c.
    pub(super) fn c_word(&mut self, i: &Instr) -> Result<Value> {
        if i.has(Field::C) {
            return Ok(self.reg(i.get(Field::C)));
        }
        self.constant(i, i.get(Field::Ccbi), i.get(Field::Ccbo4) * 4)
    }

    /// Low byte and second byte of operand b, as BFE and BFI read it.
    pub(super) fn start_and_count(&mut self, b: Value) -> (Value, Value) {
        let (zero, eight) = (self.b.word(0), self.b.word(8));
        let start = self.b.op3(Ir::BfeU, b, zero, eight);
        let count = self.b.op3(Ir::BfeU, b, eight, eight);
        (start, count)
    }

    /// MOV, SEL, S2R.
    pub(super) fn moves(&mut self, i: &Instr) -> Result<()> {
        let value = match i.op {
            Op::Sel => {
                let (a, b) = (self.a(i), self.b_word(i)?);
                let p = self.source_predicate(i);
                self.b.select(p, a, b)
            }
            Op::S2r | Op::Cs2r => self.special(i)?,
            _ => {
                let value = self.b_word(i)?;
                match i.get(Field::Qmask) {
                    15 => value,
                    mask => {
                        // Bit n of the mask is lane n of the quad.
                        let lane = self.lane();
                        let (three, one) = (self.b.word(3), self.b.word(1));
                        let lane = self.b.op2(Ir::And, lane, three);
                        let mask = self.b.word(mask);
                        let bit = self.b.op2(Ir::Shr, mask, lane);
                        let bit = self.b.op2(Ir::And, bit, one);
                        let zero = self.b.word(0);
                        let here = self.b.op2(Ir::INe, bit, zero);
                        let old = self.reg(i.get(Field::Dst));
                        self.b.select(here, value, old)
                    }
                }
            }
        };
        self.set_dst(i, value);
        Ok(())
    }

    /// A special register.
    fn special(&mut self, i: &Instr) -> Result<Value> {
        let stage = self.program.stage;
        let n = i.get(Field::Sreg);
        let compute = stage == Stage::Compute;
        Ok(match n {
            // In tessellation control a thread is a lane; code uses the difference of the two numbers.
            0 if stage == Stage::TessControl => self.builtin(Builtin::InvocationId),
            // Evaluation programs name their own lane as the vertex of the tessellation coordinate.
            0 if stage == Stage::TessEvaluation => self.b.word(0),
            0 => self.lane(),
            16 => {
                let vertices = self.vertices();
                let eight = self.b.word(8);
                self.b.op2(Ir::Shl, vertices, eight)
            }
            17 if matches!(stage, Stage::TessControl | Stage::Geometry) => self.builtin(Builtin::InvocationId),
            18 => self.b.float(1.0),
            19 if stage == Stage::Fragment => {
                // A thread that was killed is one from then on.
                let epoch = self.b.epoch;
                let helper = self.b.pure(Ir::BuiltinB, &[Builtin::HelperInvocation as u32, epoch]);
                let (ones, zero) = (self.b.word(u32::MAX), self.b.word(0));
                self.b.select(helper, ones, zero)
            }
            29 => {
                let vertices = self.vertices();
                let sixteen = self.b.word(16);
                self.b.op2(Ir::Shl, vertices, sixteen)
            }
            32 if compute => {
                let x = self.builtin(Builtin::LocalIdX);
                let y = self.builtin(Builtin::LocalIdY);
                let z = self.builtin(Builtin::LocalIdZ);
                let (s16, s26) = (self.b.word(16), self.b.word(26));
                let y = self.b.op2(Ir::Shl, y, s16);
                let z = self.b.op2(Ir::Shl, z, s26);
                let t = self.b.op2(Ir::Or, x, y);
                self.b.op2(Ir::Or, t, z)
            }
            33..=35 if compute => {
                let axis = n - 33;
                if self.program.local_size[axis as usize] == 1 {
                    self.b.word(0)
                } else {
                    self.b.pure(Ir::Builtin, &[Builtin::LocalIdX as u32 + axis])
                }
            }
            37..=39 if compute => self.b.pure(Ir::Builtin, &[Builtin::GroupIdX as u32 + n - 37]),
            40 if compute => {
                let [x, y, z] = self.program.local_size;
                self.b.word(x | y << 16 | z << 26)
            }
            // Where generic accesses find shared and local memory, and how large that is.
            48 if compute => self.b.word(SHARED_WINDOW << WINDOW_BITS),
            49 if compute => self.b.word(self.program.shared_bytes),
            52 => self.b.word(LOCAL_WINDOW << WINDOW_BITS),
            53 | 54 => self.b.word(self.program.local_bytes),
            50 if compute => self.b.word(self.program.shared_bytes),
            // Lane masks.
            56..=60 => {
                let lane = self.lane();
                let one = self.b.word(1);
                let bit = self.b.op2(Ir::Shl, one, lane);
                let below = self.b.op2(Ir::ISub, bit, one);
                let ones = self.b.word(u32::MAX);
                match n {
                    56 => bit,
                    57 => below,
                    58 => self.b.op2(Ir::Or, below, bit),
                    59 => {
                        let le = self.b.op2(Ir::Or, below, bit);
                        self.b.op2(Ir::Xor, le, ones)
                    }
                    _ => self.b.op2(Ir::Xor, below, ones),
                }
            }
            _ => return self.unsupported(i, "this special register has no counterpart in Vulkan"),
        })
    }

    /// Vertices of the input primitive or patch.
    fn vertices(&mut self) -> Value {
        match self.program.stage {
            Stage::TessControl | Stage::TessEvaluation => self.builtin(Builtin::PatchVertices),
            Stage::Geometry => {
                let n = self.options.geometry_input.map_or(3, crate::GeometryInput::vertices);
                self.b.word(n)
            }
            _ => self.b.word(1),
        }
    }
}
