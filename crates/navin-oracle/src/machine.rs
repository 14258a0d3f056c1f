//! Runs a workgroup: threads, memory, divergence, warps.
//!
//! Every thread has its own program counter and stack of reconvergence targets. The thread (or threads) at the lowest
//! counter of a warp run next, all those at the same counter together: structured programs meet again where the
//! hardware lets them meet, and operations across lanes see who is there. Not for speed, and nothing is optimised.

use std::collections::HashMap;

use navin_shader::isa::table::{Field, Op};
use navin_shader::isa::{self, Instr};

use crate::alu;
use crate::integer::Flags;

/// Why a run ended before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// A word that is no instruction.
    #[error("no instruction at {0:#x}")]
    Word(u32),
    /// An instruction, or a field's value, whose meaning the facts do not give or that is not simulated.
    #[error("{0} at {1:#x} is not simulated")]
    Unknown(&'static str, u32),
    /// More steps than allowed.
    #[error("no end after {0} steps")]
    Endless(u64),
    /// A target that was never pushed.
    #[error("nothing to pop at {0:#x}")]
    Stack(u32),
}

/// Global memory: named ranges; everything else reads 0 and takes no stores.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    segments: Vec<(u64, Vec<u8>)>,
}

impl Memory {
    /// Adds a range.
    pub fn add(&mut self, address: u64, bytes: Vec<u8>) {
        self.segments.push((address, bytes));
    }

    /// The bytes of the range that begins at `address`.
    pub fn bytes(&self, address: u64) -> &[u8] {
        self.segments.iter().find(|s| s.0 == address).map_or(&[], |s| &s.1)
    }

    fn byte(&mut self, address: u64) -> Option<&mut u8> {
        self.segments.iter_mut().find_map(|(start, bytes)| {
            let at = address.checked_sub(*start)?;
            bytes.get_mut(usize::try_from(at).ok()?)
        })
    }

    fn load(&mut self, address: u64, bytes: u32) -> u128 {
        (0..bytes).fold(0, |r, n| {
            let byte = self.byte(address.wrapping_add(n.into())).map_or(0, |b| *b);
            r | u128::from(byte) << (8 * n)
        })
    }

    fn store(&mut self, address: u64, bytes: u32, value: u128) {
        for n in 0..bytes {
            if let Some(byte) = self.byte(address.wrapping_add(n.into())) {
                *byte = (value >> (8 * n)) as u8;
            }
        }
    }
}

/// What was pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Sync,
    Break,
    Continue,
    Return,
}

/// What a host's floats may do otherwise than the hardware's, so that a difference there is not taken for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floats {
    /// Fused products are rounded once.
    pub fused: bool,
    /// Binary32 denormals: flushed as the instruction says (none), always or never.
    pub flush: Option<bool>,
}

impl Floats {
    /// As the hardware has them.
    pub const HARDWARE: Self = Self { fused: true, flush: None };
}

/// One thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// How floats behave.
    pub floats: Floats,
    /// Registers; 255 reads 0.
    pub registers: [u32; 256],
    /// Predicates; 7 is true.
    pub predicates: [bool; 8],
    /// Condition codes.
    pub flags: Flags,
    /// Position in the workgroup.
    pub id: [u32; 3],
    /// Byte offset of the next instruction.
    pub pc: u32,
    stack: Vec<(Target, u32)>,
    local: Vec<u8>,
    lane: u32,
    done: bool,
    at_barrier: bool,
}

impl Thread {
    /// Register `n`.
    pub fn get(&self, n: u32) -> u32 {
        if n >= 255 { 0 } else { self.registers[n as usize] }
    }

    /// Sets register `n`.
    pub fn set(&mut self, n: u32, value: u32) {
        if n < 255 {
            self.registers[n as usize] = value;
        }
    }

    /// The pair from `n` on.
    pub fn pair(&self, n: u32) -> u64 {
        if n >= 255 { 0 } else { u64::from(self.get(n)) | u64::from(self.get(n + 1)) << 32 }
    }

    /// Sets the pair from `n` on.
    pub fn set_pair(&mut self, n: u32, value: u64) {
        if n < 255 {
            self.set(n, value as u32);
            self.set(n + 1, (value >> 32) as u32);
        }
    }

    /// Predicate `n`, inverted if asked.
    pub fn predicate(&self, n: u32, inverted: bool) -> bool {
        (n >= 7 || self.predicates[n as usize]) != inverted
    }

    /// Sets predicate `n`.
    pub fn set_predicate(&mut self, n: u32, value: bool) {
        if n < 7 {
            self.predicates[n as usize] = value;
        }
    }
}

