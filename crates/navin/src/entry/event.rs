//! `nvnEventBuilder*` and `nvnEvent*`: a 32-bit word in a memory pool that the CPU and queues write and wait for.

use std::sync::atomic::{AtomicU32, Ordering};

use navin_abi::records::{EventBuilderRecord, EventRecord, MemoryPoolRecord};
use navin_abi::types::*;
use navin_abi::{GuestPtr, fault};

use super::object::{accessors, address, clear_magic, get, live, output, pointer, store};
use super::table::entries;
use crate::host;

pub(crate) extern "C" fn nvnEventBuilderSetDefaults(builder: *mut NVNeventBuilder) {
    store(builder, EventBuilderRecord::new());
}

accessors! {
    NVNeventBuilder as EventBuilderRecord;
    set nvnEventBuilderSetStorage(pool: *const NVNmemoryPool, offset: i64): |b| {
        (b.pool, b.offset) = (address(pool), offset);
        true
    };
}

pub(crate) extern "C" fn nvnEventBuilderGetStorage(
    builder: *const NVNeventBuilder,
    offset: *mut i64,
) -> *const NVNmemoryPool {
    let builder = live::<EventBuilderRecord, _>(builder, "nvnEventBuilderGetStorage");
    if let Some(b) = &builder {
        output(offset, b.offset);
    }
    builder.map_or(std::ptr::null(), |b| pointer::<NVNmemoryPool>(b.pool).cast_const())
}

pub(crate) extern "C" fn nvnEventInitialize(event: *mut NVNevent, builder: *const NVNeventBuilder) -> NVNboolean {
    const CALL: &str = "nvnEventInitialize";
    let Some(b) = live::<EventBuilderRecord, _>(builder, CALL) else { return NVN_FALSE };
    let Some(pool) = live::<MemoryPoolRecord, _>(pointer::<NVNmemoryPool>(b.pool).cast_const(), CALL) else {
        return NVN_FALSE;
    };
    let offset = u64::try_from(b.offset).ok().filter(|o| o % 4 == 0 && o.saturating_add(4) <= pool.size);
    let (Some(offset), false) = (offset, event.is_null()) else {
        fault!(
            key = b.offset,
            "",
            "{CALL}: no aligned word at offset {:#x} of the pool of {:#x} bytes, or null; answered false",
            b.offset,
            pool.size
        );
        return NVN_FALSE;
    };
    host::pools::keep_range(pool.id);
    // The word of an event in a virtual pool is wherever its page is mapped at the time.
    let word = if pool.storage == 0 { 0 } else { pool.storage + offset };
    let record = EventRecord::new(b.pool, pool.id, offset, pool.gpu_address.wrapping_add(offset), word);
    store(event, record);
    NVN_TRUE
}

pub(crate) extern "C" fn nvnEventFinalize(event: *mut NVNevent) {
    if live::<EventRecord, _>(event, "nvnEventFinalize").is_some() {
        clear_magic(event);
    }
}

/// Calls `f` with the event's word; 0 for a word in a virtual pool where nothing is mapped.
fn with_word(event: &EventRecord, f: impl Fn(&AtomicU32) -> u32) -> u32 {
    if event.word == 0 {
        return host::events::with_word(event.gpu_address, f).unwrap_or_else(|| {
            fault!(
                key = event.gpu_address,
                "B115",
                "an event at {:#x} in a virtual pool, where nothing is mapped: its value is 0 and stays so",
                event.gpu_address
            );
            0
        });
    }
    let word = GuestPtr::<AtomicU32>::new(event.word).host();
    // SAFETY: Initialize checked that the word lies, aligned, in its pool's storage, which the guest keeps as
    // long as it uses the event; other writers of it (the GPU, other threads) write whole words.
    f(unsafe { &*word })
}

pub(crate) extern "C" fn nvnEventGetValue(event: *const NVNevent) -> u32 {
    get(event, "nvnEventGetValue", |e: &EventRecord| with_word(e, |word| word.load(Ordering::Acquire)))
}

/// The CPU's signal: what the CPU wrote earlier is visible to whoever sees the new value.
pub(crate) extern "C" fn nvnEventSignal(event: *mut NVNevent, mode: NVNeventSignalMode, value: u32) {
    let Some(record) = live::<EventRecord, _>(event, "nvnEventSignal") else { return };
    with_word(&record, |word| match mode {
        NVNeventSignalMode::ADD => word.fetch_add(value, Ordering::AcqRel),
        NVNeventSignalMode::WRITE => word.swap(value, Ordering::AcqRel),
        other => {
            fault!(key = other.raw(), "", "nvnEventSignal: mode {other:?} is none of NVN's; the value is written");
            word.swap(value, Ordering::AcqRel)
        }
    });
    host::events::signalled(record.gpu_address);
}

entries! {
    nvnEventBuilderGetStorage,
    nvnEventBuilderSetDefaults,
    nvnEventBuilderSetStorage,
    nvnEventFinalize,
    nvnEventGetValue,
    nvnEventInitialize,
    nvnEventSignal,
}
