//! Lowering: instructions to IR, along the structured events.
//!
//! [`Lower`] walks [`Structure::events`] once and keeps the machine's state as SSA values, one *slot* a register,
//! predicate, condition flag and pending output. Where paths meet it compares the states that arrive and makes phis
//! for the slots that differ; at a loop's head it makes phis for the slots that the loop writes. Guards become
//! selects, or a selection where the instruction has an effect. Each instruction family has its file.

mod attribute;
mod convert;
mod denormals;
mod double;
mod float;
mod half;
mod indexed;
mod integer;
mod memory;
mod multiply;
mod operand;
mod range;
mod slots;
mod soft;
mod surface;
mod texture;
mod video;
mod warp;
mod wide;

use rustc_hash::FxHashMap;

use crate::cfg::structure::{Event, Label, Structure, Test};
use crate::cfg::{BlockId, Condition, Graph};
use crate::ir::builder::Builder;
use crate::ir::{Op as Ir, Value};
use crate::isa::{Field, Instr, Op};
use crate::{GuestProgram, Options, Stage, TranslateError};

pub(crate) use attribute::{POSITION_INPUT, POSITION_OUTPUT};
pub use denormals::Denormals;
use slots::{Slots, scan, width};
pub(crate) use texture::{dimensions, is_array};

pub(crate) type Result<T> = std::result::Result<T, TranslateError>;

/// Instructions of IR that one program may grow to.
const IR_LIMIT: usize = 1 << 20;
/// Words of saved states.
const STATE_LIMIT: usize = 1 << 24;
/// Words of the per-patch vectors behind the levels: 30, as many as Vulkan's 120 components. One more and NVIDIA's GPU is
/// lost.
pub(crate) const PATCH_VECTORS: std::ops::Range<u32> = 8..128;
/// No entry.
const NONE: u32 = u32::MAX;

/// A way into a block: the block it comes from and the state there.
#[derive(Clone, Copy, Debug)]
struct Edge {
    from: Label,
    state: u32,
    next: u32,
}

/// A loop being lowered.
#[derive(Clone, Debug)]
struct OpenLoop {
    header: Label,
    /// State at the head, phis included.
    state: u32,
    /// Slots with phis.
    phis: Vec<(u32, Value)>,
}

/// What [`Lower`] keeps from program to program.
#[derive(Debug, Default)]
pub struct Memory {
    slots: Vec<Value>,
    states: Vec<Value>,
    edges: Vec<Edge>,
    first_edge: Vec<u32>,
    named: Vec<bool>,
    resumes: Vec<bool>,
    parent: Vec<u32>,
    /// Constructs around a block.
    levels: Vec<u32>,
    /// A path leads to the block on which shared memory was written and no barrier passed since.
    dirty: Vec<bool>,
    /// States at the ends of blocks that threads go back to when they end.
    kept: Vec<(BlockId, u32)>,
    writes: Vec<u64>,
    multiplies: FxHashMap<Value, multiply::Multiply>,
}

/// What the lowering learns for the interface and the module header.
#[derive(Clone, Copy, Debug, Default)]
pub struct Notes {
    /// What the module does with denormals.
    pub denormals: Denormals,
    /// The program has arithmetic on floats, so NaN, infinities and signed zeros have to come out right.
    pub floats: bool,
    /// Zeros of doubles have to keep their signs, for the arithmetic of a directed rounding. Elsewhere they are left to
    /// the device, as compilers of other languages leave them.
    pub zeros64: bool,
    /// One past the highest input vertex read with a constant index.
    pub input_vertices: u32,
    /// The program kills pixels.
    pub kills: bool,
    /// Words of attribute space that the program stores to and the stage does not have, a bit each.
    pub dropped: [u64; 4],
}

impl Notes {
    fn drop_output(&mut self, word: u32) {
        self.dropped[(word as usize / 64) & 3] |= 1 << (word % 64);
    }
}

