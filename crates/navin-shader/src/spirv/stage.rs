//! Inputs, outputs and built-ins of each stage, and the stage's execution modes.

use rustc_hash::FxHashMap;

use super::emit::{Context, Emitter, Made};
use super::module::{Id, Type};
use super::op::{self, builtin, capability as cap, decoration, glsl, storage};
use crate::ir::{Builtin, Inst, Op, Value, WordType};
use crate::lower::{POSITION_INPUT, POSITION_OUTPUT};
use crate::passes::types::{builtin_type, output_word_type};
use crate::{AttributeType, GeometryInput, Interpolation, Requirements, Stage};

/// Memory operand: each load is made.
const VOLATILE: u32 = 1;

/// What a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// Generic input.
    Input(u32),
    /// One component of a fragment input whose components differ in interpolation.
    InputPart(u32, u32),
    /// Generic input of several vertices.
    InputArray(u32),
    /// Per-patch input or output.
    Patch(u32),
    /// Generic output.
    Output(u32),
    /// Generic output of tessellation control.
    OutputArray(u32),
    /// Built-in input.
    BuiltinIn(u32),
    /// Built-in output.
    BuiltinOut(u32),
    /// Colour.
    Colour(u32),
}

/// Variables declared so far.
#[derive(Debug, Default)]
pub(super) struct StageIo {
    variables: FxHashMap<Key, Id>,
    loads: Made<u32>,
    pub(super) depth: bool,
}

impl StageIo {
    pub(super) fn clear(&mut self) {
        self.variables.clear();
        self.loads.clear();
        self.depth = false;
    }
}

/// SPIR-V built-in, scalar type, components (0: array of one) and the component of each built-in word.
fn source(n: u32) -> (u32, Type, u32, u32) {
    use Type::{Bool, Float, Uint};
    let at = |first: Builtin| n - first as u32;
    match n {
        0 => (builtin::VERTEX_INDEX, Uint, 1, 0),
        1 => (builtin::INSTANCE_INDEX, Uint, 1, 0),
        2 => (builtin::BASE_VERTEX, Uint, 1, 0),
        3 => (builtin::BASE_INSTANCE, Uint, 1, 0),
        4 => (builtin::DRAW_INDEX, Uint, 1, 0),
        5..=8 => (builtin::FRAG_COORD, Float, 4, at(Builtin::FragCoordX)),
        9 => (builtin::FRONT_FACING, Bool, 1, 0),
        10 | 11 => (builtin::POINT_COORD, Float, 2, at(Builtin::PointCoordX)),
        12 => (builtin::LAYER, Uint, 1, 0),
        13 => (builtin::VIEWPORT_INDEX, Uint, 1, 0),
        14 => (builtin::PRIMITIVE_ID, Uint, 1, 0),
        15 => (builtin::SAMPLE_ID, Uint, 1, 0),
        16 | 17 => (builtin::SAMPLE_POSITION, Float, 2, at(Builtin::SamplePositionX)),
        18 => (builtin::SAMPLE_MASK, Uint, 0, 0),
        19 => (builtin::HELPER_INVOCATION, Bool, 1, 0),
        20..=22 => (builtin::LOCAL_INVOCATION_ID, Uint, 3, at(Builtin::LocalIdX)),
        23..=25 => (builtin::WORKGROUP_ID, Uint, 3, at(Builtin::GroupIdX)),
        26..=28 => (builtin::NUM_WORKGROUPS, Uint, 3, at(Builtin::GroupCountX)),
        29 => (builtin::INVOCATION_ID, Uint, 1, 0),
        30 => (builtin::PATCH_VERTICES, Uint, 1, 0),
        31 | 32 => (builtin::TESS_COORD, Float, 3, at(Builtin::TessCoordX)),
        33 => (builtin::SUBGROUP_LOCAL_INVOCATION_ID, Uint, 1, 0),
        34 => (builtin::LOCAL_INVOCATION_INDEX, Uint, 1, 0),
        35..=38 => (builtin::TESS_LEVEL_OUTER, Float, 0, at(Builtin::TessOuter0)),
        39 | 40 => (builtin::TESS_LEVEL_INNER, Float, 0, at(Builtin::TessInner0)),
        _ => (builtin::CLIP_DISTANCE, Float, 0, at(Builtin::ClipDistance0)),
    }
}

