//! The fixed parts and elements of records: plain 4-byte aligned data, every bit pattern of which is a value.

use super::U64;
use bytemuck::{Pod, Zeroable};
use navin_abi::records::ViewDesc;

macro_rules! payload {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy, PartialEq, Debug, Default, Pod, Zeroable)]
            pub struct $name {
                $($(#[$field_doc])* pub $field: $type,)*
            }
        )*
    };
}

payload! {
    /// Vertices `first` to `first + count`.
    DrawArrays {
        /// First vertex.
        first: u32,
        /// Vertices.
        count: u32,
    }
    /// Vertices of several instances.
    DrawArraysInstanced {
        /// First vertex.
        first: u32,
        /// Vertices.
        count: u32,
        /// First instance.
        base_instance: u32,
        /// Instances.
        instance_count: u32,
    }
    /// Indices.
    DrawElements {
        /// Indices.
        count: u32,
        /// GPU address of the first index.
        index_buffer: U64,
    }
    /// Indices with a base.
    DrawElementsBaseVertex {
        /// Indices.
        count: u32,
        /// GPU address of the first index.
        index_buffer: U64,
        /// Added to each index.
        base_vertex: i32,
    }
    /// Indices of several instances.
    DrawElementsInstanced {
        /// Indices.
        count: u32,
        /// GPU address of the first index.
        index_buffer: U64,
        /// Added to each index.
        base_vertex: i32,
        /// First instance.
        base_instance: u32,
        /// Instances.
        instance_count: u32,
    }
    /// Where an array draw's arguments are.
    DrawArraysIndirect {
        /// GPU address of the arguments.
        indirect: U64,
    }
    /// Where an indexed draw's arguments are.
    DrawElementsIndirect {
        /// GPU address of index 0.
        index_buffer: U64,
        /// GPU address of the arguments.
        indirect: U64,
    }
    /// Array draws, as many as a buffer says.
    MultiDrawArrays {
        /// GPU address of the first draw's arguments.
        indirect: U64,
        /// GPU address of the 32-bit number of draws.
        count: U64,
        /// Most draws.
        max_draws: u32,
        /// Bytes from one draw's arguments to the next.
        stride: i32,
    }
    /// Indexed draws, as many as a buffer says.
    MultiDrawElements {
        /// GPU address of index 0.
        index_buffer: U64,
        /// GPU address of the first draw's arguments.
        indirect: U64,
        /// GPU address of the 32-bit number of draws.
        count: U64,
        /// Most draws.
        max_draws: u32,
        /// Bytes from one draw's arguments to the next.
        stride: i32,
    }
    /// A rectangle of a texture to draw. Rectangles are x, y, width, height: of the target in pixels, of the
    /// texture in texels.
    DrawTexture {
        /// Texture and sampler handle.
        handle: u32,
        /// Where to.
        destination: [f32; 4],
        /// What of the texture.
        source: [f32; 4],
    }
    /// Work groups.
    DispatchCompute {
        /// Work groups in x, y and z.
        groups: [u32; 3],
    }
    /// A GPU address.
    Buffer {
        /// The GPU address.
        address: U64,
    }
    /// A range of GPU addresses. Address 0 is no buffer.
    BufferRange {
        /// First byte.
        address: U64,
        /// Bytes; larger sizes than 32 bits hold are held down to the largest.
        size: u32,
    }
    /// An object by its serial.
    Object {
        /// Serial of the program, id of the sync.
        serial: U64,
    }
    /// A texture or sampler pool by its id; 0 is none.
    Pool {
        /// The pool's id.
        id: u32,
    }
    /// A texture, as seen through a view.
    TextureRef {
        /// The texture's serial; 0 is none.
        serial: U64,
        /// What of the texture is looked at; not yet checked to be a view.
        view: ViewDesc,
    }
    /// The words between a bind's header and its first handle (B228). Never read.
    HandleGap {
        /// Nothing.
        unused: [u32; 3],
    }
    /// Scratch memory.
    ScratchMemory {
        /// GPU address.
        address: U64,
        /// Bytes.
        size: U64,
    }
    /// Subroutines of a program's stage.
    Subroutines {
        /// The program's serial.
        program: U64,
        /// First subroutine uniform.
        first: u32,
    }
    /// A viewport in pixels.
    Viewport {
        /// Left edge.
        x: f32,
        /// First row.
        y: f32,
        /// Width.
        width: f32,
        /// Height.
        height: f32,
    }
    /// A scissor rectangle in pixels; 16 bits a field, as the hardware has them.
    Scissor {
        /// Left edge.
        x: u16,
        /// First row.
        y: u16,
        /// Width.
        width: u16,
        /// Height.
        height: u16,
    }
    /// Depth offset of polygons.
    PolygonOffset {
        /// Times the slope.
        factor: f32,
        /// Times the smallest resolvable difference.
        units: f32,
        /// Largest offset; 0 is no limit.
        clamp: f32,
    }
    /// What to clear the depth-stencil target with.
    ClearDepthStencil {
        /// Depth.
        depth: f32,
        /// Stencil value in bits 0-7, stencil write mask in bits 8-15.
        stencil: u32,
    }
    /// Bytes to fill.
    ClearBuffer {
        /// First byte.
        address: U64,
        /// Bytes.
        size: U64,
        /// The word to fill with.
        value: u32,
    }
    /// NVNcopyRegion: 16 bits a number, as the hardware's blits have them, except along a row, which a buffer's
    /// texels make longer.
    Region {
        /// First texel.
        x: i32,
        /// Texels.
        width: i32,
        /// First row, or layer of a 1D array.
        y: u16,
        /// Rows, or layers of a 1D array.
        height: u16,
        /// First slice or layer.
        z: u16,
        /// Slices or layers.
        depth: u16,
    }
    /// Bytes to copy.
    CopyBuffer {
        /// From where.
        source: U64,
        /// Where to.
        destination: U64,
        /// Bytes.
        size: U64,
    }
    /// A copy between a buffer and a texture.
    CopyBufferTexture {
        /// GPU address of the buffer's first byte.
        buffer: U64,
        /// The texture.
        texture: TextureRef,
        /// What of the texture.
        region: Region,
    }
    /// The strides of the buffer's side of a copy, in bytes; 0 is tight (B226).
    CopyStrides {
        /// From one row to the next.
        row: u32,
        /// From one slice or layer to the next.
        image: u32,
    }
    /// NVNvertexStreamState.
    VertexStream {
        /// Bytes from one vertex to the next; the hardware has 12 bits.
        stride: u16,
        /// Instances that share a vertex; 0 for per-vertex streams.
        divisor: u16,
    }
    /// A copy between textures.
    CopyTexture {
        /// From where.
        source: TextureRef,
        /// What of it.
        source_region: Region,
        /// Where to.
        destination: TextureRef,
        /// What of it.
        destination_region: Region,
    }
    /// A resolve of samples.
    Downsample {
        /// The multisampled texture.
        source: TextureRef,
        /// Where to.
        destination: TextureRef,
    }
    /// An update of a uniform buffer; the words follow.
    UpdateUniformBuffer {
        /// GPU address of the buffer.
        buffer: U64,
        /// The buffer's bytes.
        size: u32,
        /// First byte to write, from the buffer's start.
        offset: u32,
    }
    /// An event and a value to signal or to wait for.
    EventValue {
        /// GPU address of the event's word.
        event: U64,
        /// The value.
        value: u32,
    }
    /// A value to write.
    ReportValue {
        /// Where to.
        address: U64,
        /// The value.
        value: u32,
    }
}

