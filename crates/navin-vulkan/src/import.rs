//! Import of host memory.
use crate::context::Context;
use crate::encoder::BufferRange;
use ash::vk;
use std::sync::Arc;

/// Why host memory could not be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The device has no VK_EXT_external_memory_host.
    #[error("the device cannot import host memory (no VK_EXT_external_memory_host)")]
    Unsupported,
    /// Larger than one allocation may be.
    #[error("{size:#x} bytes are more than one import may hold ({limit:#x})")]
    TooLarge {
        /// Asked for.
        size: u64,
        /// The device's limit.
        limit: u64,
    },
    /// Refused by the driver, all retries included (B107).
    #[error("import refused: {0}")]
    Refused(vk::Result),
}

/// Host memory as a Vulkan buffer. Dropping it destroys the buffer once no submitted work can use it; the host
/// pages must stay mapped until then (B111): wait for the queue before unmapping.
pub struct ImportedBuffer {}

impl ImportedBuffer {
    /// Imports `len` bytes at `ptr`, rounded out to the device's alignment.
    ///
    /// # Safety
    /// The pages must be mapped readable and writable, and stay so until the import was destroyed.
    pub unsafe fn new(
        context: &Arc<Context>,
        ptr: *mut u8,
        len: u64,
        name: &str,
    ) -> Result<ImportedBuffer, ImportError> {
        let _ = (context, ptr, len, name);
        unimplemented!()
    }
    /// The handle. `ptr` is at [`ImportedBuffer::bias`] bytes into it.
    pub fn raw(&self) -> vk::Buffer {
        unimplemented!()
    }
    /// Bytes from the buffer's begin to `ptr`.
    pub fn bias(&self) -> u64 {
        unimplemented!()
    }
    /// `len`.
    pub fn len(&self) -> u64 {
        unimplemented!()
    }
    /// Whether `len` is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Device address of `ptr`.
    pub fn address(&self) -> vk::DeviceAddress {
        unimplemented!()
    }
    /// A piece, offsets counted from `ptr`.
    pub fn range(&self, offset: u64, size: u64) -> BufferRange {
        let _ = (offset, size);
        unimplemented!()
    }
}
