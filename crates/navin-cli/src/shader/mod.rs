//! `navin shader`: list, describe, translate, check and time GPU programs.
//!
//! What a program means is `navin-shader`'s; here are the command line, finding of programs ([`files`]), the interface
//! as JSON ([`json`]), folders of them on all cores ([`translate`]), and many of them in one file ([`pack`]).

mod bench;
mod files;
mod instructions;
mod json;
mod pack;
mod tables;
mod translate;

use std::path::PathBuf;

use clap::Subcommand;
use navin_shader::{ConstantLayout, Options, Translator};

use crate::{complain, exit};
use files::{Found, Read};

/// What `navin shader` takes.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
A program is NAME.control (the control section) and NAME.code (the GPU program) side by side:
give one of the two, or NAME alone. Of a folder, all programs in it are meant. A DKSH file, a pack
(navin shader pack), or any other file that has programs in it does as well.

Examples:
  navin shader disasm blur
      The machine code: labels, names of constants and attributes, scheduling.
  navin shader info programs --json
      Headers, sizes and interfaces of a folder of programs, for other tools.
  navin shader translate programs --out spirv --shard 0/4
      A quarter of a folder as SPIR-V, with the interface of each program as JSON beside it.
  navin shader translate game.bin --out spirv --cache kept.store
      All programs found in a file; what was translated before comes from the cache.
  navin shader verify programs
      Translates everything and asks spirv-val about it.
  navin shader pack programs --out all.pack
      A folder of programs as one file, each under the key of its content.
  navin shader info --instructions
      Which instructions translate, and why the others do not.

Exit codes:
  0 well
  1 some program does not translate, or is not valid
  2 the command line or a file will not do";

#[derive(Subcommand)]
enum Command {
    /// List machine code
    Disasm(Disasm),
    /// Tell what programs are and what they use
    Info(Info),
    /// Write programs as SPIR-V with their interface beside it
    Translate(translate::Args),
    /// Translate programs and check the SPIR-V with spirv-val
    Verify(translate::Verify),
    /// Time translation
    Bench(bench::Args),
    /// Put programs into one file, by key
    Pack(pack::Args),
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
    /// Only the programs whose keys stand in this file, a line each, in that order
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
}

#[derive(clap::Args)]
struct Disasm {
    #[command(flatten)]
    which: Which,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
struct Info {
    #[command(flatten)]
    which: Option<Which>,
    /// All instructions: how many forms each has, and what of it does not translate, with the reason
    #[arg(long, conflicts_with = "paths")]
    instructions: bool,
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
        match &self.keys {
            Some(path) => by_key(all, path),
            None => Ok(all),
        }
    }

    /// Whether this may be a part of the programs only.
    fn is_part(&self) -> bool {
        self.shard.is_some() || self.keys.is_some()
    }

    /// Translation options for a program.
    fn options(&self, read: &Read) -> Options {
        Options::new(match self.layout {
            Layout::Auto => read.layout(),
            Layout::Production => ConstantLayout::Production,
            Layout::Corpus => ConstantLayout::Corpus,
        })
    }
}

/// The programs whose keys a file lists, a key in hexadecimal at the beginning of each line, in the file's order. A key
/// that no program has is an error: what stands at its place is never taken instead (B515).
fn by_key(all: Vec<Found>, path: &std::path::Path) -> Result<Vec<Found>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut known = std::collections::HashMap::new();
    for found in all {
        let key = match found.key() {
            Some(key) => key,
            None => found.read()?.program().map_err(|e| format!("{}: {e}", found.name))?.key,
        };
        known.insert(key, found);
    }
    let mut chosen = Vec::new();
    for line in text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')) {
        let word = line.split_whitespace().next().unwrap_or_default();
        let key = u64::from_str_radix(word.trim_start_matches("0x"), 16);
        let key = key.map_err(|_| format!("{}: {word:?} is no key in hexadecimal", path.display()))?;
        let found = known.remove(&key);
        chosen.push(found.ok_or_else(|| format!("{}: no program has the key {key:016x}, or twice", path.display()))?);
    }
    Ok(chosen)
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
        Command::Disasm(args) => disasm(args),
        Command::Info(args) => info(args),
        Command::Translate(args) => translate::run(args),
        Command::Verify(args) => translate::verify(args),
        Command::Bench(args) => bench::run(args),
        Command::Pack(args) => pack::run(args),
    };
    result.unwrap_or_else(|e| {
        complain(e);
        exit::USAGE
    })
}

fn disasm(args: &Disasm) -> Result<u8, String> {
    let mut code = exit::OK;
    let mut all = Vec::new();
    for found in args.which.programs()? {
        let read = found.read()?;
        match read.program() {
            Ok(guest) => {
                let layout = args.which.options(&read).layout;
                if args.json {
                    all.push(json::listing(&found.name, &guest, layout));
                } else {
                    print(&format!("; {}\n{}", found.name, navin_shader::disassemble(&guest, Some(layout))));
                }
            }
            Err(e) => {
                complain(format_args!("{}: {e}", found.name));
                code = exit::GUEST;
            }
        }
    }
    if args.json {
        print(&format!("{:#}\n", serde_json::Value::Array(all)));
    }
    Ok(code)
}

fn info(args: &Info) -> Result<u8, String> {
    if args.instructions {
        return Ok(instructions::print(args.json));
    }
    let which = args.which.as_ref().ok_or("give programs, or --instructions")?;
    let mut code = exit::OK;
    let mut all = Vec::new();
    let mut translator = Translator::new();
    for found in which.programs()? {
        let read = found.read()?;
        let guest = match read.program() {
            Ok(guest) => guest,
            Err(e) => {
                complain(format_args!("{}: {e}", found.name));
                code = exit::GUEST;
                continue;
            }
        };
        let translated = translator.translate(&guest, &which.options(&read));
        if args.json {
            all.push(json::program(&found.name, read.control(), &guest, &translated));
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
