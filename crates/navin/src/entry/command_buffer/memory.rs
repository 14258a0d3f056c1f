//! Life of a command buffer, its memory, its recordings, and what it calls.

use std::ffi::c_void;
use std::ptr::NonNull;

use navin_abi::records::{DeviceRecord, MemoryPoolRecord};
use navin_abi::types::*;
use navin_abi::{GuestPtr, fault};

use super::HOST;
use super::args::{Array, commands, open, open_live, refuse};
use crate::entry::object::{LONGEST_ARRAY, address, boolean, live, pointer};
use crate::{driver, host};

commands! {
    [
        nvnCommandBufferInitialize,
        nvnCommandBufferFinalize,
        nvnCommandBufferSetMemoryCallback,
        nvnCommandBufferGetMemoryCallback,
        nvnCommandBufferSetMemoryCallbackData,
        nvnCommandBufferGetMemoryCallbackData,
        nvnCommandBufferAddCommandMemory,
        nvnCommandBufferAddControlMemory,
        nvnCommandBufferGetCommandMemorySize,
        nvnCommandBufferGetCommandMemoryUsed,
        nvnCommandBufferGetCommandMemoryFree,
        nvnCommandBufferGetControlMemorySize,
        nvnCommandBufferGetControlMemoryUsed,
        nvnCommandBufferGetControlMemoryFree,
        nvnCommandBufferIsRecording,
        nvnCommandBufferEndRecording,
        nvnCommandBufferSetCopyRowStride,
        nvnCommandBufferGetCopyRowStride,
        nvnCommandBufferSetCopyImageStride,
        nvnCommandBufferGetCopyImageStride,
    ]

    fn nvnCommandBufferBeginRecording() |buffer| {
        buffer.begin(&HOST);
    }

    fn nvnCommandBufferCallCommands(count: i32, handles: *const NVNcommandHandle) |buffer| {
        if let Some(handles) = self::handles(count, handles, CALL) {
            buffer.call(&HOST, handles);
        }
    }

    fn nvnCommandBufferCopyCommands(count: i32, handles: *const NVNcommandHandle) |buffer| {
        if let (Some(handles), Some(driver)) = (self::handles(count, handles, CALL), driver::get()) {
            buffer.copy(&HOST, &driver.pools, handles);
        }
    }
}

fn handles(count: i32, handles: *const u64, call: &'static str) -> Option<impl Iterator<Item = u64>> {
    let Some(count) = usize::try_from(count).ok().filter(|count| *count <= LONGEST_ARRAY) else {
        refuse(call, format_args!("{count} handles"));
        return None;
    };
    let handles = if count > 0 { Some(Array::new(handles, call)?) } else { None };
    Some((0..count).filter_map(move |i| handles.as_ref().map(|h| h.at(i))))
}

pub(crate) extern "C" fn nvnCommandBufferInitialize(
    command_buffer: *mut NVNcommandBuffer,
    device: *mut NVNdevice,
) -> NVNboolean {
    const CALL: &str = "nvnCommandBufferInitialize";
    let (Some(_), Some(buffer)) = (live::<DeviceRecord, _>(device, CALL), open(command_buffer, CALL)) else {
        return NVN_FALSE;
    };
    buffer.initialize();
    NVN_TRUE
}

pub(crate) extern "C" fn nvnCommandBufferFinalize(command_buffer: *mut NVNcommandBuffer) {
    if let Some(buffer) = open_live(command_buffer, "nvnCommandBufferFinalize") {
        buffer.finalize();
    }
}

pub(crate) extern "C" fn nvnCommandBufferSetMemoryCallback(
    command_buffer: *mut NVNcommandBuffer,
    callback: PFNNVNCOMMANDBUFFERMEMORYCALLBACKPROC,
) {
    if let Some(buffer) = open_live(command_buffer, "nvnCommandBufferSetMemoryCallback") {
        buffer.set_callback(callback.map_or(0, |callback| callback as *const () as u64));
    }
}

pub(crate) extern "C" fn nvnCommandBufferGetMemoryCallback(
    command_buffer: *const NVNcommandBuffer,
) -> PFNNVNCOMMANDBUFFERMEMORYCALLBACKPROC {
    let callback = open_live(command_buffer, "nvnCommandBufferGetMemoryCallback").map_or(0, |b| b.callback());
    let callback: *mut c_void = pointer(callback);
    // SAFETY: an optional function pointer has the bits of a pointer; these came from SetMemoryCallback.
    unsafe { std::mem::transmute::<*mut c_void, PFNNVNCOMMANDBUFFERMEMORYCALLBACKPROC>(callback) }
}

pub(crate) extern "C" fn nvnCommandBufferSetMemoryCallbackData(
    command_buffer: *mut NVNcommandBuffer,
    data: *mut c_void,
) {
    if let Some(buffer) = open_live(command_buffer, "nvnCommandBufferSetMemoryCallbackData") {
        buffer.set_callback_data(address(data));
    }
}

