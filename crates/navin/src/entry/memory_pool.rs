//! `nvnMemoryPoolBuilder*` and `nvnMemoryPool*`: the guest's storage becomes a pool of the host.

use navin_abi::records::{MemoryPoolBuilderRecord, MemoryPoolRecord};
use navin_abi::types::*;
use navin_abi::{GuestPtr, fault};

use super::object::{accessors, address, boolean, clear_magic, get, live, pointer, raw, store};
use super::table::entries;
use crate::host;

/// Alignment of a pool's storage and size.
const PAGE: u64 = 4096;
/// The GPU's address space.
const GPU_SPACE: u64 = 1 << 40;

pub(crate) extern "C" fn nvnMemoryPoolBuilderSetDevice(builder: *mut NVNmemoryPoolBuilder, device: *mut NVNdevice) {
    store(builder, address(device));
}

pub(crate) extern "C" fn nvnMemoryPoolBuilderSetDefaults(builder: *mut NVNmemoryPoolBuilder) {
    store(builder, MemoryPoolBuilderRecord::new(raw::<u64, _>(builder).unwrap_or(0)));
}

accessors! {
    NVNmemoryPoolBuilder as MemoryPoolBuilderRecord;
    get nvnMemoryPoolBuilderGetDevice -> *const NVNdevice: |b| pointer(b.device);
    get nvnMemoryPoolBuilderGetFlags -> NVNmemoryPoolFlags: |b| NVNmemoryPoolFlags(b.flags);
    set nvnMemoryPoolBuilderSetFlags(flags: NVNmemoryPoolFlags): |b| {
        b.flags = flags.raw();
        true
    };
    get nvnMemoryPoolBuilderGetMemory -> *mut core::ffi::c_void: |b| pointer(b.memory);
    get nvnMemoryPoolBuilderGetSize -> usize: |b| b.size as usize;
    set nvnMemoryPoolBuilderSetStorage(memory: *mut core::ffi::c_void, size: usize): |b| {
        (b.memory, b.size) = (address(memory), size as u64);
        true
    };
}

/// What is wrong with the storage that a builder gives, if anything.
fn complaint(builder: &MemoryPoolBuilderRecord) -> Option<&'static str> {
    let is_virtual = NVNmemoryPoolFlags(builder.flags).contains(NVNmemoryPoolFlags::VIRTUAL);
    if builder.size == 0 {
        Some("a size of 0")
    } else if builder.size >= GPU_SPACE {
        Some("a size beyond the GPU's address space")
    } else if !builder.size.is_multiple_of(PAGE) {
        Some("a size that is no multiple of 4 KB")
    } else if is_virtual {
        None
    } else if builder.memory == 0 {
        Some("null storage")
    } else if !builder.memory.is_multiple_of(PAGE) {
        Some("storage not aligned to 4 KB")
    } else {
        None
    }
}

pub(crate) extern "C" fn nvnMemoryPoolInitialize(
    pool: *mut NVNmemoryPool,
    builder: *const NVNmemoryPoolBuilder,
) -> NVNboolean {
    let Some(b) = live::<MemoryPoolBuilderRecord, _>(builder, "nvnMemoryPoolInitialize") else { return NVN_FALSE };
    if pool.is_null() {
        fault!("", "nvnMemoryPoolInitialize: null NVNmemoryPool; answered false");
        return NVN_FALSE;
    }
    if let Some(complaint) = complaint(&b) {
        fault!(
            key = b.memory ^ b.size,
            "",
            "nvnMemoryPoolInitialize: {complaint} (storage {:#x}, {:#x} bytes); answered false",
            b.memory,
            b.size
        );
        return NVN_FALSE;
    }
    // A virtual pool has no storage, whatever its builder was given: nothing may take that for the pool's bytes.
    let memory = if NVNmemoryPoolFlags(b.flags).contains(NVNmemoryPoolFlags::VIRTUAL) { 0 } else { b.memory };
    let Some(info) = host::pools::create(GuestPtr::new(memory), b.size, b.flags) else { return NVN_FALSE };
    store(pool, MemoryPoolRecord::new(info.id, info.gpu_address, memory, b.size, b.flags));
    NVN_TRUE
}

pub(crate) extern "C" fn nvnMemoryPoolFinalize(pool: *mut NVNmemoryPool) {
    if let Some(record) = live::<MemoryPoolRecord, _>(pool, "nvnMemoryPoolFinalize") {
        clear_magic(pool);
        host::pools::destroy(record.id);
    }
}

/// Where the CPU sees the pool: null for a pool without CPU access (B427).
pub(crate) fn cpu_address(pool: &MemoryPoolRecord) -> u64 {
    let flags = NVNmemoryPoolFlags(pool.flags);
    if flags.contains(NVNmemoryPoolFlags::CPU_NO_ACCESS) { 0 } else { storage(pool) }
}

