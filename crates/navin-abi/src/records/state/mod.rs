//! The state objects that a guest sets up, binds to a command buffer and forgets: packed into the 4, 8 or 24
//! bytes that NVN gives them.
//!
//! Setters and getters of the entry points change and read fields here (B423); command records hold the packed
//! form; the replay reads [`decode`](BlendState::decode)d values. A setter refuses a value that does not fit its
//! field (it returns false and changes nothing), so a getter only ever gives back what a setter took.

mod blend;
mod channel_mask;
mod color;
mod depth_stencil;
mod multisample;
mod polygon;
mod vertex;

pub use blend::{Blend, BlendState};
pub use channel_mask::ChannelMaskState;
pub use color::ColorState;
pub use depth_stencil::{DepthStencil, DepthStencilState, StencilFace};
pub use multisample::{Multisample, MultisampleFields, MultisampleState};
pub use polygon::{Polygon, PolygonState};
pub use vertex::{VertexAttribState, VertexStreamState};

/// The colour targets a state object can name.
pub const COLOR_TARGETS: usize = 8;

/// A value that a bit field holds: an enum, a mask, a flag or a small number.
pub(super) trait Field: Copy {
    /// The bits as an unsigned number; `None` for a negative value, which no field holds.
    fn into_bits(self) -> Option<u32>;
    /// The value of the field's bits.
    fn from_bits(bits: u32) -> Self;
}

impl Field for i32 {
    fn into_bits(self) -> Option<u32> {
        u32::try_from(self).ok()
    }
    fn from_bits(bits: u32) -> Self {
        bits as i32
    }
}

impl Field for bool {
    fn into_bits(self) -> Option<u32> {
        Some(self.into())
    }
    fn from_bits(bits: u32) -> Self {
        bits != 0
    }
}

macro_rules! enum_fields {
    ($($type:ident)*) => {$(
        impl Field for crate::enums::$type {
            fn into_bits(self) -> Option<u32> {
                self.raw().into_bits()
            }
            fn from_bits(bits: u32) -> Self {
                Self::from_raw(bits as i32)
            }
        }
    )*};
}
enum_fields! {
    NVNblendEquation NVNblendFunc NVNblendAdvancedMode NVNblendAdvancedOverlap NVNlogicOp NVNalphaFunc NVNdepthFunc
    NVNstencilFunc NVNstencilOp NVNface NVNfrontFace NVNpolygonMode NVNpolygonOffsetEnable NVNcoverageModulationMode
    NVNformat NVNminFilter NVNmagFilter NVNwrapMode NVNcompareMode NVNcompareFunc NVNsamplerReduction
}

/// Makes `$name` a packed word with a getter and a setter for each bit field.
macro_rules! packed {
    (
        $(#[$doc:meta])*
        pub struct $name:ident($word:ty) {
            $( $(#[$field_doc:meta])* $get:ident, $set:ident : $field:ty, $shift:literal, $bits:literal; )+
        }
    ) => {
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, bytemuck::Pod, bytemuck::Zeroable)]
        pub struct $name($word);

        impl $name {
            /// The packed word.
            pub const fn bits(self) -> $word {
                self.0
            }

            /// The object whose packed word is `bits`.
            pub const fn from_bits(bits: $word) -> Self {
                Self(bits)
            }

            $(
                $(#[$field_doc])*
                pub fn $get(self) -> $field {
                    $crate::records::state::Field::from_bits(((self.0 >> $shift) & ((1 << $bits) - 1)) as u32)
                }

                /// Sets the field of the getter above; false, with nothing changed, when the value does not fit.
                #[must_use]
                pub fn $set(&mut self, value: $field) -> bool {
                    let mask: $word = (1 << $bits) - 1;
                    match $crate::records::state::Field::into_bits(value) {
                        Some(bits) if <$word>::from(bits) <= mask => {
                            self.0 = self.0 & !(mask << $shift) | <$word>::from(bits) << $shift;
                            true
                        }
                        _ => false,
                    }
                }
            )+
        }
    };
}
pub(super) use packed;
