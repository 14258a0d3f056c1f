//! DKSH, the container of the open homebrew toolchain: a control section of program records, then a code section.
//!
//! ```text
//! header    "DKSH", its size, size of the control section, size of the code section, offset and number of the records
//! record    64 bytes: stage, entry point, registers, offset and size of the constants, scratch of a warp, then by
//!           stage; fragment: bytes at 24 (a table is there, early tests, coverage after depth, once a sample); compute:
//!           words at 24 (three sizes of the workgroup, shared memory, local memory twice, stack, barriers)
//! ```
//!
//! Offsets of a record count from the code section. The entry point of a graphics program is its program header, with
//! the machine code behind it; that of a compute program is its machine code.

use super::{CODE_LIMIT, GuestProgram, ProgramError, ProgramHeader, Stage, program_key, word};

/// First word of a file.
pub const DKSH_MAGIC: u32 = u32::from_le_bytes(*b"DKSH");
const HEADER: usize = 24;
const RECORD: usize = 64;
/// Programs of a file; the toolchain writes one.
const PROGRAMS: usize = 4096;
const PROGRAM_HEADER: usize = 0x50;

/// Where things lie in a file.
struct Sections<'a> {
    records: &'a [u8],
    code: &'a [u8],
}

fn sections(bytes: &[u8]) -> Result<Sections<'_>, ProgramError> {
    if bytes.len() < HEADER {
        return Err(ProgramError::Dksh("the file is shorter than its header"));
    }
    if word(bytes, 0) != DKSH_MAGIC {
        return Err(ProgramError::Dksh("the file does not begin with DKSH"));
    }
    let at = |n: usize| word(bytes, 4 * n) as usize;
    let (control, code, records, count) = (at(2), at(3), at(4), at(5));
    if count > PROGRAMS {
        return Err(ProgramError::Dksh("the file has more than 4096 programs"));
    }
    if code > CODE_LIMIT {
        return Err(ProgramError::Dksh("the code section has more than 16 MB"));
    }
    let code = control.checked_add(code).and_then(|end| bytes.get(control..end));
    let code = code.ok_or(ProgramError::Dksh("the file is shorter than its sections"))?;
    let end = count.checked_mul(RECORD).and_then(|n| n.checked_add(records)).filter(|&end| end <= control);
    let records = end.and_then(|end| bytes.get(records..end));
    let records = records.ok_or(ProgramError::Dksh("its program records end behind its control section"))?;
    Ok(Sections { records, code })
}

/// How many programs a DKSH file has.
///
/// # Errors
/// The file is none, or its sections lie outside of it.
pub fn dksh_count(bytes: &[u8]) -> Result<usize, ProgramError> {
    Ok(sections(bytes)?.records.len() / RECORD)
}

impl<'a> GuestProgram<'a> {
    /// Program `index` of a DKSH file.
    ///
    /// # Errors
    /// The file is none, has no such program, or what it says of it contradicts itself. Never panics.
    pub fn parse_dksh(bytes: &'a [u8], index: usize) -> Result<GuestProgram<'a>, ProgramError> {
        let Sections { records, code } = sections(bytes)?;
        let record = records.chunks_exact(RECORD).nth(index);
        let record = record.ok_or(ProgramError::Dksh("there is no program of that number"))?;
        let at = |offset: usize| word(record, offset);
        let stage = Stage::from_control(at(0)).ok_or(ProgramError::Stage(at(0)))?;
        let (compute, fragment) = (stage == Stage::Compute, stage == Stage::Fragment);
        let entry = at(4) as usize;
        let (constants_at, size) = (at(12) as usize, at(16) as usize);
        let constants = match size {
            0 => &[][..],
            _ => constants_at
                .checked_add(size)
                .and_then(|end| code.get(constants_at..end))
                .ok_or(ProgramError::Dksh("a program's constants lie outside of the code section"))?,
        };
        // To the next thing that any record names.
        let ends = records.chunks_exact(RECORD).flat_map(|r| [(4, true), (12, word(r, 16) != 0)].map(|f| (r, f)));
        let ends = ends.filter(|(_, (_, there))| *there).map(|(r, (at, _))| word(r, at) as usize);
        let end = ends.filter(|&e| e > entry).min().unwrap_or(code.len()).min(code.len());
        let machine = if compute { Some(entry) } else { entry.checked_add(PROGRAM_HEADER) };
        let machine = machine.and_then(|from| code.get(from..end));
        let machine = machine.ok_or(ProgramError::Dksh("a program's code lies outside of the code section"))?;
        let zeros = [0; PROGRAM_HEADER];
        let header = if compute { &zeros[..] } else { &code[entry..entry + PROGRAM_HEADER] };
        let header = ProgramHeader::parse(header, stage);
        let flag = |offset: usize| fragment && record.get(offset).is_some_and(|&b| b != 0);
        let local = if compute { at(40).saturating_add(at(44)) } else { header.local_bytes() };
        let colours = (0..8).filter(|&n| header.colour_mask(n) != 0).max().map_or(0, |n| n + 1);
        Ok(GuestProgram {
            stage,
            writes_depth: header.writes_depth(),
            header,
            code: &machine[..machine.len() & !7],
            constants,
            constants_offset: constants_at as u32,
            registers: at(8).min(255),
            warp_scratch_bytes: at(20),
            local_bytes: local.min(512 << 10),
            local_size: if compute { [24, 28, 32].map(|o| at(o).clamp(1, 1024)) } else { [1; 3] },
            shared_bytes: if compute { at(36).min(64 << 10) } else { 0 },
            early_fragment_tests: flag(25),
            per_sample: flag(27),
            colour_outputs: if fragment { colours } else { 0 },
            has_barriers: compute && at(52) != 0,
            key: program_key(record, &code[entry.min(end)..end]),
        })
    }
}
