//! Listings: one instruction a line, its operands in the usual order, labels where jumps go, names for constants and
//! attributes, and what the scheduling word says of it.
//!
//! [`lines`] is the listing as data, [`disassemble`] as text.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Field, Instr, Op, decode, names, relative_target, table::FIELD_NAMES, word_at};
use crate::{ConstantLayoutTable, GuestProgram};

/// What a scheduling word says of one instruction. Nothing of it changes a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Cycles before the next issue.
    pub stall: u32,
    /// Another warp may go first.
    pub yields: bool,
    /// Scoreboard that is set when the result is there.
    pub writes: Option<u32>,
    /// Scoreboard that is set when the operands have been read.
    pub reads: Option<u32>,
    /// Scoreboards that are waited for: bit n is scoreboard n.
    pub waits: u32,
    /// Operands a, b, c that stay in their cache: bits 0, 1, 2.
    pub reuse: u32,
}

impl Schedule {
    /// The 21 bits of one instruction.
    pub fn from_bits(bits: u32) -> Schedule {
        let scoreboard = |n: u32| (n != 7).then_some(n);
        Schedule {
            stall: bits & 15,
            yields: bits & 16 == 0,
            writes: scoreboard(bits >> 5 & 7),
            reads: scoreboard(bits >> 8 & 7),
            waits: bits >> 11 & 63,
            reuse: bits >> 17 & 15,
        }
    }
}

/// A line of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Byte offset in the code.
    pub offset: u32,
    /// The instruction word.
    pub word: u64,
    /// Number of the label that stands before it.
    pub label: Option<u32>,
    /// Mnemonic; `None` for a word that is no instruction.
    pub name: Option<&'static str>,
    /// The line without place and comments: guard, mnemonic, modifiers, operands.
    pub text: String,
    /// Where it jumps to, as a byte offset.
    pub target: Option<u32>,
    /// What its constants and attributes are called.
    pub names: Vec<String>,
    /// What the scheduling word says.
    pub schedule: Schedule,
}

/// The listing of `program`; `layout` names the driver's constants.
pub fn lines(program: &GuestProgram<'_>, layout: Option<&ConstantLayoutTable>) -> Vec<Line> {
    let slots = || (0..program.code.len() as u32 & !7).step_by(8).filter(|o| o % 32 != 0);
    let labels = labels(program);
    slots()
        .filter_map(|offset| {
            let word = word_at(program.code, offset)?;
            let group = word_at(program.code, offset & !31)?;
            let schedule = Schedule::from_bits((group >> (21 * (offset / 8 % 4 - 1))) as u32 & 0x1F_FFFF);
            let label = labels.get(&offset).copied();
            let mut line = Line {
                offset,
                word,
                label,
                name: None,
                text: format!(".word {word:#018x}"),
                target: None,
                names: Vec::new(),
                schedule,
            };
            if let Some(instr) = decode(word, offset) {
                line.name = Some(instr.name());
                line.target = target(&instr);
                line.text.clear();
                instruction(&mut line, &instr, program, layout, &labels);
            }
            Some(line)
        })
        .collect()
}

/// Where an instruction jumps to, when it says so itself.
fn target(instr: &Instr) -> Option<u32> {
    if instr.has(Field::Rel24) {
        return relative_target(instr.offset, instr.signed(Field::Rel24));
    }
    instr.has(Field::Abs32).then(|| super::normalise(instr.get(Field::Abs32)))
}

/// Numbers for the places that are jumped to, in the order of the code.
fn labels(program: &GuestProgram<'_>) -> BTreeMap<u32, u32> {
    let mut places = BTreeMap::new();
    let size = program.code.len() as u32;
    for offset in (0..size & !7).step_by(8).filter(|o| o % 32 != 0) {
        let word = word_at(program.code, offset);
        if let Some(to) = word.and_then(|word| decode(word, offset)).as_ref().and_then(target)
            && to < size
        {
            places.insert(to, 0);
        }
    }
    for (n, label) in (0..).zip(places.values_mut()) {
        *label = n;
    }
    places
}

