//! One thread's arithmetic: operands by form, then each instruction as the facts say it.

use navin_shader::isa::Instr;
use navin_shader::isa::table::{Field, Op};

use crate::convert;
use crate::exact::Format;
use crate::float::{self, Rounding};
use crate::half;
use crate::integer::{self, Flags, Xmad};
use crate::machine::Thread;
use crate::video;

/// A constant bank's word: bank, byte offset.
type Bank<'a> = &'a dyn Fn(u32, u32) -> u32;

/// The operands of an instruction, read before it writes.
struct Operands {
    a: u32,
    a64: u64,
    b: u32,
    b64: u64,
    /// b where it is an immediate of 20 bits: the float readings differ.
    immediate: Option<u32>,
    c: u32,
    c64: u64,
    old: u32,
}

impl Operands {
    fn read(i: &Instr, t: &Thread, bank: Bank<'_>) -> Self {
        let a = i.get(Field::A);
        let dst = i.get(Field::Dst);
        let mut immediate = None;
        let register = |n: u32| (t.get(n), t.pair(n));
        let (b, b64) = if i.has(Field::Cbo4) {
            let (index, offset) = (i.get(Field::Cbi), i.get(Field::Cbo4) * 4);
            let low = bank(index, offset);
            (low, u64::from(low) | u64::from(bank(index, offset + 4)) << 32)
        } else if i.has(Field::Imm19) {
            let raw = i.get(Field::Imm19) | i.get(Field::Immsign) << 19;
            immediate = Some(raw);
            let word = ((raw << 12) as i32 >> 12) as u32;
            (word, i64::from(word as i32) as u64)
        } else if i.has(Field::Imm32) {
            (i.get(Field::Imm32), u64::from(i.get(Field::Imm32)))
        } else if i.has(Field::Imm16) {
            (i.get(Field::Imm16), u64::from(i.get(Field::Imm16)))
        } else {
            register(i.get(Field::B))
        };
        let (c, c64) = if i.has(Field::Ccbo4) {
            let (index, offset) = (i.get(Field::Ccbi), i.get(Field::Ccbo4) * 4);
            let low = bank(index, offset);
            (low, u64::from(low) | u64::from(bank(index, offset + 4)) << 32)
        } else if i.has(Field::C) {
            register(i.get(Field::C))
        } else {
            (t.get(dst), t.pair(dst))
        };
        Self { a: t.get(a), a64: t.pair(a), b, b64, immediate, c, c64, old: t.get(dst) }
    }

    /// b as float bits.
    fn b_float(&self) -> f32 {
        f32::from_bits(self.immediate.map_or(self.b, |raw| raw << 12))
    }

    fn b_double(&self) -> f64 {
        f64::from_bits(self.immediate.map_or(self.b64, |raw| u64::from(raw) << 44))
    }
}

fn sign32(x: f32, absolute: bool, negated: bool) -> f32 {
    let x = if absolute { x.abs() } else { x };
    if negated { -x } else { x }
}

fn sign64(x: f64, absolute: bool, negated: bool) -> f64 {
    let x = if absolute { x.abs() } else { x };
    if negated { -x } else { x }
}

