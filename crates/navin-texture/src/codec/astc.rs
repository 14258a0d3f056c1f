//! ASTC blocks of the LDR profile to 16 bits a component, as the Khronos Data Format Specification has them.
//!
//! A block is a grid of weights, read from its last bit backwards, and one to four pairs of colours, read forwards; a
//! hash of the texel's place says which pair is a texel's. End points of 8 bits are made 16 wide before they are mixed:
//! linear formats by repeating the byte, so that a texel has 16 bits of its own; sRGB formats with 0x80 behind it, of
//! whose mix only the upper byte counts. Illegal blocks, and texels of the HDR profile's colours, are the
//! error colour.

use super::block::MOST_TEXELS;

/// Magenta.
const ERROR: [u16; 4] = [0xFFFF, 0, 0xFFFF, 0xFFFF];

/// How numbers of a range are stored: trits or quints (or neither) beside so many bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extra {
    None,
    Trit,
    Quint,
}

type Range = (Extra, u32);

/// Ranges of colours from 6 numbers to 256.
const COLOURS: [Range; 17] = [
    (Extra::Trit, 1),
    (Extra::None, 3),
    (Extra::Quint, 1),
    (Extra::Trit, 2),
    (Extra::None, 4),
    (Extra::Quint, 2),
    (Extra::Trit, 3),
    (Extra::None, 5),
    (Extra::Quint, 3),
    (Extra::Trit, 4),
    (Extra::None, 6),
    (Extra::Quint, 4),
    (Extra::Trit, 5),
    (Extra::None, 7),
    (Extra::Quint, 5),
    (Extra::Trit, 6),
    (Extra::None, 8),
];

/// Ranges of weights by the high-precision bit and the range field less 2.
const WEIGHTS: [[Range; 6]; 2] = [
    [(Extra::None, 1), (Extra::Trit, 0), (Extra::None, 2), (Extra::Quint, 0), (Extra::Trit, 1), (Extra::None, 3)],
    [(Extra::Quint, 1), (Extra::Trit, 2), (Extra::None, 4), (Extra::Quint, 2), (Extra::Trit, 3), (Extra::None, 5)],
];

/// Bits of `n` numbers of a range.
fn sequence_bits((extra, bits): Range, n: u32) -> u32 {
    n * bits
        + match extra {
            Extra::None => 0,
            Extra::Trit => (8 * n).div_ceil(5),
            Extra::Quint => (7 * n).div_ceil(3),
        }
}

fn field(bits: u128, at: u32, count: u32) -> u32 {
    if at >= 128 { 0 } else { (bits >> at) as u32 & ((1 << count) - 1) }
}

/// Five trits of eight bits.
fn trits(t: u32) -> [u32; 5] {
    let (c, t3, t4) = match t {
        _ if t >> 2 & 7 == 7 => (t >> 5 << 2 | t & 3, 2, 2),
        _ if t >> 5 & 3 == 3 => (t & 31, t >> 7, 2),
        _ => (t & 31, t >> 5 & 3, t >> 7),
    };
    let low = |two: u32| two & 2 | two & 1 & !(two >> 1);
    let [t0, t1, t2] = match c {
        _ if c & 3 == 3 => [low(c >> 2 & 3), c >> 4, 2],
        _ if c >> 2 & 3 == 3 => [c & 3, 2, 2],
        _ => [low(c & 3), c >> 2 & 3, c >> 4],
    };
    [t0, t1, t2, t3, t4]
}

/// Three quints of seven bits.
fn quints(q: u32) -> [u32; 3] {
    if q >> 1 & 3 == 3 && q >> 5 == 0 {
        let off = !q & 1;
        return [4, 4, (q & 1) << 2 | (q >> 4 & off) << 1 | q >> 3 & off];
    }
    let (c, q2) = match q >> 1 & 3 {
        3 => ((q >> 3 & 3) << 3 | (!q >> 5 & 3) << 1 | q & 1, 4),
        _ => (q & 31, q >> 5),
    };
    if c & 7 == 5 { [c >> 3, 4, q2] } else { [c & 7, c >> 3, q2] }
}

