//! Records draws that differ in one constant buffer each: what the encoder costs a draw.
//!
//! `cargo run --release -p navin-vulkan --example draws -- 10000`, or under `valgrind --tool=callgrind` with two
//! counts: the difference of the program's own instructions (its object file's, not the driver's) over the difference
//! of the counts is the encoder's share of a draw.

use std::sync::Arc;
use std::time::Instant;

use navin_vulkan::{
    Attachment, Buffer, Context, Image, ImageDesc, InputAssembly, Interface, MemoryKind, OpenOptions, Rasterization,
    Shader, ShaderDesc, Stage, Targets, View, Viewport, vk,
};

fn shader(context: &Arc<Context>, stage: Stage, bytes: &[u8]) -> Arc<Shader> {
    let spirv: Vec<u32> = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let interface = Interface { constant_banks: 1 << 3, ..Default::default() };
    let next_stages = ShaderDesc::any_next(stage);
    Shader::new(context, &ShaderDesc { stage, spirv: &spirv, next_stages, interface, label: "draws" })
        .expect("shader object")
}

fn main() {
    let draws: u32 = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(10_000);
    let context = Context::open(&OpenOptions::default()).expect("a Vulkan device");
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
    let desc = ImageDesc::new_2d(vk::Format::R8G8B8A8_UNORM, 64, 64, usage);
    let image = Image::new(&context, &desc, "target").expect("image");
    let view = image.view(&image.whole(usage)).expect("view");
    let vertex = shader(&context, Stage::Vertex, include_bytes!("../tests/shaders/quad.vert.spv"));
    let fragment = shader(&context, Stage::Fragment, include_bytes!("../tests/shaders/tint.frag.spv"));
    let constants = Buffer::new(&context, 1 << 20, MemoryKind::Upload, "constants").expect("buffer");

    // The first frame allocates descriptor sets, which later ones use again.
    for frame in 0..2 {
        let text = record(&context, draws, &view, &vertex, &fragment, &constants);
        println!("{}, frame {frame}: {text}", context.report().device);
    }
}

fn record(
    context: &Arc<Context>,
    draws: u32,
    view: &View,
    vertex: &Arc<Shader>,
    fragment: &Arc<Shader>,
    constants: &Buffer,
) -> String {
    let mut encoder = context.queue().begin().expect("encoder");
    let color = Some(Attachment::new(view.clone()));
    encoder.set_targets(Targets { colors: [color].into_iter().collect(), depth_stencil: None });
    encoder.set_viewports(0, &[Viewport { width: 64.0, height: 64.0, ..Default::default() }]);
    let topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
    encoder.set_input_assembly(&InputAssembly { topology, ..Default::default() });
    // Null rasterisation: the recording is measured, not the device.
    encoder.set_rasterization(&Rasterization { discard: true, ..Default::default() });
    encoder.set_shader(Stage::Vertex, Some(vertex));
    encoder.set_shader(Stage::Fragment, Some(fragment));
    encoder.set_constants(Stage::Vertex, 3, constants.range(0, 256));
    let start = Instant::now();
    for draw in 0..draws {
        let offset = u64::from(draw % 4096) * 256;
        encoder.set_constants(Stage::Fragment, 3, constants.range(offset, 256));
        encoder.draw(0, 4, 0, 1).expect("drawn");
    }
    let recorded = start.elapsed();
    let counters = *encoder.counters();
    let value = context.queue().submit(encoder).expect("submitted");
    context.queue().wait(value, std::time::Duration::from_secs(600)).expect("alive");
    let nanoseconds = recorded.as_nanos() as f64 / f64::from(draws.max(1));
    format!("{nanoseconds:.0} ns a draw recorded; {counters:?}")
}