/// A workgroup of a compute program.
#[derive(Clone, Debug)]
pub struct Machine<'a> {
    code: &'a [u8],
    /// Constant banks.
    pub constants: HashMap<u32, Vec<u8>>,
    /// Global memory.
    pub memory: Memory,
    shared: Vec<u8>,
    /// All threads, 32 to a warp.
    pub threads: Vec<Thread>,
    group: [u32; 3],
    size: [u32; 3],
}

impl<'a> Machine<'a> {
    /// A workgroup of `size` threads at position `group` about to run `code` (with its scheduling words).
    pub fn new(code: &'a [u8], size: [u32; 3], group: [u32; 3], shared_bytes: u32, local_bytes: u32) -> Self {
        let count = size[0] * size[1] * size[2];
        let threads = (0..count).map(|n| Thread {
            floats: Floats::HARDWARE,
            registers: [0; 256],
            predicates: [false, false, false, false, false, false, false, true],
            flags: Flags::default(),
            id: [n % size[0], n / size[0] % size[1], n / size[0] / size[1]],
            pc: 8,
            stack: Vec::new(),
            local: vec![0; local_bytes as usize],
            lane: n % 32,
            done: false,
            at_barrier: false,
        });
        Self {
            code,
            constants: HashMap::new(),
            memory: Memory::default(),
            shared: vec![0; shared_bytes as usize],
            threads: threads.collect(),
            group,
            size,
        }
    }

    /// Runs all threads to their end.
    ///
    /// # Errors
    /// What is not simulated, or no end after `limit` instructions.
    pub fn run(&mut self, limit: u64) -> Result<(), Stop> {
        let mut steps = 0;
        loop {
            let warps = self.threads.len().div_ceil(32);
            let mut ran = false;
            for warp in 0..warps {
                let lanes = warp * 32..(warp * 32 + 32).min(self.threads.len());
                let ready = |t: &Thread| !t.done && !t.at_barrier;
                let Some(pc) = self.threads[lanes.clone()].iter().filter(|t| ready(t)).map(|t| t.pc).min() else {
                    continue;
                };
                ran = true;
                steps += 1;
                if steps > limit {
                    return Err(Stop::Endless(limit));
                }
                let active: Vec<usize> =
                    lanes.filter(|&n| ready(&self.threads[n]) && self.threads[n].pc == pc).collect();
                self.step(pc, &active)?;
            }
            if !ran {
                if self.threads.iter().all(|t| t.done) {
                    return Ok(());
                }
                // Everybody who lives is at the barrier.
                self.threads.iter_mut().for_each(|t| t.at_barrier = false);
            }
        }
    }

    /// One instruction of the threads `active` of one warp, which all are at `pc`.
    fn step(&mut self, pc: u32, active: &[usize]) -> Result<(), Stop> {
        let word = isa::word_at(self.code, pc).ok_or(Stop::Word(pc))?;
        let i = isa::decode(word, pc).ok_or(Stop::Word(pc))?;
        let next = isa::normalise(pc + 8);
        let mut lanes = Vec::new();
        for &n in active {
            self.threads[n].pc = next;
            let (guard, inverted) = i.guard();
            let flags = self.threads[n].flags;
            let tested = match i.has(Field::Cond) && !matches!(i.op, Op::Cset | Op::Csetp) {
                true => flags.test(i.get(Field::Cond)).ok_or(Stop::Unknown("a condition code", pc))?,
                false => true,
            };
            if self.threads[n].predicate(guard, inverted) && tested {
                lanes.push(n);
            }
        }
        match i.op {
            Op::Vote => self.vote(&i, &lanes)?,
            Op::Shfl => self.shuffle(&i, &lanes)?,
            _ => {
                for n in lanes {
                    self.one(&i, n)?;
                }
            }
        }
        Ok(())
    }

