//! Gives each word its SPIR-V type.
//!
//! What an operation produces or demands is fixed for most; phis, selects, loads and the components of vectors may be
//! either. They take the type that their readers and their operands ask for more often, found by a few rounds of
//! voting. Every reader that wants the other type costs a cast, so this only decides speed and size, never results.

use crate::ir::{Builtin, Class, Function, Op, Value, WordType};
use crate::{AttributeType, Options, Stage};

/// Rounds of voting among values that may be either.
const ROUNDS: usize = 4;

/// Types beyond those of the values.
#[derive(Clone, Debug)]
pub struct Types {
    /// Vertex attributes by location.
    pub inputs: [AttributeType; 32],
    /// Colour outputs by location.
    pub colours: [AttributeType; 8],
}

/// The type of built-in `n`.
pub fn builtin_type(n: u32) -> WordType {
    let float = (Builtin::FragCoordX as u32..=Builtin::FragCoordW as u32).contains(&n)
        || n == Builtin::PointCoordX as u32
        || n == Builtin::PointCoordY as u32
        || n == Builtin::SamplePositionX as u32
        || n == Builtin::SamplePositionY as u32
        || n == Builtin::TessCoordX as u32
        || n == Builtin::TessCoordY as u32
        || n >= Builtin::TessOuter0 as u32;
    if float { WordType::Float } else { WordType::Uint }
}

/// The type of output word `word` that is no vector: point size and clip distances are floats.
pub fn output_word_type(word: u32) -> WordType {
    match word * 4 {
        0x60..=0x68 => WordType::Uint,
        _ => WordType::Float,
    }
}

/// The type that is fixed by the instruction, if it is.
fn fixed(f: &Function, v: Value, stage: Stage) -> Option<WordType> {
    let inst = f.inst(v);
    match inst.op.result() {
        Class::F => return Some(WordType::Float),
        Class::U => return Some(WordType::Uint),
        _ => {}
    }
    match inst.op {
        Op::Builtin => Some(builtin_type(inst.args[0])),
        Op::BuiltinAt | Op::LoadInputAt | Op::LoadPatch | Op::LoadInputSampled => Some(WordType::Float),
        Op::LoadOutputAt | Op::LoadPatchOutput => Some(WordType::Float),
        Op::LoadInput if stage != Stage::Vertex => Some(WordType::Float),
        Op::LoadLocal | Op::ImageSize | Op::AtomicWide | Op::LoadGlobalWide => Some(WordType::Uint),
        Op::ImageLoad if f.images[inst.args[0] as usize].raw => Some(WordType::Uint),
        Op::TextureQuery => {
            let lod = f.textures[inst.args[0] as usize].op == crate::ir::TextureOp::Lod;
            Some(if lod { WordType::Float } else { WordType::Uint })
        }
        Op::Texture if f.textures[inst.args[0] as usize].reference.is_some() => Some(WordType::Float),
        _ => None,
    }
}

/// Fills [`Function::types`]. `votes` is scratch memory.
pub fn run(f: &mut Function, stage: Stage, options: &Options, votes: &mut Vec<i32>) -> Types {
    let mut types = Types { inputs: options.attribute_types, colours: options.colour_types };
    f.types.clear();
    f.types.resize(f.insts.len(), WordType::Uint);
    votes.clear();
    votes.resize(f.insts.len(), 0);
    // Fixed demands: a positive vote is for float.
    for &v in &f.order {
        if !f.live[v.index()] || f.alias[v.index()] != v {
            continue;
        }
        if f.inst(v).op == Op::StoreOutputWord && stage != Stage::TessControl {
            let arg = f.resolve(Value(f.inst(v).args[1]));
            votes[arg.index()] += if output_word_type(f.inst(v).args[0]) == WordType::Float { 1 } else { -1 };
            continue;
        }
        let float = matches!(f.inst(v).op, Op::StoreOutput | Op::StoreOutputWord | Op::StorePatchWord);
        let op = f.inst(v).op;
        f.operands(v, |arg, class| {
            let arg = f.resolve(arg);
            votes[arg.index()] += match class {
                Class::F => 1,
                Class::U => -1,
                Class::P if float => 1,
                Class::P if op == Op::StoreLocal => -1,
                _ => 0,
            };
        });
    }
    let mut attribute_votes = [0i32; 32];
    for round in 0..ROUNDS {
        attribute_votes.fill(0);
        for at in 0..f.order.len() {
            let v = f.order[at];
            if !f.live[v.index()] || f.alias[v.index()] != v {
                continue;
            }
            if let Some(t) = fixed(f, v, stage) {
                f.types[v.index()] = t;
                continue;
            }
            let inst = *f.inst(v);
            let mut score = votes[v.index()];
            match inst.op {
                Op::Extract => {
                    let vector = f.resolve(Value(inst.args[0]));
                    if inst_is_attribute(f, vector, stage) {
                        attribute_votes[f.inst(vector).args[0] as usize & 31] += score;
                    }
                    if round == 0 {
                        votes[vector.index()] += score;
                    }
                    f.types[v.index()] = f.types[vector.index()];
                    continue;
                }
                Op::Phi | Op::Select | Op::QuadSwap | Op::QuadBroadcast | Op::Shuffle => {
                    f.operands(v, |arg, class| {
                        let arg = f.resolve(arg);
                        if class == Class::P && f.inst(arg).op != Op::Const && arg != v {
                            score += match f.types[arg.index()] {
                                WordType::Float => 1,
                                WordType::Uint if round > 0 || fixed(f, arg, stage).is_some() => -1,
                                WordType::Uint => 0,
                            };
                        }
                    });
                }
                Op::LoadInput | Op::Texture | Op::ImageLoad => {
                    // Floats unless integers are wanted more.
                    score = if score >= 0 { 1 } else { -1 };
                }
                _ => {}
            }
            f.types[v.index()] = if score > 0 { WordType::Float } else { WordType::Uint };
        }
        attributes(f, stage, options, &mut types, &attribute_votes);
        colours(f, options, &mut types);
        if round + 1 < ROUNDS {
            demand(f, &types, votes, round);
        }
    }
    types
}

