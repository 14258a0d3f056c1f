//! What the process tells the program that runs it, and how a run ends.
//!
//! Present calls [`Run::frame_presented`] after each frame and [`Run::exit`] when that says so. With a status
//! descriptor (`NAVIN_STATUS_FD`, set by `navin run`) one line of JSON goes out for each event:
//!
//! ```json
//! {"event":"start","version":"0.1.0","pid":4711}
//! {"event":"device","name":"llvmpipe (LLVM 19.1.7, 256 bits)"}
//! {"event":"no_device","why":"no Vulkan device answers"}
//! {"event":"validation","text":"VUID-..."}
//! {"event":"frame","index":0,"ms":16.2,"cpu_ms":11.9}
//! {"event":"end","frames":300,"faults":0,"validation_messages":0,"sink_error":null,"counters":{}}
//! ```
//!
//! `ms` is the time since the frame before it was presented, `cpu_ms` the processor time that the whole process
//! spent in between. The `end` line is written once, when the limit of frames is reached, when the runner asks
//! for an end by SIGINT or SIGTERM, or when the guest ends by itself.

use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::config::{Config, Validation};
use crate::sink::{self, FrameSink};

/// Exit code of a run with validation messages under [`Validation::Fail`].
pub const EXIT_VALIDATION: i32 = 4;
/// Exit code of a strict run with fault lines.
pub const EXIT_FAULTS: i32 = 5;
/// Exit code of a run that lost the device.
pub const EXIT_DEVICE_LOST: i32 = 6;

/// Set by the signal handler: end at the next present.
static STOP: AtomicBool = AtomicBool::new(false);
/// The run that [`at_exit`] finishes.
static CURRENT: OnceLock<Arc<Run>> = OnceLock::new();

type Counters = Box<dyn Fn() -> Value + Send + Sync>;
type Count = Box<dyn Fn() -> u64 + Send + Sync>;

/// One run of a guest: its sink, its status lines, its limit.
pub struct Run {
    limit: Option<u64>,
    strict: bool,
    validation: Validation,
    status: Option<Mutex<File>>,
    sink: Mutex<Box<dyn FrameSink>>,
    counters: OnceLock<Counters>,
    layer_messages: OnceLock<Count>,
    clock: Mutex<Clock>,
    presented: AtomicU64,
    validation_messages: AtomicU64,
    finished: AtomicBool,
}

struct Clock {
    at: Instant,
    cpu: Duration,
}

impl Run {
    /// Opens the sink and the status lines that `config` asks for, and arranges that a guest which ends by
    /// itself still finishes the run.
    ///
    /// # Errors
    /// The sink's folder cannot be made, or the status descriptor is not open.
    pub fn start(config: &Config) -> io::Result<Arc<Self>> {
        let run = Arc::new(Self::new(config, open_status(config.status_fd)?)?);
        if CURRENT.set(Arc::clone(&run)).is_ok() {
            system::at_exit(at_exit);
            if run.status.is_some() {
                system::stop_on_signals();
            }
        }
        run.send(&json!({"event": "start", "version": env!("CARGO_PKG_VERSION"), "pid": std::process::id()}));
        Ok(run)
    }

    fn new(config: &Config, status: Option<File>) -> io::Result<Self> {
        Ok(Self {
            limit: config.frames,
            strict: config.strict,
            validation: config.validation,
            status: status.map(Mutex::new),
            sink: Mutex::new(sink::open(config)?),
            counters: OnceLock::new(),
            layer_messages: OnceLock::new(),
            clock: Mutex::new(Clock { at: Instant::now(), cpu: system::cpu_time() }),
            presented: AtomicU64::new(0),
            validation_messages: AtomicU64::new(0),
            finished: AtomicBool::new(false),
        })
    }

    /// Gives the function whose answer, a JSON object, becomes `counters` of the `end` line. Only the first
    /// call counts.
    pub fn set_counters(&self, counters: impl Fn() -> Value + Send + Sync + 'static) {
        if self.counters.set(Box::new(counters)).is_err() {
            tracing::debug!("the run's counters are set already");
        }
    }

    /// Gives the function that counts the messages of the validation layers, for a driver that logs them itself
    /// and does not call [`Run::validation_message`] for each. Only the first call counts.
    pub fn set_validation_count(&self, count: impl Fn() -> u64 + Send + Sync + 'static) {
        if self.layer_messages.set(Box::new(count)).is_err() {
            tracing::debug!("the run's count of validation messages is set already");
        }
    }

    /// Messages of the validation layers so far.
    pub fn validation_messages(&self) -> u64 {
        let counted = self.layer_messages.get().map_or(0, |count| count());
        counted.max(self.validation_messages.load(Ordering::Relaxed))
    }

