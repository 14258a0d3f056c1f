//! The IR: SSA over untyped 32-bit words, in SPIR-V's block order.
//!
//! A register of the machine holds 32 bits of no type, so a [`Value`] is a *word* (or a truth value, a double, a
//! vector of four words). Operations say how they read words: [`Class::F`] as float, [`Class::U`] as integer,
//! [`Class::P`] as whatever suits (phis, selects, loads). No conversion between the readings is ever in the IR: after
//! the program is built, `passes::types` gives each word one SPIR-V type, and the writer casts where a reader wants the
//! other. That keeps moves free and casts few.
//!
//! Instructions lie in one arena ([`Function::insts`]); [`Function::order`] lists those with a place in the program,
//! blocks and their ends included. Constants have no place. Values are folded and shared while they are made
//! ([`builder`]), passes only mark what is live and give types.

pub mod builder;
pub mod print;

use crate::ViewKind;

/// An instruction and its result: index into [`Function::insts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

impl Value {
    /// No value.
    pub const NONE: Value = Value(u32::MAX);

    /// Whether there is a value.
    pub fn is_some(self) -> bool {
        self != Value::NONE
    }

    /// Index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How an operand is read, or what a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Nothing.
    None,
    /// Word read as binary32.
    F,
    /// Word read as integer.
    U,
    /// Word of either type.
    P,
    /// Truth value.
    B,
    /// Binary64.
    D,
    /// Vector of four words, all of one type.
    V,
    /// Immediate number, not a value.
    I,
}

