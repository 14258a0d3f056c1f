//! Counters and their reports.
//!
//! `nvnCommandBufferReportCounter` writes 16 bytes, `NVNcounterData`: the counter's value and the time in ticks of
//! the hardware's clock (`nvnDeviceGetTimestampInNanoseconds` turns them into nanoseconds). All of it is done on the
//! GPU, in the submission that reports (see `navin_vulkan::encoder`), so that a report is there before the fence
//! behind it, once, and in order with everything else that the submission writes (B301, B588).
//!
//! Counters belong to the queue, as they belong to the hardware's channel (B230): their sums are in its
//! [`QueueState`](super::state::QueueState) and go on over the pieces that a submission is cut into (B587). What a
//! guest never reports is never counted: recording a report says which counters are looked at
//! ([`counter_recorded`]), before any submission that holds it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use navin_abi::enums::NVNcounterType;
use navin_abi::fault;
use navin_command::record::payload::Buffer;
use navin_sync::Ticket;
use navin_vulkan::{Counter, CounterMemory, Counting};
use rustc_hash::FxHashMap;

use super::Piece;
use super::state::Range;

/// Bytes of `NVNcounterData`, and its alignment (device item 0xA).
const REPORT: u64 = 16;

/// Counters that a report was ever recorded of: bit n is `NVNcounterType` n.
static LOOKED_AT: AtomicU32 = AtomicU32::new(0);

/// Recording calls this for each report: what is submitted from now on is counted.
#[inline]
pub(crate) fn counter_recorded(counter: u8) {
    let bit = 1u32.checked_shl(counter.into()).unwrap_or(0);
    if LOOKED_AT.load(Ordering::Relaxed) & bit == 0 {
        LOOKED_AT.fetch_or(bit, Ordering::Release);
    }
}

/// What NVN's counter is here.
fn counter_of(counter: NVNcounterType) -> Option<Counter> {
    Some(match counter {
        NVNcounterType::SAMPLES_PASSED => Counter::SamplesPassed,
        NVNcounterType::INPUT_VERTICES => Counter::InputVertices,
        NVNcounterType::INPUT_PRIMITIVES => Counter::InputPrimitives,
        NVNcounterType::VERTEX_SHADER_INVOCATIONS => Counter::VertexRuns,
        NVNcounterType::TESS_CONTROL_SHADER_INVOCATIONS => Counter::ControlRuns,
        NVNcounterType::TESS_EVALUATION_SHADER_INVOCATIONS => Counter::EvaluationRuns,
        NVNcounterType::GEOMETRY_SHADER_INVOCATIONS => Counter::GeometryRuns,
        NVNcounterType::FRAGMENT_SHADER_INVOCATIONS => Counter::FragmentRuns,
        NVNcounterType::TESS_EVALUATION_SHADER_PRIMITIVES => Counter::EvaluationPrimitives,
        NVNcounterType::GEOMETRY_SHADER_PRIMITIVES => Counter::GeometryPrimitives,
        NVNcounterType::CLIPPER_INPUT_PRIMITIVES => Counter::ClipperInput,
        NVNcounterType::CLIPPER_OUTPUT_PRIMITIVES => Counter::ClipperOutput,
        NVNcounterType::PRIMITIVES_GENERATED => Counter::PrimitivesGenerated,
        _ => return None,
    })
}

/// What has to be counted for the counters of a mask.
fn counting_of(looked_at: u32) -> Counting {
    (0..32)
        .filter(|n| looked_at >> n & 1 != 0)
        .filter_map(|n| counter_of(NVNcounterType(n)))
        .fold(Counting::empty(), |all, counter| all | counter.counting())
}

/// Where reports of counters were written, and when: what tells that a render condition is about counters, and
/// whether they have landed (B586).
#[derive(Default)]
pub(crate) struct Reported(FxHashMap<u64, Ticket>);

/// Most places remembered; a condition on a forgotten one is evaluated on the GPU.
const PLACES: usize = 1 << 16;

impl Reported {
    /// A report is written to `address` by the piece that is being recorded.
    fn note(&mut self, address: u64) {
        if self.0.len() >= PLACES && !self.0.contains_key(&address) {
            self.0.clear();
        }
        self.0.insert(address, Ticket::MAX);
    }

