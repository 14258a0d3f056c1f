//! Replay: a ready piece of a queue's stream becomes one Vulkan submission.
//!
//! The submit thread runs [`Replayer`], the scheduler's executor: it walks the records of a piece in order
//! ([`Piece::run`]), keeps the queue's binding state ([`state`]), and drives the encoder: [`draw`] for draws and
//! dispatches, [`fixed`] for fixed-function state, [`conditional`] for whether they happen at all, [`reports`] for
//! counters, [`transfer`] for clears and copies, [`content`] and [`residency`] for what textures hold and where their
//! descriptors are, [`present`] for frames.

mod blend;
mod conditional;
pub(crate) mod content;
pub(crate) mod convert;
mod decoded;
mod draw;
mod draw_texture;
mod fixed;
pub(crate) mod images;
mod indirect;
pub(crate) mod position;
pub(crate) mod present;
pub(crate) mod reports;
mod residency;
mod rewrite;
mod sampler_ids;
mod shader_state;
pub(crate) mod state;
mod tiling;
mod transfer;
mod unsupported;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range as WordRange;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use navin_abi::fault;
use navin_abi::records::ViewDesc;
use navin_abi::records::state::{
    BlendState, ChannelMaskState, ColorState, DepthStencilState, MultisampleState, PolygonState, VertexAttribState,
    VertexStreamState,
};
use navin_command::Stream;
use navin_command::record::limits::Budget;
use navin_command::record::payload::{BufferRange, TextureRef};
use navin_command::record::{Record, RecordReader};
use navin_memory::AddressReader;
use navin_sync::{EventSignal, Executed, Executor, QueueId, SignalMode, Ticket, Timeline};
use navin_vulkan::{Access, CounterMemory, Encoder};

use self::reports::Reported;
use self::residency::Residency;
use self::state::{COLORS, COMPUTE, Dirty, QueueState, Range, STAGES, StageDirty, Target, VIEWPORTS};
use crate::driver::Driver;
use crate::hooks::{self, Place};
use crate::host::completion::{Completion, Origin, Write};
use crate::host::pools::bytes::Moment;
use crate::host::programs::Program;
use crate::host::textures::Texture;

/// A piece of a submission: records between two places where the queue may have to wait.
pub(crate) struct Work {
    pub(crate) stream: Arc<Stream>,
    pub(crate) words: WordRange<usize>,
}

/// Which engine of the hardware the last command used: going from one to the other orders their memory accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Graphics,
    Compute,
    Copy,
}

/// The submit thread's state.
pub(crate) struct Replayer {
    driver: &'static Driver,
    queues: HashMap<QueueId, QueueState>,
    residency: Residency,
    /// Finalized programs that were still bound.
    drops: u64,
    reported: Reported,
    presenter: present::Presenter,
    /// Looks GPU addresses up.
    addresses: RefCell<AddressReader>,
}

/// What may change under a bound handle: registrations, storage that the guest says it wrote, storage that is noticed
/// to be written or mapped anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    registrations: u64,
    said: u64,
    moment: Moment,
}

/// The replay of one piece.
pub(crate) struct Piece<'a> {
    pub(crate) driver: &'static Driver,
    pub(crate) encoder: Box<Encoder>,
    pub(crate) state: &'a mut QueueState,
    pub(crate) residency: &'a mut Residency,
    pub(crate) reported: &'a mut Reported,
    /// Where this piece reports counters.
    pub(crate) reports: Vec<u64>,
    /// Looks GPU addresses up.
    pub(crate) addresses: &'a RefCell<AddressReader>,
    /// The number that the submission will have.
    pub(crate) submission: u64,
    /// Window origin and depth mode of the device, as they were when the piece began.
    pub(crate) lower_left: bool,
    pub(crate) minus_w: bool,
    /// Size that all targets have in common.
    pub(crate) target_extent: (u32, u32),
    /// What had changed when each stage's handles were last resolved.
    seen: [Seen; STAGES],
    /// Texture pool, sampler pool and registrations, and where the pools' ids begin.
    bases: ((u32, u32, u64), (u32, u32)),
    engine: Engine,
    /// Which of the queue's sums was in force when the command buffer was begun, and how many of the completion's writes
    /// are with command buffers before it: for when it is refused.
    mark: u32,
    kept: usize,
    /// The submission that the piece is of.
    pub(crate) arrival: u64,
    /// What commands may still ask of the GPU.
    budget: Budget,
    /// What the CPU has to write when the piece has ended.
    pub(crate) completion: Completion,
}

