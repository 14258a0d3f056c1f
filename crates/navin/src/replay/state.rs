//! The binding state of one NVN queue, in NVN's terms: what records set and draws read.
//!
//! Each queue has its own (B230), kept across submissions. What changed since the encoder was last told is in
//! [`Dirty`]; [`draw`](super::draw) turns the changed groups into the encoder's terms before a draw.

use std::sync::Arc;

use bitflags::bitflags;
use navin_abi::records::ViewDesc;
use navin_abi::records::state::{
    BlendState, ChannelMaskState, ColorState, DepthStencilState, MultisampleState, PolygonState, VertexAttribState,
    VertexStreamState,
};
use navin_command::record::limits::Amounts;
use navin_command::record::payload::{PolygonOffset, Scissor, Viewport};
use navin_vulkan::CounterMemory;

use crate::host::programs::{Extras, ProgramStage};

/// NVN shader stages, in NVN's order: vertex, fragment, geometry, tessellation control, tessellation evaluation,
/// compute.
pub(crate) const STAGES: usize = 6;
/// The compute stage's index.
pub(crate) const COMPUTE: usize = 5;
/// Colour targets.
pub(crate) const COLORS: usize = 8;
/// Viewports, scissors and depth ranges.
pub(crate) const VIEWPORTS: usize = 16;
/// Uniform blocks of a stage (device item 2 says 14; slots past it are never bound).
pub(crate) const UNIFORMS: usize = 16;
/// Storage buffers of a stage.
pub(crate) const STORAGES: usize = 16;
/// Textures and samplers of a stage.
pub(crate) const TEXTURES: usize = 32;
/// Images of a stage.
pub(crate) const IMAGES: usize = 32;

bitflags! {
    /// Groups of state that the encoder has not been told of.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct Dirty: u32 {
        const TARGETS = 1;
        const VIEWPORTS = 1 << 1;
        const SCISSORS = 1 << 2;
        const RASTERIZATION = 1 << 3;
        const DEPTH = 1 << 4;
        const STENCIL = 1 << 5;
        const BLEND = 1 << 6;
        const MULTISAMPLE = 1 << 7;
        const VERTEX_INPUT = 1 << 8;
        const VERTEX_BUFFERS = 1 << 9;
        const PROGRAMS = 1 << 10;
        /// What shaders see to: alpha test, point size.
        const SHADER_STATE = 1 << 11;
        /// What `fixed` sees to.
        const FIXED = 0xff;
    }
}

bitflags! {
    /// What of one stage the encoder has not been told of.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct StageDirty: u8 {
        /// Uniform blocks.
        const UNIFORMS = 1;
        /// Storage buffers: the driver constants and the recognised slots.
        const STORAGES = 2;
        /// Texture, sampler and image handles: the driver constants, and whether what they name is resident.
        const HANDLES = 4;
        /// The program: everything it reads.
        const PROGRAM = 8;
    }
}

/// A range of GPU addresses; address 0 is no buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) address: u64,
    pub(crate) size: u64,
}

/// A render target as bound; serial 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) serial: u64,
    pub(crate) view: ViewDesc,
}

impl Target {
    pub(crate) const NONE: Self = Self { serial: 0, view: ViewDesc::NONE };
}

/// What is bound to one stage.
#[derive(Clone)]
pub(crate) struct StageState {
    pub(crate) program: Option<Arc<ProgramStage>>,
    pub(crate) uniforms: [Range; UNIFORMS],
    pub(crate) storages: [Range; STORAGES],
    pub(crate) textures: [u32; TEXTURES],
    pub(crate) images: [u32; IMAGES],
    pub(crate) dirty: StageDirty,
}

impl Default for StageState {
    fn default() -> Self {
        Self {
            program: None,
            uniforms: [Range::default(); UNIFORMS],
            storages: [Range::default(); STORAGES],
            textures: [0; TEXTURES],
            images: [0; IMAGES],
            dirty: StageDirty::all(),
        }
    }
}

/// One face's stencil numbers, which are not part of the state object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StencilNumbers {
    pub(crate) reference: u8,
    pub(crate) write_mask: u8,
    pub(crate) compare_mask: u8,
}