/// Reads numbers: calls `put(index, trit or quint, bits)` for each of `n`.
fn sequence(bits: u128, range: Range, n: u32, mut put: impl FnMut(usize, u32, u32)) {
    // Bits of a last group that is not whole are not there and count as 0.
    let end = sequence_bits(range, n);
    let bits = if end >= 128 { bits } else { bits & ((1 << end) - 1) };
    let (extra, width) = range;
    let pieces: &[u32] = match extra {
        Extra::None => &[0],
        Extra::Trit => &[2, 2, 1, 2, 1],
        Extra::Quint => &[3, 2, 2],
    };
    let (mut at, mut done) = (0, 0);
    while done < n {
        let (mut low, mut packed, mut shift) = ([0; 5], 0, 0);
        for (low, piece) in low.iter_mut().zip(pieces) {
            *low = field(bits, at, width);
            packed |= field(bits, at + width, *piece) << shift;
            shift += piece;
            at += width + piece;
        }
        let high = match extra {
            Extra::None => [0; 5],
            Extra::Trit => trits(packed),
            Extra::Quint => {
                let [a, b, c] = quints(packed);
                [a, b, c, 0, 0]
            }
        };
        for i in 0..pieces.len() {
            if done < n {
                put(done as usize, high[i], low[i]);
                done += 1;
            }
        }
    }
}

/// `count` bits of `bits` bits repeated to fill `width`.
fn repeat(value: u32, bits: u32, width: u32) -> u32 {
    let mut out = 0;
    let mut filled = 0;
    while filled < width && bits > 0 {
        let left = width - filled;
        out |= if left >= bits { value << (left - bits) } else { value >> (bits - left) };
        filled += bits;
    }
    out
}

/// A colour of a range as 0 to 255.
fn colour((extra, bits): Range, high: u32, low: u32) -> u32 {
    if extra == Extra::None {
        return repeat(low, bits, 8);
    }
    let a = if low & 1 != 0 { 0x1FF } else { 0 };
    // The bits above the lowest, from b on.
    let x = low >> 1;
    let (b, c) = match (extra, bits) {
        (Extra::Trit, 1) => (0, 204),
        (Extra::Trit, 2) => (x * 0b1_0001_0110, 93),
        (Extra::Trit, 3) => (x << 7 | x << 2 | x, 44),
        (Extra::Trit, 4) => (x << 6 | x, 22),
        (Extra::Trit, 5) => (x << 5 | x >> 2, 11),
        (Extra::Trit, _) => (x << 4 | x >> 4, 5),
        (_, 1) => (0, 113),
        (_, 2) => (x * 0b1_0000_1100, 54),
        (_, 3) => (x << 7 | x << 1 | x >> 1, 26),
        (_, 4) => (x << 6 | x >> 1, 13),
        (_, _) => (x << 5 | x >> 3, 6),
    };
    let t = (high * c + b) ^ a;
    a & 0x80 | t >> 2
}

/// A weight of a range as 0 to 64.
fn weight((extra, bits): Range, high: u32, low: u32) -> u32 {
    let six = match (extra, bits) {
        (Extra::None, _) => repeat(low, bits, 6),
        (Extra::Trit, 0) => [0, 32, 63][high as usize % 3],
        (Extra::Quint, 0) => [0, 16, 32, 47, 63][high as usize % 5],
        _ => {
            let a = if low & 1 != 0 { 0x7F } else { 0 };
            let x = low >> 1;
            let (b, c) = match (extra, bits) {
                (Extra::Trit, 1) => (0, 50),
                (Extra::Trit, 2) => (x * 0b100_0101, 23),
                (Extra::Trit, _) => (x << 5 | x, 11),
                (_, 1) => (0, 28),
                (_, _) => (x * 0b100_0010, 13),
            };
            let t = (high * c + b) ^ a;
            a & 0x20 | t >> 2
        }
    };
    if six > 32 { six + 1 } else { six }
}

/// The grid that a block mode describes.
struct Grid {
    width: u32,
    height: u32,
    planes: u32,
    range: Range,
}

