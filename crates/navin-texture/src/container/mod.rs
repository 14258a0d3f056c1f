//! Texture files: BNTX, XTX, DDS, KTX2, PNG, EXR.
//!
//! What flows through: a file's bytes become [`Texture`]s, whose data is packed (rows without padding, layer after
//! layer, level after level), and the reverse. Block-linear files (BNTX, XTX) are untiled and tiled on the way by
//! [`crate::swizzle`] with the layout of [`crate::layout`]; which console generation's GOB order they are in, no file
//! says, so the caller does. Callers are the command line's `navin texture` and tools that link the library.
//!
//! Files come from anywhere. Readers never panic, never allocate more than the file can hold (compressed data: more
//! than deflate can make of it), and name the offset of what is wrong and what was expected.

mod bntx;
mod bntx_format;
mod bytes;
mod dds;
mod dxgi;
mod exr;
mod ktx2;
mod ktx2_dfd;
mod png;
mod texture;
mod verify;
mod xtx;

use thiserror::Error;

use crate::swizzle::GobOrder;
pub use texture::{Curve, Source, Surface, Texture, TextureError};
pub use verify::{losses, verify};

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{what}", .offset.map(|at| format!("at offset {at:#x}: ")).unwrap_or_default())]
pub struct FileError {
    /// Bytes from the start of the file, where one place is to blame.
    pub offset: Option<u64>,
    /// What was found and what was expected.
    pub what: String,
}

impl FileError {
    pub(crate) fn at(offset: u64, what: impl Into<String>) -> Self {
        Self { offset: Some(offset), what: what.into() }
    }

    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { offset: None, what: what.into() }
    }
}

/// Why a file of some kind cannot hold a texture.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct WriteError(pub String);

/// Kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The platform's archive of textures, block-linear.
    Bntx,
    /// The texture file of the platform's converters, block-linear.
    Xtx,
    /// DirectDraw surface, with or without the DX10 header.
    Dds,
    /// Khronos texture, version 2.
    Ktx2,
    /// One picture of 8 or 16 bits a component.
    Png,
    /// One picture of half or single floats.
    Exr,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 6] = [Self::Bntx, Self::Xtx, Self::Dds, Self::Ktx2, Self::Png, Self::Exr];

    /// File name extension, lower case.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Bntx => "bntx",
            Self::Xtx => "xtx",
            Self::Dds => "dds",
            Self::Ktx2 => "ktx2",
            Self::Png => "png",
            Self::Exr => "exr",
        }
    }

    /// The kind of an extension, in either case.
    pub fn from_extension(extension: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.extension().eq_ignore_ascii_case(extension))
    }

    /// The bytes that every file of the kind begins with.
    pub const fn magic(self) -> &'static [u8] {
        match self {
            Self::Bntx => b"BNTX",
            Self::Xtx => xtx::MAGIC,
            Self::Dds => b"DDS ",
            Self::Ktx2 => &ktx2::MAGIC,
            Self::Png => b"\x89PNG\r\n\x1a\n",
            Self::Exr => &exr::MAGIC,
        }
    }

    /// The kind that a file's first bytes say.
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| bytes.starts_with(kind.magic()))
    }

    /// Whether the file holds a single surface: one layer, one level.
    pub const fn is_picture(self) -> bool {
        matches!(self, Self::Png | Self::Exr)
    }
}

/// Reads a file of any kind, told by its first bytes. `order` is that of block-linear files; the others ignore it.
/// Kinds without names give their texture an empty one.
///
/// # Errors
/// If the bytes are no such file, with the offset of what is wrong.
pub fn read(bytes: &[u8], order: GobOrder) -> Result<Vec<Texture>, FileError> {
    let one = |texture: Result<Texture, FileError>| texture.map(|texture| vec![texture]);
    match Kind::detect(bytes) {
        Some(Kind::Bntx) => bntx::read(bytes, order),
        Some(Kind::Xtx) => xtx::read(bytes, order),
        Some(Kind::Dds) => one(dds::read(bytes)),
        Some(Kind::Ktx2) => one(ktx2::read(bytes)),
        Some(Kind::Png) => one(png::read(bytes)),
        Some(Kind::Exr) => one(exr::read(bytes)),
        None => Err(FileError::at(
            0,
            format!(
                "the file begins with {:02x?}, which is none of BNTX, XTX, DDS, KTX2, PNG, EXR",
                &bytes[..bytes.len().min(8)]
            ),
        )),
    }
}

/// Makes a file of some kind. `name` is the file's own name where the kind has one (BNTX). Only BNTX and XTX hold
/// several textures.
///
/// # Errors
/// If the kind cannot hold what it is given, and why.
pub fn write(kind: Kind, textures: &[Texture], name: &str, order: GobOrder) -> Result<Vec<u8>, WriteError> {
    for texture in textures {
        texture.check().map_err(|e| WriteError(format!("texture {:?}: {e}", texture.name)))?;
    }
    let one = || match textures {
        [texture] => Ok(texture),
        _ => Err(WriteError(format!("{} holds one texture, not {}", kind.extension(), textures.len()))),
    };
    match kind {
        Kind::Bntx => bntx::write(textures, name, order),
        Kind::Xtx => xtx::write(textures, order),
        Kind::Dds => dds::write(one()?),
        Kind::Ktx2 => ktx2::write(one()?),
        Kind::Png => png::write(one()?),
        Kind::Exr => exr::write(one()?),
    }
}

#[cfg(test)]
mod tests;
