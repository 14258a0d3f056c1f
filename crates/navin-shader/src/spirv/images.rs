//! Textures and images: descriptor arrays of set 0, reached by handle.
//!
//! A handle's ids go through the id tables to slots; slots and loaded descriptors are kept while their block dominates.

use rustc_hash::FxHashMap;

use super::emit::{Context, Emitter, Made};
use super::module::{Id, Type, put};
use super::op::{self, capability as cap, decoration, storage};
use crate::interface::binding;
use crate::ir::{ImageAccess, Inst, Op, TextureAccess, TextureOp, Value, WordType};
use crate::lower::{dimensions, is_array};
use crate::{HandleSource, ImageUse, Requirements, SampledType, TextureUse, ViewKind};

/// A sampled-image array: view kind, float components, depth comparison.
type TextureKey = (ViewKind, bool, bool);
/// A storage-image array: view kind, raw, float components, fixed 32-bit format.
type ImageKey = (ViewKind, bool, bool, bool);

/// Image types and variables declared so far.
#[derive(Debug, Default)]
pub(super) struct Images {
    textures: FxHashMap<TextureKey, (Id, Id)>,
    images: FxHashMap<ImageKey, (Id, Id)>,
    types: FxHashMap<[u32; 7], Id>,
    sampled_types: FxHashMap<Id, Id>,
    samplers: Id,
    sampler_type: Id,
    slots: Made<(Id, u32)>,
    loaded: Made<(Id, TextureKey)>,
    loaded_samplers: Made<Id>,
    scalars: Vec<Value>,
}

impl Images {
    pub(super) fn clear(&mut self) {
        self.textures.clear();
        self.images.clear();
        self.types.clear();
        self.sampled_types.clear();
        self.samplers = 0;
        self.sampler_type = 0;
        self.slots.clear();
        self.loaded.clear();
        self.loaded_samplers.clear();
        self.scalars.clear();
    }

    /// Is the result of texture access `v` one value rather than a vector?
    pub(super) fn is_scalar(&self, v: Value) -> bool {
        self.scalars.contains(&v)
    }
}

/// Dimension of OpTypeImage, arrayed, multisampled.
fn shape(kind: ViewKind) -> (u32, u32, u32) {
    match kind {
        ViewKind::D1 => (0, 0, 0),
        ViewKind::D1Array => (0, 1, 0),
        ViewKind::D2 => (1, 0, 0),
        ViewKind::D2Array => (1, 1, 0),
        ViewKind::D3 => (2, 0, 0),
        ViewKind::Cube => (3, 0, 0),
        ViewKind::CubeArray => (3, 1, 0),
        ViewKind::D2Multisampled => (1, 0, 1),
        ViewKind::D2MultisampledArray => (1, 1, 1),
        ViewKind::Buffer => (5, 0, 0),
    }
}

/// Components of a size query.
fn size_components(kind: ViewKind) -> u32 {
    let faces = matches!(kind, ViewKind::Cube | ViewKind::CubeArray);
    (if faces { 2 } else { dimensions(kind) as u32 }) + u32::from(is_array(kind))
}

impl Emitter {
    /// OpTypeImage of these operands: made once each.
    fn image_type(&mut self, operands: [u32; 7]) -> Id {
        if let Some(&id) = self.images.types.get(&operands) {
            return id;
        }
        let id = self.m.id();
        let [of, dim, depth, arrayed, multisampled, sampled, format] = operands;
        let words = [id, of, dim, depth, arrayed, multisampled, sampled, format];
        put(&mut self.m.globals, op::TYPE_IMAGE, &words);
        self.images.types.insert(operands, id);
        id
    }

