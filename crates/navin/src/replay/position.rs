//! Where replay stands, for the line about a crash (B223): a record that brings replay down is seldom the one that was
//! written wrong, so the one before it is kept as well. The submit thread notes, the crash handler reads.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The record being replayed, and the one before.
static AT: [AtomicPtr<u32>; 2] = [AtomicPtr::new(std::ptr::null_mut()), AtomicPtr::new(std::ptr::null_mut())];
/// The first record of the piece.
static START: AtomicUsize = AtomicUsize::new(0);

/// Replay of a piece begins; its records stay where they are until [`end`].
pub(super) fn begin(words: &[u32]) {
    START.store(words.as_ptr() as usize, Ordering::Relaxed);
}

/// The record that begins with `header` is next.
#[inline]
pub(super) fn next(header: *const u32) {
    AT[1].store(AT[0].load(Ordering::Relaxed), Ordering::Relaxed);
    AT[0].store(header.cast_mut(), Ordering::Relaxed);
}

/// The piece is through.
pub(super) fn end() {
    AT.iter().for_each(|at| at.store(std::ptr::null_mut(), Ordering::Relaxed));
}

/// A record of the piece that is being replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) opcode: u8,
    /// Bytes from the start of the piece.
    pub(crate) offset: usize,
    /// Where its payload is.
    pub(crate) payload: usize,
}

/// The record being replayed and the one before it. Async-signal-safe.
pub(crate) fn now() -> [Option<Position>; 2] {
    let start = START.load(Ordering::Relaxed);
    [0, 1].map(|n| {
        let at = AT[n].load(Ordering::Relaxed);
        // SAFETY: not null only while the words of the piece are there, which the thread that replays it holds.
        let header = (!at.is_null()).then(|| unsafe { at.read_volatile() })?;
        let (opcode, at) = (navin_command::record::Header::from_word(header).opcode(), at as usize);
        Some(Position { opcode, offset: at.wrapping_sub(start), payload: at.wrapping_add(4) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b223_the_record_before_is_kept() {
        assert_eq!(now(), [None; 2]);
        let words = [7u32, 0, 9, 3];
        begin(&words);
        next(&words[0]);
        next(&words[2]);
        let [current, before] = now();
        let opcode = |word| navin_command::record::Header::from_word(word).opcode();
        let expected = |at: usize| {
            Some(Position { opcode: opcode(words[at]), offset: at * 4, payload: &raw const words[at] as usize + 4 })
        };
        assert_eq!((current, before), (expected(2), expected(0)));
        end();
        assert_eq!(now(), [None; 2]);
    }
}
