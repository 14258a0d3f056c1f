//! The encoder: records one submission, setting only what changed.
//!
//! The replay calls setters as the guest's commands come; each compares with the state wanted so far and marks a
//! group as dirty when it differs. A draw opens the rendering scope if none is open, walks the dirty groups, compares
//! their parts with what the command buffer has, and emits the difference (`flush`). With shader objects all state is
//! dynamic and none has a default, so the first draw of a command buffer sets everything.
//!
//! Scopes are lazy (`scope`): [`Encoder::set_targets`] only notes the attachments; drawing or clearing opens the
//! scope, a copy, dispatch or barrier closes it. Between work of different classes (rendering, transfers, compute)
//! the encoder puts a full memory barrier by itself; between transfers, between dispatches, and between draws the
//! caller says what is ordered ([`Encoder::barrier`]).
//!
//! Recording does not fail: running out of memory in the middle is noted and makes the submission fail. Objects may
//! be dropped as soon as the command that uses them was recorded ([`crate::retire`]).

pub(crate) mod clear;
mod count;
mod draw;
pub(crate) mod draw_texture;
mod flush;
pub(crate) mod kit;
mod query;
mod scope;
mod signal;
mod state;
mod transfer;

pub(crate) use count::QueryKind;
pub use count::{Counter, CounterMemory, Counting};
pub use draw::DrawError;
pub use draw_texture::Corners;
pub(crate) use kit::own_shader;
pub use scope::Access;
pub use state::*;

use std::sync::Arc;

use ash::vk;

use crate::frame::Frame;
use crate::gpu::Gpu;
use crate::layout::{CONSTANT_BANKS, STAGE_BINDINGS, STORAGE_SLOTS};
use crate::memory::MemoryError;
use crate::queue::Shared;
use crate::shader::{Shader, Stage};
use crate::transient::TransientSlice;

use scope::{Class, Scope};

bitflags::bitflags! {
    /// Groups of graphics state.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Dirty: u32 {
        const VIEWPORTS = 1;
        const ASSEMBLY = 1 << 1;
        const RASTER = 1 << 2;
        const DEPTH = 1 << 3;
        const STENCIL = 1 << 4;
        const BLEND = 1 << 5;
        const MULTISAMPLE = 1 << 6;
        const VERTEX_INPUT = 1 << 7;
        const VERTEX_BUFFERS = 1 << 8;
        const INDEX_BUFFER = 1 << 9;
        const SHADERS = 1 << 10;
        const CONSTANTS = 1 << 11;
    }
}

/// The state that a draw is made with.
#[derive(Clone, Default)]
struct DrawState {
    viewports: [Viewport; MAX_VIEWPORTS],
    scissors: [Scissor; MAX_VIEWPORTS],
    viewport_count: usize,
    assembly: InputAssembly,
    raster: Rasterization,
    depth: Depth,
    stencil: Stencil,
    blend: Blend,
    multisample: Multisample,
    vertex_input: VertexInput,
    vertex_buffers: [BufferRange; MAX_VERTEX_BINDINGS],
    index: Option<IndexBuffer>,
    shaders: [Option<Arc<Shader>>; 5],
}

/// A stage's constants: what is wanted and what its bound set holds.
#[derive(Clone)]
struct StageBindings {
    /// By binding; read by update templates.
    ranges: [BufferRange; STAGE_BINDINGS],
    /// Bindings that the bound set was written with and that did not change since.
    written: u64,
    /// Bindings that the bound shader uses.
    used: u64,
}

impl Default for StageBindings {
    fn default() -> Self {
        Self { ranges: [BufferRange::NULL; STAGE_BINDINGS], written: 0, used: 0 }
    }
}

/// Records one submission. Made by [`Queue::begin`](crate::Queue::begin).
pub struct Encoder {
    shared: Arc<Shared>,
    gpu: Arc<Gpu>,
    /// Taken by `finish` and by the drop.
    frame: Option<Frame>,
    number: u64,
    commands: vk::CommandBuffer,
    error: Option<vk::Result>,
    counters: EncoderCounters,

