//! What an EXR file's headers say: of each part its channels, its window, and how its chunks are made.

use super::super::FileError;
use super::super::bytes::File;
use super::unpack::Compression;

/// What files begin with.
pub(in super::super) const MAGIC: [u8; 4] = [0x76, 0x2F, 0x31, 0x01];
pub(super) const VERSION: u32 = 2;
/// Bits of the version word: a single part of tiles, deep data, several parts. Long names are no obstacle.
const TILED: u32 = 0x200;
const DEEP: u32 = 0x800;
const PARTS: u32 = 0x1000;

/// A channel of the file: its number type and where it goes.
#[derive(Clone, Copy)]
pub(super) struct Channel {
    pub number: Number,
    /// Whether values were made even to the eye before they were packed, where packing loses some (`pLinear`).
    pub perceptual: bool,
    /// Components of the texel that it fills.
    pub to: Shown,
}

/// How a channel's values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Whole,
    Half,
    Single,
}

impl Number {
    pub fn bytes(self) -> usize {
        if self == Self::Half { 2 } else { 4 }
    }
}

/// Components of the texel that a channel fills.
pub(super) type Shown = &'static [usize];

/// The part that is read.
pub(super) struct Part {
    /// Its place among all parts, where chunks say which part they are of.
    pub number: Option<u32>,
    pub channels: Vec<Channel>,
    pub compression: Compression,
    /// Where the dataWindow stands, for messages.
    pub window_at: u64,
    /// First column and row of the picture.
    pub origin: [i32; 2],
    pub extent: [u32; 2],
    /// Width and height of tiles.
    pub tiles: Option<[u32; 2]>,
    /// Where the offsets of its chunks stand.
    pub table: u64,
}

/// A header as it stands in the file.
#[derive(Default)]
struct Header {
    /// Channels by their names: number type, `pLinear`.
    named: Vec<(String, Number, bool)>,
    channels_at: u64,
    compression: Option<(u64, u8)>,
    window: Option<(u64, [i32; 4])>,
    tiles: Option<(u64, [u32; 2])>,
    kind: String,
    chunks: Option<u64>,
}

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

/// Reads all headers and chooses the part: the first one, of scan lines or tiles, that has a channel to show.
pub(super) fn read(file: &File) -> Result<Part, FileError> {
    file.magic(0, &MAGIC)?;
    let version = file.u32(4, "version")?;
    if version & 0xFF != VERSION {
        return Err(FileError::at(4, format!("version {version:#x}; expected 2")));
    }
    let several = version & PARTS != 0;
    if version & DEEP != 0 && !several {
        return Err(FileError::at(4, "deep data, which is not read: flatten it"));
    }
    let mut headers = Vec::new();
    let mut at = 8;
    loop {
        // Several headers end with an empty one.
        if several && file.u8(at, "a header")? == 0 {
            at += 1;
            break;
        }
        let header;
        (header, at) = read_header(file, at)?;
        headers.push(header);
        if !several {
            break;
        }
    }
    let mut table = at;
    let mut first_error = None;
    for (number, mut header) in (0..).zip(headers) {
        if !several {
            header.kind = if version & TILED != 0 { "tiledimage" } else { "scanlineimage" }.to_owned();
        }
        let chunks = header.chunks;
        match part(header, several.then_some(number), table) {
            Ok(part) => return Ok(part),
            Err(e) => first_error = first_error.or(Some(e)),
        }
        // Without the count nothing tells where the next part's table begins.
        let Some(chunks) = chunks else { break };
        table = table.saturating_add(chunks.saturating_mul(8));
    }
    Err(first_error.unwrap_or_else(|| FileError::at(8, "no part")))
}

