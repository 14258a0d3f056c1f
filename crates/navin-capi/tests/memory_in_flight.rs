//! Pages and pools that go while work which uses them is queued, being replayed or with the GPU (B111). Threads of the
//! driver are stopped where it takes that ([`navin::hooks`]). Needs a Vulkan device.

mod memory_guest;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use memory_guest::*;
use navin::hooks::{self, Place};
use navin_abi::enums::NVNcopyFlags;
use navin_abi::types::*;
use nvn::trampolines::*;

const MB: usize = 1 << 20;
const PAGE: usize = 4096;
/// CPU_CACHED, GPU_CACHED, VIRTUAL: so that the pages can be looked for.
const SEEN: i32 = 0x224;
/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(5);

/// Two physical pools, and a virtual one of 4 MB of which eight pages at 1 MB show theirs in turn: page `n` holds
/// `n + 1`.
struct Scattered {
    pool: Pool,
    physical: [Pool; 2],
}

const PAGES: usize = 8;

impl Scattered {
    fn new(guest: &Guest, memory: Memory) -> Self {
        let physical = [0, 1].map(|_| guest.pool(memory, MB, PHYSICAL));
        let pool = guest.pool_at(std::ptr::null_mut(), 4 * MB, SEEN).unwrap();
        let this = Self { pool, physical };
        this.map(guest);
        this
    }

    fn map(&self, guest: &Guest) {
        let requests: Vec<Request<'_>> = (0..PAGES)
            .map(|n| {
                self.physical[n % 2].write(n * PAGE, &[n as u8 + 1; PAGE]);
                map_from(&self.physical[n % 2], n * PAGE, MB + n * PAGE, PAGE)
            })
            .collect();
        assert!(guest.map(&self.pool, &requests));
    }

    fn unmap(&self, guest: &Guest) {
        assert!(guest.map(&self.pool, &[unmap(MB, PAGES * PAGE)]));
    }

    /// Records a clear of the eight pages, which are bound as one range.
    fn clear(&self, c: *mut NVNcommandBuffer, value: u8) {
        let at = self.pool.address() + MB as u64;
        // SAFETY: live objects.
        unsafe { nvnCommandBufferClearBuffer(c, at, PAGES * PAGE, u32::from_le_bytes([value; 4])) };
    }

    /// Whether the physical pages have been cleared to a value.
    fn are_cleared(&self, value: u8) -> bool {
        (0..PAGES).all(|n| self.physical[n % 2].read(n * PAGE, PAGE) == [value; PAGE])
    }

    fn end(self) {
        self.pool.end();
        self.physical.into_iter().for_each(Pool::end);
    }
}

/// What two threads use at different times.
struct Shared<'a>(&'a Guest, &'a Scattered);
// SAFETY: the tests order the uses by channels.
unsafe impl Sync for Shared<'_> {}
// SAFETY: as above.
unsafe impl Send for Shared<'_> {}

/// No hook any more, however a test ends.
struct Hooked;

impl Hooked {
    fn new(hook: impl Fn(Place) + Send + Sync + 'static) -> Self {
        hooks::set(Some(Arc::new(hook)));
        Self
    }
}

impl Drop for Hooked {
    fn drop(&mut self) {
        hooks::set(None);
    }
}

/// Both ends of a signal.
fn signal() -> (SyncSender<()>, Mutex<Receiver<()>>) {
    let (sender, receiver) = sync_channel(8);
    (sender, Mutex::new(receiver))
}

fn wait(signal: &Mutex<Receiver<()>>) -> bool {
    signal.lock().unwrap().recv_timeout(LONG).is_ok()
}

