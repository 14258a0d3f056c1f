//! The page table of virtual pools in every order of a reader's and a writer's steps.
//!
//! The table's source is compiled here a second time with loom's atomics, so that the models run the crate's own code.

#![allow(dead_code, reason = "the models use a part of the table")]

use loom::sync::Arc;
use loom::sync::atomic;
use loom::thread;
use navin_memory::PoolId;

#[path = "../src/virtual_pool/table.rs"]
mod table;

use atomic::{AtomicU64, Ordering};
use table::{Table, Word};

fn model(run: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(run);
}

fn word(pool: u64, page: u64) -> Word {
    Word::new(PoolId(pool), page).unwrap()
}

#[test]
fn b112_a_page_is_found_before_or_after_the_first_mapping_and_never_half() {
    model(|| {
        let table = Arc::new(Table::new(64));
        let writer = {
            let table = Arc::clone(&table);
            thread::spawn(move || table.set(3, 2, word(2, 7), 1))
        };
        let seen = table.get(4);
        assert!(seen == Word::NONE || seen == word(2, 8), "{seen:?}");
        assert_eq!(table.get(5), Word::NONE);
        writer.join().unwrap();
        assert_eq!((table.get(3), table.get(4)), (word(2, 7), word(2, 8)));
    });
}

#[test]
fn b112_a_page_that_is_mapped_all_along_is_found_while_its_block_is_split() {
    model(|| {
        let table = Arc::new(Table::new(64));
        table.set(0, 16, word(2, 100), 1);
        let writer = {
            let table = Arc::clone(&table);
            thread::spawn(move || {
                table.set(5, 1, word(3, 0), 2);
                table.set(5, 1, Word::NONE, 3);
            })
        };
        let cell = table.mapping(0, 5).unwrap();
        assert_eq!((cell.word, cell.count), (word(2, 100), 5));
        let seen = table.get(5);
        assert!([word(2, 105), word(3, 0), Word::NONE].contains(&seen), "{seen:?}");
        writer.join().unwrap();
        assert_eq!((table.get(4), table.get(5), table.get(6)), (word(2, 104), Word::NONE, word(2, 106)));
    });
}

/// What a texture's upload does: takes the generation, reads the pages; and later asks whether they have changed.
#[test]
fn b118_an_upload_that_read_old_pages_is_due_again() {
    model(|| {
        let table = Arc::new(Table::new(64));
        let generation = Arc::new(AtomicU64::new(1));
        table.set(0, 16, word(2, 0), 1);
        let writer = {
            let (table, generation) = (Arc::clone(&table), Arc::clone(&generation));
            thread::spawn(move || {
                table.set(4, 1, word(3, 0), 2);
                generation.store(2, Ordering::Release);
            })
        };
        let taken = generation.load(Ordering::Acquire);
        let read = table.get(4);
        if taken == 2 {
            assert_eq!(read, word(3, 0), "who sees the generation sees its pages");
            assert!(table.changed_since(4, 5, 1));
        }
        writer.join().unwrap();
        if read == word(2, 4) {
            assert!(table.changed_since(4, 5, taken));
        }
        assert!(!table.changed_since(0, 4, 1) && !table.changed_since(5, 16, 1));
    });
}
