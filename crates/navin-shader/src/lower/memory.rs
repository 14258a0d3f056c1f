//! Constant, global, shared and local memory; atomics; barriers.
//!
//! A global address that is the sum of a pointer from the driver's storage table and an offset becomes an access to
//! that storage buffer, so that neither the 64-bit sum nor the page table is needed; compute programs' pointers to
//! uniform blocks become constant banks likewise. What remains goes through the page table.

use super::operand::BANKS;
use super::wide::Wide;
use super::{Lower, Result};
use crate::ir::{Atomic, Op as Ir, Value};
use crate::isa::{Field, Instr, Op};
use crate::{DeviceFeatures, Stage};

/// Shared and local memory as generic accesses see them: windows of 2^24 bytes at these numbers, far below the first
/// address that the driver hands out.
pub(super) const WINDOW_BITS: u32 = 24;
/// See [`WINDOW_BITS`].
pub(super) const SHARED_WINDOW: u32 = 1;
/// See [`WINDOW_BITS`].
pub(super) const LOCAL_WINDOW: u32 = 2;
/// How deep an address sum is searched.
const SEARCH: u32 = 8;
/// The last word that a byte offset of 32 bits reaches.
const WORD_INDEX: u32 = u32::MAX / 4;

/// Where a global address leads.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Storage slot; byte offset.
    Storage(u32, Value),
    /// Constant bank; byte offset.
    Bank(u32, Value),
    /// Address.
    Raw(Value, Value),
}

impl Lower<'_, '_> {
    /// LDC, LDG, STG, LDS, STS, LDL, STL.
    pub(super) fn memory(&mut self, i: &Instr) -> Result<()> {
        match i.op {
            Op::Ldc => self.load_constant(i),
            Op::Ldg => self.load_global(i),
            Op::Stg => self.store_global(i),
            Op::Lds | Op::Ldl => self.load_near(i),
            _ => self.store_near(i),
        }
    }

    fn load_constant(&mut self, i: &Instr) -> Result<()> {
        let size = i.get(Field::Size);
        let a = self.a(i);
        let immediate = i.signed(Field::Off16) as u32;
        let bank = i.get(Field::Cbi);
        let segmented = i.get(Field::Mode) >= 2;
        let words = match size {
            0..=4 => 1,
            5 => 2,
            _ => return self.unsupported(i, "this size is not valid"),
        };
        for n in 0..words {
            let at = self.b.word(immediate.wrapping_add(4 * n));
            let v = if segmented {
                let (low, sixteen) = (self.b.word(0xFFFF), self.b.word(16));
                let offset = self.b.op2(Ir::And, a, low);
                let offset = self.b.op2(Ir::IAdd, offset, at);
                let index = self.b.op2(Ir::Shr, a, sixteen);
                self.load_bank_of(i, bank, index, offset)?
            } else {
                let offset = self.b.op2(Ir::IAdd, a, at);
                self.load_bank(i, bank, offset)?
            };
            let v = if size < 4 {
                let offset = self.b.op2(Ir::IAdd, a, at);
                self.sub_word(v, offset, size)
            } else {
                v
            };
            self.set_reg(i.get(Field::Dst).saturating_add(n), v);
        }
        Ok(())
    }

    fn load_bank(&mut self, i: &Instr, bank: u32, offset: Value) -> Result<Value> {
        if let Some(k) = self.b.f.constant(offset) {
            return self.constant(i, bank, k & 0xFFFC);
        }
        if bank >= BANKS {
            return self.unsupported(i, "constant banks end at 17");
        }
        Ok(self.b.pure(Ir::LoadConstAt, &[bank, offset.0]))
    }

