//! Serials: the numbers by which records and tables name objects.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of one initialization of one object: never 0, never used twice in a process, so that a record which
/// outlives its object can never be taken for the next one in the same memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Serial(NonZeroU64);

impl Serial {
    /// The serial that a record in guest memory holds as a number; `None` for 0. Whether there is such an object
    /// is for the tables to say.
    pub fn from_raw(raw: u64) -> Option<Self> {
        NonZeroU64::new(raw).map(Self)
    }

    /// The number.
    pub fn raw(self) -> u64 {
        self.0.get()
    }
}

impl std::fmt::Debug for Serial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Serial({})", self.0)
    }
}

impl std::fmt::Display for Serial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Gives out serials from 1 on; any thread.
#[derive(Debug, Default)]
pub struct Serials(AtomicU64);

impl Serials {
    /// None given out yet.
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The next serial.
    pub fn next(&self) -> Serial {
        // 2^64 serials are never reached: at one a nanosecond that takes 500 years.
        let raw = self.0.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        Serial(NonZeroU64::new(raw).unwrap_or(NonZeroU64::MAX))
    }

    /// How many were given out.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn serials_begin_at_1_and_fit_an_option_in_8_bytes() {
        let serials = Serials::new();
        assert_eq!(serials.next().raw(), 1);
        assert_eq!(serials.next().raw(), 2);
        assert_eq!(serials.count(), 2);
        assert_eq!(size_of::<Option<Serial>>(), 8);
        assert_eq!(Serial::from_raw(0), None);
    }

    #[test]
    fn threads_never_get_the_same_serial() {
        let serials = Serials::new();
        let all: Vec<Serial> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..4).map(|_| scope.spawn(|| (0..10_000).map(|_| serials.next()).collect::<Vec<_>>())).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), 40_000);
    }
}
