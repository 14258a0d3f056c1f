//! Storage buffers by vectors: slots whose every access is seen to lie at a known component of a vector of four words
//! are read and written as vectors, and four accesses that are one vector become one.
//!
//! Programs move 128 bits at once where they can, and the lowering splits that into words: an index, a pointer and an
//! access for each. Word by word a vector stored takes 51 words of SPIR-V, whole it takes 16. What the program touches
//! is what is touched: a vector is only moved whole where all four of its words were.
//!
//! Runs before dead code goes, so that words that a program loads and never looks at count as loaded.
//!
//! Relies on what the lowering says of word indices: those that are masked are right modulo 2^30, and those that are
//! not were shown not to wrap on the way, so that a quarter of either may be taken term by term.

use super::places::{Place, Places, split};
use crate::ir::{Function, Inst, Op, Value};

/// Bits of a word index; a vector's has two less.
const WORD_INDEX: u32 = u32::MAX / 4;
/// Words of SPIR-V that the types of vectors take: a slot has to win more.
const PRICE: i32 = 8;

/// Scratch memory of the pass.
#[derive(Debug, Default)]
pub struct Memory {
    /// Accesses in program order.
    accesses: Vec<Access>,
}

/// An access to a word of a storage buffer.
#[derive(Clone, Copy, Debug)]
struct Access {
    /// Where in the order.
    at: usize,
    place: Place,
    component: u32,
}

/// Rewrites the accesses of `f` to slots that win by it, and marks those in [`Function::vectors`].
pub fn run(f: &mut Function, memory: &mut Memory, places: &mut Places) {
    f.vectors = 0;
    memory.accesses.clear();
    let (mut refused, mut score) = (0u32, [-PRICE; 32]);
    for at in 0..f.order.len() {
        let inst = f.inst(f.order[at]);
        let slot = match inst.op {
            Op::LoadStorage | Op::StoreStorage => inst.args[0] & 31,
            Op::AtomicStorage => {
                refused |= 1 << (inst.args[0] & 31);
                continue;
            }
            Op::AtomicWide if inst.args[2] != u32::MAX => {
                refused |= 1 << (inst.args[2] & 31);
                continue;
            }
            _ => continue,
        };
        match place(f, Value(inst.args[1])) {
            Some((place, component)) if refused >> slot & 1 == 0 => {
                // One word more for the component, five less where it was added to the index.
                score[slot as usize] += if component != 0 && place.base.is_some() { 4 } else { -1 };
                memory.accesses.push(Access { at, place, component });
            }
            _ => refused |= 1 << slot,
        }
    }
    for (slot, &score) in score.iter().enumerate() {
        if refused >> slot & 1 == 0 && score > 0 {
            f.vectors |= 1 << slot;
        }
    }
    if f.vectors != 0 {
        rewrite(f, &memory.accesses, places);
    }
}

/// The vector and component of a word index, if they are seen.
fn place(f: &Function, index: Value) -> Option<(Place, u32)> {
    let index = f.resolve(index);
    let (sum, mask) = match *f.inst(index) {
        Inst { op: Op::And, args: [x, mask, ..] } if f.constant(Value(mask)) == Some(WORD_INDEX) => {
            (Value(x), WORD_INDEX / 4)
        }
        _ => (index, u32::MAX),
    };
    let (base, offset) = split(f, sum, 2)?;
    Some((Place { base, more: offset as i32 >> 2, mask }, offset & 3))
}

/// Turns the accesses of chosen slots into accesses of vectors.
fn rewrite(f: &mut Function, accesses: &[Access], places: &mut Places) {
    places.begin(f, 2);
    let mut rest = accesses;
    while let Some(&Access { at, place, component }) = rest.first() {
        let v = f.order[at];
        let Inst { op, args: [slot, _, value, ..] } = *f.inst(v);
        if f.vectors >> (slot & 31) & 1 == 0 {
            rest = &rest[1..];
            continue;
        }
        let index = places.index(f, place);
        let whole = whole(f, rest);
        let (these, others) = rest.split_at(if whole { 4 } else { 1 });
        rest = others;
        match (op == Op::LoadStorage, whole) {
            (true, true) => {
                // A load is never the first of the order: that is a label.
                let before = at.saturating_sub(1) as u32;
                let vector = places.put(f, before, Op::LoadStorageVector, &[slot, index.0, value]);
                for word in these {
                    replace(f, f.order[word.at], Op::Extract, &[vector.0, word.component]);
                }
            }
            (true, false) => replace(f, v, Op::LoadStoragePart, &[slot, index.0, component, value]),
            (false, true) => {
                let list = f.extra.len() as u32;
                f.extra.extend([u32::MAX; 4]);
                let last = f.order[these[3].at];
                for word in these {
                    let v = f.order[word.at];
                    f.extra[(list + word.component) as usize] = f.inst(v).args[2];
                    f.alias[v.index()] = last;
                }
                replace(f, last, Op::StoreStorageVector, &[slot, index.0, list]);
            }
            (false, false) => replace(f, v, Op::StoreStoragePart, &[slot, index.0, value, component]),
        }
    }
    places.finish(f);
}

fn replace(f: &mut Function, v: Value, op: Op, args: &[u32]) {
    let mut all = [u32::MAX; 5];
    all[..args.len()].copy_from_slice(args);
    f.insts[v.index()] = Inst { op, args: all };
}

/// Are the first four accesses the words of one vector, with nothing between them that could tell?
fn whole(f: &Function, accesses: &[Access]) -> bool {
    let Some(four) = accesses.get(..4) else { return false };
    let first = f.inst(f.order[four[0].at]);
    let store = first.op == Op::StoreStorage;
    let mut seen = 0;
    for access in four {
        let inst = f.inst(f.order[access.at]);
        let same = inst.op == first.op && inst.args[0] == first.args[0] && access.place == four[0].place;
        // Loads of one epoch have no store between them.
        if !same || !store && inst.args[2] != first.args[2] {
            return false;
        }
        seen |= 1 << access.component;
    }
    // Stores move down to the last: past nothing that could read or write. Loads move up to the first.
    let between = (four[0].at + 1..four[3].at).all(|at| {
        let op = f.inst(f.order[at]).op;
        let own = four[1..3].iter().any(|access| access.at == at);
        own || !(op.has_effect() || store && reads_memory(op))
    });
    seen == 15 && between
}

/// Does it read what a store to a storage buffer can change?
fn reads_memory(op: Op) -> bool {
    matches!(
        op,
        Op::LoadGlobal
            | Op::LoadGlobalWide
            | Op::LoadStorage
            | Op::LoadStoragePart
            | Op::LoadStorageVector
            | Op::ImageLoad
            | Op::Texture
    )
}
