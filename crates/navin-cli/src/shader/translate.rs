//! `navin shader translate` and `verify`: programs as SPIR-V, one of them or folders on all cores.
//!
//! Each program stands alone: one that does not translate is reported with its reason at the end, makes the exit code
//! 1, and stops no other (B512). There is no cache of SPIR-V: reading a file takes longer than translating.

use std::path::{Path, PathBuf};
use std::process::Command;

use navin_shader::{GuestProgram, Translator};

use super::{Found, Which, json};
use crate::texture::{batch, files};
use crate::{complain, exit};

/// What `navin shader translate` takes.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    how: How,
    /// Folder for NAME.spv and NAME.json
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    out: PathBuf,
}

/// What `navin shader verify` takes.
#[derive(clap::Args)]
pub struct Verify {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    how: How,
    /// The validator
    #[arg(long, value_name = "PROGRAM", default_value = "spirv-val")]
    validator: PathBuf,
}

#[derive(clap::Args)]
struct How {
    /// Threads; all cores when not given
    #[arg(long, short)]
    jobs: Option<usize>,
    /// No progress bar and no closing line
    #[arg(long, short)]
    quiet: bool,
    /// The outcome of every program as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// A program's way through; the words of its SPIR-V.
type Outcome = Result<usize, String>;

/// Runs `navin shader translate`.
pub fn run(args: &Args) -> Result<u8, String> {
    let each = |found: &Found| {
        let read = found.read()?;
        let guest = GuestProgram::parse(&read.control, &read.code).map_err(|e| e.to_string())?;
        let translated = Translator::new().translate(&guest, &args.which.options(&read.control));
        let description = json::program(&found.name, &read.control, &guest, &translated);
        let t = translated.map_err(|e| e.to_string())?;
        let path = |extension: &str| args.out.join(format!("{}.{extension}", found.name));
        files::write(&path("spv"), &bytes(&t.spirv))?;
        files::write(&path("json"), format!("{description:#}\n").as_bytes())?;
        Ok(t.spirv.len())
    };
    all(&args.which, &args.how, "translated", each)
}

/// Runs `navin shader verify`.
pub fn verify(args: &Verify) -> Result<u8, String> {
    let folder = std::env::temp_dir().join(format!("navin-verify-{}", std::process::id()));
    let version = Command::new(&args.validator).arg("--version").output();
    if let Err(e) = version {
        return Err(format!("{}: {e}; spirv-val comes with SPIRV-Tools", args.validator.display()));
    }
    let each = |found: &Found| {
        let read = found.read()?;
        let guest = GuestProgram::parse(&read.control, &read.code).map_err(|e| e.to_string())?;
        let t = Translator::new().translate(&guest, &args.which.options(&read.control)).map_err(|e| e.to_string())?;
        let path = folder.join(format!("{}.spv", found.name));
        files::write(&path, &bytes(&t.spirv))?;
        let out = Command::new(&args.validator).args(["--target-env", "vulkan1.3"]).arg(&path).output();
        let out = out.map_err(|e| format!("{}: {e}", args.validator.display()))?;
        if !out.status.success() {
            let text = String::from_utf8_lossy(&out.stderr);
            return Err(format!("not valid: {}", text.lines().next().unwrap_or_default()));
        }
        Ok(t.spirv.len())
    };
    let result = all(&args.which, &args.how, "valid", each);
    let _ = std::fs::remove_dir_all(&folder);
    result
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Does `each` to all programs and reports those for which it failed.
fn all(which: &Which, how: &How, done: &str, each: impl Fn(&Found) -> Outcome + Sync) -> Result<u8, String> {
    let programs = which.programs()?;
    let threads = how.jobs.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    // The batch hands out paths; they are the programs' numbers here.
    let numbers: Vec<PathBuf> = (0..programs.len()).map(|n| n.to_string().into()).collect();
    let quiet = how.quiet || programs.len() == 1;
    let outcomes = batch::each(&numbers, threads, quiet, |number: &Path| {
        let found = number.to_str().and_then(|n| n.parse::<usize>().ok()).and_then(|n| programs.get(n));
        found.map_or_else(|| Err("no such program".into()), &each)
    });
    let failed = outcomes.iter().filter(|o| o.is_err()).count();
    if how.json {
        let list = programs.iter().zip(&outcomes).map(|(found, outcome)| match outcome {
            Ok(words) => serde_json::json!({ "name": found.name, "spirv_words": words }),
            Err(e) => serde_json::json!({ "name": found.name, "error": e }),
        });
        super::print(&format!("{:#}\n", serde_json::Value::Array(list.collect())));
    }
    for (found, outcome) in programs.iter().zip(&outcomes) {
        if let Err(e) = outcome {
            complain(format_args!("{}: {e}", found.name));
        }
    }
    if !how.quiet {
        eprintln!("{} of {} programs {done}", programs.len() - failed, programs.len());
    }
    Ok(if failed == 0 { exit::OK } else { exit::GUEST })
}
