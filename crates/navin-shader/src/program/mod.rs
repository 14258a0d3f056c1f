//! The program container: an NVN control section beside an NVN GPU program.
//!
//! A guest's compiler hands out two pieces. The *control section* stays on the CPU and says how large things are;
//! the *GPU program* lies in a memory pool: a record of 0x30 bytes, the program header (graphics stages) and, from
//! 0x80 on, the machine code, then constant data that the driver binds as constant bank 1. [`GuestProgram::parse`]
//! borrows both and checks every size, so that the later steps can index freely.

mod dksh;
mod sph;

pub use dksh::{DKSH_MAGIC, dksh_count};
pub use sph::{Interpolation, ProgramHeader};

use std::fmt;

/// First word of a control section.
pub const CONTROL_MAGIC: u32 = 0x9876_1234;
/// First word of a GPU program.
pub const CODE_MAGIC: u32 = 0x1234_5678;
/// Byte offset of the machine code in a GPU program; it is a scheduling word.
pub const CODE_START: usize = 0x80;
/// Smallest control section that has every field that is read here.
const CONTROL_MIN: usize = 0x768;
/// Larger GPU programs are refused: no code that the platform runs comes near.
const CODE_LIMIT: usize = 16 << 20;

/// The pipeline stage of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Vertex.
    Vertex,
    /// Tessellation control.
    TessControl,
    /// Tessellation evaluation.
    TessEvaluation,
    /// Geometry.
    Geometry,
    /// Fragment.
    Fragment,
    /// Compute.
    Compute,
}

impl Stage {
    /// All stages, in pipeline order.
    pub const ALL: [Stage; 6] =
        [Stage::Vertex, Stage::TessControl, Stage::TessEvaluation, Stage::Geometry, Stage::Fragment, Stage::Compute];

    /// The descriptor set that holds this stage's constants, banks and storage buffers.
    pub fn descriptor_set(self) -> u32 {
        match self {
            Stage::Vertex | Stage::Compute => 1,
            Stage::TessControl => 2,
            Stage::TessEvaluation => 3,
            Stage::Geometry => 4,
            Stage::Fragment => 5,
        }
    }

    /// Stage of a control section's word 0x714.
    fn from_control(word: u32) -> Option<Stage> {
        Some(match word {
            0 => Stage::Vertex,
            1 => Stage::Fragment,
            2 => Stage::Geometry,
            3 => Stage::TessControl,
            4 => Stage::TessEvaluation,
            5 => Stage::Compute,
            _ => return None,
        })
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Vertex => "vertex",
            Stage::TessControl => "tessellation control",
            Stage::TessEvaluation => "tessellation evaluation",
            Stage::Geometry => "geometry",
            Stage::Fragment => "fragment",
            Stage::Compute => "compute",
        })
    }
}

/// Why a control section and GPU program are not a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// The control section is shorter than its fields.
    #[error("control section of {0} bytes is too short")]
    ControlTooShort(usize),
    /// The control section does not begin with [`CONTROL_MAGIC`].
    #[error("control section begins with {0:#010x}, not 0x98761234")]
    ControlMagic(u32),
    /// The GPU program is shorter than the control section says.
    #[error("GPU program of {have} bytes is shorter than the {need} bytes that its control section names")]
    CodeTooShort {
        /// Bytes given.
        have: usize,
        /// Bytes named.
        need: usize,
    },
    /// The GPU program does not begin with [`CODE_MAGIC`].
    #[error("GPU program begins with {0:#010x}, not 0x12345678")]
    CodeMagic(u32),
    /// The control section names no known stage.
    #[error("stage {0} is not one of 0 to 5")]
    Stage(u32),
    /// Sizes or offsets of the control section contradict each other.
    #[error("control section's sizes contradict each other at offset {0:#x}")]
    Sizes(u32),
    /// A DKSH file that is none, or is damaged.
    #[error("DKSH: {0}")]
    Dksh(&'static str),
}

/// A parsed program; borrows the control section and the GPU program.
#[derive(Clone, Debug)]
pub struct GuestProgram<'a> {
    /// Pipeline stage.
    pub stage: Stage,
    /// Program header; for compute programs its bit maps are empty.
    pub header: ProgramHeader,
    /// Machine code, first byte = first scheduling word, a multiple of 8 bytes long.
    pub code: &'a [u8],
    /// Constant data: content of constant bank 1.
    pub constants: &'a [u8],
    /// Byte offset of the constant data in the GPU program.
    pub constants_offset: u32,
    /// Registers: highest used plus 1.
    pub registers: u32,
    /// Scratch bytes for one warp.
    pub warp_scratch_bytes: u32,
    /// Local memory bytes of one thread.
    pub local_bytes: u32,
    /// Workgroup size (compute), else 1, 1, 1.
    pub local_size: [u32; 3],
    /// Shared memory bytes of a workgroup (compute).
    pub shared_bytes: u32,
    /// Fragment: depth and stencil tests run before the program.
    pub early_fragment_tests: bool,
    /// Fragment: the program writes depth.
    pub writes_depth: bool,
    /// Fragment: the program runs once a sample.
    pub per_sample: bool,
    /// Fragment: number of colour outputs (a second dual-source output counts).
    pub colour_outputs: u32,
    /// Compute: the program has barriers.
    pub has_barriers: bool,
    /// Content hash: see [`program_key`].
    pub key: u64,
}

