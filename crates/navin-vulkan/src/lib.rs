//! The Vulkan side: device, imported memory, images, shader objects, descriptor tables, encoder.
#![warn(missing_docs)]

pub mod context;
pub mod encoder;
pub mod features;
pub mod image;
pub mod import;
pub mod memory;
pub mod query;
pub mod queue;
pub mod readback;
pub mod report;
pub mod retire;
pub mod sampler;
pub mod shader;
pub mod tables;
pub mod transient;

pub use ash::vk;

pub use context::{Context, DeviceChoice, Limits, OpenError, OpenOptions, Validation};
pub use encoder::{
    Access, Attachment, Blend, BlendAttachment, BufferRange, Depth, DepthBias, DrawError, Encoder, EncoderCounters,
    IndexBuffer, InputAssembly, Multisample, Rasterization, Scissor, Stencil, StencilFace, Targets, VertexAttribute,
    VertexBinding, VertexInput, Viewport,
};
pub use features::Features;
pub use image::{Image, ImageDesc, ImageError, View, ViewDesc};
pub use import::{ImportError, ImportedBuffer};
pub use memory::{Buffer, MemoryError, MemoryKind, TexelView};
pub use query::QueryPool;
pub use queue::{Queue, QueueError};
pub use readback::Readback;
pub use report::Report;
pub use sampler::{Sampler, SamplerDesc};
pub use shader::{InputClass, Interface, Shader, ShaderDesc, ShaderError, Stage};
pub use tables::{Tables, ViewKind};
pub use transient::{TransientRing, TransientSlice};
