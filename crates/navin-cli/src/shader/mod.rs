//! `navin shader`: list, describe, translate, check and time GPU programs.
//!
//! What a program means is `navin-shader`'s; here are the command line, finding of programs ([`files`]), the interface
//! as JSON ([`json`]), and folders of them on all cores. A program is two files, NAME.control and NAME.code.

mod bench;
mod files;
mod json;
mod translate;

use std::path::PathBuf;

use clap::Subcommand;
use navin_shader::{ConstantLayout, GuestProgram, Options};

use crate::{complain, exit};
use files::Found;

/// What `navin shader` takes.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
A program is NAME.control (the control section) and NAME.code (the GPU program) side by side. Give one of the two, NAME
alone, or a folder: then all programs in it are meant.

Examples:
  navin shader disasm blur
      The machine code, an instruction a line.
  navin shader info programs --json
      Headers, sizes and interfaces of a folder of programs, for other tools.
  navin shader translate programs --out spirv --shard 0/4
      A quarter of a folder as SPIR-V, with the interface of each program as JSON beside it.
  navin shader verify programs
      Translates everything and asks spirv-val about it.

Exit codes:
  0 well    1 some program does not translate, or is not valid    2 the command line or a file will not do";

#[derive(Subcommand)]
enum Command {
    /// List machine code
    Disasm(Which),
    /// Tell what programs are and what they use
    Info(Info),
    /// Write programs as SPIR-V with their interface beside it
    Translate(translate::Args),
    /// Translate programs and check the SPIR-V with spirv-val
    Verify(translate::Verify),
    /// Time translation
    Bench(bench::Args),
}

/// Which programs, and what they were compiled for.
#[derive(clap::Args)]
pub struct Which {
    /// Programs, or folders of them
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Where the programs expect the driver's constants
    #[arg(long, value_enum, default_value_t = Layout::Auto)]
    layout: Layout,
    /// Only every Nth program, the Ith of them: I/N, I from 0
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<(usize, usize)>,
}

#[derive(clap::Args)]
struct Info {
    #[command(flatten)]
    which: Which,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Layout {
    /// By the control section
    Auto,
    /// The console's driver
    Production,
    /// The open compiler of the test corpus
    Corpus,
}

impl Which {
    /// The programs, sorted, of this shard.
    fn programs(&self) -> Result<Vec<Found>, String> {
        let mut all = files::find(&self.paths)?;
        if let Some((index, count)) = self.shard {
            let mut n = 0;
            all.retain(|_| {
                n += 1;
                (n - 1) % count == index
            });
        }
        Ok(all)
    }

    /// Translation options for a program.
    fn options(&self, control: &[u8]) -> Options {
        Options::new(match self.layout {
            Layout::Auto => ConstantLayout::detect(control),
            Layout::Production => ConstantLayout::Production,
            Layout::Corpus => ConstantLayout::Corpus,
        })
    }
}

fn shard(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match parts {
        Some((i, n)) if i < n => Ok((i, n)),
        _ => Err("give I/N, such as 0/4: the first quarter".into()),
    }
}

/// Runs; the exit code of the program.
pub fn run(args: &Args) -> u8 {
    let result = match &args.command {
        Command::Disasm(which) => disasm(which),
        Command::Info(args) => info(args),
        Command::Translate(args) => translate::run(args),
        Command::Verify(args) => translate::verify(args),
        Command::Bench(args) => bench::run(args),
    };
    result.unwrap_or_else(|e| {
        complain(e);
        exit::USAGE
    })
}

fn disasm(which: &Which) -> Result<u8, String> {
    let mut code = exit::OK;
    for found in which.programs()? {
        let read = found.read()?;
        match GuestProgram::parse(&read.control, &read.code) {
            Ok(guest) => print(&format!("; {}\n{}", found.name, navin_shader::disassemble(&guest))),
            Err(e) => {
                complain(format_args!("{}: {e}", found.name));
                code = exit::GUEST;
            }
        }
    }
    Ok(code)
}

fn info(args: &Info) -> Result<u8, String> {
    let mut code = exit::OK;
    let mut all = Vec::new();
    for found in args.which.programs()? {
        let read = found.read()?;
        let guest = match GuestProgram::parse(&read.control, &read.code) {
            Ok(guest) => guest,
            Err(e) => {
                complain(format_args!("{}: {e}", found.name));
                code = exit::GUEST;
                continue;
            }
        };
        let translated = navin_shader::Translator::new().translate(&guest, &args.which.options(&read.control));
        if args.json {
            all.push(json::program(&found.name, &read.control, &guest, &translated));
            continue;
        }
        print(&json::text(&found.name, &guest, &translated));
    }
    if args.json {
        print(&format!("{:#}\n", serde_json::Value::Array(all)));
    }
    Ok(code)
}

/// Prints; a reader that goes away is no error.
fn print(text: &str) {
    use std::io::Write as _;
    let _ = std::io::stdout().write_all(text.as_bytes());
}