fn grid(mode: u32) -> Option<Grid> {
    let bit = |n: u32| mode >> n & 1;
    let (a, b) = (mode >> 5 & 3, mode >> 7 & 3);
    let (mut dual, mut precise) = (bit(10), bit(9) as usize);
    let (range, width, height);
    if mode & 3 != 0 {
        range = bit(4) | bit(0) << 1 | bit(1) << 2;
        (width, height) = match mode >> 2 & 3 {
            0 => (b + 4, a + 2),
            1 => (b + 8, a + 2),
            2 => (a + 2, b + 8),
            _ if bit(8) == 0 => (a + 2, (b & 1) + 6),
            _ => ((b & 1) + 2, a + 2),
        };
    } else {
        range = bit(4) | bit(2) << 1 | bit(3) << 2;
        (width, height) = match (b, a) {
            (0, _) => (12, a + 2),
            (1, _) => (a + 2, 12),
            (2, _) => {
                (dual, precise) = (0, 0);
                (a + 6, (mode >> 9 & 3) + 6)
            }
            (_, 0) => (6, 10),
            (_, 1) => (10, 6),
            _ => return None,
        };
    }
    let range = *WEIGHTS[precise].get(range.checked_sub(2)? as usize)?;
    Some(Grid { width, height, planes: dual + 1, range })
}

/// Which pair of colours is that of a texel.
fn partition(seed: u32, x: u32, y: u32, count: u32, small: bool) -> usize {
    let (x, y) = if small { (x << 1, y << 1) } else { (x, y) };
    let seed = seed + (count - 1) * 1024;
    let mut r = seed;
    r ^= r >> 15;
    r = r.wrapping_sub(r << 17);
    r = r.wrapping_add(r << 7);
    r = r.wrapping_add(r << 4);
    r ^= r >> 5;
    r = r.wrapping_add(r << 16);
    r ^= r >> 7;
    r ^= r >> 3;
    r ^= r << 6;
    r ^= r >> 17;
    let (even, odd) = (if seed & 2 != 0 { 4 } else { 5 }, if count == 3 { 6 } else { 5 });
    let (first, second) = if seed & 1 != 0 { (even, odd) } else { (odd, even) };
    let factor = |i: u32| {
        let n = r >> (4 * i) & 15;
        (n * n) >> if i.is_multiple_of(2) { first } else { second }
    };
    // The third dimension's factors count for 3D blocks only, which NVN has not.
    let sum = |i: u32, shift: u32| (factor(2 * i) * x + factor(2 * i + 1) * y + (r >> shift)) & 0x3F;
    let a = sum(0, 14);
    let b = sum(1, 10);
    let c = if count < 3 { 0 } else { sum(2, 6) };
    let d = if count < 4 { 0 } else { sum(3, 2) };
    match () {
        () if a >= b && a >= c && a >= d => 0,
        () if b >= c && b >= d => 1,
        () if c >= d => 2,
        () => 3,
    }
}

