//! Draws and dispatches.

use navin_abi::types::*;
use navin_command::record::immediate::ElementMode;
use navin_command::record::payload::{
    Buffer, DispatchCompute, DrawArrays, DrawArraysIndirect, DrawArraysInstanced, DrawElements, DrawElementsBaseVertex,
    DrawElementsIndirect, DrawElementsInstanced, DrawTexture, MultiDrawArrays, MultiDrawElements,
};
use navin_command::record::{U64, op};

use super::HOST;
use super::args::{commands, pointee, refuse};

/// A number of things to draw; `None`, with a fault line, for a negative one.
#[inline(always)]
fn number(value: i32, call: &'static str) -> Option<u32> {
    if value < 0 {
        negative(value, call);
        return None;
    }
    Some(value as u32)
}

#[cold]
#[inline(never)]
fn negative(value: i32, call: &'static str) {
    refuse(call, format_args!("a count of {value}"));
}

/// What is drawn; `None`, with a fault line, for no NVNdrawPrimitive.
#[inline(always)]
fn primitive(mode: NVNdrawPrimitive, call: &'static str) -> Option<u8> {
    if mode.raw() as u32 > NVNdrawPrimitive::PATCHES.raw() as u32 {
        unknown(mode.raw(), "draw primitive", call);
        return None;
    }
    Some(mode.raw() as u8)
}

/// What is drawn, and by which indices.
#[inline(always)]
fn elements(mode: NVNdrawPrimitive, index: NVNindexType, call: &'static str) -> Option<ElementMode> {
    if index.raw() as u32 > NVNindexType::UNSIGNED_INT.raw() as u32 {
        unknown(index.raw(), "index type", call);
        return None;
    }
    Some(ElementMode::new(primitive(mode, call)?, index.raw() as u8))
}

#[cold]
#[inline(never)]
fn unknown(value: i32, what: &str, call: &'static str) {
    refuse(call, format_args!("{what} {value}"));
}

