//! The questions: has this memory been written since that stamp? Answered from the words, without a lock, at a cost that
//! depends on the span's pages only.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use super::pages;
use super::tracker::Tracker;
use super::types::{RangeId, Span, Stamp, Writer};
use super::word::{self, CLOSING, OPEN, PROTECTED};

impl Tracker {
    /// Whether any page of the span may have been written since the stamp. Whole granules are asked about: a write
    /// beside the span in its first or last granule counts. An empty span is never written.
    #[inline]
    pub fn written_since(&self, span: Span, stamp: Stamp) -> bool {
        self.visit(span, stamp, |_, _| ControlFlow::Break(())).is_break()
    }

    /// As [`Self::written_since`], not counting what `except` announced by [`Self::host_write`]. What the guest wrote
    /// to a page between such an announcement and the next [`Self::protect`] of it cannot be told apart.
    pub fn written_since_except(&self, span: Span, stamp: Stamp, except: Writer) -> bool {
        self.visit(span, stamp, |granule, word| {
            let marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
            let own = marks.get(&granule).is_some_and(|mark| {
                mark.writer == except && mark.after == word::generation(word) && mark.before <= stamp.0
            });
            if own { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .is_break()
    }

    /// The parts of the span that may have been written since the stamp, appended in address order, cut at granules
    /// and at the span's ends.
    pub fn written_spans(&self, span: Span, stamp: Stamp, out: &mut Vec<Span>) {
        let shift = self.shared.pages.shift();
        if self.shared.pages.granules(span.start, span.len).is_none() {
            return out.push(span);
        }
        let mut open: Option<Span> = None;
        let _ = self.visit(span, stamp, |granule, _| {
            let start = (granule << shift).max(span.start);
            let end = ((granule + 1) << shift).min(span.end());
            match &mut open {
                Some(last) if last.end() == start => last.len = end - last.start,
                _ => out.extend(open.replace(Span::new(start, end - start))),
            }
            ControlFlow::<()>::Continue(())
        });
        out.extend(open);
    }

    /// Calls `written` for each granule of the span that may have been written, until it breaks; with the granule's word.
    #[inline]
    fn visit<B>(
        &self,
        span: Span,
        stamp: Stamp,
        mut written: impl FnMut(usize, u64) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let table = &self.shared.pages;
        let Some(granules) = table.granules(span.start, span.len) else {
            return written(usize::MAX >> table.shift(), 0);
        };
        for (index, piece) in pages::pieces(granules) {
            let base = index * pages::LEAF;
            let Some(leaf) = table.leaf(index) else {
                for granule in piece {
                    written(base + granule, 0)?;
                }
                continue;
            };
            let blocks = pages::blocks(&piece);
            if leaf.asked.load(Ordering::Relaxed) & blocks != blocks {
                leaf.asked.fetch_or(blocks, Ordering::Relaxed);
            }
            if leaf.cold.load(Ordering::Acquire) & blocks != 0 && !self.warm(base + piece.start..base + piece.end) {
                for granule in piece {
                    written(base + granule, 0)?;
                }
                continue;
            }
            let mut granule = base + piece.start;
            for words in leaf.words[piece].chunks(16) {
                if !all_clean(words, stamp.0) {
                    for (at, atomic) in words.iter().enumerate() {
                        let mut word = atomic.load(Ordering::Acquire);
                        if matches!(word::state(word), OPEN | CLOSING) {
                            word = self.settled(atomic);
                        }
                        if !word::is_clean(word, stamp.0) {
                            written(granule + at, word)?;
                        }
                    }
                }
                granule += words.len();
            }
        }
        ControlFlow::Continue(())
    }

    /// The word of a granule that a bracket holds open: as it is when the bracket has closed and knows. For the
    /// bracket's own thread, as if nothing was written meanwhile.
    #[cold]
    fn settled(&self, atomic: &AtomicU64) -> u64 {
        if self.is_opener() {
            return word::with_state(atomic.load(Ordering::Acquire), PROTECTED);
        }
        drop(self.lock());
        let word = atomic.load(Ordering::Acquire);
        // The next bracket may have it already; its bytes were compared when the last one closed.
        if matches!(word::state(word), OPEN | CLOSING) { word::with_state(word, PROTECTED) } else { word }
    }

    /// A handle on the registered range that holds the whole span (B407), to ask about parts of it later; it notices
    /// when the range is retired.
    pub fn handle(self: &Arc<Self>, span: Span) -> Option<RangeHandle> {
        let (id, info) = self.lock().ranges.holding(&self.table, span.start, span.end())?;
        Some(RangeHandle {
            tracker: self.clone(),
            id,
            whole: Span::new(info.start, info.end - info.start),
            born: info.born,
        })
    }

    /// Takes a stamp of the span, for bytes that the caller reads after this call.
    pub fn watch(self: &Arc<Self>, span: Span) -> Watch {
        let stamp = self.protect(span);
        Watch { tracker: self.clone(), span, stamp, clean_at: AtomicU64::new(0) }
    }
}

/// [`word::is_clean`] for all of them, without a branch for each.
#[inline]
fn all_clean(words: &[AtomicU64], stamp: u64) -> bool {
    // The largest word that is clean but for its state, which has the lowest bits.
    let newest = word::word(0, stamp + 1) - 1;
    let (mut state, mut later) = (0, 0);
    for atomic in words {
        let word = atomic.load(Ordering::Relaxed);
        state |= word ^ PROTECTED;
        // Neither has the top bit: the difference has it when the word is above.
        later |= newest.wrapping_sub(word);
    }
    // What the words tell was published before them.
    fence(Ordering::Acquire);
    word::state(state) | later >> 63 == 0
}

/// A registered range, kept by whoever asks often about parts of it.
#[derive(Clone)]
pub struct RangeHandle {
    tracker: Arc<Tracker>,
    id: RangeId,
    whole: Span,
    born: u64,
}

impl RangeHandle {
    /// The range's id.
    pub fn id(&self) -> RangeId {
        self.id
    }

    /// The range as it was registered.
    pub fn span(&self) -> Span {
        self.whole
    }

    /// Whether the range is registered still.
    pub fn is_live(&self) -> bool {
        self.tracker.table.get(self.id).is_some()
    }

    /// As [`Tracker::written_since`]. Always true once the range is retired, for stamps from before it was registered
    /// (B206), and for spans that do not lie in it whole.
    pub fn written_since(&self, span: Span, stamp: Stamp) -> bool {
        stamp.0 < self.born
            || span.start < self.whole.start
            || span.end() > self.whole.end()
            || !self.is_live()
            || self.tracker.written_since(span, stamp)
    }
}

/// A span and the stamp of what was last read from it: what a copy of guest memory keeps.
pub struct Watch {
    tracker: Arc<Tracker>,
    span: Span,
    stamp: Stamp,
    /// The clock at the last answer "not written"; before the first 0, so never later than the stamp (B412).
    clean_at: AtomicU64,
}

impl Watch {
    /// The span.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The stamp.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Whether the span may have been written since the stamp.
    #[inline]
    pub fn written(&self) -> bool {
        // Read before the question, so that what is written during it is asked about again.
        let clock = self.tracker.clock().0;
        if clock == self.clean_at.load(Ordering::Relaxed) {
            return false;
        }
        if self.tracker.written_since(self.span, self.stamp) {
            return true;
        }
        self.clean_at.store(clock, Ordering::Relaxed);
        false
    }

    /// As [`Tracker::written_since_except`].
    pub fn written_except(&self, except: Writer) -> bool {
        self.tracker.written_since_except(self.span, self.stamp, except)
    }

    /// The written parts, as [`Tracker::written_spans`].
    pub fn written_spans(&self, out: &mut Vec<Span>) {
        self.tracker.written_spans(self.span, self.stamp, out);
    }

    /// Takes a new stamp; the caller reads what was written after this call.
    pub fn restamp(&mut self) {
        self.stamp = self.tracker.protect(self.span);
        *self.clean_at.get_mut() = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The question about many words at once is the question about each.
        #[test]
        fn words_are_clean_together_when_each_is(
            parts in prop::collection::vec((prop::sample::select(vec![2u64, 2, 2, 2, 0, 1, 3, 4, 5]), any::<bool>(), 0u64..6), 1..17),
            stamp in 0u64..6,
            high in prop::sample::select(vec![0u64, 1 << 40, (1 << 58) - 8]),
        ) {
            let words: Vec<AtomicU64> = parts
                .iter()
                .map(|&(state, hard, generation)| {
                    AtomicU64::new(word::word(state, high + generation) | if hard { word::HARD } else { 0 })
                })
                .collect();
            let each = words.iter().all(|w| word::is_clean(w.load(Ordering::Relaxed), high + stamp));
            prop_assert_eq!(all_clean(&words, high + stamp), each);
        }
    }
}
