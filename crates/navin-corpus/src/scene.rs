//! What surrounds a program: the other stages, vertices, targets, tests; the same for both forms.

use anyhow::{Context, Result, bail};
use ash::vk;
use navin_shader::{AttributeType, Stage};

use crate::fill::{hash, unit};
use crate::index::{Corpus, Primitive, Program, Run};

/// Width and height of every target.
pub const TARGET: u32 = 64;

/// A vertex attribute in a stream of its own.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Location.
    pub location: u32,
    /// Format for the reference form.
    pub format: vk::Format,
    /// Format for the guest form, which knows no doubles.
    pub guest_format: vk::Format,
    /// Type for the translator.
    pub ty: AttributeType,
    /// Bytes a vertex.
    pub stride: u32,
    /// One entry a vertex.
    pub data: Vec<u8>,
}

/// A colour target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Location of the fragment output.
    pub location: u32,
    /// Format: four 32-bit channels.
    pub format: vk::Format,
    /// Type for the translator.
    pub ty: AttributeType,
    /// Channels that the source writes.
    pub channels: u32,
}

/// How the depth buffer takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// There is none.
    None,
    /// Always passes and is written; compared.
    Written,
    /// Holds values that let only the left half pass.
    HalfRejected,
}

/// A draw and all state around it.
#[derive(Clone, Debug)]
pub struct Draw {
    /// Topology.
    pub topology: vk::PrimitiveTopology,
    /// Vertices of a patch, 0 without tessellation.
    pub patch: u32,
    /// Vertices.
    pub vertices: u32,
    /// Instances.
    pub instances: u32,
    /// First vertex.
    pub first_vertex: u32,
    /// First instance.
    pub first_instance: u32,
    /// Vertex input.
    pub attributes: Vec<Attribute>,
    /// Colour targets in order of location.
    pub targets: Vec<Target>,
    /// Depth buffer.
    pub depth: Depth,
    /// Samples, 1 or 4.
    pub samples: u32,
    /// Every sample is shaded apart.
    pub sample_shading: bool,
    /// Layers of the targets.
    pub layers: u32,
    /// Viewports, quarters of the target where there are four.
    pub viewports: u32,
    /// Blending with the second source colour.
    pub dual_source: bool,
}

/// What a scene does.
#[derive(Clone, Debug)]
pub enum Work {
    /// One dispatch.
    Dispatch([u32; 3]),
    /// One draw.
    Draw(Box<Draw>),
}

/// A program with its surroundings.
#[derive(Clone, Debug)]
pub struct Scene<'c> {
    /// The program under test; all resources are its own.
    pub main: &'c Program,
    /// Every stage, in pipeline order.
    pub stages: Vec<&'c Program>,
    /// What is done.
    pub work: Work,
}

impl<'c> Scene<'c> {
    /// The scene of `program`; none for companions.
    ///
    /// # Errors
    /// If a companion is missing or an input has a type that no vertex buffer can hold.
    pub fn new(corpus: &'c Corpus, program: &'c Program) -> Result<Option<Self>> {
        let mut stages = vec![program];
        for name in &program.with {
            stages.push(corpus.get(name)?);
        }
        stages.sort_by_key(|p| Stage::ALL.iter().position(|s| *s == p.stage));
        let work = match program.run {
            Run::Companion => return Ok(None),
            Run::Dispatch(groups) => Work::Dispatch(groups),
            Run::Quad => Work::Draw(Box::new(draw(program, &stages, Primitive::Triangles, 3, 1, true)?)),
            Run::Draw { primitive, vertices, instances } => {
                Work::Draw(Box::new(draw(program, &stages, primitive, vertices, instances, false)?))
            }
        };
        Ok(Some(Self { main: program, stages, work }))
    }

    /// The draw, where it is one.
    pub fn draw(&self) -> Option<&Draw> {
        match &self.work {
            Work::Draw(draw) => Some(draw),
            Work::Dispatch(_) => None,
        }
    }
}

