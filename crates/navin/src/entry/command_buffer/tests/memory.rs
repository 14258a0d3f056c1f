//! Command and control memory as the getters tell it, through the entry table.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::*;

/// Bytes of a recorded DrawArrays.
const DRAW: usize = 12;
/// Bytes of a control entry.
const ENTRY: usize = 8;

/// A command buffer that was given nothing.
fn bare() -> *mut NVNcommandBuffer {
    let buffer = memory(sizes::MIN_NVNCOMMANDBUFFER).as_ptr().cast();
    let device: *mut NVNdevice = object(&DeviceRecord::new(0));
    assert_eq!(nvn!(nvnCommandBufferInitialize(buffer, device)), NVN_TRUE);
    buffer
}

/// Size, used and free of the command memory.
fn command(buffer: *mut NVNcommandBuffer) -> [usize; 3] {
    [
        nvn!(nvnCommandBufferGetCommandMemorySize(buffer)),
        nvn!(nvnCommandBufferGetCommandMemoryUsed(buffer)),
        nvn!(nvnCommandBufferGetCommandMemoryFree(buffer)),
    ]
}

/// Size, used and free of the control memory.
fn control(buffer: *mut NVNcommandBuffer) -> [usize; 3] {
    [
        nvn!(nvnCommandBufferGetControlMemorySize(buffer)),
        nvn!(nvnCommandBufferGetControlMemoryUsed(buffer)),
        nvn!(nvnCommandBufferGetControlMemoryFree(buffer)),
    ]
}

fn pool() -> *mut NVNmemoryPool {
    let commands = memory(COMMANDS);
    object(&MemoryPoolRecord::new(1, GPU, commands.as_ptr() as u64, COMMANDS as u64, 0x22))
}

fn add(buffer: *mut NVNcommandBuffer, pool: *mut NVNmemoryPool, offset: isize, bytes: usize) {
    nvn!(nvnCommandBufferAddCommandMemory(buffer, pool, offset, bytes));
}

fn draws(buffer: *mut NVNcommandBuffer, count: i32) {
    (0..count).for_each(|n| nvn!(nvnCommandBufferDrawArrays(buffer, NVNdrawPrimitive::LINES, n, 1)));
}

fn recording(buffer: *mut NVNcommandBuffer, count: i32) -> u64 {
    nvn!(nvnCommandBufferBeginRecording(buffer));
    draws(buffer, count);
    nvn!(nvnCommandBufferEndRecording(buffer))
}

#[test]
fn b216_control_memory_getters_answer_from_the_last_grant() {
    let (buffer, pool) = (bare(), pool());
    assert_eq!(control(buffer), [0, 0, 0], "before any block");
    add(buffer, pool, 0, 4096);
    nvn!(nvnCommandBufferAddControlMemory(buffer, memory(1024).as_ptr().cast(), 1024));
    assert_eq!(control(buffer), [1024, 0, 1024], "after one");
    let list = recording(buffer, 3);
    assert_eq!(control(buffer), [1024, ENTRY, 1024 - ENTRY], "a recording is one entry");
    nvn!(nvnCommandBufferBeginRecording(buffer));
    draws(buffer, 2);
    nvn!(nvnCommandBufferCallCommands(buffer, 1, &list));
    draws(buffer, 2);
    assert_eq!(control(buffer), [1024, 3 * ENTRY, 1024 - 3 * ENTRY], "what is before a call, and the called piece");
    nvn!(nvnCommandBufferEndRecording(buffer));
    assert_eq!(control(buffer), [1024, 4 * ENTRY, 1024 - 4 * ENTRY]);
    nvn!(nvnCommandBufferAddControlMemory(buffer, memory(256).as_ptr().cast(), 256));
    assert_eq!(control(buffer), [256, 0, 256], "after a smaller block");
    recording(buffer, 0);
    assert_eq!(control(buffer), [256, ENTRY, 256 - ENTRY], "an empty recording is one entry too");
}

#[test]
fn b216_b425_command_memory_getters_answer_from_the_last_grant() {
    let (buffer, pool) = (bare(), pool());
    assert_eq!(command(buffer), [0, 0, 0], "before any block");
    add(buffer, pool, 0, 0x4000);
    nvn!(nvnCommandBufferAddControlMemory(buffer, memory(1024).as_ptr().cast(), 1024));
    assert_eq!(command(buffer), [0x4000, 0, 0x4000], "after one");
    recording(buffer, 5);
    assert_eq!(command(buffer), [0x4000, 5 * DRAW, 0x4000 - 5 * DRAW], "after a recording");
    add(buffer, pool, 0x4000, 0x8000);
    assert_eq!(command(buffer), [0x8000, 0, 0x8000], "after a larger block");
    recording(buffer, 1);
    assert_eq!(command(buffer), [0x8000, DRAW, 0x8000 - DRAW]);
    add(buffer, pool, 0, 512);
    assert_eq!(command(buffer), [512, 0, 512], "after a smaller block");
    recording(buffer, 100);
    assert_eq!(command(buffer), [512, 100 * DRAW, 0], "lent memory is used, and is not the guest's");
}