    /// Type and array variable of sampled images.
    fn texture_array(&mut self, c: &mut Context<'_, '_>, key: TextureKey) -> (Id, Id) {
        if let Some(&found) = self.images.textures.get(&key) {
            return found;
        }
        let (kind, float, depth) = key;
        let (dim, arrayed, multisampled) = shape(kind);
        let of = self.m.ty(if float { Type::Float } else { Type::Uint });
        match kind {
            ViewKind::D1 | ViewKind::D1Array => self.m.capability(cap::SAMPLED_1D),
            ViewKind::CubeArray => {
                self.m.capability(cap::SAMPLED_CUBE_ARRAY);
                c.interface.requirements |= Requirements::CUBE_ARRAY;
            }
            ViewKind::Buffer => {
                self.m.capability(cap::SAMPLED_BUFFER);
                self.m.capability(cap::UNIFORM_TEXEL_BUFFER_ARRAY_DYNAMIC_INDEXING);
                c.interface.requirements |= Requirements::TEXEL_BUFFER_INDEXING;
            }
            _ => {}
        }
        self.m.capability(cap::SAMPLED_IMAGE_ARRAY_DYNAMIC_INDEXING);
        c.interface.requirements |= Requirements::TEXTURE_INDEXING;
        let image = self.m.id();
        put(&mut self.m.globals, op::TYPE_IMAGE, &[image, of, dim, u32::from(depth), arrayed, multisampled, 1, 0]);
        let array = self.m.ty(Type::Array(image, binding::TEXTURE_SLOTS));
        let variable = self.m.resource(storage::UNIFORM_CONSTANT, array, 0, binding::TEXTURES + kind as u32);
        self.images.textures.insert(key, (image, variable));
        (image, variable)
    }

    fn non_uniform(&mut self, c: &mut Context<'_, '_>, id: Id, images: bool) {
        self.m.capability(cap::SHADER_NON_UNIFORM);
        let (capability, requirement) = if images {
            (cap::STORAGE_IMAGE_ARRAY_NON_UNIFORM_INDEXING, Requirements::IMAGE_NON_UNIFORM)
        } else {
            (cap::SAMPLED_IMAGE_ARRAY_NON_UNIFORM_INDEXING, Requirements::TEXTURE_NON_UNIFORM)
        };
        self.m.capability(capability);
        c.interface.requirements |= requirement;
        self.m.decorate(id, decoration::NON_UNIFORM, &[]);
    }

    /// Slot of the texture (table 0) or sampler (table 1) that `handle` names.
    fn handle_slot(&mut self, c: &mut Context<'_, '_>, handle: Id, table: u32, bound: bool) -> Id {
        if let Some(&(id, scope)) = self.images.slots.get(&(handle, table))
            && self.is_open(scope)
        {
            return id;
        }
        let uint = self.m.ty(Type::Uint);
        let id = if table == 0 {
            let mask = self.m.uint(0xF_FFFF);
            self.m.result(op::BITWISE_AND, uint, &[handle, mask])
        } else {
            let twenty = self.m.uint(20);
            self.m.result(op::SHIFT_RIGHT_LOGICAL, uint, &[handle, twenty])
        };
        let slot = self.table_word(table, id);
        if !bound {
            self.non_uniform(c, slot, false);
        }
        if table == 0 {
            c.interface.uses_texture_table = true;
        } else {
            c.interface.uses_samplers = true;
        }
        let scope = self.scope();
        self.images.slots.insert((handle, table), (slot, scope));
        slot
    }

    /// The loaded image that `handle` names.
    fn texture_of(&mut self, c: &mut Context<'_, '_>, handle: Id, key: TextureKey, bound: bool) -> Id {
        if let Some(&(id, scope)) = self.images.loaded.get(&(handle, key))
            && self.is_open(scope)
        {
            return id;
        }
        let (image, variable) = self.texture_array(c, key);
        let slot = self.handle_slot(c, handle, 0, bound);
        let pointer = self.m.pointer(storage::UNIFORM_CONSTANT, image);
        let p = self.m.result(op::ACCESS_CHAIN, pointer, &[variable, slot]);
        let id = self.m.result(op::LOAD, image, &[p]);
        if !bound {
            self.non_uniform(c, p, false);
            self.non_uniform(c, id, false);
        }
        // Loaded images are used in the block that loads them: some drivers take descriptors only so.
        let scope = self.scope();
        self.images.loaded.insert((handle, key), (id, scope));
        id
    }

    fn sampler_of(&mut self, c: &mut Context<'_, '_>, handle: Id, bound: bool) -> Id {
        if let Some(&(id, scope)) = self.images.loaded_samplers.get(&handle)
            && self.is_open(scope)
        {
            return id;
        }
        if self.images.samplers == 0 {
            let ty = self.m.id();
            put(&mut self.m.globals, op::TYPE_SAMPLER, &[ty]);
            let array = self.m.ty(Type::Array(ty, binding::SAMPLER_SLOTS));
            self.images.sampler_type = ty;
            self.images.samplers = self.m.resource(storage::UNIFORM_CONSTANT, array, 0, binding::SAMPLERS);
        }
        let slot = self.handle_slot(c, handle, 1, bound);
        let ty = self.images.sampler_type;
        let pointer = self.m.pointer(storage::UNIFORM_CONSTANT, ty);
        let p = self.m.result(op::ACCESS_CHAIN, pointer, &[self.images.samplers, slot]);
        let id = self.m.result(op::LOAD, ty, &[p]);
        if !bound {
            self.non_uniform(c, p, false);
            self.non_uniform(c, id, false);
        }
        let scope = self.scope();
        self.images.loaded_samplers.insert(handle, (id, scope));
        id
    }

