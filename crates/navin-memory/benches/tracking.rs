//! The write tracker against its budgets: every figure beside what it is to be compared with, in one run, samples of both
//! sides in turns.
//!
//! - a clean question about 16 pages at 1, 100 and 5,000 pools, and a `Watch`'s remembered answer;
//! - the first write to a protected page, through the tracker, against the kernel's mechanism alone;
//! - a submission's fetch of 2.4 GB with 100 written pages;
//! - opened pages hashed, against copying the same bytes;
//! - registering and retiring, protecting, opening and closing.

#[cfg(target_os = "linux")]
#[path = "../src/tracking/hash.rs"]
mod hash;
#[cfg(target_os = "linux")]
mod raw;
#[cfg(target_os = "linux")]
#[path = "../tests/tracking/support.rs"]
mod support;

#[cfg(target_os = "linux")]
fn main() {
    linux::queries();
    linux::first_writes();
    linux::scans();
    linux::hashes();
    linux::pools();
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("write tracking is not ported to {}", std::env::consts::OS);
}

#[cfg(target_os = "linux")]
mod linux {
    use std::hint::black_box;
    use std::sync::Arc;

    use navin_memory::tracking::{MechanismChoice, Span, Tracker};

    use super::support::{Memory, Setup};
    use super::{hash, raw};

    const PAGE: usize = 4096;

    fn setups() -> impl Iterator<Item = (&'static str, Setup)> {
        [("userfaultfd", MechanismChoice::Userfaultfd), ("mprotect", MechanismChoice::Mprotect)]
            .into_iter()
            .filter_map(|(name, mechanism)| Some((name, Setup::new(mechanism, 0)?)))
    }

    /// Nanoseconds that `work` takes of this thread's processor time, the kernel's work for it included: other programs on
    /// the machine count less than by the clock on the wall.
    fn time(work: impl FnOnce()) -> f64 {
        let now = || {
            // SAFETY: all zero is a valid time; the call fills it.
            let mut time: libc::timespec = unsafe { std::mem::zeroed() };
            // SAFETY: as above.
            unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
            time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
        };
        let start = now();
        work();
        now() - start
    }

    /// Nanoseconds of `work` by the clock on the wall: what several threads do at once counts once.
    fn wall(work: impl FnOnce()) -> f64 {
        let start = std::time::Instant::now();
        work();
        start.elapsed().as_nanos() as f64
    }

    /// The median of samples.
    fn median(mut samples: Vec<f64>) -> f64 {
        samples.sort_by(f64::total_cmp);
        samples[samples.len() / 2]
    }

    /// The median over samples of `count` calls each, nanoseconds a call.
    fn each(count: usize, mut call: impl FnMut(usize)) -> f64 {
        let sample = |_| time(|| (0..count).for_each(&mut call)) / count as f64;
        median((0..25).map(sample).collect())
    }

    fn registered(tracker: &Arc<Tracker>, count: usize, size: usize) -> Memory {
        let memory = Memory::new(count * size);
        for pool in 0..count {
            tracker.register(memory.start + pool * size, size).expect("a range");
        }
        memory
    }

    pub fn queries() {
        println!("clean question about 16 pages, ns (budget 50):");
        for (name, setup) in setups() {
            for count in [1, 100, 5000] {
                let tracker = setup.tracker();
                let size = 32 * PAGE;
                let memory = registered(&tracker, count, size);
                let spans: Vec<_> = (0..count).map(|p| Span::new(memory.start + p * size + PAGE, 16 * PAGE)).collect();
                let stamps: Vec<_> = spans.iter().map(|&span| tracker.protect(span)).collect();
                let ask = each(10_000, |i| {
                    let pool = i * 7 % count;
                    assert!(!tracker.written_since(spans[pool], stamps[pool]));
                });
                let watch = tracker.watch(spans[0]);
                let again = each(10_000, |_| assert!(!black_box(&watch).written()));
                println!("  {name:<12} {count:>5} pools: {ask:6.1}   remembered by a watch: {again:.1}");
            }
            let tracker = setup.tracker();
            let memory = registered(&tracker, 1, 1024 * PAGE);
            let stamp = tracker.protect(memory.span());
            let ask = each(1000, |_| assert!(!tracker.written_since(memory.span(), stamp)));
            println!("  {name:<12}  1024 pages: {ask:6.1}   {:.2} a page", ask / 1024.0);
        }
    }

    pub fn first_writes() {
        const WRITES: usize = 512;
        println!("first write to a protected page, ns (budget 1.2 times the kernel's mechanism alone):");
        let memory = Memory::new(WRITES * PAGE);
        (0..WRITES).for_each(|page| memory.write(page * PAGE, 1));
        let store = || time(|| (0..WRITES).for_each(|page| memory.write(page * PAGE, 1))) / WRITES as f64;
        for (name, setup) in setups() {
            let mut samples = [Vec::new(), Vec::new()];
            for _ in 0..40 {
                samples[0].push(if setup.is_mprotect() {
                    raw::with_handler(&memory, store)
                } else {
                    let raw = raw::Uffd::new(&memory);
                    raw.protect(&memory);
                    store()
                });
                let tracker = setup.tracker();
                tracker.register(memory.start, memory.len).expect("a range");
                tracker.protect(memory.span());
                samples[1].push(store());
                tracker.retire(memory.start);
            }
            let [alone, tracked] = samples.map(median);
            println!("  {name:<12} tracked {tracked:7.0}, alone {alone:7.0}: {:.2} times", tracked / alone);
        }
    }

