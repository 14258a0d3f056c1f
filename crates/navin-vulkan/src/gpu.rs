//! What every object of this crate holds on to: the Vulkan device, its allocator and the queue of dropped handles.
//!
//! [`Context`](crate::Context) is what callers see; it also owns tables and queue, which are made of objects that
//! refer to the device themselves. Keeping the device apart in an `Arc<Gpu>` leaves no cycle, and lets an object
//! outlive the context by mistake without harm.

use std::collections::HashMap;
use std::ffi::CString;
use std::mem::ManuallyDrop;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use ash::vk::Handle as _;
use ash::{ext, khr, vk};
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme, Allocator};
use parking_lot::{Mutex, RwLock};
use rustc_hash::FxBuildHasher;

use crate::clock::Clock;
use crate::context::Limits;
use crate::features::Features;
use crate::import::PoolMemory;
use crate::memory::MemoryError;
use crate::prologue::Fresh;
use crate::retire::{Garbage, Retire};
use crate::validation::Messages;

/// Debug-utils entry points, where names or labels are wanted.
pub(crate) struct DebugUtils {
    pub(crate) device: ext::debug_utils::Device,
}

/// The instance and what must be destroyed with it.
pub(crate) struct Instance {
    /// Keeps the loader's library open.
    pub(crate) _entry: ash::Entry,
    pub(crate) raw: ash::Instance,
    pub(crate) messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    pub(crate) messages: Box<Messages>,
    pub(crate) has_debug_utils: bool,
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: nothing made from the instance is alive: the device owner destroys the device before this.
        unsafe {
            if let Some((loader, messenger)) = self.messenger.take() {
                loader.destroy_debug_utils_messenger(messenger, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

/// The device and its services.
pub(crate) struct Gpu {
    pub(crate) device: ash::Device,
    pub(crate) physical: vk::PhysicalDevice,
    pub(crate) queue_family: u32,
    pub(crate) shader_object: ext::shader_object::Device,
    pub(crate) host_import: Option<ext::external_memory_host::Device>,
    pub(crate) dma_buf: Option<khr::external_memory_fd::Device>,
    pub(crate) conditional: Option<ext::conditional_rendering::Device>,
    /// Only where the device's own clock can be read.
    pub(crate) calibrated: Option<ext::calibrated_timestamps::Device>,
    pub(crate) debug: Option<DebugUtils>,
    pub(crate) features: Features,
    pub(crate) limits: Limits,
    pub(crate) device_limits: vk::PhysicalDeviceLimits,
    pub(crate) memory: vk::PhysicalDeviceMemoryProperties,
    pub(crate) retire: Retire,
    pub(crate) pools: PoolCounters,
    /// Images that somebody holds.
    pub(crate) images: AtomicU64,
    /// The queue's timeline once there is one, as a number; destroyed with the device.
    pub(crate) timeline: AtomicU64,
    /// New images and pools that wait for a submission.
    pub(crate) fresh: Mutex<Fresh>,
    /// Set when the device is open, before anything is encoded.
    pub(crate) clock: OnceLock<Clock>,
    formats: RwLock<HashMap<vk::Format, (vk::FormatFeatureFlags2, vk::FormatFeatureFlags2), FxBuildHasher>>,
    allocator: ManuallyDrop<Mutex<Allocator>>,
    /// After the device: the instance is destroyed last.
    pub(crate) instance: Instance,
}

/// Whether the device's clock is among those that the CPU can read.
fn device_clock(instance: &Instance, physical: vk::PhysicalDevice) -> bool {
    let loader = ext::calibrated_timestamps::Instance::new(&instance._entry, &instance.raw);
    // SAFETY: the device has the extension.
    let domains = unsafe { loader.get_physical_device_calibrateable_time_domains(physical) };
    domains.is_ok_and(|domains| domains.contains(&vk::TimeDomainEXT::DEVICE))
}

/// What [`Gpu`] is made of.
pub(crate) struct GpuParts {
    pub(crate) instance: Instance,
    pub(crate) physical: vk::PhysicalDevice,
    pub(crate) device: ash::Device,
    pub(crate) queue_family: u32,
    pub(crate) features: Features,
    pub(crate) limits: Limits,
    pub(crate) device_limits: vk::PhysicalDeviceLimits,
    pub(crate) memory: vk::PhysicalDeviceMemoryProperties,
    pub(crate) allocator: Allocator,
    pub(crate) labels: bool,
}

impl Gpu {
    pub(crate) fn new(parts: GpuParts) -> Self {
        let raw = &parts.instance.raw;
        Self {
            shader_object: ext::shader_object::Device::new(raw, &parts.device),
            host_import: parts.features.host_import.then(|| ext::external_memory_host::Device::new(raw, &parts.device)),
            dma_buf: parts.features.dma_buf.then(|| khr::external_memory_fd::Device::new(raw, &parts.device)),
            conditional: parts
                .features
                .conditional_rendering
                .then(|| ext::conditional_rendering::Device::new(raw, &parts.device)),
            calibrated: (parts.features.calibrated_timestamps && device_clock(&parts.instance, parts.physical))
                .then(|| ext::calibrated_timestamps::Device::new(raw, &parts.device)),
            debug: parts.labels.then(|| DebugUtils { device: ext::debug_utils::Device::new(raw, &parts.device) }),
            device: parts.device,
            physical: parts.physical,
            queue_family: parts.queue_family,
            features: parts.features,
            limits: parts.limits,
            device_limits: parts.device_limits,
            memory: parts.memory,
            retire: Retire::default(),
            pools: PoolCounters::default(),
            images: AtomicU64::new(0),
            timeline: AtomicU64::new(0),
            fresh: Mutex::default(),
            clock: OnceLock::new(),
            formats: RwLock::default(),
            allocator: ManuallyDrop::new(Mutex::new(parts.allocator)),
            instance: parts.instance,
        }
    }

    /// Allocates memory for a resource.
    pub(crate) fn allocate(
        &self,
        name: &str,
        requirements: vk::MemoryRequirements,
        location: MemoryLocation,
        linear: bool,
        scheme: AllocationScheme,
    ) -> Result<Allocation, MemoryError> {
        let desc = AllocationCreateDesc { name, requirements, location, linear, allocation_scheme: scheme };
        self.allocator.lock().allocate(&desc).map_err(|error| {
            MemoryError::Refused(format!("{name}: no {} bytes of device memory: {error}", requirements.size))
        })
    }

    pub(crate) fn free(&self, allocation: Allocation) {
        if let Err(error) = self.allocator.lock().free(allocation) {
            tracing::error!("freeing device memory: {error}");
        }
    }

    /// Bytes that the allocator has taken from the device.
    pub(crate) fn allocated_capacity(&self) -> u64 {
        self.allocator.lock().capacity()
    }

    /// Features of a format: of optimally tiled images, and of buffers.
    pub(crate) fn format_features(&self, format: vk::Format) -> (vk::FormatFeatureFlags2, vk::FormatFeatureFlags2) {
        if let Some(found) = self.formats.read().get(&format) {
            return *found;
        }
        // Formats of maintenance5, which is not enabled: drivers answer for them all the same.
        if matches!(format, vk::Format::A1B5G5R5_UNORM_PACK16_KHR | vk::Format::A8_UNORM_KHR) {
            return Default::default();
        }
        let mut three = vk::FormatProperties3::default();
        let mut two = vk::FormatProperties2::default().push_next(&mut three);
        // SAFETY: the physical device is the instance's; the chain is valid for Vulkan 1.3.
        unsafe { self.instance.raw.get_physical_device_format_properties2(self.physical, format, &mut two) };
        let found = (three.optimal_tiling_features, three.buffer_features);
        self.formats.write().insert(format, found);
        found
    }

    /// Names an object for debuggers, if any listens.
    pub(crate) fn name<H: vk::Handle>(&self, handle: H, name: &str) {
        let Some(debug) = &self.debug else { return };
        let Ok(name) = CString::new(name) else { return };
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(handle).object_name(&name);
        // SAFETY: the handle is alive (the caller just made it) and the extension is enabled.
        if let Err(error) = unsafe { debug.device.set_debug_utils_object_name(&info) } {
            tracing::debug!("naming an object: {error}");
        }
    }

    /// Destroys what no work can be using any more. Any thread may call it at any time; the only locks that it takes
    /// are its own and the allocator's.
    pub(crate) fn release(&self) {
        if self.retire.is_empty() {
            return;
        }
        let timeline = vk::Semaphore::from_raw(self.timeline.load(Ordering::Acquire));
        let completed = if timeline.is_null() {
            0
        } else {
            // SAFETY: the semaphore lives as long as the device.
            match unsafe { self.device.get_semaphore_counter_value(timeline) } {
                Ok(value) => value,
                // Said where work is waited for.
                Err(_) => return,
            }
        };
        for garbage in self.retire.take(completed) {
            self.destroy(garbage);
        }
    }

    /// Names it once when the device's limit on allocations comes near (B110).
    pub(crate) fn check_allocation_count(&self) {
        let limit = u64::from(self.device_limits.max_memory_allocation_count);
        let imports = self.pools.counts().imports;
        // Counting the allocator's blocks takes a while; far from the limit they do not matter.
        if imports < limit / 2 || !imports.is_multiple_of(64) {
            return;
        }
        let blocks = self.allocator.lock().generate_report().blocks.len() as u64;
        if imports + blocks >= limit / 10 * 9 {
            navin_abi::fault!(
                "B110",
                "{imports} imports and {blocks} blocks of device memory are near the device's limit of {limit} \
                 allocations; past it pools cannot be made"
            );
        }
    }

    /// Destroys what [`Retire`] has released, or whose owner vouches for it.
    pub(crate) fn destroy(&self, garbage: Garbage) {
        let device = &self.device;
        // SAFETY: handles in `Garbage` have lost their owner, and `Retire` releases them only when every encoder
        // that could have recorded them has completed; `PoolBuffer::end` has its caller's promise of the same.
        unsafe {
            match garbage {
                Garbage::Buffer(buffer, allocation) => {
                    device.destroy_buffer(buffer, None);
                    if let Some(allocation) = allocation {
                        self.free(allocation);
                    }
                }
                Garbage::Pool(buffer, memory, size) => {
                    device.destroy_buffer(buffer, None);
                    let imported = match memory {
                        PoolMemory::Imported(memory) => {
                            device.free_memory(memory, None);
                            true
                        }
                        PoolMemory::Own(allocation) => {
                            if let Some(allocation) = allocation {
                                self.free(allocation);
                            }
                            false
                        }
                    };
                    self.pools.destroyed(size, imported);
                }
                Garbage::Image(image, views, allocation) => {
                    for view in views {
                        device.destroy_image_view(view, None);
                    }
                    device.destroy_image(image, None);
                    if let Some(allocation) = allocation {
                        self.free(allocation);
                    }
                }
                Garbage::BufferView(view) => device.destroy_buffer_view(view, None),
                Garbage::Sampler(sampler) => device.destroy_sampler(sampler, None),
                Garbage::Shader(shader) => self.shader_object.destroy_shader(shader, None),
                Garbage::QueryPool(pool) => device.destroy_query_pool(pool, None),
                Garbage::Split(slot) => slot.free(),
            }
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: every object that holds the device is gone; waiting makes the last work complete. The allocator
        // is dropped here and never used again, before the device that it frees its blocks on.
        unsafe {
            if let Err(error) = self.device.device_wait_idle() {
                tracing::error!("waiting for the device at its end: {error}");
            }
            for garbage in self.retire.take_all() {
                self.destroy(garbage);
            }
            self.device.destroy_semaphore(vk::Semaphore::from_raw(*self.timeline.get_mut()), None);
            ManuallyDrop::drop(&mut self.allocator);
            self.device.destroy_device(None);
        }
    }
}

/// What pools hold, counted. The counters know nothing of the buffers: asking prolongs no life (B125).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct PoolCounts {
    /// Pool buffers that somebody holds.
    pub live: u64,
    /// Their bytes.
    pub live_bytes: u64,
    /// Pool buffers that are finalized and not destroyed yet.
    pub retired: u64,
    /// Their bytes.
    pub retired_bytes: u64,
    /// Imported allocations, of both.
    pub imports: u64,
}

/// Exact at any time; see [`PoolCounts`].
#[derive(Default)]
pub(crate) struct PoolCounters(Mutex<PoolCounts>);

impl PoolCounters {
    pub(crate) fn made(&self, size: u64, imported: bool) {
        let mut counts = self.0.lock();
        counts.live += 1;
        counts.live_bytes += size;
        counts.imports += u64::from(imported);
    }

    pub(crate) fn dropped(&self, size: u64) {
        let mut counts = self.0.lock();
        counts.live -= 1;
        counts.live_bytes -= size;
        counts.retired += 1;
        counts.retired_bytes += size;
    }

    fn destroyed(&self, size: u64, imported: bool) {
        let mut counts = self.0.lock();
        counts.retired -= 1;
        counts.retired_bytes -= size;
        counts.imports -= u64::from(imported);
    }

    pub(crate) fn counts(&self) -> PoolCounts {
        *self.0.lock()
    }
}
