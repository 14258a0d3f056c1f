//! Records: what a guest's commands look like in command memory.
//!
//! The entry points write records through [`CommandBuffer`](crate::CommandBuffer); flatten copies whole ones into a
//! [`Stream`](crate::Stream); replay reads them as [`Record`].
//!
//! A record is a header word, a fixed part, and a run of equal elements, each of them optional:
//!
//! ```text
//!   bits 0-7    opcode, never 0
//!   bits 8-15   immediate: a mode, a stage and slot, flags ([`immediate`])
//!   bits 16-31  length in 4-byte words, header included
//! ```
//!
//! Everything is 4-byte words, because command memory has alignment 4 (device info item 0x13) and a list must
//! measure the same wherever it is recorded (B223); 64-bit values are [`U64`]. Objects are named by serial.
//! The immediate keeps records as tight as the hardware's own commands, which budgets of guests are made for
//! (B220, B224). The table at the end of this file is the only place that knows opcodes and shapes.

pub mod immediate;
pub mod payload;

use bytemuck::{AnyBitPattern, NoUninit, Pod, Zeroable};
use immediate::*;
use payload::*;

/// A 64-bit value on a 4-byte boundary.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Pod, Zeroable)]
pub struct U64([u32; 2]);

impl U64 {
    /// `value`, split into words, the low one first.
    #[inline]
    pub const fn new(value: u64) -> Self {
        Self([value as u32, (value >> 32) as u32])
    }

    /// The value.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0[0] as u64 | (self.0[1] as u64) << 32
    }
}

impl From<u64> for U64 {
    #[inline]
    fn from(value: u64) -> Self {
        Self::new(value)
    }
}

impl std::fmt::Debug for U64 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.get())
    }
}

/// The first word of a record.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
pub struct Header(u32);

impl Header {
    /// A header of a record of `words` words in all.
    #[inline]
    pub const fn new(opcode: u8, immediate: u8, words: u16) -> Self {
        Self(opcode as u32 | (immediate as u32) << 8 | (words as u32) << 16)
    }

    /// The header that `word` is.
    #[inline]
    pub const fn from_word(word: u32) -> Self {
        Self(word)
    }

    /// The word as it stands in memory.
    #[inline]
    pub const fn word(self) -> u32 {
        self.0
    }

    /// Which command; 0 is none.
    #[inline]
    pub const fn opcode(self) -> u8 {
        self.0 as u8
    }

    /// The immediate's 8 bits.
    #[inline]
    pub const fn immediate(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// Length of the whole record in 4-byte words.
    #[inline]
    pub const fn words(self) -> usize {
        (self.0 >> 16) as usize
    }

    /// Whether the length is one that this opcode's records can have (B225: anything else is no record).
    #[inline]
    pub fn is_valid(self) -> bool {
        SHAPES[self.opcode() as usize].fits(self.words())
    }
}

/// A command with its record's shape, known at compile time; implemented by the types of [`op`].
pub trait Command {
    /// Opcode in the header.
    const OPCODE: u8;
    /// Name for logs: NVN's, without `nvnCommandBuffer`.
    const NAME: &'static str;
    /// What the header's immediate holds.
    type Immediate: Immediate;
    /// The fixed part.
    type Head: Pod;
    /// One element of the run after it.
    type Tail: Pod;
    /// Words of a record without its run.
    const HEAD_WORDS: usize = 1 + size_of::<Self::Head>() / 4;
    /// Fewest elements of the run.
    const MIN_TAIL: usize;
    /// Most elements of the run.
    const MAX_TAIL: usize;
}

/// What lengths an opcode's records may have.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// NVN's name of the command; empty for opcodes that are none.
    pub name: &'static str,
    /// Words of header and fixed part; 0 for opcodes that are none.
    pub head_words: u16,
    /// Words of an element of the run; 0 where there is no run.
    pub tail_words: u16,
    /// Fewest elements of the run.
    pub min_tail: u16,
    /// Most elements of the run.
    pub max_tail: u16,
}

impl Shape {
    const NONE: Self = Self { name: "", head_words: 0, tail_words: 0, min_tail: 0, max_tail: 0 };