impl Emitter {
    fn known(&self, key: Key) -> Option<Id> {
        self.io.variables.get(&key).copied()
    }

    /// Declares a variable of an interface.
    fn declare(&mut self, key: Key, class: u32, ty: Id) -> Id {
        let id = self.m.variable(class, ty);
        self.io.variables.insert(key, id);
        id
    }

    fn vec4(&mut self, of: Type) -> Id {
        self.m.vector(of, 4)
    }

    fn component_type(t: AttributeType) -> Type {
        match t {
            AttributeType::Sint => Type::Int,
            AttributeType::Uint => Type::Uint,
            _ => Type::Float,
        }
    }

    /// A built-in of one word, read here.
    pub(super) fn builtin_word(&mut self, c: &mut Context<'_, '_>, which: Builtin) -> Id {
        let (number, scalar, components, _) = source(which as u32);
        let variable = self.builtin_in(c, number, scalar, components);
        let ty = self.m.ty(scalar);
        self.m.result(op::LOAD, ty, &[variable])
    }

    /// A built-in input.
    fn builtin_in(&mut self, c: &mut Context<'_, '_>, number: u32, scalar: Type, components: u32) -> Id {
        let key = Key::BuiltinIn(number);
        if let Some(id) = self.known(key) {
            return id;
        }
        let stage = c.program.stage;
        let need = &mut c.interface.requirements;
        match number {
            builtin::BASE_VERTEX | builtin::BASE_INSTANCE | builtin::DRAW_INDEX => {
                self.m.capability(cap::DRAW_PARAMETERS);
                *need |= Requirements::DRAW_PARAMETERS;
            }
            builtin::SAMPLE_ID | builtin::SAMPLE_POSITION => {
                self.m.capability(cap::SAMPLE_RATE_SHADING);
                *need |= Requirements::SAMPLE_SHADING;
            }
            builtin::PRIMITIVE_ID | builtin::LAYER if stage == Stage::Fragment => {
                self.m.capability(cap::GEOMETRY);
                *need |= Requirements::GEOMETRY;
            }
            builtin::VIEWPORT_INDEX => {
                self.m.capability(cap::MULTI_VIEWPORT);
                *need |= Requirements::MULTI_VIEWPORT;
            }
            builtin::CLIP_DISTANCE => {
                self.m.capability(cap::CLIP_DISTANCE);
                *need |= Requirements::CLIP_DISTANCE;
            }
            builtin::SUBGROUP_LOCAL_INVOCATION_ID => {
                self.m.capability(cap::GROUP_NON_UNIFORM);
                *need |= Requirements::SUBGROUP_BASIC;
            }
            _ => {}
        }
        let ty = match (number, components) {
            (builtin::SAMPLE_MASK, _) => {
                let of = self.m.ty(scalar);
                self.m.ty(Type::Array(of, 1))
            }
            (builtin::TESS_LEVEL_OUTER, _) => self.float_array(4),
            (builtin::TESS_LEVEL_INNER, _) => self.float_array(2),
            (builtin::CLIP_DISTANCE, _) => self.float_array(8),
            (_, n) => self.m.vector(scalar, n),
        };
        let id = self.declare(key, storage::INPUT, ty);
        self.m.decorate(id, decoration::BUILT_IN, &[number]);
        if matches!(number, builtin::TESS_LEVEL_OUTER | builtin::TESS_LEVEL_INNER) {
            self.m.decorate(id, decoration::PATCH, &[]);
        }
        let integer = matches!(scalar, Type::Uint | Type::Int);
        if stage == Stage::Fragment
            && integer
            && matches!(
                number,
                builtin::PRIMITIVE_ID
                    | builtin::LAYER
                    | builtin::VIEWPORT_INDEX
                    | builtin::SAMPLE_ID
                    | builtin::SUBGROUP_LOCAL_INVOCATION_ID
            )
        {
            self.m.decorate(id, decoration::FLAT, &[]);
        }
        id
    }

    fn float_array(&mut self, n: u32) -> Id {
        let float = self.m.ty(Type::Float);
        self.m.ty(Type::Array(float, n))
    }

