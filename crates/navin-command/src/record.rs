//! Records: what a guest's commands look like in command memory.
//!
//! The entry points write records through [`CommandBuffer`](crate::CommandBuffer); flatten copies whole ones into a
//! [`Stream`](crate::Stream); replay reads them as [`Record`].
//!
//! A record is a header word, a fixed part, and a run of equal elements, each of them optional:
//!
//! ```text
//!   bits 0-7    opcode, never 0
//!   bits 8-15   immediate: a mode, a stage and slot, flags ([`immediate`])
//!   bits 16-31  length in 4-byte words, header included
//! ```
//!
//! Everything is 4-byte words, because command memory has alignment 4 (device info item 0x13) and a list must
//! measure the same wherever it is recorded (B223); 64-bit values are [`U64`]. Objects are named by serial.
//! The immediate keeps records as tight as the hardware's own commands, which budgets of guests are made for
//! (B220, B224). [`ROWS`] (`table`) is the only place that knows opcodes, shapes and bounds.

pub mod immediate;
pub mod limits;
pub mod payload;
mod table;

use bytemuck::{AnyBitPattern, NoUninit, Pod, Zeroable};
use immediate::Immediate;

pub use table::{Patchable, ROWS, Record, Row, SHAPES, decode, name, op};

/// A 64-bit value on a 4-byte boundary.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Pod, Zeroable)]
pub struct U64([u32; 2]);

impl U64 {
    /// `value`, split into words, the low one first.
    #[inline]
    pub const fn new(value: u64) -> Self {
        Self([value as u32, (value >> 32) as u32])
    }

    /// The value.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0[0] as u64 | (self.0[1] as u64) << 32
    }
}

impl From<u64> for U64 {
    #[inline]
    fn from(value: u64) -> Self {
        Self::new(value)
    }
}

impl std::fmt::Debug for U64 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.get())
    }
}

/// The first word of a record.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
pub struct Header(u32);

impl Header {
    /// A header of a record of `words` words in all.
    #[inline]
    pub const fn new(opcode: u8, immediate: u8, words: u16) -> Self {
        Self(opcode as u32 | (immediate as u32) << 8 | (words as u32) << 16)
    }

    /// The header that `word` is.
    #[inline]
    pub const fn from_word(word: u32) -> Self {
        Self(word)
    }

    /// The word as it stands in memory.
    #[inline]
    pub const fn word(self) -> u32 {
        self.0
    }

    /// Which command; 0 is none.
    #[inline]
    pub const fn opcode(self) -> u8 {
        self.0 as u8
    }

    /// The immediate's 8 bits.
    #[inline]
    pub const fn immediate(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// Length of the whole record in 4-byte words.
    #[inline]
    pub const fn words(self) -> usize {
        (self.0 >> 16) as usize
    }

    /// Whether the length is one that this opcode's records can have (B225: anything else is no record).
    #[inline]
    pub fn is_valid(self) -> bool {
        SHAPES[self.opcode() as usize].fits(self.words())
    }
}

/// A command with its record's shape, known at compile time; implemented by the types of [`op`].
pub trait Command {
    /// Opcode in the header.
    const OPCODE: u8;
    /// Name for logs: NVN's, without `nvnCommandBuffer`.
    const NAME: &'static str;
    /// What the header's immediate holds.
    type Immediate: Immediate;
    /// The fixed part.
    type Head: Pod;
    /// One element of the run after it.
    type Tail: Pod;
    /// Words of a record without its run.
    const HEAD_WORDS: usize = 1 + size_of::<Self::Head>() / 4;
    /// Fewest elements of the run.
    const MIN_TAIL: usize;
    /// Most elements of the run.
    const MAX_TAIL: usize;
}

/// What lengths an opcode's records may have; 8 bytes or less, as reading looks one up for each record.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Words of header and fixed part; 0 for opcodes that are none.
    pub head_words: u8,
    /// Words of an element of the run; 0 where there is no run.
    pub tail_words: u8,
    /// Words of the shortest record.
    pub min_words: u16,
    /// Words of the longest one; 0 for opcodes that are none.
    pub max_words: u16,
}

impl Shape {
    const NONE: Self = Self { head_words: 0, tail_words: 0, min_words: 0, max_words: 0 };

    /// Whether a record of this opcode may be `words` long.
    #[inline]
    pub fn fits(&self, words: usize) -> bool {
        if words < self.min_words as usize || words > self.max_words as usize || words == 0 {
            return false;
        }
        let run = words - self.head_words as usize;
        // Constant divisors for the sizes that there are: this is run for every record, more than once.
        match self.tail_words {
            // Without a run both ends are the same.
            0 | 1 => true,
            2 => run.is_multiple_of(2),
            3 => run.is_multiple_of(3),
            4 => run.is_multiple_of(4),
            tail => run.is_multiple_of(tail.into()),
        }
    }
}

/// Why bytes are not a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Malformed {
    /// Fewer than 4 bytes are left.
    #[error("{0} bytes are left, less than a header")]
    Truncated(usize),
    /// The header's opcode names no command.
    #[error("no command's record starts with {0:#010x}")]
    Opcode(u32),
    /// The header's length is none that its command has.
    #[error("{}", describe(*.0, "which no such record is"))]
    Length(u32),
    /// The record is longer than what is left of its piece.
    #[error("{}, of which {left} are there", describe(*.header, "header included"))]
    Overrun {
        /// The header's word.
        header: u32,
        /// Words left, header included.
        left: usize,
    },
}

