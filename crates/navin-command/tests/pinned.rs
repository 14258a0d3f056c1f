//! A recording of an earlier version, byte for byte: it must read as the same records for ever.
//!
//! `pinned/records.bin` holds records of every opcode there was when it was written, the shortest and a longer one of
//! each, with a different number in every word; `pinned/records.txt` says what each is, a line a record. Neither is
//! ever written anew: opcodes that come later are added at the end (`NAVIN_BLESS=1 cargo test -p navin-command --test
//! pinned`), and a record that has to change gets a new opcode.

mod guest;

use std::collections::BTreeSet;
use std::path::PathBuf;

use guest::*;
use navin_command::record::{Header, ROWS, RecordReader, Row};
use navin_command::{Stream, flatten};

fn file(name: &str) -> PathBuf {
    PathBuf::from(format!("{}/tests/pinned/{name}", env!("CARGO_MANIFEST_DIR")))
}

fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words_of(bytes: &[u8]) -> Vec<u32> {
    assert!(bytes.len().is_multiple_of(4));
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// What records say, a line each, without the numbers of opcodes.
fn lines(words: &[u32]) -> Vec<String> {
    let mut reader = RecordReader::new(words);
    let lines = reader.by_ref().map(|record| format!("{record:?}")).collect();
    assert_eq!(reader.fault(), None, "at word {}", reader.position());
    lines
}

/// The shortest record of a command and one of two elements more, every word a different number.
fn samples(row: &Row) -> Vec<u32> {
    let mut words: Vec<u32> = Vec::new();
    for tail in BTreeSet::from([row.min_tail, (row.min_tail + 2).min(row.max_tail)]) {
        let length = (row.head_bytes + tail * row.tail_bytes) / 4;
        let first = words.len();
        words.push(Header::new(row.opcode, 0x5a ^ row.opcode, length as u16).word());
        for word in 1..length as u32 {
            // Finite as a float, small as a number of either sign, different in each byte.
            words.push(0x3e00_0000 | u32::from(row.opcode) << 16 | word << 8 | (word + 0x11));
        }
        assert_eq!(words.len() - first, length);
    }
    words
}

fn opcodes(words: &[u32]) -> BTreeSet<u8> {
    let mut at = 0;
    let mut found = BTreeSet::new();
    while let Some(&word) = words.get(at) {
        found.insert(Header::from_word(word).opcode());
        at += Header::from_word(word).words().max(1);
    }
    found
}

#[test]
fn a_recording_of_an_earlier_version_reads_as_the_same_records() {
    let mut words = words_of(&std::fs::read(file("records.bin")).unwrap_or_default());
    let mut text = std::fs::read_to_string(file("records.txt")).unwrap_or_default().replace("\r\n", "\n");
    if std::env::var_os("NAVIN_BLESS").is_some() {
        let known = opcodes(&words);
        for row in ROWS.iter().filter(|row| !known.contains(&row.opcode)) {
            let added = samples(row);
            lines(&added).iter().for_each(|line| text += &format!("{line}\n"));
            words.extend(added);
        }
        std::fs::create_dir_all(file("")).unwrap();
        std::fs::write(file("records.bin"), bytes_of(&words)).unwrap();
        std::fs::write(file("records.txt"), &text).unwrap();
    }
    let found = lines(&words);
    let expected: Vec<&str> = text.lines().collect();
    assert!(!expected.is_empty(), "tests/pinned is there");
    for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found, expected, "record {number}: an opcode means the same for ever; a change gets a new one");
    }
    assert_eq!(found.len(), expected.len());
    let (known, now) = (opcodes(&words), ROWS.iter().map(|row| row.opcode).collect::<BTreeSet<_>>());
    let gone: Vec<_> = known.difference(&now).collect();
    assert!(gone.is_empty(), "opcodes {gone:x?} were recorded once");
    let new: Vec<_> = now.difference(&known).collect();
    assert!(new.is_empty(), "opcodes {new:x?} are pinned nowhere: add them with NAVIN_BLESS=1");
}

/// The same bytes where a guest's recording stands: what a submit makes of them.
#[test]
fn a_recording_of_an_earlier_version_is_submitted_whole() {
    let words = words_of(&std::fs::read(file("records.bin")).unwrap());
    let bytes = words.len() * 4;
    let (host, pool) = (host(), Pool::new(0x10000, bytes.next_multiple_of(8)));
    let guest = Guest::new().with_command(host, &pool, 0, bytes).with_control(host, 1 << 12);
    let buffer = guest.buffer();
    buffer.begin(host);
    let mut rest = &words[..];
    while let Some(&word) = rest.first() {
        let (record, tail) = rest.split_at(Header::from_word(word).words());
        assert!(buffer.record_raw(host, record));
        rest = tail;
    }
    let handle = buffer.end(host);
    assert_eq!(pool.bytes(0, bytes), bytes_of(&words), "recorded as it was read");
    let stream = flatten(host, &pool, [handle]);
    assert_eq!(stream.words(), words);
    assert_eq!(Stream::from_words(words.clone()).0.sections(), stream.sections());
}