    fn load_builtin(&mut self, c: &mut Context<'_, '_>, v: Value, inst: &Inst) {
        let (number, scalar, components, component) = source(inst.args[0]);
        let variable = self.builtin_in(c, number, scalar, components);
        let ty = self.m.ty(scalar);
        let own = self.own(v);
        match components {
            0 => {
                let pointer = self.m.pointer(storage::INPUT, ty);
                let index = self.m.uint(component);
                let p = self.m.result(op::ACCESS_CHAIN, pointer, &[variable, index]);
                self.m.result_as(own, op::LOAD, ty, &[p]);
            }
            // It changes with a demotion.
            1 if number == builtin::HELPER_INVOCATION => self.m.result_as(own, op::LOAD, ty, &[variable, VOLATILE]),
            1 => self.m.result_as(own, op::LOAD, ty, &[variable]),
            n => {
                let known = self.io.loads.get(&number).copied().filter(|&(_, scope)| self.is_open(scope));
                let whole = match known {
                    Some((id, _)) => id,
                    None => {
                        let vector = self.m.vector(scalar, n);
                        let id = self.m.result(op::LOAD, vector, &[variable]);
                        let scope = self.scope();
                        self.io.loads.insert(number, (id, scope));
                        id
                    }
                };
                self.m.result_as(own, op::COMPOSITE_EXTRACT, ty, &[whole, component]);
            }
        }
        debug_assert!(
            scalar == Type::Bool || (scalar == Type::Float) == (builtin_type(inst.args[0]) == WordType::Float)
        );
    }

    /// Decorates a fragment input for its interpolation.
    fn interpolation(&mut self, c: &mut Context<'_, '_>, id: Id, kind: Interpolation) {
        match kind {
            Interpolation::Flat => self.m.decorate(id, decoration::FLAT, &[]),
            Interpolation::Linear => self.m.decorate(id, decoration::NO_PERSPECTIVE, &[]),
            _ => {}
        }
        if c.program.per_sample && kind != Interpolation::Flat {
            self.m.capability(cap::SAMPLE_RATE_SHADING);
            c.interface.requirements |= Requirements::SAMPLE_SHADING;
            self.m.decorate(id, decoration::SAMPLE, &[]);
        }
    }

    /// The interpolation that all used components of a fragment input share, if they do.
    fn shared_interpolation(c: &Context<'_, '_>, location: u32) -> Option<Interpolation> {
        let mut kind = None;
        for component in 0..4 {
            match c.program.header.interpolation(location, component) {
                Interpolation::Unused => {}
                k if kind.is_none_or(|old| old == k) => kind = Some(k),
                _ => return None,
            }
        }
        Some(kind.unwrap_or(Interpolation::Perspective))
    }

    /// A generic input variable.
    fn input(&mut self, c: &mut Context<'_, '_>, location: u32) -> Id {
        if let Some(id) = self.known(Key::Input(location)) {
            return id;
        }
        let t = if c.program.stage == Stage::Vertex { c.types.inputs[location as usize] } else { AttributeType::Float };
        let ty = self.vec4(Self::component_type(t));
        let id = self.declare(Key::Input(location), storage::INPUT, ty);
        self.m.decorate(id, decoration::LOCATION, &[location]);
        c.interface.inputs |= 1 << location;
        c.interface.input_types[location as usize] = t;
        if c.program.stage == Stage::Fragment {
            let kind = Self::shared_interpolation(c, location).unwrap_or(Interpolation::Perspective);
            self.interpolation(c, id, kind);
        }
        id
    }

    fn input_part(&mut self, c: &mut Context<'_, '_>, location: u32, component: u32) -> Id {
        let key = Key::InputPart(location, component);
        if let Some(id) = self.known(key) {
            return id;
        }
        let float = self.m.ty(Type::Float);
        let id = self.declare(key, storage::INPUT, float);
        self.m.decorate(id, decoration::LOCATION, &[location]);
        if component != 0 {
            self.m.decorate(id, decoration::COMPONENT, &[component]);
        }
        c.interface.inputs |= 1 << location;
        let kind = c.program.header.interpolation(location, component);
        self.interpolation(c, id, kind);
        id
    }

