//! `navin doctor`: what was found on this machine, what is emulated, and what to do about what is missing.

/// What `navin doctor` takes.
#[derive(clap::Args)]
pub struct Args {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Reports; the exit code of the program.
pub fn run(_args: &Args) -> u8 {
    crate::exit::OK
}
