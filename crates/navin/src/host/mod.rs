//! The host side of NVN's objects: what the records in guest memory lead to.
//!
//! The entry points call the functions of these modules with numbers out of the objects' records; everything
//! answers NVN's failure value while no device is open. The replay uses the tables behind them directly.

pub(crate) mod completion;
pub(crate) mod descriptors;
pub(crate) mod device;
pub(crate) mod display;
pub(crate) mod events;
pub(crate) mod health;
pub(crate) mod pools;
pub(crate) mod programs;
pub(crate) mod queues;
mod requirements;
pub(crate) mod syncs;
pub(crate) mod textures;
pub(crate) mod windows;
