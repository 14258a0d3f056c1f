//! The opened device: loader, instance, choice of the physical device, and everything that lives as long as it.
//!
//! `navin` opens one [`Context`] per NVN device (the guest's `nvnDeviceInitialize`) and reaches everything else of
//! this crate through it. No surface is ever made: presents go through a sink, so headless devices do.

use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ash::{ext, khr, vk};
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use gpu_allocator::{AllocationSizes, AllocatorDebugSettings};
use parking_lot::Mutex;

use crate::clock::{self, Clock};
use crate::features::{Available, Features};
use crate::gpu::{Gpu, GpuParts, Instance, PoolCounts};
use crate::import::probe::{self, ImportProbe, ProtectionProbe};
use crate::import::{DeviceLocalChoice, ImportChoice};
use crate::layout::Layouts;
use crate::memory::MemoryError;
use crate::query::QueryPool;
use crate::queue::Queue;
use crate::report::Report;
use crate::sampler::SamplerCache;
use crate::tables::Tables;
use crate::validation;

/// Whether the validation layer is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum Validation {
    /// Not loaded.
    #[default]
    Off,
    /// Loaded; messages are logged (target `navin::validation`) and counted.
    On,
    /// Loaded; besides, the next [`Queue::submit`] after a message of error or warning severity fails.
    FailOnMessage,
}

/// Which physical device is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The first of the best kind that has what Navin needs: discrete, integrated, virtual, CPU.
    #[default]
    Best,
    /// By its place in Vulkan's list.
    Index(usize),
    /// The first whose name contains this, letter case ignored.
    Name(String),
}

/// What a [`Context`] is opened with.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Validation layer.
    pub validation: Validation,
    /// Device.
    pub device: DeviceChoice,
    /// Name objects and label passes for debuggers. On by itself with the validation layer and when a tool such
    /// as RenderDoc announces itself.
    pub labels: bool,
    /// Which way pools that the CPU sees are imported.
    pub import: ImportChoice,
    /// Whether pools without CPU access live in device-local memory.
    pub device_local: DeviceLocalChoice,
    /// Vulkan extensions that count as missing: what Navin does without them can be tried on a device that has them.
    pub without: Vec<String>,
    /// One thread at a time waits for the queue's timeline in the Vulkan driver, even if that stands more.
    pub one_waiter: bool,
}

/// Why no device could be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no Vulkan loader on this machine.
    #[error(
        "no Vulkan loader ({0}). Install one (Debian: libvulkan1) and a driver: the GPU's own, or a software one \
         (Debian: mesa-vulkan-drivers, 24.1 or later)"
    )]
    NoLoader(String),
    /// The loader is older than Vulkan 1.3.
    #[error("the Vulkan loader knows Vulkan {0} only; Navin needs 1.3. Install a newer loader (Debian: libvulkan1)")]
    OldLoader(String),
    /// The validation layer was asked for and is not there.
    #[error(
        "the validation layer is not installed. Install it (Debian: vulkan-validationlayers, 1.3.280 or later), or \
         point VK_LAYER_PATH at it"
    )]
    NoValidationLayer,
    /// The validation layer is too old to know shader objects.
    #[error(
        "the validation layer is {0}; it must be 1.3.280 or later to know shader objects. Install a newer one, or \
         point VK_LAYER_PATH at it"
    )]
    OldValidationLayer(String),
    /// There is a loader and no device.
    #[error(
        "no Vulkan device. Install the GPU's driver, or a software one (Debian: mesa-vulkan-drivers, 24.1 or later)"
    )]
    NoDevice,
    /// The device asked for is not there.
    #[error("no Vulkan device {wanted}; there are: {found}")]
    NotFound {
        /// As asked for.
        wanted: String,
        /// Names of the devices that there are.
        found: String,
    },
    /// No device has what Navin needs; a line for each says what is missing.
    #[error("no Vulkan device has what Navin needs:{0}")]
    Unsuitable(String),
    /// A Vulkan call failed.
    #[error("{what}: {result}")]
    Vulkan {
        /// What was done.
        what: &'static str,
        /// What came back.
        result: vk::Result,
    },
    /// The first buffers could not be made.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

