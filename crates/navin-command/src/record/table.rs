//! Every record there is: opcode, shape, and the bound on its size. One table, from which everything else is made.
//!
//! Each row says what the immediate holds, the fixed part, the run; which words guests store into a recorded
//! command with no NVN call (`patch`, B228: byte offset and meaning; they must stay there); and how many bytes the
//! driver's own command takes, which the record must not exceed, because guests measure heaps and slots by it
//! (B220, B223, B224). Bounds are those of the open driver for the same GPU, deko3d (what it writes with the least
//! state), unless a behaviour gives another; `unknown` where neither knows the command: then the record is the
//! header and the arguments, nothing else. docs/COMMANDS.md is made from these rows.
//!
//! An opcode means the same for ever: a record that has to change gets a new opcode, so that recordings are read
//! without knowing who wrote them.

use super::immediate::*;
use super::payload::*;
use super::{Command, Header, Malformed, Shape, measure, take_head, take_tail};

/// A word of a record that guests store into after it is recorded, with no NVN call (B228).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patchable {
    /// Bytes from the record's start, a multiple of 4.
    pub offset: u16,
    /// What the word is.
    pub what: &'static str,
}

/// A record's row of the table, for documentation and tests.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Opcode.
    pub opcode: u8,
    /// NVN's name of the command, without `nvnCommandBuffer`.
    pub name: &'static str,
    /// Bytes of header and fixed part.
    pub head_bytes: usize,
    /// Bytes of an element of the run; 0 where there is none.
    pub tail_bytes: usize,
    /// Fewest elements of the run.
    pub min_tail: usize,
    /// Most elements of the run.
    pub max_tail: usize,
    /// Bytes of the driver's own command: without a run, and for each element; `None` where not known.
    pub driver: Option<(usize, usize)>,
    /// What those bytes are, or why they are not known.
    pub basis: &'static str,
    /// Words that guests store into.
    pub patchable: &'static [Patchable],
}

impl Row {
    /// Whether a record of any length is no larger than the driver's command.
    pub const fn is_within_bound(&self) -> bool {
        let Some((base, each)) = self.driver else { return true };
        // Linear in the run's length, so both ends say it for all.
        self.head_bytes + self.min_tail * self.tail_bytes <= base + self.min_tail * each
            && self.head_bytes + self.max_tail * self.tail_bytes <= base + self.max_tail * each
    }
}

macro_rules! or_unit {
    () => {
        ()
    };
    ($type:ty) => {
        $type
    };
}
macro_rules! or_word {
    () => {
        u32
    };
    ($type:ty) => {
        $type
    };
}
macro_rules! tail_bytes {
    () => {
        0
    };
    ($type:ty) => {
        size_of::<$type>()
    };
}
macro_rules! or_zero {
    () => {
        0
    };
    ($value:literal) => {
        $value
    };
}
macro_rules! driver_bytes {
    (unknown) => {
        None
    };
    ($base:literal) => {
        Some(($base, 0))
    };
    ($base:literal $each:literal) => {
        Some(($base, $each))
    };
}

