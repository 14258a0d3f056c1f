//! Single states, from viewports to tiled-cache hints.

use std::sync::Once;

use navin_abi::fault;
use navin_abi::types::*;
use navin_command::record::payload::{Buffer, PolygonOffset, Scissor, Viewport};
use navin_command::record::{U64, op};

use super::HOST;
use super::args::{Array, commands, index, pointee, range};

/// Viewports, scissors and depth ranges that there are (device info item 0x26).
const VIEWPORTS: usize = 16;

/// A scissor as the hardware has it, edges of 16 bits: what is outside is cut off.
fn scissor([x, y, width, height]: [i32; 4]) -> Scissor {
    let span = |start: i32, length: i32| {
        let edge = |at: i64| at.clamp(0, 0xffff) as u16;
        let (low, high) = (edge(start.into()), edge(i64::from(start) + i64::from(length.max(0))));
        (low, high - low)
    };
    let ((x, width), (y, height)) = (span(x, width), span(y, height));
    Scissor { x, y, width, height }
}

/// Records a stencil value for the faces named: one record a face, as the hardware has one word a face.
macro_rules! stencil {
    ($buffer:ident, $faces:ident, $value:ident, $front:ident, $back:ident) => {
        if $faces.raw() & NVNface::FRONT.raw() != 0 {
            $buffer.record::<op::$front>(&HOST, $value as u8, &());
        }
        if $faces.raw() & NVNface::BACK.raw() != 0 {
            $buffer.record::<op::$back>(&HOST, $value as u8, &());
        }
    };
}

/// NVN's boolean as an immediate.
fn flag(value: NVNboolean) -> u8 {
    u8::from(value != 0)
}