/// Lowers one program.
pub(crate) struct Lower<'a, 'p> {
    b: &'a mut Builder,
    m: &'a mut Memory,
    program: &'a GuestProgram<'p>,
    options: &'a Options,
    graph: &'a Graph,
    structure: &'a Structure,
    slots: Slots,
    notes: Notes,
    guard: Option<Value>,
    current: Label,
    dead: bool,
    labels: u32,
    loops: Vec<OpenLoop>,
    flags_used: bool,
    place: u32,
    /// See [`Memory::dirty`], of the current path.
    dirty: bool,
    /// Body and merge of the loop whose body begins next, where rounds are counted.
    capped: Option<(Label, Label)>,
}

/// Lowers `program` into `b.f`.
pub(crate) fn lower(
    b: &mut Builder,
    m: &mut Memory,
    program: &GuestProgram<'_>,
    options: &Options,
    graph: &Graph,
    structure: &Structure,
) -> Result<Notes> {
    let (slots, flags_used) = scan(program, graph);
    let mut lower = Lower {
        b,
        m,
        program,
        options,
        graph,
        structure,
        slots,
        notes: Notes { denormals: Denormals::choose(graph, options), ..Notes::default() },
        guard: None,
        current: 0,
        dead: false,
        labels: structure.labels,
        loops: Vec::new(),
        flags_used,
        place: 0,
        dirty: false,
        capped: None,
    };
    lower.run()?;
    Ok(lower.notes)
}

/// Has the instruction an effect that a select cannot undo?
fn has_effect(stage: Stage, op: Op) -> bool {
    match op {
        Op::Ast => stage == Stage::TessControl,
        Op::Stg | Op::St | Op::Stl | Op::Sts | Op::Red | Op::Atom | Op::AtomCas | Op::Atoms | Op::AtomsCas => true,
        Op::SustD | Op::SustP | Op::SuatomD | Op::SuatomDCas | Op::SuatomP | Op::SuatomPCas => true,
        Op::SuredD | Op::SuredP | Op::Kil | Op::Out | Op::Bar | Op::Membar | Op::Vote => true,
        Op::Shfl => stage != Stage::Fragment,
        _ => false,
    }
}

impl Lower<'_, '_> {
    fn run(&mut self) -> Result<()> {
        let zero = self.b.word(0);
        let no = self.b.truth(false);
        self.m.slots.clear();
        for slot in 0..self.slots.count {
            self.m.slots.push(if self.slots.is_truth(slot) { no } else { zero });
        }
        self.m.slots[self.slots.alive() as usize] = self.b.truth(true);
        self.m.states.clear();
        self.m.edges.clear();
        self.m.first_edge.clear();
        self.m.named.clear();
        self.m.resumes.clear();
        self.m.parent.clear();
        self.m.levels.clear();
        self.m.dirty.clear();
        self.m.kept.clear();
        self.m.multiplies.clear();
        self.grow_labels();
        self.find_writes();
        let scope = self.b.enter(None);
        self.b.push(Ir::Label, [0, scope, NONE, NONE, NONE]);
        let structure = self.structure;
        for event in &structure.events {
            self.event(*event)?;
            if self.b.f.insts.len() > IR_LIMIT || self.m.states.len() > STATE_LIMIT {
                return Err(TranslateError::TooLarge { key: self.program.key, what: "the translated program" });
            }
        }
        if !self.dead {
            self.b.push(Ir::Unreachable, [NONE; 5]);
        }
        Ok(())
    }

    fn grow_labels(&mut self) {
        let n = self.labels as usize;
        self.m.first_edge.resize(n, NONE);
        self.m.named.resize(n, false);
        self.m.resumes.resize(n, false);
        self.m.parent.resize(n, 0);
        self.m.levels.resize(n, 0);
        self.m.dirty.resize(n, false);
    }

