//! Lent command memory: segments of the host's for recordings that the guest's memory does not hold (B220).
//!
//! A segment belongs to the recordings that wrote into it, by their serials. It is free again when all of them
//! are gone, and a recording is gone when another one has written records over its bytes in guest memory: not
//! when a grant covers them, nor after any time (B221). One that has no such bytes, because it was recorded on from
//! where another ran short, holds nothing: it goes with the others, as nothing would ever tell that it is gone. The
//! cursor tells of each piece that it closes.

use std::collections::{BTreeMap, HashMap};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::control::{Piece, Space};

/// Bytes of an ordinary segment.
pub const SEGMENT: usize = 256 << 10;
/// Bytes of a segment for a small grant without a pool.
pub const SMALL_SEGMENT: usize = 4 << 10;

/// A segment as the cursor sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    /// First byte.
    pub memory: NonNull<u8>,
    /// Address in [`Space::Lent`].
    pub address: u64,
    /// Bytes.
    pub size: u32,
}

#[derive(Debug)]
struct Segment {
    /// Never given back to the system: whoever still writes there by mistake harms no one else.
    memory: NonNull<u8>,
    size: usize,
    /// Serials of the recordings in it; empty for one that is free or has no guest bytes to be found by.
    owners: Vec<u64>,
}

// SAFETY: the memory is the segment's own; who reads and writes it is the cursor's and flatten's affair, as with
// the guest's memory.
unsafe impl Send for Segment {}

/// What a recording has lent.
#[derive(Debug, Default)]
struct Holding {
    /// Its segments' addresses.
    segments: Vec<u64>,
    /// Where ranges of its guest bytes began; some may be merged or gone since.
    starts: Vec<u64>,
}

#[derive(Debug, Default)]
struct Segments {
    /// By address; none is ever removed.
    by_address: BTreeMap<u64, Segment>,
    /// Addresses of those that are free, by size.
    free: BTreeMap<usize, Vec<u64>>,
    next_address: u64,
    of_recording: HashMap<u64, Holding>,
    /// The guest bytes of the recordings in `of_recording`: start to (end, serial), without overlaps.
    guest_bytes: BTreeMap<u64, (u64, u64)>,
}

#[derive(Debug)]
pub(crate) struct Lender {
    segments: Mutex<Option<Segments>>,
    /// Bytes lent now.
    lent: AtomicU64,
    bound: u64,
    /// Segments lent so far, and how many of them the log knows of.
    loans: AtomicU64,
    told: AtomicU64,
}

impl Lender {
    pub(crate) const fn new(bound: u64) -> Self {
        Self {
            segments: Mutex::new(None),
            lent: AtomicU64::new(0),
            bound,
            loans: AtomicU64::new(0),
            told: AtomicU64::new(0),
        }
    }

    /// Says that segments were lent: of the first, and then ever more rarely (B220). Submitting calls this: recording
    /// may be on a stack that has no room for a log line (B422).
    pub(crate) fn tell(&self) {
        let (loans, told) = (self.loans.load(Ordering::Relaxed), self.told.load(Ordering::Relaxed));
        if loans >= (2 * told).max(1)
            && self.told.compare_exchange(told, loans, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            tracing::info!(
                "command memory ran short: segments of the host's were lent ({loans} so far, {} bytes are lent now)",
                self.lent_bytes()
            );
        }
    }

    pub(crate) fn lent_bytes(&self) -> u64 {
        self.lent.load(Ordering::Relaxed)
    }

    /// Lends at least `bytes` to the recording `owner`; 0 is none, whose segment is never free again. `None`
    /// beyond the bound.
    pub(crate) fn lend(&self, bytes: usize, owner: u64) -> Option<Lease> {
        if bytes as u64 > self.bound {
            return None;
        }
        let size = match bytes {
            0..=SMALL_SEGMENT if owner == 0 => SMALL_SEGMENT,
            _ => bytes.next_multiple_of(SMALL_SEGMENT).max(SEGMENT),
        };
        let mut segments = self.segments.lock();
        let segments = segments.get_or_insert_default();
        if self.lent.load(Ordering::Relaxed) + size as u64 > self.bound {
            return None;
        }
        let address = match segments.free.get_mut(&size).and_then(Vec::pop) {
            Some(address) => address,
            None => segments.allocate(size),
        };
        let segment = segments.by_address.get_mut(&address)?;
        if owner != 0 {
            segment.owners.push(owner);
            segments.of_recording.entry(owner).or_default().segments.push(address);
        }
        let memory = segment.memory;
        let lent = self.lent.fetch_add(size as u64, Ordering::Relaxed) + size as u64;
        self.loans.fetch_add(1, Ordering::Relaxed);
        tracing::debug!("lends a segment of {size} bytes of command memory; {lent} bytes are lent");
        Some(Lease { memory, address, size: u32::try_from(size).ok()? })
    }

    /// The recording `serial` has written this piece. Frees what that overwrote, and remembers the bytes of
    /// recordings that have segments.
    pub(crate) fn piece_closed(&self, serial: u64, piece: Piece) {
        if self.lent.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut segments = self.segments.lock();
        let Some(segments) = segments.as_mut() else { return };
        match piece.space {
            Space::Guest => {
                let (start, end) = (piece.address, piece.address.saturating_add(u64::from(piece.bytes)));
                let freed = segments.overwritten(start, end, serial);
                self.lent.fetch_sub(freed, Ordering::Relaxed);
                if segments.of_recording.contains_key(&serial) {
                    segments.remember(start, end, serial);
                }
            }
            Space::Lent => segments.join(piece.address, serial),
        }
    }