    /// A load from bank `bank + index`: a choice among all of them.
    fn load_bank_of(&mut self, i: &Instr, bank: u32, index: Value, offset: Value) -> Result<Value> {
        if let Some(k) = self.b.f.constant(index) {
            return self.load_bank(i, (bank + k).min(31), offset);
        }
        let mut v = self.load_bank(i, bank, offset)?;
        for k in 1..BANKS.saturating_sub(bank) {
            let other = self.load_bank(i, bank + k, offset)?;
            let n = self.b.word(k);
            let here = self.b.op2(Ir::IEq, index, n);
            v = self.b.select(here, other, v);
        }
        Ok(v)
    }

    /// The byte or half of `word` at byte `offset`; size 0 U8, 1 S8, 2 U16, 3 S16.
    fn sub_word(&mut self, word: Value, offset: Value, size: u32) -> Value {
        let (three, k3) = (self.b.word(3), self.b.word(3));
        let byte = self.b.op2(Ir::And, offset, three);
        let at = self.b.op2(Ir::Shl, byte, k3);
        let bits = self.b.word(if size < 2 { 8 } else { 16 });
        self.b.op3(if size & 1 == 1 { Ir::BfeS } else { Ir::BfeU }, word, at, bits)
    }

    /// Splits a low address word into a storage slot's (or uniform block's) pointer and the rest.
    fn split(&mut self, v: Value, depth: u32) -> Option<(u32, Value)> {
        let inst = *self.b.f.inst(v);
        match inst.op {
            Ir::LoadConst if inst.args[0] == 0 => {
                let zero = self.b.word(0);
                Some((inst.args[1], zero))
            }
            Ir::IAdd if depth > 0 => {
                let (x, y) = (Value(inst.args[0]), Value(inst.args[1]));
                if let Some((at, rest)) = self.split(x, depth - 1) {
                    return Some((at, self.b.op2(Ir::IAdd, rest, y)));
                }
                let (at, rest) = self.split(y, depth - 1)?;
                Some((at, self.b.op2(Ir::IAdd, x, rest)))
            }
            Ir::ISub if depth > 0 => {
                let (x, y) = (Value(inst.args[0]), Value(inst.args[1]));
                let (at, rest) = self.split(x, depth - 1)?;
                Some((at, self.b.op2(Ir::ISub, rest, y)))
            }
            _ => None,
        }
    }

    /// Is `v` a sum with the word of bank 0 at `at`?
    fn adds(&self, v: Value, at: u32, depth: u32) -> bool {
        let inst = self.b.f.inst(v);
        match inst.op {
            Ir::LoadConst => inst.args[0] == 0 && inst.args[1] == at,
            Ir::IAdd if depth > 0 => {
                self.adds(Value(inst.args[0]), at, depth - 1) || self.adds(Value(inst.args[1]), at, depth - 1)
            }
            _ => false,
        }
    }

    /// Where the address in register `a` (a pair with `wide`) plus `offset` leads.
    fn place(&mut self, i: &Instr, offset: i32, wide: bool, store: bool) -> Place {
        let a = i.get(Field::A);
        let low = self.reg(a);
        let high = if wide && a != 255 { self.reg(a + 1) } else { self.b.word(0) };
        let immediate = self.b.word(offset as u32);
        if let Some((at, rest)) = self.split(low, SEARCH)
            && self.adds(high, at + 4, SEARCH)
        {
            let layout = self.options.layout;
            let stage = self.program.stage;
            let table = layout.storage_table(stage);
            let rest = self.b.op2(Ir::IAdd, rest, immediate);
            if at >= table && at < table + 16 * layout.storage_slots && (at - table).is_multiple_of(16) {
                return Place::Storage((at - table) / 16, rest);
            }
            if stage == Stage::Compute
                && !store
                && let Some(pointers) = layout.compute_block_pointers
                && at >= pointers
                && (at - pointers) % 8 == 0
                && (at - pointers) / 8 + 3 < BANKS
            {
                return Place::Bank((at - pointers) / 8 + 3, rest);
            }
        }
        if offset == 0 {
            return Place::Raw(low, high);
        }
        let sum = self.b.op2(Ir::IAdd, low, immediate);
        let carry = self.b.op2(Ir::ULt, sum, low);
        // The offset is signed: its high word is 0 or all ones.
        let (with, without) = if offset < 0 { (0, u32::MAX) } else { (1, 0) };
        let (with, without) = (self.b.word(with), self.b.word(without));
        let more = self.b.select(carry, with, without);
        let high = self.b.op2(Ir::IAdd, high, more);
        Place::Raw(sum, high)
    }

