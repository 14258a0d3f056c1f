//! One Vulkan device and the few helpers that the runner needs: buffers in host memory, images, one submission at a
//! time.
//!
//! The reference form needs a plain, separate path to the device, so this is no user of `navin-vulkan`: a fault there
//! must not hide in both forms.

use std::cell::RefCell;
use std::ffi::CStr;

use ash::vk;

/// Why something could not be run.
#[derive(Debug)]
pub enum GpuError {
    /// A submission did not end; the device is not to be used any further.
    Timeout,
    /// A call failed.
    Vulkan(&'static str, vk::Result),
    /// No loader, device or memory type.
    Missing(String),
}

impl std::fmt::Display for GpuError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Timeout => f.write_str("the submission did not end"),
            Self::Vulkan(what, result) => write!(f, "{what}: {result}"),
            Self::Missing(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for GpuError {}

/// Names the failing call.
pub trait Named<T> {
    /// Turns a Vulkan result into a [`GpuError`] that names `what`.
    ///
    /// # Errors
    /// If the call failed.
    fn named(self, what: &'static str) -> Result<T, GpuError>;
}

impl<T> Named<T> for Result<T, vk::Result> {
    fn named(self, what: &'static str) -> Result<T, GpuError> {
        self.map_err(|r| GpuError::Vulkan(what, r))
    }
}

/// How long a submission may take before it counts as endless.
const TIMEOUT_NS: u64 = 20_000_000_000;

/// A device with everything that it offers enabled.
pub struct Gpu {
    _entry: ash::Entry,
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    /// The device.
    pub device: ash::Device,
    queue: vk::Queue,
    pool: vk::CommandPool,
    command: vk::CommandBuffer,
    fence: vk::Fence,
    memory: vk::PhysicalDeviceMemoryProperties,
    /// Core features that were enabled.
    pub features: vk::PhysicalDeviceFeatures,
    /// Vulkan 1.2 features that were enabled.
    pub features12: vk::PhysicalDeviceVulkan12Features<'static>,
    /// Lanes of a subgroup.
    pub subgroup_size: u32,
    /// Float behaviour.
    pub float_controls: vk::PhysicalDeviceFloatControlsProperties<'static>,
    /// The device's name.
    pub name: String,
}

/// A buffer in host-visible memory, mapped.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// Handle.
    pub handle: vk::Buffer,
    /// Bytes.
    pub size: u64,
    /// Device address.
    pub address: u64,
    mapped: *mut u8,
}

/// An image in device memory, kept in the general layout.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// Handle.
    pub handle: vk::Image,
    /// Format.
    pub format: vk::Format,
    /// Extent of level 0.
    pub extent: vk::Extent3D,
    /// Levels.
    pub levels: u32,
    /// Layers.
    pub layers: u32,
    /// Aspects.
    pub aspect: vk::ImageAspectFlags,
}

/// What an image is to be.
#[derive(Clone, Copy, Debug)]
pub struct ImageInfo {
    /// Dimensionality.
    pub ty: vk::ImageType,
    /// Format.
    pub format: vk::Format,
    /// Extent of level 0.
    pub extent: [u32; 3],
    /// Levels.
    pub levels: u32,
    /// Layers.
    pub layers: u32,
    /// Samples, 1 or 4.
    pub samples: u32,
    /// Uses beside copies.
    pub usage: vk::ImageUsageFlags,
    /// Flags.
    pub flags: vk::ImageCreateFlags,
}

impl Gpu {
    /// Opens the first device that offers Vulkan 1.3.
    ///
    /// # Errors
    /// If there is no loader or no such device.
    pub fn open() -> Result<Self, GpuError> {
        // SAFETY: the loader is a system library with no preconditions of its own.
        let entry = unsafe { ash::Entry::load() }.map_err(|e| GpuError::Missing(format!("no Vulkan loader: {e}")))?;
        let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&app);
        // SAFETY: `info` and what it points to outlive the call.
        let instance = unsafe { entry.create_instance(&info, None) }.named("vkCreateInstance")?;
        // SAFETY: `instance` is alive.
        let all = unsafe { instance.enumerate_physical_devices() }.named("vkEnumeratePhysicalDevices")?;
        let usable = all.into_iter().find(|p| {
            // SAFETY: `p` comes from this instance.
            unsafe { instance.get_physical_device_properties(*p) }.api_version >= vk::API_VERSION_1_3
        });
        let Some(physical) = usable else {
            // SAFETY: nothing was made from the instance.
            unsafe { instance.destroy_instance(None) };
            return Err(GpuError::Missing("no device with Vulkan 1.3".into()));
        };
        Self::with_device(entry, instance, physical)
    }

