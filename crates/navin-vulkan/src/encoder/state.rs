//! The state of a draw, in pieces: what a caller sets and the encoder compares.
//!
//! The replay translates each NVN state object into one of these pieces once, when the object is bound, and hands
//! it to the [`Encoder`](super::Encoder). All are plain data, cheap to copy and to compare. `Default` is what
//! Vulkan calls the least: nothing tested, nothing blended, everything written.

use ash::vk;
use smallvec::SmallVec;

use crate::image::View;

/// Colour attachments that the encoder keeps state for; NVN has 8 render targets.
pub const MAX_COLOR_ATTACHMENTS: usize = 8;
/// Viewports and scissors that the encoder keeps; NVN has 16.
pub const MAX_VIEWPORTS: usize = 16;
/// Vertex buffer bindings and vertex attributes that the encoder keeps; NVN has 16 of each.
pub const MAX_VERTEX_BINDINGS: usize = 16;
/// Vertex attributes (locations 0 to 15).
pub const MAX_VERTEX_ATTRIBUTES: usize = 16;

/// A piece of a Vulkan buffer, by raw handle: the owner of the buffer must live until the command that uses the
/// range has been recorded (not until it has run: see [`crate::retire`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct BufferRange {
    /// The buffer; null makes reads return 0.
    pub buffer: vk::Buffer,
    /// First byte.
    pub offset: u64,
    /// Length in bytes, or `vk::WHOLE_SIZE`.
    pub size: u64,
}

impl BufferRange {
    /// The range that reads 0 everywhere.
    pub const NULL: Self = Self { buffer: vk::Buffer::null(), offset: 0, size: vk::WHOLE_SIZE };

    /// Whether there is no buffer.
    pub fn is_null(&self) -> bool {
        self.buffer == vk::Buffer::null()
    }
}

impl Default for BufferRange {
    fn default() -> Self {
        Self::NULL
    }
}

/// One viewport with its scissor.
///
/// `height` may be negative (the y axis is flipped then, and `y` is the lower edge). A width or height of 0, or
/// a scissor outside the target, draws nothing; values outside the device's limits are clamped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// Left edge in pixels.
    pub x: f32,
    /// Upper edge in pixels, lower edge for a negative height.
    pub y: f32,
    /// Width in pixels.
    pub width: f32,
    /// Height in pixels, negative to flip.
    pub height: f32,
    /// Depth written for clip z at the near plane.
    pub min_depth: f32,
    /// Depth written for clip z at the far plane.
    pub max_depth: f32,
}

impl Default for Viewport {
    fn default() -> Self {
        Self { x: 0.0, y: 0.0, width: 0.0, height: 0.0, min_depth: 0.0, max_depth: 1.0 }
    }
}

/// A scissor rectangle in pixels, row 0 being the image's first row in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Scissor {
    /// Left edge.
    pub x: i32,
    /// Upper edge.
    pub y: i32,
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

/// How primitives are assembled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputAssembly {
    /// Topology; must be `PATCH_LIST` exactly when a tessellation evaluation shader is bound.
    pub topology: vk::PrimitiveTopology,
    /// Whether the index of all ones restarts the primitive.
    pub primitive_restart: bool,
    /// Control points of a patch, 1 to 32.
    pub patch_control_points: u32,
}

impl Default for InputAssembly {
    fn default() -> Self {
        Self { topology: vk::PrimitiveTopology::TRIANGLE_LIST, primitive_restart: false, patch_control_points: 3 }
    }
}

/// Depth bias, in Vulkan's terms.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct DepthBias {
    /// Constant factor, in units of the depth format's resolution.
    pub constant: f32,
    /// Largest bias, 0 for none.
    pub clamp: f32,
    /// Slope factor.
    pub slope: f32,
}

/// Rasterisation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rasterization {
    /// Throw every primitive away before rasterisation.
    pub discard: bool,
    /// Fill, lines or points. Anything but `FILL` falls back to `FILL` where the device cannot.
    pub polygon_mode: vk::PolygonMode,
    /// Faces that are culled.
    pub cull_mode: vk::CullModeFlags,
    /// Winding of a front face, in framebuffer coordinates.
    pub front_face: vk::FrontFace,
    /// Depth bias, if enabled for the primitives drawn.
    pub depth_bias: Option<DepthBias>,
    /// Clamp depth to the viewport's range instead of clipping.
    pub depth_clamp: bool,
    /// Clip at the near and far plane; usually the opposite of `depth_clamp`.
    pub depth_clip: bool,
    /// Clip space is z in -w..w (`VK_EXT_depth_clip_control`) instead of 0..w.
    pub negative_one_to_one: bool,
    /// Width of lines in pixels, clamped to the device's range.
    pub line_width: f32,
    /// How lines are rasterised where the device has `VK_EXT_line_rasterization`.
    pub line_mode: vk::LineRasterizationModeEXT,
    /// Which vertex gives flat varyings.
    pub provoking_vertex: vk::ProvokingVertexModeEXT,
    /// Origin of the tessellation domain.
    pub domain_origin: vk::TessellationDomainOrigin,
}

