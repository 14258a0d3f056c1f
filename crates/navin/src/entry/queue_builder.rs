//! `nvnQueueBuilder*`: the sizes of a queue's memory are kept and answered (B217). Navin's queues use none of it.

use navin_abi::device_info::{self, Generation};
use navin_abi::records::{QueueBuilderRecord, QueueMemory};
use navin_abi::types::*;

use super::object::{accessors, address, boolean, live, output, pointer, raw, store};
use super::table::entries;

/// The device's default for a size: what the getter of a size writes that was not set.
fn device_default(item: NVNdeviceInfo) -> u32 {
    // The two generations do not differ here.
    device_info::lookup(item, Generation::X1).and_then(|value| u32::try_from(value).ok()).unwrap_or(0)
}

/// The builder that SetDefaults makes for a device.
pub(crate) fn defaults(device: u64) -> QueueBuilderRecord {
    let command = device_default(NVNdeviceInfo::QUEUE_COMMAND_MEMORY_DEFAULT_SIZE);
    let compute = device_default(NVNdeviceInfo::QUEUE_COMPUTE_MEMORY_DEFAULT_SIZE);
    let control = device_default(NVNdeviceInfo::QUEUE_CONTROL_MEMORY_DEFAULT_SIZE);
    let flush = device_default(NVNdeviceInfo::QUEUE_COMMAND_MEMORY_MIN_FLUSH_THRESHOLD);
    QueueBuilderRecord::new(device, [command, compute, control, 0, flush])
}

/// Bytes of memory that the queue would use: its sizes, the device's defaults for those not set, each rounded up
/// to the device's granularity.
fn memory_size(b: &QueueBuilderRecord) -> usize {
    let parts = [
        (QueueMemory::Command, NVNdeviceInfo::QUEUE_COMMAND_MEMORY_GRANULARITY),
        (QueueMemory::Compute, NVNdeviceInfo::QUEUE_COMPUTE_MEMORY_GRANULARITY),
        (QueueMemory::Control, NVNdeviceInfo::QUEUE_CONTROL_MEMORY_GRANULARITY),
    ];
    let size =
        |(part, granularity)| (b.size(part).0 as usize).next_multiple_of(device_default(granularity).max(1) as usize);
    parts.map(size).iter().sum()
}

fn set_size(b: &mut QueueBuilderRecord, which: QueueMemory, size: usize) -> bool {
    u32::try_from(size).map(|size| b.set_size(which, size)).is_ok()
}

pub(crate) extern "C" fn nvnQueueBuilderSetDevice(builder: *mut NVNqueueBuilder, device: *mut NVNdevice) {
    store(builder, address(device));
}

pub(crate) extern "C" fn nvnQueueBuilderSetDefaults(builder: *mut NVNqueueBuilder) {
    store(builder, defaults(raw::<u64, _>(builder).unwrap_or(0)));
}

accessors! {
    NVNqueueBuilder as QueueBuilderRecord;
    get nvnQueueBuilderGetDevice -> *const NVNdevice: |b| pointer(b.device);
    get nvnQueueBuilderGetFlags -> i32: |b| b.flags;
    set nvnQueueBuilderSetFlags(flags: NVNqueueBuilderFlags): |b| {
        b.flags = flags.raw();
        true
    };
    get nvnQueueBuilderGetQueuePriority -> NVNqueuePriority: |b| NVNqueuePriority(b.priority);
    set nvnQueueBuilderSetQueuePriority(priority: NVNqueuePriority): |b| {
        b.priority = priority.raw();
        true
    };
    get nvnQueueBuilderGetMemory -> *mut core::ffi::c_void: |b| pointer(b.memory);
    get nvnQueueBuilderGetMemorySize -> i32: |b| i32::try_from(b.memory_size).unwrap_or(i32::MAX);
    set nvnQueueBuilderSetQueueMemory(memory: *mut core::ffi::c_void, size: usize): |b| {
        (b.memory, b.memory_size) = (address(memory), size as u64);
        true
    };
    get nvnQueueBuilderGetQueueMemorySize -> usize: |b| memory_size(b);
    set nvnQueueBuilderSetCommandMemorySize(size: usize): |b| set_size(b, QueueMemory::Command, size);
    set nvnQueueBuilderSetComputeMemorySize(size: usize): |b| set_size(b, QueueMemory::Compute, size);
    set nvnQueueBuilderSetControlMemorySize(size: usize): |b| set_size(b, QueueMemory::Control, size);
    set nvnQueueBuilderSetRayTracingMemorySize(size: usize): |b| set_size(b, QueueMemory::RayTracing, size);
    set nvnQueueBuilderSetCommandFlushThreshold(size: usize): |b| set_size(b, QueueMemory::FlushThreshold, size);
}

/// Writes 32 bits of the size and answers whether the guest set it (B217).
fn get_size(builder: *const NVNqueueBuilder, size: *mut i32, which: QueueMemory, call: &'static str) -> NVNboolean {
    let Some(b) = live::<QueueBuilderRecord, _>(builder, call) else { return NVN_FALSE };
    let (value, set) = b.size(which);
    output(size, value as i32);
    boolean(set)
}

macro_rules! size_getters {
    ($($name:ident: $which:ident;)*) => {$(
        pub(crate) extern "C" fn $name(builder: *const NVNqueueBuilder, size: *mut i32) -> NVNboolean {
            get_size(builder, size, QueueMemory::$which, stringify!($name))
        }
    )*};
}
size_getters! {
    nvnQueueBuilderGetCommandMemorySize: Command;
    nvnQueueBuilderGetComputeMemorySize: Compute;
    nvnQueueBuilderGetControlMemorySize: Control;
    nvnQueueBuilderGetRayTracingMemorySize: RayTracing;
    nvnQueueBuilderGetCommandFlushThreshold: FlushThreshold;
}

entries! {
    nvnQueueBuilderGetCommandFlushThreshold,
    nvnQueueBuilderGetCommandMemorySize,
    nvnQueueBuilderGetComputeMemorySize,
    nvnQueueBuilderGetControlMemorySize,
    nvnQueueBuilderGetDevice,
    nvnQueueBuilderGetFlags,
    nvnQueueBuilderGetMemory,
    nvnQueueBuilderGetMemorySize,
    nvnQueueBuilderGetQueueMemorySize,
    nvnQueueBuilderGetQueuePriority,
    nvnQueueBuilderGetRayTracingMemorySize,
    nvnQueueBuilderSetCommandFlushThreshold,
    nvnQueueBuilderSetCommandMemorySize,
    nvnQueueBuilderSetComputeMemorySize,
    nvnQueueBuilderSetControlMemorySize,
    nvnQueueBuilderSetDefaults,
    nvnQueueBuilderSetDevice,
    nvnQueueBuilderSetFlags,
    nvnQueueBuilderSetQueueMemory,
    nvnQueueBuilderSetQueuePriority,
    nvnQueueBuilderSetRayTracingMemorySize,
}
