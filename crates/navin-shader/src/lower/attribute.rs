//! Attributes: inputs, outputs, interpolation, vertices of geometry and tessellation programs, the thread's end.
//!
//! Outputs of vertex, evaluation and geometry programs are slots of the state like registers, and are stored as whole
//! vectors when the thread ends or a vertex is emitted; tessellation control programs store at once, since other
//! invocations may read.

use super::{Lower, NONE, PATCH_VECTORS, Result};
use crate::ir::{Builtin, Op as Ir, Value};
use crate::isa::{Field, Instr, Op};
use crate::{Interpolation, Stage, state_bank};

/// First word of the generic vectors.
const GENERIC: u32 = 0x80 / 4;
/// One past their last word.
const GENERIC_END: u32 = 0x280 / 4;
/// Words of the position.
const POSITION: u32 = 0x70 / 4;
/// Word of the point size.
const POINT_SIZE: u32 = 0x6C / 4;

impl Lower<'_, '_> {
    /// AL2P, ALD, AST, IPA, ISBERD, OUT, PIXLD.
    pub(super) fn attribute(&mut self, i: &Instr) -> Result<()> {
        match i.op {
            // Physical addresses are logical ones here.
            Op::Al2p => {
                let a = self.a(i);
                let offset = self.b.word(i.get(Field::Attr11));
                let address = self.b.op2(Ir::IAdd, a, offset);
                self.set_dst(i, address);
                let no = self.b.truth(false);
                self.set_predicate(i.get(Field::Pd), no);
                Ok(())
            }
            // A vertex handle is the vertex's number: the first primitive of the warp is the only one.
            Op::Isberd => {
                let a = self.a(i);
                self.set_dst(i, a);
                Ok(())
            }
            Op::Ald => self.load_attribute(i),
            Op::Ast => self.store_attribute(i),
            Op::Ipa => self.interpolate(i),
            Op::Out => self.emit_vertex(i),
            _ => self.pixel(i),
        }
    }

    fn component(&mut self, vector: Value, component: u32) -> Value {
        self.b.pure(Ir::Extract, &[vector.0, component & 3])
    }

    fn load_attribute(&mut self, i: &Instr) -> Result<()> {
        if matches!(self.program.stage, Stage::Fragment | Stage::Compute) {
            return self.unsupported(i, "this stage has no vertex attributes");
        }
        let first = i.get(Field::Attr11);
        for n in 0..=i.get(Field::Size) {
            let a = self.a(i);
            let v = match self.b.f.constant(a) {
                Some(k) => self.input_word(i, (k.wrapping_add(first) / 4 + n) & 255)?,
                None => self.indexed_input(i, a, first + 4 * n)?,
            };
            self.set_reg(i.get(Field::Dst).saturating_add(n), v);
        }
        Ok(())
    }

    /// The input word of ALD.
    pub(super) fn input_word(&mut self, i: &Instr, word: u32) -> Result<Value> {
        let stage = self.program.stage;
        let address = word * 4;
        if i.flag(Field::Patch) {
            return self.patch_word(i, word);
        }
        match address {
            0x60 if stage != Stage::Vertex => return Ok(self.builtin(Builtin::PrimitiveId)),
            0x2F0 if stage == Stage::TessEvaluation => return Ok(self.builtin(Builtin::TessCoordX)),
            0x2F4 if stage == Stage::TessEvaluation => return Ok(self.builtin(Builtin::TessCoordY)),
            0x2F8 if stage == Stage::Vertex => {
                let index = self.builtin(Builtin::InstanceIndex);
                let base = self.builtin(Builtin::BaseInstance);
                return Ok(self.b.op2(Ir::ISub, index, base));
            }
            0x2FC if stage == Stage::Vertex => return Ok(self.builtin(Builtin::VertexIndex)),
            _ => {}
        }
        let generic = (GENERIC..GENERIC_END).contains(&word).then(|| (word - GENERIC) / 4);
        if stage == Stage::Vertex {
            let Some(location) = generic.filter(|&l| l < 16) else {
                return self.unsupported(i, "vertex programs have no such input");
            };
            let vector = self.b.pure(Ir::LoadInput, &[location]);
            return Ok(self.component(vector, word));
        }
        let vertex = self.reg(i.get(Field::Vtx));
        if i.flag(Field::Out) {
            if stage != Stage::TessControl {
                return self.unsupported(i, "only tessellation control programs read outputs back");
            }
            let epoch = self.b.epoch;
            return Ok(self.b.pure(Ir::LoadOutputAt, &[word, vertex.0, epoch]));
        }
        if let Some(k) = self.b.f.constant(vertex) {
            self.notes.input_vertices = self.notes.input_vertices.max(k.saturating_add(1).min(32));
        }
        if passes(word) {
            return Ok(self.vertex_word(word, vertex));
        }
        self.unsupported(i, "this input attribute is not translated")
    }