/// A replay has found the scattered pages, and their unmapping comes before it has submitted anything: no submission has
/// a number that could be waited for.
#[test]
fn b111_pages_that_a_replay_has_found_stay_until_what_it_submits_has_ended() {
    if mirrored() {
        return eprintln!("SKIPPED: mirrors are of physical pools");
    }
    let _alone = alone();
    let guest = Guest::new();
    let scattered = Scattered::new(&guest, Memory::Navin);
    // SAFETY: a live pool.
    let base = unsafe { nvnMemoryPoolMap(scattered.pool.pool) } as usize + MB;
    let ((go, going), (found, finding), (unmapped, unmapping)) = (signal(), signal(), signal());
    let once = AtomicBool::new(true);
    let hooked = Hooked::new(move |place| match place {
        // The mapping waits for nothing more: now the work comes.
        Place::Mapping if once.swap(false, Ordering::AcqRel) => {
            go.send(()).unwrap();
            assert!(wait(&finding), "no replay");
        }
        Place::Scattered => {
            found.send(()).unwrap();
            wait(&unmapping);
        }
        _ => {}
    });
    let shared = Shared(&guest, &scattered);
    std::thread::scope(|scope| {
        let shared = &shared;
        scope.spawn(move || {
            let Shared(guest, scattered) = shared;
            assert!(wait(&going));
            guest.submit(|c| scattered.clear(c, 0x91));
        });
        scattered.unmap(&guest);
        let there = (0..PAGES).all(|n| is_readable(base + n * PAGE));
        unmapped.send(()).unwrap();
        assert!(there, "pages that a replay has found are gone");
    });
    guest.finish();
    drop(hooked);
    assert!(scattered.are_cleared(0x91));
    assert!(eventually(|| !is_readable(base)), "they go when the work has ended");
    assert_eq!(counter("memory.virtual.imports"), 0);
    scattered.end();
}

/// Queued and not replayed yet, because something before it takes its time: it was submitted before the unmapping.
#[test]
fn b111_queued_work_finds_what_was_mapped_when_it_was_submitted() {
    let _alone = alone();
    let guest = Guest::new();
    for memory in Memory::ALL {
        let scattered = Scattered::new(&guest, memory);
        // Of one pool, so that it does not matter which memory it is.
        let from = scattered.pool.address() + MB as u64;
        let to = guest.own.address() + SCRATCH as u64;
        for replace in [false, true] {
            scattered.map(&guest);
            guest.finish();
            guest.own.write(SCRATCH, &[0xEE; PAGE]);
            let (at, arrived) = signal();
            let unmapping = Arc::new(AtomicBool::new(false));
            let hooked = Hooked::new({
                let unmapping = Arc::clone(&unmapping);
                let once = AtomicBool::new(true);
                move |place| {
                    if place == Place::Replay && once.swap(false, Ordering::AcqRel) {
                        at.send(()).unwrap();
                        assert!(eventually(|| unmapping.load(Ordering::Acquire)));
                        // Time for a mapping that does not wait.
                        std::thread::sleep(Duration::from_millis(20));
                    }
                }
            });
            // SAFETY: live objects.
            guest.submit(|c| unsafe { nvnCommandBufferBarrier(c, NVNbarrierBits(1)) });
            assert!(wait(&arrived));
            // SAFETY: as above.
            guest.submit(|c| unsafe { nvnCommandBufferCopyBufferToBuffer(c, from, to, PAGE, NVNcopyFlags(0)) });
            unmapping.store(true, Ordering::Release);
            match replace {
                false => scattered.unmap(&guest),
                true => assert!(guest.map(&scattered.pool, &[map_from(&scattered.physical[1], PAGE, MB, PAGE)])),
            }
            guest.finish();
            drop(hooked);
            assert_eq!(guest.own.read(SCRATCH, PAGE), [1; PAGE], "{memory:?}, replaced: {replace}");
        }
        scattered.end();
    }
}

