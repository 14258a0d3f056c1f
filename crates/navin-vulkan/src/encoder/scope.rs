//! Rendering scopes and barriers.
//!
//! Attachments are noted by [`Encoder::set_targets`] and a scope (dynamic rendering) is opened by the first draw or
//! clear. Whole clears that come before it become its load operation. A scope that was closed by a copy or barrier
//! opens again with its content loaded.

use ash::vk;

use super::{Attachment, Dirty, Encoder, MAX_COLOR_ATTACHMENTS, Targets};

/// What a barrier waits for or makes ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// Everything on the device.
    All,
    /// Everything on the device, and reads and writes of the CPU.
    AllAndHost,
    /// Attachment reads and writes.
    Attachments,
    /// Shader reads and writes, all graphics stages and compute.
    Shaders,
    /// Fragment shader reads only.
    FragmentReads,
    /// Copies.
    Transfer,
    /// Indirect parameters, index and vertex fetch, uniform reads.
    Fetch,
    /// The CPU.
    Host,
}

impl Access {
    fn scope(self) -> (vk::PipelineStageFlags2, vk::AccessFlags2) {
        use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
        match self {
            Self::All => (S::ALL_COMMANDS, A::MEMORY_READ | A::MEMORY_WRITE),
            Self::AllAndHost => {
                (S::ALL_COMMANDS | S::HOST, A::MEMORY_READ | A::MEMORY_WRITE | A::HOST_READ | A::HOST_WRITE)
            }
            Self::Attachments => (
                S::COLOR_ATTACHMENT_OUTPUT | S::EARLY_FRAGMENT_TESTS | S::LATE_FRAGMENT_TESTS,
                A::COLOR_ATTACHMENT_READ
                    | A::COLOR_ATTACHMENT_WRITE
                    | A::DEPTH_STENCIL_ATTACHMENT_READ
                    | A::DEPTH_STENCIL_ATTACHMENT_WRITE,
            ),
            Self::Shaders => (
                S::PRE_RASTERIZATION_SHADERS | S::FRAGMENT_SHADER | S::COMPUTE_SHADER,
                A::SHADER_READ | A::SHADER_WRITE | A::UNIFORM_READ,
            ),
            Self::FragmentReads => (S::FRAGMENT_SHADER, A::SHADER_READ | A::UNIFORM_READ),
            Self::Transfer => (S::ALL_TRANSFER, A::TRANSFER_READ | A::TRANSFER_WRITE),
            Self::Fetch => (
                S::DRAW_INDIRECT | S::VERTEX_INPUT | S::ALL_GRAPHICS | S::COMPUTE_SHADER,
                A::INDIRECT_COMMAND_READ | A::INDEX_READ | A::VERTEX_ATTRIBUTE_READ | A::UNIFORM_READ,
            ),
            Self::Host => (S::HOST, A::HOST_READ | A::HOST_WRITE),
        }
    }
}

/// Class of the last work recorded, for the encoder's own barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Nothing, or everything before is ordered by a full barrier.
    None,
    Render,
    Transfer,
    Compute,
}

/// The attachments' facts and what is pending on them.
pub(super) struct Scope {
    pub(super) open: bool,
    /// The given load operations were not used yet.
    fresh: bool,
    pub(super) colors: [Option<vk::ClearColorValue>; MAX_COLOR_ATTACHMENTS],
    pub(super) depth: Option<f32>,
    pub(super) stencil: Option<u32>,
    /// Bit i: attachment i has a format that can blend.
    pub(super) blendable: u32,
    /// Samples of the attachments, `None` without any.
    pub(super) samples: Option<vk::SampleCountFlags>,
    pub(super) mixed_samples: bool,
    /// Width and height that all attachments have.
    pub(super) area: vk::Extent2D,
    /// Layers that all attachments have.
    pub(super) layers: u32,
}

impl Default for Scope {
    fn default() -> Self {
        Self {
            open: false,
            fresh: true,
            colors: [None; MAX_COLOR_ATTACHMENTS],
            depth: None,
            stencil: None,
            blendable: 0,
            samples: None,
            mixed_samples: false,
            area: vk::Extent2D::default(),
            layers: 1,
        }
    }
}

