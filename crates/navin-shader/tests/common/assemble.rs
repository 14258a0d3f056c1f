//! Guest programs put together from single instructions.
#![allow(dead_code, reason = "each test binary uses a part")]

use navin_shader::isa::table::{FIELD_NAMES, Field, Form, OP_NAMES, Op, ROWS};

/// Assembles one word: the row of `op` and `form`, guard true, the given fields.
pub fn word(op: Op, form: Form, fields: &[(Field, u32)]) -> u64 {
    let row = ROWS.iter().find(|r| r.op == op && r.form == form);
    let row = row.unwrap_or_else(|| panic!("no row of {} {form:?}", OP_NAMES[op as usize]));
    let mut word = row.value;
    let put = |word: &mut u64, field: Field, value: u32| {
        let place = row.fields.iter().find(|f| f.0 == field);
        let &(_, low, width) = place.unwrap_or_else(|| panic!("no field {}", FIELD_NAMES[field as usize]));
        assert!(u64::from(value) < 1 << width, "{} of {value:#x}", FIELD_NAMES[field as usize]);
        *word |= u64::from(value) << low;
    };
    for (field, value) in [(Field::Pg, 7), (Field::Pd, 7), (Field::Pdn, 7), (Field::Ps, 7), (Field::Qmask, 15)] {
        let named = fields.iter().any(|f| f.0 == field);
        if !named && row.fields.iter().any(|f| f.0 == field) {
            put(&mut word, field, value);
        }
    }
    for &(field, value) in fields {
        put(&mut word, field, value);
    }
    word
}

/// A compute program of these instructions, one invocation a workgroup: its control section and its GPU part. The
/// instructions should end in EXIT.
pub fn compute(words: &[u64]) -> (Vec<u8>, Vec<u8>) {
    let mut code = Vec::new();
    for word in words {
        // Three instructions follow one word of scheduling.
        if code.len() % 32 == 0 {
            code.extend_from_slice(&[0; 8]);
        }
        code.extend_from_slice(&word.to_le_bytes());
    }
    let mut control = vec![0u8; 1992];
    let mut put = |at: usize, word: u32| control[at..at + 4].copy_from_slice(&word.to_le_bytes());
    put(0, 0x9876_1234);
    put(0x6F8, 0x50 + code.len() as u32);
    put(0x708, 0x30);
    put(0x714, 5);
    let mut gpu = vec![0u8; 0x80];
    gpu[..4].copy_from_slice(&0x1234_5678u32.to_le_bytes());
    gpu.extend_from_slice(&code);
    (control, gpu)
}