impl Default for Rasterization {
    fn default() -> Self {
        Self {
            discard: false,
            polygon_mode: vk::PolygonMode::FILL,
            cull_mode: vk::CullModeFlags::NONE,
            front_face: vk::FrontFace::COUNTER_CLOCKWISE,
            depth_bias: None,
            depth_clamp: false,
            depth_clip: true,
            negative_one_to_one: false,
            line_width: 1.0,
            line_mode: vk::LineRasterizationModeEXT::DEFAULT,
            provoking_vertex: vk::ProvokingVertexModeEXT::FIRST_VERTEX,
            domain_origin: vk::TessellationDomainOrigin::UPPER_LEFT,
        }
    }
}

/// The depth test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Depth {
    /// Whether fragments are tested.
    pub test: bool,
    /// Whether passing fragments write depth (only with `test`).
    pub write: bool,
    /// Comparison.
    pub compare: vk::CompareOp,
    /// Bounds test (low, high) if enabled; ignored where the device has none.
    pub bounds: Option<(f32, f32)>,
}

impl Default for Depth {
    fn default() -> Self {
        Self { test: false, write: false, compare: vk::CompareOp::LESS, bounds: None }
    }
}

/// One face's stencil test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StencilFace {
    /// Stencil test failed.
    pub fail: vk::StencilOp,
    /// Both passed.
    pub pass: vk::StencilOp,
    /// Depth test failed.
    pub depth_fail: vk::StencilOp,
    /// Comparison of (reference & mask) with (stored & mask).
    pub compare: vk::CompareOp,
    /// Mask of the comparison.
    pub compare_mask: u32,
    /// Mask of writes.
    pub write_mask: u32,
    /// Reference value.
    pub reference: u32,
}

impl Default for StencilFace {
    fn default() -> Self {
        Self {
            fail: vk::StencilOp::KEEP,
            pass: vk::StencilOp::KEEP,
            depth_fail: vk::StencilOp::KEEP,
            compare: vk::CompareOp::ALWAYS,
            compare_mask: 0xff,
            write_mask: 0xff,
            reference: 0,
        }
    }
}

/// The stencil test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Stencil {
    /// Whether fragments are tested.
    pub test: bool,
    /// Front faces.
    pub front: StencilFace,
    /// Back faces.
    pub back: StencilFace,
}

/// An equation of `VK_EXT_blend_operation_advanced`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdvancedBlend {
    /// The operation, for colour and alpha.
    pub op: vk::BlendOp,
    /// Whether the source's colour is multiplied by its alpha already.
    pub src_premultiplied: bool,
    /// The same of the destination.
    pub dst_premultiplied: bool,
    /// How the coverages of source and destination lie on each other.
    pub overlap: vk::BlendOverlapEXT,
}

/// Blending of one colour attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlendAttachment {
    /// Whether the equation applies; ignored for attachments whose format cannot blend (integers).
    pub enable: bool,
    /// Factor of the source colour.
    pub src_color: vk::BlendFactor,
    /// Factor of the destination colour.
    pub dst_color: vk::BlendFactor,
    /// Colour operation.
    pub color_op: vk::BlendOp,
    /// Factor of the source alpha.
    pub src_alpha: vk::BlendFactor,
    /// Factor of the destination alpha.
    pub dst_alpha: vk::BlendFactor,
    /// Alpha operation.
    pub alpha_op: vk::BlendOp,
    /// Components that are written.
    pub write_mask: vk::ColorComponentFlags,
    /// In place of factors and operations, where the device has it; else they count.
    pub advanced: Option<AdvancedBlend>,
}

impl Default for BlendAttachment {
    fn default() -> Self {
        Self {
            enable: false,
            src_color: vk::BlendFactor::ONE,
            dst_color: vk::BlendFactor::ZERO,
            color_op: vk::BlendOp::ADD,
            src_alpha: vk::BlendFactor::ONE,
            dst_alpha: vk::BlendFactor::ZERO,
            alpha_op: vk::BlendOp::ADD,
            write_mask: vk::ColorComponentFlags::RGBA,
            advanced: None,
        }
    }
}