/// Everything a queue has bound.
#[derive(Clone)]
pub(crate) struct QueueState {
    /// Debug groups that are open.
    pub(crate) debug_groups: u32,
    pub(crate) colors: [Target; COLORS],
    pub(crate) depth: Target,
    pub(crate) viewports: [Viewport; VIEWPORTS],
    pub(crate) viewport_count: usize,
    pub(crate) depth_ranges: [[f32; 2]; VIEWPORTS],
    pub(crate) scissors: [Scissor; VIEWPORTS],
    pub(crate) blend: [BlendState; COLORS],
    pub(crate) blend_color: [f32; 4],
    pub(crate) channel_mask: ChannelMaskState,
    pub(crate) color: ColorState,
    pub(crate) depth_stencil: DepthStencilState,
    pub(crate) stencil: [StencilNumbers; 2],
    pub(crate) polygon: PolygonState,
    pub(crate) polygon_offset: PolygonOffset,
    pub(crate) multisample: MultisampleState,
    pub(crate) sample_mask: u32,
    pub(crate) depth_bounds: Option<[f32; 2]>,
    pub(crate) depth_clamp: bool,
    pub(crate) rasterizer_discard: bool,
    pub(crate) line_width: f32,
    pub(crate) patch_size: u8,
    pub(crate) primitive_restart: Option<u32>,
    pub(crate) alpha_ref: f32,
    pub(crate) point_size: f32,
    /// What the bound shaders see to.
    pub(crate) extras: Extras,
    /// Blending takes a second colour of the fragment program.
    pub(crate) dual_source: bool,
    pub(crate) attributes: [VertexAttribState; 32],
    pub(crate) attribute_count: usize,
    pub(crate) streams: [VertexStreamState; 32],
    pub(crate) vertex_buffers: [Range; 16],
    pub(crate) stages: [StageState; STAGES],
    pub(crate) texture_pool: u32,
    pub(crate) sampler_pool: u32,
    /// Draws, dispatches and clears happen.
    pub(crate) render_enable: bool,
    /// If the word in `counters` says so, too.
    pub(crate) predicated: bool,
    /// Made when a counter is looked at or the GPU evaluates a condition.
    pub(crate) counters: Option<Arc<CounterMemory>>,
    /// The submission that was replayed last, and what it may still ask for.
    pub(crate) spent: Option<(u64, Amounts)>,
    pub(crate) dirty: Dirty,
}

impl Default for QueueState {
    /// OpenGL 4.5's initial state, where the sources say nothing of NVN's.
    fn default() -> Self {
        let numbers = StencilNumbers { reference: 0, write_mask: 0xff, compare_mask: 0xff };
        Self {
            debug_groups: 0,
            colors: [Target::NONE; COLORS],
            depth: Target::NONE,
            viewports: [Viewport::default(); VIEWPORTS],
            viewport_count: 1,
            depth_ranges: [[0.0, 1.0]; VIEWPORTS],
            scissors: [Scissor { x: 0, y: 0, width: u16::MAX, height: u16::MAX }; VIEWPORTS],
            blend: [BlendState::DEFAULT; COLORS],
            blend_color: [0.0; 4],
            channel_mask: ChannelMaskState::DEFAULT,
            color: ColorState::DEFAULT,
            depth_stencil: DepthStencilState::DEFAULT,
            stencil: [numbers; 2],
            polygon: PolygonState::DEFAULT,
            polygon_offset: PolygonOffset::default(),
            multisample: MultisampleState::DEFAULT,
            sample_mask: !0,
            depth_bounds: None,
            depth_clamp: false,
            rasterizer_discard: false,
            line_width: 1.0,
            patch_size: 3,
            primitive_restart: None,
            alpha_ref: 0.0,
            point_size: 1.0,
            extras: Extras::empty(),
            dual_source: false,
            attributes: [VertexAttribState::DEFAULT; 32],
            attribute_count: 0,
            streams: [VertexStreamState::DEFAULT; 32],
            vertex_buffers: [Range::default(); 16],
            stages: Default::default(),
            texture_pool: 0,
            sampler_pool: 0,
            render_enable: true,
            predicated: false,
            counters: None,
            spent: None,
            dirty: Dirty::all(),
        }
    }
}

impl QueueState {
    /// Forgets what the encoder knows: a new command buffer begins with nothing set.
    pub(crate) fn invalidate(&mut self) {
        self.dirty = Dirty::all();
        for stage in &mut self.stages {
            stage.dirty = StageDirty::all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b230_a_fresh_queue_has_nothing_bound_and_everything_to_tell() {
        let state = QueueState::default();
        assert!(state.colors.iter().all(|t| *t == Target::NONE));
        assert!(state.stages.iter().all(|s| s.program.is_none() && s.dirty == StageDirty::all()));
        assert_eq!(state.dirty, Dirty::all());
    }
}
