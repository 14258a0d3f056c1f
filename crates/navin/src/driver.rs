//! The driver: one for the process, opened with the first `nvnDeviceInitialize`, shared by every NVN device.
//!
//! It owns the Vulkan context, the tables that guest objects lead to, the scheduler, and the three threads behind
//! it: the submit thread, which replays, the completion thread, which publishes what finished work left
//! ([`crate::host::completion`]), and the display thread, which shows frames ([`crate::host::display`]).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::{Duration, Instant};
use std::{panic, thread};

use navin_abi::fault;
use navin_sync::{Completions, QueueId, Scheduler, Timeline};
use navin_vulkan::{Context, DeviceChoice, EncoderCounters, OpenOptions, Validation};
use parking_lot::Mutex;
use serde_json::json;

use crate::config::{self, Config};
use crate::histogram::Histogram;
use crate::host::completion::Completion;
use crate::host::descriptors::Descriptors;
use crate::host::display::Display;
use crate::host::health::Health;
use crate::host::pools::Pools;
use crate::host::programs::Programs;
use crate::host::textures::{Texture, Textures};
use crate::host::windows::Windows;
use crate::replay::present::Present;
use crate::replay::{Replayer, Work};
use crate::status::Run;

/// How long the submit thread sleeps while a queue waits for an event that guest code may write without a call.
const EVENT_POLL: Duration = Duration::from_micros(200);
/// How long who waits for the submit thread sleeps at a time: a suspend is noticed within it.
const SETTLE_LOOK: Duration = Duration::from_millis(20);
/// How long a suspend waits for what the GPU has begun.
const SUSPEND_WAIT: Duration = Duration::from_secs(5);

/// Everything there is one of.
pub(crate) struct Driver {
    pub(crate) config: Config,
    /// Guests' waits end on the GPU's own signal (B301), not on the completion thread's.
    pub(crate) fast_wake: bool,
    pub(crate) run: Arc<Run>,
    pub(crate) context: Arc<Context>,
    pub(crate) pools: Pools,
    pub(crate) textures: Textures,
    pub(crate) descriptors: Descriptors,
    pub(crate) programs: Programs,
    pub(crate) windows: Windows,
    pub(crate) scheduler: Scheduler<Work, Present>,
    pub(crate) completions: Completions<Completion>,
    pub(crate) display: Display,
    pub(crate) health: Health,
    /// Zero of the driver's clock.
    pub(crate) epoch: Instant,
    pub(crate) modes: Modes,
    pub(crate) counters: Counters,
    /// Descriptor slots wait for the end of submitted work: whoever publishes it has the submit thread look again.
    pub(crate) slots_wait: AtomicBool,
    jobs: mpsc::Sender<Job>,
    /// The completion thread.
    completer: Mutex<Option<thread::JoinHandle<()>>>,
    /// Jobs for when everything up to a submission has been replayed; submissions ascend.
    later: Mutex<VecDeque<(u64, Job)>>,
    /// Who waits for everything up to a submission to be replayed, but for what is parked.
    settling: Mutex<Vec<(u64, mpsc::SyncSender<()>)>>,
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
    let driver = *DRIVER.get_or_init(|| match start() {
        Ok(driver) => Some(driver),
        Err(e) => {
            fault!("", "{e}; nvnDeviceInitialize answers false");
            None
        }
    });
    if let Some(driver) = driver
        && *SUSPENDED.lock()
    {
        // Asked for before there was a driver: there is no work yet to wait for.
        driver.scheduler.suspend(Some(Duration::ZERO));
    }
    driver
}

/// Whether the embedder holds GPU work back, also before there is a driver (B234).
static SUSPENDED: Mutex<bool> = Mutex::new(false);

