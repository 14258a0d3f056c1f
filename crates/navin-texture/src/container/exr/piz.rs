//! PIZ: the values that occur, numbered; a wavelet of those numbers; Huffman codes of that.

use super::unpack::Shape;

/// Symbols: 16-bit numbers, and one more that repeats the number before it.
const SYMBOLS: usize = 0x1_0001;
/// Most bits of a code.
const LONGEST: usize = 58;
/// Codes of up to so many bits are found by one look.
const SHORT: usize = 12;
const END: &str = "PIZ data ends too soon";

pub(super) fn unpack(stored: &[u8], shape: Shape<'_>) -> Result<Vec<u8>, String> {
    let words = |at: usize| {
        let bytes = stored.get(at..at + 2).ok_or(END)?;
        Ok::<_, String>(usize::from(u16::from_le_bytes([bytes[0], bytes[1]])))
    };
    // Which values occur, a bit each; of the bits those from the first byte to the last that are not 0.
    let (first, last) = (words(0)?, words(2)?);
    if last > 0x1FFF {
        return Err(format!("PIZ values up to {last:#x} times 8, expected 0x1fff"));
    }
    let (bits, at) =
        if first <= last { (stored.get(4..5 + last - first).ok_or(END)?, 5 + last - first) } else { (&[][..], 4) };
    let occurs = |value: u16| {
        let byte = usize::from(value >> 3).checked_sub(first).and_then(|i| bits.get(i));
        value == 0 || byte.is_some_and(|byte| byte >> (value & 7) & 1 != 0)
    };
    let mut values: Vec<u16> = (0..=u16::MAX).filter(|value| occurs(*value)).collect();
    let largest = (values.len() - 1) as u16;
    values.resize(1 << 16, 0);

    let length = stored.get(at..at + 4).ok_or(END)?;
    let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize;
    let packed = stored[at + 4..].get(..length).ok_or(END)?;
    let (width, height) = (shape.width, shape.height);
    let mut numbers = huffman(packed, shape.row() * height / 2)?;

    // Channel after channel, wide numbers as two interleaved pictures.
    let mut rest = &mut numbers[..];
    for channel in shape.channels {
        let halves = channel.number.bytes() / 2;
        let (picture, tail) = rest.split_at_mut(width * height * halves);
        for half in 0..halves {
            wavelet(&mut picture[half..], [width, height], [halves, width * halves], largest);
        }
        rest = tail;
    }
    let mut out = vec![0; shape.row() * height];
    let mut starts = Vec::with_capacity(shape.channels.len());
    let mut start = 0;
    for channel in shape.channels {
        starts.push(start);
        start += width * height * channel.number.bytes() / 2;
    }
    for (at, channel) in shape.lines() {
        let words = width * shape.channels[channel].number.bytes() / 2;
        let line = &numbers[starts[channel]..starts[channel] + words];
        starts[channel] += words;
        for (to, number) in out[at..at + 2 * words].chunks_exact_mut(2).zip(line) {
            to.copy_from_slice(&values[usize::from(*number)].to_le_bytes());
        }
    }
    Ok(out)
}

/// Two numbers of their mean and difference, where all are below 2^14.
fn narrow(mean: u16, difference: u16) -> (u16, u16) {
    let (mean, difference) = (i32::from(mean as i16), i32::from(difference as i16));
    let first = mean + (difference & 1) + (difference >> 1);
    (first as u16, (first - difference) as u16)
}

/// As [`narrow`] for all numbers, modulo 2^16.
fn wide(mean: u16, difference: u16) -> (u16, u16) {
    let second = mean.wrapping_sub(difference >> 1);
    (difference.wrapping_add(second).wrapping_sub(0x8000), second)
}

/// Undoes the wavelet of a picture in place: `extent` numbers across and down, `stride` apart; from the coarsest level
/// to the finest each square of four is made of its mean and three differences.
fn wavelet(picture: &mut [u16], extent: [usize; 2], stride: [usize; 2], largest: u16) {
    let two = if largest < 1 << 14 { narrow } else { wide };
    let [width, height] = extent;
    let [right, down] = stride;
    let mut step = 1;
    while 2 * step <= width.min(height) {
        step *= 2;
    }
    while step > 1 {
        let half = step / 2;
        let mut pair = |a: usize, b: usize| (picture[a], picture[b]) = two(picture[a], picture[b]);
        let (across, along) = (half * right, half * down);
        for y in (0..=height - step).step_by(step) {
            let mut at = y * down;
            for _ in 0..width / step {
                pair(at, at + along);
                pair(at + across, at + across + along);
                pair(at, at + across);
                pair(at + along, at + along + across);
                at += step * right;
            }
            if width & half != 0 {
                pair(at, at + along);
            }
        }
        if height & half != 0 {
            let row = height / step * step * down;
            for x in 0..width / step {
                let at = row + x * step * right;
                pair(at, at + across);
            }
        }
        step = half;
    }
}

/// Bits, the highest of each byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    /// Bits taken in, the next one lowest but `count`.
    held: u128,
    count: u32,
}

