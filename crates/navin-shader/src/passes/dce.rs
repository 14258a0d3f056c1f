//! Marks live instructions: those with an effect, and what they read.

use crate::ir::{Function, Value};

/// Fills [`Function::live`]. `work` is scratch memory.
pub fn run(f: &mut Function, work: &mut Vec<Value>) {
    f.live.clear();
    f.live.resize(f.insts.len(), false);
    work.clear();
    let mut live = std::mem::take(&mut f.live);
    for &v in &f.order {
        if f.inst(v).op.has_effect() {
            live[v.index()] = true;
            work.push(v);
        }
    }
    while let Some(v) = work.pop() {
        f.operands(v, |arg, _| {
            let arg = f.resolve(arg);
            if !live[arg.index()] {
                live[arg.index()] = true;
                work.push(arg);
            }
        });
    }
    f.live = live;
}
