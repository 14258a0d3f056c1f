//! EXR: one picture of half or single floats.
//!
//! Scan lines of one part, uncompressed or by ZIP, ZIPS or RLE, are read; what is written is uncompressed. (The `exr`
//! crate reads more, but panics on some bad files: on B44 blocks, on tiles outside the picture.) The format is that of the OpenEXR file layout documentation.

use super::bytes::{File, Out};
use super::{FileError, Texture, WriteError};
use crate::codec::{decode_rgba16f, decode_rgba32f};
use crate::format::{Class, Format, f16_to_f32};

/// What files begin with.
pub(super) const MAGIC: [u8; 4] = [0x76, 0x2F, 0x31, 0x01];
const VERSION: u32 = 2;
/// Bits of the version word for tiles and several parts; long names are no obstacle.
const PARTS: u32 = 0x200 | 0x1000;
/// The one for deep data.
const DEEP: u32 = 0x800;
/// Deflate makes at most this many bytes of one.
const MOST_INFLATION: u64 = 1032;

/// A channel of the file: its number type and where it goes.
#[derive(Clone, Copy)]
struct Channel {
    /// 0 whole number, 1 half, 2 single.
    kind: u32,
    /// Components of the texel that it fills.
    to: Shown,
}

impl Channel {
    fn bytes(self) -> usize {
        if self.kind == 1 { 2 } else { 4 }
    }
}

#[derive(Default)]
struct Header {
    /// Channels by their names, and the bytes a value takes as [`Channel::kind`].
    named: Vec<(String, u32)>,
    channels_at: u64,
    compression: Option<(u64, u8)>,
    window: Option<(u64, [i32; 4])>,
}

/// Components of the texel that a channel fills.
type Shown = &'static [usize];

/// Where channels go: R, G, B, A and Y of the picture itself, else of the first layer that has any
/// (`ViewLayer.Combined.R`). The others go nowhere. None where no channel goes anywhere.
fn shown(names: &[String]) -> Option<Vec<Shown>> {
    let split = |name: &str| -> (String, String) {
        let (layer, channel) = name.rsplit_once('.').unwrap_or(("", name));
        (layer.to_owned(), channel.to_ascii_uppercase())
    };
    let shows = |channel: &str| ["R", "G", "B", "A", "Y"].contains(&channel);
    let layers = || names.iter().map(|name| split(name)).filter(|(_, channel)| shows(channel));
    let (layer, _) = layers().find(|(layer, _)| layer.is_empty()).or_else(|| layers().next())?;
    let to = |name: &String| -> Shown {
        let (of, channel) = split(name);
        match channel.as_str() {
            _ if of != layer => &[],
            "R" => &[0],
            "G" => &[1],
            "B" => &[2],
            "A" => &[3],
            "Y" => &[0, 1, 2],
            _ => &[],
        }
    };
    Some(names.iter().map(to).collect())
}