/// The count is a position in the memory that was given last (B222: chunk start + used; B228: base + used), so a grant in
/// the middle of a recording resets it as any other does. A recording never ends with 0 but where the guest gave memory
/// after its last command: a block that the callback gives is given for a command, which is written there.
#[test]
fn b222_a_grant_in_the_middle_of_a_recording_resets_the_count() {
    let guest = Guest::new();
    let (buffer, pool) = (guest.buffer, guest.pool);
    guest.begin();
    draws(buffer, 7);
    assert_eq!(command(buffer)[1], 7 * DRAW);
    add(buffer, pool, 0x8000, 0x1000);
    assert_eq!(command(buffer), [0x1000, 0, 0x1000], "the position is the new block's start");
    // B228: the bind is there, and its handle 16 bytes behind.
    draws(buffer, 2);
    let noted = 0x8000 + command(buffer)[1];
    nvn!(nvnCommandBufferBindTexture(buffer, NVNshaderStage::FRAGMENT, 3, 0xa));
    // SAFETY: inside the pool, at a word.
    unsafe { guest.commands.cast::<u8>().add(noted + 0x10).cast::<u32>().write(0xb) };
    draws(buffer, 1);
    assert_eq!(command(buffer)[1], 3 * DRAW + 20);
    let stream = guest.flatten(guest.end());
    assert_eq!(command(buffer)[1], 3 * DRAW + 20, "an end changes nothing");
    let bound = Record::BindTextures(StageSlot::new(1, 3), &HandleGap::default(), &[0xb]);
    assert_eq!(stream.records().nth(9), Some(bound), "both blocks' records, in order");
    assert_eq!(stream.records().count(), 11);
}

#[test]
fn b222_a_recording_that_wrote_records_never_ends_with_a_count_of_0() {
    extern "C" fn give(
        buffer: *mut NVNcommandBuffer,
        _: NVNcommandBufferMemoryEvent,
        bytes: usize,
        data: *mut std::ffi::c_void,
    ) {
        nvn!(nvnCommandBufferAddCommandMemory(buffer, data.cast(), 0x2000, bytes));
    }
    let least = 512 / DRAW as i32;
    for count in [1, least, least + 1, 2 * least, 2 * least + 1, 10 * least + 1] {
        for callback in [false, true] {
            let guest = Guest::new();
            add(guest.buffer, guest.pool, 0, 512);
            if callback {
                nvn!(nvnCommandBufferSetMemoryCallback(guest.buffer, Some(give)));
                nvn!(nvnCommandBufferSetMemoryCallbackData(guest.buffer, guest.pool.cast()));
            }
            recording(guest.buffer, count);
            let used = command(guest.buffer)[1];
            // Blocks of 512 bytes hold `least` draws; lent memory goes on counting.
            let expected = if callback { (count - 1) % least + 1 } else { count } as usize * DRAW;
            assert_eq!(used, expected, "{count} draws, callback: {callback}");
        }
    }
}

/// A command buffer that another thread asks for its size.
struct Shared(*mut NVNcommandBuffer);
// SAFETY: the other thread calls GetCommandMemorySize alone, which guests do while one records (B227).
unsafe impl Sync for Shared {}
impl Shared {
    fn size(&self) -> usize {
        nvn!(nvnCommandBufferGetCommandMemorySize(self.0))
    }
}

#[test]
fn b227_b425_every_read_of_the_size_is_the_grant_while_another_thread_records_into_lent_segments() {
    const TIME: Duration = Duration::from_millis(200);
    const FEWEST: u64 = 1_000;
    // A grant whose low bytes are not those of what is recorded, nor of a segment.
    const GRANT: usize = 0x2A4;
    let (buffer, pool) = (bare(), pool());
    add(buffer, pool, 0, GRANT);
    let (shared, stop, recordings) = (Shared(buffer), AtomicBool::new(false), AtomicU64::new(0));
    let reads = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let (start, mut reads) = (Instant::now(), 0u64);
            // At least that long, and at least that often, on a machine that is busy.
            let enough = |reads| reads >= FEWEST && recordings.load(Ordering::Relaxed) >= 10 && start.elapsed() >= TIME;
            while !enough(reads) && start.elapsed() < 100 * TIME {
                for _ in 0..100 {
                    assert_eq!(shared.size(), GRANT, "torn, after {reads} reads");
                    reads += 1;
                }
            }
            stop.store(true, Ordering::Relaxed);
            reads
        });
        let control = memory(CONTROL).as_ptr();
        while !stop.load(Ordering::Relaxed) && !reader.is_finished() {
            // In place: over the guest's bytes, into a segment, and over again, which frees it.
            add(buffer, pool, 0, GRANT);
            nvn!(nvnCommandBufferAddControlMemory(buffer, control.cast(), CONTROL));
            recording(buffer, 200);
            assert_eq!(command(buffer)[1], 200 * DRAW, "most of it is lent");
            recordings.fetch_add(1, Ordering::Relaxed);
        }
        reader.join().unwrap()
    });
    let recordings = recordings.into_inner();
    assert!(reads >= FEWEST && recordings >= 10, "{reads} reads over {recordings} recordings");
    add(buffer, pool, 0, 512);
    assert_eq!(Shared(buffer).size(), 512, "another grant changes it at once");
}
