//! Book-keeping without a device: serials, texture and sampler pools.
