//! The driver: one for the process, opened with the first `nvnDeviceInitialize`, shared by every NVN device.
//!
//! It owns the Vulkan context, the tables that guest objects lead to, the scheduler, and the two threads behind
//! it: the submit thread, which replays, and the completion thread, which publishes what finished work left.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use navin_abi::fault;
use navin_sync::{EventSignal, QueueId, Scheduler, SignalMode, Ticket};
use navin_vulkan::{Context, DeviceChoice, EncoderCounters, OpenOptions, QueueError, Validation};
use parking_lot::{Condvar, Mutex};
use serde_json::json;

use crate::config::{self, Config};
use crate::host::descriptors::Descriptors;
use crate::host::pools::Pools;
use crate::host::programs::Programs;
use crate::host::textures::{Texture, Textures};
use crate::host::windows::Windows;
use crate::replay::present::{Frame, Present};
use crate::replay::{Replayer, Work};
use crate::status::Run;

/// How long the submit thread sleeps while a queue waits for an event that guest code may write without a call.
const EVENT_POLL: Duration = Duration::from_micros(200);
/// How long the completion thread waits for the timeline at a time.
const COMPLETION_WAIT: Duration = Duration::from_millis(100);

/// Everything there is one of.
pub(crate) struct Driver {
    pub(crate) config: Config,
    pub(crate) run: Arc<Run>,
    pub(crate) context: Arc<Context>,
    pub(crate) pools: Pools,
    pub(crate) textures: Textures,
    pub(crate) descriptors: Descriptors,
    pub(crate) programs: Programs,
    pub(crate) windows: Windows,
    pub(crate) scheduler: Scheduler<Work, Present>,
    pub(crate) completions: Completions,
    pub(crate) modes: Modes,
    pub(crate) counters: Counters,
    jobs: mpsc::Sender<Job>,
    lost: AtomicBool,
}

/// Something that only the submit thread may do, in order with the work it has replayed.
pub(crate) type Job = Box<dyn FnOnce(&mut Replayer) + Send>;

static DRIVER: OnceLock<Option<&'static Driver>> = OnceLock::new();

/// The driver, if a device has been opened.
pub(crate) fn get() -> Option<&'static Driver> {
    DRIVER.get().copied().flatten()
}

/// The driver, opened at the first call; `None` (said once, with what to do) when this machine has no device.
pub(crate) fn open() -> Option<&'static Driver> {
    *DRIVER.get_or_init(|| match start() {
        Ok(driver) => Some(driver),
        Err(e) => {
            fault!("", "{e}; nvnDeviceInitialize answers false");
            None
        }
    })
}

fn start() -> Result<&'static Driver, String> {
    let config = Config::load().map_err(|e| e.to_string())?;
    config.init_log();
    if config.status_fd.is_some() {
        crate::crash::install();
    }
    let run = Run::start(&config).map_err(|e| e.to_string())?;
    let options = OpenOptions {
        validation: match config.validation {
            config::Validation::Off => Validation::Off,
            config::Validation::Log | config::Validation::Fail => Validation::On,
        },
        device: match &config.device {
            None => DeviceChoice::Best,
            Some(name) => name.parse().map_or_else(|_| DeviceChoice::Name(name.clone()), DeviceChoice::Index),
        },
        labels: config.validation != config::Validation::Off,
        ..OpenOptions::default()
    };
    let context = Context::open(&options).map_err(|e| {
        run.no_device(&e.to_string());
        e.to_string()
    })?;
    let (jobs, inbox) = mpsc::channel();
    let driver: &'static Driver = Box::leak(Box::new(Driver {
        config,
        run,
        context,
        pools: Pools::default(),
        textures: Textures::default(),
        descriptors: Descriptors::default(),
        programs: Programs::default(),
        windows: Windows::default(),
        scheduler: Scheduler::new(),
        completions: Completions::default(),
        modes: Modes::default(),
        counters: Counters::default(),
        jobs,
        lost: AtomicBool::new(false),
    }));
    driver.run.device(&driver.context.report().device);
    driver.run.set_counters(|| driver.counters_json());
    let spawn = |name: &str, body: Box<dyn FnOnce() + Send>| {
        thread::Builder::new().name(name.into()).spawn(body).map_err(|e| format!("no thread for {name}: {e}"))
    };
    // A guest that ends by itself still gets its last frames: this runs before the run's own handler, which was
    // registered earlier.
    // SAFETY: the handler is a function that lives as long as the process and does not unwind.
    unsafe { libc::atexit(drain_at_exit) };
    spawn("navin-submit", Box::new(move || driver.submit_thread(inbox)))?;
    spawn("navin-complete", Box::new(move || driver.completion_thread()))?;
    Ok(driver)
}

