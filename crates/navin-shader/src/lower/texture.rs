//! Textures: sampling, fetches, gathers, queries, in long, short, bound and bindless forms.

use super::{Lower, Result};
use crate::ir::{Op as Ir, TextureAccess, TextureOp, Value};
use crate::isa::{Field, Instr, Op};
use crate::{Stage, ViewKind};

/// Component masks of the short forms, by cmask; with one destination pair and with two.
const SHORT_ONE: [u32; 8] = [0b0001, 0b0010, 0b0100, 0b1000, 0b0011, 0b1001, 0b1010, 0b1100];
const SHORT_TWO: [u32; 8] = [0b0111, 0b1011, 0b1101, 0b1110, 0b1111, 0, 0, 0];

/// Reads consecutive registers.
struct Cursor(u32);

impl Cursor {
    fn next(&mut self, l: &mut Lower<'_, '_>) -> Value {
        let v = l.reg(self.0);
        if self.0 != 255 {
            self.0 += 1;
        }
        v
    }
}

fn kind_of(dim: u32) -> Option<ViewKind> {
    Some(match dim {
        0 => ViewKind::D1,
        1 => ViewKind::D1Array,
        2 => ViewKind::D2,
        3 => ViewKind::D2Array,
        4 => ViewKind::D3,
        6 => ViewKind::Cube,
        7 => ViewKind::CubeArray,
        _ => return None,
    })
}

/// Coordinates without the layer.
pub(crate) fn dimensions(kind: ViewKind) -> usize {
    match kind {
        ViewKind::D1 | ViewKind::D1Array | ViewKind::Buffer => 1,
        ViewKind::D2 | ViewKind::D2Array | ViewKind::D2Multisampled | ViewKind::D2MultisampledArray => 2,
        ViewKind::D3 | ViewKind::Cube | ViewKind::CubeArray => 3,
    }
}

/// Has the view kind layers?
pub(crate) fn is_array(kind: ViewKind) -> bool {
    matches!(kind, ViewKind::D1Array | ViewKind::D2Array | ViewKind::CubeArray | ViewKind::D2MultisampledArray)
}

impl Lower<'_, '_> {
    fn access(op: TextureOp, handle: Value, bound: Option<u32>, kind: ViewKind) -> TextureAccess {
        TextureAccess {
            op,
            handle,
            bound,
            kind,
            coords: [Value::NONE; 4],
            lod: Value::NONE,
            reference: Value::NONE,
            grad: [Value::NONE; 6],
            offset: [Value::NONE; 3],
            offsets: None,
            sample: Value::NONE,
            component: 0,
        }
    }

    /// The handle of a bound texture, and its word.
    fn bound_handle(&mut self, i: &Instr) -> Result<(Value, Option<u32>)> {
        let word = i.get(Field::Tid13);
        let bank = self.options.layout.texture_bank;
        let handle = self.constant(i, bank, word * 4)?;
        Ok((handle, Some(word)))
    }

    /// A handle from a register; known as bound when it is a word of the handle bank.
    pub(super) fn bindless(&self, handle: Value, bank: u32) -> (Value, Option<u32>) {
        let inst = self.b.f.inst(handle);
        let bound = inst.op == Ir::LoadConst && inst.args[0] == bank;
        (handle, bound.then_some(inst.args[1] / 4))
    }

    /// The kind that the caller gave for a word.
    fn told_kind(&self, word: Option<u32>) -> Option<ViewKind> {
        let word = word?;
        self.options.texture_kinds.iter().find(|(w, _)| *w == word).map(|(_, k)| *k)
    }

    /// The same for what the machine takes as 1D: a texture or a buffer.
    fn told_line(&self, word: Option<u32>) -> Option<ViewKind> {
        self.told_kind(word).filter(|k| matches!(k, ViewKind::D1 | ViewKind::Buffer))
    }

    /// Signed offsets of `bits` bits, `step` apart, from bit `first` on.
    fn offsets(&mut self, packed: Value, first: u32, step: u32, bits: u32, count: usize) -> [Value; 3] {
        let mut out = [Value::NONE; 3];
        for (k, o) in out.iter_mut().enumerate().take(count) {
            let (at, n) = (self.b.word(first + step * k as u32), self.b.word(bits));
            *o = self.b.op3(Ir::BfeS, packed, at, n);
        }
        out
    }

