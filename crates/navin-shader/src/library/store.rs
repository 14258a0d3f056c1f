//! One file of records by key, which crashes and other processes may do their worst to.
//!
//! Records are appended under a lock of the file, each with a check of itself; the index is made when the file is opened
//! and goes on from there when others have appended. What a crash left half is not seen, and is cut off by whoever
//! appends next; a record whose bytes are not what they were is not there. Later records of a key stand for earlier ones.
//!
//! A file with a bound never grows past it: before a record that would not fit, the older ones are dropped until half of
//! the bound is free (B517).
//!
//! ```text
//! header   "NAVINSTO", version (u32), 0 (u32)
//! record   length of the payload (u32), check of length and key (u32), key (two u64), check of the payload (u64),
//!          the payload, zeros up to a multiple of 8
//! ```

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::program::mix;

/// What a record is kept under: what it is made of, and what made it (or 0).
pub type Key = [u64; 2];

const MAGIC: &[u8; 16] = b"NAVINSTO\x01\0\0\0\0\0\0\0";
const HEADER: u64 = MAGIC.len() as u64;
const RECORD: u64 = 32;
/// Larger records are none.
const LIMIT: u32 = 1 << 28;

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file cannot be opened, read, written or locked.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is there and is something else.
    #[error("this file is no store of Navin's, or of another version")]
    NotAStore,
    /// A record of more than 256 MB.
    #[error("a record of {0} bytes is too large for a store")]
    TooLarge(usize),
}

/// A record's place in the file.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: u64,
    length: u32,
    check: u64,
}

/// An open store. Reads need no lock; several processes may have the same file open.
#[derive(Debug)]
pub struct Store {
    file: File,
    index: HashMap<Key, Place>,
    /// Where the index ends: all before it is known.
    end: u64,
    bound: Option<u64>,
}

/// Check of a payload.
fn check(bytes: &[u8]) -> u64 {
    let mut h = 0x243F_6A88_85A3_08D3 ^ bytes.len() as u64;
    let mut chunks = bytes.chunks_exact(8);
    for c in &mut chunks {
        h = mix(h ^ u64::from_le_bytes([c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]]));
    }
    let mut last = [0; 8];
    last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    mix(h ^ u64::from_le_bytes(last))
}

/// Check of a record's head.
fn head_check(length: u32, key: Key) -> u32 {
    mix(mix(key[0] ^ u64::from(length)) ^ key[1]) as u32
}

