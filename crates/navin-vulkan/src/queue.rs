//! The queue: one Vulkan queue with one timeline semaphore.
//!
//! `navin`'s submit thread begins an [`Encoder`], records, and submits it; the value it gets back is what the
//! completion thread waits for. Submissions are one after the other in memory as well as in order: each ends with a
//! barrier over everything, host reads included, so that a later submission, or the CPU after waiting, sees all
//! that was written. What a submission was recorded with (command pool, sets, transient blocks) is recycled when
//! the timeline passes its value, and dropped objects are destroyed (see [`crate::retire`]).

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ash::vk;
use ash::vk::Handle as _;
use parking_lot::{Condvar, Mutex};
use smallvec::SmallVec;

use crate::context::{OpenError, Validation};
use crate::encoder::Encoder;
use crate::encoder::clear::ClearKit;
use crate::encoder::draw_texture::DrawTextureKit;
use crate::encoder::kit::CounterKit;
use crate::frame::Frame;
use crate::gpu::Gpu;
use crate::layout::Layouts;
use crate::memory::{Buffer, MemoryKind};
use crate::prologue::Fresh;
use crate::query::FreeQueries;
use crate::tiling::TilingKit;
use crate::transient::FreeBlocks;

/// Why work could not be recorded or submitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// A Vulkan call failed; `ERROR_DEVICE_LOST` is final.
    #[error("{0}")]
    Vulkan(#[from] vk::Result),
    /// A validation message came, and the context was opened to fail on one.
    #[error("validation: {0}")]
    Validation(String),
}

struct InFlight {
    value: u64,
    encoder: u64,
    frame: Frame,
}

#[derive(Default)]
struct State {
    in_flight: VecDeque<InFlight>,
    free: Vec<Frame>,
}

/// What the queue and its encoders share.
pub(crate) struct Shared {
    pub(crate) gpu: Arc<Gpu>,
    pub(crate) layouts: Arc<Layouts>,
    pub(crate) table_set: vk::DescriptorSet,
    pub(crate) blocks: FreeBlocks,
    pub(crate) free_queries: FreeQueries,
    /// (0, 0, 0, 1) as floats at 0, as integers at 16: what vertex inputs without an attribute read.
    pub(crate) default_attributes: Buffer,
    /// Shaders of masked clears, made at the first one.
    pub(crate) clear_kit: Mutex<Option<Arc<ClearKit>>>,
    /// Shaders of counters and render conditions, made at the first one.
    pub(crate) counter_kit: Mutex<Option<Arc<CounterKit>>>,
    /// Shaders that draw textures, made at the first such draw.
    pub(crate) draw_texture_kit: Mutex<Option<Arc<DrawTextureKit>>>,
    /// Shaders and scratch memory of untiling and tiling, made at the first such copy.
    pub(crate) tiling_kit: Mutex<Option<TilingKit>>,
    raw: vk::Queue,
    timeline: vk::Semaphore,
    validation: Validation,
    submitted: AtomicU64,
    completed: AtomicU64,
    frames_made: AtomicU64,
    waits: AtomicU64,
    /// Waits for the timeline are one at a time.
    one_waiter: bool,
    /// Whether a thread waits in the driver, where one may at a time; and what tells the others that it has come back.
    turn: Mutex<bool>,
    next: Condvar,
    /// Also locks the Vulkan queue.
    state: Mutex<State>,
}

/// The device's queue with its timeline: submission n is complete when the timeline reaches n.
pub struct Queue(Arc<Shared>);

