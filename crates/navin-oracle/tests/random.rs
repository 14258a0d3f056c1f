//! Every arithmetic instruction form with random fields and operands: interpreter against translation on the device.
//!
//! Programs load 16 words a thread, run a dozen random instructions of one form, each into registers that were set
//! before, and store the destination pair, the predicates and the condition codes after each. What the facts leave
//! open is not generated (the interpreter stops there); what the translator does not know is counted and listed.

mod device;

use std::collections::{BTreeMap, BTreeSet};

use navin_corpus::gpu::Gpu;
use navin_oracle::{Assembler, Floats, Machine};
use navin_shader::isa::table::{FIELD_NAMES, FORM_NAMES, Field, Form, OP_NAMES, Op, ROWS};
use navin_shader::isa::{self, Row};
use navin_shader::{GuestProgram, TranslateError, Translator};

const THREADS: u32 = 32;
/// Words of input a thread.
const INPUT: u32 = 16;
/// Instructions of a program; each leaves four words.
const CASES: usize = 12;
/// Bytes of output a thread, as a shift.
const OUTPUT_SHIFT: u32 = 8;
const _: () = assert!(CASES * 16 <= 1 << OUTPUT_SHIFT);

/// A small generator: the same programs in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        let x = ((self.0 >> 18) ^ self.0) >> 27;
        (x as u32).rotate_right((self.0 >> 59) as u32)
    }

    fn below(&mut self, n: u32) -> u32 {
        self.next() % n
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u32) as usize]
    }

    /// A word that is interesting as an integer, a float, a half pair or a selector.
    fn word(&mut self) -> u32 {
        const SPECIAL: [u32; 24] = [
            0,
            1,
            2,
            31,
            32,
            33,
            0x7FFF_FFFF,
            0x8000_0000,
            0x8000_0001,
            u32::MAX,
            0x0000_FFFF,
            0xFFFF_0000,
            0x3F80_0000,
            0xBF80_0000,
            0x7F80_0000,
            0xFF80_0000,
            0x7FC0_0000,
            0x4F00_0000,
            0xCF00_0000,
            0x3C00_BC00,
            0x7C00_3C00,
            0x4780_0000,
            0x0000_0808,
            0x0000_1004,
        ];
        match self.below(8) {
            0 => self.pick(&SPECIAL),
            1 => self.below(64),
            2 => (self.below(2000) as f32 / 16.0 - 62.5).to_bits(),
            // Near ties of the last place, so that rounding modes differ.
            3 => (1.0 + self.below(1 << 20) as f32 * 2f32.powi(-23)).to_bits(),
            4 => self.below(32) | self.below(33) << 8,
            // Halves of ordinary size.
            5 => (0x3000 + self.below(0x1800)) | (0xB000 + self.below(0x1800)) << 16,
            6 => self.next() & 0x00FF_00FF,
            _ => self.next(),
        }
    }
}

/// How results of an instruction are compared.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Bits,
    Float,
    Double,
    Halves,
    /// Special functions: the device's precision.
    Approximate,
}

fn kind(op: Op, word: u64) -> Kind {
    let i = isa::decode(word, 8).expect("made from the table");
    match op {
        Op::Mufu => Kind::Approximate,
        Op::F2f if i.get(Field::Dfmt) == 3 => Kind::Double,
        Op::F2f if i.get(Field::Dfmt) == 1 => Kind::Halves,
        Op::I2f if i.get(Field::Dfmt) == 3 => Kind::Double,
        Op::I2f if i.get(Field::Dfmt) == 1 => Kind::Halves,
        Op::Fadd
        | Op::Fadd32i
        | Op::Fmul
        | Op::Fmul32i
        | Op::Ffma
        | Op::Ffma32i
        | Op::Fmnmx
        | Op::F2f
        | Op::I2f
        | Op::Rro
        | Op::Fcmp => Kind::Float,
        Op::Dadd | Op::Dmul | Op::Dfma | Op::Dmnmx => Kind::Double,
        Op::Hadd2 | Op::Hmul2 | Op::Hfma2 if i.get(Field::Ofmt) == 1 => Kind::Float,
        Op::Hadd2 | Op::Hadd2x32i | Op::Hmul2 | Op::Hmul2x32i | Op::Hfma2 | Op::Hfma2x32i => Kind::Halves,
        _ => Kind::Bits,
    }
}

