//! The guest's process: started with its settings and a pipe for status lines, followed to its end.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::events::{Event, Tally};
use super::progress::Progress;
use super::signals;
use crate::library;

/// A guest that was asked to end gets this long before it is asked harder.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long the loop sleeps when nothing happens.
const TICK: Duration = Duration::from_millis(50);
/// A guest that presents nothing for this long is worth a word.
const SILENCE: Duration = Duration::from_secs(30);

/// What becomes of the guest's own output.
pub enum Output {
    /// It goes where this program's goes.
    Inherit,
    /// Standard output goes to standard error, which leaves ours to the JSON object.
    ToStandardError,
    /// It is taken line by line and printed around the progress bar, on standard error.
    Lines,
}

/// A guest about to be started.
pub struct Command {
    command: std::process::Command,
}

/// How it ended.
pub struct End {
    /// The system's word.
    pub status: ExitStatus,
    /// From its start.
    pub time: Duration,
    /// It was asked to end by Ctrl-C.
    pub interrupted: bool,
    /// It was ended because it took longer than allowed.
    pub timed_out: bool,
}

impl Command {
    /// `program` with `args`, started by `wrapper` (words split at spaces) if there is one.
    pub fn new(program: &Path, args: &[String], wrapper: Option<&str>) -> Self {
        let mut words: Vec<OsString> = wrapper.unwrap_or("").split_whitespace().map(OsString::from).collect();
        words.push(program.into());
        let mut command = std::process::Command::new(&words[0]);
        command.args(&words[1..]).args(args);
        Self { command }
    }

    /// Gives the guest `NAVIN_*` variables.
    pub fn settings(&mut self, settings: &[(String, String)]) {
        self.command.envs(settings.iter().map(|(name, value)| (name, value)));
    }

    /// Lets the guest's dynamic loader look into `folder` first.
    pub fn library_folder(&mut self, folder: &Path) {
        let mut folders = vec![folder.to_path_buf()];
        if let Some(others) = std::env::var_os(library::PATH_VARIABLE) {
            folders.extend(std::env::split_paths(&others));
        }
        // Only a folder with the separator in its name cannot be joined; the loader could not take it either.
        if let Ok(value) = std::env::join_paths(folders) {
            self.command.env(library::PATH_VARIABLE, value);
        }
    }

    /// Says where the guest's own output goes.
    pub fn output(&mut self, output: Output) {
        match output {
            Output::Inherit => {}
            Output::ToStandardError => {
                if let Ok(copy) = io::stderr().as_fd().try_clone_to_owned() {
                    self.command.stdout(Stdio::from(copy));
                }
            }
            Output::Lines => {
                self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
            }
        }
    }
}

/// What the reading threads send to the loop.
enum Word {
    Status(Vec<u8>),
    Output(Vec<u8>),
}

