//! Texture builders and textures: sizes (B105), sparse tiles (B117), packaged layouts, getters.

use navin_abi::records::{TextureBuilderRecord, TextureRecord};
use navin_abi::sizes;
use navin_abi::types::*;

use super::{Guarded, call};

const RGBA8: i32 = 0x25;
const DEPTH24S8: NVNformat = NVNformat::DEPTH24_STENCIL8;

fn builder(target: NVNtextureTarget, format: NVNformat, size: [i32; 3], levels: i32, flags: i32) -> Guarded {
    let mut builder = Guarded::new(sizes::MIN_NVNTEXTUREBUILDER, 0);
    call!(nvnTextureBuilderSetDefaults(builder.at()));
    call!(nvnTextureBuilderSetTarget(builder.at(), target));
    call!(nvnTextureBuilderSetFormat(builder.at(), format));
    call!(nvnTextureBuilderSetSize3D(builder.at(), size[0], size[1], size[2]));
    call!(nvnTextureBuilderSetLevels(builder.at(), levels));
    call!(nvnTextureBuilderSetFlags(builder.at(), NVNtextureFlags(flags)));
    builder
}

/// A texture as Initialize would leave it.
fn texture(builder: &Guarded) -> Guarded {
    let b: TextureBuilderRecord = bytemuck::pod_read_unaligned(&builder.bytes()[..size_of::<TextureBuilderRecord>()]);
    let record = TextureRecord::new(9, 0x5000, 1, 0x10_0000, 0x1000, 0x4000, b.fields);
    Guarded::holding(sizes::MIN_NVNTEXTURE, &record)
}

#[test]
fn b105_no_texture_has_a_zcull_size_of_zero() {
    let mut live_blocks = std::collections::HashMap::new();
    let mut next = 0usize;
    let targets = [(NVNtextureTarget::TARGET_2D, 1), (NVNtextureTarget::TARGET_2D_ARRAY, 6)];
    for format in [DEPTH24S8, NVNformat::DEPTH16, NVNformat::DEPTH32F, NVNformat::STENCIL8] {
        for (target, layers) in targets {
            for size in [1, 16, 64, 1920, 16384] {
                let mut builder = builder(target, format, [size, size, layers], 1, 0);
                let of_builder = call!(nvnTextureBuilderGetZCullStorageSize(builder.at()));
                let of_texture = call!(nvnTextureGetZCullStorageSize(texture(&builder).at()));
                assert_eq!(of_builder, of_texture);
                assert_eq!(of_builder % 32, 0, "a multiple of the save and restore alignment");
                // The guest's allocator: offsets are the keys of its map, a block of no bytes shadows the next.
                assert!(live_blocks.insert(next, of_builder).is_none(), "a live block is lost");
                next += of_builder;
            }
        }
    }
    assert_eq!(live_blocks.len(), 4 * 2 * 5);
}

#[test]
fn storage_sizes_are_the_layouts() {
    let mut b = builder(NVNtextureTarget::TARGET_2D, NVNformat(RGBA8), [64, 64, 1], 1, 0);
    assert_eq!(call!(nvnTextureBuilderGetStorageSize(b.at())), 64 * 64 * 4);
    assert_eq!(call!(nvnTextureBuilderGetStorageAlignment(b.at())), 512);
    let mut none = builder(NVNtextureTarget(99), NVNformat(RGBA8), [64, 64, 1], 1, 0);
    assert_eq!(call!(nvnTextureBuilderGetStorageSize(none.at())), 0);
    let mut none = builder(NVNtextureTarget::TARGET_2D, NVNformat::NONE, [64, 64, 1], 1, 0);
    assert_eq!(call!(nvnTextureBuilderGetStorageSize(none.at())), 0);
}

