//! Samplers, in Vulkan's terms.
//!
//! Devices allow a few thousand samplers, guests register many equal ones: equal descriptions share one object.
//! A border colour that is not one of Vulkan's three becomes a custom one where the device can, else the nearest of
//! the three (reported by `navin doctor`).

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use ash::vk;
use rustc_hash::FxBuildHasher;

use crate::context::Context;
use crate::features::Features;
use crate::gpu::Gpu;
use crate::memory::MemoryError;
use crate::retire::Garbage;

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
    /// Added to the level of detail; clamped to the device's range.
    pub lod_bias: f32,
    /// Least level of detail.
    pub min_lod: f32,
    /// Largest level of detail; for no mipmapping 0 to 0.25 with nearest `mip`.
    pub max_lod: f32,
    /// Anisotropy, clamped to the device's; at most 1 is off.
    pub anisotropy: f32,
    /// Comparison, if any.
    pub compare: Option<vk::CompareOp>,
    /// Border colour as 4 words: floats' bits, or integers with `border_is_integer`.
    pub border: [u32; 4],
    /// Whether `border` holds integers.
    pub border_is_integer: bool,
    /// Weighted average, minimum or maximum (average where the device has no other).
    pub reduction: vk::SamplerReductionMode,
    /// Whether cube edges are filtered within a face only (where the device can).
    pub non_seamless_cube: bool,
    /// Texel coordinates instead of 0..1. Vulkan then wants equal filters, nearest `mip`, clamped wraps, no
    /// anisotropy and no comparison: the sampler is bent to that.
    pub unnormalized: bool,
}

impl Default for SamplerDesc {
    /// Nearest everywhere, repeating, all levels.
    fn default() -> Self {
        Self {
            mag: vk::Filter::NEAREST,
            min: vk::Filter::NEAREST,
            mip: vk::SamplerMipmapMode::NEAREST,
            wrap: [vk::SamplerAddressMode::REPEAT; 3],
            lod_bias: 0.0,
            min_lod: 0.0,
            max_lod: vk::LOD_CLAMP_NONE,
            anisotropy: 1.0,
            compare: None,
            border: [0; 4],
            border_is_integer: false,
            reduction: vk::SamplerReductionMode::WEIGHTED_AVERAGE,
            non_seamless_cube: false,
            unnormalized: false,
        }
    }
}

/// The words of a description, floats as bits.
type Key = [u32; 19];

impl SamplerDesc {
    fn key(&self) -> Key {
        let word = |raw: i32| raw as u32;
        [
            word(self.mag.as_raw()),
            word(self.min.as_raw()),
            word(self.mip.as_raw()),
            word(self.wrap[0].as_raw()),
            word(self.wrap[1].as_raw()),
            word(self.wrap[2].as_raw()),
            self.lod_bias.to_bits(),
            self.min_lod.to_bits(),
            self.max_lod.to_bits(),
            self.anisotropy.to_bits(),
            self.compare.map_or(u32::MAX, |op| word(op.as_raw())),
            self.border[0],
            self.border[1],
            self.border[2],
            self.border[3],
            self.border_is_integer.into(),
            word(self.reduction.as_raw()),
            self.non_seamless_cube.into(),
            self.unnormalized.into(),
        ]
    }

    fn uses_border(&self) -> bool {
        self.wrap.contains(&vk::SamplerAddressMode::CLAMP_TO_BORDER)
    }

