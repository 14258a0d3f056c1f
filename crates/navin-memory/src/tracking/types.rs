//! What callers of the tracker hold: spans, stamps, writers, ranges, and what can go wrong.

use thiserror::Error;

/// Host memory: `len` bytes from the host address `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// First address.
    pub start: usize,
    /// Bytes.
    pub len: usize,
}

impl Span {
    /// `len` bytes from `start`.
    pub const fn new(start: usize, len: usize) -> Self {
        Self { start, len }
    }

    /// First address past the span; the last address there is when the span would wrap.
    pub const fn end(self) -> usize {
        self.start.saturating_add(self.len)
    }
}

/// A moment on the tracker's clock. [`Tracker::protect`](super::Tracker::protect) gives one with the bytes that it
/// protects; the bytes that are read after it are the ones that a later "written since" answers for (B412).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Stamp(pub(crate) u64);

impl Stamp {
    /// Before everything: what was never protected counts as written since then, always.
    pub const NEVER: Self = Self(0);

    /// The moment of this number, for a host's own clock where there is no tracker.
    pub const fn of(number: u64) -> Self {
        Self(number)
    }

    /// Its number on the clock.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// Who of the host's own parts writes guest memory, so that it may leave its own writes out of a question. The
/// caller gives the numbers (a texture's serial, for example).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Writer(pub u64);

impl Writer {
    /// Whose writes no question leaves out: nothing is kept of them.
    pub const NOBODY: Self = Self(u64::MAX);
}

/// A registered range: its slot and how many ranges the tracker had seen, so that a slot that is used again makes
/// another id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RangeId {
    pub(crate) slot: u32,
    pub(crate) serial: u64,
}

/// What to track with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MechanismChoice {
    /// The best that the system has: [`Mechanism::Userfaultfd`], else [`Mechanism::Mprotect`], else off.
    #[default]
    Auto,
    /// Only this one.
    Userfaultfd,
    /// Only this one.
    Mprotect,
    /// None: every question is answered "written".
    Off,
}

/// What a tracker tracks with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mechanism {
    /// Linux 6.7 and later: asynchronous write protection by userfaultfd, written pages found by PAGEMAP_SCAN.
    Userfaultfd,
    /// Pages made read-only, their first write caught by a SIGSEGV handler.
    Mprotect,
    /// Nothing is tracked, everything counts as written.
    Off,
}

impl Mechanism {
    /// The name that the configuration and `navin doctor` use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Userfaultfd => "userfaultfd",
            Self::Mprotect => "mprotect",
            Self::Off => "off",
        }
    }
}

/// What a tracker tracks with, and why, in words for `navin doctor`.
#[derive(Clone, Debug)]
pub struct Selection {
    /// What it tracks with.
    pub mechanism: Mechanism,
    /// Why this one, with what the system answered where a better one was not to be had.
    pub reason: String,
}

/// The unit of tracking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Granule {
    /// The host's page.
    #[default]
    HostPage,
    /// This many bytes, a power of two and at least the host's page: stands for a host with larger pages.
    Bytes(usize),
}

/// How to make a tracker.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrackingOptions {
    /// What to track with.
    pub mechanism: MechanismChoice,
    /// The unit of tracking.
    pub granule: Granule,
}

/// Why there is no tracker.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TrackingError {
    /// The mechanism that was asked for by name is not to be had.
    #[error("write tracking by {} is not available: {reason}", mechanism.name())]
    Unavailable {
        /// The mechanism.
        mechanism: Mechanism,
        /// What the system answered.
        reason: String,
    },
    /// The granule is no power of two from the host's page to 1 MB.
    #[error("a tracking granule of {0} bytes is not a power of two from the host's page size to 1 MB")]
    Granule(usize),
}

/// Why a range is not tracked: what lies in it counts as written, always.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RegisterError {
    /// No bytes.
    #[error("an empty range cannot be tracked")]
    Empty,
    /// Past the 48 bits of address that user programs have.
    #[error("the range from {start:#x} of {len:#x} bytes ends past the addresses that are tracked")]
    OutOfReach {
        /// First address.
        start: usize,
        /// Bytes.
        len: usize,
    },
    /// The calling thread has a bracket open ([`Opened`](super::Opened)).
    #[error("a range cannot be registered while its thread holds memory open for an import")]
    WithinBracket,
    /// All slots are taken (B205).
    #[error("{0} ranges are tracked already, one more is not")]
    Full(usize),
}

/// What [`Tracker::fetch`](super::Tracker::fetch) did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Fetched {
    /// Bytes looked at.
    pub scanned: usize,
    /// Granules found written.
    pub written: usize,
}

/// What closing a bracket found ([`Opened::close`](super::Opened::close)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Closed {
    /// Granules that were protected and were opened.
    pub opened: usize,
    /// Opened granules whose bytes differed at the end: recorded as written.
    pub changed: usize,
    /// Opened granules that somebody wrote by a way the tracker saw: recorded then, and left writable.
    pub written: usize,
}

/// Counters since the tracker was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TrackingCounters {
    /// Ranges registered now.
    pub ranges: u64,
    /// Granules protected, each time counted.
    pub protected: u64,
    /// Writes caught by the fault handler.
    pub faults: u64,
    /// Faults that found their page released already by another thread.
    pub stale_faults: u64,
    /// Faults after which more than the faulting granule had to be released (the kernel's limit on mappings).
    pub widened_faults: u64,
    /// Granules that a fetch found written.
    pub fetched: u64,
    /// Granules that the host wrote itself.
    pub host_written: u64,
    /// Granules opened for imports.
    pub opened: u64,
    /// Granules opened for imports and found changed.
    pub opened_changed: u64,
    /// Runs of granules that could not be protected and count as written.
    pub refused: u64,
}