    fn sampled_image(&mut self, c: &mut Context<'_, '_>, handle: Id, key: TextureKey, bound: bool) -> Id {
        let image = self.texture_of(c, handle, key, bound);
        let sampler = self.sampler_of(c, handle, bound);
        let image_type = self.texture_array(c, key).0;
        let ty = match self.images.sampled_types.get(&image_type) {
            Some(&t) => t,
            None => {
                let t = self.m.id();
                put(&mut self.m.globals, op::TYPE_SAMPLED_IMAGE, &[t, image_type]);
                self.images.sampled_types.insert(image_type, t);
                t
            }
        };
        let operands = [image, sampler];
        if bound {
            return self.m.shared(op::SAMPLED_IMAGE, ty, &operands);
        }
        let id = self.m.result(op::SAMPLED_IMAGE, ty, &operands);
        self.non_uniform(c, id, false);
        id
    }

    /// A vector of operands, or the operand when it is one.
    fn gathered(&mut self, of: Type, parts: &[Id]) -> Id {
        if let [only] = parts {
            return *only;
        }
        let ty = self.m.vector(of, parts.len() as u32);
        self.m.shared(op::COMPOSITE_CONSTRUCT, ty, parts)
    }

    /// Constant offsets.
    fn constant_offset(&mut self, parts: &[u32]) -> Id {
        let words: Vec<Id> = parts.iter().map(|&p| self.m.constant(Type::Int, p)).collect();
        if let [only] = words[..] {
            return only;
        }
        let ty = self.m.vector(Type::Int, words.len() as u32);
        self.constant_composite(ty, &words)
    }

    fn constant_composite(&mut self, ty: Id, parts: &[Id]) -> Id {
        let id = self.m.id();
        self.m.globals.push((parts.len() as u32 + 3) << 16 | op::CONSTANT_COMPOSITE);
        self.m.globals.extend([ty, id]);
        self.m.globals.extend_from_slice(parts);
        id
    }

    fn note_texture(&mut self, c: &mut Context<'_, '_>, access: &TextureAccess, float: bool) {
        let used = TextureUse {
            handle: access.bound.map_or(HandleSource::Bindless, HandleSource::Bound),
            kind: access.kind,
            shadow: access.reference.is_some(),
            sampled: if float { SampledType::Float } else { SampledType::Uint },
        };
        if !c.interface.textures.contains(&used) {
            c.interface.textures.push(used);
        }
    }

