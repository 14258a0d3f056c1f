//! `NVNsampler` and `NVNsamplerBuilder`.
//!
//! Guests tell samplers apart by hashing their bytes from byte 8 on, so all state is there, in one pattern of
//! bytes for one state (B104): [`SamplerState`], the same in the builder, in the sampler and in command records.

use crate::enums::{NVNcompareFunc, NVNcompareMode, NVNmagFilter, NVNminFilter, NVNsamplerReduction, NVNwrapMode};

use super::state::packed;

packed! {
    /// The enumerators of [`SamplerState`].
    pub struct SamplerModes(u32) {
        /// `NVNminFilter`.
        min_filter, set_min_filter: NVNminFilter, 0, 3;
        /// `NVNmagFilter`.
        mag_filter, set_mag_filter: NVNmagFilter, 3, 1;
        /// `NVNwrapMode` along s.
        wrap_s, set_wrap_s: NVNwrapMode, 4, 3;
        /// `NVNwrapMode` along t.
        wrap_t, set_wrap_t: NVNwrapMode, 7, 3;
        /// `NVNwrapMode` along r.
        wrap_r, set_wrap_r: NVNwrapMode, 10, 3;
        /// `NVNcompareMode`.
        compare_mode, set_compare_mode: NVNcompareMode, 13, 1;
        /// `NVNcompareFunc`.
        compare_func, set_compare_func: NVNcompareFunc, 14, 4;
        /// `NVNsamplerReduction`.
        reduction, set_reduction: NVNsamplerReduction, 18, 2;
        /// Which setter gave the border colour: 0 float, 1 signed, 2 unsigned.
        border_kind, set_border_kind: i32, 20, 2;
        /// 0x5a in every state that SetDefaults made.
        signature, set_signature: i32, 24, 8;
    }
}

const SIGNATURE: i32 = 0x5a;

/// The kind of number that the border colour was given as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BorderKind {
    /// `SetBorderColor`.
    Float,
    /// `SetBorderColori`.
    Signed,
    /// `SetBorderColorui`.
    Unsigned,
}

/// A border colour with the kind of number it was given as, kept exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BorderColor {
    /// As floats.
    Float([f32; 4]),
    /// As signed integers.
    Signed([i32; 4]),
    /// As unsigned integers.
    Unsigned([u32; 4]),
}

impl BorderColor {
    /// The kind of number.
    pub const fn kind(self) -> BorderKind {
        match self {
            Self::Float(_) => BorderKind::Float,
            Self::Signed(_) => BorderKind::Signed,
            Self::Unsigned(_) => BorderKind::Unsigned,
        }
    }

    /// The colour as floats; integers are converted numerically: 1 is 1.0 (B414).
    pub fn to_float(self) -> [f32; 4] {
        match self {
            Self::Float(c) => c,
            Self::Signed(c) => c.map(|v| v as f32),
            Self::Unsigned(c) => c.map(|v| v as f32),
        }
    }

    /// The colour as signed integers, converted numerically, saturating.
    pub fn to_signed(self) -> [i32; 4] {
        match self {
            Self::Float(c) => c.map(|v| v as i32),
            Self::Signed(c) => c,
            Self::Unsigned(c) => c.map(|v| i32::try_from(v).unwrap_or(i32::MAX)),
        }
    }

    /// The colour as unsigned integers, converted numerically, saturating.
    pub fn to_unsigned(self) -> [u32; 4] {
        match self {
            Self::Float(c) => c.map(|v| v as u32),
            Self::Signed(c) => c.map(|v| u32::try_from(v).unwrap_or(0)),
            Self::Unsigned(c) => c,
        }
    }
}

/// Everything a sampler is, in 40 bytes without padding; one state has one pattern of bytes (B104).
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
pub struct SamplerState {
    /// The enumerators.
    pub modes: SamplerModes,
    lod_min: u32,
    lod_max: u32,
    lod_bias: u32,
    lod_snap: u32,
    max_anisotropy: u32,
    border: [u32; 4],
}