impl Queue {
    pub(crate) fn new(
        gpu: &Arc<Gpu>,
        layouts: &Arc<Layouts>,
        table_set: vk::DescriptorSet,
        validation: Validation,
        one_waiter: bool,
    ) -> Result<Self, OpenError> {
        let default_attributes = Buffer::with_gpu(gpu, 256, MemoryKind::Upload, "default attributes")?;
        let one = 1.0f32.to_ne_bytes();
        default_attributes.write(12, &one);
        default_attributes.write(28, &1u32.to_ne_bytes());
        let mut kind =
            vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE).initial_value(0);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: a valid description; timeline semaphores are a required feature; the family's first queue was
        // asked for at the device's creation.
        let (timeline, raw) = unsafe {
            let timeline = gpu
                .device
                .create_semaphore(&info, None)
                .map_err(|result| OpenError::Vulkan { what: "making the timeline", result })?;
            (timeline, gpu.device.get_device_queue(gpu.queue_family, 0))
        };
        gpu.name(timeline, "timeline");
        // The device destroys it at its end: whoever releases something asks it.
        gpu.timeline.store(timeline.as_raw(), Ordering::Release);
        Ok(Self(Arc::new(Shared {
            gpu: gpu.clone(),
            layouts: layouts.clone(),
            table_set,
            blocks: FreeBlocks::default(),
            free_queries: FreeQueries::default(),
            default_attributes,
            clear_kit: Mutex::default(),
            counter_kit: Mutex::default(),
            draw_texture_kit: Mutex::default(),
            tiling_kit: Mutex::default(),
            raw,
            timeline,
            validation,
            submitted: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            frames_made: AtomicU64::new(0),
            waits: AtomicU64::new(0),
            one_waiter,
            turn: Mutex::new(false),
            next: Condvar::new(),
            state: Mutex::default(),
        })))
    }

    /// Begins the command buffer of a submission, with default state.
    ///
    /// # Errors
    /// Out of memory, or the device is lost.
    pub fn begin(&self) -> Result<Box<Encoder>, QueueError> {
        let mut reused = self.0.state.lock().free.pop();
        if reused.is_none() {
            // A finished submission may still hold one.
            self.collect();
            reused = self.0.state.lock().free.pop();
        }
        let frame = match reused {
            Some(frame) => frame,
            // Not waited for: the set grows to what is in flight at most (B598).
            None => {
                self.0.frames_made.fetch_add(1, Ordering::Relaxed);
                Frame::new(&self.0.gpu)?
            }
        };
        Ok(Encoder::new(self.0.clone(), frame)?)
    }

    /// Submits it; the value is complete when everything before and in it is.
    ///
    /// # Errors
    /// Recording ran out of memory (nothing of the encoder runs then), the device is lost, or a validation message
    /// came and the context was opened to fail on one.
    pub fn submit(&self, encoder: Box<Encoder>) -> Result<u64, QueueError> {
        self.submit_behind(None, encoder)
    }

    /// Submits it, and in the same submission `first` before it: for what turns out to be needed while the other is
    /// recorded.
    ///
    /// # Errors
    /// As for [`Queue::submit`]; nothing of either runs then.
    pub fn submit_behind(&self, first: Option<Box<Encoder>>, encoder: Box<Encoder>) -> Result<u64, QueueError> {
        let shared = &self.0;
        // Ending the encoders may make objects of their own, so it comes before the lock.
        let (frame, number) = encoder.finish()?;
        let first = match first.map(Encoder::finish).transpose() {
            Ok(first) => first,
            Err(error) => {
                shared.abandon(frame, number);
                return Err(error.into());
            }
        };
        let mut state = shared.state.lock();
        let value = shared.submitted.load(Ordering::Relaxed) + 1;
        let signal = [vk::SemaphoreSubmitInfo::default()
            .semaphore(shared.timeline)
            .value(value)
            .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)];
        // The signal value is above all earlier ones.
        let earlier = first.as_ref().map(|(frame, _)| frame);
        let fresh = match shared.hand_over(earlier, &frame, &signal, vk::Fence::null()) {
            Ok(fresh) => fresh,
            Err(error) => {
                drop(state);
                for (frame, number) in first.into_iter().chain([(frame, number)]) {
                    drop(frame);
                    shared.gpu.retire.end(number);
                }
                return Err(error.into());
            }
        };
        if let Some((frame, number)) = first {
            shared.gpu.retire.submitted(number, value);
            state.in_flight.push_back(InFlight { value, encoder: number, frame });
        }
        shared.gpu.retire.submitted(number, value);
        state.in_flight.push_back(InFlight { value, encoder: number, frame });
        shared.submitted.store(value, Ordering::Release);
        drop(state);
        // Staging memory of pools' content goes when the submission is complete.
        drop(fresh);
        self.collect();
        if shared.validation == Validation::FailOnMessage
            && let Some(message) = shared.gpu.instance.messages.take_first()
        {
            return Err(QueueError::Validation(message));
        }
        Ok(value)
    }

    /// Pools of queries that counting submissions made so far; recycled, so bounded by the most in flight (B589).
    pub fn query_pools_made(&self) -> u64 {
        self.0.free_queries.made()
    }

    /// Command pools that were made so far, with what else a submission is recorded with; recycled, so bounded by the
    /// most in flight and being recorded (B598).
    pub fn frames_made(&self) -> u64 {
        self.0.frames_made.load(Ordering::Relaxed)
    }

    /// How often a thread has begun to wait for the GPU here; recording and submitting never do (B598).
    pub fn waits(&self) -> u64 {
        self.0.waits.load(Ordering::Relaxed)
    }

    /// Submits it after everything submitted so far, and waits. It takes no value of the timeline, so that any thread may
    /// do this without another's numbers being wrong.
    ///
    /// # Errors
    /// Recording ran out of memory, or the device is lost.
    pub fn run(&self, encoder: Box<Encoder>) -> Result<(), QueueError> {
        let shared = &self.0;
        let device = &shared.gpu.device;
        // SAFETY: a valid description.
        let fence = unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) }?;
        let outcome = encoder.finish().map_err(QueueError::from).and_then(|(frame, number)| {
            let state = shared.state.lock();
            let ran = shared.hand_over(None, &frame, &[], fence);
            drop(state);
            shared.waits.fetch_add(1, Ordering::Relaxed);
            // SAFETY: the fence is this call's own. A wait without limit ends with the work or with the device.
            let ran = ran.and_then(|fresh| unsafe { device.wait_for_fences(&[fence], true, u64::MAX) }.map(|()| fresh));
            shared.gpu.retire.end(number);
            if ran.is_ok() {
                shared.keep(&mut shared.state.lock(), frame);
            }
            drop(ran?);
            Ok(())
        });
        // SAFETY: nothing waits for the fence any more: its work is complete, was never submitted, or can never run.
        unsafe { device.destroy_fence(fence, None) };
        shared.gpu.release();
        outcome
    }

    /// The last submitted value, 0 before the first.
    pub fn submitted(&self) -> u64 {
        self.0.submitted.load(Ordering::Acquire)
    }

    /// The last value that is complete.
    pub fn completed(&self) -> u64 {
        self.0.poll()
    }

    /// Waits for a value; false when the time ran out. A value that was never submitted is waited for until the
    /// time runs out.
    ///
    /// # Errors
    /// The device is lost.
    pub fn wait(&self, value: u64, timeout: Duration) -> Result<bool, QueueError> {
        if self.0.completed.load(Ordering::Acquire) >= value {
            return Ok(true);
        }
        self.0.waits.fetch_add(1, Ordering::Relaxed);
        if self.0.one_waiter { self.0.wait_in_turn(value, timeout) } else { self.0.wait(value, timeout) }
    }

    /// Waits for everything submitted, and destroys what was waiting for it.
    ///
    /// # Errors
    /// The device is lost.
    pub fn wait_idle(&self) -> Result<(), QueueError> {
        let value = self.submitted();
        while value > 0 && !self.wait(value, Duration::from_secs(1))? {}
        self.collect();
        Ok(())
    }

    /// Destroys and recycles what finished work was keeping; called at each submission too. Whoever waits for
    /// submissions calls it when one is complete, from any thread, so that nothing waits for another one (B650).
    pub fn collect(&self) {
        self.0.collect();
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if let Err(error) = self.wait_idle() {
            tracing::error!("waiting for the queue at its end: {error}");
        }
    }
}

