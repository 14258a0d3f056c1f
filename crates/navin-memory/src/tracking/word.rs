//! A granule's word: what the tracker knows of one granule, in 64 bits that change at once.
//!
//! Bits 0..3 are the state, bit 3 says that the protection is the MMU's (a write faults into our handler) and not
//! userfaultfd's, the rest is the generation: the clock's value at the last moment at which the granule may have been
//! written. Content read under a stamp is stale when the granule's generation is later than the stamp, or when
//! nobody would notice a write.

/// Nothing is known: not tracked, or never protected since its range was registered. All zero.
pub const UNKNOWN: u64 = 0;
/// Writable; writes are not noticed, so it counts as written.
pub const WRITABLE: u64 = 1;
/// A write would be noticed.
pub const PROTECTED: u64 = 2;
/// Writable for an import; whether it was written is settled when the bracket closes.
pub const OPEN: u64 = 3;
/// Some thread is changing the protection, on the way to or from WRITABLE.
pub const BUSY: u64 = 4;
/// The bracket is protecting it again; it goes back to OPEN.
pub const CLOSING: u64 = 5;

const STATE: u64 = 7;
/// The protection is the MMU's.
pub const HARD: u64 = 8;
const GENERATION_SHIFT: u32 = 4;

/// The word of this state and generation.
pub const fn word(state: u64, generation: u64) -> u64 {
    state | generation << GENERATION_SHIFT
}

/// A word's state.
pub const fn state(word: u64) -> u64 {
    word & STATE
}

/// A word's generation.
pub const fn generation(word: u64) -> u64 {
    word >> GENERATION_SHIFT
}

/// Whether what was read under a stamp is still what is there: a write since would have been noticed, and was not.
#[inline]
pub const fn is_clean(word: u64, stamp: u64) -> bool {
    state(word) == PROTECTED && generation(word) <= stamp
}

/// Whether the protection is the MMU's.
pub const fn is_hard(word: u64) -> bool {
    word & HARD != 0
}

/// The same word in another state.
pub const fn with_state(word: u64, state: u64) -> u64 {
    word & !STATE | state
}
