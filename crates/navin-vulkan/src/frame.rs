//! What one submission is recorded with: command buffers, descriptor sets of stage constants, transient memory.
//!
//! A frame is taken by [`Queue::begin`](crate::Queue::begin) and comes back when the timeline passes its
//! submission. Descriptor sets stay allocated over a frame's lives and are handed out from the start again: taking
//! one is an index step, rewriting it is safe because its last use is complete.

use std::sync::Arc;

use ash::vk;

use crate::gpu::Gpu;
use crate::layout::{CONSTANT_BANKS, Layouts, STAGE_SETS, STORAGE_SLOTS};
use crate::query::{FrameQueries, FreeQueries};
use crate::transient::{FreeBlocks, Transient};

/// Sets allocated at once.
const CHUNK: u32 = 64;

#[derive(Default)]
struct SetList {
    sets: Vec<vk::DescriptorSet>,
    next: usize,
}

pub(crate) struct Frame {
    gpu: Arc<Gpu>,
    pool: vk::CommandPool,
    /// The submission's commands.
    pub(crate) commands: vk::CommandBuffer,
    /// What goes before them (`prologue`).
    pub(crate) prologue: vk::CommandBuffer,
    descriptor_pools: Vec<vk::DescriptorPool>,
    /// By stage set (0 for set 1).
    sets: [SetList; STAGE_SETS],
    pub(crate) transient: Transient,
    pub(crate) queries: FrameQueries,
}

impl Frame {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Result<Self, vk::Result> {
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(gpu.queue_family);
        // SAFETY: the queue family is the one that the device was made with.
        let pool = unsafe { gpu.device.create_command_pool(&info, None) }?;
        // From here on dropping `frame` destroys the pool.
        let mut frame = Self {
            gpu: gpu.clone(),
            pool,
            commands: vk::CommandBuffer::null(),
            prologue: vk::CommandBuffer::null(),
            descriptor_pools: Vec::new(),
            sets: Default::default(),
            transient: Transient::default(),
            queries: FrameQueries::default(),
        };
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(2);
        // SAFETY: the pool is alive and used by this thread only.
        let buffers = unsafe { gpu.device.allocate_command_buffers(&info) }?;
        if let [commands, prologue] = buffers[..] {
            frame.commands = commands;
            frame.prologue = prologue;
        }
        Ok(frame)
    }

    /// A descriptor set of a stage set (0 for set 1) that nothing in flight uses.
    #[inline]
    pub(crate) fn set(&mut self, layouts: &Layouts, index: usize) -> Result<vk::DescriptorSet, vk::Result> {
        let list = &mut self.sets[index];
        if let Some(&set) = list.sets.get(list.next) {
            list.next += 1;
            return Ok(set);
        }
        self.grow(layouts, index)
    }

    #[cold]
    fn grow(&mut self, layouts: &Layouts, index: usize) -> Result<vk::DescriptorSet, vk::Result> {
        let size = |ty, count: usize| vk::DescriptorPoolSize::default().ty(ty).descriptor_count(CHUNK * count as u32);
        let sizes = [
            size(vk::DescriptorType::UNIFORM_BUFFER, CONSTANT_BANKS),
            size(vk::DescriptorType::STORAGE_BUFFER, STORAGE_SLOTS),
        ];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(CHUNK).pool_sizes(&sizes);
        let set_layouts = [layouts.sets[1 + index]; CHUNK as usize];
        // SAFETY: valid descriptions; the pool has room for exactly these sets and is destroyed with the frame.
        let sets = unsafe {
            let pool = self.gpu.device.create_descriptor_pool(&info, None)?;
            self.descriptor_pools.push(pool);
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&set_layouts);
            self.gpu.device.allocate_descriptor_sets(&info)?
        };
        let list = &mut self.sets[index];
        list.sets.extend_from_slice(&sets);
        let set = list.sets.get(list.next).copied().ok_or(vk::Result::ERROR_OUT_OF_POOL_MEMORY)?;
        list.next += 1;
        Ok(set)
    }

    /// Makes the frame ready for another submission. Its work must be complete or never submitted.
    pub(crate) fn reset(&mut self, free: &FreeBlocks, queries: &FreeQueries) -> Result<(), vk::Result> {
        for list in &mut self.sets {
            list.next = 0;
        }
        self.transient.recycle(free);
        self.queries.recycle(queries);
        // SAFETY: neither command buffer is pending.
        unsafe { self.gpu.device.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty()) }
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        // SAFETY: frames are dropped only when their work is complete, was never submitted, or can never run
        // (device lost).
        unsafe {
            for pool in self.descriptor_pools.drain(..) {
                self.gpu.device.destroy_descriptor_pool(pool, None);
            }
            self.gpu.device.destroy_command_pool(self.pool, None);
        }
    }
}
