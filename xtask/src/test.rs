//! `./x test`: everything that must hold before a change lands.
//!
//! Tests are built once (`cargo test --no-run`) and their programs started from here, because those that open a
//! Vulkan device run under validation layers, which may need to be started through a script
//! ([`crate::setup::validation`]).

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::report::Report;
use crate::setup::validation::{self, Layers};
use crate::shell::{self, run, say};
use crate::{clients, e2e, licences, setup, spec, tsan, workspace};

/// What `./x test` takes.
#[derive(clap::Args)]
pub struct Args {
    /// Write the expected pictures of the clients anew; look at them before you commit them
    #[arg(long)]
    pub bless: bool,
    /// Only the clients' end-to-end tests, of these clients or of all
    #[arg(long, value_name = "CLIENT", num_args = 0..)]
    pub e2e: Option<Vec<String>>,
    /// Do without validation layers
    #[arg(long)]
    pub no_validation: bool,
}

/// Packages whose tests open a Vulkan device.
const VALIDATED: [&str; 3] = ["navin-vulkan", "navin", "navin-capi"];

/// Runs the tests.
///
/// # Errors
/// Something failed; the closing lines say what.
pub fn run_all(args: &Args) -> Result<()> {
    setup::ensure()?;
    let mut report = Report::default();
    let only = args.e2e.is_some() || args.bless;
    let names = args.e2e.clone().unwrap_or_default();

    let layers = if args.no_validation { None } else { layers(&mut report)? };
    if !only {
        report.check("format (cargo fmt)", || run(workspace::cargo().args(["fmt", "--all", "--check"])));
        report.check("generated files (cargo xtask gen --check)", || {
            run(Command::new(std::env::current_exe()?).args(["gen", "--check"]))
        });
        report.check("licences (deny.toml)", licences::check);
        report.check("nvn.h in C and C++", clients::check_header);
        report.check("behaviours with tests", || spec::run(&spec::Args::default()));
    }
    if report.check("build", clients::build_driver) {
        report.part("clients, end to end", |report| {
            e2e::run(report, &clients::chosen(&names)?, layers.as_ref(), args.bless)
        });
        if !only {
            report.part("tests", |report| unit_tests(report, layers.as_ref()));
        }
    }
    if !only {
        report.check("lints (cargo clippy)", || {
            run(workspace::cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
        });
        // Building the standard library takes a minute or two, which is CI's to spend.
        if shell::is_ci() && tsan::available() {
            report.check("thread sanitizer (./x tsan)", tsan::check);
        }
    }
    report.close();
    if report.failures.is_empty() { Ok(()) } else { bail!("./x test: {} failed", report.failures.len()) }
}

/// The validation layers; without any, a failure in CI and a word elsewhere.
fn layers(report: &mut Report) -> Result<Option<Layers>> {
    match validation::ensure() {
        Ok(layers) => Ok(Some(layers)),
        Err(e) if shell::is_ci() => {
            report.failures.push(format!("validation layers: {e:#}"));
            Ok(None)
        }
        Err(e) => {
            say(format_args!("WITHOUT VALIDATION: {e:#}"));
            report.skipped += 1;
            Ok(None)
        }
    }
}

/// A test program that cargo built.
struct Program {
    package: String,
    name: String,
    folder: PathBuf,
    path: PathBuf,
}

/// Test programs of guests' memory: they run a second time with every pool mirrored, as where no import works.
const MIRRORED: [&str; 6] =
    ["memory_in_flight", "memory_pools", "memory_raw", "memory_tracking", "memory_virtual", "copies"];

fn unit_tests(report: &mut Report, layers: Option<&Layers>) -> Result<()> {
    let programs = build_tests()?;
    let mirrored = |program: &&Program| program.package == "navin-capi" && MIRRORED.contains(&program.name.as_str());
    let again = programs.iter().filter(mirrored).map(|program| (program, true));
    for (program, mirrored) in programs.iter().map(|program| (program, false)).chain(again) {
        let mut command = match layers {
            Some(layers) if VALIDATED.contains(&program.package.as_str()) => {
                let mut command = layers.command(&program.path);
                // One test at a time: the loader races when one thread opens an instance while another creates a
                // device through the layer (seen as a crash in one of fifteen runs). The driver opens only one.
                command.env("NAVIN_VALIDATION", "fail").env("RUST_TEST_THREADS", "1");
                if let Layers::Through(script) = layers {
                    // For tests that start themselves again.
                    command.env("NAVIN_WRAPPER", script);
                }
                command
            }
            _ => Command::new(&program.path),
        };
        command.current_dir(&program.folder).env("CARGO_MANIFEST_DIR", &program.folder);
        let how = if mirrored { ", mirrored" } else { "" };
        if mirrored {
            // One at a time: what is copied there and back takes memory.
            command.env("NAVIN_IMPORT", "mirror").env("RUST_TEST_THREADS", "1");
        }
        say(format_args!("{} {}{how}", program.package, program.name));
        if let Err(e) = counted(report, &mut command) {
            report.failures.push(format!("{} {}{how}: {e:#}", program.package, program.name));
        }
    }
    say("doc tests");
    counted(report, workspace::cargo().args(["test", "--workspace", "--doc", "--quiet"]))
}

/// Runs a test program whose output is shown and whose `test result:` lines are added up. Failed tests are
/// failures of the report; an exit code that no line explains is an error.
fn counted(report: &mut Report, command: &mut Command) -> Result<()> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting {}", shell::shown(command)))?;
    let mut failed = 0;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            let line = line?;
            println!("{line}");
            if let Some((passed, wrong, ignored)) = result_line(&line) {
                report.passed += passed;
                report.skipped += ignored;
                failed += wrong;
            } else if let Some(name) = line.strip_prefix("test ").and_then(|l| l.strip_suffix(" ... FAILED")) {
                report.failures.push(format!("test {name}"));
            }
        }
    }
    let status = child.wait()?;
    if !status.success() && failed == 0 {
        bail!("`{}` ended with {status}", shell::shown(command));
    }
    Ok(())
}

