//! `NVNsync`.

use bytemuck::{Pod, Zeroable};

/// `NVNsync`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct SyncRecord {
    magic: u32,
    reserved: u32,
    /// The host's never-reused number of the sync.
    pub serial: u64,
}

super::record!(SyncRecord in "NVNsync", magic b"NVsy", at most MIN_NVNSYNC);

impl SyncRecord {
    /// A live sync that no fence has reached.
    pub const fn new(serial: u64) -> Self {
        Self { magic: <Self as super::Record>::MAGIC, reserved: 0, serial }
    }
}
