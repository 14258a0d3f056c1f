//! Queries.
use crate::context::Context;
use crate::memory::MemoryError;
use ash::vk;
use std::sync::Arc;

/// A pool of queries. Dropping it at any time is safe.
pub struct QueryPool {}

impl QueryPool {
    /// Makes a pool of `count` reset queries (host reset).
    pub fn new(context: &Arc<Context>, kind: vk::QueryType, count: u32) -> Result<QueryPool, MemoryError> {
        let _ = (context, kind, count);
        unimplemented!()
    }
    /// The handle.
    pub fn raw(&self) -> vk::QueryPool {
        unimplemented!()
    }
    /// Makes queries usable again; no submitted work may use them.
    pub fn reset(&self, first: u32, count: u32) {
        let _ = (first, count);
        unimplemented!()
    }
    /// The results that are there (64 bit), `None` for those that are not.
    pub fn results(&self, first: u32, count: u32) -> Vec<Option<u64>> {
        let _ = (first, count);
        unimplemented!()
    }
}