fn part(header: Header, number: Option<u32>, table: u64) -> Result<Part, FileError> {
    let (window_at, window) = header.window.ok_or_else(|| FileError::new("EXR without a dataWindow"))?;
    let extent = |from: i32, to: i32| u32::try_from(i64::from(to) - i64::from(from) + 1).ok().filter(|n| *n > 0);
    let (Some(width), Some(height)) = (extent(window[0], window[2]), extent(window[1], window[3])) else {
        return Err(FileError::at(window_at, format!("dataWindow {window:?} is empty")));
    };
    let tiles = match header.kind.as_str() {
        "scanlineimage" => None,
        "tiledimage" => {
            let (at, size) = header.tiles.ok_or_else(|| FileError::new("EXR of tiles without their size"))?;
            if size.contains(&0) {
                return Err(FileError::at(at, format!("tiles of {} x {} pixels", size[0], size[1])));
            }
            Some(size)
        }
        kind => {
            let what = format!("a part of type {kind:?}; expected scanlineimage or tiledimage");
            return Err(FileError::at(header.channels_at, what));
        }
    };
    let names: Vec<String> = header.named.iter().map(|(name, ..)| name.clone()).collect();
    let Some(shown) = shown(&names) else {
        return Err(FileError::at(
            header.channels_at,
            format!("no channels R, G, B, A or Y, of the picture or of a layer; there are {names:?}"),
        ));
    };
    let (compression_at, compression) = header.compression.unwrap_or((0, 0));
    let compression = Compression::new(compression).map_err(|what| FileError::at(compression_at, what))?;
    let channels = header.named.into_iter().zip(shown);
    let channels = channels.map(|((_, number, perceptual), to)| Channel { number, perceptual, to }).collect();
    let (origin, extent) = ([window[0], window[1]], [width, height]);
    Ok(Part { number, channels, compression, window_at, origin, extent, tiles, table })
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

/// One header, and where the next begins.
fn read_header(file: &File, start: u64) -> Result<(Header, u64), FileError> {
    let mut header = Header::default();
    let mut at = start;
    loop {
        let (name, next) = text(file, at)?;
        if name.is_empty() {
            return Ok((header, next));
        }
        let (_, next) = text(file, next)?;
        let size = u64::from(file.u32(next, "attribute size")?);
        let value = next + 4;
        let bytes = file.slice(value, size, "an attribute")?;
        match name.as_str() {
            "compression" => header.compression = Some((value, file.u8(value, "compression")?)),
            "dataWindow" => {
                let mut window = [0; 4];
                for (i, side) in window.iter_mut().enumerate() {
                    *side = file.u32(value + 4 * i as u64, "dataWindow")? as i32;
                }
                header.window = Some((value, window));
            }
            "tiles" => {
                header.tiles = Some((value, [file.u32(value, "tile size")?, file.u32(value + 4, "tile size")?]));
            }
            "type" => header.kind = String::from_utf8_lossy(bytes).into_owned(),
            "chunkCount" => header.chunks = Some(file.u32(value, "chunkCount")?.into()),
            "channels" => (header.named, header.channels_at) = (channels(file, value, size)?, value),
            _ => {}
        }
        at = value + size;
    }
}

fn channels(file: &File, start: u64, size: u64) -> Result<Vec<(String, Number, bool)>, FileError> {
    let mut found = Vec::new();
    let mut at = start;
    while at < start + size {
        let (name, next) = text(file, at)?;
        if name.is_empty() {
            break;
        }
        let kind = file.u32(next, "channel type")?;
        let perceptual = file.u8(next + 4, "channel")? != 0;
        let (x, y) = (file.u32(next + 8, "channel sampling")?, file.u32(next + 12, "channel sampling")?);
        let number = match kind {
            0 => Some(Number::Whole),
            1 => Some(Number::Half),
            2 => Some(Number::Single),
            _ => None,
        };
        let Some(number) = number.filter(|_| (x, y) == (1, 1)) else {
            let what = format!("channel {name:?} of type {kind}, sampled {x} x {y}; expected types 0 to 2, 1 x 1");
            return Err(FileError::at(at, what));
        };
        found.push((name, number, perceptual));
        at = next + 16;
    }
    Ok(found)
}