    fn one(&mut self, i: &Instr, n: usize) -> Result<(), Stop> {
        let pc = i.offset;
        let unknown = || Stop::Unknown(i.name(), pc);
        let target = || {
            let rel = (i.get(Field::Rel24) << 8) as i32 >> 8;
            isa::relative_target(pc, rel).ok_or(Stop::Word(pc))
        };
        let t = &mut self.threads[n];
        match i.op {
            Op::Exit => t.done = true,
            Op::Bra => t.pc = target()?,
            Op::Ssy => t.stack.push((Target::Sync, target()?)),
            Op::Pbk => t.stack.push((Target::Break, target()?)),
            Op::Pcnt => t.stack.push((Target::Continue, target()?)),
            Op::Pret => t.stack.push((Target::Return, target()?)),
            Op::Cal => {
                t.stack.push((Target::Return, t.pc));
                t.pc = target()?;
            }
            Op::Sync | Op::Brk | Op::Cont | Op::Ret => {
                let kind = match i.op {
                    Op::Sync => Target::Sync,
                    Op::Brk => Target::Break,
                    Op::Cont => Target::Continue,
                    _ => Target::Return,
                };
                // Entries of other kinds above go with it.
                loop {
                    let (found, at) = t.stack.pop().ok_or(Stop::Stack(pc))?;
                    if found == kind {
                        t.pc = at;
                        break;
                    }
                }
            }
            Op::Nop | Op::Depbar | Op::Membar | Op::Cctl => {}
            Op::Bar => {
                if i.get(Field::Op) != 0 {
                    return Err(unknown());
                }
                t.at_barrier = true;
            }
            Op::S2r => {
                let value = match i.get(Field::Sreg) {
                    0 => t.lane,
                    32 => t.id[0] | t.id[1] << 16 | t.id[2] << 26,
                    r @ 33..=35 => t.id[r as usize - 33],
                    r @ 37..=39 => self.group[r as usize - 37],
                    56 => 1 << t.lane,
                    57 => (1 << t.lane) - 1,
                    58 => ((2u64 << t.lane) - 1) as u32,
                    59 => !(((2u64 << t.lane) - 1) as u32),
                    60 => !((1u32 << t.lane) - 1),
                    _ => return Err(unknown()),
                };
                t.set(i.get(Field::Dst), value);
            }
            Op::Ldc => {
                let mode = i.get(Field::Mode);
                let a = t.get(i.get(Field::A));
                let (bank, offset) = match mode {
                    0 => (i.get(Field::Cbi), a.wrapping_add_signed(signed(i, Field::Off16))),
                    2 => (i.get(Field::Cbi) + (a >> 16), (a & 0xFFFF).wrapping_add_signed(signed(i, Field::Off16))),
                    _ => return Err(unknown()),
                };
                let size = i.get(Field::Size);
                let bytes = width(size).ok_or_else(unknown)?;
                let value = (0..bytes).fold(0u128, |r, k| {
                    let at = offset.wrapping_add(k) as usize;
                    let byte = self.constants.get(&bank).and_then(|b| b.get(at)).copied().unwrap_or(0);
                    r | u128::from(byte) << (8 * k)
                });
                put(t, i.get(Field::Dst), size, value);
            }
            Op::Ldg | Op::Ld | Op::Ldl | Op::Lds => {
                let (size, bytes) = (i.get(Field::Size), width(i.get(Field::Size)).ok_or_else(unknown)?);
                let value = match i.op {
                    Op::Ldg | Op::Ld => {
                        let at = global_address(t, i);
                        self.memory.load(at, bytes)
                    }
                    Op::Ldl => {
                        load(&t.local, t.get(i.get(Field::A)).wrapping_add_signed(signed(i, Field::Off24)), bytes)
                    }
                    _ => load(&self.shared, t.get(i.get(Field::A)).wrapping_add_signed(signed(i, Field::Off24)), bytes),
                };
                put(t, i.get(Field::Dst), size, value);
            }
            Op::Stg | Op::St | Op::Stl | Op::Sts => {
                let bytes = width(i.get(Field::Size)).ok_or_else(unknown)?;
                let data = i.get(Field::Data);
                let value = (0..bytes.div_ceil(4)).fold(0u128, |r, k| {
                    let word = if data == 255 { 0 } else { t.get(data + k) };
                    r | u128::from(word) << (32 * k)
                });
                match i.op {
                    Op::Stg | Op::St => {
                        let at = global_address(t, i);
                        self.memory.store(at, bytes, value);
                    }
                    Op::Stl => {
                        let at = t.get(i.get(Field::A)).wrapping_add_signed(signed(i, Field::Off24));
                        store(&mut t.local, at, bytes, value);
                    }
                    _ => {
                        let at = t.get(i.get(Field::A)).wrapping_add_signed(signed(i, Field::Off24));
                        store(&mut self.shared, at, bytes, value);
                    }
                }
            }
            _ => {
                let constants = &self.constants;
                let bank = |bank: u32, offset: u32| {
                    let bytes = constants.get(&bank).and_then(|b| b.get(offset as usize..offset as usize + 4));
                    bytes.map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                };
                alu::execute(i, t, &bank).ok_or_else(unknown)?;
            }
        }
        Ok(())
    }

