//! `navin texture convert`: one file or a folder, to another kind of file, format, level, layer or generation.

use std::path::{Path, PathBuf};

use navin_texture::container::{self, TextureError};
use navin_texture::{FormatInfo, GobOrder, Kind, Target, Texture};
use serde_json::json;

use super::shape::Shape;
use super::{batch, files, shape};
use crate::{complain, exit};

/// What `navin texture convert` takes.
#[derive(clap::Args)]
#[command(after_help = "\
The kind of file is the output's extension, or --to. Blocks are kept as they are unless --format asks for others;
compressed formats can be read into every uncompressed one, but not made. PNG and EXR hold one picture: the first
layer, largest level and first slice, unless --layer, --level and --slice say others. A file with several textures
becomes several files where the kind holds one: OUT must be a folder then, or --texture chooses.
Output .bin is raw block-linear data with a description in .json beside it, and can be read again.

Examples:
  navin texture convert a.bntx a.dds
  navin texture convert a.bntx a.png --level 2 --layer 5
  navin texture convert a.png a.bntx --format rgba8_srgb --mips
  navin texture convert a.dds a.bntx --out-generation 2
  navin texture convert dump/ pictures/ --to png --verify --json

Exit codes:
  0 well    2 something on the command line or in a file will not do; nothing was written for it")]
pub struct Args {
    /// File, or folder with files, to read
    pub input: PathBuf,

    /// File, or folder, to write
    pub output: PathBuf,

    /// Kind of file to write: bntx, xtx, dds, ktx2, png, exr, bin [default: the output's extension]
    #[arg(long, value_name = "KIND", value_parser = out_kind)]
    pub to: Option<OutKind>,

    /// Convert the texels to this format
    #[arg(long, value_name = "NAME", value_parser = shape::format)]
    pub format: Option<&'static FormatInfo>,

    /// Make levels: so many, or all without a number
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "0")]
    pub mips: Option<u32>,

    /// Only this layer, from 0 (a cube's faces are layers)
    #[arg(long, value_name = "N")]
    pub layer: Option<u32>,

    /// Only this level, from 0
    #[arg(long, value_name = "N")]
    pub level: Option<u32>,

    /// Only this slice of a 3D texture, from 0
    #[arg(long, value_name = "N")]
    pub slice: Option<u32>,

    /// Only this texture of a file with several: its name or its number, from 0
    #[arg(long, value_name = "NAME")]
    pub texture: Option<String>,

    /// Console generation of block-linear input: 1 or 2
    #[arg(long, default_value = "1", value_name = "1|2", value_parser = super::generation)]
    pub generation: GobOrder,

    /// Console generation of block-linear output [default: --generation]
    #[arg(long, value_name = "1|2", value_parser = super::generation)]
    pub out_generation: Option<GobOrder>,

    /// Read what was made before it is put in place, and compare
    #[arg(long)]
    pub verify: bool,

    /// Threads for folders [default: as many as cores]
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,

    /// One JSON object about everything that was written
    #[arg(long)]
    pub json: bool,

    /// No progress bar and no notes
    #[arg(long, short)]
    pub quiet: bool,
}

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutKind {
    /// A file of a known kind.
    File(Kind),
    /// Raw block-linear data with a description.
    Raw,
}

impl OutKind {
    fn extension(self) -> &'static str {
        match self {
            Self::File(kind) => kind.extension(),
            Self::Raw => "bin",
        }
    }

    fn of(path: &Path) -> Option<Self> {
        files::kind_of(path).map(Self::File).or_else(|| files::is_raw(path).then_some(Self::Raw))
    }

    fn holds_several(self) -> bool {
        matches!(self, Self::File(Kind::Bntx | Kind::Xtx))
    }

    fn is_picture(self) -> bool {
        matches!(self, Self::File(kind) if kind.is_picture())
    }
}

fn out_kind(text: &str) -> Result<OutKind, String> {
    OutKind::of(Path::new(&format!("x.{text}"))).ok_or_else(|| "give bntx, xtx, dds, ktx2, png, exr or bin".into())
}

/// The texture that a name or number chooses; all without one.
pub fn choose(path: &Path, mut textures: Vec<Texture>, name: Option<&str>) -> Result<Vec<Texture>, String> {
    let Some(name) = name else { return Ok(textures) };
    let index = textures.iter().position(|t| t.name == name).or_else(|| name.parse().ok());
    match index.filter(|i| *i < textures.len()) {
        Some(index) => Ok(vec![textures.swap_remove(index)]),
        None => Err(format!("{}: no texture {name:?}; there are {}", path.display(), names(&textures))),
    }
}

