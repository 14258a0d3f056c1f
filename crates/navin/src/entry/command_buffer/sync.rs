//! Barriers, syncs, events, counters, transform feedback.

use navin_abi::records::{EventRecord, SyncRecord};
use navin_abi::types::*;
use navin_command::record::immediate::{FenceMode, SignalMode};
use navin_command::record::payload::{Buffer, BufferRange, EventValue, Object, ReportValue};
use navin_command::record::{U64, op};

use super::HOST;
use super::args::{buffer_range, commands, index};
use crate::entry::object::live;
use crate::replay::reports::counter_recorded;

/// NVNcounterType's values.
const COUNTERS: u8 = 17;

fn at(address: NVNbufferAddress) -> Buffer {
    Buffer { address: U64::new(address) }
}

fn zcull(address: NVNbufferAddress, size: usize) -> BufferRange {
    buffer_range(NVNbufferRange { address, size: size as u64 })
}

commands! {
    []

    fn nvnCommandBufferBarrier(bits: NVNbarrierBits) |buffer| {
        let bits = bits.raw() as u32;
        buffer.record_run::<op::Barrier>(&HOST, bits as u8, &(), usize::from(bits > 0xff), |_| bits);
    }

    /// The fence is established when the recording is submitted (B232).
    fn nvnCommandBufferFenceSync(
        sync: *mut NVNsync,
        condition: NVNsyncCondition,
        flags: NVNsyncFlagBits,
    ) |buffer| {
        let Some(sync) = live::<SyncRecord, _>(sync, CALL) else { return };
        let mode = FenceMode::new(condition.raw() as u8, flags.raw() as u8 & 0x7f);
        buffer.record::<op::FenceSync>(&HOST, mode, &Object { serial: U64::new(sync.serial) });
    }

    fn nvnCommandBufferWaitSync(sync: *const NVNsync) |buffer| {
        let Some(sync) = live::<SyncRecord, _>(sync, CALL) else { return };
        buffer.record::<op::WaitSync>(&HOST, (), &Object { serial: U64::new(sync.serial) });
    }

    fn nvnCommandBufferSignalEvent(
        event: *const NVNevent,
        mode: NVNeventSignalMode,
        location: NVNeventSignalLocation,
        flags: NVNeventSignalFlags,
        value: u32,
    ) |buffer| {
        let Some(event) = live::<EventRecord, _>(event, CALL) else { return };
        let (Some(mode), Some(location)) =
            (index(mode.raw(), 2, "signal mode", CALL), index(location.raw(), 3, "signal location", CALL))
        else {
            return;
        };
        let mode = SignalMode::new(mode, location, flags.raw() as u8 & 15);
        buffer.record::<op::SignalEvent>(&HOST, mode, &EventValue { event: U64::new(event.gpu_address), value });
    }

    fn nvnCommandBufferWaitEvent(event: *const NVNevent, mode: NVNeventWaitMode, value: u32) |buffer| {
        let Some(event) = live::<EventRecord, _>(event, CALL) else { return };
        let Some(mode) = index(mode.raw(), 2, "wait mode", CALL) else { return };
        buffer.record::<op::WaitEvent>(&HOST, mode, &EventValue { event: U64::new(event.gpu_address), value });
    }

    fn nvnCommandBufferReportCounter(counter: NVNcounterType, address: NVNbufferAddress) |buffer| {
        let Some(counter) = index(counter.raw(), COUNTERS, "counter", CALL) else { return };
        counter_recorded(counter);
        buffer.record::<op::ReportCounter>(&HOST, counter, &at(address));
    }

    fn nvnCommandBufferReportValue(value: u32, address: NVNbufferAddress) |buffer| {
        buffer.record::<op::ReportValue>(&HOST, (), &ReportValue { address: U64::new(address), value });
    }

    fn nvnCommandBufferResetCounter(counter: NVNcounterType) |buffer| {
        let Some(counter) = index(counter.raw(), COUNTERS, "counter", CALL) else { return };
        counter_recorded(counter);
        buffer.record::<op::ResetCounter>(&HOST, counter, &());
    }

    fn nvnCommandBufferBeginTransformFeedback(address: NVNbufferAddress) |buffer| {
        buffer.record::<op::BeginTransformFeedback>(&HOST, (), &at(address));
    }

    fn nvnCommandBufferEndTransformFeedback(address: NVNbufferAddress) |buffer| {
        buffer.record::<op::EndTransformFeedback>(&HOST, (), &at(address));
    }

    fn nvnCommandBufferPauseTransformFeedback(address: NVNbufferAddress) |buffer| {
        buffer.record::<op::PauseTransformFeedback>(&HOST, (), &at(address));
    }

    fn nvnCommandBufferResumeTransformFeedback(address: NVNbufferAddress) |buffer| {
        buffer.record::<op::ResumeTransformFeedback>(&HOST, (), &at(address));
    }

    fn nvnCommandBufferSaveZCullData(address: NVNbufferAddress, size: usize) |buffer| {
        buffer.record::<op::SaveZCullData>(&HOST, (), &zcull(address, size));
    }

    fn nvnCommandBufferRestoreZCullData(address: NVNbufferAddress, size: usize) |buffer| {
        buffer.record::<op::RestoreZCullData>(&HOST, (), &zcull(address, size));
    }
}
