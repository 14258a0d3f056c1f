//! The test corpus: programs, and the options that their sources' layouts ask for.
#![allow(dead_code)]

use std::path::PathBuf;

use navin_shader::{
    AttributeType, ConstantLayout, DeviceFeatures, GeometryInput, Options, SampledType, TessellationDomain,
    TessellationMode, TessellationSpacing, ViewKind,
};

/// Folder of the corpus.
pub fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus")
}

/// One line of the corpus index with its files.
pub struct Program {
    pub name: String,
    pub stage: String,
    pub control: Vec<u8>,
    pub code: Vec<u8>,
    pub options: Options,
    columns: Vec<String>,
}

/// All programs of the corpus, in the order of its index.
pub fn programs() -> Vec<Program> {
    let folder = corpus();
    let index = std::fs::read_to_string(folder.join("index.tsv")).expect("tests/corpus/index.tsv");
    let mut lines = index.lines();
    let header: Vec<&str> = lines.next().expect("a header line").split('\t').collect();
    let column = |name: &str| header.iter().position(|h| *h == name).expect("a column of the index");
    let wanted = ["name", "stage", "textures", "images", "inputs", "outputs", "notes", "features"].map(column);
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            let [name, stage, textures, images, inputs, outputs, notes, features] = wanted.map(|c| cells[c]);
            let read = |ext: &str| std::fs::read(folder.join("bin").join(format!("{name}.{ext}"))).expect("a file");
            let mut options = Options::new(ConstantLayout::Corpus);
            options.features = DeviceFeatures::all() - DeviceFeatures::FLUSH_DENORMS - DeviceFeatures::PRESERVE_DENORMS;
            let table = options.layout;
            for (n, kind) in bindings(textures) {
                options.texture_kinds.push((table.texture_word(n), view_kind(kind)));
            }
            for (n, kind) in bindings(images) {
                let float = kind.starts_with("image");
                options.texture_kinds.push((table.image_word(n), view_kind(kind)));
                let sampled = if float { SampledType::Float } else { SampledType::Uint };
                options.image_types.push((table.image_word(n), sampled));
            }
            if stage == "vert" {
                for (n, t) in locations(inputs) {
                    options.attribute_types[n.min(31) as usize] = attribute_type(t);
                }
            }
            if stage == "frag" {
                for (n, t) in locations(outputs) {
                    options.colour_types[n.min(7) as usize] = attribute_type(t);
                }
                options.dual_source = features.contains("dual-source");
            }
            if stage == "tese" {
                options.tessellation = Some(tessellation(notes));
            }
            if stage == "geom" {
                let input = notes.split("in: ").nth(1).unwrap_or("triangles");
                let word = input.split([';', ' ']).next().unwrap_or("triangles");
                options.geometry_input = Some(match word {
                    "points" => GeometryInput::Points,
                    "lines" => GeometryInput::Lines,
                    "lines_adjacency" => GeometryInput::LinesAdjacency,
                    "triangles_adjacency" => GeometryInput::TrianglesAdjacency,
                    _ => GeometryInput::Triangles,
                });
            }
            Program {
                name: name.to_owned(),
                stage: stage.to_owned(),
                control: read("control"),
                code: read("code"),
                options,
                columns: cells.iter().map(|c| (*c).to_owned()).collect(),
            }
        })
        .collect()
}

/// `binding:type` cells, arrays spread.
fn bindings(cell: &str) -> Vec<(u32, &str)> {
    let mut out = Vec::new();
    for item in cell.split_whitespace().filter(|i| i.contains(':')) {
        let (n, t) = item.split_once(':').expect("binding:type");
        let Ok(n) = n.parse::<u32>() else { continue };
        let count = t.split_once('[').and_then(|(_, c)| c.split(']').next()?.parse::<u32>().ok()).unwrap_or(1);
        let base = t.split(['[', '(']).next().unwrap_or(t);
        out.extend((0..count).map(|k| (n + k, base)));
    }
    out
}

fn locations(cell: &str) -> Vec<(u32, &str)> {
    cell.split_whitespace()
        .filter_map(|item| {
            let (n, t) = item.split_once(':')?;
            Some((n.split('.').next()?.parse().ok()?, t))
        })
        .collect()
}

fn attribute_type(t: &str) -> AttributeType {
    match t {
        _ if t.starts_with("ivec") || t.starts_with("int") => AttributeType::Sint,
        _ if t.starts_with("uvec") || t.starts_with("uint") => AttributeType::Uint,
        _ => AttributeType::Float,
    }
}

fn view_kind(t: &str) -> ViewKind {
    let t = t.trim_start_matches(['i', 'u']);
    let t = t.trim_start_matches("sampler").trim_start_matches("mage").trim_start_matches("image");
    match t.trim_end_matches("Shadow") {
        "1D" => ViewKind::D1,
        "1DArray" => ViewKind::D1Array,
        "2DArray" => ViewKind::D2Array,
        "3D" => ViewKind::D3,
        "Cube" => ViewKind::Cube,
        "CubeArray" => ViewKind::CubeArray,
        "2DMS" => ViewKind::D2Multisampled,
        "2DMSArray" => ViewKind::D2MultisampledArray,
        "Buffer" => ViewKind::Buffer,
        _ => ViewKind::D2,
    }
}

fn tessellation(notes: &str) -> TessellationMode {
    TessellationMode {
        domain: if notes.contains("quads") {
            TessellationDomain::Quads
        } else if notes.contains("isolines") {
            TessellationDomain::Isolines
        } else {
            TessellationDomain::Triangles
        },
        spacing: if notes.contains("fractional_even") {
            TessellationSpacing::FractionalEven
        } else if notes.contains("fractional_odd") {
            TessellationSpacing::FractionalOdd
        } else {
            TessellationSpacing::Equal
        },
        clockwise: notes.contains(" cw"),
        point_mode: notes.contains("point_mode"),
    }
}