impl Scope {
    pub(super) fn has_pending_clears(&self) -> bool {
        self.depth.is_some() || self.stencil.is_some() || self.colors.iter().any(Option::is_some)
    }
}

impl Encoder {
    /// Sets the attachments. Equal ones, with the same views and nothing to be done at their load, continue the
    /// scope. More than [`MAX_COLOR_ATTACHMENTS`] colours are cut.
    pub fn set_targets(&mut self, targets: Targets) {
        let loads = |targets: &Targets| {
            let all = targets.colors.iter().flatten().chain(&targets.depth_stencil);
            all.into_iter().all(|attachment| attachment.load == vk::AttachmentLoadOp::LOAD)
        };
        if targets == self.targets && loads(&targets) && self.scope.samples.is_some() {
            return;
        }
        self.end_rendering();
        self.targets = targets;
        let most = (self.gpu.device_limits.max_color_attachments as usize).min(MAX_COLOR_ATTACHMENTS);
        self.targets.colors.truncate(most);
        self.scope.fresh = true;
        self.examine_targets();
    }

    /// The attachments.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// Replaces the attachments without treating them as new: used around the encoder's own draws.
    pub(super) fn swap_targets(&mut self, targets: Targets, fresh: bool) -> (Targets, bool) {
        self.end_rendering();
        let before = (std::mem::replace(&mut self.targets, targets), self.scope.fresh);
        self.scope.fresh = fresh;
        self.examine_targets();
        before
    }

    fn examine_targets(&mut self) {
        let limits = &self.gpu.device_limits;
        let mut area = vk::Extent2D { width: limits.max_framebuffer_width, height: limits.max_framebuffer_height };
        let mut layers = u32::MAX;
        let mut samples = None;
        let mut mixed = false;
        let mut blendable = 0;
        let colors = self.targets.colors.iter().enumerate();
        let colors = colors.filter_map(|(index, attachment)| Some((Some(index), attachment.as_ref()?)));
        for (index, attachment) in colors.chain(self.targets.depth_stencil.as_ref().map(|a| (None, a))) {
            let view = &attachment.view;
            let extent = view.extent();
            area.width = area.width.min(extent.width);
            area.height = area.height.min(extent.height);
            layers = layers.min(view.desc().layers);
            let count = view.image().desc().samples;
            mixed |= samples.is_some_and(|samples| samples != count);
            samples = Some(count);
            if let Some(index) = index {
                let features = self.gpu.format_features(view.desc().format).0;
                if features.contains(vk::FormatFeatureFlags2::COLOR_ATTACHMENT_BLEND) {
                    blendable |= 1 << index;
                }
            }
        }
        if blendable != self.scope.blendable {
            self.dirty |= Dirty::BLEND;
        }
        if samples != self.scope.samples {
            self.dirty |= Dirty::MULTISAMPLE;
        }
        self.scope.blendable = blendable;
        self.scope.samples = samples;
        self.scope.mixed_samples = mixed;
        self.scope.area = area;
        self.scope.layers = if layers == u32::MAX { 1 } else { layers };
        self.drawable = self.check_drawable();
    }