    fn load_input(&mut self, c: &mut Context<'_, '_>, v: Value, inst: &Inst) {
        let location = inst.args[0];
        let own = self.own(v);
        let float = self.vec4(Type::Float);
        let sampled = (inst.op == Op::LoadInputSampled).then_some(inst.args[1]);
        let number = if sampled == Some(1) { glsl::INTERPOLATE_AT_CENTROID } else { glsl::INTERPOLATE_AT_OFFSET };
        let mut operands = smallvec::SmallVec::<[Id; 2]>::new();
        if let Some(mode) = sampled {
            self.m.capability(cap::INTERPOLATION_FUNCTION);
            c.interface.requirements |= Requirements::SAMPLE_SHADING;
            if mode == 2 {
                let (x, y) = (self.float(c, Value(inst.args[2])), self.float(c, Value(inst.args[3])));
                let pair = self.m.vector(Type::Float, 2);
                operands.push(self.m.result(op::COMPOSITE_CONSTRUCT, pair, &[x, y]));
            }
        }
        if c.program.stage == Stage::Fragment && Self::shared_interpolation(c, location).is_none() {
            let scalar = self.m.ty(Type::Float);
            let zero = self.m.constant(Type::Float, 0);
            let mut parts = [zero; 4];
            for (component, part) in parts.iter_mut().enumerate() {
                if c.program.header.interpolation(location, component as u32) == Interpolation::Unused {
                    continue;
                }
                let variable = self.input_part(c, location, component as u32);
                *part = self.m.id();
                if sampled.is_some() {
                    let words: Vec<Id> = std::iter::once(variable).chain(operands.iter().copied()).collect();
                    self.m.extended_as(*part, number, scalar, &words);
                } else {
                    self.m.result_as(*part, op::LOAD, scalar, &[variable]);
                }
            }
            return self.m.result_as(own, op::COMPOSITE_CONSTRUCT, float, &parts);
        }
        let variable = self.input(c, location);
        if sampled.is_some() {
            let words: Vec<Id> = std::iter::once(variable).chain(operands.iter().copied()).collect();
            return self.m.extended_as(own, number, float, &words);
        }
        let t = if c.program.stage == Stage::Vertex { c.types.inputs[location as usize] } else { AttributeType::Float };
        let ty = self.vec4(Self::component_type(t));
        if t == AttributeType::Sint {
            let signed = self.m.result(op::LOAD, ty, &[variable]);
            let unsigned = self.vec4(Type::Uint);
            return self.m.result_as(own, op::BITCAST, unsigned, &[signed]);
        }
        self.m.result_as(own, op::LOAD, ty, &[variable]);
    }

    /// Vertices of the input arrays.
    fn input_vertices(c: &Context<'_, '_>) -> u32 {
        match c.program.stage {
            Stage::Geometry => Self::geometry_input(c).vertices(),
            _ => c.options.patch_vertices.clamp(1, 32),
        }
    }

    pub(super) fn geometry_input(c: &Context<'_, '_>) -> GeometryInput {
        c.options.geometry_input.unwrap_or(match c.notes.input_vertices {
            0 | 3 => GeometryInput::Triangles,
            1 => GeometryInput::Points,
            2 => GeometryInput::Lines,
            4 => GeometryInput::LinesAdjacency,
            _ => GeometryInput::TrianglesAdjacency,
        })
    }

    /// An input vertex's number, inside the array where that is known.
    fn vertex(&mut self, c: &Context<'_, '_>, v: Value) -> Id {
        match c.f.constant(c.f.resolve(v)) {
            Some(k) => self.m.uint(k.min(Self::input_vertices(c) - 1)),
            None => self.uint(c, v),
        }
    }

    fn input_array(&mut self, c: &mut Context<'_, '_>, location: u32) -> Id {
        let key = Key::InputArray(location);
        if let Some(id) = self.known(key) {
            return id;
        }
        let vector = self.vec4(Type::Float);
        let array = self.m.ty(Type::Array(vector, Self::input_vertices(c)));
        let id = self.declare(key, storage::INPUT, array);
        if location == POSITION_INPUT {
            self.m.decorate(id, decoration::BUILT_IN, &[builtin::POSITION]);
        } else {
            self.m.decorate(id, decoration::LOCATION, &[location]);
            c.interface.inputs |= 1 << location;
        }
        id
    }