    /// Tells which Vulkan device the guest got.
    pub fn device(&self, name: &str) {
        self.send(&json!({"event": "device", "name": name}));
    }

    /// Tells that there is no usable Vulkan device; `navin run` ends with exit code 3 then.
    pub fn no_device(&self, why: &str) {
        self.send(&json!({"event": "no_device", "why": why}));
    }

    /// Counts a message of the validation layers.
    pub fn validation_message(&self, text: &str) {
        self.validation_messages.fetch_add(1, Ordering::Relaxed);
        self.send(&json!({"event": "validation", "text": text}));
    }

    /// Whether frame `index` has to be read back and given to [`Run::frame`].
    pub fn wants_frame(&self, index: u64) -> bool {
        self.sink.lock().wants(index)
    }

    /// Gives frame `index` to the sink: RGBA8, top row first, no padding.
    pub fn frame(&self, index: u64, width: u32, height: u32, rgba: &[u8]) {
        self.sink.lock().frame(index, width, height, rgba);
    }

    /// Counts the present of frame `index` (from 0) and tells the runner. True when the run is over, by its
    /// limit or at the runner's wish: the caller lets its GPU work end and calls [`Run::exit`].
    pub fn frame_presented(&self, index: u64) -> bool {
        let (now, cpu) = (Instant::now(), system::cpu_time());
        let mut clock = self.clock.lock();
        let (wall, spent) = (now - clock.at, cpu.saturating_sub(clock.cpu));
        *clock = Clock { at: now, cpu };
        drop(clock);
        self.presented.fetch_max(index.saturating_add(1), Ordering::Relaxed);
        self.send(&json!({"event": "frame", "index": index, "ms": millis(wall), "cpu_ms": millis(spent)}));
        STOP.load(Ordering::Relaxed) || self.limit.is_some_and(|limit| index.saturating_add(1) >= limit)
    }

    /// Writes what the sink still holds and the `end` line. Does nothing when called again.
    pub fn finish(&self) {
        if self.finished.swap(true, Ordering::AcqRel) {
            return;
        }
        let sink_error = self.sink.lock().flush().err().map(|e| e.to_string());
        let counters = self.counters.get().map_or_else(|| json!({}), |counters| counters());
        self.send(&json!({
            "event": "end",
            "frames": self.presented.load(Ordering::Relaxed),
            "faults": navin_abi::fault::count(),
            "validation_messages": self.validation_messages(),
            "sink_error": sink_error,
            "counters": counters,
        }));
    }

    /// The exit code that the run has earned so far: 0, [`EXIT_VALIDATION`] or [`EXIT_FAULTS`].
    pub fn exit_code(&self) -> i32 {
        if self.validation == Validation::Fail && self.validation_messages() > 0 {
            EXIT_VALIDATION
        } else if self.strict && navin_abi::fault::count() > 0 {
            EXIT_FAULTS
        } else {
            0
        }
    }

    /// Finishes the run and ends the process with [`Run::exit_code`], from whichever thread.
    pub fn exit(&self) -> ! {
        self.finish();
        system::exit_at_once(self.exit_code())
    }

    /// Finishes the run and ends the process because there is no device any more (B645).
    pub fn exit_device_lost(&self) -> ! {
        self.finish();
        system::exit_at_once(EXIT_DEVICE_LOST)
    }

    fn send(&self, event: &Value) {
        let Some(status) = &self.status else { return };
        let mut line = event.to_string();
        line.push('\n');
        // A runner that has gone away is no reason to stop the guest.
        if let Err(e) = status.lock().write_all(line.as_bytes()) {
            tracing::debug!("status line not written: {e}");
        }
    }
}

/// Milliseconds with three digits after the point, as status lines carry them.
fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

extern "C" fn at_exit() {
    if let Some(run) = CURRENT.get() {
        run.finish();
    }
}

#[cfg(unix)]
fn open_status(fd: Option<i32>) -> io::Result<Option<File>> {
    use std::os::fd::FromRawFd;
    let Some(fd) = fd else { return Ok(None) };
    // SAFETY: fcntl with F_SETFD takes any number; a descriptor that is not open is its error.
    if unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
        let error = io::Error::last_os_error();
        return Err(io::Error::new(error.kind(), format!("NAVIN_STATUS_FD={fd}: {error}")));
    }
    // SAFETY: the descriptor is open, and the runner that named it gave it to this run for itself.
    Ok(Some(unsafe { File::from_raw_fd(fd) }))
}

#[cfg(not(unix))]
fn open_status(fd: Option<i32>) -> io::Result<Option<File>> {
    match fd {
        None => Ok(None),
        Some(_) => Err(io::Error::new(io::ErrorKind::Unsupported, "NAVIN_STATUS_FD needs a Unix system")),
    }
}