    want: DrawState,
    dirty: Dirty,
    emitted: flush::Emitted,
    /// What the last look at shaders, topology and targets said.
    drawable: Result<(), DrawError>,
    /// By [`Stage`].
    bindings: [StageBindings; 6],
    compute: Option<Arc<Shader>>,
    compute_emitted: vk::ShaderEXT,

    targets: Targets,
    scope: Scope,
    last: Class,
    /// The condition in force.
    condition: Option<(BufferRange, bool)>,
    count: count::Count,
    /// Event signals that wait to be written.
    signals: Vec<signal::Signal>,
}

impl Encoder {
    /// Boxed: an encoder is some ten kilobytes, which are not to be copied from hand to hand for each submission.
    pub(crate) fn new(shared: Arc<Shared>, frame: Frame) -> Result<Box<Self>, vk::Result> {
        let gpu = shared.gpu.clone();
        let number = gpu.retire.begin();
        let commands = frame.commands;
        // From here on dropping `encoder` gives frame and number back.
        let encoder = Box::new(Self {
            frame: Some(frame),
            number,
            commands,
            error: None,
            counters: EncoderCounters::default(),
            want: DrawState { viewport_count: 1, ..DrawState::default() },
            dirty: Dirty::all(),
            emitted: flush::Emitted::default(),
            drawable: Err(DrawError::NoShader),
            bindings: std::array::from_fn(|_| StageBindings::default()),
            compute: None,
            compute_emitted: vk::ShaderEXT::null(),
            targets: Targets::default(),
            scope: Scope::default(),
            last: Class::None,
            condition: None,
            count: count::Count::default(),
            signals: Vec::new(),
            gpu,
            shared,
        });
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        let layouts = &encoder.shared.layouts;
        // SAFETY: the command buffer is not pending; set and layout live as long as the queue.
        unsafe {
            let device = &encoder.gpu.device;
            device.begin_command_buffer(commands, &begin)?;
            for point in [vk::PipelineBindPoint::GRAPHICS, vk::PipelineBindPoint::COMPUTE] {
                let sets = [encoder.shared.table_set];
                device.cmd_bind_descriptor_sets(commands, point, layouts.pipeline, 0, &sets, &[]);
            }
        }
        Ok(encoder)
    }

    /// Ends the command buffer. Gives the frame and the encoder's number for the submission.
    pub(crate) fn finish(mut self: Box<Self>) -> Result<(Frame, u64), vk::Result> {
        self.end_rendering();
        self.finish_counting();
        self.flush_signals();
        self.set_condition(None);
        self.emit_barrier(Access::All, Access::AllAndHost);
        if let Some(error) = self.error {
            return Err(error);
        }
        // SAFETY: recording began in `new`, no scope is open.
        unsafe { self.gpu.device.end_command_buffer(self.commands) }?;
        match self.frame.take() {
            Some(frame) => Ok((frame, self.number)),
            None => Err(vk::Result::ERROR_UNKNOWN),
        }
    }

    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Notes the first failure; the submission fails with it.
    fn fail(&mut self, error: vk::Result) {
        self.error.get_or_insert(error);
    }

    // --- state of draws -----------------------------------------------------------------------------------------

    /// Sets viewports from `first` on; those beyond [`MAX_VIEWPORTS`] are left out. See
    /// [`Encoder::set_viewport_count`].
    pub fn set_viewports(&mut self, first: usize, viewports: &[Viewport]) {
        for (have, want) in self.want.viewports.iter_mut().skip(first).zip(viewports) {
            if have != want {
                *have = *want;
                self.dirty |= Dirty::VIEWPORTS;
            }
        }
    }

