//! How a run went: the last line, the JSON object, the exit code.

use std::fmt;

use navin::config::{Config, Validation};
use serde_json::{Value, json};

use super::child::End;
use super::events::{Tally, quantile};
use crate::exit;

/// Everything there is to say about a run.
pub struct Summary<'a> {
    name: &'a str,
    config: &'a Config,
    tally: &'a Tally,
    end: &'a End,
}

impl<'a> Summary<'a> {
    /// Of the guest `name`, run with `config`.
    pub fn new(name: &'a str, config: &'a Config, tally: &'a Tally, end: &'a End) -> Self {
        Self { name, config, tally, end }
    }

    /// The program's exit code (see [`crate::exit`]).
    pub fn code(&self) -> u8 {
        if self.tally.no_device.is_some() {
            exit::NO_DEVICE
        } else if self.end.timed_out {
            exit::GUEST
        } else if self.config.validation == Validation::Fail && self.tally.validation_messages > 0 {
            exit::VALIDATION
        } else if self.config.strict && self.faults() > 0 {
            exit::FAULTS
        } else if self.end.interrupted {
            exit::INTERRUPTED
        } else if self.end.failure().is_some() || !self.complete() {
            exit::GUEST
        } else {
            exit::OK
        }
    }

    fn faults(&self) -> u64 {
        self.tally.end.as_ref().map_or(0, |end| end.faults)
    }

    fn sink_error(&self) -> Option<&str> {
        self.tally.end.as_ref()?.sink_error.as_deref()
    }

    /// Whether the driver was there, closed its books and wrote every frame.
    fn complete(&self) -> bool {
        self.tally.started && self.tally.end.is_some() && self.sink_error().is_none()
    }

    fn pictures(&self) -> u64 {
        if self.config.out.is_some() { self.tally.frames.div_ceil(self.config.every) } else { 0 }
    }

    fn rate(&self) -> f64 {
        let total: f64 = self.tally.ms.iter().sum();
        if total > 0.0 { self.tally.ms.len() as f64 * 1000.0 / total } else { 0.0 }
    }

    /// The object that `--json` prints: figures of the frames after the first, and the driver's counters.
    pub fn json(&self) -> Value {
        let times = |values: &[f64]| {
            json!({
                "median": quantile(values, 0.5),
                "p99": quantile(values, 0.99),
                "max": quantile(values, 1.0),
            })
        };
        json!({
            "program": self.name,
            "device": self.tally.device,
            "exit_code": self.code(),
            "frames": self.tally.frames,
            "pictures": self.pictures(),
            "seconds": self.end.time.as_secs_f64(),
            "fps": self.rate(),
            "frame_ms": times(&self.tally.ms),
            "cpu_ms": times(&self.tally.cpu_ms),
            "faults": self.faults(),
            "validation_messages": self.tally.validation_messages,
            "validation": self.tally.validation,
            "sink_error": self.sink_error(),
            "interrupted": self.end.interrupted,
            "timed_out": self.end.timed_out,
            "guest_failure": self.end.failure(),
            "counters": self.tally.end.as_ref().map_or(Value::Null, |end| end.counters.clone()),
        })
    }
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |n: u64, one: &str| if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") };
        for text in &self.tally.validation {
            writeln!(f, "navin: {}: validation: {text}", self.name)?;
        }
        write!(f, "navin: {}: ", self.name)?;
        if let Some(why) = &self.tally.no_device {
            return write!(f, "no Vulkan device could be opened: {why}. `navin doctor` says more");
        }
        write!(f, "{} in {:.1} s", plural(self.tally.frames, "frame"), self.end.time.as_secs_f64())?;
        if !self.tally.ms.is_empty() {
            let cpu = quantile(&self.tally.cpu_ms, 0.5);
            write!(f, " ({:.1} fps, {cpu:.1} ms CPU a frame)", self.rate())?;
        }
        if let (Some(folder), None) = (&self.config.out, self.sink_error()) {
            write!(f, ", {} in {}", plural(self.pictures(), "picture"), folder.display())?;
        }
        if self.faults() > 0 {
            write!(f, ", {}", plural(self.faults(), "fault"))?;
        }
        if self.tally.validation_messages > 0 {
            write!(f, ", {}", plural(self.tally.validation_messages, "validation message"))?;
        }
        if let Some(error) = self.sink_error() {
            write!(f, "; frames were not written: {error}")?;
        }
        if self.end.timed_out {
            write!(f, "; it took too long and was ended")?;
        } else if self.end.interrupted {
            write!(f, "; stopped")?;
        } else if let Some(how) = self.end.failure() {
            // Exit codes 4 and 5 of the driver are said by the counts before.
            if self.code() == exit::GUEST {
                write!(f, "; the guest {how}")?;
            }
        } else if !self.tally.started {
            write!(f, "; the guest ended without loading libnvn")?;
        } else if self.tally.end.is_none() {
            write!(f, "; the guest ended without a word (did it call _exit?)")?;
        }
        Ok(())
    }
}
