//! Command memory as the guest sees it: B102, B215, B220 to B223, B226 to B228, B415, B425.

mod guest;

use guest::*;
use navin_command::record::immediate::{FenceMode, StageSlot, TargetCount};
use navin_command::record::payload::{
    BufferRange, CopyBufferTexture, CopyStrides, DispatchCompute, HandleGap, Object, TextureRef,
};
use navin_command::record::{Record, U64, op};
use navin_command::{
    Boundary, CommandBuffer, Host, LENT_SEGMENT, LENT_SMALL_SEGMENT, Limits, Section, flatten, run_native,
};

fn replay(host: &Host, pool: &Pool, handle: u64) -> Vec<u32> {
    counts(&flatten(host, pool, [handle]))
}

#[test]
fn b101_nothing_is_written_past_the_object() {
    let (host, pool) = (host(), Pool::new(0x10000, 4096));
    let guest = Guest::new().with_command(host, &pool, 0, 512).with_control(host, 256);
    let buffer = guest.buffer();
    buffer.set_copy_row_stride(-1);
    buffer.set_copy_image_stride(-1);
    guest.record_draws(host, 0..100);
    buffer.add_command_memory_without_pool(host, 512);
    guest.record_draws(host, 0..100);
    buffer.finalize();
    assert!(guest.guards_are_whole());
}

#[test]
fn b102_the_byte_that_inlined_code_stores_is_not_ours() {
    let mut used = Vec::new();
    for byte in [None, Some(1u8), Some(0), Some(0xff)] {
        let (host, pool) = (host(), Pool::new(0x10000, 4096));
        let guest = Guest::new().with_command(host, &pool, 0, 512).with_control(host, 256).count_calls();
        let poke = || {
            if let Some(byte) = byte {
                // SAFETY: inside the object.
                unsafe { guest.object().add(0x10).write(byte) }
            }
        };
        poke();
        let buffer = guest.buffer();
        buffer.begin(host);
        poke();
        buffer.record_run::<op::BindVertexBuffers>(host, 0, &(), 1, |_| BufferRange {
            address: U64::new(0x77_0000),
            size: 64,
        });
        poke();
        guest.draws(host, 0..20);
        poke();
        let handle = buffer.end(host);
        assert_eq!(host.lent_bytes(), 0, "the recording stays in its 512 bytes");
        assert_eq!(guest.calls.0, 0);
        used.push(buffer.command_memory_used());
        let stream = flatten(host, &pool, [handle]);
        let first = stream.records().next().unwrap();
        assert!(matches!(first, Record::BindVertexBuffers(0, [range]) if range.address.get() == 0x77_0000));
    }
    assert_ne!(used[0], 0);
    assert!(used.iter().all(|&bytes| bytes == used[0]));
}

#[test]
fn b220_many_small_buffers_overflow_without_end() {
    let host: &'static Host = host();
    let pool = Pool::new(0x10000, 320 * 512);
    let guests: Vec<Guest> =
        (0..320).map(|i| Guest::new().with_command(host, &pool, i * 512, 512).with_control(host, 256)).collect();
    let mut after_first = 0;
    for frame in 0..4 {
        let handles: Vec<u64> = guests
            .iter()
            .enumerate()
            .map(|(i, guest)| {
                grant(guest.buffer(), host, &pool, i * 512, 512);
                guest.record_draws(host, (0..100).map(|d| (i * 1000) as u32 + d))
            })
            .collect();
        for (i, &handle) in handles.iter().enumerate() {
            let expected: Vec<u32> = (0..100).map(|d| (i * 1000) as u32 + d).collect();
            assert_eq!(replay(host, &pool, handle), expected);
        }
        assert!(host.lent_bytes() >= 320 * LENT_SEGMENT as u64, "more than 64 MB are lent");
        match frame {
            0 => after_first = host.lent_bytes(),
            _ => assert!(host.lent_bytes() <= after_first, "re-recording in place frees the old segments"),
        }
    }
}