    pub(super) fn texture(&mut self, c: &mut Context<'_, '_>, v: Value, inst: &Inst) {
        let access = c.f.textures[inst.args[0] as usize];
        if inst.op == Op::TextureQuery {
            return self.texture_query(c, v, &access);
        }
        let shadow = access.reference.is_some();
        let float = shadow || c.f.types[v.index()] == WordType::Float;
        self.note_texture(c, &access, float);
        let key = (access.kind, float, shadow);
        let bound = access.bound.is_some();
        let scalar = if float { Type::Float } else { Type::Uint };
        let handle = self.uint(c, access.handle);
        let fetch = access.op == TextureOp::Fetch;
        let mut coords = smallvec::SmallVec::<[Id; 4]>::new();
        for &coord in access.coords.iter().filter(|x| x.is_some()) {
            coords.push(if fetch { self.uint(c, coord) } else { self.float(c, coord) });
        }
        let coordinate = self.gathered(if fetch { Type::Uint } else { Type::Float }, &coords);
        // Image operands, in the order of their bits.
        let (mut mask, mut extra) = (0, smallvec::SmallVec::<[Id; 6]>::new());
        if access.op == TextureOp::Sample && access.lod.is_some() {
            mask |= 1;
            extra.push(self.float(c, access.lod));
        }
        if access.op == TextureOp::SampleLod {
            mask |= 2;
            extra.push(self.float(c, access.lod));
        }
        if fetch && access.sample == Value::NONE && access.kind != ViewKind::Buffer {
            mask |= 2;
            let level = if access.lod.is_some() { self.uint(c, access.lod) } else { self.m.uint(0) };
            extra.push(level);
        }
        if access.op == TextureOp::SampleGrad {
            mask |= 4;
            let n = dimensions(access.kind);
            for axis in 0..2 {
                let parts: Vec<Id> = (0..n).map(|k| self.float(c, access.grad[2 * k + axis])).collect();
                let d = self.gathered(Type::Float, &parts);
                extra.push(d);
            }
        }
        let offset: Vec<Value> = access.offset.iter().copied().filter(|o| o.is_some()).collect();
        if !offset.is_empty() {
            let known: Option<Vec<u32>> = offset.iter().map(|&o| c.f.constant(c.f.resolve(o))).collect();
            match known {
                Some(parts) if parts.iter().all(|&p| p == 0) => {}
                Some(parts) => {
                    mask |= 8;
                    let id = self.constant_offset(&parts);
                    extra.push(id);
                }
                None => {
                    mask |= 16;
                    self.m.capability(cap::IMAGE_GATHER_EXTENDED);
                    c.interface.requirements |= Requirements::GATHER_EXTENDED;
                    let parts: Vec<Id> = offset.iter().map(|&o| self.uint(c, o)).collect();
                    let id = self.gathered(Type::Uint, &parts);
                    extra.push(id);
                }
            }
        }
        if access.sample.is_some() {
            mask |= 64;
            extra.push(self.uint(c, access.sample));
        }
        let vector = self.m.vector(scalar, 4);
        let own = self.own(v);
        if let Some(offsets) = access.offsets {
            return self.gather_offsets(c, own, vector, &access, key, handle, coordinate, &offsets);
        }
        let mut words = smallvec::SmallVec::<[Id; 12]>::new();
        let tail = |words: &mut smallvec::SmallVec<[Id; 12]>| {
            if mask != 0 {
                words.push(mask);
                words.extend_from_slice(&extra);
            }
        };
        if fetch {
            let image = self.texture_of(c, handle, key, bound);
            words.extend([image, coordinate]);
            tail(&mut words);
            return self.m.result_as(own, op::IMAGE_FETCH, vector, &words);
        }
        let image = self.sampled_image(c, handle, key, bound);
        words.extend([image, coordinate]);
        let implicit = access.op == TextureOp::Sample;
        if access.op == TextureOp::Gather {
            let opcode = if shadow {
                words.push(self.float(c, access.reference));
                op::IMAGE_DREF_GATHER
            } else {
                words.push(self.m.uint(access.component));
                op::IMAGE_GATHER
            };
            tail(&mut words);
            return self.m.result_as(own, opcode, vector, &words);
        }
        let (opcode, ty) = match (shadow, implicit) {
            (false, true) => (op::IMAGE_SAMPLE_IMPLICIT_LOD, vector),
            (false, false) => (op::IMAGE_SAMPLE_EXPLICIT_LOD, vector),
            (true, implicit) => {
                words.push(self.float(c, access.reference));
                self.images.scalars.push(v);
                let opcode =
                    if implicit { op::IMAGE_SAMPLE_DREF_IMPLICIT_LOD } else { op::IMAGE_SAMPLE_DREF_EXPLICIT_LOD };
                (opcode, self.m.ty(Type::Float))
            }
        };
        tail(&mut words);
        self.m.result_as(own, opcode, ty, &words);
    }

    /// A gather of four texels at offsets of their own: one instruction when they are constants, else four gathers.
    #[allow(clippy::too_many_arguments)]
    fn gather_offsets(
        &mut self,
        c: &mut Context<'_, '_>,
        own: Id,
        vector: Id,
        access: &TextureAccess,
        key: TextureKey,
        handle: Id,
        coordinate: Id,
        offsets: &[Value; 8],
    ) {
        self.m.capability(cap::IMAGE_GATHER_EXTENDED);
        c.interface.requirements |= Requirements::GATHER_EXTENDED;
        let image = self.sampled_image(c, handle, key, access.bound.is_some());
        let shadow = access.reference.is_some();
        let selector = if shadow { self.float(c, access.reference) } else { self.m.uint(access.component) };
        let opcode = if shadow { op::IMAGE_DREF_GATHER } else { op::IMAGE_GATHER };
        let known: Option<Vec<u32>> = offsets.iter().map(|&o| c.f.constant(c.f.resolve(o))).collect();
        if let Some(known) = known {
            let pairs: Vec<Id> = known.chunks_exact(2).map(|p| self.constant_offset(p)).collect();
            let pair = self.m.vector(Type::Int, 2);
            let array = self.m.ty(Type::Array(pair, 4));
            let all = self.constant_composite(array, &pairs);
            return self.m.result_as(own, opcode, vector, &[image, coordinate, selector, 32, all]);
        }
        let scalar = self.m.ty(if key.1 { Type::Float } else { Type::Uint });
        let mut parts = [0; 4];
        for (k, part) in parts.iter_mut().enumerate() {
            let (x, y) = (self.uint(c, offsets[2 * k]), self.uint(c, offsets[2 * k + 1]));
            let offset = self.gathered(Type::Uint, &[x, y]);
            let four = self.m.result(opcode, vector, &[image, coordinate, selector, 16, offset]);
            // The texel at the offset itself is the last of a gather.
            *part = self.m.result(op::COMPOSITE_EXTRACT, scalar, &[four, 3]);
        }
        self.m.result_as(own, op::COMPOSITE_CONSTRUCT, vector, &parts);
    }