#[cfg(unix)]
mod system {
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use super::STOP;

    pub fn at_exit(handler: extern "C" fn()) {
        // SAFETY: the handler is a function that lives as long as the process (libnvn is never unloaded while
        // its objects are in use) and does not unwind.
        unsafe { libc::atexit(handler) };
    }

    /// Processor time of the whole process so far.
    pub fn cpu_time() -> Duration {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is writable for the call.
        unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
        Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec.clamp(0, 999_999_999) as u32)
    }

    extern "C" fn on_signal(signal: libc::c_int) {
        // SIGINT reaches the whole foreground group and may be sent on by the runner as well, so any number of
        // them means the same. SIGTERM after it means now: the guest does not present, or not soon enough.
        if STOP.swap(true, Ordering::Relaxed) && signal == libc::SIGTERM {
            // SAFETY: _exit may be called in a signal handler.
            unsafe { libc::_exit(128 + signal) };
        }
    }

    /// Makes SIGINT and SIGTERM end the run at the next present, where the guest has no handler of its own.
    pub fn stop_on_signals() {
        for signal in [libc::SIGINT, libc::SIGTERM] {
            // SAFETY: sigaction is plain data, for which zero is a valid value (an empty mask, no flags).
            let (mut ours, mut theirs): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
            // SAFETY: both records are valid; a null action only asks.
            let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &mut theirs) };
            if asked != 0 || theirs.sa_sigaction != libc::SIG_DFL {
                continue;
            }
            ours.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
            ours.sa_flags = libc::SA_RESTART;
            // SAFETY: the handler only touches an atomic and calls _exit.
            unsafe { libc::sigaction(signal, &ours, std::ptr::null_mut()) };
        }
    }

    /// Ends the process without running destructors, which other threads of the guest may still need.
    pub fn exit_at_once(code: i32) -> ! {
        // SAFETY: flushing all C streams (null) and ending the process are allowed from any thread.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(code)
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::time::Duration;

    /// Without `atexit` a guest that ends by itself leaves no `end` line; `Run::exit` still writes it.
    pub fn at_exit(_handler: extern "C" fn()) {}
    pub fn cpu_time() -> Duration {
        Duration::ZERO
    }
    pub fn stop_on_signals() {}
    pub fn exit_at_once(code: i32) -> ! {
        std::process::exit(code)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use super::*;

    /// A run that writes its status lines into a file without a name.
    fn run(config: &Config) -> (Run, File) {
        let path = std::env::temp_dir().join(format!("navin-status-{}-{:p}", std::process::id(), config));
        let file = File::options().create(true).truncate(true).read(true).write(true).open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        (Run::new(config, Some(file.try_clone().unwrap())).unwrap(), file)
    }

    fn lines(mut file: File) -> Vec<Value> {
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn frames_and_one_end_line_are_written() {
        let (run, file) = run(&Config { frames: Some(3), ..Config::default() });
        run.set_counters(|| json!({"draws": 12}));
        assert!(!run.frame_presented(0));
        assert!(!run.frame_presented(1));
        assert!(run.frame_presented(2), "the limit");
        run.finish();
        run.finish();
        let lines = lines(file);
        assert_eq!(lines.len(), 4);
        for (index, line) in lines[..3].iter().enumerate() {
            assert_eq!(line["event"], "frame");
            assert_eq!(line["index"], index);
            assert!(line["ms"].as_f64().unwrap() >= 0.0 && line["cpu_ms"].as_f64().unwrap() >= 0.0);
        }
        assert_eq!(lines[3]["event"], "end");
        assert_eq!(lines[3]["frames"], 3);
        assert_eq!(lines[3]["counters"], json!({"draws": 12}));
        assert_eq!(lines[3]["sink_error"], Value::Null);
    }

    #[test]
    fn without_a_limit_no_frame_is_the_last() {
        let (run, _) = run(&Config::default());
        assert!(!run.frame_presented(0));
        assert!(!run.frame_presented(u64::MAX));
    }

    #[test]
    fn validation_messages_fail_only_a_run_that_asks_for_it() {
        for (validation, code) in [(Validation::Log, 0), (Validation::Fail, EXIT_VALIDATION)] {
            let (run, file) = run(&Config { validation, ..Config::default() });
            assert_eq!(run.exit_code(), 0);
            run.validation_message("VUID-test");
            assert_eq!(run.exit_code(), code);
            run.finish();
            run.set_validation_count(|| 5);
            assert_eq!(run.validation_messages(), 5, "the larger of the two counts");
            let lines = lines(file);
            assert_eq!(lines[0], json!({"event": "validation", "text": "VUID-test"}));
            assert_eq!(lines[1]["validation_messages"], 1);
        }
    }
}