/// The first few names, for messages.
fn names(textures: &[Texture]) -> String {
    let mut text: Vec<String> = textures.iter().take(6).map(|t| format!("{:?}", t.name)).collect();
    if textures.len() > 6 {
        text.push(format!("{} more", textures.len() - 6));
    }
    text.join(", ")
}

/// A file that was written.
struct Written {
    path: PathBuf,
    bytes: u64,
}

/// Runs; the exit code of the program.
pub fn run(args: &Args) -> u8 {
    let results = match convert_all(args) {
        Ok(results) => results,
        Err(e) => {
            complain(e);
            return exit::USAGE;
        }
    };
    let failed = results.iter().filter(|(_, result)| result.is_err()).count();
    for (_, result) in &results {
        if let Err(e) = result {
            complain(e);
        }
    }
    if args.json {
        let files: Vec<_> = results
            .iter()
            .map(|(from, result)| match result {
                Ok(written) => json!({
                    "file": from,
                    "written": written.iter().map(|w| json!({"file": w.path, "bytes": w.bytes})).collect::<Vec<_>>(),
                }),
                Err(e) => json!({"file": from, "error": e}),
            })
            .collect();
        println!("{}", json!({"files": files, "converted": results.len() - failed, "failed": failed}));
    } else if results.len() > 1 && !args.quiet {
        println!("{} files converted, {failed} failed", results.len() - failed);
    }
    if failed > 0 { exit::USAGE } else { exit::OK }
}

type Results = Vec<(PathBuf, Result<Vec<Written>, String>)>;

fn convert_all(args: &Args) -> Result<Results, String> {
    if !args.input.is_dir() {
        let kind = args.to.or_else(|| OutKind::of(&args.output)).ok_or_else(|| {
            format!(
                "{}: what kind of file is this to be? End it in .bntx, .xtx, .dds, .ktx2, .png, .exr or .bin, or give --to",
                args.output.display()
            )
        })?;
        let into_folder = args.output.is_dir() || args.output.as_os_str().to_string_lossy().ends_with('/');
        let to = if into_folder {
            args.output.join(args.input.file_stem().unwrap_or_default()).with_extension(kind.extension())
        } else {
            args.output.clone()
        };
        return Ok(vec![(args.input.clone(), convert(args, &args.input, &to, kind, into_folder))]);
    }
    let kind = args.to.ok_or("a folder of files needs --to: bntx, xtx, dds, ktx2, png, exr or bin")?;
    let found = files::walk(&args.input)?;
    if found.is_empty() {
        return Err(format!("{}: no texture files in this folder", args.input.display()));
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = args.threads.map_or(cores, |n| n as usize);
    let outputs = outputs(args, &found, kind);
    let results = batch::each(&found, threads, args.quiet || args.json, |path| {
        let to = found.iter().position(|f| f == path).and_then(|i| outputs.get(i)).ok_or("no output")?;
        convert(args, path, to, kind, true)
    });
    Ok(found.into_iter().zip(results).collect())
}

/// Where each file of a folder goes: the same place under the output. Files that differ in their extension alone
/// keep it in the name.
fn outputs(args: &Args, found: &[PathBuf], kind: OutKind) -> Vec<PathBuf> {
    let plain: Vec<PathBuf> = found
        .iter()
        .map(|path| {
            let inside = path.strip_prefix(&args.input).unwrap_or(path);
            args.output.join(inside.with_extension(kind.extension()))
        })
        .collect();
    let mut counts = std::collections::HashMap::new();
    plain.iter().for_each(|path| *counts.entry(path.clone()).or_insert(0u32) += 1);
    found
        .iter()
        .zip(plain)
        .map(|(from, to)| {
            if counts.get(&to).is_none_or(|n| *n < 2) {
                return to;
            }
            let inside = from.strip_prefix(&args.input).unwrap_or(from);
            let mut name = inside.as_os_str().to_owned();
            name.push(".");
            name.push(kind.extension());
            args.output.join(name)
        })
        .collect()
}

/// Converts one file; what was written.
fn convert(args: &Args, from: &Path, to: &Path, kind: OutKind, into_folder: bool) -> Result<Vec<Written>, String> {
    let textures = choose(from, files::read(from, args.generation)?, args.texture.as_deref())?;
    if textures.is_empty() {
        return Err(format!("{}: no textures in this file", from.display()));
    }
    let textures: Result<Vec<Texture>, String> = textures
        .iter()
        .map(|t| change(args, t, kind).map_err(|e| format!("{}: texture {:?}: {e}", from.display(), t.name)))
        .collect();
    let textures = textures?;
    if textures.len() == 1 || kind.holds_several() {
        return write(args, from, to, kind, &textures);
    }
    if !into_folder {
        return Err(format!(
            "{}: {} textures ({}), and {} holds one: choose with --texture, or give a folder as output",
            from.display(),
            textures.len(),
            names(&textures),
            kind.extension()
        ));
    }
    let mut written = Vec::new();
    for (i, texture) in textures.iter().enumerate() {
        let stem = to.file_stem().unwrap_or_default().to_string_lossy();
        let mut name = format!("{stem}.{}", file_name(&texture.name));
        if textures[..i].iter().any(|t| file_name(&t.name) == file_name(&texture.name)) {
            name = format!("{name}.{i}");
        }
        let to = to.with_file_name(format!("{name}.{}", kind.extension()));
        written.extend(write(args, from, &to, kind, std::slice::from_ref(texture))?);
    }
    Ok(written)
}

/// A texture's name as part of a file's: whatever could lead elsewhere becomes an underscore.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.+ ".contains(c) { c } else { '_' };
    name.chars().take(120).map(plain).collect()
}

