// Generated from facts/ by `cargo xtask gen`. Do not edit.

use bytemuck::{Pod, Zeroable};

use crate::GuestPtr;
use crate::enums::*;

/// A guest's `NVNdispatchIndirectData`, 12 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct NVNdispatchIndirectData {
    /// `uint32_t numGroupsX`, at byte 0.
    pub num_groups_x: u32,
    /// `uint32_t numGroupsY`, at byte 4.
    pub num_groups_y: u32,
    /// `uint32_t numGroupsZ`, at byte 8.
    pub num_groups_z: u32,
}

const _: () = {
    assert!(size_of::<NVNdispatchIndirectData>() == 12);
    assert!(core::mem::offset_of!(NVNdispatchIndirectData, num_groups_x) == 0);
    assert!(core::mem::offset_of!(NVNdispatchIndirectData, num_groups_y) == 4);
    assert!(core::mem::offset_of!(NVNdispatchIndirectData, num_groups_z) == 8);
};

/// A guest's `NVNdrawElementsIndirectData`, 20 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct NVNdrawElementsIndirectData {
    /// `uint32_t indexCount`, at byte 0.
    pub index_count: u32,
    /// `uint32_t instanceCount`, at byte 4.
    pub instance_count: u32,
    /// `uint32_t firstIndex`, at byte 8.
    pub first_index: u32,
    /// `int32_t vertexOffset`, at byte 12.
    pub vertex_offset: i32,
    /// `uint32_t firstInstance`, at byte 16.
    pub first_instance: u32,
}

const _: () = {
    assert!(size_of::<NVNdrawElementsIndirectData>() == 20);
    assert!(core::mem::offset_of!(NVNdrawElementsIndirectData, index_count) == 0);
    assert!(core::mem::offset_of!(NVNdrawElementsIndirectData, instance_count) == 4);
    assert!(core::mem::offset_of!(NVNdrawElementsIndirectData, first_index) == 8);
    assert!(core::mem::offset_of!(NVNdrawElementsIndirectData, vertex_offset) == 12);
    assert!(core::mem::offset_of!(NVNdrawElementsIndirectData, first_instance) == 16);
};

/// A guest's `NVNdrawArraysIndirectData`, 16 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct NVNdrawArraysIndirectData {
    /// `uint32_t vertexCount`, at byte 0.
    pub vertex_count: u32,
    /// `uint32_t instanceCount`, at byte 4.
    pub instance_count: u32,
    /// `uint32_t firstVertex`, at byte 8.
    pub first_vertex: u32,
    /// `uint32_t firstInstance`, at byte 12.
    pub first_instance: u32,
}

const _: () = {
    assert!(size_of::<NVNdrawArraysIndirectData>() == 16);
    assert!(core::mem::offset_of!(NVNdrawArraysIndirectData, vertex_count) == 0);
    assert!(core::mem::offset_of!(NVNdrawArraysIndirectData, instance_count) == 4);
    assert!(core::mem::offset_of!(NVNdrawArraysIndirectData, first_vertex) == 8);
    assert!(core::mem::offset_of!(NVNdrawArraysIndirectData, first_instance) == 12);
};

opaque! {
    /// A guest's `NVNblendState`.
    NVNblendState
}

/// NVN's scalar `NVNboolean`, `uint8_t` in C.
pub type NVNboolean = u8;

opaque! {
    /// A guest's `NVNbuffer`.
    NVNbuffer
}

/// NVN's scalar `NVNbufferAddress`, `uint64_t` in C.
pub type NVNbufferAddress = u64;

opaque! {
    /// A guest's `NVNbufferBuilder`.
    NVNbufferBuilder
}

/// A guest's `NVNbufferRange`, 16 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct NVNbufferRange {
    /// `NVNbufferAddress address`, at byte 0.
    pub address: NVNbufferAddress,
    /// `uint64_t size`, at byte 8.
    pub size: u64,
}

const _: () = {
    assert!(size_of::<NVNbufferRange>() == 16);
    assert!(core::mem::offset_of!(NVNbufferRange, address) == 0);
    assert!(core::mem::offset_of!(NVNbufferRange, size) == 8);
};

opaque! {
    /// A guest's `NVNchannelMaskState`.
    NVNchannelMaskState
}

opaque! {
    /// A guest's `NVNcolorState`.
    NVNcolorState
}

opaque! {
    /// A guest's `NVNcommandBuffer`.
    NVNcommandBuffer
}

/// NVN's scalar `NVNcommandHandle`, `uint64_t` in C.
pub type NVNcommandHandle = u64;

