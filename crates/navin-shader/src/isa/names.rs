//! Names for listings: of attributes, special registers, modifiers' values, and words of the driver's constants.
//!
//! Names follow `facts/maxwell_encodings.md`; what has none is shown as a number.

use super::{Field, Instr, Op};
use crate::{ConstantLayoutTable, Stage};

/// The attribute at byte address `at`: `position.x`, `generic 3.w`.
pub fn attribute(at: u32) -> Option<String> {
    let part = |first: u32| ["x", "y", "z", "w"][((at - first) / 4 % 4) as usize];
    Some(match at {
        0x000..=0x00C => format!("outer level {}", at / 4),
        0x010 | 0x014 => format!("inner level {}", (at - 0x10) / 4),
        0x020..=0x05C => format!("patch {}.{}", (at - 0x20) / 16, part(0x20)),
        0x060 => "primitive id".into(),
        0x064 => "layer".into(),
        0x068 => "viewport".into(),
        0x06C => "point size".into(),
        0x070..=0x07C => format!("position.{}", part(0x70)),
        0x080..=0x27C => format!("generic {}.{}", (at - 0x80) / 16, part(0x80)),
        0x280..=0x28C => format!("front diffuse.{}", part(0x280)),
        0x290..=0x29C => format!("front specular.{}", part(0x290)),
        0x2A0..=0x2AC => format!("back diffuse.{}", part(0x2A0)),
        0x2B0..=0x2BC => format!("back specular.{}", part(0x2B0)),
        0x2C0..=0x2DC => format!("clip distance {}", (at - 0x2C0) / 4),
        0x2E0 => "point coordinate.s".into(),
        0x2E4 => "point coordinate.t".into(),
        0x2E8 => "fog".into(),
        0x2F0 => "tessellation coordinate.u".into(),
        0x2F4 => "tessellation coordinate.v".into(),
        0x2F8 => "instance id".into(),
        0x2FC => "vertex id".into(),
        0x300..=0x39C => format!("fixed coordinate {}.{}", (at - 0x300) / 16, part(0x300)),
        0x3A0 => "viewport mask".into(),
        0x3FC => "front facing".into(),
        _ => return None,
    })
}

/// The special register of that number.
pub fn special_register(n: u32) -> Option<&'static str> {
    Some(match n {
        0 => "LANEID",
        1 => "CLOCK",
        16 => "PRIM_TYPE",
        17 => "INVOCATION_ID",
        18 => "Y_DIRECTION",
        19 => "THREAD_KILL",
        20 => "SHADER_TYPE",
        29 => "INVOCATION_INFO",
        30 => "WSCALEFACTOR_XY",
        31 => "WSCALEFACTOR_Z",
        32 => "TID",
        33 => "TID.X",
        34 => "TID.Y",
        35 => "TID.Z",
        36 => "CTA_PARAM",
        37 => "CTAID.X",
        38 => "CTAID.Y",
        39 => "CTAID.Z",
        40 => "NTID",
        48 => "SWINLO",
        49 => "SWINSZ",
        50 => "SMEMSZ",
        51 => "SMEMBANKS",
        52 => "LWINLO",
        53 => "LWINSZ",
        54 => "LMEMLOSZ",
        55 => "LMEMHIOFF",
        56 => "EQMASK",
        57 => "LTMASK",
        58 => "LEMASK",
        59 => "GTMASK",
        60 => "GEMASK",
        61 => "REGALLOC",
        80 => "CLOCKLO",
        81 => "CLOCKHI",
        82 => "GLOBALTIMERLO",
        83 => "GLOBALTIMERHI",
        _ => return None,
    })
}

/// The value of a modifier by name; empty for one that goes without saying.
pub fn modifier(instr: &Instr, field: Field, value: u32) -> Option<&'static str> {
    let pick = |names: &[&'static str]| names.get(value as usize).copied();
    match (field, instr.op) {
        (Field::Op, Op::Mufu) => pick(&["cos", "sin", "ex2", "lg2", "rcp", "rsq", "rcp64h", "rsq64h", "sqrt"]),
        (Field::Cmp, Op::Isetp | Op::Iset | Op::Icmp) => pick(&["f", "lt", "eq", "le", "gt", "ne", "ge", "t"]),
        (Field::Cmp, Op::Fsetp | Op::Fset | Op::Fcmp | Op::Dsetp | Op::Dset) => pick(&[
            "f", "lt", "eq", "le", "gt", "ne", "ge", "num", "nan", "ltu", "equ", "leu", "gtu", "neu", "geu", "t",
        ]),
        (Field::Fmz, _) => pick(&["", "ftz", "fmz"]),
        (Field::Op, Op::Lop | Op::Lop32i) => pick(&["and", "or", "xor", "pass_b"]),
        (Field::Bop, _) => pick(&["and", "or", "xor"]),
        (Field::Rnd, _) => pick(&["", "rm", "rp", "rz"]),
        (Field::Size, Op::Ldg | Op::Stg | Op::Lds | Op::Sts | Op::Ldl | Op::Stl | Op::Ld | Op::St | Op::Ldc) => {
            pick(&["u8", "s8", "u16", "s16", "", "64", "128", "u.128"])
        }
        (Field::Mode, Op::Ipa) => pick(&["pass", "multiply", "constant", "sc"]),
        (Field::Sample, Op::Ipa) => pick(&["", "centroid", "offset"]),
        (Field::Cond, _) if value == 15 => Some(""),
        (Field::Qmask, _) if value == 15 => Some(""),
        _ => None,
    }
}

/// What the driver (or the program) keeps at a place of a constant bank.
pub fn constant(layout: &ConstantLayoutTable, stage: Stage, bank: u32, at: u32) -> Option<String> {
    let word = at / 4;
    let step = |first: u32, stride: u32, count: u32| {
        let n = word.checked_sub(first)? / stride.max(1);
        (n < count && (word - first).is_multiple_of(stride.max(1))).then_some(n)
    };
    if bank == 0 {
        let table = layout.storage_table(stage);
        if at >= table && at < table + 16 * layout.storage_slots {
            let part = ["address", "address, high", "size", "unused"][((at - table) / 4 % 4) as usize];
            return Some(format!("storage {}: {part}", (at - table) / 16));
        }
        if stage == Stage::Vertex {
            for (place, name) in [
                (layout.base_vertex, "base vertex"),
                (layout.base_instance, "base instance"),
                (layout.draw_index, "draw index"),
            ] {
                if at == place {
                    return Some(name.into());
                }
            }
        }
        if stage == Stage::Compute
            && let Some(n) = layout.workgroup_count.and_then(|c| c.iter().position(|&c| c == at))
        {
            return Some(format!("workgroups.{}", ["x", "y", "z"][n]));
        }
    }
    if bank == layout.image_bank
        && let Some(n) = step(layout.image_first_word, 1, 8)
    {
        return Some(format!("image {n}"));
    }
    if bank == layout.texture_bank
        && let Some(n) = step(layout.texture_first_word, layout.texture_word_stride, 32)
    {
        return Some(format!("texture {n}"));
    }
    (3..17).contains(&bank).then(|| format!("uniform block {}", bank - 3))
}
