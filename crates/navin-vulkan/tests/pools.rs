//! Pool buffers: every way that a storage reaches the GPU, and how they end.
#![cfg(target_os = "linux")]

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use common::memory::{Mapping, Memfd};
use common::*;
use navin_vulkan::{
    Backing, Buffer, CHUNK_STRIDE, ChunkedImport, Context, DeviceLocalChoice, ImportChoice, ImportError, MemoryKind,
    OpenOptions, PoolAccess, PoolBuffer, PoolStorage, ProbeOutcome, Refusals, StorageKind, UNKNOWN_LENGTH,
    refuse_imports, vk,
};

fn pool(context: &Arc<Context>, storage: PoolStorage) -> PoolBuffer {
    // SAFETY: the tests make their mappings before the pools over them, and wait before they unmap.
    unsafe { PoolBuffer::new(context, &storage, PoolAccess::Shared, "pool") }.expect("a pool buffer")
}

fn forced(import: ImportChoice) -> OpenOptions {
    OpenOptions { import, ..Default::default() }
}

/// Has the GPU copy `len` bytes within a pool, and waits.
fn copy_within(context: &Arc<Context>, pool: &PoolBuffer, from: u64, to: u64, len: u64) {
    let mut encoder = context.queue().begin().expect("encoder");
    let (from, to) = (pool.range(from, len), pool.range(to, len));
    let copy = vk::BufferCopy2::default().src_offset(from.offset).dst_offset(to.offset).size(len);
    encoder.copy_buffer(pool.raw(), pool.raw(), &[copy]);
    submit_and_wait(context, encoder);
}

/// The bytes that the GPU sees in a range.
fn gpu_bytes(context: &Arc<Context>, range: navin_vulkan::BufferRange) -> Vec<u8> {
    let back = Buffer::new(context, range.size, MemoryKind::Readback, "back").expect("buffer");
    let mut encoder = context.queue().begin().expect("encoder");
    let copy = vk::BufferCopy2::default().src_offset(range.offset).size(range.size);
    encoder.copy_buffer(range.buffer, back.raw(), &[copy]);
    submit_and_wait(context, encoder);
    let mut bytes = vec![0; range.size as usize];
    assert!(back.read(0, &mut bytes));
    bytes
}

fn pattern(seed: u8, len: usize) -> Vec<u8> {
    (0..len).map(|n| (n as u8).wrapping_mul(13) ^ (n >> 8) as u8 ^ seed).collect()
}

#[test]
fn a_probe_tells_which_ways_of_import_work() {
    let Some(context) = open() else { return };
    let probe = context.import_probe();
    eprintln!("{probe:?}");
    let tried = [&probe.anonymous, &probe.memfd, &probe.memfd_second, &probe.dma_buf];
    assert!(tried.iter().all(|outcome| **outcome != ProbeOutcome::NotTried));
    if context.features().host_import {
        assert!(probe.anonymous.works(), "a device with the extension takes at least anonymous pages");
    }
    if !std::path::Path::new("/dev/udmabuf").exists() {
        let ProbeOutcome::Lacking(why) = &probe.dma_buf else { panic!("{:?}", probe.dma_buf) };
        assert!(why.contains("/dev/udmabuf"), "{why}");
    }
    assert_eq!(context.pool_counts().imports, 0, "the probe leaves nothing");
    let report = context.report();
    assert_eq!(&report.import_probe, probe);
    let protection = context.probe_protection();
    eprintln!("{protection:?}");
    assert_eq!(report.with_protection(protection.clone()).protection_probe, Some(protection));
}

