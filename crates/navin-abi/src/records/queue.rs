//! `NVNqueue` and `NVNqueueBuilder`.

use bytemuck::{Pod, Zeroable};

/// `NVNqueue`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct QueueRecord {
    magic: u32,
    /// `NVNqueueBuilderFlags` bits.
    pub flags: i32,
    /// The host's never-reused number of the queue.
    pub serial: u64,
}

super::record!(QueueRecord in "NVNqueue", magic b"NVqu", at most MIN_NVNQUEUE);

impl QueueRecord {
    /// A live queue.
    pub const fn new(serial: u64, flags: i32) -> Self {
        Self { magic: <Self as super::Record>::MAGIC, flags, serial }
    }
}

/// The sizes that a queue builder keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueMemory {
    /// Command memory.
    Command,
    /// Compute memory.
    Compute,
    /// Control memory.
    Control,
    /// Ray tracing memory (NVN2), stored and reported only.
    RayTracing,
    /// Command memory used before a flush.
    FlushThreshold,
}

/// `NVNqueueBuilder`. Each size is a 32-bit word with a byte that tells whether it was set (B217); an NVN2 driver
/// has one such pair at +0x2C and +0x24.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct QueueBuilderRecord {
    /// Guest address of the device.
    pub device: u64,
    /// Guest address of the queue's memory.
    pub memory: u64,
    /// Bytes of the queue's memory.
    pub memory_size: u64,
    /// `NVNqueueBuilderFlags` bits.
    pub flags: i32,
    /// `NVNqueuePriority`.
    pub priority: i32,
    reserved: [u8; 3],
    set: [u8; 5],
    sizes: [u32; 5],
    magic: u32,
}

super::record!(QueueBuilderRecord in "NVNqueueBuilder", magic b"NVqb", at most MIN_NVNQUEUEBUILDER);
const _: () = assert!(std::mem::offset_of!(QueueBuilderRecord, set) + QueueMemory::Compute as usize == 0x24, "B217");
const _: () =
    assert!(std::mem::offset_of!(QueueBuilderRecord, sizes) + QueueMemory::Compute as usize * 4 == 0x2c, "B217");

impl QueueBuilderRecord {
    /// The builder that SetDefaults makes: NORMAL priority, no size set; `defaults` are the words that the
    /// getters of unset sizes write.
    pub const fn new(device: u64, defaults: [u32; 5]) -> Self {
        Self {
            device,
            memory: 0,
            memory_size: 0,
            flags: 0,
            priority: 100,
            reserved: [0; 3],
            set: [0; 5],
            sizes: defaults,
            magic: <Self as super::Record>::MAGIC,
        }
    }

    /// The word of a size, and whether the guest set it.
    pub const fn size(&self, which: QueueMemory) -> (u32, bool) {
        (self.sizes[which as usize], self.set[which as usize] == 1)
    }

    /// Sets a size.
    pub const fn set_size(&mut self, which: QueueMemory, size: u32) {
        self.sizes[which as usize] = size;
        self.set[which as usize] = 1;
    }
}