    pub fn scans() {
        const POOL: usize = 600 << 20;
        let Some(setup) = Setup::new(MechanismChoice::Userfaultfd, 0) else { return };
        println!("a submission's fetch of 2.4 GB tracked and protected, 100 pages written, us (budget 1,000):");
        let memory = Memory::new(4 * POOL);
        (0..memory.len / PAGE).for_each(|page| memory.write(page * PAGE, 1));
        let touch = |bytes: usize, value: usize| {
            (0..100).for_each(|write| memory.write(write * (bytes / 100) / PAGE * PAGE, value as u8));
        };
        for (name, asked) in [("all of it asked about", 1), ("half of it asked about", 2), ("a quarter asked about", 4)]
        {
            let tracker = setup.tracker();
            for pool in 0..4 {
                tracker.register(memory.start + pool * POOL, POOL).expect("a range");
            }
            let part = Span::new(memory.start, memory.len / asked);
            let stamp = tracker.protect(memory.span());
            let samples = (0..120).map(|round| {
                touch(part.len, round);
                let sample = wall(|| {
                    black_box(tracker.fetch());
                });
                // A submission asks about what it uses.
                let mut parts = Vec::new();
                tracker.written_spans(part, stamp, &mut parts);
                assert!(parts.len() >= 99);
                sample
            });
            println!("  {name:<24} {:6.0}", median(samples.skip(20).collect()) / 1000.0);
        }
        let raw = raw::Uffd::new(&memory);
        raw.protect(&memory);
        let samples = (0..50).map(|round| {
            touch(memory.len, round);
            wall(|| raw.protect(&memory))
        });
        println!("  {:<24} {:6.0}", "the ioctl alone, all, by one thread", median(samples.collect()) / 1000.0);
    }

    pub fn hashes() {
        println!("opened pages hashed, GB/s a core (budget 10):");
        for (name, pages) in [("in cache", 64), ("from memory", 64 << 10)] {
            let bytes: Vec<u8> = (0..pages * PAGE).map(|at| (at * 7 + at / 251) as u8).collect();
            let mut copy = vec![0u8; PAGE];
            let mut samples = [Vec::new(), Vec::new(), Vec::new()];
            for _ in 0..(20_000 / pages).max(9) {
                samples[0].push(time(|| {
                    for page in bytes.chunks_exact(PAGE) {
                        // SAFETY: our own bytes.
                        black_box(unsafe { hash::fingerprint(page.as_ptr() as usize, PAGE) });
                    }
                }));
                samples[1].push(time(|| {
                    for page in bytes.chunks_exact(PAGE) {
                        copy.copy_from_slice(page);
                        black_box(&mut copy);
                    }
                }));
                samples[2].push(time(|| {
                    // As little as can be done with every byte: eight sums, so that no one waits for another.
                    let mut sums = [0u64; 8];
                    // SAFETY: every bit pattern is a number.
                    let (_, words, _) = unsafe { bytes.align_to::<u64>() };
                    for line in words.chunks_exact(8) {
                        for (sum, word) in sums.iter_mut().zip(line) {
                            *sum = sum.wrapping_add(*word);
                        }
                    }
                    black_box(sums);
                }));
            }
            let [hashed, copied, read] = samples.map(|s| bytes.len() as f64 / median(s));
            println!(
                "  {name:<12} hashed {hashed:5.1}; copied to a page {copied:5.1}: {:.2} times; only read {read:5.1}: {:.2} times",
                hashed / copied,
                hashed / read
            );
        }
    }

    pub fn pools() {
        println!("pools of 256 pages, 4,000 others registered, us:");
        for (name, setup) in setups() {
            let tracker = setup.tracker();
            let _others = registered(&tracker, 4000, 16 * PAGE);
            let memory = Memory::new(256 * PAGE);
            (0..256).for_each(|page| memory.write(page * PAGE, 1));
            let pool = each(100, |_| {
                tracker.register(memory.start, memory.len).expect("a range");
                tracker.retire(memory.start);
            });
            let span = Span::new(memory.start, 16 * PAGE);
            let protected = each(100, |_| {
                tracker.register(memory.start, memory.len).expect("a range");
                tracker.protect(span);
                tracker.retire(memory.start);
            });
            tracker.register(memory.start, memory.len).expect("a range");
            let again = each(100, |_| {
                memory.write(PAGE, 1);
                black_box(tracker.protect(span));
            });
            tracker.protect(memory.span());
            let bracket = each(20, |_| drop(tracker.open(&[memory.span()])));
            println!(
                "  {name:<12} register and retire {:.1}, with 16 pages protected {:.1}; a write and 16 pages protected again \
                 {:.1}; open and close {:.1}",
                pool / 1000.0,
                protected / 1000.0,
                again / 1000.0,
                bracket / 1000.0
            );
        }
    }
}
