//! What commands write into pools as buffers.
//!
//! Replay names each range that a command may write ([`Pools::gpu_writes`]). Mirrors have these bytes taken down
//! ([`super::mirror`]); and where a texture's storage is watched, its pages count as written once the submission has
//! ended, so that the texture is filled from them at its next use. A use in between, before anybody could have waited
//! for the write, still finds what was there.

use std::collections::VecDeque;
use std::mem;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use navin_memory::{AddressReader, Lookup, Mapping, PoolId};
use parking_lot::Mutex;

use super::{Entry, Pools};

/// Bytes of a pool that have one bit in [`Watched`].
const BLOCK: u64 = 1 << 16;

/// Where in a pool texture storage is watched: a bit for each 64 KB, never taken back while the pool lives.
pub(crate) struct Watched(Box<[AtomicU64]>);

impl Watched {
    pub(super) fn new(pool_bytes: u64) -> Self {
        Self((0..pool_bytes.div_ceil(BLOCK * 64)).map(|_| AtomicU64::new(0)).collect())
    }

    /// The words over a range, with the bits of it.
    fn words(&self, range: Range<u64>) -> impl Iterator<Item = (&AtomicU64, u64)> {
        let (first, end) = (range.start / BLOCK, range.end.div_ceil(BLOCK).max(range.start / BLOCK));
        (first / 64..end.div_ceil(64)).filter_map(move |word| {
            let from = first.max(word * 64) - word * 64;
            let count = end.min(word * 64 + 64).checked_sub(word * 64 + from).filter(|count| *count > 0)?;
            Some((self.0.get(word as usize)?, (u64::MAX >> (64 - count)) << from))
        })
    }

    pub(super) fn add(&self, range: Range<u64>) {
        for (word, bits) in self.words(range) {
            if word.load(Ordering::Relaxed) & bits != bits {
                word.fetch_or(bits, Ordering::Relaxed);
            }
        }
    }

    fn any(&self, range: Range<u64>) -> bool {
        self.words(range).any(|(word, bits)| word.load(Ordering::Relaxed) & bits != 0)
    }

    /// The parts of a range that are watched, in whole blocks but for its ends.
    fn parts(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let range = range.start..range.end.min(self.0.len() as u64 * 64 * BLOCK);
        let mut at = range.start;
        std::iter::from_fn(move || {
            let block = |at: u64| at - at % BLOCK..(at - at % BLOCK).saturating_add(BLOCK);
            while at < range.end && !self.any(block(at)) {
                at = block(at).end;
            }
            let start = at;
            while at < range.end && self.any(block(at)) {
                at = block(at).end;
            }
            (start < range.end).then(|| start..at.min(range.end))
        })
    }
}

/// What commands have written into a pool lately, for textures that come to watch it while that is under way.
#[derive(Default)]
pub(crate) struct Recent(Mutex<RecentWrites>);

#[derive(Default)]
struct RecentWrites {
    /// Submission, as its number was thought to be, and bytes; oldest first.
    writes: VecDeque<(u64, Range<u64>)>,
    /// The newest submission of those that found no place.
    forgotten: u64,
}

impl Recent {
    /// How many are kept.
    const KEPT: usize = 64;

    fn add(&self, range: &Range<u64>, submission: u64) {
        let mut recent = self.0.lock();
        // Commands write the same buffers again and again.
        if let Some(at) = recent.writes.iter().rposition(|(_, known)| known == range) {
            if recent.writes[at].0 == submission {
                return;
            }
            recent.writes.remove(at);
        }
        if recent.writes.len() == Self::KEPT
            && let Some((oldest, _)) = recent.writes.pop_front()
        {
            recent.forgotten = recent.forgotten.max(oldest);
        }
        recent.writes.push_back((submission, range.clone()));
    }

    /// Whether submissions that have not ended may write some of the bytes; `ended` tells of a number.
    fn may_write(&self, range: &Range<u64>, ended: impl Fn(u64) -> bool) -> bool {
        let recent = self.0.lock();
        let over = |known: &Range<u64>| known.start < range.end && range.start < known.end;
        !ended(recent.forgotten) || recent.writes.iter().any(|(number, known)| over(known) && !ended(*number))
    }
}

/// Bytes that a submission may write and that textures watch.
pub(super) struct Written {
    entry: Arc<Entry>,
    range: Range<u64>,
}

/// What is written where textures watch.
#[derive(Default)]
pub(crate) struct GpuWrites {
    /// Anything is in `state`.
    any: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By the piece that is being replayed.
    now: Vec<Written>,
    /// By submissions, oldest first.
    in_flight: VecDeque<(u64, Vec<Written>)>,
}

impl GpuWrites {
    fn add(&self, written: Written) {
        self.any.store(true, Ordering::Release);
        self.state.lock().now.push(written);
    }

    /// What the piece that is about to be submitted may write.
    pub(super) fn take(&self) -> Vec<Written> {
        match self.any.load(Ordering::Acquire) {
            true => mem::take(&mut self.state.lock().now),
            false => Vec::new(),
        }
    }

    pub(super) fn submitted(&self, written: Vec<Written>, ticket: u64) {
        if !written.is_empty() {
            self.state.lock().in_flight.push_back((ticket, written));
        }
    }

