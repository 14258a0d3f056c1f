//! Recording against a naive model (each list is a `Vec` of numbers), and readers against random bytes.

mod guest;

use guest::*;
use navin_abi::types::NVNcommandBufferMemoryEvent as Event;
use navin_command::record::payload::{DrawArrays, HandleGap};
use navin_command::record::{Record, RecordReader, decode, op};
use navin_command::{Host, Stream, flatten};
use proptest::prelude::*;

/// What a guest does while it records.
#[derive(Clone, Debug)]
enum Step {
    /// A record of 12 bytes.
    Draw,
    /// A record of 16 + 4 n bytes.
    Bind(usize),
    /// Command memory of so many bytes, somewhere fresh.
    Grant(usize),
    /// Command memory without a pool.
    GrantWithoutPool(u64),
    /// Control memory of so many bytes.
    Control(usize),
    /// Call or copy a list recorded before.
    Call(prop::sample::Index),
    Copy(prop::sample::Index),
    /// End this recording and begin the next.
    End,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => Just(Step::Draw),
        8 => (1usize..=32).prop_map(Step::Bind),
        2 => (0usize..600).prop_map(Step::Grant),
        1 => (0u64..6000).prop_map(Step::GrantWithoutPool),
        2 => (0usize..200).prop_map(Step::Control),
        3 => any::<prop::sample::Index>().prop_map(Step::Call),
        2 => any::<prop::sample::Index>().prop_map(Step::Copy),
        4 => Just(Step::End),
    ]
}

/// What the guest's callback does each time.
#[derive(Clone, Copy, Debug)]
enum Callback {
    None,
    AddsNothing,
    Adds(usize),
}

fn callback() -> impl Strategy<Value = Callback> {
    prop_oneof![Just(Callback::None), Just(Callback::AddsNothing), (0usize..1000).prop_map(Callback::Adds),]
}

/// The records of a stream as the numbers that they were made with.
fn numbers(stream: &Stream) -> Vec<u32> {
    stream
        .records()
        .map(|record| match record {
            Record::DrawArrays(4, &DrawArrays { first: 0, count }) => count,
            Record::BindTextures(at, _, handles) => {
                assert_eq!(at.slot(), 0);
                assert!(handles.iter().all(|&handle| handle == handles[0]));
                handles[0] << 8 | handles.len() as u32
            }
            other => panic!("{other:?}"),
        })
        .collect()
}

fn run(steps: &[Step], callback: Callback) {
    let host: &'static Host = host();
    let pool: &'static Pool = Box::leak(Box::new(Pool::new(0x40_0000, 1 << 19)));
    let free = std::rc::Rc::new(std::cell::Cell::new(0usize));
    // Fresh memory each time: nothing is recorded over, so every list stays as it was.
    let taken = free.clone();
    let fresh = move |size: usize| {
        let at = free.get();
        free.set(at + size.next_multiple_of(4));
        at
    };
    let fresh_in_callback = fresh.clone();
    let mut guest = Guest::new();
    guest = match callback {
        Callback::None => guest,
        Callback::AddsNothing => guest.count_calls(),
        Callback::Adds(size) => guest.on_memory(move |buffer, event, _| match event {
            Event::OUT_OF_COMMAND_MEMORY => grant(buffer, host, pool, fresh_in_callback(size), size),
            _ => add_control(buffer, host, control(size.next_multiple_of(8)), size),
        }),
    };
    let buffer = guest.buffer();
    let mut lists: Vec<(u64, Vec<u32>)> = Vec::new();
    let mut model: Vec<u32> = Vec::new();
    let mut next = 0;
    let mut used = 0u64;
    buffer.begin(host);
    for step in steps.iter().chain([&Step::End]) {
        let mut recorded = 0;
        match step {
            Step::Draw => {
                next += 1;
                assert!(draw(buffer, host, next));
                recorded = DRAW as u64;
                model.push(next);
            }
            Step::Bind(count) => {
                next += 1;
                let number = next;
                assert!(buffer.record_run::<op::BindTextures>(
                    host,
                    Default::default(),
                    &HandleGap::default(),
                    *count,
                    |_| number
                ));
                recorded = 16 + 4 * *count as u64;
                model.push(number << 8 | *count as u32);
            }
            Step::Grant(size) => {
                grant(buffer, host, pool, fresh(*size), *size);
                assert_eq!(buffer.command_memory_used(), 0);
                assert_eq!(buffer.command_memory_size(), *size as u64);
                used = 0;
            }
            Step::GrantWithoutPool(size) => {
                buffer.add_command_memory_without_pool(host, *size);
                used = 0;
            }
            Step::Control(size) => {
                add_control(buffer, host, control(size.next_multiple_of(8)), *size);
                assert_eq!(buffer.control_memory_size(), *size as u64);
                assert_eq!(buffer.control_memory_used(), 0);
            }
            Step::Call(index) | Step::Copy(index) if !lists.is_empty() => {
                let (handle, called) = index.get(&lists);
                if matches!(step, Step::Call(_)) {
                    buffer.call(host, [*handle]);
                } else {
                    buffer.copy(host, pool, [*handle]);
                    recorded = flatten(host, pool, [*handle]).words().len() as u64 * 4;
                }
                model.extend(called);
                // Calls of calls of calls grow without bounds.
                if model.len() > 500 || taken.get() > pool.size() / 2 {
                    break;
                }
            }
            Step::Call(_) | Step::Copy(_) => {}
            Step::End => {
                let handle = buffer.end(host);
                let stream = flatten(host, pool, [handle]);
                assert_eq!(numbers(&stream), model);
                lists.push((handle, std::mem::take(&mut model)));
                buffer.begin(host);
            }
        }
        // Where the callback adds no command memory, the count goes on (B222).
        if matches!(callback, Callback::None | Callback::AddsNothing) {
            used += recorded;
            assert_eq!(buffer.command_memory_used(), used, "after {step:?}");
        }
        assert!(buffer.control_memory_used() <= buffer.control_memory_size());
        assert!(guest.guards_are_whole());
    }
    // Nothing that came later changed an earlier list.
    for (handle, expected) in &lists {
        assert_eq!(&numbers(&flatten(host, pool, [*handle])), expected);
    }
    let all = flatten(host, pool, lists.iter().map(|(handle, _)| *handle));
    assert_eq!(numbers(&all), lists.iter().flat_map(|(_, list)| list).copied().collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn recordings_replay_as_the_model_says(steps in prop::collection::vec(step(), 0..150), callback in callback()) {
        run(&steps, callback);
    }
}

/// A word that is more often near a record's header than not.
fn word() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        (any::<u8>(), any::<u8>(), 0u16..40).prop_map(|(op, imm, words)| u32::from_le_bytes([
            op,
            imm,
            words as u8,
            (words >> 8) as u8
        ])),
        Just(0),
    ]
}

