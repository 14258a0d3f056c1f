//! NVN GPU programs: Maxwell machine code decoded, structured and written as SPIR-V.
//!
//! # The IR first
//!
//! Between machine code and SPIR-V stands one small IR ([`ir`]): SSA over *untyped 32-bit words*, in SPIR-V's block
//! order. Registers of the machine have no type, so values have none either; operations say how they read their
//! operands, and a pass gives each word a SPIR-V type at the end. Values are folded and shared while they are made, so
//! that the passes after it only replace, mark and type, and never move anything.
//!
//! # The way of a program
//!
//! 1. [`program`] checks the control section and the GPU program that a guest hands over.
//! 2. [`isa`] decodes words by a table that is generated from `facts/maxwell_isa.tsv`.
//! 3. [`mod@cfg`] resolves the divergence stack into a graph, and the graph into nested selections and loops.
//! 4. `lower` walks these once and makes IR, a file an instruction family.
//! 5. [`passes`] clear trivial phis, mark what is live, give types.
//! 6. `spirv` writes the module and, on the way, the [`Interface`]: what the program reads and writes, as data.
//!
//! What the driver binds where is in `docs/ARCHITECTURE.md`, "Shader interface", and in [`interface::binding`]. What a
//! program assumes of the driver's constants is a [`ConstantLayoutTable`], shared with the driver.
//!
//! Translation depends on the program and the options alone, never panics, and is bounded in time and memory by limits
//! that are errors ([`TranslateError`]). An instruction without translation is an error that names it, never a guess.

pub mod cfg;
pub mod error;
pub mod interface;
pub mod ir;
pub mod isa;
pub mod library;
mod lower;
pub mod options;
pub mod passes;
pub mod program;
mod spirv;

pub use error::TranslateError;
pub use interface::{HandleSource, ImageAccess, ImageUse, Interface, Requirements, SampledType, TextureUse, ViewKind};
pub use options::{
    AttributeType, ConstantLayout, ConstantLayoutTable, DeviceFeatures, GeometryInput, Options, TessellationDomain,
    TessellationMode, TessellationSpacing, state_bank,
};
pub use program::{
    DKSH_MAGIC, GuestProgram, Interpolation, ProgramError, ProgramHeader, Stage, code_size, dksh_count, program_key,
};
pub use spirv::endless_blocks;

/// Names the translator: translators of the same sources have the same number, whatever the time, the path or the
/// build. Part of the key of whatever keeps translations.
pub const VERSION: u64 = version(env!("NAVIN_TRANSLATOR"));

const fn version(digits: &str) -> u64 {
    let (bytes, mut n, mut at) = (digits.as_bytes(), 0u64, 0);
    while at < bytes.len() {
        n = n.wrapping_mul(10).wrapping_add((bytes[at] - b'0') as u64);
        at += 1;
    }
    n
}

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
pub struct Translator {
    graph: cfg::Graph,
    structure: cfg::structure::Structure,
    builder: ir::builder::Builder,
    memory: lower::Memory,
    emitter: spirv::Emitter,
    work: Vec<ir::Value>,
    votes: Vec<i32>,
    needs: Vec<u32>,
    constants: passes::constants::Memory,
    storage: passes::storage::Memory,
    places: passes::places::Places,
}

impl Translator {
    /// A translator with empty arenas.
    pub fn new() -> Translator {
        Translator::default()
    }

    /// Translates `program`. The result depends on the program and options alone.
    ///
    /// # Errors
    /// An instruction without translation, control flow out of bounds, or a limit exceeded
    /// ([`TranslateError::TooLarge`] names which). Never panics, whatever the bytes.
    ///
    /// # Limits
    /// 65,536 instructions and 4,096 blocks once calls are taken apart, 512 entries of the divergence stack, 256 entries of
    /// a jump table, control flow nested 500 deep, 2^20 instructions of IR, 2^24 words of state at all blocks together.
    /// These bound time and memory: passes and writer are linear in the IR but for hash tables, and the state is 64 MB.
    pub fn translate(&mut self, program: &GuestProgram<'_>, options: &Options) -> Result<Translation, TranslateError> {
        let (types, notes) = self.build(program, options)?;
        let (spirv, interface) = spirv::emit(&mut self.emitter, &self.builder.f, program, options, &types, notes);
        Ok(Translation { spirv, interface })
    }

    /// The IR of `program` after all passes, as text.
    ///
    /// # Errors
    /// As [`Translator::translate`].
    pub fn print_ir(&mut self, program: &GuestProgram<'_>, options: &Options) -> Result<String, TranslateError> {
        self.build(program, options)?;
        Ok(ir::print::print(&self.builder.f))
    }

    /// How a program that filters pictures holds colours, from its code (B678).
    ///
    /// # Errors
    /// As [`Translator::translate`].
    pub fn colour_handling(
        &mut self,
        program: &GuestProgram<'_>,
        options: &Options,
    ) -> Result<library::ColourHandling, TranslateError> {
        self.build(program, options)?;
        Ok(library::colour::classify(&self.builder.f))
    }

    fn build(
        &mut self,
        program: &GuestProgram<'_>,
        options: &Options,
    ) -> Result<(passes::types::Types, lower::Notes), TranslateError> {
        self.graph.build(program.code, program.constants, program.key)?;
        if program.stage == Stage::Compute {
            let warps = options.emulates_warps(program.stage);
            let meets = |op| op == isa::Op::Bar || warps && matches!(op, isa::Op::Vote | isa::Op::Shfl);
            self.graph.retire(meets, warps);
        }
        self.structure.build(&self.graph, program.key)?;
        self.builder.clear();
        let notes = lower::lower(&mut self.builder, &mut self.memory, program, options, &self.graph, &self.structure)?;
        let f = &mut self.builder.f;
        passes::phis::run(f);
        passes::storage::run(f, &mut self.storage, &mut self.places);
        passes::constants::run(f, &mut self.constants, &mut self.places);
        passes::dce::run(f, &mut self.work);
        if passes::guards::run(f, &mut self.needs) {
            passes::dce::run(f, &mut self.work);
        }
        let types = passes::types::run(f, program.stage, options, &mut self.votes);
        Ok((types, notes))
    }
}

/// A listing of the program's instructions, one a line; [`isa::disasm::lines`] has it as data. With `layout`, the
/// driver's constants have names.
pub fn disassemble(program: &GuestProgram<'_>, layout: Option<&ConstantLayoutTable>) -> String {
    isa::disasm::disassemble(program, layout)
}
