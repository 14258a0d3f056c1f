//! `NVNwindow` and `NVNwindowBuilder`.

use bytemuck::{Pod, Zeroable};

/// The most textures a window takes (device item 0x58).
pub const MAX_WINDOW_TEXTURES: usize = 4;

/// `NVNwindow`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct WindowRecord {
    magic: u32,
    /// Presents are at least this many refreshes apart.
    pub interval: i32,
    /// The host's never-reused number of the window.
    pub serial: u64,
    /// The guest's native window, passed through.
    pub native_window: u64,
    /// The crop rectangle: x, y, width, height (B428).
    pub crop: [i32; 4],
}

super::record!(WindowRecord in "NVNwindow", magic b"NVwi", at most MIN_NVNWINDOW);

impl WindowRecord {
    /// A live window, whose crop is the whole first texture until the guest sets one.
    pub const fn new(serial: u64, native_window: u64, interval: i32, size: [i32; 2]) -> Self {
        Self { magic: <Self as super::Record>::MAGIC, interval, serial, native_window, crop: [0, 0, size[0], size[1]] }
    }
}

/// `NVNwindowBuilder`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct WindowBuilderRecord {
    /// Guest address of the device.
    pub device: u64,
    magic: u32,
    /// Presents are at least this many refreshes apart.
    pub interval: i16,
    /// How many of `textures` are set.
    pub texture_count: u16,
    /// The guest's native window.
    pub native_window: u64,
    /// Guest addresses of the textures.
    pub textures: [u64; MAX_WINDOW_TEXTURES],
}

super::record!(WindowBuilderRecord in "NVNwindowBuilder", magic b"NVwb", at most MIN_NVNWINDOWBUILDER);

impl WindowBuilderRecord {
    /// The builder that SetDefaults makes: interval 1, no textures.
    pub const fn new(device: u64) -> Self {
        Self {
            device,
            magic: <Self as super::Record>::MAGIC,
            interval: 1,
            texture_count: 0,
            native_window: 0,
            textures: [0; MAX_WINDOW_TEXTURES],
        }
    }
}
