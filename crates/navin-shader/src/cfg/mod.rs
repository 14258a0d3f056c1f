//! Control flow: from jumps and the divergence stack to a graph, and from the graph to structured syntax.
//!
//! The machine has one stack a warp: SSY, PBK, PCNT, PRET and CAL push an address, SYNC, BRK, CONT and RET pop one
//! of their kind and go there. What the stack holds is known at translation time, so a block here is a pair of an
//! address and a stack ([`Graph::build`]); pops become plain jumps, calls are copied into their callers. The
//! [`structure`] module then turns the graph into the nested selections and loops that SPIR-V wants.

pub mod structure;

use rustc_hash::FxHashMap;

use crate::TranslateError;
use crate::isa::{Field, Instr, Op, decode, next_slot, normalise, relative_target, word_at};

/// Blocks of a way to a thread's end in front of a barrier.
const REGION_LIMIT: usize = 64;
/// Blocks of a program, copies of called functions included.
const BLOCK_LIMIT: usize = 4096;
/// Instructions of a program, copies included.
const INSTRUCTION_LIMIT: usize = 1 << 16;
/// Entries of the divergence stack.
const STACK_LIMIT: u32 = 512;

/// Entries of a jump table.
const TABLE_LIMIT: u32 = 256;
/// Start addresses from here on are numbers of [`Graph::jumps`]: code ends far below.
const CASES_AT: u32 = 1 << 31;

/// A block: index into [`Graph::blocks`].
pub type BlockId = u32;

/// A condition of the machine: guard predicate and condition-code test, both of which must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Predicate 0 to 7; 7 is true.
    pub predicate: u8,
    /// The predicate is inverted.
    pub inverted: bool,
    /// Condition-code test; 15 is true.
    pub test: u8,
    /// A register and the word that it has to hold: a case of an indirect jump.
    pub case: Option<(u8, u32)>,
}

impl Condition {
    /// Guard and test of a control instruction.
    fn of(instr: &Instr) -> Condition {
        let (predicate, inverted) = instr.guard();
        let test = if instr.has(Field::Cond) { instr.get(Field::Cond) as u8 } else { 15 };
        Condition { predicate: predicate as u8, inverted, test, case: None }
    }

    /// Always true.
    fn always(self) -> bool {
        self.predicate == 7 && !self.inverted && self.test == 15 && self.case.is_none()
    }

    /// Never true.
    fn never(self) -> bool {
        self.predicate == 7 && self.inverted || self.test == 0
    }
}

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminator {
    /// To a block.
    Goto(BlockId),
    /// To one of two.
    Branch {
        /// Condition.
        condition: Condition,
        /// When it holds.
        taken: BlockId,
        /// When not.
        otherwise: BlockId,
    },
    /// The thread ends.
    Exit,
}

/// Straight-line code.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Its instructions in [`Graph::instrs`], the terminator not included.
    pub start: u32,
    /// One past the last.
    pub end: u32,
    /// How it ends.
    pub terminator: Terminator,
    /// Threads for which this holds (or does not, when the flag is false) have ended, but go on to where others wait
    /// for them: see [`Graph::retire`].
    pub retires: Option<(Condition, bool)>,
    /// The thread goes on with the registers that it had at the end of this block, so that what it does for an end of its
    /// own does not change what it decides with the others.
    pub restores: Option<BlockId>,
}

/// What an entry of the divergence stack was pushed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Entry {
    Sync,
    Break,
    Continue,
    Return,
    LongJump,
}

/// A stack: its top entry and the stack below (0 is the empty one).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Stack {
    below: u32,
    entry: Entry,
    target: u32,
}

/// The control-flow graph of a program; block 0 is the entry. Buffers are kept between programs.
#[derive(Debug, Default)]
pub struct Graph {
    /// Blocks.
    pub blocks: Vec<Block>,
    /// Instructions of the blocks, block by block.
    pub instrs: Vec<Instr>,
    /// Some block retires threads.
    pub retiring: bool,
    leaders: Vec<u64>,
    states: FxHashMap<(u32, u32), BlockId>,
    work: Vec<(u32, u32)>,
    stacks: Vec<(Stack, u32)>,
    /// Indirect jumps: register, and its words with their targets.
    jumps: Vec<(u8, Vec<(u32, u32)>)>,
    stack_ids: FxHashMap<Stack, u32>,
}

