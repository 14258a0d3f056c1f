//! `NVNblendState`: how one colour target blends.

use crate::enums::{NVNblendAdvancedMode, NVNblendAdvancedOverlap, NVNblendEquation, NVNblendFunc};

use super::packed;

packed! {
    /// `NVNblendState`, 8 bytes.
    pub struct BlendState(u64) {
        /// The colour target this state is for, 0 to 7.
        target, set_target: i32, 0, 4;
        /// `NVNblendEquation` of the colour channels.
        equation_rgb, set_equation_rgb: NVNblendEquation, 4, 3;
        /// `NVNblendEquation` of alpha.
        equation_alpha, set_equation_alpha: NVNblendEquation, 7, 3;
        /// `NVNblendFunc` of the source colour.
        source_rgb, set_source_rgb: NVNblendFunc, 10, 7;
        /// `NVNblendFunc` of the target's colour.
        destination_rgb, set_destination_rgb: NVNblendFunc, 17, 7;
        /// `NVNblendFunc` of the source alpha.
        source_alpha, set_source_alpha: NVNblendFunc, 24, 7;
        /// `NVNblendFunc` of the target's alpha.
        destination_alpha, set_destination_alpha: NVNblendFunc, 31, 7;
        /// `NVNblendAdvancedMode`.
        advanced_mode, set_advanced_mode: NVNblendAdvancedMode, 38, 6;
        /// `NVNblendAdvancedOverlap`.
        advanced_overlap, set_advanced_overlap: NVNblendAdvancedOverlap, 44, 2;
        /// Whether advanced blending takes the source as premultiplied.
        advanced_premultiplied_source, set_advanced_premultiplied_source: bool, 46, 1;
        /// Whether the target is told to be normalized; kept for its getter, changes no drawing (B435).
        advanced_normalized_destination, set_advanced_normalized_destination: bool, 47, 1;
    }
}

super::super::fits!(BlendState in MIN_NVNBLENDSTATE);

/// What a [`BlendState`] says, field by field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blend {
    /// The colour target, 0 to 15 (an index past 7 names no target).
    pub target: usize,
    /// `NVNblendEquation` of colour and of alpha.
    pub equation: [NVNblendEquation; 2],
    /// `NVNblendFunc` of the source, colour and alpha.
    pub source: [NVNblendFunc; 2],
    /// `NVNblendFunc` of the target, colour and alpha.
    pub destination: [NVNblendFunc; 2],
    /// `NVNblendAdvancedMode`; 0 is none.
    pub advanced_mode: NVNblendAdvancedMode,
    /// `NVNblendAdvancedOverlap`.
    pub advanced_overlap: NVNblendAdvancedOverlap,
    /// Whether advanced blending takes the source as premultiplied.
    pub premultiplied_source: bool,
}

impl BlendState {
    /// Target 0, the source replaces (OpenGL's initial state).
    pub const DEFAULT: Self = {
        // ADD 1, ONE 2, ZERO 1; the advanced source counts as premultiplied, as KHR_blend_equation_advanced has it.
        Self::from_bits(1 << 4 | 1 << 7 | 2 << 10 | 1 << 17 | 2 << 24 | 1 << 31 | 1 << 46)
    };

    /// Every field at once.
    pub fn decode(self) -> Blend {
        Blend {
            target: self.target() as usize,
            equation: [self.equation_rgb(), self.equation_alpha()],
            source: [self.source_rgb(), self.source_alpha()],
            destination: [self.destination_rgb(), self.destination_alpha()],
            advanced_mode: self.advanced_mode(),
            advanced_overlap: self.advanced_overlap(),
            premultiplied_source: self.advanced_premultiplied_source(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_replaces() {
        let blend = BlendState::DEFAULT.decode();
        assert_eq!((blend.target, blend.equation), (0, [NVNblendEquation::ADD; 2]));
        assert_eq!((blend.source, blend.destination), ([NVNblendFunc::ONE; 2], [NVNblendFunc::ZERO; 2]));
        assert_eq!((blend.advanced_mode, blend.premultiplied_source), (NVNblendAdvancedMode::NONE, true));
        assert_eq!(blend.advanced_overlap, NVNblendAdvancedOverlap::UNCORRELATED);
        assert!(!BlendState::DEFAULT.advanced_normalized_destination());
    }

    #[test]
    fn fields_do_not_touch_each_other() {
        let func = NVNblendFunc::ONE_MINUS_CONSTANT_ALPHA;
        let mut state = BlendState::from_bits(0);
        assert!(state.set_destination_alpha(func) && state.set_source_rgb(func));
        assert!(state.set_advanced_mode(NVNblendAdvancedMode::HSL_LUMINOSITY));
        assert_eq!(state.decode().destination, [NVNblendFunc(0), func]);
        assert_eq!(state.decode().source, [func, NVNblendFunc(0)]);
        assert!(state.set_destination_alpha(NVNblendFunc::ZERO));
        assert_eq!((state.advanced_mode(), state.source_rgb()), (NVNblendAdvancedMode::HSL_LUMINOSITY, func));
    }

    #[test]
    fn a_value_that_does_not_fit_is_refused() {
        let mut state = BlendState::DEFAULT;
        assert!(!state.set_target(16) && !state.set_source_rgb(NVNblendFunc(-1)));
        assert!(!state.set_advanced_mode(NVNblendAdvancedMode(0x7fff_ffff)));
        assert!(state == BlendState::DEFAULT);
    }
}
