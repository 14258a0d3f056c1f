//! Makes instructions. Two passes work while it does, so that nothing is made that goes again: `passes::fold` sees
//! constants and identities, `passes::share` gives out values that are there already.

use rustc_hash::FxHashMap;

use super::{Function, Inst, Op, Value};

/// Builds one [`Function`].
#[derive(Debug, Default)]
pub struct Builder {
    /// The function.
    pub f: Function,
    pub(crate) shared: FxHashMap<Inst, (Value, u32)>,
    constants: FxHashMap<Inst, Value>,
    pub(crate) open: Vec<bool>,
    pub(crate) stack: Vec<u32>,
    /// Counts writes to memory, so that loads before and after one are never shared.
    pub epoch: u32,
}

impl Builder {
    /// Forgets the last function.
    pub fn clear(&mut self) {
        self.f.clear();
        self.shared.clear();
        self.constants.clear();
        self.open.clear();
        self.stack.clear();
        self.epoch = 0;
    }

    /// Appends an instruction without sharing or folding.
    pub fn push(&mut self, op: Op, args: [u32; 5]) -> Value {
        let v = self.detached(op, args);
        self.f.order.push(v);
        v
    }

    /// An instruction without a place.
    fn detached(&mut self, op: Op, args: [u32; 5]) -> Value {
        let v = Value(self.f.insts.len() as u32);
        self.f.insts.push(Inst { op, args });
        v
    }

    /// An instruction with an effect, or one that reads what effects change.
    pub fn effect(&mut self, op: Op, args: &[u32]) -> Value {
        let mut all = [u32::MAX; 5];
        all[..args.len()].copy_from_slice(args);
        self.push(op, all)
    }

    fn interned(&mut self, op: Op, bits: u32) -> Value {
        let inst = Inst { op, args: [bits, u32::MAX, u32::MAX, u32::MAX, u32::MAX] };
        if let Some(&v) = self.constants.get(&inst) {
            return v;
        }
        let v = self.detached(op, inst.args);
        self.constants.insert(inst, v);
        v
    }

    /// A word.
    pub fn word(&mut self, bits: u32) -> Value {
        self.interned(Op::Const, bits)
    }

    /// A float.
    pub fn float(&mut self, x: f32) -> Value {
        self.word(x.to_bits())
    }

    /// A truth value.
    pub fn truth(&mut self, t: bool) -> Value {
        self.interned(Op::Truth, u32::from(t))
    }

    /// The constant that `v` is.
    pub(crate) fn constant(&self, v: Value) -> Option<u32> {
        self.f.constant(v)
    }

    /// The operands of `v` when it is of operation `op`.
    pub(crate) fn args(&self, v: Value, op: Op) -> Option<[u32; 5]> {
        let inst = self.f.inst(v);
        (inst.op == op).then_some(inst.args)
    }
}
