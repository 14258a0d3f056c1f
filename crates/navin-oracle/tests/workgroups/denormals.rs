//! Denormals and zeros of binary32: what each instruction says holds, whatever the rest of its program says.

use navin_shader::DeviceFeatures;
use navin_shader::isa::table::{Field, Form, Op};

use crate::code::*;

/// Both zeros, denormals, the numbers next to them, ordinary ones.
const VALUES: [u32; 16] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x007F_FFFF,
    0x807F_FFFF,
    0x0040_0000,
    0x8012_3456,
    0x0080_0000,
    0x8080_0000,
    0x0080_0001,
    0x3F80_0000,
    0xBF80_0000,
    0x3F00_0000,
    0x4040_0000,
    0x3300_0000,
];
/// Threads: one for each pair of values.
const THREADS: u32 = 256;

/// An instruction that takes a and b (registers 0 and 1) to a result (register 4).
type Case = (&'static str, Op, Form, &'static [(Field, u32)], Field);

/// Each with the field that says whether it flushes.
const CASES: [Case; 16] = {
    use Field::{Aa, Ab, B, C, Cmp, Dfmt, Dsigned, Fmz, Ftz, Imm32, Nab, Nb, Psn, Rint, Rnd, Sat, Scale, Sfmt};
    [
        ("a + b", Op::Fadd, Form::R, &[(B, 1)], Ftz),
        ("a - |b|", Op::Fadd, Form::R, &[(B, 1), (Nb, 1), (Ab, 1)], Ftz),
        ("sat(a + b)", Op::Fadd, Form::R, &[(B, 1), (Sat, 1)], Ftz),
        ("a + b upwards", Op::Fadd, Form::R, &[(B, 1), (Rnd, 2)], Ftz),
        ("a * b", Op::Fmul, Form::R, &[(B, 1)], Fmz),
        ("a * -b * 4", Op::Fmul, Form::R, &[(B, 1), (Nab, 1), (Scale, 5)], Fmz),
        ("a * b downwards", Op::Fmul, Form::R, &[(B, 1), (Rnd, 1)], Fmz),
        ("a * 1 + b", Op::Ffma, Form::Rr, &[(B, 2), (C, 1)], Fmz),
        ("a + immediate", Op::Fadd32i, Form::I32, &[(Imm32, 0x0080_0000)], Ftz),
        ("min(a, b)", Op::Fmnmx, Form::R, &[(B, 1)], Ftz),
        ("max(a, b)", Op::Fmnmx, Form::R, &[(B, 1), (Psn, 1)], Ftz),
        ("max(a, 0)", Op::Fmnmx, Form::R, &[(B, 255), (Psn, 1)], Ftz),
        ("a < b", Op::Fset, Form::R, &[(B, 1), (Cmp, 1)], Ftz),
        ("|a| == b", Op::Fset, Form::R, &[(B, 1), (Cmp, 2), (Aa, 1)], Ftz),
        ("ceil(a)", Op::F2f, Form::R, &[(B, 0), (Dfmt, 2), (Sfmt, 2), (Rint, 1), (Rnd, 2)], Ftz),
        ("int(floor(a))", Op::F2i, Form::R, &[(B, 0), (Dfmt, 2), (Sfmt, 2), (Dsigned, 1), (Rnd, 1)], Ftz),
    ]
};

fn input() -> Vec<u32> {
    (0..THREADS).flat_map(|n| [VALUES[n as usize / 16], VALUES[n as usize % 16]]).collect()
}

/// Code that has two words of input, a thread's own, in registers 0 and 1.
fn wide_input() -> Code {
    let mut c = Code::new();
    c.op(Op::Iadd, Form::R, &[(Field::Dst, IN), (Field::A, IN), (Field::B, 31), (Field::Cc, 1)]);
    c.op(Op::Iadd, Form::R, &[(Field::Dst, IN + 1), (Field::A, IN + 1), (Field::B, 255), (Field::X, 1)]);
    c.op(Op::Ldg, Form::M, &[(Field::Dst, 0), (Field::A, IN), (Field::E, 1), (Field::Size, 5)]);
    c
}