pub(crate) extern "C" fn nvnCommandBufferGetMemoryCallbackData(command_buffer: *const NVNcommandBuffer) -> *mut c_void {
    pointer(open_live(command_buffer, "nvnCommandBufferGetMemoryCallbackData").map_or(0, |b| b.callback_data()))
}

pub(crate) extern "C" fn nvnCommandBufferAddCommandMemory(
    command_buffer: *mut NVNcommandBuffer,
    pool: *const NVNmemoryPool,
    offset: isize,
    size: usize,
) {
    const CALL: &str = "nvnCommandBufferAddCommandMemory";
    let Some(buffer) = open_live(command_buffer, CALL) else { return };
    let size = size as u64;
    if pool.is_null() {
        buffer.add_command_memory_without_pool(&HOST, size);
        return;
    }
    let Some(pool) = live::<MemoryPoolRecord, _>(pool, CALL) else { return };
    let memory = u64::try_from(offset).ok().and_then(|offset| {
        if offset.checked_add(size)? > pool.size {
            return None;
        }
        let address = pool.gpu_address.wrapping_add(offset);
        // A virtual pool has no storage of its own: the memory is where its pages are (B115).
        let memory = match pool.storage {
            0 => host::pools::virtual_memory(pool.id, address, size)?,
            storage => NonNull::new(GuestPtr::<u8>::new(storage.checked_add(offset)?).host())?,
        };
        Some((memory, address))
    });
    match memory {
        // SAFETY: inside the pool's storage, which the guest keeps for as long as it records there.
        Some((memory, address)) => unsafe { buffer.add_command_memory(&HOST, memory, address, size) },
        None => {
            fault!(
                "",
                "{CALL}: {size} bytes at {offset:#x} of a pool of {} bytes, storage {:#x}; none is added",
                pool.size,
                pool.storage
            );
        }
    }
}

pub(crate) extern "C" fn nvnCommandBufferAddControlMemory(
    command_buffer: *mut NVNcommandBuffer,
    memory: *mut c_void,
    size: usize,
) {
    if let Some(buffer) = open_live(command_buffer, "nvnCommandBufferAddControlMemory") {
        // SAFETY: `size` bytes at `memory` are the buffer's control memory now, as the guest's call says.
        unsafe { buffer.add_control_memory(&HOST, GuestPtr::new(address(memory)), size as u64) };
    }
}

macro_rules! getters {
    ($($name:ident -> $type:ty: |$buffer:ident| $value:expr;)*) => {
        $(pub(crate) extern "C" fn $name(command_buffer: *const NVNcommandBuffer) -> $type {
            open_live(command_buffer, stringify!($name)).map_or(0, |$buffer| $value as $type)
        })*
    };
}
getters! {
    nvnCommandBufferGetCommandMemorySize -> usize: |b| b.command_memory_size();
    nvnCommandBufferGetCommandMemoryUsed -> usize: |b| b.command_memory_used();
    nvnCommandBufferGetCommandMemoryFree -> usize: |b| b.command_memory_free();
    nvnCommandBufferGetControlMemorySize -> usize: |b| b.control_memory_size();
    nvnCommandBufferGetControlMemoryUsed -> usize: |b| b.control_memory_used();
    nvnCommandBufferGetControlMemoryFree -> usize: |b| b.control_memory_free();
    nvnCommandBufferGetCopyRowStride -> isize: |b| b.copy_strides().0;
    nvnCommandBufferGetCopyImageStride -> isize: |b| b.copy_strides().1;
}

pub(crate) extern "C" fn nvnCommandBufferIsRecording(command_buffer: *const NVNcommandBuffer) -> NVNboolean {
    boolean(open(command_buffer, "nvnCommandBufferIsRecording").is_some_and(|b| b.is_recording()))
}

pub(crate) extern "C" fn nvnCommandBufferEndRecording(command_buffer: *mut NVNcommandBuffer) -> NVNcommandHandle {
    open(command_buffer, "nvnCommandBufferEndRecording").map_or(0, |b| b.end(&HOST))
}

pub(crate) extern "C" fn nvnCommandBufferSetCopyRowStride(command_buffer: *mut NVNcommandBuffer, stride: isize) {
    if let Some(buffer) = open_live(command_buffer, "nvnCommandBufferSetCopyRowStride") {
        buffer.set_copy_row_stride(stride as i64);
    }
}

pub(crate) extern "C" fn nvnCommandBufferSetCopyImageStride(command_buffer: *mut NVNcommandBuffer, stride: isize) {
    if let Some(buffer) = open_live(command_buffer, "nvnCommandBufferSetCopyImageStride") {
        buffer.set_copy_image_stride(stride as i64);
    }
}
