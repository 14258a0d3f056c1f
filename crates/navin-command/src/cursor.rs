//! The recording cursor: writes records into command memory and entries into control memory.
//!
//! The entry points of `navin` wrap the guest's pointer in a [`CommandBuffer`] and write one record. The usual
//! case is a compare, an add and the stores. Everything else, from a buffer that is none to memory that runs
//! out, is in [`CommandBuffer::make_room`], which asks the guest's callback first and lends memory then (B220),
//! with no lock held across the callback.
//!
//! Words used here:
//! - *grant*: what AddCommandMemory gave last; *current memory*: the grant, or a lent segment after it;
//! - *piece*: the records since the recording began, or since the last piece was closed; one control entry.
//!
//! Among the fields of the record: `limit` is 0 outside a recording and otherwise the end of the current memory,
//! or of the longest piece that an entry can name, whichever comes first; `memory + piece_offset <= cursor`; the
//! control cursor has 8 bytes after it whenever `first_entry` is not 0, so that a list can always go on or end
//! (B224).

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Pod;
use navin_abi::records::{CommandBufferRecord, Record as _};
use navin_abi::types::NVNcommandBufferMemoryEvent;
use navin_abi::{GuestPtr, fault};

use crate::control::{ENTRY_SIZE, Entry, MAX_PIECE, Piece, Space};
use crate::host::Host;
use crate::record::immediate::Immediate;
use crate::record::{Command, Header, measure};

/// Between BeginRecording and EndRecording.
const RECORDING: u32 = 1;
/// The current memory is a lent segment.
const LENT: u32 = 2;
/// The current control memory is a lent block.
const LENT_CONTROL: u32 = 4;
/// The guest's memory callback is running: what runs short meanwhile is lent, not asked for.
const ASKING: u32 = 8;

/// The least command memory that a guest may add (device info item 0x15).
const MIN_COMMAND_SIZE: usize = 512;
/// The least control memory that a guest may add (item 0x16).
const MIN_CONTROL_SIZE: usize = 256;

/// The most of an added block that is used.
const MAX_CONTROL: u64 = 1 << 28;

/// A guest's command buffer, for the duration of a call.
#[derive(Clone, Copy, Debug)]
pub struct CommandBuffer(*mut CommandBufferRecord);

macro_rules! get {
    ($buffer:ident.$field:ident) => {
        // SAFETY: `new`'s caller promised 160 bytes that are readable; the alignment does not matter here.
        unsafe { (&raw const (*$buffer.0).$field).read_unaligned() }
    };
}
macro_rules! set {
    ($buffer:ident.$field:ident = $value:expr) => {{
        let value = $value;
        // SAFETY: `new`'s caller promised 160 bytes that are writable; the alignment does not matter here.
        unsafe { (&raw mut (*$buffer.0).$field).write_unaligned(value) }
    }};
}

impl CommandBuffer {
    /// The command buffer at `record`; `None` for null.
    ///
    /// # Safety
    /// A pointer that is not null leads to the storage of an NVNcommandBuffer, 160 bytes, which is the guest's
    /// for as long as the value is used, and which no other thread uses but for reading the grant's size.
    #[inline(always)]
    pub unsafe fn new(record: *mut CommandBufferRecord) -> Option<Self> {
        if record.is_null() { None } else { Some(Self(record)) }
    }

    /// As [`new`](Self::new), of a pointer that is known not to be null: frequent calls check their guest's pointer
    /// once.
    ///
    /// # Safety
    /// As for `new`, and `record` is not null.
    #[inline(always)]
    pub const unsafe fn new_unchecked(record: *mut CommandBufferRecord) -> Self {
        Self(record)
    }

    /// nvnCommandBufferInitialize.
    pub fn initialize(self) {
        let mut record: CommandBufferRecord = bytemuck::Zeroable::zeroed();
        record.magic = CommandBufferRecord::MAGIC;
        // SAFETY: 160 writable bytes by `new`'s contract; the record is no larger (B101).
        unsafe { self.0.write_unaligned(record) }
    }