/// Is `op` the end of a block, or a jump that may be?
fn is_control(op: Op) -> bool {
    matches!(
        op,
        Op::Bra
            | Op::Brx
            | Op::Jmp
            | Op::Jmx
            | Op::Cal
            | Op::Jcal
            | Op::Ret
            | Op::Sync
            | Op::Brk
            | Op::Cont
            | Op::Longjmp
            | Op::Exit
    )
}

/// Does `op` carry a target in `rel24`?
fn pushes(op: Op) -> bool {
    matches!(op, Op::Ssy | Op::Pbk | Op::Pcnt | Op::Pret | Op::Plongjmp | Op::Pexit)
}

impl Graph {
    /// Builds the graph of `code`, whose jump tables are in `constants` (constant bank 1); `key` is for errors.
    ///
    /// # Errors
    /// A reachable word that is no instruction, a jump out of the code, a pop without an entry, an indirect jump.
    pub fn build(&mut self, code: &[u8], constants: &[u8], key: u64) -> Result<(), TranslateError> {
        self.blocks.clear();
        self.retiring = false;
        self.instrs.clear();
        self.states.clear();
        self.work.clear();
        self.stacks.clear();
        self.stack_ids.clear();
        self.jumps.clear();
        self.find_leaders(code);
        // Stack 0 is the empty one; its content is never read.
        self.stacks.push((Stack { below: 0, entry: Entry::Sync, target: 0 }, 0));
        self.state(8, 0, key)?;
        let mut done = 0;
        while done < self.work.len() {
            let (start, stack) = self.work[done];
            self.block((code, constants), done, start, stack, key)?;
            done += 1;
        }
        Ok(())
    }

    /// Marks every slot that a jump may reach or that follows one. Marks too many in data behind the code, which
    /// only splits blocks.
    fn find_leaders(&mut self, code: &[u8]) {
        let slots = code.len() / 8;
        self.leaders.clear();
        self.leaders.resize(slots / 64 + 2, 0);
        let mut mark = |offset: u32| {
            let slot = offset as usize / 8;
            if slot < slots {
                self.leaders[slot / 64] |= 1 << (slot % 64);
            }
        };
        mark(8);
        for slot in 0..slots as u32 {
            let offset = slot * 8;
            if offset % 32 == 0 {
                continue;
            }
            let Some(word) = word_at(code, offset) else { break };
            // Control instructions all have 0xe2 or 0xe3 or 0xf0f8 (SYNC) on top.
            if !matches!(word >> 56, 0xe2 | 0xe3 | 0xf0) {
                continue;
            }
            let Some(instr) = decode(word, offset) else { continue };
            if is_control(instr.op) {
                mark(next_slot(offset));
            }
            if instr.has(Field::Rel24)
                && let Some(target) = relative_target(offset, instr.signed(Field::Rel24))
            {
                mark(target);
            }
        }
    }

    fn is_leader(&self, offset: u32) -> bool {
        let slot = offset as usize / 8;
        self.leaders.get(slot / 64).is_some_and(|w| w >> (slot % 64) & 1 != 0)
    }

    /// The block that begins at `offset` with `stack`; queued when new.
    fn state(&mut self, offset: u32, stack: u32, key: u64) -> Result<BlockId, TranslateError> {
        let next = self.work.len() as BlockId;
        let id = *self.states.entry((offset, stack)).or_insert(next);
        if id == next {
            if self.work.len() >= BLOCK_LIMIT {
                return Err(TranslateError::TooLarge { key, what: "the number of blocks" });
            }
            self.work.push((offset, stack));
        }
        Ok(id)
    }

    /// A block of its own that ends the thread.
    fn exit_block(&mut self, key: u64) -> Result<BlockId, TranslateError> {
        if self.work.len() >= BLOCK_LIMIT {
            return Err(TranslateError::TooLarge { key, what: "the number of blocks" });
        }
        let id = self.work.len() as BlockId;
        self.work.push((u32::MAX, 0));
        Ok(id)
    }

