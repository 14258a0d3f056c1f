//! Memory through the whole driver: what making and ending a pool costs, and what watched textures cost a submission.
//! Figures are medians of one run; each is beside what it is to be compared with.

#[path = "../tests/memory_guest/mod.rs"]
mod memory_guest;

use std::time::{Duration, Instant};

use memory_guest::{CACHED, Guest, Memory, alone, counter, map_anonymous, storage};
use navin_abi::enums::NVNmemoryPoolFlags;
use navin_abi::types::*;
use nvn::trampolines::*;

fn main() {
    let _alone = alone();
    let guest = Guest::new();
    pools(&guest);
    submissions(&guest);
}

/// The median of `count` calls, microseconds.
fn median(count: usize, mut call: impl FnMut(usize) -> Duration) -> f64 {
    let mut samples: Vec<Duration> = (0..count).map(&mut call).collect();
    samples.sort_unstable();
    samples[samples.len() / 2].as_nanos() as f64 / 1000.0
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// A pool's life, in objects that are used again, as guests do: new ones would cost more than the pool.
fn pool_and_end(
    guest: &Guest,
    (builder, pool): (*mut NVNmemoryPoolBuilder, *mut NVNmemoryPool),
    memory: *mut u8,
    bytes: usize,
    flags: i32,
) {
    // SAFETY: objects of sufficient size, and memory of so many bytes.
    unsafe {
        nvnMemoryPoolBuilderSetDefaults(builder);
        nvnMemoryPoolBuilderSetDevice(builder, guest.device);
        nvnMemoryPoolBuilderSetFlags(builder, NVNmemoryPoolFlags(flags));
        nvnMemoryPoolBuilderSetStorage(builder, memory.cast(), bytes);
        assert_eq!(nvnMemoryPoolInitialize(pool, builder), NVN_TRUE);
        nvnMemoryPoolFinalize(pool);
    }
}

fn pools(guest: &Guest) {
    println!("making and finalizing a pool, us (budget 30):");
    let others = storage::<u8>(4000 << 12);
    let objects = (storage(4096), storage(4096));
    let mut kept = Vec::new();
    for count in [0, 4000] {
        kept.extend(
            (kept.len()..count).map(|n| guest.pool_at(others.wrapping_add(n << 12), 4096, 0x64).expect("a pool")),
        );
        for (name, memory) in [("private memory", Memory::Private), ("memory of navin_alloc", Memory::Navin)] {
            for kilobytes in [64, 1024] {
                let bytes = kilobytes << 10;
                let at = memory.take(bytes);
                // SAFETY: as many bytes of ours.
                unsafe { at.write_bytes(1, bytes) };
                let both = median(300, |_| timed(|| pool_and_end(guest, objects, at, bytes, CACHED)));
                let code = median(300, |_| timed(|| pool_and_end(guest, objects, at, bytes, 0x64)));
                println!(
                    "  {name:<22} {kilobytes:>5} KB, {count:>4} others: {both:6.1}; of shader code, which is not imported: {code:5.1}"
                );
            }
        }
    }
}

fn submissions(guest: &Guest) {
    const MB: usize = 1 << 20;
    const TEXTURES: usize = 600;
    println!("an empty submission and the wait for it, us:");
    // SAFETY: a live command buffer.
    let submit = || timed(|| guest.run(|c| unsafe { nvnCommandBufferBarrier(c, NVNbarrierBits(1)) }));
    let alone = median(300, |_| submit());
    let pool = guest.pool_at(map_anonymous(TEXTURES * MB), TEXTURES * MB, CACHED).expect("a pool");
    let textures: Vec<_> = (0..TEXTURES).map(|n| guest.linear(&pool, n * MB, 512)).collect();
    for page in 0..TEXTURES * MB / 4096 {
        pool.write(page * 4096, &[1]);
    }
    textures.iter().for_each(|texture| assert_eq!(guest.texel(*texture)[0], 1));
    let still = median(100, |_| submit());
    let written = median(100, |round| {
        (0..100).for_each(|n| pool.write(n * 6 * MB, &[round as u8]));
        submit()
    });
    let mechanism = navin::counters().map(|counters| counters["memory"]["tracking"]["mechanism"].clone());
    println!("  without a watched texture          {alone:7.1}");
    println!("  {TEXTURES} MB of them, nothing written      {still:7.1}");
    println!("  100 pages of them written, not used {written:6.1}");
    println!(
        "  tracked by {}, {} pages found written",
        mechanism.unwrap_or_default(),
        counter("memory.tracking.fetched")
    );
}