    /// nvnCommandBufferFinalize.
    pub fn finalize(self) {
        set!(self.limit = 0);
        set!(self.flags = 0);
        set!(self.magic = 0);
    }

    /// Whether the buffer was initialized and not finalized since.
    #[inline]
    pub fn is_live(self) -> bool {
        get!(self.magic) == CommandBufferRecord::MAGIC
    }

    /// Whether a recording is open.
    pub fn is_recording(self) -> bool {
        self.is_live() && get!(self.flags) & RECORDING != 0
    }

    /// Sets the guest's memory callback by its guest address; 0 for none.
    pub fn set_callback(self, callback: u64) {
        set!(self.callback = callback);
    }

    /// The memory callback's guest address.
    pub fn callback(self) -> u64 {
        get!(self.callback)
    }

    /// Sets the memory callback's last argument.
    pub fn set_callback_data(self, data: u64) {
        set!(self.callback_data = data);
    }

    /// The memory callback's last argument.
    pub fn callback_data(self) -> u64 {
        get!(self.callback_data)
    }

    /// Bytes from row to row and from slice to slice of the buffer's side of copies; 0 is tight (B226).
    pub fn copy_strides(self) -> (i64, i64) {
        (get!(self.copy_row_stride), get!(self.copy_image_stride))
    }

    /// nvnCommandBufferSetCopyRowStride: no record (B226).
    pub fn set_copy_row_stride(self, stride: i64) {
        set!(self.copy_row_stride = stride);
    }

    /// nvnCommandBufferSetCopyImageStride: no record (B226).
    pub fn set_copy_image_stride(self, stride: i64) {
        set!(self.copy_image_stride = stride);
    }

    /// The bytes last given to AddCommandMemory, in one load (B227: other threads ask while this one records).
    pub fn command_memory_size(self) -> u64 {
        self.with_grant_size(|size| size.load(Ordering::Relaxed), || get!(self.grant_size))
    }

    fn set_command_memory_size(self, bytes: u64) {
        self.with_grant_size(|size| size.store(bytes, Ordering::Relaxed), || set!(self.grant_size = bytes));
    }

    fn with_grant_size<R>(self, atomic: impl FnOnce(&AtomicU64) -> R, plain: impl FnOnce() -> R) -> R {
        // SAFETY: in the 160 bytes of the record.
        let field = unsafe { &raw mut (*self.0).grant_size };
        if field.is_aligned() {
            // SAFETY: aligned, inside the record, and only ever accessed through here.
            atomic(unsafe { AtomicU64::from_ptr(field) })
        } else {
            // C++ gives the object alignment 8; one without it gets what the processor does for such a load.
            plain()
        }
    }

    /// Bytes used since the last AddCommandMemory, lent ones included (B222): a position in the memory that was given last
    /// (B228), so 0 again where it is given in the middle of a recording.
    pub fn command_memory_used(self) -> u64 {
        get!(self.used_before).wrapping_add(get!(self.cursor).saturating_sub(get!(self.memory)))
    }

    /// Bytes left of what AddCommandMemory gave last.
    pub fn command_memory_free(self) -> u64 {
        if get!(self.flags) & LENT != 0 {
            self.command_memory_size().saturating_sub(self.command_memory_used())
        } else {
            self.memory_end().saturating_sub(get!(self.cursor))
        }
    }

    /// Bytes last given to AddControlMemory (B216).
    pub fn control_memory_size(self) -> u64 {
        get!(self.control_size)
    }

    /// Bytes of entries written into the control memory given last.
    pub fn control_memory_used(self) -> u64 {
        get!(self.control_used)
    }

    /// The rest of it.
    pub fn control_memory_free(self) -> u64 {
        get!(self.control_size).saturating_sub(get!(self.control_used))
    }

