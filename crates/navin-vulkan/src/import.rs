//! Import of host memory: a pool's storage as a Vulkan buffer, so that nothing is copied (DESIGN 2).
//!
//! `VK_EXT_external_memory_host` turns host pages into device memory. The range is rounded out to the device's
//! alignment (4 KB everywhere that was looked at), so the buffer begins a little before the guest's storage:
//! [`ImportedBuffer::bias`]. A refusal may be transient while another thread of the guest remaps a region, so it is
//! tried again (B107); refusals that stay are told apart in the log by importing a page of our own beside it.

use std::sync::Arc;
use std::time::Duration;

use ash::vk;

use crate::context::Context;
use crate::encoder::BufferRange;
use crate::gpu::Gpu;
use crate::memory::{buffer_address, buffer_usage};
use crate::retire::Garbage;

/// Further attempts after a refusal (B107).
const RETRIES: u32 = 12;

const HANDLE: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;

/// Why host memory could not be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The device has no VK_EXT_external_memory_host.
    #[error("the device cannot import host memory (no VK_EXT_external_memory_host)")]
    Unsupported,
    /// Nothing to import.
    #[error("an import must hold at least one byte at a non-null address")]
    Empty,
    /// Larger than one allocation may be.
    #[error("{size:#x} bytes are more than one import may hold ({limit:#x})")]
    TooLarge {
        /// Asked for, rounded out.
        size: u64,
        /// The device's limit.
        limit: u64,
    },
    /// Refused by the driver, all retries included (B107).
    #[error("the driver refused the import: {0}")]
    Refused(vk::Result),
    /// The device has no memory type for these pages.
    #[error("no memory type takes these pages")]
    NoMemoryType,
}

/// Host memory as a Vulkan buffer, usable for everything.
///
/// Dropping it destroys the import once no submitted work can use it. The host pages must stay mapped until then
/// (B111): wait for the queue ([`Queue::wait_idle`](crate::Queue::wait_idle)) between the drop and the unmapping.
pub struct ImportedBuffer {
    gpu: Arc<Gpu>,
    raw: vk::Buffer,
    memory: vk::DeviceMemory,
    bias: u64,
    len: u64,
    address: vk::DeviceAddress,
}

impl ImportedBuffer {
    /// Imports `len` bytes at `ptr`, rounded out to the device's alignment.
    ///
    /// # Safety
    /// All pages that the range touches must be mapped readable and writable, and stay so until the import is
    /// destroyed (see the type).
    ///
    /// # Errors
    /// The driver cannot or does not import these pages; refusals were tried again (B107).
    pub unsafe fn new(
        context: &Arc<Context>,
        ptr: *mut u8,
        len: u64,
        name: &str,
    ) -> Result<ImportedBuffer, ImportError> {
        let gpu = &context.gpu;
        let alignment = gpu.limits.host_import_alignment.max(1);
        let span = Span::around(ptr as u64, len, alignment).ok_or(ImportError::Empty)?;
        if span.size > gpu.limits.max_allocation {
            return Err(ImportError::TooLarge { size: span.size, limit: gpu.limits.max_allocation });
        }
        // SAFETY: the caller's promise covers every page of the range, and rounding out stays within those pages
        // (the alignment is never above the page size on known devices; a larger one would be refused).
        let outcome = with_retries(|| unsafe { import(gpu, span) }, std::thread::sleep);
        match outcome {
            Ok((mut imported, retries)) => {
                if retries > 0 {
                    navin_abi::fault!(
                        key = ptr as usize,
                        "B107",
                        "import of {len:#x} bytes at {ptr:p} ({name}) was refused and succeeded at retry {retries}"
                    );
                }
                imported.bias = ptr as u64 - span.start;
                imported.len = len;
                gpu.name(imported.raw, name);
                Ok(imported)
            }
            Err(error) => {
                report_refusal(gpu, ptr, len, name, &error);
                Err(error)
            }
        }
    }

    /// The handle. `ptr` is [`ImportedBuffer::bias`] bytes into it.
    pub fn raw(&self) -> vk::Buffer {
        self.raw
    }

    /// Bytes from the buffer's begin to `ptr`.
    pub fn bias(&self) -> u64 {
        self.bias
    }

    /// `len`, in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Never: an import holds at least a byte.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Device address of `ptr`.
    pub fn address(&self) -> vk::DeviceAddress {
        self.address + self.bias
    }

    /// A piece, offsets counted from `ptr`. Not checked against the length.
    pub fn range(&self, offset: u64, size: u64) -> BufferRange {
        BufferRange { buffer: self.raw, offset: self.bias + offset, size }
    }
}

impl Drop for ImportedBuffer {
    fn drop(&mut self) {
        self.gpu.retire.push(Garbage::Import(self.raw, self.memory));
    }
}

