//! Pools that no import takes: their bytes are carried to the GPU before a submission and back after it.
//!
//! While a piece is replayed, lookups name the mirrored pools that it uses ([`Mirrors::used`]) and commands the ranges
//! that they may write ([`Mirrors::gpu_writes`]); shaders with raw pointers may write everything they reach
//! ([`Pools::walks`]). When the piece is about to be submitted, [`Pools::carry_up`] records into an encoder that goes in
//! front of it: the upload of the pages that the CPU wrote since the last time, by the write tracker's word, and a copy
//! of the bytes that the piece may write; a copy of the same bytes goes behind its commands. When the GPU has passed the
//! submission, whoever publishes that has what differs put into the guest's memory first ([`Pools::come_down`]), in the
//! order of submissions. Which bytes of a page go up while others of it have yet to come down is
//! [`navin_memory::mirror`]'s.
//!
//! Storage that nothing tracks is carried up whole each time. A pool that only the GPU looks into is carried up once,
//! and comes down only where Navin itself looks.
//!
//! What one memory can do and two cannot: a shader does not see what the CPU writes while it runs, nor the CPU what the
//! GPU has written before its submission has ended.

use std::collections::VecDeque;
use std::iter;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use navin_abi::fault;
use navin_memory::PoolId;
use navin_memory::mirror::{Carry, MirrorPages, PAGE, in_order};
use navin_memory::tracking::Stamp;
use navin_vulkan::{Context, Encoder, MemoryError, PoolAccess, PoolBuffer, WriteBack};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::gpu_writes::Written;
use super::physical::Physical;
use super::{Entry, Pools};
use crate::driver::Driver;

/// Every mirrored pool, and what is on its way down.
#[derive(Default)]
pub(crate) struct Mirrors {
    /// Some pool is mirrored: nothing here is looked at before.
    any: AtomicBool,
    state: Mutex<State>,
    carried: AtomicU64,
    came_down: AtomicU64,
}

#[derive(Default)]
struct State {
    pools: FxHashMap<PoolId, Mirror>,
    /// What submissions wrote, oldest first.
    in_flight: VecDeque<InFlight>,
}

/// A mirrored pool.
struct Mirror {
    entry: Arc<Entry>,
    pages: MirrorPages,
    /// What the mirror has of the CPU's bytes: everything up to here.
    stamp: Stamp,
    /// The tracker's clock when nothing had been written since.
    clean_at: Option<Stamp>,
    /// The piece that is being replayed uses it.
    used: bool,
    /// Raw pointers reach it.
    exposed: bool,
    /// What the piece that is being replayed may write.
    written: Vec<Range<u64>>,
}

struct InFlight {
    ticket: u64,
    came: Came,
}

/// What one submission may have written into one pool.
struct Came {
    pool: PoolId,
    /// Of the pool's submissions.
    submission: u64,
    back: WriteBack,
}

/// What goes with a submission.
#[derive(Default)]
pub(crate) struct Carried {
    /// Goes in front of it.
    pub(crate) first: Option<Box<Encoder>>,
    came: Vec<Came>,
    /// What textures are to hear of.
    seen: Vec<Written>,
}

impl Mirrors {
    fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// The piece that is being replayed uses a mirrored pool.
    #[cold]
    pub(super) fn used(&self, entry: &Arc<Entry>) {
        self.with(entry, |mirror| mirror.used = true);
    }

    /// Raw pointers reach a pool from now on; nothing for one that is no mirror.
    pub(super) fn exposed(&self, entry: &Arc<Entry>) {
        if entry.physical().is_some_and(|physical| physical.mirror().is_some()) {
            self.with(entry, |mirror| mirror.exposed = true);
        }
    }

    fn with(&self, entry: &Arc<Entry>, change: impl FnOnce(&mut Mirror)) {
        self.any.store(true, Ordering::Release);
        let mut state = self.state.lock();
        let mirror = state.pools.entry(entry.pool.id).or_insert_with(|| Mirror {
            entry: Arc::clone(entry),
            pages: MirrorPages::new(entry.pool.size()),
            stamp: Stamp::NEVER,
            clean_at: None,
            used: false,
            exposed: false,
            written: Vec::new(),
        });
        change(mirror);
    }

    /// Whether the pool is a mirror that only the GPU looks into, and that has its content.
    pub(super) fn holds_gpu_only(&self, pool: PoolId) -> bool {
        self.any()
            && self.state.lock().pools.get(&pool).is_some_and(|mirror| mirror.is_gpu_only() && mirror.has_content())
    }

