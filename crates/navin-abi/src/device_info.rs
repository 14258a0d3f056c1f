//! The answers of `nvnDeviceGetInteger`, for both generations.
//!
//! Generated from `facts/nvn_device_info.tsv`; the driver's entry point asks [`lookup`]. Never answered from a
//! limit of the host (B420).

use crate::enums::NVNdeviceInfo;

/// Which console a guest was written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Generation {
    /// Tegra X1, Maxwell.
    #[default]
    X1,
    /// The successor, Ampere, with the API revision NVN2.
    Nvn2,
}

/// One item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The number that the guest asks for.
    pub item: i32,
    /// Its name without `NVN_DEVICE_INFO_`; `None` where it is not known.
    pub name: Option<&'static str>,
    /// The first generation's value; `None` where it is not known.
    pub x1: Option<i32>,
    /// NVN2's value; `None` where the console reads it from its GPU's description at run time.
    pub nvn2: Option<i32>,
}

macro_rules! items {
    (@value -) => { None };
    (@value $value:literal) => { Some($value) };
    (@name -) => { None };
    (@name $name:ident) => { Some(stringify!($name)) };
    ($($item:literal $name:tt: $x1:tt, $nvn2:tt;)*) => {
        /// Every item, at the index of its number.
        pub static ITEMS: &[super::Item] = &[$(
            super::Item {
                item: $item,
                name: items!(@name $name),
                x1: items!(@value $x1),
                nvn2: items!(@value $nvn2),
            },
        )*];
    };
}

#[path = "generated/device_info.rs"]
mod generated;

pub use generated::ITEMS;

/// The API version (major, minor) that a guest built with SDK 10 or older expects (B417); later ones get the
/// table's 55.15.
pub const API_VERSION_SDK_10: (i32, i32) = (53, 313);

/// Newest minor version of first-generation GPU code to report: shipped shaders go up to it, whatever the
/// measured driver said (B418).
const GPU_CODE_MINOR_X1: i32 = 16;

/// Vertex buffer bindings and attributes that Navin's own tables hold; NVN2's hardware has 32 (B419).
const VERTEX_LIMIT: i32 = 16;

/// The row of an item, `None` past the table.
pub fn item(item: NVNdeviceInfo) -> Option<&'static Item> {
    usize::try_from(item.0).ok().and_then(|index| ITEMS.get(index))
}

/// What the driver answers a guest of that generation; `None` where no value is known (answer 0, loudly).
///
/// An item that NVN2 reads at run time answers the first generation's value (B419).
pub fn lookup(asked: NVNdeviceInfo, generation: Generation) -> Option<i32> {
    let row = item(asked)?;
    match (generation, asked) {
        (Generation::X1, NVNdeviceInfo::GLSLC_MAX_SUPPORTED_GPU_CODE_MINOR_VERSION) => Some(GPU_CODE_MINOR_X1),
        (Generation::X1, _) => row.x1,
        (Generation::Nvn2, NVNdeviceInfo::VERTEX_BUFFER_BINDINGS | NVNdeviceInfo::VERTEX_ATTRIBUTES) => {
            Some(VERTEX_LIMIT)
        }
        (Generation::Nvn2, _) => row.nvn2.or(row.x1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn x1(item: i32) -> Option<i32> {
        lookup(NVNdeviceInfo(item), Generation::X1)
    }

    fn nvn2(item: i32) -> Option<i32> {
        lookup(NVNdeviceInfo(item), Generation::Nvn2)
    }

    #[test]
    fn b417_the_default_version_is_that_of_later_sdks() {
        assert_eq!((x1(0), x1(1)), (Some(55), Some(15)));
    }

    #[test]
    fn b418_the_gpu_code_range_admits_1_9_to_1_16() {
        assert_eq!((x1(0x2E), x1(0x30)), (Some(1), Some(16)));
        assert_eq!(x1(0x2F), Some(1));
        assert!(x1(0x31).is_some_and(|oldest| oldest <= 9));
    }

    #[test]
    fn b419_nvn2_has_its_own_values() {
        assert_eq!((nvn2(0), nvn2(1)), (Some(231), Some(39)));
        assert_eq!([0x2E, 0x2F, 0x30, 0x31].map(nvn2), [Some(201), Some(201), Some(20), Some(0)]);
        assert_eq!(nvn2(0x1F), Some(1024));
        assert_eq!(nvn2(0x2C), Some(16));
        assert_eq!(nvn2(0x1A), Some(16384));
        assert_eq!(nvn2(0x4E), Some(2048));
        assert_eq!(nvn2(0x5F), Some(32));
        assert_eq!((nvn2(6), nvn2(14)), (Some(16), Some(16)));
        assert_eq!(nvn2(0x2B), x1(0x2B), "a run-time item answers the first generation's value");
    }

    #[test]
    fn b420_the_last_items_of_the_first_generation() {
        let expected = [128, 32, 65535, 1, 32, 256, 16, 65535, 65535, 256, 16383];
        for (item, value) in (0x5E..).zip(expected) {
            assert_eq!(x1(item), Some(value), "item {item:#x}");
        }
        assert_eq!(x1(0x69), None);
        assert_eq!(x1(-1), None);
    }
}
