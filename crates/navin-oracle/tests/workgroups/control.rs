//! Control flow: threads that end early, jump tables, limits, random structured programs.

use navin_oracle::Assembler;
use navin_shader::isa::table::{Field, Form, Op};

use crate::code::*;

/// Threads that end before a barrier: others may not wait for them.
fn early_exit(branch: bool) -> Code {
    let mut c = Code::new();
    c.load(0);
    let end = c.label();
    c.test(0, GE, TID, 32);
    if branch {
        c.jump(Op::Bra, end, &[(Field::Pg, 0)]);
    } else {
        c.op(Op::Exit, Form::J, &[(Field::Pg, 0)]);
    }
    c.op(Op::Sts, Form::M, &[(Field::Data, 0), (Field::A, 31), (Field::Size, 4)]);
    // A loop with a barrier in it: those that have ended go as many rounds.
    c.mov(6, 0);
    let out = c.label();
    c.jump(Op::Pbk, out, &[]);
    let head = c.label();
    c.place(head);
    c.barrier();
    c.op(Op::Lop, Form::I, &[(Field::Dst, 4), (Field::A, 31), (Field::Imm19, 4), (Field::Op, 2)]);
    c.op(Op::Lds, Form::M, &[(Field::Dst, 5), (Field::A, 4), (Field::Size, 4)]);
    c.barrier();
    c.op(Op::Iadd, Form::I, &[(Field::Dst, 5), (Field::A, 5), (Field::Imm19, 1)]);
    c.op(Op::Sts, Form::M, &[(Field::Data, 5), (Field::A, 31), (Field::Size, 4)]);
    c.op(Op::Iadd, Form::I, &[(Field::Dst, 6), (Field::A, 6), (Field::Imm19, 1)]);
    c.test(1, GE, 6, 5);
    c.op(Op::Brk, Form::J, &[(Field::Pg, 1)]);
    c.jump(Op::Bra, head, &[]);
    c.place(out);
    c.barrier();
    c.op(Op::Lds, Form::M, &[(Field::Dst, 7), (Field::A, 31), (Field::Size, 4)]);
    c.store(7, 0, 64);
    c.place(end);
    c.exit();
    c
}

#[test]
fn b528_threads_that_end_before_a_barrier_arrive_at_it() {
    let mut bench = Bench::new();
    let input: Vec<u32> = (0..64).map(hash).collect();
    for branch in [false, true] {
        let out = bench.agree(&early_exit(branch), 64, &input, 64);
        assert!(out[32..].iter().all(|w| *w == 0), "threads that ended store nothing");
        assert!(out[..32].iter().all(|w| *w != 0));
    }
}

/// The upper half stores and ends before the barriers of a loop whose counter is in local memory; what it does for its
/// end overwrites the loop's registers. The rest of it others enter too.
fn early_end_with_code() -> Code {
    let mut c = Code::new();
    c.load(0);
    c.mov(6, 0).mov(8, 8);
    let (end, small) = (c.label(), c.label());
    c.op(Op::Stl, Form::M, &[(Field::Data, 6), (Field::A, 8), (Field::Size, 4)]);
    c.test(0, GE, TID, 32);
    let early = c.label();
    c.jump(Op::Bra, early, &[(Field::Pg, 0)]);
    let head = c.label();
    c.place(head);
    c.op(Op::Sts, Form::M, &[(Field::Data, 0), (Field::A, 31), (Field::Size, 4)]);
    c.barrier();
    c.op(Op::Lop, Form::I, &[(Field::Dst, 4), (Field::A, 31), (Field::Imm19, 4), (Field::Op, 2)]);
    c.op(Op::Lds, Form::M, &[(Field::Dst, 5), (Field::A, 4), (Field::Size, 4)]);
    c.barrier();
    c.op(Op::Iadd, Form::R, &[(Field::Dst, 0), (Field::A, 0), (Field::B, 5)]);
    c.op(Op::Ldl, Form::M, &[(Field::Dst, 6), (Field::A, 8), (Field::Size, 4)]);
    c.op(Op::Iadd, Form::I, &[(Field::Dst, 6), (Field::A, 6), (Field::Imm19, 1)]);
    c.op(Op::Stl, Form::M, &[(Field::Data, 6), (Field::A, 8), (Field::Size, 4)]);
    c.test(1, LT, 6, 5);
    c.jump(Op::Bra, head, &[(Field::Pg, 1)]);
    c.store(0, 0, 64);
    c.jump(Op::Bra, end, &[]);
    c.place(early);
    c.store(0, 0, 64);
    c.place(end);
    c.mov(8, 64).mov(6, 7);
    c.test(1, LT, TID, 48);
    c.jump(Op::Bra, small, &[(Field::Pg, 1)]);
    c.store(6, 1, 64);
    c.place(small);
    c.exit();
    c
}

