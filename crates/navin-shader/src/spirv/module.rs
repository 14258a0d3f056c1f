//! A SPIR-V module in sections: types, constants and variables made once each, decorations, the function's body.

use rustc_hash::FxHashMap;

use super::op;

/// An id; 0 is none.
pub type Id = u32;

/// Types that are asked for by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `void`.
    Void,
    /// Truth value.
    Bool,
    /// 32-bit unsigned.
    Uint,
    /// 32-bit signed: built-ins and constant offsets only.
    Int,
    /// Binary32.
    Float,
    /// Binary64.
    Double,
    /// Vector of a type, 2 to 4 components.
    Vector(Id, u32),
    /// Array of a type and a constant length.
    Array(Id, u32),
    /// Pointer: storage class, pointee.
    Pointer(u32, Id),
    /// Structure of two equal members (extended products).
    Pair(Id),
    /// 64-bit unsigned: atomics only.
    Ulong,
    /// Function that returns a type and takes so many [`Type::Uint`], at most 6.
    Function(Id, u32),
}

/// The module being written. Buffers are kept between programs.
#[derive(Debug, Default)]
pub struct Module {
    next: Id,
    capabilities: Vec<u32>,
    /// Execution modes.
    pub modes: Vec<u32>,
    /// Decorations.
    pub decorations: Vec<u32>,
    /// Types, constants, variables.
    pub globals: Vec<u32>,
    /// Helper functions.
    pub helpers: Vec<u32>,
    /// The entry function.
    pub body: Vec<u32>,
    /// Function-local variables, which its first block begins with.
    pub locals: Vec<u32>,
    interface: Vec<Id>,
    types: FxHashMap<Type, Id>,
    constants: FxHashMap<(Id, u32), Id>,
    no_contraction: Vec<Id>,
    /// What the current block has made that may be shared: opcode, type, operands.
    shared: FxHashMap<(u32, Id, [u32; 4]), Id>,
    /// GLSL.std.450.
    pub glsl: Id,
}

/// Appends an instruction.
pub fn put(to: &mut Vec<u32>, opcode: u32, words: &[u32]) {
    to.push((words.len() as u32 + 1) << 16 | opcode);
    to.extend_from_slice(words);
}

impl Module {
    /// Empties the module.
    pub fn clear(&mut self) {
        self.next = 1;
        for list in [
            &mut self.capabilities,
            &mut self.modes,
            &mut self.decorations,
            &mut self.globals,
            &mut self.helpers,
            &mut self.body,
            &mut self.locals,
            &mut self.interface,
            &mut self.no_contraction,
        ] {
            list.clear();
        }
        self.types.clear();
        self.constants.clear();
        self.shared.clear();
        self.glsl = self.id();
    }

    /// A new id.
    pub fn id(&mut self) -> Id {
        self.next += 1;
        self.next - 1
    }

    /// Lists a capability.
    pub fn capability(&mut self, capability: u32) {
        if !self.capabilities.contains(&capability) {
            self.capabilities.push(capability);
        }
    }

    /// Decorates `id`.
    pub fn decorate(&mut self, id: Id, decoration: u32, operands: &[u32]) {
        self.decorations.push((operands.len() as u32 + 3) << 16 | op::DECORATE);
        self.decorations.extend([id, decoration]);
        self.decorations.extend_from_slice(operands);
    }

    /// Decorates member `member` of `id`.
    pub fn decorate_member(&mut self, id: Id, member: u32, decoration: u32, operands: &[u32]) {
        self.decorations.push((operands.len() as u32 + 4) << 16 | op::MEMBER_DECORATE);
        self.decorations.extend([id, member, decoration]);
        self.decorations.extend_from_slice(operands);
    }

    /// The result may not be contracted with another operation.
    pub fn exact(&mut self, id: Id) {
        self.no_contraction.push(id);
    }

    /// A type.
    pub fn ty(&mut self, t: Type) -> Id {
        if let Some(&id) = self.types.get(&t) {
            return id;
        }
        let needed = match t {
            Type::Array(_, n) => self.uint(n),
            Type::Function(..) => self.ty(Type::Uint),
            _ => 0,
        };
        let id = self.id();
        let g = &mut self.globals;
        match t {
            Type::Void => put(g, op::TYPE_VOID, &[id]),
            Type::Bool => put(g, op::TYPE_BOOL, &[id]),
            Type::Uint => put(g, op::TYPE_INT, &[id, 32, 0]),
            Type::Ulong => put(g, op::TYPE_INT, &[id, 64, 0]),
            Type::Int => put(g, op::TYPE_INT, &[id, 32, 1]),
            Type::Float => put(g, op::TYPE_FLOAT, &[id, 32]),
            Type::Double => put(g, op::TYPE_FLOAT, &[id, 64]),
            Type::Vector(of, n) => put(g, op::TYPE_VECTOR, &[id, of, n]),
            Type::Array(of, _) => put(g, op::TYPE_ARRAY, &[id, of, needed]),
            Type::Pointer(class, to) => put(g, op::TYPE_POINTER, &[id, class, to]),
            Type::Pair(of) => put(g, op::TYPE_STRUCT, &[id, of, of]),
            Type::Function(returns, n) => {
                let words = [id, returns, needed, needed, needed, needed, needed, needed];
                put(g, op::TYPE_FUNCTION, &words[..2 + (n as usize).min(6)]);
            }
        }
        self.types.insert(t, id);
        id
    }

    /// Vector of `n` components, or the scalar for one.
    pub fn vector(&mut self, of: Type, n: u32) -> Id {
        let of = self.ty(of);
        if n == 1 { of } else { self.ty(Type::Vector(of, n)) }
    }