fn agree(kind: Kind, want: [u32; 4], got: [u32; 4]) -> bool {
    let float = |a: u32, b: u32| {
        let (x, y) = (f32::from_bits(a), f32::from_bits(b));
        // A device may flush denormals or keep them; and a NaN is a NaN.
        let small = |v: f32| v == 0.0 || v.is_subnormal();
        a == b || (x.is_nan() && y.is_nan()) || (small(x) && small(y))
    };
    let half = |a: u32, b: u32| {
        let nan = |h: u32| h & 0x7FFF > 0x7C00;
        let small = |h: u32| h & 0x7C00 == 0;
        a == b || (nan(a) && nan(b)) || (small(a) && small(b))
    };
    let flags = want[2..] == got[2..];
    flags
        && match kind {
            Kind::Bits => want[..2] == got[..2],
            Kind::Float => float(want[0], got[0]) && want[1] == got[1],
            Kind::Double => {
                let d = |w: [u32; 4]| f64::from_bits(u64::from(w[0]) | u64::from(w[1]) << 32);
                let (x, y) = (d(want), d(got));
                let small = |v: f64| v == 0.0 || v.is_subnormal();
                want[..2] == got[..2] || (x.is_nan() && y.is_nan()) || (small(x) && small(y))
            }
            Kind::Halves => {
                half(want[0] & 0xFFFF, got[0] & 0xFFFF) && half(want[0] >> 16, got[0] >> 16) && want[1] == got[1]
            }
            Kind::Approximate => {
                let (x, y) = (f32::from_bits(want[0]), f32::from_bits(got[0]));
                let near = (x - y).abs() <= 1e-4 * x.abs().max(1e-2);
                want[1] == got[1] && (float(want[0], got[0]) || near || x == y)
            }
        }
}

/// Instructions that the interpreter runs.
const OPS: [Op; 80] = [
    Op::Mov,
    Op::Mov32i,
    Op::Sel,
    Op::Iadd,
    Op::Iadd32i,
    Op::Iadd3,
    Op::Iscadd,
    Op::Iscadd32i,
    Op::Lea,
    Op::LeaHi,
    Op::Imnmx,
    Op::Icmp,
    Op::Iset,
    Op::Isetp,
    Op::Bfe,
    Op::Bfi,
    Op::Flo,
    Op::Popc,
    Op::Shl,
    Op::Shr,
    Op::ShfL,
    Op::ShfR,
    Op::Lop,
    Op::Lop32i,
    Op::Lop3,
    Op::Prmt,
    Op::Imul,
    Op::Imul32i,
    Op::Imad,
    Op::Imad32i,
    Op::Xmad,
    Op::Idp,
    Op::Imadsp,
    Op::Cset,
    Op::Csetp,
    Op::Pset,
    Op::Psetp,
    Op::P2r,
    Op::R2p,
    Op::Fadd,
    Op::Fadd32i,
    Op::Fmul,
    Op::Fmul32i,
    Op::Ffma,
    Op::Ffma32i,
    Op::Fmnmx,
    Op::Fset,
    Op::Fsetp,
    Op::Fcmp,
    Op::Mufu,
    Op::Rro,
    Op::Dadd,
    Op::Dmul,
    Op::Dfma,
    Op::Dmnmx,
    Op::Dset,
    Op::Dsetp,
    Op::F2f,
    Op::F2i,
    Op::I2f,
    Op::I2i,
    Op::Hadd2,
    Op::Hadd2x32i,
    Op::Hmul2,
    Op::Hmul2x32i,
    Op::Hfma2,
    Op::Hfma2x32i,
    Op::Hset2,
    Op::Hsetp2,
    Op::Vadd,
    Op::Vabsdiff,
    Op::Vmnmx,
    Op::Vset,
    Op::Vshl,
    Op::Vshr,
    Op::Vmad,
    Op::Vsetp,
    Op::Vote,
    Op::Shfl,
    Op::S2r,
];

