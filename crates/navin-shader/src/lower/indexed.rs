//! Attributes at computed addresses: a choice among the words that the program has.
//!
//! Which those are is in the header's maps, for patch space in the program's own stores (control) or nowhere
//! (evaluation: all of it). What the address can be ([`super::range`]) leaves few of them in general.

use smallvec::SmallVec;

use super::{Lower, NONE, PATCH_VECTORS, Result};
use crate::Stage;
use crate::ir::{Op as Ir, Value};
use crate::isa::{Field, Instr};

impl Lower<'_, '_> {
    /// The words of 256 that `register + offset` can name, of those that are `listed`.
    fn named(&self, register: Value, offset: u32, listed: impl Fn(u32) -> bool) -> SmallVec<[u32; 32]> {
        let (least, most) = (self.least(register), self.most(register));
        let (bits, low) = self.low_bits(register);
        let mask = 1u32.checked_shl(bits).unwrap_or(0).wrapping_sub(1);
        (0..256)
            .filter(|&word: &u32| {
                let at = (4 * word).wrapping_sub(offset);
                (least..=most).contains(&at) && at & mask == low & mask && listed(word)
            })
            .collect()
    }

    /// Is `register + offset` the address of `word`?
    fn names(&mut self, register: Value, offset: u32, word: u32) -> Value {
        let at = self.b.word((4 * word).wrapping_sub(offset));
        self.b.op2(Ir::IEq, register, at)
    }

    /// Is the word one of patch space that the program has?
    fn has_patch_word(&self, word: u32) -> bool {
        match self.program.stage {
            Stage::TessControl => self.slots.patch[word as usize & 255],
            Stage::TessEvaluation => word < 6 || PATCH_VECTORS.contains(&word),
            _ => false,
        }
    }

    /// ALD of the word at `register + offset`: 0 where the program has no such input.
    pub(super) fn indexed_input(&mut self, i: &Instr, register: Value, offset: u32) -> Result<Value> {
        let words = if i.flag(Field::Patch) {
            self.named(register, offset, |word| self.has_patch_word(word))
        } else {
            let output = i.flag(Field::Out);
            self.named(register, offset, |word| self.program.header.vtg_uses(4 * word, output))
        };
        self.chosen(register, offset, &words, |lower, word| lower.input_word(i, word))
    }

    /// IPA of the word at `register + offset`.
    pub(super) fn indexed_interpolation(&mut self, i: &Instr, register: Value, offset: u32) -> Result<Value> {
        let words = self.named(register, offset, |word| self.program.header.fragment_uses(4 * word));
        self.chosen(register, offset, &words, |lower, word| lower.fragment_input(i, 4 * word))
    }

    fn chosen(
        &mut self,
        register: Value,
        offset: u32,
        words: &[u32],
        mut read: impl FnMut(&mut Self, u32) -> Result<Value>,
    ) -> Result<Value> {
        let mut v = self.b.word(0);
        for &word in words {
            let input = read(self, word)?;
            let here = self.names(register, offset, word);
            v = self.b.select(here, input, v);
        }
        Ok(v)
    }

    /// AST of `v` at `register + offset`.
    pub(super) fn indexed_store(&mut self, i: &Instr, register: Value, offset: u32, v: Value) {
        let patch = i.flag(Field::Patch);
        if self.program.stage == Stage::TessControl {
            let words = if patch {
                self.named(register, offset, |word| word < 6 || PATCH_VECTORS.contains(&word))
            } else {
                self.named(register, offset, |word| self.program.header.vtg_uses(4 * word, true))
            };
            for word in words {
                let here = self.names(register, offset, word);
                let (then, merge) = (self.new_label(), self.new_label());
                self.selection(here, then, merge, merge);
                self.begin(then);
                self.store_control(word, patch, v);
                self.goto(merge);
                self.begin(merge);
            }
            return;
        }
        for word in self.named(register, offset, |word| self.slots.outputs[word as usize] != NONE) {
            let here = self.names(register, offset, word);
            let old = self.m.slots[self.slots.outputs[word as usize] as usize];
            let new = self.b.select(here, v, old);
            self.set_output(word, new);
        }
    }
}