    /// The standard border colour that is this one, or failing that is nearest, and whether it is exact.
    fn standard_border(&self) -> (vk::BorderColor, bool) {
        let one = if self.border_is_integer { 1 } else { 1.0f32.to_bits() };
        let zero = |word: u32| word == 0 || (!self.border_is_integer && word == (-0.0f32).to_bits());
        let [transparent, black, white] = if self.border_is_integer {
            [
                vk::BorderColor::INT_TRANSPARENT_BLACK,
                vk::BorderColor::INT_OPAQUE_BLACK,
                vk::BorderColor::INT_OPAQUE_WHITE,
            ]
        } else {
            [
                vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
                vk::BorderColor::FLOAT_OPAQUE_BLACK,
                vk::BorderColor::FLOAT_OPAQUE_WHITE,
            ]
        };
        let [r, g, b, a] = self.border;
        let rgb_zero = zero(r) && zero(g) && zero(b);
        if rgb_zero && zero(a) {
            return (transparent, true);
        }
        if rgb_zero && a == one {
            return (black, true);
        }
        if [r, g, b, a] == [one; 4] {
            return (white, true);
        }
        let value = |word: u32| if self.border_is_integer { word.min(1) as f32 } else { f32::from_bits(word) };
        let nearest = if value(a) < 0.5 {
            transparent
        } else if (value(r) + value(g) + value(b)) / 3.0 < 0.5 {
            black
        } else {
            white
        };
        (nearest, false)
    }
}

/// Living samplers by description.
#[derive(Default)]
pub(crate) struct SamplerCache(HashMap<Key, Weak<Sampler>, FxBuildHasher>);

/// A sampler. Dropping it at any time is safe.
pub struct Sampler {
    gpu: Arc<Gpu>,
    raw: vk::Sampler,
}

impl Sampler {
    /// The sampler that `desc` describes; equal descriptions share one.
    ///
    /// # Errors
    /// The device's number of samplers is used up.
    pub fn new(context: &Arc<Context>, desc: &SamplerDesc) -> Result<Arc<Sampler>, MemoryError> {
        let key = desc.key();
        let mut cache = context.samplers.lock();
        if let Some(found) = cache.0.get(&key).and_then(Weak::upgrade) {
            return Ok(found);
        }
        let sampler = Arc::new(Self::with_gpu(&context.gpu, desc)?);
        if cache.0.len() >= 2 * SamplerDesc::SWEEP {
            cache.0.retain(|_, sampler| sampler.strong_count() > 0);
        }
        cache.0.insert(key, Arc::downgrade(&sampler));
        Ok(sampler)
    }

    pub(crate) fn with_gpu(gpu: &Arc<Gpu>, desc: &SamplerDesc) -> Result<Sampler, MemoryError> {
        let raw = create(gpu, desc).map_err(|error| MemoryError::Refused(format!("no sampler {desc:?}: {error}")))?;
        Ok(Self { gpu: gpu.clone(), raw })
    }

    /// The handle.
    pub fn raw(&self) -> vk::Sampler {
        self.raw
    }
}

impl SamplerDesc {
    /// Dead entries are swept out of the cache when it holds twice this many.
    const SWEEP: usize = 4096;
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.gpu.retire.push(Garbage::Sampler(self.raw));
    }
}

