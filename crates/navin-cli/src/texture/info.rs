//! `navin texture info`: what is in files, as a table or as JSON.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use navin_texture::{GobOrder, Kind, Layout, Storage, Texture};
use serde_json::{Value, json};

use super::shape::Shape;
use super::{files, shape};
use crate::{complain, exit};

/// What `navin texture info` takes.
#[derive(clap::Args)]
#[command(after_help = "\
Columns: the texture's name, NVN format, kind, size of level 0 with layers, levels, height (x depth) of blocks in GOBs,
and the bytes that NVN takes for it. --levels adds each level: texels, offset and size in the block-linear layer.")]
pub struct Args {
    /// Files, or folders with files, to look into; - is standard input
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
    for given in &args.files {
        let found = match given.is_dir() {
            true => files::walk(given).and_then(|found| match found.is_empty() {
                true => Err(format!("{}: no texture files in this folder", given.display())),
                false => Ok(found),
            }),
            false => Ok(vec![given.clone()]),
        };
        for path in found.as_ref().unwrap_or(&Vec::new()) {
            match look(path) {
                Ok(seen) if args.json => all.push(file_json(path, &seen)),
                Ok(seen) => print!("{}", table(path, &seen, args.levels)),
                Err(e) => {
                    complain(&e);
                    all.push(json!({"file": path, "error": e}));
                    code = exit::USAGE;
                }
            }
        }
        if let Err(e) = found {
            complain(&e);
            all.push(json!({"file": given, "error": e}));
            code = exit::USAGE;
        }
    }
    if args.json {
        println!("{}", Value::Array(all));
    }
    code
}

/// What is in a file.
struct Seen {
    kind: &'static str,
    textures: Vec<Texture>,
    /// Raw data's own layout and flags: those of a description count.
    raw: Option<(Layout, Vec<String>)>,
}

impl Seen {
    fn layout(&self, texture: &Texture) -> Option<Layout> {
        self.raw.as_ref().map(|(layout, _)| layout.clone()).or_else(|| texture.check().ok())
    }
}

fn look(path: &Path) -> Result<Seen, String> {
    let bytes = files::read_bytes(path)?;
    let kind = Kind::detect(&bytes).filter(|_| !files::is_raw(path)).map_or("raw", Kind::extension);
    // The order of bytes changes nothing that is shown.
    let textures = files::read_from(path, &bytes, Some(GobOrder::TegraX1))?.textures;
    let raw = match files::is_raw(path) {
        true => {
            let shape = Shape::read_beside(path)?;
            Some((shape.layout()?, shape::flag_names(shape.input()?.flags)))
        }
        false => None,
    };
    Ok(Seen { kind, textures, raw })
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

fn table(path: &Path, seen: &Seen, levels: bool) -> String {
    let textures = &seen.textures;
    let count = if textures.len() == 1 { "1 texture".into() } else { format!("{} textures", textures.len()) };
    let flags = seen.raw.as_ref().map(|(_, flags)| flags.join(", ")).filter(|f| !f.is_empty());
    let flags = flags.map(|f| format!(", {f}")).unwrap_or_default();
    let mut out = format!("{}: {}, {count}{flags}\n", path.display(), seen.kind);
    let mut rows = Vec::new();
    for t in textures {
        let Some(layout) = seen.layout(t) else { continue };
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

fn file_json(path: &Path, seen: &Seen) -> Value {
    let flags = seen.raw.as_ref().map(|(_, flags)| flags.clone()).unwrap_or_default();
    let textures: Vec<Value> = seen
        .textures
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
                "flags": flags,
                "layout": seen.layout(t).as_ref().map(layout_json),
            })
        })
        .collect();
    json!({"file": path, "kind": seen.kind, "textures": textures})
}