/// A listing as text: a line of columns is `wait:read:write:yield:stall` of the scheduling word, as scoreboards (`-`: none),
/// `Y` where another warp may go first, and cycles.
pub fn disassemble(program: &GuestProgram<'_>, layout: Option<&ConstantLayoutTable>) -> String {
    let mut out = format!(
        "; {} program {:016x}: {} bytes of code, {} of constants, {} registers\n\
         ; offset  wait:read:write:yield:stall  instruction\n",
        program.stage,
        program.key,
        program.code.len(),
        program.constants.len(),
        program.registers
    );
    for line in lines(program, layout) {
        if let Some(label) = line.label {
            let _ = writeln!(out, "L{label}:");
        }
        let s = line.schedule;
        let board = |n: Option<u32>| n.map_or("-".to_owned(), |n| n.to_string());
        let waits = if s.waits == 0 { "--".to_owned() } else { format!("{:02x}", s.waits) };
        let yields = if s.yields { 'Y' } else { '-' };
        let _ = write!(
            out,
            "/*{:04x}*/  {waits}:{}:{}:{yields}:{:<2}  ",
            line.offset,
            board(s.reads),
            board(s.writes),
            s.stall
        );
        if line.names.is_empty() {
            let _ = writeln!(out, "{}", line.text);
        } else {
            let _ = writeln!(out, "{:<48}  ; {}", line.text, line.names.join(", "));
        }
    }
    out
}

fn register(n: u32) -> String {
    if n == 255 { "RZ".into() } else { format!("R{n}") }
}

fn predicate(n: u32, inverted: bool) -> String {
    let not = if inverted { "!" } else { "" };
    if n == 7 { format!("{not}PT") } else { format!("{not}P{n}") }
}

/// Is the operation's immediate of 19 bits and a sign a float's upper bits?
fn floats(op: Op) -> bool {
    matches!(
        op,
        Op::Fadd | Op::Fmul | Op::Ffma | Op::Fmnmx | Op::Fset | Op::Fsetp | Op::Fcmp | Op::Fchk | Op::F2f | Op::F2i
    )
}

