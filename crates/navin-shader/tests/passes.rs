//! Each pass alone on a small program: the IR before and after it, as text. `NAVIN_BLESS=1` writes them anew; look at
//! the difference before you commit it.

#[path = "common/assemble.rs"]
mod assemble;

use std::fmt::Write as _;
use std::path::Path;

use assemble::{compute, word};
use navin_shader::ir::builder::Builder;
use navin_shader::ir::{Builtin, Function, Op, Value, print};
use navin_shader::isa::table::{Field, Form, Op as Machine};
use navin_shader::passes::{constants, dce, guards, phis, places, storage};
use navin_shader::{ConstantLayout, GuestProgram, Options, Translator, disassemble};

/// Compares with the text in `tests/snapshots/passes`.
fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/snapshots/passes/{name}.ir"));
    if std::env::var_os("NAVIN_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("a snapshot");
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(there, text, "{name}: NAVIN_BLESS=1 writes it anew");
}

/// The text of a program before and after a pass.
fn before_and_after(b: &mut Builder, pass: impl FnOnce(&mut Function)) -> String {
    let f = &mut b.f;
    f.alias = (0..f.insts.len() as u32).map(Value).collect();
    let mut out = format!("before:\n{}", print::print(f));
    pass(f);
    let _ = write!(out, "after:\n{}", print::print(f));
    out
}

/// A builder whose first block has begun.
fn begun() -> Builder {
    let mut b = Builder::default();
    let scope = b.enter(None);
    b.effect(Op::Label, &[0, scope, u32::MAX]);
    b
}

/// A word that nothing is known of.
fn unknown(b: &mut Builder, which: Builtin) -> Value {
    b.pure(Op::Builtin, &[which as u32])
}

/// Keeps a value alive.
fn keep(b: &mut Builder, at: u32, v: Value) {
    let at = b.word(at);
    b.effect(Op::StoreShared, &[at.0, v.0]);
}

/// Vectors and their words, as accesses of words; the multiple of four that they begin at.
fn words_of_vectors(b: &mut Builder) -> Value {
    let x = unknown(b, Builtin::LocalIdX);
    let two = b.word(2);
    b.op2(Op::Shl, x, two)
}

#[test]
fn folding() {
    // The same program written down as it is, and through the builder's operations.
    let program = |raw: bool| {
        let mut b = begun();
        let op2 = |b: &mut Builder, op, x: Value, y: Value| {
            if raw { b.effect(op, &[x.0, y.0]) } else { b.op2(op, x, y) }
        };
        let select = |b: &mut Builder, c: Value, x: Value, y: Value| {
            if raw { b.effect(Op::Select, &[c.0, x.0, y.0]) } else { b.select(c, x, y) }
        };
        let x = unknown(&mut b, Builtin::LocalIdX);
        let y = unknown(&mut b, Builtin::LocalIdY);
        let (three, four, zero) = (b.word(3), b.word(4), b.word(0));
        let seven = op2(&mut b, Op::IAdd, three, four);
        let sum = op2(&mut b, Op::IAdd, x, seven);
        let sum = op2(&mut b, Op::IAdd, sum, three);
        keep(&mut b, 0, sum);
        let same = op2(&mut b, Op::Or, y, zero);
        keep(&mut b, 1, same);
        // Two predicated instructions, the second under the opposite of the first's predicate.
        let less = op2(&mut b, Op::ULt, x, y);
        let not_less = op2(&mut b, Op::UGe, x, y);
        let first = select(&mut b, less, x, zero);
        let second = select(&mut b, not_less, y, first);
        keep(&mut b, 2, second);
        b
    };
    let text = |mut b: Builder| {
        let f = &mut b.f;
        f.alias = (0..f.insts.len() as u32).map(Value).collect();
        // Compares that nobody reads are dead code's.
        dce::run(f, &mut Vec::new());
        print::print(f)
    };
    check("fold", &format!("before:\n{}after:\n{}", text(program(true)), text(program(false))));
}

