//! The tracker itself: registration, protection, fetching, host writes. Questions are in `query.rs`, imports in
//! `bracket.rs`.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::ThreadId;

use rustc_hash::FxHashMap;

use super::coverage::{Coverage, Watcher};
use super::mechanism::{self, Chosen};
use super::pages::{self, PageTable};
use super::protocol::{self, Atomic64, Granules, Point};
use super::ranges::{MOST_RANGES, RangeInfo, RangeTable, RangeWriter};
use super::scan::Scanners;
use super::types::{
    Fetched, Granule, Mechanism, RangeId, RegisterError, Selection, Span, Stamp, TrackingCounters, TrackingError,
    TrackingOptions, Writer,
};
use super::{host_page, word};

/// Blocks that nobody asked about for this many fetches are left out of fetches, and looked at when somebody asks.
const FETCHES_BEFORE_COLD: u32 = 16;

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

#[derive(Default)]
pub(super) struct Counters {
    pub ranges: AtomicU64,
    pub protected: AtomicU64,
    pub faults: AtomicU64,
    pub stale_faults: AtomicU64,
    pub widened_faults: AtomicU64,
    pub fetched: AtomicU64,
    pub host_written: AtomicU64,
    pub opened: AtomicU64,
    pub opened_changed: AtomicU64,
    pub refused: AtomicU64,
}

pub(super) fn add(counter: &AtomicU64, count: usize) {
    counter.fetch_add(count as u64, Ordering::Relaxed);
}

/// What the fault handler sees of a tracker, and what it may touch.
pub(super) struct Shared {
    pub pages: PageTable,
    /// Advances before and after anything becomes written.
    pub clock: AtomicU64,
    pub chosen: Chosen,
    pub counters: Counters,
    #[cfg(test)]
    pub hook: super::tests::hooks::Hook,
}

impl Granules for Shared {
    type Atomic = AtomicU64;

    fn word(&self, granule: usize) -> Option<&AtomicU64> {
        self.pages.word(granule)
    }

    fn clock(&self) -> &AtomicU64 {
        &self.clock
    }

    fn unprotect(&self, run: Range<usize>, hard: bool) -> bool {
        self.protection(if hard { Watcher::Fault } else { Watcher::Fetch })
            .is_none_or(|protection| protection.unprotect(self.pages.bytes(run)).is_ok())
    }

    fn protect(&self, run: Range<usize>) -> bool {
        self.protection(Watcher::Fault).is_some_and(|protection| protection.protect(self.pages.bytes(run)).is_ok())
    }

    fn wait(&self) {
        #[cfg(target_os = "linux")]
        // SAFETY: lets other threads run. Used in the fault handler, so no lazily loaded wrapper.
        unsafe {
            libc::sched_yield();
        }
        #[cfg(not(target_os = "linux"))]
        std::thread::yield_now();
    }

    #[cfg(test)]
    fn at(&self, point: Point) {
        self.hook.at(point);
    }
}

#[cfg(target_os = "linux")]
impl mechanism::FaultTarget for Shared {
    fn fault(&self, address: usize) -> mechanism::Answer {
        use mechanism::Answer;
        use protocol::Fault;
        let granule = address >> self.pages.shift();
        let page = host_page();
        match protocol::fault(self, granule, || mechanism::is_writable(address & !(page - 1), page)) {
            Fault::Released => {
                add(&self.counters.faults, 1);
                Answer::Retry
            }
            Fault::Widened => {
                add(&self.counters.faults, 1);
                add(&self.counters.widened_faults, 1);
                Answer::Retry
            }
            Fault::Stale => {
                add(&self.counters.stale_faults, 1);
                Answer::Retry
            }
            Fault::Foreign | Fault::Stuck => Answer::Unknown,
        }
    }
}