/// A random word of a row.
fn instruction(row: &Row, random: &mut Random) -> u64 {
    let mut word = row.value;
    // Most modifiers are rare, so that plain uses and single modifiers are seen as well as everything at once.
    let wild = random.below(3);
    for &(field, low, width) in row.fields {
        let value = match field {
            Field::Dst => 20,
            Field::A | Field::B | Field::C => {
                if random.below(12) == 0 {
                    255
                } else {
                    2 * random.below(8) + u32::from(!wide(row.op) && random.below(2) == 1)
                }
            }
            Field::Pg => random.pick(&[7, 7, 7, 0, 1]),
            Field::Pd | Field::Pdn => random.below(8),
            Field::Ps | Field::Pa | Field::Pb if width == 3 => random.below(8),
            Field::Cbi | Field::Ccbi => 3,
            Field::Cbo4 | Field::Ccbo4 => 2 * random.below(30),
            Field::Qmask => 15,
            Field::Imm32 => random.word(),
            Field::Imm19 | Field::Imm16 | Field::Imm9lo | Field::Imm9hi => random.word() & ((1 << width) - 1),
            Field::Imm6
            | Field::Shift
            | Field::Lut
            | Field::Lane5
            | Field::Immsign
            | Field::Asel
            | Field::Bsel
            | Field::Dfmt
            | Field::Sfmt
            | Field::Cmp
            | Field::Cond
            | Field::Psn => random.next() & ((1 << width) - 1),
            Field::Cimm13 => random.pick(&[0x1F, 0x1C03, 0x1807, 0]),
            Field::Sreg => random.pick(&[0, 33, 34, 35, 37, 56, 57, 58, 59, 60]),
            _ => match wild {
                0 => 0,
                1 if random.below(3) != 0 => 0,
                _ => random.next() & ((1 << width) - 1),
            },
        };
        word |= u64::from(value & ((1u64 << width) - 1) as u32) << low;
    }
    word
}

/// Instructions on register pairs.
fn wide(op: Op) -> bool {
    matches!(
        op,
        Op::Dadd | Op::Dmul | Op::Dfma | Op::Dmnmx | Op::Dset | Op::Dsetp | Op::F2f | Op::F2i | Op::I2f | Op::I2i
    )
}

/// Does the instruction write predicates or condition codes?
fn leaves_flags(word: u64) -> bool {
    let i = isa::decode(word, 8).expect("made from the table");
    i.has(Field::Pd) || i.has(Field::Pdn) || i.flag(Field::Cc) || i.op == Op::R2p || i.get(Field::Xmode) != 0
}

