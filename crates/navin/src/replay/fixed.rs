//! Targets and fixed-function state: the queue's NVN state objects in the encoder's terms, a group at a time.
//! [`draw`](super::draw) and [`transfer`](super::transfer) call these for the groups that changed.

use ash::vk;
use navin_abi::enums::{
    NVNblendAdvancedMode, NVNblendAdvancedOverlap, NVNface, NVNfrontFace, NVNlogicOp, NVNpolygonMode,
};
use navin_abi::fault;
use navin_texture::Format;
use navin_vulkan::{
    Attachment, Blend, BlendAttachment, BufferRange, Depth, DepthBias, Multisample, Rasterization, Scissor, Stencil,
    StencilFace, Targets, VertexAttribute, VertexBinding, VertexInput, Viewport,
};

use super::content::{self, Use};
use super::state::{Dirty, Target};
use super::{Piece, convert, images};

impl Piece<'_> {
    /// Tells the encoder the groups of [`Dirty::FIXED`] that are in `dirty`.
    pub(super) fn set_fixed(&mut self, dirty: Dirty) {
        if dirty.contains(Dirty::TARGETS) {
            self.set_targets();
        }
        if dirty.intersects(Dirty::VIEWPORTS | Dirty::TARGETS) {
            self.set_viewports();
        }
        if dirty.intersects(Dirty::SCISSORS | Dirty::TARGETS) {
            self.set_scissors();
        }
        if dirty.contains(Dirty::RASTERIZATION) {
            self.set_rasterization();
        }
        if dirty.contains(Dirty::DEPTH) {
            self.set_depth();
        }
        if dirty.contains(Dirty::STENCIL) {
            self.set_stencil();
        }
        if dirty.contains(Dirty::BLEND) {
            self.set_blend();
        }
        if dirty.contains(Dirty::MULTISAMPLE) {
            self.set_multisample();
        }
    }

    pub(crate) fn set_targets(&mut self) {
        let mut targets = Targets::default();
        for target in self.state.colors {
            targets.colors.push(self.attachment(target, false));
        }
        while matches!(targets.colors.last(), Some(None)) {
            targets.colors.pop();
        }
        targets.depth_stencil = self.attachment(self.state.depth, true);
        self.target_extent = targets
            .colors
            .iter()
            .flatten()
            .chain(&targets.depth_stencil)
            .map(|a| a.view.image().level_extent(a.view.desc().base_level))
            .map(|e| (e.width, e.height))
            .reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)))
            .unwrap_or((0, 0));
        self.encoder.set_targets(targets);
    }

    fn attachment(&mut self, target: Target, depth: bool) -> Option<Attachment> {
        if target.serial == 0 {
            return None;
        }
        let Some(texture) = self.driver.textures.get(target.serial) else {
            fault!(
                key = target.serial,
                "B212",
                "render target {}: the texture and its memory are gone; not drawn to",
                target.serial
            );
            return None;
        };
        if images::is_depth(texture.format) != depth {
            fault!(
                key = target.serial,
                "",
                "render target {} of format {} as a {} target: not drawn to",
                target.serial,
                texture.format.name,
                if depth { "depth" } else { "colour" }
            );
            return None;
        }
        let image = content::image_for(self.driver, &mut self.encoder, &texture, Use::Write)?;
        let selection = images::select(&texture, &target.view);
        let Some(desc) = images::attachment_view(&self.driver.context, &image, &selection) else {
            fault!(
                key = target.serial,
                "",
                "render target {} of format {}: the device cannot draw to it",
                target.serial,
                selection.format.name
            );
            return None;
        };
        match image.view(&desc) {
            Ok(view) => Some(Attachment::new(view)),
            Err(e) => {
                fault!(key = target.serial, "", "render target {}: {e}; not drawn to", target.serial);
                None
            }
        }
    }

    pub(super) fn set_viewports(&mut self) {
        let flip = !self.lower_left;
        let viewports: smallvec::SmallVec<[Viewport; 16]> = self.state.viewports[..self.state.viewport_count]
            .iter()
            .zip(&self.state.depth_ranges)
            .map(|(v, range)| {
                // UPPER_LEFT: clip y = +1 is the first row (ARCHITECTURE, conventions of space). The guest's y
                // counts rows in memory in both modes.
                let (y, height) = if flip { (v.y + v.height, -v.height) } else { (v.y, v.height) };
                Viewport { x: v.x, y, width: v.width, height, min_depth: range[0], max_depth: range[1] }
            })
            .collect();
        self.encoder.set_viewport_count(viewports.len());
        self.encoder.set_viewports(0, &viewports);
    }

    pub(super) fn set_scissors(&mut self) {
        let scissors: smallvec::SmallVec<[Scissor; 16]> =
            self.state.scissors[..self.state.viewport_count].iter().map(|s| self.clip(*s)).collect();
        self.encoder.set_scissors(0, &scissors);
    }

    /// A scissor cut to the targets.
    pub(crate) fn clip(&self, scissor: navin_command::record::payload::Scissor) -> Scissor {
        let (width, height) = self.target_extent;
        let (x, y) = (u32::from(scissor.x), u32::from(scissor.y));
        let right = x.saturating_add(u32::from(scissor.width)).min(width);
        let bottom = y.saturating_add(u32::from(scissor.height)).min(height);
        Scissor {
            x: x.min(width) as i32,
            y: y.min(height) as i32,
            width: right.saturating_sub(x),
            height: bottom.saturating_sub(y),
        }
    }

    pub(super) fn set_rasterization(&mut self) {
        let polygon = self.state.polygon.decode();
        let mut cull_mode =
            convert::cull_mode(NVNface(i32::from(polygon.cull_front) | i32::from(polygon.cull_back) << 1));
        let front = if polygon.front_is_counter_clockwise { NVNfrontFace::CCW } else { NVNfrontFace::CW };
        let offset = self.state.polygon_offset;
        let mode = polygon.mode;
        let enable_bit = match mode {
            NVNpolygonMode::POINT => 1,
            NVNpolygonMode::LINE => 2,
            _ => 4,
        };
        let depth_bias = (polygon.offset_enables.raw() & enable_bit != 0).then_some(DepthBias {
            constant: offset.units,
            clamp: offset.clamp,
            slope: offset.factor,
        });
        if polygon.cull_front && polygon.cull_back {
            cull_mode = vk::CullModeFlags::FRONT_AND_BACK;
        }
        self.encoder.set_rasterization(&Rasterization {
            discard: self.state.rasterizer_discard,
            polygon_mode: convert::polygon_mode(mode),
            cull_mode,
            front_face: convert::front_face(front, self.lower_left),
            depth_bias,
            depth_clamp: self.state.depth_clamp,
            depth_clip: !self.state.depth_clamp,
            negative_one_to_one: self.minus_w,
            line_width: self.state.line_width,
            // GL's and so NVN's flat varyings come from the last vertex.
            provoking_vertex: vk::ProvokingVertexModeEXT::LAST_VERTEX,
            domain_origin: vk::TessellationDomainOrigin::LOWER_LEFT,
            ..Rasterization::default()
        });
    }

    pub(super) fn set_depth(&mut self) {
        let d = self.state.depth_stencil.decode();
        self.encoder.set_depth(&Depth {
            test: d.depth_test,
            write: d.depth_test && d.depth_write,
            compare: convert::compare_op(d.depth_func.raw()),
            bounds: self.state.depth_bounds.map(|[low, high]| (low, high)),
        });
    }

    pub(super) fn set_stencil(&mut self) {
        let d = self.state.depth_stencil.decode();
        let numbers = self.state.stencil;
        let face = |face: navin_abi::records::state::StencilFace, n: usize| StencilFace {
            fail: convert::stencil_op(face.fail),
            pass: convert::stencil_op(face.depth_pass),
            depth_fail: convert::stencil_op(face.depth_fail),
            compare: convert::compare_op(face.func.raw()),
            compare_mask: u32::from(numbers[n].compare_mask),
            write_mask: u32::from(numbers[n].write_mask),
            reference: u32::from(numbers[n].reference),
        };
        self.encoder.set_stencil(&Stencil { test: d.stencil_test, front: face(d.front, 0), back: face(d.back, 1) });
    }

    pub(super) fn set_blend(&mut self) {
        let mut blend = Blend { constants: self.state.blend_color, ..Blend::default() };
        for (index, attachment) in blend.attachments.iter_mut().enumerate() {
            let b = self.state.blend[index].decode();
            let write_mask = convert::color_mask(self.state.channel_mask.mask(index));
            if b.advanced_mode != NVNblendAdvancedMode::NONE && self.state.color.blend_enabled(index) {
                let (premultiplied, overlap) = (b.premultiplied_source, b.advanced_overlap);
                let normalized = self.state.blend[index].advanced_normalized_destination();
                let native = super::blend::advanced(b.advanced_mode, premultiplied, normalized, overlap)
                    .filter(|_| self.driver.context.features().advanced_blend);
                let plain = super::blend::plain(b.advanced_mode, write_mask)
                    .filter(|_| premultiplied && !normalized && overlap == NVNblendAdvancedOverlap::UNCORRELATED);
                if native.is_some() || plain.is_some() {
                    let plain = plain.unwrap_or(BlendAttachment { enable: true, write_mask, ..Default::default() });
                    *attachment = BlendAttachment { advanced: native, ..plain };
                    continue;
                }
                fault!(
                    key = b.advanced_mode.raw(),
                    "",
                    "{:?} (premultiplied source {premultiplied}, {overlap:?}): the device has no such blending; drawn with the plain equation",
                    b.advanced_mode
                );
            }
            *attachment = BlendAttachment {
                enable: self.state.color.blend_enabled(index),
                src_color: convert::blend_factor(b.source[0]),
                dst_color: convert::blend_factor(b.destination[0]),
                color_op: convert::blend_op(b.equation[0]),
                src_alpha: convert::blend_factor(b.source[1]),
                dst_alpha: convert::blend_factor(b.destination[1]),
                alpha_op: convert::blend_op(b.equation[1]),
                write_mask,
                advanced: None,
            };
        }
        let logic = self.state.color.logic_op();
        blend.logic_op = (logic != NVNlogicOp::COPY).then(|| convert::logic_op(logic));
        self.encoder.set_blend(&blend);
    }

    pub(super) fn set_multisample(&mut self) {
        let m = self.state.multisample.decode();
        let samples = match m.samples {
            0 | 1 => vk::SampleCountFlags::TYPE_1,
            2 => vk::SampleCountFlags::TYPE_2,
            4 => vk::SampleCountFlags::TYPE_4,
            _ => vk::SampleCountFlags::TYPE_8,
        };
        self.encoder.set_multisample(&Multisample {
            samples,
            mask: self.state.sample_mask,
            alpha_to_coverage: m.enable && m.alpha_to_coverage,
            alpha_to_one: false,
        });
    }

    pub(super) fn set_vertex_input(&mut self) {
        let mut input = VertexInput::default();
        for (location, attribute) in self.state.attributes[..self.state.attribute_count].iter().enumerate().take(16) {
            let Some(info) = Format::from_nvn(attribute.format().raw()) else { continue };
            let format = vk::Format::from_raw(info.vk_format);
            let usable = format != vk::Format::UNDEFINED
                && self.driver.context.buffer_format_features(format).contains(vk::FormatFeatureFlags2::VERTEX_BUFFER);
            if !usable || attribute.stream() >= 16 {
                fault!(
                    key = info.format.nvn(),
                    "",
                    "vertex attribute {location} of format {} in stream {}: the device cannot fetch it; reads (0, 0, 0, 1)",
                    info.name,
                    attribute.stream()
                );
                continue;
            }
            input.attributes[location] =
                Some(VertexAttribute { binding: attribute.stream() as u8, format, offset: attribute.offset() as u32 });
        }
        for (binding, stream) in input.bindings.iter_mut().zip(&self.state.streams) {
            *binding = VertexBinding { stride: stream.stride, divisor: u32::try_from(stream.divisor).unwrap_or(0) };
        }
        self.encoder.set_vertex_input(&input);
    }

    pub(super) fn set_vertex_buffers(&mut self) {
        for (binding, range) in self.state.vertex_buffers.into_iter().enumerate() {
            let buffer = match range.address {
                0 => BufferRange::NULL,
                _ => self.resolve(range, "a vertex buffer").unwrap_or(BufferRange::NULL),
            };
            self.encoder.set_vertex_buffer(binding, buffer);
        }
    }
}
