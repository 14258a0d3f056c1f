//! Every row of `facts/maxwell_isa.tsv`, with every value of every modifier: it decodes, is listed, and translates in
//! some stage, or stands in the table of `docs/MAXWELL.md` with its reason. Nothing is ignored in silence.
//!
//! `NAVIN_BLESS=1` writes the table anew.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use navin_shader::isa::table::{FORM_NAMES, Field, OP_NAMES, Op, ROWS};
use navin_shader::isa::{self, Row};
use navin_shader::{
    ConstantLayout, DeviceFeatures, GeometryInput, GuestProgram, Options, TranslateError, Translator, disassemble,
};

const STAGES: u32 = 6;
/// Place of the instruction in the program, and of the EXIT that jumps go to.
const AT: usize = 7;
const END: usize = 8;

/// Byte offset of instruction `index`.
fn offset(index: usize) -> usize {
    8 * (index + index / 3 + 1)
}

fn row(op: Op, has: Field) -> &'static Row {
    ROWS.iter().find(|r| r.op == op && (has == Field::Pg || r.fields.iter().any(|f| f.0 == has))).expect("a row")
}

/// The word of a row with given fields; others are idle.
fn word(row: &Row, fields: &[(Field, u32)]) -> u64 {
    let mut word = row.value;
    for &(field, low, width) in row.fields {
        let idle = match field {
            Field::Pg | Field::Pd | Field::Pdn | Field::Ps => 7,
            Field::Cond | Field::Qmask | Field::Mask | Field::Rgba => 15,
            Field::Size if matches!(row.op, Op::Ald | Op::Ast | Op::Al2p) => 0,
            Field::Size | Field::Sfmt | Field::Dfmt => match row.op {
                Op::F2f | Op::F2i | Op::I2f | Op::I2i => 2,
                _ => 4,
            },
            Field::Cbi | Field::Ccbi => 3,
            Field::Attr11 | Field::Attr10 => 0x80,
            Field::Asel | Field::Bsel if row.op != Op::Imadsp => 0,
            Field::Op if matches!(row.op, Op::Mufu) => 4,
            Field::Mode if matches!(row.op, Op::Pixld) => 1,
            Field::Mode if matches!(row.op, Op::Out | Op::B2r) => 1,
            Field::Query => 1,
            Field::Dim => 3,
            Field::Target => 1,
            Field::Castmode => 2,
            Field::B if row.op == Op::Out => 255,
            _ => 0,
        };
        let value = fields.iter().find(|f| f.0 == field).map_or(idle, |f| f.1);
        word |= u64::from(value & ((1u64 << width) - 1) as u32) << low;
    }
    word
}

/// A whole program around one word: every kind of entry on the divergence stack, a jump table in the constants.
fn program(stage: u32, instruction: u64, absolute: bool) -> (Vec<u8>, Vec<u8>) {
    let to_end = |from: usize| (offset(END) as i32 - offset(from) as i32 - 8) as u32 & 0xFF_FFFF;
    let push = |op, at| word(row(op, Field::Rel24), &[(Field::Rel24, to_end(at))]);
    let mut words =
        vec![push(Op::Ssy, 0), push(Op::Pbk, 1), push(Op::Pcnt, 2), push(Op::Pret, 3), push(Op::Plongjmp, 4)];
    words.push(word(row(Op::Ldc, Field::Pg), &[(Field::Cbi, 1), (Field::A, 255), (Field::Size, 4)]));
    // Something reads the condition codes.
    words.push(word(row(Op::Csetp, Field::Pg), &[(Field::Cond, 10), (Field::Pd, 0)]));
    words.push(instruction);
    words.push(word(row(Op::Exit, Field::Pg), &[]));
    let mut code = Vec::new();
    for word in words {
        if code.len() % 32 == 0 {
            code.extend_from_slice(&[0; 8]);
        }
        code.extend_from_slice(&u64::to_le_bytes(word));
    }
    let mut control = vec![0u8; 1992];
    let mut put = |at: usize, word: u32| control[at..at + 4].copy_from_slice(&word.to_le_bytes());
    put(0, 0x9876_1234);
    put(0x6F8, 0x50 + code.len() as u32);
    put(0x708, 0x30);
    put(0x70C, 64);
    put(0x714, stage);
    for (at, n) in [(0x748, 32), (0x74C, 1), (0x750, 1), (0x754, 1024), (0x758, 256)] {
        if stage == 5 {
            put(at, n);
        }
    }
    let mut gpu = vec![0u8; 0x80];
    gpu[..4].copy_from_slice(&0x1234_5678u32.to_le_bytes());
    // Header: local memory, all varyings perspective, three threads a primitive, some outputs.
    gpu[0x34..0x38].copy_from_slice(&256u32.to_le_bytes());
    gpu[0x38..0x3C].copy_from_slice(&(3u32 << 24).to_le_bytes());
    gpu[0x3C..0x40].copy_from_slice(&(7u32 << 24).to_le_bytes());
    gpu[0x40..0x44].copy_from_slice(&8u32.to_le_bytes());
    if stage == 1 {
        gpu[0x30 + 24..0x30 + 56].fill(0xAA);
    } else {
        gpu[0x30 + 20..0x30 + 80].fill(0xFF);
    }
    gpu.extend_from_slice(&code);
    gpu.resize(gpu.len().next_multiple_of(256), 0);
    put(0x700, gpu.len() as u32);
    put(0x6FC, 256);
    let target = if absolute { offset(END) as u32 } else { (offset(END) - offset(AT) - 8) as u32 };
    gpu.extend(target.to_le_bytes());
    gpu.extend(target.to_le_bytes());
    gpu.resize(gpu.len() + 248, 0xFF);
    (control, gpu)
}

