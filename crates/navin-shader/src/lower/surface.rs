//! Images: raw and formatted loads and stores, atomics, size.
//!
//! Raw accesses use the raw view of the image (an unsigned format of the texel's size), formatted ones the typed view.
//! Cube images are addressed as 2D arrays of faces.

use super::{Lower, Result};
use crate::ir::{Atomic, Class, ImageAccess, Op as Ir, Value};
use crate::isa::{Field, Instr, Op};
use crate::{SampledType, ViewKind};

impl Lower<'_, '_> {
    fn image(&mut self, i: &Instr, raw: bool) -> Result<ImageAccess> {
        let bank = self.options.layout.image_bank;
        let (handle, bound) = if i.has(Field::Tid13) {
            let word = i.get(Field::Tid13);
            (self.constant(i, bank, word * 4)?, Some(word))
        } else {
            let c = self.reg(i.get(Field::C));
            self.bindless(c, bank)
        };
        let (kind, count) = match i.get(Field::Dim) {
            0 => (ViewKind::D1, 1),
            1 => (ViewKind::Buffer, 1),
            2 => (ViewKind::D1Array, 2),
            3 => (ViewKind::D2, 2),
            4 => (ViewKind::D2Array, 3),
            5 => (ViewKind::D3, 3),
            _ => return self.unsupported(i, "this image dimension is not known"),
        };
        let mut coords = [Value::NONE; 3];
        let a = i.get(Field::A);
        for (k, c) in coords.iter_mut().enumerate().take(count) {
            *c = self.reg(if a == 255 { 255 } else { a + k as u32 });
        }
        if i.flag(Field::Ba) {
            // x counts bytes of texels as large as the access.
            let shift = match (i.has(Field::Size), i.get(Field::Size)) {
                (true, 0 | 1) => 0,
                (true, 2 | 3) => 1,
                (true, 5) => 3,
                (true, 6 | 7) => 4,
                _ => 2,
            };
            let shift = self.b.word(shift);
            coords[0] = self.b.op2(Ir::Shr, coords[0], shift);
        }
        let mut access = ImageAccess {
            handle,
            bound,
            kind,
            raw,
            coords,
            data: [Value::NONE; 4],
            words: 1,
            atomic: Atomic::Add,
            float: false,
        };
        if i.get(Field::Clamp) == 1 {
            self.clamp_coordinates(&mut access, count);
        }
        Ok(access)
    }

    /// Coordinates outside the image become those of its nearest texel.
    fn clamp_coordinates(&mut self, access: &mut ImageAccess, count: usize) {
        let size = ImageAccess { coords: [Value::NONE; 3], ..*access };
        let index = self.b.f.images.len() as u32;
        self.b.f.images.push(size);
        let size = self.b.pure(Ir::ImageSize, &[index]);
        let (zero, ones) = (self.b.word(0), self.b.word(u32::MAX));
        for k in 0..count {
            let extent = self.b.pure(Ir::Extract, &[size.0, k as u32]);
            let last = self.b.op2(Ir::IAdd, extent, ones);
            let c = self.b.op2(Ir::SMax, access.coords[k], zero);
            access.coords[k] = self.b.op2(Ir::SMin, c, last);
        }
    }

    fn add_image(&mut self, op: Ir, access: ImageAccess) -> Value {
        let index = self.b.f.images.len() as u32;
        self.b.f.images.push(access);
        self.b.effect(op, &[index])
    }

    /// SULD and SUST.
    pub(super) fn surface(&mut self, i: &Instr) -> Result<()> {
        let raw = matches!(i.op, Op::SuldD | Op::SustD);
        let mut access = self.image(i, raw)?;
        let size = i.get(Field::Size);
        access.words = match (raw, size) {
            (false, _) => 4,
            (_, 5) => 2,
            (_, 6 | 7) => 4,
            _ => 1,
        };
        if matches!(i.op, Op::SuldD | Op::SuldP) {
            let v = self.add_image(Ir::ImageLoad, access);
            let mask = if raw { (1 << access.words) - 1 } else { i.get(Field::Rgba) };
            let mut register = i.get(Field::Dst);
            for component in (0..4).filter(|c| mask >> c & 1 != 0) {
                let mut word = self.b.pure(Ir::Extract, &[v.0, component]);
                if raw && matches!(size, 1 | 3) {
                    let (zero, bits) = (self.b.word(0), self.b.word(if size == 1 { 8 } else { 16 }));
                    word = self.b.op3(Ir::BfeS, word, zero, bits);
                }
                self.set_reg(register, word);
                if register != 255 {
                    register += 1;
                }
            }
            return Ok(());
        }
        let data = i.get(Field::Data);
        let mask = if raw { (1 << access.words) - 1 } else { i.get(Field::Rgba) };
        // Components that are not stored stay what they are; the others come from consecutive registers.
        let old = (!raw && mask != 15).then(|| self.add_image(Ir::ImageLoad, access));
        let mut register = data;
        for k in 0..access.words {
            access.data[k as usize] = match old {
                Some(old) if mask >> k & 1 == 0 => self.b.pure(Ir::Extract, &[old.0, k]),
                _ => {
                    let mut v = self.reg(register);
                    // The rest of a register is not part of the texel, and what does not fit is nowhere defined.
                    if raw && size < 4 {
                        let mask = self.b.word(if size < 2 { 0xFF } else { 0xFFFF });
                        v = self.b.op2(Ir::And, v, mask);
                    }
                    register = if register == 255 { 255 } else { register + 1 };
                    v
                }
            };
        }
        if !raw {
            let told = access.bound.and_then(|w| self.options.image_types.iter().find(|(t, _)| *t == w));
            access.float = match told {
                Some((_, kind)) => *kind == SampledType::Float,
                None => !self.looks_integer(&access.data),
            };
        }
        self.add_image(Ir::ImageStore, access);
        self.b.epoch += 1;
        Ok(())
    }