    fn texture_query(&mut self, c: &mut Context<'_, '_>, v: Value, access: &TextureAccess) {
        self.m.capability(cap::IMAGE_QUERY);
        self.note_texture(c, access, true);
        let key = (access.kind, true, false);
        let bound = access.bound.is_some();
        let handle = self.uint(c, access.handle);
        let uint = self.m.ty(Type::Uint);
        let own = self.own(v);
        match access.op {
            TextureOp::Lod => {
                let coords: Vec<Id> =
                    access.coords.iter().filter(|x| x.is_some()).map(|&x| self.float(c, x)).collect::<Vec<_>>();
                let coordinate = self.gathered(Type::Float, &coords);
                let image = self.sampled_image(c, handle, key, bound);
                let pair = self.m.vector(Type::Float, 2);
                self.m.result_as(own, op::IMAGE_QUERY_LOD, pair, &[image, coordinate]);
            }
            TextureOp::Size => {
                let n = size_components(access.kind);
                let ty = self.m.vector(Type::Uint, n);
                let image = self.texture_of(c, handle, key, bound);
                let levels =
                    !matches!(access.kind, ViewKind::Buffer | ViewKind::D2Multisampled | ViewKind::D2MultisampledArray);
                if n == 1 {
                    self.images.scalars.push(v);
                }
                if levels {
                    let level = self.uint(c, access.lod);
                    self.m.result_as(own, op::IMAGE_QUERY_SIZE_LOD, ty, &[image, level]);
                } else {
                    self.m.result_as(own, op::IMAGE_QUERY_SIZE, ty, &[image]);
                }
            }
            _ => {
                let image = self.texture_of(c, handle, key, bound);
                self.images.scalars.push(v);
                let opcode =
                    if access.op == TextureOp::Levels { op::IMAGE_QUERY_LEVELS } else { op::IMAGE_QUERY_SAMPLES };
                self.m.result_as(own, opcode, uint, &[image]);
            }
        }
    }

    /// Type and array variable of storage images.
    fn image_array(&mut self, c: &mut Context<'_, '_>, key: ImageKey) -> (Id, Id) {
        if let Some(&found) = self.images.images.get(&key) {
            return found;
        }
        let (kind, raw, float, fixed) = key;
        let (dim, arrayed, multisampled) = shape(kind);
        match kind {
            ViewKind::D1 | ViewKind::D1Array => self.m.capability(cap::IMAGE_1D),
            ViewKind::Buffer => {
                self.m.capability(cap::IMAGE_BUFFER);
                self.m.capability(cap::STORAGE_TEXEL_BUFFER_ARRAY_DYNAMIC_INDEXING);
                c.interface.requirements |= Requirements::TEXEL_BUFFER_INDEXING;
            }
            _ => {}
        }
        self.m.capability(cap::STORAGE_IMAGE_ARRAY_DYNAMIC_INDEXING);
        c.interface.requirements |= Requirements::IMAGE_INDEXING;
        let of = self.m.ty(if float { Type::Float } else { Type::Uint });
        // Format 33 is R32ui, 0 unknown.
        let image = self.image_type([of, dim, 0, arrayed, multisampled, 2, if fixed { 33 } else { 0 }]);
        let array = self.m.ty(Type::Array(image, binding::IMAGE_SLOTS));
        let first = if raw { binding::IMAGES_RAW } else { binding::IMAGES_TYPED };
        let variable = self.m.resource(storage::UNIFORM_CONSTANT, array, 0, first + kind as u32);
        self.images.images.insert(key, (image, variable));
        (image, variable)
    }