    /// Pointer type to a type.
    pub fn pointer(&mut self, class: u32, to: Id) -> Id {
        self.ty(Type::Pointer(class, to))
    }

    /// Constant of 32 bits.
    pub fn constant(&mut self, t: Type, bits: u32) -> Id {
        let ty = self.ty(t);
        if let Some(&id) = self.constants.get(&(ty, bits)) {
            return id;
        }
        let id = self.id();
        if t == Type::Bool {
            put(&mut self.globals, if bits != 0 { op::CONSTANT_TRUE } else { op::CONSTANT_FALSE }, &[ty, id]);
        } else {
            put(&mut self.globals, op::CONSTANT, &[ty, id, bits]);
        }
        self.constants.insert((ty, bits), id);
        id
    }

    /// Unsigned constant.
    pub fn uint(&mut self, n: u32) -> Id {
        self.constant(Type::Uint, n)
    }

    /// A structure with the Block decoration whose members lie one behind the other at `offsets`.
    pub fn block(&mut self, members: &[(Id, u32)]) -> Id {
        let id = self.id();
        self.globals.push((members.len() as u32 + 2) << 16 | op::TYPE_STRUCT);
        self.globals.push(id);
        self.globals.extend(members.iter().map(|m| m.0));
        self.decorate(id, op::decoration::BLOCK, &[]);
        for (n, &(_, offset)) in members.iter().enumerate() {
            self.decorate_member(id, n as u32, op::decoration::OFFSET, &[offset]);
        }
        id
    }

    /// A global variable of `ty`, in the entry point's interface.
    pub fn variable(&mut self, class: u32, ty: Id) -> Id {
        let pointer = self.pointer(class, ty);
        let id = self.id();
        put(&mut self.globals, op::VARIABLE, &[pointer, id, class]);
        self.interface.push(id);
        id
    }

    /// A resource variable with its place.
    pub fn resource(&mut self, class: u32, ty: Id, set: u32, binding: u32) -> Id {
        let id = self.variable(class, ty);
        self.decorate(id, op::decoration::DESCRIPTOR_SET, &[set]);
        self.decorate(id, op::decoration::BINDING, &[binding]);
        id
    }

    /// An instruction of the body with a result.
    pub fn result(&mut self, opcode: u32, ty: Id, operands: &[u32]) -> Id {
        let id = self.id();
        self.result_as(id, opcode, ty, operands);
        id
    }

    /// The same for what has no effect and reads nothing that changes: made once a block.
    pub fn shared(&mut self, opcode: u32, ty: Id, operands: &[u32]) -> Id {
        let mut key = (opcode, ty, [0; 4]);
        if operands.len() > 4 {
            return self.result(opcode, ty, operands);
        }
        key.2[..operands.len()].copy_from_slice(operands);
        if let Some(&id) = self.shared.get(&key) {
            return id;
        }
        let id = self.result(opcode, ty, operands);
        self.shared.insert(key, id);
        id
    }

    /// Another block begins.
    pub fn next_block(&mut self) {
        self.shared.clear();
    }

    /// The same, with a given id.
    pub fn result_as(&mut self, id: Id, opcode: u32, ty: Id, operands: &[u32]) {
        self.body.push((operands.len() as u32 + 3) << 16 | opcode);
        self.body.extend([ty, id]);
        self.body.extend_from_slice(operands);
    }

    /// An extended instruction.
    pub fn extended_as(&mut self, id: Id, number: u32, ty: Id, operands: &[u32]) {
        let glsl = self.glsl;
        self.body.push((operands.len() as u32 + 5) << 16 | op::EXT_INST);
        self.body.extend([ty, id, glsl, number]);
        self.body.extend_from_slice(operands);
    }

    /// An instruction of the body without a result.
    pub fn statement(&mut self, opcode: u32, operands: &[u32]) {
        put(&mut self.body, opcode, operands);
    }

    /// The finished module. `addressing` is the addressing model, `model` the execution model of entry point `main`.
    pub fn finish(&mut self, addressing: u32, model: u32, main: Id) -> Vec<u32> {
        if !self.no_contraction.is_empty() {
            // One group instead of a decoration each: a word an operation instead of three.
            let group = self.id();
            self.decorate(group, op::decoration::NO_CONTRACTION, &[]);
            put(&mut self.decorations, op::DECORATION_GROUP, &[group]);
            for ids in self.no_contraction.chunks(60000) {
                self.decorations.push((ids.len() as u32 + 2) << 16 | op::GROUP_DECORATE);
                self.decorations.push(group);
                self.decorations.extend_from_slice(ids);
            }
        }
        let size = self.globals.len() + self.helpers.len() + self.body.len() + self.locals.len() + 128;
        let mut out = Vec::with_capacity(size + self.decorations.len() + self.interface.len());
        out.extend([0x0723_0203, 0x0001_0600, 0, self.next, 0]);
        for &c in &self.capabilities {
            put(&mut out, op::CAPABILITY, &[c]);
        }
        let name = b"GLSL.std.450\0\0\0\0";
        out.push(6 << 16 | op::EXT_INST_IMPORT);
        out.push(self.glsl);
        out.extend(name.chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])));
        put(&mut out, op::MEMORY_MODEL, &[addressing, 1]);
        out.push((self.interface.len() as u32 + 5) << 16 | op::ENTRY_POINT);
        out.extend([model, main, u32::from_le_bytes(*b"main"), 0]);
        out.extend_from_slice(&self.interface);
        out.extend_from_slice(&self.modes);
        out.extend_from_slice(&self.decorations);
        out.extend_from_slice(&self.globals);
        out.extend_from_slice(&self.helpers);
        out.extend_from_slice(&self.body);
        out
    }
}
