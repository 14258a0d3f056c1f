//! `navin shader info --instructions`: the instruction set, and what of it does not translate.
//!
//! The list of what does not is `docs/MAXWELL.md`, which a test of `navin-shader` makes by trying every form of every
//! instruction with every value of every modifier.

use navin_shader::isa::table::{FORM_NAMES, OP_NAMES, ROWS};
use serde_json::json;

use crate::exit;

const LIST: &str = include_str!("../../../../docs/MAXWELL.md");

/// Rows of the list: instruction, modifiers, reason.
fn refused() -> impl Iterator<Item = [&'static str; 3]> {
    let rows = LIST.lines().filter(|l| l.starts_with("| ") && !l.starts_with("| instruction"));
    rows.filter_map(|line| {
        let mut cells = line.trim_matches('|').splitn(3, " | ").map(str::trim);
        Some([cells.next()?, cells.next()?, cells.next()?])
    })
}

/// Prints all instructions.
pub fn print(as_json: bool) -> u8 {
    let mut names: Vec<&str> = OP_NAMES.to_vec();
    names.sort_unstable();
    names.dedup();
    let mut out = String::new();
    let mut all = Vec::new();
    for name in names {
        let forms: Vec<&str> =
            ROWS.iter().filter(|r| OP_NAMES[r.op as usize] == name).map(|r| FORM_NAMES[r.form as usize]).collect();
        let reasons: Vec<[&str; 3]> = refused().filter(|r| r[0] == name).collect();
        let never = reasons.iter().any(|r| r[1] == "all");
        if as_json {
            let reasons: Vec<_> =
                reasons.iter().map(|[_, what, reason]| json!({ "modifiers": what, "reason": reason })).collect();
            all.push(json!({ "name": name, "forms": forms, "translates": !never, "except": reasons }));
            continue;
        }
        let forms = if forms.len() == 1 { "1 form".to_owned() } else { format!("{} forms", forms.len()) };
        out += &match reasons.first() {
            None => format!("{name:<12} {forms:<9} translates\n"),
            Some([_, _, reason]) if never => format!("{name:<12} {forms:<9} never: {reason}\n"),
            Some(_) => format!("{name:<12} {forms:<9} translates, but for\n"),
        };
        if !never {
            for [_, what, reason] in reasons {
                out += &format!("{:<24}{what}: {reason}\n", "");
            }
        }
    }
    if as_json {
        out = format!("{:#}\n", serde_json::Value::Array(all));
    }
    super::print(&out);
    exit::OK
}
