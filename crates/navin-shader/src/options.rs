//! What the caller tells the translator beyond the program: constant layout, device, types that the ISA lacks.

use crate::{SampledType, Stage, ViewKind};

/// Where the driver puts what a program reads from constant banks 0 and 2 (`facts/nvn_driver_constants.md`).
///
/// Navin is the driver, so this one description is used by both sides: the translator recognises the reads, the
/// driver fills the words. All offsets are bytes in bank 0 unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstantLayoutTable {
    /// Name, for configuration and logs.
    pub name: &'static str,
    /// Bank that texture instructions take their handle words from.
    pub texture_bank: u32,
    /// Word of bound texture 0 in `texture_bank`.
    pub texture_first_word: u32,
    /// Words from one bound texture to the next.
    pub texture_word_stride: u32,
    /// The same as size and level queries (TXQ) count them: the corpus's compiler names word first + N for texture N.
    pub query_word_stride: u32,
    /// Bank that image instructions take their handle words from.
    pub image_bank: u32,
    /// Word of bound image 0 in `image_bank`; images follow word by word.
    pub image_first_word: u32,
    /// Storage-buffer tables by [`Stage::ALL`] order: 16 bytes a slot: 64-bit address, 32-bit size, 4 unused.
    pub storage_tables: [u32; 6],
    /// Slots of a storage-buffer table.
    pub storage_slots: u32,
    /// Base vertex of the draw (vertex).
    pub base_vertex: u32,
    /// Base instance of the draw (vertex).
    pub base_instance: u32,
    /// Index of the draw in a multi-draw (vertex).
    pub draw_index: u32,
    /// Number of workgroups x, y, z (compute), where known.
    pub workgroup_count: Option<[u32; 3]>,
    /// Packed sample positions (fragment), where known: see the corpus notes.
    pub sample_positions: Option<u32>,
    /// Compute: 64-bit addresses of uniform blocks 5 and up lie at this offset plus 8 N, where known.
    pub compute_block_pointers: Option<u32>,
}

impl ConstantLayoutTable {
    /// What programs made by the platform's own compiler assume, as far as open sources tell.
    pub const PRODUCTION: ConstantLayoutTable = ConstantLayoutTable {
        name: "production",
        texture_bank: 2,
        texture_first_word: 8,
        texture_word_stride: 2,
        query_word_stride: 2,
        image_bank: 2,
        image_first_word: 0x28,
        storage_tables: [0x110, 0x210, 0x310, 0x410, 0x510, 0x310],
        storage_slots: 16,
        base_vertex: 0x640,
        base_instance: 0x644,
        draw_index: 0x648,
        workgroup_count: None,
        sample_positions: None,
        compute_block_pointers: None,
    };

    /// What the compiler of the test corpus assumes.
    pub const CORPUS: ConstantLayoutTable = ConstantLayoutTable {
        name: "corpus",
        texture_bank: 0,
        texture_first_word: 8,
        texture_word_stride: 2,
        query_word_stride: 1,
        image_bank: 0,
        image_first_word: 0x28,
        storage_tables: [0xC0, 0x260, 0x400, 0x5A0, 0xC8, 0x150],
        storage_slots: 16,
        base_vertex: 0,
        base_instance: 4,
        draw_index: 8,
        workgroup_count: Some([0xC, 0x10, 0x14]),
        sample_positions: Some(0x830),
        compute_block_pointers: Some(0x28),
    };

    /// Word of `texture_bank` that holds the handle of bound texture `n`.
    pub fn texture_word(&self, n: u32) -> u32 {
        self.texture_first_word + self.texture_word_stride * n
    }

    /// Word of `image_bank` that holds the handle of bound image `n`.
    pub fn image_word(&self, n: u32) -> u32 {
        self.image_first_word + n
    }

    /// Byte offset in bank 0 of storage slot `slot`'s address in a program of `stage`.
    pub fn storage_entry(&self, stage: Stage, slot: u32) -> u32 {
        self.storage_table(stage) + 16 * slot
    }

    /// Byte offset in bank 0 of the storage table of `stage`.
    pub fn storage_table(&self, stage: Stage) -> u32 {
        self.storage_tables[match stage {
            Stage::Vertex => 0,
            Stage::TessControl => 1,
            Stage::TessEvaluation => 2,
            Stage::Geometry => 3,
            Stage::Fragment => 4,
            Stage::Compute => 5,
        }]
    }
}