/// The program around `cases`.
fn program(cases: &[u64]) -> Assembler {
    let mut p = Assembler::new();
    let table = device::STORAGE_TABLE as u32 / 4;
    p.op(Op::S2r, Form::S, &[(Field::Dst, 30), (Field::Sreg, 33)]);
    for (register, slot, shift) in [(32, 0, 6), (34, 1, OUTPUT_SHIFT)] {
        p.op(Op::Shl, Form::I, &[(Field::Dst, 31), (Field::A, 30), (Field::Imm19, shift)]);
        let pointer = |p: &mut Assembler, dst, word| {
            p.op(Op::Mov, Form::C, &[(Field::Dst, dst), (Field::Cbo4, word)]);
        };
        pointer(&mut p, register, table + 4 * slot);
        pointer(&mut p, register + 1, table + 4 * slot + 1);
        p.op(Op::Iadd, Form::R, &[(Field::Dst, register), (Field::A, register), (Field::B, 31), (Field::Cc, 1)]);
        p.op(
            Op::Iadd,
            Form::R,
            &[(Field::Dst, register + 1), (Field::A, register + 1), (Field::B, 255), (Field::X, 1)],
        );
    }
    for k in 0..INPUT / 4 {
        let fields = [(Field::Dst, 4 * k), (Field::A, 32), (Field::Off24, 16 * k), (Field::E, 1), (Field::Size, 6)];
        p.op(Op::Ldg, Form::M, &fields);
    }
    // Predicates from bits of word 15.
    for n in 0..7 {
        let fields = [(Field::Dst, 255), (Field::A, 15), (Field::Imm19, 1 << n), (Field::Pd, n), (Field::Pop, 3)];
        p.op(Op::Lop, Form::I, &fields);
    }
    // And flags from a sum.
    p.op(Op::Iadd, Form::R, &[(Field::Dst, 36), (Field::A, 12), (Field::B, 13), (Field::Cc, 1)]);
    for (n, &case) in cases.iter().enumerate() {
        p.op(Op::Mov, Form::R, &[(Field::Dst, 20), (Field::B, 14)]);
        p.op(Op::Mov, Form::R, &[(Field::Dst, 21), (Field::B, 11)]);
        p.raw(case);
        if leaves_flags(case) {
            p.op(Op::P2r, Form::I, &[(Field::Dst, 22), (Field::A, 255), (Field::Imm19, 0x7F)]);
            // The flags one by one through CSET: Z, N, C, V.
            p.op(Op::Mov, Form::R, &[(Field::Dst, 23), (Field::B, 255)]);
            for (bit, cond) in [10, 21, 22, 23].into_iter().enumerate() {
                p.op(Op::Cset, Form::P, &[(Field::Dst, 24), (Field::Cond, cond)]);
                let fields = [(Field::Dst, 24), (Field::A, 24), (Field::Imm19, 1 << bit)];
                p.op(Op::Lop, Form::I, &fields);
                p.op(Op::Lop, Form::R, &[(Field::Dst, 23), (Field::A, 23), (Field::B, 24), (Field::Op, 1)]);
            }
        }
        let fields =
            [(Field::Data, 20), (Field::A, 34), (Field::Off24, 16 * n as u32), (Field::E, 1), (Field::Size, 6)];
        p.op(Op::Stg, Form::M, &fields);
    }
    p.op(Op::Exit, Form::J, &[]);
    p
}

/// What the interpreter leaves behind; none where it does not know an instruction.
fn interpret(cases: &[u64], input: &[u8], uniforms: &[u8], floats: Floats) -> Option<Vec<u8>> {
    let code = program(cases).code();
    let mut machine = Machine::new(&code, [THREADS, 1, 1], [0; 3], 0, 0);
    let output = (THREADS as usize) << OUTPUT_SHIFT;
    machine.threads.iter_mut().for_each(|t| t.floats = floats);
    machine.constants.insert(0, device::bank0([input.len(), output]));
    machine.constants.insert(3, uniforms.to_vec());
    machine.memory.add(device::BUFFERS[0], input.to_vec());
    machine.memory.add(device::BUFFERS[1], vec![0; output]);
    machine.run(100_000).ok()?;
    Some(machine.memory.bytes(device::BUFFERS[1]).to_vec())
}

fn words(bytes: &[u8], case: usize, thread: usize) -> [u32; 4] {
    let at = (thread << OUTPUT_SHIFT) + case * 16;
    let word = |n: usize| u32::from_le_bytes(bytes[at + 4 * n..at + 4 * n + 4].try_into().expect("four bytes"));
    [word(0), word(1), word(2), word(3)]
}

