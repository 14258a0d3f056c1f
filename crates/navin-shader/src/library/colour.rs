//! How a program that filters pictures holds colours, read from its code and not from a table (B678).
//!
//! Networks that enlarge pictures are trained on values that are spread evenly to the eye. Some take the square root of
//! what they load and square what they put out, some apply a curve behind that square, and some do neither. Who puts
//! another filter in a network's place has to know which.

use rustc_hash::FxHashMap;

use crate::ir::{Class, Function, Op, Value};

/// What is done to colours on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourHandling {
    /// What is loaded goes through a square root: the picture that belongs there is the square of the one given.
    SquareRootInput,
    /// What is stored is a square that a curve was applied to: the program stays as it is.
    EncodesAfterSquare,
    /// Neither a curve nor a power: one space of colour.
    SingleSpace,
    /// There are curves, but none in a place that is known.
    Unknown,
}

/// Reads `f`, which all passes have been over.
pub(crate) fn classify(f: &Function) -> ColourHandling {
    let live = || f.order.iter().copied().filter(|v| f.live[v.index()] && f.resolve(*v) == *v);
    let mut memo = FxHashMap::default();
    let (mut rooted, mut encoded, mut curves) = (false, false, false);
    for v in live() {
        let inst = f.inst(v);
        let operand = |n: usize| f.resolve(Value(inst.args[n]));
        match inst.op {
            Op::FSqrt | Op::FRsq | Op::FLog2 | Op::FExp2 => {
                curves = true;
                let x = operand(0);
                rooted |= inst.op != Op::FExp2 && inst.op != Op::FLog2 && loaded(f, x, &mut memo, 0);
                encoded |= inst.op != Op::FExp2 && square(f, x, 0);
            }
            Op::FMul => curves |= operand(0) == operand(1),
            _ => {}
        }
    }
    match (encoded, rooted, curves) {
        (true, _, _) => ColourHandling::EncodesAfterSquare,
        (_, true, _) => ColourHandling::SquareRootInput,
        (_, _, false) => ColourHandling::SingleSpace,
        _ => ColourHandling::Unknown,
    }
}

/// How deep an expression is searched.
const SEARCH: u32 = 6;

/// Does an operation only keep a value in its range, or choose it?
fn keeps(op: Op) -> bool {
    matches!(op, Op::FMin | Op::FMax | Op::FSat | Op::FAbs | Op::Select | Op::Phi)
}

/// Is `v` what memory or a texture held, kept in its range at most?
fn loaded(f: &Function, v: Value, memo: &mut FxHashMap<Value, bool>, depth: u32) -> bool {
    if let Some(&known) = memo.get(&v) {
        return known;
    }
    let op = f.inst(v).op;
    let is = match op {
        Op::Extract => {
            let vector = f.inst(f.resolve(Value(f.inst(v).args[0]))).op;
            matches!(vector, Op::Texture | Op::ImageLoad | Op::LoadGlobalWide | Op::LoadStorageVector)
        }
        Op::LoadGlobal | Op::LoadStorage | Op::LoadStoragePart => true,
        Op::HalfLow | Op::HalfHigh => loaded(f, f.resolve(Value(f.inst(v).args[0])), memo, depth + 1),
        _ if keeps(op) && depth < SEARCH => {
            let mut operands = Vec::new();
            f.operands(v, |x, class| {
                if class != Class::B {
                    operands.push(f.resolve(x));
                }
            });
            operands.into_iter().any(|x| loaded(f, x, memo, depth + 1))
        }
        _ => false,
    };
    memo.insert(v, is);
    is
}

/// Is `v` a square, kept in its range at most?
fn square(f: &Function, v: Value, depth: u32) -> bool {
    let inst = f.inst(v);
    if inst.op == Op::FMul && f.resolve(Value(inst.args[0])) == f.resolve(Value(inst.args[1])) {
        return true;
    }
    let mut found = false;
    if keeps(inst.op) && depth < SEARCH {
        f.operands(v, |x, class| found |= class != Class::B && square(f, f.resolve(x), depth + 1));
    }
    found
}