    /// Commands of the piece that is being replayed may write bytes of a pool; nothing for one that is no mirror.
    pub(super) fn gpu_writes(&self, pool: PoolId, range: Range<u64>) {
        if self.any()
            && let Some(mirror) = self.state.lock().pools.get_mut(&pool)
        {
            mirror.written.push(range);
        }
    }

    /// Whether a pool is in the table.
    pub(super) fn holds(&self, pool: PoolId) -> bool {
        self.state.lock().pools.contains_key(&pool)
    }

    /// Everything countable about mirrors.
    pub(super) fn report(&self) -> serde_json::Value {
        let state = self.state.lock();
        serde_json::json!({
            "pools": state.pools.len(),
            "in_flight": state.in_flight.len(),
            "carried_bytes": self.carried.load(Ordering::Relaxed),
            "came_down_bytes": self.came_down.load(Ordering::Relaxed),
        })
    }
}

impl Pools {
    /// A program of the piece that is being replayed, for submission `submission`, walks the page table: it may write
    /// whatever is in there.
    #[inline]
    pub(crate) fn walks(&self, submission: u64) {
        self.exposed.walked_by(submission);
        if !self.mirrors.any() {
            return;
        }
        for mirror in self.mirrors.state.lock().pools.values_mut().filter(|mirror| mirror.exposed) {
            mirror.used = true;
            mirror.written.clear();
            mirror.written.push(0..mirror.entry.pool.size());
        }
    }

    /// Before a piece is submitted: brings the mirrors that it uses up to date, and has taken down what it may write.
    pub(crate) fn carry_up(&self, context: &Arc<Context>, encoder: &mut Encoder) -> Carried {
        let mut carried = Carried { seen: self.written.take(), ..Carried::default() };
        if !self.mirrors.any() {
            return carried;
        }
        let mut state = self.mirrors.state.lock();
        let mut bytes = 0;
        for (id, mirror) in &mut state.pools {
            if !std::mem::take(&mut mirror.used) && mirror.written.is_empty() {
                continue;
            }
            let entry = Arc::clone(&mirror.entry);
            let Some((physical, buffer)) = entry.physical().and_then(|p| Some((p, p.mirror()?))) else { continue };
            let mut up = Up { context, buffer, first: &mut carried.first, bytes: 0 };
            match mirror.carry_up(physical, &mut up, encoder) {
                Ok(Some((submission, back))) => carried.came.push(Came { pool: *id, submission, back }),
                Ok(None) => {}
                Err(e) => {
                    mirror.begin_anew();
                    fault!(
                        key = id.0,
                        "B109",
                        "no memory to carry pool {} to the GPU and back ({e}): a submission goes without what the CPU wrote there",
                        id.0
                    );
                }
            }
            bytes += up.bytes;
        }
        self.mirrors.carried.fetch_add(bytes, Ordering::Relaxed);
        carried
    }

    /// What was carried up went with the submission of this ticket; `None`: it was refused.
    pub(crate) fn carried(&self, carried: Carried, ticket: Option<u64>) {
        let Carried { came, seen, .. } = carried;
        if let Some(ticket) = ticket {
            self.written.submitted(seen, ticket);
        }
        if came.is_empty() && (ticket.is_some() || !self.mirrors.any()) {
            return;
        }
        let mut state = self.mirrors.state.lock();
        match ticket {
            Some(ticket) => state.in_flight.extend(came.into_iter().map(|came| InFlight { ticket, came })),
            // Nothing of it reached the mirrors.
            None => state.pools.values_mut().for_each(Mirror::begin_anew),
        }
    }

    /// The GPU has passed submissions up to `completed`: what they wrote into mirrors comes to the guest's memory,
    /// before anybody is told.
    pub(crate) fn come_down(&self, completed: u64) {
        self.written.ended(completed);
        if !self.mirrors.any() {
            return;
        }
        let mut state = self.mirrors.state.lock();
        while state.in_flight.front().is_some_and(|oldest| oldest.ticket <= completed) {
            let Some(InFlight { came, .. }) = state.in_flight.pop_front() else { return };
            let Some(mirror) = state.pools.get_mut(&came.pool) else { continue };
            let Some(physical) = mirror.entry.physical() else { continue };
            let pages = &mut mirror.pages;
            if let Some(buffer) = physical.mirror() {
                let changed = buffer.write_back(&came.back, |offset, old, new| {
                    // Textures and mirrors that lie there as well shall hear of it.
                    physical.tracked().host_writes(offset, new.len() as u64);
                    pages.came_down(offset, old, new);
                });
                self.mirrors.came_down.fetch_add(changed, Ordering::Relaxed);
            }
            pages.ended(came.submission);
        }
    }