/// The values that are tried of a field: all of a small one, none of an operand.
fn values(field: Field, width: u8) -> std::ops::Range<u32> {
    match field {
        Field::Dst
        | Field::Dst2
        | Field::A
        | Field::B
        | Field::C
        | Field::Data
        | Field::Vtx
        | Field::Pg
        | Field::Pgn => 0..0,
        Field::Rel24 | Field::Abs32 | Field::Tid13 | Field::Cbi | Field::Ccbi | Field::Lane5 | Field::Shift => 0..0,
        Field::Sreg => 0..128,
        // What is named by them has no counterpart as such.
        Field::Mode if width > 4 => 0..2,
        _ if width <= 5 => 0..1 << width,
        _ => 0..0,
    }
}

/// Translates in every stage; the reason why none takes it, those that only name a wrong stage last.
fn refusal(translator: &mut Translator, row: &Row, instruction: u64) -> Option<String> {
    let absolute = matches!(row.op, Op::Jmp | Op::Jmx | Op::Jcal);
    let mut reasons = Vec::new();
    for stage in (0..STAGES).rev() {
        let (control, gpu) = program(stage, instruction, absolute);
        let guest = GuestProgram::parse(&control, &gpu).expect("a whole program");
        let mut options = Options::new(ConstantLayout::Production);
        options.geometry_input = Some(GeometryInput::Triangles);
        options.features |= DeviceFeatures::ATOMIC_INT64;
        match translator.translate(&guest, &options) {
            Ok(_) => return None,
            Err(TranslateError::Unsupported { reason, .. } | TranslateError::BadControlFlow { reason, .. }) => {
                reasons.push(reason.to_string());
            }
            Err(e) => panic!("{} {:#018x}: {e}", OP_NAMES[row.op as usize], instruction),
        }
    }
    let wrong_stage = |r: &String| r.starts_with("only ") || r.contains("this stage") || r.contains("programs");
    let count = |reason: &String| reasons.iter().filter(|r| *r == reason).count();
    reasons.iter().find(|r| !wrong_stage(r)).or(reasons.iter().min_by_key(|r| count(r))).cloned()
}

