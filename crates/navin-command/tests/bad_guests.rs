//! Guests that go wrong: memory callbacks that add nothing, too little or misaligned blocks, that record or end the
//! recording themselves; recording on a finalized buffer; a million recordings in one list.

mod guest;

use std::cell::Cell;
use std::rc::Rc;

use guest::*;
use navin_abi::types::NVNcommandBufferMemoryEvent as Event;
use navin_command::{CommandBuffer, Host, Limits, flatten, flatten_parts, run_native};

const POOL: usize = 1 << 20;
/// The longest piece that an entry can name, in bytes.
const MAX_PIECE: u32 = ((1 << 18) - 1) * 4;

/// Records 200 draws with calls in between, all from memory that the callback gives or does not.
fn run(callback: impl Fn(&'static Host, CommandBuffer, &'static Pool, Event) + 'static) -> (Vec<u32>, (usize, usize)) {
    let host: &'static Host = host();
    let pool: &'static Pool = Box::leak(Box::new(Pool::new(0x10000, POOL)));
    let called = Guest::new().with_command(host, pool, POOL - 512, 512).with_control(host, 256).record_draws(host, [7]);
    let guest = Guest::new().on_memory(move |buffer, event, _| callback(host, buffer, pool, event));
    let buffer = guest.buffer();
    buffer.begin(host);
    for draw in 0..200 {
        guest.draws(host, [1000 + draw]);
        buffer.call(host, [called]);
    }
    let handle = buffer.end(host);
    assert!(guest.guards_are_whole());
    let replayed = if handle == 0 { Vec::new() } else { counts(&flatten(host, pool, [handle])) };
    (replayed, (guest.calls.0, guest.calls.1))
}

fn whole() -> Vec<u32> {
    (0..200).flat_map(|draw| [1000 + draw, 7]).collect()
}

#[test]
fn b220_b224_a_callback_that_adds_nothing_is_asked_and_memory_is_lent() {
    let (replayed, (command, control)) = run(|_, _, _, _| {});
    assert_eq!(replayed, whole());
    assert_eq!((command, control), (1, 1), "a lent segment and a lent block hold the rest");
}

#[test]
fn b220_b224_a_callback_that_adds_too_little_is_filled_up_by_lent_memory() {
    for size in [0usize, 1, 3, 4, 8, 11] {
        let at = Cell::new(0);
        let (replayed, _) = run(move |host, buffer, pool, event| match event {
            Event::OUT_OF_COMMAND_MEMORY => {
                at.set(at.get() + 16);
                grant(buffer, host, pool, at.get(), size);
            }
            _ => add_control(buffer, host, control(64), size),
        });
        assert_eq!(replayed, whole(), "blocks of {size} bytes");
    }
}

#[test]
fn b220_b224_misaligned_blocks_are_used_from_their_first_whole_word_on() {
    for skew in 0..8usize {
        let at = Cell::new(0);
        let (replayed, (command, _)) = run(move |host, buffer, pool, event| match event {
            Event::OUT_OF_COMMAND_MEMORY => {
                at.set(at.get() + 1024);
                grant(buffer, host, pool, at.get() + skew, 509);
            }
            _ => {
                // SAFETY: inside the memory, of which 64 bytes are made.
                let memory = unsafe { control(64).cast::<u8>().add(skew) };
                let memory = navin_abi::GuestPtr::from_host(memory.as_ptr().cast_const());
                // SAFETY: 50 bytes from there.
                unsafe { buffer.add_control_memory(host, memory, 50) };
            }
        });
        assert_eq!(replayed, whole(), "{skew} bytes off");
        assert!(command > 1, "the callback's memory is used");
    }
}

/// A callback that records runs short itself, and is not called again from within.
#[test]
fn a_callback_that_records_is_called_once_at_a_time() {
    let depth = Rc::new(Cell::new(0));
    let (replayed, _) = run(move |host, buffer, _, _| {
        depth.set(depth.get() + 1);
        assert_eq!(depth.get(), 1);
        draw(buffer, host, 1);
        depth.set(depth.get() - 1);
    });
    let rest: Vec<u32> = replayed.into_iter().filter(|&count| count != 1).collect();
    assert_eq!(rest, whole());
}

