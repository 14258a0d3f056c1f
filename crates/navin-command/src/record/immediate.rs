//! What the 8 immediate bits of a record's header hold.

/// A value that fits the immediate. Any 8 bits are some value: guests can write over records.
pub trait Immediate: Copy {
    /// The value of these bits.
    fn from_bits(bits: u8) -> Self;
    /// The bits of this value.
    fn bits(self) -> u8;
}

impl Immediate for u8 {
    #[inline]
    fn from_bits(bits: u8) -> Self {
        bits
    }
    #[inline]
    fn bits(self) -> u8 {
        self
    }
}

impl Immediate for () {
    #[inline]
    fn from_bits(_: u8) -> Self {}
    #[inline]
    fn bits(self) -> u8 {
        0
    }
}

macro_rules! immediate {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[repr(transparent)]
            #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
            pub struct $name(u8);

            impl Immediate for $name {
                #[inline]
                fn from_bits(bits: u8) -> Self {
                    Self(bits)
                }
                #[inline]
                fn bits(self) -> u8 {
                    self.0
                }
            }
        )*
    };
}

immediate! {
    /// NVNshaderStage in bits 0-2, the first slot in bits 3-7.
    StageSlot;
    /// NVNdrawPrimitive in bits 0-3, NVNindexType in bits 4-5.
    ElementMode;
    /// Colour targets in bits 0-3; bit 4: the last target is the depth-stencil target.
    TargetCount;
    /// Colour target in bits 0-3, NVNclearColorMask in bits 4-7.
    ClearTarget;
    /// NVNsyncCondition in bit 0, NVNsyncFlagBits in bits 1-7.
    FenceMode;
    /// NVNeventSignalMode in bits 0-1, NVNeventSignalLocation in bits 2-3, NVNeventSignalFlags in bits 4-7.
    SignalMode;
}

impl StageSlot {
    /// `stage` must be below 8, `slot` below 32.
    #[inline]
    pub const fn new(stage: u8, slot: u8) -> Self {
        Self(stage & 7 | slot << 3)
    }

    /// NVNshaderStage; 6 and 7 are no stage.
    #[inline]
    pub const fn stage(self) -> usize {
        (self.0 & 7) as usize
    }

    /// The first slot, below 32.
    #[inline]
    pub const fn slot(self) -> usize {
        (self.0 >> 3) as usize
    }
}

impl ElementMode {
    /// `primitive` must be below 16, `index_type` below 4.
    #[inline]
    pub const fn new(primitive: u8, index_type: u8) -> Self {
        Self(primitive & 15 | (index_type & 3) << 4)
    }

    /// NVNdrawPrimitive.
    #[inline]
    pub const fn primitive(self) -> u8 {
        self.0 & 15
    }

    /// NVNindexType; 3 is none.
    #[inline]
    pub const fn index_type(self) -> u8 {
        self.0 >> 4 & 3
    }
}

impl TargetCount {
    /// `colors` must be below 16.
    #[inline]
    pub const fn new(colors: u8, depth_stencil: bool) -> Self {
        Self(colors & 15 | (depth_stencil as u8) << 4)
    }

    /// Colour targets.
    #[inline]
    pub const fn colors(self) -> usize {
        (self.0 & 15) as usize
    }

    /// Whether a depth-stencil target follows them.
    #[inline]
    pub const fn has_depth_stencil(self) -> bool {
        self.0 & 16 != 0
    }
}

impl ClearTarget {
    /// `index` must be below 16.
    #[inline]
    pub const fn new(index: u8, mask: u8) -> Self {
        Self(index & 15 | mask << 4)
    }

    /// Which colour target.
    #[inline]
    pub const fn index(self) -> usize {
        (self.0 & 15) as usize
    }

    /// NVNclearColorMask.
    #[inline]
    pub const fn mask(self) -> u8 {
        self.0 >> 4
    }
}

impl FenceMode {
    /// `condition` must be below 2, `flags` below 128.
    #[inline]
    pub const fn new(condition: u8, flags: u8) -> Self {
        Self(condition & 1 | flags << 1)
    }

    /// NVNsyncCondition.
    #[inline]
    pub const fn condition(self) -> u8 {
        self.0 & 1
    }

    /// NVNsyncFlagBits.
    #[inline]
    pub const fn flags(self) -> u8 {
        self.0 >> 1
    }
}

impl SignalMode {
    /// `mode` and `location` must be below 4, `flags` below 16.
    #[inline]
    pub const fn new(mode: u8, location: u8, flags: u8) -> Self {
        Self(mode & 3 | (location & 3) << 2 | flags << 4)
    }

    /// NVNeventSignalMode.
    #[inline]
    pub const fn mode(self) -> u8 {
        self.0 & 3
    }

    /// NVNeventSignalLocation.
    #[inline]
    pub const fn location(self) -> u8 {
        self.0 >> 2 & 3
    }

    /// NVNeventSignalFlags.
    #[inline]
    pub const fn flags(self) -> u8 {
        self.0 >> 4
    }
}
