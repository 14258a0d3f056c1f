//! The interface of a translated program as plain data: what it reads and writes, for whoever binds it.

use crate::{AttributeType, GeometryInput, Stage};

/// View kind of a texture or image: the index k of the descriptor arrays of set 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ViewKind {
    /// 1D.
    D1 = 0,
    /// 1D array.
    D1Array = 1,
    /// 2D.
    D2 = 2,
    /// 2D array.
    D2Array = 3,
    /// 3D.
    D3 = 4,
    /// Cube.
    Cube = 5,
    /// Cube array.
    CubeArray = 6,
    /// 2D multisampled.
    D2Multisampled = 7,
    /// 2D multisampled array.
    D2MultisampledArray = 8,
    /// Texel buffer.
    Buffer = 9,
}

impl ViewKind {
    /// Every kind, by index.
    pub const ALL: [ViewKind; 10] = [
        ViewKind::D1,
        ViewKind::D1Array,
        ViewKind::D2,
        ViewKind::D2Array,
        ViewKind::D3,
        ViewKind::Cube,
        ViewKind::CubeArray,
        ViewKind::D2Multisampled,
        ViewKind::D2MultisampledArray,
        ViewKind::Buffer,
    ];
}

/// Bindings of set 0 and of a stage's set (`docs/ARCHITECTURE.md`, "Shader interface").
pub mod binding {
    /// Set 0: texture id to slot.
    pub const TEXTURE_TABLE: u32 = 0;
    /// Set 0: sampler id to slot.
    pub const SAMPLER_TABLE: u32 = 1;
    /// Set 0: sampled images of view kind 0; kind k follows at + k.
    pub const TEXTURES: u32 = 2;
    /// Set 0: samplers.
    pub const SAMPLERS: u32 = 12;
    /// Set 0: storage images, typed views, of view kind 0.
    pub const IMAGES_TYPED: u32 = 13;
    /// Set 0: storage images, raw views, of view kind 0.
    pub const IMAGES_RAW: u32 = 23;
    /// Set 0: root of the page table.
    pub const PAGE_TABLE: u32 = 33;
    /// Stage set: storage-buffer slot 0; slot N follows at + N.
    pub const STORAGE: u32 = 18;
    /// Elements of the texture arrays.
    pub const TEXTURE_SLOTS: u32 = 16384;
    /// Elements of the sampler array.
    pub const SAMPLER_SLOTS: u32 = 4096;
    /// Elements of the storage-image arrays.
    pub const IMAGE_SLOTS: u32 = 4096;
}

/// Where an instruction takes its texture or image handle from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HandleSource {
    /// Word of the layout's texture or image bank.
    Bound(u32),
    /// Computed by the program, or read from another bank: any id of the pools.
    Bindless,
}

/// Component type that a program expects of a texture or image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SampledType {
    /// Float, normalised, depth.
    Float,
    /// Integer; the bits are the same for signed and unsigned.
    Uint,
}

/// A way in which a program uses textures. Each combination is listed once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureUse {
    /// Where the handle comes from.
    pub handle: HandleSource,
    /// View kind.
    pub kind: ViewKind,
    /// Depth comparison.
    pub shadow: bool,
    /// Component type expected.
    pub sampled: SampledType,
}

