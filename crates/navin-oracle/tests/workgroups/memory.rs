//! Memory of all kinds: atomics, narrow stores, generic addresses, offsets.

use navin_shader::isa::table::{Field, Form, Op};

use crate::code::*;

#[test]
fn b533_increments_wrap_at_their_limit_and_decrements_below_zero() {
    let mut bench = Bench::new();
    for shared in [false, true] {
        for (op, start, want) in [
            (3, 0, vec![0, 1, 2, 3, 0, 1, 2, 3, 0, 1]),
            (4, 0, vec![0, 3, 2, 1, 0, 3, 2, 1, 0, 3]),
            (4, 9, vec![9, 3, 2, 1, 0, 3, 2, 1, 0, 3]),
        ] {
            let mut c = Code::new();
            c.mov(0, 3).mov(1, start);
            if shared {
                c.op(Op::Sts, Form::M, &[(Field::Data, 1), (Field::A, 255), (Field::Size, 4)]);
            } else {
                c.store(1, 64, 1);
            }
            for n in 0..10 {
                if shared {
                    c.op(Op::Atoms, Form::M, &[(Field::Dst, 2), (Field::A, 255), (Field::B, 0), (Field::Op, op)]);
                } else {
                    let fields = [
                        (Field::Dst, 2),
                        (Field::A, BASE),
                        (Field::E, 1),
                        (Field::B, 0),
                        (Field::Op, op),
                        (Field::Off20, 256),
                    ];
                    c.op(Op::Atom, Form::M, &fields);
                }
                c.store(2, n, 1);
            }
            c.exit();
            assert_eq!(bench.run(&c, 1, &[0], 65)[..10], want[..], "operation {op} from {start}");
        }
    }
}

#[test]
fn b533_compare_and_swap_links_every_item_once() {
    let mut bench = Bench::new();
    let mut c = Code::new();
    // Slot 1: word 64 is the head, word t the item behind item t (numbers count from 1).
    c.op(Op::Iadd, Form::I, &[(Field::Dst, 1), (Field::A, TID), (Field::Imm19, 1)]);
    let out = c.label();
    c.jump(Op::Pbk, out, &[]);
    let head = c.label();
    c.place(head);
    let at = [(Field::A, BASE), (Field::E, 1), (Field::Size, 4)];
    c.op(Op::Ldg, Form::M, &[&at[..], &[(Field::Dst, 0), (Field::Off24, 256), (Field::Cache, 3)]].concat());
    c.store(0, 0, 64);
    c.op(Op::Membar, Form::N, &[(Field::Level, 1)]);
    let cas = [(Field::Dst, 2), (Field::A, BASE), (Field::E, 1), (Field::B, 0), (Field::Off20, 256)];
    c.op(Op::AtomCas, Form::M, &cas);
    c.op(Op::Isetp, Form::R, &[(Field::Pd, 0), (Field::A, 2), (Field::B, 0), (Field::Cmp, EQ)]);
    c.op(Op::Brk, Form::J, &[(Field::Pg, 0)]);
    c.jump(Op::Bra, head, &[]);
    c.place(out);
    c.exit();
    let memory = bench.run(&c, 64, &[0; 64], 65);
    let mut seen = [false; 64];
    let mut at = memory[64];
    for _ in 0..64 {
        assert!((1..=64).contains(&at) && !seen[at as usize - 1], "{memory:?}");
        seen[at as usize - 1] = true;
        at = memory[at as usize - 1];
    }
    assert_eq!(at, 0);
}

#[test]
fn b534_float_atomics_add_and_flush() {
    let mut bench = Bench::new();
    for result in [false, true] {
        let mut c = Code::new();
        let add = |c: &mut Code, register: u32, word: u32| {
            let at = [(Field::A, BASE), (Field::E, 1), (Field::Type, 3), (Field::Off20, 4 * word)];
            if result {
                c.op(Op::Atom, Form::M, &[&at[..], &[(Field::Dst, 5), (Field::B, register)]].concat());
            } else {
                c.op(Op::Red, Form::M, &[&at[..], &[(Field::Data, register)]].concat());
            }
        };
        c.mov(0, 0.25f32.to_bits()).mov(1, 1e-40f32.to_bits());
        add(&mut c, 0, 0);
        add(&mut c, 1, 0);
        add(&mut c, 1, 1);
        c.exit();
        let out = bench.run(&c, 1024, &[0; 1024], 2);
        assert_eq!(f32::from_bits(out[0]), 256.0);
        assert_eq!(out[1], 0, "a denormal is flushed");
    }
}