/// A guest's `NVNcopyRegion`, 24 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct NVNcopyRegion {
    /// `int xoffset`, at byte 0.
    pub xoffset: i32,
    /// `int yoffset`, at byte 4.
    pub yoffset: i32,
    /// `int zoffset`, at byte 8.
    pub zoffset: i32,
    /// `int width`, at byte 12.
    pub width: i32,
    /// `int height`, at byte 16.
    pub height: i32,
    /// `int depth`, at byte 20.
    pub depth: i32,
}

const _: () = {
    assert!(size_of::<NVNcopyRegion>() == 24);
    assert!(core::mem::offset_of!(NVNcopyRegion, xoffset) == 0);
    assert!(core::mem::offset_of!(NVNcopyRegion, yoffset) == 4);
    assert!(core::mem::offset_of!(NVNcopyRegion, zoffset) == 8);
    assert!(core::mem::offset_of!(NVNcopyRegion, width) == 12);
    assert!(core::mem::offset_of!(NVNcopyRegion, height) == 16);
    assert!(core::mem::offset_of!(NVNcopyRegion, depth) == 20);
};

/// A guest's `NVNcounterData`, 16 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct NVNcounterData {
    /// `uint64_t counter`, at byte 0.
    pub counter: u64,
    /// `uint64_t timestamp`, at byte 8.
    pub timestamp: u64,
}

const _: () = {
    assert!(size_of::<NVNcounterData>() == 16);
    assert!(core::mem::offset_of!(NVNcounterData, counter) == 0);
    assert!(core::mem::offset_of!(NVNcounterData, timestamp) == 8);
};

/// NVN's scalar `NVNdebugDomainId`, `int` in C.
pub type NVNdebugDomainId = i32;

opaque! {
    /// A guest's `NVNdepthStencilState`.
    NVNdepthStencilState
}

opaque! {
    /// A guest's `NVNdevice`.
    NVNdevice
}

opaque! {
    /// A guest's `NVNdeviceBuilder`.
    NVNdeviceBuilder
}

opaque! {
    /// A guest's `NVNevent`.
    NVNevent
}

opaque! {
    /// A guest's `NVNeventBuilder`.
    NVNeventBuilder
}

/// NVN's scalar `NVNimageHandle`, `uint64_t` in C.
pub type NVNimageHandle = u64;

opaque! {
    /// A guest's `NVNmemoryPool`.
    NVNmemoryPool
}

opaque! {
    /// A guest's `NVNmemoryPoolBuilder`.
    NVNmemoryPoolBuilder
}

opaque! {
    /// A guest's `NVNmultisampleState`.
    NVNmultisampleState
}

/// NVN's scalar `NVNnativeWindow`, `void*` in C.
pub type NVNnativeWindow = *mut core::ffi::c_void;

/// A guest's `NVNpackagedTextureLayout`, 8 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct NVNpackagedTextureLayout {
    /// `uint8_t layout`, at byte 0.
    pub layout: [u8; 8],
}

const _: () = {
    assert!(size_of::<NVNpackagedTextureLayout>() == 8);
    assert!(core::mem::offset_of!(NVNpackagedTextureLayout, layout) == 0);
};

opaque! {
    /// A guest's `NVNpolygonState`.
    NVNpolygonState
}

opaque! {
    /// A guest's `NVNprogram`.
    NVNprogram
}

opaque! {
    /// A guest's `NVNqueue`.
    NVNqueue
}

opaque! {
    /// A guest's `NVNqueueBuilder`.
    NVNqueueBuilder
}

/// A guest's `NVNrectangle`, 16 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct NVNrectangle {
    /// `int x`, at byte 0.
    pub x: i32,
    /// `int y`, at byte 4.
    pub y: i32,
    /// `int width`, at byte 8.
    pub width: i32,
    /// `int height`, at byte 12.
    pub height: i32,
}

const _: () = {
    assert!(size_of::<NVNrectangle>() == 16);
    assert!(core::mem::offset_of!(NVNrectangle, x) == 0);
    assert!(core::mem::offset_of!(NVNrectangle, y) == 4);
    assert!(core::mem::offset_of!(NVNrectangle, width) == 8);
    assert!(core::mem::offset_of!(NVNrectangle, height) == 12);
};

opaque! {
    /// A guest's `NVNsampler`.
    NVNsampler
}

opaque! {
    /// A guest's `NVNsamplerBuilder`.
    NVNsamplerBuilder
}

opaque! {
    /// A guest's `NVNsamplerPool`.
    NVNsamplerPool
}

/// A guest's `NVNseparateSamplerHandle`, 8 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct NVNseparateSamplerHandle {
    /// `uint64_t value`, at byte 0.
    pub value: u64,
}