    /// Offsets of a sample have to be constants in Vulkan; those of a fetch are added to the coordinates.
    fn set_offsets(&mut self, i: &Instr, access: &mut TextureAccess, offset: [Value; 3]) -> Result<()> {
        match access.op {
            TextureOp::Fetch => {
                for (c, o) in access.coords.iter_mut().zip(offset).filter(|(_, o)| o.is_some()) {
                    *c = self.b.op2(Ir::IAdd, *c, o);
                }
            }
            TextureOp::Gather => access.offset = offset,
            _ => {
                if offset.iter().any(|&o| o.is_some() && self.b.f.constant(o).is_none()) {
                    return self.unsupported(i, "computed offsets of a sample are not translated");
                }
                access.offset = offset;
            }
        }
        Ok(())
    }

    /// Layer and coordinates from consecutive registers.
    fn coordinates(&mut self, access: &mut TextureAccess, from: &mut Cursor) {
        let layer = is_array(access.kind).then(|| from.next(self));
        let n = dimensions(access.kind);
        for k in 0..n {
            access.coords[k] = from.next(self);
        }
        if let Some(layer) = layer {
            self.set_layer(access, n, layer);
        }
    }

    fn set_layer(&mut self, access: &mut TextureAccess, n: usize, layer: Value) {
        let low = self.b.word(0xFFFF);
        let is_low = matches!(self.b.f.inst(layer).op, Ir::FToU | Ir::UMin);
        let layer = if is_low { layer } else { self.b.op2(Ir::And, layer, low) };
        access.coords[n] = if access.op == TextureOp::Fetch { layer } else { self.b.op1(Ir::UToF, layer) };
    }

    /// Level fields of a sample.
    fn level(&mut self, i: &Instr, lod: u32, access: &mut TextureAccess, from: &mut Cursor) -> Result<()> {
        let implicit = self.program.stage == Stage::Fragment;
        match lod {
            0 if implicit => {}
            0 | 1 => {
                access.op = TextureOp::SampleLod;
                access.lod = self.b.word(0);
            }
            2 => {
                access.lod = from.next(self);
                if !implicit {
                    access.op = TextureOp::SampleLod;
                }
            }
            3 => {
                access.op = TextureOp::SampleLod;
                access.lod = from.next(self);
            }
            _ => return self.unsupported(i, "what this mode of the level does is not known"),
        }
        Ok(())
    }

    fn add_texture(&mut self, access: TextureAccess) -> Value {
        let index = self.b.f.textures.len() as u32;
        self.b.f.textures.push(access);
        let op = match access.op {
            TextureOp::Size | TextureOp::Levels | TextureOp::Samples | TextureOp::Lod => Ir::TextureQuery,
            _ => Ir::Texture,
        };
        self.b.pure(op, &[index])
    }

    fn texel(&mut self, v: Value, component: u32) -> Value {
        self.b.pure(Ir::Extract, &[v.0, component])
    }

    /// Writes the components of `mask` to consecutive registers.
    fn write_masked(&mut self, i: &Instr, v: Value, mask: u32) {
        let mut register = i.get(Field::Dst);
        for component in (0..4).filter(|c| mask >> c & 1 != 0) {
            let word = self.texel(v, component);
            self.set_reg(register, word);
            if register != 255 {
                register += 1;
            }
        }
    }

    /// Writes the short forms' results: the first two to dst, the others to dst2; or packed halves.
    fn write_short(&mut self, i: &Instr, v: Value, mask: u32, halves: bool) {
        let words: smallvec::SmallVec<[Value; 4]> =
            (0..4).filter(|c| mask >> c & 1 != 0).map(|c| self.texel(v, c)).collect();
        let (dst, dst2) = (i.get(Field::Dst), i.get(Field::Dst2));
        let registers = |r: u32, k: u32| if r == 255 { 255 } else { r + k };
        if halves {
            let zero = self.b.word(0);
            for (k, pair) in words.chunks(2).enumerate() {
                let high = pair.get(1).copied().unwrap_or(zero);
                let packed = self.b.op2(Ir::PackHalf, pair[0], high);
                self.set_reg(if k == 0 { dst } else { dst2 }, packed);
            }
            return;
        }
        for (k, word) in words.into_iter().enumerate() {
            let k = k as u32;
            self.set_reg(if k < 2 { registers(dst, k) } else { registers(dst2, k - 2) }, word);
        }
    }

