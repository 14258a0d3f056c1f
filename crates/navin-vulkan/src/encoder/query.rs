//! Queries, conditional rendering, and labels for debuggers.

use std::ffi::CString;

use ash::vk;

use super::scope::{Access, Class};
use super::{BufferRange, Encoder};
use crate::query::QueryPool;

impl Encoder {
    /// Writes a timestamp when everything before is done. Queries out of range are left out, here and below.
    pub fn write_timestamp(&mut self, pool: &QueryPool, query: u32) {
        if query >= pool.count() {
            return;
        }
        if self.scope.has_pending_clears() {
            self.end_rendering();
        }
        let stage = vk::PipelineStageFlags2::ALL_COMMANDS;
        // SAFETY: recording; the query is in the pool and was reset by its owner.
        unsafe { self.gpu.device.cmd_write_timestamp2(self.commands, stage, pool.raw(), query) };
    }

    /// Begins a query; it may span scopes of this encoder. `precise` wants exact occlusion counts.
    pub fn begin_query(&mut self, pool: &QueryPool, query: u32, precise: bool) {
        if query >= pool.count() {
            return;
        }
        // Begun outside a scope, it must end outside one, and may have scopes inside.
        self.end_rendering();
        let flags = if precise && self.gpu.features.precise_occlusion {
            vk::QueryControlFlags::PRECISE
        } else {
            vk::QueryControlFlags::empty()
        };
        // SAFETY: recording outside a scope; the query is in the pool and was reset by its owner.
        unsafe { self.gpu.device.cmd_begin_query(self.commands, pool.raw(), query, flags) };
    }

    /// Ends a query begun in this encoder.
    pub fn end_query(&mut self, pool: &QueryPool, query: u32) {
        if query >= pool.count() {
            return;
        }
        self.end_rendering();
        // SAFETY: as above; the caller began it.
        unsafe { self.gpu.device.cmd_end_query(self.commands, pool.raw(), query) };
    }

    /// Copies results (64 bit, waited for) into a buffer at `stride` bytes from one to the next.
    pub fn copy_query_results(&mut self, pool: &QueryPool, first: u32, count: u32, dst: BufferRange, stride: u64) {
        if first >= pool.count() || count == 0 || count > pool.count() - first || dst.is_null() {
            return;
        }
        self.enter(Class::Transfer);
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: recording outside a scope; the range is in the pool; the caller's buffer holds the results.
        unsafe {
            self.gpu.device.cmd_copy_query_pool_results(
                self.commands,
                pool.raw(),
                first,
                count,
                dst.buffer,
                dst.offset,
                stride,
                flags,
            );
        }
        self.counters.transfers += 1;
    }

    /// Lets draws, dispatches and clears of attachments run only if the word at `range` is not 0 (or is, with
    /// `inverted`); `None` lets them run always. Where the device cannot, they always run. The offset is a multiple
    /// of 4, else it counts as `None`.
    pub fn set_condition(&mut self, condition: Option<(BufferRange, bool)>) {
        let Some(loader) = self.gpu.conditional.clone() else { return };
        let condition = condition.filter(|(range, _)| !range.is_null() && range.offset.is_multiple_of(4));
        if condition.is_none() && self.condition.is_none() {
            return;
        }
        self.end_rendering();
        if self.condition.take().is_some() {
            // SAFETY: one was begun outside a scope, and none is open.
            unsafe { (loader.fp().cmd_end_conditional_rendering_ext)(self.commands) };
        }
        let Some((range, inverted)) = condition else { return };
        self.emit_barrier(Access::All, Access::All);
        self.last = Class::None;
        let flags = if inverted {
            vk::ConditionalRenderingFlagsEXT::INVERTED
        } else {
            vk::ConditionalRenderingFlagsEXT::empty()
        };
        let info =
            vk::ConditionalRenderingBeginInfoEXT::default().buffer(range.buffer).offset(range.offset).flags(flags);
        // SAFETY: the feature is enabled; the caller's buffer is alive, its usage includes predicates.
        unsafe { (loader.fp().cmd_begin_conditional_rendering_ext)(self.commands, &info) };
        self.condition = condition;
    }

    /// Opens a label for RenderDoc and the like.
    pub fn begin_label(&mut self, name: &str) {
        self.with_label(name, |debug, commands, label| {
            // SAFETY: recording; the extension is enabled.
            unsafe { debug.device.cmd_begin_debug_utils_label(commands, label) }
        });
    }

    /// Closes the label opened last.
    pub fn end_label(&mut self) {
        if let Some(debug) = &self.gpu.debug {
            // SAFETY: recording; the caller opened one.
            unsafe { debug.device.cmd_end_debug_utils_label(self.commands) };
        }
    }

    /// Inserts a label.
    pub fn label(&mut self, name: &str) {
        self.with_label(name, |debug, commands, label| {
            // SAFETY: recording; the extension is enabled.
            unsafe { debug.device.cmd_insert_debug_utils_label(commands, label) }
        });
    }

    fn with_label(
        &self,
        name: &str,
        f: impl FnOnce(&crate::gpu::DebugUtils, vk::CommandBuffer, &vk::DebugUtilsLabelEXT<'_>),
    ) {
        let Some(debug) = &self.gpu.debug else { return };
        let Ok(name) = CString::new(name) else { return };
        f(debug, self.commands, &vk::DebugUtilsLabelEXT::default().label_name(&name));
    }
}