    fn new_label(&mut self) -> Label {
        self.labels += 1;
        self.grow_labels();
        self.labels - 1
    }

    /// Slots that each block writes: a bit set a block.
    fn find_writes(&mut self) {
        let words = self.set_words();
        self.m.writes.clear();
        self.m.writes.resize(words * self.graph.blocks.len(), 0);
        for (i, block) in self.graph.blocks.iter().enumerate() {
            let set = &mut self.m.writes[i * words..(i + 1) * words];
            let mut add = |slot: u32| {
                if let Some(w) = set.get_mut(slot as usize / 64) {
                    *w |= 1 << (slot % 64);
                }
            };
            for instr in &self.graph.instrs[block.start as usize..block.end as usize] {
                for field in [Field::Dst, Field::Dst2] {
                    let r = instr.get(field);
                    if instr.has(field) && r != 255 {
                        for k in 0..width(instr) {
                            if r + k < self.slots.registers {
                                add(r + k);
                            }
                        }
                    }
                }
                for field in [Field::Pd, Field::Pdn] {
                    if instr.has(field) && instr.get(field) != 7 {
                        add(self.slots.predicate(instr.get(field)));
                    }
                }
                if instr.op == Op::R2p {
                    (0..11).for_each(|p| add(self.slots.predicate(p)));
                }
                if instr.flag(Field::Cc) || instr.get(Field::Xmode) != 0 {
                    (0..4).for_each(|n| add(self.slots.flag(n)));
                }
                if instr.op == Op::Bar {
                    add(self.slots.reduction());
                }
                if instr.op == Op::Ast || instr.op == Op::Out {
                    self.slots.outputs.iter().filter(|s| **s != NONE).for_each(|&s| add(s));
                }
            }
            if block.retires.is_some() {
                add(self.slots.alive());
            }
        }
    }

    fn set_words(&self) -> usize {
        self.slots.count as usize / 64 + 1
    }

    /// Saves the state.
    fn save(&mut self) -> u32 {
        let at = self.m.states.len() as u32;
        self.m.states.extend_from_slice(&self.m.slots);
        at
    }

    fn edge(&mut self, to: Label, state: u32) {
        let edge = Edge { from: self.current, state, next: self.m.first_edge[to as usize] };
        self.m.first_edge[to as usize] = self.m.edges.len() as u32;
        self.m.edges.push(edge);
        self.m.dirty[to as usize] |= self.dirty;
    }

    fn goto(&mut self, to: Label) {
        if self.dead {
            return;
        }
        let state = self.save();
        self.edge(to, state);
        self.b.push(Ir::Goto, [to, NONE, NONE, NONE, NONE]);
        self.dead = true;
    }

    /// A block begins: the states that arrive are joined.
    fn begin(&mut self, label: Label) {
        let first = self.m.first_edge[label as usize];
        if first == NONE && !self.m.named[label as usize] {
            self.dead = true;
            return;
        }
        let parent = self.m.parent[label as usize];
        let scope = self.b.enter(Some(parent));
        self.b.push(Ir::Label, [label, scope, parent, NONE, NONE]);
        self.current = label;
        self.dirty = self.m.dirty[label as usize];
        if first == NONE {
            // A resume block jumps back even when nothing arrives there: `close_loop` ends it.
            self.dead = true;
            if !self.m.resumes[label as usize] {
                self.b.push(Ir::Unreachable, [NONE; 5]);
            }
            return;
        }
        self.dead = false;
        let edge = self.m.edges[first as usize];
        let n = self.slots.count as usize;
        let start = edge.state as usize;
        self.m.slots.clear();
        self.m.slots.extend_from_slice(&self.m.states[start..start + n]);
        if edge.next == NONE {
            return;
        }
        for slot in 0..n {
            let value = self.m.slots[slot];
            let mut at = edge.next;
            let mut differs = false;
            while at != NONE {
                let other = self.m.edges[at as usize];
                differs |= self.m.states[other.state as usize + slot] != value;
                at = other.next;
            }
            if !differs {
                continue;
            }
            let list = self.b.f.extra.len() as u32;
            let mut pairs = 0;
            let mut at = first;
            while at != NONE {
                let other = self.m.edges[at as usize];
                self.b.f.extra.push(other.from);
                self.b.f.extra.push(self.m.states[other.state as usize + slot].0);
                pairs += 1;
                at = other.next;
            }
            let op = if self.slots.is_truth(slot as u32) { Ir::PhiB } else { Ir::Phi };
            self.m.slots[slot] = self.b.push(op, [list, pairs, NONE, NONE, NONE]);
        }
    }

