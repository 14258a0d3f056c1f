//! Meaning of instructions: words are assembled from the instruction table, their operands are constants, and what
//! the translator folds is compared with plain Rust.

#[path = "common/assemble.rs"]
mod assemble;

use assemble::{compute, word};
use navin_shader::isa::table::{Field, Form, Op};
use navin_shader::{ConstantLayout, GuestProgram, Options, Translator};
use proptest::prelude::*;

fn mov(register: u32, value: u32) -> u64 {
    word(Op::Mov32i, Form::I32, &[(Field::Dst, register), (Field::Imm32, value)])
}

/// The registers of a and b that the tests use.
const A: u32 = 0;
const B: u32 = 1;
const C: u32 = 2;
const R: u32 = 3;

/// What `body` leaves in register R when A, B and C hold the values: the constant that the program stores.
fn run(values: [u32; 3], body: &[u64]) -> u32 {
    let mut words = vec![mov(A, values[0]), mov(B, values[1]), mov(C, values[2])];
    words.extend_from_slice(body);
    // The pointer of storage slot 0 in the corpus layout of compute programs.
    for (register, at) in [(4, 0x150 / 4), (5, 0x154 / 4)] {
        words.push(word(Op::Mov, Form::C, &[(Field::Dst, register), (Field::Cbo4, at)]));
    }
    words.push(word(Op::Stg, Form::M, &[(Field::Data, R), (Field::A, 4), (Field::E, 1), (Field::Size, 4)]));
    words.push(word(Op::Exit, Form::J, &[(Field::Cond, 15)]));
    let (control, gpu) = compute(&words);
    let guest = GuestProgram::parse(&control, &gpu).expect("a whole program");
    let text = Translator::new().print_ir(&guest, &Options::new(ConstantLayout::Corpus)).expect("a translation");
    let line = text.lines().find(|l| l.contains("StoreStorage")).unwrap_or_else(|| panic!("no store in\n{text}"));
    let value = line.split_whitespace().last().expect("a value");
    let digits = value.strip_prefix("0x").unwrap_or_else(|| panic!("not folded:\n{text}"));
    u32::from_str_radix(digits, 16).expect("a number")
}