    fn note_image(&mut self, c: &mut Context<'_, '_>, access: &ImageAccess, how: crate::ImageAccess) {
        let handle = access.bound.map_or(HandleSource::Bindless, HandleSource::Bound);
        let sampled = if access.float { SampledType::Float } else { SampledType::Uint };
        let found = c
            .interface
            .images
            .iter_mut()
            .find(|u| u.handle == handle && u.kind == access.kind && u.raw == access.raw && u.sampled == sampled);
        match found {
            Some(u) => u.access |= how,
            None => {
                c.interface.images.push(ImageUse { handle, kind: access.kind, raw: access.raw, sampled, access: how })
            }
        }
    }

    pub(super) fn image(&mut self, c: &mut Context<'_, '_>, v: Value, inst: &Inst) {
        let mut access = c.f.images[inst.args[0] as usize];
        if inst.op == Op::ImageLoad && !access.raw {
            access.float = c.f.types[v.index()] == WordType::Float;
        }
        let how = match inst.op {
            Op::ImageLoad => crate::ImageAccess::LOAD,
            Op::ImageStore => crate::ImageAccess::STORE,
            Op::ImageAtomic => crate::ImageAccess::ATOMIC,
            _ => crate::ImageAccess::empty(),
        };
        self.note_image(c, &access, how);
        let key = (access.kind, access.raw, access.float, inst.op == Op::ImageAtomic);
        let (image, variable) = self.image_array(c, key);
        let handle = self.uint(c, access.handle);
        let bound = access.bound.is_some();
        let slot = self.handle_slot(c, handle, 0, bound);
        let pointer = self.m.pointer(storage::UNIFORM_CONSTANT, image);
        let p = self.m.result(op::ACCESS_CHAIN, pointer, &[variable, slot]);
        if !bound {
            self.non_uniform(c, slot, true);
            self.non_uniform(c, p, true);
        }
        let coords: Vec<Id> =
            access.coords.iter().filter(|x| x.is_some()).map(|&x| self.uint(c, x)).collect::<Vec<_>>();
        let uint = self.m.ty(Type::Uint);
        if inst.op == Op::ImageAtomic {
            self.note_write(c);
            let coordinate = self.gathered(Type::Uint, &coords);
            let texel = self.m.pointer(storage::IMAGE, uint);
            let zero = self.m.uint(0);
            let texel = self.m.result(op::IMAGE_TEXEL_POINTER, texel, &[p, coordinate, zero]);
            return self.atomic(c, v, texel, [access.data[0], access.data[1]], access.atomic, 1);
        }
        let loaded = self.m.result(op::LOAD, image, &[p]);
        if !bound {
            self.non_uniform(c, loaded, true);
        }
        if inst.op == Op::ImageSize {
            self.m.capability(cap::IMAGE_QUERY);
            let n = size_components(access.kind);
            let ty = self.m.vector(Type::Uint, n);
            let own = self.own(v);
            if n == 1 {
                self.images.scalars.push(v);
            }
            return self.m.result_as(own, op::IMAGE_QUERY_SIZE, ty, &[loaded]);
        }
        let coordinate = self.gathered(Type::Uint, &coords);
        let scalar = if access.float { Type::Float } else { Type::Uint };
        let vector = self.m.vector(scalar, 4);
        if inst.op == Op::ImageLoad {
            self.m.capability(cap::STORAGE_IMAGE_READ_WITHOUT_FORMAT);
            c.interface.requirements |= Requirements::IMAGE_READ_FORMATLESS;
            let own = self.own(v);
            return self.m.result_as(own, op::IMAGE_READ, vector, &[loaded, coordinate]);
        }
        self.m.capability(cap::STORAGE_IMAGE_WRITE_WITHOUT_FORMAT);
        c.interface.requirements |= Requirements::IMAGE_WRITE_FORMATLESS;
        self.note_write(c);
        let zero = self.m.constant(scalar, 0);
        let parts = access.data.map(|d| match (d.is_some(), access.float) {
            (false, _) => zero,
            (_, true) => self.float(c, d),
            (_, false) => self.uint(c, d),
        });
        let texel = self.m.result(op::COMPOSITE_CONSTRUCT, vector, &parts);
        self.m.statement(op::IMAGE_WRITE, &[loaded, coordinate, texel]);
    }
}
