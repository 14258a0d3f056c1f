//! The guest's arguments: the command buffer, arrays, ranges of slots, objects.

use std::fmt;
use std::marker::PhantomData;

use bytemuck::Pod;
use navin_abi::records::{CommandBufferRecord, ProgramRecord, TextureRecord, ViewDesc};
use navin_abi::types::*;
use navin_abi::{GuestPtr, fault};
use navin_command::CommandBuffer;
use navin_command::record::U64;
use navin_command::record::immediate::StageSlot;
use navin_command::record::payload::{BufferRange, Object, Region, TextureRef};

use crate::entry::object::{address, live, live_or_none, raw};

/// Defines entry points that record. In each body the name before it is the [`CommandBuffer`], and `CALL` the
/// function's name. `ENTRIES` lists them, together with the names in the brackets, which are defined elsewhere.
macro_rules! commands {
    (
        [$($other:ident),* $(,)?]
        $($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) |$buffer:ident| $body:block)*
    ) => {
        $(
            $(#[$doc])*
            pub(crate) extern "C" fn $name(command_buffer: *mut navin_abi::types::NVNcommandBuffer, $($arg: $type),*) {
                #[allow(dead_code)]
                const CALL: &str = stringify!($name);
                let Some($buffer) = $crate::entry::command_buffer::args::open(command_buffer, CALL) else { return };
                $body
            }
        )*
        $crate::entry::table::entries! { $($other,)* $($name,)* }
    };
}
pub(super) use commands;

/// The guest's command buffer, as its call promises one; whether it is live, the recording checks.
#[inline(always)]
pub(super) fn open(command_buffer: *const NVNcommandBuffer, call: &'static str) -> Option<CommandBuffer> {
    if command_buffer.is_null() {
        null(call);
        return None;
    }
    let record = GuestPtr::<CommandBufferRecord>::new(address(command_buffer)).host();
    // SAFETY: an NVNcommandBuffer of the guest's, as its call promises, used by one thread at a time.
    Some(unsafe { CommandBuffer::new_unchecked(record) })
}

/// As [`open`], but only if it was initialized; for what is not recorded.
pub(super) fn open_live(command_buffer: *const NVNcommandBuffer, call: &'static str) -> Option<CommandBuffer> {
    let buffer = open(command_buffer, call)?;
    if !buffer.is_live() {
        refuse(call, format_args!("{command_buffer:p} is no initialized NVNcommandBuffer"));
        return None;
    }
    Some(buffer)
}

#[cold]
#[inline(never)]
fn null(call: &'static str) {
    refuse(call, format_args!("null NVNcommandBuffer"));
}

/// Names a call's wrong argument once; the caller records nothing.
#[cold]
#[inline(never)]
pub(super) fn refuse(call: &'static str, what: fmt::Arguments<'_>) {
    fault!(key = call.as_ptr() as u64, "", "{call}: {what}; not recorded");
}

/// An array of the guest's, read where it is.
pub(super) struct Array<'a, T> {
    first: *const T,
    _call: PhantomData<&'a T>,
}

impl<T: Pod> Array<'_, T> {
    /// The array at `first`; `None`, with a fault line, for null.
    #[inline]
    pub(super) fn new(first: *const T, call: &'static str) -> Option<Self> {
        if first.is_null() {
            refuse(call, format_args!("null array"));
            return None;
        }
        Some(Self { first: GuestPtr::new(address(first)).host(), _call: PhantomData })
    }

    /// The first element.
    #[inline(always)]
    pub(super) const fn as_ptr(&self) -> *const T {
        self.first
    }

    /// Element `index`, below the number that the guest's call gave.
    #[inline(always)]
    pub(super) fn at(&self, index: usize) -> T {
        // SAFETY: the guest's call promises the elements; callers ask for none beyond its count.
        unsafe { self.first.add(index).read_unaligned() }
    }
}

/// `first` and `count`, if they are a range within `limit` slots: `None` for an empty range, silently, and for one
/// out of bounds, with a fault line.
#[inline]
pub(super) fn range(first: i32, count: i32, limit: usize, call: &'static str) -> Option<(u8, usize)> {
    // A negative number is a large one.
    let (at, length) = (first as u32 as usize, count as u32 as usize);
    if at > limit || length > limit - at {
        out_of_range(first, count, limit, call);
        return None;
    }
    (length > 0).then_some((at as u8, length))
}

#[cold]
#[inline(never)]
fn out_of_range(first: i32, count: i32, limit: usize, call: &'static str) {
    refuse(call, format_args!("{count} from {first} on, of {limit} that there are"));
}

