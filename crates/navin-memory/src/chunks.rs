//! Which pieces of a large pool are imported (B122, B652): numbers only, the imports are the driver's.
//!
//! An import pins its pages for as long as it lives, so a pool of 512 MB or more is imported in *chunks*, each made at
//! the first look-up that needs it. A chunk begins at a 16 MB stride. Shaders and the GPU see consecutive addresses
//! only inside one chunk, so a look-up states how many bytes it needs, and gets a chunk that has them all; one that
//! does not know asks for 64 MB.
//!
//! Look-ups that walk through a pool would each make a chunk of 80 MB at their own stride, five times over every page.
//! So a new chunk takes in those that it touches, up to 256 MB, and chunks overlap only past that.

use std::collections::BTreeMap;
use std::ops::Range;

/// Pools of this size and more are imported in chunks.
pub const CHUNKED: u64 = 512 << 20;
/// Chunks begin and end at multiples of this, or at the pool's end.
pub const STRIDE: u64 = 16 << 20;
/// What a look-up asks for whose length nobody knows: indirect draws, raw storage addresses.
pub const UNKNOWN_LENGTH: u64 = 64 << 20;
/// Chunks are joined up to this size, so that making one anew stays cheap.
const JOINED: u64 = 256 << 20;

/// How many bytes a look-up needs from its address on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// So many.
    Bytes(u64),
    /// Nobody knows: [`UNKNOWN_LENGTH`].
    Unknown,
}

impl Need {
    fn bytes(self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.max(1),
            Self::Unknown => UNKNOWN_LENGTH,
        }
    }
}

/// Names a chunk; never used twice in one plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkId(pub u64);

/// A piece of a pool that is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its name.
    pub id: ChunkId,
    /// Where it begins in the pool.
    pub start: u64,
    /// Bytes.
    pub size: u64,
}

impl Chunk {
    /// First byte past it.
    pub fn end(&self) -> u64 {
        self.start + self.size
    }

    fn holds(&self, start: u64, end: u64) -> bool {
        self.start <= start && end <= self.end()
    }
}

/// What a look-up has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChunkUse {
    /// The chunk is there.
    There(Chunk),
    /// These bytes of the pool are to be imported; then [`ChunkPlan::made`] tells the plan.
    Make(Range<u64>),
}

/// The chunks of one pool.
#[derive(Clone, Debug)]
pub struct ChunkPlan {
    size: u64,
    /// One import for the whole pool.
    single: bool,
    /// By first byte; no two begin at the same.
    chunks: BTreeMap<u64, Chunk>,
    made: u64,
}

impl ChunkPlan {
    /// For a pool of `size` bytes; `one_import` is the diagnostic switch of B122.
    pub fn new(size: u64, one_import: bool) -> Self {
        Self { size, single: one_import || size < CHUNKED, chunks: BTreeMap::new(), made: 0 }
    }

    /// For a pool of any size, in chunks.
    pub fn chunked(size: u64) -> Self {
        Self { size, single: false, chunks: BTreeMap::new(), made: 0 }
    }

    /// Whether the pool is one import, made when the pool is: [`lookup`](Self::lookup) then answers the whole pool.
    pub fn is_single(&self) -> bool {
        self.single
    }

    /// The chunk for a look-up at `offset`; `None` past the pool's end. It has all the bytes needed, or all up to the
    /// pool's end. Changes nothing.
    pub fn lookup(&self, offset: u64, need: Need) -> Option<ChunkUse> {
        if offset >= self.size {
            return None;
        }
        let end = offset.saturating_add(need.bytes()).min(self.size);
        if let Some(chunk) = self.covering(offset, end) {
            return Some(ChunkUse::There(chunk));
        }
        if self.single {
            return Some(ChunkUse::Make(0..self.size));
        }
        let (mut start, mut stop) = (offset - offset % STRIDE, end.next_multiple_of(STRIDE).min(self.size));
        // Those that it overlaps are taken in, as long as the result is not too large; each may reach further ones.
        loop {
            let joins = |chunk: &&Chunk| {
                let (from, to) = (chunk.start.min(start), chunk.end().max(stop));
                chunk.start < stop && start < chunk.end() && (from, to) != (start, stop) && to - from <= JOINED
            };
            match self.chunks.values().find(joins) {
                Some(chunk) => (start, stop) = (chunk.start.min(start), chunk.end().max(stop)),
                None => break,
            }
        }
        Some(ChunkUse::Make(start..stop))
    }

    /// The bytes of a [`ChunkUse::Make`] have been imported: the new chunk's name, and those that are inside it and
    /// superfluous now, to go by deferred release.
    pub fn made(&mut self, range: Range<u64>) -> (ChunkId, Vec<ChunkId>) {
        self.made += 1;
        let chunk = Chunk { id: ChunkId(self.made), start: range.start, size: range.end - range.start };
        let inside: Vec<Chunk> = self.chunks().filter(|old| chunk.holds(old.start, old.end())).collect();
        for old in &inside {
            self.chunks.remove(&old.start);
        }
        // None begins here any more: one that reached further would have been the answer.
        self.chunks.insert(chunk.start, chunk);
        (chunk.id, inside.iter().map(|old| old.id).collect())
    }

    /// The chunk that has the bytes, if there is one. Never makes any (B652): for statistics and messages.
    pub fn covering(&self, start: u64, end: u64) -> Option<Chunk> {
        // Few begin close before the byte and reach past it; the nearest first.
        self.chunks.range(..=start).rev().map(|(_, chunk)| *chunk).find(|chunk| chunk.holds(start, end))
    }

    /// The chunks, ascending.
    pub fn chunks(&self) -> impl Iterator<Item = Chunk> + '_ {
        self.chunks.values().copied()
    }

    /// Bytes that are imported, those that overlap counted once.
    pub fn imported(&self) -> u64 {
        let mut reached = 0;
        self.chunks()
            .map(|chunk| {
                let bytes = chunk.end().saturating_sub(chunk.start.max(reached));
                reached = reached.max(chunk.end());
                bytes
            })
            .sum()
    }

    /// Bytes that are imported more than once: as long as there are any, chunks are aliases of one memory.
    pub fn overlap(&self) -> u64 {
        self.chunks().map(|chunk| chunk.size).sum::<u64>() - self.imported()
    }

    /// Takes all chunks out: the pool goes.
    pub fn clear(&mut self) -> Vec<ChunkId> {
        std::mem::take(&mut self.chunks).into_values().map(|chunk| chunk.id).collect()
    }
}
