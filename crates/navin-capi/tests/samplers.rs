//! Samplers as draws see them. Needs a Vulkan device, as `./x test` arranges.

mod guest;

use std::ptr::null;

use guest::*;
use navin_abi::enums::{NVNformat, NVNmagFilter, NVNminFilter, NVNwrapMode};
use navin_abi::types::*;
use nvn::trampolines::*;

/// A sampler registered from its builder is the sampler: the same picture by each filter, and filters differ.
#[test]
fn b433_samplers_registered_from_their_builders() {
    let mut guest = Guest::new();
    let program = guest.program(&["aux_vs_v0", "aux_fs_f1"]);
    let texture = guest.texture(NVNformat::RGBA8, 2, 2);
    let texels = [[255u8, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 255]];
    let all = NVNcopyRegion { xoffset: 0, yoffset: 0, zoffset: 0, width: 2, height: 2, depth: 1 };
    // SAFETY: live objects; the texels are those of the region.
    unsafe {
        nvnTextureWriteTexels(texture, null(), &all, texels.as_ptr().cast());
        nvnTexturePoolRegisterTexture(guest.texture_pool, 300, texture, null());
    }
    let picture = |guest: &Guest, id: i32| {
        guest.run(|c| {
            guest.begin(c, program);
            let (to, from) = ([0.0f32, 0.0, 16.0, 16.0], [-1.0f32, -1.0, 4.0, 4.0]);
            // SAFETY: live objects.
            unsafe {
                let handle = nvnDeviceGetTextureHandle(guest.device, 300, id);
                nvnCommandBufferDrawTexture(c, handle, (&raw const to).cast(), (&raw const from).cast());
            }
        });
        guest.pixels()
    };
    let mut pictures = Vec::new();
    for (id, filter, wrap) in [
        (300, NVNmagFilter::NEAREST, NVNwrapMode::REPEAT),
        (302, NVNmagFilter::LINEAR, NVNwrapMode::REPEAT),
        (304, NVNmagFilter::LINEAR, NVNwrapMode::CLAMP_TO_EDGE),
    ] {
        // SAFETY: zeroed storage of sufficient size; live objects.
        unsafe {
            let (builder, sampler) = (object(), object());
            nvnSamplerBuilderSetDefaults(builder);
            nvnSamplerBuilderSetDevice(builder, guest.device);
            nvnSamplerBuilderSetMinMagFilter(builder, NVNminFilter::NEAREST, filter);
            nvnSamplerBuilderSetWrapMode(builder, wrap, wrap, wrap);
            assert_eq!(nvnSamplerInitialize(sampler, builder), NVN_TRUE);
            nvnSamplerPoolRegisterSampler(guest.sampler_pool, id, sampler);
            nvnSamplerPoolRegisterSamplerBuilder(guest.sampler_pool, id + 1, builder);
        }
        let by_sampler = picture(&guest, id);
        assert!(by_sampler == picture(&guest, id + 1), "{filter:?} {wrap:?}");
        assert!(!pictures.contains(&by_sampler), "{filter:?} {wrap:?} changes nothing");
        pictures.push(by_sampler);
    }
}
