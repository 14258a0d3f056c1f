//! The walk: one IR instruction after the other becomes SPIR-V.
//!
//! A word has one SPIR-V type ([`Function::types`]); readers that want the other one get a cast, made once a block.
//! Operands of phis are cast where they are made, since a phi can cast nothing.

use rustc_hash::FxHashMap;

use super::buffers::Buffers;
use super::images::Images;
use super::module::{Id, Module, Type};
use super::op;
use super::stage::StageIo;
use crate::ir::{Atomic, Class, Function, Inst, Op, Value, WordType};
use crate::lower::{Denormals, Notes};
use crate::passes::types::Types;
use crate::{DeviceFeatures, GuestProgram, Interface, Options, Requirements, Stage};

/// Writes programs; buffers are kept between them.
#[derive(Debug, Default)]
pub struct Emitter {
    pub(super) m: Module,
    /// Id of each value in its own type.
    ids: Vec<Id>,
    /// Id of each word in the other type, and the block that made it (`u32::MAX`: made with the value).
    others: Vec<(Id, u32)>,
    /// Words that phis want in the other type.
    phi_casts: Vec<bool>,
    labels: Vec<Id>,
    scopes: Vec<u32>,
    open: Vec<bool>,
    block: u32,
    pending: Vec<Value>,
    pub(super) io: StageIo,
    pub(super) buffers: Buffers,
    pub(super) images: Images,
}

/// What the emitter needs to know of the program.
pub(super) struct Context<'a, 'p> {
    pub f: &'a Function,
    pub program: &'a GuestProgram<'p>,
    pub options: &'a Options,
    pub types: &'a Types,
    pub notes: Notes,
    pub interface: Interface,
}

/// Writes `f` as a module.
pub(crate) fn emit(
    e: &mut Emitter,
    f: &Function,
    program: &GuestProgram<'_>,
    options: &Options,
    types: &Types,
    notes: Notes,
) -> (Vec<u32>, Interface) {
    let mut interface = Interface::empty(program.stage);
    interface.kills = notes.kills;
    interface.dropped_outputs =
        (0..256).filter(|n| notes.dropped[n / 64] >> (n % 64) & 1 != 0).map(|n| 4 * n as u32).collect();
    interface.one_colour = program.header.one_colour();
    interface.local_size = program.local_size;
    interface.early_fragment_tests = program.early_fragment_tests;
    interface.per_sample = program.per_sample;
    let mut c = Context { f, program, options, types, notes, interface };
    e.start(&c);
    e.m.capability(op::capability::SHADER);
    e.survey(&mut c);
    let main = e.m.id();
    let void = e.m.ty(Type::Void);
    let function = e.m.id();
    super::module::put(&mut e.m.globals, op::TYPE_FUNCTION, &[function, void]);
    e.m.statement(op::FUNCTION, &[void, main, 0, function]);
    let mut first = true;
    for &v in &f.order {
        if f.live[v.index()] && f.resolve(v) == v {
            e.instruction(&mut c, v);
        }
        if first {
            // The entry block begins with the function's variables, which are known only at the end.
            e.buffers.locals_at = e.m.body.len();
            first = false;
        }
    }
    e.m.statement(op::FUNCTION_END, &[]);
    e.finish_modes(&mut c, main);
    let addressing = if c.interface.uses_page_table { op::storage::PHYSICAL_STORAGE_BUFFER - 1 } else { 0 };
    let model = match program.stage {
        Stage::Vertex => 0,
        Stage::TessControl => 1,
        Stage::TessEvaluation => 2,
        Stage::Geometry => 3,
        Stage::Fragment => 4,
        Stage::Compute => 5,
    };
    let spirv = e.m.finish(addressing, model, main);
    (spirv, c.interface)
}

impl Emitter {
    fn start(&mut self, c: &Context<'_, '_>) {
        let n = c.f.insts.len();
        self.m.clear();
        self.ids.clear();
        self.ids.resize(n, 0);
        self.others.clear();
        self.others.resize(n, (0, 0));
        self.phi_casts.clear();
        self.phi_casts.resize(n, false);
        self.labels.clear();
        self.scopes.clear();
        self.open.clear();
        self.pending.clear();
        self.block = 0;
        self.io.clear();
        self.buffers.clear();
        self.images.clear();
    }

