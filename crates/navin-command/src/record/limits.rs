//! The most that one command, one share of a submission, and one submission may ask of the GPU.
//!
//! Guests' command memory can hold anything (B225), and a draw of four thousand million vertices is a valid record:
//! on the console it ends in a GPU timeout. Replay asks the [`Budget`] before it records what costs time. A command over
//! its own limit is left out with a fault line. Where a share is used up, what is recorded so far is submitted, so that
//! no submission to the GPU takes as long as a hang; where the whole is used up, the rest of the guest's submission is
//! left out. The limits are far above what the console's GPU does in a second, or has memory for.

/// Most vertices of a draw, times its instances. The console's GPU takes more than a frame's time for as many.
pub const MAX_VERTICES: u64 = 1 << 24;
/// Most work groups of a dispatch.
pub const MAX_GROUPS: u64 = 1 << 24;
/// Most draws of a multi-draw.
pub const MAX_DRAWS: u32 = 1 << 20;

/// Amounts of what costs time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amounts {
    /// Vertices or indices, times instances.
    pub vertices: u64,
    /// Work groups of compute programs.
    pub groups: u64,
    /// Bytes copied and cleared.
    pub bytes: u64,
    /// Draws of multi-draws, with or without a vertex: somebody walks them.
    pub draws: u64,
}

/// What goes to the GPU at once: four of the largest draws or dispatches, 4 GB, four of the largest multi-draws.
pub const SHARE: Amounts =
    Amounts { vertices: 4 * MAX_VERTICES, groups: 4 * MAX_GROUPS, bytes: 1 << 32, draws: 4 * MAX_DRAWS as u64 };

/// What a guest's submission may ask for.
pub const SUBMISSION: Amounts = Amounts {
    vertices: 16 * SHARE.vertices,
    groups: 16 * SHARE.groups,
    bytes: 16 * SHARE.bytes,
    draws: 16 * SHARE.draws,
};

impl Amounts {
    /// Each of them.
    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            vertices: f(self.vertices, other.vertices),
            groups: f(self.groups, other.groups),
            bytes: f(self.bytes, other.bytes),
            draws: f(self.draws, other.draws),
        }
    }
}

/// Why a command is not recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Runaway {
    /// The draw alone.
    #[error("{0} vertices in one draw, where {MAX_VERTICES} is the most")]
    Vertices(u64),
    /// The dispatch alone.
    #[error("{0} work groups in one dispatch, where {MAX_GROUPS} is the most")]
    Groups(u64),
    /// The share is used up: it fits into the next one ([`Budget::next_share`]).
    #[error("more than goes to the GPU at once")]
    Share,
    /// The submission asks for too much in all.
    #[error("the submission asks for more than {SUBMISSION:?} in all")]
    Submission,
}

/// What a submission may still ask for.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Of the share that is being recorded.
    left: Amounts,
    /// Beyond it.
    rest: Amounts,
}

impl Default for Budget {
    fn default() -> Self {
        Self::of(SUBMISSION)
    }
}

fn take(left: &mut u64, rest: u64, amount: u64) -> Result<(), Runaway> {
    match left.checked_sub(amount) {
        Some(less) => {
            *left = less;
            Ok(())
        }
        None if *left + rest >= amount => Err(Runaway::Share),
        None => Err(Runaway::Submission),
    }
}

impl Budget {
    /// Of a submission that has so much left.
    pub fn of(all: Amounts) -> Self {
        let left = all.zip(SHARE, u64::min);
        Self { left, rest: all.zip(left, |all, left| all - left) }
    }

    /// What the submission has left.
    pub fn all(&self) -> Amounts {
        self.left.zip(self.rest, |left, rest| left + rest)
    }

    /// What was taken so far goes to the GPU; the next share begins.
    pub fn next_share(&mut self) {
        *self = Self::of(self.all());
    }

    /// Takes a draw of `count` vertices or indices, `instances` times.
    ///
    /// # Errors
    /// It is over the limit.
    #[inline]
    pub fn draw(&mut self, count: u32, instances: u32) -> Result<(), Runaway> {
        let vertices = u64::from(count) * u64::from(instances);
        if vertices > MAX_VERTICES {
            return Err(Runaway::Vertices(vertices));
        }
        take(&mut self.left.vertices, self.rest.vertices, vertices)
    }

