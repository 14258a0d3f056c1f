//! Phis whose operands are all one value (or the phi itself) are that value.
//!
//! The lowering makes a phi at a loop's head for everything that the loop may write; most of them go here.

use crate::ir::{Function, Op, Value};

/// Sweeps over the program; loops nested more deeply than that may keep a phi too many.
const SWEEPS: usize = 32;

/// Replaces trivial phis, until there are none.
pub fn run(f: &mut Function) {
    f.alias.clear();
    f.alias.extend((0..f.insts.len() as u32).map(Value));
    for _ in 0..SWEEPS {
        let mut changed = false;
        for at in 0..f.order.len() {
            let v = f.order[at];
            let inst = *f.inst(v);
            if !matches!(inst.op, Op::Phi | Op::PhiB) || f.alias[v.index()] != v {
                continue;
            }
            let mut only = Value::NONE;
            let mut trivial = true;
            for n in 0..inst.args[1] {
                let arg = f.resolve(Value(f.extra[(inst.args[0] + 2 * n + 1) as usize]));
                if arg == v || arg == only {
                    continue;
                }
                if only.is_some() {
                    trivial = false;
                    break;
                }
                only = arg;
            }
            if trivial && only.is_some() {
                f.alias[v.index()] = only;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}
