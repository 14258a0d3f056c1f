//! Counters that run over draws, and their reports.
//!
//! NVN's counters count always; reports write their values in order with the commands. Vulkan's queries begin and
//! end, inside a rendering scope if they began inside. So while [`Encoder::count`] asks for it, each scope has
//! queries running in it; a report or a reset cuts them, and the values are sums over the queries in between. The
//! sums are made on the device: [`Encoder::flush_reports`] copies the results out and runs `shaders/fold.comp`, one
//! thread a report, which writes value and time where the report goes. What no report has taken yet goes into the
//! running sums ([`CounterMemory`]), with which the next submission of the same NVN queue begins (B587). No CPU is
//! in between: a report is in memory when its submission is complete, in order with all that it wrote (B588).
//!
//! Reports wait in a list, so that reporting does not end the rendering scope. They are written before a barrier or
//! other class of work that could look at them: the replay says when.
//!
//! A submission that counts nothing pays a test a rendering scope, and one a change of shaders.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk;
use rustc_hash::FxHashSet;

use super::Encoder;
use super::scope::Class;
use crate::context::Context;
use crate::memory::{Buffer, MemoryError, MemoryKind};
use crate::query::statistic;
use crate::shader::Stage;

bitflags::bitflags! {
    /// What is counted over draws.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Counting: u8 {
        /// [`Counter::SamplesPassed`].
        const SAMPLES = 1;
        /// All other counters.
        const STATISTICS = 2;
    }
}

/// A counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Counter {
    /// Samples that passed depth and stencil test.
    SamplesPassed,
    /// Vertices assembled.
    InputVertices,
    /// Primitives assembled.
    InputPrimitives,
    /// Runs of vertex shaders.
    VertexRuns,
    /// Patches that tessellation control shaders ran for.
    ControlRuns,
    /// Runs of tessellation evaluation shaders.
    EvaluationRuns,
    /// Runs of geometry shaders.
    GeometryRuns,
    /// Runs of fragment shaders.
    FragmentRuns,
    /// Primitives out of the tessellator.
    EvaluationPrimitives,
    /// Primitives out of geometry shaders.
    GeometryPrimitives,
    /// Primitives into the clipper.
    ClipperInput,
    /// Primitives out of the clipper.
    ClipperOutput,
    /// Primitives out of the last stage before rasterisation, rasterised or not.
    PrimitivesGenerated,
}

const COUNTERS: [Counter; 13] = [
    Counter::SamplesPassed,
    Counter::InputVertices,
    Counter::InputPrimitives,
    Counter::VertexRuns,
    Counter::ControlRuns,
    Counter::EvaluationRuns,
    Counter::GeometryRuns,
    Counter::FragmentRuns,
    Counter::EvaluationPrimitives,
    Counter::GeometryPrimitives,
    Counter::ClipperInput,
    Counter::ClipperOutput,
    Counter::PrimitivesGenerated,
];

impl Counter {
    /// What has to run for it.
    pub fn counting(self) -> Counting {
        if self == Counter::SamplesPassed { Counting::SAMPLES } else { Counting::STATISTICS }
    }

    /// Which result of a statistics query says it, for draws with these stages; `None`: it stays.
    fn statistic(self, stages: Stages) -> Option<u32> {
        Some(match self {
            Counter::SamplesPassed => return None,
            Counter::InputVertices => statistic::VERTICES,
            Counter::InputPrimitives => statistic::PRIMITIVES,
            Counter::VertexRuns => statistic::VERTEX_RUNS,
            Counter::ControlRuns => statistic::CONTROL_PATCHES,
            Counter::EvaluationRuns => statistic::EVALUATION_RUNS,
            Counter::GeometryRuns => statistic::GEOMETRY_RUNS,
            Counter::FragmentRuns => statistic::FRAGMENT_RUNS,
            Counter::GeometryPrimitives => statistic::GEOMETRY_PRIMITIVES,
            Counter::ClipperInput => statistic::CLIPPER_INPUT,
            Counter::ClipperOutput => statistic::CLIPPER_OUTPUT,
            // No result says these two in all cases.
            Counter::EvaluationPrimitives => match (stages.tessellation, stages.geometry) {
                (false, _) => return None,
                (true, false) => statistic::CLIPPER_INPUT,
                (true, true) => statistic::GEOMETRY_RUNS,
            },
            Counter::PrimitivesGenerated => match (stages.tessellation, stages.geometry) {
                (_, true) => statistic::GEOMETRY_PRIMITIVES,
                (true, false) => statistic::CLIPPER_INPUT,
                // The clipper may see nothing while rasterisation is off.
                (false, false) => statistic::PRIMITIVES,
            },
        })
    }
}

