//! `navin texture view`: all layers and levels of a texture as one picture to look at.
//!
//! A row a layer (or a slice of a 3D texture), a column a level; large levels are made smaller by picking texels.
//! Transparency shows a chequered ground. Signed formats are shown with 0 as middle grey.

use std::path::{Path, PathBuf};

use navin_texture::codec::decode_rgba32f;
use navin_texture::{Class, GobOrder, Texture};

use super::{batch, convert, files};
use crate::{complain, exit};

/// What `navin texture view` takes.
#[derive(clap::Args)]
pub struct Args {
    /// File, or folder with files, to look into; - is standard input
    pub input: PathBuf,

    /// PNG to write; of a folder, the folder for one of each file
    pub output: PathBuf,

    /// Which texture of a file with several: its name or its number, from 0 [default: all, one below the other]
    #[arg(long, value_name = "NAME")]
    pub texture: Option<String>,

    /// Only this layer, from 0
    #[arg(long, value_name = "N")]
    pub layer: Option<u32>,

    /// Only this slice of 3D textures, from 0
    #[arg(long, value_name = "N")]
    pub slice: Option<u32>,

    /// Console generation of the file: 1 or 2 [default: what a description says, else 1]
    #[arg(long, value_name = "1|2", value_parser = super::generation)]
    pub generation: Option<GobOrder>,

    /// Largest side of a cell in pixels
    #[arg(long, default_value_t = 256, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(8..=4096))]
    pub cell: u32,

    /// Show alpha as opaque
    #[arg(long)]
    pub opaque: bool,
}

const GAP: u32 = 4;
/// Largest side of the sheet.
const MOST: u32 = 16_384;

/// Runs; the exit code of the program.
pub fn run(args: &Args) -> u8 {
    let results = match sheets(args) {
        Ok(results) => results,
        Err(e) => vec![Err(e)],
    };
    let mut code = exit::OK;
    for e in results.into_iter().filter_map(Result::err) {
        complain(e);
        code = exit::USAGE;
    }
    code
}

