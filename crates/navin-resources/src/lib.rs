//! Book-keeping of resources without a device: who has which number, who is gone, what may be released.
//!
//! What flows through: entry points (guest threads) take a [`Serial`] for every object from [`Serials`], enter it
//! into a [`SerialTable`] and register textures and samplers into a [`DescriptorSpace`]. Replay (submit thread)
//! resolves the serials of records through the tables, asks the descriptor space what an id is and, by its
//! [`ChangeLog`], which ids have changed, and gives each registration a slot from the [`SlotAllocator`]. What is
//! no longer needed waits in a [`DeferredRelease`] until the submissions that may use it have ended (completion
//! thread).
//!
//! The driver of this stage keeps textures and programs in maps of its own; [`SerialTable`] with its eviction (B201)
//! takes their place with the texture rules.
//!
//! Plain data structures with their invariants: the driver puts them behind its locks. Only [`Serials`] and
//! [`ChangeLog`] are shared as they are.

mod change_log;
mod deferred;
mod descriptor_space;
mod serial;
mod serial_table;
mod slots;

pub use change_log::{Change, ChangeLog, Since};
pub use deferred::DeferredRelease;
pub use descriptor_space::{
    DescriptorKind, DescriptorPool, DescriptorPoolId, DescriptorSpace, Lookup, RegisterError, Registered,
    SamplerRegistration, SpaceError, TextureRegistration,
};
pub use serial::{Serial, Serials};
pub use serial_table::{Limits, Moment, SerialTable, State};
pub use slots::{EMPTY_SLOT, Slot, SlotAllocator};