/// See [`crate::lifecycle::suspend`].
pub(crate) fn suspend() -> bool {
    let mut suspended = SUSPENDED.lock();
    *suspended = true;
    let Some(driver) = get() else { return true };
    if !driver.scheduler.suspend(Some(SUSPEND_WAIT)) {
        return false;
    }
    // Nobody submits any more: what the GPU has now is all.
    let last = driver.context.queue().submitted();
    let ended = navin_sync::Timeline::wait(driver, last, Some(SUSPEND_WAIT));
    if ended == Ok(true) {
        driver.publish(last);
    }
    ended != Ok(false)
}

/// See [`crate::lifecycle::resume`].
pub(crate) fn resume() {
    let mut suspended = SUSPENDED.lock();
    *suspended = false;
    if let Some(driver) = get() {
        driver.scheduler.resume();
    }
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
        import: config.import,
        device_local: config.device_local,
        without: config.without.clone(),
        ..OpenOptions::default()
    };
    let context = Context::open(&options).map_err(|e| {
        run.no_device(&e.to_string());
        e.to_string()
    })?;
    let pools = Pools::new(&config);
    let fast_wake = config.fast_wake.unwrap_or(!context.late_for_two_waiters());
    let (jobs, inbox) = mpsc::channel();
    let driver: &'static Driver = Box::leak(Box::new(Driver {
        config,
        fast_wake,
        run,
        context,
        pools,
        textures: Textures::default(),
        descriptors: Descriptors::default(),
        programs: Programs::default(),
        windows: Windows::default(),
        scheduler: Scheduler::new(),
        completions: Completions::default(),
        display: Display::default(),
        health: Health::default(),
        epoch: Instant::now(),
        modes: Modes::default(),
        counters: Counters::default(),
        slots_wait: AtomicBool::new(false),
        jobs,
        later: Mutex::default(),
        completer: Mutex::default(),
        settling: Mutex::default(),
    }));
    driver.run.device(&driver.context.report().device);
    driver.run.set_counters(|| driver.counters_json());
    let spawn = |name: &'static str, body: Box<dyn FnOnce() + Send>| {
        let body = move || {
            // Whatever it left half done is not looked at again: waits fail from here on.
            if panic::catch_unwind(panic::AssertUnwindSafe(body)).is_err() {
                driver.broken(name);
            }
        };
        thread::Builder::new().name(name.into()).spawn(body).map_err(|e| format!("no thread for {name}: {e}"))
    };
    // Before the run's own handler, which was registered earlier.
    leave_first();
    spawn("navin-submit", Box::new(move || driver.submit_thread(inbox)))?;
    *driver.completer.lock() = Some(spawn("navin-complete", Box::new(move || driver.completion_thread()))?);
    spawn("navin-display", Box::new(move || driver.display_thread()))?;
    Ok(driver)
}

/// How long a process that ends waits for work and frames on their way.
const EXIT_WAIT: Duration = Duration::from_secs(5);

/// Has [`leave`] run at the process's end before everything that was registered for it so far. The Vulkan driver
/// registers more as it goes (its compiler is loaded late), so this is called again when a guest has begun to submit
/// and when it gives up its device.
pub(crate) fn leave_first() {
    // SAFETY: the handler is a function that lives as long as the process and does not unwind.
    unsafe { libc::atexit(leave) };
}

/// The process ends: a guest that ends by itself still gets its last frames, and then no thread of ours calls Vulkan any
/// more. The driver's library takes itself down next, and a call from another thread would find it gone (NVIDIA's
/// crashed in vkDestroyImageView, which the last textures of a guest had come to).
extern "C" fn leave() {
    static LEFT: AtomicBool = AtomicBool::new(false);
    let Some(driver) = get() else { return };
    if LEFT.swap(true, Ordering::Relaxed) {
        return;
    }
    if !driver.scheduler.suspended() {
        for queue in driver.scheduler.status() {
            driver.finish(queue.queue, Some(EXIT_WAIT));
        }
        driver.display.wait_empty(EXIT_WAIT);
    }
    driver.scheduler.suspend(Some(EXIT_WAIT));
    driver.completions.close();
    // What the guest's own handlers still wait for fails instead of never ending.
    driver.scheduler.lose_device();
    let begun = Instant::now();
    let completes = || driver.completer.lock().as_ref().is_some_and(|thread| !thread.is_finished());
    while completes() && begun.elapsed() < EXIT_WAIT {
        thread::sleep(Duration::from_micros(100));
    }
}