    fn output(&mut self, c: &mut Context<'_, '_>, which: u32) -> Id {
        let key = Key::Output(which);
        if let Some(id) = self.known(key) {
            return id;
        }
        let ty = self.vec4(Type::Float);
        let id = self.declare(key, storage::OUTPUT, ty);
        if which == POSITION_OUTPUT {
            self.m.decorate(id, decoration::BUILT_IN, &[builtin::POSITION]);
            self.m.decorate(id, decoration::INVARIANT, &[]);
        } else {
            self.m.decorate(id, decoration::LOCATION, &[which]);
            c.interface.outputs |= 1 << which;
        }
        id
    }

    /// Pointer to the scalar built-in output of word `word`; `None` where the stage has no such output.
    fn output_word(&mut self, c: &mut Context<'_, '_>, word: u32) -> Option<Id> {
        let stage = c.program.stage;
        let (number, scalar, array) = match word * 4 {
            0x60 if stage == Stage::Geometry => (builtin::PRIMITIVE_ID, Type::Uint, 0),
            0x64 => (builtin::LAYER, Type::Uint, 0),
            0x68 => (builtin::VIEWPORT_INDEX, Type::Uint, 0),
            0x6C => (builtin::POINT_SIZE, Type::Float, 0),
            0x2C0..=0x2DC => (builtin::CLIP_DISTANCE, Type::Float, 8),
            _ => return None,
        };
        let key = Key::BuiltinOut(number);
        let variable = match self.known(key) {
            Some(id) => id,
            None => {
                self.needs_vertex_builtin(c, number);
                let need = &mut c.interface.requirements;
                match number {
                    builtin::LAYER if stage != Stage::Geometry => {
                        self.m.capability(cap::SHADER_LAYER);
                        *need |= Requirements::OUTPUT_LAYER;
                    }
                    builtin::VIEWPORT_INDEX => {
                        self.m.capability(cap::MULTI_VIEWPORT);
                        *need |= Requirements::MULTI_VIEWPORT;
                        if stage != Stage::Geometry {
                            self.m.capability(cap::SHADER_VIEWPORT_INDEX);
                            *need |= Requirements::OUTPUT_VIEWPORT;
                        }
                    }
                    _ => {}
                }
                let of = self.m.ty(scalar);
                let ty = if array == 0 { of } else { self.float_array(Self::clip_count(c)) };
                let id = self.declare(key, storage::OUTPUT, ty);
                self.m.decorate(id, decoration::BUILT_IN, &[number]);
                id
            }
        };
        if array == 0 {
            return Some(variable);
        }
        let n = word - 0x2C0 / 4;
        if n >= Self::clip_count(c) {
            return None;
        }
        c.interface.clip_distances |= 1 << n;
        let float = self.m.ty(scalar);
        let pointer = self.m.pointer(storage::OUTPUT, float);
        let index = self.m.uint(n);
        Some(self.m.result(op::ACCESS_CHAIN, pointer, &[variable, index]))
    }

    /// Vertices that a tessellation control program puts out.
    pub(super) fn control_vertices(c: &Context<'_, '_>) -> u32 {
        c.program.header.threads_per_primitive().clamp(1, 32)
    }

    /// Pointer to a component of a tessellation control output of vertex `vertex`.
    fn control_pointer(&mut self, c: &mut Context<'_, '_>, word: u32, vertex: Id) -> Option<Id> {
        let (key, component) = match word * 4 {
            0x6C | 0x2C0..=0x2DC => return self.control_builtin(c, word, vertex),
            0x70..=0x7C => (Key::OutputArray(POSITION_OUTPUT), word & 3),
            0x80..=0x27C => (Key::OutputArray((word - 0x20) / 4), word & 3),
            _ => return None,
        };
        let variable = match self.known(key) {
            Some(id) => id,
            None => {
                let vector = self.vec4(Type::Float);
                let array = self.m.ty(Type::Array(vector, Self::control_vertices(c)));
                let id = self.declare(key, storage::OUTPUT, array);
                match key {
                    Key::OutputArray(n) if n != POSITION_OUTPUT => {
                        self.m.decorate(id, decoration::LOCATION, &[n]);
                        c.interface.outputs |= 1 << n;
                    }
                    _ => self.m.decorate(id, decoration::BUILT_IN, &[builtin::POSITION]),
                }
                id
            }
        };
        let float = self.m.ty(Type::Float);
        let pointer = self.m.pointer(storage::OUTPUT, float);
        let component = self.m.uint(component);
        Some(self.m.result(op::ACCESS_CHAIN, pointer, &[variable, vertex, component]))
    }

