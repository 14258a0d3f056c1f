//! Draws: pixels, clears, stages, indirect parameters, and what the encoder did not set twice.

mod common;

use common::*;
use navin_vulkan::{
    Attachment, Blend, BlendAttachment, Buffer, Depth, DrawError, Image, ImageDesc, IndexBuffer, InputAssembly,
    MemoryKind, Rasterization, Readback, Scissor, Stage, Targets, VertexAttribute, VertexBinding, VertexInput,
    Viewport, vk,
};

/// Position (2 floats) and colour (4 bytes) of a triangle over the lower-left half of clip space.
fn triangle(color: [u8; 4]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for corner in [[-1.0f32, -1.0], [-1.0, 1.0], [1.0, 1.0]] {
        bytes.extend(float_bytes(&corner));
        bytes.extend(color);
    }
    bytes
}

fn vertex_input() -> VertexInput {
    let mut input = VertexInput::default();
    input.attributes[0] = Some(VertexAttribute { binding: 0, format: vk::Format::R32G32_SFLOAT, offset: 0 });
    input.attributes[1] = Some(VertexAttribute { binding: 0, format: vk::Format::R8G8B8A8_UNORM, offset: 8 });
    input.bindings[0] = VertexBinding { stride: 12, divisor: 0 };
    input
}

#[test]
fn a_triangle_covers_its_half_of_the_picture() {
    let Some(context) = open() else { return };
    let (target, view) = color_image(&context, 16, 16);
    let vertices = upload_buffer(&context, &triangle([255, 128, 0, 255]));
    let vertex = attributes_shader(&context);
    let fragment = shader(&context, Stage::Fragment, include_bytes!("shaders/passed.frag.spv"), 0, 0);
    let mut encoder = context.queue().begin().expect("encoder");
    encoder.set_targets(targets(&view));
    encoder.clear_color(0, float_clear([0.0, 0.0, 1.0, 1.0]), RGBA, rect(16, 16));
    whole_viewport(&mut encoder, 16, 16);
    encoder.set_vertex_input(&vertex_input());
    encoder.set_vertex_buffer(0, vertices.range(0, vertices.size()));
    encoder.set_shader(Stage::Vertex, Some(&vertex));
    encoder.set_shader(Stage::Fragment, Some(&fragment));
    encoder.draw(0, 3, 0, 1).expect("drawn");
    // Dropping what the draw uses is allowed from here on.
    drop((vertices, vertex, fragment));
    let pixels = texels(&context, encoder, &target);
    for y in 0..16 {
        for x in 0..16 {
            // Clip y = -1 is row 0 (an unflipped viewport): the triangle holds the texels with y >= x.
            let expected = if y > x {
                [255, 128, 0, 255]
            } else if y < x {
                [0, 0, 255, 255]
            } else {
                continue;
            };
            assert_eq!(pixels[y * 16 + x], expected, "({x}, {y})");
        }
    }
}

#[test]
fn a_negative_height_flips_and_front_faces_are_culled_by_their_winding() {
    let Some(context) = open() else { return };
    let (target, view) = color_image(&context, 16, 16);
    let vertices = upload_buffer(&context, &triangle([255, 255, 255, 255]));
    let vertex = attributes_shader(&context);
    let fragment = shader(&context, Stage::Fragment, include_bytes!("shaders/passed.frag.spv"), 0, 0);
    let covered = |flip: bool, cull: vk::CullModeFlags| {
        let mut encoder = context.queue().begin().expect("encoder");
        encoder.set_targets(targets(&view));
        encoder.clear_color(0, float_clear([0.0; 4]), RGBA, rect(16, 16));
        whole_viewport(&mut encoder, 16, 16);
        if flip {
            encoder.set_viewports(0, &[Viewport { y: 16.0, width: 16.0, height: -16.0, ..Default::default() }]);
        }
        encoder.set_vertex_input(&vertex_input());
        encoder.set_vertex_buffer(0, vertices.range(0, vertices.size()));
        encoder.set_rasterization(&Rasterization { cull_mode: cull, ..Default::default() });
        encoder.set_shader(Stage::Vertex, Some(&vertex));
        encoder.set_shader(Stage::Fragment, Some(&fragment));
        encoder.draw(0, 3, 0, 1).expect("drawn");
        let pixels = texels(&context, encoder, &target);
        (pixels[15 * 16] == [255; 4], pixels[0] == [255; 4], pixels[15] == [255; 4])
    };
    let none = vk::CullModeFlags::NONE;
    assert_eq!(covered(false, none), (true, false, false), "lower left corner of the memory");
    let (low, high, right) = covered(true, none);
    assert_eq!((low, high), (false, true), "flipped");
    assert!(!right);
    // (-1,-1), (-1,1), (1,1) in framebuffer coordinates (y down) runs counter-clockwise, which is front here.
    assert!(!covered(false, vk::CullModeFlags::FRONT).0);
    assert!(covered(false, vk::CullModeFlags::BACK).0);
    assert!(covered(true, vk::CullModeFlags::FRONT).1, "flipping turns the winding");
}