/// Runs one instruction; none for what is not simulated.
pub fn execute(i: &Instr, t: &mut Thread, bank: Bank<'_>) -> Option<()> {
    let o = Operands::read(i, t, bank);
    let dst = i.get(Field::Dst);
    let flag = |f: Field| i.flag(f);
    let source = t.predicate(i.get(Field::Ps), flag(Field::Psn));
    let cc = flag(Field::Cc);
    let rounding = Rounding::from_code(i.get(Field::Rnd));
    let floats = t.floats;
    let flushes = |told: bool| floats.flush.unwrap_or(told);
    // A result with zero and sign as its flags.
    let plain = |t: &mut Thread, value: u32| {
        t.set(dst, value);
        if cc {
            t.flags = Flags::of(value);
        }
        Some(())
    };
    // Results whose flags the facts do not give.
    let no_flags = |t: &mut Thread, value: u32| {
        if cc {
            return None;
        }
        t.set(dst, value);
        Some(())
    };
    let float_result = |t: &mut Thread, value: f32, flush: bool, saturate: bool| {
        let value = if flush { float::flush(value) } else { value };
        let value = if saturate { float::saturate(value) } else { value };
        no_flags(t, value.to_bits())
    };
    let set_pair = |t: &mut Thread, holds: bool, not: bool| {
        t.set_predicate(i.get(Field::Pd), holds);
        t.set_predicate(i.get(Field::Pdn), not);
        Some(())
    };
    let ones = |holds: bool, float: bool| match (holds, float) {
        (false, _) => 0,
        (true, true) => 1f32.to_bits(),
        (true, false) => u32::MAX,
    };
    match i.op {
        Op::Mov | Op::Mov32i => {
            if i.get(Field::Qmask) != 15 {
                return None;
            }
            t.set(dst, o.b);
            Some(())
        }
        Op::Sel => {
            t.set(dst, if source { o.a } else { o.b });
            Some(())
        }
        Op::Iadd | Op::Iadd32i => {
            let (na, nb) = (flag(Field::Na), flag(Field::Nb));
            let x = flag(Field::X);
            let both = na && nb;
            let a = if na && !both { !o.a } else { o.a };
            let b = if nb && !both { !o.b } else { o.b };
            // The carry replaces the one of a negation; both signs together mean plus one.
            let carry = if x { t.flags.c } else { na || nb };
            if x && both {
                return None;
            }
            let (sum, mut flags) = integer::add(a, b, carry);
            if flag(Field::Sat) {
                if cc || x {
                    return None;
                }
                t.set(dst, integer::add_saturated(a, b, carry));
                return Some(());
            }
            if x {
                flags.z &= t.flags.z;
            }
            t.set(dst, sum);
            if cc {
                t.flags = flags;
            }
            Some(())
        }
        Op::Iadd3 => {
            if cc || flag(Field::X) {
                return None;
            }
            let pick = |word: u32, selector: u32| {
                Some(match selector {
                    0 => word,
                    1 => word & 0xFFFF,
                    2 => word >> 16,
                    _ => return None,
                })
            };
            let negate = |word: u32, on: bool| if on { word.wrapping_neg() } else { word };
            let a = negate(pick(o.a, i.get(Field::Pa))?, flag(Field::Na));
            let b = negate(pick(o.b, i.get(Field::Pb))?, flag(Field::Nb));
            let c = negate(pick(o.c, i.get(Field::Pc))?, flag(Field::Nc));
            let sum = u64::from(a) + u64::from(b);
            let moved = match i.get(Field::Lrs) {
                0 => sum as u32,
                1 => (sum >> 16) as u32,
                2 => (sum << 16) as u32,
                _ => return None,
            };
            // Negated operands and the 33-bit sum do not go together: the facts do not say what the carry is.
            if i.get(Field::Lrs) == 1 && (flag(Field::Na) || flag(Field::Nb)) {
                return None;
            }
            t.set(dst, moved.wrapping_add(c));
            Some(())
        }
        Op::Iscadd | Op::Iscadd32i => {
            let shifted = o.a << i.get(Field::Shift);
            let (na, nb) = (flag(Field::Na), flag(Field::Nb));
            let both = na && nb;
            let a = if na && !both { !shifted } else { shifted };
            let b = if nb && !both { !o.b } else { o.b };
            let (sum, flags) = integer::add(a, b, na || nb);
            t.set(dst, sum);
            if cc {
                t.flags = flags;
            }
            Some(())
        }
        Op::Lea => {
            if flag(Field::X) || cc {
                return None;
            }
            let shifted = o.a << i.get(Field::Shift);
            let a = if flag(Field::Na) { shifted.wrapping_neg() } else { shifted };
            if i.get(Field::Pd) != 7 {
                return None;
            }
            t.set(dst, a.wrapping_add(o.b));
            Some(())
        }
        Op::LeaHi => {
            if flag(Field::X) || cc || i.get(Field::Pd) != 7 || flag(Field::Na) {
                return None;
            }
            let pair = u64::from(o.c) << 32 | u64::from(o.a);
            let high = ((u128::from(pair) << i.get(Field::Shift)) >> 32) as u32;
            t.set(dst, high.wrapping_add(o.b));
            Some(())
        }
        Op::Imnmx => {
            let (mode, signed) = (i.get(Field::Xmode), flag(Field::Signed));
            if mode != 0 {
                // XHI sees whole words, the others only where those were equal.
                let (less, equal) = match mode {
                    3 => (integer::compare(1, o.a, o.b, signed), o.a == o.b),
                    _ if t.flags.z => (o.a < o.b, o.a == o.b),
                    _ => (t.flags.c, false),
                };
                t.set(dst, if less == source { o.a } else { o.b });
                if mode != 1 {
                    t.flags = Flags { z: equal, n: false, c: less, v: false };
                }
                return Some(());
            }
            let less = integer::compare(1, o.a, o.b, signed);
            no_flags(t, if less == source { o.a } else { o.b })
        }
        Op::Icmp => {
            let holds = integer::compare(i.get(Field::Cmp), o.c, 0, flag(Field::Signed));
            t.set(dst, if holds { o.a } else { o.b });
            Some(())
        }
        Op::Iset | Op::Isetp => {
            let signed = flag(Field::Signed);
            let holds = if flag(Field::X) {
                let (value, flags) = integer::add(o.a, !o.b, t.flags.c);
                let less = if signed { flags.n != flags.v } else { !flags.c };
                integer::holds(i.get(Field::Cmp), less, value == 0 && t.flags.z)
            } else {
                integer::compare(i.get(Field::Cmp), o.a, o.b, signed)
            };
            let bop = i.get(Field::Bop);
            let yes = integer::join(bop, holds, source)?;
            if i.op == Op::Isetp {
                return set_pair(t, yes, integer::join(bop, !holds, source)?);
            }
            plain(t, ones(yes, flag(Field::Bf)))
        }
        Op::Bfe => no_flags(t, integer::bfe(o.a, o.b, flag(Field::Signed), flag(Field::Brev))),
        Op::Bfi => no_flags(t, integer::bfi(o.a, o.b, o.c)),
        Op::Flo => {
            let b = if flag(Field::Inv) { !o.b } else { o.b };
            no_flags(t, integer::flo(b, flag(Field::Signed), flag(Field::Sh)))
        }
        Op::Popc => {
            let b = if flag(Field::Inv) { !o.b } else { o.b };
            t.set(dst, b.count_ones());
            Some(())
        }
        Op::Shl => {
            if flag(Field::X) {
                return None;
            }
            no_flags(t, integer::shl(o.a, o.b, flag(Field::Wrap)))
        }
        Op::Shr => {
            if i.get(Field::Xmode) != 0 {
                return None;
            }
            let a = if flag(Field::Brev) { o.a.reverse_bits() } else { o.a };
            no_flags(t, integer::shr(a, o.b, flag(Field::Wrap), flag(Field::Signed)))
        }
        Op::ShfL | Op::ShfR => {
            if flag(Field::X) || cc || (i.op == Op::ShfL && i.get(Field::Type) != 0) || flag(Field::Hi) {
                return None;
            }
            let amount = if i.has(Field::Imm6) { i.get(Field::Imm6) } else { o.b };
            let left = i.op == Op::ShfL;
            let value = integer::funnel(o.a, o.c, amount, left, i.get(Field::Type), flag(Field::Wrap), false)?;
            t.set(dst, value);
            Some(())
        }
        Op::Lop | Op::Lop32i => {
            if flag(Field::X) {
                return None;
            }
            let a = if flag(Field::Inva) { !o.a } else { o.a };
            let b = if flag(Field::Invb) { !o.b } else { o.b };
            let value = integer::logic(i.get(Field::Op), a, b);
            if i.has(Field::Pd) {
                t.set_predicate(i.get(Field::Pd), integer::logic_predicate(i.get(Field::Pop), value));
            }
            plain(t, value)
        }
        Op::Lop3 => {
            if flag(Field::X) || cc {
                return None;
            }
            let value = integer::lop3(o.a, o.b, o.c, i.get(Field::Lut));
            if i.has(Field::Pd) {
                t.set_predicate(i.get(Field::Pd), integer::logic_predicate(i.get(Field::Pop), value));
            }
            t.set(dst, value);
            Some(())
        }
        Op::Prmt => {
            t.set(dst, integer::prmt(o.a, o.b, o.c, i.get(Field::Mode))?);
            Some(())
        }
        Op::Imul | Op::Imul32i => {
            no_flags(t, integer::multiply(o.a, o.b, flag(Field::Sa), flag(Field::Sb), flag(Field::Hi)))
        }
        Op::Imad | Op::Imad32i => {
            if flag(Field::X) || cc {
                return None;
            }
            let factor = |word: u32, signed: bool| if signed { i128::from(word as i32) } else { i128::from(word) };
            let product = factor(o.a, flag(Field::Sa)) * factor(o.b, flag(Field::Sb));
            let product = if flag(Field::Nab) { -product } else { product };
            let word = if flag(Field::Hi) { (product >> 32) as u32 } else { product as u32 };
            let c = i64::from(o.c as i32);
            let sum = i64::from(word as i32) + if flag(Field::Nc) { -c } else { c };
            let clamped = sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
            t.set(dst, if flag(Field::Sat) { clamped as u32 } else { sum as u32 });
            Some(())
        }
        Op::Idp => {
            let (sa, sb) = (flag(Field::Sa), flag(Field::Sb));
            let byte = |word: u32, n: u32, signed: bool| match signed {
                true => i32::from((word >> (8 * n)) as i8),
                false => i32::from((word >> (8 * n)) as u8),
            };
            let half = |word: u32, n: u32| match sa {
                true => i32::from((word >> (16 * n)) as i16),
                false => i32::from((word >> (16 * n)) as u16),
            };
            let sum = if flag(Field::Is2a) {
                let first = if flag(Field::Hi) { 2 } else { 0 };
                (0..2).fold(o.c, |s, n| s.wrapping_add((half(o.a, n) * byte(o.b, first + n, sb)) as u32))
            } else {
                (0..4).fold(o.c, |s, n| s.wrapping_add((byte(o.a, n, sa) * byte(o.b, n, sb)) as u32))
            };
            t.set(dst, sum);
            Some(())
        }
        Op::Imadsp => {
            if cc {
                return None;
            }
            let cut = |word: u32, at: u32, bits: u32, signed: bool| {
                let v = i64::from(word >> at) & ((1 << bits) - 1);
                if signed && v >> (bits - 1) & 1 != 0 { v - (1 << bits) } else { v }
            };
            let (asel, bsel) = (i.get(Field::Asel), i.get(Field::Bsel));
            let signed = asel & 1 != 0;
            let (at, bits) = [(0, 32), (0, 24), (0, 16), (16, 16)][asel as usize >> 1];
            let a = cut(o.a, at, bits, signed);
            let b = cut(o.b, 0, if bsel < 2 { 24 } else { 16 }, bsel & 1 != 0);
            let c = cut(o.c, 0, *[32, 24, 16].get(i.get(Field::Csel) as usize)?, signed);
            t.set(dst, a.wrapping_mul(b).wrapping_add(c) as u32);
            Some(())
        }
        Op::Xmad => {
            if flag(Field::X) || cc {
                return None;
            }
            let x = Xmad {
                a: o.a,
                b: o.b,
                c: o.c,
                ha: flag(Field::Ha),
                hb: flag(Field::Hb),
                sa: flag(Field::Sa),
                sb: flag(Field::Sb),
                psl: flag(Field::Psl),
                mrg: flag(Field::Mrg),
                cmode: i.get(Field::Cmode),
            };
            t.set(dst, x.run()?);
            Some(())
        }
        Op::Cset | Op::Csetp => {
            let holds = t.flags.test(i.get(Field::Cond))?;
            let bop = i.get(Field::Bop);
            let yes = integer::join(bop, holds, source)?;
            if i.op == Op::Csetp {
                return set_pair(t, yes, integer::join(bop, !holds, source)?);
            }
            no_flags(t, ones(yes, flag(Field::Bf)))
        }
        Op::Pset | Op::Psetp => {
            let a = t.predicate(i.get(Field::Pa), flag(Field::Pan));
            let b = t.predicate(i.get(Field::Pb), flag(Field::Pbn));
            let holds = integer::join(i.get(Field::Bop0), a, b)?;
            let bop = i.get(Field::Bop1);
            let yes = integer::join(bop, holds, source)?;
            if i.op == Op::Psetp {
                return set_pair(t, yes, integer::join(bop, !holds, source)?);
            }
            no_flags(t, ones(yes, flag(Field::Bf)))
        }
        Op::P2r => {
            let bits = if flag(Field::Ccpr) {
                t.flags.bits()
            } else {
                (0..7).fold(0, |r, n| r | u32::from(t.predicates[n]) << n)
            };
            let shift = 8 * i.get(Field::Bytesel);
            // The byte under the mask; the rest of it comes from a.
            let mask = (o.b & 0xFF) << shift;
            t.set(dst, (o.a & !mask) | (bits << shift & mask));
            Some(())
        }
        Op::R2p => {
            let byte = o.a >> (8 * i.get(Field::Bytesel)) & 0xFF;
            if flag(Field::Ccpr) {
                let bits = (t.flags.bits() & !o.b) | (byte & o.b);
                t.flags = Flags::from_bits(bits & 15);
            } else {
                for n in (0..7).filter(|n| o.b >> n & 1 != 0) {
                    t.set_predicate(n, byte >> n & 1 != 0);
                }
            }
            Some(())
        }
        Op::Fadd | Op::Fadd32i => {
            let ftz = flushes(flag(Field::Ftz));
            let f = |x: f32| if ftz { float::flush(x) } else { x };
            let a = sign32(f(f32::from_bits(o.a)), flag(Field::Aa), flag(Field::Na));
            let b = sign32(f(o.b_float()), flag(Field::Ab), flag(Field::Nb));
            float_result(t, float::add(a, b, rounding), ftz, flag(Field::Sat))
        }
        Op::Fmul | Op::Fmul32i => {
            let (ftz, zero) = float::flush_mode(i.get(Field::Fmz));
            let ftz = flushes(ftz);
            let f = |x: f32| if ftz { float::flush(x) } else { x };
            let a = f(f32::from_bits(o.a));
            let b = sign32(f(o.b_float()), false, flag(Field::Nab));
            let product = float::mul(a, b, float::scale(i.get(Field::Scale))?, rounding);
            let product = if zero && (a == 0.0 || b == 0.0) { 0.0 } else { product };
            float_result(t, product, ftz, flag(Field::Sat))
        }
        Op::Ffma | Op::Ffma32i => {
            let (ftz, zero) = float::flush_mode(i.get(Field::Fmz));
            let ftz = flushes(ftz);
            let f = |x: f32| if ftz { float::flush(x) } else { x };
            let a = f(f32::from_bits(o.a));
            let b = sign32(f(o.b_float()), false, flag(Field::Nab));
            let c = sign32(f(f32::from_bits(o.c)), false, flag(Field::Nc));
            let value = if zero && (a == 0.0 || b == 0.0) {
                float::add(0.0, c, rounding)
            } else if !floats.fused && rounding == Rounding::Nearest {
                float::add(f(float::mul(a, b, 0, rounding)), c, rounding)
            } else {
                float::fma(a, b, c, rounding)
            };
            float_result(t, value, ftz, flag(Field::Sat))
        }
        Op::Fmnmx => {
            let ftz = flushes(flag(Field::Ftz));
            let f = |x: f32| if ftz { float::flush(x) } else { x };
            let a = sign32(f(f32::from_bits(o.a)), flag(Field::Aa), flag(Field::Na));
            let b = sign32(f(o.b_float()), flag(Field::Ab), flag(Field::Nb));
            float_result(t, float::min_max(a, b, source), ftz, false)
        }
        Op::Fset | Op::Fsetp => {
            let ftz = flushes(flag(Field::Ftz));
            let f = |x: f32| if ftz { float::flush(x) } else { x };
            let a = sign32(f(f32::from_bits(o.a)), flag(Field::Aa), flag(Field::Na));
            let b = sign32(f(o.b_float()), flag(Field::Ab), flag(Field::Nb));
            let holds = float::compare(i.get(Field::Cmp), a.into(), b.into());
            let bop = i.get(Field::Bop);
            let yes = integer::join(bop, holds, source)?;
            if i.op == Op::Fsetp {
                return set_pair(t, yes, integer::join(bop, !holds, source)?);
            }
            no_flags(t, ones(yes, flag(Field::Bf)))
        }
        Op::Fcmp => {
            let c = f32::from_bits(o.c);
            let c = if flushes(flag(Field::Ftz)) { float::flush(c) } else { c };
            let holds = float::compare(i.get(Field::Cmp), c.into(), 0.0);
            t.set(dst, if holds { o.a } else { o.immediate.map_or(o.b, |raw| raw << 12) });
            Some(())
        }
        Op::Mufu => {
            let a = sign32(f32::from_bits(o.a), flag(Field::Aa), flag(Field::Na));
            float_result(t, float::mufu(i.get(Field::Op), a)?, false, flag(Field::Sat))
        }
        Op::Rro => {
            let b = sign32(o.b_float(), flag(Field::Ab), flag(Field::Nb));
            t.set(dst, b.to_bits());
            Some(())
        }
        Op::Dadd | Op::Dmul | Op::Dfma | Op::Dmnmx => {
            if cc {
                return None;
            }
            let (aa, ab) = (flag(Field::Aa), flag(Field::Ab));
            let a = sign64(f64::from_bits(o.a64), aa, flag(Field::Na));
            let b = sign64(o.b_double(), ab, flag(Field::Nb) || flag(Field::Nab));
            let c = sign64(f64::from_bits(o.c64), false, flag(Field::Nc));
            let value = match i.op {
                Op::Dadd => float::add64(a, b, rounding),
                Op::Dmul => float::mul64(a, b, rounding),
                Op::Dfma if rounding == Rounding::Nearest && !floats.fused => a * b + c,
                Op::Dfma => {
                    let value = float::fma64(a, b, c, rounding);
                    // Directions near the end of the range are promised by nobody but the hardware.
                    let tiny = value != 0.0 && value.abs() < 2f64.powi(-900);
                    if rounding != Rounding::Nearest
                        && (tiny || (a * b).is_infinite() && a.is_finite() && b.is_finite())
                    {
                        return None;
                    }
                    value
                }
                _ => float::min_max64(a, b, source),
            };
            t.set_pair(dst, value.to_bits());
            Some(())
        }
        Op::Dset | Op::Dsetp => {
            let a = sign64(f64::from_bits(o.a64), flag(Field::Aa), flag(Field::Na));
            let b = sign64(o.b_double(), flag(Field::Ab), flag(Field::Nb));
            let holds = float::compare(i.get(Field::Cmp), a, b);
            let bop = i.get(Field::Bop);
            let yes = integer::join(bop, holds, source)?;
            if i.op == Op::Dsetp {
                return set_pair(t, yes, integer::join(bop, !holds, source)?);
            }
            no_flags(t, ones(yes, flag(Field::Bf)))
        }
        Op::F2f | Op::F2i => float_conversion(i, t, &o),
        Op::I2f => {
            let (size, signed) = (i.get(Field::Sfmt), flag(Field::Ssigned));
            // Halves begin at bytes 0 and 2.
            if size == 1 && i.get(Field::Bytesel) & 1 != 0 {
                return None;
            }
            let value = convert::part(if size == 3 { o.b64 } else { o.b.into() }, size, i.get(Field::Bytesel), signed);
            let value = if flag(Field::Ab) { value.abs() } else { value };
            let value = if flag(Field::Nb) { -value } else { value };
            if cc {
                return None;
            }
            match i.get(Field::Dfmt) {
                1 => t.set(dst, half::from_f64(float::whole(value, Format::HALF, rounding)).into()),
                2 => t.set(dst, (float::whole(value, Format::SINGLE, rounding) as f32).to_bits()),
                3 => t.set_pair(dst, float::whole(value, Format::DOUBLE, rounding).to_bits()),
                _ => return None,
            }
            Some(())
        }
        Op::I2i => {
            let (from, to) = (i.get(Field::Sfmt), i.get(Field::Dfmt));
            if from == 1 && i.get(Field::Bytesel) & 1 != 0 {
                return None;
            }
            let value = convert::part(
                if from == 3 { o.b64 } else { o.b.into() },
                from,
                i.get(Field::Bytesel),
                flag(Field::Ssigned),
            );
            let value = if flag(Field::Ab) { value.abs() } else { value };
            let value = if flag(Field::Nb) { -value } else { value };
            let result = convert::fit(value, to, flag(Field::Dsigned), flag(Field::Sat));
            if to == 3 {
                if cc {
                    return None;
                }
                t.set_pair(dst, result);
                return Some(());
            }
            plain(t, result as u32)
        }
        Op::Hadd2 | Op::Hadd2x32i | Op::Hmul2 | Op::Hmul2x32i | Op::Hfma2 | Op::Hfma2x32i => halves(i, t, &o),
        Op::Hset2 | Op::Hsetp2 => half_compare(i, t, &o, source),
        Op::Vadd | Op::Vabsdiff | Op::Vmnmx | Op::Vset | Op::Vshl | Op::Vshr | Op::Vmad | Op::Vsetp => {
            videos(i, t, &o, source)
        }
        _ => None,
    }
}

