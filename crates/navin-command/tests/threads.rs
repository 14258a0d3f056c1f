//! Recording on many threads at once: what they share is the host, which lends and knows control memory.

mod guest;

use guest::*;
use navin_command::{CommandBuffer, Host, flatten};

const THREADS: usize = 16;

/// Each thread records lists that run short, calls and copies its own and those of the thread before it, and finds
/// what it recorded; a reader asks for all buffers' sizes meanwhile (B227).
#[test]
fn b227_sixteen_threads_record_at_once() {
    let host: &'static Host = host();
    let ready = &std::sync::Barrier::new(THREADS);
    let sizes: Vec<std::sync::atomic::AtomicUsize> = (0..THREADS).map(|_| Default::default()).collect();
    let sizes = &sizes;
    let stop = &std::sync::atomic::AtomicBool::new(false);
    let order = std::sync::atomic::Ordering::SeqCst;
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let mut reads = 0;
            while !stop.load(order) {
                for object in sizes {
                    let object = object.load(order);
                    if object != 0 {
                        // SAFETY: objects are leaked; only the grant's size is read here.
                        let size = unsafe { CommandBuffer::new(object as *mut _) }.unwrap().command_memory_size();
                        assert!(size == 512 || size == 1024, "{size} was never granted");
                        reads += 1;
                    }
                }
            }
            reads
        });
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                scope.spawn(move || {
                    let pool = Pool::new(0x100_0000 * (thread as u64 + 1), 8192);
                    let guest = Guest::new().with_command(host, &pool, 0, 512).with_control(host, 1 << 16);
                    let caller = Guest::new().with_command(host, &pool, 4096, 1024).with_control(host, 1 << 16);
                    sizes[thread].store(guest.object() as usize, order);
                    ready.wait();
                    for round in 0..60u32 {
                        let size = if round % 2 == 0 { 512 } else { 1024 };
                        grant(guest.buffer(), host, &pool, 0, size);
                        let numbers = || (0..200).map(move |draw| thread as u32 * 1_000_000 + round * 1000 + draw);
                        let list = guest.record_draws(host, numbers());
                        grant(caller.buffer(), host, &pool, 4096, 1024);
                        caller.buffer().begin(host);
                        caller.buffer().call(host, [list]);
                        caller.draws(host, [round]);
                        caller.buffer().copy(host, &pool, [list]);
                        let called = caller.buffer().end(host);
                        let expected: Vec<u32> = numbers().chain([round]).chain(numbers()).collect();
                        assert_eq!(counts(&flatten(host, &pool, [called])), expected, "thread {thread}");
                    }
                    assert!(guest.guards_are_whole() && caller.guards_are_whole());
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        stop.store(true, order);
        assert!(reader.join().unwrap() > 0);
    });
    let most = 2 * 2 * THREADS as u64 * navin_command::LENT_SEGMENT as u64;
    assert!(host.lent_bytes() <= most, "{} bytes are lent", host.lent_bytes());
}
