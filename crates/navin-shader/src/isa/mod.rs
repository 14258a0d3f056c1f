//! The Maxwell instruction set: words to rows of the generated table, rows to named fields.
//!
//! [`Instr`] is a word with its row; [`Instr::get`] reads a field by name in constant time, whatever form the
//! instruction has, so that the lowering is written once an instruction and not once a form.

pub mod disasm;
pub mod names;
pub mod table;

use table::{FIELD_NAMES, OP_NAMES, ROWS};
pub use table::{Field, Form, Op};

/// One instruction form.
#[derive(Debug)]
pub struct Row {
    /// Instruction.
    pub op: Op,
    /// Operand shape.
    pub form: Form,
    /// A word `w` is this form when `w & mask == value`.
    pub mask: u64,
    /// See `mask`.
    pub value: u64,
    /// Name, lowest bit, width.
    pub fields: &'static [(Field, u8, u8)],
}

const ROW_COUNT: usize = ROWS.len();
const FIELD_COUNT: usize = FIELD_NAMES.len();
/// Words are sorted into heads by their bits 51 to 63.
const HEADS: usize = 1 << 13;

/// Place of every field in every row: lowest bit and width; width 0 where the row has no such field.
static PLACES: [[(u8, u8); FIELD_COUNT]; ROW_COUNT] = places();

const fn places() -> [[(u8, u8); FIELD_COUNT]; ROW_COUNT] {
    let mut out = [[(0, 0); FIELD_COUNT]; ROW_COUNT];
    let mut r = 0;
    while r < ROW_COUNT {
        let fields = ROWS[r].fields;
        let mut f = 0;
        while f < fields.len() {
            out[r][fields[f].0 as usize] = (fields[f].1, fields[f].2);
            f += 1;
        }
        r += 1;
    }
    out
}

/// Rows by head: `STARTS[h]..STARTS[h + 1]` of `CANDIDATES`.
static STARTS: [u16; HEADS + 1] = INDEX.0;
static CANDIDATES: [u16; CANDIDATE_LIMIT] = INDEX.1;
const CANDIDATE_LIMIT: usize = 8192;
const INDEX: ([u16; HEADS + 1], [u16; CANDIDATE_LIMIT]) = index();

const fn index() -> ([u16; HEADS + 1], [u16; CANDIDATE_LIMIT]) {
    let mut starts = [0u16; HEADS + 1];
    let mut candidates = [0u16; CANDIDATE_LIMIT];
    let mut pass = 0;
    let mut next = [0u16; HEADS];
    while pass < 2 {
        let mut r = 0;
        while r < ROW_COUNT {
            let mask = (ROWS[r].mask >> 51) as usize;
            let value = (ROWS[r].value >> 51) as usize;
            let free = !mask & (HEADS - 1);
            // Every subset of the free bits, from all of them down to none.
            let mut sub = free;
            loop {
                let head = value | sub;
                if pass == 0 {
                    starts[head + 1] += 1;
                } else {
                    candidates[next[head] as usize] = r as u16;
                    next[head] += 1;
                }
                if sub == 0 {
                    break;
                }
                sub = (sub - 1) & free;
            }
            r += 1;
        }
        if pass == 0 {
            let mut h = 0;
            while h < HEADS {
                starts[h + 1] += starts[h];
                next[h] = starts[h];
                h += 1;
            }
        }
        pass += 1;
    }
    (starts, candidates)
}

/// A decoded instruction word.
#[derive(Clone, Copy, Debug)]
pub struct Instr {
    /// The word.
    pub word: u64,
    /// Byte offset in the code.
    pub offset: u32,
    row: u16,
    /// The instruction.
    pub op: Op,
}

/// The instruction of `word` at byte `offset` of the code; `None` when no row matches.
pub fn decode(word: u64, offset: u32) -> Option<Instr> {
    let head = (word >> 51) as usize;
    let range = STARTS[head] as usize..STARTS[head + 1] as usize;
    let row = CANDIDATES[range].iter().copied().find(|&r| {
        let row = &ROWS[r as usize];
        word & row.mask == row.value
    })?;
    Some(Instr { word, offset, row, op: ROWS[row as usize].op })
}

/// How many rows match `word`: 1 for every valid word, 0 for others.
pub fn matches(word: u64) -> usize {
    ROWS.iter().filter(|r| word & r.mask == r.value).count()
}

/// Reads the word of the slot at byte `offset`; `None` past the end.
pub fn word_at(code: &[u8], offset: u32) -> Option<u64> {
    let b = code.get(offset as usize..offset as usize + 8)?;
    Some(u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]))
}

impl Instr {
    /// Value of `field`, 0 where the form has none.
    #[inline]
    pub fn get(&self, field: Field) -> u32 {
        let (lo, width) = PLACES[self.row as usize][field as usize];
        ((self.word >> lo) & ((1u64 << width) - 1)) as u32
    }

    /// Whether the form has `field`.
    #[inline]
    pub fn has(&self, field: Field) -> bool {
        PLACES[self.row as usize][field as usize].1 != 0
    }

    /// Whether the one-bit `field` is set.
    #[inline]
    pub fn flag(&self, field: Field) -> bool {
        self.get(field) != 0
    }

    /// Value of `field`, sign-extended from its width.
    #[inline]
    pub fn signed(&self, field: Field) -> i32 {
        let (_, width) = PLACES[self.row as usize][field as usize];
        if width == 0 {
            return 0;
        }
        let shift = 32 - u32::from(width);
        ((self.get(field) << shift) as i32) >> shift
    }

    /// Operand shape.
    pub fn form(&self) -> Form {
        ROWS[self.row as usize].form
    }

    /// Fields of the form, in the table's order.
    pub fn fields(&self) -> &'static [(Field, u8, u8)] {
        ROWS[self.row as usize].fields
    }

    /// Mnemonic.
    pub fn name(&self) -> &'static str {
        OP_NAMES[self.op as usize]
    }

    /// The 20-bit immediate of operand b, sign-extended: the integer reading.
    pub fn imm20(&self) -> i32 {
        ((self.get(Field::Immsign) << 31) as i32) >> 12 | self.get(Field::Imm19) as i32
    }

    /// Guard predicate and its inversion; (7, false) where the form has none.
    pub fn guard(&self) -> (u32, bool) {
        if self.has(Field::Pg) { (self.get(Field::Pg), self.flag(Field::Pgn)) } else { (7, false) }
    }
}

/// Target of a relative jump: the address of the next slot plus the distance; the first instruction of a group
/// where that is a scheduling word. `None` where it leaves the address space.
pub fn relative_target(offset: u32, distance: i32) -> Option<u32> {
    let target = offset.checked_add(8)?.checked_add_signed(distance)?;
    Some(normalise(target))
}

/// The instruction that a jump to `offset` means: jumps to a scheduling word mean the slot behind it.
pub fn normalise(offset: u32) -> u32 {
    if offset.is_multiple_of(32) { offset + 8 } else { offset }
}

/// The slot behind `offset`, scheduling words skipped.
pub fn next_slot(offset: u32) -> u32 {
    normalise(offset + 8)
}
