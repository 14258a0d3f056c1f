//! The flattened stream: a submission's records, in order, in memory of its own.
//!
//! Flatten makes one on the guest's thread at submit; the scheduler gets its sections; the
//! replay reads the records of a section on the submit thread. Nothing in it points into guest memory.

use crate::host::Limits;
use crate::record::immediate::FenceMode;
use crate::record::{Command, Header, Malformed, Record, RecordReader, decode, measure, op};
use std::ops::Range;

/// Records that own their bytes, cut into sections.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    words: Vec<u32>,
    sections: Vec<Section>,
}

/// A run of records that the scheduler treats as one: cut only where something must wait or be waited for, so
/// not at event signals (B229).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// The section's records, in words of the stream; may be empty. The record that makes the boundary is in no
    /// section.
    pub words: Range<usize>,
    /// What comes behind them; `None` for the last section.
    pub boundary: Option<Boundary>,
}

/// What ends a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Boundary {
    /// The sync is fenced (B232).
    Fence {
        /// Serial of the sync.
        sync: u64,
        /// Condition and flags.
        mode: FenceMode,
    },
    /// The queue waits for the sync.
    WaitSync {
        /// Serial of the sync.
        sync: u64,
    },
    /// The queue waits for the event's word.
    WaitEvent {
        /// GPU address of the event.
        event: u64,
        /// NVNeventWaitMode.
        mode: u8,
        /// The value to compare with.
        value: u32,
    },
}

impl Boundary {
    /// Whether a record of this header is one, without a look at the rest of it.
    #[inline]
    fn may_be(header: Header) -> bool {
        matches!(header.opcode(), op::FenceSync::OPCODE | op::WaitSync::OPCODE | op::WaitEvent::OPCODE)
    }

    fn of(record: &Record<'_>) -> Option<Self> {
        Some(match *record {
            Record::FenceSync(mode, sync) => Self::Fence { sync: sync.serial.get(), mode },
            Record::WaitSync(sync) => Self::WaitSync { sync: sync.serial.get() },
            Record::WaitEvent(mode, wait) => Self::WaitEvent { event: wait.event.get(), mode, value: wait.value },
            _ => return None,
        })
    }
}

/// Where words stop being records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cut {
    /// Words before that place.
    pub at: usize,
    /// The last record before it: its opcode and where it starts, in words.
    pub behind: Option<(u8, usize)>,
    /// Why there is none at it.
    pub malformed: Malformed,
}

/// Makes a stream: words are appended, and scanned once for whole records and for what cuts sections.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    words: Vec<u32>,
    sections: Vec<Section>,
    /// Where the open section begins.
    start: usize,
}

impl Builder {
    /// The words so far, all of whole records.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    /// Whether there is as much as a part may have.
    pub(crate) fn is_full(&self, limits: &Limits) -> bool {
        self.words.len() * 4 >= limits.part_bytes || self.sections.len() >= limits.sections
    }

    /// Appends `count` words, which `fill` writes to the address it gets and says whether it did. What is behind
    /// the first malformed record is dropped, and the error gives its place among these words.
    ///
    /// # Safety
    /// `fill` writes all words if it answers true.
    pub(crate) unsafe fn append(
        &mut self,
        count: usize,
        fill: impl FnOnce(*mut u32) -> bool,
    ) -> Option<Result<(), Cut>> {
        self.words.reserve(count);
        if !fill(self.words.spare_capacity_mut().as_mut_ptr().cast()) {
            return None;
        }
        let before = self.words.len();
        // SAFETY: there was room, and `fill` wrote the words; every bit pattern is one.
        unsafe { self.words.set_len(before + count) };
        Some(self.scan(before).map_err(|malformed| {
            let (mut at, mut behind) = (before, None);
            while let Ok(length) = measure(&self.words[at..]) {
                behind = Some((Header::from_word(self.words[at]).opcode(), at - before));
                at += length;
            }
            Cut { at: at - before, behind, malformed }
        }))
    }