#[test]
fn b220_a_lent_tail_lives_as_long_as_it_is_called() {
    let (host, pool) = (host(), Pool::new(0x10000, 1 << 20));
    let list = Guest::new().with_command(host, &pool, 0, 512).with_control(host, 256);
    let expected: Vec<u32> = (0..200).collect();
    let called = list.record_draws(host, expected.iter().copied());
    assert!(host.lent_bytes() > 0);
    let frame = Guest::new();
    let other = Guest::new();
    for i in 0..1000 {
        // Other buffers run short all the time, elsewhere.
        grant(other.buffer(), host, &pool, 8192, 512);
        add_control(other.buffer(), host, control(256), 256);
        other.record_draws(host, 0..100);
        grant(frame.buffer(), host, &pool, 4096, 512);
        add_control(frame.buffer(), host, control(256), 256);
        frame.buffer().begin(host);
        frame.buffer().call(host, [called]);
        let handle = frame.buffer().end(host);
        assert_eq!(replay(host, &pool, handle), expected, "frame {i}");
    }
}

#[test]
fn b220_lists_recorded_on_in_a_lent_segment_do_not_hold_it_for_ever() {
    let (host, pool) = (host(), Pool::new(0x10000, 4096));
    let guest = Guest::new().with_control(host, 1 << 16);
    for frame in 0..50 {
        grant(guest.buffer(), host, &pool, 0, 512);
        let handles = [100, 3, 5].map(|draws| guest.record_draws(host, frame..frame + draws));
        for (handle, draws) in handles.into_iter().zip([100, 3, 5]) {
            assert_eq!(replay(host, &pool, handle), (frame..frame + draws).collect::<Vec<_>>());
        }
        assert!(host.lent_bytes() <= 2 * LENT_SEGMENT as u64, "frame {frame} lends what the last one still holds");
    }
    // One that got guest memory afterwards has bytes to be found by, and keeps its segment.
    guest.buffer().begin(host);
    guest.draws(host, [1]);
    grant(guest.buffer(), host, &pool, 1024, 512);
    guest.draws(host, [2]);
    let kept = guest.buffer().end(host);
    grant(guest.buffer(), host, &pool, 0, 512);
    guest.record_draws(host, 0..10);
    assert_eq!(replay(host, &pool, kept), [1, 2]);
    assert!(host.lent_bytes() > 0);
    grant(guest.buffer(), host, &pool, 1024, 512);
    guest.record_draws(host, 0..10);
    assert_eq!(host.lent_bytes(), 0);
}

#[test]
fn b220_grants_without_a_pool_take_4_kb() {
    let (host, pool) = (host(), Pool::new(0x10000, 512));
    let guest = Guest::new().with_control(host, 1 << 16);
    for i in 0..1024u64 {
        guest.buffer().add_command_memory_without_pool(host, 512);
        assert_eq!(host.lent_bytes(), (i + 1) * LENT_SMALL_SEGMENT as u64);
        assert_eq!(guest.buffer().command_memory_size(), 512);
        assert_eq!(guest.buffer().command_memory_free(), 512);
    }
    let handle = guest.record_draws(host, 0..10);
    assert_eq!(replay(host, &pool, handle), (0..10).collect::<Vec<_>>());
    assert_eq!(guest.buffer().command_memory_used(), 10 * DRAW as u64);
}

#[test]
fn b220_the_bound_is_a_fault_and_the_process_lives() {
    let host: &'static Host =
        Box::leak(Box::new(Host::with(run_native, Limits { lent: 4 * LENT_SEGMENT as u64, ..Limits::DEFAULT })));
    let pool = Pool::new(0x10000, 4096);
    let guest = Guest::new().with_command(host, &pool, 0, 512).with_control(host, 4096);
    let faults = navin_abi::fault::count();
    let per_segment = LENT_SEGMENT / DRAW;
    let handle = guest.record_draws(host, (0..5 * per_segment).map(|i| i as u32));
    assert!(navin_abi::fault::count() > faults);
    let replayed = replay(host, &pool, handle);
    assert!(replayed.len() >= 4 * per_segment && replayed.len() < 5 * per_segment);
    assert!(replayed.iter().enumerate().all(|(i, &count)| i as u32 == count), "what was recorded is whole");
    assert_eq!(Limits::DEFAULT.lent, 1 << 30);
}

