//! The one pipeline layout (ARCHITECTURE.md, "Shader interface"): set 0 holds the tables, set 1 + s the constants
//! of stage s.
//!
//! All shaders are made against it, so any stage can stand beside any other and no set is ever disturbed by
//! binding a shader. Stage sets are written through update templates: a shader's [`Interface`] picks the bindings,
//! and one call copies them out of the encoder's array, in which binding b is element b.

use std::collections::HashMap;
use std::sync::Arc;

use ash::vk;
use parking_lot::Mutex;
use rustc_hash::FxBuildHasher;

use crate::context::OpenError;
use crate::encoder::BufferRange;
use crate::gpu::Gpu;
use crate::shader::Stage;
use crate::tables::{IMAGE_SLOTS, PAGE_TABLE_LEAVES, SAMPLER_SLOTS, TEXTURE_SLOTS};

/// Uniform-buffer bindings of a stage set: constant banks 0 to 17.
pub const CONSTANT_BANKS: usize = 18;
/// Storage-buffer bindings of a stage set.
pub const STORAGE_SLOTS: usize = 16;
/// Bindings of a stage set.
pub(crate) const STAGE_BINDINGS: usize = CONSTANT_BANKS + STORAGE_SLOTS;
/// Stage sets: vertex and compute share the first.
pub(crate) const STAGE_SETS: usize = 5;

/// Bindings of set 0.
pub(crate) mod binding {
    pub(crate) const TEXTURE_IDS: u32 = 0;
    pub(crate) const SAMPLER_IDS: u32 = 1;
    /// Plus the view kind.
    pub(crate) const TEXTURES: u32 = 2;
    pub(crate) const SAMPLERS: u32 = 12;
    /// Plus the view kind.
    pub(crate) const IMAGES_TYPED: u32 = 13;
    /// Plus the view kind.
    pub(crate) const IMAGES_RAW: u32 = 23;
    pub(crate) const PAGE_TABLE: u32 = 33;
}

// Update templates read the encoder's ranges as VkDescriptorBufferInfo.
const _: () = {
    assert!(size_of::<BufferRange>() == size_of::<vk::DescriptorBufferInfo>());
    assert!(std::mem::offset_of!(BufferRange, buffer) == std::mem::offset_of!(vk::DescriptorBufferInfo, buffer));
    assert!(std::mem::offset_of!(BufferRange, offset) == std::mem::offset_of!(vk::DescriptorBufferInfo, offset));
    assert!(std::mem::offset_of!(BufferRange, size) == std::mem::offset_of!(vk::DescriptorBufferInfo, range));
    assert!(PAGE_TABLE_LEAVES == 4096);
};

/// Set layouts, the pipeline layout, and the update templates made so far.
pub(crate) struct Layouts {
    gpu: Arc<Gpu>,
    pub(crate) sets: [vk::DescriptorSetLayout; 1 + STAGE_SETS],
    pub(crate) pipeline: vk::PipelineLayout,
    templates: Mutex<HashMap<(u32, u64), vk::DescriptorUpdateTemplate, FxBuildHasher>>,
}

impl Layouts {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Result<Self, OpenError> {
        let failed = |what: &'static str| move |result| OpenError::Vulkan { what, result };
        let mut layouts = Self {
            gpu: gpu.clone(),
            sets: [vk::DescriptorSetLayout::null(); 1 + STAGE_SETS],
            pipeline: vk::PipelineLayout::null(),
            templates: Mutex::default(),
        };
        if gpu.device_limits.max_bound_descriptor_sets < layouts.sets.len() as u32 {
            return Err(OpenError::Unsuitable(format!(
                "\n  it binds {} descriptor sets at once; 6 are needed",
                gpu.device_limits.max_bound_descriptor_sets
            )));
        }
        let bindings = table_bindings();
        let flags = vec![
            vk::DescriptorBindingFlags::PARTIALLY_BOUND
                | vk::DescriptorBindingFlags::UPDATE_AFTER_BIND
                | vk::DescriptorBindingFlags::UPDATE_UNUSED_WHILE_PENDING;
            bindings.len()
        ];
        let mut flag_info = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
        let info = vk::DescriptorSetLayoutCreateInfo::default()
            .flags(vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL)
            .bindings(&bindings)
            .push_next(&mut flag_info);
        let mut support = vk::DescriptorSetLayoutSupport::default();
        // SAFETY: valid descriptions whose pointers live through the calls; the descriptor indexing features that
        // the flags need were required of the device.
        unsafe {
            gpu.device.get_descriptor_set_layout_support(&info, &mut support);
            if support.supported == vk::FALSE {
                return Err(OpenError::Unsuitable(
                    "\n  its descriptor sets are too small for the texture tables (245,760 image descriptors)"
                        .to_owned(),
                ));
            }
            layouts.sets[0] =
                gpu.device.create_descriptor_set_layout(&info, None).map_err(failed("making the tables' layout"))?;
            for (index, set) in layouts.sets.iter_mut().enumerate().skip(1) {
                let bindings = stage_bindings(stage_flags(index as u32));
                // Templates skip bindings that a shader does not use: those stay unwritten.
                let flags = vec![vk::DescriptorBindingFlags::PARTIALLY_BOUND; bindings.len()];
                let mut flag_info = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
                let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings).push_next(&mut flag_info);
                *set = gpu.device.create_descriptor_set_layout(&info, None).map_err(failed("making a stage layout"))?;
            }
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts.sets);
            layouts.pipeline =
                gpu.device.create_pipeline_layout(&info, None).map_err(failed("making the pipeline layout"))?;
        }
        gpu.name(layouts.pipeline, "navin");
        Ok(layouts)
    }

    /// The template that writes the bindings of `mask` (bit b: binding b) of a stage's set from an array of
    /// [`STAGE_BINDINGS`] ranges.
    pub(crate) fn template(&self, stage: Stage, mask: u64) -> Result<vk::DescriptorUpdateTemplate, vk::Result> {
        let set = stage.set();
        let mut templates = self.templates.lock();
        if let Some(found) = templates.get(&(set, mask)) {
            return Ok(*found);
        }
        let entries: Vec<_> = (0..STAGE_BINDINGS as u32)
            .filter(|binding| mask & (1 << binding) != 0)
            .map(|binding| vk::DescriptorUpdateTemplateEntry {
                dst_binding: binding,
                dst_array_element: 0,
                descriptor_count: 1,
                descriptor_type: binding_type(binding),
                offset: binding as usize * size_of::<BufferRange>(),
                stride: size_of::<BufferRange>(),
            })
            .collect();
        let info = vk::DescriptorUpdateTemplateCreateInfo::default()
            .descriptor_update_entries(&entries)
            .template_type(vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET)
            .descriptor_set_layout(self.sets[set as usize]);
        // SAFETY: entries name bindings of the layout; there is at least one (callers make none for no bindings).
        let template = unsafe { self.gpu.device.create_descriptor_update_template(&info, None) }?;
        templates.insert((set, mask), template);
        Ok(template)
    }
}