#[test]
fn guest_and_gpu_share_a_memfd_through_a_second_mapping() {
    let Some(context) = open() else { return };
    if !context.import_probe().memfd_second.works() {
        return eprintln!("SKIPPED: the device imports no memfd");
    }
    let memory = Memfd::new(64 << 10);
    let pool = pool(&context, memory.storage(0x1100, true));
    assert_eq!((pool.kind(), pool.bias(), pool.len()), (StorageKind::HostPointer, 0x100, (64 << 10) - 0x1100));
    memory.first.write(0x1100, &pattern(1, 4096));
    // The guest's mapping is read-only while the GPU writes: the import never meets the protection.
    let protect = |access| {
        // SAFETY: our own mapping; made writable again below.
        assert_eq!(unsafe { libc::mprotect(memory.first.ptr.cast(), memory.first.len, access) }, 0);
    };
    protect(libc::PROT_READ);
    copy_within(&context, &pool, 0, 0x8000, 4096);
    assert_eq!(memory.first.read(0x1100 + 0x8000, 4096), pattern(1, 4096));
    protect(libc::PROT_READ | libc::PROT_WRITE);
    drop(pool);
    context.queue().wait_idle().expect("idle");
}

#[test]
fn a_dma_buf_is_imported_with_its_offset() {
    let Some(context) = open_with(forced(ImportChoice::DmaBuf)) else { return };
    let private = Mapping::anonymous(4096);
    // SAFETY: nothing is imported.
    let refused = unsafe { PoolBuffer::new(&context, &private.storage(), PoolAccess::Shared, "private") };
    let Err(ImportError::Unsupported(why)) = refused else { panic!("{refused:?}") };
    eprintln!("{why}");
    if !context.features().dma_buf {
        assert!(why.contains("VK_EXT_external_memory_dma_buf"), "{why}");
        return eprintln!("SKIPPED: the device imports no dma-bufs");
    }
    assert!(why.contains("memfd"), "{why}");
    let memory = Memfd::new(64 << 10);
    if !context.import_probe().dma_buf.works() {
        // SAFETY: as above.
        let refused = unsafe { PoolBuffer::new(&context, &memory.storage(0, true), PoolAccess::Shared, "memfd") };
        let Err(ImportError::Unsupported(why)) = refused else { panic!("{refused:?}") };
        assert!(why.contains("/dev/udmabuf"), "{why}");
    }
    // Mesa's CPU device maps whatever descriptor it is given, so that the Vulkan side is tested without udmabuf. Other
    // drivers want true dma-bufs.
    let cpu = context.report().kind == "cpu";
    let storage = if cpu {
        PoolStorage { backing: Backing::DmaBuf { fd: memory.fd, offset: 0x1000 }, ..memory.storage(0x1000, false) }
    } else if context.import_probe().dma_buf.works() {
        memory.storage(0x1000, false)
    } else {
        return eprintln!("SKIPPED: no dma-buf can be made here");
    };
    // SAFETY: as for `pool`.
    let pool = match unsafe { PoolBuffer::new(&context, &storage, PoolAccess::Shared, "dma-buf") } {
        Ok(pool) => pool,
        Err(error) if cpu => return eprintln!("SKIPPED: this CPU device wants true dma-bufs: {error}"),
        Err(error) => panic!("{error}"),
    };
    assert_eq!(pool.kind(), StorageKind::DmaBuf);
    memory.first.write(0x1000, &pattern(2, 4096));
    copy_within(&context, &pool, 0, 0x2000, 4096);
    assert_eq!(memory.first.read(0x3000, 4096), pattern(2, 4096));
    drop(pool);
    context.queue().wait_idle().expect("idle");
}

