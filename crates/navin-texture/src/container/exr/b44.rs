//! B44: half floats in blocks of 4 x 4 of 14 bytes, or of 3 where all values are equal; other numbers as they are.
//!
//! A block is one 16-bit value, six bits of scale, and fifteen numbers of six bits: the differences between neighbours,
//! first down the left column, then from column to column. Values are ordered as whole numbers.

use super::header::Number;
use super::unpack::Shape;
use crate::format::{f16_to_f32, f32_to_f16};

/// From this scale on a block holds one value.
const FLAT: u8 = 13;

pub(super) fn unpack(stored: &[u8], shape: Shape<'_>) -> Result<Vec<u8>, String> {
    let (width, height) = (shape.width, shape.height);
    let row = shape.row();
    let mut out = vec![0; row * height];
    let mut rest = stored;
    let mut take = |n: usize| {
        let (taken, tail) = rest.split_at_checked(n).ok_or("B44 blocks end too soon")?;
        rest = tail;
        Ok::<_, String>(taken)
    };
    let mut left = 0;
    for channel in shape.channels {
        let bytes = channel.number.bytes() * width;
        if channel.number != Number::Half {
            for y in 0..height {
                out[y * row + left..][..bytes].copy_from_slice(take(bytes)?);
            }
            left += bytes;
            continue;
        }
        for y in (0..height).step_by(4) {
            for x in (0..width).step_by(4) {
                let head = take(3)?;
                let values = if head[2] >> 2 >= FLAT {
                    [ordered(u16::from_be_bytes([head[0], head[1]])); 16]
                } else {
                    block(head, take(11)?)
                };
                for (i, value) in values.into_iter().enumerate() {
                    let (x, y) = (x + i % 4, y + i / 4);
                    if x < width && y < height {
                        let value = if channel.perceptual { logarithm(value) } else { value };
                        out[y * row + left + 2 * x..][..2].copy_from_slice(&value.to_le_bytes());
                    }
                }
            }
        }
        left += bytes;
    }
    Ok(out)
}

/// The half float of an ordered whole number.
fn ordered(number: u16) -> u16 {
    if number & 0x8000 != 0 { number & 0x7FFF } else { !number }
}

/// Of 14 bytes.
fn block(head: &[u8], tail: &[u8]) -> [u16; 16] {
    let mut bits = head.iter().chain(tail).fold(0u128, |bits, byte| bits << 8 | u128::from(*byte));
    let mut values = [0u16; 16];
    values[0] = (bits >> 96) as u16;
    let scale = (bits >> 90) as u32 & 0x3F;
    bits <<= 128 - 90;
    let mut next = |before: u16| {
        let difference = (bits >> 122) as u32;
        bits <<= 6;
        // Below `FLAT`, so that the products fit.
        u32::from(before).wrapping_add(difference << scale).wrapping_sub(0x20 << scale) as u16
    };
    for i in [4, 8, 12] {
        values[i] = next(values[i - 4]);
    }
    for column in 1..4 {
        for row in 0..4 {
            values[4 * row + column] = next(values[4 * row + column - 1]);
        }
    }
    values.map(ordered)
}

/// Undoes `exp(x / 8)`, which was packed in place of a perceptual channel's values.
fn logarithm(half: u16) -> u16 {
    let value = f16_to_f32(half);
    if value.is_finite() && value > 0.0 { f32_to_f16(8.0 * value.ln()) } else { 0 }
}