impl Shared {
    /// Who protects for a watcher.
    fn protection(&self, watcher: Watcher) -> Option<&dyn mechanism::Protection> {
        #[cfg(target_os = "linux")]
        match watcher {
            Watcher::Fetch => self.chosen.fetching.as_ref().map(|f| f as &dyn mechanism::Protection),
            Watcher::Fault => Some(&mechanism::Mprotect),
            Watcher::Nobody => None,
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = watcher;
            None
        }
    }

    pub fn is_off(&self) -> bool {
        self.chosen.selection.mechanism == Mechanism::Off
    }

    /// The granules over a span; none for an empty one or one past all addresses.
    pub fn granules(&self, span: Span) -> Range<usize> {
        self.pages.granules(span.start, span.len).unwrap_or(0..0)
    }

    /// Fetches a run of granules that is watched that way, as granules. The caller holds the slot lock.
    pub fn find(&self, granules: Range<usize>, found: &mut Vec<Range<usize>>) {
        let Some(protection) = self.protection(Watcher::Fetch) else { return };
        let mut bytes = Vec::new();
        if let Err(e) = protection.fetch(self.pages.bytes(granules.clone()), &mut bytes) {
            navin_abi::fault!("B412", "fetching written pages failed ({e}); {} pages count as written", granules.len());
            bytes = vec![self.pages.bytes(granules)];
        }
        let shift = self.pages.shift();
        for region in bytes {
            let region = region.start >> shift..((region.end - 1) >> shift) + 1;
            match found.last_mut() {
                Some(last) if last.end >= region.start => last.end = region.end.max(last.end),
                _ => found.push(region),
            }
        }
    }
}

/// What the slot lock guards (B413): which memory is tracked, and every change of protection but a release.
#[derive(Default)]
pub(super) struct Slots {
    pub coverage: Coverage,
    pub ranges: RangeWriter,
    fetches: u32,
    pub found: Vec<Range<usize>>,
    scanners: Scanners,
}

/// The last writes of the host to a granule, for questions that leave one writer out.
#[derive(Clone, Copy)]
pub(super) struct HostMark {
    pub writer: Writer,
    /// The granule's generation before the writer's first write of a row of its own.
    pub before: u64,
    /// The generation that the writer's last write gave it.
    pub after: u64,
}

/// Tracks writes to registered memory. Shared by `Arc`; every method may be called by any thread.
pub struct Tracker {
    // Leaves the handler's list before what it points to goes.
    #[cfg(target_os = "linux")]
    registration: Mutex<Option<mechanism::Registration>>,
    pub(super) shared: Arc<Shared>,
    pub(super) table: RangeTable,
    slots: Mutex<Slots>,
    /// Who has a bracket open, so that it does not wait for itself.
    pub(super) opener: Mutex<Option<ThreadId>>,
    pub(super) marks: Mutex<FxHashMap<usize, HostMark>>,
}

impl Tracker {
    /// Makes a tracker.
    ///
    /// # Errors
    /// The mechanism asked for by name is not to be had, or the granule is none.
    pub fn new(options: TrackingOptions) -> Result<Arc<Self>, TrackingError> {
        let granule = match options.granule {
            Granule::HostPage => host_page(),
            Granule::Bytes(bytes) => bytes,
        };
        if !granule.is_power_of_two() || !(host_page()..=1 << 20).contains(&granule) {
            return Err(TrackingError::Granule(granule));
        }
        let chosen = mechanism::choose(options.mechanism)?;
        if chosen.selection.mechanism == Mechanism::Off {
            tracing::info!("write tracking is off: {}", chosen.selection.reason);
        }
        Ok(Arc::new(Self {
            #[cfg(target_os = "linux")]
            registration: Mutex::default(),
            shared: Arc::new(Shared {
                pages: PageTable::new(granule.trailing_zeros()),
                clock: AtomicU64::new(1),
                chosen,
                counters: Counters::default(),
                #[cfg(test)]
                hook: super::tests::hooks::Hook::default(),
            }),
            table: RangeTable::new(),
            slots: Mutex::default(),
            opener: Mutex::default(),
            marks: Mutex::default(),
        }))
    }