impl Driver {
    /// Has the submit thread do `job` after what it is replaying.
    pub(crate) fn post(&self, job: Job) {
        if self.jobs.send(job).is_ok() {
            self.scheduler.poke();
        }
    }

    /// Has the submit thread do `job` once everything that was submitted before this call has been replayed: what a
    /// guest submitted before it finalized an object still names it, however long a queue was parked (B229).
    ///
    /// Gives the number of the newest submission that still knows the object.
    pub(crate) fn post_later(&self, job: Job) -> u64 {
        let mut later = self.later.lock();
        let newest = self.scheduler.arrivals();
        later.push_back((newest, job));
        drop(later);
        self.scheduler.poke();
        newest
    }

    /// The next job of [`post_later`](Self::post_later) whose time has come.
    fn due(&self) -> Option<Job> {
        let mut later = self.later.lock();
        let (newest, _) = later.front()?;
        if *newest > self.scheduler.replayed() {
            return None;
        }
        later.pop_front().map(|(_, job)| job)
    }

    /// Waits until everything that was submitted before this call has been replayed, but for what a queue is parked
    /// before (B229): none of it finds what is mapped from here on. While suspended nothing is replayed, and nothing is
    /// waited for.
    pub(crate) fn settle(&self) {
        let newest = self.scheduler.arrivals();
        if self.scheduler.replayed() >= newest {
            return;
        }
        let (tell, told) = mpsc::sync_channel(1);
        self.settling.lock().push((newest, tell));
        self.scheduler.poke();
        while !self.scheduler.suspended() {
            match told.recv_timeout(SETTLE_LOOK) {
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Of submissions up to `newest` everything has been replayed that nothing holds back.
    pub(crate) fn settled(&self, newest: u64) {
        for (_, tell) in self.settling.lock().extract_if(.., |(submission, _)| *submission <= newest) {
            // Nobody listens any more only when the thread has seen a suspend.
            let _ = tell.try_send(());
        }
    }

    /// Has the submit thread do `job` and waits for its answer; `None` when there will be none: the process ends, or the
    /// thread has.
    pub(crate) fn ask<T: Send + 'static>(&self, job: impl FnOnce(&mut Replayer) -> T + Send + 'static) -> Option<T> {
        let (answer, answered) = mpsc::sync_channel(1);
        self.post(Box::new(move |replayer| {
            // Nobody listens any more only when the asking thread is gone.
            let _ = answer.send(job(replayer));
        }));
        loop {
            match answered.recv_timeout(SETTLE_LOOK) {
                Ok(answer) => return Some(answer),
                Err(mpsc::RecvTimeoutError::Disconnected) => return None,
                // The process ends: the gate is closed for good.
                Err(mpsc::RecvTimeoutError::Timeout) if self.scheduler.suspended() && self.scheduler.lost() => {
                    return None;
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Brings what the GPU wrote into a texture to the guest's storage, and waits for it.
    pub(crate) fn store(&'static self, texture: &Arc<Texture>) {
        let texture = Arc::clone(texture);
        self.ask(move |replayer| replayer.store(&texture));
    }

    /// Passes the validation layer's messages on to whoever runs the guest.
    pub(crate) fn report_validation(&self) {
        if let Some(message) = self.context.take_validation_message() {
            self.run.validation_message(&message);
        }
    }

    fn submit_thread(&'static self, inbox: mpsc::Receiver<Job>) {
        let mut replayer = Replayer::new(self);
        loop {
            // Read before the looks at jobs and steps: what comes after them ends the sleep at once.
            let seen = self.scheduler.activity();
            // Jobs may give work to the GPU, so they pass the same gate as steps (B234).
            while let Some(_inside) = self.scheduler.enter() {
                let Ok(job) = inbox.try_recv() else { break };
                job(&mut replayer);
            }
            let newest = self.scheduler.arrivals();
            self.scheduler.run_ready(&mut replayer);
            self.settled(newest);
            while let Some(_inside) = self.scheduler.enter() {
                let Some(job) = self.due() else { break };
                job(&mut replayer);
            }
            self.report_validation();
            let timeout = self.scheduler.waits_for_event().then_some(EVENT_POLL);
            self.scheduler.wait_for_work(seen, timeout);
        }
    }

    pub(crate) fn counters_json(&self) -> serde_json::Value {
        let (pools, pool_bytes) = self.pools.totals();
        let c = &self.counters;
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let encoder = *c.encoder.lock();
        json!({
            "device": self.context.report().device,
            "submissions": get(&c.submissions),
            "presents": get(&c.presents),
            "in_flight": self.in_flight(),
            "sync_wait_us": c.wait_time.json(),
            "encoder": encoder,
            "draws_without_program": get(&c.draws_without_program),
            "conditions_on_cpu": get(&c.conditions_on_cpu),
            "conditions_on_gpu": get(&c.conditions_on_gpu),
            "query_pools": self.context.queue().query_pools_made(),
            "programs_translated": get(&c.programs_translated),
            "shader_variants": get(&c.shader_variants),
            "images_made": get(&c.images_made),
            "texture_uploads": get(&c.texture_uploads),
            "texture_upload_bytes": get(&c.texture_upload_bytes),
            "texture_refills": get(&c.texture_refills),
            "texture_gpu_fills": get(&c.gpu_fills),
            "texture_gpu_stores": get(&c.gpu_stores),
            "memory": self.pools.report(&self.context),
            "live": {
                "pools": pools,
                "pool_bytes": pool_bytes,
                "textures": self.textures.len(),
                "images": self.context.images(),
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
    pub(crate) conditions_on_cpu: AtomicU64,
    pub(crate) conditions_on_gpu: AtomicU64,
    pub(crate) programs_translated: AtomicU64,
    pub(crate) shader_variants: AtomicU64,
    pub(crate) images_made: AtomicU64,
    pub(crate) texture_uploads: AtomicU64,
    pub(crate) texture_upload_bytes: AtomicU64,
    /// How long guests' waits for syncs took.
    pub(crate) wait_time: Histogram,
    /// Uploads of textures that had been uploaded before.
    pub(crate) texture_refills: AtomicU64,
    /// Uploads by the GPU alone.
    pub(crate) gpu_fills: AtomicU64,
    /// Images stored to guest memory by the GPU alone.
    pub(crate) gpu_stores: AtomicU64,
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

/// Waits for everything that was submitted before this call and that no queue is parked before (B111).
pub(crate) fn wait_for_all(driver: &Driver) {
    driver.settle();
    wait_for(driver, u64::MAX);
}

/// Waits for submissions up to `ticket`, `u64::MAX` for all that has been replayed so far.
pub(crate) fn wait_for(driver: &Driver, ticket: u64) {
    // What is being replayed is submitted then.
    driver.ask(|_| ());
    let submitted = driver.context.queue().submitted();
    // With the device gone there is nothing to wait for.
    let _ = driver.wait(ticket.min(submitted), None);
    driver.context.queue().collect();
}

/// Ends a queue: what is parked in it never runs; its bindings are forgotten (B230).
pub(crate) fn destroy_queue(driver: &'static Driver, queue: QueueId) {
    driver.scheduler.destroy_queue(queue);
    driver.post(Box::new(move |replayer| replayer.forget_queue(queue)));
}
