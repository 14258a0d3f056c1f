//! `nvnTexture*`: the object holds the description and the serial that leads to the host's texture. Guests copy
//! textures by value, so the record alone must answer every getter.

use std::collections::HashMap;

use navin_abi::records::{MemoryPoolRecord, Record, TextureBuilderRecord, TextureRecord, ViewDesc};
use navin_abi::types::*;
use navin_abi::{GuestPtr, fault};
use navin_texture::Layout;
use parking_lot::Mutex;

use super::object::{accessors, address, boolean, clear_magic, get, live, live_or_none, output, pointer, store};
use super::table::entries;
use super::texture_builder::{
    layout, output_swizzle, raw_storage_class, sparse_tile_layout, storage_class, zcull_storage_size,
};
use super::texture_view::view_argument;
use crate::host;

/// Where each live texture was initialized, by serial: a finalize of a copy must not end the original (B439).
/// A leaf in the lock order; held for a map operation only.
static OWNERS: Mutex<Option<HashMap<u64, u64>>> = Mutex::new(None);

pub(crate) extern "C" fn nvnTextureInitialize(
    texture: *mut NVNtexture,
    builder: *const NVNtextureBuilder,
) -> NVNboolean {
    const CALL: &str = "nvnTextureInitialize";
    let Some(b) = live::<TextureBuilderRecord, _>(builder, CALL) else { return NVN_FALSE };
    let Some(pool) = live::<MemoryPoolRecord, _>(pointer::<NVNmemoryPool>(b.pool).cast_const(), CALL) else {
        return NVN_FALSE;
    };
    let (offset, layout) = match place(&b, &pool) {
        Ok(_) if texture.is_null() => {
            fault!("", "{CALL}: null NVNtexture; answered false");
            return NVN_FALSE;
        }
        Ok(placed) => placed,
        Err(complaint) => {
            let fields = &b.fields;
            fault!(
                key = b.offset ^ i64::from(fields.width) << 40 ^ i64::from(fields.format) << 32,
                "",
                "{CALL}: {}x{}x{}, format {}, target {}, {} levels, at offset {:#x}: {complaint}; answered false",
                fields.width,
                fields.height,
                fields.depth,
                fields.format,
                fields.target,
                fields.levels,
                b.offset
            );
            return NVN_FALSE;
        }
    };
    if b.packaged_data != 0 {
        copy_packaged(b.packaged_data, &pool, offset, content_size(&layout));
    }
    host::pools::keep_range(pool.id);
    let serial = host::textures::create(&b.fields.desc(pool.id, offset));
    if serial == 0 {
        return NVN_FALSE;
    }
    OWNERS.lock().get_or_insert_default().insert(serial, address(texture));
    let record = TextureRecord::new(serial, b.pool, pool.id, pool.gpu_address, offset, layout.size, b.fields);
    store(texture, record);
    NVN_TRUE
}

/// The texture's offset and layout, or what is wrong with them.
fn place(b: &TextureBuilderRecord, pool: &MemoryPoolRecord) -> Result<(u64, Layout), String> {
    let fields = &b.fields;
    if fields.width < 0 || fields.height < 0 || fields.depth < 0 {
        return Err("a negative size".into());
    }
    let Ok(offset) = u64::try_from(b.offset) else { return Err("a negative offset".into()) };
    let layout = layout(&fields.desc(pool.id, offset)).map_err(|e| e.to_string())?;
    // The texture header holds addresses in units of a linear texture's 32 bytes or of a GOB.
    let unit = if layout.row_stride != 0 { 32 } else { 512 };
    if offset % unit != 0 {
        return Err(format!("an offset that is no multiple of {unit}"));
    }
    if offset.checked_add(layout.size).is_none_or(|end| end > pool.size) {
        return Err(format!("{:#x} bytes that leave the pool of {:#x}", layout.size, pool.size));
    }
    Ok((offset, layout))
}

/// Bytes from the texture's start to the end of its last level: the storage without the padding behind it, which
/// packaged data may lack.
fn content_size(layout: &Layout) -> u64 {
    let last = layout.levels.last().map_or(0, |level| level.offset + level.size);
    (layout.layer_size * u64::from(layout.layers.saturating_sub(1)) + last).min(layout.size)
}

/// Copies packaged data into the texture's storage, as NVN does at Initialize.
fn copy_packaged(data: u64, pool: &MemoryPoolRecord, offset: u64, size: u64) {
    let source = GuestPtr::<u8>::new(data).host();
    if pool.storage == 0 {
        // SAFETY: the builder's call promises packaged data of the texture's content size.
        host::pools::write(pool.id, offset, unsafe { std::slice::from_raw_parts(source, size as usize) });
        return;
    }
    let storage = GuestPtr::<u8>::new(pool.storage.wrapping_add(offset)).host();
    // SAFETY: the builder's call promises packaged data of the texture's content size; `place` checked that the
    // storage lies inside the pool; the two may be the same bytes, which `copy` allows.
    unsafe { std::ptr::copy(source, storage, size as usize) };
}