/// What a [`SamplerState`] says, field by field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplerDesc {
    /// `NVNminFilter`.
    pub min_filter: NVNminFilter,
    /// `NVNmagFilter`.
    pub mag_filter: NVNmagFilter,
    /// `NVNwrapMode` along s, t, r.
    pub wrap: [NVNwrapMode; 3],
    /// Least and greatest level of detail.
    pub lod_clamp: [f32; 2],
    /// Added to the level of detail.
    pub lod_bias: f32,
    /// The fraction the level of detail snaps to; 0: none. A hint of filtering quality.
    pub lod_snap: f32,
    /// Greatest anisotropy; 1 is none.
    pub max_anisotropy: f32,
    /// `NVNcompareMode`.
    pub compare_mode: NVNcompareMode,
    /// `NVNcompareFunc`.
    pub compare_func: NVNcompareFunc,
    /// The border colour.
    pub border: BorderColor,
    /// `NVNsamplerReduction`.
    pub reduction: NVNsamplerReduction,
}

/// The bits of a float with -0 made 0, so that equal numbers are equal bytes.
fn canonical(value: f32) -> u32 {
    if value == 0.0 { 0 } else { value.to_bits() }
}

impl SamplerState {
    /// OpenGL's initial state: NEAREST_MIPMAP_LINEAR, LINEAR, REPEAT, levels -1000 to 1000, no anisotropy, no
    /// comparison (LEQUAL), transparent black border.
    pub const DEFAULT: Self = Self {
        modes: SamplerModes::from_bits(4 | 1 << 3 | 1 << 4 | 1 << 7 | 1 << 10 | 4 << 14 | (SIGNATURE as u32) << 24),
        lod_min: (-1000.0f32).to_bits(),
        lod_max: 1000.0f32.to_bits(),
        lod_bias: 0,
        lod_snap: 0,
        max_anisotropy: 1.0f32.to_bits(),
        border: [0; 4],
    };

    /// Whether SetDefaults made these bytes; others are to be taken for [`DEFAULT`](Self::DEFAULT).
    pub fn is_state(&self) -> bool {
        self.modes.signature() == SIGNATURE
    }

    /// Every field at once.
    pub fn decode(&self) -> SamplerDesc {
        SamplerDesc {
            min_filter: self.modes.min_filter(),
            mag_filter: self.modes.mag_filter(),
            wrap: [self.modes.wrap_s(), self.modes.wrap_t(), self.modes.wrap_r()],
            lod_clamp: self.lod_clamp(),
            lod_bias: self.lod_bias(),
            lod_snap: self.lod_snap(),
            max_anisotropy: self.max_anisotropy(),
            compare_mode: self.modes.compare_mode(),
            compare_func: self.modes.compare_func(),
            border: self.border(),
            reduction: self.modes.reduction(),
        }
    }

    /// Least and greatest level of detail.
    pub const fn lod_clamp(&self) -> [f32; 2] {
        [f32::from_bits(self.lod_min), f32::from_bits(self.lod_max)]
    }

    /// Sets the least and greatest level of detail.
    pub fn set_lod_clamp(&mut self, [min, max]: [f32; 2]) {
        (self.lod_min, self.lod_max) = (canonical(min), canonical(max));
    }

    /// What is added to the level of detail.
    pub const fn lod_bias(&self) -> f32 {
        f32::from_bits(self.lod_bias)
    }

    /// Sets what is added to the level of detail.
    pub fn set_lod_bias(&mut self, bias: f32) {
        self.lod_bias = canonical(bias);
    }

    /// The fraction that the level of detail snaps to.
    pub const fn lod_snap(&self) -> f32 {
        f32::from_bits(self.lod_snap)
    }

    /// Sets the fraction that the level of detail snaps to.
    pub fn set_lod_snap(&mut self, snap: f32) {
        self.lod_snap = canonical(snap);
    }

    /// Greatest anisotropy.
    pub const fn max_anisotropy(&self) -> f32 {
        f32::from_bits(self.max_anisotropy)
    }

    /// Sets the greatest anisotropy.
    pub fn set_max_anisotropy(&mut self, anisotropy: f32) {
        self.max_anisotropy = canonical(anisotropy);
    }

