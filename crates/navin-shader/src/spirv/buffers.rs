//! Memory: constant banks, storage buffers, shared and local memory, atomics, barriers. Raw memory is in `global`.

use rustc_hash::FxHashMap;

use super::emit::{Context, Emitter, Made};
use super::global::Global;
use super::module::{Id, Type, put};
use super::op::{self, decoration, storage};
use crate::interface::binding;
use crate::ir::{Atomic, Inst, Op, Value, WordType};
use crate::{Requirements, Stage};

/// Vectors of a whole bank.
const BANK_VECTORS: u32 = 4096;

/// What a program reads of a bank.
#[derive(Clone, Copy, Debug, Default)]
struct BankUse {
    bytes: u32,
    computed: bool,
}

/// What an atomic needs: a pointer, its operands, and the scope that it is seen in.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtomicArgs {
    pub pointer: Id,
    pub value: Id,
    /// Of compare-exchange alone.
    pub expected: Id,
    pub kind: Atomic,
    pub scope: u32,
}

/// Buffers declared so far.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    banks: [BankUse; 32],
    /// Components read of each vector, by (bank, vector, is float).
    parts: FxHashMap<(u32, u32, bool), u32>,
    bank_variables: FxHashMap<(u32, bool), Id>,
    bank_types: FxHashMap<(u32, bool), Id>,
    vectors: Made<(u32, u32, bool)>,
    words: Id,
    slots: [Id; 32],
    tables: [Id; 2],
    pub(super) global: Global,
    shared: Id,
    local: Id,
    /// Where the entry block's first instruction goes.
    pub(super) locals_at: usize,
}

impl Buffers {
    pub(super) fn clear(&mut self) {
        self.banks = Default::default();
        self.parts.clear();
        self.bank_variables.clear();
        self.bank_types.clear();
        self.vectors.clear();
        self.words = 0;
        self.slots = [0; 32];
        self.tables = [0; 2];
        self.global = Global::default();
        self.shared = 0;
        self.local = 0;
        self.locals_at = 0;
    }

    /// The word at `offset` of a bank is read.
    pub(super) fn note_constant(&mut self, bank: u32, offset: u32, t: WordType) {
        let b = &mut self.banks[bank as usize & 31];
        b.bytes = b.bytes.max(offset + 4);
        *self.parts.entry((bank, offset / 16, t == WordType::Float)).or_default() |= 1 << (offset / 4 % 4);
    }

    /// A computed place of a bank is read.
    pub(super) fn note_computed(&mut self, bank: u32) {
        self.banks[bank as usize & 31].computed = true;
    }
}

impl Emitter {
    /// The variable of a bank, as vectors of one type.
    fn bank(&mut self, c: &mut Context<'_, '_>, bank: u32, float: bool) -> Id {
        if let Some(&id) = self.buffers.bank_variables.get(&(bank, float)) {
            return id;
        }
        let used = self.buffers.banks[bank as usize & 31];
        let vectors = if used.computed { BANK_VECTORS } else { used.bytes.div_ceil(16) };
        c.interface.constant_banks |= 1 << bank;
        c.interface.constant_bytes[bank as usize] = if used.computed { 65536 } else { used.bytes };
        let block = match self.buffers.bank_types.get(&(vectors, float)) {
            Some(&id) => id,
            None => {
                let vector = self.m.vector(if float { Type::Float } else { Type::Uint }, 4);
                let array = self.m.ty(Type::Array(vector, vectors));
                self.m.decorate(array, decoration::ARRAY_STRIDE, &[16]);
                let id = self.m.block(&[(array, 0)]);
                self.buffers.bank_types.insert((vectors, float), id);
                id
            }
        };
        let id = self.m.resource(storage::UNIFORM, block, c.program.stage.descriptor_set(), bank);
        self.buffers.bank_variables.insert((bank, float), id);
        id
    }

