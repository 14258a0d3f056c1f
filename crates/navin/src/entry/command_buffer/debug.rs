//! Debug labels, groups and markers.
//!
//! Groups and markers are recorded only where labels are asked for (`Host::debug_labels`): the driver's take no
//! command memory that guests would measure.

use std::ffi::c_char;

use navin_abi::types::*;
use navin_command::CommandBuffer;
use navin_command::record::{Command, op};

use super::HOST;
use super::args::commands;
use crate::entry::label;
use crate::entry::object::address;

/// Records a command whose run is a text, if labels are asked for.
fn text<C: Command<Head = (), Tail = u32>>(buffer: CommandBuffer, immediate: C::Immediate, text: *const c_char) {
    if !HOST.debug_labels() {
        return;
    }
    let text = label::text(text).unwrap_or_default();
    let mut bytes = text.as_bytes();
    bytes = &bytes[..bytes.len().min(C::MAX_TAIL * 4)];
    let word = |i: usize| {
        let mut word = [0; 4];
        word.iter_mut().zip(&bytes[i * 4..]).for_each(|(to, from)| *to = *from);
        u32::from_le_bytes(word)
    };
    buffer.record_run::<C>(&HOST, immediate, &(), bytes.len().div_ceil(4), word);
}

fn pop(buffer: CommandBuffer) {
    if HOST.debug_labels() {
        buffer.record::<op::PopDebugGroup>(&HOST, (), &());
    }
}

commands! {
    [nvnCommandBufferSetDebugLabel]

    /// The headers disagree on whether a domain comes before the text, so neither argument is looked at: the
    /// group has no name.
    fn nvnCommandBufferPushDebugGroup(_domain: u32, _description: *const c_char) |buffer| {
        text::<op::PushDebugGroup>(buffer, (), std::ptr::null());
    }

    fn nvnCommandBufferPushDebugGroupDynamic(_domain: u32, description: *const c_char) |buffer| {
        text::<op::PushDebugGroup>(buffer, (), description);
    }

    fn nvnCommandBufferPushDebugGroupStatic(_domain: u32, description: *const c_char) |buffer| {
        text::<op::PushDebugGroup>(buffer, (), description);
    }

    fn nvnCommandBufferPopDebugGroup() |buffer| {
        pop(buffer);
    }

    fn nvnCommandBufferPopDebugGroupId(_domain: u32) |buffer| {
        pop(buffer);
    }

    fn nvnCommandBufferInsertDebugMarker(description: *const c_char) |buffer| {
        text::<op::InsertDebugMarker>(buffer, (), description);
    }

    fn nvnCommandBufferInsertDebugMarkerDynamic(_domain: u32, description: *const c_char) |buffer| {
        text::<op::InsertDebugMarker>(buffer, (), description);
    }

    fn nvnCommandBufferInsertDebugMarkerStatic(_domain: u32, description: *const c_char) |buffer| {
        text::<op::InsertDebugMarker>(buffer, (), description);
    }
}

pub(crate) extern "C" fn nvnCommandBufferSetDebugLabel(command_buffer: *mut NVNcommandBuffer, text: *const c_char) {
    label::note("NVNcommandBuffer", address(command_buffer), text);
}