#[test]
fn sharing() {
    let mut b = begun();
    let x = unknown(&mut b, Builtin::LocalIdX);
    let y = unknown(&mut b, Builtin::LocalIdY);
    let first = b.op2(Op::IMul, x, y);
    let again = b.op2(Op::IMul, y, x);
    assert_eq!(first, again, "products do not mind the order");
    let loaded = b.pure(Op::LoadShared, &[first.0, b.epoch]);
    assert_eq!(loaded, b.pure(Op::LoadShared, &[again.0, b.epoch]));
    keep(&mut b, 0, loaded);
    b.epoch += 1;
    let later = b.pure(Op::LoadShared, &[first.0, b.epoch]);
    assert_ne!(loaded, later, "a store may have changed it");
    keep(&mut b, 1, later);
    // Two blocks under the first: what one made is not the other's.
    let then = b.enter(Some(0));
    b.effect(Op::Label, &[1, then, 0]);
    let inner = b.op2(Op::IAdd, x, y);
    let other = b.enter(Some(0));
    b.effect(Op::Label, &[2, other, 0]);
    assert_ne!(inner, b.op2(Op::IAdd, x, y), "a block that does not dominate");
    assert_eq!(first, b.op2(Op::IMul, x, y), "one that does");
    b.f.alias = (0..b.f.insts.len() as u32).map(Value).collect();
    check("share", &format!("after:\n{}", print::print(&b.f)));
}

#[test]
fn phis_of_one_value() {
    let mut b = begun();
    let x = unknown(&mut b, Builtin::LocalIdX);
    let head = b.enter(Some(0));
    b.effect(Op::Label, &[1, head, 0]);
    let list = b.f.extra.len() as u32;
    b.f.extra.extend([0, x.0, 1, u32::MAX]);
    let unchanged = b.push(Op::Phi, [list, 2, u32::MAX, u32::MAX, u32::MAX]);
    b.f.extra[list as usize + 3] = unchanged.0;
    let list = b.f.extra.len() as u32;
    b.f.extra.extend([0, x.0, 1, u32::MAX]);
    let counted = b.push(Op::Phi, [list, 2, u32::MAX, u32::MAX, u32::MAX]);
    let more = b.op2(Op::IAdd, counted, unchanged);
    b.f.extra[list as usize + 3] = more.0;
    keep(&mut b, 0, more);
    b.effect(Op::Goto, &[1]);
    check("phis", &before_and_after(&mut b, phis::run));
}

#[test]
fn choices_under_a_predicate() {
    let mut b = begun();
    let (x, y) = (unknown(&mut b, Builtin::LocalIdX), unknown(&mut b, Builtin::LocalIdY));
    let (three, zero) = (b.word(3), b.word(0));
    let p = b.op2(Op::ULt, x, y);
    let q = b.op2(Op::INe, x, three);
    let both = b.op2(Op::BAnd, p, q);
    // Under p: y + 3, of that the double, of which under p and q another sum; the register was x before.
    let sum = b.op2(Op::IAdd, y, three);
    let first = b.select(p, sum, x);
    let second = b.op2(Op::IMul, first, y);
    let second = b.select(p, second, x);
    let third = b.op2(Op::IAdd, second, first);
    let third = b.select(both, third, zero);
    keep(&mut b, 0, third);
    // A derivative sees neighbours, whose predicate may not hold; its choice stays. So does a place in memory.
    let float = b.select(p, sum, zero);
    let slope = b.op1(Op::DPdx, float);
    let slope = b.select(p, slope, zero);
    keep(&mut b, 1, slope);
    let at = b.select(p, sum, zero);
    let loaded = b.pure(Op::LoadShared, &[at.0, 0]);
    let loaded = b.select(p, loaded, zero);
    keep(&mut b, 2, loaded);
    let run = |f: &mut Function| {
        dce::run(f, &mut Vec::new());
        assert!(guards::run(f, &mut Vec::new()));
        dce::run(f, &mut Vec::new());
    };
    check("guards", &before_and_after(&mut b, run));
}