    /// The border colour as it was given.
    pub fn border(&self) -> BorderColor {
        match self.modes.border_kind() {
            1 => BorderColor::Signed(self.border.map(|v| v as i32)),
            2 => BorderColor::Unsigned(self.border),
            _ => BorderColor::Float(self.border.map(f32::from_bits)),
        }
    }

    /// Sets the border colour.
    pub fn set_border(&mut self, color: BorderColor) {
        let (kind, words) = match color {
            BorderColor::Float(c) => (0, c.map(canonical)),
            BorderColor::Signed(c) => (1, c.map(|v| v as u32)),
            BorderColor::Unsigned(c) => (2, c),
        };
        self.border = words;
        // The three kinds fit two bits.
        let _fits = self.modes.set_border_kind(kind);
    }
}

/// `NVNsampler`: 8 bytes that say nothing of the state, then the state. Bytes from 0x30 on belong to the guest.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct SamplerRecord {
    magic: u32,
    zero: u32,
    /// The state.
    pub state: SamplerState,
}

super::record!(SamplerRecord in "NVNsampler", magic b"NVsa", at most MIN_NVNSAMPLER);
const _: () = assert!(std::mem::offset_of!(SamplerRecord, state) == 8 && size_of::<SamplerRecord>() == 0x30);

impl SamplerRecord {
    /// A live sampler.
    pub const fn new(state: SamplerState) -> Self {
        Self { magic: <Self as super::Record>::MAGIC, zero: 0, state }
    }
}

/// `NVNsamplerBuilder`: the device, then the state from byte 8 on (B104).
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct SamplerBuilderRecord {
    /// Guest address of the device.
    pub device: u64,
    /// The state.
    pub state: SamplerState,
}

super::fits!(SamplerBuilderRecord in MIN_NVNSAMPLERBUILDER);
const _: () = assert!(std::mem::offset_of!(SamplerBuilderRecord, state) == 8);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_opengls() {
        let d = SamplerState::DEFAULT.decode();
        assert_eq!((d.min_filter, d.mag_filter), (NVNminFilter::NEAREST_MIPMAP_LINEAR, NVNmagFilter::LINEAR));
        assert_eq!((d.wrap, d.compare_mode), ([NVNwrapMode::REPEAT; 3], NVNcompareMode::NONE));
        assert_eq!(d.compare_func, NVNcompareFunc::LEQUAL);
        assert_eq!((d.lod_clamp, d.lod_bias, d.lod_snap, d.max_anisotropy), ([-1000.0, 1000.0], 0.0, 0.0, 1.0));
        assert_eq!((d.border, d.reduction), (BorderColor::Float([0.0; 4]), NVNsamplerReduction::AVERAGE));
        assert!(SamplerState::DEFAULT.is_state());
        assert!(!<SamplerState as bytemuck::Zeroable>::zeroed().is_state());
    }

    #[test]
    fn b104_minus_zero_and_zero_are_one_state() {
        let (mut a, mut b) = (SamplerState::DEFAULT, SamplerState::DEFAULT);
        a.set_lod_bias(-0.0);
        b.set_lod_bias(0.0);
        a.set_border(BorderColor::Float([-0.0, 1.0, -0.0, 0.0]));
        b.set_border(BorderColor::Float([0.0, 1.0, 0.0, 0.0]));
        assert_eq!(bytemuck::bytes_of(&a), bytemuck::bytes_of(&b));
    }

    #[test]
    fn b414_integer_borders_are_numbers() {
        let mut state = SamplerState::DEFAULT;
        state.set_border(BorderColor::Unsigned([0, 1, u32::MAX, 2]));
        assert_eq!(state.border().kind(), BorderKind::Unsigned);
        assert_eq!(state.border().to_float(), [0.0, 1.0, u32::MAX as f32, 2.0]);
        assert_eq!(state.border().to_signed(), [0, 1, i32::MAX, 2]);
        state.set_border(BorderColor::Signed([-1, 1, 0, 7]));
        assert_eq!(state.border().to_float(), [-1.0, 1.0, 0.0, 7.0]);
        assert_eq!(state.border().to_unsigned(), [0, 1, 0, 7]);
    }
}
