//! `navin texture tile` and `untile`: raw data, described by options or by a file.

use std::path::PathBuf;

use navin_texture::{Pitch, Region, tile};

use super::files;
use super::shape::{Shape, untile_all};
use crate::{complain, exit};

/// Which way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Rows to blocks.
    Tile,
    /// Blocks to rows.
    Untile,
}

/// What `navin texture tile` and `untile` take.
#[derive(clap::Args)]
#[command(after_help = "\
Rows are without padding: layer after layer, in each level after level, in each slice after slice. The block-linear
side is laid out as NVN does; --layout prints where everything lies. - is standard input or output.

Examples:
  navin texture untile surface.raw rows.raw --format bc7 --size 2048x2048 --levels 12
  navin texture tile rows.raw surface.raw --format rgba8 --size 64x64x8 --generation 2
  navin texture untile a.raw b.raw --describe shape.json
  navin texture tile - - --format r8 --size 1920x1080 --layout")]
pub struct Args {
    /// File to read
    pub input: PathBuf,

    /// File to write
    pub output: PathBuf,

    /// Format: an NVN name such as RGBA8 or RGBA_ASTC_6x6, or BC1 ... BC7
    #[arg(long, value_name = "NAME", required_unless_present = "describe")]
    pub format: Option<String>,

    /// Texels of level 0
    #[arg(long, value_name = "WxH[xD]", value_parser = size, required_unless_present = "describe")]
    pub size: Option<[u32; 3]>,

    /// 1d, 2d, 3d, 1d-array, 2d-array, cube, cube-array, rectangle, 2d-multisample, 2d-multisample-array, buffer
    /// [default: what the numbers say]
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,

    /// Layers; six for each cube [default: 1]
    #[arg(long, value_name = "N")]
    pub layers: Option<u32>,

    /// Levels [default: 1]
    #[arg(long, value_name = "N")]
    pub levels: Option<u32>,

    /// Samples a texel [default: 1]
    #[arg(long, value_name = "N")]
    pub samples: Option<u32>,

    /// Height of blocks in GOBs: 1, 2, 4, 8, 16, 32 [default: as NVN chooses]
    #[arg(long, value_name = "GOBS")]
    pub block_height: Option<u32>,

    /// Depth of blocks in slices, for 3D [default: as NVN chooses]
    #[arg(long, value_name = "SLICES")]
    pub block_depth: Option<u32>,

    /// GOBs to which rows of a sparse texture are padded [default: those of a tile]
    #[arg(long, value_name = "GOBS")]
    pub tile_width: Option<u32>,

    /// NVN flags: linear, linear_render_target, sparse, minimal_layout, compressible, video_decode
    #[arg(long, value_delimiter = ',', value_name = "FLAG,...")]
    pub flags: Vec<String>,

    /// Bytes from row to row of linear storage [default: as NVN chooses]
    #[arg(long, value_name = "BYTES")]
    pub stride: Option<u64>,

    /// Console generation of the block-linear side: 1 or 2 [default: 1]
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u32).range(1..=2))]
    pub generation: Option<u32>,

    /// Take all of this from a JSON description; options that are given as well count instead of its fields
    #[arg(long, value_name = "FILE")]
    pub describe: Option<PathBuf>,

    /// Print where levels lie, as JSON, and do nothing
    #[arg(long)]
    pub layout: bool,
}

/// Reads `WxH` or `WxHxD`.
pub fn size(text: &str) -> Result<[u32; 3], String> {
    let parts: Result<Vec<u32>, _> = text.split('x').map(str::parse).collect();
    match parts.as_deref() {
        Ok([w]) => Ok([*w, 1, 1]),
        Ok([w, h]) => Ok([*w, *h, 1]),
        Ok([w, h, d]) => Ok([*w, *h, *d]),
        _ => Err("give WIDTH, WIDTHxHEIGHT or WIDTHxHEIGHTxDEPTH in texels, such as 1024x512".into()),
    }
}

/// Runs; the exit code of the program.
pub fn run(args: &Args, direction: Direction) -> u8 {
    match shape(args).and_then(|shape| transfer(args, &shape, direction)) {
        Ok(()) => exit::OK,
        Err(e) => {
            complain(e);
            exit::USAGE
        }
    }
}

fn shape(args: &Args) -> Result<Shape, String> {
    let mut shape = match &args.describe {
        Some(path) => Shape::read(path)?,
        None => Shape::default(),
    };
    fn put<T: Clone>(field: &mut T, given: &Option<T>) {
        if let Some(given) = given {
            field.clone_from(given);
        }
    }
    put(&mut shape.format, &args.format);
    if let Some([width, height, depth]) = args.size {
        (shape.width, shape.height, shape.depth) = (width, height, depth);
    }
    put(&mut shape.layers, &args.layers);
    put(&mut shape.levels, &args.levels);
    put(&mut shape.samples, &args.samples);
    put(&mut shape.stride, &args.stride);
    put(&mut shape.generation, &args.generation);
    for (field, given) in [
        (&mut shape.block_height, args.block_height),
        (&mut shape.block_depth, args.block_depth),
        (&mut shape.tile_width, args.tile_width),
    ] {
        *field = given.or(*field);
    }
    shape.target = args.target.clone().or(shape.target);
    if !args.flags.is_empty() {
        shape.flags.clone_from(&args.flags);
    }
    Ok(shape)
}

fn transfer(args: &Args, shape: &Shape, direction: Direction) -> Result<(), String> {
    let layout = shape.layout()?;
    if args.layout {
        println!("{}", super::info::layout_json(&layout));
        return Ok(());
    }
    let order = shape.order()?;
    let name = |what: &dyn std::fmt::Display| format!("{}: {what}", args.input.display());
    let bytes = files::read_bytes(&args.input)?;
    let out = match direction {
        Direction::Untile => {
            let rows = untile_all(&layout, order, &bytes).map_err(|e| name(&e))?;
            let more = (bytes.len() as u64).saturating_sub(layout.size);
            if more > 0 {
                complain(name(&format!("note: {more} bytes behind the texture's {} were left alone", layout.size)));
            }
            rows
        }
        Direction::Tile => {
            let rows: u64 = layout.levels.iter().map(|l| l.packed_bytes()).sum::<u64>() * u64::from(layout.layers);
            if bytes.len() as u64 != rows {
                return Err(name(&format!("{} bytes where the rows of this texture have {rows}", bytes.len())));
            }
            let mut out = vec![0; layout.size as usize];
            let mut from = 0;
            for layer in 0..u64::from(layout.layers) {
                for level in &layout.levels {
                    let at = (layout.layer_size * layer + level.offset) as usize;
                    let region = Region::whole(level);
                    let size = level.packed_bytes() as usize;
                    let rows = &bytes[from..from + size];
                    tile(&mut out[at..], level, order, region, rows, Pitch::packed(level, &region))
                        .map_err(|e| name(&e))?;
                    from += size;
                }
            }
            out
        }
    };
    files::write(&args.output, &out)
}