/// Part of a texture and what to clear it with.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ClearTexture<T> {
    /// The texture.
    pub texture: TextureRef,
    /// What of it.
    pub region: Region,
    /// The colour.
    pub color: [T; 4],
}

// SAFETY: all fields are zeroable.
unsafe impl<T: Zeroable> Zeroable for ClearTexture<T> {}
// SAFETY: 4-byte words only for the element types used here (f32, i32, u32), so no padding; see the assertion.
unsafe impl Pod for ClearTexture<f32> {}
// SAFETY: as above.
unsafe impl Pod for ClearTexture<i32> {}
// SAFETY: as above.
unsafe impl Pod for ClearTexture<u32> {}
const _: () = assert!(size_of::<ClearTexture<f32>>() == 24 + 16 + 16);

impl Region {
    /// First texel, row, slice or layer.
    #[inline]
    pub const fn offset(&self) -> [i32; 3] {
        [self.x, self.y as i32, self.z as i32]
    }

    /// Width, height, depth or layers.
    #[inline]
    pub const fn extent(&self) -> [i32; 3] {
        [self.width, self.height as i32, self.depth as i32]
    }
}

impl From<&DrawArrays> for DrawArraysInstanced {
    #[inline]
    fn from(draw: &DrawArrays) -> Self {
        Self { first: draw.first, count: draw.count, base_instance: 0, instance_count: 1 }
    }
}

impl From<&DrawElements> for DrawElementsInstanced {
    #[inline]
    fn from(draw: &DrawElements) -> Self {
        Self { count: draw.count, index_buffer: draw.index_buffer, instance_count: 1, ..Self::default() }
    }
}

impl From<&DrawElementsBaseVertex> for DrawElementsInstanced {
    #[inline]
    fn from(draw: &DrawElementsBaseVertex) -> Self {
        Self {
            count: draw.count,
            index_buffer: draw.index_buffer,
            base_vertex: draw.base_vertex,
            base_instance: 0,
            instance_count: 1,
        }
    }
}
