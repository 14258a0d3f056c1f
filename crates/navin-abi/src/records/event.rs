//! `NVNevent` and `NVNeventBuilder`.

use bytemuck::{Pod, Zeroable};

/// `NVNevent`: a 32-bit word in a memory pool.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct EventRecord {
    magic: u32,
    /// The memory pool, by the host's number.
    pub pool_id: u32,
    /// Guest address of the memory pool.
    pub pool: u64,
    /// Bytes from the pool's start to the word.
    pub offset: u64,
    /// Where the GPU sees the word.
    pub gpu_address: u64,
    /// Guest address of the word.
    pub word: u64,
}

super::record!(EventRecord in "NVNevent", magic b"NVev", at most MIN_NVNEVENT);

impl EventRecord {
    /// A live event.
    pub const fn new(pool: u64, pool_id: u32, offset: u64, gpu_address: u64, word: u64) -> Self {
        Self { magic: <Self as super::Record>::MAGIC, pool_id, pool, offset, gpu_address, word }
    }
}

/// `NVNeventBuilder`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct EventBuilderRecord {
    magic: u32,
    reserved: u32,
    /// Guest address of the memory pool.
    pub pool: u64,
    /// Bytes from the pool's start to the word.
    pub offset: i64,
}

super::record!(EventBuilderRecord in "NVNeventBuilder", magic b"NVeb", at most MIN_NVNEVENTBUILDER);

impl EventBuilderRecord {
    /// The builder that SetDefaults makes.
    pub const fn new() -> Self {
        Self { magic: <Self as super::Record>::MAGIC, reserved: 0, pool: 0, offset: 0 }
    }
}

impl Default for EventBuilderRecord {
    fn default() -> Self {
        Self::new()
    }
}