/// The running sums of an NVN queue's counters, and the word that its render condition came to. Shared by the
/// queue's submissions, one after the other.
pub struct CounterMemory {
    buffer: Buffer,
    /// Which half of the sums is in force for what is encoded next.
    half: AtomicU32,
}

/// Bytes of half the sums.
const HALF: u64 = 128;
/// Where the render condition is.
const PREDICATE: u64 = 2 * HALF;

impl CounterMemory {
    /// Memory of counters that are 0.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(context: &Arc<Context>) -> Result<Arc<Self>, MemoryError> {
        const { assert!(COUNTERS.len() * 8 <= HALF as usize) };
        // Zeroed, as mapped kinds are.
        let buffer = Buffer::new(context, PREDICATE + 16, MemoryKind::Upload, "counters")?;
        Ok(Arc::new(Self { buffer, half: AtomicU32::new(0) }))
    }

    /// The render condition that [`Encoder::evaluate_condition`] wrote last, for [`Encoder::set_condition`].
    pub fn predicate(&self) -> super::BufferRange {
        self.buffer.range(PREDICATE, 4)
    }

    pub(super) fn predicate_address(&self) -> vk::DeviceAddress {
        self.buffer.address() + PREDICATE
    }

    fn sums(&self) -> vk::DeviceAddress {
        self.buffer.address() + HALF * u64::from(self.half.load(Ordering::Relaxed))
    }

    /// Where the sums go that come after.
    fn other_sums(&self) -> vk::DeviceAddress {
        self.buffer.address() + HALF * u64::from(1 - self.half.load(Ordering::Relaxed))
    }

    fn flip(&self) {
        self.half.fetch_xor(1, Ordering::Relaxed);
    }

    /// Which sums are in force, for [`go_back`](Self::go_back).
    pub fn mark(&self) -> u32 {
        self.half.load(Ordering::Relaxed)
    }

    /// What was encoded since [`mark`](Self::mark) does not run: the sums are what they were. Encoding a submission
    /// writes the sums in force only once it has written the others, so they are there.
    pub fn go_back(&self, mark: u32) {
        self.half.store(mark & 1, Ordering::Relaxed);
    }
}

/// Optional stages of draws, which decide what some results mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stages {
    tessellation: bool,
    geometry: bool,
}

/// Kinds of queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum QueryKind {
    Samples = 0,
    Statistics = 1,
    Stamps = 2,
}

impl QueryKind {
    pub(crate) const ALL: [QueryKind; 3] = [QueryKind::Samples, QueryKind::Statistics, QueryKind::Stamps];

    pub(crate) fn vulkan(self) -> vk::QueryType {
        match self {
            QueryKind::Samples => vk::QueryType::OCCLUSION,
            QueryKind::Statistics => vk::QueryType::PIPELINE_STATISTICS,
            QueryKind::Stamps => vk::QueryType::TIMESTAMP,
        }
    }

    /// 64-bit results of a query.
    fn results(self) -> u32 {
        if self == QueryKind::Statistics { statistic::COUNT } else { 1 }
    }
}

/// From where a counter counts: a query of the frame, and whether the running sum comes before it.
#[derive(Clone, Copy, Debug)]
struct Since {
    query: u32,
    sum: bool,
}

/// Results to add up, in words of 64 bits from the first result of their kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    kind: QueryKind,
    first: u32,
    number: u32,
    stride: u32,
}

/// What a task of `fold.comp` writes.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
enum Writes {
    Sum = 0,
    Report = 1,
    Zeros = 2,
}

#[derive(Debug)]
struct Task {
    to: vk::DeviceAddress,
    parts: Range<u32>,
    sum: Option<u32>,
    stamp: Option<u32>,
    writes: Writes,
}