/// Ends the texture. A copy's finalize counts only when the object that was initialized is gone (B439).
pub(crate) extern "C" fn nvnTextureFinalize(texture: *mut NVNtexture) {
    let Some(record) = live::<TextureRecord, _>(texture, "nvnTextureFinalize") else { return };
    clear_magic(texture);
    let owner = OWNERS.lock().as_ref().and_then(|owners| owners.get(&record.serial).copied());
    if ends(owner, address(texture), record.serial, read_elsewhere) {
        if let Some(owners) = &mut *OWNERS.lock() {
            owners.remove(&record.serial);
        }
        host::textures::destroy(record.serial);
    }
}

/// Whether finalizing the object at `at` ends the texture: it was initialized there, or what was initialized is
/// no such texture any more. `read` reads a record at an address that may be gone.
fn ends(owner: Option<u64>, at: u64, serial: u64, read: impl FnOnce(u64) -> Option<TextureRecord>) -> bool {
    match owner {
        None => false,
        Some(owner) if owner == at => true,
        Some(owner) => !read(owner).is_some_and(|record| record.is_live() && record.serial == serial),
    }
}

/// Reads a record at a guest address that may be unmapped by now; `None` then.
#[cfg(target_os = "linux")]
fn read_elsewhere(at: u64) -> Option<TextureRecord> {
    let mut record: TextureRecord = bytemuck::Zeroable::zeroed();
    let remote = GuestPtr::<TextureRecord>::new(at).host();
    let size = size_of::<TextureRecord>();
    let local_range = libc::iovec { iov_base: (&raw mut record).cast(), iov_len: size };
    let remote_range = libc::iovec { iov_base: remote.cast(), iov_len: size };
    // SAFETY: the local range is `record`; the kernel checks the other and answers less when it is unmapped.
    let read =
        unsafe { libc::process_vm_readv(libc::getpid(), &raw const local_range, 1, &raw const remote_range, 1, 0) };
    (usize::try_from(read) == Ok(size)).then_some(record)
}

/// Elsewhere there is no read that cannot fault: the owner's memory is taken to hold nothing any more, so that a
/// finalized copy ends the texture; its next use would fill it again from storage.
#[cfg(not(target_os = "linux"))]
fn read_elsewhere(_at: u64) -> Option<TextureRecord> {
    None
}

accessors! {
    NVNtexture as TextureRecord;
    get nvnTextureGetWidth -> i32: |t| t.fields.width;
    get nvnTextureGetHeight -> i32: |t| t.fields.height;
    get nvnTextureGetDepth -> i32: |t| t.fields.depth;
    get nvnTextureGetLevels -> i32: |t| t.fields.levels.into();
    get nvnTextureGetSamples -> i32: |t| t.fields.samples.into();
    get nvnTextureGetFormat -> NVNformat: |t| NVNformat(t.fields.format.into());
    get nvnTextureGetTarget -> NVNtextureTarget: |t| NVNtextureTarget(t.fields.target.into());
    get nvnTextureGetFlags -> NVNtextureFlags: |t| NVNtextureFlags(t.fields.flags);
    get nvnTextureGetStride -> isize: |t| t.fields.stride as isize;
    get nvnTextureGetDepthStencilMode -> NVNtextureDepthStencilMode:
        |t| NVNtextureDepthStencilMode(t.fields.depth_stencil_mode.into());
    get nvnTextureGetMemoryPool -> *mut NVNmemoryPool: |t| pointer(t.pool);
    get nvnTextureGetMemoryOffset -> isize: |t| t.offset as isize;
    get nvnTextureGetTextureAddress -> NVNtextureAddress: |t| {
        host::pools::give_out(t.pool_id);
        t.pool_gpu_address.wrapping_add(t.offset)
    };
    get nvnTextureGetStorageSize -> i32: |t| i32::try_from(t.storage_size).unwrap_or(i32::MAX);
    get nvnTextureGetZCullStorageSize -> usize: |_t| zcull_storage_size();
    get nvnTextureGetStorageClass -> NVNstorageClass: |_t| storage_class();
    get nvnTextureGetRawStorageClass -> NVNrawStorageClass: |_t| raw_storage_class();
    get nvnTextureGetDebugID -> u64: |t| t.serial;
}

pub(crate) extern "C" fn nvnTextureGetSwizzle(
    texture: *const NVNtexture,
    r: *mut NVNtextureSwizzle,
    g: *mut NVNtextureSwizzle,
    b: *mut NVNtextureSwizzle,
    a: *mut NVNtextureSwizzle,
) {
    if let Some(record) = live::<TextureRecord, _>(texture, "nvnTextureGetSwizzle") {
        output_swizzle(&record.fields, [r, g, b, a]);
    }
}