/// A record's bytes from its head to the zeros behind its payload.
fn record(key: Key, payload: &[u8]) -> Result<Vec<u8>, StoreError> {
    let length = u32::try_from(payload.len()).ok().filter(|n| *n <= LIMIT);
    let length = length.ok_or(StoreError::TooLarge(payload.len()))?;
    let mut bytes = Vec::with_capacity(payload.len() + 40);
    bytes.extend(length.to_le_bytes());
    bytes.extend(head_check(length, key).to_le_bytes());
    bytes.extend(key.iter().flat_map(|k| k.to_le_bytes()));
    bytes.extend(check(payload).to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    Ok(bytes)
}

/// Bytes from one record to the next.
fn step(length: u32) -> u64 {
    RECORD + u64::from(length).next_multiple_of(8)
}

impl Store {
    /// Opens a store to read and append; makes it where there is none. `bound` is the largest size of the file in bytes.
    ///
    /// # Errors
    /// The file cannot be opened or is no store.
    pub fn open(path: &Path, bound: Option<u64>) -> Result<Store, StoreError> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let mut store = Store { file, index: HashMap::new(), end: HEADER, bound };
        store.locked(|store| {
            if store.file.metadata()?.len() == 0 {
                store.file.write_all(MAGIC)?;
            }
            store.check_header()?;
            store.catch_up()?;
            let size = store.file.metadata()?.len();
            if bound.is_some_and(|bound| size > bound) { store.make_room(0) } else { Ok(()) }
        })?;
        Ok(store)
    }

    /// Opens a store that is there, to read only.
    ///
    /// # Errors
    /// There is no such file, or it is no store.
    pub fn read_only(path: &Path) -> Result<Store, StoreError> {
        let mut store = Store { file: File::open(path)?, index: HashMap::new(), end: HEADER, bound: None };
        store.check_header()?;
        store.catch_up()?;
        Ok(store)
    }

    /// Does the file begin as a store?
    pub fn is_one(path: &Path) -> bool {
        let mut magic = [0; 16];
        File::open(path).and_then(|mut f| f.read_exact(&mut magic)).is_ok() && magic == *MAGIC
    }

    /// Records.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// The keys, in the order of the file.
    pub fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<(Key, u64)> = self.index.iter().map(|(key, place)| (*key, place.at)).collect();
        keys.sort_unstable_by_key(|k| k.1);
        keys.into_iter().map(|k| k.0).collect()
    }

    /// The record of `key`: one look into the index and one read. `None` where there is none, or where it is damaged.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn get(&self, key: Key) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(place) = self.index.get(&key) else { return Ok(None) };
        let mut payload = vec![0; place.length as usize];
        match read_at(&self.file, &mut payload, place.at + RECORD) {
            Ok(()) => Ok(Some(payload).filter(|p| check(p) == place.check)),
            // Another process made room.
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// Appends a record.
    ///
    /// # Errors
    /// The file cannot be written, or the record is larger than a store may hold.
    pub fn put(&mut self, key: Key, payload: &[u8]) -> Result<(), StoreError> {
        self.put_all(&[(key, payload)])
    }

    /// Appends records under one lock and by one write. Those larger than half of the bound are left out.
    ///
    /// # Errors
    /// As [`Store::put`].
    pub fn put_all(&mut self, records: &[(Key, &[u8])]) -> Result<(), StoreError> {
        let half = self.bound.map_or(u64::MAX, |bound| bound.saturating_sub(HEADER) / 2);
        // What fits into the free half, one run after the other.
        let mut run = Vec::new();
        for (key, payload) in records {
            let bytes = record(*key, payload)?;
            if bytes.len() as u64 > half {
                continue;
            }
            if (run.len() + bytes.len()) as u64 > half {
                self.append(&run)?;
                run.clear();
            }
            run.extend(bytes);
        }
        if run.is_empty() { Ok(()) } else { self.append(&run) }
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.locked(|store| {
            store.catch_up()?;
            // Half a record of somebody who did not get to its end.
            if store.file.metadata()?.len() > store.end {
                store.file.set_len(store.end)?;
            }
            if store.bound.is_some_and(|bound| store.end + bytes.len() as u64 > bound) {
                store.make_room(bytes.len() as u64)?;
            }
            store.file.seek(SeekFrom::Start(store.end))?;
            store.file.write_all(bytes)?;
            store.catch_up()
        })
    }

    fn locked<T>(&mut self, f: impl FnOnce(&mut Store) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.file.lock()?;
        let result = f(self);
        self.file.unlock()?;
        result
    }

    fn check_header(&mut self) -> Result<(), StoreError> {
        let mut magic = [0; HEADER as usize];
        match read_at(&self.file, &mut magic, 0) {
            Ok(()) if magic == *MAGIC => Ok(()),
            Err(e) if e.kind() != io::ErrorKind::UnexpectedEof => Err(e.into()),
            _ => Err(StoreError::NotAStore),
        }
    }

    /// Indexes what was appended since the last look, up to the first record that is not whole.
    fn catch_up(&mut self) -> Result<(), StoreError> {
        let size = self.file.metadata()?.len();
        if size < self.end {
            // Another process made room: everything lies elsewhere.
            self.index.clear();
            self.end = HEADER;
        }
        let mut head = [0; RECORD as usize];
        while self.end + RECORD <= size {
            read_at(&self.file, &mut head, self.end)?;
            let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
            let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
            let (length, key) = (word(0), [long(8), long(16)]);
            let whole = length <= LIMIT && self.end + step(length) <= size;
            if !whole || word(4) != head_check(length, key) {
                break;
            }
            self.index.insert(key, Place { at: self.end, length, check: long(24) });
            self.end += step(length);
        }
        Ok(())
    }

    /// Drops the oldest records until half of the bound, or `wanted`, is free. Under the lock.
    fn make_room(&mut self, wanted: u64) -> Result<(), StoreError> {
        let bound = self.bound.unwrap_or(u64::MAX);
        let keep = (bound / 2).min(bound.saturating_sub(wanted)).saturating_sub(HEADER);
        let mut kept = Vec::new();
        let mut total = 0;
        for key in self.keys().into_iter().rev() {
            let Some(payload) = self.get(key)? else { continue };
            let bytes = record(key, &payload)?;
            total += bytes.len() as u64;
            if total > keep {
                break;
            }
            kept.push(bytes);
        }
        self.file.set_len(HEADER)?;
        self.file.seek(SeekFrom::Start(HEADER))?;
        let kept: Vec<u8> = kept.into_iter().rev().flatten().collect();
        self.file.write_all(&kept)?;
        self.index.clear();
        self.end = HEADER;
        self.catch_up()
    }
}

/// Reads at a place without moving the file's own.
#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

/// Reads at a place.
#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match std::os::windows::fs::FileExt::seek_read(file, &mut bytes[done..], at + done as u64)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => done += n,
        }
    }
    Ok(())
}
