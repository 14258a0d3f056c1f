//! The records that Navin keeps in the storage of the guest's own objects.
//!
//! The guest allocates every NVN object itself and gives its address to the entry points of `navin`, which read
//! the record, change it and write it back through [`GuestPtr`](crate::GuestPtr): the guest's storage may have
//! any alignment, so no reference into it is ever made. What does not fit lives host-side, found by a serial.
//!
//! Rules of every record here:
//! - Its size is at most the smallest that any SDK gives the object (B101); asserted where it is defined.
//! - It has no padding bytes and every byte of it is written, so that equal values are equal bytes.
//! - Bytes that the guest's inlined SDK code writes have the place and the meaning the guest gives them
//!   (B102, B103).
//! - Live objects begin with a magic number, which Finalize clears: a freed or garbage object is recognised.
//!   State objects that NVN passes by value (`NVNblendState` and its like) have no room and need none: any bytes
//!   decode to something.
//! - Any enumerator may be a number that names nothing; whoever interprets one handles that.

mod buffer;
mod command_buffer;
mod descriptor_pool;
mod device;
mod event;
mod memory_pool;
mod program;
mod queue;
mod sampler;
pub mod state;
mod sync;
mod texture;
mod view;
mod window;

pub use buffer::{BufferBuilderRecord, BufferRecord};
pub use command_buffer::CommandBufferRecord;
pub use descriptor_pool::{SamplerPoolRecord, TexturePoolRecord};
pub use device::{DeviceBuilderRecord, DeviceRecord};
pub use event::{EventBuilderRecord, EventRecord};
pub use memory_pool::{MemoryPoolBuilderRecord, MemoryPoolRecord};
pub use program::ProgramRecord;
pub use queue::{QueueBuilderRecord, QueueMemory, QueueRecord};
pub use sampler::{BorderColor, BorderKind, SamplerBuilderRecord, SamplerDesc, SamplerRecord, SamplerState};
pub use sync::SyncRecord;
pub use texture::{TextureBuilderRecord, TextureDesc, TextureFields, TextureRecord};
pub use view::ViewDesc;
pub use window::{MAX_WINDOW_TEXTURES, WindowBuilderRecord, WindowRecord};

/// A record that says whether it is live.
pub trait Record: bytemuck::Pod {
    /// The NVN type whose storage holds the record, for fault lines.
    const NAME: &'static str;
    /// The word by which a live record is known.
    const MAGIC: u32;

    /// The word at the magic's place.
    fn magic(&self) -> u32;

    /// Whether the record was initialized and not finalized since.
    fn is_live(&self) -> bool {
        self.magic() == Self::MAGIC
    }
}

/// Makes a struct a [`Record`] whose magic is the field `magic`, and asserts its size against the guest's.
macro_rules! record {
    ($record:ident in $name:literal, magic $magic:literal, at most $size:ident) => {
        impl $crate::records::Record for $record {
            const NAME: &'static str = $name;
            const MAGIC: u32 = u32::from_le_bytes(*$magic);

            fn magic(&self) -> u32 {
                self.magic
            }
        }
        $crate::records::fits!($record in $size);
    };
}
use record;

/// Asserts at compile time that a record fits the smallest size that any SDK gives its object (B101).
macro_rules! fits {
    ($record:ident in $size:ident) => {
        const _: () =
            assert!(size_of::<$record>() <= $crate::sizes::$size, "the record outgrows the guest's object (B101)");
    };
}
use fits;
