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
    /// The chunk is to be made, and takes the place of others, which go by deferred release.
    Make {
        /// The new chunk.
        chunk: Chunk,
        /// Those that are superfluous then.
        replaces: Vec<ChunkId>,
    },
}

impl ChunkUse {
    /// The chunk.
    pub fn chunk(&self) -> Chunk {
        match self {
            Self::There(chunk) | Self::Make { chunk, .. } => *chunk,
        }
    }
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

    /// Whether the pool is one import, made when the pool is: [`lookup`](Self::lookup) then answers the whole pool.
    pub fn is_single(&self) -> bool {
        self.single
    }

    /// The chunk for a look-up at `offset`; `None` past the pool's end. A chunk that is to be made counts as made:
    /// when that fails, [`forget`](Self::forget) it. It has all the bytes needed, or all up to the pool's end.
    pub fn lookup(&mut self, offset: u64, need: Need) -> Option<ChunkUse> {
        if offset >= self.size {
            return None;
        }
        let end = offset.saturating_add(need.bytes()).min(self.size);
        if let Some(chunk) = self.covering(offset, end) {
            return Some(ChunkUse::There(chunk));
        }
        let (mut start, mut stop) = if self.single {
            (0, self.size)
        } else {
            (offset - offset % STRIDE, end.next_multiple_of(STRIDE).min(self.size))
        };
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
        self.made += 1;
        let chunk = Chunk { id: ChunkId(self.made), start, size: stop - start };
        let inside = |old: &&Chunk| chunk.holds(old.start, old.end());
        let replaces: Vec<Chunk> = self.chunks.values().filter(inside).copied().collect();
        for old in &replaces {
            self.chunks.remove(&old.start);
        }
        // None begins here any more: one that reached further would have been the answer.
        self.chunks.insert(start, chunk);
        let replaces = replaces.iter().map(|old| old.id).collect();
        Some(ChunkUse::Make { chunk, replaces })
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

    /// Takes out a chunk that could not be made; false when there is none of that name.
    pub fn forget(&mut self, id: ChunkId) -> bool {
        let start = self.chunks.values().find(|chunk| chunk.id == id).map(|chunk| chunk.start);
        start.and_then(|start| self.chunks.remove(&start)).is_some()
    }

    /// Takes all chunks out: the pool goes.
    pub fn clear(&mut self) -> Vec<ChunkId> {
        std::mem::take(&mut self.chunks).into_values().map(|chunk| chunk.id).collect()
    }
}