    /// Runs `read` on the bytes of a lent piece, while no one frees it; `None` if they are in no segment.
    pub(crate) fn read<R>(&self, address: u64, bytes: u32, read: impl FnOnce(NonNull<u8>) -> R) -> Option<R> {
        let segments = self.segments.lock();
        let (&start, segment) = segments.as_ref()?.by_address.range(..=address).next_back()?;
        let offset = usize::try_from(address - start).ok()?;
        if offset.checked_add(bytes as usize)? > segment.size {
            return None;
        }
        // SAFETY: the offset is inside the segment.
        Some(read(unsafe { segment.memory.add(offset) }))
    }
}

impl Segments {
    fn allocate(&mut self, size: usize) -> u64 {
        let address = self.next_address;
        self.next_address += size as u64;
        let memory: &'static mut [u64] = Box::leak(vec![0u64; size / 8].into_boxed_slice());
        let memory = NonNull::from(memory).cast();
        self.by_address.insert(address, Segment { memory, size, owners: Vec::new() });
        address
    }

    /// Frees what recordings other than `serial` have in segments, if their bytes are in `start..end`. Returns
    /// the bytes freed.
    fn overwritten(&mut self, start: u64, end: u64, serial: u64) -> u64 {
        let mut gone = Vec::new();
        for (_, &(range_end, owner)) in self.guest_bytes.range(..end).rev() {
            // Without overlaps, ends are in the order of starts.
            if range_end <= start {
                break;
            }
            if owner != serial && !gone.contains(&owner) {
                gone.push(owner);
            }
        }
        let mut freed = 0;
        for owner in gone {
            let Some(holding) = self.of_recording.remove(&owner) else { continue };
            for at in holding.starts {
                if self.guest_bytes.get(&at).is_some_and(|&(_, of)| of == owner) {
                    self.guest_bytes.remove(&at);
                }
            }
            for address in holding.segments {
                let Some(segment) = self.by_address.get_mut(&address) else { continue };
                segment.owners.retain(|&of| of != owner);
                let is_held = |of: &u64| self.of_recording.get(of).is_some_and(|holding| !holding.starts.is_empty());
                if segment.owners.iter().any(is_held) {
                    continue;
                }
                for of in segment.owners.drain(..) {
                    if let Some(holding) = self.of_recording.get_mut(&of) {
                        holding.segments.retain(|&at| at != address);
                        if holding.segments.is_empty() {
                            self.of_recording.remove(&of);
                        }
                    }
                }
                freed += segment.size as u64;
                self.free.entry(segment.size).or_default().push(address);
            }
        }
        freed
    }

    fn remember(&mut self, mut start: u64, mut end: u64, serial: u64) {
        // What is left in the range is of this recording: one range takes the place of all.
        let inside: Vec<u64> = self
            .guest_bytes
            .range(..end)
            .rev()
            .map(|(&s, &(e, _))| (s, e))
            .take_while(|&(_, e)| e > start)
            .map(|(s, _)| s)
            .collect();
        for at in inside {
            if let Some((old_end, _)) = self.guest_bytes.remove(&at) {
                start = start.min(at);
                end = end.max(old_end);
            }
        }
        self.guest_bytes.insert(start, (end, serial));
        if let Some(holding) = self.of_recording.get_mut(&serial) {
            holding.starts.push(start);
        }
    }

    /// `serial` wrote into a segment that another recording, or a grant, left it.
    fn join(&mut self, address: u64, serial: u64) {
        let Some((&start, segment)) = self.by_address.range_mut(..=address).next_back() else { return };
        if !segment.owners.is_empty() && !segment.owners.contains(&serial) {
            segment.owners.push(serial);
            self.of_recording.entry(serial).or_default().segments.push(start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(address: u64, bytes: u32) -> Piece {
        Piece { space: Space::Guest, address, bytes }
    }

    #[test]
    fn b220_a_record_larger_than_a_segment_gets_one_that_holds_it() {
        let lender = Lender::new(1 << 30);
        let lease = lender.lend(SEGMENT + 4, 1).unwrap();
        assert_eq!(lease.size as usize, SEGMENT + SMALL_SEGMENT);
        assert_eq!(lender.lent_bytes(), u64::from(lease.size));
        assert!(lender.lend((1 << 30) + 1, 1).is_none());
        assert!(lender.lend(usize::MAX, 1).is_none());
        assert!(lender.read(lease.address, lease.size, |_| ()).is_some());
        assert!(lender.read(lease.address + 4, lease.size, |_| ()).is_none());
    }

    /// A program whose lists run short each frame for ever: what the lender keeps about them must not slow it down.
    #[test]
    fn b220_a_hundred_thousand_recordings_that_ran_short_are_found_and_freed() {
        const LISTS: u64 = 1_000;
        let lender = Lender::new(1 << 30);
        for round in 0..100 {
            for list in 0..LISTS {
                let serial = round * LISTS + list + 1;
                let at = list * 0x1000;
                lender.lend(4, serial).unwrap();
                lender.piece_closed(serial, piece(at, 256));
                lender.piece_closed(serial, piece(at + 256, 256));
            }
            assert_eq!(lender.lent_bytes(), LISTS * SEGMENT as u64, "round {round}");
        }
        let segments = lender.segments.lock();
        let segments = segments.as_ref().unwrap();
        assert_eq!((segments.guest_bytes.len(), segments.of_recording.len()), (2 * LISTS as usize, LISTS as usize));
    }
}
