//! The corpus's `index.tsv`: one program a line, columns as its README describes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use navin_shader::{GeometryInput, Stage, TessellationDomain, TessellationMode, TessellationSpacing, ViewKind};

use crate::compare::Rule;
use crate::fill::Fill;

/// How to run a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// One dispatch of so many workgroups.
    Dispatch([u32; 3]),
    /// A triangle over the whole target.
    Quad,
    /// Vertices of a primitive.
    Draw {
        /// Primitive.
        primitive: Primitive,
        /// Vertices.
        vertices: u32,
        /// Instances.
        instances: u32,
    },
    /// Only there for others.
    Companion,
}

/// Primitive of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    /// Points.
    Points,
    /// Lines.
    Lines,
    /// Triangles.
    Triangles,
    /// Lines with adjacency.
    LinesAdjacency,
    /// Triangles with adjacency.
    TrianglesAdjacency,
    /// Patches of so many vertices.
    Patches(u32),
}

/// A uniform block or storage buffer, or an array of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// First binding, the NVN id.
    pub binding: u32,
    /// Elements: of an array, else 1.
    pub count: u32,
    /// Bytes named in the index.
    pub size: u32,
}

/// Type of a texture's texels as the source declares them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampled {
    /// `sampler`, `image`.
    Float,
    /// `isampler`, `iimage`.
    Sint,
    /// `usampler`, `uimage`.
    Uint,
}

/// A texture with sampler, or an array of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texture {
    /// First binding, the NVN id.
    pub binding: u32,
    /// Elements: of an array, else 1.
    pub count: u32,
    /// Shape.
    pub kind: ViewKind,
    /// Texel type.
    pub sampled: Sampled,
    /// Compares.
    pub shadow: bool,
}

/// A storage image, or an array of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// First binding, the NVN id.
    pub binding: u32,
    /// Elements: of an array, else 1.
    pub count: u32,
    /// Shape.
    pub kind: ViewKind,
    /// Texel type.
    pub sampled: Sampled,
    /// Format of the declaration, as GLSL spells it; none where it has none.
    pub format: Option<String>,
}

/// An input or output of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Location.
    pub location: u32,
    /// GLSL type, without array brackets.
    pub ty: String,
    /// Array elements, 1 without brackets.
    pub count: u32,
}

/// One line of the index.
#[derive(Clone, Debug)]
pub struct Program {
    /// Name.
    pub name: String,
    /// Stage.
    pub stage: Stage,
    /// Uniform blocks.
    pub uniforms: Vec<Buffer>,
    /// Storage buffers.
    pub storage: Vec<Buffer>,
    /// Textures.
    pub textures: Vec<Texture>,
    /// Images.
    pub images: Vec<Image>,
    /// Inputs with locations, built-ins left out.
    pub inputs: Vec<Variable>,
    /// Outputs with locations.
    pub outputs: Vec<Variable>,
    /// Notes.
    pub notes: String,
    /// How to run it.
    pub run: Run,
    /// Companions.
    pub with: Vec<String>,
    /// Buffer contents.
    pub fill: Fill,
    /// How results agree.
    pub compare: Rule,
    /// `ok`, `caution` or `optional`.
    pub status: String,
    /// SPIR-V capabilities beyond Shader.
    pub capabilities: Vec<String>,
}

/// The whole corpus.
#[derive(Debug)]
pub struct Corpus {
    root: PathBuf,
    /// Programs by name.
    pub programs: BTreeMap<String, Program>,
}

impl Corpus {
    /// The copy in this repository.
    pub fn default_root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus")
    }

    /// Reads `index.tsv` in `root`.
    ///
    /// # Errors
    /// If it is missing or has a line that the README does not describe.
    pub fn open(root: &Path) -> Result<Self> {
        let path = root.join("index.tsv");
        let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().context("an empty index")?.split('\t').collect();
        let mut programs = BTreeMap::new();
        for line in lines.filter(|l| !l.is_empty()) {
            let program = Program::parse(&header, line).with_context(|| format!("index line {line:.40}"))?;
            programs.insert(program.name.clone(), program);
        }
        Ok(Self { root: root.to_path_buf(), programs })
    }

    /// The program called `name`.
    ///
    /// # Errors
    /// If there is none.
    pub fn get(&self, name: &str) -> Result<&Program> {
        self.programs.get(name).with_context(|| format!("no program {name} in the corpus"))
    }

    /// The reference SPIR-V of `name`.
    ///
    /// # Errors
    /// If the file is missing or no whole number of words.
    pub fn reference(&self, name: &str) -> Result<Vec<u32>> {
        let bytes = self.file(name, "spv")?;
        ensure!(bytes.len() % 4 == 0, "{name}.spv has {} bytes", bytes.len());
        Ok(bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect())
    }

    /// The control section and GPU program of `name`.
    ///
    /// # Errors
    /// If a file is missing.
    pub fn guest(&self, name: &str) -> Result<(Vec<u8>, Vec<u8>)> {
        Ok((self.file(name, "control")?, self.file(name, "code")?))
    }

    fn file(&self, name: &str, extension: &str) -> Result<Vec<u8>> {
        let path = self.root.join(format!("bin/{name}.{extension}"));
        std::fs::read(&path).with_context(|| format!("reading {}", path.display()))
    }
}

