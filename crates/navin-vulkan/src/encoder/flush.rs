//! From wanted state to commands: each dirty group is compared part by part with what the command buffer has.
//!
//! `VK_EXT_shader_object` leaves no state undefined at a draw, so a group that was never emitted is emitted whole
//! ([`Emitted::known`]). What the device cannot do is replaced here, at the last moment, by what `navin doctor`
//! lists.

use ash::vk;

use super::{BlendAttachment, Dirty, DrawError, Encoder, MAX_COLOR_ATTACHMENTS, MAX_VERTEX_ATTRIBUTES, MAX_VIEWPORTS};
use super::{BufferRange, MAX_VERTEX_BINDINGS, StencilFace, VertexInput};
use crate::layout::STAGE_SETS;
use crate::shader::{InputClass, Stage};

/// Binding of the buffer that inputs without an attribute read; one past the guest's.
const DEFAULT_BINDING: u32 = MAX_VERTEX_BINDINGS as u32;

/// What the command buffer has.
pub(super) struct Emitted {
    /// Groups that were emitted at least once.
    known: Dirty,
    viewports: [vk::Viewport; MAX_VIEWPORTS],
    scissors: [vk::Rect2D; MAX_VIEWPORTS],
    viewport_count: usize,
    assembly: super::InputAssembly,
    raster: super::Rasterization,
    depth: super::Depth,
    stencil: super::Stencil,
    blend: super::Blend,
    multisample: super::Multisample,
    vertex_input: VertexInput,
    /// By location: 0 an attribute or nothing, else the class of the default that is read, plus 1.
    defaults: [u8; MAX_VERTEX_ATTRIBUTES],
    vertex_buffers: [BufferRange; MAX_VERTEX_BINDINGS],
    /// Bindings that the emitted vertex input reads, and those whose buffer was ever bound.
    vertex_bindings: u32,
    vertex_bound: u32,
    shaders: [vk::ShaderEXT; 5],
}

impl Default for Emitted {
    fn default() -> Self {
        Self {
            known: Dirty::empty(),
            viewports: [vk::Viewport::default(); MAX_VIEWPORTS],
            scissors: [vk::Rect2D::default(); MAX_VIEWPORTS],
            viewport_count: 0,
            assembly: Default::default(),
            raster: Default::default(),
            depth: Default::default(),
            stencil: Default::default(),
            blend: Default::default(),
            multisample: Default::default(),
            vertex_input: Default::default(),
            defaults: [0; MAX_VERTEX_ATTRIBUTES],
            vertex_buffers: [BufferRange::NULL; MAX_VERTEX_BINDINGS],
            vertex_bindings: 0,
            vertex_bound: 0,
            shaders: [vk::ShaderEXT::null(); 5],
        }
    }
}

/// Issues a state command and counts it.
macro_rules! emit {
    ($self:ident, $call:expr) => {{
        // SAFETY: the command buffer is recording; the values were brought inside the device's limits.
        unsafe { $call };
        $self.counters.state_commands += 1;
    }};
}

impl Encoder {
    /// Emits what changed since the last draw.
    pub(super) fn flush(&mut self) {
        let dirty = self.dirty;
        if dirty == Dirty::CONSTANTS {
            self.flush_constants();
            self.dirty = Dirty::empty();
            return;
        }
        if dirty.intersects(Dirty::VIEWPORTS) {
            self.flush_viewports();
        }
        if dirty.intersects(Dirty::ASSEMBLY) {
            self.flush_assembly();
        }
        if dirty.intersects(Dirty::RASTER) {
            self.flush_raster();
        }
        if dirty.intersects(Dirty::DEPTH) {
            self.flush_depth();
        }
        if dirty.intersects(Dirty::STENCIL) {
            self.flush_stencil();
        }
        if dirty.intersects(Dirty::BLEND) {
            self.flush_blend();
        }
        if dirty.intersects(Dirty::MULTISAMPLE) {
            self.flush_multisample();
        }
        if dirty.intersects(Dirty::SHADERS) {
            self.flush_shaders();
        }
        if dirty.intersects(Dirty::VERTEX_INPUT | Dirty::SHADERS) {
            self.flush_vertex_input();
        }
        // The vertex input says which of them matter.
        if dirty.intersects(Dirty::VERTEX_BUFFERS | Dirty::VERTEX_INPUT | Dirty::SHADERS) {
            self.flush_vertex_buffers();
        }
        if dirty.intersects(Dirty::INDEX_BUFFER) {
            self.flush_index_buffer();
        }
        if dirty.intersects(Dirty::CONSTANTS) {
            self.flush_constants();
        }
        self.emitted.known |= dirty;
        self.dirty = Dirty::empty();
    }