/// The bank that holds state which Vulkan has no commands for, read by programs translated for it
/// ([`Options::alpha_test`], [`Options::point_size`]). No guest's program reads it: uniform blocks end a bank before.
pub mod state_bank {
    /// The bank.
    pub const BANK: u32 = 17;
    /// Byte of the alpha test's reference, a float.
    pub const ALPHA_REFERENCE: u32 = 0;
    /// Byte of the alpha test's function: 1 passes less, 2 equal, 4 greater, and their sums; 7 passes all.
    pub const ALPHA_FUNCTION: u32 = 4;
    /// Byte of the point size, a float.
    pub const POINT_SIZE: u32 = 8;
    /// Bytes in all.
    pub const BYTES: usize = 16;
}

/// The two known layouts by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ConstantLayout {
    /// Programs of the platform's compiler.
    #[default]
    Production,
    /// Programs of the test corpus.
    Corpus,
}

impl ConstantLayout {
    /// The layout that a program was compiled for, by its control section. The open compiler's programs say version
    /// 1.5, which no shipped compiler's do (B418 knows 1.9 to 1.16), and hold these constants.
    pub fn detect(control: &[u8]) -> ConstantLayout {
        let word = |at: usize| control.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let signature =
            [(0x04, 1), (0x08, 5), (0x0C, 0x120), (0x10, 0xB), (0x14, 0x7C0), (0x20, 0x7C1), (0x6F0, 0x7C1)];
        if signature.iter().all(|(at, value)| word(*at) == Some(*value)) {
            ConstantLayout::Corpus
        } else {
            ConstantLayout::Production
        }
    }

    /// The table of this layout.
    pub fn table(self) -> &'static ConstantLayoutTable {
        match self {
            ConstantLayout::Production => &ConstantLayoutTable::PRODUCTION,
            ConstantLayout::Corpus => &ConstantLayoutTable::CORPUS,
        }
    }
}

/// Type of a vertex attribute or colour output: the ISA moves bits, Vulkan wants the type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AttributeType {
    /// Take what the program's instructions suggest.
    #[default]
    Infer,
    /// Float, normalised or scaled formats.
    Float,
    /// Signed integer formats.
    Sint,
    /// Unsigned integer formats.
    Uint,
}

/// Domain of a tessellation evaluation program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TessellationDomain {
    /// Triangles.
    Triangles,
    /// Quads.
    Quads,
    /// Isolines.
    Isolines,
}

/// Spacing of tessellated edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TessellationSpacing {
    /// Equal.
    Equal,
    /// Fractional, even.
    FractionalEven,
    /// Fractional, odd.
    FractionalOdd,
}

/// What a tessellation evaluation program does not say of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TessellationMode {
    /// Domain.
    pub domain: TessellationDomain,
    /// Spacing.
    pub spacing: TessellationSpacing,
    /// Clockwise triangles.
    pub clockwise: bool,
    /// A point for each vertex.
    pub point_mode: bool,
}

/// Input primitive of a geometry program, which the program does not say of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GeometryInput {
    /// One vertex.
    Points,
    /// Two.
    Lines,
    /// Four.
    LinesAdjacency,
    /// Three.
    Triangles,
    /// Six.
    TrianglesAdjacency,
}

impl GeometryInput {
    /// Those of its vertices that a pass-through program puts out: the primitive without what is adjacent.
    pub fn passed_vertices(self) -> &'static [u32] {
        match self {
            GeometryInput::Points => &[0],
            GeometryInput::Lines => &[0, 1],
            GeometryInput::LinesAdjacency => &[1, 2],
            GeometryInput::Triangles => &[0, 1, 2],
            GeometryInput::TrianglesAdjacency => &[0, 2, 4],
        }
    }

    /// Vertices of the input primitive.
    pub fn vertices(self) -> u32 {
        match self {
            GeometryInput::Points => 1,
            GeometryInput::Lines => 2,
            GeometryInput::LinesAdjacency => 4,
            GeometryInput::Triangles => 3,
            GeometryInput::TrianglesAdjacency => 6,
        }
    }
}

