//! Structured syntax: the graph as nested selections, scopes and loops.
//!
//! After Ramsey ("Beyond Relooper", 2022): the dominator tree gives the nesting. A block with one forward
//! predecessor is put where its predecessor jumps; a block where paths meet, or to which a loop exits, is put behind
//! a *scope* around the block that dominates it (behind the loop, for loop exits, so that threads meet again before
//! it). A scope that every path leaves by reaching its end needs no code; the others become a switch with one case,
//! whose merge is a break target. SPIR-V lets a block leave only the innermost loop or switch: exits over more than
//! one set the *exit register* and are passed on at each merge.
//!
//! The result is a flat list of [`Event`]s in SPIR-V's block order, which the lowering walks once. Irreducible graphs
//! become one loop around a switch over the blocks.

use smallvec::SmallVec;

use super::{BlockId, Condition, Graph, Terminator};
use crate::TranslateError;

/// A SPIR-V block to be.
pub type Label = u32;

/// No block, no loop.
const NONE: u32 = u32::MAX;
/// Rounds of finding the scopes that need code; then all of them get it.
const ROUNDS: u32 = 16;
/// Nesting of constructs, which bounds the recursion.
const DEPTH_LIMIT: u32 = 500;

/// Condition of an [`Event::If`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// Of the machine.
    Machine(Condition),
    /// The exit register has this value.
    Exit(u32),
}

/// One step of the structured program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The instructions of a block.
    Code(BlockId),
    /// A selection; ends the SPIR-V block.
    If {
        /// Condition.
        test: Test,
        /// Where to when it holds.
        then: Label,
        /// Where to when not.
        otherwise: Label,
        /// Merge block; may be one of the two.
        merge: Label,
    },
    /// A switch with one case, so that `merge` can be broken to.
    Scope {
        /// Begins next.
        body: Label,
        /// Behind it.
        merge: Label,
    },
    /// A loop begins.
    Loop {
        /// Block of the phis.
        header: Label,
        /// Begins next.
        body: Label,
        /// Behind the loop.
        merge: Label,
        /// Block that jumps back.
        resume: Label,
        /// Number of the natural loop; `NONE` of the dispatcher contains every block.
        index: u32,
    },
    /// A SPIR-V block begins.
    Label(Label),
    /// To a SPIR-V block.
    Goto(Label),
    /// From the resume block back to the header.
    Repeat(Label),
    /// Sets the exit register.
    SetExit(u32),
    /// Sets the exit register by a condition.
    SelectExit {
        /// Condition.
        condition: Condition,
        /// Value when it holds.
        taken: u32,
        /// Value when not.
        otherwise: u32,
    },
    /// A switch over the exit register: value i goes to label `first + i`; others to `merge`.
    Dispatch {
        /// Label of value 0.
        first: Label,
        /// Number of values.
        count: u32,
        /// Behind it.
        merge: Label,
    },
    /// The thread ends.
    Exit,
}

/// Index of the loop that contains every block: the dispatcher of an irreducible graph.
pub const EVERY_BLOCK: u32 = NONE;

#[derive(Clone, Copy, Debug)]
enum Kind {
    If { merge: Label },
    Scope { block: BlockId, real: bool, merge: Label },
    Loop { block: BlockId, header: Label, merge: Label, resume: Label },
}

#[derive(Clone, Debug)]
struct Frame {
    kind: Kind,
    /// Blocks to which exits have to be passed on at the merge.
    pending: SmallVec<[BlockId; 2]>,
}

/// A natural loop.
#[derive(Clone, Copy, Debug)]
struct NaturalLoop {
    header: BlockId,
    parent: u32,
}

/// How a jump reaches its target.
#[derive(Clone, Copy, Debug)]
enum Route {
    /// By reaching the end of the innermost construct.
    Fall,
    /// By a branch to a label.
    Direct(Label),
    /// Through the exit register and the merge of frame `.0`.
    Over(usize),
    /// Not yet: the target's scope has to become real.
    Blocked,
}

/// Structures graphs; buffers are kept between programs.
#[derive(Debug, Default)]
pub struct Structure {
    /// The structured program.
    pub events: Vec<Event>,
    /// Number of labels.
    pub labels: u32,
    order: Vec<BlockId>,
    number: Vec<u32>,
    idom: Vec<u32>,
    pred_start: Vec<u32>,
    preds: Vec<BlockId>,
    loop_of: Vec<u32>,
    loops: Vec<NaturalLoop>,
    loop_at: Vec<u32>,
    is_merge: Vec<bool>,
    real: Vec<bool>,
    first_child: Vec<u32>,
    next_child: Vec<u32>,
    frames: Vec<Frame>,
    visit: Vec<(BlockId, u8)>,
    changed: bool,
}