    /// Whether all parts of a group must be emitted.
    fn first(&self, group: Dirty) -> bool {
        !self.emitted.known.contains(group)
    }

    fn flush_viewports(&mut self) {
        let count = self.want.viewport_count;
        let mut viewports = [vk::Viewport::default(); MAX_VIEWPORTS];
        let mut scissors = [vk::Rect2D::default(); MAX_VIEWPORTS];
        for index in 0..count {
            let (viewport, visible) = self.fit_viewport(index);
            viewports[index] = viewport;
            scissors[index] = if visible { fit_scissor(&self.want.scissors[index]) } else { vk::Rect2D::default() };
        }
        let first = self.first(Dirty::VIEWPORTS) || self.emitted.viewport_count != count;
        let so = &self.gpu.shader_object;
        if first || !same_viewports(&viewports[..count], &self.emitted.viewports[..count]) {
            emit!(self, so.cmd_set_viewport_with_count(self.commands, &viewports[..count]));
            self.emitted.viewports = viewports;
        }
        if first || scissors[..count] != self.emitted.scissors[..count] {
            emit!(self, so.cmd_set_scissor_with_count(self.commands, &scissors[..count]));
            self.emitted.scissors = scissors;
        }
        self.emitted.viewport_count = count;
    }

    /// The viewport inside the device's limits, and whether it shows anything.
    fn fit_viewport(&self, index: usize) -> (vk::Viewport, bool) {
        let limits = &self.gpu.device_limits;
        let [low, high] = limits.viewport_bounds_range;
        let [most_width, most_height] = limits.max_viewport_dimensions.map(|size| size as f32);
        let want = &self.want.viewports[index];
        let numbers = [want.x, want.y, want.width, want.height, want.min_depth, want.max_depth];
        if numbers.iter().any(|number| !number.is_finite()) || want.width <= 0.0 || want.height == 0.0 {
            return (vk::Viewport { width: 1.0, height: 1.0, max_depth: 1.0, ..Default::default() }, false);
        }
        let x = want.x.clamp(low, high - 1.0);
        let width = want.width.min(most_width).min(high - x);
        let (y, height) = if want.height > 0.0 {
            let y = want.y.clamp(low, high - 1.0);
            (y, want.height.min(most_height).min(high - y))
        } else {
            let y = want.y.clamp(low + 1.0, high);
            (y, want.height.max(-most_height).max(low - y))
        };
        let depth = |value: f32| {
            if self.gpu.features.depth_range_unrestricted { value } else { value.clamp(0.0, 1.0) }
        };
        let viewport =
            vk::Viewport { x, y, width, height, min_depth: depth(want.min_depth), max_depth: depth(want.max_depth) };
        (viewport, true)
    }

    fn flush_assembly(&mut self) {
        let first = self.first(Dirty::ASSEMBLY);
        let features = &self.gpu.features;
        let mut want = self.want.assembly;
        want.primitive_restart &= match want.topology {
            vk::PrimitiveTopology::LINE_STRIP
            | vk::PrimitiveTopology::TRIANGLE_STRIP
            | vk::PrimitiveTopology::TRIANGLE_FAN
            | vk::PrimitiveTopology::LINE_STRIP_WITH_ADJACENCY
            | vk::PrimitiveTopology::TRIANGLE_STRIP_WITH_ADJACENCY => true,
            vk::PrimitiveTopology::PATCH_LIST => features.patch_restart,
            _ => features.list_restart,
        };
        want.patch_control_points =
            want.patch_control_points.clamp(1, self.gpu.device_limits.max_tessellation_patch_size.max(1));
        let have = self.emitted.assembly;
        let so = &self.gpu.shader_object;
        if first || want.topology != have.topology {
            emit!(self, so.cmd_set_primitive_topology(self.commands, want.topology));
        }
        if first || want.primitive_restart != have.primitive_restart {
            emit!(self, so.cmd_set_primitive_restart_enable(self.commands, want.primitive_restart));
        }
        if features.tessellation && (first || want.patch_control_points != have.patch_control_points) {
            emit!(self, so.cmd_set_patch_control_points(self.commands, want.patch_control_points));
        }
        self.emitted.assembly = want;
    }

