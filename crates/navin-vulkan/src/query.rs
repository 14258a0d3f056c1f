//! Query pools: timestamps, occlusion, statistics.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ash::vk;
use parking_lot::Mutex;

use crate::context::Context;
use crate::encoder::QueryKind;
use crate::gpu::Gpu;
use crate::memory::MemoryError;
use crate::retire::Garbage;

/// Where each result of a statistics query is: Vulkan orders them by their bits.
pub(crate) mod statistic {
    pub(crate) const VERTICES: u32 = 0;
    pub(crate) const PRIMITIVES: u32 = 1;
    pub(crate) const VERTEX_RUNS: u32 = 2;
    pub(crate) const GEOMETRY_RUNS: u32 = 3;
    pub(crate) const GEOMETRY_PRIMITIVES: u32 = 4;
    pub(crate) const CLIPPER_INPUT: u32 = 5;
    pub(crate) const CLIPPER_OUTPUT: u32 = 6;
    pub(crate) const FRAGMENT_RUNS: u32 = 7;
    pub(crate) const CONTROL_PATCHES: u32 = 8;
    pub(crate) const EVALUATION_RUNS: u32 = 9;
    /// Results of a query.
    pub(crate) const COUNT: u32 = 10;
}

/// A pool of queries. Dropping it at any time is safe.
pub struct QueryPool {
    gpu: Arc<Gpu>,
    raw: vk::QueryPool,
    count: u32,
}

impl QueryPool {
    /// Makes a pool of `count` queries, ready for use.
    ///
    /// # Errors
    /// Out of memory, or a kind that the device lacks.
    pub fn new(context: &Arc<Context>, kind: vk::QueryType, count: u32) -> Result<QueryPool, MemoryError> {
        Self::with_gpu(&context.gpu, kind, count)
    }

    pub(crate) fn with_gpu(gpu: &Arc<Gpu>, kind: vk::QueryType, count: u32) -> Result<QueryPool, MemoryError> {
        let count = count.max(1);
        let lacking = match kind {
            vk::QueryType::TIMESTAMP => gpu.limits.timestamp_period == 0.0,
            vk::QueryType::PIPELINE_STATISTICS => !gpu.features.pipeline_statistics,
            vk::QueryType::OCCLUSION => false,
            _ => true,
        };
        if lacking {
            return Err(MemoryError::Refused(format!("the device has no queries of kind {kind:?}")));
        }
        let mut info = vk::QueryPoolCreateInfo::default().query_type(kind).query_count(count);
        if kind == vk::QueryType::PIPELINE_STATISTICS {
            info = info.pipeline_statistics(Self::STATISTICS);
        }
        // SAFETY: a valid description; host reset is a required feature, and the fresh pool is in no command.
        unsafe {
            let raw = gpu
                .device
                .create_query_pool(&info, None)
                .map_err(|error| MemoryError::Refused(format!("no query pool: {error}")))?;
            gpu.device.reset_query_pool(raw, 0, count);
            Ok(Self { gpu: gpu.clone(), raw, count })
        }
    }

    /// What a statistics query counts, in the order of its results ([`statistic`]).
    pub const STATISTICS: vk::QueryPipelineStatisticFlags = vk::QueryPipelineStatisticFlags::from_raw(
        vk::QueryPipelineStatisticFlags::INPUT_ASSEMBLY_VERTICES.as_raw()
            | vk::QueryPipelineStatisticFlags::INPUT_ASSEMBLY_PRIMITIVES.as_raw()
            | vk::QueryPipelineStatisticFlags::VERTEX_SHADER_INVOCATIONS.as_raw()
            | vk::QueryPipelineStatisticFlags::CLIPPING_INVOCATIONS.as_raw()
            | vk::QueryPipelineStatisticFlags::CLIPPING_PRIMITIVES.as_raw()
            | vk::QueryPipelineStatisticFlags::FRAGMENT_SHADER_INVOCATIONS.as_raw()
            | vk::QueryPipelineStatisticFlags::GEOMETRY_SHADER_INVOCATIONS.as_raw()
            | vk::QueryPipelineStatisticFlags::GEOMETRY_SHADER_PRIMITIVES.as_raw()
            | vk::QueryPipelineStatisticFlags::TESSELLATION_CONTROL_SHADER_PATCHES.as_raw()
            | vk::QueryPipelineStatisticFlags::TESSELLATION_EVALUATION_SHADER_INVOCATIONS.as_raw(),
    );