    /// The piece that the last reports are in has this ticket.
    pub(super) fn submitted(&mut self, addresses: &mut Vec<u64>, ticket: Ticket) {
        for address in addresses.drain(..) {
            if let Some(of) = self.0.get_mut(&address).filter(|of| **of == Ticket::MAX) {
                *of = ticket;
            }
        }
    }

    /// The submission that wrote a report there last.
    pub(super) fn at(&self, address: u64) -> Option<Ticket> {
        self.0.get(&address).copied()
    }
}

impl Piece<'_> {
    /// Counts what is looked at, from the piece's begin on.
    pub(super) fn begin_counting(&mut self) {
        let which = counting_of(LOOKED_AT.load(Ordering::Acquire));
        if !which.is_empty()
            && let Some(memory) = self.counter_memory()
        {
            self.encoder.count(which, &memory);
        }
    }

    /// The queue's counters, made at their first use.
    pub(super) fn counter_memory(&mut self) -> Option<Arc<CounterMemory>> {
        if self.state.counters.is_none() {
            match CounterMemory::new(&self.driver.context) {
                Ok(memory) => self.state.counters = Some(memory),
                Err(e) => {
                    fault!("", "no memory for a queue's counters ({e}): they stay 0, and render conditions true");
                }
            }
        }
        self.state.counters.clone()
    }

    pub(super) fn reset_counter(&mut self, counter: u8) {
        // The time cannot be reset.
        if let Some(counter) = counter_of(NVNcounterType(counter.into())) {
            self.encoder.reset_counter(counter);
        }
    }

    pub(super) fn report_counter(&mut self, counter: u8, to: &Buffer) {
        let address = to.address.get();
        if !address.is_multiple_of(REPORT) {
            fault!(
                key = address,
                "B301",
                "counter {counter} reported to {address:#x}, no multiple of {REPORT}: not written"
            );
            return;
        }
        let Some(range) = self.resolve_whole(Range { address, size: REPORT }, "the report of a counter") else {
            return;
        };
        self.writes(Range { address, size: REPORT });
        let place = self.encoder.device_address(range);
        let kind = NVNcounterType(counter.into());
        match kind {
            NVNcounterType::TIMESTAMP => self.encoder.report_counter(None, false, place),
            NVNcounterType::TIMESTAMP_TOP => self.encoder.report_counter(None, true, place),
            // Four words: what the coarse depth test culled. There is none here, so nothing was.
            NVNcounterType::ZCULL_STATS => self.encoder.report_zeros(place),
            // Nothing is captured (`unsupported` says why), so nothing is written.
            NVNcounterType::TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN => self.encoder.report_counter(None, false, place),
            _ => match counter_of(kind) {
                Some(counter) => {
                    if counter.counting() == Counting::STATISTICS && !self.driver.context.features().pipeline_statistics
                    {
                        fault!(key = kind.raw(), "", "{kind:?}: the device counts no such thing; reported as 0");
                    }
                    self.encoder.report_counter(Some(counter), false, place);
                }
                None => {
                    fault!(key = counter, "", "counter {counter} is not one of NVN's: nothing is reported");
                    return;
                }
            },
        }
        self.reported.note(address);
        self.reports.push(address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_counters_over_draws_are_counted() {
        assert_eq!(counting_of(1 << 0 | 1 << 15 | 1 << 16), Counting::empty(), "timestamps and coarse culling");
        assert_eq!(counting_of(1 << 1), Counting::SAMPLES);
        assert_eq!(counting_of(1 << 2 | 1 << 1), Counting::SAMPLES | Counting::STATISTICS);
        assert!((2..14).all(|n| counting_of(1 << n) == Counting::STATISTICS));
    }

    #[test]
    fn b586_a_report_has_landed_when_its_own_submission_has() {
        let mut reported = Reported::default();
        reported.note(0x100);
        assert_eq!(reported.at(0x100), Some(Ticket::MAX), "not even submitted");
        reported.submitted(&mut vec![0x100], 7);
        assert_eq!(reported.at(0x100), Some(7));
        reported.note(0x100);
        assert_eq!(reported.at(0x100), Some(Ticket::MAX), "written anew");
        assert_eq!(reported.at(0x200), None);
    }

    #[test]
    fn places_are_bounded() {
        let mut reported = Reported::default();
        (0..2 * PLACES as u64 + 1).for_each(|n| reported.note(n * 16));
        assert!(reported.0.len() <= PLACES);
    }
}
