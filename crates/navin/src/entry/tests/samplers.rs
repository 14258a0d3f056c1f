//! Samplers: bytes that guests hash (B104), integer border colours (B414).

use navin_abi::sizes;
use navin_abi::types::*;

use super::{Guarded, call};

/// The sampler's bytes as the guest that was seen hashes them: CRC-16, reflected 0xA001, start 0, over 8 to 0x5F.
fn crc(bytes: &[u8]) -> u16 {
    bytes[8..0x60].iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ u16::from(*byte), |crc, _| if crc & 1 != 0 { crc >> 1 ^ 0xa001 } else { crc >> 1 })
    })
}

fn builder() -> Guarded {
    let mut builder = Guarded::new(sizes::MIN_NVNSAMPLERBUILDER, 0xee);
    call!(nvnSamplerBuilderSetDevice(builder.at(), std::ptr::null_mut()));
    call!(nvnSamplerBuilderSetDefaults(builder.at()));
    builder
}

/// Initializes a sampler of the larger SDK's 0x60 bytes over memory of `fill`; the guest's own bytes are zero.
fn sampler(builder: &mut Guarded, fill: u8) -> Guarded {
    let mut sampler = Guarded::new(0x60, fill);
    let guest = 0x30..0x60;
    let start = sampler.start;
    sampler.bytes[start + guest.start..start + guest.end].fill(0);
    assert_eq!(call!(nvnSamplerInitialize(sampler.at(), builder.at())), 1);
    assert!(sampler.is_intact());
    assert!(sampler.bytes()[0x30..].iter().all(|byte| *byte == 0), "bytes from 0x30 on are the guest's");
    sampler
}

#[test]
fn b104_equal_states_are_equal_bytes_over_any_memory() {
    let mut builder = builder();
    call!(nvnSamplerBuilderSetWrapMode(builder.at(), NVNwrapMode(6), NVNwrapMode(6), NVNwrapMode(7)));
    let (a, b) = (sampler(&mut builder, 0x00), sampler(&mut builder, 0xff));
    assert_eq!(a.bytes(), b.bytes());
    assert_eq!(crc(a.bytes()), crc(b.bytes()));
    assert_eq!(a.bytes()[4..8], [0; 4], "a zero word follows the magic");
}

#[test]
fn b104_a_filter_or_a_wrap_alone_changes_what_is_hashed() {
    let mut seen = std::collections::HashSet::new();
    // The wrap pairs that shared a CRC on the system this was seen on, and every filter.
    for (s, t) in [(6, 6), (6, 1), (6, 7), (1, 6)] {
        for (min, mag) in [(0, 0), (1, 1), (4, 1), (5, 1)] {
            let mut builder = builder();
            call!(nvnSamplerBuilderSetWrapMode(builder.at(), NVNwrapMode(s), NVNwrapMode(t), NVNwrapMode(1)));
            call!(nvnSamplerBuilderSetMinMagFilter(builder.at(), NVNminFilter(min), NVNmagFilter(mag)));
            assert!(seen.insert(crc(sampler(&mut builder, 0xaa).bytes())), "wraps {s} {t}, filters {min} {mag}");
        }
    }
}

#[test]
fn b104_bytes_behind_the_record_keep_their_values() {
    let mut builder = builder();
    let mut sampler = Guarded::new(0x60, 0x77);
    call!(nvnSamplerInitialize(sampler.at(), builder.at()));
    call!(nvnSamplerFinalize(sampler.at()));
    assert_eq!(sampler.bytes()[0x30..], [0x77; 0x30]);
}

#[test]
fn b104_the_builders_state_begins_at_byte_8() {
    let (mut a, mut b) = (builder(), builder());
    call!(nvnSamplerBuilderSetDevice(b.at(), 0x1234 as *mut NVNdevice));
    assert_eq!(a.bytes()[8..0x30], b.bytes()[8..0x30]);
    assert_ne!(a.bytes()[..8], b.bytes()[..8]);
    call!(nvnSamplerBuilderSetLodBias(a.at(), 1.0));
    assert_ne!(a.bytes()[8..0x30], b.bytes()[8..0x30]);
}

#[test]
fn b414_integer_borders_are_converted_numerically() {
    for (color, expected) in [([0, 0, 0, 0], [0.0; 4]), ([0, 0, 0, 1], [0.0, 0.0, 0.0, 1.0]), ([1; 4], [1.0f32; 4])] {
        let mut signed = builder();
        call!(nvnSamplerBuilderSetBorderColori(signed.at(), color.as_ptr()));
        let mut unsigned = builder();
        call!(nvnSamplerBuilderSetBorderColorui(unsigned.at(), color.map(|v| v as u32).as_ptr()));
        for builder in [&mut signed, &mut unsigned] {
            let mut sampler = sampler(builder, 0);
            let mut read = [-1.0f32; 4];
            call!(nvnSamplerGetBorderColor(sampler.at(), read.as_mut_ptr()));
            assert_eq!(read, expected);
            let mut integers = [-1i32; 4];
            call!(nvnSamplerGetBorderColori(sampler.at(), integers.as_mut_ptr()));
            assert_eq!(integers, color);
        }
    }
}