#[test]
fn an_input_without_an_attribute_reads_0_0_0_1_and_indices_bind() {
    let Some(context) = open() else { return };
    let (target, view) = color_image(&context, 8, 8);
    let corners = float_bytes(&[-1.0, -1.0, 3.0, -1.0, -1.0, 3.0]);
    let vertices = upload_buffer(&context, &corners);
    let indices = upload_buffer(&context, &[0, 0, 2, 0, 1, 0, 0, 0]);
    let vertex = attributes_shader(&context);
    let fragment = shader(&context, Stage::Fragment, include_bytes!("shaders/passed.frag.spv"), 0, 0);
    let mut encoder = context.queue().begin().expect("encoder");
    encoder.set_targets(targets(&view));
    encoder.clear_color(0, float_clear([1.0; 4]), RGBA, rect(8, 8));
    whole_viewport(&mut encoder, 8, 8);
    let mut input = VertexInput::default();
    input.attributes[0] = Some(VertexAttribute { binding: 2, format: vk::Format::R32G32_SFLOAT, offset: 0 });
    input.bindings[2] = VertexBinding { stride: 8, divisor: 0 };
    encoder.set_vertex_input(&input);
    encoder.set_vertex_buffer(2, vertices.range(0, vertices.size()));
    assert_eq!(encoder.draw(0, 3, 0, 1), Err(DrawError::NoShader));
    encoder.set_shader(Stage::Vertex, Some(&vertex));
    encoder.set_shader(Stage::Fragment, Some(&fragment));
    assert_eq!(encoder.draw_indexed(0, 3, 0, 0, 1), Err(DrawError::NoIndexBuffer));
    encoder.set_index_buffer(Some(IndexBuffer { range: indices.range(0, 8), kind: vk::IndexType::UINT16 }));
    let patches = InputAssembly { topology: vk::PrimitiveTopology::PATCH_LIST, ..Default::default() };
    encoder.set_input_assembly(&patches);
    assert_eq!(encoder.draw_indexed(0, 3, 0, 0, 1), Err(DrawError::Topology));
    encoder.set_input_assembly(&InputAssembly::default());
    encoder.draw_indexed(0, 3, 0, 0, 1).expect("drawn");
    assert_eq!((encoder.counters().draws, encoder.counters().draws_skipped), (1, 3));
    let pixels = texels(&context, encoder, &target);
    assert!(pixels.iter().all(|&pixel| pixel == [0, 0, 0, 255]), "{pixels:?}");
}

/// Draws a full-target quad of a colour.
struct Quads {
    vertex: std::sync::Arc<navin_vulkan::Shader>,
    fragment: std::sync::Arc<navin_vulkan::Shader>,
}

impl Quads {
    fn new(context: &Fixture) -> Self {
        Self {
            vertex: shader(context, Stage::Vertex, include_bytes!("shaders/quad.vert.spv"), 1 << 3, 0),
            fragment: shader(context, Stage::Fragment, include_bytes!("shaders/tint.frag.spv"), 1 << 3, 0),
        }
    }

