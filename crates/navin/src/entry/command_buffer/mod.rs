//! `nvnCommandBuffer*`: recording.
//!
//! An entry point decodes the guest's arguments and writes one record ([`navin_command::record`]) at the guest's
//! cursor. It takes no lock, calls no Vulkan and uses little stack (B422): these are the frequent calls. Objects
//! are named in records by the serials in their own records, so the guest may reuse their memory at once. An
//! argument that is out of its range, and a null pointer where NVN wants an object, is one fault line, and
//! nothing is recorded.

mod args;
mod bind;
mod clear;
mod copy;
mod debug;
mod draw;
mod dynamic;
mod memory;
mod state;
mod sync;
#[cfg(test)]
mod tests;

use navin_abi::FunctionId;

use super::table::EntryPoint;
use crate::host::queues::COMMANDS as HOST;

const LISTS: [&[(FunctionId, EntryPoint)]; 9] = [
    bind::ENTRIES,
    clear::ENTRIES,
    copy::ENTRIES,
    debug::ENTRIES,
    draw::ENTRIES,
    dynamic::ENTRIES,
    memory::ENTRIES,
    state::ENTRIES,
    sync::ENTRIES,
];

const COUNT: usize = {
    let (mut list, mut count) = (0, 0);
    while list < LISTS.len() {
        count += LISTS[list].len();
        list += 1;
    }
    count
};

/// What the submodules implement, for the entry table.
pub(crate) const ENTRIES: &[(FunctionId, EntryPoint)] = &{
    let mut all = [bind::ENTRIES[0]; COUNT];
    let (mut list, mut at) = (0, 0);
    while list < LISTS.len() {
        let mut index = 0;
        while index < LISTS[list].len() {
            all[at] = LISTS[list][index];
            (at, index) = (at + 1, index + 1);
        }
        list += 1;
    }
    all
};