    fn flush_raster(&mut self) {
        let first = self.first(Dirty::RASTER);
        let features = self.gpu.features;
        let mut want = self.want.raster;
        if !features.polygon_modes {
            want.polygon_mode = vk::PolygonMode::FILL;
        }
        want.depth_clamp &= features.depth_clamp;
        let [thin, wide] = self.gpu.device_limits.line_width_range;
        want.line_width =
            if !features.wide_lines || want.line_width.is_nan() { 1.0 } else { want.line_width.clamp(thin, wide) };
        let line_mode_known = match want.line_mode {
            vk::LineRasterizationModeEXT::RECTANGULAR => features.lines_rectangular,
            vk::LineRasterizationModeEXT::BRESENHAM => features.lines_bresenham,
            vk::LineRasterizationModeEXT::RECTANGULAR_SMOOTH => features.lines_smooth,
            _ => false,
        };
        if !line_mode_known {
            want.line_mode = vk::LineRasterizationModeEXT::DEFAULT;
        }
        if let Some(bias) = &mut want.depth_bias
            && !features.depth_bias_clamp
        {
            bias.clamp = 0.0;
        }
        let have = self.emitted.raster;
        let so = &self.gpu.shader_object;
        let commands = self.commands;
        if first || want.discard != have.discard {
            emit!(self, so.cmd_set_rasterizer_discard_enable(commands, want.discard));
        }
        if first || want.cull_mode != have.cull_mode {
            emit!(self, so.cmd_set_cull_mode(commands, want.cull_mode));
        }
        if first || want.front_face != have.front_face {
            emit!(self, so.cmd_set_front_face(commands, want.front_face));
        }
        if first || want.polygon_mode != have.polygon_mode {
            emit!(self, so.cmd_set_polygon_mode(commands, want.polygon_mode));
        }
        if first || want.depth_bias != have.depth_bias {
            if first || want.depth_bias.is_some() != have.depth_bias.is_some() {
                emit!(self, so.cmd_set_depth_bias_enable(commands, want.depth_bias.is_some()));
            }
            let bias = want.depth_bias.unwrap_or_default();
            emit!(self, self.gpu.device.cmd_set_depth_bias(commands, bias.constant, bias.clamp, bias.slope));
        }
        if first || want.depth_clamp != have.depth_clamp {
            emit!(self, so.cmd_set_depth_clamp_enable(commands, want.depth_clamp));
        }
        if features.depth_clip_enable && (first || want.depth_clip != have.depth_clip) {
            emit!(self, so.cmd_set_depth_clip_enable(commands, want.depth_clip));
        }
        if features.depth_clip_control && (first || want.negative_one_to_one != have.negative_one_to_one) {
            emit!(self, so.cmd_set_depth_clip_negative_one_to_one(commands, want.negative_one_to_one));
        }
        if first || want.line_width != have.line_width {
            emit!(self, self.gpu.device.cmd_set_line_width(commands, want.line_width));
        }
        if features.lines_rectangular || features.lines_bresenham || features.lines_smooth {
            if first || want.line_mode != have.line_mode {
                emit!(self, so.cmd_set_line_rasterization_mode(commands, want.line_mode));
            }
            if first {
                emit!(self, so.cmd_set_line_stipple_enable(commands, false));
            }
        }
        if features.provoking_vertex && (first || want.provoking_vertex != have.provoking_vertex) {
            emit!(self, so.cmd_set_provoking_vertex_mode(commands, want.provoking_vertex));
        }
        if features.tessellation && (first || want.domain_origin != have.domain_origin) {
            emit!(self, so.cmd_set_tessellation_domain_origin(commands, want.domain_origin));
        }
        self.emitted.raster = want;
    }

