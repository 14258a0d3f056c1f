//! `nvnSync*`: a sync is host-side; the object holds its serial.

use navin_abi::fault;
use navin_abi::records::SyncRecord;
use navin_abi::types::*;

use super::object::{boolean, clear_magic, get, live, store};
use super::table::entries;
use crate::host;

pub(crate) extern "C" fn nvnSyncInitialize(sync: *mut NVNsync, _device: *mut NVNdevice) -> NVNboolean {
    if sync.is_null() {
        fault!("", "nvnSyncInitialize: null NVNsync; answered false");
        return NVN_FALSE;
    }
    let serial = host::syncs::create();
    if serial != 0 {
        store(sync, SyncRecord::new(serial));
    }
    boolean(serial != 0)
}

pub(crate) extern "C" fn nvnSyncFinalize(sync: *mut NVNsync) {
    if let Some(record) = live::<SyncRecord, _>(sync, "nvnSyncFinalize") {
        clear_magic(sync);
        host::syncs::destroy(record.serial);
    }
}

/// Waits up to `timeout_ns` nanoseconds, all ones for ever; a sync that no fence has reached since Initialize is
/// ALREADY_SIGNALED (B236).
pub(crate) extern "C" fn nvnSyncWait(sync: *const NVNsync, timeout_ns: u64) -> NVNsyncWaitResult {
    match live::<SyncRecord, _>(sync, "nvnSyncWait") {
        Some(record) => host::syncs::wait(record.serial, timeout_ns),
        None => NVNsyncWaitResult::FAILED,
    }
}

pub(crate) extern "C" fn nvnSyncSetDebugLabel(sync: *mut NVNsync, label: *const core::ffi::c_char) {
    let serial = get(sync, "nvnSyncSetDebugLabel", |s: &SyncRecord| s.serial);
    super::label::note("NVNsync", serial, label);
}

entries! {
    nvnSyncFinalize,
    nvnSyncInitialize,
    nvnSyncSetDebugLabel,
    nvnSyncWait,
}