/// What the options ask for, in the order: part, format, levels.
fn change(args: &Args, texture: &Texture, kind: OutKind) -> Result<Texture, String> {
    let picture = kind.is_picture();
    let one = |asked: Option<u32>| asked.or(picture.then_some(0));
    let mut out = texture.clone();
    if one(args.layer).is_some() || one(args.level).is_some() {
        out = out.part(one(args.layer), one(args.level)).map_err(words)?;
    }
    if let Some(slice) = args.slice.or((picture && out.target == Target::D3).then_some(0)) {
        out = out.only_slice(slice).map_err(words)?;
    }
    if let Some(format) = args.format {
        out = out.to_format(format).map_err(words)?;
    }
    if let Some(levels) = args.mips {
        out = out.with_mips((levels > 0).then_some(levels)).map_err(words)?;
    }
    Ok(out)
}

fn words(e: TextureError) -> String {
    match e {
        TextureError::Codec(e) => format!("{e} (--format names an uncompressed one, such as RGBA8)"),
        e => e.to_string(),
    }
}

/// Makes the file in memory, compares it if asked, and puts it in place.
fn write(args: &Args, from: &Path, to: &Path, kind: OutKind, textures: &[Texture]) -> Result<Vec<Written>, String> {
    let error = |what: &dyn std::fmt::Display| format!("{}: {}: {what}", from.display(), to.display());
    let order = args.out_generation.unwrap_or(args.generation);
    let bytes = match kind {
        OutKind::File(kind) => {
            let name = to.file_stem().unwrap_or_default().to_string_lossy();
            let bytes = container::write(kind, textures, &name, order).map_err(|e| error(&e))?;
            if args.verify {
                verify(kind, &bytes, textures, order).map_err(|e| error(&e))?;
            }
            bytes
        }
        OutKind::Raw => {
            let [texture] = textures else { return Err(error(&"raw data is one texture")) };
            let shape = Shape::of(texture, order);
            let layout = texture.check().map_err(|e| error(&e))?;
            let bytes = texture.to_tiled(&layout, order).map_err(|e| error(&e))?;
            if args.verify && shape.untile(&bytes).map_err(|e| error(&e))?.data != texture.data {
                return Err(error(&"verification failed: other texels came back"));
            }
            let text = serde_json::to_string_pretty(&shape).map_err(|e| error(&e))? + "\n";
            files::write(&Shape::path_beside(to), text.as_bytes())?;
            bytes
        }
    };
    files::write(to, &bytes)?;
    Ok(vec![Written { path: to.to_owned(), bytes: bytes.len() as u64 }])
}

/// Reads a file that was just made and compares.
fn verify(kind: Kind, bytes: &[u8], textures: &[Texture], order: GobOrder) -> Result<(), String> {
    let back = container::read(bytes, order).map_err(|e| format!("verification failed: {e}"))?;
    if back.len() != textures.len() {
        return Err(format!("verification failed: {} textures came back of {}", back.len(), textures.len()));
    }
    for (back, texture) in back.iter().zip(textures) {
        // Pictures hold colours, not the format's bytes.
        let same = match kind {
            Kind::Png => texture.rgba8(0, 0, 0, true).is_ok_and(|pixels| pixels == back.data),
            Kind::Exr => (back.width, back.height) == (texture.width, texture.height),
            _ => back.data == texture.data && back.levels == texture.levels && back.layers == texture.layers,
        };
        if !same {
            return Err(format!("verification failed: texture {:?} came back with other texels", texture.name));
        }
    }
    Ok(())
}