    /// Structure around a run-time array of words.
    fn words_type(&mut self) -> Id {
        if self.buffers.words == 0 {
            let uint = self.m.ty(Type::Uint);
            let array = self.m.id();
            put(&mut self.m.globals, op::TYPE_RUNTIME_ARRAY, &[array, uint]);
            self.m.decorate(array, decoration::ARRAY_STRIDE, &[4]);
            self.buffers.words = self.m.block(&[(array, 0)]);
        }
        self.buffers.words
    }

    fn slot(&mut self, c: &Context<'_, '_>, slot: u32) -> Id {
        let at = slot as usize & 31;
        if self.buffers.slots[at] == 0 {
            let ty = self.words_type();
            let id =
                self.m.resource(storage::STORAGE_BUFFER, ty, c.program.stage.descriptor_set(), binding::STORAGE + slot);
            let written = c.interface.storage_written;
            if written >> slot & 1 == 0 {
                self.m.decorate(id, decoration::NON_WRITABLE, &[]);
            }
            // The guest may bind overlapping ranges to two slots.
            if written != 0 && c.interface.storage_slots.count_ones() > 1 {
                self.m.decorate(id, decoration::ALIASED, &[]);
            }
            self.buffers.slots[at] = id;
        }
        self.buffers.slots[at]
    }

    /// Word `index` of the texture (0) or sampler (1) table.
    pub(super) fn table_word(&mut self, table: u32, index: Id) -> Id {
        let at = table as usize;
        if self.buffers.tables[at] == 0 {
            let ty = self.words_type();
            let id = self.m.resource(storage::STORAGE_BUFFER, ty, 0, binding::TEXTURE_TABLE + table);
            self.m.decorate(id, decoration::NON_WRITABLE, &[]);
            self.buffers.tables[at] = id;
        }
        let uint = self.m.ty(Type::Uint);
        let pointer = self.m.pointer(storage::STORAGE_BUFFER, uint);
        let zero = self.m.uint(0);
        let p = self.m.result(op::ACCESS_CHAIN, pointer, &[self.buffers.tables[at], zero, index]);
        self.m.result(op::LOAD, uint, &[p])
    }

    fn load_constant(&mut self, c: &mut Context<'_, '_>, v: Value, inst: &Inst) {
        let float = c.f.types[v.index()] == WordType::Float;
        let scalar = if float { Type::Float } else { Type::Uint };
        let [bank, offset, ..] = inst.args;
        let variable = self.bank(c, bank, float);
        let ty = self.m.ty(scalar);
        let zero = self.m.uint(0);
        if inst.op == Op::LoadConstAt {
            let offset = self.uint(c, Value(offset));
            let (two, three, four) = (self.m.uint(2), self.m.uint(3), self.m.uint(4));
            let uint = self.m.ty(Type::Uint);
            let vector = self.m.result(op::SHIFT_RIGHT_LOGICAL, uint, &[offset, four]);
            let word = self.m.result(op::SHIFT_RIGHT_LOGICAL, uint, &[offset, two]);
            let part = self.m.result(op::BITWISE_AND, uint, &[word, three]);
            let pointer = self.m.pointer(storage::UNIFORM, ty);
            let p = self.m.result(op::ACCESS_CHAIN, pointer, &[variable, zero, vector, part]);
            let own = self.own(v);
            return self.m.result_as(own, op::LOAD, ty, &[p]);
        }
        let (vector, part) = (offset / 16, offset / 4 % 4);
        let index = self.m.uint(vector);
        let parts = self.buffers.parts.get(&(bank, vector, float)).copied().unwrap_or(0);
        if parts.count_ones() >= 2 {
            // Several components are wanted: the vector is loaded once.
            let key = (bank, vector, float);
            let known = self.buffers.vectors.get(&key).copied().filter(|&(_, scope)| self.is_open(scope));
            let whole = match known {
                Some((id, _)) => id,
                None => {
                    let vec4 = self.m.vector(scalar, 4);
                    let pointer = self.m.pointer(storage::UNIFORM, vec4);
                    let p = self.m.result(op::ACCESS_CHAIN, pointer, &[variable, zero, index]);
                    let id = self.m.result(op::LOAD, vec4, &[p]);
                    let scope = self.scope();
                    self.buffers.vectors.insert(key, (id, scope));
                    id
                }
            };
            let own = self.own(v);
            return self.m.result_as(own, op::COMPOSITE_EXTRACT, ty, &[whole, part]);
        }
        let part = self.m.uint(part);
        let pointer = self.m.pointer(storage::UNIFORM, ty);
        let p = self.m.result(op::ACCESS_CHAIN, pointer, &[variable, zero, index, part]);
        let own = self.own(v);
        self.m.result_as(own, op::LOAD, ty, &[p]);
    }