/// Nothing is mapped any more, but work in flight has what was.
#[test]
fn b111_finalize_waits_for_work_that_uses_unmapped_pages() {
    if mirrored() {
        return eprintln!("SKIPPED: mirrors are of physical pools");
    }
    let _alone = alone();
    let guest = Guest::new();
    let buffers = counter("memory.buffers");
    let scattered = Scattered::new(&guest, Memory::Navin);
    let waits = counter("memory.virtual.waits");
    guest.submit_slowly(|c| scattered.clear(c, 0x92));
    scattered.unmap(&guest);
    scattered.pool.end();
    assert!(scattered.are_cleared(0x92), "Finalize came back before it had ended");
    assert_eq!(counter("memory.virtual.waits"), waits + 1);
    assert_eq!(counter("memory.buffers"), buffers + 2, "only the physical pools' own");
    scattered.physical.into_iter().for_each(Pool::end);
    guest.finish();
    assert_eq!(counter("memory.buffers"), buffers);
    assert_eq!(counter("memory.finalized_but_alive"), 0);
}

/// Of scattered pages the GPU sees an import of the virtual pool's: the physical pools are in use all the same.
#[test]
fn b111_a_physical_pool_is_in_use_while_scattered_pages_of_it_are() {
    if mirrored() {
        return eprintln!("SKIPPED: mirrors are of physical pools");
    }
    let _alone = alone();
    let guest = Guest::new();
    for which in [0, 1] {
        let scattered = Scattered::new(&guest, Memory::Navin);
        guest.submit_slowly(|c| scattered.clear(c, 0x93));
        scattered.physical[which].end();
        assert!(scattered.are_cleared(0x93), "Finalize came back before it had ended");
        guest.finish();
        scattered.pool.end();
        scattered.physical[1 - which].end();
    }
}

/// Memory of Navin's outlives its pool while it is shown, and not a moment longer.
#[test]
fn b124_a_finalized_pool_goes_with_the_virtual_pool_that_shows_it() {
    let _alone = alone();
    let guest = Guest::new();
    let counts = || ["live.pools", "memory.buffers", "memory.imports"].map(counter);
    let before = counts();
    let scattered = Scattered::new(&guest, Memory::Navin);
    guest.run(|c| scattered.clear(c, 0x94));
    scattered.physical.iter().for_each(|pool| pool.end());
    assert_eq!(counter("live.pools"), before[0] + 3, "kept as long as they are shown");
    scattered.pool.end();
    assert_eq!(counts(), before);
    assert!(eventually(|| counter("memory.finalized_but_alive") == 0));
}

/// One import follows bytes that are bound from one begin, more each time; those inside it go.
#[test]
fn b122_imports_of_scattered_pages_are_joined() {
    if mirrored() {
        return eprintln!("SKIPPED: mirrors are of physical pools");
    }
    let _alone = alone();
    let guest = Guest::new();
    let physical = [0, 1].map(|_| guest.pool(Memory::Navin, 8 * MB, PHYSICAL));
    let pool = guest.virtual_pool(64 * MB);
    let buffers = counter("memory.buffers");
    for n in 0..64 {
        assert!(guest.map(&pool, &[map_from(&physical[n % 2], n / 2 * (MB / 4), n * (MB / 4), MB / 4)]));
    }
    for n in 1..16 {
        let size = n * MB / 2 + PAGE;
        let last = (size - 1) / (MB / 4);
        // SAFETY: live objects.
        guest.run(|c| unsafe { nvnCommandBufferClearBuffer(c, pool.address(), size, n as u32) });
        assert_eq!(physical[last % 2].read(last / 2 * (MB / 4) + PAGE - 4, 1), [n as u8], "{n}");
        assert_eq!(counter("memory.virtual.imports"), 1, "{n}");
    }
    assert!(eventually(|| counter("memory.buffers") == buffers + 1), "what was joined is gone");
    pool.end();
    physical.into_iter().for_each(Pool::end);
    assert_eq!(counter("memory.buffers"), buffers - 2);
}

