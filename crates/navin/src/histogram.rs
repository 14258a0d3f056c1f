//! Times, counted by powers of two: what a counter can say about waits without keeping each.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

/// Bucket n counts times below 2^n microseconds / 8; the last one everything longer.
const BUCKETS: usize = 32;

/// A histogram of times from an eighth of a microsecond to minutes. Counting takes two relaxed additions.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    buckets: [AtomicU64; BUCKETS],
    nanoseconds: AtomicU64,
}

impl Histogram {
    /// Counts one time.
    pub(crate) fn add(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let bucket = (64 - (nanoseconds / 125).leading_zeros() as usize).min(BUCKETS - 1);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// How many, their mean, and the bounds in microseconds under which half, nine of ten and 99 of a hundred lie.
    pub(crate) fn json(&self) -> Value {
        let counts = self.buckets.each_ref().map(|bucket| bucket.load(Ordering::Relaxed));
        let count: u64 = counts.iter().sum();
        let below = |share: f64| {
            let wanted = (count as f64 * share).ceil() as u64;
            let mut sum = 0;
            let bucket = counts.iter().position(|bucket| {
                sum += bucket;
                sum >= wanted
            });
            (1u64 << bucket.unwrap_or(0)) as f64 / 8.0
        };
        if count == 0 {
            return json!({ "count": 0 });
        }
        let mean = self.nanoseconds.load(Ordering::Relaxed) / count;
        json!({
            "count": count,
            "mean": mean as f64 / 1000.0,
            "half_below": below(0.5),
            "p90_below": below(0.9),
            "p99_below": below(0.99),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_bounds_of_their_bucket() {
        let histogram = Histogram::default();
        assert_eq!(histogram.json(), json!({ "count": 0 }));
        for _ in 0..95 {
            histogram.add(Duration::from_micros(3));
        }
        for _ in 0..5 {
            histogram.add(Duration::from_millis(70));
        }
        histogram.add(Duration::ZERO);
        histogram.add(Duration::MAX);
        let json = histogram.json();
        assert_eq!(json["count"], 102);
        assert_eq!(json["half_below"], 4.0);
        assert_eq!(json["p90_below"], 4.0);
        assert_eq!(json["p99_below"], 131_072.0);
    }
}
