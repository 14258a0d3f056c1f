//! Notices a submission that does not complete (B235). The clock is its caller's.

use std::time::Duration;

use crate::Ticket;

/// Watches the oldest submission that has not ended.
#[derive(Debug)]
pub struct Watchdog {
    limit: Duration,
    /// The oldest unfinished ticket as of the last look, and when it was first seen as that.
    oldest: Option<(Ticket, Duration)>,
    /// The ticket that was told of; each is told of once.
    told: Ticket,
}

impl Watchdog {
    /// Speaks when a submission has been the oldest for `limit`.
    pub fn new(limit: Duration) -> Self {
        Self { limit, oldest: None, told: 0 }
    }

    /// One look at `now` (any monotonic clock): `oldest` is the ticket of the oldest submission that has not
    /// ended, `None` when all have. Answers how long it has been the oldest, once, when that reaches the limit.
    pub fn look(&mut self, oldest: Option<Ticket>, now: Duration) -> Option<Duration> {
        let Some(ticket) = oldest else {
            self.oldest = None;
            return None;
        };
        let since = match self.oldest {
            Some((same, since)) if same == ticket => since,
            _ => {
                self.oldest = Some((ticket, now));
                now
            }
        };
        let stood = now.saturating_sub(since);
        if stood < self.limit || self.told == ticket {
            return None;
        }
        self.told = ticket;
        Some(stood)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn b235_a_submission_that_does_not_end_is_told_of_once_after_the_limit() {
        let mut dog = Watchdog::new(s(10));
        assert_eq!(dog.look(Some(7), s(100)), None);
        assert_eq!(dog.look(Some(7), s(109)), None);
        assert_eq!(dog.look(Some(7), s(110)), Some(s(10)));
        assert_eq!(dog.look(Some(7), s(500)), None, "once");
        // It ends after all; the next one is watched anew.
        assert_eq!(dog.look(Some(8), s(501)), None);
        assert_eq!(dog.look(Some(8), s(510)), None);
        assert_eq!(dog.look(Some(8), s(511)), Some(s(10)));
    }

    #[test]
    fn b235_progress_and_idleness_are_no_cause() {
        let mut dog = Watchdog::new(s(10));
        for n in 0..100 {
            assert_eq!(dog.look(Some(n), s(9 * n)), None, "each ends in nine seconds");
        }
        assert_eq!(dog.look(None, s(2000)), None);
        assert_eq!(dog.look(Some(99), s(2005)), None, "watched anew after an idle time");
    }
}