impl Program {
    fn parse(header: &[&str], line: &str) -> Result<Self> {
        let cells: Vec<&str> = line.split('\t').collect();
        let cell = |name: &str| {
            let at = header.iter().position(|h| *h == name).with_context(|| format!("no column {name}"))?;
            Ok::<&str, anyhow::Error>(cells.get(at).copied().unwrap_or(""))
        };
        let stage = match cell("stage")? {
            "vert" => Stage::Vertex,
            "tesc" => Stage::TessControl,
            "tese" => Stage::TessEvaluation,
            "geom" => Stage::Geometry,
            "frag" => Stage::Fragment,
            "comp" => Stage::Compute,
            other => bail!("stage {other}"),
        };
        Ok(Self {
            name: cell("name")?.to_string(),
            stage,
            uniforms: parse_resources(cell("uniforms")?)?.iter().map(Resource::buffer).collect::<Result<_>>()?,
            storage: parse_resources(cell("storage")?)?.iter().map(Resource::buffer).collect::<Result<_>>()?,
            textures: parse_resources(cell("textures")?)?.iter().map(Resource::texture).collect::<Result<_>>()?,
            images: parse_resources(cell("images")?)?.iter().map(Resource::image).collect::<Result<_>>()?,
            inputs: parse_variables(cell("inputs")?)?,
            outputs: parse_variables(cell("outputs")?)?,
            notes: cell("notes")?.to_string(),
            run: parse_run(cell("run")?)?,
            with: cell("with")?.split([',', ' ']).filter(|w| !w.is_empty()).map(str::to_string).collect(),
            fill: Fill::parse(cell("fill")?).context("fill column")?,
            compare: Rule::parse(cell("compare")?).context("compare column")?,
            status: cell("status")?.to_string(),
            capabilities: cell("capabilities")?.split_whitespace().map(str::to_string).collect(),
        })
    }

    /// The notes' word after `key: ` up to the next semicolon.
    fn note(&self, key: &str) -> Option<&str> {
        self.notes.split(';').find_map(|n| n.trim().strip_prefix(key))
    }

    /// Tessellation evaluation: the input layout of the notes.
    pub fn tessellation(&self) -> Option<TessellationMode> {
        let words: Vec<&str> = self.note("in: ")?.split_whitespace().collect();
        let domain = match *words.first()? {
            "triangles" => TessellationDomain::Triangles,
            "quads" => TessellationDomain::Quads,
            "isolines" => TessellationDomain::Isolines,
            _ => return None,
        };
        let spacing = if words.contains(&"fractional_even_spacing") {
            TessellationSpacing::FractionalEven
        } else if words.contains(&"fractional_odd_spacing") {
            TessellationSpacing::FractionalOdd
        } else {
            TessellationSpacing::Equal
        };
        Some(TessellationMode {
            domain,
            spacing,
            clockwise: words.contains(&"cw"),
            point_mode: words.contains(&"point_mode"),
        })
    }

    /// Geometry: the input primitive of the notes.
    pub fn geometry_input(&self) -> Option<GeometryInput> {
        Some(match self.note("in: ")?.split_whitespace().next()? {
            "points" => GeometryInput::Points,
            "lines" => GeometryInput::Lines,
            "lines_adjacency" => GeometryInput::LinesAdjacency,
            "triangles" => GeometryInput::Triangles,
            "triangles_adjacency" => GeometryInput::TrianglesAdjacency,
            _ => return None,
        })
    }
}

/// `binding:name[count](detail)`.
struct Resource<'a> {
    binding: u32,
    name: &'a str,
    count: u32,
    detail: Option<&'a str>,
}

fn parse_resources(column: &str) -> Result<Vec<Resource<'_>>> {
    let mut rest = column.trim();
    let mut resources = Vec::new();
    while !rest.is_empty() {
        let (binding, after) = rest.split_once(':').context("a resource without binding")?;
        let end = after.find([' ', '(']).unwrap_or(after.len());
        let (name, mut after) = after.split_at(end);
        let mut detail = None;
        if let Some(inside) = after.strip_prefix('(') {
            let (text, tail) = inside.split_once(')').context("an open parenthesis")?;
            detail = Some(text);
            after = tail;
        }
        let (name, count) = split_array(name)?;
        resources.push(Resource { binding: binding.trim().parse()?, name, count, detail });
        rest = after.trim();
    }
    Ok(resources)
}

fn split_array(name: &str) -> Result<(&str, u32)> {
    match name.split_once('[') {
        Some((name, count)) => Ok((name, count.strip_suffix(']').context("an open bracket")?.parse()?)),
        None => Ok((name, 1)),
    }
}