    /// What it tracks with, and why.
    pub fn mechanism(&self) -> &Selection {
        &self.shared.chosen.selection
    }

    /// The unit of tracking, bytes.
    pub fn granule(&self) -> usize {
        1 << self.shared.pages.shift()
    }

    /// The clock: as long as it has not changed since a question was answered "not written", the answer stands. One
    /// load. With userfaultfd writes move it at the next [`Self::fetch`].
    #[inline]
    pub fn clock(&self) -> Stamp {
        Stamp(self.shared.clock.load(Ordering::Acquire))
    }

    /// A moment for something that the tracker does not notice itself: later than every stamp that was given before.
    pub fn note(&self) -> Stamp {
        Stamp(self.shared.clock.advance())
    }

    /// Counters since the tracker was made.
    pub fn counters(&self) -> TrackingCounters {
        let c = &self.shared.counters;
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        TrackingCounters {
            ranges: get(&c.ranges),
            protected: get(&c.protected),
            faults: get(&c.faults),
            stale_faults: get(&c.stale_faults),
            widened_faults: get(&c.widened_faults),
            fetched: get(&c.fetched),
            host_written: get(&c.host_written),
            opened: get(&c.opened),
            opened_changed: get(&c.opened_changed),
            refused: get(&c.refused),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The slot lock; none, with a fault line, when this very thread holds it by an open bracket.
    pub(super) fn lock_outside_bracket(&self, what: &str) -> Option<MutexGuard<'_, Slots>> {
        match self.slots.try_lock() {
            Ok(slots) => return Some(slots),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {}
        }
        if self.is_opener() {
            navin_abi::fault!("B123", "{what} within a bracket of the same thread: not done");
            return None;
        }
        Some(self.lock())
    }

    pub(super) fn is_opener(&self) -> bool {
        *self.opener.lock().unwrap_or_else(PoisonError::into_inner) == Some(std::thread::current().id())
    }

    /// Tracks a pool's storage: `len` bytes from `start`, rounded out to granules. Neighbours may share one (B407).
    ///
    /// # Errors
    /// The range is not tracked, and what lies in it counts as written, always.
    pub fn register(&self, start: usize, len: usize) -> Result<RangeId, RegisterError> {
        if len == 0 {
            return Err(RegisterError::Empty);
        }
        let Some(granules) = self.shared.pages.granules(start, len) else {
            return Err(RegisterError::OutOfReach { start, len });
        };
        let Some(mut slots) = self.lock_outside_bracket("registering a pool") else {
            return Err(RegisterError::WithinBracket);
        };
        // Stamps of before are older (B206).
        let born = self.shared.clock.advance();
        let Some(id) = slots.ranges.add(&self.table, RangeInfo { start, end: start + len, born }) else {
            navin_abi::fault!(
                "B205",
                "{MOST_RANGES} memory pools are tracked: the one at {start:#x} is not, and what it holds is uploaded at \
                 each use"
            );
            return Err(RegisterError::Full(MOST_RANGES));
        };
        add(&self.shared.counters.ranges, 1);
        if !self.shared.is_off() {
            self.shared.pages.make(granules.clone());
            slots.coverage.add(granules);
        }
        Ok(id)
    }

    /// Who watches memory that was not watched before: the fetching mechanism, or where it refuses (another user of
    /// userfaultfd has the memory, say), the fault handler.
    fn attach(&self, part: Range<usize>) -> Watcher {
        let bytes = self.shared.pages.bytes(part);
        if let Some(protection) = self.shared.protection(Watcher::Fetch) {
            match protection.attach(bytes.clone()) {
                Ok(()) => return Watcher::Fetch,
                Err(e) => tracing::debug!("{bytes:x?} is tracked by mprotect, userfaultfd says: {e}"),
            }
        }
        #[cfg(target_os = "linux")]
        self.enter_handler();
        Watcher::Fault
    }

    /// Installs the fault handler and enters this tracker, at its first need.
    #[cfg(target_os = "linux")]
    fn enter_handler(&self) {
        let mut registration = self.registration.lock().unwrap_or_else(PoisonError::into_inner);
        if registration.is_some() {
            return;
        }
        let installed = self.shared.protection(Watcher::Fault).is_some_and(|fault| fault.attach(0..0).is_ok());
        if installed {
            // SAFETY: `shared` does not move and lives longer than the registration: the fields drop in order.
            *registration = unsafe { mechanism::Registration::new(&*self.shared) };
        }
        if registration.is_none() {
            navin_abi::fault!("", "the write-fault handler cannot be used: pools without userfaultfd are not tracked");
        }
    }

    #[cfg(target_os = "linux")]
    fn may_fault(&self) -> bool {
        self.registration.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Ends the tracking of the range that was registered at exactly `start` (B407), of several the one that came last;
    /// its memory is writable after. Whether there was one. What others registered over parts of it stays tracked.
    pub fn retire(&self, start: usize) -> bool {
        let Some(mut slots) = self.lock_outside_bracket("retiring a pool") else { return false };
        let info = slots.ranges.remove(&self.table, start);
        self.retired(&mut slots, info)
    }

    /// As [`Self::retire`], of one range of those that begin at the same address.
    pub fn retire_range(&self, id: RangeId) -> bool {
        let Some(mut slots) = self.lock_outside_bracket("retiring a pool") else { return false };
        let info = slots.ranges.remove_range(&self.table, id);
        self.retired(&mut slots, info)
    }

    fn retired(&self, slots: &mut Slots, info: Option<RangeInfo>) -> bool {
        let Some(info) = info else { return false };
        self.shared.counters.ranges.fetch_sub(1, Ordering::Relaxed);
        if self.shared.is_off() {
            self.shared.clock.advance();
            return true;
        }
        let granules = self.shared.granules(Span::new(info.start, info.end - info.start));
        for (part, watcher) in slots.coverage.remove(granules) {
            #[cfg(target_os = "linux")]
            let _signals = (watcher == Watcher::Fault).then(mechanism::SignalGuard::new);
            // A refusal means that the guest has unmapped the memory already: nothing is protected then.
            if watcher != Watcher::Nobody {
                protocol::retire(&*self.shared, part.clone());
            }
            let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
            if part.len() < marks.len() {
                for granule in part {
                    marks.remove(&granule);
                }
            } else {
                marks.retain(|granule, _| !part.contains(granule));
            }
        }
        true
    }

    /// Protects a span and gives the stamp for the bytes that the caller reads *after* this call (B412): a later write
    /// to the span is one since that stamp. Parts that are not tracked stay so, and count as written.
    pub fn protect(&self, span: Span) -> Stamp {
        let granules = self.shared.granules(span);
        if self.shared.is_off() || granules.is_empty() {
            return self.clock();
        }
        // Held from the lookup to the last change of protection (B413).
        let Some(mut slots) = self.lock_outside_bracket("protecting memory") else { return Stamp::NEVER };
        let slots = &mut *slots;
        slots.coverage.attach(granules.clone(), |whole| self.attach(whole));
        // Before anything is protected (B412).
        let stamp = self.shared.clock.advance();
        let mut done = protocol::Protected::default();
        for (part, watcher) in slots.coverage.parts(granules) {
            self.shared.at(Point::ProtectLookedUp);
            let one = match watcher {
                Watcher::Fetch => {
                    slots.found.clear();
                    self.shared.find(part.clone(), &mut slots.found);
                    self.arm(part.clone());
                    protocol::protect_armed(&*self.shared, part, &slots.found, stamp)
                }
                #[cfg(target_os = "linux")]
                Watcher::Fault if self.may_fault() => {
                    let _signals = mechanism::SignalGuard::new();
                    protocol::protect(&*self.shared, part, stamp)
                }
                Watcher::Fault | Watcher::Nobody => continue,
            };
            done.granules += one.granules;
            done.refused += one.refused;
        }
        add(&self.shared.counters.protected, done.granules);
        add(&self.shared.counters.refused, done.refused);
        if done.refused != 0 {
            navin_abi::fault!("B411", "memory at {:#x} cannot be write-protected: it counts as written", span.start);
        }
        Stamp(stamp)
    }

    /// Marks the blocks of a run as those in which a fetch may find something, and as asked about.
    fn arm(&self, granules: Range<usize>) {
        for (index, piece) in pages::pieces(granules) {
            let Some(leaf) = self.shared.pages.leaf(index) else { continue };
            let blocks = pages::blocks(&piece);
            let fresh = blocks & !leaf.armed.fetch_or(blocks, Ordering::AcqRel);
            leaf.asked.fetch_or(blocks, Ordering::AcqRel);
            // A block that was cold stays so: parts of it outside this run were not looked at.
            leaf.cold.fetch_and(!fresh, Ordering::AcqRel);
        }
    }

    /// Finds what was written since the last call, where the mechanism has to look for it. The submit thread calls it
    /// once a submission, before its questions.
    pub fn fetch(&self) -> Fetched {
        let mut out = Fetched::default();
        #[cfg(target_os = "linux")]
        if self.may_fault() && !mechanism::is_installed() {
            navin_abi::fault!(
                "B411",
                "another SIGSEGV handler was installed over the write tracker's: it must hand on what is not its own"
            );
        }
        if self.shared.chosen.selection.mechanism != Mechanism::Userfaultfd {
            return out;
        }
        let Some(mut slots) = self.lock_outside_bracket("fetching written pages") else { return out };
        let slots = &mut *slots;
        slots.found.clear();
        slots.fetches += 1;
        let cooling = slots.fetches % FETCHES_BEFORE_COLD == 0;
        let mut cooled = false;
        let mut leaves = self.shared.pages.leaves().clone();
        leaves.sort_unstable();
        let mut runs: Vec<Range<usize>> = Vec::new();
        for index in leaves {
            let Some(leaf) = self.shared.pages.leaf(index) else { continue };
            let mut hot = leaf.armed.load(Ordering::Acquire) & !leaf.cold.load(Ordering::Acquire);
            if cooling {
                let cool = hot & !leaf.asked.swap(0, Ordering::AcqRel);
                leaf.cold.fetch_or(cool, Ordering::AcqRel);
                cooled |= cool != 0;
                hot &= !cool;
            }
            while hot != 0 {
                let first = hot.trailing_zeros();
                let count = (hot >> first).trailing_ones();
                let from = index * pages::LEAF + first as usize * pages::BLOCK;
                let run = from..from + count as usize * pages::BLOCK;
                match runs.last_mut() {
                    Some(last) if last.end == run.start => last.end = run.end,
                    _ => runs.push(run),
                }
                hot = if first + count == 64 { 0 } else { hot >> (first + count) << (first + count) };
            }
        }
        let mut parts: Vec<Range<usize>> = Vec::new();
        for run in runs {
            for (part, watcher) in slots.coverage.parts(run) {
                if watcher == Watcher::Fetch {
                    out.scanned += part.len() << self.shared.pages.shift();
                    parts.push(part);
                }
            }
        }
        slots.scanners.find(&self.shared, &parts, &mut slots.found);
        out.written = protocol::fetched(&*self.shared, &slots.found);
        if cooled {
            // A remembered "not written" is over for what is no longer looked at.
            self.shared.clock.advance();
        }
        add(&self.shared.counters.fetched, out.written);
        out
    }

    /// Looks at the cold blocks of a run: from then on they are fetched again. False within a bracket of the same
    /// thread, where nothing can be fetched.
    #[cold]
    pub(super) fn warm(&self, granules: Range<usize>) -> bool {
        if self.is_opener() {
            return false;
        }
        let mut slots = self.lock();
        let slots = &mut *slots;
        slots.found.clear();
        for (index, piece) in pages::pieces(granules) {
            let Some(leaf) = self.shared.pages.leaf(index) else { continue };
            let blocks = pages::blocks(&piece);
            leaf.asked.fetch_or(blocks, Ordering::AcqRel);
            let mut cold = leaf.cold.load(Ordering::Acquire) & blocks;
            let warmed = cold;
            while cold != 0 {
                let from = index * pages::LEAF + cold.trailing_zeros() as usize * pages::BLOCK;
                cold &= cold - 1;
                for (part, watcher) in slots.coverage.parts(from..from + pages::BLOCK) {
                    if watcher == Watcher::Fetch {
                        self.shared.find(part, &mut slots.found);
                    }
                }
            }
            let written = protocol::fetched(&*self.shared, &slots.found);
            add(&self.shared.counters.fetched, written);
            slots.found.clear();
            leaf.cold.fetch_and(!warmed, Ordering::AcqRel);
        }
        true
    }

    /// As [`Self::fetch`], of one span only, for a guest thread that asks in between submissions.
    pub fn fetch_span(&self, span: Span) {
        if self.shared.chosen.selection.mechanism != Mechanism::Userfaultfd {
            return;
        }
        let Some(mut slots) = self.lock_outside_bracket("fetching written pages") else { return };
        self.settle(&mut slots, self.shared.granules(span));
    }

    /// Fetches a run under the slot lock.
    pub(super) fn settle(&self, slots: &mut Slots, granules: Range<usize>) {
        slots.found.clear();
        for (part, watcher) in slots.coverage.parts(granules) {
            if watcher == Watcher::Fetch {
                self.shared.find(part, &mut slots.found);
            }
        }
        let written = protocol::fetched(&*self.shared, &slots.found);
        add(&self.shared.counters.fetched, written);
    }

    /// Whether everything is known that was written into a run before this call; what a fetching mechanism knows is
    /// asked for unless somebody else holds the slot lock, which a host write does not wait for (B413).
    fn fetched_before(&self, granules: Range<usize>) -> bool {
        if self.shared.chosen.selection.mechanism != Mechanism::Userfaultfd {
            return true;
        }
        let Ok(mut slots) = self.slots.try_lock() else { return false };
        self.settle(&mut slots, granules);
        true
    }

    /// Navin is about to write this memory itself, for the guest: it is recorded as written and left writable, so that
    /// system calls may write it. Takes no slot lock (B413). To be called before the write; a stamp for what the
    /// writer then left there is taken by [`Self::protect`] after it.
    pub fn host_write(&self, span: Span, writer: Writer) {
        let granules = self.shared.granules(span);
        if self.shared.is_off() || granules.is_empty() {
            return;
        }
        let protected = granules.clone().any(|granule| {
            self.shared
                .word(granule)
                .is_some_and(|w| !matches!(word::state(Atomic64::load(w)), word::UNKNOWN | word::WRITABLE))
        });
        if !protected {
            return;
        }
        // What the guest wrote before is not the writer's: found first, or else nothing is left out (B412).
        let named = writer != Writer::NOBODY && self.fetched_before(granules.clone());
        let mut marks = Vec::new();
        let mut written = 0;
        let done = {
            #[cfg(target_os = "linux")]
            let _signals = mechanism::SignalGuard::new();
            protocol::host_write(&*self.shared, granules, &mut |granule, before, now| {
                written += 1;
                if named {
                    marks.push((granule, word::generation(before), now));
                }
            })
        };
        if !done {
            navin_abi::fault!("B411", "protected memory at {:#x} cannot be made writable for the host", span.start);
        }
        add(&self.shared.counters.host_written, written);
        if !named {
            return;
        }
        let mut kept = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        for (granule, before, after) in marks {
            // A row of writes by one writer, nothing of others in between, goes on; else a new one begins.
            let before = match kept.get(&granule) {
                Some(mark) if mark.writer == writer && mark.after == before => mark.before,
                _ => before,
            };
            kept.insert(granule, HostMark { writer, before, after });
        }
    }
}

impl Drop for Tracker {
    fn drop(&mut self) {
        let starts = self.lock().ranges.starts();
        for start in starts {
            self.retire(start);
        }
    }
}