/// An alias has no range of its own; one that becomes sparse needs it again.
#[test]
fn b114_an_alias_that_is_mapped_otherwise_becomes_sparse_with_a_range() {
    let _alone = alone();
    let guest = Guest::new();
    let map = |pool: &Pool| {
        // SAFETY: a live pool.
        unsafe { nvnMemoryPoolMap(pool.pool) }.cast::<u8>()
    };
    for lost in [false, true] {
        // One whose memory goes with it, and one whose memory stays.
        let first = guest.pool(if lost { Memory::Private } else { Memory::Navin }, MB, PHYSICAL);
        let other = guest.pool(Memory::Navin, MB, PHYSICAL);
        first.write(0, &[0x11; MB]);
        other.write(0, &[0x22; MB]);
        let pool = guest.pool_at(std::ptr::null_mut(), MB, SEEN).unwrap();
        assert!(guest.map(&pool, &[map_from(&first, 0, 0, MB)]));
        assert_eq!(map(&pool), first.memory, "an alias");
        let faults = navin_abi::fault::count();
        if lost {
            first.end();
            assert_eq!(navin_abi::fault::count(), faults + 1, "named: they read 0");
            assert_eq!(guest.gpu_bytes(pool.address(), 4), [0; 4]);
            assert!(guest.map(&pool, &[map_from(&other, 0, 0, PAGE)]));
        }
        assert!(guest.map(&pool, &[map_from(&other, PAGE, PAGE, PAGE)]));
        let base = map(&pool);
        assert!(!base.is_null() && base != first.memory);
        // SAFETY: two pages are mapped there.
        let seen = [0, PAGE].map(|at| unsafe { base.add(at).read() });
        assert_eq!(seen, if lost { [0x22, 0x22] } else { [0x11, 0x22] });
        let faults = navin_abi::fault::count();
        let bytes = guest.gpu_bytes(pool.address(), 2 * PAGE);
        assert_eq!([bytes[0], bytes[PAGE]], seen, "over the border of the pools");
        if !mirrored() {
            // As one buffer: a clear of both pages.
            // SAFETY: live objects.
            guest.run(|c| unsafe { nvnCommandBufferClearBuffer(c, pool.address(), 2 * PAGE, 0x3333_3333) });
            assert_eq!(navin_abi::fault::count(), faults, "bound whole");
        }
        // SAFETY: as above.
        unsafe { base.add(PAGE + 8).write(0x44) };
        assert_eq!(other.read(PAGE + 8, 1), [0x44]);
        pool.end();
        other.end();
        if !lost {
            first.end();
        }
    }
}

/// Pages in no memfd cannot appear at the pool's own address: the guest is told so, once, and gets no address at which
/// it would find nothing.
#[test]
fn b109_where_no_page_can_be_shown_map_answers_null() {
    let _alone = alone();
    let guest = Guest::new();
    let physical = guest.pool(Memory::Private, MB, PHYSICAL);
    let map = |pool: &Pool| {
        // SAFETY: a live pool.
        unsafe { nvnMemoryPoolMap(pool.pool) }
    };
    let pool = guest.pool_at(std::ptr::null_mut(), 4 * MB, SEEN).unwrap();
    assert!(guest.map(&pool, &[map_from(&physical, 0, 0, PAGE)]));
    let faults = navin_abi::fault::count();
    assert!(map(&pool).is_null());
    assert_eq!(navin_abi::fault::count(), faults + 1, "named");
    pool.end();
    // The address was given before anything was mapped: it stays, and the pages that are not there are named.
    let pool = guest.pool_at(std::ptr::null_mut(), 4 * MB, SEEN).unwrap();
    let base = map(&pool);
    assert!(!base.is_null());
    let faults = navin_abi::fault::count();
    assert!(guest.map(&pool, &[map_from(&physical, 0, 0, PAGE)]));
    assert_eq!(navin_abi::fault::count(), faults + 1);
    assert_eq!(map(&pool), base);
    pool.end();
    physical.end();
}