    /// Takes a dispatch.
    ///
    /// # Errors
    /// It is over the limit.
    #[inline]
    pub fn dispatch(&mut self, groups: [u32; 3]) -> Result<(), Runaway> {
        let groups = groups.iter().fold(1u64, |product, &count| product.saturating_mul(count.into()));
        if groups > MAX_GROUPS {
            return Err(Runaway::Groups(groups));
        }
        take(&mut self.left.groups, self.rest.groups, groups)
    }

    /// Takes bytes that are copied or cleared. One command is always affordable by itself, as memory is what bounds it.
    ///
    /// # Errors
    /// It is over the limit.
    #[inline]
    pub fn bytes(&mut self, bytes: u64) -> Result<(), Runaway> {
        take(&mut self.left.bytes, self.rest.bytes, bytes.min(SHARE.bytes))
    }

    /// Takes the draws of a multi-draw, whatever they draw.
    ///
    /// # Errors
    /// It is over the limit.
    #[inline]
    pub fn draws(&mut self, draws: u32) -> Result<(), Runaway> {
        take(&mut self.left.draws, self.rest.draws, draws.min(MAX_DRAWS).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn b225_counts_of_garbage_are_over_the_limit() {
        let mut budget = Budget::default();
        assert_eq!(budget.draw(36, 1000), Ok(()));
        assert_eq!(budget.draw(u32::MAX, 1), Err(Runaway::Vertices(u32::MAX.into())));
        assert!(budget.draw(u32::MAX, u32::MAX).is_err());
        assert_eq!(budget.dispatch([0, u32::MAX, 1]), Ok(()));
        assert_eq!(budget.dispatch([u32::MAX; 3]), Err(Runaway::Groups(u64::MAX)));
        let (count, instances) = (1 << 12, 1 << 12);
        let draws = (0..100).filter(|_| budget.draw(count, instances).is_ok()).count();
        assert_eq!(draws, 3, "what was drawn before counts");
        assert_eq!(budget.draw(count, instances), Err(Runaway::Share));
        assert_eq!(budget.draw(3, 1), Ok(()), "a draw that is left out takes nothing");
    }

    #[test]
    fn b225_a_million_draws_of_a_hundred_vertices_are_all_drawn() {
        let (mut budget, mut shares) = (Budget::default(), 1);
        for _ in 0..1_000_000 {
            if budget.draw(100, 1) == Err(Runaway::Share) {
                budget.next_share();
                shares += 1;
                assert_eq!(budget.draw(100, 1), Ok(()));
            }
        }
        assert_eq!(shares, 2);
    }

    /// Of whatever is asked for, in whatever pieces of a submission.
    fn ask(budget: &mut Budget, kind: u8, amount: u32) -> Result<(), Runaway> {
        match kind {
            0 => budget.draw(amount % (MAX_VERTICES as u32 + 1), 1),
            1 => budget.dispatch([amount % (MAX_GROUPS as u32 + 1), 1, 1]),
            2 => budget.bytes(u64::from(amount) << 4),
            _ => budget.draws(amount),
        }
    }

    proptest! {
        #[test]
        fn b225_a_submission_is_bounded_and_its_shares_are(asked in prop::collection::vec((0u8..4, any::<u32>()), 0..400)) {
            let mut budget = Budget::default();
            for (kind, amount) in asked {
                if ask(&mut budget, kind, amount) == Err(Runaway::Share) {
                    let before = budget.all();
                    budget.next_share();
                    prop_assert_eq!(budget.all(), before, "nothing is won or lost");
                    prop_assert_eq!(ask(&mut budget, kind, amount), Ok(()), "fits into a fresh share");
                }
                let (all, left) = (budget.all(), budget.left);
                prop_assert_eq!(all.zip(SUBMISSION, u64::min), all);
                prop_assert_eq!(left.zip(SHARE, u64::min), left);
            }
        }
    }
}
