//! `nvnTextureBuilder*`: what a texture is to be; sizes and tiles come from the layout that replay uses too.

use navin_abi::records::{TextureBuilderRecord, TextureDesc, TextureFields};
use navin_abi::types::*;
use navin_texture::{Layout, LayoutError};

use super::object::{accessors, address, get, live, output, pointer, raw, store};
use super::table::entries;
use crate::host;

/// What every texture's ZCull storage is said to take, in bytes: none is needed, but 0 would make guests'
/// allocators hand out a live block (B105). A multiple of device item 0x36.
const ZCULL_BYTES: usize = 256;

/// The only kind of page that virtual pools map here (B426).
const STORAGE_CLASS: NVNrawStorageClass = NVNrawStorageClass::LINEAR;

pub(crate) extern "C" fn nvnTextureBuilderSetDevice(builder: *mut NVNtextureBuilder, device: *mut NVNdevice) {
    store(builder, address(device));
}

pub(crate) extern "C" fn nvnTextureBuilderSetDefaults(builder: *mut NVNtextureBuilder) {
    store(builder, TextureBuilderRecord::new(raw::<u64, _>(builder).unwrap_or(0)));
}

/// A small number into its byte; false when it does not fit.
fn byte(place: &mut u8, value: i32) -> bool {
    u8::try_from(value).map(|value| *place = value).is_ok()
}

fn extent(place: &mut i32, texels: i32) -> bool {
    *place = texels;
    texels >= 0
}

fn set_size(fields: &mut TextureFields, width: i32, height: i32, depth: i32) -> bool {
    extent(&mut fields.width, width) && extent(&mut fields.height, height) && extent(&mut fields.depth, depth)
}

fn set_layout(fields: &mut TextureFields, layout: *const NVNpackagedTextureLayout) -> bool {
    let layout = raw::<[u8; 8], _>(layout);
    fields.has_layout = layout.is_some().into();
    fields.layout = layout.unwrap_or_default();
    true
}

accessors! {
    NVNtextureBuilder as TextureBuilderRecord;
    get nvnTextureBuilderGetDevice -> *const NVNdevice: |b| pointer(b.device);
    get nvnTextureBuilderGetFlags -> NVNtextureFlags: |b| NVNtextureFlags(b.fields.flags);
    set nvnTextureBuilderSetFlags(flags: NVNtextureFlags): |b| {
        b.fields.flags = flags.raw();
        true
    };
    get nvnTextureBuilderGetTarget -> NVNtextureTarget: |b| NVNtextureTarget(b.fields.target.into());
    set nvnTextureBuilderSetTarget(target: NVNtextureTarget): |b| byte(&mut b.fields.target, target.raw());
    get nvnTextureBuilderGetFormat -> NVNformat: |b| NVNformat(b.fields.format.into());
    set nvnTextureBuilderSetFormat(format: NVNformat): |b| byte(&mut b.fields.format, format.raw());
    get nvnTextureBuilderGetWidth -> i32: |b| b.fields.width;
    set nvnTextureBuilderSetWidth(width: i32): |b| extent(&mut b.fields.width, width);
    get nvnTextureBuilderGetHeight -> i32: |b| b.fields.height;
    set nvnTextureBuilderSetHeight(height: i32): |b| extent(&mut b.fields.height, height);
    get nvnTextureBuilderGetDepth -> i32: |b| b.fields.depth;
    set nvnTextureBuilderSetDepth(depth: i32): |b| extent(&mut b.fields.depth, depth);
    set nvnTextureBuilderSetSize1D(size: i32): |b| set_size(&mut b.fields, size, 1, 1);
    set nvnTextureBuilderSetSize2D(width: i32, height: i32): |b| set_size(&mut b.fields, width, height, 1);
    set nvnTextureBuilderSetSize3D(width: i32, height: i32, depth: i32): |b| set_size(&mut b.fields, width, height, depth);
    get nvnTextureBuilderGetLevels -> i32: |b| b.fields.levels.into();
    set nvnTextureBuilderSetLevels(levels: i32): |b| byte(&mut b.fields.levels, levels);
    get nvnTextureBuilderGetSamples -> i32: |b| b.fields.samples.into();
    set nvnTextureBuilderSetSamples(samples: i32): |b| byte(&mut b.fields.samples, samples);
    set nvnTextureBuilderSetSwizzle(r: NVNtextureSwizzle, g: NVNtextureSwizzle, b: NVNtextureSwizzle, a: NVNtextureSwizzle):
        |builder| builder.fields.set_swizzle([r, g, b, a]);
    get nvnTextureBuilderGetDepthStencilMode -> NVNtextureDepthStencilMode:
        |b| NVNtextureDepthStencilMode(b.fields.depth_stencil_mode.into());
    set nvnTextureBuilderSetDepthStencilMode(mode: NVNtextureDepthStencilMode):
        |b| byte(&mut b.fields.depth_stencil_mode, mode.raw());
    get nvnTextureBuilderGetStride -> isize: |b| b.fields.stride as isize;
    set nvnTextureBuilderSetStride(stride: isize): |b| {
        b.fields.stride = stride as i64;
        stride >= 0
    };
    get nvnTextureBuilderGetGLTextureName -> u32: |b| b.gl_name;
    set nvnTextureBuilderSetGLTextureName(name: u32): |b| {
        b.gl_name = name;
        true
    };
    set nvnTextureBuilderSetStorage(pool: *mut NVNmemoryPool, offset: isize): |b| {
        (b.pool, b.offset) = (address(pool), offset as i64);
        true
    };
    get nvnTextureBuilderGetMemoryPool -> *mut NVNmemoryPool: |b| pointer(b.pool);
    get nvnTextureBuilderGetMemoryOffset -> isize: |b| b.offset as isize;
    get nvnTextureBuilderGetPackagedTextureData -> *const core::ffi::c_void: |b| pointer(b.packaged_data);
    set nvnTextureBuilderSetPackagedTextureData(data: *const core::ffi::c_void): |b| {
        b.packaged_data = address(data);
        true
    };
    set nvnTextureBuilderSetPackagedTextureLayout(layout: *const NVNpackagedTextureLayout):
        |b| set_layout(&mut b.fields, layout);
    get nvnTextureBuilderGetStorageSize -> usize: |b| storage_size(&b.fields) as usize;
    get nvnTextureBuilderGetStorageAlignment -> usize: |b| alignment(&b.fields) as usize;
    get nvnTextureBuilderGetStorageClass -> NVNstorageClass: |_b| storage_class();
    get nvnTextureBuilderGetRawStorageClass -> NVNrawStorageClass: |_b| raw_storage_class();
    get nvnTextureBuilderGetZCullStorageSize -> usize: |_b| zcull_storage_size();
}

