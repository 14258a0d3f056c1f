//! The protocol by which threads change granules: who may move a word from which state to which, in which order with
//! the protection itself and with the clock.
//!
//! Everything here is generic over the atomics and over what protects memory, so that the same lines run under loom
//! (`loom_tests.rs`) and in the fault handler. The handler takes no lock and allocates nothing; it waits only for a
//! BUSY granule, whose holder is between two system calls.
//!
//! ```text
//!            protect (slot lock)              fault handler, host write (no lock)
//! WRITABLE ---- BUSY ----> PROTECTED        PROTECTED, OPEN ---- BUSY ----> WRITABLE
//! UNKNOWN  ---'                             open (slot lock)  PROTECTED ----------> OPEN
//!                                           close (slot lock) OPEN - CLOSING - OPEN -> PROTECTED
//! ```
//!
//! - The protection changes only while its granule is BUSY or CLOSING, and one thread holds it then: so no interleaving
//!   leaves a granule read-only whose word says writable (B411). Opening is the exception: it lifts protection from
//!   OPEN granules, which at worst makes writable what is writable.
//! - Whoever meets a BUSY granule first finishes what it holds BUSY itself, then waits, then looks again (B412).
//! - What becomes written gets its generation from the clock, and the clock advances once more after the words are
//!   published (B412): a reader that scanned in between has remembered a clock value that is over.

use std::ops::Range;

use super::word::{
    BUSY, CLOSING, HARD, OPEN, PROTECTED, UNKNOWN, WRITABLE, generation, is_hard, state, with_state, word,
};

/// A 64-bit atomic: the standard library's, or loom's.
pub trait Atomic64 {
    /// Loads, with acquire.
    fn load(&self) -> u64;
    /// Stores, with release.
    fn store(&self, value: u64);
    /// Replaces `current` by `new`, with acquire and release; whether it did.
    fn exchange(&self, current: u64, new: u64) -> bool;
    /// Adds one, with acquire and release; the new value.
    fn advance(&self) -> u64;
}

/// Moments between the steps of the protocol, at which tests may act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    /// Protect has looked up the range; no granule is BUSY yet (B413).
    ProtectLookedUp,
    /// The granules of one released run have their number from the clock; the words still say BUSY (B412).
    ReleaseNumbered,
    /// A fetch's granules have their number; their words are not published yet (B412).
    FetchNumbered,
    /// Open has made its first run writable (B408).
    OpenedFirst,
    /// Close has protected again, and has not compared yet (B123).
    CloseProtected,
    /// A protect, host write or retirement is about to wait for a BUSY granule (B412).
    MetBusy,
}

/// The granules of a tracker and what protects them. Granules are counted from address 0.
pub trait Granules {
    /// Atomics of words and clock.
    type Atomic: Atomic64;

    /// The granule's word; none when no memory near it was ever tracked.
    fn word(&self, granule: usize) -> Option<&Self::Atomic>;
    /// The clock.
    fn clock(&self) -> &Self::Atomic;
    /// Lifts the protection from a run whose words are all hard or all not; whether the system did.
    fn unprotect(&self, run: Range<usize>, hard: bool) -> bool;
    /// Makes a run read-only by the MMU; whether the system did.
    fn protect(&self, run: Range<usize>) -> bool;
    /// Lets other threads run; called in a loop.
    fn wait(&self);
    /// For tests.
    fn at(&self, _point: Point) {}
}

/// A run of BUSY granules that grows at its end. At most [`Self::LONGEST`], so that nobody waits long for one.
struct Run {
    granules: Range<usize>,
    hard: bool,
}

impl Run {
    const LONGEST: usize = 4096;

    fn new() -> Self {
        Self { granules: 0..0, hard: false }
    }

    fn takes(&self, granule: usize, hard: bool) -> bool {
        self.granules.is_empty()
            || (self.granules.end == granule && self.hard == hard && self.granules.len() < Self::LONGEST)
    }

    fn push(&mut self, granule: usize, hard: bool) {
        if self.granules.is_empty() {
            self.granules = granule..granule;
        }
        self.granules.end = granule + 1;
        self.hard = hard;
    }

    fn take(&mut self) -> Option<(Range<usize>, bool)> {
        let granules = std::mem::replace(&mut self.granules, 0..0);
        (!granules.is_empty()).then_some((granules, self.hard))
    }
}

