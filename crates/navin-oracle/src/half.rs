//! Packed halves (`maxwell_encodings.md`, section 6).

/// Value of a half.
pub fn to_f32(h: u16) -> f32 {
    let sign = u32::from(h >> 15) << 31;
    let (exponent, fraction) = (u32::from(h >> 10 & 31), u32::from(h & 0x3FF));
    match exponent {
        0 => {
            let value = fraction as f32 * 2f32.powi(-24);
            if sign != 0 { -value } else { value }
        }
        31 => f32::from_bits(sign | 0x7F80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

/// The nearest half, ties to even.
pub fn from_f64(x: f64) -> u16 {
    let sign = u16::from(x.is_sign_negative()) << 15;
    if x.is_nan() {
        return 0x7FFF;
    }
    let m = x.abs();
    if m >= 65520.0 {
        return sign | 0x7C00;
    }
    // The unit of the last place: 2^-24 for the smallest, and 10 bits below the leading one else.
    let exponent = if m < 2f64.powi(-14) { -24 } else { m.log2().floor() as i32 - 10 };
    // log2 may round up to the next power of two: the unit below is tried then.
    let exponent = if m < 2f64.powi(-14) || m >= 2f64.powi(exponent + 10) { exponent } else { exponent - 1 };
    let units = (m * 2f64.powi(-exponent)).round_ties_even();
    if exponent == -24 {
        return sign | units as u16;
    }
    // 1024 to 2048 units; 2048 carry into the exponent by themselves.
    sign | (((exponent + 25) as u16) << 10).wrapping_add(units as u16 - 1024)
}

/// The two lanes that a source swizzle reads of a word.
pub fn lanes(word: u32, swizzle: u32) -> [f32; 2] {
    let (low, high) = (to_f32(word as u16), to_f32((word >> 16) as u16));
    match swizzle {
        0 => [low, high],
        1 => [f32::from_bits(word); 2],
        2 => [low; 2],
        _ => [high; 2],
    }
}

/// The result word of two lanes in a result format, over the old destination.
pub fn merge(lanes: [f64; 2], format: u32, old: u32) -> u32 {
    let bits = lanes.map(|l| u32::from(from_f64(l)));
    match format {
        0 => bits[0] | bits[1] << 16,
        1 => (lanes[0] as f32).to_bits(),
        2 => (old & 0xFFFF_0000) | bits[0],
        _ => (old & 0xFFFF) | bits[1] << 16,
    }
}

/// Denormal halves become zeros.
pub fn flush(x: f32) -> f32 {
    if x != 0.0 && x.abs() < 2f32.powi(-14) { 0f32.copysign(x) } else { x }
}