#[test]
fn half_pair_atomics_add_both_halves() {
    let mut bench = Bench::new();
    let mut c = Code::new();
    // 1.0 and 0.5.
    c.mov(0, 0x3800_3C00);
    c.op(Op::Red, Form::M, &[(Field::A, BASE), (Field::E, 1), (Field::Type, 4), (Field::Data, 0)]);
    c.exit();
    assert_eq!(bench.run(&c, 64, &[0; 64], 1)[0], 0x5000_5400);
}

#[test]
fn b535_bytes_stored_side_by_side_survive() {
    let mut bench = Bench::new();
    let mut c = Code::new();
    // Byte t of shared memory and of slot 1 is t's low byte, many times over.
    for _ in 0..16 {
        c.op(Op::Sts, Form::M, &[(Field::Data, TID), (Field::A, TID), (Field::Size, 0)]);
    }
    c.barrier();
    c.op(Op::Lds, Form::M, &[(Field::Dst, 1), (Field::A, 31), (Field::Size, 4)]);
    c.test(0, GE, TID, 64);
    c.op(Op::Iadd, Form::R, &[(Field::Dst, 4), (Field::A, BASE), (Field::B, TID), (Field::Cc, 1)]);
    c.op(Op::Iadd, Form::R, &[(Field::Dst, 5), (Field::A, BASE + 1), (Field::B, 255), (Field::X, 1)]);
    let fields = [(Field::Data, TID), (Field::A, 4), (Field::E, 1), (Field::Off24, 1024), (Field::Size, 0)];
    c.op(Op::Stg, Form::M, &fields);
    let fields = [(Field::Data, 1), (Field::A, OUT), (Field::E, 1), (Field::Size, 4), (Field::Pg, 0), (Field::Pgn, 1)];
    c.op(Op::Stg, Form::M, &fields);
    c.exit();
    let out = bench.run(&c, 256, &[0; 256], 320);
    let want: Vec<u32> = (0..64).map(|n| u32::from_le_bytes([0, 1, 2, 3].map(|k| (4 * n + k) as u8))).collect();
    assert_eq!(out[..64], want[..]);
    assert_eq!(out[256..], want[..]);
}

#[test]
fn generic_accesses_find_shared_local_and_global_memory() {
    let mut bench = Bench::new();
    let input: Vec<u32> = (0..32).map(hash).collect();
    let mut c = Code::new();
    c.load(0);
    // Through the windows that S2R names.
    for (row, sreg) in [(0, 48), (1, 52)] {
        c.op(Op::S2r, Form::S, &[(Field::Dst, 4), (Field::Sreg, sreg)]);
        c.op(Op::Iadd, Form::R, &[(Field::Dst, 4), (Field::A, 4), (Field::B, 31)]);
        c.mov(5, 0);
        let access = [(Field::A, 4), (Field::E, 1), (Field::Size, 4), (Field::Ps, 7)];
        c.op(Op::St, Form::M, &[&access[..], &[(Field::Data, 0)]].concat());
        c.op(Op::Ld, Form::M, &[&access[..], &[(Field::Dst, 1)]].concat());
        c.store(1, row, 32);
        // The plain accesses see the same bytes.
        let op = if row == 0 { Op::Lds } else { Op::Ldl };
        c.op(op, Form::M, &[(Field::Dst, 2), (Field::A, 31), (Field::Size, 4)]);
        c.store(2, row + 2, 32);
    }
    c.exit();
    let out = bench.run(&c, 32, &input, 128);
    for row in 0..4 {
        assert_eq!(out[32 * row..32 * row + 32], input[..], "row {row}");
    }
}