    /// TEX, TEXS, TLD, TLDS, TLD4, TLD4S, TXD.
    pub(super) fn texture(&mut self, i: &Instr) -> Result<()> {
        if i.has(Field::Pd) && i.get(Field::Pd) != 7 {
            return self.unsupported(i, "residency results are not translated");
        }
        if i.flag(Field::Lc) {
            return self.unsupported(i, "level clamps are not translated");
        }
        let dim = if i.has(Field::Dim) { i.get(Field::Dim) } else { 2 };
        let cube = matches!(dim, 6 | 7);
        let gather = matches!(i.op, Op::Tld4 | Op::Tld4B);
        let offsets = i.flag(Field::Aoffi) || gather && i.get(Field::Toff) != 0;
        let impossible = cube && (matches!(i.op, Op::Tld | Op::TldB) || offsets)
            || gather && matches!(dim, 0 | 1 | 4)
            || i.flag(Field::Dc) && dim == 4;
        if impossible {
            return self.unsupported(i, "Vulkan has no such access to a view of this kind");
        }
        let guard = self.guard.take();
        let done = match i.op {
            Op::Texs | Op::TexsF16 => self.short_sample(i),
            Op::Tlds | Op::TldsF16 => self.short_fetch(i),
            Op::Tld4s | Op::Tld4sF16 => self.short_gather(i),
            Op::Tex | Op::TexB => self.long_sample(i),
            Op::Tld | Op::TldB => self.long_fetch(i),
            Op::Tld4 | Op::Tld4B => self.long_gather(i),
            _ => self.gradient_sample(i),
        };
        self.guard = guard;
        let (v, mask) = done?;
        match i.op {
            Op::Texs | Op::Tlds | Op::Tld4s => self.write_short(i, v, mask, false),
            Op::TexsF16 | Op::TldsF16 | Op::Tld4sF16 => self.write_short(i, v, mask, true),
            _ => self.write_masked(i, v, mask),
        }
        Ok(())
    }

    /// Handle of a long form: bound, or first of the registers at b.
    fn long_handle(&mut self, i: &Instr, from: &mut Cursor) -> Result<(Value, Option<u32>)> {
        if i.has(Field::Tid13) {
            return self.bound_handle(i);
        }
        let handle = from.next(self);
        Ok(self.bindless(handle, self.options.layout.texture_bank))
    }

    fn long_kind(&self, i: &Instr) -> Result<ViewKind> {
        match kind_of(i.get(Field::Dim)) {
            Some(kind) => Ok(kind),
            None => self.unsupported(i, "3D array textures do not exist in Vulkan"),
        }
    }

    fn long_sample(&mut self, i: &Instr) -> Result<(Value, u32)> {
        let (mut a, mut b) = (Cursor(i.get(Field::A)), Cursor(i.get(Field::B)));
        let kind = self.long_kind(i)?;
        let (handle, bound) = self.long_handle(i, &mut b)?;
        let mut access = Self::access(TextureOp::Sample, handle, bound, kind);
        self.coordinates(&mut access, &mut a);
        self.level(i, i.get(Field::Lod), &mut access, &mut b)?;
        if i.flag(Field::Aoffi) {
            let packed = b.next(self);
            let offset = self.offsets(packed, 0, 4, 4, dimensions(kind));
            self.set_offsets(i, &mut access, offset)?;
        }
        if i.flag(Field::Dc) {
            access.reference = b.next(self);
        }
        Ok((self.add_texture(access), i.get(Field::Mask)))
    }