    /// Pointer to the point size or a clip distance of a tessellation control output of vertex `vertex`; `None` for a
    /// distance that the header does not name.
    fn control_builtin(&mut self, c: &mut Context<'_, '_>, word: u32, vertex: Id) -> Option<Id> {
        let clip = word != 0x6C / 4;
        let distance = word.saturating_sub(0x2C0 / 4);
        if clip && distance >= Self::clip_count(c) {
            return None;
        }
        let number = if clip { builtin::CLIP_DISTANCE } else { builtin::POINT_SIZE };
        let key = Key::BuiltinOut(number);
        let float = self.m.ty(Type::Float);
        let variable = match self.known(key) {
            Some(id) => id,
            None => {
                self.needs_vertex_builtin(c, number);
                let of = if clip { self.float_array(Self::clip_count(c)) } else { float };
                let array = self.m.ty(Type::Array(of, Self::control_vertices(c)));
                let id = self.declare(key, storage::OUTPUT, array);
                self.m.decorate(id, decoration::BUILT_IN, &[number]);
                id
            }
        };
        let pointer = self.m.pointer(storage::OUTPUT, float);
        if clip {
            c.interface.clip_distances |= 1 << distance;
            let n = self.m.uint(distance);
            return Some(self.m.result(op::ACCESS_CHAIN, pointer, &[variable, vertex, n]));
        }
        Some(self.m.result(op::ACCESS_CHAIN, pointer, &[variable, vertex]))
    }

    /// Clip distances of the output array: as many as the header names.
    fn clip_count(c: &Context<'_, '_>) -> u32 {
        let used = (0..8).filter(|n| c.program.header.vtg_uses(0x2C0 + 4 * n, true)).max();
        used.map_or(8, |n| n + 1)
    }

    /// Capabilities of the built-ins of a vertex: point size and clip distances, as inputs or outputs.
    fn needs_vertex_builtin(&mut self, c: &mut Context<'_, '_>, number: u32) {
        let need = &mut c.interface.requirements;
        match (number, c.program.stage) {
            (builtin::CLIP_DISTANCE, _) => {
                self.m.capability(cap::CLIP_DISTANCE);
                *need |= Requirements::CLIP_DISTANCE;
            }
            (builtin::POINT_SIZE, Stage::TessControl | Stage::TessEvaluation) => {
                self.m.capability(cap::TESSELLATION_POINT_SIZE);
                *need |= Requirements::POINT_SIZE;
            }
            (builtin::POINT_SIZE, Stage::Geometry) => {
                self.m.capability(cap::GEOMETRY_POINT_SIZE);
                *need |= Requirements::POINT_SIZE;
            }
            _ => {}
        }
    }

    /// Pointer to a word of patch space; class is input or output.
    fn patch_pointer(&mut self, c: &mut Context<'_, '_>, word: u32, class: u32) -> Option<Id> {
        let float = self.m.ty(Type::Float);
        let pointer = self.m.pointer(class, float);
        let (variable, index) = match word {
            0..=5 => {
                let (number, n, index) = if word < 4 {
                    (builtin::TESS_LEVEL_OUTER, 4, word)
                } else {
                    (builtin::TESS_LEVEL_INNER, 2, word - 4)
                };
                let key = Key::BuiltinOut(number);
                let id = match self.known(key) {
                    Some(id) => id,
                    None => {
                        let ty = self.float_array(n);
                        let id = self.declare(key, class, ty);
                        self.m.decorate(id, decoration::BUILT_IN, &[number]);
                        self.m.decorate(id, decoration::PATCH, &[]);
                        id
                    }
                };
                (id, index)
            }
            _ if crate::lower::PATCH_VECTORS.contains(&word) => (self.patch(c, (word - 8) / 4, class), word & 3),
            _ => return None,
        };
        let index = self.m.uint(index);
        Some(self.m.result(op::ACCESS_CHAIN, pointer, &[variable, index]))
    }