impl Drop for Layouts {
    fn drop(&mut self) {
        // SAFETY: the context drops the queue, which waits for all work, before the layouts. Null handles are
        // ignored.
        unsafe {
            for (_, template) in self.templates.get_mut().drain() {
                self.gpu.device.destroy_descriptor_update_template(template, None);
            }
            self.gpu.device.destroy_pipeline_layout(self.pipeline, None);
            for set in self.sets {
                self.gpu.device.destroy_descriptor_set_layout(set, None);
            }
        }
    }
}

fn binding_type(binding: u32) -> vk::DescriptorType {
    if (binding as usize) < CONSTANT_BANKS {
        vk::DescriptorType::UNIFORM_BUFFER
    } else {
        vk::DescriptorType::STORAGE_BUFFER
    }
}

/// Stages that see a set.
fn stage_flags(set: u32) -> vk::ShaderStageFlags {
    match set {
        1 => vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::COMPUTE,
        2 => vk::ShaderStageFlags::TESSELLATION_CONTROL,
        3 => vk::ShaderStageFlags::TESSELLATION_EVALUATION,
        4 => vk::ShaderStageFlags::GEOMETRY,
        _ => vk::ShaderStageFlags::FRAGMENT,
    }
}

fn stage_bindings(stages: vk::ShaderStageFlags) -> Vec<vk::DescriptorSetLayoutBinding<'static>> {
    (0..STAGE_BINDINGS as u32)
        .map(|binding| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(binding_type(binding))
                .descriptor_count(1)
                .stage_flags(stages)
        })
        .collect()
}

/// Bindings of set 0: (binding, type, count).
pub(crate) fn table_layout() -> Vec<(u32, vk::DescriptorType, u32)> {
    let mut list = vec![
        (binding::TEXTURE_IDS, vk::DescriptorType::STORAGE_BUFFER, 1),
        (binding::SAMPLER_IDS, vk::DescriptorType::STORAGE_BUFFER, 1),
        (binding::SAMPLERS, vk::DescriptorType::SAMPLER, SAMPLER_SLOTS),
        (binding::PAGE_TABLE, vk::DescriptorType::STORAGE_BUFFER, 1),
    ];
    for kind in 0..10 {
        let (sampled, storage) = if kind == 9 {
            (vk::DescriptorType::UNIFORM_TEXEL_BUFFER, vk::DescriptorType::STORAGE_TEXEL_BUFFER)
        } else {
            (vk::DescriptorType::SAMPLED_IMAGE, vk::DescriptorType::STORAGE_IMAGE)
        };
        list.push((binding::TEXTURES + kind, sampled, TEXTURE_SLOTS));
        list.push((binding::IMAGES_TYPED + kind, storage, IMAGE_SLOTS));
        list.push((binding::IMAGES_RAW + kind, storage, IMAGE_SLOTS));
    }
    list
}

fn table_bindings() -> Vec<vk::DescriptorSetLayoutBinding<'static>> {
    let stages = vk::ShaderStageFlags::ALL_GRAPHICS | vk::ShaderStageFlags::COMPUTE;
    table_layout()
        .into_iter()
        .map(|(binding, kind, count)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(kind)
                .descriptor_count(count)
                .stage_flags(stages)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_fill_bindings_0_to_33_once() {
        let mut bindings: Vec<_> = table_layout().iter().map(|(binding, ..)| *binding).collect();
        bindings.sort_unstable();
        assert_eq!(bindings, (0..=33).collect::<Vec<_>>());
    }
}
