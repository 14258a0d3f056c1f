//! A frame of draws with their state, for the bench and for callgrind.
#![allow(dead_code)]

use std::ptr::NonNull;

use navin_abi::GuestPtr;
use navin_abi::records::CommandBufferRecord;
use navin_command::record::immediate::{ElementMode, StageSlot};
use navin_command::record::payload::{BufferRange, DrawElements, HandleGap, Object};
use navin_command::record::{U64, op};
use navin_command::{CommandBuffer, Host, PieceMemory};

/// Most draws of a frame.
pub const DRAWS: u64 = 1000;
/// The host side.
pub static HOST: Host = Host::new();
const GPU: u64 = 0x1_0000_0000;
const COMMANDS: usize = 1 << 20;
const CONTROL: usize = 4096;

/// A guest with a command buffer.
pub struct Frame {
    record: NonNull<CommandBufferRecord>,
    commands: NonNull<u8>,
    control: NonNull<u8>,
}

impl PieceMemory for Frame {
    fn host_memory(&self, address: u64, bytes: u32) -> Option<NonNull<u8>> {
        let offset = usize::try_from(address.checked_sub(GPU)?).ok()?;
        // SAFETY: inside the commands.
        (offset + bytes as usize <= COMMANDS).then(|| unsafe { self.commands.add(offset) })
    }
}

fn memory(bytes: usize) -> NonNull<u8> {
    let words: &'static mut [u64] = Box::leak(vec![0u64; bytes / 8].into_boxed_slice());
    NonNull::from(words).cast()
}

impl Default for Frame {
    fn default() -> Self {
        Self::new()
    }
}

impl Frame {
    /// An initialized command buffer and its memory.
    pub fn new() -> Self {
        let frame = Self { record: memory(160).cast(), commands: memory(COMMANDS), control: memory(CONTROL) };
        frame.buffer().initialize();
        frame
    }

    fn buffer(&self) -> CommandBuffer {
        // SAFETY: 160 bytes that are never freed, used by one thread.
        unsafe { CommandBuffer::new(self.record.as_ptr()) }.expect("not null")
    }

    /// Records a frame of so many draws, at most [`DRAWS`]: its handle.
    pub fn record(&self, draws: u64) -> u64 {
        let buffer = self.buffer();
        // SAFETY: the frame's own memory.
        unsafe {
            buffer.add_command_memory(&HOST, self.commands, GPU, COMMANDS as u64);
            buffer.add_control_memory(&HOST, GuestPtr::from_host(self.control.as_ptr()), CONTROL as u64);
        }
        buffer.begin(&HOST);
        for draw in 0..draws {
            draw_with_state(buffer, draw);
        }
        buffer.end(&HOST)
    }
}

/// What an engine records for one of many objects.
#[inline(never)]
pub fn draw_with_state(buffer: CommandBuffer, number: u64) {
    if number.is_multiple_of(10) {
        buffer.record_run::<op::BindProgram>(&HOST, 0x1f, &(), 1, |_| Object { serial: U64::new(number) });
        buffer.record::<op::BindBlendState>(&HOST, (), &[number as u32; 2]);
        buffer.record::<op::BindDepthStencilState>(&HOST, (), &[number as u32; 2]);
    }
    let range = BufferRange { address: U64::new(GPU + number * 256), size: 256 };
    buffer.record_run::<op::BindVertexBuffers>(&HOST, 0, &(), 1, |_| range);
    buffer.record_run::<op::BindUniformBuffers>(&HOST, StageSlot::new(0, 1), &(), 1, |_| range);
    buffer.record_run::<op::BindTextures>(&HOST, StageSlot::new(1, 0), &HandleGap::default(), 1, |_| number as u32);
    draw_elements(buffer, number);
}

/// A draw alone, as an entry point records it; callgrind counts its instructions.
#[inline(never)]
pub fn draw_elements(buffer: CommandBuffer, number: u64) {
    let draw = DrawElements { count: 36, index_buffer: U64::new(GPU + number * 4) };
    buffer.record::<op::DrawElements>(&HOST, ElementMode::new(4, 1), &draw);
}