/// Makes a run that the caller holds BUSY writable and publishes it as written: the one way there, for the fault
/// handler and for host writes (B412). `each` gets granule, word before and generation. False when the system
/// refused; the words say PROTECTED again then.
fn release<G: Granules>(g: &G, run: Range<usize>, hard: bool, each: &mut dyn FnMut(usize, u64, u64)) -> bool {
    let now = g.clock().advance();
    g.at(Point::ReleaseNumbered);
    let done = g.unprotect(run.clone(), hard);
    for granule in run {
        let Some(atomic) = g.word(granule) else { continue };
        let before = atomic.load();
        if done {
            each(granule, before, now);
            atomic.store(word(WRITABLE, now));
        } else {
            atomic.store(with_state(before, PROTECTED));
        }
    }
    g.clock().advance();
    done
}

/// What the handler is to do about a write fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The granule is writable now.
    Released,
    /// Another thread has released it before.
    Stale,
    /// As [`Fault::Released`], together with granules beside it, since it could not be released alone.
    Widened,
    /// The tracker does not protect this granule.
    Foreign,
    /// The granule is protected, and the system refuses to lift that.
    Stuck,
}

/// A write fault in a granule. `is_writable` tells whether the faulting page may be written now. Async-signal-safe as far
/// as `g` and that are.
pub fn fault<G: Granules>(g: &G, granule: usize, is_writable: impl Fn() -> bool) -> Fault {
    loop {
        let Some(atomic) = g.word(granule) else { return Fault::Foreign };
        let clock = g.clock().load();
        let before = atomic.load();
        match state(before) {
            PROTECTED | OPEN if is_hard(before) => {
                if !atomic.exchange(before, with_state(before, BUSY)) {
                    continue;
                }
                return if release(g, granule..granule + 1, true, &mut |_, _, _| {}) {
                    Fault::Released
                } else {
                    widened(g, granule)
                };
            }
            BUSY | CLOSING => g.wait(),
            _ if is_writable() => return Fault::Stale,
            // Not writable and not by us: unless it was protected again between the two looks. A protect changes the
            // word, a retirement the clock.
            _ if atomic.load() == before && g.clock().load() == clock => return Fault::Foreign,
            _ => {}
        }
    }
}

/// Releases the whole protected run around a granule: to change one page in the middle of a mapping splits it, and the
/// kernel may have no more mappings to give; to change all of it splits nothing.
fn widened<G: Granules>(g: &G, granule: usize) -> Fault {
    let take = |granule: usize| {
        g.word(granule).is_some_and(|atomic| {
            let before = atomic.load();
            state(before) == PROTECTED && is_hard(before) && atomic.exchange(before, with_state(before, BUSY))
        })
    };
    if !take(granule) {
        // Somebody else has it; the write is tried again.
        return Fault::Released;
    }
    let (mut first, mut end) = (granule, granule + 1);
    while first > 0 && take(first - 1) {
        first -= 1;
    }
    while take(end) {
        end += 1;
    }
    if release(g, first..end, true, &mut |_, _, _| {}) { Fault::Widened } else { Fault::Stuck }
}

/// Records a run of granules as written by the host and leaves it writable (B123). Takes no lock (B413). `each` gets
/// granule, word before and generation of those that were protected. False when the system refused for some.
pub fn host_write<G: Granules>(g: &G, granules: Range<usize>, each: &mut dyn FnMut(usize, u64, u64)) -> bool {
    let mut run = Run::new();
    let mut done = true;
    for granule in granules {
        let Some(atomic) = g.word(granule) else { continue };
        loop {
            let before = atomic.load();
            let hard = is_hard(before);
            match state(before) {
                PROTECTED | OPEN => {
                    if !run.takes(granule, hard)
                        && let Some((busy, hard)) = run.take()
                    {
                        done &= release(g, busy, hard, each);
                    }
                    if atomic.exchange(before, with_state(before, BUSY)) {
                        run.push(granule, hard);
                        break;
                    }
                }
                BUSY | CLOSING => {
                    if let Some((busy, hard)) = run.take() {
                        done &= release(g, busy, hard, each);
                    }
                    g.at(Point::MetBusy);
                    g.wait();
                }
                _ => break,
            }
        }
    }
    if let Some((busy, hard)) = run.take() {
        done &= release(g, busy, hard, each);
    }
    done
}

