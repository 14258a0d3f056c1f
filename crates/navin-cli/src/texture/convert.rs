//! `navin texture convert`: one file or a folder, to another kind of file, format, level, layer or generation.

use std::path::{Path, PathBuf};

use navin_texture::container::{self, Curve, TextureError};
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
Output .bin is raw block-linear data with a description in .json beside it, and can be read again. - is standard input
or output (with --to).

--format between formats of numbers from 0 to 1 keeps the numbers as they are stored, sRGB or not: a picture stays the
picture it is and only its name changes (--format rgba8_srgb for a PNG, whose numbers are on that curve). --keep-colour
converts them instead, so that a shader reads the same values. Float formats always get the values that a shader reads.

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

    /// With --format: keep what a shader reads, not the stored numbers, where one of the formats is sRGB
    #[arg(long, requires = "format")]
    pub keep_colour: bool,

    /// Make levels: so many (--mips=3), or all without a number
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
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

    /// Console generation of block-linear input: 1 or 2 [default: what a description says, else 1]
    #[arg(long, value_name = "1|2", value_parser = super::generation)]
    pub generation: Option<GobOrder>,

    /// Console generation of block-linear output [default: the input's]
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
            // (Names may have dots: hero.alb.bntx.)
            args.output.join(format!("{}.{}", files::stem(&args.input), kind.extension()))
        } else {
            args.output.clone()
        };
        return Ok(vec![(args.input.clone(), convert(args, &args.input, &to, kind, into_folder))]);
    }
    files::check_folder(&args.output)?;
    let kind = args.to.ok_or("a folder of files needs --to: bntx, xtx, dds, ktx2, png, exr or bin")?;
    let found = files::walk(&args.input)?;
    if found.is_empty() {
        return Err(format!("{}: no texture files in this folder", args.input.display()));
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = args.threads.map_or(cores, |n| n as usize);
    let outputs = outputs(args, &found, kind);
    let results = batch::each(found.len(), threads, args.quiet || args.json, |number| {
        convert(args, &found[number], &outputs[number], kind, true)
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

/// Converts one file; what was written. Everything is made, and compared if asked, before anything is written.
fn convert(args: &Args, from: &Path, to: &Path, kind: OutKind, into_folder: bool) -> Result<Vec<Written>, String> {
    let files::Read { textures, order } = files::read(from, args.generation)?;
    let order = args.out_generation.unwrap_or(order);
    let textures = choose(from, textures, args.texture.as_deref())?;
    if textures.is_empty() {
        return Err(format!("{}: no textures in this file", from.display()));
    }
    let textures: Result<Vec<Texture>, String> = textures
        .iter()
        .map(|t| change(args, t, kind).map_err(|e| format!("{}: texture {:?}: {e}", from.display(), t.name)))
        .collect();
    let textures = textures?;
    if let (OutKind::File(kind), false) = (kind, args.quiet) {
        for loss in textures.iter().filter_map(|t| container::losses(kind, t)) {
            complain(format!("{}: note: {loss}", to.display()));
        }
    }
    let mut made = Vec::new();
    if textures.len() == 1 || kind.holds_several() {
        made = make(args, from, to, kind, &textures, order)?;
    } else if !into_folder {
        return Err(format!(
            "{}: {} textures ({}), and {} holds one: choose with --texture, or give a folder as output",
            from.display(),
            textures.len(),
            names(&textures),
            kind.extension()
        ));
    } else {
        let stem = files::stem(to);
        for (i, texture) in textures.iter().enumerate() {
            let mut name = format!("{stem}.{}", file_name(&texture.name));
            if textures[..i].iter().any(|t| file_name(&t.name) == file_name(&texture.name)) {
                name = format!("{name}.{i}");
            }
            let to = to.with_file_name(format!("{name}.{}", kind.extension()));
            made.extend(make(args, from, &to, kind, std::slice::from_ref(texture), order)?);
        }
    }
    files::write_all(&made)?;
    // (A description goes with its data.)
    let written = made.into_iter().filter(|(path, _)| kind != OutKind::Raw || files::is_raw(path));
    Ok(written.map(|(path, bytes)| Written { path, bytes: bytes.len() as u64 }).collect())
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
        let curve = if args.keep_colour { Curve::Convert } else { Curve::Keep };
        out = out.to_format_with(format, curve).map_err(words)?;
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

/// Makes the file in memory, with the description of raw data, and compares it if asked.
fn make(
    args: &Args,
    from: &Path,
    to: &Path,
    kind: OutKind,
    textures: &[Texture],
    order: GobOrder,
) -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
    let error = |what: &dyn std::fmt::Display| format!("{}: {}: {what}", from.display(), to.display());
    match kind {
        OutKind::File(kind) => {
            let name = files::stem(to);
            let bytes = container::write(kind, textures, &name, order).map_err(|e| error(&e))?;
            if args.verify {
                container::verify(kind, &bytes, textures, order).map_err(|e| error(&e))?;
            }
            Ok(vec![(to.to_owned(), bytes)])
        }
        OutKind::Raw => {
            let [texture] = textures else { return Err(error(&"raw data is one texture")) };
            if files::is_stream(to) {
                return Err(error(&"raw data has a description in a file beside it: give it a name"));
            }
            let description = Shape::path_beside(to);
            if description.exists() && Shape::read(&description).is_err() {
                return Err(error(&format!(
                    "the description would replace {}, which is something else",
                    description.display()
                )));
            }
            let shape = Shape::of(texture, order);
            let layout = texture.check().map_err(|e| error(&e))?;
            let bytes = texture.to_tiled(&layout, order).map_err(|e| error(&e))?;
            if args.verify && shape.untile(&bytes).map_err(|e| error(&e))?.data != texture.data {
                return Err(error(&"verification failed: other texels came back"));
            }
            let text = serde_json::to_string_pretty(&shape).map_err(|e| error(&e))? + "\n";
            Ok(vec![(to.to_owned(), bytes), (description, text.into_bytes())])
        }
    }
}