/// Leaves the last report of each place: the tasks of a flush run at once, so that of two with one destination either
/// could be the last to write.
fn last_of_each_place(tasks: &mut Vec<Task>) {
    if tasks.len() > 1 {
        let mut places = FxHashSet::with_capacity_and_hasher(tasks.len(), Default::default());
        tasks.reverse();
        tasks.retain(|task| places.insert(task.to));
        tasks.reverse();
    }
}

/// Most reports that wait.
const MOST_TASKS: usize = 1024;

/// The encoder's part of counting.
pub(super) struct Count {
    which: Counting,
    memory: Option<Arc<CounterMemory>>,
    /// Queries run in the open scope.
    running: Counting,
    /// [`EncoderCounters::draws`](super::EncoderCounters) when they began.
    began: u64,
    /// Our own draws are not counted.
    quiet: bool,
    stages: Stages,
    /// Queries of the frame that are used, by kind.
    used: [u32; 3],
    /// Those that earlier flushes have dealt with.
    folded: [u32; 3],
    /// Stages of the statistics queries from `folded` on.
    ran: Vec<Stages>,
    since: [Since; COUNTERS.len()],
    parts: Vec<Part>,
    tasks: Vec<Task>,
}

impl Default for Count {
    fn default() -> Self {
        Self {
            which: Counting::empty(),
            memory: None,
            running: Counting::empty(),
            began: 0,
            quiet: false,
            stages: Stages::default(),
            used: [0; 3],
            folded: [0; 3],
            ran: Vec::new(),
            since: [Since { query: 0, sum: true }; COUNTERS.len()],
            parts: Vec::new(),
            tasks: Vec::new(),
        }
    }
}

impl Count {
    /// Queries of a kind that are over.
    fn over(&self, kind: QueryKind) -> u32 {
        let running = match kind {
            QueryKind::Samples => self.running.contains(Counting::SAMPLES),
            QueryKind::Statistics => self.running.contains(Counting::STATISTICS),
            QueryKind::Stamps => false,
        };
        self.used[kind as usize] - u32::from(running)
    }

    /// Adds the results of a counter since it was reset, or since the last flush, to the list of parts.
    fn take_parts(&mut self, counter: Counter) -> Range<u32> {
        let first = self.parts.len() as u32;
        let since = self.since[counter as usize].query;
        let kind = if counter == Counter::SamplesPassed { QueryKind::Samples } else { QueryKind::Statistics };
        let (folded, over) = (self.folded[kind as usize], self.over(kind));
        if kind == QueryKind::Samples {
            if over > since {
                self.parts.push(Part { kind, first: since - folded, number: over - since, stride: 1 });
            }
        } else {
            let mut query = since;
            while query < over {
                let stages = self.ran[(query - folded) as usize];
                let alike = (query..over).take_while(|n| self.ran[(n - folded) as usize] == stages).count() as u32;
                if let Some(result) = counter.statistic(stages) {
                    let first = (query - folded) * statistic::COUNT + result;
                    self.parts.push(Part { kind, first, number: alike, stride: statistic::COUNT });
                }
                query += alike;
            }
        }
        first..self.parts.len() as u32
    }
}

impl Encoder {
    /// Counts over the draws from now on, `memory` holding the counters' sums so far. Counters that are not counted
    /// stay as they are.
    pub fn count(&mut self, which: Counting, memory: &Arc<CounterMemory>) {
        let mut which = which;
        if !self.gpu.features.pipeline_statistics {
            which -= Counting::STATISTICS;
        }
        self.count.memory = Some(memory.clone());
        if which != self.count.which {
            self.stop_queries();
            self.count.which = which;
            if self.scope.open {
                self.start_queries();
            }
        }
    }

    /// Sets a counter to 0.
    pub fn reset_counter(&mut self, counter: Counter) {
        self.cut_queries();
        let kind = if counter == Counter::SamplesPassed { QueryKind::Samples } else { QueryKind::Statistics };
        self.count.since[counter as usize] = Since { query: self.count.over(kind), sum: false };
    }

