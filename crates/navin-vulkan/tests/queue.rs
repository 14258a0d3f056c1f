//! The queue: timeline, recycling, deferred destruction, queries, conditions.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::*;
use navin_vulkan::{
    Access, Buffer, Image, ImageDesc, ImageError, InputAssembly, MemoryKind, OpenOptions, QueryPool, Stage, ViewDesc,
    vk,
};

#[test]
fn values_ascend_and_complete_in_order() {
    let Some(context) = open() else { return };
    let queue = context.queue();
    let base = 0;
    assert_eq!((queue.submitted(), queue.completed()), (base, base), "probes take no value");
    let buffer = Buffer::new(&context, 4096, MemoryKind::Readback, "words").expect("buffer");
    for round in 1..=40u64 {
        let mut encoder = queue.begin().expect("encoder");
        encoder.fill_buffer(buffer.range(round * 4, 4), round as u32);
        assert_eq!(queue.submit(encoder).expect("submitted"), base + round);
    }
    assert!(queue.wait(base + 40, Duration::from_secs(60)).expect("alive"));
    assert_eq!(queue.completed(), base + 40);
    let words = read_words(&buffer);
    assert!((1..=40).all(|round| words[round] == round as u32));
    assert!(!queue.wait(base + 41, Duration::from_millis(5)).expect("alive"), "nobody submitted 41");
}

/// Where one thread waits in the Vulkan driver at a time, nobody waits longer for that.
#[test]
fn b301_waits_in_turn_end_with_their_own_value() {
    const THREADS: u64 = 6;
    const ROUNDS: u64 = 60;
    let Some(context) = open_with(OpenOptions { one_waiter: true, ..Default::default() }) else { return };
    let queue = context.queue();
    let buffer = Buffer::new(&context, 4096, MemoryKind::Readback, "words").expect("buffer");
    let submit = |value: u32| {
        let mut encoder = queue.begin().expect("encoder");
        encoder.fill_buffer(buffer.range(0, 4), value);
        queue.submit(encoder).expect("submitted")
    };
    let last = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Before anything is submitted, and for the last value of all.
        let far = scope.spawn(|| {
            assert!(queue.wait(ROUNDS + 1, Duration::from_secs(60)).expect("alive"));
            assert!(last.load(Ordering::Acquire), "not before it is submitted");
        });
        for round in 1..=ROUNDS {
            assert_eq!(submit(round as u32), round);
            if round % THREADS == 0 {
                // Newer and older values at once, with one waiting for something later all the while.
                let waits = (0..THREADS).map(|n| scope.spawn(move || queue.wait(round - n, Duration::from_secs(60))));
                for wait in waits.collect::<Vec<_>>() {
                    assert!(wait.join().expect("no panic").expect("alive"));
                }
            }
        }
        assert!(!far.is_finished(), "its value is not submitted");
        assert!(!queue.wait(ROUNDS + 1, Duration::ZERO).expect("alive"));
        assert!(!queue.wait(ROUNDS + 1, Duration::from_millis(5)).expect("alive"));
        last.store(true, Ordering::Release);
        submit(0);
    });
    assert_eq!(queue.completed(), ROUNDS + 1);
}

#[test]
fn work_that_is_waited_for_on_the_spot_takes_no_value() {
    let Some(context) = open() else { return };
    let queue = context.queue();
    let buffer = Buffer::new(&context, 16, MemoryKind::Readback, "words").expect("buffer");
    // The submit thread is recording what will be submission 1.
    let mut recording = queue.begin().expect("encoder");
    recording.fill_buffer(buffer.range(0, 4), 1);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut encoder = queue.begin().expect("encoder");
            encoder.fill_buffer(buffer.range(0, 8), 2);
            queue.run(encoder).expect("ran");
            assert_eq!(read_words(&buffer)[..2], [2, 2]);
        });
    });
    assert_eq!(queue.submitted(), 0);
    assert_eq!(queue.submit(recording).expect("submitted"), 1);
    assert!(queue.wait(1, Duration::from_secs(60)).expect("alive"));
    assert_eq!(read_words(&buffer)[..2], [1, 2]);
}

