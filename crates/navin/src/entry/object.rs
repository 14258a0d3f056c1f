//! How entry points reach the guest's objects: read the record, check it, write it back.
//!
//! Every entry point gets pointers from the guest and passes them here. The table of entry points gives them the
//! `unsafe` types of [`navin_abi::pfn`], so whoever calls one promises what NVN's headers ask: each pointer is
//! null or leads to an object of its type. That promise is what the functions here rest on; whether the object
//! is *live* (initialized, not finalized) they check themselves and name once what is not (key: the function).

use bytemuck::{Pod, Zeroable};
use navin_abi::records::state::{
    BlendState, ChannelMaskState, ColorState, DepthStencilState, MultisampleState, PolygonState, VertexAttribState,
    VertexStreamState,
};
use navin_abi::records::{
    BufferBuilderRecord, BufferRecord, DeviceBuilderRecord, DeviceRecord, EventBuilderRecord, EventRecord,
    MemoryPoolBuilderRecord, MemoryPoolRecord, ProgramRecord, QueueBuilderRecord, QueueRecord, Record,
    SamplerBuilderRecord, SamplerPoolRecord, SamplerRecord, SamplerState, SyncRecord, TextureBuilderRecord,
    TexturePoolRecord, TextureRecord, ViewDesc, WindowBuilderRecord, WindowRecord,
};
use navin_abi::{GuestPtr, fault};

/// What Navin keeps in a guest's object.
pub(crate) trait InPlace: Pod {
    /// The guest's type.
    const NAME: &'static str;

    /// Whether the bytes are what Initialize or SetDefaults left.
    fn is_valid(&self) -> bool;

    /// What a setter starts from when the bytes are not valid: a builder's defaults. `None`: the call does nothing.
    fn repaired(&self) -> Option<Self> {
        None
    }
}

macro_rules! in_place {
    ($($record:ident $(or $repair:expr)?;)*) => {$(
        impl InPlace for $record {
            const NAME: &'static str = <$record as Record>::NAME;

            fn is_valid(&self) -> bool {
                self.is_live()
            }

            $(fn repaired(&self) -> Option<Self> {
                let repair: fn(&Self) -> Self = $repair;
                Some(repair(self))
            })?
        }
    )*};
}
in_place! {
    BufferRecord;
    BufferBuilderRecord or |b| Self::new(b.device);
    DeviceRecord;
    DeviceBuilderRecord or |_| Self::new();
    EventRecord;
    EventBuilderRecord or |_| Self::new();
    MemoryPoolRecord;
    MemoryPoolBuilderRecord or |b| Self::new(b.device);
    ProgramRecord;
    QueueRecord;
    QueueBuilderRecord or |b| super::queue_builder::defaults(b.device);
    SamplerRecord;
    SamplerPoolRecord;
    SyncRecord;
    TextureRecord;
    TextureBuilderRecord or |b| Self::new(b.device);
    TexturePoolRecord;
    WindowRecord;
    WindowBuilderRecord or |b| Self::new(b.device);
}

macro_rules! in_place_without_magic {
    ($($record:ident in $name:literal, valid $valid:expr, else $repair:expr;)*) => {$(
        impl InPlace for $record {
            const NAME: &'static str = $name;

            fn is_valid(&self) -> bool {
                let valid: fn(&Self) -> bool = $valid;
                valid(self)
            }

            fn repaired(&self) -> Option<Self> {
                let repair: fn(&Self) -> Self = $repair;
                Some(repair(self))
            }
        }
    )*};
}
in_place_without_magic! {
    BlendState in "NVNblendState", valid |_| true, else |s| *s;
    ChannelMaskState in "NVNchannelMaskState", valid |_| true, else |s| *s;
    ColorState in "NVNcolorState", valid |_| true, else |s| *s;
    DepthStencilState in "NVNdepthStencilState", valid |_| true, else |s| *s;
    MultisampleState in "NVNmultisampleState", valid |_| true, else |s| *s;
    PolygonState in "NVNpolygonState", valid |_| true, else |s| *s;
    VertexAttribState in "NVNvertexAttribState", valid |_| true, else |s| *s;
    VertexStreamState in "NVNvertexStreamState", valid |_| true, else |s| *s;
    ViewDesc in "NVNtextureView", valid ViewDesc::is_view, else |_| ViewDesc::NONE;
    SamplerBuilderRecord in "NVNsamplerBuilder", valid |b| b.state.is_state(),
        else |b| Self { device: b.device, state: SamplerState::DEFAULT };
}

/// The key under which a function's fault is reported once: functions' names are statics, one each.
fn key(call: &'static str) -> u64 {
    call.as_ptr() as u64
}

/// The address that the guest passed as `object`.
pub(crate) fn address<N>(object: *const N) -> u64 {
    object as usize as u64
}

/// The guest's pointer to the object at `address`.
pub(crate) fn pointer<N>(address: u64) -> *mut N {
    address as usize as *mut N
}

/// The record in `object`, checked; `None`, with a fault line for `call`, when it is null or not live.
pub(crate) fn live<R: InPlace, N>(object: *const N, call: &'static str) -> Option<R> {
    let Some(record) = raw::<R, N>(object) else {
        fault!(key = key(call), "", "{call}: null {}; answered as a failure", R::NAME);
        return None;
    };
    if !record.is_valid() {
        let at = address(object);
        fault!(
            key = key(call),
            "",
            "{call}: {} at {at:#x} is not initialized or was finalized; answered as a failure",
            R::NAME
        );
        return None;
    }
    Some(record)
}