impl Replayer {
    pub(crate) fn new(driver: &'static Driver) -> Self {
        Self {
            driver,
            queues: HashMap::new(),
            residency: Residency::new(),
            drops: 0,
            reported: Reported::default(),
            presenter: present::Presenter::new(driver),
            addresses: RefCell::new(driver.pools.reader()),
        }
    }

    /// Forgets the bindings of a finalized queue (B230).
    pub(crate) fn forget_queue(&mut self, queue: QueueId) {
        self.queues.remove(&queue);
    }

    /// Drops a finalized program from every queue's bindings (B231). Submissions that were made before it was
    /// finalized have been replayed; those after see it gone whether they come before or after this.
    pub(crate) fn release_program(&mut self, serial: u64) {
        self.driver.programs.remove(serial);
        for (queue, state) in &mut self.queues {
            let stages = state.stages.iter_mut().filter(|s| s.program.as_ref().is_some_and(|p| p.serial == serial));
            let mut dropped = false;
            for stage in stages {
                stage.program = None;
                stage.dirty |= StageDirty::PROGRAM;
                dropped = true;
            }
            if dropped {
                state.dirty |= Dirty::PROGRAMS;
                self.drops += 1;
                if self.drops.is_power_of_two() {
                    tracing::info!(
                        "program {serial} was finalized while queue {queue} had it bound: dropped from it ({} times so far)",
                        self.drops
                    );
                }
            }
        }
    }

    /// Gives up the image of a finalized texture; work in flight keeps it until it has ended.
    pub(crate) fn release_texture(&mut self, serial: u64) {
        if let Some(texture) = self.driver.textures.get(serial) {
            content::release(self.driver, &texture);
        }
        self.residency.release(self.driver, serial);
        // What has ended goes now (B650).
        self.collect();
    }

    /// Frees descriptor slots, what lies in them, and whatever else was dropped, as far as the GPU is through with it
    /// (B650).
    pub(crate) fn collect(&mut self) {
        let queue = self.driver.context.queue();
        self.residency.collect(self.driver, queue.completed());
        self.driver.slots_wait.store(self.residency.is_waiting(), Ordering::Release);
        queue.collect();
    }

    /// Copies a texture's image into the guest's storage and waits for it.
    pub(crate) fn store(&mut self, texture: &Arc<Texture>) {
        let _replaying = self.driver.pools.replaying(self.driver);
        content::store(self.driver, texture);
    }

    /// Encodes and submits a piece. What the CPU has to write for it is pushed before anybody can learn its ticket.
    fn run(&mut self, queue: QueueId, work: &Work, arrival: u64) -> Executed {
        let driver = self.driver;
        if !driver.completions.reserve() {
            // The device is gone.
            return Executed::default();
        }
        // What the guest wrote before it submitted is known from here on, and what finished work did.
        driver.pools.tracking.fetch();
        driver.pools.fetch_guest_views();
        driver.pools.come_down(driver.context.queue().completed());
        driver.pools.publish(&driver.context);
        self.residency.collect(driver, driver.context.queue().completed());
        let encoder = match driver.begin() {
            Ok(encoder) => encoder,
            Err(e) => {
                fault!("B644", "a submission could not be recorded ({e}): its commands are left out");
                driver.lost(&e);
                return self.signal_only(queue, work);
            }
        };
        let state = self.queues.entry(queue).or_default();
        state.invalidate();
        // The pieces of a submission have one budget.
        let budget =
            state.spent.filter(|(of, _)| *of == arrival).map_or_else(Budget::default, |(_, left)| Budget::of(left));
        let mut origin = Origin { queue: Some(queue), ..Origin::default() };
        state.stages.iter().flat_map(|stage| &stage.program).for_each(|program| origin.bound(program.serial));
        let mut piece = Piece {
            driver,
            encoder,
            state,
            residency: &mut self.residency,
            reported: &mut self.reported,
            reports: Vec::new(),
            lower_left: driver.modes.lower_left(),
            minus_w: driver.modes.minus_w(),
            target_extent: (0, 0),
            seen: [Seen::default(); STAGES],
            addresses: &self.addresses,
            submission: driver.context.queue().submitted() + 1,
            bases: ((0, 0, u64::MAX), (0, 0)),
            engine: Engine::Graphics,
            mark: 0,
            kept: 0,
            arrival,
            budget,
            completion: Completion { writes: Vec::new(), origin },
        };
        piece.begin();
        piece.run(&work.stream, work.words.clone());
        // Before the submission can end.
        driver.slots_wait.store(piece.residency.is_waiting(), Ordering::Release);
        let Piece { encoder, state, mut completion, reported, mut reports, submission, mark, kept, budget, .. } = piece;
        state.spent = Some((arrival, budget.all()));
        let submitted = submit(driver, encoder);
        let counters = state.counters.as_deref();
        Sent { submission, reported, reports: &mut reports, completion: &mut completion, kept, counters, mark }
            .is(driver, submitted);
        let signals = completion.signals();
        // The signals of a refused submission are not lost: whoever waits for them was promised them, behind what was
        // submitted before.
        let ticket = submitted.unwrap_or_else(|| driver.context.queue().submitted());
        driver.completions.push(ticket, completion);
        if submitted.is_none() {
            driver.publish_ended(ticket);
        }
        Executed { ticket, signals }
    }
}