impl Structure {
    /// Structures `graph` into [`Structure::events`].
    ///
    /// # Errors
    /// Constructs nested too deeply.
    pub fn build(&mut self, graph: &Graph, key: u64) -> Result<(), TranslateError> {
        self.number_blocks(graph);
        if !self.dominators(graph) {
            self.dispatcher(graph);
            return Ok(());
        }
        self.find_loops(graph);
        self.place(graph);
        self.real.clear();
        self.real.resize(graph.blocks.len(), false);
        // Each round makes at least one more scope real, and a round that makes none is final.
        for round in 0.. {
            if round == ROUNDS {
                self.real.fill(true);
            }
            self.events.clear();
            self.frames.clear();
            self.labels = 1;
            self.changed = false;
            self.tree(graph, 0, 0, key)?;
            if !self.changed {
                break;
            }
        }
        Ok(())
    }

    /// Whether `block` is in loop `index`.
    pub fn contains(&self, index: u32, block: BlockId) -> bool {
        if index == EVERY_BLOCK {
            return true;
        }
        let mut l = self.loop_of.get(block as usize).copied().unwrap_or(NONE);
        while l != NONE {
            if l == index {
                return true;
            }
            l = self.loops[l as usize].parent;
        }
        false
    }

    /// Reverse postorder and predecessors.
    fn number_blocks(&mut self, graph: &Graph) {
        let n = graph.blocks.len();
        self.number.clear();
        self.number.resize(n, NONE);
        self.order.clear();
        self.visit.clear();
        self.visit.push((0, 0));
        self.number[0] = 0;
        while let Some(&mut (block, ref mut next)) = self.visit.last_mut() {
            // The branch's other side first, so that the taken side's blocks come later in the order, as in code.
            let step = usize::from(*next);
            *next += 1;
            match graph.successors(block).nth(step) {
                Some(s) if self.number[s as usize] == NONE => {
                    self.number[s as usize] = 0;
                    self.visit.push((s, 0));
                }
                Some(_) => {}
                None => {
                    self.order.push(block);
                    self.visit.pop();
                }
            }
        }
        self.order.reverse();
        for (i, &b) in self.order.iter().enumerate() {
            self.number[b as usize] = i as u32;
        }
        self.pred_start.clear();
        self.pred_start.resize(n + 1, 0);
        for &b in &self.order {
            for s in graph.successors(b) {
                self.pred_start[s as usize + 1] += 1;
            }
        }
        for i in 0..n {
            self.pred_start[i + 1] += self.pred_start[i];
        }
        self.preds.clear();
        self.preds.resize(self.pred_start[n] as usize, 0);
        let mut at = self.pred_start.clone();
        for &b in &self.order {
            for s in graph.successors(b) {
                self.preds[at[s as usize] as usize] = b;
                at[s as usize] += 1;
            }
        }
    }

    fn preds(&self, block: BlockId) -> &[BlockId] {
        &self.preds[self.pred_start[block as usize] as usize..self.pred_start[block as usize + 1] as usize]
    }

    fn number(&self, block: BlockId) -> u32 {
        self.number[block as usize]
    }

    fn common(&self, mut a: BlockId, mut b: BlockId) -> BlockId {
        while a != b {
            while self.number(a) > self.number(b) {
                a = self.idom[a as usize];
            }
            while self.number(b) > self.number(a) {
                b = self.idom[b as usize];
            }
        }
        a
    }

    fn dominates(&self, a: BlockId, mut b: BlockId) -> bool {
        while self.number(b) > self.number(a) {
            b = self.idom[b as usize];
        }
        a == b
    }

