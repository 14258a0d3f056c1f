//! Text of the IR, for snapshot tests and for people: one instruction a line, live ones only once that is known.

use std::fmt::Write;

use super::{Class, Function, Op, Value};

/// The text of `f`.
pub fn print(f: &Function) -> String {
    let mut out = String::new();
    for &v in &f.order {
        if f.live.get(v.index()).is_some_and(|&l| !l) || f.resolve(v) != v {
            continue;
        }
        let inst = f.inst(v);
        if inst.op == Op::Label {
            let _ = writeln!(out, "block {}:", inst.args[0]);
            continue;
        }
        out.push_str("    ");
        if inst.op.result() != Class::None {
            let _ = write!(out, "%{} = ", v.0);
        }
        let _ = write!(out, "{:?}", inst.op);
        for (&class, &arg) in inst.op.operands().iter().zip(&inst.args) {
            if class == Class::I {
                let _ = write!(out, " {arg}");
            }
        }
        f.operands(v, |arg, _| {
            let arg = f.resolve(arg);
            if let Some(c) = f.constant(arg) {
                let _ = write!(out, " {c:#x}");
            } else if let Some(t) = f.truth(arg) {
                let _ = write!(out, " {t}");
            } else {
                let _: &Value = &arg;
                let _ = write!(out, " %{}", arg.0);
            }
        });
        out.push('\n');
    }
    out
}