/// Whether the device rounds FFMA once, as the hardware does (Mesa's CPU device rounds the product too).
fn fuses(gpu: &Gpu, translator: &mut Translator) -> bool {
    let mut p = Assembler::new();
    let near = 1f32.to_bits() + 1;
    p.op(Op::Mov32i, Form::I32, &[(Field::Dst, 0), (Field::Imm32, near)]);
    p.op(Op::Mov32i, Form::I32, &[(Field::Dst, 1), (Field::Imm32, (1f32.to_bits() + 2) | 1 << 31)]);
    let table = device::STORAGE_TABLE as u32 / 4 + 4;
    p.op(Op::Mov, Form::C, &[(Field::Dst, 4), (Field::Cbo4, table)]);
    p.op(Op::Mov, Form::C, &[(Field::Dst, 5), (Field::Cbo4, table + 1)]);
    // Not known at translation: the uniform is `near` too.
    p.op(Op::Mov, Form::C, &[(Field::Dst, 0), (Field::Cbi, 3)]);
    p.op(Op::Ffma, Form::Rr, &[(Field::Dst, 2), (Field::A, 0), (Field::B, 0), (Field::C, 1)]);
    p.op(Op::Stg, Form::M, &[(Field::Data, 2), (Field::A, 4), (Field::E, 1), (Field::Size, 4)]);
    p.op(Op::Exit, Form::J, &[]);
    let (control, code) = p.compute([1, 1, 1], 0, 0);
    let bytes = device::run(gpu, translator, (&control, &code), &[0; 16], 16, &near.to_le_bytes()).expect("it runs");
    bytes[..4] != [0; 4]
}

/// Whether host and hardware have to agree on the case: special functions have a range, lanes a device of 32.
fn comparable(word: u64, gpu: &Gpu) -> bool {
    let i = isa::decode(word, 8).expect("made from the table");
    match i.op {
        // Large angles lose all precision by the range reduction that a compiler puts before.
        Op::Mufu => !matches!(i.get(Field::Op), 0 | 1 | 3),
        Op::S2r => gpu.subgroup_size == 32 || !matches!(i.get(Field::Sreg), 0 | 56..=60),
        _ => true,
    }
}

/// The fields of a word that are not idle.
fn describe(word: u64) -> String {
    let i = isa::decode(word, 8).expect("an instruction");
    let mut text = format!("{} {}", i.name(), FORM_NAMES[i.form() as usize]);
    for &(field, _, _) in i.fields() {
        if i.get(field) != 0 {
            text += &format!(" {}={:#x}", FIELD_NAMES[field as usize], i.get(field));
        }
    }
    text
}

/// What running a program's cases showed.
#[derive(Default)]
struct Verdicts {
    compared: usize,
    wrong: Vec<String>,
}

/// Runs a program of `cases` both ways.
fn compare(gpu: &Gpu, translator: &mut Translator, fused: bool, cases: &[u64], data: [&[u8]; 2]) -> Verdicts {
    let [input, uniforms] = data;
    // Any of the ways in which a device may treat denormals.
    let wanted = [None, Some(false), Some(true)]
        .map(|flush| interpret(cases, input, uniforms, Floats { fused, flush }).expect("each was simulated alone"));
    let want = &wanted[0];
    let (control, code) = program(cases).compute([THREADS, 1, 1], 0, 0);
    let got = device::run(gpu, translator, (&control, &code), input, want.len(), uniforms)
        .unwrap_or_else(|e| panic!("{}: {e:#}", describe(cases[0])));
    let mut verdicts = Verdicts::default();
    for (n, &case) in cases.iter().enumerate() {
        verdicts.compared += 1;
        let kind = kind(isa::decode(case, 8).expect("made from the table").op, case);
        let bad = (0..THREADS as usize)
            .find(|&t| !wanted.iter().any(|want| agree(kind, words(want, n, t), words(&got, n, t))));
        let Some(t) = bad else { continue };
        let at = t * INPUT as usize * 4;
        let regs: Vec<String> = input[at..at + 64]
            .chunks_exact(4)
            .map(|b| format!("{:08x}", u32::from_le_bytes(b.try_into().expect("four bytes"))))
            .collect();
        verdicts.wrong.push(format!(
            "{}\n  thread {t}: want {:08x?} got {:08x?}\n  registers {}",
            describe(case),
            words(want, n, t),
            words(&got, n, t),
            regs.join(" ")
        ));
    }
    verdicts
}

