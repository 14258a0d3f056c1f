//! The Vulkan side: device, imported memory, images, shader objects, descriptor tables, encoder.
