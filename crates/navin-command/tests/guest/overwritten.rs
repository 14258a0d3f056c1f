//! A recording whose memory is overwritten at random before it is submitted: the body of the fuzz target
//! `fuzz/fuzz_targets/recording.rs` and of the tests in `tests/overwritten.rs`.
//!
//! Whatever stands in command and control memory, flatten, calls and copies end, in a bounded time and with whole
//! records only, and what is recorded afterwards is as if nothing had been there.

use std::cell::RefCell;
use std::ptr::NonNull;

use navin_command::record::{Header, ROWS, RecordReader};
use navin_command::{Host, LENT_SEGMENT, Limits, Stream, flatten, flatten_parts, run_native};

use super::{DRAW, Guest, Pool, add_control, control, counts, grant};

const COMMANDS: usize = 16 << 10;
const SLOT: usize = 4 << 10;
/// Small, so that lists are linked across several.
const BLOCK: usize = 64;
const BLOCKS: usize = 8;
/// Holds all entries that a call may read, so that none is lent: that is for ever.
const CALLER_CONTROL: usize = 128 << 10;
const GPU: u64 = 0x40_0000;
/// Small, so that circles of garbage are soon at an end.
const LIMITS: Limits =
    Limits { lent: 4 << 20, entries: 10_000, call_bytes: 1 << 20, part_bytes: 256 << 10, sections: 1000 };

/// Made once a thread: the host remembers control memory for ever, so runs use the same.
struct Fixture {
    host: &'static Host,
    pool: Pool,
    blocks: Vec<NonNull<u64>>,
    lists: [Guest; 3],
    caller: Guest,
    caller_control: NonNull<u64>,
}

thread_local! {
    static FIXTURE: RefCell<Option<Fixture>> = const { RefCell::new(None) };
}

impl Fixture {
    fn new() -> Self {
        let memory = control(BLOCK * BLOCKS);
        // SAFETY: inside the memory.
        let blocks = (0..BLOCKS).map(|block| unsafe { memory.add(block * BLOCK / 8) }).collect();
        Self {
            host: Box::leak(Box::new(Host::with(run_native, LIMITS))),
            pool: Pool::new(GPU, COMMANDS),
            blocks,
            lists: [Guest::new(), Guest::new(), Guest::new()],
            caller: Guest::new(),
            caller_control: control(CALLER_CONTROL),
        }
    }

    /// Three lists: every kind of record; draws that run out of memory; calls and copies of both, over many blocks
    /// of control memory.
    fn record(&self) -> [u64; 3] {
        let Self { host, pool, blocks, lists: [kinds, draws, calls], .. } = self;
        let block = |guest: &Guest, at: usize| add_control(guest.buffer(), host, blocks[at], BLOCK);
        grant(kinds.buffer(), host, pool, 0, SLOT);
        block(kinds, 0);
        kinds.buffer().begin(host);
        for row in ROWS {
            let mut words = vec![1u32; (row.head_bytes + row.min_tail.max(1).min(row.max_tail) * row.tail_bytes) / 4];
            words[0] = Header::new(row.opcode, 0, words.len() as u16).word();
            assert!(kinds.buffer().record_raw(host, &words));
        }
        let first = kinds.buffer().end(host);
        grant(draws.buffer(), host, pool, SLOT, 512);
        block(draws, 1);
        let second = draws.record_draws(host, 0..100);
        grant(calls.buffer(), host, pool, 2 * SLOT, SLOT);
        block(calls, 2);
        calls.buffer().begin(host);
        for at in 3..8 {
            calls.buffer().call(host, [first, second]);
            calls.draws(host, [1000]);
            block(calls, at);
        }
        calls.buffer().copy(host, pool, [second]);
        [first, second, calls.buffer().end(host)]
    }

