//! Repository chores: `./x <chore>` or `cargo xtask <chore>`. One module and one variant a chore.

mod bench;
mod clients;
mod codegen;
mod e2e;
mod gen_formats;
mod gen_isa;
mod licences;
mod pictures;
mod reference;
mod report;
mod setup;
mod shell;
mod soak;
mod spec;
mod test;
mod tsan;
mod workspace;

use std::process::{Command, ExitCode};

use clap::Parser;

/// Chores of the Navin repository.
#[derive(Parser)]
#[command(name = "x", bin_name = "./x", after_help = AFTER_HELP, max_term_width = 110)]
enum Chore {
    /// Set the machine up, build, run every client and write pictures into out/demo/
    Demo {
        /// Only these clients
        clients: Vec<String>,
    },
    /// Set the machine up and run every check: what must pass before a change lands
    Test(test::Args),
    /// Tell what was found on this machine and what is emulated
    Doctor {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Run the tests of what threads share under ThreadSanitizer
    Tsan,
    /// Run a client for minutes and watch what it holds
    Soak(soak::Args),
    /// Run the benches
    Bench(bench::Args),
    /// Format the Rust sources
    Fmt,
    /// Set the machine up and do nothing else
    Setup,
    /// Tell which behaviours have a test named after them
    Spec(spec::Args),
    /// Write the files that are generated from facts/
    Gen(codegen::Args),
    /// Print what Vulkan answers, as JSON (what set-up asks in a process of its own)
    #[command(hide = true)]
    Probe,
}

const AFTER_HELP: &str = "\
On a fresh machine:
  ./x demo      installs what is missing (Debian: by apt, as root or with sudo), draws, says where the pictures are
  ./x test      the same, and all checks
One client while working on it:
  ./x demo cube
  ./x test --e2e cube";

fn main() -> ExitCode {
    let done = match Chore::parse() {
        Chore::Demo { clients } => clients::demo(&clients),
        Chore::Test(args) => test::run_all(&args),
        Chore::Doctor { json } => return doctor(json),
        Chore::Tsan => tsan::run_all(),
        Chore::Soak(args) => soak::run(&args),
        Chore::Bench(args) => bench::run_all(&args),
        Chore::Fmt => shell::run(workspace::cargo().args(["fmt", "--all"])),
        Chore::Setup => setup::ensure().and_then(|()| setup::validation::ensure().map(|_| ())),
        Chore::Spec(args) => spec::run(&args),
        Chore::Gen(args) => codegen::run(&args),
        Chore::Probe => setup::probe::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("x: {e:#}");
            ExitCode::FAILURE
        }
    }
}

/// Builds and runs `navin doctor`, whose exit code is ours.
fn doctor(json: bool) -> ExitCode {
    let run = || -> anyhow::Result<u8> {
        clients::build_driver()?;
        let mut command = Command::new(workspace::debug_folder()?.join("navin"));
        command.arg("doctor").args(json.then_some("--json"));
        Ok(command.status()?.code().unwrap_or(1).try_into().unwrap_or(1))
    };
    run().map_or_else(
        |e| {
            eprintln!("x: {e:#}");
            ExitCode::FAILURE
        },
        ExitCode::from,
    )
}