fn float_conversion(i: &Instr, t: &mut Thread, o: &Operands) -> Option<()> {
    if i.flag(Field::Cc) {
        return None;
    }
    let dst = i.get(Field::Dst);
    let source = match i.get(Field::Sfmt) {
        1 => {
            let h = if i.flag(Field::Hsel) { o.b >> 16 } else { o.b };
            f64::from(half::to_f32(h as u16))
        }
        2 => {
            let x = o.b_float();
            let flush = t.floats.flush.unwrap_or(i.flag(Field::Ftz));
            f64::from(if flush { float::flush(x) } else { x })
        }
        3 => o.b_double(),
        _ => return None,
    };
    let x = sign64(source, i.flag(Field::Ab), i.flag(Field::Nb));
    if i.op == Op::F2i {
        let size = i.get(Field::Dfmt);
        let wide_source = i.get(Field::Sfmt) == 3;
        let value = convert::float_to_integer(x, size, i.flag(Field::Dsigned), i.get(Field::Rnd), wide_source);
        if size == 3 {
            t.set_pair(dst, value);
        } else {
            t.set(dst, value as u32);
        }
        return Some(());
    }
    let (from, to) = (i.get(Field::Sfmt), i.get(Field::Dfmt));
    let rounding = Rounding::from_code(i.get(Field::Rnd));
    let x = if i.flag(Field::Rint) {
        if from != to {
            return None;
        }
        convert::integral(x, i.get(Field::Rnd))
    } else {
        x
    };
    let saturate = |x: f64| if i.flag(Field::Sat) { if x > 0.0 { x.min(1.0) } else { 0.0 } } else { x };
    match to {
        1 => {
            let rounding = if from == 1 || i.flag(Field::Rint) { Rounding::Nearest } else { rounding };
            t.set(dst, half::from_f64(float::narrowed(saturate(x), Format::HALF, rounding)).into());
        }
        2 => {
            let rounding = if from == 3 && !i.flag(Field::Rint) { rounding } else { Rounding::Nearest };
            let value = float::to_f32(saturate(x), rounding);
            let value = if i.flag(Field::Ftz) { float::flush(value) } else { value };
            t.set(dst, value.to_bits());
        }
        3 => t.set_pair(dst, saturate(x).to_bits()),
        _ => return None,
    }
    Some(())
}

