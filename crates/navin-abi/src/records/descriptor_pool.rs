//! `NVNtexturePool` and `NVNsamplerPool`.

use bytemuck::{Pod, Zeroable};

/// `NVNtexturePool`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct TexturePoolRecord {
    magic: u32,
    /// The host's number of the pool.
    pub id: u32,
    /// Guest address of the memory pool.
    pub memory_pool: u64,
    /// Bytes from the memory pool's start to the descriptors.
    pub offset: u64,
    /// Descriptors, the reserved first 256 included.
    pub count: u32,
    /// The memory pool, by the host's number.
    pub memory_pool_id: u32,
}

super::record!(TexturePoolRecord in "NVNtexturePool", magic b"NVtp", at most MIN_NVNTEXTUREPOOL);

impl TexturePoolRecord {
    /// A live pool.
    pub const fn new(id: u32, memory_pool: u64, memory_pool_id: u32, offset: u64, count: u32) -> Self {
        Self { magic: <Self as super::Record>::MAGIC, id, memory_pool, offset, count, memory_pool_id }
    }
}

/// `NVNsamplerPool`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct SamplerPoolRecord {
    magic: u32,
    /// The host's number of the pool.
    pub id: u32,
    /// Guest address of the memory pool.
    pub memory_pool: u64,
    /// Bytes from the memory pool's start to the descriptors.
    pub offset: u64,
    /// Descriptors, the reserved first 256 included.
    pub count: u32,
    /// The memory pool, by the host's number.
    pub memory_pool_id: u32,
}

super::record!(SamplerPoolRecord in "NVNsamplerPool", magic b"NVsp", at most MIN_NVNSAMPLERPOOL);

impl SamplerPoolRecord {
    /// A live pool.
    pub const fn new(id: u32, memory_pool: u64, memory_pool_id: u32, offset: u64, count: u32) -> Self {
        Self { magic: <Self as super::Record>::MAGIC, id, memory_pool, offset, count, memory_pool_id }
    }
}