/// Offsets whose factors of four are negative, masked, or wrap at 32 bits, by register: from the thread's number.
fn wrapping_offsets(c: &mut Code) -> Vec<u32> {
    let imm = |dst: u32, a: u32, imm: u32| [(Field::Dst, dst), (Field::A, a), (Field::Imm32, imm)];
    // -12 x + 400.
    c.op(Op::Imul32i, Form::I32, &imm(10, TID, -12i32 as u32));
    c.op(Op::Iadd32i, Form::I32, &imm(10, 10, 400));
    // (x & ~3) + 8 from x = -4 on.
    c.op(Op::Iadd32i, Form::I32, &imm(11, TID, -4i32 as u32));
    c.op(Op::Lop32i, Form::I32, &imm(11, 11, !3));
    c.op(Op::Iadd32i, Form::I32, &imm(11, 11, 8));
    // Index words with bits 30 and 31 set, which the shift loses.
    c.op(Op::Iadd32i, Form::I32, &imm(12, TID, 0xC000_0000));
    c.op(Op::Shl, Form::I, &[(Field::Dst, 12), (Field::A, 12), (Field::Imm19, 2)]);
    // The same by a product, and a difference that goes below zero on its way.
    c.op(Op::Iadd32i, Form::I32, &imm(13, TID, 0x4000_0000));
    c.op(Op::Imul32i, Form::I32, &imm(13, 13, 8));
    c.op(Op::Iadd32i, Form::I32, &imm(14, 31, -200i32 as u32));
    c.op(Op::Iadd32i, Form::I32, &imm(14, 14, 208));
    (10..15).collect()
}

#[test]
fn b522_offsets_wrap_at_32_bits_whatever_their_factors() {
    let mut bench = Bench::new();
    let input: Vec<u32> = (0..128).map(hash).collect();
    let mut c = Code::new();
    c.load(0);
    c.op(Op::Sts, Form::M, &[(Field::Data, 0), (Field::A, 31), (Field::Size, 4)]);
    c.op(Op::Sts, Form::M, &[(Field::Data, TID), (Field::A, 31), (Field::Off24, 128), (Field::Size, 4)]);
    c.op(Op::Sts, Form::M, &[(Field::Data, TID), (Field::A, 31), (Field::Off24, 256), (Field::Size, 4)]);
    c.op(Op::Sts, Form::M, &[(Field::Data, TID), (Field::A, 31), (Field::Off24, 384), (Field::Size, 4)]);
    c.barrier();
    let table = crate::device::STORAGE_TABLE as u32 / 4;
    let mut row = 0;
    for register in wrapping_offsets(&mut c) {
        c.op(Op::Iadd, Form::C, &[(Field::Dst, 20), (Field::A, register), (Field::Cbo4, table), (Field::Cc, 1)]);
        c.op(Op::Iadd, Form::C, &[(Field::Dst, 21), (Field::A, 255), (Field::Cbo4, table + 1), (Field::X, 1)]);
        c.op(Op::Ldg, Form::M, &[(Field::Dst, 1), (Field::A, 20), (Field::E, 1), (Field::Size, 4)]);
        c.op(Op::Lds, Form::M, &[(Field::Dst, 2), (Field::A, register), (Field::Size, 4)]);
        c.store(1, row, 32);
        c.store(2, row + 1, 32);
        row += 2;
    }
    c.exit();
    let out = bench.agree(&c, 32, &input, 32 * row as usize);
    assert_eq!(out[1], input[97], "thread 1 reads word (400 - 12) / 4");
    assert_eq!(out[64], input[1], "thread 0 reads word (-4 & ~3) + 8");
}