pub(crate) extern "C" fn nvnTextureBuilderGetSwizzle(
    builder: *const NVNtextureBuilder,
    r: *mut NVNtextureSwizzle,
    g: *mut NVNtextureSwizzle,
    b: *mut NVNtextureSwizzle,
    a: *mut NVNtextureSwizzle,
) {
    if let Some(builder) = live::<TextureBuilderRecord, _>(builder, "nvnTextureBuilderGetSwizzle") {
        output_swizzle(&builder.fields, [r, g, b, a]);
    }
}

/// Writes the layout that the guest set; false, with nothing written, when it set none.
pub(crate) extern "C" fn nvnTextureBuilderGetPackagedTextureLayout(
    builder: *const NVNtextureBuilder,
    layout: *mut NVNpackagedTextureLayout,
) -> NVNboolean {
    get(builder, "nvnTextureBuilderGetPackagedTextureLayout", |b: &TextureBuilderRecord| {
        match b.fields.packaged_layout() {
            Some(bytes) => {
                output(layout.cast::<[u8; 8]>(), bytes);
                NVN_TRUE
            }
            None => NVN_FALSE,
        }
    })
}

pub(crate) extern "C" fn nvnTextureBuilderGetSparseTileLayout(
    builder: *const NVNtextureBuilder,
    layout: *mut NVNtextureSparseTileLayout,
) {
    let builder = live::<TextureBuilderRecord, _>(builder, "nvnTextureBuilderGetSparseTileLayout");
    output(layout, sparse_tile_layout(builder.as_ref().map(|b| &b.fields)));
}

// What builder and texture answer alike, so that they cannot differ (B105, B117, B426).

/// Why a description has no layout.
#[derive(Debug)]
pub(crate) enum NoLayout {
    /// A target or format that NVN has not.
    Unknown,
    /// Sizes that no texture has.
    Sizes(LayoutError),
}

impl std::fmt::Display for NoLayout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown => f.write_str("a target or format that NVN has not"),
            Self::Sizes(e) => e.fmt(f),
        }
    }
}

/// The layout of a texture.
pub(crate) fn layout(desc: &TextureDesc) -> Result<Layout, NoLayout> {
    let input = host::textures::layout_input(desc).ok_or(NoLayout::Unknown)?;
    Layout::new(&input).map_err(NoLayout::Sizes)
}