    fn event(&mut self, event: Event) -> Result<()> {
        match event {
            Event::Label(label) => {
                self.begin(label);
                if let Some((body, merge)) = self.capped
                    && body == label
                {
                    self.capped = None;
                    self.count_round(merge);
                }
            }
            Event::Code(block) => {
                if !self.dead {
                    self.block(block)?;
                    if let Some((condition, when)) = self.graph.blocks[block as usize].retires {
                        let c = self.condition(condition)?;
                        let stays = if when { self.b.op1(Ir::BNot, c) } else { c };
                        let alive = self.slots.alive();
                        let old = self.m.slots[alive as usize];
                        self.m.slots[alive as usize] = self.b.op2(Ir::BAnd, old, stays);
                    }
                    self.restore(block);
                }
            }
            Event::Goto(label) => self.goto(label),
            Event::If { test, then, otherwise, merge } => {
                if !self.dead {
                    let condition = match test {
                        Test::Machine(c) => self.condition(c)?,
                        Test::Exit(n) => {
                            let exit = self.m.slots[self.slots.exit() as usize];
                            let n = self.b.word(n);
                            self.b.op2(Ir::IEq, exit, n)
                        }
                    };
                    self.selection(condition, then, otherwise, merge);
                }
            }
            Event::Scope { body, merge } => {
                if !self.dead {
                    let scope = self.b.scope();
                    let state = self.save();
                    self.edge(body, state);
                    let level = self.m.levels[self.current as usize];
                    self.m.parent[body as usize] = scope;
                    self.m.parent[merge as usize] = scope;
                    self.m.levels[body as usize] = level + 1;
                    self.m.levels[merge as usize] = level;
                    self.m.named[merge as usize] = true;
                    self.b.push(Ir::Scope, [body, merge, NONE, NONE, NONE]);
                    self.dead = true;
                }
            }
            Event::Loop { header, body, merge, resume, index } => self.open_loop(header, body, merge, resume, index),
            Event::Repeat(header) => self.close_loop(header)?,
            Event::SetExit(n) => {
                let value = self.b.word(n);
                self.m.slots[self.slots.exit() as usize] = value;
            }
            Event::SelectExit { condition, taken, otherwise } => {
                if !self.dead {
                    let c = self.condition(condition)?;
                    let (t, o) = (self.b.word(taken), self.b.word(otherwise));
                    self.m.slots[self.slots.exit() as usize] = self.b.select(c, t, o);
                }
            }
            Event::Dispatch { first, count, merge } => {
                if !self.dead {
                    let scope = self.b.scope();
                    let state = self.save();
                    let level = self.m.levels[self.current as usize];
                    for label in first..first + count {
                        self.edge(label, state);
                        self.m.parent[label as usize] = scope;
                        self.m.levels[label as usize] = level + 1;
                    }
                    self.m.levels[merge as usize] = level;
                    self.edge(merge, state);
                    self.m.parent[merge as usize] = scope;
                    self.m.named[merge as usize] = true;
                    let exit = self.m.slots[self.slots.exit() as usize];
                    self.b.push(Ir::Dispatch, [exit.0, first, count, merge, NONE]);
                    self.dead = true;
                }
            }
            Event::Exit => {
                if !self.dead {
                    self.epilogue()?;
                    self.b.push(Ir::Return, [NONE; 5]);
                    self.dead = true;
                }
            }
        }
        Ok(())
    }

