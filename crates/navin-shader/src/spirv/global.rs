//! Raw global memory: helper functions that walk the page table.
//!
//! A root entry leads to a leaf, a leaf's entry to a page, or, with bit 0 set, to a split table of 16 small pages;
//! either way the low 16 bits of the address are added (the driver stores a small page's address less its offset in
//! the big page). Accesses are of words, or of 2 or 4 at multiples of their size, so none crosses a page. Unmapped pages lead to the
//! zero page: loads read 0. Stores and atomics there are left out, so that no reader ever sees them (B113); the zero
//! page's address stands behind the root's entries.
//!
//! Every access is one call, loads and their pointers apart; a module holds the functions that it calls.

use super::buffers::AtomicArgs;
use super::emit::{Context, Emitter};
use super::module::{Id, Type, put};
use super::op::{self, decoration, storage};
use crate::Requirements;
use crate::interface::binding;
use crate::ir::{Atomic, Value};

/// Entries of the root and of a leaf.
const ENTRIES: u32 = 4096;
/// Words of a page.
const PAGE_WORDS: u32 = 16384;

/// Helper functions and types, made when they are needed.
#[derive(Debug, Default)]
pub(super) struct Global {
    root: Id,
    /// Pointer to a leaf, or a split table, which is read like the begin of one.
    table_pointer: Id,
    /// Pointer to a page.
    page_pointer: Id,
    /// `uvec2 page(low, high)`.
    page: Id,
    /// `uint *word(low, high)`.
    word: Id,
    /// `void store(low, high, value)`.
    store: Id,
    /// `uint atomic(low, high, value [, expected])`, by kind.
    atomics: [Id; Atomic::COUNT],
    /// `uvec2 atomic(low, high, value low, high [, expected low, high])`, by kind.
    wide_atomics: [Id; Atomic::COUNT],
    /// Pointer to a page of 64-bit words.
    wide_page_pointer: Id,
    /// Pointers to pages of vectors of 2 and 4 words, and the functions that store them.
    vector_pages: [Id; 2],
    wide_stores: [Id; 2],
}

impl Emitter {
    pub(super) fn load_global(&mut self, c: &mut Context<'_, '_>, v: Value, low: Value, high: Value) {
        let word = self.word_function(c);
        let (low, high) = (self.uint(c, low), self.uint(c, high));
        let uint = self.m.ty(Type::Uint);
        let pointer = self.m.pointer(storage::PHYSICAL_STORAGE_BUFFER, uint);
        let p = self.m.result(op::FUNCTION_CALL, pointer, &[word, low, high]);
        let own = self.own(v);
        self.m.result_as(own, op::LOAD, uint, &[p, 2, 4]);
    }

    pub(super) fn store_global(&mut self, c: &mut Context<'_, '_>, low: Value, high: Value, value: Value) {
        let store = self.store_function(c);
        let (low, high, value) = (self.uint(c, low), self.uint(c, high), self.uint(c, value));
        let void = self.m.ty(Type::Void);
        self.m.result(op::FUNCTION_CALL, void, &[store, low, high, value]);
    }

    pub(super) fn atomic_global(&mut self, c: &mut Context<'_, '_>, v: Value, args: [Value; 4], kind: Atomic) {
        let atomic = self.atomic_function(c, kind);
        let [low, high, value, expected] = args;
        let mut words = vec![atomic, self.uint(c, low), self.uint(c, high), self.uint(c, value)];
        if kind == Atomic::CompareExchange {
            words.push(self.uint(c, expected));
        }
        let uint = self.m.ty(Type::Uint);
        let own = self.own(v);
        self.m.result_as(own, op::FUNCTION_CALL, uint, &words);
    }

    /// Writes a helper function: `body` gets the label of its first block and the ids of its parameters, all `uint`.
    pub(super) fn helper(&mut self, returns: Id, parameters: usize, body: impl FnOnce(&mut Self, Id, &[Id])) -> Id {
        let uint = self.m.ty(Type::Uint);
        let ty = self.m.ty(Type::Function(returns, parameters as u32));
        let name = self.m.id();
        let outside = std::mem::take(&mut self.m.body);
        self.m.statement(op::FUNCTION, &[returns, name, 0, ty]);
        let ids: Vec<Id> = (0..parameters).map(|_| self.m.result(op::FUNCTION_PARAMETER, uint, &[])).collect();
        let block = self.m.id();
        self.m.statement(op::LABEL, &[block]);
        body(self, block, &ids);
        self.m.statement(op::FUNCTION_END, &[]);
        let mut written = std::mem::replace(&mut self.m.body, outside);
        self.m.helpers.append(&mut written);
        name
    }

