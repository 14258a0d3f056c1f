//! `./x bench`: criterion's figures as a table; `./x bench callgrind`: instructions a draw.
//!
//! For callgrind a crate has an example whose name begins with `callgrind_`: a program that takes a number of
//! draws and does them. It runs twice, with [`FEW`] and with [`MANY`] draws, so that set-up cancels out, and the
//! difference is split into our own code and what it calls (Vulkan driver, C library), by object file. Where such
//! a program calls NVN's recording functions, there is a second table: instructions a call of each.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::shell::{run, say, step};
use crate::{setup, workspace};

const FEW: u64 = 1000;
const MANY: u64 = 3000;

/// What `./x bench` takes.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// Only benches whose name contains this
    filter: Option<String>,
}

#[derive(clap::Subcommand)]
enum What {
    /// Instructions a draw, by valgrind's callgrind (installed if missing)
    Callgrind,
}

/// Runs the benches.
///
/// # Errors
/// A bench does not build or fails.
pub fn run_all(args: &Args) -> Result<()> {
    setup::ensure()?;
    match args.what {
        Some(What::Callgrind) => callgrind(),
        None => criterion(args.filter.as_deref()),
    }
}

fn criterion(filter: Option<&str>) -> Result<()> {
    let mut benches = Vec::new();
    for package in members()? {
        for target in package.targets.iter().filter(|target| target.kind.iter().any(|kind| kind == "bench")) {
            benches.push((package.name.as_str(), target.name.as_str()));
        }
    }
    if benches.is_empty() {
        bail!("no crate has benches");
    }
    for (package, bench) in benches {
        step(format_args!("{package}: {bench}"));
        let mut command = workspace::cargo();
        command.args(["bench", "--package", package, "--bench", bench]);
        run(command.arg("--").args(filter))?;
    }
    let mut rows = Vec::new();
    estimates(&workspace::metadata()?.target_directory.join("criterion"), &mut rows)?;
    rows.sort();
    let mut table = String::from("| bench | time | rate |\n|---|---|---|\n");
    for (name, time, rate) in rows {
        writeln!(table, "| {name} | {time} | {rate} |")?;
    }
    let path = workspace::root().join("out/bench.md");
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    std::fs::write(&path, &table)?;
    println!("\n{table}");
    say(format_args!("the table is in {}", path.display()));
    Ok(())
}

/// Collects name, time and rate of every `new/` folder that criterion left.
fn estimates(folder: &Path, rows: &mut Vec<(String, String, String)>) -> Result<()> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        if !path.is_dir() {
            continue;
        }
        if path.ends_with("new") {
            let read =
                |name: &str| -> Result<Value> { Ok(serde_json::from_str(&std::fs::read_to_string(path.join(name))?)?) };
            let (estimate, about) = (read("estimates.json")?, read("benchmark.json")?);
            let nanoseconds = estimate["median"]["point_estimate"].as_f64().context("a median")?;
            let throughput = &about["throughput"];
            let rate = if let Some(bytes) = throughput["Bytes"].as_f64() {
                format!("{:.2} GB/s", bytes / nanoseconds)
            } else if let Some(elements) = throughput["Elements"].as_f64() {
                format!("{:.0} /s", elements * 1e9 / nanoseconds)
            } else {
                String::new()
            };
            rows.push((about["full_id"].as_str().unwrap_or("?").to_owned(), time(nanoseconds), rate));
        } else {
            estimates(&path, rows)?;
        }
    }
    Ok(())
}

fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        t if t < 1e3 => format!("{t:.1} ns"),
        t if t < 1e6 => format!("{:.2} us", t / 1e3),
        t => format!("{:.2} ms", t / 1e6),
    }
}

fn members() -> Result<Vec<&'static workspace::Package>> {
    let metadata = workspace::metadata()?;
    Ok(metadata.packages.iter().filter(|package| metadata.workspace_members.contains(&package.id)).collect())
}

fn callgrind() -> Result<()> {
    setup::apt::install_tool("valgrind", "valgrind")?;
    let mut programs = Vec::new();
    for package in members()? {
        for target in &package.targets {
            if target.kind.iter().any(|kind| kind == "example") && target.name.starts_with("callgrind_") {
                programs.push((package.name.as_str(), target.name.as_str()));
            }
        }
    }
    if programs.is_empty() {
        bail!("no crate has an example named callgrind_...");
    }
    let target = &workspace::metadata()?.target_directory;
    let out = workspace::root().join("out/callgrind");
    std::fs::create_dir_all(&out)?;
    let mut table = String::from("| program | instructions a draw, ours | in libraries and drivers |\n|---|---|---|\n");
    let mut calls = BTreeMap::new();
    for (package, name) in programs {
        step(format_args!("{package}: {name}"));
        run(workspace::cargo().args(["build", "--release", "--package", package, "--example", name]))?;
        let program = target.join("release/examples").join(name);
        let few = by_object(&profile(&program, FEW, &out)?);
        let many = profile(&program, MANY, &out)?;
        calls.extend(by_entry_point(&many));
        let many = by_object(&many);
        let (mut ours, mut theirs) = (0, 0);
        for (object, instructions) in &many {
            let difference = *instructions as i64 - few.get(object).copied().unwrap_or(0) as i64;
            if object.contains(name) || object.contains("libnvn") { ours += difference } else { theirs += difference }
        }
        let draws = (MANY - FEW) as f64;
        writeln!(table, "| {name} | {:.0} | {:.0} |", ours as f64 / draws, theirs as f64 / draws)?;
    }
    if !calls.is_empty() {
        table.push('\n');
        table.push_str(&call_table(&calls)?);
    }
    std::fs::write(out.join("table.md"), &table)?;
    println!("\n{table}");
    say(format_args!("profiles for callgrind_annotate are in {}", out.display()));
    Ok(())
}

