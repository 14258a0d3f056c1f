//! What a queue is made of: the steps that the driver cuts a submission into.

use crate::ids::SyncId;

/// How an event wait compares the event's value with its own (B229).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitMode {
    /// `NVN_EVENT_WAIT_MODE_EQUAL` (0): the same value.
    Equal,
    /// `NVN_EVENT_WAIT_MODE_GEQUAL_WRAP` (1): at most 2^31 - 1 steps past the value, counted modulo 2^32.
    GequalWrap,
}

impl WaitMode {
    /// The mode that the guest names by `raw`, if there is one.
    pub fn from_raw(raw: u32) -> Option<Self> {
        match raw {
            0 => Some(Self::Equal),
            1 => Some(Self::GequalWrap),
            _ => None,
        }
    }

    /// Whether an event that holds `current` lets a wait for `target` pass.
    pub fn satisfied(self, current: u32, target: u32) -> bool {
        match self {
            Self::Equal => current == target,
            Self::GequalWrap => current.wrapping_sub(target) < 0x8000_0000,
        }
    }
}

/// One step of a queue. `W` is a piece of commands that the driver replays on its own, `P` a present.
///
/// Only what must wait or be waited for is a step of its own: event signals stay inside the work that records
/// them (B229).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<W, P> {
    /// Commands to replay.
    Work(W),
    /// The queue goes on once the fence that is the sync's newest *at submit* has been reached by its queue; at
    /// once when the sync was never fenced (B229).
    WaitSync(SyncId),
    /// Makes the sync's new target: everything before this step on the queue (B232).
    FenceSync(SyncId),
    /// The queue goes on once the 32-bit event at this GPU address satisfies the comparison (B229).
    WaitEvent {
        /// GPU address of the event's word.
        address: u64,
        /// The comparison.
        mode: WaitMode,
        /// What to compare with.
        value: u32,
    },
    /// Shows a picture, in its place among the queue's work.
    Present(P),
}

/// Which kind of step a queue stands at; for diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// Commands that wait for their turn.
    Work,
    /// A wait on a fence that its queue has not reached.
    WaitSync,
    /// A fence.
    FenceSync,
    /// A wait on an event.
    WaitEvent {
        /// GPU address of the event's word.
        address: u64,
        /// The comparison.
        mode: WaitMode,
        /// What is waited for.
        value: u32,
    },
    /// A present.
    Present,
}

#[cfg(test)]
mod tests {
    use super::WaitMode;

    #[test]
    fn b229_equal_is_exact() {
        assert!(WaitMode::Equal.satisfied(5, 5));
        assert!(!WaitMode::Equal.satisfied(6, 5));
        assert!(!WaitMode::Equal.satisfied(4, 5));
    }

    #[test]
    fn b229_gequal_wraps_at_two_to_the_31() {
        let passes = |current, target| WaitMode::GequalWrap.satisfied(current, target);
        assert!(passes(5, 5));
        assert!(passes(6, 5));
        assert!(!passes(4, 5));
        assert!(passes(2, 0xFFFF_FFFE), "4 steps past, over the wrap");
        assert!(!passes(0xFFFF_FFFE, 2));
        assert!(passes(0x8000_0004, 5), "2^31 - 1 steps past");
        assert!(!passes(0x8000_0005, 5), "2^31 steps is before");
    }

    #[test]
    fn wait_modes_from_the_guest() {
        assert_eq!(WaitMode::from_raw(0), Some(WaitMode::Equal));
        assert_eq!(WaitMode::from_raw(1), Some(WaitMode::GequalWrap));
        assert_eq!(WaitMode::from_raw(2), None);
        assert_eq!(WaitMode::from_raw(u32::MAX), None);
    }
}
