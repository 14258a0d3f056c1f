//! `navin texture info`: what is in files, as a table or as JSON.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use navin_texture::{GobOrder, Kind, Layout, Storage, Texture};
use serde_json::{Value, json};

use super::{files, shape};
use crate::{complain, exit};

/// What `navin texture info` takes.
#[derive(clap::Args)]
#[command(after_help = "\
Columns: the texture's name, NVN format, kind, size of level 0 with layers, levels, height (x depth) of blocks in GOBs,
and the bytes that NVN takes for it. --levels adds each level: texels, offset and size in the block-linear layer.")]
pub struct Args {
    /// Files to look into
    #[arg(required = true)]
    pub files: Vec<PathBuf>,

    /// One JSON array with everything
    #[arg(long)]
    pub json: bool,

    /// Each level, too
    #[arg(long)]
    pub levels: bool,
}

/// Runs; the exit code of the program.
pub fn run(args: &Args) -> u8 {
    let mut code = exit::OK;
    let mut all = Vec::new();
    for path in &args.files {
        // The order of bytes changes nothing that is shown.
        match files::read(path, GobOrder::TegraX1) {
            Ok(textures) if args.json => all.push(file_json(path, &textures)),
            Ok(textures) => print!("{}", table(path, &textures, args.levels)),
            Err(e) => {
                complain(&e);
                all.push(json!({"file": path, "error": e}));
                code = exit::USAGE;
            }
        }
    }
    if args.json {
        println!("{}", Value::Array(all));
    }
    code
}

fn kind(path: &Path) -> &'static str {
    let mut start = [0; 16];
    let read = std::fs::File::open(path).and_then(|mut file| std::io::Read::read(&mut file, &mut start));
    Kind::detect(&start[..read.unwrap_or(0)]).map_or("raw", Kind::extension)
}

/// Blocks of level 0 as `16` or `1x8`.
fn blocks(layout: &Layout) -> String {
    match layout.levels.first().map(|l| l.storage) {
        Some(Storage::BlockLinear { block_height_log2, block_depth_log2: 0, .. }) => {
            (1 << block_height_log2).to_string()
        }
        Some(Storage::BlockLinear { block_height_log2, block_depth_log2, .. }) => {
            format!("{}x{}", 1 << block_height_log2, 1 << block_depth_log2)
        }
        _ => "-".into(),
    }
}

fn extent(t: &Texture) -> String {
    let mut text = format!("{}x{}", t.width, t.height);
    if t.depth > 1 {
        let _ = write!(text, "x{}", t.depth);
    }
    if t.layers > 1 {
        let _ = write!(text, " [{}]", t.layers);
    }
    if t.samples > 1 {
        let _ = write!(text, " {} samples", t.samples);
    }
    text
}

fn table(path: &Path, textures: &[Texture], levels: bool) -> String {
    let count = if textures.len() == 1 { "1 texture".into() } else { format!("{} textures", textures.len()) };
    let mut out = format!("{}: {}, {count}\n", path.display(), kind(path));
    let mut rows = Vec::new();
    for t in textures {
        let Ok(layout) = t.check() else { continue };
        rows.push((
            [
                t.name.clone(),
                t.format.short_name().into(),
                shape::target_name(t.target).into(),
                extent(t),
                t.levels.to_string(),
                blocks(&layout),
                layout.size.to_string(),
            ],
            layout,
        ));
    }
    let head = ["name", "format", "kind", "size", "levels", "blocks", "bytes"].map(String::from);
    let mut widths = head.clone().map(|h| h.len());
    for (row, _) in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String; 7]| {
        let mut text = String::from(" ");
        for (i, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let _ = if i >= 4 { write!(text, " {cell:>width$}") } else { write!(text, " {cell:<width$}") };
        }
        format!("{}\n", text.trim_end())
    };
    out += &line(&head);
    for (row, layout) in &rows {
        out += &line(row);
        if levels {
            for (i, l) in layout.levels.iter().enumerate() {
                let depth = if l.depth > 1 { format!("x{}", l.depth) } else { String::new() };
                let _ = writeln!(
                    out,
                    "    level {i:<2} {:>11}  offset {:#9x}  size {:#9x}",
                    format!("{}x{}{depth}", l.width, l.height),
                    l.offset,
                    l.size
                );
            }
            if layout.layers > 1 {
                let _ = writeln!(out, "    {} layers, {:#x} bytes each", layout.layers, layout.layer_size);
            }
        }
    }
    out
}

/// A layout with all its levels.
pub fn layout_json(layout: &Layout) -> Value {
    let levels: Vec<Value> = layout
        .levels
        .iter()
        .map(|l| {
            let mut level = json!({
                "width": l.width, "height": l.height, "depth": l.depth,
                "offset": l.offset, "size": l.size, "packed_bytes": l.packed_bytes(),
            });
            match l.storage {
                Storage::BlockLinear { block_height_log2, block_depth_log2, gob_columns } => {
                    level["block_height"] = json!(1 << block_height_log2);
                    level["block_depth"] = json!(1 << block_depth_log2);
                    level["gob_columns"] = json!(gob_columns);
                }
                Storage::Linear { row_stride } => level["row_stride"] = json!(row_stride),
            }
            if layout.sparse.is_some() {
                level["tiled"] = json!(l.tiled);
            }
            level
        })
        .collect();
    let mut out = json!({
        "size": layout.size, "alignment": layout.alignment, "layers": layout.layers,
        "layer_size": layout.layer_size, "levels": levels,
    });
    if let Some(tile) = layout.sparse {
        out["sparse_tile"] = json!({
            "width": tile.width, "height": tile.height, "depth": tile.depth, "tiled_levels": tile.tiled_levels,
        });
    }
    out
}

fn file_json(path: &Path, textures: &[Texture]) -> Value {
    let textures: Vec<Value> = textures
        .iter()
        .map(|t| {
            json!({
                "name": t.name,
                "format": t.format.short_name(),
                "nvn_format": t.format.format.nvn(),
                "target": shape::target_name(t.target),
                "width": t.width, "height": t.height, "depth": t.depth,
                "layers": t.layers, "levels": t.levels, "samples": t.samples,
                "swizzle": t.swizzle.iter().map(|s| s.letter()).collect::<String>(),
                "layout": t.check().ok().as_ref().map(layout_json),
            })
        })
        .collect();
    json!({"file": path, "kind": kind(path), "textures": textures})
}
