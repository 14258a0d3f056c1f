//! The NVN driver: entry points, objects, submission, replay on Vulkan, present.

pub mod config;
pub mod sink;
pub mod status;
