//! `NVNbuffer` and `NVNbufferBuilder`.

use bytemuck::{Pod, Zeroable};

/// `NVNbuffer`. Guests move a buffer by storing a new offset and size into it (B103), so those two have NVN's
/// places and nothing keeps a copy of them.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct BufferRecord {
    magic: u32,
    /// The memory pool, by the host's number.
    pub pool_id: u32,
    /// Guest address of the memory pool.
    pub pool: u64,
    /// GPU address of the pool.
    pub pool_gpu_address: u64,
    /// Bytes from the pool's start to the buffer; the guest may write it.
    pub offset: u64,
    /// Bytes of the buffer; the guest may write it.
    pub size: u64,
}

super::record!(BufferRecord in "NVNbuffer", magic b"NVbu", at most MIN_NVNBUFFER);
const _: () = assert!(std::mem::offset_of!(BufferRecord, offset) == 0x18, "B103");
const _: () = assert!(std::mem::offset_of!(BufferRecord, size) == 0x20, "B103");

impl BufferRecord {
    /// A live buffer.
    pub const fn new(pool: u64, pool_id: u32, pool_gpu_address: u64, offset: u64, size: u64) -> Self {
        Self { magic: <Self as super::Record>::MAGIC, pool_id, pool, pool_gpu_address, offset, size }
    }
}

/// `NVNbufferBuilder`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct BufferBuilderRecord {
    /// Guest address of the device.
    pub device: u64,
    magic: u32,
    reserved: u32,
    /// Guest address of the memory pool.
    pub pool: u64,
    /// Bytes from the pool's start to the buffer.
    pub offset: i64,
    /// Bytes of the buffer.
    pub size: u64,
}

super::record!(BufferBuilderRecord in "NVNbufferBuilder", magic b"NVbb", at most MIN_NVNBUFFERBUILDER);

impl BufferBuilderRecord {
    /// The builder that SetDefaults makes.
    pub const fn new(device: u64) -> Self {
        Self { device, magic: <Self as super::Record>::MAGIC, reserved: 0, pool: 0, offset: 0, size: 0 }
    }
}