/// The two colours of an LDR mode; none for HDR modes.
fn end_points(mode: u32, v: &[u32]) -> Option<[[u32; 4]; 2]> {
    let at = |i: usize| v.get(i).copied().unwrap_or(0) as i32;
    // A base whose highest bit comes from an offset, and the signed offset.
    let transfer = |i: usize| {
        let (base, offset) = (at(i), at(i + 1));
        let signed = offset >> 1 & 0x3F;
        (base >> 1 | offset & 0x80, if signed & 0x20 != 0 { signed - 0x40 } else { signed })
    };
    let blue = |[r, g, b, a]: [i32; 4]| [(r + b) >> 1, (g + b) >> 1, b, a];
    let grey = |l: i32, a: i32| [l, l, l, a];
    let ends = match mode {
        0 => [grey(at(0), 255), grey(at(1), 255)],
        1 => {
            let low = at(0) >> 2 | at(1) & 0xC0;
            [grey(low, 255), grey(low + (at(1) & 0x3F), 255)]
        }
        4 => [grey(at(0), at(2)), grey(at(1), at(3))],
        5 => {
            let ((l, dl), (a, da)) = (transfer(0), transfer(2));
            [grey(l, a), grey(l + dl, a + da)]
        }
        6 | 10 => {
            let scaled = |i: usize| (at(i) * at(3)) >> 8;
            let (a0, a1) = if mode == 10 { (at(4), at(5)) } else { (255, 255) };
            [[scaled(0), scaled(1), scaled(2), a0], [at(0), at(1), at(2), a1]]
        }
        8 | 12 => {
            let (a0, a1) = if mode == 12 { (at(6), at(7)) } else { (255, 255) };
            let (first, second) = ([at(0), at(2), at(4), a0], [at(1), at(3), at(5), a1]);
            match at(1) + at(3) + at(5) >= at(0) + at(2) + at(4) {
                true => [first, second],
                false => [blue(second), blue(first)],
            }
        }
        9 | 13 => {
            let [(r, dr), (g, dg), (b, db)] = [transfer(0), transfer(2), transfer(4)];
            let (a, da) = if mode == 13 { transfer(6) } else { (255, 0) };
            let (first, second) = ([r, g, b, a], [r + dr, g + dg, b + db, a + da]);
            match dr + dg + db >= 0 {
                true => [first, second],
                false => [blue(second), blue(first)],
            }
        }
        _ => return None,
    };
    Some(ends.map(|end| end.map(|c| c.clamp(0, 255) as u32)))
}

/// Decodes a block of `width` x `height` texels, row after row, to 16 bits a component; of sRGB ones the upper byte
/// counts. False, with the error colour everywhere, for what is no block of the LDR profile.
pub fn decode(block: [u8; 16], width: u32, height: u32, srgb: bool, out: &mut [[u16; 4]; MOST_TEXELS]) -> bool {
    let done = texels(u128::from_le_bytes(block), width, height, srgb, out);
    if done.is_none() {
        out.fill(ERROR);
    }
    done.is_some()
}

/// One colour for all texels.
fn void_extent(bits: u128, out: &mut [[u16; 4]; MOST_TEXELS]) -> Option<()> {
    let [s0, s1, t0, t1] = [12, 25, 38, 51].map(|at| field(bits, at, 13));
    let everywhere = [s0, s1, t0, t1] == [0x1FFF; 4];
    // Bit 9 is the HDR profile's, 10 and 11 are set.
    if field(bits, 9, 3) != 6 || !(everywhere || (s0 < s1 && t0 < t1)) {
        return None;
    }
    out.fill([64, 80, 96, 112].map(|at| (bits >> at) as u16));
    Some(())
}

/// Modes of the pairs of colours; `end`, where the weights begin, goes down to below what of the modes lies there.
fn modes(bits: u128, parts: u32, end: &mut u32) -> [u32; 4] {
    if parts == 1 {
        return [field(bits, 13, 4); 4];
    }
    let stated = field(bits, 23, 6);
    if stated & 3 == 0 {
        return [stated >> 2; 4];
    }
    // A class that all share or exceed by one, then each pair's bit and mode.
    let more = 3 * parts - 4;
    *end -= more;
    let all = stated | field(bits, *end, more) << 6;
    std::array::from_fn(|i| {
        let i = (i as u32).min(parts - 1);
        let class = (stated & 3) - 1 + (all >> (2 + i) & 1);
        class * 4 + (all >> (2 + parts + 2 * i) & 3)
    })
}

