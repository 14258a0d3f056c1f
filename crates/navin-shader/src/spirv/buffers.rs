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
    /// The run-time array of words, and the structures around it: of what is written, and of what is only read.
    word_array: Id,
    words: [Id; 2],
    /// The same of vectors.
    vector_array: Id,
    vectors_of: [Id; 2],
    slots: [Id; 32],
    tables: [Id; 2],
    pub(super) global: Global,
    shared: Id,
    local: Id,
    /// Functions of atomics that are loops, by slot and kind.
    loops: FxHashMap<(u32, u32), Id>,
    /// Slots as 64-bit words; which slots are read so.
    wide_variables: FxHashMap<u32, Id>,
    wide_slots: u32,
    /// Slots that are read while others write them.
    coherent_slots: u32,
    /// Words of all lanes, masks of all warps, the count of a reduction: where lanes meet in shared memory.
    lanes: Id,
    masks: Id,
    count: Id,
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
        (self.word_array, self.words) = (0, [0; 2]);
        (self.vector_array, self.vectors_of) = (0, [0; 2]);
        self.slots = [0; 32];
        self.tables = [0; 2];
        self.global = Global::default();
        self.shared = 0;
        self.local = 0;
        self.loops.clear();
        self.wide_variables.clear();
        self.wide_slots = 0;
        self.coherent_slots = 0;
        self.lanes = 0;
        self.masks = 0;
        self.count = 0;
        self.locals_at = 0;
    }

    /// The word at `offset` of a bank is read.
    pub(super) fn note_constant(&mut self, bank: u32, offset: u32, t: WordType) {
        let b = &mut self.banks[bank as usize & 31];
        b.bytes = b.bytes.max(offset + 4);
        *self.parts.entry((bank, offset / 16, t == WordType::Float)).or_default() |= 1 << (offset / 4 % 4);
    }

    /// A storage slot has 64-bit atomics.
    pub(super) fn note_wide(&mut self, slot: u32) {
        self.wide_slots |= 1u32.checked_shl(slot).unwrap_or(0);
    }

    /// A storage slot has loads that see what other threads write meanwhile.
    pub(super) fn note_coherent(&mut self, slot: u32) {
        self.coherent_slots |= 1u32.checked_shl(slot).unwrap_or(0);
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

    /// Structure around a run-time array of words. That of buffers that are only read is another one: NVIDIA's driver
    /// takes NonWritable of one variable as said of its type, and moves loads of the others over stores.
    fn words_type(&mut self, read_only: bool) -> Id {
        if self.buffers.word_array == 0 {
            self.buffers.word_array = self.run_time_array(1);
        }
        let at = usize::from(read_only);
        if self.buffers.words[at] == 0 {
            self.buffers.words[at] = self.m.block(&[(self.buffers.word_array, 0)]);
        }
        self.buffers.words[at]
    }

    /// The same of vectors.
    fn vectors_type(&mut self, read_only: bool) -> Id {
        if self.buffers.vector_array == 0 {
            self.buffers.vector_array = self.run_time_array(4);
        }
        let at = usize::from(read_only);
        if self.buffers.vectors_of[at] == 0 {
            self.buffers.vectors_of[at] = self.m.block(&[(self.buffers.vector_array, 0)]);
        }
        self.buffers.vectors_of[at]
    }

    /// A run-time array of words, or of vectors of them.
    fn run_time_array(&mut self, words: u32) -> Id {
        let element = self.m.vector(Type::Uint, words);
        let array = self.m.id();
        put(&mut self.m.globals, op::TYPE_RUNTIME_ARRAY, &[array, element]);
        self.m.decorate(array, decoration::ARRAY_STRIDE, &[4 * words]);
        array
    }

    fn slot(&mut self, c: &Context<'_, '_>, slot: u32) -> Id {
        let at = slot as usize & 31;
        if self.buffers.slots[at] == 0 {
            let written = c.interface.storage_written;
            let read_only = (written | self.buffers.coherent_slots) >> slot & 1 == 0;
            let vectors = c.f.vectors >> at & 1 != 0;
            let ty = if vectors { self.vectors_type(read_only) } else { self.words_type(read_only) };
            let id =
                self.m.resource(storage::STORAGE_BUFFER, ty, c.program.stage.descriptor_set(), binding::STORAGE + slot);
            if read_only {
                self.m.decorate(id, decoration::NON_WRITABLE, &[]);
            }
            // The guest may bind overlapping ranges to two slots.
            let wide = self.buffers.wide_slots >> slot & 1 != 0;
            if written != 0 && c.interface.storage_slots.count_ones() > 1 || wide {
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
            let ty = self.words_type(true);
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
            let vector = self.m.shared(op::SHIFT_RIGHT_LOGICAL, uint, &[offset, four]);
            let word = self.m.shared(op::SHIFT_RIGHT_LOGICAL, uint, &[offset, two]);
            let part = self.m.shared(op::BITWISE_AND, uint, &[word, three]);
            let pointer = self.m.pointer(storage::UNIFORM, ty);
            let p = self.m.result(op::ACCESS_CHAIN, pointer, &[variable, zero, vector, part]);
            let own = self.own(v);
            return self.m.result_as(own, op::LOAD, ty, &[p]);
        }
        if matches!(inst.op, Op::LoadConstVector | Op::LoadConstPart) {
            let whole = inst.op == Op::LoadConstVector;
            let ty = if whole { self.m.vector(scalar, 4) } else { ty };
            let words =
                [variable, zero, self.uint(c, Value(offset)), if whole { 0 } else { self.m.uint(inst.args[2]) }];
            let pointer = self.m.pointer(storage::UNIFORM, ty);
            let p = self.m.result(op::ACCESS_CHAIN, pointer, &words[..if whole { 3 } else { 4 }]);
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
        self.m.shared(op::ACCESS_CHAIN, pointer, &[variable, zero, index])
    }

    /// Pointer to a vector of a storage slot, or to a component of it.
    fn vector_pointer(&mut self, c: &Context<'_, '_>, slot: u32, index: Value, component: Option<u32>) -> Id {
        let variable = self.slot(c, slot);
        let index = self.uint(c, index);
        let zero = self.m.uint(0);
        let to = self.m.vector(Type::Uint, if component.is_some() { 1 } else { 4 });
        let pointer = self.m.pointer(storage::STORAGE_BUFFER, to);
        match component {
            Some(k) => {
                let k = self.m.uint(k);
                self.m.shared(op::ACCESS_CHAIN, pointer, &[variable, zero, index, k])
            }
            None => self.m.shared(op::ACCESS_CHAIN, pointer, &[variable, zero, index]),
        }
    }

    /// A vector of a storage slot, as floats where its readers want those.
    fn load_vector(&mut self, c: &Context<'_, '_>, v: Value, inst: &Inst) {
        let p = self.vector_pointer(c, inst.args[0], Value(inst.args[1]), None);
        let own = self.own(v);
        let words = self.m.vector(Type::Uint, 4);
        if c.f.types[v.index()] == WordType::Uint {
            return self.m.result_as(own, op::LOAD, words, &[p]);
        }
        let loaded = self.m.result(op::LOAD, words, &[p]);
        let floats = self.m.vector(Type::Float, 4);
        self.m.result_as(own, op::BITCAST, floats, &[loaded]);
    }

    /// Stores a vector; put together in the type that most of its words have.
    fn store_vector(&mut self, c: &Context<'_, '_>, inst: &Inst) {
        let values = [0, 1, 2, 3].map(|n| c.f.resolve(Value(c.f.extra[(inst.args[2] + n) as usize])));
        let p = self.vector_pointer(c, inst.args[0], Value(inst.args[1]), None);
        // A cast of the whole costs as much as one of a part.
        let floats = values.iter().filter(|v| c.f.types[v.index()] == WordType::Float && c.f.constant(**v).is_none());
        let float = floats.count() >= 2;
        let (t, scalar) = if float { (WordType::Float, Type::Float) } else { (WordType::Uint, Type::Uint) };
        let parts = values.map(|v| self.word(c, v, t));
        let ty = self.m.vector(scalar, 4);
        let mut id = self.m.result(op::COMPOSITE_CONSTRUCT, ty, &parts);
        if float {
            let words = self.m.vector(Type::Uint, 4);
            id = self.m.result(op::BITCAST, words, &[id]);
        }
        self.m.statement(op::STORE, &[p, id]);
    }

    /// The variable of shared or local memory.
    fn near_variable(&mut self, c: &mut Context<'_, '_>, shared: bool) -> Id {
        let uint = self.m.ty(Type::Uint);
        let class = if shared { storage::WORKGROUP } else { storage::FUNCTION };
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
        variable
    }

    /// Pointer to a word of shared or local memory.
    fn near_pointer(&mut self, c: &mut Context<'_, '_>, index: Value, shared: bool) -> Id {
        let variable = self.near_variable(c, shared);
        let uint = self.m.ty(Type::Uint);
        let pointer = self.m.pointer(if shared { storage::WORKGROUP } else { storage::FUNCTION }, uint);
        let index = self.uint(c, index);
        self.m.shared(op::ACCESS_CHAIN, pointer, &[variable, index])
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
            Atomic::Load => return self.m.result_as(own, op::ATOMIC_LOAD, uint, &[pointer, scope, zero]),
            // Those without an operation of their own are loops: `atomic_loop`.
            Atomic::Increment | Atomic::Decrement | Atomic::FloatAdd | Atomic::HalvesAdd => op::ATOMIC_I_ADD,
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

    /// An atomic that SPIR-V has no operation for, at the end of block `from` of a helper function: the old value, and
    /// the block that the function goes on in.
    pub(super) fn atomic_loop(&mut self, args: AtomicArgs, from: Id) -> (Id, Id) {
        let AtomicArgs { pointer, value, kind, scope, .. } = args;
        let (uint, bool, zero, scope) =
            (self.m.ty(Type::Uint), self.m.ty(Type::Bool), self.m.uint(0), self.m.uint(scope));
        let [header, body, resume, merge, old, seen] = std::array::from_fn(|_| self.m.id());
        let first = self.m.result(op::ATOMIC_LOAD, uint, &[pointer, scope, zero]);
        self.m.statement(op::BRANCH, &[header]);
        self.m.statement(op::LABEL, &[header]);
        self.m.result_as(old, op::PHI, uint, &[first, from, seen, resume]);
        self.m.statement(op::LOOP_MERGE, &[merge, resume, 0]);
        self.m.statement(op::BRANCH, &[body]);
        self.m.statement(op::LABEL, &[body]);
        let new = self.atomic_step(old, value, kind);
        self.m.result_as(seen, op::ATOMIC_COMPARE_EXCHANGE, uint, &[pointer, scope, zero, zero, new, old]);
        let same = self.m.result(op::I_EQUAL, bool, &[seen, old]);
        self.m.statement(op::BRANCH_CONDITIONAL, &[same, merge, resume]);
        self.m.statement(op::LABEL, &[resume]);
        self.m.statement(op::BRANCH, &[header]);
        self.m.statement(op::LABEL, &[merge]);
        (old, merge)
    }

    /// What a loop's atomic makes of the old value.
    fn atomic_step(&mut self, old: Id, value: Id, kind: Atomic) -> Id {
        let (uint, bool, zero, one) = (self.m.ty(Type::Uint), self.m.ty(Type::Bool), self.m.uint(0), self.m.uint(1));
        match kind {
            Atomic::Increment => {
                let end = self.m.result(op::U_GREATER_THAN_EQUAL, bool, &[old, value]);
                let more = self.m.result(op::I_ADD, uint, &[old, one]);
                self.m.result(op::SELECT, uint, &[end, zero, more])
            }
            Atomic::Decrement => {
                let none = self.m.result(op::I_EQUAL, bool, &[old, zero]);
                let above = self.m.result(op::U_GREATER_THAN, bool, &[old, value]);
                let end = self.m.result(op::LOGICAL_OR, bool, &[none, above]);
                let less = self.m.result(op::I_SUB, uint, &[old, one]);
                self.m.result(op::SELECT, uint, &[end, value, less])
            }
            Atomic::FloatAdd => {
                let float = self.m.ty(Type::Float);
                let [x, y] = [old, value].map(|bits| {
                    let bits = self.flushed(bits);
                    self.m.result(op::BITCAST, float, &[bits])
                });
                let sum = self.m.result(op::F_ADD, float, &[x, y]);
                self.m.exact(sum);
                let bits = self.m.result(op::BITCAST, uint, &[sum]);
                self.flushed(bits)
            }
            _ => {
                let pair = self.m.vector(Type::Float, 2);
                let [x, y] = [old, value].map(|word| {
                    let id = self.m.id();
                    self.m.extended_as(id, op::glsl::UNPACK_HALF_2X16, pair, &[word]);
                    id
                });
                let sum = self.m.result(op::F_ADD, pair, &[x, y]);
                self.m.exact(sum);
                let id = self.m.id();
                self.m.extended_as(id, op::glsl::PACK_HALF_2X16, uint, &[sum]);
                id
            }
        }
    }

    /// The bits of a float, a denormal's as a zero of its sign.
    fn flushed(&mut self, bits: Id) -> Id {
        let (uint, bool, zero) = (self.m.ty(Type::Uint), self.m.ty(Type::Bool), self.m.uint(0));
        let (exponent, sign) = (self.m.uint(0x7F80_0000), self.m.uint(0x8000_0000));
        let e = self.m.result(op::BITWISE_AND, uint, &[bits, exponent]);
        let small = self.m.result(op::I_EQUAL, bool, &[e, zero]);
        let nothing = self.m.result(op::BITWISE_AND, uint, &[bits, sign]);
        self.m.result(op::SELECT, uint, &[small, nothing, bits])
    }

    /// `uint atomic(index, value)` on a storage slot (`None`: on shared memory), for what is a loop.
    fn loop_function(&mut self, c: &mut Context<'_, '_>, slot: Option<u32>, kind: Atomic) -> Id {
        let key = (slot.unwrap_or(u32::MAX), kind as u32);
        if let Some(&id) = self.buffers.loops.get(&key) {
            return id;
        }
        let uint = self.m.ty(Type::Uint);
        let zero = self.m.uint(0);
        let (variable, class) = match slot {
            Some(slot) => (self.slot(c, slot), storage::STORAGE_BUFFER),
            None => (self.near_variable(c, true), storage::WORKGROUP),
        };
        let pointer_type = self.m.pointer(class, uint);
        let id = self.helper(uint, 2, |e, block, parameters| {
            let &[index, value] = parameters else { return };
            let chain = [variable, zero, index];
            let chain = if slot.is_some() { &chain[..] } else { &[variable, index][..] };
            let pointer = e.m.result(op::ACCESS_CHAIN, pointer_type, chain);
            let scope = if slot.is_some() { 1 } else { 2 };
            let (old, _) = e.atomic_loop(AtomicArgs { pointer, value, expected: zero, kind, scope }, block);
            e.m.statement(op::RETURN_VALUE, &[old]);
        });
        self.buffers.loops.insert(key, id);
        id
    }

    /// An atomic on 64 bits, its operands and result as pairs of words; `words` are value and what is expected.
    pub(super) fn wide_atomic(&mut self, pointer: Id, words: &[Id], kind: Atomic) -> Id {
        let (ulong, pair) = (self.m.ty(Type::Ulong), self.m.vector(Type::Uint, 2));
        self.m.capability(op::capability::INT64);
        self.m.capability(op::capability::INT64_ATOMICS);
        let values: smallvec::SmallVec<[Id; 2]> = words
            .chunks_exact(2)
            .map(|w| {
                let both = self.m.result(op::COMPOSITE_CONSTRUCT, pair, w);
                self.m.result(op::BITCAST, ulong, &[both])
            })
            .collect();
        let (scope, zero) = (self.m.uint(1), self.m.uint(0));
        let opcode = match kind {
            Atomic::UMin => op::ATOMIC_U_MIN,
            Atomic::UMax => op::ATOMIC_U_MAX,
            Atomic::SMin => op::ATOMIC_S_MIN,
            Atomic::SMax => op::ATOMIC_S_MAX,
            Atomic::And => op::ATOMIC_AND,
            Atomic::Or => op::ATOMIC_OR,
            Atomic::Xor => op::ATOMIC_XOR,
            Atomic::Exchange => op::ATOMIC_EXCHANGE,
            Atomic::CompareExchange => op::ATOMIC_COMPARE_EXCHANGE,
            _ => op::ATOMIC_I_ADD,
        };
        let old = if kind == Atomic::CompareExchange {
            self.m.result(opcode, ulong, &[pointer, scope, zero, zero, values[0], values[values.len() - 1]])
        } else {
            self.m.result(opcode, ulong, &[pointer, scope, zero, values[0]])
        };
        self.m.result(op::BITCAST, pair, &[old])
    }

    /// The variable of a storage slot as 64-bit words.
    fn wide_slot(&mut self, c: &Context<'_, '_>, slot: u32) -> Id {
        if let Some(&id) = self.buffers.wide_variables.get(&slot) {
            return id;
        }
        let ulong = self.m.ty(Type::Ulong);
        let array = self.m.id();
        put(&mut self.m.globals, op::TYPE_RUNTIME_ARRAY, &[array, ulong]);
        self.m.decorate(array, decoration::ARRAY_STRIDE, &[8]);
        let ty = self.m.block(&[(array, 0)]);
        let set = c.program.stage.descriptor_set();
        let id = self.m.resource(storage::STORAGE_BUFFER, ty, set, binding::STORAGE + slot);
        self.m.decorate(id, decoration::ALIASED, &[]);
        self.buffers.wide_variables.insert(slot, id);
        id
    }

    fn atomic_wide(&mut self, c: &mut Context<'_, '_>, v: Value, inst: &Inst) {
        self.note_write(c);
        c.interface.requirements |= Requirements::INT64 | Requirements::ATOMIC_INT64;
        let [list, kind, slot, ..] = inst.args;
        let kind = Atomic::from_number(kind);
        let words: Vec<Value> = (0..6).map(|n| Value(c.f.extra[(list + n) as usize])).collect();
        let count = if kind == Atomic::CompareExchange { 4 } else { 2 };
        let values: Vec<Id> = words[2..2 + count].iter().map(|&w| self.uint(c, w)).collect();
        let pair = self.m.vector(Type::Uint, 2);
        if slot == u32::MAX {
            let function = self.wide_atomic_function(c, kind);
            let mut args = vec![function, self.uint(c, words[0]), self.uint(c, words[1])];
            args.extend(values);
            let own = self.own(v);
            return self.m.result_as(own, op::FUNCTION_CALL, pair, &args);
        }
        let variable = self.wide_slot(c, slot);
        let ulong = self.m.ty(Type::Ulong);
        let pointer = self.m.pointer(storage::STORAGE_BUFFER, ulong);
        let (zero, index) = (self.m.uint(0), self.uint(c, words[0]));
        let p = self.m.result(op::ACCESS_CHAIN, pointer, &[variable, zero, index]);
        let old = self.wide_atomic(p, &values, kind);
        self.bind(v, old);
    }

    /// A barrier of the workgroup.
    pub(super) fn meet(&mut self) {
        // Acquire and release of shared, storage and image memory.
        let (scope, semantics) = (self.m.uint(2), self.m.uint(0x8 | 0x40 | 0x100 | 0x800));
        self.m.statement(op::CONTROL_BARRIER, &[scope, scope, semantics]);
    }

    /// A workgroup variable of that many words.
    fn exchange_variable(&mut self, words: u32) -> Id {
        let uint = self.m.ty(Type::Uint);
        let array = self.m.ty(Type::Array(uint, words));
        self.m.variable(storage::WORKGROUP, array)
    }

    /// Pointer to word `index` of a workgroup variable.
    fn exchange_word(&mut self, variable: Id, index: Id) -> Id {
        let uint = self.m.ty(Type::Uint);
        let pointer = self.m.pointer(storage::WORKGROUP, uint);
        self.m.result(op::ACCESS_CHAIN, pointer, &[variable, index])
    }

    /// Joins `value` of all threads whose `index` is the same by an atomic operation, from 0 on.
    fn joined(&mut self, own: Id, variable: Id, index: Id, opcode: u32, value: Id) {
        let uint = self.m.ty(Type::Uint);
        let (zero, scope) = (self.m.uint(0), self.m.uint(2));
        let p = self.exchange_word(variable, index);
        self.m.statement(op::ATOMIC_STORE, &[p, scope, zero, zero]);
        self.meet();
        self.m.result(opcode, uint, &[p, scope, zero, value]);
        self.meet();
        self.m.result_as(own, op::ATOMIC_LOAD, uint, &[p, scope, zero]);
        self.meet();
    }

    /// Words for every thread of the workgroup's warps.
    fn warp_words(c: &Context<'_, '_>) -> u32 {
        let [x, y, z] = c.program.local_size;
        (x * y * z).next_multiple_of(32)
    }

    /// The value of another lane of the warp, through shared memory.
    pub(super) fn exchanged(&mut self, c: &mut Context<'_, '_>, own: Id, ty: Id, value: Id, lane: Id) {
        if self.buffers.lanes == 0 {
            self.buffers.lanes = self.exchange_variable(Self::warp_words(c));
        }
        let uint = self.m.ty(Type::Uint);
        let me = self.builtin_word(c, crate::ir::Builtin::LocalIndex);
        let p = self.exchange_word(self.buffers.lanes, me);
        let cast = ty != uint;
        let word = if cast { self.m.result(op::BITCAST, uint, &[value]) } else { value };
        self.m.statement(op::STORE, &[p, word]);
        self.meet();
        let mask = self.m.uint(!31);
        let first = self.m.result(op::BITWISE_AND, uint, &[me, mask]);
        let other = self.m.result(op::BITWISE_OR, uint, &[first, lane]);
        let p = self.exchange_word(self.buffers.lanes, other);
        if cast {
            let word = self.m.result(op::LOAD, uint, &[p]);
            self.m.result_as(own, op::BITCAST, ty, &[word]);
        } else {
            self.m.result_as(own, op::LOAD, uint, &[p]);
        }
        self.meet();
    }

    /// The lanes of the warp whose truth holds, through shared memory.
    pub(super) fn ballot(&mut self, c: &mut Context<'_, '_>, own: Id, truth: Id) {
        if self.buffers.masks == 0 {
            self.buffers.masks = self.exchange_variable(Self::warp_words(c) / 32);
        }
        let uint = self.m.ty(Type::Uint);
        let me = self.builtin_word(c, crate::ir::Builtin::LocalIndex);
        let (five, thirty_one, one, zero) = (self.m.uint(5), self.m.uint(31), self.m.uint(1), self.m.uint(0));
        let warp = self.m.result(op::SHIFT_RIGHT_LOGICAL, uint, &[me, five]);
        let lane = self.m.result(op::BITWISE_AND, uint, &[me, thirty_one]);
        let bit = self.m.result(op::SHIFT_LEFT_LOGICAL, uint, &[one, lane]);
        let bit = self.m.result(op::SELECT, uint, &[truth, bit, zero]);
        self.joined(own, self.buffers.masks, warp, op::ATOMIC_OR, bit);
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
            Op::LoadConst | Op::LoadConstAt | Op::LoadConstVector | Op::LoadConstPart => self.load_constant(c, v, inst),
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
            Op::LoadStorageVector => self.load_vector(c, v, inst),
            Op::LoadStoragePart => {
                let p = self.vector_pointer(c, args[0], Value(args[1]), Some(args[2]));
                let own = self.own(v);
                self.m.result_as(own, op::LOAD, uint, &[p]);
            }
            Op::StoreStorageVector => {
                self.note_write(c);
                self.store_vector(c, inst);
            }
            Op::StoreStoragePart => {
                self.note_write(c);
                let p = self.vector_pointer(c, args[0], Value(args[1]), Some(args[3]));
                let value = self.uint(c, Value(args[2]));
                self.m.statement(op::STORE, &[p, value]);
            }
            Op::AtomicStorage if Atomic::from_number(args[4]).is_loop() => {
                self.note_write(c);
                let function = self.loop_function(c, Some(args[0]), Atomic::from_number(args[4]));
                let words = [function, self.uint(c, Value(args[1])), self.uint(c, Value(args[2]))];
                let own = self.own(v);
                self.m.result_as(own, op::FUNCTION_CALL, uint, &words);
            }
            Op::AtomicShared if Atomic::from_number(args[3]).is_loop() => {
                let function = self.loop_function(c, None, Atomic::from_number(args[3]));
                let words = [function, self.uint(c, Value(args[0])), self.uint(c, Value(args[1]))];
                let own = self.own(v);
                self.m.result_as(own, op::FUNCTION_CALL, uint, &words);
            }
            Op::AtomicWide => self.atomic_wide(c, v, inst),
            Op::LoadGlobalWide => self.load_global_wide(c, v, [Value(args[0]), Value(args[1])], args[3]),
            Op::StoreGlobalWide => {
                self.note_write(c);
                self.store_global_wide(c, args[0], args[1]);
            }
            Op::CountAtBarrier => {
                if self.buffers.count == 0 {
                    self.buffers.count = self.exchange_variable(1);
                }
                let (value, zero) = (self.uint(c, Value(args[0])), self.m.uint(0));
                let own = self.own(v);
                self.joined(own, self.buffers.count, zero, op::ATOMIC_I_ADD, value);
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
            // Outputs of a patch are seen behind a barrier without further ado.
            Op::Barrier if c.program.stage == Stage::TessControl => {
                let (workgroup, invocation, none) = (self.m.uint(2), self.m.uint(4), self.m.uint(0));
                self.m.statement(op::CONTROL_BARRIER, &[workgroup, invocation, none]);
            }
            Op::Barrier => self.meet(),
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
