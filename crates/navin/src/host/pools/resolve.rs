//! From a GPU address to what is there: the buffer range for a bind, the bytes for the CPU.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use navin_memory::{AddressReader, AddressSpace, Lookup, Mapping, PoolId};
use navin_vulkan::{BufferRange, Context, UNKNOWN_LENGTH};

use super::Pools;

/// Why there is no buffer range at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// A page of a virtual pool where nothing is mapped: loads give 0, stores do nothing (B113). Noted once.
    Unmapped,
    /// No pool is there; [`Pools::near`] says what is near.
    Nowhere,
    /// The pool's memory does not come to the GPU; named where that was found out.
    Refused,
}

impl Pools {
    /// A reader of the address space, for the submit thread.
    pub(crate) fn reader(&self) -> AddressReader {
        AddressSpace::reader(&self.space)
    }

    /// The buffer range of what was looked up, for submission `submission`: `size` bytes or as many as there are to
    /// the end of what lies there side by side; `u64::MAX` for a length that nobody knows.
    ///
    /// # Errors
    /// What is there instead.
    pub(crate) fn range_of(
        &self,
        context: &Arc<Context>,
        found: Lookup<'_>,
        size: u64,
        submission: u64,
    ) -> Result<BufferRange, Absent> {
        let memory = match found {
            Lookup::Pool(memory) => memory,
            Lookup::Virtual { pool, offset, memory } => {
                // Of a length that nobody knows as much as of a large pool (B122).
                let size = if size == u64::MAX { UNKNOWN_LENGTH } else { size };
                if memory.remaining < size
                    && let Some(entry) = self.entry(pool.id())
                    && let Some(range) = entry
                        .virtual_pool()
                        .and_then(|pool| pool.side_by_side(self, context, (offset, size), memory, submission))
                {
                    return Ok(range);
                }
                memory
            }
            Lookup::Unmapped { pool, offset, .. } => {
                pool.note_unmapped(offset);
                return Err(Absent::Unmapped);
            }
            Lookup::Nowhere => return Err(Absent::Nowhere),
        };
        let size = if size == u64::MAX { size } else { size.min(memory.remaining) };
        self.physical_range(context, memory, size, submission).ok_or(Absent::Refused)
    }

    /// Whether the GPU has a copy of a physical pool's memory: a mirror, or the pool itself in device memory.
    pub(super) fn has_copy(&self, context: &Arc<Context>, pool: PoolId) -> bool {
        self.entry(pool).as_ref().and_then(|entry| entry.physical()).is_some_and(|physical| {
            !physical.is_chunked() && physical.whole(context).is_some_and(|buffer| !buffer.shares_storage())
        })
    }

    /// Notes that the submission of this number may use these pools.
    pub(super) fn used_by(&self, pools: &[PoolId], submission: u64) {
        let entries = self.entries.read();
        for physical in pools.iter().filter_map(|pool| entries.get(pool)?.physical()) {
            physical.used_by(submission);
        }
    }

    fn physical_range(
        &self,
        context: &Arc<Context>,
        memory: Mapping,
        size: u64,
        submission: u64,
    ) -> Option<BufferRange> {
        let cut = |range: BufferRange| BufferRange { size: range.size.min(memory.remaining), ..range };
        let entries = self.entries.read();
        let entry = entries.get(&memory.pool)?;
        let physical = entry.physical()?;
        physical.used_by(submission);
        if let Some(range) = physical.imported(memory.offset, size) {
            return Some(cut(range));
        }
        // An import may wait for the driver to take the pages (B107): not under the lock. The replay keeps the pool.
        let entry = Arc::clone(entry);
        drop(entries);
        let physical = entry.physical()?;
        let range = physical.range(context, memory.offset, size)?;
        if physical.mirror().is_some() {
            self.mirrors.used(&entry);
        }
        Some(cut(range))
    }

    /// What is near an address in no pool, for a fault line (B113).
    pub(crate) fn near(&self, address: u64) -> String {
        match self.space.nearest_virtual(address) {
            Some(nearest) => format!("in no memory pool; {nearest}"),
            None => "in no memory pool".to_owned(),
        }
    }

