//! Integer arithmetic, shifts, bit fields, products (`maxwell_encodings.md`, sections 3, 4 and 7).

/// The four condition codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Zero.
    pub z: bool,
    /// Negative.
    pub n: bool,
    /// Carry.
    pub c: bool,
    /// Overflow.
    pub v: bool,
}

impl Flags {
    /// In the order in which P2R shows them.
    pub fn bits(self) -> u32 {
        u32::from(self.z) | u32::from(self.n) << 1 | u32::from(self.c) << 2 | u32::from(self.v) << 3
    }

    /// The reverse of [`Flags::bits`].
    pub fn from_bits(bits: u32) -> Self {
        Self { z: bits & 1 != 0, n: bits & 2 != 0, c: bits & 4 != 0, v: bits & 8 != 0 }
    }

    /// Zero and sign of a result; carry and overflow clear.
    pub fn of(result: u32) -> Self {
        Self { z: result == 0, n: result >> 31 != 0, c: false, v: false }
    }

    /// Whether test `code` holds (section 3); none for codes whose meaning is unknown.
    pub fn test(self, code: u32) -> Option<bool> {
        let Self { z, n, c, v } = self;
        Some(match code {
            0 => false,
            1 => (n & !z) ^ v,
            2 => !n & z,
            3 => n ^ (z | v),
            4 => !((n ^ v) | z),
            5 => !z,
            6 => !(n ^ v),
            7 => !(n & z),
            8 => n & z,
            9 => n ^ v,
            10 => z,
            11 => (n ^ v) | z,
            12 => !n ^ (v | z),
            13 => n | !z,
            14 => (!n | z) ^ v,
            15 => true,
            16 => !v,
            17 => !c,
            18 => !n,
            19 => z | !c,
            20 => c & !z,
            21 => n,
            22 => c,
            23 => v,
            30 => n | z,
            31 => !(n | z),
            _ => return None,
        })
    }
}

/// a + b + carry with its flags.
pub fn add(a: u32, b: u32, carry: bool) -> (u32, Flags) {
    let wide = u64::from(a) + u64::from(b) + u64::from(carry);
    let sum = wide as u32;
    let overflow = ((a ^ sum) & (b ^ sum)) >> 31 != 0;
    (sum, Flags { z: sum == 0, n: sum >> 31 != 0, c: wide >> 32 != 0, v: overflow })
}

/// Signed clamp of a + b + carry.
pub fn add_saturated(a: u32, b: u32, carry: bool) -> u32 {
    let wide = i64::from(a as i32) + i64::from(b as i32) + i64::from(carry);
    wide.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32
}

/// Bit field of a: from `b[7:0]`, `b[15:8]` bits.
pub fn bfe(a: u32, b: u32, signed: bool, reversed: bool) -> u32 {
    let a = if reversed { a.reverse_bits() } else { a };
    let (start, count) = (b & 255, b >> 8 & 255);
    if count == 0 {
        return 0;
    }
    // Bits past 31 read as zero or the sign.
    let wide = if signed { i64::from(a as i32) as u64 } else { u64::from(a) };
    let shifted = if start > 63 {
        if signed && a >> 31 != 0 { u64::MAX } else { 0 }
    } else if signed {
        ((wide as i64) >> start) as u64
    } else {
        wide >> start
    };
    if count >= 32 {
        return shifted as u32;
    }
    let field = shifted & ((1 << count) - 1);
    if signed && field >> (count - 1) & 1 != 0 { (field | u64::MAX << count) as u32 } else { field as u32 }
}

/// c with the low bits of a inserted at `b[7:0]`, `b[15:8]` bits.
pub fn bfi(a: u32, b: u32, c: u32) -> u32 {
    let (start, count) = (b & 255, (b >> 8 & 255).min(32));
    if start > 31 || count == 0 {
        return c;
    }
    let mask = (((1u64 << count) - 1) << start) as u32;
    (c & !mask) | ((a << start) & mask)
}

/// Index of the highest set bit, or of the highest bit that is not the sign.
pub fn flo(b: u32, signed: bool, from_top: bool) -> u32 {
    let b = if signed && b >> 31 != 0 { !b } else { b };
    match b.checked_ilog2() {
        None => u32::MAX,
        Some(n) if from_top => 31 - n,
        Some(n) => n,
    }
}

/// Left shift of 32 bits, the amount wrapped or clamped.
pub fn shl(a: u32, amount: u32, wrap: bool) -> u32 {
    let n = if wrap { amount & 31 } else { amount };
    a.checked_shl(n).unwrap_or(0)
}

/// Right shift of 32 bits, the amount wrapped or clamped.
pub fn shr(a: u32, amount: u32, wrap: bool, signed: bool) -> u32 {
    let n = if wrap { amount & 31 } else { amount };
    if signed { (a as i32 >> n.min(31)) as u32 } else { a.checked_shr(n).unwrap_or(0) }
}

/// LOP's operations.
pub fn logic(op: u32, a: u32, b: u32) -> u32 {
    match op {
        0 => a & b,
        1 => a | b,
        2 => a ^ b,
        _ => b,
    }
}

/// Three-input logic by truth table.
pub fn lop3(a: u32, b: u32, c: u32, lut: u32) -> u32 {
    (0..32).fold(0, |r, n| {
        let index = (a >> n & 1) << 2 | (b >> n & 1) << 1 | (c >> n & 1);
        r | (lut >> index & 1) << n
    })
}

