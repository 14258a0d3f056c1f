//! `NVNtexture` and `NVNtextureBuilder`, and [`TextureDesc`], the description that the host side works with.

use bytemuck::{Pod, Zeroable};

use crate::enums::{NVNformat, NVNtextureDepthStencilMode, NVNtextureFlags, NVNtextureSwizzle, NVNtextureTarget};

/// Packs four `NVNtextureSwizzle`; `None` when one is no swizzle (0 to 5).
pub(super) fn pack_swizzle(swizzle: [NVNtextureSwizzle; 4]) -> Option<[u8; 4]> {
    swizzle.iter().all(|s| (0..=5).contains(&s.raw())).then(|| swizzle.map(|s| s.raw() as u8))
}

/// What a texture is and where its bytes are: made at `nvnTextureInitialize`, owned by the host side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureDesc {
    /// `NVNtextureTarget`.
    pub target: NVNtextureTarget,
    /// `NVNformat`.
    pub format: NVNformat,
    /// `NVNtextureFlags` bits.
    pub flags: NVNtextureFlags,
    /// Texels across; of a buffer texture, its texels.
    pub width: u32,
    /// Texels down; layers of a 1D array.
    pub height: u32,
    /// Texels deep of a 3D texture; layers of an array (faces, of a cube map array).
    pub depth: u32,
    /// Mip levels, at least 1.
    pub levels: u32,
    /// Samples, at least 1.
    pub samples: u32,
    /// `NVNtextureSwizzle` of red, green, blue and alpha.
    pub swizzle: [NVNtextureSwizzle; 4],
    /// `NVNtextureDepthStencilMode`.
    pub depth_stencil_mode: NVNtextureDepthStencilMode,
    /// Bytes from row to row of a LINEAR texture.
    pub stride: u64,
    /// `NVNpackagedTextureLayout`, where the guest gave one (a first byte of zero overrides too).
    pub packaged_layout: Option<[u8; 8]>,
    /// The memory pool, by the host's number.
    pub pool: u32,
    /// Bytes from the pool's start to the texture.
    pub offset: u64,
}

/// The fields that builder and texture share, as the getters give them back.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct TextureFields {
    /// Bytes from row to row of a LINEAR texture.
    pub stride: i64,
    /// `NVNpackagedTextureLayout`.
    pub layout: [u8; 8],
    /// `NVNtextureFlags` bits.
    pub flags: i32,
    /// Texels across.
    pub width: i32,
    /// Texels down.
    pub height: i32,
    /// Texels deep, or layers.
    pub depth: i32,
    /// Mip levels.
    pub levels: u8,
    /// Samples as the guest set them (0 and 1 are one).
    pub samples: u8,
    /// `NVNtextureTarget`.
    pub target: u8,
    /// `NVNformat`.
    pub format: u8,
    /// `NVNtextureSwizzle` of the four channels.
    pub swizzle: [u8; 4],
    /// `NVNtextureDepthStencilMode`.
    pub depth_stencil_mode: u8,
    /// 1 when `layout` was given.
    pub has_layout: u8,
    /// Keeps the size a multiple of 8.
    pub reserved: [u8; 6],
}

impl TextureFields {
    /// A 2D texture of one texel, one level, no format, channels in place.
    pub const DEFAULT: Self = Self {
        stride: 0,
        layout: [0; 8],
        flags: 0,
        width: 1,
        height: 1,
        depth: 1,
        levels: 1,
        samples: 1,
        target: 1,
        format: 0,
        swizzle: [2, 3, 4, 5],
        depth_stencil_mode: 0,
        has_layout: 0,
        reserved: [0; 6],
    };

    /// The layout that the guest gave, if it gave one.
    pub const fn packaged_layout(&self) -> Option<[u8; 8]> {
        if self.has_layout == 1 { Some(self.layout) } else { None }
    }

    /// Sets the swizzle; false, with nothing changed, when one is none.
    #[must_use]
    pub fn set_swizzle(&mut self, swizzle: [NVNtextureSwizzle; 4]) -> bool {
        let Some(swizzle) = pack_swizzle(swizzle) else { return false };
        self.swizzle = swizzle;
        true
    }

    /// The description of this texture at `offset` of the host's pool `pool`. Sizes below 0 become 0: whoever
    /// makes a texture checks them.
    pub fn desc(&self, pool: u32, offset: u64) -> TextureDesc {
        let size = |v: i32| u32::try_from(v).unwrap_or(0);
        TextureDesc {
            target: NVNtextureTarget(self.target.into()),
            format: NVNformat(self.format.into()),
            flags: NVNtextureFlags(self.flags),
            width: size(self.width),
            height: size(self.height),
            depth: size(self.depth),
            levels: u32::from(self.levels),
            samples: u32::from(self.samples.max(1)),
            swizzle: self.swizzle.map(|s| NVNtextureSwizzle(s.into())),
            depth_stencil_mode: NVNtextureDepthStencilMode(self.depth_stencil_mode.into()),
            stride: u64::try_from(self.stride).unwrap_or(0),
            packaged_layout: self.packaged_layout(),
            pool,
            offset,
        }
    }
}

/// `NVNtexture`. Games copy it by value (B439): everything here holds for a copy too.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct TextureRecord {
    pub(super) magic: u32,
    /// The memory pool, by the host's number.
    pub pool_id: u32,
    /// The host's never-reused number of the texture.
    pub serial: u64,
    /// Guest address of the memory pool.
    pub pool: u64,
    /// Bytes from the pool's start to the texture.
    pub offset: u64,
    /// GPU address of the pool.
    pub pool_gpu_address: u64,
    /// Bytes of storage.
    pub storage_size: u64,
    /// What the texture is.
    pub fields: TextureFields,
}

super::record!(TextureRecord in "NVNtexture", magic b"NVte", at most MIN_NVNTEXTURE);

impl TextureRecord {
    /// A live texture.
    pub const fn new(
        serial: u64,
        pool: u64,
        pool_id: u32,
        pool_gpu_address: u64,
        offset: u64,
        storage_size: u64,
        fields: TextureFields,
    ) -> Self {
        Self {
            magic: <Self as super::Record>::MAGIC,
            pool_id,
            serial,
            pool,
            offset,
            pool_gpu_address,
            storage_size,
            fields,
        }
    }

    /// The description, as it was given to the host.
    pub fn desc(&self) -> TextureDesc {
        self.fields.desc(self.pool_id, self.offset)
    }
}

/// `NVNtextureBuilder`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct TextureBuilderRecord {
    /// Guest address of the device.
    pub device: u64,
    pub(super) magic: u32,
    /// Name of a GL texture, kept for its getter.
    pub gl_name: u32,
    /// Guest address of the memory pool.
    pub pool: u64,
    /// Bytes from the pool's start to the texture.
    pub offset: i64,
    /// Guest address of data that Initialize copies into the storage; null for none.
    pub packaged_data: u64,
    /// What the texture is.
    pub fields: TextureFields,
}

super::record!(TextureBuilderRecord in "NVNtextureBuilder", magic b"NVtb", at most MIN_NVNTEXTUREBUILDER);

impl TextureBuilderRecord {
    /// The builder that SetDefaults makes.
    pub const fn new(device: u64) -> Self {
        Self {
            device,
            magic: <Self as super::Record>::MAGIC,
            gl_name: 0,
            pool: 0,
            offset: 0,
            packaged_data: 0,
            fields: TextureFields::DEFAULT,
        }
    }
}