    /// Types of tables and pages, and the root's variable.
    fn page_types(&mut self, c: &mut Context<'_, '_>) {
        if self.buffers.global.root != 0 {
            return;
        }
        c.interface.uses_page_table = true;
        c.interface.requirements |= Requirements::DEVICE_ADDRESS;
        self.m.capability(op::capability::PHYSICAL_STORAGE_BUFFER_ADDRESSES);
        let uint = self.m.ty(Type::Uint);
        let pair = self.m.vector(Type::Uint, 2);
        // Types of their own: laid-out arrays must not be shared with shared or local memory.
        let (n_table, n_words) = (self.m.uint(ENTRIES), self.m.uint(PAGE_WORDS));
        let table = self.m.id();
        put(&mut self.m.globals, op::TYPE_ARRAY, &[table, pair, n_table]);
        self.m.decorate(table, decoration::ARRAY_STRIDE, &[8]);
        // Of the root; leaves and split tables have no second member and are not asked for one.
        let table_type = self.m.block(&[(table, 0), (pair, ENTRIES * 8)]);
        let root = self.m.resource(storage::STORAGE_BUFFER, table_type, 0, binding::PAGE_TABLE);
        self.m.decorate(root, decoration::NON_WRITABLE, &[]);
        let words = self.m.id();
        put(&mut self.m.globals, op::TYPE_ARRAY, &[words, uint, n_words]);
        self.m.decorate(words, decoration::ARRAY_STRIDE, &[4]);
        let page_type = self.m.block(&[(words, 0)]);
        let global = &mut self.buffers.global;
        global.root = root;
        global.table_pointer = self.m.pointer(storage::PHYSICAL_STORAGE_BUFFER, table_type);
        global.page_pointer = self.m.pointer(storage::PHYSICAL_STORAGE_BUFFER, page_type);
    }

    /// Bits of `word` from `shift` on, under `mask`.
    fn bits(&mut self, word: Id, shift: u32, mask: u32) -> Id {
        let uint = self.m.ty(Type::Uint);
        let (shift, mask) = (self.m.uint(shift), self.m.uint(mask));
        let shifted = self.m.result(op::SHIFT_RIGHT_LOGICAL, uint, &[word, shift]);
        self.m.result(op::BITWISE_AND, uint, &[shifted, mask])
    }

    /// Entry `index` of the table at a device address.
    fn table_entry(&mut self, address: Id, index: Id) -> Id {
        let pair = self.m.vector(Type::Uint, 2);
        let pointer = self.m.pointer(storage::PHYSICAL_STORAGE_BUFFER, pair);
        let zero = self.m.uint(0);
        let table = self.m.result(op::BITCAST, self.buffers.global.table_pointer, &[address]);
        let p = self.m.result(op::ACCESS_CHAIN, pointer, &[table, zero, index]);
        self.m.result(op::LOAD, pair, &[p, 2, 8])
    }

