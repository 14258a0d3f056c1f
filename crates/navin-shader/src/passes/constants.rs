//! Constant banks by vectors, at computed offsets: a matrix or an array of structures by a computed index is read at
//! offsets that differ in their constant part, and banks are arrays of vectors of four words.
//!
//! Taken apart by the writer, an offset is two shifts and a mask for every word. Where an offset is seen to be a
//! multiple of 16 and a constant, the vector's index is made once and the component is a constant; two or more
//! components of a vector that are read in a block are one load. Reads at constant offsets need no pass: the writer
//! knows all of them before it writes the first (`spirv::buffers`).
//!
//! A vector may be loaded of which the program reads a part: banks are bound by multiples of 256 bytes (B536), so that
//! all of it is there or nothing.

use super::places::{Place, Places, split};
use crate::ir::{Function, Inst, Op, Value};

/// Bits of a vector's index: byte offsets have 32.
const VECTOR_INDEX: u32 = u32::MAX >> 4;

/// Scratch memory of the pass.
#[derive(Debug, Default)]
pub struct Memory {
    reads: Vec<Read>,
}

/// A read of a word.
#[derive(Clone, Copy, Debug)]
struct Read {
    /// Where in the order.
    at: usize,
    /// Which block.
    block: u32,
    bank: u32,
    place: Place,
    component: u32,
}

/// Rewrites reads at computed offsets.
pub fn run(f: &mut Function, memory: &mut Memory, places: &mut Places) {
    memory.reads.clear();
    let mut block = 0;
    for at in 0..f.order.len() {
        let inst = f.inst(f.order[at]);
        if inst.op == Op::Label {
            block += 1;
        }
        if inst.op != Op::LoadConstAt {
            continue;
        }
        let Some((base, offset)) = split(f, Value(inst.args[1]), 4) else { continue };
        if base.is_some() {
            let place = Place { base, more: offset as i32 >> 4, mask: VECTOR_INDEX };
            memory.reads.push(Read { at, block, bank: inst.args[0], place, component: offset >> 2 & 3 });
        }
    }
    if memory.reads.is_empty() {
        return;
    }
    places.begin(f, 4);
    // Reads of one vector in one block side by side, the first of them first.
    memory.reads.sort_by_key(|r| (r.block, r.bank, r.place.base, r.place.more, r.at));
    let same = |a: &Read, b: &Read| (a.block, a.bank, a.place) == (b.block, b.bank, b.place);
    for reads in memory.reads.chunk_by(same) {
        let first = reads[0];
        let index = places.index(f, first.place);
        let vector = (reads.len() >= 2).then(|| {
            let before = first.at.saturating_sub(1) as u32;
            places.put(f, before, Op::LoadConstVector, &[first.bank, index.0])
        });
        for read in reads {
            let none = u32::MAX;
            f.insts[f.order[read.at].index()] = match vector {
                Some(vector) => Inst { op: Op::Extract, args: [vector.0, read.component, none, none, none] },
                None => Inst { op: Op::LoadConstPart, args: [read.bank, index.0, read.component, none, none] },
            };
        }
    }
    places.finish(f);
}