    /// Byte offset to word index; factors of four are taken out of the sum where they are seen.
    pub(super) fn word_index(&mut self, offset: Value) -> Value {
        let Some(v) = self.quarter(offset, SEARCH) else {
            let two = self.b.word(2);
            return self.b.op2(Ir::Shr, offset, two);
        };
        // A byte offset has 32 bits and wraps, so a word index has 30.
        if self.most(v) <= WORD_INDEX {
            return v;
        }
        let mask = self.b.word(WORD_INDEX);
        self.b.op2(Ir::And, v, mask)
    }

    /// A word of which 30 bits are those of `v / 4`, when `v` is seen to be a multiple of four. The other two are of
    /// no meaning: four times the result is `v` in arithmetic modulo 2^32, whatever wrapped on the way.
    fn quarter(&mut self, v: Value, depth: u32) -> Option<Value> {
        let inst = *self.b.f.inst(v);
        let (x, y) = (Value(inst.args[0]), Value(inst.args[1]));
        let factor = |b: &Self| b.b.f.constant(y).filter(|k| k & 3 == 0).map(|k| (k as i32 >> 2) as u32);
        match inst.op {
            // Negative constants stay negative: they are part of a sum.
            Ir::Const if inst.args[0] & 3 == 0 => Some(self.b.word((inst.args[0] as i32 >> 2) as u32)),
            Ir::Shl => {
                let k = self.b.f.constant(y).filter(|&k| (2..32).contains(&k))?;
                let k = self.b.word(k - 2);
                Some(self.b.op2(Ir::Shl, x, k))
            }
            Ir::And => {
                let k = factor(self)?;
                // The sign of x counts where the mask keeps it.
                let shift = if (k as i32) < 0 { Ir::Sar } else { Ir::Shr };
                let (two, k) = (self.b.word(2), self.b.word(k));
                let x = self.b.op2(shift, x, two);
                Some(self.b.op2(Ir::And, x, k))
            }
            Ir::IMul => {
                let k = factor(self)?;
                let k = self.b.word(k);
                Some(self.b.op2(Ir::IMul, x, k))
            }
            Ir::IAdd | Ir::ISub if depth > 0 => {
                let x = self.quarter(x, depth - 1)?;
                let y = self.quarter(y, depth - 1)?;
                Some(self.b.op2(inst.op, x, y))
            }
            _ => None,
        }
    }

    fn plus(&mut self, v: Value, n: u32) -> Value {
        let n = self.b.word(n);
        self.b.op2(Ir::IAdd, v, n)
    }

    /// Words that a size moves; `None` when it is less than one.
    fn words(size: u32) -> u32 {
        match size {
            5 => 2,
            6 | 7 => 4,
            _ => 1,
        }
    }

    fn load_global(&mut self, i: &Instr) -> Result<()> {
        let size = i.get(Field::Size);
        let place = self.place(i, i.signed(Field::Off24), i.flag(Field::E), false);
        self.load_at(i, size, place)
    }

    /// Does the load see what other threads write meanwhile: CG, which passes over the cache that is not coherent, and
    /// CV, which passes over all?
    fn is_coherent(i: &Instr) -> bool {
        matches!(i.get(Field::Cache), 1 | 3)
    }

