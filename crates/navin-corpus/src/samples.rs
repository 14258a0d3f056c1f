//! Multisampled pictures: filling one with a content for each sample, and reading every sample of a target.

use anyhow::Result;
use ash::vk;
use navin_shader::Stage;

use crate::gpu::{Arena, Image};
use crate::pipeline::{self, Graphics};

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

/// Draws a gradient of its own into each sample of each layer, through a sample mask.
///
/// # Errors
/// If the device refuses something.
pub fn fill(arena: &Arena<'_>, image: &Image) -> Result<()> {
    // The corpus's companions do: position and one varying, which becomes the colour.
    let stages = [
        (Stage::Vertex, words(include_bytes!("../../../tests/corpus/bin/aux_vs_v0.spv"))),
        (Stage::Fragment, words(include_bytes!("../../../tests/corpus/bin/aux_fs_f1.spv"))),
    ];
    let layout = arena.pipeline_layout(&[])?;
    let device = &arena.gpu.device;
    for layer in 0..image.layers {
        let view = layer_view(arena, image, layer)?;
        for sample in 0..4u32 {
            let pipeline = pipeline::graphics(
                arena,
                &Graphics {
                    stages: &stages,
                    layout,
                    topology: vk::PrimitiveTopology::TRIANGLE_LIST,
                    patch: 0,
                    attributes: &[(0, vk::Format::R32G32B32A32_SFLOAT, 16), (1, vk::Format::R32G32B32A32_SFLOAT, 16)],
                    targets: &[(image.format, vk::ColorComponentFlags::RGBA)],
                    depth: None,
                    samples: 4,
                    sample_mask: 1 << sample,
                    sample_shading: false,
                    viewports: 1,
                    dual_source: false,
                },
            )?;
            let own = [0.2 * sample as f32, 0.15 * layer as f32];
            let positions = [[-1.0f32, -1.0, 0.5, 1.0], [3.0, -1.0, 0.5, 1.0], [-1.0, 3.0, 0.5, 1.0]];
            let colours = [[own[0], own[1], 0.1, 1.0], [1.0, own[1], own[0], 0.0], [own[0], 1.0, own[1], 0.5f32]];
            let streams = [
                arena.buffer(48, bytemuck::cast_slice(&positions))?.handle,
                arena.buffer(48, bytemuck::cast_slice(&colours))?.handle,
            ];
            arena.gpu.submit(|command| {
                let load = if sample == 0 { vk::AttachmentLoadOp::CLEAR } else { vk::AttachmentLoadOp::LOAD };
                let attachment = [vk::RenderingAttachmentInfo::default()
                    .image_view(view)
                    .image_layout(vk::ImageLayout::GENERAL)
                    .load_op(load)
                    .store_op(vk::AttachmentStoreOp::STORE)];
                let area = vk::Extent2D { width: image.extent.width, height: image.extent.height };
                let rendering =
                    vk::RenderingInfo::default().render_area(area.into()).layer_count(1).color_attachments(&attachment);
                // SAFETY: recording; everything named is alive until the submission has ended.
                unsafe {
                    device.cmd_begin_rendering(command, &rendering);
                    device.cmd_bind_pipeline(command, vk::PipelineBindPoint::GRAPHICS, pipeline);
                    device.cmd_bind_vertex_buffers(command, 0, &streams, &[0, 0]);
                    device.cmd_draw(command, 3, 1, 0, 0);
                    device.cmd_end_rendering(command);
                }
                arena.gpu.barrier(command);
            })?;
        }
    }
    Ok(())
}

fn layer_view(arena: &Arena<'_>, image: &Image, layer: u32) -> Result<vk::ImageView> {
    let range = vk::ImageSubresourceRange { base_array_layer: layer, layer_count: 1, ..image.range() };
    Ok(arena.view_range(image, vk::ImageViewType::TYPE_2D, image.format, range)?)
}

/// All four samples of a 64 x 64 target of 32-bit channels: four words a texel, sample after sample.
///
/// # Errors
/// If the device refuses something.
pub fn read(arena: &Arena<'_>, image: &Image) -> Result<Vec<u32>> {
    let integer = image.format == vk::Format::R32G32B32A32_UINT;
    let code = if integer {
        words(include_bytes!("../shaders/read_samples_uint.spv"))
    } else {
        words(include_bytes!("../shaders/read_samples_float.spv"))
    };
    let compute = vk::ShaderStageFlags::COMPUTE;
    let binding = |binding, ty| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(binding)
            .descriptor_type(ty)
            .descriptor_count(1)
            .stage_flags(compute)
    };
    let bindings =
        [binding(0, vk::DescriptorType::COMBINED_IMAGE_SAMPLER), binding(1, vk::DescriptorType::STORAGE_BUFFER)];
    let set_layout = arena.set_layout(&vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings))?;
    let layout = arena.pipeline_layout(&[set_layout])?;
    let pipeline = pipeline::compute(arena, layout, &code)?;
    let sizes = bindings.map(|b| vk::DescriptorPoolSize { ty: b.descriptor_type, descriptor_count: 1 });
    let set = arena.sets(&[set_layout], &sizes, false)?[0];
    let out = arena.buffer(4 * 64 * 64 * 16, &[])?;
    let view = arena.view(image, vk::ImageViewType::TYPE_2D, image.format)?;
    let sampler = arena.sampler(&vk::SamplerCreateInfo::default())?;
    let images = [vk::DescriptorImageInfo { sampler, image_view: view, image_layout: vk::ImageLayout::GENERAL }];
    let buffers = [vk::DescriptorBufferInfo { buffer: out.handle, offset: 0, range: vk::WHOLE_SIZE }];
    let writes = [
        vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(0)
            .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
            .image_info(&images),
        vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(1)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .buffer_info(&buffers),
    ];
    let device = &arena.gpu.device;
    // SAFETY: the set is in no submission; what the writes point to is alive.
    unsafe { device.update_descriptor_sets(&writes, &[]) };
    arena.gpu.submit(|command| {
        arena.gpu.barrier(command);
        // SAFETY: recording; everything named is alive until the submission has ended.
        unsafe {
            device.cmd_bind_pipeline(command, vk::PipelineBindPoint::COMPUTE, pipeline);
            device.cmd_bind_descriptor_sets(command, vk::PipelineBindPoint::COMPUTE, layout, 0, &[set], &[]);
            device.cmd_dispatch(command, 8, 8, 1);
        }
        arena.gpu.barrier(command);
    })?;
    Ok(out.words())
}