pub(crate) extern "C" fn nvnTextureGetSparseTileLayout(
    texture: *const NVNtexture,
    layout: *mut NVNtextureSparseTileLayout,
) {
    let record = live::<TextureRecord, _>(texture, "nvnTextureGetSparseTileLayout");
    output(layout, sparse_tile_layout(record.as_ref().map(|t| &t.fields)));
}

/// Bytes from the texture's start to the first level and layer of a view; 0 for a view of none of its levels.
pub(crate) extern "C" fn nvnTextureGetViewOffset(texture: *const NVNtexture, view: *const NVNtextureView) -> isize {
    const CALL: &str = "nvnTextureGetViewOffset";
    let view = view_argument(view, CALL);
    get(texture, CALL, |t: &TextureRecord| {
        let level = view.levels().map_or(0, |(base, _)| base);
        // Slices of a 3D texture are no layers: they share their level's blocks.
        let layer = match NVNtextureTarget(t.fields.target.into()) {
            NVNtextureTarget::TARGET_3D => 0,
            _ => view.layers().map_or(0, |(base, _)| base),
        };
        let offset = layout(&t.desc()).ok().and_then(|layout| layout.offset(level, layer));
        if offset.is_none() {
            fault!(
                key = t.serial,
                "",
                "{CALL}: level {level}, layer {layer} is not in texture {}; answered 0",
                t.serial
            );
        }
        offset.unwrap_or(0) as isize
    })
}

/// Whether both objects are the same texture: the same storage seen in the same way.
pub(crate) extern "C" fn nvnTextureCompare(texture1: *const NVNtexture, texture2: *const NVNtexture) -> NVNboolean {
    match (live_or_none::<TextureRecord, _>(texture1), live_or_none::<TextureRecord, _>(texture2)) {
        (Some(a), Some(b)) => boolean(a.desc() == b.desc()),
        _ => NVN_FALSE,
    }
}

/// The region of a texel call: the guest's, or the whole level that the view begins with.
fn region_argument(record: &TextureRecord, view: &ViewDesc, region: *const NVNcopyRegion) -> NVNcopyRegion {
    super::object::raw::<NVNcopyRegion, _>(region).unwrap_or_else(|| {
        let level = view.levels().map_or(0, |(base, _)| base).min(31);
        let size = |n: i32| (n >> level).max(1);
        let is_3d = NVNtextureTarget(record.fields.target.into()) == NVNtextureTarget::TARGET_3D;
        let depth = if is_3d { size(record.fields.depth) } else { record.fields.depth.max(1) };
        NVNcopyRegion {
            xoffset: 0,
            yoffset: 0,
            zoffset: 0,
            width: size(record.fields.width),
            height: size(record.fields.height),
            depth,
        }
    })
}

/// A guest's stride; 0 (tight) for a negative one.
fn stride(bytes: isize) -> u64 {
    u64::try_from(bytes).unwrap_or(0)
}

/// What the four texel calls have in common. `transfer` does the work and says whether it could.
fn texels(
    texture: *const NVNtexture,
    view: *const NVNtextureView,
    region: *const NVNcopyRegion,
    data: u64,
    call: &'static str,
    transfer: impl FnOnce(u64, Option<ViewDesc>, &NVNcopyRegion, GuestPtr<u8>) -> bool,
) {
    let Some(record) = live::<TextureRecord, _>(texture, call) else { return };
    let view = view_argument(view, call);
    let region = region_argument(&record, &view, region);
    let view = (!view.is_none()).then_some(view);
    if data == 0 || !transfer(record.serial, view, &region, GuestPtr::new(data)) {
        fault!(
            key = call.as_ptr() as u64,
            "",
            "{call}: texture {}, {region:?}, data at {data:#x}: nothing is copied",
            record.serial
        );
    }
}

pub(crate) extern "C" fn nvnTextureReadTexels(
    texture: *const NVNtexture,
    view: *const NVNtextureView,
    region: *const NVNcopyRegion,
    data: *mut core::ffi::c_void,
) {
    texels(texture, view, region, address(data), "nvnTextureReadTexels", |serial, view, region, data| {
        host::textures::read_texels(serial, view, region, 0, 0, data)
    });
}

pub(crate) extern "C" fn nvnTextureReadTexelsStrided(
    texture: *const NVNtexture,
    view: *const NVNtextureView,
    region: *const NVNcopyRegion,
    data: *mut core::ffi::c_void,
    row_stride: isize,
    image_stride: isize,
) {
    texels(texture, view, region, address(data), "nvnTextureReadTexelsStrided", |serial, view, region, data| {
        host::textures::read_texels(serial, view, region, stride(row_stride), stride(image_stride), data)
    });
}