#[test]
fn loads_past_the_caches_are_made_each_time() {
    let mut bench = Bench::new();
    const ATOMIC_LOAD: u32 = 6 << 16 | 227;
    for (raw, cache) in [(false, 0), (false, 1), (false, 3), (true, 0), (true, 1), (true, 3)] {
        let mut c = Code::new();
        let mut load = |dst: u32, size: u32| {
            let at = [(Field::Dst, dst), (Field::A, if raw { 8 } else { IN }), (Field::E, 1)];
            c.op(Op::Ldg, Form::M, &[&at[..], &[(Field::Size, size), (Field::Cache, cache)]].concat());
        };
        load(0, 4);
        load(1, 4);
        load(2, 5);
        if !raw {
            c.op(Op::Iadd, Form::R, &[(Field::Dst, 0), (Field::A, 0), (Field::B, 1)]);
            c.op(Op::Iadd, Form::R, &[(Field::Dst, 0), (Field::A, 0), (Field::B, 2)]);
            c.store(0, 0, 1);
            c.store(3, 1, 1);
            c.exit();
            assert_eq!(bench.agree(&c, 1, &[5, 7], 4), [15, 7, 0, 0]);
        } else {
            (0..4).for_each(|n| _ = c.store(n, n, 1));
            c.exit();
        }
        let (control, gpu) = c.program(1);
        let guest = navin_shader::GuestProgram::parse(&control, &gpu).expect("a whole program");
        let translation = bench.translator.translate(&guest, &bench.options).expect("it translates");
        let atomics = translation.spirv.iter().filter(|w| **w == ATOMIC_LOAD).count();
        // Raw memory has one function for all four words.
        let want = if cache == 0 {
            0
        } else if raw {
            1
        } else {
            4
        };
        assert_eq!(atomics, want, "raw {raw}, cache {cache}");
        assert_eq!(translation.interface.storage_written, 2, "a load writes nothing");
    }
}

#[test]
fn narrow_texels_are_stored_without_the_rest_of_their_register() {
    let mut translator = navin_shader::Translator::new();
    for (size, mask) in [(0, "0xff"), (1, "0xff"), (2, "0xffff"), (3, "0xffff")] {
        let mut c = Code::new();
        c.load(0);
        let fields = [(Field::Data, 0), (Field::A, TID), (Field::Tid13, 0x28), (Field::Dim, 0), (Field::Size, size)];
        c.op(Op::SustD, Form::I, &fields);
        c.exit();
        let (control, gpu) = c.program(1);
        let guest = navin_shader::GuestProgram::parse(&control, &gpu).expect("a whole program");
        let options = navin_shader::Options::new(navin_shader::ConstantLayout::Corpus);
        let text = translator.print_ir(&guest, &options).expect("it translates");
        let masked = |line: &str| line.contains("= And ") && line.ends_with(&format!(" {mask}"));
        assert!(text.lines().any(masked), "size {size}:\n{text}");
    }
}

#[test]
fn word_indices_hold_for_as_many_workgroups_as_there_may_be() {
    let mut c = Code::new();
    c.op(Op::S2r, Form::S, &[(Field::Dst, 0), (Field::Sreg, 37)]);
    c.op(Op::Shl, Form::I, &[(Field::Dst, 0), (Field::A, 0), (Field::Imm19, 8)]);
    c.op(Op::Iadd, Form::R, &[(Field::Dst, BASE), (Field::A, BASE), (Field::B, 0), (Field::Cc, 1)]);
    c.op(Op::Iadd, Form::R, &[(Field::Dst, BASE + 1), (Field::A, BASE + 1), (Field::B, 255), (Field::X, 1)]);
    c.op(Op::Stg, Form::M, &[(Field::Data, 0), (Field::A, BASE), (Field::E, 1), (Field::Size, 4)]);
    c.exit();
    let (control, gpu) = c.program(1);
    let guest = navin_shader::GuestProgram::parse(&control, &gpu).expect("a whole program");
    // 256 bytes a workgroup: with more than 2^24 of them the offset wraps at 2^32.
    for (groups, masked) in [(65535, false), (1 << 24, false), ((1 << 24) + 1, true), (u32::MAX, true)] {
        let mut options = navin_shader::Options::new(navin_shader::ConstantLayout::Corpus);
        options.max_groups[0] = groups;
        let text = navin_shader::Translator::new().print_ir(&guest, &options).expect("it translates");
        assert_eq!(text.contains("0x3fffffff"), masked, "{groups} workgroups:\n{text}");
    }
}