/// Makes [`Record`], [`op`], the shapes and [`decode`] from one table.
macro_rules! records {
    ($(
        $(#[$doc:meta])*
        $code:literal $name:ident {
            $(imm: $imm:ty,)?
            $(head: $head:ty,)?
            $(tail: [$tail:ty; $min:literal..=$max:literal],)?
            $(patch: $patch:literal $what:literal,)*
            driver: $driver:tt $(+ $each:literal n)?, $basis:literal,
        }
    )*) => {
        /// One recorded command, borrowed from a stream. The fields are the immediate, the fixed part, the run,
        /// in this order, as far as the command has them.
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub enum Record<'a> {
            $($(#[$doc])* $name($($imm,)? $(&'a $head,)? $(&'a [$tail],)?),)*
        }

        /// The commands as types, for writing: see [`Command`].
        pub mod op {
            $($(#[$doc])* #[derive(Clone, Copy, Debug)] pub struct $name;)*
        }

        $(impl Command for op::$name {
            const OPCODE: u8 = $code;
            const NAME: &'static str = stringify!($name);
            type Immediate = or_unit!($($imm)?);
            type Head = or_unit!($($head)?);
            type Tail = or_word!($($tail)?);
            const MIN_TAIL: usize = or_zero!($($min)?);
            const MAX_TAIL: usize = or_zero!($($max)?);
        })*

        /// The table, by opcode.
        pub const ROWS: &[Row] = &[$(
            Row {
                opcode: $code,
                name: stringify!($name),
                head_bytes: <op::$name as Command>::HEAD_WORDS * 4,
                tail_bytes: tail_bytes!($($tail)?),
                min_tail: or_zero!($($min)?),
                max_tail: or_zero!($($max)?),
                driver: driver_bytes!($driver $($each)?),
                basis: $basis,
                patchable: &[$(Patchable { offset: $patch, what: $what },)*],
            },
        )*];

        $(
            $(const _: () = assert!(size_of::<$head>() % 4 == 0 && align_of::<$head>() <= 4);)?
            $(const _: () = assert!(size_of::<$tail>() % 4 == 0 && align_of::<$tail>() <= 4 && $min <= $max);)?
        )*

        /// The record at the start of `words` and its length in words, or why there is none.
        #[inline]
        pub fn decode(words: &[u32]) -> Result<(Record<'_>, usize), Malformed> {
            let length = measure(words)?;
            let header = Header::from_word(words[0]);
            let mut rest = &words[1..length];
            decode_payload(header, &mut rest).map(|record| (record, length)).ok_or(Malformed::Length(words[0]))
        }

        #[inline]
        fn decode_payload<'a>(header: Header, rest: &mut &'a [u32]) -> Option<Record<'a>> {
            Some(match header.opcode() {
                $($code => Record::$name(
                    $(<$imm as Immediate>::from_bits(header.immediate()),)?
                    $(take_head::<$head>(rest)?,)?
                    $(take_tail::<$tail>(rest)?,)?
                ),)*
                _ => return None,
            })
        }

        impl Record<'_> {
            /// The command's name for logs: NVN's, without `nvnCommandBuffer`.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Record::$name(..) => stringify!($name),)*
                }
            }
        }
    };
}

/// Checks the table, and makes the shapes that reading goes by.
const fn shapes() -> [Shape; 256] {
    let mut shapes = [Shape::NONE; 256];
    let mut at = 0;
    while at < ROWS.len() {
        let row = &ROWS[at];
        assert!(at == 0 || ROWS[at - 1].opcode < row.opcode, "opcodes are given once, in order, and none is 0");
        assert!(row.opcode != 0 && row.head_bytes < 1024 && row.tail_bytes < 1024);
        assert!(row.is_within_bound(), "a record is larger than the driver's command");
        let mut word = 0;
        while word < row.patchable.len() {
            let offset = row.patchable[word].offset as usize;
            assert!(offset.is_multiple_of(4) && offset >= 4, "a patchable word is a word, and not the header");
            assert!(offset < row.head_bytes + row.min_tail * row.tail_bytes, "a patchable word is in every record");
            word += 1;
        }
        shapes[row.opcode as usize] = Shape {
            head_words: (row.head_bytes / 4) as u8,
            tail_words: (row.tail_bytes / 4) as u8,
            min_words: ((row.head_bytes + row.min_tail * row.tail_bytes) / 4) as u16,
            max_words: ((row.head_bytes + row.max_tail * row.tail_bytes) / 4) as u16,
        };
        at += 1;
    }
    shapes
}

/// The shape of each opcode, indexed by it.
pub static SHAPES: [Shape; 256] = shapes();

/// The command's name for logs; `"?"` for an opcode that is none.
pub fn name(opcode: u8) -> &'static str {
    ROWS.iter().find(|row| row.opcode == opcode).map_or("?", |row| row.name)
}