    fn push(&mut self, below: u32, entry: Entry, target: u32, at: u32, key: u64) -> Result<u32, TranslateError> {
        let depth = self.stacks[below as usize].1 + 1;
        if depth > STACK_LIMIT {
            return Err(bad(key, at, "the divergence stack grows without bound (recursion, or a loop that pushes)"));
        }
        let stack = Stack { below, entry, target };
        let next = self.stacks.len() as u32;
        let id = *self.stack_ids.entry(stack).or_insert(next);
        if id == next {
            self.stacks.push((stack, depth));
        }
        Ok(id)
    }

    /// Pops to the nearest entry of `kind`: its target and the stack below it. Entries above it are dropped.
    fn pop(&self, mut stack: u32, kind: Entry) -> Option<(u32, u32)> {
        while stack != 0 {
            let (top, _) = self.stacks[stack as usize];
            stack = top.below;
            if top.entry == kind {
                return Some((top.target, stack));
            }
        }
        None
    }

    /// Decodes one block and queues what follows it.
    fn block(
        &mut self,
        (code, constants): (&[u8], &[u8]),
        id: usize,
        start: u32,
        mut stack: u32,
        key: u64,
    ) -> Result<(), TranslateError> {
        let first = self.instrs.len() as u32;
        debug_assert_eq!(self.blocks.len(), id);
        let plain = |end: u32, terminator| Block { start: first, end, terminator, retires: None, restores: None };
        if start == u32::MAX {
            self.blocks.push(plain(first, Terminator::Exit));
            return Ok(());
        }
        if start >= CASES_AT {
            // A case of an indirect jump, and the cases behind it.
            let (register, cases) = self.jumps[(start - CASES_AT) as usize].clone();
            let terminator = self.cases(register, &cases, stack, key)?;
            self.blocks.push(plain(first, terminator));
            return Ok(());
        }
        let mut offset = start;
        let terminator = loop {
            if offset != start && self.is_leader(offset) {
                break Terminator::Goto(self.state(offset, stack, key)?);
            }
            let word = word_at(code, offset).ok_or_else(|| bad(key, offset, "the code ends without EXIT"))?;
            let instr = decode(word, offset).ok_or_else(|| TranslateError::Unsupported {
                key,
                offset,
                instruction: format!("word {word:#018x}").into(),
                reason: "no instruction has this encoding".into(),
            })?;
            let next = next_slot(offset);
            let inside = |t: u32| (t as usize) < code.len() && t.is_multiple_of(8);
            // The distance or address: of the instruction, or a word of the program's constant data.
            let word_of = |instr: &Instr| {
                if instr.has(Field::Rel24) {
                    return Ok(instr.signed(Field::Rel24));
                }
                if instr.has(Field::Abs32) {
                    return Ok(instr.get(Field::Abs32) as i32);
                }
                let word = (instr.get(Field::Cbi) == 1)
                    .then(|| constant_word(constants, instr.get(Field::Cbo16)))
                    .flatten()
                    .ok_or_else(|| {
                        unsupported(key, instr, "jumps through constants that the program does not bring")
                    })?;
                Ok(word as i32)
            };
            let absolute = matches!(instr.op, Op::Jmp | Op::Jcal | Op::Jmx);
            let target = |instr: &Instr| {
                let word = word_of(instr)?;
                let to = if absolute { Some(normalise(word as u32)) } else { relative_target(offset, word) };
                to.filter(|&t| inside(t)).ok_or_else(|| bad(key, offset, "jump out of the code"))
            };
            if pushes(instr.op) {
                let entry = match instr.op {
                    Op::Ssy => Entry::Sync,
                    Op::Pbk => Entry::Break,
                    Op::Pcnt => Entry::Continue,
                    Op::Pret => Entry::Return,
                    Op::Plongjmp => Entry::LongJump,
                    _ => return Err(unsupported(key, &instr, "exit handlers are not translated")),
                };
                let to = target(&instr)?;
                stack = self.push(stack, entry, to, offset, key)?;
                offset = next;
                continue;
            }
            if !is_control(instr.op) {
                if self.instrs.len() >= INSTRUCTION_LIMIT {
                    return Err(TranslateError::TooLarge { key, what: "the number of instructions" });
                }
                self.instrs.push(instr);
                offset = next;
                continue;
            }
            let condition = Condition::of(&instr);
            if condition.never() {
                offset = next;
                continue;
            }
            if instr.op == Op::Exit && condition.always() {
                break Terminator::Exit;
            }
            let taken = match instr.op {
                Op::Bra | Op::Jmp => self.state(target(&instr)?, stack, key)?,
                Op::Brx | Op::Jmx => {
                    let base = if instr.has(Field::Cbo16) { 0 } else { word_of(&instr)? };
                    let base = if absolute { base } else { base.wrapping_add(next_address(offset)) };
                    let cases = self.jump_table(&instr, first, base, constants, &inside).ok_or_else(|| {
                        unsupported(key, &instr, "indirect jumps whose table is not in the program's constants")
                    })?;
                    let at = CASES_AT + self.jumps.len() as u32;
                    self.jumps.push((instr.get(Field::A) as u8, cases));
                    self.state(at, stack, key)?
                }
                Op::Cal | Op::Jcal => {
                    let to = target(&instr)?;
                    let inner = self.push(stack, Entry::Return, next, offset, key)?;
                    self.state(to, inner, key)?
                }
                Op::Exit => self.exit_block(key)?,
                Op::Ret => match self.pop(stack, Entry::Return) {
                    Some((to, below)) => self.state(to, below, key)?,
                    // A return of the outermost function ends the thread.
                    None => self.exit_block(key)?,
                },
                Op::Sync | Op::Brk | Op::Cont | Op::Longjmp => {
                    let kind = match instr.op {
                        Op::Sync => Entry::Sync,
                        Op::Brk => Entry::Break,
                        Op::Cont => Entry::Continue,
                        _ => Entry::LongJump,
                    };
                    let (to, below) = self
                        .pop(stack, kind)
                        .ok_or_else(|| bad(key, offset, "the divergence stack has no entry for this instruction"))?;
                    self.state(to, below, key)?
                }
                _ => return Err(unsupported(key, &instr, "this jump is not translated")),
            };
            // CAL has a guard in no form; all others may fall through.
            if condition.always() {
                break Terminator::Goto(taken);
            }
            let otherwise = self.state(next, stack, key)?;
            if taken == otherwise {
                break Terminator::Goto(taken);
            }
            break Terminator::Branch { condition, taken, otherwise };
        };
        self.blocks.push(plain(self.instrs.len() as u32, terminator));
        Ok(())
    }

