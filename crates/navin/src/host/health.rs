//! Whether the device can be gone on with: it is lost, or its memory ran out too often.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use navin_vulkan::vk;

/// So many submissions may fail for memory; the last of them ends everything (B644).
const MEMORY_FAILURES: u32 = 32;
/// From device loss to the process's end: long enough for a guest to see its waits fail and to say so, short
/// enough for whoever looks at a picture that stands still (B645: within a second or two).
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// The device's state.
#[derive(Default)]
pub(crate) struct Health {
    lost: AtomicBool,
    memory_failures: AtomicU32,
    /// Submissions that are to fail for memory, for tests.
    to_fail: AtomicU32,
    /// Command buffers that are to be refused, for tests.
    to_refuse: AtomicU32,
}

/// Why nothing runs any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Lost,
    OutOfMemory,
    /// A thread of the driver's own panicked.
    Broken(&'static str),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost => f.write_str("the Vulkan device is lost"),
            Self::Broken(thread) => {
                write!(f, "a mistake of Navin's: the thread {thread} panicked, and goes no further")
            }
            Self::OutOfMemory => {
                write!(f, "{MEMORY_FAILURES} submissions failed because the device's memory has run out: given up")
            }
        }
    }
}

impl Health {
    /// A submission failed. Answers, once, that this is the end.
    pub(crate) fn failed(&self, result: vk::Result) -> Option<End> {
        let end = match result {
            vk::Result::ERROR_DEVICE_LOST => End::Lost,
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
                let failures = self.memory_failures.fetch_add(1, Ordering::AcqRel) + 1;
                if failures < MEMORY_FAILURES {
                    return None;
                }
                End::OutOfMemory
            }
            _ => return None,
        };
        (!self.lost.swap(true, Ordering::AcqRel)).then_some(end)
    }

    /// A thread of the driver's panicked. Answers, once, that this is the end.
    pub(crate) fn broken(&self, thread: &'static str) -> Option<End> {
        (!self.lost.swap(true, Ordering::AcqRel)).then_some(End::Broken(thread))
    }

    /// Has the next `count` submissions fail for memory.
    pub(crate) fn fail_next(&self, count: u32) {
        self.to_fail.store(count, Ordering::Release);
    }

    /// Whether the submission that begins is to fail.
    pub(crate) fn fails(&self) -> bool {
        take(&self.to_fail)
    }

    /// Has the next `count` command buffers refused when they are submitted.
    pub(crate) fn refuse_next(&self, count: u32) {
        self.to_refuse.store(count, Ordering::Release);
    }

    /// Whether the command buffer that is submitted is to be refused.
    pub(crate) fn refuses(&self) -> bool {
        take(&self.to_refuse)
    }

    /// Whether nothing runs any more.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }
}

/// Takes one of those that are left.
fn take(left: &AtomicU32) -> bool {
    left.load(Ordering::Relaxed) > 0
        && left.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b644_the_thirty_second_failure_for_memory_is_the_last() {
        let health = Health::default();
        for _ in 0..31 {
            assert_eq!(health.failed(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY), None);
            assert!(!health.is_lost());
        }
        // Other failures are not counted.
        assert_eq!(health.failed(vk::Result::ERROR_FORMAT_NOT_SUPPORTED), None);
        let end = health.failed(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        assert_eq!(end, Some(End::OutOfMemory));
        assert!(health.is_lost());
        assert!(End::OutOfMemory.to_string().contains("memory"));
        assert_eq!(health.failed(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY), None, "told once");
    }

    #[test]
    fn b645_device_loss_is_the_end_at_once_and_told_once() {
        let health = Health::default();
        assert_eq!(health.failed(vk::Result::ERROR_DEVICE_LOST), Some(End::Lost));
        assert!(health.is_lost());
        assert_eq!(health.failed(vk::Result::ERROR_DEVICE_LOST), None);
        assert!(GRACE < Duration::from_secs(2));
    }
}
