//! Programs by the thousand: the scanner of files, and the store of records by key against a map.

mod common;

use std::collections::HashMap;
use std::path::PathBuf;

use navin_shader::library::{Key, Store, StoreError, scan};
use navin_shader::{GuestProgram, Options, Translator};
use proptest::prelude::*;

/// A file of its own for a test.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Temporary {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.store", std::process::id()));
        let _ = std::fs::remove_file(&path);
        Temporary(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A payload that names its key.
fn payload(n: u64, length: usize) -> Vec<u8> {
    (0..length as u64).map(|k| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (k % 56)) as u8 ^ k as u8).collect()
}

#[test]
fn b507_fifty_thousand_records_are_read_looked_up_and_written_back_unchanged() {
    let (first, second) = (Temporary::new("b507-a"), Temporary::new("b507-b"));
    let all: Vec<(Key, Vec<u8>)> = (0..50_000u64).map(|n| ([n << 32 ^ n, 7], payload(n, (n % 90) as usize))).collect();
    let records: Vec<(Key, &[u8])> = all.iter().map(|(key, payload)| (*key, payload.as_slice())).collect();
    Store::open(&first.0, None).expect("a store").put_all(&records).expect("room");
    let store = Store::read_only(&first.0).expect("a store");
    assert_eq!(store.len(), 50_000);
    for (key, payload) in &all {
        assert_eq!(store.get(*key).expect("readable").as_ref(), Some(payload));
    }
    assert_eq!(store.get([1, 1]).expect("readable"), None);
    // Back, in the order of the file.
    let back: Vec<(Key, Vec<u8>)> =
        store.keys().into_iter().map(|key| (key, store.get(key).expect("readable").expect("there"))).collect();
    let records: Vec<(Key, &[u8])> = back.iter().map(|(key, payload)| (*key, payload.as_slice())).collect();
    Store::open(&second.0, None).expect("a store").put_all(&records).expect("room");
    assert!(std::fs::read(&first.0).expect("a file") == std::fs::read(&second.0).expect("a file"));
}

#[test]
fn b517_a_bounded_store_never_grows_past_its_bound_and_keeps_the_newest() {
    let file = Temporary::new("b517");
    let bound = 20_000;
    let mut store = Store::open(&file.0, Some(bound)).expect("a store");
    for n in 0..500u64 {
        store.put([n, 0], &payload(n, 100 + (n % 300) as usize)).expect("room");
        let size = std::fs::metadata(&file.0).expect("a file").len();
        assert!(size <= bound, "{size} bytes after record {n}");
        assert!(store.get([n, 0]).expect("readable").is_some(), "the newest is there");
    }
    assert!(store.len() > 20 && store.len() < 100, "{} records", store.len());
    // One that half of the bound does not hold is not kept, and drops nothing.
    let before = store.len();
    store.put([9999, 0], &payload(9999, 15_000)).expect("left out");
    assert_eq!((store.len(), store.get([9999, 0]).expect("readable")), (before, None));
    // A store that had grown without a bound is brought under it.
    drop(store);
    Store::open(&file.0, None).expect("a store").put([1, 1], &payload(1, 50_000)).expect("room");
    Store::open(&file.0, Some(bound)).expect("a store");
    assert!(std::fs::metadata(&file.0).expect("a file").len() <= bound);
}

#[test]
fn what_is_no_store_is_named_and_left_alone() {
    let file = Temporary::new("other");
    std::fs::write(&file.0, b"something else altogether").expect("a file");
    assert!(matches!(Store::open(&file.0, None), Err(StoreError::NotAStore)));
    assert!(matches!(Store::read_only(&file.0), Err(StoreError::NotAStore)));
    assert_eq!(std::fs::read(&file.0).expect("a file"), b"something else altogether");
    assert!(!Store::is_one(&file.0));
}

