//! Set 0: textures through ids and slots, images, the page table.

mod common;

use common::*;
use navin_vulkan::{
    Buffer, Image, ImageDesc, InputAssembly, MemoryKind, Sampler, SamplerDesc, Stage, TexelView, ViewKind, vk,
};

#[test]
fn a_quad_shows_the_texture_that_its_handle_leads_to() {
    let Some(context) = open() else { return };
    let (target, view) = color_image(&context, 8, 8);
    let usage = vk::ImageUsageFlags::SAMPLED;
    let texture =
        Image::new(&context, &ImageDesc::new_2d(vk::Format::R8G8B8A8_UNORM, 2, 2, usage), "texture").expect("image");
    let texture_view = texture.view(&texture.whole(usage)).expect("view");
    let clamp = vk::SamplerAddressMode::CLAMP_TO_EDGE;
    let sampler = Sampler::new(&context, &SamplerDesc { wrap: [clamp; 3], ..Default::default() }).expect("sampler");

    let tables = context.tables();
    assert!(tables.set_texture(5, &[(ViewKind::of(&texture_view), &texture_view)]));
    assert!(tables.set_texture_id(0x12345, 5));
    assert!(tables.set_sampler(9, &sampler));
    assert!(tables.set_sampler_id(0x123, 9));
    assert!(!tables.set_texture(0, &[]), "slot 0 stays empty");
    assert!(!tables.set_texture(16_384, &[]));
    assert!(!tables.set_texture_id(1 << 20, 5));
    assert!(!tables.set_sampler_id(4096, 9));
    assert!(!tables.set_texture_id(1, 16_384));

    let quad = shader(&context, Stage::Vertex, include_bytes!("shaders/quad.vert.spv"), 1 << 3, 0);
    let textured = shader(&context, Stage::Fragment, include_bytes!("shaders/textured.frag.spv"), 1 << 2 | 1 << 4, 0);
    let mut encoder = context.queue().begin().expect("encoder");
    let texels_in: [[u8; 4]; 4] = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 128]];
    fill_image(&mut encoder, &texture, texels_in.as_flattened());
    let align = context.limits().uniform_offset_alignment;
    let place = encoder.upload(&float_bytes(&[1.0, 1.0, 0.0, 0.0]), align).expect("upload");
    let tint = encoder.upload(&float_bytes(&[1.0, 1.0, 1.0, 1.0]), align).expect("upload");
    // Texture id in bits 0 to 19, sampler id in bits 20 to 31.
    let known = encoder.upload(&bytes_of(&[0x123 << 20 | 0x12345, 0, 0, 0]), align).expect("upload");
    let unknown = encoder.upload(&bytes_of(&[0x123 << 20 | 0x54321, 0, 0, 0]), align).expect("upload");

    encoder.set_targets(targets(&view));
    encoder.clear_color(0, float_clear([1.0, 0.0, 1.0, 1.0]), RGBA, rect(8, 8));
    whole_viewport(&mut encoder, 8, 8);
    let topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
    encoder.set_input_assembly(&InputAssembly { topology, ..Default::default() });
    encoder.set_shader(Stage::Vertex, Some(&quad));
    encoder.set_shader(Stage::Fragment, Some(&textured));
    encoder.set_constants(Stage::Vertex, 3, place.range);
    encoder.set_constants(Stage::Fragment, 2, known.range);
    encoder.set_constants(Stage::Fragment, 4, tint.range);
    encoder.draw(0, 4, 0, 1).expect("drawn");
    // The second draw covers the right half with a texture id that was never registered: it reads 0.
    let right = encoder.upload(&float_bytes(&[0.5, 1.0, 0.5, 0.0]), align).expect("upload");
    encoder.set_constants(Stage::Vertex, 3, right.range);
    encoder.set_constants(Stage::Fragment, 2, unknown.range);
    encoder.draw(0, 4, 0, 1).expect("drawn");
    let pixels = texels(&context, encoder, &target);
    for y in 0..8 {
        for x in 0..8 {
            let expected = if x >= 4 { [0; 4] } else { texels_in[y / 4 * 2] };
            assert_eq!(pixels[y * 8 + x], expected, "({x}, {y})");
        }
    }
}

#[test]
fn a_page_table_walk_reads_mapped_pages_and_zero_elsewhere() {
    let Some(context) = open() else { return };
    let pages = Buffer::new(&context, 192 << 10, MemoryKind::Upload, "pages").expect("buffer");
    let base = pages.address().next_multiple_of(16);
    let bias = base - pages.address();
    for (offset, word) in [(0u64, 0xaaaa_0001u32), (0xfffc, 0xaaaa_0002), (0x10000, 0xaaaa_0003)] {
        assert!(pages.write(bias + offset, &word.to_ne_bytes()));
    }
    let tables = context.tables();
    // GPU address 0x35_7ff0_0000: leaf 0x357, entry 0xff0; the page after it is entry 0xff1, mapped apart.
    let gpu = 0x35_7ff0_0000u64;
    let (leaf, entry) = ((gpu >> 28) as u32, (gpu >> 16) as u32 & 0xfff);
    assert!(tables.write_pages(leaf, entry, &[base, base + 0x10000]));
    assert!(!tables.write_pages(4096, 0, &[base]));
    assert!(!tables.write_pages(0, 4095, &[base, base]));
    let walk = |addresses: &[u64]| {
        let shader = shader(&context, Stage::Compute, include_bytes!("shaders/walk.comp.spv"), 0, 0b11);
        let bytes: Vec<u8> = addresses.iter().flat_map(|address| address.to_ne_bytes()).collect();
        let input = upload_buffer(&context, &bytes);
        let output = Buffer::new(&context, addresses.len() as u64 * 4, MemoryKind::Readback, "out").expect("buffer");
        let mut encoder = context.queue().begin().expect("encoder");
        encoder.set_shader(Stage::Compute, Some(&shader));
        encoder.set_storage(Stage::Compute, 0, input.range(0, input.size()));
        encoder.set_storage(Stage::Compute, 1, output.range(0, output.size()));
        encoder.dispatch(addresses.len() as u32, 1, 1).expect("dispatched");
        submit_and_wait(&context, encoder);
        read_words(&output)
    };
    let addresses = [gpu, gpu + 0xfffc, gpu + 0x10000, gpu + 0x20000, 0, 0xff_ffff_fffc, gpu - 4];
    assert_eq!(walk(&addresses), [0xaaaa_0001, 0xaaaa_0002, 0xaaaa_0003, 0, 0, 0, 0]);
    assert!(tables.write_pages(leaf, entry, &[0]), "unmapping");
    assert_eq!(walk(&addresses), [0, 0, 0xaaaa_0003, 0, 0, 0, 0]);
}

