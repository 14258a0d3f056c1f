//! Tests of the entry points that need no device: records, guards, setters and getters, through the entry table
//! as a guest reaches them. No driver is open here, so the host answers NVN's failure values.

mod device;
mod every_function;
mod objects;
mod round_trips;
mod samplers;
mod textures;

use bytemuck::Pod;
use navin_abi::records::{MemoryPoolRecord, Record};

/// Bytes on each side of an object that no call may touch.
const GUARD: usize = 64;
const PATTERN: u8 = 0xa5;

/// A guest's object of exactly its size, at an odd address, between guard bytes.
pub(super) struct Guarded {
    bytes: Vec<u8>,
    start: usize,
    size: usize,
}

impl Guarded {
    /// An object of `size` bytes, each `fill`.
    pub(super) fn new(size: usize, fill: u8) -> Self {
        let mut bytes = vec![PATTERN; size + 2 * GUARD];
        // Guests may give an object any address: take an odd one.
        let start = GUARD + (bytes.as_ptr() as usize + GUARD + 1) % 2;
        bytes[start..start + size].fill(fill);
        Self { bytes, start, size }
    }

    /// An object that holds `record`.
    pub(super) fn holding<R: Pod>(size: usize, record: &R) -> Self {
        let mut object = Self::new(size, 0);
        object.write(record);
        object
    }

    pub(super) fn write<R: Pod>(&mut self, record: &R) {
        let record = bytemuck::bytes_of(record);
        self.bytes[self.start..][..record.len()].copy_from_slice(record);
    }

    pub(super) fn at<N>(&mut self) -> *mut N {
        self.bytes[self.start..].as_mut_ptr().cast()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..][..self.size]
    }

    /// Whether the bytes around the object are as they were.
    pub(super) fn is_intact(&self) -> bool {
        let (before, rest) = self.bytes.split_at(self.start);
        before.iter().chain(&rest[self.size..]).all(|byte| *byte == PATTERN)
    }
}

/// Calls the function that the table has for a name, as a guest does.
macro_rules! call {
    ($name:ident($($arg:expr),* $(,)?)) => {{
        let address = $crate::entry::table::entry_point(navin_abi::FunctionId::$name);
        // SAFETY: the table holds a function of this very type under this id.
        let function = unsafe { core::mem::transmute::<*const (), navin_abi::pfn::$name>(address) };
        // SAFETY: every pointer given in these tests is null or leads to memory of its type's size.
        unsafe { function($($arg),*) }
    }};
}
use call;

/// A live pool over `storage`, as Initialize would leave it.
pub(super) fn pool(storage: &mut [u8], flags: i32) -> Guarded {
    let record = MemoryPoolRecord::new(1, 0x4_0000_0000, storage.as_mut_ptr() as u64, storage.len() as u64, flags);
    assert!(record.is_live());
    Guarded::holding(navin_abi::sizes::MIN_NVNMEMORYPOOL, &record)
}