bitflags::bitflags! {
    /// Optional features of the device that the translator may use.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct DeviceFeatures: u32 {
        /// `shaderFloat64`.
        const FLOAT64 = 1 << 0;
        /// `shaderInt64`.
        const INT64 = 1 << 1;
        /// `shaderDenormFlushToZeroFloat32`.
        const FLUSH_DENORMS = 1 << 2;
        /// `shaderDenormPreserveFloat32`.
        const PRESERVE_DENORMS = 1 << 3;
        /// `shaderSignedZeroInfNanPreserveFloat32`.
        const PRESERVE_NAN = 1 << 4;
        /// `shaderOutputLayer` and `shaderOutputViewportIndex`.
        const OUTPUT_LAYER = 1 << 5;
        /// `shaderStorageImageReadWithoutFormat` and `WriteWithoutFormat`.
        const FORMATLESS_IMAGES = 1 << 6;
        /// `fragmentShaderSampleInterlock` or alike is not used; `sampleRateShading`.
        const SAMPLE_SHADING = 1 << 7;
        /// `shaderSignedZeroInfNanPreserveFloat64`.
        const PRESERVE_NAN64 = 1 << 8;
        /// `shaderBufferInt64Atomics`, and `shaderInt64` with it.
        const ATOMIC_INT64 = 1 << 9;
        /// Minimum and maximum take -0 for less than +0, as the machine does: NVIDIA's GPUs do, and Mesa where
        /// [`DeviceFeatures::PRESERVE_NAN`] is asked for. Vulkan does not say.
        const ORDERED_ZEROS = 1 << 10;
    }
}

/// What a translation depends on beside the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Constant layout that the program was compiled for.
    pub layout: &'static ConstantLayoutTable,
    /// Lanes of the device's subgroup: with 32, warp operations are subgroup operations. Compute programs may assume
    /// that 32 threads in a row are a warp, so with other sizes theirs go through shared memory; graphics programs may
    /// not, and a smaller subgroup is to them a warp of which some lanes are not there.
    pub subgroup_size: u32,
    /// A diagnostic: all loops of a thread together end after so many rounds (B604).
    pub loop_limit: Option<u32>,
    /// Types of vertex attributes by location.
    pub attribute_types: [AttributeType; 32],
    /// Types of colour outputs by location.
    pub colour_types: [AttributeType; 8],
    /// Tessellation evaluation: what the source said; triangles, equal spacing when `None`.
    pub tessellation: Option<TessellationMode>,
    /// Tessellation control: vertices of an input patch (the array size of inputs).
    pub patch_vertices: u32,
    /// Geometry: input primitive; guessed from the highest vertex read when `None`.
    pub geometry_input: Option<GeometryInput>,
    /// View kinds of textures that an instruction leaves open (1D or buffer; queries), by word of the handle bank.
    pub texture_kinds: Vec<(u32, ViewKind)>,
    /// Component types of stored images that the stored values leave open, by word of the image handle bank.
    pub image_types: Vec<(u32, SampledType)>,
    /// Fragment: bit t is target t. A program without multiple targets gives its only colour to all of these.
    pub colour_targets: u8,
    /// Fragment: colour output 1 is the second source of blending, not a second target.
    pub dual_source: bool,
    /// Fragment: fragments whose first colour fails the alpha test of [`state_bank`] are killed.
    pub alpha_test: bool,
    /// Vertex, tessellation evaluation, geometry: a program that writes no point size takes that of [`state_bank`].
    pub point_size: bool,
    /// Compute: most workgroups of a dispatch by axis, `maxComputeWorkGroupCount`. What is known of an index hangs on it.
    pub max_groups: [u32; 3],
    /// Optional device features.
    pub features: DeviceFeatures,
}

impl Options {
    /// Whether warp operations of a stage go through shared memory.
    pub(crate) fn emulates_warps(&self, stage: crate::Stage) -> bool {
        stage == crate::Stage::Compute && self.subgroup_size != 32
    }

    /// Options for programs of `layout` on a device with 32 lanes and the optional features that nearly all have.
    pub fn new(layout: ConstantLayout) -> Options {
        Options {
            layout: layout.table(),
            subgroup_size: 32,
            loop_limit: None,
            attribute_types: [AttributeType::Infer; 32],
            colour_types: [AttributeType::Infer; 8],
            tessellation: None,
            patch_vertices: 32,
            geometry_input: None,
            texture_kinds: Vec::new(),
            image_types: Vec::new(),
            colour_targets: 0xFF,
            dual_source: false,
            alpha_test: false,
            point_size: false,
            max_groups: [65535; 3],
            features: DeviceFeatures::all()
                - DeviceFeatures::FLUSH_DENORMS
                - DeviceFeatures::PRESERVE_DENORMS
                - DeviceFeatures::PRESERVE_NAN64
                - DeviceFeatures::ATOMIC_INT64,
        }
    }
}
