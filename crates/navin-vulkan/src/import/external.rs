//! External memory as a buffer: what imports by pointer and by descriptor have in common.

use std::sync::Arc;

use ash::vk;

use super::{ImportError, PoolMemory};
use crate::gpu::Gpu;
use crate::memory::buffer_usage;

/// A buffer over imported memory, on its way to a [`super::PoolBuffer`]. No work has used it.
pub(super) struct External {
    gpu: Arc<Gpu>,
    raw: vk::Buffer,
    memory: vk::DeviceMemory,
    size: u64,
}

impl External {
    /// Makes a buffer of `size` bytes over what `import` names. `types` are the memory types that take it.
    ///
    /// # Safety
    /// `import` is a valid import of `size` bytes (host pages mapped and aligned, or a descriptor that long) of this
    /// handle type, whose extension is enabled.
    pub(super) unsafe fn new<T: vk::ExtendsMemoryAllocateInfo>(
        gpu: &Arc<Gpu>,
        size: u64,
        handle: vk::ExternalMemoryHandleTypeFlags,
        types: u32,
        import: &mut T,
    ) -> Result<External, ImportError> {
        let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(handle);
        let info = vk::BufferCreateInfo::default().size(size).usage(buffer_usage(gpu)).push_next(&mut external);
        // SAFETY: a valid description.
        let raw = unsafe { gpu.device.create_buffer(&info, None) }.map_err(ImportError::Refused)?;
        // From here on dropping `made` destroys what was made (no memory: freeing a null handle does nothing).
        let mut made = External { gpu: gpu.clone(), raw, memory: vk::DeviceMemory::null(), size };
        // SAFETY: the buffer was just made.
        let requirements = unsafe { gpu.device.get_buffer_memory_requirements(raw) };
        let kind = best_type(&gpu.memory, requirements.memory_type_bits & types).ok_or(ImportError::NoMemoryType)?;
        if requirements.size > size {
            return Err(ImportError::TooLarge { size: requirements.size, limit: size });
        }
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let allocate = vk::MemoryAllocateInfo::default()
            .allocation_size(size)
            .memory_type_index(kind)
            .push_next(&mut flags)
            .push_next(import);
        // SAFETY: the caller's promise.
        made.memory = unsafe { gpu.device.allocate_memory(&allocate, None) }.map_err(ImportError::Refused)?;
        // SAFETY: fresh memory of a fitting type and size, bound once.
        unsafe { gpu.device.bind_buffer_memory(raw, made.memory, 0) }.map_err(ImportError::Refused)?;
        Ok(made)
    }

    /// The buffer, its memory and the bytes of both; the caller destroys them from now on.
    pub(super) fn into_parts(mut self) -> (vk::Buffer, PoolMemory, u64) {
        let raw = std::mem::take(&mut self.raw);
        (raw, PoolMemory::Imported(std::mem::take(&mut self.memory)), self.size)
    }
}

impl Drop for External {
    fn drop(&mut self) {
        // SAFETY: handles of this device or null ones; no work has used them.
        unsafe {
            self.gpu.device.destroy_buffer(self.raw, None);
            self.gpu.device.free_memory(self.memory, None);
        }
    }
}

/// The best memory type of a set: coherent and cached, else coherent, else whatever is host-visible, else any.
fn best_type(memory: &vk::PhysicalDeviceMemoryProperties, types: u32) -> Option<u32> {
    let visible = vk::MemoryPropertyFlags::HOST_VISIBLE;
    let coherent = visible | vk::MemoryPropertyFlags::HOST_COHERENT;
    let cached = coherent | vk::MemoryPropertyFlags::HOST_CACHED;
    [cached, coherent, visible, vk::MemoryPropertyFlags::empty()].into_iter().find_map(|wanted| {
        (0..memory.memory_type_count.min(32))
            .find(|&i| types & (1 << i) != 0 && memory.memory_types[i as usize].property_flags.contains(wanted))
    })
}
