//! Arithmetic that compilers and drivers like to get wrong.

use navin_shader::isa::table::{Field, Form, Op};

use crate::code::*;

#[test]
fn b522_integers_wrap_whatever_their_sign() {
    let mut bench = Bench::new();
    let input = [0x0000_FFFF, 0x0000_8000, 0x0000_7FFF];
    let mut c = Code::new();
    c.load(0);
    c.op(
        Op::Imul32i,
        Form::I32,
        &[(Field::Dst, 1), (Field::A, 0), (Field::Imm32, 65536), (Field::Sa, 1), (Field::Sb, 1)],
    );
    c.op(Op::Shr, Form::I, &[(Field::Dst, 1), (Field::A, 1), (Field::Imm19, 16), (Field::Signed, 1)]);
    c.store(1, 0, 3);
    // The same of constants, which the translator folds.
    for (n, word) in input.into_iter().enumerate() {
        c.mov(2, word);
        c.op(Op::Imul32i, Form::I32, &[(Field::Dst, 2), (Field::A, 2), (Field::Imm32, 65536)]);
        c.op(Op::Shr, Form::I, &[(Field::Dst, 2), (Field::A, 2), (Field::Imm19, 16), (Field::Signed, 1)]);
        c.store(2, n as u32 + 1, 3);
    }
    c.exit();
    let out = bench.agree(&c, 3, &input, 12);
    let want = [0xFFFF_FFFF, 0xFFFF_8000, 0x0000_7FFF];
    assert_eq!(out[..3], want);
    for n in 0..3 {
        assert!(out[3 + 3 * n..6 + 3 * n].iter().all(|w| *w == want[n]));
    }
}

#[test]
fn b524_fused_halves_are_rounded_once() {
    let mut bench = Bench::new();
    // 1 + 2^-10, 1 + 3 * 2^-10, -1.
    let input = [0x3C01_3C01, 0x3C03_3C03, 0xBC00_BC00];
    let mut c = Code::new();
    let at = [(Field::A, IN), (Field::E, 1), (Field::Size, 4)];
    for n in 0..3 {
        c.op(Op::Ldg, Form::M, &[&at[..], &[(Field::Dst, n), (Field::Off24, 4 * n)]].concat());
    }
    c.op(Op::Hfma2, Form::Rr, &[(Field::Dst, 4), (Field::A, 0), (Field::B, 1), (Field::C, 2)]);
    c.store(4, 0, 1);
    c.exit();
    // 2^-8 + 2^-18; two roundings would leave 2^-8 alone.
    assert_eq!(bench.agree(&c, 1, &input, 4)[0], 0x1C01_1C01);
}