impl Replayer {
    /// The CPU's part of a piece whose commands cannot be run: its signals are promised to whoever waits for them (B229),
    /// behind what was submitted before.
    fn signal_only(&self, queue: QueueId, work: &Work) -> Executed {
        let mut completion =
            Completion { writes: Vec::new(), origin: Origin { queue: Some(queue), ..Origin::default() } };
        if let Some(words) = work.stream.words().get(work.words.clone()) {
            completion
                .writes
                .extend(RecordReader::new(words).filter_map(|record| signal_of(&record)).map(Write::Event));
        }
        let (ticket, signals) = (self.driver.context.queue().submitted(), completion.signals());
        self.driver.completions.push(ticket, completion);
        self.driver.publish_ended(ticket);
        Executed { ticket, signals }
    }
}

/// What a record signals, if it does.
fn signal_of(record: &Record<'_>) -> Option<EventSignal> {
    let Record::SignalEvent(mode, event) = record else { return None };
    let signal = SignalMode::from_raw(u32::from(mode.mode()));
    if signal.is_none() {
        fault!(key = mode.mode(), "B229", "event signal mode {} is not one of NVN's; not signalled", mode.mode());
    }
    Some(EventSignal { address: event.event.get(), mode: signal?, value: event.value })
}

/// Gives what was recorded to the GPU; `None`, with a fault line, where it is refused.
fn submit(driver: &Driver, mut encoder: Box<Encoder>) -> Option<Ticket> {
    // What the GPU wrote is visible to the CPU once the timeline says so.
    encoder.flush_reports();
    encoder.barrier(Access::All, Access::Host);
    let mut carried = driver.pools.carry_up(&driver.context, &mut encoder);
    driver.counters.add_encoder(encoder.counters());
    let submitted = if driver.health.refuses() {
        Err(navin_vulkan::vk::Result::ERROR_OUT_OF_DEVICE_MEMORY.into())
    } else {
        driver.context.queue().submit_behind(carried.first.take(), encoder)
    };
    driver.pools.carried(carried, submitted.as_ref().ok().copied());
    match submitted {
        Ok(ticket) => {
            driver.count_submission();
            Some(ticket)
        }
        Err(e) => {
            fault!("B235", "a submission was refused ({e}): its commands are lost");
            driver.lost(&e);
            None
        }
    }
}

/// What is known of a command buffer before it is submitted.
struct Sent<'a> {
    submission: u64,
    reported: &'a mut Reported,
    reports: &'a mut Vec<u64>,
    completion: &'a mut Completion,
    kept: usize,
    counters: Option<&'a CounterMemory>,
    mark: u32,
}

impl Sent<'_> {
    /// It has this ticket. Where it was refused, what was taken to be so is not: sums of counters, events that it was
    /// to write, what textures were filled with (B644).
    fn is(self, driver: &Driver, ticket: Option<Ticket>) {
        driver.pools.submitted_as(self.submission, ticket.unwrap_or(0));
        self.reported.submitted(self.reports, ticket.unwrap_or(0));
        driver.textures.submitted(ticket.is_some());
        if ticket.is_none() {
            self.completion.refused(self.kept);
            if let Some(counters) = self.counters {
                counters.go_back(self.mark);
            }
        }
    }
}

