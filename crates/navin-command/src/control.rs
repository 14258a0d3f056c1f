//! Control lists: what strings the pieces of a recording together, in the guest's control memory (B224).
//!
//! A list is a chain of 8-byte entries: pieces of records, and links to where the list goes on; the last entry
//! is marked. The command handle that the guest gets is the guest address of the first entry. The cursor writes
//! entries; CallCommands, CopyCommands and flatten read them through [`ControlList`].
//!
//! An entry:
//!
//! ```text
//!   bits 0-1    kind: 1 piece in guest memory, 2 piece in lent memory, 3 link; 0 is no entry
//!   bit  2      last entry
//!   bits 3-7    check, made of all other bits: a word that is no entry is recognised
//!   piece:      bits 8-25 length in words, bits 26-63 address / 4
//!   link:       bits 8-63 guest address / 8
//! ```
//!
//! A piece's address is a GPU address, as in the driver's own FIFO entries, or one of the lender's: both are
//! looked up and bounds-checked before anything is read, so that a list of garbage reads no wild pointer.
//! For the same reason the lists themselves are read only in memory that was given as control memory.

use navin_abi::GuestPtr;
use parking_lot::Mutex;
use std::collections::BTreeMap;

use crate::host::Host;

/// Bytes of an entry.
pub const ENTRY_SIZE: u64 = 8;
/// Most bytes of a piece; longer ones are several pieces.
pub const MAX_PIECE: u32 = ((1 << 18) - 1) * 4;
/// Bytes of the blocks that the host lends.
pub const LENT_BLOCK: usize = 64 << 10;

/// Which addresses a piece's address is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    /// GPU addresses of the guest's pools.
    Guest,
    /// Addresses of the lender's segments.
    Lent,
}

/// A run of records in one memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// What `address` is of.
    pub space: Space,
    /// First byte, a multiple of 4 below 2^40.
    pub address: u64,
    /// Bytes, a multiple of 4, at most [`MAX_PIECE`].
    pub bytes: u32,
}

/// What an entry says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// Records; none of a list that is empty.
    Piece {
        /// Where they are.
        piece: Piece,
        /// Whether the list ends here.
        last: bool,
    },
    /// The list goes on at this guest address, a multiple of 8.
    Link(u64),
}

const KIND_GUEST: u64 = 1;
const KIND_LENT: u64 = 2;
const KIND_LINK: u64 = 3;
const LAST: u64 = 4;
const CHECK: u64 = 0xf8;

const fn check(word: u64) -> u64 {
    (((word & !CHECK) ^ 0x004e_5643_4c49_5354).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59) << 3
}

impl Entry {
    /// The end of a list whose last piece is already written, or of an empty one.
    pub const END: Self = Self::Piece { piece: Piece { space: Space::Guest, address: 0, bytes: 0 }, last: true };

    /// The word in control memory.
    pub const fn encode(self) -> u64 {
        let word = match self {
            Self::Piece { piece, last } => {
                let kind = match piece.space {
                    Space::Guest => KIND_GUEST,
                    Space::Lent => KIND_LENT,
                };
                let last = if last { LAST } else { 0 };
                kind | last | (piece.bytes as u64 / 4) << 8 | (piece.address >> 2) << 26
            }
            Self::Link(address) => KIND_LINK | (address >> 3) << 8,
        };
        word | check(word)
    }

    /// What `word` says; `None` if it is no entry.
    pub const fn decode(word: u64) -> Option<Self> {
        if word & CHECK != check(word) {
            return None;
        }
        let space = match word & 3 {
            KIND_GUEST => Space::Guest,
            KIND_LENT => Space::Lent,
            KIND_LINK if word & LAST == 0 => return Some(Self::Link(word >> 8 << 3)),
            _ => return None,
        };
        let piece = Piece { space, address: word >> 26 << 2, bytes: (word >> 8) as u32 % (1 << 18) * 4 };
        Some(Self::Piece { piece, last: word & LAST != 0 })
    }
}

/// Why a handle leads to no list, or where a list stops being one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ListError {
    /// The handle is no multiple of 8, or null.
    #[error("the handle {0:#x} is no address of an entry")]
    Handle(u64),
    /// The address is in no control memory that was ever given.
    #[error("{0:#x} is in no control memory")]
    Memory(u64),
    /// The word there is no entry.
    #[error("{word:#018x} at {address:#x} is no control entry")]
    Entry {
        /// Where.
        address: u64,
        /// What.
        word: u64,
    },
    /// The links go on for ever, or as good as.
    #[error("the list has no end, or there are more entries than a call may read")]
    Endless,
}

/// All memory that was given as control memory: guest address ranges, merged.
#[derive(Debug, Default)]
pub(crate) struct ControlMemory {
    ranges: Mutex<BTreeMap<u64, u64>>,
}