    fn bind(&self, context: &Fixture, encoder: &mut navin_vulkan::Encoder) {
        let align = context.limits().uniform_offset_alignment;
        let place = encoder.upload(&float_bytes(&[1.0, 1.0, 0.0, 0.0]), align).expect("upload");
        let topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
        encoder.set_input_assembly(&InputAssembly { topology, ..Default::default() });
        encoder.set_shader(Stage::Vertex, Some(&self.vertex));
        encoder.set_shader(Stage::Fragment, Some(&self.fragment));
        encoder.set_constants(Stage::Vertex, 3, place.range);
    }

    fn tint(&self, context: &Fixture, encoder: &mut navin_vulkan::Encoder, color: [f32; 4]) {
        let align = context.limits().uniform_offset_alignment;
        let tint = encoder.upload(&float_bytes(&color), align).expect("upload");
        encoder.set_constants(Stage::Fragment, 3, tint.range);
    }
}

#[test]
fn b638_only_what_changed_is_set_again() {
    let Some(context) = open() else { return };
    let (target, view) = color_image(&context, 8, 8);
    let quads = Quads::new(&context);
    let mut encoder = context.queue().begin().expect("encoder");
    encoder.set_targets(targets(&view));
    whole_viewport(&mut encoder, 8, 8);
    quads.bind(&context, &mut encoder);
    quads.tint(&context, &mut encoder, [1.0, 0.0, 0.0, 1.0]);
    encoder.draw(0, 4, 0, 1).expect("drawn");
    let first = *encoder.counters();
    assert!(first.state_commands > 20, "the first draw sets everything: {first:?}");
    assert_eq!((first.shader_binds, first.constant_sets, first.rendering_scopes), (1, 2, 1));

    // The same again: nothing but the draw.
    encoder.set_targets(targets(&view));
    whole_viewport(&mut encoder, 8, 8);
    encoder.set_rasterization(&Rasterization::default());
    encoder.set_shader(Stage::Vertex, Some(&quads.vertex));
    encoder.draw(0, 4, 0, 1).expect("drawn");
    assert_eq!(*encoder.counters(), navin_vulkan::EncoderCounters { draws: 2, ..first });

    // One constant buffer: one set.
    quads.tint(&context, &mut encoder, [0.0, 1.0, 0.0, 1.0]);
    encoder.draw(0, 4, 0, 1).expect("drawn");
    assert_eq!(
        *encoder.counters(),
        navin_vulkan::EncoderCounters { draws: 3, constant_sets: first.constant_sets + 1, ..first }
    );

    // A bank that no bound shader uses: nothing.
    let unused = encoder.upload(&[0; 64], 256).expect("upload");
    encoder.set_constants(Stage::Fragment, 9, unused.range);
    encoder.set_constants(Stage::Geometry, 3, unused.range);
    encoder.draw(0, 4, 0, 1).expect("drawn");
    assert_eq!(encoder.counters().constant_sets, first.constant_sets + 1);

    // There and back between draws: nothing; one field: one command.
    let before = *encoder.counters();
    encoder.set_depth(&Depth { compare: vk::CompareOp::GREATER, ..Default::default() });
    encoder.set_depth(&Depth::default());
    encoder.draw(0, 4, 0, 1).expect("drawn");
    assert_eq!(encoder.counters().state_commands, before.state_commands);
    encoder.set_depth(&Depth { compare: vk::CompareOp::GREATER, ..Default::default() });
    encoder.draw(0, 4, 0, 1).expect("drawn");
    assert_eq!(encoder.counters().state_commands, before.state_commands + 1);

    // A barrier ends the scope; the next draw opens another and sets no state again.
    encoder.barrier_all();
    encoder.draw(0, 4, 0, 1).expect("drawn");
    assert_eq!(encoder.counters().rendering_scopes, 2);
    assert_eq!(encoder.counters().state_commands, before.state_commands + 1);
    let pixels = texels(&context, encoder, &target);
    assert!(pixels.iter().all(|&pixel| pixel == [0, 255, 0, 255]));
}

