//! The tally of `./x test`: what passed, what failed, how long it took, and the closing lines.

use std::time::Instant;

use anyhow::Result;

use crate::shell;

/// What passed and what did not.
#[derive(Default)]
pub struct Report {
    /// Tests and checks that passed.
    pub passed: usize,
    /// Those that were left out.
    pub skipped: usize,
    /// Those that failed, in words.
    pub failures: Vec<String>,
    times: Vec<(String, f64)>,
}

impl Report {
    /// Runs one check, which is a test of its own; whether it passed.
    pub fn check(&mut self, name: &str, check: impl FnOnce() -> Result<()>) -> bool {
        let passed = self.part(name, |_| check());
        self.passed += usize::from(passed);
        passed
    }

    /// Runs a part that counts its own tests; an error is one failure more. Whether it added no failure.
    pub fn part(&mut self, name: &str, part: impl FnOnce(&mut Self) -> Result<()>) -> bool {
        shell::step(name);
        let (begin, before) = (Instant::now(), self.failures.len());
        if let Err(e) = part(self) {
            shell::say(format_args!("FAILED: {e:#}"));
            self.failures.push(format!("{name}: {e:#}"));
        }
        self.times.push((name.to_owned(), begin.elapsed().as_secs_f64()));
        self.failures.len() == before
    }

    /// Prints the closing lines.
    pub fn close(&self) {
        eprintln!();
        for (name, seconds) in &self.times {
            shell::say(format_args!("{seconds:7.1} s  {name}"));
        }
        for failure in &self.failures {
            shell::step(format_args!("FAILED {failure}"));
        }
        let skipped = if self.skipped > 0 { format!(", {} skipped", self.skipped) } else { String::new() };
        println!("\n{} passed, {} failed{skipped}", self.passed, self.failures.len());
    }
}
