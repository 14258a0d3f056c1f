//! What no source gives and Navin therefore decides: prototypes of a few functions, layouts of a few structs.
//! `nvn.h` states these choices where it makes them.

/// A struct whose layout is ours.
pub struct Ours {
    pub name: &'static str,
    pub size: usize,
    /// Name, C type, array length, offset.
    pub fields: &'static [(&'static str, &'static str, usize, usize)],
    pub note: &'static str,
}

/// Functions whose prototype no source gives: name, return type, parameters.
///
/// A parameter too few does no harm: the callee does not read it, and the caller cleans the stack.
pub const ASSUMED_PROTOTYPES: &[(&str, &str, &str)] = &[
    // B513 names the function; its further arguments are not known and not read.
    ("nvnCommandBufferBindShadingRateImage", "void", "NVNcommandBuffer* cmdBuf"),
    // B218: the flag is 0 or 1.
    ("nvnCommandBufferSetFloatBlendClamp", "void", "NVNcommandBuffer* cmdBuf; int mode"),
    // B219.
    ("nvnCommandBufferSetRepresentativeFragmentTest", "void", "NVNcommandBuffer* cmdBuf; NVNboolean enable"),
    // B217: like the three other sizes of the queue builder.
    ("nvnQueueBuilderSetRayTracingMemorySize", "void", "NVNqueueBuilder* builder; size_t size"),
    // B421: fetched by name and called; the argument is not read.
    ("nvnSetExternalDebuggerEnabledNVX", "void", "NVNboolean enable"),
];

/// Structs that the facts know by the name of the open homebrew library: that name, ours.
pub const RENAMED: &[(&str, &str)] = &[
    ("DkDrawIndirectData", "NVNdrawArraysIndirectData"),
    ("DkDrawIndexedIndirectData", "NVNdrawElementsIndirectData"),
    ("DkDispatchIndirectData", "NVNdispatchIndirectData"),
];

/// Structs whose rows in the table describe the elements of one array: struct, field, C type, length.
pub const ARRAYS: &[(&str, &str, &str, usize)] = &[("NVNpackagedTextureLayout", "layout", "uint8_t", 8)];

/// Structs that the headers in circulation leave undefined.
pub const OURS: &[Ours] = &[
    Ours {
        name: "NVNdrawTextureRegion",
        size: 16,
        fields: &[("x", "float", 1, 0), ("y", "float", 1, 4), ("width", "float", 1, 8), ("height", "float", 1, 12)],
        note: "The layout is Navin's: origin and extent, in pixels of the target or texels of the source.",
    },
    Ours {
        name: "NVNmappingRequest",
        size: 40,
        fields: &[
            ("physicalPool", "NVNmemoryPool*", 1, 0),
            ("physicalOffset", "ptrdiff_t", 1, 8),
            ("virtualOffset", "ptrdiff_t", 1, 16),
            ("size", "size_t", 1, 24),
            ("storageClass", "NVNstorageClass", 1, 32),
            ("reserved", "uint32_t", 1, 36),
        ],
        note: "The fields are NVN's, their order is Navin's. Offsets and size are in bytes, multiples of 4 KB; a null physicalPool unmaps.",
    },
    Ours {
        name: "NVNqueueErrorInfo",
        size: 64,
        fields: &[("reserved", "uint64_t", 8, 0)],
        note: "The layout is not known. Navin never writes it.",
    },
    Ours {
        name: "NVNshaderDataExt",
        size: 16,
        fields: &[("data", "NVNbufferAddress", 1, 0), ("control", "const void*", 1, 8)],
        note: "The layout is not known; Navin takes it to begin like NVNshaderData.",
    },
    Ours {
        name: "NVNtextureSparseTileLayout",
        size: 32,
        fields: &[
            ("numTiledLevels", "int", 1, 0),
            ("tileWidth", "int", 1, 4),
            ("tileHeight", "int", 1, 8),
            ("tileDepth", "int", 1, 12),
            ("reserved", "uint8_t", 16, 16),
        ],
        note: "How many levels are at least one 64 KB tile wide, high and deep, and a tile's extent in texels. That the fields are 32-bit is an assumption.",
    },
];
