//! Transient uploads.
use crate::encoder::BufferRange;
use ash::vk;

/// A piece of transient memory, written by the CPU now, read by the submission that it was taken for.
#[derive(Clone, Copy, Debug)]
pub struct TransientSlice {
    /// Where the device sees it.
    pub range: BufferRange,
    /// Its device address.
    pub address: vk::DeviceAddress,
    /// Where the CPU writes it; valid until the encoder it was taken from is submitted.
    pub ptr: *mut u8,
}

/// The blocks that transient slices are cut from. Reached through [`Encoder::transient`](crate::Encoder::transient).
pub struct TransientRing {}
