//! `nvnTexturePool*` and `nvnSamplerPool*`: tables of descriptors that shaders reach by id.
//!
//! Registration takes a snapshot: the guest may reuse the texture's or sampler's memory at once.

use navin_abi::fault;
use navin_abi::records::{
    MemoryPoolRecord, SamplerBuilderRecord, SamplerPoolRecord, SamplerRecord, SamplerState, TexturePoolRecord,
    TextureRecord,
};
use navin_abi::types::*;

use super::object::{accessors, address, clear_magic, get, live, pointer, store};
use super::table::entries;
use super::texture_view::view_argument;
use crate::host;

/// Bytes of a descriptor (device items 0xF and 0x10).
const DESCRIPTOR_BYTES: u64 = 32;
/// Device item 0x24.
const MAX_TEXTURES: i32 = 1 << 20;
/// Device item 0x25.
const MAX_SAMPLERS: i32 = 4096;

/// The memory pool, the offset and the count that a pool's Initialize names; `None`, named, when they are none.
fn place(
    memory_pool: *const NVNmemoryPool,
    offset: isize,
    count: i32,
    limit: i32,
    call: &'static str,
) -> Option<(MemoryPoolRecord, u64, u32)> {
    let memory = live::<MemoryPoolRecord, _>(memory_pool, call)?;
    let start = u64::try_from(offset).ok().filter(|offset| offset % DESCRIPTOR_BYTES == 0);
    let ids = u32::try_from(count).ok().filter(|_| (1..=limit).contains(&count));
    let placed = start.zip(ids).filter(|(start, ids)| {
        start.checked_add(u64::from(*ids) * DESCRIPTOR_BYTES).is_some_and(|end| end <= memory.size)
    });
    if placed.is_none() {
        fault!(
            key = call.as_ptr() as u64,
            "B116",
            "{call}: {count} descriptors (of at most {limit}) at offset {offset:#x} of a pool of {:#x} bytes; answered false",
            memory.size
        );
    }
    placed.map(|(start, ids)| (memory, start, ids))
}

pub(crate) extern "C" fn nvnTexturePoolInitialize(
    pool: *mut NVNtexturePool,
    memory_pool: *const NVNmemoryPool,
    offset: isize,
    count: i32,
) -> NVNboolean {
    const CALL: &str = "nvnTexturePoolInitialize";
    let Some((memory, start, count)) = place(memory_pool, offset, count, MAX_TEXTURES, CALL) else { return NVN_FALSE };
    if pool.is_null() {
        fault!("", "{CALL}: null NVNtexturePool; answered false");
        return NVN_FALSE;
    }
    let id = host::descriptors::create_texture_pool(memory.id, start, count);
    if id == 0 {
        return NVN_FALSE;
    }
    store(pool, TexturePoolRecord::new(id, address(memory_pool), memory.id, start, count));
    NVN_TRUE
}

pub(crate) extern "C" fn nvnSamplerPoolInitialize(
    pool: *mut NVNsamplerPool,
    memory_pool: *const NVNmemoryPool,
    offset: isize,
    count: i32,
) -> NVNboolean {
    const CALL: &str = "nvnSamplerPoolInitialize";
    let Some((memory, start, count)) = place(memory_pool, offset, count, MAX_SAMPLERS, CALL) else { return NVN_FALSE };
    if pool.is_null() {
        fault!("", "{CALL}: null NVNsamplerPool; answered false");
        return NVN_FALSE;
    }
    let id = host::descriptors::create_sampler_pool(memory.id, start, count);
    if id == 0 {
        return NVN_FALSE;
    }
    store(pool, SamplerPoolRecord::new(id, address(memory_pool), memory.id, start, count));
    NVN_TRUE
}

pub(crate) extern "C" fn nvnTexturePoolFinalize(pool: *mut NVNtexturePool) {
    if let Some(record) = live::<TexturePoolRecord, _>(pool, "nvnTexturePoolFinalize") {
        clear_magic(pool);
        host::descriptors::destroy_texture_pool(record.id);
    }
}

pub(crate) extern "C" fn nvnSamplerPoolFinalize(pool: *mut NVNsamplerPool) {
    if let Some(record) = live::<SamplerPoolRecord, _>(pool, "nvnSamplerPoolFinalize") {
        clear_magic(pool);
        host::descriptors::destroy_sampler_pool(record.id);
    }
}

accessors! {
    NVNtexturePool as TexturePoolRecord;
    get nvnTexturePoolGetSize -> i32: |p| p.count as i32;
    get nvnTexturePoolGetMemoryPool -> *const NVNmemoryPool: |p| pointer(p.memory_pool);
    get nvnTexturePoolGetMemoryOffset -> isize: |p| p.offset as isize;
}
accessors! {
    NVNsamplerPool as SamplerPoolRecord;
    get nvnSamplerPoolGetSize -> i32: |p| p.count as i32;
    get nvnSamplerPoolGetMemoryPool -> *const NVNmemoryPool: |p| pointer(p.memory_pool);
    get nvnSamplerPoolGetMemoryOffset -> isize: |p| p.offset as isize;
}

