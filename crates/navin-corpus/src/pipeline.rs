//! Classic pipelines, made the same way for both forms.

use ash::vk;
use navin_shader::Stage;

use crate::gpu::{Arena, GpuError, Named};

/// Fixed state of a graphics pipeline.
#[derive(Clone, Debug)]
pub struct Graphics<'a> {
    /// Stages and their SPIR-V.
    pub stages: &'a [(Stage, Vec<u32>)],
    /// Layout.
    pub layout: vk::PipelineLayout,
    /// Topology.
    pub topology: vk::PrimitiveTopology,
    /// Vertices of a patch, 0 without tessellation.
    pub patch: u32,
    /// Location, format and stride of each vertex stream; stream i is binding i.
    pub attributes: &'a [(u32, vk::Format, u32)],
    /// Format and written channels by location; undefined where there is no target.
    pub targets: &'a [(vk::Format, vk::ColorComponentFlags)],
    /// Depth format and compare operation, with writes.
    pub depth: Option<(vk::Format, vk::CompareOp)>,
    /// Samples, 1 or 4.
    pub samples: u32,
    /// Samples that are written.
    pub sample_mask: u32,
    /// Every sample is shaded apart.
    pub sample_shading: bool,
    /// Viewports.
    pub viewports: u32,
    /// Blend with the second source colour.
    pub dual_source: bool,
}

/// Vulkan's bit for a stage.
pub fn stage_flag(stage: Stage) -> vk::ShaderStageFlags {
    match stage {
        Stage::Vertex => vk::ShaderStageFlags::VERTEX,
        Stage::TessControl => vk::ShaderStageFlags::TESSELLATION_CONTROL,
        Stage::TessEvaluation => vk::ShaderStageFlags::TESSELLATION_EVALUATION,
        Stage::Geometry => vk::ShaderStageFlags::GEOMETRY,
        Stage::Fragment => vk::ShaderStageFlags::FRAGMENT,
        Stage::Compute => vk::ShaderStageFlags::COMPUTE,
    }
}

/// Modules that go away when the pipeline is made.
struct Modules<'a, 'g>(&'a Arena<'g>, Vec<vk::ShaderModule>);

impl Modules<'_, '_> {
    fn add(&mut self, code: &[u32]) -> Result<vk::ShaderModule, GpuError> {
        let info = vk::ShaderModuleCreateInfo::default().code(code);
        // SAFETY: `code` outlives the call; the SPIR-V was validated where it was made.
        let module = unsafe { self.0.gpu.device.create_shader_module(&info, None) }.named("vkCreateShaderModule")?;
        self.1.push(module);
        Ok(module)
    }
}

impl Drop for Modules<'_, '_> {
    fn drop(&mut self) {
        for module in &self.1 {
            // SAFETY: pipelines do not need their modules once they are made.
            unsafe { self.0.gpu.device.destroy_shader_module(*module, None) };
        }
    }
}