#[test]
fn a_mirror_carries_the_guest_s_writes_up_and_the_gpu_s_back() {
    let Some(context) = open_with(forced(ImportChoice::Mirror)) else { return };
    let memory = Mapping::anonymous(1 << 20);
    memory.write(0, &pattern(3, 8192));
    let pool = pool(&context, memory.storage());
    assert_eq!((pool.kind(), pool.shares_storage()), (StorageKind::Mirror, false));
    let mut encoder = context.queue().begin().expect("encoder");
    assert_eq!(pool.upload(&mut encoder, &[0..8192, 0x8000..0x8004, (1 << 20) - 4..u64::MAX]).expect("staged"), 8200);
    // The GPU copies 1,000 bytes to an odd place and fills a word.
    let ranges = [(1 << 20) - 4096..1 << 20, 0x10000..0x11000, 0x11000..0x12000, 5..5];
    let mut back = pool.track_writes(&mut encoder, &ranges).expect("staging").expect("a mirror needs it");
    assert_eq!(back.ranges(), [0xff000..0x10_0000, 0x10000..0x12000], "in order, neighbours joined");
    let copy = vk::BufferCopy2::default().src_offset(4).dst_offset(0x10801).size(1000);
    encoder.copy_buffer(pool.raw(), pool.raw(), &[copy]);
    encoder.fill_buffer(pool.range((1 << 20) - 8, 4), 0x0908_0706);
    back.record(&mut encoder);
    submit_and_wait(&context, encoder);
    // Meanwhile the guest has written beside it.
    memory.write(0x10800, &[77]);
    memory.write(0x10801 + 1000, &[78]);
    let mut blocks = Vec::new();
    let changed = pool.write_back(&back, |offset, old, new| {
        assert_ne!(old, new);
        blocks.push(offset);
    });
    assert!(blocks[0] >= 0xff000 && blocks[1..].is_sorted() && blocks.len() <= 7, "in order: {blocks:x?}");
    assert!((900..=1004).contains(&changed), "{changed} bytes: equal ones do not count");
    assert_eq!(memory.read(0x10801, 1000), pattern(3, 8192)[4..1004]);
    assert_eq!((memory.read(0x10800, 1), memory.read(0x10801 + 1000, 1)), (vec![77], vec![78]));
    assert_eq!(memory.read((1 << 20) - 8, 4), [6, 7, 8, 9]);
    assert_eq!(memory.read(0, 8192), pattern(3, 8192));
    // What was not uploaded is not there: the guest's write beside is the driver's to upload.
    assert_eq!(gpu_bytes(&context, pool.range(0x10800, 1)), [0]);
    drop(pool);
    context.queue().wait_idle().expect("idle");
    assert_eq!(context.pool_counts(), Default::default());
}

#[test]
fn imports_need_no_uploads_and_no_write_back() {
    let Some(context) = open() else { return };
    let memory = Mapping::anonymous(8192);
    let pool = pool(&context, memory.storage());
    if !pool.shares_storage() {
        return eprintln!("SKIPPED: the device imports nothing");
    }
    let mut encoder = context.queue().begin().expect("encoder");
    let ranges = [0..4096, 4096..8192];
    assert_eq!(pool.upload(&mut encoder, &ranges).expect("nothing to do"), 0);
    assert!(pool.track_writes(&mut encoder, &ranges).expect("nothing to do").is_none());
    drop(encoder);
    drop(pool);
    context.queue().wait_idle().expect("idle");
}

#[test]
fn b315_a_pool_without_cpu_access_begins_with_what_its_storage_held() {
    let options = OpenOptions { device_local: DeviceLocalChoice::Always, ..Default::default() };
    let Some(context) = open_with(options) else { return };
    let len = (40 << 20) + 20;
    let memory = Mapping::anonymous(len);
    // Zeroes, content, zeroes, content, and an odd end; more than one batch of content in between.
    memory.write(3 << 20, &pattern(4, 5000));
    for piece in 5..39 {
        memory.write(piece << 20, &pattern(piece as u8, 64));
    }
    memory.write(len - 20, &pattern(5, 20));
    // SAFETY: as for `pool`.
    let pool = unsafe { PoolBuffer::new(&context, &memory.storage(), PoolAccess::GpuOnly, "0x21") }.expect("a pool");
    assert_eq!((pool.kind(), pool.bias()), (StorageKind::DeviceLocal, 0));
    // What happens to the storage afterwards is nothing to the pool.
    let before = memory.read(3 << 20, 5000);
    memory.write(3 << 20, &[0xee; 5000]);
    assert_eq!(gpu_bytes(&context, pool.range(3 << 20, 5000)), before);
    assert_eq!(gpu_bytes(&context, pool.range(0, 4096)), vec![0; 4096]);
    for piece in [5usize, 20, 38] {
        assert_eq!(gpu_bytes(&context, pool.range((piece as u64) << 20, 128))[..64], pattern(piece as u8, 64));
    }
    assert_eq!(gpu_bytes(&context, pool.range(len as u64 - 20, 20)), pattern(5, 20));
    // Nor the other way, unless asked for.
    copy_within(&context, &pool, 3 << 20, 0, 5000);
    assert_eq!(memory.read(0, 8), [0; 8]);
    pool.read_back(&context, 0, 5000).expect("read back");
    assert_eq!(memory.read(0, 5000), before);
    // The CPU sees pools with access as before.
    let shared = crate::pool(&context, memory.storage());
    assert_ne!(shared.kind(), StorageKind::DeviceLocal);
    drop((pool, shared));
    context.queue().wait_idle().expect("idle");
    assert_eq!(context.pool_counts(), Default::default());
}

