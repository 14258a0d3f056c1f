//! A texture's bytes in guest memory, wherever its pool has them, and whether they have changed.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use navin_memory::tracking::Stamp;
use navin_memory::{PoolId, SMALL_PAGE};
use navin_vulkan::{BufferRange, Context};
use smallvec::SmallVec;

use super::physical::Physical;
use super::{Entry, Kind, Pools};

/// A range of a pool's bytes, for the submit thread. Holds the pool while it is looked at.
pub(crate) struct Bytes<'a> {
    pools: &'a Pools,
    entry: Arc<Entry>,
    offset: u64,
}

/// A part of the range that lies in one piece of a physical pool.
struct Piece {
    /// Of the range.
    range: Range<u64>,
    /// The physical pool and the offset in it; `None`: zeroes.
    source: Option<(Arc<Entry>, u64)>,
}

impl Pools {
    /// `size` bytes at `offset` of a pool; `None` when they are not all in it, or it is gone.
    pub(crate) fn bytes(&self, pool: u32, offset: u64, size: u64) -> Option<Bytes<'_>> {
        let entry = self.get(pool)?;
        (offset.checked_add(size)? <= entry.pool.size()).then_some(Bytes { pools: self, entry, offset })
    }
}

/// As long as this stays the same no byte of any pool is known to have changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moment {
    clock: Stamp,
    /// Mappings of all virtual pools so far.
    mappings: u64,
}

impl Pools {
    /// The moment now.
    pub(crate) fn moment(&self) -> Moment {
        Moment { clock: self.tracking.clock(), mappings: self.mappings.load(Ordering::Acquire) }
    }
}

