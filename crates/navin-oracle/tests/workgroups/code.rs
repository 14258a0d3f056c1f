//! Code under construction with labels and registers of its own, and the bench that runs it on the device and by the
//! interpreter.

use std::sync::{Mutex, MutexGuard};

use navin_corpus::gpu::Gpu;
use navin_oracle::{Assembler, Machine};
use navin_shader::isa::table::{Field, Form, Op};
use navin_shader::{GuestProgram, Options, Translator};

use crate::device;

/// The device and a translator. One at a time: the loader races when one thread opens an instance while another
/// makes a device.
pub struct Bench {
    pub gpu: Gpu,
    pub translator: Translator,
    pub options: Options,
    _alone: MutexGuard<'static, ()>,
}

static ALONE: Mutex<()> = Mutex::new(());

impl Bench {
    pub fn new() -> Self {
        let alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
        let gpu = Gpu::open().expect("a Vulkan 1.3 device");
        let options = device::options(&gpu);
        Self { gpu, translator: Translator::new(), options, _alone: alone }
    }

    /// What a workgroup leaves in storage slot 1, which begins as zeros; slot 0 holds `input`.
    pub fn run(&mut self, code: &Code, threads: u32, input: &[u32], output: usize) -> Vec<u32> {
        let (control, gpu) = code.program(threads);
        let input: Vec<u8> = input.iter().flat_map(|w| w.to_le_bytes()).collect();
        let guest = GuestProgram::parse(&control, &gpu).expect("a whole program");
        let translation = self.translator.translate(&guest, &self.options).unwrap_or_else(|e| panic!("{e}"));
        let banks = [guest.constants, &[0; 16]];
        let bytes = device::run_translated(&self.gpu, &translation.spirv, &input, 4 * output, banks);
        words(&bytes.unwrap_or_else(|e| panic!("{e:#}")))
    }

    /// The same by the interpreter; both must agree.
    pub fn agree(&mut self, code: &Code, threads: u32, input: &[u32], output: usize) -> Vec<u32> {
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

pub fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

pub const SHARED: u32 = 4096;
pub const LOCAL: u32 = 256;

/// A label.
#[derive(Clone, Copy)]
pub struct Label(usize);

pub enum Item {
    Plain(Op, Form, Vec<(Field, u32)>),
    Jump(Op, Label, Vec<(Field, u32)>),
}

/// Code with labels.
#[derive(Default)]
pub struct Code {
    pub items: Vec<Item>,
    pub labels: Vec<usize>,
    pub constants: Vec<u32>,
}

/// Registers that [`Code::new`] sets: the thread's number, its place in slot 0 and 1 (4 bytes a thread).
pub const TID: u32 = 30;
pub const IN: u32 = 32;
pub const OUT: u32 = 34;
/// Begin of slot 1.
pub const BASE: u32 = 36;

impl Code {
    /// Code that has the registers above.
    pub fn new() -> Self {
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

    pub fn op(&mut self, op: Op, form: Form, fields: &[(Field, u32)]) -> &mut Self {
        self.items.push(Item::Plain(op, form, fields.to_vec()));
        self
    }

    pub fn jump(&mut self, op: Op, to: Label, fields: &[(Field, u32)]) -> &mut Self {
        self.items.push(Item::Jump(op, to, fields.to_vec()));
        self
    }

    pub fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        Label(self.labels.len() - 1)
    }

    pub fn place(&mut self, label: Label) -> &mut Self {
        self.labels[label.0] = self.items.len();
        self
    }

    pub fn mov(&mut self, dst: u32, word: u32) -> &mut Self {
        self.op(Op::Mov32i, Form::I32, &[(Field::Dst, dst), (Field::Imm32, word)])
    }

    pub fn load(&mut self, dst: u32) -> &mut Self {
        self.op(Op::Ldg, Form::M, &[(Field::Dst, dst), (Field::A, IN), (Field::E, 1), (Field::Size, 4)])
    }

    /// Stores to the thread's word of row `row` (of `threads` words).
    pub fn store(&mut self, data: u32, row: u32, threads: u32) -> &mut Self {
        let fields =
            [(Field::Data, data), (Field::A, OUT), (Field::Off24, 4 * row * threads), (Field::E, 1), (Field::Size, 4)];
        self.op(Op::Stg, Form::M, &fields)
    }

    /// Pd = register cmp immediate (unsigned).
    pub fn test(&mut self, pd: u32, cmp: u32, a: u32, imm: u32) -> &mut Self {
        let fields = [(Field::Pd, pd), (Field::A, a), (Field::Imm19, imm), (Field::Cmp, cmp)];
        self.op(Op::Isetp, Form::I, &fields)
    }

    pub fn exit(&mut self) -> &mut Self {
        self.op(Op::Exit, Form::J, &[])
    }

    pub fn barrier(&mut self) -> &mut Self {
        self.op(Op::Bar, Form::Ii, &[])
    }

    pub fn assemble(&self) -> Assembler {
        let mut a = Assembler::new();
        for item in &self.items {
            match item {
                Item::Plain(op, form, fields) => a.op(*op, *form, fields),
                Item::Jump(op, to, fields) => a.branch(*op, self.labels[to.0], fields),
            };
        }
        a
    }

    pub fn program(&self, threads: u32) -> (Vec<u8>, Vec<u8>) {
        self.assemble().compute_with([threads, 1, 1], SHARED, LOCAL, &self.constants)
    }
}

pub const LT: u32 = 1;
pub const EQ: u32 = 2;
pub const NE: u32 = 5;
pub const GE: u32 = 6;

pub fn hash(n: u32) -> u32 {
    let x = n.wrapping_mul(0x9E37_79B1) ^ 0x7F4A_7C15;
    (x ^ x >> 15).wrapping_mul(0x85EB_CA77)
}