/// The word with a guard that is true.
fn unguarded(word: u64) -> u64 {
    let i = isa::decode(word, 8).expect("made from the table");
    i.fields().iter().fold(word, |w, &(field, low, width)| match field {
        Field::Pg => w | ((1 << width) - 1) << low,
        Field::Pgn => w & !(1 << low),
        _ => w,
    })
}

/// Instructions of each form: some in every run, more with `NAVIN_ORACLE=long` (or a number), from another seed each
/// time with `NAVIN_SEED`.
#[test]
fn every_form_computes_what_the_facts_say() {
    let gpu = Gpu::open().expect("a Vulkan 1.3 device");
    let options = device::options(&gpu);
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let each = match std::env::var("NAVIN_ORACLE").as_deref() {
        Ok("long") => 24,
        _ => number("NAVIN_ORACLE").unwrap_or(2) as usize,
    };
    let mut random = Random(number("NAVIN_SEED").unwrap_or(7));
    let input: Vec<u8> = (0..THREADS * INPUT).flat_map(|_| random.word().to_le_bytes()).collect();
    let uniforms: Vec<u8> = (0..64).flat_map(|_| random.word().to_le_bytes()).collect();
    let mut translator = Translator::new();
    let fused = fuses(&gpu, &mut translator);
    let mut refused: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut open = 0;
    let mut cases = Vec::new();
    for row in ROWS.iter().filter(|r| OPS.contains(&r.op)) {
        let first = cases.len();
        for _ in 0..2 * each {
            let case = instruction(row, &mut random);
            let known = |case| interpret(&[case], &input, &uniforms, Floats::HARDWARE).is_some();
            if !comparable(case, &gpu) || !known(case) || !known(unguarded(case)) {
                open += 1;
                continue;
            }
            let (control, code) = program(&[case]).compute([THREADS, 1, 1], 0, 0);
            let guest = GuestProgram::parse(&control, &code).expect("a whole program");
            match translator.translate(&guest, &options) {
                Ok(_) => cases.push(case),
                Err(TranslateError::Unsupported { reason, .. }) => {
                    refused.entry(OP_NAMES[row.op as usize]).or_default().insert(reason.to_string());
                }
                Err(e) => panic!("{}: {e}", describe(case)),
            }
            if cases.len() == first + each {
                break;
            }
        }
    }
    // Nearly all the time is the device's compiler: two threads, each with a device of its own.
    let programs: Vec<&[u64]> = cases.chunks(CASES).collect();
    let half = programs.len() / 2;
    let data = [&input[..], &uniforms[..]];
    let verdicts = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let gpu = Gpu::open().expect("a Vulkan 1.3 device");
            let mut translator = Translator::new();
            programs[..half].iter().map(|p| compare(&gpu, &mut translator, fused, p, data)).collect::<Vec<_>>()
        });
        let mut all: Vec<Verdicts> =
            programs[half..].iter().map(|p| compare(&gpu, &mut translator, fused, p, data)).collect();
        all.extend(other.join().expect("the other half"));
        all
    });
    let compared: usize = verdicts.iter().map(|v| v.compared).sum();
    let wrong: Vec<String> = verdicts.into_iter().flat_map(|v| v.wrong).collect();
    println!("{compared} instructions compared, {open} left open by the facts");
    for (op, what) in &refused {
        println!("not translated: {op}: {}", what.iter().cloned().collect::<Vec<_>>().join("; "));
    }
    assert!(wrong.is_empty(), "{} of {compared} instructions differ:\n{}", wrong.len(), wrong.join("\n"));
}
