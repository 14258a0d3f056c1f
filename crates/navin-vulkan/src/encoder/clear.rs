//! Clears of attachments.
//!
//! A clear of everything before the first draw becomes the scope's load operation, other whole-component clears
//! `vkCmdClearAttachments`. Neither knows write masks, which NVN's clears do: a clear with a mask is a draw of a
//! triangle with the encoder's own shaders, in a scope with that attachment alone, after which the caller's state is
//! wanted again.

use std::sync::Arc;

use ash::vk;

use super::flush::fit_scissor;
use super::{
    Attachment, BlendAttachment, Depth, Dirty, DrawState, Encoder, Scissor, Stencil, StencilFace, Targets, Viewport,
};
use crate::format::{NumericClass, numeric_class};
use crate::gpu::Gpu;
use crate::layout::Layouts;
use crate::shader::{Interface, Shader, ShaderDesc, ShaderError, Stage};

/// Shaders of masked clears.
pub(crate) struct ClearKit {
    vertex: Arc<Shader>,
    /// Writes the layer too; where the device has no such vertex shaders, only layer 0 is cleared with a mask.
    layered: Option<Arc<Shader>>,
    float: Arc<Shader>,
    sint: Arc<Shader>,
    uint: Arc<Shader>,
}

impl ClearKit {
    fn new(gpu: &Arc<Gpu>, layouts: &Layouts) -> Result<Self, ShaderError> {
        let make = |stage, bytes: &[u8], label| {
            let spirv: Vec<u32> =
                bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
            let constant_banks = if stage == Stage::Fragment { 1 } else { 0 };
            let interface = Interface { constant_banks, ..Interface::default() };
            let next_stages = ShaderDesc::any_next(stage) & vk::ShaderStageFlags::FRAGMENT;
            Shader::with_gpu(gpu, layouts, &ShaderDesc { stage, spirv: &spirv, next_stages, interface, label })
        };
        let vertex = |bytes: &[u8]| make(Stage::Vertex, bytes, "clear, vertex");
        let fragment = |bytes: &[u8]| make(Stage::Fragment, bytes, "clear, fragment");
        Ok(Self {
            vertex: vertex(include_bytes!("../../shaders/clear.vert.spv"))?,
            layered: match gpu.features.vertex_layer {
                true => Some(vertex(include_bytes!("../../shaders/clear_layered.vert.spv"))?),
                false => None,
            },
            float: fragment(include_bytes!("../../shaders/clear_float.frag.spv"))?,
            sint: fragment(include_bytes!("../../shaders/clear_sint.frag.spv"))?,
            uint: fragment(include_bytes!("../../shaders/clear_uint.frag.spv"))?,
        })
    }
}

impl Encoder {
    /// Clears a colour attachment within `rect`, in all layers; components outside `mask` keep their values. The
    /// value's member must fit the format's class (float, signed, unsigned). Attachments that are not there are
    /// left out.
    pub fn clear_color(
        &mut self,
        attachment: usize,
        value: vk::ClearColorValue,
        mask: vk::ColorComponentFlags,
        rect: Scissor,
    ) {
        let present = self.targets.colors.get(attachment).is_some_and(Option::is_some);
        let Some(rect) = self.clear_rect(&rect).filter(|_| present && !mask.is_empty()) else { return };
        if !mask.contains(vk::ColorComponentFlags::RGBA) {
            self.masked_color_clear(attachment, value, mask, rect);
        } else if self.can_load_clear(&rect) {
            self.scope.colors[attachment] = Some(value);
        } else {
            let clear = vk::ClearAttachment::default()
                .aspect_mask(vk::ImageAspectFlags::COLOR)
                .color_attachment(attachment as u32)
                .clear_value(vk::ClearValue { color: value });
            self.clear_in_scope(clear, rect);
        }
    }

