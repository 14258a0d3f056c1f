//! Draws and dispatches.

use ash::vk;

use super::scope::Class;
use super::{Dirty, Encoder};
use crate::shader::Stage;

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
    /// 8-bit indices on a device that has none.
    #[error("the device has no 8-bit indices")]
    IndexType,
    /// Patches without tessellation shaders, tessellation shaders without patches, one of the two tessellation
    /// shaders alone, or adjacency on a device without geometry shaders.
    #[error("the topology does not fit the tessellation shaders")]
    Topology,
    /// Attachments with different sample counts.
    #[error("attachments differ in their sample counts")]
    SampleCounts,
    /// More work groups than the device can start.
    #[error("more work groups than the device can start")]
    GroupCount,
    /// An offset or stride of indirect parameters that is no multiple of 4.
    #[error("indirect parameters are not aligned")]
    Alignment,
}

impl Encoder {
    /// Makes ready for a draw, or says why it is left out.
    #[inline]
    fn prepare(&mut self, indexed: bool) -> Result<(), DrawError> {
        if self.dirty.intersects(Dirty::SHADERS.union(Dirty::ASSEMBLY)) {
            self.drawable = self.check_drawable();
        }
        let mut result = self.drawable;
        if indexed && result.is_ok() {
            result = match self.want.index {
                None => Err(DrawError::NoIndexBuffer),
                Some(index) if index.range.is_null() => Err(DrawError::NoIndexBuffer),
                Some(index) if index.kind == vk::IndexType::UINT8_EXT && !self.gpu.features.index_uint8 => {
                    Err(DrawError::IndexType)
                }
                Some(_) => Ok(()),
            };
        }
        if let Err(error) = result {
            self.counters.draws_skipped += 1;
            return Err(error);
        }
        if !self.scope.open {
            self.begin_rendering();
        }
        if !self.dirty.is_empty() {
            self.flush();
        }
        self.counters.draws += 1;
        Ok(())
    }

    fn aligned(&mut self, offsets: &[u64]) -> Result<(), DrawError> {
        if offsets.iter().any(|offset| offset & 3 != 0) {
            self.counters.draws_skipped += 1;
            return Err(DrawError::Alignment);
        }
        Ok(())
    }

    /// Draws.
    ///
    /// # Errors
    /// Why the draw was left out.
    #[inline]
    pub fn draw(
        &mut self,
        first_vertex: u32,
        vertices: u32,
        first_instance: u32,
        instances: u32,
    ) -> Result<(), DrawError> {
        self.prepare(false)?;
        // SAFETY: all state that shader objects need is set, a scope is open.
        unsafe { self.gpu.device.cmd_draw(self.commands, vertices, instances, first_vertex, first_instance) };
        Ok(())
    }

    /// Draws with indices.
    ///
    /// # Errors
    /// Why the draw was left out.
    #[inline]
    pub fn draw_indexed(
        &mut self,
        first_index: u32,
        indices: u32,
        vertex_offset: i32,
        first_instance: u32,
        instances: u32,
    ) -> Result<(), DrawError> {
        self.prepare(true)?;
        // SAFETY: as for `draw`; an index buffer is bound.
        unsafe {
            self.gpu.device.cmd_draw_indexed(
                self.commands,
                indices,
                instances,
                first_index,
                vertex_offset,
                first_instance,
            );
        }
        Ok(())
    }

    /// Draws with parameters (`VkDrawIndirectCommand`, 16 bytes) in a buffer. `stride` is a multiple of 4.
    ///
    /// # Errors
    /// Why the draw was left out.
    pub fn draw_indirect(&mut self, buffer: vk::Buffer, offset: u64, draws: u32, stride: u32) -> Result<(), DrawError> {
        self.aligned(&[offset, stride.into()])?;
        self.prepare(false)?;
        for (offset, draws) in self.indirect_pieces(offset, draws, stride, 16) {
            // SAFETY: as for `draw`; the caller says that the buffer holds the parameters.
            unsafe { self.gpu.device.cmd_draw_indirect(self.commands, buffer, offset, draws, stride) };
        }
        Ok(())
    }

    /// Draws with indices and parameters (`VkDrawIndexedIndirectCommand`, 20 bytes) in a buffer.
    ///
    /// # Errors
    /// Why the draw was left out.
    pub fn draw_indexed_indirect(
        &mut self,
        buffer: vk::Buffer,
        offset: u64,
        draws: u32,
        stride: u32,
    ) -> Result<(), DrawError> {
        self.aligned(&[offset, stride.into()])?;
        self.prepare(true)?;
        for (offset, draws) in self.indirect_pieces(offset, draws, stride, 20) {
            // SAFETY: as for `draw_indexed`; the caller says that the buffer holds the parameters.
            unsafe { self.gpu.device.cmd_draw_indexed_indirect(self.commands, buffer, offset, draws, stride) };
        }
        Ok(())
    }

