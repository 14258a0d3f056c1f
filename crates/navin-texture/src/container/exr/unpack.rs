//! Chunks of packed pixels to rows: of each row all channels one after the other, each value least byte first.

use super::header::{Channel, Number};
use super::{b44, piz};

/// How chunks are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    RunLengths,
    /// Deflate, of one row or of 16.
    Zip {
        rows: u32,
    },
    Piz,
    Pxr24,
    B44,
}

impl Compression {
    /// By the number in the file; otherwise the name of what is not read.
    pub fn new(number: u8) -> Result<Self, String> {
        Ok(match number {
            0 => Self::None,
            1 => Self::RunLengths,
            2 => Self::Zip { rows: 1 },
            3 => Self::Zip { rows: 16 },
            4 => Self::Piz,
            5 => Self::Pxr24,
            // B44A packs blocks of one value smaller, and says so in each.
            6 | 7 => Self::B44,
            n => {
                let name = ["DWAA", "DWAB"].get(usize::from(n) - 8).copied();
                let name = name.map_or_else(|| format!("compression {n}"), |name| format!("{name} compression"));
                return Err(format!("{name}, which is not read: save it by ZIP or PIZ"));
            }
        })
    }

    /// Rows of a chunk that is no tile.
    pub fn rows(self) -> u32 {
        match self {
            Self::None | Self::RunLengths => 1,
            Self::Zip { rows } => rows,
            Self::Pxr24 => 16,
            Self::Piz | Self::B44 => 32,
        }
    }
}

/// Columns and rows of a chunk, and what each pixel has.
#[derive(Clone, Copy)]
pub(super) struct Shape<'a> {
    pub width: usize,
    pub height: usize,
    pub channels: &'a [Channel],
}

impl Shape<'_> {
    /// Bytes of a row.
    pub fn row(&self) -> usize {
        self.channels.iter().map(|c| c.number.bytes()).sum::<usize>() * self.width
    }

    /// Of each row and each channel in it: where it begins in the rows, its channel's number.
    pub fn lines(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let mut at = 0;
        (0..self.height).flat_map(|_| self.channels.iter().enumerate()).map(move |(i, channel)| {
            let line = (at, i);
            at += channel.number.bytes() * self.width;
            line
        })
    }
}

/// Undoes a chunk's compression; an error says what is wrong with it.
pub(super) fn unpack(compression: Compression, stored: &[u8], shape: Shape<'_>) -> Result<Vec<u8>, String> {
    let want = shape.row() * shape.height;
    // A chunk that compression would not make smaller is stored as it is.
    if compression == Compression::None || stored.len() == want {
        return match stored.len() == want {
            true => Ok(stored.to_vec()),
            false => Err(format!("{} bytes of pixels, expected {want}", stored.len())),
        };
    }
    match compression {
        Compression::Piz => piz::unpack(stored, shape),
        Compression::B44 => b44::unpack(stored, shape),
        Compression::Pxr24 => pxr24(stored, shape),
        Compression::RunLengths => Ok(from_differences(expect(run_lengths(stored, want), want)?)),
        Compression::None | Compression::Zip { .. } => Ok(from_differences(inflate(stored, want)?)),
    }
}

fn expect(bytes: Vec<u8>, want: usize) -> Result<Vec<u8>, String> {
    match bytes.len() == want {
        true => Ok(bytes),
        false => Err(format!("{} bytes of unpacked pixels, expected {want}", bytes.len())),
    }
}

fn inflate(stored: &[u8], want: usize) -> Result<Vec<u8>, String> {
    let bytes = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(stored, want);
    expect(bytes.map_err(|e| format!("zlib data: {e}"))?, want)
}

/// Each byte is the difference from the one before, and the second half holds every second byte.
fn from_differences(mut bytes: Vec<u8>) -> Vec<u8> {
    for i in 1..bytes.len() {
        bytes[i] = bytes[i - 1].wrapping_add(bytes[i]).wrapping_sub(128);
    }
    let (even, odd) = bytes.split_at(bytes.len().div_ceil(2));
    (0..bytes.len()).map(|i| if i % 2 == 0 { even[i / 2] } else { odd[i / 2] }).collect()
}

/// EXR's run lengths: a negative count of bytes as they are, or a count (less one) of one byte again and again.
fn run_lengths(stored: &[u8], want: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = stored;
    while let Some((count, tail)) = rest.split_first()
        && out.len() <= want
    {
        let count = i32::from(*count as i8);
        rest = if count < 0 {
            let (plain, after) = tail.split_at(tail.len().min(count.unsigned_abs() as usize));
            out.extend_from_slice(plain);
            after
        } else {
            let Some((value, after)) = tail.split_first() else { break };
            out.resize(out.len() + count as usize + 1, *value);
            after
        };
    }
    out
}

/// Single floats of 24 bits; all values as differences from the left neighbour, highest bytes of a row first.
fn pxr24(stored: &[u8], shape: Shape<'_>) -> Result<Vec<u8>, String> {
    let planes = |number: Number| if number == Number::Single { 3 } else { number.bytes() };
    let row: usize = shape.channels.iter().map(|c| planes(c.number)).sum::<usize>() * shape.width;
    let bytes = inflate(stored, row * shape.height)?;
    let mut rest = &bytes[..];
    let mut out = vec![0; shape.row() * shape.height];
    for (at, channel) in shape.lines() {
        let number = shape.channels[channel].number;
        let planes = planes(number);
        let (line, tail) = rest.split_at(planes * shape.width);
        rest = tail;
        let mut value = 0u32;
        for x in 0..shape.width {
            let difference = (0..planes).fold(0, |sum, plane| sum << 8 | u32::from(line[plane * shape.width + x]));
            // What a float has lost is its lowest byte.
            let difference = if number == Number::Single { difference << 8 } else { difference };
            value = value.wrapping_add(difference);
            let n = number.bytes();
            out[at + x * n..][..n].copy_from_slice(&value.to_le_bytes()[..n]);
        }
    }
    Ok(out)
}