    /// `uvec2 page(low, high)`: root, leaf, split table. To what it gives, the low 16 bits of the address are added.
    fn page_function(&mut self, c: &mut Context<'_, '_>) -> Id {
        if self.buffers.global.page != 0 {
            return self.buffers.global.page;
        }
        self.page_types(c);
        let uint = self.m.ty(Type::Uint);
        let pair = self.m.vector(Type::Uint, 2);
        let bool = self.m.ty(Type::Bool);
        let root_pointer = self.m.pointer(storage::STORAGE_BUFFER, pair);
        let [zero, one, four, twenty_eight, entry] = [0, 1, 4, 28, ENTRIES - 1].map(|k| self.m.uint(k));
        let id = self.helper(pair, 2, |e, block, parameters| {
            let &[low, high] = parameters else { return };
            let (split, merge) = (e.m.id(), e.m.id());
            let a = e.m.result(op::SHIFT_LEFT_LOGICAL, uint, &[high, four]);
            let b = e.m.result(op::SHIFT_RIGHT_LOGICAL, uint, &[low, twenty_eight]);
            let a = e.m.result(op::BITWISE_OR, uint, &[a, b]);
            let a = e.m.result(op::BITWISE_AND, uint, &[a, entry]);
            let p = e.m.result(op::ACCESS_CHAIN, root_pointer, &[e.buffers.global.root, zero, a]);
            let leaf = e.m.result(op::LOAD, pair, &[p]);
            let a = e.bits(low, 16, ENTRIES - 1);
            let page = e.table_entry(leaf, a);
            let word = e.m.result(op::COMPOSITE_EXTRACT, uint, &[page, 0]);
            let bit = e.m.result(op::BITWISE_AND, uint, &[word, one]);
            let is_split = e.m.result(op::I_NOT_EQUAL, bool, &[bit, zero]);
            e.m.statement(op::SELECTION_MERGE, &[merge, 0]);
            e.m.statement(op::BRANCH_CONDITIONAL, &[is_split, split, merge]);
            e.m.statement(op::LABEL, &[split]);
            let word = e.m.result(op::BITWISE_XOR, uint, &[word, one]);
            let table = e.m.result(op::COMPOSITE_INSERT, pair, &[word, page, 0]);
            let a = e.bits(low, 12, 15);
            let small = e.table_entry(table, a);
            e.m.statement(op::BRANCH, &[merge]);
            e.m.statement(op::LABEL, &[merge]);
            let found = e.m.result(op::PHI, pair, &[page, block, small, split]);
            e.m.statement(op::RETURN_VALUE, &[found]);
        });
        self.buffers.global.page = id;
        id
    }

    /// Pointer to the word of a page that an address means.
    fn word_of_page(&mut self, page: Id, low: Id) -> Id {
        let uint = self.m.ty(Type::Uint);
        let pointer = self.m.pointer(storage::PHYSICAL_STORAGE_BUFFER, uint);
        let zero = self.m.uint(0);
        let page = self.m.result(op::BITCAST, self.buffers.global.page_pointer, &[page]);
        let index = self.bits(low, 2, PAGE_WORDS - 1);
        self.m.result(op::ACCESS_CHAIN, pointer, &[page, zero, index])
    }

    /// `uint *word(low, high)`, for loads.
    fn word_function(&mut self, c: &mut Context<'_, '_>) -> Id {
        if self.buffers.global.word == 0 {
            let page_function = self.page_function(c);
            let uint = self.m.ty(Type::Uint);
            let pair = self.m.vector(Type::Uint, 2);
            let pointer = self.m.pointer(storage::PHYSICAL_STORAGE_BUFFER, uint);
            self.buffers.global.word = self.helper(pointer, 2, |e, _, parameters| {
                let &[low, high] = parameters else { return };
                let page = e.m.result(op::FUNCTION_CALL, pair, &[page_function, low, high]);
                let p = e.word_of_page(page, low);
                e.m.statement(op::RETURN_VALUE, &[p]);
            });
        }
        self.buffers.global.word
    }

    /// Finds the page, and begins a block for what is done there unless it is the zero page. Gives the pointer,
    /// that block, and the one to merge to.
    fn begin_write(&mut self, page_function: Id, low: Id, high: Id) -> [Id; 3] {
        let [page, write, merge] = self.begin_page(page_function, low, high);
        [self.word_of_page(page, low), write, merge]
    }

    /// The same with the page rather than the pointer.
    fn begin_page(&mut self, page_function: Id, low: Id, high: Id) -> [Id; 3] {
        let pair = self.m.vector(Type::Uint, 2);
        let bool = self.m.ty(Type::Bool);
        let bools = self.m.vector(Type::Bool, 2);
        let root_pointer = self.m.pointer(storage::STORAGE_BUFFER, pair);
        let one = self.m.uint(1);
        let (write, merge) = (self.m.id(), self.m.id());
        let page = self.m.result(op::FUNCTION_CALL, pair, &[page_function, low, high]);
        let p = self.m.result(op::ACCESS_CHAIN, root_pointer, &[self.buffers.global.root, one]);
        let zero_page = self.m.result(op::LOAD, pair, &[p]);
        let same = self.m.result(op::I_EQUAL, bools, &[page, zero_page]);
        let unmapped = self.m.result(op::ALL, bool, &[same]);
        self.m.statement(op::SELECTION_MERGE, &[merge, 0]);
        self.m.statement(op::BRANCH_CONDITIONAL, &[unmapped, merge, write]);
        self.m.statement(op::LABEL, &[write]);
        [page, write, merge]
    }