    /// Patch space: levels and per-patch vectors.
    fn patch_word(&mut self, i: &Instr, word: u32) -> Result<Value> {
        match self.program.stage {
            Stage::TessControl => {
                let epoch = self.b.epoch;
                Ok(self.b.pure(Ir::LoadPatchOutput, &[word, epoch]))
            }
            Stage::TessEvaluation => Ok(match word {
                0..=3 => self.b.pure(Ir::Builtin, &[Builtin::TessOuter0 as u32 + word]),
                4 | 5 => self.b.pure(Ir::Builtin, &[Builtin::TessInner0 as u32 + word - 4]),
                _ if PATCH_VECTORS.contains(&word) => {
                    let vector = self.b.pure(Ir::LoadPatch, &[(word - 8) / 4]);
                    self.component(vector, word)
                }
                _ => return self.unsupported(i, "this patch attribute is not translated"),
            }),
            _ => self.unsupported(i, "this stage has no patch attributes"),
        }
    }

    fn store_attribute(&mut self, i: &Instr) -> Result<()> {
        if matches!(self.program.stage, Stage::Fragment | Stage::Compute) {
            return self.unsupported(i, "this stage has no vertex attributes");
        }
        let data = i.get(Field::Data);
        let patch = i.flag(Field::Patch);
        if patch && self.program.stage != Stage::TessControl {
            return self.unsupported(i, "only tessellation control programs write patch attributes");
        }
        for n in 0..=i.get(Field::Size) {
            let v = self.reg(if data == 255 { 255 } else { data + n });
            let at = i.get(Field::Attr11) + 4 * n;
            let a = self.a(i);
            match self.b.f.constant(a) {
                Some(k) => {
                    let word = (k.wrapping_add(at) / 4) & 255;
                    if self.program.stage == Stage::TessControl {
                        self.store_control(word, patch, v);
                    } else {
                        self.set_output(word, v);
                    }
                }
                None => self.indexed_store(i, a, at, v),
            }
        }
        if self.program.stage == Stage::TessControl {
            self.b.epoch += 1;
        }
        Ok(())
    }

    /// Stores a word of a tessellation control program, per vertex or of the patch.
    pub(super) fn store_control(&mut self, word: u32, patch: bool, v: Value) {
        if has_output(Stage::TessControl, word, patch) {
            let op = if patch { Ir::StorePatchWord } else { Ir::StoreOutputWord };
            self.b.effect(op, &[word, v.0]);
        } else {
            self.notes.drop_output(word);
        }
    }

    pub(super) fn set_output(&mut self, word: u32, v: Value) {
        let slot = self.slots.outputs[word as usize];
        if slot == NONE {
            return;
        }
        let slot = slot as usize;
        self.m.slots[slot] = match self.guard {
            Some(g) => {
                let old = self.m.slots[slot];
                self.b.select(g, v, old)
            }
            None => v,
        };
    }

    /// A generic fragment input; perspective ones come divided by w already.
    fn varying(&mut self, word: u32) -> Value {
        let n = word - GENERIC;
        let vector = self.b.pure(Ir::LoadInput, &[n / 4]);
        self.component(vector, n)
    }

    fn interpolate(&mut self, i: &Instr) -> Result<()> {
        if self.program.stage != Stage::Fragment {
            return self.unsupported(i, "only fragment programs interpolate");
        }
        let address = i.get(Field::Attr10);
        let a = if i.flag(Field::Idx) { self.a(i) } else { self.b.word(0) };
        let mut v = match self.b.f.constant(a) {
            Some(k) => self.fragment_input(i, k.wrapping_add(address) & 0x3FC)?,
            None => self.indexed_interpolation(i, a, address)?,
        };
        if i.flag(Field::Sat) {
            v = self.b.op1(Ir::FSat, v);
        }
        self.set_dst(i, v);
        Ok(())
    }

