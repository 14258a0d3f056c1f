//! Execution modes: what the stage is told beside its code.

use super::emit::{Context, Emitter};
use super::module::Id;
use super::op::{self, capability as cap};
use crate::{GeometryInput, Requirements, Stage, TessellationDomain, TessellationMode, TessellationSpacing};

impl Emitter {
    /// Execution modes and capabilities of the stage.
    pub(super) fn stage_modes(&mut self, c: &mut Context<'_, '_>, main: Id) {
        let mut mode = |words: &[u32]| {
            self.m.modes.push((words.len() as u32 + 2) << 16 | op::EXECUTION_MODE);
            self.m.modes.push(main);
            self.m.modes.extend_from_slice(words);
        };
        match c.program.stage {
            Stage::Vertex => {}
            Stage::Fragment => {
                mode(&[7]);
                if c.program.early_fragment_tests {
                    mode(&[9]);
                }
                if self.io.depth {
                    mode(&[12]);
                }
            }
            Stage::Compute => {
                let [x, y, z] = c.program.local_size;
                mode(&[17, x, y, z]);
            }
            Stage::TessControl => {
                let n = Self::control_vertices(c);
                mode(&[26, n]);
                c.interface.patch_vertices = n;
                self.m.capability(cap::TESSELLATION);
                c.interface.requirements |= Requirements::TESSELLATION;
            }
            Stage::TessEvaluation => {
                let told = c.options.tessellation.unwrap_or(TessellationMode {
                    domain: TessellationDomain::Triangles,
                    spacing: TessellationSpacing::Equal,
                    clockwise: false,
                    point_mode: false,
                });
                mode(&[match told.domain {
                    TessellationDomain::Triangles => 22,
                    TessellationDomain::Quads => 24,
                    TessellationDomain::Isolines => 25,
                }]);
                mode(&[match told.spacing {
                    TessellationSpacing::Equal => 1,
                    TessellationSpacing::FractionalEven => 2,
                    TessellationSpacing::FractionalOdd => 3,
                }]);
                mode(&[if told.clockwise { 4 } else { 5 }]);
                if told.point_mode {
                    mode(&[10]);
                }
                self.m.capability(cap::TESSELLATION);
                c.interface.requirements |= Requirements::TESSELLATION;
            }
            Stage::Geometry => {
                let input = Self::geometry_input(c);
                c.interface.geometry_input = Some(input);
                mode(&[match input {
                    GeometryInput::Points => 19,
                    GeometryInput::Lines => 20,
                    GeometryInput::LinesAdjacency => 21,
                    GeometryInput::Triangles => 22,
                    GeometryInput::TrianglesAdjacency => 23,
                }]);
                let header = &c.program.header;
                mode(&[0, header.threads_per_primitive().clamp(1, 32)]);
                let passed = input.passed_vertices();
                let (vertices, topology) = match (header.passthrough(), passed.len()) {
                    (true, n @ 1) => (n as u32, 1),
                    (true, n @ 2) => (n as u32, 6),
                    (true, n) => (n as u32, 7),
                    _ => (header.max_output_vertices().clamp(1, 1024), header.output_topology()),
                };
                mode(&[26, vertices]);
                mode(&[match topology {
                    1 => 27,
                    6 => 28,
                    _ => 29,
                }]);
                self.m.capability(cap::GEOMETRY);
                c.interface.requirements |= Requirements::GEOMETRY;
            }
        }
    }
}