/// What goes round a loop is looked at by the next round, whatever its condition was.
#[test]
fn a_choice_that_goes_round_a_loop_stays() {
    let mut b = begun();
    let x = unknown(&mut b, Builtin::LocalIdX);
    let y = unknown(&mut b, Builtin::LocalIdY);
    let p = b.op2(Op::ULt, x, y);
    let head = b.enter(Some(0));
    b.effect(Op::Label, &[1, head, 0]);
    let list = b.f.extra.len() as u32;
    b.f.extra.extend([0, x.0, 1, u32::MAX]);
    let round = b.push(Op::Phi, [list, 2, u32::MAX, u32::MAX, u32::MAX]);
    let more = b.op2(Op::IAdd, round, y);
    let chosen = b.select(p, more, x);
    let next = b.op2(Op::IMul, chosen, y);
    b.f.extra[list as usize + 3] = next.0;
    let shown = b.select(p, next, x);
    keep(&mut b, 0, shown);
    b.effect(Op::Goto, &[1]);
    b.f.alias = (0..b.f.insts.len() as u32).map(Value).collect();
    dce::run(&mut b.f, &mut Vec::new());
    guards::run(&mut b.f, &mut Vec::new());
    let text = print::print(&b.f);
    assert!(text.lines().any(|l| l.contains("IMul") && l.contains(&format!("%{}", chosen.0))), "{text}");
}

#[test]
fn dead_code() {
    let mut b = begun();
    let x = unknown(&mut b, Builtin::LocalIdX);
    let used = b.op2(Op::IAdd, x, x);
    let unused = b.op2(Op::IMul, x, used);
    let vector = b.pure(Op::LoadInput, &[3]);
    let part = b.pure(Op::Extract, &[vector.0, 1]);
    b.op2(Op::FAdd, part, unused);
    keep(&mut b, 0, used);
    check("dce", &before_and_after(&mut b, |f| dce::run(f, &mut Vec::new())));
}

#[test]
fn storage_buffers_by_vectors() {
    let mut b = begun();
    let base = words_of_vectors(&mut b);
    let at: Vec<Value> = (0..8u32)
        .map(|n| {
            let n = b.word(n);
            b.op2(Op::IAdd, base, n)
        })
        .collect();
    // Slot 0: a whole vector, and one word of the next. Slot 1: a whole vector, then half a one.
    let words: Vec<Value> = at[..4].iter().map(|at| b.pure(Op::LoadStorage, &[0, at.0, 0])).collect();
    let part = b.pure(Op::LoadStorage, &[0, at[6].0, 0]);
    for (at, value) in at.iter().zip(words.iter().rev().chain([&part, &part])) {
        b.effect(Op::StoreStorage, &[1, at.0, value.0]);
    }
    // Slot 2: a word whose place in its vector is not known keeps all of the slot as words.
    let x = unknown(&mut b, Builtin::LocalIdY);
    for n in at {
        b.effect(Op::StoreStorage, &[2, n.0, x.0]);
    }
    b.effect(Op::StoreStorage, &[2, x.0, x.0]);
    let run = |f: &mut Function| storage::run(f, &mut storage::Memory::default(), &mut places::Places::default());
    check("storage", &before_and_after(&mut b, run));
    assert_eq!(b.f.vectors, 0b11);
}

/// Stores of one vector with a load between them stay apart: the load may see the first of them. So do those with
/// another store between them, which may be to the same bytes.
#[test]
fn a_load_between_stores_keeps_them_apart() {
    let program = |between: Option<Op>| {
        let mut b = begun();
        let base = words_of_vectors(&mut b);
        let other = unknown(&mut b, Builtin::LocalIdY);
        for n in 0..4u32 {
            let at = b.word(n);
            let at = b.op2(Op::IAdd, base, at);
            let value = match between {
                Some(Op::LoadGlobal) => b.pure(Op::LoadGlobal, &[other.0, other.0, n]),
                Some(Op::StoreStorage) => {
                    // A slot whose places are not known.
                    b.effect(Op::StoreStorage, &[3, other.0, other.0]);
                    other
                }
                _ => other,
            };
            b.effect(Op::StoreStorage, &[0, at.0, value.0]);
        }
        let run = |f: &mut Function| storage::run(f, &mut storage::Memory::default(), &mut places::Places::default());
        let text = before_and_after(&mut b, run);
        assert_eq!(b.f.vectors, 1, "{text}");
        text.contains("StoreStorageVector")
    };
    assert!(program(None));
    assert!(!program(Some(Op::LoadGlobal)));
    assert!(!program(Some(Op::StoreStorage)));
}

