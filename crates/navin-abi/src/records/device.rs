//! `NVNdevice` and `NVNdeviceBuilder`.

use bytemuck::{Pod, Zeroable};

/// `NVNdevice`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct DeviceRecord {
    magic: u32,
    /// `NVNdeviceFlagBits`.
    pub flags: i32,
    /// `NVNwindowOriginMode`.
    pub window_origin: i32,
    /// `NVNdepthMode`.
    pub depth_mode: i32,
}

super::record!(DeviceRecord in "NVNdevice", magic b"NVde", at most MIN_NVNDEVICE);

impl DeviceRecord {
    /// A live device in NVN's modes: window origin LOWER_LEFT, depth NEAR_IS_MINUS_W.
    pub const fn new(flags: i32) -> Self {
        Self { magic: <Self as super::Record>::MAGIC, flags, window_origin: 0, depth_mode: 0 }
    }
}

/// `NVNdeviceBuilder`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct DeviceBuilderRecord {
    magic: u32,
    /// `NVNdeviceFlagBits`.
    pub flags: i32,
}

super::record!(DeviceBuilderRecord in "NVNdeviceBuilder", magic b"NVdb", at most MIN_NVNDEVICEBUILDER);

impl DeviceBuilderRecord {
    /// The builder that SetDefaults makes.
    pub const fn new() -> Self {
        Self { magic: <Self as super::Record>::MAGIC, flags: 0 }
    }
}

impl Default for DeviceBuilderRecord {
    fn default() -> Self {
        Self::new()
    }
}