    /// Sets scissors from `first` on; those beyond [`MAX_VIEWPORTS`] are left out.
    pub fn set_scissors(&mut self, first: usize, scissors: &[Scissor]) {
        for (have, want) in self.want.scissors.iter_mut().skip(first).zip(scissors) {
            if have != want {
                *have = *want;
                self.dirty |= Dirty::VIEWPORTS;
            }
        }
    }

    /// Sets how many viewports and scissors are in force: 1 at first, at most what the device has.
    pub fn set_viewport_count(&mut self, count: usize) {
        let most = (self.gpu.limits.max_viewports as usize).min(MAX_VIEWPORTS);
        let count = count.clamp(1, most);
        if self.want.viewport_count != count {
            self.want.viewport_count = count;
            self.dirty |= Dirty::VIEWPORTS;
        }
    }

    /// Sets primitive assembly.
    pub fn set_input_assembly(&mut self, state: &InputAssembly) {
        if self.want.assembly != *state {
            self.want.assembly = *state;
            self.dirty |= Dirty::ASSEMBLY;
        }
    }

    /// Sets rasterisation.
    pub fn set_rasterization(&mut self, state: &Rasterization) {
        if self.want.raster != *state {
            self.want.raster = *state;
            self.dirty |= Dirty::RASTER;
        }
    }

    /// Sets the depth test.
    pub fn set_depth(&mut self, state: &Depth) {
        if self.want.depth != *state {
            self.want.depth = *state;
            self.dirty |= Dirty::DEPTH;
        }
    }

    /// Sets the stencil test.
    pub fn set_stencil(&mut self, state: &Stencil) {
        if self.want.stencil != *state {
            self.want.stencil = *state;
            self.dirty |= Dirty::STENCIL;
        }
    }

    /// Sets blending.
    pub fn set_blend(&mut self, state: &Blend) {
        if self.want.blend != *state {
            self.want.blend = *state;
            self.dirty |= Dirty::BLEND;
        }
    }

    /// Sets multisampling.
    pub fn set_multisample(&mut self, state: &Multisample) {
        if self.want.multisample != *state {
            self.want.multisample = *state;
            self.dirty |= Dirty::MULTISAMPLE;
        }
    }

    /// Sets vertex attributes and bindings.
    pub fn set_vertex_input(&mut self, state: &VertexInput) {
        if self.want.vertex_input != *state {
            self.want.vertex_input = state.clone();
            self.dirty |= Dirty::VERTEX_INPUT;
        }
    }

    /// Binds a vertex buffer; bindings beyond [`MAX_VERTEX_BINDINGS`] are left out. Reads past the range give 0.
    pub fn set_vertex_buffer(&mut self, binding: usize, range: BufferRange) {
        if let Some(have) = self.want.vertex_buffers.get_mut(binding)
            && *have != range
        {
            *have = range;
            self.dirty |= Dirty::VERTEX_BUFFERS;
        }
    }

    /// Binds the index buffer.
    pub fn set_index_buffer(&mut self, buffer: Option<IndexBuffer>) {
        if self.want.index != buffer {
            self.want.index = buffer;
            self.dirty |= Dirty::INDEX_BUFFER;
        }
    }

    /// Binds a shader to a stage, or none. A shader of another stage counts as none.
    pub fn set_shader(&mut self, stage: Stage, shader: Option<&Arc<Shader>>) {
        let shader = shader.filter(|shader| shader.stage() == stage);
        let raw = |shader: Option<&Arc<Shader>>| shader.map(|shader| shader.raw());
        let slot = match stage {
            Stage::Compute => &mut self.compute,
            _ => &mut self.want.shaders[stage as usize],
        };
        if raw(slot.as_ref()) == raw(shader) {
            return;
        }
        *slot = shader.cloned();
        let bindings = &mut self.bindings[stage as usize];
        bindings.used = shader.map_or(0, |shader| shader.mask());
        if stage != Stage::Compute {
            self.dirty |= Dirty::SHADERS;
            if bindings.used & !bindings.written != 0 {
                self.dirty |= Dirty::CONSTANTS;
            }
        }
    }