#[test]
fn b124_what_is_dropped_is_destroyed_when_its_work_is_done() {
    let Some(context) = open() else { return };
    let queue = context.queue();
    queue.wait_idle().expect("idle");
    let base = context.waiting_for_release();
    let mut encoder = queue.begin().expect("encoder");
    let destination = Buffer::new(&context, 64, MemoryKind::Readback, "destination").expect("buffer");
    let source = upload_buffer(&context, &[9; 64]);
    encoder.copy_buffer(source.raw(), destination.raw(), &[vk::BufferCopy2::default().size(64)]);
    drop(source);
    queue.collect();
    assert_eq!(context.waiting_for_release(), base + 1, "the encoder may use it");
    submit_and_wait(&context, encoder);
    queue.collect();
    assert_eq!(context.waiting_for_release(), base);
    assert_eq!(read_words(&destination), [0x0909_0909; 16]);
    // An encoder that is thrown away holds nothing back either.
    let encoder = queue.begin().expect("encoder");
    drop(upload_buffer(&context, &[1; 4]));
    drop(encoder);
    queue.collect();
    assert_eq!(context.waiting_for_release(), base);
}

#[test]
fn an_image_dropped_before_its_first_submission_leaves_no_trace() {
    let Some(context) = open() else { return };
    let (image, _) = color_image(&context, 4, 4);
    let (kept, view) = color_image(&context, 4, 4);
    drop(image);
    let mut encoder = context.queue().begin().expect("encoder");
    encoder.set_targets(targets(&view));
    encoder.clear_color(0, float_clear([1.0; 4]), RGBA, rect(4, 4));
    assert!(texels(&context, encoder, &kept).iter().all(|&pixel| pixel == [255; 4]));
}

#[test]
fn transient_memory_is_taken_and_given_back() {
    let Some(context) = open() else { return };
    let queue = context.queue();
    let back = Buffer::new(&context, 3 << 20, MemoryKind::Readback, "back").expect("buffer");
    for round in 0..4u8 {
        let mut encoder = queue.begin().expect("encoder");
        let mut at = 0;
        for size in [1usize, 100, 70_000, 2 << 20] {
            let bytes = vec![round.wrapping_add(size as u8); size];
            let slice = encoder.upload(&bytes, 256).expect("transient memory");
            assert!(slice.range.offset.is_multiple_of(256));
            let region = vk::BufferCopy2::default().src_offset(slice.range.offset).dst_offset(at).size(size as u64);
            encoder.copy_buffer(slice.range.buffer, back.raw(), &[region]);
            at += size as u64;
        }
        submit_and_wait(&context, encoder);
        let mut bytes = vec![0; at as usize];
        assert!(back.read(0, &mut bytes));
        assert_eq!(bytes[0], round.wrapping_add(1));
        assert!(bytes[1..101].iter().all(|&byte| byte == round.wrapping_add(100)));
        assert!(bytes[70_101..].iter().all(|&byte| byte == round));
    }
}

/// A guest whose frames are many submissions and whose GPU is one frame behind: frame n begins when frame n - 2 has
/// ended.
#[test]
fn b598_recording_never_waits_and_command_pools_are_as_many_as_are_in_flight() {
    const SUBMISSIONS: u64 = 30;
    let Some(context) = open() else { return };
    let queue = context.queue();
    let buffer = Buffer::new(&context, 1 << 16, MemoryKind::Readback, "words").expect("buffer");
    for frame in 0..100u64 {
        let ended = frame.saturating_sub(1) * SUBMISSIONS;
        assert!(queue.wait(ended, Duration::from_secs(60)).expect("alive"));
        let waits = queue.waits();
        for submission in 0..SUBMISSIONS {
            let mut encoder = queue.begin().expect("encoder");
            encoder.fill_buffer(buffer.range(submission * 4, 4), frame as u32);
            encoder.fill_buffer(buffer.range(4096, 60_000), submission as u32);
            queue.submit(encoder).expect("submitted");
        }
        assert_eq!(queue.waits(), waits, "frame {frame}: recording waited for the GPU");
        assert!(queue.frames_made() <= 2 * SUBMISSIONS, "frame {frame}: {} command pools", queue.frames_made());
    }
    queue.wait_idle().expect("idle");
    assert!(read_words(&buffer)[..SUBMISSIONS as usize].iter().all(|word| *word == 99));
    // As many being recorded at once take one each, and no more the second time.
    for round in 0..2 {
        let made = queue.frames_made();
        let encoders: Vec<_> = (0..100).map(|_| queue.begin().expect("encoder")).collect();
        assert_eq!(queue.frames_made(), if round == 0 { 100 } else { made });
        drop(encoders);
    }
    assert!(queue.waits() > 0, "this test's own waits are counted");
}

