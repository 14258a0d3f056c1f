//! Listings: one instruction a line, fields by name.

use std::fmt::Write;

use super::{Field, decode, table::FIELD_NAMES, word_at};
use crate::GuestProgram;

/// A listing of `program`: offset, word, guard, mnemonic and the fields that are not zero.
pub fn disassemble(program: &GuestProgram<'_>) -> String {
    let mut out = format!(
        "; {} program {:016x}: {} bytes of code, {} of constants, {} registers\n",
        program.stage,
        program.key,
        program.code.len(),
        program.constants.len(),
        program.registers
    );
    for offset in (0..program.code.len() as u32).step_by(8) {
        let Some(word) = word_at(program.code, offset) else { break };
        if offset % 32 == 0 {
            let slot = |n: u32| (word >> (21 * n)) & 0x1F_FFFF;
            let _ = writeln!(out, "/*{offset:04x}*/  ; schedule {:06x} {:06x} {:06x}", slot(0), slot(1), slot(2));
            continue;
        }
        line(&mut out, word, offset);
    }
    out
}

/// Appends the line of one instruction.
fn line(out: &mut String, word: u64, offset: u32) {
    let Some(instr) = decode(word, offset) else {
        let _ = writeln!(out, "/*{offset:04x}*/  .word {word:#018x}");
        return;
    };
    let (guard, inverted) = instr.guard();
    let _ = write!(out, "/*{offset:04x}*/  ");
    if guard != 7 || inverted {
        let _ = write!(out, "@{}P{guard} ", if inverted { "!" } else { "" });
    }
    out.push_str(instr.name());
    for &(field, _, width) in instr.fields() {
        let value = instr.get(field);
        match field {
            Field::Pg | Field::Pgn => {}
            Field::Dst | Field::Dst2 | Field::A | Field::B | Field::C | Field::Data | Field::Vtx if value == 255 => {
                let _ = write!(out, " {}=RZ", FIELD_NAMES[field as usize]);
            }
            Field::Dst | Field::Dst2 | Field::A | Field::B | Field::C | Field::Data | Field::Vtx => {
                let _ = write!(out, " {}=R{value}", FIELD_NAMES[field as usize]);
            }
            Field::Rel24 => {
                let target = super::relative_target(offset, instr.signed(Field::Rel24));
                let _ = write!(out, " -> {:#06x}", target.unwrap_or(u32::MAX));
            }
            _ if width == 1 && value == 1 => {
                let _ = write!(out, " {}", FIELD_NAMES[field as usize]);
            }
            _ if value != 0 => {
                let _ = write!(out, " {}={value:#x}", FIELD_NAMES[field as usize]);
            }
            _ => {}
        }
    }
    out.push('\n');
}
