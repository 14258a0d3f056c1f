//! Buffers.
use crate::context::Context;
use crate::encoder::BufferRange;
use ash::vk;
use std::sync::Arc;

/// Why memory could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The allocator or the driver refused.
    #[error("{0}")]
    Refused(String),
}

/// Where a buffer's memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// On the device, not mapped.
    Device,
    /// Mapped, for writes by the CPU and reads by the device.
    Upload,
    /// Mapped and cached, for reads by the CPU.
    Readback,
}

/// A buffer of Navin's own. Dropping it at any time is safe (see [`crate::retire`]).
pub struct Buffer {}

impl Buffer {
    /// Makes a buffer of `size` bytes, usable for everything. Mapped kinds are zeroed.
    pub fn new(context: &Arc<Context>, size: u64, kind: MemoryKind, name: &str) -> Result<Buffer, MemoryError> {
        let _ = (context, size, kind, name);
        unimplemented!()
    }
    /// The handle.
    pub fn raw(&self) -> vk::Buffer {
        unimplemented!()
    }
    /// Length in bytes.
    pub fn size(&self) -> u64 {
        unimplemented!()
    }
    /// Device address of the first byte.
    pub fn address(&self) -> vk::DeviceAddress {
        unimplemented!()
    }
    /// The mapping, null for [`MemoryKind::Device`].
    pub fn mapped(&self) -> *mut u8 {
        unimplemented!()
    }
    /// A piece.
    pub fn range(&self, offset: u64, size: u64) -> BufferRange {
        let _ = (offset, size);
        unimplemented!()
    }
    /// Copies bytes into the mapping; false when it has none or they do not fit.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> bool {
        let _ = (offset, bytes);
        unimplemented!()
    }
    /// Copies bytes out of the mapping; false when it has none or they do not fit.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> bool {
        let _ = (offset, bytes);
        unimplemented!()
    }
}

/// A texel buffer view (uniform and/or storage). Dropping it at any time is safe.
pub struct TexelView {}

impl TexelView {
    /// Makes a view of a range as texels of `format`. The size is cut to the device's limit.
    pub fn new(context: &Arc<Context>, range: BufferRange, format: vk::Format) -> Result<Arc<TexelView>, MemoryError> {
        let _ = (context, range, format);
        unimplemented!()
    }
    /// The handle.
    pub fn raw(&self) -> vk::BufferView {
        unimplemented!()
    }
}