/// Reads a picture as RGBA16F where all channels are half floats, as RGBA32F otherwise.
pub(super) fn read(bytes: &[u8]) -> Result<Texture, FileError> {
    let file = File(bytes);
    file.magic(0, &MAGIC)?;
    let version = file.u32(4, "version")?;
    if version & 0xFF != VERSION || version & DEEP != 0 {
        return Err(FileError::at(4, format!("version {version:#x}; expected 2 without deep data")));
    }
    if version & PARTS != 0 {
        return Err(FileError::at(4, "tiles or several parts, which are not read: save scan lines of one part"));
    }
    let (header, end) = read_header(&file)?;
    let (window_at, window) = header.window.ok_or_else(|| FileError::new("EXR without a dataWindow"))?;
    let extent = |from: i32, to: i32| u32::try_from(i64::from(to) - i64::from(from) + 1).ok().filter(|n| *n > 0);
    let (Some(width), Some(height)) = (extent(window[0], window[2]), extent(window[1], window[3])) else {
        return Err(FileError::at(window_at, format!("dataWindow {window:?} is empty")));
    };
    let (names, kinds): (Vec<String>, Vec<u32>) = header.named.into_iter().unzip();
    let Some(shown) = shown(&names) else {
        return Err(FileError::at(
            header.channels_at,
            format!("no channels R, G, B, A or Y, of the picture or of a layer; there are {names:?}"),
        ));
    };
    let channels: Vec<Channel> = kinds.into_iter().zip(shown).map(|(kind, to)| Channel { kind, to }).collect();
    let (compression_at, compression) = header.compression.unwrap_or((0, 0));
    let lines = match compression {
        0..=2 => 1,
        3 => 16,
        n => {
            let name = ["PIZ", "PXR24", "B44", "B44A", "DWAA", "DWAB"].get(usize::from(n) - 4).unwrap_or(&"unknown");
            let what = format!("{name} compression, which is not read: save it by ZIP or without");
            return Err(FileError::at(compression_at, what));
        }
    };
    let row: u64 = channels.iter().map(|c| c.bytes() as u64).sum::<u64>() * u64::from(width);
    let most = if compression == 0 { file.len() } else { file.len().saturating_mul(MOST_INFLATION) };
    let total = row.checked_mul(height.into()).filter(|n| *n <= most);
    let half = channels.iter().all(|c| c.kind == 1);
    let format = if half { Format::RGBA16F } else { Format::RGBA32F };
    let pixels = u64::from(width) * u64::from(height);
    let size = pixels.saturating_mul(if half { 8 } else { 16 });
    if total.is_none() || size > most.saturating_mul(8) {
        return Err(FileError::at(window_at, format!("{width} x {height} pixels, more than the file can hold")));
    }
    let chunks = u64::from(height).div_ceil(lines);
    file.slice(end, chunks * 8, "the table of scan lines")?;
    let mut data = vec![0u8; size as usize];
    if channels.iter().all(|c| !c.to.contains(&3)) {
        let one: &[u8] = if half { &[0x00, 0x3C] } else { &[0, 0, 0x80, 0x3F] };
        let texel = one.len() * 4;
        data.chunks_exact_mut(texel).for_each(|t| t[texel - one.len()..].copy_from_slice(one));
    }
    for i in 0..chunks {
        let at = file.u64(end + 8 * i, "offset of scan lines")?;
        let y = file.u32(at, "number of a scan line")? as i32;
        let first = i64::from(y) - i64::from(window[1]);
        let Some(first) = u64::try_from(first).ok().filter(|f| *f < u64::from(height) && f.is_multiple_of(lines))
        else {
            return Err(FileError::at(at, format!("scan line {y} outside the dataWindow {window:?}")));
        };
        let stored = u64::from(file.u32(at.saturating_add(4), "size of scan lines")?);
        let stored = file.slice(at.saturating_add(8), stored, "scan lines")?;
        let count = lines.min(u64::from(height) - first);
        let want = (row * count) as usize;
        let pixels = unpack(compression, stored, want).map_err(|what| FileError::at(at, what))?;
        for line in 0..count as usize {
            let pixels = &pixels[line * row as usize..][..row as usize];
            fill(&mut data, (first as usize + line) * width as usize, pixels, &channels, width as usize, half);
        }
    }
    let texture = Texture::new_2d(format.info(), (width, height), data);
    texture.check().map_err(|e| FileError::at(window_at, e.to_string()))?;
    Ok(texture)
}