macro_rules! ops {
    ($($(#[$doc:meta])* $name:ident $result:ident [$($arg:ident)*] $effect:literal;)*) => {
        /// An operation. Its line in the source gives result, operands, and whether it has an effect beyond the result.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[allow(missing_docs)]
        pub enum Op { $($(#[$doc])* $name,)* }

        /// Result, operands, effect by operation.
        static SIGNATURES: &[(Class, &[Class], bool)] = &[$((Class::$result, &[$(Class::$arg),*], $effect),)*];
    };
}

ops! {
    /// Word constant.
    Const P [I] false;
    /// Truth constant.
    Truth B [I] false;
    /// Pairs (block, value) in `extra`: args are start and number of pairs.
    Phi P [I I] false;
    PhiB B [I I] false;
    Select P [B P P] false;
    SelectB B [B B B] false;

    FAdd F [F F] false;
    FSub F [F F] false;
    FMul F [F F] false;
    FFma F [F F F] false;
    FNeg F [F] false;
    FAbs F [F] false;
    FMin F [F F] false;
    FMax F [F F] false;
    /// Clamp to 0..1, NaN to 0.
    FSat F [F] false;
    FFloor F [F] false;
    FCeil F [F] false;
    FTrunc F [F] false;
    FRound F [F] false;
    FSin F [F] false;
    FCos F [F] false;
    FExp2 F [F] false;
    FLog2 F [F] false;
    FRcp F [F] false;
    FRsq F [F] false;
    FSqrt F [F] false;
    FIsNan B [F] false;
    FLt B [F F] false;
    FLe B [F F] false;
    FEq B [F F] false;
    FNe B [F F] false;
    FGt B [F F] false;
    FGe B [F F] false;
    FLtU B [F F] false;
    FLeU B [F F] false;
    FEqU B [F F] false;
    FNeU B [F F] false;
    FGtU B [F F] false;
    FGeU B [F F] false;
    DPdx F [F] false;
    DPdy F [F] false;

    DAdd D [D D] false;
    DMul D [D D] false;
    DFma D [D D D] false;
    DNeg D [D] false;
    DAbs D [D] false;
    DMin D [D D] false;
    DMax D [D D] false;
    DFloor D [D] false;
    DCeil D [D] false;
    DTrunc D [D] false;
    DRound D [D] false;
    DSqrt D [D] false;
    DRcp D [D] false;
    DRsq D [D] false;
    DIsNan B [D] false;
    DLt B [D D] false;
    DLe B [D D] false;
    DEq B [D D] false;
    DNe B [D D] false;
    DGt B [D D] false;
    DGe B [D D] false;
    /// Low and high word to double, and back.
    DPack D [U U] false;
    DLow U [D] false;
    DHigh U [D] false;
    FToD D [F] false;
    DToF F [D] false;
    DToS U [D] false;
    DToU U [D] false;
    SToD D [U] false;
    UToD D [U] false;

    IAdd U [U U] false;
    ISub U [U U] false;
    IMul U [U U] false;
    INeg U [U] false;
    UMulHi U [U U] false;
    SMulHi U [U U] false;
    And U [U U] false;
    Or U [U U] false;
    Xor U [U U] false;
    Not U [U] false;
    Shl U [U U] false;
    Shr U [U U] false;
    Sar U [U U] false;
    BitCount U [U] false;
    BitReverse U [U] false;
    /// Value, start, count.
    BfeU U [U U U] false;
    BfeS U [U U U] false;
    /// Base, insert, start, count.
    Bfi U [U U U U] false;
    FindMsbU U [U] false;
    FindMsbS U [U] false;
    UMin U [U U] false;
    UMax U [U U] false;
    SMin U [U U] false;
    SMax U [U U] false;
    IEq B [U U] false;
    INe B [U U] false;
    ULt B [U U] false;
    ULe B [U U] false;
    UGt B [U U] false;
    UGe B [U U] false;
    SLt B [U U] false;
    SLe B [U U] false;
    SGt B [U U] false;
    SGe B [U U] false;

    BAnd B [B B] false;
    BOr B [B B] false;
    BXor B [B B] false;
    BNot B [B] false;

    FToS U [F] false;
    FToU U [F] false;
    SToF F [U] false;
    UToF F [U] false;
    /// Two floats to two halves, the first low.
    PackHalf U [F F] false;
    HalfLow F [U] false;
    HalfHigh F [U] false;

    /// Bank, byte offset.
    LoadConst P [I I] false;
    /// Bank, computed byte offset.
    LoadConstAt P [I U] false;
    /// Bank, index of a vector of four words (`passes::constants`).
    LoadConstVector V [I U] false;
    /// Bank, index of a vector, component.
    LoadConstPart P [I U I] false;
    /// Slot, word index, memory epoch.
    LoadStorage U [I U I] false;
    StoreStorage None [I U U] true;
    /// Slot, index of a vector of four words, memory epoch (`passes::storage`).
    LoadStorageVector V [I U I] false;
    /// Slot, index of a vector, component, memory epoch.
    LoadStoragePart U [I U I I] false;
    /// Slot, index of a vector, list of its four words in `extra`.
    StoreStorageVector None [I U I] true;
    /// Slot, index of a vector, value, component.
    StoreStoragePart None [I U U I] true;
    /// Slot, word index, value, compare, atomic operation.
    AtomicStorage U [I U U U I] true;
    /// Address low, high, memory epoch.
    LoadGlobal U [U U I] false;
    /// Address low, high, memory epoch, words (2 or 4), to which the address is aligned.
    LoadGlobalWide V [U U I I] false;
    StoreGlobal None [U U U] true;
    /// List of address and words in `extra`, words (2 or 4).
    StoreGlobalWide None [I I] true;
    AtomicGlobal U [U U U U I] true;
    /// Word index, memory epoch.
    LoadShared U [U I] false;
    StoreShared None [U U] true;
    AtomicShared U [U U U I] true;
    /// List of place and words in `extra`, atomic operation, slot (none for raw memory): two words.
    AtomicWide V [I I I] true;
    /// Sum of a word over the workgroup; a barrier.
    CountAtBarrier U [U] true;
    LoadLocal P [U I] false;
    StoreLocal None [U P] true;

    /// Location.
    LoadInput V [I] false;
    /// Location, vertex.
    LoadInputAt V [I U] false;
    /// Location, sample mode (1 centroid, 2 offset), offset x and y.
    LoadInputSampled V [I I F F] false;
    /// Location of a per-patch input.
    LoadPatch V [I] false;
    /// Built-in of that number.
    Builtin P [I] false;
    /// The same; epoch, for one that changes.
    BuiltinB B [I I] false;
    /// Built-in of an input vertex, component.
    BuiltinAt P [I U] false;
    /// Output of a tessellation control invocation: address / 4, vertex, memory epoch.
    LoadOutputAt P [I U I] false;
    Extract P [V I] false;

    /// Four components from `extra` to an output: which output, start in `extra`.
    StoreOutput None [I I] true;
    /// Per-vertex output of tessellation control: address / 4, value; per-patch output.
    StoreOutputWord None [I P] true;
    StorePatchWord None [I P] true;
    LoadPatchOutput P [I I] false;
    StoreColour None [I I] true;
    StoreDepth None [F] true;
    StoreSampleMask None [U] true;
    Demote None [] true;
    /// Stream.
    EmitVertex None [I] true;
    EndPrimitive None [I] true;
    Barrier None [] true;
    /// Level.
    MemoryBarrier None [I] true;

    /// Value, direction (0 horizontal, 1 vertical, 2 diagonal).
    QuadSwap P [P I] false;
    QuadBroadcast P [P I] false;
    /// Value, lane, place (so that two are never shared: the active lanes may differ).
    Shuffle P [P U I] false;
    /// Ballot of 32 lanes; place.
    Ballot U [B I] false;
    VoteAll B [B I] false;
    VoteAny B [B I] false;

    /// Index into [`Function::textures`].
    Texture V [I] false;
    /// Words of a query, index into [`Function::textures`].
    TextureQuery V [I] false;
    /// Size of an image: index into [`Function::images`].
    ImageSize V [I] false;
    /// Index into [`Function::images`].
    ImageLoad V [I] false;
    ImageStore None [I] true;
    ImageAtomic U [I] true;

    /// A block begins: label, scope, scope of the block that dominates it.
    Label None [I I I] true;
    /// Condition, then, otherwise, merge.
    If None [B I I I] true;
    /// Body, merge.
    Scope None [I I] true;
    /// Body, merge, resume.
    Loop None [I I I] true;
    /// Value, first label, number, merge.
    Dispatch None [U I I I] true;
    Goto None [I] true;
    Return None [] true;
    Unreachable None [] true;
}

impl Op {
    /// What the result is.
    #[inline]
    pub fn result(self) -> Class {
        SIGNATURES[self as usize].0
    }

    /// How the operands are read.
    #[inline]
    pub fn operands(self) -> &'static [Class] {
        SIGNATURES[self as usize].1
    }

    /// Whether it is kept when nobody reads the result.
    #[inline]
    pub fn has_effect(self) -> bool {
        SIGNATURES[self as usize].2
    }
}

/// Type of a word in SPIR-V, given by `passes::types`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WordType {
    /// 32-bit unsigned integer.
    #[default]
    Uint,
    /// Binary32.
    Float,
}

/// Atomic operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
#[repr(u8)]
pub enum Atomic {
    Add = 0,
    UMin,
    UMax,
    SMin,
    SMax,
    And,
    Or,
    Xor,
    Exchange,
    CompareExchange,
    /// One more, or 0 from the operand on.
    Increment,
    /// One less; from 0, and above the operand, the operand.
    Decrement,
    /// Binary32 sum, denormals flushed.
    FloatAdd,
    /// Sums of two packed halves.
    HalvesAdd,
    /// Nothing is written: a load that sees what other threads write meanwhile, however often it is made.
    Load,
}

impl Atomic {
    /// How many there are.
    pub const COUNT: usize = 15;

    /// Has SPIR-V no such operation, so that it is a loop around compare-exchange?
    pub fn is_loop(self) -> bool {
        matches!(self, Atomic::Increment | Atomic::Decrement | Atomic::FloatAdd | Atomic::HalvesAdd)
    }

    /// The operation of that number.
    pub fn from_number(n: u32) -> Atomic {
        [
            Atomic::Add,
            Atomic::UMin,
            Atomic::UMax,
            Atomic::SMin,
            Atomic::SMax,
            Atomic::And,
            Atomic::Or,
            Atomic::Xor,
            Atomic::Exchange,
            Atomic::CompareExchange,
            Atomic::Increment,
            Atomic::Decrement,
            Atomic::FloatAdd,
            Atomic::HalvesAdd,
            Atomic::Load,
        ][(n as usize).min(14)]
    }
}

/// Built-in values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
#[repr(u8)]
pub enum Builtin {
    VertexIndex = 0,
    InstanceIndex,
    BaseVertex,
    BaseInstance,
    DrawIndex,
    FragCoordX,
    FragCoordY,
    FragCoordZ,
    FragCoordW,
    FrontFacing,
    PointCoordX,
    PointCoordY,
    Layer,
    ViewportIndex,
    PrimitiveId,
    SampleId,
    SamplePositionX,
    SamplePositionY,
    SampleMask,
    HelperInvocation,
    LocalIdX,
    LocalIdY,
    LocalIdZ,
    GroupIdX,
    GroupIdY,
    GroupIdZ,
    GroupCountX,
    GroupCountY,
    GroupCountZ,
    InvocationId,
    PatchVertices,
    TessCoordX,
    TessCoordY,
    LaneId,
    LocalIndex,
    TessOuter0,
    TessOuter1,
    TessOuter2,
    TessOuter3,
    TessInner0,
    TessInner1,
    /// Clip distances 0 to 7.
    ClipDistance0,
}

/// Kinds of texture access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureOp {
    /// Sample with the implicit level (explicit level 0 outside fragment programs), bias in `lod` when set.
    Sample,
    /// Sample at level `lod`.
    SampleLod,
    /// Sample with derivatives in `grad`.
    SampleGrad,
    /// Fetch a texel at level `lod`.
    Fetch,
    /// Gather `component`.
    Gather,
    /// Size at level `lod`.
    Size,
    /// Number of levels.
    Levels,
    /// Level of detail.
    Lod,
    /// Samples.
    Samples,
}

/// One texture access; absent operands are [`Value::NONE`].
#[derive(Clone, Copy, Debug)]
pub struct TextureAccess {
    /// What it does.
    pub op: TextureOp,
    /// The handle word.
    pub handle: Value,
    /// Its word in the layout's bank, when bound.
    pub bound: Option<u32>,
    /// View kind.
    pub kind: ViewKind,
    /// Coordinates, the array layer last.
    pub coords: [Value; 4],
    /// Level or bias.
    pub lod: Value,
    /// Depth reference.
    pub reference: Value,
    /// Derivatives x0, y0, x1, y1, x2, y2.
    pub grad: [Value; 6],
    /// Offsets of the coordinates.
    pub offset: [Value; 3],
    /// Four gather offsets x0, y0, x1, y1 ...
    pub offsets: Option<[Value; 8]>,
    /// Sample index.
    pub sample: Value,
    /// Gathered component.
    pub component: u32,
}

impl TextureAccess {
    /// Calls `f` with each operand and how it is read.
    pub fn operands(&self, mut f: impl FnMut(Value, Class)) {
        let coordinate = match self.op {
            TextureOp::Fetch => Class::U,
            _ => Class::F,
        };
        f(self.handle, Class::U);
        for &c in self.coords.iter().filter(|c| c.is_some()) {
            f(c, coordinate);
        }
        let level = match self.op {
            TextureOp::Fetch | TextureOp::Size => Class::U,
            _ => Class::F,
        };
        let mut some = |v: Value, c| {
            if v.is_some() {
                f(v, c);
            }
        };
        some(self.lod, level);
        some(self.reference, Class::F);
        for g in self.grad {
            some(g, Class::F);
        }
        for o in self.offset {
            some(o, Class::U);
        }
        for &o in self.offsets.iter().flatten() {
            some(o, Class::U);
        }
        some(self.sample, Class::U);
    }
}

/// One image access; absent operands are [`Value::NONE`].
#[derive(Clone, Copy, Debug)]
pub struct ImageAccess {
    /// The handle word.
    pub handle: Value,
    /// Its word in the layout's bank, when bound.
    pub bound: Option<u32>,
    /// View kind.
    pub kind: ViewKind,
    /// Raw view.
    pub raw: bool,
    /// Coordinates, the array layer last.
    pub coords: [Value; 3],
    /// Values stored; the atomic's value and compare.
    pub data: [Value; 4],
    /// Words of a raw texel (or of the values stored).
    pub words: u32,
    /// The atomic operation.
    pub atomic: Atomic,
    /// Values stored are floats.
    pub float: bool,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    /// Operation.
    pub op: Op,
    /// Operands, values or numbers as [`Op::operands`] says.
    pub args: [u32; 5],
}

/// A program in IR.
#[derive(Debug, Default)]
pub struct Function {
    /// All instructions.
    pub insts: Vec<Inst>,
    /// Those with a place, in SPIR-V order.
    pub order: Vec<Value>,
    /// Operand lists.
    pub extra: Vec<u32>,
    /// Texture accesses.
    pub textures: Vec<TextureAccess>,
    /// Image accesses.
    pub images: Vec<ImageAccess>,
    /// Type of each word (of the components, for vectors).
    pub types: Vec<WordType>,
    /// What each value was replaced by; itself in general.
    pub alias: Vec<Value>,
    /// Which values are live.
    pub live: Vec<bool>,
    /// Storage slots that are arrays of vectors: bit N is slot N.
    pub vectors: u32,
}

impl Function {
    /// Empties the function, keeping its memory.
    pub fn clear(&mut self) {
        self.insts.clear();
        self.order.clear();
        self.extra.clear();
        self.textures.clear();
        self.images.clear();
        self.types.clear();
        self.alias.clear();
        self.live.clear();
        self.vectors = 0;
    }

    /// The instruction that makes `v`.
    #[inline]
    pub fn inst(&self, v: Value) -> &Inst {
        &self.insts[v.index()]
    }

    /// The constant that `v` is.
    #[inline]
    pub fn constant(&self, v: Value) -> Option<u32> {
        let inst = self.inst(v);
        (inst.op == Op::Const).then_some(inst.args[0])
    }

    /// The truth constant that `v` is.
    #[inline]
    pub fn truth(&self, v: Value) -> Option<bool> {
        let inst = self.inst(v);
        (inst.op == Op::Truth).then_some(inst.args[0] != 0)
    }

    /// What `v` stands for after replacements.
    #[inline]
    pub fn resolve(&self, mut v: Value) -> Value {
        while let Some(&a) = self.alias.get(v.index())
            && a != v
        {
            v = a;
        }
        v
    }

    /// Calls `f` with each value operand of `v` (before replacement) and how it is read.
    pub fn operands(&self, v: Value, mut f: impl FnMut(Value, Class)) {
        let inst = self.inst(v);
        match inst.op {
            Op::Phi | Op::PhiB => {
                let class = inst.op.result();
                for i in 0..inst.args[1] {
                    f(Value(self.extra[(inst.args[0] + 2 * i + 1) as usize]), class);
                }
            }
            Op::StoreOutput | Op::StoreColour => {
                for i in 0..4 {
                    let v = Value(self.extra[(inst.args[1] + i) as usize]);
                    if v.is_some() {
                        f(v, Class::P);
                    }
                }
            }
            Op::StoreStorageVector => {
                f(Value(inst.args[1]), Class::U);
                for i in 0..4 {
                    f(Value(self.extra[(inst.args[2] + i) as usize]), Class::P);
                }
            }
            Op::StoreGlobalWide => {
                for n in 0..2 + inst.args[1] {
                    f(Value(self.extra[(inst.args[0] + n) as usize]), Class::U);
                }
            }
            Op::AtomicWide => {
                for n in 0..6 {
                    let v = Value(self.extra[(inst.args[0] + n) as usize]);
                    if v.is_some() {
                        f(v, Class::U);
                    }
                }
            }
            Op::Texture | Op::TextureQuery => self.textures[inst.args[0] as usize].operands(f),
            Op::ImageSize | Op::ImageLoad | Op::ImageStore | Op::ImageAtomic => {
                let access = &self.images[inst.args[0] as usize];
                f(access.handle, Class::U);
                for &c in access.coords.iter().filter(|c| c.is_some()) {
                    f(c, Class::U);
                }
                let class = if access.float { Class::F } else { Class::U };
                for &d in access.data.iter().filter(|d| d.is_some()) {
                    f(d, class);
                }
            }
            _ => {
                for (&class, &arg) in inst.op.operands().iter().zip(&inst.args) {
                    if class != Class::I && Value(arg).is_some() {
                        f(Value(arg), class);
                    }
                }
            }
        }
    }
}