/// Host address of the pool's bytes, whoever may see them; a virtual pool keeps its range from then on (B115).
pub(crate) fn storage(pool: &MemoryPoolRecord) -> u64 {
    match NVNmemoryPoolFlags(pool.flags).contains(NVNmemoryPoolFlags::VIRTUAL) {
        true => host::pools::virtual_cpu_address(pool.id),
        false => pool.storage,
    }
}

/// The pool's GPU address, given to the guest: shaders may reach the pool from now on (B115, B642).
fn gpu_address(pool: &MemoryPoolRecord) -> u64 {
    host::pools::give_out(pool.id);
    pool.gpu_address
}

accessors! {
    NVNmemoryPool as MemoryPoolRecord;
    get nvnMemoryPoolMap -> *mut core::ffi::c_void: |p| pointer(cpu_address(p));
    get nvnMemoryPoolGetBufferAddress -> NVNbufferAddress: |p| gpu_address(p);
    get nvnMemoryPoolGetSize -> usize: |p| p.size as usize;
    get nvnMemoryPoolGetFlags -> NVNmemoryPoolFlags: |p| NVNmemoryPoolFlags(p.flags);
}

/// The part of `size` bytes at `offset` that lies inside the pool.
pub(crate) fn inside(pool: &MemoryPoolRecord, offset: isize, size: usize) -> (u64, u64) {
    let start = u64::try_from(offset).unwrap_or(0).min(pool.size);
    (start, (size as u64).min(pool.size - start))
}

pub(crate) extern "C" fn nvnMemoryPoolFlushMappedRange(pool: *const NVNmemoryPool, offset: isize, size: usize) {
    if let Some(record) = live::<MemoryPoolRecord, _>(pool, "nvnMemoryPoolFlushMappedRange") {
        let (start, size) = inside(&record, offset, size);
        host::pools::flush(record.id, start, size);
    }
}

pub(crate) extern "C" fn nvnMemoryPoolInvalidateMappedRange(pool: *const NVNmemoryPool, offset: isize, size: usize) {
    if let Some(record) = live::<MemoryPoolRecord, _>(pool, "nvnMemoryPoolInvalidateMappedRange") {
        let (start, size) = inside(&record, offset, size);
        host::pools::invalidate(record.id, start, size);
    }
}

pub(crate) extern "C" fn nvnMemoryPoolMapVirtual(
    pool: *mut NVNmemoryPool,
    num_requests: i32,
    requests: *const NVNmappingRequest,
) -> NVNboolean {
    const CALL: &str = "nvnMemoryPoolMapVirtual";
    let Some(record) = live::<MemoryPoolRecord, _>(pool, CALL) else { return NVN_FALSE };
    let Some(requests) = super::object::array(requests, num_requests) else {
        fault!("B108", "{CALL}: {num_requests} requests at null; answered false");
        return NVN_FALSE;
    };
    let resolved = requests.iter().map(|request: &NVNmappingRequest| {
        let physical = match request.physical_pool.is_null() {
            true => None,
            false => {
                let physical = pointer::<NVNmemoryPool>(request.physical_pool.address());
                Some(live::<MemoryPoolRecord, _>(physical.cast_const(), CALL)?.id)
            }
        };
        Some(host::pools::Mapping {
            physical,
            physical_offset: u64::try_from(request.physical_offset).ok()?,
            virtual_offset: u64::try_from(request.virtual_offset).ok()?,
            size: request.size as u64,
        })
    });
    match resolved.collect::<Option<Vec<_>>>() {
        Some(mappings) => boolean(host::pools::map_virtual(record.id, &mappings)),
        None => {
            fault!("B108", "{CALL}: a request with a negative offset or a dead physical pool; answered false");
            NVN_FALSE
        }
    }
}

pub(crate) extern "C" fn nvnMemoryPoolSetDebugLabel(pool: *mut NVNmemoryPool, label: *const core::ffi::c_char) {
    let id = get(pool, "nvnMemoryPoolSetDebugLabel", |p: &MemoryPoolRecord| p.id);
    super::label::note("NVNmemoryPool", id.into(), label);
}

entries! {
    nvnMemoryPoolBuilderGetDevice,
    nvnMemoryPoolBuilderGetFlags,
    nvnMemoryPoolBuilderGetMemory,
    nvnMemoryPoolBuilderGetSize,
    nvnMemoryPoolBuilderSetDefaults,
    nvnMemoryPoolBuilderSetDevice,
    nvnMemoryPoolBuilderSetFlags,
    nvnMemoryPoolBuilderSetStorage,
    nvnMemoryPoolFinalize,
    nvnMemoryPoolFlushMappedRange,
    nvnMemoryPoolGetBufferAddress,
    nvnMemoryPoolGetFlags,
    nvnMemoryPoolGetSize,
    nvnMemoryPoolInitialize,
    nvnMemoryPoolInvalidateMappedRange,
    nvnMemoryPoolMap,
    nvnMemoryPoolMapVirtual,
    nvnMemoryPoolSetDebugLabel,
}