    /// Pointer to a word of a storage slot.
    fn storage_pointer(&mut self, c: &Context<'_, '_>, slot: u32, index: Value) -> Id {
        let variable = self.slot(c, slot);
        let index = self.uint(c, index);
        let uint = self.m.ty(Type::Uint);
        let pointer = self.m.pointer(storage::STORAGE_BUFFER, uint);
        let zero = self.m.uint(0);
        self.m.result(op::ACCESS_CHAIN, pointer, &[variable, zero, index])
    }

    /// Pointer to a word of shared or local memory.
    fn near_pointer(&mut self, c: &mut Context<'_, '_>, index: Value, shared: bool) -> Id {
        let uint = self.m.ty(Type::Uint);
        let class = if shared { storage::WORKGROUP } else { storage::FUNCTION };
        let pointer = self.m.pointer(class, uint);
        let bytes = if shared { c.program.shared_bytes } else { c.program.local_bytes };
        let array = self.m.ty(Type::Array(uint, (bytes / 4).max(1)));
        if shared {
            c.interface.shared_bytes = bytes;
        } else {
            c.interface.local_bytes = bytes;
        }
        let mut variable = if shared { self.buffers.shared } else { self.buffers.local };
        if variable == 0 {
            if shared {
                variable = self.m.variable(class, array);
                self.buffers.shared = variable;
            } else {
                let pointer = self.m.pointer(class, array);
                variable = self.m.id();
                put(&mut self.m.locals, op::VARIABLE, &[pointer, variable, class]);
                self.buffers.local = variable;
            }
        }
        let index = self.uint(c, index);
        self.m.result(op::ACCESS_CHAIN, pointer, &[variable, index])
    }

    /// An atomic, its result under the id `own`.
    pub(super) fn atomic_as(&mut self, own: Id, args: AtomicArgs) {
        let AtomicArgs { pointer, value, expected, kind, scope } = args;
        let (uint, zero, scope) = (self.m.ty(Type::Uint), self.m.uint(0), self.m.uint(scope));
        let opcode = match kind {
            Atomic::Add => op::ATOMIC_I_ADD,
            Atomic::UMin => op::ATOMIC_U_MIN,
            Atomic::UMax => op::ATOMIC_U_MAX,
            Atomic::SMin => op::ATOMIC_S_MIN,
            Atomic::SMax => op::ATOMIC_S_MAX,
            Atomic::And => op::ATOMIC_AND,
            Atomic::Or => op::ATOMIC_OR,
            Atomic::Xor => op::ATOMIC_XOR,
            Atomic::Exchange => op::ATOMIC_EXCHANGE,
            Atomic::CompareExchange => {
                let words = [pointer, scope, zero, zero, value, expected];
                return self.m.result_as(own, op::ATOMIC_COMPARE_EXCHANGE, uint, &words);
            }
        };
        self.m.result_as(own, opcode, uint, &[pointer, scope, zero, value]);
    }