/// The id, when it is one of the pool's `count`; named otherwise.
fn id_in_pool(id: i32, count: u32, call: &'static str) -> Option<u32> {
    let valid = u32::try_from(id).ok().filter(|id| *id < count);
    if valid.is_none() {
        fault!(key = id, "B116", "{call}: id {id} is not in the pool of {count}; nothing is registered");
    }
    valid
}

/// Images and textures are registered in one table (B431); an image keeps that it is one (B432).
fn register(
    pool: *const NVNtexturePool,
    id: i32,
    texture: *const NVNtexture,
    view: *const NVNtextureView,
    image: bool,
    call: &'static str,
) {
    let Some(pool) = live::<TexturePoolRecord, _>(pool, call) else { return };
    let Some(id) = id_in_pool(id, pool.count, call) else { return };
    let Some(texture) = live::<TextureRecord, _>(texture, call) else { return };
    let view = view_argument(view, call);
    host::descriptors::register_texture(pool.id, id, texture.serial, (!view.is_none()).then_some(view), image);
}

pub(crate) extern "C" fn nvnTexturePoolRegisterTexture(
    pool: *const NVNtexturePool,
    id: i32,
    texture: *const NVNtexture,
    view: *const NVNtextureView,
) {
    register(pool, id, texture, view, false, "nvnTexturePoolRegisterTexture");
}

pub(crate) extern "C" fn nvnTexturePoolRegisterImage(
    pool: *const NVNtexturePool,
    id: i32,
    texture: *const NVNtexture,
    view: *const NVNtextureView,
) {
    register(pool, id, texture, view, true, "nvnTexturePoolRegisterImage");
}

fn register_sampler(pool: *const NVNsamplerPool, id: i32, state: Option<SamplerState>, call: &'static str) {
    let (Some(pool), Some(state)) = (live::<SamplerPoolRecord, _>(pool, call), state) else { return };
    if let Some(id) = id_in_pool(id, pool.count, call) {
        host::descriptors::register_sampler(pool.id, id, &state.decode());
    }
}

pub(crate) extern "C" fn nvnSamplerPoolRegisterSampler(
    pool: *const NVNsamplerPool,
    id: i32,
    sampler: *const NVNsampler,
) {
    const CALL: &str = "nvnSamplerPoolRegisterSampler";
    register_sampler(pool, id, live::<SamplerRecord, _>(sampler, CALL).map(|s| s.state), CALL);
}

/// The same descriptor as Initialize and RegisterSampler give (B433).
pub(crate) extern "C" fn nvnSamplerPoolRegisterSamplerBuilder(
    pool: *const NVNsamplerPool,
    id: i32,
    builder: *const NVNsamplerBuilder,
) {
    const CALL: &str = "nvnSamplerPoolRegisterSamplerBuilder";
    register_sampler(pool, id, live::<SamplerBuilderRecord, _>(builder, CALL).map(|b| b.state), CALL);
}

pub(crate) extern "C" fn nvnTexturePoolSetDebugLabel(pool: *mut NVNtexturePool, label: *const core::ffi::c_char) {
    let id = get(pool, "nvnTexturePoolSetDebugLabel", |p: &TexturePoolRecord| p.id);
    super::label::note("NVNtexturePool", id.into(), label);
}

pub(crate) extern "C" fn nvnSamplerPoolSetDebugLabel(pool: *mut NVNsamplerPool, label: *const core::ffi::c_char) {
    let id = get(pool, "nvnSamplerPoolSetDebugLabel", |p: &SamplerPoolRecord| p.id);
    super::label::note("NVNsamplerPool", id.into(), label);
}

entries! {
    nvnSamplerPoolFinalize,
    nvnSamplerPoolGetMemoryOffset,
    nvnSamplerPoolGetMemoryPool,
    nvnSamplerPoolGetSize,
    nvnSamplerPoolInitialize,
    nvnSamplerPoolRegisterSampler,
    nvnSamplerPoolRegisterSamplerBuilder,
    nvnSamplerPoolSetDebugLabel,
    nvnTexturePoolFinalize,
    nvnTexturePoolGetMemoryOffset,
    nvnTexturePoolGetMemoryPool,
    nvnTexturePoolGetSize,
    nvnTexturePoolInitialize,
    nvnTexturePoolRegisterImage,
    nvnTexturePoolRegisterTexture,
    nvnTexturePoolSetDebugLabel,
}
