//! `nvnBufferBuilder*` and `nvnBuffer*`: a range of a memory pool. Nothing of it is host-side, since guests move
//! buffers by storing into them (B103).

use navin_abi::fault;
use navin_abi::records::{BufferBuilderRecord, BufferRecord, MemoryPoolRecord};
use navin_abi::types::*;

use super::memory_pool::cpu_address;
use super::object::{accessors, address, clear_magic, get, live, live_or_none, pointer, raw, store};
use super::table::entries;
use crate::host;

pub(crate) extern "C" fn nvnBufferBuilderSetDevice(builder: *mut NVNbufferBuilder, device: *mut NVNdevice) {
    store(builder, address(device));
}

pub(crate) extern "C" fn nvnBufferBuilderSetDefaults(builder: *mut NVNbufferBuilder) {
    store(builder, BufferBuilderRecord::new(raw::<u64, _>(builder).unwrap_or(0)));
}

accessors! {
    NVNbufferBuilder as BufferBuilderRecord;
    get nvnBufferBuilderGetDevice -> *const NVNdevice: |b| pointer(b.device);
    set nvnBufferBuilderSetStorage(pool: *mut NVNmemoryPool, offset: isize, size: usize): |b| {
        (b.pool, b.offset, b.size) = (address(pool), offset as i64, size as u64);
        true
    };
    get nvnBufferBuilderGetMemoryPool -> *mut NVNmemoryPool: |b| pointer(b.pool);
    get nvnBufferBuilderGetMemoryOffset -> isize: |b| b.offset as isize;
    get nvnBufferBuilderGetSize -> usize: |b| b.size as usize;
}

pub(crate) extern "C" fn nvnBufferInitialize(buffer: *mut NVNbuffer, builder: *const NVNbufferBuilder) -> NVNboolean {
    const CALL: &str = "nvnBufferInitialize";
    let Some(b) = live::<BufferBuilderRecord, _>(builder, CALL) else { return NVN_FALSE };
    let Some(pool) = live::<MemoryPoolRecord, _>(pointer::<NVNmemoryPool>(b.pool).cast_const(), CALL) else {
        return NVN_FALSE;
    };
    let offset = u64::try_from(b.offset).ok();
    let Some(offset) = offset.filter(|o| o.checked_add(b.size).is_some_and(|end| end <= pool.size)) else {
        fault!(
            key = b.offset,
            "",
            "{CALL}: {:#x} bytes at offset {:#x} are not in the pool of {:#x} bytes; answered false",
            b.size,
            b.offset,
            pool.size
        );
        return NVN_FALSE;
    };
    if buffer.is_null() {
        fault!("", "{CALL}: null NVNbuffer; answered false");
        return NVN_FALSE;
    }
    // A buffer is made for its address: the address getters, which answer from the record alone, need not say so again
    // (B115, B642).
    host::pools::give_out(pool.id);
    store(buffer, BufferRecord::new(b.pool, pool.id, pool.gpu_address, offset, b.size));
    NVN_TRUE
}

pub(crate) extern "C" fn nvnBufferFinalize(buffer: *mut NVNbuffer) {
    if live::<BufferRecord, _>(buffer, "nvnBufferFinalize").is_some() {
        clear_magic(buffer);
    }
}

/// The buffer's memory pool, when it is the one the buffer was made in and still lives.
fn pool_of(buffer: &BufferRecord, call: &'static str) -> Option<MemoryPoolRecord> {
    let pool = live_or_none::<MemoryPoolRecord, NVNmemoryPool>(pointer(buffer.pool)).filter(|p| p.id == buffer.pool_id);
    if pool.is_none() {
        fault!(key = buffer.pool_id, "", "{call}: the buffer's memory pool was finalized; answered as a failure");
    }
    pool
}

// Every answer is computed from the record at the time of the call (B103).
accessors! {
    NVNbuffer as BufferRecord;
    get nvnBufferGetAddress -> NVNbufferAddress: |b| b.pool_gpu_address.wrapping_add(b.offset);
    get nvnBufferGetSize -> usize: |b| b.size as usize;
    get nvnBufferGetMemoryPool -> *mut NVNmemoryPool: |b| pointer(b.pool);
    get nvnBufferGetMemoryOffset -> isize: |b| b.offset as isize;
    get nvnBufferGetDebugID -> u64: |b| b.pool_gpu_address.wrapping_add(b.offset);
}

/// Null for a buffer of a pool without CPU access (B427).
pub(crate) extern "C" fn nvnBufferMap(buffer: *const NVNbuffer) -> *mut core::ffi::c_void {
    get(buffer, "nvnBufferMap", |b: &BufferRecord| match pool_of(b, "nvnBufferMap").map(|p| cpu_address(&p)) {
        None | Some(0) => std::ptr::null_mut(),
        Some(start) => pointer(start.wrapping_add(b.offset)),
    })
}

/// The bytes of the pool that a mapped range of the buffer is.
fn range(buffer: &BufferRecord, offset: isize, size: usize) -> (u64, u64) {
    let start = u64::try_from(offset).unwrap_or(0).min(buffer.size);
    (buffer.offset.saturating_add(start), (size as u64).min(buffer.size - start))
}

pub(crate) extern "C" fn nvnBufferFlushMappedRange(buffer: *const NVNbuffer, offset: isize, size: usize) {
    if let Some(b) = live::<BufferRecord, _>(buffer, "nvnBufferFlushMappedRange") {
        let (start, size) = range(&b, offset, size);
        host::pools::flush(b.pool_id, start, size);
    }
}

pub(crate) extern "C" fn nvnBufferInvalidateMappedRange(buffer: *const NVNbuffer, offset: isize, size: usize) {
    if let Some(b) = live::<BufferRecord, _>(buffer, "nvnBufferInvalidateMappedRange") {
        let (start, size) = range(&b, offset, size);
        host::pools::invalidate(b.pool_id, start, size);
    }
}

pub(crate) extern "C" fn nvnBufferSetDebugLabel(buffer: *mut NVNbuffer, label: *const core::ffi::c_char) {
    super::label::note("NVNbuffer", nvnBufferGetAddress(buffer), label);
}

entries! {
    nvnBufferBuilderGetDevice,
    nvnBufferBuilderGetMemoryOffset,
    nvnBufferBuilderGetMemoryPool,
    nvnBufferBuilderGetSize,
    nvnBufferBuilderSetDefaults,
    nvnBufferBuilderSetDevice,
    nvnBufferBuilderSetStorage,
    nvnBufferFinalize,
    nvnBufferFlushMappedRange,
    nvnBufferGetAddress,
    nvnBufferGetDebugID,
    nvnBufferGetMemoryOffset,
    nvnBufferGetMemoryPool,
    nvnBufferGetSize,
    nvnBufferInitialize,
    nvnBufferInvalidateMappedRange,
    nvnBufferMap,
    nvnBufferSetDebugLabel,
}