/// Starts the guest and follows it to its end.
///
/// # Errors
/// It cannot be started.
pub fn follow(
    mut command: Command,
    timeout: Option<Duration>,
    tally: &mut Tally,
    progress: &mut Progress,
) -> io::Result<End> {
    let (read, write) = pipe()?;
    let fd = write.as_raw_fd();
    command.command.env("NAVIN_STATUS_FD", fd.to_string());
    // SAFETY: between fork and exec only fcntl is called, which is async-signal-safe.
    unsafe {
        command.command.pre_exec(move || {
            // The pipe is closed on exec for everyone but this child.
            if libc::fcntl(fd, libc::F_SETFD, 0) < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
        });
    }
    signals::catch();
    let started = Instant::now();
    let mut child = command.command.spawn()?;
    drop(write);

    let (send, words) = mpsc::channel();
    reader(File::from(read), send.clone(), Word::Status);
    if let Some(pipe) = child.stdout.take() {
        reader(pipe, send.clone(), Word::Output);
    }
    if let Some(pipe) = child.stderr.take() {
        reader(pipe, send.clone(), Word::Output);
    }
    drop(send);

    let mut ending = Ending::new(timeout);
    let mut last_frame = Instant::now();
    let status = loop {
        match words.recv_timeout(TICK) {
            Ok(word) => {
                if take(word, tally, progress) {
                    last_frame = Instant::now();
                }
                // A lively guest must not starve the checks below, but need not pay for them at every line.
                if ending.checked.elapsed() < TICK {
                    continue;
                }
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            // Every pipe is closed: the guest has ended or is about to.
            Err(mpsc::RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(1)),
        }
        if let Some(status) = child.try_wait()? {
            break status;
        }
        ending.check(&mut child, started, progress);
        if tally.started && last_frame.elapsed() > SILENCE {
            progress.say("no frame for 30 seconds; Ctrl-C ends it");
            last_frame = Instant::now();
        }
    };
    let time = started.elapsed();
    // What is left in the pipes. A grandchild may hold them open, so the wait has an end.
    while let Ok(word) = words.recv_timeout(Duration::from_millis(200)) {
        take(word, tally, progress);
    }
    Ok(End { status, time, interrupted: ending.interrupted, timed_out: ending.timed_out })
}

/// Handles one word; whether it was a frame.
fn take(word: Word, tally: &mut Tally, progress: &mut Progress) -> bool {
    match word {
        Word::Status(line) => {
            if let Some(Event::Frame { index, cpu_ms, .. }) = tally.line(&line) {
                progress.frame(index, cpu_ms);
                return true;
            }
        }
        Word::Output(line) => progress.print(|| {
            use std::io::Write;
            // Standard error that cannot be written to leaves nowhere to say so.
            let _ = io::stderr().write_all(&line);
        }),
    }
    false
}

/// Asks the guest to end, harder each time.
struct Ending {
    timeout: Option<Duration>,
    checked: Instant,
    interrupted: bool,
    timed_out: bool,
    /// Signals sent so far, and when the last was.
    asked: usize,
    asked_at: Instant,
}

impl Ending {
    fn new(timeout: Option<Duration>) -> Self {
        let now = Instant::now();
        Self { timeout, checked: now, interrupted: false, timed_out: false, asked: 0, asked_at: now }
    }

    fn check(&mut self, child: &mut Child, started: Instant, progress: &Progress) {
        self.checked = Instant::now();
        let wishes = signals::count();
        if wishes > 0 && !self.interrupted {
            self.interrupted = true;
            progress.say("stopping");
        }
        if !self.timed_out && self.timeout.is_some_and(|limit| started.elapsed() > limit) {
            self.timed_out = true;
            progress.say("took too long; ending it");
        }
        if !self.interrupted && !self.timed_out {
            return;
        }
        let impatient = self.asked_at.elapsed() > PATIENCE || wishes > self.asked;
        if self.asked > 0 && !impatient {
            return;
        }
        let signal = match self.asked {
            0 => libc::SIGINT,
            1 => libc::SIGTERM,
            _ => libc::SIGKILL,
        };
        self.asked = (self.asked + 1).max(wishes);
        self.asked_at = Instant::now();
        // SAFETY: sends a signal to our own child, which has not been waited for yet.
        unsafe { libc::kill(child.id() as libc::pid_t, signal) };
    }
}

fn reader(pipe: impl Read + Send + 'static, send: mpsc::Sender<Word>, word: fn(Vec<u8>) -> Word) {
    std::thread::spawn(move || {
        let mut lines = BufReader::new(pipe);
        loop {
            let mut line = Vec::new();
            match lines.read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if send.send(word(line)).is_err() => return,
                Ok(_) => {}
            }
        }
    });
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the array has room for the two descriptors.
    if unsafe { libc::pipe(ends.as_mut_ptr()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    for end in ends {
        // SAFETY: the descriptor was just opened. (pipe2 would do it in one call, but not on every Unix; no
        // other thread starts processes here.)
        unsafe { libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    // SAFETY: both descriptors were just opened and belong to nobody else.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

impl End {
    /// How the guest ended, in words; `None` when it went well.
    pub fn failure(&self) -> Option<String> {
        match (self.status.code(), self.status.signal()) {
            (Some(0), _) => None,
            (Some(code), _) => Some(format!("ended with exit code {code}")),
            (None, Some(signal)) => Some(format!("was ended by signal {signal}{}", signal_name(signal))),
            (None, None) => Some("ended in an unknown way".into()),
        }
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => " (invalid memory access)",
        libc::SIGABRT => " (abort)",
        libc::SIGBUS => " (bus error)",
        libc::SIGILL => " (illegal instruction)",
        libc::SIGFPE => " (arithmetic error)",
        libc::SIGKILL => " (killed)",
        libc::SIGTERM => " (terminated)",
        libc::SIGINT => " (interrupted)",
        _ => "",
    }
}