    /// Keeps the state at the end of a block that others go back to, or goes back to it.
    fn restore(&mut self, block: BlockId) {
        if let Some(branch) = self.graph.blocks[block as usize].restores
            && let Some(&(_, state)) = self.m.kept.iter().find(|(b, _)| *b == branch)
        {
            let kept = [self.slots.alive(), self.slots.rounds()].map(|slot| (slot, self.m.slots[slot as usize]));
            let (start, n) = (state as usize, self.slots.count as usize);
            self.m.slots.clear();
            self.m.slots.extend_from_slice(&self.m.states[start..start + n]);
            for (slot, value) in kept {
                self.m.slots[slot as usize] = value;
            }
        }
        if self.graph.retiring && self.graph.blocks.iter().any(|b| b.restores == Some(block)) {
            let state = self.save();
            self.m.kept.push((block, state));
        }
    }

    /// Ends the block with a selection.
    fn selection(&mut self, condition: Value, then: Label, otherwise: Label, merge: Label) {
        let scope = self.b.scope();
        let state = self.save();
        let level = self.m.levels[self.current as usize];
        self.m.named[merge as usize] = true;
        self.m.parent[merge as usize] = scope;
        self.m.levels[merge as usize] = level;
        for label in [then, otherwise] {
            self.edge(label, state);
            // Labels of outer constructs have their scope already.
            if !self.m.named[label as usize] {
                self.m.parent[label as usize] = scope;
                self.m.levels[label as usize] = level + 1;
            }
        }
        self.b.push(Ir::If, [condition.0, then, otherwise, merge, NONE]);
        self.dead = true;
    }

    fn open_loop(&mut self, header: Label, body: Label, merge: Label, resume: Label, index: u32) {
        if self.dead {
            return;
        }
        let from = self.current;
        let level = self.m.levels[from as usize];
        self.b.push(Ir::Goto, [header, NONE, NONE, NONE, NONE]);
        let outer = self.b.scope();
        let scope = self.b.enter(Some(outer));
        self.b.push(Ir::Label, [header, scope, outer, NONE, NONE]);
        self.current = header;
        self.b.epoch += 1;
        let words = self.set_words();
        let mut set = vec![0u64; words];
        for block in 0..self.graph.blocks.len() {
            if self.structure.contains(index, block as BlockId) {
                for (w, &x) in set.iter_mut().zip(&self.m.writes[block * words..(block + 1) * words]) {
                    *w |= x;
                }
            }
        }
        for slot in [self.slots.exit(), self.slots.rounds()] {
            set[slot as usize / 64] |= 1 << (slot % 64);
        }
        self.dirty |= self.writes_shared(index);
        let mut phis = Vec::new();
        for slot in 0..self.slots.count {
            if set[slot as usize / 64] >> (slot % 64) & 1 == 0 {
                continue;
            }
            let list = self.b.f.extra.len() as u32;
            let entry = self.m.slots[slot as usize];
            self.b.f.extra.extend([from, entry.0, resume, entry.0]);
            let op = if self.slots.is_truth(slot) { Ir::PhiB } else { Ir::Phi };
            let phi = self.b.push(op, [list, 2, NONE, NONE, NONE]);
            self.m.slots[slot as usize] = phi;
            phis.push((slot, phi));
        }
        let state = self.save();
        self.loops.push(OpenLoop { header, state, phis });
        self.b.push(Ir::Loop, [body, merge, resume, NONE, NONE]);
        self.edge(body, state);
        for label in [body, merge, resume] {
            self.m.parent[label as usize] = scope;
            self.m.levels[label as usize] = level + 1;
        }
        self.m.levels[merge as usize] = level;
        self.m.levels[header as usize] = level + 1;
        if self.options.loop_limit.is_some() {
            self.capped = Some((body, merge));
        }
        self.m.named[merge as usize] = true;
        self.m.named[resume as usize] = true;
        self.m.resumes[resume as usize] = true;
        self.dead = true;
    }