    fn patch(&mut self, _c: &mut Context<'_, '_>, location: u32, class: u32) -> Id {
        let key = Key::Patch(location);
        if let Some(id) = self.known(key) {
            return id;
        }
        let ty = self.vec4(Type::Float);
        let id = self.declare(key, class, ty);
        self.m.decorate(id, decoration::LOCATION, &[location]);
        self.m.decorate(id, decoration::PATCH, &[]);
        id
    }

    fn store_colour(&mut self, c: &mut Context<'_, '_>, inst: &Inst) {
        let [target, list, ..] = inst.args;
        let t = c.types.colours[target as usize & 7];
        let of = Self::component_type(t);
        let key = Key::Colour(target);
        let vector = self.vec4(of);
        let variable = match self.known(key) {
            Some(id) => id,
            None => {
                let id = self.declare(key, storage::OUTPUT, vector);
                if c.options.dual_source && target == 1 {
                    self.m.decorate(id, decoration::LOCATION, &[0]);
                    self.m.decorate(id, decoration::INDEX, &[1]);
                    c.interface.dual_source = true;
                } else {
                    self.m.decorate(id, decoration::LOCATION, &[target]);
                    c.interface.outputs |= 1 << target;
                }
                c.interface.output_types[target as usize & 7] = t;
                id
            }
        };
        let words = [0, 1, 2, 3].map(|k| Value(c.f.extra[(list + k) as usize]));
        let (scalar, word_type) =
            if t == AttributeType::Float { (Type::Float, WordType::Float) } else { (Type::Uint, WordType::Uint) };
        let zero = self.m.constant(scalar, 0);
        let parts = words.map(|w| if w.is_some() { self.word(c, w, word_type) } else { zero });
        let plain = self.vec4(scalar);
        let mut id = self.m.result(op::COMPOSITE_CONSTRUCT, plain, &parts);
        if t == AttributeType::Sint {
            id = self.m.result(op::BITCAST, vector, &[id]);
        }
        self.m.statement(op::STORE, &[variable, id]);
    }

