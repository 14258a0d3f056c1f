//! `NVNmemoryPool` and `NVNmemoryPoolBuilder`.

use bytemuck::{Pod, Zeroable};

/// `NVNmemoryPool`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct MemoryPoolRecord {
    magic: u32,
    /// The host's number of the pool.
    pub id: u32,
    /// Where the GPU sees it.
    pub gpu_address: u64,
    /// Guest address of the storage; null for a virtual pool.
    pub storage: u64,
    /// Bytes.
    pub size: u64,
    /// `NVNmemoryPoolFlags` bits.
    pub flags: i32,
    reserved: u32,
}

super::record!(MemoryPoolRecord in "NVNmemoryPool", magic b"NVmp", at most MIN_NVNMEMORYPOOL);

impl MemoryPoolRecord {
    /// A live pool.
    pub const fn new(id: u32, gpu_address: u64, storage: u64, size: u64, flags: i32) -> Self {
        Self { magic: <Self as super::Record>::MAGIC, id, gpu_address, storage, size, flags, reserved: 0 }
    }
}

/// `NVNmemoryPoolBuilder`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct MemoryPoolBuilderRecord {
    /// Guest address of the device.
    pub device: u64,
    magic: u32,
    /// `NVNmemoryPoolFlags` bits.
    pub flags: i32,
    /// Guest address of the storage.
    pub memory: u64,
    /// Bytes.
    pub size: u64,
}

super::record!(MemoryPoolBuilderRecord in "NVNmemoryPoolBuilder", magic b"NVmb", at most MIN_NVNMEMORYPOOLBUILDER);

impl MemoryPoolBuilderRecord {
    /// The builder that SetDefaults makes: CPU_UNCACHED and GPU_CACHED, which needs no flush on either side.
    pub const fn new(device: u64) -> Self {
        Self { device, magic: <Self as super::Record>::MAGIC, flags: 0x22, memory: 0, size: 0 }
    }
}