    /// Binds a constant bank (0..=17) of a stage; others are left out. The range is cut to the device's longest
    /// uniform range; an offset that is not aligned as the device wants binds nothing and is a fault.
    pub fn set_constants(&mut self, stage: Stage, bank: usize, range: BufferRange) {
        if bank < CONSTANT_BANKS {
            let limits = &self.gpu.limits;
            let range = fit(range, limits.uniform_offset_alignment, limits.max_uniform_range, "constant bank");
            self.set_binding(stage, bank, range);
        }
    }

    /// Binds a storage-buffer slot (0..=15) of a stage; others are left out. Limits as for
    /// [`Encoder::set_constants`].
    pub fn set_storage(&mut self, stage: Stage, slot: usize, range: BufferRange) {
        if slot < STORAGE_SLOTS {
            let limits = &self.gpu.limits;
            let range = fit(range, limits.storage_offset_alignment, limits.max_storage_range, "storage slot");
            self.set_binding(stage, CONSTANT_BANKS + slot, range);
        }
    }

    fn set_binding(&mut self, stage: Stage, binding: usize, range: BufferRange) {
        let bindings = &mut self.bindings[stage as usize];
        if bindings.ranges[binding] == range {
            return;
        }
        bindings.ranges[binding] = range;
        bindings.written &= !(1 << binding);
        if bindings.used & (1 << binding) != 0 && stage != Stage::Compute {
            self.dirty |= Dirty::CONSTANTS;
        }
    }

    // --- transient memory ---------------------------------------------------------------------------------------

    /// Takes transient memory for this submission; `alignment` is rounded up to a power of two of at least 16.
    ///
    /// # Errors
    /// Out of memory.
    pub fn transient(&mut self, size: u64, alignment: u64) -> Result<TransientSlice, MemoryError> {
        match &mut self.frame {
            Some(frame) => frame.transient.take(&self.gpu, &self.shared.blocks, size, alignment),
            None => Err(MemoryError::Refused("the encoder is finished".to_owned())),
        }
    }

    /// Bytes of memory that were taken for this submission's transient slices.
    pub fn transient_bytes(&self) -> u64 {
        self.frame.as_ref().map_or(0, |frame| frame.transient.bytes())
    }

    /// Copies bytes into transient memory.
    ///
    /// # Errors
    /// Out of memory.
    pub fn upload(&mut self, bytes: &[u8], alignment: u64) -> Result<TransientSlice, MemoryError> {
        let slice = self.transient(bytes.len() as u64, alignment)?;
        slice.write(bytes);
        Ok(slice)
    }

    /// What was recorded so far.
    pub fn counters(&self) -> &EncoderCounters {
        &self.counters
    }

    /// The command buffer, for commands that this type has no method for. State set through it is unknown to the
    /// encoder.
    pub fn raw(&self) -> vk::CommandBuffer {
        self.commands
    }
}

impl Drop for Encoder {
    fn drop(&mut self) {
        if let Some(frame) = self.frame.take() {
            self.shared.abandon(frame, self.number);
        }
    }
}

/// What of a range can be bound: nothing when it is empty or its offset is misaligned.
#[inline]
fn fit(range: BufferRange, alignment: u64, longest: u64, what: &'static str) -> BufferRange {
    if range.is_null() || range.size == 0 {
        return BufferRange::NULL;
    }
    if range.offset & (alignment.max(1) - 1) != 0 {
        navin_abi::fault!(
            key = range.offset,
            "",
            "a {what} at offset {:#x}, no multiple of {alignment}, reads 0",
            range.offset
        );
        return BufferRange::NULL;
    }
    // The whole-size marker is above any limit, and cutting it is right as long as the buffer is longer; a buffer
    // that is shorter needs the marker.
    let size = if range.size == vk::WHOLE_SIZE { range.size } else { range.size.min(longest) };
    BufferRange { size, ..range }
}
