//! `NVNpolygonState`: culling, facing, fill mode, offset enables.

use crate::enums::{NVNface, NVNfrontFace, NVNpolygonMode, NVNpolygonOffsetEnable};

use super::packed;

packed! {
    /// `NVNpolygonState`, 4 bytes.
    pub struct PolygonState(u32) {
        /// `NVNface` that is culled: bit 0 front, bit 1 back.
        cull_face, set_cull_face: NVNface, 0, 2;
        /// `NVNfrontFace`.
        front_face, set_front_face: NVNfrontFace, 2, 1;
        /// `NVNpolygonMode`.
        mode, set_mode: NVNpolygonMode, 3, 2;
        /// `NVNpolygonOffsetEnable` bits: points, lines, filled polygons.
        offset_enables, set_offset_enables: NVNpolygonOffsetEnable, 5, 3;
    }
}

super::super::fits!(PolygonState in MIN_NVNPOLYGONSTATE);

/// What a [`PolygonState`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polygon {
    /// Whether front faces are culled.
    pub cull_front: bool,
    /// Whether back faces are culled.
    pub cull_back: bool,
    /// Whether counter-clockwise is front, as NVN counts it (the window origin turns it round).
    pub front_is_counter_clockwise: bool,
    /// `NVNpolygonMode`.
    pub mode: NVNpolygonMode,
    /// `NVNpolygonOffsetEnable` bits.
    pub offset_enables: NVNpolygonOffsetEnable,
}

impl PolygonState {
    /// Nothing culled, counter-clockwise is front, filled, no offset (OpenGL's initial state).
    pub const DEFAULT: Self = Self::from_bits(1 << 2 | 2 << 3);

    /// Every field at once.
    pub fn decode(self) -> Polygon {
        Polygon {
            cull_front: self.cull_face().raw() & 1 != 0,
            cull_back: self.cull_face().raw() & 2 != 0,
            front_is_counter_clockwise: self.front_face() == NVNfrontFace::CCW,
            mode: self.mode(),
            offset_enables: self.offset_enables(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_opengls() {
        let expected = Polygon {
            cull_front: false,
            cull_back: false,
            front_is_counter_clockwise: true,
            mode: NVNpolygonMode::FILL,
            offset_enables: NVNpolygonOffsetEnable(0),
        };
        assert_eq!(PolygonState::DEFAULT.decode(), expected);
    }
}
