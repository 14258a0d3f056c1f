//! What the CPU has written into pools since a moment: the driver's one tracker, and each pool's storage in it.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use navin_memory::tracking::{
    Mechanism, MechanismChoice, RangeId, Selection, Span, Stamp, Tracker, TrackingCounters, TrackingOptions, Writer,
};

use crate::config::Config;

/// The tracker; none where nothing tracks.
pub(crate) struct Tracking(Option<Arc<Tracker>>, Selection);

impl Tracking {
    /// The tracker that the configuration asks for. Where there is none, said once, storage is fetched again only when
    /// the guest says that it wrote it.
    pub(crate) fn new(config: &Config) -> Self {
        const WITHOUT: &str = "textures are fetched again only when the guest flushes their memory";
        match Tracker::new(TrackingOptions { mechanism: config.tracking, ..TrackingOptions::default() }) {
            Ok(tracker) => {
                let selection = tracker.mechanism().clone();
                let on = selection.mechanism != Mechanism::Off;
                if !on && config.tracking != MechanismChoice::Off {
                    tracing::warn!("no write tracking ({}): {WITHOUT}", selection.reason);
                }
                Self(on.then_some(tracker), selection)
            }
            Err(e) => {
                navin_abi::fault!("B411", "{e}: {WITHOUT}");
                Self(None, Selection { mechanism: Mechanism::Off, reason: e.to_string() })
            }
        }
    }

    /// What tracks, and why.
    pub(crate) fn selection(&self) -> &Selection {
        &self.1
    }

    /// Whether anything is tracked.
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// As long as this stays the same nothing new is known to be written.
    pub(super) fn clock(&self) -> Stamp {
        self.0.as_ref().map_or_else(OwnClock::now, |tracker| tracker.clock())
    }

    /// Bytes of the pages that are tracked.
    pub(super) fn granule(&self) -> u64 {
        self.0.as_ref().map_or(navin_memory::SMALL_PAGE, |tracker| tracker.granule() as u64)
    }

    /// Notices what the CPU wrote up to here; once a submission, before it is replayed.
    pub(crate) fn fetch(&self) {
        if let Some(tracker) = &self.0 {
            tracker.fetch();
        }
    }

    /// Counters, for the status lines.
    pub(crate) fn counters(&self) -> TrackingCounters {
        self.0.as_ref().map_or_else(TrackingCounters::default, |tracker| tracker.counters())
    }

    /// Pages that are protected in a range may be written from here on, and count as written.
    pub(super) fn release(&self, start: *mut u8, len: u64) {
        if let Some(tracker) = &self.0 {
            tracker.host_write(Span::new(start as usize, len as usize), Writer::NOBODY);
        }
    }

    /// Has a pool's storage tracked, if the CPU may write it.
    pub(super) fn track(&self, start: *mut u8, len: u64, cpu_writes: bool) -> Tracked {
        let (start, len) = (start as usize, len as usize);
        let mut tracked = Tracked {
            tracker: self.0.clone(),
            range: None,
            refused: AtomicBool::new(false),
            own: OnceLock::new(),
            start,
            len,
        };
        if let Some(tracker) = self.0.as_ref().filter(|_| cpu_writes) {
            match tracker.register(start, len) {
                Ok(id) => tracked.range = Some(id),
                Err(e) => {
                    *tracked.refused.get_mut() = true;
                    navin_abi::fault!("B205", "{e}: its textures are fetched again at each use");
                }
            }
        }
        tracked
    }
}

/// Unit in which writes are kept that the tracker does not notice: what block-linear textures begin at.
const OWN_UNIT: u64 = 512;

/// A pool's storage under the tracker's eyes.
pub(crate) struct Tracked {
    tracker: Option<Arc<Tracker>>,
    /// None for storage whose CPU writes are not noticed.
    range: Option<RangeId>,
    /// The CPU may write the storage, and the tracker did not take it, or lets go of it: it counts as written, always
    /// (B205).
    refused: AtomicBool,
    /// Of storage that the tracker has not: when Navin or the GPU wrote each [`OWN_UNIT`] last. Made with the first
    /// such write; untouched parts cost address space only.
    own: OnceLock<Box<[AtomicU64]>>,
    start: usize,
    len: usize,
}

impl Tracked {
    /// Whether CPU writes are noticed.
    pub(crate) fn is_tracked(&self) -> bool {
        self.tracker().is_some()
    }