    fn flush_depth(&mut self) {
        let first = self.first(Dirty::DEPTH);
        let mut want = self.want.depth;
        if !self.gpu.features.depth_bounds {
            want.bounds = None;
        }
        let have = self.emitted.depth;
        let so = &self.gpu.shader_object;
        let commands = self.commands;
        if first || want.test != have.test {
            emit!(self, so.cmd_set_depth_test_enable(commands, want.test));
        }
        if first || want.write != have.write {
            emit!(self, so.cmd_set_depth_write_enable(commands, want.write));
        }
        if first || want.compare != have.compare {
            emit!(self, so.cmd_set_depth_compare_op(commands, want.compare));
        }
        if first || want.bounds.is_some() != have.bounds.is_some() {
            emit!(self, so.cmd_set_depth_bounds_test_enable(commands, want.bounds.is_some()));
        }
        if let Some((low, high)) = want.bounds
            && (first || want.bounds != have.bounds)
        {
            let free = self.gpu.features.depth_range_unrestricted;
            let fit = |value: f32| if free { value } else { value.clamp(0.0, 1.0) };
            emit!(self, self.gpu.device.cmd_set_depth_bounds(commands, fit(low), fit(high)));
        }
        self.emitted.depth = want;
    }

    fn flush_stencil(&mut self) {
        let first = self.first(Dirty::STENCIL);
        let want = self.want.stencil;
        let have = self.emitted.stencil;
        let so = &self.gpu.shader_object;
        if first || want.test != have.test {
            emit!(self, so.cmd_set_stencil_test_enable(self.commands, want.test));
        }
        if first || want.front != have.front || want.back != have.back {
            if want.front == want.back {
                let both = vk::StencilFaceFlags::FRONT_AND_BACK;
                let same = have.front == have.back;
                self.flush_stencil_face(both, &want.front, (!first && same).then_some(have.front));
            } else {
                self.flush_stencil_face(vk::StencilFaceFlags::FRONT, &want.front, (!first).then_some(have.front));
                self.flush_stencil_face(vk::StencilFaceFlags::BACK, &want.back, (!first).then_some(have.back));
            }
        }
        self.emitted.stencil = want;
    }

    fn flush_stencil_face(&mut self, faces: vk::StencilFaceFlags, want: &StencilFace, have: Option<StencilFace>) {
        let so = &self.gpu.shader_object;
        let device = &self.gpu.device;
        let ops = |face: &StencilFace| (face.fail, face.pass, face.depth_fail, face.compare);
        if have.is_none_or(|have| ops(&have) != ops(want)) {
            let (fail, pass, depth_fail, compare) = ops(want);
            emit!(self, so.cmd_set_stencil_op(self.commands, faces, fail, pass, depth_fail, compare));
        }
        if have.is_none_or(|have| have.compare_mask != want.compare_mask) {
            emit!(self, device.cmd_set_stencil_compare_mask(self.commands, faces, want.compare_mask));
        }
        if have.is_none_or(|have| have.write_mask != want.write_mask) {
            emit!(self, device.cmd_set_stencil_write_mask(self.commands, faces, want.write_mask));
        }
        if have.is_none_or(|have| have.reference != want.reference) {
            emit!(self, device.cmd_set_stencil_reference(self.commands, faces, want.reference));
        }
    }

