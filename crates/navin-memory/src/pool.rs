//! Memory pools: flags, what a guest may pass, and what is known of a pool.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{ADDRESS_END, GpuRange, SMALL_PAGE};

/// The serial of one initialization of a memory pool: never 0, never used twice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct PoolId(pub u64);

/// Gives out pool ids; any thread.
#[derive(Debug, Default)]
pub struct PoolIds(AtomicU64);

impl PoolIds {
    /// Starts at 1.
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The next id.
    pub fn next(&self) -> PoolId {
        PoolId(self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// How the CPU sees a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CpuAccess {
    /// `CPU_NO_ACCESS`: Map answers NULL (B427), the memory may live on the device.
    None,
    /// `CPU_UNCACHED`: writes reach the GPU without a flush.
    Uncached,
    /// `CPU_CACHED`.
    Cached,
}

/// How the GPU sees a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GpuAccess {
    /// `GPU_NO_ACCESS`: not to be used by the GPU through this pool.
    None,
    /// `GPU_UNCACHED`.
    Uncached,
    /// `GPU_CACHED`.
    Cached,
}

/// `NVNmemoryPoolFlags`, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PoolFlags {
    /// The word as the guest gave it, for `nvnMemoryPoolGetFlags`.
    pub raw: u32,
    /// CPU access.
    pub cpu: CpuAccess,
    /// GPU access.
    pub gpu: GpuAccess,
    /// `SHADER_CODE`: programs are read from here.
    pub shader_code: bool,
    /// `COMPRESSIBLE`: the hardware may keep textures here compressed.
    pub compressible: bool,
    /// `PHYSICAL`: pages may be mapped into virtual pools.
    pub physical: bool,
    /// `VIRTUAL`: no storage of its own (B108).
    pub is_virtual: bool,
    /// Bits that no known flag has.
    pub unknown: u32,
    /// The guest named no CPU access, or no GPU access; cached was taken.
    pub assumed: bool,
}

const CPU_NO_ACCESS: u32 = 0x1;
const CPU_UNCACHED: u32 = 0x2;
const CPU_CACHED: u32 = 0x4;
const GPU_NO_ACCESS: u32 = 0x8;
const GPU_UNCACHED: u32 = 0x10;
const GPU_CACHED: u32 = 0x20;
const SHADER_CODE: u32 = 0x40;
const COMPRESSIBLE: u32 = 0x80;
const PHYSICAL: u32 = 0x100;
const VIRTUAL: u32 = 0x200;
const KNOWN: u32 = 0x3FF;

impl PoolFlags {
    /// Decodes the guest's word.
    ///
    /// One CPU and one GPU access belong in it; a missing one is taken as cached, which promises the guest most,
    /// and `assumed` says so. Unknown bits are kept in `unknown` and mean nothing.
    ///
    /// # Errors
    /// [`PoolError::ContradictoryFlags`]: two CPU or two GPU accesses, or `PHYSICAL` together with `VIRTUAL`.
    pub fn decode(raw: u32) -> Result<Self, PoolError> {
        let contradiction = PoolError::ContradictoryFlags { raw };
        let (cpu, cpu_assumed) = match raw & (CPU_NO_ACCESS | CPU_UNCACHED | CPU_CACHED) {
            CPU_NO_ACCESS => (CpuAccess::None, false),
            CPU_UNCACHED => (CpuAccess::Uncached, false),
            CPU_CACHED => (CpuAccess::Cached, false),
            0 => (CpuAccess::Cached, true),
            _ => return Err(contradiction),
        };
        let (gpu, gpu_assumed) = match raw & (GPU_NO_ACCESS | GPU_UNCACHED | GPU_CACHED) {
            GPU_NO_ACCESS => (GpuAccess::None, false),
            GPU_UNCACHED => (GpuAccess::Uncached, false),
            GPU_CACHED => (GpuAccess::Cached, false),
            0 => (GpuAccess::Cached, true),
            _ => return Err(contradiction),
        };
        if raw & (PHYSICAL | VIRTUAL) == PHYSICAL | VIRTUAL {
            return Err(contradiction);
        }
        Ok(Self {
            raw,
            cpu,
            gpu,
            shader_code: raw & SHADER_CODE != 0,
            compressible: raw & COMPRESSIBLE != 0,
            physical: raw & PHYSICAL != 0,
            is_virtual: raw & VIRTUAL != 0,
            unknown: raw & !KNOWN,
            assumed: cpu_assumed || gpu_assumed,
        })
    }