    /// Whether a record of this opcode may be `words` long.
    #[inline]
    pub fn fits(&self, words: usize) -> bool {
        let head = self.head_words as usize;
        if head == 0 || words < head {
            return false;
        }
        let run = words - head;
        let within = |count: usize| (self.min_tail as usize..=self.max_tail as usize).contains(&count);
        // Constant divisors for the sizes that there are: this is run for every record, more than once.
        match self.tail_words {
            0 => run == 0,
            1 => within(run),
            2 => run.is_multiple_of(2) && within(run / 2),
            3 => run.is_multiple_of(3) && within(run / 3),
            4 => run.is_multiple_of(4) && within(run / 4),
            tail => run.is_multiple_of(tail.into()) && within(run / tail as usize),
        }
    }
}

/// The shape of each opcode, indexed by it.
pub static SHAPES: [Shape; 256] = shapes();

/// The command's name for logs; `"?"` for an opcode that is none.
pub fn name(opcode: u8) -> &'static str {
    match SHAPES[opcode as usize].name {
        "" => "?",
        name => name,
    }
}

/// Why bytes are not a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Malformed {
    /// Fewer than 4 bytes are left.
    #[error("{0} bytes are left, less than a header")]
    Truncated(usize),
    /// The header's opcode names no command.
    #[error("no command's record starts with {0:#010x}")]
    Opcode(u32),
    /// The header's length is none that its command has.
    #[error("{}", describe(*.0, "which no such record is"))]
    Length(u32),
    /// The record is longer than what is left of its piece.
    #[error("{}, of which {left} are there", describe(*.header, "header included"))]
    Overrun {
        /// The header's word.
        header: u32,
        /// Words left, header included.
        left: usize,
    },
}

fn describe(header: u32, remark: &str) -> String {
    let header = Header::from_word(header);
    format!("{} (opcode {:#04x}) of {} words, {remark}", name(header.opcode()), header.opcode(), header.words())
}

/// Length in words of the whole record at the start of `words`, or why there is none. The one place that says
/// what a record is: flatten, copies of recordings and replay go through it (B225).
#[inline]
pub fn measure(words: &[u32]) -> Result<usize, Malformed> {
    let Some(&word) = words.first() else { return Err(Malformed::Truncated(0)) };
    let header = Header::from_word(word);
    let length = header.words();
    if !header.is_valid() {
        return Err(match SHAPES[header.opcode() as usize].head_words {
            0 => Malformed::Opcode(word),
            _ => Malformed::Length(word),
        });
    }
    if length > words.len() {
        return Err(Malformed::Overrun { header: word, left: words.len() });
    }
    Ok(length)
}

#[inline]
fn take_head<'a, T: AnyBitPattern + NoUninit>(rest: &mut &'a [u32]) -> Option<&'a T> {
    let (head, tail) = rest.split_at_checked(size_of::<T>() / 4)?;
    *rest = tail;
    bytemuck::try_from_bytes(bytemuck::cast_slice(head)).ok()
}

#[inline]
fn take_tail<'a, T: AnyBitPattern + NoUninit>(rest: &mut &'a [u32]) -> Option<&'a [T]> {
    bytemuck::try_cast_slice(std::mem::take(rest)).ok()
}

/// Iterates over records, and stops at the first that is none.
#[derive(Clone, Debug)]
pub struct RecordReader<'a> {
    rest: &'a [u32],
    position: usize,
    fault: Option<Malformed>,
}

impl<'a> RecordReader<'a> {
    /// Reads `words` from the start.
    pub fn new(words: &'a [u32]) -> Self {
        Self { rest: words, position: 0, fault: None }
    }

    /// Where the next record starts, in words.
    pub fn position(&self) -> usize {
        self.position
    }

    /// What ended the reading before the end of the words, once [`next`](Iterator::next) has given `None`.
    pub fn fault(&self) -> Option<Malformed> {
        self.fault
    }
}

impl<'a> Iterator for RecordReader<'a> {
    type Item = Record<'a>;

