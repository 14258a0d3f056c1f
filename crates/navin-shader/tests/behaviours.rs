//! Rules of the behaviour reference that show in the SPIR-V or the IR of small programs.

#[path = "common/assemble.rs"]
mod assemble;
mod common;

use assemble::{compute, word};
use navin_shader::isa::table::{Field, Form, Op};
use navin_shader::{ConstantLayout, GuestProgram, Options, Translator};

const FUNCTION_CALL: u32 = 57;
const LOAD: u32 = 61;
const DECORATE: u32 = 71;
const EXECUTION_MODE: u32 = 16;
const IMAGE_GATHER: u32 = 96;
const MEMORY_BARRIER: u32 = 225;

/// Instructions of a module: opcode and operands.
fn instructions(spirv: &[u32]) -> Vec<(u32, &[u32])> {
    let mut out = Vec::new();
    let mut at = 5;
    while at < spirv.len() {
        let count = (spirv[at] >> 16) as usize;
        out.push((spirv[at] & 0xFFFF, &spirv[at + 1..at + count]));
        at += count;
    }
    out
}

fn count(spirv: &[u32], opcode: u32) -> usize {
    instructions(spirv).iter().filter(|i| i.0 == opcode).count()
}

fn translated((control, gpu): &(Vec<u8>, Vec<u8>)) -> Vec<u32> {
    let guest = GuestProgram::parse(control, gpu).expect("a whole program");
    let result = Translator::new().translate(&guest, &Options::new(ConstantLayout::Corpus));
    result.unwrap_or_else(|e| panic!("{e}")).spirv
}

fn ir((control, gpu): &(Vec<u8>, Vec<u8>)) -> String {
    let guest = GuestProgram::parse(control, gpu).expect("a whole program");
    let result = Translator::new().print_ir(&guest, &Options::new(ConstantLayout::Corpus));
    result.unwrap_or_else(|e| panic!("{e}"))
}

fn exit() -> u64 {
    word(Op::Exit, Form::J, &[(Field::Cond, 15)])
}

/// Stores a register to storage slot 1 of the corpus's layout, at word `at`.
fn keep(words: &mut Vec<u64>, register: u32, at: u32) {
    let table = 0x150 / 4 + 4;
    for n in 0..2 {
        words.push(word(Op::Mov, Form::C, &[(Field::Dst, 60 + n), (Field::Cbo4, table + n)]));
    }
    let fields = [(Field::Data, register), (Field::A, 60), (Field::Off24, 4 * at), (Field::E, 1), (Field::Size, 4)];
    words.push(word(Op::Stg, Form::M, &fields));
}

/// A fragment program: like a compute one with another stage, whose header has these colour masks (word 18) and flags
/// (word 19).
fn fragment(words: &[u64], masks: u32, flags: u32) -> (Vec<u8>, Vec<u8>) {
    let (mut control, mut gpu) = compute(words);
    control[0x714..0x718].copy_from_slice(&1u32.to_le_bytes());
    control[0x71C..0x720].copy_from_slice(&(flags >> 1 & 1).to_le_bytes());
    control[0x734..0x738].copy_from_slice(&1u32.to_le_bytes());
    gpu[0x30 + 72..0x30 + 76].copy_from_slice(&masks.to_le_bytes());
    gpu[0x30 + 76..0x30 + 80].copy_from_slice(&flags.to_le_bytes());
    (control, gpu)
}

#[test]
fn b523_high_products_stay_inline() {
    for (sa, sb) in [(0, 0), (1, 1), (1, 0)] {
        let mut words = vec![word(Op::S2r, Form::S, &[(Field::Dst, 0), (Field::Sreg, 37)])];
        let signs = [(Field::Hi, 1), (Field::Sa, sa), (Field::Sb, sb)];
        for (n, divisor) in [3u64, 7, 1000].into_iter().enumerate() {
            let magic = ((1u64 << 33) / divisor) as u32;
            let fields = [&[(Field::Dst, 1), (Field::A, 0), (Field::Imm32, magic)], &signs[..]].concat();
            words.push(word(Op::Imul32i, Form::I32, &fields));
            keep(&mut words, 1, n as u32);
        }
        words.push(word(Op::Imul, Form::R, &[&[(Field::Dst, 1), (Field::A, 0), (Field::B, 1)], &signs[..]].concat()));
        keep(&mut words, 1, 4);
        words.push(exit());
        let spirv = translated(&compute(&words));
        assert_eq!(count(&spirv, FUNCTION_CALL), 0);
        assert!(instructions(&spirv).iter().filter(|i| matches!(i.0, 151 | 152)).count() >= 4, "extended products");
    }
}

