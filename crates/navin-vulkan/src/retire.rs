//! Deferred destruction: why any Vulkan object of this crate may be dropped at any time.
//!
//! A dropped object's handles go into a queue, stamped with the number of encoders begun so far. Whatever was
//! recorded with the handles was recorded by one of these encoders, so the handles are destroyed once all of
//! them have completed (or were thrown away). No submission keeps a list of what it uses, so a draw pays nothing
//! for lifetimes, and finished work keeps nothing alive (B124); nothing is parked on the dropping thread (B125).
//!
//! Nothing waits for a further submission (B650, B651): the timeline is asked whenever something is taken, which any
//! thread may do, and a dropped pool does it itself. What a submission in flight holds back goes when whoever waits
//! for that submission (the completion thread) collects.

use std::collections::{BTreeMap, VecDeque};

use ash::vk;
use gpu_allocator::vulkan::Allocation;
use parking_lot::Mutex;

use crate::import::PoolMemory;
use crate::pages::SplitSlot;

/// Handles whose owner is gone.
pub(crate) enum Garbage {
    Buffer(vk::Buffer, Option<Allocation>),
    /// A pool's buffer, its memory, and the bytes of that.
    Pool(vk::Buffer, PoolMemory, u64),
    Image(vk::Image, Vec<vk::ImageView>, Option<Allocation>),
    BufferView(vk::BufferView),
    Sampler(vk::Sampler),
    Shader(vk::ShaderEXT),
    QueryPool(vk::QueryPool),
    /// A split table of the page table.
    Split(SplitSlot),
}

/// An encoder that is recorded, and was not submitted yet.
const OPEN: u64 = u64::MAX;

#[derive(Default)]
struct State {
    /// Encoders begun so far; each one's number is the count before it.
    begun: u64,
    /// The encoders that are open or in flight: by number, the timeline value they complete with ([`OPEN`]: not
    /// submitted).
    live: BTreeMap<u64, u64>,
    /// Oldest first; stamps ascend.
    garbage: VecDeque<(u64, Garbage)>,
}

/// The queue of dropped handles.
#[derive(Default)]
pub(crate) struct Retire(Mutex<State>);

impl Retire {
    /// Numbers a new encoder.
    pub(crate) fn begin(&self) -> u64 {
        let mut state = self.0.lock();
        let number = state.begun;
        state.begun += 1;
        state.live.insert(number, OPEN);
        number
    }

    /// An encoder was submitted, and is complete when the timeline reaches `value`.
    pub(crate) fn submitted(&self, number: u64, value: u64) {
        if let Some(open) = self.0.lock().live.get_mut(&number) {
            *open = value;
        }
    }

    /// An encoder's work is complete, or was never submitted.
    pub(crate) fn end(&self, number: u64) {
        self.0.lock().live.remove(&number);
    }

    pub(crate) fn push(&self, garbage: Garbage) {
        let mut state = self.0.lock();
        let stamp = state.begun;
        state.garbage.push_back((stamp, garbage));
    }

    /// Takes what no live encoder can be using, the timeline being at `completed`.
    pub(crate) fn take(&self, completed: u64) -> Vec<Garbage> {
        let mut state = self.0.lock();
        while let Some((&number, &value)) = state.live.first_key_value()
            && value <= completed
        {
            state.live.remove(&number);
        }
        // Encoders may be submitted in another order than begun: the oldest that is left holds back.
        let oldest = state.live.iter().find(|(_, value)| **value > completed).map_or(u64::MAX, |(number, _)| *number);
        let ready = state.garbage.iter().take_while(|(stamp, _)| *stamp <= oldest).count();
        state.garbage.drain(..ready).map(|(_, garbage)| garbage).collect()
    }

    /// Whether nothing waits. A hint: another thread may push.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().garbage.is_empty()
    }

    /// Takes everything; only when the device is idle and nothing is recorded any more.
    pub(crate) fn take_all(&self) -> Vec<Garbage> {
        self.0.lock().garbage.drain(..).map(|(_, garbage)| garbage).collect()
    }

    /// Handles waiting for work to complete.
    pub(crate) fn waiting(&self) -> usize {
        self.0.lock().garbage.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampler() -> Garbage {
        Garbage::Sampler(vk::Sampler::null())
    }

    #[test]
    fn b124_garbage_waits_for_every_encoder_begun_before_the_drop_and_for_none_after() {
        let retire = Retire::default();
        let first = retire.begin();
        let second = retire.begin();
        retire.push(sampler());
        let third = retire.begin();
        retire.push(sampler());
        assert_eq!(retire.take(0).len(), 0, "first and second may use it");
        retire.end(second);
        assert_eq!(retire.take(0).len(), 0, "encoders complete in any order: first still may");
        retire.end(first);
        assert_eq!(retire.take(0).len(), 1, "third began after the first drop");
        assert_eq!(retire.waiting(), 1);
        retire.end(third);
        assert_eq!(retire.take(0).len(), 1);
        retire.push(sampler());
        assert_eq!(retire.take(0).len(), 1, "with no encoder alive nothing waits");
    }

    #[test]
    fn b651_the_timeline_alone_frees_what_a_submission_held() {
        let retire = Retire::default();
        let first = retire.begin();
        let second = retire.begin();
        retire.push(sampler());
        // Submitted in the other order than begun.
        retire.submitted(second, 1);
        retire.submitted(first, 2);
        assert_eq!(retire.take(0).len(), 0);
        assert_eq!(retire.take(1).len(), 0, "first is in flight");
        assert_eq!(retire.take(2).len(), 1, "nobody called `end`, nothing was submitted since");
        // A late notice does no harm.
        retire.end(first);
        retire.end(second);
        retire.push(sampler());
        assert_eq!(retire.take(2).len(), 1);
    }
}