bitflags::bitflags! {
    /// How a program accesses images.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct ImageAccess: u8 {
        /// Loads.
        const LOAD = 1;
        /// Stores.
        const STORE = 2;
        /// Atomics.
        const ATOMIC = 4;
    }

    /// What a translated program needs of the device beyond Vulkan 1.3's required features.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Requirements: u64 {
        /// `shaderFloat64`.
        const FLOAT64 = 1 << 0;
        /// `bufferDeviceAddress` (raw global memory).
        const DEVICE_ADDRESS = 1 << 1;
        /// `shaderSampledImageArrayDynamicIndexing`.
        const TEXTURE_INDEXING = 1 << 2;
        /// `shaderSampledImageArrayNonUniformIndexing`.
        const TEXTURE_NON_UNIFORM = 1 << 3;
        /// `shaderStorageImageArrayDynamicIndexing`.
        const IMAGE_INDEXING = 1 << 4;
        /// `shaderStorageImageArrayNonUniformIndexing`.
        const IMAGE_NON_UNIFORM = 1 << 5;
        /// `shaderStorageImageReadWithoutFormat`.
        const IMAGE_READ_FORMATLESS = 1 << 6;
        /// `shaderStorageImageWriteWithoutFormat`.
        const IMAGE_WRITE_FORMATLESS = 1 << 7;
        /// `shaderClipDistance`.
        const CLIP_DISTANCE = 1 << 8;
        /// `shaderOutputLayer` (from a vertex or evaluation program).
        const OUTPUT_LAYER = 1 << 9;
        /// `shaderOutputViewportIndex`.
        const OUTPUT_VIEWPORT = 1 << 10;
        /// `multiViewport`.
        const MULTI_VIEWPORT = 1 << 11;
        /// `sampleRateShading`.
        const SAMPLE_SHADING = 1 << 12;
        /// `shaderDrawParameters`.
        const DRAW_PARAMETERS = 1 << 13;
        /// `shaderImageGatherExtended`.
        const GATHER_EXTENDED = 1 << 14;
        /// `geometryShader`.
        const GEOMETRY = 1 << 15;
        /// `tessellationShader`.
        const TESSELLATION = 1 << 16;
        /// `fragmentStoresAndAtomics`.
        const FRAGMENT_STORES = 1 << 17;
        /// `vertexPipelineStoresAndAtomics`.
        const VERTEX_STORES = 1 << 18;
        /// `imageCubeArray`.
        const CUBE_ARRAY = 1 << 19;
        /// Subgroup operations: quad.
        const SUBGROUP_QUAD = 1 << 20;
        /// Subgroup operations: vote.
        const SUBGROUP_VOTE = 1 << 21;
        /// Subgroup operations: ballot.
        const SUBGROUP_BALLOT = 1 << 22;
        /// Subgroup operations: shuffle.
        const SUBGROUP_SHUFFLE = 1 << 23;
        /// `shaderDemoteToHelperInvocation` (required by Vulkan 1.3, listed for completeness).
        const DEMOTE = 1 << 24;
        /// `shaderDenormFlushToZeroFloat32`.
        const FLUSH_DENORMS = 1 << 25;
        /// `shaderDenormPreserveFloat32`.
        const PRESERVE_DENORMS = 1 << 26;
        /// `shaderStorageImageMultisample`.
        const IMAGE_MULTISAMPLE = 1 << 27;
        /// `shaderInt64`.
        const INT64 = 1 << 28;
        /// Subgroups must be whole warps: `requiredSubgroupSize` 32 or `REQUIRE_FULL_SUBGROUPS`.
        const FULL_SUBGROUPS = 1 << 29;
        /// `shaderUniformTexelBufferArrayDynamicIndexing`, `shaderStorageTexelBufferArrayDynamicIndexing`.
        const TEXEL_BUFFER_INDEXING = 1 << 30;
        /// `shaderBufferInt64Atomics`.
        const ATOMIC_INT64 = 1 << 31;
        /// `shaderTessellationAndGeometryPointSize`.
        const POINT_SIZE = 1 << 32;
        /// `shaderSignedZeroInfNanPreserveFloat32`.
        const PRESERVE_NAN = 1 << 33;
        /// `shaderSignedZeroInfNanPreserveFloat64`.
        const PRESERVE_NAN64 = 1 << 34;
        /// Subgroup operations in the program's stage: the lane's number.
        const SUBGROUP_BASIC = 1 << 35;
    }
}

/// A way in which a program uses images. Each combination of handle, kind and view is listed once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageUse {
    /// Where the handle comes from.
    pub handle: HandleSource,
    /// View kind.
    pub kind: ViewKind,
    /// The raw view (uint format of the same texel size) rather than the typed one.
    pub raw: bool,
    /// Component type expected.
    pub sampled: SampledType,
    /// Loads, stores, atomics.
    pub access: ImageAccess,
}