    /// `void store(low, high, value)`.
    fn store_function(&mut self, c: &mut Context<'_, '_>) -> Id {
        if self.buffers.global.store == 0 {
            let page_function = self.page_function(c);
            let void = self.m.ty(Type::Void);
            self.buffers.global.store = self.helper(void, 3, |e, _, parameters| {
                let &[low, high, value] = parameters else { return };
                let [p, _, merge] = e.begin_write(page_function, low, high);
                e.m.statement(op::STORE, &[p, value, 2, 4]);
                e.m.statement(op::BRANCH, &[merge]);
                e.m.statement(op::LABEL, &[merge]);
                e.m.statement(op::RETURN, &[]);
            });
        }
        self.buffers.global.store
    }

    /// `uint atomic(low, high, value [, expected])`; 0 for unmapped pages.
    fn atomic_function(&mut self, c: &mut Context<'_, '_>, kind: Atomic) -> Id {
        if self.buffers.global.atomics[kind as usize] == 0 {
            let page_function = self.page_function(c);
            let uint = self.m.ty(Type::Uint);
            let zero = self.m.uint(0);
            let parameters = if kind == Atomic::CompareExchange { 4 } else { 3 };
            self.buffers.global.atomics[kind as usize] = self.helper(uint, parameters, |e, block, parameters| {
                let &[low, high, value, ..] = parameters else { return };
                let expected = parameters.get(3).copied().unwrap_or(zero);
                let [pointer, write, merge] = e.begin_write(page_function, low, high);
                let args = AtomicArgs { pointer, value, expected, kind, scope: 1 };
                let (old, write) = if kind.is_loop() {
                    e.atomic_loop(args, write)
                } else {
                    let old = e.m.id();
                    e.atomic_as(old, args);
                    (old, write)
                };
                e.m.statement(op::BRANCH, &[merge]);
                e.m.statement(op::LABEL, &[merge]);
                let result = e.m.result(op::PHI, uint, &[zero, block, old, write]);
                e.m.statement(op::RETURN_VALUE, &[result]);
            });
        }
        self.buffers.global.atomics[kind as usize]
    }

    /// `uvec2 atomic(low, high, value [, expected])` on 64 bits; 0 for unmapped pages.
    pub(super) fn wide_atomic_function(&mut self, c: &mut Context<'_, '_>, kind: Atomic) -> Id {
        if self.buffers.global.wide_atomics[kind as usize] == 0 {
            let page_function = self.page_function(c);
            let (pair, ulong) = (self.m.vector(Type::Uint, 2), self.m.ty(Type::Ulong));
            if self.buffers.global.wide_page_pointer == 0 {
                let count = self.m.uint(PAGE_WORDS / 2);
                let words = self.m.id();
                put(&mut self.m.globals, op::TYPE_ARRAY, &[words, ulong, count]);
                self.m.decorate(words, decoration::ARRAY_STRIDE, &[8]);
                let page = self.m.block(&[(words, 0)]);
                self.buffers.global.wide_page_pointer = self.m.pointer(storage::PHYSICAL_STORAGE_BUFFER, page);
            }
            let zero = self.m.uint(0);
            let pointer = self.m.pointer(storage::PHYSICAL_STORAGE_BUFFER, ulong);
            let nothing = self.m.id();
            put(&mut self.m.globals, op::CONSTANT_COMPOSITE, &[pair, nothing, zero, zero]);
            let parameters = if kind == Atomic::CompareExchange { 6 } else { 4 };
            self.buffers.global.wide_atomics[kind as usize] = self.helper(pair, parameters, |e, block, parameters| {
                let [page, write, merge] = e.begin_page(page_function, parameters[0], parameters[1]);
                let page = e.m.result(op::BITCAST, e.buffers.global.wide_page_pointer, &[page]);
                let index = e.bits(parameters[0], 3, PAGE_WORDS / 2 - 1);
                let p = e.m.result(op::ACCESS_CHAIN, pointer, &[page, zero, index]);
                let old = e.wide_atomic(p, &parameters[2..], kind);
                e.m.statement(op::BRANCH, &[merge]);
                e.m.statement(op::LABEL, &[merge]);
                let result = e.m.result(op::PHI, pair, &[nothing, block, old, write]);
                e.m.statement(op::RETURN_VALUE, &[result]);
            });
        }
        self.buffers.global.wide_atomics[kind as usize]
    }

