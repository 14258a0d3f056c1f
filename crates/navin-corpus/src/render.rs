//! Does a scene's work with a pipeline and says what it left behind.

use anyhow::Result;
use ash::vk;
use navin_shader::{AttributeType, Stage};

use crate::compare::{Content, Plane};
use crate::gpu::{Arena, Image, ImageInfo};
use crate::pipeline::{self, Graphics};
use crate::resources::download;
use crate::samples;
use crate::scene::{Depth, Draw, Scene, TARGET, Work};

/// One form of a scene, ready to run.
pub struct Form<'a> {
    /// SPIR-V of each stage.
    pub stages: Vec<(Stage, Vec<u32>)>,
    /// Layout.
    pub layout: vk::PipelineLayout,
    /// Descriptor sets from set 0 on.
    pub sets: Vec<vk::DescriptorSet>,
    /// Whether vertex streams have the guest's formats.
    pub guest: bool,
    /// Scene.
    pub scene: &'a Scene<'a>,
}

/// What targets are cleared to, so that what was not drawn is seen as well.
const BACKGROUND: [f32; 4] = [0.125, 0.25, 0.375, 0.5];
const BACKGROUND_INTEGER: u32 = 77;
const DEPTH_FORMAT: vk::Format = vk::Format::D32_SFLOAT;

