//! What draws read and write: programs, buffers, textures, pools, render targets.

use std::sync::Once;

use navin_abi::records::{MemoryPoolRecord, SamplerPoolRecord, TexturePoolRecord};
use navin_abi::types::*;
use navin_abi::{GuestPtr, fault};
use navin_command::record::immediate::TargetCount;
use navin_command::record::payload::{HandleGap, Object, Pool, ScratchMemory, Subroutines, TextureRef, VertexStream};
use navin_command::record::{U64, op};

use super::HOST;
use super::args::{
    Array, buffer_range, commands, index, program, range, refuse, shader_stage, slot, slots, stage_slot, texture,
};
use crate::entry::object::{address, live};

// Bindings of a stage, or of the pipeline, as the device tells them (device info items 0x2 to 0x9, 0x23, 0x5E,
// 0x5F).
const UNIFORM_BUFFERS: usize = 14;
const STORAGE_BUFFERS: usize = 16;
const VERTEX_BUFFERS: usize = 16;
const VERTEX_ATTRIBUTES: usize = 16;
const TEXTURES: usize = 32;
const SEPARATE_TEXTURES: usize = 128;
const SEPARATE_SAMPLERS: usize = 32;
const IMAGES: usize = 8;
const FEEDBACK_BUFFERS: usize = 4;
const COLOR_TARGETS: usize = 8;

/// Binds one buffer.
macro_rules! bind_buffer {
    ($op:ident, $buffer:ident, $slot:expr, $address:ident, $size:ident) => {{
        let Some(at) = $slot else { return };
        let one = NVNbufferRange { address: $address, size: $size as u64 };
        $buffer.record_run::<op::$op>(&HOST, at, &(), 1, |_| buffer_range(one));
    }};
}

/// Binds several buffers.
macro_rules! bind_buffers {
    ($op:ident, $buffer:ident, $slots:expr, $element:expr) => {{
        let Some((at, count)) = $slots else { return };
        $buffer.record_run::<op::$op>(&HOST, at, &(), count, $element);
    }};
}