fn draw(
    program: &Program,
    stages: &[&Program],
    primitive: Primitive,
    vertices: u32,
    instances: u32,
    quad: bool,
) -> Result<Draw> {
    let noted = |text: &str| stages.iter().any(|s| s.notes.contains(text));
    let vertex = stages.first().filter(|s| s.stage == Stage::Vertex).context("a draw without vertex program")?;
    let fragment = stages.last().filter(|s| s.stage == Stage::Fragment);
    // The draw parameters are only seen to arrive when they are not 0.
    let parameters = program.name.contains("draw_parameters");
    let (first_vertex, first_instance) = if parameters { (3, 2) } else { (0, 0) };
    let count = vertices + first_vertex;
    let positions = positions(primitive, count, quad, noted("different w"));
    let mut attributes = Vec::new();
    for input in &vertex.inputs {
        attributes.extend(attribute(input.location, &input.ty, &positions, quad)?);
    }
    let mut targets: Vec<Target> = Vec::new();
    let mut dual_source = false;
    for output in fragment.iter().flat_map(|f| &f.outputs) {
        for element in 0..output.count {
            let location = output.location + element;
            if targets.iter().any(|t| t.location == location) {
                dual_source = true;
                continue;
            }
            targets.push(target(location, &output.ty)?);
        }
    }
    targets.sort_by_key(|t| t.location);
    let (topology, patch) = match primitive {
        Primitive::Points => (vk::PrimitiveTopology::POINT_LIST, 0),
        Primitive::Lines => (vk::PrimitiveTopology::LINE_LIST, 0),
        Primitive::Triangles => (vk::PrimitiveTopology::TRIANGLE_LIST, 0),
        Primitive::LinesAdjacency => (vk::PrimitiveTopology::LINE_LIST_WITH_ADJACENCY, 0),
        Primitive::TrianglesAdjacency => (vk::PrimitiveTopology::TRIANGLE_LIST_WITH_ADJACENCY, 0),
        Primitive::Patches(n) => (vk::PrimitiveTopology::PATCH_LIST, n),
    };
    let depth = if program.notes.contains("rejects half") {
        Depth::HalfRejected
    } else if program.notes.contains("depth buffer") {
        Depth::Written
    } else {
        Depth::None
    };
    Ok(Draw {
        topology,
        patch,
        vertices,
        instances,
        first_vertex,
        first_instance,
        attributes,
        targets,
        depth,
        samples: if program.notes.contains("multisampled target") { 4 } else { 1 },
        sample_shading: program.notes.contains("sample shading on"),
        layers: if noted("four layers") { 4 } else { 1 },
        viewports: if noted("four viewports") { 4 } else { 1 },
        dual_source,
    })
}

fn target(location: u32, ty: &str) -> Result<Target> {
    let (format, class) = match ty.chars().next() {
        Some('i') => (vk::Format::R32G32B32A32_SINT, AttributeType::Sint),
        Some('u') => (vk::Format::R32G32B32A32_UINT, AttributeType::Uint),
        Some('v' | 'f') => (vk::Format::R32G32B32A32_SFLOAT, AttributeType::Float),
        _ => bail!("a fragment output of type {ty}"),
    };
    Ok(Target { location, format, ty: class, channels: components(ty) })
}

/// Components of a scalar or vector type.
fn components(ty: &str) -> u32 {
    ty.chars().last().and_then(|c| c.to_digit(10)).filter(|n| (2..=4).contains(n)).unwrap_or(1)
}

/// Clip positions that keep primitives apart: each in a cell of a grid.
fn positions(primitive: Primitive, count: u32, quad: bool, different_w: bool) -> Vec<[f32; 4]> {
    if quad {
        return vec![[-1.0, -1.0, 0.5, 1.0], [3.0, -1.0, 0.5, 1.0], [-1.0, 3.0, 0.5, 1.0]];
    }
    let triangle = [(-0.8, -0.7), (0.8, -0.6), (0.1, 0.9)];
    let local: Vec<(f32, f32)> = match primitive {
        Primitive::Points => {
            return (0..count)
                .map(|i| {
                    let (x, y) = ((i % TARGET) as f32 + 0.5, (i / TARGET) as f32 + 0.5);
                    [x / 32.0 - 1.0, y / 32.0 - 1.0, 0.5, 1.0]
                })
                .collect();
        }
        Primitive::Lines => vec![(-0.8, -0.5), (0.7, 0.6)],
        Primitive::LinesAdjacency => vec![(-0.9, -0.8), (-0.5, -0.3), (0.5, 0.4), (0.9, 0.7)],
        Primitive::TrianglesAdjacency => {
            vec![triangle[0], (0.0, -0.95), triangle[1], (0.9, 0.5), triangle[2], (-0.9, 0.4)]
        }
        Primitive::Triangles | Primitive::Patches(3) => triangle.to_vec(),
        Primitive::Patches(4) => vec![(-0.8, -0.8), (0.8, -0.7), (0.75, 0.8), (-0.7, 0.75)],
        Primitive::Patches(n) => {
            let side = (n as f32).sqrt().ceil().max(2.0);
            (0..n as usize)
                .map(|i| {
                    let (x, y) = ((i % side as usize) as f32, (i / side as usize) as f32);
                    let bend = 0.15 * unit(i as u32);
                    (1.6 * x / (side - 1.0) - 0.8 + bend, 1.6 * y / (side - 1.0) - 0.8 - bend)
                })
                .collect()
        }
    };
    let primitives = (count as usize).div_ceil(local.len());
    let side = (primitives as f32).sqrt().ceil().max(1.0);
    (0..count as usize)
        .map(|i| {
            let (cell, (x, y)) = (i / local.len(), local[i % local.len()]);
            let (cx, cy) = ((cell % side as usize) as f32, (cell / side as usize) as f32);
            let to = |c: f32, v: f32| (2.0 * c + 1.0 + v) / side - 1.0;
            let w = if different_w { 1.0 + 0.5 * (i % 3) as f32 } else { 1.0 };
            [to(cx, x) * w, to(cy, y) * w, 0.5 * w, w]
        })
        .collect()
}