    /// What IPA reads at `address`.
    pub(super) fn fragment_input(&mut self, i: &Instr, address: u32) -> Result<Value> {
        let word = address / 4;
        Ok(match address {
            0x60 => self.builtin(Builtin::PrimitiveId),
            0x64 => self.builtin(Builtin::Layer),
            0x68 => self.builtin(Builtin::ViewportIndex),
            0x70 => self.builtin(Builtin::FragCoordX),
            0x74 => self.builtin(Builtin::FragCoordY),
            0x78 => self.builtin(Builtin::FragCoordZ),
            0x7C => self.w_at(i),
            0x80..=0x27C => self.interpolated(i, word)?,
            0x2C0..=0x2DC => self.b.pure(Ir::Builtin, &[Builtin::ClipDistance0 as u32 + word - 0x2C0 / 4]),
            0x2E0 => self.builtin(Builtin::PointCoordX),
            0x2E4 => self.builtin(Builtin::PointCoordY),
            0x3FC => {
                let front = self.b.pure(Ir::BuiltinB, &[Builtin::FrontFacing as u32]);
                let (ones, zero) = (self.b.word(u32::MAX), self.b.word(0));
                self.b.select(front, ones, zero)
            }
            _ => return self.unsupported(i, "this attribute has no counterpart in Vulkan"),
        })
    }

    /// A generic attribute at the pixel's centre, centroid or an offset; with a factor unless the host's own
    /// perspective interpolation has applied it.
    fn interpolated(&mut self, i: &Instr, word: u32) -> Result<Value> {
        let n = word - GENERIC;
        let (location, component) = (n / 4, n % 4);
        let kind = self.program.header.interpolation(location, component);
        let (mode, sample) = (i.get(Field::Mode), i.get(Field::Sample));
        let v = match sample {
            0 => self.varying(word),
            1 | 2 if kind == Interpolation::Flat => self.varying(word),
            1 | 2 => {
                let (x, y) = self.sample_offset(i);
                let vector = self.b.pure(Ir::LoadInputSampled, &[location, sample, x.0, y.0]);
                self.component(vector, component)
            }
            _ => return self.unsupported(i, "this sample position is not known"),
        };
        // PASS leaves a perspective attribute divided by w; MULTIPLY undoes that with its factor, which is w.
        if mode == 0 && kind == Interpolation::Perspective {
            let w = self.w_at(i);
            return Ok(self.b.op2(Ir::FMul, v, w));
        }
        if mode != 1 {
            return Ok(v);
        }
        let factor = self.reg(i.get(Field::B));
        if kind != Interpolation::Perspective {
            return Ok(self.b.op2(Ir::FMul, v, factor));
        }
        let w = self.w_at(i);
        let inst = *self.b.f.inst(factor);
        if inst.op == Ir::FRcp && inst.args[0] == w.0 {
            return Ok(v);
        }
        // A factor other than w is applied to the quotient.
        let quotient = self.b.op2(Ir::FMul, v, w);
        Ok(self.b.op2(Ir::FMul, quotient, factor))
    }

    /// Where IPA samples, from the pixel's centre: zeros unless it has an offset.
    fn sample_offset(&mut self, i: &Instr) -> (Value, Value) {
        let zero = self.b.word(0);
        if i.get(Field::Sample) != 2 {
            return (zero, zero);
        }
        let c = self.reg(i.get(Field::C));
        let (sixteen, scale) = (self.b.word(16), self.b.float(1.0 / 4096.0));
        let [x, y] = [zero, sixteen].map(|at| {
            let n = self.b.op3(Ir::BfeS, c, at, sixteen);
            let n = self.b.op1(Ir::SToF, n);
            self.b.op2(Ir::FMul, n, scale)
        });
        (x, y)
    }

    /// 1/w where IPA samples; at a centroid, whose place nobody tells, that of the centre.
    fn w_at(&mut self, i: &Instr) -> Value {
        let w = self.builtin(Builtin::FragCoordW);
        if i.get(Field::Sample) != 2 {
            return w;
        }
        let (x, y) = self.sample_offset(i);
        // It is linear in the window.
        let (dx, dy) = (self.b.op1(Ir::DPdx, w), self.b.op1(Ir::DPdy, w));
        let (dx, dy) = (self.b.op2(Ir::FMul, dx, x), self.b.op2(Ir::FMul, dy, y));
        let w = self.b.op2(Ir::FAdd, w, dx);
        self.b.op2(Ir::FAdd, w, dy)
    }

