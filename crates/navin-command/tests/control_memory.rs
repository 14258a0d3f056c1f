//! Control lists: B216, B224, B225, and lists of garbage.

mod guest;

use std::cell::RefCell;
use std::rc::Rc;

use guest::*;
use navin_abi::types::NVNcommandBufferMemoryEvent as Event;
use navin_command::record::payload::Object;
use navin_command::record::{Record, U64, op};
use navin_command::{CommandBuffer, Host, flatten};

fn replay(host: &Host, pool: &Pool, handle: u64) -> Vec<u32> {
    counts(&flatten(host, pool, [handle]))
}

fn getters(buffer: CommandBuffer) -> (u64, u64, u64) {
    (buffer.control_memory_size(), buffer.control_memory_used(), buffer.control_memory_free())
}

#[test]
fn b216_getters_answer_from_the_last_grant() {
    let (host, pool) = (host(), Pool::new(0x10000, 4096));
    let guest = Guest::new().with_command(host, &pool, 0, 4096);
    let buffer = guest.buffer();
    assert_eq!(getters(buffer), (0, 0, 0));
    add_control(buffer, host, control(1024), 1024);
    assert_eq!(getters(buffer), (1024, 0, 1024));
    guest.record_draws(host, 0..3);
    assert_eq!(getters(buffer), (1024, 8, 1016));
    add_control(buffer, host, control(256), 256);
    assert_eq!(getters(buffer), (256, 0, 256));
}

#[test]
fn b224_an_empty_recording_is_one_entry() {
    let (host, pool) = (host(), Pool::new(0x10000, 4096));
    let guest = Guest::new().with_command(host, &pool, 0, 4096).with_control(host, 256);
    let handle = guest.record_draws(host, []);
    assert_eq!(guest.buffer().command_memory_used(), 0);
    assert_eq!(getters(guest.buffer()), (256, 8, 248));
    assert!(flatten(host, &pool, [handle]).is_empty());
}

#[test]
fn b224_the_handle_is_the_first_entry_and_records_have_no_end() {
    let (host, pool) = (host(), Pool::new(0x10000, 4096));
    let memory = control(256);
    let guest = Guest::new().with_command(host, &pool, 0, 4096);
    add_control(guest.buffer(), host, memory, 256);
    let first = guest.record_draws(host, 0..3);
    let second = guest.record_draws(host, 3..5);
    assert_eq!(first, memory.as_ptr() as u64);
    assert_eq!(second, first + 8);
    assert_eq!(guest.buffer().command_memory_used(), 5 * DRAW as u64);
    assert_eq!(replay(host, &pool, first), [0, 1, 2]);
    assert_eq!(replay(host, &pool, second), [3, 4]);
    assert_eq!(counts(&flatten(host, &pool, [second, first, first])), [3, 4, 0, 1, 2, 0, 1, 2]);
}

#[test]
fn b224_a_recording_goes_on_in_lent_memory() {
    let (host, pool) = (host(), Pool::new(0x10000, 4096));
    let guest = Guest::new().with_command(host, &pool, 0, 512).with_control(host, 256);
    let handle = guest.record_draws(host, 0..60);
    assert!(host.lent_bytes() > 0);
    assert_eq!(getters(guest.buffer()), (256, 16, 240));
    assert_eq!(replay(host, &pool, handle), (0..60).collect::<Vec<_>>());
}

#[test]
fn b224_a_call_outlives_the_called_lists_control_memory() {
    let (host, pool) = (host(), Pool::new(0x10000, 8192));
    let memory = control(256);
    let called = Guest::new().with_command(host, &pool, 0, 1024);
    add_control(called.buffer(), host, memory, 256);
    let callee = called.record_draws(host, 10..13);
    let caller = Guest::new().with_command(host, &pool, 4096, 1024).with_control(host, 256);
    let buffer = caller.buffer();
    buffer.begin(host);
    caller.draws(host, [1]);
    buffer.call(host, [callee]);
    caller.draws(host, [2]);
    let handle = buffer.end(host);
    assert_eq!(getters(buffer), (256, 24, 232));
    assert_eq!(buffer.command_memory_used(), 2 * DRAW as u64, "a call takes no command memory");
    // SAFETY: 256 bytes of control memory of the test's own.
    unsafe { memory.cast::<u8>().write_bytes(0xff, 256) };
    assert_eq!(replay(host, &pool, handle), [1, 10, 11, 12, 2]);
}