    /// The cases of an indirect jump: what its register may hold, and where that leads. The register was loaded from
    /// constant bank 1 in the same block: a table of distances (or addresses) that ends where its words lead nowhere.
    fn jump_table(
        &self,
        jump: &Instr,
        first: u32,
        base: i32,
        constants: &[u8],
        inside: &impl Fn(u32) -> bool,
    ) -> Option<Vec<(u32, u32)>> {
        let mut cases: Vec<(u32, u32)> = Vec::new();
        if jump.has(Field::Cbo16) {
            // The register is an offset into the table.
            if jump.get(Field::Cbi) != 1 {
                return None;
            }
            for n in 0..TABLE_LIMIT {
                let Some(word) = constant_word(constants, jump.get(Field::Cbo16) + 4 * n) else { break };
                let to = normalise(base.wrapping_add(word as i32) as u32);
                if !inside(to) {
                    break;
                }
                cases.push((4 * n, to));
            }
            return (!cases.is_empty()).then_some(cases);
        }
        let register = jump.get(Field::A);
        let load = self.instrs[first as usize..]
            .iter()
            .rev()
            .find(|i| i.has(Field::Dst) && (i.get(Field::Dst)..i.get(Field::Dst) + 2).contains(&register))?;
        if load.op != Op::Ldc || load.get(Field::Cbi) != 1 || load.get(Field::Size) != 4 {
            return None;
        }
        let start = load.signed(Field::Off16) as u32;
        for n in 0..TABLE_LIMIT {
            let Some(word) = constant_word(constants, start.wrapping_add(4 * n)) else { break };
            let to = normalise(base.wrapping_add(word as i32) as u32);
            if !inside(to) {
                break;
            }
            if !cases.iter().any(|c| c.0 == word) {
                cases.push((word, to));
            }
        }
        (!cases.is_empty()).then_some(cases)
    }

