//! The encoder.
mod state;
pub use state::*;

use crate::image::{Image, View};
use crate::memory::MemoryError;
use crate::query::QueryPool;
use crate::shader::{Shader, Stage};
use crate::transient::TransientSlice;
use ash::vk;
use std::sync::Arc;

/// Why a draw or dispatch was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DrawError {
    /// No vertex (or compute) shader is bound.
    #[error("no vertex or compute shader is bound")]
    NoShader,
    /// An indexed draw without an index buffer.
    #[error("no index buffer is bound")]
    NoIndexBuffer,
    /// Patches without a tessellation evaluation shader, or one without patches.
    #[error("the topology does not fit the tessellation shaders")]
    Topology,
    /// Attachments with different sample counts.
    #[error("attachments differ in their sample counts")]
    SampleCounts,
}

/// What a barrier waits for or makes ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// Everything.
    All,
    /// Attachment reads and writes.
    Attachments,
    /// Shader reads and writes, all graphics stages and compute.
    Shaders,
    /// Fragment shader reads only.
    FragmentReads,
    /// Copies.
    Transfer,
    /// Indirect parameters, index and vertex fetch.
    Fetch,
    /// The CPU.
    Host,
}

/// Records one submission.
pub struct Encoder {}

#[allow(unused_variables, clippy::too_many_arguments)]
impl Encoder {
    // --- state of draws -------------------------------------------------------------------------------------
    /// Sets the attachments. Equal ones with `LOAD` continue the scope.
    pub fn set_targets(&mut self, targets: Targets) {
        unimplemented!()
    }
    /// The attachments.
    pub fn targets(&self) -> &Targets {
        unimplemented!()
    }
    /// Sets viewports and scissors from `first` on; the count in force is the highest set ever, at least 1.
    pub fn set_viewports(&mut self, first: usize, viewports: &[Viewport]) {
        unimplemented!()
    }
    /// Sets scissors from `first` on.
    pub fn set_scissors(&mut self, first: usize, scissors: &[Scissor]) {
        unimplemented!()
    }
    /// Sets how many viewports and scissors are in force.
    pub fn set_viewport_count(&mut self, count: usize) {
        unimplemented!()
    }
    /// Sets primitive assembly.
    pub fn set_input_assembly(&mut self, state: &InputAssembly) {
        unimplemented!()
    }
    /// Sets rasterisation.
    pub fn set_rasterization(&mut self, state: &Rasterization) {
        unimplemented!()
    }
    /// Sets the depth test.
    pub fn set_depth(&mut self, state: &Depth) {
        unimplemented!()
    }
    /// Sets the stencil test.
    pub fn set_stencil(&mut self, state: &Stencil) {
        unimplemented!()
    }
    /// Sets blending.
    pub fn set_blend(&mut self, state: &Blend) {
        unimplemented!()
    }
    /// Sets multisampling.
    pub fn set_multisample(&mut self, state: &Multisample) {
        unimplemented!()
    }
    /// Sets vertex attributes and bindings.
    pub fn set_vertex_input(&mut self, state: &VertexInput) {
        unimplemented!()
    }
    /// Binds a vertex buffer.
    pub fn set_vertex_buffer(&mut self, binding: usize, range: BufferRange) {
        unimplemented!()
    }
    /// Binds the index buffer.
    pub fn set_index_buffer(&mut self, buffer: Option<IndexBuffer>) {
        unimplemented!()
    }
    /// Binds a shader to a stage, or none.
    pub fn set_shader(&mut self, stage: Stage, shader: Option<&Arc<Shader>>) {
        unimplemented!()
    }
    /// Binds a constant bank (0..=17) of a stage.
    pub fn set_constants(&mut self, stage: Stage, bank: usize, range: BufferRange) {
        unimplemented!()
    }
    /// Binds a storage-buffer slot (0..=15) of a stage.
    pub fn set_storage(&mut self, stage: Stage, slot: usize, range: BufferRange) {
        unimplemented!()
    }

    // --- draws ------------------------------------------------------------------------------------------------
    /// Draws.
    pub fn draw(
        &mut self,
        first_vertex: u32,
        vertices: u32,
        first_instance: u32,
        instances: u32,
    ) -> Result<(), DrawError> {
        unimplemented!()
    }
    /// Draws with indices.
    pub fn draw_indexed(
        &mut self,
        first_index: u32,
        indices: u32,
        vertex_offset: i32,
        first_instance: u32,
        instances: u32,
    ) -> Result<(), DrawError> {
        unimplemented!()
    }
    /// Draws with parameters (`VkDrawIndirectCommand`) in a buffer.
    pub fn draw_indirect(&mut self, buffer: vk::Buffer, offset: u64, draws: u32, stride: u32) -> Result<(), DrawError> {
        unimplemented!()
    }
    /// Draws with indices and parameters (`VkDrawIndexedIndirectCommand`) in a buffer.
    pub fn draw_indexed_indirect(
        &mut self,
        buffer: vk::Buffer,
        offset: u64,
        draws: u32,
        stride: u32,
    ) -> Result<(), DrawError> {
        unimplemented!()
    }
    /// As `draw_indirect`, the number of draws in a buffer too, at most `max_draws`.
    pub fn draw_indirect_count(
        &mut self,
        buffer: vk::Buffer,
        offset: u64,
        count: vk::Buffer,
        count_offset: u64,
        max_draws: u32,
        stride: u32,
    ) -> Result<(), DrawError> {
        unimplemented!()
    }
    /// As `draw_indexed_indirect`, the number of draws in a buffer too, at most `max_draws`.
    pub fn draw_indexed_indirect_count(
        &mut self,
        buffer: vk::Buffer,
        offset: u64,
        count: vk::Buffer,
        count_offset: u64,
        max_draws: u32,
        stride: u32,
    ) -> Result<(), DrawError> {
        unimplemented!()
    }
    /// Runs the compute shader.
    pub fn dispatch(&mut self, x: u32, y: u32, z: u32) -> Result<(), DrawError> {
        unimplemented!()
    }
    /// Runs the compute shader with group counts (`VkDispatchIndirectCommand`) in a buffer.
    pub fn dispatch_indirect(&mut self, buffer: vk::Buffer, offset: u64) -> Result<(), DrawError> {
        unimplemented!()
    }

