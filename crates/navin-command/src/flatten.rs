//! From command handles to records: what a submit, a call and a copy of recordings do.
//!
//! All three walk control lists; flatten and copies also read the pieces, by one rule (B225): from the start of
//! a piece, each whole record that fits; the first that does not, or is none, ends the piece with an error line,
//! and never the process.

use std::ops::ControlFlow;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use navin_abi::fault;

use crate::control::{ControlList, Entry, ListError, Piece, Space};
use crate::cursor::CommandBuffer;
use crate::host::Host;
use crate::record::{self, measure};
use crate::stream::{Builder, Cut, Stream};

/// Finds command memory by its GPU address; the driver's pools.
pub trait PieceMemory {
    /// Host address of the `bytes` bytes at `address`; `None` unless all of them are in one live pool that the
    /// processor can read. They must stay readable until the call that asked returns.
    fn host_memory(&self, address: u64, bytes: u32) -> Option<NonNull<u8>>;
}

/// Flattens the recordings of `handles`, in order, into a stream that owns its bytes. A handle of garbage, or a
/// piece whose memory is gone, leaves a fault line and no records; so does what is beyond the host's
/// [`Limits`](crate::Limits).
pub fn flatten(host: &Host, memory: &impl PieceMemory, handles: impl IntoIterator<Item = u64>) -> Stream {
    let mut all = Stream::default();
    flatten_parts(host, memory, handles, |part| all.append(part));
    all
}

/// As [`flatten`], in parts: each is given to `each` before the next one is read, so that a submission of any length
/// takes bounded memory here. There is one at least.
pub fn flatten_parts(
    host: &Host,
    memory: &impl PieceMemory,
    handles: impl IntoIterator<Item = u64>,
    mut each: impl FnMut(Stream),
) {
    gather(host, memory, handles, "SubmitCommands", |part| {
        each(part.finish());
        ControlFlow::Continue(())
    });
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
        let mut left = host.limits.entries;
        for handle in handles {
            let walked = walk(host, handle, "CallCommands", &mut left, |piece| {
                if self.write_entry(host, Entry::Piece { piece, last: false }) {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            });
            if walked.is_break() {
                return;
            }
        }
    }

    /// nvnCommandBufferCopyCommands: copies the records themselves; the source may be reused at once (B224).
    pub fn copy(self, host: &Host, memory: &impl PieceMemory, handles: impl IntoIterator<Item = u64>) {
        gather(host, memory, handles, "CopyCommands", |part| {
            let mut rest = part.words();
            while let Ok(length) = measure(rest) {
                let (record, tail) = rest.split_at(length);
                if !self.record_raw(host, record) {
                    return ControlFlow::Break(());
                }
                rest = tail;
            }
            ControlFlow::Continue(())
        });
    }
}

/// The records of all lists, copied, in parts, until `each` breaks.
fn gather(
    host: &Host,
    memory: &impl PieceMemory,
    handles: impl IntoIterator<Item = u64>,
    what: &'static str,
    mut each: impl FnMut(Builder) -> ControlFlow<()>,
) {
    host.lender.tell();
    let mut part = Builder::default();
    let (mut left, mut bytes, mut broken) = (host.limits.entries, 0, false);
    for handle in handles {
        let walked = walk(host, handle, what, &mut left, |piece| {
            bytes += u64::from(piece.bytes);
            if bytes > host.limits.call_bytes {
                return ControlFlow::Break(());
            }
            if part.is_full(&host.limits) {
                let full = std::mem::take(&mut part);
                broken = each(full).is_break();
                if broken {
                    return ControlFlow::Break(());
                }
            }
            append_piece(host, memory, handle, piece, &mut part);
            ControlFlow::Continue(())
        });
        if broken {
            return;
        }
        if walked.is_break() {
            fault!(
                "B225",
                "{what} of more than {} bytes of records: the rest, from the list {handle:#x} on, is left out",
                host.limits.call_bytes
            );
            break;
        }
    }
    // Nothing comes after it that a break would keep away.
    let _ = each(part);
}

/// Gives the pieces of a list to `each`, until it breaks; `left` is how many entries may be read.
fn walk(
    host: &Host,
    handle: u64,
    what: &'static str,
    left: &mut u32,
    mut each: impl FnMut(Piece) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut list = match ControlList::new(host, handle, *left) {
        Ok(list) => list,
        Err(error) => {
            report_list(handle, what, error);
            return ControlFlow::Continue(());
        }
    };
    for piece in &mut list {
        match piece {
            Ok(piece) => each(piece)?,
            Err(error) => report_list(handle, what, error),
        }
    }
    *left = list.left();
    ControlFlow::Continue(())
}

#[cold]
fn report_list(handle: u64, what: &'static str, error: ListError) {
    fault!(key = handle, "B224", "{what} of handle {handle:#x}: {error}; the list ends there");
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
        Some(Err(cut)) => report_cut(handle, piece, cut),
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

/// The line about a piece that does not hold whole records: the first 8 times, then every 1,000th (B225). It names
/// the record before, whose write past its end it may be (B223).
#[cold]
fn report_cut(handle: u64, piece: Piece, cut: Cut) {
    static TIMES: AtomicU64 = AtomicU64::new(0);
    let times = TIMES.fetch_add(1, Ordering::Relaxed) + 1;
    if times <= 8 || times.is_multiple_of(1000) {
        let offset = cut.at * 4;
        let behind = match cut.behind {
            Some((opcode, at)) => {
                let at = at as u64 * 4;
                format!(
                    "{} (opcode {opcode}, byte {at}, payload at {:#x})",
                    record::name(opcode),
                    piece.address + at + 4
                )
            }
            None => "its start".to_owned(),
        };
        fault!(
            key = times,
            "B225",
            "the list {handle:#x}: at {:#x}, byte {offset} of a piece of {}, behind {behind}: {}: the piece was recorded over \
             after it was called; the rest of it is left out ({times} times so far)",
            piece.address + offset as u64,
            piece.bytes,
            cut.malformed
        );
    }
}
