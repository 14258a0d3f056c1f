//! State that Vulkan has no commands for, and that shaders see to instead: the alpha test, the size of points whose
//! program writes none, and which colour is the second source of blending.
//!
//! A program has variants for it ([`Extras`]), made at the first draw that needs one and kept: whether the alpha test
//! is on is all that a variant knows, so that a guest may change function and reference freely. Those are in a bank of
//! their own, `navin_shader::state_bank`.

use navin_abi::enums::{NVNalphaFunc, NVNblendFunc, NVNpolygonMode};
use navin_abi::fault;
use navin_abi::records::state::Blend;
use navin_shader::{GeometryInput, state_bank};
use navin_vulkan::{BufferRange, Stage};

use super::Piece;
use super::convert::Topology;
use super::state::Dirty;
use crate::host::programs::Extras;
use ash::vk;

/// NVN's stages after which primitives are rasterized, the last first.
const LAST_STAGES: [usize; 3] = [2, 4, 0];

/// What a comparison lets pass, as `state_bank::ALPHA_FUNCTION` has it: NVN counts in OpenGL's order, in which the
/// three bits are all there is.
fn alpha_bits(function: NVNalphaFunc) -> u32 {
    (function.0 - NVNalphaFunc::NEVER.0) as u32 & 7
}

/// What a geometry program gets of a topology.
fn geometry_input(topology: Topology) -> Option<GeometryInput> {
    use vk::PrimitiveTopology as T;
    let (Topology::Native(topology) | Topology::Rewritten(_, topology)) = topology;
    Some(match topology {
        T::POINT_LIST => GeometryInput::Points,
        T::LINE_LIST | T::LINE_STRIP => GeometryInput::Lines,
        T::LINE_LIST_WITH_ADJACENCY | T::LINE_STRIP_WITH_ADJACENCY => GeometryInput::LinesAdjacency,
        T::TRIANGLE_LIST | T::TRIANGLE_STRIP | T::TRIANGLE_FAN => GeometryInput::Triangles,
        T::TRIANGLE_LIST_WITH_ADJACENCY | T::TRIANGLE_STRIP_WITH_ADJACENCY => GeometryInput::TrianglesAdjacency,
        _ => return None,
    })
}

/// Whether a factor of the blending is the fragment program's second colour.
fn takes_second_source(blend: &Blend) -> bool {
    let second = |f: &NVNblendFunc| {
        matches!(
            *f,
            NVNblendFunc::SRC1_COLOR
                | NVNblendFunc::ONE_MINUS_SRC1_COLOR
                | NVNblendFunc::SRC1_ALPHA
                | NVNblendFunc::ONE_MINUS_SRC1_ALPHA
        )
    };
    blend.source.iter().chain(&blend.destination).any(second)
}

impl Piece<'_> {
    /// What the shaders of a draw have to see to; notes what changes by it.
    #[inline]
    pub(super) fn note_extras(&mut self, topology: Topology) {
        let state = &mut *self.state;
        if state.dirty.contains(Dirty::BLEND) {
            state.dual_source = state.color.blend_enabled(0) && takes_second_source(&state.blend[0].decode());
        }
        let plain = state.point_size.to_bits() == 1.0f32.to_bits()
            && state.color.alpha_func() == NVNalphaFunc::ALWAYS
            && !state.dual_source
            && state.stages[LAST_STAGES[0]].program.is_none();
        if plain && state.extras.is_empty() {
            return;
        }
        self.find_extras(topology);
    }

    #[cold]
    fn find_extras(&mut self, topology: Topology) {
        let state = &mut *self.state;
        let mut extras = Extras::empty();
        extras.set(Extras::ALPHA_TEST, state.color.alpha_func() != NVNalphaFunc::ALWAYS);
        extras.set(Extras::DUAL_SOURCE, state.dual_source);
        // Behind tessellation, the evaluation program says what there is.
        if state.stages[LAST_STAGES[0]].program.is_some() && state.stages[LAST_STAGES[1]].program.is_none() {
            extras |= geometry_input(topology).map_or(Extras::empty(), Extras::from_input);
        }
        let points = topology == Topology::Native(vk::PrimitiveTopology::POINT_LIST)
            || state.polygon.decode().mode == NVNpolygonMode::POINT
            || state.stages[LAST_STAGES[0]].program.is_some();
        extras.set(Extras::POINT_SIZE, points && state.point_size.to_bits() != 1.0f32.to_bits());
        if extras != state.extras {
            state.extras = extras;
            state.dirty |= Dirty::PROGRAMS | Dirty::SHADER_STATE;
        }
    }

    /// What the shader of a stage has to see to.
    pub(super) fn extras_of(&self, stage: usize) -> Extras {
        match stage {
            1 => self.state.extras & (Extras::ALPHA_TEST | Extras::DUAL_SOURCE),
            stage => {
                let last = LAST_STAGES.into_iter().find(|stage| self.state.stages[*stage].program.is_some());
                let input =
                    if stage == LAST_STAGES[0] { self.state.extras & Extras::ANY_INPUT } else { Extras::empty() };
                let size = if last == Some(stage) { self.state.extras & Extras::POINT_SIZE } else { Extras::empty() };
                input | size
            }
        }
    }

    /// Writes the bank that such shaders read.
    pub(super) fn set_shader_state(&mut self) {
        if self.state.extras.is_empty() {
            return;
        }
        let mut bytes = [0u8; state_bank::BYTES];
        let mut put = |at: u32, word: u32| bytes[at as usize..at as usize + 4].copy_from_slice(&word.to_le_bytes());
        put(state_bank::ALPHA_REFERENCE, self.state.alpha_ref.to_bits());
        put(state_bank::ALPHA_FUNCTION, alpha_bits(self.state.color.alpha_func()));
        put(state_bank::POINT_SIZE, self.state.point_size.to_bits());
        let alignment = self.driver.context.limits().uniform_offset_alignment.max(16);
        let range = match self.encoder.upload(&bytes, alignment) {
            Ok(slice) => slice.range,
            Err(e) => {
                fault!("", "no memory for shader state ({e}): the alpha test passes nothing, points have no size");
                BufferRange::NULL
            }
        };
        for stage in [Stage::Vertex, Stage::TessEvaluation, Stage::Geometry, Stage::Fragment] {
            self.encoder.set_constants(stage, state_bank::BANK as usize, range);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_functions_are_sums_of_three_comparisons() {
        use NVNalphaFunc as F;
        let all = [F::NEVER, F::LESS, F::EQUAL, F::LEQUAL, F::GREATER, F::NOTEQUAL, F::GEQUAL, F::ALWAYS];
        let holds = |function: F, a: f32, b: f32| match function {
            F::NEVER => false,
            F::LESS => a < b,
            F::EQUAL => a == b,
            F::LEQUAL => a <= b,
            F::GREATER => a > b,
            F::NOTEQUAL => a != b,
            F::GEQUAL => a >= b,
            _ => true,
        };
        for function in all {
            for (a, b) in [(0.0, 1.0), (1.0, 0.0), (0.5, 0.5)] {
                let bits = u32::from(a < b) | u32::from(a == b) << 1 | u32::from(a > b) << 2;
                assert_eq!(alpha_bits(function) & bits != 0, holds(function, a, b), "{function:?} {a} {b}");
            }
        }
    }
}