pub(crate) extern "C" fn nvnTextureWriteTexels(
    texture: *const NVNtexture,
    view: *const NVNtextureView,
    region: *const NVNcopyRegion,
    data: *const core::ffi::c_void,
) {
    texels(texture, view, region, address(data), "nvnTextureWriteTexels", |serial, view, region, data| {
        host::textures::write_texels(serial, view, region, 0, 0, data)
    });
}

pub(crate) extern "C" fn nvnTextureWriteTexelsStrided(
    texture: *const NVNtexture,
    view: *const NVNtextureView,
    region: *const NVNcopyRegion,
    data: *const core::ffi::c_void,
    row_stride: isize,
    image_stride: isize,
) {
    texels(texture, view, region, address(data), "nvnTextureWriteTexelsStrided", |serial, view, region, data| {
        host::textures::write_texels(serial, view, region, stride(row_stride), stride(image_stride), data)
    });
}

/// The CPU wrote texels into the storage: the GPU is to see them.
pub(crate) extern "C" fn nvnTextureFlushTexels(
    texture: *const NVNtexture,
    _view: *const NVNtextureView,
    _region: *const NVNcopyRegion,
) {
    if let Some(t) = live::<TextureRecord, _>(texture, "nvnTextureFlushTexels") {
        host::pools::flush(t.pool_id, t.offset, t.storage_size);
    }
}

/// The CPU is about to read texels from the storage that the GPU may have written.
pub(crate) extern "C" fn nvnTextureInvalidateTexels(
    texture: *const NVNtexture,
    _view: *const NVNtextureView,
    _region: *const NVNcopyRegion,
) {
    if let Some(t) = live::<TextureRecord, _>(texture, "nvnTextureInvalidateTexels") {
        host::pools::invalidate(t.pool_id, t.offset, t.storage_size);
    }
}

pub(crate) extern "C" fn nvnTextureSetDebugLabel(texture: *mut NVNtexture, label: *const core::ffi::c_char) {
    super::label::note("NVNtexture", nvnTextureGetDebugID(texture), label);
}

entries! {
    nvnTextureCompare,
    nvnTextureFinalize,
    nvnTextureFlushTexels,
    nvnTextureGetDebugID,
    nvnTextureGetDepth,
    nvnTextureGetDepthStencilMode,
    nvnTextureGetFlags,
    nvnTextureGetFormat,
    nvnTextureGetHeight,
    nvnTextureGetLevels,
    nvnTextureGetMemoryOffset,
    nvnTextureGetMemoryPool,
    nvnTextureGetRawStorageClass,
    nvnTextureGetSamples,
    nvnTextureGetSparseTileLayout,
    nvnTextureGetStorageClass,
    nvnTextureGetStorageSize,
    nvnTextureGetStride,
    nvnTextureGetSwizzle,
    nvnTextureGetTarget,
    nvnTextureGetTextureAddress,
    nvnTextureGetViewOffset,
    nvnTextureGetWidth,
    nvnTextureGetZCullStorageSize,
    nvnTextureInitialize,
    nvnTextureInvalidateTexels,
    nvnTextureReadTexels,
    nvnTextureReadTexelsStrided,
    nvnTextureSetDebugLabel,
    nvnTextureWriteTexels,
    nvnTextureWriteTexelsStrided,
}

#[cfg(test)]
mod tests {
    use super::*;
    use navin_abi::records::TextureFields;

    fn record(serial: u64) -> TextureRecord {
        TextureRecord::new(serial, 0, 1, 0x10_0000, 0, 4096, TextureFields::DEFAULT)
    }

    #[test]
    fn b439_a_copys_finalize_ends_nothing_while_the_original_lives() {
        let original = record(7);
        let at = address(&raw const original);
        assert!(!ends(Some(at), 0x1234, 7, |_| Some(original)), "a copy");
        assert!(ends(Some(at), at, 7, |_| Some(original)), "the original");
        assert!(!ends(None, 0x1234, 7, |_| Some(original)), "a copy of one that ended before");
    }

    #[test]
    fn b439_a_moved_textures_finalize_ends_it() {
        assert!(ends(Some(1), 2, 7, |_| Some(record(8))), "another texture has the original's place");
        assert!(ends(Some(1), 2, 7, |_| Some(bytemuck::Zeroable::zeroed())), "the original was finalized");
        assert!(ends(Some(1), 2, 7, |_| None), "the original's memory is gone");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn b439_reading_the_owner_cannot_fault() {
        let original = record(7);
        let read = read_elsewhere(address(&raw const original)).expect("it is mapped");
        assert!(read == original);
        assert!(read_elsewhere(0x10).is_none());
    }
}