fn failed(what: &'static str) -> impl Fn(vk::Result) -> OpenError {
    move |result| OpenError::Vulkan { what, result }
}

/// Device limits that callers need.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct Limits {
    /// Offsets of uniform buffers are multiples of this.
    pub uniform_offset_alignment: u64,
    /// Offsets of storage buffers are multiples of this.
    pub storage_offset_alignment: u64,
    /// Offsets of texel buffers are multiples of this.
    pub texel_offset_alignment: u64,
    /// Longest uniform buffer range in bytes.
    pub max_uniform_range: u64,
    /// Longest storage buffer range in bytes.
    pub max_storage_range: u64,
    /// Invocations of a subgroup.
    pub subgroup_size: u32,
    /// Alignment of imported host pointers; 0 when none can be imported.
    pub host_import_alignment: u64,
    /// Largest single allocation or import in bytes.
    pub max_allocation: u64,
    /// Nanoseconds of a timestamp's unit; 0 when the queue has no timestamps.
    pub timestamp_period: f32,
    /// Bits of a timestamp that count; 0 when the queue has none.
    pub timestamp_bits: u32,
    /// Largest anisotropy, 1 for none.
    pub max_anisotropy: f32,
    /// Most viewports.
    pub max_viewports: u32,
    /// Most texels of a texel buffer.
    pub max_texel_elements: u32,
    /// Most custom border colours.
    pub max_border_colors: u32,
    /// Most samplers.
    pub max_samplers: u32,
    /// What shaders can ask of the arithmetic on floats.
    pub float_controls: FloatControls,
    /// Subgroup operations, `VkSubgroupFeatureFlagBits`.
    pub subgroup_operations: u32,
    /// Stages that have them, `VkShaderStageFlagBits`.
    pub subgroup_stages: u32,
    /// Most workgroups of a dispatch, by axis.
    pub max_groups: [u32; 3],
}

/// What a shader can ask of its arithmetic on floats, each by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct FloatControls {
    /// Denormals of 32 bits are zeros, whatever other widths do.
    pub flush_denorms32: bool,
    /// Denormals of 32 bits are kept, whatever other widths do.
    pub preserve_denorms32: bool,
    /// Signed zeros, infinities and NaN of 32 bits come out right.
    pub preserve_nan32: bool,
    /// The same of 64 bits.
    pub preserve_nan64: bool,
}

/// What the report says of a device beyond features and limits.
pub(crate) struct Identity {
    pub(crate) name: String,
    pub(crate) kind: vk::PhysicalDeviceType,
    pub(crate) api: u32,
    pub(crate) driver: String,
    pub(crate) driver_info: String,
    pub(crate) vendor: u32,
    pub(crate) id: u32,
}

impl Identity {
    fn is_nvidia(&self) -> bool {
        const NVIDIA: u32 = 0x10DE;
        self.vendor == NVIDIA
    }

    fn late_for_two_waiters(&self) -> bool {
        self.is_nvidia()
    }
}

/// The opened device and everything that lives as long as it.
pub struct Context {
    pub(crate) queue: Queue,
    pub(crate) tables: Tables,
    pub(crate) layouts: Arc<Layouts>,
    pub(crate) samplers: Mutex<SamplerCache>,
    pub(crate) identity: Identity,
    pub(crate) validation: Validation,
    pub(crate) import: ImportChoice,
    pub(crate) device_local: DeviceLocalChoice,
    pub(crate) probe: ImportProbe,
    pub(crate) gpu: Arc<Gpu>,
}

