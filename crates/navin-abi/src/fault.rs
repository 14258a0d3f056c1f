//! The fault line: one log line of level ERROR, target `navin::fault`, for each wrong thing, once.
//!
//! Every crate reports through [`fault!`](crate::fault!); whoever embeds Navin reads the lines from its
//! `tracing` subscriber, and [`count`] tells how many there were.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

/// More distinct keys than this of one place are counted and no longer remembered or logged, so that a guest that
/// invents keys cannot grow the set without end, nor keep other places from being heard.
const REMEMBERED: usize = 1024;

static COUNT: AtomicU64 = AtomicU64::new(0);
/// The keys that each place has reported.
static SEEN: LazyLock<Mutex<HashMap<&'static str, HashSet<u64>>>> = LazyLock::new(Default::default);

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
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let keys = seen.entry(place).or_default();
    let first = keys.len() < REMEMBERED && keys.insert(key);
    let last = first && keys.len() == REMEMBERED;
    drop(seen);
    if first {
        report_each(behaviour, what);
    } else {
        COUNT.fetch_add(1, Ordering::Relaxed);
    }
    if last {
        tracing::error!(target: "navin::fault", "{REMEMBERED} different faults of this kind: more of it are counted only");
    }
    first
}

/// Reports a fault whenever it is called: for what tells why everything stands still, which must not be lost among what
/// was wrong before. Its callers see to it that there are few.
pub fn report_each(behaviour: &str, what: fmt::Arguments<'_>) {
    COUNT.fetch_add(1, Ordering::Relaxed);
    if behaviour.is_empty() {
        tracing::error!(target: "navin::fault", "{what}");
    } else {
        tracing::error!(target: "navin::fault", "{what} [{behaviour}]");
    }
    if let Some(listener) = LISTENER.get() {
        listener(behaviour, &what.to_string());
    }
}

/// How many faults were reported since the process began, repeats included.
pub fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// Names a wrong thing once: what was asked, the object and value, and what Navin did instead.
///
/// `fault!(key = expr, "B421", "text {}", args)`: the line is written once per call site and key;
/// without `key` once per call site; with `each` in its place every time. The behaviour id may be `""`.
#[macro_export]
macro_rules! fault {
    (each, $behaviour:literal, $($arg:tt)+) => {
        $crate::fault::report_each($behaviour, format_args!($($arg)+))
    };
    (key = $key:expr, $behaviour:literal, $($arg:tt)+) => {
        $crate::fault::report(concat!(file!(), ":", line!(), ":", column!()), $key as u64, $behaviour, format_args!($($arg)+))
    };
    ($behaviour:literal, $($arg:tt)+) => {
        $crate::fault!(key = 0u64, $behaviour, $($arg)+)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_with_too_many_keys_silences_no_other() {
        let told = |place, key| report(place, key, "", format_args!("a test's fault"));
        let before = count();
        let written = (0..2 * REMEMBERED as u64).filter(|key| told("a guest invents keys", *key)).count();
        assert_eq!(written, REMEMBERED, "and no more is remembered");
        assert_eq!(count() - before, 2 * REMEMBERED as u64, "but counted");
        assert!(told("another place", 0) && !told("another place", 0));
    }
}
