//! Deferred destruction: why any Vulkan object of this crate may be dropped at any time.
//!
//! A dropped object's handles go into a queue, stamped with the number of encoders begun so far. Whatever was
//! recorded with the handles was recorded by one of these encoders, so the handles are destroyed once all of
//! them have completed (or were thrown away). No submission keeps a list of what it uses, so a draw pays nothing
//! for lifetimes, and finished work keeps nothing alive (B124); nothing is parked on the dropping thread (B125).

use std::collections::{BTreeSet, VecDeque};

use ash::vk;
use gpu_allocator::vulkan::Allocation;
use parking_lot::Mutex;

/// Handles whose owner is gone.
pub(crate) enum Garbage {
    Buffer(vk::Buffer, Option<Allocation>),
    /// A buffer over imported memory, with the memory.
    Import(vk::Buffer, vk::DeviceMemory),
    Image(vk::Image, Vec<vk::ImageView>, Option<Allocation>),
    BufferView(vk::BufferView),
    Sampler(vk::Sampler),
    Shader(vk::ShaderEXT),
    QueryPool(vk::QueryPool),
}

#[derive(Default)]
struct State {
    /// Encoders begun so far; each one's number is the count before it.
    begun: u64,
    /// Numbers of the encoders that are open or in flight.
    live: BTreeSet<u64>,
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
        state.live.insert(number);
        number
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

    /// Takes what no live encoder can be using.
    pub(crate) fn take(&self) -> Vec<Garbage> {
        let mut state = self.0.lock();
        let oldest = state.live.first().copied().unwrap_or(u64::MAX);
        let ready = state.garbage.iter().take_while(|(stamp, _)| *stamp <= oldest).count();
        state.garbage.drain(..ready).map(|(_, garbage)| garbage).collect()
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
        assert_eq!(retire.take().len(), 0, "first and second may use it");
        retire.end(second);
        assert_eq!(retire.take().len(), 0, "encoders complete in any order: first still may");
        retire.end(first);
        assert_eq!(retire.take().len(), 1, "third began after the first drop");
        assert_eq!(retire.waiting(), 1);
        retire.end(third);
        assert_eq!(retire.take().len(), 1);
        retire.push(sampler());
        assert_eq!(retire.take().len(), 1, "with no encoder alive nothing waits");
    }
}
