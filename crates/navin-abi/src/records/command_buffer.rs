//! `NVNcommandBuffer`.

use std::mem::offset_of;

use bytemuck::{Pod, Zeroable};

/// `NVNcommandBuffer`. Written and read by `navin-command` alone, which says what holds among the fields; the
/// entry points hand the guest's pointer on.
///
/// While one thread records, others may read `grant_size` (B227): it is accessed atomically, the rest not.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
pub struct CommandBufferRecord {
    /// See [`Record`](super::Record); first, as in every record.
    pub magic: u32,
    /// Bits of `navin-command`: recording, memory is lent.
    pub flags: u32,
    /// Host address of the next record.
    pub cursor: u64,
    /// The guest's inlined SDK code stores a byte at +0x10 (B102): nothing of ours is here.
    pub guest_owned: [u8; 8],
    /// Host address that records may reach up to; 0 outside a recording, so that the fast path needs no flag.
    pub limit: u64,
    /// Host address of the current command memory's first byte.
    pub memory: u64,
    /// Bytes of the current command memory.
    pub memory_size: u32,
    /// Bytes from `memory` to the open piece.
    pub piece_offset: u32,
    /// GPU address of `memory`; for lent memory its address in the lender's own space.
    pub memory_address: u64,
    /// Bytes used since the last AddCommandMemory in memory before the current one (B222).
    pub used_before: u64,
    /// Bytes last given to AddCommandMemory (B227).
    pub grant_size: u64,
    /// Guest address of the next control entry.
    pub control_cursor: u64,
    /// Guest address of the current control memory's end.
    pub control_end: u64,
    /// Bytes last given to AddControlMemory (B216).
    pub control_size: u64,
    /// Bytes of entries in the control memory last given.
    pub control_used: u64,
    /// Guest address of this recording's first control entry, the command handle; 0 before there is one.
    pub first_entry: u64,
    /// Guest address of the memory callback.
    pub callback: u64,
    /// What the callback gets as its last argument.
    pub callback_data: u64,
    /// Bytes from row to row of a copy's buffer; 0 is tight (B226).
    pub copy_row_stride: i64,
    /// Bytes from slice to slice of a copy's buffer; 0 is tight (B226).
    pub copy_image_stride: i64,
    /// The recording's never-reused number.
    pub serial: u64,
}

super::record!(CommandBufferRecord in "NVNcommandBuffer", magic b"NVcb", at most MIN_NVNCOMMANDBUFFER);
const _: () = assert!(offset_of!(CommandBufferRecord, guest_owned) == 0x10, "the guest writes this byte (B102)");