    /// The handle.
    pub fn raw(&self) -> vk::QueryPool {
        self.raw
    }

    /// Number of queries.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Makes queries usable again; no submitted work may use them. Out-of-range queries are left out.
    pub fn reset(&self, first: u32, count: u32) {
        let first = first.min(self.count);
        let count = count.min(self.count - first);
        if count > 0 {
            // SAFETY: the range is inside the pool; the caller says that nothing uses it.
            unsafe { self.gpu.device.reset_query_pool(self.raw, first, count) };
        }
    }

    /// The results that are there, `None` for those that are not (yet). Not for statistics pools, whose queries have
    /// several results: copy those into a buffer.
    pub fn results(&self, first: u32, count: u32) -> Vec<Option<u64>> {
        let first = first.min(self.count);
        let count = count.min(self.count - first);
        let mut words = vec![[0u64; 2]; count as usize];
        if count == 0 {
            return Vec::new();
        }
        // SAFETY: the range is inside the pool, the array holds result and availability of each.
        let outcome = unsafe {
            self.gpu.device.get_query_pool_results(
                self.raw,
                first,
                &mut words,
                vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY,
            )
        };
        if let Err(error) = outcome
            && error != vk::Result::NOT_READY
        {
            tracing::error!("reading queries: {error}");
            return vec![None; count as usize];
        }
        words.iter().map(|[result, ready]| (*ready != 0).then_some(*result)).collect()
    }
}

/// Queries of a pool of a frame's.
const CHUNK: u32 = 64;

/// Pools of queries that no submission holds, by kind: kept for as long as the device, so that a submission that
/// counts makes none (B589).
#[derive(Default)]
pub(crate) struct FreeQueries {
    pools: Mutex<[Vec<QueryPool>; 3]>,
    made: AtomicU64,
}

impl FreeQueries {
    /// Pools made so far.
    pub(crate) fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }
}

/// The queries of one submission.
#[derive(Default)]
pub(crate) struct FrameQueries([Vec<QueryPool>; 3]);

impl FrameQueries {
    /// Query number `number` of the frame's of a kind; numbers are taken one after the other.
    pub(crate) fn get(
        &mut self,
        gpu: &Arc<Gpu>,
        free: &FreeQueries,
        kind: QueryKind,
        number: u32,
    ) -> Result<(vk::QueryPool, u32), MemoryError> {
        let pools = &mut self.0[kind as usize];
        if (number / CHUNK) as usize >= pools.len() {
            let reused = free.pools.lock()[kind as usize].pop();
            pools.push(match reused {
                Some(pool) => pool,
                None => {
                    free.made.fetch_add(1, Ordering::Relaxed);
                    QueryPool::with_gpu(gpu, kind.vulkan(), CHUNK)?
                }
            });
        }
        self.at(kind, number).ok_or_else(|| MemoryError::Refused("queries out of order".to_owned()))
    }

    /// A query that was taken.
    pub(crate) fn at(&self, kind: QueryKind, number: u32) -> Option<(vk::QueryPool, u32)> {
        Some((self.0[kind as usize].get((number / CHUNK) as usize)?.raw, number % CHUNK))
    }

    /// A run of queries, as pieces of pools: pool, first, number.
    pub(crate) fn spans(
        &self,
        kind: QueryKind,
        queries: Range<u32>,
    ) -> impl Iterator<Item = (vk::QueryPool, u32, u32)> + '_ {
        let mut next = queries.start;
        std::iter::from_fn(move || {
            let (pool, first) = if next < queries.end { self.at(kind, next)? } else { return None };
            let number = (CHUNK - first).min(queries.end - next);
            next += number;
            Some((pool, first, number))
        })
    }

    /// Gives the queries back, ready for use: their submission is complete, or never was one.
    pub(crate) fn recycle(&mut self, free: &FreeQueries) {
        if self.0.iter().all(Vec::is_empty) {
            return;
        }
        let mut lists = free.pools.lock();
        for (list, pools) in lists.iter_mut().zip(&mut self.0) {
            for pool in pools.drain(..) {
                pool.reset(0, CHUNK);
                list.push(pool);
            }
        }
    }
}

impl Drop for QueryPool {
    fn drop(&mut self) {
        self.gpu.retire.push(Garbage::QueryPool(self.raw));
    }
}
