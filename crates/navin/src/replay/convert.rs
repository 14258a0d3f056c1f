//! NVN's names into Vulkan's: enums that have a counterpart. Each function answers a defined value for anything
//! a guest may pass; what Vulkan lacks is named by one fault line where it is met.

use ash::vk;
use navin_abi::enums::*;
use navin_abi::fault;

/// Primitive topology, and whether the primitive has to be rewritten into an indexed list of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topology {
    /// Vulkan has it.
    Native(vk::PrimitiveTopology),
    /// Vulkan has not: an index list of the given topology is made from the vertices in order.
    Rewritten(Rewrite, vk::PrimitiveTopology),
}

/// How vertices in order become an index list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rewrite {
    /// v0 v1 v2 v3 -> (0 1 2) (0 2 3): the last vertex stays the provoking one's neighbour.
    Quads,
    /// v0 v1 v2 v3 v4 v5 -> quads (0 1 3 2) (2 3 5 4).
    QuadStrip,
    /// A line strip that returns to its first vertex.
    LineLoop,
}

pub(crate) fn topology(mode: NVNdrawPrimitive) -> Topology {
    use vk::PrimitiveTopology as T;
    Topology::Native(match mode {
        NVNdrawPrimitive::POINTS => T::POINT_LIST,
        NVNdrawPrimitive::LINES => T::LINE_LIST,
        NVNdrawPrimitive::LINE_LOOP => return Topology::Rewritten(Rewrite::LineLoop, T::LINE_LIST),
        NVNdrawPrimitive::LINE_STRIP => T::LINE_STRIP,
        NVNdrawPrimitive::TRIANGLES => T::TRIANGLE_LIST,
        NVNdrawPrimitive::TRIANGLE_STRIP => T::TRIANGLE_STRIP,
        NVNdrawPrimitive::TRIANGLE_FAN | NVNdrawPrimitive::POLYGON => T::TRIANGLE_FAN,
        NVNdrawPrimitive::QUADS => return Topology::Rewritten(Rewrite::Quads, T::TRIANGLE_LIST),
        NVNdrawPrimitive::QUAD_STRIP => return Topology::Rewritten(Rewrite::QuadStrip, T::TRIANGLE_LIST),
        NVNdrawPrimitive::LINES_ADJACENCY => T::LINE_LIST_WITH_ADJACENCY,
        NVNdrawPrimitive::LINE_STRIP_ADJACENCY => T::LINE_STRIP_WITH_ADJACENCY,
        NVNdrawPrimitive::TRIANGLES_ADJACENCY => T::TRIANGLE_LIST_WITH_ADJACENCY,
        NVNdrawPrimitive::TRIANGLE_STRIP_ADJACENCY => T::TRIANGLE_STRIP_WITH_ADJACENCY,
        NVNdrawPrimitive::PATCHES => T::PATCH_LIST,
        other => {
            fault!(key = other.0, "", "draw primitive {} is not one of NVN's; drawn as triangles", other.0);
            T::TRIANGLE_LIST
        }
    })
}

pub(crate) fn index_type(kind: NVNindexType) -> (vk::IndexType, u64) {
    match kind {
        NVNindexType::UNSIGNED_BYTE => (vk::IndexType::UINT8_EXT, 1),
        NVNindexType::UNSIGNED_SHORT => (vk::IndexType::UINT16, 2),
        NVNindexType::UNSIGNED_INT => (vk::IndexType::UINT32, 4),
        other => {
            fault!(key = other.0, "", "index type {} is not one of NVN's; read as 32-bit", other.0);
            (vk::IndexType::UINT32, 4)
        }
    }
}

/// NEVER 1 to ALWAYS 8 of the depth, stencil, alpha and sampler compare functions alike.
pub(crate) fn compare_op(function: i32) -> vk::CompareOp {
    match function {
        1 => vk::CompareOp::NEVER,
        2 => vk::CompareOp::LESS,
        3 => vk::CompareOp::EQUAL,
        4 => vk::CompareOp::LESS_OR_EQUAL,
        5 => vk::CompareOp::GREATER,
        6 => vk::CompareOp::NOT_EQUAL,
        7 => vk::CompareOp::GREATER_OR_EQUAL,
        _ => vk::CompareOp::ALWAYS,
    }
}

pub(crate) fn stencil_op(op: NVNstencilOp) -> vk::StencilOp {
    match op {
        NVNstencilOp::ZERO => vk::StencilOp::ZERO,
        NVNstencilOp::REPLACE => vk::StencilOp::REPLACE,
        NVNstencilOp::INCR => vk::StencilOp::INCREMENT_AND_CLAMP,
        NVNstencilOp::DECR => vk::StencilOp::DECREMENT_AND_CLAMP,
        NVNstencilOp::INVERT => vk::StencilOp::INVERT,
        NVNstencilOp::INCR_WRAP => vk::StencilOp::INCREMENT_AND_WRAP,
        NVNstencilOp::DECR_WRAP => vk::StencilOp::DECREMENT_AND_WRAP,
        _ => vk::StencilOp::KEEP,
    }
}