    pub(super) fn stage(&mut self, c: &mut Context<'_, '_>, v: Value, inst: &Inst) {
        let args = inst.args;
        match inst.op {
            Op::LoadInput | Op::LoadInputSampled => self.load_input(c, v, inst),
            Op::Builtin | Op::BuiltinB => self.load_builtin(c, v, inst),
            Op::LoadInputAt => {
                let variable = self.input_array(c, args[0]);
                let vertex = self.vertex(c, Value(args[1]));
                let vector = self.vec4(Type::Float);
                let pointer = self.m.pointer(storage::INPUT, vector);
                let p = self.m.result(op::ACCESS_CHAIN, pointer, &[variable, vertex]);
                let own = self.own(v);
                self.m.result_as(own, op::LOAD, vector, &[p]);
            }
            Op::BuiltinAt => self.builtin_at(c, v, inst),
            Op::LoadPatch => {
                let variable = self.patch(c, args[0], storage::INPUT);
                let vector = self.vec4(Type::Float);
                let own = self.own(v);
                self.m.result_as(own, op::LOAD, vector, &[variable]);
            }
            Op::LoadOutputAt | Op::LoadPatchOutput => {
                let float = self.m.ty(Type::Float);
                let own = self.own(v);
                let p = if inst.op == Op::LoadOutputAt {
                    let vertex = self.uint(c, Value(args[1]));
                    self.control_pointer(c, args[0], vertex)
                } else {
                    self.patch_pointer(c, args[0], storage::OUTPUT)
                };
                match p {
                    Some(p) => self.m.result_as(own, op::LOAD, float, &[p]),
                    None => {
                        let zero = self.m.constant(Type::Float, 0);
                        self.m.result_as(own, op::COPY_OBJECT, float, &[zero]);
                    }
                }
            }
            Op::StoreOutput => {
                let variable = self.output(c, args[0]);
                let words = [0, 1, 2, 3].map(|k| Value(c.f.extra[(args[1] + k) as usize]));
                let zero = self.m.constant(Type::Float, 0);
                let parts = words.map(|w| if w.is_some() { self.float(c, w) } else { zero });
                let vector = self.vec4(Type::Float);
                let id = self.m.result(op::COMPOSITE_CONSTRUCT, vector, &parts);
                self.m.statement(op::STORE, &[variable, id]);
            }
            Op::StoreOutputWord if c.program.stage == Stage::TessControl => {
                let invocation = self.builtin_in(c, builtin::INVOCATION_ID, Type::Uint, 1);
                let uint = self.m.ty(Type::Uint);
                let invocation = self.m.result(op::LOAD, uint, &[invocation]);
                if let Some(p) = self.control_pointer(c, args[0], invocation) {
                    let value = self.float(c, Value(args[1]));
                    self.m.statement(op::STORE, &[p, value]);
                }
            }
            Op::StoreOutputWord => {
                if let Some(p) = self.output_word(c, args[0]) {
                    let value = self.word(c, Value(args[1]), output_word_type(args[0]));
                    self.m.statement(op::STORE, &[p, value]);
                }
            }
            Op::StorePatchWord => {
                if let Some(p) = self.patch_pointer(c, args[0], storage::OUTPUT) {
                    let value = self.float(c, Value(args[1]));
                    self.m.statement(op::STORE, &[p, value]);
                }
            }
            Op::StoreColour => self.store_colour(c, inst),
            Op::StoreDepth => {
                let key = Key::BuiltinOut(builtin::FRAG_DEPTH);
                let variable = match self.known(key) {
                    Some(id) => id,
                    None => {
                        let float = self.m.ty(Type::Float);
                        let id = self.declare(key, storage::OUTPUT, float);
                        self.m.decorate(id, decoration::BUILT_IN, &[builtin::FRAG_DEPTH]);
                        id
                    }
                };
                self.io.depth = true;
                c.interface.writes_depth = true;
                let value = self.float(c, Value(args[0]));
                self.m.statement(op::STORE, &[variable, value]);
            }
            Op::StoreSampleMask => {
                let key = Key::BuiltinOut(builtin::SAMPLE_MASK);
                let uint = self.m.ty(Type::Uint);
                let variable = match self.known(key) {
                    Some(id) => id,
                    None => {
                        let array = self.m.ty(Type::Array(uint, 1));
                        let id = self.declare(key, storage::OUTPUT, array);
                        self.m.decorate(id, decoration::BUILT_IN, &[builtin::SAMPLE_MASK]);
                        id
                    }
                };
                c.interface.writes_sample_mask = true;
                let pointer = self.m.pointer(storage::OUTPUT, uint);
                let zero = self.m.uint(0);
                let p = self.m.result(op::ACCESS_CHAIN, pointer, &[variable, zero]);
                let value = self.uint(c, Value(args[0]));
                self.m.statement(op::STORE, &[p, value]);
            }
            Op::Demote => {
                self.m.capability(cap::DEMOTE_TO_HELPER_INVOCATION);
                c.interface.requirements |= Requirements::DEMOTE;
                self.m.statement(op::DEMOTE, &[]);
            }
            Op::EmitVertex => self.m.statement(op::EMIT_VERTEX, &[]),
            _ => self.m.statement(op::END_PRIMITIVE, &[]),
        }
    }

    /// Point size or clip distance of an input vertex.
    fn builtin_at(&mut self, c: &mut Context<'_, '_>, v: Value, inst: &Inst) {
        let [word, vertex, ..] = inst.args;
        let float = self.m.ty(Type::Float);
        let clip = word != 0x6C / 4;
        let number = if clip { builtin::CLIP_DISTANCE } else { builtin::POINT_SIZE };
        let key = Key::BuiltinIn(number);
        let variable = match self.known(key) {
            Some(id) => id,
            None => {
                self.needs_vertex_builtin(c, number);
                let of = if clip { self.float_array(8) } else { float };
                let array = self.m.ty(Type::Array(of, Self::input_vertices(c)));
                let id = self.declare(key, storage::INPUT, array);
                self.m.decorate(id, decoration::BUILT_IN, &[number]);
                id
            }
        };
        let vertex = self.vertex(c, Value(vertex));
        let pointer = self.m.pointer(storage::INPUT, float);
        let p = if clip {
            let n = self.m.uint(word - 0x2C0 / 4);
            self.m.result(op::ACCESS_CHAIN, pointer, &[variable, vertex, n])
        } else {
            self.m.result(op::ACCESS_CHAIN, pointer, &[variable, vertex])
        };
        let own = self.own(v);
        self.m.result_as(own, op::LOAD, float, &[p]);
    }
}