commands! {
    []

    fn nvnCommandBufferBindProgram(object: *const NVNprogram, stages: NVNshaderStageBits) |buffer| {
        let all = NVNshaderStageBits::ALL_GRAPHICS_BITS.raw() | NVNshaderStageBits::COMPUTE_BIT.raw();
        if stages.raw() & !all != 0 {
            fault!(key = stages.raw(), "", "{CALL}: stages {stages:?}; those that are none are left out");
        }
        let stages = (stages.raw() & all) as u8;
        if object.is_null() {
            buffer.record_run::<op::BindProgram>(&HOST, stages, &(), 0, |_| Object::default());
        } else if let Some(object) = program(object, CALL) {
            buffer.record_run::<op::BindProgram>(&HOST, stages, &(), 1, |_| object);
        }
    }

    fn nvnCommandBufferSetProgramSubroutines(
        object: *mut NVNprogram,
        stage: NVNshaderStage,
        first: i32,
        count: i32,
        values: *const i32,
    ) |buffer| {
        let (Some(object), Some(stage)) = (program(object, CALL), shader_stage(stage, CALL)) else { return };
        let (Ok(first), Ok(count)) = (u32::try_from(first), usize::try_from(count)) else {
            return refuse(CALL, format_args!("{count} subroutines from {first} on"));
        };
        if count == 0 {
            return;
        }
        let Some(values) = Array::new(values, CALL) else { return };
        let head = Subroutines { program: object.serial, first };
        buffer.record_run::<op::SetProgramSubroutines>(&HOST, stage, &head, count, |i| values.at(i) as u32);
    }

    fn nvnCommandBufferBindVertexBuffer(slot: i32, address: NVNbufferAddress, size: usize) |buffer| {
        bind_buffer!(BindVertexBuffers, buffer, self::slot(slot, VERTEX_BUFFERS, CALL), address, size);
    }

    fn nvnCommandBufferBindVertexBuffers(first: i32, count: i32, buffers: *const NVNbufferRange) |buffer| {
        let Some((first, count)) = range(first, count, VERTEX_BUFFERS, CALL) else { return };
        let Some(ranges) = Array::new(buffers, CALL) else { return };
        bind_buffers!(BindVertexBuffers, buffer, Some((first, count)), |i| buffer_range(ranges.at(i)));
    }

    fn nvnCommandBufferBindVertexAttribState(count: i32, attributes: *const NVNvertexAttribState) |buffer| {
        let Some(count) = all(count, VERTEX_ATTRIBUTES, CALL) else { return };
        if count == 0 {
            buffer.record_run::<op::BindVertexAttribState>(&HOST, (), &(), 0, |_| 0);
            return;
        }
        let Some(attributes) = Array::<u32>::new(attributes.cast(), CALL) else { return };
        // SAFETY: as many words as the guest's call gives.
        unsafe { buffer.record_copy::<op::BindVertexAttribState>(&HOST, (), &(), attributes.as_ptr(), count) };
    }

    fn nvnCommandBufferBindVertexStreamState(count: i32, streams: *const NVNvertexStreamState) |buffer| {
        let Some(count) = all(count, VERTEX_BUFFERS, CALL) else { return };
        if count == 0 {
            buffer.record_run::<op::BindVertexStreamState>(&HOST, (), &(), 0, |_| VertexStream::default());
            return;
        }
        let Some(streams) = Array::<[u32; 2]>::new(streams.cast(), CALL) else { return };
        buffer.record_run::<op::BindVertexStreamState>(&HOST, (), &(), count, |i| stream(streams.at(i), CALL));
    }

    fn nvnCommandBufferBindUniformBuffer(
        stage: NVNshaderStage,
        slot: i32,
        address: NVNbufferAddress,
        size: usize,
    ) |buffer| {
        bind_buffer!(BindUniformBuffers, buffer, stage_slot(stage, slot, UNIFORM_BUFFERS, CALL), address, size);
    }

    fn nvnCommandBufferBindUniformBuffers(
        stage: NVNshaderStage,
        first: i32,
        count: i32,
        buffers: *const NVNbufferRange,
    ) |buffer| {
        let Some(at) = slots(stage, first, count, UNIFORM_BUFFERS, CALL) else { return };
        let Some(ranges) = Array::new(buffers, CALL) else { return };
        bind_buffers!(BindUniformBuffers, buffer, Some(at), |i| buffer_range(ranges.at(i)));
    }

    fn nvnCommandBufferBindStorageBuffer(
        stage: NVNshaderStage,
        slot: i32,
        address: NVNbufferAddress,
        size: usize,
    ) |buffer| {
        bind_buffer!(BindStorageBuffers, buffer, stage_slot(stage, slot, STORAGE_BUFFERS, CALL), address, size);
    }

    fn nvnCommandBufferBindStorageBuffers(
        stage: NVNshaderStage,
        first: i32,
        count: i32,
        buffers: *const NVNbufferRange,
    ) |buffer| {
        let Some(at) = slots(stage, first, count, STORAGE_BUFFERS, CALL) else { return };
        let Some(ranges) = Array::new(buffers, CALL) else { return };
        bind_buffers!(BindStorageBuffers, buffer, Some(at), |i| buffer_range(ranges.at(i)));
    }

    fn nvnCommandBufferBindTransformFeedbackBuffer(slot: i32, address: NVNbufferAddress, size: usize) |buffer| {
        bind_buffer!(BindTransformFeedbackBuffers, buffer, self::slot(slot, FEEDBACK_BUFFERS, CALL), address, size);
    }

    fn nvnCommandBufferBindTransformFeedbackBuffers(
        first: i32,
        count: i32,
        buffers: *const NVNbufferRange,
    ) |buffer| {
        let Some(at) = range(first, count, FEEDBACK_BUFFERS, CALL) else { return };
        let Some(ranges) = Array::new(buffers, CALL) else { return };
        bind_buffers!(BindTransformFeedbackBuffers, buffer, Some(at), |i| buffer_range(ranges.at(i)));
    }

    /// The handle's low 32 bits (B415) are 16 bytes into the record (B228).
    fn nvnCommandBufferBindTexture(stage: NVNshaderStage, slot: i32, handle: NVNtextureHandle) |buffer| {
        let Some(at) = stage_slot(stage, slot, TEXTURES, CALL) else { return };
        buffer.record_run::<op::BindTextures>(&HOST, at, &HandleGap::default(), 1, |_| handle as u32);
    }

    fn nvnCommandBufferBindTextures(
        stage: NVNshaderStage,
        first: i32,
        count: i32,
        handles: *const NVNtextureHandle,
    ) |buffer| {
        let Some((at, count)) = slots(stage, first, count, TEXTURES, CALL) else { return };
        let Some(handles) = Array::new(handles, CALL) else { return };
        buffer.record_run::<op::BindTextures>(&HOST, at, &HandleGap::default(), count, |i| handles.at(i) as u32);
    }

    fn nvnCommandBufferBindSeparateTexture(
        stage: NVNshaderStage,
        slot: i32,
        handle: NVNseparateTextureHandle,
    ) |buffer| {
        let (Some(stage), Some(at)) = (shader_stage(stage, CALL), self::slot(slot, SEPARATE_TEXTURES, CALL)) else {
            return;
        };
        buffer.record_run::<op::BindSeparateTextures>(&HOST, stage, &at.into(), 1, |_| handle.value as u32);
    }

    fn nvnCommandBufferBindSeparateTextures(
        stage: NVNshaderStage,
        first: i32,
        count: i32,
        handles: *const NVNseparateTextureHandle,
    ) |buffer| {
        let Some(stage) = shader_stage(stage, CALL) else { return };
        let Some((first, count)) = range(first, count, SEPARATE_TEXTURES, CALL) else { return };
        let Some(handles) = Array::new(handles, CALL) else { return };
        buffer.record_run::<op::BindSeparateTextures>(&HOST, stage, &first.into(), count, |i| {
            handles.at(i).value as u32
        });
    }

    fn nvnCommandBufferBindSeparateSampler(
        stage: NVNshaderStage,
        slot: i32,
        handle: NVNseparateSamplerHandle,
    ) |buffer| {
        let Some(at) = stage_slot(stage, slot, SEPARATE_SAMPLERS, CALL) else { return };
        buffer.record_run::<op::BindSeparateSamplers>(&HOST, at, &(), 1, |_| handle.value as u32);
    }

    fn nvnCommandBufferBindSeparateSamplers(
        stage: NVNshaderStage,
        first: i32,
        count: i32,
        handles: *const NVNseparateSamplerHandle,
    ) |buffer| {
        let Some((at, count)) = slots(stage, first, count, SEPARATE_SAMPLERS, CALL) else { return };
        let Some(handles) = Array::new(handles, CALL) else { return };
        buffer.record_run::<op::BindSeparateSamplers>(&HOST, at, &(), count, |i| handles.at(i).value as u32);
    }

    fn nvnCommandBufferBindImage(stage: NVNshaderStage, slot: i32, handle: NVNimageHandle) |buffer| {
        let Some(at) = stage_slot(stage, slot, IMAGES, CALL) else { return };
        buffer.record_run::<op::BindImages>(&HOST, at, &(), 1, |_| handle as u32);
    }

    fn nvnCommandBufferBindImages(
        stage: NVNshaderStage,
        first: i32,
        count: i32,
        handles: *const NVNimageHandle,
    ) |buffer| {
        let Some((at, count)) = slots(stage, first, count, IMAGES, CALL) else { return };
        let Some(handles) = Array::new(handles, CALL) else { return };
        buffer.record_run::<op::BindImages>(&HOST, at, &(), count, |i| handles.at(i) as u32);
    }

    fn nvnCommandBufferSetTexturePool(pool: *const NVNtexturePool) |buffer| {
        let Some(pool) = live::<TexturePoolRecord, _>(pool, CALL) else { return };
        buffer.record::<op::SetTexturePool>(&HOST, (), &Pool { id: pool.id });
    }

    fn nvnCommandBufferSetSamplerPool(pool: *const NVNsamplerPool) |buffer| {
        let Some(pool) = live::<SamplerPoolRecord, _>(pool, CALL) else { return };
        buffer.record::<op::SetSamplerPool>(&HOST, (), &Pool { id: pool.id });
    }

    /// Null colours and null views are none, and the texture's own.
    fn nvnCommandBufferSetRenderTargets(
        count: i32,
        colors: *const *const NVNtexture,
        views: *const *const NVNtextureView,
        depth_stencil: *const NVNtexture,
        depth_stencil_view: *const NVNtextureView,
    ) |buffer| {
        let Some(colors_used) = all(count, COLOR_TARGETS, CALL) else { return };
        if colors_used > 0 && colors.is_null() {
            return refuse(CALL, format_args!("{count} colour targets at null"));
        }
        let mut targets = [TextureRef::default(); COLOR_TARGETS + 1];
        for (i, target) in targets.iter_mut().enumerate().take(colors_used) {
            let color = element(colors.cast(), i);
            let view = element(views.cast(), i);
            if color != 0 {
                let Some(color) = texture(at(color), at(view), CALL) else { return };
                *target = color;
            }
        }
        let mut targets_used = colors_used;
        if !depth_stencil.is_null() {
            let Some(target) = texture(depth_stencil, depth_stencil_view, CALL) else { return };
            targets[colors_used] = target;
            targets_used += 1;
        }
        let immediate = TargetCount::new(colors_used as u8, targets_used > colors_used);
        buffer.record_run::<op::SetRenderTargets>(&HOST, immediate, &(), targets_used, |i| targets[i]);
    }

    fn nvnCommandBufferSetShaderScratchMemory(pool: *const NVNmemoryPool, offset: isize, size: usize) |buffer| {
        let Some(pool) = live::<MemoryPoolRecord, _>(pool, CALL) else { return };
        let end = u64::try_from(offset).ok().and_then(|offset| offset.checked_add(size as u64));
        if end.is_none_or(|end| end > pool.size) {
            return refuse(CALL, format_args!("{size} bytes at {offset:#x} of a pool of {} bytes", pool.size));
        }
        let address = U64::new(pool.gpu_address.wrapping_add(offset as u64));
        buffer.record::<op::SetShaderScratchMemory>(&HOST, (), &ScratchMemory { address, size: U64::new(size as u64) });
    }

    /// Without effect: NVN2's shading rates are not drawn with, and its arguments are not known.
    fn nvnCommandBufferBindShadingRateImage() |_buffer| {
        // A fault line takes a lock, which recording does not (B422): once is enough.
        static NAMED: Once = Once::new();
        NAMED.call_once(|| {
            fault!("", "{CALL} has no effect: its arguments are not known; every pixel is shaded");
        });
    }

    fn nvnCommandBufferDiscardColor(target: i32) |buffer| {
        let Some(target) = index(target, COLOR_TARGETS as u8, "colour target", CALL) else { return };
        buffer.record::<op::DiscardColor>(&HOST, target, &());
    }

    fn nvnCommandBufferDiscardDepthStencil() |buffer| {
        buffer.record::<op::DiscardDepthStencil>(&HOST, (), &());
    }

    fn nvnCommandBufferResolveDepthBuffer() |buffer| {
        buffer.record::<op::ResolveDepthBuffer>(&HOST, (), &());
    }
}