    #[inline]
    fn next(&mut self) -> Option<Record<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        match decode(self.rest) {
            Ok((record, words)) => {
                self.rest = self.rest.get(words..).unwrap_or_default();
                self.position += words;
                Some(record)
            }
            Err(fault) => {
                self.fault = Some(fault);
                self.rest = &[];
                None
            }
        }
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
macro_rules! tail_words {
    () => {
        0
    };
    ($type:ty) => {
        (size_of::<$type>() / 4) as u16
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

/// Makes [`Record`], [`op`], the shapes and [`decode`] from one table.
macro_rules! records {
    ($(
        $(#[$doc:meta])*
        $code:literal $name:ident {
            $(imm: $imm:ty,)?
            $(head: $head:ty,)?
            $(tail: [$tail:ty; $min:literal..=$max:literal],)?
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

        const fn shapes() -> [Shape; 256] {
            let mut shapes = [Shape::NONE; 256];
            $(
                assert!(shapes[$code].head_words == 0, "an opcode is given twice");
                $(assert!(size_of::<$head>() % 4 == 0 && align_of::<$head>() <= 4);)?
                $(assert!(size_of::<$tail>() % 4 == 0 && align_of::<$tail>() <= 4 && $min <= $max);)?
                shapes[$code] = Shape {
                    name: stringify!($name),
                    head_words: <op::$name as Command>::HEAD_WORDS as u16,
                    tail_words: tail_words!($($tail)?),
                    min_tail: or_zero!($($min)?),
                    max_tail: or_zero!($($max)?),
                };
            )*
            shapes
        }

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

records! {
    // Draws and dispatches.
    /// Draws `count` vertices in order; the immediate is the NVNdrawPrimitive.
    0x01 DrawArrays { imm: u8, head: DrawArrays, }
    /// As DrawArrays, `instance_count` times.
    0x02 DrawArraysInstanced { imm: u8, head: DrawArraysInstanced, }
    /// Draws `count` indices.
    0x03 DrawElements { imm: ElementMode, head: DrawElements, }
    /// Draws `count` indices, to each of which a base is added.
    0x04 DrawElementsBaseVertex { imm: ElementMode, head: DrawElementsBaseVertex, }
    /// As DrawElementsBaseVertex, `instance_count` times.
    0x05 DrawElementsInstanced { imm: ElementMode, head: DrawElementsInstanced, }
    /// Draws with arguments (count, instances, first, base instance) from a buffer.
    0x06 DrawArraysIndirect { imm: u8, head: DrawArraysIndirect, }
    /// Draws with arguments (count, instances, first index, base vertex, base instance) from a buffer.
    0x07 DrawElementsIndirect { imm: ElementMode, head: DrawElementsIndirect, }
    /// Draws as often as a word in a buffer says, at most `max_draws` times.
    0x08 MultiDrawArraysIndirectCount { imm: u8, head: MultiDrawArrays, }
    /// Draws indices as often as a word in a buffer says, at most `max_draws` times.
    0x09 MultiDrawElementsIndirectCount { imm: ElementMode, head: MultiDrawElements, }
    /// Draws as many vertices as transform feedback wrote; the immediate is the NVNdrawPrimitive.
    0x0a DrawTransformFeedback { imm: u8, head: Buffer, }
    /// Draws a rectangle of a texture onto one of the target.
    0x0b DrawTexture { head: DrawTexture, }
    /// Runs work groups of the bound compute program.
    0x0c DispatchCompute { head: DispatchCompute, }
    /// Runs as many work groups as three words in a buffer say.
    0x0d DispatchComputeIndirect { head: Buffer, }

    // What draws read and write.
    /// Binds a program's stages; the immediate is NVNshaderStageBits; serial 0 unbinds them.
    0x20 BindProgram { imm: u8, head: Object, }
    /// Binds vertex buffers from the slot in the immediate on.
    0x21 BindVertexBuffers { imm: u8, tail: [BufferRange; 1..=16], }
    /// The guest's NVNvertexAttribState words, all there are.
    0x22 BindVertexAttribState { tail: [u32; 0..=32], }
    /// The guest's NVNvertexStreamState words, all there are.
    0x23 BindVertexStreamState { tail: [[u32; 2]; 0..=32], }
    /// Binds uniform buffers of a stage, from a slot on.
    0x24 BindUniformBuffers { imm: StageSlot, tail: [BufferRange; 1..=32], }
    /// Binds storage buffers of a stage, from a slot on.
    0x25 BindStorageBuffers { imm: StageSlot, tail: [BufferRange; 1..=32], }
    /// Binds textures of a stage, from a slot on: handles of 32 bits (B415), the first 16 bytes into the record,
    /// where guests store another one (B228). More than 32 are no record.
    0x26 BindTextures { imm: StageSlot, head: HandleGap, tail: [u32; 1..=32], }
    /// Binds textures without samplers: the immediate is the NVNshaderStage, the first slot follows; there are 128.
    0x27 BindSeparateTextures { imm: u8, head: u32, tail: [u32; 1..=128], }
    /// Binds samplers without textures.
    0x28 BindSeparateSamplers { imm: StageSlot, tail: [u32; 1..=32], }
    /// Binds images.
    0x29 BindImages { imm: StageSlot, tail: [u32; 1..=32], }
    /// Which texture pool the texture ids mean from now on.
    0x2a SetTexturePool { head: Pool, }
    /// Which sampler pool the sampler ids mean from now on.
    0x2b SetSamplerPool { head: Pool, }
    /// Colour targets, then the depth-stencil target where the immediate has one. Serial 0 is no target.
    0x2c SetRenderTargets { imm: TargetCount, tail: [TextureRef; 0..=9], }
    /// Binds the buffers that transform feedback writes, from the slot in the immediate on.
    0x2d BindTransformFeedbackBuffers { imm: u8, tail: [BufferRange; 1..=4], }
    /// The memory that shaders' local storage lives in.
    0x2e SetShaderScratchMemory { head: ScratchMemory, }
    /// Which subroutine each subroutine uniform of a stage takes.
    0x2f SetProgramSubroutines { imm: u8, head: Subroutines, tail: [u32; 0..=1024], }

    // State objects: the guest's packed bytes.
    /// NVNblendState.
    0x30 BindBlendState { head: [u32; 2], }
    /// NVNchannelMaskState.
    0x31 BindChannelMaskState { head: u32, }
    /// NVNcolorState.
    0x32 BindColorState { head: u32, }
    /// NVNdepthStencilState.
    0x33 BindDepthStencilState { head: [u32; 2], }
    /// NVNmultisampleState.
    0x34 BindMultisampleState { head: [u32; 6], }
    /// NVNpolygonState.
    0x35 BindPolygonState { head: u32, }
    /// The 16 factors in 1/255, four to a word, as the hardware has them.
    0x36 BindCoverageModulationTable { head: [u32; 4], }

    // Single states.
    /// Viewports from the index in the immediate on.
    0x40 SetViewports { imm: u8, tail: [Viewport; 1..=16], }
    /// Scissors from the index in the immediate on.
    0x41 SetScissors { imm: u8, tail: [Scissor; 1..=16], }
    /// Depth ranges (near, far) from the index in the immediate on.
    0x42 SetDepthRanges { imm: u8, tail: [[f32; 2]; 1..=16], }
    /// Viewport swizzles from the index in the immediate on: x, y, z, w, 4 bits each (NVNviewportSwizzle).
    0x43 SetViewportSwizzles { imm: u8, tail: [u32; 1..=16], }
    /// The constant colour of blending.
    0x44 SetBlendColor { head: [f32; 4], }
    /// The alpha test's reference.
    0x45 SetAlphaRef { head: f32, }
    /// Line width in pixels.
    0x46 SetLineWidth { head: f32, }
    /// Point size in pixels, for programs that write none.
    0x47 SetPointSize { head: f32, }
    /// Depth offset of polygons.
    0x48 SetPolygonOffsetClamp { head: PolygonOffset, }
    /// Depth bounds test: the immediate is 1 for on.
    0x49 SetDepthBounds { imm: u8, head: [f32; 2], }
    /// 1: clamp depth instead of clipping.
    0x4a SetDepthClamp { imm: u8, }
    /// Primitive restart: the immediate is 1 for on; the index that restarts.
    0x4b SetPrimitiveRestart { imm: u8, head: u32, }
    /// 1: nothing is rasterized.
    0x4c SetRasterizerDiscard { imm: u8, }
    /// Which samples may be written.
    0x4d SetSampleMask { head: u32, }
    /// Vertices of a patch.
    0x4e SetPatchSize { imm: u8, }
    /// Default inner tessellation levels.
    0x4f SetInnerTessellationLevels { head: [f32; 2], }
    /// Default outer tessellation levels.
    0x50 SetOuterTessellationLevels { head: [f32; 4], }
    /// Stencil reference of front faces. NVN's call for both faces is two records.
    0x51 SetStencilRefFront { imm: u8, }
    /// Stencil reference of back faces.
    0x52 SetStencilRefBack { imm: u8, }
    /// Stencil write mask of front faces.
    0x53 SetStencilMaskFront { imm: u8, }
    /// Stencil write mask of back faces.
    0x54 SetStencilMaskBack { imm: u8, }
    /// Stencil compare mask of front faces.
    0x55 SetStencilValueMaskFront { imm: u8, }
    /// Stencil compare mask of back faces.
    0x56 SetStencilValueMaskBack { imm: u8, }
    /// 1: an overflowing blend gives the largest finite value (B218).
    0x57 SetFloatBlendClamp { imm: u8, }
    /// 1: fragments of a primitive may be skipped once one passed (B219).
    0x58 SetRepresentativeFragmentTest { imm: u8, }
    /// 0: what follows is not drawn.
    0x59 SetRenderEnable { imm: u8, }
    /// What follows is drawn if the two 64-bit values at the address are (0: equal, 1: not equal).
    0x5a SetRenderEnableConditional { imm: u8, head: Buffer, }
    /// 1: every pixel touched is covered.
    0x5b SetConservativeRasterEnable { imm: u8, }
    /// How far primitives grow, in pixels.
    0x5c SetConservativeRasterDilate { head: f32, }
    /// Extra bits of subpixel precision: x in bits 0-3, y in bits 4-7.
    0x5d SetSubpixelPrecisionBias { imm: u8, }
    /// NVNtiledCacheAction.
    0x5e SetTiledCacheAction { imm: u8, }
    /// Tile size in pixels: width in the low half.
    0x5f SetTiledCacheTileSize { head: u32, }
    /// 1: colours of a multisampled target may be reduced.
    0x60 SetColorReductionEnable { imm: u8, }
    /// Thresholds of colour reduction of a NVNformatClass, one in each half.
    0x61 SetColorReductionThresholds { imm: u8, head: u32, }
    /// Stencil test of coarse culling: the immediate is the NVNstencilFunc; reference in bits 0-7, mask in 8-15.
    0x62 SetStencilCullCriteria { imm: u8, head: u32, }

    // Clears and copies.
    /// Clears a colour target with floats.
    0x70 ClearColor { imm: ClearTarget, head: [f32; 4], }
    /// Clears a colour target with signed integers.
    0x71 ClearColori { imm: ClearTarget, head: [i32; 4], }
    /// Clears a colour target with unsigned integers.
    0x72 ClearColorui { imm: ClearTarget, head: [u32; 4], }
    /// Clears the depth-stencil target; the immediate is 1 if depth is cleared.
    0x73 ClearDepthStencil { imm: u8, head: ClearDepthStencil, }
    /// Fills a buffer with a word.
    0x74 ClearBuffer { head: ClearBuffer, }
    /// Clears part of a texture with floats; the immediate is NVNclearColorMask.
    0x75 ClearTexture { imm: u8, head: ClearTexture<f32>, }
    /// Clears part of a texture with signed integers.
    0x76 ClearTexturei { imm: u8, head: ClearTexture<i32>, }
    /// Clears part of a texture with unsigned integers.
    0x77 ClearTextureui { imm: u8, head: ClearTexture<u32>, }
    /// A colour target's content may be forgotten; the immediate is its index.
    0x78 DiscardColor { imm: u8, }
    /// The depth-stencil target's content may be forgotten.
    0x79 DiscardDepthStencil { }
    /// The depth target's compression is resolved.
    0x7a ResolveDepthBuffer { }
    /// Copies bytes; the immediate is NVNcopyFlags, as in all copies.
    0x80 CopyBufferToBuffer { imm: u8, head: CopyBuffer, }
    /// Copies a buffer into part of a texture; the strides only where the guest set one (B226).
    0x81 CopyBufferToTexture { imm: u8, head: CopyBufferTexture, tail: [CopyStrides; 0..=1], }
    /// Copies part of a texture into a buffer; strides as above.
    0x82 CopyTextureToBuffer { imm: u8, head: CopyBufferTexture, tail: [CopyStrides; 0..=1], }
    /// Copies, scales or mirrors part of a texture into another.
    0x83 CopyTextureToTexture { imm: u8, head: CopyTexture, }
    /// Resolves a multisampled texture; the immediate is 1 for NVN's tiled form.
    0x84 Downsample { imm: u8, head: Downsample, }
    /// Writes words into a uniform buffer, in order with the draws; the immediate is how many of the last
    /// word's bytes do not count.
    0x85 UpdateUniformBuffer { imm: u8, head: UpdateUniformBuffer, tail: [u32; 1..=16384], }

    // Order and queries.
    /// NVNbarrierBits.
    0x90 Barrier { head: u32, }
    /// Fences a sync when submitted (B232): NVNsyncCondition in bit 0, NVNsyncFlagBits in bit 1.
    0x91 FenceSync { imm: FenceMode, head: Object, }
    /// Waits for a sync.
    0x92 WaitSync { head: Object, }
    /// Signals an event.
    0x93 SignalEvent { imm: SignalMode, head: EventValue, }
    /// Waits for an event; the immediate is the NVNeventWaitMode.
    0x94 WaitEvent { imm: u8, head: EventValue, }
    /// Writes a counter (the immediate: NVNcounterType) and the time to a buffer, 16 bytes.
    0x95 ReportCounter { imm: u8, head: Buffer, }
    /// Writes a word to a buffer.
    0x96 ReportValue { head: ReportValue, }
    /// Sets a counter (NVNcounterType) to zero.
    0x97 ResetCounter { imm: u8, }
    /// Starts transform feedback; the buffer holds its position.
    0x98 BeginTransformFeedback { head: Buffer, }
    /// Ends transform feedback.
    0x99 EndTransformFeedback { head: Buffer, }
    /// Pauses transform feedback.
    0x9a PauseTransformFeedback { head: Buffer, }
    /// Resumes transform feedback.
    0x9b ResumeTransformFeedback { head: Buffer, }
    /// Saves the coarse depth state.
    0x9c SaveZCullData { head: BufferRange, }
    /// Restores the coarse depth state.
    0x9d RestoreZCullData { head: BufferRange, }

    // Debugging: only recorded where labels are asked for ([`Host::debug_labels`](crate::Host::debug_labels)).
    /// Opens a named group. The text fills the words, zero-padded.
    0xa0 PushDebugGroup { tail: [u32; 0..=15], }
    /// Closes the group.
    0xa1 PopDebugGroup { }
    /// Marks a place.
    0xa2 InsertDebugMarker { tail: [u32; 0..=15], }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_no_larger_than_the_hardwares() {
        let bytes = |code: u8| SHAPES[code as usize].head_words as usize * 4;
        for draw in [op::DrawArrays::OPCODE, op::DrawElements::OPCODE, op::DrawElementsBaseVertex::OPCODE] {
            assert!(bytes(draw) <= 24, "{} takes {} bytes", name(draw), bytes(draw));
        }
        assert_eq!(bytes(op::SetDepthClamp::OPCODE), 4, "one immediate word");
        assert_eq!(bytes(op::ClearColor::OPCODE), 20);
        assert_eq!(bytes(op::CopyBufferToTexture::OPCODE), 60);
    }

    #[test]
    fn b228_a_bound_texture_handle_is_16_bytes_into_the_record() {
        let words = [Header::new(op::BindTextures::OPCODE, StageSlot::new(1, 3).bits(), 5).word(), 0, 0, 0, 0x1d1];
        let (record, length) = decode(&words).unwrap();
        assert_eq!(length, 5);
        assert_eq!(record, Record::BindTextures(StageSlot::new(1, 3), &HandleGap::default(), &[0x1d1]));
        assert_eq!(16 + 4, length * 4, "the handle is the last word");
    }

    #[test]
    fn b228_a_bind_of_more_than_32_handles_is_no_record() {
        let mut words = vec![0; 4 + 33];
        words[0] = Header::new(op::BindTextures::OPCODE, 0, 4 + 33).word();
        assert_eq!(decode(&words).unwrap_err(), Malformed::Length(words[0]));
        words[0] = Header::new(op::BindTextures::OPCODE, 0, 4 + 32).word();
        assert!(decode(&words).is_ok());
    }

    #[test]
    fn zeroed_memory_is_no_record() {
        assert_eq!(measure(&[0; 8]), Err(Malformed::Opcode(0)));
        assert_eq!(measure(&[]), Err(Malformed::Truncated(0)));
        let long = Header::new(op::DrawArrays::OPCODE, 4, 3).word();
        assert_eq!(measure(&[long, 0]), Err(Malformed::Overrun { header: long, left: 2 }));
    }

    #[test]
    fn the_reader_stops_at_the_first_malformed_record() {
        let draw = Header::new(op::DrawArrays::OPCODE, 4, 3).word();
        let words = [draw, 1, 2, 0xff, draw, 1, 2];
        let mut reader = RecordReader::new(&words);
        assert_eq!(reader.next(), Some(Record::DrawArrays(4, &DrawArrays { first: 1, count: 2 })));
        assert_eq!(reader.next(), None);
        assert_eq!(reader.fault(), Some(Malformed::Opcode(0xff)));
        assert_eq!(reader.position(), 3);
    }
}