/// Passed, failed and ignored of `test result: ok. 12 passed; 0 failed; 1 ignored; ...`.
fn result_line(line: &str) -> Option<(usize, usize, usize)> {
    let counts = line.strip_prefix("test result: ")?;
    let count = |word: &str| {
        let before = counts.split(word).next().filter(|before| before.len() < counts.len())?;
        before.rsplit(' ').next()?.parse().ok()
    };
    Some((count(" passed")?, count(" failed")?, count(" ignored")?))
}

fn build_tests() -> Result<Vec<Program>> {
    let mut command = workspace::cargo();
    command.args(["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"]);
    let text = shell::output(&mut command)?;
    let mut programs = Vec::new();
    for line in text.lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        let (Some(path), true) = (message["executable"].as_str(), message["profile"]["test"] == true) else { continue };
        let id = message["package_id"].as_str().unwrap_or_default();
        let Some(package) = workspace::metadata()?.packages.iter().find(|package| package.id == id) else { continue };
        programs.push(Program {
            package: package.name.clone(),
            name: message["target"]["name"].as_str().unwrap_or_default().to_owned(),
            folder: package.manifest_path.parent().unwrap_or(Path::new(".")).to_owned(),
            path: path.into(),
        });
    }
    if programs.is_empty() {
        bail!("cargo built no test program");
    }
    programs.sort_by(|a, b| (&a.package, &a.name).cmp(&(&b.package, &b.name)));
    Ok(programs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines() {
        let line = "test result: FAILED. 10 passed; 2 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s";
        assert_eq!(result_line(line), Some((10, 2, 1)));
        assert_eq!(result_line("test result: odd"), None);
        assert_eq!(result_line("test a ... ok"), None);
    }
}