#[test]
fn b526_each_texel_of_a_gather_keeps_its_offset() {
    let offsets = |xy: [u32; 4]| xy[0] | xy[1] << 8 | xy[2] << 16 | xy[3] << 24;
    let mut words = vec![
        word(Op::Mov32i, Form::I32, &[(Field::Dst, 4), (Field::Imm32, offsets([0x3F, 2, 3, 0x3E]))]),
        word(Op::Mov32i, Form::I32, &[(Field::Dst, 5), (Field::Imm32, offsets([1, 1, 0x3D, 4]))]),
    ];
    let fields = [
        (Field::Dst, 0),
        (Field::A, 2),
        (Field::B, 4),
        (Field::Dim, 2),
        (Field::Mask, 15),
        (Field::Toff, 2),
        (Field::Tid13, 8),
    ];
    words.push(word(Op::Tld4, Form::T, &fields));
    words.push(exit());
    let spirv = translated(&fragment(&words, 0xF, 0));
    let gathers: Vec<_> = instructions(&spirv).into_iter().filter(|i| i.0 == IMAGE_GATHER).collect();
    // One gather with four constant offsets (operand bit 0x20), or one for each texel with its own (0x8, 0x10).
    let one = gathers.len() == 1 && gathers[0].1[5] & 0x20 != 0;
    let four = gathers.len() == 4 && gathers.iter().all(|g| g.1[5] & 0x18 != 0);
    assert!(one || four, "{gathers:?}");
}

#[test]
fn b527_an_output_that_nobody_reads_takes_nothing_from_the_others() {
    // A pair of coordinates is loaded at once; only the second component of the texel is read.
    let mut words = Vec::new();
    for n in 0..2 {
        words.push(word(Op::Mov, Form::C, &[(Field::Dst, 8 + n), (Field::Cbo4, 0x150 / 4 + n)]));
    }
    words.push(word(Op::Ldg, Form::M, &[(Field::Dst, 2), (Field::A, 8), (Field::E, 1), (Field::Size, 5)]));
    let fields =
        [(Field::Dst, 4), (Field::A, 2), (Field::B, 255), (Field::Dim, 2), (Field::Mask, 3), (Field::Tid13, 8)];
    words.push(word(Op::Tld, Form::T, &fields));
    keep(&mut words, 5, 0);
    words.push(exit());
    let text = ir(&compute(&words));
    let texture = text.lines().find(|l| l.contains("Texture")).expect("a fetch");
    let loads: Vec<&str> =
        text.lines().filter(|l| l.contains("LoadStorage 0")).map(|l| l.split_once(" = ").unwrap().0.trim()).collect();
    assert_eq!(loads.len(), 2, "{text}");
    assert!(loads.iter().all(|l| texture.contains(l)), "{texture} of {loads:?}");
}

#[test]
fn b529_fences_stand_only_before_loads_that_an_unfenced_store_reaches() {
    let sts = word(Op::Sts, Form::M, &[(Field::Data, 0), (Field::A, 0), (Field::Size, 4)]);
    let lds = word(Op::Lds, Form::M, &[(Field::Dst, 1), (Field::A, 255), (Field::Size, 4)]);
    let bar = word(Op::Bar, Form::Ii, &[]);
    let fences = |middle: &[u64]| {
        let mut words = vec![word(Op::S2r, Form::S, &[(Field::Dst, 0), (Field::Sreg, 33)])];
        words.extend_from_slice(middle);
        keep(&mut words, 1, 0);
        words.push(exit());
        let (mut control, gpu) = compute(&words);
        control[0x754..0x758].copy_from_slice(&256u32.to_le_bytes());
        control[0x748] = 64;
        count(&translated(&(control, gpu)), MEMORY_BARRIER)
    };
    assert_eq!(fences(&[sts, bar, lds]), 0);
    assert_eq!(fences(&[sts, lds]), 1);
    assert_eq!(fences(&[sts, sts, lds]), 1);
    assert_eq!(fences(&[sts, lds, lds]), 1);
}

#[test]
fn b530_a_load_of_128_bits_is_one_lookup_and_one_load() {
    let mut words = Vec::new();
    for n in 0..2 {
        words.push(word(Op::Mov, Form::C, &[(Field::Dst, 8 + n), (Field::Cbi, 3), (Field::Cbo4, n)]));
    }
    for k in 0..10 {
        let fields = [(Field::Dst, 12 + 4 * k), (Field::A, 8), (Field::Off24, 16 * k), (Field::E, 1), (Field::Size, 6)];
        words.push(word(Op::Ldg, Form::M, &fields));
    }
    for k in 0..40 {
        keep(&mut words, 12 + k, k);
    }
    words.push(exit());
    let spirv = translated(&compute(&words));
    assert_eq!(count(&spirv, FUNCTION_CALL), 10);
    let wide = instructions(&spirv).iter().filter(|i| i.0 == LOAD && i.1.len() == 5 && i.1[4] == 16).count();
    assert_eq!(wide, 10, "loads with the promise of 16 bytes");
}

