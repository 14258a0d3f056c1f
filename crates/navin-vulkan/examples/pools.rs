//! Makes and finalizes pool imports, for callgrind and for a figure: `pools COUNT [POOL_KB]`.
//!
//! What is ours is the instructions of this program's own object; the driver's and the kernel's are not. Run it with
//! two counts and subtract, so that opening the device falls out.

use std::time::Instant;

use navin_vulkan::{Context, OpenOptions, PoolAccess, PoolBuffer, PoolStorage};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: usize| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (count, kilobytes) = (number(10_000), number(64));
    let context = match Context::open(&OpenOptions::default()) {
        Ok(context) => context,
        Err(error) => return eprintln!("{error}"),
    };
    let mut storage = vec![0u8; (kilobytes << 10) + 4096];
    let aligned = storage.as_mut_ptr().wrapping_add(storage.as_ptr().align_offset(4096));
    let storage = PoolStorage::new(aligned, (kilobytes << 10) as u64);
    let start = Instant::now();
    for _ in 0..count {
        // SAFETY: the vector lives until all imports are destroyed, which is at once: nothing is submitted.
        let pool = unsafe { PoolBuffer::new(&context, &storage, PoolAccess::Shared, "pool") };
        drop(pool.expect("an import"));
    }
    let each = start.elapsed() / count as u32;
    println!("{count} pools of {kilobytes} KB made and finalized, {each:?} each; {:?}", context.pool_counts());
}