    fn with_device(entry: ash::Entry, instance: ash::Instance, physical: vk::PhysicalDevice) -> Result<Self, GpuError> {
        let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
        let mut float_controls = vk::PhysicalDeviceFloatControlsProperties::default();
        let mut properties =
            vk::PhysicalDeviceProperties2::default().push_next(&mut subgroup).push_next(&mut float_controls);
        // SAFETY: the chain is made of structures of Vulkan 1.1 and 1.2 that live here.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        let name = properties.properties.device_name_as_c_str().unwrap_or(c"?").to_string_lossy().into_owned();
        let mut f11 = vk::PhysicalDeviceVulkan11Features::default();
        let mut f12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut f13 = vk::PhysicalDeviceVulkan13Features::default();
        let mut features =
            vk::PhysicalDeviceFeatures2::default().push_next(&mut f11).push_next(&mut f12).push_next(&mut f13);
        // SAFETY: as above.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        // What the device offers is enabled as it stands, robust access included, which the guest form relies on.
        let core = features.features;
        // SAFETY: `physical` belongs to `instance`.
        let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
        let want = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
        let family = families
            .iter()
            .position(|f| f.queue_flags.contains(want))
            .ok_or_else(|| GpuError::Missing("no queue for graphics and compute".into()))? as u32;
        // SAFETY: as above.
        let extensions = unsafe { instance.enumerate_device_extension_properties(physical) }
            .named("vkEnumerateDeviceExtensionProperties")?;
        let offered = |name: &CStr| extensions.iter().any(|e| e.extension_name_as_c_str() == Ok(name));
        let enabled: Vec<_> =
            [ash::ext::robustness2::NAME].into_iter().filter(|n| offered(n)).map(CStr::as_ptr).collect();
        let mut robustness = vk::PhysicalDeviceRobustness2FeaturesEXT::default().null_descriptor(true);
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&priorities)];
        let mut info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&enabled)
            .push_next(&mut features);
        if !enabled.is_empty() {
            info = info.push_next(&mut robustness);
        }
        // SAFETY: everything that `info` points to lives until after the call.
        let device = unsafe { instance.create_device(physical, &info, None) }.named("vkCreateDevice")?;
        // SAFETY: the queue family was asked for above.
        let queue = unsafe { device.get_device_queue(family, 0) };
        let pool_info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: plain creation on a live device.
        let pool = unsafe { device.create_command_pool(&pool_info, None) }.named("vkCreateCommandPool")?;
        let buffers = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: as above.
        let command = unsafe { device.allocate_command_buffers(&buffers) }.named("vkAllocateCommandBuffers")?[0];
        // SAFETY: as above.
        let fence = unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) }.named("vkCreateFence")?;
        // SAFETY: `physical` belongs to `instance`.
        let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
        f12.p_next = std::ptr::null_mut();
        float_controls.p_next = std::ptr::null_mut();
        Ok(Self {
            _entry: entry,
            instance,
            physical,
            device,
            queue,
            pool,
            command,
            fence,
            memory,
            features: core,
            features12: f12,
            subgroup_size: subgroup.subgroup_size,
            float_controls,
            name,
        })
    }

    /// Whether vertex buffers can hold `format`.
    pub fn vertex_format(&self, format: vk::Format) -> bool {
        // SAFETY: the physical device belongs to the instance.
        let p = unsafe { self.instance.get_physical_device_format_properties(self.physical, format) };
        p.buffer_features.contains(vk::FormatFeatureFlags::VERTEX_BUFFER)
    }

    /// Whether optimally tiled images of `format` can be used for all of `features`.
    pub fn image_format(&self, format: vk::Format, features: vk::FormatFeatureFlags) -> bool {
        // SAFETY: as above.
        let p = unsafe { self.instance.get_physical_device_format_properties(self.physical, format) };
        p.optimal_tiling_features.contains(features)
    }

    /// Records and runs one submission and waits for its end.
    ///
    /// # Errors
    /// If it does not end in time, or a call fails.
    pub fn submit(&self, record: impl FnOnce(vk::CommandBuffer)) -> Result<(), GpuError> {
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the only command buffer; the last submission of it has ended.
        unsafe { self.device.begin_command_buffer(self.command, &begin) }.named("vkBeginCommandBuffer")?;
        record(self.command);
        let commands = [self.command];
        let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
        // SAFETY: recording is over; the fence is not signalled and in no other use.
        unsafe {
            self.device.end_command_buffer(self.command).named("vkEndCommandBuffer")?;
            self.device.queue_submit(self.queue, &submit, self.fence).named("vkQueueSubmit")?;
            match self.device.wait_for_fences(&[self.fence], true, TIMEOUT_NS) {
                Ok(()) => {}
                Err(vk::Result::TIMEOUT) => return Err(GpuError::Timeout),
                Err(r) => return Err(GpuError::Vulkan("vkWaitForFences", r)),
            }
            self.device.reset_fences(&[self.fence]).named("vkResetFences")
        }
    }

    fn memory_type(&self, bits: u32, flags: vk::MemoryPropertyFlags) -> Result<u32, GpuError> {
        let types = &self.memory.memory_types[..self.memory.memory_type_count as usize];
        (0..types.len())
            .find(|i| bits & (1 << i) != 0 && types[*i].property_flags.contains(flags))
            .map(|i| i as u32)
            .ok_or_else(|| GpuError::Missing(format!("no memory type {flags:?}")))
    }

    /// A barrier for everything.
    pub fn barrier(&self, command: vk::CommandBuffer) {
        let all = [vk::MemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
            .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS | vk::PipelineStageFlags2::HOST)
            .dst_access_mask(
                vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE | vk::AccessFlags2::HOST_READ,
            )];
        // SAFETY: recording.
        unsafe {
            self.device.cmd_pipeline_barrier2(command, &vk::DependencyInfo::default().memory_barriers(&all));
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: every arena borrows the device and is gone; an endless submission ends the process before this.
        unsafe {
            let _ = self.device.device_wait_idle();
            self.device.destroy_fence(self.fence, None);
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

/// Objects of one run, destroyed together.
pub struct Arena<'g> {
    /// The device.
    pub gpu: &'g Gpu,
    objects: RefCell<Vec<Object>>,
}

enum Object {
    Memory(vk::DeviceMemory),
    Buffer(vk::Buffer),
    BufferView(vk::BufferView),
    Image(vk::Image),
    View(vk::ImageView),
    Sampler(vk::Sampler),
    SetLayout(vk::DescriptorSetLayout),
    PipelineLayout(vk::PipelineLayout),
    DescriptorPool(vk::DescriptorPool),
    Pipeline(vk::Pipeline),
}

impl<'g> Arena<'g> {
    /// An empty arena.
    pub fn new(gpu: &'g Gpu) -> Self {
        Self { gpu, objects: RefCell::default() }
    }

    fn keep(&self, object: Object) {
        self.objects.borrow_mut().push(object);
    }

    /// A mapped buffer with `data` at its start and zeros after it.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn buffer(&self, size: u64, data: &[u8]) -> Result<Buffer, GpuError> {
        let size = size.max(data.len() as u64).max(16);
        let usage = vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::UNIFORM_BUFFER
            | vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER
            | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER
            | vk::BufferUsageFlags::VERTEX_BUFFER
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        let device = &self.gpu.device;
        // SAFETY: plain creation; every handle is kept until the arena goes, and the mapping lives with the memory.
        unsafe {
            let info = vk::BufferCreateInfo::default().size(size).usage(usage);
            let handle = device.create_buffer(&info, None).named("vkCreateBuffer")?;
            self.keep(Object::Buffer(handle));
            let need = device.get_buffer_memory_requirements(handle);
            let flags = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let mut address = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
            let allocate = vk::MemoryAllocateInfo::default()
                .allocation_size(need.size)
                .memory_type_index(self.gpu.memory_type(need.memory_type_bits, flags)?)
                .push_next(&mut address);
            let memory = device.allocate_memory(&allocate, None).named("vkAllocateMemory")?;
            self.keep(Object::Memory(memory));
            device.bind_buffer_memory(handle, memory, 0).named("vkBindBufferMemory")?;
            let mapped: *mut u8 =
                device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()).named("vkMapMemory")?.cast();
            let address = device.get_buffer_device_address(&vk::BufferDeviceAddressInfo::default().buffer(handle));
            std::ptr::write_bytes(mapped, 0, size as usize);
            std::ptr::copy_nonoverlapping(data.as_ptr(), mapped, data.len());
            Ok(Buffer { handle, size, address, mapped })
        }
    }

    /// A view of a whole buffer as texels.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn buffer_view(&self, buffer: &Buffer, format: vk::Format) -> Result<vk::BufferView, GpuError> {
        let info = vk::BufferViewCreateInfo::default().buffer(buffer.handle).format(format).range(vk::WHOLE_SIZE);
        // SAFETY: the buffer is alive.
        let view = unsafe { self.gpu.device.create_buffer_view(&info, None) }.named("vkCreateBufferView")?;
        self.keep(Object::BufferView(view));
        Ok(view)
    }

    /// An image in the general layout with undefined content.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn image(&self, info: &ImageInfo) -> Result<Image, GpuError> {
        let device = &self.gpu.device;
        let extent = vk::Extent3D { width: info.extent[0], height: info.extent[1], depth: info.extent[2] };
        let create = vk::ImageCreateInfo::default()
            .image_type(info.ty)
            .format(info.format)
            .extent(extent)
            .mip_levels(info.levels)
            .array_layers(info.layers)
            .samples(if info.samples == 4 { vk::SampleCountFlags::TYPE_4 } else { vk::SampleCountFlags::TYPE_1 })
            .usage(info.usage | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST)
            .flags(info.flags);
        let aspect = if info.format == vk::Format::D32_SFLOAT {
            vk::ImageAspectFlags::DEPTH
        } else {
            vk::ImageAspectFlags::COLOR
        };
        // SAFETY: plain creation; the handles are kept until the arena goes.
        let image = unsafe {
            let handle = device.create_image(&create, None).named("vkCreateImage")?;
            self.keep(Object::Image(handle));
            let need = device.get_image_memory_requirements(handle);
            let allocate = vk::MemoryAllocateInfo::default()
                .allocation_size(need.size)
                .memory_type_index(self.gpu.memory_type(need.memory_type_bits, vk::MemoryPropertyFlags::DEVICE_LOCAL)?);
            let memory = device.allocate_memory(&allocate, None).named("vkAllocateMemory")?;
            self.keep(Object::Memory(memory));
            device.bind_image_memory(handle, memory, 0).named("vkBindImageMemory")?;
            Image { handle, format: info.format, extent, levels: info.levels, layers: info.layers, aspect }
        };
        self.gpu.submit(|command| {
            let barriers = [vk::ImageMemoryBarrier2::default()
                .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE)
                .old_layout(vk::ImageLayout::UNDEFINED)
                .new_layout(vk::ImageLayout::GENERAL)
                .image(image.handle)
                .subresource_range(image.range())];
            // SAFETY: recording.
            unsafe {
                device.cmd_pipeline_barrier2(command, &vk::DependencyInfo::default().image_memory_barriers(&barriers));
            }
        })?;
        Ok(image)
    }

    /// A view of all levels and layers.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn view(&self, image: &Image, ty: vk::ImageViewType, format: vk::Format) -> Result<vk::ImageView, GpuError> {
        let mut range = image.range();
        if matches!(ty, vk::ImageViewType::TYPE_1D | vk::ImageViewType::TYPE_2D) {
            range.layer_count = 1;
        }
        self.view_range(image, ty, format, range)
    }

    /// A view of some levels and layers.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn view_range(
        &self,
        image: &Image,
        ty: vk::ImageViewType,
        format: vk::Format,
        range: vk::ImageSubresourceRange,
    ) -> Result<vk::ImageView, GpuError> {
        let info = vk::ImageViewCreateInfo::default()
            .image(image.handle)
            .view_type(ty)
            .format(format)
            .subresource_range(range);
        // SAFETY: the image is alive.
        let view = unsafe { self.gpu.device.create_image_view(&info, None) }.named("vkCreateImageView")?;
        self.keep(Object::View(view));
        Ok(view)
    }

    /// A sampler.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn sampler(&self, info: &vk::SamplerCreateInfo<'_>) -> Result<vk::Sampler, GpuError> {
        // SAFETY: plain creation.
        let sampler = unsafe { self.gpu.device.create_sampler(info, None) }.named("vkCreateSampler")?;
        self.keep(Object::Sampler(sampler));
        Ok(sampler)
    }

    /// A descriptor set layout.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn set_layout(
        &self,
        info: &vk::DescriptorSetLayoutCreateInfo<'_>,
    ) -> Result<vk::DescriptorSetLayout, GpuError> {
        // SAFETY: plain creation.
        let layout =
            unsafe { self.gpu.device.create_descriptor_set_layout(info, None) }.named("vkCreateDescriptorSetLayout")?;
        self.keep(Object::SetLayout(layout));
        Ok(layout)
    }

    /// A pipeline layout.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn pipeline_layout(&self, sets: &[vk::DescriptorSetLayout]) -> Result<vk::PipelineLayout, GpuError> {
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(sets);
        // SAFETY: the set layouts are alive.
        let layout = unsafe { self.gpu.device.create_pipeline_layout(&info, None) }.named("vkCreatePipelineLayout")?;
        self.keep(Object::PipelineLayout(layout));
        Ok(layout)
    }

    /// One descriptor set of each layout, from a pool of their own.
    ///
    /// # Errors
    /// If they cannot be made.
    pub fn sets(
        &self,
        layouts: &[vk::DescriptorSetLayout],
        sizes: &[vk::DescriptorPoolSize],
        update_after_bind: bool,
    ) -> Result<Vec<vk::DescriptorSet>, GpuError> {
        if layouts.is_empty() {
            return Ok(Vec::new());
        }
        let flags = if update_after_bind {
            vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND
        } else {
            vk::DescriptorPoolCreateFlags::empty()
        };
        let sizes: Vec<_> = sizes.iter().copied().filter(|s| s.descriptor_count > 0).collect();
        let info =
            vk::DescriptorPoolCreateInfo::default().max_sets(layouts.len() as u32).pool_sizes(&sizes).flags(flags);
        // SAFETY: plain creation.
        let pool = unsafe { self.gpu.device.create_descriptor_pool(&info, None) }.named("vkCreateDescriptorPool")?;
        self.keep(Object::DescriptorPool(pool));
        let allocate = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(layouts);
        // SAFETY: pool and layouts are alive.
        unsafe { self.gpu.device.allocate_descriptor_sets(&allocate) }.named("vkAllocateDescriptorSets")
    }

    /// Keeps a pipeline until the arena goes.
    pub fn keep_pipeline(&self, pipeline: vk::Pipeline) {
        self.keep(Object::Pipeline(pipeline));
    }
}

