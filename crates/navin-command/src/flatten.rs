//! From command handles to records: what a submit, a call and a copy of recordings do.
//!
//! All three walk control lists; flatten and copies also read the pieces, by one rule (B225): from the start of
//! a piece, each whole record that fits; the first that does not, or is none, ends the piece with an error line,
//! and never the process.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use navin_abi::fault;

use crate::control::{ControlList, Entry, Piece, Space};
use crate::cursor::CommandBuffer;
use crate::host::Host;
use crate::record::{Malformed, measure};
use crate::stream::{Builder, Stream};

/// Finds command memory by its GPU address; the driver's pools.
pub trait PieceMemory {
    /// Host address of the `bytes` bytes at `address`; `None` unless all of them are in one live pool that the
    /// processor can read. They must stay readable until the call that asked returns.
    fn host_memory(&self, address: u64, bytes: u32) -> Option<NonNull<u8>>;
}

/// Flattens the recordings of `handles`, in order, into a stream that owns its bytes. A handle of garbage, or a
/// piece whose memory is gone, leaves a fault line and no records.
pub fn flatten(host: &Host, memory: &impl PieceMemory, handles: impl IntoIterator<Item = u64>) -> Stream {
    let mut stream = Builder::default();
    for handle in handles {
        walk(host, handle, "SubmitCommands", |piece| append_piece(host, memory, handle, piece, &mut stream));
    }
    stream.finish()
}

impl CommandBuffer {
    /// nvnCommandBufferCallCommands: copies the entries of the called lists into this buffer's (B224). What the
    /// pieces hold is read at submit (B225).
    pub fn call(self, host: &Host, handles: impl IntoIterator<Item = u64>) {
        if !self.is_recording() {
            fault!("", "CallCommands for a command buffer that is not recording; ignored");
            return;
        }
        self.close_piece(host, false);
        for handle in handles {
            walk(host, handle, "CallCommands", |piece| self.write_entry(host, Entry::Piece { piece, last: false }));
        }
    }

    /// nvnCommandBufferCopyCommands: copies the records themselves; the source may be reused at once (B224).
    pub fn copy(self, host: &Host, memory: &impl PieceMemory, handles: impl IntoIterator<Item = u64>) {
        let mut stream = Builder::default();
        for handle in handles {
            walk(host, handle, "CopyCommands", |piece| append_piece(host, memory, handle, piece, &mut stream));
        }
        let mut rest = stream.words();
        while let Ok(length) = measure(rest) {
            let (record, tail) = rest.split_at(length);
            if !self.record_raw(host, record) {
                return;
            }
            rest = tail;
        }
    }
}

/// Gives the pieces of a list to `each`.
fn walk(host: &Host, handle: u64, what: &str, mut each: impl FnMut(Piece)) {
    let end = ControlList::new(host, handle).and_then(|mut list| list.try_for_each(|piece| piece.map(&mut each)));
    if let Err(error) = end {
        fault!(key = handle, "B224", "{what} of handle {handle:#x}: {error}; the list ends there");
    }
}

/// Copies a piece's whole records to the end of a stream (B225).
fn append_piece(host: &Host, memory: &impl PieceMemory, handle: u64, piece: Piece, stream: &mut Builder) {
    let bytes = piece.bytes as usize;
    let fill = |to: *mut u32| {
        let copy = |from: NonNull<u8>| {
            // SAFETY: `from` leads to the piece's bytes, and `to` to as many spare ones of our own. The guest may
            // write into the piece meanwhile (B228); whatever is read then is checked in the copy.
            unsafe { from.as_ptr().copy_to_nonoverlapping(to.cast(), bytes) }
        };
        match piece.space {
            Space::Guest => memory.host_memory(piece.address, piece.bytes).map(copy),
            Space::Lent => host.lender.read(piece.address, piece.bytes, copy),
        }
        .is_some()
    };
    // SAFETY: `fill` copies all of the piece, or answers that there is none.
    match unsafe { stream.append(bytes / 4, fill) } {
        Some(Ok(())) => {}
        Some(Err((at, malformed))) => report_cut(handle, piece, at * 4, malformed),
        None => {
            fault!(
                key = piece.address,
                "B225",
                "the list {handle:#x} has a piece of {bytes} bytes at {:#x}, which is no command memory; left out",
                piece.address
            );
        }
    }
}

/// The line about a piece that does not hold whole records: the first 8 times, then every 1,000th (B225).
#[cold]
fn report_cut(handle: u64, piece: Piece, offset: usize, malformed: Malformed) {
    static TIMES: AtomicU64 = AtomicU64::new(0);
    let times = TIMES.fetch_add(1, Ordering::Relaxed) + 1;
    if times <= 8 || times.is_multiple_of(1000) {
        fault!(
            key = times,
            "B225",
            "the list {handle:#x}: at {:#x}, byte {offset} of a piece of {}, {malformed}: the piece was recorded over \
             after it was called; the rest of it is left out ({times} times so far)",
            piece.address + offset as u64,
            piece.bytes
        );
    }
}
