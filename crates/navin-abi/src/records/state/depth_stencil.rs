//! `NVNdepthStencilState`: the depth and stencil tests.

use crate::enums::{NVNdepthFunc, NVNstencilFunc, NVNstencilOp};

use super::packed;

packed! {
    /// `NVNdepthStencilState`, 8 bytes.
    pub struct DepthStencilState(u64) {
        /// Whether the depth test is on.
        depth_test, set_depth_test: bool, 0, 1;
        /// Whether depth is written.
        depth_write, set_depth_write: bool, 1, 1;
        /// Whether the stencil test is on.
        stencil_test, set_stencil_test: bool, 2, 1;
        /// `NVNdepthFunc`.
        depth_func, set_depth_func: NVNdepthFunc, 4, 4;
        /// `NVNstencilFunc` of front faces.
        front_func, set_front_func: NVNstencilFunc, 8, 4;
        /// `NVNstencilOp` of front faces when the stencil test fails.
        front_fail, set_front_fail: NVNstencilOp, 12, 4;
        /// `NVNstencilOp` of front faces when the depth test fails.
        front_depth_fail, set_front_depth_fail: NVNstencilOp, 16, 4;
        /// `NVNstencilOp` of front faces when both pass.
        front_depth_pass, set_front_depth_pass: NVNstencilOp, 20, 4;
        /// `NVNstencilFunc` of back faces.
        back_func, set_back_func: NVNstencilFunc, 24, 4;
        /// `NVNstencilOp` of back faces when the stencil test fails.
        back_fail, set_back_fail: NVNstencilOp, 28, 4;
        /// `NVNstencilOp` of back faces when the depth test fails.
        back_depth_fail, set_back_depth_fail: NVNstencilOp, 32, 4;
        /// `NVNstencilOp` of back faces when both pass.
        back_depth_pass, set_back_depth_pass: NVNstencilOp, 36, 4;
    }
}

super::super::fits!(DepthStencilState in MIN_NVNDEPTHSTENCILSTATE);

/// One face's stencil test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StencilFace {
    /// `NVNstencilFunc`.
    pub func: NVNstencilFunc,
    /// `NVNstencilOp` when the stencil test fails.
    pub fail: NVNstencilOp,
    /// `NVNstencilOp` when the depth test fails.
    pub depth_fail: NVNstencilOp,
    /// `NVNstencilOp` when both pass.
    pub depth_pass: NVNstencilOp,
}

/// What a [`DepthStencilState`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthStencil {
    /// Whether the depth test is on.
    pub depth_test: bool,
    /// Whether depth is written.
    pub depth_write: bool,
    /// `NVNdepthFunc`.
    pub depth_func: NVNdepthFunc,
    /// Whether the stencil test is on.
    pub stencil_test: bool,
    /// Front faces.
    pub front: StencilFace,
    /// Back faces.
    pub back: StencilFace,
}

impl DepthStencilState {
    /// Tests off, depth written, LESS, ALWAYS, KEEP (OpenGL's initial state).
    pub const DEFAULT: Self = Self::from_bits(1 << 1 | 2 << 4 | 8 << 8 | 0x111 << 12 | 8 << 24 | 0x111 << 28);

    /// Every field at once.
    pub fn decode(self) -> DepthStencil {
        DepthStencil {
            depth_test: self.depth_test(),
            depth_write: self.depth_write(),
            depth_func: self.depth_func(),
            stencil_test: self.stencil_test(),
            front: self.face(false),
            back: self.face(true),
        }
    }

    /// The stencil test of back faces or of front faces.
    pub fn face(self, back: bool) -> StencilFace {
        if back {
            StencilFace {
                func: self.back_func(),
                fail: self.back_fail(),
                depth_fail: self.back_depth_fail(),
                depth_pass: self.back_depth_pass(),
            }
        } else {
            StencilFace {
                func: self.front_func(),
                fail: self.front_fail(),
                depth_fail: self.front_depth_fail(),
                depth_pass: self.front_depth_pass(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_opengls() {
        let state = DepthStencilState::DEFAULT.decode();
        const KEEP: NVNstencilOp = NVNstencilOp::KEEP;
        let face = StencilFace { func: NVNstencilFunc::ALWAYS, fail: KEEP, depth_fail: KEEP, depth_pass: KEEP };
        assert_eq!((state.front, state.back), (face, face));
        assert_eq!(
            (state.depth_test, state.depth_write, state.depth_func, state.stencil_test),
            (false, true, NVNdepthFunc::LESS, false)
        );
    }
}