#[test]
fn blending_and_write_masks_apply() {
    let Some(context) = open() else { return };
    let (target, view) = color_image(&context, 4, 4);
    let quads = Quads::new(&context);
    let mut encoder = context.queue().begin().expect("encoder");
    encoder.set_targets(targets(&view));
    encoder.clear_color(0, float_clear([0.0, 0.0, 1.0, 1.0]), RGBA, rect(4, 4));
    whole_viewport(&mut encoder, 4, 4);
    quads.bind(&context, &mut encoder);
    quads.tint(&context, &mut encoder, [1.0, 0.0, 0.0, 0.5]);
    let mut blend = Blend::default();
    blend.attachments[0] = BlendAttachment {
        enable: true,
        src_color: vk::BlendFactor::SRC_ALPHA,
        dst_color: vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
        write_mask: vk::ColorComponentFlags::R | vk::ColorComponentFlags::G | vk::ColorComponentFlags::B,
        ..Default::default()
    };
    encoder.set_blend(&blend);
    encoder.draw(0, 4, 0, 1).expect("drawn");
    let pixels = texels(&context, encoder, &target);
    for pixel in pixels {
        assert!((127..=128).contains(&pixel[0]) && (127..=128).contains(&pixel[2]), "{pixel:?}");
        assert_eq!((pixel[1], pixel[3]), (0, 255));
    }
}

#[test]
fn an_integer_attachment_beside_a_blended_one_is_not_blended() {
    let Some(context) = open() else { return };
    let (float, float_view) = color_image(&context, 4, 4);
    let (uint, uint_view) = color_image_of(&context, vk::Format::R8G8B8A8_UINT, 4, 4);
    let quads = Quads::new(&context);
    let fragment = shader(&context, Stage::Fragment, include_bytes!("shaders/mrt.frag.spv"), 0, 0);
    let mut encoder = context.queue().begin().expect("encoder");
    let colors = [Some(Attachment::new(float_view)), Some(Attachment::new(uint_view))];
    encoder.set_targets(Targets { colors: colors.into_iter().collect(), depth_stencil: None });
    encoder.clear_color(0, float_clear([1.0, 0.0, 0.0, 1.0]), RGBA, rect(4, 4));
    encoder.clear_color(1, vk::ClearColorValue { uint32: [1, 2, 3, 4] }, RGBA, rect(4, 4));
    whole_viewport(&mut encoder, 4, 4);
    encoder.set_scissors(0, &[Scissor { x: 0, y: 0, width: 2, height: 4 }]);
    quads.bind(&context, &mut encoder);
    encoder.set_shader(Stage::Fragment, Some(&fragment));
    let one = BlendAttachment { enable: true, dst_color: vk::BlendFactor::ONE, ..Default::default() };
    encoder.set_blend(&Blend { attachments: [one; 8], ..Default::default() });
    encoder.draw(0, 4, 0, 1).expect("drawn");
    let uint_back = Readback::record(&mut encoder, &uint, vk::ImageAspectFlags::COLOR, 0, 0, 1).expect("readback");
    let pixels = texels(&context, encoder, &float);
    assert_eq!(pixels[0][..3], [255, 255, 0]);
    assert!((127..=128).contains(&pixels[0][3]), "half, rounded either way: {}", pixels[0][3]);
    assert_eq!(pixels[2], [255, 0, 0, 255]);
    assert_eq!(uint_back.bytes()[..4], [7, 8, 9, 10]);
    assert_eq!(uint_back.bytes()[8..12], [1, 2, 3, 4]);
}