    fn load_at(&mut self, i: &Instr, size: u32, place: Place) -> Result<()> {
        let coherent = Self::is_coherent(i);
        if coherent {
            self.b.epoch += 1;
        }
        if let (Place::Raw(low, high), 2 | 4, false) = (place, Self::words(size), coherent) {
            // One look into the page table and one load (B530): the machine demands that the address is aligned.
            let (words, epoch) = (Self::words(size), self.b.epoch);
            let v = self.b.pure(Ir::LoadGlobalWide, &[low.0, high.0, epoch, words]);
            for n in 0..words {
                let word = self.b.pure(Ir::Extract, &[v.0, n]);
                self.set_reg(i.get(Field::Dst).saturating_add(n), word);
            }
            return Ok(());
        }
        for n in 0..Self::words(size) {
            let (v, offset) = match place {
                Place::Storage(slot, offset) => {
                    let at = self.plus(offset, 4 * n);
                    let index = self.word_index(at);
                    let epoch = self.b.epoch;
                    let v = match coherent {
                        true => self.coherent_load(Ir::AtomicStorage, &[slot, index.0]),
                        false => self.b.pure(Ir::LoadStorage, &[slot, index.0, epoch]),
                    };
                    (v, at)
                }
                Place::Bank(bank, offset) => {
                    let at = self.plus(offset, 4 * n);
                    (self.load_bank(i, bank, at)?, at)
                }
                Place::Raw(low, high) => {
                    // Accesses are aligned to their size: the sum does not carry.
                    let low = self.plus(low, 4 * n);
                    let epoch = self.b.epoch;
                    let v = match coherent {
                        true => self.coherent_load(Ir::AtomicGlobal, &[low.0, high.0]),
                        false => self.b.pure(Ir::LoadGlobal, &[low.0, high.0, epoch]),
                    };
                    (v, low)
                }
            };
            let v = if size < 4 { self.sub_word(v, offset, size) } else { v };
            self.set_reg(i.get(Field::Dst).saturating_add(n), v);
        }
        Ok(())
    }

    /// A load that no compiler moves out of a loop, since it is an atomic operation.
    fn coherent_load(&mut self, op: Ir, [x, y]: &[u32; 2]) -> Value {
        let zero = self.b.word(0).0;
        self.b.effect(op, &[*x, *y, zero, zero, Atomic::Load as u32])
    }

    fn store_global(&mut self, i: &Instr) -> Result<()> {
        let size = i.get(Field::Size);
        let place = self.place(i, i.signed(Field::Off24), i.flag(Field::E), true);
        self.store_at(i, size, place)
    }

    fn store_at(&mut self, i: &Instr, size: u32, place: Place) -> Result<()> {
        let data = i.get(Field::Data);
        if let (Place::Raw(low, high), words @ (2 | 4)) = (place, Self::words(size)) {
            let values: smallvec::SmallVec<[Value; 4]> =
                (0..words).map(|n| self.reg(if data == 255 { 255 } else { data + n })).collect();
            let list = self.b.f.extra.len() as u32;
            self.b.f.extra.extend([low.0, high.0]);
            self.b.f.extra.extend(values.iter().map(|v| v.0));
            self.b.effect(Ir::StoreGlobalWide, &[list, words]);
            self.b.epoch += 1;
            return Ok(());
        }
        for n in 0..Self::words(size) {
            let v = self.reg(if data == 255 { 255 } else { data + n });
            match place {
                Place::Storage(slot, offset) => {
                    let at = self.plus(offset, 4 * n);
                    let index = self.word_index(at);
                    if size < 4 {
                        let (keep, set) = self.masked(v, at, size);
                        let none = keep.0;
                        self.b.effect(Ir::AtomicStorage, &[slot, index.0, keep.0, none, Atomic::And as u32]);
                        self.b.effect(Ir::AtomicStorage, &[slot, index.0, set.0, none, Atomic::Or as u32]);
                    } else {
                        self.b.effect(Ir::StoreStorage, &[slot, index.0, v.0]);
                    }
                }
                Place::Raw(low, high) => {
                    let low = self.plus(low, 4 * n);
                    if size < 4 {
                        let (keep, set) = self.masked(v, low, size);
                        self.b.effect(Ir::AtomicGlobal, &[low.0, high.0, keep.0, keep.0, Atomic::And as u32]);
                        self.b.effect(Ir::AtomicGlobal, &[low.0, high.0, set.0, set.0, Atomic::Or as u32]);
                    } else {
                        self.b.effect(Ir::StoreGlobal, &[low.0, high.0, v.0]);
                    }
                }
                Place::Bank(..) => return self.unsupported(i, "uniform blocks are not written"),
            }
        }
        self.b.epoch += 1;
        Ok(())
    }