/// How long a process that ends waits for work and frames on their way.
const EXIT_WAIT: Duration = Duration::from_secs(5);

extern "C" fn drain_at_exit() {
    if let Some(driver) = get() {
        for queue in driver.scheduler.status() {
            driver.scheduler.finish_within(queue.queue, Some(EXIT_WAIT));
        }
        driver.completions.wait_empty(EXIT_WAIT);
    }
}

impl Driver {
    /// Has the submit thread do `job` after what it is replaying.
    pub(crate) fn post(&self, job: Job) {
        if self.jobs.send(job).is_ok() {
            self.scheduler.poke();
        }
    }

    /// Has the submit thread do `job` and waits for its answer.
    pub(crate) fn ask<T: Send + 'static>(&self, job: impl FnOnce(&mut Replayer) -> T + Send + 'static) -> Option<T> {
        let (answer, answered) = mpsc::sync_channel(1);
        self.post(Box::new(move |replayer| {
            // Nobody listens any more only when the asking thread is gone.
            let _ = answer.send(job(replayer));
        }));
        answered.recv().ok()
    }

    /// Brings what the GPU wrote into a texture to the guest's storage, and waits for it.
    pub(crate) fn store(&'static self, texture: &Arc<Texture>) {
        let texture = Arc::clone(texture);
        self.ask(move |replayer| replayer.store(&texture));
    }

    /// The device is gone: nothing waits for it any more.
    pub(crate) fn lost(&self, error: &QueueError) {
        let gone =
            matches!(error, QueueError::Vulkan(result) if *result == navin_vulkan::vk::Result::ERROR_DEVICE_LOST);
        if gone && !self.lost.swap(true, Ordering::AcqRel) {
            fault!(
                "B235",
                "the Vulkan device is lost: submitted {}, completed {}; waits fail from now on",
                self.context.queue().submitted(),
                self.context.queue().completed()
            );
            self.scheduler.lose_device();
        }
    }

    /// Whether the Vulkan device is gone.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Passes the validation layer's messages on to whoever runs the guest.
    fn report_validation(&self) {
        if let Some(message) = self.context.take_validation_message() {
            self.run.validation_message(&message);
        }
    }

    fn submit_thread(&'static self, inbox: mpsc::Receiver<Job>) {
        let mut replayer = Replayer::new(self);
        loop {
            // Read before the looks at jobs and steps: what comes after them ends the sleep at once.
            let seen = self.scheduler.activity();
            for job in inbox.try_iter() {
                job(&mut replayer);
            }
            self.scheduler.run_ready(&mut replayer);
            self.report_validation();
            let timeout = self.scheduler.waits_for_event().then_some(EVENT_POLL);
            self.scheduler.wait_for_work(seen, timeout);
        }
    }

    fn completion_thread(&'static self) {
        loop {
            let Some(next) = self.completions.next() else { continue };
            while next.ticket > self.context.queue().completed() && !self.lost.load(Ordering::Acquire) {
                if let Err(e) = self.context.queue().wait(next.ticket, COMPLETION_WAIT) {
                    self.lost(&e);
                }
            }
            match next.what {
                What::Work(signals) => {
                    for signal in signals {
                        self.signal(&signal);
                    }
                    self.scheduler.complete(next.ticket);
                }
                What::Present(frame) => self.deliver(frame),
            }
            self.completions.delivered();
        }
    }

    /// Publishes an event: its value is written after everything that its submission wrote (B229).
    fn signal(&self, signal: &EventSignal) {
        let written = self.pools.update_word(signal.address, |value| match signal.mode {
            SignalMode::Write => signal.value,
            SignalMode::Add => value.wrapping_add(signal.value),
        });
        if !written {
            fault!(
                key = signal.address,
                "B229",
                "an event at {:#x}, where no memory is: not signalled",
                signal.address
            );
        }
    }

    fn deliver(&'static self, frame: Frame) {
        if let Some(pixels) = frame.pixels
            && let Some((width, height, rgba)) = pixels.picture()
        {
            self.run.frame(frame.index, width, height, &rgba);
        }
        self.counters.presents.fetch_add(1, Ordering::Relaxed);
        frame.window.shown();
        self.report_validation();
        if self.run.frame_presented(frame.index) {
            self.run.exit();
        }
    }

    fn counters_json(&self) -> serde_json::Value {
        let (pools, pool_bytes) = self.pools.totals();
        let c = &self.counters;
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let encoder = *c.encoder.lock();
        json!({
            "device": self.context.report().device,
            "submissions": get(&c.submissions),
            "presents": get(&c.presents),
            "encoder": encoder,
            "draws_without_program": get(&c.draws_without_program),
            "programs_translated": get(&c.programs_translated),
            "shader_variants": get(&c.shader_variants),
            "images_made": get(&c.images_made),
            "texture_uploads": get(&c.texture_uploads),
            "texture_upload_bytes": get(&c.texture_upload_bytes),
            "live": {
                "pools": pools,
                "pool_bytes": pool_bytes,
                "textures": self.textures.len(),
                "programs": self.programs.len(),
            },
        })
    }
}

