//! EXR: one picture of half or single floats.
//!
//! What is read: scan lines and tiles (of several levels the largest), of several parts the first that shows a picture,
//! packed in any way but DWA. What is written is uncompressed. The `exr` crate reads much of that too, but panics on
//! some bad files (B44 blocks, tiles outside the picture), so the readers here are Navin's own. The format is that of
//! the OpenEXR file layout documentation.

mod b44;
mod header;
mod piz;
mod unpack;
mod write;

use super::bytes::File;
use super::{FileError, Texture};
use crate::format::{Format, f16_to_f32};

use header::{Number, Part, VERSION};
use unpack::{Shape, unpack};

pub(super) use header::MAGIC;
pub(super) use write::{check_single, picture, write};

/// No way of packing makes more bytes than so many of one: Deflate comes to it.
const MOST_INFLATION: u64 = 1032;

/// A chunk's place in the picture.
struct Place {
    /// Where the pixels' size stands.
    size_at: u64,
    x: u32,
    y: u32,
    width: u32,
    height: u32,
    /// Among all chunks of the picture.
    number: usize,
}

/// Reads a picture as RGBA16F where all channels are half floats, as RGBA32F otherwise.
pub(super) fn read(bytes: &[u8]) -> Result<Texture, FileError> {
    let file = File(bytes);
    let part = header::read(&file)?;
    let [width, height] = part.extent;
    let pixel: u64 = part.channels.iter().map(|c| c.number.bytes() as u64).sum();
    let most = if part.compression == unpack::Compression::None {
        file.len()
    } else {
        file.len().saturating_mul(MOST_INFLATION)
    };
    let pixels = u64::from(width) * u64::from(height);
    let half = part.channels.iter().all(|c| c.number == Number::Half);
    let format = if half { Format::RGBA16F } else { Format::RGBA32F };
    let size = pixels.saturating_mul(if half { 8 } else { 16 });
    if pixels.saturating_mul(pixel) > most || size > most.saturating_mul(8) {
        return Err(FileError::at(part.window_at, format!("{width} x {height} pixels, more than the file can hold")));
    }
    let [wide, high] = part.tiles.unwrap_or([width, part.compression.rows()]);
    let chunks = u64::from(width.div_ceil(wide)) * u64::from(height.div_ceil(high));
    file.slice(part.table, chunks.saturating_mul(8), "the table of chunks")?;
    let mut data = vec![0u8; size as usize];
    if part.channels.iter().all(|c| !c.to.contains(&3)) {
        let one: &[u8] = if half { &[0x00, 0x3C] } else { &[0, 0, 0x80, 0x3F] };
        let texel = one.len() * 4;
        data.chunks_exact_mut(texel).for_each(|t| t[texel - one.len()..].copy_from_slice(one));
    }
    let mut seen = vec![false; chunks as usize];
    for i in 0..chunks {
        let at = file.u64(part.table + 8 * i, "offset of a chunk")?;
        let place = part.place(&file, at, [wide, high])?;
        // Otherwise a small file would have one large chunk unpacked again and again.
        if std::mem::replace(&mut seen[place.number], true) {
            return Err(FileError::at(at, format!("a second chunk for column {}, row {}", place.x, place.y)));
        }
        let stored = u64::from(file.u32(place.size_at, "size of a chunk")?);
        let stored = file.slice(place.size_at.saturating_add(4), stored, "a chunk")?;
        let shape = Shape { width: place.width as usize, height: place.height as usize, channels: &part.channels };
        let rows = unpack(part.compression, stored, shape).map_err(|what| FileError::at(at, what))?;
        fill(&mut data, &rows, shape, [place.x as usize, place.y as usize], width as usize, half);
    }
    let texture = Texture::new_2d(format.info(), (width, height), data);
    texture.check().map_err(|e| FileError::at(part.window_at, e.to_string()))?;
    Ok(texture)
}

impl Part {
    /// What the head of a chunk says: of scan lines the first row, of tiles column and row of tiles, and the level.
    fn place(&self, file: &File, at: u64, [wide, high]: [u32; 2]) -> Result<Place, FileError> {
        let mut next = at;
        let mut word = |what| {
            let word = file.u32(next, what);
            next = next.saturating_add(4);
            word
        };
        if let Some(number) = self.number {
            let of = word("a chunk's part")?;
            if of != number {
                return Err(FileError::at(at, format!("a chunk of part {of}, expected {number}")));
            }
        }
        let [width, height] = self.extent;
        let columns = width.div_ceil(wide);
        let found = if self.tiles.is_some() {
            let [column, row, level_x, level_y] = [word("a tile")?, word("a tile")?, word("a tile")?, word("a tile")?];
            if (level_x, level_y) != (0, 0) {
                return Err(FileError::at(at, format!("a tile of level {level_x}, {level_y}, expected the largest")));
            }
            (column < columns && row < height.div_ceil(high)).then_some((column, row))
        } else {
            let line = word("number of a scan line")? as i32;
            let first = u32::try_from(i64::from(line) - i64::from(self.origin[1])).ok();
            first.filter(|y| *y < height && y.is_multiple_of(high)).map(|y| (0, y / high))
        };
        let Some((column, row)) = found else {
            let what = format!("a chunk outside the dataWindow of {width} x {height} pixels from {:?}", self.origin);
            return Err(FileError::at(at, what));
        };
        let (x, y) = (column * wide, row * high);
        let number = row as usize * columns as usize + column as usize;
        Ok(Place { size_at: next, x, y, width: wide.min(width - x), height: high.min(height - y), number })
    }
}

/// Puts rows of a chunk into texels, `at` being the first one.
fn fill(data: &mut [u8], rows: &[u8], shape: Shape<'_>, at: [usize; 2], width: usize, half: bool) {
    let component = if half { 2 } else { 4 };
    for (n, (start, channel)) in shape.lines().enumerate() {
        let channel = shape.channels[channel];
        let bytes = channel.number.bytes();
        let first = (at[1] + n / shape.channels.len()) * width + at[0];
        for (x, value) in rows[start..start + bytes * shape.width].chunks_exact(bytes).enumerate() {
            for c in channel.to {
                let to = (first + x) * component * 4 + c * component;
                match (half, value) {
                    (true, [a, b]) => data[to..to + 2].copy_from_slice(&[*a, *b]),
                    (false, [a, b]) => {
                        let single = f16_to_f32(u16::from_le_bytes([*a, *b]));
                        data[to..to + 4].copy_from_slice(&single.to_le_bytes());
                    }
                    (_, [a, b, c, d]) if channel.number == Number::Whole => {
                        let number = u32::from_le_bytes([*a, *b, *c, *d]) as f32;
                        data[to..to + 4].copy_from_slice(&number.to_le_bytes());
                    }
                    (_, four) => data[to..to + 4].copy_from_slice(four),
                }
            }
        }
    }
}