/// Appends guard, mnemonic, modifiers and operands.
fn instruction(
    line: &mut Line,
    instr: &Instr,
    program: &GuestProgram<'_>,
    layout: Option<&ConstantLayoutTable>,
    labels: &BTreeMap<u32, u32>,
) {
    let (guard, inverted) = instr.guard();
    let mut modifiers = String::new();
    let mut operands: Vec<String> = Vec::new();
    let mut results: Vec<String> = Vec::new();
    let reuse = |text: String, slot: u32| {
        if line.schedule.reuse >> slot & 1 != 0 { text + ".reuse" } else { text }
    };
    let signed = |text: String, absolute: Field, negative: Field| {
        let text = if instr.flag(absolute) { format!("|{text}|") } else { text };
        if instr.flag(negative) { format!("-{text}") } else { text }
    };
    let constant = |line_names: &mut Vec<String>, bank: u32, at: u32| {
        if bank == 1 {
            let word = at as usize..at as usize + 4;
            if let Some(b) = program.constants.get(word) {
                let bits = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
                line_names.push(format!("{bits:#x} ({:?})", f32::from_bits(bits)));
            }
        } else if let Some(name) = layout.and_then(|l| names::constant(l, program.stage, bank, at)) {
            line_names.push(name);
        }
        format!("c[{bank:#x}][{at:#x}]")
    };
    let mut memory: Option<String> = None;
    for &(field, _, width) in instr.fields() {
        let value = instr.get(field);
        let name = FIELD_NAMES[field as usize];
        match field {
            Field::Pg | Field::Pgn => {}
            Field::Dst | Field::Dst2 => results.push(register(value)),
            // A second predicate that is written, and one that a write is inverted by.
            Field::Pdn if width == 3 => results.push(predicate(value, false)),
            // Most that write a register may write a predicate as well.
            Field::Pd if value == 7 && instr.has(Field::Dst) => {}
            Field::Pd => results.insert(0, predicate(value, false)),
            Field::A if has_address(instr) => memory = Some(register(value)),
            Field::A => operands.push(signed(reuse(register(value), 0), Field::Aa, Field::Na)),
            Field::B => operands.push(signed(reuse(register(value), 1), Field::Ab, Field::Nb)),
            Field::C => operands.push(signed(reuse(register(value), 2), Field::X, Field::Nc).replace('|', "")),
            Field::Data | Field::Vtx => operands.push(register(value)),
            Field::Cbo4 | Field::Ccbo4 => {
                let bank = instr.get(if field == Field::Cbo4 { Field::Cbi } else { Field::Ccbi });
                let text = constant(&mut line.names, bank, 4 * value);
                operands.push(match field {
                    Field::Cbo4 => signed(text, Field::Ab, Field::Nb),
                    _ => signed(text, Field::X, Field::Nc).replace('|', ""),
                });
            }
            Field::Cbo16 => operands.push(constant(&mut line.names, instr.get(Field::Cbi), value)),
            Field::Off16 if instr.op == Op::Ldc => {
                let at = instr.signed(field) as u32;
                let base = memory.take().unwrap_or_else(|| "RZ".into());
                operands.push(if base == "RZ" {
                    constant(&mut line.names, instr.get(Field::Cbi), at & 0xFFFF)
                } else {
                    format!("c[{:#x}][{base}+{:#x}]", instr.get(Field::Cbi), at & 0xFFFF)
                });
            }
            Field::Cbi | Field::Ccbi | Field::Immsign => {}
            Field::Aa | Field::Na if instr.has(Field::A) => {}
            Field::Ab | Field::Nb if instr.has(Field::B) || instr.has(Field::Cbo4) => {}
            Field::Nc if instr.has(Field::C) || instr.has(Field::Ccbo4) => {}
            Field::Imm19 if floats(instr.op) => {
                let bits = (instr.get(Field::Immsign) << 19 | value) << 12;
                operands.push(signed(format!("{:?}", f32::from_bits(bits)), Field::Ab, Field::Nb));
            }
            Field::Imm19 => operands.push(signed(format!("{:#x}", instr.imm20()), Field::Ab, Field::Nb)),
            Field::Imm32 if matches!(instr.op, Op::Fadd32i | Op::Fmul32i | Op::Ffma32i) => {
                operands.push(format!("{:?}", f32::from_bits(value)));
            }
            Field::Imm32 if instr.op == Op::Mov32i => {
                operands.push(format!("{value:#x}"));
                line.names.push(format!("{:?}", f32::from_bits(value)));
            }
            Field::Imm32 | Field::Imm16 | Field::Imm20 | Field::Imm8 | Field::Imm6 | Field::Lut => {
                operands.push(format!("{value:#x}"));
            }
            Field::Off24 | Field::Off20 | Field::Off32 => {
                let at = instr.signed(field);
                let base = memory.take().unwrap_or_else(|| "RZ".into());
                operands.push(match at {
                    0 => format!("[{base}]"),
                    _ if at < 0 => format!("[{base}-{:#x}]", at.unsigned_abs()),
                    _ => format!("[{base}+{at:#x}]"),
                });
            }
            Field::Off22x4 | Field::Off30x4 => {
                let base = memory.take().unwrap_or_else(|| "RZ".into());
                operands.push(format!("[{base}+{:#x}]", 4 * instr.signed(field)));
            }
            Field::Attr11 | Field::Attr10 => {
                let base = memory.take().filter(|b| b != "RZ");
                line.names.extend(names::attribute(value));
                operands.push(base.map_or(format!("a[{value:#x}]"), |b| format!("a[{value:#x}+{b}]")));
            }
            Field::Ps | Field::Pa | Field::Pb | Field::Pc => {
                let not = match field {
                    Field::Ps => Field::Psn,
                    Field::Pa => Field::Pan,
                    _ => Field::Pbn,
                };
                operands.push(predicate(value, instr.flag(not)));
            }
            Field::Psn | Field::Pan | Field::Pbn => {}
            Field::Sreg => operands.push(names::special_register(value).map_or(format!("SR{value}"), str::to_owned)),
            Field::Tid13 => {
                if let Some(layout) = layout {
                    line.names.extend(names::constant(layout, program.stage, layout.texture_bank, 4 * value));
                }
                operands.push(format!("{value:#x}"));
            }
            Field::Rel24 | Field::Abs32 => operands.push(match line.target {
                Some(to) => labels.get(&to).map_or(format!("{to:#06x}"), |n| format!("L{n}")),
                None => "outside".into(),
            }),
            _ => match names::modifier(instr, field, value) {
                Some("") => {}
                Some(known) => _ = write!(modifiers, ".{known}"),
                None if value == 0 => {}
                None if width == 1 => _ = write!(modifiers, ".{name}"),
                None => _ = write!(modifiers, ".{name}={value:#x}"),
            },
        }
    }
    if let Some(base) = memory {
        operands.push(format!("[{base}]"));
    }
    // What is stored comes behind where to.
    if instr.has(Field::Data) && operands.len() >= 2 {
        operands.rotate_left(1);
    }
    if guard != 7 || inverted {
        line.text = format!("@{} ", predicate(guard, inverted));
    }
    line.text += instr.name();
    line.text += &modifiers;
    results.append(&mut operands);
    if !results.is_empty() {
        let _ = write!(line.text, " {}", results.join(", "));
    }
}

/// Is register a the base of an address?
fn has_address(instr: &Instr) -> bool {
    let fields =
        [Field::Off24, Field::Off20, Field::Off32, Field::Off22x4, Field::Off30x4, Field::Attr11, Field::Attr10];
    fields.iter().any(|&f| instr.has(f)) || instr.op == Op::Ldc
}