    /// Looks over the live instructions: what phis want cast, and how much of each bank is read.
    fn survey(&mut self, c: &mut Context<'_, '_>) {
        for &v in &c.f.order {
            if !c.f.live[v.index()] || c.f.resolve(v) != v {
                continue;
            }
            let inst = c.f.inst(v);
            match inst.op {
                Op::Phi => {
                    let wants = c.f.types[v.index()];
                    c.f.operands(v, |arg, _| {
                        let arg = c.f.resolve(arg);
                        if c.f.inst(arg).op != Op::Const && c.f.types[arg.index()] != wants {
                            self.phi_casts[arg.index()] = true;
                        }
                    });
                }
                Op::LoadConst => self.buffers.note_constant(inst.args[0], inst.args[1], c.f.types[v.index()]),
                Op::LoadConstAt | Op::LoadConstVector | Op::LoadConstPart => self.buffers.note_computed(inst.args[0]),
                Op::AtomicWide if inst.args[2] != u32::MAX => {
                    self.buffers.note_wide(inst.args[2]);
                    c.interface.storage_written |= 1 << inst.args[2];
                    c.interface.storage_slots |= 1 << inst.args[2];
                }
                Op::AtomicStorage if inst.args[4] == Atomic::Load as u32 => self.buffers.note_coherent(inst.args[0]),
                Op::StoreStorage | Op::StoreStorageVector | Op::StoreStoragePart | Op::AtomicStorage => {
                    c.interface.storage_written |= 1 << inst.args[0]
                }
                _ => {}
            }
            if matches!(
                inst.op,
                Op::LoadStorage
                    | Op::LoadStorageVector
                    | Op::LoadStoragePart
                    | Op::StoreStorage
                    | Op::StoreStorageVector
                    | Op::StoreStoragePart
                    | Op::AtomicStorage
            ) {
                c.interface.storage_slots |= 1 << inst.args[0];
            }
        }
    }

    /// The id of a block.
    fn label(&mut self, label: u32) -> Id {
        let at = label as usize;
        if self.labels.len() <= at {
            self.labels.resize(at + 1, 0);
        }
        if self.labels[at] == 0 {
            self.labels[at] = self.m.id();
        }
        self.labels[at]
    }

    /// Is a value made in `scope` usable here?
    pub(super) fn is_open(&self, scope: u32) -> bool {
        self.open.get(scope as usize).copied().unwrap_or(false)
    }

    /// The current scope.
    pub(super) fn scope(&self) -> u32 {
        self.scopes.last().copied().unwrap_or(0)
    }

    /// The id that the result of `v` gets.
    pub(super) fn own(&mut self, v: Value) -> Id {
        if self.ids[v.index()] == 0 {
            self.ids[v.index()] = self.m.id();
        }
        self.ids[v.index()]
    }

    /// Gives `v` an id that exists already.
    pub(super) fn bind(&mut self, v: Value, id: Id) {
        debug_assert_eq!(self.ids[v.index()], 0);
        self.ids[v.index()] = id;
    }

    fn scalar(t: WordType) -> Type {
        match t {
            WordType::Uint => Type::Uint,
            WordType::Float => Type::Float,
        }
    }

    /// Word `v` as `t`.
    pub(super) fn word(&mut self, c: &Context<'_, '_>, v: Value, t: WordType) -> Id {
        let v = c.f.resolve(v);
        let inst = c.f.inst(v);
        if inst.op == Op::Const {
            return self.m.constant(Self::scalar(t), inst.args[0]);
        }
        let own = self.own(v);
        if c.f.types[v.index()] == t {
            return own;
        }
        let (other, block) = self.others[v.index()];
        if other != 0 && (block == u32::MAX || block == self.block) {
            return other;
        }
        let ty = self.m.ty(Self::scalar(t));
        let id = self.m.result(op::BITCAST, ty, &[own]);
        self.others[v.index()] = (id, self.block);
        id
    }

    /// Word as unsigned integer.
    pub(super) fn uint(&mut self, c: &Context<'_, '_>, v: Value) -> Id {
        self.word(c, v, WordType::Uint)
    }

    /// Word as float.
    pub(super) fn float(&mut self, c: &Context<'_, '_>, v: Value) -> Id {
        self.word(c, v, WordType::Float)
    }

    /// Truth value.
    pub(super) fn truth(&mut self, c: &Context<'_, '_>, v: Value) -> Id {
        let v = c.f.resolve(v);
        let inst = c.f.inst(v);
        if inst.op == Op::Truth {
            return self.m.constant(Type::Bool, inst.args[0]);
        }
        self.own(v)
    }

    /// Operand by class.
    pub(super) fn operand(&mut self, c: &Context<'_, '_>, v: Value, class: Class, t: WordType) -> Id {
        match class {
            Class::F => self.float(c, v),
            Class::U => self.uint(c, v),
            Class::P => self.word(c, v, t),
            Class::B => self.truth(c, v),
            _ => {
                let v = c.f.resolve(v);
                self.own(v)
            }
        }
    }

    /// The SPIR-V type of the result of `v`.
    pub(super) fn result_type(&mut self, c: &Context<'_, '_>, v: Value) -> Id {
        let t = match c.f.inst(v).op.result() {
            Class::F => Type::Float,
            Class::U => Type::Uint,
            Class::B => Type::Bool,
            Class::D => Type::Double,
            _ => Self::scalar(c.f.types[v.index()]),
        };
        self.m.ty(t)
    }