impl Context {
    /// Opens a device.
    ///
    /// # Errors
    /// No loader, no device, or none with what Navin needs; the message says what to install.
    pub fn open(options: &OpenOptions) -> Result<Arc<Context>, OpenError> {
        let instance = create_instance(options)?;
        let candidates = candidates(&instance.raw, &options.without)?;
        let candidate = choose(candidates, &options.device)?;
        let gpu = Arc::new(create_gpu(instance, candidate.physical, candidate.available, candidate.family, options)?);
        let identity = identify(&gpu);
        tracing::info!("opened {} ({} {})", identity.name, identity.driver, identity.driver_info);

        let layouts = Arc::new(Layouts::new(&gpu)?);
        let tables = Tables::new(&gpu, &layouts)?;
        let one_waiter = options.one_waiter || identity.late_for_two_waiters();
        let queue = Queue::new(&gpu, &layouts, tables.set(), options.validation, one_waiter)?;
        let probe = probe::probe(&gpu, &queue, options.import);
        tracing::info!(
            "import of anonymous memory {}, of a memfd {}, of its second mapping {}, as a dma-buf {}",
            probe.anonymous,
            probe.memfd,
            probe.memfd_second,
            probe.dma_buf
        );
        let context = Context {
            queue,
            tables,
            layouts,
            samplers: Mutex::default(),
            identity,
            validation: options.validation,
            import: options.import,
            device_local: options.device_local,
            probe,
            gpu,
        };
        context.start_clock();
        Ok(Arc::new(context))
    }

    /// Lays the CPU's clock beside the device's.
    fn start_clock(&self) {
        let limits = &self.gpu.limits;
        let mut clock = Clock::new(limits.timestamp_period, limits.timestamp_bits);
        if clock.scale.is_some() {
            match clock::device_now(&self.gpu).or_else(|| self.timestamp()) {
                Some(ticks) => clock.calibrate(ticks),
                None => clock.scale = None,
            }
        }
        // A context is opened once; nobody has set it before.
        let _ = self.gpu.clock.set(clock);
    }

    /// A timestamp, written by the device and waited for.
    fn timestamp(&self) -> Option<u64> {
        let pool = QueryPool::with_gpu(&self.gpu, vk::QueryType::TIMESTAMP, 1).ok()?;
        let mut encoder = self.queue.begin().ok()?;
        encoder.write_timestamp(&pool, 0);
        let value = self.queue.submit(encoder).ok()?;
        self.queue.wait(value, std::time::Duration::from_secs(1)).ok()?;
        pool.results(0, 1).first().copied().flatten()
    }

    /// The time of the guest's GPU clock, in its ticks (see [`crate::clock`]): what reports of counters say.
    pub fn guest_time(&self) -> u64 {
        self.gpu.clock.get().map_or(0, |clock| clock.now(&self.gpu))
    }

    /// The queue that all work of the device goes to.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// The texture, sampler and page tables.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// What the device can.
    pub fn features(&self) -> &Features {
        &self.gpu.features
    }

    /// Limits.
    pub fn limits(&self) -> &Limits {
        &self.gpu.limits
    }

    /// What `navin doctor` prints.
    pub fn report(&self) -> Report {
        Report::new(self)
    }

    /// The first message of the validation layer since the last call, for whoever reports them onwards.
    pub fn take_validation_message(&self) -> Option<String> {
        self.gpu.instance.messages.take_first()
    }

    /// Messages of the validation layer so far (warnings and errors).
    pub fn validation_messages(&self) -> u64 {
        self.gpu.instance.messages.count()
    }

    /// What optimally tiled images of a format can do; empty for an unsupported format.
    pub fn image_format_features(&self, format: vk::Format) -> vk::FormatFeatureFlags2 {
        self.gpu.format_features(format).0
    }

    /// What buffers of a format can do (vertex, texel).
    pub fn buffer_format_features(&self, format: vk::Format) -> vk::FormatFeatureFlags2 {
        self.gpu.format_features(format).1
    }

    /// Images that somebody holds.
    pub fn images(&self) -> u64 {
        self.gpu.images.load(Ordering::Relaxed)
    }

    /// Dropped objects that wait for the end of work that may use them.
    pub fn waiting_for_release(&self) -> usize {
        self.gpu.retire.waiting()
    }

