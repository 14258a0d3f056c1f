//! Choices that nobody can tell: what is computed under a predicate is looked at under that predicate only.
//!
//! Predicated instructions become choices between the new value and the old one of a register, each of them. A chain of
//! such instructions under one predicate needs the last choice alone: what stands between is only looked at where the
//! predicate holds, and there each inner choice is its first side.
//!
//! Backward, every value learns the condition under which all of its readers look at it, if there is one; forward,
//! arithmetic whose value is looked at under a condition reads the sides of choices by that condition. Values that other
//! lanes see (derivatives, texture coordinates, exchanges) and places in memory count as looked at always: what a lane
//! computes where its predicate does not hold is a neighbour's derivative, or a place outside of an array.

use crate::ir::{Class, Function, Op, Value};

/// How deep a condition is taken apart.
const DEPTH: u32 = 3;
/// Nobody has looked.
const UNSEEN: u32 = u32::MAX;
/// Looked at under no condition that is known.
const ALWAYS: u32 = u32::MAX - 1;

/// A condition and its truth in one number.
fn guard(f: &Function, condition: Value, truth: bool) -> u32 {
    let condition = f.resolve(condition);
    let inst = f.inst(condition);
    match inst.op {
        Op::BNot => guard(f, Value(inst.args[0]), !truth),
        _ => condition.0 << 1 | u32::from(truth),
    }
}

/// What `condition` is where `under` holds, if that is known.
fn known(f: &Function, under: u32, condition: u32, depth: u32) -> Option<bool> {
    if under >> 1 == condition >> 1 {
        return Some(under & 1 == condition & 1);
    }
    let inst = f.inst(Value(under >> 1));
    let both = match inst.op {
        Op::BAnd => under & 1 == 1,
        Op::BOr => under & 1 == 0,
        _ => false,
    };
    if !both || depth == 0 {
        return None;
    }
    [inst.args[0], inst.args[1]]
        .into_iter()
        .find_map(|part| known(f, guard(f, Value(part), under & 1 == 1), condition, depth - 1))
}

/// The condition that holds where either does.
fn join(f: &Function, a: u32, b: u32) -> u32 {
    if a == b || b == UNSEEN {
        return a;
    }
    if a == UNSEEN {
        return b;
    }
    if a == ALWAYS || b == ALWAYS {
        return ALWAYS;
    }
    if known(f, a, b, DEPTH) == Some(true) {
        b
    } else if known(f, b, a, DEPTH) == Some(true) {
        a
    } else {
        ALWAYS
    }
}

/// Does the operation compute from its operands alone, for its own lane alone?
fn plain(op: Op) -> bool {
    let operands = op.operands();
    !op.has_effect() && !operands.is_empty() && !operands.contains(&Class::I) && !matches!(op, Op::DPdx | Op::DPdy)
}

/// Replaces operands; whether there were any. `f.live` says what is live, `needs` is scratch memory.
pub fn run(f: &mut Function, needs: &mut Vec<u32>) -> bool {
    if !f.order.iter().any(|v| f.inst(*v).op == Op::Select && f.live[v.index()]) {
        return false;
    }
    needs.clear();
    needs.resize(f.insts.len(), UNSEEN);
    // A phi may stand above what it reads, which would be asked before the phi has looked.
    for &v in f.order.iter().filter(|v| matches!(f.inst(**v).op, Op::Phi | Op::PhiB)) {
        f.operands(v, |arg, _| needs[f.resolve(arg).index()] = ALWAYS);
    }
    for &v in f.order.iter().rev() {
        if !f.live[v.index()] || f.resolve(v) != v {
            continue;
        }
        let inst = *f.inst(v);
        let own = if needs[v.index()] == UNSEEN { ALWAYS } else { needs[v.index()] };
        if inst.op == Op::Select {
            let condition = Value(inst.args[0]);
            for (n, truth) in [(1, true), (2, false)] {
                let side = guard(f, condition, truth);
                // Of two conditions that hold, the one that tells more.
                let both = if own != ALWAYS && known(f, own, side, DEPTH) == Some(true) { own } else { side };
                let arm = f.resolve(Value(inst.args[n]));
                needs[arm.index()] = join(f, needs[arm.index()], both);
            }
            let condition = f.resolve(condition);
            needs[condition.index()] = join(f, needs[condition.index()], own);
            continue;
        }
        let passed = if plain(inst.op) { own } else { ALWAYS };
        f.operands(v, |arg, _| {
            let arg = f.resolve(arg);
            needs[arg.index()] = join(f, needs[arg.index()], passed);
        });
    }
    let mut changed = false;
    for at in 0..f.order.len() {
        let v = f.order[at];
        let need = needs[v.index()];
        if need == ALWAYS || need == UNSEEN || !f.live[v.index()] || f.resolve(v) != v {
            continue;
        }
        let inst = *f.inst(v);
        if inst.op == Op::Select {
            // The whole choice is one of its sides.
            if let Some(side) = side(f, v, need) {
                f.alias[v.index()] = side;
                changed = true;
            }
        }
        if !plain(inst.op) {
            continue;
        }
        for n in 0..inst.op.operands().len() {
            let mut arg = f.resolve(Value(inst.args[n]));
            while let Some(chosen) = side(f, arg, need) {
                arg = chosen;
                f.insts[v.index()].args[n] = arg.0;
                changed = true;
            }
        }
    }
    changed
}

/// The side of the choice `v` that holds where `need` does.
fn side(f: &Function, v: Value, need: u32) -> Option<Value> {
    let inst = f.inst(v);
    if inst.op != Op::Select {
        return None;
    }
    let holds = known(f, need, guard(f, Value(inst.args[0]), true), DEPTH)?;
    Some(f.resolve(Value(inst.args[if holds { 1 } else { 2 }])))
}