records! {
    // Draws and dispatches.
    /// Draws `count` vertices in order; the immediate is the NVNdrawPrimitive.
    0x01 DrawArrays { imm: u8, head: DrawArrays,
        driver: 24, "a macro call: mode, count, instances, first, base instance", }
    /// As DrawArrays, `instance_count` times.
    0x02 DrawArraysInstanced { imm: u8, head: DrawArraysInstanced,
        driver: 24, "as DrawArrays", }
    /// Draws `count` indices.
    0x03 DrawElements { imm: ElementMode, head: DrawElements,
        driver: 44, "the index buffer (16), a macro call of six arguments (28)", }
    /// Draws `count` indices, to each of which a base is added.
    0x04 DrawElementsBaseVertex { imm: ElementMode, head: DrawElementsBaseVertex,
        driver: 44, "as DrawElements", }
    /// As DrawElementsBaseVertex, `instance_count` times.
    0x05 DrawElementsInstanced { imm: ElementMode, head: DrawElementsInstanced,
        driver: 44, "as DrawElements", }
    /// Draws with arguments (count, instances, first, base instance) from a buffer.
    0x06 DrawArraysIndirect { imm: u8, head: DrawArraysIndirect,
        driver: 12, "a macro call whose arguments are fetched where they are", }
    /// Draws with arguments (count, instances, first index, base vertex, base instance) from a buffer.
    0x07 DrawElementsIndirect { imm: ElementMode, head: DrawElementsIndirect,
        driver: 28, "the index buffer (16), then as DrawArraysIndirect", }
    /// Draws as often as a word in a buffer says, at most `max_draws` times.
    0x08 MultiDrawArraysIndirectCount { imm: u8, head: MultiDrawArrays,
        driver: unknown, "no open driver has it; nothing but its arguments", }
    /// Draws indices as often as a word in a buffer says, at most `max_draws` times.
    0x09 MultiDrawElementsIndirectCount { imm: ElementMode, head: MultiDrawElements,
        driver: unknown, "no open driver has it; nothing but its arguments", }
    /// Draws as many vertices as transform feedback wrote; the immediate is the NVNdrawPrimitive.
    0x0a DrawTransformFeedback { imm: u8, head: Buffer,
        driver: unknown, "no open driver has it; nothing but its argument", }
    /// Draws a rectangle of a texture onto one of the target.
    0x0b DrawTexture { head: DrawTexture,
        driver: unknown, "no open driver has it; nothing but its arguments", }
    /// Runs work groups of the bound compute program.
    0x0c DispatchCompute { head: DispatchCompute,
        driver: 296, "a launch descriptor of 256 bytes written in line", }
    /// Runs as many work groups as three words in a buffer say.
    0x0d DispatchComputeIndirect { head: Buffer,
        driver: 296, "as DispatchCompute", }

    // What draws read and write.
    /// Binds a program's stages; the immediate is NVNshaderStageBits; no program unbinds them.
    0x20 BindProgram { imm: u8, tail: [Object; 0..=1],
        driver: 4 + 20 n, "a macro call of five arguments a stage; unbinding is one word a stage", }
    /// Binds vertex buffers from the slot in the immediate on.
    0x21 BindVertexBuffers { imm: u8, tail: [BufferRange; 1..=16],
        driver: 0 + 24 n, "start and limit, two words each with a header", }
    /// The guest's NVNvertexAttribState words, all there are.
    0x22 BindVertexAttribState { tail: [u32; 0..=16],
        driver: 68, "all 16 attribute words, always", }
    /// Vertex streams, all there are.
    0x23 BindVertexStreamState { tail: [VertexStream; 0..=16],
        driver: 64 + 4 n, "one word for each of 16 streams, a second for those that are used", }
    /// Binds uniform buffers of a stage, from a slot on.
    0x24 BindUniformBuffers { imm: StageSlot, tail: [BufferRange; 1..=32],
        driver: 0 + 20 n, "size and address, then the slot", }
    /// Binds storage buffers of a stage, from a slot on.
    0x25 BindStorageBuffers { imm: StageSlot, tail: [BufferRange; 1..=32],
        driver: 8 + 16 n, "address and size as constants of the driver", }
    /// Binds textures of a stage, from a slot on: handles of 32 bits (B415), the first 16 bytes into the record,
    /// where guests store another one (B228). More than 32 are no record.
    0x26 BindTextures { imm: StageSlot, head: HandleGap, tail: [u32; 1..=32], patch: 16 "the first handle",
        driver: 16 + 4 n, "the first handle is 16 bytes into the command (B228)", }
    /// Binds textures without samplers: the immediate is the NVNshaderStage, the first slot follows; there are 128.
    0x27 BindSeparateTextures { imm: u8, head: u32, tail: [u32; 1..=128],
        driver: 12 + 4 n, "handles as constants of the driver, as images have them", }
    /// Binds samplers without textures.
    0x28 BindSeparateSamplers { imm: StageSlot, tail: [u32; 1..=32],
        driver: 12 + 4 n, "as BindSeparateTextures", }
    /// Binds images.
    0x29 BindImages { imm: StageSlot, tail: [u32; 1..=32],
        driver: 12 + 4 n, "handles as constants of the driver", }
    /// Which texture pool the texture ids mean from now on.
    0x2a SetTexturePool { head: Pool,
        driver: 32, "address and last id, for both engines", }
    /// Which sampler pool the sampler ids mean from now on.
    0x2b SetSamplerPool { head: Pool,
        driver: 32, "as SetTexturePool", }
    /// Colour targets, then the depth-stencil target where the immediate has one. Serial 0 is no target.
    0x2c SetRenderTargets { imm: TargetCount, tail: [TextureRef; 0..=9],
        driver: 8 + 36 n, "their number; address, size, format, tiling, layers of each", }
    /// Binds the buffers that transform feedback writes, from the slot in the immediate on.
    0x2d BindTransformFeedbackBuffers { imm: u8, tail: [BufferRange; 1..=4],
        driver: 0 + 24 n, "enable, address, size and offset of each", }
    /// The memory that shaders' local storage lives in.
    0x2e SetShaderScratchMemory { head: ScratchMemory,
        driver: 20, "address and size", }
    /// Which subroutine each subroutine uniform of a stage takes.
    0x2f SetProgramSubroutines { imm: u8, head: Subroutines, tail: [u32; 0..=1024],
        driver: unknown, "no open driver has it; nothing but its arguments", }

    // State objects: the guest's packed bytes.
    /// NVNblendState.
    0x30 BindBlendState { head: [u32; 2],
        driver: 28, "two equations and four factors", }
    /// NVNchannelMaskState.
    0x31 BindChannelMaskState { head: u32,
        driver: 8, "a macro call of one argument", }
    /// NVNcolorState.
    0x32 BindColorState { head: u32,
        driver: 8, "blend enables, alpha test", }
    /// NVNdepthStencilState.
    0x33 BindDepthStencilState { head: [u32; 2],
        driver: 12, "a macro call of two arguments", }
    /// NVNmultisampleState.
    0x34 BindMultisampleState { head: [u32; 6],
        driver: 40, "four words of sample locations, and five of single registers", }
    /// NVNpolygonState.
    0x35 BindPolygonState { head: u32,
        driver: 28, "modes, culling, front face, three offset enables: a word each", }
    /// The 16 factors in 1/255, four to a word, as the hardware has them.
    0x36 BindCoverageModulationTable { head: [u32; 4],
        driver: 24, "an enable and four words of factors", }

    // Single states.
    /// Viewports from the index in the immediate on.
    0x40 SetViewports { imm: u8, tail: [Viewport; 1..=16],
        driver: 0 + 40 n, "scale and offset (28), rectangle (12)", }
    /// Scissors from the index in the immediate on.
    0x41 SetScissors { imm: u8, tail: [Scissor; 1..=16],
        driver: 0 + 12 n, "two words of edges", }
    /// Depth ranges (near, far) from the index in the immediate on.
    0x42 SetDepthRanges { imm: u8, tail: [[f32; 2]; 1..=16],
        driver: 0 + 12 n, "near and far", }
    /// Viewport swizzles from the index in the immediate on: x, y, z, w, 4 bits each (NVNviewportSwizzle).
    0x43 SetViewportSwizzles { imm: u8, tail: [u32; 1..=16],
        driver: 0 + 8 n, "one register each", }
    /// The constant colour of blending.
    0x44 SetBlendColor { head: [f32; 4],
        driver: 20, "four floats", }
    /// The alpha test's reference.
    0x45 SetAlphaRef { head: f32,
        driver: 8, "one float", }
    /// Line width in pixels.
    0x46 SetLineWidth { head: f32,
        driver: 12, "two floats: smooth and aliased", }
    /// Point size in pixels, for programs that write none.
    0x47 SetPointSize { head: f32,
        driver: 12, "one float, and a pipe no-op", }
    /// Depth offset of polygons.
    0x48 SetPolygonOffsetClamp { head: PolygonOffset,
        driver: 24, "three registers apart", }
    /// Depth bounds test: near and far; off where there are none.
    0x49 SetDepthBounds { tail: [[f32; 2]; 0..=1],
        driver: 4 + 12 n, "an enable; the bounds where it is on", }
    /// 1: clamp depth instead of clipping.
    0x4a SetDepthClamp { imm: u8,
        driver: 4, "one word with its value in it", }
    /// Primitive restart: the index that restarts; off where there is none.
    0x4b SetPrimitiveRestart { tail: [u32; 0..=1],
        driver: 4 + 8 n, "an enable; the index where it is on", }
    /// 1: nothing is rasterized.
    0x4c SetRasterizerDiscard { imm: u8,
        driver: 4, "one word with its value in it", }
    /// Which samples may be written.
    0x4d SetSampleMask { head: u32,
        driver: 20, "four times the mask", }
    /// Vertices of a patch.
    0x4e SetPatchSize { imm: u8,
        driver: 4, "one word with its value in it", }
    /// Default inner tessellation levels.
    0x4f SetInnerTessellationLevels { head: [f32; 2],
        driver: 12, "two floats", }
    /// Default outer tessellation levels.
    0x50 SetOuterTessellationLevels { head: [f32; 4],
        driver: 20, "four floats", }
    /// Stencil reference of front faces. NVN's call for both faces is two records.
    0x51 SetStencilRefFront { imm: u8,
        driver: 4, "one word with its value in it", }
    /// Stencil reference of back faces.
    0x52 SetStencilRefBack { imm: u8,
        driver: 4, "one word with its value in it", }
    /// Stencil write mask of front faces.
    0x53 SetStencilMaskFront { imm: u8,
        driver: 4, "one word with its value in it", }
    /// Stencil write mask of back faces.
    0x54 SetStencilMaskBack { imm: u8,
        driver: 4, "one word with its value in it", }
    /// Stencil compare mask of front faces.
    0x55 SetStencilValueMaskFront { imm: u8,
        driver: 4, "one word with its value in it", }
    /// Stencil compare mask of back faces.
    0x56 SetStencilValueMaskBack { imm: u8,
        driver: 4, "one word with its value in it", }
    /// 1: an overflowing blend gives the largest finite value (B218).
    0x57 SetFloatBlendClamp { imm: u8,
        driver: 4, "one word with its value in it (B218)", }
    /// 1: fragments of a primitive may be skipped once one passed (B219).
    0x58 SetRepresentativeFragmentTest { imm: u8,
        driver: 4, "the least a command can be (B219)", }
    /// 0: what follows is not drawn.
    0x59 SetRenderEnable { imm: u8,
        driver: 4, "one word with its value in it", }
    /// What follows is drawn if the two 64-bit values at the address are (0: equal, 1: not equal).
    0x5a SetRenderEnableConditional { imm: u8, head: Buffer,
        driver: 16, "address and mode", }
    /// 1: every pixel touched is covered.
    0x5b SetConservativeRasterEnable { imm: u8,
        driver: 20, "three pipe no-ops, the enable, a macro call", }
    /// How far primitives grow, in pixels.
    0x5c SetConservativeRasterDilate { head: f32,
        driver: 24, "a register written by a macro call, and two words", }
    /// Extra bits of subpixel precision: x in bits 0-3, y in bits 4-7.
    0x5d SetSubpixelPrecisionBias { imm: u8,
        driver: 20, "a macro call of four arguments", }
    /// NVNtiledCacheAction.
    0x5e SetTiledCacheAction { imm: u8,
        driver: 4, "one word with its value in it", }
    /// Tile size in pixels: width in the low half.
    0x5f SetTiledCacheTileSize { head: u32,
        driver: 8, "one register", }
    /// 1: colours of a multisampled target may be reduced.
    0x60 SetColorReductionEnable { imm: u8,
        driver: 4, "one word with its value in it", }
    /// Thresholds of colour reduction of a NVNformatClass, one in each half.
    0x61 SetColorReductionThresholds { imm: u8, head: u32,
        driver: 8, "one register a class", }
    /// Stencil test of coarse culling: the immediate is the NVNstencilFunc; reference in bits 0-7, mask in 8-15.
    0x62 SetStencilCullCriteria { imm: u8, head: u32,
        driver: 8, "a macro call of one argument", }

    // Clears and copies.
    /// Clears a colour target with floats.
    0x70 ClearColor { imm: ClearTarget, head: [f32; 4],
        driver: 44, "four words of colour, and six that frame the clear", }
    /// Clears a colour target with signed integers.
    0x71 ClearColori { imm: ClearTarget, head: [i32; 4],
        driver: 44, "as ClearColor", }
    /// Clears a colour target with unsigned integers.
    0x72 ClearColorui { imm: ClearTarget, head: [u32; 4],
        driver: 44, "as ClearColor", }
    /// Clears the depth-stencil target; the immediate is 1 if depth is cleared.
    0x73 ClearDepthStencil { imm: u8, head: ClearDepthStencil,
        driver: 20, "depth (16), the clear itself (4); stencil comes on top", }
    /// Fills a buffer with a word.
    0x74 ClearBuffer { head: ClearBuffer,
        driver: 48, "a copy whose source is a constant", }
    /// Clears part of a texture with floats; the immediate is NVNclearColorMask.
    0x75 ClearTexture { imm: u8, head: ClearTexture<f32>,
        driver: 80, "a colour target (36), then as ClearColor", }
    /// Clears part of a texture with signed integers.
    0x76 ClearTexturei { imm: u8, head: ClearTexture<i32>,
        driver: 80, "as ClearTexture", }
    /// Clears part of a texture with unsigned integers.
    0x77 ClearTextureui { imm: u8, head: ClearTexture<u32>,
        driver: 80, "as ClearTexture", }
    /// A colour target's content may be forgotten; the immediate is its index.
    0x78 DiscardColor { imm: u8,
        driver: 4, "one word with its value in it", }
    /// The depth-stencil target's content may be forgotten.
    0x79 DiscardDepthStencil {
        driver: 4, "one word with its value in it", }
    /// The depth target's compression is resolved.
    0x7a ResolveDepthBuffer {
        driver: 4, "one word with its value in it", }
    /// Copies bytes; the immediate is NVNcopyFlags, as in all copies.
    0x80 CopyBufferToBuffer { imm: u8, head: CopyBuffer,
        driver: 40, "two addresses, length, launch, a no-op on either side", }
    /// Copies a buffer into part of a texture; the strides only where the guest set one (B226).
    0x81 CopyBufferToTexture { imm: u8, head: CopyBufferTexture, tail: [CopyStrides; 0..=1],
        driver: 76, "pitch (8), layout (28), addresses (20), lines (12), launch (8)", }
    /// Copies part of a texture into a buffer; strides as above.
    0x82 CopyTextureToBuffer { imm: u8, head: CopyBufferTexture, tail: [CopyStrides; 0..=1],
        driver: 76, "as CopyBufferToTexture", }
    /// Copies, scales or mirrors part of a texture into another.
    0x83 CopyTextureToTexture { imm: u8, head: CopyTexture,
        driver: 96, "two layouts (56), addresses (20), lines (12), launch (8)", }
    /// Resolves a multisampled texture; the immediate is 1 for NVN's tiled form.
    0x84 Downsample { imm: u8, head: Downsample,
        driver: 148, "a blit of the 2D engine with both surfaces", }
    /// Writes words into a uniform buffer, in order with the draws; the immediate is how many of the last
    /// word's bytes do not count.
    0x85 UpdateUniformBuffer { imm: u8, head: UpdateUniformBuffer, tail: [u32; 1..=16384],
        driver: 28 + 4 n, "size, address and offset, a pipe no-op, the words", }

    // Order and queries.
    /// NVNbarrierBits: the low 8, then the whole where there are more.
    0x90 Barrier { imm: u8, tail: [u32; 0..=1],
        driver: 4 + 16 n, "one word a kind; the second-level cache takes 16 bytes", }
    /// Fences a sync when submitted (B232): NVNsyncCondition in bit 0, NVNsyncFlagBits in bit 1.
    0x91 FenceSync { imm: FenceMode, head: Object,
        driver: unknown, "the open driver fences outside command memory; a semaphore would take 20", }
    /// Waits for a sync.
    0x92 WaitSync { head: Object,
        driver: unknown, "as FenceSync", }
    /// Signals an event.
    0x93 SignalEvent { imm: SignalMode, head: EventValue,
        driver: 20, "a semaphore: address, value, action", }
    /// Waits for an event; the immediate is the NVNeventWaitMode.
    0x94 WaitEvent { imm: u8, head: EventValue,
        driver: 20, "as SignalEvent", }
    /// Writes a counter (the immediate: NVNcounterType) and the time to a buffer, 16 bytes.
    0x95 ReportCounter { imm: u8, head: Buffer,
        driver: 24, "a report semaphore (20), a cache flush", }
    /// Writes a word to a buffer.
    0x96 ReportValue { head: ReportValue,
        driver: 28, "a flush, a report semaphore (20), a cache flush", }
    /// Sets a counter (NVNcounterType) to zero.
    0x97 ResetCounter { imm: u8,
        driver: 4, "one word with its value in it", }
    /// Starts transform feedback; the buffer holds its position.
    0x98 BeginTransformFeedback { head: Buffer,
        driver: unknown, "no open driver has it; nothing but its argument", }
    /// Ends transform feedback.
    0x99 EndTransformFeedback { head: Buffer,
        driver: unknown, "no open driver has it; nothing but its argument", }
    /// Pauses transform feedback.
    0x9a PauseTransformFeedback { head: Buffer,
        driver: unknown, "no open driver has it; nothing but its argument", }
    /// Resumes transform feedback.
    0x9b ResumeTransformFeedback { head: Buffer,
        driver: unknown, "no open driver has it; nothing but its argument", }
    /// Saves the coarse depth state.
    0x9c SaveZCullData { head: BufferRange,
        driver: unknown, "no open driver has it; nothing but its arguments", }
    /// Restores the coarse depth state.
    0x9d RestoreZCullData { head: BufferRange,
        driver: unknown, "no open driver has it; nothing but its arguments", }

    // Debugging: only recorded where labels are asked for ([`Host::debug_labels`](crate::Host::debug_labels)).
    /// Opens a named group. The text fills the words, zero-padded.
    0xa0 PushDebugGroup { tail: [u32; 0..=15],
        driver: unknown, "the driver writes none; recorded only where labels are asked for", }
    /// Closes the group.
    0xa1 PopDebugGroup {
        driver: unknown, "the driver writes none; recorded only where labels are asked for", }
    /// Marks a place.
    0xa2 InsertDebugMarker { tail: [u32; 0..=15],
        driver: unknown, "the driver writes none; recorded only where labels are asked for", }
}