    /// For a store of less than a word: the mask of what stays, and the bits to set.
    fn masked(&mut self, v: Value, offset: Value, size: u32) -> (Value, Value) {
        let three = self.b.word(3);
        let byte = self.b.op2(Ir::And, offset, three);
        let at = self.b.op2(Ir::Shl, byte, three);
        let mask = self.b.word(if size < 2 { 0xFF } else { 0xFFFF });
        let bits = self.b.op2(Ir::And, v, mask);
        let bits = self.b.op2(Ir::Shl, bits, at);
        let hole = self.b.op2(Ir::Shl, mask, at);
        (self.b.op1(Ir::Not, hole), bits)
    }

    /// Word index into shared (or local) memory, kept inside it: past its end is undefined in SPIR-V.
    fn near_index(&mut self, i: &Instr, offset: Value, shared: bool) -> Result<Value> {
        let words = if shared { self.program.shared_bytes } else { self.program.local_bytes } / 4;
        if words == 0 {
            return self.unsupported(i, "the program has no memory of this kind");
        }
        let index = self.word_index(offset);
        if let Some(k) = self.b.f.constant(index) {
            return Ok(self.b.word(k.min(words - 1)));
        }
        let last = self.b.word(words - 1);
        Ok(self.b.op2(Ir::UMin, index, last))
    }

    fn load_near(&mut self, i: &Instr) -> Result<()> {
        let size = i.get(Field::Size);
        let shared = i.op == Op::Lds;
        let immediate = self.b.word(i.signed(Field::Off24) as u32);
        let a = self.a(i);
        let base = self.b.op2(Ir::IAdd, a, immediate);
        if shared {
            self.see_shared();
        }
        for n in 0..Self::words(size) {
            let at = self.plus(base, 4 * n);
            let index = self.near_index(i, at, shared)?;
            let epoch = self.b.epoch;
            let v = self.b.pure(if shared { Ir::LoadShared } else { Ir::LoadLocal }, &[index.0, epoch]);
            let v = if size < 4 { self.sub_word(v, at, size) } else { v };
            self.set_reg(i.get(Field::Dst).saturating_add(n), v);
        }
        Ok(())
    }

    fn store_near(&mut self, i: &Instr) -> Result<()> {
        let size = i.get(Field::Size);
        let shared = i.op == Op::Sts;
        let immediate = self.b.word(i.signed(Field::Off24) as u32);
        let a = self.a(i);
        let base = self.b.op2(Ir::IAdd, a, immediate);
        self.store_near_at(i, base, size, shared)?;
        self.b.epoch += 1;
        Ok(())
    }

    /// Stores the data registers at an offset of shared or local memory.
    fn store_near_at(&mut self, i: &Instr, base: Value, size: u32, shared: bool) -> Result<()> {
        self.dirty |= shared;
        let data = i.get(Field::Data);
        for n in 0..Self::words(size) {
            let v = self.reg(if data == 255 { 255 } else { data + n });
            let at = self.plus(base, 4 * n);
            let index = self.near_index(i, at, shared)?;
            if size >= 4 {
                self.b.effect(if shared { Ir::StoreShared } else { Ir::StoreLocal }, &[index.0, v.0]);
                continue;
            }
            let (keep, set) = self.masked(v, at, size);
            if shared {
                self.b.effect(Ir::AtomicShared, &[index.0, keep.0, keep.0, Atomic::And as u32]);
                self.b.effect(Ir::AtomicShared, &[index.0, set.0, set.0, Atomic::Or as u32]);
            } else {
                let epoch = self.b.epoch;
                let old = self.b.pure(Ir::LoadLocal, &[index.0, epoch]);
                let old = self.b.op2(Ir::And, old, keep);
                let new = self.b.op2(Ir::Or, old, set);
                self.b.effect(Ir::StoreLocal, &[index.0, new.0]);
            }
        }
        Ok(())
    }