/// Bytes of storage; 0, named, for what is no texture.
fn storage_size(fields: &TextureFields) -> u64 {
    named_layout(fields, "nvnTextureBuilderGetStorageSize").map_or(0, |layout| layout.size)
}

/// Alignment of the storage in bytes; a GOB's for what is no texture.
fn alignment(fields: &TextureFields) -> u64 {
    named_layout(fields, "nvnTextureBuilderGetStorageAlignment").map_or(512, |layout| layout.alignment)
}

fn named_layout(fields: &TextureFields, call: &'static str) -> Option<Layout> {
    layout(&fields.desc(0, 0))
        .map_err(|e| {
            let TextureFields { width, height, depth, format, target, .. } = *fields;
            navin_abi::fault!(
                key = call.as_ptr() as u64,
                "B105",
                "{call}: {width}x{height}x{depth}, format {format}, target {target}: {e}; answered as no texture"
            );
        })
        .ok()
}

/// What [`nvnTextureBuilderGetSparseTileLayout`] and the texture's getter write: all 32 bytes, zeros where there
/// is no texture (B117). A texture that is not sparse is answered as its sparse twin would be.
pub(crate) fn sparse_tile_layout(fields: Option<&TextureFields>) -> NVNtextureSparseTileLayout {
    let sparse = fields.and_then(|fields| {
        let mut desc = fields.desc(0, 0);
        desc.flags |= NVNtextureFlags::SPARSE;
        layout(&desc).ok()?.sparse
    });
    let mut answer: NVNtextureSparseTileLayout = bytemuck::Zeroable::zeroed();
    if let Some(tile) = sparse {
        answer.num_tiled_levels = tile.tiled_levels as i32;
        answer.tile_width = tile.width as i32;
        answer.tile_height = tile.height as i32;
        answer.tile_depth = tile.depth as i32;
    }
    answer
}

pub(crate) fn output_swizzle(fields: &TextureFields, places: [*mut NVNtextureSwizzle; 4]) {
    for (place, value) in places.into_iter().zip(fields.swizzle) {
        output(place, NVNtextureSwizzle(value.into()));
    }
}

pub(crate) fn zcull_storage_size() -> usize {
    ZCULL_BYTES
}

pub(crate) fn raw_storage_class() -> NVNrawStorageClass {
    STORAGE_CLASS
}

pub(crate) fn storage_class() -> NVNstorageClass {
    STORAGE_CLASS.raw()
}

entries! {
    nvnTextureBuilderGetDepth,
    nvnTextureBuilderGetDepthStencilMode,
    nvnTextureBuilderGetDevice,
    nvnTextureBuilderGetFlags,
    nvnTextureBuilderGetFormat,
    nvnTextureBuilderGetGLTextureName,
    nvnTextureBuilderGetHeight,
    nvnTextureBuilderGetLevels,
    nvnTextureBuilderGetMemoryOffset,
    nvnTextureBuilderGetMemoryPool,
    nvnTextureBuilderGetPackagedTextureData,
    nvnTextureBuilderGetPackagedTextureLayout,
    nvnTextureBuilderGetRawStorageClass,
    nvnTextureBuilderGetSamples,
    nvnTextureBuilderGetSparseTileLayout,
    nvnTextureBuilderGetStorageAlignment,
    nvnTextureBuilderGetStorageClass,
    nvnTextureBuilderGetStorageSize,
    nvnTextureBuilderGetStride,
    nvnTextureBuilderGetSwizzle,
    nvnTextureBuilderGetTarget,
    nvnTextureBuilderGetWidth,
    nvnTextureBuilderGetZCullStorageSize,
    nvnTextureBuilderSetDefaults,
    nvnTextureBuilderSetDepth,
    nvnTextureBuilderSetDepthStencilMode,
    nvnTextureBuilderSetDevice,
    nvnTextureBuilderSetFlags,
    nvnTextureBuilderSetFormat,
    nvnTextureBuilderSetGLTextureName,
    nvnTextureBuilderSetHeight,
    nvnTextureBuilderSetLevels,
    nvnTextureBuilderSetPackagedTextureData,
    nvnTextureBuilderSetPackagedTextureLayout,
    nvnTextureBuilderSetSamples,
    nvnTextureBuilderSetSize1D,
    nvnTextureBuilderSetSize2D,
    nvnTextureBuilderSetSize3D,
    nvnTextureBuilderSetStorage,
    nvnTextureBuilderSetStride,
    nvnTextureBuilderSetSwizzle,
    nvnTextureBuilderSetTarget,
    nvnTextureBuilderSetWidth,
}