impl Drop for Arena<'_> {
    fn drop(&mut self) {
        let device = &self.gpu.device;
        // Youngest first: views before images, memory after what is bound to it was made, so after it is destroyed.
        let objects = std::mem::take(self.objects.get_mut());
        let (memory, others): (Vec<_>, Vec<_>) = objects.into_iter().partition(|o| matches!(o, Object::Memory(_)));
        for object in others.into_iter().rev().chain(memory) {
            // SAFETY: submissions are waited for, so nothing is in use; each handle is destroyed once.
            unsafe {
                match object {
                    Object::Memory(o) => device.free_memory(o, None),
                    Object::Buffer(o) => device.destroy_buffer(o, None),
                    Object::BufferView(o) => device.destroy_buffer_view(o, None),
                    Object::Image(o) => device.destroy_image(o, None),
                    Object::View(o) => device.destroy_image_view(o, None),
                    Object::Sampler(o) => device.destroy_sampler(o, None),
                    Object::SetLayout(o) => device.destroy_descriptor_set_layout(o, None),
                    Object::PipelineLayout(o) => device.destroy_pipeline_layout(o, None),
                    Object::DescriptorPool(o) => device.destroy_descriptor_pool(o, None),
                    Object::Pipeline(o) => device.destroy_pipeline(o, None),
                }
            }
        }
    }
}

