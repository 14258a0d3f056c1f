//! The order of 16-byte pieces within a GOB: the only thing in which the two console generations differ (B305).

/// Order of the 16-byte pieces within a GOB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GobOrder {
    /// Tegra X1: address bits from high to low x5 y2 y1 x4 y0 x3..x0.
    #[default]
    TegraX1,
    /// The successor (NVN2): x5 y2 x4 y1 y0 x3..x0.
    Successor,
}

impl GobOrder {
    /// The order of console generation 1 or 2.
    pub const fn from_generation(generation: u32) -> Option<Self> {
        match generation {
            1 => Some(Self::TegraX1),
            2 => Some(Self::Successor),
            _ => None,
        }
    }

    /// Console generation: 1 or 2.
    pub const fn generation(self) -> u32 {
        match self {
            Self::TegraX1 => 1,
            Self::Successor => 2,
        }
    }

    /// Byte offset within a GOB of byte `x` (0 to 63) of row `y` (0 to 7).
    pub const fn offset(self, x: usize, y: usize) -> usize {
        let (x4, y1) = match self {
            Self::TegraX1 => (5, 6),
            Self::Successor => (6, 5),
        };
        ((x >> 5 & 1) << 8)
            | ((y >> 2 & 1) << 7)
            | ((x >> 4 & 1) << x4)
            | ((y >> 1 & 1) << y1)
            | ((y & 1) << 4)
            | (x & 15)
    }
}

/// Offsets in a GOB by generation as constants of a type, so that a copy compiled for one order has no table at run
/// time: `X[piece]` for the four 16-byte pieces of a row, `Y[row]` for the eight rows (B304). They add up.
pub(super) struct Offsets<const SUCCESSOR: bool>;

impl<const SUCCESSOR: bool> Offsets<SUCCESSOR> {
    const ORDER: GobOrder = if SUCCESSOR { GobOrder::Successor } else { GobOrder::TegraX1 };

    /// Offset of each 16-byte piece of a row.
    pub const X: [usize; 4] = [0, Self::ORDER.offset(16, 0), Self::ORDER.offset(32, 0), Self::ORDER.offset(48, 0)];

    /// Offset of each row.
    pub const Y: [usize; 8] = {
        let mut rows = [0; 8];
        let mut y = 0;
        while y < 8 {
            rows[y] = Self::ORDER.offset(0, y);
            y += 1;
        }
        rows
    };
}