/// Everything that whoever binds the program has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Pipeline stage.
    pub stage: Stage,
    /// Constant banks read: bit b is bank b (binding b of the stage's set).
    pub constant_banks: u32,
    /// Bytes of each bank that the program may read: one past the highest, 65536 for computed offsets.
    pub constant_bytes: [u32; 18],
    /// Recognised storage-buffer slots: bit N is slot N (binding 18 + N of the stage's set).
    pub storage_slots: u32,
    /// Those of `storage_slots` that are written.
    pub storage_written: u32,
    /// The page table is read: raw global memory.
    pub uses_page_table: bool,
    /// Textures.
    pub textures: Vec<TextureUse>,
    /// Images.
    pub images: Vec<ImageUse>,
    /// The texture table of set 0 is read.
    pub uses_texture_table: bool,
    /// The sampler table and samplers of set 0 are read.
    pub uses_samplers: bool,
    /// Generic inputs read: bit N is location N.
    pub inputs: u32,
    /// Types of the inputs as declared (vertex attributes; others are Float).
    pub input_types: [AttributeType; 32],
    /// Generic outputs written: bit N is location N (colour outputs for fragment programs).
    pub outputs: u32,
    /// Types of colour outputs as declared.
    pub output_types: [AttributeType; 8],
    /// Geometry: the input primitive that the program was translated for, told ([`crate::Options::geometry_input`]) or
    /// guessed.
    pub geometry_input: Option<GeometryInput>,
    /// Fragment: the program has one colour, which goes to all targets that are there ([`crate::Options::colour_targets`]).
    pub one_colour: bool,
    /// Fragment: output 1 is the second source of dual-source blending; its declared index is 1 of location 0.
    pub dual_source: bool,
    /// Fragment: writes depth.
    pub writes_depth: bool,
    /// Fragment: writes the sample mask.
    pub writes_sample_mask: bool,
    /// Fragment: early fragment tests.
    pub early_fragment_tests: bool,
    /// Fragment: kills pixels.
    pub kills: bool,
    /// Fragment: runs once a sample.
    pub per_sample: bool,
    /// Workgroup size.
    pub local_size: [u32; 3],
    /// Shared memory of a workgroup.
    pub shared_bytes: u32,
    /// Local memory of a thread.
    pub local_bytes: u32,
    /// Clip distances written: bit n is distance n.
    pub clip_distances: u32,
    /// Byte addresses of attributes that the program stores to and its stage has not: those stores are dropped (B513).
    pub dropped_outputs: Vec<u32>,
    /// Vertices of a patch that a tessellation control program puts out.
    pub patch_vertices: u32,
    /// Device features needed.
    pub requirements: Requirements,
}

impl Interface {
    /// The interface of a program of `stage` that uses nothing.
    pub fn empty(stage: Stage) -> Interface {
        Interface {
            stage,
            constant_banks: 0,
            constant_bytes: [0; 18],
            storage_slots: 0,
            storage_written: 0,
            uses_page_table: false,
            textures: Vec::new(),
            images: Vec::new(),
            uses_texture_table: false,
            uses_samplers: false,
            inputs: 0,
            input_types: [AttributeType::Float; 32],
            outputs: 0,
            output_types: [AttributeType::Float; 8],
            geometry_input: None,
            one_colour: false,
            dual_source: false,
            writes_depth: false,
            writes_sample_mask: false,
            early_fragment_tests: false,
            kills: false,
            per_sample: false,
            local_size: [1; 3],
            shared_bytes: 0,
            local_bytes: 0,
            clip_distances: 0,
            dropped_outputs: Vec::new(),
            patch_vertices: 0,
            requirements: Requirements::empty(),
        }
    }