    fn flush_blend(&mut self) {
        let first = self.first(Dirty::BLEND);
        let features = &self.gpu.features;
        let mut want = self.want.blend;
        for (index, attachment) in want.attachments.iter_mut().enumerate() {
            attachment.enable &= self.scope.blendable & (1 << index) != 0;
            if !features.dual_source_blend {
                without_second_source(attachment);
            }
            if !features.advanced_blend {
                attachment.advanced = None;
            }
        }
        if !features.logic_op {
            want.logic_op = None;
        }
        let have = &self.emitted.blend;
        let so = &self.gpu.shader_object;
        let commands = self.commands;
        let count = (self.gpu.device_limits.max_color_attachments as usize).min(MAX_COLOR_ATTACHMENTS);
        let (now, before) = (&want.attachments[..count], &have.attachments[..count]);
        let differs = |same: fn(&BlendAttachment, &BlendAttachment) -> bool| {
            first || now.iter().zip(before).any(|(a, b)| !same(a, b))
        };
        let (enables, equations, masks) = (
            differs(|a, b| a.enable == b.enable),
            differs(|a, b| BlendAttachment { enable: b.enable, write_mask: b.write_mask, ..*a } == *b),
            differs(|a, b| a.write_mask == b.write_mask),
        );
        let (logic_enable, logic, constants) = (
            first || want.logic_op.is_some() != have.logic_op.is_some(),
            want.logic_op.filter(|_| first || want.logic_op != have.logic_op),
            first || want.constants.map(f32::to_bits) != have.constants.map(f32::to_bits),
        );
        if enables {
            let mut list = [vk::FALSE; MAX_COLOR_ATTACHMENTS];
            for (out, attachment) in list.iter_mut().zip(now) {
                *out = attachment.enable.into();
            }
            emit!(self, so.cmd_set_color_blend_enable(commands, 0, &list[..count]));
        }
        if equations {
            let list: [_; MAX_COLOR_ATTACHMENTS] = want.attachments.map(|a| vk::ColorBlendEquationEXT {
                src_color_blend_factor: a.src_color,
                dst_color_blend_factor: a.dst_color,
                color_blend_op: a.color_op,
                src_alpha_blend_factor: a.src_alpha,
                dst_alpha_blend_factor: a.dst_alpha,
                alpha_blend_op: a.alpha_op,
            });
            emit!(self, so.cmd_set_color_blend_equation(commands, 0, &list[..count]));
            for (index, attachment) in want.attachments[..count].iter().enumerate() {
                let Some(advanced) = attachment.advanced else { continue };
                let equation = vk::ColorBlendAdvancedEXT {
                    advanced_blend_op: advanced.op,
                    src_premultiplied: advanced.src_premultiplied.into(),
                    dst_premultiplied: advanced.dst_premultiplied.into(),
                    blend_overlap: advanced.overlap,
                    clamp_results: vk::FALSE,
                };
                emit!(self, so.cmd_set_color_blend_advanced(commands, index as u32, &[equation]));
            }
        }
        if masks {
            let list = want.attachments.map(|a| a.write_mask);
            emit!(self, so.cmd_set_color_write_mask(commands, 0, &list[..count]));
        }
        if logic_enable {
            emit!(self, so.cmd_set_logic_op_enable(commands, want.logic_op.is_some()));
        }
        if let Some(op) = logic {
            emit!(self, so.cmd_set_logic_op(commands, op));
        }
        if constants {
            emit!(self, self.gpu.device.cmd_set_blend_constants(commands, &want.constants));
        }
        self.emitted.blend = want;
    }

    fn flush_multisample(&mut self) {
        let first = self.first(Dirty::MULTISAMPLE);
        let mut want = self.want.multisample;
        if let Some(samples) = self.scope.samples {
            want.samples = samples;
        }
        if want.samples.as_raw().count_ones() != 1 || want.samples.as_raw() > 64 {
            want.samples = vk::SampleCountFlags::TYPE_1;
        }
        want.alpha_to_one &= self.gpu.features.alpha_to_one;
        let have = self.emitted.multisample;
        let so = &self.gpu.shader_object;
        let commands = self.commands;
        if first || want.samples != have.samples {
            emit!(self, so.cmd_set_rasterization_samples(commands, want.samples));
        }
        if first || want.samples != have.samples || want.mask != have.mask {
            // 64 samples need two words; the second repeats the first.
            let words = [want.mask; 2];
            emit!(
                self,
                so.cmd_set_sample_mask(commands, want.samples, &words[..1.max(want.samples.as_raw() as usize / 32)])
            );
        }
        if first || want.alpha_to_coverage != have.alpha_to_coverage {
            emit!(self, so.cmd_set_alpha_to_coverage_enable(commands, want.alpha_to_coverage));
        }
        if first || want.alpha_to_one != have.alpha_to_one {
            emit!(self, so.cmd_set_alpha_to_one_enable(commands, want.alpha_to_one));
        }
        self.emitted.multisample = want;
    }

    fn flush_shaders(&mut self) {
        self.count_stages();
        let first = self.first(Dirty::SHADERS);
        let mut stages = [vk::ShaderStageFlags::empty(); 5];
        let mut shaders = [vk::ShaderEXT::null(); 5];
        let mut count = 0;
        for stage in Stage::GRAPHICS {
            let present = match stage {
                Stage::TessControl | Stage::TessEvaluation => self.gpu.features.tessellation,
                Stage::Geometry => self.gpu.features.geometry,
                _ => true,
            };
            let index = stage as usize;
            let raw = self.want.shaders[index].as_ref().map_or(vk::ShaderEXT::null(), |shader| shader.raw());
            if present && (first || raw != self.emitted.shaders[index]) {
                self.emitted.shaders[index] = raw;
                stages[count] = stage.flag();
                shaders[count] = raw;
                count += 1;
            }
        }
        if count > 0 {
            let so = &self.gpu.shader_object;
            // SAFETY: shaders are alive (the wanted state holds them) and of their stages; null unbinds.
            unsafe { so.cmd_bind_shaders(self.commands, &stages[..count], &shaders[..count]) };
            self.counters.shader_binds += 1;
        }
    }