/// As [`live`], but silent and without a name: for arguments that may be absent.
pub(crate) fn live_or_none<R: InPlace, N>(object: *const N) -> Option<R> {
    raw::<R, N>(object).filter(InPlace::is_valid)
}

/// The bytes in `object`, whatever they are; `None` for null.
pub(crate) fn raw<R: Pod, N>(object: *const N) -> Option<R> {
    // SAFETY: null or an object of the guest's type, as its call promises; the record is no larger (B101).
    unsafe { GuestPtr::<R>::new(address(object)).read() }
}

/// Stores a record into `object`; does nothing for null.
pub(crate) fn store<R: Pod, N>(object: *mut N, record: R) {
    // SAFETY: null or an object of the guest's type, as its call promises; the record is no larger (B101).
    unsafe { GuestPtr::<R>::new(address(object)).write(record) }
}

/// Stores an out-parameter; does nothing for null.
pub(crate) fn output<T: Pod>(place: *mut T, value: T) {
    // SAFETY: null or an out-parameter of the guest's call.
    unsafe { GuestPtr::<T>::new(address(place)).write(value) }
}

/// More elements than any call of NVN takes: a greater count is garbage.
pub(crate) const LONGEST_ARRAY: usize = 1 << 20;

/// Reads an array of the guest's call; `None` for a null array that is not empty, and for a count that is negative
/// or garbage.
pub(crate) fn array<T: Pod>(first: *const T, count: i32) -> Option<Vec<T>> {
    let count = usize::try_from(count).ok().filter(|count| *count <= LONGEST_ARRAY)?;
    if first.is_null() && count > 0 {
        return None;
    }
    let first = GuestPtr::<T>::new(address(first));
    // SAFETY: an array of `count` elements, as the guest's call promises.
    (0..count).map(|i| unsafe { first.add(i).read() }).collect()
}

/// Clears the magic of a finalized object, so that a later use is recognised.
pub(crate) fn clear_magic<N>(object: *mut N) {
    store::<u32, N>(object, 0);
}

/// What a getter answers: a part of the record, or zero (false, null) with a fault line when there is none (B423).
pub(crate) fn get<R: InPlace, N, T: Zeroable>(object: *const N, call: &'static str, part: impl FnOnce(&R) -> T) -> T {
    match live::<R, N>(object, call) {
        Some(record) => part(&record),
        None => T::zeroed(),
    }
}

/// What a setter does: changes the record. `change` answers whether the value fits; one that does not is named
/// and changes nothing.
pub(crate) fn set<R: InPlace, N>(object: *mut N, call: &'static str, change: impl FnOnce(&mut R) -> bool) {
    let Some(mut record) = raw::<R, N>(object) else {
        fault!(key = key(call), "", "{call}: null {}; nothing is set", R::NAME);
        return;
    };
    if !record.is_valid() {
        let at = address(object);
        let Some(repaired) = record.repaired() else {
            fault!(
                key = key(call),
                "",
                "{call}: {} at {at:#x} is not initialized or was finalized; nothing is set",
                R::NAME
            );
            return;
        };
        fault!(key = key(call), "", "{call}: {} at {at:#x} has not seen SetDefaults; defaults are taken", R::NAME);
        record = repaired;
    }
    if change(&mut record) {
        store(object, record);
    } else {
        fault!(key = key(call), "", "{call}: an argument is out of its range; the {} stays as it was", R::NAME);
    }
}

/// Declares getters and setters of one object, which all have the same shape:
///
/// `get NAME -> TYPE: |record| value;` answers a part of the record;
/// `mut get NAME(arg: TYPE, ...) -> TYPE: |record| value;` the same, where NVN's headers have no `const`;
/// `set NAME(arg: TYPE, ...): |record| fits;` changes it.
macro_rules! accessors {
    ($object:ident as $record:ident; $($rest:tt)*) => {
        $crate::entry::object::accessors! { @ $object $record; $($rest)* }
    };
    (@ $object:ident $record:ident;) => {};
    (@ $object:ident $record:ident; get $name:ident -> $ret:ty: |$r:ident| $value:expr; $($rest:tt)*) => {
        pub(crate) extern "C" fn $name(object: *const $object) -> $ret {
            $crate::entry::object::get(object, stringify!($name), |$r: &$record| $value)
        }
        $crate::entry::object::accessors! { @ $object $record; $($rest)* }
    };
    (@ $object:ident $record:ident; mut get $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty: |$r:ident| $value:expr; $($rest:tt)*) => {
        pub(crate) extern "C" fn $name(object: *mut $object, $($arg: $ty),*) -> $ret {
            $crate::entry::object::get(object.cast_const(), stringify!($name), |$r: &$record| $value)
        }
        $crate::entry::object::accessors! { @ $object $record; $($rest)* }
    };
    (@ $object:ident $record:ident; set $name:ident($($arg:ident: $ty:ty),*): |$r:ident| $fits:expr; $($rest:tt)*) => {
        pub(crate) extern "C" fn $name(object: *mut $object, $($arg: $ty),*) {
            $crate::entry::object::set(object, stringify!($name), |$r: &mut $record| $fits)
        }
        $crate::entry::object::accessors! { @ $object $record; $($rest)* }
    };
}
pub(crate) use accessors;

/// NVN's boolean.
pub(crate) fn boolean(value: bool) -> u8 {
    value.into()
}