const _: () = {
    assert!(size_of::<NVNseparateSamplerHandle>() == 8);
    assert!(core::mem::offset_of!(NVNseparateSamplerHandle, value) == 0);
};

/// A guest's `NVNseparateTextureHandle`, 8 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct NVNseparateTextureHandle {
    /// `uint64_t value`, at byte 0.
    pub value: u64,
}

const _: () = {
    assert!(size_of::<NVNseparateTextureHandle>() == 8);
    assert!(core::mem::offset_of!(NVNseparateTextureHandle, value) == 0);
};

/// A guest's `NVNshaderData`, 16 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct NVNshaderData {
    /// `NVNbufferAddress data`, at byte 0.
    pub data: NVNbufferAddress,
    /// `const void* control`, at byte 8.
    pub control: GuestPtr<core::ffi::c_void>,
}

const _: () = {
    assert!(size_of::<NVNshaderData>() == 16);
    assert!(core::mem::offset_of!(NVNshaderData, data) == 0);
    assert!(core::mem::offset_of!(NVNshaderData, control) == 8);
};

/// NVN's scalar `NVNstorageClass`, `int` in C.
pub type NVNstorageClass = i32;

/// NVN's scalar `NVNsubroutineLinkageMapPtr`, `void*` in C.
pub type NVNsubroutineLinkageMapPtr = *mut core::ffi::c_void;

opaque! {
    /// A guest's `NVNsync`.
    NVNsync
}

opaque! {
    /// A guest's `NVNtexture`.
    NVNtexture
}

/// NVN's scalar `NVNtextureAddress`, `uint64_t` in C.
pub type NVNtextureAddress = u64;

opaque! {
    /// A guest's `NVNtextureBuilder`.
    NVNtextureBuilder
}

/// NVN's scalar `NVNtextureHandle`, `uint64_t` in C.
pub type NVNtextureHandle = u64;

opaque! {
    /// A guest's `NVNtexturePool`.
    NVNtexturePool
}

opaque! {
    /// A guest's `NVNtextureView`.
    NVNtextureView
}

opaque! {
    /// A guest's `NVNvertexAttribState`.
    NVNvertexAttribState
}

opaque! {
    /// A guest's `NVNvertexStreamState`.
    NVNvertexStreamState
}

opaque! {
    /// A guest's `NVNwindow`.
    NVNwindow
}

opaque! {
    /// A guest's `NVNwindowBuilder`.
    NVNwindowBuilder
}

/// A guest's callback `PFNNVNBOOTSTRAPLOADERPROC`: `PFNNVNGENERICFUNCPTRPROC (const char* name)`; `None` for null.
pub type PFNNVNBOOTSTRAPLOADERPROC =
    Option<unsafe extern "C" fn(name: *const core::ffi::c_char) -> PFNNVNGENERICFUNCPTRPROC>;

/// A guest's callback `PFNNVNCOMMANDBUFFERMEMORYCALLBACKPROC`: `void (NVNcommandBuffer* cmdBuf, NVNcommandBufferMemoryEvent event, size_t minSize, void* callbackData)`; `None` for null.
pub type PFNNVNCOMMANDBUFFERMEMORYCALLBACKPROC = Option<
    unsafe extern "C" fn(
        cmd_buf: *mut NVNcommandBuffer,
        event: NVNcommandBufferMemoryEvent,
        min_size: usize,
        callback_data: *mut core::ffi::c_void,
    ),
>;

/// A guest's callback `PFNNVNDEBUGCALLBACKPROC`: `void (NVNdebugCallbackSource source, NVNdebugCallbackType type, int id, NVNdebugCallbackSeverity severity, const unsigned char* message, void* user)`; `None` for null.
pub type PFNNVNDEBUGCALLBACKPROC = Option<
    unsafe extern "C" fn(
        source: NVNdebugCallbackSource,
        type_: NVNdebugCallbackType,
        id: i32,
        severity: NVNdebugCallbackSeverity,
        message: *const u8,
        user: *mut core::ffi::c_void,
    ),
>;

/// A guest's callback `PFNNVNGENERICFUNCPTRPROC`: `void (void)`; `None` for null.
pub type PFNNVNGENERICFUNCPTRPROC = Option<unsafe extern "C" fn()>;

/// A guest's callback `PFNNVNWALKDEBUGDATABASECALLBACKPROC`: `void (void*, void*)`; `None` for null.
pub type PFNNVNWALKDEBUGDATABASECALLBACKPROC =
    Option<unsafe extern "C" fn(*mut core::ffi::c_void, *mut core::ffi::c_void)>;

