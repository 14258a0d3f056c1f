//! The protocol under loom: every interleaving of two or three threads (up to a bound on preemptions), on memory that is
//! played. A store succeeds only while its page is writable; else the storing thread runs the fault routine, as the
//! handler would.
//!
//! What must hold at the end of each: what a stamp is told to be clean has the bytes that were read under it (B412, B408),
//! and no page is read-only whose word says that it is writable, or the reverse (B411).

use std::ops::Range;

use loom::sync::atomic::{AtomicU64, Ordering};
use loom::sync::{Arc, Mutex};

use crate::tracking::protocol::{self, Atomic64, Fault, Granules};
use crate::tracking::word::{self, PROTECTED, UNKNOWN, WRITABLE};

impl Atomic64 for AtomicU64 {
    fn load(&self) -> u64 {
        self.load(Ordering::Acquire)
    }
    fn store(&self, value: u64) {
        self.store(value, Ordering::Release);
    }
    fn exchange(&self, current: u64, new: u64) -> bool {
        self.compare_exchange(current, new, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
    fn advance(&self) -> u64 {
        self.fetch_add(1, Ordering::AcqRel) + 1
    }
}

#[derive(Clone, Copy)]
struct Page {
    writable: bool,
    value: u32,
}

/// A few pages, played. The mutex stands for the MMU: access and change of protection are one step each.
struct Played {
    words: Vec<AtomicU64>,
    clock: AtomicU64,
    pages: Mutex<Vec<Page>>,
    /// The slot lock; whether the range is registered.
    slots: Mutex<bool>,
}

impl Granules for Played {
    type Atomic = AtomicU64;

    fn word(&self, granule: usize) -> Option<&AtomicU64> {
        self.words.get(granule)
    }
    fn clock(&self) -> &AtomicU64 {
        &self.clock
    }
    fn unprotect(&self, run: Range<usize>, _: bool) -> bool {
        self.set(run, true);
        true
    }
    fn protect(&self, run: Range<usize>) -> bool {
        self.set(run, false);
        true
    }
    fn wait(&self) {
        loom::thread::yield_now();
    }
}

impl Played {
    /// Pages that were never protected.
    fn new(pages: usize) -> Arc<Self> {
        Arc::new(Self {
            words: (0..pages).map(|_| AtomicU64::new(UNKNOWN)).collect(),
            clock: AtomicU64::new(1),
            pages: Mutex::new(vec![Page { writable: true, value: 0 }; pages]),
            slots: Mutex::new(true),
        })
    }

    fn set(&self, run: Range<usize>, writable: bool) {
        let mut pages = self.pages.lock().unwrap();
        for page in &mut pages[run] {
            page.writable = writable;
        }
    }

    fn read(&self, page: usize) -> u32 {
        self.pages.lock().unwrap()[page].value
    }

    /// The guest's store.
    fn store(&self, page: usize, value: u32) {
        loop {
            {
                let page = &mut self.pages.lock().unwrap()[page];
                if page.writable {
                    page.value = value;
                    return;
                }
            }
            let is_writable = || self.pages.lock().unwrap()[page].writable;
            let fault = protocol::fault(self, page, is_writable);
            assert!(matches!(fault, Fault::Released | Fault::Stale), "the process would crash: {fault:?}");
        }
    }

    /// The submit thread's protect: the stamp, unless the range is not registered.
    fn protect_all(&self) -> Option<u64> {
        let registered = self.slots.lock().unwrap();
        let stamp = self.clock.advance();
        if *registered {
            protocol::protect(self, 0..self.words.len(), stamp);
        }
        registered.then_some(stamp)
    }

    /// An import over everything, by one thread: opened, nothing done, closed.
    fn bracket(&self) {
        let _slots = self.slots.lock().unwrap();
        let mut hashed = Vec::new();
        for page in 0..self.words.len() {
            let word = loop {
                let word = Atomic64::load(&self.words[page]);
                if word::state(word) != word::BUSY {
                    break word;
                }
                self.wait();
            };
            hashed.push((page, word, self.read(page)));
        }
        hashed.retain(|&(page, word, _)| protocol::open(self, page, word));
        for &(page, _, _) in &hashed {
            self.set(page..page + 1, true);
        }
        for &(page, _, _) in &hashed {
            protocol::close_protect(self, page..page + 1);
        }
        let mut changed = Vec::new();
        for (page, _, before) in hashed {
            if self.read(page) != before {
                changed.push(page);
            } else {
                protocol::close_unchanged(self, page);
            }
        }
        protocol::close_changed(self, &changed);
    }

    fn is_clean(&self, page: usize, stamp: u64) -> bool {
        word::is_clean(Atomic64::load(&self.words[page]), stamp)
    }

    /// When all threads have ended.
    fn check(&self, stamp: Option<u64>, read: &[u32]) {
        let pages = self.pages.lock().unwrap().clone();
        for (index, page) in pages.iter().enumerate() {
            let word = Atomic64::load(&self.words[index]);
            match word::state(word) {
                PROTECTED => assert!(!page.writable, "page {index} says protected and is writable"),
                WRITABLE | UNKNOWN => assert!(page.writable, "page {index} says writable and is read-only"),
                other => panic!("page {index} was left in state {other}"),
            }
            if let Some(stamp) = stamp
                && word::is_clean(word, stamp)
            {
                assert_eq!(page.value, read[index], "page {index} is said to be clean");
            }
        }
    }
}

/// What a [`Watch`](crate::tracking::Watch) does: the clock of the last clean answer.
fn watch_says_written(played: &Played, page: usize, stamp: u64, clean_at: &mut u64) -> bool {
    let clock = Atomic64::load(&played.clock);
    if clock == *clean_at {
        return false;
    }
    let clean = played.is_clean(page, stamp);
    if clean {
        *clean_at = clock;
    }
    !clean
}

fn model(preemptions: usize, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(body);
}

#[test]
fn b411_b412_protect_against_a_fault() {
    model(3, || {
        let played = Played::new(1);
        played.protect_all();
        let other = played.clone();
        let guest = loom::thread::spawn(move || other.store(0, 7));
        let stamp = played.protect_all();
        let read = [played.read(0)];
        guest.join().unwrap();
        played.check(stamp, &read);
    });
}

#[test]
fn b412_a_watch_against_a_fault() {
    model(3, || {
        let played = Played::new(1);
        let stamp = played.protect_all().unwrap();
        let read = played.read(0);
        let other = played.clone();
        let guest = loom::thread::spawn(move || other.store(0, 7));
        let mut clean_at = 0;
        watch_says_written(&played, 0, stamp, &mut clean_at);
        watch_says_written(&played, 0, stamp, &mut clean_at);
        guest.join().unwrap();
        assert!(watch_says_written(&played, 0, stamp, &mut clean_at) || played.read(0) == read);
    });
}

/// A host write over two pages, a store to the second, a protect of both: nobody waits for ever.
#[test]
fn b412_b413_host_write_fault_and_protect() {
    model(2, || {
        let played = Played::new(2);
        played.protect_all();
        let (host, guest) = (played.clone(), played.clone());
        let host = loom::thread::spawn(move || {
            protocol::host_write(&*host, 0..2, &mut |_, _, _| {});
            host.store(0, 1);
        });
        let guest = loom::thread::spawn(move || guest.store(1, 2));
        let stamp = played.protect_all();
        let read = [played.read(0), played.read(1)];
        host.join().unwrap();
        guest.join().unwrap();
        played.check(stamp, &read);
    });
}

#[test]
fn b408_b666_open_and_close_against_a_store() {
    model(3, || {
        let played = Played::new(1);
        let stamp = played.protect_all();
        let read = [played.read(0)];
        let other = played.clone();
        let guest = loom::thread::spawn(move || other.store(0, 7));
        played.bracket();
        guest.join().unwrap();
        played.check(stamp, &read);
    });
}

#[test]
fn b123_open_and_close_against_protect_and_a_store() {
    model(2, || {
        let played = Played::new(1);
        played.protect_all();
        let (importer, guest) = (played.clone(), played.clone());
        let importer = loom::thread::spawn(move || importer.bracket());
        let guest = loom::thread::spawn(move || guest.store(0, 7));
        let stamp = played.protect_all();
        let read = [played.read(0)];
        importer.join().unwrap();
        guest.join().unwrap();
        played.check(stamp, &read);
    });
}

#[test]
fn b123_open_and_close_against_a_host_write() {
    model(3, || {
        let played = Played::new(1);
        let stamp = played.protect_all();
        let read = [played.read(0)];
        let host = played.clone();
        let host = loom::thread::spawn(move || {
            protocol::host_write(&*host, 0..1, &mut |_, _, _| {});
            // A system call: it fails where the page is read-only.
            let page = &mut host.pages.lock().unwrap()[0];
            assert!(page.writable, "the bracket protected a page that the host is writing");
            page.value = 3;
        });
        played.bracket();
        host.join().unwrap();
        played.check(stamp, &read);
        assert!(!played.is_clean(0, stamp.unwrap()));
    });
}

#[test]
fn b413_retire_against_protect_and_a_store() {
    model(2, || {
        let played = Played::new(1);
        played.protect_all();
        let (other, guest) = (played.clone(), played.clone());
        let retiring = loom::thread::spawn(move || {
            let mut registered = other.slots.lock().unwrap();
            *registered = false;
            protocol::retire(&*other, 0..1);
        });
        let guest = loom::thread::spawn(move || guest.store(0, 7));
        played.protect_all();
        retiring.join().unwrap();
        guest.join().unwrap();
        played.check(None, &[0]);
        assert!(played.pages.lock().unwrap()[0].writable, "retired memory is writable");
        assert_eq!(word::state(Atomic64::load(&played.words[0])), UNKNOWN);
    });
}
