//! The queue.
use crate::encoder::Encoder;
use ash::vk;
use std::time::Duration;

/// Why work could not be recorded or submitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// A Vulkan call failed; `DEVICE_LOST` is final.
    #[error("{0}")]
    Vulkan(#[from] vk::Result),
    /// A validation message came, and the context was opened to fail on one.
    #[error("validation: {0}")]
    Validation(String),
}

/// The device's queue with its timeline: submission n is complete when the timeline reaches n.
pub struct Queue {}

impl Queue {
    /// Begins the command buffer of a submission, with default state.
    pub fn begin(&self) -> Result<Encoder, QueueError> {
        unimplemented!()
    }
    /// Submits it; the value is complete when everything before and in it is.
    pub fn submit(&self, encoder: Encoder) -> Result<u64, QueueError> {
        let _ = encoder;
        unimplemented!()
    }
    /// The last submitted value, 0 before the first.
    pub fn submitted(&self) -> u64 {
        unimplemented!()
    }
    /// The last value that is complete; cheap.
    pub fn completed(&self) -> u64 {
        unimplemented!()
    }
    /// Waits for a value; false when the time ran out.
    pub fn wait(&self, value: u64, timeout: Duration) -> Result<bool, QueueError> {
        let _ = (value, timeout);
        unimplemented!()
    }
    /// Waits for everything submitted, and destroys what was waiting for it.
    pub fn wait_idle(&self) -> Result<(), QueueError> {
        unimplemented!()
    }
    /// Destroys and recycles what finished work was keeping; called at each submission too.
    pub fn collect(&self) {
        unimplemented!()
    }
}
