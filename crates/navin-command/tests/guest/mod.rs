//! A guest for the tests: pools with GPU addresses, command buffers with memory callbacks.
#![allow(dead_code)]

pub mod overwritten;

use std::ptr::NonNull;

use navin_abi::GuestPtr;
use navin_abi::records::CommandBufferRecord;
use navin_abi::types::NVNcommandBufferMemoryEvent;
use navin_command::record::payload::DrawArrays;
use navin_command::record::{Record, op};
use navin_command::{CommandBuffer, Host, PieceMemory, Stream};

/// Bytes of a recorded DrawArrays.
pub const DRAW: usize = 12;

/// Guest memory that the GPU sees; a pool.
pub struct Pool {
    memory: NonNull<u64>,
    size: usize,
    gpu: u64,
}

impl Pool {
    pub fn new(gpu: u64, size: usize) -> Self {
        let memory: &'static mut [u64] = Box::leak(vec![0xdddd_dddd_dddd_ddddu64; size / 8].into_boxed_slice());
        Self { memory: NonNull::from(memory).cast(), size, gpu }
    }

    pub fn at(&self, offset: usize) -> NonNull<u8> {
        assert!(offset <= self.size);
        // SAFETY: inside the pool.
        unsafe { self.memory.cast::<u8>().add(offset) }
    }

    pub fn word(&self, offset: usize) -> u32 {
        assert!(offset + 4 <= self.size);
        // SAFETY: inside the pool.
        unsafe { self.at(offset).cast::<u32>().read() }
    }

    pub fn set_word(&self, offset: usize, word: u32) {
        assert!(offset + 4 <= self.size);
        // SAFETY: inside the pool.
        unsafe { self.at(offset).cast::<u32>().write(word) }
    }

    pub fn fill(&self, offset: usize, bytes: usize, with: u8) {
        assert!(offset + bytes <= self.size);
        // SAFETY: inside the pool.
        unsafe { self.at(offset).write_bytes(with, bytes) }
    }

    pub fn bytes(&self, offset: usize, bytes: usize) -> Vec<u8> {
        assert!(offset + bytes <= self.size);
        // SAFETY: inside the pool, which no one writes meanwhile.
        unsafe { std::slice::from_raw_parts(self.at(offset).as_ptr(), bytes) }.to_vec()
    }

    pub fn size(&self) -> usize {
        self.size
    }

    pub fn gpu(&self, offset: usize) -> u64 {
        self.gpu + offset as u64
    }
}

impl PieceMemory for Pool {
    fn host_memory(&self, address: u64, bytes: u32) -> Option<NonNull<u8>> {
        let offset = usize::try_from(address.checked_sub(self.gpu)?).ok()?;
        (offset.checked_add(bytes as usize)? <= self.size).then(|| self.at(offset))
    }
}

/// What the callback of a [`Guest`] does: it may add memory. The last argument counts the calls per event.
pub type OnMemory = Box<dyn FnMut(CommandBuffer, NVNcommandBufferMemoryEvent, usize)>;

/// A command buffer between guard bytes.
pub struct Guest {
    storage: NonNull<u64>,
    pub calls: Box<(usize, usize, Option<OnMemory>)>,
}

const OBJECT: usize = 160;
const GUARD: u64 = 0x5a5a_5a5a_5a5a_5a5a;

impl Guest {
    pub fn new() -> Self {
        let storage: &'static mut [u64] = Box::leak(vec![GUARD; OBJECT / 8 + 8].into_boxed_slice());
        let guest = Self { storage: NonNull::from(storage).cast(), calls: Box::new((0, 0, None)) };
        guest.buffer().initialize();
        guest
    }

    pub fn buffer(&self) -> CommandBuffer {
        // SAFETY: 160 bytes of leaked memory, used by one thread.
        unsafe { CommandBuffer::new(self.object().cast::<CommandBufferRecord>()) }.unwrap()
    }

    pub fn object(&self) -> *mut u8 {
        // SAFETY: inside the storage.
        unsafe { self.storage.as_ptr().add(4).cast() }
    }

    pub fn guards_are_whole(&self) -> bool {
        // SAFETY: inside the storage.
        let guard = |at: usize| unsafe { self.storage.add(at).read() };
        (0..4).all(|i| guard(i) == GUARD && guard(4 + OBJECT / 8 + i) == GUARD)
    }

    pub fn with_command(self, host: &Host, pool: &Pool, offset: usize, size: usize) -> Self {
        grant(self.buffer(), host, pool, offset, size);
        self
    }

    pub fn with_control(self, host: &Host, size: usize) -> Self {
        add_control(self.buffer(), host, control(size), size);
        self
    }

    pub fn on_memory(mut self, each: impl FnMut(CommandBuffer, NVNcommandBufferMemoryEvent, usize) + 'static) -> Self {
        self.calls.2 = Some(Box::new(each));
        self.count_calls()
    }

    pub fn count_calls(mut self) -> Self {
        self.buffer().set_callback(callback as *const () as u64);
        self.buffer().set_callback_data(&raw mut *self.calls as u64);
        self
    }

    pub fn draws(&self, host: &Host, counts: impl IntoIterator<Item = u32>) {
        for count in counts {
            draw(self.buffer(), host, count);
        }
    }

    pub fn record_draws(&self, host: &Host, counts: impl IntoIterator<Item = u32>) -> u64 {
        self.buffer().begin(host);
        self.draws(host, counts);
        self.buffer().end(host)
    }
}

unsafe extern "C" fn callback(
    record: *mut CommandBufferRecord,
    event: NVNcommandBufferMemoryEvent,
    bytes: usize,
    data: *mut (usize, usize, Option<OnMemory>),
) {
    // SAFETY: as `count_calls` set them.
    let (buffer, calls) = unsafe { (CommandBuffer::new(record).unwrap(), &mut *data) };
    match event {
        NVNcommandBufferMemoryEvent::OUT_OF_COMMAND_MEMORY => calls.0 += 1,
        _ => calls.1 += 1,
    }
    if let Some(each) = &mut calls.2 {
        each(buffer, event, bytes);
    }
}

pub fn draw(buffer: CommandBuffer, host: &Host, count: u32) -> bool {
    buffer.record::<op::DrawArrays>(host, 4, &DrawArrays { first: 0, count })
}

pub fn grant(buffer: CommandBuffer, host: &Host, pool: &Pool, offset: usize, size: usize) {
    // SAFETY: the pool is leaked; its size is checked in `at`.
    unsafe { buffer.add_command_memory(host, pool.at(offset), pool.gpu(offset), size as u64) };
    pool.at(offset + size);
}

pub fn control(size: usize) -> NonNull<u64> {
    let memory: &'static mut [u64] = Box::leak(vec![0u64; size / 8].into_boxed_slice());
    NonNull::from(memory).cast()
}

pub fn add_control(buffer: CommandBuffer, host: &Host, memory: NonNull<u64>, size: usize) {
    // SAFETY: `control` made the memory.
    unsafe { buffer.add_control_memory(host, GuestPtr::from_host(memory.as_ptr().cast()), size as u64) }
}

/// The vertex counts of a stream of DrawArrays: which records there are, by the number that each was given.
pub fn counts(stream: &Stream) -> Vec<u32> {
    stream
        .records()
        .map(|record| match record {
            Record::DrawArrays(_, draw) => draw.count,
            other => panic!("not a draw: {other:?}"),
        })
        .collect()
}

pub fn host() -> &'static Host {
    Box::leak(Box::new(Host::new()))
}