impl Buffer {
    /// The whole content.
    pub fn bytes(&self) -> Vec<u8> {
        // SAFETY: mapped, `size` bytes long, and no submission is running.
        unsafe { std::slice::from_raw_parts(self.mapped, self.size as usize) }.to_vec()
    }

    /// The whole content as words.
    pub fn words(&self) -> Vec<u32> {
        self.bytes().chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
    }

    /// Overwrites bytes from `offset`; what would lie past the end is left out.
    pub fn write(&self, offset: u64, data: &[u8]) {
        let Some(room) = self.size.checked_sub(offset) else { return };
        let n = data.len().min(room as usize);
        // SAFETY: `n` bytes from `offset` are inside the mapping, and no submission is running.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), self.mapped.add(offset as usize), n) };
    }
}

impl Image {
    /// All levels and layers.
    pub fn range(&self) -> vk::ImageSubresourceRange {
        vk::ImageSubresourceRange {
            aspect_mask: self.aspect,
            base_mip_level: 0,
            level_count: self.levels,
            base_array_layer: 0,
            layer_count: self.layers,
        }
    }

    /// Copy regions of all levels, one after the other, texels of `texel` bytes; and the bytes of them all.
    pub fn copies(&self, texel: u32) -> (Vec<vk::BufferImageCopy>, u64) {
        let mut at = 0;
        let mut regions = Vec::new();
        for level in 0..self.levels {
            let size = |n: u32| (n >> level).max(1);
            let extent = vk::Extent3D {
                width: size(self.extent.width),
                height: size(self.extent.height),
                depth: size(self.extent.depth),
            };
            regions.push(vk::BufferImageCopy {
                buffer_offset: at,
                image_subresource: vk::ImageSubresourceLayers {
                    aspect_mask: self.aspect,
                    mip_level: level,
                    base_array_layer: 0,
                    layer_count: self.layers,
                },
                image_extent: extent,
                ..Default::default()
            });
            let texels = u64::from(extent.width * extent.height * extent.depth * self.layers);
            // Offsets of copies are multiples of four and of the texel.
            at += (texels * u64::from(texel)).next_multiple_of(16);
        }
        (regions, at)
    }
}