#[test]
fn storage_images_texel_buffers_and_empty_slots() {
    let Some(context) = open() else { return };
    let usage = vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::SAMPLED;
    let mut desc = ImageDesc::new_2d(vk::Format::R8G8B8A8_UNORM, 2, 1, usage);
    desc.view_formats.push(vk::Format::R32_UINT);
    let image = Image::new(&context, &desc, "image").expect("image");
    let typed = image.view(&image.whole(vk::ImageUsageFlags::STORAGE)).expect("view");
    let mut raw_desc = image.whole(vk::ImageUsageFlags::STORAGE);
    raw_desc.format = vk::Format::R32_UINT;
    let raw = image.view(&raw_desc).expect("view");
    let texel_data = upload_buffer(&context, &float_bytes(&[0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0]));
    let texel_view =
        TexelView::new(&context, texel_data.range(0, 32), vk::Format::R32G32B32A32_SFLOAT).expect("texel view");
    let tables = context.tables();
    assert!(tables.set_image(1, &[(ViewKind::D2, &typed)], &[(ViewKind::D2, &raw)]));
    assert!(tables.set_texture_buffer(2, &texel_view));
    // Slot 3 held a texture and is emptied.
    let sampled = image.view(&image.whole(vk::ImageUsageFlags::SAMPLED)).expect("view");
    assert!(tables.set_texture(3, &[(ViewKind::D2, &sampled)]));
    assert!(tables.clear_texture(3));

    let shader = shader(&context, Stage::Compute, include_bytes!("shaders/image.comp.spv"), 0, 1);
    let output = Buffer::new(&context, 48, MemoryKind::Readback, "out").expect("buffer");
    let mut encoder = context.queue().begin().expect("encoder");
    encoder.fill_buffer(output.range(0, 48), 0x4040_4040);
    encoder.set_shader(Stage::Compute, Some(&shader));
    encoder.set_storage(Stage::Compute, 0, output.range(0, 48));
    encoder.dispatch(1, 1, 1).expect("dispatched");
    let pixels = texels(&context, encoder, &image);
    assert_eq!(pixels[0][0], 255);
    assert!((127..=128).contains(&pixels[0][1]));
    assert_eq!(pixels[0][2..], [0, 255]);
    assert_eq!(pixels[1], [4, 3, 2, 1]);
    let values: Vec<f32> = read_words(&output).into_iter().map(f32::from_bits).collect();
    assert_eq!(values[..4], [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(values[4..], [0.0; 8], "an emptied slot and slot 0 read 0");
}

#[test]
fn equal_sampler_descriptions_share_one_sampler() {
    let Some(context) = open() else { return };
    let desc = SamplerDesc { border: [0x3f00_0000; 4], ..Default::default() };
    let first = Sampler::new(&context, &desc).expect("sampler");
    let second = Sampler::new(&context, &desc).expect("sampler");
    let other = Sampler::new(&context, &SamplerDesc { max_lod: 1.0, ..desc }).expect("sampler");
    assert_eq!(first.raw(), second.raw());
    assert_ne!(first.raw(), other.raw());
    let border = vk::SamplerAddressMode::CLAMP_TO_BORDER;
    let custom = SamplerDesc { wrap: [border; 3], anisotropy: 64.0, lod_bias: f32::NAN, ..desc };
    Sampler::new(&context, &custom).expect("sampler");
    Sampler::new(&context, &SamplerDesc { unnormalized: true, ..custom }).expect("sampler");
    let reduction = vk::SamplerReductionMode::MAX;
    Sampler::new(&context, &SamplerDesc { reduction, non_seamless_cube: true, ..desc }).expect("sampler");
}

#[test]
fn texel_views_that_cannot_be_are_refused() {
    let Some(context) = open() else { return };
    let buffer = Buffer::new(&context, 256, MemoryKind::Upload, "texels").expect("buffer");
    let format = vk::Format::R32_UINT;
    assert!(TexelView::new(&context, buffer.range(0, 256), vk::Format::BC1_RGB_UNORM_BLOCK).is_err());
    assert!(TexelView::new(&context, buffer.range(0, 3), format).is_err());
    if context.limits().texel_offset_alignment > 1 {
        assert!(TexelView::new(&context, buffer.range(1, 64), format).is_err());
    }
    assert!(TexelView::new(&context, buffer.range(0, 254), format).is_ok());
}