    /// Clears depth (clamped to 0..1) and/or stencil within `rect`, in all layers; stencil bits outside
    /// `stencil_mask` keep their values. Aspects that the attachment has not are left out.
    pub fn clear_depth_stencil(&mut self, depth: Option<f32>, stencil: Option<u32>, stencil_mask: u32, rect: Scissor) {
        let Some(attachment) = &self.targets.depth_stencil else { return };
        let aspects = attachment.view.desc().aspects;
        let depth = depth.filter(|depth| !depth.is_nan() && aspects.contains(vk::ImageAspectFlags::DEPTH));
        let stencil = stencil.filter(|_| aspects.contains(vk::ImageAspectFlags::STENCIL) && stencil_mask & 0xff != 0);
        let Some(rect) = self.clear_rect(&rect) else { return };
        let depth = depth.map(|depth| depth.clamp(0.0, 1.0));
        let masked = stencil.filter(|_| stencil_mask & 0xff != 0xff);
        let whole = stencil.filter(|_| masked.is_none());
        if (depth.is_some() || whole.is_some()) && self.can_load_clear(&rect) {
            self.scope.depth = depth.or(self.scope.depth);
            self.scope.stencil = whole.or(self.scope.stencil);
        } else if depth.is_some() || whole.is_some() {
            let mut aspects = vk::ImageAspectFlags::empty();
            if depth.is_some() {
                aspects |= vk::ImageAspectFlags::DEPTH;
            }
            if whole.is_some() {
                aspects |= vk::ImageAspectFlags::STENCIL;
            }
            let depth_stencil = vk::ClearDepthStencilValue { depth: depth.unwrap_or(0.0), stencil: whole.unwrap_or(0) };
            let clear =
                vk::ClearAttachment::default().aspect_mask(aspects).clear_value(vk::ClearValue { depth_stencil });
            self.clear_in_scope(clear, rect);
        }
        if let Some(value) = masked {
            self.masked_stencil_clear(value, stencil_mask, rect);
        }
    }

    /// The rectangle inside the attachments; nothing when it is empty, or when no scope can be opened over them.
    fn clear_rect(&self, rect: &Scissor) -> Option<vk::Rect2D> {
        if self.scope.mixed_samples {
            navin_abi::fault!("", "attachments differ in their sample counts: their clears are left out");
            return None;
        }
        let mut rect = fit_scissor(rect);
        let area = self.scope.area;
        let cut = |offset: i32, length: u32, size: u32| length.min(size.saturating_sub(offset as u32));
        rect.extent.width = cut(rect.offset.x, rect.extent.width, area.width);
        rect.extent.height = cut(rect.offset.y, rect.extent.height, area.height);
        (rect.extent.width > 0 && rect.extent.height > 0).then_some(rect)
    }

    /// Whether a clear can be the load operation of the scope that opens next: it covers everything, and neither an
    /// open scope nor a condition stands in between. Attachments larger than the common area keep what is outside it
    /// either way.
    fn can_load_clear(&self, rect: &vk::Rect2D) -> bool {
        let whole = vk::Rect2D { offset: vk::Offset2D::default(), extent: self.scope.area };
        !self.scope.open && self.condition.is_none() && *rect == whole
    }

    fn clear_in_scope(&mut self, clear: vk::ClearAttachment, rect: vk::Rect2D) {
        self.begin_rendering();
        let rects = [vk::ClearRect { rect, base_array_layer: 0, layer_count: self.scope.layers }];
        // SAFETY: a scope is open whose attachments hold the rectangle and the layers.
        unsafe { self.gpu.device.cmd_clear_attachments(self.commands, &[clear], &rects) };
    }

    fn clear_kit(&mut self) -> Option<Arc<ClearKit>> {
        let mut kit = self.shared.clear_kit.lock();
        if kit.is_none() {
            match ClearKit::new(&self.gpu, &self.shared.layouts) {
                Ok(made) => *kit = Some(Arc::new(made)),
                Err(error) => {
                    navin_abi::fault!("", "no shaders for clears with masks, which are left out: {error}");
                }
            }
        }
        kit.clone()
    }