    fn instruction(&mut self, c: &mut Context<'_, '_>, v: Value) {
        let inst = *c.f.inst(v);
        if !matches!(inst.op, Op::Phi | Op::PhiB | Op::Label) && !self.pending.is_empty() {
            // Casts of phis come behind the last of them.
            let pending = std::mem::take(&mut self.pending);
            for &p in &pending {
                self.cast_for_phi(c, p);
            }
            self.pending = pending;
            self.pending.clear();
        }
        match inst.op {
            Op::Label => self.begin(&inst),
            Op::Phi | Op::PhiB => self.phi(c, v, &inst),
            Op::If => {
                let condition = self.truth(c, Value(inst.args[0]));
                let (then, other, merge) =
                    (self.label(inst.args[1]), self.label(inst.args[2]), self.label(inst.args[3]));
                self.m.statement(op::SELECTION_MERGE, &[merge, 0]);
                self.m.statement(op::BRANCH_CONDITIONAL, &[condition, then, other]);
            }
            Op::Scope => {
                let (body, merge) = (self.label(inst.args[0]), self.label(inst.args[1]));
                let zero = self.m.uint(0);
                self.m.statement(op::SELECTION_MERGE, &[merge, 0]);
                self.m.statement(op::SWITCH, &[zero, body]);
            }
            Op::Loop => {
                let (body, merge, resume) =
                    (self.label(inst.args[0]), self.label(inst.args[1]), self.label(inst.args[2]));
                self.m.statement(op::LOOP_MERGE, &[merge, resume, 0]);
                self.m.statement(op::BRANCH, &[body]);
            }
            Op::Dispatch => {
                let selector = self.uint(c, Value(inst.args[0]));
                let merge = self.label(inst.args[3]);
                self.m.statement(op::SELECTION_MERGE, &[merge, 0]);
                let mut words = vec![selector, merge];
                for n in 0..inst.args[2] {
                    words.push(n);
                    words.push(self.label(inst.args[1] + n));
                }
                self.m.statement(op::SWITCH, &words);
            }
            Op::Goto => {
                let to = self.label(inst.args[0]);
                self.m.statement(op::BRANCH, &[to]);
            }
            Op::Return => self.m.statement(op::RETURN, &[]),
            Op::Unreachable => self.m.statement(op::UNREACHABLE, &[]),
            Op::LoadConst
            | Op::LoadConstAt
            | Op::LoadConstVector
            | Op::LoadConstPart
            | Op::LoadStorage
            | Op::LoadStorageVector
            | Op::LoadStoragePart
            | Op::StoreStorage
            | Op::StoreStorageVector
            | Op::StoreStoragePart
            | Op::AtomicStorage
            | Op::LoadGlobal
            | Op::StoreGlobal
            | Op::AtomicGlobal
            | Op::LoadShared
            | Op::StoreShared
            | Op::AtomicShared
            | Op::AtomicWide
            | Op::LoadGlobalWide
            | Op::StoreGlobalWide
            | Op::CountAtBarrier
            | Op::LoadLocal
            | Op::StoreLocal
            | Op::Barrier
            | Op::MemoryBarrier => self.memory(c, v, &inst),
            Op::LoadInput
            | Op::LoadInputAt
            | Op::LoadInputSampled
            | Op::LoadPatch
            | Op::Builtin
            | Op::BuiltinB
            | Op::BuiltinAt
            | Op::LoadOutputAt
            | Op::StoreOutput
            | Op::StoreOutputWord
            | Op::StorePatchWord
            | Op::LoadPatchOutput
            | Op::StoreColour
            | Op::StoreDepth
            | Op::StoreSampleMask
            | Op::Demote
            | Op::EmitVertex
            | Op::EndPrimitive => self.stage(c, v, &inst),
            Op::Texture | Op::TextureQuery => self.texture(c, v, &inst),
            Op::ImageSize | Op::ImageLoad | Op::ImageStore | Op::ImageAtomic => self.image(c, v, &inst),
            Op::Extract => self.extract(c, v, &inst),
            _ => self.arithmetic(c, v, &inst),
        }
        if self.phi_casts[v.index()] {
            if inst.op == Op::Phi {
                self.pending.push(v);
            } else {
                self.cast_for_phi(c, v);
            }
        }
    }

    fn cast_for_phi(&mut self, c: &Context<'_, '_>, v: Value) {
        let (to, own) = (
            match c.f.types[v.index()] {
                WordType::Uint => WordType::Float,
                WordType::Float => WordType::Uint,
            },
            self.own(v),
        );
        let ty = self.m.ty(Self::scalar(to));
        // A phi above may have named the id already.
        let (mut id, block) = self.others[v.index()];
        if id == 0 || block != u32::MAX {
            id = self.m.id();
        }
        self.m.result_as(id, op::BITCAST, ty, &[own]);
        self.others[v.index()] = (id, u32::MAX);
    }

