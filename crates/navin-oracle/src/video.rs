//! Video instructions on parts of words (`maxwell_encodings.md`, section 8).

/// A part of a word: 0 to 3 a byte, 4 and 5 a half, 6 the word.
pub fn part(word: u32, selector: u32, signed: bool) -> Option<i64> {
    Some(match (selector, signed) {
        (0..=3, false) => i64::from((word >> (8 * selector)) as u8),
        (0..=3, true) => i64::from((word >> (8 * selector)) as i8),
        (4 | 5, false) => i64::from((word >> (16 * (selector - 4))) as u16),
        (4 | 5, true) => i64::from((word >> (16 * (selector - 4))) as i16),
        (6, false) => i64::from(word),
        (6, true) => i64::from(word as i32),
        _ => return None,
    })
}

/// What is done with c after the main operation; `value` is the result before it was cut to 32 bits.
pub fn combine(value: u32, c: u32, vop: u32, signed: bool) -> u32 {
    match vop {
        0 => (c & 0xFFFF) | value << 16,
        1 => (c & 0xFFFF_0000) | (value & 0xFFFF),
        2 => (c & !0xFF) | (value & 0xFF),
        3 => (c & !0x00FF_0000) | (value & 0xFF) << 16,
        4 => value.wrapping_add(c),
        5 if signed => (value as i32).min(c as i32) as u32,
        5 => value.min(c),
        6 if signed => (value as i32).max(c as i32) as u32,
        6 => value.max(c),
        _ => value,
    }
}

/// Bits of the destination part that saturation clamps to: the merged forms to their part, others to the word.
pub fn saturate(value: i64, vop: u32, signed: bool) -> i64 {
    let bits = match vop {
        0 | 1 => 16,
        2 | 3 => 8,
        _ => 32,
    };
    if signed { value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { value.clamp(0, (1 << bits) - 1) }
}