#[test]
fn constant_banks_by_vectors() {
    let mut b = begun();
    let x = unknown(&mut b, Builtin::LocalIdX);
    let six = b.word(6);
    let matrix = b.op2(Op::Shl, x, six);
    for offset in [16u32, 20, 28, 40] {
        let k = b.word(offset);
        let at = b.op2(Op::IAdd, matrix, k);
        let v = b.pure(Op::LoadConstAt, &[3, at.0]);
        keep(&mut b, offset, v);
    }
    let v = b.pure(Op::LoadConstAt, &[3, x.0]);
    keep(&mut b, 0, v);
    let run = |f: &mut Function| {
        constants::run(f, &mut constants::Memory::default(), &mut places::Places::default());
        dce::run(f, &mut Vec::new());
    };
    check("constants", &before_and_after(&mut b, run));
}

/// The listing of a program and its IR after all passes.
fn machine(words: &[u64]) -> String {
    let mut words = words.to_vec();
    words.push(word(Machine::Exit, Form::J, &[(Field::Cond, 15)]));
    let (control, gpu) = compute(&words);
    let guest = GuestProgram::parse(&control, &gpu).expect("a whole program");
    let ir = Translator::new().print_ir(&guest, &Options::new(ConstantLayout::Corpus));
    let listing = disassemble(&guest, None);
    let lines: Vec<&str> = listing.lines().filter(|l| l.starts_with("/*")).collect();
    format!("before:\n{}\nafter:\n{}", lines.join("\n"), ir.unwrap_or_else(|e| panic!("{e}")))
}

#[test]
fn products_of_xmads() {
    let rr = |dst, b, c, more: &[(Field, u32)]| {
        let fields = [&[(Field::Dst, dst), (Field::A, 0), (Field::B, b), (Field::C, c)], more].concat();
        word(Machine::Xmad, Form::Rr, &fields)
    };
    let load = |dst| {
        let fields = [(Field::Dst, dst), (Field::A, 60), (Field::Off24, 4 * dst), (Field::E, 1), (Field::Size, 4)];
        word(Machine::Ldg, Form::M, &fields)
    };
    let mut words = pointer(60, 0);
    words.extend([
        load(0),
        load(1),
        rr(2, 1, 255, &[]),
        rr(3, 1, 255, &[(Field::Hb, 1), (Field::Mrg, 1)]),
        rr(4, 3, 2, &[(Field::Ha, 1), (Field::Hb, 1), (Field::Psl, 1), (Field::Cmode, 4)]),
    ]);
    words.extend(pointer(62, 1));
    words.push(word(Machine::Stg, Form::M, &[(Field::Data, 4), (Field::A, 62), (Field::E, 1), (Field::Size, 4)]));
    let text = machine(&words);
    check("products", &text);
    assert_eq!(text.matches("IMul").count(), 1);
}

/// Pointer to storage slot `slot` of the corpus's layout, in two registers from `dst` on.
fn pointer(dst: u32, slot: u32) -> Vec<u64> {
    let table = 0x150 / 4 + 4 * slot;
    (0..2).map(|n| word(Machine::Mov, Form::C, &[(Field::Dst, dst + n), (Field::Cbo4, table + n)])).collect()
}

#[test]
fn global_memory_to_storage_buffers() {
    let mut words = pointer(60, 0);
    words.push(word(
        Machine::Ldg,
        Form::M,
        &[(Field::Dst, 0), (Field::A, 60), (Field::Off24, 8), (Field::E, 1), (Field::Size, 4)],
    ));
    words.extend(pointer(62, 1));
    words.push(word(
        Machine::Stg,
        Form::M,
        &[(Field::Data, 0), (Field::A, 62), (Field::Off24, 4), (Field::E, 1), (Field::Size, 4)],
    ));
    check("global_to_storage", &machine(&words));
}