    /// A pool's memory goes; submissions up to `last`, which used it, have ended.
    pub(super) fn mirror_ends(&self, driver: &Driver, pool: PoolId, last: u64) {
        if !self.mirrors.any() {
            return;
        }
        self.come_down(last.min(driver.context.queue().completed()));
        let mut state = self.mirrors.state.lock();
        // Of a lost device, what never ended.
        state.in_flight.retain(|in_flight| in_flight.came.pool != pool);
        let gone = state.pools.remove(&pool);
        drop(state);
        drop(gone);
    }
}

/// Where uploads of one pool are recorded.
struct Up<'a> {
    context: &'a Arc<Context>,
    buffer: &'a PoolBuffer,
    first: &'a mut Option<Box<Encoder>>,
    bytes: u64,
}

impl Up<'_> {
    /// The encoder in front.
    fn encoder(&mut self) -> Result<&mut Encoder, MemoryError> {
        if self.first.is_none() {
            *self.first = Some(self.context.queue().begin().map_err(|e| MemoryError::Refused(e.to_string()))?);
        }
        self.first.as_deref_mut().ok_or_else(|| MemoryError::Refused("no encoder".to_owned()))
    }

    fn storage(&mut self, ranges: &[Range<u64>]) -> Result<(), MemoryError> {
        if !ranges.is_empty() {
            let buffer = self.buffer;
            self.bytes += buffer.upload(self.encoder()?, ranges)?;
        }
        Ok(())
    }

    fn page(&mut self, page: usize, bytes: &[u8], parts: &[Range<usize>]) -> Result<(), MemoryError> {
        if !parts.is_empty() {
            let buffer = self.buffer;
            buffer.upload_parts(self.encoder()?, (page * PAGE) as u64, bytes, parts)?;
            self.bytes += parts.iter().map(|part| part.len() as u64).sum::<u64>();
        }
        Ok(())
    }
}

impl Mirror {
    fn is_gpu_only(&self) -> bool {
        self.entry.physical().is_some_and(|physical| physical.access() == PoolAccess::GpuOnly)
    }

    /// What went up is not known any more: all of it goes up the next time.
    fn begin_anew(&mut self) {
        (self.stamp, self.clean_at) = (Stamp::NEVER, None);
        self.pages.forget();
    }

    fn has_content(&self) -> bool {
        self.clean_at.is_some() || self.stamp != Stamp::NEVER
    }

    /// What the CPU wrote since the last time, as ranges of whole pages. From here on later writes are noticed.
    fn written_by_cpu(&mut self, physical: &Physical) -> Vec<Range<u64>> {
        let size = self.entry.pool.size();
        let tracked = physical.tracked();
        if self.is_gpu_only() {
            // What the memory held when the pool was made, once (B315).
            return if self.clean_at.replace(Stamp::NEVER).is_some() {
                Vec::new()
            } else {
                iter::once(0..size).collect()
            };
        }
        if !tracked.is_tracked() {
            return iter::once(0..size).collect();
        }
        let clock = tracked.clock();
        if self.clean_at == Some(clock) {
            return Vec::new();
        }
        if !tracked.written_since(0, size, self.stamp) {
            self.clean_at = Some(clock);
            return Vec::new();
        }
        // The stamp comes before the bytes are read (B412). What the protection finds written is newer than the old stamp
        // and no newer than the new one.
        let stamp = tracked.protect(0, size);
        let parts = tracked.written_parts(self.stamp);
        (self.stamp, self.clean_at) = (stamp, None);
        parts
    }