    fn memory_end(self) -> u64 {
        get!(self.memory).wrapping_add(u64::from(get!(self.memory_size)))
    }

    /// nvnCommandBufferAddCommandMemory with a pool: `memory` leads to the bytes, which the GPU sees at
    /// `address`. Whatever is recorded so far stays where it is.
    ///
    /// # Safety
    /// `memory` leads to `size` bytes that stay readable and writable for as long as the guest records there.
    pub unsafe fn add_command_memory(self, host: &Host, memory: NonNull<u8>, address: u64, size: u64) {
        // Command alignment is 4 (device info item 0x13): a start between words is moved to the next one.
        let skip = (memory.as_ptr() as u64).wrapping_neg() % 4;
        self.close_piece(host, false);
        let start = memory.as_ptr() as u64 + skip;
        self.set_memory(start, address.wrapping_add(skip), size.saturating_sub(skip), 0);
        set!(self.used_before = 0);
        self.set_command_memory_size(size);
    }

    /// nvnCommandBufferAddCommandMemory without a pool: the host lends what is asked for, for good (B220).
    pub fn add_command_memory_without_pool(self, host: &Host, size: u64) {
        self.close_piece(host, false);
        let bytes = usize::try_from(size).unwrap_or(usize::MAX);
        // Recording into it makes the recording no owner: nothing would tell when it is gone.
        let owner = if self.is_recording() { get!(self.serial) } else { 0 };
        match host.lender.lend(bytes, owner) {
            Some(lease) => {
                self.set_memory(lease.memory.as_ptr() as u64, lease.address, u64::from(lease.size), LENT);
            }
            None => {
                fault!(
                    "B220",
                    "AddCommandMemory without a pool: 1 GB of command memory is lent already; none is added"
                );
                self.set_memory(0, 0, 0, LENT);
            }
        }
        set!(self.used_before = 0);
        self.set_command_memory_size(size);
    }

    fn set_memory(self, memory: u64, address: u64, size: u64, lent: u32) {
        set!(self.flags = get!(self.flags) & !LENT | lent);
        set!(self.memory = memory);
        set!(self.cursor = memory);
        set!(self.memory_address = address);
        // Whole words, so that no record ends beyond the grant (B223).
        set!(self.memory_size = u32::try_from(size).unwrap_or(u32::MAX) & !3);
        set!(self.piece_offset = 0);
        self.set_limit();
    }

    fn set_limit(self) {
        let limit = if get!(self.flags) & RECORDING != 0 {
            let piece = get!(self.memory).wrapping_add(u64::from(get!(self.piece_offset)));
            self.memory_end().min(piece.wrapping_add(u64::from(MAX_PIECE)))
        } else {
            0
        };
        set!(self.limit = limit);
    }

    /// nvnCommandBufferAddControlMemory. An open list is linked on from where it stopped.
    ///
    /// # Safety
    /// `memory` leads to `size` bytes that stay the guest's control memory until it reuses them.
    pub unsafe fn add_control_memory(self, host: &Host, memory: GuestPtr<u8>, size: u64) {
        set!(self.control_size = size);
        set!(self.control_used = 0);
        // Control alignment is 8 (item 0x14).
        let start = memory.address().checked_next_multiple_of(ENTRY_SIZE).unwrap_or(u64::MAX);
        // A size of garbage must not make all of memory a place where lists may be.
        let end = memory.address().saturating_add(size.min(MAX_CONTROL)) / ENTRY_SIZE * ENTRY_SIZE;
        if memory.is_null() || start.saturating_add(2 * ENTRY_SIZE) > end {
            fault!("B224", "AddControlMemory of {size} bytes at {memory:?}: no room for two entries; not used");
            // An open list keeps the 8 bytes that it is linked on from.
            if get!(self.first_entry) == 0 {
                set!(self.control_cursor = 0);
            }
            set!(self.control_end = get!(self.control_cursor));
            return;
        }
        host.control.add(start, end);
        self.move_control(start, end, 0);
    }