commands! {
    []

    fn nvnCommandBufferDrawArrays(mode: NVNdrawPrimitive, first: i32, count: i32) |buffer| {
        let (Some(mode), Some(count)) = (primitive(mode, CALL), number(count, CALL)) else { return };
        buffer.record::<op::DrawArrays>(&HOST, mode, &DrawArrays { first: first as u32, count });
    }

    fn nvnCommandBufferDrawArraysInstanced(
        mode: NVNdrawPrimitive,
        first: i32,
        count: i32,
        base_instance: i32,
        instance_count: i32,
    ) |buffer| {
        let (Some(mode), Some(count)) = (primitive(mode, CALL), number(count, CALL)) else { return };
        let Some(instance_count) = number(instance_count, CALL) else { return };
        let draw =
            DrawArraysInstanced { first: first as u32, count, base_instance: base_instance as u32, instance_count };
        buffer.record::<op::DrawArraysInstanced>(&HOST, mode, &draw);
    }

    fn nvnCommandBufferDrawElements(
        mode: NVNdrawPrimitive,
        index: NVNindexType,
        count: i32,
        index_buffer: NVNbufferAddress,
    ) |buffer| {
        let (Some(mode), Some(count)) = (elements(mode, index, CALL), number(count, CALL)) else { return };
        buffer.record::<op::DrawElements>(&HOST, mode, &DrawElements { count, index_buffer: U64::new(index_buffer) });
    }

    fn nvnCommandBufferDrawElementsBaseVertex(
        mode: NVNdrawPrimitive,
        index: NVNindexType,
        count: i32,
        index_buffer: NVNbufferAddress,
        base_vertex: i32,
    ) |buffer| {
        let (Some(mode), Some(count)) = (elements(mode, index, CALL), number(count, CALL)) else { return };
        let draw = DrawElementsBaseVertex { count, index_buffer: U64::new(index_buffer), base_vertex };
        buffer.record::<op::DrawElementsBaseVertex>(&HOST, mode, &draw);
    }

    fn nvnCommandBufferDrawElementsInstanced(
        mode: NVNdrawPrimitive,
        index: NVNindexType,
        count: i32,
        index_buffer: NVNbufferAddress,
        base_vertex: i32,
        base_instance: i32,
        instance_count: i32,
    ) |buffer| {
        let (Some(mode), Some(count)) = (elements(mode, index, CALL), number(count, CALL)) else { return };
        let Some(instance_count) = number(instance_count, CALL) else { return };
        let draw = DrawElementsInstanced {
            count,
            index_buffer: U64::new(index_buffer),
            base_vertex,
            base_instance: base_instance as u32,
            instance_count,
        };
        buffer.record::<op::DrawElementsInstanced>(&HOST, mode, &draw);
    }

    fn nvnCommandBufferDrawArraysIndirect(mode: NVNdrawPrimitive, indirect: NVNbufferAddress) |buffer| {
        let Some(mode) = primitive(mode, CALL) else { return };
        buffer.record::<op::DrawArraysIndirect>(&HOST, mode, &DrawArraysIndirect { indirect: U64::new(indirect) });
    }

    fn nvnCommandBufferDrawElementsIndirect(
        mode: NVNdrawPrimitive,
        index: NVNindexType,
        index_buffer: NVNbufferAddress,
        indirect: NVNbufferAddress,
    ) |buffer| {
        let Some(mode) = elements(mode, index, CALL) else { return };
        let draw = DrawElementsIndirect { index_buffer: U64::new(index_buffer), indirect: U64::new(indirect) };
        buffer.record::<op::DrawElementsIndirect>(&HOST, mode, &draw);
    }

    fn nvnCommandBufferMultiDrawArraysIndirectCount(
        mode: NVNdrawPrimitive,
        indirect: NVNbufferAddress,
        count: NVNbufferAddress,
        max_draws: i32,
        stride: isize,
    ) |buffer| {
        let (Some(mode), Some(max_draws)) = (primitive(mode, CALL), number(max_draws, CALL)) else { return };
        let Ok(stride) = i32::try_from(stride) else {
            return refuse(CALL, format_args!("a stride of {stride} bytes"));
        };
        let draw = MultiDrawArrays { indirect: U64::new(indirect), count: U64::new(count), max_draws, stride };
        buffer.record::<op::MultiDrawArraysIndirectCount>(&HOST, mode, &draw);
    }

    fn nvnCommandBufferMultiDrawElementsIndirectCount(
        mode: NVNdrawPrimitive,
        index: NVNindexType,
        index_buffer: NVNbufferAddress,
        indirect: NVNbufferAddress,
        count: NVNbufferAddress,
        max_draws: i32,
        stride: isize,
    ) |buffer| {
        let (Some(mode), Some(max_draws)) = (elements(mode, index, CALL), number(max_draws, CALL)) else { return };
        let Ok(stride) = i32::try_from(stride) else {
            return refuse(CALL, format_args!("a stride of {stride} bytes"));
        };
        let draw = MultiDrawElements {
            index_buffer: U64::new(index_buffer),
            indirect: U64::new(indirect),
            count: U64::new(count),
            max_draws,
            stride,
        };
        buffer.record::<op::MultiDrawElementsIndirectCount>(&HOST, mode, &draw);
    }

    fn nvnCommandBufferDrawTransformFeedback(mode: NVNdrawPrimitive, address: NVNbufferAddress) |buffer| {
        let Some(mode) = primitive(mode, CALL) else { return };
        buffer.record::<op::DrawTransformFeedback>(&HOST, mode, &Buffer { address: U64::new(address) });
    }

    /// Only the low 32 bits of the handle count (B415).
    fn nvnCommandBufferDrawTexture(
        handle: NVNtextureHandle,
        destination: *const NVNdrawTextureRegion,
        source: *const NVNdrawTextureRegion,
    ) |buffer| {
        let (Some(destination), Some(source)) = (pointee(destination, CALL), pointee(source, CALL)) else { return };
        buffer.record::<op::DrawTexture>(&HOST, (), &DrawTexture { handle: handle as u32, destination, source });
    }

    fn nvnCommandBufferDispatchCompute(x: i32, y: i32, z: i32) |buffer| {
        let (Some(x), Some(y), Some(z)) = (number(x, CALL), number(y, CALL), number(z, CALL)) else { return };
        buffer.record::<op::DispatchCompute>(&HOST, (), &DispatchCompute { groups: [x, y, z] });
    }

    fn nvnCommandBufferDispatchComputeIndirect(address: NVNbufferAddress) |buffer| {
        buffer.record::<op::DispatchComputeIndirect>(&HOST, (), &Buffer { address: U64::new(address) });
    }
}
