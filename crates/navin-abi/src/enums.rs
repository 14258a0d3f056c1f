//! NVN's enums and bit masks, as the guest passes them.
//!
//! A guest may pass any number, so each is a transparent `i32` with constants, never a Rust enum. The driver's
//! entry points take these types; replay and the texture code match on their constants. The constants are
//! generated from `facts/nvn_enums.tsv`; each is the C name without its enum's common prefix
//! (`NVN_FORMAT_RGBA8` is `NVNformat::RGBA8`, `NVN_TEXTURE_TARGET_2D` is `NVNtextureTarget::TARGET_2D`). The size
//! markers (`..._LARGE`) are left out.

/// What values and masks have in common.
macro_rules! common {
    ($(#[$doc:meta])* $type:ident { $($name:ident = $value:literal, $c:literal;)* }) => {
        $(#[$doc])*
        #[allow(non_camel_case_types)]
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, bytemuck::Pod, bytemuck::Zeroable)]
        pub struct $type(pub i32);

        #[allow(non_upper_case_globals)]
        impl $type {
            $(#[doc = $c] pub const $name: Self = Self($value);)*

            /// Every constant and its name, in the order of the headers. Some values have two names.
            pub const ALL: &'static [(Self, &'static str)] = &[$((Self($value), stringify!($name)),)*];

            /// The value that the guest passed as `raw`.
            pub const fn from_raw(raw: i32) -> Self {
                Self(raw)
            }

            /// The number that the guest passed.
            pub const fn raw(self) -> i32 {
                self.0
            }

            /// The constant's name, `None` for a number that NVN does not define.
            pub fn name(self) -> Option<&'static str> {
                Self::ALL.iter().find(|(value, _)| *value == self).map(|(_, name)| *name)
            }
        }
    };
}

/// An enum: `Debug` prints the name, or the number when there is none.
macro_rules! values {
    ($(#[$doc:meta])* $type:ident $body:tt) => {
        common! { $(#[$doc])* $type $body }

        impl core::fmt::Debug for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, "{}", self.0),
                }
            }
        }
    };
}

/// A mask: `Debug` prints `A | B | 0x100`, numbers for what has no name.
macro_rules! masks {
    ($(#[$doc:meta])* $type:ident $body:tt) => {
        common! { $(#[$doc])* $type $body }

        impl $type {
            /// Whether every bit of `other` is set.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// Whether any bit of `other` is set.
            pub const fn intersects(self, other: Self) -> bool {
                self.0 & other.0 != 0
            }

            /// Whether no bit is set.
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }
        }

        impl core::ops::BitOr for $type {
            type Output = Self;
            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl core::ops::BitOrAssign for $type {
            fn bitor_assign(&mut self, other: Self) {
                self.0 |= other.0;
            }
        }

        impl core::ops::BitAnd for $type {
            type Output = Self;
            fn bitand(self, other: Self) -> Self {
                Self(self.0 & other.0)
            }
        }

        impl core::fmt::Debug for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                $crate::enums::debug_mask(self.0, self.name(), Self::ALL.iter().map(|(bit, name)| (bit.0, *name)), f)
            }
        }
    };
}

#[path = "generated/enums.rs"]
mod generated;

pub use generated::*;

/// Writes a mask's bits by name. `whole` is the name of the very value, if it has one.
fn debug_mask(
    value: i32,
    whole: Option<&str>,
    names: impl Iterator<Item = (i32, &'static str)>,
    f: &mut core::fmt::Formatter<'_>,
) -> core::fmt::Result {
    if let Some(name) = whole {
        return f.write_str(name);
    }
    let mut rest = value;
    for (bit, name) in names.filter(|(bit, _)| bit.count_ones() == 1) {
        if rest & bit != 0 {
            if rest != value {
                f.write_str(" | ")?;
            }
            f.write_str(name)?;
            rest &= !bit;
        }
    }
    match (rest, rest == value) {
        (0, false) => Ok(()),
        (rest, true) => write!(f, "{rest:#x}"),
        (rest, false) => write!(f, " | {rest:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_print_their_name_or_number() {
        assert_eq!(format!("{:?}", NVNformat::RGBA8), "RGBA8");
        assert_eq!(format!("{:?}", NVNformat(9999)), "9999");
        assert_eq!(NVNformat::from_raw(37), NVNformat::RGBA8);
        assert_eq!(NVNtextureTarget::TARGET_2D.raw(), 1);
        assert_eq!(NVNformat(-1).name(), None);
    }

    #[test]
    fn masks_print_their_bits() {
        let mask = NVNtextureFlags::IMAGE | NVNtextureFlags::SPARSE;
        assert_eq!(format!("{mask:?}"), "IMAGE | SPARSE");
        assert_eq!(format!("{:?}", NVNtextureFlags(4 | 1 << 20)), "IMAGE | 0x100000");
        assert_eq!(format!("{:?}", NVNtextureFlags(0)), "0x0");
        assert_eq!(format!("{:?}", NVNface::FRONT_AND_BACK), "FRONT_AND_BACK");
        assert!(mask.contains(NVNtextureFlags::IMAGE));
        assert!(!mask.contains(NVNtextureFlags::IMAGE | NVNtextureFlags::LINEAR));
        assert!(mask.intersects(NVNtextureFlags::IMAGE | NVNtextureFlags::LINEAR));
    }
}