impl Bits<'_> {
    /// Holds so many bits, or all that are left.
    fn fill(&mut self, count: u32) {
        while self.count < count {
            let Some((byte, rest)) = self.bytes.split_first() else { return };
            self.bytes = rest;
            self.held = self.held << 8 | u128::from(*byte);
            self.count += 8;
        }
    }

    /// The next bits without taking them, zeroes behind the end.
    fn peek(&mut self, count: u32) -> u64 {
        self.fill(count);
        let bits = match self.count.checked_sub(count) {
            Some(more) => self.held >> more,
            None => self.held << (count - self.count),
        };
        bits as u64 & ((1 << count) - 1)
    }

    fn skip(&mut self, count: u32) -> Result<(), String> {
        self.fill(count);
        self.count = self.count.checked_sub(count).ok_or(END)?;
        Ok(())
    }

    fn take(&mut self, count: u32) -> Result<u64, String> {
        let bits = self.peek(count);
        self.skip(count)?;
        Ok(bits)
    }
}

/// `want` numbers of Huffman codes.
fn huffman(packed: &[u8], want: usize) -> Result<Vec<u16>, String> {
    let word = |at: usize| {
        let bytes = packed.get(at..at + 4).ok_or(END)?;
        Ok::<_, String>(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    if want == 0 {
        return Ok(Vec::new());
    }
    let (low, high, bits) = (word(0)? as usize, word(4)? as usize, word(12)?);
    if low >= SYMBOLS || high >= SYMBOLS || low > high {
        return Err(format!("Huffman codes of numbers {low:#x} to {high:#x}"));
    }
    let mut table = Bits { bytes: packed.get(20..).ok_or(END)?, held: 0, count: 0 };
    let codes = Codes::new(&lengths(&mut table, low, high)?)?;
    // The codes begin at the byte behind the table.
    let after = table.bytes.len() + (table.count / 8) as usize;
    let data = &packed[packed.len() - after..];
    let data = data.get(..(bits as usize).div_ceil(8)).ok_or(END)?;
    let mut data = Bits { bytes: data, held: 0, count: 0 };
    let mut out: Vec<u16> = Vec::with_capacity(want);
    while out.len() < want {
        let symbol = codes.next(&mut data)?;
        if symbol == high {
            let count = data.take(8)? as usize;
            let last = *out.last().ok_or("a repeated number before the first")?;
            if count > want - out.len() {
                return Err("more numbers than the chunk has".to_owned());
            }
            out.resize(out.len() + count, last);
        } else {
            out.push(symbol as u16);
        }
    }
    Ok(out)
}

/// Bits of the codes of symbols `low` to `high`, 0 for those without.
fn lengths(table: &mut Bits<'_>, low: usize, high: usize) -> Result<Vec<u8>, String> {
    let mut lengths = vec![0; high + 1];
    let mut symbol = low;
    while symbol <= high {
        let length = table.take(6)?;
        // Runs of symbols without a code: 2 to 5 in the length itself, 6 and more behind it.
        let zeroes = match length {
            63 => 6 + table.take(8)? as usize,
            59.. => length as usize - 57,
            _ => {
                lengths[symbol] = length as u8;
                symbol += 1;
                continue;
            }
        };
        symbol += zeroes;
        if symbol > high + 1 {
            return Err("a table of Huffman codes longer than its symbols".to_owned());
        }
    }
    Ok(lengths)
}

/// Codes by their lengths. Of one length they are numbers in a row, and longer ones are the smaller numbers.
struct Codes {
    /// By the next `SHORT` bits: symbol, and bits of its code; 0 bits for longer ones.
    short: Vec<(u32, u8)>,
    /// Of each length: the first code, and where its symbols are.
    first: [(u64, usize, usize); LONGEST + 1],
    symbols: Vec<u32>,
}

impl Codes {
    fn new(lengths: &[u8]) -> Result<Self, String> {
        let mut counts = [0u64; LONGEST + 1];
        for length in lengths {
            counts[usize::from(*length)] += 1;
        }
        let mut codes = Self { short: vec![(0, 0); 1 << SHORT], first: [(0, 0, 0); LONGEST + 1], symbols: Vec::new() };
        let mut code = 0;
        for length in (1..=LONGEST).rev() {
            codes.first[length].0 = code;
            code = (code + counts[length]) >> 1;
        }
        let mut places = [0; LONGEST + 1];
        let mut at = 0;
        for length in 1..=LONGEST {
            let count = counts[length] as usize;
            if codes.first[length].0 + counts[length] > 1 << length {
                return Err(format!("more Huffman codes of {length} bits than there are"));
            }
            (codes.first[length].1, codes.first[length].2) = (at, at + count);
            places[length] = at;
            at += count;
        }
        codes.symbols = vec![0; at];
        for (symbol, length) in lengths.iter().enumerate().filter(|(_, length)| **length != 0) {
            let length = usize::from(*length);
            let place = places[length];
            places[length] += 1;
            codes.symbols[place] = symbol as u32;
            if length <= SHORT {
                let code = codes.first[length].0 as usize + place - codes.first[length].1;
                codes.short[code << (SHORT - length)..(code + 1) << (SHORT - length)]
                    .fill((symbol as u32, length as u8));
            }
        }
        Ok(codes)
    }

    /// The next symbol.
    fn next(&self, data: &mut Bits<'_>) -> Result<usize, String> {
        let (symbol, bits) = self.short[data.peek(SHORT as u32) as usize];
        if bits != 0 {
            data.skip(bits.into())?;
            return Ok(symbol as usize);
        }
        let all = data.peek(LONGEST as u32);
        for length in SHORT + 1..=LONGEST {
            let (first, start, end) = self.first[length];
            let Some(place) = (all >> (LONGEST - length)).checked_sub(first) else { continue };
            if let Some(symbol) = self.symbols[start..end].get(place as usize) {
                data.skip(length as u32)?;
                return Ok(*symbol as usize);
            }
        }
        Err("bits that are no Huffman code".to_owned())
    }
}
