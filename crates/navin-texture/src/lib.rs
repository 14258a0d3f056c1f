//! What a texture's bytes mean: formats, layouts, the block-linear order, image files.
//!
//! Pure: no device is opened here. What flows through:
//!
//! - [`mod@format`]: the driver asks what an NVN format is (bytes a block, Vulkan format, what must be emulated).
//! - [`layout`]: the texture builder asks how large a texture is and where each level lies; replay and the content
//!   rules ask the same layout, so that there is one answer.
//! - [`swizzle`]: CPU reads and writes of textures copy between rows and the GPU's block-linear order.
//! - [`codec`]: texels as colours: decoders for every format, encoders for the uncompressed ones.
//! - [`container`]: texture files (BNTX, XTX, DDS, KTX2, PNG, EXR) for the command line and other tools.
//! - [`image`]: the present sink writes PNG files, end-to-end tests compare pictures.

pub mod codec;
pub mod container;
pub mod format;
#[doc(hidden)]
pub mod fuzz;
pub mod image;
pub mod layout;
pub mod swizzle;

pub use container::{Kind, Texture};
pub use format::{Class, Emulation, Format, FormatInfo, Uses};
pub use layout::{Layout, LayoutError, LayoutInput, LevelLayout, PackagedLayout, Storage, Target, TextureFlags};
pub use swizzle::{GobOrder, Pitch, Region, SwizzleError, pick, tile, untile};