fn texels(bits: u128, width: u32, height: u32, srgb: bool, out: &mut [[u16; 4]; MOST_TEXELS]) -> Option<()> {
    if field(bits, 0, 9) == 0x1FC {
        return void_extent(bits, out);
    }
    let grid = grid(field(bits, 0, 11))?;
    let count = grid.width * grid.height * grid.planes;
    if count > 64 || grid.width > width || grid.height > height {
        return None;
    }
    let weight_bits = sequence_bits(grid.range, count);
    let parts = field(bits, 11, 2) + 1;
    if !(24..=96).contains(&weight_bits) || (parts == 4 && grid.planes == 2) {
        return None;
    }
    let mut end = 128 - weight_bits;
    let start = if parts == 1 { 17 } else { 29 };
    let modes = modes(bits, parts, &mut end);
    let modes = &modes[..parts as usize];
    let second_plane = if grid.planes == 2 {
        end -= 2;
        Some(field(bits, end, 2) as usize)
    } else {
        None
    };
    let numbers: u32 = modes.iter().map(|mode| (mode >> 2) * 2 + 2).sum();
    let room = end.checked_sub(start)?;
    if numbers > 18 || (13 * numbers).div_ceil(5) > room {
        return None;
    }
    let range = *COLOURS.iter().rev().find(|range| sequence_bits(**range, numbers) <= room)?;
    let mut values = [0; 18];
    sequence(bits >> start, range, numbers, |i, high, low| values[i] = colour(range, high, low));
    let mut ends = [[[0; 4]; 2]; 4];
    let mut from = 0;
    for (ends, mode) in ends.iter_mut().zip(modes) {
        let take = (*mode as usize >> 2) * 2 + 2;
        // To 16 bits. Texels of HDR colours are the error colour, the block's others are what they are.
        *ends = match end_points(*mode, &values[from..from + take]) {
            Some(pair) => pair.map(|end| end.map(|c| if srgb { c << 8 | 0x80 } else { c << 8 | c })),
            None => [ERROR.map(u32::from); 2],
        };
        from += take;
    }
    let mut weights = [0; 64];
    sequence(bits.reverse_bits(), grid.range, count, |i, high, low| weights[i] = weight(grid.range, high, low));

    // From the grid to texels, in sixteenths.
    let step = |n: u32| (1024 + n / 2) / (n - 1);
    let (step_x, step_y) = (step(width), step(height));
    let seed = field(bits, 13, 10);
    for y in 0..height {
        let gy = (step_y * y * (grid.height - 1) + 32) >> 6;
        for x in 0..width {
            let gx = (step_x * x * (grid.width - 1) + 32) >> 6;
            let (fx, fy) = (gx & 15, gy & 15);
            let both = (fx * fy + 8) >> 4;
            let factors = [16 + both - fx - fy, fx - both, fy - both, both];
            let first = (gx >> 4) + (gy >> 4) * grid.width;
            let places = [first, first + 1, first + grid.width, first + grid.width + 1];
            let mixed = |plane: u32| {
                let at = |place: u32| weights.get((place * grid.planes + plane) as usize).copied().unwrap_or(0);
                (places.iter().zip(factors).map(|(place, f)| if f == 0 { 0 } else { at(*place) * f }).sum::<u32>() + 8)
                    >> 4
            };
            let planes = [mixed(0), if second_plane.is_some() { mixed(1) } else { 0 }];
            let part = if parts == 1 { 0 } else { partition(seed, x, y, parts, width * height < 31) };
            let [e0, e1] = ends[part];
            let texel = &mut out[(y * width + x) as usize];
            for c in 0..4 {
                let w = planes[usize::from(second_plane == Some(c))];
                texel[c] = ((e0[c] * (64 - w) + e1[c] * w + 32) / 64) as u16;
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;

    /// Width and height of the blocks of each format.
    fn footprints() -> Vec<(u32, u32)> {
        let formats = Format::all().filter(|info| info.is_astc());
        formats.map(|info| (info.block_width, info.block_height)).collect()
    }

    /// Linear blocks are what another decoder, which gives 8 bits, makes of them.
    #[test]
    fn random_blocks_are_those_of_another_decoder() {
        let mut state = 1u128;
        let (mut legal, mut all) = (0, 0);
        let footprints = footprints();
        for round in 0..24_000u32 {
            state = state.wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645).wrapping_add(11);
            let mut bits = state ^ state >> 64;
            if round % 16 == 0 {
                // One colour, everywhere. (That decoder does not look at the extent.)
                bits = bits & u128::MAX << 64 | 0xFFFF_FFFF_FFFF_FDFC;
            } else if bits & 0x1FF == 0x1FC {
                continue;
            }
            let one_colour = bits & 0x1FF == 0x1FC;
            // Two things that the other decoder makes otherwise than the specification are left out: numbers behind
            // those of an HDR pair, and bits of a last trit or quint group that lie behind the sequence's end.
            let parts = field(bits, 11, 2) + 1;
            if let (Some(grid), false) = (grid(field(bits, 0, 11)), one_colour) {
                let weights = sequence_bits(grid.range, grid.width * grid.height * grid.planes);
                let Some(mut end) = 128u32.checked_sub(weights).filter(|end| *end >= 32) else { continue };
                let modes = modes(bits, parts, &mut end);
                let modes = &modes[..parts as usize];
                if parts > 1 && modes.iter().any(|mode| [2, 3, 7, 11, 14, 15].contains(mode)) {
                    continue;
                }
                let start = if parts == 1 { 17 } else { 29 };
                let room = (end - 2 * (grid.planes - 1)).saturating_sub(start);
                let numbers: u32 = modes.iter().map(|mode| (mode >> 2) * 2 + 2).sum();
                if let Some(range) = COLOURS.iter().rev().find(|range| sequence_bits(**range, numbers) <= room) {
                    let used = sequence_bits(*range, numbers);
                    bits &= !(((1 << (room - used)) - 1) << (start + used));
                }
            }
            let block = bits.to_le_bytes();
            let (width, height) = footprints[round as usize % footprints.len()];
            let mut ours = [[0; 4]; MOST_TEXELS];
            let is_legal = decode(block, width, height, false, &mut ours);
            let mut theirs = [[0u8; 4]; MOST_TEXELS];
            let footprint = astc_decode::Footprint::new(width, height);
            astc_decode::astc_decode_block(&block, footprint, |x, y, texel| {
                theirs[(y * width + x) as usize] = texel;
            });
            let texels = (width * height) as usize;
            for (i, (ours, theirs)) in ours.iter().zip(theirs).enumerate().take(texels) {
                // That decoder's 8 bits are 255 65536ths of the 16; of one colour, the upper byte.
                let eight = |c: u16| if one_colour { c >> 8 } else { ((u32::from(c) * 255 + 32767) >> 16) as u16 };
                let eight = ours.map(|c| eight(c) as u8);
                assert_eq!(eight, theirs, "{width}x{height} texel {i} {is_legal} {block:02x?}");
            }
            all += 1;
            legal += u32::from(is_legal);
        }
        assert!(legal > all / 20, "{legal} of {all}");
    }

    /// Weight 21 of 64 between 10 and 200: sRGB end points have 0x80 behind them, linear ones themselves.
    #[test]
    fn end_points_are_widened_by_the_curve() {
        // As in the codec's tests: a grid of 4x4 two-bit weights, luminance, here all weights 1.
        let mut bits = 0x42u128 | 10 << 17 | 200 << 25;
        for texel in 0..16 {
            bits |= 1 << (127 - 2 * texel);
        }
        let first = |srgb| {
            let mut out = [[0; 4]; MOST_TEXELS];
            assert!(decode(bits.to_le_bytes(), 4, 4, srgb, &mut out));
            out[0]
        };
        let mix = |e0: u32, e1: u32| ((e0 * 43 + e1 * 21 + 32) / 64) as u16;
        assert_eq!(first(true)[..3], [mix(0x0A80, 0xC880); 3]);
        assert_eq!(first(false), [mix(0x0A0A, 0xC8C8), mix(0x0A0A, 0xC8C8), mix(0x0A0A, 0xC8C8), 0xFFFF]);
        use crate::codec::{decode_rgba8, decode_rgba32f};
        use crate::format::Format;
        let (linear, srgb) = (Format::RGBA_ASTC_4X4.info(), Format::RGBA_ASTC_4X4_SRGB.info());
        let float = decode_rgba32f(linear, &bits.to_le_bytes(), 4, 4).unwrap()[0];
        assert_eq!(float[0], f32::from(mix(0x0A0A, 0xC8C8)) / 65535.0, "all 16 bits");
        let eight = |info| decode_rgba8(info, &bits.to_le_bytes(), 4, 4).unwrap()[0];
        assert_eq!(eight(srgb), (mix(0x0A80, 0xC880) >> 8) as u8);
        assert_eq!(eight(linear), (float[0] * 255.0).round() as u8);
    }
}