/// The two lanes of b, whose form says how it is kept.
fn half_b(i: &Instr, o: &Operands) -> [f32; 2] {
    if i.has(Field::Imm9lo) {
        let low = (i.get(Field::Imm9lo) | i.get(Field::Immlosign) << 9) << 6;
        let high = (i.get(Field::Imm9hi) | i.get(Field::Immhisign) << 9) << 6;
        return [half::to_f32(low as u16), half::to_f32(high as u16)];
    }
    if i.has(Field::Imm32) {
        return half::lanes(o.b, 0);
    }
    // A constant is a float word for both lanes.
    if i.has(Field::Cbo4) {
        return half::lanes(o.b, 1);
    }
    half::lanes(o.b, i.get(Field::Bsel))
}

fn halves(i: &Instr, t: &mut Thread, o: &Operands) -> Option<()> {
    let dst = i.get(Field::Dst);
    let flag = |f: Field| i.flag(f);
    let add = matches!(i.op, Op::Hadd2 | Op::Hadd2x32i);
    let (ftz, zero) = if add { (flag(Field::Ftz), false) } else { float::flush_mode(i.get(Field::Fmz)) };
    let f = |x: f32| if ftz { half::flush(x) } else { x };
    let a = half::lanes(o.a, i.get(Field::Asel)).map(|x| sign32(f(x), flag(Field::Aa), flag(Field::Na)));
    let b = half_b(i, o).map(|x| sign32(f(x), flag(Field::Ab), flag(Field::Nb) || flag(Field::Nab)));
    let c = match i.op {
        Op::Hfma2 if i.has(Field::Ccbo4) => half::lanes(o.c, 1),
        Op::Hfma2 => half::lanes(o.c, i.get(Field::Csel)),
        _ => half::lanes(o.old, 0),
    };
    let c = c.map(|x| sign32(f(x), false, flag(Field::Nc)));
    let mut out = [0f64; 2];
    for k in 0..2 {
        let (x, y, z) = (f64::from(a[k]), f64::from(b[k]), f64::from(c[k]));
        let product = if zero && (x == 0.0 || y == 0.0) { 0.0 } else { x * y };
        let value = match i.op {
            Op::Hadd2 | Op::Hadd2x32i => x + y,
            Op::Hmul2 | Op::Hmul2x32i => product,
            // The product is exact; the sum keeps that something was cut off, and is rounded once.
            _ => float::add_odd(product, z),
        };
        // A lane that is written as a half is rounded, and flushed, as one; lane 0 as a float is neither.
        let rounded = match i.get(Field::Ofmt) {
            1 => value,
            _ => {
                let half = half::to_f32(half::from_f64(value));
                f64::from(if ftz { half::flush(half) } else { half })
            }
        };
        out[k] = if flag(Field::Sat) { if rounded > 0.0 { rounded.min(1.0) } else { 0.0 } } else { rounded };
    }
    t.set(dst, half::merge(out, i.get(Field::Ofmt), o.old));
    Some(())
}