#[test]
fn b423_sampler_getters_agree_with_their_builder() {
    let mut builder = builder();
    call!(nvnSamplerBuilderSetMinMagFilter(builder.at(), NVNminFilter::LINEAR, NVNmagFilter::NEAREST));
    call!(nvnSamplerBuilderSetWrapMode(builder.at(), NVNwrapMode(0), NVNwrapMode(5), NVNwrapMode(7)));
    call!(nvnSamplerBuilderSetCompare(builder.at(), NVNcompareMode::COMPARE_R_TO_TEXTURE, NVNcompareFunc::GREATER));
    call!(nvnSamplerBuilderSetLodClamp(builder.at(), 0.5, 7.25));
    call!(nvnSamplerBuilderSetLodBias(builder.at(), -2.0));
    call!(nvnSamplerBuilderSetMaxAnisotropy(builder.at(), 8.0));
    call!(nvnSamplerBuilderSetReductionFilter(builder.at(), NVNsamplerReduction::MAX));
    call!(nvnSamplerBuilderSetBorderColor(builder.at(), [0.25f32, 0.5, 0.75, 1.0].as_ptr()));
    let mut sampler = sampler(&mut builder, 0x11);
    macro_rules! both {
        ($builder_get:ident, $sampler_get:ident, [$($ty:ty),+], $expected:expr) => {
            let mut values = ($(<$ty>::default(),)+);
            both!(@call $builder_get, builder, values, $($ty),+);
            assert_eq!(values, $expected);
            let mut values = ($(<$ty>::default(),)+);
            both!(@call $sampler_get, sampler, values, $($ty),+);
            assert_eq!(values, $expected);
        };
        (@call $get:ident, $object:ident, $values:ident, $a:ty, $b:ty) => {
            call!($get($object.at(), &raw mut $values.0, &raw mut $values.1))
        };
        (@call $get:ident, $object:ident, $values:ident, $a:ty, $b:ty, $c:ty) => {
            call!($get($object.at(), &raw mut $values.0, &raw mut $values.1, &raw mut $values.2))
        };
    }
    both!(
        nvnSamplerBuilderGetMinMagFilter,
        nvnSamplerGetMinMagFilter,
        [NVNminFilter, NVNmagFilter],
        (NVNminFilter::LINEAR, NVNmagFilter::NEAREST)
    );
    both!(
        nvnSamplerBuilderGetWrapMode,
        nvnSamplerGetWrapMode,
        [NVNwrapMode, NVNwrapMode, NVNwrapMode],
        (NVNwrapMode(0), NVNwrapMode(5), NVNwrapMode(7))
    );
    both!(
        nvnSamplerBuilderGetCompare,
        nvnSamplerGetCompare,
        [NVNcompareMode, NVNcompareFunc],
        (NVNcompareMode::COMPARE_R_TO_TEXTURE, NVNcompareFunc::GREATER)
    );
    both!(nvnSamplerBuilderGetLodClamp, nvnSamplerGetLodClamp, [f32, f32], (0.5, 7.25));
    assert_eq!(call!(nvnSamplerGetLodBias(sampler.at())), -2.0);
    assert_eq!(call!(nvnSamplerGetMaxAnisotropy(sampler.at())), 8.0);
    assert_eq!(call!(nvnSamplerGetReductionFilter(sampler.at())), NVNsamplerReduction::MAX);
    let mut color = [0.0f32; 4];
    call!(nvnSamplerGetBorderColor(sampler.at(), color.as_mut_ptr()));
    assert_eq!(color, [0.25, 0.5, 0.75, 1.0]);
    call!(nvnSamplerBuilderGetBorderColor(builder.at(), color.as_mut_ptr()));
    assert_eq!(color, [0.25, 0.5, 0.75, 1.0]);
}

#[test]
fn b428_the_default_lod_clamp() {
    let mut builder = builder();
    let (mut min, mut max) = (0.0, 0.0);
    call!(nvnSamplerBuilderGetLodClamp(builder.at(), &raw mut min, &raw mut max));
    assert_eq!((min, max), (-1000.0, 1000.0));
}

#[test]
fn b417_sampler_compare() {
    let (mut one, mut other) = (builder(), builder());
    call!(nvnSamplerBuilderSetLodBias(other.at(), 1.0));
    let (mut a, mut b, mut c) = (sampler(&mut one, 0), sampler(&mut one, 9), sampler(&mut other, 0));
    assert_eq!(call!(nvnSamplerCompare(a.at(), b.at())), 1);
    assert_eq!(call!(nvnSamplerCompare(a.at(), c.at())), 0);
    call!(nvnSamplerFinalize(b.at()));
    assert_eq!(call!(nvnSamplerCompare(a.at(), b.at())), 0, "a finalized sampler is like none");
    assert_eq!(call!(nvnSamplerCompare(a.at(), std::ptr::null())), 0);
}