    /// Ends the loop that leads to `merge` when all loops together have gone as many rounds as the diagnostic allows.
    fn count_round(&mut self, merge: Label) {
        let Some(limit) = self.options.loop_limit.filter(|_| !self.dead) else { return };
        let slot = self.slots.rounds() as usize;
        let one = self.b.word(1);
        let count = self.b.op2(Ir::IAdd, self.m.slots[slot], one);
        self.m.slots[slot] = count;
        let limit = self.b.word(limit);
        let over = self.b.op2(Ir::UGt, count, limit);
        let (then, go_on) = (self.new_label(), self.new_label());
        self.selection(over, then, go_on, go_on);
        self.begin(then);
        self.goto(merge);
        self.begin(go_on);
    }

    /// Does loop `index` write shared memory?
    fn writes_shared(&self, index: u32) -> bool {
        self.program.stage == Stage::Compute
            && self.graph.blocks.iter().enumerate().any(|(n, block)| {
                self.structure.contains(index, n as BlockId)
                    && self.graph.instrs[block.start as usize..block.end as usize]
                        .iter()
                        .any(|i| matches!(i.op, Op::Sts | Op::Atoms | Op::AtomsCas | Op::St))
            })
    }

    /// Makes the writes of the warp's other threads to shared memory seen by the next load, where some path to here
    /// wrote and met no barrier (B529).
    pub(crate) fn see_shared(&mut self) {
        if self.dirty {
            self.b.effect(Ir::MemoryBarrier, &[0]);
            self.b.epoch += 1;
            self.dirty = false;
        }
    }

    /// The resume block ends: its state goes into the head's phis.
    fn close_loop(&mut self, header: Label) -> Result<()> {
        let Some(open) = self.loops.last().filter(|l| l.header == header).cloned() else { return Ok(()) };
        self.loops.pop();
        if !self.dead {
            let n = self.slots.count as usize;
            let start = open.state as usize;
            for (slot, phi) in &open.phis {
                let list = self.b.f.inst(*phi).args[0] as usize;
                self.b.f.extra[list + 3] = self.m.slots[*slot as usize].0;
                self.m.states[start + *slot as usize] = self.m.slots[*slot as usize];
            }
            if self.m.slots[..n] != self.m.states[start..start + n] {
                return Err(TranslateError::BadControlFlow {
                    key: self.program.key,
                    offset: 0,
                    reason: "a loop changes state that none of its instructions names".into(),
                });
            }
        }
        self.b.push(Ir::Goto, [header, NONE, NONE, NONE, NONE]);
        self.b.epoch += 1;
        self.dead = true;
        Ok(())
    }

    /// Truth of a condition of the machine.
    fn condition(&mut self, c: Condition) -> Result<Value> {
        let mut p = self.predicate(u32::from(c.predicate), c.inverted);
        if let Some((register, word)) = c.case {
            let value = self.reg(u32::from(register));
            let word = self.b.word(word);
            let here = self.b.op2(Ir::IEq, value, word);
            p = self.b.op2(Ir::BAnd, here, p);
        }
        if c.test == 15 {
            return Ok(p);
        }
        let test = self.flag_test(u32::from(c.test)).ok_or_else(|| TranslateError::BadControlFlow {
            key: self.program.key,
            offset: 0,
            reason: "condition codes 24 to 29 have no known meaning".into(),
        })?;
        Ok(self.b.op2(Ir::BAnd, p, test))
    }