/// LOP's predicate results.
pub fn logic_predicate(op: u32, result: u32) -> bool {
    match op {
        0 => false,
        1 => true,
        2 => result == 0,
        _ => result != 0,
    }
}

/// Byte permutation.
pub fn prmt(a: u32, b: u32, c: u32, mode: u32) -> Option<u32> {
    let bytes = (u64::from(c) << 32 | u64::from(a)).to_le_bytes();
    let s = (b & 3) as usize;
    let pick = |list: [usize; 4]| u32::from_le_bytes(list.map(|n| bytes[n & 7]));
    Some(match mode {
        0 => {
            let mut out = [0; 4];
            for (k, byte) in out.iter_mut().enumerate() {
                let nibble = (b >> (4 * k) & 15) as usize;
                let from = bytes[nibble & 7];
                *byte = if nibble & 8 == 0 { from } else { ((from as i8) >> 7) as u8 };
            }
            u32::from_le_bytes(out)
        }
        1 => pick([s, s + 1, s + 2, s + 3]),
        2 => pick([s, s + 7, s + 6, s + 5]),
        3 => pick([s; 4]),
        4 => pick([s, s.max(1), s.max(2), 3]),
        5 => pick([0, s.min(1), s.min(2), s]),
        6 => {
            let h = 2 * (s & 1);
            pick([h, h + 1, h, h + 1])
        }
        _ => return None,
    })
}

/// Integer compares of three bits.
pub fn compare(op: u32, a: u32, b: u32, signed: bool) -> bool {
    let order = if signed { (a as i32).cmp(&(b as i32)) } else { a.cmp(&b) };
    holds(op, order.is_lt(), order.is_eq())
}

/// The same over less and equal.
pub fn holds(op: u32, less: bool, equal: bool) -> bool {
    match op {
        0 => false,
        1 => less,
        2 => equal,
        3 => less || equal,
        4 => !less && !equal,
        5 => !equal,
        6 => !less,
        _ => true,
    }
}

/// Joins of predicates.
pub fn join(op: u32, a: bool, b: bool) -> Option<bool> {
    Some(match op {
        0 => a && b,
        1 => a || b,
        2 => a != b,
        _ => return None,
    })
}

/// A half of a word as a 16-bit number.
pub fn half(word: u32, high: bool, signed: bool) -> i64 {
    let h = if high { word >> 16 } else { word & 0xFFFF };
    if signed { i64::from(h as u16 as i16) } else { i64::from(h) }
}

/// What XMAD computes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Xmad {
    /// Operands.
    pub a: u32,
    /// See `a`.
    pub b: u32,
    /// See `a`.
    pub c: u32,
    /// High halves and signs of a and b.
    pub ha: bool,
    /// See `ha`.
    pub hb: bool,
    /// See `ha`.
    pub sa: bool,
    /// See `ha`.
    pub sb: bool,
    /// The product is shifted up.
    pub psl: bool,
    /// The low half of b goes on top of the result.
    pub mrg: bool,
    /// What is made of c.
    pub cmode: u32,
}

impl Xmad {
    /// The result without a carry.
    pub fn run(self) -> Option<u32> {
        let a = half(self.a, self.ha, self.sa);
        let b = half(self.b, self.hb, self.sb);
        let mut p = (a * b) as u32;
        if self.psl {
            p <<= 16;
        }
        let other = |word: u32, high: bool| if high { word & 0xFFFF } else { word >> 16 };
        let c = match self.cmode {
            0 => self.c,
            1 => self.c & 0xFFFF,
            2 => self.c >> 16,
            3 => {
                let mut c = self.c;
                if a < 0 && other(self.b, self.hb) != 0 {
                    c = c.wrapping_sub(0x1_0000);
                }
                if b < 0 && other(self.a, self.ha) != 0 {
                    c = c.wrapping_sub(0x1_0000);
                }
                c
            }
            4 => self.c.wrapping_add(self.b << 16),
            _ => return None,
        };
        let r = p.wrapping_add(c);
        Some(if self.mrg { (r & 0xFFFF) | self.b << 16 } else { r })
    }
}

/// Low or high word of a product.
pub fn multiply(a: u32, b: u32, sa: bool, sb: bool, high: bool) -> u32 {
    let wide = |x: u32, signed: bool| if signed { i128::from(x as i32) } else { i128::from(x) };
    let p = wide(a, sa) * wide(b, sb);
    if high { (p >> 32) as u32 } else { p as u32 }
}

/// Funnel shift of {c, a}: left gives the high word, right the low one. `wide` is the 64-bit type.
pub fn funnel(a: u32, c: u32, amount: u32, left: bool, ty: u32, wrap: bool, high: bool) -> Option<u32> {
    let pair = u64::from(c) << 32 | u64::from(a);
    Some(match ty {
        0 => {
            // 32-bit type: the amount is at most 32.
            let n = if wrap { amount & 31 } else { amount.min(32) };
            if left { ((u128::from(pair) << n) >> 32) as u32 } else { (u128::from(pair) >> n) as u32 }
        }
        2 | 3 => {
            let n = if wrap { amount & 63 } else { amount.min(64) };
            let r = if left {
                (u128::from(pair) << n) as u64
            } else if ty == 3 {
                (i128::from(pair as i64) >> n) as u64
            } else {
                (u128::from(pair) >> n) as u64
            };
            // The result word is the one that the direction fills last; `hi` asks for the upper one.
            if left != high { (r >> 32) as u32 } else { r as u32 }
        }
        _ => return None,
    })
}