#[test]
fn depth_tests_against_a_cleared_buffer_and_clip_space_can_be_minus_w_to_w() {
    let Some(context) = open() else { return };
    let (target, view) = color_image(&context, 4, 4);
    let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
    let depth = Image::new(&context, &ImageDesc::new_2d(vk::Format::D32_SFLOAT, 4, 4, usage), "depth").expect("image");
    let depth_view = depth.view(&depth.whole(usage)).expect("view");
    let quads = Quads::new(&context);
    let mut encoder = context.queue().begin().expect("encoder");
    let mut both = targets(&view);
    both.depth_stencil = Some(Attachment::new(depth_view));
    encoder.set_targets(both);
    encoder.clear_color(0, float_clear([0.0; 4]), RGBA, rect(4, 4));
    encoder.clear_depth_stencil(Some(0.6), None, 0, rect(4, 4));
    // The left half is nearer than the quad's 0.5.
    encoder.clear_depth_stencil(Some(0.4), None, 0, Scissor { x: 0, y: 0, width: 2, height: 4 });
    whole_viewport(&mut encoder, 4, 4);
    quads.bind(&context, &mut encoder);
    quads.tint(&context, &mut encoder, [1.0; 4]);
    encoder.set_depth(&Depth { test: true, write: true, compare: vk::CompareOp::LESS, bounds: None });
    encoder.draw(0, 4, 0, 1).expect("drawn");
    let back = Readback::record(&mut encoder, &depth, vk::ImageAspectFlags::DEPTH, 0, 0, 1).expect("readback");
    let control = context.features().depth_clip_control;
    if control {
        let raster = Rasterization { negative_one_to_one: true, ..Default::default() };
        encoder.set_rasterization(&raster);
        encoder.set_depth(&Depth { test: true, write: true, compare: vk::CompareOp::ALWAYS, bounds: None });
        encoder.draw(0, 4, 0, 1).expect("drawn");
    }
    let second = Readback::record(&mut encoder, &depth, vk::ImageAspectFlags::DEPTH, 0, 0, 1).expect("readback");
    let pixels = texels(&context, encoder, &target);
    let depths: Vec<f32> = words(&back.bytes()).into_iter().map(f32::from_bits).collect();
    assert_eq!(depths[..4], [0.4, 0.4, 0.5, 0.5]);
    if control {
        let depths: Vec<f32> = words(&second.bytes()).into_iter().map(f32::from_bits).collect();
        assert!(depths.iter().all(|&depth| depth == 0.75), "z 0.5 of -1..1: {depths:?}");
    } else {
        assert_eq!(pixels[0], [0; 4]);
    }
    assert_eq!(pixels[2], [255; 4]);
}

#[test]
fn clears_with_masks_keep_the_other_components_and_the_draw_state() {
    let Some(context) = open() else { return };
    let (target, view) = color_image(&context, 8, 4);
    let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
    let format = [vk::Format::D24_UNORM_S8_UINT, vk::Format::D32_SFLOAT_S8_UINT]
        .into_iter()
        .find(|&format| {
            let attachment = vk::FormatFeatureFlags2::DEPTH_STENCIL_ATTACHMENT;
            context.image_format_features(format).contains(attachment)
        })
        .expect("every device has one of the two");
    let depth = Image::new(&context, &ImageDesc::new_2d(format, 8, 4, usage), "depth").expect("image");
    let depth_view = depth.view(&depth.whole(usage)).expect("view");
    let quads = Quads::new(&context);
    let mut encoder = context.queue().begin().expect("encoder");
    let mut both = targets(&view);
    both.depth_stencil = Some(Attachment::new(depth_view));
    encoder.set_targets(both);
    encoder.clear_color(0, float_clear([0.0, 0.0, 1.0, 1.0]), RGBA, rect(8, 4));
    encoder.clear_depth_stencil(Some(1.0), Some(0xf0), 0xff, rect(8, 4));
    whole_viewport(&mut encoder, 8, 4);
    encoder.set_scissors(0, &[Scissor { x: 4, y: 0, width: 4, height: 4 }]);
    quads.bind(&context, &mut encoder);
    quads.tint(&context, &mut encoder, [0.0, 1.0, 0.0, 1.0]);
    encoder.draw(0, 4, 0, 1).expect("drawn");
    let mask = vk::ColorComponentFlags::R | vk::ColorComponentFlags::A;
    let middle = Scissor { x: 2, y: 0, width: 4, height: 4 };
    encoder.clear_color(0, float_clear([1.0, 1.0, 1.0, 0.0]), mask, middle);
    encoder.clear_depth_stencil(None, Some(0xff), 0x0f, middle);
    // The caller's shaders, constants and scissor are in force again.
    encoder.set_scissors(0, &[Scissor { x: 7, y: 0, width: 1, height: 4 }]);
    encoder.draw(0, 4, 0, 1).expect("drawn");
    let stencil = Readback::record(&mut encoder, &depth, vk::ImageAspectFlags::STENCIL, 0, 0, 1).expect("readback");
    let pixels = texels(&context, encoder, &target);
    let (blue, green) = ([0, 0, 255, 255], [0, 255, 0, 255]);
    let expected = [blue, blue, [255, 0, 255, 0], [255, 0, 255, 0], [255, 255, 0, 0], [255, 255, 0, 0], green, green];
    assert_eq!(pixels[..8], expected);
    assert_eq!(pixels[24..], expected);
    assert_eq!(stencil.bytes()[..8], [0xf0, 0xf0, 0xff, 0xff, 0xff, 0xff, 0xf0, 0xf0]);
}

