//! Advanced blending (`nvnBlendStateSetAdvancedMode`): the modes of `KHR_blend_equation_advanced` and more.
//!
//! Where the device has `VK_EXT_blend_operation_advanced`, its equations are the same. Elsewhere the Porter-Duff modes
//! and a few more are plain equations over premultiplied colours, exact for uncorrelated coverage; the rest is named.

use ash::vk;
use navin_abi::enums::{NVNblendAdvancedMode as Mode, NVNblendAdvancedOverlap};
use navin_vulkan::{AdvancedBlend, BlendAttachment};

/// The device's operation for a mode.
pub(super) fn advanced(
    mode: Mode,
    src_premultiplied: bool,
    normalized_dst: bool,
    overlap: NVNblendAdvancedOverlap,
) -> Option<AdvancedBlend> {
    use vk::BlendOp as O;
    let op = match mode {
        Mode::ZERO => O::ZERO_EXT,
        Mode::SRC => O::SRC_EXT,
        Mode::DST => O::DST_EXT,
        Mode::SRC_OVER => O::SRC_OVER_EXT,
        Mode::DST_OVER => O::DST_OVER_EXT,
        Mode::SRC_IN => O::SRC_IN_EXT,
        Mode::DST_IN => O::DST_IN_EXT,
        Mode::SRC_OUT => O::SRC_OUT_EXT,
        Mode::DST_OUT => O::DST_OUT_EXT,
        Mode::SRC_ATOP => O::SRC_ATOP_EXT,
        Mode::DST_ATOP => O::DST_ATOP_EXT,
        Mode::XOR => O::XOR_EXT,
        Mode::PLUS => O::PLUS_EXT,
        Mode::PLUS_CLAMPED => O::PLUS_CLAMPED_EXT,
        Mode::PLUS_CLAMPED_ALPHA => O::PLUS_CLAMPED_ALPHA_EXT,
        Mode::PLUS_DARKER => O::PLUS_DARKER_EXT,
        Mode::MULTIPLY => O::MULTIPLY_EXT,
        Mode::SCREEN => O::SCREEN_EXT,
        Mode::OVERLAY => O::OVERLAY_EXT,
        Mode::DARKEN => O::DARKEN_EXT,
        Mode::LIGHTEN => O::LIGHTEN_EXT,
        Mode::COLORDODGE => O::COLORDODGE_EXT,
        Mode::COLORBURN => O::COLORBURN_EXT,
        Mode::HARDLIGHT => O::HARDLIGHT_EXT,
        Mode::SOFTLIGHT => O::SOFTLIGHT_EXT,
        Mode::DIFFERENCE => O::DIFFERENCE_EXT,
        Mode::MINUS => O::MINUS_EXT,
        Mode::MINUS_CLAMPED => O::MINUS_CLAMPED_EXT,
        Mode::EXCLUSION => O::EXCLUSION_EXT,
        Mode::CONTRAST => O::CONTRAST_EXT,
        Mode::INVERT => O::INVERT_EXT,
        Mode::INVERT_RGB => O::INVERT_RGB_EXT,
        Mode::INVERT_OVG => O::INVERT_OVG_EXT,
        Mode::LINEARDODGE => O::LINEARDODGE_EXT,
        Mode::LINEARBURN => O::LINEARBURN_EXT,
        Mode::VIVIDLIGHT => O::VIVIDLIGHT_EXT,
        Mode::LINEARLIGHT => O::LINEARLIGHT_EXT,
        Mode::PINLIGHT => O::PINLIGHT_EXT,
        Mode::HARDMIX => O::HARDMIX_EXT,
        Mode::RED => O::RED_EXT,
        Mode::GREEN => O::GREEN_EXT,
        Mode::BLUE => O::BLUE_EXT,
        Mode::HSL_HUE => O::HSL_HUE_EXT,
        Mode::HSL_SATURATION => O::HSL_SATURATION_EXT,
        Mode::HSL_COLOR => O::HSL_COLOR_EXT,
        Mode::HSL_LUMINOSITY => O::HSL_LUMINOSITY_EXT,
        _ => return None,
    };
    let overlap = match overlap {
        NVNblendAdvancedOverlap::DISJOINT => vk::BlendOverlapEXT::DISJOINT,
        NVNblendAdvancedOverlap::CONJOINT => vk::BlendOverlapEXT::CONJOINT,
        _ => vk::BlendOverlapEXT::UNCORRELATED,
    };
    Some(AdvancedBlend { op, src_premultiplied, dst_premultiplied: !normalized_dst, overlap })
}

/// A mode as a plain equation, for premultiplied colours and uncorrelated coverage.
pub(super) fn plain(mode: Mode, write_mask: vk::ColorComponentFlags) -> Option<BlendAttachment> {
    use vk::BlendFactor as F;
    // Factors of source and destination, for colour; alpha has the same unless said.
    let (src, dst) = match mode {
        Mode::ZERO => (F::ZERO, F::ZERO),
        Mode::SRC => (F::ONE, F::ZERO),
        Mode::DST => (F::ZERO, F::ONE),
        Mode::SRC_OVER => (F::ONE, F::ONE_MINUS_SRC_ALPHA),
        Mode::DST_OVER => (F::ONE_MINUS_DST_ALPHA, F::ONE),
        Mode::SRC_IN => (F::DST_ALPHA, F::ZERO),
        Mode::DST_IN => (F::ZERO, F::SRC_ALPHA),
        Mode::SRC_OUT => (F::ONE_MINUS_DST_ALPHA, F::ZERO),
        Mode::DST_OUT => (F::ZERO, F::ONE_MINUS_SRC_ALPHA),
        Mode::SRC_ATOP => (F::DST_ALPHA, F::ONE_MINUS_SRC_ALPHA),
        Mode::DST_ATOP => (F::ONE_MINUS_DST_ALPHA, F::SRC_ALPHA),
        Mode::XOR => (F::ONE_MINUS_DST_ALPHA, F::ONE_MINUS_SRC_ALPHA),
        Mode::PLUS => (F::ONE, F::ONE),
        // s + d - s d
        Mode::SCREEN => (F::ONE, F::ONE_MINUS_SRC_COLOR),
        _ => return None,
    };
    Some(BlendAttachment {
        enable: true,
        src_color: src,
        dst_color: dst,
        color_op: vk::BlendOp::ADD,
        src_alpha: src,
        dst_alpha: if mode == Mode::SCREEN { F::ONE_MINUS_SRC_ALPHA } else { dst },
        alpha_op: vk::BlendOp::ADD,
        write_mask,
        advanced: None,
    })
}
