//! Copies, resolves, uniform updates.

use std::ffi::c_void;

use navin_abi::types::*;
use navin_command::CommandBuffer;
use navin_command::record::payload::{
    self, CopyBuffer, CopyBufferTexture, CopyStrides, CopyTexture, UpdateUniformBuffer,
};
use navin_command::record::{Command, U64, op};

use super::HOST;
use super::args::{Array, commands, refuse, region, texture};

/// NVNcopyFlags.
fn flags(flags: NVNcopyFlags) -> u8 {
    flags.raw() as u8
}

/// Records a copy with the buffer's strides, if the guest set one (B226).
fn with_strides<C>(buffer: CommandBuffer, immediate: C::Immediate, copy: &C::Head)
where
    C: Command<Tail = CopyStrides>,
{
    let (row, image) = buffer.copy_strides();
    let (Ok(row), Ok(image)) = (u32::try_from(row), u32::try_from(image)) else {
        return refuse(C::NAME, format_args!("strides of {row} and {image} bytes"));
    };
    buffer.record_run::<C>(&HOST, immediate, copy, usize::from(row != 0 || image != 0), |_| CopyStrides { row, image });
}

/// The most words that one record updates; longer updates are several.
const UPDATE_WORDS: usize = <op::UpdateUniformBuffer as Command>::MAX_TAIL;

commands! {
    []

    fn nvnCommandBufferCopyBufferToBuffer(
        source: NVNbufferAddress,
        destination: NVNbufferAddress,
        size: usize,
        copy_flags: NVNcopyFlags,
    ) |buffer| {
        let copy = CopyBuffer {
            source: U64::new(source),
            destination: U64::new(destination),
            size: U64::new(size as u64),
        };
        buffer.record::<op::CopyBufferToBuffer>(&HOST, flags(copy_flags), &copy);
    }

    fn nvnCommandBufferCopyBufferToTexture(
        source: NVNbufferAddress,
        object: *const NVNtexture,
        view: *const NVNtextureView,
        area: *const NVNcopyRegion,
        copy_flags: NVNcopyFlags,
    ) |buffer| {
        let (Some(texture), Some(region)) = (texture(object, view, CALL), region(area, CALL)) else { return };
        let copy = CopyBufferTexture { buffer: U64::new(source), texture, region };
        with_strides::<op::CopyBufferToTexture>(buffer, flags(copy_flags), &copy);
    }

    fn nvnCommandBufferCopyTextureToBuffer(
        object: *const NVNtexture,
        view: *const NVNtextureView,
        area: *const NVNcopyRegion,
        destination: NVNbufferAddress,
        copy_flags: NVNcopyFlags,
    ) |buffer| {
        let (Some(texture), Some(region)) = (texture(object, view, CALL), region(area, CALL)) else { return };
        let copy = CopyBufferTexture { buffer: U64::new(destination), texture, region };
        with_strides::<op::CopyTextureToBuffer>(buffer, flags(copy_flags), &copy);
    }

    fn nvnCommandBufferCopyTextureToTexture(
        source: *const NVNtexture,
        source_view: *const NVNtextureView,
        source_area: *const NVNcopyRegion,
        destination: *const NVNtexture,
        destination_view: *const NVNtextureView,
        destination_area: *const NVNcopyRegion,
        copy_flags: NVNcopyFlags,
    ) |buffer| {
        let Some(source) = texture(source, source_view, CALL) else { return };
        let Some(destination) = texture(destination, destination_view, CALL) else { return };
        let (Some(source_region), Some(destination_region)) = (region(source_area, CALL), region(destination_area, CALL))
        else {
            return;
        };
        let copy = CopyTexture { source, source_region, destination, destination_region };
        buffer.record::<op::CopyTextureToTexture>(&HOST, flags(copy_flags), &copy);
    }

    fn nvnCommandBufferDownsample(source: *const NVNtexture, destination: *const NVNtexture) |buffer| {
        downsample(buffer, 0, [source, destination], [std::ptr::null(); 2], CALL);
    }

    fn nvnCommandBufferDownsampleTextureView(
        source: *const NVNtexture,
        source_view: *const NVNtextureView,
        destination: *const NVNtexture,
        destination_view: *const NVNtextureView,
    ) |buffer| {
        downsample(buffer, 0, [source, destination], [source_view, destination_view], CALL);
    }

    fn nvnCommandBufferTiledDownsample(source: *const NVNtexture, destination: *const NVNtexture) |buffer| {
        downsample(buffer, 1, [source, destination], [std::ptr::null(); 2], CALL);
    }

    fn nvnCommandBufferTiledDownsampleTextureView(
        source: *const NVNtexture,
        source_view: *const NVNtextureView,
        destination: *const NVNtexture,
        destination_view: *const NVNtextureView,
    ) |buffer| {
        downsample(buffer, 1, [source, destination], [source_view, destination_view], CALL);
    }

    /// The data goes into the record: the guest may reuse its memory at once.
    fn nvnCommandBufferUpdateUniformBuffer(
        address: NVNbufferAddress,
        size: usize,
        offset: isize,
        update_size: usize,
        data: *const c_void,
    ) |buffer| {
        let end = usize::try_from(offset).ok().and_then(|offset| offset.checked_add(update_size));
        let (Some(end), Ok(size)) = (end, u32::try_from(size)) else {
            return refuse(CALL, format_args!("{update_size} bytes at {offset} of a buffer of {size}"));
        };
        if end > size as usize {
            return refuse(CALL, format_args!("{update_size} bytes at {offset} of a buffer of {size}"));
        }
        if update_size == 0 {
            return;
        }
        let Some(bytes) = Array::<u8>::new(data.cast(), CALL) else { return };
        let head = |start: usize| UpdateUniformBuffer {
            buffer: U64::new(address),
            size,
            offset: (offset as usize + start) as u32,
        };
        let count = update_size.div_ceil(4);
        for start in (0..count).step_by(UPDATE_WORDS) {
            let run = (count - start).min(UPDATE_WORDS);
            let (first, end) = (start * 4, update_size.min((start + run) * 4));
            let unused = (first + run * 4 - end) as u8;
            if unused == 0 {
                let words = bytes.as_ptr().wrapping_add(first).cast();
                // SAFETY: inside the guest's data.
                unsafe { buffer.record_copy::<op::UpdateUniformBuffer>(&HOST, 0, &head(first), words, run) };
            } else {
                // The last word's bytes one by one: nothing behind the guest's data is read.
                let word = |i: usize| {
                    let at = first + i * 4;
                    (at..end.min(at + 4)).rev().fold(0, |word, at| word << 8 | u32::from(bytes.at(at)))
                };
                buffer.record_run::<op::UpdateUniformBuffer>(&HOST, unused, &head(first), run, word);
            }
        }
    }
}

fn downsample(
    buffer: CommandBuffer,
    tiled: u8,
    [source, destination]: [*const NVNtexture; 2],
    [source_view, destination_view]: [*const NVNtextureView; 2],
    call: &'static str,
) {
    let Some(source) = texture(source, source_view, call) else { return };
    let Some(destination) = texture(destination, destination_view, call) else { return };
    buffer.record::<op::Downsample>(&HOST, tiled, &payload::Downsample { source, destination });
}