    /// The host address of `size` bytes at a GPU address; `None` unless all of them lie side by side.
    pub(crate) fn cpu_range(&self, address: u64, size: u64) -> Option<NonNull<u8>> {
        self.space.resolve(address, size, |found| match found {
            Lookup::Virtual { pool, offset, memory } if memory.remaining < size => {
                let entry = self.entry(pool.id())?;
                NonNull::new(entry.virtual_pool()?.host_side_by_side(offset, size)? as *mut u8)
            }
            found => {
                let memory = found.memory()?;
                let entry = self.entry(memory.pool)?;
                entry.physical()?.host(memory.offset, size)
            }
        })
    }

    /// As [`cpu_range`](Self::cpu_range), where the bytes that the GPU has are the very same: `None` too for a pool in
    /// device memory (and for pieces of several pools, which may be).
    pub(crate) fn shared_range(&self, address: u64, size: u64) -> Option<NonNull<u8>> {
        self.space.resolve(address, size, |found| {
            let memory = found.memory().filter(|memory| memory.remaining >= size)?;
            let entry = self.entry(memory.pool)?;
            let physical = entry.physical().filter(|physical| !physical.in_device_memory())?;
            physical.host(memory.offset, size)
        })
    }

    /// Whether CPU and GPU have the very same bytes at a GPU address.
    pub(crate) fn is_shared(&self, address: u64, size: u64) -> bool {
        let physical =
            |memory: &Mapping| self.entry(memory.pool).is_some_and(|e| e.physical().is_some_and(|p| p.is_shared()));
        self.space.resolve(address, size, |found| {
            found.memory().is_some_and(|memory| memory.remaining >= size && physical(&memory))
        })
    }

    /// As [`cpu_range`](Self::cpu_range), with what the GPU wrote into a pool in device memory brought there. Waits for
    /// the GPU.
    pub(crate) fn brought_range(&self, context: &Arc<Context>, address: u64, size: u64) -> Option<NonNull<u8>> {
        self.space.resolve(address, size, |found| {
            if let Some(memory) = found.memory()
                && let Some(entry) = self.entry(memory.pool)
                && let Some(physical) = entry.physical()
            {
                let mirrored = self.mirrors.holds_gpu_only(memory.pool);
                physical.bring(context, memory.offset, size.min(memory.remaining), mirrored);
            }
        });
        self.cpu_range(address, size)
    }

    /// The 32-bit word at a GPU address, as an event holds it.
    pub(crate) fn read_word(&self, address: u64) -> Option<u32> {
        Some(self.word(address)?.load(Ordering::Acquire))
    }

    /// Changes the word at a GPU address; everything written before is visible to who sees the new value.
    pub(crate) fn update_word(&self, address: u64, change: impl Fn(u32) -> u32) -> bool {
        let Some(word) = self.word(address) else { return false };
        self.announce(address, 4);
        word.fetch_update(Ordering::Release, Ordering::Relaxed, |value| Some(change(value))).is_ok()
    }

    /// Navin is about to write bytes at a GPU address on the CPU: what was read there before is to be read again.
    pub(crate) fn announce(&self, address: u64, size: u64) {
        let memory = self.space.resolve(address, size, |found| found.memory());
        if let Some(memory) = memory
            && let Some(entry) = self.entry(memory.pool)
            && let Some(physical) = entry.physical()
        {
            physical.tracked().host_writes(memory.offset, size.min(memory.remaining));
        }
    }

    /// The word at a GPU address; `None` where no memory is, or no whole word.
    pub(crate) fn word(&self, address: u64) -> Option<&AtomicU32> {
        let pointer = self.cpu_range(address, 4)?.cast::<u32>();
        // SAFETY: inside a live pool's storage; guests and GPU access the word as a whole too. The pool can be
        // finalized by the guest meanwhile only against NVN's rules, as for every access of the GPU.
        pointer.is_aligned().then(|| unsafe { AtomicU32::from_ptr(pointer.as_ptr()) })
    }
}

impl navin_command::PieceMemory for Pools {
    fn host_memory(&self, address: u64, bytes: u32) -> Option<NonNull<u8>> {
        self.cpu_range(address, u64::from(bytes))
    }
}