#[test]
fn b117_sparse_tile_layouts() {
    let cases = [
        (NVNtextureTarget::TARGET_2D, NVNformat(RGBA8), [1024, 1024, 1], 11, [128, 128, 1]),
        (NVNtextureTarget::TARGET_2D_ARRAY, NVNformat::RGBA_ASTC_8x8, [2048, 2048, 4], 12, [512, 512, 1]),
        (NVNtextureTarget::TARGET_2D, NVNformat::BPTC_UFLOAT, [1024, 512, 1], 11, [256, 256, 1]),
        (NVNtextureTarget::TARGET_2D, NVNformat::R8, [1024, 1024, 1], 11, [256, 256, 1]),
        (NVNtextureTarget::TARGET_2D, NVNformat::RG8, [1024, 600, 1], 11, [256, 128, 1]),
        (NVNtextureTarget::TARGET_2D, NVNformat::RGBA16F, [600, 242, 1], 4, [128, 64, 1]),
        (NVNtextureTarget::TARGET_3D, NVNformat(RGBA8), [256, 256, 64], 9, [32, 32, 16]),
    ];
    for (target, format, size, levels, tile) in cases {
        let mut builder = builder(target, format, size, levels, NVNtextureFlags::SPARSE.raw());
        let mut texture = texture(&builder);
        let mut answers = [[0xccu8; 32]; 2].map(bytemuck::cast::<_, NVNtextureSparseTileLayout>);
        let [of_builder, of_texture] = &mut answers;
        call!(nvnTextureBuilderGetSparseTileLayout(builder.at(), of_builder));
        call!(nvnTextureGetSparseTileLayout(texture.at(), of_texture));
        assert_eq!(of_builder, of_texture);
        assert_eq!([of_builder.tile_width, of_builder.tile_height, of_builder.tile_depth], tile, "{format:?}");
        assert!(!bytemuck::bytes_of(of_builder).contains(&0xcc), "every byte is written");
        // A level narrower than a tile in one dimension only is in the tail.
        let dimensions = if target == NVNtextureTarget::TARGET_3D { 3 } else { 2 };
        let fits = |level: i32| (0..dimensions).all(|d| (size[d] >> level) >= tile[d]);
        assert_eq!(of_builder.num_tiled_levels, (0..levels).take_while(|level| fits(*level)).count() as i32);
        // The tail is what the levels above it leave of the storage.
        let all = call!(nvnTextureBuilderGetStorageSize(builder.at()));
        let tiled_levels = of_builder.num_tiled_levels;
        call!(nvnTextureBuilderSetLevels(builder.at(), tiled_levels));
        let tiled = call!(nvnTextureBuilderGetStorageSize(builder.at()));
        assert!(tiled < all, "{format:?}: {tiled:#x} of {all:#x}");
    }
    let mut answer = bytemuck::cast::<_, NVNtextureSparseTileLayout>([0xccu8; 32]);
    call!(nvnTextureGetSparseTileLayout(std::ptr::null(), &raw mut answer));
    assert_eq!(bytemuck::bytes_of(&answer), [0; 32], "also for no texture");
}

#[test]
fn a_packaged_layout_is_present_even_when_it_is_zero() {
    let mut b = builder(NVNtextureTarget::TARGET_2D, NVNformat(RGBA8), [64, 64, 1], 1, 0);
    let mut read = bytemuck::cast::<_, NVNpackagedTextureLayout>([0xccu8; 8]);
    assert_eq!(call!(nvnTextureBuilderGetPackagedTextureLayout(b.at(), &raw mut read)), 0);
    assert_eq!(bytemuck::bytes_of(&read), [0xcc; 8]);
    let zero = bytemuck::cast::<_, NVNpackagedTextureLayout>([0u8; 8]);
    call!(nvnTextureBuilderSetPackagedTextureLayout(b.at(), &raw const zero));
    assert_eq!(call!(nvnTextureBuilderGetPackagedTextureLayout(b.at(), &raw mut read)), 1);
    assert_eq!(bytemuck::bytes_of(&read), [0; 8]);
    call!(nvnTextureBuilderSetPackagedTextureLayout(b.at(), std::ptr::null()));
    assert_eq!(call!(nvnTextureBuilderGetPackagedTextureLayout(b.at(), &raw mut read)), 0);
}

