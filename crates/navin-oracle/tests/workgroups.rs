//! Compute programs made by hand, on the device: warps, barriers, atomics, memory of all kinds, control flow.
//!
//! Where the interpreter can run them, it says what must come out; where threads race, the test says what must hold.

mod device;

use std::sync::{Mutex, MutexGuard};

use navin_corpus::gpu::Gpu;
use navin_oracle::{Assembler, Machine};
use navin_shader::isa::table::{Field, Form, Op};
use navin_shader::{GuestProgram, Options, Translator};

/// The device and a translator. One at a time: the loader races when one thread opens an instance while another
/// makes a device.
struct Bench {
    gpu: Gpu,
    translator: Translator,
    _alone: MutexGuard<'static, ()>,
}

static ALONE: Mutex<()> = Mutex::new(());

impl Bench {
    fn new() -> Self {
        let alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
        Self { gpu: Gpu::open().expect("a Vulkan 1.3 device"), translator: Translator::new(), _alone: alone }
    }

    /// What a workgroup leaves in storage slot 1, which begins as zeros; slot 0 holds `input`.
    fn run(&mut self, code: &Code, threads: u32, input: &[u32], output: usize) -> Vec<u32> {
        let (control, gpu) = code.program(threads);
        let input: Vec<u8> = input.iter().flat_map(|w| w.to_le_bytes()).collect();
        let bytes = device::run(&self.gpu, &mut self.translator, (&control, &gpu), &input, 4 * output, &[0; 16]);
        words(&bytes.unwrap_or_else(|e| panic!("{e:#}")))
    }