    /// How the block of an indirect jump's first case ends: there, or at the block of the others.
    fn cases(
        &mut self,
        register: u8,
        cases: &[(u32, u32)],
        stack: u32,
        key: u64,
    ) -> Result<Terminator, TranslateError> {
        let (&(word, to), rest) = match cases.split_first() {
            Some(split) => split,
            None => return Ok(Terminator::Exit),
        };
        let taken = self.state(to, stack, key)?;
        if rest.iter().all(|c| c.1 == to) {
            return Ok(Terminator::Goto(taken));
        }
        let at = CASES_AT + self.jumps.len() as u32;
        self.jumps.push((register, rest.to_vec()));
        let otherwise = self.state(at, stack, key)?;
        let condition = Condition { predicate: 7, inverted: false, test: 15, case: Some((register, word)) };
        Ok(Terminator::Branch { condition, taken, otherwise })
    }

    /// Turns ends of threads in front of a place where all threads meet (`meets`) into retirement: the thread goes on
    /// without effects, so that it still arrives (B528). Such an end is a branch to blocks that all end, and none meets.
    ///
    /// `joined`: also where the others come to the same end later, which makes of a selection with a meeting in it one that
    /// all threads pass.
    pub fn retire(&mut self, meets: impl Fn(Op) -> bool, joined: bool) {
        let count = self.blocks.len();
        let mut reaches: Vec<bool> = self
            .blocks
            .iter()
            .map(|b| self.instrs[b.start as usize..b.end as usize].iter().any(|i| meets(i.op)))
            .collect();
        if !reaches.contains(&true) {
            return;
        }
        loop {
            let mut changed = false;
            for block in (0..count).rev() {
                if !reaches[block] && self.successors(block as BlockId).any(|s| reaches[s as usize]) {
                    reaches[block] = true;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let mut region = Vec::new();
        for block in 0..count {
            let Terminator::Branch { condition, taken, otherwise } = self.blocks[block].terminator else { continue };
            let (from, to, when) = match [taken, otherwise].map(|b| reaches[b as usize]) {
                [false, true] => (taken, otherwise, true),
                [true, false] => (otherwise, taken, false),
                _ => continue,
            };
            if self.ends_loop(block as BlockId, to, &reaches) {
                continue;
            }
            let first = self.blocks[from as usize];
            if first.start == first.end && first.terminator == Terminator::Exit {
                self.blocks[block].terminator = Terminator::Goto(to);
                self.blocks[block].retires = Some((condition, when));
                self.retiring = true;
            } else if (joined || !self.leads(to, from)) && self.region(from, &mut region) {
                let from = self.retire_region(&region, block as BlockId, to);
                let (taken, otherwise) = if when { (from, to) } else { (to, from) };
                self.blocks[block].terminator = Terminator::Branch { condition, taken, otherwise };
            }
        }
    }

    /// What is reached from `from`, it first.
    fn ahead(&self, from: BlockId) -> Vec<BlockId> {
        let mut ahead = vec![from];
        let mut seen = vec![false; self.blocks.len()];
        seen[from as usize] = true;
        let mut at = 0;
        while let Some(&b) = ahead.get(at) {
            for next in self.successors(b) {
                if !std::mem::replace(&mut seen[next as usize], true) {
                    ahead.push(next);
                }
            }
            at += 1;
        }
        ahead
    }

    fn leads(&self, from: BlockId, to: BlockId) -> bool {
        self.ahead(from).contains(&to)
    }

    /// Is the branch at the end of `block` to another block than `to` what ends a loop around both? Threads that went on
    /// there would go on for ever. A loop that ends at a place of its own, too, has that for its end: where code goes on
    /// to meet, or at its foot.
    fn ends_loop(&self, block: BlockId, to: BlockId, reaches: &[bool]) -> bool {
        let ahead = self.ahead(to);
        if !ahead.contains(&block) {
            return false;
        }
        // Those ahead from which it goes back to the branch.
        let mut around = vec![false; self.blocks.len()];
        around[block as usize] = true;
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &b in ahead.iter().rev() {
                if !around[b as usize] && self.successors(b).any(|s| around[s as usize]) {
                    around[b as usize] = true;
                    changed = true;
                }
            }
        }
        let start = |b: BlockId| self.blocks[b as usize].start;
        let ends = |b: BlockId| {
            let inside = |s: &BlockId| around[*s as usize];
            let meets = self.successors(b).any(|s| !inside(&s) && reaches.get(s as usize).is_some_and(|r| *r));
            let leaves = self.successors(b).any(|s| !inside(&s));
            meets || leaves && self.successors(b).any(|s| inside(&s) && start(s) <= start(b))
        };
        !ahead.iter().any(|&b| around[b as usize] && b != block && ends(b))
    }

    /// The blocks that are reached from `from`, it first; false when they are too many, or none of them ends a thread.
    fn region(&self, from: BlockId, region: &mut Vec<BlockId>) -> bool {
        region.clear();
        region.push(from);
        let mut at = 0;
        while let Some(&block) = region.get(at) {
            for next in self.successors(block) {
                if !region.contains(&next) {
                    region.push(next);
                }
            }
            at += 1;
            if region.len() > REGION_LIMIT || self.blocks.len() + region.len() > BLOCK_LIMIT {
                return false;
            }
        }
        region.iter().any(|b| self.blocks[*b as usize].terminator == Terminator::Exit)
    }

    /// Copies the blocks of `region`, which others may enter too: threads that end there go on to `to` without effects.
    /// `branch` is the block that leads there. Gives the copy of the first.
    fn retire_region(&mut self, region: &[BlockId], branch: BlockId, to: BlockId) -> BlockId {
        let base = self.blocks.len() as BlockId;
        let copy = |b: BlockId| region.iter().position(|r| *r == b).map_or(b, |n| base + n as BlockId);
        for &old in region {
            let mut block = self.blocks[old as usize];
            block.terminator = match block.terminator {
                Terminator::Exit => {
                    block.retires = Some((Condition { predicate: 7, inverted: false, test: 15, case: None }, true));
                    block.restores = Some(branch);
                    Terminator::Goto(to)
                }
                Terminator::Goto(next) => Terminator::Goto(copy(next)),
                Terminator::Branch { condition, taken, otherwise } => {
                    Terminator::Branch { condition, taken: copy(taken), otherwise: copy(otherwise) }
                }
            };
            self.blocks.push(block);
        }
        self.retiring = true;
        base
    }

    /// Successors of `block`.
    pub fn successors(&self, block: BlockId) -> impl Iterator<Item = BlockId> + use<> {
        let (a, b) = match self.blocks[block as usize].terminator {
            Terminator::Goto(t) => (Some(t), None),
            Terminator::Branch { taken, otherwise, .. } => (Some(taken), Some(otherwise)),
            Terminator::Exit => (None, None),
        };
        a.into_iter().chain(b)
    }
}

/// The address behind an instruction, from which distances count.
fn next_address(offset: u32) -> i32 {
    offset as i32 + 8
}

/// A word of constant bank 1.
fn constant_word(constants: &[u8], offset: u32) -> Option<u32> {
    let b = constants.get(offset as usize..offset as usize + 4)?;
    Some(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

fn bad(key: u64, offset: u32, reason: &'static str) -> TranslateError {
    TranslateError::BadControlFlow { key, offset, reason: reason.into() }
}

fn unsupported(key: u64, instr: &Instr, reason: &'static str) -> TranslateError {
    TranslateError::Unsupported { key, offset: instr.offset, instruction: instr.name().into(), reason: reason.into() }
}