fn abr(op: Op, more: &[(Field, u32)]) -> u64 {
    let mut fields = vec![(Field::Dst, R), (Field::A, A), (Field::B, B)];
    fields.extend_from_slice(more);
    word(op, Form::R, &fields)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn iadd_adds_and_subtracts(a: u32, b: u32) {
        prop_assert_eq!(run([a, b, 0], &[abr(Op::Iadd, &[])]), a.wrapping_add(b));
        prop_assert_eq!(run([a, b, 0], &[abr(Op::Iadd, &[(Field::Nb, 1)])]), a.wrapping_sub(b));
        prop_assert_eq!(run([a, b, 0], &[abr(Op::Iadd, &[(Field::Na, 1)])]), b.wrapping_sub(a));
        // Both signs together mean plus one.
        let both = abr(Op::Iadd, &[(Field::Na, 1), (Field::Nb, 1)]);
        prop_assert_eq!(run([a, b, 0], &[both]), a.wrapping_add(b).wrapping_add(1));
    }

    #[test]
    fn wide_sums_carry(a: u64, b: u64) {
        // IADD.CC of the low words, IADD.X of the high ones; the high sum is stored.
        let low = word(Op::Iadd, Form::R, &[(Field::Dst, 6), (Field::A, A), (Field::B, B), (Field::Cc, 1)]);
        let high = word(Op::Iadd, Form::R, &[(Field::Dst, R), (Field::A, C), (Field::B, 7), (Field::X, 1)]);
        let body = [mov(7, (b >> 32) as u32), low, high];
        let sum = run([a as u32, b as u32, (a >> 32) as u32], &body);
        prop_assert_eq!(sum, (a.wrapping_add(b) >> 32) as u32);
    }

    #[test]
    fn wide_compares_borrow(a: u64, b: u64, signed: bool) {
        // IADD.CC low = a.low - b.low, ISET.X on the high words.
        let low = word(Op::Iadd, Form::R, &[(Field::Dst, 6), (Field::A, A), (Field::B, B), (Field::Nb, 1), (Field::Cc, 1)]);
        for (cmp, expected) in [
            (1, if signed { (a as i64) < b as i64 } else { a < b }),
            (2, a == b),
            (3, if signed { a as i64 <= b as i64 } else { a <= b }),
            (4, if signed { a as i64 > b as i64 } else { a > b }),
            (5, a != b),
            (6, if signed { a as i64 >= b as i64 } else { a >= b }),
        ] {
            let fields = [(Field::Dst, R), (Field::A, C), (Field::B, 7), (Field::X, 1), (Field::Cmp, cmp),
                          (Field::Signed, u32::from(signed))];
            let body = [mov(7, (b >> 32) as u32), low, word(Op::Iset, Form::R, &fields)];
            let got = run([a as u32, b as u32, (a >> 32) as u32], &body);
            prop_assert_eq!(got != 0, expected, "{} {} {} {}", cmp, a, b, signed);
        }
    }

    #[test]
    fn iscadd_scales(a: u32, b: u32, shift in 0u32..32) {
        prop_assert_eq!(run([a, b, 0], &[abr(Op::Iscadd, &[(Field::Shift, shift)])]), (a << shift).wrapping_add(b));
    }

    #[test]
    fn three_xmads_are_a_product(a: u32, b: u32, c: u32) {
        let rr = |dst, x, y, z, more: &[(Field, u32)]| {
            let mut fields = vec![(Field::Dst, dst), (Field::A, x), (Field::B, y), (Field::C, z)];
            fields.extend_from_slice(more);
            word(Op::Xmad, Form::Rr, &fields)
        };
        let body = [
            rr(6, A, B, C, &[]),
            rr(7, A, B, 255, &[(Field::Hb, 1), (Field::Mrg, 1)]),
            rr(R, A, 7, 6, &[(Field::Ha, 1), (Field::Hb, 1), (Field::Psl, 1), (Field::Cmode, 4)]),
        ];
        prop_assert_eq!(run([a, b, c], &body), a.wrapping_mul(b).wrapping_add(c));
    }

    #[test]
    fn imul_high_words(a: u32, b: u32) {
        let hi = |sa, sb| abr(Op::Imul, &[(Field::Hi, 1), (Field::Sa, sa), (Field::Sb, sb)]);
        let wide = |x: i64, y: i64| ((i128::from(x) * i128::from(y)) >> 32) as u32;
        let (ua, ub, sa, sb) = (i64::from(a), i64::from(b), i64::from(a as i32), i64::from(b as i32));
        prop_assert_eq!(run([a, b, 0], &[hi(0, 0)]), wide(ua, ub));
        prop_assert_eq!(run([a, b, 0], &[hi(1, 1)]), wide(sa, sb));
        prop_assert_eq!(run([a, b, 0], &[hi(1, 0)]), wide(sa, ub));
        prop_assert_eq!(run([a, b, 0], &[hi(0, 1)]), wide(ua, sb));
    }

    #[test]
    fn shifts_clamp_or_wrap(a: u32, amount in 0u32..70, wrap in 0u32..2) {
        let n = if wrap == 1 { amount & 31 } else { amount };
        let with = |op, signed| {
            let mut more = vec![(Field::Wrap, wrap)];
            if op == Op::Shr {
                more.push((Field::Signed, signed));
            }
            run([a, amount, 0], &[abr(op, &more)])
        };
        prop_assert_eq!(with(Op::Shl, 0), a.checked_shl(n).unwrap_or(0));
        prop_assert_eq!(with(Op::Shr, 0), a.checked_shr(n).unwrap_or(0));
        prop_assert_eq!(with(Op::Shr, 1), (a as i32 >> n.min(31)) as u32);
    }

    #[test]
    fn lop3_is_its_table(a: u32, b: u32, c: u32, lut in 0u32..256) {
        let fields = [(Field::Dst, R), (Field::A, A), (Field::B, B), (Field::C, C), (Field::Lut, lut)];
        let expected = (0..32).fold(0, |r, n| {
            let index = (a >> n & 1) << 2 | (b >> n & 1) << 1 | c >> n & 1;
            r | (lut >> index & 1) << n
        });
        prop_assert_eq!(run([a, b, c], &[word(Op::Lop3, Form::Rr, &fields)]), expected);
    }

    #[test]
    fn prmt_picks_bytes(a: u32, c: u32, selector: u16) {
        let fields = [(Field::Dst, R), (Field::A, A), (Field::B, B), (Field::C, C)];
        let bytes = (u64::from(c) << 32 | u64::from(a)).to_le_bytes();
        let expected = (0..4).fold(0, |r, k| {
            let nibble = usize::from(selector >> (4 * k) & 15);
            let byte = bytes[nibble & 7];
            let byte = if nibble & 8 == 0 { byte } else { ((byte as i8) >> 7) as u8 };
            r | u32::from(byte) << (8 * k)
        });
        prop_assert_eq!(run([a, u32::from(selector), c], &[word(Op::Prmt, Form::Rr, &fields)]), expected);
    }

    #[test]
    fn bfe_cuts_fields(a: u32, start in 0u32..40, count in 0u32..40, signed in 0u32..2) {
        let bit = |n: u32| if n < 32 { a >> n & 1 } else { signed * (a >> 31) };
        let mut expected = (0..count.min(32)).fold(0, |r, n| r | bit(start + n) << n);
        if signed == 1 && (1..32).contains(&count) && bit((start + count - 1).min(31)) == 1 {
            expected |= u32::MAX << count;
        }
        let got = run([a, start | count << 8, 0], &[abr(Op::Bfe, &[(Field::Signed, signed)])]);
        prop_assert_eq!(got, expected, "{:#x} {} {} {}", a, start, count, signed);
    }

    #[test]
    fn imnmx_and_selects(a: u32, b: u32, signed in 0u32..2) {
        let min = abr(Op::Imnmx, &[(Field::Signed, signed)]);
        let max = abr(Op::Imnmx, &[(Field::Signed, signed), (Field::Psn, 1)]);
        let less = if signed == 1 { (a as i32) < b as i32 } else { a < b };
        prop_assert_eq!(run([a, b, 0], &[min]), if less { a } else { b });
        prop_assert_eq!(run([a, b, 0], &[max]), if less { b } else { a });
        let compare = word(Op::Isetp, Form::R, &[(Field::Pd, 0), (Field::A, A), (Field::B, B), (Field::Cmp, 1),
                                               (Field::Signed, signed)]);
        let select = abr(Op::Sel, &[(Field::Ps, 0)]);
        prop_assert_eq!(run([a, b, 0], &[compare, select]), if less { a } else { b });
    }

    #[test]
    fn guards_keep_or_write(a: u32, b: u32) {
        let compare = word(Op::Isetp, Form::R, &[(Field::Pd, 2), (Field::A, A), (Field::B, B), (Field::Cmp, 2)]);
        let guarded = word(Op::Mov, Form::R, &[(Field::Dst, R), (Field::B, A), (Field::Pg, 2)]);
        prop_assert_eq!(run([a, b, 0], &[mov(R, 7), compare, guarded]), if a == b { a } else { 7 });
        prop_assert_eq!(run([a, a, 0], &[mov(R, 7), compare, guarded]), a);
    }
}

#[test]
fn population_and_reversal() {
    for a in [0, 1, 0x8000_0000, 0xF0F0_1234, u32::MAX] {
        let popc = word(Op::Popc, Form::R, &[(Field::Dst, R), (Field::B, A)]);
        assert_eq!(run([a, 0, 0], &[popc]), a.count_ones());
        let brev = abr(Op::Bfe, &[(Field::Brev, 1)]);
        assert_eq!(run([a, 32 << 8, 0], &[brev]), a.reverse_bits());
    }
}