    fn begin(&mut self, inst: &Inst) {
        let [label, scope, parent, ..] = inst.args;
        while let Some(&top) = self.scopes.last()
            && top != parent
        {
            self.open[top as usize] = false;
            self.scopes.pop();
        }
        if self.open.len() <= scope as usize {
            self.open.resize(scope as usize + 1, false);
        }
        self.open[scope as usize] = true;
        self.scopes.push(scope);
        self.block += 1;
        let id = self.label(label);
        self.m.next_block();
        self.m.statement(op::LABEL, &[id]);
    }

    fn phi(&mut self, c: &Context<'_, '_>, v: Value, inst: &Inst) {
        let ty = self.result_type(c, v);
        let own = self.own(v);
        let wants = c.f.types[v.index()];
        let pairs = inst.args[0] as usize..(inst.args[0] + 2 * inst.args[1]) as usize;
        let mut words = smallvec::SmallVec::<[u32; 16]>::new();
        for pair in c.f.extra[pairs].chunks_exact(2) {
            let arg = c.f.resolve(Value(pair[1]));
            let arg_inst = c.f.inst(arg);
            let id = if inst.op == Op::PhiB {
                self.truth(c, arg)
            } else if arg_inst.op == Op::Const {
                self.m.constant(Self::scalar(wants), arg_inst.args[0])
            } else if c.f.types[arg.index()] == wants {
                self.own(arg)
            } else {
                let (mut id, block) = self.others[arg.index()];
                if id == 0 || block != u32::MAX {
                    id = self.m.id();
                    self.others[arg.index()] = (id, u32::MAX);
                }
                id
            };
            let from = self.label(pair[0]);
            words.extend([id, from]);
        }
        self.m.result_as(own, op::PHI, ty, &words);
    }

    fn extract(&mut self, c: &Context<'_, '_>, v: Value, inst: &Inst) {
        let vector = c.f.resolve(Value(inst.args[0]));
        if self.images.is_scalar(vector) {
            // A depth comparison gives one value for all components.
            let id = self.own(vector);
            if self.ids[v.index()] == 0 {
                self.bind(v, id);
                return;
            }
            let ty = self.result_type(c, v);
            let own = self.own(v);
            self.m.result_as(own, op::COPY_OBJECT, ty, &[id]);
            return;
        }
        let ty = self.result_type(c, v);
        let (from, own) = (self.own(vector), self.own(v));
        self.m.result_as(own, op::COMPOSITE_EXTRACT, ty, &[from, inst.args[1]]);
    }

    /// Execution modes that are not tied to one stage.
    fn finish_modes(&mut self, c: &mut Context<'_, '_>, main: Id) {
        let features = c.options.features;
        let notes = c.notes;
        let denormals = match notes.denormals {
            Denormals::Any => None,
            Denormals::Flushed => Some((
                op::capability::DENORM_FLUSH_TO_ZERO,
                op::mode::DENORM_FLUSH_TO_ZERO,
                Requirements::FLUSH_DENORMS,
            )),
            Denormals::Kept => {
                Some((op::capability::DENORM_PRESERVE, op::mode::DENORM_PRESERVE, Requirements::PRESERVE_DENORMS))
            }
        };
        if let Some((capability, mode, requirement)) = denormals {
            self.m.capability(capability);
            super::module::put(&mut self.m.modes, op::EXECUTION_MODE, &[main, mode, 32]);
            c.interface.requirements |= requirement;
        }
        if notes.floats && features.contains(DeviceFeatures::PRESERVE_NAN) {
            self.m.capability(op::capability::SIGNED_ZERO_INF_NAN_PRESERVE);
            super::module::put(&mut self.m.modes, op::EXECUTION_MODE, &[main, op::mode::PRESERVE_NAN, 32]);
            c.interface.requirements |= Requirements::PRESERVE_NAN;
        }
        if notes.zeros64 && features.contains(DeviceFeatures::PRESERVE_NAN64) {
            self.m.capability(op::capability::SIGNED_ZERO_INF_NAN_PRESERVE);
            super::module::put(&mut self.m.modes, op::EXECUTION_MODE, &[main, op::mode::PRESERVE_NAN, 64]);
            c.interface.requirements |= Requirements::PRESERVE_NAN64;
        }
        self.stage_modes(c, main);
        if !self.m.locals.is_empty() {
            let at = self.buffers.locals_at;
            let locals = std::mem::take(&mut self.m.locals);
            self.m.body.splice(at..at, locals.iter().copied());
            self.m.locals = locals;
        }
    }
}

/// Ids of things made once, by key and scope.
pub(super) type Made<K> = FxHashMap<K, (Id, u32)>;