    /// Records what goes up in front of a submission, and what is taken down around it.
    fn carry_up(
        &mut self,
        physical: &Physical,
        up: &mut Up<'_>,
        encoder: &mut Encoder,
    ) -> Result<Option<(u64, WriteBack)>, MemoryError> {
        let mut written = std::mem::take(&mut self.written);
        if self.is_gpu_only() {
            written.clear();
        }
        let by_cpu = self.written_by_cpu(physical);
        if written.is_empty() {
            self.carry_pages(physical, up, &by_cpu, &[])?;
            return Ok(None);
        }
        let submission = self.pages.begin();
        let mut by_gpu: Vec<Range<usize>> = written.iter().map(MirrorPages::pages).collect();
        by_gpu.sort_unstable_by_key(|pages| pages.start);
        by_gpu.dedup_by(|next, last| {
            let joins = next.start <= last.end;
            if joins {
                last.end = last.end.max(next.end);
            }
            joins
        });
        self.carry_pages(physical, up, &by_cpu, &by_gpu)?;
        self.keep_pages(physical, up, submission, &by_cpu, &by_gpu)?;
        let Some(mut back) = up.buffer.track_writes(up.encoder()?, &in_order(&written))? else { return Ok(None) };
        back.record(encoder);
        Ok(Some((submission, back)))
    }

    /// Uploads pages that the CPU wrote, but for those that are first to be kept.
    fn carry_pages(
        &mut self,
        physical: &Physical,
        up: &mut Up<'_>,
        by_cpu: &[Range<u64>],
        by_gpu: &[Range<usize>],
    ) -> Result<(), MemoryError> {
        let mut whole: Vec<Range<u64>> = Vec::new();
        for page in by_cpu.iter().flat_map(MirrorPages::pages) {
            if self.pages.is_pending(page) {
                let now = copy_of(physical, page);
                if let Carry::Parts(parts) = self.pages.carry(page, &now) {
                    up.page(page, &now, &parts)?;
                }
            } else if !holds(by_gpu, page) {
                let start = (page * PAGE) as u64;
                match whole.last_mut() {
                    Some(last) if last.end == start => last.end += PAGE as u64,
                    _ => whole.push(start..start + PAGE as u64),
                }
            }
        }
        up.storage(&whole)
    }

    /// Keeps what the CPU has in the pages that the GPU may write, and uploads of these what the mirror may lack.
    fn keep_pages(
        &mut self,
        physical: &Physical,
        up: &mut Up<'_>,
        submission: u64,
        by_cpu: &[Range<u64>],
        by_gpu: &[Range<usize>],
    ) -> Result<(), MemoryError> {
        let by_cpu: Vec<Range<usize>> = by_cpu.iter().map(MirrorPages::pages).collect();
        let mut unsure = Vec::new();
        for page in by_gpu.iter().cloned().flatten() {
            let read = |known: &mut [u8]| read_page(physical, page, known);
            let Some(known) = self.pages.gpu_writes(submission, page, read) else { continue };
            if holds(&by_cpu, page) {
                up.page(page, known, std::slice::from_ref(&(0..PAGE)))?;
            } else {
                unsure.push(page);
            }
        }
        // The bytes kept are those that went up the last time, unless the CPU has written them in between.
        let (Some(first), Some(last)) = (unsure.first(), unsure.last()) else { return Ok(()) };
        let span = (first * PAGE) as u64..((last + 1) * PAGE) as u64;
        physical.tracked().fetch(span.start, span.end - span.start);
        for page in unsure {
            if physical.tracked().written_since((page * PAGE) as u64, PAGE as u64, self.stamp) {
                up.page(page, self.pages.known(page), std::slice::from_ref(&(0..PAGE)))?;
            }
        }
        Ok(())
    }
}

/// Whether one of the ranges, which are sorted and apart, holds the page.
fn holds(ranges: &[Range<usize>], page: usize) -> bool {
    let next = ranges.partition_point(|range| range.end <= page);
    ranges.get(next).is_some_and(|range| range.contains(&page))
}

fn copy_of(physical: &Physical, page: usize) -> [u8; PAGE] {
    let mut bytes = [0; PAGE];
    read_page(physical, page, &mut bytes);
    bytes
}

/// Copies a page of the storage. The guest may be writing it: each byte is an old or a new one then.
fn read_page(physical: &Physical, page: usize, to: &mut [u8]) {
    if let Some(from) = physical.host((page * PAGE) as u64, to.len() as u64) {
        // SAFETY: inside the storage, which stays mapped while its mirror is kept (`mirror_ends`).
        unsafe { from.as_ptr().copy_to_nonoverlapping(to.as_mut_ptr(), to.len()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_found_in_the_range_that_holds_it() {
        let ranges = [2..4, 7..8, 10..20];
        let held: Vec<usize> = (0..22).filter(|&page| holds(&ranges, page)).collect();
        assert_eq!(held, [2, 3, 7, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
        assert!(!holds(&[], 0));
    }
}