    fn long_fetch(&mut self, i: &Instr) -> Result<(Value, u32)> {
        let (mut a, mut b) = (Cursor(i.get(Field::A)), Cursor(i.get(Field::B)));
        let mut kind = self.long_kind(i)?;
        let (handle, bound) = self.long_handle(i, &mut b)?;
        if i.flag(Field::Ms) {
            kind = match kind {
                ViewKind::D2 => ViewKind::D2Multisampled,
                ViewKind::D2Array => ViewKind::D2MultisampledArray,
                _ => return self.unsupported(i, "multisampled textures are 2D"),
            };
        }
        let level = i.flag(Field::Lod);
        if kind == ViewKind::D1 {
            // The instruction does not tell 1D textures from buffers; those are far more common, and have no levels.
            let guess = if level { ViewKind::D1 } else { ViewKind::Buffer };
            kind = self.told_line(bound).unwrap_or(guess);
        }
        let mut access = Self::access(TextureOp::Fetch, handle, bound, kind);
        self.coordinates(&mut access, &mut a);
        if level {
            access.lod = b.next(self);
        }
        if i.flag(Field::Aoffi) {
            let packed = b.next(self);
            let offset = self.offsets(packed, 0, 4, 4, dimensions(kind));
            self.set_offsets(i, &mut access, offset)?;
        }
        if i.flag(Field::Ms) {
            access.sample = b.next(self);
            access.lod = Value::NONE;
        }
        Ok((self.add_texture(access), i.get(Field::Mask)))
    }

    fn long_gather(&mut self, i: &Instr) -> Result<(Value, u32)> {
        let (mut a, mut b) = (Cursor(i.get(Field::A)), Cursor(i.get(Field::B)));
        let kind = self.long_kind(i)?;
        let (handle, bound) = self.long_handle(i, &mut b)?;
        let mut access = Self::access(TextureOp::Gather, handle, bound, kind);
        access.component = i.get(Field::Comp);
        self.coordinates(&mut access, &mut a);
        match i.get(Field::Toff) {
            0 => {}
            1 => {
                let packed = b.next(self);
                access.offset = self.offsets(packed, 0, 8, 6, dimensions(kind).min(2));
            }
            2 => {
                let (x, y) = (b.next(self), b.next(self));
                let mut all = [Value::NONE; 8];
                for (k, o) in all.iter_mut().enumerate() {
                    let (at, n) = (self.b.word(8 * (k as u32 & 3)), self.b.word(6));
                    *o = self.b.op3(Ir::BfeS, if k < 4 { x } else { y }, at, n);
                }
                access.offsets = Some(all);
            }
            _ => return self.unsupported(i, "this offset mode is not known"),
        }
        if i.flag(Field::Dc) {
            access.reference = b.next(self);
        }
        Ok((self.add_texture(access), i.get(Field::Mask)))
    }

    fn gradient_sample(&mut self, i: &Instr) -> Result<(Value, u32)> {
        let (mut a, mut b) = (Cursor(i.get(Field::A)), Cursor(i.get(Field::B)));
        let kind = self.long_kind(i)?;
        let (handle, bound) = if i.has(Field::Tid13) {
            self.bound_handle(i)?
        } else {
            let handle = a.next(self);
            self.bindless(handle, self.options.layout.texture_bank)
        };
        let mut access = Self::access(TextureOp::SampleGrad, handle, bound, kind);
        let n = dimensions(kind);
        for k in 0..n {
            access.coords[k] = a.next(self);
        }
        let array = is_array(kind);
        if array || i.flag(Field::Aoffi) {
            let packed = a.next(self);
            if array {
                self.set_layer(&mut access, n, packed);
            }
            if i.flag(Field::Aoffi) {
                let offset = self.offsets(packed, 16, 4, 4, n);
                self.set_offsets(i, &mut access, offset)?;
            }
        }
        for k in 0..2 * n {
            access.grad[k] = b.next(self);
        }
        Ok((self.add_texture(access), i.get(Field::Mask)))
    }

    fn short_mask(&self, i: &Instr) -> Result<u32> {
        let table = if i.get(Field::Dst2) == 255 { &SHORT_ONE } else { &SHORT_TWO };
        match table[i.get(Field::Cmask) as usize & 7] {
            0 => self.unsupported(i, "this component mask is not known"),
            mask => Ok(mask),
        }
    }