    /// Which inputs of the vertex shader have no attribute, by location: class + 1.
    fn missing_inputs(&self) -> [u8; MAX_VERTEX_ATTRIBUTES] {
        let mut missing = [0; MAX_VERTEX_ATTRIBUTES];
        let Some(shader) = &self.want.shaders[Stage::Vertex as usize] else { return missing };
        for (location, class) in &shader.interface().vertex_inputs {
            let location = *location as usize;
            let attribute = self.want.vertex_input.attributes.get(location).copied().flatten();
            if location < MAX_VERTEX_ATTRIBUTES && attribute.is_none_or(|a| !self.can_fetch(a.format)) {
                missing[location] = 1 + match class {
                    InputClass::Float => 0,
                    InputClass::Sint => 1,
                    InputClass::Uint => 2,
                };
            }
        }
        missing
    }

    fn can_fetch(&self, format: vk::Format) -> bool {
        let can = self.gpu.format_features(format).1.contains(vk::FormatFeatureFlags2::VERTEX_BUFFER);
        if !can {
            navin_abi::fault!(
                key = format.as_raw(),
                "",
                "the device fetches no vertices of {format:?}; the attribute reads (0, 0, 0, 1)"
            );
        }
        can
    }

    fn flush_vertex_input(&mut self) {
        let first = self.first(Dirty::VERTEX_INPUT);
        let missing = self.missing_inputs();
        if !first && missing == self.emitted.defaults && self.want.vertex_input == self.emitted.vertex_input {
            return;
        }
        let limits = &self.gpu.device_limits;
        let features = &self.gpu.features;
        let mut attributes = [vk::VertexInputAttributeDescription2EXT::default(); MAX_VERTEX_ATTRIBUTES];
        let mut count = 0;
        let mut used = 0u32;
        let default_fits = limits.max_vertex_input_bindings > DEFAULT_BINDING;
        for (location, missing) in missing.into_iter().enumerate() {
            let description = vk::VertexInputAttributeDescription2EXT::default().location(location as u32);
            let attribute = self.want.vertex_input.attributes[location];
            attributes[count] = match (missing, attribute) {
                (0, Some(a)) if usize::from(a.binding) < MAX_VERTEX_BINDINGS && self.can_fetch(a.format) => {
                    used |= 1 << a.binding;
                    description
                        .binding(a.binding.into())
                        .format(a.format)
                        .offset(a.offset.min(limits.max_vertex_input_attribute_offset))
                }
                (class @ 1.., _) if default_fits => {
                    used |= 1 << DEFAULT_BINDING;
                    let (format, offset) = match class {
                        1 => (vk::Format::R32G32B32A32_SFLOAT, 0),
                        2 => (vk::Format::R32G32B32A32_SINT, 16),
                        _ => (vk::Format::R32G32B32A32_UINT, 16),
                    };
                    description.binding(DEFAULT_BINDING).format(format).offset(offset)
                }
                _ => continue,
            };
            count += 1;
        }
        let mut bindings = [vk::VertexInputBindingDescription2EXT::default(); MAX_VERTEX_BINDINGS + 1];
        let mut binding_count = 0;
        for binding in (0..=DEFAULT_BINDING).filter(|binding| used & (1 << binding) != 0) {
            let want = self.want.vertex_input.bindings.get(binding as usize).copied().unwrap_or_default();
            let divisor = match want.divisor {
                0 => 1,
                n if features.vertex_divisor => n,
                _ => 1,
            };
            bindings[binding_count] = vk::VertexInputBindingDescription2EXT::default()
                .binding(binding)
                .stride(want.stride.min(limits.max_vertex_input_binding_stride))
                .input_rate(if want.divisor == 0 { vk::VertexInputRate::VERTEX } else { vk::VertexInputRate::INSTANCE })
                .divisor(divisor);
            binding_count += 1;
        }
        let so = &self.gpu.shader_object;
        emit!(self, so.cmd_set_vertex_input(self.commands, &bindings[..binding_count], &attributes[..count]));
        if used & (1 << DEFAULT_BINDING) != 0 {
            let defaults = &self.shared.default_attributes;
            // SAFETY: the buffer lives as long as the queue.
            unsafe {
                so.cmd_bind_vertex_buffers2(
                    self.commands,
                    DEFAULT_BINDING,
                    &[defaults.raw()],
                    &[0],
                    Some(&[defaults.size()]),
                    None,
                );
            }
            self.counters.buffer_binds += 1;
        }
        self.emitted.known |= Dirty::VERTEX_INPUT;
        self.emitted.vertex_bindings = used & ((1 << MAX_VERTEX_BINDINGS) - 1);
        self.emitted.defaults = missing;
        self.emitted.vertex_input = self.want.vertex_input.clone();
    }