impl Executor for Replayer {
    type Work = Work;
    type Present = present::Present;

    fn execute(&mut self, queue: QueueId, work: Work, _after: Ticket, arrival: u64) -> Executed {
        let _replaying = self.driver.pools.replaying(self.driver);
        // Of what was submitted before all that nothing holds back has been replayed (B233).
        self.driver.settled(arrival.saturating_sub(1));
        hooks::reach(Place::Replay);
        // One Vulkan queue: submission order and the barrier at each piece's start order it behind everything.
        self.run(queue, &work, arrival)
    }

    fn present(&mut self, _queue: QueueId, present: present::Present, after: Ticket) {
        let _replaying = self.driver.pools.replaying(self.driver);
        self.presenter.present(self.driver, present, after);
    }

    fn completed(&self) -> Ticket {
        // Only the completion thread says so, after the CPU-visible writes (B232).
        0
    }

    fn read_event(&self, address: u64) -> Option<u32> {
        self.driver.pools.read_word(address)
    }
}

impl Piece<'_> {
    /// Begins a command buffer: behind everything before, and with the queue's condition and counters (B587).
    fn begin(&mut self) {
        self.mark = self.state.counters.as_ref().map_or(0, |counters| counters.mark());
        self.encoder.barrier_all();
        self.begin_counting();
        self.resume_condition();
    }

    /// Submits what is recorded and goes on in a new command buffer; the ticket of what was submitted, `None` where it
    /// was refused or the device is gone.
    fn cut(&mut self) -> Option<Ticket> {
        let driver = self.driver;
        let fresh = match driver.begin() {
            Ok(encoder) => encoder,
            Err(e) => {
                fault!("B644", "a submission could not be cut ({e})");
                driver.lost(&e);
                return None;
            }
        };
        let ticket = submit(driver, std::mem::replace(&mut self.encoder, fresh));
        Sent {
            submission: self.submission,
            reported: self.reported,
            reports: &mut self.reports,
            completion: &mut self.completion,
            kept: self.kept,
            counters: self.state.counters.as_deref(),
            mark: self.mark,
        }
        .is(driver, ticket);
        self.kept = self.completion.writes.len();
        if let Some(ticket) = ticket {
            // The watchdog looks at what was pushed, and device loss names it (B235, B645). What the CPU has to write
            // stays with the piece's end.
            let origin = self.completion.origin.clone();
            driver.completions.push(ticket, Completion { writes: Vec::new(), origin });
        }
        self.state.invalidate();
        self.seen = [Seen::default(); STAGES];
        self.submission = driver.context.queue().submitted() + 1;
        self.begin();
        // The place that the piece had is taken; it needs another for its end.
        (ticket.is_none() || driver.completions.reserve()).then_some(ticket)?
    }

    /// Submits what is recorded and waits for it and all work before; false when the device is gone.
    pub(crate) fn finish_earlier_work(&mut self) -> bool {
        let Some(ticket) = self.cut() else { return false };
        let ended = self.driver.wait(ticket, None) == Ok(true);
        if ended {
            self.driver.pools.come_down(ticket);
        }
        ended
    }

    fn run(&mut self, stream: &Stream, words: WordRange<usize>) {
        let Some(words) = stream.words().get(words) else { return };
        let mut reader = RecordReader::new(words);
        position::begin(words);
        let mut at = 0;
        while let Some(record) = reader.next() {
            position::next(words.as_ptr().wrapping_add(at));
            self.record(&record);
            at = reader.position();
        }
        position::end();
        // Flatten takes whole records only; one that is none here was damaged since, which cannot be.
        if let Some(malformed) = reader.fault() {
            fault!("B225", "a flattened stream ends early: {malformed}");
        }
    }

    /// Orders memory between engines, as the hardware's switch between them does.
    pub(crate) fn enter(&mut self, engine: Engine) {
        if self.engine != engine {
            self.encoder.flush_reports();
            self.encoder.barrier_all();
            self.engine = engine;
        }
    }

    fn record(&mut self, record: &Record<'_>) {
        let state = &mut *self.state;
        match *record {
            Record::DrawArrays(primitive, draw) => self.draw_arrays(primitive, &draw.into()),
            Record::DrawArraysInstanced(primitive, draw) => self.draw_arrays(primitive, draw),
            Record::DrawElements(mode, draw) => self.draw_elements(mode, &draw.into()),
            Record::DrawElementsBaseVertex(mode, draw) => self.draw_elements(mode, &draw.into()),
            Record::DrawElementsInstanced(mode, draw) => self.draw_elements(mode, draw),
            Record::DrawArraysIndirect(primitive, draw) => self.draw_indirect(primitive, None, draw.indirect.get(), None),
            Record::DrawElementsIndirect(mode, draw) => {
                let index = Some((mode.index_type(), draw.index_buffer.get()));
                self.draw_indirect(mode.primitive(), index, draw.indirect.get(), None);
            }
            Record::MultiDrawArraysIndirectCount(primitive, draw) => {
                let count = Some((draw.count.get(), draw.max_draws, draw.stride.unsigned_abs()));
                self.draw_indirect(primitive, None, draw.indirect.get(), count);
            }
            Record::MultiDrawElementsIndirectCount(mode, draw) => {
                let index = Some((mode.index_type(), draw.index_buffer.get()));
                let count = Some((draw.count.get(), draw.max_draws, draw.stride.unsigned_abs()));
                self.draw_indirect(mode.primitive(), index, draw.indirect.get(), count);
            }
            Record::DrawTexture(draw) => self.draw_texture(draw),
            Record::DispatchCompute(dispatch) => self.dispatch(dispatch.groups),
            Record::DispatchComputeIndirect(buffer) => self.dispatch_indirect(buffer.address.get()),

            Record::BindProgram(stages, program) => {
                self.bind_program(stages, program.first().map_or(0, |program| program.serial.get()));
            }
            Record::BindVertexBuffers(first, ranges) => {
                for (bound, range) in state.vertex_buffers.iter_mut().skip(usize::from(first)).zip(ranges) {
                    *bound = range_of(range);
                }
                state.dirty |= Dirty::VERTEX_BUFFERS;
            }
            Record::BindVertexAttribState(attributes) => {
                let count = attributes.len().min(state.attributes.len());
                for (bound, bits) in state.attributes.iter_mut().zip(attributes) {
                    *bound = VertexAttribState::from_bits(*bits);
                }
                state.attribute_count = count;
                state.dirty |= Dirty::VERTEX_INPUT;
            }
            Record::BindVertexStreamState(streams) => {
                for (bound, stream) in state.streams.iter_mut().zip(streams) {
                    *bound = VertexStreamState { stride: stream.stride.into(), divisor: stream.divisor.into() };
                }
                state.dirty |= Dirty::VERTEX_INPUT;
            }
            Record::BindUniformBuffers(at, ranges) => {
                let Some(stage) = state.stages.get_mut(at.stage()) else { return };
                for (bound, range) in stage.uniforms.iter_mut().skip(at.slot()).zip(ranges) {
                    *bound = range_of(range);
                }
                // Some layouts give blocks by address, in the driver's bank.
                stage.dirty |= StageDirty::UNIFORMS;
                if at.stage() == COMPUTE {
                    stage.dirty |= StageDirty::STORAGES;
                }
            }
            Record::BindStorageBuffers(at, ranges) => {
                let Some(stage) = state.stages.get_mut(at.stage()) else { return };
                for (bound, range) in stage.storages.iter_mut().skip(at.slot()).zip(ranges) {
                    *bound = range_of(range);
                }
                stage.dirty |= StageDirty::STORAGES;
            }
            Record::BindTextures(at, _, handles) => {
                let Some(stage) = state.stages.get_mut(at.stage()) else { return };
                for (bound, handle) in stage.textures.iter_mut().skip(at.slot()).zip(handles) {
                    *bound = *handle;
                }
                stage.dirty |= StageDirty::HANDLES;
            }
            Record::BindImages(at, handles) => {
                let Some(stage) = state.stages.get_mut(at.stage()) else { return };
                for (bound, handle) in stage.images.iter_mut().skip(at.slot()).zip(handles) {
                    *bound = *handle;
                }
                stage.dirty |= StageDirty::HANDLES;
            }
            Record::SetTexturePool(pool) => {
                state.texture_pool = pool.id;
                state.stages.iter_mut().for_each(|stage| stage.dirty |= StageDirty::HANDLES);
            }
            Record::SetSamplerPool(pool) => {
                state.sampler_pool = pool.id;
                state.stages.iter_mut().for_each(|stage| stage.dirty |= StageDirty::HANDLES);
            }
            Record::SetRenderTargets(count, targets) => {
                let colors = count.colors().min(COLORS).min(targets.len());
                state.colors = [Target::NONE; COLORS];
                for (bound, target) in state.colors.iter_mut().zip(&targets[..colors]) {
                    *bound = target_of(target);
                }
                state.depth = match targets.get(count.colors()).filter(|_| count.has_depth_stencil()) {
                    Some(target) => target_of(target),
                    None => Target::NONE,
                };
                state.dirty |= Dirty::TARGETS;
            }

            Record::BindBlendState(words) => {
                let blend = BlendState::from_bits(u64::from(words[0]) | u64::from(words[1]) << 32);
                if let Some(bound) = state.blend.get_mut(blend.target() as usize) {
                    *bound = blend;
                }
                state.dirty |= Dirty::BLEND;
            }
            Record::BindChannelMaskState(bits) => {
                state.channel_mask = ChannelMaskState::from_bits(*bits);
                state.dirty |= Dirty::BLEND;
            }
            Record::BindColorState(bits) => {
                state.color = ColorState::from_bits(*bits);
                state.dirty |= Dirty::BLEND | Dirty::SHADER_STATE;
            }
            Record::BindDepthStencilState(words) => {
                state.depth_stencil = DepthStencilState::from_bits(u64::from(words[0]) | u64::from(words[1]) << 32);
                state.dirty |= Dirty::DEPTH | Dirty::STENCIL;
            }
            Record::BindMultisampleState(words) => {
                state.multisample = bytemuck::pod_read_unaligned::<MultisampleState>(bytemuck::bytes_of(words));
                state.dirty |= Dirty::MULTISAMPLE;
            }
            Record::BindPolygonState(bits) => {
                state.polygon = PolygonState::from_bits(*bits);
                state.dirty |= Dirty::RASTERIZATION;
            }

            Record::SetViewports(first, viewports) => {
                let first = usize::from(first);
                for (bound, viewport) in state.viewports.iter_mut().skip(first).zip(viewports) {
                    *bound = *viewport;
                }
                state.viewport_count = state.viewport_count.max((first + viewports.len()).min(VIEWPORTS));
                state.dirty |= Dirty::VIEWPORTS;
            }
            Record::SetScissors(first, scissors) => {
                for (bound, scissor) in state.scissors.iter_mut().skip(usize::from(first)).zip(scissors) {
                    *bound = *scissor;
                }
                state.dirty |= Dirty::SCISSORS;
            }
            Record::SetDepthRanges(first, ranges) => {
                for (bound, range) in state.depth_ranges.iter_mut().skip(usize::from(first)).zip(ranges) {
                    *bound = *range;
                }
                state.dirty |= Dirty::VIEWPORTS;
            }
            Record::SetBlendColor(color) => {
                state.blend_color = *color;
                state.dirty |= Dirty::BLEND;
            }
            Record::SetAlphaRef(value) => {
                state.alpha_ref = *value;
                state.dirty |= Dirty::SHADER_STATE;
            }
            // Of programs that write none.
            Record::SetPointSize(size) => {
                state.point_size = *size;
                state.dirty |= Dirty::SHADER_STATE;
            }
            Record::SetLineWidth(width) => {
                state.line_width = *width;
                state.dirty |= Dirty::RASTERIZATION;
            }
            Record::SetPolygonOffsetClamp(offset) => {
                state.polygon_offset = *offset;
                state.dirty |= Dirty::RASTERIZATION;
            }
            Record::SetDepthBounds(bounds) => {
                state.depth_bounds = bounds.first().copied();
                state.dirty |= Dirty::DEPTH;
            }
            Record::SetDepthClamp(enable) => {
                state.depth_clamp = enable != 0;
                state.dirty |= Dirty::RASTERIZATION;
            }
            Record::SetPrimitiveRestart(index) => state.primitive_restart = index.first().copied(),
            Record::SetRasterizerDiscard(enable) => {
                state.rasterizer_discard = enable != 0;
                state.dirty |= Dirty::RASTERIZATION;
            }
            Record::SetSampleMask(mask) => {
                state.sample_mask = *mask;
                state.dirty |= Dirty::MULTISAMPLE;
            }
            Record::SetPatchSize(size) => state.patch_size = size,
            Record::SetStencilRefFront(value) => self.stencil(0, |n| n.reference = value),
            Record::SetStencilRefBack(value) => self.stencil(1, |n| n.reference = value),
            Record::SetStencilMaskFront(value) => self.stencil(0, |n| n.write_mask = value),
            Record::SetStencilMaskBack(value) => self.stencil(1, |n| n.write_mask = value),
            Record::SetStencilValueMaskFront(value) => self.stencil(0, |n| n.compare_mask = value),
            Record::SetStencilValueMaskBack(value) => self.stencil(1, |n| n.compare_mask = value),
            Record::SetRenderEnable(enable) => self.set_render_enable(enable != 0),
            Record::SetRenderEnableConditional(mode, values) => self.set_render_condition(mode, values.address.get()),

            Record::ClearColor(target, color) => self.clear_color(target, transfer::ClearValue::Float(*color)),
            Record::ClearColori(target, color) => self.clear_color(target, transfer::ClearValue::Signed(*color)),
            Record::ClearColorui(target, color) => self.clear_color(target, transfer::ClearValue::Unsigned(*color)),
            Record::ClearDepthStencil(depth, clear) => self.clear_depth_stencil(depth != 0, clear),
            Record::ClearBuffer(clear) => self.clear_buffer(clear),
            Record::ClearTexture(mask, clear) => {
                self.clear_texture(mask, &clear.texture, &clear.region, transfer::ClearValue::Float(clear.color));
            }
            Record::ClearTexturei(mask, clear) => {
                self.clear_texture(mask, &clear.texture, &clear.region, transfer::ClearValue::Signed(clear.color));
            }
            Record::ClearTextureui(mask, clear) => {
                self.clear_texture(mask, &clear.texture, &clear.region, transfer::ClearValue::Unsigned(clear.color));
            }
            Record::CopyBufferToBuffer(_, copy) => self.copy_buffer(copy),
            Record::CopyBufferToTexture(flags, copy, strides) => self.copy_buffer_texture(flags, copy, strides.first(), true),
            Record::CopyTextureToBuffer(flags, copy, strides) => self.copy_buffer_texture(flags, copy, strides.first(), false),
            Record::CopyTextureToTexture(flags, copy) => self.copy_texture(flags, copy),
            Record::Downsample(_, downsample) => self.downsample(downsample),
            Record::UpdateUniformBuffer(cut, update, words) => self.update_uniform(usize::from(cut), update, words),

            Record::Barrier(..) => {
                self.encoder.flush_reports();
                self.encoder.barrier_all();
            }
            // Told on completion, with everything before it in the piece (B229).
            Record::SignalEvent(..) => {
                if let Some(signal) = signal_of(record) {
                    let by_gpu = self.signal_on_gpu(&signal);
                    self.completion.writes.push(if by_gpu { Write::Signalled(signal) } else { Write::Event(signal) });
                }
            }
            Record::ReportValue(report) => self.report_value(report),
            Record::ReportCounter(counter, to) => self.report_counter(counter, to),
            Record::ResetCounter(counter) => self.reset_counter(counter),

            Record::PushDebugGroup(text) => {
                state.debug_groups = state.debug_groups.saturating_add(1);
                self.encoder.begin_label(&text_of(text));
            }
            // Vulkan closes no label that was not opened.
            Record::PopDebugGroup() => {
                if let Some(left) = state.debug_groups.checked_sub(1) {
                    state.debug_groups = left;
                    self.encoder.end_label();
                }
            }
            Record::InsertDebugMarker(text) => self.encoder.label(&text_of(text)),

            // Cut the stream before replay; inside a piece they have nothing left to do.
            Record::FenceSync(..) | Record::WaitSync(..) | Record::WaitEvent(..) => {}

            // Hints, and content that may be forgotten: keeping it is right (B428).
            Record::DiscardColor(_)
            | Record::DiscardDepthStencil()
            | Record::ResolveDepthBuffer()
            | Record::SetTiledCacheAction(_)
            | Record::SetTiledCacheTileSize(_)
            | Record::SetColorReductionEnable(_)
            | Record::SetColorReductionThresholds(..)
            | Record::SetStencilCullCriteria(..)
            | Record::SaveZCullData(_)
            | Record::RestoreZCullData(_)
            | Record::SetShaderScratchMemory(_)
            // Running every fragment is a valid result for either setting (B219).
            | Record::SetRepresentativeFragmentTest(_) => {}

            // Recording has named the mode that Vulkan does not have (B218).
            Record::SetFloatBlendClamp(_) => {}

            // No Vulkan form, or for a later stage. Named when it would change the picture.
            Record::SetSubpixelPrecisionBias(bias) => unsupported::without_effect(bias != 0, record),
            Record::SetConservativeRasterEnable(enable) => unsupported::without_effect(enable != 0, record),
            Record::SetViewportSwizzles(_, swizzles) => {
                // POSITIVE_X, Y, Z, W in their places: 0, 2, 4, 6.
                unsupported::without_effect(swizzles.iter().any(|swizzle| *swizzle & 0xFFFF != 0x6420), record);
            }
            Record::SetConservativeRasterDilate(_)
            | Record::BindCoverageModulationTable(_)
            | Record::SetInnerTessellationLevels(_)
            | Record::SetOuterTessellationLevels(_) => unsupported::without_effect(true, record),
            Record::DrawTransformFeedback(..)
            | Record::BindSeparateTextures(..)
            | Record::BindSeparateSamplers(..)
            | Record::BindTransformFeedbackBuffers(..)
            | Record::SetProgramSubroutines(..)
            | Record::BeginTransformFeedback(_)
            | Record::EndTransformFeedback(_)
            | Record::PauseTransformFeedback(_)
            | Record::ResumeTransformFeedback(_) => unsupported::without_effect(true, record),
        }
    }

    /// Has the GPU write an event, in order with what else it writes and reads: another queue may copy the word behind
    /// its wait, and this one may clear it behind the signal (B590). False where the GPU has bytes of its own: there the
    /// CPU writes the event when the piece has ended.
    fn signal_on_gpu(&mut self, signal: &EventSignal) -> bool {
        let range = Range { address: signal.address, size: 4 };
        if !signal.address.is_multiple_of(4) {
            return false;
        }
        let Ok(word) = self.resolve_or(range, "an event") else { return false };
        if word.size < 4 || !self.driver.pools.is_shared(range.address, range.size) {
            return false;
        }
        self.writes(range);
        let to = self.encoder.device_address(word);
        self.encoder.signal_event(to, signal.value, signal.mode == SignalMode::Add);
        true
    }

    fn stencil(&mut self, face: usize, set: impl Fn(&mut state::StencilNumbers)) {
        set(&mut self.state.stencil[face]);
        self.state.dirty |= Dirty::STENCIL;
    }

    /// Binds the named stages of a program (NVNshaderStageBits: a bit for each NVNshaderStage): each becomes the program's stage, or empty.
    fn bind_program(&mut self, stages: u8, serial: u64) {
        let program = match serial {
            0 => None,
            serial => {
                let arrival = self.arrival;
                let live = |program: &Arc<Program>| {
                    program.stages.iter().flatten().all(|stage| !stage.finalized_before(arrival))
                };
                let program = self.driver.programs.get(serial).filter(live);
                if program.is_none() {
                    fault!(
                        key = serial,
                        "B231",
                        "program {serial} is bound after it was finalized: its stages are empty"
                    );
                }
                program
            }
        };
        self.completion.origin.bound(serial);
        for (index, stage) in self.state.stages.iter_mut().enumerate() {
            if stages >> index & 1 != 0 {
                stage.program = program.as_ref().and_then(|program| program.stages[index].clone());
                stage.dirty |= StageDirty::PROGRAM;
            }
        }
        self.state.dirty |= Dirty::PROGRAMS;
    }
}

fn range_of(range: &BufferRange) -> Range {
    Range { address: range.address.get(), size: u64::from(range.size) }
}

pub(crate) fn target_of(texture: &TextureRef) -> Target {
    let view: ViewDesc = bytemuck::cast(texture.view);
    Target { serial: texture.serial.get(), view: if view.is_view() { view } else { ViewDesc::NONE } }
}

/// Text that fills words, zero-padded.
fn text_of(words: &[u32]) -> String {
    let bytes: &[u8] = bytemuck::cast_slice(words);
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