    fn masked_color_clear(
        &mut self,
        index: usize,
        value: vk::ClearColorValue,
        mask: vk::ColorComponentFlags,
        rect: vk::Rect2D,
    ) {
        let (Some(kit), Some(Some(attachment))) = (self.clear_kit(), self.targets.colors.get(index)) else { return };
        let view = attachment.view.clone();
        let fragment = match numeric_class(view.desc().format) {
            NumericClass::Float => &kit.float,
            NumericClass::Sint => &kit.sint,
            NumericClass::Uint => &kit.uint,
        };
        // SAFETY: all members of the union are four words, each of which is a valid value of any of them.
        let words = unsafe { value.uint32 };
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let alignment = self.gpu.limits.uniform_offset_alignment;
        let constants = match self.upload(&bytes, alignment) {
            Ok(slice) => slice.range,
            Err(error) => {
                tracing::error!("clearing with a mask: {error}");
                return self.fail(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
            }
        };
        let targets = Targets { colors: [Some(Attachment::new(view))].into_iter().collect(), depth_stencil: None };
        let mut state = clear_state(rect, &kit, self.scope.layers, Some(fragment));
        state.blend.attachments[0] = BlendAttachment { write_mask: mask, ..BlendAttachment::default() };
        let before = self.bindings[Stage::Fragment as usize].ranges[0];
        self.set_constants(Stage::Fragment, 0, constants);
        self.draw_clear(targets, state);
        self.set_constants(Stage::Fragment, 0, before);
    }

    fn masked_stencil_clear(&mut self, value: u32, mask: u32, rect: vk::Rect2D) {
        let (Some(kit), Some(attachment)) = (self.clear_kit(), &self.targets.depth_stencil) else { return };
        let targets =
            Targets { colors: Default::default(), depth_stencil: Some(Attachment::new(attachment.view.clone())) };
        let mut state = clear_state(rect, &kit, self.scope.layers, None);
        let face = StencilFace {
            fail: vk::StencilOp::REPLACE,
            pass: vk::StencilOp::REPLACE,
            depth_fail: vk::StencilOp::REPLACE,
            compare: vk::CompareOp::ALWAYS,
            compare_mask: 0xff,
            write_mask: mask & 0xff,
            reference: value & 0xff,
        };
        state.stencil = Stencil { test: true, front: face, back: face };
        self.draw_clear(targets, state);
    }

    /// Draws the triangle with `state` into `targets`, then wants the caller's state and targets again.
    fn draw_clear(&mut self, targets: Targets, state: DrawState) {
        // Load operations of the caller's attachments must not come after the clear: open and close the scope.
        self.begin_rendering();
        let instances = if self.gpu.features.vertex_layer { self.scope.layers } else { 1 };
        let (targets, _) = self.swap_targets(targets, false);
        let state = self.swap_state(state);
        self.uncounted(|encoder| {
            if let Err(error) = encoder.draw(0, 3, 0, instances) {
                tracing::error!("clearing with a mask: {error}");
            }
            encoder.end_rendering();
        });
        self.swap_state(state);
        self.swap_targets(targets, false);
    }

    /// Wants another state; gives the one wanted before.
    pub(super) fn swap_state(&mut self, state: DrawState) -> DrawState {
        let before = std::mem::replace(&mut self.want, state);
        self.dirty = Dirty::all();
        for stage in Stage::GRAPHICS {
            let shader = &self.want.shaders[stage as usize];
            self.bindings[stage as usize].used = shader.as_ref().map_or(0, |shader| shader.mask());
        }
        before
    }
}

/// The state of a clearing draw: everything off but what the caller switches on.
fn clear_state(rect: vk::Rect2D, kit: &ClearKit, layers: u32, fragment: Option<&Arc<Shader>>) -> DrawState {
    let mut state = DrawState { viewport_count: 1, depth: Depth::default(), ..DrawState::default() };
    state.viewports[0] = Viewport {
        x: rect.offset.x as f32,
        y: rect.offset.y as f32,
        width: rect.extent.width as f32,
        height: rect.extent.height as f32,
        min_depth: 0.0,
        max_depth: 1.0,
    };
    state.scissors[0] =
        Scissor { x: rect.offset.x, y: rect.offset.y, width: rect.extent.width, height: rect.extent.height };
    let vertex = match &kit.layered {
        Some(layered) if layers > 1 => layered,
        _ => &kit.vertex,
    };
    state.shaders[Stage::Vertex as usize] = Some(vertex.clone());
    state.shaders[Stage::Fragment as usize] = fragment.cloned();
    state
}