    /// Which ways of import work, as found when the device was opened.
    pub fn import_probe(&self) -> &ImportProbe {
        &self.probe
    }

    /// Finds out what write protection does to imports. For `navin doctor`: a driver that follows page tables may
    /// lose the device over it, so nothing else should be done with this context.
    pub fn probe_protection(self: &Arc<Self>) -> ProtectionProbe {
        probe::probe_protection(self)
    }

    /// Whether the device is a CPU.
    pub fn is_cpu(&self) -> bool {
        self.identity.kind == vk::PhysicalDeviceType::CPU
    }

    /// Whether of two threads that wait for the timeline one may be woken late: with NVIDIA's driver (580.159, H200)
    /// one wait in a hundred took 10 ms more than the GPU, and none with one waiter. There the queue lets one thread
    /// wait at a time.
    pub fn late_for_two_waiters(&self) -> bool {
        self.identity.late_for_two_waiters()
    }

    /// Whether minimum and maximum of floats take -0 for less than +0, which Vulkan leaves open: NVIDIA's PTX says so,
    /// and Mesa's drivers do it where shaders ask for the signs of zeros.
    pub fn orders_zeros(&self) -> bool {
        self.identity.is_nvidia()
            || self.gpu.limits.float_controls.preserve_nan32 && self.identity.driver_info.starts_with("Mesa ")
    }

    /// Whether pools without CPU access are made in device-local memory.
    pub fn device_local_pools(&self) -> bool {
        match self.device_local {
            DeviceLocalChoice::Auto => self.identity.kind == vk::PhysicalDeviceType::DISCRETE_GPU,
            DeviceLocalChoice::Never => false,
            DeviceLocalChoice::Always => true,
        }
    }

    /// What pools hold: live, finalized and not destroyed yet (B124), imports.
    pub fn pool_counts(&self) -> PoolCounts {
        self.gpu.pools.counts()
    }

    /// The raw device.
    pub fn device(&self) -> &ash::Device {
        &self.gpu.device
    }
}

fn create_instance(options: &OpenOptions) -> Result<Instance, OpenError> {
    // SAFETY: loading the Vulkan loader runs its initialisers, which are sound in a normal process.
    let entry = unsafe { ash::Entry::load() }.map_err(|error| OpenError::NoLoader(error.to_string()))?;
    // SAFETY: a plain query.
    let version = unsafe { entry.try_enumerate_instance_version() }
        .map_err(failed("asking the loader's version"))?
        .unwrap_or(vk::API_VERSION_1_0);
    if version < vk::API_VERSION_1_3 {
        return Err(OpenError::OldLoader(version_text(version)));
    }
    let validate = options.validation != Validation::Off;
    if validate {
        // SAFETY: a plain query.
        let layers =
            unsafe { entry.enumerate_instance_layer_properties() }.map_err(failed("listing instance layers"))?;
        let layer = layers.iter().find(|l| l.layer_name_as_c_str() == Ok(validation::LAYER));
        let layer = layer.ok_or(OpenError::NoValidationLayer)?;
        if layer.spec_version < validation::LEAST_LAYER_VERSION {
            return Err(OpenError::OldValidationLayer(version_text(layer.spec_version)));
        }
    }
    // SAFETY: a plain query.
    let found = unsafe { entry.enumerate_instance_extension_properties(None) }
        .map_err(failed("listing instance extensions"))?;
    let has = |name: &CStr| found.iter().any(|e| e.extension_name_as_c_str() == Ok(name));
    let debug_utils = has(ext::debug_utils::NAME);
    let mut extensions = Vec::new();
    if debug_utils {
        extensions.push(ext::debug_utils::NAME.as_ptr());
    }
    let mut flags = vk::InstanceCreateFlags::empty();
    if has(khr::portability_enumeration::NAME) {
        extensions.push(khr::portability_enumeration::NAME.as_ptr());
        flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
    }
    let layers = if validate { vec![validation::LAYER.as_ptr()] } else { Vec::new() };
    let application = vk::ApplicationInfo::default()
        .application_name(c"navin")
        .engine_name(c"navin")
        .api_version(vk::API_VERSION_1_3);
    let messages = Box::<validation::Messages>::default();
    let mut messenger_info = validation::messenger_info(&messages);
    let mut info = vk::InstanceCreateInfo::default()
        .flags(flags)
        .application_info(&application)
        .enabled_layer_names(&layers)
        .enabled_extension_names(&extensions);
    if validate && debug_utils {
        info = info.push_next(&mut messenger_info);
    }
    // SAFETY: everything `info` points at lives until the call returns.
    let raw = unsafe { entry.create_instance(&info, None) }.map_err(|result| match result {
        vk::Result::ERROR_INCOMPATIBLE_DRIVER => OpenError::NoDevice,
        result => OpenError::Vulkan { what: "creating the Vulkan instance", result },
    })?;
    let mut instance = Instance { messenger: None, messages, raw, _entry: entry, has_debug_utils: debug_utils };
    if validate && debug_utils {
        let loader = ext::debug_utils::Instance::new(&instance._entry, &instance.raw);
        let info = validation::messenger_info(&instance.messages);
        // SAFETY: the extension is enabled; the user data is boxed and outlives the messenger.
        let messenger = unsafe { loader.create_debug_utils_messenger(&info, None) }
            .map_err(failed("creating the debug messenger"))?;
        instance.messenger = Some((loader, messenger));
    }
    Ok(instance)
}