commands! {
    []

    fn nvnCommandBufferSetViewport(x: i32, y: i32, width: i32, height: i32) |buffer| {
        let [x, y, width, height] = [x, y, width, height].map(|v| v as f32);
        buffer.record_run::<op::SetViewports>(&HOST, 0, &(), 1, |_| Viewport { x, y, width, height });
    }

    fn nvnCommandBufferSetViewports(first: i32, count: i32, viewports: *const f32) |buffer| {
        let Some((first, count)) = range(first, count, VIEWPORTS, CALL) else { return };
        let Some(viewports) = Array::<[f32; 4]>::new(viewports.cast(), CALL) else { return };
        buffer.record_run::<op::SetViewports>(&HOST, first, &(), count, |i| {
            let [x, y, width, height] = viewports.at(i);
            Viewport { x, y, width, height }
        });
    }

    fn nvnCommandBufferSetScissor(x: i32, y: i32, width: i32, height: i32) |buffer| {
        buffer.record_run::<op::SetScissors>(&HOST, 0, &(), 1, |_| scissor([x, y, width, height]));
    }

    fn nvnCommandBufferSetScissors(first: i32, count: i32, scissors: *const i32) |buffer| {
        let Some((first, count)) = range(first, count, VIEWPORTS, CALL) else { return };
        let Some(scissors) = Array::new(scissors.cast(), CALL) else { return };
        buffer.record_run::<op::SetScissors>(&HOST, first, &(), count, |i| scissor(scissors.at(i)));
    }

    fn nvnCommandBufferSetDepthRange(near: f32, far: f32) |buffer| {
        buffer.record_run::<op::SetDepthRanges>(&HOST, 0, &(), 1, |_| [near, far]);
    }

    fn nvnCommandBufferSetDepthRanges(first: i32, count: i32, ranges: *const f32) |buffer| {
        let Some((first, count)) = range(first, count, VIEWPORTS, CALL) else { return };
        let Some(ranges) = Array::new(ranges.cast(), CALL) else { return };
        buffer.record_run::<op::SetDepthRanges>(&HOST, first, &(), count, |i| ranges.at(i));
    }

    /// Four swizzles a viewport: x, y, z, w.
    fn nvnCommandBufferSetViewportSwizzles(first: i32, count: i32, swizzles: *const NVNviewportSwizzle) |buffer| {
        let Some((first, count)) = range(first, count, VIEWPORTS, CALL) else { return };
        let Some(swizzles) = Array::<[i32; 4]>::new(swizzles.cast(), CALL) else { return };
        buffer.record_run::<op::SetViewportSwizzles>(&HOST, first, &(), count, |i| {
            swizzles.at(i).iter().rev().fold(0, |word, &swizzle| word << 4 | swizzle as u32 & 7)
        });
    }

    fn nvnCommandBufferSetBlendColor(color: *const f32) |buffer| {
        let Some(color) = pointee(color, CALL) else { return };
        buffer.record::<op::SetBlendColor>(&HOST, (), &color);
    }

    fn nvnCommandBufferSetAlphaRef(reference: f32) |buffer| {
        buffer.record::<op::SetAlphaRef>(&HOST, (), &reference);
    }

    fn nvnCommandBufferSetLineWidth(width: f32) |buffer| {
        buffer.record::<op::SetLineWidth>(&HOST, (), &width);
    }

    fn nvnCommandBufferSetPointSize(size: f32) |buffer| {
        buffer.record::<op::SetPointSize>(&HOST, (), &size);
    }

    fn nvnCommandBufferSetPolygonOffsetClamp(factor: f32, units: f32, clamp: f32) |buffer| {
        buffer.record::<op::SetPolygonOffsetClamp>(&HOST, (), &PolygonOffset { factor, units, clamp });
    }

    fn nvnCommandBufferSetDepthBounds(enable: NVNboolean, near: f32, far: f32) |buffer| {
        buffer.record_run::<op::SetDepthBounds>(&HOST, (), &(), flag(enable).into(), |_| [near, far]);
    }

    fn nvnCommandBufferSetDepthClamp(clamp: NVNboolean) |buffer| {
        buffer.record::<op::SetDepthClamp>(&HOST, flag(clamp), &());
    }

    fn nvnCommandBufferSetPrimitiveRestart(enable: NVNboolean, restart_index: i32) |buffer| {
        buffer.record_run::<op::SetPrimitiveRestart>(&HOST, (), &(), flag(enable).into(), |_| restart_index as u32);
    }

    fn nvnCommandBufferSetRasterizerDiscard(discard: NVNboolean) |buffer| {
        buffer.record::<op::SetRasterizerDiscard>(&HOST, flag(discard), &());
    }

    fn nvnCommandBufferSetSampleMask(mask: i32) |buffer| {
        buffer.record::<op::SetSampleMask>(&HOST, (), &(mask as u32));
    }

    fn nvnCommandBufferSetPatchSize(size: i32) |buffer| {
        let Some(size) = index(size, 33, "patch size", CALL) else { return };
        buffer.record::<op::SetPatchSize>(&HOST, size, &());
    }

    fn nvnCommandBufferSetInnerTessellationLevels(levels: *const f32) |buffer| {
        let Some(levels) = pointee(levels, CALL) else { return };
        buffer.record::<op::SetInnerTessellationLevels>(&HOST, (), &levels);
    }

    fn nvnCommandBufferSetOuterTessellationLevels(levels: *const f32) |buffer| {
        let Some(levels) = pointee(levels, CALL) else { return };
        buffer.record::<op::SetOuterTessellationLevels>(&HOST, (), &levels);
    }

    fn nvnCommandBufferSetStencilRef(faces: NVNface, reference: i32) |buffer| {
        stencil!(buffer, faces, reference, SetStencilRefFront, SetStencilRefBack);
    }

    fn nvnCommandBufferSetStencilMask(faces: NVNface, mask: i32) |buffer| {
        stencil!(buffer, faces, mask, SetStencilMaskFront, SetStencilMaskBack);
    }

    fn nvnCommandBufferSetStencilValueMask(faces: NVNface, mask: i32) |buffer| {
        stencil!(buffer, faces, mask, SetStencilValueMaskFront, SetStencilValueMaskBack);
    }

    fn nvnCommandBufferSetStencilCullCriteria(func: NVNstencilFunc, reference: i32, mask: i32) |buffer| {
        let criteria = u32::from(reference as u8) | u32::from(mask as u8) << 8;
        buffer.record::<op::SetStencilCullCriteria>(&HOST, func.raw() as u8, &criteria);
    }

    /// Vulkan leaves to the device what overflows: mostly infinity, which is mode 0. Mode 1 is named once and otherwise the
    /// same (B218).
    fn nvnCommandBufferSetFloatBlendClamp(mode: i32) |buffer| {
        if mode & 1 != 0 {
            // A fault line takes a lock, which recording does not (B422): once is enough.
            static NAMED: Once = Once::new();
            NAMED.call_once(|| {
                fault!(
                    "B218",
                    "{CALL}: mode 1 makes no difference: a blend that overflows gives what the device makes of it (mostly \
                     infinity), not always the largest finite value"
                );
            });
        }
        buffer.record::<op::SetFloatBlendClamp>(&HOST, (mode & 1) as u8, &());
    }

    /// Allows fragments to be skipped, which is never required (B219).
    fn nvnCommandBufferSetRepresentativeFragmentTest(enable: NVNboolean) |buffer| {
        static NOTED: Once = Once::new();
        NOTED.call_once(|| tracing::info!("the guest uses the representative fragment test; all fragments run (B219)"));
        buffer.record::<op::SetRepresentativeFragmentTest>(&HOST, flag(enable), &());
    }

    fn nvnCommandBufferSetRenderEnable(enable: NVNboolean) |buffer| {
        buffer.record::<op::SetRenderEnable>(&HOST, flag(enable), &());
    }

    fn nvnCommandBufferSetRenderEnableConditional(mode: NVNconditionalRenderMode, address: NVNbufferAddress) |buffer| {
        let Some(mode) = index(mode.raw(), 2, "conditional render mode", CALL) else { return };
        buffer.record::<op::SetRenderEnableConditional>(&HOST, mode, &Buffer { address: U64::new(address) });
    }

    fn nvnCommandBufferSetConservativeRasterEnable(enable: NVNboolean) |buffer| {
        buffer.record::<op::SetConservativeRasterEnable>(&HOST, flag(enable), &());
    }

    fn nvnCommandBufferSetConservativeRasterDilate(dilate: f32) |buffer| {
        buffer.record::<op::SetConservativeRasterDilate>(&HOST, (), &dilate);
    }

    fn nvnCommandBufferSetSubpixelPrecisionBias(x_bits: i32, y_bits: i32) |buffer| {
        let (Some(x), Some(y)) = (index(x_bits, 16, "bits", CALL), index(y_bits, 16, "bits", CALL)) else { return };
        buffer.record::<op::SetSubpixelPrecisionBias>(&HOST, x | y << 4, &());
    }

    fn nvnCommandBufferSetTiledCacheAction(action: NVNtiledCacheAction) |buffer| {
        let Some(action) = index(action.raw(), 7, "tiled-cache action", CALL) else { return };
        buffer.record::<op::SetTiledCacheAction>(&HOST, action, &());
    }

    fn nvnCommandBufferSetTiledCacheTileSize(width: i32, height: i32) |buffer| {
        let half = |v: i32| v.clamp(0, 0xffff) as u32;
        buffer.record::<op::SetTiledCacheTileSize>(&HOST, (), &(half(width) | half(height) << 16));
    }

    fn nvnCommandBufferSetColorReductionEnable(enable: NVNboolean) |buffer| {
        buffer.record::<op::SetColorReductionEnable>(&HOST, flag(enable), &());
    }

    fn nvnCommandBufferSetColorReductionThresholds(class: NVNformatClass, first: i32, second: i32) |buffer| {
        let half = |v: i32| v.clamp(0, 0xffff) as u32;
        let thresholds = half(first) | half(second) << 16;
        buffer.record::<op::SetColorReductionThresholds>(&HOST, class.raw() as u8, &thresholds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scissors_are_cut_to_the_hardwares_edges() {
        assert_eq!(scissor([1, 2, 3, 4]), Scissor { x: 1, y: 2, width: 3, height: 4 });
        assert_eq!(scissor([-10, -1, 30, 1]), Scissor { x: 0, y: 0, width: 20, height: 0 });
        let all = Scissor { x: 0, y: 0, width: 0xffff, height: 0xffff };
        assert_eq!(scissor([0, 0, i32::MAX, i32::MAX]), all);
        assert_eq!(scissor([i32::MIN, i32::MAX, -1, i32::MAX]), Scissor { x: 0, y: 0xffff, width: 0, height: 0 });
    }
}