#[test]
fn queries_span_scopes_and_conditions_hold_draws_and_clears_back() {
    let Some(context) = open() else { return };
    let (target, view) = color_image(&context, 8, 8);
    let quad = shader(&context, Stage::Vertex, include_bytes!("shaders/quad.vert.spv"), 1 << 3, 0);
    let tint = shader(&context, Stage::Fragment, include_bytes!("shaders/tint.frag.spv"), 1 << 3, 0);
    let occlusion = QueryPool::new(&context, vk::QueryType::OCCLUSION, 2).expect("query pool");
    let times = QueryPool::new(&context, vk::QueryType::TIMESTAMP, 2);
    let condition = upload_buffer(&context, &bytes_of(&[0, 1]));
    let results = Buffer::new(&context, 16, MemoryKind::Readback, "results").expect("buffer");

    let mut encoder = context.queue().begin().expect("encoder");
    let align = context.limits().uniform_offset_alignment;
    let place = encoder.upload(&float_bytes(&[1.0, 1.0, 0.0, 0.0]), align).expect("upload");
    let white = encoder.upload(&float_bytes(&[1.0; 4]), align).expect("upload");
    if let Ok(times) = &times {
        encoder.write_timestamp(times, 0);
    }
    encoder.set_targets(targets(&view));
    encoder.clear_color(0, float_clear([0.0; 4]), RGBA, rect(8, 8));
    whole_viewport(&mut encoder, 8, 8);
    let topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
    encoder.set_input_assembly(&InputAssembly { topology, ..Default::default() });
    encoder.set_shader(Stage::Vertex, Some(&quad));
    encoder.set_shader(Stage::Fragment, Some(&tint));
    encoder.set_constants(Stage::Vertex, 3, place.range);
    encoder.set_constants(Stage::Fragment, 3, white.range);
    encoder.begin_query(&occlusion, 0, true);
    encoder.set_scissors(0, &[rect(4, 1)]);
    encoder.draw(0, 4, 0, 1).expect("drawn");
    encoder.barrier(Access::Attachments, Access::FragmentReads);
    encoder.set_scissors(0, &[rect(4, 2)]);
    encoder.draw(0, 4, 0, 1).expect("drawn");
    encoder.end_query(&occlusion, 0);
    encoder.begin_query(&occlusion, 99, true);

    // The word is 0: neither draw nor clear, in this scope and in the next.
    encoder.set_condition(Some((condition.range(0, 4), false)));
    encoder.set_scissors(0, &[rect(8, 8)]);
    encoder.draw(0, 4, 0, 1).expect("recorded");
    encoder.clear_color(0, float_clear([1.0, 0.0, 0.0, 1.0]), RGBA, rect(8, 8));
    encoder.barrier_all();
    encoder.clear_color(0, float_clear([1.0, 0.0, 0.0, 1.0]), RGBA, rect(8, 8));
    encoder.set_condition(Some((condition.range(0, 4), true)));
    encoder.set_scissors(0, &[navin_vulkan::Scissor { x: 0, y: 7, width: 8, height: 1 }]);
    encoder.draw(0, 4, 0, 1).expect("drawn");
    encoder.set_condition(None);
    encoder.copy_query_results(&occlusion, 0, 1, results.range(0, 8), 8);
    if let Ok(times) = &times {
        encoder.write_timestamp(times, 1);
    }
    let pixels = texels(&context, encoder, &target);
    assert_eq!(occlusion.results(0, 1), [Some(12)]);
    assert_eq!(read_words(&results)[..2], [12, 0]);
    if let Ok(times) = &times {
        let stamps = times.results(0, 2);
        assert!(stamps[0].expect("written") <= stamps[1].expect("written"));
    }
    if context.features().conditional_rendering {
        for (index, pixel) in pixels.iter().enumerate() {
            let (x, y) = (index % 8, index / 8);
            let white = (y < 2 && x < 4) || y == 7;
            assert_eq!(*pixel, if white { [255; 4] } else { [0; 4] }, "({x}, {y})");
        }
    }
}

