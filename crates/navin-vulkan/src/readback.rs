//! Readback.
use crate::encoder::Encoder;
use crate::image::Image;
use crate::memory::MemoryError;
use ash::vk;
use std::sync::Arc;

/// A copy of an image level on its way to the CPU.
pub struct Readback {}

impl Readback {
    /// Records the copy of a level's layers, rows tight, layers one after the other.
    pub fn record(
        encoder: &mut Encoder,
        image: &Arc<Image>,
        aspect: vk::ImageAspectFlags,
        level: u32,
        base_layer: u32,
        layers: u32,
    ) -> Result<Readback, MemoryError> {
        let _ = (encoder, image, aspect, level, base_layer, layers);
        unimplemented!()
    }
    /// The bytes; call when the submission is complete.
    pub fn bytes(&self) -> Vec<u8> {
        unimplemented!()
    }
    /// Size of the level in texels.
    pub fn extent(&self) -> vk::Extent3D {
        unimplemented!()
    }
}