#[test]
fn b315_a_shared_memory_device_imports_pools_without_cpu_access_too() {
    let Some(context) = open() else { return };
    let memory = Mapping::anonymous(64 << 10);
    // SAFETY: as for `pool`.
    let pool = unsafe { PoolBuffer::new(&context, &memory.storage(), PoolAccess::GpuOnly, "0x21") }.expect("a pool");
    assert_eq!(pool.kind() == StorageKind::DeviceLocal, context.report().kind == "discrete");
    drop(pool);
    context.queue().wait_idle().expect("idle");
}

/// Fault lines so far, of all tests of this program.
fn lines() -> &'static Mutex<Vec<String>> {
    static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    navin_abi::fault::listen(|behaviour, what| LINES.lock().unwrap().push(format!("{what} [{behaviour}]")));
    &LINES
}

/// B107's lines that name an address.
fn lines_of(address: usize) -> Vec<String> {
    let name = format!("{address:#x}");
    let lines = lines().lock().unwrap();
    lines.iter().filter(|line| line.contains("[B107]") && line.contains(&name)).cloned().collect()
}

/// A driver that refuses a few times is asked again, through the call that pools are made by; one that refuses for good
/// is told of with what is mapped there.
#[test]
fn b107_refusals_are_outlived_and_told() {
    lines();
    let Some(context) = open() else { return };
    if !context.import_probe().anonymous.works() {
        return eprintln!("SKIPPED: the device imports nothing by pointer");
    }
    let memory = Mapping::anonymous(64 << 10);
    let start = memory.storage().ptr as usize;
    let range = start as u64..start as u64 + (64 << 10);
    refuse_imports(range.clone(), 3);
    let pool = crate::pool(&context, memory.storage());
    assert_eq!(pool.kind(), StorageKind::HostPointer, "no other way was taken");
    let said = lines_of(start);
    assert!(matches!(&said[..], [line] if line.contains("succeeded at retry 3")), "{said:?}");
    drop(pool);
    // More than it is asked: no import takes the pages.
    let other = Mapping::anonymous(64 << 10);
    let start = other.storage().ptr as usize;
    refuse_imports(start as u64..start as u64 + (64 << 10), u32::MAX);
    // SAFETY: as for `pool`.
    let refused = unsafe { PoolBuffer::import(&context, &other.storage(), Refusals::Outlived, "refused") };
    refuse_imports(0..0, 0);
    assert!(matches!(refused, Err(ImportError::Refused(_))));
    let said = lines_of(start);
    let [line] = &said[..] else { panic!("{said:?}") };
    assert!(line.contains("failed for good") && line.contains("this kind of mapping"), "{line}");
    let mapped = format!("{start:x}-");
    let held = |line: &str| line.trim().starts_with(&mapped) || line.contains(" rw-p ");
    assert!(line.lines().skip(1).any(held), "what is mapped there: {line}");
    context.queue().wait_idle().expect("idle");
}