/// Two that have the same file open, and a third that ends in the middle of a record.
#[test]
fn writers_side_by_side_lose_nothing() {
    let file = Temporary::new("writers");
    std::thread::scope(|scope| {
        for writer in 0..4u64 {
            let path = &file.0;
            scope.spawn(move || {
                let mut store = Store::open(path, None).expect("a store");
                for n in 0..50 {
                    let n = 1000 * writer + n;
                    store.put([n, 0], &payload(n, 40)).expect("room");
                }
            });
        }
    });
    let store = Store::read_only(&file.0).expect("a store");
    assert_eq!(store.len(), 200);
    for key in store.keys() {
        assert_eq!(store.get(key).expect("readable"), Some(payload(key[0], 40)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Random writes, openings and torn ends against a map.
    #[test]
    fn a_store_is_a_map_that_survives_crashes(
        steps in prop::collection::vec((0u64..12, 0usize..200, 0u32..8), 1..60), torn in 1u64..400,
    ) {
        let file = Temporary::new("model");
        let mut model: HashMap<Key, Vec<u8>> = HashMap::new();
        let mut store = Store::open(&file.0, None).expect("a store");
        // A second one that is opened now and looks again at its own first write.
        let mut other = Store::open(&file.0, None).expect("a store");
        for (n, (key, length, kind)) in steps.iter().enumerate() {
            let (key, value) = ([*key, 3], payload(n as u64, *length));
            match kind {
                0 => store = Store::open(&file.0, None).expect("a store"),
                1 => other.put(key, &value).expect("room"),
                _ => store.put(key, &value).expect("room"),
            }
            if *kind != 0 {
                model.insert(key, value);
            }
        }
        let whole = Store::read_only(&file.0).expect("a store");
        for (key, value) in &model {
            prop_assert_eq!(whole.get(*key).expect("readable"), Some(value.clone()));
        }
        prop_assert_eq!(whole.len(), model.len());
        // A crash in the middle of the last writes: what is whole is there or was there before.
        let size = std::fs::metadata(&file.0).expect("a file").len();
        let bytes = std::fs::read(&file.0).expect("a file");
        std::fs::write(&file.0, &bytes[..size.saturating_sub(torn).max(16) as usize]).expect("a file");
        let mut after = Store::open(&file.0, None).expect("a store");
        for key in after.keys() {
            prop_assert!(after.get(key).expect("readable").is_some());
        }
        after.put([77, 77], b"goes on").expect("room");
        let again = Store::read_only(&file.0).expect("a store");
        prop_assert_eq!(again.get([77, 77]).expect("readable"), Some(b"goes on".to_vec()));
        prop_assert_eq!(again.len(), after.len());
    }

    /// Any damage: no panic, and no record whose bytes are other ones.
    #[test]
    fn a_damaged_store_gives_what_was_written_or_nothing(at in 16usize..2000, bits in 1u8..=255) {
        let file = Temporary::new("damage");
        let mut store = Store::open(&file.0, None).expect("a store");
        for n in 0..12u64 {
            store.put([n, 0], &payload(n, 100)).expect("room");
        }
        let mut bytes = std::fs::read(&file.0).expect("a file");
        let at = at % bytes.len();
        if at >= 16 {
            bytes[at] ^= bits;
        }
        std::fs::write(&file.0, &bytes).expect("a file");
        let store = Store::read_only(&file.0).expect("a store");
        for key in store.keys() {
            if let Some(found) = store.get(key).expect("readable") {
                prop_assert_eq!(found, payload(key[0], 100));
            }
        }
    }

    #[test]
    fn scanning_anything_finds_only_what_is_inside(bytes in prop::collection::vec(any::<u8>(), 0..4000)) {
        for entry in scan(&bytes) {
            prop_assert!(entry.control.end <= bytes.len() && entry.code.end <= bytes.len());
        }
    }
}

/// A file with programs of the corpus, as a container has them: all control sections, then all GPU programs.
fn container(programs: &[common::Program]) -> Vec<u8> {
    let mut bytes = vec![0xAB; 64];
    for program in programs {
        bytes.extend_from_slice(&program.control[..0x7C8.min(program.control.len())]);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    for program in programs {
        bytes.extend_from_slice(&program.code);
        bytes.resize(bytes.len().next_multiple_of(256), 0);
    }
    bytes
}

#[test]
fn programs_are_found_in_a_container() {
    let programs: Vec<common::Program> = common::programs().into_iter().step_by(9).collect();
    let bytes = container(&programs);
    let found = scan(&bytes);
    assert_eq!(found.len(), programs.len());
    for (entry, program) in found.iter().zip(&programs) {
        let guest = GuestProgram::parse(&program.control, &program.code).expect(&program.name);
        assert_eq!((entry.key, entry.stage), (guest.key, guest.stage), "{}", program.name);
    }
}

#[test]
fn b510_words_of_a_control_section_are_no_entry() {
    let mut programs: Vec<common::Program> = common::programs().into_iter().step_by(40).take(3).collect();
    let copy = programs[1].control[..0x40].to_vec();
    // The beginning of an entry inside the control section of another one, in fields that nobody reads.
    programs[0].control[0x100..0x140].copy_from_slice(&copy);
    let mut bytes = container(&programs);
    // One outside of all records, whose sizes are those of nothing.
    bytes.extend_from_slice(&copy);
    bytes.resize(bytes.len() + 0x900, 0);
    // And a whole one whose GPU program has no machine code.
    let mut control = programs[1].control[..0x7C8].to_vec();
    control[0x714] = 5;
    let mut code = programs[1].code.clone();
    code[0x80..].fill(0);
    let at = bytes.len();
    bytes.extend_from_slice(&control);
    bytes.extend_from_slice(&code);
    let found = scan(&bytes);
    assert_eq!(found.len(), 3, "{found:?}");
    // Without the test of consistency there are these rows as well, and translation fails at their first instruction.
    let magic = 0x9876_1234u32.to_le_bytes();
    assert_eq!(bytes.chunks_exact(4).filter(|w| *w == magic).count(), 6);
    let row = GuestProgram::parse(&bytes[at..at + 0x7C8], &bytes[at + 0x7C8..]).expect("sizes are right");
    let options = Options::new(navin_shader::ConstantLayout::Corpus);
    let error = Translator::new().translate(&row, &options).expect_err("no machine code").to_string();
    assert!(error.contains("at 0x0008"), "{error}");
}
