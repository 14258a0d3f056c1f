//! Every recording function, called as often as the rest: `./x bench callgrind` takes the instructions of each call
//! from the profile (budgets: a draw 150, BindTexture 40, the median 80).
//!
//! Usage: `callgrind_calls [CALLS]` (1,000), which is ten times the calls of each function.

#[macro_use]
#[path = "../src/entry/command_buffer/tests/arguments.rs"]
#[allow(dead_code)]
mod arguments;

use std::ptr::NonNull;

use arguments::{Arguments, COMMANDS, GPU, Pointers, commands, memory, object};
use navin::entry::table::entry_point;
use navin_abi::records::{DeviceRecord, MemoryPoolRecord};
use navin_abi::types::NVNcommandBuffer;
use navin_abi::{FunctionId, pfn};

const CONTROL: usize = 64 << 10;

/// Functions that would end the recording, or the buffer, under the others.
const LEFT_OUT: [&str; 9] = [
    "nvnCommandBufferInitialize",
    "nvnCommandBufferFinalize",
    "nvnCommandBufferBeginRecording",
    "nvnCommandBufferEndRecording",
    "nvnCommandBufferAddCommandMemory",
    "nvnCommandBufferAddControlMemory",
    "nvnCommandBufferCallCommands",
    "nvnCommandBufferCopyCommands",
    // Every number 1 is a byte past a buffer of one: called with a matrix instead.
    "nvnCommandBufferUpdateUniformBuffer",
];

fn main() {
    let calls: u32 = std::env::args().nth(1).map_or(1000, |text| text.parse().expect("a number of calls"));
    let buffer: *mut NVNcommandBuffer = memory(8192).as_ptr().cast();
    let device = object(&DeviceRecord::new(0));
    let pool = {
        let commands: NonNull<u64> = memory(COMMANDS);
        object(&MemoryPoolRecord::new(1, GPU, commands.as_ptr() as u64, COMMANDS as u64, 0x22))
    };
    let control = memory(CONTROL);
    let matrix = [1.0f32; 16];
    nvn!(nvnCommandBufferInitialize(buffer, device));
    for _ in 0..calls / 10 {
        nvn!(nvnCommandBufferAddCommandMemory(buffer, pool, 0, COMMANDS));
        nvn!(nvnCommandBufferAddControlMemory(buffer, control.as_ptr().cast(), CONTROL));
        nvn!(nvnCommandBufferBeginRecording(buffer));
        for (name, call) in commands() {
            if !LEFT_OUT.contains(&name) {
                call(&Arguments { guest: buffer, pointers: Pointers::Live, number: 1 });
            }
        }
        nvn!(nvnCommandBufferUpdateUniformBuffer(buffer, GPU, 256, 0, 64, matrix.as_ptr().cast()));
        nvn!(nvnCommandBufferEndRecording(buffer));
    }
}
