//! The NVN driver: entry points, objects, submission, replay on Vulkan, present.