/// A physical device and how it was judged.
struct Candidate {
    physical: vk::PhysicalDevice,
    name: String,
    rank: u32,
    available: Available,
    family: u32,
    missing: Vec<String>,
}

fn candidates(instance: &ash::Instance, without: &[String]) -> Result<Vec<Candidate>, OpenError> {
    // SAFETY: plain queries on the instance and its physical devices.
    unsafe {
        let devices = instance.enumerate_physical_devices().map_err(failed("listing Vulkan devices"))?;
        let mut list = Vec::new();
        for physical in devices {
            let properties = instance.get_physical_device_properties(physical);
            let name = text_of(properties.device_name_as_c_str());
            let rank = match properties.device_type {
                vk::PhysicalDeviceType::DISCRETE_GPU => 0,
                vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
                vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
                vk::PhysicalDeviceType::CPU => 3,
                _ => 4,
            };
            let mut extensions = instance
                .enumerate_device_extension_properties(physical)
                .map_err(failed("listing device extensions"))?;
            extensions.retain(|extension| {
                let name = text_of(extension.extension_name_as_c_str());
                !without.contains(&name)
            });
            let families = instance.get_physical_device_queue_family_properties(physical);
            let both = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
            let family = families.iter().position(|f| f.queue_flags.contains(both));
            let old = properties.api_version < vk::API_VERSION_1_3;
            // A device below 1.3 must not be asked with structures of 1.3.
            let available = Available::query(instance, physical, if old { None } else { Some(&extensions) });
            let mut missing = if old {
                vec![format!("Vulkan 1.3 (it has {})", version_text(properties.api_version))]
            } else {
                available.missing()
            };
            if family.is_none() {
                missing.push("a queue for graphics and compute".to_owned());
            }
            list.push(Candidate { physical, name, rank, available, family: family.unwrap_or(0) as u32, missing });
        }
        if list.is_empty() { Err(OpenError::NoDevice) } else { Ok(list) }
    }
}

