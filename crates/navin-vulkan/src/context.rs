//! The device.
use crate::features::Features;
use crate::queue::Queue;
use crate::report::Report;
use crate::tables::Tables;
use ash::vk;
use std::sync::Arc;

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
}

/// Why no device could be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no Vulkan loader on this machine.
    #[error(
        "no Vulkan loader: {0}. Install one (Debian: libvulkan1) and a driver (a GPU's own, or mesa-vulkan-drivers)"
    )]
    NoLoader(String),
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
    /// Longest uniform buffer range.
    pub max_uniform_range: u64,
    /// Longest storage buffer range.
    pub max_storage_range: u64,
    /// Invocations of a subgroup.
    pub subgroup_size: u32,
    /// Alignment of imported host pointers.
    pub host_import_alignment: u64,
    /// Nanoseconds of a timestamp's unit.
    pub timestamp_period: f32,
    /// Largest anisotropy.
    pub max_anisotropy: f32,
    /// Most viewports.
    pub max_viewports: u32,
    /// Most texels of a texel buffer.
    pub max_texel_elements: u32,
}

/// The opened device and everything that lives as long as it.
pub struct Context {}

impl Context {
    /// Opens.
    pub fn open(options: &OpenOptions) -> Result<Arc<Context>, OpenError> {
        let _ = options;
        unimplemented!()
    }
    /// The queue that all work of the device goes to.
    pub fn queue(&self) -> &Queue {
        unimplemented!()
    }
    /// The texture, sampler and page tables.
    pub fn tables(&self) -> &Tables {
        unimplemented!()
    }
    /// What the device can.
    pub fn features(&self) -> &Features {
        unimplemented!()
    }
    /// Limits.
    pub fn limits(&self) -> &Limits {
        unimplemented!()
    }
    /// What `navin doctor` prints.
    pub fn report(&self) -> Report {
        unimplemented!()
    }
    /// Messages of the validation layer so far (warnings and errors).
    pub fn validation_messages(&self) -> u64 {
        unimplemented!()
    }
    /// What optimal-tiling images of a format can do.
    pub fn image_format_features(&self, format: vk::Format) -> vk::FormatFeatureFlags2 {
        let _ = format;
        unimplemented!()
    }
    /// What buffers of a format can do (vertex, texel).
    pub fn buffer_format_features(&self, format: vk::Format) -> vk::FormatFeatureFlags2 {
        let _ = format;
        unimplemented!()
    }
    /// The raw device.
    pub fn device(&self) -> &ash::Device {
        unimplemented!()
    }
}