#[test]
fn b107_imports_beside_a_region_that_is_mapped_and_unmapped() {
    const REGION: usize = 4 << 30;
    const PIECE: usize = 4 << 20;
    let Some(context) = open() else { return };
    let access = libc::PROT_NONE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a reservation where the system likes; unmapped below.
    let region = unsafe { libc::mmap(std::ptr::null_mut(), REGION, access, flags, -1, 0) };
    assert_ne!(region, libc::MAP_FAILED);
    let address = region as usize;
    let map = |offset: usize, len: usize, access: i32| {
        let at = (address + offset) as *mut libc::c_void;
        // SAFETY: inside the reservation, in the half of the thread that calls it.
        let mapped = unsafe { libc::mmap(at, len, access, flags | libc::MAP_FIXED, -1, 0) };
        assert_eq!(mapped, at);
    };
    lines();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut turn = 0usize;
            while !done.load(Ordering::Relaxed) {
                let offset = REGION / 2 + (turn * 7 % (REGION / 2 / PIECE - 1)) * PIECE;
                map(offset, PIECE, libc::PROT_READ | libc::PROT_WRITE);
                // SAFETY: just mapped, by this thread alone.
                unsafe { ((address + offset) as *mut u8).write_volatile(1) };
                map(offset, PIECE, libc::PROT_NONE);
                turn += 1;
            }
        });
        for turn in 0..300usize {
            let offset = turn * 3 % (REGION / 2 / PIECE) * PIECE;
            map(offset, PIECE, libc::PROT_READ | libc::PROT_WRITE);
            let storage = PoolStorage::new((address + offset) as *mut u8, PIECE as u64);
            let pool = pool(&context, storage);
            if turn % 30 == 0 && pool.shares_storage() {
                let mut encoder = context.queue().begin().expect("encoder");
                encoder.fill_buffer(pool.range(4096, 4096), turn as u32);
                submit_and_wait(&context, encoder);
                // SAFETY: mapped, and the GPU is done.
                assert_eq!(unsafe { ((address + offset + 8188) as *const u32).read_volatile() }, turn as u32);
            }
            drop(pool);
            context.queue().wait_idle().expect("idle");
            map(offset, PIECE, libc::PROT_NONE);
        }
        done.store(true, Ordering::Relaxed);
    });
    // SAFETY: the reservation; no import is left in it.
    unsafe { libc::munmap(region, REGION) };
    assert_eq!(context.pool_counts(), Default::default());
    // Without a refusal no line is written.
    if context.report().kind == "cpu" {
        let said: Vec<_> = (0..REGION).step_by(PIECE).flat_map(|piece| lines_of(address + piece)).collect();
        assert!(said.is_empty(), "{said:?}");
    }
}

#[test]
fn b124_a_finalized_pool_waits_for_its_encoder_and_no_longer() {
    let Some(context) = open() else { return };
    let memory = Mapping::anonymous(64 << 10);
    let used = pool(&context, memory.storage());
    let mut encoder = context.queue().begin().expect("encoder");
    encoder.fill_buffer(used.range(0, 4096), 7);
    drop(used);
    let counts = context.pool_counts();
    assert_eq!((counts.live, counts.retired), (0, 1), "the encoder may use it");
    assert!(counts.retired_bytes >= 64 << 10);
    let value = context.queue().submit(encoder).expect("submitted");
    assert!(context.queue().wait(value, std::time::Duration::from_secs(60)).expect("alive"));
    context.queue().collect();
    assert_eq!(context.pool_counts(), Default::default());
    // An encoder that began after the drop holds nothing.
    let late = pool(&context, memory.storage());
    drop(late);
    let _encoder = context.queue().begin().expect("encoder");
    assert_eq!(context.pool_counts(), Default::default());
}

#[test]
fn b125_pools_finalized_on_threads_that_stay_alive_leave_nothing() {
    let Some(context) = open() else { return };
    let memory: Vec<Mapping> = (0..4).map(|_| Mapping::anonymous(256 << 10)).collect();
    let (finalized, checked) = (Barrier::new(5), Barrier::new(5));
    std::thread::scope(|scope| {
        for memory in &memory {
            let (context, finalized, checked) = (&context.0, &finalized, &checked);
            scope.spawn(move || {
                for round in 0..25 {
                    let pool = pool(context, memory.storage());
                    if round % 5 == 0 {
                        let mut encoder = context.queue().begin().expect("encoder");
                        encoder.fill_buffer(pool.range(0, 4096), round);
                        context.queue().submit(encoder).expect("submitted");
                    }
                }
                finalized.wait();
                // The thread lives on, and does nothing for Navin any more.
                checked.wait();
            });
        }
        finalized.wait();
        // The completion thread's part.
        let last = context.queue().submitted();
        assert!(context.queue().wait(last, std::time::Duration::from_secs(60)).expect("alive"));
        context.queue().collect();
        for _ in 0..1000 {
            assert_eq!(context.pool_counts(), Default::default());
        }
        checked.wait();
    });
}