#[test]
fn b221_a_grant_over_a_recordings_bytes_frees_nothing() {
    let (host, pool) = (host(), Pool::new(0x10000, 1 << 16));
    // A's slot begins at 1024; what it measured is below 512 bytes, and its tail is lent.
    let a = Guest::new().with_command(host, &pool, 1024, 240).with_control(host, 256);
    let expected: Vec<u32> = (0..30).collect();
    let handle = a.record_draws(host, expected.iter().copied());
    assert_eq!(host.lent_bytes(), LENT_SEGMENT as u64);
    // A neighbour before it is granted 512 bytes, which cover A's, and writes its own 120.
    let b = Guest::new().with_command(host, &pool, 904, 512).with_control(host, 256);
    b.record_draws(host, 100..110);
    assert_eq!(host.lent_bytes(), LENT_SEGMENT as u64, "A keeps its segment");
    assert_eq!(replay(host, &pool, handle), expected);
    // A is recorded again in place, whole this time: its old segment is free.
    grant(a.buffer(), host, &pool, 1024, 512);
    let handle = a.record_draws(host, expected.iter().copied());
    assert_eq!(host.lent_bytes(), 0);
    assert_eq!(replay(host, &pool, handle), expected);
}

#[test]
fn b221_a_recordings_own_writes_leave_its_segments_alone() {
    let (host, pool) = (host(), Pool::new(0x10000, 1 << 16));
    let a = Guest::new().with_command(host, &pool, 0, 48).with_control(host, 256);
    a.buffer().begin(host);
    a.draws(host, 0..10);
    // More memory comes, over the bytes it already wrote.
    grant(a.buffer(), host, &pool, 48, 480);
    a.draws(host, 10..20);
    grant(a.buffer(), host, &pool, 600, 480);
    a.draws(host, 20..30);
    let handle = a.buffer().end(host);
    assert_eq!(host.lent_bytes(), LENT_SEGMENT as u64);
    assert_eq!(replay(host, &pool, handle), (0..30).collect::<Vec<_>>());
    // Another one over the second of its pieces ends it.
    let b = Guest::new().with_command(host, &pool, 60, 480).with_control(host, 256);
    b.record_draws(host, 0..1);
    assert_eq!(host.lent_bytes(), 0);
}

#[test]
fn b222_the_count_begins_at_the_grant() {
    let (host, pool) = (host(), Pool::new(0x10000, 1 << 20));
    let guest = Guest::new().with_command(host, &pool, 0, 1 << 20).with_control(host, 4096);
    let mut sum = 0;
    for n in [3, 5, 7] {
        guest.record_draws(host, 0..n);
        sum += u64::from(n) * DRAW as u64;
        assert_eq!(guest.buffer().command_memory_used(), sum);
        assert_eq!(guest.buffer().command_memory_free(), (1 << 20) - sum);
    }
    grant(guest.buffer(), host, &pool, 0, 512);
    assert_eq!(guest.buffer().command_memory_used(), 0);
    guest.record_draws(host, 0..100);
    assert_eq!(guest.buffer().command_memory_used(), 100 * DRAW as u64, "lent memory counts");
    assert_eq!(guest.buffer().command_memory_free(), 0);
    assert_eq!(guest.buffer().command_memory_size(), 512);
}