fn half_compare(i: &Instr, t: &mut Thread, o: &Operands, source: bool) -> Option<()> {
    let flag = |f: Field| i.flag(f);
    if flag(Field::Cc) {
        return None;
    }
    let f = |x: f32| if flag(Field::Ftz) { half::flush(x) } else { x };
    let a = half::lanes(o.a, i.get(Field::Asel)).map(|x| sign32(f(x), flag(Field::Aa), flag(Field::Na)));
    let b = half_b(i, o).map(|x| sign32(f(x), flag(Field::Ab), flag(Field::Nb)));
    let holds = [0, 1].map(|k| float::compare(i.get(Field::Cmp), a[k].into(), b[k].into()));
    let bop = i.get(Field::Bop);
    if i.op == Op::Hsetp2 {
        let (yes, no) = if flag(Field::Hand) {
            let both = holds[0] && holds[1];
            (integer::join(bop, both, source)?, integer::join(bop, !both, source)?)
        } else {
            (integer::join(bop, holds[0], source)?, integer::join(bop, holds[1], source)?)
        };
        t.set_predicate(i.get(Field::Pd), yes);
        t.set_predicate(i.get(Field::Pdn), no);
        return Some(());
    }
    let mut word = 0;
    for (k, holds) in holds.into_iter().enumerate() {
        let lane = match (integer::join(bop, holds, source)?, flag(Field::Bf)) {
            (false, _) => 0u32,
            (true, true) => 0x3C00,
            (true, false) => 0xFFFF,
        };
        word |= lane << (16 * k);
    }
    t.set(i.get(Field::Dst), word);
    Some(())
}

