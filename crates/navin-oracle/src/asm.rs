//! Words from the instruction table, and the container that a guest would hand over.

use navin_shader::isa::table::{FIELD_NAMES, Field, Form, OP_NAMES, Op, ROWS};

/// Bytes of a control section.
const CONTROL_BYTES: usize = 1992;
/// Offset of the machine code in the GPU program.
const CODE_START: usize = 0x80;

/// The word of `op` in `form` with the given fields.
///
/// Fields that are not given are 0, but for those whose idle value is another: predicates are PT, the quad mask of
/// moves is full, conditions are true.
///
/// # Panics
/// For a form that the table lacks, and fields that it lacks or that are too wide: programs are made by tests.
pub fn word(op: Op, form: Form, fields: &[(Field, u32)]) -> u64 {
    let row = ROWS.iter().find(|r| r.op == op && r.form == form);
    let row = row.unwrap_or_else(|| panic!("no row of {} {form:?}", OP_NAMES[op as usize]));
    let mut word = row.value;
    let mut put = |field: Field, value: u32| {
        let place = row.fields.iter().find(|f| f.0 == field);
        let &(_, low, width) = place.unwrap_or_else(|| {
            panic!("{} {form:?} has no field {}", OP_NAMES[op as usize], FIELD_NAMES[field as usize])
        });
        assert!(u64::from(value) < 1 << width, "{} of {value:#x}", FIELD_NAMES[field as usize]);
        word |= u64::from(value) << low;
    };
    const IDLE: [(Field, u32); 7] = [
        (Field::Pg, 7),
        (Field::Pd, 7),
        (Field::Pdn, 7),
        (Field::Ps, 7),
        (Field::Qmask, 15),
        (Field::Cond, 15),
        (Field::Pb, 7),
    ];
    for (field, value) in IDLE {
        let given = fields.iter().any(|f| f.0 == field);
        // PSETP's second source is a predicate; IADD3's selector of the same name is no predicate, nor is IPA's PDN.
        let idle = match field {
            Field::Pb => matches!(op, Op::Pset | Op::Psetp),
            Field::Pdn => op != Op::Ipa,
            _ => true,
        };
        if !given && idle && row.fields.iter().any(|f| f.0 == field) {
            put(field, value);
        }
    }
    for &(field, value) in fields {
        put(field, value);
    }
    word
}

/// Code under construction: instruction words, without the scheduling words between them.
#[derive(Clone, Debug, Default)]
pub struct Assembler {
    words: Vec<u64>,
}

impl Assembler {
    /// No code.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends an instruction.
    pub fn op(&mut self, op: Op, form: Form, fields: &[(Field, u32)]) -> &mut Self {
        self.words.push(word(op, form, fields));
        self
    }

    /// Appends a word as it is.
    pub fn raw(&mut self, word: u64) -> &mut Self {
        self.words.push(word);
        self
    }

    /// Index of the next instruction, for [`Assembler::branch`].
    pub fn here(&self) -> usize {
        self.words.len()
    }

    /// Appends a jump-type instruction whose target is instruction `target` (which may come later).
    pub fn branch(&mut self, op: Op, target: usize, fields: &[(Field, u32)]) -> &mut Self {
        let distance = Self::offset(target) as i32 - (Self::offset(self.here()) as i32 + 8);
        let mut all = vec![(Field::Rel24, distance as u32 & 0xFF_FFFF)];
        all.extend_from_slice(fields);
        self.op(op, Form::J, &all)
    }

    /// Byte offset of instruction `index`: each group of three follows a scheduling word.
    pub fn offset(index: usize) -> usize {
        8 * (index + index / 3 + 1)
    }

    /// The machine code, scheduling words included.
    pub fn code(&self) -> Vec<u8> {
        let mut code = Vec::new();
        for word in &self.words {
            if code.len().is_multiple_of(32) {
                code.extend_from_slice(&[0; 8]);
            }
            code.extend_from_slice(&word.to_le_bytes());
        }
        code
    }

    /// Control section and GPU program of a compute program with this code.
    pub fn compute(&self, local_size: [u32; 3], shared_bytes: u32, local_bytes: u32) -> (Vec<u8>, Vec<u8>) {
        self.compute_with(local_size, shared_bytes, local_bytes, &[])
    }

    /// The same with constant data (bank 1).
    pub fn compute_with(
        &self,
        local_size: [u32; 3],
        shared_bytes: u32,
        local_bytes: u32,
        constants: &[u32],
    ) -> (Vec<u8>, Vec<u8>) {
        let code = self.code();
        let mut control = vec![0u8; CONTROL_BYTES];
        let mut put = |at: usize, word: u32| control[at..at + 4].copy_from_slice(&word.to_le_bytes());
        put(0, 0x9876_1234);
        put(0x6F8, (CODE_START - 0x30 + code.len()) as u32);
        put(0x708, 0x30);
        put(0x70C, 255);
        put(0x714, 5);
        for (at, size) in [0x748, 0x74C, 0x750].into_iter().zip(local_size) {
            put(at, size);
        }
        put(0x754, shared_bytes);
        put(0x758, local_bytes);
        let mut gpu = vec![0u8; CODE_START];
        gpu[..4].copy_from_slice(&0x1234_5678u32.to_le_bytes());
        gpu.extend_from_slice(&code);
        if !constants.is_empty() {
            gpu.resize(gpu.len().next_multiple_of(256), 0);
            put(0x700, gpu.len() as u32);
            put(0x6FC, 4 * constants.len() as u32);
            gpu.extend(constants.iter().flat_map(|w| w.to_le_bytes()));
        }
        (control, gpu)
    }
}