/// A compute pipeline.
///
/// # Errors
/// If the device refuses it.
pub fn compute(arena: &Arena<'_>, layout: vk::PipelineLayout, code: &[u32]) -> Result<vk::Pipeline, GpuError> {
    let mut modules = Modules(arena, Vec::new());
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(modules.add(code)?)
        .name(c"main");
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
    // SAFETY: module and layout are alive.
    let made = unsafe { arena.gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
    first(arena, made, "vkCreateComputePipelines")
}

fn first(
    arena: &Arena<'_>,
    made: Result<Vec<vk::Pipeline>, (Vec<vk::Pipeline>, vk::Result)>,
    what: &'static str,
) -> Result<vk::Pipeline, GpuError> {
    let pipeline = made.map_err(|(_, r)| GpuError::Vulkan(what, r))?[0];
    arena.keep_pipeline(pipeline);
    Ok(pipeline)
}

/// A graphics pipeline for dynamic rendering.
///
/// # Errors
/// If the device refuses it.
pub fn graphics(arena: &Arena<'_>, state: &Graphics<'_>) -> Result<vk::Pipeline, GpuError> {
    let mut modules = Modules(arena, Vec::new());
    let mut stages = Vec::new();
    for (stage, code) in state.stages {
        let module = modules.add(code)?;
        let info = vk::PipelineShaderStageCreateInfo::default().stage(stage_flag(*stage)).module(module);
        stages.push(info.name(c"main"));
    }
    let bindings: Vec<_> = (0u32..)
        .zip(state.attributes)
        .map(|(binding, (_, _, stride))| vk::VertexInputBindingDescription {
            binding,
            stride: *stride,
            input_rate: vk::VertexInputRate::VERTEX,
        })
        .collect();
    let attributes: Vec<_> = (0u32..)
        .zip(state.attributes)
        .map(|(binding, (location, format, _))| vk::VertexInputAttributeDescription {
            location: *location,
            binding,
            format: *format,
            offset: 0,
        })
        .collect();
    let vertex = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(&bindings)
        .vertex_attribute_descriptions(&attributes);
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(state.topology);
    let tessellation = vk::PipelineTessellationStateCreateInfo::default().patch_control_points(state.patch);
    let (viewports, scissors) = viewports(state.viewports);
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
    let raster = vk::PipelineRasterizationStateCreateInfo::default()
        .polygon_mode(vk::PolygonMode::FILL)
        .cull_mode(vk::CullModeFlags::NONE)
        .front_face(vk::FrontFace::COUNTER_CLOCKWISE)
        .line_width(1.0);
    let mask = [state.sample_mask];
    let multisample = vk::PipelineMultisampleStateCreateInfo::default()
        .rasterization_samples(if state.samples == 4 {
            vk::SampleCountFlags::TYPE_4
        } else {
            vk::SampleCountFlags::TYPE_1
        })
        .sample_mask(&mask)
        .sample_shading_enable(state.sample_shading)
        .min_sample_shading(1.0);
    let compare = state.depth.map_or(vk::CompareOp::ALWAYS, |(_, op)| op);
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(state.depth.is_some())
        .depth_write_enable(state.depth.is_some())
        .depth_compare_op(compare);
    let blend: Vec<_> = state
        .targets
        .iter()
        .map(|(_, channels)| {
            vk::PipelineColorBlendAttachmentState::default()
                .color_write_mask(*channels)
                .blend_enable(state.dual_source)
                .src_color_blend_factor(vk::BlendFactor::SRC1_COLOR)
                .dst_color_blend_factor(vk::BlendFactor::ONE_MINUS_SRC1_COLOR)
                .color_blend_op(vk::BlendOp::ADD)
                .src_alpha_blend_factor(vk::BlendFactor::SRC1_ALPHA)
                .dst_alpha_blend_factor(vk::BlendFactor::ONE)
                .alpha_blend_op(vk::BlendOp::ADD)
        })
        .collect();
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blend);
    let formats: Vec<_> = state.targets.iter().map(|(format, _)| *format).collect();
    let mut rendering = vk::PipelineRenderingCreateInfo::default()
        .color_attachment_formats(&formats)
        .depth_attachment_format(state.depth.map_or(vk::Format::UNDEFINED, |(format, _)| format));
    let mut info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&vertex)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&multisample)
        .depth_stencil_state(&depth)
        .color_blend_state(&blend)
        .layout(state.layout)
        .push_next(&mut rendering);
    if state.patch > 0 {
        info = info.tessellation_state(&tessellation);
    }
    // SAFETY: modules, layout and all that `info` points to are alive.
    let made = unsafe { arena.gpu.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
    first(arena, made, "vkCreateGraphicsPipelines")
}

/// The whole target, or its four quarters.
fn viewports(count: u32) -> (Vec<vk::Viewport>, Vec<vk::Rect2D>) {
    let side = if count > 1 { 2 } else { 1 };
    let size = crate::scene::TARGET / side;
    (0..count)
        .map(|i| {
            let (x, y) = (i % side * size, i / side * size);
            let viewport = vk::Viewport {
                x: x as f32,
                y: y as f32,
                width: size as f32,
                height: size as f32,
                min_depth: 0.0,
                max_depth: 1.0,
            };
            let offset = vk::Offset2D { x: x as i32, y: y as i32 };
            (viewport, vk::Rect2D { offset, extent: vk::Extent2D { width: size, height: size } })
        })
        .unzip()
}