fn videos(i: &Instr, t: &mut Thread, o: &Operands, source: bool) -> Option<()> {
    let flag = |f: Field| i.flag(f);
    if flag(Field::Cc) {
        return None;
    }
    let (sa, sb) = (flag(Field::Asign), flag(Field::Bsign));
    let a = video::part(o.a, i.get(Field::Asel), sa)?;
    let b = if i.has(Field::Imm16) {
        if sb { i64::from(o.b as u16 as i16) } else { i64::from(o.b as u16) }
    } else {
        video::part(o.b, i.get(Field::Bsel), sb)?
    };
    let (dst, vop) = (i.get(Field::Dst), i.get(Field::Vop));
    let signed = flag(Field::Dsign);
    let finish = |t: &mut Thread, value: i64| {
        let value = if flag(Field::Sat) { video::saturate(value, vop, signed) } else { value };
        t.set(dst, video::combine(value as u32, o.c, vop, signed));
        Some(())
    };
    match i.op {
        Op::Vadd => {
            let value = match i.get(Field::Avg) {
                0 => a + b,
                1 => a - b,
                2 => b - a,
                _ => a + b + 1,
            };
            finish(t, value)
        }
        Op::Vabsdiff => finish(t, (a - b).abs()),
        Op::Vmnmx => finish(t, if flag(Field::Mx) { a.max(b) } else { a.min(b) }),
        Op::Vset => {
            let holds = integer::holds(i.get(Field::Cmp), a < b, a == b);
            t.set(dst, video::combine(u32::from(holds), o.c, vop, sa || sb));
            Some(())
        }
        Op::Vsetp => {
            let cmp = i.get(Field::Cmphi) << 2 | i.get(Field::Cmplo);
            let holds = integer::holds(cmp, a < b, a == b);
            let bop = i.get(Field::Bop);
            t.set_predicate(i.get(Field::Pd), integer::join(bop, holds, source)?);
            t.set_predicate(i.get(Field::Pdn), integer::join(bop, !holds, source)?);
            Some(())
        }
        Op::Vshl | Op::Vshr => {
            // The amount is unsigned; without wrap it is clamped.
            let b = if i.has(Field::Imm16) {
                i64::from(o.b & 0xFFFF)
            } else {
                video::part(o.b, i.get(Field::Bsel), false)?
            };
            let n = if flag(Field::Wrap) { b & 31 } else { b.min(32) } as u32;
            let value = if i.op == Op::Vshl { a << n } else { a >> n };
            // Bits shifted past the word are lost before saturation: not stated, so not compared.
            if i.op == Op::Vshl && flag(Field::Sat) {
                return None;
            }
            finish(t, value)
        }
        _ => {
            // VMAD: the scaled sum.
            let c = i128::from(if sa || sb { i64::from(o.c as i32) } else { i64::from(o.c) });
            let product = i128::from(a) * i128::from(b);
            let sum = match i.get(Field::Avg) {
                0 => product + c,
                1 => product - c,
                2 => c - product,
                _ => product + c + 1,
            };
            let shift = [0, 7, 15].get(i.get(Field::Vscale) as usize)?;
            let value = sum >> shift;
            let value = if flag(Field::Sat) {
                if sa || sb {
                    value.clamp(i128::from(i32::MIN), i128::from(i32::MAX))
                } else {
                    value.clamp(0, i128::from(u32::MAX))
                }
            } else {
                value
            };
            t.set(dst, value as u32);
            Some(())
        }
    }
}
