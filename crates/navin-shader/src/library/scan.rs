//! Finds programs in the bytes of any file: containers of engines hold control sections and GPU programs as they are.
//!
//! A control section is taken for one only when all of its record holds together: both magics, a stage, sizes and
//! offsets that lie inside each other and inside the file, and a GPU program to which it belongs (B510). What looks like
//! the beginning of one *inside* a record that was accepted is part of that record.

use std::ops::Range;

use crate::program::{CODE_MAGIC, CONTROL_MAGIC};
use crate::{GuestProgram, Stage, code_size};

/// Bytes of a control section as SDKs hand it out.
const CONTROL_BYTES: usize = 0x7C8;

/// A program that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its control section in the file.
    pub control: Range<usize>,
    /// Its GPU program in the file.
    pub code: Range<usize>,
    /// Its stage.
    pub stage: Stage,
    /// Its key.
    pub key: u64,
}

/// The programs of a file, in the order of their control sections. Records lie at multiples of 4 bytes.
///
/// Each control section belongs to the first GPU program that fits it and that no other has taken: containers that keep
/// both in the same order are read right, whatever lies between them. Linear in the size of the file but for GPU
/// programs that fit no control section.
pub fn scan(bytes: &[u8]) -> Vec<Entry> {
    let places = |magic: u32| {
        let magic = magic.to_le_bytes();
        bytes.chunks_exact(4).enumerate().filter(move |(_, word)| *word == magic).map(|(n, _)| 4 * n)
    };
    let mut codes: Vec<usize> = places(CODE_MAGIC).collect();
    let mut found: Vec<Entry> = Vec::new();
    let mut end = 0;
    for at in places(CONTROL_MAGIC) {
        // Words of a record that was accepted begin no other.
        let Some(control) = bytes.get(at..at + CONTROL_BYTES).filter(|_| at >= end) else { continue };
        let Ok(size) = code_size(control) else { continue };
        let fits = |&place: &usize| {
            let inside = found.iter().any(|e| e.code.contains(&place) || e.control.contains(&place));
            let own = (at..at + CONTROL_BYTES).contains(&place);
            let code = bytes.get(place..place.checked_add(size)?)?;
            let program = GuestProgram::parse(control, code).ok().filter(|_| !inside && !own)?;
            plausible(&program).then_some((place, program.stage, program.key))
        };
        let Some((n, (place, stage, key))) = codes.iter().enumerate().find_map(|(n, place)| Some((n, fits(place)?)))
        else {
            continue;
        };
        codes.remove(n);
        end = at + CONTROL_BYTES;
        found.push(Entry { control: at..end, code: place..place + size, stage, key });
    }
    found
}

/// Does the code begin as machine code does: a word of scheduling, and an instruction behind it?
fn plausible(program: &GuestProgram<'_>) -> bool {
    let first = crate::isa::word_at(program.code, 8);
    first.is_some_and(|word| crate::isa::decode(word, 8).is_some()) && stage_agrees(program)
}

/// Does the program header name the stage that the control section does? Compute programs have no header.
fn stage_agrees(program: &GuestProgram<'_>) -> bool {
    let kind = program.header.words()[0];
    let (header_type, stage) = (kind & 0x1F, kind >> 10 & 0xF);
    match program.stage {
        Stage::Compute => true,
        Stage::Fragment => kind == 0 || header_type == 2 && stage == 5,
        Stage::Vertex => kind == 0 || header_type == 1 && stage == 1,
        Stage::TessControl => kind == 0 || header_type == 1 && stage == 2,
        Stage::TessEvaluation => kind == 0 || header_type == 1 && stage == 3,
        Stage::Geometry => kind == 0 || header_type == 1 && stage == 4,
    }
}