impl Shared {
    fn poll(&self) -> u64 {
        // SAFETY: the timeline lives as long as this.
        match unsafe { self.gpu.device.get_semaphore_counter_value(self.timeline) } {
            Ok(value) => {
                self.completed.fetch_max(value, Ordering::AcqRel);
            }
            Err(error) => {
                navin_abi::fault!("", "the device does not tell its timeline: {error}");
            }
        }
        self.completed.load(Ordering::Acquire)
    }

    fn wait(&self, value: u64, timeout: Duration) -> Result<bool, QueueError> {
        let semaphores = [self.timeline];
        let values = [value];
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        let nanoseconds = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the timeline lives as long as the queue.
        match unsafe { self.gpu.device.wait_semaphores(&info, nanoseconds) } {
            Ok(()) => {
                self.completed.fetch_max(value, Ordering::AcqRel);
                Ok(true)
            }
            Err(vk::Result::TIMEOUT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// As [`wait`](Self::wait), with one thread at a time in the driver: the others sleep until it tells them. It waits
    /// value by value, so that nobody's is passed over.
    fn wait_in_turn(&self, value: u64, timeout: Duration) -> Result<bool, QueueError> {
        if self.poll() >= value {
            return Ok(true);
        }
        // None: without an end.
        let deadline = Instant::now().checked_add(timeout);
        let mut taken = self.turn.lock();
        loop {
            let completed = self.completed.load(Ordering::Acquire);
            if completed >= value {
                return Ok(true);
            }
            let left = deadline.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(false);
            }
            if *taken {
                match deadline {
                    Some(end) => _ = self.next.wait_until(&mut taken, end),
                    None => self.next.wait(&mut taken),
                }
                continue;
            }
            *taken = true;
            drop(taken);
            let step = self.wait(completed + 1, left);
            taken = self.turn.lock();
            *taken = false;
            self.next.notify_all();
            if !step? {
                return Ok(false);
            }
        }
    }

    /// Gives a frame to the Vulkan queue, `earlier` before it, and what waits for a submission before both. The caller
    /// holds the state's lock, which keeps other users of the queue away. What was waiting is to be kept until the
    /// submission is known.
    fn hand_over(
        &self,
        earlier: Option<&Frame>,
        frame: &Frame,
        signal: &[vk::SemaphoreSubmitInfo<'_>],
        fence: vk::Fence,
    ) -> Result<Fresh, vk::Result> {
        let fresh = std::mem::take(&mut *self.gpu.fresh.lock());
        let outcome = fresh.record(&self.gpu, frame).and_then(|()| {
            let command = |buffer| vk::CommandBufferSubmitInfo::default().command_buffer(buffer);
            let prologue = (!fresh.is_empty()).then_some(frame.prologue);
            let buffers = prologue.into_iter().chain(earlier.map(|frame| frame.commands)).chain([frame.commands]);
            let commands: SmallVec<[_; 3]> = buffers.map(command).collect();
            let info = [vk::SubmitInfo2::default().command_buffer_infos(&commands).signal_semaphore_infos(signal)];
            // SAFETY: the command buffers are complete and not pending; the caller holds the lock.
            unsafe { self.gpu.device.queue_submit2(self.raw, &info, fence) }
        });
        match outcome {
            Ok(()) => Ok(fresh),
            Err(error) => {
                self.gpu.fresh.lock().append(fresh);
                Err(error)
            }
        }
    }

    fn collect(&self) {
        let completed = self.poll();
        let mut state = self.state.lock();
        while state.in_flight.front().is_some_and(|oldest| oldest.value <= completed) {
            if let Some(done) = state.in_flight.pop_front() {
                self.gpu.retire.end(done.encoder);
                self.keep(&mut state, done.frame);
            }
        }
        drop(state);
        self.gpu.release();
    }

    fn keep(&self, state: &mut State, mut frame: Frame) {
        // All are kept: there are as many as were ever in flight at once, and a burst that comes again makes none (B598).
        if frame.reset(&self.blocks, &self.free_queries).is_ok() {
            state.free.push(frame);
        }
    }

    /// Takes back what an encoder that is not submitted was recorded with.
    pub(crate) fn abandon(&self, frame: Frame, encoder: u64) {
        self.gpu.retire.end(encoder);
        self.keep(&mut self.state.lock(), frame);
    }
}