#[test]
fn b553_positions_are_invariant_in_every_vertex_program() {
    let mut seen = 0;
    for program in common::programs().iter().filter(|p| p.stage == "vert") {
        let guest = GuestProgram::parse(&program.control, &program.code).expect(&program.name);
        let Ok(t) = Translator::new().translate(&guest, &program.options) else { continue };
        let decorations: Vec<_> = instructions(&t.spirv).into_iter().filter(|i| i.0 == DECORATE).collect();
        // Built-in (11) position (0), and Invariant (18) of the same variable.
        for position in decorations.iter().filter(|d| d.1[1..] == [11, 0]) {
            assert!(decorations.iter().any(|d| d.1 == [position.1[0], 18]), "{}", program.name);
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen} positions");
}

#[test]
fn b555_early_tests_come_from_the_control_section() {
    for flag in [0u8, 1] {
        let (mut control, gpu) = fragment(&[exit()], 0xF, 0);
        control[0x718] = flag;
        let spirv = translated(&(control, gpu));
        let early = instructions(&spirv).iter().any(|i| i.0 == EXECUTION_MODE && i.1[1] == 9);
        assert_eq!(early, flag != 0);
    }
}

#[test]
fn b557_depth_lies_behind_the_colours_that_the_header_names_and_the_mask() {
    // Each target of which the header names a component takes four registers, in which components keep their place;
    // then comes the sample mask's, also when there is none, then depth.
    for (masks, register) in [(0x3, 5), (0xF, 5), (0xF0, 5), (0x8, 5), (0xF3, 9), (0x10F, 9), (0, 1)] {
        let mut words: Vec<u64> =
            (0..12).map(|r| word(Op::Mov32i, Form::I32, &[(Field::Dst, r), (Field::Imm32, 0x3F00_0000 + r)])).collect();
        words.push(exit());
        let text = ir(&fragment(&words, masks, 2));
        let depth = text.lines().find(|l| l.contains("StoreDepth")).unwrap_or_else(|| panic!("no depth in\n{text}"));
        assert!(depth.contains(&format!("{:#x}", 0x3F00_0000 + register)), "mask {masks:#x}: {depth}");
    }
}

/// Raw memory is reached through a table of two levels and never by a search: an access costs the same whatever the
/// table holds, so that there is no entry to begin with.
#[test]
fn b531_an_access_of_raw_memory_is_a_lookup_of_fixed_length() {
    let program = |reads: u32| {
        let mut words = Vec::new();
        for (first, register) in [(0, 8), (2, 10)] {
            for n in 0..2 {
                let fields = [(Field::Dst, register + n), (Field::Cbi, 3), (Field::Cbo4, first + n)];
                words.push(word(Op::Mov, Form::C, &fields));
            }
        }
        for k in 0..reads {
            // Words of one structure, then of another.
            let base = if k < reads / 2 { 8 } else { 10 };
            let fields = [(Field::Dst, 12), (Field::A, base), (Field::Off24, 4 * k), (Field::E, 1), (Field::Size, 4)];
            words.push(word(Op::Ldg, Form::M, &fields));
            keep(&mut words, 12, k);
        }
        words.push(exit());
        translated(&compute(&words))
    };
    const LOOP_MERGE: u32 = 246;
    let (few, many) = (program(2), program(128));
    for spirv in [&few, &many] {
        assert_eq!(count(spirv, LOOP_MERGE), 0, "no search");
    }
    // One call each, beside those in the functions themselves.
    assert_eq!(count(&many, FUNCTION_CALL) - count(&few, FUNCTION_CALL), 126);
    // The function is the same one: only calls, and stores of what they read, are more.
    let functions = |spirv: &[u32]| count(spirv, 54);
    assert_eq!(functions(&few), functions(&many));
}

/// Opcodes that write memory: stores are told from those to variables of the program by their pointer's class.
fn writes(spirv: &[u32]) -> usize {
    const STORAGE: [u32; 2] = [12, 5349];
    let all = instructions(spirv);
    let classes: std::collections::HashMap<u32, u32> =
        all.iter().filter(|i| i.0 == 32).map(|i| (i.1[0], i.1[1])).collect();
    let class_of: std::collections::HashMap<u32, u32> = all
        .iter()
        .filter(|i| matches!(i.0, 59 | 65 | 124 | 4447 | 117 | 120))
        .filter_map(|i| Some((i.1[1], *classes.get(&i.1[0])?)))
        .collect();
    all.iter()
        .filter(|i| match i.0 {
            62 => class_of.get(&i.1[0]).is_some_and(|c| STORAGE.contains(c)),
            99 | 228..=242 => true,
            _ => false,
        })
        .count()
}

#[test]
fn b556_translation_adds_no_store_to_a_fragment_program() {
    let (mut silent, mut writing) = (0, 0);
    for program in common::programs().iter().filter(|p| p.stage == "frag") {
        let guest = GuestProgram::parse(&program.control, &program.code).expect(&program.name);
        let Ok(t) = Translator::new().translate(&guest, &program.options) else { continue };
        let stores = navin_shader::isa::disasm::lines(&guest, None).iter().any(|line| {
            let name = line.name.unwrap_or_default();
            ["ST", "STG", "SUST", "SURED", "SUATOM", "ATOM", "RED"].iter().any(|s| name.split('.').next() == Some(s))
        });
        if stores {
            writing += usize::from(writes(&t.spirv) > 0);
        } else {
            assert_eq!(writes(&t.spirv), 0, "{}", program.name);
            silent += 1;
        }
        // And the tests come when the guest's header has them.
        let early = instructions(&t.spirv).iter().any(|i| i.0 == EXECUTION_MODE && i.1[1] == 9);
        assert_eq!(early, guest.early_fragment_tests, "{}", program.name);
    }
    assert!(silent > 80 && writing > 3, "{silent} without a store, {writing} with one");
}

/// Border colours are the sampler's own (custom border colours where the device has them): no program carries a second
/// sample that corrects the first.
#[test]
fn b559_no_sample_is_made_twice() {
    let mut samples = 0;
    for program in common::programs() {
        let guest = GuestProgram::parse(&program.control, &program.code).expect(&program.name);
        let Ok(t) = Translator::new().translate(&guest, &program.options) else { continue };
        let machine: usize = navin_shader::isa::disasm::lines(&guest, None)
            .iter()
            .map(|line| match line.name.unwrap_or_default().split('.').next().unwrap_or_default() {
                "TEX" | "TEXS" | "TLD" | "TLDS" | "TXD" => 1,
                // Four offsets are four gathers.
                "TLD4" | "TLD4S" => 4,
                _ => 0,
            })
            .sum();
        let made = instructions(&t.spirv).iter().filter(|i| matches!(i.0, 87..=97)).count();
        assert!(made <= machine, "{}: {made} samples of {machine} instructions", program.name);
        samples += made;
    }
    assert!(samples > 200, "{samples} samples");
}

#[test]
fn b678_colour_handling_is_read_from_the_code() {
    use navin_shader::library::ColourHandling;
    let mufu = |dst, a, op| word(Op::Mufu, Form::R, &[(Field::Dst, dst), (Field::A, a), (Field::Op, op)]);
    let multiply = |dst, a, b| word(Op::Fmul, Form::R, &[(Field::Dst, dst), (Field::A, a), (Field::B, b)]);
    let add = |dst, a, b| word(Op::Fadd, Form::R, &[(Field::Dst, dst), (Field::A, a), (Field::B, b)]);
    let handling = |body: &[u64]| {
        let mut words = Vec::new();
        for n in 0..2 {
            words.push(word(Op::Mov, Form::C, &[(Field::Dst, 8 + n), (Field::Cbo4, 0x150 / 4 + n)]));
        }
        for n in 0..2 {
            let fields = [(Field::Dst, n), (Field::A, 8), (Field::Off24, 4 * n), (Field::E, 1), (Field::Size, 4)];
            words.push(word(Op::Ldg, Form::M, &fields));
        }
        words.extend_from_slice(body);
        keep(&mut words, 4, 0);
        words.push(exit());
        let (control, gpu) = compute(&words);
        let guest = GuestProgram::parse(&control, &gpu).expect("a whole program");
        Translator::new().colour_handling(&guest, &Options::new(ConstantLayout::Corpus)).expect("translates")
    };
    // Roots of what is loaded, a sum, its square.
    assert_eq!(
        handling(&[mufu(2, 0, 8), mufu(3, 1, 8), add(4, 2, 3), multiply(4, 4, 4)]),
        ColourHandling::SquareRootInput
    );
    // The same with a power of the square behind it.
    assert_eq!(
        handling(&[mufu(2, 0, 8), add(4, 2, 1), multiply(4, 4, 4), mufu(4, 4, 3), mufu(4, 4, 2)]),
        ColourHandling::EncodesAfterSquare
    );
    assert_eq!(handling(&[add(4, 0, 1), multiply(4, 4, 1)]), ColourHandling::SingleSpace);
    // A curve in another place is not guessed at.
    assert_eq!(handling(&[add(4, 0, 1), mufu(4, 4, 2)]), ColourHandling::Unknown);
}