#[test]
fn b423_texture_getters_agree_with_their_builder() {
    let mut b = builder(NVNtextureTarget::TARGET_2D_ARRAY, NVNformat(RGBA8), [320, 200, 6], 3, 0x4c);
    call!(nvnTextureBuilderSetSamples(b.at(), 1));
    call!(nvnTextureBuilderSetStride(b.at(), 4096));
    call!(nvnTextureBuilderSetDepthStencilMode(b.at(), NVNtextureDepthStencilMode::STENCIL));
    let swizzle = [5, 0, 1, 2].map(NVNtextureSwizzle);
    call!(nvnTextureBuilderSetSwizzle(b.at(), swizzle[0], swizzle[1], swizzle[2], swizzle[3]));
    let mut t = texture(&b);
    assert_eq!(call!(nvnTextureGetWidth(t.at())), 320);
    assert_eq!(call!(nvnTextureGetHeight(t.at())), 200);
    assert_eq!(call!(nvnTextureGetDepth(t.at())), 6);
    assert_eq!(call!(nvnTextureGetLevels(t.at())), 3);
    assert_eq!(call!(nvnTextureGetSamples(t.at())), 1);
    assert_eq!(call!(nvnTextureGetFormat(t.at())), NVNformat(RGBA8));
    assert_eq!(call!(nvnTextureGetTarget(t.at())), NVNtextureTarget::TARGET_2D_ARRAY);
    assert_eq!(call!(nvnTextureGetFlags(t.at())), NVNtextureFlags(0x4c));
    assert_eq!(call!(nvnTextureGetStride(t.at())), 4096);
    assert_eq!(call!(nvnTextureGetDepthStencilMode(t.at())), NVNtextureDepthStencilMode::STENCIL);
    for read_texture in [true, false] {
        let mut read = [NVNtextureSwizzle(9); 4];
        let [r, g, blue, a] = &mut read;
        if read_texture {
            call!(nvnTextureGetSwizzle(t.at(), r, g, blue, a));
        } else {
            call!(nvnTextureBuilderGetSwizzle(b.at(), r, g, blue, a));
        }
        assert_eq!(read, swizzle);
    }
    assert_eq!(call!(nvnTextureGetMemoryPool(t.at())) as usize, 0x5000);
    assert_eq!(call!(nvnTextureGetMemoryOffset(t.at())), 0x1000);
    assert_eq!(call!(nvnTextureGetTextureAddress(t.at())), 0x10_1000, "B425: pool address and offset");
    assert_eq!(call!(nvnTextureGetStorageSize(t.at())), 0x4000);
    assert_eq!(call!(nvnTextureBuilderGetRawStorageClass(b.at())).raw(), 1, "B426");
    assert_eq!(call!(nvnTextureGetRawStorageClass(t.at())).raw(), 1, "B426");
}

#[test]
fn b439_a_copy_answers_like_its_original() {
    let b = builder(NVNtextureTarget::TARGET_2D, NVNformat(RGBA8), [320, 200, 1], 1, 0);
    let mut original = texture(&b);
    let mut copy = Guarded::new(sizes::MIN_NVNTEXTURE, 0);
    let start = copy.start;
    copy.bytes[start..start + sizes::MIN_NVNTEXTURE].copy_from_slice(original.bytes());
    assert_eq!(call!(nvnTextureCompare(original.at(), copy.at())), 1);
    assert_eq!(call!(nvnTextureGetWidth(copy.at())), 320);
    call!(nvnTextureFinalize(copy.at()));
    assert_eq!(call!(nvnTextureGetWidth(copy.at())), 0);
    assert_eq!(call!(nvnTextureGetWidth(original.at())), 320);
    assert_eq!(call!(nvnTextureCompare(original.at(), copy.at())), 0);
}

#[test]
fn view_offsets_are_the_layouts() {
    let b = builder(NVNtextureTarget::TARGET_2D_ARRAY, NVNformat(RGBA8), [64, 64, 4], 3, 0);
    let mut t = texture(&b);
    let offset = |t: &mut Guarded, level, layer| {
        let mut view = Guarded::new(sizes::MIN_NVNTEXTUREVIEW, 0);
        call!(nvnTextureViewSetDefaults(view.at()));
        call!(nvnTextureViewSetLevels(view.at(), level, 1));
        call!(nvnTextureViewSetLayers(view.at(), layer, 1));
        call!(nvnTextureGetViewOffset(t.at(), view.at()))
    };
    assert_eq!(call!(nvnTextureGetViewOffset(t.at(), std::ptr::null())), 0);
    assert_eq!(offset(&mut t, 0, 0), 0);
    assert_eq!(offset(&mut t, 1, 0), 64 * 64 * 4);
    let layer = offset(&mut t, 0, 1);
    assert!(layer > 64 * 64 * 4 && layer % 512 == 0);
    assert_eq!(offset(&mut t, 1, 3), 3 * layer + 64 * 64 * 4);
    assert_eq!(offset(&mut t, 3, 0), 0, "no such level");
    assert_eq!(offset(&mut t, 0, 4), 0, "no such layer");
}
