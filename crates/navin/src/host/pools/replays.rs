//! When nothing uses any more what lookups gave out (B111).
//!
//! A lookup in a replay gives buffers and addresses to a submission whose number is not known before it is made: work of
//! Navin's own may come between. So what is to go is not stamped with a submission but with the replays begun so far
//! ([`Replays::now`]), and goes when all of these have ended and what they submitted has ended too
//! ([`Replays::reached`]). The submit thread says when it replays; anybody asks.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

/// The submit thread's replays, in order.
#[derive(Default)]
pub(crate) struct Replays {
    /// Begins and ends so far: odd while one is under way.
    count: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Replays that have ended and whose submissions may not have: the count at the end, and the newest submission then.
    ended: VecDeque<(u64, u64)>,
    reached: u64,
}

impl State {
    fn settle(&mut self, completed: u64) {
        while let Some((count, _)) = self.ended.front().copied().filter(|(_, submitted)| *submitted <= completed) {
            self.ended.pop_front();
            self.reached = count;
        }
    }
}

impl Replays {
    /// A replay begins. They do not nest.
    pub(super) fn begin(&self) {
        self.count.fetch_add(1, Ordering::SeqCst);
    }

    /// It has ended; `submitted` is the newest submission, `completed` the newest that has ended. Forgets the replays
    /// whose submissions have ended: a program that never asks would gather one entry a submission.
    pub(super) fn end(&self, submitted: u64, completed: u64) {
        // Whoever finds the count changed finds the entry too.
        let mut state = self.state.lock();
        state.settle(completed);
        let count = self.count.load(Ordering::SeqCst) + 1;
        match state.ended.back_mut() {
            // Nothing was submitted since.
            Some(last) if last.1 == submitted => last.0 = count,
            _ => state.ended.push_back((count, submitted)),
        }
        self.count.store(count, Ordering::SeqCst);
    }

    /// Whether one is under way.
    pub(super) fn under_way(&self) -> bool {
        !self.count.load(Ordering::SeqCst).is_multiple_of(2)
    }

    /// The moment now: it is [reached](Self::reached) when nothing that was looked up before this call is used any more.
    pub(super) fn now(&self) -> u64 {
        self.count.load(Ordering::SeqCst).next_multiple_of(2)
    }

    /// The newest moment that is reached, submissions up to `completed` having ended.
    pub(super) fn reached(&self, completed: u64) -> u64 {
        let mut state = self.state.lock();
        state.settle(completed);
        if state.ended.is_empty() {
            // One that is under way has not ended.
            state.reached = self.count.load(Ordering::SeqCst) & !1;
        }
        state.reached
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn b111_a_moment_in_a_replay_is_reached_when_what_it_submitted_has_ended() {
        let replays = Replays::default();
        assert_eq!((replays.now(), replays.reached(7)), (0, 0), "nothing was looked up");
        replays.begin();
        let during = replays.now();
        // Whatever has ended: what is being replayed has not been submitted.
        assert!(replays.under_way() && replays.reached(u64::MAX) < during);
        replays.end(8, 0);
        assert!(!replays.under_way() && replays.now() == during);
        assert!(replays.reached(7) < during);
        assert_eq!(replays.reached(8), during);
        // A present submits nothing: what was looked up in it goes with the newest submission.
        replays.begin();
        let present = replays.now();
        replays.end(8, 0);
        assert_eq!(replays.reached(8), present);
    }

    #[test]
    fn b111_a_program_that_never_asks_gathers_nothing() {
        let replays = Replays::default();
        for submission in 1..10_000 {
            replays.begin();
            replays.end(submission, submission - 3.min(submission));
        }
        let ended = replays.state.lock().ended.len();
        assert!(ended <= 4, "{ended} replays are remembered; three submissions are in flight");
    }

    proptest! {
        /// Against the rule itself: a moment is reached when no replay that had begun then is under way or has
        /// submitted something that has not ended.
        #[test]
        fn b111_moments_are_reached_as_the_rule_says(steps in prop::collection::vec((0u8..4, 0u64..3), 1..60)) {
            let replays = Replays::default();
            let (mut submitted, mut completed, mut inside) = (0u64, 0u64, false);
            // Of each replay, the newest submission at its end; and per moment, how many replays had begun.
            let mut ends: Vec<u64> = Vec::new();
            let mut moments: Vec<(u64, usize)> = Vec::new();
            for (step, by) in steps {
                match step {
                    0 if !inside => { replays.begin(); inside = true; }
                    0 => { submitted += by; replays.end(submitted, completed); ends.push(submitted); inside = false; }
                    1 => submitted += by,
                    2 => completed = (completed + by).min(submitted),
                    _ => moments.push((replays.now(), ends.len() + usize::from(inside))),
                }
                let reached = replays.reached(completed);
                for (moment, begun) in &moments {
                    let over = *begun <= ends.len() && ends[..*begun].iter().all(|last| *last <= completed);
                    prop_assert_eq!(reached >= *moment, over, "moment {} of {} replays", moment, begun);
                }
            }
        }
    }
}