#[test]
fn clears_reach_all_layers_of_layered_targets() {
    let Some(context) = open() else { return };
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
    let desc = ImageDesc { layers: 3, ..ImageDesc::new_2d(vk::Format::R8G8B8A8_UNORM, 4, 4, usage) };
    let image = Image::new(&context, &desc, "layers").expect("image");
    let view = image.view(&image.whole(usage)).expect("view");
    let mut encoder = context.queue().begin().expect("encoder");
    encoder.set_targets(targets(&view));
    encoder.clear_color(0, float_clear([0.0, 1.0, 0.0, 1.0]), RGBA, rect(4, 4));
    let masked = context.features().vertex_layer;
    if masked {
        encoder.clear_color(0, float_clear([1.0; 4]), vk::ColorComponentFlags::B, rect(2, 4));
    }
    let pixels = texels(&context, encoder, &image);
    for layer in pixels.chunks(16) {
        assert_eq!(layer[0], if masked { [0, 255, 255, 255] } else { [0, 255, 0, 255] });
        assert_eq!(layer[3], [0, 255, 0, 255]);
    }
}

#[test]
fn a_clear_without_a_draw_is_done_at_the_end() {
    let Some(context) = open() else { return };
    let (image, view) = color_image(&context, 4, 4);
    let mut encoder = context.queue().begin().expect("encoder");
    encoder.set_targets(targets(&view));
    encoder.clear_color(0, float_clear([1.0, 0.0, 0.0, 1.0]), RGBA, Scissor { x: -4, y: -4, width: 99, height: 99 });
    encoder.clear_color(0, float_clear([0.0; 4]), RGBA, Scissor { x: 9, y: 9, width: 1, height: 1 });
    encoder.clear_color(5, float_clear([0.0; 4]), RGBA, rect(4, 4));
    submit_and_wait(&context, encoder);
    let encoder = context.queue().begin().expect("encoder");
    assert!(texels(&context, encoder, &image).iter().all(|&pixel| pixel == [255, 0, 0, 255]));
}