    /// PIXLD.
    fn pixel(&mut self, i: &Instr) -> Result<()> {
        let v = match i.get(Field::Mode) {
            1 => self.builtin(Builtin::SampleMask),
            5 => self.builtin(Builtin::SampleId),
            _ => return self.unsupported(i, "only coverage mask and sample index are translated"),
        };
        self.set_dst(i, v);
        let no = self.b.truth(false);
        self.set_predicate(i.get(Field::Pd), no);
        Ok(())
    }

    /// KIL: the thread goes on as a helper.
    pub(super) fn kill(&mut self, i: &Instr) -> Result<()> {
        if self.program.stage != Stage::Fragment {
            return self.unsupported(i, "only fragment programs kill");
        }
        self.notes.kills = true;
        match i.get(Field::Cond) {
            15 => {
                self.demote();
            }
            0 => {}
            n => {
                let Some(test) = self.flag_test(n) else {
                    return self.unsupported(i, "condition codes 24 to 29 have no known meaning");
                };
                let (then, merge) = (self.new_label(), self.new_label());
                self.selection(test, then, merge, merge);
                self.begin(then);
                self.demote();
                self.goto(merge);
                self.begin(merge);
            }
        }
        Ok(())
    }

    fn demote(&mut self) {
        self.b.effect(Ir::Demote, &[]);
        self.b.epoch += 1;
    }

    fn emit_vertex(&mut self, i: &Instr) -> Result<()> {
        if self.program.stage != Stage::Geometry {
            return self.unsupported(i, "only geometry programs emit vertices");
        }
        let stream = self.b_word(i)?;
        if self.b.f.constant(stream) != Some(0) {
            return self.unsupported(i, "only vertex stream 0 is translated");
        }
        let mode = i.get(Field::Mode);
        if mode & 1 != 0 {
            self.store_outputs();
            self.b.effect(Ir::EmitVertex, &[0]);
        }
        if mode & 2 != 0 {
            self.b.effect(Ir::EndPrimitive, &[0]);
        }
        let zero = self.b.word(0);
        self.set_dst(i, zero);
        Ok(())
    }

    /// Stores the output slots: vectors whole, the rest word by word.
    fn store_outputs(&mut self) {
        let value = |s: &Self, word: u32| match s.slots.outputs[word as usize] {
            NONE => Value::NONE,
            slot => s.m.slots[slot as usize],
        };
        for base in std::iter::once(POSITION).chain((GENERIC..GENERIC_END).step_by(4)) {
            let words = [0, 1, 2, 3].map(|c| value(self, base + c));
            if words.iter().any(|w| w.is_some()) {
                let at = self.b.f.extra.len() as u32;
                self.b.f.extra.extend(words.map(|w| w.0));
                let which = if base == POSITION { POSITION_OUTPUT } else { (base - GENERIC) / 4 };
                self.b.effect(Ir::StoreOutput, &[which, at]);
            }
        }
        let stage = self.program.stage;
        for word in (0..POSITION).chain(GENERIC_END..256) {
            let mut v = value(self, word);
            if v.is_some() && !has_output(stage, word, false) {
                self.notes.drop_output(word);
                continue;
            }
            if word == POINT_SIZE && !v.is_some() && self.options.point_size {
                v = self.b.pure(Ir::LoadConst, &[state_bank::BANK, state_bank::POINT_SIZE]);
            }
            if v.is_some() {
                self.b.effect(Ir::StoreOutputWord, &[word, v.0]);
            }
        }
    }

    /// Kills the fragment if its alpha fails the test of [`state_bank`].
    fn alpha_test(&mut self, alpha: Value) {
        self.notes.kills = true;
        let reference = self.b.pure(Ir::LoadConst, &[state_bank::BANK, state_bank::ALPHA_REFERENCE]);
        let function = self.b.pure(Ir::LoadConst, &[state_bank::BANK, state_bank::ALPHA_FUNCTION]);
        let (zero, all) = (self.b.word(0), self.b.word(7));
        // With all three, NaN passes too.
        let mut passes = self.b.op2(Ir::IEq, function, all);
        for (bit, compare) in [(1, Ir::FLt), (2, Ir::FEq), (4, Ir::FGt)] {
            let holds = self.b.op2(compare, alpha, reference);
            let bit = self.b.word(bit);
            let asked = self.b.op2(Ir::And, function, bit);
            let asked = self.b.op2(Ir::INe, asked, zero);
            let both = self.b.op2(Ir::BAnd, asked, holds);
            passes = self.b.op2(Ir::BOr, passes, both);
        }
        let fails = self.b.op1(Ir::BNot, passes);
        let (then, merge) = (self.new_label(), self.new_label());
        self.selection(fails, then, merge, merge);
        self.begin(then);
        self.demote();
        self.goto(merge);
        self.begin(merge);
    }

