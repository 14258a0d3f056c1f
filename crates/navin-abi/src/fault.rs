//! The fault line: one log line of level ERROR, target `navin::fault`, for each wrong thing, once.
//!
//! Every crate reports through [`fault!`](crate::fault!); whoever embeds Navin reads the lines from its
//! `tracing` subscriber, and [`count`] tells how many there were.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

/// More distinct (place, key) pairs than this are counted and no longer remembered or logged, so that a guest
/// that invents keys cannot grow the set without end.
const REMEMBERED: usize = 4096;

static COUNT: AtomicU64 = AtomicU64::new(0);
static SEEN: LazyLock<Mutex<HashSet<(&'static str, u64)>>> = LazyLock::new(Default::default);

/// Who else wants the lines: whoever installed one with [`listen`].
static LISTENER: OnceLock<fn(behaviour: &str, what: &str)> = OnceLock::new();

/// Has `listener` called for every line that is written, on the thread that found the fault, whatever locks that
/// holds: it may only take note. The first listener stays.
pub fn listen(listener: fn(behaviour: &str, what: &str)) {
    let _ = LISTENER.set(listener);
}

/// Reports a fault once for each `place` and `key`; use [`fault!`](crate::fault!), which fills in the place.
///
/// Returns whether the line was written (false when this pair has been reported before).
pub fn report(place: &'static str, key: u64, behaviour: &str, what: fmt::Arguments<'_>) -> bool {
    COUNT.fetch_add(1, Ordering::Relaxed);
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let first = seen.len() < REMEMBERED && seen.insert((place, key));
    drop(seen);
    if first {
        if behaviour.is_empty() {
            tracing::error!(target: "navin::fault", "{what}");
        } else {
            tracing::error!(target: "navin::fault", "{what} [{behaviour}]");
        }
        if let Some(listener) = LISTENER.get() {
            listener(behaviour, &what.to_string());
        }
    }
    first
}

/// How many faults were reported since the process began, repeats included.
pub fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// Names a wrong thing once: what was asked, the object and value, and what Navin did instead.
///
/// `fault!(key = expr, "B421", "text {}", args)`: the line is written once per call site and key;
/// without `key` once per call site. The behaviour id may be `""`.
#[macro_export]
macro_rules! fault {
    (key = $key:expr, $behaviour:literal, $($arg:tt)+) => {
        $crate::fault::report(concat!(file!(), ":", line!(), ":", column!()), $key as u64, $behaviour, format_args!($($arg)+))
    };
    ($behaviour:literal, $($arg:tt)+) => {
        $crate::fault!(key = 0u64, $behaviour, $($arg)+)
    };
}
