//! The device: integers, modes, handles.

use std::sync::Mutex;

use navin_abi::device_info::{API_VERSION_SDK_10, Generation};
use navin_abi::records::DeviceRecord;
use navin_abi::sizes;
use navin_abi::types::*;

use super::{Guarded, call};
use crate::entry::device::identify_guest;

/// What the guest was built for is one for the process: tests that change it take turns.
static GUEST: Mutex<()> = Mutex::new(());

fn device() -> Guarded {
    Guarded::holding(sizes::MIN_NVNDEVICE, &DeviceRecord::new(0))
}

fn integer(item: i32) -> i32 {
    let mut words = [-1, -1, -1];
    call!(nvnDeviceGetInteger(device().at(), NVNdeviceInfo(item), &raw mut words[1]));
    assert_eq!((words[0], words[2]), (-1, -1));
    words[1]
}

#[test]
fn b417_the_api_version_follows_the_guest() {
    let _turn = GUEST.lock().unwrap_or_else(|e| e.into_inner());
    assert_eq!((integer(0), integer(1)), (55, 15));
    let (major, minor) = API_VERSION_SDK_10;
    identify_guest(Generation::X1, Some((major as u16, minor as u16)));
    assert_eq!((integer(0), integer(1)), (53, 313));
    identify_guest(Generation::Nvn2, None);
    assert_eq!((integer(0), integer(1)), (231, 39));
    assert_eq!(integer(0x1f), 1024);
    identify_guest(Generation::X1, None);
    assert_eq!((integer(0), integer(1)), (55, 15));
}

#[test]
fn b416_an_unknown_item_is_zero_and_loud() {
    let _turn = GUEST.lock().unwrap_or_else(|e| e.into_inner());
    let before = navin_abi::fault::count();
    assert_eq!(integer(0x69), 0);
    assert_eq!(integer(-1), 0);
    assert!(navin_abi::fault::count() >= before + 2);
}

#[test]
fn b420_slots_are_the_smaller_of_two_items() {
    let _turn = GUEST.lock().unwrap_or_else(|e| e.into_inner());
    assert_eq!(integer(0x5e).min(integer(0x5f)), 32);
    assert_eq!(integer(0x67), 256, "B433");
}

#[test]
fn b424_modes_and_the_texel_fetch_handle() {
    let mut device = device();
    assert_eq!(call!(nvnDeviceGetWindowOriginMode(device.at())), NVNwindowOriginMode::LOWER_LEFT);
    assert_eq!(call!(nvnDeviceGetDepthMode(device.at())), NVNdepthMode::NEAR_IS_MINUS_W);
    call!(nvnDeviceSetWindowOriginMode(device.at(), NVNwindowOriginMode::UPPER_LEFT));
    call!(nvnDeviceSetDepthMode(device.at(), NVNdepthMode::NEAR_IS_ZERO));
    call!(nvnDeviceSetDepthMode(device.at(), NVNdepthMode(77)));
    assert_eq!(call!(nvnDeviceGetWindowOriginMode(device.at())), NVNwindowOriginMode::UPPER_LEFT);
    assert_eq!(call!(nvnDeviceGetDepthMode(device.at())), NVNdepthMode::NEAR_IS_ZERO);
    assert_eq!(call!(nvnDeviceGetTexelFetchHandle(device.at(), 0x1d1)), 0x1d1);
    assert!(device.is_intact());
}

#[test]
fn b415_handles_pack_both_ids_in_32_bits() {
    let mut device = device();
    assert_eq!(call!(nvnDeviceGetTextureHandle(device.at(), 0x1d1, 0x102)), 0x1020_01d1);
    assert_eq!(call!(nvnDeviceGetTextureHandle(device.at(), -1, -1)), 0xffff_ffff);
    assert_eq!(call!(nvnDeviceGetSeparateTextureHandle(device.at(), 0x1d1)).value, 0x1d1);
    assert_eq!(call!(nvnDeviceGetSeparateSamplerHandle(device.at(), 0x102)).value, 0x1020_0000);
    assert_eq!(call!(nvnDeviceGetImageHandle(device.at(), 300)), 300);
}

#[test]
fn b429_fast_clear_hints_succeed() {
    let mut device = device();
    assert_ne!(call!(nvnDeviceRegisterFastClearDepth(device.at(), 1.0)), 0);
    assert_ne!(call!(nvnDeviceRegisterFastClearColor(device.at(), [0.0f32; 4].as_ptr(), NVNformat::RGBA8)), 0);
    call!(nvnDeviceSetIntermediateShaderCache(device.at(), 1 << 20));
}

#[test]
fn debug_domains_are_told_apart() {
    let mut device = device();
    let first = call!(nvnDeviceGenerateDebugDomainId(device.at(), c"a".as_ptr()));
    let second = call!(nvnDeviceGenerateDebugDomainId(device.at(), c"b".as_ptr()));
    assert!(first > 0 && second > 0 && first != second);
}