    fn scan(&mut self, mut at: usize) -> Result<(), Malformed> {
        while at < self.words.len() {
            let length = match measure(&self.words[at..]) {
                Ok(length) => length,
                Err(malformed) => {
                    self.words.truncate(at);
                    return Err(malformed);
                }
            };
            if Boundary::may_be(Header::from_word(self.words[at]))
                && let Some(boundary) = decode(&self.words[at..]).ok().and_then(|(record, _)| Boundary::of(&record))
            {
                self.sections.push(Section { words: self.start..at, boundary: Some(boundary) });
                self.start = at + length;
            }
            at += length;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Stream {
        let end = self.words.len();
        if self.start < end || self.sections.is_empty() {
            self.sections.push(Section { words: self.start..end, boundary: None });
        }
        Stream { words: self.words, sections: self.sections }
    }
}

impl Stream {
    /// A stream of these records. What is behind the first malformed record is dropped; flatten leaves none.
    pub fn from_words(words: Vec<u32>) -> (Self, Option<Malformed>) {
        let mut builder = Builder { words, ..Builder::default() };
        let fault = builder.scan(0).err();
        (builder.finish(), fault)
    }

    /// Puts the records of another stream behind these: the last section of this one and the first of that one are one,
    /// if nothing separates them.
    pub(crate) fn append(&mut self, other: Stream) {
        let begin = self.words.len();
        self.words.extend(other.words);
        let mut sections = other
            .sections
            .into_iter()
            .map(|section| Section { words: section.words.start + begin..section.words.end + begin, ..section });
        if let Some(last) = self.sections.last_mut().filter(|last| last.boundary.is_none())
            && let Some(first) = sections.next()
        {
            *last = Section { words: last.words.start..first.words.end, ..first };
        }
        self.sections.extend(sections);
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The bytes as words.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// All records, those of the boundaries included.
    pub fn records(&self) -> RecordReader<'_> {
        RecordReader::new(&self.words)
    }

    /// The sections in order; at least one unless the stream is [`Default`].
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The records of a section. A range that is none of this stream gives no records.
    pub fn records_in(&self, words: Range<usize>) -> RecordReader<'_> {
        RecordReader::new(self.words.get(words).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(count: u32) -> [u32; 3] {
        [Header::new(op::DrawArrays::OPCODE, 4, 3).word(), 0, count]
    }

    #[test]
    fn b229_only_waits_and_fences_cut() {
        let mut words = draw(1).to_vec();
        words.extend([Header::new(op::SignalEvent::OPCODE, 0, 4).word(), 0x1000, 0, 7]);
        words.extend(draw(2));
        words.extend([Header::new(op::WaitEvent::OPCODE, 1, 4).word(), 0x1000, 0, 7]);
        words.extend([Header::new(op::FenceSync::OPCODE, 0, 3).word(), 9, 0]);
        words.extend(draw(3));
        let (stream, fault) = Stream::from_words(words);
        assert_eq!(fault, None);
        let sections = stream.sections();
        assert_eq!(sections.len(), 3);
        assert_eq!(sections[0].boundary, Some(Boundary::WaitEvent { event: 0x1000, mode: 1, value: 7 }));
        assert_eq!(stream.records_in(sections[0].words.clone()).count(), 3);
        assert_eq!(sections[1].boundary, Some(Boundary::Fence { sync: 9, mode: FenceMode::default() }));
        assert!(sections[1].words.is_empty());
        assert_eq!(sections[2].boundary, None);
        assert_eq!(stream.records_in(sections[2].words.clone()).count(), 1);
        assert_eq!(stream.records().count(), 6);
    }

    #[test]
    fn a_malformed_tail_is_dropped() {
        let mut words = draw(1).to_vec();
        words.extend([0xffff_ffff, 1, 2]);
        let (stream, fault) = Stream::from_words(words);
        assert!(fault.is_some());
        assert_eq!(stream.words().len(), 3);
        assert_eq!(stream.sections(), [Section { words: 0..3, boundary: None }]);
    }

    #[test]
    fn an_empty_stream_has_one_empty_section() {
        let (stream, fault) = Stream::from_words(Vec::new());
        assert!(stream.is_empty() && fault.is_none());
        assert_eq!(stream.sections(), [Section { words: 0..0, boundary: None }]);
    }
}