#[test]
fn b528_ends_that_store_before_a_barrier_arrive_at_it_too() {
    let mut bench = Bench::new();
    let input: Vec<u32> = (0..64).map(hash).collect();
    let out = bench.agree(&early_end_with_code(), 64, &input, 128);
    assert_eq!(out[32..64], input[32..], "stored once, by the threads that ended");
    assert_ne!(out[..32], input[..32]);
    assert!((64..128).all(|n| out[n] == if n < 112 { 0 } else { 7 }), "{:?}", &out[64..]);
}

#[test]
fn indirect_jumps_take_their_tables_from_the_constants() {
    let mut bench = Bench::new();
    let mut c = Code::new();
    c.op(Op::Lop, Form::I, &[(Field::Dst, 0), (Field::A, TID), (Field::Imm19, 3)]);
    c.op(Op::Shl, Form::I, &[(Field::Dst, 0), (Field::A, 0), (Field::Imm19, 2)]);
    c.op(Op::Ldc, Form::M, &[(Field::Dst, 1), (Field::A, 0), (Field::Cbi, 1), (Field::Off16, 8), (Field::Size, 4)]);
    let at = c.items.len();
    c.op(Op::Brx, Form::J, &[(Field::A, 1)]);
    let mut targets = Vec::new();
    for k in 0..3 {
        targets.push(c.items.len());
        c.mov(2, 100 + k);
        c.store(2, 0, 32);
        c.exit();
    }
    // Distances from the slot behind the jump; the last two entries are the same; the table ends with a wild word.
    let distance = |to: usize| Assembler::offset(to).wrapping_sub(Assembler::offset(at) + 8) as u32;
    let entries: Vec<u32> = targets.iter().map(|&t| distance(t)).collect();
    c.constants = vec![7, 7, entries[0], entries[1], entries[2], entries[2], 0x4000_0000];
    let out = bench.run(&c, 32, &[0; 32], 32);
    let want: Vec<u32> = (0..32).map(|t| 100 + (t & 3).min(2)).collect();
    assert_eq!(out, want);
}

#[test]
fn b604_loops_end_after_the_diagnostic_number_of_rounds() {
    let mut bench = Bench::new();
    let mut c = Code::new();
    c.mov(0, 0);
    let head = c.label();
    c.place(head);
    c.op(Op::Iadd, Form::I, &[(Field::Dst, 0), (Field::A, 0), (Field::Imm19, 1)]);
    c.store(0, 0, 1);
    c.test(0, NE, 0, 0);
    c.jump(Op::Bra, head, &[(Field::Pg, 0)]);
    c.exit();
    bench.options.loop_limit = Some(1001);
    assert_eq!(bench.run(&c, 1, &[0], 1)[0], 1001);
}

/// A random program of nested selections and loops.
struct Structured {
    code: Code,
    state: u64,
}

impl Structured {
    fn next(&mut self, n: u32) -> u32 {
        self.state = self.state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (self.state >> 33) as u32 % n
    }

    /// A few operations on registers 0 to 7.
    fn straight(&mut self) {
        for _ in 0..1 + self.next(3) {
            let (dst, a, b, c) = (self.next(8), self.next(8), self.next(8), self.next(8));
            let guard =
                if self.next(4) == 0 { vec![(Field::Pg, self.next(4)), (Field::Pgn, self.next(2))] } else { vec![] };
            let with = |fields: &[(Field, u32)]| [fields, &guard[..]].concat();
            match self.next(5) {
                0 => self.code.op(
                    Op::Iadd,
                    Form::R,
                    &with(&[(Field::Dst, dst), (Field::A, a), (Field::B, b), (Field::Nb, 1)]),
                ),
                1 => {
                    let lut = self.next(256);
                    let fields = [(Field::Dst, dst), (Field::A, a), (Field::B, b), (Field::C, c), (Field::Lut, lut)];
                    self.code.op(Op::Lop3, Form::Rr, &with(&fields))
                }
                2 => {
                    let n = 1 + self.next(30);
                    self.code.op(Op::Shr, Form::I, &with(&[(Field::Dst, dst), (Field::A, a), (Field::Imm19, n)]))
                }
                3 => self.code.op(
                    Op::Imad,
                    Form::Rr,
                    &with(&[(Field::Dst, dst), (Field::A, a), (Field::B, b), (Field::C, c)]),
                ),
                _ => {
                    let (pd, cmp) = (self.next(4), 1 + self.next(6));
                    let fields = [(Field::Pd, pd), (Field::A, a), (Field::B, b), (Field::Cmp, cmp)];
                    self.code.op(Op::Isetp, Form::R, &with(&fields))
                }
            };
        }
    }

