//! Buffers of Navin's own and texel views of buffers.
//!
//! Memory comes from `gpu-allocator`, which cuts it from large blocks and keeps mapped kinds mapped. Every buffer
//! may be used for everything, device addresses included: the tables, the encoder and the shaders need no more
//! than one kind of buffer, and no driver is known to care.

use std::sync::Arc;

use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationScheme};

use crate::context::Context;
use crate::encoder::BufferRange;
use crate::format::texel_bytes;
use crate::gpu::Gpu;
use crate::retire::Garbage;

/// Why memory could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The allocator or the driver refused; the text says what and why.
    #[error("{0}")]
    Refused(String),
}

/// Where a buffer's memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// On the device, not mapped.
    Device,
    /// Mapped, for writes by the CPU and reads by the device; on the device where that can be mapped.
    Upload,
    /// Mapped and cached, for reads by the CPU.
    Readback,
}

/// All uses that a buffer of this crate has.
pub(crate) fn buffer_usage(gpu: &Gpu) -> vk::BufferUsageFlags {
    let mut usage = vk::BufferUsageFlags::TRANSFER_SRC
        | vk::BufferUsageFlags::TRANSFER_DST
        | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER
        | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER
        | vk::BufferUsageFlags::UNIFORM_BUFFER
        | vk::BufferUsageFlags::STORAGE_BUFFER
        | vk::BufferUsageFlags::INDEX_BUFFER
        | vk::BufferUsageFlags::VERTEX_BUFFER
        | vk::BufferUsageFlags::INDIRECT_BUFFER
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
    if gpu.features.conditional_rendering {
        usage |= vk::BufferUsageFlags::CONDITIONAL_RENDERING_EXT;
    }
    usage
}

/// Device address of a buffer made with [`buffer_usage`].
pub(crate) fn buffer_address(gpu: &Gpu, buffer: vk::Buffer) -> vk::DeviceAddress {
    // SAFETY: the buffer is alive, has memory bound and the device-address usage.
    unsafe { gpu.device.get_buffer_device_address(&vk::BufferDeviceAddressInfo::default().buffer(buffer)) }
}

/// A buffer of Navin's own. Dropping it at any time is safe (see `retire`).
pub struct Buffer {
    gpu: Arc<Gpu>,
    raw: vk::Buffer,
    size: u64,
    address: vk::DeviceAddress,
    mapped: *mut u8,
    allocation: Option<Allocation>,
}

// SAFETY: the mapped pointer is the one member that is not Send and Sync by itself. The mapping lives as long as
// the buffer and belongs to no thread; writes through a shared reference go through raw pointers whose users take
// care of races, as for any memory that a GPU shares.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Makes a buffer of `size` bytes (at least 1), usable for everything. Mapped kinds are zeroed.
    ///
    /// # Errors
    /// Out of memory, or a size beyond the device's limits.
    pub fn new(context: &Arc<Context>, size: u64, kind: MemoryKind, name: &str) -> Result<Buffer, MemoryError> {
        Self::with_gpu(&context.gpu, size, kind, name)
    }

    pub(crate) fn with_gpu(gpu: &Arc<Gpu>, size: u64, kind: MemoryKind, name: &str) -> Result<Buffer, MemoryError> {
        let size = size.max(1);
        let info = vk::BufferCreateInfo::default().size(size).usage(buffer_usage(gpu));
        // SAFETY: a valid description; the size is at least 1.
        let raw = unsafe { gpu.device.create_buffer(&info, None) }
            .map_err(|error| MemoryError::Refused(format!("{name}: no buffer of {size} bytes: {error}")))?;
        // From here on dropping `buffer` destroys what was made.
        let mut buffer =
            Self { gpu: gpu.clone(), raw, size, address: 0, mapped: std::ptr::null_mut(), allocation: None };
        // SAFETY: the buffer was just made.
        let requirements = unsafe { gpu.device.get_buffer_memory_requirements(raw) };
        let location = match kind {
            MemoryKind::Device => MemoryLocation::GpuOnly,
            MemoryKind::Upload => MemoryLocation::CpuToGpu,
            MemoryKind::Readback => MemoryLocation::GpuToCpu,
        };
        let allocation = gpu.allocate(name, requirements, location, true, AllocationScheme::GpuAllocatorManaged)?;
        // SAFETY: the allocation fits the requirements and is bound once.
        let bound = unsafe { gpu.device.bind_buffer_memory(raw, allocation.memory(), allocation.offset()) };
        let mapped = allocation.mapped_ptr();
        buffer.allocation = Some(allocation);
        bound.map_err(|error| MemoryError::Refused(format!("{name}: binding memory: {error}")))?;
        buffer.address = buffer_address(gpu, raw);
        if kind != MemoryKind::Device {
            let Some(mapped) = mapped else {
                return Err(MemoryError::Refused(format!("{name}: the device maps no such memory")));
            };
            buffer.mapped = mapped.as_ptr().cast();
            // SAFETY: the mapping holds `size` bytes and nobody else knows of it yet.
            unsafe { buffer.mapped.write_bytes(0, size as usize) };
        }
        gpu.name(raw, name);
        Ok(buffer)
    }

    /// The buffer and its memory; the caller destroys them from now on.
    pub(crate) fn into_parts(mut self) -> (vk::Buffer, Option<Allocation>) {
        (std::mem::take(&mut self.raw), self.allocation.take())
    }

    /// The handle.
    pub fn raw(&self) -> vk::Buffer {
        self.raw
    }

    /// Length in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Device address of the first byte.
    pub fn address(&self) -> vk::DeviceAddress {
        self.address
    }

    /// The mapping, null for [`MemoryKind::Device`]. Coherent: what is written is seen by work submitted later.
    pub fn mapped(&self) -> *mut u8 {
        self.mapped
    }

    /// A piece. Not checked against the length.
    pub fn range(&self, offset: u64, size: u64) -> BufferRange {
        BufferRange { buffer: self.raw, offset, size }
    }

    /// Copies bytes into the mapping; false when it has none or they do not fit.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> bool {
        let end = offset.checked_add(bytes.len() as u64);
        if self.mapped.is_null() || end.is_none_or(|end| end > self.size) {
            return false;
        }
        // SAFETY: the range was checked to lie inside the mapping.
        unsafe { self.mapped.add(offset as usize).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        true
    }

    /// Copies bytes out of the mapping; false when it has none or they do not fit. What work on the device wrote
    /// is there once its submission is complete.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> bool {
        let end = offset.checked_add(bytes.len() as u64);
        if self.mapped.is_null() || end.is_none_or(|end| end > self.size) {
            return false;
        }
        // SAFETY: the range was checked to lie inside the mapping.
        unsafe { self.mapped.add(offset as usize).copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len()) };
        true
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.raw != vk::Buffer::null() {
            self.gpu.retire.push(Garbage::Buffer(self.raw, self.allocation.take()));
        }
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Buffer").field("raw", &self.raw).field("size", &self.size).finish_non_exhaustive()
    }
}