#[test]
fn every_row_and_modifier_translates_or_is_named() {
    let mut translator = Translator::new();
    let mut refused: BTreeMap<&str, BTreeMap<String, BTreeSet<&str>>> = BTreeMap::new();
    let mut tried = 0;
    for row in &ROWS {
        let name = OP_NAMES[row.op as usize];
        let mut base: Vec<(Field, u32)> = Vec::new();
        let rel = (offset(END) as i32 - offset(AT) as i32 - 8) as u32 & 0xFF_FFFF;
        base.push((Field::Rel24, if matches!(row.op, Op::Brx) { 0 } else { rel }));
        base.push((Field::Abs32, if row.op == Op::Jmx { 0 } else { offset(END) as u32 }));
        if row.fields.iter().any(|f| f.0 == Field::Cbo16) {
            base.push((Field::Cbi, 1));
        }
        let plain = word(row, &base);
        assert_eq!(isa::matches(plain), 1, "{name} {plain:#018x}");
        assert!(isa::decode(plain, 8).is_some_and(|i| i.op == row.op), "{name} {plain:#018x}");
        let (control, gpu) = program(5, plain, false);
        let listing = disassemble(&GuestProgram::parse(&control, &gpu).expect("a whole program"), None);
        assert!(listing.contains(name), "{name} in\n{listing}");
        let mut note = |reason: String, field: &'static str| {
            refused.entry(name).or_default().entry(reason).or_default().insert(field);
        };
        tried += 1;
        if let Some(reason) = refusal(&mut translator, row, plain) {
            let forms = ROWS.iter().filter(|r| r.op == row.op).count();
            note(reason, if forms == 1 { "" } else { FORM_NAMES[row.form as usize] });
            continue;
        }
        for &(field, _, width) in row.fields {
            for value in values(field, width) {
                let mut fields = base.clone();
                fields.push((field, value));
                tried += 1;
                if let Some(reason) = refusal(&mut translator, row, word(row, &fields)) {
                    note(reason, isa::table::FIELD_NAMES[field as usize]);
                }
            }
        }
    }
    assert!(tried > 5000, "only {tried} words");
    let mut text = String::from(HEAD);
    for (name, reasons) in &refused {
        for (reason, fields) in reasons {
            let fields: Vec<&str> = fields.iter().copied().filter(|f| !f.is_empty()).collect();
            let forms = ROWS.iter().filter(|r| OP_NAMES[r.op as usize] == *name).map(|r| FORM_NAMES[r.form as usize]);
            let all = reasons[reason].contains("") || forms.clone().all(|f| reasons[reason].contains(f));
            let which = if all { "all".to_owned() } else { fields.join(", ") };
            text += &format!("| {name} | {which} | {reason} |\n");
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/MAXWELL.md");
    if std::env::var_os("NAVIN_BLESS").is_some() {
        std::fs::write(&path, &text).expect("docs/MAXWELL.md");
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, there, "docs/MAXWELL.md is not true: NAVIN_BLESS=1 writes it");
}

const HEAD: &str = "\
# Maxwell instructions without a translation

Every row of `facts/maxwell_isa.tsv` decodes and is listed by `navin shader disasm`. Every row translates, with every
value of every modifier, in some stage, but for the table below: what has no meaning on Vulkan, what the facts leave
open (a program that uses it is refused by name, never guessed at), and what is not there yet. *All* are
instructions that never translate; else the modifiers are named whose values (some or all) do not, or (in capitals) the
forms.

On devices with subgroups of other sizes than 32, compute programs exchange between lanes through shared memory, which
takes places that all threads of the workgroup reach: VOTE and SHFL in divergent code are refused there. Without
`shaderFloat64`, doubles and the directed roundings of FADD, FMUL and FFMA are refused; without
`shaderBufferInt64Atomics`, 64-bit atomics. Offsets of TEX and TXD that are computed are refused (Vulkan wants constants;
those of fetches and gathers may be computed), and so are jump tables that are not in the program's own constants.

Directed roundings are exact, but for DFMA whose result is below 2^-900 (it may be a unit off). `FCHK` says more often
than the hardware that a quotient needs the slow path, which changes no result. Threads that end before a barrier go on
without effects up to it. Each instruction flushes or keeps denormals as it says where the device promises to do one of
the two; elsewhere they are as the device treats them. Shared and local memory lie at 0x01000000 and 0x02000000 of generic
addresses, as S2R says. Of IMAD's two signs, bit 51 is that of c and bit 52 that of the product, as the facts have them;
both of Mesa's compilers read them the other way round, and no known compiler sets either. At centroids, whose place Vulkan
does not tell, the quotient that IPA.PASS leaves is by the w of the pixel's centre.

This file is made by `NAVIN_BLESS=1 cargo test -p navin-shader --test coverage`; `navin shader info --instructions` prints
its table with the instructions that do translate.

| instruction | modifiers | reason |
|---|---|---|
";