/// The device-wide conventions of space that a guest can set at any time.
pub(crate) struct Modes {
    window_origin: AtomicI32,
    depth: AtomicI32,
}

impl Default for Modes {
    /// LOWER_LEFT and NEAR_IS_MINUS_W, NVN's defaults.
    fn default() -> Self {
        Self { window_origin: AtomicI32::new(0), depth: AtomicI32::new(0) }
    }
}

impl Modes {
    pub(crate) fn set_window_origin(&self, mode: i32) {
        self.window_origin.store(mode, Ordering::Release);
    }

    pub(crate) fn set_depth(&self, mode: i32) {
        self.depth.store(mode, Ordering::Release);
    }

    /// Whether memory row 0 is the lowest row of a picture.
    pub(crate) fn lower_left(&self) -> bool {
        self.window_origin.load(Ordering::Acquire) == 0
    }

    /// Whether clip z runs from -w to w.
    pub(crate) fn minus_w(&self) -> bool {
        self.depth.load(Ordering::Acquire) == 0
    }
}

/// Everything countable.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) submissions: AtomicU64,
    pub(crate) presents: AtomicU64,
    pub(crate) draws_without_program: AtomicU64,
    pub(crate) programs_translated: AtomicU64,
    pub(crate) shader_variants: AtomicU64,
    pub(crate) images_made: AtomicU64,
    pub(crate) texture_uploads: AtomicU64,
    pub(crate) texture_upload_bytes: AtomicU64,
    encoder: Mutex<EncoderCounters>,
}

impl Counters {
    /// Adds what one submission's encoder counted.
    pub(crate) fn add_encoder(&self, counted: &EncoderCounters) {
        let mut sum = self.encoder.lock();
        sum.draws += counted.draws;
        sum.draws_skipped += counted.draws_skipped;
        sum.dispatches += counted.dispatches;
        sum.state_commands += counted.state_commands;
        sum.shader_binds += counted.shader_binds;
        sum.constant_sets += counted.constant_sets;
        sum.buffer_binds += counted.buffer_binds;
        sum.rendering_scopes += counted.rendering_scopes;
        sum.barriers += counted.barriers;
        sum.transfers += counted.transfers;
    }
}

/// What the completion thread waits for, in submission order.
#[derive(Default)]
pub(crate) struct Completions {
    queue: Mutex<Pending>,
    arrived: Condvar,
    emptied: Condvar,
}

#[derive(Default)]
struct Pending {
    queue: VecDeque<Next>,
    /// The completion thread works on one that is no longer in the queue.
    busy: bool,
}

struct Next {
    ticket: Ticket,
    what: What,
}

enum What {
    Work(Vec<EventSignal>),
    Present(Frame),
}

impl Completions {
    /// Work with this ticket was given to the GPU.
    pub(crate) fn submitted(&self, ticket: Ticket, signals: &[EventSignal]) {
        self.push(Next { ticket, what: What::Work(signals.to_vec()) });
    }

    /// A frame is complete at this ticket.
    pub(crate) fn presented(&self, ticket: Ticket, frame: Frame) {
        self.push(Next { ticket, what: What::Present(frame) });
    }

    fn push(&self, next: Next) {
        self.queue.lock().queue.push_back(next);
        self.arrived.notify_one();
    }

    fn next(&self) -> Option<Next> {
        let mut pending = self.queue.lock();
        while pending.queue.is_empty() {
            self.arrived.wait(&mut pending);
        }
        pending.busy = true;
        pending.queue.pop_front()
    }

    fn delivered(&self) {
        let mut pending = self.queue.lock();
        pending.busy = false;
        if pending.queue.is_empty() {
            self.emptied.notify_all();
        }
    }

    /// Waits until everything given so far has been published and shown.
    fn wait_empty(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        let mut pending = self.queue.lock();
        while pending.busy || !pending.queue.is_empty() {
            if self.emptied.wait_until(&mut pending, deadline).timed_out() {
                return;
            }
        }
    }
}

/// Ends a queue: what is parked in it never runs; its bindings are forgotten (B230).
pub(crate) fn destroy_queue(driver: &'static Driver, queue: QueueId) {
    driver.scheduler.destroy_queue(queue);
    driver.post(Box::new(move |replayer| replayer.forget_queue(queue)));
}