fn describe(header: u32, remark: &str) -> String {
    let header = Header::from_word(header);
    format!("{} (opcode {:#04x}) of {} words, {remark}", name(header.opcode()), header.opcode(), header.words())
}

/// Length in words of the whole record at the start of `words`, or why there is none. The one place that says
/// what a record is: flatten, copies of recordings and replay go through it (B225).
#[inline]
pub fn measure(words: &[u32]) -> Result<usize, Malformed> {
    let Some(&word) = words.first() else { return Err(Malformed::Truncated(0)) };
    let header = Header::from_word(word);
    let length = header.words();
    if !header.is_valid() {
        return Err(match SHAPES[header.opcode() as usize].head_words {
            0 => Malformed::Opcode(word),
            _ => Malformed::Length(word),
        });
    }
    if length > words.len() {
        return Err(Malformed::Overrun { header: word, left: words.len() });
    }
    Ok(length)
}

#[inline]
fn take_head<'a, T: AnyBitPattern + NoUninit>(rest: &mut &'a [u32]) -> Option<&'a T> {
    let (head, tail) = rest.split_at_checked(size_of::<T>() / 4)?;
    *rest = tail;
    bytemuck::try_from_bytes(bytemuck::cast_slice(head)).ok()
}

#[inline]
fn take_tail<'a, T: AnyBitPattern + NoUninit>(rest: &mut &'a [u32]) -> Option<&'a [T]> {
    bytemuck::try_cast_slice(std::mem::take(rest)).ok()
}

/// Iterates over records, and stops at the first that is none.
#[derive(Clone, Debug)]
pub struct RecordReader<'a> {
    rest: &'a [u32],
    position: usize,
    fault: Option<Malformed>,
}

impl<'a> RecordReader<'a> {
    /// Reads `words` from the start.
    pub fn new(words: &'a [u32]) -> Self {
        Self { rest: words, position: 0, fault: None }
    }

    /// Where the next record starts, in words.
    pub fn position(&self) -> usize {
        self.position
    }

    /// What ended the reading before the end of the words, once [`next`](Iterator::next) has given `None`.
    pub fn fault(&self) -> Option<Malformed> {
        self.fault
    }
}

impl<'a> Iterator for RecordReader<'a> {
    type Item = Record<'a>;

    #[inline]
    fn next(&mut self) -> Option<Record<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        match decode(self.rest) {
            Ok((record, words)) => {
                self.rest = self.rest.get(words..).unwrap_or_default();
                self.position += words;
                Some(record)
            }
            Err(fault) => {
                self.fault = Some(fault);
                self.rest = &[];
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::immediate::StageSlot;
    use super::payload::{DrawArrays, HandleGap};
    use super::*;

    #[test]
    fn records_are_no_larger_than_the_hardwares() {
        let bytes = |code: u8| SHAPES[code as usize].head_words as usize * 4;
        for draw in [op::DrawArrays::OPCODE, op::DrawElements::OPCODE, op::DrawElementsBaseVertex::OPCODE] {
            assert!(bytes(draw) <= 24, "{} takes {} bytes", name(draw), bytes(draw));
        }
        assert_eq!(bytes(op::SetDepthClamp::OPCODE), 4, "one immediate word");
        assert_eq!(bytes(op::ClearColor::OPCODE), 20);
        assert_eq!(bytes(op::CopyBufferToTexture::OPCODE), 52);
    }

    #[test]
    fn b228_a_bound_texture_handle_is_16_bytes_into_the_record() {
        let words = [Header::new(op::BindTextures::OPCODE, StageSlot::new(1, 3).bits(), 5).word(), 0, 0, 0, 0x1d1];
        let (record, length) = decode(&words).unwrap();
        assert_eq!(length, 5);
        assert_eq!(record, Record::BindTextures(StageSlot::new(1, 3), &HandleGap::default(), &[0x1d1]));
        assert_eq!(16 + 4, length * 4, "the handle is the last word");
    }

    #[test]
    fn b228_a_bind_of_more_than_32_handles_is_no_record() {
        let mut words = vec![0; 4 + 33];
        words[0] = Header::new(op::BindTextures::OPCODE, 0, 4 + 33).word();
        assert_eq!(decode(&words).unwrap_err(), Malformed::Length(words[0]));
        words[0] = Header::new(op::BindTextures::OPCODE, 0, 4 + 32).word();
        assert!(decode(&words).is_ok());
    }

    #[test]
    fn zeroed_memory_is_no_record() {
        assert_eq!(measure(&[0; 8]), Err(Malformed::Opcode(0)));
        assert_eq!(measure(&[]), Err(Malformed::Truncated(0)));
        let long = Header::new(op::DrawArrays::OPCODE, 4, 3).word();
        assert_eq!(measure(&[long, 0]), Err(Malformed::Overrun { header: long, left: 2 }));
    }

    #[test]
    fn the_reader_stops_at_the_first_malformed_record() {
        let draw = Header::new(op::DrawArrays::OPCODE, 4, 3).word();
        let words = [draw, 1, 2, 0xff, draw, 1, 2];
        let mut reader = RecordReader::new(&words);
        assert_eq!(reader.next(), Some(Record::DrawArrays(4, &DrawArrays { first: 1, count: 2 })));
        assert_eq!(reader.next(), None);
        assert_eq!(reader.fault(), Some(Malformed::Opcode(0xff)));
        assert_eq!(reader.position(), 3);
    }
}