/// All cases, each with the flags of `flushes`.
fn program(flushes: &[bool]) -> Code {
    let mut c = wide_input();
    // The product is exact: not every device fuses.
    c.mov(2, 0x3F80_0000);
    let mut row = 0;
    for &flush in flushes {
        for (_, op, form, fields, flag) in CASES {
            let mut all = vec![(Field::Dst, 4), (flag, u32::from(flush))];
            if !matches!(op, Op::F2f | Op::F2i) {
                all.push((Field::A, 0));
            }
            all.extend_from_slice(fields);
            c.op(op, form, &all);
            c.store(4, row, THREADS);
            row += 1;
        }
    }
    c.exit();
    c
}

/// Whether the device keeps denormals in a module that says nothing of them.
fn keeps(bench: &mut Bench) -> bool {
    bench.options.features -= DeviceFeatures::FLUSH_DENORMS | DeviceFeatures::PRESERVE_DENORMS;
    let mut c = Code::new();
    c.load(0);
    c.op(Op::Fadd, Form::R, &[(Field::Dst, 1), (Field::A, 0), (Field::B, 0)]);
    c.store(1, 0, 1);
    c.exit();
    bench.run(&c, 1, &[1], 1)[0] != 0
}

fn check(bench: &mut Bench, flushes: &[bool]) {
    let rows = (flushes.len() * CASES.len()) as u32;
    bench.agree(&program(flushes), THREADS, &input(), (rows * THREADS) as usize);
}

#[test]
fn each_instruction_flushes_or_keeps_denormals_by_itself() {
    let mut bench = Bench::new();
    let (promised, modes) = (bench.options.features, DeviceFeatures::FLUSH_DENORMS | DeviceFeatures::PRESERVE_DENORMS);
    // A device that promises nothing does one of the two.
    let kept = keeps(&mut bench);
    let does = if kept { DeviceFeatures::PRESERVE_DENORMS } else { DeviceFeatures::FLUSH_DENORMS };
    let mode = if promised.intersects(modes) { promised & modes } else { does };
    bench.options.features |= mode;
    // As many that flush as that keep: the module keeps where it can. Then so many that flush that it flushes.
    check(&mut bench, &[true, false]);
    let mut most = [true; 11];
    most[5] = false;
    check(&mut bench, &most);
    // Keeping in a module that flushes: nothing here may depend on what the device does.
    bench.options.features -= modes;
    bench.options.features |= DeviceFeatures::FLUSH_DENORMS;
    check(&mut bench, &[false]);
    // And flushing in one that keeps.
    bench.options.features -= modes;
    bench.options.features |= DeviceFeatures::PRESERVE_DENORMS;
    if kept || promised.contains(DeviceFeatures::PRESERVE_DENORMS) {
        check(&mut bench, &[true]);
    }
}

#[test]
fn minimum_and_maximum_take_minus_zero_for_the_smaller() {
    let mut bench = Bench::new();
    // A device that is not asked for the signs of zeros mixes them up.
    bench.options.features -= DeviceFeatures::PRESERVE_NAN;
    let input = [[0, 0x8000_0000], [0x8000_0000, 0], [0, 0], [0x8000_0000, 0x8000_0000], [1 << 31, 1 << 30]];
    let mut c = wide_input();
    for (row, (b, larger)) in [(1, 0), (1, 1), (255, 0), (255, 1)].into_iter().enumerate() {
        c.op(Op::Fmnmx, Form::R, &[(Field::Dst, 4), (Field::A, 0), (Field::B, b), (Field::Psn, larger)]);
        c.store(4, row as u32, 5);
        c.op(Op::Fmnmx, Form::R, &[(Field::Dst, 4), (Field::A, b), (Field::B, 0), (Field::Psn, larger)]);
        c.store(4, row as u32 + 4, 5);
    }
    c.exit();
    bench.agree(&c, 5, input.as_flattened(), 40);
}