    /// The instructions of a block.
    fn block(&mut self, block: BlockId) -> Result<()> {
        let graph = self.graph;
        let block = graph.blocks[block as usize];
        let instrs = &graph.instrs[block.start as usize..block.end as usize];
        let mut i = 0;
        while i < instrs.len() {
            let instr = &instrs[i];
            let (p, inverted) = instr.guard();
            // Threads that have ended have no effect, but meet the others.
            let ended = |op: Op| self.graph.retiring && has_effect(self.program.stage, op) && !meets(op) && !is_own(op);
            if p == 7 && (inverted || !ended(instr.op)) {
                if !inverted {
                    self.instruction(instr)?;
                }
                i += 1;
                continue;
            }
            // Neighbours under one guard are one selection when one of them has an effect.
            let mut end = i;
            let mut effect = false;
            while end < instrs.len() && instrs[end].guard() == (p, inverted) {
                // What has no effect goes on in threads that have ended, so that they decide as the others do.
                let op = instrs[end].op;
                let alone = self.graph.retiring && has_effect(self.program.stage, op) && !is_own(op);
                if alone && end > i {
                    break;
                }
                effect |= has_effect(self.program.stage, instrs[end].op);
                end += 1;
                if alone || writes_predicate(&instrs[end - 1], p) {
                    break;
                }
            }
            let mut guard = self.predicate(p, inverted);
            if ended(instr.op) {
                let alive = self.m.slots[self.slots.alive() as usize];
                guard = self.b.op2(Ir::BAnd, guard, alive);
            }
            if let Some(t) = self.b.f.truth(guard) {
                if t {
                    for instr in &instrs[i..end] {
                        self.instruction(instr)?;
                    }
                }
            } else if effect {
                let (then, merge) = (self.new_label(), self.new_label());
                self.selection(guard, then, merge, merge);
                self.begin(then);
                for instr in &instrs[i..end] {
                    self.instruction(instr)?;
                }
                self.goto(merge);
                self.begin(merge);
            } else {
                self.guard = Some(guard);
                for instr in &instrs[i..end] {
                    let done = self.instruction(instr);
                    if done.is_err() {
                        self.guard = None;
                        return done;
                    }
                }
                self.guard = None;
            }
            i = end;
        }
        Ok(())
    }

    fn unsupported<T>(&self, instr: &Instr, reason: &'static str) -> Result<T> {
        Err(TranslateError::Unsupported {
            key: self.program.key,
            offset: instr.offset,
            instruction: instr.name().into(),
            reason: reason.into(),
        })
    }