/// A texel buffer view, uniform and (where the format can) storage. Dropping it at any time is safe.
pub struct TexelView {
    gpu: Arc<Gpu>,
    raw: vk::BufferView,
    storage: bool,
}

impl TexelView {
    /// Makes a view of a range as texels of `format`. The size is cut to the device's limit and to whole texels.
    ///
    /// # Errors
    /// A format that texel buffers cannot have, a misaligned offset, an empty or null range.
    pub fn new(context: &Arc<Context>, range: BufferRange, format: vk::Format) -> Result<Arc<TexelView>, MemoryError> {
        let gpu = &context.gpu;
        let refused = |why: String| Err(MemoryError::Refused(format!("texel buffer of {format:?}: {why}")));
        let features = gpu.format_features(format).1;
        if !features.contains(vk::FormatFeatureFlags2::UNIFORM_TEXEL_BUFFER) {
            return refused("the device has none of this format".to_owned());
        }
        let texel_bytes = texel_bytes(format);
        if range.is_null() || texel_bytes == 0 || range.size == vk::WHOLE_SIZE {
            return refused("no range".to_owned());
        }
        let alignment = gpu.limits.texel_offset_alignment.max(1);
        if !range.offset.is_multiple_of(alignment) {
            return refused(format!("offset {:#x} is no multiple of {alignment}", range.offset));
        }
        let texels = (range.size / u64::from(texel_bytes)).min(gpu.limits.max_texel_elements.into());
        if texels == 0 {
            return refused(format!("{} bytes hold no texel", range.size));
        }
        let storage = features.contains(vk::FormatFeatureFlags2::STORAGE_TEXEL_BUFFER);
        let info = vk::BufferViewCreateInfo::default()
            .buffer(range.buffer)
            .format(format)
            .offset(range.offset)
            .range(texels * u64::from(texel_bytes));
        // SAFETY: the range was checked; the caller's buffer is alive and has both texel usages.
        match unsafe { gpu.device.create_buffer_view(&info, None) } {
            Ok(raw) => Ok(Arc::new(Self { gpu: gpu.clone(), raw, storage })),
            Err(error) => refused(error.to_string()),
        }
    }

    /// The handle.
    pub fn raw(&self) -> vk::BufferView {
        self.raw
    }

    /// Whether shaders can write through it.
    pub fn is_storage(&self) -> bool {
        self.storage
    }
}

impl Drop for TexelView {
    fn drop(&mut self) {
        self.gpu.retire.push(Garbage::BufferView(self.raw));
    }
}