/// A range of host pages, begin and size multiples of the import alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: u64,
    size: u64,
}

impl Span {
    fn around(ptr: u64, len: u64, alignment: u64) -> Option<Self> {
        if ptr == 0 || len == 0 {
            return None;
        }
        let start = ptr - ptr % alignment;
        let end = ptr.checked_add(len)?.checked_next_multiple_of(alignment)?;
        Some(Self { start, size: end - start })
    }
}

/// Whether a refusal can be gone a moment later (B107).
fn may_pass(error: &ImportError) -> bool {
    matches!(
        error,
        ImportError::Refused(
            vk::Result::ERROR_INVALID_EXTERNAL_HANDLE
                | vk::Result::ERROR_OUT_OF_HOST_MEMORY
                | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
        )
    )
}

/// B107: tries, and after transient refusals tries up to [`RETRIES`] times more, with growing waits of 0.1 to 6.4 ms.
/// Gives the result and the number of the retry that brought it, 0 for the first attempt.
fn with_retries<T>(
    mut attempt: impl FnMut() -> Result<T, ImportError>,
    mut wait: impl FnMut(Duration),
) -> Result<(T, u32), ImportError> {
    let mut retry = 0;
    loop {
        match attempt() {
            Ok(value) => return Ok((value, retry)),
            Err(error) if retry < RETRIES && may_pass(&error) => {
                wait(Duration::from_micros(100 << retry.min(6)));
                retry += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// One attempt.
///
/// # Safety
/// The pages of `span` are mapped readable and writable while the import lives.
unsafe fn import(gpu: &Arc<Gpu>, span: Span) -> Result<ImportedBuffer, ImportError> {
    let loader = gpu.host_import.as_ref().ok_or(ImportError::Unsupported)?;
    let pointer = span.start as *mut std::ffi::c_void;
    let mut properties = vk::MemoryHostPointerPropertiesEXT::default();
    // SAFETY: the extension is enabled, and the pages are mapped.
    unsafe { (loader.fp().get_memory_host_pointer_properties_ext)(loader.device(), HANDLE, pointer, &mut properties) }
        .result()
        .map_err(ImportError::Refused)?;

    let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(HANDLE);
    let info = vk::BufferCreateInfo::default().size(span.size).usage(buffer_usage(gpu)).push_next(&mut external);
    // SAFETY: a valid description.
    let raw = unsafe { gpu.device.create_buffer(&info, None) }.map_err(ImportError::Refused)?;
    // From here on dropping `imported` destroys what was made (no memory: freeing a null handle does nothing).
    let mut imported =
        ImportedBuffer { gpu: gpu.clone(), raw, memory: vk::DeviceMemory::null(), bias: 0, len: 0, address: 0 };
    // SAFETY: the buffer was just made.
    let requirements = unsafe { gpu.device.get_buffer_memory_requirements(raw) };
    let types = requirements.memory_type_bits & properties.memory_type_bits;
    let kind = best_type(&gpu.memory, types).ok_or(ImportError::NoMemoryType)?;
    if requirements.size > span.size {
        return Err(ImportError::TooLarge { size: requirements.size, limit: span.size });
    }
    let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
    let mut host = vk::ImportMemoryHostPointerInfoEXT::default().handle_type(HANDLE).host_pointer(pointer);
    let allocate = vk::MemoryAllocateInfo::default()
        .allocation_size(span.size)
        .memory_type_index(kind)
        .push_next(&mut flags)
        .push_next(&mut host);
    // SAFETY: pointer and size are multiples of the import alignment and mapped (the caller's promise).
    imported.memory = unsafe { gpu.device.allocate_memory(&allocate, None) }.map_err(ImportError::Refused)?;
    // SAFETY: fresh memory of a fitting type and size, bound once.
    unsafe { gpu.device.bind_buffer_memory(raw, imported.memory, 0) }.map_err(ImportError::Refused)?;
    imported.address = buffer_address(gpu, raw);
    Ok(imported)
}

/// The best memory type of a set: coherent and cached, else coherent, else whatever is host-visible.
fn best_type(memory: &vk::PhysicalDeviceMemoryProperties, types: u32) -> Option<u32> {
    let visible = vk::MemoryPropertyFlags::HOST_VISIBLE;
    let coherent = visible | vk::MemoryPropertyFlags::HOST_COHERENT;
    let cached = coherent | vk::MemoryPropertyFlags::HOST_CACHED;
    [cached, coherent, visible, vk::MemoryPropertyFlags::empty()].into_iter().find_map(|wanted| {
        (0..memory.memory_type_count.min(32))
            .find(|&i| types & (1 << i) != 0 && memory.memory_types[i as usize].property_flags.contains(wanted))
    })
}

/// B107: after the last refusal, says whether the driver takes anonymous memory at all, and what is mapped near the
/// pool.
fn report_refusal(gpu: &Arc<Gpu>, ptr: *mut u8, len: u64, name: &str, error: &ImportError) {
    if !matches!(error, ImportError::Refused(_) | ImportError::NoMemoryType) {
        return;
    }
    let verdict = if imports_anonymous_page(gpu) {
        "a page of Navin's own was taken: the driver refuses this kind of mapping"
    } else {
        "a page of Navin's own was refused as well"
    };
    navin_abi::fault!(
        key = ptr as usize,
        "B107",
        "import of {len:#x} bytes at {ptr:p} ({name}) failed for good: {error}; {verdict}; mapped near it:{}",
        maps_near(ptr as u64, len)
    );
}

fn imports_anonymous_page(gpu: &Arc<Gpu>) -> bool {
    let alignment = gpu.limits.host_import_alignment.clamp(4096, 1 << 20) as usize;
    let Ok(layout) = std::alloc::Layout::from_size_align(alignment, alignment) else { return false };
    // SAFETY: the layout has a size above 0; the import is destroyed before the page is freed, which is sound
    // because nothing was recorded with it.
    unsafe {
        let page = std::alloc::alloc_zeroed(layout);
        if page.is_null() {
            return false;
        }
        let span = Span { start: page as u64, size: alignment as u64 };
        let taken = match import(gpu, span) {
            Ok(imported) => {
                gpu.device.destroy_buffer(imported.raw, None);
                gpu.device.free_memory(imported.memory, None);
                // The handles are destroyed already: do not queue them again.
                let imported = std::mem::ManuallyDrop::new(imported);
                drop(std::ptr::read(&imported.gpu));
                true
            }
            Err(_) => false,
        };
        std::alloc::dealloc(page, layout);
        taken
    }
}

/// The lines of `/proc/self/maps` that touch a range or its neighbourhood of 1 MB; empty where there is no such file.
fn maps_near(start: u64, len: u64) -> String {
    const NEAR: u64 = 1 << 20;
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return String::new() };
    let (low, high) = (start.saturating_sub(NEAR), start.saturating_add(len).saturating_add(NEAR));
    let near = maps.lines().filter(|line| {
        let bounds = line.split_whitespace().next().and_then(|range| range.split_once('-'));
        let parse = |text| u64::from_str_radix(text, 16).ok();
        bounds.and_then(|(a, b)| Some((parse(a)?, parse(b)?))).is_some_and(|(a, b)| a < high && b > low)
    });
    near.take(64).map(|line| format!("\n  {line}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusing(times: u32, error: vk::Result) -> (Result<((), u32), ImportError>, u32) {
        let mut left = times;
        let mut waits = 0;
        let result = with_retries(
            || {
                if left == 0 {
                    return Ok(());
                }
                left -= 1;
                Err(ImportError::Refused(error))
            },
            |_| waits += 1,
        );
        (result, waits)
    }

    #[test]
    fn b107_refusals_up_to_twelve_are_outlived_and_the_retry_is_named() {
        for times in [0, 1, 11, 12] {
            let (result, waits) = refusing(times, vk::Result::ERROR_INVALID_EXTERNAL_HANDLE);
            assert_eq!(result.expect("succeeds").1, times);
            assert_eq!(waits, times);
        }
        assert!(refusing(13, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY).0.is_err());
    }

    #[test]
    fn b107_lasting_refusals_are_not_repeated() {
        let (result, waits) = refusing(1, vk::Result::ERROR_DEVICE_LOST);
        assert!(result.is_err());
        assert_eq!(waits, 0);
    }

    #[test]
    fn b107_the_memory_map_near_a_pool_names_its_own_region() {
        let byte = Box::new(0u8);
        let text = maps_near(std::ptr::from_ref(&*byte) as u64, 1);
        if cfg!(target_os = "linux") {
            assert!(text.contains("rw-p"), "{text}");
        }
    }

    #[test]
    fn spans_are_rounded_out_to_whole_pages() {
        assert_eq!(Span::around(0x1234, 1, 0x1000), Some(Span { start: 0x1000, size: 0x1000 }));
        assert_eq!(Span::around(0x1fff, 2, 0x1000), Some(Span { start: 0x1000, size: 0x2000 }));
        assert_eq!(Span::around(0x2000, 0x1000, 0x1000), Some(Span { start: 0x2000, size: 0x1000 }));
        assert_eq!(Span::around(0, 8, 0x1000), None);
        assert_eq!(Span::around(0x1000, 0, 0x1000), None);
        assert_eq!(Span::around(u64::MAX - 4, 16, 0x1000), None);
    }
}
