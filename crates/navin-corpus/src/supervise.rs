//! Many programs in worker processes: a worker that crashes or hangs costs one program, not the run.
//!
//! A worker reads program names from its standard input, one a line, and answers each with one line of JSON. When it
//! ends before its answer, the program it was at has failed, and another worker takes the rest.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use anyhow::{Context, Result};

use crate::gpu::Gpu;
use crate::index::Corpus;
use crate::runner::{Mode, Outcome, Runner};

/// How to start workers.
#[derive(Clone, Debug)]
pub struct Workers {
    /// The program `corpus`.
    pub program: PathBuf,
    /// Corpus folder.
    pub root: PathBuf,
    /// Mode.
    pub mode: Mode,
    /// Processes at once.
    pub jobs: usize,
}

impl Workers {
    /// Runs `names`, calling `done` as outcomes come in, in any order.
    ///
    /// # Errors
    /// If a worker cannot be started.
    pub fn run(&self, names: &[String], done: &(dyn Fn(&str, &Outcome) + Sync)) -> Result<BTreeMap<String, Outcome>> {
        let queue = Mutex::new(names.iter().rev().cloned().collect::<Vec<_>>());
        let outcomes = Mutex::new(BTreeMap::new());
        let take = || queue.lock().ok().and_then(|mut q| q.pop());
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.jobs.max(1))
                .map(|_| {
                    scope.spawn(|| {
                        let report = |name: &str, outcome: Outcome| {
                            done(name, &outcome);
                            if let Ok(mut all) = outcomes.lock() {
                                all.insert(name.to_string(), outcome);
                            }
                        };
                        self.work(&take, &report)
                    })
                })
                .collect();
            threads.into_iter().try_for_each(|t| t.join().unwrap_or_else(|_| anyhow::bail!("a worker thread panicked")))
        })?;
        outcomes.into_inner().ok().context("a worker thread panicked")
    }

    /// Feeds workers, one after the other as they die, until there is no name left.
    fn work(&self, take: &dyn Fn() -> Option<String>, report: &dyn Fn(&str, Outcome)) -> Result<()> {
        let mut waiting = take();
        while waiting.is_some() {
            let mut child = Command::new(&self.program)
                .arg("--worker")
                .arg("--corpus")
                .arg(&self.root)
                .args(["--mode", mode_name(self.mode)])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .with_context(|| format!("starting {}", self.program.display()))?;
            let mut to = child.stdin.take().context("a worker without input")?;
            let mut from = BufReader::new(child.stdout.take().context("a worker without output")?);
            while let Some(name) = waiting.take() {
                let mut answer = String::new();
                let sent = writeln!(to, "{name}").and_then(|()| to.flush()).is_ok();
                let got = sent && from.read_line(&mut answer).unwrap_or(0) > 0;
                match serde_json::from_str(&answer) {
                    Ok(outcome) if got => {
                        report(&name, outcome);
                        waiting = take();
                    }
                    _ => {
                        let status = child.wait().map_or_else(|e| e.to_string(), |s| s.to_string());
                        report(&name, Outcome::Failed(format!("the worker ended: {status}")));
                        waiting = take();
                        break;
                    }
                }
            }
            drop(to);
            let _ = child.wait();
        }
        Ok(())
    }
}

/// The mode as the command line spells it.
fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Guest => "guest",
        Mode::Reference => "reference",
        Mode::Corrupted => "corrupted",
    }
}

/// The worker's side: answers names from standard input until it closes.
///
/// # Errors
/// If there is no device, or the pipe breaks.
pub fn worker(root: &Path, mode: Mode) -> Result<()> {
    let gpu = Gpu::open()?;
    let runner = Runner::new(&gpu, Corpus::open(root)?)?;
    let mut out = std::io::stdout().lock();
    for name in std::io::stdin().lock().lines() {
        let (outcome, lost) = match runner.run(&name?, mode) {
            Ok(outcome) => (outcome, false),
            Err(error) => (Outcome::Failed(error.to_string()), true),
        };
        writeln!(out, "{}", serde_json::to_string(&outcome)?)?;
        out.flush()?;
        if lost {
            // The device is still busy: tearing it down would wait for it.
            std::process::exit(3);
        }
    }
    Ok(())
}
