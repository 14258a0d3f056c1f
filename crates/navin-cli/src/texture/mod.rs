//! `navin texture`: look into texture files, convert them, tile and untile raw data.
//!
//! Everything that a file means is `navin-texture`'s; here are the command line, reading and writing of files with
//! errors that name them ([`files`]), and folders of them on all cores ([`batch`]). Nothing is written half: a file is
//! made under another name beside its own and renamed when it is whole.

pub(crate) mod batch;
mod convert;
pub(crate) mod files;
mod info;
mod raw;
mod shape;
mod view;

use clap::Subcommand;
use navin_texture::GobOrder;

/// What `navin texture` takes.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Files: bntx xtx dds ktx2 png exr; raw block-linear bytes with a description (.bin with .json beside it).

Examples:
  navin texture info hero.bntx
      What is in the file: names, formats, sizes, levels, block heights.
  navin texture convert hero.bntx hero.png
      The first texture's largest level as a picture.
  navin texture convert hero.bntx hero.dds
      Everything, blocks as they are, for tools that know DDS.
  navin texture convert edited.png hero.bntx --format rgba8_srgb --mips
      A picture as a texture with all levels.
  navin texture convert dump/ pictures/ --to png
      A folder with all that is in it, on all cores.
  navin texture view hero.bntx sheet.png
      All layers and levels on one sheet.
  navin texture untile surface.raw rows.raw --format bc7 --size 2048x2048
      Raw data out of the GPU's order.

Textures of the second console generation (NVN2) have another order of bytes: --generation 2.

Exit codes:
  0 well    2 something on the command line or in a file will not do; nothing was written for it";

#[derive(Subcommand)]
enum Command {
    /// Tell what is in texture files
    Info(info::Args),
    /// Convert a file, or a folder of files, to another kind or format
    Convert(convert::Args),
    /// Raw rows into the GPU's block-linear order
    Tile(raw::Args),
    /// Raw block-linear data into rows
    Untile(raw::Args),
    /// All layers and levels of a texture on one PNG
    View(view::Args),
}

/// Runs; the exit code of the program.
pub fn run(args: &Args) -> u8 {
    match &args.command {
        Command::Info(args) => info::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Tile(args) => raw::run(args, raw::Direction::Tile),
        Command::Untile(args) => raw::run(args, raw::Direction::Untile),
        Command::View(args) => view::run(args),
    }
}

/// Reads `--generation`.
fn generation(text: &str) -> Result<GobOrder, String> {
    text.parse()
        .ok()
        .and_then(GobOrder::from_generation)
        .ok_or_else(|| "give 1 (NVN, Tegra X1) or 2 (NVN2, its successor)".into())
}