#[test]
fn indirect_draws_take_their_parameters_from_buffers() {
    let Some(context) = open() else { return };
    let (target, view) = color_image(&context, 8, 8);
    let quads = Quads::new(&context);
    let indices = upload_buffer(&context, &bytes_of(&[0, 1, 2, 3]));
    // Two records with a stride of 32; the count says one.
    let mut parameters = vec![0u32; 16];
    parameters[..4].copy_from_slice(&[4, 1, 0, 0]);
    parameters[8..13].copy_from_slice(&[4, 1, 0, 0, 0]);
    let parameters = upload_buffer(&context, &bytes_of(&parameters));
    let count = upload_buffer(&context, &bytes_of(&[1]));
    let mut encoder = context.queue().begin().expect("encoder");
    encoder.set_targets(targets(&view));
    encoder.clear_color(0, float_clear([0.0; 4]), RGBA, rect(8, 8));
    whole_viewport(&mut encoder, 8, 8);
    quads.bind(&context, &mut encoder);
    encoder.set_index_buffer(Some(IndexBuffer { range: indices.range(0, 16), kind: vk::IndexType::UINT32 }));
    let stripe = |encoder: &mut navin_vulkan::Encoder, row: i32| {
        quads.tint(&context, encoder, [1.0, 1.0, 1.0, 1.0]);
        encoder.set_scissors(0, &[Scissor { x: 0, y: row, width: 8, height: 1 }]);
    };
    stripe(&mut encoder, 0);
    encoder.draw_indirect(parameters.raw(), 0, 1, 0).expect("drawn");
    stripe(&mut encoder, 1);
    encoder.draw_indexed_indirect(parameters.raw(), 32, 1, 20).expect("drawn");
    stripe(&mut encoder, 2);
    encoder.draw_indirect_count(parameters.raw(), 0, count.raw(), 0, 2, 32).expect("drawn");
    stripe(&mut encoder, 3);
    encoder.draw_indexed_indirect_count(parameters.raw(), 32, count.raw(), 0, 1, 20).expect("drawn");
    stripe(&mut encoder, 4);
    encoder.draw_indirect(parameters.raw(), 0, 2, 32).expect("drawn");
    assert_eq!(encoder.draw_indirect(parameters.raw(), 2, 1, 16), Err(DrawError::Alignment));
    let pixels = texels(&context, encoder, &target);
    for row in 0..8 {
        assert_eq!(pixels[row * 8 + 3] == [255; 4], row < 5, "row {row}");
    }
}

#[test]
fn compute_writes_what_a_draw_then_reads_as_indirect_parameters() {
    let Some(context) = open() else { return };
    let (target, view) = color_image(&context, 4, 4);
    let quads = Quads::new(&context);
    let fill = shader(&context, Stage::Compute, include_bytes!("shaders/fill.comp.spv"), 1 << 3, 1);
    // i * 3 + 4 for i = 0 and, in a range of one word, nothing more: 4 vertices.
    let parameters = Buffer::new(&context, 64, MemoryKind::Device, "parameters").expect("buffer");
    let groups = upload_buffer(&context, &bytes_of(&[1, 1, 1]));
    let mut encoder = context.queue().begin().expect("encoder");
    encoder.update_buffer(parameters.raw(), 0, &bytes_of(&[0, 1, 0, 0]));
    let add = encoder.upload(&4u32.to_ne_bytes(), context.limits().uniform_offset_alignment).expect("upload");
    encoder.set_shader(Stage::Compute, Some(&fill));
    encoder.set_constants(Stage::Compute, 3, add.range);
    encoder.set_storage(Stage::Compute, 0, parameters.range(0, 4));
    encoder.dispatch_indirect(groups.raw(), 0).expect("dispatched");
    assert_eq!(encoder.dispatch(u32::MAX, 1, 1), Err(DrawError::GroupCount));
    encoder.set_targets(targets(&view));
    encoder.clear_color(0, float_clear([0.0; 4]), RGBA, rect(4, 4));
    whole_viewport(&mut encoder, 4, 4);
    quads.bind(&context, &mut encoder);
    quads.tint(&context, &mut encoder, [1.0; 4]);
    encoder.draw_indirect(parameters.raw(), 0, 1, 16).expect("drawn");
    let pixels = texels(&context, encoder, &target);
    assert!(pixels.iter().all(|&pixel| pixel == [255; 4]));
}