/// Puts a scan line, channel after channel, into texels from `first` on.
fn fill(data: &mut [u8], first: usize, line: &[u8], channels: &[Channel], width: usize, half: bool) {
    let component = if half { 2 } else { 4 };
    let mut at = 0;
    for channel in channels {
        let bytes = channel.bytes();
        for x in 0..width {
            let value = &line[at + x * bytes..][..bytes];
            for c in channel.to {
                let to = (first + x) * component * 4 + c * component;
                match (half, value) {
                    (true, [a, b]) => data[to..to + 2].copy_from_slice(&[*a, *b]),
                    (false, [a, b]) => {
                        let single = f16_to_f32(u16::from_le_bytes([*a, *b]));
                        data[to..to + 4].copy_from_slice(&single.to_le_bytes());
                    }
                    (_, [a, b, c, d]) if channel.kind == 0 => {
                        let number = u32::from_le_bytes([*a, *b, *c, *d]) as f32;
                        data[to..to + 4].copy_from_slice(&number.to_le_bytes());
                    }
                    (_, four) => data[to..to + 4].copy_from_slice(four),
                }
            }
        }
        at += width * bytes;
    }
}

/// Undoes a chunk's compression.
fn unpack(compression: u8, stored: &[u8], want: usize) -> Result<Vec<u8>, String> {
    // A chunk that compression would not make smaller is stored as it is.
    if compression == 0 || stored.len() == want {
        return match stored.len() == want {
            true => Ok(stored.to_vec()),
            false => Err(format!("{} bytes of scan lines, expected {want}", stored.len())),
        };
    }
    let mut bytes = match compression {
        1 => run_lengths(stored, want),
        _ => miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(stored, want)
            .map_err(|e| format!("zlib data: {e}"))?,
    };
    if bytes.len() != want {
        return Err(format!("{} bytes of unpacked scan lines, expected {want}", bytes.len()));
    }
    // Each byte is the difference from the one before, and the second half holds every second byte.
    for i in 1..bytes.len() {
        bytes[i] = bytes[i - 1].wrapping_add(bytes[i]).wrapping_sub(128);
    }
    let (even, odd) = bytes.split_at(want.div_ceil(2));
    Ok((0..want).map(|i| if i % 2 == 0 { even[i / 2] } else { odd[i / 2] }).collect())
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

/// A text that ends with a zero; where the next field is.
fn text(file: &File, at: u64) -> Result<(String, u64), FileError> {
    // Names are at most 255 bytes.
    let most = file.len().saturating_sub(at).min(256);
    let bytes = file.slice(at, most, "a name")?;
    match bytes.iter().position(|b| *b == 0) {
        Some(end) => Ok((String::from_utf8_lossy(&bytes[..end]).into_owned(), at + end as u64 + 1)),
        None => Err(FileError::at(at, "a name that does not end")),
    }
}

fn read_header(file: &File) -> Result<(Header, u64), FileError> {
    let mut header = Header::default();
    let mut at = 8;
    loop {
        let (name, next) = text(file, at)?;
        if name.is_empty() {
            return Ok((header, next));
        }
        let (_, next) = text(file, next)?;
        let size = u64::from(file.u32(next, "attribute size")?);
        let value = next + 4;
        file.slice(value, size, "an attribute")?;
        match name.as_str() {
            "compression" => header.compression = Some((value, file.u8(value, "compression")?)),
            "dataWindow" => {
                let mut window = [0; 4];
                for (i, side) in window.iter_mut().enumerate() {
                    *side = file.u32(value + 4 * i as u64, "dataWindow")? as i32;
                }
                header.window = Some((value, window));
            }
            "channels" => (header.named, header.channels_at) = (channels(file, value, size)?, value),
            _ => {}
        }
        at = value + size;
    }
}

fn channels(file: &File, start: u64, size: u64) -> Result<Vec<(String, u32)>, FileError> {
    let mut found = Vec::new();
    let mut at = start;
    while at < start + size {
        let (name, next) = text(file, at)?;
        if name.is_empty() {
            break;
        }
        let kind = file.u32(next, "channel type")?;
        let (x, y) = (file.u32(next + 8, "channel sampling")?, file.u32(next + 12, "channel sampling")?);
        if kind > 2 || x != 1 || y != 1 {
            let what = format!("channel {name:?} of type {kind}, sampled {x} x {y}; expected types 0 to 2, 1 x 1");
            return Err(FileError::at(at, what));
        }
        found.push((name, kind));
        at = next + 16;
    }
    Ok(found)
}

/// Checks that a texture is a single picture.
pub(super) fn check_single(texture: &Texture, kind: &str) -> Result<(), WriteError> {
    if texture.layers * texture.levels * texture.depth == 1 {
        return Ok(());
    }
    Err(WriteError(format!(
        "{kind} holds one picture; the texture has {} layers, {} levels and {} slices: choose one",
        texture.layers, texture.levels, texture.depth
    )))
}

/// The texture's only surface as the picture that a file holds, with the texture's swizzle: half floats where they hold
/// the format's values, else single ones.
pub(super) fn picture(texture: &Texture) -> Result<Texture, WriteError> {
    check_single(texture, "EXR")?;
    let info = texture.format;
    let fits_half = match info.packing() {
        None => !info.is_astc() || info.class == Class::Srgb,
        Some(packing) => {
            let bits = packing.fields.iter().flatten().map(|f| f.bits).max().unwrap_or(0);
            let number = matches!(info.class, Class::Float | Class::Ufloat);
            !packing.shared_exponent && (bits <= 10 || (number && bits <= 16))
        }
    };
    let made = if fits_half {
        texture.picture(Format::RGBA16F.info(), |bytes, width, height| {
            let texels = decode_rgba16f(info, bytes, width, height)?;
            let texels = texels.into_iter().flat_map(|t| texture.sourced(t, 0, 0x3C00));
            Ok(texels.flat_map(u16::to_le_bytes).collect())
        })
    } else {
        texture.picture(Format::RGBA32F.info(), |bytes, width, height| {
            let texels = decode_rgba32f(info, bytes, width, height)?;
            let texels = texels.into_iter().flat_map(|t| texture.sourced(t, 0.0, 1.0));
            Ok(texels.flat_map(f32::to_le_bytes).collect())
        })
    };
    made.map_err(|e| WriteError(e.to_string()))
}

/// Makes a file of [`picture`].
pub(super) fn write(texture: &Texture) -> Result<Vec<u8>, WriteError> {
    let picture = picture(texture)?;
    let half = picture.format.format == Format::RGBA16F;
    let (width, height) = (picture.width, picture.height);
    let mut out = Out::default();
    out.put(&MAGIC).u32(VERSION);
    let mut attribute = |name: &str, kind: &str, value: &[u8]| {
        out.put(name.as_bytes()).u8(0).put(kind.as_bytes()).u8(0).u32(value.len() as u32).put(value);
    };
    let mut list = Out::default();
    for name in [b"A\0", b"B\0", b"G\0", b"R\0"] {
        list.put(name).u32(if half { 1 } else { 2 }).u32(0).u32(1).u32(1);
    }
    list.u8(0);
    let mut window = Out::default();
    window.u32(0).u32(0).u32(width - 1).u32(height - 1);
    attribute("channels", "chlist", &list.0);
    attribute("compression", "compression", &[0]);
    attribute("dataWindow", "box2i", &window.0);
    attribute("displayWindow", "box2i", &window.0);
    attribute("lineOrder", "lineOrder", &[0]);
    attribute("pixelAspectRatio", "float", &1f32.to_le_bytes());
    attribute("screenWindowCenter", "v2f", &[0; 8]);
    attribute("screenWindowWidth", "float", &1f32.to_le_bytes());
    out.u8(0);
    let component = if half { 2 } else { 4 };
    let row = width as usize * 4 * component;
    let mut at = out.at() + 8 * height as usize;
    for _ in 0..height {
        out.u64(at as u64);
        at += 8 + row;
    }
    for (y, line) in picture.data.chunks_exact(row.max(1)).enumerate() {
        out.u32(y as u32).u32(row as u32);
        for c in [3, 2, 1, 0] {
            for texel in line.chunks_exact(4 * component) {
                out.put(&texel[c * component..][..component]);
            }
        }
    }
    Ok(out.0)
}
