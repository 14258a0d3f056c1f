//! The machine's state as slots: which registers, outputs and flags a program has, found before it is lowered.

use super::NONE;
use super::attribute::passes;
use crate::cfg::{Graph, Terminator};
use crate::isa::{Field, Instr, Op};
use crate::{GuestProgram, Stage};

/// Numbers of the slots.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    pub(super) registers: u32,
    /// Slot of an output word by address / 4, `NONE` where none.
    pub(super) outputs: [u32; 256],
    /// Words of patch space that the program writes.
    pub(super) patch: [bool; 256],
    /// Words that a pass-through geometry program copies from its input vertices, bit n of word n / 64.
    pub(super) passed: [u64; 4],
    pub(super) count: u32,
}

impl Slots {
    pub(super) fn predicate(&self, n: u32) -> u32 {
        self.registers + n
    }

    /// Flag 0 zero, 1 sign, 2 carry, 3 overflow.
    pub(super) fn flag(&self, n: u32) -> u32 {
        self.registers + 7 + n
    }

    /// The thread has not ended: see [`Graph::retire`].
    pub(super) fn alive(&self) -> u32 {
        self.registers + 11
    }

    pub(super) fn exit(&self) -> u32 {
        self.registers + 12
    }

    /// Rounds of loops, where those are counted; the result of the last reduction at a barrier.
    pub(super) fn rounds(&self) -> u32 {
        self.registers + 13
    }

    pub(super) fn reduction(&self) -> u32 {
        self.registers + 14
    }

    pub(super) fn is_truth(&self, slot: u32) -> bool {
        (self.registers..self.registers + 12).contains(&slot)
    }
}

/// Registers that an instruction writes from its destination on; too many rather than too few.
pub(super) fn width(instr: &Instr) -> u32 {
    match instr.op {
        Op::Ald | Op::Ldc | Op::Ldg | Op::LdgPred | Op::Ldl | Op::Lds | Op::Ld => 4,
        Op::Tex | Op::TexB | Op::Texs | Op::Tld | Op::TldB | Op::Tlds | Op::Tld4 | Op::Tld4B | Op::Tld4s => 4,
        Op::TexsF16 | Op::TldsF16 | Op::Tld4sF16 | Op::Txd | Op::TxdB | Op::Txq | Op::TxqB => 4,
        Op::Tmml | Op::TmmlB | Op::SuldD | Op::SuldP | Op::SuatomD | Op::SuatomDCas => 4,
        Op::Atom | Op::AtomCas | Op::Atoms | Op::AtomsCas | Op::F2f | Op::F2i | Op::I2f | Op::I2i => 2,
        Op::Dadd | Op::Dmul | Op::Dfma | Op::Dmnmx | Op::Cs2r => 2,
        _ => 1,
    }
}

/// Finds how many registers and which outputs the code has, and whether anything reads condition flags.
pub(super) fn scan(program: &GuestProgram<'_>, graph: &Graph) -> (Slots, bool) {
    let mut registers = program.registers.max(4);
    let mut flags = false;
    let mut outputs = [NONE; 256];
    let mut patch = [false; 256];
    let mut computed = false;
    let vtg = matches!(program.stage, Stage::Vertex | Stage::TessEvaluation | Stage::Geometry);
    for instr in &graph.instrs {
        for field in [Field::Dst, Field::Dst2, Field::A, Field::B, Field::C, Field::Data] {
            let r = instr.get(field);
            if instr.has(field) && r != 255 {
                registers = registers.max(r + 8);
            }
        }
        flags |= instr.flag(Field::X) || instr.get(Field::Xmode) != 0 || instr.flag(Field::Ccpr);
        flags |= instr.has(Field::Cond) && !matches!(instr.op, Op::Nop) && !matches!(instr.get(Field::Cond), 0 | 15);
        if instr.op == Op::Ast && instr.flag(Field::Patch) {
            // With a computed address, all behind it.
            let words = if instr.get(Field::A) == 255 { instr.get(Field::Size) + 1 } else { 256 };
            let first = instr.get(Field::Attr11) / 4;
            (first..(first + words).min(256)).for_each(|word| patch[word as usize] = true);
        }
        if vtg && instr.op == Op::Ast && !instr.flag(Field::Patch) {
            if instr.get(Field::A) != 255 {
                computed = true;
            } else {
                for i in 0..=instr.get(Field::Size) {
                    outputs[((instr.get(Field::Attr11) / 4 + i) & 255) as usize] = 0;
                }
            }
        }
    }
    if computed {
        for word in 0..256 {
            if program.header.vtg_uses(word * 4, true) {
                outputs[word as usize] = 0;
            }
        }
    }
    let mut passed = [0u64; 4];
    if program.header.passthrough() {
        // What is stored is of the primitive; all else that the header names is of its vertices.
        for word in 0..256 {
            let named = program.header.vtg_uses(word * 4, true) || program.header.vtg_uses(word * 4, false);
            if outputs[word as usize] == NONE && passes(word) && (named || (0x70..0x80).contains(&(word * 4))) {
                outputs[word as usize] = 0;
                passed[word as usize / 64] |= 1 << (word % 64);
            }
        }
    }
    for block in &graph.blocks {
        if let Terminator::Branch { condition, .. } = block.terminator {
            flags |= condition.test != 15;
        }
    }
    let registers = registers.min(255);
    let mut count = registers + 15;
    for slot in outputs.iter_mut().filter(|s| **s == 0) {
        *slot = count;
        count += 1;
    }
    (Slots { registers, outputs, patch, passed, count }, flags)
}
