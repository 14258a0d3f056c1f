//! `NVNcolorState`: which targets blend, the logic operation, the alpha test.

use crate::enums::{NVNalphaFunc, NVNlogicOp};

use super::{COLOR_TARGETS, packed};

packed! {
    /// `NVNcolorState`, 4 bytes.
    pub struct ColorState(u32) {
        /// Bit N: target N blends.
        blend_enables, set_blend_enables: i32, 0, 8;
        /// `NVNlogicOp`; COPY is no operation at all.
        logic_op, set_logic_op: NVNlogicOp, 8, 4;
        /// `NVNalphaFunc`; ALWAYS is no test at all.
        alpha_func, set_alpha_func: NVNalphaFunc, 12, 4;
    }
}

super::super::fits!(ColorState in MIN_NVNCOLORSTATE);

impl ColorState {
    /// No blending, logic operation COPY, alpha test ALWAYS.
    pub const DEFAULT: Self = Self::from_bits(3 << 8 | 8 << 12);

    /// Whether target `index` blends; false for a target that does not exist.
    pub const fn blend_enabled(self, index: usize) -> bool {
        index < COLOR_TARGETS && self.0 >> index & 1 != 0
    }

    /// Sets whether target `index` blends; false when there is no such target.
    #[must_use]
    pub const fn set_blend_enabled(&mut self, index: usize, enabled: bool) -> bool {
        if index >= COLOR_TARGETS {
            return false;
        }
        self.0 = self.0 & !(1 << index) | (enabled as u32) << index;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_and_targets() {
        let mut state = ColorState::DEFAULT;
        assert_eq!(
            (state.blend_enables(), state.logic_op(), state.alpha_func()),
            (0, NVNlogicOp::COPY, NVNalphaFunc::ALWAYS)
        );
        assert!(state.set_blend_enabled(7, true) && state.blend_enabled(7) && !state.blend_enabled(0));
        assert!(!state.set_blend_enabled(8, true) && !state.blend_enabled(8));
        assert_eq!((state.logic_op(), state.alpha_func()), (NVNlogicOp::COPY, NVNalphaFunc::ALWAYS));
    }
}