/// What a protect did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Protected {
    /// Granules that were not protected before.
    pub granules: usize,
    /// Runs that the system refused to protect; they count as written.
    pub refused: usize,
}

/// Protects a run by the MMU under a stamp that was taken before (B412). The caller holds the slot lock (B413).
pub fn protect<G: Granules>(g: &G, granules: Range<usize>, stamp: u64) -> Protected {
    let mut run = Run::new();
    let mut out = Protected::default();
    let mut finish = |busy: Range<usize>| {
        let done = g.protect(busy.clone());
        out.granules += if done { busy.len() } else { 0 };
        out.refused += usize::from(!done);
        for granule in busy {
            let Some(atomic) = g.word(granule) else { continue };
            // Until here it may have been written: older stamps see that, this one has yet to read the bytes.
            let generation = generation(atomic.load()).max(stamp);
            atomic.store(word(if done { PROTECTED | HARD } else { WRITABLE }, generation));
        }
    };
    for granule in granules {
        let Some(atomic) = g.word(granule) else { continue };
        loop {
            let before = atomic.load();
            match state(before) {
                WRITABLE | UNKNOWN => {
                    if !run.takes(granule, true)
                        && let Some((busy, _)) = run.take()
                    {
                        finish(busy);
                    }
                    if atomic.exchange(before, with_state(before, BUSY)) {
                        run.push(granule, true);
                        break;
                    }
                }
                BUSY => {
                    if let Some((busy, _)) = run.take() {
                        finish(busy);
                    }
                    g.at(Point::MetBusy);
                    g.wait();
                }
                // Protected already; open granules are the business of whoever holds the lock.
                _ => break,
            }
        }
    }
    if let Some((busy, _)) = run.take() {
        finish(busy);
    }
    out
}

/// Marks a run protected that userfaultfd has armed after `stamp` was taken: `found` are the granules that were written
/// before that. The caller holds the slot lock.
pub fn protect_armed<G: Granules>(g: &G, granules: Range<usize>, found: &[Range<usize>], stamp: u64) -> Protected {
    // Written before the stamp and not noticed until now: older stamps must see it, this one must not.
    if !found.is_empty() {
        g.at(Point::FetchNumbered);
    }
    let late = renumber(g, found, stamp);
    let mut out = Protected::default();
    for granule in granules {
        let Some(atomic) = g.word(granule) else { continue };
        loop {
            let before = atomic.load();
            match state(before) {
                WRITABLE | UNKNOWN => {
                    if atomic.exchange(before, word(PROTECTED, generation(before).max(stamp))) {
                        out.granules += 1;
                        break;
                    }
                }
                BUSY => {
                    g.at(Point::MetBusy);
                    g.wait();
                }
                _ => break,
            }
        }
    }
    if late != 0 {
        g.clock().advance();
    }
    out
}

/// Publishes granules that userfaultfd found written and has armed again; how many. The caller holds the slot lock.
///
/// The number is taken after the finding: a stamp that was taken before the write is older (B412).
pub fn fetched<G: Granules>(g: &G, found: &[Range<usize>]) -> usize {
    // Found too is what nobody protected. The clock stands still for that.
    let protected = |granule| g.word(granule).is_some_and(|atomic| state(atomic.load()) == PROTECTED);
    if !found.iter().cloned().flatten().any(protected) {
        return 0;
    }
    let now = g.clock().advance();
    g.at(Point::FetchNumbered);
    let written = renumber(g, found, now);
    g.clock().advance();
    written
}

/// Gives the protected granules among `found` a generation.
fn renumber<G: Granules>(g: &G, found: &[Range<usize>], now: u64) -> usize {
    let mut written = 0;
    for granule in found.iter().cloned().flatten() {
        let Some(atomic) = g.word(granule) else { continue };
        loop {
            let before = atomic.load();
            if state(before) != PROTECTED || is_hard(before) {
                break;
            }
            if atomic.exchange(before, word(PROTECTED, generation(before).max(now))) {
                written += 1;
                break;
            }
        }
    }
    written
}

