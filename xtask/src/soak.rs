//! `./x soak`: one client, one process, for as long as it is asked to: what grows, and what fails only after a while.
//!
//! The client checks its own results (`queues` checks every frame) and ends with a code; beside it stand what the
//! process holds, looked at every few seconds: resident memory, open files, threads. A soak fails when the client
//! does, when `NAVIN_STRICT` finds a fault line, when it does not end in three times the time that it should
//! take, or when memory still grows in the second half of the run.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::shell::{say, step};
use crate::{clients, setup};

/// Frames of the run that tells the pace.
const TRIAL: u64 = 1500;
const TRIAL_LIMIT: Duration = Duration::from_secs(300);
/// The most frames a client takes.
const MOST: u64 = 100_000_000;
/// How far memory may be above what it was half-way, besides: allocators give back late, drivers keep caches.
const SLACK: u64 = 16 << 20;

/// What `./x soak` takes.
#[derive(clap::Args)]
pub struct Args {
    /// The client
    #[arg(default_value = "queues")]
    client: String,
    /// Bytes a frame that the process may grow by in the second half: llvmpipe of Mesa 25.0 keeps half a kilobyte for
    /// each vertex buffer that is bound
    #[arg(long, default_value_t = 768, value_name = "BYTES")]
    growth: u64,
    /// How long, about
    #[arg(long, default_value_t = 30.0, value_name = "MINUTES")]
    minutes: f64,
}

/// What a process holds at one moment.
struct Held {
    at: Duration,
    resident: u64,
    files: usize,
    threads: usize,
}

/// Runs the soak.
///
/// # Errors
/// Something does not build, the client fails, or the process grew.
pub fn run(args: &Args) -> Result<()> {
    if !(args.minutes > 0.0 && args.minutes <= 1440.0) {
        bail!("--minutes takes more than 0 and at most 1440");
    }
    let chosen = clients::chosen(std::slice::from_ref(&args.client))?;
    let [client] = chosen.as_slice() else { bail!("one client at a time") };
    setup::ensure()?;
    clients::build_driver()?;
    let program = clients::build(&chosen)?.join(&client.name);

    step(format_args!("{}: {TRIAL} frames, for the pace", client.name));
    let begun = Instant::now();
    let (status, _) = watch(spawn(&program, TRIAL, &client.test_size)?, Duration::from_secs(1), TRIAL_LIMIT, |_| {})?;
    if !status.success() {
        bail!("{} ended with {status}", client.name);
    }
    let pace = TRIAL as f64 / begun.elapsed().as_secs_f64();
    let frames = ((args.minutes * 60.0 * pace) as u64).clamp(TRIAL, MOST);
    let expected = Duration::from_secs_f64(frames as f64 / pace);
    step(format_args!("{}: {frames} frames in one process, about {} s", client.name, expected.as_secs()));
    let begun = Instant::now();
    let between = (expected / 40).clamp(Duration::from_secs(1), Duration::from_secs(30));
    let (status, held) =
        watch(spawn(&program, frames, &client.test_size)?, between, expected * 3 + TRIAL_LIMIT, |held| {
            say(format_args!(
                "{:>6} s of about {}: {:.1} MB resident, {} files, {} threads",
                held.at.as_secs(),
                expected.as_secs(),
                held.resident as f64 / 1e6,
                held.files,
                held.threads
            ));
        })?;
    if !status.success() {
        bail!("{} ended with {status} after {} s", client.name, begun.elapsed().as_secs());
    }
    say(format_args!("{frames} frames in {:.0} s", begun.elapsed().as_secs_f64()));
    grew(&held, args.growth * frames / 2)
}

fn spawn(program: &PathBuf, frames: u64, size: &str) -> Result<Child> {
    Command::new(program)
        .arg(frames.to_string())
        .env("NAVIN_STRICT", "1")
        .env("NAVIN_SIZE", size)
        .env("NAVIN_LOG", "warn")
        .stdin(Stdio::null())
        .spawn()
        .with_context(|| format!("starting {}", program.display()))
}

/// Waits for `child`, no longer than `limit`, and looks at what it holds every `between`.
fn watch(
    mut child: Child,
    between: Duration,
    limit: Duration,
    mut tell: impl FnMut(&Held),
) -> Result<(std::process::ExitStatus, Vec<Held>)> {
    let begun = Instant::now();
    let mut held = Vec::new();
    loop {
        let next = Instant::now() + between;
        while Instant::now() < next {
            if let Some(status) = child.try_wait()? {
                return Ok((status, held));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        if begun.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            bail!("it has not ended after {} s: it hangs", limit.as_secs());
        }
        if let Some(now) = holds(child.id(), begun.elapsed()) {
            tell(&now);
            held.push(now);
        }
    }
}

/// What the process holds; none when it has just ended.
fn holds(process: u32, at: Duration) -> Option<Held> {
    let folder = PathBuf::from(format!("/proc/{process}"));
    let status = std::fs::read_to_string(folder.join("status")).ok()?;
    let number = |name: &str| -> Option<u64> {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    Some(Held {
        at,
        resident: number("VmRSS:")? << 10,
        files: std::fs::read_dir(folder.join("fd")).ok()?.count(),
        threads: number("Threads:")? as usize,
    })
}

/// Whether the second half of the run held more than its beginning.
fn grew(held: &[Held], allowed: u64) -> Result<()> {
    let half = &held[held.len() / 2..];
    let (Some(first), Some(last)) = (half.first(), half.last()) else {
        say("too short to tell whether anything grew");
        return Ok(());
    };
    say(format_args!(
        "second half: {:.1} to {:.1} MB resident, {} to {} files, {} to {} threads",
        first.resident as f64 / 1e6,
        last.resident as f64 / 1e6,
        first.files,
        last.files,
        first.threads,
        last.threads
    ));
    if last.resident > first.resident + allowed + SLACK {
        bail!("memory grew by {:.1} MB in the second half", (last.resident - first.resident) as f64 / 1e6);
    }
    if last.files > first.files + 4 || last.threads > first.threads + 4 {
        bail!("open files or threads grew in the second half");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(megabytes: &[u64], files: usize) -> Vec<Held> {
        let of = |(n, mb): (usize, &u64)| Held {
            at: Duration::from_secs(n as u64),
            resident: mb << 20,
            files: files * n,
            threads: 4,
        };
        megabytes.iter().enumerate().map(of).collect()
    }

    #[test]
    fn a_process_that_settles_passes_and_one_that_grows_does_not() {
        assert!(grew(&held(&[10, 90, 100, 101, 100, 102], 0), 0).is_ok());
        assert!(grew(&held(&[10, 60, 100, 120, 140, 160], 0), 0).is_err());
        assert!(grew(&held(&[10, 60, 100, 120, 140, 160], 0), 40 << 20).is_ok(), "as much as it may");
        assert!(grew(&held(&[100, 100, 100, 100, 100, 100], 5), 0).is_err(), "files grow");
        assert!(grew(&[], 0).is_ok());
    }

    #[test]
    fn this_process_holds_something() {
        let now = holds(std::process::id(), Duration::ZERO).expect("this process is there");
        assert!(now.resident > 0 && now.files > 0 && now.threads > 0);
    }
}
