//! Counters of an encoder: values over scopes and submissions, and the queries behind them.

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::*;
use navin_vulkan::{
    Buffer, Counter, CounterMemory, Counting, Encoder, InputAssembly, MemoryKind, Shader, Stage, View, vk,
};

/// A strip of four vertices over the target's whole, or a part of it.
struct Quad {
    vertex: Arc<Shader>,
    fragment: Arc<Shader>,
}

impl Quad {
    fn new(context: &Fixture) -> Self {
        Self {
            vertex: shader(context, Stage::Vertex, include_bytes!("shaders/quad.vert.spv"), 1 << 3, 0),
            fragment: shader(context, Stage::Fragment, include_bytes!("shaders/tint.frag.spv"), 1 << 3, 0),
        }
    }

    fn begin(&self, context: &Fixture, view: &View) -> Box<Encoder> {
        let mut encoder = context.queue().begin().expect("encoder");
        let align = context.limits().uniform_offset_alignment;
        let place = encoder.upload(&float_bytes(&[1.0, 1.0, 0.0, 0.0]), align).expect("upload");
        let tint = encoder.upload(&float_bytes(&[1.0; 4]), align).expect("upload");
        encoder.set_targets(targets(view));
        whole_viewport(&mut encoder, 8, 8);
        let topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
        encoder.set_input_assembly(&InputAssembly { topology, ..Default::default() });
        encoder.set_shader(Stage::Vertex, Some(&self.vertex));
        encoder.set_shader(Stage::Fragment, Some(&self.fragment));
        encoder.set_constants(Stage::Vertex, 3, place.range);
        encoder.set_constants(Stage::Fragment, 3, tint.range);
        encoder
    }
}

fn value(reports: &Buffer, n: u64) -> u64 {
    let mut bytes = [0; 8];
    assert!(reports.read(16 * n, &mut bytes));
    u64::from_ne_bytes(bytes)
}

/// 30 counting submissions a frame, the GPU at most one frame behind: the query pools are recycled, and with them the
/// command pools.
#[test]
fn b589_b598_counting_submissions_make_no_pools_of_their_own() {
    const SUBMISSIONS: u64 = 30;
    let Some(context) = open() else { return };
    let queue = context.queue();
    let (_target, view) = color_image(&context, 8, 8);
    let quad = Quad::new(&context);
    let memory = CounterMemory::new(&context).expect("memory");
    // A frame's reports and the next one's.
    let reports = Buffer::new(&context, 16 * 2 * SUBMISSIONS, MemoryKind::Readback, "reports").expect("buffer");
    let frames_before = queue.frames_made();
    let base = queue.submitted();
    let end = |frame: u64| base + (frame + 1) * SUBMISSIONS;
    let check = |frame: u64| {
        assert!(queue.wait(end(frame), Duration::from_secs(60)).expect("alive"));
        let first = frame % 2 * SUBMISSIONS;
        (0..SUBMISSIONS).for_each(|n| assert_eq!(value(&reports, first + n), 64 * (n + 1), "frame {frame}, {n}"));
    };
    for frame in 0..300u64 {
        if frame >= 2 {
            check(frame - 2);
        }
        for submission in 0..SUBMISSIONS {
            let mut encoder = quad.begin(&context, &view);
            encoder.count(Counting::SAMPLES, &memory);
            if submission == 0 {
                encoder.reset_counter(Counter::SamplesPassed);
            }
            encoder.draw(0, 4, 0, 1).expect("drawn");
            let place = frame % 2 * SUBMISSIONS + submission;
            encoder.report_counter(Some(Counter::SamplesPassed), false, reports.address() + 16 * place);
            queue.submit(encoder).expect("submitted");
        }
        // A pool of samples and one of times for each submission that may be in flight.
        let (queries, commands) = (queue.query_pools_made(), queue.frames_made() - frames_before);
        assert!(queries <= 4 * SUBMISSIONS, "frame {frame}: {queries} query pools");
        assert!(commands <= 2 * SUBMISSIONS, "frame {frame}: {commands} command pools");
    }
    check(298);
    check(299);
}

/// Reports over cuts of every kind: a barrier, another class of work, more queries than a pool has, other targets.
#[test]
fn a_counter_goes_on_over_scopes_and_flushes() {
    let Some(context) = open() else { return };
    let (_target, view) = color_image(&context, 8, 8);
    let (_other, second) = color_image(&context, 8, 8);
    let quad = Quad::new(&context);
    let memory = CounterMemory::new(&context).expect("memory");
    let reports = Buffer::new(&context, 16 * 256, MemoryKind::Readback, "reports").expect("buffer");
    let mut encoder = quad.begin(&context, &view);
    encoder.count(Counting::SAMPLES | Counting::STATISTICS, &memory);
    let mut drawn = 0;
    for n in 0..200u64 {
        match n % 5 {
            0 => encoder.barrier_all(),
            1 => encoder.fill_buffer(reports.range(16 * 255, 16), 0),
            2 => encoder.set_targets(targets(if n % 2 == 0 { &view } else { &second })),
            3 => encoder.flush_reports(),
            _ => {}
        }
        if n % 3 != 0 {
            encoder.draw(0, 4, 0, 1).expect("drawn");
            drawn += 1;
        }
        let counter = if n % 2 == 0 { Counter::SamplesPassed } else { Counter::InputVertices };
        encoder.report_counter(Some(counter), false, reports.address() + 16 * n);
    }
    submit_and_wait(&context, encoder);
    let mut so_far = 0;
    for n in 0..200u64 {
        so_far += u64::from(n % 3 != 0);
        let statistics = context.features().pipeline_statistics;
        let expected = if n % 2 == 0 { 64 * so_far } else { 4 * so_far * u64::from(statistics) };
        assert_eq!(value(&reports, n), expected, "report {n}");
    }
    assert_eq!(so_far, drawn);
}
