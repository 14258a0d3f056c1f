//! `NVNvertexAttribState` and `NVNvertexStreamState`: where a vertex attribute is read.

use crate::enums::NVNformat;

use super::packed;

packed! {
    /// `NVNvertexAttribState`, 4 bytes.
    pub struct VertexAttribState(u32) {
        /// `NVNformat`; NONE is an attribute that is not read.
        format, set_format: NVNformat, 0, 8;
        /// The vertex stream, 0 to 31.
        stream, set_stream: i32, 8, 5;
        /// Bytes from the vertex's start in its stream to the attribute.
        offset, set_offset: i32, 13, 19;
    }
}

super::super::fits!(VertexAttribState in MIN_NVNVERTEXATTRIBSTATE);

impl VertexAttribState {
    /// No format, stream 0, offset 0.
    pub const DEFAULT: Self = Self::from_bits(0);
}

/// `NVNvertexStreamState`, 8 bytes.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub struct VertexStreamState {
    /// Bytes from one vertex to the next.
    pub stride: u32,
    /// 0: a vertex's own; N: one element for N instances.
    pub divisor: i32,
}

super::super::fits!(VertexStreamState in MIN_NVNVERTEXSTREAMSTATE);

impl VertexStreamState {
    /// Stride 0, a vertex's own.
    pub const DEFAULT: Self = Self { stride: 0, divisor: 0 };
}