impl ControlMemory {
    pub(crate) const fn new() -> Self {
        Self { ranges: Mutex::new(BTreeMap::new()) }
    }

    /// Adds `start..end`.
    pub(crate) fn add(&self, mut start: u64, mut end: u64) {
        let mut ranges = self.ranges.lock();
        if let Some((&before, &before_end)) = ranges.range(..=start).next_back()
            && before_end >= start
        {
            if before_end >= end {
                return;
            }
            start = before;
            end = end.max(before_end);
        }
        while let Some((&next, &next_end)) = ranges.range(start..).next()
            && next <= end
        {
            end = end.max(next_end);
            ranges.remove(&next);
        }
        ranges.insert(start, end);
    }

    /// The end of the range that `address` is in.
    fn end_of(&self, address: u64) -> Option<u64> {
        let ranges = self.ranges.lock();
        ranges.range(..=address).next_back().map(|(_, &end)| end).filter(|&end| address < end)
    }
}

/// Reads a control list: yields its pieces in order, empty ones left out, then an error if it stopped being a
/// list.
#[derive(Debug)]
pub struct ControlList<'a> {
    host: &'a Host,
    at: u64,
    end: u64,
    left: u32,
}

impl<'a> ControlList<'a> {
    /// The list that the command handle `handle` leads to, of at most `left` entries.
    pub fn new(host: &'a Host, handle: u64, left: u32) -> Result<Self, ListError> {
        if handle == 0 || !handle.is_multiple_of(ENTRY_SIZE) {
            return Err(ListError::Handle(handle));
        }
        let end = host.control.end_of(handle).ok_or(ListError::Memory(handle))?;
        Ok(Self { host, at: handle, end, left })
    }

    /// How many entries more may be read.
    pub fn left(&self) -> u32 {
        self.left
    }

    fn stop(&mut self) {
        self.at = 0;
    }

    fn read(&mut self) -> Result<Entry, ListError> {
        self.left = self.left.checked_sub(1).ok_or(ListError::Endless)?;
        if self.end - self.at < ENTRY_SIZE {
            return Err(ListError::Memory(self.at));
        }
        let address = self.at;
        // SAFETY: inside memory that the guest gave to AddControlMemory, or that the host lent.
        let word = unsafe { GuestPtr::<u64>::new(address).read() }.unwrap_or(0);
        Entry::decode(word).ok_or(ListError::Entry { address, word })
    }
}

impl Iterator for ControlList<'_> {
    type Item = Result<Piece, ListError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.at != 0 {
            match self.read() {
                Ok(Entry::Link(to)) => match self.host.control.end_of(to) {
                    Some(end) => (self.at, self.end) = (to, end),
                    None => {
                        self.stop();
                        return Some(Err(ListError::Memory(to)));
                    }
                },
                Ok(Entry::Piece { piece, last }) => {
                    if last {
                        self.stop();
                    } else {
                        self.at += ENTRY_SIZE;
                    }
                    if piece.bytes > 0 {
                        return Some(Ok(piece));
                    }
                }
                Err(error) => {
                    self.stop();
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn b224_entries_round_trip(address in 0u64..1 << 38, words in 0u32..1 << 18, lent: bool, last: bool) {
            let space = if lent { Space::Lent } else { Space::Guest };
            let entry = Entry::Piece { piece: Piece { space, address: address * 4, bytes: words * 4 }, last };
            prop_assert_eq!(Entry::decode(entry.encode()), Some(entry));
            let link = Entry::Link(address * 8);
            prop_assert_eq!(Entry::decode(link.encode()), Some(link));
        }

        #[test]
        fn decode_and_encode_agree_on_any_word(word: u64) {
            if let Some(entry) = Entry::decode(word) {
                prop_assert_eq!(entry.encode(), word);
            }
        }
    }

    #[test]
    fn most_words_are_no_entry() {
        let mut state = 1u64;
        let entries = (0..100_000).filter(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            Entry::decode(state ^ state >> 29).is_some()
        });
        assert!(entries.count() < 100_000 / 25, "a random word is taken for an entry too often");
        assert_eq!(Entry::decode(0), None);
        assert_eq!(Entry::decode(u64::MAX), None);
    }

    #[test]
    fn ranges_merge() {
        let memory = ControlMemory::new();
        memory.add(0x1000, 0x2000);
        memory.add(0x3000, 0x4000);
        memory.add(0x1800, 0x1900);
        assert_eq!(memory.end_of(0x1fff), Some(0x2000));
        assert_eq!(memory.end_of(0x2000), None);
        memory.add(0x1800, 0x3000);
        assert_eq!(memory.end_of(0x1000), Some(0x4000));
        assert_eq!(memory.ranges.lock().len(), 1);
        assert_eq!(memory.end_of(0xfff), None);
    }
}