#[test]
fn images_and_views_that_cannot_be_are_refused() {
    let Some(context) = open() else { return };
    let usage = vk::ImageUsageFlags::SAMPLED;
    let format = vk::Format::R8G8B8A8_UNORM;
    let refused = |desc: ImageDesc| {
        let result = Image::new(&context, &desc, "refused");
        assert!(matches!(result, Err(ImageError::Unsupported(_))), "{desc:?}");
    };
    refused(ImageDesc::new_2d(format, 0, 4, usage));
    refused(ImageDesc::new_2d(format, 1 << 20, 4, usage));
    refused(ImageDesc { levels: 4, ..ImageDesc::new_2d(format, 4, 4, usage) });
    refused(ImageDesc { layers: 0, ..ImageDesc::new_2d(format, 4, 4, usage) });
    refused(ImageDesc::new_2d(vk::Format::UNDEFINED, 4, 4, usage));

    let desc = ImageDesc { levels: 3, layers: 6, cube: true, ..ImageDesc::new_2d(format, 4, 4, usage) };
    let image = Image::new(&context, &desc, "cube").expect("image");
    let whole = image.whole(usage);
    assert_eq!((whole.kind, whole.levels, whole.layers), (vk::ImageViewType::TYPE_2D_ARRAY, 3, 6));
    let first = image.view(&whole).expect("view");
    assert_eq!(first.raw(), image.view(&whole).expect("view").raw(), "cached");
    image.view(&ViewDesc { kind: vk::ImageViewType::CUBE, ..whole }).expect("cube view");
    image.view(&ViewDesc { kind: vk::ImageViewType::TYPE_2D, base_layer: 5, layers: 1, ..whole }).expect("view");
    for view in [
        ViewDesc { base_level: 3, levels: 1, ..whole },
        ViewDesc { base_layer: 5, layers: 2, ..whole },
        ViewDesc { base_layer: u32::MAX, layers: 2, ..whole },
        ViewDesc { kind: vk::ImageViewType::TYPE_3D, ..whole },
        ViewDesc { kind: vk::ImageViewType::CUBE, layers: 5, ..whole },
        ViewDesc { usage: vk::ImageUsageFlags::STORAGE, ..whole },
        ViewDesc { format: vk::Format::R32_UINT, ..whole },
        ViewDesc { aspects: vk::ImageAspectFlags::DEPTH, ..whole },
    ] {
        assert!(matches!(image.view(&view), Err(ImageError::Unsupported(_))), "{view:?}");
    }
    if context.features().view_2d_of_3d {
        let kind = vk::ImageType::TYPE_3D;
        let extent = vk::Extent3D { width: 4, height: 4, depth: 4 };
        let desc = ImageDesc { kind, extent, levels: 3, ..ImageDesc::new_2d(format, 4, 4, usage) };
        let volume = Image::new(&context, &desc, "volume").expect("image");
        let slice = ViewDesc { kind: vk::ImageViewType::TYPE_2D, levels: 1, base_layer: 3, ..volume.whole(usage) };
        volume.view(&slice).expect("a slice");
        assert!(volume.view(&ViewDesc { base_level: 1, ..slice }).is_err(), "level 1 has two slices");
    }
    assert_eq!(image.level_extent(2), vk::Extent3D { width: 1, height: 1, depth: 1 });
    assert_eq!(image.level_extent(99), vk::Extent3D { width: 1, height: 1, depth: 1 });
}

#[test]
fn the_report_names_the_device_and_its_gaps() {
    let Some(context) = open() else { return };
    let report = context.report();
    assert!(!report.device.is_empty() && !report.heaps.is_empty());
    assert_eq!(report.features, *context.features());
    let json = serde_json::to_string_pretty(&report).expect("a report is plain data");
    eprintln!("{json}");
}

#[test]
fn words_that_are_no_spirv_are_an_error() {
    let Some(context) = open() else { return };
    use navin_vulkan::{Shader, ShaderDesc, ShaderError};
    for spirv in [&[][..], &[0x0723_0203][..], &[1, 2, 3, 4, 5, 6][..]] {
        let desc = ShaderDesc {
            stage: Stage::Vertex,
            spirv,
            next_stages: ShaderDesc::any_next(Stage::Vertex),
            interface: Default::default(),
            label: "junk",
        };
        assert!(matches!(Shader::new(&context, &desc), Err(ShaderError::NotSpirv(_))));
    }
}