#[test]
fn b224_a_copy_outlives_both_memories_of_its_source() {
    let (host, pool) = (host(), Pool::new(0x10000, 8192));
    let memory = control(256);
    let source = Guest::new().with_command(host, &pool, 0, 240);
    add_control(source.buffer(), host, memory, 256);
    // 60 draws: a guest piece and a lent one.
    let copied = source.record_draws(host, 0..60);
    let guest = Guest::new().with_command(host, &pool, 4096, 2048).with_control(host, 256);
    let buffer = guest.buffer();
    buffer.begin(host);
    guest.draws(host, [100]);
    buffer.copy(host, &pool, [copied]);
    guest.draws(host, [200]);
    let handle = buffer.end(host);
    assert_eq!(buffer.command_memory_used(), 62 * DRAW as u64);
    // SAFETY: as above.
    unsafe { memory.cast::<u8>().write_bytes(0, 256) };
    grant(source.buffer(), host, &pool, 0, 1024);
    add_control(source.buffer(), host, control(256), 256);
    source.record_draws(host, 900..960);
    let expected: Vec<u32> = [100].into_iter().chain(0..60).chain([200]).collect();
    assert_eq!(replay(host, &pool, handle), expected);
}

#[test]
fn b224_a_list_is_linked_across_the_callbacks_blocks() {
    let (host, pool) = (host(), Pool::new(0x10000, 1 << 16));
    let called = Guest::new().with_command(host, &pool, 0, 1024).with_control(host, 256);
    let callee = called.record_draws(host, [7]);
    let blocks = Rc::new(RefCell::new(0));
    let given = blocks.clone();
    let guest = Guest::new().with_command(host, &pool, 4096, 4096).with_control(host, 256).on_memory(
        move |buffer, event, bytes| {
            assert_eq!(event, Event::OUT_OF_CONTROL_MEMORY);
            assert_eq!(bytes, 256);
            *given.borrow_mut() += 1;
            add_control(buffer, host, control(256), 256);
        },
    );
    let buffer = guest.buffer();
    buffer.begin(host);
    let mut expected = Vec::new();
    for i in 0..45 {
        guest.draws(host, [100 + i]);
        buffer.call(host, [callee]);
        expected.extend([100 + i, 7]);
        let (size, used, free) = getters(buffer);
        assert_eq!(used + free, size);
    }
    let handle = buffer.end(host);
    assert_eq!(*blocks.borrow(), 2, "three blocks in all");
    assert_eq!(guest.calls.1, 2);
    assert_eq!(replay(host, &pool, handle), expected);
}

#[test]
fn b224_control_memory_added_unasked_is_linked_too() {
    let (host, pool) = (host(), Pool::new(0x10000, 1 << 16));
    let called = Guest::new().with_command(host, &pool, 0, 1024).with_control(host, 256);
    let callee = called.record_draws(host, [7]);
    let guest = Guest::new().with_command(host, &pool, 4096, 4096).with_control(host, 256).count_calls();
    let buffer = guest.buffer();
    buffer.begin(host);
    let mut expected = Vec::new();
    for calls in [1, 31, 15, 0, 3] {
        (0..calls).for_each(|_| buffer.call(host, [callee]));
        expected.resize(expected.len() + calls, 7);
        add_control(buffer, host, control(256), 256);
        assert_eq!(getters(buffer), (256, 0, 256));
    }
    let handle = buffer.end(host);
    assert_eq!(guest.calls.1, 0, "31 entries and the link fill 256 bytes");
    assert_eq!(replay(host, &pool, handle), expected);
}

#[test]
fn b224_without_a_callback_control_memory_is_lent() {
    let (host, pool) = (host(), Pool::new(0x10000, 1 << 16));
    let called = Guest::new().with_command(host, &pool, 0, 1024);
    let callee = called.record_draws(host, [7]);
    assert_eq!(getters(called.buffer()), (0, 0, 0));
    let guest = Guest::new().with_command(host, &pool, 4096, 4096).with_control(host, 16);
    let buffer = guest.buffer();
    buffer.begin(host);
    (0..20_000).for_each(|_| buffer.call(host, [callee]));
    let handle = buffer.end(host);
    assert_eq!(replay(host, &pool, handle), vec![7; 20_000]);
    // Blocks that are too small for a list to go on in.
    for size in [8, 0] {
        buffer.begin(host);
        buffer.call(host, [callee]);
        add_control(buffer, host, control(64), size);
        assert_eq!(getters(buffer), (size as u64, 0, size as u64));
        guest.draws(host, [1]);
        buffer.call(host, [callee]);
        let handle = buffer.end(host);
        assert_eq!(replay(host, &pool, handle), [7, 1, 7]);
        add_control(buffer, host, control(64), size);
    }
}