#[test]
fn b223_a_slot_of_the_measured_size_holds_the_recording() {
    // 496 bytes is the size at which an end or link record would reach into the next slot.
    for draws in [1usize, 7, 33, 41] {
        let gap = |buffer: CommandBuffer, host: &Host| {
            // 4 bytes more, so that sizes are no multiples of 12: 41 draws and this are 496.
            buffer.record::<op::SetDepthClamp>(host, 1, &())
        };
        let (host, pool) = (host(), Pool::new(0x10000, 1 << 16));
        let measure = Guest::new().with_command(host, &pool, 32768, 4096).with_control(host, 256);
        measure.buffer().begin(host);
        measure.draws(host, 0..draws as u32);
        gap(measure.buffer(), host);
        measure.buffer().end(host);
        let size = measure.buffer().command_memory_used() as usize;
        assert_eq!(size, draws * DRAW + 4);
        assert!(draws != 41 || size == 496);
        const LISTS: usize = 8;
        let guests: Vec<Guest> = (0..LISTS).map(|_| Guest::new().with_control(host, 1024).count_calls()).collect();
        let mut handles = [0u64; LISTS];
        // Forwards, backwards, and some again.
        for k in (0..LISTS).chain((0..LISTS).rev()).chain([3, 5, 4, 3]) {
            let before = pool.bytes(0, 32768);
            let buffer = guests[k].buffer();
            grant(buffer, host, &pool, size * k, size.max(512));
            buffer.begin(host);
            guests[k].draws(host, (0..draws).map(|d| (k * 100 + d) as u32));
            gap(buffer, host);
            handles[k] = buffer.end(host);
            let after = pool.bytes(0, 32768);
            assert_eq!(before[..size * k], after[..size * k]);
            assert_eq!(before[size * (k + 1)..], after[size * (k + 1)..], "a write past the slot's last byte");
            assert_eq!(buffer.command_memory_used() as usize, size);
        }
        for (k, &handle) in handles.iter().enumerate() {
            let stream = flatten(host, &pool, [handle]);
            let replayed: Vec<u32> = stream
                .records()
                .filter_map(|r| if let Record::DrawArrays(_, d) = r { Some(d.count) } else { None })
                .collect();
            assert_eq!(replayed, (0..draws).map(|d| (k * 100 + d) as u32).collect::<Vec<_>>());
        }
        assert_eq!(host.lent_bytes(), 0);
        assert!(guests.iter().all(|guest| guest.calls.0 == 0));
    }
}

#[test]
fn b226_strides_take_no_command_memory() {
    let (host, pool) = (host(), Pool::new(0x10000, 4096));
    let guest = Guest::new().with_command(host, &pool, 0, 0x100).with_control(host, 256).count_calls();
    let buffer = guest.buffer();
    buffer.begin(host);
    let before = buffer.command_memory_used();
    buffer.set_copy_row_stride(1024);
    buffer.set_copy_image_stride(65536);
    assert_eq!(buffer.command_memory_used(), before);
    assert_eq!(buffer.copy_strides(), (1024, 65536));
    let copy = CopyBufferTexture::default();
    let strides = CopyStrides { row: 1024, image: 65536 };
    assert!(buffer.record_run::<op::CopyBufferToTexture>(host, 0, &copy, 1, |_| strides));
    let with_strides = buffer.command_memory_used();
    assert!(buffer.record_run::<op::CopyBufferToTexture>(host, 0, &copy, 0, |_| strides));
    assert_eq!(buffer.command_memory_used() - with_strides, 52, "a tight copy");
    let handle = buffer.end(host);
    assert_eq!(guest.calls.0, 0);
    let stream = flatten(host, &pool, [handle]);
    let copies: Vec<_> = stream.records().collect();
    assert_eq!(copies, [Record::CopyBufferToTexture(0, &copy, &[strides]), Record::CopyBufferToTexture(0, &copy, &[])]);
}

