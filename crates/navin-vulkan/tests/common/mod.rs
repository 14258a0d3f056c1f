//! What the tests share: a context (or a clear word that there is no Vulkan here), shaders, and small pictures.
//!
//! `NAVIN_VALIDATION=1` opens every context with the validation layer; a test then fails on any message.

#![allow(dead_code, reason = "each test binary uses a part")]

#[cfg(unix)]
pub mod memory;

use std::sync::Arc;
use std::time::Duration;

use navin_vulkan::{
    Attachment, Buffer, Context, Encoder, Image, ImageDesc, InputClass, Interface, MemoryKind, OpenError, OpenOptions,
    Readback, Scissor, Shader, ShaderDesc, Stage, Targets, Validation, View, Viewport, vk,
};

/// An open context whose end checks that the validation layer, if asked for, said nothing.
pub struct Fixture(pub Arc<Context>);

impl std::ops::Deref for Fixture {
    type Target = Arc<Context>;

    fn deref(&self) -> &Arc<Context> {
        &self.0
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.0.queue().wait_idle().expect("the device is idle");
            assert_eq!(self.0.validation_messages(), 0, "the validation layer had something to say (see stderr)");
        }
    }
}

/// Prints validation messages, which come as tracing events.
struct Printer;

impl tracing::Subscriber for Printer {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::WARN
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Line(String);
        impl tracing::field::Visit for Line {
            fn record_debug(&mut self, _: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0 += &format!("{value:?} ");
            }
        }
        let mut line = Line(String::new());
        event.record(&mut line);
        eprintln!("{} {}: {}", event.metadata().level(), event.metadata().target(), line.0);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

/// Opens a context. `None`, with a word on stderr, only where there is no Vulkan at all; a device that cannot be
/// opened fails the test.
pub fn open() -> Option<Fixture> {
    open_with(OpenOptions::default())
}

/// Opens a context with options of the test's own; validation is this module's.
pub fn open_with(options: OpenOptions) -> Option<Fixture> {
    let _ = tracing::subscriber::set_global_default(Printer);
    let validation = if std::env::var_os("NAVIN_VALIDATION").is_some_and(|value| value != "0") {
        Validation::On
    } else {
        Validation::Off
    };
    match Context::open(&OpenOptions { validation, ..options }) {
        Ok(context) => Some(Fixture(context)),
        Err(error @ (OpenError::NoLoader(_) | OpenError::NoDevice)) => {
            eprintln!("SKIPPED: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Makes a shader from a file of `tests/shaders`.
pub fn shader(context: &Arc<Context>, stage: Stage, bytes: &[u8], banks: u32, slots: u16) -> Arc<Shader> {
    shader_with(context, stage, bytes, Interface { constant_banks: banks, storage_slots: slots, ..Default::default() })
}

pub fn shader_with(context: &Arc<Context>, stage: Stage, bytes: &[u8], interface: Interface) -> Arc<Shader> {
    let spirv: Vec<u32> = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let next_stages = ShaderDesc::any_next(stage);
    let desc = ShaderDesc { stage, spirv: &spirv, next_stages, interface, label: "test" };
    Shader::new(context, &desc).expect("shader object")
}

pub fn attributes_shader(context: &Arc<Context>) -> Arc<Shader> {
    let vertex_inputs = [(0, InputClass::Float), (1, InputClass::Float)].into_iter().collect();
    shader_with(
        context,
        Stage::Vertex,
        include_bytes!("../shaders/attributes.vert.spv"),
        Interface { vertex_inputs, ..Default::default() },
    )
}

pub fn color_image(context: &Arc<Context>, width: u32, height: u32) -> (Arc<Image>, View) {
    color_image_of(context, vk::Format::R8G8B8A8_UNORM, width, height)
}

pub fn color_image_of(context: &Arc<Context>, format: vk::Format, width: u32, height: u32) -> (Arc<Image>, View) {
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
    let image = Image::new(context, &ImageDesc::new_2d(format, width, height, usage), "target").expect("image");
    let view = image.view(&image.whole(vk::ImageUsageFlags::COLOR_ATTACHMENT)).expect("view");
    (image, view)
}

pub fn targets(view: &View) -> Targets {
    Targets { colors: [Some(Attachment::new(view.clone()))].into_iter().collect(), depth_stencil: None }
}

pub const fn rect(width: u32, height: u32) -> Scissor {
    Scissor { x: 0, y: 0, width, height }
}

/// A viewport and scissor over the whole target, unflipped.
pub fn whole_viewport(encoder: &mut Encoder, width: u32, height: u32) {
    let viewport = Viewport { width: width as f32, height: height as f32, ..Default::default() };
    encoder.set_viewports(0, &[viewport]);
    encoder.set_scissors(0, &[rect(width, height)]);
}

pub const RGBA: vk::ColorComponentFlags = vk::ColorComponentFlags::RGBA;

pub fn float_clear(value: [f32; 4]) -> vk::ClearColorValue {
    vk::ClearColorValue { float32: value }
}

pub fn submit_and_wait(context: &Arc<Context>, encoder: Box<Encoder>) {
    let value = context.queue().submit(encoder).expect("submitted");
    assert!(context.queue().wait(value, Duration::from_secs(60)).expect("no device loss"), "the GPU hangs");
}

/// Submits with a readback of level 0 and gives its texels, four bytes each.
pub fn texels(context: &Arc<Context>, mut encoder: Box<Encoder>, image: &Arc<Image>) -> Vec<[u8; 4]> {
    let readback = Readback::record(&mut encoder, image, vk::ImageAspectFlags::COLOR, 0, 0, image.desc().layers)
        .expect("readback");
    submit_and_wait(context, encoder);
    readback.bytes().chunks_exact(4).map(|t| [t[0], t[1], t[2], t[3]]).collect()
}

pub fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect()
}

pub fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

pub fn float_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

pub fn upload_buffer(context: &Arc<Context>, bytes: &[u8]) -> Buffer {
    let buffer = Buffer::new(context, bytes.len() as u64, MemoryKind::Upload, "test").expect("buffer");
    assert!(buffer.write(0, bytes));
    buffer
}

pub fn read_words(buffer: &Buffer) -> Vec<u32> {
    let mut bytes = vec![0; buffer.size() as usize];
    assert!(buffer.read(0, &mut bytes));
    words(&bytes)
}

/// Fills an image's level 0 with tight texels.
pub fn fill_image(encoder: &mut Encoder, image: &Arc<Image>, bytes: &[u8]) {
    let slice = encoder.upload(bytes, 256).expect("transient memory");
    let region = vk::BufferImageCopy2::default()
        .buffer_offset(slice.range.offset)
        .image_subresource(vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: 0,
            base_array_layer: 0,
            layer_count: 1,
        })
        .image_extent(image.desc().extent);
    encoder.copy_buffer_to_image(slice.range.buffer, image, &[region]);
}