    fn vote(&mut self, i: &Instr, lanes: &[usize]) -> Result<(), Stop> {
        let sees = |t: &Thread| t.predicate(i.get(Field::Ps), i.flag(Field::Psn));
        let votes: Vec<bool> = lanes.iter().map(|&n| sees(&self.threads[n])).collect();
        let ballot = lanes.iter().zip(&votes).fold(0, |r, (&n, &v)| r | u32::from(v) << self.threads[n].lane);
        let all = votes.iter().all(|v| *v);
        let any = votes.iter().any(|v| *v);
        let result = match i.get(Field::Mode) {
            0 => all,
            1 => any,
            2 => all || !any,
            _ => return Err(Stop::Unknown("VOTE", i.offset)),
        };
        for &n in lanes {
            self.threads[n].set(i.get(Field::Dst), ballot);
            self.threads[n].set_predicate(i.get(Field::Pd), result);
        }
        Ok(())
    }

    fn shuffle(&mut self, i: &Instr, lanes: &[usize]) -> Result<(), Stop> {
        let mut results = Vec::new();
        for &n in lanes {
            let t = &self.threads[n];
            let b = if i.has(Field::Lane5) { i.get(Field::Lane5) } else { t.get(i.get(Field::B)) & 31 };
            let c = if i.has(Field::Cimm13) { i.get(Field::Cimm13) } else { t.get(i.get(Field::C)) };
            let (clamp, segment) = (c & 31, c >> 8 & 31);
            let low = t.lane & segment;
            let high = low | (clamp & !segment);
            let (source, valid) = match i.get(Field::Mode) {
                0 => {
                    let s = low | (b & !segment);
                    (s, s <= high)
                }
                1 => {
                    let s = t.lane.wrapping_sub(b);
                    (s, s as i32 >= high as i32)
                }
                2 => {
                    let s = t.lane + b;
                    (s, s <= high)
                }
                _ => {
                    let s = t.lane ^ b;
                    (s, s <= high)
                }
            };
            let own = t.get(i.get(Field::A));
            let other = lanes.iter().find(|&&m| self.threads[m].lane == source);
            let value = match (valid, other) {
                (true, Some(&m)) => self.threads[m].get(i.get(Field::A)),
                // A lane that is not there gives nothing defined: programs that ask are not compared.
                (true, None) => return Err(Stop::Unknown("SHFL from an absent lane", i.offset)),
                (false, _) => own,
            };
            results.push((n, value, valid));
        }
        for (n, value, valid) in results {
            self.threads[n].set(i.get(Field::Dst), value);
            self.threads[n].set_predicate(i.get(Field::Pd), valid);
        }
        Ok(())
    }

    /// Threads of the workgroup by axis.
    pub fn size(&self) -> [u32; 3] {
        self.size
    }
}

fn signed(i: &Instr, field: Field) -> i32 {
    i.signed(field)
}

/// Bytes of a memory size code.
fn width(size: u32) -> Option<u32> {
    Some(match size {
        0 | 1 => 1,
        2 | 3 => 2,
        4 => 4,
        5 => 8,
        6 | 7 => 16,
        _ => return None,
    })
}

/// Writes a loaded value, narrow ones extended.
fn put(t: &mut Thread, dst: u32, size: u32, value: u128) {
    match size {
        1 => t.set(dst, value as i8 as u32),
        3 => t.set(dst, value as i16 as u32),
        _ => {
            let words = width(size).map_or(1, |b| b.div_ceil(4));
            for k in (0..words).filter(|_| dst < 255) {
                t.set(dst + k, (value >> (32 * k)) as u32);
            }
        }
    }
}

fn global_address(t: &Thread, i: &Instr) -> u64 {
    let a = i.get(Field::A);
    let base = if i.flag(Field::E) { t.pair(a) } else { u64::from(t.get(a)) };
    let field = if i.has(Field::Off32) { Field::Off32 } else { Field::Off24 };
    base.wrapping_add_signed(i64::from(i.signed(field)))
}

fn load(bytes: &[u8], at: u32, count: u32) -> u128 {
    (0..count).fold(0, |r, k| {
        let byte = bytes.get(at.wrapping_add(k) as usize).copied().unwrap_or(0);
        r | u128::from(byte) << (8 * k)
    })
}

fn store(bytes: &mut [u8], at: u32, count: u32, value: u128) {
    for k in 0..count {
        if let Some(byte) = bytes.get_mut(at.wrapping_add(k) as usize) {
            *byte = (value >> (8 * k)) as u8;
        }
    }
}