    fn short_sample(&mut self, i: &Instr) -> Result<(Value, u32)> {
        let mask = self.short_mask(i)?;
        let (handle, bound) = self.bound_handle(i)?;
        let (mut a, mut b) = (Cursor(i.get(Field::A)), Cursor(i.get(Field::B)));
        let target = i.get(Field::Target);
        // View kind; level mode (0 automatic, 1 zero, 3 given); depth reference.
        let (kind, lod, dc) = match target {
            0 => (ViewKind::D1, 1, false),
            1 => (ViewKind::D2, 0, false),
            2 => (ViewKind::D2, 1, false),
            3 => (ViewKind::D2, 3, false),
            4 => (ViewKind::D2, 0, true),
            5 => (ViewKind::D2, 3, true),
            6 => (ViewKind::D2, 1, true),
            7 => (ViewKind::D2Array, 0, false),
            8 => (ViewKind::D2Array, 1, false),
            9 => (ViewKind::D2Array, 1, true),
            10 => (ViewKind::D3, 0, false),
            11 => (ViewKind::D3, 1, false),
            12 => (ViewKind::Cube, 0, false),
            13 => (ViewKind::Cube, 3, false),
            _ => return self.unsupported(i, "this target is not known"),
        };
        let mut access = Self::access(TextureOp::Sample, handle, bound, kind);
        match target {
            0 => access.coords[0] = a.next(self),
            1 | 2 => {
                access.coords[0] = a.next(self);
                access.coords[1] = b.next(self);
            }
            3..=6 => {
                access.coords[0] = a.next(self);
                access.coords[1] = a.next(self);
            }
            7..=9 => {
                let layer = a.next(self);
                access.coords[0] = a.next(self);
                access.coords[1] = b.next(self);
                self.set_layer(&mut access, 2, layer);
            }
            _ => {
                access.coords[0] = a.next(self);
                access.coords[1] = a.next(self);
                access.coords[2] = b.next(self);
            }
        }
        self.level(i, lod, &mut access, &mut b)?;
        if dc {
            access.reference = b.next(self);
        }
        Ok((self.add_texture(access), mask))
    }

    fn short_fetch(&mut self, i: &Instr) -> Result<(Value, u32)> {
        let mask = self.short_mask(i)?;
        let (handle, bound) = self.bound_handle(i)?;
        let (mut a, mut b) = (Cursor(i.get(Field::A)), Cursor(i.get(Field::B)));
        let target = i.get(Field::Target);
        let kind = match target {
            0 => self.told_line(bound).unwrap_or(ViewKind::D1),
            1 => ViewKind::D1,
            2 | 4 | 5 | 12 => ViewKind::D2,
            6 => ViewKind::D2Multisampled,
            7 => ViewKind::D3,
            8 => ViewKind::D2Array,
            _ => return self.unsupported(i, "this target is not known"),
        };
        let mut access = Self::access(TextureOp::Fetch, handle, bound, kind);
        match target {
            0 => access.coords[0] = a.next(self),
            1 => {
                access.coords[0] = a.next(self);
                access.lod = b.next(self);
            }
            2 => {
                access.coords[0] = a.next(self);
                access.coords[1] = b.next(self);
            }
            8 => {
                let layer = a.next(self);
                access.coords[0] = b.next(self);
                access.coords[1] = b.next(self);
                self.set_layer(&mut access, 2, layer);
            }
            _ => {
                access.coords[0] = a.next(self);
                access.coords[1] = a.next(self);
                match target {
                    5 | 12 => access.lod = b.next(self),
                    6 => access.sample = b.next(self),
                    7 => access.coords[2] = b.next(self),
                    _ => {}
                }
                if matches!(target, 4 | 12) {
                    let packed = b.next(self);
                    let offset = self.offsets(packed, 0, 4, 4, 2);
                    self.set_offsets(i, &mut access, offset)?;
                }
            }
        }
        Ok((self.add_texture(access), mask))
    }