    /// One overwriting: four bytes that say where and how, eight of what.
    fn overwrite(&self, how: &[u8], value: u64) {
        let at = usize::from(how[0]) | usize::from(how[1]) << 8;
        let entry = |at: usize| {
            let at = at % (BLOCKS * BLOCK / 8);
            // SAFETY: inside the control memory.
            unsafe { self.blocks[0].add(at) }
        };
        let word = at * 4 % (3 * SLOT);
        match how[2] % 6 {
            0 => self.pool.set_word(word, value as u32),
            // A header that may be one.
            1 => self.pool.set_word(word, (value as u32 & 0x3f_ffff) | u32::from(how[3] % 64) << 16),
            2 => {
                let row = ROWS[usize::from(how[3]) % ROWS.len()];
                let words = (row.head_bytes + value as usize % 3 * row.tail_bytes) / 4;
                self.pool.set_word(word, Header::new(row.opcode, value as u8, words as u16).word());
            }
            // SAFETY: as in `entry`.
            3 => unsafe { entry(at).write(value) },
            // Entries that are some: another piece twice, links in circles.
            4 => unsafe {
                // SAFETY: as in `entry`.
                entry(at).write(entry(value as usize).read())
            },
            _ => {
                let bit = 1u64 << (how[3] % 64);
                // SAFETY: as in `entry`.
                unsafe { entry(at).write(entry(at).read() ^ bit) }
            }
        }
    }

    fn run(&self, data: &[u8]) {
        let handles = self.record();
        let expected = self.submit(&handles);
        for chunk in data.chunks_exact(12) {
            let (how, value) = chunk.split_at(4);
            self.overwrite(how, value.try_into().map_or(0, u64::from_le_bytes));
        }
        self.submit(&handles);
        // A handle of garbage, at or near an entry.
        let odd = data.first().copied().unwrap_or_default();
        flatten(self.host, &self.pool, [handles[0] + u64::from(odd) * 4]);
        let buffer = self.caller.buffer();
        grant(buffer, self.host, &self.pool, 3 * SLOT, SLOT);
        add_control(buffer, self.host, self.caller_control, CALLER_CONTROL);
        buffer.begin(self.host);
        buffer.call(self.host, handles);
        buffer.copy(self.host, &self.pool, handles);
        let called = buffer.end(self.host);
        self.submit(&[called]);
        assert!([&self.caller].into_iter().chain(&self.lists).all(Guest::guards_are_whole));
        // Recorded again, over whatever is there.
        let handles = self.record();
        assert_eq!(self.submit(&handles), expected, "what garbage left behind changes a later recording");
        let draws = self.lists[1].record_draws(self.host, 7..9);
        assert_eq!(counts(&flatten(self.host, &self.pool, [draws])), [7, 8]);
    }

    /// Flattens, and reads every record: their number.
    fn submit(&self, handles: &[u64]) -> usize {
        let (mut records, mut bytes) = (0, 0);
        flatten_parts(self.host, &self.pool, handles.iter().copied(), |part| {
            records += check(&part);
            bytes += part.words().len() as u64 * 4;
        });
        assert!(bytes <= LIMITS.call_bytes);
        records
    }
}

fn check(stream: &Stream) -> usize {
    assert!(stream.words().len() * 4 <= LIMITS.part_bytes + COMMANDS.max(LENT_SEGMENT));
    assert!(stream.sections().len() <= LIMITS.sections + LENT_SEGMENT / DRAW);
    let mut reader = stream.records();
    let count =
        reader.by_ref().map(|record| std::hint::black_box(record.name()).len()).filter(|&name| name > 0).count();
    assert_eq!(reader.fault(), None, "a stream of whole records");
    assert_eq!(reader.position(), stream.words().len());
    let mut end = 0;
    for section in stream.sections() {
        assert!(section.words.start >= end && section.words.end <= stream.words().len());
        let mut reader: RecordReader<'_> = stream.records_in(section.words.clone());
        reader.by_ref().for_each(drop);
        assert_eq!(reader.fault(), None, "sections begin and end at records");
        end = section.words.end;
    }
    count
}

/// Records, overwrites what `data` says, submits, calls, copies, and records again.
pub fn run(data: &[u8]) {
    FIXTURE.with_borrow_mut(|fixture| fixture.get_or_insert_with(Fixture::new).run(data));
}