    /// Pointer to a page of vectors of `words` words.
    fn vector_page(&mut self, words: u32) -> Id {
        let at = usize::from(words == 4);
        if self.buffers.global.vector_pages[at] == 0 {
            let vector = self.m.vector(Type::Uint, words);
            let count = self.m.uint(PAGE_WORDS / words);
            let array = self.m.id();
            put(&mut self.m.globals, op::TYPE_ARRAY, &[array, vector, count]);
            self.m.decorate(array, decoration::ARRAY_STRIDE, &[4 * words]);
            let page = self.m.block(&[(array, 0)]);
            self.buffers.global.vector_pages[at] = self.m.pointer(storage::PHYSICAL_STORAGE_BUFFER, page);
        }
        self.buffers.global.vector_pages[at]
    }

    /// Pointer to the vector of a page that an address means.
    fn vector_of_page(&mut self, page: Id, low: Id, words: u32) -> Id {
        let vector = self.m.vector(Type::Uint, words);
        let pointer = self.m.pointer(storage::PHYSICAL_STORAGE_BUFFER, vector);
        let (zero, pages) = (self.m.uint(0), self.vector_page(words));
        let page = self.m.result(op::BITCAST, pages, &[page]);
        let index = self.bits(low, 2 + words.trailing_zeros(), PAGE_WORDS / words - 1);
        self.m.result(op::ACCESS_CHAIN, pointer, &[page, zero, index])
    }

    /// A load of 2 or 4 words: one look into the page table, one load.
    pub(super) fn load_global_wide(&mut self, c: &mut Context<'_, '_>, v: Value, address: [Value; 2], words: u32) {
        let page_function = self.page_function(c);
        let (pair, vector) = (self.m.vector(Type::Uint, 2), self.m.vector(Type::Uint, words));
        let (low, high) = (self.uint(c, address[0]), self.uint(c, address[1]));
        let page = self.m.result(op::FUNCTION_CALL, pair, &[page_function, low, high]);
        let p = self.vector_of_page(page, low, words);
        let own = self.own(v);
        self.m.result_as(own, op::LOAD, vector, &[p, 2, 4 * words]);
    }

    /// A store of 2 or 4 words.
    pub(super) fn store_global_wide(&mut self, c: &mut Context<'_, '_>, list: u32, words: u32) {
        let at = usize::from(words == 4);
        let (void, vector) = (self.m.ty(Type::Void), self.m.vector(Type::Uint, words));
        if self.buffers.global.wide_stores[at] == 0 {
            let page_function = self.page_function(c);
            self.vector_page(words);
            self.buffers.global.wide_stores[at] = self.helper(void, 2 + words as usize, |e, _, parameters| {
                let [page, _, merge] = e.begin_page(page_function, parameters[0], parameters[1]);
                let p = e.vector_of_page(page, parameters[0], words);
                let value = e.m.result(op::COMPOSITE_CONSTRUCT, vector, &parameters[2..]);
                e.m.statement(op::STORE, &[p, value, 2, 4 * words]);
                e.m.statement(op::BRANCH, &[merge]);
                e.m.statement(op::LABEL, &[merge]);
                e.m.statement(op::RETURN, &[]);
            });
        }
        let mut call = vec![self.buffers.global.wide_stores[at]];
        for n in 0..2 + words {
            let v = Value(c.f.extra[(list + n) as usize]);
            call.push(self.uint(c, v));
        }
        self.m.result(op::FUNCTION_CALL, void, &call);
    }
}
