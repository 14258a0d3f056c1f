//! A host's memory in numbers, and short ways to ask a virtual pool.
#![allow(dead_code, reason = "each test program uses what it needs")]

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use navin_memory::virtual_pool::{CommitError, Committed, HostMemory, MapRequest, Physical};
use navin_memory::{PoolId, SMALL_PAGE, VirtualPool};

pub const MB: u64 = 1 << 20;

/// What each 4 KB page of a CPU range shows: pool and page of the file.
#[derive(Debug, Default)]
pub struct FakeHost {
    pub pages: BTreeMap<u64, (PoolId, u64)>,
    pub page_size: u64,
    pub maps: usize,
    pub unmaps: usize,
    /// Maps fail while set.
    pub full: bool,
}

impl FakeHost {
    pub fn new(page_size: u64) -> Self {
        Self { page_size, ..Self::default() }
    }
}

impl HostMemory for FakeHost {
    fn map(&mut self, offset: u64, size: u64, pool: PoolId, file_offset: u64) -> io::Result<()> {
        assert!(size > 0 && [offset, size, file_offset].iter().all(|value| value.is_multiple_of(self.page_size)));
        if self.full {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.maps += 1;
        for page in 0..size / SMALL_PAGE {
            self.pages.insert(offset / SMALL_PAGE + page, (pool, file_offset / SMALL_PAGE + page));
        }
        Ok(())
    }

    fn unmap(&mut self, offset: u64, size: u64) -> io::Result<()> {
        assert!(size > 0 && [offset, size].iter().all(|value| value.is_multiple_of(self.page_size)));
        self.unmaps += 1;
        for page in 0..size / SMALL_PAGE {
            self.pages.remove(&(offset / SMALL_PAGE + page));
        }
        Ok(())
    }
}

/// A request in bytes.
pub fn request(virtual_offset: u64, size: u64, physical: Option<(u64, u64)>) -> MapRequest {
    MapRequest { physical: physical.map(|(pool, offset)| (PoolId(pool), offset)), virtual_offset, size }
}

/// Physical pools of 4 GB, each at the begin of a memfd of its own.
pub fn physical(_: PoolId) -> Option<Physical> {
    Some(Physical { size: 4 << 30, file_offset: Some(0) })
}

/// Plans and commits; the requests are good ones.
pub fn map(pool: &VirtualPool, requests: &[MapRequest], after: u64, host: &mut FakeHost) -> Committed {
    try_map(pool, requests, after, host).unwrap()
}

pub fn try_map(
    pool: &VirtualPool,
    requests: &[MapRequest],
    after: u64,
    host: &mut FakeHost,
) -> Result<Committed, CommitError> {
    let plan = pool.plan(requests, physical);
    assert_eq!(plan.refused(), []);
    pool.commit(plan, after, host)
}

/// The physical memory at an offset.
pub fn at(pool: &VirtualPool, offset: u64) -> Option<(u64, u64)> {
    match pool.resolve(offset, 1) {
        Some(navin_memory::virtual_pool::Resolved::Mapped { pool, offset, .. }) => Some((pool.0, offset)),
        _ => None,
    }
}

/// The lines that are logged on this thread while `run` runs.
pub fn logged(run: impl FnOnce()) -> Vec<String> {
    let lines = Arc::default();
    tracing::subscriber::with_default(Lines(Arc::clone(&lines)), run);
    let lines = lines.lock().unwrap();
    lines.clone()
}

/// How many of the lines contain the text.
pub fn count(lines: &[String], text: &str) -> usize {
    lines.iter().filter(|line| line.contains(text)).count()
}

struct Lines(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Lines {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::INFO
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Message(String);
        impl tracing::field::Visit for Message {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                if field.name() == "message" {
                    self.0 = format!("{value:?}");
                }
            }
        }
        let mut message = Message(String::new());
        event.record(&mut message);
        self.0.lock().unwrap().push(message.0);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}