impl Form<'_> {
    /// Runs the work; the planes are the targets' and the depth buffer's (buffers and images are the caller's).
    ///
    /// # Errors
    /// If the device refuses something or does not end.
    pub fn run(&self, arena: &Arena<'_>) -> Result<Vec<Plane>> {
        match &self.scene.work {
            Work::Dispatch(groups) => {
                self.dispatch(arena, *groups)?;
                Ok(Vec::new())
            }
            Work::Draw(draw) => self.draw(arena, draw),
        }
    }

    fn bind(&self, arena: &Arena<'_>, command: vk::CommandBuffer, point: vk::PipelineBindPoint) {
        if !self.sets.is_empty() {
            // SAFETY: recording; sets and layout are alive.
            unsafe { arena.gpu.device.cmd_bind_descriptor_sets(command, point, self.layout, 0, &self.sets, &[]) };
        }
    }

    fn dispatch(&self, arena: &Arena<'_>, groups: [u32; 3]) -> Result<()> {
        let code = self.stages.first().map_or(&[][..], |(_, code)| code);
        let pipeline = pipeline::compute(arena, self.layout, code)?;
        arena.gpu.submit(|command| {
            arena.gpu.barrier(command);
            self.bind(arena, command, vk::PipelineBindPoint::COMPUTE);
            // SAFETY: recording; everything named is alive until the submission has ended.
            unsafe {
                arena.gpu.device.cmd_bind_pipeline(command, vk::PipelineBindPoint::COMPUTE, pipeline);
                arena.gpu.device.cmd_dispatch(command, groups[0], groups[1], groups[2]);
            }
            arena.gpu.barrier(command);
        })?;
        Ok(())
    }

    fn draw(&self, arena: &Arena<'_>, draw: &Draw) -> Result<Vec<Plane>> {
        let locations = draw.targets.last().map_or(0, |t| t.location + 1);
        let none = (vk::Format::UNDEFINED, vk::ColorComponentFlags::empty());
        let mut formats = vec![none; locations as usize];
        let mut images = Vec::new();
        for target in &draw.targets {
            // Channels that the source does not write are undefined in the reference: leave the background.
            let written = vk::ColorComponentFlags::from_raw((1 << target.channels) - 1);
            formats[target.location as usize] = (target.format, written);
            images.push(attachment(arena, draw, target.format, vk::ImageUsageFlags::COLOR_ATTACHMENT)?);
        }
        let depth_image = match draw.depth {
            Depth::None => None,
            _ => Some(attachment(arena, draw, DEPTH_FORMAT, vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT)?),
        };
        let depth = match draw.depth {
            Depth::None => None,
            Depth::Written => Some((DEPTH_FORMAT, vk::CompareOp::ALWAYS)),
            Depth::HalfRejected => Some((DEPTH_FORMAT, vk::CompareOp::LESS)),
        };
        let format = |a: &crate::scene::Attribute| if self.guest { a.guest_format } else { a.format };
        let attributes: Vec<_> = draw.attributes.iter().map(|a| (a.location, format(a), a.stride)).collect();
        let pipeline = pipeline::graphics(
            arena,
            &Graphics {
                stages: &self.stages,
                layout: self.layout,
                topology: draw.topology,
                patch: draw.patch,
                attributes: &attributes,
                targets: &formats,
                depth,
                samples: draw.samples,
                sample_mask: u32::MAX,
                sample_shading: draw.sample_shading,
                viewports: draw.viewports,
                dual_source: draw.dual_source,
            },
        )?;
        let mut streams = Vec::new();
        for attribute in &draw.attributes {
            streams.push(arena.buffer(attribute.data.len() as u64, &attribute.data)?.handle);
        }
        self.submit_draw(arena, draw, pipeline, &streams, &images, depth_image.as_ref())?;

        let mut planes = Vec::new();
        for (target, image) in draw.targets.iter().zip(&images) {
            let content = match target.ty {
                AttributeType::Float | AttributeType::Infer => Content::FloatTarget { channels: target.channels },
                AttributeType::Sint | AttributeType::Uint => Content::IntTarget,
            };
            let words = if draw.samples > 1 { samples::read(arena, image)? } else { download(arena, image, 16)? };
            let name = format!("target {}", target.location);
            // A target of one colour is one that nothing was drawn into: no program here fills it evenly with what
            // it was cleared to.
            let background = match content {
                Content::FloatTarget { .. } => BACKGROUND.map(f32::to_bits),
                _ => [BACKGROUND_INTEGER; 4],
            };
            let untouched = words.chunks_exact(4).all(|pixel| pixel == background);
            planes.push(Plane { name, content, width: TARGET, words, untouched });
        }
        if let Some(image) = depth_image.filter(|_| draw.samples == 1) {
            let words = download(arena, &image, 4)?;
            let untouched = words.iter().all(|w| f32::from_bits(*w) == 1.0);
            planes.push(Plane { name: "depth".into(), content: Content::Depth, width: TARGET, words, untouched });
        }
        Ok(planes)
    }

    fn submit_draw(
        &self,
        arena: &Arena<'_>,
        draw: &Draw,
        pipeline: vk::Pipeline,
        streams: &[vk::Buffer],
        images: &[Image],
        depth: Option<&Image>,
    ) -> Result<()> {
        let locations = draw.targets.last().map_or(0, |t| t.location + 1);
        let mut colours = vec![vk::RenderingAttachmentInfo::default(); locations as usize];
        for (target, image) in draw.targets.iter().zip(images) {
            let clear = match target.ty {
                AttributeType::Float | AttributeType::Infer => vk::ClearColorValue { float32: BACKGROUND },
                AttributeType::Sint | AttributeType::Uint => vk::ClearColorValue { uint32: [BACKGROUND_INTEGER; 4] },
            };
            colours[target.location as usize] = vk::RenderingAttachmentInfo::default()
                .image_view(attachment_view(arena, image)?)
                .image_layout(vk::ImageLayout::GENERAL)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(vk::AttachmentStoreOp::STORE)
                .clear_value(vk::ClearValue { color: clear });
        }
        let depth_attachment = match depth {
            Some(image) => Some(
                vk::RenderingAttachmentInfo::default()
                    .image_view(attachment_view(arena, image)?)
                    .image_layout(vk::ImageLayout::GENERAL)
                    .load_op(vk::AttachmentLoadOp::CLEAR)
                    .store_op(vk::AttachmentStoreOp::STORE)
                    .clear_value(depth_value(1.0)),
            ),
            None => None,
        };
        let extent = vk::Extent2D { width: TARGET, height: TARGET };
        let mut rendering = vk::RenderingInfo::default()
            .render_area(extent.into())
            .layer_count(draw.layers)
            .color_attachments(&colours);
        if let Some(attachment) = &depth_attachment {
            rendering = rendering.depth_attachment(attachment);
        }
        let device = &arena.gpu.device;
        arena.gpu.submit(|command| {
            arena.gpu.barrier(command);
            self.bind(arena, command, vk::PipelineBindPoint::GRAPHICS);
            // SAFETY: recording; everything named is alive until the submission has ended.
            unsafe {
                device.cmd_begin_rendering(command, &rendering);
                if draw.depth == Depth::HalfRejected {
                    // 0 in the right half: nothing is less.
                    let clear = [vk::ClearAttachment {
                        aspect_mask: vk::ImageAspectFlags::DEPTH,
                        color_attachment: 0,
                        clear_value: depth_value(0.0),
                    }];
                    let half = vk::Rect2D {
                        offset: vk::Offset2D { x: TARGET as i32 / 2, y: 0 },
                        extent: vk::Extent2D { width: TARGET / 2, height: TARGET },
                    };
                    let rects = [vk::ClearRect { rect: half, base_array_layer: 0, layer_count: draw.layers }];
                    device.cmd_clear_attachments(command, &clear, &rects);
                }
                device.cmd_bind_pipeline(command, vk::PipelineBindPoint::GRAPHICS, pipeline);
                if !streams.is_empty() {
                    device.cmd_bind_vertex_buffers(command, 0, streams, &vec![0; streams.len()]);
                }
                device.cmd_draw(command, draw.vertices, draw.instances, draw.first_vertex, draw.first_instance);
                device.cmd_end_rendering(command);
            }
            arena.gpu.barrier(command);
        })?;
        Ok(())
    }
}

fn depth_value(depth: f32) -> vk::ClearValue {
    vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth, stencil: 0 } }
}

fn attachment(arena: &Arena<'_>, draw: &Draw, format: vk::Format, usage: vk::ImageUsageFlags) -> Result<Image> {
    Ok(arena.image(&ImageInfo {
        ty: vk::ImageType::TYPE_2D,
        format,
        extent: [TARGET, TARGET, 1],
        levels: 1,
        layers: draw.layers,
        samples: draw.samples,
        usage: usage | vk::ImageUsageFlags::SAMPLED,
        flags: vk::ImageCreateFlags::empty(),
    })?)
}

fn attachment_view(arena: &Arena<'_>, image: &Image) -> Result<vk::ImageView> {
    let ty = if image.layers > 1 { vk::ImageViewType::TYPE_2D_ARRAY } else { vk::ImageViewType::TYPE_2D };
    Ok(arena.view(image, ty, image.format)?)
}
