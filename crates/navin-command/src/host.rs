//! What the host keeps beside the guest's command buffers: one [`Host`] a process, a static of the driver.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use navin_abi::GuestPtr;
use navin_abi::records::CommandBufferRecord;
use navin_abi::types::NVNcommandBufferMemoryEvent;

use crate::control::{ControlMemory, LENT_BLOCK};
use crate::lender::Lender;

/// The most that recording, calls and submits may take: far above what guests need, so that garbage in their memory
/// costs a bounded time and memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes lent: of command memory at a time (B220), of control memory ever.
    pub lent: u64,
    /// Control entries that one call reads.
    pub entries: u32,
    /// Bytes of records that one call takes. Control memory of garbage can name the same megabyte a million times.
    pub call_bytes: u64,
    /// Bytes of a part of it, which is given on before the next one is read.
    pub part_bytes: usize,
    /// Waits and fences of a part.
    pub sections: usize,
}

impl Limits {
    /// What [`Host::new`] takes.
    pub const DEFAULT: Self =
        Self { lent: 1 << 30, entries: 1 << 24, call_bytes: 4 << 30, part_bytes: 64 << 20, sections: 1 << 20 };
}

/// Calls the guest's memory callback: the callback's guest address, the command buffer, the event, the bytes
/// needed, the guest's own argument.
pub type CallbackRunner = fn(u64, GuestPtr<CommandBufferRecord>, NVNcommandBufferMemoryEvent, usize, u64);

/// Host-side state of recording. Recording touches it only where memory runs out, or where recordings begin, so
/// a draw takes no lock (B422).
#[derive(Debug)]
pub struct Host {
    pub(crate) control: ControlMemory,
    pub(crate) lender: Lender,
    /// Bytes of control memory lent so far.
    lent_control: AtomicU64,
    pub(crate) limits: Limits,
    recordings: AtomicU64,
    debug_labels: AtomicBool,
    runner: CallbackRunner,
}

impl Host {
    /// A host that calls memory callbacks as native functions.
    pub const fn new() -> Self {
        Self::with(run_native, Limits::DEFAULT)
    }

    /// A host with another way to call memory callbacks, for guests whose code runs elsewhere than on this
    /// processor, and other limits.
    pub const fn with(runner: CallbackRunner, limits: Limits) -> Self {
        Self {
            control: ControlMemory::new(),
            lender: Lender::new(limits.lent),
            lent_control: AtomicU64::new(0),
            limits,
            recordings: AtomicU64::new(0),
            debug_labels: AtomicBool::new(false),
            runner,
        }
    }

    /// Bytes of command memory that are lent at present.
    pub fn lent_bytes(&self) -> u64 {
        self.lender.lent_bytes()
    }

    /// Whether debug groups and markers are recorded. Off by default: the driver's own take no command memory,
    /// which guests measure (B224). For captures and debuggers.
    pub fn debug_labels(&self) -> bool {
        self.debug_labels.load(Ordering::Relaxed)
    }

    /// Turns the recording of debug groups and markers on or off.
    pub fn set_debug_labels(&self, on: bool) {
        self.debug_labels.store(on, Ordering::Relaxed);
    }

    pub(crate) fn next_recording(&self) -> u64 {
        self.recordings.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn run_callback(
        &self,
        callback: u64,
        command_buffer: GuestPtr<CommandBufferRecord>,
        event: NVNcommandBufferMemoryEvent,
        bytes: usize,
        data: u64,
    ) {
        (self.runner)(callback, command_buffer, event, bytes, data);
    }

    /// Lends a block of control memory, for good (B224): its guest addresses. `None` beyond the bound.
    pub(crate) fn lend_control(&self) -> Option<(u64, u64)> {
        let lent = self.lent_control.fetch_add(LENT_BLOCK as u64, Ordering::Relaxed);
        if lent + LENT_BLOCK as u64 > self.limits.lent {
            self.lent_control.fetch_sub(LENT_BLOCK as u64, Ordering::Relaxed);
            return None;
        }
        let block: &'static mut [u64] = Box::leak(vec![0u64; LENT_BLOCK / 8].into_boxed_slice());
        let start = GuestPtr::from_host(block.as_ptr()).address();
        let end = start + LENT_BLOCK as u64;
        self.control.add(start, end);
        tracing::debug!("lends a block of {LENT_BLOCK} bytes of control memory");
        Some((start, end))
    }
}

impl Default for Host {
    fn default() -> Self {
        Self::new()
    }
}

/// Calls the callback as a C function of this processor.
pub fn run_native(
    callback: u64,
    command_buffer: GuestPtr<CommandBufferRecord>,
    event: NVNcommandBufferMemoryEvent,
    bytes: usize,
    data: u64,
) {
    type Callback = unsafe extern "C" fn(*mut CommandBufferRecord, NVNcommandBufferMemoryEvent, usize, *mut u8);
    let code = GuestPtr::<u8>::new(callback).host();
    if code.is_null() {
        return;
    }
    // SAFETY: the guest set this address with SetMemoryCallback, whose argument is a function of this type.
    let callback = unsafe { std::mem::transmute::<*mut u8, Callback>(code) };
    // SAFETY: as the guest's SetMemoryCallback promises; its own arguments are handed back as it gave them.
    unsafe { callback(command_buffer.host(), event, bytes, data as *mut u8) }
}