    /// What is stored when the thread ends.
    pub(super) fn epilogue(&mut self) -> Result<()> {
        match self.program.stage {
            Stage::Vertex | Stage::TessEvaluation => self.store_outputs(),
            Stage::Geometry if self.program.header.passthrough() => self.pass_primitive(),
            Stage::Fragment => self.store_colours(),
            _ => {}
        }
        Ok(())
    }

    /// Pass-through geometry programs put out their input primitive, its vertices with what the program stored.
    fn pass_primitive(&mut self) {
        let input = self.options.geometry_input.unwrap_or(crate::GeometryInput::Triangles);
        for &vertex in input.passed_vertices() {
            let passed = self.slots.passed;
            for word in (0..256u32).filter(|w| passed[*w as usize / 64] >> (w % 64) & 1 != 0) {
                let at = self.b.word(vertex);
                self.notes.input_vertices = self.notes.input_vertices.max(vertex + 1);
                let v = self.vertex_word(word, at);
                self.m.slots[self.slots.outputs[word as usize] as usize] = v;
            }
            self.store_outputs();
            self.b.effect(Ir::EmitVertex, &[0]);
        }
        self.b.effect(Ir::EndPrimitive, &[0]);
    }

    /// A word of an input vertex of those that [`passes`].
    fn vertex_word(&mut self, word: u32, vertex: Value) -> Value {
        let which = match word * 4 {
            0x70..=0x7C => POSITION_INPUT,
            0x80..=0x27C => (word - GENERIC) / 4,
            _ => return self.b.pure(Ir::BuiltinAt, &[word, vertex.0]),
        };
        let vector = self.b.pure(Ir::LoadInputAt, &[which, vertex.0]);
        self.component(vector, word)
    }

    /// Colours lie in registers from 0 on, four for each target that the header names; then sample mask and depth.
    fn store_colours(&mut self) {
        let header = &self.program.header;
        let mut register = 0;
        for target in 0..8 {
            if header.colour_mask(target) == 0 {
                continue;
            }
            let mask = header.colour_mask(target);
            let words = [0, 1, 2, 3].map(|c| if mask >> c & 1 != 0 { self.reg(register + c) } else { Value::NONE });
            if target == 0 && self.options.alpha_test && words[3].is_some() {
                self.alpha_test(words[3]);
            }
            let at = self.b.f.extra.len() as u32;
            self.b.f.extra.extend(words.map(|w| w.0));
            let to = if header.one_colour() { u32::from(self.options.colour_targets | 1) } else { 1 << target };
            for target in (0..8).filter(|t| to >> t & 1 != 0) {
                self.b.effect(Ir::StoreColour, &[target, at]);
            }
            register += 4;
        }
        if header.writes_sample_mask() {
            let v = self.reg(register);
            self.b.effect(Ir::StoreSampleMask, &[v.0]);
        }
        if header.writes_depth() {
            let v = self.reg(register + 1);
            self.b.effect(Ir::StoreDepth, &[v.0]);
        }
    }
}

/// Number of the position in [`Ir::LoadInputAt`].
pub(crate) const POSITION_INPUT: u32 = 32;
/// Number of the position in [`Ir::StoreOutput`].
pub(crate) const POSITION_OUTPUT: u32 = 32;

/// Is `word` one of those that input vertices have: position, point size, generic vectors, clip distances?
pub(super) fn passes(word: u32) -> bool {
    matches!(word * 4, 0x6C..=0x27C | 0x2C0..=0x2DC)
}

/// Has the stage an output at `word`? In patch space: levels and vectors, which control programs write.
fn has_output(stage: Stage, word: u32, patch: bool) -> bool {
    if patch {
        return word < 6 || PATCH_VECTORS.contains(&word);
    }
    match word * 4 {
        0x60 => stage == Stage::Geometry,
        0x64 | 0x68 => stage != Stage::TessControl,
        0x6C..=0x27C | 0x2C0..=0x2DC => true,
        _ => false,
    }
}
