//! `NVNprogram`.

use bytemuck::{Pod, Zeroable};

/// `NVNprogram`. At least one title gives it less than the header's 0xC0 bytes: 112 is safe (B101), so what a
/// program holds is host-side, found by the serial.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct ProgramRecord {
    magic: u32,
    /// `NVNsampleShadingMode`.
    pub sample_shading: i32,
    /// The host's never-reused number of the program.
    pub serial: u64,
}

super::record!(ProgramRecord in "NVNprogram", magic b"NVpr", at most MIN_NVNPROGRAM);

impl ProgramRecord {
    /// A live program without shaders.
    pub const fn new(serial: u64) -> Self {
        Self { magic: <Self as super::Record>::MAGIC, sample_shading: 0, serial }
    }
}
