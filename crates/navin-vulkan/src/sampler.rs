//! Samplers.
use crate::context::Context;
use crate::memory::MemoryError;
use ash::vk;
use std::sync::Arc;

/// A sampler in Vulkan's terms. Compared and hashed by the bits of its floats.
#[derive(Clone, Copy, Debug)]
pub struct SamplerDesc {
    /// Magnification.
    pub mag: vk::Filter,
    /// Minification.
    pub min: vk::Filter,
    /// Between levels.
    pub mip: vk::SamplerMipmapMode,
    /// Wrap in u, v, w.
    pub wrap: [vk::SamplerAddressMode; 3],
    /// Added to the level of detail.
    pub lod_bias: f32,
    /// Least level of detail.
    pub min_lod: f32,
    /// Largest level of detail.
    pub max_lod: f32,
    /// Anisotropy; at most 1 is off.
    pub anisotropy: f32,
    /// Comparison, if any.
    pub compare: Option<vk::CompareOp>,
    /// Border colour as 4 words: floats, or integers with `border_is_integer`.
    pub border: [u32; 4],
    /// Whether `border` holds integers.
    pub border_is_integer: bool,
    /// Weighted average, minimum or maximum (where the device can).
    pub reduction: vk::SamplerReductionMode,
    /// Whether cube edges are filtered within a face only (where the device can).
    pub non_seamless_cube: bool,
    /// Texel coordinates instead of 0..1.
    pub unnormalized: bool,
}

/// A sampler.
pub struct Sampler {}

impl Sampler {
    /// The sampler that `desc` describes; equal descriptions share one.
    pub fn new(context: &Arc<Context>, desc: &SamplerDesc) -> Result<Arc<Sampler>, MemoryError> {
        let _ = (context, desc);
        unimplemented!()
    }
    /// The handle.
    pub fn raw(&self) -> vk::Sampler {
        unimplemented!()
    }
}
