//! A command buffer with memory of its own, which records over what it recorded before.
#![allow(dead_code, reason = "each test program uses a part")]

use navin_abi::enums::{NVNshaderStage, NVNsyncCondition, NVNsyncFlagBits, NVNsyncWaitResult};
use navin_abi::types::*;
use nvn::trampolines::*;

use crate::guest::{Guest, object, storage};

const COMMAND_BYTES: usize = 1 << 18;
const CONTROL_BYTES: usize = 1 << 12;

pub struct Recorder {
    pub commands: *mut NVNcommandBuffer,
    pool: *mut NVNmemoryPool,
    /// Where the command memory begins.
    memory: *mut u8,
    offset: usize,
    control: *mut core::ffi::c_void,
}

impl Recorder {
    pub fn new(guest: &mut Guest) -> Self {
        let (offset, commands) = (guest.take(COMMAND_BYTES), object());
        // SAFETY: zeroed storage that stays; the offset is inside the pool.
        let memory = unsafe {
            assert_eq!(nvnCommandBufferInitialize(commands, guest.device), NVN_TRUE);
            guest.memory.add(offset)
        };
        Self { commands, pool: guest.pool, memory, offset, control: storage(CONTROL_BYTES) }
    }

    /// Records from the start of the command and control memory on.
    pub fn record(&self, record: impl FnOnce(*mut NVNcommandBuffer)) -> NVNcommandHandle {
        // SAFETY: a live command buffer, whose memory is its own.
        unsafe {
            nvnCommandBufferAddCommandMemory(self.commands, self.pool, self.offset as isize, COMMAND_BYTES);
            nvnCommandBufferAddControlMemory(self.commands, self.control, CONTROL_BYTES);
            nvnCommandBufferBeginRecording(self.commands);
            record(self.commands);
            let handle = nvnCommandBufferEndRecording(self.commands);
            assert_ne!(handle, 0);
            handle
        }
    }

    /// Bytes of the command memory that are used.
    pub fn used(&self) -> usize {
        // SAFETY: a live command buffer.
        unsafe { nvnCommandBufferGetCommandMemoryUsed(self.commands) }
    }

    /// Writes a word of the command memory, as a guest does that patches its commands (B228).
    pub fn patch(&self, at: usize, word: u32) {
        assert!(at + 4 <= COMMAND_BYTES);
        // SAFETY: inside the command memory.
        unsafe { self.memory.add(at).cast::<u32>().write_volatile(word) };
    }

    /// Writes other records over what is recorded, texture binds and draws as the next frame would, and garbage behind
    /// them. Nothing of it is submitted.
    pub fn overwrite(&self) {
        let before = self.used();
        self.record(|c| {
            for n in 0..4096u64 {
                // SAFETY: a live command buffer.
                unsafe {
                    nvnCommandBufferBindTexture(c, NVNshaderStage::FRAGMENT, (n % 32) as i32, 0xBAD0_0000 | n);
                    nvnCommandBufferDrawArrays(c, NVNdrawPrimitive::TRIANGLES, n as i32, 3);
                }
            }
        });
        let used = self.used();
        assert!(before <= used, "{before} bytes, of which {used} are overwritten");
        // SAFETY: inside the command and control memory.
        unsafe {
            self.memory.add(used).write_bytes(0xCC, COMMAND_BYTES - used);
            self.control.cast::<u8>().write_bytes(0xCC, CONTROL_BYTES);
        }
    }
}

/// Submits one recording, and waits until its completion is published.
pub fn complete(guest: &Guest, queue: *mut NVNqueue, handle: NVNcommandHandle) {
    let sync = guest.sync();
    // SAFETY: live objects.
    let result = unsafe {
        nvnQueueSubmitCommands(queue, 1, &handle);
        nvnQueueFenceSync(queue, sync, NVNsyncCondition::ALL_GPU_COMMANDS_COMPLETE, NVNsyncFlagBits(0));
        nvnSyncWait(sync, 30_000_000_000)
    };
    let ended = [NVNsyncWaitResult::CONDITION_SATISFIED, NVNsyncWaitResult::ALREADY_SIGNALED];
    assert!(ended.contains(&result), "{result:?}");
}