/// One slot out of `limit`, with a fault line for one that there is not.
#[inline(always)]
pub(super) fn slot(slot: i32, limit: usize, call: &'static str) -> Option<u8> {
    if slot as u32 as usize >= limit {
        out_of_range(slot, 1, limit, call);
        return None;
    }
    Some(slot as u8)
}

/// One slot of a stage; as [`slot`].
#[inline(always)]
pub(super) fn stage_slot(stage: NVNshaderStage, at: i32, limit: usize, call: &'static str) -> Option<StageSlot> {
    let stage = shader_stage(stage, call)?;
    Some(StageSlot::new(stage, slot(at, limit, call)?))
}

/// A stage's slots from `first` on; as [`range`].
#[inline]
pub(super) fn slots(
    stage: NVNshaderStage,
    first: i32,
    count: i32,
    limit: usize,
    call: &'static str,
) -> Option<(StageSlot, usize)> {
    let stage = shader_stage(stage, call)?;
    let (first, count) = range(first, count, limit, call)?;
    Some((StageSlot::new(stage, first), count))
}

/// A shader stage's number; `None`, with a fault line, for none of the six.
#[inline(always)]
pub(super) fn shader_stage(stage: NVNshaderStage, call: &'static str) -> Option<u8> {
    if stage.raw() as u32 > NVNshaderStage::COMPUTE.raw() as u32 {
        no_stage(stage, call);
        return None;
    }
    Some(stage.raw() as u8)
}

#[cold]
#[inline(never)]
fn no_stage(stage: NVNshaderStage, call: &'static str) {
    refuse(call, format_args!("shader stage {stage:?}"));
}

/// An argument that must be in `0..limit`.
#[inline(always)]
pub(super) fn index(value: i32, limit: u8, what: &str, call: &'static str) -> Option<u8> {
    if value as u32 >= u32::from(limit) {
        no_index(value, limit, what, call);
        return None;
    }
    Some(value as u8)
}

#[cold]
#[inline(never)]
fn no_index(value: i32, limit: u8, what: &str, call: &'static str) {
    refuse(call, format_args!("{what} {value}, which is not below {limit}"));
}

/// The bound size: NVN's are 64 bits, no buffer is larger than 32 bits say.
#[inline]
pub(super) fn buffer_range(range: NVNbufferRange) -> BufferRange {
    BufferRange { address: U64::new(range.address), size: u32::try_from(range.size).unwrap_or(u32::MAX) }
}

/// A texture and a view of it: null, and bytes that are no view, see the whole texture.
#[inline]
pub(super) fn texture(
    texture: *const NVNtexture,
    view: *const NVNtextureView,
    call: &'static str,
) -> Option<TextureRef> {
    let serial = live::<TextureRecord, _>(texture, call)?.serial;
    let view = live_or_none::<ViewDesc, _>(view).unwrap_or(ViewDesc::NONE);
    Some(TextureRef { serial: U64::new(serial), view })
}

/// NVNcopyRegion; `None`, with a fault line, for null and for one that is in no texture.
#[inline]
pub(super) fn region(region: *const NVNcopyRegion, call: &'static str) -> Option<Region> {
    let Some(r) = raw::<NVNcopyRegion, _>(region) else {
        refuse(call, format_args!("null NVNcopyRegion"));
        return None;
    };
    let number = |value: i32| u16::try_from(value).ok();
    match (number(r.yoffset), number(r.height), number(r.zoffset), number(r.depth)) {
        (Some(y), Some(height), Some(z), Some(depth)) => {
            Some(Region { x: r.xoffset, width: r.width, y, height, z, depth })
        }
        _ => {
            refuse(
                call,
                format_args!(
                    "a region of {} x {} x {} at {}, {}, {}",
                    r.width, r.height, r.depth, r.xoffset, r.yoffset, r.zoffset
                ),
            );
            None
        }
    }
}

/// A program by its serial.
#[inline]
pub(super) fn program(program: *const NVNprogram, call: &'static str) -> Option<Object> {
    Some(Object { serial: U64::new(live::<ProgramRecord, _>(program, call)?.serial) })
}

/// Bytes that the guest passes by pointer; `None`, with a fault line, for null.
#[inline]
pub(super) fn pointee<T: Pod, N>(pointer: *const N, call: &'static str) -> Option<T> {
    let value = raw::<T, N>(pointer);
    if value.is_none() {
        refuse(call, format_args!("null argument"));
    }
    value
}
