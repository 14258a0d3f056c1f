//! What the next submission does before its own commands: new images get their layout, new device-local pools their
//! content.
//!
//! Images and pools are made on any thread, without a submission of their own: values of the timeline are the submit
//! thread's alone. Whatever is dropped before a submission came leaves the list again.

use ash::vk;

use crate::frame::Frame;
use crate::gpu::Gpu;
use crate::memory::Buffer;

/// What waits for the next submission.
#[derive(Default)]
pub(crate) struct Fresh {
    /// Images whose layout is still undefined.
    pub(crate) images: Vec<(vk::Image, vk::ImageAspectFlags)>,
    /// Buffers whose content is still undefined.
    pub(crate) pools: Vec<FreshPool>,
}

/// A buffer that begins as zeroes but for some pieces.
pub(crate) struct FreshPool {
    pub(crate) buffer: vk::Buffer,
    pub(crate) pieces: Vec<FreshPiece>,
}

/// Bytes of a new buffer.
pub(crate) struct FreshPiece {
    pub(crate) staging: Buffer,
    pub(crate) copies: Vec<vk::BufferCopy>,
}

impl Fresh {
    pub(crate) fn is_empty(&self) -> bool {
        self.images.is_empty() && self.pools.is_empty()
    }

    /// Puts back what could not be submitted.
    pub(crate) fn append(&mut self, mut other: Fresh) {
        self.images.append(&mut other.images);
        self.pools.append(&mut other.pools);
    }

    /// The buffer is dropped: it needs no content any more.
    pub(crate) fn forget_pool(&mut self, buffer: vk::Buffer) -> Option<FreshPool> {
        let index = self.pools.iter().position(|pool| pool.buffer == buffer)?;
        Some(self.pools.swap_remove(index))
    }

    /// Records it into a frame's prologue; nothing when there is nothing.
    pub(crate) fn record(&self, gpu: &Gpu, frame: &Frame) -> Result<(), vk::Result> {
        if self.is_empty() {
            return Ok(());
        }
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the prologue is not pending; what is in the lists is alive until the retire queue sees this encoder
        // complete, which is after the submission that follows.
        unsafe {
            gpu.device.begin_command_buffer(frame.prologue, &begin)?;
            self.fill_pools(gpu, frame);
            self.move_images(gpu, frame);
            gpu.device.end_command_buffer(frame.prologue)
        }
    }

    /// # Safety
    /// The prologue is being recorded; the buffers are alive.
    unsafe fn fill_pools(&self, gpu: &Gpu, frame: &Frame) {
        if self.pools.is_empty() {
            return;
        }
        // SAFETY: the caller's promise; copies lie inside their buffers.
        unsafe {
            for pool in &self.pools {
                gpu.device.cmd_fill_buffer(frame.prologue, pool.buffer, 0, vk::WHOLE_SIZE, 0);
            }
            barrier(gpu, frame, vk::PipelineStageFlags2::ALL_TRANSFER, vk::AccessFlags2::TRANSFER_WRITE);
            for pool in &self.pools {
                for piece in &pool.pieces {
                    gpu.device.cmd_copy_buffer(frame.prologue, piece.staging.raw(), pool.buffer, &piece.copies);
                }
            }
            let anything = vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE;
            barrier(gpu, frame, vk::PipelineStageFlags2::ALL_COMMANDS, anything);
        }
    }

    /// # Safety
    /// The prologue is being recorded; the images are alive.
    unsafe fn move_images(&self, gpu: &Gpu, frame: &Frame) {
        if self.images.is_empty() {
            return;
        }
        let barriers: Vec<_> = self
            .images
            .iter()
            .map(|&(image, aspects)| {
                vk::ImageMemoryBarrier2::default()
                    .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                    .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                    .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE)
                    .old_layout(vk::ImageLayout::UNDEFINED)
                    .new_layout(vk::ImageLayout::GENERAL)
                    .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .image(image)
                    .subresource_range(vk::ImageSubresourceRange {
                        aspect_mask: aspects,
                        base_mip_level: 0,
                        level_count: vk::REMAINING_MIP_LEVELS,
                        base_array_layer: 0,
                        layer_count: vk::REMAINING_ARRAY_LAYERS,
                    })
            })
            .collect();
        let dependency = vk::DependencyInfo::default().image_memory_barriers(&barriers);
        // SAFETY: the caller's promise.
        unsafe { gpu.device.cmd_pipeline_barrier2(frame.prologue, &dependency) };
    }
}

/// Transfer writes before happen before `stages` and `access` after.
///
/// # Safety
/// The prologue is being recorded.
unsafe fn barrier(gpu: &Gpu, frame: &Frame, stages: vk::PipelineStageFlags2, access: vk::AccessFlags2) {
    let barriers = [vk::MemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::ALL_TRANSFER)
        .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
        .dst_stage_mask(stages)
        .dst_access_mask(access)];
    let dependency = vk::DependencyInfo::default().memory_barriers(&barriers);
    // SAFETY: the caller's promise.
    unsafe { gpu.device.cmd_pipeline_barrier2(frame.prologue, &dependency) };
}
