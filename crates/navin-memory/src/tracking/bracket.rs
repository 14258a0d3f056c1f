//! The bracket around an import (B123, B408, B665): its pages are writable while the import is made, and what was
//! written meanwhile is found by comparing bytes.
//!
//! An import that the GPU writes through pins its pages for writing. That must not meet a read-only page (on some systems
//! the GPU's writes are lost for good), and must not count as a write of the guest's.

use std::ops::Range;
use std::sync::{MutexGuard, PoisonError};

use super::coverage::Watcher;
use super::hash::fingerprint;
use super::protocol::{self, Granules, Point};
use super::tracker::{Slots, Tracker, add};
use super::types::{Closed, Span};
use super::word;

/// A page that was protected: its granule, its word then, its bytes' fingerprint.
struct Hashed {
    granule: usize,
    word: u64,
    fingerprint: u64,
}

/// Memory that is open for an import. While this lives nobody else protects, registers or retires; close it soon, on
/// the same thread, with nothing else asked of the tracker but questions and host writes. Dropping it closes it too.
pub struct Opened<'a> {
    tracker: &'a Tracker,
    slots: Option<MutexGuard<'a, Slots>>,
    /// What the bracket covers and a fetch finds, in address order.
    fetched: Vec<Range<usize>>,
    pages: Vec<Hashed>,
}

impl Tracker {
    /// Makes the protected pages of the spans writable, without recording a write.
    pub fn open(&self, spans: &[Span]) -> Opened<'_> {
        let mut opened = Opened { tracker: self, slots: None, fetched: Vec::new(), pages: Vec::new() };
        if self.shared.is_off() {
            return opened;
        }
        let Some(mut slots) = self.lock_outside_bracket("opening memory for an import") else { return opened };
        *self.opener.lock().unwrap_or_else(PoisonError::into_inner) = Some(std::thread::current().id());
        let parts: Vec<_> = spans
            .iter()
            .flat_map(|&span| slots.coverage.parts(self.shared.granules(span)).collect::<Vec<_>>())
            .collect();
        opened.fetched = parts.iter().filter(|(_, w)| *w == Watcher::Fetch).map(|(part, _)| part.clone()).collect();
        // What was written before the bracket is known before anything is hashed ...
        for part in &opened.fetched {
            self.settle(&mut slots, part.clone());
        }
        // ... everything is hashed before anything is opened (B408) ...
        for (part, _) in &parts {
            for granule in part.clone() {
                opened.hash(granule);
            }
        }
        // ... and what was written while it was hashed is known too: its fingerprint may be of either content.
        for part in &opened.fetched {
            self.settle(&mut slots, part.clone());
        }
        opened.pages.retain(|page| protocol::open(&*self.shared, page.granule, page.word));
        let mut first = true;
        for run in runs(opened.pages.iter().filter(|page| word::is_hard(page.word)).map(|page| page.granule)) {
            if !self.shared.unprotect(run.clone(), true) {
                navin_abi::fault!("B123", "{} pages cannot be opened for an import", run.len());
            }
            if std::mem::take(&mut first) {
                self.shared.at(Point::OpenedFirst);
            }
        }
        if first {
            self.shared.at(Point::OpenedFirst);
        }
        add(&self.shared.counters.opened, opened.pages.len());
        opened.slots = Some(slots);
        opened
    }
}

impl Opened<'_> {
    /// Keeps the granule's fingerprint, if it is protected. Waits for a thread that is half-way through releasing it.
    fn hash(&mut self, granule: usize) {
        let shared = &*self.tracker.shared;
        let Some(atomic) = shared.word(granule) else { return };
        let word = loop {
            let word = protocol::Atomic64::load(atomic);
            if word::state(word) != word::BUSY {
                break word;
            }
            shared.at(Point::MetBusy);
            shared.wait();
        };
        if word::state(word) == word::PROTECTED {
            let bytes = shared.pages.bytes(granule..granule + 1);
            // SAFETY: tracked and protected, so mapped and readable.
            let fingerprint = unsafe { fingerprint(bytes.start, bytes.len()) };
            self.pages.push(Hashed { granule, word, fingerprint });
        }
    }

    /// Protects the pages again. Those whose bytes changed are recorded as written; those that were written by a way
    /// that the tracker noticed were recorded then, and stay writable.
    pub fn close(mut self) -> Closed {
        self.finish()
    }

    fn finish(&mut self) -> Closed {
        let mut closed = Closed::default();
        let Some(mut slots) = self.slots.take() else { return closed };
        let shared = &*self.tracker.shared;
        closed.opened = self.pages.len();
        {
            #[cfg(target_os = "linux")]
            let _signals = super::mechanism::SignalGuard::new();
            for run in runs(self.pages.iter().filter(|page| word::is_hard(page.word)).map(|page| page.granule)) {
                if !protocol::close_protect(shared, run) {
                    navin_abi::fault!(
                        "B123",
                        "pages opened for an import cannot be protected again: they count as written"
                    );
                }
            }
        }
        for part in &self.fetched {
            self.tracker.settle(&mut slots, part.clone());
        }
        shared.at(Point::CloseProtected);
        let mut changed = Vec::new();
        for page in &self.pages {
            let bytes = shared.pages.bytes(page.granule..page.granule + 1);
            // SAFETY: opened by this bracket, which nobody can retire under the slot lock; mapped and readable.
            if unsafe { fingerprint(bytes.start, bytes.len()) } != page.fingerprint {
                changed.push(page.granule);
            } else if !protocol::close_unchanged(shared, page.granule) {
                closed.written += 1;
            }
        }
        closed.changed = protocol::close_changed(shared, &changed);
        closed.written += changed.len() - closed.changed;
        add(&shared.counters.opened_changed, closed.changed);
        *self.tracker.opener.lock().unwrap_or_else(PoisonError::into_inner) = None;
        closed
    }
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Joins granules, in address order, to runs.
fn runs(granules: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for granule in granules {
        match runs.last_mut() {
            Some(last) if last.end == granule => last.end += 1,
            _ => runs.push(granule..granule + 1),
        }
    }
    runs
}