proptest! {
    #[test]
    fn any_words_are_read_to_the_first_malformed_record(words in prop::collection::vec(word(), 0..300)) {
        let mut reader = RecordReader::new(&words);
        let mut at = 0;
        while let Some(record) = reader.next() {
            let (same, length) = decode(&words[at..]).unwrap();
            // Bits, as floats may be no numbers.
            prop_assert_eq!(format!("{same:?}"), format!("{record:?}"));
            at += length;
            prop_assert_eq!(reader.position(), at);
        }
        prop_assert_eq!(reader.fault(), decode(&words[at..]).err().filter(|_| at < words.len()));
        let (stream, fault) = Stream::from_words(words.clone());
        prop_assert_eq!(stream.words(), &words[..at]);
        prop_assert_eq!(fault, reader.fault());
        let cuts: usize = stream.sections().iter().map(|s| stream.records_in(s.words.clone()).count()
            + usize::from(s.boundary.is_some())).sum();
        prop_assert_eq!(cuts, stream.records().count());
    }

    #[test]
    fn any_memory_flattens(
        commands in prop::collection::vec(word(), 128),
        entries in prop::collection::vec(any::<u64>(), 32),
        keep in 0usize..32,
        handle in any::<prop::sample::Index>(),
        raw in any::<u64>(),
    ) {
        let host = host();
        let pool = Pool::new(0x40_0000, 512);
        let memory = control(256);
        let guest = Guest::new().with_command(host, &pool, 0, 512);
        add_control(guest.buffer(), host, memory, 256);
        let handles: Vec<u64> = (0..4).map(|i| guest.record_draws(host, i * 10..(i + 1) * 10)).collect();
        for (i, &word) in commands.iter().enumerate().skip(keep * 4) {
            pool.set_word(i * 4, word);
        }
        for (i, &entry) in entries.iter().enumerate().skip(keep) {
            // SAFETY: 32 words.
            unsafe { memory.add(i).write(entry) };
        }
        let stream = flatten(host, &pool, [*handle.get(&handles), raw, handles[0] + 8 * (raw % 40)]);
        prop_assert!(stream.records().count() <= 3 * 128);
        let caller = Guest::new().with_control(host, 256);
        caller.buffer().begin(host);
        caller.buffer().call(host, handles.iter().copied());
        caller.buffer().copy(host, &pool, handles.iter().copied());
        let called = caller.buffer().end(host);
        flatten(host, &pool, [called]);
    }
}
