//! Indices taken apart: a multiple of a power of two plus a constant. What [`super::storage`] and
//! [`super::constants`] need to see which vector and which component an access means, and to name the vector.

use rustc_hash::FxHashMap;

use crate::ir::{Function, Inst, Op, Value};

/// How deep a sum is searched.
const SEARCH: u32 = 6;

/// An index that is a multiple of `1 << bits` and the same of a constant: their quotients' sum, of which `mask` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The multiple; none for a constant index.
    pub base: Value,
    /// The constant's quotient.
    pub more: i32,
    /// Which bits of the quotient count; all where the index is known not to wrap.
    pub mask: u32,
}

/// `v` as a multiple of `1 << bits` plus a constant: the multiple ([`Value::NONE`] for 0) and the constant.
pub fn split(f: &Function, v: Value, bits: u32) -> Option<(Value, u32)> {
    let v = f.resolve(v);
    let (base, offset) = match *f.inst(v) {
        Inst { op: Op::IAdd, args: [x, k, ..] } => match f.constant(Value(k)) {
            Some(k) => (f.resolve(Value(x)), k),
            None => (v, 0),
        },
        Inst { op: Op::Const, args: [k, ..] } => (Value::NONE, k),
        _ => (v, 0),
    };
    (!base.is_some() || divides(f, base, bits, SEARCH)).then_some((base, offset))
}

/// Is `v` seen to be a multiple of `1 << bits`?
fn divides(f: &Function, v: Value, bits: u32, depth: u32) -> bool {
    let Inst { op, args: [x, y, ..] } = *f.inst(v);
    let multiple = |k: u32| k & ((1 << bits) - 1) == 0;
    match op {
        Op::Const => multiple(x),
        Op::Shl => f.constant(Value(y)).is_some_and(|k| (bits..32).contains(&k)),
        Op::IMul => f.constant(Value(y)).is_some_and(multiple),
        Op::IAdd | Op::ISub if depth > 0 => {
            divides(f, f.resolve(Value(x)), bits, depth - 1) && divides(f, f.resolve(Value(y)), bits, depth - 1)
        }
        _ => false,
    }
}

/// New instructions and where they go: scratch memory of a pass.
#[derive(Debug, Default)]
pub struct Places {
    indices: FxHashMap<Place, Value>,
    quotients: FxHashMap<Value, Value>,
    /// What is put behind a position of the order.
    behind: Vec<(u32, Value)>,
    order: Vec<Value>,
    /// Position of each value.
    position: Vec<u32>,
    bits: u32,
}

impl Places {
    /// Begins for the program `f`, dividing by `1 << bits`.
    pub fn begin(&mut self, f: &Function, bits: u32) {
        self.bits = bits;
        self.indices.clear();
        self.quotients.clear();
        self.behind.clear();
        self.position.clear();
        self.position.resize(f.insts.len(), 0);
        for (at, v) in (0..).zip(&f.order) {
            self.position[v.index()] = at;
        }
    }

    /// Makes an instruction that will stand behind position `at` of the order.
    pub fn put(&mut self, f: &mut Function, at: u32, op: Op, args: &[u32]) -> Value {
        let v = new(f, op, args);
        self.behind.push((at, v));
        v
    }

    /// The index of a vector, made where the multiple is, so that it may be used wherever that may.
    pub fn index(&mut self, f: &mut Function, place: Place) -> Value {
        if let Some(&known) = self.indices.get(&place) {
            return known;
        }
        let mut index = word(f, place.more as u32);
        if place.base.is_some() {
            let at = self.position[place.base.index()];
            let quotient = match self.quotients.get(&place.base) {
                Some(&known) => known,
                None => {
                    let made = self.quotient(f, at, place.base);
                    self.quotients.insert(place.base, made);
                    made
                }
            };
            index = if place.more == 0 { quotient } else { self.put(f, at, Op::IAdd, &[quotient.0, index.0]) };
            if place.mask != u32::MAX {
                let mask = word(f, place.mask);
                index = self.put(f, at, Op::And, &[index.0, mask.0]);
            }
        }
        self.indices.insert(place, index);
        index
    }

    /// The quotient of `v`, which [`divides`]; what is new stands behind position `at`.
    fn quotient(&mut self, f: &mut Function, at: u32, v: Value) -> Value {
        let Inst { op, args: [x, y, ..] } = *f.inst(v);
        let bits = self.bits;
        let constant = f.constant(Value(y));
        match (op, constant) {
            (Op::Shl, Some(k)) if k == bits => f.resolve(Value(x)),
            (Op::IMul, Some(k)) if k == 1 << bits => f.resolve(Value(x)),
            (Op::Shl, Some(k)) => {
                let (x, k) = (f.resolve(Value(x)), word(f, k - bits));
                self.put(f, at, Op::Shl, &[x.0, k.0])
            }
            (Op::IMul, Some(k)) => {
                let (x, k) = (f.resolve(Value(x)), word(f, (k as i32 >> bits) as u32));
                self.put(f, at, Op::IMul, &[x.0, k.0])
            }
            (Op::IAdd | Op::ISub, _) => {
                let (x, y) = (f.resolve(Value(x)), f.resolve(Value(y)));
                let (x, y) = (self.quotient(f, at, x), self.quotient(f, at, y));
                self.put(f, at, op, &[x.0, y.0])
            }
            _ => word(f, (x as i32 >> bits) as u32),
        }
    }

    /// Puts what is new into the order, and leaves out what was replaced by an instruction further down.
    pub fn finish(&mut self, f: &mut Function) {
        // Those behind one position were made in the order in which they need each other.
        self.behind.sort_by_key(|&(at, _)| at);
        self.order.clear();
        let mut behind = self.behind.iter().peekable();
        for (at, &v) in (0..).zip(&f.order) {
            let replaced = f.alias[v.index()] != v && f.inst(v).op.has_effect();
            if !replaced {
                self.order.push(v);
            }
            while let Some(&(_, made)) = behind.next_if(|&&(place, _)| place == at) {
                self.order.push(made);
            }
        }
        std::mem::swap(&mut f.order, &mut self.order);
    }
}

/// An instruction without a place yet.
fn new(f: &mut Function, op: Op, args: &[u32]) -> Value {
    let v = Value(f.insts.len() as u32);
    let mut all = [u32::MAX; 5];
    all[..args.len()].copy_from_slice(args);
    f.insts.push(Inst { op, args: all });
    f.alias.push(v);
    v
}

/// A word constant.
fn word(f: &mut Function, k: u32) -> Value {
    new(f, Op::Const, &[k])
}