    /// Whether Map answers a pointer (B427).
    pub fn cpu_visible(self) -> bool {
        self.cpu != CpuAccess::None
    }
}

/// The memory behind a pool: a range of host addresses, whole small pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Storage {
    /// Host address of the first byte.
    pub address: u64,
    /// Bytes.
    pub size: u64,
}

/// What a guest asks `nvnMemoryPoolInitialize` for, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolDesc {
    /// The flags.
    pub flags: PoolFlags,
    /// The memory; `None` for a virtual pool, whatever address the guest gave.
    pub storage: Option<Storage>,
    /// Bytes of GPU addresses.
    pub size: u64,
}

impl PoolDesc {
    /// Checks the builder's flags, host address and size. `address` is 0 for a null pointer.
    ///
    /// # Errors
    /// See [`PoolError`]; the entry point answers false and names the error in a fault line.
    pub fn validate(flags: u32, address: u64, size: u64) -> Result<Self, PoolError> {
        let flags = PoolFlags::decode(flags)?;
        if size == 0 {
            return Err(PoolError::ZeroSize);
        }
        if !size.is_multiple_of(SMALL_PAGE) {
            return Err(PoolError::UnalignedSize { size });
        }
        if size >= ADDRESS_END {
            return Err(PoolError::TooLarge { size });
        }
        if flags.is_virtual {
            return Ok(Self { flags, storage: None, size });
        }
        if address == 0 {
            return Err(PoolError::NullStorage);
        }
        if !address.is_multiple_of(SMALL_PAGE) {
            return Err(PoolError::UnalignedStorage { address });
        }
        if address.checked_add(size).is_none() {
            return Err(PoolError::StorageWraps { address, size });
        }
        Ok(Self { flags, storage: Some(Storage { address, size }), size })
    }
}

/// Why a pool cannot be made. `nvnMemoryPoolInitialize` answers false to each: see [`PoolError::answer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// No bytes.
    #[error("a memory pool of 0 bytes")]
    ZeroSize,
    /// Not whole 4 KB pages.
    #[error("a memory pool of {size:#x} bytes, no multiple of 4 KB")]
    UnalignedSize {
        /// The guest's size.
        size: u64,
    },
    /// Larger than the address space.
    #[error("a memory pool of {size:#x} bytes, more than the 40-bit address space")]
    TooLarge {
        /// The guest's size.
        size: u64,
    },
    /// No memory, and not `VIRTUAL`.
    #[error("a memory pool without storage that is not virtual")]
    NullStorage,
    /// The memory does not begin at a 4 KB page.
    #[error("memory pool storage at {address:#x}, not aligned to 4 KB")]
    UnalignedStorage {
        /// Host address that the guest gave.
        address: u64,
    },
    /// The memory would pass the end of the host's addresses.
    #[error("memory pool storage at {address:#x} of {size:#x} bytes passes the end of memory")]
    StorageWraps {
        /// Host address that the guest gave.
        address: u64,
        /// The guest's size.
        size: u64,
    },
    /// Flags that exclude each other.
    #[error("memory pool flags {raw:#x} contradict each other")]
    ContradictoryFlags {
        /// The guest's flags.
        raw: u32,
    },
}

impl PoolError {
    /// The `NVNboolean` that `nvnMemoryPoolInitialize` answers: no pool comes of any of these.
    pub const fn answer(self) -> bool {
        false
    }
}

/// One memory pool, as the submit thread and the renderer know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Its serial.
    pub id: PoolId,
    /// Its flags.
    pub flags: PoolFlags,
    /// Its memory; `None` for a virtual pool, which is mapped page by page.
    pub storage: Option<Storage>,
    /// Its GPU addresses: `size` bytes from a big-page boundary.
    pub range: GpuRange,
    /// The address space's generation when the pool was put there: what was looked up before is older.
    pub generation: u64,
}

impl Pool {
    /// The pool that came of `desc` at `range`.
    pub fn new(id: PoolId, desc: PoolDesc, range: GpuRange, generation: u64) -> Self {
        Self { id, flags: desc.flags, storage: desc.storage, range, generation }
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.range.size
    }