    fn short_gather(&mut self, i: &Instr) -> Result<(Value, u32)> {
        let (handle, bound) = self.bound_handle(i)?;
        let (mut a, mut b) = (Cursor(i.get(Field::A)), Cursor(i.get(Field::B)));
        let mut access = Self::access(TextureOp::Gather, handle, bound, ViewKind::D2);
        access.component = i.get(Field::Comp);
        access.coords[0] = a.next(self);
        let (dc, aoffi) = (i.flag(Field::Dc), i.flag(Field::Aoffi));
        access.coords[1] = if dc || aoffi { a.next(self) } else { b.next(self) };
        if aoffi {
            let packed = b.next(self);
            access.offset = self.offsets(packed, 0, 8, 6, 2);
        }
        if dc {
            access.reference = b.next(self);
        }
        Ok((self.add_texture(access), 15))
    }

    /// The kind of a texture that a query names: told, or that of another access to the same handle, or 2D.
    fn query_kind(&self, bound: Option<u32>) -> ViewKind {
        if let Some(kind) = self.told_kind(bound) {
            return kind;
        }
        let Some(word) = bound else { return ViewKind::D2 };
        for other in &self.graph.instrs {
            if !other.has(Field::Tid13) || other.get(Field::Tid13) != word {
                continue;
            }
            let kind = match other.op {
                Op::Tld if other.flag(Field::Ms) && other.get(Field::Dim) == 2 => Some(ViewKind::D2Multisampled),
                Op::Tld if other.flag(Field::Ms) => Some(ViewKind::D2MultisampledArray),
                Op::Tld if other.get(Field::Dim) == 0 && !other.flag(Field::Lod) => Some(ViewKind::Buffer),
                Op::Tex | Op::Tld | Op::Tld4 | Op::Txd | Op::Tmml => kind_of(other.get(Field::Dim)),
                Op::Tld4s | Op::Tld4sF16 => Some(ViewKind::D2),
                Op::Texs | Op::TexsF16 => Some(match other.get(Field::Target) {
                    0 => ViewKind::D1,
                    1..=6 => ViewKind::D2,
                    7..=9 => ViewKind::D2Array,
                    10 | 11 => ViewKind::D3,
                    _ => ViewKind::Cube,
                }),
                Op::Tlds | Op::TldsF16 => Some(match other.get(Field::Target) {
                    0 | 1 => ViewKind::D1,
                    6 => ViewKind::D2Multisampled,
                    7 => ViewKind::D3,
                    8 => ViewKind::D2Array,
                    _ => ViewKind::D2,
                }),
                _ => None,
            };
            if let Some(kind) = kind {
                return kind;
            }
        }
        ViewKind::D2
    }

    /// The handle word that a query means by the word it names.
    fn query_word(&self, word: u32) -> u32 {
        let layout = self.options.layout;
        let (first, stride) = (layout.texture_first_word, layout.query_word_stride.max(1));
        if stride == layout.texture_word_stride || word < first || word >= layout.image_first_word {
            return word;
        }
        layout.texture_word((word - first) / stride)
    }

    /// Is the handle word that a query names an image's?
    fn is_image_word(&self, word: u32) -> bool {
        let layout = self.options.layout;
        if layout.image_bank != layout.texture_bank
            || !(layout.image_first_word..layout.image_first_word + 8).contains(&word)
        {
            return false;
        }
        let mut image = true;
        for other in self.graph.instrs.iter().filter(|o| o.has(Field::Tid13) && o.get(Field::Tid13) == word) {
            match other.op {
                Op::SuldD | Op::SuldP | Op::SustD | Op::SustP | Op::SuatomD | Op::SuatomDCas => return true,
                Op::Txq => {}
                _ => image = false,
            }
        }
        image
    }

