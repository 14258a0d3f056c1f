//! The NVN driver.
//!
//! A guest's call enters at [`entry`]: a C function for each name of NVN. Entry points of objects keep a record
//! in the object's own storage and everything else in [`host`]; recording calls write records into the guest's
//! command memory and touch nothing else. Submissions go through the scheduler to [`replay`], which turns records
//! into Vulkan commands on the submit thread. [`driver`] owns the threads and the tables.
//!
//! # Lock order
//!
//! 1. the completion lock (`navin_sync::Completions`): held from taking what finished work has to write to the end
//!    of the writes (B301); under it only those of 4 and 5;
//! 2. the scheduler's own lock (`navin-sync`): held for state changes only, never while replaying or waiting;
//! 3. a texture's content (`host::textures::Texture::content`): submit thread;
//! 4. a virtual pool's state, then the page table of raw pointers (`host::pools`), then the lock of
//!    `navin_memory::VirtualPool`: held while a mapping is planned and carried out, or pools are published; under them
//!    those of 5 are taken, and the kernel is asked for mappings;
//! 5. the tables of [`host`] (pools, textures, descriptors, programs, windows) and what `navin-memory` and
//!    `navin-vulkan` lock themselves: leaves, held for a lookup or a change; none is taken while another is held.
//!
//! No lock is held across a guest callback or a wait.

pub mod config;
mod crash;
mod driver;
pub mod entry;
mod histogram;
#[doc(hidden)]
pub mod hooks;
mod host;
pub mod lifecycle;
mod replay;
pub mod sink;
pub mod status;

pub use navin_memory::alloc;

/// Everything that the driver counts, as its status lines give it (see [`status`]); `None` before a device is open.
/// Looking makes nothing and changes nothing (B652).
pub fn counters() -> Option<serde_json::Value> {
    driver::get().map(driver::Driver::counters_json)
}

/// With what the guest's writes into memory pools are noticed under these settings, and why with that.
pub fn write_tracking(config: &config::Config) -> (&'static str, String) {
    let tracking = host::pools::tracking::Tracking::new(config);
    let selection = tracking.selection();
    (selection.mechanism.name(), selection.reason.clone())
}