    fn move_control(self, start: u64, end: u64, lent: u32) {
        if get!(self.first_entry) != 0 {
            self.store_entry(Entry::Link(start));
        }
        set!(self.flags = get!(self.flags) & !LENT_CONTROL | lent);
        set!(self.control_cursor = start);
        set!(self.control_end = end);
    }

    fn store_entry(self, entry: Entry) {
        let at = GuestPtr::<u64>::new(get!(self.control_cursor));
        // SAFETY: control memory that the guest gave, with room for an entry (`write_entry`).
        unsafe { at.write(entry.encode()) };
    }

    /// Appends an entry. One that is not the last leaves room for another (B224). Returns whether there was room:
    /// there always is for the last entry of a list that has one.
    pub(crate) fn write_entry(self, host: &Host, entry: Entry) -> bool {
        let last = matches!(entry, Entry::Piece { last: true, .. });
        let needed = if last { ENTRY_SIZE } else { 2 * ENTRY_SIZE };
        let left = || get!(self.control_end).saturating_sub(get!(self.control_cursor));
        if left() < needed {
            self.ask(host, NVNcommandBufferMemoryEvent::OUT_OF_CONTROL_MEMORY, needed as usize);
        }
        if left() < needed {
            let Some((start, end)) = host.lend_control() else {
                fault!("B224", "out of control memory, and 1 GB of it is lent already: lists lose pieces from here on");
                return false;
            };
            self.move_control(start, end, LENT_CONTROL);
        }
        let at = get!(self.control_cursor);
        self.store_entry(entry);
        if get!(self.first_entry) == 0 {
            set!(self.first_entry = at);
        }
        set!(self.control_cursor = at.wrapping_add(ENTRY_SIZE));
        if get!(self.flags) & LENT_CONTROL == 0 {
            set!(self.control_used = get!(self.control_used).wrapping_add(ENTRY_SIZE));
        }
        true
    }

    /// Calls the guest's memory callback, if it set one, for `bytes` or the least that NVN takes.
    fn ask(self, host: &Host, event: NVNcommandBufferMemoryEvent, bytes: usize) {
        let least = match event {
            NVNcommandBufferMemoryEvent::OUT_OF_COMMAND_MEMORY => MIN_COMMAND_SIZE,
            _ => MIN_CONTROL_SIZE,
        };
        let bytes = bytes.max(least);
        let callback = get!(self.callback);
        // A callback that itself runs short would be called for ever.
        if callback == 0 || get!(self.flags) & ASKING != 0 {
            return;
        }
        set!(self.flags = get!(self.flags) | ASKING);
        host.run_callback(callback, GuestPtr::from_host(self.0), event, bytes, get!(self.callback_data));
        set!(self.flags = get!(self.flags) & !ASKING);
    }

    /// Ends the open piece with an entry. Returns whether there was anything in it.
    pub(crate) fn close_piece(self, host: &Host, last: bool) -> bool {
        let start = u64::from(get!(self.piece_offset));
        let used = get!(self.cursor).saturating_sub(get!(self.memory));
        let Some(bytes) = used.checked_sub(start).and_then(|bytes| u32::try_from(bytes).ok()) else { return false };
        if bytes == 0 || get!(self.flags) & RECORDING == 0 {
            return false;
        }
        let space = if get!(self.flags) & LENT != 0 { Space::Lent } else { Space::Guest };
        let piece = Piece { space, address: get!(self.memory_address).wrapping_add(start), bytes };
        // Before the entry: the callback that it may need finds no open piece.
        set!(self.piece_offset = used as u32);
        host.lender.piece_closed(get!(self.serial), piece);
        self.write_entry(host, Entry::Piece { piece, last });
        self.set_limit();
        true
    }