    /// Writes a counter's value (`None`: 0) and the time to `to`, 16 bytes, 8 each; the time is taken when all work
    /// before is done, or, with `top`, when it begins. See [`Encoder::flush_reports`] for when it is written.
    pub fn report_counter(&mut self, counter: Option<Counter>, top: bool, to: vk::DeviceAddress) {
        if counter.is_some() {
            self.cut_queries();
        }
        let parts = match counter {
            Some(counter) => self.count.take_parts(counter),
            None => 0..0,
        };
        let sum = counter.filter(|counter| self.count.since[*counter as usize].sum && self.count.memory.is_some());
        let stamp = self.stamp(top);
        self.add_task(Task { to, parts, sum: sum.map(|counter| counter as u32), stamp, writes: Writes::Report });
    }

    /// Writes 16 zero bytes to `to`, in order with the reports.
    pub fn report_zeros(&mut self, to: vk::DeviceAddress) {
        self.add_task(Task { to, parts: 0..0, sum: None, stamp: None, writes: Writes::Zeros });
    }

    /// Whether a report waits to be written.
    pub fn has_reports(&self) -> bool {
        !self.count.tasks.is_empty()
    }

    fn add_task(&mut self, task: Task) {
        self.count.tasks.push(task);
        if self.count.tasks.len() >= MOST_TASKS {
            self.flush_reports();
        }
    }

    /// The device address of a range, whose buffer is one of this crate's.
    pub fn device_address(&self, range: super::BufferRange) -> vk::DeviceAddress {
        crate::memory::buffer_address(&self.gpu, range.buffer) + range.offset
    }

    fn stamp(&mut self, top: bool) -> Option<u32> {
        self.gpu.clock.get()?.scale?;
        if self.scope.has_pending_clears() {
            self.end_rendering();
        }
        let (pool, query) = self.take_query(QueryKind::Stamps)?;
        let stage = if top { vk::PipelineStageFlags2::TOP_OF_PIPE } else { vk::PipelineStageFlags2::ALL_COMMANDS };
        // SAFETY: recording; the query is the frame's and was reset.
        unsafe { self.gpu.device.cmd_write_timestamp2(self.commands, stage, pool, query) };
        Some(self.count.used[QueryKind::Stamps as usize] - 1 - self.count.folded[QueryKind::Stamps as usize])
    }

    /// The next query of a kind.
    fn take_query(&mut self, kind: QueryKind) -> Option<(vk::QueryPool, u32)> {
        let number = self.count.used[kind as usize];
        let taken = match &mut self.frame {
            Some(frame) => frame.queries.get(&self.gpu, &self.shared.free_queries, kind, number),
            None => return None,
        };
        match taken {
            Ok(taken) => {
                self.count.used[kind as usize] += 1;
                Some(taken)
            }
            Err(error) => {
                navin_abi::fault!("B589", "no queries for counters ({error}): what is drawn is not counted");
                None
            }
        }
    }

    /// Whether scopes have queries in them.
    #[inline]
    pub(super) fn counting(&self) -> bool {
        !self.count.which.is_empty()
    }

    /// Begins the queries of the open scope.
    pub(super) fn start_queries(&mut self) {
        if self.count.quiet {
            return;
        }
        self.count.began = self.counters.draws;
        for (kind, counting) in [(QueryKind::Samples, Counting::SAMPLES), (QueryKind::Statistics, Counting::STATISTICS)]
        {
            if !self.count.which.contains(counting) {
                continue;
            }
            let Some((pool, query)) = self.take_query(kind) else { continue };
            let precise = kind == QueryKind::Samples && self.gpu.features.precise_occlusion;
            let flags = if precise { vk::QueryControlFlags::PRECISE } else { vk::QueryControlFlags::empty() };
            // SAFETY: recording inside a scope that ends after the query; the query is the frame's and was reset.
            unsafe { self.gpu.device.cmd_begin_query(self.commands, pool, query, flags) };
            self.count.running |= counting;
            if kind == QueryKind::Statistics {
                self.count.ran.push(self.count.stages);
            }
        }
    }

    /// Ends the queries of the open scope.
    pub(super) fn stop_queries(&mut self) {
        for (kind, counting) in [(QueryKind::Samples, Counting::SAMPLES), (QueryKind::Statistics, Counting::STATISTICS)]
        {
            if !self.count.running.contains(counting) {
                continue;
            }
            let number = self.count.used[kind as usize] - 1;
            let Some(frame) = &self.frame else { continue };
            let Some((pool, query)) = frame.queries.at(kind, number) else { continue };
            // SAFETY: it was begun in this scope.
            unsafe { self.gpu.device.cmd_end_query(self.commands, pool, query) };
        }
        self.count.running = Counting::empty();
    }

