//! The reference form: the corpus's SPIR-V as it is, everything in descriptor set 0 at its binding.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use ash::vk;

use crate::gpu::Arena;
use crate::index::Corpus;
use crate::render::Form;
use crate::resources::{Resources, Texels, view_type};
use crate::scene::Scene;

/// A resource as descriptors need it.
enum Descriptor {
    Image(vk::DescriptorImageInfo),
    Buffer(vk::DescriptorBufferInfo),
    View(vk::BufferView),
}

/// The elements of one binding.
struct Binding {
    ty: vk::DescriptorType,
    elements: Vec<Descriptor>,
}

/// Makes the reference form of `scene` over `resources`.
///
/// # Errors
/// If a file is missing or the device refuses something.
pub fn form<'a>(arena: &Arena<'_>, corpus: &Corpus, scene: &'a Scene<'a>, resources: &Resources) -> Result<Form<'a>> {
    let mut stages = Vec::new();
    for program in &scene.stages {
        stages.push((program.stage, corpus.reference(&program.name)?));
    }
    if scene.main.name == "tex_bindless" {
        // Where the guest form has the handle of texture k, the reference has k (notes of the index).
        for block in &resources.uniforms {
            for k in 0..(block.range / 16) as u32 {
                block.buffer.write(16 * u64::from(k), bytemuck::bytes_of(&[k, 0, 0, 0]));
            }
        }
    }
    // Two programs use one id for several kinds, which then have sets of their own.
    let apart = scene.main.name.starts_with("bind_overlap");
    let sets = bindings(arena, resources, apart)?;
    let mut layouts = Vec::new();
    let mut sizes = Vec::new();
    for set in &sets {
        let list: Vec<_> = set
            .iter()
            .map(|(binding, b)| {
                sizes.push(vk::DescriptorPoolSize { ty: b.ty, descriptor_count: b.elements.len() as u32 });
                vk::DescriptorSetLayoutBinding::default()
                    .binding(*binding)
                    .descriptor_type(b.ty)
                    .descriptor_count(b.elements.len() as u32)
                    .stage_flags(vk::ShaderStageFlags::ALL)
            })
            .collect();
        layouts.push(arena.set_layout(&vk::DescriptorSetLayoutCreateInfo::default().bindings(&list))?);
    }
    let handles = arena.sets(&layouts, &sizes, false)?;
    for (set, handle) in sets.iter().zip(&handles) {
        for (binding, b) in set {
            write(arena, *handle, *binding, b);
        }
    }
    Ok(Form { stages, layout: arena.pipeline_layout(&layouts)?, sets: handles, guest: false, scene })
}

fn bindings(arena: &Arena<'_>, resources: &Resources, apart: bool) -> Result<Vec<BTreeMap<u32, Binding>>> {
    let mut sets: Vec<BTreeMap<u32, Binding>> = Vec::new();
    sets.resize_with(if apart { 4 } else { 1 }, BTreeMap::new);
    let mut add = |kind: usize, binding: u32, ty: vk::DescriptorType, descriptor: Descriptor| -> Result<()> {
        let set = sets.get_mut(if apart { kind } else { 0 }).context("a set")?;
        set.entry(binding).or_insert(Binding { ty, elements: Vec::new() }).elements.push(descriptor);
        Ok(())
    };
    for (kind, ty, list) in [
        (0, vk::DescriptorType::UNIFORM_BUFFER, &resources.uniforms),
        (1, vk::DescriptorType::STORAGE_BUFFER, &resources.storage),
    ] {
        for bound in list {
            let info = vk::DescriptorBufferInfo { buffer: bound.buffer.handle, offset: 0, range: bound.range };
            add(kind, bound.binding, ty, Descriptor::Buffer(info))?;
        }
    }
    let image_layout = vk::ImageLayout::GENERAL;
    for texture in &resources.textures {
        match &texture.texels {
            Texels::Buffer(buffer) => {
                let view = arena.buffer_view(buffer, texture.format)?;
                add(2, texture.binding, vk::DescriptorType::UNIFORM_TEXEL_BUFFER, Descriptor::View(view))?;
            }
            Texels::Image(image) => {
                let image_view = arena.view(image, view_type(texture.kind), texture.format)?;
                let info = vk::DescriptorImageInfo { sampler: texture.sampler, image_view, image_layout };
                add(2, texture.binding, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, Descriptor::Image(info))?;
            }
        }
    }
    for image in &resources.images {
        match &image.texels {
            Texels::Buffer(buffer) => {
                let view = arena.buffer_view(buffer, image.texel.format)?;
                add(3, image.binding, vk::DescriptorType::STORAGE_TEXEL_BUFFER, Descriptor::View(view))?;
            }
            Texels::Image(texels) => {
                let image_view = arena.view(texels, view_type(image.kind), image.texel.format)?;
                let info = vk::DescriptorImageInfo { sampler: vk::Sampler::null(), image_view, image_layout };
                add(3, image.binding, vk::DescriptorType::STORAGE_IMAGE, Descriptor::Image(info))?;
            }
        }
    }
    Ok(sets)
}

fn write(arena: &Arena<'_>, set: vk::DescriptorSet, binding: u32, b: &Binding) {
    for (element, descriptor) in (0u32..).zip(&b.elements) {
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(binding)
            .dst_array_element(element)
            .descriptor_type(b.ty)
            .descriptor_count(1);
        let (mut images, mut buffers, mut views) = ([Default::default()], [Default::default()], [Default::default()]);
        let write = match descriptor {
            Descriptor::Image(info) => {
                images[0] = *info;
                write.image_info(&images)
            }
            Descriptor::Buffer(info) => {
                buffers[0] = *info;
                write.buffer_info(&buffers)
            }
            Descriptor::View(view) => {
                views[0] = *view;
                write.texel_buffer_view(&views)
            }
        };
        // SAFETY: the set is in no submission; what the write points to is alive.
        unsafe { arena.gpu.device.update_descriptor_sets(&[write], &[]) };
    }
}
