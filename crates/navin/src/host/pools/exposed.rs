//! What shaders with raw pointers can reach (B642): the page table, and when a pool gets into it.
//!
//! A pool's pages are published only when an address in it was given out, since everything in the table must be
//! imported whole and stay with the GPU; and only from the first program on that walks the table at all. An entry
//! point that gives out an address marks the pool; the submit thread publishes what is marked before each submission.
//! [`PageTable`] alone says what the table holds; its writes are carried out here, in order.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use navin_abi::fault;
use navin_memory::page_table::{PageSize, PageWrite};
use navin_memory::{PageTable, PoolId, VirtualPool};
use navin_vulkan::Context;
use parking_lot::Mutex;
use rustc_hash::FxHashSet;

use super::{Entry, Kind, Pools};

/// The page table and the pools that are to go into it.
#[derive(Default)]
pub(crate) struct Exposed {
    /// A program has been given that walks the table.
    walked: AtomicBool,
    /// The newest submission that may walk it.
    last_walk: AtomicU64,
    /// Some pool is marked and not published.
    waiting: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    table: PageTable,
    marked: FxHashSet<PoolId>,
}

impl Exposed {
    /// A program has been given that walks the table.
    pub(crate) fn walk(&self) {
        self.walked.store(true, Ordering::Release);
    }

    /// A submission walks the table.
    pub(super) fn walked_by(&self, submission: u64) {
        self.last_walk.fetch_max(submission, Ordering::AcqRel);
    }

    /// The newest submission that may walk the table; 0 before the first.
    pub(super) fn last_walk(&self) -> u64 {
        self.last_walk.load(Ordering::Acquire)
    }

    /// Whether the pool's pages are in the table.
    pub(super) fn contains(&self, pool: PoolId) -> bool {
        self.state.lock().table.contains(pool)
    }

    /// Takes a pool out of the table, if it is there.
    pub(super) fn withdraw(&self, context: &Context, pool: PoolId) {
        let mut state = self.state.lock();
        state.marked.remove(&pool);
        let mut writes = Vec::new();
        state.table.withdraw(pool, &mut writes);
        carry_out(context, &writes);
    }

    /// A pool goes before it came into the table.
    pub(super) fn forget(&self, pool: PoolId) {
        self.state.lock().marked.remove(&pool);
    }

    /// Pools in the table.
    pub(crate) fn count(&self) -> usize {
        self.state.lock().table.len()
    }
}

impl Pools {
    /// An address in the pool left Navin: shaders may reach it from the next submission on.
    pub(crate) fn give_out(&self, id: u32) {
        let Some(entry) = self.get(id) else { return };
        if entry.given_out.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Some(pool) = entry.virtual_pool() {
            pool.table.give_out();
        }
        self.exposed.state.lock().marked.insert(entry.pool.id);
        self.exposed.waiting.store(true, Ordering::Release);
    }

    /// Before a submission: puts the pools of which addresses were given out into the page table.
    pub(crate) fn publish(&self, context: &Arc<Context>) {
        let exposed = &self.exposed;
        if !exposed.walked.load(Ordering::Acquire) {
            return;
        }
        if !exposed.waiting.swap(false, Ordering::AcqRel) {
            return;
        }
        let mut state = exposed.state.lock();
        for id in std::mem::take(&mut state.marked) {
            if let Some(entry) = self.entry(id) {
                self.publish_one(context, &mut state.table, &entry);
            }
        }
    }

    fn publish_one(&self, context: &Arc<Context>, table: &mut PageTable, entry: &Arc<Entry>) {
        let mut writes = Vec::new();
        let published = match &entry.kind {
            Kind::Physical(physical) => {
                let mut pieces = Vec::new();
                let mut at = 0;
                while at < entry.pool.range.size {
                    let Some((address, bytes)) = physical.device(context, at) else { return };
                    pieces.push((bytes, address));
                    at += bytes;
                }
                self.mirrors.exposed(entry);
                table.publish_pieces(entry.pool.id, entry.pool.range, &pieces, &mut writes)
            }
            Kind::Virtual(pool) => {
                let device = |id, offset| self.device_address(context, id, offset);
                table.publish_virtual(&pool.table, entry.pool.range, device, &mut writes)
            }
        };
        if let Err(e) = published {
            fault!(
                key = entry.pool.id.0,
                "B642",
                "memory pool {} cannot be reached by raw pointers: {e}; they read 0 there",
                entry.pool.id.0
            );
        }
        carry_out(context, &writes);
    }

    /// Other pages are behind a range of a virtual pool.
    pub(super) fn republish(&self, context: &Arc<Context>, pool: &VirtualPool, changed: Range<u64>) {
        let state = self.exposed.state.lock();
        let mut writes = Vec::new();
        state.table.update(pool, changed, |id, offset| self.device_address(context, id, offset), &mut writes);
        carry_out(context, &writes);
    }

    /// Device address of a byte of a physical pool, and how many bytes lie side by side from there on.
    fn device_address(&self, context: &Arc<Context>, id: PoolId, offset: u64) -> Option<(u64, u64)> {
        let entry = self.entry(id)?;
        let found = entry.physical()?.device(context, offset)?;
        self.mirrors.exposed(&entry);
        Some(found)
    }
}

fn carry_out(context: &Context, writes: &[PageWrite]) {
    for write in writes {
        let addresses: Vec<u64> = write.addresses().collect();
        let written = match write.size {
            PageSize::Big => context.tables().write_pages(write.leaf, write.first, &addresses),
            PageSize::Small { entry } => context.tables().write_small_pages(write.leaf, entry, write.first, &addresses),
        };
        if !written {
            fault!(
                key = write.address(),
                "B642",
                "no memory for the page table at {:#x}: raw pointers read 0 there",
                write.address()
            );
        }
    }
}