/// A guest's `NVNdrawTextureRegion`, 16 bytes.
///
/// The layout is Navin's: origin and extent, in pixels of the target or texels of the source.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct NVNdrawTextureRegion {
    /// `float x`, at byte 0.
    pub x: f32,
    /// `float y`, at byte 4.
    pub y: f32,
    /// `float width`, at byte 8.
    pub width: f32,
    /// `float height`, at byte 12.
    pub height: f32,
}

const _: () = {
    assert!(size_of::<NVNdrawTextureRegion>() == 16);
    assert!(core::mem::offset_of!(NVNdrawTextureRegion, x) == 0);
    assert!(core::mem::offset_of!(NVNdrawTextureRegion, y) == 4);
    assert!(core::mem::offset_of!(NVNdrawTextureRegion, width) == 8);
    assert!(core::mem::offset_of!(NVNdrawTextureRegion, height) == 12);
};

/// A guest's `NVNmappingRequest`, 40 bytes.
///
/// The fields are NVN's, their order is Navin's. Offsets and size are in bytes, multiples of 4 KB; a null physicalPool unmaps.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct NVNmappingRequest {
    /// `NVNmemoryPool* physicalPool`, at byte 0.
    pub physical_pool: GuestPtr<NVNmemoryPool>,
    /// `ptrdiff_t physicalOffset`, at byte 8.
    pub physical_offset: isize,
    /// `ptrdiff_t virtualOffset`, at byte 16.
    pub virtual_offset: isize,
    /// `size_t size`, at byte 24.
    pub size: usize,
    /// `NVNstorageClass storageClass`, at byte 32.
    pub storage_class: NVNstorageClass,
    /// `uint32_t reserved`, at byte 36.
    pub reserved: u32,
}

const _: () = {
    assert!(size_of::<NVNmappingRequest>() == 40);
    assert!(core::mem::offset_of!(NVNmappingRequest, physical_pool) == 0);
    assert!(core::mem::offset_of!(NVNmappingRequest, physical_offset) == 8);
    assert!(core::mem::offset_of!(NVNmappingRequest, virtual_offset) == 16);
    assert!(core::mem::offset_of!(NVNmappingRequest, size) == 24);
    assert!(core::mem::offset_of!(NVNmappingRequest, storage_class) == 32);
    assert!(core::mem::offset_of!(NVNmappingRequest, reserved) == 36);
};

/// A guest's `NVNqueueErrorInfo`, 64 bytes.
///
/// The layout is not known. Navin never writes it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct NVNqueueErrorInfo {
    /// `uint64_t reserved`, at byte 0.
    pub reserved: [u64; 8],
}

const _: () = {
    assert!(size_of::<NVNqueueErrorInfo>() == 64);
    assert!(core::mem::offset_of!(NVNqueueErrorInfo, reserved) == 0);
};

/// A guest's `NVNshaderDataExt`, 16 bytes.
///
/// The layout is not known; Navin takes it to begin like NVNshaderData.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct NVNshaderDataExt {
    /// `NVNbufferAddress data`, at byte 0.
    pub data: NVNbufferAddress,
    /// `const void* control`, at byte 8.
    pub control: GuestPtr<core::ffi::c_void>,
}

const _: () = {
    assert!(size_of::<NVNshaderDataExt>() == 16);
    assert!(core::mem::offset_of!(NVNshaderDataExt, data) == 0);
    assert!(core::mem::offset_of!(NVNshaderDataExt, control) == 8);
};

/// A guest's `NVNtextureSparseTileLayout`, 32 bytes.
///
/// How many levels are at least one 64 KB tile wide, high and deep, and a tile's extent in texels. That the fields are 32-bit is an assumption.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct NVNtextureSparseTileLayout {
    /// `int numTiledLevels`, at byte 0.
    pub num_tiled_levels: i32,
    /// `int tileWidth`, at byte 4.
    pub tile_width: i32,
    /// `int tileHeight`, at byte 8.
    pub tile_height: i32,
    /// `int tileDepth`, at byte 12.
    pub tile_depth: i32,
    /// `uint8_t reserved`, at byte 16.
    pub reserved: [u8; 16],
}

const _: () = {
    assert!(size_of::<NVNtextureSparseTileLayout>() == 32);
    assert!(core::mem::offset_of!(NVNtextureSparseTileLayout, num_tiled_levels) == 0);
    assert!(core::mem::offset_of!(NVNtextureSparseTileLayout, tile_width) == 4);
    assert!(core::mem::offset_of!(NVNtextureSparseTileLayout, tile_height) == 8);
    assert!(core::mem::offset_of!(NVNtextureSparseTileLayout, tile_depth) == 12);
    assert!(core::mem::offset_of!(NVNtextureSparseTileLayout, reserved) == 16);
};
