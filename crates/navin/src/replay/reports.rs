//! Counters and their reports.
//!
//! `nvnCommandBufferReportCounter` writes 16 bytes, `NVNcounterData`: the counter's value and the time in ticks of
//! the hardware's clock (`nvnDeviceGetTimestampInNanoseconds` turns them into nanoseconds). All of it is done on the
//! GPU, in the submission that reports (see `navin_vulkan::encoder`), so that a report is there before the fence
//! behind it, once, and in order with everything else that the submission writes (B301, B588).
//!
//! Counters belong to the queue, as they belong to the hardware's channel (B230): their sums are in its
//! [`QueueState`](super::state::QueueState) and go on over the pieces that a submission is cut into (B587). What a
//! guest neither resets nor reports is never counted: recording either says which counters are looked at
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

/// Counters that a report or a reset was ever recorded of: bit n is `NVNcounterType` n.
static LOOKED_AT: AtomicU32 = AtomicU32::new(0);

/// Recording calls this for each report and each reset: what is submitted from now on is counted.
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
/// whether they have landed (B586); and what else the GPU writes, over them perhaps (B585).
#[derive(Default)]
pub(crate) struct Reported {
    /// By address.
    places: FxHashMap<u64, Ticket>,
    /// Ranges of addresses that work on its way writes otherwise; [`Ticket::MAX`] in the piece being recorded.
    writes: Vec<(std::ops::Range<u64>, Ticket)>,
}

/// Most places remembered; a condition on a forgotten one is evaluated on the GPU.
const PLACES: usize = 1 << 16;
/// Most ranges of other writes remembered; more are taken for writes of everything.
const WRITES: usize = 256;

impl Reported {
    /// A report is written to `address` by the piece that is being recorded.
    fn note(&mut self, address: u64) {
        if self.places.len() >= PLACES && !self.places.contains_key(&address) {
            self.places.clear();
        }
        self.places.insert(address, Ticket::MAX);
    }

    /// The piece that is being recorded writes `size` bytes at `address` in another way.
    pub(super) fn note_write(&mut self, address: u64, size: u64, completed: impl FnOnce() -> Ticket) {
        if self.places.is_empty() {
            return;
        }
        let range = address..address.saturating_add(size);
        if self.writes.last().is_some_and(|(last, ticket)| *last == range && *ticket == Ticket::MAX) {
            return;
        }
        if self.writes.len() >= WRITES {
            let completed = completed();
            self.writes.retain(|(_, ticket)| *ticket > completed);
            if self.writes.len() >= WRITES {
                self.writes.clear();
                return self.writes.push((0..u64::MAX, Ticket::MAX));
            }
        }
        self.writes.push((range, Ticket::MAX));
    }

    /// The piece that the last reports and writes are in has this ticket.
    pub(super) fn submitted(&mut self, addresses: &mut Vec<u64>, ticket: Ticket) {
        for address in addresses.drain(..) {
            if let Some(of) = self.places.get_mut(&address).filter(|of| **of == Ticket::MAX) {
                *of = ticket;
            }
        }
        // The newest are at the end.
        let pending = self.writes.iter_mut().rev().map_while(|(_, of)| (*of == Ticket::MAX).then_some(of));
        pending.for_each(|of| *of = ticket);
    }

    /// Whether a report was written to one of the `places` at least, and all that the GPU writes into the `size` bytes at
    /// the first of them has ended by `completed`.
    pub(super) fn landed(&self, places: &[u64], size: u64, completed: Ticket) -> bool {
        let mut reports = places.iter().filter_map(|place| self.places.get(place)).peekable();
        let Some(&first) = places.first() else { return false };
        let end = first.saturating_add(size);
        let over = |(range, ticket): &(std::ops::Range<u64>, Ticket)| {
            *ticket > completed && range.start < end && first < range.end
        };
        reports.peek().is_some() && reports.all(|ticket| *ticket <= completed) && !self.writes.iter().any(over)
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
        self.driver.pools.gpu_writes(&mut self.addresses.borrow_mut(), (address, REPORT), self.submission);
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
        let at = |reported: &Reported, place: u64, completed| reported.landed(&[place, place + 16], 24, completed);
        assert!(!at(&reported, 0x100, 6), "not even submitted");
        reported.submitted(&mut vec![0x100], 7);
        assert!(!at(&reported, 0x100, 6) && at(&reported, 0x100, 7));
        reported.note(0x100);
        assert!(!at(&reported, 0x100, 8), "written anew");
        reported.submitted(&mut vec![0x100], 8);
        assert!(at(&reported, 0x100, 8) && at(&reported, 0xF0, 8), "the second value is a report too");
        assert!(!at(&reported, 0x200, 8), "no report is there");
    }

    #[test]
    fn b585_what_else_is_written_there_has_to_have_ended_as_well() {
        let mut reported = Reported::default();
        let landed = |reported: &Reported, completed| reported.landed(&[0x100, 0x110], 24, completed);
        reported.note_write(0x100, 8, || 0);
        reported.note(0x100);
        reported.submitted(&mut vec![0x100], 1);
        assert!(landed(&reported, 1), "nothing was there to be written over");
        for (address, size, over) in [(0x100, 4, true), (0x117, 1, true), (0xF0, 16, false), (0x118, 64, false)] {
            reported.note_write(address, size, || 1);
            assert_eq!(landed(&reported, 1), !over, "{size} bytes at {address:#x}");
            reported.submitted(&mut vec![], 2);
            assert_eq!(landed(&reported, 1), !over);
            assert!(landed(&reported, 2));
            reported.writes.clear();
        }
        for n in 0..2 * WRITES as u64 {
            reported.note_write(n * 8 + 0x1000, 8, || 1);
        }
        assert!(reported.writes.len() <= WRITES && !landed(&reported, 2), "too many to tell apart");
        reported.submitted(&mut vec![], 3);
        assert!(landed(&reported, 3));
    }

    #[test]
    fn places_are_bounded() {
        let mut reported = Reported::default();
        (0..2 * PLACES as u64 + 1).for_each(|n| reported.note(n * 16));
        assert!(reported.places.len() <= PLACES);
    }
}