    /// The commands that make up an indirect draw: one, or one a draw where the device takes no more, or where the
    /// stride is too small for more.
    fn indirect_pieces(
        &self,
        offset: u64,
        draws: u32,
        stride: u32,
        least_stride: u32,
    ) -> impl Iterator<Item = (u64, u32)> + use<> {
        let at_once = if draws <= 1 || (self.gpu.features.multi_draw_indirect && stride >= least_stride) {
            draws.min(self.gpu.device_limits.max_draw_indirect_count).max(1)
        } else {
            1
        };
        (0..draws)
            .step_by(at_once as usize)
            .map(move |first| (offset + u64::from(first) * u64::from(stride), at_once.min(draws - first)))
    }

    /// As [`Encoder::draw_indirect`], the number of draws (a word) in a buffer too, at most `max_draws`. Where the
    /// device has no such draw, `max_draws` are drawn.
    ///
    /// # Errors
    /// Why the draw was left out.
    pub fn draw_indirect_count(
        &mut self,
        buffer: vk::Buffer,
        offset: u64,
        count: vk::Buffer,
        count_offset: u64,
        max_draws: u32,
        stride: u32,
    ) -> Result<(), DrawError> {
        if !self.gpu.features.draw_indirect_count || stride < 16 {
            return self.draw_indirect(buffer, offset, max_draws, stride);
        }
        self.aligned(&[offset, count_offset, stride.into()])?;
        self.prepare(false)?;
        // SAFETY: as for `draw_indirect`.
        unsafe {
            self.gpu.device.cmd_draw_indirect_count(
                self.commands,
                buffer,
                offset,
                count,
                count_offset,
                max_draws,
                stride,
            );
        }
        Ok(())
    }

    /// As [`Encoder::draw_indexed_indirect`], the number of draws (a word) in a buffer too, at most `max_draws`.
    ///
    /// # Errors
    /// Why the draw was left out.
    pub fn draw_indexed_indirect_count(
        &mut self,
        buffer: vk::Buffer,
        offset: u64,
        count: vk::Buffer,
        count_offset: u64,
        max_draws: u32,
        stride: u32,
    ) -> Result<(), DrawError> {
        if !self.gpu.features.draw_indirect_count || stride < 20 {
            return self.draw_indexed_indirect(buffer, offset, max_draws, stride);
        }
        self.aligned(&[offset, count_offset, stride.into()])?;
        self.prepare(true)?;
        // SAFETY: as for `draw_indexed_indirect`.
        unsafe {
            self.gpu.device.cmd_draw_indexed_indirect_count(
                self.commands,
                buffer,
                offset,
                count,
                count_offset,
                max_draws,
                stride,
            );
        }
        Ok(())
    }

    fn prepare_dispatch(&mut self) -> Result<(), DrawError> {
        let Some(shader) = &self.compute else {
            self.counters.draws_skipped += 1;
            return Err(DrawError::NoShader);
        };
        let raw = shader.raw();
        self.enter(Class::Compute);
        if self.compute_emitted != raw {
            let stages = [vk::ShaderStageFlags::COMPUTE];
            // SAFETY: the shader is alive (the encoder holds it) and a compute shader.
            unsafe { self.gpu.shader_object.cmd_bind_shaders(self.commands, &stages, &[raw]) };
            self.compute_emitted = raw;
            self.counters.shader_binds += 1;
        }
        let bindings = &self.bindings[Stage::Compute as usize];
        if bindings.used & !bindings.written != 0 {
            self.write_constants(Stage::Compute, vk::PipelineBindPoint::COMPUTE);
        }
        self.counters.dispatches += 1;
        Ok(())
    }

    /// Runs the compute shader; ends the rendering scope. Dispatches are not ordered among themselves.
    ///
    /// # Errors
    /// Why the dispatch was left out.
    pub fn dispatch(&mut self, x: u32, y: u32, z: u32) -> Result<(), DrawError> {
        let most = self.gpu.device_limits.max_compute_work_group_count;
        if [x, y, z].iter().zip(most).any(|(count, most)| *count > most) {
            self.counters.draws_skipped += 1;
            return Err(DrawError::GroupCount);
        }
        self.prepare_dispatch()?;
        // SAFETY: a compute shader and its constants are bound, no scope is open.
        unsafe { self.gpu.device.cmd_dispatch(self.commands, x, y, z) };
        Ok(())
    }

    /// Runs the compute shader with group counts (`VkDispatchIndirectCommand`, 12 bytes) in a buffer.
    ///
    /// # Errors
    /// Why the dispatch was left out.
    pub fn dispatch_indirect(&mut self, buffer: vk::Buffer, offset: u64) -> Result<(), DrawError> {
        self.aligned(&[offset])?;
        self.prepare_dispatch()?;
        // SAFETY: as for `dispatch`; the caller says that the buffer holds the counts.
        unsafe { self.gpu.device.cmd_dispatch_indirect(self.commands, buffer, offset) };
        Ok(())
    }
}