pub(crate) fn blend_factor(factor: NVNblendFunc) -> vk::BlendFactor {
    use vk::BlendFactor as F;
    match factor {
        NVNblendFunc::ZERO => F::ZERO,
        NVNblendFunc::ONE => F::ONE,
        NVNblendFunc::SRC_COLOR => F::SRC_COLOR,
        NVNblendFunc::ONE_MINUS_SRC_COLOR => F::ONE_MINUS_SRC_COLOR,
        NVNblendFunc::SRC_ALPHA => F::SRC_ALPHA,
        NVNblendFunc::ONE_MINUS_SRC_ALPHA => F::ONE_MINUS_SRC_ALPHA,
        NVNblendFunc::DST_ALPHA => F::DST_ALPHA,
        NVNblendFunc::ONE_MINUS_DST_ALPHA => F::ONE_MINUS_DST_ALPHA,
        NVNblendFunc::DST_COLOR => F::DST_COLOR,
        NVNblendFunc::ONE_MINUS_DST_COLOR => F::ONE_MINUS_DST_COLOR,
        NVNblendFunc::SRC_ALPHA_SATURATE => F::SRC_ALPHA_SATURATE,
        NVNblendFunc::SRC1_COLOR => F::SRC1_COLOR,
        NVNblendFunc::ONE_MINUS_SRC1_COLOR => F::ONE_MINUS_SRC1_COLOR,
        NVNblendFunc::SRC1_ALPHA => F::SRC1_ALPHA,
        NVNblendFunc::ONE_MINUS_SRC1_ALPHA => F::ONE_MINUS_SRC1_ALPHA,
        NVNblendFunc::CONSTANT_COLOR => F::CONSTANT_COLOR,
        NVNblendFunc::ONE_MINUS_CONSTANT_COLOR => F::ONE_MINUS_CONSTANT_COLOR,
        NVNblendFunc::CONSTANT_ALPHA => F::CONSTANT_ALPHA,
        NVNblendFunc::ONE_MINUS_CONSTANT_ALPHA => F::ONE_MINUS_CONSTANT_ALPHA,
        other => {
            fault!(key = other.0, "", "blend function {} is not one of NVN's; taken as ONE", other.0);
            F::ONE
        }
    }
}

pub(crate) fn blend_op(equation: NVNblendEquation) -> vk::BlendOp {
    match equation {
        NVNblendEquation::SUB => vk::BlendOp::SUBTRACT,
        NVNblendEquation::REVERSE_SUB => vk::BlendOp::REVERSE_SUBTRACT,
        NVNblendEquation::MIN => vk::BlendOp::MIN,
        NVNblendEquation::MAX => vk::BlendOp::MAX,
        _ => vk::BlendOp::ADD,
    }
}

pub(crate) fn logic_op(op: NVNlogicOp) -> vk::LogicOp {
    // Both number the sixteen operations from CLEAR to SET in the same order.
    if (0..16).contains(&op.0) { vk::LogicOp::from_raw(op.0) } else { vk::LogicOp::COPY }
}

pub(crate) fn cull_mode(face: NVNface) -> vk::CullModeFlags {
    match face {
        NVNface::FRONT => vk::CullModeFlags::FRONT,
        NVNface::BACK => vk::CullModeFlags::BACK,
        NVNface::FRONT_AND_BACK => vk::CullModeFlags::FRONT_AND_BACK,
        _ => vk::CullModeFlags::NONE,
    }
}

/// Vulkan decides the facing in framebuffer space with y down. With NVN's LOWER_LEFT origin the image is not
/// flipped, so the winding that the guest names in its y-up space is the opposite one there.
pub(crate) fn front_face(face: NVNfrontFace, lower_left: bool) -> vk::FrontFace {
    if (face == NVNfrontFace::CCW) != lower_left { vk::FrontFace::COUNTER_CLOCKWISE } else { vk::FrontFace::CLOCKWISE }
}

pub(crate) fn polygon_mode(mode: NVNpolygonMode) -> vk::PolygonMode {
    match mode {
        NVNpolygonMode::POINT => vk::PolygonMode::POINT,
        NVNpolygonMode::LINE => vk::PolygonMode::LINE,
        _ => vk::PolygonMode::FILL,
    }
}

/// NVN's clear and channel masks have R in bit 0, as Vulkan's.
pub(crate) fn color_mask(mask: u32) -> vk::ColorComponentFlags {
    vk::ColorComponentFlags::from_raw(mask & 0xF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_blend_factors_have_numbers_of_their_own() {
        assert_eq!(blend_factor(NVNblendFunc(0x61)), vk::BlendFactor::CONSTANT_COLOR);
        assert_eq!(blend_factor(NVNblendFunc(0x64)), vk::BlendFactor::ONE_MINUS_CONSTANT_ALPHA);
    }

    #[test]
    fn logic_ops_agree_by_name() {
        assert_eq!(logic_op(NVNlogicOp::NAND), vk::LogicOp::NAND);
        assert_eq!(logic_op(NVNlogicOp::EQUIV), vk::LogicOp::EQUIVALENT);
        assert_eq!(logic_op(NVNlogicOp::OR_REVERSE), vk::LogicOp::OR_REVERSE);
        assert_eq!(logic_op(NVNlogicOp(99)), vk::LogicOp::COPY);
    }

    #[test]
    fn lower_left_origin_inverts_the_winding() {
        assert_eq!(front_face(NVNfrontFace::CCW, true), vk::FrontFace::CLOCKWISE);
        assert_eq!(front_face(NVNfrontFace::CCW, false), vk::FrontFace::COUNTER_CLOCKWISE);
        assert_eq!(front_face(NVNfrontFace::CW, true), vk::FrontFace::COUNTER_CLOCKWISE);
    }
}