    /// Host address of `size` bytes at `offset`, if the pool has storage and they all lie in it.
    pub fn host(&self, offset: u64, size: u64) -> Option<u64> {
        let storage = self.storage?;
        (offset.checked_add(size)? <= storage.size).then(|| storage.address + offset)
    }

    /// GPU address of `offset`, if it lies in the pool; the end counts as in it.
    pub fn gpu(&self, offset: u64) -> Option<u64> {
        (offset <= self.range.size).then(|| self.range.start + offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = 0x7000_0000_0000;

    #[test]
    fn flags_decode_to_the_accesses_they_name() {
        let flags = PoolFlags::decode(0x21).unwrap();
        assert_eq!((flags.cpu, flags.gpu), (CpuAccess::None, GpuAccess::Cached));
        assert!(!flags.cpu_visible() && !flags.compressible && !flags.assumed);
        let flags = PoolFlags::decode(0x2A1).unwrap();
        assert!(flags.is_virtual && flags.compressible && !flags.physical);
        let flags = PoolFlags::decode(0x152).unwrap();
        assert_eq!((flags.cpu, flags.gpu), (CpuAccess::Uncached, GpuAccess::Uncached));
        assert!(flags.physical && flags.shader_code && flags.cpu_visible());
        assert_eq!(PoolFlags::decode(0x8024).unwrap().unknown, 0x8000);
        assert_eq!(PoolFlags::decode(0x8024).unwrap().raw, 0x8024);
    }

    #[test]
    fn a_missing_access_is_taken_as_cached_and_said() {
        let flags = PoolFlags::decode(0x4).unwrap();
        assert_eq!((flags.cpu, flags.gpu, flags.assumed), (CpuAccess::Cached, GpuAccess::Cached, true));
        assert!(PoolFlags::decode(0).unwrap().assumed);
    }

    #[test]
    fn flags_that_exclude_each_other_are_refused() {
        for raw in [0x23, 0x26, 0x27, 0x18 | 4, 0x30 | 4, 0x28 | 1, 0x300 | 0x21] {
            assert_eq!(PoolFlags::decode(raw), Err(PoolError::ContradictoryFlags { raw }), "{raw:#x}");
        }
    }

    #[test]
    fn bad_requests_are_named_and_answered_false() {
        let cases = [
            (0x24, PAGE, 0, PoolError::ZeroSize),
            (0x24, PAGE, 0x1800, PoolError::UnalignedSize { size: 0x1800 }),
            (0x24, PAGE, 1 << 40, PoolError::TooLarge { size: 1 << 40 }),
            (0x24, 0, 0x1000, PoolError::NullStorage),
            (0x24, PAGE + 0x800, 0x1000, PoolError::UnalignedStorage { address: PAGE + 0x800 }),
            (0x24, !0xFFF, 0x2000, PoolError::StorageWraps { address: !0xFFF, size: 0x2000 }),
            (0x26, PAGE, 0x1000, PoolError::ContradictoryFlags { raw: 0x26 }),
        ];
        for (flags, address, size, error) in cases {
            assert_eq!(PoolDesc::validate(flags, address, size), Err(error));
            assert!(!error.answer());
        }
    }

    #[test]
    fn b108_a_virtual_pool_needs_no_storage_and_keeps_none() {
        for address in [0, PAGE, 123] {
            let desc = PoolDesc::validate(0x221, address, 64 << 30).unwrap();
            assert_eq!((desc.storage, desc.size), (None, 64 << 30));
        }
    }

    #[test]
    fn offsets_past_the_pool_have_no_address() {
        let desc = PoolDesc::validate(0x24, PAGE, 0x3000).unwrap();
        let pool = Pool::new(PoolId(1), desc, GpuRange { start: 1 << 32, size: 0x3000 }, 1);
        assert_eq!(pool.host(0x1000, 0x2000), Some(PAGE + 0x1000));
        assert_eq!(pool.host(0x1000, 0x2001), None);
        assert_eq!(pool.host(u64::MAX, 2), None);
        assert_eq!(pool.gpu(0x3000), Some((1 << 32) + 0x3000));
        assert_eq!(pool.gpu(0x3001), None);
    }

    #[test]
    fn pool_ids_are_never_used_twice() {
        let ids = PoolIds::new();
        assert_eq!(ids.next(), PoolId(1));
        assert_eq!(ids.next(), PoolId(2));
    }
}