impl Bytes<'_> {
    /// Whether the CPU may write the bytes, so that they are to be taken again when it did.
    pub(crate) fn cpu_writes(&self) -> bool {
        match &self.entry.kind {
            Kind::Physical(_) => self.entry.pool.flags.cpu_visible(),
            // Through the physical pools.
            Kind::Virtual(_) => true,
        }
    }

    /// Whether CPU writes are noticed without the guest saying so.
    pub(crate) fn is_tracked(&self) -> bool {
        match &self.entry.kind {
            Kind::Physical(physical) => physical.tracked().is_tracked(),
            Kind::Virtual(_) => self.pools.tracking.is_on(),
        }
    }

    /// Whether nothing tells of CPU writes into some of the bytes, though there may be any (B205).
    pub(crate) fn is_refused(&self, range: Range<u64>) -> bool {
        self.pieces(range).iter().filter_map(|piece| piece.source.as_ref()).any(|(entry, _)| {
            let physical = entry.physical();
            physical.is_some_and(|physical| physical.tracked().is_refused())
        })
    }

    /// The bytes are about to be read on the CPU, submissions up to `completed` having ended: what a later one or the
    /// piece that is being replayed writes there counts as written when it has ended.
    pub(crate) fn note_gpu_writes(&self, range: Range<u64>, completed: u64) {
        for Piece { range, source } in self.pieces(range) {
            let Some((entry, at)) = source else { continue };
            self.pools.note_gpu_writes(entry, at..at + (range.end - range.start), completed);
        }
    }

    /// Where `range` of the bytes lies.
    fn pieces(&self, range: Range<u64>) -> SmallVec<[Piece; 1]> {
        match &self.entry.kind {
            Kind::Physical(_) => {
                let source = Some((Arc::clone(&self.entry), self.offset + range.start));
                SmallVec::from_iter([Piece { range, source }])
            }
            Kind::Virtual(pool) => {
                let spans = pool.table.spans(self.offset + range.start, range.end - range.start);
                let piece = |span: navin_memory::virtual_pool::Span| {
                    let start = span.offset - self.offset;
                    let entry = |(id, at): (PoolId, u64)| Some((self.pools.entry(id)?, at));
                    Piece { range: start..start + span.size, source: span.source.and_then(entry) }
                };
                spans.map(piece).collect()
            }
        }
    }

    /// The generation of what is mapped in the bytes' pool; take it before they are [read](Self::read).
    pub(crate) fn generation(&self) -> u64 {
        self.entry.virtual_pool().map_or(0, |pool| pool.table.generation())
    }

    /// From here on writes into `range` are noticed, as writes since the stamp; call it before the bytes are
    /// [read](Self::read) (B412).
    pub(crate) fn watch(&self, range: Range<u64>) -> Stamp {
        let pieces = self.pieces(range);
        let protect = || {
            let one = |piece: &Piece| {
                let (entry, at) = piece.source.as_ref()?;
                Some(entry.physical()?.watch(*at, piece.range.end - piece.range.start))
            };
            pieces.iter().filter_map(one).fold(Stamp::NEVER, Stamp::max)
        };
        let stamp = protect();
        if pieces.len() > 1 {
            // The stamp is the newest of them. What was written into another piece before it was taken is protected once
            // more, under a newer one, and so counts as written since.
            protect();
        }
        stamp
    }

    /// Whether other pages are behind `range` than when the bytes were read at `generation` (B118).
    pub(crate) fn remapped_since(&self, range: Range<u64>, generation: u64) -> bool {
        self.entry.virtual_pool().is_some_and(|pool| {
            pool.table.changed_since(self.offset + range.start, range.end - range.start, generation)
        })
    }

    /// Whether the CPU may have written pages under `range` since the stamp.
    pub(crate) fn written_since(&self, range: Range<u64>, stamp: Stamp) -> bool {
        let written = |physical: &Physical, at: u64, range: &Range<u64>| {
            physical.tracked().written_since(at, range.end - range.start, stamp)
        };
        if let Kind::Physical(physical) = &self.entry.kind {
            return written(physical, self.offset + range.start, &range);
        }
        self.pieces(range).iter().any(|piece| {
            let source = piece.source.as_ref();
            source.is_some_and(|(entry, at)| entry.physical().is_some_and(|p| written(p, *at, &piece.range)))
        })
    }

    /// Brings to guest memory what the GPU wrote into `range` of a pool that lives in device memory; waits for it.
    pub(crate) fn bring(&self, context: &Arc<Context>, range: Range<u64>) {
        if let Kind::Physical(physical) = &self.entry.kind {
            let mirrored = self.pools.mirrors.holds_gpu_only(self.entry.pool.id);
            physical.bring(context, self.offset + range.start, range.end - range.start, mirrored);
        }
    }

    /// All `size` bytes as the GPU sees them, for the submission of that number; `None` where it sees a copy, or not all
    /// of them side by side.
    pub(crate) fn on_gpu(&self, context: &Arc<Context>, size: u64, submission: u64) -> Option<BufferRange> {
        let pieces = self.pieces(0..size);
        let [Piece { source: Some((entry, at)), range }] = &*pieces else { return None };
        (range.end - range.start == size).then(|| entry.physical()?.on_gpu(context, *at, size, submission))?
    }

    /// The bytes at the begin and at the end that share their pages with others': of the page before the first whole
    /// one, and of the page behind the last. Empty where a page border is, and where no page is looked at because the
    /// CPU does not write the pool.
    pub(crate) fn ends(&self, size: u64) -> (Range<u64>, Range<u64>) {
        if !self.cpu_writes() {
            return (0..0, size..size);
        }
        let start = match &self.entry.kind {
            Kind::Physical(physical) => physical.tracked().start() + self.offset,
            // Pages of 4 KB are what a virtual pool is made of.
            Kind::Virtual(_) => self.offset,
        };
        let page = match &self.entry.kind {
            Kind::Physical(_) => self.pools.tracking.granule(),
            Kind::Virtual(_) => SMALL_PAGE,
        };
        let head = (start.next_multiple_of(page) - start).min(size);
        let tail = size - ((start + size) % page).min(size - head);
        (0..head, tail..size)
    }

    /// A copy of `range` of the bytes, or the bytes themselves where they lie in one piece. The guest may write them
    /// meanwhile, as it may while a GPU reads them: they are to be copied, never interpreted.
    pub(crate) fn read(&self, range: Range<u64>) -> Cow<'_, [u8]> {
        let size = (range.end - range.start) as usize;
        let pieces = self.pieces(range.clone());
        if let [Piece { source: Some((entry, at)), range: whole }] = &*pieces
            && *whole == range
            && let Some(start) = entry.physical().and_then(|physical| physical.host(*at, size as u64))
        {
            // SAFETY: inside the pool's storage, which stays mapped while the submit thread replays (`destroy` waits
            // for it).
            return Cow::Borrowed(unsafe { std::slice::from_raw_parts(start.as_ptr(), size) });
        }
        let mut bytes = vec![0; size];
        for piece in &pieces {
            let size = piece.range.end - piece.range.start;
            let from = piece.source.as_ref().and_then(|(entry, at)| entry.physical()?.host(*at, size));
            if let Some(from) = from {
                let to = &mut bytes[(piece.range.start - range.start) as usize..][..size as usize];
                // SAFETY: as above; the copy is ours.
                unsafe { from.as_ptr().copy_to_nonoverlapping(to.as_mut_ptr(), size as usize) };
            }
        }
        Cow::Owned(bytes)
    }

    /// Navin is about to write the bytes of `range`: textures that lie there as well shall hear of it.
    pub(crate) fn announce(&self, range: Range<u64>) {
        for piece in &self.pieces(range) {
            if let Some((entry, at)) = &piece.source
                && let Some(physical) = entry.physical()
            {
                physical.tracked().host_writes(*at, piece.range.end - piece.range.start);
            }
        }
    }

    /// Has `change` write the bytes of `range`: in place where they lie in one piece, else in a copy that is brought
    /// back piece by piece.
    pub(crate) fn update(&self, range: Range<u64>, change: impl FnOnce(&mut [u8])) {
        self.update_within(range.clone(), range, change);
    }

    /// As [`update`](Self::update), for a change that stays inside `touched`: only its pages count as written, so that
    /// a single texel costs the same in a texture of any size (B312).
    pub(crate) fn update_within(&self, range: Range<u64>, touched: Range<u64>, change: impl FnOnce(&mut [u8])) {
        let size = (range.end - range.start) as usize;
        self.announce(touched);
        let pieces = self.pieces(range.clone());
        if let [Piece { source: Some((entry, at)), range: whole }] = &*pieces
            && *whole == range
            && let Some(start) = entry.physical().and_then(|physical| physical.host(*at, size as u64))
        {
            // SAFETY: as in `read`; the guest has asked for these bytes to be written and leaves them alone.
            change(unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), size) });
            return;
        }
        let mut bytes = self.read(range.clone()).into_owned();
        change(&mut bytes);
        for piece in &pieces {
            let size = piece.range.end - piece.range.start;
            let to = piece.source.as_ref().and_then(|(entry, at)| entry.physical()?.host(*at, size));
            if let Some(to) = to {
                let from = &bytes[(piece.range.start - range.start) as usize..][..size as usize];
                // SAFETY: as above.
                unsafe { to.as_ptr().copy_from_nonoverlapping(from.as_ptr(), size as usize) };
            }
        }
    }
}