#[test]
fn b225_a_called_piece_runs_what_it_holds_at_submit() {
    let (host, pool) = (host(), Pool::new(0x10000, 1 << 16));
    let fence = |guest: &Guest, sync: u64| {
        guest.buffer().record::<op::FenceSync>(host, Default::default(), &Object { serial: U64::new(sync) })
    };
    let b = Guest::new().with_control(host, 1024);
    let record_b = |what: &dyn Fn()| {
        grant(b.buffer(), host, &pool, 0, 4096);
        b.buffer().begin(host);
        what();
        b.buffer().end(host)
    };
    let call = |callee| {
        let caller = Guest::new().with_command(host, &pool, 8192, 4096).with_control(host, 256);
        caller.buffer().begin(host);
        caller.buffer().call(host, [callee]);
        caller.draws(host, [5]);
        caller.buffer().end(host)
    };
    // Longer records over it: the piece is skipped, the caller's own record runs, and so in a copy.
    let callee = record_b(&|| assert!(fence(&b, 1)));
    let caller = call(callee);
    record_b(&|| {
        b.buffer().record_run::<op::SetRenderTargets>(host, Default::default(), &(), 9, |_| Default::default());
    });
    let faults = navin_abi::fault::count();
    assert_eq!(replay(host, &pool, caller), [5]);
    assert!(navin_abi::fault::count() > faults);
    let copier = Guest::new().with_command(host, &pool, 16384, 4096).with_control(host, 256);
    copier.buffer().begin(host);
    copier.buffer().copy(host, &pool, [caller]);
    let linear = copier.buffer().end(host);
    assert_eq!(replay(host, &pool, linear), [5]);
    // A record of the same size: it runs.
    let callee = record_b(&|| assert!(fence(&b, 1)));
    let caller = call(callee);
    record_b(&|| assert!(fence(&b, 2)));
    let stream = flatten(host, &pool, [caller]);
    let syncs: Vec<u64> = stream
        .records()
        .filter_map(|r| if let Record::FenceSync(_, sync) = r { Some(sync.serial.get()) } else { None })
        .collect();
    assert_eq!(syncs, [2]);
    // Whole records before the cut one run.
    let callee = record_b(&|| b.draws(host, [1, 2, 3]));
    let caller = call(callee);
    record_b(&|| {
        b.draws(host, [8]);
        b.buffer().record_run::<op::SetRenderTargets>(host, Default::default(), &(), 9, |_| Default::default());
    });
    assert_eq!(replay(host, &pool, caller), [8, 5]);
}

#[test]
fn b225_a_rotation_of_buffers_called_before_submit_lives() {
    let (host, pool) = (host(), Pool::new(0x10000, 1 << 16));
    let rotation: Vec<Guest> = (0..3).map(|_| Guest::new().with_control(host, 1 << 14)).collect();
    let frame = Guest::new().with_command(host, &pool, 32768, 4096).with_control(host, 1 << 14);
    frame.buffer().begin(host);
    for (event, &(which, work)) in [(1usize, 0u32), (2, 4), (0, 0), (1, 3)].iter().enumerate() {
        let guest = &rotation[which];
        grant(guest.buffer(), host, &pool, which * 4096, 4096);
        guest.buffer().begin(host);
        guest.draws(host, (0..work).map(|d| d + event as u32 * 10));
        let sync = Object { serial: U64::new(event as u64) };
        guest.buffer().record::<op::FenceSync>(host, Default::default(), &sync);
        let handle = guest.buffer().end(host);
        frame.buffer().call(host, [handle]);
    }
    let handle = frame.buffer().end(host);
    for _ in 0..2000 {
        let stream = flatten(host, &pool, [handle]);
        let draws = stream.records().filter(|r| matches!(r, Record::DrawArrays(..))).count();
        assert_eq!(draws, 4 + 3 + 1, "B's first piece holds the head of its second recording");
    }
}

#[test]
fn garbage_handles_give_no_records_and_one_line_each() {
    let (host, pool) = (host(), Pool::new(0x10000, 4096));
    let memory = control(256);
    let guest = Guest::new().with_command(host, &pool, 0, 4096);
    add_control(guest.buffer(), host, memory, 256);
    let handle = guest.record_draws(host, [1]);
    let faults = navin_abi::fault::count();
    let garbage = [0, 1, handle + 4, 0xdead_beef, u64::MAX, !7, handle + 8, handle + 256, handle + 248];
    assert!(flatten(host, &pool, garbage).is_empty());
    assert!(navin_abi::fault::count() - faults >= garbage.len() as u64);
    guest.buffer().begin(host);
    guest.buffer().call(host, garbage);
    guest.buffer().copy(host, &pool, garbage);
    let empty = guest.buffer().end(host);
    assert!(flatten(host, &pool, [empty]).is_empty());
    // A piece whose pool is gone.
    assert!(flatten(host, &Pool::new(0x80_0000, 4096), [handle]).is_empty());
    assert_eq!(replay(host, &pool, handle), [1]);
}