    /// nvnCommandBufferBeginRecording.
    pub fn begin(self, host: &Host) {
        if !self.is_live() {
            fault!("", "BeginRecording of {:p}, which is no initialized command buffer; ignored", self.0);
            return;
        }
        if get!(self.flags) & RECORDING != 0 {
            fault!(
                "",
                "BeginRecording of command buffer {:p}, which is recording; what it recorded is dropped",
                self.0
            );
        }
        set!(self.flags = get!(self.flags) | RECORDING);
        set!(self.serial = host.next_recording());
        set!(self.first_entry = 0);
        set!(self.piece_offset = get!(self.cursor).saturating_sub(get!(self.memory)) as u32);
        self.set_limit();
    }

    /// nvnCommandBufferEndRecording: the command handle, the guest address of the list's first entry (B224); 0 if
    /// no recording was open.
    pub fn end(self, host: &Host) -> u64 {
        if !self.is_recording() {
            fault!("", "EndRecording of {:p}, which is not recording; the handle is 0", self.0);
            return 0;
        }
        if !self.close_piece(host, true) {
            self.write_entry(host, Entry::END);
        }
        let handle = get!(self.first_entry);
        set!(self.flags = get!(self.flags) & !RECORDING);
        set!(self.first_entry = 0);
        set!(self.limit = 0);
        handle
    }

    /// Room for `bytes` of records at the cursor, which moves past them; `None` where nothing is to be recorded.
    /// The address is not checked to be one: `limit` is 0 wherever there is no memory, and garbage with the magic of
    /// a command buffer is the guest's own wild pointer.
    #[inline(always)]
    fn reserve(self, host: &Host, bytes: usize) -> Option<*mut u8> {
        let start = get!(self.cursor);
        let end = start.wrapping_add(bytes as u64);
        if end <= get!(self.limit) && self.is_live() {
            set!(self.cursor = end);
            Some(start as *mut u8)
        } else {
            self.make_room(host, bytes).map(NonNull::as_ptr)
        }
    }

    /// [`reserve`](Self::reserve) where it is not a matter of course.
    #[cold]
    #[inline(never)]
    fn make_room(self, host: &Host, bytes: usize) -> Option<NonNull<u8>> {
        let mut asked = false;
        loop {
            // Asked again after the callback, which may do anything with the buffer.
            if !self.is_recording() {
                fault!("", "a command for {:p}, which is not recording; ignored", self.0);
                return None;
            }
            let start = get!(self.cursor);
            let end = start.wrapping_add(bytes as u64);
            if end <= self.memory_end() {
                // Only the piece is full. Closing it may ask for control memory: where the cursor is then, and in which
                // memory, is to be looked at again.
                if end > get!(self.limit) {
                    self.close_piece(host, false);
                    self.set_limit();
                    continue;
                }
                set!(self.cursor = end);
                return NonNull::new(start as *mut u8);
            }
            if asked {
                self.lend(host, bytes)?;
            } else {
                self.ask(host, NVNcommandBufferMemoryEvent::OUT_OF_COMMAND_MEMORY, bytes);
                asked = true;
            }
        }
    }

    /// Goes on in a lent segment (B220).
    fn lend(self, host: &Host, bytes: usize) -> Option<()> {
        let Some(lease) = host.lender.lend(bytes, get!(self.serial)) else {
            fault!("B220", "out of command memory, and 1 GB of it is lent already: commands are dropped from here on");
            return None;
        };
        // After the segment is this recording's, so that the piece counts as bytes of a recording that has one.
        self.close_piece(host, false);
        let used = self.command_memory_used();
        self.set_memory(lease.memory.as_ptr() as u64, lease.address, u64::from(lease.size), LENT);
        set!(self.used_before = used);
        Some(())
    }

