//! Import by pointer: `VK_EXT_external_memory_host` turns host pages into device memory.
//!
//! The range is rounded out to the device's alignment (4 KB everywhere that was looked at), so the buffer begins a
//! little before the guest's storage.

use std::sync::Arc;

use ash::vk;

use super::external::External;
use super::{ImportError, PoolBuffer, PoolStorage, Span, StorageKind, refusal};
use crate::gpu::Gpu;

const HANDLE: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;

/// Imports a storage by pointer. One attempt.
///
/// # Safety
/// As for [`PoolBuffer::new`].
pub(super) unsafe fn new(gpu: &Arc<Gpu>, storage: &PoolStorage, name: &str) -> Result<PoolBuffer, ImportError> {
    let pointer = storage.import_pointer() as u64;
    let alignment = gpu.limits.host_import_alignment.max(1);
    let span = Span::around(pointer, storage.len, alignment).ok_or(ImportError::Empty)?;
    if span.size > gpu.limits.max_allocation {
        return Err(ImportError::TooLarge { size: span.size, limit: gpu.limits.max_allocation });
    }
    if refusal::is_simulated(span) {
        return Err(ImportError::Refused(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE));
    }
    // SAFETY: the caller's promise covers every page of the storage, and rounding out stays within those pages (the
    // alignment is never above the page size on known devices; a larger one would be refused).
    let parts = unsafe { import(gpu, span) }?.into_parts();
    Ok(PoolBuffer::from_parts(gpu, StorageKind::HostPointer, parts, pointer - span.start, storage, name))
}

/// Imports whole pages.
///
/// # Safety
/// The pages of `span` are mapped readable and writable while the import lives.
pub(super) unsafe fn import(gpu: &Arc<Gpu>, span: Span) -> Result<External, ImportError> {
    let loader = gpu.host_import.as_ref().ok_or_else(|| {
        ImportError::Unsupported("the device imports no host memory (no VK_EXT_external_memory_host)".to_owned())
    })?;
    let pointer = span.start as *mut std::ffi::c_void;
    let mut properties = vk::MemoryHostPointerPropertiesEXT::default();
    // SAFETY: the extension is enabled, and the pages are mapped.
    unsafe { (loader.fp().get_memory_host_pointer_properties_ext)(loader.device(), HANDLE, pointer, &mut properties) }
        .result()
        .map_err(ImportError::Refused)?;
    let mut host = vk::ImportMemoryHostPointerInfoEXT::default().handle_type(HANDLE).host_pointer(pointer);
    // SAFETY: pointer and size are multiples of the import alignment and mapped (the caller's promise).
    unsafe { External::new(gpu, span.size, HANDLE, properties.memory_type_bits, &mut host) }
}
