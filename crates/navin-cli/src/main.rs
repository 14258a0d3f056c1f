//! The program `navin`: runs guests and tells what the machine can do.
//!
//! `navin run` starts a guest that is linked to libnvn as a child process and follows it through status lines
//! (`navin::status`); `navin doctor` opens the Vulkan device as the driver would and reports it; `navin texture` and
//! `navin shader` need no device: they read and write files.

mod doctor;
mod library;
mod run;
mod shader;
mod texture;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What the program's exit codes mean; `navin run --help` prints the same list.
pub mod exit {
    /// Everything went well.
    pub const OK: u8 = 0;
    /// The guest failed, or did not end in time.
    pub const GUEST: u8 = 1;
    /// Something on the command line, in navin.toml or in an input file will not do.
    pub const USAGE: u8 = 2;
    /// No Vulkan device that Navin can use.
    pub const NO_DEVICE: u8 = 3;
    /// The validation layers had something to say.
    pub const VALIDATION: u8 = 4;
    /// `--strict`, and there were fault lines.
    pub const FAULTS: u8 = 5;
    /// Stopped by Ctrl-C.
    pub const INTERRUPTED: u8 = 130;
}

/// NVN, the C graphics API of a console family, on Vulkan.
#[derive(Parser)]
#[command(name = "navin", version, about, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Start here:
  navin doctor                                  is this machine ready?
  navin run ./triangle                          run a guest until it ends or you press Ctrl-C
  navin run --frames 60 --out shots ./triangle  write its first 60 frames as PNG files
  navin texture convert hero.bntx hero.png      a texture as a picture
  navin shader translate programs --out spirv   machine code as SPIR-V, a folder of it

Settings that should hold for every run go into navin.toml; docs/CONFIGURATION.md shows all of them.";

#[derive(Subcommand)]
enum Command {
    /// Run a guest program: one that is linked to libnvn
    Run(run::Args),
    /// Tell what was found on this machine, what is emulated, and what to do about what is missing
    Doctor(doctor::Args),
    /// List, translate and check GPU programs
    Shader(shader::Args),
    /// Look into texture files, convert them, tile and untile raw data
    Texture(texture::Args),
}

fn main() -> ExitCode {
    let code = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Shader(args) => shader::run(&args),
        Command::Texture(args) => texture::run(&args),
    };
    ExitCode::from(code)
}

/// Says on standard error what is wrong and what to do, in the program's one style.
fn complain(text: impl std::fmt::Display) {
    eprintln!("navin: {text}");
}