    /// TXQ and TMML.
    pub(super) fn texture_query(&mut self, i: &Instr) -> Result<()> {
        let mask = i.get(Field::Mask);
        if matches!(i.op, Op::Tmml | Op::TmmlB) {
            return self.level_query(i, mask);
        }
        let mut a = Cursor(i.get(Field::A));
        let (handle, bound) = if i.has(Field::Tid13) {
            let word = self.query_word(i.get(Field::Tid13));
            (self.constant(i, self.options.layout.texture_bank, word * 4)?, Some(word))
        } else {
            let handle = a.next(self);
            self.bindless(handle, self.options.layout.texture_bank)
        };
        let level = a.next(self);
        let query = i.get(Field::Query);
        // Queries of the corpus's compiler name no texture by an image's word, however high its binding.
        let apart = self.options.layout.query_word_stride != self.options.layout.texture_word_stride;
        let named = i.has(Field::Tid13).then(|| i.get(Field::Tid13));
        let image = match named {
            Some(word) if apart => word >= self.options.layout.image_first_word,
            Some(word) => self.is_image_word(word),
            None => false,
        };
        if let Some(word) = named.filter(|_| image) {
            return self.image_query(i, handle, word, query, mask);
        }
        let kind = self.query_kind(bound);
        let mut register = i.get(Field::Dst);
        for component in (0..4).filter(|c| mask >> c & 1 != 0) {
            let word = match (query, component) {
                (1, 3) => {
                    let v = self.add_texture(Self::access(TextureOp::Levels, handle, bound, kind));
                    self.texel(v, 0)
                }
                (1, _) => {
                    let index = match (kind, component) {
                        (ViewKind::D1Array, 2) => Some(1),
                        (ViewKind::D1 | ViewKind::Buffer | ViewKind::D1Array, 1 | 2) => None,
                        (ViewKind::D2 | ViewKind::Cube | ViewKind::D2Multisampled, 2) => None,
                        (_, c) => Some(c),
                    };
                    match index {
                        Some(index) => {
                            let mut access = Self::access(TextureOp::Size, handle, bound, kind);
                            access.lod = level;
                            let v = self.add_texture(access);
                            self.texel(v, index)
                        }
                        None => self.b.word(1),
                    }
                }
                (2, 2) => {
                    let kind = match kind {
                        ViewKind::D2Array | ViewKind::D2MultisampledArray => ViewKind::D2MultisampledArray,
                        _ => ViewKind::D2Multisampled,
                    };
                    let v = self.add_texture(Self::access(TextureOp::Samples, handle, bound, kind));
                    self.texel(v, 0)
                }
                _ => return self.unsupported(i, "this query is not translated"),
            };
            self.set_reg(register, word);
            if register != 255 {
                register += 1;
            }
        }
        Ok(())
    }

    fn level_query(&mut self, i: &Instr, mask: u32) -> Result<()> {
        if self.program.stage != Stage::Fragment {
            return self.unsupported(i, "only fragment programs have implicit levels");
        }
        let (mut a, mut b) = (Cursor(i.get(Field::A)), Cursor(i.get(Field::B)));
        let kind = self.long_kind(i)?;
        let (handle, bound) = self.long_handle(i, &mut b)?;
        let mut access = Self::access(TextureOp::Lod, handle, bound, kind);
        if is_array(kind) {
            a.next(self);
        }
        for k in 0..dimensions(kind) {
            access.coords[k] = a.next(self);
        }
        let v = self.add_texture(access);
        let scale = self.b.float(256.0);
        let mut register = i.get(Field::Dst);
        for component in (0..2).filter(|c| mask >> c & 1 != 0) {
            // Word 0 is the computed level, word 1 the clamped one; Vulkan has them the other way round.
            let level = self.texel(v, 1 - component);
            let scaled = self.b.op2(Ir::FMul, level, scale);
            let low = self.b.float(-32768.0);
            let high = self.b.float(32767.0);
            let scaled = self.b.op2(Ir::FMax, scaled, low);
            let scaled = self.b.op2(Ir::FMin, scaled, high);
            let fixed = self.b.op1(Ir::FToS, scaled);
            let bits = self.b.word(0xFFFF);
            let fixed = self.b.op2(Ir::And, fixed, bits);
            self.set_reg(register, fixed);
            if register != 255 {
                register += 1;
            }
        }
        Ok(())
    }

    /// The told kind of an image query, for the surface code.
    pub(super) fn told_image_kind(&self, word: u32) -> Option<ViewKind> {
        self.told_kind(Some(word))
    }
}