    /// LD and ST: the address says which memory is meant. Shared and local memory lie in windows of the address space
    /// that S2R names; everything else is global.
    pub(super) fn generic(&mut self, i: &Instr) -> Result<()> {
        if i.get(Field::Ps) != 7 {
            return self.unsupported(i, "what the predicate of a generic access does is not known");
        }
        let size = i.get(Field::Size);
        let place = self.place(i, i.signed(Field::Off32), i.flag(Field::E), i.op == Op::St);
        let store = i.op == Op::St;
        let Place::Raw(low, high) = place else {
            return if store { self.store_at(i, size, place) } else { self.load_at(i, size, place) };
        };
        let (eight, zero) = (self.b.word(WINDOW_BITS), self.b.word(0));
        let window = self.b.op2(Ir::Shr, low, eight);
        let near = self.b.op2(Ir::IEq, high, zero);
        let mask = self.b.word((1 << WINDOW_BITS) - 1);
        let offset = self.b.op2(Ir::And, low, mask);
        let mut windows = Vec::new();
        for (number, shared) in [(SHARED_WINDOW, true), (LOCAL_WINDOW, false)] {
            let bytes = if shared { self.program.shared_bytes } else { self.program.local_bytes };
            if bytes >= 4 {
                let n = self.b.word(number);
                let here = self.b.op2(Ir::IEq, window, n);
                windows.push((self.b.op2(Ir::BAnd, here, near), shared));
            }
        }
        if !store {
            self.see_shared();
            // No load can fault, so all are made and one is chosen.
            for n in 0..Self::words(size) {
                let at = self.plus(low, 4 * n);
                let epoch = self.b.epoch;
                let mut v = match Self::is_coherent(i) {
                    true => self.coherent_load(Ir::AtomicGlobal, &[at.0, high.0]),
                    false => self.b.pure(Ir::LoadGlobal, &[at.0, high.0, epoch]),
                };
                for &(here, shared) in &windows {
                    let at = self.plus(offset, 4 * n);
                    let index = self.near_index(i, at, shared)?;
                    let epoch = self.b.epoch;
                    let near = self.b.pure(if shared { Ir::LoadShared } else { Ir::LoadLocal }, &[index.0, epoch]);
                    v = self.b.select(here, near, v);
                }
                let v = if size < 4 { self.sub_word(v, at, size) } else { v };
                self.set_reg(i.get(Field::Dst).saturating_add(n), v);
            }
            return Ok(());
        }
        let mut skips = Vec::new();
        for (here, shared) in windows {
            let (then, other, merge) = (self.new_label(), self.new_label(), self.new_label());
            self.selection(here, then, other, merge);
            self.begin(then);
            self.store_near_at(i, offset, size, shared)?;
            self.goto(merge);
            self.begin(other);
            skips.push(merge);
        }
        self.store_at(i, size, place)?;
        while let Some(merge) = skips.pop() {
            self.goto(merge);
            self.begin(merge);
        }
        self.b.epoch += 1;
        Ok(())
    }

    /// The operation of an atomic's op and type fields.
    pub(super) fn atomic_kind(&self, i: &Instr, op: u32, kind: u32) -> Result<Atomic> {
        let signed = matches!(kind, 1 | 5);
        Ok(match (op, kind) {
            (0, 3) => Atomic::FloatAdd,
            (0, 4) => Atomic::HalvesAdd,
            (_, 3 | 4 | 6..) => return self.unsupported(i, "this operation on floats is not known"),
            (0, _) => Atomic::Add,
            (1, _) if signed => Atomic::SMin,
            (1, _) => Atomic::UMin,
            (2, _) if signed => Atomic::SMax,
            (2, _) => Atomic::UMax,
            (3, 0 | 1) => Atomic::Increment,
            (4, 0 | 1) => Atomic::Decrement,
            (5, _) => Atomic::And,
            (6, _) => Atomic::Or,
            (7, _) => Atomic::Xor,
            (8, _) => Atomic::Exchange,
            _ => return self.unsupported(i, "this atomic operation is not known"),
        })
    }