    /// The atomic `v` on `pointer`; `words` are its value and, for compare-exchange, what it expects.
    pub(super) fn atomic(
        &mut self,
        c: &mut Context<'_, '_>,
        v: Value,
        pointer: Id,
        words: [Value; 2],
        kind: Atomic,
        scope: u32,
    ) {
        let value = self.uint(c, words[0]);
        let expected = if kind == Atomic::CompareExchange { self.uint(c, words[1]) } else { 0 };
        let own = self.own(v);
        self.atomic_as(own, AtomicArgs { pointer, value, expected, kind, scope });
    }

    /// Marks writes of graphics stages, which are optional features.
    pub(super) fn note_write(&mut self, c: &mut Context<'_, '_>) {
        c.interface.requirements |= match c.program.stage {
            Stage::Compute => Requirements::empty(),
            Stage::Fragment => Requirements::FRAGMENT_STORES,
            _ => Requirements::VERTEX_STORES,
        };
    }

    pub(super) fn memory(&mut self, c: &mut Context<'_, '_>, v: Value, inst: &Inst) {
        let args = inst.args;
        let uint = self.m.ty(Type::Uint);
        match inst.op {
            Op::LoadConst | Op::LoadConstAt => self.load_constant(c, v, inst),
            Op::LoadStorage => {
                let p = self.storage_pointer(c, args[0], Value(args[1]));
                let own = self.own(v);
                self.m.result_as(own, op::LOAD, uint, &[p]);
            }
            Op::StoreStorage => {
                self.note_write(c);
                let p = self.storage_pointer(c, args[0], Value(args[1]));
                let value = self.uint(c, Value(args[2]));
                self.m.statement(op::STORE, &[p, value]);
            }
            Op::AtomicStorage => {
                self.note_write(c);
                let p = self.storage_pointer(c, args[0], Value(args[1]));
                self.atomic(c, v, p, [Value(args[2]), Value(args[3])], Atomic::from_number(args[4]), 1);
            }
            Op::LoadGlobal => self.load_global(c, v, Value(args[0]), Value(args[1])),
            Op::StoreGlobal => {
                self.note_write(c);
                self.store_global(c, Value(args[0]), Value(args[1]), Value(args[2]));
            }
            Op::AtomicGlobal => {
                self.note_write(c);
                let words = [0, 1, 2, 3].map(|n| Value(args[n]));
                self.atomic_global(c, v, words, Atomic::from_number(args[4]));
            }
            Op::LoadShared | Op::LoadLocal => {
                let p = self.near_pointer(c, Value(args[0]), inst.op == Op::LoadShared);
                let own = self.own(v);
                self.m.result_as(own, op::LOAD, uint, &[p]);
            }
            Op::StoreShared | Op::StoreLocal => {
                let p = self.near_pointer(c, Value(args[0]), inst.op == Op::StoreShared);
                let value = self.uint(c, Value(args[1]));
                self.m.statement(op::STORE, &[p, value]);
            }
            Op::AtomicShared => {
                let p = self.near_pointer(c, Value(args[0]), true);
                self.atomic(c, v, p, [Value(args[1]), Value(args[2])], Atomic::from_number(args[3]), 2);
            }
            Op::Barrier => {
                // Workgroup; acquire and release of shared, storage and image memory.
                let (scope, semantics) = (self.m.uint(2), self.m.uint(0x8 | 0x40 | 0x100 | 0x800));
                self.m.statement(op::CONTROL_BARRIER, &[scope, scope, semantics]);
            }
            _ => {
                // Level 0 is the workgroup, 1 and more the device.
                let shared = if c.program.stage == Stage::Compute { 0x100 } else { 0 };
                let scope = self.m.uint(if args[0] == 0 && shared != 0 { 2 } else { 1 });
                let semantics = self.m.uint(0x8 | 0x40 | shared | 0x800);
                self.m.statement(op::MEMORY_BARRIER, &[scope, semantics]);
            }
        }
    }
}