fn inst_is_attribute(f: &Function, vector: Value, stage: Stage) -> bool {
    stage == Stage::Vertex && f.inst(vector).op == Op::LoadInput
}

/// Decides the attributes' types and gives them to their loads and components.
fn attributes(f: &mut Function, stage: Stage, options: &Options, types: &mut Types, votes: &[i32; 32]) {
    if stage != Stage::Vertex {
        types.inputs = [AttributeType::Float; 32];
        return;
    }
    for (location, t) in types.inputs.iter_mut().enumerate() {
        *t = match options.attribute_types[location] {
            AttributeType::Infer if votes[location] < 0 => AttributeType::Uint,
            AttributeType::Infer => AttributeType::Float,
            told => told,
        };
    }
    for at in 0..f.order.len() {
        let v = f.order[at];
        let inst = *f.inst(v);
        if inst.op == Op::LoadInput {
            let float = types.inputs[inst.args[0] as usize & 31] == AttributeType::Float;
            f.types[v.index()] = if float { WordType::Float } else { WordType::Uint };
        } else if inst.op == Op::Extract {
            let vector = f.resolve(Value(inst.args[0]));
            f.types[v.index()] = f.types[vector.index()];
        }
    }
}

/// Decides the colours' types.
fn colours(f: &Function, options: &Options, types: &mut Types) {
    let mut votes = [0i32; 8];
    for &v in &f.order {
        let inst = f.inst(v);
        if inst.op != Op::StoreColour {
            continue;
        }
        f.operands(v, |arg, _| {
            let arg = f.resolve(arg);
            if f.inst(arg).op != Op::Const {
                votes[inst.args[0] as usize & 7] += if f.types[arg.index()] == WordType::Float { 1 } else { -1 };
            }
        });
    }
    for (location, t) in types.colours.iter_mut().enumerate() {
        *t = match options.colour_types[location] {
            AttributeType::Infer if votes[location] < 0 => AttributeType::Uint,
            AttributeType::Infer => AttributeType::Float,
            told => told,
        };
    }
}

/// Adds the demands of readers that may be either, once their type is known: phis, selects, colour stores.
fn demand(f: &Function, types: &Types, votes: &mut [i32], round: usize) {
    if round != 0 {
        return;
    }
    for &v in &f.order {
        if !f.live[v.index()] || f.alias[v.index()] != v {
            continue;
        }
        let inst = f.inst(v);
        let wants = match inst.op {
            Op::Phi | Op::Select | Op::QuadSwap | Op::QuadBroadcast | Op::Shuffle => f.types[v.index()],
            Op::StoreColour if types.colours[inst.args[0] as usize & 7] == AttributeType::Float => WordType::Float,
            Op::StoreColour => WordType::Uint,
            _ => continue,
        };
        f.operands(v, |arg, class| {
            if class == Class::P {
                let arg = f.resolve(arg);
                votes[arg.index()] += if wants == WordType::Float { 1 } else { -1 };
            }
        });
    }
}