    /// Opens the scope if it is not open.
    pub(super) fn begin_rendering(&mut self) {
        if self.scope.open {
            return;
        }
        match self.last {
            Class::None => {}
            // A new scope does not wait for the attachment writes of the last by itself.
            Class::Render => self.emit_barrier(Access::Attachments, Access::Attachments),
            Class::Transfer | Class::Compute => self.emit_barrier(Access::All, Access::All),
        }
        let fresh = std::mem::replace(&mut self.scope.fresh, false);
        let info = |attachment: &Attachment| {
            vk::RenderingAttachmentInfo::default()
                .image_view(attachment.view.raw())
                .image_layout(vk::ImageLayout::GENERAL)
                .load_op(if fresh { attachment.load } else { vk::AttachmentLoadOp::LOAD })
                .store_op(attachment.store)
        };
        let mut colors = [vk::RenderingAttachmentInfo::default(); MAX_COLOR_ATTACHMENTS];
        for (index, attachment) in self.targets.colors.iter().enumerate() {
            let Some(attachment) = attachment else { continue };
            colors[index] = info(attachment);
            if let Some(color) = self.scope.colors[index].take() {
                colors[index] =
                    colors[index].load_op(vk::AttachmentLoadOp::CLEAR).clear_value(vk::ClearValue { color });
            }
        }
        let mut depth = vk::RenderingAttachmentInfo::default();
        let mut stencil = vk::RenderingAttachmentInfo::default();
        let mut aspects = vk::ImageAspectFlags::empty();
        if let Some(attachment) = &self.targets.depth_stencil {
            aspects = attachment.view.desc().aspects;
            depth = info(attachment);
            stencil = info(attachment);
            let value =
                |depth, stencil| vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth, stencil } };
            if let Some(clear) = self.scope.depth.take() {
                depth = depth.load_op(vk::AttachmentLoadOp::CLEAR).clear_value(value(clear, 0));
            }
            if let Some(clear) = self.scope.stencil.take() {
                stencil = stencil.load_op(vk::AttachmentLoadOp::CLEAR).clear_value(value(0.0, clear));
            }
        }
        let mut rendering = vk::RenderingInfo::default()
            .render_area(vk::Rect2D { offset: vk::Offset2D::default(), extent: self.scope.area })
            .layer_count(self.scope.layers)
            .color_attachments(&colors[..self.targets.colors.len()]);
        if aspects.contains(vk::ImageAspectFlags::DEPTH) {
            rendering = rendering.depth_attachment(&depth);
        }
        if aspects.contains(vk::ImageAspectFlags::STENCIL) {
            rendering = rendering.stencil_attachment(&stencil);
        }
        // SAFETY: views are alive (the targets hold them) and in layout GENERAL; area and layers lie inside them.
        unsafe { self.gpu.device.cmd_begin_rendering(self.commands, &rendering) };
        self.scope.open = true;
        self.last = Class::Render;
        self.counters.rendering_scopes += 1;
        if self.counting() {
            self.start_queries();
        }
    }

    /// Ends the rendering scope, if one is open; clears that wait for one are done.
    pub fn end_rendering(&mut self) {
        if !self.scope.open {
            if !self.scope.has_pending_clears() {
                return;
            }
            self.begin_rendering();
        }
        if self.counting() {
            self.stop_queries();
        }
        // SAFETY: a scope is open.
        unsafe { self.gpu.device.cmd_end_rendering(self.commands) };
        self.scope.open = false;
    }

    /// Ends the scope and orders work of another class before what follows.
    pub(super) fn enter(&mut self, class: Class) {
        self.end_rendering();
        if self.last != class && self.last != Class::None {
            self.emit_barrier(Access::All, Access::All);
        }
        self.last = class;
    }

    /// A global memory barrier; ends the rendering scope.
    pub fn barrier(&mut self, src: Access, dst: Access) {
        self.end_rendering();
        self.emit_barrier(src, dst);
        let everything = |access| matches!(access, Access::All | Access::AllAndHost);
        if everything(src) && everything(dst) {
            self.last = Class::None;
        }
    }

    /// Everything before happens before everything after.
    pub fn barrier_all(&mut self) {
        self.barrier(Access::All, Access::All);
    }

    pub(super) fn emit_barrier(&mut self, src: Access, dst: Access) {
        let (src_stages, src_access) = src.scope();
        let (dst_stages, dst_access) = dst.scope();
        let barriers = [vk::MemoryBarrier2::default()
            .src_stage_mask(src_stages)
            .src_access_mask(src_access)
            .dst_stage_mask(dst_stages)
            .dst_access_mask(dst_access)];
        let dependency = vk::DependencyInfo::default().memory_barriers(&barriers);
        // SAFETY: recording, no scope is open.
        unsafe { self.gpu.device.cmd_pipeline_barrier2(self.commands, &dependency) };
        self.counters.barriers += 1;
    }
}
