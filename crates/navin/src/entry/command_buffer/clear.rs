//! Clears.

use navin_abi::types::*;
use navin_command::record::immediate::ClearTarget;
use navin_command::record::payload::{self, ClearBuffer, ClearDepthStencil};
use navin_command::record::{U64, op};

use super::HOST;
use super::args::{commands, index, pointee, region, texture};

/// The low 4 bits are the mask.
fn mask(mask: NVNclearColorMask) -> u8 {
    (mask.raw() & NVNclearColorMask::RGBA.raw()) as u8
}

macro_rules! clear_color {
    ($op:ident, $buffer:ident, $target:ident, $color:ident, $mask:ident, $call:ident) => {{
        let Some(target) = index($target, 8, "colour target", $call) else { return };
        let Some(color) = pointee($color, $call) else { return };
        $buffer.record::<op::$op>(&HOST, ClearTarget::new(target, mask($mask)), &color);
    }};
}

macro_rules! clear_texture {
    ($op:ident, $buffer:ident, $texture:ident, $view:ident, $region:ident, $color:ident, $mask:ident, $call:ident) => {{
        let Some(texture) = texture($texture, $view, $call) else { return };
        let (Some(region), Some(color)) = (region($region, $call), pointee($color, $call)) else { return };
        $buffer.record::<op::$op>(&HOST, mask($mask), &payload::ClearTexture { texture, region, color });
    }};
}

commands! {
    []

    fn nvnCommandBufferClearColor(target: i32, color: *const f32, mask: NVNclearColorMask) |buffer| {
        clear_color!(ClearColor, buffer, target, color, mask, CALL)
    }

    fn nvnCommandBufferClearColori(target: i32, color: *const i32, mask: NVNclearColorMask) |buffer| {
        clear_color!(ClearColori, buffer, target, color, mask, CALL)
    }

    fn nvnCommandBufferClearColorui(target: i32, color: *const u32, mask: NVNclearColorMask) |buffer| {
        clear_color!(ClearColorui, buffer, target, color, mask, CALL)
    }

    fn nvnCommandBufferClearDepthStencil(
        depth: f32,
        depth_mask: NVNboolean,
        stencil: i32,
        stencil_mask: i32,
    ) |buffer| {
        let stencil = u32::from(stencil as u8) | u32::from(stencil_mask as u8) << 8;
        let depth_mask = u8::from(depth_mask != 0);
        buffer.record::<op::ClearDepthStencil>(&HOST, depth_mask, &ClearDepthStencil { depth, stencil });
    }

    fn nvnCommandBufferClearBuffer(address: NVNbufferAddress, size: usize, value: u32) |buffer| {
        let clear = ClearBuffer { address: U64::new(address), size: U64::new(size as u64), value };
        buffer.record::<op::ClearBuffer>(&HOST, (), &clear);
    }

    fn nvnCommandBufferClearTexture(
        object: *const NVNtexture,
        view: *const NVNtextureView,
        area: *const NVNcopyRegion,
        color: *const f32,
        mask: NVNclearColorMask,
    ) |buffer| {
        clear_texture!(ClearTexture, buffer, object, view, area, color, mask, CALL)
    }

    fn nvnCommandBufferClearTexturei(
        object: *const NVNtexture,
        view: *const NVNtextureView,
        area: *const NVNcopyRegion,
        color: *const i32,
        mask: NVNclearColorMask,
    ) |buffer| {
        clear_texture!(ClearTexturei, buffer, object, view, area, color, mask, CALL)
    }

    fn nvnCommandBufferClearTextureui(
        object: *const NVNtexture,
        view: *const NVNtextureView,
        area: *const NVNcopyRegion,
        color: *const u32,
        mask: NVNclearColorMask,
    ) |buffer| {
        clear_texture!(ClearTextureui, buffer, object, view, area, color, mask, CALL)
    }
}