    /// Ends the running queries and begins others, unless nothing was drawn since they began.
    fn cut_queries(&mut self) {
        if !self.count.running.is_empty() && self.counters.draws != self.count.began {
            self.stop_queries();
            self.start_queries();
        }
    }

    /// Keeps draws with other stages apart; called when shaders are bound.
    pub(super) fn count_stages(&mut self) {
        let bound = |stage: Stage| self.want.shaders[stage as usize].is_some();
        let stages = Stages { tessellation: bound(Stage::TessEvaluation), geometry: bound(Stage::Geometry) };
        if stages == self.count.stages {
            return;
        }
        self.count.stages = stages;
        if self.count.running.contains(Counting::STATISTICS) {
            // The draw that binds them is counted after this.
            self.cut_queries();
            if let Some(last) = self.count.ran.last_mut() {
                *last = stages;
            }
        }
    }

    /// Leaves the draws of `f` out of the counters.
    pub(super) fn uncounted(&mut self, f: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.count.quiet, true);
        f(self);
        self.count.quiet = before;
    }

    /// Writes the reports and the event signals that wait, in this order. Ends the rendering scope if there are any.
    pub fn flush_reports(&mut self) {
        if !self.count.tasks.is_empty() {
            self.fold();
        }
        self.flush_signals();
    }

    /// Writes what waits and takes what was counted into the running sums; at the end of a submission.
    pub(super) fn finish_counting(&mut self) {
        let counted = [QueryKind::Samples, QueryKind::Statistics]
            .iter()
            .any(|kind| self.count.used[*kind as usize] != self.count.folded[*kind as usize]);
        let reset = self.count.since.iter().any(|since| !since.sum);
        if counted || reset || !self.count.tasks.is_empty() {
            self.fold();
        }
    }

    fn fold(&mut self) {
        self.end_rendering();
        last_of_each_place(&mut self.count.tasks);
        let memory = self.count.memory.clone();
        if let Some(memory) = &memory {
            let to = memory.other_sums();
            for counter in COUNTERS {
                let parts = self.count.take_parts(counter);
                let sum = self.count.since[counter as usize].sum.then_some(counter as u32);
                let to = to + 8 * counter as u64;
                self.count.tasks.push(Task { to, parts, sum, stamp: None, writes: Writes::Sum });
            }
        }
        let (tasks, parts) = (std::mem::take(&mut self.count.tasks), std::mem::take(&mut self.count.parts));
        let done = self.fold_tasks(&tasks, &parts, memory.as_deref());
        if let Some(memory) = memory.filter(|_| done) {
            memory.flip();
        }
        self.count.folded = self.count.used;
        self.count.ran.clear();
        for (counter, since) in COUNTERS.iter().zip(&mut self.count.since) {
            let kind = if *counter == Counter::SamplesPassed { QueryKind::Samples } else { QueryKind::Statistics };
            *since = Since { query: self.count.used[kind as usize], sum: true };
        }
        (self.count.tasks, self.count.parts) = (tasks, parts);
        self.count.tasks.clear();
        self.count.parts.clear();
    }

    /// Copies the results since the last flush and runs the tasks.
    fn fold_tasks(&mut self, tasks: &[Task], parts: &[Part], memory: Option<&CounterMemory>) -> bool {
        let (Some(kit), Some(scale)) = (self.counter_kit(), self.gpu.clock.get().map(|clock| clock.scale)) else {
            return false;
        };
        // The results, a kind behind the other.
        let mut starts = [0u32; 3];
        let mut words = 0;
        for kind in QueryKind::ALL {
            starts[kind as usize] = words;
            words += (self.count.used[kind as usize] - self.count.folded[kind as usize]) * kind.results();
        }
        let mut data: Vec<u32> = Vec::with_capacity(tasks.len() * 8 + parts.len() * 4);
        for task in tasks {
            let stamp = task.stamp.map_or(u32::MAX, |stamp| starts[QueryKind::Stamps as usize] + stamp);
            data.extend([task.to as u32, (task.to >> 32) as u32, task.parts.start, task.parts.len() as u32]);
            data.extend([task.sum.unwrap_or(u32::MAX), stamp, task.writes as u32, 0]);
        }
        for part in parts {
            data.extend([starts[part.kind as usize] + part.first, part.number, part.stride, 0]);
        }
        let bytes: Vec<u8> = data.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let memories = self.upload(&bytes, 16).and_then(|lists| Ok((lists, self.transient(u64::from(words) * 8, 16)?)));
        let (lists, results) = match memories {
            Ok(memories) => memories,
            Err(error) => {
                tracing::error!("reporting counters: {error}");
                self.fail(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
                return false;
            }
        };
        if words > 0 {
            self.enter(Class::Transfer);
            for kind in QueryKind::ALL {
                let stride = u64::from(kind.results()) * 8;
                let mut to = results.range.offset + u64::from(starts[kind as usize]) * 8;
                let span = self.count.folded[kind as usize]..self.count.used[kind as usize];
                let Some(frame) = &self.frame else { return false };
                for (pool, first, number) in frame.queries.spans(kind, span) {
                    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
                    // SAFETY: recording outside a scope; the queries were used before in this command buffer; the
                    // memory was cut to the results.
                    unsafe {
                        self.gpu.device.cmd_copy_query_pool_results(
                            self.commands,
                            pool,
                            first,
                            number,
                            results.range.buffer,
                            to,
                            stride,
                            flags,
                        );
                    }
                    to += u64::from(number) * stride;
                }
            }
        }
        let split = |value: u64| [value as u32, (value >> 32) as u32];
        let now = match scale {
            Some(_) => 0,
            None => self.gpu.clock.get().map_or(0, |clock| clock.now(&self.gpu)),
        };
        let scale = scale.unwrap_or(crate::clock::Scale { epoch: 0, mask: 0, factor: 0, base: 0 });
        let ranges = lists.address + tasks.len() as u64 * 32;
        let sums = memory.map_or(0, CounterMemory::sums);
        let mut constants: Vec<u32> =
            [lists.address, ranges, results.address, sums, scale.epoch, scale.mask, scale.factor, scale.base, now]
                .into_iter()
                .flat_map(split)
                .collect();
        constants.extend([tasks.len() as u32, 0]);
        // Before it: draws and our copies; after it: whatever looks at the reports.
        self.emit_barrier(super::Access::All, super::Access::All);
        let done = self.own_dispatch(&kit.fold, &constants, ((tasks.len() as u32).div_ceil(64), 1));
        self.emit_barrier(super::Access::All, super::Access::All);
        self.last = Class::None;
        done
    }

    /// Evaluates a render condition on the device: whether the 64-bit values at `at` and 16 bytes further are equal
    /// (or not), as they are when this runs. The outcome goes to `memory`'s
    /// [`predicate`](CounterMemory::predicate).
    pub fn evaluate_condition(&mut self, memory: &CounterMemory, at: vk::DeviceAddress, equal: bool) {
        self.flush_reports();
        let Some(kit) = self.counter_kit() else { return };
        let split = |value: u64| [value as u32, (value >> 32) as u32];
        let (at, to) = (split(at), split(memory.predicate_address()));
        self.end_rendering();
        self.emit_barrier(super::Access::All, super::Access::All);
        self.own_dispatch(&kit.condition, &[at[0], at[1], to[0], to[1], u32::from(equal), 0], (1, 1));
        self.emit_barrier(super::Access::All, super::Access::All);
        self.last = Class::None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b589_of_reports_to_one_place_the_last_is_written() {
        let task = |to, part| Task { to, parts: part..part + 1, sum: None, stamp: None, writes: Writes::Report };
        let mut tasks = vec![task(0x100, 0), task(0x200, 1), task(0x100, 2), task(0x300, 3), task(0x200, 4)];
        last_of_each_place(&mut tasks);
        let left: Vec<_> = tasks.iter().map(|task| (task.to, task.parts.start)).collect();
        assert_eq!(left, [(0x100, 2), (0x300, 3), (0x200, 4)]);
    }
}