    /// Binds the buffers that the vertex input reads: rebinding the others as well costs a submission sixteen binds
    /// (and llvmpipe of Mesa 25.0 half a kilobyte each, which it never frees).
    fn flush_vertex_buffers(&mut self) {
        if self.first(Dirty::VERTEX_BUFFERS) {
            self.emitted.vertex_bound = 0;
        }
        let (want, have) = (&self.want.vertex_buffers, &mut self.emitted.vertex_buffers);
        let (read, bound) = (self.emitted.vertex_bindings, self.emitted.vertex_bound);
        let differs = |binding: &usize| {
            read >> *binding & 1 != 0 && (bound >> *binding & 1 == 0 || want[*binding] != have[*binding])
        };
        let Some(low) = (0..MAX_VERTEX_BINDINGS).find(differs) else { return };
        let high = (0..MAX_VERTEX_BINDINGS).rev().find(differs).unwrap_or(low);
        // No buffer is a word of 0, behind which all reads 0 too: llvmpipe (Mesa 25.0) fetches 8-bit attributes of a
        // null buffer, and of one of no bytes, from address 0.
        let mut buffers = [self.shared.default_attributes.raw(); MAX_VERTEX_BINDINGS];
        let mut offsets = [0; MAX_VERTEX_BINDINGS];
        let mut sizes = [size_of::<u32>() as u64; MAX_VERTEX_BINDINGS];
        let mut whole = false;
        for binding in low..=high {
            let range = &want[binding];
            if !range.is_null() && range.size > 0 {
                whole |= range.size == vk::WHOLE_SIZE;
                (buffers[binding], offsets[binding], sizes[binding]) = (range.buffer, range.offset, range.size);
            }
            have[binding] = *range;
        }
        let span = low..high + 1;
        // The whole-size marker is no valid size here before maintenance5; without sizes all reach to their ends.
        let sizes = (!whole).then_some(&sizes[span.clone()]);
        let so = &self.gpu.shader_object;
        // SAFETY: the callers' buffers are alive, and ours lives as long as the queue.
        unsafe {
            so.cmd_bind_vertex_buffers2(self.commands, low as u32, &buffers[span.clone()], &offsets[span], sizes, None);
        }
        self.counters.buffer_binds += 1;
        self.emitted.vertex_bound |= (2 << high) - (1 << low);
        self.emitted.known |= Dirty::VERTEX_BUFFERS;
    }

    fn flush_index_buffer(&mut self) {
        let Some(index) = self.want.index.filter(|index| !index.range.is_null()) else { return };
        // SAFETY: the caller's buffer is alive.
        unsafe {
            self.gpu.device.cmd_bind_index_buffer(self.commands, index.range.buffer, index.range.offset, index.kind);
        }
        self.counters.buffer_binds += 1;
    }

    fn flush_constants(&mut self) {
        for stage in Stage::GRAPHICS {
            let bindings = &self.bindings[stage as usize];
            if bindings.used & !bindings.written != 0 {
                self.write_constants(stage, vk::PipelineBindPoint::GRAPHICS);
            }
        }
    }

    /// Writes the bindings that the stage's shader uses into a fresh set and binds it.
    pub(super) fn write_constants(&mut self, stage: Stage, point: vk::PipelineBindPoint) {
        let shader = match stage {
            Stage::Compute => &self.compute,
            _ => &self.want.shaders[stage as usize],
        };
        let (Some(shader), Some(frame)) = (shader, &mut self.frame) else { return };
        let index = stage.set() as usize - 1;
        debug_assert!(index < STAGE_SETS);
        let layouts = &self.shared.layouts;
        let set = match frame.set(layouts, index) {
            Ok(set) => set,
            Err(error) => return self.fail(error),
        };
        let bindings = &mut self.bindings[stage as usize];
        // SAFETY: nothing in flight uses the set (see `Frame`); the template reads at most STAGE_BINDINGS ranges,
        // whose layout is that of descriptor buffer infos (asserted in `layout`), and the buffers are alive or null.
        unsafe {
            self.gpu.device.update_descriptor_set_with_template(
                set,
                shader.template(),
                bindings.ranges.as_ptr().cast(),
            );
            let device = &self.gpu.device;
            device.cmd_bind_descriptor_sets(self.commands, point, layouts.pipeline, 1 + index as u32, &[set], &[]);
        }
        bindings.written = bindings.used;
        self.counters.constant_sets += 1;
    }