fn create(gpu: &Gpu, desc: &SamplerDesc) -> Result<vk::Sampler, vk::Result> {
    let features: &Features = &gpu.features;
    let finite = |value: f32, low: f32, high: f32| if value.is_nan() { low } else { value.clamp(low, high) };
    let bias_limit = gpu.device_limits.max_sampler_lod_bias;
    let min_lod = finite(desc.min_lod, 0.0, vk::LOD_CLAMP_NONE);
    let mut wrap = desc.wrap;
    let mut info = vk::SamplerCreateInfo::default()
        .mag_filter(desc.mag)
        .min_filter(desc.min)
        .mipmap_mode(desc.mip)
        .mip_lod_bias(finite(desc.lod_bias, -bias_limit, bias_limit))
        .min_lod(min_lod)
        .max_lod(finite(desc.max_lod, min_lod, vk::LOD_CLAMP_NONE));
    let anisotropy = finite(desc.anisotropy, 1.0, gpu.limits.max_anisotropy.max(1.0));
    if anisotropy > 1.0 && features.anisotropy {
        info = info.anisotropy_enable(true).max_anisotropy(anisotropy);
    }
    if let Some(op) = desc.compare {
        info = info.compare_enable(true).compare_op(op);
    }
    if desc.non_seamless_cube && features.non_seamless_cube {
        info = info.flags(vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT);
    }
    let (mut border, exact) = desc.standard_border();
    let mut custom = vk::SamplerCustomBorderColorCreateInfoEXT::default()
        .custom_border_color(vk::ClearColorValue { uint32: desc.border })
        .format(vk::Format::UNDEFINED);
    let wants_custom = desc.uses_border() && !exact && features.custom_border_color;
    let mut reduction = vk::SamplerReductionModeCreateInfo::default().reduction_mode(desc.reduction);
    let reduces = desc.reduction != vk::SamplerReductionMode::WEIGHTED_AVERAGE && features.sampler_minmax;
    if desc.unnormalized {
        for mode in &mut wrap {
            if *mode != vk::SamplerAddressMode::CLAMP_TO_BORDER {
                *mode = vk::SamplerAddressMode::CLAMP_TO_EDGE;
            }
        }
        info = info
            .unnormalized_coordinates(true)
            .min_filter(desc.mag)
            .mipmap_mode(vk::SamplerMipmapMode::NEAREST)
            .min_lod(0.0)
            .max_lod(0.0)
            .anisotropy_enable(false)
            .compare_enable(false);
    }
    info = info.address_mode_u(wrap[0]).address_mode_v(wrap[1]).address_mode_w(wrap[2]);
    if reduces && !desc.unnormalized && desc.compare.is_none() {
        info = info.push_next(&mut reduction);
    }
    if wants_custom {
        border =
            if desc.border_is_integer { vk::BorderColor::INT_CUSTOM_EXT } else { vk::BorderColor::FLOAT_CUSTOM_EXT };
        info = info.push_next(&mut custom);
    }
    info = info.border_color(border);
    // SAFETY: a valid description: ranges are clamped, and what the device lacks is left out.
    let first = unsafe { gpu.device.create_sampler(&info, None) };
    if first.is_err() && wants_custom {
        // Custom border colours are few on some devices: the nearest standard one is better than none.
        let plain = SamplerDesc { border: standard_words(desc), ..*desc };
        return create(gpu, &plain);
    }
    first
}

/// The words of the nearest standard border colour.
fn standard_words(desc: &SamplerDesc) -> [u32; 4] {
    let one = if desc.border_is_integer { 1 } else { 1.0f32.to_bits() };
    match desc.standard_border().0 {
        vk::BorderColor::FLOAT_OPAQUE_WHITE | vk::BorderColor::INT_OPAQUE_WHITE => [one; 4],
        vk::BorderColor::FLOAT_OPAQUE_BLACK | vk::BorderColor::INT_OPAQUE_BLACK => [0, 0, 0, one],
        _ => [0; 4],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b414_border_colours_are_matched_by_their_values() {
        let border = |words: [f32; 4]| SamplerDesc { border: words.map(f32::to_bits), ..Default::default() };
        assert_eq!(border([0.0; 4]).standard_border(), (vk::BorderColor::FLOAT_TRANSPARENT_BLACK, true));
        assert_eq!(border([-0.0, 0.0, 0.0, 1.0]).standard_border(), (vk::BorderColor::FLOAT_OPAQUE_BLACK, true));
        assert_eq!(border([1.0; 4]).standard_border(), (vk::BorderColor::FLOAT_OPAQUE_WHITE, true));
        assert_eq!(border([0.9, 0.8, 0.7, 1.0]).standard_border(), (vk::BorderColor::FLOAT_OPAQUE_WHITE, false));
        let integer = SamplerDesc { border: [7, 0, 0, 0], border_is_integer: true, ..Default::default() };
        assert_eq!(integer.standard_border(), (vk::BorderColor::INT_TRANSPARENT_BLACK, false));
    }

    #[test]
    fn equal_descriptions_have_equal_keys_and_others_do_not() {
        let base = SamplerDesc::default();
        assert_eq!(base.key(), SamplerDesc::default().key());
        assert_ne!(base.key(), SamplerDesc { lod_bias: -0.0, ..base }.key(), "compared by bits");
        assert_ne!(base.key(), SamplerDesc { compare: Some(vk::CompareOp::NEVER), ..base }.key());
    }
}
