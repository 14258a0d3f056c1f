//! What the guest writes through a virtual pool's own CPU range.
//!
//! The range shows pages of physical pools a second time, so a store there touches no page that is watched for the
//! physical pool. From the moment the guest has the range's address, each run of pages in it is tracked by itself
//! ([`GuestView`]), and what is found written is passed on, once a submission, to the physical pools as a write of the
//! CPU's ([`Pools::fetch_guest_views`]): whoever watches their pages hears of it there.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::Ordering;

use navin_memory::tracking::Stamp;
use navin_memory::virtual_pool::VirtualPool;
use navin_memory::{PoolId, SMALL_PAGE};

use super::Pools;
use super::tracking::Tracked;

/// The pages that one virtual pool shows the guest. Dropped before they are unmapped.
#[derive(Default)]
pub(super) struct GuestView {
    /// Where the range begins, once the guest knows.
    base: Option<u64>,
    /// By the first byte of the pool.
    runs: BTreeMap<u64, Run>,
    /// Bytes of the pool whose pages have changed.
    changed: Vec<Range<u64>>,
}

/// Pages that lie side by side in the range and in a physical pool.
struct Run {
    len: u64,
    source: (PoolId, u64),
    tracked: Tracked,
    /// What was written before is known.
    stamp: Stamp,
}

impl GuestView {
    /// Whether the guest has the range's address.
    pub(super) fn is_handed_out(&self) -> bool {
        self.base.is_some()
    }

    /// The guest gets the range's address.
    pub(super) fn hand_out(&mut self, pools: &Pools, table: &VirtualPool, base: u64) {
        if self.base.replace(base).is_none() && pools.tracking.is_on() {
            pools.guest_views.fetch_add(1, Ordering::AcqRel);
            self.changed.push(0..table.size());
            self.watch(pools, table);
        }
    }

    /// Other pages are about to be behind bytes of the pool, or none.
    pub(super) fn change(&mut self, pools: &Pools, range: Range<u64>) {
        if self.base.is_none() {
            return;
        }
        let before = self.runs.range(..range.start).next_back().filter(|(first, run)| *first + run.len > range.start);
        let first = before.map_or(range.start, |(first, _)| *first);
        let over: Vec<u64> = self.runs.range(first..range.end).map(|(first, _)| *first).collect();
        for first in over {
            if let Some(mut run) = self.runs.remove(&first) {
                run.pass_on(pools);
                self.changed.push(first..first + run.len);
            }
        }
        self.changed.push(range);
    }

    /// Watches what is there after changes.
    pub(super) fn watch(&mut self, pools: &Pools, table: &VirtualPool) {
        let Some(base) = self.base.filter(|_| pools.tracking.is_on()) else { return };
        for range in std::mem::take(&mut self.changed) {
            for span in table.spans(range.start, range.end - range.start) {
                let Some((pool, at)) = span.source else { continue };
                // Pages that the host could not show are in the table alone.
                let mut shown = 0;
                while shown < span.size {
                    let len = table.visible(span.offset + shown, span.size - shown).min(span.size - shown);
                    if len > 0 {
                        self.watch_run(pools, base, span.offset + shown, len, (pool, at + shown));
                    }
                    shown += len.max(SMALL_PAGE);
                }
            }
        }
    }

    fn watch_run(&mut self, pools: &Pools, base: u64, offset: u64, len: u64, source: (PoolId, u64)) {
        // A run that two changes named.
        if self.runs.contains_key(&offset) {
            return;
        }
        let tracked = pools.tracking.track((base + offset) as *mut u8, len, true);
        let mut run = Run { len, source, tracked, stamp: Stamp::NEVER };
        // The guest could write from the moment that they were mapped.
        run.pass_on(pools);
        self.runs.insert(offset, run);
    }

    /// Passes on what was written since the last time.
    fn fetch(&mut self, pools: &Pools) {
        for run in self.runs.values_mut() {
            if run.tracked.written_since(0, run.len, run.stamp) {
                run.pass_on(pools);
            }
        }
    }

    /// The range goes.
    pub(super) fn end(&mut self, pools: &Pools) {
        if self.base.take().is_some() && pools.tracking.is_on() {
            pools.guest_views.fetch_sub(1, Ordering::AcqRel);
        }
        self.runs.clear();
        self.changed.clear();
    }
}

impl Run {
    /// Has the physical pool hear of what was written here; later writes are noticed from here on.
    fn pass_on(&mut self, pools: &Pools) {
        let (pool, at) = self.source;
        let stamp = self.tracked.protect(0, self.len);
        let entry = pools.entry(pool);
        if let Some(physical) = entry.as_ref().and_then(|entry| entry.physical()) {
            for part in self.tracked.written_parts(self.stamp) {
                physical.tracked().host_writes(at + part.start, part.end - part.start);
            }
        }
        self.stamp = stamp;
    }
}

impl Pools {
    /// Passes on what guests wrote through virtual pools' ranges; once a submission, behind the fetch.
    pub(crate) fn fetch_guest_views(&self) {
        if self.guest_views.load(Ordering::Acquire) == 0 {
            return;
        }
        for pool in self.virtual_entries().iter().filter_map(|entry| entry.virtual_pool()) {
            pool.with_guest_view(|view| view.fetch(self));
        }
    }
}