/// The callgrind profile of one run.
fn profile(program: &Path, draws: u64, out: &Path) -> Result<String> {
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file: PathBuf = out.join(format!("{name}-{draws}.out"));
    say(format_args!("{draws} draws under callgrind"));
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--quiet", &format!("--callgrind-out-file={}", file.display())]);
    run(command.arg(program).arg(draws.to_string()))?;
    std::fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))
}

/// Calls of a function, and the instructions of all of them, what they call included.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
struct Calls {
    count: u64,
    instructions: u64,
}

/// Functions with fewer calls are set-up.
const FEWEST_CALLS: u64 = 50;

/// The recording functions of NVN in a profile, by name. A `cfn=` line names the function that the next `calls=`
/// line is about, whose next line has the inclusive cost; names are given once, as with objects.
fn by_entry_point(text: &str) -> BTreeMap<String, Calls> {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    let mut found: BTreeMap<String, Calls> = BTreeMap::new();
    let (mut callee, mut count) = ("", None);
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn=")) {
            let (id, name) = rest.split_once(' ').unwrap_or((rest, ""));
            if !name.is_empty() {
                names.insert(id, name);
            }
            if line.starts_with("cfn=") {
                callee = names.get(id).copied().unwrap_or(id);
            }
        } else if let Some(rest) = line.strip_prefix("calls=") {
            count = rest.split(' ').next().and_then(|count| count.parse::<u64>().ok());
        } else if let Some(count) = count.take()
            && let Some(at) = callee.rfind("nvnCommandBuffer")
        {
            let cost = line.split_whitespace().nth(1).and_then(|cost| cost.parse::<u64>().ok()).unwrap_or(0);
            let name = callee[at..].split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
            let calls = found.entry(name.to_owned()).or_default();
            calls.count += count;
            calls.instructions += cost;
        }
    }
    found.retain(|_, calls| calls.count >= FEWEST_CALLS);
    found
}

fn call_table(calls: &BTreeMap<String, Calls>) -> Result<String> {
    let each = |calls: &Calls| calls.instructions as f64 / calls.count as f64;
    let mut table = String::from("| recording function | instructions a call |\n|---|---|\n");
    for (name, calls) in calls {
        writeln!(table, "| {name} | {:.0} |", each(calls))?;
    }
    let mut costs: Vec<f64> = calls.values().map(each).collect();
    costs.sort_by(f64::total_cmp);
    if let Some(median) = costs.get(costs.len() / 2) {
        writeln!(table, "| median of {} | {median:.0} |", costs.len())?;
    }
    Ok(table)
}

/// Adds up the self costs of a callgrind profile by object file. Names are given once as `ob=(id) name` and
/// later as `ob=(id)`; the line after a `calls=` line is the callee's inclusive cost and not a self cost.
fn by_object(text: &str) -> BTreeMap<String, u64> {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    let mut costs: BTreeMap<String, u64> = BTreeMap::new();
    let (mut object, mut inclusive) = ("", false);
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("ob=").or_else(|| line.strip_prefix("cob=")) {
            let (id, name) = rest.split_once(' ').unwrap_or((rest, ""));
            if !name.is_empty() {
                names.insert(id, name);
            }
            if line.starts_with("ob=") {
                object = names.get(id).copied().unwrap_or(id);
            }
        } else if line.starts_with("calls=") {
            inclusive = true;
        } else if line.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '*'))
            && !std::mem::take(&mut inclusive)
        {
            let cost = line.split_whitespace().nth(1).and_then(|cost| cost.parse::<u64>().ok()).unwrap_or(0);
            *costs.entry(object.to_owned()).or_default() += cost;
        }
    }
    costs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn self_costs_are_added_up_by_object() {
        let profile = "events: Ir\n\nob=(1) /a/program\nfl=(1) a.rs\nfn=(1) main\n10 5\n+2 7\ncob=(2) /lib/driver.so\n\
                       cfn=(2) draw\ncalls=1 0\n* 1000\n14 1\n\nob=(2)\nfn=(2)\n1 900\nob=(1)\nfn=(1)\n20 2\n";
        let costs = by_object(profile);
        assert_eq!(costs["/a/program"], 15);
        assert_eq!(costs["/lib/driver.so"], 900);
    }

    #[test]
    fn costs_of_entry_points_are_inclusive_and_by_call() {
        let profile = "events: Ir\n\nfn=(1) main\n10 5\ncfn=(2) navin::draw::nvnCommandBufferDrawArrays\ncalls=60 0\n\
                       * 1200\n+1 7\ncfn=(3) navin::other\ncalls=100 0\n* 9\nfn=(2)\n1 900\nfn=(4) again\n\
                       cfn=(2)\ncalls=40 0\n* 800\ncfn=(5) nvnCommandBufferInitialize\ncalls=1 0\n* 50\n";
        let calls = by_entry_point(profile);
        assert_eq!(calls.len(), 1);
        assert_eq!(calls["nvnCommandBufferDrawArrays"], Calls { count: 100, instructions: 2000 });
    }
}