/// Little-endian word at `offset`, which the caller has checked to lie inside.
fn word(bytes: &[u8], offset: usize) -> u32 {
    match bytes.get(offset..offset + 4) {
        Some(b) => u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
        None => 0,
    }
}

/// Checks what [`code_size`] and [`GuestProgram::parse`] both need of a control section.
fn check_control(control: &[u8]) -> Result<(), ProgramError> {
    if control.len() < 4 {
        return Err(ProgramError::ControlTooShort(control.len()));
    }
    let magic = word(control, 0);
    if magic != CONTROL_MAGIC {
        return Err(ProgramError::ControlMagic(magic));
    }
    if control.len() < CONTROL_MIN {
        return Err(ProgramError::ControlTooShort(control.len()));
    }
    Ok(())
}

/// How many bytes of GPU memory the program of `control` occupies: the end of its constant data.
///
/// # Errors
/// The control section is too short, has another magic, or its sizes contradict each other.
pub fn code_size(control: &[u8]) -> Result<usize, ProgramError> {
    check_control(control)?;
    let code = word(control, 0x6F8) as usize;
    let data = word(control, 0x6FC) as usize;
    let data_offset = word(control, 0x700) as usize;
    let header = word(control, 0x708) as usize;
    if code > CODE_LIMIT || data > CODE_LIMIT || data_offset > CODE_LIMIT {
        return Err(ProgramError::Sizes(0x6F8));
    }
    let end_of_code = header.checked_add(code).filter(|&e| e <= CODE_LIMIT).ok_or(ProgramError::Sizes(0x6F8))?;
    Ok(if data == 0 { end_of_code } else { end_of_code.max(data_offset + data) })
}

/// Hash of a program's content: equal for equal control sections and GPU programs, whatever lies behind them in
/// memory, and the same in every process.
pub fn program_key(control: &[u8], code: &[u8]) -> u64 {
    let used = code_size(control).map_or(code.len(), |n| n.min(code.len()));
    let mut h = 0x9E37_79B9_7F4A_7C15u64;
    for part in [control, &code[..used]] {
        let mut chunks = part.chunks_exact(8);
        for c in &mut chunks {
            h = mix(h ^ u64::from_le_bytes([c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]]));
        }
        let mut last = [0u8; 8];
        last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
        h = mix(h ^ u64::from_le_bytes(last) ^ ((part.len() as u64) << 1 | 1));
    }
    h
}

/// One round of a multiply-xorshift mixer.
pub(crate) fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let x = (x ^ (x >> 29)).wrapping_mul(0xA076_1D64_78BD_642F);
    x ^ (x >> 32)
}

impl<'a> GuestProgram<'a> {
    /// Parses a control section and the GPU program that it belongs to; `code` may be longer than the program.
    ///
    /// # Errors
    /// A magic is wrong, a piece is too short, or sizes contradict each other. Never panics.
    pub fn parse(control: &'a [u8], code: &'a [u8]) -> Result<GuestProgram<'a>, ProgramError> {
        let need = code_size(control)?;
        if code.len() < need || code.len() < CODE_START {
            return Err(ProgramError::CodeTooShort { have: code.len(), need: need.max(CODE_START) });
        }
        let magic = word(code, 0);
        if magic != CODE_MAGIC {
            return Err(ProgramError::CodeMagic(magic));
        }
        let stage_word = word(control, 0x714);
        let stage = Stage::from_control(stage_word).ok_or(ProgramError::Stage(stage_word))?;
        let header_at = word(control, 0x708) as usize;
        let end_of_code = header_at + word(control, 0x6F8) as usize;
        let code_at = header_at.checked_add(0x50).filter(|&a| a <= end_of_code).ok_or(ProgramError::Sizes(0x708))?;
        let data = word(control, 0x6FC) as usize;
        let data_offset = word(control, 0x700) as usize;
        let constants = if data == 0 {
            &[][..]
        } else {
            code.get(data_offset..data_offset + data).ok_or(ProgramError::Sizes(0x700))?
        };
        let header_bytes = code.get(header_at..header_at + 0x50).ok_or(ProgramError::Sizes(0x708))?;
        let header = ProgramHeader::parse(header_bytes, stage);
        let whole = (end_of_code - code_at) & !7;
        let machine = code.get(code_at..code_at + whole).ok_or(ProgramError::Sizes(0x6F8))?;
        let compute = stage == Stage::Compute;
        let fragment = stage == Stage::Fragment;
        let flag = |at: usize| word(control, at) != 0;
        let local_bytes = if compute { word(control, 0x758) } else { header.local_bytes() };
        Ok(GuestProgram {
            stage,
            header,
            code: machine,
            constants,
            constants_offset: data_offset as u32,
            registers: word(control, 0x70C).min(255),
            warp_scratch_bytes: word(control, 0x710),
            local_bytes: local_bytes.min(512 << 10),
            local_size: if compute { [0x748, 0x74C, 0x750].map(|at| word(control, at).clamp(1, 1024)) } else { [1; 3] },
            shared_bytes: if compute { word(control, 0x754).min(64 << 10) } else { 0 },
            early_fragment_tests: fragment && flag(0x718),
            writes_depth: fragment && flag(0x71C),
            per_sample: fragment && control.get(0x74A).is_some_and(|&b| b != 0),
            colour_outputs: if fragment { word(control, 0x734).min(8) } else { 0 },
            has_barriers: compute && flag(0x764),
            key: program_key(control, code),
        })
    }
}