    /// ATOM, RED, ATOMS and their compare-and-swap forms.
    pub(super) fn atomic(&mut self, i: &Instr) -> Result<()> {
        let shared = matches!(i.op, Op::Atoms | Op::AtomsCas);
        let compare = matches!(i.op, Op::AtomCas | Op::AtomsCas);
        let ty = i.get(Field::Type);
        let wide = if compare { i.flag(Field::Wide) } else { ty == 2 || (shared && ty == 3) || (!shared && ty == 5) };
        let kind = if compare {
            if i.op == Op::AtomsCas && i.get(Field::Castmode) != 2 {
                return self.unsupported(i, "locks of shared memory have no counterpart in Vulkan");
            }
            Atomic::CompareExchange
        } else {
            // The shared form counts S64 as 3.
            self.atomic_kind(i, i.get(Field::Op), if shared && ty == 3 { 5 } else { ty })?
        };
        let source = if i.op == Op::Red { i.get(Field::Data) } else { i.get(Field::B) };
        if shared {
            self.dirty = true;
        }
        if wide {
            return self.wide_atomic(i, kind, source, shared);
        }
        let first = self.reg(source);
        // Compare-and-swap names the compare value, the new one follows.
        let (value, expected) = if compare && source != 255 { (self.reg(source + 1), first) } else { (first, first) };
        if kind == Atomic::FloatAdd {
            self.notes.floats = true;
        }
        let r = if shared {
            let immediate = self.b.word((i.signed(Field::Off22x4) << 2) as u32);
            let a = self.a(i);
            let at = self.b.op2(Ir::IAdd, a, immediate);
            let index = self.near_index(i, at, true)?;
            self.b.effect(Ir::AtomicShared, &[index.0, value.0, expected.0, kind as u32])
        } else {
            match self.place(i, i.signed(Field::Off20), i.flag(Field::E), true) {
                Place::Storage(slot, offset) => {
                    let index = self.word_index(offset);
                    self.b.effect(Ir::AtomicStorage, &[slot, index.0, value.0, expected.0, kind as u32])
                }
                Place::Raw(low, high) => {
                    self.b.effect(Ir::AtomicGlobal, &[low.0, high.0, value.0, expected.0, kind as u32])
                }
                Place::Bank(..) => return self.unsupported(i, "uniform blocks are not written"),
            }
        };
        self.b.epoch += 1;
        if i.has(Field::Dst) {
            self.set_dst(i, r);
        }
        Ok(())
    }

    /// Atomics on pairs of words.
    fn wide_atomic(&mut self, i: &Instr, kind: Atomic, source: u32, shared: bool) -> Result<()> {
        if matches!(kind, Atomic::Increment | Atomic::Decrement | Atomic::FloatAdd | Atomic::HalvesAdd) {
            return self.unsupported(i, "this atomic operation is not known");
        }
        if shared {
            return self.unsupported(i, "shared memory has no 64-bit atomics in words of 32");
        }
        if !self.options.features.contains(DeviceFeatures::ATOMIC_INT64) {
            return self.unsupported(i, "the device has no 64-bit atomics");
        }
        let first = self.wide_register(source);
        let (value, expected) = if kind == Atomic::CompareExchange && source != 255 {
            (self.wide_register(source + 2), first)
        } else {
            (first, first)
        };
        let (slot, at, high) = match self.place(i, i.signed(Field::Off20), i.flag(Field::E), true) {
            Place::Storage(slot, offset) => {
                let three = self.b.word(3);
                let index = self.b.op2(Ir::Shr, offset, three);
                (slot, index, Value::NONE)
            }
            Place::Raw(low, high) => (u32::MAX, low, high),
            Place::Bank(..) => return self.unsupported(i, "uniform blocks are not written"),
        };
        let list = self.b.f.extra.len() as u32;
        self.b.f.extra.extend([at, high, value.low, value.high, expected.low, expected.high].map(|v| v.0));
        let old = self.b.effect(Ir::AtomicWide, &[list, kind as u32, slot]);
        self.b.epoch += 1;
        if i.has(Field::Dst) {
            let words = [0, 1].map(|n| self.b.pure(Ir::Extract, &[old.0, n]));
            self.set_wide(i.get(Field::Dst), Wide { low: words[0], high: words[1] });
        }
        Ok(())
    }