#[test]
fn b227_the_size_is_one_field() {
    let (host, pool) = (host(), Pool::new(0x10000, 1 << 16));
    let guest = Guest::new().with_command(host, &pool, 0, 4096).with_control(host, 1 << 15);
    let object = guest.object() as usize;
    let stop = &std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let mut reads = 0u32;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                // SAFETY: the object outlives the scope, and only the grant's size is read here.
                let size = unsafe { CommandBuffer::new(object as *mut _) }.unwrap().command_memory_size();
                assert_eq!(size, 4096, "torn");
                reads += 1;
            }
            reads
        });
        for _ in 0..200 {
            grant(guest.buffer(), host, &pool, 0, 4096);
            guest.record_draws(host, 0..1000);
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(reader.join().unwrap() > 0);
    });
    grant(guest.buffer(), host, &pool, 0, 512);
    assert_eq!(guest.buffer().command_memory_size(), 512);
}

#[test]
fn b228_a_handle_stored_16_bytes_into_the_bind_is_bound() {
    let (host, pool) = (host(), Pool::new(0x10000, 4096));
    let guest = Guest::new().with_command(host, &pool, 64, 1024).with_control(host, 256);
    let buffer = guest.buffer();
    buffer.begin(host);
    guest.draws(host, [1]);
    let noted = 64 + buffer.command_memory_used() as usize;
    buffer.record_run::<op::BindTextures>(host, StageSlot::new(1, 2), &HandleGap::default(), 1, |_| 0xa);
    guest.draws(host, [2]);
    let handle = buffer.end(host);
    let bound = || {
        let stream = flatten(host, &pool, [handle]);
        assert_eq!(stream.records().count(), 3);
        stream.records().find_map(|r| match r {
            Record::BindTextures(at, _, &[handle]) if at == StageSlot::new(1, 2) => Some(handle),
            _ => None,
        })
    };
    assert_eq!(bound(), Some(0xa));
    pool.set_word(noted + 0x10, 0xb);
    assert_eq!(bound(), Some(0xb));
    let shared = &SharedPool(&pool);
    std::thread::scope(|scope| {
        scope.spawn(move || shared.set_word(noted + 0x10, 0xc));
    });
    assert_eq!(bound(), Some(0xc));
    // A count written over the header is no record: reported, not followed.
    let faults = navin_abi::fault::count();
    pool.set_word(noted, pool.word(noted) & 0xffff | 0x1234 << 16);
    assert_eq!(replay(host, &pool, handle), [1]);
    assert!(navin_abi::fault::count() > faults);
}

struct SharedPool<'a>(&'a Pool);
// SAFETY: the tests order their accesses by joining threads.
unsafe impl Sync for SharedPool<'_> {}
impl std::ops::Deref for SharedPool<'_> {
    type Target = Pool;
    fn deref(&self) -> &Pool {
        self.0
    }
}

#[test]
fn commands_outside_a_recording_are_ignored() {
    let (host, pool) = (host(), Pool::new(0x10000, 4096));
    let guest = Guest::new().with_command(host, &pool, 0, 1024).with_control(host, 256);
    assert!(!draw(guest.buffer(), host, 1));
    assert_eq!(guest.buffer().end(host), 0);
    guest.record_draws(host, [1]);
    assert!(!draw(guest.buffer(), host, 1));
    guest.buffer().finalize();
    guest.buffer().begin(host);
    assert!(!draw(guest.buffer(), host, 1));
    assert_eq!(guest.buffer().end(host), 0);
}

#[test]
fn a_piece_longer_than_an_entry_can_say_is_several() {
    let (host, pool) = (host(), Pool::new(0x10000, 3 << 20));
    let guest = Guest::new().with_command(host, &pool, 0, 3 << 20).with_control(host, 256).count_calls();
    let draws = (5 << 19) / DRAW as u32;
    let handle = guest.record_draws(host, 0..draws);
    assert_eq!(guest.buffer().control_memory_used(), 3 * 8);
    assert_eq!((host.lent_bytes(), guest.calls.0), (0, 0));
    assert_eq!(replay(host, &pool, handle), (0..draws).collect::<Vec<_>>());
}