#[test]
fn geometry_and_tessellation_stages_come_and_go() {
    let Some(context) = open() else { return };
    if !context.features().geometry || !context.features().tessellation {
        eprintln!("SKIPPED: no geometry or tessellation shaders");
        return;
    }
    let (target, view) = color_image(&context, 16, 16);
    let vertices = upload_buffer(&context, &triangle([255, 0, 0, 255]));
    let vertex = attributes_shader(&context);
    let fragment = shader(&context, Stage::Fragment, include_bytes!("shaders/passed.frag.spv"), 0, 0);
    let geometry = shader(&context, Stage::Geometry, include_bytes!("shaders/points.geom.spv"), 0, 0);
    let control = shader(&context, Stage::TessControl, include_bytes!("shaders/pass.tesc.spv"), 0, 0);
    let evaluation = shader(&context, Stage::TessEvaluation, include_bytes!("shaders/pass.tese.spv"), 0, 0);
    let mut encoder = context.queue().begin().expect("encoder");
    encoder.set_targets(targets(&view));
    encoder.clear_color(0, float_clear([0.0; 4]), RGBA, rect(16, 16));
    whole_viewport(&mut encoder, 16, 16);
    encoder.set_vertex_input(&vertex_input());
    encoder.set_vertex_buffer(0, vertices.range(0, vertices.size()));
    encoder.set_shader(Stage::Vertex, Some(&vertex));
    encoder.set_shader(Stage::Fragment, Some(&fragment));
    encoder.set_shader(Stage::TessControl, Some(&control));
    assert_eq!(encoder.draw(0, 3, 0, 1), Err(DrawError::Topology), "one tessellation shader alone");
    encoder.set_shader(Stage::TessEvaluation, Some(&evaluation));
    encoder.set_input_assembly(&InputAssembly {
        topology: vk::PrimitiveTopology::PATCH_LIST,
        patch_control_points: 3,
        ..Default::default()
    });
    encoder.draw(0, 3, 0, 1).expect("drawn");
    encoder.set_shader(Stage::TessControl, None);
    encoder.set_shader(Stage::TessEvaluation, None);
    encoder.set_input_assembly(&InputAssembly::default());
    encoder.set_shader(Stage::Geometry, Some(&geometry));
    encoder.draw(0, 3, 0, 1).expect("drawn");
    let pixels = texels(&context, encoder, &target);
    let at = |x: usize, y: usize| pixels[y * 16 + x];
    assert_eq!(at(1, 14), [255, 0, 0, 255], "tessellated, whole size");
    assert_eq!(at(5, 10), [0, 0, 255, 255], "from the geometry shader, half size, red and blue exchanged");
    assert_eq!(at(14, 1), [0; 4]);
}

#[test]
fn viewports_and_scissors_that_cannot_be_draw_nothing_or_are_cut() {
    let Some(context) = open() else { return };
    let (target, view) = color_image(&context, 8, 8);
    let quads = Quads::new(&context);
    let mut encoder = context.queue().begin().expect("encoder");
    encoder.set_targets(targets(&view));
    encoder.clear_color(0, float_clear([0.0; 4]), RGBA, rect(8, 8));
    quads.bind(&context, &mut encoder);
    quads.tint(&context, &mut encoder, [1.0; 4]);
    encoder.set_scissors(0, &[rect(8, 8)]);
    for viewport in [
        Viewport::default(),
        Viewport { width: f32::NAN, height: 8.0, ..Default::default() },
        Viewport { width: -8.0, height: 8.0, ..Default::default() },
        Viewport { x: f32::INFINITY, width: 8.0, height: 8.0, ..Default::default() },
    ] {
        encoder.set_viewports(0, &[viewport]);
        encoder.draw(0, 4, 0, 1).expect("recorded");
    }
    encoder.set_viewports(0, &[Viewport { width: 1e9, height: 1e9, ..Default::default() }]);
    encoder.set_scissors(0, &[Scissor { x: -4, y: -4, width: 8, height: u32::MAX }]);
    encoder.set_viewport_count(99);
    encoder.set_viewports(20, &[Viewport::default()]);
    encoder.draw(0, 4, 0, 1).expect("recorded");
    let pixels = texels(&context, encoder, &target);
    for (index, pixel) in pixels.iter().enumerate() {
        assert_eq!(*pixel == [255; 4], index % 8 < 4, "{index}");
    }
}
