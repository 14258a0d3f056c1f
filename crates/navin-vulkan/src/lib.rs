//! The Vulkan side: device, imported memory, images, shader objects, descriptor tables, encoder.
//!
//! `navin` hands this crate Vulkan terms, already translated from NVN's, and it does what Vulkan wants done around
//! them. The way of a draw:
//!
//! - [`Context::open`] finds a device with shader objects and switches on what Navin uses ([`features`]);
//! - pools' storage comes in through [`PoolBuffer`], textures become [`Image`]s with cached [`View`]s, programs
//!   become one [`Shader`] a stage;
//! - [`Tables`] holds every texture, sampler and storage image at its slot, in one set bound once;
//! - an [`Encoder`] records a submission: it compares every piece of state with what the command buffer has and
//!   sets only what changed, opens rendering scopes late and closes them when a copy or barrier comes between;
//! - [`Queue::submit`] gives a timeline value; whatever was dropped meanwhile is destroyed after it ([`retire`]).
//!
//! The tricks, and where they are told: one pipeline layout for everything (`layout`), one image layout for
//! everything ([`image`]), update-after-bind tables with null descriptors ([`tables`]), deferred destruction without
//! lists of used objects ([`retire`]), clears folded into load operations (`encoder::clear`).

pub mod clock;
pub mod context;
pub mod encoder;
pub mod features;
pub mod format;
mod frame;
mod gpu;
pub mod image;
pub mod import;
mod layout;
pub mod memory;
mod pages;
mod prologue;
pub mod query;
pub mod queue;
pub mod readback;
pub mod report;
pub mod retire;
pub mod sampler;
pub mod shader;
pub mod tables;
pub mod tiling;
pub mod transient;
mod validation;

pub use ash::vk;

pub use context::{Context, DeviceChoice, Limits, OpenError, OpenOptions, Validation};
pub use encoder::{
    Access, AdvancedBlend, Attachment, Blend, BlendAttachment, BufferRange, Counter, CounterMemory, Counting, Depth,
    DepthBias, DrawError, Encoder, EncoderCounters, IndexBuffer, InputAssembly, Multisample, Rasterization, Scissor,
    Stencil, StencilFace, Targets, VertexAttribute, VertexBinding, VertexInput, Viewport,
};
pub use features::Features;
pub use format::format_aspects;
pub use gpu::PoolCounts;
pub use image::{Image, ImageDesc, ImageError, View, ViewDesc};
pub use import::probe::{ImportProbe, Outcome as ProbeOutcome, ProtectionProbe};
#[doc(hidden)]
pub use import::refuse_imports;
pub use import::{
    Backing, CHUNK_STRIDE, CHUNKED_FROM, ChunkedImport, DeviceLocalChoice, ImportChoice, ImportError, PoolAccess,
    PoolBuffer, PoolStorage, Refusals, StorageKind, UNKNOWN_LENGTH, WriteBack,
};
pub use layout::{CONSTANT_BANKS, STORAGE_SLOTS};
pub use memory::{Buffer, MemoryError, MemoryKind, TexelView};
pub use query::QueryPool;
pub use queue::{Queue, QueueError};
pub use readback::Readback;
pub use report::Report;
pub use sampler::{Sampler, SamplerDesc};
pub use shader::{InputClass, Interface, Shader, ShaderDesc, ShaderError, Stage};
pub use tables::{Tables, ViewKind};
pub use tiling::TilingError;
pub use transient::TransientSlice;

// The context is shared by guest, submit and completion threads; an encoder moves to the submit thread.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    const fn moves<T: Send>() {}
    shared::<Context>();
    shared::<Queue>();
    shared::<Tables>();
    shared::<Image>();
    shared::<Shader>();
    shared::<PoolBuffer>();
    shared::<ChunkedImport>();
    moves::<WriteBack>();
    moves::<Encoder>();
    moves::<Readback>();
};