    /// MEMBAR, BAR, B2R.
    pub(super) fn barrier(&mut self, i: &Instr) -> Result<()> {
        self.b.epoch += 1;
        if i.op == Op::Membar {
            self.b.effect(Ir::MemoryBarrier, &[i.get(Field::Level)]);
            self.dirty = false;
            return Ok(());
        }
        if self.program.stage == Stage::TessControl && i.op == Op::Bar && i.get(Field::Op) == 0 {
            // The threads of a patch are all that there are to wait for, however many the machine's warps hold.
            self.b.effect(Ir::Barrier, &[]);
            return Ok(());
        }
        if self.program.stage != Stage::Compute {
            return self.unsupported(i, "barriers are those of compute and tessellation control programs");
        }
        if i.op == Op::B2r {
            if i.get(Field::Mode) != 1 {
                return self.unsupported(i, "the state of a barrier is not seen by Vulkan");
            }
            let r = self.m.slots[self.slots.reduction() as usize];
            self.set_dst(i, r);
            let zero = self.b.word(0);
            let some = self.b.op2(Ir::INe, r, zero);
            self.set_predicate(i.get(Field::Pd), some);
            return Ok(());
        }
        let [x, y, z] = self.program.local_size;
        let all = x * y * z;
        let whole = if i.has(Field::B) {
            let b = self.reg(i.get(Field::B));
            self.b.f.constant(b).is_some_and(|n| n == 0 || n == all)
        } else {
            matches!(i.get(Field::Cnt12), 0) || i.get(Field::Cnt12) == all
        };
        let op = i.get(Field::Op);
        if !whole || !matches!(op, 0 | 2) {
            return self.unsupported(i, "only barriers of the whole workgroup have a counterpart in Vulkan");
        }
        if op == 0 {
            self.b.effect(Ir::Barrier, &[]);
        } else {
            self.reduce(i)?;
        }
        self.dirty = false;
        self.b.epoch += 1;
        Ok(())
    }

    /// BAR.RED: counts the threads with the predicate (or those without it), between barriers.
    fn reduce(&mut self, i: &Instr) -> Result<()> {
        let p = self.source_predicate(i);
        let alive = self.m.slots[self.slots.alive() as usize];
        // POPC counts, OR asks for any; AND asks that none is against.
        let and = i.get(Field::Redop) == 1;
        let p = if and { self.b.op1(Ir::BNot, p) } else { p };
        let p = self.b.op2(Ir::BAnd, p, alive);
        let (one, zero, ones) = (self.b.word(1), self.b.word(0), self.b.word(u32::MAX));
        let unit = self.b.select(p, one, zero);
        let count = self.b.effect(Ir::CountAtBarrier, &[unit.0]);
        let r = match i.get(Field::Redop) {
            0 => count,
            op @ (1 | 2) => {
                let some = self.b.op2(if op == 1 { Ir::IEq } else { Ir::INe }, count, zero);
                self.b.select(some, ones, zero)
            }
            _ => return self.unsupported(i, "this reduction is not known"),
        };
        let slot = self.slots.reduction() as usize;
        self.m.slots[slot] = r;
        Ok(())
    }
}
