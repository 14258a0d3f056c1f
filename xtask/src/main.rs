//! Repository chores: `cargo xtask <chore>`. One module and one variant a chore.

mod codegen;
mod gen_formats;

use clap::Parser;

/// Chores of the Navin repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Chore {
    /// Write the files that are generated from facts/
    Gen(codegen::Args),
}

fn main() -> anyhow::Result<()> {
    match Chore::parse() {
        Chore::Gen(args) => codegen::run(&args),
    }
}