#[test]
fn b650_pools_made_and_finalized_without_a_submission_stay_bounded() {
    for import in [ImportChoice::Auto, ImportChoice::Mirror] {
        let Some(context) = open_with(forced(import)) else { return };
        let memory = Mapping::anonymous(10 << 20);
        let submitted = context.queue().submitted();
        let before = context.report().allocated;
        for _ in 0..1000 {
            let pool = pool(&context, memory.storage());
            drop(pool);
            assert_eq!(context.pool_counts().retired, 0, "its release needs no submission (B651)");
        }
        let grown = context.report().allocated.saturating_sub(before);
        assert!(grown <= 300 << 20, "{grown:#x} bytes");
        assert_eq!(context.queue().submitted(), submitted);
    }
}

#[test]
fn b650_device_local_pools_that_no_submission_saw_leave_nothing() {
    let options = OpenOptions { device_local: DeviceLocalChoice::Always, ..Default::default() };
    let Some(context) = open_with(options) else { return };
    let memory = Mapping::anonymous(10 << 20);
    memory.write(5 << 20, &pattern(6, 4096));
    let before = context.report().allocated;
    for _ in 0..200 {
        // SAFETY: as for `pool`.
        let pool = unsafe { PoolBuffer::new(&context, &memory.storage(), PoolAccess::GpuOnly, "0x21") };
        drop(pool.expect("a pool"));
        assert_eq!((context.pool_counts().retired, context.waiting_for_release()), (0, 0));
    }
    assert!(context.report().allocated.saturating_sub(before) <= 300 << 20);
    // The next submission has nothing to fill.
    let encoder = context.queue().begin().expect("encoder");
    submit_and_wait(&context, encoder);
}

#[test]
fn b650_a_submission_s_end_releases_without_another_one() {
    let Some(context) = open() else { return };
    let memory = Mapping::anonymous(1 << 20);
    let used = pool(&context, memory.storage());
    let mut encoder = context.queue().begin().expect("encoder");
    encoder.fill_buffer(used.range(0, 1 << 20), 1);
    let value = context.queue().submit(encoder).expect("submitted");
    assert!(context.queue().wait(value, std::time::Duration::from_secs(60)).expect("alive"));
    // Its last use is complete: the drop itself releases, though nobody has collected since.
    drop(used);
    assert_eq!(context.pool_counts(), Default::default());
}