    /// Records a command without a run. Returns whether it was recorded.
    #[inline(always)]
    pub fn record<C: Command>(self, host: &Host, immediate: C::Immediate, head: &C::Head) -> bool {
        const { assert!(C::MIN_TAIL == 0, "the command needs a run") };
        let bytes = C::HEAD_WORDS * 4;
        let Some(to) = self.reserve(host, bytes) else { return false };
        let header = Header::new(C::OPCODE, immediate.bits(), C::HEAD_WORDS as u16);
        // SAFETY: `reserve` gave room for the header and the head.
        unsafe { write_head(to, header, head) };
        true
    }

    /// Records a command with a run of `count` elements, each made by `element`. Returns whether it was
    /// recorded: a run that is longer or shorter than the command's can be is a fault.
    #[inline(always)]
    pub fn record_run<C: Command>(
        self,
        host: &Host,
        immediate: C::Immediate,
        head: &C::Head,
        count: usize,
        mut element: impl FnMut(usize) -> C::Tail,
    ) -> bool {
        if count < C::MIN_TAIL || count > C::MAX_TAIL {
            return refuse_run(C::OPCODE, C::NAME, count);
        }
        let words = C::HEAD_WORDS + count * (size_of::<C::Tail>() / 4);
        let Some(to) = self.reserve(host, words * 4) else { return false };
        let header = Header::new(C::OPCODE, immediate.bits(), words as u16);
        // SAFETY: `reserve` gave room for the header, the head and `count` elements.
        unsafe {
            write_head(to, header, head);
            let run = to.add(C::HEAD_WORDS * 4).cast::<C::Tail>();
            for index in 0..count {
                run.add(index).write_unaligned(element(index));
            }
        }
        true
    }

    /// As [`record_run`](Self::record_run), with the run where it stands: `count` elements at `run`, on any boundary.
    ///
    /// # Safety
    /// `run` leads to `count` readable elements.
    #[inline(always)]
    pub unsafe fn record_copy<C: Command>(
        self,
        host: &Host,
        immediate: C::Immediate,
        head: &C::Head,
        run: *const C::Tail,
        count: usize,
    ) -> bool {
        if count < C::MIN_TAIL || count > C::MAX_TAIL {
            return refuse_run(C::OPCODE, C::NAME, count);
        }
        let bytes = count * size_of::<C::Tail>();
        let Some(to) = self.reserve(host, C::HEAD_WORDS * 4 + bytes) else { return false };
        let header = Header::new(C::OPCODE, immediate.bits(), (C::HEAD_WORDS + bytes / 4) as u16);
        // SAFETY: `reserve` gave room for the header, the head and the run, which the caller promises to be there.
        unsafe {
            write_head(to, header, head);
            to.add(C::HEAD_WORDS * 4).copy_from(run.cast(), bytes);
        }
        true
    }

    /// Records the words of one whole record, as a copy of a recording finds it. Returns whether it was recorded:
    /// words that are no record are a fault.
    pub fn record_raw(self, host: &Host, words: &[u32]) -> bool {
        if measure(words) != Ok(words.len()) {
            fault!("", "{} words that are no record; not recorded", words.len());
            return false;
        }
        let Some(to) = self.reserve(host, words.len() * 4) else { return false };
        // SAFETY: `reserve` gave room for the words, in memory that is not `words`.
        unsafe { to.cast::<u32>().copy_from_nonoverlapping(words.as_ptr(), words.len()) };
        true
    }
}

#[cold]
fn refuse_run(opcode: u8, name: &str, count: usize) -> bool {
    fault!(key = opcode, "", "{name} of {count} elements; not recorded");
    false
}

/// # Safety
/// `to` leads to 4 bytes and the head's.
#[inline(always)]
unsafe fn write_head<T: Pod>(to: *mut u8, header: Header, head: &T) {
    // SAFETY: the caller's promise.
    unsafe {
        to.cast::<u32>().write_unaligned(header.word());
        to.add(4).cast::<T>().write_unaligned(*head);
    }
}