/// Makes a run writable and forgets what was known of it. The caller holds the slot lock. False when the system
/// refused for some part.
pub fn retire<G: Granules>(g: &G, granules: Range<usize>) -> bool {
    let mut run = Run::new();
    let mut done = true;
    let mut finish = |busy: Range<usize>| {
        done &= g.unprotect(busy.clone(), true);
        for atomic in busy.filter_map(|granule| g.word(granule)) {
            atomic.store(UNKNOWN);
        }
    };
    for granule in granules {
        let Some(atomic) = g.word(granule) else { continue };
        loop {
            let before = atomic.load();
            match state(before) {
                UNKNOWN => break,
                PROTECTED | OPEN if is_hard(before) => {
                    if !run.takes(granule, true)
                        && let Some((busy, _)) = run.take()
                    {
                        finish(busy);
                    }
                    if atomic.exchange(before, with_state(before, BUSY)) {
                        run.push(granule, true);
                        break;
                    }
                }
                BUSY | CLOSING => {
                    if let Some((busy, _)) = run.take() {
                        finish(busy);
                    }
                    g.at(Point::MetBusy);
                    g.wait();
                }
                _ => {
                    if atomic.exchange(before, UNKNOWN) {
                        break;
                    }
                }
            }
        }
    }
    if let Some((busy, _)) = run.take() {
        finish(busy);
    }
    // What was clean counts as written now.
    g.clock().advance();
    done
}

/// Opens one granule, if its word is still the one under which its bytes were hashed.
pub fn open<G: Granules>(g: &G, granule: usize, hashed: u64) -> bool {
    state(hashed) == PROTECTED
        && g.word(granule).is_some_and(|atomic| atomic.exchange(hashed, with_state(hashed, OPEN)))
}

/// Protects the granules of a run that are still open again, and leaves them OPEN: what is written from now on is
/// noticed, what was written before is found by the bytes. False when the system refused; those granules are
/// published as written then.
pub fn close_protect<G: Granules>(g: &G, granules: Range<usize>) -> bool {
    let mut run = Run::new();
    let mut done = true;
    let mut finish = |busy: Range<usize>| {
        if g.protect(busy.clone()) {
            for atomic in busy.filter_map(|granule| g.word(granule)) {
                atomic.store(with_state(atomic.load(), OPEN));
            }
        } else {
            done = false;
            let now = g.clock().advance();
            for atomic in busy.filter_map(|granule| g.word(granule)) {
                atomic.store(word(WRITABLE, now));
            }
            g.clock().advance();
        }
    };
    for granule in granules {
        let Some(atomic) = g.word(granule) else { continue };
        loop {
            let before = atomic.load();
            match state(before) {
                OPEN => {
                    if !run.takes(granule, true)
                        && let Some((busy, _)) = run.take()
                    {
                        finish(busy);
                    }
                    if atomic.exchange(before, with_state(before, CLOSING)) {
                        run.push(granule, true);
                        break;
                    }
                }
                BUSY => {
                    if let Some((busy, _)) = run.take() {
                        finish(busy);
                    }
                    g.at(Point::MetBusy);
                    g.wait();
                }
                // Written meanwhile, recorded, and left writable (B123).
                _ => break,
            }
        }
    }
    if let Some((busy, _)) = run.take() {
        finish(busy);
    }
    done
}

/// Ends the bracket for a granule whose bytes are as they were; false when it was written by a way that was noticed.
pub fn close_unchanged<G: Granules>(g: &G, granule: usize) -> bool {
    let Some(atomic) = g.word(granule) else { return false };
    let before = atomic.load();
    state(before) == OPEN && atomic.exchange(before, with_state(before, PROTECTED))
}

/// Ends the bracket for granules whose bytes changed: written, and protected since. How many were still open.
pub fn close_changed<G: Granules>(g: &G, changed: &[usize]) -> usize {
    if changed.is_empty() {
        return 0;
    }
    let now = g.clock().advance();
    let mut written = 0;
    for &granule in changed {
        let Some(atomic) = g.word(granule) else { continue };
        let before = atomic.load();
        let after = word(PROTECTED, now) | before & HARD;
        written += usize::from(state(before) == OPEN && atomic.exchange(before, after));
    }
    g.clock().advance();
    written
}