    /// Whether shaders, topology and targets make a draw possible.
    pub(super) fn check_drawable(&self) -> Result<(), DrawError> {
        let bound = |stage: Stage| self.want.shaders[stage as usize].is_some();
        if !bound(Stage::Vertex) {
            return Err(DrawError::NoShader);
        }
        let topology = self.want.assembly.topology;
        let patches = topology == vk::PrimitiveTopology::PATCH_LIST;
        if patches != bound(Stage::TessEvaluation) || bound(Stage::TessControl) != bound(Stage::TessEvaluation) {
            return Err(DrawError::Topology);
        }
        let adjacency = matches!(
            topology,
            vk::PrimitiveTopology::LINE_LIST_WITH_ADJACENCY
                | vk::PrimitiveTopology::LINE_STRIP_WITH_ADJACENCY
                | vk::PrimitiveTopology::TRIANGLE_LIST_WITH_ADJACENCY
                | vk::PrimitiveTopology::TRIANGLE_STRIP_WITH_ADJACENCY
        );
        if adjacency && !self.gpu.features.geometry {
            return Err(DrawError::Topology);
        }
        if self.scope.mixed_samples { Err(DrawError::SampleCounts) } else { Ok(()) }
    }
}

fn same_viewports(a: &[vk::Viewport], b: &[vk::Viewport]) -> bool {
    let words = |v: &vk::Viewport| [v.x, v.y, v.width, v.height, v.min_depth, v.max_depth].map(f32::to_bits);
    a.iter().zip(b).all(|(a, b)| words(a) == words(b))
}

/// The part of a scissor at non-negative coordinates, its end within what Vulkan can say.
pub(super) fn fit_scissor(scissor: &super::Scissor) -> vk::Rect2D {
    let span = |start: i32, length: u32| {
        let end = (i64::from(start) + i64::from(length)).clamp(0, i64::from(i32::MAX));
        let start = start.max(0);
        (start, (end - i64::from(start)).max(0) as u32)
    };
    let (x, width) = span(scissor.x, scissor.width);
    let (y, height) = span(scissor.y, scissor.height);
    vk::Rect2D { offset: vk::Offset2D { x, y }, extent: vk::Extent2D { width, height } }
}

/// Factors of a second colour output become those of the first.
fn without_second_source(attachment: &mut BlendAttachment) {
    for factor in
        [&mut attachment.src_color, &mut attachment.dst_color, &mut attachment.src_alpha, &mut attachment.dst_alpha]
    {
        *factor = match *factor {
            vk::BlendFactor::SRC1_COLOR => vk::BlendFactor::SRC_COLOR,
            vk::BlendFactor::ONE_MINUS_SRC1_COLOR => vk::BlendFactor::ONE_MINUS_SRC_COLOR,
            vk::BlendFactor::SRC1_ALPHA => vk::BlendFactor::SRC_ALPHA,
            vk::BlendFactor::ONE_MINUS_SRC1_ALPHA => vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
            other => other,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scissor;
    use super::*;

    #[test]
    fn scissors_are_cut_at_the_origin_and_at_the_end_of_the_number_line() {
        let rect = |x, y, width, height| {
            let fit = fit_scissor(&Scissor { x, y, width, height });
            (fit.offset.x, fit.offset.y, fit.extent.width, fit.extent.height)
        };
        assert_eq!(rect(0, 0, 8, 8), (0, 0, 8, 8));
        assert_eq!(rect(-3, -4, 8, 8), (0, 0, 5, 4));
        assert_eq!(rect(-30, 2, 8, 8), (0, 2, 0, 8));
        assert_eq!(rect(10, 0, u32::MAX, 1), (10, 0, i32::MAX as u32 - 10, 1));
        assert_eq!(rect(i32::MIN, i32::MAX, u32::MAX, u32::MAX), (0, i32::MAX, i32::MAX as u32, 0));
    }
}