/// Ends, begins or finalizes the buffer under the command that asked: something is lost, the process is not.
#[test]
fn a_callback_that_ends_what_asked_for_memory_is_survived() {
    let acts: [fn(&'static Host, CommandBuffer); 5] = [
        |host, buffer| {
            buffer.end(host);
        },
        |host, buffer| buffer.begin(host),
        |_, buffer| buffer.finalize(),
        |_, buffer| buffer.initialize(),
        |host, buffer| {
            buffer.end(host);
            buffer.begin(host);
            buffer.call(host, [1, 2, 3]);
        },
    ];
    for act in acts {
        for only in [None, Some(Event::OUT_OF_COMMAND_MEMORY), Some(Event::OUT_OF_CONTROL_MEMORY)] {
            run(move |host, buffer, _, event| {
                if only.is_none_or(|only| only == event) {
                    act(host, buffer);
                }
            });
        }
    }
}

#[test]
fn recording_on_a_finalized_buffer_writes_nothing() {
    let (host, pool) = (host(), Pool::new(0x10000, 4096));
    let guest = Guest::new().with_command(host, &pool, 0, 4096).with_control(host, 256);
    let buffer = guest.buffer();
    for recording in [false, true] {
        buffer.initialize();
        grant(buffer, host, &pool, 0, 4096);
        if recording {
            buffer.begin(host);
            guest.draws(host, [1]);
        }
        let before = pool.bytes(0, 4096);
        buffer.finalize();
        buffer.begin(host);
        guest.draws(host, [2]);
        buffer.call(host, [8]);
        buffer.copy(host, &pool, [8]);
        assert_eq!(buffer.end(host), 0);
        assert!(!buffer.is_recording());
        assert_eq!(pool.bytes(0, 4096), before);
    }
}

#[test]
fn a_million_recordings_in_one_list() {
    const RECORDINGS: u32 = 1_000_000;
    let (host, size) = (host(), RECORDINGS as usize * DRAW);
    let pool = Pool::new(0x1000_0000, size.next_multiple_of(8));
    let guest = Guest::new().with_command(host, &pool, 0, size).with_control(host, RECORDINGS as usize * 8);
    let handles: Vec<u64> = (0..RECORDINGS).map(|count| guest.record_draws(host, [count])).collect();
    assert_eq!(guest.buffer().command_memory_free(), 0);
    assert_eq!(guest.buffer().control_memory_free(), 0);
    let caller = Guest::new().with_control(host, RECORDINGS as usize * 8 + 16);
    caller.buffer().begin(host);
    caller.buffer().call(host, handles.iter().copied());
    let list = caller.buffer().end(host);
    for stream in [flatten(host, &pool, [list]), flatten(host, &pool, handles)] {
        let replayed = counts(&stream);
        assert_eq!(replayed.len(), RECORDINGS as usize);
        assert!(replayed.iter().zip(0..).all(|(&count, expected)| count == expected));
    }
}

/// A piece is as long as an entry can say, the control memory is used up, and the callback that is asked for more adds
/// command memory too: what is recorded next belongs there.
#[test]
fn b220_a_callback_that_moves_the_cursor_while_a_full_piece_is_closed_has_what_follows_in_its_block() {
    const DRAWS: u32 = MAX_PIECE / DRAW as u32 + 1;
    const SECOND: usize = 2 << 20;
    let host = host();
    let pool: &'static Pool = Box::leak(Box::new(Pool::new(0x10_0000, 4 << 20)));
    let called = Guest::new().with_command(host, pool, 3 << 20, 512).with_control(host, 256).record_draws(host, [7]);
    let guest =
        Guest::new().with_command(host, pool, 0, SECOND).with_control(host, 32).on_memory(move |buffer, event, _| {
            assert_eq!(event, Event::OUT_OF_CONTROL_MEMORY);
            grant(buffer, host, pool, SECOND, 4096);
            add_control(buffer, host, control(256), 256);
        });
    let buffer = guest.buffer();
    buffer.begin(host);
    (0..3).for_each(|_| buffer.call(host, [called]));
    guest.draws(host, 1000..1000 + DRAWS);
    assert_eq!(guest.calls.1, 1, "the last draw closed a full piece");
    assert_eq!(buffer.command_memory_used(), DRAW as u64, "the last draw is all that is in the new block");
    assert_eq!(pool.word(SECOND + 8), 1000 + DRAWS - 1);
    let handle = buffer.end(host);
    let replayed = counts(&flatten(host, pool, [handle]));
    assert!(replayed.iter().copied().eq([7, 7, 7].into_iter().chain(1000..1000 + DRAWS)), "{}", replayed.len());
}

/// What a submission holds beyond a part is given on as another part; what is beyond all that a call may take is not.
#[test]
fn b225_a_long_submission_comes_in_parts_and_is_bounded_in_all() {
    const RECORDINGS: u32 = 10_000;
    let limits = Limits { part_bytes: 1 << 14, call_bytes: u64::from(RECORDINGS) * DRAW as u64, ..Limits::DEFAULT };
    let host: &'static Host = Box::leak(Box::new(Host::with(run_native, limits)));
    let size = RECORDINGS as usize * DRAW;
    let pool = Pool::new(0x1000_0000, size.next_multiple_of(8));
    let guest = Guest::new().with_command(host, &pool, 0, size).with_control(host, RECORDINGS as usize * 8);
    let handles: Vec<u64> = (0..RECORDINGS).map(|count| guest.record_draws(host, [count])).collect();
    let (mut parts, mut replayed) = (0, Vec::new());
    flatten_parts(host, &pool, handles.iter().copied(), |part| {
        assert!(part.words().len() * 4 <= limits.part_bytes + DRAW);
        parts += 1;
        replayed.extend(counts(&part));
    });
    assert!(parts >= size / (limits.part_bytes + DRAW), "{parts} parts");
    assert!(replayed.iter().copied().eq(0..RECORDINGS));
    // The same again is more than a call takes.
    let twice = handles.iter().chain(&handles).copied();
    assert_eq!(counts(&flatten(host, &pool, twice)), replayed);
    // Copies are not cut by the parts.
    let copy = Guest::new().with_control(host, 1 << 12);
    copy.buffer().begin(host);
    copy.buffer().copy(host, &pool, handles);
    let copied = copy.buffer().end(host);
    assert_eq!(counts(&flatten(host, &pool, [copied])), replayed);
}