/// NVNvertexStreamState, stride and divisor; one beyond 16 bits is held down to them, with a fault line.
#[inline]
fn stream([stride, divisor]: [u32; 2], call: &'static str) -> VertexStream {
    if (stride | divisor) >> 16 != 0 {
        fault!(
            key = stride | divisor,
            "",
            "{call}: a stride of {stride} and a divisor of {divisor}: 65535 is the most"
        );
    }
    let held = |value: u32| value.min(u16::MAX.into()) as u16;
    VertexStream { stride: held(stride), divisor: held(divisor) }
}

/// A number of things, none included.
fn all(count: i32, limit: usize, call: &'static str) -> Option<usize> {
    match usize::try_from(count) {
        Ok(count) if count <= limit => Some(count),
        _ => {
            refuse(call, format_args!("{count}, of {limit} that there can be"));
            None
        }
    }
}

/// Element `index` of an array of guest pointers; 0 where there is no array.
fn element(array: *const u64, index: usize) -> u64 {
    if array.is_null() {
        return 0;
    }
    // SAFETY: an array of as many pointers as the guest's call says; callers stay below that.
    unsafe { GuestPtr::<u64>::new(address(array)).add(index).read() }.unwrap_or(0)
}

fn at<N>(address: u64) -> *const N {
    crate::entry::object::pointer::<N>(address)
}