    /// Submissions up to `completed` have ended: what they wrote counts as written by the CPU.
    pub(super) fn ended(&self, completed: u64) {
        if !self.any.load(Ordering::Acquire) {
            return;
        }
        let mut state = self.state.lock();
        while state.in_flight.front().is_some_and(|(ticket, _)| *ticket <= completed) {
            let Some((_, written)) = state.in_flight.pop_front() else { break };
            for Written { entry, range } in written {
                let Some((physical, watched)) = entry.physical().and_then(|p| Some((p, p.watched()?))) else {
                    continue;
                };
                for part in watched.parts(range) {
                    physical.tracked().host_writes(part.start, part.end - part.start);
                }
            }
        }
        self.any.store(!state.in_flight.is_empty() || !state.now.is_empty(), Ordering::Release);
    }

    /// Whether something of a pool is written or on its way.
    pub(super) fn holds(&self, pool: PoolId) -> bool {
        let state = self.state.lock();
        let mut all = state.now.iter().chain(state.in_flight.iter().flat_map(|(_, written)| written));
        all.any(|written| written.entry.pool.id == pool)
    }

    /// The pool's memory goes: its tracking ends with it.
    pub(super) fn forget(&self, entry: &Entry) {
        if self.any.load(Ordering::Acquire) {
            let mut state = self.state.lock();
            let State { now, in_flight } = &mut *state;
            for written in in_flight.iter_mut().map(|(_, written)| written).chain([now]) {
                written.retain(|written| written.entry.pool.id != entry.pool.id);
            }
        }
    }
}

impl Pools {
    /// Commands of the piece that is being replayed, for submission `submission`, may write a range of GPU addresses.
    pub(crate) fn gpu_writes(&self, addresses: &mut AddressReader, (address, size): (u64, u64), submission: u64) {
        let mut done = 0;
        while done < size {
            let left = size - done;
            let (memory, step) = match addresses.resolve(address.wrapping_add(done), left) {
                Lookup::Unmapped { remaining, .. } => (None, remaining.min(left)),
                found => {
                    let Some(memory) = found.memory() else { return };
                    (Some(memory), memory.remaining.min(left))
                }
            };
            if step == 0 {
                return;
            }
            if let Some(Mapping { pool, offset, .. }) = memory {
                let range = offset..offset + step;
                if let Some(entry) = self.watched_entry(pool, &range, submission) {
                    self.written.add(Written { entry, range: range.clone() });
                }
                self.mirrors.gpu_writes(pool, range);
            }
            done += step;
        }
    }

    /// The pool, if a texture's storage is watched in these bytes of it; noted for one that comes to be.
    fn watched_entry(&self, pool: PoolId, range: &Range<u64>, submission: u64) -> Option<Arc<Entry>> {
        let entries = self.entries.read();
        let entry = entries.get(&pool)?;
        let physical = entry.physical()?;
        physical.recent().add(range, submission);
        physical.watched()?.any(range.clone()).then(|| Arc::clone(entry))
    }

    /// Bytes of a pool are watched from here on, and about to be read by the CPU, submissions up to `completed` having
    /// ended: if others may write there, they count as written when the piece that is being replayed has ended.
    pub(super) fn note_gpu_writes(&self, entry: Arc<Entry>, range: Range<u64>, completed: u64) {
        // Of a piece that got another number than was thought nothing is known but that.
        let late = self.late.load(Ordering::Acquire);
        let ended = |number: u64| number == 0 || number.max(late) <= completed;
        if entry.physical().is_some_and(|physical| physical.recent().may_write(&range, ended)) {
            self.written.add(Written { entry, range });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_lately_is_known_until_it_has_ended() {
        let recent = Recent::default();
        let may_write = |range: Range<u64>, completed| recent.may_write(&range, |number| number <= completed);
        assert!(!may_write(0..u64::MAX, 0));
        recent.add(&(100..200), 5);
        recent.add(&(300..400), 6);
        assert!(may_write(199..200, 4) && may_write(0..101, 4) && !may_write(200..300, 4));
        assert!(!may_write(100..200, 5) && may_write(399..500, 5) && !may_write(0..500, 6));
        recent.add(&(100..200), 7);
        assert!(may_write(150..151, 6), "the newest counts");
        // More than is kept: everything counts until they have ended.
        (0..Recent::KEPT as u64).for_each(|n| recent.add(&(1000 + n..1001 + n), 8));
        assert!(may_write(0..1, 6) && !may_write(0..1, 7) && may_write(1000..1001, 7) && !may_write(0..u64::MAX, 8));
    }

    #[test]
    fn what_is_watched_is_found_in_blocks() {
        let watched = Watched::new(600 << 20);
        watched.add(3 * BLOCK + 5..3 * BLOCK + 6);
        watched.add(62 * BLOCK..66 * BLOCK + 1);
        watched.add((600 << 20) - 1..600 << 20);
        watched.add(600 << 20..700 << 20);
        let blocks: Vec<u64> = (0..9600).filter(|n| watched.any(n * BLOCK..n * BLOCK + 1)).collect();
        assert_eq!(blocks, [3, 62, 63, 64, 65, 66, 9599]);
        assert!(
            watched.any(0..600 << 20) && watched.any(60 * BLOCK..63 * BLOCK) && !watched.any(4 * BLOCK..62 * BLOCK)
        );
        assert!(!watched.any(5..5));
        let parts = |range| watched.parts(range).collect::<Vec<_>>();
        assert_eq!(parts(0..u64::MAX), [3 * BLOCK..4 * BLOCK, 62 * BLOCK..67 * BLOCK, 9599 * BLOCK..9600 * BLOCK]);
        assert_eq!(parts(3 * BLOCK + 9..62 * BLOCK + 7), [3 * BLOCK + 9..4 * BLOCK, 62 * BLOCK..62 * BLOCK + 7]);
        assert!(parts(4 * BLOCK..62 * BLOCK).is_empty());
    }
}