    /// Immediate dominators (Cooper, Harvey, Kennedy). False when the graph is irreducible.
    fn dominators(&mut self, graph: &Graph) -> bool {
        self.idom.clear();
        self.idom.resize(graph.blocks.len(), NONE);
        self.idom[0] = 0;
        loop {
            let mut changed = false;
            for i in 1..self.order.len() {
                let b = self.order[i];
                let mut new = NONE;
                for p in self.pred_start[b as usize]..self.pred_start[b as usize + 1] {
                    let p = self.preds[p as usize];
                    if self.idom[p as usize] != NONE {
                        new = if new == NONE { p } else { self.common(p, new) };
                    }
                }
                if self.idom[b as usize] != new {
                    self.idom[b as usize] = new;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        self.order.iter().all(|&b| graph.successors(b).all(|s| self.number(s) > self.number(b) || self.dominates(s, b)))
    }

    /// Natural loops, inner ones first, and the innermost loop of each block.
    fn find_loops(&mut self, graph: &Graph) {
        let n = graph.blocks.len();
        self.loops.clear();
        self.loop_of.clear();
        self.loop_of.resize(n, NONE);
        self.loop_at.clear();
        self.loop_at.resize(n, NONE);
        let mut work: Vec<BlockId> = Vec::new();
        for i in (0..self.order.len()).rev() {
            let header = self.order[i];
            work.clear();
            work.extend(self.preds(header).iter().copied().filter(|&p| self.number(p) >= self.number(header)));
            if work.is_empty() {
                continue;
            }
            let index = self.loops.len() as u32;
            self.loops.push(NaturalLoop { header, parent: NONE });
            self.loop_at[header as usize] = index;
            while let Some(b) = work.pop() {
                let mut outer = self.loop_of[b as usize];
                if outer == NONE {
                    self.loop_of[b as usize] = index;
                    if b != header {
                        work.extend_from_slice(self.preds(b));
                    }
                    continue;
                }
                while self.loops[outer as usize].parent != NONE {
                    outer = self.loops[outer as usize].parent;
                }
                if outer != index {
                    self.loops[outer as usize].parent = index;
                    let inner = self.loops[outer as usize].header;
                    let entries = self.pred_start[inner as usize]..self.pred_start[inner as usize + 1];
                    for p in entries {
                        let p = self.preds[p as usize];
                        if self.number(p) < self.number(inner) {
                            work.push(p);
                        }
                    }
                }
            }
            if self.loop_of[header as usize] == NONE {
                self.loop_of[header as usize] = index;
            }
        }
    }

    /// Which blocks are put behind a scope, and behind whose.
    fn place(&mut self, graph: &Graph) {
        let n = graph.blocks.len();
        self.is_merge.clear();
        self.is_merge.resize(n, false);
        self.first_child.clear();
        self.first_child.resize(n, NONE);
        self.next_child.clear();
        self.next_child.resize(n, NONE);
        // From the last block to the first, so that each list comes out in ascending order.
        for i in (1..self.order.len()).rev() {
            let b = self.order[i];
            let mut forward = 0;
            let mut leaves = false;
            for &p in self.preds(b) {
                if self.number(p) < self.number(b) {
                    forward += 1;
                    let from = self.loop_of[p as usize];
                    leaves |= from != NONE && !self.contains(from, b);
                }
            }
            if forward < 2 && !leaves {
                continue;
            }
            self.is_merge[b as usize] = true;
            let mut parent = self.idom[b as usize];
            let mut l = self.loop_of[parent as usize];
            while l != NONE && !self.contains(l, b) {
                parent = self.loops[l as usize].header;
                l = self.loops[l as usize].parent;
            }
            self.next_child[b as usize] = self.first_child[parent as usize];
            self.first_child[parent as usize] = b;
        }
    }

    fn label(&mut self) -> Label {
        self.labels += 1;
        self.labels - 1
    }

    fn emit(&mut self, event: Event) {
        self.events.push(event);
    }

    fn push(&mut self, kind: Kind) {
        self.frames.push(Frame { kind, pending: SmallVec::new() });
    }

    /// Is the jump from `from` to `to` replaced by the target itself?
    fn inline(&self, from: BlockId, to: BlockId) -> bool {
        !self.is_merge[to as usize] && self.number(to) > self.number(from)
    }

    fn open_scope(&mut self, block: BlockId) {
        let real = self.real[block as usize];
        let mut merge = NONE;
        if real {
            let body = self.label();
            merge = self.label();
            self.emit(Event::Scope { body, merge });
            self.emit(Event::Label(body));
        }
        self.push(Kind::Scope { block, real, merge });
    }

    /// Emits the part of the dominator tree under `x`, which the end of the innermost frame follows.
    fn tree(&mut self, graph: &Graph, mut x: BlockId, depth: u32, key: u64) -> Result<(), TranslateError> {
        if depth > DEPTH_LIMIT {
            return Err(TranslateError::TooLarge { key, what: "the nesting of control flow" });
        }
        'next: loop {
            let base = self.frames.len();
            let own = self.loop_at[x as usize];
            let mut children: SmallVec<[BlockId; 8]> = SmallVec::new();
            let mut child = self.first_child[x as usize];
            while child != NONE {
                children.push(child);
                child = self.next_child[child as usize];
            }
            if own != NONE {
                for &y in children.iter().rev().filter(|&&y| !self.contains(own, y)).collect::<SmallVec<[_; 8]>>() {
                    self.open_scope(y);
                }
                let (header, body, merge, resume) = (self.label(), self.label(), self.label(), self.label());
                self.emit(Event::Loop { header, body, merge, resume, index: own });
                self.emit(Event::Label(body));
                self.push(Kind::Loop { block: x, header, merge, resume });
            }
            for &y in children.iter().rev() {
                if own == NONE || self.contains(own, y) {
                    self.open_scope(y);
                }
            }
            self.emit(Event::Code(x));
            match graph.blocks[x as usize].terminator {
                Terminator::Exit => self.emit(Event::Exit),
                Terminator::Goto(t) if self.inline(x, t) => {
                    if self.frames.len() == base {
                        x = t;
                        continue 'next;
                    }
                    self.tree(graph, t, depth + 1, key)?;
                }
                Terminator::Goto(t) => self.jump(t),
                Terminator::Branch { condition, taken, otherwise } => {
                    let flat = self.branch(graph, x, condition, taken, otherwise, depth, key)?;
                    if let Some(t) = flat {
                        if self.frames.len() == base {
                            x = t;
                            continue 'next;
                        }
                        self.tree(graph, t, depth + 1, key)?;
                    }
                }
            }
            while self.frames.len() > base {
                let Some(frame) = self.frames.pop() else { break };
                match frame.kind {
                    Kind::If { .. } => {}
                    Kind::Loop { header, merge, resume, .. } => {
                        self.emit(Event::Label(resume));
                        self.emit(Event::Repeat(header));
                        self.emit(Event::Label(merge));
                        self.pass_on(&frame.pending);
                        self.fall();
                    }
                    Kind::Scope { block, real, merge } => {
                        if real {
                            self.emit(Event::Label(merge));
                            self.pass_on(&frame.pending);
                        }
                        if self.frames.len() == base {
                            x = block;
                            continue 'next;
                        }
                        self.tree(graph, block, depth + 1, key)?;
                    }
                }
            }
            return Ok(());
        }
    }

    /// Emits a selection. Returns the block that goes on behind it at the same level, if one does.
    #[allow(clippy::too_many_arguments)]
    fn branch(
        &mut self,
        graph: &Graph,
        x: BlockId,
        condition: Condition,
        taken: BlockId,
        otherwise: BlockId,
        depth: u32,
        key: u64,
    ) -> Result<Option<BlockId>, TranslateError> {
        let test = Test::Machine(condition);
        let (inline_t, inline_f) = (self.inline(x, taken), self.inline(x, otherwise));
        let arm_t = if inline_t { None } else { self.arm(taken) };
        let arm_f = if inline_f { None } else { self.arm(otherwise) };
        if let Some(label) = arm_t {
            let merge = self.label();
            self.emit(Event::If { test, then: label, otherwise: merge, merge });
            self.emit(Event::Label(merge));
            if inline_f {
                return Ok(Some(otherwise));
            }
            self.jump(otherwise);
            return Ok(None);
        }
        if let Some(label) = arm_f {
            let merge = self.label();
            self.emit(Event::If { test, then: merge, otherwise: label, merge });
            self.emit(Event::Label(merge));
            if inline_t {
                return Ok(Some(taken));
            }
            self.jump(taken);
            return Ok(None);
        }
        let merge = self.label();
        self.push(Kind::If { merge });
        let falls = |s: &Self, t: BlockId, inline: bool| !inline && matches!(s.route(t), Route::Fall);
        let then = if falls(self, taken, inline_t) { merge } else { self.label() };
        let other = if falls(self, otherwise, inline_f) { merge } else { self.label() };
        self.emit(Event::If { test, then, otherwise: other, merge });
        for (label, target, inline) in [(then, taken, inline_t), (other, otherwise, inline_f)] {
            if label == merge {
                continue;
            }
            self.emit(Event::Label(label));
            if inline {
                self.tree(graph, target, depth + 1, key)?;
            } else {
                self.jump(target);
            }
        }
        self.frames.pop();
        self.emit(Event::Label(merge));
        self.fall();
        Ok(None)
    }

    /// A label that a conditional branch may name for a jump to `t`.
    fn arm(&self, t: BlockId) -> Option<Label> {
        match self.route(t) {
            Route::Direct(label) => Some(label),
            Route::Fall => match self.frames.last()?.kind {
                Kind::Scope { real: true, merge, .. } => Some(merge),
                Kind::Loop { resume, .. } => Some(resume),
                _ => None,
            },
            _ => None,
        }
    }

    /// The end of the innermost construct is reached.
    fn fall(&mut self) {
        let Some(frame) = self.frames.last() else { return };
        match frame.kind {
            Kind::If { merge } | Kind::Scope { real: true, merge, .. } => self.emit(Event::Goto(merge)),
            Kind::Scope { .. } => {}
            Kind::Loop { resume, .. } => self.emit(Event::Goto(resume)),
        }
    }

    fn jump(&mut self, t: BlockId) {
        match self.route(t) {
            Route::Fall => self.fall(),
            Route::Direct(label) => self.emit(Event::Goto(label)),
            Route::Over(frame) => {
                self.emit(Event::SetExit(t + 1));
                let pending = &mut self.frames[frame].pending;
                if !pending.contains(&t) {
                    pending.push(t);
                }
                match self.frames[frame].kind {
                    Kind::If { merge } | Kind::Scope { merge, .. } | Kind::Loop { merge, .. } => {
                        self.emit(Event::Goto(merge));
                    }
                }
            }
            Route::Blocked => {
                if !self.real[t as usize] {
                    self.real[t as usize] = true;
                    self.changed = true;
                }
            }
        }
    }

    /// Passes on exits that stopped at a merge.
    fn pass_on(&mut self, pending: &[BlockId]) {
        for &t in pending {
            let (then, merge) = (self.label(), self.label());
            self.emit(Event::If { test: Test::Exit(t + 1), then, otherwise: merge, merge });
            self.emit(Event::Label(then));
            if !matches!(self.route(t), Route::Over(_)) {
                self.emit(Event::SetExit(0));
            }
            self.jump(t);
            self.emit(Event::Label(merge));
        }
    }

    /// Does the merge of frame `i` lead to `t` without further code?
    fn leads(&self, i: usize, t: BlockId) -> bool {
        if let Kind::Scope { block, .. } = self.frames[i].kind {
            return block == t;
        }
        for frame in self.frames[..i].iter().rev() {
            match frame.kind {
                Kind::If { .. } => {}
                Kind::Scope { block, .. } | Kind::Loop { block, .. } => return block == t,
            }
        }
        false
    }

    fn route(&self, t: BlockId) -> Route {
        for frame in self.frames.iter().rev() {
            match frame.kind {
                Kind::If { .. } => {}
                Kind::Scope { block, .. } | Kind::Loop { block, .. } => {
                    if block == t {
                        return Route::Fall;
                    }
                    break;
                }
            }
        }
        let mut scope = None;
        let mut around = None;
        for (i, frame) in self.frames.iter().enumerate().rev() {
            match frame.kind {
                Kind::Scope { real: true, merge, .. } if scope.is_none() => {
                    scope = Some(i);
                    if self.leads(i, t) {
                        return Route::Direct(merge);
                    }
                }
                Kind::Loop { block, merge, resume, .. } => {
                    if block == t {
                        return Route::Direct(resume);
                    }
                    if self.leads(i, t) {
                        return Route::Direct(merge);
                    }
                    around = Some(i);
                    break;
                }
                _ => {}
            }
        }
        let home = self.frames.iter().rposition(|f| match f.kind {
            Kind::Scope { block, .. } | Kind::Loop { block, .. } => block == t,
            Kind::If { .. } => false,
        });
        match (home, around, scope) {
            (Some(home), Some(l), _) if home < l => Route::Over(l),
            (Some(home), _, Some(s)) if home < s => Route::Over(s),
            _ => Route::Blocked,
        }
    }

    /// An irreducible graph: a loop around a switch over the blocks, the next block in the exit register.
    fn dispatcher(&mut self, graph: &Graph) {
        self.events.clear();
        self.loops.clear();
        self.loop_of.clear();
        let count = graph.blocks.len() as u32;
        let (header, body, merge, resume, join) = (1, 2, 3, 4, 5);
        let first = 6;
        self.labels = first + count;
        self.emit(Event::SetExit(0));
        self.emit(Event::Loop { header, body, merge, resume, index: EVERY_BLOCK });
        self.emit(Event::Label(body));
        self.emit(Event::Dispatch { first, count, merge: join });
        for b in 0..count {
            self.emit(Event::Label(first + b));
            self.emit(Event::Code(b));
            match graph.blocks[b as usize].terminator {
                Terminator::Exit => {
                    self.emit(Event::Exit);
                    continue;
                }
                Terminator::Goto(t) => self.emit(Event::SetExit(t)),
                Terminator::Branch { condition, taken, otherwise } => {
                    self.emit(Event::SelectExit { condition, taken, otherwise });
                }
            }
            self.emit(Event::Goto(join));
        }
        self.emit(Event::Label(join));
        self.emit(Event::Goto(resume));
        self.emit(Event::Label(resume));
        self.emit(Event::Repeat(header));
        self.emit(Event::Label(merge));
    }
}