    /// Whether the bytes count as written, always.
    pub(crate) fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Acquire)
    }

    fn tracker(&self) -> Option<&Tracker> {
        self.tracker.as_deref().filter(|_| self.range.is_some() && !self.is_refused())
    }

    /// The pool is gone for the guest, which has its memory back; pages that virtual pools still show count as written,
    /// always, and none is protected any more (B206).
    pub(super) fn let_go(&self) {
        if let (Some(tracker), Some(id)) = (&self.tracker, self.range)
            && !self.refused.swap(true, Ordering::AcqRel)
        {
            tracker.retire_range(id);
        }
    }

    fn span(&self, offset: u64, len: u64) -> Span {
        let offset = (offset as usize).min(self.len);
        Span::new(self.start + offset, (len as usize).min(self.len - offset))
    }

    /// From here on writes into these bytes are noticed, as writes since the stamp; to be called before the bytes are
    /// read (B412).
    pub(super) fn protect(&self, offset: u64, len: u64) -> Stamp {
        match (self.tracker(), &self.tracker) {
            (Some(tracker), _) => tracker.protect(self.span(offset, len)),
            (None, Some(tracker)) => tracker.clock(),
            (None, None) => OwnClock::now(),
        }
    }

    /// Whether any of these bytes' pages may have been written since. Of storage that nothing is to track, where the
    /// guest's word counts, only what Navin and the GPU wrote.
    pub(super) fn written_since(&self, offset: u64, len: u64, stamp: Stamp) -> bool {
        self.is_refused()
            || match self.tracker() {
                Some(tracker) => tracker.written_since(self.span(offset, len), stamp),
                None => self.own_since(offset, len, stamp),
            }
    }

    /// The words of [`OWN_UNIT`]s over a range.
    fn own_words<'a>(&self, words: &'a [AtomicU64], offset: u64, len: u64) -> &'a [AtomicU64] {
        let end = offset.saturating_add(len).min(self.len as u64).div_ceil(OWN_UNIT) as usize;
        words.get((offset / OWN_UNIT) as usize..end).unwrap_or_default()
    }

    fn own_since(&self, offset: u64, len: u64, stamp: Stamp) -> bool {
        self.own.get().is_some_and(|words| {
            self.own_words(words, offset, len).iter().any(|word| word.load(Ordering::Acquire) > stamp.number())
        })
    }

    /// The parts of these bytes that may have been written since, as offsets in the storage, in whole tracked pages but
    /// for the storage's ends; all of them for storage that is not tracked.
    pub(super) fn written_parts(&self, stamp: Stamp) -> Vec<Range<u64>> {
        let Some(tracker) = self.tracker() else { return std::iter::once(0..self.len as u64).collect() };
        let mut spans = Vec::new();
        tracker.written_spans(self.span(0, self.len as u64), stamp, &mut spans);
        let offset = |span: &Span| (span.start - self.start) as u64..(span.end() - self.start) as u64;
        spans.iter().map(offset).collect()
    }

    /// Notices what was written into these bytes up to now, for whoever asks in between submissions.
    pub(super) fn fetch(&self, offset: u64, len: u64) {
        if let Some(tracker) = self.tracker() {
            tracker.fetch_span(self.span(offset, len));
        }
    }

    /// The tracker's clock now.
    pub(super) fn clock(&self) -> Stamp {
        self.tracker().map_or(Stamp::NEVER, Tracker::clock)
    }

    /// Navin itself is about to write these bytes for the guest, by whatever mapping, or the GPU has written them.
    pub(super) fn host_writes(&self, offset: u64, len: u64) {
        if let Some(tracker) = self.tracker() {
            return tracker.host_write(self.span(offset, len), Writer::NOBODY);
        }
        let now = self.tracker.as_ref().map_or_else(OwnClock::advance, |tracker| tracker.note()).number();
        let words = self.own.get_or_init(|| zeroed(self.len.div_ceil(OWN_UNIT as usize)));
        self.own_words(words, offset, len).iter().for_each(|word| word.store(now, Ordering::Release));
    }

    /// Host address of the first byte.
    pub(super) fn start(&self) -> u64 {
        self.start as u64
    }

    /// Runs `import` over these bytes with their pages open for writing: what the GPU writes through an import that was
    /// made over protected pages can be lost (B123). Pages at the ends may be a tracked neighbour's, so this holds for
    /// storage that is not tracked too.
    pub(super) fn opened<R>(&self, offset: u64, len: u64, import: impl FnOnce() -> R) -> R {
        let opened = self.tracker.as_ref().map(|tracker| tracker.open(&[self.span(offset, len)]));
        let imported = import();
        if let Some(opened) = opened {
            opened.close();
        }
        imported
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// The clock where there is no tracker.
struct OwnClock;

static OWN_CLOCK: AtomicU64 = AtomicU64::new(1);

impl OwnClock {
    fn now() -> Stamp {
        Stamp::of(OWN_CLOCK.load(Ordering::Acquire))
    }

    fn advance() -> Stamp {
        Stamp::of(OWN_CLOCK.fetch_add(1, Ordering::AcqRel) + 1)
    }
}

/// So many zeroes, from fresh pages of the system's where they are many.
fn zeroed(count: usize) -> Box<[AtomicU64]> {
    // A vector of plain zeroes is allocated zeroed; an iterator's would be written.
    let words = vec![0u64; count].into_boxed_slice();
    let length = words.len();
    let first = Box::into_raw(words).cast::<AtomicU64>();
    // SAFETY: `AtomicU64` has the size, the alignment and the bit validity of `u64`, and the allocation is ours alone.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(first, length)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b205_storage_that_the_tracker_refuses_counts_as_written_always() {
        let tracking = Tracking::new(&Config::default());
        if !tracking.is_on() {
            return eprintln!("SKIPPED: nothing tracks here");
        }
        // Past all addresses of programs: nothing there is touched.
        let refused = tracking.track((1usize << 60) as *mut u8, 1 << 16, true);
        assert!(refused.is_refused() && !refused.is_tracked());
        let stamp = refused.protect(0, 4096);
        assert!(refused.written_since(0, 4096, stamp));
        assert!(refused.written_since(0, 4096, refused.clock()));
        // The CPU does not write there: nothing to notice, and nothing refused.
        let unseen = tracking.track((1usize << 60) as *mut u8, 1 << 16, false);
        assert!(!unseen.is_refused() && !unseen.written_since(0, 4096, Stamp::NEVER));
    }
}