#[test]
fn memory_that_does_not_start_at_a_word_is_used_from_the_next_one() {
    let (host, pool) = (host(), Pool::new(0x10000, 4096));
    let guest = Guest::new().with_command(host, &pool, 3, 101).with_control(host, 256);
    let handle = guest.record_draws(host, 0..8);
    assert_eq!(host.lent_bytes(), 0);
    assert_eq!(pool.bytes(104, 1), [0xdd]);
    assert_eq!(replay(host, &pool, handle), (0..8).collect::<Vec<_>>());
}

#[test]
fn b425_size_and_free_follow_the_last_grant() {
    let (host, pool) = (host(), Pool::new(0x10000, 0x10000));
    let guest = Guest::new().with_command(host, &pool, 0, 0x4000).with_control(host, 256);
    let buffer = guest.buffer();
    buffer.begin(host);
    guest.draws(host, 0..3);
    assert_eq!((buffer.command_memory_size(), buffer.command_memory_free()), (0x4000, 0x4000 - 3 * DRAW as u64));
    grant(buffer, host, &pool, 0x4000, 0x8000);
    assert_eq!((buffer.command_memory_size(), buffer.command_memory_free()), (0x8000, 0x8000));
    guest.draws(host, 3..4);
    let handle = buffer.end(host);
    assert_eq!(buffer.command_memory_size(), buffer.command_memory_used() + buffer.command_memory_free());
    assert_eq!(replay(host, &pool, handle), [0, 1, 2, 3]);
}

#[test]
fn b425_a_recorded_fence_is_between_the_dispatches_it_was_recorded_between() {
    let (host, pool) = (host(), Pool::new(0x10000, 4096));
    let guest = Guest::new().with_command(host, &pool, 0, 1024).with_control(host, 256);
    let buffer = guest.buffer();
    let dispatch = |x| assert!(buffer.record::<op::DispatchCompute>(host, (), &DispatchCompute { groups: [x, 1, 1] }));
    buffer.begin(host);
    dispatch(1);
    buffer.record::<op::FenceSync>(host, FenceMode::new(0, 0), &Object { serial: U64::new(77) });
    dispatch(2);
    let stream = flatten(host, &pool, [buffer.end(host)]);
    let groups = |section: &Section| -> Vec<u32> {
        stream
            .records_in(section.words.clone())
            .filter_map(|r| if let Record::DispatchCompute(d) = r { Some(d.groups[0]) } else { None })
            .collect()
    };
    let [first, second] = stream.sections() else { panic!("{:?}", stream.sections()) };
    assert_eq!(first.boundary, Some(Boundary::Fence { sync: 77, mode: FenceMode::new(0, 0) }));
    assert_eq!((groups(first), groups(second)), (vec![1], vec![2]));
}

/// What replay has of a submission is not in command memory: the descriptions of targets that stay bound are whole
/// when the guest records over them.
#[test]
fn b215_a_submissions_render_targets_do_not_change_with_its_command_memory() {
    let (host, pool) = (host(), Pool::new(0x10000, 4096));
    let guest = Guest::new().with_command(host, &pool, 0, 1024).with_control(host, 256);
    let targets: Vec<TextureRef> =
        (1..=9).map(|serial| TextureRef { serial: U64::new(serial), ..Default::default() }).collect();
    guest.buffer().begin(host);
    let count = TargetCount::new(8, true);
    guest.buffer().record_run::<op::SetRenderTargets>(host, count, &(), 9, |i| targets[i]);
    let handle = guest.buffer().end(host);
    let stream = flatten(host, &pool, [handle]);
    grant(guest.buffer(), host, &pool, 0, 1024);
    guest.buffer().begin(host);
    for slot in 0..32 {
        guest
            .buffer()
            .record_run::<op::BindTextures>(host, StageSlot::new(1, slot), &HandleGap::default(), 1, |_| 0xbad);
    }
    guest.buffer().end(host);
    pool.fill(0, 1024, 0xcc);
    assert_eq!(stream.records().collect::<Vec<_>>(), [Record::SetRenderTargets(count, &targets)]);
}