    /// Every field by name and value, lists with their index in the name's second part. Names never change, and a new
    /// field is 0 where programs do not use it: that is what makes [`Interface::stable_hash`] stable.
    pub fn fields(&self, mut field: impl FnMut(&'static str, u32, u64)) {
        field("stage", 0, self.stage as u64);
        field("constant_banks", 0, self.constant_banks.into());
        for (bank, &bytes) in (0..).zip(&self.constant_bytes) {
            field("constant_bytes", bank, bytes.into());
        }
        field("storage_slots", 0, self.storage_slots.into());
        field("storage_written", 0, self.storage_written.into());
        field("uses_page_table", 0, self.uses_page_table.into());
        let source = |handle: HandleSource| match handle {
            HandleSource::Bound(word) => 2 * u64::from(word) + 2,
            HandleSource::Bindless => 1,
        };
        for (n, t) in (0..).zip(&self.textures) {
            field("texture_handle", n, source(t.handle));
            field("texture_kind", n, t.kind as u64 + 1);
            field("texture_shadow", n, t.shadow.into());
            field("texture_sampled", n, t.sampled as u64);
        }
        for (n, i) in (0..).zip(&self.images) {
            field("image_handle", n, source(i.handle));
            field("image_kind", n, i.kind as u64 + 1);
            field("image_raw", n, i.raw.into());
            field("image_sampled", n, i.sampled as u64);
            field("image_access", n, i.access.bits().into());
        }
        field("uses_texture_table", 0, self.uses_texture_table.into());
        field("uses_samplers", 0, self.uses_samplers.into());
        field("inputs", 0, self.inputs.into());
        for (location, &t) in (0..).zip(&self.input_types) {
            field("input_types", location, if self.inputs >> location & 1 != 0 { t as u64 } else { 0 });
        }
        field("outputs", 0, self.outputs.into());
        for (location, &t) in (0..).zip(&self.output_types) {
            field("output_types", location, if self.outputs >> location & 1 != 0 { t as u64 } else { 0 });
        }
        field("dual_source", 0, self.dual_source.into());
        field("one_colour", 0, self.one_colour.into());
        field("geometry_input", 0, self.geometry_input.map_or(0, |g| g as u64 + 1));
        field("writes_depth", 0, self.writes_depth.into());
        field("writes_sample_mask", 0, self.writes_sample_mask.into());
        field("early_fragment_tests", 0, self.early_fragment_tests.into());
        field("kills", 0, self.kills.into());
        field("per_sample", 0, self.per_sample.into());
        for (axis, &n) in (0..).zip(&self.local_size) {
            field("local_size", axis, u64::from(n) - 1);
        }
        field("shared_bytes", 0, self.shared_bytes.into());
        field("local_bytes", 0, self.local_bytes.into());
        field("clip_distances", 0, self.clip_distances.into());
        field("patch_vertices", 0, self.patch_vertices.into());
        field("requirements", 0, self.requirements.bits());
        for &address in &self.dropped_outputs {
            field("dropped_outputs", address, 1);
        }
    }

    /// A hash of the fields' values, kind 2 of captures (B214): each field with its name, and nothing for a field that
    /// is 0, so that fields added or widened later keep the hash of every program that does not use them.
    pub fn stable_hash(&self) -> u64 {
        let mut sum = 0u64;
        self.fields(|name, index, value| sum = sum.wrapping_add(field_hash(name, index, value)));
        sum
    }
}

/// What one field adds to a hash: 0 for 0.
fn field_hash(name: &str, index: u32, value: u64) -> u64 {
    if value == 0 {
        return 0;
    }
    let mix = |x: u64| {
        let x = (x ^ x >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        x ^ x >> 29
    };
    let mut h = mix(0xCBF2_9CE4_8422_2325 ^ u64::from(index));
    for byte in name.bytes() {
        h = mix(h ^ u64::from(byte));
    }
    mix(mix(h ^ value) | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Interface {
        let mut i = Interface::empty(Stage::Fragment);
        i.constant_banks = 0b1001;
        i.constant_bytes[3] = 200;
        i.textures.push(TextureUse {
            handle: HandleSource::Bound(8),
            kind: ViewKind::D2,
            shadow: false,
            sampled: SampledType::Float,
        });
        i.outputs = 1;
        i
    }

    #[test]
    fn b214_the_hash_is_of_values_and_new_fields_that_are_zero_add_nothing() {
        let i = sample();
        let hash = i.stable_hash();
        assert_eq!(hash, PINNED, "the hash of a fixed interface never changes: {hash:#018x}");
        // A field added later, left at 0, and then set.
        let with = |value: u64| {
            let mut sum = 0u64;
            i.fields(|name, index, value| sum = sum.wrapping_add(field_hash(name, index, value)));
            sum.wrapping_add(field_hash("a_field_of_the_future", 0, value))
        };
        assert_eq!(with(0), hash);
        assert_ne!(with(1), hash);
        // The width of a field does not count, its value does.
        assert_eq!(field_hash("kills", 0, u8::from(true).into()), field_hash("kills", 0, u64::from(true)));
        let mut other = sample();
        other.constant_bytes[3] = 201;
        assert_ne!(other.stable_hash(), hash);
        // Values do not trade places.
        let mut moved = sample();
        moved.constant_bytes.swap(3, 4);
        assert_ne!(moved.stable_hash(), hash);
    }

    const PINNED: u64 = 0xC249_6F04_8D69_DA71;
}