fn choose(mut candidates: Vec<Candidate>, choice: &DeviceChoice) -> Result<Candidate, OpenError> {
    let wanted = match choice {
        DeviceChoice::Best => {
            let best = candidates.iter().enumerate().filter(|(_, c)| c.missing.is_empty()).min_by_key(|(_, c)| c.rank);
            best.map(|(index, _)| index)
        }
        DeviceChoice::Index(index) if *index < candidates.len() => Some(*index),
        DeviceChoice::Name(name) => {
            let name = name.to_lowercase();
            candidates.iter().position(|c| c.name.to_lowercase().contains(&name))
        }
        DeviceChoice::Index(_) => None,
    };
    if let Some(index) = wanted.filter(|&index| candidates[index].missing.is_empty()) {
        return Ok(candidates.swap_remove(index));
    }
    match (wanted, choice) {
        (None, DeviceChoice::Index(_) | DeviceChoice::Name(_)) => {
            let found: Vec<_> = candidates.iter().enumerate().map(|(i, c)| format!("{i}: {}", c.name)).collect();
            let wanted = match choice {
                DeviceChoice::Index(index) => format!("number {index}"),
                DeviceChoice::Name(name) => format!("named {name:?}"),
                DeviceChoice::Best => String::new(),
            };
            Err(OpenError::NotFound { wanted, found: found.join(", ") })
        }
        _ => {
            let shown = candidates.iter().enumerate().filter(|(index, _)| wanted.is_none_or(|w| w == *index));
            let lines: String = shown.map(|(_, c)| format!("\n  {} lacks {}", c.name, c.missing.join("; "))).collect();
            Err(OpenError::Unsuitable(lines))
        }
    }
}

fn create_gpu(
    instance: Instance,
    physical: vk::PhysicalDevice,
    mut available: Available,
    family: u32,
    options: &OpenOptions,
) -> Result<Gpu, OpenError> {
    let features = available.enable();
    let device =
        available.create_device(&instance.raw, physical, family).map_err(failed("creating the Vulkan device"))?;
    let (limits, device_limits) = query_limits(&instance.raw, physical, family, &features);
    // SAFETY: plain queries.
    let (memory, tools) = unsafe {
        (instance.raw.get_physical_device_memory_properties(physical), tool_wants_labels(&instance.raw, physical))
    };
    let labels = instance.has_debug_utils && (options.labels || options.validation != Validation::Off || tools);
    let mut debug_settings = AllocatorDebugSettings::default();
    debug_settings.log_leaks_on_shutdown = false;
    let allocator = Allocator::new(&AllocatorCreateDesc {
        instance: instance.raw.clone(),
        device: device.clone(),
        physical_device: physical,
        debug_settings,
        buffer_device_address: true,
        allocation_sizes: AllocationSizes::new(64 << 20, 16 << 20)
            .with_max_device_memblock_size(256 << 20)
            .with_max_host_memblock_size(64 << 20),
    });
    let allocator = match allocator {
        Ok(allocator) => allocator,
        Err(error) => {
            // SAFETY: nothing was made on the device yet.
            unsafe { device.destroy_device(None) };
            return Err(MemoryError::Refused(format!("the memory allocator: {error}")).into());
        }
    };
    Ok(Gpu::new(GpuParts {
        instance,
        physical,
        device,
        queue_family: family,
        features,
        limits,
        device_limits,
        memory,
        allocator,
        labels,
    }))
}

/// Whether a tool that reads names and labels (RenderDoc) sits in front of the device.
///
/// # Safety
/// `physical` must be a Vulkan 1.3 device of `instance`.
unsafe fn tool_wants_labels(instance: &ash::Instance, physical: vk::PhysicalDevice) -> bool {
    let mut count = 0;
    // SAFETY: with no array, the call writes the count only.
    let result =
        unsafe { (instance.fp_v1_3().get_physical_device_tool_properties)(physical, &mut count, std::ptr::null_mut()) };
    if result != vk::Result::SUCCESS || count == 0 {
        return false;
    }
    let mut tools = vec![vk::PhysicalDeviceToolProperties::default(); count as usize];
    // SAFETY: the array holds `count` initialised structures.
    let result =
        unsafe { (instance.fp_v1_3().get_physical_device_tool_properties)(physical, &mut count, tools.as_mut_ptr()) };
    let markers = vk::ToolPurposeFlags::DEBUG_MARKERS_EXT | vk::ToolPurposeFlags::TRACING;
    result == vk::Result::SUCCESS && tools.iter().take(count as usize).any(|tool| tool.purposes.intersects(markers))
}