    fn block(&mut self, depth: u32) {
        for _ in 0..1 + self.next(3) {
            self.straight();
            if depth == 0 {
                continue;
            }
            let p = self.next(4);
            match self.next(4) {
                0 => {
                    let (end, other) = (self.code.label(), self.code.label());
                    self.code.jump(Op::Ssy, end, &[]);
                    self.code.jump(Op::Bra, other, &[(Field::Pg, p)]);
                    self.block(depth - 1);
                    self.code.op(Op::Sync, Form::J, &[]);
                    self.code.place(other);
                    self.block(depth - 1);
                    self.code.op(Op::Sync, Form::J, &[]);
                    self.code.place(end);
                }
                1 => {
                    let end = self.code.label();
                    self.code.jump(Op::Ssy, end, &[]);
                    self.code.op(Op::Sync, Form::J, &[(Field::Pg, p), (Field::Pgn, 1)]);
                    self.block(depth - 1);
                    self.code.op(Op::Sync, Form::J, &[]);
                    self.code.place(end);
                }
                2 => {
                    // A loop of as many rounds as the thread's data says, left early on a predicate.
                    let counter = 16 + depth;
                    let (out, head, resume) = (self.code.label(), self.code.label(), self.code.label());
                    self.code.op(Op::Lop, Form::I, &[(Field::Dst, counter), (Field::A, p), (Field::Imm19, 3)]);
                    self.code.jump(Op::Pbk, out, &[]);
                    self.code.place(head);
                    self.code.jump(Op::Pcnt, resume, &[]);
                    self.block(depth - 1);
                    if self.next(2) == 0 {
                        self.code.op(Op::Brk, Form::J, &[(Field::Pg, p)]);
                        self.straight();
                    }
                    if self.next(2) == 0 {
                        let q = self.next(4);
                        self.code.op(Op::Cont, Form::J, &[(Field::Pg, q)]);
                        self.straight();
                    }
                    self.code.op(Op::Cont, Form::J, &[]);
                    self.code.place(resume);
                    let fields =
                        [(Field::Dst, counter), (Field::A, counter), (Field::Imm19, 0x7FFFF), (Field::Immsign, 1)];
                    self.code.op(Op::Iadd, Form::I, &fields);
                    let fields = [(Field::Pd, 5), (Field::A, counter), (Field::Signed, 1), (Field::Cmp, LT)];
                    self.code.op(Op::Isetp, Form::I, &fields);
                    self.code.op(Op::Brk, Form::J, &[(Field::Pg, 5)]);
                    self.code.jump(Op::Bra, head, &[]);
                    self.code.place(out);
                }
                _ => {}
            }
        }
    }
}

#[test]
fn random_structured_programs_agree() {
    let mut bench = Bench::new();
    let seeds = std::env::var("NAVIN_ORACLE").map_or(4, |_| 60);
    let input: Vec<u32> = (0..64).map(hash).collect();
    for seed in 0..seeds {
        let mut s = Structured { code: Code::new(), state: seed * 7919 + 3 };
        s.code.load(0);
        for r in 1..8u32 {
            let fields = [(Field::Dst, r), (Field::A, 0), (Field::Imm32, r.wrapping_mul(0x0123_4567))];
            s.code.op(Op::Iadd32i, Form::I32, &fields);
        }
        for p in 0..4 {
            s.code.op(
                Op::Lop,
                Form::I,
                &[(Field::Dst, 255), (Field::A, 0), (Field::Imm19, 1 << p), (Field::Pop, 3), (Field::Pd, p)],
            );
        }
        s.block(3);
        for r in 0..8 {
            s.code.store(r, r, 64);
        }
        s.code.exit();
        bench.agree(&s.code, 64, &input, 512);
    }
}

#[test]
fn b511_three_hundred_nested_conditions_and_a_sum_as_deep() {
    let mut bench = Bench::new();
    let mut c = Code::new();
    c.mov(0, 0);
    let ends: Vec<Label> = (0..300).map(|_| c.label()).collect();
    for (n, &end) in ends.iter().enumerate() {
        c.jump(Op::Ssy, end, &[]);
        c.test(0, LT, TID, n as u32 / 5);
        c.op(Op::Sync, Form::J, &[(Field::Pg, 0)]);
        c.op(Op::Iscadd, Form::R, &[(Field::Dst, 0), (Field::A, 0), (Field::B, TID), (Field::Shift, 1)]);
    }
    for &end in ends.iter().rev() {
        c.op(Op::Sync, Form::J, &[]);
        c.place(end);
    }
    c.store(0, 0, 64);
    c.exit();
    bench.agree(&c, 64, &[0; 64], 64);
}
