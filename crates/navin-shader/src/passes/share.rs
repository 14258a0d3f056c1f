//! Common subexpressions: an instruction that is there already is not made again.
//!
//! A value may be shared when the block that made it dominates the block that wants it. The structured order makes
//! that cheap: each block has a scope that hangs under the block that dominates it ([`Builder::enter`]); the scopes
//! from the root to the current one are *open*, and only values of open scopes are shared. Loads have the epoch of
//! their memory as an operand, so that those before and after a store differ.
//!
//! Copies need no pass of their own: a move only writes down which value a register holds.

use crate::ir::builder::Builder;
use crate::ir::{Inst, Op, Value};

impl Builder {
    /// The scope of the current block.
    pub fn scope(&self) -> u32 {
        self.stack.last().copied().unwrap_or(0)
    }

    /// Opens the scope of a new block under `parent` and closes all that are not above it; returns it.
    pub fn enter(&mut self, parent: Option<u32>) -> u32 {
        while let Some(&top) = self.stack.last()
            && Some(top) != parent
        {
            self.open[top as usize] = false;
            self.stack.pop();
        }
        let scope = self.open.len() as u32;
        self.open.push(true);
        self.stack.push(scope);
        scope
    }

    /// A pure instruction, shared with an equal one where that dominates.
    pub fn pure(&mut self, op: Op, args: &[u32]) -> Value {
        let mut all = [u32::MAX; 5];
        all[..args.len()].copy_from_slice(args);
        let inst = Inst { op, args: all };
        if let Some(&(v, scope)) = self.shared.get(&inst)
            && self.open[scope as usize]
        {
            return v;
        }
        let v = self.push(op, all);
        let scope = self.scope();
        self.shared.insert(inst, (v, scope));
        v
    }
}