    /// Do integer operations make these values, and no float ones?
    fn looks_integer(&self, data: &[Value]) -> bool {
        let mut integer = false;
        for &v in data.iter().filter(|v| v.is_some()) {
            let op = self.b.f.inst(v).op;
            match op.result() {
                Class::F => return false,
                Class::U if !matches!(op, Ir::LoadStorage | Ir::LoadGlobal | Ir::LoadShared) => integer = true,
                _ => {}
            }
        }
        integer
    }

    /// SUATOM and SURED.
    pub(super) fn surface_atomic(&mut self, i: &Instr) -> Result<()> {
        let mut access = self.image(i, true)?;
        let compare = matches!(i.op, Op::SuatomDCas | Op::SuatomPCas);
        let source = if i.has(Field::Data) { i.get(Field::Data) } else { i.get(Field::B) };
        let first = self.reg(source);
        if compare {
            access.atomic = Atomic::CompareExchange;
            let second = self.reg(if source == 255 { 255 } else { source + 1 });
            access.data = [second, first, Value::NONE, Value::NONE];
        } else {
            access.atomic = self.atomic_kind(i, i.get(Field::Op), i.get(Field::Type))?;
            if access.atomic as u32 > Atomic::CompareExchange as u32 || matches!(i.get(Field::Type), 2 | 5..) {
                return self.unsupported(i, "images have atomics on 32-bit integers only");
            }
            access.data[0] = first;
        }
        let r = self.add_image(Ir::ImageAtomic, access);
        self.b.epoch += 1;
        if i.has(Field::Dst) {
            self.set_dst(i, r);
        }
        Ok(())
    }

    /// TXQ of an image's handle.
    pub(super) fn image_query(&mut self, i: &Instr, handle: Value, word: u32, query: u32, mask: u32) -> Result<()> {
        if query != 1 || mask & 8 != 0 {
            return self.unsupported(i, "images are asked for their size only");
        }
        let guess = self.graph.instrs.iter().find_map(|o| {
            let same = o.has(Field::Tid13) && o.get(Field::Tid13) == word;
            match (same, o.op) {
                (true, Op::SuldD | Op::SuldP | Op::SustD | Op::SustP | Op::SuatomD | Op::SuatomDCas) => Some(
                    [ViewKind::D1, ViewKind::Buffer, ViewKind::D1Array, ViewKind::D2, ViewKind::D2Array, ViewKind::D3]
                        [o.get(Field::Dim).min(5) as usize],
                ),
                _ => None,
            }
        });
        let kind = self.told_image_kind(word).or(guess).unwrap_or(ViewKind::D2);
        // Cube images are 2D arrays of faces here as elsewhere.
        let (view, cube) = match kind {
            ViewKind::Cube | ViewKind::CubeArray => (ViewKind::D2Array, kind == ViewKind::CubeArray),
            other => (other, false),
        };
        let access = ImageAccess {
            handle,
            bound: Some(word),
            kind: view,
            raw: true,
            coords: [Value::NONE; 3],
            data: [Value::NONE; 4],
            words: 1,
            atomic: Atomic::Add,
            float: false,
        };
        let index = self.b.f.images.len() as u32;
        self.b.f.images.push(access);
        let v = self.b.pure(Ir::ImageSize, &[index]);
        let mut register = i.get(Field::Dst);
        for component in (0..3).filter(|c| mask >> c & 1 != 0) {
            let part = match (view, component) {
                (ViewKind::D1Array, 2) => Some(1),
                (ViewKind::D1 | ViewKind::Buffer | ViewKind::D1Array, 1 | 2) => None,
                (ViewKind::D2 | ViewKind::D2Multisampled, 2) => None,
                (_, c) => Some(c),
            };
            let mut value = match part {
                Some(c) => self.b.pure(Ir::Extract, &[v.0, c]),
                None => self.b.word(1),
            };
            if cube && component == 2 {
                // Layers are faces: cubes are six.
                let magic = self.b.word(0xAAAA_AAAB);
                let two = self.b.word(2);
                let high = self.b.op2(Ir::UMulHi, value, magic);
                value = self.b.op2(Ir::Shr, high, two);
            }
            self.set_reg(register, value);
            if register != 255 {
                register += 1;
            }
        }
        Ok(())
    }
}