/// A sheet of a file, or of each in a folder.
fn sheets(args: &Args) -> Result<Vec<Result<(), String>>, String> {
    if !args.input.is_dir() {
        if !files::is_stream(&args.output) && args.output.extension().is_none_or(|e| !e.eq_ignore_ascii_case("png")) {
            return Err(format!("{}: a sheet is a PNG: end it in .png", args.output.display()));
        }
        return Ok(vec![sheet(args, &args.input).and_then(|png| files::write(&args.output, &png))]);
    }
    files::check_folder(&args.output)?;
    let found = files::walk(&args.input)?;
    if found.is_empty() {
        return Err(format!("{}: no texture files in this folder", args.input.display()));
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(batch::each(found.len(), threads, false, |number| {
        let path = &found[number];
        // The whole name, so that hero.bntx and hero.dds are two sheets.
        let mut name = path.strip_prefix(&args.input).unwrap_or(path).as_os_str().to_owned();
        name.push(".png");
        files::write(&args.output.join(name), &sheet(args, path)?)
    }))
}

/// A surface made small: its place on the sheet and its pixels.
struct Cell {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
    pixels: Vec<[u8; 4]>,
}

/// Of `n` things all, or the one asked for.
fn chosen(asked: Option<u32>, n: u32) -> std::ops::Range<u32> {
    asked.map_or(0..n, |i| i.min(n)..n.min(i.saturating_add(1)))
}

/// The PNG of a file's textures.
fn sheet(args: &Args, input: &Path) -> Result<Vec<u8>, String> {
    let textures = files::read(input, args.generation)?.textures;
    let textures = convert::choose(input, textures, args.texture.as_deref())?;
    let mut cells = Vec::new();
    // Rows lie below each other; what would be lower than the sheet may be begins another column of rows.
    let (mut left, mut width, mut height, mut y) = (0, 0, GAP, GAP);
    for texture in &textures {
        let error = |e: navin_texture::container::TextureError| format!("{}: {e}", input.display());
        for layer in chosen(args.layer, texture.layers) {
            for slice in chosen(args.slice, texture.depth) {
                let (mut x, mut tallest, first) = (GAP, 0, cells.len());
                for level in 0..texture.levels {
                    let surface = texture.surface(layer, level).map_err(error)?;
                    if slice >= surface.level.slices {
                        continue;
                    }
                    let cell = cell(texture, layer, level, slice, args, (left + x, y)).map_err(error)?;
                    x += cell.width + GAP;
                    tallest = tallest.max(cell.height);
                    cells.push(cell);
                }
                if y + tallest + GAP > MOST {
                    let new_left = width;
                    for cell in &mut cells[first..] {
                        (cell.x, cell.y) = (cell.x - left + new_left, GAP);
                    }
                    (left, y) = (new_left, GAP);
                }
                width = width.max(left + x);
                y += tallest + GAP;
                height = height.max(y);
                if width > MOST || height > MOST {
                    return Err(format!(
                        "{}: the sheet would be more than {MOST} pixels a side; choose with --texture, --layer or \
                         --slice, or a smaller --cell",
                        input.display()
                    ));
                }
            }
        }
    }
    if cells.is_empty() {
        return Err(format!("{}: nothing to show: there is no such layer or slice", input.display()));
    }
    let mut pixels = [40u8, 42, 48, 255].repeat(width as usize * height as usize);
    for cell in &cells {
        for (row, line) in cell.pixels.chunks_exact(cell.width as usize).enumerate() {
            let at = ((cell.y as usize + row) * width as usize + cell.x as usize) * 4;
            pixels[at..at + line.len() * 4].copy_from_slice(line.as_flattened());
        }
    }
    let mut file = Vec::new();
    navin_texture::image::write_png(&mut file, width, height, &pixels).map_err(|e| e.to_string())?;
    Ok(file)
}

fn cell(
    texture: &Texture,
    layer: u32,
    level: u32,
    slice: u32,
    args: &Args,
    (x, y): (u32, u32),
) -> Result<Cell, navin_texture::container::TextureError> {
    let surface = texture.surface(layer, level)?;
    let l = surface.level;
    let (w, h) = if texture.format.is_compressed() { (l.width, l.height) } else { (l.columns, l.rows) };
    let pixels = if matches!(texture.format.class, Class::Snorm | Class::Sint) {
        signed(texture, &surface, slice, (w, h))?
    } else {
        texture.rgba8(layer, level, slice, true)?
    };
    let step = w.max(h).div_ceil(args.cell).max(1);
    let (width, height) = (w.div_ceil(step), h.div_ceil(step));
    let texels = pixels.as_chunks::<4>().0;
    let picked = (0..height).flat_map(|py| (0..width).map(move |px| (px, py))).map(|(px, py)| {
        let [r, g, b, a] = texels[((py * step) * w + px * step) as usize];
        if args.opaque || a == 255 {
            return [r, g, b, 255];
        }
        let ground = if (px / 8 + py / 8) % 2 == 0 { 96u32 } else { 144 };
        let over = |v: u8| ((u32::from(v) * u32::from(a) + ground * (255 - u32::from(a))) / 255) as u8;
        [over(r), over(g), over(b), 255]
    });
    Ok(Cell { x, y, width, height, pixels: picked.collect() })
}

/// Signed values with 0 as middle grey.
fn signed(
    texture: &Texture,
    surface: &navin_texture::container::Surface,
    slice: u32,
    (w, h): (u32, u32),
) -> Result<Vec<u8>, navin_texture::container::TextureError> {
    let l = &surface.level;
    let size = (l.row_bytes() * u64::from(l.rows)) as usize;
    let bytes = &texture.data[surface.range.clone()][slice as usize * size..][..size];
    let scale = if texture.format.class == Class::Snorm { 127.5 } else { 1.0 };
    let texels = decode_rgba32f(texture.format, bytes, w, h)?;
    let grey = |v: f32| (v * scale + 127.5) as u8;
    let colours = usize::from(texture.format.components.min(3));
    Ok(texels
        .into_iter()
        .flat_map(|t| {
            let mut pixel = [0, 0, 0, 255];
            pixel.iter_mut().zip(t).take(colours).for_each(|(p, v)| *p = grey(v));
            pixel
        })
        .collect())
}