    /// The same by the interpreter; both must agree.
    fn agree(&mut self, code: &Code, threads: u32, input: &[u32], output: usize) -> Vec<u32> {
        let bytes: Vec<u8> = input.iter().flat_map(|w| w.to_le_bytes()).collect();
        let machine_code = code.assemble().code();
        let mut machine = Machine::new(&machine_code, [threads, 1, 1], [0; 3], SHARED, LOCAL);
        machine.constants.insert(0, device::bank0([bytes.len(), 4 * output]));
        machine.constants.insert(1, code.constants.iter().flat_map(|w| w.to_le_bytes()).collect());
        machine.memory.add(device::BUFFERS[0], bytes);
        machine.memory.add(device::BUFFERS[1], vec![0; 4 * output]);
        machine.run(2_000_000).unwrap_or_else(|e| panic!("{e}"));
        let want = words(machine.memory.bytes(device::BUFFERS[1]));
        let got = self.run(code, threads, input, output);
        assert_eq!(want.len(), got.len());
        if let Some(n) = (0..want.len()).find(|&n| want[n] != got[n]) {
            panic!("word {n}: interpreter {:#x}, device {:#x}\n{want:x?}\n{got:x?}", want[n], got[n]);
        }
        got
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

const SHARED: u32 = 4096;
const LOCAL: u32 = 256;

/// A label.
#[derive(Clone, Copy)]
struct Label(usize);

enum Item {
    Plain(Op, Form, Vec<(Field, u32)>),
    Jump(Op, Label, Vec<(Field, u32)>),
}

/// Code with labels.
#[derive(Default)]
struct Code {
    items: Vec<Item>,
    labels: Vec<usize>,
    constants: Vec<u32>,
}

/// Registers that [`Code::new`] sets: the thread's number, its place in slot 0 and 1 (4 bytes a thread).
const TID: u32 = 30;
const IN: u32 = 32;
const OUT: u32 = 34;
/// Begin of slot 1.
const BASE: u32 = 36;

impl Code {
    /// Code that has the registers above.
    fn new() -> Self {
        let mut c = Self::default();
        let table = device::STORAGE_TABLE as u32 / 4;
        c.op(Op::S2r, Form::S, &[(Field::Dst, TID), (Field::Sreg, 33)]);
        c.op(Op::Shl, Form::I, &[(Field::Dst, 31), (Field::A, TID), (Field::Imm19, 2)]);
        for (register, slot, offset) in [(IN, 0, 31), (OUT, 1, 31), (BASE, 1, 255)] {
            for n in 0..2 {
                c.op(Op::Mov, Form::C, &[(Field::Dst, register + n), (Field::Cbo4, table + 4 * slot + n)]);
            }
            let low = [(Field::Dst, register), (Field::A, register), (Field::B, offset), (Field::Cc, 1)];
            c.op(Op::Iadd, Form::R, &low);
            let high = [(Field::Dst, register + 1), (Field::A, register + 1), (Field::B, 255), (Field::X, 1)];
            c.op(Op::Iadd, Form::R, &high);
        }
        c
    }

    fn op(&mut self, op: Op, form: Form, fields: &[(Field, u32)]) -> &mut Self {
        self.items.push(Item::Plain(op, form, fields.to_vec()));
        self
    }

    fn jump(&mut self, op: Op, to: Label, fields: &[(Field, u32)]) -> &mut Self {
        self.items.push(Item::Jump(op, to, fields.to_vec()));
        self
    }

    fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        Label(self.labels.len() - 1)
    }

    fn place(&mut self, label: Label) -> &mut Self {
        self.labels[label.0] = self.items.len();
        self
    }

    fn mov(&mut self, dst: u32, word: u32) -> &mut Self {
        self.op(Op::Mov32i, Form::I32, &[(Field::Dst, dst), (Field::Imm32, word)])
    }

    fn load(&mut self, dst: u32) -> &mut Self {
        self.op(Op::Ldg, Form::M, &[(Field::Dst, dst), (Field::A, IN), (Field::E, 1), (Field::Size, 4)])
    }

    /// Stores to the thread's word of row `row` (of `threads` words).
    fn store(&mut self, data: u32, row: u32, threads: u32) -> &mut Self {
        let fields =
            [(Field::Data, data), (Field::A, OUT), (Field::Off24, 4 * row * threads), (Field::E, 1), (Field::Size, 4)];
        self.op(Op::Stg, Form::M, &fields)
    }

    /// Pd = register cmp immediate (unsigned).
    fn test(&mut self, pd: u32, cmp: u32, a: u32, imm: u32) -> &mut Self {
        let fields = [(Field::Pd, pd), (Field::A, a), (Field::Imm19, imm), (Field::Cmp, cmp)];
        self.op(Op::Isetp, Form::I, &fields)
    }

    fn exit(&mut self) -> &mut Self {
        self.op(Op::Exit, Form::J, &[])
    }

    fn barrier(&mut self) -> &mut Self {
        self.op(Op::Bar, Form::Ii, &[])
    }

    fn assemble(&self) -> Assembler {
        let mut a = Assembler::new();
        for item in &self.items {
            match item {
                Item::Plain(op, form, fields) => a.op(*op, *form, fields),
                Item::Jump(op, to, fields) => a.branch(*op, self.labels[to.0], fields),
            };
        }
        a
    }

    fn program(&self, threads: u32) -> (Vec<u8>, Vec<u8>) {
        self.assemble().compute_with([threads, 1, 1], SHARED, LOCAL, &self.constants)
    }
}

const LT: u32 = 1;
const EQ: u32 = 2;
const NE: u32 = 5;
const GE: u32 = 6;

fn hash(n: u32) -> u32 {
    let x = n.wrapping_mul(0x9E37_79B1) ^ 0x7F4A_7C15;
    (x ^ x >> 15).wrapping_mul(0x85EB_CA77)
}

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

#[test]
fn warp_operations_in_divergent_code_need_warps() {
    let mut bench = Bench::new();
    let input: Vec<u32> = (0..64).map(hash).collect();
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
    c.store(1, 0, 64);
    c.store(2, 1, 64);
    c.exit();
    if bench.gpu.subgroup_size == 32 {
        bench.agree(&c, 64, &input, 128);
        return;
    }
    let (control, gpu) = c.program(64);
    let guest = GuestProgram::parse(&control, &gpu).expect("a whole program");
    let error = bench.translator.translate(&guest, &device::options(&bench.gpu)).expect_err("no warps of 32");
    assert!(error.to_string().contains("subgroups of 32 lanes"), "{error}");
}

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
    let bench = Bench::new();
    let mut c = Code::new();
    c.mov(0, 0);
    let head = c.label();
    c.place(head);
    c.op(Op::Iadd, Form::I, &[(Field::Dst, 0), (Field::A, 0), (Field::Imm19, 1)]);
    c.store(0, 0, 1);
    c.test(0, NE, 0, 0);
    c.jump(Op::Bra, head, &[(Field::Pg, 0)]);
    c.exit();
    let (control, gpu) = c.program(1);
    let mut limited = Limited { bench, options: None };
    limited.options = Some(Options { loop_limit: Some(1001), ..device::options(&limited.bench.gpu) });
    let out = limited.run(&control, &gpu);
    assert_eq!(out, 1001);
}

/// A run under other options.
struct Limited {
    bench: Bench,
    options: Option<Options>,
}

impl Limited {
    fn run(&mut self, control: &[u8], gpu: &[u8]) -> u32 {
        let guest = GuestProgram::parse(control, gpu).expect("a whole program");
        let options = self.options.clone().expect("options");
        let translation = self.bench.translator.translate(&guest, &options).expect("it translates");
        let bytes =
            device::run_translated(&self.bench.gpu, &translation.spirv, &[0; 4], 4, [&[], &[0; 16]]).expect("it runs");
        words(&bytes)[0]
    }
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
    let table = device::STORAGE_TABLE as u32 / 4;
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