#[test]
fn b122_chunks_come_with_lookups_and_hold_what_was_asked_for() {
    let Some(context) = open() else { return };
    const LEN: usize = 544 << 20;
    let stride = CHUNK_STRIDE as usize;
    let memory = Mapping::anonymous(LEN);
    for offset in [0, stride - 4, stride, 2 * stride - 4, 5 * stride - 8, 5 * stride + 8, LEN - 4] {
        memory.write(offset, &(offset as u32 | 1).to_ne_bytes());
    }
    let word = |range: navin_vulkan::BufferRange, inside: u64| {
        let at = navin_vulkan::BufferRange { offset: range.offset + inside, size: 4, ..range };
        u32::from_ne_bytes(gpu_bytes(&context, at).try_into().expect("4 bytes"))
    };
    // SAFETY: the mapping outlives the import.
    let large = unsafe { ChunkedImport::new(&context, &memory.storage(), "large") };
    assert_eq!(large.totals(), (0, 0), "nothing is made before a lookup");
    let first = large.range(stride as u64, 4).expect("chunk");
    assert_eq!(large.totals(), (1, CHUNK_STRIDE), "to the stride's end");
    assert_eq!(word(first, 0), stride as u32 | 1);
    let last = large.range(2 * CHUNK_STRIDE - 4, 4).expect("the same chunk");
    assert_eq!((last.buffer, last.offset), (first.buffer, first.offset + CHUNK_STRIDE - 4));
    assert_eq!(word(last, 0), (2 * stride - 4) as u32 | 1);
    // Over a stride's border.
    let over = large.range(5 * CHUNK_STRIDE - 8, 20).expect("chunk");
    assert_eq!((word(over, 0), word(over, 16)), ((5 * stride - 8) as u32 | 1, (5 * stride + 8) as u32 | 1));
    assert_eq!(large.totals(), (2, 3 * CHUNK_STRIDE));
    // A larger second request: the chunk grows, downwards neighbours join where they meet.
    let mut covered = 0..0;
    let grown = large.range_within(2 * CHUNK_STRIDE - 4, 8, |bytes, import| {
        covered = bytes;
        import()
    });
    let grown = grown.expect("chunk");
    assert_eq!(covered, CHUNK_STRIDE..3 * CHUNK_STRIDE, "the whole import is told, not what was asked for (B123)");
    assert_ne!(grown.buffer, first.buffer);
    assert_eq!(word(grown, 0), (2 * stride - 4) as u32 | 1);
    assert_eq!(large.totals(), (2, 4 * CHUNK_STRIDE), "chunks never overlap");
    // Unknown length: 64 MB, or to the pool's end.
    let unknown = large.range(0, UNKNOWN_LENGTH).expect("chunk");
    assert_eq!((unknown.size, word(unknown, CHUNK_STRIDE)), (UNKNOWN_LENGTH, stride as u32 | 1));
    let (count, bytes) = large.totals();
    assert_eq!((count, bytes), (2, 6 * CHUNK_STRIDE), "0 to 64 MB met 16 to 48 MB, and touches 64 to 96 MB");
    let end = large.range(LEN as u64 - 4, UNKNOWN_LENGTH).expect("chunk");
    assert_eq!((end.size, word(end, 0)), (4, (LEN - 4) as u32 | 1));
    assert!(matches!(large.range(LEN as u64, 4), Err(ImportError::Empty)));
    drop(large);
    context.queue().wait_idle().expect("idle");
    assert_eq!(context.pool_counts(), Default::default(), "nothing is left");
}

#[test]
fn b122_a_replaced_chunk_lives_until_its_work_is_done() {
    let Some(context) = open() else { return };
    let memory = Mapping::anonymous(512 << 20);
    // SAFETY: the mapping outlives the import.
    let large = unsafe { ChunkedImport::new(&context, &memory.storage(), "large") };
    let mut encoder = context.queue().begin().expect("encoder");
    let short = large.range(0, 4096).expect("chunk");
    encoder.fill_buffer(short, 0x0101_0101);
    let long = large.range(0, 32 << 20).expect("chunk");
    assert_ne!(short.buffer, long.buffer);
    assert_eq!(context.pool_counts().retired, 1);
    // Accesses through overlapping imports are ordered by global barriers, as all of the encoder's are.
    encoder.barrier_all();
    let over = navin_vulkan::BufferRange { size: 2048, ..long };
    encoder.fill_buffer(over, 0x0202_0202);
    submit_and_wait(&context, encoder);
    context.queue().collect();
    assert_eq!(context.pool_counts().retired, 0);
    if context.import_probe().anonymous.works() {
        assert_eq!((memory.read(0, 1), memory.read(2048, 1)), (vec![2], vec![1]));
    }
    large.clear();
    context.queue().wait_idle().expect("idle");
}

#[test]
fn b652_statistics_make_no_chunks() {
    let Some(context) = open() else { return };
    let memory = Mapping::anonymous(2432 << 20);
    // SAFETY: the mapping outlives the import.
    let large = unsafe { ChunkedImport::new(&context, &memory.storage(), "large") };
    for offset in (0..2432 << 20).step_by(80 << 20) {
        assert!(large.find(offset, 80 << 20).is_none());
    }
    let _ = (large.totals(), context.pool_counts(), context.report(), context.waiting_for_release());
    assert_eq!(large.totals(), (0, 0));
    assert_eq!(context.pool_counts(), Default::default());
    let made = large.range(80 << 20, 4).expect("chunk");
    assert_eq!(large.find(80 << 20, 4).map(|range| (range.buffer, range.offset)), Some((made.buffer, made.offset)));
}