/// Value at a vertex of the quad's triangle, such that it never leaves 0..1 within the target. The last component runs
/// over most of it. The others stay on one side of 0.5: `tex_cube` makes a direction of them around 0.5, and the
/// machine code passes it divided by its major axis. Where such a direction turns fast, lavapipe was seen to pick
/// other levels for the divided one (811 pixels of `tex_cube`), which says nothing about the translation.
fn over_target(location: u32, component: u32, vertex: usize) -> f32 {
    let seed = location * 1000 + component;
    let (first, step) = if component == 3 { (0.02, 0.24) } else { (0.55, 0.08) };
    let corner = first + 0.1 * unit(seed);
    let (right, up) = (step * (1.0 + 0.8 * unit(seed + 500)), step * (1.0 + 0.8 * unit(seed + 600)));
    // The second and third vertex lie twice as far as the target's corners.
    let value = corner + [0.0, 2.0 * right, 2.0 * up][vertex % 3];
    if seed.is_multiple_of(2) { value } else { 1.0 - value }
}

/// The stream or, for a matrix, the streams of one vertex input.
fn attribute(location: u32, ty: &str, positions: &[[f32; 4]], quad: bool) -> Result<Vec<Attribute>> {
    if let Some(columns) = ty.strip_prefix("mat").and_then(|n| n.parse::<u32>().ok()) {
        let mut streams = Vec::new();
        for column in 0..columns {
            streams.extend(attribute(location + column, &format!("vec{columns}"), positions, quad)?);
        }
        return Ok(streams);
    }
    let n = components(ty);
    let pick = |formats: [vk::Format; 4]| formats[n as usize - 1];
    let floats = [
        vk::Format::R32_SFLOAT,
        vk::Format::R32G32_SFLOAT,
        vk::Format::R32G32B32_SFLOAT,
        vk::Format::R32G32B32A32_SFLOAT,
    ];
    let sints =
        [vk::Format::R32_SINT, vk::Format::R32G32_SINT, vk::Format::R32G32B32_SINT, vk::Format::R32G32B32A32_SINT];
    let uints =
        [vk::Format::R32_UINT, vk::Format::R32G32_UINT, vk::Format::R32G32B32_UINT, vk::Format::R32G32B32A32_UINT];
    let doubles = [
        vk::Format::R64_SFLOAT,
        vk::Format::R64G64_SFLOAT,
        vk::Format::R64G64B64_SFLOAT,
        vk::Format::R64G64B64A64_SFLOAT,
    ];
    let (format, guest_format, class, bytes) = match ty.chars().next() {
        Some('i') => (pick(sints), pick(sints), AttributeType::Sint, 4),
        Some('u') => (pick(uints), pick(uints), AttributeType::Uint, 4),
        Some('d') => (pick(doubles), vk::Format::R32G32B32A32_UINT, AttributeType::Uint, 8),
        Some('v' | 'f') => (pick(floats), pick(floats), AttributeType::Float, 4),
        _ => bail!("a vertex input of type {ty}"),
    };
    let mut data = Vec::new();
    for (vertex, position) in positions.iter().enumerate() {
        for c in 0..n {
            let i = location * 1000 + vertex as u32 * 4 + c;
            let float = match (location, quad) {
                (0, _) => position[c as usize],
                // (u, v, 1 - u, 1) over the target.
                (1, true) => {
                    let (u, v) = ((position[0] + 1.0) / 2.0, (position[1] + 1.0) / 2.0);
                    [u, v, 1.0 - u, 1.0][c as usize]
                }
                (_, true) => over_target(location, c, vertex),
                _ => unit(i),
            };
            match class {
                _ if bytes == 8 => data.extend_from_slice(&f64::from(float).to_le_bytes()),
                AttributeType::Sint | AttributeType::Uint => data.extend_from_slice(&(hash(i) % 8).to_le_bytes()),
                _ => data.extend_from_slice(&float.to_le_bytes()),
            }
        }
    }
    Ok(vec![Attribute { location, format, guest_format, ty: class, stride: n * bytes, data }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_has_a_scene() {
        let corpus = Corpus::open(&Corpus::default_root()).unwrap();
        let mut scenes = 0;
        for program in corpus.programs.values() {
            let Some(scene) = Scene::new(&corpus, program).unwrap() else { continue };
            scenes += 1;
            if let Some(draw) = scene.draw() {
                assert_eq!(scene.stages[0].stage, Stage::Vertex, "{}", program.name);
                assert_eq!(scene.stages.last().unwrap().stage, Stage::Fragment, "{}", program.name);
                let patch = matches!(program.run, Run::Draw { primitive: Primitive::Patches(_), .. });
                assert_eq!(draw.patch > 0, patch, "{}", program.name);
            }
        }
        assert_eq!(scenes, 368 - 11);
    }

    #[test]
    fn points_lie_on_pixel_centres() {
        let p = positions(Primitive::Points, 70, false, false);
        assert_eq!(p[65], [1.5 / 32.0 - 1.0, 1.5 / 32.0 - 1.0, 0.5, 1.0]);
    }
}