    // --- clears -----------------------------------------------------------------------------------------------
    /// Clears a colour attachment within `rect` (and all layers); components outside `mask` keep their values.
    /// The union's member must fit the format's class (float, int, uint).
    pub fn clear_color(
        &mut self,
        attachment: usize,
        value: vk::ClearColorValue,
        mask: vk::ColorComponentFlags,
        rect: Scissor,
    ) {
        unimplemented!()
    }
    /// Clears depth and/or stencil within `rect`; stencil bits outside `stencil_mask` keep their values.
    pub fn clear_depth_stencil(&mut self, depth: Option<f32>, stencil: Option<u32>, stencil_mask: u32, rect: Scissor) {
        unimplemented!()
    }
    /// Clears ranges of an image outside any scope.
    pub fn clear_image(&mut self, image: &Arc<Image>, value: vk::ClearColorValue, range: vk::ImageSubresourceRange) {
        unimplemented!()
    }

    // --- transfers (end the rendering scope) --------------------------------------------------------------------
    /// Copies between buffers.
    pub fn copy_buffer(&mut self, src: vk::Buffer, dst: vk::Buffer, regions: &[vk::BufferCopy2<'_>]) {
        unimplemented!()
    }
    /// Copies into an image.
    pub fn copy_buffer_to_image(&mut self, src: vk::Buffer, dst: &Arc<Image>, regions: &[vk::BufferImageCopy2<'_>]) {
        unimplemented!()
    }
    /// Copies out of an image.
    pub fn copy_image_to_buffer(&mut self, src: &Arc<Image>, dst: vk::Buffer, regions: &[vk::BufferImageCopy2<'_>]) {
        unimplemented!()
    }
    /// Copies between images.
    pub fn copy_image(&mut self, src: &Arc<Image>, dst: &Arc<Image>, regions: &[vk::ImageCopy2<'_>]) {
        unimplemented!()
    }
    /// Scales and converts between images.
    pub fn blit(&mut self, src: &Arc<Image>, dst: &Arc<Image>, regions: &[vk::ImageBlit2<'_>], filter: vk::Filter) {
        unimplemented!()
    }
    /// Resolves samples.
    pub fn resolve(&mut self, src: &Arc<Image>, dst: &Arc<Image>, regions: &[vk::ImageResolve2<'_>]) {
        unimplemented!()
    }
    /// Fills with a word; offset and size are multiples of 4.
    pub fn fill_buffer(&mut self, range: BufferRange, word: u32) {
        unimplemented!()
    }
    /// Writes up to 64 KB in stream order; offset and length are multiples of 4.
    pub fn update_buffer(&mut self, buffer: vk::Buffer, offset: u64, bytes: &[u8]) {
        unimplemented!()
    }
    /// Takes transient memory for this submission.
    pub fn transient(&mut self, size: u64, alignment: u64) -> Result<TransientSlice, MemoryError> {
        unimplemented!()
    }
    /// Copies bytes into transient memory.
    pub fn upload(&mut self, bytes: &[u8], alignment: u64) -> Result<TransientSlice, MemoryError> {
        unimplemented!()
    }

    // --- order ------------------------------------------------------------------------------------------------
    /// A global memory barrier; ends the rendering scope.
    pub fn barrier(&mut self, src: Access, dst: Access) {
        unimplemented!()
    }
    /// Everything before happens before everything after.
    pub fn barrier_all(&mut self) {
        self.barrier(Access::All, Access::All)
    }
    /// Ends the rendering scope, if one is open.
    pub fn end_rendering(&mut self) {
        unimplemented!()
    }

    // --- queries and labels -----------------------------------------------------------------------------------
    /// Writes a timestamp when everything before is done.
    pub fn write_timestamp(&mut self, pool: &QueryPool, query: u32) {
        unimplemented!()
    }
    /// Begins a query; it may span scopes of this encoder.
    pub fn begin_query(&mut self, pool: &QueryPool, query: u32, precise: bool) {
        unimplemented!()
    }
    /// Ends it.
    pub fn end_query(&mut self, pool: &QueryPool, query: u32) {
        unimplemented!()
    }
    /// Copies results (64 bit, waited for) into a buffer.
    pub fn copy_query_results(&mut self, pool: &QueryPool, first: u32, count: u32, dst: BufferRange, stride: u64) {
        unimplemented!()
    }
    /// Opens a label for RenderDoc and the like.
    pub fn begin_label(&mut self, name: &str) {
        unimplemented!()
    }
    /// Closes it.
    pub fn end_label(&mut self) {
        unimplemented!()
    }
    /// Inserts a label.
    pub fn label(&mut self, name: &str) {
        unimplemented!()
    }
    /// What was recorded so far.
    pub fn counters(&self) -> &EncoderCounters {
        unimplemented!()
    }
    /// The command buffer, for commands this type has none for; state set through it is unknown to the encoder.
    pub fn raw(&self) -> vk::CommandBuffer {
        unimplemented!()
    }
}

fn _keep(_: &View) {}