/// Blending of all attachments.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Blend {
    /// By colour attachment.
    pub attachments: [BlendAttachment; MAX_COLOR_ATTACHMENTS],
    /// The blend constants.
    pub constants: [f32; 4],
    /// Logic operation in place of blending, if enabled; ignored where the device has none.
    pub logic_op: Option<vk::LogicOp>,
}

/// Multisampling. The number of samples comes from the attachments; `samples` counts only without any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multisample {
    /// Samples of a pixel when there is no attachment.
    pub samples: vk::SampleCountFlags,
    /// Samples that are written.
    pub mask: u32,
    /// Alpha to coverage.
    pub alpha_to_coverage: bool,
    /// Alpha to one; ignored where the device has none.
    pub alpha_to_one: bool,
}

impl Default for Multisample {
    fn default() -> Self {
        Self { samples: vk::SampleCountFlags::TYPE_1, mask: !0, alpha_to_coverage: false, alpha_to_one: false }
    }
}

/// One vertex attribute; its place in [`VertexInput::attributes`] is its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VertexAttribute {
    /// Binding it reads, 0 to 15.
    pub binding: u8,
    /// Format; its numeric class must be that of the shader's input.
    pub format: vk::Format,
    /// Offset in the vertex in bytes.
    pub offset: u32,
}

/// One vertex buffer binding; its place in [`VertexInput::bindings`] is its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct VertexBinding {
    /// Bytes from a vertex (or instance) to the next.
    pub stride: u32,
    /// 0: advances with each vertex; n: advances every n instances.
    pub divisor: u32,
}

/// Vertex attributes and bindings.
///
/// A location that the vertex shader reads (see [`Interface`](crate::shader::Interface)) and that has no
/// attribute here reads (0, 0, 0, 1).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct VertexInput {
    /// By location.
    pub attributes: [Option<VertexAttribute>; MAX_VERTEX_ATTRIBUTES],
    /// By binding.
    pub bindings: [VertexBinding; MAX_VERTEX_BINDINGS],
}

/// The index buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexBuffer {
    /// Where the indices are. The size bounds reads only where the device can (maintenance5).
    pub range: BufferRange,
    /// Their type.
    pub kind: vk::IndexType,
}

/// One attachment of a rendering scope.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// What is rendered to.
    pub view: View,
    /// What happens to the old content at the first use after [`set_targets`](super::Encoder::set_targets);
    /// `LOAD` for NVN's semantics, `DONT_CARE` after a discard.
    pub load: vk::AttachmentLoadOp,
    /// What happens at the end; `STORE` unless the guest discards.
    pub store: vk::AttachmentStoreOp,
}

impl Attachment {
    /// An attachment whose content is kept: load and store.
    pub fn new(view: View) -> Self {
        Self { view, load: vk::AttachmentLoadOp::LOAD, store: vk::AttachmentStoreOp::STORE }
    }
}

impl PartialEq for Attachment {
    fn eq(&self, other: &Self) -> bool {
        self.view.raw() == other.view.raw() && self.load == other.load && self.store == other.store
    }
}

/// The attachments of a rendering scope.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Targets {
    /// Colour attachments by location; holes are allowed.
    pub colors: SmallVec<[Option<Attachment>; MAX_COLOR_ATTACHMENTS]>,
    /// Depth and/or stencil, whichever aspects the view's format has.
    pub depth_stencil: Option<Attachment>,
}

/// Number of dynamic-state commands, by group, that an encoder issued: what the dirty tracking is tested with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct EncoderCounters {
    /// Draws recorded.
    pub draws: u64,
    /// Draws left out (see [`DrawError`](super::DrawError)).
    pub draws_skipped: u64,
    /// Dispatches recorded.
    pub dispatches: u64,
    /// `vkCmdSet*` commands.
    pub state_commands: u64,
    /// `vkCmdBindShadersEXT` commands.
    pub shader_binds: u64,
    /// Descriptor sets of stage constants written and bound.
    pub constant_sets: u64,
    /// `vkCmdBindVertexBuffers2` and `vkCmdBindIndexBuffer` commands.
    pub buffer_binds: u64,
    /// Rendering scopes begun.
    pub rendering_scopes: u64,
    /// Pipeline barriers.
    pub barriers: u64,
    /// Copies, blits, fills and resolves.
    pub transfers: u64,
}
