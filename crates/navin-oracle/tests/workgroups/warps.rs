//! Operations between lanes and at barriers.

use navin_shader::GuestProgram;
use navin_shader::isa::table::{Field, Form, Op};

use crate::code::*;

#[test]
fn shuffles_of_every_mode() {
    let mut bench = Bench::new();
    let input: Vec<u32> = (0..64).map(hash).collect();
    let mut c = Code::new();
    c.load(0);
    let mut row = 0;
    for (mode, lane, clamps) in [
        (0, 5, [0x1F, 0x1C03]),
        (0, 30, [0x1F, 0x1807]),
        (1, 1, [0, 0x1C00]),
        (1, 7, [0, 0x1800]),
        (2, 1, [0x1F, 0x1C03]),
        (2, 9, [0x1F, 0x100F]),
        (3, 1, [0x1F, 0x1C03]),
        (3, 16, [0x1F, 0x1F]),
    ] {
        for clamp in clamps {
            let fields = [
                (Field::Dst, 1),
                (Field::A, 0),
                (Field::Lane5, lane),
                (Field::Mode, mode),
                (Field::Cimm13, clamp),
                (Field::Pd, 0),
            ];
            c.op(Op::Shfl, Form::Ii, &fields);
            c.store(1, row, 64);
            c.op(Op::P2r, Form::I, &[(Field::Dst, 2), (Field::A, 255), (Field::Imm19, 1)]);
            c.store(2, row + 1, 64);
            row += 2;
        }
    }
    // By registers: each lane names its own source.
    c.op(Op::Lop, Form::I, &[(Field::Dst, 3), (Field::A, 0), (Field::Imm19, 31)]);
    c.mov(4, 0x1F);
    c.op(Op::Shfl, Form::Rr, &[(Field::Dst, 1), (Field::A, 0), (Field::B, 3), (Field::C, 4)]);
    c.store(1, row, 64);
    c.exit();
    bench.agree(&c, 64, &input, 64 * (row as usize + 1));
}

#[test]
fn votes_and_ballots() {
    let mut bench = Bench::new();
    let input: Vec<u32> = (0..96).map(|n| if n < 32 { 1 } else { hash(n) & 1 }).collect();
    let mut c = Code::new();
    c.load(0);
    c.test(0, NE, 0, 0);
    for mode in 0..3 {
        c.op(Op::Vote, Form::P, &[(Field::Dst, 1), (Field::Ps, 0), (Field::Mode, mode), (Field::Pd, 1)]);
        c.op(Op::P2r, Form::I, &[(Field::Dst, 2), (Field::A, 255), (Field::Imm19, 2)]);
        c.store(1, 2 * mode, 96);
        c.store(2, 2 * mode + 1, 96);
    }
    for (n, sreg) in [0, 56, 57, 58, 59, 60].into_iter().enumerate() {
        c.op(Op::S2r, Form::S, &[(Field::Dst, 1), (Field::Sreg, sreg)]);
        c.store(1, 6 + n as u32, 96);
    }
    c.exit();
    bench.agree(&c, 96, &input, 96 * 12);
}

/// Lanes from 9 on exchange and vote; all meet once more behind that, or only end there.
fn divergent(meets_again: bool) -> Code {
    let mut c = Code::new();
    c.load(0);
    c.op(Op::Lop, Form::I, &[(Field::Dst, 5), (Field::A, TID), (Field::Imm19, 31)]);
    c.mov(1, 0);
    let end = c.label();
    c.jump(Op::Ssy, end, &[]);
    c.test(0, LT, 5, 9);
    c.op(Op::Sync, Form::J, &[(Field::Pg, 0)]);
    let fields = [(Field::Dst, 1), (Field::A, 0), (Field::Lane5, 9), (Field::Cimm13, 0x1F)];
    c.op(Op::Shfl, Form::Ii, &fields);
    c.op(Op::Vote, Form::P, &[(Field::Dst, 2), (Field::Mode, 1)]);
    c.op(Op::Sync, Form::J, &[]);
    c.place(end);
    if meets_again {
        c.barrier();
    }
    c.store(1, 0, 64);
    c.store(2, 1, 64);
    c.exit();
    c
}

#[test]
fn warp_operations_in_divergent_code_need_warps_unless_the_others_are_done() {
    let mut bench = Bench::new();
    let input: Vec<u32> = (0..64).map(hash).collect();
    bench.agree(&divergent(false), 64, &input, 128);
    if bench.gpu.subgroup_size == 32 {
        bench.agree(&divergent(true), 64, &input, 128);
        return;
    }
    let (control, gpu) = divergent(true).program(64);
    let guest = GuestProgram::parse(&control, &gpu).expect("a whole program");
    let error = bench.translator.translate(&guest, &bench.options).expect_err("no warps of 32");
    assert!(error.to_string().contains("subgroups of 32 lanes"), "{error}");
}

#[test]
fn barriers_reduce() {
    let mut bench = Bench::new();
    let input: Vec<u32> = (0..64).map(|n| u32::from(n % 3 == 0)).collect();
    let mut c = Code::new();
    c.load(0);
    c.test(0, NE, 0, 0);
    c.test(1, LT, TID, 64);
    for (n, (redop, p)) in [(0, 0), (1, 0), (2, 0), (1, 1)].into_iter().enumerate() {
        c.op(Op::Bar, Form::Ii, &[(Field::Op, 2), (Field::Redop, redop), (Field::Ps, p)]);
        c.op(Op::B2r, Form::N, &[(Field::Dst, 1), (Field::Mode, 1)]);
        c.store(1, n as u32, 64);
    }
    c.exit();
    let out = bench.run(&c, 64, &input, 256);
    for (row, want) in [(0, 22), (1, 0), (2, u32::MAX), (3, u32::MAX)] {
        assert!(
            out[64 * row..64 * row + 64].iter().all(|w| *w == want),
            "row {row}: {:?}",
            &out[64 * row..64 * row + 64]
        );
    }
}