fn query_limits(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    family: u32,
    features: &Features,
) -> (Limits, vk::PhysicalDeviceLimits) {
    let mut v11 = vk::PhysicalDeviceVulkan11Properties::default();
    let mut host = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
    let mut border = vk::PhysicalDeviceCustomBorderColorPropertiesEXT::default();
    let mut v12 = vk::PhysicalDeviceVulkan12Properties::default();
    let mut two = vk::PhysicalDeviceProperties2::default().push_next(&mut v11).push_next(&mut v12);
    if features.host_import {
        two = two.push_next(&mut host);
    }
    if features.custom_border_color {
        two = two.push_next(&mut border);
    }
    // SAFETY: the chain holds structures of Vulkan 1.3 and of extensions that the device has.
    let families = unsafe {
        instance.get_physical_device_properties2(physical, &mut two);
        instance.get_physical_device_queue_family_properties(physical)
    };
    let limits = two.properties.limits;
    let apart = v12.denorm_behavior_independence != vk::ShaderFloatControlsIndependence::NONE;
    let float_controls = FloatControls {
        flush_denorms32: apart && v12.shader_denorm_flush_to_zero_float32 != vk::FALSE,
        preserve_denorms32: apart && v12.shader_denorm_preserve_float32 != vk::FALSE,
        preserve_nan32: v12.shader_signed_zero_inf_nan_preserve_float32 != vk::FALSE,
        preserve_nan64: v12.shader_signed_zero_inf_nan_preserve_float64 != vk::FALSE,
    };
    let timestamp_bits = families.get(family as usize).map_or(0, |f| f.timestamp_valid_bits);
    let result = Limits {
        uniform_offset_alignment: limits.min_uniform_buffer_offset_alignment,
        storage_offset_alignment: limits.min_storage_buffer_offset_alignment,
        texel_offset_alignment: limits.min_texel_buffer_offset_alignment,
        max_uniform_range: limits.max_uniform_buffer_range.into(),
        max_storage_range: limits.max_storage_buffer_range.into(),
        subgroup_size: v11.subgroup_size,
        host_import_alignment: host.min_imported_host_pointer_alignment,
        max_allocation: v11.max_memory_allocation_size,
        timestamp_period: if timestamp_bits > 0 { limits.timestamp_period } else { 0.0 },
        timestamp_bits,
        max_anisotropy: if features.anisotropy { limits.max_sampler_anisotropy } else { 1.0 },
        max_viewports: if features.multi_viewport { limits.max_viewports } else { 1 },
        max_texel_elements: limits.max_texel_buffer_elements,
        max_border_colors: border.max_custom_border_color_samplers,
        max_samplers: limits.max_sampler_allocation_count,
        float_controls,
        subgroup_operations: v11.subgroup_supported_operations.as_raw(),
        subgroup_stages: v11.subgroup_supported_stages.as_raw(),
        max_groups: limits.max_compute_work_group_count,
    };
    (result, limits)
}

fn identify(gpu: &Gpu) -> Identity {
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut two = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
    // SAFETY: driver properties are core in Vulkan 1.2.
    unsafe { gpu.instance.raw.get_physical_device_properties2(gpu.physical, &mut two) };
    let properties = two.properties;
    Identity {
        name: text_of(properties.device_name_as_c_str()),
        kind: properties.device_type,
        api: properties.api_version,
        driver: text_of(driver.driver_name_as_c_str()),
        driver_info: text_of(driver.driver_info_as_c_str()),
        vendor: properties.vendor_id,
        id: properties.device_id,
    }
}

fn text_of<E>(text: Result<&CStr, E>) -> String {
    text.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}

pub(crate) fn version_text(version: u32) -> String {
    format!("{}.{}.{}", vk::api_version_major(version), vk::api_version_minor(version), vk::api_version_patch(version))
}