impl Resource<'_> {
    fn buffer(&self) -> Result<Buffer> {
        let detail = self.detail.context("a buffer without size")?;
        let size = detail.split_whitespace().next().context("a buffer without size")?.parse()?;
        Ok(Buffer { binding: self.binding, count: self.count, size })
    }

    fn texture(&self) -> Result<Texture> {
        let (sampled, name) = sampled(self.name);
        let shape = name.strip_prefix("sampler").with_context(|| format!("texture type {}", self.name))?;
        let shadow = shape.ends_with("Shadow");
        let kind = view_kind(shape.strip_suffix("Shadow").unwrap_or(shape))?;
        Ok(Texture { binding: self.binding, count: self.count, kind, sampled, shadow })
    }

    fn image(&self) -> Result<Image> {
        let (sampled, name) = sampled(self.name);
        let shape = name.strip_prefix("image").with_context(|| format!("image type {}", self.name))?;
        let format = self.detail.filter(|d| *d != "no format").map(str::to_string);
        Ok(Image { binding: self.binding, count: self.count, kind: view_kind(shape)?, sampled, format })
    }
}

fn sampled(name: &str) -> (Sampled, &str) {
    for (prefix, kind) in
        [("isampler", Sampled::Sint), ("usampler", Sampled::Uint), ("iimage", Sampled::Sint), ("uimage", Sampled::Uint)]
    {
        if name.starts_with(prefix) {
            return (kind, &name[1..]);
        }
    }
    (Sampled::Float, name)
}

fn view_kind(shape: &str) -> Result<ViewKind> {
    Ok(match shape {
        "1D" => ViewKind::D1,
        "1DArray" => ViewKind::D1Array,
        "2D" => ViewKind::D2,
        "2DArray" => ViewKind::D2Array,
        "3D" => ViewKind::D3,
        "Cube" => ViewKind::Cube,
        "CubeArray" => ViewKind::CubeArray,
        "2DMS" => ViewKind::D2Multisampled,
        "2DMSArray" => ViewKind::D2MultisampledArray,
        "Buffer" => ViewKind::Buffer,
        other => bail!("shape {other}"),
    })
}

fn parse_variables(column: &str) -> Result<Vec<Variable>> {
    let mut variables = Vec::new();
    for word in column.split_whitespace() {
        let (place, ty) = word.split_once(':').context("a variable without location")?;
        if place == "gl" {
            continue;
        }
        let location = place.split('.').next().unwrap_or(place).parse()?;
        let (ty, count) = split_array(ty)?;
        variables.push(Variable { location, ty: ty.to_string(), count });
    }
    Ok(variables)
}

fn parse_run(column: &str) -> Result<Run> {
    let words: Vec<&str> = column.split_whitespace().collect();
    let number = |at: usize| -> Result<u32> { Ok(words.get(at).context("a number is missing")?.parse()?) };
    let draw = |primitive, at| -> Result<Run> {
        let instances = match words.iter().position(|w| *w == "instances") {
            Some(i) => number(i + 1)?,
            None => 1,
        };
        Ok(Run::Draw { primitive, vertices: number(at)?, instances })
    };
    match words.first().copied() {
        Some("dispatch") => Ok(Run::Dispatch([number(1)?, number(2)?, number(3)?])),
        Some("quad") => Ok(Run::Quad),
        Some("companion") => Ok(Run::Companion),
        Some("points") => draw(Primitive::Points, 1),
        Some("lines") => draw(Primitive::Lines, 1),
        Some("triangles") => draw(Primitive::Triangles, 1),
        Some("lines-adjacency") => draw(Primitive::LinesAdjacency, 1),
        Some("triangles-adjacency") => draw(Primitive::TrianglesAdjacency, 1),
        Some("patches") => draw(Primitive::Patches(number(1)?), 2),
        other => bail!("run {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_understood() {
        let corpus = Corpus::open(&Corpus::default_root()).unwrap();
        assert_eq!(corpus.programs.len(), 368);
        for program in corpus.programs.values() {
            for companion in &program.with {
                let companion = corpus.get(companion).unwrap();
                let none = companion.uniforms.len() + companion.storage.len() + companion.textures.len();
                assert_eq!(none, 0, "{} has resources: sets would clash", companion.name);
            }
            match program.stage {
                Stage::TessEvaluation => assert!(program.tessellation().is_some(), "{}", program.name),
                Stage::Geometry => assert!(program.geometry_input().is_some(), "{}", program.name),
                _ => {}
            }
        }
        let ui = corpus.get("big_atlas_ui").unwrap();
        assert_eq!(ui.uniforms, [Buffer { binding: 0, count: 1, size: 528 }]);
        assert_eq!(ui.textures.len(), 2);
        assert_eq!(ui.run, Run::Quad);
    }

    #[test]
    fn arrays_and_details() {
        let r = parse_resources("2:uimage2D[3](r32ui) 3:image2D(no format)").unwrap();
        let image = r[0].image().unwrap();
        assert_eq!((image.count, image.kind, image.sampled), (3, ViewKind::D2, Sampled::Uint));
        assert_eq!(image.format.as_deref(), Some("r32ui"));
        assert_eq!(r[1].image().unwrap().format, None);
        assert_eq!(
            parse_run("points 64 instances 2").unwrap(),
            Run::Draw { primitive: Primitive::Points, vertices: 64, instances: 2 }
        );
    }
}
