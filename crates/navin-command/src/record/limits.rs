//! The most that one command, and one piece of a submission, may ask of the GPU.
//!
//! Guests' command memory can hold anything (B225), and a draw of four thousand million vertices is a valid record:
//! on the console it ends in a GPU timeout. Replay asks the [`Budget`] before each draw and dispatch, and leaves out
//! what is over it with a fault line. The limits are far above what the console's GPU does in a second.

/// Most vertices of a draw, times its instances. The console's GPU takes more than a frame's time for as many.
pub const MAX_VERTICES: u64 = 1 << 24;
/// Most work groups of a dispatch.
pub const MAX_GROUPS: u64 = 1 << 24;
/// Most draws of a multi-draw.
pub const MAX_DRAWS: u32 = 1 << 20;
/// How many of the largest draws or dispatches a piece may have.
const LARGEST: u64 = 4;

/// Why a draw or dispatch is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Runaway {
    /// The draw alone.
    #[error("{0} vertices in one draw, where {MAX_VERTICES} is the most")]
    Vertices(u64),
    /// The dispatch alone.
    #[error("{0} work groups in one dispatch, where {MAX_GROUPS} is the most")]
    Groups(u64),
    /// All of them together.
    #[error("more vertices or work groups than {LARGEST} of the largest draws or dispatches have in one piece")]
    Piece,
}

/// What a piece of a submission may still ask for.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    vertices: u64,
    groups: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { vertices: LARGEST * MAX_VERTICES, groups: LARGEST * MAX_GROUPS }
    }
}

impl Budget {
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
        self.vertices = self.vertices.checked_sub(vertices).ok_or(Runaway::Piece)?;
        Ok(())
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
        self.groups = self.groups.checked_sub(groups).ok_or(Runaway::Piece)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b225_counts_of_garbage_are_over_the_limit() {
        let mut budget = Budget::default();
        assert_eq!(budget.draw(36, 1000), Ok(()));
        assert_eq!(budget.draw(u32::MAX, 1), Err(Runaway::Vertices(u32::MAX.into())));
        assert!(budget.draw(u32::MAX, u32::MAX).is_err());
        assert_eq!(budget.dispatch([0, u32::MAX, 1]), Ok(()));
        assert_eq!(budget.dispatch([u32::MAX; 3]), Err(Runaway::Groups(u64::MAX)));
        let (count, instances) = (1 << 12, 1 << 12);
        let draws = (0..100).filter(|_| budget.draw(count, instances).is_ok()).count() as u64;
        assert_eq!(draws, LARGEST - 1, "what was drawn before counts");
        assert_eq!(budget.draw(count, instances), Err(Runaway::Piece));
        assert_eq!(budget.draw(3, 1), Ok(()), "a draw that is left out takes nothing");
    }
}
