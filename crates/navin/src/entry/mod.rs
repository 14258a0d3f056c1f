//! Entry points: one C function for each name of NVN, called by the guest through [`table`].
//!
//! A module an object: it reads the object's record out of guest memory ([`object`]), checks it, and answers from
//! it or calls the [host](crate::host). Setters and getters touch nothing but the record. Recording is in
//! [`command_buffer`]. Nothing here panics or trusts an argument: a null, finalized or garbage object gives NVN's
//! failure answer and one fault line.
#![allow(non_snake_case)]

mod buffer;
pub(crate) mod command_buffer;
mod debug_callback;
mod descriptor_pools;
pub mod device;
mod event;
mod label;
mod loader;
mod memory_pool;
pub(crate) mod object;
mod program;
mod queue;
mod queue_builder;
mod sampler;
mod stack;
mod state;
mod sync;
pub mod table;
#[cfg(test)]
mod tests;
mod texture;
mod texture_builder;
mod texture_view;
mod window;

use navin_abi::FunctionId;

/// What each module implements; [`table`] lays them over the entries that only report themselves.
pub(crate) const LISTS: &[&[(FunctionId, table::EntryPoint)]] = &[
    buffer::ENTRIES,
    command_buffer::ENTRIES,
    descriptor_pools::ENTRIES,
    device::ENTRIES,
    event::ENTRIES,
    loader::ENTRIES,
    memory_pool::ENTRIES,
    program::ENTRIES,
    queue::ENTRIES,
    queue_builder::ENTRIES,
    sampler::ENTRIES,
    state::blend::ENTRIES,
    state::color::ENTRIES,
    state::depth_stencil::ENTRIES,
    state::multisample::ENTRIES,
    state::polygon::ENTRIES,
    state::vertex::ENTRIES,
    sync::ENTRIES,
    texture::ENTRIES,
    texture_builder::ENTRIES,
    texture_view::ENTRIES,
    window::ENTRIES,
];
