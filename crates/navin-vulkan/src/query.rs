//! Query pools: timestamps, occlusion, statistics.

use std::sync::Arc;

use ash::vk;

use crate::context::Context;
use crate::gpu::Gpu;
use crate::memory::MemoryError;
use crate::retire::Garbage;

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
        let gpu = &context.gpu;
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

    /// What a statistics query counts, in the order of its results: vertices and primitives assembled, vertex
    /// shader runs, primitives into and out of clipping, fragment shader runs.
    pub const STATISTICS: vk::QueryPipelineStatisticFlags = vk::QueryPipelineStatisticFlags::from_raw(
        vk::QueryPipelineStatisticFlags::INPUT_ASSEMBLY_VERTICES.as_raw()
            | vk::QueryPipelineStatisticFlags::INPUT_ASSEMBLY_PRIMITIVES.as_raw()
            | vk::QueryPipelineStatisticFlags::VERTEX_SHADER_INVOCATIONS.as_raw()
            | vk::QueryPipelineStatisticFlags::CLIPPING_INVOCATIONS.as_raw()
            | vk::QueryPipelineStatisticFlags::CLIPPING_PRIMITIVES.as_raw()
            | vk::QueryPipelineStatisticFlags::FRAGMENT_SHADER_INVOCATIONS.as_raw(),
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

impl Drop for QueryPool {
    fn drop(&mut self) {
        self.gpu.retire.push(Garbage::QueryPool(self.raw));
    }
}
