//! `./x tsan`: tests whose point is threads, under ThreadSanitizer.
//!
//! The stable compiler has the sanitizer but not the switch for it (RUSTC_BOOTSTRAP unlocks it), and the standard
//! library that comes with it is not instrumented: a lock taken inside it would look like a race. So the library is
//! built here too, from the component rust-src, which is installed when it is missing. All of it goes into a target
//! folder of its own.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::report::Report;
use crate::shell::{self, run, say};
use crate::workspace;

/// Packages with the test programs to run. Add one whose tests start threads of their own and finish in seconds
/// (they run ten times slower here).
const PROGRAMS: [(&str, &[&str]); 2] =
    [("navin-sync", &["threads", "completions"]), ("navin-memory", &["tracking_threads"])];

/// Runs them all.
///
/// # Errors
/// One fails, a race is found, or there is no rust-src.
pub fn run_all() -> Result<()> {
    let mut report = Report::default();
    report.check("rust-src", ensure_source);
    if report.failures.is_empty() {
        for (package, tests) in PROGRAMS {
            report.check(&format!("{package}: {}", tests.join(", ")), || one(package, tests));
        }
    }
    report.close();
    if report.failures.is_empty() { Ok(()) } else { bail!("./x tsan: {} failed", report.failures.len()) }
}

/// The check as `./x test` makes it; false, with a word, where there is no rust-src to be had.
pub fn available() -> bool {
    match ensure_source() {
        Ok(()) => true,
        Err(e) => {
            say(format_args!("WITHOUT THREAD SANITIZER: {e:#}"));
            false
        }
    }
}

/// Runs every program; for `./x test`.
///
/// # Errors
/// As [`run_all`].
pub fn check() -> Result<()> {
    PROGRAMS.into_iter().try_for_each(|(package, tests)| one(package, tests))
}

/// The standard library's source, installed when it is missing.
fn ensure_source() -> Result<()> {
    let sysroot = shell::output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let source = std::path::Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/Cargo.lock");
    if source.is_file() {
        return Ok(());
    }
    run(Command::new("rustup").args(["component", "add", "rust-src"]))
        .context("the standard library's source is missing")
}

fn one(package: &str, tests: &[&str]) -> Result<()> {
    let host = shell::output(Command::new("rustc").args(["--print", "host-tuple"]))?;
    let folder = workspace::metadata()?.target_directory.join("tsan");
    let mut command = workspace::cargo();
    command.args(["test", "--package", package, "-Zbuild-std", "--target", host.trim()]);
    command.arg("--target-dir").arg(folder);
    for test in tests {
        command.args(["--test", test]);
    }
    command.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Zsanitizer=thread").env("RUST_BACKTRACE", "0");
    run(&mut command)
}