    /// One instruction, its guard apart.
    fn instruction(&mut self, i: &Instr) -> Result<()> {
        match i.op {
            // Waits, hints and cache control have no effect on values.
            Op::Nop | Op::Depbar | Op::Cctl | Op::Cctll | Op::Cctlt | Op::Sam | Op::Ram | Op::VoteVtg => Ok(()),
            Op::Mov | Op::Mov32i | Op::Sel | Op::S2r | Op::Cs2r => self.moves(i),
            Op::Iadd | Op::Iadd32i | Op::Iadd3 | Op::Iscadd | Op::Iscadd32i | Op::Lea | Op::LeaHi => self.add(i),
            Op::Imul | Op::Imul32i | Op::Imad | Op::Imad32i | Op::Xmad | Op::Idp => self.multiply(i),
            Op::Imadsp => self.part_multiply(i),
            Op::Shl | Op::Shr | Op::ShfL | Op::ShfR | Op::Bfe | Op::Bfi => self.shift(i),
            Op::Lop | Op::Lop32i | Op::Lop3 | Op::Prmt | Op::Popc | Op::Flo | Op::Imnmx => self.bits(i),
            Op::Iset | Op::Isetp | Op::Icmp | Op::Pset | Op::Psetp | Op::Cset | Op::Csetp => self.compare(i),
            Op::P2r | Op::R2p => self.predicate_moves(i),
            Op::Fadd | Op::Fadd32i | Op::Fmul | Op::Fmul32i | Op::Ffma | Op::Ffma32i => self.float_arithmetic(i),
            Op::Fmnmx | Op::Fset | Op::Fsetp | Op::Fcmp | Op::Fchk => self.float_compare(i),
            Op::Mufu | Op::Rro => self.float_function(i),
            Op::Dadd | Op::Dmul | Op::Dfma | Op::Dmnmx | Op::Dset | Op::Dsetp => self.double(i),
            Op::F2f | Op::F2i | Op::I2f | Op::I2i => self.conversion(i),
            Op::Hadd2 | Op::Hadd2x32i | Op::Hmul2 | Op::Hmul2x32i | Op::Hfma2 | Op::Hfma2x32i => self.halves(i),
            Op::Hset2 | Op::Hsetp2 => self.half_compare(i),
            Op::Vadd | Op::Vabsdiff | Op::Vmnmx | Op::Vset | Op::Vsetp | Op::Vshl | Op::Vshr | Op::Vmad => {
                self.video(i)
            }
            Op::Ldc | Op::Ldg | Op::Stg | Op::Ldl | Op::Stl | Op::Lds | Op::Sts => self.memory(i),
            Op::Atom | Op::AtomCas | Op::Red | Op::Atoms | Op::AtomsCas => self.atomic(i),
            Op::Membar | Op::Bar | Op::B2r => self.barrier(i),
            Op::Ld | Op::St => self.generic(i),
            Op::Al2p | Op::Ald | Op::Ast | Op::Ipa | Op::Isberd | Op::Out | Op::Pixld => self.attribute(i),
            Op::Kil => self.kill(i),
            Op::Tex | Op::TexB | Op::Texs | Op::TexsF16 | Op::Tld | Op::TldB | Op::Tlds | Op::TldsF16 => {
                self.texture(i)
            }
            Op::Tld4 | Op::Tld4B | Op::Tld4s | Op::Tld4sF16 | Op::Txd | Op::TxdB => self.texture(i),
            Op::Txq | Op::TxqB | Op::Tmml | Op::TmmlB => self.texture_query(i),
            Op::SuldD | Op::SuldP | Op::SustD | Op::SustP => self.surface(i),
            Op::SuatomD | Op::SuatomDCas | Op::SuatomP | Op::SuatomPCas | Op::SuredD | Op::SuredP => {
                self.surface_atomic(i)
            }
            Op::Shfl | Op::Fswzadd | Op::Vote => self.warp(i),
            _ => self.unsupported(i, no_meaning(i.op)),
        }
    }
}

/// Why an instruction has no translation.
fn no_meaning(op: Op) -> &'static str {
    match op {
        Op::Bpt => "breakpoints and traps are a debugger's",
        Op::Rtt => "there are no traps to return from",
        Op::Ide => "interrupts are the driver's",
        Op::Stp => "a wait of the driver's own",
        Op::Getcrsptr | Op::Setcrsptr => "the stack of calls is not seen by Vulkan",
        Op::Getlmembase | Op::Setlmembase => "where local memory lies is the driver's",
        Op::Lepc => "code has no address in Vulkan",
        Op::R2b => "the state of a barrier is not seen by Vulkan",
        Op::LdgPred => "what its predicate does is not known",
        Op::SuatomPd => "residency results are not translated",
        Op::Txa => "what it is for is not known",
        Op::Vabsdiff4 => "how it picks its lanes is not known",
        _ => "no translation is known",
    }
}

/// Has `op` an effect that only the thread itself sees? What it decides may hang on it.
fn is_own(op: Op) -> bool {
    op == Op::Stl
}

/// Do the threads of a workgroup, or of a warp, meet at `op`?
fn meets(op: Op) -> bool {
    matches!(op, Op::Bar | Op::Vote | Op::Shfl)
}

fn writes_predicate(instr: &Instr, p: u32) -> bool {
    instr.op == Op::R2p || [Field::Pd, Field::Pdn].iter().any(|&f| instr.has(f) && instr.get(f) == p)
}
